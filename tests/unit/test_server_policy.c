/* The server's replies about policies: objects of every kind, the fields of jobs that policies use, jobs by priority,
 * and shares of one user. */
#include "server_fixture.h"

#include "api/server/internal.h"
#include "base/number.h"
#include "fields/priority_fields.h"

#define COUNT(rows) (sizeof(rows) / sizeof(rows)[0])
#define JOB "\"directory\":\"/tmp\",\"command\":\"c\",\"arguments\":[\"x\"]"
#define NOW_US INT64_C(1700000000000000) /* of a new world */

struct row {
    const char *method, *target, *body;
    int status;
    const char *part; /* of the reply's body */
};

/* A QOS without limits. */
#define NO_LIMITS                                                                                                  \
    "\"GrpJobs\":\"UNLIMITED\",\"GrpSubmitJobs\":\"UNLIMITED\",\"GrpWall\":\"UNLIMITED\","                         \
    "\"GrpTRES\":\"\",\"GrpTRESMins\":\"\",\"GrpTRESRunMins\":\"\","                                               \
    "\"MaxJobsPerUser\":\"UNLIMITED\",\"MaxJobsPerAccount\":\"UNLIMITED\",\"MaxSubmitJobsPerUser\":\"UNLIMITED\"," \
    "\"MaxSubmitJobsPerAccount\":\"UNLIMITED\",\"MaxWall\":\"UNLIMITED\",\"MaxTRES\":\"\","                        \
    "\"MaxTRESPerNode\":\"\",\"MaxTRESPerUser\":\"\",\"MaxTRESPerAccount\":\"\","                                  \
    "\"MaxTRESMins\":\"\",\"MinTRES\":\"\","

static void ask_all(struct fixture *f, struct answer *a, const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct row *row = &rows[i];
        fixture_ask(f, a, row->method, row->target, row->body);
        if (a->reply.status != row->status || a->body.text == NULL || strstr(a->body.text, row->part) == NULL)
            fail_msg("%s %s %s: %d %s, expected %d %s", row->method, row->target, row->body ? row->body : "",
                     a->reply.status, a->body.text ? a->body.text : "", row->status, row->part);
    }
}

/* --- objects ------------------------------------------------------------------------------------------------------ */

