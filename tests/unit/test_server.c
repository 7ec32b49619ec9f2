/* The server over its socket, with an engine: the replies of all routes, refused clients, waiting, long listings, and
 * the socket itself. test_server_shares.c and test_server_policy.c have the other listings. */
#include <time.h>

#include "server_fixture.h"

#include "api/server/internal.h"

#define COUNT(rows) (sizeof(rows) / sizeof(rows)[0])
#define JOB "\"directory\":\"/tmp\",\"command\":\"c\""

/* --- requests in this order, over one connection ------------------------------------------------------------------ */

#define E_ACUTE_2 "\xc3\xa9\xc3\xa9"
#define E_ACUTE_10 E_ACUTE_2 E_ACUTE_2 E_ACUTE_2 E_ACUTE_2 E_ACUTE_2
#define E_ACUTE_62 E_ACUTE_10 E_ACUTE_10 E_ACUTE_10 E_ACUTE_10 E_ACUTE_10 E_ACUTE_10 E_ACUTE_2

struct row {
    const char *method, *target, *body;
    int status;
    const char *part; /* of the reply's body */
};

#define NO_LIMITS                                                                                                \
    "\"GrpJobs\":\"UNLIMITED\",\"GrpSubmitJobs\":\"UNLIMITED\",\"GrpWall\":\"UNLIMITED\",\"GrpTRES\":\"\","      \
    "\"GrpTRESMins\":\"\",\"GrpTRESRunMins\":\"\",\"MaxJobs\":\"UNLIMITED\",\"MaxSubmitJobs\":\"UNLIMITED\","    \
    "\"MaxWall\":\"UNLIMITED\",\"MaxTRES\":\"\",\"MaxTRESPerNode\":\"\",\"MaxTRESMins\":\"\",\"QosLevel\":\"\"," \
    "\"DefaultQOS\":\"\""

