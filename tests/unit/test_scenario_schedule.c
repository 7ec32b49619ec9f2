/* Schedules of documents: what they have beyond the recorded runs (conformance/test_grid_engine_schedule.py), by hand
 * from docs/formulas.md 7 and 8, and what is refused. */
#include "scenario_world.h"

#include "engine/schedule.h"

/* A document that is written with ' instead of ". */
static int read_document(const char *document, struct scenario *out_scenario, struct err *e)
{
    struct buf text = {0};
    buf_add_text(&text, document);
    for (size_t i = 0; i < text.length; i++) {
        if (text.text[i] == '\'') text.text[i] = '"';
    }
    int status = scenario_read((struct str){text.text, text.length}, "F", out_scenario, e);
    buf_release(&text);
    return status;
}

/* "1 RUNNING 0-100 all.q@n1=2; 2 WAITING": the rows of a document's schedule. Times are seconds after `now`, 1000. */
static const char *schedule_of(const char *document)
{
    static struct buf text;
    struct scenario s;
    struct schedule p;
    struct err e = {0};
    static const char *const states[] = {"RUNNING", "SUSPENDED", "STARTING", "RESERVED", "WAITING"};
    read_quoted(document, &s);
    buf_clear(&text);
    buf_add_text(&text, "");
    if (scenario_schedule(&s, "F", &p, &e) != 0) buf_add_text(&text, ERR_SENTENCE(&e));
    for (uint32_t i = 0; i < p.rows.count; i++) {
        struct schedule_values v;
        schedule_row_values(&p, &s.state, i, &arena, &v);
        const struct field_value *value = v.value;
        buf_format(&text, "%s%s %s", i > 0 ? "; " : "", value[SCHEDULE_FIELD_ID].text,
                   states[value[SCHEDULE_FIELD_STATE].number]);
        if (value[SCHEDULE_FIELD_REASON].text != NULL) buf_format(&text, " (%s)", value[SCHEDULE_FIELD_REASON].text);
        if (value[SCHEDULE_FIELD_PLACES].text == NULL) continue;
        buf_format(&text, " %lld-", (long long)(value[SCHEDULE_FIELD_START].number / US_PER_S - 1000));
        if (value[SCHEDULE_FIELD_END].number != FIELD_ABSENT)
            buf_format(&text, "%lld", (long long)(value[SCHEDULE_FIELD_END].number / US_PER_S - 1000));
        buf_format(&text, " %s", value[SCHEDULE_FIELD_PLACES].text);
    }
    schedule_release(&p);
    scenario_release(&s);
    return text.text;
}

#define JOB(number, rest) "{'id': " number ", 'user': 'u', 'submit': 1" rest "}"
#define CLUSTER(settings, rest, jobs)                                                                             \
    "{'now': 1000, 'settings': {" settings "}, 'hosts': [{'name': 'n1', 'cpus': 4, 'mem': '8G'}, {'name': 'n2', " \
    "'cpus': 2}], " rest " 'jobs': [" jobs "]}"

/* 4 CPUs run until 100. The first of the pending jobs needs 4, so with EASY backfill it is reserved at 100; a short job
 * overtakes it, a long one does not. */