static const struct row objects[] = {
    {"GET", "/v1/partitions", NULL, 200,
     "{\"partitions\":[\n{\"name\":\"main\",\"PriorityJobFactor\":1,\"PriorityTier\":1,\"MaxTime\":\"UNLIMITED\","
     "\"TRESBillingWeights\":\"\",\"fshare\":0,\"oticket\":0,\"hosts\":\"\",\"slots\":\"AUTO\",\"seq_no\":\"0\",\"load_thresholds\":\"NONE\","
     "\"pe_list\":\"NONE\",\"complex_values\":\"NONE\",\"user_lists\":\"NONE\",\"xuser_lists\":\"NONE\",\"state\":\"UP\",\"calendar\":\"NONE\",\"QOS\":\"\","
     "\"DefaultTime\":\"NONE\",\"MinNodes\":0,\"MaxNodes\":\"UNLIMITED\",\"MaxCPUsPerNode\":\"UNLIMITED\",\"MaxMemPerNode\":\"UNLIMITED\",\"DefMemPerCPU\":\"UNLIMITED\",\"AllowAccounts\":\"ALL\",\"DenyAccounts\":\"NONE\",\"AllowQos\":\"ALL\",\"DenyQos\":\"NONE\","
     "\"closed_until_us\":null,\"default\":true,\"created_us\":1700000000000000}\n]}\n"},
    {"POST", "/v1/partitions",
     "{\"name\":\"fast\",\"prioritytier\":2,\"TRESBillingWeights\":\"CPU=1.0,Mem=0.25G\",\"MaxTime\":\"2:00:00\"}", 200,
     "{\"ok\":true}\n"},
    {"POST", "/v1/partitions", "{\"name\":\"fast\"}", 409, "\"name\":\"exists\""},
    {"GET", "/v1/partitions", NULL, 200,
     "{\"name\":\"fast\",\"PriorityJobFactor\":1,\"PriorityTier\":2,\"MaxTime\":\"120\","
     "\"TRESBillingWeights\":\"CPU=1.0,Mem=0.25G\",\"fshare\":0,"},
    {"POST", "/v1/partitions", "{\"PriorityTier\":2}", 400, "name: missing; the name of the partition"},
    {"POST", "/v1/partitions", "{}", 400, "nothing to change: give at least one"},
    {"POST", "/v1/partitions", "{\"name\":\"a b\"}", 400, "names have no blanks"},
    {"POST", "/v1/partitions", "{\"name\":\"x\",\"Colour\":1}", 400,
     "partition 'x': 'Colour' is not a field; the fields are: PriorityJobFactor, PriorityTier, MaxTime, "},
    {"POST", "/v1/partitions", "{\"name\":\"x\",\"PriorityTier\":65534}", 400,
     "PriorityTier: '65534' is not a whole number from 0 to 65533"},
    {"POST", "/v1/partitions", "{\"name\":\"x\",\"PriorityTier\":1.5}", 400, "PriorityTier: '1.5' is not"},
    {"POST", "/v1/partitions", "{\"name\":\"x\",\"PriorityTier\":[1]}", 400,
     "PriorityTier: a list is not text, a number, true or false"},
    {"POST", "/v1/partitions", "{\"name\":\"x\",\"TRESBillingWeights\":\"petrol=1\"}", 400, "petrol"},
    {"PATCH", "/v1/partitions/fast", "{\"PriorityTier\":3,\"oticket\":-1}", 400, "oticket: '-1' is not"},
    {"GET", "/v1/partitions", NULL, 200,
     "\"PriorityTier\":2,\"MaxTime\":\"120\""}, /* the refused change had no effect */
    {"PATCH", "/v1/partitions/fast", "{\"PriorityTier\":3,\"oticket\":7}", 200, "true"},
    {"PATCH", "/v1/partitions/fast", "{\"name\":\"slow\"}", 400, "'name' is not a field; the fields are: "},
    {"PATCH", "/v1/partitions/slow", "{\"PriorityTier\":3}", 404, "no partition 'slow'"},
    {"PATCH", "/v1/partitions/fast?x=1", "{\"PriorityTier\":3}", 400, "unexpected query parameter 'x'"},
    {"POST", "/v1/jobs", "{" JOB ",\"partitions\":\"fast\"}", 201, "1"},
    {"DELETE", "/v1/partitions/fast", NULL, 409, "partition 'fast' is in use by 1 live job"},
    {"DELETE", "/v1/partitions/slow", NULL, 404, "no partition 'slow'"},
    {"DELETE", "/v1/jobs/1", NULL, 200, "1"},
    {"DELETE", "/v1/partitions/fast", NULL, 200, "true"},
    {"DELETE", "/v1/partitions/main", NULL, 409, "is the only one"},

    {"POST", "/v1/qos", "{\"name\":\"urgent\",\"priority\":100,\"usage_factor\":0.5,\"flags\":\"NoDecay\"}", 200, "ok"},
    {"GET", "/v1/qos", NULL, 200,
     "{\"name\":\"urgent\",\"priority\":100,\"usage_factor\":0.5,\"usage_threshold\":0,\"flags\":\"NoDecay\"," NO_LIMITS
     ""
     "\"usage\":0,\"usage_wall_s\":0,\"usage_tres\":\"\",\"created_us\":"},
    {"PATCH", "/v1/qos/urgent", "{\"usage_factor\":\"2.5\"}", 200, "true"},
    {"PATCH", "/v1/qos/urgent", "{\"flags\":\"Relative\"}", 400, "Relative"},
    {"GET", "/v1/qos", NULL, 200, "\"usage_factor\":2.5"},
    {"DELETE", "/v1/qos/normal", NULL, 409, "normal"},

    {"POST", "/v1/resources", "{\"name\":\"license\",\"type\":\"int\",\"urgency\":-1.5,\"amount\":10}", 200, "true"},
    {"POST", "/v1/resources", "{\"name\":\"bigio\",\"type\":\"BOOL\"}", 200, "true"},
    {"GET", "/v1/resources", NULL, 200,
     "{\"name\":\"license\",\"type\":\"INT\",\"urgency\":-1.5,\"amount\":10,\"relop\":\"<=\",\"consumable\":\"YES\",\"default_amount\":\"0\","
     "\"built_in\":false,\"created_us\":1700000000000000},\n"
     "{\"name\":\"bigio\",\"type\":\"BOOL\",\"urgency\":0,\"amount\":\"UNLIMITED\","},
    {"POST", "/v1/resources", "{\"name\":\"x\",\"type\":\"FLOAT\"}", 400, "type: 'FLOAT' is not one of INT, DOUBLE"},

    {"POST", "/v1/departments", "{\"name\":\"chem\",\"fshare\":200}", 200, "true"},
    {"POST", "/v1/projects", "{\"name\":\"P1\",\"oticket\":5000}", 200, "true"},
    {"GET", "/v1/projects", NULL, 200, "{\"projects\":[\n{\"name\":\"P1\",\"fshare\":0,\"oticket\":5000,"},
    {"POST", "/v1/user-policies", "{\"name\":\"bob\",\"department\":\"bio\"}", 404, "no department 'bio'"},
    {"POST", "/v1/user-policies", "{\"name\":\"bob\",\"department\":\"chem\",\"deadline\":true,\"fshare\":1}", 200,
     "ok"},
    {"GET", "/v1/user-policies", NULL, 200, "{\"users\":["},
    {"GET", "/v1/user-policies", NULL, 200,
     "{\"name\":\"bob\",\"fshare\":1,\"oticket\":0,\"department\":\"chem\",\"deadline\":true,"},
    {"DELETE", "/v1/departments/chem", NULL, 409, "in use by 1 user"},
    {"DELETE", "/v1/user-policies/bob", NULL, 200, "true"},
    {"DELETE", "/v1/departments/chem", NULL, 200, "true"},
    {"PUT", "/v1/qos/urgent", "{}", 405, "PATCH, DELETE, OPTIONS"},
};

