/* Listings of jobs: the selection of rows, their order, their fields, one snapshot, no sorting. */
#include "store_house.h"

#include "store/job_reader_sql.h"

static uint32_t submit(struct house *h, const char *user, const char *account, const char *array, bool held)
{
    struct event event = world_submission(user, account, 1);
    uint32_t id = 0;
    event.submit = job_with(event.submit, "name=a/b|held=%s", held ? "yes" : "no");
    if (array != NULL) event.submit = job_with(event.submit, "array=%s", array);
    assert_int_equal(world_apply(&h->w, event, &id), 0);
    return id;
}

static void start_jobs(struct house *h)
{
    struct event event = {.kind = EVENT_TIME, .time = {"boot"}};
    assert_int_equal(world_apply(&h->w, event, NULL), 0);
}

static void end(struct house *h, uint32_t job_id, uint32_t task_id, enum job_state state)
{
    const struct task *k = world_task(&h->w, job_id, task_id);
    world_started(&h->w, k->launch_id);
    h->w.now_us += 10 * SECOND;
    world_ended(&h->w, k->launch_id, state, 0);
}

static void cancel(struct house *h, uint32_t job_id, uint32_t task_id)
{
    struct job_ref ref = {job_id, task_id};
    struct event event = {.kind = EVENT_CANCEL, .jobs = {&ref, 1, false}};
    h->w.now_us += SECOND;
    assert_int_equal(world_apply(&h->w, event, NULL), 0);
    house_commit(h);
}

/* Job 1 has completed, 2 has failed, 3 is an array: task 0 has completed, 1 and 9 run, 2-4 are pending because of %2,
 * and 7 was cancelled; 4 is held, 5 is pending, 6 was cancelled before it started. */
static void house_open(struct house *h)
{
    house_build(h, (struct capacity){1, 0, 4096});
    world_user(&h->w, "physics", 1, "ann");
    world_user(&h->w, "chem", 1, "ann");
    world_user(&h->w, "chem", 1, "bob");
    submit(h, "ann", "physics", NULL, false);
    start_jobs(h);
    house_commit(h);
    end(h, 1, 0, JOB_COMPLETED);
    submit(h, "bob", "chem", NULL, false);
    start_jobs(h);
    house_commit(h);
    end(h, 2, 0, JOB_FAILED);
    submit(h, "ann", "chem", "0-4,7%1", false);
    start_jobs(h);
    house_commit(h);
    end(h, 3, 0, JOB_COMPLETED);
    start_jobs(h);
    world_started(&h->w, world_task(&h->w, 3, 1)->launch_id);
    submit(h, "bob", "chem", NULL, true);
    submit(h, "ann", "physics", NULL, false);
    submit(h, "bob", "chem", NULL, false);
    house_commit(h);
    cancel(h, 3, 7);
    cancel(h, 6, NONE);
}

static const struct job_query everything = {.which = JOBS_ALL, .task_id = NONE, .state = JOB_STATE_COUNT};

static uint32_t not_yet_count; /* the number of "not yet" answers for the last list */

/* Whether the row has the field. */
static bool has(const struct job_row *v, enum job_field f)
{
    return !field_is_absent(job_field_at(f), &v->value[f]);
}

static const char *text_of(const struct job_row *v, enum job_field f)
{
    return has(v, f) ? job_row_text(v, f) : "";
}

/* A row of tasks that have not started has no CPUs. */
static bool has_started(const struct job_row *v)
{
    return job_row_text(v, JOB_FIELD_CPU_IDS)[0] != '\0';
}

/* "1.0", "3.P2-4". */
static void add_row(struct buf *out, const struct job_row *v)
{
    const char *state = job_state_name((enum job_state)job_row_number(v, JOB_FIELD_STATE));
    buf_format(out, "%s%lld.", out->length > 0 ? " " : "", (long long)job_row_number(v, JOB_FIELD_JOB_ID));
    if (has_started(v))
        buf_format(out, "%lld", (long long)job_row_number_or(v, JOB_FIELD_TASK_ID, 0));
    else
        buf_format(out, "%.1s%s", state, text_of(v, JOB_FIELD_ARRAY_TASKS));
}

