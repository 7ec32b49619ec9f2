/* Laws of documents that are written from an instance, on random worlds.
 *
 *   1. The state that is read from the document has the same priorities, term by term, the same shares, and the same
 *      schedule: which tasks start, which get a reservation, where and when. Each model, arrays, ranges of slots,
 *      several hosts, numbers of nodes, features, queues, amounts for each slot, parallel environments, resources, load
 *      values, projects, usage, running tasks, minimum priorities.
 *   2. The document of that state is the same text, and jobs and tasks have the same values of all fields on which
 *      decisions depend; so have settings, objects and the host.
 *   3. The next pass of the instance starts what starts in the schedule of the document.
 *
 * Numbers are equal to the last bit. Every setting, every limit and every field of an object has had another value than
 * its default, so one that is added is found. */
#include "../pass_world.h"

#include "../dump_checks.h"

enum { WORLDS = 600 };

/* What the schedules of all worlds have, so that no law holds for want of it. */
struct plan_counts {
    uint32_t started, reserved, parallel;
    uint32_t on_hosts, of_slots; /* running tasks on several hosts; those of them with memory or GPUs for each slot */
};

/* --- random worlds ------------------------------------------------------------------------------------------------ */

static const char odd_name[] = "\xc3\xa9t\xc3\xa9.a@b\\[{%s}]";
static const char *const models[] = {"priority/multifactor", "priority/tickets", "priority/basic"};

/* Limits of the account above some users, and of one user in an account. */
static void add_limits(struct world *w, struct rng *rng)
{
    static const struct event_pair account[] = {{"GrpJobs", "80"},
                                                {"GrpSubmitJobs", "9000"},
                                                {"GrpWall", "90-0"},
                                                {"GrpTRES", "cpu=800,mem=900G"},
                                                {"MaxTRES", "cpu=700"},
                                                {"MaxTRESPerNode", "cpu=600"},
                                                {"QosLevel", "normal,high,picky"},
                                                {"DefaultQOS", "high"},
                                                {"MaxWall", "UNLIMITED"},
                                                {"GrpTRESMins", "cpu=9000000"}};
    static const struct event_pair user[] = {{"MaxJobs", "60"},
                                             {"MaxSubmitJobs", "8000"},
                                             {"MaxWall", "30-0"},
                                             {"MaxTRESMins", "cpu=800000"},
                                             {"GrpTRESRunMins", "cpu=9000000,billing=9000000"}};
    const struct event of_account = {
        .kind = EVENT_ACCOUNT_MODIFY,
        .account = {"physics", NULL, SHARES_UNSET, PRIORITY_UNSET, false, account, 1 + rng_below(rng, 10)}};
    const struct event of_user = {
        .kind = EVENT_USER_MODIFY,
        .user = {pass_users[0], "physics", SHARES_UNSET, false, PRIORITY_UNSET, false, user, 1 + rng_below(rng, 5)}};
    assert_int_equal(world_apply(w, of_account, NULL), 0);
    assert_int_equal(world_apply(w, of_user, NULL), 0);
}

static void add_associations(struct world *w, struct rng *rng)
{
    for (int i = 0; i < 4; i++) {
        uint32_t shares = rng_below(rng, 4) == 0 ? SHARES_PARENT : 1 + rng_below(rng, 30);
        world_user(w, i % 2 == 0 ? "physics" : odd_name, 1 + rng_below(rng, 50), pass_users[i]);
        struct event modify = {.kind = EVENT_USER_MODIFY,
                               .user = {pass_users[i], i % 2 == 0 ? "physics" : odd_name, shares, false,
                                        rng_below(rng, 2) ? PRIORITY_UNSET : rng_below(rng, 100)}};
        assert_int_equal(world_apply(w, modify, NULL), 0);
    }
    for (uint32_t i = rng_below(rng, 5); i < 4; i++) {
        const struct event of_main = {.kind = EVENT_USER_ADD,
                                      .user = {.name = pass_users[i],
                                               .account = i % 2 == 0 ? "physics" : odd_name,
                                               .shares = 1 + rng_below(rng, 9),
                                               .priority = PRIORITY_UNSET,
                                               .partition = "main"}};
        assert_int_equal(world_apply(w, of_main, NULL), 0);
    }
    if (rng_below(rng, 2)) add_limits(w, rng);
    world_user(w, "P1", 3, "ann"); /* the node of a project in the share tree */
    world_user(w, "empty", 3, "default");
}

