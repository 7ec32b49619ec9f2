/* Limits of partitions, each one below, at and above its edge; EnforcePartLimits; states; jobs in several partitions;
 * what a change of a partition does to jobs that wait. Reasons are those recorded from Slurm 22.05.8 (cases 18, 27 and
 * 99), or of its manual. */
#include "policy_world.h"

#include "engine/limits.h"
#include "engine/partition_limits.h"
#include "engine/priorities.h"
#include "engine/schedule.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

/* Four hosts of 8 CPUs and 8000 MiB; accounts a (ann) and b (bob); QOS normal, long, exempt; partitions main, vip. */
static void make_world(struct world *w, const char *enforced)
{
    static const char *const hosts[] = {"n2", "n3", "n4"};
    world_init(w, 8, 8000, 0);
    for (size_t i = 0; i < COUNT(hosts); i++) {
        world_object(w, OBJECT_HOST, hosts[i], "");
        const struct event host = {.kind = EVENT_HOST, .host = {{8, 0, 8000}, hosts[i]}};
        assert_int_equal(world_apply(w, host, NULL), 0);
    }
    world_user(w, "a", 1, "ann");
    world_user(w, "b", 1, "bob");
    world_user(w, "aa", 1, "zoe");
    world_object(w, OBJECT_QOS, "long", "");
    world_object(w, OBJECT_QOS, "exempt", "flags=PartitionMaxNodes,PartitionMinNodes,PartitionTimeLimit");
    world_object(w, OBJECT_PARTITION, "vip", "");
    world_set(w, "AccountingStorageEnforce", "associations,limits");
    world_set(w, "EnforcePartLimits", enforced);
}

static struct event job_of(const char *user, const char *fields)
{
    const struct job_values *v = job_text("name=job|directory=/|command=true|mem_mib=100|time_limit_s=600");
    return (struct event){
        .kind = EVENT_SUBMIT, .actor = {1000, 1000, user, ROLE_USER}, .submit = job_with(v, "%s", fields)};
}

static const struct job *job_at(const struct world *w, uint32_t id)
{
    return &w->s.jobs.items[state_find_job(&w->s, id)];
}

static const char *reason_of(struct world *w, uint32_t id)
{
    return pending_reason_name(job_pending_reason(&w->s, id, 1.0, w->now_us));
}

/* --- edges -------------------------------------------------------------------------------------------------------- */

/* A job in vip, with the limit: it starts, or is refused by ANY and waits by NO. */
struct edge_row {
    const char *limit, *user, *job;
    const char *reason;  /* NULL: it starts */
    const char *refusal; /* part of the text */
    enum err_code code;
};

