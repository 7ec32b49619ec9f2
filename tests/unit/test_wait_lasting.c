/* What keeps a job waiting until a limit or the job changes: what it exceeds by itself, and not what others use. */
#include "policy_world.h"

#include "engine/wait_answer.h"
#include "engine/wait_lasting.h"

static void furnish(struct world *w)
{
    world_init(w, 8, 8000, 2);
    world_settings(w, "AccountingStorageEnforce=associations,limits,qos EnforcePartLimits=NO default_time_s=7200");
    world_user(w, "a", 1, "ann");
    world_user(w, "b", 1, "bob");
    world_object(w, OBJECT_QOS, "short", "");
    world_object(w, OBJECT_PARTITION, "late", "");
    world_object(w, OBJECT_RESOURCE, "license", "amount=9");
}

static struct event job_of(const char *fields)
{
    const struct job_values *v = job_text("name=job|directory=/|command=true|mem_mib=100|cpus=1");
    return (struct event){
        .kind = EVENT_SUBMIT, .actor = {1000, 1000, "ann", ROLE_USER}, .submit = job_with(v, "%s", fields)};
}

static void expect(struct world *w, uint32_t id, const char *text, const char *field, const char *what)
{
    struct arena arena = {0};
    struct wait_lasting wait;
    bool found = wait_lasting_find(&w->s, &w->s.jobs.items[state_find_job(&w->s, id)], w->now_us, &arena, &wait);
    if (found != (text != NULL)) fail_msg("%s: %s", what, found ? wait.text : "nothing found");
    if (found) assert_string_equal(wait.text, text);
    if (found) assert_string_equal(job_field_at(wait.field)->name, field);
    arena_release(&arena);
}

struct row {
    enum object_kind kind;
    const char *name, *object; /* the limit; kind QOS, name NULL: of account a */
    const char *job;
    const char *text, *field; /* NULL: it could start */
};

static const struct row rows[] = {
    {OBJECT_QOS, "short", "MaxWall=60", "qos=short",
     "QOS 'short' has MaxWall=01:00:00; 02:00:00 requested, the default (default_time_s); give the job a time limit of "
     "at most 01:00:00 (QOSMaxWallDurationPerJobLimit)",
     "time_limit_s"},
    {OBJECT_QOS, "short", "MaxWall=60", "qos=short|time_limit_s=3600", NULL, NULL},
    {OBJECT_QOS, "short", "MaxTRES=cpu=1", "qos=short|cpus=2",
     "QOS 'short' has MaxTRES=cpu=1; 2 requested (QOSMaxCpuPerJobLimit)", "cpus"},
    {OBJECT_QOS, "short", "MaxTRES=mem=99", "qos=short",
     "QOS 'short' has MaxTRES=mem=99M; 100M requested (QOSMaxMemoryPerJob)", "mem_mib"},
    {OBJECT_QOS, "short", "GrpTRES=gres/gpu=1", "qos=short|gpus=2",
     "QOS 'short' has GrpTRES=gres/gpu=1; 2 requested (QOSGrpGRES)", "gpus"},
    {OBJECT_QOS, "short", "MaxTRESMins=cpu=119", "qos=short",
     "QOS 'short' has MaxTRESMins=cpu=119; 120 requested (QOSMaxCpuMinutesPerJobLimit)", "time_limit_s"},
    {OBJECT_QOS, "short", "GrpTRESMins=cpu=119", "qos=short", NULL, NULL}, /* without safe the request does not count */
    {OBJECT_QOS, "short", "GrpTRESMins=cpu=0", "qos=short",
     "QOS 'short' has GrpTRESMins=cpu=0; 120 requested (QOSGrpCPUMinutesLimit)", "qos"},
    {OBJECT_QOS, "short", "GrpJobs=0", "qos=short", "QOS 'short' has GrpJobs=0; 0 in use (QOSGrpJobsLimit)", "qos"},
    {OBJECT_QOS, "short", "GrpJobs=0", "", NULL, NULL},
    {OBJECT_QOS, NULL, "GrpTRES=cpu=3", "cpus=4", "account 'a' has GrpTRES=cpu=3; 4 requested (AssocGrpCpuLimit)",
     "cpus"},
    {OBJECT_QOS, NULL, "MaxJobs=0", "", "account 'a' has MaxJobs=0; 0 in use (AssocMaxJobsLimit)", "account"},
    {OBJECT_PARTITION, "late", "MaxTime=60", "partitions=late|time_limit_s=3601",
     "its time limit, 01:00:01, exceeds MaxTime of partition 'late', 01:00:00 (PartitionTimeLimit)", "time_limit_s"},
    {OBJECT_PARTITION, "late", "MaxTime=60", "partitions=late,main|time_limit_s=3601", NULL, NULL},
    {OBJECT_PARTITION, "late", "DenyAccounts=a", "partitions=late",
     "partition 'late' refuses account 'a' (DenyAccounts a) (AccountNotAllowed)", "partitions"},
    {OBJECT_PARTITION, "late", "AllowQos=normal", "partitions=late|qos=short",
     "partition 'late' does not accept QOS 'short' (AllowQos normal) (QOSNotAllowed)", "qos"},
    {OBJECT_QUOTA, "q", "rules=limit users {*} to slots=3", "cpus=4",
     "it exceeds limit \"ann/////\" in rule \"q/1\" by itself: slots=3; 4 requested (QuotaLimit)", "cpus"},
    {OBJECT_QUOTA, "q", "rules=limit users {*} to mem=1G", "cpus=2|mem_mib=1200",
     "it exceeds limit \"ann/////\" in rule \"q/1\" by itself: mem=1G; 1200M requested (QuotaLimit)", "mem_mib"},
    {OBJECT_QUOTA, "q", "rules=limit users {*} to mem=512K", "",
     "it exceeds limit \"ann/////\" in rule \"q/1\" by itself: mem=512K; 100M requested (QuotaLimit)", "mem_mib"},
    {OBJECT_QUOTA, "q", "rules=limit users {*} to license=2", "cpus=3|requests=license=1",
     "it exceeds limit \"ann/////\" in rule \"q/1\" by itself: license=2; 3 requested (QuotaLimit)", "requests"},
    {OBJECT_QUOTA, "q", "rules=limit users {*} to gres/gpu=1", "gpus=2",
     "it exceeds limit \"ann/////\" in rule \"q/1\" by itself: gres/gpu=1; 2 requested (QuotaLimit)", "gpus"},
    {OBJECT_QUOTA, "q", "rules=limit users {*} to slots=3", "cpus=3", NULL, NULL},
    {OBJECT_QUOTA, "q", "rules=limit users bob to slots=3", "cpus=4", NULL, NULL},
    {OBJECT_QUOTA, "q", "rules=limit queues late to slots=3", "cpus=4|partitions=late,main", NULL, NULL},
};

