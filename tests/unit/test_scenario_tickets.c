/* Tickets, urgency and priority of documents, computed by hand from docs/formulas.md 5. */
#include "scenario_world.h"

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

/* Settings with which one user's jobs get 1000, 500, 333.3 tickets and so on, in the order of their selection. */
#define BY_USER                                                                                           \
    TICKETS "'weight_tickets_functional': 1000, 'weight_user': 1, 'weight_job': 0, 'weight_project': 0, " \
            "'weight_department': 0, "
#define USER_U "'users': [{'name': 'u', 'fshare': 1}], "

static void expect_functional(const char *document, const double *expected, uint32_t count)
{
    struct scenario s;
    const struct scenario_priorities rows = compute_document(document, &s);
    assert_int_equal(rows.count, count);
    for (uint32_t i = 0; i < count; i++) {
        if (!is_near(functional_tickets(&rows, i), expected[i]))
            fail_msg("row %u of %s: %.17g tickets, expected %.17g", i, document, functional_tickets(&rows, i),
                     expected[i]);
    }
    scenario_release(&s);
}

/* Of equal positions in the list, the first submission comes first, then the smallest id; whether the jobs are sorted
 * otherwise or not. */
static void ties_in_the_scheduler_list(void **unused)
{
#define LISTED(seq_of_4)                                                                                     \
    "{'now': 100, 'settings': {" BY_USER "'policy_hierarchy': 'NONE'}, " USER_U                              \
    "'jobs': [{'id': 1, 'user': 'u', 'submit': 9, 'seq': 5}, {'id': 2, 'user': 'u', 'submit': 3, 'seq': 5}," \
    " {'id': 3, 'user': 'u', 'submit': 3, 'seq': 5}, {'id': 4, 'user': 'u', 'submit': 20, 'seq': " seq_of_4 "}]}"
    (void)unused;
    expect_functional(LISTED("6"), (const double[]){1000.0 / 3, 1000, 500, 250}, 4);
    expect_functional(LISTED("5"), (const double[]){1000.0 / 3, 1000, 500, 250}, 4);
    expect_functional(LISTED("4"), (const double[]){250, 500, 1000.0 / 3, 1000}, 4);
#undef LISTED
}

/* An array takes part with as many tasks as may start beside its running ones, which are jobs of their own. Job 9,
 * behind it, shows how many these are. */
static void a_limit_of_running_tasks_leaves_out_the_others(void **unused)
{
    static const struct {
        const char *keys;
        double array, behind;
    } rows[] = {
        {"'array_tasks': 10, 'array_limit': 4", 1000, 1000.0 / 5},
        {"'array_tasks': 10, 'array_limit': 0", 1000, 1000.0 / 11},
        {"'array_tasks': 10, 'array_limit': 4, 'running_tasks': 1", 1000, 1000.0 / 4},
        {"'array_tasks': 10, 'array_limit': 4, 'running_tasks': 3", 1000, 1000.0 / 2},
        {"'array_tasks': 10, 'array_limit': 4, 'running_tasks': 4", 0, 1000},
        {"'array_tasks': 10, 'array_limit': 4, 'running_tasks': 9", 0, 1000},
        {"'array_tasks': 2, 'array_limit': 4", 1000, 1000.0 / 3},
        {"'array_limit': 1", 1000, 500},
        {"'array_limit': 1, 'running_tasks': 1", 0, 1000},
    };
    (void)unused;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct buf text = {0};
        buf_format(&text,
                   "{'now': 9, 'settings': {" BY_USER "'weight_priority': 1}, " USER_U
                   "'jobs': [{'id': 1, 'user': 'u', 'submit': 1, %s}, {'id': 9, 'user': 'u', 'submit': 2}]}",
                   rows[i].keys);
        expect_functional(text.text, (const double[]){rows[i].array, rows[i].behind}, 2);
        struct scenario s;
        const struct scenario_priorities all = compute_document(text.text, &s);
        if (rows[i].array < 1) assert_true(is_near(real_of(&all, 0, PRIORITY_FIELD_PRIORITY), 0)); /* also without -p */
        scenario_release(&s);
        buf_release(&text);
    }
}

