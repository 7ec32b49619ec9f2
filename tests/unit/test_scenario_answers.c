/* Priorities and shares of documents, computed by hand from docs/formulas.md. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/number.h"
#include "rows.h"
#include "sim/scenario.h"

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

/* Reads a document that is written with ' instead of ". */
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

/* The priorities, in the order of the document. */
static struct scenario_priorities compute(struct scenario *s)
{
    struct scenario_priorities all;
    scenario_priorities(s, &arena, &all);
    return all;
}

static struct priority_values row_of(const struct scenario_priorities *all, uint32_t i)
{
    struct priority_record record;
    struct priority_values row;
    assert_true(i < all->count);
    scenario_priority_row(all, i, &record);
    memcpy(row.value, record.value, sizeof row.value);
    return row;
}

static double real_of(const struct scenario_priorities *all, uint32_t i, enum priority_field f)
{
    struct priority_values row = row_of(all, i);
    return row.value[f].real;
}

/* An amount in a list such as "cpu=250,gres/gpu=750". */
static double amount_of(const char *list, const char *name)
{
    for (struct str rest = str(list); rest.length > 0;) {
        struct str number, key = str_cut(str_cut(rest, ',', &rest), '=', &number);
        double value;
        if (str_equal(key, str(name)) && number_parse_double(number, &value)) return value;
    }
    return 0.0;
}

/* --- the examples ------------------------------------------------------------------------------------------------- */

static void the_multifactor_example(void **unused)
{
    struct scenario s;
    (void)unused;
    read_example("examples/multifactor.json", &s);
    const struct scenario_priorities all = compute(&s);
    assert_int_equal(all.count, 1);
    assert_true(is_near(real_of(&all, 0, PRIORITY_FIELD_PRIORITY), 11537));
    assert_true(is_near(all.all.rows[0].terms.sum, 11537.5));
    assert_true(is_near(real_of(&all, 0, PRIORITY_FIELD_JOB_SIZE), 312.5));
    assert_true(is_near(real_of(&all, 0, PRIORITY_FIELD_PARTITION_TERM), 200));
    assert_true(is_near(real_of(&all, 0, PRIORITY_FIELD_FAIR_SHARE_FACTOR), 1));
    assert_true(is_near(real_of(&all, 0, PRIORITY_FIELD_BILLING), 4));
    assert_string_equal(all.texts[0].tres_terms, "cpu=250,mem=25,gres/gpu=750");
    assert_true(is_near(amount_of(all.texts[0].tres_factors, "gres/gpu"), 0.25));
    scenario_release(&s);
}

static void the_tickets_example(void **unused)
{
    static const uint32_t recorded[] = {83333333, 41666666, 27777777, 250000000, 83333333, 0};
    struct scenario s;
    (void)unused;
    read_example("examples/functional-tickets.json", &s);
    const struct scenario_priorities all = compute(&s);
    assert_int_equal(all.count, COUNT_OF(recorded));
    for (uint32_t i = 0; i < all.count; i++) {
        assert_int_equal((uint32_t)real_of(&all, i, PRIORITY_FIELD_TICKETS), recorded[i]);
        assert_int_equal((uint32_t)real_of(&all, i, PRIORITY_FIELD_FUNCTIONAL_TICKETS), recorded[i]);
    }
    scenario_release(&s);
}

/* --- multifactor -------------------------------------------------------------------------------------------------- */

