/* Each limit at its edge: one below, at it and above it, at every level, for every TRES; and cleared again. Reasons and
 * edges are those recorded from Slurm 22.05.8. */
#include "../limit_world.h"

#include "engine/cluster_model.h"
#include "engine/placements.h"
#include "engine/priorities.h"

/* Two jobs of alice: the first one runs, the second one waits or starts. Both ask for the same. */
struct limits_world {
    struct world w;
    uint32_t second;
};

static const char *const job_fields_text =
    "name=job|directory=/home/x|command=true|cpus=2|mem_mib=500|gpus=1|time_limit_s=600|partitions=withq|qos=short";

static struct event job_of(const char *user, const char *account, const char *more)
{
    const struct job_values *v = job_with(job_text("%s", job_fields_text), "account=%s|%s", account, more);
    return (struct event){.kind = EVENT_SUBMIT, .actor = {1000, 1000, user, ROLE_USER}, .submit = v};
}

/* Of alice, with 1 MiB and no GPU. */
static struct event job_with_request(const char *fields)
{
    char text[200];
    snprintf(text, sizeof text, "gpus=0|mem_mib=1|%s", fields);
    return job_of("alice", "a1", text);
}

/* root > a > (a1: alice, bob; a2: alice), and hosts with room for both jobs. */
static void build(struct world *w)
{
    world_init(w, 8, 16000, 2);
    world_settings(w, "reservations=none AccountingStorageEnforce=associations,limits,qos,safe");
    world_object(w, OBJECT_HOST, "n2", "");
    const struct event host = {.kind = EVENT_HOST, .host = {{8, 2, 16000}, "n2"}};
    assert_int_equal(world_apply(w, host, NULL), 0);
    world_object(w, OBJECT_QOS, "short", "");
    world_object(w, OBJECT_QOS, "pq", "");
    world_object(w, OBJECT_PARTITION, "withq", "QOS=pq|TRESBillingWeights=CPU=1.0,Mem=0.25G,GRES/gpu=4.0");
    limit_world_account(w, "a", NULL);
    limit_world_account(w, "a1", "a");
    limit_world_account(w, "a2", "a");
    world_user(w, "a1", 1, "alice");
    world_user(w, "a1", 1, "bob");
    world_user(w, "a2", 1, "alice");
}

/* The first job runs on this machine; the second one is tied to the other host, if its node is to be a new one. */
static void run_first(struct limits_world *l, bool is_new_node)
{
    build(&l->w);
    assert_int_equal(world_take(&l->w, job_of("alice", "a1", "queues=*@localhost")), 1);
    assert_int_equal(world_pass(&l->w), 1);
    l->second = world_take(&l->w, job_of("alice", "a1", is_new_node ? "queues=*@n2" : "queues=*@localhost"));
}

/* --- the table ---------------------------------------------------------------------------------------------------- */

enum level { AT_USER, AT_ACCOUNT, AT_GRANDPARENT, AT_ROOT, AT_QOS, AT_PARTITION_QOS, LEVEL_COUNT };
static const char *const level_names[LEVEL_COUNT] = {"a1/alice", "a1", "a", "root", "short", "pq"};

/* One value is limited; edge: the smallest limit with which the second job starts. */
struct edge_row {
    enum ref_kind kind;
    double edge[REF_TRES_COUNT];
    const char *assoc[REF_TRES_COUNT], *qos[REF_TRES_COUNT]; /* reasons; NULL: there is no such limit */
};

static const struct edge_row tres_rows[] = {
    {REF_GRP_TRES,
     {4, 1000, 2, 12, 2},
     {"AssocGrpCpuLimit", "AssocGrpMemLimit", "AssocGrpNodeLimit", "AssocGrpBilling", "AssocGrpGRES"},
     {"QOSGrpCpuLimit", "QOSGrpMemLimit", "QOSGrpNodeLimit", "QOSGrpBilling", "QOSGrpGRES"}},
    {REF_GRP_RUN_MINS,
     {40, 10000, 20, 120, 20},
     {"AssocGrpCPURunMinutesLimit", "AssocGrpMemRunMinutes", "AssocGrpNodeRunMinutes", "AssocGrpBillingRunMinutes",
      "AssocGrpGRESRunMinutes"},
     {"QOSGrpCPURunMinutesLimit", "QOSGrpMemoryRunMinutes", "QOSGrpNodeRunMinutes", "QOSGrpBillingRunMinutes",
      "QOSGrpGRESRunMinutes"}},
    {REF_GRP_TRES_MINS,
     {40, 10000, 20, 120, 20},
     {"AssocGrpCPUMinutesLimit", "AssocGrpMemMinutes", "AssocGrpNodeMinutes", "AssocGrpBillingMinutes",
      "AssocGrpGRESMinutes"},
     {"QOSGrpCPUMinutesLimit", "QOSGrpMemoryMinutes", "QOSGrpNodeMinutes", "QOSGrpBillingMinutes",
      "QOSGrpGRESMinutes"}},
    {REF_TRES,
     {2, 500, 1, 6, 1},
     {"AssocMaxCpuPerJobLimit", "AssocMaxMemPerJob", "AssocMaxNodePerJobLimit", "AssocMaxBillingPerJob",
      "AssocMaxGRESPerJob"},
     {"QOSMaxCpuPerJobLimit", "QOSMaxMemoryPerJob", "QOSMaxNodePerJobLimit", "QOSMaxBillingPerJob",
      "QOSMaxGRESPerJob"}},
    {REF_PER_NODE,
     {2, 500, 1, 6, 1},
     {"AssocMaxCpuPerNode", "AssocMaxMemPerNode", "AssocMaxUnknownPerNode", "AssocMaxBillingPerNode",
      "AssocMaxGRESPerNode"},
     {"QOSMaxCpuPerNode", "QOSMaxMemoryPerNode", "QOSMaxUnknownPerNode", "QOSMaxBillingPerNode", "QOSMaxGRESPerNode"}},
    {REF_TRES_MINS,
     {20, 5000, 10, 60, 10},
     {"AssocMaxCpuMinutesPerJobLimit", "AssocMaxMemMinutesPerJob", "AssocMaxNodeMinutesPerJob",
      "AssocMaxBillingMinutesPerJob", "AssocMaxGRESMinutesPerJob"},
     {"QOSMaxCpuMinutesPerJobLimit", "QOSMaxMemoryMinutesPerJob", "QOSMaxNodeMinutesPerJob",
      "QOSMaxBillingMinutesPerJob", "QOSMaxGRESMinutesPerJob"}},
    {REF_PER_USER,
     {4, 1000, 2, 12, 2},
     {NULL},
     {"QOSMaxCpuPerUserLimit", "QOSMaxMemoryPerUser", "QOSMaxNodePerUserLimit", "QOSMaxBillingPerUser",
      "QOSMaxGRESPerUser"}},
    {REF_PER_ACCOUNT,
     {4, 1000, 2, 12, 2},
     {NULL},
     {"MaxCpuPerAccount", "MaxMemoryPerAccount", "MaxNodePerAccount", "MaxBillingPerAccount", "MaxGRESPerAccount"}},
};