static const enum priority_field ticket_fields[] = {
    PRIORITY_FIELD_PRIORITY,
    PRIORITY_FIELD_NORM_TICKETS,
    PRIORITY_FIELD_NORM_URGENCY,
    PRIORITY_FIELD_NORM_POSIX,
    PRIORITY_FIELD_URGENCY_RESOURCES,
    PRIORITY_FIELD_URGENCY_WAITING,
    PRIORITY_FIELD_URGENCY_DEADLINE,
    PRIORITY_FIELD_URGENCY,
    PRIORITY_FIELD_TICKETS,
    PRIORITY_FIELD_OVERRIDE_TICKETS,
    PRIORITY_FIELD_FUNCTIONAL_TICKETS,
    PRIORITY_FIELD_SHARE_TICKETS,
};

/* docs/formulas.md 5: a job suspended by its queue counts as running, one suspended by hand does not, and one
 * suspended by a threshold has no tickets, but urgency. */
static void suspended_jobs(void **unused)
{
    struct scenario s;
    (void)unused;
    const struct scenario_priorities rows = compute_document(
        "{'now': 100, 'settings': {" BY_USER "'weight_priority': 1}, " USER_U
        "'jobs': [{'id': 1, 'user': 'u', 'submit': 1, 'state': 'RUNNING'},"
        " {'id': 2, 'user': 'u', 'submit': 1, 'state': 'SUSPENDED', 'suspended_by': 'queue'},"
        " {'id': 3, 'user': 'u', 'submit': 1, 'state': 'SUSPENDED', 'suspended_by': 'user'},"
        " {'id': 4, 'user': 'u', 'submit': 1, 'state': 'SUSPENDED', 'suspended_by': 'threshold'},"
        " {'id': 5, 'user': 'u', 'submit': 1, 'state': 'SUSPENDED'}, {'id': 6, 'user': 'u', 'submit': 1}]}",
        &s);
    assert_int_equal(rows.count, 6);
    for (uint32_t i = 0; i < 2; i++) assert_true(is_near(functional_tickets(&rows, i), 500));
    assert_true(is_near(functional_tickets(&rows, 5), 1000.0 / 3));
    for (size_t f = 0; f < COUNT_OF(ticket_fields); f++) {
        assert_true(row_of(&rows, 2).value[ticket_fields[f]].number == FIELD_ABSENT);
        assert_true(row_of(&rows, 4).value[ticket_fields[f]].number ==
                    FIELD_ABSENT); /* by the user if it does not say */
        assert_false(row_of(&rows, 3).value[ticket_fields[f]].number == FIELD_ABSENT);
    }
    assert_true(is_near(functional_tickets(&rows, 3), 0) && is_near(real_of(&rows, 3, PRIORITY_FIELD_TICKETS), 0));
    assert_true(is_near(real_of(&rows, 3, PRIORITY_FIELD_URGENCY), real_of(&rows, 0, PRIORITY_FIELD_URGENCY)));
    assert_true(is_near(real_of(&rows, 3, PRIORITY_FIELD_NORM_POSIX), 0.5));
    for (uint32_t i = 1; i < 5; i++)
        assert_int_equal(row_of(&rows, i).value[PRIORITY_FIELD_STATE].number, JOB_SUSPENDED);
    assert_int_equal(row_of(&rows, 0).value[PRIORITY_FIELD_STATE].number, JOB_RUNNING);
    scenario_release(&s);
}

