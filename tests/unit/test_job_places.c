/* What jobs of an instance ask of their places: queues, soft requests, nodes. */
#include "policy_world.h"

#include "engine/job_members.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

static void furnish(struct world *w)
{
    world_init(w, 4, 100000, 2);
    world_object(w, OBJECT_GROUP, "all", "hosts=localhost");
    world_object(w, OBJECT_HOST, "n1", "features=amx");
    world_object(w, OBJECT_HOST, "localhost", "features=avx,ssd");
    world_object(w, OBJECT_RESOURCE, "fan", "type=BOOL|relop===|consumable=NO");
    world_object(w, OBJECT_ENVIRONMENT, "smp", "");
    world_object(w, OBJECT_PARTITION, "fast", "PriorityTier=2");
    world_object(w, OBJECT_PARTITION, "heavy", "complex_values=fan=true");
    world_object(w, OBJECT_PARTITION, "away", "hosts=n1");
}

static struct event submission(const char *terms)
{
    struct event job = world_job("ann");
    struct job_values values = *job.submit;
    values.is_given[JOB_FIELD_CPUS] = values.is_given[JOB_FIELD_MEM_MIB] = false;
    job.submit = job_with(&values, "%s", terms);
    return job;
}

static const char *value_of(struct world *w, uint32_t id, enum job_field f)
{
    return job_member(&w->s, &w->s.jobs.items[state_find_job(&w->s, id)], f, &w->s.cycle).text;
}