static const struct row requests[] = {
    {"GET", "/v1/status", NULL, 200, "\"host\":{\"name\":\"host\",\"cpus\":4,"},
    {"GET", "/v1/accounts", NULL, 200,
     "{\"accounts\":[\n{\"name\":\"root\",\"parent\":null,\"shares\":1,\"priority\":\"parent\",\"created_us\":1700000000000000," NO_LIMITS
     "}\n]}\n"},
    {"POST", "/v1/accounts", "{\"name\":\"physics\",\"shares\":50}", 200, "{\"ok\":true}\n"},
    {"POST", "/v1/accounts", "{\"name\":\"optics\",\"parent\":\"physics\",\"shares\":\"parent\"}", 200, "true"},
    {"POST", "/v1/accounts", "{\"name\":\"physics\"}", 409, "\"name\":\"exists\""},
    {"POST", "/v1/accounts", "{\"name\":\"x\",\"shares\":-1}", 400,
     "shares: -1 is not a whole number from 0 to 2147483646, or 'parent'"},
    {"POST", "/v1/accounts", "{\"shares\":1}", 400, "name: missing; the account's name"},
    {"POST", "/v1/accounts", "{\"name\":\"a\",\"name\":\"b\"}", 400, "invalid JSON: line 1"},
    {"POST", "/v1/accounts", "{\"name\":\"a\\u0000b\"}", 400, "invalid JSON: line 1"},
    {"POST", "/v1/accounts", "[]", 400, "Account: a list is not an object"},
    {"POST", "/v1/accounts", "", 400, "invalid JSON"},
    {"PATCH", "/v1/accounts/physics", "{\"shares\":0}", 200, "true"},
    {"PATCH", "/v1/accounts/physics", "{}", 400, "nothing to change"},
    {"PATCH", "/v1/accounts/phys%69cs", "{\"shares\":60}", 200, "true"},
    {"PATCH", "/v1/accounts/no%00", "{\"shares\":60}", 400,
     "path: byte 3: '%' must be followed by two hexadecimal digits"},
    {"PATCH", "/v1/accounts/a%2", "{\"shares\":60}", 400,
     "path: byte 2: '%' must be followed by two hexadecimal digits"},
    {"PATCH", "/v1/accounts/unknown", "{\"shares\":60}", 404, "no account 'unknown'"},
    {"GET", "/v1/accounts", NULL, 200,
     "{\"name\":\"physics\",\"parent\":\"root\",\"shares\":60,\"priority\":\"parent\",\"created_us\":1700000000000000," NO_LIMITS
     "},\n"
     "{\"name\":\"optics\",\"parent\":\"physics\",\"shares\":\"parent\","},
    {"DELETE", "/v1/accounts/physics", NULL, 409, "not empty"},
    {"PATCH", "/v1/accounts/physics", "{\"GrpTRES\":\"cpu=64,mem=1G\",\"maxjobs\":4,\"MaxWall\":\"2-0\"}", 200, "true"},
    {"PATCH", "/v1/accounts/physics", "{\"GrpTRES\":\"mem=-1\",\"QOS\":\"normal\",\"MaxSubmit\":90}", 200, "true"},
    {"GET", "/v1/accounts", NULL, 200,
     "\"GrpTRES\":\"cpu=64\",\"GrpTRESMins\":\"\",\"GrpTRESRunMins\":\"\",\"MaxJobs\":4,\"MaxSubmitJobs\":90,"
     "\"MaxWall\":\"2880\",\"MaxTRES\":\"\",\"MaxTRESPerNode\":\"\",\"MaxTRESMins\":\"\",\"QosLevel\":\"normal\",\"DefaultQOS\":\"\"}"},
    {"PATCH", "/v1/accounts/physics", "{\"MaxJobs\":-2}", 400,
     "account 'physics': MaxJobs: '-2' is not a whole number from 0 to 4294967293, or UNLIMITED"},
    {"PATCH", "/v1/accounts/physics", "{\"MaxJob\":1}", 400, "'MaxJob' is not a field; did you mean 'MaxJobs'?"},
    {"PATCH", "/v1/accounts/physics", "{\"GrpTRES\":{}}", 400,
     "GrpTRES: an object is not text, a number, true or false"},
    {"PATCH", "/v1/accounts/physics", "{\"GrpTRES\":\"gres/x=1\"}", 400, "GrpTRES: 'gres/x' is not a tracked TRES"},
    {"PATCH", "/v1/accounts/physics", "{\"QosLevel+\":\"none\"}", 404, "no qos 'none'"},
    {"DELETE", "/v1/qos/normal", NULL, 409, "the default QOS"},
    {"POST", "/v1/users", "{\"name\":\"alice\",\"account\":\"physics\",\"default\":true}", 200, "true"},
    {"POST", "/v1/users", "{\"name\":\"alice\",\"account\":\"optics\",\"shares\":3}", 200, "true"},
    {"GET", "/v1/users", NULL, 200,
     "{\"name\":\"alice\",\"account\":\"optics\",\"partition\":null,\"shares\":3,\"default\":false,\"priority\":\"parent\",\"created_us\":"},
    {"PATCH", "/v1/users/alice?account=optics", "{\"default\":true}", 200, "true"},
    {"PATCH", "/v1/users/alice", "{\"default\":true}", 400, "is in 2 accounts"},
    {"PATCH", "/v1/users/alice?account=optics&account=physics", "{\"shares\":1}", 400,
     "account: occurs twice in the query\",\"form\":\"field\",\"where\":null,\"subject\":null,"
     "\"subject_name\":null,\"field\":\"account\","},
    {"PATCH", "/v1/users/alice?color=red", "{\"shares\":1}", 400,
     "'color' is not a field; the fields are: account, partition"},
    {"PATCH", "/v1/users/alice", "{\"MaxJobs\":7,\"DefaultQOS\":\"normal\"}", 200, "true"},
    {"GET", "/v1/users", NULL, 200, "\"MaxJobs\":7,"},
    {"POST", "/v1/users", "{\"name\":\"bert\",\"account\":\"optics\",\"GrpJobs\":\"x\"}", 400,
     "user 'bert': GrpJobs: 'x'"},
    {"POST", "/v1/users", "{\"name\":\"alice\",\"account\":\"optics\",\"partition\":\"main\",\"shares\":5}", 200,
     "true"},
    {"POST", "/v1/users", "{\"name\":\"alice\",\"account\":\"optics\",\"partition\":\"none\"}", 404,
     "no partition 'none'"},
    {"GET", "/v1/users", NULL, 200,
     "{\"name\":\"alice\",\"account\":\"optics\",\"partition\":\"main\",\"shares\":5,\"default\":false,"},
    {"PATCH", "/v1/users/alice?account=optics&partition=main", "{\"shares\":6}", 200, "true"},
    {"GET", "/v1/shares", NULL, 200,
     "\"user\":\"alice\",\"partition\":\"main\",\"parent_account\":null,\"depth\":3,\"raw_shares\":6,"},
    {"GET", "/v1/shares?format=psv&partition=true", NULL, 200, "|alice|main|6|"},
    {"GET", "/v1/shares?format=psv", NULL, 200, "|alice|6|"},
    {"DELETE", "/v1/users/alice?account=physics&partition=main", NULL, 404,
     "user 'alice' is not in account 'physics' for partition 'main'"},
    {"DELETE", "/v1/users/alice?account=optics&partition=main", NULL, 200, "true"},
    {"DELETE", "/v1/users/alice?account=optics", NULL, 200, "true"},
    {"DELETE", "/v1/accounts/optics", NULL, 200, "true"},
    {"DELETE", "/v1/accounts/physics?force=1", NULL, 400,
     "unexpected query parameter 'force': DELETE /v1/accounts/{name} accepts none"},

    {"POST", "/v1/jobs", "{" JOB ",\"arguments\":[\"/bin/true\"],\"gpus\":1}", 201,
     "{\"job_id\":1,\"limit\":null,\"limit_field\":null}\n"},
    {"POST", "/v1/jobs",
     "{" JOB ",\"name\":\"x\",\"array\":\"0-9%2\",\"script\":\"#!/bin/sh\\n\",\"held\":true,\"arguments\":[\"a\"]}",
     201, "{\"job_id\":2,\"limit\":null,\"limit_field\":null}"},
    {"POST", "/v1/jobs", "{" JOB ",\"arguments\":[\"x\"],\"cpus\":0}", 400,
     "cpus: 0 is not a whole number from 1 to 65536"},
    {"POST", "/v1/jobs", "{" JOB ",\"arguments\":[\"x\"],\"cpus\":99999999999999999999}", 400, "too big integer"},
    {"POST", "/v1/jobs", "{" JOB ",\"arguments\":[\"x\"],\"cpus\":1.5}", 400, "cpus: 1.5 is not a whole number"},
    {"POST", "/v1/jobs", "{" JOB ",\"arguments\":[\"x\"],\"cpus\":5}", 422, "cpus: 5 exceeds the host's 4 CPUs"},
    {"POST", "/v1/jobs", "{" JOB ",\"arguments\":[\"x\"],\"account\":\"no\"}", 404, "no account 'no'"},
    {"POST", "/v1/jobs", "{" JOB ",\"arguments\":[\"x\"],\"colour\":1}", 400,
     "'colour' is not a field; the fields are: script, script_name, "},
    {"POST", "/v1/jobs", "{" JOB "}", 400, "arguments: missing; without a script, the first one is the program"},
    {"POST", "/v1/jobs", "{" JOB ",\"script\":\"\"}", 400, "script: is empty"},
    {"POST", "/v1/jobs", "{" JOB ",\"script\":{\"base64\":\"fwAB\"}}", 400, "script: byte 2 is zero"},
    {"POST", "/v1/jobs", "{" JOB ",\"script\":{\"base64\":\"fw\"}}", 400, "script: 'fw' is not base64"},
    {"POST", "/v1/jobs", "{" JOB ",\"arguments\":[{\"base64\":\"AA==\"}]}", 400, "zero byte"},
    {"POST", "/v1/jobs", "{" JOB ",\"arguments\":[\"x\"],\"environment\":[\"A=b\",\"C\"]}", 400,
     "environment[1]: 'C' is not of the form NAME=value"},
    {"POST", "/v1/jobs", "{" JOB ",\"arguments\":[\"x\"],\"directory\":\"/a\"}", 400, "invalid JSON"},
    {"POST", "/v1/jobs?test_only=true", "{" JOB ",\"arguments\":[\"x\"]}", 200, "{\"never\":"},
    {"POST", "/v1/jobs?test_only=true", "{" JOB "}", 400, "arguments: missing"},
    {"POST", "/v1/jobs?test_only=1", "{" JOB ",\"arguments\":[\"x\"]}", 400, "test_only"},
    {"GET", "/v1/jobs/99/check", NULL, 404, "no job 99"},
    {"GET", "/v1/jobs/2_99/check", NULL, 404, "job 2 has no task 99"},
    {"GET", "/v1/jobs/2_3/check", NULL, 200, "{\"job_id\":2,"},
    {"GET", "/v1/jobs/x/check", NULL, 400, "is not a job id"},
    {"POST", "/v1/jobs?dry=1", "{" JOB ",\"arguments\":[\"x\"]}", 400, "the fields are: test_only"},
    {"GET", "/v1/jobs?limit=1", NULL, 200, "{\"jobs\":[\n{\"id\":\"1\",\"job_id\":1,\"task_id\":null,"},
    {"GET", "/v1/jobs?limit=1&order=newest", NULL, 200,
     "\"id\":\"2_[0-9%2]\",\"job_id\":2,\"task_id\":null,\"array_tasks\":\"0-9\",\"array_limit\":2,\"task_count\":10,"},
    {"GET", "/v1/jobs/1", NULL, 200, "\"out_path\":{\"base64\":\"L2//\"},\"err_path\":\"/e\",\"state\":\"PENDING\""},
    {"GET", "/v1/jobs/1", NULL, 200, "\"exit_status\":null,\"signal\":null,"},
    {"GET", "/v1/jobs/1", NULL, 200, "\"partition\":\"main\",\"qos\":\"normal\","},
    {"GET", "/v1/jobs/1", NULL, 200, "\"billing\":null,\"fair_share\":1,"},
    {"GET", "/v1/jobs/77", NULL, 404, "no job 77"},
    {"GET", "/v1/jobs/0", NULL, 400, "id: '0' is not a job id"},
    {"GET", "/v1/jobs/1_2_3", NULL, 400, "is not a job id"},
    {"GET", "/v1/jobs?id=1,2&state=PENDING&user=alice&account=physics", NULL, 200, "\"id\":\"2_[0-9%2]\""},
    {"GET", "/v1/jobs?id=1,2_3", NULL, 400, "id: '2_3' is a task"},
    {"GET", "/v1/jobs?user=unknown", NULL, 200, "{\"jobs\":[\n]}\n"},
    {"GET", "/v1/jobs?state=ASLEEP", NULL, 400, "state: 'ASLEEP' is not one of PENDING,STARTING,"},
    {"GET", "/v1/jobs?limit=0", NULL, 400, "limit: 0 is not a whole number from 1"},
    {"GET", "/v1/jobs?limit=x", NULL, 400, "limit: 'x' is not a whole number from 1"},
    {"GET", "/v1/jobs?user=%ff", NULL, 400, "user: '?' is not UTF-8 text"},
    {"PATCH", "/v1/jobs/1", "{\"name\":\"y\",\"gpus\":0}", 200, "true"},
    {"PATCH", "/v1/jobs/1", "{}", 400, "nothing to change"},
    {"PATCH", "/v1/jobs/1", "{\"array_limit\":3}", 409, "job 1: array_limit: only an array has one"},
    {"PATCH", "/v1/jobs/2_1", "{\"name\":\"y\"}", 400, "id: '2_1' is a task"},
    {"PATCH", "/v1/jobs/9", "{\"name\":\"y\"}", 404, "no job 9"},
    {"POST", "/v1/jobs/hold", "{\"ids\":[\"1\"]}", 200, "{\"count\":1,\"refused\":["},
    {"POST", "/v1/jobs/release", "{\"all\":true}", 200, "{\"count\":2,"},
    {"POST", "/v1/jobs/hold", "{\"ids\":[],\"all\":false}", 400, "ids: missing; give ids, or all"},
    {"POST", "/v1/jobs/hold", "{\"ids\":[\"1\"],\"all\":true}", 400, "together with all"},
    {"POST", "/v1/jobs/hold", "{\"ids\":[1]}", 400, "ids[0]: 1 is not text"},
    {"POST", "/v1/jobs/hold", "{\"ids\":[\"1\",\"9\"]}", 404, "no job 9"},
    {"GET", "/v1/jobs/1/wait?timeout_s=0", NULL, 200, "{\"ended\":false,\"jobs\":[\n{\"id\":\"1\""},
    {"GET", "/v1/jobs/1_0/wait", NULL, 404, "job 1 is not an array"},
    {"GET", "/v1/jobs/9/wait", NULL, 404, "no job 9"},
    {"GET", "/v1/jobs/1/wait?timeout_s=99999", NULL, 400, "timeout_s: 99999 is not a whole number from 0 to 3600"},
    {"DELETE", "/v1/jobs/2_3", NULL, 200, "{\"count\":1,"},
    {"DELETE", "/v1/jobs/1", NULL, 200, "{\"count\":1,"},
    {"DELETE", "/v1/jobs/1", NULL, 409, "job 1 has already ended (CANCELLED)"},
    {"POST", "/v1/jobs/cancel", "{\"ids\":[\"2\",\"1\"]}", 409, "job 1 has already ended (CANCELLED)"},
    {"POST", "/v1/jobs/cancel", "{\"ids\":[\"2_77\"]}", 404, "job 2 has no task 77"},
    {"POST", "/v1/jobs/cancel", "{\"ids\":[\"2_77\",\"2\"],\"partial\":true,\"dry_run\":true}", 200,
     "{\"count\":1,\"refused\":[\n{\"id\":\"2_77\",\"name\":\"not-found\",\"message\":\"job 2 has no task 77\"}\n],\"jobs\":[\"2\"]}"},
    {"POST", "/v1/jobs/cancel", "{\"ids\":[\"2\"],\"user\":\"ann\"}", 400, "user: is only accepted with all"},
    {"POST", "/v1/jobs/cancel", "{\"all\":true,\"user\":\"\"}", 400, "user: is empty; leave it out to mean any"},
    {"POST", "/v1/jobs/cancel", "{\"all\":true,\"state\":\"ended\"}", 400,
     "state: 'ended' is not one of pending,running"},
    {"POST", "/v1/jobs/hold", "{\"all\":true,\"qos\":\"nowhere\"}", 404, "no qos 'nowhere'"},
    {"GET", "/v1/jobs/1/wait", NULL, 200, "{\"ended\":true,\"jobs\":[\n{\"id\":\"1\""},
    {"GET", "/v1/jobs?which=ended", NULL, 200, "\"id\":\"2_[3]\""},

    {"PATCH", "/v1/settings", "{\"halflife_s\":\"1-0\",\"default_cpus\":2}", 200, "true"},
    {"GET", "/v1/settings", NULL, 200, "{\"name\":\"halflife_s\",\"value\":\"86400\",\"default\":\"604800\","},
    {"PATCH", "/v1/settings", "[1]", 400, "the body: a list is not an object"},
    {"PATCH", "/v1/settings", "{}", 400, "nothing to change: give at least one"},
    {"PATCH", "/v1/settings", "{\"halflife_s\":[1]}", 400, "halflife_s: a list is not text, a number, true or false"},
    {"PATCH", "/v1/settings", "{\"\\u001b[31mX\":[1]}", 400, "\"?[31mX: a list is not text, a number, true or false"},
    {"PATCH", "/v1/settings", "{\"a" E_ACUTE_62 E_ACUTE_62 "\":[1]}", 400, "\xc3\xa9...\xc3\xa9"},
    {"PATCH", "/v1/settings", "{\"nonsense\":\"1\"}", 404, "no setting 'nonsense'"},
    {"GET", "/v1/shares?account=unknown", NULL, 404, "no account 'unknown'"},
    {"GET", "/v1/shares?user=unknown&account=physics", NULL, 404,
     "user 'unknown' is not in account 'physics' or below it"},
    {"GET", "/v1/shares?format=xml", NULL, 400, "format: 'xml' is not one of json,lines,psv"},
    {"GET", "/v1/shares?format=lines", NULL, 200, "account|user|partition|parent_account|depth|raw_shares|"},
    {"GET", "/v1/openapi.json", NULL, 200, "\"openapi\":\"3.1.0\""},
    {"GET", "/v1/scenario", NULL, 200, "\"instance\":true,\n\"settings\":{"},
    {"GET", "/v1/scenario?x=1", NULL, 400, "x"},

    {"PUT", "/v1/jobs", "{}", 405, "PUT is not accepted at '/v1/jobs'; accepted are GET, HEAD, POST, OPTIONS"},
    {"DELETE", "/v1/jobs/cancel", NULL, 405, "POST, OPTIONS"},
    {"POST", "/v1/status", "{}", 405, "GET, HEAD, OPTIONS"},
    {"GET", "/", NULL, 404, "no path '/'"},
    {"GET", "/v1/jobs/", NULL, 404, "no path '/v1/jobs/'"},
    {"GET", "/v1/jobs/1/wait/", NULL, 404, "no path '"},
    {"GET", "/v2/jobs", NULL, 404, "no path '"},
};

