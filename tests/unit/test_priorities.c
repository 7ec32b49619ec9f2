/* Priorities of live jobs: the engine passes the right input to the policies. The policies have tests of their own;
 * here the results are compared with recorded ones, and with those of direct calls of the policies. */
#include "priorities_world.h"

static const char *partition_name(struct world *w, const struct priority_row *row)
{
    return w->s.objects[OBJECT_PARTITION].items[row->partition].object.name;
}

/* --- multifactor -------------------------------------------------------------------------------------------------- */

/* 10000 + 0.625 x 500 + 10/50 x 1000 + 4/16 x 1000 + 8/64 x 200 + 1/4 x 3000: a case of Slurm 22.05.8. */
static void the_sum_matches_the_recorded_case(void **unused)
{
    (void)unused;
    struct world w;
    init_full(&w);
    world_settings(&w, "PriorityWeightFairshare=10000 PriorityWeightJobSize=500 PriorityWeightPartition=1000 "
                       "PriorityWeightTRES=cpu=1000,mem=200,gres/gpu=3000");
    world_object(&w, OBJECT_PARTITION, "batch", "PriorityJobFactor=10|TRESBillingWeights=CPU=1.0,Mem=0.25G");
    world_object(&w, OBJECT_PARTITION, "fast", "PriorityJobFactor=50");
    struct event job = world_job("ann");
    job.submit = job_with(job.submit, "cpus=4|gpus=1|mem_mib=8192|partitions=batch,fast");
    uint32_t id = world_take(&w, job);
    struct priority_row batch = row_of(&w, id, 0), fast = row_of(&w, id, 1);
    near(batch.terms.fair_share, 10000);
    near(batch.terms.job_size, 312.5);
    near(batch.terms.partition, 200);
    near(batch.terms.tres, 1025);
    near(batch.terms.sum, 11537.5);
    near(batch.priority, 11537);
    near(fast.priority, 12337);
    assert_string_equal(partition_name(&w, &batch), "batch");
    assert_string_equal(partition_name(&w, &fast), "fast");
    batch = row_of(&w, id, 0);
    near(batch.tres_terms[TRES_CPU], 250);
    near(batch.tres_terms[TRES_MEM], 25);
    near(batch.tres_terms[tres_find(&w.s.policy.tres, str("gres/gpu"))], 750);
    near(batch.billing, 4 + 8 * 0.25);
    near(fast.billing, 4);
    world_release(&w);
}

/* The terms of a job from a direct call of the policy. */
static struct multifactor_terms terms_from_policy(struct world *w, const struct job *j, double fair_share,
                                                  int64_t accrue_us, uint32_t assoc_priority, uint32_t qos_priority)
{
    const double totals[TRES_MAX] = {[TRES_CPU] = 16, [TRES_MEM] = 65536, [TRES_NODE] = 1};
    struct multifactor_partition partition = {1, -1, totals};
    struct multifactor_cluster c = {.now_us = w->now_us,
                                    .nodes = 1,
                                    .cpus = 16,
                                    .assoc_priority_max = 40,
                                    .qos_priority_max = 20,
                                    .job_factor_max = 1,
                                    .partitions = &partition};
    struct tres_amount items[] = {{TRES_CPU, j->request.cpus}, {TRES_MEM, (double)j->request.mem_mib}, {TRES_NODE, 1}};
    struct multifactor_job input = {.assoc_priority = assoc_priority,
                                    .qos_priority = qos_priority,
                                    .cpus = j->request.cpus,
                                    .nodes = 1,
                                    .time_limit_s = j->time_limit_s,
                                    .accrue_us = accrue_us,
                                    .nice = j->nice,
                                    .site = j->site,
                                    .fair_share = fair_share,
                                    .tres = {items, 3}};
    struct multifactor_terms terms;
    multifactor_terms(&w->s.policy.multifactor, &c, &input, &terms);
    return terms;
}

/* Compares bits, except for the padding at the end. */
static void same_terms(const struct multifactor_terms *a, const struct multifactor_terms *b)
{
    assert_memory_equal(a, b, offsetof(struct multifactor_terms, priority));
    assert_int_equal(a->priority, b->priority);
}