static void jobs_without_terms_and_jobs_without_rows(void **unused)
{
#define DOCUMENT(flags)                                                                                                 \
    "{'now': 1000, 'settings': {'PriorityWeightAge': 1000, 'PriorityMaxAge': '0-00:10', 'PriorityFlags': '" flags       \
    "'}, 'jobs': [{'id': 1, 'user': 'u', 'submit': 400, 'state': 'HELD', 'site': 5}, {'id': 2, 'user': 'u', 'submit': " \
    "400, 'set_priority': 4242, 'nice': 7}, {'id': 3, 'user': 'u', 'submit': 700, 'state': 'RUNNING'}, {'id': 4, "      \
    "'user': 'u', 'submit': 700, 'site': 10, 'nice': -20}]}"
    struct scenario s;
    (void)unused;
    read_quoted(DOCUMENT(""), &s);
    const struct scenario_priorities all = compute(&s);
    const struct {
        uint32_t job_id;
        double priority, age;
    } rows[] = {{1, 0, 0}, {2, 4242, 0}, {4, 530, 500}};
    assert_int_equal(all.count, COUNT_OF(rows));
    for (uint32_t i = 0; i < COUNT_OF(rows); i++) {
        assert_int_equal(row_of(&all, i).value[PRIORITY_FIELD_JOB_ID].number, rows[i].job_id);
        assert_true(is_near(real_of(&all, i, PRIORITY_FIELD_PRIORITY), rows[i].priority));
        assert_true(is_near(real_of(&all, i, PRIORITY_FIELD_AGE), rows[i].age));
    }
    scenario_release(&s);

    read_quoted(DOCUMENT("CALCULATE_RUNNING"), &s);
    const struct scenario_priorities with_running = compute(&s);
    assert_int_equal(with_running.count, 4);
    assert_true(is_near(real_of(&with_running, 2, PRIORITY_FIELD_PRIORITY), 500));
    scenario_release(&s);
#undef DOCUMENT
}

static void age_counts_from_the_eligible_time(void **unused)
{
    const struct {
        const char *flags;
        double first, second, third;
    } rows[] = {{"", 300, 400, 1}, {"ACCRUE_ALWAYS", 300, 400, 900}};
    (void)unused;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct scenario s;
        struct buf text = {0};
        buf_format(&text,
                   "{'now': 1000, 'settings': {'PriorityWeightAge': 3000, 'PriorityMaxAge': '0:50:0', 'PriorityFlags': "
                   "'%s'}, 'jobs': [{'id': 1, 'user': 'u', 'submit': 700}, {'id': 2, 'user': 'u', 'submit': 100, "
                   "'eligible': 600}, {'id': 3, 'user': 'u', 'submit': 100, 'eligible': 1100}]}",
                   rows[i].flags);
        read_quoted(text.text, &s);
        const struct scenario_priorities all = compute(&s);
        assert_true(is_near(real_of(&all, 0, PRIORITY_FIELD_PRIORITY), rows[i].first));
        assert_true(is_near(real_of(&all, 1, PRIORITY_FIELD_PRIORITY), rows[i].second));
        assert_true(is_near(real_of(&all, 2, PRIORITY_FIELD_PRIORITY), rows[i].third));
        scenario_release(&s);
        buf_release(&text);
    }
}

/* Each partition has its own partition, TRES and billing terms, and can have its own association. */
static void each_partition_has_a_row(void **unused)
{
    struct scenario s;
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
    const struct scenario_priorities all = compute(&s);
    const struct {
        uint32_t job_id;
        const char *partition;
        double partition_term, assoc, qos, tres, billing;
    } rows[] = {
        {1, "q", 1000, 100, 2.5, 1000, 2},
        {1, "p", 250, 25, 2.5, 200, 8},
        {2, "p", 250, 25, 0, 100, 1},
        {3, "p", 250, 0, 10, 100, 1},
    };
    assert_int_equal(all.count, COUNT_OF(rows));
    for (uint32_t i = 0; i < COUNT_OF(rows); i++) {
        assert_int_equal(row_of(&all, i).value[PRIORITY_FIELD_JOB_ID].number, rows[i].job_id);
        assert_string_equal(row_of(&all, i).value[PRIORITY_FIELD_PARTITION].text, rows[i].partition);
        assert_true(is_near(real_of(&all, i, PRIORITY_FIELD_PARTITION_TERM), rows[i].partition_term));
        assert_true(is_near(real_of(&all, i, PRIORITY_FIELD_ASSOC), rows[i].assoc));
        assert_true(is_near(real_of(&all, i, PRIORITY_FIELD_QOS_TERM), rows[i].qos));
        assert_true(is_near(real_of(&all, i, PRIORITY_FIELD_TRES), rows[i].tres));
        assert_true(is_near(real_of(&all, i, PRIORITY_FIELD_BILLING), rows[i].billing));
    }
    scenario_release(&s);
}