static const struct edge_row count_rows[] = {
    {REF_GRP_JOBS, {2}, {"AssocGrpJobsLimit"}, {"QOSGrpJobsLimit"}},
    {REF_JOBS, {2}, {"AssocMaxJobsLimit"}, {"QOSMaxJobsPerUserLimit"}},
    {REF_JOBS_PER_ACCOUNT, {2}, {NULL}, {"MaxJobsPerAccount"}},
    {REF_WALL, {10}, {"AssocMaxWallDurationPerJobLimit"}, {"QOSMaxWallDurationPerJobLimit"}},
    {REF_GRP_WALL, {10}, {"AssocGrpWallLimit"}, {"QOSGrpWallLimit"}},
};

static void set_limit(struct world *w, enum level level, enum ref_kind kind, const char *value)
{
    const char *name = level_names[level];
    if (level >= AT_QOS)
        limit_world_set_qos(w, state_find_object(&w->s, OBJECT_QOS, name), kind, value);
    else if (level == AT_USER)
        limit_world_set_assoc(w, state_find_assoc(&w->s, "a1", "alice"), kind, value);
    else
        limit_world_set_assoc(w, state_find_assoc(&w->s, name, NULL), kind, value);
}

static const char *reason_of(struct limits_world *l)
{
    return pending_reason_name(job_pending_reason(&l->w.s, l->second, 1.0, l->w.now_us));
}

static void expect_edge(const struct edge_row *row, uint32_t i, enum level level, int more)
{
    struct limits_world l;
    char value[60];
    const char *expected = (level >= AT_QOS ? row->qos : row->assoc)[i];
    double limit = row->edge[i] + more;
    snprintf(value, sizeof value, ref_is_tres(row->kind) ? "%s=%.0f" : "%s%.0f",
             ref_is_tres(row->kind) ? ref_tres_names[i] : "", limit);
    run_first(&l, i == 2);
    set_limit(&l.w, level, row->kind, value);
    l.w.s.pass_is_due = true;
    uint32_t starts = world_pass(&l.w);
    if (starts != (more >= 0))
        fail_msg("%s: %s=%s: %u starts", level_names[level], ref_rows[row->kind].key, value, starts);
    if (starts == 0 && strcmp(reason_of(&l), expected) != 0)
        fail_msg("%s: %s=%s: %s is not %s", level_names[level], ref_rows[row->kind].key, value, reason_of(&l),
                 expected);
    if (starts == 0) {
        set_limit(&l.w, level, row->kind, "");
        if (world_pass(&l.w) != 1) fail_msg("%s: %s is not cleared", level_names[level], ref_rows[row->kind].key);
    }
    world_release(&l.w);
}

static void expect_edges(const struct edge_row *row, uint32_t tres_count)
{
    for (enum level level = 0; level < LEVEL_COUNT; level++) {
        if ((level >= AT_QOS ? row->qos : row->assoc)[0] == NULL) continue;
        for (uint32_t i = 0; i < tres_count; i++) {
            for (int more = -1; more <= 1; more++) expect_edge(row, i, level, more);
            expect_edge(row, i, level, -(int)row->edge[i]); /* a limit of 0 */
        }
    }
}

static void limits_of_tres_at_their_edges(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < sizeof tres_rows / sizeof *tres_rows; i++) expect_edges(&tres_rows[i], REF_TRES_COUNT);
}

static void limits_of_counts_and_times_at_their_edges(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < sizeof count_rows / sizeof *count_rows; i++) expect_edges(&count_rows[i], 1);
}

/* MinTRES blocks from the other side. */
static void minimums_at_their_edges(void **unused)
{
    static const double has[REF_TRES_COUNT] = {2, 500, 1, 6, 1};
    static const char *const reasons[REF_TRES_COUNT] = {"QOSMinCpuNotSatisfied", "QOSMinMemory", "QOSMinNode",
                                                        "QOSMinBilling", "QOSMinGRES"};
    (void)unused;
    for (enum level level = AT_QOS; level < LEVEL_COUNT; level++) {
        for (uint32_t i = 0; i < 2 * REF_TRES_COUNT; i++) {
            struct limits_world l;
            uint32_t tres = i / 2, more = i % 2;
            char value[60];
            run_first(&l, false);
            snprintf(value, sizeof value, "%s=%.0f", ref_tres_names[tres], has[tres] + more);
            set_limit(&l.w, level, REF_MIN, value);
            assert_int_equal(world_pass(&l.w), more == 0);
            if (more == 1) assert_string_equal(reason_of(&l), reasons[tres]);
            world_release(&l.w);
        }
    }
}