/* docs/formulas.md 5: the usage of a job's user does not count in the groups if the job is in state T. */
static void the_node_of_a_job_in_state_T(void **unused)
{
    static const struct {
        const char *state;
        double ann, bob;
    } rows[] = {{"threshold", 500, 500}, {"queue", 200, 800}};
    (void)unused;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct scenario s;
        struct buf text = {0};
        buf_format(&text,
                   "{'now': 100, 'settings': {" TICKETS "'weight_tickets_share': 1000, 'halftime': 0},"
                   " 'users': [{'name': 'ann', 'usage': {'cpu': 100}}, {'name': 'bob', 'usage': {'cpu': 100}},"
                   "           {'name': 'cat', 'usage': {'cpu': 300}}],"
                   " 'share_tree': {'name': 'Root', 'children': [{'name': 'a', 'children': [{'name': 'ann'},"
                   "   {'name': 'default'}]}, {'name': 'b', 'children': [{'name': 'bob'}]}]},"
                   " 'jobs': [{'id': 1, 'user': 'ann', 'submit': 1, 'state': 'RUNNING'},"
                   "  {'id': 2, 'user': 'bob', 'submit': 1, 'state': 'RUNNING'},"
                   "  {'id': 3, 'user': 'cat', 'submit': 1, 'state': 'SUSPENDED', 'suspended_by': '%s'}]}",
                   rows[i].state);
        const struct scenario_priorities all = compute_document(text.text, &s);
        double cat = i == 0 ? 0 : real_of(&all, 2, PRIORITY_FIELD_SHARE_TICKETS);
        assert_true(is_near(share_tickets(&all, 0) + cat, rows[i].ann));
        assert_true(is_near(share_tickets(&all, 1), rows[i].bob));
        assert_true(is_near(share_tickets(&all, 2), cat));
        scenario_release(&s);
        buf_release(&text);
    }
}

/* The other models know no suspension: a suspended job is a running one. */
static void suspended_jobs_in_other_models(void **unused)
{
#define SUSPENDED(settings)                                                                                        \
    "{'now': 100, 'settings': {" settings "}, 'jobs': [{'id': 1, 'user': 'u', 'submit': 1, 'state': 'SUSPENDED', " \
    "'site': 7}]}"
    struct scenario s;
    (void)unused;
    assert_int_equal(compute_document(SUSPENDED(""), &s).count, 0);
    scenario_release(&s);
    assert_int_equal(compute_document(SUSPENDED("'PriorityType': 'priority/basic'"), &s).count, 0);
    scenario_release(&s);
    const struct scenario_priorities rows = compute_document(SUSPENDED("'PriorityFlags': 'CALCULATE_RUNNING'"), &s);
    assert_int_equal(rows.count, 1);
    assert_true(is_near(real_of(&rows, 0, PRIORITY_FIELD_PRIORITY), 7));
    assert_int_equal(row_of(&rows, 0).value[PRIORITY_FIELD_STATE].number, JOB_SUSPENDED);
    scenario_release(&s);
#undef SUSPENDED
}

/* docs/formulas.md 5.7. The tickets of the running jobs are those of the tree of running jobs, but they are normalised
 * by what the tree of all jobs would give them. */
static void the_number_that_is_normalised_to_1(void **unused)
{
#define THREE_USERS(pending)                                                                                     \
    "{'now': 9, 'settings': {'PriorityType': 'priority/tickets', 'weight_tickets_share': 1000000, "              \
    "'compensation_factor': 2, 'halftime': 0}, 'users': [{'name': 'ua', 'usage': {'cpu': 1000}},"                \
    " {'name': 'ub', 'usage': {'cpu': 100}}, {'name': 'uc', 'usage': {'cpu': 20000}}],"                          \
    " 'share_tree': {'name': 'Root', 'children': [{'name': 'ua', 'shares': 20}, {'name': 'ub', 'shares': 10},"   \
    "   {'name': 'uc', 'shares': 50}]},"                                                                         \
    " 'jobs': [{'id': 1, 'user': 'ua', 'submit': 1, 'state': 'RUNNING'},"                                        \
    "  {'id': 2, 'user': 'ub', 'submit': 1, 'state': 'RUNNING'}, {'id': 3, 'user': 'ub', 'submit': 1, 'state': " \
    "'RUNNING'}, {'id': 4, 'user': 'ub', 'submit': 1, 'state': 'RUNNING'}" pending "]}"
    static const struct {
        const char *document;
        double max;
    } rows[] = {{THREE_USERS(", {'id': 5, 'user': 'uc', 'submit': 1}"), 441379.31034}, {THREE_USERS(""), 300000}};
    (void)unused;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct scenario s;
        const struct scenario_priorities all = compute_document(rows[i].document, &s);
        for (uint32_t j = 0; j < 4; j++) {
            double tickets = j == 0 ? 300000 : 700000.0 / 3;
            assert_true(fabs(share_tickets(&all, j) - tickets) < 1e-4);
            assert_true(fabs(real_of(&all, j, PRIORITY_FIELD_NORM_TICKETS) - tickets / rows[i].max) < 1e-9);
        }
        scenario_release(&s);
    }
