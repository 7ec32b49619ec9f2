/* The cost of the store: turns of 1 to 1000 submissions, listings, loading and verifying, with a small history and with
 * a history of a million tasks.
 *
 *   turn      submissions committed in one transaction, each with a script and an environment of 3 KB: durable jobs/s
 *   minimums  the priorities of all 10^5 jobs fall with INCR_ONLY: a turn that writes a part of the minimums (pass and
 *             commit, at most 20 ms), and the turn that deletes all of them
 *   queue     a listing of 10^5 pending jobs: rows/s, and the longest wait for one row
 *   history   the same for ended jobs; also the newest 100, and the newest 100 of a user with ten jobs of a million
 *   end       how an array of 10^5 tasks ended, every other one well, for a job that waits for it; then its requeue:
 *             the turn that decides and writes it. Both should cost the same for each task as of an array of 10^4
 *   load      a start with 10^5 pending jobs
 *   verify    all usage recomputed
 *
 * Yardstick of the same run, in the same directory: one write of 4 KB and fdatasync, which every durable turn needs.
 * The directory is in TMPDIR, else /var/tmp, on a disk and not in memory. With --quick all sizes are a tenth. */
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/rng.h"
#include "store/store.h"

static const int64_t NOW_US = INT64_C(1700000000000000);

static uint32_t scale = 1; /* divides the sizes */

static _Noreturn void give_up(const char *name, const char *text)
{
    fprintf(stderr, "%s: %s\n", name, text);
    exit(1);
}

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static struct store *must_open(const char *directory)
{
    struct err e;
    struct store *s = store_open(directory, NOW_US, &e);
    if (s == NULL) give_up("open", ERR_SENTENCE(&e));
    return s;
}