static void set_account(struct world *w, const char *name, const char *parent, uint32_t priority)
{
    struct event event = {.kind = EVENT_ACCOUNT_ADD, .account = {name, parent, 1, priority}};
    assert_int_equal(world_apply(w, event, NULL), 0);
}

static const char all_weights[] =
    "PriorityWeightAge=1000 PriorityWeightAssoc=900 PriorityWeightFairshare=800 PriorityWeightJobSize=700 "
    "PriorityWeightPartition=600 PriorityWeightQOS=500 PriorityWeightTRES=cpu=400,mem=300,node=200";

static void every_term_agrees_with_the_policy(void **unused)
{
    (void)unused;
    struct world w;
    init_full(&w);
    world_settings(&w, all_weights);
    world_object(&w, OBJECT_QOS, "high", "priority=20");
    world_object(&w, OBJECT_QOS, "normal", "priority=5");
    set_account(&w, "a", NULL, 30);
    set_account(&w, "b", "a", PRIORITY_UNSET);
    set_account(&w, "c", "b", 10);
    set_account(&w, "gone", NULL, 1000);
    assert_int_equal(world_apply(&w, (struct event){.kind = EVENT_ACCOUNT_DELETE, .account = {.name = "gone"}}, NULL),
                     0);
    set_user(&w, "in_b", "b", PRIORITY_UNSET);
    set_user(&w, "in_c", "c", PRIORITY_UNSET);
    set_user(&w, "own", "c", 40);
    const struct {
        const char *user, *qos;
        uint32_t assoc_priority, qos_priority;
        int32_t nice, site;
    } rows[] = {{"in_b", "high", 30, 20, 100, 0},
                {"in_c", "normal", 10, 5, 0, -50},
                {"own", "high", 40, 20, -3, 9},
                {"else", "normal", 0, 5, 0, 0}};
    int64_t submit_us = w.now_us;
    uint32_t ids[4];
    for (size_t i = 0; i < 4; i++) {
        struct event job = world_job(rows[i].user);
        job.submit = job_with(job.submit, "cpus=%zu|mem_mib=%zu|qos=%s|nice=%d|site=%d", i + 1, 100 * (i + 1),
                              rows[i].qos, rows[i].nice, rows[i].site);
        ids[i] = world_take(&w, job);
    }
    w.now_us += 86400 * SECOND;
    for (size_t i = 0; i < 4; i++) {
        struct priority_row row = row_of(&w, ids[i], 0);
        uint32_t node = w.s.node_of.items[w.s.jobs.items[row.job].assoc];
        double factor = state_factors(&w.s, w.now_us, &arena)[node];
        struct multifactor_terms expected = terms_from_policy(&w, &w.s.jobs.items[row.job], factor, submit_us,
                                                              rows[i].assoc_priority, rows[i].qos_priority);
        print_message("# %s: %u\n", rows[i].user, expected.priority);
        same_terms(&row.terms, &expected);
        near(row.priority, expected.priority);
        near(row.factors.age, 1.0 / 7);
        near(row.factors.fair_share, factor);
    }
    world_release(&w);
}

static void age_counts_from_release_or_always_from_submission(void **unused)
{
    (void)unused;
    struct world w;
    init_full(&w);
    world_settings(&w, "PriorityWeightAge=7000 PriorityWeightFairshare=0");
    uint32_t waits = world_take(&w, world_job("ann"));
    struct event job = world_job("ann");
    job.submit = job_with(job.submit, "held=yes");
    uint32_t held_job = world_take(&w, job);
    job.submit = job_with(job.submit, "held=no");
    job.submit = job_with(job.submit, "begin_us=%lld", (long long)(w.now_us + 2 * 86400 * SECOND));
    uint32_t begins = world_take(&w, job);
    w.now_us += 86400 * SECOND;
    near(row_of(&w, waits, 0).priority, 1000);
    near(row_of(&w, held_job, 0).priority, 0);
    near(row_of(&w, begins, 0).priority, 1);
    world_set(&w, "PriorityFlags", "ACCRUE_ALWAYS");
    near(row_of(&w, waits, 0).priority, 1000);
    near(row_of(&w, begins, 0).priority, 1000);
    struct job_ref ref = {held_job, NONE};
    assert_int_equal(world_apply(&w, (struct event){.kind = EVENT_RELEASE, .jobs = {&ref, 1, false}}, NULL), 0);
    near(row_of(&w, held_job, 0).priority, 1000);
    w.now_us += 2 * 86400 * SECOND;
    near(row_of(&w, held_job, 0).priority, 3000);
    near(row_of(&w, begins, 0).priority, 3000); /* with the flag, its begin does not restart the age */
    world_set(&w, "PriorityFlags", "");
    near(row_of(&w, held_job, 0).priority, 2000);
    near(row_of(&w, begins, 0).priority, 1000);
    world_release(&w);
}