#undef THREE_USERS
}

/* A running job with a range of slots has the maximum: 7 of 8 are taken, so two tasks count. */
static void slots_of_a_running_range(void **unused)
{
    (void)unused;
    expect_functional("{'now': 9, 'settings': {" BY_USER "'weight_priority': 1}, 'hosts': [{'name': 'n', 'cpus': 8}],"
                      " 'users': [{'name': 'u', 'fshare': 1}], 'jobs': [{'id': 1, 'user': 'v', 'submit': 1, 'slots': "
                      "[3, 7], 'state': 'RUNNING'}, {'id': 2, 'user': 'u', 'submit': 2, 'array_tasks': 9},"
                      " {'id': 3, 'user': 'u', 'submit': 3}]}",
                      (const double[]){0, 1000, 1000.0 / 3}, 3);
}

static void users_are_in_the_default_department(void **unused)
{
    (void)unused;
    expect_functional("{'now': 9, 'settings': {" TICKETS "'weight_tickets_functional': 1000, 'weight_user': 0, "
                      "'weight_project': 0, 'weight_department': 1, 'weight_job': 0},"
                      " 'departments': [{'name': 'defaultdepartment', 'fshare': 300}, {'name': 'd', 'fshare': 100}],"
                      " 'users': [{'name': 'named'}, {'name': 'member', 'department': 'd'}],"
                      " 'jobs': [{'id': 1, 'user': 'unnamed', 'submit': 1}, {'id': 2, 'user': 'named', 'submit': 2},"
                      " {'id': 3, 'user': 'member', 'submit': 3}]}",
                      (const double[]){1000, 500, 250}, 3);
}

/* docs/formulas.md 5.7: what report_pjob_tickets hides, of the running job 1 and the pending job 2. */
static void report_pjob_tickets_and_urgency(void **unused)
{
    static const struct {
        const char *settings;
        double running, norm, pending;
    } rows[] = {
        {"'report_pjob_tickets': true, 'weight_urgency': 0", 1000, 0, 1007},
        {"'report_pjob_tickets': true, 'weight_urgency': 0.5", 1000, 0, 1007},
        {"'report_pjob_tickets': false, 'weight_urgency': 0.5", 1000, 0, 0},
        {"'report_pjob_tickets': false, 'weight_urgency': -0.5", 1000, 0, 0},
        {"'report_pjob_tickets': false, 'weight_urgency': 0", 0, 0, 0},
    };
    (void)unused;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct scenario s;
        struct buf text = {0};
        buf_format(&text,
                   "{'now': 100, 'settings': {" TICKETS
                   "'weight_waiting_time': 0, %s}, 'resources': [{'name': 'lic', 'urgency': 7}],"
                   " 'jobs': [{'id': 1, 'user': 'u', 'submit': 1, 'state': 'RUNNING', 'posix_priority': 512},"
                   " {'id': 2, 'user': 'u', 'submit': 1, 'request': {'lic': 1}}]}",
                   rows[i].settings);
        const struct scenario_priorities all = compute_document(text.text, &s);
        assert_true(is_near(real_of(&all, 0, PRIORITY_FIELD_URGENCY), rows[i].running));
        assert_true(is_near(real_of(&all, 0, PRIORITY_FIELD_URGENCY_RESOURCES), rows[i].running));
        assert_true(is_near(real_of(&all, 0, PRIORITY_FIELD_NORM_URGENCY), rows[i].norm));
        assert_true(is_near(real_of(&all, 1, PRIORITY_FIELD_URGENCY), rows[i].pending));
        assert_true(is_near(real_of(&all, 0, PRIORITY_FIELD_NORM_POSIX), 0.75));
        scenario_release(&s);
        buf_release(&text);
    }
}

