/* Why a job of an instance can never run: the true cause, at submission and for a job that was accepted before. */
#include "policy_world.h"

#include "engine/never_cause.h"
#include "engine/priorities.h"
#include "engine/schedule.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

static void report(struct world *w)
{
    const struct host_load values[] = {{"arch", "lx-amd64"}, {"mem_free", "1G"}};
    assert_int_equal(
        world_apply(w, (struct event){.kind = EVENT_LOAD, .load = {.values = values, .count = COUNT(values)}}, NULL),
        0);
}

/* 4 CPUs, 4 GiB, 2 GPUs. */
static void furnish(struct world *w)
{
    world_init(w, 4, 4096, 2);
    report(w);
    world_object(w, OBJECT_RESOURCE, "fan", "");
    world_object(w, OBJECT_RESOURCE, "crane", "");
    world_object(w, OBJECT_RESOURCE, "quiet", "type=BOOL|relop===|consumable=NO");
    world_object(w, OBJECT_RESOURCE, "os", "type=STRING|relop===|consumable=NO");
    world_object(w, OBJECT_RESOURCE, "tape", "type=MEMORY");
    world_object(w, OBJECT_HOST, "localhost", "features=avx|complex_values=fan=3,tape=5G,os=bookworm");
    world_object(w, OBJECT_HOST, "n1", "features=amx|complex_values=crane=1");
    world_object(w, OBJECT_ENVIRONMENT, "pairs", "allocation_rule=2");
    world_object(w, OBJECT_ENVIRONMENT, "quad", "allocation_rule=4");
    world_object(w, OBJECT_ENVIRONMENT, "six", "allocation_rule=6");
    world_object(w, OBJECT_ENVIRONMENT, "one", "");
    world_object(w, OBJECT_ENVIRONMENT, "few", "slots=2");
    world_object(w, OBJECT_ENVIRONMENT, "alone", "");
    world_object(w, OBJECT_ENVIRONMENT, "far", "");
    world_object(w, OBJECT_PARTITION, "main", "pe_list=pairs,quad,six,one,few");
    world_object(w, OBJECT_PARTITION, "fast", "slots=2|pe_list=far");
    world_object(w, OBJECT_PARTITION, "short", "MaxTime=10");
    world_object(w, OBJECT_PARTITION, "vip", "user_lists=zoe");
    world_object(w, OBJECT_PARTITION, "rest", "xuser_lists=ann");
    world_object(w, OBJECT_PARTITION, "away", "hosts=n1");
    world_object(w, OBJECT_PARTITION, "void", "hosts=NONE");
}

static struct event submission(const char *user, const char *terms)
{
    struct event job = world_job(user);
    struct job_values values = *job.submit;
    values.is_given[JOB_FIELD_CPUS] = values.is_given[JOB_FIELD_MEM_MIB] = false;
    job.submit = job_with(&values, "%s", terms);
    return job;
}