/* A job whose begin is in the future has no accrue time yet, so PriorityMaxAge=0 does not give it the full age. */
static void without_accrue_time_there_is_no_age(void **unused)
{
    (void)unused;
    struct world w;
    init_full(&w);
    world_settings(&w, "PriorityWeightAge=7000 PriorityWeightFairshare=0 PriorityMaxAge=0");
    struct event job = world_job("ann");
    uint32_t waits = world_take(&w, job);
    job.submit = job_with(job.submit, "begin_us=%lld", (long long)(w.now_us + SECOND));
    uint32_t begins = world_take(&w, job);
    near(row_of(&w, waits, 0).priority, 7000);
    near(row_of(&w, begins, 0).priority, 1);
    near(row_of(&w, begins, 0).factors.age, 0);
    world_set(&w, "PriorityFlags", "ACCRUE_ALWAYS");
    near(row_of(&w, begins, 0).priority, 7000);
    world_set(&w, "PriorityFlags", "");
    w.now_us += SECOND;
    near(row_of(&w, begins, 0).priority, 7000);
    world_release(&w);
}

/* docs/formulas.md 4.3: the size of a job is that in its current partition, in all of its rows. */
static void the_size_is_that_of_the_current_partition(void **unused)
{
    (void)unused;
    struct world w;
    init_full(&w);
    world_settings(&w, "PriorityWeightJobSize=6000 PriorityWeightFairshare=0 PriorityFlags=SMALL_RELATIVE_TO_TIME");
    world_object(&w, OBJECT_PARTITION, "short", "MaxTime=10");
    world_object(&w, OBJECT_PARTITION, "urgent", "MaxTime=20|PriorityTier=2");
    world_object(&w, OBJECT_PARTITION, "other", "MaxTime=30|PriorityTier=2");
    static const struct {
        const char *partitions;
        uint32_t rows, minutes;
    } rows[] = {{"short", 1, 10},        {"short,urgent", 2, 20},       {"urgent,short", 2, 20},
                {"urgent,other", 2, 20}, {"other,urgent,short", 3, 30}, {"main,short", 2, 0},
                {"short,main", 2, 10}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct event job = world_job("ann");
        job.submit = job_with(job.submit, "cpus=8|partitions=%s", rows[i].partitions);
        uint32_t id = world_take(&w, job);
        w.s.jobs.items[state_find_job(&w.s, id)].time_limit_s = 0; /* as in a document, without a limit */
        for (uint32_t n = 0; n < rows[i].rows; n++)
            near(row_of(&w, id, n).terms.job_size, rows[i].minutes > 0 ? 6000.0 / rows[i].minutes : 0.0);
    }
    world_set(&w, "PriorityFlags", "SMALL_RELATIVE_TO_TIME,CALCULATE_RUNNING");
    w.s.jobs.items[0].time_limit_s = 0;
    w.s.tasks.items[0].partition =
        state_find_object(&w.s, OBJECT_PARTITION, "short"); /* a running job: where it runs */
    near(row_of(&w, w.s.jobs.items[0].id, 0).terms.job_size, 600);
    world_release(&w);
}

static void a_priority_set_by_hand_replaces_the_sum(void **unused)
{
    (void)unused;
    struct world w;
    init_full(&w);
    world_settings(&w, all_weights);
    struct event job = world_job("ann");
    job.submit = job_with(job.submit, "set_priority=77");
    uint32_t id = world_take(&w, job);
    struct priority_row row = row_of(&w, id, 0);
    near(row.priority, 77);
    near(row.terms.fair_share, 0);
    near(row.factors.fair_share, 0);
    near(row.factors.partition, 0);
    assert_null(row.tres_terms);
    world_set(&w, "PriorityType", "priority/basic");
    near(row_of(&w, id, 0).priority, 77);
    world_release(&w);
}