static void set_limit(struct world *w, const struct row *row)
{
    struct event_pair pair;
    struct str value;
    if (row->kind == OBJECT_QUOTA) {
        pair = (struct event_pair){"rules", row->object + strlen("rules=")};
        const struct event quota = {
            .kind = EVENT_OBJECT_ADD, .actor = world_operator, .object = {OBJECT_QUOTA, "q", &pair, 1}};
        assert_int_equal(world_apply(w, quota, NULL), 0);
    } else if (row->name != NULL) {
        world_object(w, row->kind, row->name, row->object);
    } else {
        struct str key = str_cut(str(row->object), '=', &value);
        pair = (struct event_pair){arena_copy(&w->s.arena, key), value.text};
        struct event change = {.kind = EVENT_ACCOUNT_MODIFY, .account = {"a", NULL, SHARES_UNSET, PRIORITY_UNSET}};
        change.account.pairs = &pair;
        change.account.count = 1;
        if (world_apply(w, change, NULL) != 0) fail_msg("%s", ERR_SENTENCE(&w->e));
    }
}

static void what_a_job_exceeds_by_itself_lasts(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct world w;
        furnish(&w);
        set_limit(&w, &rows[i]);
        uint32_t id = world_take(&w, job_of(rows[i].job));
        expect(&w, id, rows[i].text, rows[i].field, rows[i].object);
        assert_int_equal(world_pass(&w), rows[i].text == NULL);
        world_release(&w);
    }
}

/* Where usage leaves some room, a shorter time limit helps; another account or QOS only where it leaves none. */
static void a_shorter_job_fits_in_what_is_left(void **unused)
{
    static const struct {
        int64_t ran_s;
        const char *field;
    } cases[] = {{3600, "time_limit_s"}, {7200, "qos"}};
    (void)unused;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct world w;
        char text[TEXT_MAX];
        furnish(&w);
        world_settings(&w, "AccountingStorageEnforce=associations,limits,qos,safe");
        world_object(&w, OBJECT_QOS, "short", "flags=NoDecay|GrpTRESMins=cpu=120");
        uint32_t first = world_take(&w, job_of("qos=short"));
        assert_int_equal(world_pass(&w), 1);
        world_started(&w, world_task(&w, first, 0)->launch_id);
        w.now_us += cases[i].ran_s * SECOND;
        world_end(&w, first, 0);
        snprintf(text, sizeof text,
                 "QOS 'short' has GrpTRESMins=cpu=120; %d in use, 120 requested (QOSGrpCPUMinutesLimit)",
                 (int)cases[i].ran_s / 60);
        expect(&w, world_take(&w, job_of("qos=short")), text, cases[i].field, text);
        world_release(&w);
    }
}