/* docs/formulas.md 4.2. */
static void age_counts_from_accrue(void **unused)
{
    static const struct {
        const char *keys, *max_age, *flags;
        double age;
    } rows[] = {
        {"'nice': 0", "20", "", 400},
        {"'eligible': 700", "20", "", 200},
        {"'eligible': 700, 'accrue': 940", "20", "", 40},
        {"'eligible': 700, 'accrue': 940", "20", "ACCRUE_ALWAYS", 40},
        {"'accrue': null", "20", "", 0},
        {"'accrue': null", "0", "", 0},
        {"'accrue': null", "0", "ACCRUE_ALWAYS", 0},
        {"'accrue': 1000", "0", "", 800},
        {"'accrue': 0", "0", "", 800},
        {"'eligible': null", "20", "", 0},
        {"'eligible': null", "0", "", 0},
        {"'eligible': null", "20", "ACCRUE_ALWAYS", 400},
        {"'eligible': null, 'accrue': 700", "20", "", 200},
        {"'eligible': 1001", "0", "", 0},
        {"'eligible': 1001", "20", "ACCRUE_ALWAYS", 400},
    };
    (void)unused;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char document[400];
        struct scenario s;
        text_format(
            document, sizeof document,
            "{'now': 1000, 'settings': {'PriorityWeightAge': 800, 'PriorityMaxAge': '%s', 'PriorityFlags': '%s'},"
            " 'jobs': [{'id': 1, 'user': 'u', 'submit': 400, %s}]}",
            rows[i].max_age, rows[i].flags, rows[i].keys);
        read_quoted(document, &s);
        const struct scenario_priorities all = compute(&s);
        if (!is_near(real_of(&all, 0, PRIORITY_FIELD_AGE), rows[i].age)) fail_msg("row %zu", i);
        scenario_release(&s);
    }
}

/* Of the size and the TRES of a job: docs/formulas.md 4.3. */
static void cpus_and_nodes_beside_tres_are_for_the_size(void **unused)
{
    struct scenario s;
    (void)unused;
    read_quoted("{'now': 1, 'settings': {'PriorityWeightJobSize': 1000, 'PriorityWeightTRES': 'cpu=100'},"
                " 'hosts': [{'name': 'a', 'cpus': 16}, {'name': 'b', 'cpus': 16}], 'jobs': ["
                "{'id': 1, 'user': 'u', 'submit': 1, 'tres': 'cpu=4,node=2'},"
                "{'id': 2, 'user': 'u', 'submit': 1, 'tres': 'cpu=4,node=2', 'nodes': 1},"
                "{'id': 3, 'user': 'u', 'submit': 1, 'tres': 'cpu=4', 'cpus': 16},"
                "{'id': 4, 'user': 'u', 'submit': 1, 'tres': 'cpu=4,node=2', 'cpus': 16, 'nodes': 1}]}",
                &s);
    static const double sizes[] = {(1 + 0.125) / 2, (0.5 + 0.125) / 2, (0.5 + 0.5) / 2, (0.5 + 0.5) / 2};
    const struct scenario_priorities all = compute(&s);
    for (uint32_t i = 0; i < COUNT_OF(sizes); i++) {
        assert_true(is_near(real_of(&all, i, PRIORITY_FIELD_JOB_SIZE_FACTOR), sizes[i]));
        assert_true(is_near(real_of(&all, i, PRIORITY_FIELD_TRES), 12.5));
        assert_true(is_near(real_of(&all, i, PRIORITY_FIELD_BILLING), 4));
    }
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
        {"{'now': 1, 'settings': {'PriorityWeightFairshare': 1}, " TREE, 0.5, 1},
        {"{'now': 1, 'settings': {'PriorityWeightFairshare': 1, 'PriorityFlags': 'NO_FAIR_TREE'}, " TREE, exp2(-1.5),
         exp2(-0.5)},
        {"{'now': 1, 'settings': {'PriorityWeightFairshare': 1, 'PriorityFlags': 'NO_FAIR_TREE', 'FairShareDampeningFactor': 2}, " TREE,
         exp2(-0.75), exp2(-0.25)},
    };
    (void)unused;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct scenario s;
        struct share_table table;
        read_quoted(rows[i].document, &s);
        const struct scenario_priorities all = compute(&s);
        scenario_shares(&s, &s.state.policy.share, &arena, &table);
        assert_true(is_near(real_of(&all, 0, PRIORITY_FIELD_FAIR_SHARE_FACTOR), rows[i].u));
        assert_true(is_near(real_of(&all, 1, PRIORITY_FIELD_FAIR_SHARE_FACTOR), rows[i].v));
        assert_true(is_near(table.fair_share[s.state.node_of.items[s.associations[1]]], rows[i].u));
        assert_true(is_near(table.raw_usage[0], 400));
        scenario_release(&s);
    }
