/* Documents: the state that they are read into, and the messages for those that are refused. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "sim/scenario.h"

#define COUNT_OF(rows) (sizeof(rows) / sizeof *(rows))

/* Reads a document that is written with ' instead of ". */
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

static const struct job *job_at(const struct scenario *s, uint32_t position)
{
    assert_true(position < s->job_count);
    return &s->state.jobs.items[s->jobs[position]];
}

static const struct assoc *assoc_of(const struct scenario *s, uint32_t position)
{
    return &s->state.assocs.items[job_at(s, position)->assoc];
}

static const struct object_row *object_row_at(const struct scenario *s, enum object_kind kind, const char *name)
{
    uint32_t index = state_find_object(&s->state, kind, name);
    assert_int_not_equal(index, NONE);
    return &s->state.objects[kind].items[index];
}

/* The node of the association of a job in a partition; NONE: it is outside of the tree. */
static uint32_t node_of(struct scenario *s, uint32_t position, const char *partition)
{
    uint32_t index = state_find_object(&s->state, OBJECT_PARTITION, partition);
    state_tree(&s->state);
    return s->state.node_of.items[state_assoc_in_partition(&s->state, job_at(s, position)->assoc, index)];
}

static uint32_t node_of_row(struct scenario *s, uint32_t row)
{
    state_tree(&s->state);
    return s->state.node_of.items[s->associations[row]];
}

/* --- defaults ----------------------------------------------------------------------------------------------------- */

static void the_smallest_document(void **unused)
{
    struct scenario s;
    (void)unused;
    read_good("{'now': 1795243000}", &s);
    assert_true(s.now_us == INT64_C(1795243000000000));
    assert_int_equal(s.state.policy.model, MODEL_MULTIFACTOR);
    assert_int_equal(s.state.policy.share.algorithm, ALGORITHM_FAIR_TREE);
    assert_true(s.state.policy.multifactor.weight_fair_share < 1.0); /* no weight but the given ones */
    assert_int_equal(s.state.objects[OBJECT_PARTITION].count, 1);
    assert_string_equal(s.state.objects[OBJECT_PARTITION].items[0].object.name, "");
    assert_int_equal(state_tree(&s.state)->count, 1);
    assert_int_equal(s.state.hosts.count, 0);
    assert_int_equal(s.job_count, 0);
    assert_int_equal(s.association_count, 0);
    assert_null(s.state.share_nodes);
    scenario_release(&s);
}

static void defaults_of_a_job(void **unused)
{
    struct scenario s;
    (void)unused;
    read_good(
        "{'now': '2026-11-21T09:05:00Z', 'partitions': [{'name': 'batch'}, {'name': 'fast'}],"
        " 'tree': [{'account': 'a'}, {'account': 'b'}, {'account': 'b', 'user': 'u'}, {'account': 'a', 'user': 'u'}],"
        " 'jobs': [{'id': 7, 'user': 'u', 'submit': 1795251800}]}",
        &s);
    const struct job *job = job_at(&s, 0);
    assert_true(s.now_us == INT64_C(1795251900000000));
    assert_string_equal(assoc_of(&s, 0)->account, "b"); /* the user's first */
    assert_int_equal(job->partition_count, 1);
    assert_int_equal(job->partitions[0], 0);
    assert_true(job->begin_us == job->submit_us);
    assert_int_equal(job->document->rank, 0);
    assert_int_equal(idset_count(&job->pending), 1);
    assert_false(job->is_held);
    assert_string_equal(s.state.objects[OBJECT_QOS].items[job->qos].object.name, "");
    assert_int_equal(job->request.cpus, 1);
    assert_int_equal(job->document->nodes, 1);
    assert_int_equal(job->document->tres.count, 0); /* the TRES follow from cpus, nodes and mem */
    assert_int_equal(node_of(&s, 0, "batch"), node_of_row(&s, 2));
    scenario_release(&s);
}

/* --- settings ----------------------------------------------------------------------------------------------------- */

/* The amount of a TRES in a partition, as the engine sums up its hosts. */
static double total(const struct scenario *s, const char *partition, const char *tres)
{
    const struct object_row *p = object_row_at(s, OBJECT_PARTITION, partition);
    uint32_t index = tres_find(&s->state.policy.tres, str(tres)),
             count = p->hosts ? p->host_count : s->state.hosts.count;
    double sum = 0.0;
    for (uint32_t i = 0; i < count; i++) sum += s->state.hosts.items[p->hosts ? p->hosts[i] : i].tres[index];
    return sum;
}