/* Share tickets of two users with one share each, where ua has used used_s CPU-seconds. */
static void expect_shares(const char *settings, double used_s, double ua, double ub)
{
    struct scenario s;
    struct buf text = {0};
    buf_format(
        &text,
        "{'now': 100, 'settings': {'PriorityType': 'priority/tickets', 'halftime': 0, 'weight_tickets_share': 1000, "
        "%s}, 'users': [{'name': 'ua', 'usage': {'cpu': %g}}, {'name': 'ub'}],"
        " 'share_tree': {'name': 'Root', 'children': [{'name': 'ua'}, {'name': 'ub'}]},"
        " 'jobs': [{'id': 1, 'user': 'ua', 'submit': 1}, {'id': 2, 'user': 'ub', 'submit': 1}]}",
        settings, used_s);
    const struct scenario_priorities rows = compute_document(text.text, &s);
    if (!(fabs(share_tickets(&rows, 0) - ua) < 1e-6 && fabs(share_tickets(&rows, 1) - ub) < 1e-6))
        fail_msg("%s: %.9g and %.9g", settings, share_tickets(&rows, 0), share_tickets(&rows, 1));
    scenario_release(&s);
    buf_release(&text);
}

/* docs/formulas.md 5.2. ub is at the floor of 0.5: ua's part is 0.5/(0.5 + usage). */
static void an_unknown_resource_weighs_in_the_sum(void **unused)
{
    (void)unused;
    expect_shares("'compensation_factor': 0, 'usage_weight_list': 'cpu=1'", 2, 200, 800);
    expect_shares("'compensation_factor': 0, 'usage_weight_list': 'cpu=0.5,disk=0.5'", 2, 1000.0 / 3, 2000.0 / 3);
    expect_shares("'compensation_factor': 0, 'usage_weight_list': 'disk=1,tape=1,cpu=1'", 3, 1000.0 / 3, 2000.0 / 3);
    expect_shares("'compensation_factor': 0, 'usage_weight_list': 'disk=1'", 2, 500, 500);
}

/* docs/formulas.md 5.3: a tiny positive factor reduces all nodes, in proportion to their parts, so their shares are
 * left. */
static void a_negative_compensation_factor(void **unused)
{
    (void)unused;
    expect_shares("'compensation_factor': -2", 2, 500, 500);
    expect_shares("'compensation_factor': -1e-12", 2, 500, 500);
    expect_shares("'compensation_factor': 1e-9", 2, 500, 500);
    expect_shares("'compensation_factor': 5", 2, 200, 800);
}

/* A share policy without a tree, and a tree without the project: no one has a node. */
static void projects_without_a_node(void **unused)
{
#define IN_PROJECT(tree)                                                                                            \
    "{'now': 1, 'settings': {" TICKETS                                                                              \
    "'weight_tickets_share': 1000}, 'projects': [{'name': 'P', 'usage': {'cpu': 9}}, "                              \
    "{'name': 'Q'}], " tree "'jobs': [{'id': 1, 'user': 'u', 'project': 'P', 'submit': 1}, {'id': 2, 'user': 'u', " \
    "'submit': 1}]}"
    static const char *const documents[] = {
        IN_PROJECT(""),
        IN_PROJECT("'share_tree': {'name': 'Root'}, "),
        IN_PROJECT("'share_tree': {'name': 'Root', 'children': [{'name': 'Q'}]}, "),
    };
    (void)unused;
    for (size_t i = 0; i < COUNT_OF(documents); i++) {
        struct scenario s;
        const struct scenario_priorities rows = compute_document(documents[i], &s);
        for (uint32_t k = 0; k < 2; k++) assert_true(is_near(share_tickets(&rows, k), 0));
        scenario_release(&s);
    }
#undef IN_PROJECT
}

/* --- usage of a project that none of its users has ---------------------------------------------------------------- */

#define G_AND_H                                                                                                  \
    "{'name': 'P', 'children': [{'name': 'g', 'shares': 1, 'children': [{'name': 'ua'}, {'name': 'default'}]}, " \
    "{'name': 'h', 'shares': 1, 'children': [{'name': 'ub'}]}]}"
#define LEAVES                                                                                                  \
    "{'name': 'P', 'children': [{'name': 'ua', 'shares': 1}, {'name': 'default', 'shares': 1}, {'name': 'ub', " \
    "'shares': 1}]}"