/* The rows as "1.0 3.1 3.P 6.C ...": job, then task, Pending or Cancelled. */
static const char *list(struct house *h, const struct job_query *query)
{
    static char text[4000];
    struct buf list = {0};
    struct job_reader reader = store_job_reader(h->store);
    struct err e = {0};
    struct job_row v;
    int result;
    void *cursor = reader.open(reader.context, query, &e);
    if (cursor == NULL) fail_msg("%s", ERR_SENTENCE(&e));
    not_yet_count = 0;
    while ((result = reader.next(cursor, &v, &e)) > 0) {
        not_yet_count += result == 2;
        if (result != 2) add_row(&list, &v);
    }
    if (result < 0) fail_msg("%s", ERR_SENTENCE(&e));
    assert_int_equal(reader.next(cursor, &v, &e), 0);
    reader.close(cursor);
    assert_true(list.length < sizeof text);
    snprintf(text, sizeof text, "%s", list.length > 0 ? list.text : "");
    buf_release(&list);
    return text;
}

static void queries_select_rows(void **unused)
{
    (void)unused;
    static const uint32_t ended[] = {1}, three[] = {3}, waiting[] = {5}, some[] = {5, 1, 99, 5, 3};
    const enum job_state any = JOB_STATE_COUNT;
    const int64_t first_end = NOW_US + 10 * SECOND;
    const struct {
        const char *expected;
        struct job_query query;
    } rows[] = {
        {"1.0 2.0 3.0 3.1 3.P2-4 3.C7 4.P 5.P 6.C", {.which = JOBS_ALL, .task_id = NONE, .state = any}},
        {"3.1 3.P2-4 4.P 5.P", {.which = JOBS_LIVE, .task_id = NONE, .state = any}},
        {"1.0 2.0 3.0 3.C7 6.C", {.which = JOBS_ENDED, .task_id = NONE, .state = any}},
        {"6.C 3.C7 3.0 2.0 1.0", {.which = JOBS_ENDED, .task_id = NONE, .state = any, .newest_first = true}},
        {"6.C 5.P 4.P 3.C7 3.P2-4 3.1 3.0 2.0 1.0",
         {.which = JOBS_ALL, .task_id = NONE, .state = any, .newest_first = true}},
        {"5.P 4.P 3.P2-4 3.1", {.which = JOBS_LIVE, .task_id = NONE, .state = any, .newest_first = true}},
        {"6.C 3.C7", {.which = JOBS_ENDED, .task_id = NONE, .state = any, .newest_first = true, .limit = 2}},
        {"1.0", {.which = JOBS_ALL, .task_id = NONE, .state = any, .limit = 1}},
        {"1.0 3.0 3.1 3.P2-4 3.C7 5.P", {.which = JOBS_ALL, .task_id = NONE, .state = any, .user = "ann"}},
        {"3.0 3.1 3.P2-4 3.C7", {.which = JOBS_ALL, .task_id = NONE, .state = any, .user = "ann", .account = "chem"}},
        {"2.0 3.0 3.1 3.P2-4 3.C7 4.P 6.C", {.which = JOBS_ALL, .task_id = NONE, .state = any, .account = "chem"}},
        {"6.C 3.C7 3.0 2.0",
         {.which = JOBS_ENDED, .task_id = NONE, .state = any, .account = "chem", .newest_first = true}},
        {"3.C7 3.0 1.0", {.which = JOBS_ENDED, .task_id = NONE, .state = any, .user = "ann", .newest_first = true}},
        {"3.1 3.P2-4 5.P", {.which = JOBS_LIVE, .task_id = NONE, .state = any, .user = "ann"}},
        {"", {.which = JOBS_ALL, .task_id = NONE, .state = any, .user = "eve"}},
        {"1.0 3.0 3.1 3.P2-4 3.C7 5.P", {.which = JOBS_ALL, .task_id = NONE, .state = any, .user = "eve,ann"}},
        {"3.1 3.P2-4 4.P 5.P", {.which = JOBS_LIVE, .task_id = NONE, .state = any, .account = "chem,physics"}},
        {"3.C7 3.0",
         {.which = JOBS_ENDED,
          .task_id = NONE,
          .state = any,
          .user = "ann,",
          .account = "x,chem",
          .newest_first = true}},
        {"", {.which = JOBS_ALL, .task_id = NONE, .state = any, .user = "ann' OR '1'='1"}},
        {"3.P2-4 4.P 5.P", {.which = JOBS_ALL, .task_id = NONE, .state = JOB_PENDING}},
        {"3.C7 6.C", {.which = JOBS_ALL, .task_id = NONE, .state = JOB_CANCELLED}},
        {"1.0 3.0", {.which = JOBS_ALL, .task_id = NONE, .state = JOB_COMPLETED}},
        {"", {.which = JOBS_LIVE, .task_id = NONE, .state = JOB_CANCELLED}},
        {"3.1", {.which = JOBS_LIVE, .task_id = NONE, .state = JOB_RUNNING}},
        {"2.0", {.which = JOBS_ENDED, .task_id = NONE, .state = JOB_FAILED, .newest_first = true}},
        {"3.0 1.0", {.which = JOBS_ENDED, .task_id = NONE, .state = JOB_COMPLETED, .newest_first = true}},
        {"6.C 3.C7", {.which = JOBS_ENDED, .task_id = NONE, .state = JOB_CANCELLED, .newest_first = true}},
        {"3.0",
         {.which = JOBS_ENDED, .task_id = NONE, .state = JOB_COMPLETED, .account = "chem", .newest_first = true}},
        {"1.0",
         {.which = JOBS_ENDED,
          .task_id = NONE,
          .state = JOB_COMPLETED,
          .until_us = first_end + 1,
          .newest_first = true}},
        {"3.0", {.which = JOBS_ALL, .task_id = NONE, .state = JOB_COMPLETED, .account = "chem", .user = "ann"}},
        {"3.0 3.C7",
         {.which = JOBS_ENDED, .task_id = NONE, .state = any, .account = "chem", .user = "ann", .since_us = first_end}},
        {"3.1", {.which = JOBS_LIVE, .job_ids = three, .job_id_count = 1, .task_id = NONE, .state = JOB_RUNNING}},
        {"3.0 3.C7",
         {.which = JOBS_ENDED, .job_ids = three, .job_id_count = 1, .task_id = NONE, .state = any, .since_us = 1}},
        {"3.0 3.1 3.P2-4 3.C7",
         {.which = JOBS_ALL, .job_ids = three, .job_id_count = 1, .task_id = NONE, .state = any}},
        {"3.C7 3.P2-4 3.1 3.0",
         {.which = JOBS_ALL, .job_ids = three, .job_id_count = 1, .task_id = NONE, .state = any, .newest_first = true}},
        {"3.1", {.which = JOBS_ALL, .job_ids = three, .job_id_count = 1, .task_id = 1, .state = any}},
        {"3.P3", {.which = JOBS_ALL, .job_ids = three, .job_id_count = 1, .task_id = 3, .state = any}},
        {"3.C7", {.which = JOBS_ALL, .job_ids = three, .job_id_count = 1, .task_id = 7, .state = any}},
        {"", {.which = JOBS_ALL, .job_ids = three, .job_id_count = 1, .task_id = 6, .state = any}},
        {"", {.which = JOBS_ALL, .job_ids = ended, .job_id_count = 1, .task_id = 0, .state = any}},
        {"", {.which = JOBS_ALL, .job_ids = waiting, .job_id_count = 1, .task_id = 0, .state = any}},
        {"1.0 3.0 3.1 3.P2-4 3.C7 5.P",
         {.which = JOBS_ALL, .job_ids = some, .job_id_count = 5, .task_id = NONE, .state = any}},
        {"5.P 3.P2-4 3.1",
         {.which = JOBS_LIVE, .job_ids = some, .job_id_count = 5, .task_id = NONE, .state = any, .newest_first = true}},
        {"1.0",
         {.which = JOBS_ALL,
          .job_ids = some,
          .job_id_count = 5,
          .task_id = NONE,
          .state = any,
          .user = "ann",
          .account = "physics",
          .limit = 1}},
        {"1.0", {.which = JOBS_ENDED, .task_id = NONE, .state = any, .until_us = first_end + 1}},
        {"", {.which = JOBS_ENDED, .task_id = NONE, .state = any, .until_us = first_end}},
        {"2.0 3.0 3.C7 6.C", {.which = JOBS_ENDED, .task_id = NONE, .state = any, .since_us = first_end + 1}},
        {"2.0 1.0",
         {.which = JOBS_ENDED,
          .task_id = NONE,
          .state = any,
          .since_us = first_end,
          .until_us = first_end + 11 * SECOND,
          .newest_first = true}},
        {"1.0 2.0 3.0 3.C7 6.C", {.which = JOBS_ALL, .task_id = NONE, .state = any, .since_us = 1}},
    };
    struct house h;
    house_open(&h);
    for (size_t i = 0; i < COUNT(rows); i++) {
        const char *found = list(&h, &rows[i].query);
        if (strcmp(found, rows[i].expected) != 0) fail_msg("row %zu: '%s' is not '%s'", i, found, rows[i].expected);
    }
    house_close(&h);
}