static void objects_are_named_and_changed(void **unused)
{
    struct fixture f;
    (void)unused;
    fixture_open(&f);
    struct answer a = {.fd = fixture_connect(&f)};
    ask_all(&f, &a, objects, COUNT(objects));
    close(a.fd);
    answer_release(&a);
    fixture_close(&f);
}

/* --- jobs --------------------------------------------------------------------------------------------------------- */

static const struct row setup[] = {
    {"POST", "/v1/partitions", "{\"name\":\"fast\"}", 200, "true"},
    {"POST", "/v1/qos", "{\"name\":\"urgent\"}", 200, "true"},
    {"POST", "/v1/projects", "{\"name\":\"P1\"}", 200, "true"},
    {"POST", "/v1/resources", "{\"name\":\"license\",\"type\":\"INT\"}", 200, "true"},
    {"POST", "/v1/departments", "{\"name\":\"chem\"}", 200, "true"},
    {"POST", "/v1/user-policies", "{\"name\":\"alice\",\"department\":\"chem\",\"deadline\":true}", 200, "true"},
};

static const struct row job_changes[] = {
    {"POST", "/v1/jobs",
     "{" JOB
     ",\"partitions\":\"fast,main\",\"qos\":\"urgent\",\"project\":\"P1\",\"requests\":\"license=2\",\"cpus\":2,"
     "\"slots_max\":4,\"nice\":100,\"site\":-5,\"posix_priority\":-1023,\"job_share\":7,\"override_tickets\":4294967295,"
     "\"set_priority\":77,\"begin_us\":1700000100000000,\"deadline_us\":1700000200000000,\"department\":\"chem\"}",
     201, "1"},
    {"GET", "/v1/jobs/1", NULL, 200,
     "\"partition\":\"fast,main\",\"qos\":\"urgent\",\"project\":\"P1\",\"requests\":\"license=2\","
     "\"soft\":\"\",\"queues\":\"\",\"master_queues\":\"\",\"soft_queues\":\"\",\"constraint\":\"\",\"pe\":\"\","
     "\"reserve\":false,\"tres\":\"\",\"billing\":null,\"fair_share\":1,\"nice\":100,\"site\":-5,\"set_priority\":77,\"posix_priority\":-1023,"
     "\"job_share\":7,\"override_tickets\":4294967295,\"input_bytes\":2,\"is_time_exempt\":false,\"scheduling_info\":["},
    {"GET", "/v1/jobs/1", NULL, 200,
     "\"slots_max\":4,\"nodes\":\"\",\"slots_per_node\":0,\"exclusive\":false,\"submit_us\":1700000000000000,\"begin_us\":1700000100000000,"
     "\"deadline_us\":1700000200000000,"},
    {"POST", "/v1/jobs", "{" JOB ",\"department\":\"bio\"}", 400,
     "department: 'bio' is not the department of user 'alice', which is 'chem'"},
    {"POST", "/v1/jobs", "{" JOB ",\"partitions\":\"nope\"}", 404, "no partition 'nope'"},
    {"POST", "/v1/jobs", "{" JOB ",\"partitions\":\"fast,fast\"}", 400, "'fast' is named twice"},
    {"POST", "/v1/jobs", "{" JOB ",\"qos\":\"nope\"}", 404, "no qos 'nope'"},
    {"POST", "/v1/jobs", "{" JOB ",\"project\":\"nope\"}", 404, "no project 'nope'"},
    {"POST", "/v1/jobs", "{" JOB ",\"requests\":\"license\"}", 400, "license"},
    {"POST", "/v1/jobs", "{" JOB ",\"requests\":\"license=-1\"}", 400, "'-1' is not a whole number"},
    {"POST", "/v1/jobs", "{" JOB ",\"posix_priority\":1025}", 400, "1025 is not a whole number from -1023 to 1024"},
    {"POST", "/v1/jobs", "{" JOB ",\"nice\":2147483646}", 400, "nice: 2147483646 is not a whole number from -2147"},
    {"POST", "/v1/jobs", "{" JOB ",\"nice\":\"5\"}", 400, "nice: '5' is not a whole number"},
    {"POST", "/v1/jobs", "{" JOB ",\"deadline_us\":1}", 400, "deadline_us: '1970-01-01T00:00:00Z' has passed"},
    {"POST", "/v1/jobs", "{" JOB ",\"cpus\":2,\"slots_max\":1}", 400, "slots"},
    {"POST", "/v1/jobs", "{" JOB ",\"set_priority\":4294967296}", 400, "set_priority: 4294967296 is not"},
    {"POST", "/v1/jobs", "{" JOB "}", 201, "2"},
    {"GET", "/v1/jobs/2", NULL, 200,
     "\"nice\":0,\"site\":0,\"set_priority\":null,\"posix_priority\":0,\"job_share\":0,\"override_tickets\":0,\"input_bytes\":2,\"is_time_exempt\":false,\"scheduling_info\":["},
    {"GET", "/v1/jobs/2", NULL, 200,
     "\"slots_max\":0,\"nodes\":\"\",\"slots_per_node\":0,\"exclusive\":false,\"submit_us\":1700000000000000,\"begin_us\":null,\"deadline_us\":null,\"immediate_s\":null,\"cancel_reason\":null,"},
    {"PATCH", "/v1/jobs/1", "{\"deadline_us\":0}", 400, "deadline_us: 0 is not a whole number from 1 to "},
    {"PATCH", "/v1/jobs/1", "{\"set_priority\":0}", 400,
     "set_priority: 0 is not a whole number from 1 to 4294967294, or 'auto'"},
    {"PATCH", "/v1/jobs/1", "{\"nice\":0,\"deadline_us\":null,\"set_priority\":\"auto\"}", 200, "true"},
    {"GET", "/v1/jobs/1", NULL, 200,
     "\"nice\":0,\"site\":-5,\"set_priority\":null,\"posix_priority\":-1023,\"job_share\":7,"
     "\"override_tickets\":4294967295,\"input_bytes\":2,\"is_time_exempt\":false,\"scheduling_info\":["},
    {"GET", "/v1/jobs/1", NULL, 200,
     "\"slots_max\":4,\"nodes\":\"\",\"slots_per_node\":0,\"exclusive\":false,\"submit_us\":1700000000000000,\"begin_us\":1700000100000000,\"deadline_us\":null,\"immediate_s\":null,\"cancel_reason\":null,"},
    {"PATCH", "/v1/jobs/1", "{\"begin_us\":\"none\",\"project\":\"\",\"requests\":\"\",\"partitions\":\"main\"}", 200,
     "true"},
    {"GET", "/v1/jobs/1", NULL, 200, "\"begin_us\":null,"},
    {"PATCH", "/v1/jobs/1", "{ }", 400, "nothing to change: give at least one"},
    {"PATCH", "/v1/jobs/1", "{\"department\":\"chem\"}", 400,
     "'department' is not a field; the fields are: array_limit, account, name, "},
};

