/* Ended jobs of other instances: which records are accepted, what becomes of them in the store, and that an export of a
 * database is what another one takes. */
#include "store_house.h"

#include "api/server/moved_jobs.h"

#define INSTANCE "0123456789abcdef0123456789abcdef"

/* Microseconds before now. */
enum { SUBMITTED = 10000000, STARTED = 9000000, ENDED = 1000000 };

static void write_task(struct buf *out, const char *more)
{
    buf_format(
        out,
        "{\"task_id\":0,\"restarts\":0,\"state\":\"COMPLETED\",\"launch_us\":%lld,\"start_us\":%lld,\"end_us\":%lld,"
        "\"hosts\":\"localhost\",\"cpu_ids\":\"0\",\"gpu_ids\":\"\",\"task_mem_mib\":1,\"exit_status\":0,"
        "\"signal\":0,\"cpu_us\":5,\"max_rss_kib\":7,\"detail\":\"\",\"partition\":\"main\",\"tres\":\"cpu=1\","
        "\"billing\":1%s}",
        (long long)(NOW_US - STARTED), (long long)(NOW_US - STARTED), (long long)(NOW_US - ENDED), more);
}

static void write_job(struct buf *out, uint32_t id, const char *more, const char *of_task)
{
    buf_format(out,
               "{\"id\":%u,\"name\":\"x\",\"command\":\"x\",\"directory\":\"/\",\"out\":\"x\",\"cpus\":1,\"mem_mib\":1,"
               "\"gpus\":0,\"time_limit_s\":60,\"submit_us\":%lld,\"ended_us\":%lld,\"partitions\":\"main\","
               "\"qos\":\"normal\"%s,\"tasks\":[",
               id, (long long)(NOW_US - SUBMITTED), (long long)(NOW_US - ENDED), more);
    if (of_task != NULL) write_task(out, of_task);
    buf_add_text(out, "]}");
}

/* Reads a body with one job and checks it. */
static int read_job(uint32_t id, const char *more, const char *of_task, struct arena *arena, struct moved_jobs *out,
                    struct err *e)
{
    struct buf text = {0};
    struct api_move_in *body = arena_alloc(arena, sizeof *body);
    buf_add_text(&text, "{\"instance\":\"" INSTANCE "\",\"jobs\":[");
    write_job(&text, id, more, of_task);
    buf_add_text(&text, "]}");
    int status = wire_read_text(&api_move_in_shape, (struct str){text.text, text.length}, arena, body, e);
    buf_release(&text);
    if (status != 0) return -1;
    moved_jobs_of(body, arena, out);
    return moved_jobs_check(out, NOW_US, e);
}