/* --- submissions -------------------------------------------------------------------------------------------------- */

/* With two of alice's in account a1 counted already. */
static void submit_limits_at_their_edges(void **unused)
{
    static const struct {
        enum ref_kind kind;
        const char *assoc, *qos;
    } rows[] = {
        {REF_GRP_SUBMIT, "(AssocGrpSubmitJobsLimit)", "(QOSGrpSubmitJobsLimit)"},
        {REF_SUBMIT, "(AssocMaxSubmitJobLimit)", "(QOSMaxSubmitJobPerUserLimit)"},
        {REF_SUBMIT_PER_ACCOUNT, NULL, "(MaxSubmitJobsPerAccount)"},
    };
    (void)unused;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (enum level level = 0; level < LEVEL_COUNT; level++) {
            struct limits_world l;
            const char *reason = level >= AT_QOS ? rows[i].qos : rows[i].assoc;
            if (reason == NULL) continue;
            run_first(&l, false);
            set_limit(&l.w, level, rows[i].kind, "2");
            world_refuses(&l.w, job_of("alice", "a1", ""), ERR_TOO_LARGE, reason);
            set_limit(&l.w, level, rows[i].kind, "4");
            world_refuses(&l.w, job_of("alice", "a1", "array=0-2"), ERR_TOO_LARGE, reason);
            assert_int_equal(world_apply(&l.w, job_of("alice", "a1", "array=0-1"), NULL), 0);
            world_refuses(&l.w, job_of("alice", "a1", ""), ERR_TOO_LARGE, reason);
            set_limit(&l.w, level, rows[i].kind, "");
            assert_int_equal(world_apply(&l.w, job_of("alice", "a1", ""), NULL), 0);
            world_release(&l.w);
        }
    }
}

/* A job that waits for several partitions counts in the QOS of each, until it starts in one of them; so the order in
 * which partitions are named does not matter. */
static void what_waits_counts_in_the_qos_of_each_partition(void **unused)
{
    static const char *const limits[] = {"GrpSubmitJobs=1", "MaxSubmitJobsPerUser=1", "MaxSubmitJobsPerAccount=1"};
    static const char *const reasons[] = {"(QOSGrpSubmitJobsLimit)", "(QOSMaxSubmitJobPerUserLimit)",
                                          "(MaxSubmitJobsPerAccount)"};
    (void)unused;
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        struct world w;
        build(&w);
        world_object(&w, OBJECT_QOS, "other", "");
        world_object(&w, OBJECT_PARTITION, "first", "QOS=other");
        world_object(&w, OBJECT_PARTITION, "twin", "QOS=pq");
        world_object(&w, OBJECT_QOS, "pq", limits[i]);
        uint32_t job = world_take(&w, job_of("alice", "a1", "partitions=first,withq,twin"));
        world_refuses(&w, job_of("alice", "a1", "partitions=withq"), ERR_TOO_LARGE, reasons[i]);
        world_refuses(&w, job_of("alice", "a1", "partitions=first,withq"), ERR_TOO_LARGE, reasons[i]);
        world_refuses(&w, job_of("alice", "a1", "partitions=twin"), ERR_TOO_LARGE, reasons[i]);
        assert_int_equal(world_pass(&w), 1);
        assert_int_equal(world_task(&w, job, 0)->partition, state_find_object(&w.s, OBJECT_PARTITION, "first"));
        assert_int_equal(world_apply(&w, job_of("alice", "a1", "partitions=withq,first"), NULL), 0);
        world_release(&w);
    }
}

/* With DenyOnLimit what a task by itself exceeds is refused: by one more than the limit, not at it. */
static void requests_are_denied_at_their_edges(void **unused)
{
    (void)unused;
    for (size_t k = 0; k < sizeof tres_rows / sizeof *tres_rows; k++) {
        const struct edge_row *row = &tres_rows[k];
        bool is_sum = row->kind <= REF_GRP_RUN_MINS || row->kind >= REF_PER_ACCOUNT; /* the edge is of both jobs */
        for (uint32_t n = 0; n < LEVEL_COUNT * REF_TRES_COUNT; n++) {
            enum level level = n / REF_TRES_COUNT;
            uint32_t i = n % REF_TRES_COUNT;
            struct world w;
            char value[60], reason[80];
            const char *name = (level >= AT_QOS ? row->qos : row->assoc)[i];
            double alone = is_sum ? row->edge[i] / 2 : row->edge[i];
            if (name == NULL) continue;
            build(&w);
            world_object(&w, OBJECT_QOS, "short", "flags=DenyOnLimit");
            snprintf(value, sizeof value, "%s=%.0f", ref_tres_names[i], alone - 1);
            set_limit(&w, level, row->kind, value);
            snprintf(reason, sizeof reason, "(%s)", name);
            world_refuses(&w, job_of("alice", "a1", ""), ERR_TOO_LARGE, reason);
            snprintf(value, sizeof value, "%s=%.0f", ref_tres_names[i], alone);
            set_limit(&w, level, row->kind, value);
            assert_int_equal(world_apply(&w, job_of("alice", "a1", ""), NULL), 0);
            world_release(&w);
        }
    }
}

/* --- worked examples ---------------------------------------------------------------------------------------------- */