/* Reads the row of that job and state into v. Returns the cursor, which the caller closes. */
static void *find(struct house *h, uint32_t job_id, enum job_state state, struct job_row *v)
{
    struct job_reader reader = store_job_reader(h->store);
    struct job_query query = everything;
    query.job_ids = &job_id;
    query.job_id_count = 1;
    query.state = state;
    void *cursor = reader.open(reader.context, &query, NULL);
    assert_int_equal(reader.next(cursor, v, NULL), 1);
    return cursor;
}

static int64_t number_of(const struct job_row *v, enum job_field f)
{
    assert_true(has(v, f));
    return job_row_number(v, f);
}

static void assert_text(const struct job_row *v, enum job_field f, const char *expected)
{
    if (!has(v, f)) fail_msg("%s: there is none", job_field_at(f)->name);
    if (strcmp(job_row_text(v, f), expected) != 0)
        fail_msg("%s: '%s' is not '%s'", job_field_at(f)->name, job_row_text(v, f), expected);
}

static void rows_have_the_fields_of_jobs(void **unused)
{
    (void)unused;
    struct house h;
    struct job_row v;
    house_open(&h);
    struct job_reader reader = store_job_reader(h.store);

    void *cursor = find(&h, 2, JOB_FAILED, &v);
    assert_text(&v, JOB_FIELD_ID, "2");
    assert_text(&v, JOB_FIELD_ACCOUNT, "chem");
    assert_text(&v, JOB_FIELD_USER, "bob");
    assert_text(&v, JOB_FIELD_NAME, "a/b");
    assert_text(&v, JOB_FIELD_OUT_PATH, "/home/x/fairlead-2.out");
    assert_ptr_equal(job_row_text(&v, JOB_FIELD_ERR_PATH), job_row_text(&v, JOB_FIELD_OUT_PATH));
    assert_text(&v, JOB_FIELD_CPU_IDS, "0");
    assert_text(&v, JOB_FIELD_GPU_IDS, "");
    assert_false(has(&v, JOB_FIELD_ARRAY_TASKS) || has(&v, JOB_FIELD_TASK_ID) || has(&v, JOB_FIELD_ARRAY));
    assert_int_equal(number_of(&v, JOB_FIELD_REASON), PENDING_NONE);
    assert_text(&v, JOB_FIELD_DETAIL, "");
    assert_int_equal(number_of(&v, JOB_FIELD_TASK_COUNT), 1);
    assert_int_equal(number_of(&v, JOB_FIELD_END) - number_of(&v, JOB_FIELD_START), 10 * SECOND);
    assert_int_equal(number_of(&v, JOB_FIELD_UID), 1000);
    reader.close(cursor);
    assert_sql(h.directory, "SELECT launch_id FROM task WHERE job_id = 2", "2"); /* no listing shows it */

    cursor = find(&h, 3, JOB_RUNNING, &v);
    assert_text(&v, JOB_FIELD_ID, "3_1");
    assert_text(&v, JOB_FIELD_OUT_PATH, "/home/x/fairlead-3_1.out");
    assert_int_equal(number_of(&v, JOB_FIELD_TASK_ID), 1);
    assert_int_equal(number_of(&v, JOB_FIELD_ARRAY_LIMIT), 1);
    assert_true(has(&v, JOB_FIELD_ARRAY) && !has(&v, JOB_FIELD_END) && number_of(&v, JOB_FIELD_START) > 0);
    assert_false(has(&v, JOB_FIELD_EXIT_STATUS) || has(&v, JOB_FIELD_SIGNAL));
    reader.close(cursor);

    cursor = find(&h, 3, JOB_PENDING, &v);
    assert_text(&v, JOB_FIELD_ID, "3_[2-4%1]");
    assert_text(&v, JOB_FIELD_ARRAY_TASKS, "2-4");
    assert_int_equal(number_of(&v, JOB_FIELD_TASK_COUNT), 3);
    assert_int_equal(number_of(&v, JOB_FIELD_REASON), PENDING_ARRAY_TASK_LIMIT);
    assert_text(&v, JOB_FIELD_OUT_PATH, "/home/x/fairlead-3_%a.out");
    assert_false(has(&v, JOB_FIELD_START) || has(&v, JOB_FIELD_END) || has(&v, JOB_FIELD_TASK_ID));
    reader.close(cursor);

    cursor = find(&h, 3, JOB_CANCELLED, &v);
    assert_text(&v, JOB_FIELD_ID, "3_[7]");
    assert_text(&v, JOB_FIELD_ARRAY_TASKS, "7");
    assert_int_equal(number_of(&v, JOB_FIELD_END), h.w.now_us - SECOND);
    reader.close(cursor);

    cursor = find(&h, 4, JOB_PENDING, &v);
    assert_int_equal(number_of(&v, JOB_FIELD_HELD), true);
    assert_int_equal(number_of(&v, JOB_FIELD_REASON), PENDING_HELD_BY_USER);
    reader.close(cursor);

    cursor = find(&h, 5, JOB_PENDING, &v);
    assert_int_equal(number_of(&v, JOB_FIELD_REASON), PENDING_RESOURCES);
    assert_text(&v, JOB_FIELD_OUT_PATH, "/home/x/fairlead-5.out");
    reader.close(cursor);
    house_close(&h);
}

