/* The sentences about a waiting job of an instance: one thing that fails in each row. */
#include "policy_world.h"

#include "engine/visibility.h"
#include "engine/wait_answer.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

/* A host of 4 CPUs, 4 GiB and 2 GPUs with 3 of a resource, a value, and a host that is only described. */
static void furnish(struct world *w)
{
    static const struct host_load values[] = {{"arch", "lx-amd64"}, {"mem_free", "1536M"}, {"load_avg", "6.00"}};
    world_init(w, 4, 4096, 2);
    assert_int_equal(world_apply(w, (struct event){.kind = EVENT_LOAD, .load = {values, COUNT(values)}}, NULL), 0);
    world_object(w, OBJECT_RESOURCE, "fan", "");
    world_object(w, OBJECT_RESOURCE, "license", "amount=5");
    world_object(w, OBJECT_RESOURCE, "os", "type=STRING|relop===|consumable=NO");
    world_object(w, OBJECT_HOST, "localhost", "complex_values=fan=3,os=bookworm|features=avx");
    world_object(w, OBJECT_ENVIRONMENT, "fill", "allocation_rule=$fill_up");
    world_object(w, OBJECT_ENVIRONMENT, "pairs", "allocation_rule=2");
    world_object(w, OBJECT_PARTITION, "main", "pe_list=fill,pairs");
    world_object(w, OBJECT_PARTITION, "fast", "slots=2|MaxTime=10");
}

/* The sentences of a job, joined by " | ". */
static const char *sentences(struct world *w, uint32_t id, enum wait_question question)
{
    static char text[2000];
    struct arena arena = {0};
    struct wait_sentences why;
    size_t length = 0;
    assert_int_equal(wait_answer_make(&w->s, state_find_job(&w->s, id), question, 0, w->now_us, &arena, &why, NULL), 0);
    text[0] = '\0';
    for (uint32_t i = 0; i < why.count; i++)
        length += (size_t)snprintf(text + length, sizeof text - length, "%s%s", i > 0 ? " | " : "", why.items[i]);
    arena_release(&arena);
    return text;
}

static uint32_t submit(struct world *w, const char *fields)
{
    struct event job = world_job("ann");
    struct job_values values = *job.submit;
    values.is_given[JOB_FIELD_MEM_MIB] = false;
    job.submit = fields[0] != '\0' ? job_with(&values, "%s", fields) : &values;
    return world_take(w, job);
}

/* The machine cannot start jobs since one of another user failed; the detail names that user's file. */
static void a_failed_launch_names_no_file_of_others(void **unused)
{
    (void)unused;
    static const char detail[] = "cannot open output /home/bob/secret: No space left on device";
    static const struct {
        const char *private_data;
        enum role role;
        const char *user, *text;
    } rows[] = {
        {"", ROLE_USER, "ann", detail},
        {"usage,users", ROLE_USER, "ann", detail},
        {"jobs", ROLE_USER, "ann", "an operator sees why"},
        {"details", ROLE_USER, "ann", "an operator sees why"},
        {"jobs,details", ROLE_OPERATOR, "olga", detail},
    };
    struct world w;
    furnish(&w);
    uint32_t id = submit(&w, "");
    for (size_t i = 0; i < COUNT(rows); i++) {
        world_set(&w, "private_data", rows[i].private_data);
        launch_backoff_fail(&w.s.launch_backoff, w.now_us, 1, 2, detail);
        const struct actor actor = {1000, 1000, rows[i].user, rows[i].role};
        uint32_t hidden = visibility_hidden_from(&w.s, &actor);
        char expected[200];
        text_format(expected, sizeof expected, "the machine can start no job at present: %s (JobLaunchFailure)",
                    rows[i].text);
        const enum wait_question questions[] = {WAIT_IN_PASS, WAIT_NOW};
        for (size_t k = 0; k < COUNT(questions); k++) {
            struct arena arena = {0};
            struct wait_sentences why;
            assert_int_equal(
                wait_answer_make(&w.s, state_find_job(&w.s, id), questions[k], hidden, w.now_us, &arena, &why, NULL),
                0);
            assert_int_equal(why.count, 1);
            assert_string_equal(why.items[0], expected);
            arena_release(&arena);
        }
        assert_string_equal(visibility_launch_failure(&w.s, hidden), rows[i].text);
        w.s.no_launcher = "the launcher cannot be reached"; /* which is no job's */
        assert_string_equal(visibility_launch_failure(&w.s, hidden), w.s.no_launcher);
        w.s.no_launcher = NULL;
    }
    world_release(&w);
}