static void the_cause_is_named_at_submission(void **unused)
{
    (void)unused;
    static const struct {
        const char *fields, *text;
    } rows[] = {
        {"partitions=vip",
         "partitions: 'vip' can never run: partition 'vip' does not accept user 'ann' (user_lists zoe)"},
        {"queues=vip", "queues: 'vip' can never run: partition 'vip' does not accept user 'ann' (user_lists zoe)"},
        {"partitions=rest", "partitions: 'rest' can never run: partition 'rest' refuses user 'ann' (xuser_lists ann)"},
        {"partitions=vip,short|time_limit_s=900",
         "partitions: 'vip,short' can never run: partition 'vip' does not accept user 'ann'"},
        {"queues=short|time_limit_s=900", "time_limit_s: '00:15:00' exceeds MaxTime of partition 'short': 00:10:00"},
        {"partitions=void", "partitions: 'void' can never run: partition 'void' has no hosts"},
        {"partitions=short,void|time_limit_s=900",
         "time_limit_s: '00:15:00' exceeds MaxTime of partition 'short': 00:10:00"},
        {"partitions=void,short|time_limit_s=900",
         "time_limit_s: '00:15:00' exceeds MaxTime of partition 'short': 00:10:00"},
        {"partitions=vip,void", "partitions: 'vip,void' can never run: partition 'vip' does not accept user 'ann' "
                                "(user_lists zoe); partition 'void' has no hosts"},
        {"queues=void", "queues: 'void' can never run: partition 'void' has no hosts"},
        {"partitions=away",
         "partitions: 'away' can never run: partition 'away' has no host that runs jobs; 'n1' is only described"},
        {"queues=fast|partitions=main,short",
         "queues: 'fast' can never run: none of the queues 'fast' is in partitions "
         "'main' and 'short'"},
        {"master_queues=fast",
         "master_queues: 'fast' can never run: none of the master queues 'fast' is among its queues "
         "in partition 'main'"},
        {"master_queues=fast|pe=one|cpus=2",
         "master_queues: 'fast' can never run: its first slot cannot be in the master queues 'fast'"},
        {"constraint=amx",
         "constraint: 'amx' can never run: no host of partition 'main' that runs jobs has the features "
         "'amx'; 'n1' is only described"},
        {"constraint=amx&avx", "constraint: 'amx&avx' can never run: no host of partition 'main' has the features "
                               "'amx&avx'; host 'localhost' can be given them"},
        {"queues=*@n1", "queues: '*@n1' can never run: none of the queues '*@n1' is on a host that runs jobs; 'n1' is "
                        "only described"},
        {"partitions=fast,away|cpus=3", "asks for 3 slots on one host; partition 'fast' has at most 2 on a host"},
        {"pe=alone|cpus=2", "pe: 'alone' can never run: the parallel environment 'alone' is not in the pe_list of "
                            "partition 'main'; it is in none"},
        {"pe=far",
         "pe: 'far' can never run: the parallel environment 'far' is not in the pe_list of partition 'main'; it "
         "is in that of partition 'fast'"},
        {"pe=pairs|cpus=3", "cpus: 3 can never run: asks for 3 slots; the parallel environment 'pairs' gives 2 on each "
                            "host: ask for 2"},
        {"pe=six|cpus=3", "cpus: 3 can never run: asks for 3 slots; the parallel environment 'six' gives 6 on each "
                          "host, and the largest has 4"},
        {"pe=pairs",
         "pe: 'pairs' can never run: asks for 1 slot; the parallel environment 'pairs' gives 2 on each host: "
         "ask for 2"},
        {"pe=quad|cpus=1|slots_max=3", "asks for 1 to 3 slots; the parallel environment 'quad' gives 4 on each host: "
                                       "ask for 4"},
        {"pe=pairs|cpus=4", "cpus: 4 can never run: asks for 4 slots, 2 on each host; at most 2 would fit"},
        {"pe=few|cpus=3", "cpus: 3 can never run: asks for 3 slots; the parallel environment 'few' has 2"},
        {"partitions=fast|cpus=4",
         "cpus: 4 can never run: asks for 4 slots on one host; partition 'fast' has at most 2 on a host"},
        {"partitions=fast|cpus=3|slots_max=4", "cpus: 3 can never run: asks for 3 slots on one host"},
        {"partitions=fast|slots_per_node=3",
         "slots_per_node: 3 can never run: asks for 3 slots on one host; partition 'fast' has at most 2 on a host"},
        {"nodes=2", "nodes: '2' can never run: asks for 2 hosts; at most 1 would fit"},
        {"requests=fan=4", "requests: 'fan=4' can never run: asks for fan=4; the largest host has 3"},
        {"requests=fan=2|cpus=2",
         "requests: 'fan=2' can never run: asks for fan=2 for each of 2 slots, 4 on one host; the largest host has 3"},
        {"requests=tape=2G|cpus=3",
         "requests: 'tape=2G' can never run: asks for tape=2G for each of 3 slots, 6G on one host; the largest host has 5G"},
        {"exclusive=true|requests=fan=1",
         "asks for fan=1 for each of the 4 slots of a whole host, 4 on one host; the largest host has 3"},
        {"requests=arch=xyz",
         "requests: 'arch=xyz' can never run: asks for arch=xyz; its hosts have lx-amd64; complex_values of host "
         "'localhost' can have it"},
        {"requests=os=sid", "requests: 'os=sid' can never run: asks for os=sid; its hosts have bookworm"},
        {"requests=quiet",
         "requests: 'quiet=true' can never run: asks for quiet=true; no host has that; complex_values of host "
         "'localhost' can have it"},
    };
    struct world w;
    furnish(&w);
    for (size_t i = 0; i < COUNT(rows); i++) {
        enum err_code code = strstr(rows[i].text, "MaxTime") != NULL ? ERR_TOO_LARGE : ERR_INPUT;
        world_refuses(&w, submission("ann", rows[i].fields), code, rows[i].text);
    }
    world_release(&w);
}