static void add_cluster(struct world *w, struct rng *rng)
{
    world_object(w, OBJECT_HOST, "n2", "cpus=8|complex_values=tape=1");
    world_object(w, OBJECT_GROUP, "all", "hosts=localhost,n2");
    world_object(w, OBJECT_ENVIRONMENT, "smp", "slots=4");
    world_object(w, OBJECT_ENVIRONMENT, "wide", "allocation_rule=2");
    world_object(w, OBJECT_DEPARTMENT, "chem", "fshare=40");
    world_object(w, OBJECT_PARTITION, "odd@name", "hosts=@all|pe_list=smp|slots=4,[n2=2]|xuser_lists=cat,@chem");
    if (rng_below(rng, 2)) world_object(w, OBJECT_PARTITION, "heavy", "slots=3|TRESBillingWeights=CPU=1.1,Mem=0.3");
    if (rng_below(rng, 3) == 0) world_object(w, OBJECT_PARTITION, "fast", "state=DRAIN");
    world_object(w, OBJECT_RESOURCE, "arch", "type=STRING|relop===|consumable=NO");
    world_object(w, OBJECT_PROJECT, "P1", "fshare=20|oticket=3");
    world_object(w, OBJECT_PROJECT, "P2\\n&\x7e#", "");
    if (rng_below(rng, 2)) world_object(w, OBJECT_USER_POLICY, "bob", "department=chem|deadline=true|oticket=7");
}

/* Values that the machine reports; some are no values of a resource. */
static void report_loads(struct world *w, struct rng *rng)
{
    static const char *const loads[] = {"0", "2.25", "6"}, *const free[] = {"1G", "2048.5M", "4G"};
    const struct host_load values[] = {
        {"load_avg", loads[rng_below(rng, 3)]}, {"num_proc", rng_below(rng, 2) ? "8" : "3"},
        {"mem_free", free[rng_below(rng, 3)]},  {"arch", rng_below(rng, 3) ? "a" : "b"},
        {"odd \"name\"", "not a number"},       {"tape", "x"}};
    struct event event = {.kind = EVENT_LOAD, .load = {.values = values, .count = 6 - rng_below(rng, 3)}};
    assert_int_equal(world_apply(w, event, NULL), 0);
    event.load.host = "n2";
    uint32_t n2 = state_find_object(&w->s, OBJECT_HOST, "n2");
    if (n2 != NONE && w->s.hosts.items[n2].is_attached && rng_below(rng, 2))
        assert_int_equal(world_apply(w, event, NULL), 0);
}