static void jobs_have_the_fields_of_policies(void **unused)
{
    struct fixture f;
    (void)unused;
    fixture_open(&f);
    struct answer a = {.fd = fixture_connect(&f)};
    ask_all(&f, &a, setup, COUNT(setup));
    ask_all(&f, &a, job_changes, 1);
    const struct job *job = &f.w.s.jobs.items[0];
    assert_int_equal(job->partition_count, 2);
    assert_int_equal(job->partitions[0], 1);
    assert_int_equal(job->project, 0);
    assert_int_equal(job->request_count, 1);
    assert_true(job->requests[0].amount == 2.0);
    ask_all(&f, &a, job_changes + 1, COUNT(job_changes) - 1);
    assert_int_equal(job->project, NONE);
    assert_int_equal(job->request_count, 0);
    assert_int_equal(job->partition_count, 1);
    close(a.fd);
    answer_release(&a);
    fixture_close(&f);
}

/* --- lines -------------------------------------------------------------------------------------------------------- */

/* Reads a reply of lines and calls check for each record. values: room for one record. */
static uint32_t read_lines(const struct answer *a, const struct field_table *table, struct field_value *values,
                           struct arena *arena, void (*check)(const struct field_value *values, uint32_t i))
{
    struct wire_columns columns;
    struct err e = {0};
    uint32_t count = 0;
    struct str rest, heading = str_cut((struct str){a->body.text, a->body.length}, '\n', &rest);
    if (wire_read_heading(table, heading, &columns, &e) != 0) fail_msg("%s", ERR_SENTENCE(&e));
    for (uint32_t i = 0; i < columns.count; i++) assert_int_not_equal(columns.field[i], NONE);
    while (rest.length > 0) {
        struct str line = str_cut(rest, '\n', &rest);
        if (wire_read_line(&columns, line, arena, values, &e) != 0) fail_msg("%s", ERR_SENTENCE(&e));
        check(values, count++);
    }
    return count;
}