static void whole_numbers_may_have_a_decimal_point(void **unused)
{
    struct scenario s;
    (void)unused;
    read_good("{'now': 1795243000.0, 'hosts': [{'name': 'n', 'cpus': 4.0, 'mem': 1024.0}], 'tree': [{'account': 'a', "
              "'shares': 3.0}], 'jobs': [{'id': 2.0, 'user': 'u', 'submit': 1.0, 'nice': -5.0, 'slots': [2.0, 8e0], "
              "'job_share': 4.0}]}",
              &s);
    assert_true(s.now_us == INT64_C(1795243000000000));
    assert_int_equal(s.state.hosts.items[0].host.has.cpus, 4);
    assert_true(total(&s, "", "mem") > 1023.5 && total(&s, "", "mem") < 1024.5);
    assert_int_equal(s.state.assocs.items[s.associations[0]].shares, 3);
    assert_int_equal(job_at(&s, 0)->id, 2);
    assert_int_equal(job_at(&s, 0)->nice, -5);
    assert_int_equal(job_at(&s, 0)->document->slots, 2);
    assert_int_equal(job_at(&s, 0)->slots_max, 8);
    assert_int_equal(job_at(&s, 0)->job_share, 4);
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
    assert_true(s.state.policy.multifactor.weight_age > 999.0 && s.state.policy.multifactor.weight_age < 1001.0);
    assert_true(s.state.policy.multifactor.max_age_s == 7 * 86400);
    assert_true(s.state.policy.multifactor.favor_small);
    assert_int_equal(s.state.policy.share.algorithm, ALGORITHM_CLASSIC);
    assert_int_equal(s.state.policy.share.dampening, 3);
    assert_true(s.state.policy.urgency.weight_ticket > 0.0099 && s.state.policy.urgency.weight_ticket < 0.0101);
    assert_false(s.state.policy.tickets.share_functional_shares);
    assert_int_equal(s.state.policy.tickets.compensation_factor, 5);
    assert_int_equal(s.state.policy.tickets.decay.minutes[USAGE_CPU], 24 * 60);
    scenario_release(&s);
}

/* --- hosts and partitions ----------------------------------------------------------------------------------------- */

/* Keywords of qconf -ssconf and slurm.conf. */
static void keywords_without_effect_are_ignored(void **unused)
{
    struct scenario s;
    (void)unused;
    read_good(
        "{'now': 1, 'settings': {'algorithm': 'default', 'schedule_interval': '0:0:15', 'maxujobs': 0, "
        "'load_formula': 'np_load_avg', 'enforce_project': 'false', 'weight_ticket': 0.25, 'PriorityCalcPeriod': 5, 'prioritycalcperiod': '1', "
        "'PriorityUsageResetPeriod': 'NONE'}}",
        &s);
    assert_true(s.state.policy.urgency.weight_ticket > 0.24 && s.state.policy.urgency.weight_ticket < 0.26);
    scenario_release(&s);
}

static void totals_are_sums_over_the_partitions_hosts(void **unused)
{
    struct scenario s;
    (void)unused;
    read_good(
        "{'now': 1, 'settings': {'AccountingStorageTRES': 'gres/gpu,gres/gpu:tesla,license/x'},"
        " 'hosts': [{'name': 'n1', 'cpus': 16, 'mem': '64G', 'gres': {'gpu': 4, 'gpu:tesla': 2}},"
        "           {'name': 'n2', 'cpus': 8, 'mem': 1000, 'gres': {'gpu:tesla': 3}}, {'name': 'n3'}],"
        " 'partitions': [{'name': 'all'}, {'name': 'some', 'hosts': ['n2', 'n3']}, {'name': 'none', 'hosts': []}]}",
        &s);
    const struct {
        const char *partition;
        const char *tres;
        double expected;
    } rows[] = {
        {"all", "cpu", 25},           {"all", "mem", 66536},
        {"all", "node", 3},           {"all", "gres/gpu", 7},
        {"all", "gres/gpu:tesla", 5}, {"some", "cpu", 9},
        {"some", "mem", 1000},        {"some", "node", 2},
        {"some", "gres/gpu", 3},      {"some", "gres/gpu:tesla", 3},
        {"none", "cpu", 0},           {"none", "gres/gpu", 0.0},
        {"all", "license/x", 0.0},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        assert_true(fabs(total(&s, rows[i].partition, rows[i].tres) - rows[i].expected) < 1e-9);
    scenario_release(&s);
}

static void typed_gres_count_as_generic_ones(void **unused)
{
    const struct {
        const char *tracked, *gres;
        double gpus;
    } rows[] = {
        {"gres/gpu", "{'gpu:tesla': 2, 'gpu:a100': 3}", 5},
        {"gres/gpu,gres/gpu:tesla", "{'gpu:tesla': 2, 'gpu:a100': 3}", 5},
        {"gres/gpu", "{'gpu': 0, 'gpu:a100': 3}", 3},
        {"gres/gpu", "{'gpu:a100': 3, 'gpu': 8}", 8},
        {"gres/gpu,gres/gpus,gres/gp", "{'gpus:a100': 3, 'gp:u': 8}", 0},
    };
    (void)unused;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char document[200];
        struct scenario s;
        text_format(document, sizeof document,
                    "{'now': 1, 'settings': {'AccountingStorageTRES': '%s'}, 'hosts': [{'name': 'n', 'gres': %s}]}",
                    rows[i].tracked, rows[i].gres);
        read_good(document, &s);
        assert_true(fabs(total(&s, "", "gres/gpu") - rows[i].gpus) < 1e-9);
        scenario_release(&s);
    }
}

