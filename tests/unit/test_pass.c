/* The pass: the order of the candidates, what fits, and every rule that keeps a job waiting. */
#include "engine/pending.h"
#include "policy_world.h"

/* A world with a job that has all CPUs. Returns the job; other jobs wait until it ends. */
static uint32_t init_full(struct world *w, uint32_t cpus)
{
    world_init(w, cpus, 100000, 0);
    struct event blocker = world_job("zoe");
    blocker.submit = job_with(blocker.submit, "cpus=%u", cpus);
    uint32_t id = world_take(w, blocker);
    assert_int_equal(world_pass(w), 1);
    w->now_us += SECOND;
    return id;
}

static void tiers_then_priorities_then_ids(void **unused)
{
    (void)unused;
    struct world w;
    uint32_t blocker = init_full(&w, 4);
    world_object(&w, OBJECT_PARTITION, "fast", "PriorityTier=2");
    struct event job = world_job("ann");
    uint32_t plain = world_take(&w, job);
    job.submit = job_with(job.submit, "set_priority=4000000000");
    uint32_t high = world_take(&w, job);
    job.submit = job_with(job.submit, "set_priority=1|partitions=fast");
    uint32_t low_but_fast = world_take(&w, job);
    uint32_t later = world_take(&w, world_job("ann"));
    world_end(&w, blocker, 0);
    char expected[TEXT_MAX];
    snprintf(expected, sizeof expected, "%u %u %u %u", low_but_fast, high, plain, later);
    assert_string_equal(world_starts(&w), expected);
    world_release(&w);
}

/* docs/formulas.md 4.4. */
static void the_worked_example(void **unused)
{
    (void)unused;
    struct world w;
    uint32_t blocker = init_full(&w, 8);
    world_settings(&w, "PriorityWeightFairshare=0 PriorityWeightPartition=1000 PriorityFlags=NO_NORMAL_PART");
    world_object(&w, OBJECT_PARTITION, "fast", "PriorityJobFactor=9");
    world_object(&w, OBJECT_PARTITION, "batch", "PriorityJobFactor=5");
    world_object(&w, OBJECT_PARTITION, "top", "PriorityTier=2");
    world_object(&w, OBJECT_RESOURCE, "license", "amount=2");
    struct event job = world_job("ann");
    job.submit = job_with(job.submit, "partitions=batch,fast|requests=license=2");
    uint32_t first = world_take(&w, job);
    job.submit = job_with(job.submit, "partitions=batch|requests=");
    uint32_t second = world_take(&w, job);
    job.submit = job_with(job.submit, "partitions=top|requests=license=2");
    uint32_t third = world_take(&w, job);
    world_end(&w, blocker, 0);
    char expected[TEXT_MAX];
    snprintf(expected, sizeof expected, "%u %u", third, second);
    assert_string_equal(world_starts(&w), expected);
    world_end(&w, third, 0);
    snprintf(expected, sizeof expected, "%u", first);
    assert_string_equal(world_starts(&w), expected);
    world_release(&w);
}

static const char *partition_of(struct world *w, uint32_t job_id)
{
    const struct task *k = world_task(w, job_id, 0);
    assert_non_null(k);
    return w->s.objects[OBJECT_PARTITION].items[k->partition].object.name;
}

static void jobs_in_several_partitions_start_once(void **unused)
{
    (void)unused;
    struct world w;
    world_init(&w, 8, 100000, 0);
    world_object(&w, OBJECT_PARTITION, "fast", "PriorityTier=2|MaxTime=10");
    world_object(&w, OBJECT_PARTITION, "cheap", "PriorityJobFactor=0");
    world_settings(&w, "PriorityWeightPartition=1000");
    struct event job = world_job("ann");
    job.submit = job_with(job.submit, "partitions=cheap,main,fast");
    job.submit = job_with(job.submit, "time_limit_s=600");
    uint32_t short_job = world_take(&w, job);
    job.submit = job_with(job.submit, "time_limit_s=601");
    uint32_t long_job = world_take(&w, job);
    job.submit = job_with(job.submit, "array=1-3");
    uint32_t array = world_take(&w, job);
    assert_int_equal(world_pass(&w), 5);
    assert_int_equal(w.s.jobs.items[state_find_job(&w.s, array)].live_tasks, 3);
    assert_string_equal(partition_of(&w, short_job), "fast"); /* its tier */
    assert_string_equal(partition_of(&w, long_job), "main");  /* its factor; fast admits ten minutes */
    assert_int_equal(world_pass(&w), 0);
    world_release(&w);
}

