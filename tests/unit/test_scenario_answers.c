/* Priorities and shares of documents, computed by hand from docs/formulas.md. */
#include "scenario_world.h"

#include "base/number.h"
#include "rows.h"

static void read_example(const char *path, struct scenario *out_scenario)
{
    char *text = rows_read(path);
    assert_non_null(text);
    read_text(str(text), out_scenario);
    free(text);
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
    };
    return cmocka_run_group_tests(tests, NULL, release_answers);
}