/* cpus and nodes are those of the job's size, even beside a list of TRES. */
static void tres_of_a_job_replace_mem_and_defaults(void **unused)
{
    struct scenario s;
    (void)unused;
    read_good("{'now': 1, 'settings': {'AccountingStorageTRES': 'gres/gpu,gres/gpu:tesla', 'PriorityFlags': "
              "'CALCULATE_RUNNING'}, 'jobs': ["
              "{'id': 1, 'user': 'u', 'submit': 1, 'cpus': 4, 'nodes': 3, 'mem': '2G', 'state': 'RUNNING'},"
              "{'id': 2, 'user': 'u', 'submit': 1, 'tres': 'cpu=4,node=2,gres/gpu:tesla=1', 'state': 'RUNNING'},"
              "{'id': 4, 'user': 'u', 'submit': 1, 'cpus': 0, 'nodes': 1, 'tres': 'cpu=4,node=2', 'state': 'RUNNING'},"
              "{'id': 3, 'user': 'u', 'submit': 1, 'cpus': 4, 'nodes': 3, 'tres': 'mem=8G', 'state': 'RUNNING'},"
              "{'id': 5, 'user': 'u', 'submit': 1, 'gpus': 'tesla:2,1', 'nodes': 2, 'mem_per_cpu': '1G', 'cpus': 3, "
              "'state': 'RUNNING'},"
              "{'id': 6, 'user': 'u', 'submit': 1, 'gpus_per_slot': 'tesla:1', 'cpus': 3, 'state': 'RUNNING'}]}",
              &s);
    const struct {
        const char *tres;
        uint32_t cpus, nodes;
    } rows[] = {
        {"cpu=4,mem=2048,node=3", 4, 3},
        {"cpu=4,node=2,gres/gpu=1,gres/gpu:tesla=1", 4, 2},
        {"cpu=4,node=2", 0, 1},
        {"mem=8192", 4, 3},
        {"cpu=3,mem=3072,node=2,gres/gpu=6,gres/gpu:tesla=4", 3, 2},
        {"cpu=3,node=1,gres/gpu=3,gres/gpu:tesla=3", 3, 1},
    };
    assert_int_equal(s.state.tasks.count, COUNT_OF(rows));
    for (uint32_t i = 0; i < COUNT_OF(rows); i++) {
        struct buf text = {0};
        const struct task *k = &s.state.tasks.items[state_find_task(&s.state, job_at(&s, i)->id, 0)];
        tres_list_format(&s.state.policy.tres, &k->tres, &text);
        assert_string_equal(text.text, rows[i].tres);
        assert_int_equal(task_cpu_count(k), rows[i].cpus);
        assert_int_equal(job_at(&s, i)->request.cpus, rows[i].cpus);
        assert_int_equal(job_at(&s, i)->document->nodes, rows[i].nodes);
        buf_release(&text);
    }
    scenario_release(&s);
}

/* --- trees -------------------------------------------------------------------------------------------------------- */

static void an_account_may_come_after_its_members(void **unused)
{
    struct scenario s;
    struct arena arena = {0};
    struct share_table table;
    (void)unused;
    read_good(
        "{'now': 1, 'tree': [{'account': 'c', 'user': 'x'}, {'account': 'c', 'parent': 'b', 'shares': 'parent'},"
        " {'account': 'a', 'priority': 3}, {'account': 'b', 'parent': 'a', 'shares': 0}, {'account': 'root', 'user': "
        "'root', 'priority': 0}, {'account': 'root', 'priority': 9}, {'account': 'd', 'priority': 'parent'}]}",
        &s);
    const struct {
        const char *account, *user, *parent;
        uint32_t depth, shares;
        uint32_t priority;
    } rows[] = {
        {"c", "x", "b", 4, 1, NONE},     {"c", NULL, "b", 3, SHARES_PARENT, NONE}, {"a", NULL, "root", 1, 1, 3},
        {"b", NULL, "a", 2, 0, NONE},    {"root", "root", NULL, 1, 1, 0},          {"root", NULL, NULL, 0, 1, 9},
        {"d", NULL, "root", 1, 1, NONE},
    };
    scenario_shares(&s, &s.state.policy.share, &arena, &table);
    assert_int_equal(table.count, 7);
    assert_int_equal(s.association_count, COUNT_OF(rows));
    for (uint32_t i = 0; i < COUNT_OF(rows); i++) {
        struct share_values row;
        scenario_share_row(&s, &table, i, &row);
        assert_string_equal(row.value[SHARE_FIELD_ACCOUNT].text, rows[i].account);
        assert_int_equal(row.value[SHARE_FIELD_USER].text != NULL, rows[i].user != NULL);
        if (rows[i].parent == NULL) assert_null(row.value[SHARE_FIELD_PARENT_ACCOUNT].text);
        if (rows[i].parent != NULL) assert_string_equal(row.value[SHARE_FIELD_PARENT_ACCOUNT].text, rows[i].parent);
        assert_int_equal(row.value[SHARE_FIELD_DEPTH].number, rows[i].depth);
        assert_int_equal(s.state.tree.shares[node_of_row(&s, i)], rows[i].shares);
        assert_int_equal(s.state.assocs.items[s.associations[i]].priority, rows[i].priority);
    }
    arena_release(&arena);
    scenario_release(&s);
}

/* Users and sub-accounts of an account are in the order of the list. */
static void siblings_keep_the_order_of_the_list(void **unused)
{
    struct scenario s;
    (void)unused;
    read_good("{'now': 1, 'tree': [{'account': 'a'}, {'account': 'b', 'parent': 'a'}, {'account': 'a', 'user': 'u'}, "
              "{'account': 'c', 'parent': 'a'}, {'account': 'b', 'user': 'v'}]}",
              &s);
    const uint32_t nodes[] = {1, 2, 4, 5, 3};
    for (uint32_t i = 0; i < COUNT_OF(nodes); i++) assert_int_equal(node_of_row(&s, i), nodes[i]);
    scenario_release(&s);
}

static void the_association_of_a_partition_has_precedence(void **unused)
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
    assert_int_equal(job_at(&s, 0)->partitions[0], 1);
    assert_int_equal(node_of(&s, 0, "q"), node_of_row(&s, 2));
    assert_int_equal(node_of(&s, 0, "p"), node_of_row(&s, 1));
    assert_int_equal(node_of(&s, 1, "q"), node_of_row(&s, 3));
    assert_int_equal(node_of(&s, 1, "p"), NONE);
    assert_string_equal(assoc_of(&s, 2)->account, "");
    assert_string_equal(assoc_of(&s, 2)->user, "w");
    assert_int_equal(node_of(&s, 2, "p"), NONE);
    assert_int_equal(node_of(&s, 3, "p"), NONE);
    scenario_release(&s);
}

