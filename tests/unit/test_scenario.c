#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "sim/scenario.h"

#define COUNT_OF(rows) (sizeof(rows) / sizeof *(rows))

/* Documents stand here with ' for ". */
static int read_quoted(const char *document, struct scenario *out_scenario, struct err *e)
{
    struct buf text = {0};
    buf_add_text(&text, document);
    for (size_t i = 0; i < text.length; i++) {
        if (text.text[i] == '\'') text.text[i] = '"';
    }
    *e = (struct err){0};
    int status = scenario_read((struct str){text.text, text.length}, "F", out_scenario, e);
    buf_release(&text);
    return status;
}

static void read_good(const char *document, struct scenario *out_scenario)
{
    struct err e;
    int status = read_quoted(document, out_scenario, &e);
    if (status != 0) print_message("%s\n", ERR_SENTENCE(&e));
    assert_int_equal(status, 0);
}

struct refusal {
    const char *document, *message;
};

static void check_refusals(const struct refusal *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct scenario s;
        struct err e;
        assert_int_equal(read_quoted(rows[i].document, &s, &e), -1);
        assert_int_equal(e.code, ERR_INPUT);
        assert_string_equal(ERR_SENTENCE(&e), rows[i].message);
        scenario_release(&s);
    }
}

/* --- what a document leaves out ------------------------------------------------------------------------------------- */

static void the_least_document(void **unused)
{
    struct scenario s;
    (void)unused;
    read_good("{'now': 1795243000}", &s);
    assert_true(s.now_us == INT64_C(1795243000000000));
    assert_int_equal(s.policy.model, MODEL_MULTIFACTOR);
    assert_int_equal(s.policy.share.algorithm, ALGORITHM_FAIR_TREE);
    assert_true(s.policy.multifactor.weight_fair_share < 1.0); /* no weight but those given */
    assert_int_equal(s.partitions.count, 1);
    assert_string_equal(s.partitions.items[0].object.name, "");
    assert_int_equal(s.tree.count, 1);
    assert_int_equal(s.jobs.count, 0);
    assert_null(s.shares);
    scenario_release(&s);
}

static void a_job_by_default(void **unused)
{
    struct scenario s;
    (void)unused;
    read_good(
        "{'now': '2026-11-21T09:05:00Z', 'partitions': [{'name': 'batch'}, {'name': 'fast'}],"
        " 'tree': [{'account': 'a'}, {'account': 'b'}, {'account': 'b', 'user': 'u'}, {'account': 'a', 'user': 'u'}],"
        " 'jobs': [{'id': 7, 'user': 'u', 'submit': 1795251800}]}",
        &s);
    const struct scenario_job *job = &s.jobs.items[0];
    assert_true(s.now_us == INT64_C(1795251900000000));
    assert_string_equal(job->account, "b"); /* his first */
    assert_int_equal(job->partition_count, 1);
    assert_int_equal(job->partitions[0], 0);
    assert_true(job->eligible_us == job->submit_us);
    assert_true(job->sequence == 7);
    assert_int_equal(job->state, JOB_PENDING);
    assert_int_equal(job->qos, NONE);
    assert_int_equal(job->cpus, 1);
    assert_int_equal(job->nodes, 1);
    assert_int_equal(job->tres.count, 2); /* cpu=1,node=1 */
    assert_int_equal(scenario_node_of(&s, job, 0), s.associations.items[2].node);
    scenario_release(&s);
}

/* --- settings ------------------------------------------------------------------------------------------------------- */

static double total(const struct scenario *s, uint32_t partition, const char *tres)
{
    return s->partitions.items[partition].totals[tres_find(&s->policy.tres, str(tres))];
}