static void running_jobs_are_listed_with_calculate_running(void **unused)
{
    (void)unused;
    struct world w;
    uint32_t running = init_full(&w);
    world_settings(&w, "PriorityWeightTRES=cpu=1000 PriorityWeightJobSize=100");
    world_take(&w, world_job("ann"));
    assert_int_equal(list(&w, NONE).count, 1);
    world_set(&w, "PriorityFlags", "CALCULATE_RUNNING");
    struct priorities all = list(&w, NONE);
    assert_int_equal(all.count, 2);
    assert_int_equal(all.rows[0].task, NONE);
    assert_int_equal(all.rows[1].task, state_find_task(&w.s, running, 0));
    near(all.rows[1].terms.tres, 1000); /* it has all 16 CPUs */
    near(all.rows[1].terms.job_size, 100);
    near(all.rows[1].billing, 16);
    world_release(&w);
}

static void same_rows(const struct priority_row *a, const struct priority_row *b)
{
    assert_true(a->job == b->job && a->task == b->task && a->partition == b->partition);
    same_terms(&a->terms, &b->terms);
    assert_memory_equal(&a->factors, &b->factors, sizeof a->factors);
    assert_memory_equal(&a->tickets, &b->tickets, sizeof a->tickets);
    assert_memory_equal(&a->urgency, &b->urgency, sizeof a->urgency);
    const double as[] = {a->priority, a->billing, a->norm_tickets, a->norm_urgency, a->norm_posix};
    const double bs[] = {b->priority, b->billing, b->norm_tickets, b->norm_urgency, b->norm_posix};
    assert_memory_equal(as, bs, sizeof as);
}

static void rows_of_one_job_have_the_same_numbers(void **unused)
{
    (void)unused;
    struct world w;
    init_full(&w);
    world_settings(&w, all_weights);
    world_settings(&w, "weight_tickets_functional=1000 weight_tickets_share=1000 auto_user_fshare=10");
    world_object(&w, OBJECT_PARTITION, "fast", "");
    struct event job = world_job("ann");
    world_take(&w, job);
    job.submit = job_with(job.submit, "partitions=fast,main");
    uint32_t id = world_take(&w, job);
    world_take(&w, job);
    for (int model = 0; model < MODEL_COUNT; model++) {
        world_set(&w, "PriorityType", priority_model_names[model]);
        struct priority_row expected[2] = {row_of(&w, id, 0), row_of(&w, id, 1)};
        struct priorities one = list(&w, id);
        assert_int_equal(one.model, model);
        assert_int_equal(one.count, 2);
        for (int i = 0; i < 2; i++) same_rows(&one.rows[i], &expected[i]);
    }
    world_release(&w);
}

static void reading_raises_no_minimum(void **unused)
{
    (void)unused;
    struct world w;
    init_full(&w);
    world_settings(&w, "PriorityFlags=INCR_ONLY PriorityWeightQOS=1000 PriorityWeightFairshare=0");
    world_object(&w, OBJECT_PARTITION, "fast", "");
    world_object(&w, OBJECT_QOS, "normal", "priority=4");
    struct event job = world_job("ann");
    uint32_t id = world_take(&w, job);
    job.submit = job_with(job.submit, "partitions=fast,main");
    uint32_t two_partitions = world_take(&w, job);
    near(row_of(&w, id, 0).priority, 1000);
    assert_null(w.s.jobs.items[state_find_job(&w.s, id)].min_priorities);
    world_pass(&w);
    world_object(&w, OBJECT_QOS, "other", "priority=8");
    near(row_of(&w, id, 0).priority, 1000);
    near(row_of(&w, two_partitions, 0).priority, 1000);
    near(row_of(&w, two_partitions, 1).priority, 1000);
    world_set(&w, "PriorityFlags", "");
    near(row_of(&w, id, 0).priority, 500);
    world_release(&w);
}