/* A job of an instance is of the association of its first partition, a task of that of its start. */
static void jobs_of_an_instance_are_of_the_association_of_their_first_partition(void **unused)
{
    struct scenario s;
    (void)unused;
    read_good(
        "{'now': 10, 'instance': true, 'partitions': [{'name': 'p'}, {'name': 'q'}],"
        " 'hosts': [{'name': 'localhost', 'cpus': 9, 'mem': 9000}],"
        " 'tree': [{'account': 'a'}, {'account': 'a', 'user': 'u'}, {'account': 'a', 'user': 'u', 'partition': 'q'}],"
        " 'jobs': [{'id': 1, 'user': 'u', 'submit': 1, 'partition': ['q', 'p']},"
        " {'id': 2, 'user': 'u', 'submit': 1, 'partition': ['p', 'q']},"
        " {'id': 3, 'user': 'u', 'submit': 1, 'partition': ['p', 'q'], 'state': 'RUNNING', 'places': {'q@localhost': 1}},"
        " {'id': 4, 'user': 'u', 'submit': 1, 'partition': 'q', 'state': 'RUNNING', 'association_partition': ''},"
        " {'id': 5, 'user': 'u', 'submit': 1, 'partition': 'p', 'tasks': '2', 'running':"
        " [{'task': 1, 'association_partition': 'q'}]}]}",
        &s);
    assert_string_equal(assoc_of(&s, 0)->partition, "q");
    assert_null(assoc_of(&s, 1)->partition);
    static const char *const of_tasks[] = {"q", NULL, "q"};
    for (uint32_t i = 0; i < COUNT_OF(of_tasks); i++) {
        const struct assoc *a = &s.state.assocs.items[s.state.tasks.items[i].assoc];
        assert_int_equal(a->work.running, of_tasks[i] != NULL ? 2 : 1); /* of its association */
        assert_int_equal(a->partition != NULL, of_tasks[i] != NULL);
    }
    scenario_release(&s);
}

/* --- ticket policies ---------------------------------------------------------------------------------------------- */

static const struct usage_owner *owner_of(const struct scenario *s, const char *user, const char *project)
{
    for (uint32_t i = 0; i < s->state.owners.count; i++) {
        const struct usage_owner *o = &s->state.owners.items[i];
        if (strcmp(o->user, user) == 0 && strcmp(o->project, project) == 0) return o;
    }
    fail_msg("no usage of '%s' in '%s'", user, project);
    return NULL;
}

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
    const struct object_row *u = object_row_at(&s, OBJECT_USER_POLICY, "u"),
                            *new = object_row_at(&s, OBJECT_USER_POLICY, "new");
    assert_int_equal(u->object.value[USER_FSHARE].number, 3);
    assert_string_equal(u->object.value[USER_DEPARTMENT].text, "d");
    assert_int_equal(new->object.value[USER_FSHARE].number, 5);
    assert_string_equal(new->object.value[USER_DEPARTMENT].text, "defaultdepartment");
    assert_true(object_row_at(&s, OBJECT_RESOURCE, "slots")->object.value[RESOURCE_URGENCY].real > 11.5);
    const struct usage_owner *outside = owner_of(&s, "u", ""), *in_project = owner_of(&s, "u", "P");
    assert_int_equal(outside->usage.used[USAGE_IO], 2);
    assert_true(outside->at_us == 40000000);
    assert_int_equal(in_project->usage.used[USAGE_MEM], 9);
    assert_true(in_project->at_us == 40000000);
    assert_int_equal(owner_of(&s, "", "P")->usage.used[USAGE_CPU], 1);

    const struct job *job = job_at(&s, 0);
    assert_int_equal(job->document->slots, 2);
    assert_int_equal(job->slots_max, 8);
    assert_true(job->document->has_slots_rule);
    assert_int_equal(job->document->slots_rule, URGENCY_SLOTS_MAX);
    assert_int_equal(job->request_count, 3);
    assert_int_equal(job->requests[0].amount, 2);
    assert_int_equal(job->requests[1].amount, 2048);
    assert_string_equal(job->requests[2].text, "linux");
    assert_int_equal(job_at(&s, 1)->slots_max, 3);
    assert_false(job_at(&s, 1)->document->has_slots_rule);
    scenario_release(&s);
}

static void fields_of_jobs_are_read_by_their_table(void **unused)
{
    struct scenario s;
    (void)unused;
    read_good(
        "{'now': 1, 'jobs': [{'id': 1, 'user': 'u', 'submit': 1, 'comment': 'why', 'time_limit_s': 60, 'nice': 3, "
        "'site': -4, 'set_priority': 9, 'posix_priority': 5, 'job_share': 6, 'override_tickets': 7}]}",
        &s);
    const struct job *job = job_at(&s, 0);
    assert_string_equal(job_rare(job)->comment, "why");
    assert_int_equal(job->time_limit_s, 60);
    assert_int_equal(job->nice, 3);
    assert_int_equal(job->site, -4);
    assert_int_equal(job->set_priority, 9);
    assert_int_equal(job->posix_priority, 5);
    assert_int_equal(job->job_share, 6);
    assert_int_equal(job->override_tickets, 7);
    scenario_release(&s);
}