static void what_may_run_is_accepted(void **unused)
{
    (void)unused;
    static const struct {
        const char *user, *fields;
    } rows[] = {
        {"zoe", "partitions=vip"},      {"zoe", "queues=vip"},
        {"ann", "partitions=vip,main"}, {"ann", "partitions=void,away,main"},
        {"ann", "cpus=2|slots_max=8"},  {"ann", "partitions=fast|cpus=1|slots_max=4"},
        {"ann", "pe=pairs|cpus=2"},     {"ann", "pe=pairs|cpus=1|slots_max=3"},
        {"ann", "pe=one|cpus=4"},       {"ann", "requests=fan=1|cpus=3"},
        {"ann", "requests=arch=lx-*"},  {"ann", "requests=mem_free=900G"}, /* a load value */
        {"ann", "requests=crane=7"}, /* only a host that runs no jobs has one: no limit */
    };
    struct world w;
    furnish(&w);
    for (size_t i = 0; i < COUNT(rows); i++) (void)world_take(&w, submission(rows[i].user, rows[i].fields));
    assert_int_equal(world_pass(&w) > 0, true);
    world_release(&w);
}

static void what_a_described_host_has_is_no_limit(void **unused)
{
    (void)unused;
    struct world w;
    furnish(&w);
    uint32_t id = world_take(&w, submission("ann", "requests=crane=7"));
    assert_int_equal(world_pass(&w), 1);
    assert_non_null(world_task(&w, id, 0));
    world_release(&w);
}

/* The reason of a job, and why a schedule says that it waits. */
static void assert_waits(struct world *w, uint32_t id, enum pending_reason reason, const char *why)
{
    struct schedule p;
    assert_int_equal(job_pending_reason(&w->s, id, 1.0, w->now_us), reason);
    assert_int_equal(schedule_make(&w->s, w->now_us, SCHEDULE_WITHOUT_ESTIMATES, &p, NULL), 0);
    for (uint32_t i = 0; i < p.rows.count; i++) {
        const struct schedule_row *row = &p.rows.items[i];
        if (w->s.jobs.items[row->job].id != id) continue;
        if (why == NULL)
            assert_null(row->reason);
        else
            assert_string_equal(row->reason, why);
    }
    schedule_release(&p);
}

static void the_cause_is_named_when_the_cluster_changes(void **unused)
{
    (void)unused;
    struct world w;
    furnish(&w);
    world_object(&w, OBJECT_HOST, "localhost", "state=DRAIN");
    uint32_t wide = world_take(&w, submission("ann", "cpus=3")),
             fast = world_take(&w, submission("ann", "partitions=fast"));
    uint32_t fan = world_take(&w, submission("ann", "requests=fan=3")),
             of_zoe = world_take(&w, submission("zoe", "queues=vip"));
    const uint32_t all[] = {wide, fast, fan, of_zoe};
    for (size_t i = 0; i < COUNT(all); i++) assert_waits(&w, all[i], PENDING_REQ_NODE_NOT_AVAIL, NULL);
    world_set(&w, "host_cpus", "2");
    world_object(&w, OBJECT_PARTITION, "fast", "hosts=NONE");
    world_object(&w, OBJECT_HOST, "localhost", "complex_values=fan=2");
    world_object(&w, OBJECT_PARTITION, "vip", "user_lists=ann");
    assert_waits(&w, wide, PENDING_BAD_CONSTRAINTS, "can never run: asks for 3 slots on one host; the largest has 2");
    assert_waits(&w, fast, PENDING_BAD_CONSTRAINTS, "can never run: partition 'fast' has no hosts");
    assert_waits(&w, fan, PENDING_BAD_CONSTRAINTS, "can never run: asks for fan=3; the largest host has 2");
    assert_waits(&w, of_zoe, PENDING_BAD_CONSTRAINTS,
                 "can never run: partition 'vip' does not accept user 'zoe' (user_lists ann)");
    world_set(&w, "host_cpus", "4");
    assert_waits(&w, wide, PENDING_REQ_NODE_NOT_AVAIL, NULL);
    world_object(&w, OBJECT_HOST, "localhost", "state=UP");
    assert_waits(&w, wide, PENDING_NONE, NULL);
    world_release(&w);
}