static void licenses_count_relative_to_their_amount(void **unused)
{
    (void)unused;
    struct world w;
    init_full(&w);
    world_settings(&w, "AccountingStorageTRES=license/matlab,license/endless PriorityWeightFairshare=0 "
                       "PriorityWeightTRES=license/matlab=1000,license/endless=1000");
    world_object(&w, OBJECT_RESOURCE, "matlab", "amount=20");
    world_object(&w, OBJECT_RESOURCE, "endless", "");
    struct event job = world_job("ann");
    job.submit = job_with(job.submit, "cpus=2");
    job.submit = job_with(job.submit, "requests=matlab=4,endless=1");
    near(row_of(&w, world_take(&w, job), 0).priority, 400);
    world_release(&w);
}

/* --- basic -------------------------------------------------------------------------------------------------------- */

static void basic_follows_the_order_of_submission(void **unused)
{
    (void)unused;
    struct world w;
    init_full(&w);
    world_set(&w, "PriorityType", "priority/basic");
    struct event job = world_job("ann");
    uint32_t first = world_take(&w, job);
    job.submit = job_with(job.submit, "nice=10");
    uint32_t second = world_take(&w, job);
    job.submit = job_with(job.submit, "held=yes");
    uint32_t held_job = world_take(&w, job);
    near(row_of(&w, first, 0).priority, multifactor_basic_priority(first - 1, 0));
    near(row_of(&w, second, 0).priority, multifactor_basic_priority(second - 1, 10));
    near(row_of(&w, held_job, 0).priority, 0);
    world_release(&w);
}

/* --- tickets ------------------------------------------------------------------------------------------------------ */

static void near_ticket(double tickets, double expected)
{
    if (!(fabs(tickets - expected) <= 1)) fail_msg("%.9g tickets instead of %.9g", tickets, expected);
}

/* Root: P1 (60: ua 10, default 20), P2 (30, a leaf), grp (10: uc 5, default 5). Users need an association to submit;
 * elsewhere is a project without jobs. */
static void init_projects(struct world *w)
{
    init_full(w);
    world_settings(w, "PriorityType=priority/tickets weight_tickets_share=1000000000 halftime=0 compensation_factor=0");
    const char *const projects[] = {"P1", "P2", "elsewhere"};
    for (int i = 0; i < 3; i++) world_object(w, OBJECT_PROJECT, projects[i], "");
    set_shares(w, "P1", 60, "ua", 10);
    set_shares(w, "P1", 60, "default", 20);
    set_shares(w, "P2", 30, NULL, 0);
    set_shares(w, "grp", 10, "uc", 5);
    set_shares(w, "grp", 10, "default", 5);
    const char *const others[] = {"ub", "ud", "ue"};
    for (int i = 0; i < 3; i++) set_shares(w, "elsewhere", 7, others[i], 3);
}

/* Grid Engine 8.1.9, case c4: the nodes that serve users, and their usage. */
static void share_tickets_match_the_recorded_case(void **unused)
{
    (void)unused;
    static const struct {
        const char *user, *project;
        double unused, used;
    } rows[] = {
        {"ua", "P1", 150000000, 75000000},  {"ub", "P1", 600000000, 125000000}, {"uc", "P1", 300000000, 187500000},
        {"ua", "P2", 300000000, 562500000}, {"ub", "P2", 150000000, 281250000}, {"ua", "", 100000000, 62500000},
        {"uc", "", 50000000, 20833333},     {"ud", "", 33333333, 31250000},     {"ue", "P1", 199999999, 375000000},
        {"ub", "P1", 120000000, 93750000},
    };
    enum { COUNT = sizeof rows / sizeof *rows };
    static const struct {
        const char *user, *project;
        double cpu_s;
    } usages[] = {{"ua", "P1", 1000}, {"ub", "P1", 500}, {"ub", "P2", 300}, {"uc", "", 200},
                  {"uc", "P1", 50},   {"ud", "", 100},   {"", "P1", 1800},  {"", "P2", 300}};
    struct world w;
    uint32_t ids[COUNT];
    init_projects(&w);
    for (int i = 0; i < COUNT; i++) ids[i] = submit_in(&w, rows[i].user, rows[i].project);
    world_end(&w, 1, 0); /* only these jobs are left */
    for (int i = 0; i < COUNT; i++) near_ticket(row_of(&w, ids[i], 0).tickets.share, rows[i].unused);
    for (size_t i = 0; i < sizeof usages / sizeof *usages; i++)
        set_usage(&w, usages[i].user, usages[i].project, usages[i].cpu_s);
    for (int i = 0; i < COUNT; i++) near_ticket(row_of(&w, ids[i], 0).tickets.share, rows[i].used);
    set_usage(&w, "ub", "P2", 1); /* P2 has no leaves, so only its own usage counts */
    for (int i = 0; i < COUNT; i++) near_ticket(row_of(&w, ids[i], 0).tickets.share, rows[i].used);
    world_release(&w);
}