static void users_that_the_document_does_not_define(void **unused)
{
    struct scenario s;
    (void)unused;
    read_good("{'now': 1, 'settings': {'enforce_user': 'none'}, 'jobs': [{'id': 1, 'user': 'u', 'submit': 1}]}", &s);
    assert_int_equal(s.state.objects[OBJECT_USER_POLICY].count, 0);
    scenario_release(&s);
    static const struct refusal rows[] = {
        {"{'now': 1, 'settings': {'PriorityType': 'priority/tickets', 'enforce_user': true}, 'jobs': [{'id': 1, 'user': "
         "'u', 'submit': 1}]}",
         "F: jobs[0].user: 'u' is not a user of this document, and enforce_user is true"},
    };
    check_refusals(rows, COUNT_OF(rows));
}

/* --- refusals ----------------------------------------------------------------------------------------------------- */

static void syntax_errors_have_line_and_column(void **unused)
{
    static const struct refusal rows[] = {
        {"", "F: is empty; a scenario is a JSON document"},
        {"\xef\xbb\xbf \n", "F: is empty; a scenario is a JSON document"},
        {"{'now': 1,\n 'x' 2}", "F:2:6: ':' expected near '2'"},
        {"{'now': 1, 'now': 2}", "F:1:16: duplicate object key near '\"now\"'"},
        {"{'now': 1e999}", "F:1:13: real number overflow near '1e999'"},
        {"{'now': '\\u0000'}", "F:1:16: U+0000 in a text"},
    };
    (void)unused;
    check_refusals(rows, COUNT_OF(rows));
}

static void wrong_values_have_a_path(void **unused)
{
    static const struct refusal rows[] = {
        {"[]", "F: the document: a list is not an object"},
        {"{}", "F: now: missing; the time at which priorities and shares are computed"},
        {"{'now': 1, 'settings': {'load_formula': []}}",
         "F: settings.load_formula: a list is not text, a number, true or false"},
        {"{'now': 1, 'hosts': [{'name': 'n', 'cpus': 4.5}]}",
         "F: hosts[0].cpus: '4.5' is not a whole number from 0 to 65536, or AUTO"},
        {"{'now': 1, 'hosts': [{'name': 'n', 'gres': {'': 1}}]}",
         "F: hosts[0].gres: not a name of a GRES: 1 to 255 printable bytes, such as gpu or gpu:tesla"},
        {"{'now': 1.5}", "F: now: 1.5 is not a time: seconds since 1970, or text such as '2026-11-21T09:05:00Z'"},
        {"{'now': 1, 'settings': {'PriorityWeightAgee': 1}}",
         "F: settings.PriorityWeightAgee: not a setting of Slurm, Grid Engine or Fairlead"},
        {"{'now': 1, 'settings': {'PriorityWeightAge': -1}}",
         "F: settings.PriorityWeightAge: '-1' is not a whole number from 0 to 4294967295"},
        {"{'now': 1, 'settings': {'halflife_s': 1, 'PriorityDecayHalfLife': 1}}",
         "F: settings.PriorityDecayHalfLife: the setting occurs twice"},
        {"{'now': 1, 'settings': {'weight_ticket': []}}",
         "F: settings.weight_ticket: a list is not text, a number, true or false"},
        {"{'now': 1, 'hosts': [{'name': 'a'}, {}]}", "F: hosts[1].name: missing; the host's name"},
        {"{'now': 1, 'hosts': [{'name': 'a', 'cpus': 65537}, {'name': 'b'}]}",
         "F: hosts[0].cpus: '65537' is not a whole number from 0 to 65536, or AUTO"},
        {"{'now': 1, 'hosts': [{'name': 'a', 'mem': '4X'}]}",
         "F: hosts[0].mem: '4X' is not an amount of memory: a number with an optional suffix K, M (default), G or T"},
        {"{'now': 1, 'partitions': [{'name': 'p', 'PriorityJobFactor': 70000}]}",
         "F: partitions[0].PriorityJobFactor: '70000' is not a whole number from 0 to 65533"},
        {"{'now': 1, 'partitions': [{'name': 'p', 'PriorityTier': 1, 'prioritytier': 1}]}",
         "F: partitions[0].prioritytier: occurs twice"},
        {"{'now': 1, 'partitions': [{'name': 'p', 'colour': 1}]}",
         "F: partitions[0]: 'colour' is not a field; the fields are: name, hosts, closed, pe_list, user_lists, xuser_lists, PriorityJobFactor, PriorityTier, MaxTime, TRESBillingWeights, fshare, oticket, slots, seq_no, load_thresholds, complex_values, state, QOS, DefaultTime, MinNodes, MaxNodes, MaxCPUsPerNode, MaxMemPerNode, DefMemPerCPU, AllowAccounts, DenyAccounts, AllowQos, DenyQos"},
        {"{'now': 1, 'partitions': [{'name': 'p'}, {'name': 'p'}]}", "F: partitions[1].name: 'p' occurs twice"},
        {"{'now': 1, 'hosts': [{'name': 'h'}], 'partitions': [{'name': 'p', 'hosts': ['h', 'i']}]}",
         "F: partitions[0].hosts: 'i' is not a host"},
        {"{'now': 1, 'users': [{'name': 'u', 'usage': {'cpu': 1e19}}]}",
         "F: users[0].usage.cpu: 1e+19 is not a number from 0 to 1e+18"},
        {"{'now': 1, 'users': [{'name': 'u', 'project_usage': {'P': {'cpu': 1}}}]}",
         "F: users[0].project_usage.P: not a project of this document"},
    };
    (void)unused;
    check_refusals(rows, COUNT_OF(rows));
}