static void a_time_limit_above_max_time_keeps_a_job_waiting(void **unused)
{
    (void)unused;
    struct world w;
    world_init(&w, 8, 100000, 0);
    struct event job = world_job("ann");
    job.submit = job_with(job.submit, "time_limit_s=601");
    job.submit = job_with(job.submit, "held=yes");
    uint32_t id = world_take(&w, job);
    world_object(&w, OBJECT_PARTITION, "main", "MaxTime=10");
    struct job_ref ref = {id, NONE};
    assert_int_equal(world_apply(&w, (struct event){.kind = EVENT_RELEASE, .jobs = {&ref, 1, false}}, NULL), 0);
    assert_int_equal(world_pass(&w), 0);
    world_object(&w, OBJECT_PARTITION, "main", "MaxTime=11");
    assert_int_equal(world_pass(&w), 1);
    world_release(&w);
}

static void a_job_waits_for_its_begin(void **unused)
{
    (void)unused;
    struct world w;
    world_init(&w, 8, 100000, 0);
    struct event job = world_job("ann");
    int64_t begin_us = w.now_us + 100 * SECOND;
    job.submit = job_with(job.submit, "begin_us=%lld", (long long)(begin_us + 50 * SECOND));
    uint32_t second = world_take(&w, job);
    job.submit = job_with(job.submit, "begin_us=%lld", (long long)begin_us);
    uint32_t first = world_take(&w, job);
    job.submit = job_with(job.submit, "begin_us=%lld", (long long)(begin_us - SECOND));
    job.submit = job_with(job.submit, "held=yes");
    world_take(&w, job);
    assert_int_equal(world_pass(&w), 0);
    assert_int_equal(state_next_due_us(&w.s), begin_us); /* the begin of a held job does not count */
    assert_false(w.s.pass_is_due);
    w.now_us = begin_us - 1;
    w.s.pass_is_due = true;
    assert_int_equal(world_pass(&w), 0);
    w.now_us = begin_us;
    assert_int_equal(world_pass(&w), 1);
    assert_non_null(world_task(&w, first, 0));
    assert_int_equal(state_next_due_us(&w.s), begin_us + 50 * SECOND);
    w.now_us += 50 * SECOND;
    assert_int_equal(world_pass(&w), 1);
    assert_non_null(world_task(&w, second, 0));
    assert_int_equal(state_next_due_us(&w.s), 0);
    world_release(&w);
}

/* No job can start before another one ends, which makes a pass due. So the begin of a job makes none due. */
static void a_begin_does_not_matter_on_a_full_host(void **unused)
{
    (void)unused;
    struct world w;
    uint32_t blocker = init_full(&w, 1);
    struct event job = world_job("ann");
    int64_t begin_us = w.now_us + 100 * SECOND;
    job.submit = job_with(job.submit, "begin_us=%lld", (long long)begin_us);
    uint32_t id = world_take(&w, job);
    assert_int_equal(world_pass(&w), 0);
    assert_int_equal(state_next_due_us(&w.s), 0);
    world_end(&w, blocker, 0);
    assert_int_equal(world_pass(&w), 0);
    assert_int_equal(state_next_due_us(&w.s), begin_us);
    w.now_us = begin_us;
    assert_int_equal(world_pass(&w), 1);
    assert_non_null(world_task(&w, id, 0));
    world_release(&w);
}