static void first_jobs_get_reservations(void **unused)
{
    (void)unused;
    static const char jobs[] = CLUSTER(
        "%s", "'partitions': [{'name': 'q', 'hosts': ['n1']}],",
        JOB("1", ", 'state': 'RUNNING', 'start': 1000, 'cpus': 2, 'time_limit_s': 100, 'places': {'q@n1': 2}") "," JOB(
            "2",
            ", 'cpus': 4, 'time_limit_s': 50") "," JOB("3",
                                                       ", 'cpus': 1, 'time_limit_s': 200") "," JOB("4",
                                                                                                   ", 'cpus': 1, 'time_limit_s': 99"));
    static const struct {
        const char *settings, *schedule;
    } rows[] = {
        {"'reservation_depth': 1",
         "1 RUNNING 0-100 q@n1=2; 2 RESERVED 100-150 q@n1=4; 4 STARTING 0-99 q@n1=1; 3 WAITING"},
        {"'reservations': 'none'",
         "1 RUNNING 0-100 q@n1=2; 3 STARTING 0-200 q@n1=1; 4 STARTING 0-99 q@n1=1; 2 WAITING"},
        {"'reservations': 'requested', 'max_reservation': 5",
         "1 RUNNING 0-100 q@n1=2; 3 STARTING 0-200 q@n1=1; 4 STARTING 0-99 q@n1=1; 2 WAITING"},
        {"'reservation_depth': 5",
         "1 RUNNING 0-100 q@n1=2; 2 RESERVED 100-150 q@n1=4; 3 RESERVED 150-350 q@n1=1; 4 STARTING 0-99 q@n1=1"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct buf document = {0};
        buf_format(&document, jobs, rows[i].settings);
        assert_string_equal(schedule_of(document.text), rows[i].schedule);
        buf_release(&document);
    }
}

/* Job 4 would fit at 10, when the cluster is free; moved to 20, the next multiple of 60 after 1010, it meets job 3. */
static void wide_jobs_begin_at_multiples_of_the_resolution(void **unused)
{
    (void)unused;
    assert_string_equal(
        schedule_of(CLUSTER(
            "'bf_resolution': 60",
            "'parallel_environments': [{'name': 'pe', 'allocation_rule': '$fill_up'}], "
            "'partitions': [{'name': 'q', 'pe_list': 'pe'}],",
            JOB("1", ", 'state': 'RUNNING', 'cpus': 4, 'time_limit_s': 10, 'places': {'q@n1': 4}") "," JOB(
                "3",
                ", 'pe': 'pe', 'cpus': 6, 'time_limit_s': 30") "," JOB("4",
                                                                       ", 'pe': 'pe', 'cpus': 6, 'time_limit_s': 5"))),
        "1 RUNNING 0-10 q@n1=4; 3 RESERVED 20-50 q@n1=4,q@n2=2; 4 RESERVED 80-85 q@n1=4,q@n2=2");
}

/* Job 2 is reserved in a, and starts in b after all; so it is not tried in c, and job 3 is the second one. */
static void jobs_that_start_after_all_are_not_tried_again(void **unused)
{
    (void)unused;
    assert_string_equal(
        schedule_of(CLUSTER(
            "'bf_max_job_test': 2",
            "'partitions': [{'name': 'a', 'hosts': 'n1', 'slots': 1}, {'name': 'b', 'hosts': 'n1'}, "
            "{'name': 'c', 'hosts': 'n1'}],",
            JOB("1", ", 'state': 'RUNNING', 'partition': 'a', 'time_limit_s': 9, 'places': {'a@n1': 1}") "," JOB(
                "2",
                ", 'partition': ['a', 'b', 'c'], 'time_limit_s': 9") "," JOB("3",
                                                                             ", 'partition': 'b', 'time_limit_s': 9"))),
        "1 RUNNING 0-9 a@n1=1; 2 STARTING 0-9 b@n1=1; 3 STARTING 0-9 b@n1=1");
}

/* The first task is reserved in a, so both start in b. */
static void tasks_without_a_reservation_start_elsewhere_too(void **unused)
{
    (void)unused;
    assert_string_equal(
        schedule_of(CLUSTER(
            "'reservation_depth': 1",
            "'partitions': [{'name': 'a', 'hosts': 'n1', 'slots': 1}, {'name': 'b', 'hosts': 'n1'}],",
            JOB("1", ", 'state': 'RUNNING', 'partition': 'a', 'time_limit_s': 9, 'places': {'a@n1': 1}") "," JOB(
                "2", ", 'partition': ['a', 'b'], 'time_limit_s': 9, 'array_tasks': 2"))),
        "1 RUNNING 0-9 a@n1=1; 2_1 STARTING 0-9 b@n1=1; 2_2 STARTING 0-9 b@n1=1");
}

static void memory_is_booked_on_each_host(void **unused)
{
    (void)unused;
    assert_string_equal(
        schedule_of(CLUSTER("'reservations': 'none'", "",
                            JOB("1", ", 'mem': '6G'") "," JOB("2", ", 'mem': '3G'") "," JOB("3", ", 'mem': '2G'"))),
        "1 STARTING 0- @n1=1; 2 STARTING 0- @n2=1; 3 STARTING 0- @n1=1");
}

/* Two queues share the CPUs of their host unless they say their slots. */
static void queues_share_the_host(void **unused)
{
    (void)unused;
#define TWO_QUEUES(slots)                                                                                        \
    CLUSTER("'reservations': 'none', 'PriorityType': 'priority/tickets'",                                        \
            "'partitions': [{'name': 'a', 'hosts': ['n2']" slots "}, {'name': 'b', 'hosts': ['n2']" slots "}],", \
            JOB("1", "") "," JOB("2", "") "," JOB("3", ""))
    assert_string_equal(schedule_of(TWO_QUEUES("")), "1 STARTING 0- a@n2=1; 2 STARTING 0- a@n2=1; 3 WAITING");
    assert_string_equal(schedule_of(TWO_QUEUES(", 'slots': 2")),
                        "1 STARTING 0- a@n2=1; 2 STARTING 0- a@n2=1; 3 STARTING 0- b@n2=1");
#undef TWO_QUEUES
}

/* All tickets run on n1, which has two thirds of the processors, so n2 comes first. */
static void hosts_come_by_their_unmet_share(void **unused)
{
    (void)unused;
#define SHARE(method)                                                                                                  \
    CLUSTER("'queue_sort_method': '" method "', 'PriorityType': 'priority/tickets'", "'partitions': [{'name': 'q'}],", \
            JOB("1", ", 'state': 'RUNNING', 'override_tickets': 300, 'places': {'q@n1': 1}") "," JOB(                  \
                "2", ", 'override_tickets': 900"))
    assert_string_equal(schedule_of(SHARE("share")), "1 RUNNING 0- q@n1=1; 2 STARTING 0- q@n2=1");
    assert_string_equal(schedule_of(SHARE("load")), "1 RUNNING 0- q@n1=1; 2 STARTING 0- q@n1=1");
#undef SHARE
}

static void states_and_users(void **unused)
{
    (void)unused;
#define QUEUE(fields, jobs) CLUSTER("'reservations': 'none'", "'partitions': [{'name': 'q', " fields "}],", jobs)
    static const struct {
        const char *document, *schedule;
    } rows[] = {
        {QUEUE("'state': 'UP,[n1=DRAIN]'", JOB("1", "")), "1 STARTING 0- q@n2=1"},
        {QUEUE("'state': 'DOWN'", JOB("1", "")), "1 WAITING"},
        {QUEUE("'state': 'INACTIVE'", JOB("1", "")), "1 WAITING"},
        {QUEUE("'state': 'DRAIN'", JOB("1", "")), "1 STARTING 0- q@n1=1"},
        {QUEUE("'DefaultTime': 2", JOB("1", "")), "1 STARTING 0-120 q@n1=1"},
        {QUEUE("'DefaultTime': 2, 'MaxTime': 1", JOB("1", "")), "1 STARTING 0-60 q@n1=1"},
        {QUEUE("'MaxCPUsPerNode': 1", JOB("1", "") ", " JOB("2", "") ", " JOB("3", "")),
         "1 STARTING 0- q@n1=1; 2 STARTING 0- q@n2=1; 3 WAITING"},
        {QUEUE("'MaxNodes': 1", JOB("1", ", 'cpus': 2, 'nodes': 2")),
         "1 WAITING (can never run: its 2 nodes exceed MaxNodes of partition 'q', 1)"},
        {QUEUE("'DenyQos': 'x', 'AllowAccounts': 'w'", JOB("1", "")),
         "1 WAITING (can never run: partition 'q' does not accept account '' (AllowAccounts w))"},
        {QUEUE("'user_lists': ['v']", JOB("1", "")),
         "1 WAITING (can never run: partition 'q' does not accept user 'u' (user_lists v))"},
        {QUEUE("'user_lists': ['v', '@defaultdepartment']", JOB("1", "")), "1 STARTING 0- q@n1=1"},
        {QUEUE("'xuser_lists': 'u'", JOB("1", "")),
         "1 WAITING (can never run: partition 'q' refuses user 'u' (xuser_lists u))"},
        {QUEUE("'slots': '9,[n1=1]'", JOB("1", ", 'cpus': 9")), "1 STARTING 0- q@n2=9"},
        {QUEUE("'seq_no': '1,[n2=0]'", JOB("1", "")), "1 STARTING 0- q@n2=1"},
        {QUEUE("'hosts': ['n2']", JOB("1", ", 'cpus': 3")),
         "1 WAITING (can never run: asks for 3 slots on one host; the largest has 2)"},
        {QUEUE("'closed': [[900, 1100]]", JOB("1", ", 'time_limit_s': 5")), "1 WAITING"},
        {QUEUE("'closed': [[1100, 1200]]", JOB("1", ", 'time_limit_s': 100") "," JOB("2", ", 'time_limit_s': 101")),
         "1 STARTING 0-100 q@n1=1; 2 WAITING"},
        {QUEUE("'closed': [[1100, 1200], [1200, null]]", JOB("1", ", 'time_limit_s': 100") "," JOB("2", "")),
         "1 STARTING 0-100 q@n1=1; 2 WAITING"},
    };
#undef QUEUE
    for (size_t i = 0; i < COUNT_OF(rows); i++) assert_string_equal(schedule_of(rows[i].document), rows[i].schedule);
}

/* Names may contain a slash, and two pairs of names are two pools. */
static void pools_of_quotas_keep_names_apart(void **unused)
{
    (void)unused;
    assert_string_equal(
        schedule_of("{'now': 1000, 'settings': {'reservations': 'none'}, 'hosts': [{'name': 'n1', 'cpus': 4}], "
                    "'quotas': [{'name': 'q', 'rules': 'limit users {*} projects {*} to slots=1'}], "
                    "'projects': [{'name': 'b/c'}, {'name': 'c'}], 'jobs': ["
                    "{'id': 1, 'user': 'a', 'project': 'b/c', 'submit': 1}, "
                    "{'id': 2, 'user': 'a/b', 'project': 'c', 'submit': 1}, "
                    "{'id': 3, 'user': 'a/b', 'project': 'c', 'submit': 1}]}"),
        "1 STARTING 0- @n1=1; 2 STARTING 0- @n1=1; 3 WAITING");
}

/* Both partitions are closed to both jobs, so that their demands are of one kind. */
static void a_reason_names_partitions_of_the_job(void **unused)
{
    (void)unused;
#define TWO(chem, bio, rest)                                                                          \
    CLUSTER("", "'partitions': [{'name': 'chem', " chem "}, {'name': 'bio', " bio "}],",              \
            JOB("1", ", 'partition': 'chem'" rest) "," JOB("2", ", 'partition': 'bio'" rest) "," JOB( \
                "3", ", 'partition': 'chem'" rest))
    assert_string_equal(schedule_of(TWO("'user_lists': 'ann'", "'user_lists': 'bob'", "")),
                        "1 WAITING (can never run: partition 'chem' does not accept user 'u' (user_lists ann)); "
                        "2 WAITING (can never run: partition 'bio' does not accept user 'u' (user_lists bob)); "
                        "3 WAITING (can never run: partition 'chem' does not accept user 'u' (user_lists ann))");
    assert_string_equal(schedule_of(TWO("'MaxTime': 1", "'MaxTime': 2", ", 'time_limit_s': 180")),
                        "1 WAITING (can never run: its time limit, 00:03:00, exceeds MaxTime of partition 'chem', "
                        "00:01:00); 2 WAITING (can never run: its time limit, 00:03:00, exceeds MaxTime of partition "
                        "'bio', 00:02:00); 3 WAITING (can never run: its time limit, 00:03:00, exceeds MaxTime of "
                        "partition 'chem', 00:01:00)");
#undef TWO
    /* Jobs of one partition, which differ in their account only. */
#define TREE                                                                                                          \
    "'tree': [{'account': 'chem'}, {'account': 'chem', 'user': 'u'}, {'account': 'bio'}, {'account': 'bio', 'user': " \
    "'u'}, {'account': 'physics'}],"
#define CLOSED(account) "partition 'vip' does not accept account '" account "' (AllowAccounts physics)"
#define ACCOUNTS(more, partition)                                                            \
    CLUSTER("", TREE "'partitions': [{'name': 'vip', 'AllowAccounts': 'physics'}" more "],", \
            JOB("1", ", 'account': 'chem', 'partition': " partition) "," JOB(                \
                "2", ", 'account': 'bio', 'partition': " partition))
    assert_string_equal(schedule_of(ACCOUNTS("", "'vip'")),
                        "1 WAITING (can never run: " CLOSED("chem") "); 2 WAITING (can never run: " CLOSED("bio") ")");
    assert_string_equal(schedule_of(ACCOUNTS(", {'name': 'none', 'hosts': []}", "['vip', 'none']")),
                        "1 WAITING (can never run: " CLOSED("chem") "; partition 'none' has no hosts); "
                                                                    "2 WAITING (can never run: " CLOSED(
                                                                        "bio") "; partition 'none' has no hosts)");
#undef ACCOUNTS
#undef CLOSED
#undef TREE
}

/* The queue is closed now and opens at 100; it closes again at 200. */
static void a_closed_queue_is_reserved_when_it_opens(void **unused)
{
    (void)unused;
    assert_string_equal(
        schedule_of(CLUSTER(
            "'reservation_depth': 9",
            "'partitions': [{'name': 'q', 'hosts': ['n1'], 'closed': [[900, 1100], [1200, 1300]]}],",
            JOB("1", ", 'cpus': 4, 'time_limit_s': 100") "," JOB("2", ", 'time_limit_s': 101") "," JOB("3", ""))),
        "1 RESERVED 100-200 q@n1=4; 2 RESERVED 300-401 q@n1=1; 3 RESERVED 300- q@n1=1");
}

/* Without gaps a reservation behind the last closed time would be too late. It is at the next opening, though the queue
 * closes again before the job would end. */
static void without_gaps_only_the_next_closed_time_counts(void **unused)
{
    (void)unused;
    assert_string_equal(
        schedule_of(CLUSTER(
            "'PriorityType': 'priority/tickets', 'max_reservation': 9, 'params': 'DURATION_OFFSET=0'",
            "'partitions': [{'name': 'q', 'hosts': ['n1'], 'closed': [[1100, 1200], [1300, 1400]]}],",
            JOB("1", ", 'time_limit_s': 150, 'reserve': true") "," JOB("2", ", 'time_limit_s': 100, 'reserve': true"))),
        "1 RESERVED 200-350 q@n1=1; 2 STARTING 0-100 q@n1=1");
}

/* n1 has an exclusive job until 50, so nothing else has a place there; on n2 is one that does not ask to be alone. */
static void an_exclusive_job_keeps_the_others_away(void **unused)
{
    (void)unused;
#define EXCLUSIVE(jobs)                                                           \
    CLUSTER("'reservation_depth': 9",                                             \
            "'resources': [{'name': 'alone', 'type': 'BOOL', 'relop': 'EXCL'}], " \
            "'partitions': [{'name': 'q', 'complex_values': 'alone=1'}],",        \
            jobs)
#define FIRST \
    JOB("1", ", 'state': 'RUNNING', 'start': 1000, 'time_limit_s': 50, 'places': {'q@n1': 1}, 'request': {'alone': 1}")
#define SECOND JOB("2", ", 'state': 'RUNNING', 'start': 1000, 'time_limit_s': 80, 'places': {'q@n2': 1}")
    assert_string_equal(
        schedule_of(EXCLUSIVE(FIRST "," SECOND "," JOB("3", ", 'cpus': 2, 'time_limit_s': 10") "," JOB(
            "4", ", 'time_limit_s': 10") "," JOB("5", ", 'time_limit_s': 10, 'request': {'alone': 1}"))),
        "1 RUNNING 0-50 q@n1=1; 2 RUNNING 0-80 q@n2=1; 3 RESERVED 50-60 q@n1=2; 4 STARTING 0-10 q@n2=1; "
        "5 RESERVED 60-70 q@n1=1");
#undef EXCLUSIVE
#undef FIRST
#undef SECOND
}

/* In fast 3 slots are free after an hour, in main after 10 s: job 3 has the earlier place, and job 4 leaves it. */
static void a_job_of_two_partitions_has_the_earlier_place(void **unused)
{
    (void)unused;
    assert_string_equal(
        schedule_of(CLUSTER(
            "'reservation_depth': 1",
            "'partitions': [{'name': 'fast', 'hosts': ['n1'], 'slots': 3, 'PriorityTier': 5}, {'name': 'main', 'hosts': ['n1']}],",
            JOB("1", ", 'partition': 'fast', 'state': 'RUNNING', 'start': 1000, 'time_limit_s': 3600, 'places': {'fast@n1': 1}") "," JOB("2", ", 'partition': 'main', 'cpus': 2, 'state': 'RUNNING', 'start': 1000, 'time_limit_s': 10, 'places': {'main@n1': 2}") "," JOB(
                "3",
                ", 'partition': ['main', 'fast'], 'cpus': 3, 'time_limit_s': 60") "," JOB("4",
                                                                                          ", 'partition': 'main', 'time_limit_s': 60"))),
        "1 RUNNING 0-3600 fast@n1=1; 2 RUNNING 0-10 main@n1=2; 3 RESERVED 10-70 main@n1=3; 4 WAITING");
}

/* A queue with more bookings than slots, as when it was made smaller, takes nothing from other queues. */
static void an_overbooked_queue_takes_nothing_from_others(void **unused)
{
    (void)unused;
    assert_string_equal(
        schedule_of("{'now': 1000, 'settings': {'reservation_depth': 9}, 'hosts': [{'name': 'n1', 'cpus': 8}], "
                    "'partitions': [{'name': 'a', 'slots': '1'}, {'name': 'b', 'slots': '2'}], 'jobs': ["
                    "{'id': 1, 'user': 'u', 'partition': 'a', 'submit': 1, 'state': 'RUNNING', 'start': 1000, 'cpus': "
                    "4, 'time_limit_s': 100, 'places': {'a@n1': 4}},"
                    "{'id': 2, 'user': 'u', 'partition': 'b', 'submit': 1, 'state': 'RUNNING', 'start': 1000, 'cpus': "
                    "2, 'time_limit_s': 50, 'places': {'b@n1': 2}},"
                    "{'id': 4, 'user': 'u', 'partition': 'b', 'submit': 2, 'cpus': 2, 'time_limit_s': 10}]}"),
        "1 RUNNING 0-100 a@n1=4; 2 RUNNING 0-50 b@n1=2; 4 RESERVED 50-60 b@n1=2");
}

/* No run looks at a job that waits for another one, whether it would fit or not; a held one is not listed. */
static void jobs_that_wait_for_others_are_listed_last(void **unused)
{
    (void)unused;
#define DROPPED "(job dropped because of job dependencies)"
    assert_string_equal(
        schedule_of(CLUSTER("", "",
                            JOB("1", ", 'cpus': 4") "," JOB("2", ", 'dependency': 'afterok:1'") "," JOB(
                                "3", ", 'dependency': 'afterok:1', 'state': 'HELD'") "," JOB("4", ", 'cpus': 4"))),
        "1 STARTING 0- @n1=4; 4 WAITING; 2 WAITING " DROPPED);
    assert_string_equal(
        schedule_of(CLUSTER("", "", JOB("1", "") "," JOB("2", ", 'dependency': 'afterok:1', 'array_tasks': 3"))),
        "1 STARTING 0- @n1=1; 2_[1-3] WAITING " DROPPED);
    assert_string_equal(
        schedule_of(CLUSTER("", "", JOB("1", "") "," JOB("2", ", 'dependency': 'afterok:1', 'nodes': 3"))),
        "1 STARTING 0- @n1=1; 2 WAITING (can never run: asks for 3 hosts; at most 2 would fit)");
}

static void running_jobs_have_room(void **unused)
{
    (void)unused;
    assert_string_equal(schedule_of(CLUSTER("", "", JOB("1", ", 'state': 'RUNNING', 'cpus': 9"))),
                        "F: job 1 is running, but there is no room for it; give its 'places'");
}

/* n1 has 4 CPUs and n2 2, so 6 slots are on both, and 4 on n1 unless two hosts are wanted. docs/formulas.md 7.2. */
static void jobs_are_on_the_number_of_hosts_that_they_ask_for(void **unused)
{
    (void)unused;
    static const struct {
        const char *document, *schedule;
    } rows[] = {
        {CLUSTER("", "", JOB("1", ", 'cpus': 4, 'nodes': 1")), "1 STARTING 0- @n1=4"},
        {CLUSTER("", "", JOB("1", ", 'cpus': 4, 'nodes': 2")), "1 STARTING 0- @n1=3,@n2=1"},
        {CLUSTER("", "", JOB("1", ", 'cpus': 4, 'nodes': [1, 2]")), "1 STARTING 0- @n1=4"},
        {CLUSTER("", "", JOB("1", ", 'cpus': 6, 'nodes': [1, 2]")), "1 STARTING 0- @n1=4,@n2=2"},
        {CLUSTER("", "", JOB("1", ", 'nodes': 2")), "1 STARTING 0- @n1=1,@n2=1"},
        {CLUSTER("", "", JOB("1", ", 'tres': 'cpu=3,node=2'")), "1 STARTING 0- @n1=2,@n2=1"},
        {CLUSTER("", "", JOB("1", ", 'cpus': 4, 'slots_per_node': 2")), "1 STARTING 0- @n1=2,@n2=2"},
        {CLUSTER("", "", JOB("1", ", 'slots_per_node': 4")), "1 STARTING 0- @n1=4"},
        {CLUSTER("", "", JOB("1", ", 'nodes': 2, 'slots_per_node': 2")), "1 STARTING 0- @n1=2,@n2=2"},
        {CLUSTER("'PriorityType': 'priority/tickets'", "", JOB("1", ", 'slots': [2, 5], 'nodes': 2")),
         "1 STARTING 0- @n1=4,@n2=1"},
        {CLUSTER("", "", JOB("1", ", 'nodes': 2, 'cpus': 3, 'master_queues': ['*@n2']")), "1 STARTING 0- @n2=2,@n1=1"},
        {CLUSTER("", "", JOB("1", ", 'cpus': 3, 'master_queues': ['*@n2']")),
         "1 WAITING (can never run: asks for 3 slots on one host; the largest has 2)"},
        {CLUSTER("", "", JOB("1", ", 'nodes': 2, 'mem': '1G'")),
         "1 STARTING 0- @n1=1,@n2=1"}, /* n2 does not say its memory */
        {CLUSTER("", "", JOB("1", ", 'nodes': 3")), "1 WAITING (can never run: asks for 3 hosts; at most 2 would fit)"},
        {CLUSTER("", "", JOB("1", ", 'cpus': 7, 'nodes': 2")),
         "1 WAITING (can never run: asks for 7 slots on 2 hosts; at most 6 would fit)"},
        {CLUSTER("", "", JOB("1", ", 'cpus': 7, 'nodes': [1, 4]")),
         "1 WAITING (can never run: asks for 7 slots on 1 to 4 hosts; at most 6 would fit)"},
        {CLUSTER("", "", JOB("1", ", 'nodes': 2, 'slots_per_node': 3")),
         "1 WAITING (can never run: asks for 2 hosts with 3 slots each; at most 1 would fit)"},
        {CLUSTER("", "",
                 JOB("1", ", 'state': 'RUNNING', 'cpus': 3, 'time_limit_s': 9, 'places': {'@n1': 3}") "," JOB(
                     "2", ", 'cpus': 5, 'nodes': 2, 'time_limit_s': 9")),
         "1 RUNNING 0-9 @n1=3; 2 RESERVED 9-18 @n1=4,@n2=1"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) assert_string_equal(schedule_of(rows[i].document), rows[i].schedule);
}

static void the_hosts_that_would_fit_are_counted(void **unused)
{
    (void)unused;
    enum { HOSTS = 9 };
    for (int fitting = 1; fitting < HOSTS; fitting++) {
        struct buf document = {0};
        char expected[160];
        buf_add_text(&document, "{'now': 1000, 'hosts': [");
        for (int i = 0; i < HOSTS; i++)
            buf_format(&document, "%s{'name': 'n%d', 'cpus': 4, 'mem': '%dG'}", i > 0 ? ", " : "", i,
                       i < fitting ? 64 : 8);
        buf_format(&document, "], 'jobs': [" JOB("1", ", 'nodes': %d, 'mem': '32G'") "]}", HOSTS);
        text_format(expected, sizeof expected,
                    "1 WAITING (can never run: asks for 32G of memory on each of 9 hosts; at most %d host%s would fit)",
                    fitting, fitting == 1 ? "" : "s");
        assert_string_equal(schedule_of(document.text), expected);
        buf_release(&document);
    }
}

/* n1 has two teslas and a volta, n2 two GPUs of no type. */
static void gpus_and_memory_are_booked_on_hosts_or_for_slots(void **unused)
{
    (void)unused;
#define GPUS(settings, jobs)                                                                              \
    "{'now': 1000, 'settings': {" settings "}, 'hosts': [{'name': 'n1', 'cpus': 4, 'mem': '8G', 'gres': " \
    "{'gpu:tesla': 2, 'gpu:volta': 1}}, {'name': 'n2', 'cpus': 4, 'mem': '8G', 'gres': {'gpu': 2}}, "     \
    "{'name': 'n3', 'cpus': 4}], 'jobs': [" jobs "]}"
#define TRACKED "'AccountingStorageTRES': 'gres/gpu,gres/gpu:tesla'"
    static const struct {
        const char *document, *schedule;
    } rows[] = {
        {GPUS("", JOB("1", ", 'gpus': 3") "," JOB("2", ", 'gpus': 2") "," JOB("3", "")),
         "1 STARTING 0- @n1=1; 2 STARTING 0- @n2=1; 3 STARTING 0- @n1=1"},
        {GPUS(TRACKED, JOB("1", ", 'gpus': 3") "," JOB("2", ", 'gpus': '2'")),
         "1 STARTING 0- @n1=1; 2 STARTING 0- @n2=1"},
        {GPUS("'reservations': 'none'", JOB("1", ", 'gpus': 'tesla:1'") "," JOB("2", ", 'gpus': 'tesla:2'")),
         "1 STARTING 0- @n1=1; 2 WAITING"},
        {GPUS(TRACKED ", 'reservations': 'none'",
              JOB("1", ", 'gpus': 'tesla:1,volta:1'") "," JOB("2", ", 'gpus': 'volta:1'") "," JOB(
                  "3", ", 'gpus': 'tesla:1'") "," JOB("4", ", 'gpus': 1")),
         "1 STARTING 0- @n1=1; 3 STARTING 0- @n1=1; 4 STARTING 0- @n2=1; 2 WAITING"},
        {GPUS("", JOB("1", ", 'gpus': 2, 'nodes': 2")), "1 STARTING 0- @n1=1,@n2=1"},
        {GPUS("", JOB("1", ", 'gpus': 3, 'nodes': 2")),
         "1 WAITING (can never run: asks for 3 GPUs on each of 2 hosts; at most 1 host would fit)"},
        {GPUS("", JOB("1", ", 'gpus_per_slot': 1, 'cpus': 5, 'nodes': 2")), "1 STARTING 0- @n1=3,@n2=2"},
        {GPUS("", JOB("1", ", 'gpus_per_slot': 'tesla:1', 'cpus': 3")),
         "1 WAITING (can never run: asks for gres/gpu:tesla=1 for each of 3 slots, 3 on one host; the largest host has 2)"},
        {GPUS("", JOB("1", ", 'mem_per_cpu': '3G', 'cpus': 3, 'nodes': 2")), "1 STARTING 0- @n1=2,@n2=1"},
        {GPUS("",
              JOB("1", ", 'mem': '5G', 'cpus': 3, 'nodes': 2") "," JOB("2", ", 'mem': '3G', 'cpus': 2, 'nodes': 2")),
         "1 STARTING 0- @n1=2,@n2=1; 2 STARTING 0- @n1=1,@n2=1"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) assert_string_equal(schedule_of(rows[i].document), rows[i].schedule);
#undef GPUS
#undef TRACKED
}

static void constraints_select_hosts(void **unused)
{
    (void)unused;
    static const struct {
        const char *constraint, *schedule;
    } rows[] = {
        {"a", "1 STARTING 0- @n1=1"},
        {"b", "1 STARTING 0- @n2=1"},
        {"b|a", "1 STARTING 0- @n1=1"},
        {"b&c", "1 STARTING 0- @n2=1"},
        {" c & b ", "1 STARTING 0- @n2=1"},
        {"a|b&c", "1 STARTING 0- @n2=1"},
        {"c&b|a", "1 STARTING 0- @n1=1"},
        {"d|c", "1 STARTING 0- @n2=1"},
        {"", "1 STARTING 0- @n1=1"},
        {"a&c", "1 WAITING (can never run: no host of the cluster has the features 'a&c'; add a host with them)"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct buf document = {0};
        buf_format(&document,
                   "{'now': 1000, 'hosts': [{'name': 'n1', 'features': ['a']}, {'name': 'n2', 'features': 'b,c'}, "
                   "{'name': 'n3', 'cpus': 2, 'state': 'DOWN', 'features': ['d']}], 'jobs': [" JOB(
                       "1", ", 'constraint': '%s'") "]}",
                   rows[i].constraint);
        assert_string_equal(schedule_of(document.text), rows[i].schedule);
        buf_release(&document);
    }
}

static void tasks_of_arrays_are_rows(void **unused)
{
    (void)unused;
    assert_string_equal(
        schedule_of(CLUSTER("'reservation_depth': 1", "'partitions': [{'name': 'q', 'hosts': ['n2']}],",
                            JOB("1", ", 'array_tasks': 5, 'time_limit_s': 10"))),
        "1_1 STARTING 0-10 q@n2=1; 1_2 STARTING 0-10 q@n2=1; 1_3 RESERVED 10-20 q@n2=1; 1_[4-5] WAITING");
    assert_string_equal(schedule_of(CLUSTER("'reservations': 'none'", "",
                                            JOB("1", ", 'array_tasks': 3, 'array_limit': 1, 'time_limit_s': 10"))),
                        "1_1 STARTING 0-10 @n1=1; 1_[2-3] WAITING");
}

static void jobs_without_a_place_say_so(void **unused)
{
    (void)unused;
    assert_string_equal(schedule_of("{'now': 1000, 'jobs': [" JOB("1", "") "]}"),
                        "1 WAITING (can never run: the cluster has no hosts)");
    assert_string_equal(
        schedule_of(CLUSTER("", "'resources': [{'name': 'gpu', 'type': 'INT'}],", JOB("1", ", 'request': {'gpu': 1}"))),
        "1 WAITING (can never run: asks for gpu=1; no host has any; add a host with gpu=1)");
}

static void amounts_that_can_never_be_had(void **unused)
{
    (void)unused;
#define SMALL(terms)                                                                                             \
    "{'now': 1000, 'hosts': [{'name': 'n1', 'cpus': 4, 'mem': '8G', 'complex_values': 'arch=a'}, "               \
    "{'name': 'n2', 'cpus': 2, 'mem': '4G', 'complex_values': 'arch=b'}], 'parallel_environments': "             \
    "[{'name': 'two', 'allocation_rule': 2}], 'partitions': [{'name': 'q', 'pe_list': ['two']}], 'jobs': [" JOB( \
        "1", terms) "]}"
    static const struct {
        const char *document, *schedule;
    } rows[] = {
        {SMALL(", 'mem': '9G'"), "asks for 9G of memory; the largest host has 8G"},
        {SMALL(", 'cpus': 4, 'mem_per_cpu': '3G'"),
         "asks for 3G of memory for each of 4 slots, 12G on one host; the largest host has 8G"},
        {SMALL(", 'cpus': 9"), "asks for 9 slots on one host; the largest has 4"},
        {SMALL(", 'cpus': 5, 'pe': 'two'"),
         "asks for 5 slots; the parallel environment 'two' gives 2 on each host: ask for 4"},
        {SMALL(", 'cpus': 3, 'pe': 'two'"),
         "asks for 3 slots; the parallel environment 'two' gives 2 on each host: ask for 2 or 4"},
        {SMALL(", 'nodes': 2, 'mem': '5G'"), "asks for 5G of memory on each of 2 hosts; at most 1 host would fit"},
        {SMALL(", 'gpus': 1"), "asks for 1 GPU; no host has any; add a host with 1 GPU"},
        {SMALL(", 'request': {'arch': 'c'}"), "asks for arch=c; its hosts have a, b; add a host with arch=c"},
        {SMALL(", 'request': {'arch': 'b'}, 'mem': '6G'"), "no host has arch=b and 6G of memory together"},
        {SMALL(", 'request': {'arch': 'b'}, 'cpus': 3"),
         "asks for arch=b for each of 3 slots; at most 2 slots would fit"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char expected[200];
        text_format(expected, sizeof expected, "1 WAITING (can never run: %s)", rows[i].schedule);
        assert_string_equal(schedule_of(rows[i].document), expected);
    }
#undef SMALL
}

/* 0 and empty lists ask for nothing. */
static void empty_amounts_and_lists(void **unused)
{
    (void)unused;
    static const char *const terms[] = {", 'gpus': 0", ", 'gpus_per_slot': 0", ", 'cpus': 0", ", 'queues': ''",
                                        ", 'request': {}"};
    for (size_t i = 0; i < COUNT_OF(terms); i++) {
        struct buf document = {0};
        buf_format(&document, CLUSTER("", "", JOB("1", "%s")), terms[i]);
        assert_string_equal(schedule_of(document.text), "1 STARTING 0- @n1=1");
        buf_release(&document);
    }
}

static void clusters_that_do_not_fit_together(void **unused)
{
    (void)unused;
#define HOSTS(fields) "{'now': 1000, 'hosts': [{'name': 'n1', " fields "}]}"
#define QUEUE(fields) "{'now': 1000, 'hosts': [{'name': 'n1'}], 'partitions': [{'name': 'q', " fields "}]}"
    static const struct {
        const char *document, *error;
    } rows[] = {
        {HOSTS("'complex_values': 'gpu=4'"),
         "F: host 'n1': complex_values: 'gpu' is not a resource; GPUs are 'gres/gpu'"},
        {HOSTS("'complex_values': 'arch'"),
         "F: host 'n1': complex_values: 'arch' is not a resource with a value, such as scratch=100G"},
        {HOSTS("'load_scaling': 'load_avg=x'"),
         "F: host 'n1': load_scaling: 'load_avg' is not a load value and its factor, such as load_avg=0.5"},
        {HOSTS("'load_scaling': 'load_agv=2'"),
         "F: host 'n1': load_scaling: 'load_agv' is not a load value, which is a number; did you mean 'load_avg'?"},
        {HOSTS("'load_scaling': 'arch=2'"),
         "F: host 'n1': load_scaling: 'arch' is not a load value, which is a number"},
        {HOSTS("'complex_values': 'mem_fre=2'"),
         "F: host 'n1': complex_values: 'mem_fre' is not a resource; did you mean 'mem_free'?"},
        {QUEUE("'load_thresholds': 'np_load_agv=2'"),
         "F: partition 'q': load_thresholds: 'np_load_agv' is not a load value or a resource; did you mean "
         "'np_load_avg'?"},
        {QUEUE("'slots': 'four'"), "F: partition 'q': slots: 'four' is not a whole number from 0 to 4294967294"},
        {QUEUE("'slots': '4,[n9=2]'"), "F: partition 'q': slots: 'n9' is not a host"},
        {QUEUE("'slots': '4,[@big=2]'"), "F: partition 'q': slots: '@big' is not a group of hosts"},
        {QUEUE("'state': 'AWAY'"), "F: partition 'q': state: 'AWAY' is not one of UP, DOWN, DRAIN, INACTIVE"},
        {QUEUE("'pe_list': ['mpi']"), "F: partition 'q': pe_list: 'mpi' is not a parallel environment"},
        {QUEUE("'load_thresholds': 'np_load_avg'"),
         "F: partition 'q': load_thresholds: 'np_load_avg' is not a load value and its limit, such as np_load_avg=1.75"},
        {"{'now': 1000, 'settings': {'load_formula': 'arch'}}",
         "F: load_formula: 'arch' is not a load value or a consumable, which are numbers"},
        {"{'now': 1000, 'settings': {'load_formula': 'slots-load_shrot'}}",
         "F: load_formula: 'load_shrot' is not a load value or a consumable, which are numbers; did you mean "
         "'load_short'?"},
        {"{'now': 1000, 'settings': {'job_load_adjustments': 'nosuch=1'}}",
         "F: job_load_adjustments: 'nosuch' is not a load value or a consumable, which are numbers"},
    };
#undef HOSTS
#undef QUEUE
    for (size_t i = 0; i < COUNT_OF(rows); i++) assert_string_equal(schedule_of(rows[i].document), rows[i].error);
}

/* NONE is the list without hosts; without a list a queue has all hosts. */
static void none_is_no_host(void **unused)
{
    (void)unused;
    static const char *const nowhere = "1 WAITING (can never run: partition 'q' has no hosts)";
#define HOSTS(list) CLUSTER("", "'partitions': [{'name': 'q'" list "}],", JOB("1", ", 'time_limit_s': 9"))
    assert_string_equal(schedule_of(HOSTS(", 'hosts': 'NONE'")), nowhere);
    assert_string_equal(schedule_of(HOSTS(", 'hosts': []")), nowhere);
    assert_string_equal(schedule_of(HOSTS("")), "1 STARTING 0-9 q@n1=1");
#undef HOSTS
}

/* Of two hosts, the one whose texts satisfy the request; CSTRING and HOST ignore case. */
static void expressions_select_hosts(void **unused)
{
    (void)unused;
    static const struct {
        const char *job, *schedule;
    } rows[] = {
        {"'request': {'arch': 'lx*&!lx24*'}", "1 STARTING 0-9 q@Node2=1"},
        {"'request': {'arch': 'lx24-[a-f]*|sol*'}", "1 STARTING 0-9 q@Node1=1"},
        {"'request': {'arch': 'LX26*'}",
         "1 WAITING (can never run: asks for arch=LX26*; its hosts have lx24-amd64, lx26-amd64; add a host with "
         "arch=LX26*)"},
        {"'request': {'model': 'big|HUGE'}", "1 STARTING 0-9 q@Node2=1"},
        {"'request': {'notin': 'r1*'}", "1 STARTING 0-9 q@Node2=1"},
        {"'request': {'hostname': '!node1'}", "1 STARTING 0-9 q@Node2=1"},
        {"'request': {'qname': 'Q'}", "1 WAITING (can never run: asks for qname=Q; its hosts have q)"},
        {"'soft': {'arch': '!*24*'}", "1 STARTING 0-9 q@Node2=1"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct buf document = {0};
        buf_format(&document,
                   "{'now': 1000, 'resources': [{'name': 'model', 'type': 'CSTRING', 'relop': '=='}, {'name': 'notin', "
                   "'type': 'RESTRING', 'relop': '!='}], 'hosts': [{'name': 'Node1', 'complex_values': "
                   "'arch=lx24-amd64,model=small,notin=r12'}, {'name': 'Node2', 'complex_values': "
                   "'arch=lx26-amd64,model=Huge,notin=r2'}], 'partitions': [{'name': 'q'}], 'jobs': [" JOB(
                       "1", ", 'time_limit_s': 9, %s") "]}",
                   rows[i].job);
        assert_string_equal(schedule_of(document.text), rows[i].schedule);
        buf_release(&document);
    }
}

/* Whatever the relop, unless it is != or EXCL. */
static void yes_is_not_no(void **unused)
{
    (void)unused;
    static const char *const document =
        "{'now': 1000, 'resources': [{'name': 'l4', 'type': 'BOOL', 'consumable': 'NO'}], 'hosts': [{'name': 'n', "
        "'complex_values': 'l4=true'}], 'partitions': [{'name': 'q'}], 'jobs': [" JOB(
            "1", ", 'time_limit_s': 9, 'request': {'l4': '%s'}") "]}";
    struct buf yes = {0}, no = {0};
    buf_format(&yes, document, "true");
    buf_format(&no, document, "false");
    assert_string_equal(schedule_of(yes.text), "1 STARTING 0-9 q@n=1");
    assert_memory_equal(schedule_of(no.text), "1 WAITING", 9);
    buf_release(&yes);
    buf_release(&no);
}

/* A resource that is memory has letters wherever an amount of it is written; mem counts in MiB. */
static void amounts_of_memory_have_letters(void **unused)
{
    (void)unused;
    static const struct {
        const char *host, *job, *schedule;
    } rows[] = {
        {"'complex_values': 'mem=2G'", "'mem': 2048", "1 STARTING 0-9 q@n=1"},
        {"'complex_values': 'mem=2g'", "'mem': 2048",
         "1 WAITING (can never run: asks for 2G of memory; the largest host has 1907.3M)"},
        {"'complex_values': 'mem=2048'", "'mem': 2048", "1 STARTING 0-9 q@n=1"},
        {"'complex_values': 'scratch=1t'", "'request': {'scratch': '1000g'}", "1 STARTING 0-9 q@n=1"},
        {"'load_values': {'mem_free': '1T'}", "'request': {'mem_free': '1024G'}", "1 STARTING 0-9 q@n=1"},
        {"'load_values': {'mem_free': '1T'}", "'request': {'mem_free': '1.1T'}", "1 WAITING"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct buf document = {0};
        buf_format(&document,
                   "{'now': 1000, 'resources': [{'name': 'scratch', 'type': 'MEMORY'}], 'hosts': [{'name': 'n', %s}], "
                   "'partitions': [{'name': 'q'}], 'jobs': [" JOB("1", ", 'time_limit_s': 9, %s") "]}",
                   rows[i].host, rows[i].job);
        assert_string_equal(schedule_of(document.text), rows[i].schedule);
        buf_release(&document);
    }
}

static void documents_are_refused(void **unused)
{
    (void)unused;
#define ONE(fields) \
    "{'now': 1000, 'hosts': [{'name': 'n1'}], 'partitions': [{'name': 'q'}], 'jobs': [" JOB("1", fields) "]}"
    static const struct {
        const char *document, *error;
    } rows[] = {
        {"{'now': 1000, 'hosts': [{'name': 'a b'}]}", "F: hosts[0].name: 'a b' has a blank, or one of , [ ] = @"},
        {ONE(", 'state': 'RUNNING', 'places': {}"),
         "F: jobs[0].places: no places are given; give queues on hosts and slots, such as {\"all.q@n1\": 2}"},
        {"{'now': 1000, 'hosts': [{'name': 'a'}, {'name': 'a'}]}", "F: hosts[1].name: 'a' occurs twice"},
        {"{'now': 1000, 'hosts': [{'name': 'a', 'load_values': {'nosuch': 1}}]}",
         "F: hosts[0].load_values.nosuch: not a resource of this document"},
        {"{'now': 1000, 'groups': [{'name': 'a', 'hosts': ['@b']}, {'name': 'b', 'hosts': ['@a']}]}",
         "F: group 'a' contains itself, through its hosts"},
        {"{'now': 1000, 'partitions': [{'name': 'q', 'closed': [[5, 5]]}]}",
         "F: partitions[0].closed[0]: the first time is not before the second one"},
        {"{'now': 1000, 'partitions': [{'name': 'q', 'closed': [[5, 9], [8, 12]]}]}",
         "F: partitions[0].closed[1]: begins before the one before it ends; closed times are in ascending order"},
        {"{'now': 1000, 'partitions': [{'name': 'q', 'closed': [[5, null], [8, 12]]}]}",
         "F: partitions[0].closed[1]: begins before the one before it ends; closed times are in ascending order"},
        {"{'now': 1000, 'partitions': [{'name': 'q', 'closed': [[5]]}]}",
         "F: partitions[0].closed[0]: its length is 1; a closed time is [FROM, UNTIL], and UNTIL may be null"},
        {"{'now': 1000, 'partitions': [{'name': 'q', 'calendar': 'night'}]}",
         "F: partitions[0]: 'calendar' is not a field; the fields are: name, hosts, closed, pe_list, user_lists, xuser_lists, PriorityJobFactor, PriorityTier, MaxTime, TRESBillingWeights, fshare, oticket, slots, seq_no, load_thresholds, complex_values, state, QOS, DefaultTime, MinNodes, MaxNodes, MaxCPUsPerNode, MaxMemPerNode, DefMemPerCPU, AllowAccounts, DenyAccounts, AllowQos, DenyQos"},
        {ONE(", 'pe': 'mpi'"),
         "F: jobs[0].pe: 'mpi' is not a parallel environment of this document, or a pattern for one"},
        {ONE(", 'queues': ['q@n1', 'r']"), "F: jobs[0].queues: 'r' matches no partition of this document"},
        {ONE(", 'soft': {'arch': 'lx|'}"),
         "F: jobs[0].soft.arch: 'lx|' is no expression: column 4: a pattern is missing"},
        {ONE(", 'queues': []"), "F: jobs[0].queues: the list is empty; at least one queue is accepted"},
        {ONE(", 'queues': 'q,,q@n1'"),
         "F: jobs[0].queues: 'q,,q@n1' has an empty item; one comma stands between two names"},
        {"{'now': 1000, 'partitions': [{'name': 'q', 'user_lists': 'a,'}]}",
         "F: partitions[0].user_lists: 'a,' has an empty item; one comma stands between two names"},
        {"{'now': 1000, 'partitions': [{'name': 'q', 'xuser_lists': ['a', '@nix']}], 'departments': [{'name': 'd'}]}",
         "F: partitions[0].xuser_lists: '@nix' is no department; there are: @defaultdepartment, @d"},
        {"{'now': 1000, 'groups': [{'name': 'g', 'hosts': 'NONE,a'}]}",
         "F: groups[0].hosts: 'NONE,a' has names beside NONE, the empty list"},
        {ONE(", 'request': {'mem_free': '1P'}"),
         "F: jobs[0].request.mem_free: '1P' is not bytes from 0 to 1e15, or with k, m, g, t (1000s), K, M, G or T "
         "(1024s)"},
        {ONE(", 'nodes': 4, 'cpus': 3"), "F: jobs[0].nodes: 4 slots are the minimum, and the job asks for 3"},
        {ONE(", 'nodes': [4, 3]"), "F: jobs[0].nodes: the maximum, 3, is below the minimum, 4"},
        {ONE(", 'nodes': []"),
         "F: jobs[0].nodes: a list is not a number of nodes, or the minimum and the maximum, such as [2, 8]"},
        {ONE(", 'slots_per_node': 2, 'cpus': 3"), "F: jobs[0].slots_per_node: 2 is not a divisor of the job's 3 slots"},
        {ONE(", 'gpus': 'tesla:2'"), "F: jobs[0].gpus: 'tesla' is not a type of GPUs of this document"},
        {ONE(", 'gpus': 'tesla'"),
         "F: jobs[0].gpus: 'tesla' is not a number of GPUs, or numbers of types, such as \"tesla:2,volta:1\""},
        {ONE(", 'gpus': 1, 'gpus_per_slot': 1"),
         "F: jobs[0].gpus_per_slot: 'gpus' and 'gpus_per_slot' are given; give only one of them"},
        {ONE(", 'mem': 1, 'mem_per_cpu': 1"), "F: jobs[0].mem_per_cpu: 'mem' is given, too; give only one of them"},
        {ONE(", 'constraint': 'avx'"), "F: jobs[0].constraint: 'avx' is a feature of no host of this document"},
        {ONE(", 'constraint': 'avx&'"),
         "F: jobs[0].constraint: 'avx&' is not features joined by & and |, such as avx&ssd"},
        {"{'now': 1000, 'hosts': [{'name': 'a', 'features': ['x|y']}]}",
         "F: hosts[0].features: 'x|y' is not a feature: a name without any of & | ( ) [ ] * = @"},
        {ONE(", 'places': {'q@n1': 1}"),
         "F: jobs[0].places: is only accepted for a job that runs (RUNNING or SUSPENDED); this one is PENDING"},
        {"{'now': 1000, 'hosts': [{'name': 'n1'}, {'name': 'n2'}], 'partitions': [{'name': 'q', 'hosts': 'n2'}], "
         "'jobs': [" JOB("1", ", 'state': 'RUNNING', 'places': {'q@n1': 1}") "]}",
         "F: jobs[0].places: partition 'q' is not on host 'n1'"},
        {ONE(", 'state': 'RUNNING', 'start': 0"), "F: jobs[0].start: is before 'submit'"},
        {ONE(", 'state': 'RUNNING'}, {'id': 1, 'user': 'u', 'submit': 1, 'state': 'RUNNING'"),
         "F: jobs[1].id: 1 occurs twice"},
        {ONE(", 'state': 'RUNNING', 'places': {'q': 1}"),
         "F: jobs[0].places.q: 'q' has no host of this document behind the '@'"},
        {ONE(", 'state': 'RUNNING', 'places': {'r@n1': 1}"),
         "F: jobs[0].places.r@n1: 'r@n1' is not a partition with its host, such as all.q@n1"},
    };
#undef ONE
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct scenario s;
        struct err e = {0};
        assert_int_equal(read_document(rows[i].document, &s, &e), -1);
        assert_string_equal(ERR_SENTENCE(&e), rows[i].error);
        scenario_release(&s);
    }
}

#define INSTANCE(rest)                                                                                                \
    "{'now': 1000, 'instance': true, 'hosts': [{'name': 'localhost', 'cpus': 4, 'mem': '1G'}, {'name': 'n2'}], " rest \
    "}"
#define INSTANCE_JOB(rest) INSTANCE("'jobs': [{'id': 1, 'user': 'u', 'submit': 1" rest "}]")

/* The partition main, default CPUs, memory and time limits, ranges of CPUs in every model, arrays of tasks; hosts that
 * are only described, and resources that nothing offers. */
static void documents_of_instances_have_their_rules(void **unused)
{
    (void)unused;
    static const struct {
        const char *document, *schedule;
    } rows[] = {
        {INSTANCE_JOB(""), "1 STARTING 0-86400 main@localhost=1"},
        {INSTANCE_JOB(", 'slots': [2, 9], 'time_limit_s': 60"), "1 STARTING 0-60 main@localhost=4"},
        {INSTANCE_JOB(", 'state': 'RUNNING', 'start': 990, 'time_limit_s': 60"), "1 RUNNING -10-50 main@localhost=1"},
        {INSTANCE_JOB(", 'tasks': '3,5', 'array_limit': 2, 'time_limit_s': 60, 'running': [{'task': 1, 'start': 999, "
                      "'places': {'main@localhost': 2}}]"),
         "1_1 RUNNING -1-59 main@localhost=2; 1_3 STARTING 0-60 main@localhost=1; 1_[5] WAITING"},
        {INSTANCE_JOB(", 'cpus': 2, 'gpus': 1"), "1 WAITING (can never run: asks for 1 GPU; no host has any)"},
        {INSTANCE_JOB(", 'nodes': [2, 3], 'mem_per_cpu': '1G'"),
         "1 WAITING (can never run: asks for 2 hosts; at most 1 would fit)"},
        {INSTANCE_JOB(
             ", 'nodes': 1, 'slots_per_node': 3, 'time_limit_s': 60, 'queues': '*@local*', 'master_queues': ''"),
         "1 STARTING 0-60 main@localhost=3"},
        {INSTANCE_JOB(", 'time_limit_s': 60, 'queues': 'gone'"),
         "1 WAITING (can never run: none of the queues 'gone' is in partition 'main')"},
        {INSTANCE_JOB(", 'time_limit_s': 60, 'constraint': 'gone'"),
         "1 WAITING (can never run: no host of partition 'main' has the features 'gone'; host 'localhost' can be given them)"},
        {INSTANCE_JOB(", 'state': 'RUNNING', 'cpus': 2, 'mem_per_cpu': 300, 'time_limit_s': 60}, "
                      "{'id': 2, 'user': 'u', 'submit': 1, 'time_limit_s': 60, 'mem': 425"),
         "1 RUNNING 0-60 main@localhost=2; 2 RESERVED 60-120 main@localhost=1"},
        {INSTANCE("'resources': [{'name': 'x'}], 'jobs': [{'id': 1, 'user': 'u', 'submit': 1, 'time_limit_s': 9, "
                  "'request': {'x': 5}}]"),
         "1 STARTING 0-9 main@localhost=1"},
        {INSTANCE("'partitions': [{'name': 'p', 'hosts': 'n2'}], 'jobs': [{'id': 1, 'user': 'u', 'submit': 1}]"),
         "1 WAITING (can never run: partition 'p' has no host that runs jobs; 'n2' is only described)"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) assert_string_equal(schedule_of(rows[i].document), rows[i].schedule);
}

static void documents_of_instances_are_refused(void **unused)
{
    (void)unused;
    static const struct {
        const char *document, *error;
    } rows[] = {
        {INSTANCE_JOB(", 'gpus': 'tesla:2'"), "F: jobs[0].gpus: the GPUs of an instance have no types"},
        {INSTANCE_JOB(", 'cpus': 0"), "F: jobs[0].cpus: 0 is not a whole number from 1 to 65536"},
        {INSTANCE_JOB(", 'gpus': 2000"), "F: jobs[0].gpus: a task of an instance has at most 1024 GPUs"},
        {INSTANCE_JOB(", 'gpus_per_slot': 1000, 'cpus': 2"),
         "F: jobs[0].gpus_per_slot: a task of an instance has at most 1024 GPUs"},
        {INSTANCE_JOB(", 'gpus': 1, 'gpus_per_slot': 1"),
         "F: jobs[0].gpus_per_slot: 'gpus' and 'gpus_per_slot' are given; give only one of them"},
        {INSTANCE_JOB(", 'mem_per_cpu': '1000000T', 'cpus': 4"),
         "F: jobs[0].mem_per_cpu: a task of an instance has at most 1099511627776 MiB"},
        {INSTANCE_JOB(", 'mem': 1, 'mem_per_cpu': 1"),
         "F: jobs[0].mem_per_cpu: 'mem' is given, too; give only one of them"},
        {INSTANCE_JOB(", 'nodes': 3, 'cpus': 2"), "F: jobs[0].nodes: 3 slots are the minimum, and the job asks for 2"},
        {INSTANCE_JOB(", 'slots_per_node': 2, 'slots': 3"),
         "F: jobs[0].slots_per_node: 2 is not a divisor of the job's 3 slots"},
        {INSTANCE_JOB(", 'tres': 'cpu=1'"), "F: jobs[0].tres: is not accepted in the document of an instance"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct scenario s;
        struct err e = {0};
        assert_int_equal(read_document(rows[i].document, &s, &e), -1);
        assert_string_equal(ERR_SENTENCE(&e), rows[i].error);
        scenario_release(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(documents_of_instances_have_their_rules),
        cmocka_unit_test(documents_of_instances_are_refused),
        cmocka_unit_test(first_jobs_get_reservations),
        cmocka_unit_test(none_is_no_host),
        cmocka_unit_test(amounts_of_memory_have_letters),
        cmocka_unit_test(yes_is_not_no),
        cmocka_unit_test(expressions_select_hosts),
        cmocka_unit_test(a_closed_queue_is_reserved_when_it_opens),
        cmocka_unit_test(without_gaps_only_the_next_closed_time_counts),
        cmocka_unit_test(an_exclusive_job_keeps_the_others_away),
        cmocka_unit_test(a_job_of_two_partitions_has_the_earlier_place),
        cmocka_unit_test(wide_jobs_begin_at_multiples_of_the_resolution),
        cmocka_unit_test(jobs_that_start_after_all_are_not_tried_again),
        cmocka_unit_test(tasks_without_a_reservation_start_elsewhere_too),
        cmocka_unit_test(memory_is_booked_on_each_host),
        cmocka_unit_test(queues_share_the_host),
        cmocka_unit_test(hosts_come_by_their_unmet_share),
        cmocka_unit_test(states_and_users),
        cmocka_unit_test(a_reason_names_partitions_of_the_job),
        cmocka_unit_test(pools_of_quotas_keep_names_apart),
        cmocka_unit_test(jobs_are_on_the_number_of_hosts_that_they_ask_for),
        cmocka_unit_test(the_hosts_that_would_fit_are_counted),
        cmocka_unit_test(gpus_and_memory_are_booked_on_hosts_or_for_slots),
        cmocka_unit_test(constraints_select_hosts),
        cmocka_unit_test(tasks_of_arrays_are_rows),
        cmocka_unit_test(jobs_without_a_place_say_so),
        cmocka_unit_test(an_overbooked_queue_takes_nothing_from_others),
        cmocka_unit_test(jobs_that_wait_for_others_are_listed_last),
        cmocka_unit_test(running_jobs_have_room),
        cmocka_unit_test(amounts_that_can_never_be_had),
        cmocka_unit_test(empty_amounts_and_lists),
        cmocka_unit_test(clusters_that_do_not_fit_together),
        cmocka_unit_test(documents_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, release_answers);
}
