/* The reason Priority: a job that waits for anything but resources is before no other one. */
#include "policy_world.h"

#include "engine/priorities.h"
#include "engine/wait_leaders.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

static enum pending_reason reason_of(struct world *w, uint32_t job_id, bool updates)
{
    struct arena arena = {0};
    const double *factors = state_factors(&w->s, w->now_us, &arena);
    const struct job *j = &w->s.jobs.items[state_find_job(&w->s, job_id)];
    if (updates) wait_leaders_update(&w->s, w->now_us, factors);
    enum pending_reason reason = job_pending_reason(&w->s, job_id, factors[w->s.node_of.items[j->assoc]], w->now_us);
    arena_release(&arena);
    return reason;
}

static uint32_t submit(struct world *w, const char *user, const char *fields)
{
    struct event job = world_job(user);
    if (fields[0] != '\0') job.submit = job_with(job.submit, "%s", fields);
    return world_take(w, job);
}

/* A CPU is free, but not two. */
static void open_world(struct world *w, const char *settings)
{
    world_init(w, 3, 4096, 0);
    world_settings(w, "PriorityType=priority/multifactor PriorityWeightAge=0 AccountingStorageEnforce=limits");
    if (settings[0] != '\0') world_settings(w, settings);
    world_object(w, OBJECT_QOS, "one", "MaxJobsPU=1");
    (void)submit(w, "ann", "cpus=2|qos=one");
    assert_int_equal(world_pass(w), 1);
}

static void limit_slots_of_users(struct world *w)
{
    static struct event_pair rules = {"rules", "limit users {*} to slots=3"};
    const struct event event = {
        .kind = EVENT_OBJECT_ADD, .actor = world_operator, .object = {OBJECT_QUOTA, "users", &rules, 1}};
    assert_int_equal(world_apply(w, event, NULL), 0);
}

static const struct {
    const char *settings, *user, *fields;
    bool has_quota;
    enum pending_reason first, second; /* by policies, which do not know of holds and conditions; NONE: resources */
} rows[] = {
    {"", "ann", "cpus=2", false, PENDING_NONE, PENDING_PRIORITY},
    {"", "ann", "cpus=2|held=true", false, PENDING_PRIORITY, PENDING_NONE},
    {"", "ann", "cpus=2|dependency=afterok:1", false, PENDING_PRIORITY, PENDING_NONE},
    {"", "ann", "cpus=2|dependency=after:1+10", false, PENDING_PRIORITY, PENDING_NONE},
    {"", "ann", "cpus=2|qos=one", false, PENDING_QOS_MAX_JOBS, PENDING_NONE},
    {"", "bob", "cpus=2|qos=one", false, PENDING_NONE, PENDING_PRIORITY},
    {"maxujobs=1", "ann", "cpus=2", false, PENDING_USER_JOBS_LIMIT, PENDING_NONE},
    {"maxujobs=1", "bob", "cpus=2", false, PENDING_NONE, PENDING_PRIORITY},
    {"", "ann", "cpus=2", true, PENDING_QUOTA_LIMIT, PENDING_NONE},
    {"", "bob", "cpus=2", true, PENDING_NONE, PENDING_PRIORITY},
};

/* The first job, of each row, has the higher priority; the second one is eve's, of two CPUs as well. */
static void what_does_not_wait_for_resources_is_before_none(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct world w;
        char fields[TEXT_MAX];
        open_world(&w, rows[i].settings);
        if (rows[i].has_quota) limit_slots_of_users(&w);
        snprintf(fields, sizeof fields, "nice=-5|%s", rows[i].fields);
        uint32_t first = submit(&w, rows[i].user, fields), second = submit(&w, "eve", "cpus=2");
        assert_int_equal(world_pass(&w), 0);
        enum pending_reason reason = reason_of(&w, second, true);
        if (reason != rows[i].second) fail_msg("row %zu: %s", i, pending_reason_name(reason));
        reason = reason_of(&w, first, false);
        if (reason != rows[i].first) fail_msg("row %zu: %s", i, pending_reason_name(reason));
        world_release(&w);
    }
}

static void a_begin_in_the_future_is_before_none(void **unused)
{
    (void)unused;
    struct world w;
    open_world(&w, "");
    struct event job = world_job("ann");
    job.submit = job_with(job.submit, "cpus=2|nice=-5");
    struct job_values values = *job.submit;
    values.value[JOB_FIELD_BEGIN] = field_number(w.now_us + 60 * SECOND);
    values.is_given[JOB_FIELD_BEGIN] = true;
    job.submit = &values;
    (void)world_take(&w, job);
    uint32_t second = submit(&w, "eve", "cpus=2");
    assert_int_equal(reason_of(&w, second, true), PENDING_NONE);
    w.now_us += 60 * SECOND;
    assert_int_equal(reason_of(&w, second, true), PENDING_PRIORITY);
    world_release(&w);
}

/* Until the leaders are found again, one that has begun to wait for something else is before none. */
static void a_leader_that_waits_for_something_else_is_before_none(void **unused)
{
    (void)unused;
    for (int holds = 0; holds < 2; holds++) {
        struct world w;
        open_world(&w, "");
        uint32_t first = submit(&w, "ann", "cpus=2|nice=-5"), second = submit(&w, "eve", "cpus=2");
        assert_int_equal(reason_of(&w, second, true), PENDING_PRIORITY);
        const struct job_ref ref = {first, NONE};
        const struct event hold = {.kind = EVENT_HOLD, .actor = world_operator, .jobs = {&ref, 1, false}};
        const struct event update = world_update(first, job_text("dependency=afterok:1"));
        assert_int_equal(world_apply(&w, holds ? hold : update, NULL), 0);
        assert_int_equal(reason_of(&w, second, false), PENDING_NONE);
        world_release(&w);
    }
}

/* A job is behind another one if it is so in each partition that is open to it. */
static void a_closed_partition_does_not_count(void **unused)
{
    static const struct {
        const char *closed, *partitions;
        enum pending_reason reason;
    } cases[] = {
        {"", "other,main", PENDING_NONE},
        {"state=DOWN", "other,main", PENDING_PRIORITY},
        {"state=INACTIVE", "main,other", PENDING_PRIORITY},
        {"state=DRAIN", "main,other", PENDING_NONE}, /* what waits there starts */
        {"AllowQos=one", "main,other", PENDING_PRIORITY},
        {"AllowQos=one", "main", PENDING_PRIORITY},
    };
    (void)unused;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct world w;
        char fields[TEXT_MAX];
        open_world(&w, "EnforcePartLimits=ANY");
        world_object(&w, OBJECT_PARTITION, "other", "");
        world_object(&w, OBJECT_QOS, "one", "");
        (void)submit(&w, "ann", "cpus=2|nice=-5|partitions=main");
        snprintf(fields, sizeof fields, "cpus=2|partitions=%s", cases[i].partitions);
        uint32_t second = submit(&w, "eve", fields);
        if (cases[i].closed[0] != '\0') world_object(&w, OBJECT_PARTITION, "other", cases[i].closed);
        assert_int_equal(world_pass(&w), 0);
        enum pending_reason reason = reason_of(&w, second, true);
        if (reason != cases[i].reason) fail_msg("case %zu: %s", i, pending_reason_name(reason));
        world_release(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_does_not_wait_for_resources_is_before_none),
        cmocka_unit_test(a_begin_in_the_future_is_before_none),
        cmocka_unit_test(a_leader_that_waits_for_something_else_is_before_none),
        cmocka_unit_test(a_closed_partition_does_not_count),
    };
    return cmocka_run_group_tests_name("wait leaders", tests, NULL, NULL);
}