static void a_usage_threshold_keeps_heavy_users_waiting(void **unused)
{
    (void)unused;
    struct world w;
    world_init(&w, 4, 100000, 0);
    world_object(&w, OBJECT_QOS, "normal", "usage_threshold=0.75|flags=EnforceUsageThreshold");
    uint32_t ann = world_take(&w, world_job("ann")), bob = world_take(&w, world_job("bob"));
    world_take(&w, world_job("cat"));
    assert_int_equal(world_pass(&w), 3); /* they tie: all have the factor 1 */
    world_end(&w, ann, 0);
    world_run(&w, bob, 0);
    w.now_us += 100 * SECOND;
    uint32_t again = world_take(&w, world_job("bob")), other = world_take(&w, world_job("ann"));
    char expected[TEXT_MAX];
    snprintf(expected, sizeof expected, "%u", other);
    assert_string_equal(world_starts(&w), expected); /* bob's factor is 1/3 */
    assert_int_equal(state_next_due_us(&w.s), w.now_us + 60 * SECOND);
    const char *const models[] = {"priority/tickets", "priority/basic"};
    for (size_t i = 0; i < 2; i++) {
        world_set(&w, "PriorityType", models[i]);
        assert_int_equal(world_pass(&w), 0);
    }
    world_object(&w, OBJECT_QOS, "normal", "usage_threshold=0.3");
    assert_int_equal(world_pass(&w), 1);
    assert_non_null(world_task(&w, again, 0));
    world_object(&w, OBJECT_QOS, "normal", "usage_threshold=1");
    world_end(&w, other, 0);
    world_take(&w, world_job("bob"));
    world_set(&w, "AccountingStorageEnforce", "limits");
    assert_int_equal(world_pass(&w), 0);
    world_set(&w, "AccountingStorageEnforce", "qos"); /* a threshold is a limit */
    assert_int_equal(world_pass(&w), 1);
    world_release(&w);
}

static void resources_are_used_up_and_come_back(void **unused)
{
    (void)unused;
    struct world w;
    world_init(&w, 16, 100000, 0);
    world_object(&w, OBJECT_RESOURCE, "license", "amount=4");
    world_object(&w, OBJECT_RESOURCE, "bigio", "type=BOOL");
    world_object(&w, OBJECT_RESOURCE, "model", "type=STRING|amount=1");
    struct event job = world_job("ann");
    job.submit = job_with(job.submit, "requests=license=3,bigio,model=x");
    uint32_t first = world_take(&w, job), second = world_take(&w, job);
    job.submit = job_with(job.submit, "requests=license=1,model=x");
    uint32_t small = world_take(&w, job);
    job.submit = job_with(job.submit, "requests=bigio=true");
    uint32_t other = world_take(&w, job);
    char expected[TEXT_MAX];
    snprintf(expected, sizeof expected, "%u %u %u", first, small, other); /* second holds up no other job */
    assert_string_equal(world_starts(&w), expected);
    world_end(&w, small, 0);
    assert_int_equal(world_pass(&w), 0); /* 3 of 4 are taken */
    world_object(&w, OBJECT_RESOURCE, "license", "amount=6");
    assert_int_equal(world_pass(&w), 1);
    assert_non_null(world_task(&w, second, 0));
    world_object(&w, OBJECT_RESOURCE, "license", "amount=3"); /* less than is taken */
    world_end(&w, first, 0);
    job.submit = job_with(job.submit, "requests=license=1");
    world_take(&w, job);
    assert_int_equal(world_pass(&w), 0);
    world_object(&w, OBJECT_RESOURCE, "license", "amount=UNLIMITED");
    assert_int_equal(world_pass(&w), 1);
    world_release(&w);
}

static void ranges_of_slots_take_licenses_for_each(void **unused)
{
    (void)unused;
    struct world w;
    world_init(&w, 16, 100000, 0);
    world_object(&w, OBJECT_RESOURCE, "license", "amount=9");
    struct event job = world_job("ann");
    job.submit = job_with(job.submit, "cpus=2|slots_max=12|requests=license=2");
    uint32_t first = world_take(&w, job);
    job.submit = job_with(job.submit, "requests=");
    uint32_t second = world_take(&w, job), third = world_take(&w, job);
    assert_int_equal(world_pass(&w), 2);
    assert_int_equal(task_cpu_count(world_task(&w, first, 0)), 4);
    assert_int_equal(task_cpu_count(world_task(&w, second, 0)), 12);
    world_end(&w, first, 0);
    assert_int_equal(world_pass(&w), 1);
    assert_int_equal(task_cpu_count(world_task(&w, third, 0)), 4);
    world_release(&w);
}