static void requests_are_answered(void **unused)
{
    struct fixture f;
    (void)unused;
    fixture_open(&f);
    struct answer a = {.fd = fixture_connect(&f)};
    for (size_t i = 0; i < COUNT(requests); i++) {
        const struct row *row = &requests[i];
        bool is_complete = fixture_ask(&f, &a, row->method, row->target, row->body);
        if (!is_complete || a.reply.status != row->status || a.body.text == NULL ||
            strstr(a.body.text, row->part) == NULL)
            fail_msg("%s %s %s: %d %s, expected %d %s", row->method, row->target, row->body ? row->body : "",
                     a.reply.status, a.body.text ? a.body.text : "", row->status, row->part);
        if (a.reply.closes) fail_msg("%s %s closes the connection", row->method, row->target);
        assert_int_equal(a.body.text[a.body.length - 1], '\n');
        assert_int_equal(f.cursor_count, 0);
    }
    close(a.fd);
    answer_release(&a);
    fixture_close(&f);
}

/* --- scripts and arguments of a submission ------------------------------------------------------------------------ */

static void submission_keeps_bytes(void **unused)
{
    struct fixture f;
    (void)unused;
    fixture_open(&f);
    struct answer a = {.fd = fixture_connect(&f)};
    fixture_ask(&f, &a, "POST", "/v1/jobs",
                "{" JOB
                ",\"script\":{\"base64\":\"IyEvYmluL3No/w==\"},\"script_name\":\"/home/x/run me.sh\",\"arguments\":"
                "[\"a b\",{\"base64\":\"/w==\"}],\"environment\":[\"A=\",\"B=\\u00e9\"]}");
    assert_int_equal(a.reply.status, 201);
    assert_non_null(strstr(a.head.text, "\r\nLocation: /v1/jobs/1\r\n"));
    assert_string_equal(f.script.text, "#!/bin/sh\xff|/home/x/run me.sh|a b|\xff|A=|B=\xc3\xa9|");
    assert_string_equal(f.w.s.jobs.items[0].text->name, "run me.sh");
    fixture_ask(&f, &a, "POST", "/v1/jobs", "{" JOB ",\"arguments\":[\"/usr/bin/py\\u0007thon\"]}");
    assert_string_equal(f.w.s.jobs.items[1].text->name, "job");

    fixture_ask(&f, &a, "PATCH", "/v1/settings", "{\"grace_s\":5,\"ties\":\"merge\",\"max_jobs\":\"9\"}");
    assert_int_equal(f.w.s.settings.value[SET_GRACE_S].number, 5);
    assert_int_equal(f.w.s.settings.value[SET_MAX_JOBS].number, 9);
    close(a.fd);
    answer_release(&a);
    fixture_close(&f);
}