static void check_job(const struct field_value *job, uint32_t i)
{
    static const char *const ids[] = {"1", "2_[0-9%2]"};
    assert_string_equal(job[JOB_FIELD_ID].text, ids[i]);
    assert_string_equal(job[JOB_FIELD_NAME].text, i == 0 ? "a|b\\" : "x");
    assert_string_equal(job[JOB_FIELD_OUT_PATH].text, "/o\xff");
    assert_int_equal(job[JOB_FIELD_STATE].number, JOB_PENDING);
    assert_int_equal(job[JOB_FIELD_EXIT_STATUS].number, FIELD_ABSENT);
}

static void jobs_as_lines(void **unused)
{
    static const struct row submissions[] = {
        {"POST", "/v1/jobs", "{" JOB ",\"name\":\"a|b\\\\\"}", 201, "1"},
        {"POST", "/v1/jobs", "{" JOB ",\"array\":\"0-9%2\"}", 201, "2"},
        {"GET", "/v1/jobs?format=csv", NULL, 400, "format: 'csv' is not one of json,lines"},
        {"GET", "/v1/jobs?format=lines&user=unknown", NULL, 200, "id|job_id|task_id|"},
        {"GET", "/v1/jobs?format=lines", NULL, 200, "id|job_id|task_id|"},
    };
    struct fixture f;
    struct arena arena = {0};
    struct job_row row;
    (void)unused;
    fixture_open(&f);
    struct answer a = {.fd = fixture_connect(&f)};
    ask_all(&f, &a, submissions, COUNT(submissions));
    assert_non_null(strstr(a.head.text, "Content-Type: text/plain; charset=utf-8\r\n"));
    assert_int_equal(read_lines(&a, &job_fields, row.value, &arena, check_job), 2);
    close(a.fd);
    answer_release(&a);
    arena_release(&arena);
    fixture_close(&f);
}