static void must_load(struct store *store, struct state *s)
{
    struct err e;
    state_init(s, NOW_US);
    if (store_load(store, s, &e) != 0) give_up("load", ERR_SENTENCE(&e));
    struct event host = {.kind = EVENT_HOST, .host.has = {64, 0, 1000000}};
    struct outcome unused = {0};
    engine_apply(s, NOW_US, &host, &unused, NULL, NULL);
    outcome_release(&unused);
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Seconds of one durable write: the median. */
static double measure_fsync(const char *directory)
{
    enum { ROUNDS = 201 };
    char path[300], page[4096];
    double took[ROUNDS];
    snprintf(path, sizeof path, "%s/yardstick", directory);
    int fd = open(path, O_CREAT | O_WRONLY, 0600);
    if (fd < 0) give_up(path, "cannot be created");
    memset(page, 7, sizeof page);
    for (int i = 0; i < ROUNDS; i++) {
        double begin = now_s();
        if (write(fd, page, sizeof page) != sizeof page || fdatasync(fd) != 0) give_up(path, "cannot be written");
        took[i] = now_s() - begin;
    }
    close(fd);
    unlink(path);
    qsort(took, ROUNDS, sizeof took[0], compare_doubles);
    return took[ROUNDS / 2];
}

static void give_text(struct job_values *job, enum job_field f, const char *text)
{
    job->value[f] = field_text(text);
    job->is_given[f] = true;
}

static void submit(struct state *s, struct store *store, uint32_t user, struct outcome *out)
{
    static char value[2900];
    char name[30];
    struct job_values job = {0};
    struct event_result result;
    struct err e;
    memset(value, 'x', sizeof value - 1);
    snprintf(name, sizeof name, "user%u", user);
    give_text(&job, JOB_FIELD_NAME, "job");
    give_text(&job, JOB_FIELD_DIRECTORY, "/home/ann/project");
    give_text(&job, JOB_FIELD_COMMAND, "run.sh first second");
    struct event event = {.kind = EVENT_SUBMIT, .actor = {1000, 1000, name, ROLE_USER}, .submit = &job};
    if (engine_apply(s, NOW_US, &event, out, &result, &e) != 0) give_up("submit", ERR_SENTENCE(&e));
    struct str arguments[] = {str("first"), str("second")};
    struct str environment[] = {str("PATH=/usr/bin:/bin"), str("HOME=/home/ann"), str(value)};
    struct job_script script = {str("#!/bin/sh\nsleep 1\n"), "run.sh", arguments, 2, environment, 3, false};
    store_add_script(store, result.job_id, &script);
}

/* Commits turns of that many jobs for a second; prints the median. */
static void measure_turns(struct store *store, struct state *s, uint32_t jobs, double fsync_s)
{
    enum { TURNS_MAX = 10000 };
    static double took[TURNS_MAX];
    struct outcome out = {0};
    struct err e;
    uint32_t turns = 0;
    for (double begin = now_s(); turns < TURNS_MAX && now_s() - begin < 1.0 / scale; turns++) {
        for (uint32_t i = 0; i < jobs; i++) submit(s, store, i % 50, &out);
        double before = now_s();
        if (store_commit(store, s, &out, NOW_US, &e) != 0) give_up("commit", ERR_SENTENCE(&e));
        took[turns] = now_s() - before;
        outcome_clear(&out);
    }
    qsort(took, turns, sizeof took[0], compare_doubles);
    double turn_s = took[turns / 2];
    printf("turn %5u  %8.2f ms (99th of 100: %.2f)  %5.1f x fsync  %9.0f jobs/s durable\n", jobs, turn_s * 1e3,
           took[turns * 99 / 100] * 1e3, turn_s / fsync_s, jobs / turn_s);
    outcome_release(&out);
}

/* Reads all rows of a query; prints the rate and the longest wait for a row, including the first. */
static void measure_listing(struct store *store, const char *name, const struct job_query *query)
{
    struct job_reader reader = store_job_reader(store);
    struct job_row row;
    struct err e;
    uint32_t rows = 0;
    int result;
    double begin = now_s(), longest = 0, last = begin;
    void *cursor = reader.open(reader.context, query, &e);
    if (cursor == NULL) give_up(name, ERR_SENTENCE(&e));
    do {
        result = reader.next(cursor, &row, &e);
        double now = now_s();
        if (now - last > longest) longest = now - last;
        last = now;
        rows += result == 1;
    } while (result > 0);
    if (result < 0) give_up(name, ERR_SENTENCE(&e));
    reader.close(cursor);
    printf("%-28s %8u rows  %8.2f ms  longest wait %6.2f ms\n", name, rows, (last - begin) * 1e3, longest * 1e3);
}

static void fill_queue(struct store *store, struct state *s, uint32_t jobs)
{
    struct outcome out = {0};
    struct err e;
    while (s->jobs.count < jobs) {
        for (uint32_t i = 0; i < 1000; i++) submit(s, store, i % 50, &out);
        if (store_commit(store, s, &out, NOW_US, &e) != 0) give_up("commit", ERR_SENTENCE(&e));
        outcome_clear(&out);
    }
    outcome_release(&out);
}

static double run_turn_s(struct store *store, struct state *s, const struct event *event, int64_t now_us)
{
    struct outcome out = {0};
    struct err e;
    const struct event pass = {.kind = EVENT_TIME, .time = {"boot"}};
    double begin = now_s();
    if (event != NULL && engine_apply(s, now_us, event, &out, NULL, &e) != 0) give_up("event", ERR_SENTENCE(&e));
    if (engine_apply(s, now_us, &pass, &out, NULL, &e) != 0) give_up("pass", ERR_SENTENCE(&e));
    if (store_commit(store, s, &out, now_us, &e) != 0) give_up("commit", ERR_SENTENCE(&e));
    outcome_release(&out);
    return now_s() - begin;
}

static double run_setting_turn_s(struct store *store, struct state *s, const char *key, const char *value)
{
    const struct event_pair pair = {key, value};
    const struct event event = {
        .kind = EVENT_SETTINGS, .actor = {0, 0, "root", ROLE_ADMINISTRATOR}, .settings = {.pairs = &pair, .count = 1}};
    return run_turn_s(store, s, &event, NOW_US);
}

static void measure_min_priorities(struct store *store, struct state *s, double fsync_s)
{
    enum { TURNS_MAX = 1000 };
    double took[TURNS_MAX];
    uint32_t turns = 0;
    run_setting_turn_s(store, s, "PriorityWeightPartition", "1000");
    run_setting_turn_s(store, s, "PriorityFlags", "INCR_ONLY");
    took[turns++] = run_setting_turn_s(store, s, "PriorityWeightPartition", "0");
    for (int64_t due_us = 0; turns < TURNS_MAX && (due_us = state_next_due_us(s)) != 0;)
        took[turns++] = run_turn_s(store, s, NULL, due_us);
    qsort(took, turns, sizeof took[0], compare_doubles);
    double clear_s = run_setting_turn_s(store, s, "PriorityFlags", "");
    printf("minimums   %u jobs in %u turns: %.2f ms (max %.2f, %.1f x fsync), at most 20 ms; deleted in %.2f ms\n",
           s->jobs.count, turns, took[turns / 2] * 1e3, took[turns - 1] * 1e3, took[turns - 1] / fsync_s,
           clear_s * 1e3);
}

/* A history of so many tasks, written by SQL without the engine. User past0 ran ten of them. */
static void fill_history(const char *directory, uint32_t tasks)
{
    char path[300], text[3000];
    sqlite3 *db;
    snprintf(path, sizeof path, "%s/fairlead.db", directory);
    snprintf(
        text, sizeof text,
        "PRAGMA synchronous = OFF; BEGIN;"
        "CREATE TEMP TABLE n AS WITH RECURSIVE n(value) AS (SELECT 0 UNION ALL SELECT value + 1 FROM n WHERE value < %u)"
        " SELECT value FROM n;"
        "INSERT INTO association(id, parent_id, account, user, shares, is_default, usage_billing_s, created_us)"
        " VALUES(1000, 1, 'past', NULL, 1, 0, 0, 1);"
        "INSERT INTO association(id, parent_id, account, user, shares, is_default, usage_billing_s, created_us)"
        " SELECT 1001 + value, 1000, 'past', 'past' || value, 1, 1, 0, 1 FROM n WHERE value < 100;"
        "INSERT INTO job(id, association_id, uid, gid, name, command, directory, out_pattern, cpus, gpus, mem_mib, time_limit_s,"
        " submit_us, accrue_us, partitions, qos, nice, site, posix_priority, job_share, override_tickets, requests, is_held,"
        " pending_tasks, cancelled_tasks, ended_us)"
        " SELECT 1000000 + value, 1001 + iif(value %% %u = 7, 0, 1 + value %% 99), 1, 1, 'job', 'run', '/home/ann', 'out', 1,"
        " 0, 100, 3600, %lld + value * 1000, %lld + value * 1000, 'main', 'normal', 0, 0, 0, 0, 0, '', 0, '', '',"
        " %lld + value * 1000 FROM n WHERE value > 0;"
        "INSERT INTO task(job_id, task_id, association_id, state, is_cancelled, launch_id, boot_id, launch_us, start_us,"
        " charged_us, end_us, partition, billing, usage_factor, tres, cpus, gpus, mem_mib, exit_status, signal, cpu_us,"
        " max_rss_kib, detail)"
        " SELECT id, 0, association_id, 'COMPLETED', 0, id, 'boot', submit_us, submit_us, submit_us + 60000000,"
        " submit_us + 60000000, 'main', 1, 1, 'cpu=1,mem=100,node=1,billing=1', '0', '', 100, 0, 0, 1, 1, '' FROM job"
        " WHERE id > 1000000;"
        "UPDATE counters SET next_job_id = 10000000, next_launch_id = 10000000, next_association_id = 2000; COMMIT",
        tasks, tasks / 10, (long long)NOW_US, (long long)NOW_US, (long long)NOW_US);
    if (sqlite3_open(path, &db) != SQLITE_OK) give_up(path, sqlite3_errmsg(db));
    if (sqlite3_exec(db, text, NULL, NULL, NULL) != SQLITE_OK) give_up("history", sqlite3_errmsg(db));
    sqlite3_close(db);
}

/* Yardstick for all reading: SQLite steps through the same rows without reading their columns. */
static void measure_scan(const char *directory)
{
    char path[300];
    sqlite3 *db;
    sqlite3_stmt *rows;
    uint32_t count = 0;
    snprintf(path, sizeof path, "%s/fairlead.db", directory);
    if (sqlite3_open(path, &db) != SQLITE_OK) give_up(path, sqlite3_errmsg(db));
    double begin = now_s();
    if (sqlite3_prepare_v2(db, "SELECT * FROM task JOIN job ON job.id = job_id", -1, &rows, NULL) != SQLITE_OK)
        give_up("scan", sqlite3_errmsg(db));
    while (sqlite3_step(rows) == SQLITE_ROW) count++;
    double took = now_s() - begin;
    printf("yardstick  %u rows of task and job in %.0f ms, %.0f ns per row: sqlite3_step alone\n", count, took * 1e3,
           took * 1e9 / (count > 0 ? count : 1));
    sqlite3_finalize(rows);
    sqlite3_close(db);
}

static void measure_load(const char *directory)
{
    struct state s;
    double begin = now_s();
    struct store *store = must_open(directory);
    double opened = now_s();
    must_load(store, &s);
    printf("load       open %.1f ms, %u jobs in %.1f ms\n", (opened - begin) * 1e3, s.jobs.count,
           (now_s() - opened) * 1e3);
    state_release(&s);
    store_close(store);
}

static void measure_verify(const char *directory)
{
    struct arena arena = {0};
    struct verify_report report;
    struct err e;
    double begin = now_s();
    if (store_verify(directory, &arena, &report, &e) != 0) give_up("verify", ERR_SENTENCE(&e));
    double took = now_s() - begin;
    printf("verify     %llu tasks in %.0f ms, %.0f ns per task\n", (unsigned long long)report.task_count, took * 1e3,
           took * 1e9 / (double)report.task_count);
    array_release(&report.differences);
    arena_release(&arena);
}

static void measure_listings(struct store *store)
{
    struct job_query live = {.which = JOBS_LIVE, .task_id = NONE, .state = JOB_STATE_COUNT}, mine = live;
    struct job_query ended = {.which = JOBS_ENDED, .task_id = NONE, .state = JOB_STATE_COUNT, .newest_first = true},
                     last = ended, rare = ended;
    mine.user = "user7";
    last.limit = 100;
    rare.limit = 100;
    rare.user = "past0";
    measure_listing(store, "queue, all", &live);
    measure_listing(store, "queue, one user's", &mine);
    measure_listing(store, "history, all", &ended);
    measure_listing(store, "history, newest 100", &last);
    measure_listing(store, "history, user with ten", &rare);
    rare.user = NULL;
    rare.state = JOB_NODE_FAIL;
    measure_listing(store, "history, unused state", &rare);
    rare.state = JOB_STATE_COUNT;
    rare.account = "default";
    measure_listing(store, "history, idle account", &rare);
}

/* An array that has ended, every other task well, written by SQL. */
static void fill_array(const char *directory, uint32_t id, uint32_t tasks)
{
    char path[300], text[2000];
    sqlite3 *db;
    snprintf(path, sizeof path, "%s/fairlead.db", directory);
    snprintf(
        text, sizeof text,
        "PRAGMA synchronous = OFF; BEGIN;"
        "INSERT INTO job(id, association_id, uid, gid, name, command, directory, out_pattern, cpus, gpus, mem_mib,"
        " time_limit_s, submit_us, accrue_us, partitions, qos, nice, site, posix_priority, job_share,"
        " override_tickets, requests, is_held, array_tasks, pending_tasks, cancelled_tasks, ended_us)"
        " VALUES(%u, 1002, 1, 1, 'array', 'run', '/home/ann', 'out', 1, 0, 100, 3600, %lld, %lld, 'main', 'normal',"
        " 0, 0, 0, 0, 0, '', 0, '0-%u', '', '', %lld);"
        "WITH RECURSIVE n(value) AS (SELECT 0 UNION ALL SELECT value + 1 FROM n WHERE value < %u - 1)"
        " INSERT INTO task(job_id, task_id, association_id, state, is_cancelled, launch_id, boot_id, launch_us,"
        " start_us, charged_us, end_us, partition, billing, usage_factor, tres, cpus, gpus, mem_mib, exit_status,"
        " signal, cpu_us, max_rss_kib, detail) SELECT %u, value, 1002, iif(value %% 2, 'COMPLETED', 'FAILED'), 0,"
        " 1, 'boot', %lld, %lld, %lld, %lld, 'main', 1, 1, 'cpu=1', '0', '', 100, 0, 0, 1, 1, '' FROM n; COMMIT",
        id, (long long)NOW_US, (long long)NOW_US, tasks - 1, (long long)NOW_US, tasks, id, (long long)NOW_US,
        (long long)NOW_US, (long long)NOW_US, (long long)NOW_US);
    if (sqlite3_open(path, &db) != SQLITE_OK) give_up(path, sqlite3_errmsg(db));
    if (sqlite3_exec(db, text, NULL, NULL, NULL) != SQLITE_OK) give_up("array", sqlite3_errmsg(db));
    sqlite3_close(db);
}

static double requeue_turn_s(struct store *store, struct state *s, uint32_t id)
{
    struct arena arena = {0};
    struct outcome out = {0};
    struct event_ended_job job;
    struct err e;
    const struct job_ref ref = {id, NONE};
    double begin = now_s();
    if (store_ended_job(store, s, id, &arena, &job, &e) != 0) give_up("ended job", ERR_SENTENCE(&e));
    const struct event event = {.kind = EVENT_REQUEUE,
                                .actor = {.user = "root", .role = ROLE_ADMINISTRATOR},
                                .ended_jobs = &job,
                                .ended_job_count = 1,
                                .jobs = {.refs = &ref, .count = 1}};
    if (engine_apply(s, NOW_US, &event, &out, NULL, &e) != 0) give_up("requeue", ERR_SENTENCE(&e));
    if (store_commit(store, s, &out, NOW_US, &e) != 0) give_up("commit", ERR_SENTENCE(&e));
    double took = now_s() - begin;
    store_ended_job_release(&job);
    outcome_release(&out);
    arena_release(&arena);
    return took;
}

static void measure_ends(const char *directory, uint32_t tasks)
{
    enum { FIRST_ID = 9000000 };
    struct state s;
    for (uint32_t i = 0; i < 2; i++) fill_array(directory, FIRST_ID + i, i == 0 ? tasks / 10 : tasks);
    struct store *store = must_open(directory);
    must_load(store, &s);
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t count = i == 0 ? tasks / 10 : tasks;
        struct event_end end;
        struct err e;
        double begin = now_s();
        if (store_job_end(store, FIRST_ID + i, &end, &e) != 0) give_up("end", ERR_SENTENCE(&e));
        double took = now_s() - begin, requeue_s = requeue_turn_s(store, &s, FIRST_ID + i);
        printf("end        array of %u tasks: %.2f ms, %.0f ns per task; requeued in %.1f ms, %.0f ns per task\n",
               count, took * 1e3, took * 1e9 / count, requeue_s * 1e3, requeue_s * 1e9 / count);
        store_job_end_release(&end);
    }
    state_release(&s);
    store_close(store);
}