/* --- HTTP --------------------------------------------------------------------------------------------------------- */

static void exchange_text(struct fixture *f, struct answer *a, const char *text)
{
    assert_true(fixture_exchange(f, a, str(text)));
}

/* Receives a reply without a body into a->head. */
static void head_of(struct fixture *f, struct answer *a, const char *target)
{
    char text[100];
    int length = snprintf(text, sizeof text, "HEAD %s HTTP/1.1\r\nHost: x\r\n\r\n", target);
    assert_int_equal(send(a->fd, text, (size_t)length, 0), length);
    buf_clear(&a->head);
    for (int i = 0; i < 10; i++) {
        fixture_turn(f);
        ssize_t count = recv(a->fd, buf_room(&a->head, 4000), 4000, 0);
        if (count > 0) a->head.length += (size_t)count;
    }
    a->head.text[a->head.length] = '\0';
    assert_ptr_equal(strstr(a->head.text, "\r\n\r\n") + 4, a->head.text + a->head.length);
}

static void head_and_options(void **unused)
{
    struct fixture f;
    (void)unused;
    fixture_open(&f);
    struct answer a = {.fd = fixture_connect(&f)};
    head_of(&f, &a, "/v1/status");
    assert_non_null(strstr(a.head.text, "HTTP/1.1 200 OK\r\n"));
    assert_null(strstr(a.head.text, "Content-Length: 0"));
    for (int i = 0; i < 500; i++) world_submit(&f.w, "alice", NULL, 1);
    head_of(&f, &a, "/v1/jobs");
    assert_non_null(strstr(a.head.text, " 200 OK\r\n"));
    assert_null(strstr(a.head.text, "Content-Length"));
    assert_non_null(strstr(a.head.text, "application/json\r\n"));
    close(a.fd); /* libmicrohttpd closes its end, too */
    a.fd = fixture_connect(&f);

    fixture_ask(&f, &a, "OPTIONS", "/v1/jobs/5", NULL);
    assert_int_equal(a.reply.status, 204);
    assert_non_null(strstr(a.head.text, "\r\nAllow: GET, HEAD, PATCH, DELETE, OPTIONS\r\n"));
    fixture_ask(&f, &a, "PUT", "/v1/jobs/5", "{}");
    assert_int_equal(a.reply.status, 405);
    assert_non_null(strstr(a.head.text, "\r\nAllow: GET, HEAD, PATCH, DELETE, OPTIONS\r\n"));
    /* The Content-Type is ignored: curl -d sends another one. */
    exchange_text(&f, &a,
                  "POST /v1/accounts HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\n"
                  "Content-Length: 12\r\n\r\n{\"name\":\"a\"}");
    assert_int_equal(a.reply.status, 200);
    exchange_text(&f, &a,
                  "POST /v1/accounts HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{\"nam\r\n7\r\n"
                  "e\":\"b\"}\r\n0\r\n\r\n");
    assert_int_equal(a.reply.status, 200);
    close(a.fd);
    answer_release(&a);
    fixture_close(&f);
}

