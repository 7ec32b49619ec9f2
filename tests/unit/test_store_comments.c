/* Comments of jobs in the store: kept, listed, loaded, and set by those who may. */
#include "store_house.h"

static void house_open(struct house *h)
{
    house_build(h, (struct capacity){4, 1, 4096});
}

static uint32_t submit_with(struct house *h, const char *fields)
{
    struct event event = world_submission("ann", NULL, 1);
    uint32_t id = 0;
    event.submit = job_with(event.submit, "%s", fields);
    if (world_apply(&h->w, event, &id) != 0) fail_msg("%s", ERR_SENTENCE(&h->w.e));
    house_commit(h);
    return id;
}

static struct event update_by(const char *user, bool is_operator, uint32_t job_id, const struct job_values *values)
{
    struct event event = world_update(job_id, values);
    event.actor = (struct actor){1000, 1000, user, is_operator ? ROLE_OPERATOR : ROLE_USER};
    return event;
}

static void update_with(struct house *h, uint32_t id, const char *fields)
{
    if (world_apply(&h->w, world_update(id, job_text("%s", fields)), NULL) != 0) fail_msg("%s", ERR_SENTENCE(&h->w.e));
    house_commit(h);
}

/* The field in every row of the job in a listing; NULL: none. */
static void assert_listed(struct house *h, uint32_t job_id, enum job_field f, const char *expected)
{
    const struct job_query query = {
        .which = JOBS_ALL, .job_ids = &job_id, .job_id_count = 1, .task_id = NONE, .state = JOB_STATE_COUNT};
    struct job_reader reader = store_job_reader(h->store);
    struct job_row row;
    uint32_t rows = 0;
    void *cursor = reader.open(reader.context, &query, NULL);
    for (; reader.next(cursor, &row, NULL) == 1; rows++) {
        const char *found = job_row_text(&row, f);
        if ((found == NULL) != (expected == NULL) || (found != NULL && strcmp(found, expected) != 0))
            fail_msg("job %u: %s: '%s' is not '%s'", job_id, job_field_at(f)->name, found ? found : "(none)",
                     expected ? expected : "(none)");
    }
    reader.close(cursor);
    assert_true(rows > 0);
}

/* In memory, in the database and in a listing; NULL: none. */
static void assert_comments(struct house *h, uint32_t id, const char *comment, const char *admin_comment)
{
    static const enum job_field fields[] = {JOB_FIELD_COMMENT, JOB_FIELD_ADMIN_COMMENT};
    const struct job_rare_text *text = job_rare(&h->w.s.jobs.items[state_find_job(&h->w.s, id)]);
    const char *const expected[] = {comment, admin_comment}, *const found[] = {text->comment, text->admin_comment};
    for (size_t i = 0; i < COUNT(fields); i++) {
        char query[100];
        assert_int_equal(found[i] == NULL, expected[i] == NULL);
        if (found[i] != NULL) assert_string_equal(found[i], expected[i]);
        snprintf(query, sizeof query, "SELECT ifnull(%s, 'NULL') FROM job WHERE id = %u",
                 job_field_rows[fields[i]].column, id);
        assert_sql(h->directory, query, expected[i] != NULL ? expected[i] : "NULL");
        assert_listed(h, id, fields[i], expected[i]);
    }
}

/* Restarts the daemon. */
static void restart(struct house *h)
{
    store_close(h->store);
    h->store = store_must_open(h->directory, h->w.now_us);
    state_release(&h->w.s);
    store_must_load(h->store, &h->w.s);
    house_set_host(h, (struct capacity){4, 1, 4096});
}

static void comments_are_kept_and_listed(void **unused)
{
    (void)unused;
    struct house h;
    house_open(&h);
    uint32_t plain = submit_with(&h, ""), with = submit_with(&h, "comment=Zeile 1; 'x' \xc3\xbc%j");
    assert_comments(&h, plain, NULL, NULL);
    assert_comments(&h, with, "Zeile 1; 'x' \xc3\xbc%j", NULL);
    restart(&h);
    assert_comments(&h, plain, NULL, NULL);
    assert_comments(&h, with, "Zeile 1; 'x' \xc3\xbc%j", NULL);

    update_with(&h, with, "admin_comment=look at this");
    assert_comments(&h, with, "Zeile 1; 'x' \xc3\xbc%j", "look at this");
    update_with(&h, with, "comment=another|nice=3");
    restart(&h);
    assert_comments(&h, with, "another", "look at this");
    update_with(&h, with, "comment=|admin_comment=");
    restart(&h);
    assert_comments(&h, with, "", "");
    house_close(&h);
}