static const struct edge_row edges[] = {
    {"MaxNodes=3", "ann", "cpus=2|nodes=2", NULL, NULL, ERR_NONE},
    {"MaxNodes=2", "ann", "cpus=2|nodes=2", NULL, NULL, ERR_NONE},
    {"MaxNodes=1", "ann", "cpus=2|nodes=2", "PartitionNodeLimit", "its 2 nodes exceed MaxNodes of partition 'vip', 1",
     ERR_TOO_LARGE},
    {"MaxNodes=1", "ann", "cpus=2", NULL, NULL, ERR_NONE},
    {"MaxNodes=0", "ann", "cpus=2", "PartitionNodeLimit", "its 1 node exceeds MaxNodes of partition 'vip', 0",
     ERR_TOO_LARGE},
    {"MaxNodes=1", "ann", "cpus=2|nodes=2|qos=exempt", NULL, NULL, ERR_NONE},
    {"MinNodes=1", "ann", "cpus=2|nodes=2", NULL, NULL, ERR_NONE},
    {"MinNodes=2", "ann", "cpus=2|nodes=2", NULL, NULL, ERR_NONE},
    {"MinNodes=3", "ann", "cpus=2|nodes=2", "PartitionNodeLimit",
     "its 2 nodes are below MinNodes of partition 'vip', 3", ERR_TOO_LARGE},
    {"MinNodes=2", "ann", "cpus=2", "PartitionNodeLimit", "its 1 node is below MinNodes of partition 'vip', 2",
     ERR_TOO_LARGE},
    {"MinNodes=3", "ann", "cpus=2|nodes=2|qos=exempt", NULL, NULL, ERR_NONE},
    {"MaxTime=11", "ann", "cpus=1", NULL, NULL, ERR_NONE},
    {"MaxTime=10", "ann", "cpus=1", NULL, NULL, ERR_NONE},
    {"MaxTime=9", "ann", "cpus=1", "PartitionTimeLimit", "'00:10:00' exceeds MaxTime of partition 'vip': 00:09:00",
     ERR_TOO_LARGE},
    {"MaxTime=9", "ann", "cpus=1|qos=exempt", NULL, NULL, ERR_NONE},
    {"MaxMemPerNode=101", "ann", "cpus=1", NULL, NULL, ERR_NONE},
    {"MaxMemPerNode=100", "ann", "cpus=1", NULL, NULL, ERR_NONE},
    {"MaxMemPerNode=99", "ann", "cpus=1", "MaxMemPerLimit", "100M, exceeds MaxMemPerNode of partition 'vip', 99M",
     ERR_TOO_LARGE},
    {"AllowAccounts=a", "ann", "cpus=1", NULL, NULL, ERR_NONE},
    {"AllowAccounts=b,a", "ann", "cpus=1", NULL, NULL, ERR_NONE},
    {"AllowAccounts=b,aa", "ann", "cpus=1", "AccountNotAllowed",
     "partition 'vip' does not accept account 'a' (AllowAccounts b,aa)", ERR_INPUT},
    {"AllowAccounts=all|DenyAccounts=a", "ann", "cpus=1", "AccountNotAllowed",
     "partition 'vip' refuses account 'a' (DenyAccounts a)", ERR_INPUT},
    {"AllowAccounts=a|DenyAccounts=a", "ann", "cpus=1", NULL, NULL, ERR_NONE},
    {"DenyAccounts=b", "ann", "cpus=1", NULL, NULL, ERR_NONE},
    {"AllowQos=normal,long", "ann", "cpus=1", NULL, NULL, ERR_NONE},
    {"AllowQos=long", "ann", "cpus=1", "QOSNotAllowed", "partition 'vip' does not accept QOS 'normal' (AllowQos long)",
     ERR_INPUT},
    {"DenyQos=long", "ann", "cpus=1", NULL, NULL, ERR_NONE},
    {"DenyQos=long", "ann", "cpus=1|qos=long", "QOSNotAllowed", "partition 'vip' refuses QOS 'long' (DenyQos long)",
     ERR_INPUT},
    {"MaxCPUsPerNode=2", "ann", "cpus=2", NULL, NULL, ERR_NONE},
};

/* With ANY a job that exceeds a limit is refused; with NO it waits, and starts when the limit is gone. */
static void each_limit_counts_from_its_edge_on(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < COUNT(edges); i++) {
        const struct edge_row *row = &edges[i];
        struct world w;
        make_world(&w, "ANY");
        world_object(&w, OBJECT_PARTITION, "vip", row->limit);
        struct event job = job_of(row->user, row->job);
        job.submit = job_with(job.submit, "partitions=vip");
        if (row->reason == NULL) {
            uint32_t id = world_take(&w, job);
            if (world_pass(&w) != 1) fail_msg("%s %s: waits: %s", row->limit, row->job, reason_of(&w, id));
            world_release(&w);
            continue;
        }
        char reason[TEXT_MAX];
        snprintf(reason, sizeof reason, "(%s)", row->reason);
        world_refuses(&w, job, row->code, row->refusal);
        world_refuses(&w, job, row->code, reason);
        world_set(&w, "EnforcePartLimits", "NO");
        uint32_t id = world_take(&w, job);
        assert_int_equal(world_pass(&w), 0);
        assert_string_equal(reason_of(&w, id), row->reason);
        world_object(&w, OBJECT_PARTITION, "vip",
                     "MaxNodes=UNLIMITED|MinNodes=0|MaxTime=UNLIMITED|MaxMemPerNode=UNLIMITED|AllowAccounts=ALL|"
                     "DenyAccounts=NONE|AllowQos=ALL|DenyQos=NONE");
        assert_string_equal(reason_of(&w, id), "None");
        assert_int_equal(world_pass(&w), 1);
        world_release(&w);
    }
}

/* Memory for each CPU counts as that of the CPUs on a node. */
static void memory_is_that_of_a_node(void **unused)
{
    (void)unused;
    struct world w;
    make_world(&w, "ANY");
    world_object(&w, OBJECT_PARTITION, "main", "MaxMemPerNode=400");
    const struct job_values *v =
        job_text("name=job|directory=/|command=true|time_limit_s=60|cpus=4|mem_per_cpu_mib=101");
    struct event job = {.kind = EVENT_SUBMIT, .actor = {1000, 1000, "ann", ROLE_USER}, .submit = v};
    world_refuses(&w, job, ERR_TOO_LARGE, "404M, exceeds MaxMemPerNode of partition 'main', 400M (MaxMemPerLimit)");
    job.submit = job_with(v, "nodes=2");
    (void)world_take(&w, job);
    job.submit = job_with(v, "mem_per_cpu_mib=100");
    (void)world_take(&w, job);
    assert_int_equal(world_pass(&w), 2);
    world_release(&w);
}