static void too_large(void **unused)
{
    struct fixture f;
    (void)unused;
    fixture_open(&f);
    struct answer a = {.fd = fixture_connect(&f)};
    exchange_text(&f, &a, "POST /v1/jobs HTTP/1.1\r\nHost: x\r\nContent-Length: 67108865\r\n\r\n{");
    assert_int_equal(a.reply.status, 413);
    assert_non_null(strstr(a.body.text, "\"too-large\",\"message\":\"the request body is longer than 67108864"));
    close(a.fd);

    a.fd = fixture_connect(&f);
    exchange_text(&f, &a, "POST /v1/jobs/cancel HTTP/1.1\r\nHost: x\r\nContent-Length: 4194305\r\n\r\n{");
    assert_int_equal(a.reply.status, 413);
    close(a.fd);

    /* A body without a declared length. */
    struct buf text = {0};
    buf_add_text(&text, "POST /v1/accounts HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n500000\r\n");
    memset(buf_room(&text, 0x500000), ' ', 0x500000);
    text.length += 0x500000;
    buf_add_text(&text, "\r\n0\r\n\r\n");
    a.fd = fixture_connect(&f);
    assert_true(fixture_exchange(&f, &a, (struct str){text.text, text.length}));
    assert_int_equal(a.reply.status, 413);
    close(a.fd);
    buf_release(&text);
    answer_release(&a);
    fixture_close(&f);
}

static void large_scripts(void **unused)
{
    struct fixture f;
    struct buf text = {0};
    size_t size = 20 * 1048576;
    (void)unused;
    fixture_open(&f);
    struct answer a = {.fd = fixture_connect(&f)};
    buf_format(&text, "POST /v1/jobs HTTP/1.1\r\nHost: x\r\nContent-Length: %zu\r\n\r\n{" JOB ",\"script\":\"",
               size + strlen("{" JOB ",\"script\":\"\"}"));
    memset(buf_room(&text, size), '#', size);
    text.length += size;
    buf_add_text(&text, "\"}");
    assert_true(fixture_exchange(&f, &a, (struct str){text.text, text.length}));
    assert_int_equal(a.reply.status, 201);
    assert_int_equal(f.script.length, size + 2);
    close(a.fd);
    buf_release(&text);
    answer_release(&a);
    fixture_close(&f);
}

static void other_users_are_refused(void **unused)
{
    struct fixture f;
    (void)unused;
    fixture_open(&f);
    f.denies = true;
    struct answer a = {.fd = fixture_connect(&f)};
    fixture_ask(&f, &a, "GET", "/v1/status", NULL);
    assert_int_equal(a.reply.status, 403);
    assert_non_null(strstr(a.body.text, "\"name\":\"denied\",\"message\":\"this instance does not serve user"));
    close(a.fd);
    a.fd = fixture_connect(&f);
    fixture_ask(&f, &a, "POST", "/v1/accounts", "{\"name\":\"a\"}");
    assert_int_equal(a.reply.status, 403);
    close(a.fd);
    assert_int_equal(f.w.s.assocs.count, 1);
    answer_release(&a);
    fixture_close(&f);
}

/* --- waiting ------------------------------------------------------------------------------------------------------ */

static void run_until(struct fixture *f, struct answer *a);

/* Nobody else waits for the host to find out who a client is. Then its request goes on. */
static void a_client_is_known_later(void **unused)
{
    struct fixture f;
    static const char request[] = "GET /v1/status HTTP/1.1\r\nHost: x\r\n\r\n";
    (void)unused;
    fixture_open(&f);
    f.is_anonymous = true;
    struct answer early = {.fd = fixture_connect(&f)}, late = {.fd = fixture_connect(&f)};
    char byte;
    assert_int_equal(send(early.fd, request, sizeof request - 1, 0), sizeof request - 1);
    for (int i = 0; i < 10; i++) fixture_turn(&f);
    assert_int_equal(recv(early.fd, &byte, 1, MSG_DONTWAIT), -1);
    f.is_anonymous = false;
    fixture_ask(&f, &late, "GET", "/v1/status", NULL);
    assert_int_equal(late.reply.status, 200);
    assert_int_equal(recv(early.fd, &byte, 1, MSG_DONTWAIT), -1);
    server_identified(f.server);
    run_until(&f, &early);
    assert_int_equal(early.reply.status, 200);
    close(early.fd);
    close(late.fd);
    answer_release(&early);
    answer_release(&late);
    fixture_close(&f);
}

static void send_wait(struct answer *a, const char *job, int timeout_s)
{
    char text[200];
    int length =
        snprintf(text, sizeof text, "GET /v1/jobs/%s/wait?timeout_s=%d HTTP/1.1\r\nHost: x\r\n\r\n", job, timeout_s);
    assert_int_equal(send(a->fd, text, (size_t)length, 0), length);
}

static void run_until(struct fixture *f, struct answer *a)
{
    struct err e = {0};
    for (int i = 0; i < 2000 && !http_reply_is_done(&a->reply); i++) {
        fixture_turn(f);
        assert_true(answer_receive(a, &e));
    }
    assert_true(http_reply_is_done(&a->reply));
}