/* Comments of running tasks can change; ended tasks keep them. */
static void comments_stay_with_every_row_of_a_job(void **unused)
{
    (void)unused;
    struct house h;
    house_open(&h);
    uint32_t id = submit_with(&h, "array=0-5%2|comment=first");
    assert_int_equal(world_pass(&h.w), 2);
    house_commit(&h);
    world_started(&h.w, world_task(&h.w, id, 0)->launch_id);
    world_ended(&h.w, world_task(&h.w, id, 0)->launch_id, JOB_COMPLETED, h.w.now_us);
    struct job_ref ref = {id, 5};
    assert_int_equal(world_apply(&h.w, (struct event){.kind = EVENT_CANCEL, .jobs = {&ref, 1, false}}, NULL), 0);
    house_commit(&h);
    update_with(
        &h, id,
        "comment=second|admin_comment=of the operator"); /* one task has ended, one runs, others are pending, one is cancelled */
    assert_comments(&h, id, "second", "of the operator");
    ref.task_id = NONE;
    assert_int_equal(world_apply(&h.w, (struct event){.kind = EVENT_CANCEL, .jobs = {&ref, 1, false}}, NULL), 0);
    world_ended(&h.w, world_task(&h.w, id, 1)->launch_id, JOB_CANCELLED, 0);
    house_commit(&h);
    restart(&h);
    assert_int_equal(state_find_job(&h.w.s, id), NONE);
    assert_listed(&h, id, JOB_FIELD_COMMENT, "second");
    assert_listed(&h, id, JOB_FIELD_ADMIN_COMMENT, "of the operator");
    world_refuses(&h.w, world_update(id, job_text("comment=too late")), ERR_NOT_FOUND, "job");
    assert_listed(&h, id, JOB_FIELD_COMMENT, "second");
    house_close(&h);
}

static void permissions_to_set_comments(void **unused)
{
    (void)unused;
    struct house h;
    house_open(&h);
    uint32_t id = submit_with(&h, "comment=mine");
    struct event submission = world_submission("ann", NULL, 1);
    submission.submit = job_with(submission.submit, "admin_comment=x");
    world_refuses(&h.w, submission, ERR_DENIED, "admin_comment: only an operator may set it");
    world_refuses(&h.w, update_by("ann", false, id, job_text("admin_comment=x")), ERR_DENIED,
                  "admin_comment: only an operator may set it");
    world_refuses(&h.w, update_by("bob", false, id, job_text("comment=x")), ERR_DENIED, "ann");
    assert_comments(&h, id, "mine", NULL);
    uint64_t before = state_hash(&h.w.s);
    assert_int_equal(world_apply(&h.w, update_by("ann", false, id, job_text("comment=still mine")), NULL), 0);
    assert_int_equal(world_apply(&h.w, update_by("bob", true, id, job_text("admin_comment=x")), NULL), 0);
    house_commit(&h);
    assert_comments(&h, id, "still mine", "x");
    assert_true(state_hash(&h.w.s) == before); /* no decision depends on them */
    house_close(&h);
}

static void comments_have_a_maximum_and_are_printable(void **unused)
{
    (void)unused;
    static const enum job_field fields[] = {JOB_FIELD_COMMENT, JOB_FIELD_ADMIN_COMMENT};
    char longest[FIELD_TEXT_MAX + 2];
    struct house h;
    house_open(&h);
    uint32_t id = submit_with(&h, "");
    memset(longest, 'x', sizeof longest);
    longest[sizeof longest - 1] = '\0';
    const char *const wrong[] = {longest, "two\nlines", "\x1b[31m", "\xff"};
    for (size_t f = 0; f < COUNT(fields); f++) {
        struct job_values values = {0};
        values.is_given[fields[f]] = true;
        for (size_t i = 0; i < COUNT(wrong); i++) {
            values.value[fields[f]] = field_text(wrong[i]);
            world_refuses(&h.w, world_update(id, &values), ERR_INPUT, job_field_at(fields[f])->name);
        }
        values.value[fields[f]] = field_text(longest + 1);
        assert_int_equal(world_apply(&h.w, world_update(id, &values), NULL), 0);
    }
    house_commit(&h);
    restart(&h);
    assert_listed(&h, id, JOB_FIELD_COMMENT, longest + 1);
    assert_listed(&h, id, JOB_FIELD_ADMIN_COMMENT, longest + 1);
    house_close(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(comments_are_kept_and_listed),
        cmocka_unit_test(comments_stay_with_every_row_of_a_job),
        cmocka_unit_test(permissions_to_set_comments),
        cmocka_unit_test(comments_have_a_maximum_and_are_printable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