static void rows_have_the_fields_of_policies(void **unused)
{
    (void)unused;
    struct house h;
    struct job_row v;
    house_open(&h);
    struct job_reader reader = store_job_reader(h.store);
    struct event project = {.kind = EVENT_OBJECT_ADD, .object = {OBJECT_PROJECT, "apollo", NULL, 0}};
    struct event resource = {.kind = EVENT_OBJECT_ADD, .object = {OBJECT_RESOURCE, "license", NULL, 0}};
    struct event partition = {.kind = EVENT_OBJECT_ADD, .object = {OBJECT_PARTITION, "fast", NULL, 0}};
    assert_int_equal(world_apply(&h.w, project, NULL), 0);
    assert_int_equal(world_apply(&h.w, resource, NULL), 0);
    assert_int_equal(world_apply(&h.w, partition, NULL), 0);
    struct event event = world_submission("bob", "chem", 1);
    event.submit = job_with(event.submit,
                            "partitions=fast,main|project=apollo|requests=license=2|nice=3|posix_priority=-5|"
                            "job_share=7|begin_us=%lld|slots_max=1",
                            (long long)(h.w.now_us + SECOND));
    assert_int_equal(world_apply(&h.w, event, NULL), 0);
    house_commit(&h);

    struct job_query query = everything;
    query.user = "bob";
    query.which = JOBS_LIVE;
    query.newest_first = true;
    for (int later = 0; later < 2; later++) {
        query.now_us = h.w.now_us + later * SECOND;
        void *cursor = reader.open(reader.context, &query, NULL);
        assert_int_equal(reader.next(cursor, &v, NULL), 1);
        assert_int_equal(number_of(&v, JOB_FIELD_REASON), later ? PENDING_RESOURCES : PENDING_BEGIN_TIME);
        assert_text(&v, JOB_FIELD_PARTITION, "fast,main");
        assert_text(&v, JOB_FIELD_QOS, "normal");
        assert_text(&v, JOB_FIELD_PROJECT, "apollo");
        assert_text(&v, JOB_FIELD_REQUESTS, "license=2");
        assert_text(&v, JOB_FIELD_TRES, "");
        assert_false(has(&v, JOB_FIELD_BILLING));
        assert_int_equal(number_of(&v, JOB_FIELD_NICE), 3);
        assert_int_equal(number_of(&v, JOB_FIELD_POSIX_PRIORITY), -5);
        assert_int_equal(number_of(&v, JOB_FIELD_JOB_SHARE), 7);
        assert_int_equal(number_of(&v, JOB_FIELD_OVERRIDE_TICKETS), 0);
        assert_int_equal(number_of(&v, JOB_FIELD_BEGIN), h.w.now_us + SECOND);
        assert_false(has(&v, JOB_FIELD_DEADLINE));
        reader.close(cursor);
    }

    void *cursor = find(&h, 3, JOB_RUNNING, &v);
    assert_text(&v, JOB_FIELD_PARTITION, "main");
    assert_text(&v, JOB_FIELD_PROJECT, "");
    assert_text(&v, JOB_FIELD_REQUESTS, "");
    assert_text(&v, JOB_FIELD_TRES, "cpu=1,mem=1,node=1");
    assert_true(v.value[JOB_FIELD_BILLING].real >= 1.0 && v.value[JOB_FIELD_BILLING].real <= 1.0);
    reader.close(cursor);
    house_close(&h);
}

