#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "rows.h"
#include "sim/answer.h"

#define COUNT_OF(rows) (sizeof(rows) / sizeof *(rows))

static struct arena arena;

static bool is_near(double a, double b)
{
    return fabs(a - b) <= 1e-12 * fmax(1.0, fabs(b));
}

static void read_text(struct str text, struct scenario *out_scenario)
{
    struct err e = {0};
    int status = scenario_read(text, "F", out_scenario, &e);
    if (status != 0) print_message("%s\n", ERR_SENTENCE(&e));
    assert_int_equal(status, 0);
}

/* Documents stand here with ' for ". */
static void read_quoted(const char *document, struct scenario *out_scenario)
{
    struct buf text = {0};
    buf_add_text(&text, document);
    for (size_t i = 0; i < text.length; i++) {
        if (text.text[i] == '\'') text.text[i] = '"';
    }
    read_text((struct str){text.text, text.length}, out_scenario);
    buf_release(&text);
}

static void read_example(const char *path, struct scenario *out_scenario)
{
    char *text = rows_read(path);
    assert_non_null(text);
    read_text(str(text), out_scenario);
    free(text);
}

/* --- the examples --------------------------------------------------------------------------------------------------- */

static void the_example_of_multifactor(void **unused)
{
    struct scenario s;
    struct multifactor_answer answer;
    (void)unused;
    read_example("examples/multifactor.json", &s);
    answer_multifactor(&s, &arena, &answer);
    assert_int_equal(answer.rows.count, 1);
    const struct multifactor_row *row = &answer.rows.items[0];
    assert_int_equal(row->terms.priority, 11537);
    assert_true(is_near(row->terms.sum, 11537.5));
    assert_true(is_near(row->terms.job_size, 312.5));
    assert_true(is_near(row->terms.partition, 200));
    assert_true(is_near(row->factors.fair_share, 1));
    assert_int_equal(row->tres_count, 3);
    assert_true(is_near(row->tres[2].weighted, 750));
    assert_true(is_near(row->tres[2].factor, 0.25));
    assert_true(is_near(row->billing, 4));
    array_release(&answer.rows);
    scenario_release(&s);
}

static void the_example_of_tickets(void **unused)
{
    static const uint32_t recorded[] = {83333333, 41666666, 27777777, 250000000, 83333333, 0};
    struct scenario s;
    struct ticket_row *rows;
    struct err e;
    (void)unused;
    read_example("examples/functional-tickets.json", &s);
    assert_int_equal(answer_tickets(&s, &arena, &rows, &e), 0);
    assert_int_equal(s.jobs.count, COUNT_OF(recorded));
    for (uint32_t i = 0; i < s.jobs.count; i++) {
        assert_int_equal((uint32_t)rows[i].tickets.total, recorded[i]);
        assert_int_equal((uint32_t)rows[i].tickets.functional, recorded[i]);
    }
    scenario_release(&s);
}

/* --- multifactor ---------------------------------------------------------------------------------------------------- */

static void jobs_without_terms_and_jobs_without_rows(void **unused)
{
#define DOCUMENT(flags)                                                                                                 \
    "{'now': 1000, 'settings': {'PriorityWeightAge': 1000, 'PriorityMaxAge': '0-00:10', 'PriorityFlags': '" flags       \
    "'}, 'jobs': [{'id': 1, 'user': 'u', 'submit': 400, 'state': 'HELD', 'site': 5}, {'id': 2, 'user': 'u', 'submit': " \
    "400, 'set_priority': 4242, 'nice': 7}, {'id': 3, 'user': 'u', 'submit': 700, 'state': 'RUNNING'}, {'id': 4, "      \
    "'user': 'u', 'submit': 700, 'site': 10, 'nice': -20}]}"
    struct scenario s;
    struct multifactor_answer answer;
    (void)unused;
    read_quoted(DOCUMENT(""), &s);
    answer_multifactor(&s, &arena, &answer);
    const struct {
        uint32_t job, priority;
        double age;
    } rows[] = {{0, 0, 0}, {1, 4242, 0}, {3, 530, 500}};
    assert_int_equal(answer.rows.count, COUNT_OF(rows));
    for (uint32_t i = 0; i < COUNT_OF(rows); i++) {
        assert_int_equal(answer.rows.items[i].job, rows[i].job);
        assert_int_equal(answer.rows.items[i].terms.priority, rows[i].priority);
        assert_true(is_near(answer.rows.items[i].terms.age, rows[i].age));
    }
    array_release(&answer.rows);
    scenario_release(&s);

    read_quoted(DOCUMENT("CALCULATE_RUNNING"), &s);
    answer_multifactor(&s, &arena, &answer);
    assert_int_equal(answer.rows.count, 4);
    assert_int_equal(answer.rows.items[2].terms.priority, 500);
    array_release(&answer.rows);
    scenario_release(&s);
#undef DOCUMENT
}