/* All jobs of the partition together have so many CPUs of a host; those of another one have the rest. */
static void cpus_of_a_node_are_shared_by_the_jobs_of_a_partition(void **unused)
{
    (void)unused;
    struct world w;
    make_world(&w, "ANY");
    world_object(&w, OBJECT_PARTITION, "vip", "hosts=n2|MaxCPUsPerNode=3");
    world_object(&w, OBJECT_PARTITION, "main", "hosts=n2");
    uint32_t first = world_take(&w, job_of("ann", "cpus=2|partitions=vip"));
    (void)world_take(&w, job_of("ann", "cpus=2|partitions=vip"));
    uint32_t one = world_take(&w, job_of("ann", "cpus=1|partitions=vip")),
             rest = world_take(&w, job_of("ann", "cpus=5"));
    char expected[TEXT_MAX];
    snprintf(expected, sizeof expected, "%u %u %u", first, one, rest);
    assert_string_equal(world_starts(&w), expected);
    world_refuses(&w, job_of("ann", "cpus=4|partitions=vip"), ERR_INPUT, "can never run");
    world_release(&w);
}

/* A range of nodes is cut to those that the partition lets a job have. */
static void a_range_of_nodes_is_cut(void **unused)
{
    (void)unused;
    static const struct {
        const char *limit;
        uint32_t nodes;
    } rows[] = {{"", 4}, {"MaxNodes=3", 3}, {"MaxNodes=2", 2}, {"MinNodes=2|MaxNodes=2", 2}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct world w;
        make_world(&w, "ANY");
        world_object(&w, OBJECT_PARTITION, "main", rows[i].limit);
        uint32_t id = world_take(&w, job_of("ann", "cpus=2|slots_max=4|nodes=2-4|slots_per_node=1"));
        (void)world_pass(&w);
        const struct task *k = world_task(&w, id, 0);
        assert_non_null(k);
        assert_int_equal(k->placement_count, rows[i].nodes);
        world_release(&w);
    }
}

/* --- several partitions ------------------------------------------------------------------------------------------- */

static void a_job_starts_in_the_partitions_that_admit_it(void **unused)
{
    (void)unused;
    struct world w;
    make_world(&w, "ANY");
    world_object(&w, OBJECT_PARTITION, "vip", "AllowAccounts=b|PriorityTier=5");
    uint32_t of_ann = world_take(&w, job_of("ann", "cpus=1|partitions=vip,main"));
    uint32_t of_bob = world_take(&w, job_of("bob", "cpus=1|partitions=vip,main"));
    assert_int_equal(world_pass(&w), 2);
    assert_int_equal(world_task(&w, of_ann, 0)->partition, state_find_object(&w.s, OBJECT_PARTITION, "main"));
    assert_int_equal(world_task(&w, of_bob, 0)->partition, state_find_object(&w.s, OBJECT_PARTITION, "vip"));
    world_set(&w, "EnforcePartLimits", "ALL");
    world_refuses(&w, job_of("ann", "cpus=1|partitions=main,vip"), ERR_INPUT, "(AccountNotAllowed)");
    (void)world_take(&w, job_of("bob", "cpus=1|partitions=main,vip"));
    world_set(&w, "EnforcePartLimits", "ANY");
    world_object(&w, OBJECT_PARTITION, "main", "MaxTime=5");
    world_refuses(&w, job_of("ann", "cpus=1|partitions=main,vip"), ERR_INPUT, "(AccountNotAllowed)");
    world_release(&w);
}

