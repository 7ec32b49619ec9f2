/* Updates of waiting jobs and limits: another account, QOS or partition, or what a user asks for more, is refused where
 * a limit would refuse the submission (recorded from Slurm 22.05.8, cases 71 and 72). */
#include "../limit_world.h"

#include "engine/priorities.h"

static const char *const job_fields_text =
    "name=job|directory=/home/x|command=true|cpus=2|mem_mib=500|time_limit_s=600|partitions=main|qos=normal";

static uint32_t submit(struct world *w, const char *user, const char *account, const char *more)
{
    const struct job_values *v = job_with(job_text("%s", job_fields_text), "account=%s|%s", account, more);
    return world_take(w, (struct event){.kind = EVENT_SUBMIT, .actor = {1000, 1000, user, ROLE_USER}, .submit = v});
}

/* By the job's user. */
static struct event update(uint32_t job_id, const char *fields)
{
    struct event event = world_update(job_id, job_text("%s", fields));
    event.actor = (struct actor){1000, 1000, "alice", ROLE_USER};
    return event;
}

static void accept(struct world *w, struct event event)
{
    if (world_apply(w, event, NULL) != 0) fail_msg("%s", ERR_SENTENCE(&w->e));
}

/* root > a > (a1: alice, a2: alice), root > b: bob. */
static void build(struct world *w)
{
    world_init(w, 4, 16000, 0);
    world_settings(w, "reservations=none AccountingStorageEnforce=associations,limits,qos,safe");
    world_object(w, OBJECT_QOS, "short", "");
    world_object(w, OBJECT_QOS, "pq", "");
    world_object(w, OBJECT_PARTITION, "withq", "QOS=pq");
    limit_world_account(w, "a", NULL);
    limit_world_account(w, "a1", "a");
    limit_world_account(w, "a2", "a");
    world_user(w, "a1", 1, "alice");
    world_user(w, "a2", 1, "alice");
    world_user(w, "b", 1, "bob");
}

static uint64_t submitted(struct world *w, const char *account, const char *user)
{
    const struct limit_counts *counts = limit_counts_update(&w->s, w->now_us);
    const struct limit_counter *k = limit_counts_of_assoc(counts, state_find_assoc(&w->s, account, user));
    return k != NULL ? k->submitted : 0;
}

static void set_account(struct world *w, const char *account, enum ref_kind kind, const char *value)
{
    limit_world_set_assoc(w, state_find_assoc(&w->s, account, NULL), kind, value);
}

static const char *reason_of(struct world *w, uint32_t id)
{
    return pending_reason_name(job_pending_reason(&w->s, id, 1.0, w->now_us));
}

/* --- accounts ----------------------------------------------------------------------------------------------------- */

static void counters_follow_the_account(void **unused)
{
    (void)unused;
    struct world w;
    build(&w);
    uint32_t id = submit(&w, "alice", "a1", "array=0-2");
    assert_int_equal(submitted(&w, "a1", "alice"), 3);
    accept(&w, update(id, "account=a2"));
    assert_int_equal(submitted(&w, "a1", "alice"), 0);
    assert_int_equal(submitted(&w, "a1", NULL), 0);
    assert_int_equal(submitted(&w, "a2", "alice"), 3);
    assert_int_equal(submitted(&w, "a", NULL), 3);
    assert_int_equal(world_pass(&w), 2);
    assert_int_equal(world_task(&w, id, 0)->assoc, state_find_assoc(&w.s, "a2", "alice"));
    assert_int_equal(w.s.assocs.items[state_find_assoc(&w.s, "a1", "alice")].live_jobs, 0);
    assert_int_equal(w.s.assocs.items[state_find_assoc(&w.s, "a2", "alice")].live_jobs, 1);
    world_release(&w);
}