static void age_counts_from_when_a_job_became_eligible(void **unused)
{
    const struct {
        const char *flags;
        uint32_t first, second, third;
    } rows[] = {{"", 300, 400, 1}, {"ACCRUE_ALWAYS", 300, 400, 900}};
    (void)unused;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct scenario s;
        struct multifactor_answer answer;
        struct buf text = {0};
        buf_format(&text,
                   "{'now': 1000, 'settings': {'PriorityWeightAge': 3000, 'PriorityMaxAge': '0:50:0', 'PriorityFlags': "
                   "'%s'}, 'jobs': [{'id': 1, 'user': 'u', 'submit': 700}, {'id': 2, 'user': 'u', 'submit': 100, "
                   "'eligible': 600}, {'id': 3, 'user': 'u', 'submit': 100, 'eligible': 1100}]}",
                   rows[i].flags);
        read_quoted(text.text, &s);
        answer_multifactor(&s, &arena, &answer);
        assert_int_equal(answer.rows.items[0].terms.priority, rows[i].first);
        assert_int_equal(answer.rows.items[1].terms.priority, rows[i].second);
        assert_int_equal(answer.rows.items[2].terms.priority, rows[i].third);
        array_release(&answer.rows);
        scenario_release(&s);
        buf_release(&text);
    }
}

/* Partition, TRES and billing terms are of each partition; associations of the account and the partition. */
static void a_row_for_each_partition(void **unused)
{
    struct scenario s;
    struct multifactor_answer answer;
    (void)unused;
    read_quoted(
        "{'now': 1, 'settings': {'PriorityWeightPartition': 1000, 'PriorityWeightAssoc': 100, 'PriorityWeightQOS': "
        "10, 'PriorityWeightTRES': 'cpu=2000', 'PriorityFlags': 'MAX_TRES'},"
        " 'hosts': [{'name': 'n1', 'cpus': 16}, {'name': 'n2', 'cpus': 4}],"
        " 'partitions': [{'name': 'p', 'PriorityJobFactor': 10, 'TRESBillingWeights': 'CPU=1,Mem=1G'},"
        " {'name': 'q', 'PriorityJobFactor': 40, 'hosts': ['n2']}],"
        " 'qos': [{'name': 'low', 'priority': 1}, {'name': 'high', 'priority': 4}],"
        " 'tree': [{'account': 'a', 'priority': 50}, {'account': 'a', 'user': 'u'},"
        "          {'account': 'a', 'user': 'u', 'partition': 'q', 'priority': 200}],"
        " 'jobs': [{'id': 1, 'user': 'u', 'submit': 1, 'partition': ['q', 'p'], 'cpus': 2, 'mem': '8G', 'qos': 'low'},"
        " {'id': 2, 'user': 'u', 'submit': 1}, {'id': 3, 'user': 'x', 'submit': 1, 'account': 'a', 'qos': 'high'}]}",
        &s);
    answer_multifactor(&s, &arena, &answer);
    const struct {
        uint32_t job, partition;
        double partition_term, assoc, qos, tres, billing;
    } rows[] = {
        {0, 1, 1000, 100, 2.5, 1000, 2},
        {0, 0, 250, 25, 2.5, 200, 8},
        {1, 0, 250, 25, 0, 100, 1},
        {2, 0, 250, 0, 10, 100, 1},
    };
    assert_int_equal(answer.rows.count, COUNT_OF(rows));
    for (uint32_t i = 0; i < COUNT_OF(rows); i++) {
        const struct multifactor_row *row = &answer.rows.items[i];
        assert_int_equal(row->job, rows[i].job);
        assert_int_equal(row->partition, rows[i].partition);
        assert_true(is_near(row->terms.partition, rows[i].partition_term));
        assert_true(is_near(row->terms.assoc, rows[i].assoc));
        assert_true(is_near(row->terms.qos, rows[i].qos));
        assert_true(is_near(row->terms.tres, rows[i].tres));
        assert_true(is_near(row->billing, rows[i].billing));
    }
    array_release(&answer.rows);
    scenario_release(&s);
}