static void whole_numbers_may_have_a_point(void **unused)
{
    struct scenario s;
    (void)unused;
    read_good("{'now': 1795243000.0, 'hosts': [{'name': 'n', 'cpus': 4.0, 'mem': 1024.0}], 'tree': [{'account': 'a', "
              "'shares': 3.0}], 'jobs': [{'id': 2.0, 'user': 'u', 'submit': 1.0, 'nice': -5.0, 'slots': [2.0, 8e0], "
              "'job_share': -0.0}]}",
              &s);
    assert_true(s.now_us == INT64_C(1795243000000000));
    assert_int_equal(s.hosts.items[0].cpus, 4);
    assert_true(total(&s, 0, "mem") > 1023.5 && total(&s, 0, "mem") < 1024.5);
    assert_int_equal(s.associations.items[0].shares, 3);
    assert_int_equal(s.jobs.items[0].id, 2);
    assert_int_equal(s.jobs.items[0].nice, -5);
    assert_int_equal(s.jobs.items[0].slots_max, 8);
    assert_false(signbit(s.jobs.items[0].job_share));
    scenario_release(&s);
}

static void settings_are_texts_numbers_or_booleans(void **unused)
{
    struct scenario s;
    (void)unused;
    read_good("{'now': 1, 'settings': {'PriorityWeightAge': 1000, 'PriorityMaxAge': '7-0', 'priorityflags': "
              "'NO_FAIR_TREE', 'FairShareDampeningFactor': '3', 'weight_ticket': 0.01, 'compensation_factor': 5.0, "
              "'share_functional_shares': false, 'PriorityFavorSmall': 'YES', 'halftime': 24, 'FairTreeTies': 'merge', "
              "'usage_weight_list': 'cpu=1,mem=0,io=0'}}",
              &s);
    assert_true(s.policy.multifactor.weight_age > 999.0 && s.policy.multifactor.weight_age < 1001.0);
    assert_true(s.policy.multifactor.max_age_s == 7 * 86400);
    assert_true(s.policy.multifactor.favor_small);
    assert_int_equal(s.policy.share.algorithm, ALGORITHM_CLASSIC);
    assert_int_equal(s.policy.share.dampening, 3);
    assert_true(s.policy.urgency.weight_ticket > 0.0099 && s.policy.urgency.weight_ticket < 0.0101);
    assert_false(s.policy.tickets.share_functional_shares);
    assert_int_equal(s.policy.tickets.compensation_factor, 5);
    assert_int_equal(s.policy.tickets.decay.minutes[USAGE_CPU], 24 * 60);
    scenario_release(&s);
}

/* --- hosts and partitions ------------------------------------------------------------------------------------------- */

/* As qconf -ssconf has it, and slurm.conf. */
static void keywords_that_decide_nothing_are_passed_over(void **unused)
{
    struct scenario s;
    (void)unused;
    read_good(
        "{'now': 1, 'settings': {'algorithm': 'default', 'schedule_interval': '0:0:15', 'maxujobs': 0, "
        "'load_formula': 'np_load_avg', 'weight_ticket': 0.25, 'PriorityCalcPeriod': 5, 'prioritycalcperiod': '1', "
        "'PriorityUsageResetPeriod': 'NONE'}}",
        &s);
    assert_true(s.policy.urgency.weight_ticket > 0.24 && s.policy.urgency.weight_ticket < 0.26);
    scenario_release(&s);
}