static void accounts_that_a_job_cannot_have(void **unused)
{
    (void)unused;
    struct world w;
    build(&w);
    uint32_t id = submit(&w, "alice", "a1", "cpus=4"), waiting = submit(&w, "alice", "a1", "cpus=4|qos=short");
    assert_int_equal(world_pass(&w), 1);
    world_refuses(&w, update(id, "account=a2"), ERR_CONFLICT,
                  "job 1: account: it cannot change after the job has started");
    accept(&w, update(id, "account=a1"));
    world_refuses(&w, update(waiting, "account=b"), ERR_NOT_FOUND, "user 'alice' is not in account 'b'");
    world_refuses(&w, update(waiting, "account=nix"), ERR_NOT_FOUND, "no account 'nix'");
    set_account(&w, "a2", REF_GRP_SUBMIT, "0");
    world_refuses(&w, update(waiting, "account=a2"), ERR_TOO_LARGE,
                  "account 'a2' has GrpSubmitJobs=0; 0 submitted, 1 requested (AssocGrpSubmitJobsLimit)");
    set_account(&w, "a2", REF_GRP_SUBMIT, "1");
    const struct event_pair list = {"QosLevel", "normal"};
    accept(&w, (struct event){.kind = EVENT_ACCOUNT_MODIFY,
                              .account = {"a2", NULL, SHARES_UNSET, PRIORITY_UNSET, false, &list, 1}});
    world_refuses(&w, update(waiting, "account=a2"), ERR_INPUT, "'short' is not allowed to user 'alice'");
    accept(&w, update(waiting, "account=a2|qos=normal"));
    world_release(&w);
}

/* What counts the job already is not asked again: a limit that was lowered, or one that other jobs fill. */
static void counters_that_have_the_job(void **unused)
{
    (void)unused;
    struct world w;
    build(&w);
    uint32_t id = submit(&w, "alice", "a1", "array=0-2");
    set_account(&w, "a", REF_GRP_SUBMIT, "2");
    limit_world_set_qos(&w, state_find_object(&w.s, OBJECT_QOS, "normal"), REF_SUBMIT, "1");
    accept(&w, update(id, "account=a2"));
    limit_world_set_qos(&w, state_find_object(&w.s, OBJECT_QOS, "normal"), REF_SUBMIT_PER_ACCOUNT, "2");
    world_refuses(&w, update(id, "account=a1"), ERR_TOO_LARGE, "(MaxSubmitJobsPerAccount)");
    world_release(&w);
}

/* New wishes that leave the partitions in their order move no job: a limit that was lowered since is not asked. */
static void wishes_that_move_nothing(void **unused)
{
    (void)unused;
    struct world w;
    build(&w);
    uint32_t id = submit(&w, "alice", "a1", "cpus=2|qos=short|partitions=main,withq");
    world_object(&w, OBJECT_QOS, "short", "MaxTRES=cpu=1|flags=DenyOnLimit");
    accept(&w, update(id, "soft_queues=main"));
    world_refuses(&w, update(id, "soft_queues=withq"), ERR_TOO_LARGE, "MaxTRES");
    world_release(&w);
}

/* --- QOS and partitions ------------------------------------------------------------------------------------------- */

static void submit_limits_of_a_new_qos(void **unused)
{
    static const struct {
        enum ref_kind kind;
        const char *reason;
    } rows[] = {{REF_GRP_SUBMIT, "(QOSGrpSubmitJobsLimit)"},
                {REF_SUBMIT, "(QOSMaxSubmitJobPerUserLimit)"},
                {REF_SUBMIT_PER_ACCOUNT, "(MaxSubmitJobsPerAccount)"}};
    (void)unused;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (int is_partition = 0; is_partition < 2; is_partition++) {
            struct world w;
            build(&w);
            uint32_t qos = state_find_object(&w.s, OBJECT_QOS, is_partition ? "pq" : "short");
            uint32_t id = submit(&w, "alice", "a1", "array=0-2");
            const struct event change = update(id, is_partition ? "partitions=withq" : "qos=short");
            limit_world_set_qos(&w, qos, rows[i].kind, "2");
            world_refuses(&w, change, ERR_TOO_LARGE, rows[i].reason);
            limit_world_set_qos(&w, qos, rows[i].kind, "3");
            accept(&w, change);
            world_release(&w);
        }
    }
}