static void a_task_is_billed_for_its_allocation(void **unused)
{
    (void)unused;
    struct world w;
    world_init(&w, 16, 100000, 4);
    world_settings(&w, "AccountingStorageTRES=gres/gpu,license/matlab");
    world_object(&w, OBJECT_PARTITION, "gpus", "TRESBillingWeights=CPU=1.5,Mem=1G,GRES/gpu=10,License/matlab=0.25");
    world_object(&w, OBJECT_QOS, "cheap", "usage_factor=0.5");
    world_object(&w, OBJECT_RESOURCE, "matlab", "amount=100");
    struct event job = world_job("ann");
    job.submit = job_with(job.submit, "cpus=2|gpus=3|mem_mib=512|slots_max=5");
    job.submit = job_with(job.submit, "partitions=gpus|qos=cheap|requests=matlab=2");
    uint32_t id = world_take(&w, job);
    assert_int_equal(world_pass(&w), 1);
    const struct task *k = world_task(&w, id, 0);
    struct buf tres = {0};
    tres_list_format(&w.s.policy.tres, &k->tres, &tres);
    assert_string_equal(tres.text, "cpu=5,mem=512,node=1,gres/gpu=3,license/matlab=10");
    assert_float_equal(k->billing, 5 * 1.5 + 512.0 / 1024 + 3 * 10 + 10 * 0.25, 1e-9);
    assert_float_equal(k->usage_factor, 0.5, 1e-9);
    assert_string_equal(partition_of(&w, id), "gpus");
    buf_release(&tres);
    uint32_t plain = world_take(&w, world_job("ann"));
    assert_int_equal(world_pass(&w), 1);
    assert_float_equal(world_task(&w, plain, 0)->billing, 1, 1e-9); /* without weights: its CPUs */
    world_release(&w);
}

/* --- the models --------------------------------------------------------------------------------------------------- */

/* Ann has waited longest, bea has the least usage, cat has the lowest nice value. */
struct three {
    struct world w;
    uint32_t blocker, ann, bea, cat;
};

static void three_init(struct three *x)
{
    x->blocker = init_full(&x->w, 1);
    world_settings(&x->w, "PriorityWeightFairshare=0");
    struct event job = world_job("ann");
    x->ann = world_take(&x->w, job);
    x->w.now_us += 3600 * SECOND;
    x->bea = world_take(&x->w, world_job("bea"));
    job = world_job("cat");
    job.submit = job_with(job.submit, "nice=-5");
    x->cat = world_take(&x->w, job);
    x->w.s.assocs.items[state_find_assoc(&x->w.s, "default", "ann")].usage = 2;
    x->w.s.assocs.items[state_find_assoc(&x->w.s, "default", "cat")].usage = 1;
    assert_int_equal(world_pass(&x->w), 0);
}

/* The job that starts first, by settings. Nothing else happens between the passes. */
static void a_setting_changes_the_order_at_the_next_pass(void **unused)
{
    (void)unused;
    const struct {
        const char *settings;
        char first;
    } rows[] = {
        {"PriorityWeightFairshare=0", 'c'},
        {"PriorityWeightFairshare=1000", 'b'},
        {"PriorityWeightAge=1000000", 'a'},
        {"PriorityType=priority/basic PriorityWeightFairshare=1000", 'c'},
        {"PriorityType=priority/tickets", 'a'},
        {"PriorityType=priority/tickets weight_waiting_time=-1", 'b'},
        {"PriorityType=priority/tickets weight_waiting_time=-1 weight_urgency=0", 'a'},
        {"PriorityType=priority/tickets weight_tickets_functional=1000 weight_urgency=0", 'b'},
        {"PriorityType=priority/multifactor PriorityWeightFairshare=1000", 'b'},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct three x;
        three_init(&x);
        print_message("# %s\n", rows[i].settings);
        world_object(&x.w, OBJECT_USER_POLICY, "bea", "fshare=10");
        world_end(&x.w, x.blocker, 0);
        x.w.s.pass_is_due = false;
        world_settings(&x.w, rows[i].settings);
        uint32_t expected = rows[i].first == 'a' ? x.ann : rows[i].first == 'b' ? x.bea : x.cat;
        if (i == 0) x.w.s.pass_is_due = true; /* no setting changes */
        assert_int_equal(world_pass(&x.w), 1);
        assert_non_null(world_task(&x.w, expected, 0));
        world_release(&x.w);
    }
}