static void waiting_for_an_end(void **unused)
{
    struct fixture f;
    (void)unused;
    fixture_open(&f);
    uint32_t id = world_submit(&f.w, "alice", NULL, 1);
    assert_int_equal(world_pass(&f.w), 1);
    struct answer waiting = {.fd = fixture_connect(&f)}, other = {.fd = fixture_connect(&f)};
    send_wait(&waiting, "1", 30);
    while (f.server->waiting_count == 0) fixture_turn(&f);
    fixture_turn(&f); /* libmicrohttpd looks once more at a connection that it has just suspended */
    assert_in_range(server_timeout_ms(f.server), 1, 30000);
    fixture_ask(&f, &other, "GET", "/v1/status", NULL);
    assert_int_equal(other.reply.status, 200);
    assert_int_equal(f.server->waiting_count, 1);

    f.w.now_us += SECOND;
    world_started(&f.w, world_task(&f.w, id, 0)->launch_id);
    world_ended(&f.w, world_task(&f.w, id, 0)->launch_id, JOB_COMPLETED, f.w.now_us);
    run_until(&f, &waiting);
    assert_non_null(strstr(waiting.body.text, "{\"ended\":true,\"jobs\":[\n{\"id\":\"1\""));
    assert_non_null(strstr(waiting.body.text, "\"state\":\"COMPLETED\""));
    assert_int_equal(f.server->waiting_count, 0);
    close(waiting.fd);
    close(other.fd);
    answer_release(&waiting);
    answer_release(&other);
    fixture_close(&f);
}

static void waiting_for_a_task(void **unused)
{
    struct fixture f;
    (void)unused;
    fixture_open(&f);
    struct event submission = world_submission("alice", NULL, 1);
    submission.submit = job_with(submission.submit, "array=0-1");
    assert_int_equal(world_apply(&f.w, submission, NULL), 0);
    assert_int_equal(world_pass(&f.w), 2);
    struct answer first = {.fd = fixture_connect(&f)}, all = {.fd = fixture_connect(&f)};
    send_wait(&first, "1_0", 30);
    send_wait(&all, "1", 30);
    while (f.server->waiting_count < 2) fixture_turn(&f);
    world_ended(&f.w, world_task(&f.w, 1, 0)->launch_id, JOB_FAILED, 0);
    run_until(&f, &first);
    assert_non_null(strstr(first.body.text, "\"id\":\"1_0\",\"job_id\":1,\"task_id\":0,"));
    assert_null(strstr(first.body.text, "\"id\":\"1_1\""));
    assert_int_equal(f.server->waiting_count, 1);
    world_ended(&f.w, world_task(&f.w, 1, 1)->launch_id, JOB_COMPLETED, 0);
    run_until(&f, &all);
    assert_non_null(strstr(all.body.text, "\"id\":\"1_1\""));
    close(first.fd);
    close(all.fd);
    answer_release(&first);
    answer_release(&all);
    fixture_close(&f);
}

static void waiting_ends_by_timeout_or_disconnect(void **unused)
{
    struct fixture f;
    (void)unused;
    fixture_open(&f);
    world_submit(&f.w, "alice", NULL, 1);
    struct answer timed_out = {.fd = fixture_connect(&f)}, gone = {.fd = fixture_connect(&f)};
    send_wait(&gone, "1", 3600);
    while (f.server->waiting_count < 1) fixture_turn(&f);
    int64_t start_us = server_monotonic_us();
    send_wait(&timed_out, "1", 1);
    while (f.server->waiting_count < 2 && server_monotonic_us() < start_us + SECOND) fixture_turn(&f);
    close(gone.fd);
    while (f.server->waiting_count > 1) fixture_turn(&f);
    run_until(&f, &timed_out);
    assert_true(server_monotonic_us() - start_us >= 1000000);
    assert_non_null(strstr(timed_out.body.text, "{\"ended\":false,\"jobs\":[\n{\"id\":\"1\""));
    assert_int_equal(f.server->waiting_count, 0);
    close(timed_out.fd);
    answer_release(&timed_out);
    fixture_close(&f);
}

/* A client that has shut down only its sending side gets its answer. */
static void waiting_half_closed(void **unused)
{
    struct fixture f;
    (void)unused;
    fixture_open(&f);
    world_submit(&f.w, "alice", NULL, 1);
    struct answer a = {.fd = fixture_connect(&f)};
    send_wait(&a, "1", 30);
    while (f.server->waiting_count < 1) fixture_turn(&f);
    shutdown(a.fd, SHUT_WR);
    for (int i = 0; i < 5; i++) fixture_turn(&f);
    assert_int_equal(f.server->waiting_count, 1);
    assert_int_equal(world_apply(&f.w, (struct event){.kind = EVENT_CANCEL, .jobs = {.all = true}}, NULL), 0);
    run_until(&f, &a);
    assert_int_equal(a.reply.status, 200);
    close(a.fd);
    answer_release(&a);
    fixture_close(&f);
}

static void verification_answers_later(void **unused)
{
    struct fixture f;
    (void)unused;
    fixture_open(&f);
    struct answer a = {.fd = fixture_connect(&f)};
    assert_int_equal(send(a.fd, "GET /v1/verify HTTP/1.1\r\nHost: x\r\n\r\n", 36, 0), 36);
    while (f.verifying == NULL) fixture_turn(&f);
    for (int i = 0; i < 3; i++) fixture_turn(&f);
    server_verified(f.verifying, str("{\"associations\":1,\"tasks\":0,\"differences\":[]}"), NULL);
    run_until(&f, &a);
    assert_string_equal(a.body.text, "{\"associations\":1,\"tasks\":0,\"differences\":[]}\n");

    answer_release(&a);
    f.verifying = NULL;
    assert_int_equal(send(a.fd, "GET /v1/verify HTTP/1.1\r\nHost: x\r\n\r\n", 36, 0), 36);
    while (f.verifying == NULL) fixture_turn(&f);
    struct err e;
    err_set(&e, ERR_IO, "the disk is gone");
    close(a.fd); /* the client is gone when the verification ends */
    fixture_turn(&f);
    server_verified(f.verifying, str(""), &e);
    for (int i = 0; i < 3; i++) fixture_turn(&f);
    answer_release(&a);
    fixture_close(&f);
}