/* docs/formulas.md 9.2: 5 of 8 CPUs are used; 3 fit, or 2 behind 4 that do not. */
static void the_worked_example_of_tres(void **unused)
{
    (void)unused;
    for (uint32_t cpus = 3; cpus <= 4; cpus++) {
        struct world w;
        build(&w);
        set_limit(&w, AT_ACCOUNT, REF_GRP_TRES, "cpu=8");
        (void)world_take(&w, job_of("bob", "a1", "cpus=5|gpus=0"));
        assert_int_equal(world_pass(&w), 1);
        uint32_t next = world_take(&w, job_of("alice", "a1", cpus == 3 ? "cpus=3|gpus=0" : "cpus=4|gpus=0"));
        uint32_t behind = world_take(&w, job_of("alice", "a1", "cpus=2|gpus=0"));
        assert_int_equal(world_pass(&w), 1);
        assert_non_null(world_task(&w, cpus == 3 ? next : behind, 0));
        enum pending_reason reason = job_pending_reason(&w.s, cpus == 3 ? behind : next, 1.0, w.now_us);
        assert_string_equal(pending_reason_name(reason), "AssocGrpCpuLimit");
        world_release(&w);
    }
}

/* docs/formulas.md 9.3. After 20 s it is 0 + 19 + 2 or 1, because usage and reserve are both cut off. */
static void the_worked_example_of_minutes(void **unused)
{
    (void)unused;
    struct world w;
    build(&w);
    world_set(&w, "PriorityDecayHalfLife", "0");
    set_limit(&w, AT_ACCOUNT, REF_GRP_TRES_MINS, "cpu=20");
    uint32_t first = world_take(&w, job_of("bob", "a1", "gpus=0"));
    assert_int_equal(world_pass(&w), 1);
    world_run(&w, first, 0);
    uint32_t second = world_take(&w, job_of("alice", "a1", "cpus=1|gpus=0|time_limit_s=120"));
    assert_int_equal(world_pass(&w), 0);
    w.now_us += 20 * SECOND;
    w.s.pass_is_due = true;
    assert_int_equal(world_pass(&w), 0);
    uint32_t third = world_take(&w, job_of("alice", "a1", "cpus=1|gpus=0|time_limit_s=60"));
    assert_int_equal(world_pass(&w), 1);
    assert_non_null(world_task(&w, third, 0));
    world_end(&w, third, 0);
    w.now_us += 280 * SECOND;
    world_end(&w, first, 0);
    assert_int_equal(world_pass(&w), 1);
    assert_non_null(world_task(&w, second, 0));
    world_release(&w);
}

/* A request that begins a minute has all of it. */
static void minutes_of_requests_are_rounded_up(void **unused)
{
    static const struct {
        const char *max, *job;
        bool starts;
    } rows[] = {{"cpu=1", "cpus=1|time_limit_s=60", true},   {"cpu=1", "cpus=1|time_limit_s=61", false},
                {"cpu=1", "cpus=1|time_limit_s=119", false}, {"cpu=100", "cpus=1|time_limit_s=6030", false},
                {"cpu=3", "cpus=2|time_limit_s=90", true},   {"cpu=4", "cpus=3|time_limit_s=90", false}};
    (void)unused;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        static const enum ref_kind kinds[] = {REF_TRES_MINS, REF_GRP_TRES_MINS, REF_GRP_RUN_MINS};
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
            struct world w;
            build(&w);
            set_limit(&w, AT_ACCOUNT, kinds[k], rows[i].max);
            (void)world_take(&w, job_of("bob", "a1", rows[i].job));
            assert_int_equal(world_pass(&w), rows[i].starts);
            world_release(&w);
        }
    }
}

/* --- who is counted ----------------------------------------------------------------------------------------------- */

/* The limit is reached by alice in account a1. Another user, and another account, are not counted by it. */
static void those_whom_a_limit_does_not_count(void **unused)
{
    static const struct {
        enum level level;
        enum ref_kind kind;
        bool bob_starts, other_account_starts; /* bob in a1; alice in a2 */
    } rows[] = {
        {AT_USER, REF_GRP_JOBS, true, true},
        {AT_ACCOUNT, REF_GRP_JOBS, false, true},
        {AT_GRANDPARENT, REF_GRP_JOBS, false, false},
        {AT_ROOT, REF_GRP_JOBS, false, false},
        {AT_USER, REF_JOBS, true, true},
        {AT_ACCOUNT, REF_JOBS, true, true},
        {AT_GRANDPARENT, REF_JOBS, true, true},
        {AT_QOS, REF_GRP_JOBS, false, false},
        {AT_QOS, REF_JOBS, true, false},
        {AT_QOS, REF_JOBS_PER_ACCOUNT, false, true},
        {AT_PARTITION_QOS, REF_JOBS, true, false},
        {AT_PARTITION_QOS, REF_JOBS_PER_ACCOUNT, false, true},
    };
    (void)unused;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (int is_bob = 0; is_bob < 2; is_bob++) {
            struct limits_world l;
            run_first(&l, false);
            set_limit(&l.w, rows[i].level, rows[i].kind, "1");
            uint32_t other = world_take(&l.w, is_bob ? job_of("bob", "a1", "") : job_of("alice", "a2", ""));
            bool expected = is_bob ? rows[i].bob_starts : rows[i].other_account_starts;
            assert_int_equal(world_pass(&l.w), expected);
            assert_int_equal(world_task(&l.w, other, 0) != NULL, expected);
            world_release(&l.w);
        }
    }
}

/* A QOS that has the limit replaces those of associations, larger or smaller; the partition's QOS replaces the job's,
 * and with OverPartQOS the other way round. */