/* 5000 ended jobs of forty users of an account, each with one task; the 4321st failed. Another user of the account has
 * only 5000 pending jobs; the users of another account have none. */
static void fill_history(const char *directory)
{
    store_sql(
        directory,
        "CREATE TEMP TABLE n AS WITH RECURSIVE n(v) AS (SELECT 0 UNION ALL SELECT v + 1 FROM n WHERE v < 9999)"
        " SELECT v FROM n;"
        "INSERT INTO association(id, parent_id, account, user, shares, is_default, usage_billing_s, created_us)"
        " SELECT 1000 + v, 1, 'past', 'past' || v, 1, 1, 0, 1 FROM n WHERE v <= 40"
        " UNION ALL SELECT 2000 + v, 1, 'idle', 'idle' || v, 1, 1, 0, 1 FROM n WHERE v <= 40;"
        "INSERT INTO job(id, association_id, uid, gid, name, command, directory, out_pattern, cpus, gpus, mem_mib,"
        " time_limit_s, submit_us, partitions, qos, nice, site, posix_priority, job_share, override_tickets,"
        " requests, is_held, pending_tasks, cancelled_tasks, ended_us)"
        " SELECT 1000 + v, 1000 + iif(v < 5000, v % 40, 40), 1, 1, 'job', 'run', '/', 'out', 1, 0, 1, 60, 1,"
        " 'main', 'normal', 0, 0, 0, 0, 0, '', 0, iif(v < 5000, '', '0'), '', iif(v < 5000, 5 + v, NULL) FROM n;"
        "INSERT INTO task(job_id, task_id, association_id, state, is_cancelled, launch_id, boot_id, launch_us,"
        " start_us, charged_us, end_us, partition, billing, usage_factor, tres, cpus, gpus, mem_mib, exit_status,"
        " signal, cpu_us, max_rss_kib, detail)"
        " SELECT id, 0, association_id, iif(id = 5321, 'FAILED', 'COMPLETED'), 0, id, 'boot', 1, 2, 5 + id - 1000,"
        " 5 + id - 1000, 'main', 1, 1, '', '0', '', 1, 0, 0, 0, 0, '' FROM job WHERE id BETWEEN 1000 AND 5999;");
}