/* What plans depend on beside the cluster. */
static void set_plan_rules(struct world *w, struct rng *rng)
{
    static const char *const settings[] = {
        "reservation_depth=2",
        "max_reservation=5",
        "reservations=all",
        "reservations=requested",
        "reservations=none",
        "bf_window=30",
        "bf_resolution=300",
        "bf_max_job_test=3",
        "bf_max_job_user=1",
        "queue_sort_method=seqno",
        "queue_sort_method=share",
        "load_formula=slots-np_load_avg*2",
        "job_load_adjustments=np_load_avg=0.2",
        "load_adjustment_decay_time=1200",
        "params=MONITOR=1,DURATION_OFFSET=33",
        "schedule_interval=77",
    };
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        if (rng_below(rng, 4) == 0) world_settings(w, settings[i]);
    if (rng_below(rng, 2)) world_object(w, OBJECT_PARTITION, "odd@name", "load_thresholds=np_load_avg=0.7|seq_no=4");
    if (rng_below(rng, 2)) world_object(w, OBJECT_PARTITION, "main", "pe_list=smp wide|seq_no=2,[localhost=7]");
    if (rng_below(rng, 4) == 0) world_object(w, OBJECT_HOST, "localhost", "load_scaling=np_load_avg=0.5,mem_free=0.5");
    if (rng_below(rng, 4) == 0) world_object(w, OBJECT_HOST, "localhost", "complex_values=tape=1");
    if (rng_below(rng, 4) == 0) world_object(w, OBJECT_HOST, "n2", "state=DRAIN");
    if (rng_below(rng, 4) == 0) world_object(w, OBJECT_PARTITION, "main", "QOS=high");
    if (rng_below(rng, 4) == 0) {
        world_object(w, OBJECT_QOS, "high", "GrpJobs=70|GrpSubmitJobs=9000|GrpWall=600000|GrpTRES=cpu=900");
        world_object(w, OBJECT_QOS, "high", "GrpTRESMins=cpu=9000000|GrpTRESRunMins=cpu=9000000|MaxJobsPerUser=90");
        world_object(w, OBJECT_QOS, "high", "MaxJobsPerAccount=90|MaxSubmitJobsPerUser=9000|MaxWall=90000");
        world_object(w, OBJECT_QOS, "high", "MaxSubmitJobsPerAccount=9000|MaxTRES=cpu=900|MaxTRESPerNode=cpu=900");
        world_object(w, OBJECT_QOS, "high", "MaxTRESPerUser=cpu=900|MaxTRESPerAccount=cpu=900|MinTRES=cpu=1");
        world_object(w, OBJECT_QOS, "high", "MaxTRESMins=cpu=9000000");
    }
}

static void set_rules(struct world *w, struct rng *rng, uint32_t model)
{
    static const char *const flags[] = {"NONE",          "CALCULATE_RUNNING", "INCR_ONLY,CALCULATE_RUNNING",
                                        "ACCRUE_ALWAYS", "NO_FAIR_TREE",      "DEPTH_OBLIVIOUS,SMALL_RELATIVE_TO_TIME"};
    const char *flag = flags[rng_below(rng, 6)];
    world_set(w, "PriorityType", models[model]);
    if (strcmp(flag, "NONE") != 0) world_set(w, "PriorityFlags", flag);
    if (rng_below(rng, 2)) world_set(w, "AccountingStorageTRES", "gres/gpu,license/license");
    if (rng_below(rng, 2)) world_set(w, "SHARETREE_RESERVED_USAGE", "true");
    if (rng_below(rng, 2)) world_set(w, "urgency_slots", "max");
    if (rng_below(rng, 3) == 0) world_set(w, "enforce_user", "none");
    world_set(w, "PriorityWeightJobSize", "333");
    world_set(w, "PriorityWeightAssoc", "77");
}

static void make_world(struct world *w, struct rng *rng, uint32_t model)
{
    pass_world_make(w, rng);
    set_rules(w, rng, model);
    add_cluster(w, rng);
    add_associations(w, rng);
    set_plan_rules(w, rng);
    if (rng_below(rng, 2)) pass_world_add_hosts(w, rng);
    world_object(w, OBJECT_HOST, "localhost", "features=avx,ssd");
    world_object(w, OBJECT_HOST, "n2", rng_below(rng, 2) ? "features=avx" : "features=ssd amx");
}