/* --- priorities --------------------------------------------------------------------------------------------------- */

static const struct row multifactor[] = {
    {"PATCH", "/v1/settings",
     "{\"PriorityWeightFairshare\":1000,\"PriorityWeightPartition\":100,\"PriorityWeightTRES\":\"cpu=200,gres/gpu=50\"}",
     200, "true"},
    {"PATCH", "/v1/partitions/fast", "{\"PriorityJobFactor\":4}", 200, "true"},
    {"POST", "/v1/jobs", "{" JOB ",\"partitions\":\"fast,main\",\"cpus\":2,\"nice\":7,\"site\":3,\"project\":\"P1\"}",
     201, "1"},
    {"POST", "/v1/jobs", "{" JOB ",\"array\":\"3-5%2\",\"set_priority\":5}", 201, "2"},
    {"POST", "/v1/jobs", "{" JOB ",\"held\":true}", 201, "3"},
    {"GET", "/v1/priorities", NULL, 200,
     "{\"priorities\":[\n{\"model\":\"priority/multifactor\",\"id\":\"1\",\"job_id\":1,\"task_id\":null,\"user\":\"alice\","
     "\"account\":\"default\",\"project\":\"P1\",\"partition\":\"fast\",\"qos\":\"normal\",\"state\":\"PENDING\","
     "\"eligible\":true,\"priority\":1196,\"rank\":1,\"billing\":2,\"site\":3,\"age\":0,\"assoc\":0,\"fair_share\":1000,\"job_size\":0,"
     "\"partition_term\":100,\"qos_term\":0,\"nice\":7,\"tres\":100,\"age_factor\":0,\"assoc_factor\":0,"
     "\"fair_share_factor\":1,\"job_size_factor\":"},
    {"GET", "/v1/priorities", NULL, 200,
     "\"tres_terms\":\"cpu=100\",\"tres_factors\":\"cpu=0.5\",\"norm_tickets\":null,"},
    {"GET", "/v1/priorities", NULL, 200,
     "\"partition\":\"main\",\"qos\":\"normal\",\"state\":\"PENDING\",\"eligible\":true,\"priority\":1121,"},
    {"GET", "/v1/priorities?job=2", NULL, 200, "\"id\":\"2_[3-5%2]\",\"job_id\":2,"},
    {"GET", "/v1/priorities?job=2", NULL, 200, "\"priority\":5,\"rank\":null,\"billing\":1,"},
    {"GET", "/v1/priorities?job=3", NULL, 200, "\"state\":\"HELD\",\"eligible\":false,\"priority\":0,"},
    {"GET", "/v1/priorities?job=9", NULL, 404, "job 9 is not pending or running"},
    {"GET", "/v1/priorities?job=0", NULL, 400, "job: 0 is not a whole number from 1"},
    {"GET", "/v1/priorities?format=psv", NULL, 400, "format: 'psv' is not one of json,lines"},
};