static void what_replaces_what(void **unused)
{
    static const struct {
        const char *account, *qos, *partition_qos; /* cpu of GrpTRES; "": none */
        bool is_over, starts;
    } rows[] = {
        {"3", "", "", false, false},  {"3", "4", "", false, true},  {"4", "3", "", false, false},
        {"3", "", "4", false, true},  {"4", "", "3", false, false}, {"", "3", "4", false, true},
        {"", "4", "3", false, false}, {"", "3", "4", true, false},  {"", "4", "3", true, true},
        {"9", "4", "3", true, true},  {"3", "4", "9", true, true},  {"3", "", "9", true, true},
    };
    (void)unused;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        static const enum level levels[] = {AT_ACCOUNT, AT_QOS, AT_PARTITION_QOS};
        const char *const values[] = {rows[i].account, rows[i].qos, rows[i].partition_qos};
        struct limits_world l;
        run_first(&l, false);
        if (rows[i].is_over) world_object(&l.w, OBJECT_QOS, "short", "flags=OverPartQOS");
        for (int k = 0; k < 3; k++) {
            char value[20];
            snprintf(value, sizeof value, "cpu=%s", values[k]);
            if (values[k][0] != '\0') set_limit(&l.w, levels[k], REF_GRP_TRES, value);
        }
        if (world_pass(&l.w) != rows[i].starts) fail_msg("row %zu", i);
        world_release(&l.w);
    }
}

/* bob has a node of the account, alice another one of hers in the QOS, and neither may have a second one: no host suits
 * both limits. The job starts when either ends. */
static void two_limits_of_nodes(void **unused)
{
    (void)unused;
    for (uint32_t ended = 1; ended <= 2; ended++) {
        struct world w;
        build(&w);
        set_limit(&w, AT_ACCOUNT, REF_GRP_TRES, "node=1");
        set_limit(&w, AT_QOS, REF_PER_USER, "node=1");
        (void)world_take(&w, job_of("bob", "a1", "queues=*@localhost"));
        (void)world_take(&w, job_of("alice", "a2", "queues=*@n2"));
        assert_int_equal(world_pass(&w), 2);
        uint32_t third = world_take(&w, job_of("alice", "a1", ""));
        assert_int_equal(world_pass(&w), 0);
        const char *reason = pending_reason_name(job_pending_reason(&w.s, third, 1.0, w.now_us));
        assert_string_equal(reason, "QOSMaxNodePerUserLimit");
        world_end(&w, ended, 0);
        assert_int_equal(world_pass(&w), 1);
        world_release(&w);
    }
}

/* The reason of a job that limits tie to some hosts, as a listing asks for it many times between two events. */
static void reasons_keep_no_memory(void **unused)
{
    (void)unused;
    enum { ROWS = 10000 };
    struct world w;
    build(&w);
    set_limit(&w, AT_ACCOUNT, REF_GRP_TRES, "node=1");
    (void)world_take(&w, job_of("bob", "a1", "queues=*@localhost|cpus=8"));
    uint32_t second = world_take(&w, job_of("alice", "a1", ""));
    assert_int_equal(world_pass(&w), 1);
    assert_int_equal(job_pending_reason(&w.s, second, 1.0, w.now_us), PENDING_ASSOC_GRP_NODE); /* n2 is free */
    size_t bytes = w.s.cycle.bytes;
    for (int i = 0; i < ROWS; i++)
        assert_int_equal(job_pending_reason(&w.s, second, 1.0, w.now_us), PENDING_ASSOC_GRP_NODE);
    assert_int_equal(w.s.cycle.bytes, bytes);
    world_release(&w);
}

/* Where no host is free, the limit of hosts is not what the job waits for. */
static void a_limit_of_nodes_is_no_reason_on_full_hosts(void **unused)
{
    (void)unused;
    struct world w;
    build(&w);
    set_limit(&w, AT_ACCOUNT, REF_GRP_TRES, "node=1");
    (void)world_take(&w, job_of("bob", "a1", "queues=*@localhost|cpus=8"));
    uint32_t second = world_take(&w, job_of("alice", "a1", "cpus=8"));
    (void)world_take(&w, job_of("alice", "a2", "queues=*@n2|cpus=8"));
    assert_int_equal(world_pass(&w), 2);
    assert_int_equal(job_pending_reason(&w.s, second, 1.0, w.now_us), PENDING_NONE);
    world_release(&w);
}

/* The rule of an environment says how many hosts a job gets at most. */
static void an_environment_of_one_host_takes_one(void **unused)
{
    (void)unused;
    struct world w;
    build(&w);
    world_object(&w, OBJECT_ENVIRONMENT, "smp", "allocation_rule=$pe_slots");
    world_object(&w, OBJECT_ENVIRONMENT, "pairs", "allocation_rule=2");
    world_object(&w, OBJECT_PARTITION, "withq", "pe_list=smp pairs");
    set_limit(&w, AT_ACCOUNT, REF_TRES, "node=1");
    (void)world_take(&w, job_of("bob", "a1", "pe=smp|cpus=4|mem_mib=100"));
    (void)world_take(&w, job_of("bob", "a1", "pe=pairs|cpus=2|mem_mib=100"));
    assert_int_equal(world_pass(&w), 2);
    (void)world_take(&w, job_of("bob", "a1", "pe=pairs|cpus=4|mem_mib=100"));
    assert_int_equal(world_pass(&w), 0);
    world_release(&w);
}

/* The hosts that count are those that an environment gives the job: it fills up fewer ones where limits ask for it. On
 * this machine 6 of 8 CPUs are free, on n2 all 8; bob of the same account is here. */