/* A job that says on how many hosts it is, which ones, and what each slot takes. */
static void submit_spread(struct world *w, struct rng *rng)
{
    static const char *const constraints[] = {"avx", "avx&ssd", "amx"};
    static const char *const nodes[] = {"2", "1-3", "2-4"};
    static const char *const queues[] = {"main", "*@localhost,*@n2", "main@@all,heavy"};
    struct event job = world_job(pass_users[rng_below(rng, 4)]);
    struct job_values values = *job.submit;
    values.is_given[JOB_FIELD_MEM_MIB] = values.is_given[JOB_FIELD_CPUS] = false;
    uint32_t cpus = 2 * (1 + rng_below(rng, 2));
    job.submit = job_with(&values, "time_limit_s=%u|nodes=%s", 60 * (1 + rng_below(rng, 40)), nodes[rng_below(rng, 3)]);
    if (rng_below(rng, 4)) job.submit = job_with(job.submit, "cpus=%u", cpus);
    if (rng_below(rng, 3) == 0) job.submit = job_with(job.submit, "slots_per_node=%u", 1 + rng_below(rng, 2));
    if (rng_below(rng, 3) == 0) job.submit = job_with(job.submit, "slots_max=%u", cpus + 2);
    if (rng_below(rng, 3) == 0) job.submit = job_with(job.submit, "constraint=%s", constraints[rng_below(rng, 3)]);
    if (rng_below(rng, 3) == 0) job.submit = job_with(job.submit, "queues=%s", queues[rng_below(rng, 3)]);
    if (rng_below(rng, 3) == 0) job.submit = job_with(job.submit, "soft=tape=1,arch=b|soft_queues=*@n2");
    job.submit = job_with(job.submit, rng_below(rng, 2) ? "mem_per_cpu_mib=%u" : "mem_mib=%u", 1 + rng_below(rng, 20));
    if (rng_below(rng, 4) == 0) job.submit = job_with(job.submit, "gpus_per_slot=1|cpus=2");
    if (rng_below(rng, 4) == 0) job.submit = job_with(job.submit, "array=1-3");
    if (rng_below(rng, 2)) job.submit = job_with(job.submit, "reserve=true");
    (void)world_apply(w, job, NULL);
}

/* A job in a parallel environment, or with a request for a load value; refused where it could never run, or where the
 * value is not reported. */
static void submit_placed(struct world *w, struct rng *rng)
{
    static const char *const requests[] = {"mem_free=2G", "arch=a", "np_load_avg=0.5", "tape=1,arch=b"};
    struct event job = world_job(pass_users[rng_below(rng, 4)]);
    uint32_t cpus = 1 + rng_below(rng, 4);
    job.submit = job_with(job.submit, "cpus=%u|time_limit_s=%u", cpus, 60 * (1 + rng_below(rng, 40)));
    job.submit = job_with(job.submit, "partitions=%s", rng_below(rng, 2) ? "main,odd@name" : "odd@name");
    if (rng_below(rng, 2)) job.submit = job_with(job.submit, "requests=%s", requests[rng_below(rng, 4)]);
    if (rng_below(rng, 2)) job.submit = job_with(job.submit, "pe=%s", rng_below(rng, 3) ? "smp" : "wide");
    if (rng_below(rng, 3) == 0) job.submit = job_with(job.submit, "slots_max=%u", cpus + 2);
    if (rng_below(rng, 3) == 0) job.submit = job_with(job.submit, "array=1-4");
    if (rng_below(rng, 2)) job.submit = job_with(job.submit, "reserve=true");
    (void)world_apply(w, job, NULL);
}

static void hold_or_release(struct world *w, const struct job *j)
{
    const struct job_ref ref = {j->id, NONE};
    struct event event = {.kind = j->is_held ? EVENT_RELEASE : EVENT_HOLD, .jobs = {.refs = &ref, .count = 1}};
    assert_int_equal(world_apply(w, event, NULL), 0);
}

/* Holds, releases and changes some jobs. */
static void change_some(struct world *w, struct rng *rng)
{
    for (uint32_t i = 0; i < w->s.jobs.count; i++) {
        const struct job *j = &w->s.jobs.items[i];
        if (rng_below(rng, 6) != 0 || j->ended_us != 0) continue;
        if (rng_below(rng, 2) && idset_first(&j->pending) != NONE) hold_or_release(w, j);
        const struct job_values *values =
            rng_below(rng, 2) ? job_text("comment=odd \\ \" %u|site=%u", i, rng_below(rng, 50))
                              : job_text("posix_priority=%u|job_share=%u|set_priority=%u", rng_below(rng, 9),
                                         rng_below(rng, 99), 1 + rng_below(rng, 5000));
        assert_int_equal(world_apply(w, world_update(j->id, values), NULL), 0);
    }
}