static void the_tickets_model_ignores_tiers(void **unused)
{
    (void)unused;
    struct world w;
    uint32_t blocker = init_full(&w, 2);
    world_settings(&w, "PriorityType=priority/tickets");
    world_object(&w, OBJECT_PARTITION, "fast", "PriorityTier=9");
    uint32_t older = world_take(&w, world_job("ann"));
    w.now_us += SECOND;
    struct event job = world_job("ann");
    job.submit = job_with(job.submit, "partitions=fast,main");
    uint32_t newer = world_take(&w, job);
    world_end(&w, blocker, 0);
    char expected[TEXT_MAX];
    snprintf(expected, sizeof expected, "%u %u", older, newer);
    assert_string_equal(world_starts(&w), expected);
    assert_string_equal(partition_of(&w, newer), "fast"); /* the first partition of the request */
    world_release(&w);
}

/* The second task of an array has half the tickets of the first: another user's job comes between. */
static void each_task_of_an_array_has_tickets(void **unused)
{
    (void)unused;
    struct world w;
    uint32_t blocker = init_full(&w, 4);
    world_settings(&w, "PriorityType=priority/tickets weight_urgency=0 weight_tickets_functional=1000");
    world_object(&w, OBJECT_USER_POLICY, "ann", "fshare=100");
    world_object(&w, OBJECT_USER_POLICY, "bea", "fshare=100");
    struct event job = world_job("ann");
    job.submit = job_with(job.submit, "array=0-9");
    uint32_t array = world_take(&w, job), other = world_take(&w, world_job("bea"));
    world_end(&w, blocker, 0);
    char expected[TEXT_MAX];
    snprintf(expected, sizeof expected, "%u %u %u %u", array, other, array, array);
    assert_string_equal(world_starts(&w), expected);
    world_set(&w, "max_pending_tasks_per_job", "1"); /* one entry stands for all its tasks */
    for (uint32_t i = 0; i < 3; i++) world_end(&w, array, i);
    world_end(&w, other, 0);
    world_take(&w, world_job("bea"));
    snprintf(expected, sizeof expected, "%u %u %u %u", array, array, array, array);
    assert_string_equal(world_starts(&w), expected);
    world_release(&w);
}

/* A task has the same rank in every partition, so it starts in the first one that admits it, and no other task starts
 * in the second one. */
static void tasks_of_an_array_start_in_the_first_admitting_partition(void **unused)
{
    (void)unused;
    struct world w;
    uint32_t blocker = init_full(&w, 3);
    world_settings(&w, "PriorityType=priority/tickets weight_urgency=0 weight_tickets_functional=1000");
    world_object(&w, OBJECT_PARTITION, "short", "MaxTime=1");
    world_object(&w, OBJECT_PARTITION, "fast", "");
    world_object(&w, OBJECT_USER_POLICY, "ann", "fshare=100");
    world_object(&w, OBJECT_USER_POLICY, "bea", "fshare=100");
    struct event job = world_job("ann");
    job.submit = job_with(job.submit, "array=0-9");
    job.submit = job_with(job.submit, "partitions=short,fast,main");
    job.submit = job_with(job.submit, "time_limit_s=61");
    uint32_t array = world_take(&w, job), other = world_take(&w, world_job("bea"));
    world_end(&w, blocker, 0);
    char expected[TEXT_MAX];
    snprintf(expected, sizeof expected, "%u %u %u", array, other, array);
    assert_string_equal(world_starts(&w), expected);
    world_end(&w, other, 0);
    snprintf(expected, sizeof expected, "%u", array);
    assert_string_equal(world_starts(&w), expected); /* no other job waits */
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(world_task(&w, array, i)->partition, state_find_object(&w.s, OBJECT_PARTITION, "fast"));
    world_release(&w);
}