/* The reasons of equal jobs are one text, also where jobs of other users are between them. */
static void equal_causes_are_found_once(void **unused)
{
    (void)unused;
    static const struct {
        const char *fields;
        bool has_one_reason; /* for both users */
    } rows[] = {{"cpus=3", true}, {"partitions=vip", false}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct world w;
        struct schedule p;
        furnish(&w);
        world_object(&w, OBJECT_PARTITION, "vip", "user_lists=NONE");
        for (int k = 0; k < 4; k++) (void)world_take(&w, submission(k % 2 == 0 ? "ann" : "zoe", rows[i].fields));
        world_set(&w, "host_cpus", "2");
        world_object(&w, OBJECT_PARTITION, "vip", "user_lists=bob");
        assert_int_equal(schedule_make(&w.s, w.now_us, SCHEDULE_WITHOUT_ESTIMATES, &p, NULL), 0);
        assert_int_equal(p.rows.count, 4);
        const char *reasons[4];
        for (uint32_t k = 0; k < 4; k++) reasons[p.rows.items[k].job] = p.rows.items[k].reason;
        assert_non_null(reasons[0]);
        assert_ptr_equal(reasons[0], reasons[2]);
        assert_ptr_equal(reasons[1], reasons[3]);
        assert_int_equal(reasons[0] == reasons[1], rows[i].has_one_reason);
        schedule_release(&p);
        world_release(&w);
    }
}

/* The host that could be given something is one of the job's partition, not always this machine. */
static void advice_names_a_host_of_the_partition(void **unused)
{
    (void)unused;
    struct world w;
    furnish(&w);
    const struct event host = {.kind = EVENT_HOST, .host = {{4, 0, 4096}, "n1"}};
    assert_int_equal(world_apply(&w, host, NULL), 0);
    world_refuses(&w, submission("ann", "partitions=away|constraint=avx"), ERR_INPUT,
                  "no host of partition 'away' has the features 'avx'; host 'n1' can be given them");
    world_refuses(&w, submission("ann", "partitions=away|requests=fan=1"), ERR_INPUT,
                  "complex_values of host 'n1' can have it");
    world_release(&w);
}

/* A partition without hosts has no say, whatever its MaxTime. */
static void a_time_limit_is_that_of_a_partition_with_hosts(void **unused)
{
    (void)unused;
    struct world w;
    furnish(&w);
    uint32_t id = world_take(&w, submission("ann", "partitions=short,void|time_limit_s=60"));
    uint32_t longest = world_take(&w, submission("ann", "partitions=void,short|time_limit_s=600"));
    world_refuses(&w, world_update(id, job_text("time_limit_s=900")), ERR_TOO_LARGE,
                  "time_limit_s: '00:15:00' exceeds MaxTime of partition 'short': 00:10:00");
    uint32_t of_vip = world_take(&w, submission("ann", "partitions=short,vip|time_limit_s=60"));
    world_refuses(&w, world_update(of_vip, job_text("time_limit_s=900")), ERR_INPUT,
                  "partitions: 'short,vip' can never run: partition 'vip' does not accept user 'ann' (user_lists zoe)");
    world_object(&w, OBJECT_PARTITION, "short", "MaxTime=5");
    assert_waits(&w, longest, PENDING_BAD_CONSTRAINTS,
                 "can never run: its time limit, 00:10:00, exceeds MaxTime of partition 'short', 00:05:00; partition "
                 "'void' has no hosts");
    world_release(&w);
}

static void amounts_of_gpus_are_those_of_the_machine(void **unused)
{
    (void)unused;
    struct world w;
    furnish(&w);
    world_refuses(&w, world_object_event(&w, EVENT_OBJECT_MODIFY, OBJECT_HOST, "localhost", "complex_values=gpu=1"),
                  ERR_INPUT, "host 'localhost': complex_values: 'gpu' is not a resource; GPUs are 'gres/gpu'");
    world_object(&w, OBJECT_HOST, "localhost", "complex_values=gres/gpu=1");
    world_refuses(&w, submission("ann", "gpus=2"), ERR_INPUT,
                  "gpus: 2 can never run: asks for 2 GPUs; the largest host has 1");
    world_release(&w);
    world_init(&w, 4, 4096, 0);
    world_refuses(&w,
                  world_object_event(&w, EVENT_OBJECT_MODIFY, OBJECT_HOST, "localhost", "complex_values=gres/gpu=4"),
                  ERR_INPUT, "host 'localhost': complex_values: gres/gpu=4: this machine has no GPUs");
    world_object(&w, OBJECT_HOST, "localhost", "complex_values=gres/gpu=0");
    world_release(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_cause_is_named_at_submission),
        cmocka_unit_test(what_may_run_is_accepted),
        cmocka_unit_test(what_a_described_host_has_is_no_limit),
        cmocka_unit_test(the_cause_is_named_when_the_cluster_changes),
        cmocka_unit_test(equal_causes_are_found_once),
        cmocka_unit_test(advice_names_a_host_of_the_partition),
        cmocka_unit_test(a_time_limit_is_that_of_a_partition_with_hosts),
        cmocka_unit_test(amounts_of_gpus_are_those_of_the_machine),
    };
    return cmocka_run_group_tests_name("never cause", tests, NULL, NULL);
}