static void closing_answers_all_requests(void **unused)
{
    struct fixture f;
    (void)unused;
    fixture_open(&f);
    world_submit(&f.w, "alice", NULL, 1);
    struct answer waiting = {.fd = fixture_connect(&f)}, deciding = {.fd = fixture_connect(&f)};
    const char *text = "POST /v1/accounts HTTP/1.1\r\nHost: x\r\nContent-Length: 12\r\n\r\n{\"name\":\"a\"}";
    struct err e = {0};
    f.keeps_requests = true;
    send_wait(&waiting, "1", 30);
    assert_int_equal(send(deciding.fd, text, strlen(text), 0), strlen(text));
    for (int i = 0; i < 200 && (f.server->waiting_count < 1 || f.server->queue.count < 1); i++) fixture_turn(&f);
    server_close(f.server);
    f.server = NULL;
    assert_int_equal(access(f.path, F_OK), -1);
    assert_true(answer_receive(&waiting, &e));
    assert_int_equal(waiting.reply.status, 503);
    assert_non_null(strstr(waiting.body.text, "the instance is stopping"));
    assert_true(answer_receive(&deciding, &e));
    assert_int_equal(deciding.reply.status, 503);
    close(waiting.fd);
    close(deciding.fd);
    answer_release(&waiting);
    answer_release(&deciding);
    fixture_close(&f);
}

/* --- long listings ------------------------------------------------------------------------------------------------ */

enum { MANY = 5000 };

static void long_listing(void **unused)
{
    struct fixture f;
    (void)unused;
    fixture_open(&f);
    for (int i = 0; i < MANY; i++) world_submit(&f.w, "alice", NULL, 1);
    struct answer a = {.fd = fixture_connect(&f)};
    uint32_t before = f.turn_count, rows = 0;
    fixture_ask(&f, &a, "GET", "/v1/jobs", NULL);
    assert_true(f.turn_count - before > 10);
    struct str rest = {a.body.text, a.body.length};
    assert_true(str_equal(str_cut(rest, '\n', &rest), str("{\"jobs\":[")));
    for (; rest.length > 0 && rest.text[0] == '{'; rows++) {
        struct job_row row;
        struct arena arena = {0};
        struct err e = {0};
        struct str line = str_cut(rest, '\n', &rest);
        if (line.text[line.length - 1] == ',') line.length--;
        if (wire_read_record(&job_fields, line, &arena, row.value, &e) != 0) fail_msg("%s", ERR_SENTENCE(&e));
        assert_int_equal(job_row_number(&row, JOB_FIELD_JOB_ID), rows + 1);
        arena_release(&arena);
    }
    assert_int_equal(rows, MANY);
    assert_true(str_equal(rest, str("]}\n")));

    /* A client that disconnects in the middle of a listing. */
    assert_int_equal(send(a.fd, "GET /v1/jobs HTTP/1.1\r\nHost: x\r\n\r\n", 34, 0), 34);
    for (int i = 0; i < 5; i++) fixture_turn(&f);
    assert_int_equal(f.cursor_count, 1);
    close(a.fd);
    while (f.cursor_count > 0) fixture_turn(&f);
    answer_release(&a);
    fixture_close(&f);
}

/* Each long listing holds a snapshot, so the number of unread ones is limited. Short ones are still answered. */
static void unread_listings(void **unused)
{
    struct fixture f;
    int fds[STREAMS_MAX];
    (void)unused;
    fixture_open(&f);
    for (int i = 0; i < MANY; i++) world_submit(&f.w, "alice", NULL, 1);
    for (int i = 0; i < STREAMS_MAX; i++) {
        fds[i] = fixture_connect(&f);
        assert_int_equal(send(fds[i], "GET /v1/jobs HTTP/1.1\r\nHost: x\r\n\r\n", 34, 0), 34);
        while (f.server->stream_count <= (uint32_t)i) fixture_turn(&f);
    }
    struct answer a = {.fd = fixture_connect(&f)};
    fixture_ask(&f, &a, "GET", "/v1/jobs", NULL);
    assert_int_equal(a.reply.status, 503);
    a.reply.status = 503;
    for (int tries = 0; a.reply.status == 503 && tries < 20;
         tries++) /* long is also what takes long, on a busy machine */
        fixture_ask(&f, &a, "GET", "/v1/jobs?id=7", NULL);
    assert_int_equal(a.reply.status, 200);
    assert_non_null(strstr(a.head.text, "\r\nContent-Length: "));
    for (int i = 0; i < STREAMS_MAX; i++) close(fds[i]);
    while (f.server->stream_count > 0) fixture_turn(&f);
    fixture_ask(&f, &a, "GET", "/v1/jobs", NULL);
    assert_int_equal(a.reply.status, 200);
    close(a.fd);
    answer_release(&a);
    fixture_close(&f);
}

static void open_listing(struct fixture *f, int *out_fd)
{
    uint32_t count = f->server->stream_count;
    *out_fd = fixture_connect(f);
    assert_int_equal(send(*out_fd, "GET /v1/jobs HTTP/1.1\r\nHost: x\r\n\r\n", 34, 0), 34);
    while (f->server->stream_count <= count) fixture_turn(f);
}

/* Where a server serves all users, one has at most as many long listings as are left for the others. */
static void users_share_long_listings(void **unused)
{
    enum { ALONE = STREAMS_MAX / 2, BESIDE = STREAMS_MAX / 4, OTHER = 4000000 };
    struct fixture f;
    int fds[ALONE];
    (void)unused;
    fixture_open(&f);
    f.server->host.serves_all = true;
    for (int i = 0; i < MANY; i++) world_submit(&f.w, "alice", NULL, 1);
    for (int i = 0; i < ALONE; i++) open_listing(&f, &fds[i]);
    struct answer a = {.fd = fixture_connect(&f)};
    fixture_ask(&f, &a, "GET", "/v1/jobs", NULL);
    assert_int_equal(a.reply.status, 503);
    assert_non_null(strstr(a.body.text, "16 long listings are already being sent to this user; try again later"));
    for (int i = 0; i < ALONE; i++) close(fds[i]);
    while (f.server->stream_count > 0) fixture_turn(&f);

    connection_user(f.server, OTHER)->stream_count = f.server->stream_count = ALONE;
    for (int i = 0; i < BESIDE; i++) open_listing(&f, &fds[i]);
    fixture_ask(&f, &a, "GET", "/v1/jobs", NULL);
    assert_int_equal(a.reply.status, 503);
    assert_non_null(strstr(a.body.text, "8 long listings are already being sent to this user"));
    for (int i = 0; i < BESIDE; i++) close(fds[i]);
    while (f.server->stream_count > ALONE) fixture_turn(&f);
    for (int i = 0; i < ALONE; i++) connection_end_stream(f.server, OTHER);
    assert_int_equal(f.server->users.count, 1);
    close(a.fd);
    answer_release(&a);
    fixture_close(&f);
}

/* A change that arrives while long listings are sent is queued before any of them goes on, and its reply is sent in the
 * next run. */