static void shares_by_the_algorithm_of_the_settings(void **unused)
{
#define TREE                                                                                                      \
    "'tree': [{'account': 'a'}, {'account': 'a', 'user': 'u', 'usage': 300}, {'account': 'b'}, {'account': 'b', " \
    "'user': 'v', 'usage': 100}], 'jobs': [{'id': 1, 'user': 'u', 'submit': 1}, {'id': 2, 'user': 'v', 'submit': 1}]}"
    const struct {
        const char *document;
        double u, v;
    } rows[] = {
        {"{'now': 1, 'settings': {}, " TREE, 0.5, 1},
        {"{'now': 1, 'settings': {'PriorityFlags': 'NO_FAIR_TREE'}, " TREE, exp2(-1.5), exp2(-0.5)},
        {"{'now': 1, 'settings': {'PriorityFlags': 'NO_FAIR_TREE', 'FairShareDampeningFactor': 2}, " TREE, exp2(-0.75),
         exp2(-0.25)},
    };
    (void)unused;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct scenario s;
        struct multifactor_answer answer;
        struct share_table table;
        read_quoted(rows[i].document, &s);
        answer_multifactor(&s, &arena, &answer);
        answer_shares(&s, &s.policy.share, &arena, &table);
        assert_true(is_near(answer.rows.items[0].factors.fair_share, rows[i].u));
        assert_true(is_near(answer.rows.items[1].factors.fair_share, rows[i].v));
        assert_true(is_near(table.fair_share[s.associations.items[1].node], rows[i].u));
        assert_true(is_near(table.raw_usage[0], 400));
        array_release(&answer.rows);
        scenario_release(&s);
    }
#undef TREE
}

static void first_come_first_served(void **unused)
{
    struct scenario s;
    uint32_t *priorities;
    (void)unused;
    read_quoted(
        "{'now': 1, 'settings': {'PriorityType': 'priority/basic'}, 'jobs': ["
        "{'id': 9, 'user': 'u', 'submit': 5}, {'id': 3, 'user': 'u', 'submit': 7}, {'id': 2, 'user': 'u', 'submit': 5},"
        "{'id': 4, 'user': 'u', 'submit': 1, 'set_priority': 12}, {'id': 5, 'user': 'u', 'submit': 9, 'state': "
        "'HELD'}, {'id': 6, 'user': 'u', 'submit': '1969-12-31T23:00:00Z', 'nice': 100}]}",
        &s);
    answer_basic(&s, &arena, &priorities);
    const uint32_t first = multifactor_basic_priority(0, 0);
    const uint32_t expected[] = {first - 3, first - 4, first - 2, 12, 0, first - 100};
    for (uint32_t i = 0; i < COUNT_OF(expected); i++) assert_int_equal(priorities[i], expected[i]);
    scenario_release(&s);
}

/* --- tickets -------------------------------------------------------------------------------------------------------- */

static struct ticket_row *ask(const char *document, struct scenario *s)
{
    struct ticket_row *rows;
    struct err e = {0};
    read_quoted(document, s);
    assert_int_equal(answer_tickets(s, &arena, &rows, &e), 0);
    return rows;
}

#define TICKETS "'PriorityType': 'priority/tickets', 'compensation_factor': 0, 'halftime_rule': 'exact', "

/* Each user that `default` serves is a node of his own: tickets are divided by 1/usage. The half-life is an hour. */
static void users_of_default_have_their_own_usage(void **unused)
{
    struct scenario s;
    (void)unused;
    const struct ticket_row *rows = ask(
        "{'now': 7200, 'settings': {" TICKETS "'weight_tickets_share': 1000, 'halftime': 1},"
        " 'users': [{'name': 'ua', 'usage': {'cpu': 100}}, {'name': 'ub', 'usage': {'cpu': 300}, 'usage_time': 3600}],"
        " 'share_tree': {'name': 'Root', 'children': [{'name': 'default', 'shares': 10}]},"
        " 'jobs': [{'id': 1, 'user': 'ua', 'submit': 1}, {'id': 2, 'user': 'ub', 'submit': 2}, {'id': 3, 'user': 'ua', "
        "'submit': 3}]}",
        &s);
    assert_true(is_near(rows[0].tickets.share, 600));
    assert_true(is_near(rows[1].tickets.share, 400));
    assert_true(is_near(rows[2].tickets.share, 300));
    scenario_release(&s);
}