/* Grid Engine 8.1.9, case d1. */
static void functional_tickets_match_the_recorded_case(void **unused)
{
    (void)unused;
    static const struct {
        const char *user;
        double tickets, norm;
    } rows[] = {{"ua", 83333333, 0.33333}, {"ua", 41666666, 0.16667}, {"ua", 27777777, 0.11111},
                {"ub", 250000000, 1},      {"ub", 83333333, 0.33333}, {"uc", 0, 0}};
    struct world w;
    uint32_t ids[6];
    init_full(&w);
    world_settings(&w, "PriorityType=priority/tickets weight_tickets_functional=1000000000 weight_ticket=0.01 "
                       "weight_urgency=0.1 weight_priority=1");
    world_object(&w, OBJECT_USER_POLICY, "ua", "fshare=100");
    world_object(&w, OBJECT_USER_POLICY, "ub", "fshare=200");
    for (int i = 0; i < 6; i++) ids[i] = submit_in(&w, rows[i].user, "");
    world_end(&w, 1, 0);
    for (int i = 0; i < 6; i++) {
        struct priority_row row = row_of(&w, ids[i], 0);
        near_ticket(row.tickets.functional, rows[i].tickets);
        near_ticket(row.tickets.total, rows[i].tickets);
        assert_true(fabs(row.norm_tickets - rows[i].norm) < 1e-5);
        assert_true(fabs(row.priority - (0.55 + 0.01 * rows[i].norm)) < 1e-5);
    }
    world_release(&w);
}

static void members_are_users_departments_projects_and_partitions(void **unused)
{
    (void)unused;
    struct world w;
    init_full(&w);
    world_settings(&w, "PriorityType=priority/tickets");
    world_object(&w, OBJECT_DEPARTMENT, "physics", "oticket=100");
    world_object(&w, OBJECT_PROJECT, "P1", "oticket=10");
    world_object(&w, OBJECT_USER_POLICY, "ann", "oticket=1000|department=physics");
    world_object(&w, OBJECT_PARTITION, "queue", "oticket=10000");
    struct event job = world_job("ann");
    job.submit = job_with(job.submit, "project=P1|partitions=queue,main|override_tickets=1");
    uint32_t id = world_take(&w, job);
    near(row_of(&w, id, 0).tickets.override, 11111);
    near(row_of(&w, id, 1).tickets.override,
         11111); /* the first partition is the job class, also if the job starts in another one */
    world_release(&w);
}

static void urgency_depends_on_requests_slots_and_times(void **unused)
{
    (void)unused;
    struct world w;
    init_full(&w);
    world_settings(&w, "PriorityType=priority/tickets weight_waiting_time=2 urgency_slots=max");
    world_object(&w, OBJECT_RESOURCE, "license", "urgency=10");
    world_object(&w, OBJECT_RESOURCE, "arch", "type=STRING|urgency=7");
    struct event job = world_job("ann");
    job.submit = job_with(job.submit, "cpus=2|slots_max=4|requests=license=3,arch=lx-amd64");
    job.submit = job_with(job.submit, "deadline_us=%lld|posix_priority=512", (long long)(w.now_us + 3600 * SECOND));
    uint32_t id = world_take(&w, job);
    w.now_us += 1800 * SECOND;
    struct priority_row row = row_of(&w, id, 0);
    near(row.urgency.resources, 4 * 1000 + 4 * 3 * 10 + 7);
    near(row.urgency.waiting_time, 2 * 1800);
    near(row.urgency.deadline, 3600000.0 / 1800);
    near(row.norm_posix, (512 + 1024) / 2048.0);
    world_object(&w, OBJECT_RESOURCE, "slots", "urgency=1");
    near(row_of(&w, id, 0).urgency.resources, 4 * 1 + 4 * 3 * 10 + 7);
    world_release(&w);
}