/* Tickets of ua's and ub's first jobs in P, which have used 100 and 150 CPU-seconds there. */
static void expect_shares_in_project(const char *project, double used_s, const char *more_jobs, double ua, double ub)
{
    struct scenario s;
    struct buf text = {0};
    buf_format(
        &text,
        "{'now': 100, 'settings': {" TICKETS "'halftime': 0, 'weight_tickets_share': 1000},"
        " 'projects': [{'name': 'P', 'usage': {'cpu': %g}}],"
        " 'users': [{'name': 'ua', 'project_usage': {'P': {'cpu': 100}}},"
        "           {'name': 'ub', 'project_usage': {'P': {'cpu': 150}}},"
        "           {'name': 'uc', 'project_usage': {'P': {'cpu': 40}}}],"
        " 'share_tree': {'name': 'Root', 'children': [%s]},"
        " 'jobs': [{'id': 1, 'user': 'ua', 'project': 'P', 'submit': 1}, {'id': 2, 'user': 'ub', 'project': 'P', "
        "'submit': 1}%s]}",
        used_s, project, more_jobs);
    const struct scenario_priorities rows = compute_document(text.text, &s);
    if (!is_near(share_tickets(&rows, 0), ua) || !is_near(share_tickets(&rows, 1), ub))
        fail_msg("%s with %g: %.17g and %.17g", project, used_s, share_tickets(&rows, 0), share_tickets(&rows, 1));
    scenario_release(&s);
    buf_release(&text);
}

/* docs/formulas.md 5.2: `default` gets what the project used and no node below it has, if that is more than 1. It
 * counts in g, but `default` itself is not active. */
static void excess_usage_of_a_project_is_that_of_default(void **unused)
{
    (void)unused;
    expect_shares_in_project(G_AND_H, 5000, "", 30, 970); /* g 4850, h 150 */
    expect_shares_in_project(G_AND_H, 250, "", 600, 400); /* g 100, h 150 */
    expect_shares_in_project(G_AND_H, 251, "", 600, 400); /* an excess of 1 does not count */
    expect_shares_in_project(G_AND_H, 252, "", 1000 * 150.0 / 252, 1000 * 102.0 / 252);
    expect_shares_in_project(G_AND_H, 10, "", 600, 400);
    expect_shares_in_project(LEAVES, 5000, "", 600, 400);
}

/* uc is served by a virtual node beside the `default`, which has its own usage; the excess does not reach it. */
static void excess_usage_leaves_out_virtual_nodes(void **unused)
{
    static const char uc[] = ", {'id': 3, 'user': 'uc', 'project': 'P', 'submit': 1}";
    (void)unused;
    expect_shares_in_project(G_AND_H, 290, uc, 1000 * 150.0 / 290 / 2,
                             1000 * 140.0 / 290); /* uc 40: g 140, no excess */
    expect_shares_in_project(G_AND_H, 390, uc, 1000 * 150.0 / 390 / 2, 1000 * 240.0 / 390); /* g 240 */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(users_of_default_have_separate_usage),
        cmocka_unit_test(usage_in_projects_counts_there),
        cmocka_unit_test(each_task_of_an_array_counts_as_a_job),
        cmocka_unit_test(jobs_with_and_without_tickets),
        cmocka_unit_test(urgency_of_slots_and_requests),
        cmocka_unit_test(the_order_of_the_scheduler_list),
        cmocka_unit_test(ties_in_the_scheduler_list),
        cmocka_unit_test(a_limit_of_running_tasks_leaves_out_the_others),
        cmocka_unit_test(suspended_jobs),
        cmocka_unit_test(the_node_of_a_job_in_state_T),
        cmocka_unit_test(suspended_jobs_in_other_models),
        cmocka_unit_test(the_number_that_is_normalised_to_1),
        cmocka_unit_test(slots_of_a_running_range),
        cmocka_unit_test(users_are_in_the_default_department),
        cmocka_unit_test(report_pjob_tickets_and_urgency),
        cmocka_unit_test(an_unknown_resource_weighs_in_the_sum),
        cmocka_unit_test(a_negative_compensation_factor),
        cmocka_unit_test(projects_without_a_node),
        cmocka_unit_test(excess_usage_of_a_project_is_that_of_default),
        cmocka_unit_test(excess_usage_leaves_out_virtual_nodes),
    };
    return cmocka_run_group_tests(tests, NULL, release_answers);
}