static void incr_only_keeps_the_highest_priority(void **unused)
{
    (void)unused;
    struct world w;
    uint32_t blocker = init_full(&w, 1);
    world_settings(&w, "PriorityFlags=INCR_ONLY PriorityWeightQOS=1000 PriorityWeightFairshare=0");
    world_object(&w, OBJECT_QOS, "high", "priority=100");
    struct event job = world_job("ann");
    uint32_t other = world_take(&w, job);
    job.submit = job_with(job.submit, "qos=high");
    uint32_t id = world_take(&w, job);
    assert_int_equal(world_pass(&w), 0); /* also without a free CPU */
    assert_int_equal(w.s.jobs.items[state_find_job(&w.s, id)].min_priorities[0].min, 1000);
    world_object(&w, OBJECT_QOS, "high", "priority=0");
    world_object(&w, OBJECT_QOS, "normal", "priority=1");
    assert_int_equal(world_pass(&w), 0);
    assert_int_equal(w.s.jobs.items[state_find_job(&w.s, other)].min_priorities[0].min, 1000);
    world_end(&w, blocker, 0);
    assert_int_equal(world_pass(&w), 1);
    assert_non_null(world_task(&w, other, 0)); /* both have 1000: the lower id */
    world_set(&w, "PriorityFlags", "");
    world_object(&w, OBJECT_QOS, "high", "priority=2");
    world_end(&w, other, 0);
    world_take(&w, world_job("ann"));
    assert_int_equal(world_pass(&w), 1);
    assert_non_null(world_task(&w, id, 0));
    world_release(&w);
}

/* --- CPU weights -------------------------------------------------------------------------------------------------- */

/* The weight that the last pass sent; 0: none. */
static uint32_t sent_weight(struct world *w, uint32_t job_id)
{
    uint32_t weight = 0;
    for (uint32_t i = 0; i < w->out.decisions.count; i++) {
        const struct decision *d = &w->out.decisions.items[i];
        if (d->kind == DECIDE_WEIGHT && d->job_id == job_id) weight = d->cpu_weight;
    }
    return weight;
}

static void tickets_of_running_jobs_determine_their_weights(void **unused)
{
    (void)unused;
    struct world w;
    world_init(&w, 4, 100000, 0);
    uint32_t ann = world_take(&w, world_job("ann"));
    assert_int_equal(world_pass(&w), 1);
    assert_int_equal(sent_weight(&w, ann), 0); /* other models do not set weights */
    world_settings(&w, "PriorityType=priority/tickets weight_tickets_functional=1000");
    assert_int_equal(world_pass(&w), 0);
    assert_int_equal(sent_weight(&w, ann), 0); /* no job has tickets, so the default weight stays */
    world_object(&w, OBJECT_USER_POLICY, "ann", "fshare=100");
    world_object(&w, OBJECT_USER_POLICY, "bea", "fshare=300");
    uint32_t bea = world_take(&w, world_job("bea"));
    assert_int_equal(world_pass(&w), 1);
    assert_int_equal(sent_weight(&w, ann), 50);
    assert_int_equal(sent_weight(&w, bea), 150);
    assert_int_equal(world_task(&w, bea, 0)->cpu_weight, 150);
    world_set(&w, "default_cpus", "2"); /* a pass that does not change the weights */
    assert_int_equal(world_pass(&w), 0);
    assert_int_equal(sent_weight(&w, ann), 0);
    world_object(&w, OBJECT_USER_POLICY, "ann", "fshare=0");
    world_pass(&w);
    assert_int_equal(sent_weight(&w, ann), 1); /* the minimum */
    assert_int_equal(sent_weight(&w, bea), 200);
    world_set(&w, "PriorityType", "priority/multifactor");
    world_pass(&w);
    assert_int_equal(sent_weight(&w, ann), 100);
    assert_int_equal(sent_weight(&w, bea), 100);
    w.s.pass_is_due = true;
    world_pass(&w);
    assert_int_equal(w.out.decisions.count, 0);
    world_release(&w);
}

/* The user who uses more than her share while both jobs run gets less, although nothing else happens. */
static void weights_follow_usage(void **unused)
{
    (void)unused;
    struct world w;
    world_init(&w, 4, 100000, 0);
    world_settings(&w, "PriorityType=priority/tickets weight_tickets_share=1000 SHARETREE_RESERVED_USAGE=true");
    uint32_t ann = world_take(&w, world_job("ann"));
    assert_int_equal(world_pass(&w), 1);
    assert_int_equal(state_next_due_us(&w.s), 0); /* one job does not need a weight */
    struct event large = world_job("bea");
    large.submit = job_with(large.submit, "cpus=3");
    uint32_t bea = world_take(&w, large);
    assert_int_equal(world_pass(&w), 1);
    world_run(&w, ann, 0);
    world_run(&w, bea, 0);
    assert_int_equal(world_task(&w, ann, 0)->cpu_weight, 100);
    assert_int_equal(state_next_due_us(&w.s), w.now_us + 60 * SECOND);
    w.now_us = state_next_due_us(&w.s);
    assert_int_equal(world_pass(&w), 0);
    assert_true(sent_weight(&w, ann) > 100);
    assert_true(sent_weight(&w, bea) < 100);
    world_release(&w);
}