static void a_listing_does_not_block_its_reader(void **unused)
{
    (void)unused;
    static const uint32_t one[] = {5321};
    uint32_t many[3000];
    for (uint32_t i = 0; i < COUNT(many); i++) many[i] = 20000 + i;
    const enum job_state any = JOB_STATE_COUNT;
    const struct {
        const char *expected;
        uint32_t not_yet_count; /* once for 500 skipped rows */
        struct job_query query;
    } rows[] = {
        {"5321.0", 9, {.which = JOBS_ENDED, .task_id = NONE, .state = JOB_FAILED}},
        {"5321.0", 0, {.which = JOBS_ENDED, .task_id = NONE, .state = JOB_FAILED, .newest_first = true}},
        {"5321.0", 9, {.which = JOBS_ALL, .task_id = NONE, .state = JOB_FAILED, .account = "past"}},
        {"", 10, {.which = JOBS_ENDED, .task_id = NONE, .state = JOB_TIMEOUT}},
        {"", 10, {.which = JOBS_ENDED, .task_id = NONE, .state = any, .account = "idle", .newest_first = true}},
        {"5321.0", 9, {.which = JOBS_ENDED, .task_id = NONE, .state = any, .since_us = 4326, .until_us = 4327}},
        {"5321.0",
         0,
         {.which = JOBS_ENDED,
          .task_id = NONE,
          .state = any,
          .since_us = 4326,
          .until_us = 4327,
          .newest_first = true}},
        {"", 10, {.which = JOBS_ENDED, .task_id = NONE, .state = any, .user = "past40"}},
        {"", 0, {.which = JOBS_ENDED, .task_id = NONE, .state = any, .user = "past40", .newest_first = true}},
        {"", 10, {.which = JOBS_LIVE, .task_id = NONE, .state = JOB_RUNNING, .user = "past40"}},
        {"", 5, {.which = JOBS_ALL, .task_id = NONE, .state = any, .job_ids = many, .job_id_count = COUNT(many)}},
        {"5321.0", 0, {.which = JOBS_ALL, .task_id = NONE, .state = any, .job_ids = one, .job_id_count = 1}},
    };
    struct house h = {0};
    store_make_directory(h.directory);
    h.store = store_must_open(h.directory, NOW_US);
    world_init(&h.w, 1, 4096, 0);
    fill_history(h.directory);
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct job_query query = rows[i].query;
        const char *found = list(&h, &query);
        if (strcmp(found, rows[i].expected) != 0 || not_yet_count != rows[i].not_yet_count)
            fail_msg("row %zu: '%s' is not '%s', or %u times not yet, not %u", i, found, rows[i].expected,
                     not_yet_count, rows[i].not_yet_count);
    }
    house_close(&h);
}