static void totals_are_sums_over_the_partitions_hosts(void **unused)
{
    struct scenario s;
    (void)unused;
    read_good(
        "{'now': 1, 'settings': {'AccountingStorageTRES': 'gres/gpu,gres/gpu:tesla,license/x'},"
        " 'hosts': [{'name': 'n1', 'cpus': 16, 'mem': '64G', 'gres': {'gpu': 4, 'gpu:tesla': 2, 'nic': 1}},"
        "           {'name': 'n2', 'cpus': 8, 'mem': 1000, 'gres': {'gpu:tesla': 3}}, {'name': 'n3'}],"
        " 'partitions': [{'name': 'all'}, {'name': 'some', 'hosts': ['n2', 'n3']}, {'name': 'none', 'hosts': []}]}",
        &s);
    const struct {
        uint32_t partition;
        const char *tres;
        double expected;
    } rows[] = {
        {0, "cpu", 25}, {0, "mem", 66536},    {0, "node", 3},        {0, "gres/gpu", 7}, {0, "gres/gpu:tesla", 5},
        {1, "cpu", 9},  {1, "mem", 1000},     {1, "node", 2},        {1, "gres/gpu", 3}, {1, "gres/gpu:tesla", 3},
        {2, "cpu", 0},  {2, "gres/gpu", 0.0}, {0, "license/x", 0.0},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        assert_true(fabs(total(&s, rows[i].partition, rows[i].tres) - rows[i].expected) < 1e-9);
    scenario_release(&s);
}

static void typed_gres_count_for_their_generic_tracked_or_not(void **unused)
{
    const struct {
        const char *tracked, *gres;
        double gpus;
    } rows[] = {
        {"gres/gpu", "{'gpu:tesla': 2, 'gpu:a100': 3}", 5},
        {"gres/gpu,gres/gpu:tesla", "{'gpu:tesla': 2, 'gpu:a100': 3}", 5},
        {"gres/gpu", "{'gpu': 0, 'gpu:a100': 3}", 3},
        {"gres/gpu", "{'gpu:a100': 3, 'gpu': 8}", 8},
        {"gres/gpu", "{'gpus:a100': 3, 'gp:u': 8}", 0},
    };
    (void)unused;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char document[200];
        struct scenario s;
        text_format(document, sizeof document,
                    "{'now': 1, 'settings': {'AccountingStorageTRES': '%s'}, 'hosts': [{'name': 'n', 'gres': %s}]}",
                    rows[i].tracked, rows[i].gres);
        read_good(document, &s);
        assert_true(fabs(total(&s, 0, "gres/gpu") - rows[i].gpus) < 1e-9);
        scenario_release(&s);
    }
}

static void a_jobs_tres_stand_for_cpus_nodes_and_mem(void **unused)
{
    struct scenario s;
    (void)unused;
    read_good(
        "{'now': 1, 'settings': {'AccountingStorageTRES': 'gres/gpu,gres/gpu:tesla'}, 'jobs': ["
        "{'id': 1, 'user': 'u', 'submit': 1, 'cpus': 2, 'nodes': 3, 'mem': '2G'},"
        "{'id': 2, 'user': 'u', 'submit': 1, 'cpus': 2, 'nodes': 3, 'mem': '2G', 'tres': 'cpu=4,node=2,gres/gpu:tesla=1'},"
        "{'id': 3, 'user': 'u', 'submit': 1, 'cpus': 2, 'nodes': 3, 'tres': 'mem=8G'}]}",
        &s);
    const struct {
        const char *tres;
        uint32_t cpus, nodes;
    } rows[] = {
        {"cpu=2,mem=2048,node=3", 2, 3},
        {"cpu=4,node=2,gres/gpu=1,gres/gpu:tesla=1", 4, 2},
        {"mem=8192", 2, 3},
    };
    for (uint32_t i = 0; i < COUNT_OF(rows); i++) {
        struct buf text = {0};
        tres_list_format(&s.policy.tres, &s.jobs.items[i].tres, &text);
        assert_string_equal(text.text, rows[i].tres);
        assert_int_equal(s.jobs.items[i].cpus, rows[i].cpus);
        assert_int_equal(s.jobs.items[i].nodes, rows[i].nodes);
        buf_release(&text);
    }
    scenario_release(&s);
}

/* --- trees ---------------------------------------------------------------------------------------------------------- */

static void accounts_may_stand_behind_what_is_in_them(void **unused)
{
    struct scenario s;
    (void)unused;
    read_good(
        "{'now': 1, 'tree': [{'account': 'c', 'user': 'x'}, {'account': 'c', 'parent': 'b', 'shares': 'parent'},"
        " {'account': 'a', 'priority': 3}, {'account': 'b', 'parent': 'a', 'shares': 0}, {'account': 'root', 'user': "
        "'root', 'priority': 0}, {'account': 'root', 'priority': 9}, {'account': 'd'}]}",
        &s);
    const struct {
        uint32_t depth, shares;
        int64_t priority;
    } rows[] = {{4, 1, 3}, {3, SHARES_PARENT, 3}, {1, 1, 3}, {2, 0, 3}, {1, 1, 0}, {0, 1, 9}, {1, 1, 9}};
    assert_int_equal(s.tree.count, 7);
    for (uint32_t i = 0; i < COUNT_OF(rows); i++) {
        const struct scenario_association *row = &s.associations.items[i];
        assert_int_equal(row->depth, rows[i].depth);
        assert_int_equal(s.tree.shares[row->node], rows[i].shares);
        assert_true(s.priority_of_node[row->node] == rows[i].priority);
        assert_int_equal(s.row_of_node[row->node], i);
    }
    scenario_release(&s);
}