/* Each partition has its own time limit for a job that gives none; the job has that of the one where it starts. */
static void each_partition_has_its_default_time(void **unused)
{
    (void)unused;
    static const struct {
        const char *main, *vip, *closed;
        int64_t shown_s, started_s;
    } rows[] = {
        {"DefaultTime=5", "DefaultTime=30", "vip", 300, 300},
        {"DefaultTime=5", "DefaultTime=30", "main", 300, 1800},
        {"MaxTime=5", "MaxTime=30", "vip", 300, 300},
        {"MaxTime=5", "MaxTime=30", "main", 300, 1800},
        {"DefaultTime=NONE", "DefaultTime=40|MaxTime=20", "main", 7200, 1200},
        {"DefaultTime=NONE", "DefaultTime=40|MaxTime=20", "vip", 7200, 7200},
    };
    static const char *const rules[] = {"ANY", "ALL", "NO"};
    for (size_t i = 0; i < COUNT(rows) * COUNT(rules); i++) {
        const size_t at = i / COUNT(rules);
        struct world w;
        make_world(&w, rules[i % COUNT(rules)]);
        world_set(&w, "default_time_s", "7200");
        world_object(&w, OBJECT_PARTITION, "main", rows[at].main);
        world_object(&w, OBJECT_PARTITION, "vip", rows[at].vip);
        world_object(&w, OBJECT_PARTITION, rows[at].closed, "state=DOWN");
        struct event job = job_of("ann", "cpus=1|partitions=main,vip");
        struct job_values values = *job.submit;
        values.is_given[JOB_FIELD_TIME_LIMIT] = false;
        job.submit = &values;
        uint32_t id = world_take(&w, job);
        assert_int_equal(job_at(&w, id)->time_limit_s, rows[at].shown_s);
        assert_int_equal(world_pass(&w), 1);
        assert_int_equal(job_at(&w, id)->time_limit_s, rows[at].started_s);
        world_release(&w);
    }
}

/* A job that waits again, because it was requeued or the machine could not start it, has a default in each of its
 * partitions as before. */
static void a_default_time_is_there_again_after_a_start(void **unused)
{
    (void)unused;
    static const enum job_state ends[] = {JOB_PENDING, JOB_CANCELLED}; /* not started; ended by a requeue */
    for (size_t i = 0; i < COUNT(ends); i++) {
        struct world w;
        make_world(&w, "ANY");
        world_set(&w, "requeue_delay_s", "0");
        world_object(&w, OBJECT_PARTITION, "main", "DefaultTime=5|MaxTime=5");
        world_object(&w, OBJECT_PARTITION, "vip", "DefaultTime=30|MaxTime=30");
        world_object(&w, OBJECT_PARTITION, "main", "state=DOWN");
        struct event job = job_of("ann", "cpus=1|partitions=main,vip");
        struct job_values values = *job.submit;
        values.is_given[JOB_FIELD_TIME_LIMIT] = false;
        job.submit = &values;
        uint32_t id = world_take(&w, job);
        assert_int_equal(world_pass(&w), 1);
        assert_int_equal(job_at(&w, id)->time_limit_s, 1800);
        world_object(&w, OBJECT_PARTITION, "vip", "DefaultTime=20"); /* not for what has started */
        assert_int_equal(partition_limits_time_s(&w.s, job_at(&w, id), 1), 1800);
        const struct job_ref ref = {id, NONE};
        const struct event requeue = {
            .kind = EVENT_REQUEUE, .actor = world_operator, .jobs = {.refs = &ref, .count = 1}};
        if (ends[i] == JOB_CANCELLED) assert_int_equal(world_apply(&w, requeue, NULL), 0);
        const struct event end = {
            .kind = EVENT_ENDED,
            .record = {.launch_id = w.s.tasks.items[0].launch_id, .at_us = w.now_us, .end = ends[i]}};
        assert_int_equal(world_apply(&w, end, NULL), 0);
        assert_int_equal(job_at(&w, id)->time_limit_s, 300);
        world_object(&w, OBJECT_PARTITION, "main", "state=UP");
        world_object(&w, OBJECT_PARTITION, "vip", "state=DOWN");
        w.now_us += 2 * SECOND;
        assert_int_equal(world_pass(&w), 1);
        assert_int_equal(job_at(&w, id)->time_limit_s, 300);
        world_release(&w);
    }
}