static void partitions_are_those_of_the_queues_and_the_wishes(void **unused)
{
    (void)unused;
    static const struct {
        const char *fields, *partitions;
    } rows[] = {
        {"", "main"},
        {"queues=heavy", "heavy"},
        {"queues=*y@localhost,main", "main,heavy,away"},
        {"queues=*@@all", "main,fast,heavy,away"},
        {"queues=*|partitions=heavy,fast", "heavy,fast"},
        {"partitions=main,fast,heavy|soft_queues=heavy,fast", "fast,heavy,main"},
        {"partitions=main,fast,heavy|soft=fan=true", "heavy,main,fast"},
        {"partitions=main,fast,heavy|soft=fan=true|soft_queues=main", "main,heavy,fast"},
        {"partitions=away,main,heavy|soft=fan", "heavy,main,away"},
        {"requests=qname=*a*&!heavy", "main,fast,away"},
        {"requests=qname=!m*&!a*", "fast,heavy"},
        {"requests=qname=fast|queues=*", "main,fast,heavy,away"},
        {"partitions=main,fast,heavy|soft_queues=*@n1", "main,fast,heavy"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct world w;
        furnish(&w);
        uint32_t id = world_take(&w, submission(rows[i].fields));
        assert_string_equal(value_of(&w, id, JOB_FIELD_PARTITIONS), rows[i].partitions);
        world_release(&w);
    }
}

/* Where several hosts run jobs, the best one of a partition counts; one that is only described does not. */
static void wishes_count_on_any_host_that_runs_jobs(void **unused)
{
    (void)unused;
    static const struct {
        const char *fields, *partitions;
    } rows[] = {
        {"partitions=pa,pb|soft=fan=true", "pb,pa"},
        {"partitions=pa,pc|soft=fan=true", "pa,pc"},
        {"partitions=pc,pa,pb|soft=fan=true", "pb,pc,pa"},
    };
    struct world w;
    furnish(&w);
    world_object(&w, OBJECT_HOST, "n2", "complex_values=fan=true");
    world_object(&w, OBJECT_HOST, "n3", "complex_values=fan=true");
    world_object(&w, OBJECT_PARTITION, "pa", "hosts=n1");
    world_object(&w, OBJECT_PARTITION, "pb", "hosts=n1 n2");
    world_object(&w, OBJECT_PARTITION, "pc", "hosts=n1 n3");
    for (int i = 1; i <= 2; i++) {
        const struct event host = {.kind = EVENT_HOST, .host = {{4, 0, 1000}, i == 1 ? "n1" : "n2"}};
        assert_int_equal(world_apply(&w, host, NULL), 0);
    }
    for (size_t i = 0; i < COUNT(rows); i++) {
        uint32_t id = world_take(&w, submission(rows[i].fields));
        assert_string_equal(value_of(&w, id, JOB_FIELD_PARTITIONS), rows[i].partitions);
    }
    world_release(&w);
}

/* The first partition in which it may run is the one that it starts in; queues on this machine count only. */
static void jobs_start_in_their_queues(void **unused)
{
    (void)unused;
    static const struct {
        const char *fields, *partition;
    } rows[] = {
        {"partitions=main,heavy", "main"},
        {"partitions=main,heavy|queues=heavy", "heavy"},
        {"partitions=main,heavy|master_queues=heavy@localhost", "heavy"},
        {"partitions=main,heavy|soft_queues=heavy", "heavy"},
        {"partitions=main,fast|soft_queues=main", "fast"}, /* its tier comes first */
        {"queues=away,heavy", "heavy"},
        {"requests=qname=h*", "heavy"},
        {"requests=qname=fast|queues=*", "fast"},
        {"requests=hostname=LOCAL*&!n[0-9]", "main"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct world w;
        furnish(&w);
        uint32_t id = world_take(&w, submission(rows[i].fields));
        assert_int_equal(world_pass(&w), 1);
        const struct task *k = world_task(&w, id, 0);
        assert_string_equal(w.s.objects[OBJECT_PARTITION].items[k->partition].object.name, rows[i].partition);
        world_release(&w);
    }
}

static void what_could_run_nowhere_is_refused(void **unused)
{
    (void)unused;
    static const struct {
        const char *fields;
        enum err_code code;
        const char *text;
    } rows[] = {
        {"queues=nix", ERR_INPUT, "queues: 'nix' matches no partition"},
        {"queues=main,", ERR_INPUT, "queues: '' matches no partition"},
        {"queues=main@n7", ERR_INPUT, "queues: 'main@n7' matches no host"},
        {"queues=main@@big", ERR_INPUT, "queues: 'main@@big' matches no group of hosts"},
        {"master_queues=nix", ERR_INPUT, "master_queues: 'nix' matches no partition"},
        {"soft_queues=main,nix@*", ERR_INPUT, "soft_queues: 'nix@*' matches no partition"},
        {"requests=hostname=n?2", ERR_INPUT, "resource 'hostname': amount: 'n?2' matches no host"},
        {"requests=qname=nix", ERR_INPUT,
         "resource 'qname': amount: 'nix' matches no partition that the job may run in"},
        {"requests=qname=fast|partitions=main", ERR_INPUT, "matches no partition that the job may run in"},
        {"requests=hostname=(n1", ERR_INPUT,
         "resource 'hostname': amount: '(n1' is no expression: column 4: a ( without )"},
        {"soft=hostname=a&", ERR_INPUT, "resource 'hostname': amount: 'a&' is no expression: column 3: a pattern is"},
        {"soft=nix=2", ERR_NOT_FOUND, "no resource 'nix'"},
        {"soft=fan,fan", ERR_INPUT, "resource 'fan' is requested twice"},
        {"soft=fan=2", ERR_INPUT, "fan"},
        {"queues=away", ERR_INPUT,
         "queues: 'away' can never run: partition 'away' has no host that runs jobs; 'n1' is only described"},
        {"queues=main|partitions=fast", ERR_INPUT,
         "queues: 'main' can never run: none of the queues 'main' is in partition 'fast'"},
        {"master_queues=fast", ERR_INPUT,
         "master_queues: 'fast' can never run: none of the master queues 'fast' is among its queues in partition 'main'"},
        {"nodes=2", ERR_INPUT, "nodes: '2' can never run: asks for 2 hosts; at most 1 would fit"},
        {"nodes=99|cpus=200", ERR_INPUT, "nodes: '99' can never run: asks for 99 hosts; at most 1 would fit"},
        {"nodes=2-3|slots_per_node=2", ERR_INPUT, "nodes: '2-3' can never run: asks for 2 hosts with 2 slots each"},
        {"nodes=x", ERR_INPUT, "nodes: 'x' is not a number from 1 to 1000000, or a range such as 2-8"},
        {"nodes=2|cpus=1", ERR_INPUT, "nodes: 2 slots are the minimum, and the job asks for 1"},
        {"slots_per_node=2|cpus=3", ERR_INPUT, "slots_per_node: 2 is not a divisor of the job's 3 slots"},
        {"slots_per_node=2|cpus=4", ERR_INPUT,
         "cpus: 4 can never run: asks for 4 slots, 2 on each host; at most 2 would fit"},
        {"slots_per_node=8", ERR_TOO_LARGE, "slots_per_node: 8 exceeds the host's 4 CPUs"},
        {"mem_mib=5|mem_per_cpu_mib=7", ERR_INPUT,
         "mem_per_cpu_mib: not together with the memory of each task; give only one of them"},
        {"gpus=0|gpus_per_slot=1", ERR_INPUT, "gpus_per_slot: not together with the GPUs of each task; give only one"},
        {"cpus=3|gpus_per_slot=1", ERR_TOO_LARGE,
         "gpus_per_slot: 1 for each of 3 slots is 3, which exceeds the host's 2 GPUs"},
        {"cpus=2|mem_per_cpu_mib=50001", ERR_TOO_LARGE,
         "mem_per_cpu_mib: 50001M for each of 2 slots is 100002M, which exceeds the host's 100000M of memory"},
        {"constraint=fpga", ERR_INPUT, "constraint: 'fpga' is a feature of no host"},
        {"constraint=avx&(ssd)", ERR_INPUT, "constraint: 'avx&(ssd)' is not features joined by & and |"},
        {"constraint=avx&amx", ERR_INPUT,
         "constraint: 'avx&amx' can never run: no host of partition 'main' has the features 'avx&amx'; host 'localhost' can be given them"},
        {"nodes=1-2|pe=smp", ERR_INPUT, "nodes: the parallel environment 'smp' distributes the slots; give only one"},
    };
    struct world w;
    furnish(&w);
    for (size_t i = 0; i < COUNT(rows); i++) world_refuses(&w, submission(rows[i].fields), rows[i].code, rows[i].text);
    world_release(&w);
}

static void slots_are_on_one_host(void **unused)
{
    (void)unused;
    static const struct {
        const char *fields, *nodes;
        uint32_t slots;
    } rows[] = {
        {"nodes=1|cpus=3", "1", 3},
        {"nodes=1-3|cpus=2", "1-3", 2},
        {"nodes=1-1", "1", 1},
        {"slots_per_node=3", "", 3},
        {"nodes=1-4|slots_per_node=4", "1-4", 4},
        {"slots_per_node=2|cpus=2|slots_max=4", "", 2},
        {"nodes=1-4|cpus=2|slots_max=4", "1-4", 4},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct world w;
        furnish(&w);
        uint32_t id = world_take(&w, submission(rows[i].fields));
        assert_string_equal(value_of(&w, id, JOB_FIELD_NODES), rows[i].nodes);
        assert_int_equal(world_pass(&w), 1);
        assert_int_equal(task_cpu_count(world_task(&w, id, 0)), rows[i].slots);
        world_release(&w);
    }
}

/* The amounts of a task, and what each of its slots takes: of a range of slots, those that it gets. */
static void amounts_of_each_slot(void **unused)
{
    (void)unused;
    static const struct {
        const char *fields;
        uint32_t mem_mib, gpus, task_mem_mib, task_gpus, slots;
    } rows[] = {
        {"cpus=2|mem_per_cpu_mib=300", 600, 0, 600, 0, 2},
        {"cpus=2|mem_per_cpu_mib=0|mem_mib=500", 500, 0, 500, 0, 2},
        {"cpus=2|gpus_per_slot=1|mem_mib=7", 7, 2, 7, 2, 2},
        {"cpus=1|slots_max=4|mem_per_cpu_mib=100|gpus_per_slot=1", 100, 1, 200, 2, 2},
        {"cpus=1|slots_max=4|mem_per_cpu_mib=30000", 30000, 0, 90000, 0, 3},
        {"slots_per_node=2|gpus=1|mem_per_cpu_mib=10", 20, 1, 20, 1, 2},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct world w;
        furnish(&w);
        uint32_t id = world_take(&w, submission(rows[i].fields));
        assert_int_equal(w.s.jobs.items[0].request.mem_mib, rows[i].mem_mib);
        assert_int_equal(w.s.jobs.items[0].request.gpus, rows[i].gpus);
        assert_int_equal(world_pass(&w), 1);
        const struct task *k = world_task(&w, id, 0);
        assert_int_equal(task_cpu_count(k), rows[i].slots);
        assert_int_equal(task_mem_mib(k), rows[i].task_mem_mib);
        assert_int_equal(idset_count(&k->placements[0].gpus), rows[i].task_gpus);
        assert_true(tres_amount_of(&k->tres, TRES_MEM) == rows[i].task_mem_mib);
        world_release(&w);
    }
}

static struct event update(uint32_t id, const char *terms)
{
    static struct job_values none;
    return (struct event){.kind = EVENT_UPDATE,
                          .actor = world_operator,
                          .update = {.job_id = id, .values = job_with(&none, "%s", terms)}};
}

/* What each slot takes is divided by the hosts that the job asks for: two hosts of 100000M each, with 2 GPUs. */
static void amounts_of_each_slot_on_several_hosts(void **unused)
{
    (void)unused;
    static const struct {
        const char *fields, *refusal; /* refusal NULL: it starts */
    } rows[] = {
        {"nodes=2|cpus=2|mem_per_cpu_mib=100000", NULL},
        {"nodes=2|cpus=4|mem_per_cpu_mib=50000", NULL},
        {"nodes=2|cpus=4|gpus_per_slot=1", NULL},
        {"nodes=1-2|cpus=4|gpus_per_slot=1", NULL},
        {"slots_per_node=2|cpus=4|mem_per_cpu_mib=50000", NULL},
        {"pe=spread|cpus=4|mem_per_cpu_mib=50000", NULL},
        {"pe=pairs|cpus=4|gpus_per_slot=1", NULL},
        {"nodes=2|cpus=3|mem_per_cpu_mib=50001",
         "'50001' can never run: asks for 50001M of memory for each of 3 slots; at most 2 slots would fit"},
        {"nodes=2|cpus=2|mem_per_cpu_mib=100001",
         "'100001' can never run: asks for 100001M of memory; the largest host"},
        {"nodes=1|cpus=2|mem_per_cpu_mib=50001", "for each of 2 slots is 100002M, which exceeds the largest host's"},
        {"slots_per_node=3|cpus=6|gpus_per_slot=1", "1 for each of 3 slots on a host is 3, which exceeds"},
        {"pe=smp|cpus=3|gpus_per_slot=1", "1 for each of 3 slots is 3, which exceeds the largest host's 2 GPUs"},
        {"pe=pairs|cpus=4|mem_per_cpu_mib=50001", "for each of 2 slots on a host is 100002M"},
        {"pe=spread|cpus=2|mem_per_cpu_mib=100001", "100001M exceeds the largest host's 100000M of memory"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct world w;
        furnish(&w);
        const struct event host = {.kind = EVENT_HOST, .host = {{4, 2, 100000}, "n1"}};
        assert_int_equal(world_apply(&w, host, NULL), 0);
        world_object(&w, OBJECT_ENVIRONMENT, "spread", "allocation_rule=$round_robin");
        world_object(&w, OBJECT_ENVIRONMENT, "pairs", "allocation_rule=2");
        world_object(&w, OBJECT_PARTITION, "main", "pe_list=smp spread pairs");
        if (rows[i].refusal != NULL) {
            bool is_on_two = strncmp(rows[i].fields, "nodes=2", 7) == 0; /* refused by its nodes first */
            world_refuses(&w, submission(rows[i].fields), is_on_two ? ERR_INPUT : ERR_TOO_LARGE, rows[i].refusal);
        } else {
            (void)world_take(&w, submission(rows[i].fields));
            if (world_pass(&w) != 1) fail_msg("%s", rows[i].fields);
        }
        world_release(&w);
    }
}

static void updates_of_amounts(void **unused)
{
    (void)unused;
    struct world w;
    furnish(&w);
    uint32_t id = world_take(&w, submission("cpus=2|mem_per_cpu_mib=100"));
    const struct job *j = &w.s.jobs.items[0];
    assert_int_equal(world_apply(&w, update(id, "cpus=3"), NULL), 0);
    assert_int_equal(j->request.mem_mib, 300);
    world_refuses(&w, update(id, "mem_per_cpu_mib=40000"), ERR_TOO_LARGE,
                  "mem_per_cpu_mib: 40000M for each of 3 slots is 120000M, which exceeds the host's 100000M of memory");
    assert_int_equal(world_apply(&w, update(id, "mem_mib=700"), NULL), 0);
    assert_int_equal(j->request.mem_mib, 700);
    assert_null(j->placing);
    assert_int_equal(world_apply(&w, update(id, "mem_per_cpu_mib=50"), NULL), 0);
    assert_int_equal(j->request.mem_mib, 150);
    assert_int_equal(world_apply(&w, update(id, "mem_per_cpu_mib=0"), NULL), 0);
    assert_int_equal(j->request.mem_mib, 150);
    world_release(&w);
}

static void updates_place_jobs_anew(void **unused)
{
    (void)unused;
    struct world w;
    furnish(&w);
    uint32_t id = world_take(&w, submission("partitions=main,heavy|queues=main|soft=fan|soft_queues=main@localhost"));
    assert_string_equal(value_of(&w, id, JOB_FIELD_PARTITIONS), "main,heavy");
    assert_string_equal(value_of(&w, id, JOB_FIELD_SOFT), "fan=true");
    world_refuses(&w, update(id, "queues=fast"), ERR_INPUT, "queues: 'fast' can never run");
    world_refuses(&w, update(id, "master_queues=heavy"), ERR_INPUT, "master_queues: 'heavy' can never run");
    world_refuses(&w, world_object_event(&w, EVENT_OBJECT_DELETE, OBJECT_RESOURCE, "fan", ""), ERR_CONFLICT,
                  "resource 'fan'");
    assert_int_equal(world_apply(&w, update(id, "queues=|soft_queues="), NULL), 0);
    assert_string_equal(value_of(&w, id, JOB_FIELD_PARTITIONS), "heavy,main");
    assert_string_equal(value_of(&w, id, JOB_FIELD_QUEUES), "");
    assert_int_equal(world_apply(&w, update(id, "soft="), NULL), 0);
    assert_null(w.s.jobs.items[0].placing);
    assert_int_equal(world_apply(&w, update(id, "constraint=ssd&avx"), NULL), 0);
    world_object(&w, OBJECT_HOST, "localhost", "features=avx"); /* it waits, as for a closed queue */
    assert_int_equal(world_pass(&w), 0);
    world_object(&w, OBJECT_HOST, "localhost", "features=avx,ssd");
    world_object(&w, OBJECT_PARTITION, "main", "state=DOWN"); /* a job that waits for a closed queue is accepted */
    assert_int_equal(world_apply(&w, update(id, "queues=main"), NULL), 0);
    assert_int_equal(world_pass(&w), 0);
    world_object(&w, OBJECT_PARTITION, "main", "state=UP");
    assert_int_equal(world_pass(&w), 1);
    world_release(&w);
}

/* The current amount of a running task, as an update may give any current value, leaves what its slots take. */
static void a_current_amount_changes_nothing(void **unused)
{
    (void)unused;
    struct world w;
    furnish(&w);
    uint32_t id = world_take(&w, submission("cpus=1|slots_max=2|gpus_per_slot=1|mem_per_cpu_mib=7"));
    assert_int_equal(world_pass(&w), 1);
    assert_int_equal(idset_count(&world_task(&w, id, 0)->placements[0].gpus), 2);
    assert_int_equal(world_apply(&w, world_update(id, job_text("gpus=1|mem_mib=7")), NULL), 0);
    assert_int_equal(w.s.jobs.items[0].placing->gpus_per_slot, 1);
    assert_int_equal(w.s.jobs.items[0].placing->mem_mib_per_cpu, 7);
    world_refuses(&w, world_update(id, job_text("gpus=2")), ERR_CONFLICT, "it cannot change after the job has started");
    world_release(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(partitions_are_those_of_the_queues_and_the_wishes),
        cmocka_unit_test(wishes_count_on_any_host_that_runs_jobs),
        cmocka_unit_test(jobs_start_in_their_queues),
        cmocka_unit_test(what_could_run_nowhere_is_refused),
        cmocka_unit_test(slots_are_on_one_host),
        cmocka_unit_test(amounts_of_each_slot),
        cmocka_unit_test(amounts_of_each_slot_on_several_hosts),
        cmocka_unit_test(a_current_amount_changes_nothing),
        cmocka_unit_test(updates_of_amounts),
        cmocka_unit_test(updates_place_jobs_anew),
    };
    return cmocka_run_group_tests_name("job places", tests, NULL, NULL);
}