static void run_world(struct world *w, struct rng *rng)
{
    static const char *const projects[] = {"", "P1", "P2\\n&\x7e#"};
    for (int round = 0; round < 6; round++) {
        for (uint32_t i = rng_below(rng, 6); i > 0; i--)
            pass_world_submit(w, rng, pass_users[rng_below(rng, 4)], projects[rng_below(rng, 3)]);
        if (rng_below(rng, 2)) report_loads(w, rng);
        if (rng_below(rng, 4) == 0) pass_world_add_calendars(w, rng);
        if (rng_below(rng, 12) == 0) pass_world_set_quotas(w, rng, false);
        if (rng_below(rng, 16) == 0) pass_world_set_job_limits(w, rng);
        for (uint32_t i = rng_below(rng, 3); i > 0; i--) submit_placed(w, rng);
        for (uint32_t i = rng_below(rng, 4); i > 0; i--) submit_spread(w, rng);
        world_pass(w);
        w->now_us += 1 + rng_below(rng, 900 * SECOND);
        change_some(w, rng);
        pass_world_end_some(w, rng);
    }
    if (rng_below(rng, 2)) world_pass(w);
    if (rng_below(rng, 3) == 0) { /* below what its tasks have */
        const struct event shrink = {.kind = EVENT_HOST, .host.has = {1 + rng_below(rng, 6), rng_below(rng, 2), 150}};
        assert_int_equal(world_apply(w, shrink, NULL), 0);
    }
    if (rng_below(rng, 3) == 0 && state_find_object(&w->s, OBJECT_HOST, "n2") != NONE) { /* its tasks stay */
        const struct event down = {.kind = EVENT_HOST,
                                   .host = {.has = {4, 0, 100}, .name = "n2", .report = HOST_REPORT_DOWN}};
        assert_int_equal(world_apply(w, down, NULL), 0);
    }
    if (rng_below(rng, 2)) world_object(w, OBJECT_PARTITION, "heavy", "TRESBillingWeights=CPU=0.7");
    if (rng_below(rng, 4) == 0) world_set(w, "AccountingStorageTRES", "gres/gpu,license/license,license/tape");
    if (rng_below(rng, 8) == 0) world_object(w, OBJECT_HOST, "localhost", "state=DRAIN");
    if (rng_below(rng, 8) == 0) world_object(w, OBJECT_HOST, "n2", "features=NONE");
    if (rng_below(rng, 4) == 0) { /* unless it has jobs; some name it as a queue */
        const struct event delete = {.kind = EVENT_OBJECT_DELETE, .object = {OBJECT_PARTITION, "heavy", NULL, 0}};
        (void)world_apply(w, delete, NULL);
    }
}

/* --- there and back ----------------------------------------------------------------------------------------------- */

/* Whether the order of several hosts depends on the tickets that they have, which a schedule counts and a pass does
 * not. */
static bool is_by_share(const struct state *s)
{
    uint32_t hosts = 0;
    for (uint32_t i = 0; i < s->hosts.count; i++) hosts += s->hosts.items[i].is_attached;
    return hosts > 1 && setting_number(&s->settings, SET_GE_QUEUE_SORT) == QUEUE_SORT_SHARE;
}

/* A document has no deleted partitions, so its indices are other ones. */
static const char *name_of_partition(const struct state *s, uint32_t partition)
{
    return s->objects[OBJECT_PARTITION].items[partition].object.name;
}