static void the_association_of_the_partition_comes_first(void **unused)
{
    struct scenario s;
    (void)unused;
    read_good(
        "{'now': 1, 'partitions': [{'name': 'p'}, {'name': 'q'}],"
        " 'tree': [{'account': 'a'}, {'account': 'a', 'user': 'u'}, {'account': 'a', 'user': 'u', 'partition': 'q'},"
        " {'account': 'a', 'user': 'v', 'partition': 'q'}],"
        " 'jobs': [{'id': 1, 'user': 'u', 'submit': 1, 'partition': ['q', 'p']}, {'id': 2, 'user': 'v', 'submit': 1},"
        " {'id': 3, 'user': 'w', 'submit': 1}, {'id': 4, 'user': 'w', 'account': 'a', 'submit': 1}]}",
        &s);
    assert_int_equal(s.jobs.items[0].partitions[0], 1);
    assert_int_equal(scenario_node_of(&s, &s.jobs.items[0], 1), s.associations.items[2].node);
    assert_int_equal(scenario_node_of(&s, &s.jobs.items[0], 0), s.associations.items[1].node);
    assert_int_equal(scenario_node_of(&s, &s.jobs.items[1], 1), s.associations.items[3].node);
    assert_int_equal(scenario_node_of(&s, &s.jobs.items[1], 0), NONE);
    assert_null(s.jobs.items[2].account);
    assert_int_equal(scenario_node_of(&s, &s.jobs.items[2], 0), NONE);
    assert_int_equal(scenario_node_of(&s, &s.jobs.items[3], 0), NONE);
    scenario_release(&s);
}

/* --- the ticket policies' own --------------------------------------------------------------------------------------- */

static void members_and_requests(void **unused)
{
    struct scenario s;
    (void)unused;
    read_good(
        "{'now': 100, 'settings': {'auto_user_fshare': 5}, 'projects': [{'name': 'P', 'fshare': 7, 'usage': {'cpu': "
        "1}}], 'departments': [{'name': 'd', 'oticket': 2}], 'users': [{'name': 'u', 'fshare': 3, 'oticket': 4, "
        "'department': 'd', 'usage': {'cpu': 1.5, 'io': 2}, 'usage_time': 40, 'project_usage': {'P': {'mem': 9}}}],"
        " 'resources': [{'name': 'lic', 'urgency': 10}, {'name': 'mem', 'type': 'MEMORY', 'urgency': 0.5}, {'name': "
        "'slots', 'urgency': 12}, {'name': 'os', 'type': 'STRING', 'urgency': 3}],"
        " 'jobs': [{'id': 1, 'user': 'u', 'project': 'P', 'submit': 1, 'slots': [2, 8], 'urgency_slots': 'max', "
        "'request': {'lic': 2, 'mem': '2K', 'os': 'linux'}}, {'id': 2, 'user': 'new', 'submit': 1, 'slots': 3}]}",
        &s);
    assert_int_equal(s.users.count, 2);
    assert_int_equal(s.users.items[0].fshare, 3);
    assert_int_equal(s.users.items[0].usage.used[USAGE_IO], 2);
    assert_true(s.users.items[0].usage_us == 40000000);
    assert_int_equal(s.users.items[0].project_usage.items[0].usage.used[USAGE_MEM], 9);
    assert_string_equal(s.departments.items[s.users.items[0].department].object.name, "d");
    assert_int_equal(s.users.items[1].fshare, 5);
    assert_string_equal(s.departments.items[s.users.items[1].department].object.name, "defaultdepartment");
    assert_int_equal(s.slots_urgency, 12);

    const struct scenario_job *job = &s.jobs.items[0];
    assert_int_equal(job->slots_min, 2);
    assert_int_equal(job->slots_max, 8);
    assert_int_equal(job->slots_rule, URGENCY_SLOTS_MAX);
    assert_int_equal(job->request_count, 3);
    assert_int_equal(job->requests[0].value, 2);
    assert_int_equal(job->requests[1].value, 2048);
    assert_true(job->requests[2].is_text);
    assert_int_equal(s.jobs.items[1].slots_max, 3);
    assert_int_equal(s.jobs.items[1].member, 1);
    scenario_release(&s);
}