static void environments_keep_to_limits_of_nodes(void **unused)
{
    static const struct {
        const char *limits[2]; /* GrpTRES of the account; MaxTRES or MaxTRESPerNode of the user */
        const char *job;
        const char *hosts; /* NULL: it waits */
    } rows[] = {
        {{"", ""}, "pe=fill|cpus=8", "localhost=6,n2=2"},
        {{"node=1", ""}, "pe=fill|cpus=6", "localhost=6"},
        {{"node=1", ""}, "pe=fill|cpus=7", NULL}, /* n2 would be its second node */
        {{"node=2", ""}, "pe=fill|cpus=8", "localhost=6,n2=2"},
        {{"", "node=1"}, "pe=fill|cpus=6", "localhost=6"},
        {{"", "node=1"}, "pe=fill|cpus=8", "n2=8"},
        {{"", "node=1"}, "pe=fill|cpus=9", NULL},
        {{"", "node=1"}, "pe=rr|cpus=4", "localhost=4"},
        {{"", "node=1"}, "pe=rr|cpus=8", "n2=8"},
        {{"", "node=2"}, "pe=rr|cpus=4", "localhost=2,n2=2"},
        {{"node=1", ""}, "pe=rr|cpus=4", "localhost=4"},
        {{"node=2", "node=1"}, "pe=rr|cpus=8", "n2=8"},
        {{"", "node=1"}, "pe=rr|cpus=4|slots_max=12", "n2=8"},
        {{"", "node=1"}, "pe=pairs|cpus=4", NULL},
        {{"", "cpu=2 per node"}, "pe=fill|cpus=4", "localhost=2,n2=2"},
        {{"", "cpu=2 per node"}, "pe=rr|cpus=4", "localhost=2,n2=2"},
        {{"", "cpu=2 per node"}, "pe=fill|cpus=5", NULL},
        {{"", "cpu=2 per node"}, "pe=pairs|cpus=4", "localhost=2,n2=2"},
        {{"", "cpu=1 per node"}, "pe=pairs|cpus=4", NULL},
        {{"", "cpu=3 per node"}, "pe=smp|cpus=4", NULL},
        {{"", "cpu=3 per node"}, "pe=fill|cpus=2|slots_max=12", "localhost=3,n2=3"},
        {{"node=1", "cpu=3 per node"}, "pe=fill|cpus=3", "localhost=3"},
        {{"node=1", "cpu=3 per node"}, "pe=fill|cpus=4", NULL},
        {{"", "cpu=4 per node"}, "nodes=2|cpus=8", "localhost=4,n2=4"},
        {{"", "cpu=4 per node"}, "nodes=2|cpus=9", "localhost=5,n2=4"}, /* 4.5 is 4 */
        {{"", "cpu=4 per node"}, "nodes=2|cpus=10", NULL},
        {{"", "cpu=4 per node"}, "nodes=2|cpus=2|slots_max=12", "localhost=4,n2=4"},
        {{"node=1", ""}, "nodes=2|cpus=2", NULL},
        {{"node=2", ""}, "nodes=2|cpus=8", "localhost=6,n2=2"}, /* one that the group has, and one more */
    };
    (void)unused;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct world w;
        struct buf hosts = {0};
        const char *user = rows[i].limits[1], *each = strstr(user, " per node");
        char value[40];
        build(&w);
        world_object(&w, OBJECT_ENVIRONMENT, "smp", "allocation_rule=$pe_slots");
        world_object(&w, OBJECT_ENVIRONMENT, "fill", "allocation_rule=$fill_up");
        world_object(&w, OBJECT_ENVIRONMENT, "rr", "allocation_rule=$round_robin");
        world_object(&w, OBJECT_ENVIRONMENT, "pairs", "allocation_rule=2");
        world_object(&w, OBJECT_PARTITION, "withq", "pe_list=smp fill rr pairs|seq_no=1,[n2=2]");
        world_settings(&w, "queue_sort_method=seqno");
        set_limit(&w, AT_ACCOUNT, REF_GRP_TRES, rows[i].limits[0]);
        snprintf(value, sizeof value, "%.*s", each != NULL ? (int)(each - user) : (int)strlen(user), user);
        set_limit(&w, AT_USER, each != NULL ? REF_PER_NODE : REF_TRES, value);
        (void)world_take(&w, job_of("bob", "a1", "queues=*@localhost|cpus=2|gpus=0|mem_mib=1"));
        assert_int_equal(world_pass(&w), 1);
        uint32_t id = world_take(&w, job_with_request(rows[i].job));
        uint32_t starts = world_pass(&w);
        const struct task *k = world_task(&w, id, 0);
        for (uint32_t p = 0; k != NULL && p < k->placement_count; p++)
            buf_format(&hosts, "%s%s=%u", p > 0 ? "," : "",
                       w.s.objects[OBJECT_HOST].items[k->placements[p].host].object.name,
                       idset_count(&k->placements[p].cpus));
        const char *expected = rows[i].hosts != NULL ? rows[i].hosts : "";
        if (starts != (rows[i].hosts != NULL) || strcmp(hosts.length > 0 ? hosts.text : "", expected) != 0)
            fail_msg("row %zu, %s: '%s' is not '%s'", i, rows[i].job, hosts.text, expected);
        buf_release(&hosts);
        world_release(&w);
    }
}

/* With DenyOnLimit, too, MaxTRESPerNode is compared with what one host has to have. */
static void environments_are_denied_by_what_a_host_has(void **unused)
{
    (void)unused;
    struct world w;
    build(&w);
    world_object(&w, OBJECT_ENVIRONMENT, "rr", "allocation_rule=$round_robin");
    world_object(&w, OBJECT_ENVIRONMENT, "pairs", "allocation_rule=2");
    world_object(&w, OBJECT_PARTITION, "withq", "pe_list=rr pairs");
    world_object(&w, OBJECT_QOS, "short", "flags=DenyOnLimit");
    set_limit(&w, AT_USER, REF_PER_NODE, "cpu=1");
    world_refuses(&w, job_of("alice", "a1", "pe=pairs|cpus=4|gpus=0"), ERR_TOO_LARGE, "(AssocMaxCpuPerNode)");
    world_refuses(&w, job_of("alice", "a1", "cpus=2|gpus=0"), ERR_TOO_LARGE, "(AssocMaxCpuPerNode)");
    (void)world_take(&w, job_of("alice", "a1", "pe=rr|cpus=2|gpus=0"));
    assert_int_equal(world_pass(&w), 1);
    world_release(&w);
}