static void unstarted_tasks_have_paths_with_an_open_number(void **unused)
{
    (void)unused;
    static const struct {
        const char *pattern, *path;
    } rows[] = {{"%j", "/home/x/1_%a"},
                {"/o/%A-%a-%%a-%x", "/o/1-%a-%a-job"},
                {"%u%%", "/home/x/ann%"},
                {"%5j-%3a", "/home/x/00001_%a-%3a"}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct house h;
        struct job_row v;
        memset(&h, 0, sizeof h);
        store_make_directory(h.directory);
        h.store = store_must_open(h.directory, NOW_US);
        world_init(&h.w, 1, 4096, 0);
        struct event event = world_submission("ann", NULL, 1);
        event.submit = job_with(event.submit, "array=0-3|out=%s|err=e-%%a", rows[i].pattern);
        assert_int_equal(world_apply(&h.w, event, NULL), 0);
        house_commit(&h);
        void *cursor = find(&h, 1, JOB_PENDING, &v);
        assert_text(&v, JOB_FIELD_OUT_PATH, rows[i].path);
        assert_text(&v, JOB_FIELD_ERR_PATH, "/home/x/e-%a");
        store_job_reader(h.store).close(cursor);
        house_close(&h);
    }
}

static void a_listing_is_a_snapshot(void **unused)
{
    (void)unused;
    struct house h;
    struct err e;
    struct job_row v;
    house_open(&h);
    struct job_reader reader = store_job_reader(h.store);
    void *cursor = reader.open(reader.context, &everything, &e);
    cancel(&h, 5, NONE);
    submit(&h, "bob", "chem", NULL, false);
    house_commit(&h);
    uint32_t rows = 0, pending = 0;
    while (reader.next(cursor, &v, &e) == 1) {
        rows++;
        pending += job_row_number(&v, JOB_FIELD_STATE) == JOB_PENDING;
    }
    reader.close(cursor);
    assert_int_equal(rows, 9);
    assert_int_equal(pending, 3);
    assert_string_equal(list(&h, &everything), "1.0 2.0 3.0 3.1 3.P2-4 3.C7 4.P 5.C 6.C 7.P");
    house_close(&h);
}

static void many_listings_at_once(void **unused)
{
    (void)unused;
    struct house h;
    struct err e;
    struct job_row v;
    void *cursors[20];
    house_open(&h);
    struct job_reader reader = store_job_reader(h.store);
    for (int round = 0; round < 3; round++) {
        for (size_t i = 0; i < COUNT(cursors); i++)
            assert_non_null(cursors[i] = reader.open(reader.context, &everything, &e));
        for (int row = 0; row < 9; row++) {
            for (size_t i = 0; i < COUNT(cursors); i++) assert_int_equal(reader.next(cursors[i], &v, &e), 1);
        }
        for (size_t i = 0; i < COUNT(cursors); i++) reader.close(cursors[i]);
    }
    house_close(&h);
}