static void users_nobody_named(void **unused)
{
    struct scenario s;
    (void)unused;
    read_good("{'now': 1, 'settings': {'enforce_user': 'none'}, 'jobs': [{'id': 1, 'user': 'u', 'submit': 1}]}", &s);
    assert_int_equal(s.jobs.items[0].member, NONE);
    scenario_release(&s);
    static const struct refusal rows[] = {
        {"{'now': 1, 'settings': {'PriorityType': 'priority/tickets', 'enforce_user': true}, 'jobs': [{'id': 1, 'user': "
         "'u', 'submit': 1}]}",
         "F: jobs[0].user: 'u' is not a user of this document, and enforce_user is true"},
    };
    check_refusals(rows, COUNT_OF(rows));
}

/* --- refusals ------------------------------------------------------------------------------------------------------- */

static void what_is_no_json_has_a_place(void **unused)
{
    static const struct refusal rows[] = {
        {"", "F:1:1: '[' or '{' expected near end of file"},
        {"{'now': 1,\n 'x' 2}", "F:2:6: ':' expected near '2'"},
        {"{'now': 1, 'now': 2}", "F:1:16: duplicate object key near '\"now\"'"},
        {"{'now': 1e999}", "F:1:13: real number overflow near '1e999'"},
        {"{'now': '\\u0000'}", "F:1:16: U+0000 in a text"},
    };
    (void)unused;
    check_refusals(rows, COUNT_OF(rows));
}

static void what_is_wrong_has_a_path(void **unused)
{
    static const struct refusal rows[] = {
        {"[]", "F: the document: a list is not an object"},
        {"{}", "F: now: it is needed: the moment that everything is asked for"},
        {"{'now': 1, 'settings': {'load_formula': []}}",
         "F: settings.load_formula: a list is not a text, a number, true or false"},
        {"{'now': 1, 'hosts': [{'name': 'n', 'cpus': 4.5}]}",
         "F: hosts[0].cpus: 4.5 is not a whole number from 0 to 4294967295"},
        {"{'now': 1, 'hosts': [{'name': 'n', 'gres': {'': 1}}]}",
         "F: hosts[0].gres: a GRES is named with 1 to 255 printable bytes, like gpu or gpu:tesla"},
        {"{'now': 1.5}", "F: now: 1.5 is not a moment: seconds since 1970, or a text like '2026-11-21T09:05:00Z'"},
        {"{'now': 1, 'settings': {'PriorityWeightAgee': 1}}",
         "F: settings: 'PriorityWeightAgee' is not a setting of Slurm, Grid Engine or Fairlead"},
        {"{'now': 1, 'settings': {'PriorityWeightAge': -1}}",
         "F: settings.PriorityWeightAge: '-1' is not a whole number from 0 to 4294967295"},
        {"{'now': 1, 'settings': {'halflife_s': 1, 'PriorityDecayHalfLife': 1}}",
         "F: settings.PriorityDecayHalfLife: it is said twice"},
        {"{'now': 1, 'settings': {'weight_ticket': []}}",
         "F: settings.weight_ticket: a list is not a text, a number, true or false"},
        {"{'now': 1, 'hosts': [{'name': 'a'}, {}]}", "F: hosts[1]: 'name' is needed"},
        {"{'now': 1, 'hosts': [{'name': 'a', 'cpus': 4294967295}, {'name': 'b'}]}",
         "F: hosts: 4294967296 CPUs in all; at most 4294967295"},
        {"{'now': 1, 'hosts': [{'name': 'a', 'mem': '4X'}]}",
         "F: hosts[0].mem: '4X' is not an amount of memory: whole MiB, or a text like '4G'"},
        {"{'now': 1, 'partitions': [{'name': 'p', 'PriorityJobFactor': 70000}]}",
         "F: partitions[0].PriorityJobFactor: '70000' is not a whole number from 0 to 65533"},
        {"{'now': 1, 'partitions': [{'name': 'p', 'PriorityTier': 1, 'prioritytier': 1}]}",
         "F: partitions[0].prioritytier: it is said twice"},
        {"{'now': 1, 'partitions': [{'name': 'p', 'colour': 1}]}",
         "F: partitions[0]: no key 'colour'; there are: name, hosts, PriorityJobFactor, PriorityTier, MaxTime, "
         "TRESBillingWeights, fshare, oticket"},
        {"{'now': 1, 'partitions': [{'name': 'p'}, {'name': 'p'}]}",
         "F: partitions[1].name: 'p' is there already, at [0]"},
        {"{'now': 1, 'hosts': [{'name': 'h'}], 'partitions': [{'name': 'p', 'hosts': ['h', 'i']}]}",
         "F: partitions[0].hosts[1]: 'i' is not a host of this document"},
        {"{'now': 1, 'users': [{'name': 'u', 'usage': {'cpu': 1e19}}]}",
         "F: users[0].usage.cpu: 1e+19 is not a number from 0 to 1e+18"},
        {"{'now': 1, 'users': [{'name': 'u', 'project_usage': {'P': {'cpu': 1}}}]}",
         "F: users[0].project_usage.P: there is no such project in this document"},
    };
    (void)unused;
    check_refusals(rows, COUNT_OF(rows));
}