/* The smallest number of nodes and of slots that a job may be placed with is compared with MinTRES and MaxTRES, by a
 * submission that DenyOnLimit refuses exactly as by a pass. */
static void the_smallest_size_decides_at_a_submission_and_in_a_pass(void **unused)
{
    static const struct {
        enum ref_kind kind;
        const char *limit, *job;
        bool starts;
    } rows[] = {
        {REF_MIN, "node=2", "pe=pairs|cpus=4", true},
        {REF_MIN, "node=3", "pe=pairs|cpus=4", false},
        {REF_MIN, "node=2", "pe=pairs|cpus=2|slots_max=4", false},
        {REF_MIN, "node=2", "pe=pairs|cpus=3|slots_max=4", true}, /* 3 are no multiple of 2 */
        {REF_MIN, "cpu=4", "pe=pairs|cpus=3|slots_max=4", true},
        {REF_MIN, "cpu=5", "pe=pairs|cpus=3|slots_max=4", false},
        {REF_MIN, "node=2", "pe=fill|cpus=12", false}, /* one host may have them, if it is large */
        {REF_MIN, "node=1", "pe=fill|cpus=12", true},
        {REF_MIN, "node=2", "pe=rr|cpus=4", false},
        {REF_MIN, "node=2", "pe=smp|cpus=4", false},
        {REF_MIN, "node=2", "slots_per_node=2|cpus=4", true},
        {REF_MIN, "node=2", "slots_per_node=2|cpus=2", false},
        {REF_MIN, "node=2", "nodes=2|cpus=4", true},
        {REF_MIN, "node=2", "nodes=1-2|cpus=4", false},
        {REF_TRES, "node=1", "pe=pairs|cpus=4", false},
        {REF_TRES, "node=1", "pe=rr|cpus=4", true},
        {REF_TRES, "node=1", "slots_per_node=2|cpus=4", false},
        {REF_TRES, "cpu=3", "pe=pairs|cpus=3|slots_max=4", false},
    };
    (void)unused;
    for (size_t i = 0; i < 2 * (sizeof rows / sizeof *rows); i++) {
        bool is_denied = i % 2 == 1;
        const char *job = rows[i / 2].job;
        struct world w;
        build(&w);
        world_object(&w, OBJECT_ENVIRONMENT, "smp", "allocation_rule=$pe_slots");
        world_object(&w, OBJECT_ENVIRONMENT, "fill", "allocation_rule=$fill_up");
        world_object(&w, OBJECT_ENVIRONMENT, "rr", "allocation_rule=$round_robin");
        world_object(&w, OBJECT_ENVIRONMENT, "pairs", "allocation_rule=2");
        world_object(&w, OBJECT_PARTITION, "withq", "pe_list=smp fill rr pairs");
        if (is_denied) world_object(&w, OBJECT_QOS, "short", "flags=DenyOnLimit");
        set_limit(&w, AT_QOS, rows[i / 2].kind, rows[i / 2].limit);
        int status = world_apply(&w, job_with_request(job), NULL);
        if (is_denied && (status == 0) != rows[i / 2].starts) fail_msg("%s, %s: denied?", rows[i / 2].limit, job);
        if (!is_denied) assert_int_equal(status, 0);
        if (status == 0 && world_pass(&w) != rows[i / 2].starts) fail_msg("%s, %s: started?", rows[i / 2].limit, job);
        world_release(&w);
    }
}

/* MaxTRESPerNode makes a job need more nodes, which MinTRES counts. */
static void a_limit_of_each_node_makes_more_nodes(void **unused)
{
    (void)unused;
    for (int is_denied = 0; is_denied < 2; is_denied++) {
        struct world w;
        build(&w);
        world_object(&w, OBJECT_ENVIRONMENT, "fill", "allocation_rule=$fill_up");
        world_object(&w, OBJECT_PARTITION, "withq", "pe_list=fill");
        if (is_denied) world_object(&w, OBJECT_QOS, "short", "flags=DenyOnLimit");
        set_limit(&w, AT_QOS, REF_MIN, "node=2");
        set_limit(&w, AT_USER, REF_PER_NODE, "cpu=2");
        (void)world_take(&w, job_with_request("pe=fill|cpus=3"));
        assert_int_equal(world_pass(&w), 1);
        world_release(&w);
    }
}

/* A job that may have one host or two starts on a new one, though two would have to be those that its group has. */
static void a_range_of_hosts_takes_what_it_may(void **unused)
{
    (void)unused;
    struct world w;
    build(&w);
    set_limit(&w, AT_ACCOUNT, REF_GRP_TRES, "node=2");
    (void)world_take(&w, job_of("bob", "a1", "queues=*@localhost|cpus=8|mem_mib=100"));
    assert_int_equal(world_pass(&w), 1);
    (void)world_take(&w, job_of("alice", "a1", "nodes=1-2"));
    assert_int_equal(world_pass(&w), 1);
    world_release(&w);
}