/* With DenyOnLimit what a user asks for more is refused, also together with the QOS (case 71); a QOS alone is not, nor
 * is less, and what another operator changes waits. */
static void requests_beyond_a_limit(void **unused)
{
    static const struct {
        const char *limit, *change, *reason;
    } rows[] = {
        {"MaxWall=15", "time_limit_s=960", "QOSMaxWallDurationPerJobLimit"},
        {"MaxTRESPerJob=cpu=2", "cpus=3", "QOSMaxCpuPerJobLimit"},
        {"MaxTRESPerJob=mem=500", "mem_mib=501", "QOSMaxMemoryPerJob"},
    };
    (void)unused;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct world w;
        char fields[100];
        build(&w);
        snprintf(fields, sizeof fields, "flags=DenyOnLimit|%s", rows[i].limit);
        world_object(&w, OBJECT_QOS, "short", fields);
        uint32_t id = submit(&w, "alice", "a1", "");
        snprintf(fields, sizeof fields, "qos=short|%s", rows[i].change);
        world_refuses(&w, update(id, fields), ERR_TOO_LARGE, rows[i].reason);
        accept(&w, update(id, "qos=short"));
        world_refuses(&w, update(id, rows[i].change), ERR_TOO_LARGE, rows[i].reason);
        bool is_time = strncmp(rows[i].change, "time", 4) == 0; /* which is exempt then */
        struct event change = world_update(id, job_text("%s", rows[i].change));
        if (!is_time) world_refuses(&w, change, ERR_TOO_LARGE, rows[i].reason); /* by the user, as an operator */
        change.actor = (struct actor){0, 0, "root", ROLE_ADMINISTRATOR};
        accept(&w, change);
        assert_int_equal(world_pass(&w), is_time);
        if (!is_time) assert_string_equal(reason_of(&w, id), rows[i].reason);
        world_release(&w);
    }
}

/* Case 71: 30 minutes with a QOS that lets 15; then 16, which is less. */
static void less_beyond_a_limit(void **unused)
{
    (void)unused;
    struct world w;
    build(&w);
    world_object(&w, OBJECT_QOS, "short", "flags=DenyOnLimit|MaxWall=15");
    uint32_t id = submit(&w, "alice", "a1", "time_limit_s=1800");
    world_refuses(&w, update(id, "qos=short|time_limit_s=960"), ERR_TOO_LARGE, "QOSMaxWallDurationPerJobLimit");
    accept(&w, update(id, "qos=short"));
    accept(&w, update(id, "time_limit_s=960"));
    assert_int_equal(world_pass(&w), 0);
    assert_string_equal(reason_of(&w, id), "QOSMaxWallDurationPerJobLimit");
    world_release(&w);
}

/* Case 72: a time limit that an operator sets is exempt from MaxWall; a request is not exempt from MaxTRES. */
static void what_an_operator_sets(void **unused)
{
    (void)unused;
    struct world w;
    build(&w);
    set_account(&w, "a1", REF_WALL, "5");
    set_account(&w, "a1", REF_TRES, "cpu=2");
    uint32_t id = submit(&w, "alice", "a1", "");
    assert_int_equal(world_pass(&w), 0);
    assert_string_equal(reason_of(&w, id), "AssocMaxWallDurationPerJobLimit");
    accept(&w, world_update(id, job_text("time_limit_s=300")));
    assert_false(w.result.is_time_exempt);
    accept(&w, world_update(id, job_text("time_limit_s=660|cpus=3")));
    assert_true(w.result.is_time_exempt);
    assert_int_equal(world_pass(&w), 0);
    assert_string_equal(reason_of(&w, id), "AssocMaxCpuPerJobLimit");
    accept(&w, update(id, "cpus=2"));
    assert_int_equal(world_pass(&w), 1);
    world_release(&w);
}