static void changes_come_before_listings(void **unused)
{
    struct fixture f;
    int fds[4];
    (void)unused;
    fixture_open(&f);
    for (int i = 0; i < MANY; i++) world_submit(&f.w, "alice", NULL, 1);
    for (int i = 0; i < 4; i++) {
        fds[i] = fixture_connect(&f);
        assert_int_equal(send(fds[i], "GET /v1/jobs HTTP/1.1\r\nHost: x\r\n\r\n", 34, 0), 34);
    }
    while (f.server->stream_count < 4) fixture_turn(&f);
    static const char body[] = "{" JOB ",\"arguments\":[\"/bin/true\"]}";
    char submission[512];
    size_t length =
        text_format(submission, sizeof submission, "POST /v1/jobs HTTP/1.1\r\nHost: x\r\nContent-Length: %zu\r\n\r\n%s",
                    strlen(body), body);
    struct answer a = {.fd = fixture_connect(&f)};
    f.keeps_requests = true;
    assert_int_equal(send(a.fd, submission, length, 0), (int)length);
    for (int i = 0; f.server->queue.count == 0 && i < 4; i++) { /* accepted, read, understood */
        int64_t rendered_us = f.server->rendered_us = server_monotonic_us();
        server_ready(f.server);
        assert_true(f.server->queue.count == 0 || f.server->rendered_us == rendered_us);
    }
    assert_int_equal(f.server->queue.count, 1);
    f.keeps_requests = false;
    fixture_decide(&f, server_take(f.server));
    server_committed(f.server);
    server_ready(f.server);
    struct err e;
    assert_true(answer_receive(&a, &e));
    assert_true(http_reply_is_done(&a.reply));
    assert_int_equal(a.reply.status, 201);
    assert_int_equal(f.server->stream_count, 4);

    f.server->rendered_us = server_monotonic_us() - SECOND; /* changes hold listings up for only so long */
    f.keeps_requests = true;
    assert_int_equal(send(a.fd, submission, length, 0), (int)length);
    int64_t rendered_us = f.server->rendered_us;
    server_ready(f.server);
    assert_int_equal(f.server->queue.count - f.server->queue_first, 1);
    assert_true(f.server->rendered_us > rendered_us);
    f.keeps_requests = false;
    for (int i = 0; i < 4; i++) close(fds[i]);
    while (f.server->stream_count > 0) fixture_turn(&f);
    close(a.fd);
    answer_release(&a);
    fixture_close(&f);
}

/* The state changes while a listing is sent. */
static void listing_is_a_snapshot(void **unused)
{
    struct fixture f;
    char name[32];
    (void)unused;
    fixture_open(&f);
    world_user(&f.w, "physics", 1, "u");
    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "u%d", i);
        world_user(&f.w, "physics", 1, name);
    }
    struct answer a = {.fd = fixture_connect(&f)};
    assert_int_equal(send(a.fd, "GET /v1/shares HTTP/1.1\r\nHost: x\r\n\r\n", 36, 0), 36);
    while (http_reply_has_head(&a.reply) == false) {
        struct err e;
        fixture_turn(&f);
        answer_receive(&a, &e);
    }
    world_release(&f.w);
    world_init(&f.w, 1, 1, 0);
    run_until(&f, &a);
    assert_non_null(strstr(a.body.text, "{\"account\":\"physics\",\"user\":\"u4999\","));
    close(a.fd);
    answer_release(&a);
    fixture_close(&f);
}

/* --- the socket --------------------------------------------------------------------------------------------------- */

static void socket_is_private_and_replaced(void **unused)
{
    struct fixture f;
    struct stat st;
    struct err e = {0};
    (void)unused;
    fixture_open(&f);
    assert_int_equal(stat(f.path, &st), 0);
    assert_int_equal(st.st_mode, S_IFSOCK | 0600);
    assert_null(fixture_serve(&f, f.path, &e));
    assert_int_equal(e.code, ERR_CONFLICT);
    assert_int_equal(stat(f.path, &st), 0);

    /* A socket without a listener, as kill -9 leaves it. */
    server_close(f.server);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strcpy(address.sun_path, f.path);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    close(fd);
    f.server = fixture_serve(&f, f.path, &e);
    assert_non_null(f.server);
    struct answer a = {.fd = fixture_connect(&f)};
    fixture_ask(&f, &a, "GET", "/v1/status", NULL);
    assert_int_equal(a.reply.status, 200);
    close(a.fd);
    answer_release(&a);

    /* A file that is not the server's socket stays. */
    assert_int_equal(unlink(f.path), 0);
    FILE *file = fopen(f.path, "w");
    fclose(file);
    server_close(f.server);
    f.server = NULL;
    assert_null(fixture_serve(&f, f.path, &e));
    assert_int_equal(e.code, ERR_CONFLICT);
    assert_non_null(strstr(ERR_SENTENCE(&e), "the file is not a socket"));
    assert_int_equal(unlink(f.path), 0);
    fixture_close(&f);
}

static void socket_paths_have_a_limit(void **unused)
{
    struct fixture f;
    struct err e = {0};
    char path[109];
    (void)unused;
    fixture_open(&f);
    memset(path, 'x', sizeof path);
    memcpy(path, "/tmp/", 5);
    path[108] = '\0';
    assert_null(fixture_serve(&f, path, &e));
    assert_int_equal(e.code, ERR_INPUT);
    assert_non_null(strstr(ERR_SENTENCE(&e), "socket: the path has 108 bytes; 1 to 107 are accepted"));
    assert_string_equal(e.field, "socket");
    assert_null(fixture_serve(&f, "/nonexistent/s", &e));
    assert_int_equal(e.code, ERR_IO);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_are_answered),
        cmocka_unit_test(submission_keeps_bytes),
        cmocka_unit_test(head_and_options),
        cmocka_unit_test(too_large),
        cmocka_unit_test(large_scripts),
        cmocka_unit_test(other_users_are_refused),
        cmocka_unit_test(a_client_is_known_later),
        cmocka_unit_test(waiting_for_an_end),
        cmocka_unit_test(waiting_for_a_task),
        cmocka_unit_test(waiting_ends_by_timeout_or_disconnect),
        cmocka_unit_test(waiting_half_closed),
        cmocka_unit_test(verification_answers_later),
        cmocka_unit_test(closing_answers_all_requests),
        cmocka_unit_test(long_listing),
        cmocka_unit_test(unread_listings),
        cmocka_unit_test(users_share_long_listings),
        cmocka_unit_test(changes_come_before_listings),
        cmocka_unit_test(listing_is_a_snapshot),
        cmocka_unit_test(socket_is_private_and_replaced),
        cmocka_unit_test(socket_paths_have_a_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