#undef TREE
}

/* Shares by other rules than the document's are an answer, not a change of the document. */
static void shares_by_other_options_change_no_later_answer(void **unused)
{
    struct scenario s;
    struct share_table own, other, later;
    (void)unused;
    read_quoted(
        "{'now': 1, 'settings': {'PriorityWeightFairshare': 1}, 'tree': [{'account': 'a', 'user': 'u', 'usage': 300},"
        " {'account': 'a', 'user': 'v', 'usage': 100}, {'account': 'a'}],"
        " 'jobs': [{'id': 1, 'user': 'u', 'submit': 1}]}",
        &s);
    const struct scenario_priorities before = compute(&s);
    const double factor = real_of(&before, 0, PRIORITY_FIELD_FAIR_SHARE_FACTOR);
    scenario_shares(&s, &s.state.policy.share, &arena, &own);
    const uint32_t u = s.state.node_of.items[s.associations[0]];
    struct share_options classic = s.state.policy.share;
    classic.algorithm = ALGORITHM_CLASSIC;
    scenario_shares(&s, &classic, &arena, &other);
    assert_true(own.fair_share[u] == factor && other.fair_share[u] != factor);
    const struct scenario_priorities after = compute(&s);
    assert_true(real_of(&after, 0, PRIORITY_FIELD_FAIR_SHARE_FACTOR) == factor);
    scenario_shares(&s, &s.state.policy.share, &arena, &later);
    assert_true(later.fair_share[u] == factor);
    scenario_release(&s);
}

static void basic_is_first_come_first_served(void **unused)
{
    struct scenario s;
    (void)unused;
    read_quoted(
        "{'now': 1, 'settings': {'PriorityType': 'priority/basic'}, 'jobs': ["
        "{'id': 9, 'user': 'u', 'submit': 5}, {'id': 3, 'user': 'u', 'submit': 7}, {'id': 2, 'user': 'u', 'submit': 5},"
        "{'id': 4, 'user': 'u', 'submit': 1, 'set_priority': 12}, {'id': 5, 'user': 'u', 'submit': 9, 'state': "
        "'HELD'}, {'id': 6, 'user': 'u', 'submit': '1969-12-31T23:00:00Z', 'nice': 100}]}",
        &s);
    const struct scenario_priorities all = compute(&s);
    const uint32_t first = multifactor_basic_priority(0, 0);
    const uint32_t expected[] = {first - 3, first - 4, first - 2, 12, 0, first - 100};
    for (uint32_t i = 0; i < COUNT_OF(expected); i++)
        assert_true(is_near(real_of(&all, i, PRIORITY_FIELD_PRIORITY), expected[i]));
    scenario_release(&s);
}

/* --- tickets ------------------------------------------------------------------------------------------------------ */

static struct scenario_priorities compute_document(const char *document, struct scenario *s)
{
    read_quoted(document, s);
    return compute(s);
}

static double share_tickets(const struct scenario_priorities *all, uint32_t i)
{
    return real_of(all, i, PRIORITY_FIELD_SHARE_TICKETS);
}

static double functional_tickets(const struct scenario_priorities *all, uint32_t i)
{
    return real_of(all, i, PRIORITY_FIELD_FUNCTIONAL_TICKETS);
}

#define TICKETS "'PriorityType': 'priority/tickets', 'compensation_factor': 0, 'halftime_rule': 'exact', "

/* Each user that `default` serves has a node: tickets are divided in proportion to 1/usage. The half-life is an
 * hour. */
static void users_of_default_have_separate_usage(void **unused)
{
    struct scenario s;
    (void)unused;
    const struct scenario_priorities rows = compute_document(
        "{'now': 7200, 'settings': {" TICKETS "'weight_tickets_share': 1000, 'halftime': 1},"
        " 'users': [{'name': 'ua', 'usage': {'cpu': 100}}, {'name': 'ub', 'usage': {'cpu': 300}, 'usage_time': 3600}],"
        " 'share_tree': {'name': 'Root', 'children': [{'name': 'default', 'shares': 10}]},"
        " 'jobs': [{'id': 1, 'user': 'ua', 'submit': 1}, {'id': 2, 'user': 'ub', 'submit': 2}, {'id': 3, 'user': 'ua', "
        "'submit': 3}]}",
        &s);
    assert_true(is_near(share_tickets(&rows, 0), 600));
    assert_true(is_near(share_tickets(&rows, 1), 400));
    assert_true(is_near(share_tickets(&rows, 2), 300));
    scenario_release(&s);
}