static void trees_that_are_none(void **unused)
{
    static const struct refusal rows[] = {
        {"{'now': 1, 'tree': [{'account': 'a', 'parent': 'b'}, {'account': 'b', 'parent': 'c'}, {'account': 'c', 'parent': "
         "'b'}]}",
         "F: tree[0]: the accounts above 'a' go round in a circle"},
        {"{'now': 1, 'tree': [{'account': 'a', 'parent': 'x'}]}",
         "F: tree[0].parent: 'x' is not an account of this document"},
        {"{'now': 1, 'tree': [{'account': 'a', 'user': 'u'}]}",
         "F: tree[0].account: 'a' is not an account of this document"},
        {"{'now': 1, 'tree': [{'account': 'a'}, {'account': 'a'}]}",
         "F: tree[1].account: 'a' is there already, at [0]"},
        {"{'now': 1, 'tree': [{'account': 'root', 'user': 'u'}, {'account': 'root', 'user': 'u'}]}",
         "F: tree[1]: user 'u' in account 'root' is there already, at [0]"},
        {"{'now': 1, 'tree': [{'account': 'a', 'shares': 2147483647}]}",
         "F: tree[0].shares: 2147483647 is not a whole number from 0 to 2147483646"},
        {"{'now': 1, 'tree': [{'account': 'a', 'usage': -1}]}", "F: tree[0].usage: -1 is not a number from 0 to 1e+18"},
        {"{'now': 1, 'tree': [{'account': 'a', 'usage_tres': {'gres/x': 1}}]}",
         "F: tree[0].usage_tres.gres/x: no such TRES; AccountingStorageTRES names those beyond cpu, mem, node ..."},
        {"{'now': 1, 'share_tree': {'name': 'Root', 'children': [{'name': 'u', 'shares': -1}]}}",
         "F: share_tree.children[0].shares: -1 is not a whole number from 0 to 2147483646"},
        {"{'now': 1, 'share_tree': {'name': 'Root', 'children': [{'name': 'u'}, {'name': 'u'}]}}",
         "F: share_tree: 'u' occurs twice below 'Root'"},
    };
    (void)unused;
    check_refusals(rows, COUNT_OF(rows));
}