/* job_reader_sql.c, invariant 1, for every statement: each part, access, direction and filter. */
static void no_statement_sorts(void **unused)
{
    (void)unused;
    struct house h;
    house_open(&h);
    sqlite3 *db = store_open_beside(h.directory);
    uint32_t statements = 0;
    for (unsigned bits = 0; bits < 3 * 2 * 2 * 2 * 2; bits++) {
        struct job_query query = everything;
        query.which = bits % 3;
        query.newest_first = bits / 3 & 1;
        query.user = bits / 6 & 1 ? "ann" : NULL;
        query.state = bits / 12 & 1 ? JOB_FAILED : JOB_STATE_COUNT;
        query.since_us = bits / 24 & 1;
        for (int single = 0; single < 2; single++) {
            for (int part = 0; part < PART_COUNT; part++) {
                if (!job_reader_sql_wants((enum reader_part)part, &query)) continue;
                struct buf text = {0};
                sqlite3_stmt *plan;
                buf_add_text(&text, "EXPLAIN QUERY PLAN ");
                job_reader_sql_compose((enum reader_part)part, job_reader_sql_choose_access(&query, single), &query,
                                       &text);
                if (sqlite3_prepare_v2(db, text.text, -1, &plan, NULL) != SQLITE_OK)
                    fail_msg("%s: %s", text.text, sqlite3_errmsg(db));
                while (sqlite3_step(plan) == SQLITE_ROW) {
                    const char *detail = (const char *)sqlite3_column_text(plan, 3);
                    if (strstr(detail, "TEMP B-TREE") != NULL) fail_msg("%s: %s", text.text, detail);
                    if (strstr(detail, "SCAN association") != NULL) fail_msg("%s: %s", text.text, detail);
                }
                sqlite3_finalize(plan);
                buf_release(&text);
                statements++;
            }
        }
    }
    assert_true(statements > 100);
    sqlite3_close(db);
    house_close(&h);
}

static void damage_ends_a_listing_with_an_error(void **unused)
{
    (void)unused;
    struct house h;
    struct err e = {0};
    struct job_row v;
    house_open(&h);
    store_close(h.store);
    store_damage_table(h.directory, "task");
    h.store = store_must_open(h.directory, NOW_US);
    struct job_reader reader = store_job_reader(h.store);
    void *cursor = reader.open(reader.context, &everything, &e);
    assert_non_null(cursor);
    assert_int_equal(reader.next(cursor, &v, &e), -1);
    assert_int_equal(reader.next(cursor, &v, NULL), -1);
    reader.close(cursor);
    assert_int_equal(e.code, ERR_IO);
    house_close(&h);
}

/* One damaged row does not hide the others; what it cannot have is listed as none. */
static void damaged_rows_are_listed(void **unused)
{
    (void)unused;
    static const char *const states[] = {"BOGUS", "PENDING", "HELD", ""};
    for (size_t i = 0; i < COUNT(states); i++) {
        struct house h;
        struct job_row v;
        char statement[300];
        house_open(&h);
        snprintf(
            statement, sizeof statement,
            "PRAGMA ignore_check_constraints = ON; UPDATE task SET state = '%s', end_us = 9223372036854775807 WHERE job_id = 1;"
            "UPDATE job SET cpus = -5, time_limit_s = -7, submit_us = 0 WHERE id = 1",
            states[i]);
        store_sql(h.directory, statement);
        assert_string_equal(list(&h, &everything), "1.0 2.0 3.0 3.1 3.P2-4 3.C7 4.P 5.P 6.C");
        struct job_reader reader = store_job_reader(h.store);
        void *cursor = find(&h, 1, JOB_STATE_COUNT, &v);
        assert_int_equal(number_of(&v, JOB_FIELD_STATE), JOB_UNKNOWN);
        assert_int_equal(number_of(&v, JOB_FIELD_REASON), PENDING_NONE);
        assert_int_equal(number_of(&v, JOB_FIELD_CPUS), 0);
        assert_int_equal(number_of(&v, JOB_FIELD_TIME_LIMIT), 0);
        assert_int_equal(number_of(&v, JOB_FIELD_SUBMIT), 0);
        assert_false(has(&v, JOB_FIELD_END));
        reader.close(cursor);
        house_close(&h);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(queries_select_rows),
        cmocka_unit_test(rows_have_the_fields_of_jobs),
        cmocka_unit_test(rows_have_the_fields_of_policies),
        cmocka_unit_test(a_listing_does_not_block_its_reader),
        cmocka_unit_test(unstarted_tasks_have_paths_with_an_open_number),
        cmocka_unit_test(a_listing_is_a_snapshot),
        cmocka_unit_test(many_listings_at_once),
        cmocka_unit_test(no_statement_sorts),
        cmocka_unit_test(damaged_rows_are_listed),
        cmocka_unit_test(damage_ends_a_listing_with_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