static void invalid_trees(void **unused)
{
    static const struct refusal rows[] = {
        {"{'now': 1, 'tree': [{'account': 'a', 'parent': 'b'}, {'account': 'b', 'parent': 'c'}, {'account': 'c', 'parent': "
         "'b'}]}",
         "F: tree[0]: the accounts above 'a' form a circle"},
        {"{'now': 1, 'tree': [{'account': 'a', 'parent': 'x'}]}",
         "F: tree[0].parent: 'x' is not an account of this document"},
        {"{'now': 1, 'tree': [{'account': 'a', 'user': 'u'}]}",
         "F: tree[0].account: 'a' is not an account of this document"},
        {"{'now': 1, 'tree': [{'account': 'a'}, {'account': 'a'}]}", "F: tree[1].account: 'a' occurs twice"},
        {"{'now': 1, 'tree': [{'account': 'root', 'user': 'u'}, {'account': 'root', 'user': 'u'}]}",
         "F: tree[1]: user 'u' occurs twice in account 'root'"},
        {"{'now': 1, 'tree': [{'account': 'a', 'shares': 2147483647}]}",
         "F: tree[0].shares: 2147483647 is not a whole number from 0 to 2147483646, or 'parent'"},
        {"{'now': 1, 'tree': [{'account': 'a', 'usage': -1}]}", "F: tree[0].usage: -1 is not a number from 0 to 1e+18"},
        {"{'now': 1, 'tree': [{'account': 'a', 'usage_tres': {'gres/x': 1}}]}",
         "F: tree[0].usage_tres.gres/x: not a tracked TRES; AccountingStorageTRES adds TRES to cpu, mem, node, ..."},
        {"{'now': 1, 'share_tree': {'name': 'Root', 'children': [{'name': 'u', 'shares': -1}]}}",
         "F: share_tree.children[0].shares: -1 is not a whole number from 0 to 2147483646"},
        {"{'now': 1, 'share_tree': {'name': 'Root', 'children': [{'name': 'u'}, {'name': 'u'}]}}",
         "F: share_tree: 'u' occurs twice below 'Root'"},
        {"{'now': 1, 'projects': [{'name': 'P'}], 'share_tree': {'name': 'Root', 'children': [{'name': 'P', 'children': "
         "[{'name': 'default'}, {'name': 'g', 'children': [{'name': 'default'}]}]}]}}",
         "F: share_tree: 'default' occurs twice inside project 'P'"},
    };
    (void)unused;
    check_refusals(rows, COUNT_OF(rows));
}

static void invalid_jobs(void **unused)
{
#define JOB(rest) "{'now': 1, 'partitions': [{'name': 'p'}], 'jobs': [{'id': 1, 'user': 'u', 'submit': 1, " rest "}]}"
    static const struct refusal rows[] = {
        {"{'now': 1, 'jobs': [{'id': 1, 'user': 'u'}]}", "F: jobs[0].submit: missing; the time of submission"},
        {"{'now': 1, 'jobs': [{'id': 0, 'user': 'u', 'submit': 1}]}",
         "F: jobs[0].id: 0 is not a whole number from 1 to 4294967294"},
        {"{'now': 1, 'jobs': [{'id': 1, 'user': 'u', 'submit': 1}, {'id': 1, 'user': 'u', 'submit': 1}]}",
         "F: jobs[1].id: 1 occurs twice"},
        {"{'now': 10, 'instance': true, 'tree': [{'account': 'a'}, {'account': 'a', 'user': 'u'}],"
         " 'hosts': [{'name': 'localhost', 'cpus': 9, 'mem': 9000}],"
         " 'jobs': [{'id': 1, 'user': 'u', 'submit': 1, 'state': 'RUNNING', 'association_partition': 'main'}]}",
         "F: jobs[0].association_partition: user 'u' has no association for partition 'main' in account 'a'"},
        {JOB("'association_partition': 'p'"),
         "F: jobs[0].association_partition: is only accepted in the document of an instance"},
        {JOB("'partition': 'fats'"), "F: jobs[0].partition: 'fats' is not a partition of this document"},
        {JOB("'partition': ['p', 'p']"), "F: jobs[0].partition[1]: the partition occurs twice"},
        {JOB("'qos': 'q'"), "F: jobs[0].qos: 'q' is not a qos of this document, which has none"},
        {JOB("'state': 'DONE'"), "F: jobs[0].state: 'DONE' is not one of PENDING,RUNNING,HELD,SUSPENDED"},
        {JOB("'tres': 'gres/gpu=1'"), "F: jobs[0].tres: 'gres/gpu' is not a tracked TRES (AccountingStorageTRES)"},
        {JOB("'slots': [3, 2]"), "F: jobs[0].slots: the maximum, 2, is below the minimum, 3"},
        {JOB("'request': {'lic': 1}"), "F: jobs[0].request.lic: not a resource of this document"},
        {"{'now': 1, 'resources': [{'name': 'lic', 'type': 'INT'}], "
         "'jobs': [{'id': 1, 'user': 'u', 'submit': 1, 'request': {'lic': 'x'}}]}",
         "F: jobs[0].request.lic: 'x' is not a whole number from 0 to 9007199254740992"},
        {JOB("'posix_priority': 1025"), "F: jobs[0].posix_priority: '1025' is not a whole number from -1023 to 1024"},
        {JOB("'nice': 2147483646"),
         "F: jobs[0].nice: '2147483646' is not a whole number from -2147483645 to 2147483645"},
        {JOB("'state': 'RUNNING', 'array_tasks': 2"),
         "F: jobs[0].array_tasks: 2 tasks are pending, but the job is RUNNING"},
        {JOB("'state': 'SUSPENDED', 'array_tasks': 2"),
         "F: jobs[0].array_tasks: 2 tasks are pending, but the job is SUSPENDED"},
        {JOB("'state': 'SUSPENDED', 'array_limit': 2"),
         "F: jobs[0].array_limit: it limits pending tasks, but the job is SUSPENDED"},
        {JOB("'array_limit': -1"), "F: jobs[0].array_limit: -1 is not a whole number from 0 to 4294967294"},
        {JOB("'array_tasks': 3, 'running_tasks': 1"),
         "F: jobs[0].running_tasks: is only accepted with 'array_limit', or with the setting max_aj_instances"},
        {JOB("'array_limit': 0, 'running_tasks': 1"),
         "F: jobs[0].running_tasks: is only accepted with 'array_limit', or with the setting max_aj_instances"},
        {JOB("'state': 'SUSPENDED', 'suspended_by': 'root'"),
         "F: jobs[0].suspended_by: 'root' is not one of user,queue,threshold"},
        {JOB("'state': 'RUNNING', 'suspended_by': 'queue'"),
         "F: jobs[0].suspended_by: is only accepted with the state SUSPENDED"},
        {JOB("'suspended_by': 'user'"), "F: jobs[0].suspended_by: is only accepted with the state SUSPENDED"},
        {JOB("'seq': -1"), "F: jobs[0].seq: -1 is not a whole number from 0 to 9007199254740992"},
    };
#undef JOB
    (void)unused;
    check_refusals(rows, COUNT_OF(rows));
}