/* The expected end is that of the partition in which the job is expected to start. */
static void an_expected_end_has_the_default_of_its_partition(void **unused)
{
    (void)unused;
    for (int i = 0; i < 2; i++) {
        struct world w;
        struct schedule p;
        make_world(&w, "ANY");
        world_set(&w, "reservations", "none");
        world_object(&w, OBJECT_PARTITION, "main", i == 0 ? "DefaultTime=5|PriorityTier=3" : "DefaultTime=5");
        world_object(&w, OBJECT_PARTITION, "vip", i == 0 ? "DefaultTime=50" : "DefaultTime=50|PriorityTier=3");
        (void)world_take(&w, job_of("ann", "cpus=8|partitions=main|array=1-4"));
        assert_int_equal(world_pass(&w), 4);
        struct event job = job_of("ann", "cpus=8|partitions=main,vip");
        struct job_values values = *job.submit;
        values.is_given[JOB_FIELD_TIME_LIMIT] = false;
        job.submit = &values;
        uint32_t job_index = state_find_job(&w.s, world_take(&w, job));
        assert_int_equal(schedule_make(&w.s, w.now_us, SCHEDULE_WITH_ESTIMATES, &p, NULL), 0);
        const struct schedule_row *row = &p.rows.items[p.rows.count - 1];
        assert_true(row->job == job_index && row->state == SCHEDULE_WAITING && row->start_us > 0);
        assert_int_equal((row->end_us - row->start_us) / SECOND, i == 0 ? 300 : 3000);
        schedule_release(&p);
        world_release(&w);
    }
}

/* A time limit that is given later replaces the defaults. The tasks of an array share the shortest one. */
static void a_default_time_is_replaced(void **unused)
{
    (void)unused;
    struct world w;
    make_world(&w, "ANY");
    world_object(&w, OBJECT_PARTITION, "main", "DefaultTime=50");
    world_object(&w, OBJECT_PARTITION, "vip", "DefaultTime=5");
    struct event job = job_of("ann", "cpus=8|partitions=main,vip");
    struct job_values values = *job.submit;
    values.is_given[JOB_FIELD_TIME_LIMIT] = false;
    job.submit = &values;
    uint32_t id = world_take(&w, job);
    assert_true(job_at(&w, id)->has_default_time);
    assert_int_equal(world_apply(&w, world_update(id, job_text("time_limit_s=3000")), NULL), 0);
    assert_false(job_at(&w, id)->has_default_time);
    job.submit = job_with(&values, "array=1-2");
    uint32_t array = world_take(&w, job);
    assert_int_equal(job_at(&w, array)->time_limit_s, 300);
    assert_false(job_at(&w, array)->has_default_time);
    world_release(&w);
}

/* An update of the partitions changes the first one, whose default a waiting job shows. No time limit was given, so
 * MaxWall counts whoever asks. */
static void a_default_time_follows_the_first_partition(void **unused)
{
    (void)unused;
    struct world w;
    make_world(&w, "ANY");
    world_object(&w, OBJECT_PARTITION, "main", "DefaultTime=50");
    world_object(&w, OBJECT_PARTITION, "vip", "DefaultTime=5");
    struct event job = job_of("ann", "cpus=1|partitions=main,vip");
    struct job_values values = *job.submit;
    values.is_given[JOB_FIELD_TIME_LIMIT] = false;
    job.submit = &values;
    uint32_t id = world_take(&w, job);
    struct event update = world_update(id, job_text("partitions=vip,main"));
    update.actor = world_operator;
    assert_int_equal(world_apply(&w, update, NULL), 0);
    assert_int_equal(job_at(&w, id)->time_limit_s, 300);
    assert_true(job_at(&w, id)->has_default_time);
    assert_false(job_at(&w, id)->is_time_exempt);
    world_object(&w, OBJECT_PARTITION, "vip", "DefaultTime=7");
    assert_int_equal(world_apply(&w, world_update(id, job_text("comment=same partitions")), NULL), 0);
    assert_int_equal(job_at(&w, id)->time_limit_s, 300);
    world_release(&w);
}

/* Other partitions give other defaults, to a job in one partition and to an array; but a time limit that was given
 * stays. */
static void other_partitions_give_other_defaults(void **unused)
{
    static const struct {
        const char *job, *partitions;
        bool is_given;
        int64_t time_s, later_s; /* in vip alone */
    } rows[] = {
        {"cpus=1|partitions=main", "vip", false, 3000, 300},
        {"cpus=1|partitions=main", "vip", true, 3000, 3000},
        {"cpus=1|partitions=vip", "vip,main", false, 300, 300},
        {"cpus=8|partitions=main|array=1-5", "vip", false, 3000, 300},
        {"cpus=8|partitions=main|array=1-5", "main,vip", false, 3000, 300},
        {"cpus=8|partitions=main|array=1-5", "main,vip", true, 3000, 3000},
    };
    (void)unused;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct world w;
        make_world(&w, "ANY");
        world_object(&w, OBJECT_PARTITION, "main", "DefaultTime=50");
        world_object(&w, OBJECT_PARTITION, "vip", "DefaultTime=5");
        struct event job = job_of("ann", rows[i].job);
        struct job_values values = *job.submit;
        values.is_given[JOB_FIELD_TIME_LIMIT] = rows[i].is_given;
        values.value[JOB_FIELD_TIME_LIMIT].number = 3000;
        job.submit = &values;
        uint32_t id = world_take(&w, job);
        assert_int_equal(job_at(&w, id)->time_limit_s, rows[i].time_s);
        assert_int_equal(world_apply(&w, world_update(id, job_text("partitions=%s", rows[i].partitions)), NULL), 0);
        assert_int_equal(job_at(&w, id)->time_limit_s, rows[i].later_s);
        assert_int_equal(job_at(&w, id)->has_default_time, i == 2);
        world_release(&w);
    }
}