/* In a project a user's usage is what he used there; the project's own decides between the project and its siblings. */
static void usage_in_projects(void **unused)
{
    struct scenario s;
    (void)unused;
    const struct ticket_row *rows = ask(
        "{'now': 1, 'settings': {" TICKETS "'weight_tickets_share': 1000, 'halftime': 0},"
        " 'projects': [{'name': 'P', 'usage': {'cpu': 100}}],"
        " 'users': [{'name': 'ua', 'usage': {'cpu': 300}, 'project_usage': {'P': {'cpu': 20}}},"
        "           {'name': 'ub', 'usage': {'cpu': 1e9}, 'project_usage': {'P': {'cpu': 80}}}],"
        " 'share_tree': {'name': 'Root', 'children': [{'name': 'P', 'shares': 1, 'children': [{'name': 'default'}]},"
        "   {'name': 'ua', 'shares': 1}]},"
        " 'jobs': [{'id': 1, 'user': 'ua', 'project': 'P', 'submit': 1}, {'id': 2, 'user': 'ub', 'project': 'P', "
        "'submit': 2}, {'id': 3, 'user': 'ua', 'submit': 3}, {'id': 4, 'user': 'uc', 'submit': 4}]}",
        &s);
    assert_true(is_near(rows[0].tickets.share, 750)); /* first of the project's */
    assert_true(is_near(rows[1].tickets.share, 375));
    assert_true(is_near(rows[2].tickets.share, 250));
    assert_true(is_near(rows[3].tickets.share, 0)); /* no node */
    scenario_release(&s);
}

/* Of an array as many tasks count as could start, and one: what stands behind them gets the less. */
static void tasks_of_arrays_are_jobs_of_their_own(void **unused)
{
    const struct {
        const char *hosts, *max_tasks;
        double behind;
    } rows[] = {
        {"", "50", 1000.0 / 11},
        {"", "4", 1000.0 / 5},
        {"'hosts': [{'name': 'n', 'cpus': 2}],", "50", 1000.0 / 4},
        {"'hosts': [{'name': 'n', 'cpus': 0}],", "50", 1000.0 / 2},
    };
    (void)unused;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct scenario s;
        struct buf text = {0};
        buf_format(
            &text,
            "{'now': 9, 'settings': {" TICKETS "'weight_tickets_functional': 1000, 'weight_user': 1, "
            "'weight_project': 0, 'weight_department': 0, 'weight_job': 0, 'max_pending_tasks_per_job': %s}, %s "
            "'users': [{'name': 'u', 'fshare': 100}], 'jobs': [{'id': 1, 'user': 'u', 'submit': 1, 'array_tasks': "
            "10}, {'id': 2, 'user': 'u', 'submit': 2}]}",
            rows[i].max_tasks, rows[i].hosts);
        const struct ticket_row *answer = ask(text.text, &s);
        assert_true(is_near(answer[0].tickets.functional, 1000));
        assert_true(is_near(answer[1].tickets.functional, rows[i].behind));
        scenario_release(&s);
        buf_release(&text);
    }
}