/* A key that could have no effect where it stands is refused. docs/scenarios.md lists those that are accepted without
 * one. */
static void keys_without_effect_are_refused(void **unused)
{
#define JOB(rest) \
    "{'now': 9, 'partitions': [{'name': 'p'}, {'name': 'q'}], 'jobs': [{'id': 1, 'user': 'u', 'submit': 1, " rest "}]}"
    static const struct refusal rows[] = {
        {JOB("'start': 5"),
         "F: jobs[0].start: is only accepted for a job that runs (RUNNING or SUSPENDED); this one is PENDING"},
        {JOB("'start': 5, 'state': 'HELD'"),
         "F: jobs[0].start: is only accepted for a job that runs (RUNNING or SUSPENDED); this one is HELD"},
        {JOB("'start': 10, 'state': 'RUNNING'"), "F: jobs[0].start: the job is RUNNING, but starts later than 'now'"},
        {JOB("'partition': ['q', 'p'], 'state': 'RUNNING'"),
         "F: jobs[0].partition: 2 partitions, but the job is RUNNING: give the one that it runs in"},
        {JOB("'eligible': null, 'state': 'RUNNING'"), "F: jobs[0].eligible: cannot be null: the job is RUNNING"},
        {JOB("'eligible': 10, 'state': 'RUNNING'"),
         "F: jobs[0].eligible: cannot be later than 'now': the job is RUNNING"},
        {JOB("'eligible': 10, 'state': 'SUSPENDED'"),
         "F: jobs[0].eligible: cannot be later than 'now': the job is SUSPENDED"},
        {JOB("'eligible': 'x'"),
         "F: jobs[0].eligible: 'x' is not a time: seconds since 1970, or text such as '2026-11-21T09:05:00Z'"},
        {JOB("'urgency_slots': 'max'"),
         "F: jobs[0].urgency_slots: is only accepted with a range: give 'slots' as one, such as [2, 8]"},
        {JOB("'urgency_slots': 'max', 'slots': 4"),
         "F: jobs[0].urgency_slots: is only accepted with a range: give 'slots' as one, such as [2, 8]"},
        {JOB("'tres': 'cpu=1', 'mem': 5"), "F: jobs[0].mem: differs from the memory in 'tres'; give it only there"},
        {"{'now': 9, 'settings': {'AccountingStorageTRES': 'license/m'}, 'resources': [{'name': 'n'}, {'name': 'm'}],"
         " 'jobs': [{'id': 1, 'user': 'u', 'submit': 1, 'request': {'n': 1, 'm': 2}, 'tres': 'cpu=1'}]}",
         "F: jobs[0].tres: the list replaces requested licences, and lacks license/m, which 'request' has"},
        {"{'now': 9, 'users': [{'name': 'u', 'deadline': false}], 'jobs': [{'id': 1, 'user': 'u', 'submit': 1,"
         " 'deadline': 99}]}",
         "F: jobs[0].deadline: user 'u' may not have one ('deadline' of the user is false)"},
        {"{'now': 9, 'departments': [{'name': 'd', 'usage': {'cpu': 1}}]}",
         "F: departments[0]: 'usage' is not a field; the fields are: name, fshare, oticket"},
        {"{'now': 9, 'users': [{'name': 'u', 'usage_time': 5}]}",
         "F: users[0].usage_time: is only accepted with 'usage' or 'project_usage'"},
        {"{'now': 9, 'projects': [{'name': 'u', 'usage': {}, 'usage_time': 5}]}",
         "F: projects[0].usage_time: is only accepted with 'usage'"},
        {"{'now': 9, 'projects': [{'name': 'u', 'usage_time': 5}]}",
         "F: projects[0].usage_time: is only accepted with 'usage'"},
        {"{'now': 9, 'settings': {'default_cpus': 4}}",
         "F: settings.default_cpus: without effect in a document; give each job its 'cpus'"},
        {"{'now': 9, 'settings': {'host_gpus': 'auto'}}",
         "F: settings.host_gpus: without effect in a document; give 'hosts'"},
        {"{'now': 9, 'settings': {'auto_user_default_project': 'p'}}",
         "F: settings.auto_user_default_project: 'p' is not none: give each job its 'project'"},
        {"{'now': 9, 'settings': {'maxujobs': -1}}",
         "F: settings.maxujobs: '-1' is not a whole number from 0 to 4294967295"},
        {"{'now': 9, 'settings': {'PriorityFlags': 'INCR_ONLI'}}",
         "F: settings.PriorityFlags: 'INCR_ONLI' is not one of ACCRUE_ALWAYS, CALCULATE_RUNNING, DEPTH_OBLIVIOUS, NO_FAIR_TREE, "
         "INCR_ONLY, MAX_TRES, MAX_TRES_GRES, NO_NORMAL_ALL, NO_NORMAL_ASSOC, NO_NORMAL_PART, NO_NORMAL_QOS, NO_NORMAL_TRES, "
         "SMALL_RELATIVE_TO_TIME, FAIR_TREE, TICKET_BASED"},
        {"{'now': 9, 'settings': {'PriorityWeightTRES': 'gres/gpu=1'}}",
         "F: settings.PriorityWeightTRES: 'gres/gpu' is not a tracked TRES (AccountingStorageTRES)"},
    };
#undef JOB
    (void)unused;
    check_refusals(rows, COUNT_OF(rows));
}

