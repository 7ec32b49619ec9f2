/* Long scripts: stored in pieces before their job, read again as they were, stored once, and removed when no job has
 * them. (tests/crash/store_driver.c breaks off an upload at every step.) */
#include "engine/state_rows.h"
#include "store_house.h"

enum { PIECES = 3, LONG_BYTES = (PIECES - 1) * STORE_PIECE_BYTES + 1 };

static const struct capacity host = {512, 0, 1 << 20};

static char long_text[LONG_BYTES + 1], other_text[LONG_BYTES + 1];

static int make_texts(void **unused)
{
    (void)unused;
    for (int i = 0; i < LONG_BYTES; i++) long_text[i] = (char)('a' + i % 23);
    memcpy(other_text, long_text, sizeof other_text);
    other_text[LONG_BYTES - 1] = '!';
    return 0;
}

static void open_house(struct house *h)
{
    house_build(h, host);
    world_user(&h->w, "physics", 1, "ann");
    house_commit(h);
}

static struct job_script script_of(const char *text)
{
    return (struct job_script){.script = str(text), .script_name = "run"};
}

/* Stores the pieces; returns in how many steps. */
static uint32_t upload_all(struct house *h, struct store_upload *upload)
{
    struct err e = {0};
    for (uint32_t steps = 1;; steps++) {
        int result = store_upload_step(h->store, upload, &e);
        if (result < 0) fail_msg("%s", ERR_SENTENCE(&e));
        if (result == 0) return steps;
    }
}

static uint32_t submit(struct house *h, const struct job_script *script)
{
    uint32_t id;
    if (world_apply(&h->w, world_submission("ann", NULL, 1), &id) != 0) fail_msg("%s", ERR_SENTENCE(&h->w.e));
    if (store_script_is_long(script)) {
        struct store_upload *upload = store_upload_prepare(script);
        upload_all(h, upload);
        store_add_upload(h->store, id, upload);
        store_upload_free(upload);
    } else {
        store_add_script(h->store, id, script);
    }
    house_commit(h);
    return id;
}

static void remove_all_loose(struct house *h)
{
    struct err e = {0};
    int result = 1;
    while (result > 0) result = store_remove_loose(h->store, &e);
    if (result < 0) fail_msg("%s", ERR_SENTENCE(&e));
}

static void assert_counts(const struct house *h, const char *expected)
{
    assert_sql(h->directory,
               "SELECT (SELECT count(*) FROM content WHERE piece_count > 0) || ' ' || (SELECT count(*) FROM"
               " content_piece) || ' ' || (SELECT count(*) FROM loose_content)",
               expected);
}

static void assert_script(struct house *h, uint32_t id, const char *text)
{
    struct arena arena = {0};
    struct job_script read;
    struct err e = {0};
    if (store_script(h->store, id, &arena, &read, &e) != 0) fail_msg("%s", ERR_SENTENCE(&e));
    assert_true(read.is_long);
    assert_int_equal(read.script.length, 0);
    if (store_read_script(h->directory, id, &arena, &read, &e) != 0) fail_msg("%s", ERR_SENTENCE(&e));
    assert_int_equal(read.script.length, strlen(text));
    assert_memory_equal(read.script.text, text, read.script.length);
    assert_string_equal(read.script_name, "run");
    arena_release(&arena);
}

static void an_equal_script_is_stored_once(void **unused)
{
    (void)unused;
    struct house h;
    const struct job_script script = script_of(long_text), other = script_of(other_text);
    open_house(&h);
    uint32_t first = submit(&h, &script), second = submit(&h, &script);
    assert_counts(&h, "1 3 0");
    uint32_t third = submit(&h, &other);
    assert_counts(&h, "2 6 0");
    assert_script(&h, first, long_text);
    assert_script(&h, second, long_text);
    assert_script(&h, third, other_text);
    house_close(&h);
}

/* The same hash and number of pieces, and other bytes: as if hashes collided. */
static void another_script_with_the_same_hash_is_stored_beside_it(void **unused)
{
    (void)unused;
    struct house h;
    const struct job_script script = script_of(long_text);
    open_house(&h);
    submit(&h, &script);
    store_close(h.store);
    store_sql(h.directory, "UPDATE content_piece SET bytes = x'21' WHERE position = 2");
    h.store = store_must_open(h.directory, h.w.now_us);
    uint32_t second = submit(&h, &script);
    assert_counts(&h, "2 6 1");
    remove_all_loose(&h);
    assert_counts(&h, "2 6 0"); /* the first one has its job */
    assert_script(&h, second, long_text);
    house_close(&h);
}

static void lists_may_be_long_too(void **unused)
{
    (void)unused;
    struct house h;
    struct arena arena = {0};
    struct err e = {0};
    struct str arguments[] = {str("one"), {long_text, LONG_BYTES}, str("")}, environment[] = {{other_text, LONG_BYTES}};
    const struct job_script script = {.script_name = "",
                                      .arguments = arguments,
                                      .argument_count = 3,
                                      .environment = environment,
                                      .environment_count = 1};
    struct job_script read;
    open_house(&h);
    uint32_t id = submit(&h, &script);
    assert_counts(&h, "2 6 0");
    if (store_read_script(h.directory, id, &arena, &read, &e) != 0) fail_msg("%s", ERR_SENTENCE(&e));
    assert_int_equal(read.script.length, 0);
    assert_int_equal(read.argument_count, 3);
    assert_string_equal(read.arguments[0].text, "one");
    assert_string_equal(read.arguments[1].text, long_text);
    assert_string_equal(read.arguments[2].text, "");
    assert_int_equal(read.environment_count, 1);
    assert_string_equal(read.environment[0].text, other_text);
    arena_release(&arena);
    house_close(&h);
}