/* DenyOnLimit of the partition's QOS compares the default time of that partition. */
static void limits_compare_the_default_time_of_the_partition(void **unused)
{
    (void)unused;
    struct world w;
    make_world(&w, "ANY");
    world_object(&w, OBJECT_QOS, "pq", "MaxWall=10|flags=DenyOnLimit");
    world_object(&w, OBJECT_PARTITION, "vip", "QOS=pq|DefaultTime=10");
    world_object(&w, OBJECT_PARTITION, "main", "DefaultTime=60");
    struct event job = job_of("ann", "cpus=1|partitions=main,vip");
    struct job_values values = *job.submit;
    values.is_given[JOB_FIELD_TIME_LIMIT] = false;
    job.submit = &values;
    (void)world_take(&w, job);
    world_object(&w, OBJECT_PARTITION, "vip", "DefaultTime=11");
    world_refuses(&w, job, ERR_TOO_LARGE, "(QOSMaxWallDurationPerJobLimit)");
    world_release(&w);
}

static void memory_for_each_cpu_has_a_default(void **unused)
{
    (void)unused;
    struct world w;
    make_world(&w, "ANY");
    world_object(&w, OBJECT_PARTITION, "vip", "DefMemPerCPU=300");
    struct event job = job_of("ann", "cpus=3|partitions=vip");
    struct job_values values = *job.submit;
    uint32_t given = world_take(&w, job);
    assert_int_equal(job_at(&w, given)->request.mem_mib, 100);
    values.is_given[JOB_FIELD_MEM_MIB] = false;
    job.submit = &values;
    uint32_t id = world_take(&w, job);
    assert_int_equal(job_at(&w, id)->request.mem_mib, 900);
    assert_int_equal(job_at(&w, id)->placing->mem_mib_per_cpu, 300);
    world_release(&w);
}

/* Of the partitions that accept it: main does not. */
static void the_default_memory_is_that_of_a_partition_that_accepts_it(void **unused)
{
    (void)unused;
    struct world w;
    make_world(&w, "ANY");
    world_object(&w, OBJECT_PARTITION, "vip", "DefMemPerCPU=300");
    world_object(&w, OBJECT_PARTITION, "main", "DefMemPerCPU=50|state=DRAIN");
    struct event job = job_of("ann", "cpus=3|partitions=main,vip");
    struct job_values values = *job.submit;
    values.is_given[JOB_FIELD_MEM_MIB] = false;
    job.submit = &values;
    uint32_t id = world_take(&w, job);
    assert_int_equal(job_at(&w, id)->partition_count, 1);
    assert_int_equal(job_at(&w, id)->request.mem_mib, 900);
    world_release(&w);
}

/* --- states ------------------------------------------------------------------------------------------------------- */

static void a_state_accepts_jobs_or_starts_them(void **unused)
{
    (void)unused;
    static const struct {
        const char *state;
        bool accepts, starts;
        const char *reason;
    } rows[] = {
        {"UP", true, true, NULL},           {"down", true, false, "PartitionDown"},
        {"DRAIN", false, true, NULL},       {"INACTIVE", false, false, "PartitionInactive"},
        {"DOWN,[n4=UP]", true, true, NULL},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct world w;
        char change[TEXT_MAX];
        make_world(&w, "NO");
        uint32_t before = world_take(&w, job_of("ann", "cpus=1|partitions=vip"));
        snprintf(change, sizeof change, "state=%s", rows[i].state);
        world_object(&w, OBJECT_PARTITION, "vip", change);
        if (rows[i].accepts)
            (void)world_take(&w, job_of("ann", "cpus=1|partitions=vip"));
        else
            world_refuses(&w, job_of("ann", "cpus=1|partitions=vip"), ERR_CONFLICT,
                          "accepts no new jobs: its state is");
        if (rows[i].reason != NULL) assert_string_equal(reason_of(&w, before), rows[i].reason);
        assert_int_equal(world_pass(&w), !rows[i].starts ? 0 : 1 + rows[i].accepts);
        world_object(&w, OBJECT_PARTITION, "vip", "state=UP");
        if (!rows[i].starts) assert_int_equal(world_pass(&w), 1 + rows[i].accepts);
        world_release(&w);
    }
}