/* In a project, the usage of a user in it counts; between the project and its siblings, the usage of the project. */
static void usage_in_projects_counts_there(void **unused)
{
    struct scenario s;
    (void)unused;
    const struct scenario_priorities rows = compute_document(
        "{'now': 1, 'settings': {" TICKETS "'weight_tickets_share': 1000, 'halftime': 0},"
        " 'projects': [{'name': 'P', 'usage': {'cpu': 100}}],"
        " 'users': [{'name': 'ua', 'usage': {'cpu': 300}, 'project_usage': {'P': {'cpu': 20}}},"
        "           {'name': 'ub', 'usage': {'cpu': 1e9}, 'project_usage': {'P': {'cpu': 80}}}],"
        " 'share_tree': {'name': 'Root', 'children': [{'name': 'P', 'shares': 1, 'children': [{'name': 'default'}]},"
        "   {'name': 'ua', 'shares': 1}]},"
        " 'jobs': [{'id': 1, 'user': 'ua', 'project': 'P', 'submit': 1}, {'id': 2, 'user': 'ub', 'project': 'P', "
        "'submit': 2}, {'id': 3, 'user': 'ua', 'submit': 3}, {'id': 4, 'user': 'uc', 'submit': 4}]}",
        &s);
    assert_true(is_near(share_tickets(&rows, 0), 750)); /* the first job of the project */
    assert_true(is_near(share_tickets(&rows, 1), 375));
    assert_true(is_near(share_tickets(&rows, 2), 250));
    assert_true(is_near(share_tickets(&rows, 3), 0)); /* no node */
    scenario_release(&s);
}

/* As many tasks of an array count as could start, plus one; later jobs get fewer tickets for each. */
static void each_task_of_an_array_counts_as_a_job(void **unused)
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
        const struct scenario_priorities answer = compute_document(text.text, &s);
        assert_true(is_near(functional_tickets(&answer, 0), 1000));
        assert_true(is_near(functional_tickets(&answer, 1), rows[i].behind));
        scenario_release(&s);
        buf_release(&text);
    }
}

static void jobs_with_and_without_tickets(void **unused)
{
    struct scenario s;
    (void)unused;
    const struct scenario_priorities rows = compute_document(
        "{'now': 100, 'settings': {" TICKETS "'weight_tickets_functional': 1000, 'enforce_user': 'none', "
        "'weight_waiting_time': 1, 'report_pjob_tickets': false}, 'users': [{'name': 'u', 'fshare': 1}],"
        " 'jobs': [{'id': 1, 'user': 'u', 'submit': 1, 'state': 'HELD'}, {'id': 2, 'user': 'u', 'submit': 1, "
        "'eligible': 101}, {'id': 3, 'user': 'u', 'submit': 10, 'state': 'RUNNING'}, {'id': 4, 'user': 'u', 'submit': "
        "10}, {'id': 5, 'user': 'x', 'submit': 10, 'state': 'RUNNING'}]}",
        &s);
    for (uint32_t i = 0; i < 2; i++) {
        assert_true(is_near(real_of(&rows, i, PRIORITY_FIELD_PRIORITY), 0));
        assert_true(is_near(real_of(&rows, i, PRIORITY_FIELD_URGENCY), 0));
        assert_true(is_near(real_of(&rows, i, PRIORITY_FIELD_NORM_POSIX), 0));
    }
    assert_true(is_near(real_of(&rows, 2, PRIORITY_FIELD_TICKETS), 1000));
    assert_true(is_near(real_of(&rows, 2, PRIORITY_FIELD_NORM_TICKETS), 1));
    assert_true(is_near(real_of(&rows, 3, PRIORITY_FIELD_TICKETS), 0)); /* its tickets are not reported */
    assert_true(is_near(real_of(&rows, 3, PRIORITY_FIELD_PRIORITY), 0));
    assert_true(is_near(real_of(&rows, 3, PRIORITY_FIELD_URGENCY_WAITING), 0)); /* as qstat shows a pending job */
    assert_true(is_near(real_of(&rows, 2, PRIORITY_FIELD_URGENCY_WAITING), 90));
    assert_true(is_near(real_of(&rows, 4, PRIORITY_FIELD_TICKETS), 0));     /* a user without an object */
    assert_true(is_near(real_of(&rows, 4, PRIORITY_FIELD_PRIORITY), 0.25)); /* equal urgencies: 0.5 of 0.5 */
    scenario_release(&s);
}