#define GONE "queue instance \"fast@localhost\" dropped because it is "
#define FULL "queue instance \"main@localhost\" dropped because it is full | "

static void what_is_missing_now_is_named(void **unused)
{
    (void)unused;
    static const struct {
        const char *running, *waiting, *changes, *text; /* changes: of localhost */
    } rows[] = {
        {"", "", "", ""},
        {"cpus=4|requests=license=1", "requests=license=2", "",
         FULL "(-l license=2) cannot run globally because it offers only gc:license=1.000000"},
        {"requests=license=4", "requests=license=2", "",
         "(-l license=2) cannot run globally because it offers only gc:license=1.000000"},
        {"requests=fan=3", "requests=fan=1", "",
         "(-l fan=1) cannot run at host \"localhost\" because it offers only hc:fan=0.000000"},
        {"cpus=3", "cpus=2", "",
         "(-l slots=2) cannot run at host \"localhost\" because it offers only hc:slots=1.000000"},
        {"gpus=2", "gpus=1", "",
         "(-l gres/gpu=1) cannot run at host \"localhost\" because it offers only hc:gres/gpu=0.000000"},
        {"mem_mib=4000", "mem_mib=512", "",
         "(-l mem=512M) cannot run at host \"localhost\" because it offers only hc:mem=96.000M"},
        {"", "requests=os=bookworm", "complex_values=os=trixie",
         "(-l os=bookworm) cannot run at host \"localhost\" because it offers only hf:os=trixie"},
        {"", "requests=mem_free=4G", "",
         "(-l mem_free=4G) cannot run at host \"localhost\" because it offers only hl:mem_free=1.500G"},
        {"", "requests=mem_free=4G,fan=1", "",
         "(-l fan=1,mem_free=4G) cannot run at host \"localhost\" because it offers only hl:mem_free=1.500G"},
        {"cpus=2", "cpus=4|pe=fill", "", "cannot run in PE \"fill\" because it only offers 2 slots"},
        {"cpus=3", "cpus=2|pe=pairs", "", "cannot run in PE \"pairs\" because it only offers 0 slots"},
        {"cpus=1", "queues=main|cpus=4", "",
         "(-l slots=4) cannot run at host \"localhost\" because it offers only hc:slots=3.000000"},
        {"", "held=yes", "", "Job is in hold state"},
        {"", "begin_us=1800000000000000", "", "execution time not reached"},
        {"", "", "state=DRAIN",
         "queue instance \"main@localhost\" dropped because it is disabled | All queues dropped because they are disabled "
         "or not available"},
        {"", "", "state=DOWN",
         "queue instance \"main@localhost\" dropped because it is temporarily not available | All queues dropped because "
         "they are disabled or not available"},
        {"", "partitions=main,fast|time_limit_s=60", "state=DOWN",
         "queue instance \"main@localhost\" dropped because it is temporarily not available | " GONE
         "temporarily not available | All queues dropped because they are disabled or not available"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct world w;
        furnish(&w);
        if (rows[i].running[0] != '\0') (void)submit(&w, rows[i].running);
        (void)world_pass(&w);
        uint32_t id = submit(&w, rows[i].waiting);
        if (rows[i].changes[0] != '\0') world_object(&w, OBJECT_HOST, "localhost", rows[i].changes);
        assert_string_equal(sentences(&w, id, WAIT_IN_PASS), rows[i].text);
        world_release(&w);
    }
}

static void a_threshold_has_its_arithmetic(void **unused)
{
    (void)unused;
    static const struct {
        const char *settings, *thresholds, *text;
    } rows[] = {
        {"schedule_interval=1", "load_thresholds=load_avg=5", "load_avg=6.000000 (no load adjustment) >= 5"},
        {"schedule_interval=1", "load_thresholds=mem_free=2G", "mem_free=1.500G (no load adjustment) <= 2.000G"},
        {"job_load_adjustments=load_avg=0.5 load_adjustment_decay_time=60", "load_thresholds=load_avg=5",
         "load_avg=6.000000 (= 6.000000 + 0.50 * 0.000000) >= 5"},
        {"job_load_adjustments=np_load_avg=0.5 load_adjustment_decay_time=60", "load_thresholds=np_load_avg=1.25",
         "np_load_avg=1.500000 (= 1.500000 + 0.50 * 0.000000 with nproc=4) >= 1.25"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct world w;
        char wanted[300];
        furnish(&w);
        world_settings(&w, rows[i].settings);
        world_object(&w, OBJECT_PARTITION, "main", rows[i].thresholds);
        uint32_t id = submit(&w, "cpus=1");
        snprintf(wanted, sizeof wanted, "queue instance \"main@localhost\" dropped because it is overloaded: %s",
                 rows[i].text);
        assert_string_equal(sentences(&w, id, WAIT_IN_PASS), wanted);
        assert_string_equal(sentences(&w, id, WAIT_NOW), ""); /* loads do not count */
        world_release(&w);
    }
}

/* docs/formulas.md 10: 4 slots that started a second ago count 99 hundredths each. */
static void slots_that_have_just_started_raise_the_load(void **unused)
{
    (void)unused;
    static const struct host_load values[] = {{"load_avg", "1.80"}, {"num_proc", "2"}};
    struct world w;
    furnish(&w);
    world_settings(&w, "job_load_adjustments=np_load_avg=0.5 load_adjustment_decay_time=100");
    world_object(&w, OBJECT_PARTITION, "main", "load_thresholds=np_load_avg=1.75");
    assert_int_equal(world_apply(&w, (struct event){.kind = EVENT_LOAD, .load = {values, COUNT(values)}}, NULL), 0);
    (void)submit(&w, "cpus=4");
    assert_int_equal(world_pass(&w), 1);
    w.now_us += SECOND;
    assert_string_equal(sentences(&w, submit(&w, ""), WAIT_IN_PASS),
                        "queue instance \"main@localhost\" dropped because it is overloaded: np_load_avg=1.890000 (= "
                        "0.900000 + 0.50 * 3.960000 with nproc=2) >= 1.75");
    world_release(&w);
}

/* Grid Engine has no sentence for limits of a QOS. */
static void a_limit_is_named(void **unused)
{
    (void)unused;
    struct world w;
    furnish(&w);
    world_object(&w, OBJECT_QOS, "normal", "MaxJobsPerUser=1");
    (void)submit(&w, "");
    assert_int_equal(world_pass(&w), 1);
    uint32_t id = submit(&w, "");
    static const char limit[] = "QOS 'normal' has MaxJobsPerUser=1; 1 in use by 'ann' (QOSMaxJobsPerUserLimit)";
    assert_string_equal(sentences(&w, id, WAIT_IN_PASS), limit);
    assert_string_equal(sentences(&w, id, WAIT_NOW), limit);
    world_release(&w);
}

#define OVER_MAX_TIME                                                                                      \
    "cannot run in queue \"main\" because its time limit, 02:00:00, exceeds MaxTime of partition 'main', " \
    "01:00:00 (PartitionTimeLimit)"

static void queues_and_hosts_that_do_not_serve_are_named(void **unused)
{
    (void)unused;
    static const struct {
        const char *job, *changes, *empty, *now; /* changes: of main */
    } rows[] = {
        {"queues=main", "user_lists=zoe", "has no permission for cluster queue \"main\"",
         "has no permission for cluster queue \"main\""},
        {"partitions=main,fast|queues=main|time_limit_s=600", "user_lists=zoe",
         "has no permission for cluster queue \"main\" | cannot run in queue \"fast\" because it is not contained in its "
         "hard queue list (-q)",
         "has no permission for cluster queue \"main\" | cannot run in queue \"fast\" because it is not contained in its "
         "hard queue list (-q)"},
        {"time_limit_s=7200", "MaxTime=60", OVER_MAX_TIME, OVER_MAX_TIME},
        /* None of the hosts is open to it, so it is not said that too few are free together. */
        {"time_limit_s=7200|nodes=1-2|cpus=2", "MaxTime=60", OVER_MAX_TIME, OVER_MAX_TIME},
        {"", "state=DRAIN", "", ""},
        {"", "state=DOWN", "", "queue instance \"main@localhost\" dropped because it is temporarily not available"},
        {"", "AllowAccounts=root",
         "cannot run in queue \"main\" because partition 'main' does not accept account "
         "'default' (AllowAccounts root) (AccountNotAllowed)",
         "cannot run in queue \"main\" because partition 'main' does not accept account 'default' (AllowAccounts root) "
         "(AccountNotAllowed)"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct world w;
        furnish(&w);
        uint32_t id = submit(&w, rows[i].job);
        world_object(&w, OBJECT_PARTITION, "main", rows[i].changes);
        assert_string_equal(sentences(&w, id, WAIT_EMPTY), rows[i].empty);
        assert_string_equal(sentences(&w, id, WAIT_NOW), rows[i].now);
        world_release(&w);
    }
}

/* A job that would run when its queue closes could start if it were shorter. */
static void a_closed_time_ahead_is_named(void **unused)
{
    (void)unused;
    struct world w;
    furnish(&w);
    world_object(&w, OBJECT_CALENDAR, "night", "week=6-20");
    world_object(&w, OBJECT_PARTITION, "main", "calendar=night");
    const struct closed_time times[] = {{w.now_us + 100 * SECOND, w.now_us + 900 * SECOND}};
    const struct event_calendar calendar = {"night", times, 1};
    assert_int_equal(world_apply(&w, (struct event){.kind = EVENT_CALENDARS, .calendars = {&calendar, 1}}, NULL), 0);
    uint32_t longer = submit(&w, "time_limit_s=300"), shorter = submit(&w, "time_limit_s=60");
    assert_string_equal(
        sentences(&w, longer, WAIT_IN_PASS),
        "cannot run in queue \"main\" because it closes before the job's planned end (calendar 'night')");
    assert_string_equal(sentences(&w, shorter, WAIT_IN_PASS), "");
    w.now_us += 200 * SECOND;
    assert_string_equal(sentences(&w, shorter, WAIT_NOW),
                        "queue instance \"main@localhost\" dropped because it is temporarily not available");
    world_release(&w);
}

/* Pools of users, of hosts, and the limits of running tasks. */
static void a_quota_is_named(void **unused)
{
    (void)unused;
    static const struct {
        const char *rules, *settings, *fields, *in_pass, *now;
        bool runs_in_fast; /* so that fast has one slot */
    } rows[] = {
        {"limit users {*} to slots=1", "", "cpus=1",
         "cannot run because it exceeds limit \"ann/////\" in rule \"q/1\": slots=1; 1 in use, 1 requested",
         "cannot run because it exceeds limit \"ann/////\" in rule \"q/1\": slots=1; 1 in use, 1 requested", false},
        {"limit hosts {*} to slots=2", "", "cpus=2",
         "cannot run because it exceeds limit \"////localhost/\" in rule \"q/1\": slots=2; 1 in use, 2 requested",
         "cannot run because it exceeds limit \"////localhost/\" in rule \"q/1\": slots=2; 1 in use, 2 requested",
         false},
        {"limit queues {*} to slots=1", "", "cpus=1|partitions=main",
         "cannot run because it exceeds limit \"///main//\" in rule \"q/1\": slots=1; 1 in use, 1 requested",
         "cannot run because it exceeds limit \"///main//\" in rule \"q/1\": slots=1; 1 in use, 1 requested", false},
        {"limit queues main to slots=1", "", "cpus=2|time_limit_s=60|partitions=main,fast",
         "cannot run because it exceeds limit \"/////\" in rule \"q/1\": slots=1; 1 in use, 2 requested | (-l slots=2) cannot "
         "run in queue \"fast@localhost\" because it offers only qc:slots=1.000000",
         "cannot run because it exceeds limit \"/////\" in rule \"q/1\": slots=1; 1 in use, 2 requested | (-l slots=2) cannot "
         "run in queue \"fast@localhost\" because it offers only qc:slots=1.000000",
         true},
        {"limit users eve to slots=1", "", "cpus=1", "", "", false},
        {"limit users {*} to slots=2", "maxujobs=1", "cpus=1",
         "job dropped because of user limitations: maxujobs=1; 1 in use by 'ann'", "", false},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct world w;
        furnish(&w);
        static struct event_pair rules;
        rules = (struct event_pair){"rules", rows[i].rules};
        const struct event quota = {
            .kind = EVENT_OBJECT_ADD, .actor = world_operator, .object = {OBJECT_QUOTA, "q", &rules, 1}};
        assert_int_equal(world_apply(&w, quota, NULL), 0);
        (void)submit(&w, "cpus=1|partitions=main");
        if (rows[i].runs_in_fast) (void)submit(&w, "cpus=1|partitions=fast|time_limit_s=60");
        assert_int_equal(world_pass(&w), 1 + rows[i].runs_in_fast);
        if (rows[i].settings[0] != '\0') world_settings(&w, rows[i].settings);
        uint32_t id = submit(&w, rows[i].fields);
        assert_string_equal(sentences(&w, id, WAIT_IN_PASS), rows[i].in_pass);
        assert_string_equal(sentences(&w, id, WAIT_NOW), rows[i].now);
        world_release(&w);
    }
}

/* max_aj_instances, and the array's own limit. */
static void an_array_at_its_limit_says_so(void **unused)
{
    (void)unused;
    struct world w;
    furnish(&w);
    uint32_t id = submit(&w, "cpus=1|array=0-2");
    world_settings(&w, "max_aj_instances=1");
    assert_int_equal(world_pass(&w), 1);
    assert_string_equal(sentences(&w, id, WAIT_IN_PASS),
                        "job dropped because of user limitations: max_aj_instances=1; 1 of its tasks run");
    assert_string_equal(sentences(&w, id, WAIT_NOW), "");
    uint32_t own = submit(&w, "cpus=1|array=0-2%1");
    assert_int_equal(world_pass(&w), 1);
    assert_string_equal(sentences(&w, own, WAIT_IN_PASS),
                        "job dropped because of user limitations: its own limit=1; 1 of its tasks run");
    world_release(&w);
}

static void a_job_that_waits_for_another_one_says_so(void **unused)
{
    (void)unused;
    struct world w;
    furnish(&w);
    uint32_t first = submit(&w, "cpus=1");
    uint32_t second = submit(&w, "cpus=1|dependency=afterok:1");
    assert_string_equal(sentences(&w, first, WAIT_IN_PASS), "");
    assert_string_equal(sentences(&w, second, WAIT_IN_PASS), "job dropped because of job dependencies");
    assert_string_equal(sentences(&w, second, WAIT_NOW), "");
    assert_int_equal(world_pass(&w), 1);
    world_run(&w, first, 0);
    world_end(&w, first, 0);
    assert_string_equal(sentences(&w, second, WAIT_IN_PASS), "");
    world_release(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_failed_launch_names_no_file_of_others),
        cmocka_unit_test(what_is_missing_now_is_named),
        cmocka_unit_test(a_threshold_has_its_arithmetic),
        cmocka_unit_test(a_limit_is_named),
        cmocka_unit_test(a_quota_is_named),
        cmocka_unit_test(an_array_at_its_limit_says_so),
        cmocka_unit_test(a_job_that_waits_for_another_one_says_so),
        cmocka_unit_test(slots_that_have_just_started_raise_the_load),
        cmocka_unit_test(queues_and_hosts_that_do_not_serve_are_named),
        cmocka_unit_test(a_closed_time_ahead_is_named),
    };
    return cmocka_run_group_tests_name("wait sentences", tests, NULL, NULL);
}