/* Of several partitions those that accept no new jobs are left out; with ALL they refuse. */
static void a_job_goes_to_the_partitions_that_accept_jobs(void **unused)
{
    (void)unused;
    struct world w;
    make_world(&w, "ANY");
    world_object(&w, OBJECT_PARTITION, "vip", "state=DRAIN");
    uint32_t id = world_take(&w, job_of("ann", "cpus=1|partitions=vip,main"));
    assert_int_equal(job_at(&w, id)->partition_count, 1);
    assert_int_equal(job_at(&w, id)->partitions[0], state_find_object(&w.s, OBJECT_PARTITION, "main"));
    world_set(&w, "EnforcePartLimits", "ALL");
    world_refuses(&w, job_of("ann", "cpus=1|partitions=vip,main"), ERR_CONFLICT, "'vip' accepts no new jobs");
    world_release(&w);
}

/* --- changes ------------------------------------------------------------------------------------------------------ */

static void an_update_is_held_against_the_limits(void **unused)
{
    (void)unused;
    struct world w;
    make_world(&w, "ANY");
    world_object(&w, OBJECT_PARTITION, "vip", "MaxTime=10|AllowQos=normal|MaxNodes=1");
    uint32_t id = world_take(&w, job_of("ann", "cpus=8|partitions=vip"));
    world_refuses(&w, world_update(id, job_text("qos=long")), ERR_INPUT, "(QOSNotAllowed)");
    world_refuses(&w, world_update(id, job_text("time_limit_s=601")), ERR_TOO_LARGE,
                  "exceeds MaxTime of partition 'vip'");
    world_refuses(&w, world_update(id, job_text("nodes=2")), ERR_TOO_LARGE, "(PartitionNodeLimit)");
    assert_int_equal(world_apply(&w, world_update(id, job_text("partitions=main|time_limit_s=601")), NULL), 0);
    world_refuses(&w, world_update(id, job_text("partitions=vip")), ERR_TOO_LARGE,
                  "exceeds MaxTime of partition 'vip'");
    world_release(&w);
}

static void wrong_values_are_refused(void **unused)
{
    (void)unused;
    static const char *const rows[][2] = {
        {"MaxNodes=many", "MaxNodes: 'many' is not a whole number"},
        {"MaxNodes=-2", "MaxNodes"},
        {"MinNodes=UNLIMITED", "MinNodes"},
        {"MinNodes=3|MaxNodes=2", "MinNodes: 3 is above MaxNodes, 2, so no job could run in the partition"},
        {"DefaultTime=soon", "DefaultTime: 'soon' is not a duration"},
        {"MaxMemPerNode=0", "MaxMemPerNode: '0' is not"},
        {"DefMemPerCPU=x", "DefMemPerCPU: 'x' is not"},
        {"AllowAccounts=a,a", "occurs twice"},
        {"AllowAccounts=a,c", "AllowAccounts: 'c' is no account; there are: root, a, b, aa"},
        {"AllowAccounts=NONE", "AllowAccounts: 'NONE' is no account"},
        {"DenyAccounts=ann", "DenyAccounts: 'ann' is no account"},
        {"AllowQos=long,nrmal", "AllowQos: 'nrmal' is no QOS; there are: normal, long, exempt"},
        {"DenyQos=ALL", "DenyQos: 'ALL' is no QOS"},
        {"state=GONE", "'GONE' is not one of UP, DOWN, DRAIN, INACTIVE"},
        {"state=UP,[n2=INACTIVE]", "'INACTIVE' is not one of UP, DRAIN, DOWN on a host"},
    };
    struct world w;
    make_world(&w, "ANY");
    for (size_t i = 0; i < COUNT(rows); i++)
        world_refuses(&w, world_object_event(&w, EVENT_OBJECT_MODIFY, OBJECT_PARTITION, "vip", rows[i][0]), ERR_INPUT,
                      rows[i][1]);
    world_object(&w, OBJECT_PARTITION, "nowhere", "hosts=NONE");
    world_refuses(&w, world_object_event(&w, EVENT_OBJECT_MODIFY, OBJECT_PARTITION, "nowhere", "state=GONE"), ERR_INPUT,
                  "'GONE' is not one of");
    world_release(&w);
}