/* What version 29 stored in one row. */
static void a_long_text_in_one_row_is_read_likewise(void **unused)
{
    (void)unused;
    struct house h;
    const struct job_script script = script_of("short");
    open_house(&h);
    uint32_t id = submit(&h, &script);
    store_close(h.store);
    store_sql(h.directory, "UPDATE content SET bytes = CAST(printf('%.300000c', 'x') AS BLOB) WHERE length(bytes) > 0");
    h.store = store_must_open(h.directory, h.w.now_us);
    struct arena arena = {0};
    struct buf expected = {0};
    for (int i = 0; i < 300000; i++) buf_add_char(&expected, 'x');
    assert_script(&h, id, expected.text);
    buf_release(&expected);
    arena_release(&arena);
    house_close(&h);
}

/* A daemon that is killed in an upload, or whose job is refused, leaves pieces, of which none is taken for stored. */
static void what_no_job_has_is_removed(void **unused)
{
    (void)unused;
    struct house h;
    struct err e = {0};
    const struct job_script script = script_of(long_text);
    open_house(&h);
    struct store_upload *upload = store_upload_prepare(&script);
    assert_int_equal(store_upload_step(h.store, upload, &e), 1);
    assert_counts(&h, "1 1 1");
    store_close(h.store);
    store_upload_free(upload);
    h.store = store_must_open(h.directory, h.w.now_us);
    uint32_t id = submit(&h, &script);
    assert_counts(&h, "2 4 1");
    assert_int_equal(store_remove_loose(h.store, &e), 1);
    remove_all_loose(&h);
    assert_int_equal(store_remove_loose(h.store, &e), 0);
    assert_counts(&h, "1 3 0");
    assert_script(&h, id, long_text);
    upload = store_upload_prepare(&script);
    assert_true(upload_all(&h, upload) > 1);
    assert_counts(&h, "1 3 1"); /* it was found; its job is refused */
    store_upload_free(upload);
    remove_all_loose(&h);
    assert_counts(&h, "1 3 0");
    house_close(&h);
}

static void end_jobs(struct house *h)
{
    assert_int_equal(world_apply(&h->w, (struct event){.kind = EVENT_CANCEL, .jobs = {.all = true}}, NULL), 0);
    house_commit(h);
    h->w.now_us += 60 * SECOND;
}

static void prune_all(struct house *h)
{
    struct prune_plan plan;
    struct err e = {0};
    if (store_prune_plan(h->directory, h->w.now_us + 1, h->w.now_us, &plan, &e) != 0) fail_msg("%s", ERR_SENTENCE(&e));
    state_compact_jobs(&h->w.s);
    state_compact_tasks(&h->w.s);
    for (uint32_t i = 0; i < plan.pieces.count; i++) {
        if (store_prune(h->store, &plan, i, NULL, &e) != 0) fail_msg("%s", ERR_SENTENCE(&e));
    }
    store_prune_plan_release(&plan);
}

static void a_pruned_script_is_removed_in_pieces(void **unused)
{
    (void)unused;
    struct house h;
    const struct job_script script = script_of(long_text);
    open_house(&h);
    submit(&h, &script);
    submit(&h, &script);
    end_jobs(&h);
    prune_all(&h);
    assert_counts(&h, "1 3 1");
    remove_all_loose(&h);
    assert_counts(&h, "0 0 0");
    house_close(&h);
}

/* The last job that has a script is removed while another submission compares its own with it. */
static void a_script_that_is_compared_is_not_removed(void **unused)
{
    (void)unused;
    struct house h;
    struct err e = {0};
    uint32_t id;
    const struct job_script script = script_of(long_text);
    open_house(&h);
    submit(&h, &script);
    end_jobs(&h);
    struct store_upload *upload = store_upload_prepare(&script);
    assert_int_equal(store_upload_step(h.store, upload, &e), 1);
    prune_all(&h);
    assert_counts(&h, "1 3 1");
    upload_all(&h, upload);
    assert_int_equal(world_apply(&h.w, world_submission("ann", NULL, 1), &id), 0);
    store_add_upload(h.store, id, upload);
    house_commit(&h);
    store_upload_free(upload);
    assert_counts(&h, "1 3 0");
    remove_all_loose(&h);
    assert_script(&h, id, long_text);
    house_close(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_equal_script_is_stored_once),
        cmocka_unit_test(another_script_with_the_same_hash_is_stored_beside_it),
        cmocka_unit_test(lists_may_be_long_too),
        cmocka_unit_test(a_long_text_in_one_row_is_read_likewise),
        cmocka_unit_test(what_no_job_has_is_removed),
        cmocka_unit_test(a_pruned_script_is_removed_in_pieces),
        cmocka_unit_test(a_script_that_is_compared_is_not_removed),
    };
    return cmocka_run_group_tests(tests, make_texts, NULL);
}