static void dependencies_that_fail_last(void **unused)
{
    (void)unused;
    struct world w;
    furnish(&w);
    uint32_t first = world_take(&w, job_of(""));
    assert_int_equal(world_pass(&w), 1);
    world_started(&w, world_task(&w, first, 0)->launch_id);
    uint32_t waiting = world_take(&w, job_of("dependency=afternotok:1")),
             later = world_take(&w, job_of("dependency=afterok:1"));
    expect(&w, waiting, NULL, NULL, "the job runs");
    world_end(&w, first, 0);
    expect(&w, waiting, "its dependencies can never be met: afternotok:1(failed) (DependencyNeverSatisfied)",
           "dependency", "the job has ended well");
    expect(&w, later, NULL, NULL, "a condition that is met");
    world_release(&w);
}

/* A job that waits only for what others use waits for their ends, and nothing has to change. */
static void what_others_use_does_not_last(void **unused)
{
    static const struct row limits[] = {
        {OBJECT_QOS, "short", "GrpTRES=cpu=4", "", NULL, NULL},
        {OBJECT_QOS, NULL, "GrpJobs=1", "", NULL, NULL},
        {OBJECT_QUOTA, "q", "rules=limit users {*} to slots=4", "", NULL, NULL},
        {OBJECT_QUOTA, "q", "rules=limit hosts {*} to slots=4", "", NULL, NULL},
    };
    (void)unused;
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        struct world w;
        furnish(&w);
        set_limit(&w, &limits[i]);
        (void)world_take(&w, job_of("cpus=4|qos=short"));
        assert_int_equal(world_pass(&w), 1);
        uint32_t id = world_take(&w, job_of("cpus=4|qos=short"));
        assert_int_equal(world_pass(&w), 0);
        expect(&w, id, NULL, NULL, limits[i].object);
        world_release(&w);
    }
}

/* On the empty cluster quotas count, with all of their amounts: qsub -w v. */
static void a_quota_counts_on_the_empty_cluster(void **unused)
{
    static const struct {
        const char *rules, *job, *sentence; /* NULL: possible */
    } cases[] = {
        {"limit users {*} to slots=3", "cpus=4",
         "cannot run because it exceeds limit \"ann/////\" in rule \"q/1\": slots=3; 4 requested"},
        {"limit users {*} to slots=4", "cpus=4", NULL},
        {"limit hosts {*} to slots=3", "cpus=4",
         "cannot run because it exceeds limit \"////localhost/\" in rule \"q/1\": slots=3; 4 requested"},
        {"limit queues late to slots=3", "cpus=4|partitions=late,main", NULL},
    };
    (void)unused;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct world w;
        struct arena arena = {0};
        struct wait_sentences why;
        furnish(&w);
        char object[TEXT_MAX];
        snprintf(object, sizeof object, "rules=%s", cases[i].rules);
        set_limit(&w, &(struct row){OBJECT_QUOTA, "q", object, "", NULL, NULL});
        (void)world_take(&w, job_of("cpus=3|partitions=main"));
        assert_int_equal(world_pass(&w), 1);
        uint32_t id = world_take(&w, job_of(cases[i].job)), job = state_find_job(&w.s, id);
        assert_int_equal(wait_answer_make(&w.s, job, WAIT_EMPTY, 0, w.now_us, &arena, &why, NULL), 0);
        assert_int_equal(why.is_possible, cases[i].sentence == NULL);
        assert_int_equal(why.count, cases[i].sentence != NULL);
        if (why.count > 0) assert_string_equal(why.items[0], cases[i].sentence);
        arena_release(&arena);
        world_release(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_job_exceeds_by_itself_lasts),  cmocka_unit_test(a_shorter_job_fits_in_what_is_left),
        cmocka_unit_test(dependencies_that_fail_last),         cmocka_unit_test(what_others_use_does_not_last),
        cmocka_unit_test(a_quota_counts_on_the_empty_cluster),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