static void who_takes_part(void **unused)
{
    struct scenario s;
    (void)unused;
    const struct ticket_row *rows = ask(
        "{'now': 100, 'settings': {" TICKETS "'weight_tickets_functional': 1000, 'enforce_user': 'none', "
        "'weight_waiting_time': 1, 'report_pjob_tickets': false}, 'users': [{'name': 'u', 'fshare': 1}],"
        " 'jobs': [{'id': 1, 'user': 'u', 'submit': 1, 'state': 'HELD'}, {'id': 2, 'user': 'u', 'submit': 1, "
        "'eligible': 101}, {'id': 3, 'user': 'u', 'submit': 10, 'state': 'RUNNING'}, {'id': 4, 'user': 'u', 'submit': "
        "10}, {'id': 5, 'user': 'x', 'submit': 10, 'state': 'RUNNING'}]}",
        &s);
    for (int i = 0; i < 2; i++) {
        assert_true(is_near(rows[i].prior, 0));
        assert_true(is_near(rows[i].urgency.sum, 0));
        assert_true(is_near(rows[i].norm_posix, 0));
    }
    assert_true(is_near(rows[2].tickets.total, 1000));
    assert_true(is_near(rows[2].norm_tickets, 1));
    assert_true(is_near(rows[3].tickets.total, 0)); /* has some, which are not reported */
    assert_true(is_near(rows[3].prior, 0));
    assert_true(is_near(rows[3].urgency.waiting_time, 90));
    assert_true(is_near(rows[4].tickets.total, 0)); /* nobody's */
    assert_true(is_near(rows[4].prior, 0.25));      /* urgency alike: 0.5 of 0.5 */
    scenario_release(&s);
}

/* Urgency by the job's own rule for its range of slots, and by what it requests. */
static void urgency_of_slots_and_requests(void **unused)
{
    struct scenario s;
    (void)unused;
    const struct ticket_row *rows = ask(
        "{'now': 100, 'settings': {" TICKETS
        "'urgency_slots': 'max', 'weight_deadline': 1000, 'weight_waiting_time': 0},"
        " 'resources': [{'name': 'lic', 'urgency': 7}, {'name': 'os', 'type': 'STRING', 'urgency': 3}],"
        " 'jobs': [{'id': 1, 'user': 'u', 'submit': 1, 'slots': [2, 8]}, {'id': 2, 'user': 'u', 'submit': 1, 'slots': [2, "
        "8], 'urgency_slots': 'avg'}, {'id': 3, 'user': 'u', 'submit': 1, 'slots': [2, 8], 'urgency_slots': 3, "
        "'request': {'lic': 2, 'os': 'linux'}}, {'id': 4, 'user': 'u', 'submit': 1, 'deadline': 104}]}",
        &s);
    assert_true(is_near(rows[0].urgency.resources, 8000));
    assert_true(is_near(rows[1].urgency.resources, 5000));
    assert_true(is_near(rows[2].urgency.resources, 3000 + 2 * 7 * 3 + 3));
    assert_true(is_near(rows[3].urgency.deadline, 250));
    scenario_release(&s);
}

/* Without a hierarchy the scheduler's list decides which job of a user comes first: the changed one stands last. */
static void the_list_has_its_own_order(void **unused)
{
    struct scenario s;
    (void)unused;
    const struct ticket_row *rows = ask(
        "{'now': 100, 'settings': {" TICKETS "'weight_tickets_functional': 1000, 'weight_user': 1, 'weight_job': 0, "
        "'weight_project': 0, 'weight_department': 0, 'policy_hierarchy': 'NONE'}, 'users': [{'name': 'u', 'fshare': 1}],"
        " 'jobs': [{'id': 1, 'user': 'u', 'submit': 1, 'seq': 1000}, {'id': 2, 'user': 'u', 'submit': 2}]}",
        &s);
    assert_true(is_near(rows[1].tickets.functional, 1000));
    assert_true(is_near(rows[0].tickets.functional, 500));
    scenario_release(&s);
}

static int release(void **unused)
{
    (void)unused;
    arena_release(&arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_example_of_multifactor),
        cmocka_unit_test(the_example_of_tickets),
        cmocka_unit_test(jobs_without_terms_and_jobs_without_rows),
        cmocka_unit_test(age_counts_from_when_a_job_became_eligible),
        cmocka_unit_test(a_row_for_each_partition),
        cmocka_unit_test(shares_by_the_algorithm_of_the_settings),
        cmocka_unit_test(first_come_first_served),
        cmocka_unit_test(users_of_default_have_their_own_usage),
        cmocka_unit_test(usage_in_projects),
        cmocka_unit_test(tasks_of_arrays_are_jobs_of_their_own),
        cmocka_unit_test(who_takes_part),
        cmocka_unit_test(urgency_of_slots_and_requests),
        cmocka_unit_test(the_list_has_its_own_order),
    };
    return cmocka_run_group_tests(tests, NULL, release);
}