static const struct row tickets[] = {
    {"PATCH", "/v1/settings",
     "{\"PriorityType\":\"priority/tickets\",\"weight_tickets_functional\":1000,\"weight_user\":1,\"weight_project\":0,"
     "\"weight_department\":0,\"weight_job\":0}",
     200, "true"},
    {"PATCH", "/v1/user-policies/alice", "{\"fshare\":100}", 200, "true"},
    {"GET", "/v1/priorities?job=1", NULL, 200, "{\"model\":\"priority/tickets\",\"id\":\"1\","},
    {"GET", "/v1/priorities?job=1", NULL, 200, "\"site\":null,\"age\":null,"},
    {"GET", "/v1/priorities?job=1", NULL, 200, "\"tres_terms\":null,"},
    {"GET", "/v1/priorities?job=1", NULL, 200, "\"urgency_resources\":2000,\"urgency_waiting\":0,"},
    {"GET", "/v1/priorities?job=1", NULL, 200, "\"override_tickets\":0,\"functional_tickets\":1000,"},
    {"PATCH", "/v1/settings", "{\"report_pjob_tickets\":false}", 200, "true"},
    {"GET", "/v1/priorities?job=1", NULL, 200, "\"state\":\"PENDING\",\"eligible\":true,\"priority\":0,"},
    {"GET", "/v1/priorities?job=1", NULL, 200,
     "\"norm_tickets\":0,\"norm_urgency\":0,\"norm_posix\":0,\"urgency_resources\":0,\"urgency_waiting\":0,"
     "\"urgency_deadline\":0,\"urgency\":0,\"tickets\":0,\"override_tickets\":0,\"functional_tickets\":0,"
     "\"share_tickets\":0}"},
    {"GET", "/v1/status", NULL, 200, "\"model\":\"priority/tickets\",\"algorithm\":\"fair-tree\""},
    {"PATCH", "/v1/settings", "{\"PriorityType\":\"priority/basic\",\"PriorityFlags\":\"NO_FAIR_TREE\"}", 200, "true"},
    {"GET", "/v1/status", NULL, 200, "\"policy\":\"priority/basic: classic, dampening 1, half-life 7-00:00:00\""},
    {"GET", "/v1/priorities?job=1", NULL, 200, "{\"model\":\"priority/basic\",\"id\":\"1\","},
    {"GET", "/v1/priorities?job=1", NULL, 200, "\"fair_share\":null"},
};

static void check_priority(const struct field_value *p, uint32_t i)
{
    static const struct {
        const char *id, *partition;
        double priority;
    } expected[] = {{"1", "fast", 1196}, {"1", "main", 1121}, {"2_[3-5%2]", "main", 5}, {"3", "main", 0}};
    assert_true(i < COUNT(expected));
    assert_string_equal(p[PRIORITY_FIELD_ID].text, expected[i].id);
    assert_string_equal(p[PRIORITY_FIELD_PARTITION].text, expected[i].partition);
    assert_true(p[PRIORITY_FIELD_PRIORITY].real == expected[i].priority);
}

static void priorities_by_every_model(void **unused)
{
    struct fixture f;
    struct arena arena = {0};
    struct priority_values row;
    (void)unused;
    fixture_open(&f);
    struct answer a = {.fd = fixture_connect(&f)};
    ask_all(&f, &a, setup, COUNT(setup));
    ask_all(&f, &a, multifactor, COUNT(multifactor));
    fixture_ask(&f, &a, "GET", "/v1/priorities?format=lines", NULL);
    assert_int_equal(read_lines(&a, &priority_fields, row.value, &arena, check_priority), 4);
    ask_all(&f, &a, tickets, COUNT(tickets));
    close(a.fd);
    answer_release(&a);
    arena_release(&arena);
    fixture_close(&f);
}

/* --- shares ------------------------------------------------------------------------------------------------------- */