/* Law 3. Counts what is planned. */
static void check_pass(struct world *w, struct state *read, struct plan_counts *io_counts)
{
    struct schedule p;
    uint32_t starting = 0;
    if (is_by_share(&w->s)) return;
    assert_int_equal(schedule_make(read, w->now_us, SCHEDULE_WITHOUT_ESTIMATES, &p, NULL), 0);
    w->s.pass_is_due = true;
    uint32_t started = world_pass(w);
    for (uint32_t i = 0; i < p.rows.count; i++) {
        const struct schedule_row *row = &p.rows.items[i];
        io_counts->reserved += row->state == SCHEDULE_RESERVED;
        io_counts->parallel += row->state != SCHEDULE_WAITING && row->allocation.environment != NONE;
        if (row->state != SCHEDULE_STARTING) continue;
        const struct task *k = world_task(w, read->jobs.items[row->job].id, row->task_id);
        starting++;
        assert_non_null(k);
        assert_int_equal(k->launch_us, w->now_us);
        assert_string_equal(name_of_partition(&w->s, k->partition),
                            name_of_partition(read, p.model.partition_of[row->allocation.parts[0].instance]));
        assert_int_equal(task_cpu_count(k), row->allocation.slots);
    }
    assert_int_equal(starting, started);
    io_counts->started += started;
    schedule_release(&p);
}

static void count_running(const struct state *s, struct plan_counts *io_counts)
{
    for (uint32_t i = 0; i < s->tasks.count; i++) {
        const struct task *k = &s->tasks.items[i];
        if (job_state_is_end(k->state) || k->placement_count < 2) continue;
        const struct job_placing *p = s->jobs.items[state_find_job(s, k->job_id)].placing;
        io_counts->on_hosts++;
        io_counts->of_slots += p != NULL && (p->mem_mib_per_cpu > 0 || p->gpus_per_slot > 0);
    }
}

static void check_world(struct world *w, struct plan_counts *io_counts)
{
    struct scenario read;
    dump_checks_read(&w->s, w->now_us, &read);
    count_running(&read.state, io_counts);
    check_pass(w, &read.state, io_counts);
    scenario_release(&read);
}

static void documents_answer_as_the_instance(void **unused)
{
    (void)unused;
    struct plan_counts counts = {0};
    for (uint64_t seed = 1; seed <= WORLDS; seed++) {
        struct rng rng = {.state = seed};
        struct world w;
        make_world(&w, &rng, (uint32_t)(seed % 3));
        run_world(&w, &rng);
        check_world(&w, &counts);
        world_release(&w);
    }
    print_message("# %u starts, %u reservations, %u parallel, %u running on several hosts in %d worlds\n",
                  counts.started, counts.reserved, counts.parallel, counts.on_hosts, WORLDS);
    assert_true(counts.started > WORLDS / 4 && counts.reserved > WORLDS / 2 && counts.parallel > WORLDS / 4);
    assert_true(counts.on_hosts > WORLDS / 5 && counts.of_slots > WORLDS / 10);
}

static void an_empty_instance_is_a_document(void **unused)
{
    (void)unused;
    struct world w;
    struct plan_counts counts = {0};
    world_init(&w, 1, 1, 0);
    check_world(&w, &counts);
    world_release(&w);
}

/* A job that a limit keeps back for ever: its schedule says so, and names the limit. */
static void a_lasting_limit_is_named_in_both(void **unused)
{
    (void)unused;
    static const struct event_pair limits[] = {{"GrpTRESMins", "cpu=10"}};
    const struct event limit = {.kind = EVENT_ACCOUNT_MODIFY,
                                .account = {"physics", NULL, SHARES_UNSET, PRIORITY_UNSET, false, limits, 1}};
    struct world w;
    struct buf schedule = {0};
    struct plan_counts counts = {0};
    world_init(&w, 4, 1024, 0);
    world_user(&w, "physics", 1, "alice");
    assert_int_equal(world_apply(&w, limit, NULL), 0);
    (void)world_submit(&w, "alice", "physics", 4); /* for longer than 2.5 minutes */
    assert_int_equal(world_pass(&w), 0);
    dump_checks_write_schedule(&w.s, w.now_us, &schedule);
    assert_non_null(strstr(schedule.text, "can never run: "));
    assert_non_null(strstr(schedule.text, "(AssocGrpCPUMinutesLimit)"));
    check_world(&w, &counts);
    buf_release(&schedule);
    world_release(&w);
}