static void test_records(void **state)
{
    (void)state;
    static const struct {
        const char *more, *of_task; /* members; of_task NULL: it has not started */
        const char *error;          /* a part of it; NULL: accepted */
    } rows[] = {
        {"", "", NULL},
        {",\"comment\":\"c\",\"project\":\"p\",\"err\":\"e\"", ",\"mem_gib_s\":0.5,\"io_bytes\":3", NULL},
        {",\"cancelled_tasks\":\"0\",\"cancelled_us\":1699999995000000", NULL, NULL},
        {",\"array\":\"0-3\",\"cancelled_tasks\":\"2-3\",\"cancelled_us\":1699999995000000", "", NULL},
        {",\"cancelled_tasks\":\"0\"", NULL, "jobs[0].cancelled_us: missing"},
        {",\"cancelled_tasks\":\"1\",\"cancelled_us\":1699999995000000", NULL, "jobs[0].cancelled_tasks"},
        {",\"array\":\"0-3\",\"cancelled_tasks\":\"4\",\"cancelled_us\":1699999995000000", "",
         "is not tasks of the job"},
        {",\"array\":\"1-3\"", "", "jobs[0].tasks[0].task_id"},
        {",\"array\":\"0-4000000:2\"", "", "jobs[0].array"},
        {",\"cancelled_us\":1700000000000001", "", "jobs[0].cancelled_us"},
        {",\"uid\":0", "", "uid"},
        {",\"association_id\":1", "", "association_id"},
        {",\"origin\":\"x\"", "", "origin"},
        {"", ",\"usage_factor\":1", "usage_factor"},
        {"", ",\"charged_us\":1", "charged_us"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct arena arena = {0};
        struct err e = {0};
        struct moved_jobs jobs;
        int status = read_job(7, rows[i].more, rows[i].of_task, &arena, &jobs, &e);
        if (status != (rows[i].error != NULL ? -1 : 0)) fail_msg("row %zu: %s", i, ERR_SENTENCE(&e));
        if (rows[i].error != NULL && strstr(ERR_SENTENCE(&e), rows[i].error) == NULL)
            fail_msg("row %zu: %s", i, ERR_SENTENCE(&e));
        arena_release(&arena);
    }
}

/* Changes one value of an accepted record. */
static void test_values(void **state)
{
    (void)state;
    static const struct {
        enum job_field field;
        bool is_of_job;
        int64_t number;
        const char *text; /* NULL: the number counts */
    } rows[] = {
        {JOB_FIELD_ENDED, true, INT64_C(1700000000) * SECOND + 1, NULL},
        {JOB_FIELD_ENDED, true, 5, NULL},
        {JOB_FIELD_ENDED, true, FIELD_ABSENT, NULL},
        {JOB_FIELD_END, false, INT64_C(1700000000) * SECOND, NULL},
        {JOB_FIELD_END, false, 5, NULL},
        {JOB_FIELD_END, false, FIELD_ABSENT, NULL},
        {JOB_FIELD_START, false, 5, NULL},
        {JOB_FIELD_START, false, INT64_C(1700000000) * SECOND, NULL},
        {JOB_FIELD_LAUNCH, false, INT64_C(1700000000) * SECOND, NULL},
        {JOB_FIELD_STATE, false, JOB_RUNNING, NULL},
        {JOB_FIELD_STATE, false, JOB_HELD, NULL},
        {JOB_FIELD_STATE, false, JOB_UNKNOWN, NULL},
        {JOB_FIELD_EXIT_STATUS, false, 256, NULL},
        {JOB_FIELD_SIGNAL, false, 65, NULL},
        {JOB_FIELD_TASK_ID, false, 1, NULL},
        {JOB_FIELD_TASK_ID, false, FIELD_ABSENT, NULL},
        {JOB_FIELD_HOSTS, false, 0, "a b"},
        {JOB_FIELD_HOSTS, false, 0, "n1,@x"},
        {JOB_FIELD_CPU_IDS, false, 0, "0-"},
        {JOB_FIELD_TRES, false, 0, "cpu"},
        {JOB_FIELD_TRES, false, 0, "=1"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct arena arena = {0};
        struct err e = {0};
        struct moved_jobs jobs;
        assert_int_equal(read_job(7, "", "", &arena, &jobs, &e), 0);
        struct job_values *v =
            (struct job_values *)(uintptr_t)(rows[i].is_of_job ? jobs.jobs[0].job : jobs.jobs[0].tasks);
        v->value[rows[i].field] = rows[i].text != NULL ? field_text(rows[i].text) : field_number(rows[i].number);
        if (moved_jobs_check(&jobs, NOW_US, &e) == 0) fail_msg("row %zu is accepted", i);
        assert_int_equal(e.code, ERR_INPUT);
        arena_release(&arena);
    }
    struct arena arena = {0};
    struct err e;
    struct moved_jobs jobs;
    assert_int_equal(read_job(7, "", "", &arena, &jobs, &e), 0);
    jobs.instance = "0123";
    assert_int_equal(moved_jobs_check(&jobs, NOW_US, &e), -1);
    arena_release(&arena);
}

static struct store_moved move(struct house *h, uint32_t uid, uint32_t id, const char *of_task, bool is_dry_run)
{
    struct arena arena = {0};
    struct err e = {0};
    struct moved_jobs jobs;
    struct store_moved moved;
    if (read_job(id, "", of_task, &arena, &jobs, &e) != 0) fail_msg("%s", ERR_SENTENCE(&e));
    const struct store_move order = {.jobs = &jobs,
                                     .user = "ann",
                                     .uid = uid,
                                     .gid = uid,
                                     .now_us = NOW_US,
                                     .rows_max = 100,
                                     .is_dry_run = is_dry_run,
                                     .next_job_id = h->w.s.next_job_id,
                                     .next_assoc_id = h->w.s.next_assoc_id};
    if (store_move_in(h->store, &order, &moved, &e) != 0) fail_msg("%s", ERR_SENTENCE(&e));
    h->w.s.next_job_id = moved.next_job_id;
    h->w.s.next_assoc_id = moved.next_assoc_id;
    arena_release(&arena);
    return moved;
}

static void assert_moved(struct store_moved got, uint32_t jobs, uint32_t tasks, uint32_t known, uint32_t removed)
{
    const uint32_t found[] = {got.jobs, got.tasks, got.known, got.removed}, expected[] = {jobs, tasks, known, removed};
    for (size_t i = 0; i < COUNT(found); i++) assert_int_equal(found[i], expected[i]);
}

static void test_nothing_is_taken_twice(void **state)
{
    (void)state;
    struct house h;
    house_build(&h, (struct capacity){.cpus = 4, .mem_mib = 4096});
    uint32_t next_job_id = h.w.s.next_job_id;
    assert_moved(move(&h, 1000, 7, "", true), 1, 1, 0, 0);
    assert_int_equal(h.w.s.next_job_id, next_job_id);
    assert_sql(h.directory, "SELECT count(*) FROM job", "0");
    assert_moved(move(&h, 1000, 7, "", false), 1, 1, 0, 0);
    assert_moved(move(&h, 1000, 7, "", false), 0, 0, 1, 0);
    assert_moved(move(&h, 1000, 7, "", true), 0, 0, 1, 0);
    assert_moved(move(&h, 1001, 7, "", false), 1, 1, 0, 0); /* of another user it is another job */
    assert_moved(move(&h, 1000, 8, NULL, false), 1, 0, 0, 0);
    assert_int_equal(h.w.s.next_job_id, next_job_id + 3);
    assert_sql(h.directory, "SELECT group_concat(uid || origin, ' ') FROM job",
               "1000" INSTANCE "/7 1001" INSTANCE "/7 1000" INSTANCE "/8");
    assert_sql(h.directory, "SELECT group_concat(usage_factor || ' ' || charged_us IS NULL) FROM task", "1,1");
    assert_sql(h.directory, "SELECT count(*) FROM association WHERE account = 'moved-in' AND deleted_us IS NULL", "0");
    assert_sql(h.directory, "SELECT group_concat(row_count) FROM moved_in", "3,2");
    assert_sql(h.directory, "SELECT next_job_id FROM counters", "4");
    house_close(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_records),
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_nothing_is_taken_twice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