static void jobs_that_are_held_or_begin_later_have_no_tickets(void **unused)
{
    (void)unused;
    struct world w;
    init_full(&w);
    world_settings(&w, "PriorityType=priority/tickets weight_tickets_functional=1000 auto_user_fshare=100");
    struct event job = world_job("ann");
    job.submit = job_with(job.submit, "held=yes");
    uint32_t held_job = world_take(&w, job);
    job.submit = job_with(job.submit, "held=no");
    job.submit = job_with(job.submit, "begin_us=%lld", (long long)(w.now_us + SECOND));
    uint32_t later = world_take(&w, job);
    uint32_t id = world_take(&w, world_job("ann"));
    near(row_of(&w, held_job, 0).priority, 0);
    near(row_of(&w, later, 0).priority, 0);
    near(row_of(&w, later, 0).tickets.total, 0);
    double alone = row_of(&w, id, 0).tickets.total;
    assert_true(alone > 0);
    w.now_us += SECOND;
    assert_true(row_of(&w, later, 0).tickets.total > row_of(&w, id, 0).tickets.total);
    assert_true(row_of(&w, id, 0).tickets.total < alone);
    world_release(&w);
}

/* Each of its tasks has tickets; the row has those of the first one. */
static void an_array_has_the_row_of_its_first_task(void **unused)
{
    (void)unused;
    struct world w;
    init_full(&w);
    world_settings(&w, "PriorityType=priority/tickets weight_tickets_share=1000");
    struct event job = world_job("ann");
    job.submit = job_with(job.submit, "array=3-9");
    uint32_t array = world_take(&w, job), plain = world_take(&w, world_job("ann"));
    world_end(&w, 1, 0);
    struct priorities all = list(&w, NONE);
    assert_int_equal(all.count, 2);
    near(row_of(&w, array, 0).tickets.share, 1000);
    near(row_of(&w, plain, 0).tickets.share, 1000.0 / 8); /* after seven tasks */
    world_release(&w);
}

static void users_without_an_object_have_no_share(void **unused)
{
    (void)unused;
    struct world w;
    init_full(&w);
    world_settings(&w, "PriorityType=priority/tickets weight_tickets_share=1000 enforce_user=none");
    struct event job = world_job("ann");
    job.submit = job_with(job.submit, "override_tickets=5");
    uint32_t id = world_take(&w, job);
    world_end(&w, 1, 0);
    near(row_of(&w, id, 0).tickets.share, 0);
    near(row_of(&w, id, 0).tickets.override, 5);
    world_object(&w, OBJECT_USER_POLICY, "ann", "");
    near(row_of(&w, id, 0).tickets.share, 1000);
    world_release(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_sum_matches_the_recorded_case),
        cmocka_unit_test(every_term_agrees_with_the_policy),
        cmocka_unit_test(age_counts_from_release_or_always_from_submission),
        cmocka_unit_test(without_accrue_time_there_is_no_age),
        cmocka_unit_test(the_size_is_that_of_the_current_partition),
        cmocka_unit_test(a_priority_set_by_hand_replaces_the_sum),
        cmocka_unit_test(running_jobs_are_listed_with_calculate_running),
        cmocka_unit_test(rows_of_one_job_have_the_same_numbers),
        cmocka_unit_test(reading_raises_no_minimum),
        cmocka_unit_test(licenses_count_relative_to_their_amount),
        cmocka_unit_test(basic_follows_the_order_of_submission),
        cmocka_unit_test(share_tickets_match_the_recorded_case),
        cmocka_unit_test(functional_tickets_match_the_recorded_case),
        cmocka_unit_test(members_are_users_departments_projects_and_partitions),
        cmocka_unit_test(urgency_depends_on_requests_slots_and_times),
        cmocka_unit_test(jobs_that_are_held_or_begin_later_have_no_tickets),
        cmocka_unit_test(an_array_has_the_row_of_its_first_task),
        cmocka_unit_test(users_without_an_object_have_no_share),
    };
    return cmocka_run_group_tests_name("priorities", tests, NULL, release_arena);
}