/* --- every setting and field -------------------------------------------------------------------------------------- */

/* Values of texts with a form of their own. */
static const char *text_of(const struct field *f)
{
    static const char *const texts[][2] = {
        {"PriorityFlags", "NO_FAIR_TREE"},
        {"PriorityWeightTRES", "cpu=10"},
        {"AccountingStorageTRES", "gres/gpu,license/x"},
        {"policy_hierarchy", "SF"},
        {"halflife_decay_list", "cpu=1440:mem=-1"},
        {"usage_weight_list", "cpu=0.5,mem=0.5"},
        {"load_sensor", "/bin/true"},
        {"submit_hook", "/bin/true"},
        {"operator_group", "staff"},
        {"administrator_group", "wheel"},
        {"private_data", "jobs,users"},
        {"outside_jobs_exempt", "backup,@staff"},
        {"urgency_slots", "avg"},
        {"load_formula", "slots"},
        {"job_load_adjustments", "NONE"},
        {"params", "MONITOR=1"},
        {"TRESBillingWeights", "CPU=1.5"},
        {"slots", "3,[n2=2]"},
        {"seq_no", "4"},
        {"complex_values", "tape=2"},
        {"load_thresholds", "np_load_avg=2"},
        {"load_scaling", "np_load_avg=2"},
        {"state", "DRAIN"},
        {"hosts", "localhost"},
        {"pe_list", "smp"},
        {"user_lists", "ann"},
        {"xuser_lists", "@chem"},
        {"flags", "NoDecay"},
        {"department", "chem"},
        {"default_amount", "2"},
        {"allocation_rule", "$fill_up"},
        {"features", "avx,ssd"},
        {"description", "for all"},
        {"rules", "limit users {*} to slots=1"},
        {"QOS", "normal"},
        {"QosLevel", "normal"},
        {"DefaultQOS", "normal"},
        {"AllowAccounts", "root"},
        {"DenyAccounts", "root"},
        {"AllowQos", "normal"},
        {"DenyQos", "normal"},
        {"AccountingStorageEnforce", "limits"},
    };
    if (f->is_tres) return "cpu=500";
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (strcmp(texts[i][0], f->name) == 0) return texts[i][1];
    return "";
}

static int count_values(const struct field *f)
{
    int choices = 1;
    if (field_is_text(f)) return 1;
    if (f->type != FIELD_CHOICE) return 4;
    for (const char *comma = strchr(f->choices, ','); comma != NULL; comma = strchr(comma + 1, ',')) choices++;
    return choices;
}

/* Formats one of the field's values. */
static const char *format_value(const struct field *f, int i, struct buf *out)
{
    const double numbers[] = {f->min, f->max, f->min + 1.0, FIELD_SPECIAL}, reals[] = {f->min, f->max, 0.1, 1.0};
    struct field_value value = {.text = text_of(f)};
    if (f->type == FIELD_REAL)
        value.real = reals[i];
    else if (!field_is_text(f))
        value.number = f->type == FIELD_CHOICE ? i : (int64_t)numbers[i];
    buf_clear(out);
    buf_add_text(out, "");
    field_format(f, &value, out);
    return out->text;
}

static void world_of_fields(struct world *w)
{
    world_init(w, 4, 100, 1);
    world_object(w, OBJECT_HOST, "n2", "");
    world_object(w, OBJECT_ENVIRONMENT, "smp", "");
    world_object(w, OBJECT_RESOURCE, "tape", "");
    world_object(w, OBJECT_DEPARTMENT, "chem", "");
}