static void jobs_that_are_none(void **unused)
{
#define JOB(rest) "{'now': 1, 'partitions': [{'name': 'p'}], 'jobs': [{'id': 1, 'user': 'u', 'submit': 1, " rest "}]}"
    static const struct refusal rows[] = {
        {"{'now': 1, 'jobs': [{'id': 1, 'user': 'u'}]}", "F: jobs[0]: 'submit' is needed"},
        {"{'now': 1, 'jobs': [{'id': 0, 'user': 'u', 'submit': 1}]}",
         "F: jobs[0].id: 0 is not a whole number from 1 to 4294967294"},
        {"{'now': 1, 'jobs': [{'id': 1, 'user': 'u', 'submit': 1}, {'id': 1, 'user': 'u', 'submit': 1}]}",
         "F: jobs[1].id: 1 is there already, at [0]"},
        {JOB("'partition': 'fats'"), "F: jobs[0].partition: 'fats' is not a partition of this document"},
        {JOB("'partition': ['p', 'p']"), "F: jobs[0].partition[1]: the partition is there already"},
        {JOB("'qos': 'q'"), "F: jobs[0].qos: 'q' is not a qos of this document, which has none"},
        {JOB("'state': 'DONE'"), "F: jobs[0].state: 'DONE' is not PENDING, RUNNING or HELD"},
        {JOB("'tres': 'gres/gpu=1'"), "F: jobs[0].tres: 'gres/gpu' is not a tracked TRES (AccountingStorageTRES)"},
        {JOB("'slots': [3, 2]"), "F: jobs[0].slots: the most, 2, is below the least, 3"},
        {JOB("'request': {'lic': 1}"), "F: jobs[0].request.lic: 'lic' is not a resource of this document"},
        {JOB("'posix_priority': 1025"), "F: jobs[0].posix_priority: 1025 is not a whole number from -1023 to 1024"},
        {JOB("'nice': 2147483646"), "F: jobs[0].nice: 2147483646 is not a whole number from -2147483645 to 2147483645"},
        {JOB("'state': 'RUNNING', 'array_tasks': 2"),
         "F: jobs[0].array_tasks: 2 are pending tasks, but the job is RUNNING"},
    };
#undef JOB
    (void)unused;
    check_refusals(rows, COUNT_OF(rows));
}

/* Accounts one below the other; the first at the end when is_turned. */
static int read_chain(uint32_t count, bool is_turned, struct err *e)
{
    struct buf text = {0};
    struct scenario s;
    buf_add_text(&text, "{'now': 1, 'tree': [");
    for (uint32_t i = 0; i < count; i++) {
        uint32_t n = is_turned ? count - 1 - i : i;
        buf_format(&text, "%s{'account': 'a%u'", i > 0 ? "," : "", n);
        if (n > 0) buf_format(&text, ", 'parent': 'a%u'", n - 1);
        buf_add_char(&text, '}');
    }
    buf_add_text(&text, "]}");
    int status = read_quoted(text.text, &s, e);
    scenario_release(&s);
    buf_release(&text);
    return status;
}

static void trees_are_at_most_so_deep(void **unused)
{
    struct err e;
    (void)unused;
    for (int turned = 0; turned < 2; turned++) {
        assert_int_equal(read_chain(TREE_DEPTH_MAX, turned, &e), 0);
        assert_int_equal(read_chain(TREE_DEPTH_MAX + 1, turned, &e), -1);
        assert_non_null(strstr(ERR_SENTENCE(&e), "more than 64 levels deep"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_least_document),
        cmocka_unit_test(a_job_by_default),
        cmocka_unit_test(whole_numbers_may_have_a_point),
        cmocka_unit_test(settings_are_texts_numbers_or_booleans),
        cmocka_unit_test(keywords_that_decide_nothing_are_passed_over),
        cmocka_unit_test(totals_are_sums_over_the_partitions_hosts),
        cmocka_unit_test(typed_gres_count_for_their_generic_tracked_or_not),
        cmocka_unit_test(a_jobs_tres_stand_for_cpus_nodes_and_mem),
        cmocka_unit_test(accounts_may_stand_behind_what_is_in_them),
        cmocka_unit_test(the_association_of_the_partition_comes_first),
        cmocka_unit_test(members_and_requests),
        cmocka_unit_test(users_nobody_named),
        cmocka_unit_test(what_is_no_json_has_a_place),
        cmocka_unit_test(what_is_wrong_has_a_path),
        cmocka_unit_test(trees_that_are_none),
        cmocka_unit_test(jobs_that_are_none),
        cmocka_unit_test(trees_are_at_most_so_deep),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