int main(int argc, char **argv)
{
    static const uint32_t sizes[] = {1, 10, 100, 1000};
    static const char *const files[] = {"fairlead.db", "fairlead.db-lock"};
    const char *below = getenv("TMPDIR");
    char directory[200], path[300];
    struct state s;
    if (argc == 2 && strcmp(argv[1], "--quick") == 0) scale = 10;
    snprintf(directory, sizeof directory, "%s/fairlead-bench-XXXXXX", below && below[0] ? below : "/var/tmp");
    if (mkdtemp(directory) == NULL) give_up(directory, "cannot be created");

    double fsync_s = measure_fsync(directory);
    printf("fsync      %8.2f ms: a write of 4 KB and fdatasync in %s\n", fsync_s * 1e3, directory);
    struct store *store = must_open(directory);
    must_load(store, &s);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) measure_turns(store, &s, sizes[i], fsync_s);
    fill_queue(store, &s, 100000 / scale);
    measure_min_priorities(store, &s, fsync_s);
    state_release(&s);
    store_close(store);
    measure_load(directory);
    fill_history(directory, 1000000 / scale);
    printf("with a history of %u tasks:\n", 1000000 / scale);
    measure_scan(directory);
    measure_load(directory);
    store = must_open(directory);
    measure_listings(store);
    store_close(store);
    measure_verify(directory);
    measure_ends(directory, 100000 / scale);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", directory, files[i]);
        unlink(path);
    }
    rmdir(directory);
    return 0;
}