/* What a list names stays, until no list names it. */
static void what_a_list_names_is_not_deleted(void **unused)
{
    (void)unused;
    struct world w;
    make_world(&w, "ANY");
    const struct event account = {.kind = EVENT_ACCOUNT_DELETE, .account = {.name = "c"}};
    const struct event add = {.kind = EVENT_ACCOUNT_ADD, .account = {"c", NULL, 1, PRIORITY_UNSET}};
    const struct event qos = {.kind = EVENT_OBJECT_DELETE, .object = {OBJECT_QOS, "long", NULL, 0}};
    assert_int_equal(world_apply(&w, add, NULL), 0);
    world_object(&w, OBJECT_PARTITION, "vip", "DenyAccounts=b,c|AllowQos=normal,long");
    world_refuses(&w, account, ERR_CONFLICT, "account 'c' is in use: DenyAccounts of partition 'vip' has it");
    world_refuses(&w, qos, ERR_CONFLICT, "qos 'long' is in use: AllowQos of partition 'vip' has it");
    world_object(&w, OBJECT_PARTITION, "vip", "DenyAccounts=b|AllowQos=ALL|DenyQos=exempt");
    assert_int_equal(world_apply(&w, account, NULL), 0);
    assert_int_equal(world_apply(&w, qos, NULL), 0);
    world_object(&w, OBJECT_PARTITION, "vip", "AllowAccounts=default"); /* the account of new users, before its first */
    world_release(&w);
}

/* Where a limit keeps a job back in one partition and the other one does not take it, the limit is the reason. */
static void a_limit_is_the_reason_beside_a_partition_that_refuses(void **unused)
{
    (void)unused;
    static const char *const refusals[] = {"MaxTime=5", "AllowAccounts=b", "MinNodes=2", "DenyQos=normal",
                                           "state=DOWN"};
    for (size_t i = 0; i < 2 * COUNT(refusals); i++) {
        struct world w;
        struct limit_hit hit;
        make_world(&w, "NO");
        world_object(&w, OBJECT_QOS, "short", "GrpJobs=1");
        world_object(&w, OBJECT_PARTITION, "short", "QOS=short");
        world_object(&w, OBJECT_PARTITION, "vip", refusals[i / 2]);
        uint32_t first, second;
        if (world_apply(&w, job_of("ann", "partitions=short"), &first) != 0) fail_msg("%s", ERR_SENTENCE(&w.e));
        const char *partitions = i % 2 == 0 ? "partitions=short,vip" : "partitions=vip,short";
        if (world_apply(&w, job_of("ann", partitions), &second) != 0) fail_msg("%s", ERR_SENTENCE(&w.e));
        assert_int_equal(world_pass(&w), 1);
        assert_string_equal(reason_of(&w, second), "QOSGrpJobsLimit");
        assert_true(job_limit_find(&w.s, job_at(&w, second), w.now_us, &hit));
        world_release(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_limit_counts_from_its_edge_on),
        cmocka_unit_test(memory_is_that_of_a_node),
        cmocka_unit_test(cpus_of_a_node_are_shared_by_the_jobs_of_a_partition),
        cmocka_unit_test(a_range_of_nodes_is_cut),
        cmocka_unit_test(a_job_starts_in_the_partitions_that_admit_it),
        cmocka_unit_test(each_partition_has_its_default_time),
        cmocka_unit_test(a_default_time_is_there_again_after_a_start),
        cmocka_unit_test(an_expected_end_has_the_default_of_its_partition),
        cmocka_unit_test(a_default_time_is_replaced),
        cmocka_unit_test(a_default_time_follows_the_first_partition),
        cmocka_unit_test(other_partitions_give_other_defaults),
        cmocka_unit_test(limits_compare_the_default_time_of_the_partition),
        cmocka_unit_test(memory_for_each_cpu_has_a_default),
        cmocka_unit_test(the_default_memory_is_that_of_a_partition_that_accepts_it),
        cmocka_unit_test(a_state_accepts_jobs_or_starts_them),
        cmocka_unit_test(a_job_goes_to_the_partitions_that_accept_jobs),
        cmocka_unit_test(an_update_is_held_against_the_limits),
        cmocka_unit_test(a_limit_is_the_reason_beside_a_partition_that_refuses),
        cmocka_unit_test(wrong_values_are_refused),
        cmocka_unit_test(what_a_list_names_is_not_deleted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