/* Each of these differs from a refused one in the key that gives the other its effect, or in the model. */
static void keys_with_effect_are_read(void **unused)
{
    static const char *const documents[] = {
        "{'now': 9, 'jobs': [{'id': 1, 'user': 'u', 'submit': 1, 'start': 5, 'state': 'RUNNING'}]}",
        "{'now': 9, 'jobs': [{'id': 1, 'user': 'u', 'submit': 1, 'eligible': 9, 'state': 'RUNNING'}]}",
        "{'now': 9, 'jobs': [{'id': 1, 'user': 'u', 'submit': 1, 'slots': [2, 2], 'urgency_slots': 'max'}]}",
        "{'now': 9, 'settings': {'AccountingStorageTRES': 'license/m'}, 'resources': [{'name': 'm', 'amount': 3}],"
        " 'jobs': [{'id': 1, 'user': 'u', 'submit': 1, 'request': {'m': 2}, 'tres': 'cpu=1,license/m=2'}]}",
        "{'now': 9, 'users': [{'name': 'u'}], 'jobs': [{'id': 1, 'user': 'u', 'submit': 1, 'deadline': 99},"
        " {'id': 2, 'user': 'v', 'submit': 1, 'deadline': 99}]}",
        "{'now': 9, 'settings': {'PriorityType': 'priority/tickets', 'auto_user_default_project': 'NONE'}, "
        "'resources': [{'name': 'm', 'amount': 3}], 'hosts': [{'name': 'n', 'gres': {'nic': 1}}]}",
        "{'now': 9, 'projects': [{'name': 'p'}], 'users': [{'name': 'u', 'usage_time': 5, 'project_usage': {'p': "
        "{'cpu': 1}}}]}",
    };
    (void)unused;
    for (size_t i = 0; i < COUNT_OF(documents); i++) {
        struct scenario s;
        read_good(documents[i], &s);
        scenario_release(&s);
    }
}

/* Reads accounts one below the other; the topmost is last if is_reversed. */
static int read_chain(uint32_t count, bool is_reversed, struct err *e)
{
    struct buf text = {0};
    struct scenario s;
    buf_add_text(&text, "{'now': 1, 'tree': [");
    for (uint32_t i = 0; i < count; i++) {
        uint32_t n = is_reversed ? count - 1 - i : i;
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

static void the_depth_of_trees_is_limited(void **unused)
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
        cmocka_unit_test(the_smallest_document),
        cmocka_unit_test(defaults_of_a_job),
        cmocka_unit_test(whole_numbers_may_have_a_decimal_point),
        cmocka_unit_test(settings_are_texts_numbers_or_booleans),
        cmocka_unit_test(keywords_without_effect_are_ignored),
        cmocka_unit_test(totals_are_sums_over_the_partitions_hosts),
        cmocka_unit_test(typed_gres_count_as_generic_ones),
        cmocka_unit_test(tres_of_a_job_replace_mem_and_defaults),
        cmocka_unit_test(an_account_may_come_after_its_members),
        cmocka_unit_test(siblings_keep_the_order_of_the_list),
        cmocka_unit_test(the_association_of_a_partition_has_precedence),
        cmocka_unit_test(jobs_of_an_instance_are_of_the_association_of_their_first_partition),
        cmocka_unit_test(fields_of_jobs_are_read_by_their_table),
        cmocka_unit_test(members_and_requests),
        cmocka_unit_test(users_that_the_document_does_not_define),
        cmocka_unit_test(syntax_errors_have_line_and_column),
        cmocka_unit_test(wrong_values_have_a_path),
        cmocka_unit_test(invalid_trees),
        cmocka_unit_test(invalid_jobs),
        cmocka_unit_test(keys_without_effect_are_refused),
        cmocka_unit_test(keys_with_effect_are_read),
        cmocka_unit_test(the_depth_of_trees_is_limited),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