static const struct row tree[] = {
    {"POST", "/v1/accounts", "{\"name\":\"p\",\"shares\":50,\"priority\":7}", 200, "true"},
    {"POST", "/v1/accounts", "{\"name\":\"q\",\"parent\":\"p\"}", 200, "true"},
    {"POST", "/v1/accounts", "{\"name\":\"r\"}", 200, "true"},
    {"POST", "/v1/users", "{\"name\":\"bob\",\"account\":\"q\",\"priority\":9}", 200, "true"},
    {"POST", "/v1/users", "{\"name\":\"bob\",\"account\":\"r\"}", 200, "true"},
    {"POST", "/v1/users", "{\"name\":\"eve\",\"account\":\"r\"}", 200, "true"},
    {"GET", "/v1/accounts", NULL, 200, "{\"name\":\"p\",\"parent\":\"root\",\"shares\":50,\"priority\":7,"},
    {"GET", "/v1/users", NULL, 200,
     "\"account\":\"q\",\"partition\":null,\"shares\":1,\"default\":true,\"priority\":9,"},
    {"PATCH", "/v1/accounts/p", "{\"priority\":\"parent\"}", 200, "true"},
    {"GET", "/v1/accounts", NULL, 200, "\"shares\":50,\"priority\":\"parent\","},
    {"PATCH", "/v1/users/bob?account=q", "{\"priority\":0}", 200, "true"},
    {"GET", "/v1/users", NULL, 200,
     "\"account\":\"q\",\"partition\":null,\"shares\":1,\"default\":true,\"priority\":0,"},
    {"PATCH", "/v1/users/bob", "{\"priority\":4294967294}", 400,
     "priority: 4294967294 is not a whole number from 0 to"},
};

/* The rows of a listing of shares, as "account/user" of each line. */
static const char *listed_rows(struct fixture *f, struct answer *a, const char *target, struct buf *out)
{
    buf_clear(out);
    fixture_ask(f, a, "GET", target, NULL);
    struct str rest, heading = str_cut((struct str){a->body.text, a->body.length}, '\n', &rest);
    assert_true(str_starts(heading, str("Account|User|")));
    while (rest.length > 0) {
        struct str cells, account = str_cut(str_cut(rest, '\n', &rest), '|', &cells);
        struct str user = str_cut(cells, '|', &cells);
        buf_format(out, "%.*s/%.*s ", (int)account.length, account.text, (int)user.length, user.text);
    }
    return out->text;
}

static void shares_of_one_user(void **unused)
{
    struct fixture f;
    struct buf lines = {0};
    (void)unused;
    fixture_open(&f);
    struct answer a = {.fd = fixture_connect(&f)};
    ask_all(&f, &a, tree, COUNT(tree));
    assert_string_equal(listed_rows(&f, &a, "/v1/shares?format=psv", &lines),
                        "root/  p/   q/    q/bob  r/   r/bob   r/eve ");
    assert_string_equal(listed_rows(&f, &a, "/v1/shares?format=psv&user=bob", &lines),
                        "root/  p/   q/    q/bob  r/   r/bob ");
    assert_string_equal(listed_rows(&f, &a, "/v1/shares?format=psv&user=eve", &lines), "root/  r/   r/eve ");
    assert_string_equal(listed_rows(&f, &a, "/v1/shares?format=psv&account=p", &lines), " p/   q/    q/bob ");
    assert_string_equal(listed_rows(&f, &a, "/v1/shares?format=psv&account=p&user=bob", &lines), " p/   q/    q/bob ");
    static const struct row others[] = {
        {"GET", "/v1/shares?user=eve", NULL, 200, "{\"shares\":[\n{\"account\":\"root\",\"user\":null,"},
        {"GET", "/v1/shares?user=eve", NULL, 200,
         "{\"account\":\"r\",\"user\":null,\"partition\":null,\"parent_account\":\"root\","},
        {"GET", "/v1/shares?account=q", NULL, 200,
         "{\"account\":\"q\",\"user\":null,\"partition\":null,\"parent_account\":\"p\","},
        {"GET", "/v1/shares?account=p&user=eve", NULL, 404, "user 'eve' is not in account 'p' or below it"},
        {"PATCH", "/v1/settings", "{\"PriorityFlags\":\"NO_FAIR_TREE\"}", 200, "true"},
        {"GET", "/v1/shares?user=eve", NULL, 200, "\"level_fs\":null"}, /* only Fair Tree has levels */
    };
    ask_all(&f, &a, others, COUNT(others));
    buf_release(&lines);
    close(a.fd);
    answer_release(&a);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(objects_are_named_and_changed),
        cmocka_unit_test(jobs_have_the_fields_of_policies),
        cmocka_unit_test(jobs_as_lines),
        cmocka_unit_test(priorities_by_every_model),
        cmocka_unit_test(shares_of_one_user),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