/* Urgency by the job's own rule for its range of slots, and by what it requests. */
static void urgency_of_slots_and_requests(void **unused)
{
    struct scenario s;
    (void)unused;
    const struct scenario_priorities rows = compute_document(
        "{'now': 100, 'settings': {" TICKETS
        "'urgency_slots': 'max', 'weight_deadline': 1000, 'weight_waiting_time': 0},"
        " 'resources': [{'name': 'lic', 'urgency': 7}, {'name': 'os', 'type': 'STRING', 'urgency': 3}],"
        " 'jobs': [{'id': 1, 'user': 'u', 'submit': 1, 'slots': [2, 8]}, {'id': 2, 'user': 'u', 'submit': 1, 'slots': [2, "
        "8], 'urgency_slots': 'avg'}, {'id': 3, 'user': 'u', 'submit': 1, 'slots': [2, 8], 'urgency_slots': 3, "
        "'request': {'lic': 2, 'os': 'linux'}}, {'id': 4, 'user': 'u', 'submit': 1, 'deadline': 104}]}",
        &s);
    assert_true(is_near(real_of(&rows, 0, PRIORITY_FIELD_URGENCY_RESOURCES), 8000));
    assert_true(is_near(real_of(&rows, 1, PRIORITY_FIELD_URGENCY_RESOURCES), 5000));
    assert_true(is_near(real_of(&rows, 2, PRIORITY_FIELD_URGENCY_RESOURCES), 3000 + 2 * 7 * 3 + 3));
    assert_true(is_near(real_of(&rows, 3, PRIORITY_FIELD_URGENCY_DEADLINE), 250));
    scenario_release(&s);
}

/* Without a hierarchy the scheduler's list decides which job of a user is first: the changed one is last. */
static void the_order_of_the_scheduler_list(void **unused)
{
    struct scenario s;
    (void)unused;
    const struct scenario_priorities rows = compute_document(
        "{'now': 100, 'settings': {" TICKETS "'weight_tickets_functional': 1000, 'weight_user': 1, 'weight_job': 0, "
        "'weight_project': 0, 'weight_department': 0, 'policy_hierarchy': 'NONE'}, 'users': [{'name': 'u', 'fshare': 1}],"
        " 'jobs': [{'id': 1, 'user': 'u', 'submit': 1, 'seq': 1000}, {'id': 2, 'user': 'u', 'submit': 2}]}",
        &s);
    assert_true(is_near(functional_tickets(&rows, 1), 1000));
    assert_true(is_near(functional_tickets(&rows, 0), 500));
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
        cmocka_unit_test(the_multifactor_example),
        cmocka_unit_test(the_tickets_example),
        cmocka_unit_test(jobs_without_terms_and_jobs_without_rows),
        cmocka_unit_test(age_counts_from_the_eligible_time),
        cmocka_unit_test(each_partition_has_a_row),
        cmocka_unit_test(age_counts_from_accrue),
        cmocka_unit_test(cpus_and_nodes_beside_tres_are_for_the_size),
        cmocka_unit_test(shares_by_the_algorithm_of_the_settings),
        cmocka_unit_test(shares_by_other_options_change_no_later_answer),
        cmocka_unit_test(basic_is_first_come_first_served),
        cmocka_unit_test(users_of_default_have_separate_usage),
        cmocka_unit_test(usage_in_projects_counts_there),
        cmocka_unit_test(each_task_of_an_array_counts_as_a_job),
        cmocka_unit_test(jobs_with_and_without_tickets),
        cmocka_unit_test(urgency_of_slots_and_requests),
        cmocka_unit_test(the_order_of_the_scheduler_list),
    };
    return cmocka_run_group_tests(tests, NULL, release);
}