/* A job without a time limit has the default one, which the limit's text says. */
static void the_default_time_limit(void **unused)
{
    (void)unused;
    struct world w;
    build(&w);
    world_set(&w, "default_time_s", "600");
    world_object(&w, OBJECT_QOS, "short", "MaxWall=5");
    struct job_values v = *job_with(job_text("%s", job_fields_text), "account=a1|qos=short");
    v.is_given[JOB_FIELD_TIME_LIMIT] = false;
    const struct event event = {.kind = EVENT_SUBMIT, .actor = {1000, 1000, "alice", ROLE_USER}, .submit = &v};
    uint32_t id = world_take(&w, event);
    assert_int_equal(world_pass(&w), 0);
    assert_string_equal(reason_of(&w, id), "QOSMaxWallDurationPerJobLimit");
    world_object(&w, OBJECT_QOS, "short", "flags=DenyOnLimit");
    world_refuses(&w, event, ERR_TOO_LARGE,
                  "QOS 'short' has MaxWall=00:05:00; 00:10:00 requested, the default (default_time_s); give the job a "
                  "time limit of at most 00:05:00 (QOSMaxWallDurationPerJobLimit)");
    accept(&w, update(id, "time_limit_s=300"));
    assert_int_equal(world_pass(&w), 1);
    world_release(&w);
}

/* What a refusal says of a time limit: where a default comes from, and nothing of one that was given, though it equals
 * the setting. Of an array it is the shortest one of its partitions. */
static void what_is_the_default(void **unused)
{
    static const struct {
        const char *given, *partition, *text;
    } rows[] = {
        {"time_limit_s=600", "", "00:10:00 requested (QOS"},
        {"time_limit_s=490", "", "00:08:10 requested (QOS"}, /* 490 / 60 x 60 is below 490 */
        {NULL, "", "00:10:00 requested, the default (default_time_s); give"},
        {NULL, "DefaultTime=20", "00:20:00 requested, the default (DefaultTime of partition 'main'); give"},
        {"time_limit_s=1200", "DefaultTime=20", "00:20:00 requested (QOS"},
        {NULL, "MaxTime=7", "00:07:00 requested, the default (MaxTime of partition 'main'); give"},
        {NULL, "DefaultTime=20|MaxTime=8", "00:08:00 requested, the default (MaxTime of partition 'main'); give"},
        {"array=1-2", "DefaultTime=20", "00:20:00 requested, the default (DefaultTime of partition 'main'); give"},
    };
    (void)unused;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct world w;
        build(&w);
        world_set(&w, "default_time_s", "600");
        world_object(&w, OBJECT_QOS, "short", "MaxWall=5|flags=DenyOnLimit");
        if (rows[i].partition[0] != '\0') world_object(&w, OBJECT_PARTITION, "main", rows[i].partition);
        struct job_values v = *job_with(job_text("%s", job_fields_text), "account=a1|qos=short");
        v.is_given[JOB_FIELD_TIME_LIMIT] = false;
        const struct job_values *given = rows[i].given != NULL ? job_with(&v, "%s", rows[i].given) : &v;
        const struct event event = {.kind = EVENT_SUBMIT, .actor = {1000, 1000, "alice", ROLE_USER}, .submit = given};
        world_refuses(&w, event, ERR_TOO_LARGE, rows[i].text);
        world_release(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counters_follow_the_account), cmocka_unit_test(accounts_that_a_job_cannot_have),
        cmocka_unit_test(counters_that_have_the_job),  cmocka_unit_test(submit_limits_of_a_new_qos),
        cmocka_unit_test(requests_beyond_a_limit),     cmocka_unit_test(less_beyond_a_limit),
        cmocka_unit_test(wishes_that_move_nothing),    cmocka_unit_test(what_an_operator_sets),
        cmocka_unit_test(the_default_time_limit),      cmocka_unit_test(what_is_the_default),
    };
    return cmocka_run_group_tests_name("limit updates", tests, NULL, NULL);
}