static void sync(struct world *w, uint64_t launch_id)
{
    struct event synced = {.kind = EVENT_SYNCED, .synced = {&launch_id, 1, "boot-1", w->now_us, NULL}};
    assert_int_equal(world_apply(w, synced, NULL), 0);
}

/* A decision may have been lost when the launcher was killed, so that the keeper has an earlier weight. */
static void weights_are_sent_again_once_synced(void **unused)
{
    (void)unused;
    struct world w;
    world_init(&w, 4, 100000, 0);
    world_settings(&w, "PriorityType=priority/tickets weight_tickets_functional=1000");
    world_object(&w, OBJECT_USER_POLICY, "ann", "fshare=100");
    world_object(&w, OBJECT_USER_POLICY, "bea", "fshare=300");
    uint32_t ann = world_take(&w, world_job("ann"));
    world_take(&w, world_job("bea"));
    assert_int_equal(world_pass(&w), 2);
    assert_int_equal(sent_weight(&w, ann), 50);
    sync(&w, world_task(&w, ann, 0)->launch_id);
    assert_int_equal(world_pass(&w), 0);
    assert_int_equal(sent_weight(&w, ann), 50);
    world_set(&w, "PriorityType", "priority/multifactor");
    sync(&w, world_task(&w, ann, 0)->launch_id);
    world_pass(&w);
    assert_int_equal(sent_weight(&w, ann), 100);
    world_pass(&w);
    assert_int_equal(w.out.decisions.count, 0);
    world_release(&w);
}

/* Otherwise the first pass on a host that has room again has to take in all of them. */
static void changes_do_not_pile_up_on_a_full_host(void **unused)
{
    (void)unused;
    struct world w;
    enum { JOBS = 3000, PENDING_CHANGES_MAX = 1000 };
    uint32_t blocker = init_full(&w, 2), first = world_take(&w, world_job("ann"));
    for (uint32_t i = 1; i < JOBS; i++) {
        world_take(&w, world_job("ann"));
        if (i % 100 == 0) assert_int_equal(world_pass(&w), 0);
        assert_true(w.s.pending->touched.count < PENDING_CHANGES_MAX);
    }
    world_end(&w, blocker, 0);
    char expected[TEXT_MAX];
    snprintf(expected, sizeof expected, "%u %u", first, first + 1);
    assert_string_equal(world_starts(&w), expected);
    world_release(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tiers_then_priorities_then_ids),
        cmocka_unit_test(the_worked_example),
        cmocka_unit_test(jobs_in_several_partitions_start_once),
        cmocka_unit_test(a_time_limit_above_max_time_keeps_a_job_waiting),
        cmocka_unit_test(a_job_waits_for_its_begin),
        cmocka_unit_test(a_begin_does_not_matter_on_a_full_host),
        cmocka_unit_test(a_usage_threshold_keeps_heavy_users_waiting),
        cmocka_unit_test(resources_are_used_up_and_come_back),
        cmocka_unit_test(ranges_of_slots_take_licenses_for_each),
        cmocka_unit_test(a_task_is_billed_for_its_allocation),
        cmocka_unit_test(a_setting_changes_the_order_at_the_next_pass),
        cmocka_unit_test(the_tickets_model_ignores_tiers),
        cmocka_unit_test(each_task_of_an_array_has_tickets),
        cmocka_unit_test(tasks_of_an_array_start_in_the_first_admitting_partition),
        cmocka_unit_test(incr_only_keeps_the_highest_priority),
        cmocka_unit_test(tickets_of_running_jobs_determine_their_weights),
        cmocka_unit_test(weights_follow_usage),
        cmocka_unit_test(weights_are_sent_again_once_synced),
        cmocka_unit_test(changes_do_not_pile_up_on_a_full_host),
    };
    return cmocka_run_group_tests_name("pass", tests, NULL, NULL);
}