/* Whether the value was accepted, and is not the default. */
static bool try_setting(enum setting which, const char *text)
{
    struct world w;
    struct plan_counts counts = {0};
    const struct settings defaults = settings_defaults();
    const struct event_pair pair = {settings_table[which].name, text};
    world_of_fields(&w);
    bool is_set = world_apply(&w, (struct event){.kind = EVENT_SETTINGS, .settings = {&pair, 1}}, NULL) == 0;
    is_set &= !field_equal(&settings_table[which], &w.s.settings.value[which], &defaults.value[which]);
    check_world(&w, &counts);
    world_release(&w);
    return is_set;
}

static bool try_field(enum object_kind kind, uint32_t f, const char *text)
{
    struct world w;
    struct plan_counts counts = {0};
    const struct field *field = &object_classes[kind].fields[f];
    const struct object defaults = object_defaults(kind, "x");
    struct event_pair pair = {field->name, text};
    world_of_fields(&w);
    const struct event event = {.kind = EVENT_OBJECT_ADD, .object = {kind, "x", &pair, 1}};
    bool is_set = world_apply(&w, event, NULL) == 0;
    if (is_set)
        is_set = !field_equal(field, &w.s.objects[kind].items[w.s.objects[kind].count - 1].object.value[f],
                              &defaults.value[f]);
    check_world(&w, &counts);
    world_release(&w);
    return is_set;
}

static bool try_limit(uint32_t limit, const char *text)
{
    struct world w;
    struct plan_counts counts = {0};
    const struct field *f = field_at(&limit_fields, limit);
    const struct event_pair pair = {f->name, text};
    world_of_fields(&w);
    const struct event event = {.kind = EVENT_USER_ADD,
                                .user = {"ann", NULL, SHARES_UNSET, false, PRIORITY_UNSET, false, &pair, 1}};
    bool is_set = world_apply(&w, event, NULL) == 0;
    if (is_set)
        is_set = !field_equal(f, &assoc_limits_of(&w.s.assocs.items[w.s.assocs.count - 1])[limit], &f->default_value);
    check_world(&w, &counts);
    world_release(&w);
    return is_set;
}

static void documents_have_every_limit(void **unused)
{
    (void)unused;
    struct buf text = {0};
    for (uint32_t limit = 0; limit < limit_fields.count; limit++) {
        const struct field *f = field_at(&limit_fields, limit);
        bool is_set = false;
        for (int i = 0; i < count_values(f); i++) is_set |= try_limit(limit, format_value(f, i, &text));
        if (!is_set) fail_msg("%s has had its default value only", f->name);
    }
    buf_release(&text);
}

static void documents_have_every_setting(void **unused)
{
    (void)unused;
    struct buf text = {0};
    for (int s = 0; s < SETTING_COUNT; s++) {
        bool is_set = false;
        for (int i = 0; i < count_values(&settings_table[s]); i++)
            is_set |= try_setting((enum setting)s, format_value(&settings_table[s], i, &text));
        if (!is_set) fail_msg("%s has had its default value only", settings_table[s].name);
    }
    buf_release(&text);
}

static void documents_have_every_field(void **unused)
{
    (void)unused;
    struct buf text = {0};
    for (int kind = 0; kind < OBJECT_KIND_COUNT; kind++) {
        for (uint32_t f = 0; f < object_classes[kind].field_count; f++) {
            const struct field *field = &object_classes[kind].fields[f];
            bool is_set = false;
            for (int i = 0; i < count_values(field); i++)
                is_set |= try_field((enum object_kind)kind, f, format_value(field, i, &text));
            if (!is_set) fail_msg("%s of %s has had its default value only", field->name, object_classes[kind].name);
        }
    }
    buf_release(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(documents_answer_as_the_instance), cmocka_unit_test(an_empty_instance_is_a_document),
        cmocka_unit_test(a_lasting_limit_is_named_in_both), cmocka_unit_test(documents_have_every_setting),
        cmocka_unit_test(documents_have_every_field),       cmocka_unit_test(documents_have_every_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