/* Resources that jobs request by name count as gres/NAME and license/NAME, for each slot or once for a job. */
static void requested_resources_count(void **unused)
{
    static const struct {
        const char *limit, *request, *reason;
        bool starts;
    } rows[] = {
        {"gres/fpga=8", "fpga=2", NULL, true},
        {"gres/fpga=7", "fpga=2", "AssocGrpGRES", false},
        {"license/fpga=7", "fpga=2", "AssocGrpLicense", false},
        {"gres/dongle=4", "dongle=2", NULL, true},
        {"gres/dongle=3", "dongle=2", "AssocGrpGRES", false},
        {"gres/dongle=0", "fpga=2", NULL, true},
        {"cpu=4", "hostname=*", NULL, true}, /* a row that the request adds */
    };
    (void)unused;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct world w;
        char request[80];
        build(&w);
        world_object(&w, OBJECT_RESOURCE, "fpga", "consumable=YES|amount=100");
        world_object(&w, OBJECT_RESOURCE, "dongle", "consumable=JOB|amount=100");
        world_set(&w, "AccountingStorageTRES", "gres/fpga,gres/dongle,license/fpga");
        set_limit(&w, AT_ACCOUNT, REF_GRP_TRES, rows[i].limit);
        snprintf(request, sizeof request, "requests=%s", rows[i].request);
        (void)world_take(&w, job_of("bob", "a1", request));
        assert_int_equal(world_pass(&w), 1);
        uint32_t id = world_take(&w, job_of("alice", "a1", request));
        if (world_pass(&w) != rows[i].starts) fail_msg("%s, %s", rows[i].limit, request);
        if (rows[i].starts == 0)
            assert_string_equal(pending_reason_name(job_pending_reason(&w.s, id, 1.0, w.now_us)), rows[i].reason);
        world_release(&w);
    }
}

/* MinTRES is compared with the smallest number of slots. */
static void a_range_of_slots_below_the_minimum(void **unused)
{
    (void)unused;
    struct world w;
    build(&w);
    set_limit(&w, AT_QOS, REF_MIN, "cpu=3");
    (void)world_take(&w, job_of("alice", "a1", "slots_max=6"));
    assert_int_equal(world_pass(&w), 0);
    set_limit(&w, AT_QOS, REF_MIN, "cpu=2");
    assert_int_equal(world_pass(&w), 1);
    world_release(&w);
}

/* Max limits come from the nearest one upward, which may be larger. */
static void max_limits_are_inherited(void **unused)
{
    static const struct {
        const char *user, *account, *grandparent;
        bool starts;
    } rows[] = {{"", "", "cpu=1", false},      {"", "cpu=2", "cpu=1", true},       {"cpu=2", "cpu=1", "cpu=1", true},
                {"cpu=1", "cpu=9", "", false}, {"mem=500", "cpu=1", "", false},    {"mem=500", "cpu=2", "cpu=1", true},
                {"mem=1", "", "", false},      {"node=1", "gres/gpu=0", "", false}};
    (void)unused;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct limits_world l;
        run_first(&l, false);
        set_limit(&l.w, AT_USER, REF_TRES, rows[i].user);
        set_limit(&l.w, AT_ACCOUNT, REF_TRES, rows[i].account);
        set_limit(&l.w, AT_GRANDPARENT, REF_TRES, rows[i].grandparent);
        if (world_pass(&l.w) != rows[i].starts) fail_msg("row %zu", i);
        world_release(&l.w);
    }
}

/* Parts on a host may be apart, as a document may list them. */
static void a_host_counts_once(void **unused)
{
    (void)unused;
    struct world w;
    struct cluster_model model;
    uint32_t hosts[3];
    build(&w);
    struct placement placements[3] = {{.host = 1}, {.host = 0}, {.host = 1}};
    const struct task k = {.placements = placements, .placement_count = 3};
    assert_int_equal(placements_list_hosts(&k, NULL), 2);
    assert_int_equal(placements_list_hosts(&k, hosts), 2);
    assert_true(hosts[0] == 1 && hosts[1] == 0);
    assert_int_equal(cluster_model_make(&w.s, &model, NULL), 0);
    uint32_t main = state_find_object(&w.s, OBJECT_PARTITION, "main");
    uint32_t first = cluster_model_instance(&model, main, 0), second = cluster_model_instance(&model, main, 1);
    struct allocation_part parts[3] = {{second, 1}, {first, 1}, {second, 1}};
    const struct allocation a = {.parts = parts, .part_count = 3, .slots = 3};
    assert_int_equal(cluster_model_list_hosts(&model, &a, NULL), 2);
    assert_int_equal(cluster_model_list_hosts(&model, &a, hosts), 2);
    assert_true(hosts[0] == 1 && hosts[1] == 0);
    cluster_model_release(&model);
    world_release(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limits_of_tres_at_their_edges),
        cmocka_unit_test(limits_of_counts_and_times_at_their_edges),
        cmocka_unit_test(minimums_at_their_edges),
        cmocka_unit_test(submit_limits_at_their_edges),
        cmocka_unit_test(what_waits_counts_in_the_qos_of_each_partition),
        cmocka_unit_test(requests_are_denied_at_their_edges),
        cmocka_unit_test(the_worked_example_of_tres),
        cmocka_unit_test(the_worked_example_of_minutes),
        cmocka_unit_test(minutes_of_requests_are_rounded_up),
        cmocka_unit_test(those_whom_a_limit_does_not_count),
        cmocka_unit_test(what_replaces_what),
        cmocka_unit_test(two_limits_of_nodes),
        cmocka_unit_test(reasons_keep_no_memory),
        cmocka_unit_test(a_limit_of_nodes_is_no_reason_on_full_hosts),
        cmocka_unit_test(an_environment_of_one_host_takes_one),
        cmocka_unit_test(environments_keep_to_limits_of_nodes),
        cmocka_unit_test(environments_are_denied_by_what_a_host_has),
        cmocka_unit_test(the_smallest_size_decides_at_a_submission_and_in_a_pass),
        cmocka_unit_test(a_limit_of_each_node_makes_more_nodes),
        cmocka_unit_test(a_range_of_hosts_takes_what_it_may),
        cmocka_unit_test(requested_resources_count),
        cmocka_unit_test(a_range_of_slots_below_the_minimum),
        cmocka_unit_test(a_host_counts_once),
        cmocka_unit_test(max_limits_are_inherited),
    };
    return cmocka_run_group_tests_name("limits", tests, NULL, NULL);
}
