/* Events of partitions, QOS, users, projects, departments, resources and settings: valid values, and references that
 * prevent a deletion. */
#include "policy_world.h"

static const struct object_row *row_of(struct world *w, enum object_kind kind, const char *name)
{
    uint32_t index = state_find_object(&w->s, kind, name);
    if (index == NONE) fail_msg("no %s '%s'", object_classes[kind].name, name);
    return &w->s.objects[kind].items[index];
}

static struct event deletion(struct world *w, enum object_kind kind, const char *name)
{
    return world_object_event(w, EVENT_OBJECT_DELETE, kind, name, "");
}

static void a_new_state_has_a_partition_and_a_qos(void **unused)
{
    (void)unused;
    struct world w;
    world_init(&w, 4, 1024, 0);
    assert_int_equal(row_of(&w, OBJECT_PARTITION, "main")->id, 1);
    assert_int_equal(row_of(&w, OBJECT_QOS, "normal")->id, 1);
    assert_null(row_of(&w, OBJECT_PARTITION, "main")->billing_weights);
    world_refuses(&w, deletion(&w, OBJECT_PARTITION, "main"), ERR_CONFLICT, "'main' is the only one");
    world_refuses(&w, deletion(&w, OBJECT_QOS, "normal"), ERR_CONFLICT, "qos 'normal' cannot be deleted");
    world_object(&w, OBJECT_PARTITION, "fast", "");
    assert_int_equal(world_apply(&w, deletion(&w, OBJECT_PARTITION, "main"), NULL), 0);
    assert_int_equal(state_find_object(&w.s, OBJECT_PARTITION, "main"), NONE);
    world_refuses(&w, deletion(&w, OBJECT_PARTITION, "fast"), ERR_CONFLICT, "'fast' is the only one");
    uint32_t id = world_submit(&w, "ann", NULL, 1);
    const struct job *j = &w.s.jobs.items[state_find_job(&w.s, id)];
    assert_ptr_equal(&w.s.objects[OBJECT_PARTITION].items[j->partitions[0]], row_of(&w, OBJECT_PARTITION, "fast"));
    world_release(&w);
}

static void fields_are_set_and_changed(void **unused)
{
    (void)unused;
    struct world w;
    world_init(&w, 4, 1024, 0);
    world_object(&w, OBJECT_PARTITION, "fast", "PriorityTier=3|MaxTime=1-0");
    const struct field_value *value = row_of(&w, OBJECT_PARTITION, "fast")->object.value;
    assert_int_equal(value[PARTITION_TIER].number, 3);
    assert_int_equal(value[PARTITION_MAX_TIME].number, 86400);
    assert_int_equal(value[PARTITION_JOB_FACTOR].number, 1);
    world_object(&w, OBJECT_PARTITION, "fast", "PriorityJobFactor=9");
    value = row_of(&w, OBJECT_PARTITION, "fast")->object.value;
    assert_int_equal(value[PARTITION_TIER].number, 3);
    assert_int_equal(value[PARTITION_JOB_FACTOR].number, 9);
    assert_int_equal(row_of(&w, OBJECT_PARTITION, "fast")->id, 2);

    world_object(&w, OBJECT_PARTITION, "fast", "TRESBillingWeights=CPU=1.0,Mem=0.25G");
    const double *weights = row_of(&w, OBJECT_PARTITION, "fast")->billing_weights;
    assert_true(weights[TRES_CPU] == 1.0 && weights[TRES_MEM] == 0.25 / 1024);
    world_object(&w, OBJECT_PARTITION, "fast", "TRESBillingWeights=");
    assert_null(row_of(&w, OBJECT_PARTITION, "fast")->billing_weights);
    world_object(&w, OBJECT_QOS, "high", "flags=NoDecay|priority=7");
    assert_int_equal(row_of(&w, OBJECT_QOS, "high")->qos_flags, QOS_NO_DECAY);
    world_release(&w);
}

static void refused_objects_change_nothing(void **unused)
{
    (void)unused;
    static const struct {
        enum event_kind event;
        enum object_kind kind;
        const char *name, *fields;
        enum err_code code;
        const char *text;
    } rows[] = {
        {EVENT_OBJECT_ADD, OBJECT_PARTITION, "main", "", ERR_EXISTS, "partition 'main' already exists"},
        {EVENT_OBJECT_ADD, OBJECT_PARTITION, "a b", "", ERR_INPUT, "partition: 'a b' has a ' '"},
        {EVENT_OBJECT_ADD, OBJECT_PARTITION, "", "", ERR_INPUT, "partition: a name cannot be empty"},
        {EVENT_OBJECT_ADD, OBJECT_PARTITION, "x", "PriorityTier=-1", ERR_INPUT, "partition 'x': PriorityTier"},
        {EVENT_OBJECT_ADD, OBJECT_PARTITION, "x", "Tier=1", ERR_INPUT,
         "partition 'x': 'Tier' is not a field; did you mean 'PriorityTier'?"},
        {EVENT_OBJECT_ADD, OBJECT_PARTITION, "x", "TRESBillingWeights=license/a=1", ERR_INPUT, "license/a"},
        {EVENT_OBJECT_ADD, OBJECT_PARTITION, "x", "TRESBillingWeights=CPU", ERR_INPUT, "partition 'x': TRESBilling"},
        {EVENT_OBJECT_MODIFY, OBJECT_PARTITION, "main", "PriorityTier=2|MaxTime=0", ERR_INPUT, "MaxTime"},
        {EVENT_OBJECT_MODIFY, OBJECT_PARTITION, "x", "PriorityTier=2", ERR_NOT_FOUND, "no partition 'x'"},
        {EVENT_OBJECT_DELETE, OBJECT_PROJECT, "x", "", ERR_NOT_FOUND, "no project 'x'"},
        {EVENT_OBJECT_ADD, OBJECT_QOS, "x", "usage_factor=-1", ERR_INPUT, "usage_factor"},
        {EVENT_OBJECT_ADD, OBJECT_QOS, "x", "flags=Relative", ERR_INPUT, "'Relative' is not one of NoDecay"},
        {EVENT_OBJECT_ADD, OBJECT_USER_POLICY, "ann", "department=physics", ERR_NOT_FOUND, "no department 'physics'"},
        {EVENT_OBJECT_ADD, OBJECT_PARTITION, "q", "user_lists=ann,@physics", ERR_INPUT,
         "partition 'q': user_lists: '@physics' is no department; there are: @defaultdepartment"},
        {EVENT_OBJECT_ADD, OBJECT_USER_POLICY, "ann", "fshare=1.5", ERR_INPUT, "fshare"},
        {EVENT_OBJECT_ADD, OBJECT_RESOURCE, "a=b", "", ERR_INPUT, "resource: 'a=b' has a '='"},
        {EVENT_OBJECT_ADD, OBJECT_RESOURCE, "x", "type=FLOAT", ERR_INPUT, "resource 'x': type"},
    };
    struct world w;
    world_init(&w, 4, 1024, 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct event event = world_object_event(&w, rows[i].event, rows[i].kind, rows[i].name, rows[i].fields);
        world_refuses(&w, event, rows[i].code, rows[i].text);
    }
    struct event event = world_object_event(&w, EVENT_OBJECT_ADD, OBJECT_RESOURCE, "x", "");
    event.actor = (struct actor){1001, 1001, "eve", ROLE_USER};
    world_refuses(&w, event, ERR_DENIED, "only an administrator may add resources; you are user 'eve'");
    world_release(&w);
}

static void objects_in_use_cannot_be_deleted(void **unused)
{
    (void)unused;
    struct world w;
    world_init(&w, 1, 1024, 0);
    world_object(&w, OBJECT_PARTITION, "fast", "");
    world_object(&w, OBJECT_QOS, "high", "");
    world_object(&w, OBJECT_PROJECT, "moon", "");
    world_object(&w, OBJECT_RESOURCE, "license", "amount=4");
    struct event submission = world_submission("ann", NULL, 1);
    submission.submit = job_with(submission.submit, "partitions=main,fast|qos=high|project=moon|requests=license=2");
    uint32_t id;
    assert_int_equal(world_apply(&w, submission, &id), 0);
    world_refuses(&w, deletion(&w, OBJECT_PARTITION, "fast"), ERR_CONFLICT, "partition 'fast' is in use by 1 live job");
    world_refuses(&w, deletion(&w, OBJECT_PARTITION, "main"), ERR_CONFLICT, "partition 'main' is in use by 1 live job");
    world_refuses(&w, deletion(&w, OBJECT_QOS, "high"), ERR_CONFLICT, "qos 'high' is in use by 1 live job");
    world_refuses(&w, deletion(&w, OBJECT_PROJECT, "moon"), ERR_CONFLICT, "project 'moon' is in use by 1 live job");
    world_refuses(&w, deletion(&w, OBJECT_RESOURCE, "license"), ERR_CONFLICT,
                  "resource 'license' is in use by 1 live job");
    world_refuses(&w, world_object_event(&w, EVENT_OBJECT_MODIFY, OBJECT_RESOURCE, "license", "type=STRING"),
                  ERR_CONFLICT, "its type can only change while it is unused");
    world_object(&w, OBJECT_RESOURCE, "license", "amount=9");

    assert_int_equal(world_apply(&w, world_update(id, job_text("partitions=fast|requests=")), NULL), 0);
    assert_int_equal(world_apply(&w, deletion(&w, OBJECT_PARTITION, "main"), NULL), 0);
    assert_int_equal(world_apply(&w, deletion(&w, OBJECT_RESOURCE, "license"), NULL), 0);

    assert_int_equal(world_pass(&w), 1);
    world_refuses(&w, deletion(&w, OBJECT_QOS, "high"), ERR_CONFLICT, "qos 'high' is in use by 1 live job");
    w.now_us += SECOND;
    world_ended(&w, world_task(&w, id, 0)->launch_id, JOB_COMPLETED, w.now_us - SECOND);
    assert_int_equal(world_apply(&w, deletion(&w, OBJECT_QOS, "high"), NULL), 0);
    assert_int_equal(world_apply(&w, deletion(&w, OBJECT_PROJECT, "moon"), NULL), 0);
    world_release(&w);
}

static void departments_in_lists_of_users_cannot_be_deleted(void **unused)
{
    (void)unused;
    struct world w;
    world_init(&w, 4, 100000, 2);
    world_object(&w, OBJECT_DEPARTMENT, "physics", "");
    world_object(&w, OBJECT_PARTITION, "main", "xuser_lists=bob @physics");
    world_refuses(&w, deletion(&w, OBJECT_DEPARTMENT, "physics"), ERR_CONFLICT,
                  "department 'physics' is in use: a list of users of partition 'main' has it");
    world_refuses(&w, world_object_event(&w, EVENT_OBJECT_MODIFY, OBJECT_PARTITION, "main", "user_lists=@nix"),
                  ERR_INPUT, "user_lists: '@nix' is no department; there are: @defaultdepartment, @physics");
    world_object(&w, OBJECT_PARTITION, "main", "xuser_lists=NONE");
    assert_int_equal(world_apply(&w, deletion(&w, OBJECT_DEPARTMENT, "physics"), NULL), 0);
    world_release(&w);
}

static void departments_with_users_cannot_be_deleted(void **unused)
{
    (void)unused;
    struct world w;
    world_init(&w, 1, 1024, 0);
    world_object(&w, OBJECT_DEPARTMENT, "physics", "fshare=5");
    world_object(&w, OBJECT_DEPARTMENT, "defaultdepartment", "fshare=1");
    world_object(&w, OBJECT_USER_POLICY, "ann", "department=physics");
    world_object(&w, OBJECT_USER_POLICY, "bob", "");
    world_refuses(&w, deletion(&w, OBJECT_DEPARTMENT, "physics"), ERR_CONFLICT,
                  "department 'physics' is in use by 1 user;");
    world_object(&w, OBJECT_USER_POLICY, "ann", "department=defaultdepartment");
    assert_int_equal(world_apply(&w, deletion(&w, OBJECT_DEPARTMENT, "physics"), NULL), 0);
    assert_int_equal(world_apply(&w, deletion(&w, OBJECT_DEPARTMENT, "defaultdepartment"), NULL), 0);
    world_release(&w);
}

/* A name can be used again, for a new object. */
static void a_deleted_object_can_be_added_again(void **unused)
{
    (void)unused;
    struct world w;
    world_init(&w, 1, 1024, 0);
    world_object(&w, OBJECT_PROJECT, "moon", "fshare=7");
    assert_int_equal(world_apply(&w, deletion(&w, OBJECT_PROJECT, "moon"), NULL), 0);
    world_object(&w, OBJECT_PROJECT, "moon", "oticket=1");
    assert_int_equal(row_of(&w, OBJECT_PROJECT, "moon")->object.value[PROJECT_FSHARE].number, 0);
    assert_true(w.s.objects[OBJECT_PROJECT].items[0].is_deleted);
    world_object(&w, OBJECT_PROJECT, "sun", "");
    assert_int_equal(row_of(&w, OBJECT_PROJECT, "sun")->id, row_of(&w, OBJECT_PROJECT, "moon")->id + 1);
    world_release(&w);
}

/* --- settings ----------------------------------------------------------------------------------------------------- */

static struct event settings_event(const struct event_pair *pairs, uint32_t count)
{
    return (struct event){.kind = EVENT_SETTINGS, .settings = {pairs, count}};
}

static void settings_are_applied_together_or_not_at_all(void **unused)
{
    (void)unused;
    struct world w;
    world_init(&w, 1, 1024, 0);
    const struct {
        struct event_pair pairs[2];
        const char *text;
    } rows[] = {
        {{{"grace_s", "5"}, {"max_jobs", "-1"}}, "max_jobs"},
        {{{"halflife_s", "5"}, {"PriorityWeightTRES", "license/matlab=1"}}, "PriorityWeightTRES"},
        {{{"halftime", "5"}, {"AccountingStorageTRES", "license"}}, "AccountingStorageTRES"},
        {{{"PriorityFlags", "MAX_TRES"}, {"policy_hierarchy", "OO"}}, "policy_hierarchy"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        world_refuses(&w, settings_event(rows[i].pairs, 2), ERR_INPUT, rows[i].text);
    world_refuses(&w, settings_event(&(struct event_pair){"grace", "1"}, 1), ERR_NOT_FOUND, "no setting 'grace'");
    const struct event_pair together[] = {{"PriorityWeightTRES", "license/matlab=3"},
                                          {"AccountingStorageTRES", "license/matlab"}};
    assert_int_equal(world_apply(&w, settings_event(together, 2), NULL), 0);
    uint32_t index = tres_find(&w.s.policy.tres, str("license/matlab"));
    assert_int_equal(index, TRES_STATIC_COUNT + 1);
    assert_true(w.s.policy.multifactor.weight_tres[index] == 3.0);
    world_release(&w);
}

/* Usage and weights are by index of TRES, so the index of a TRES must not change. */
static void tracked_tres_are_never_removed(void **unused)
{
    (void)unused;
    struct world w;
    world_init(&w, 1, 1024, 0);
    world_set(&w, "AccountingStorageTRES", "license/a,gres/gpu");
    world_set(&w, "AccountingStorageTRES", "license/b");
    assert_string_equal(setting_text(&w.s.settings, SET_TRACKED_TRES), "gres/gpu,license/a,license/b");
    world_object(&w, OBJECT_PARTITION, "main", "TRESBillingWeights=license/b=4");
    world_set(&w, "AccountingStorageTRES", "license/c");
    uint32_t b = tres_find(&w.s.policy.tres, str("license/b"));
    assert_int_equal(b, TRES_STATIC_COUNT + 2);
    assert_true(row_of(&w, OBJECT_PARTITION, "main")->billing_weights[b] == 4.0);
    outcome_clear(&w.out);
    world_set(&w, "AccountingStorageTRES", "license/a");
    assert_int_equal(w.out.changes.count, 0);
    world_release(&w);
}

static void a_change_of_the_model_makes_a_pass_due(void **unused)
{
    (void)unused;
    struct world w;
    world_init(&w, 1, 1024, 0);
    assert_int_equal(w.s.policy.model, MODEL_MULTIFACTOR);
    world_set(&w, "PriorityType", "priority/tickets");
    assert_int_equal(w.s.policy.model, MODEL_TICKETS);
    assert_true(w.s.pass_is_due);
    world_set(&w, "PriorityFlags", "NO_FAIR_TREE,MAX_TRES_GRES");
    assert_int_equal(w.s.policy.share.algorithm, ALGORITHM_CLASSIC);
    assert_int_equal(w.s.policy.billing, BILLING_MAX_TRES_GRES);
    world_release(&w);
}

static void accounts_and_users_have_a_priority(void **unused)
{
    (void)unused;
    struct world w;
    world_init(&w, 1, 1024, 0);
    world_user(&w, "physics", 1, "ann");
    uint32_t account = state_find_assoc(&w.s, "physics", NULL), user = state_find_assoc(&w.s, "physics", "ann");
    assert_int_equal(w.s.assocs.items[account].priority, NONE);
    struct event modify = {.kind = EVENT_ACCOUNT_MODIFY, .account = {"physics", NULL, SHARES_UNSET, 7}};
    assert_int_equal(world_apply(&w, modify, NULL), 0);
    struct event modify_user = {.kind = EVENT_USER_MODIFY, .user = {"ann", "physics", SHARES_UNSET, false, 9}};
    assert_int_equal(world_apply(&w, modify_user, NULL), 0);
    assert_int_equal(w.s.assocs.items[account].priority, 7);
    assert_int_equal(w.s.assocs.items[user].priority, 9);
    modify_user.user.priority = PRIORITY_UNSET;
    assert_int_equal(world_apply(&w, modify_user, NULL), 0);
    assert_int_equal(w.s.assocs.items[user].priority, 9);
    modify_user.user.priority = NONE;
    assert_int_equal(world_apply(&w, modify_user, NULL), 0);
    assert_int_equal(w.s.assocs.items[user].priority, NONE);
    world_release(&w);
}

/* --- rows that contradict each other ------------------------------------------------------------------------------ */

static void restore(struct state *s, enum object_kind kind, uint32_t id, const char *name, const char *key,
                    const char *value)
{
    struct object_row row = {.id = id, .object = object_defaults(kind, name), .created_us = 1};
    if (key != NULL) assert_int_equal(object_set(&row.object, kind, str(key), str(value), &s->cycle, NULL), 0);
    state_restore_object(s, kind, &row);
}

static void restore_first_rows(struct state *s)
{
    state_init(s, 1);
    state_restore_begin(s);
    state_restore_assoc(s, &(struct assoc){.id = 1, .account = "root", .shares = 1, .priority = NONE}, NONE);
    state_restore_assoc(s, &(struct assoc){.id = 2, .account = "root", .user = "ann", .priority = NONE}, 1);
    s->next_assoc_id = 3;
    s->next_job_id = 10;
    s->next_launch_id = 10;
}

static void restore_job(struct state *s, uint32_t partition, uint32_t qos, uint32_t project)
{
    struct job_text text = {.name = "j", .directory = "/", .out_pattern = "o", .command = "c"};
    struct job j = {.id = 1, .text = &text, .accrue_us = 1};
    idset_add(&j.array, 0);
    j.partitions = &partition;
    j.partition_count = 1;
    j.qos = qos;
    j.project = project;
    j.environment = NONE;
    state_restore_job(s, &j, 2);
}

static void restore_task(struct state *s, uint32_t partition, uint32_t tres)
{
    struct task k = {.job_id = 1, .state = JOB_RUNNING, .launch_id = 1, .partition = partition, .partition_qos = NONE};
    k.tres = (struct tres_list){mem_resize(NULL, 0, sizeof *k.tres.items), 1};
    k.tres.items[0] = (struct tres_amount){tres, 1};
    state_restore_task(s, &k);
}

enum {
    NO_OBJECTS,
    NO_NORMAL,
    NO_HOST,
    TWICE,
    BAD_WEIGHTS,
    BAD_DEPARTMENT,
    BAD_QOS,
    BAD_PROJECT,
    BAD_TASK,
    BAD_TRES,
    RIGHT
};

static void restore_case(struct state *s, int what)
{
    restore_first_rows(s);
    if (what == NO_OBJECTS) return;
    restore(s, OBJECT_PARTITION, 3, "main", what == BAD_WEIGHTS ? "TRESBillingWeights" : NULL, "license/x=1");
    if (what == TWICE) restore(s, OBJECT_PARTITION, 4, "main", NULL, NULL);
    restore(s, OBJECT_HOST, 1, what == NO_HOST ? "n1" : "localhost", NULL, NULL);
    restore(s, OBJECT_QOS, 5, what == NO_NORMAL ? "high" : "normal", NULL, NULL);
    restore(s, OBJECT_PROJECT, 7, "moon", NULL, NULL);
    restore(s, OBJECT_USER_POLICY, 1, "ann", what == BAD_DEPARTMENT ? "department" : NULL, "physics");
    restore_job(s, 0, what == BAD_QOS ? 1 : 0, what == BAD_PROJECT ? 1 : 0);
    restore_task(s, what == BAD_TASK ? 1 : 0, what == BAD_TRES ? TRES_STATIC_COUNT + 1 : TRES_STATIC_COUNT);
}

static void contradictory_rows_are_refused(void **unused)
{
    (void)unused;
    static const struct {
        int what;
        const char *text;
    } rows[] = {
        {NO_OBJECTS, "there is no partition"},
        {NO_NORMAL, "there is no QOS 'normal'"},
        {NO_HOST, "the first host is not 'localhost'"},
        {TWICE, "two of the partitions have the same name"},
        {BAD_WEIGHTS, "partition 'main': TRESBillingWeights"},
        {BAD_DEPARTMENT, "user 'ann' is in department 'physics', which does not exist"},
        {BAD_QOS, "job 1 refers to a qos that does not exist"},
        {BAD_PROJECT, "job 1 refers to a project that does not exist"},
        {BAD_TASK, "job 1 refers to a partition that does not exist"},
        {BAD_TRES, "task 1_0 has a TRES that is not tracked"},
    };
    struct state s;
    struct err e;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        restore_case(&s, rows[i].what);
        assert_int_equal(state_restore_done(&s, &e), -1);
        if (strstr(ERR_SENTENCE(&e), rows[i].text) == NULL)
            fail_msg("'%s' is not '%s'", ERR_SENTENCE(&e), rows[i].text);
        state_release(&s);
    }
    restore_case(&s, RIGHT);
    if (state_restore_done(&s, &e) != 0) fail_msg("%s", ERR_SENTENCE(&e));
    assert_int_equal(s.jobs.items[0].partitions[0], 0);
    assert_int_equal(s.jobs.items[0].project, 0);
    assert_int_equal(s.tasks.items[0].partition, 0);
    assert_int_equal(s.objects[OBJECT_QOS].items[0].live_jobs, 1);
    state_release(&s);
}

/* The flags select the algorithm for the factors and for the columns of the listing. */
static void factors_follow_the_algorithm(void **unused)
{
    (void)unused;
    struct world w;
    struct arena arena = {0};
    world_init(&w, 4, 1024, 0);
    world_set(&w, "halflife_s", "0");
    world_user(&w, "a", 1, "ann");
    world_user(&w, "b", 1, "bea");
    w.s.assocs.items[state_find_assoc(&w.s, "a", "ann")].usage = 300;
    w.s.assocs.items[state_find_assoc(&w.s, "b", "bea")].usage = 100;
    const char *const flags[] = {"", "NO_FAIR_TREE", "DEPTH_OBLIVIOUS"};
    const double expected[][2] = {
        {0.5, 1.0}, {0.35355339059327379, 0.70710678118654757}, {0.35355339059327379, 0.70710678118654757}};
    for (int i = 0; i < 3; i++) {
        struct share_table table;
        world_set(&w, "PriorityFlags", flags[i]);
        const double *factors = state_factors(&w.s, w.now_us, &arena);
        state_share_table(&w.s, w.now_us, &w.s.policy.share, &arena, &table);
        uint32_t ann = w.s.node_of.items[state_find_assoc(&w.s, "a", "ann")];
        uint32_t bea = w.s.node_of.items[state_find_assoc(&w.s, "b", "bea")];
        assert_true(factors[ann] == table.fair_share[ann] && factors[bea] == table.fair_share[bea]);
        assert_float_equal(factors[ann], expected[i][0], 1e-12);
        assert_float_equal(factors[bea], expected[i][1], 1e-12);
    }
    arena_release(&arena);
    world_release(&w);
}

/* The scheduler's cluster is made of them, so a change that it could not be made with is refused. */
static void objects_of_the_cluster_fit_together(void **unused)
{
    (void)unused;
    static const struct {
        enum event_kind event;
        enum object_kind kind;
        const char *name, *fields;
        enum err_code code;
        const char *text;
    } rows[] = {
        {EVENT_OBJECT_MODIFY, OBJECT_PARTITION, "main", "hosts=nowhere", ERR_INPUT,
         "partition 'main': hosts: 'nowhere' is not a host"},
        {EVENT_OBJECT_ADD, OBJECT_PARTITION, "new", "slots=x", ERR_INPUT, "slots"},
        {EVENT_OBJECT_MODIFY, OBJECT_PARTITION, "main", "state=foo", ERR_INPUT,
         "'foo' is not one of UP, DOWN, DRAIN, INACTIVE"},
        {EVENT_OBJECT_MODIFY, OBJECT_PARTITION, "main", "seq_no=-1", ERR_INPUT, "seq_no: '-1'"},
        {EVENT_OBJECT_MODIFY, OBJECT_PARTITION, "main", "pe_list=nix", ERR_INPUT,
         "pe_list: 'nix' is not a parallel environment"},
        {EVENT_OBJECT_MODIFY, OBJECT_PARTITION, "main", "complex_values=tape=2", ERR_INPUT, "'tape' is not a resource"},
        {EVENT_OBJECT_ADD, OBJECT_HOST, "n2", "complex_values=license=lots", ERR_INPUT, "license"},
        {EVENT_OBJECT_ADD, OBJECT_HOST, "n@2", "", ERR_INPUT, "n@2"},
        {EVENT_OBJECT_ADD, OBJECT_GROUP, "round", "hosts=@round", ERR_INPUT, "group 'round'"},
        {EVENT_OBJECT_MODIFY, OBJECT_GROUP, "big", "hosts=n1,@big", ERR_INPUT, "group 'big' contains itself"},
        {EVENT_OBJECT_DELETE, OBJECT_HOST, "localhost", "", ERR_CONFLICT, "cannot be deleted: it is this machine"},
        {EVENT_OBJECT_DELETE, OBJECT_HOST, "n1", "", ERR_CONFLICT,
         "host 'n1' is in use: without it, group 'big': hosts: 'n1' is not a host"},
        {EVENT_OBJECT_DELETE, OBJECT_GROUP, "big", "", ERR_CONFLICT, "group 'big' is in use"},
        {EVENT_OBJECT_DELETE, OBJECT_ENVIRONMENT, "smp", "", ERR_CONFLICT, "pe 'smp' is in use"},
        {EVENT_OBJECT_DELETE, OBJECT_RESOURCE, "license", "", ERR_CONFLICT, "resource 'license' is in use"},
    };
    struct world w;
    world_init(&w, 4, 1024, 0);
    world_object(&w, OBJECT_RESOURCE, "license", "");
    world_object(&w, OBJECT_HOST, "n1", "complex_values=license=3");
    world_object(&w, OBJECT_GROUP, "big", "hosts=n1");
    world_object(&w, OBJECT_ENVIRONMENT, "smp", "");
    world_object(&w, OBJECT_PARTITION, "main", "hosts=localhost @big|pe_list=smp");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        world_refuses(&w, world_object_event(&w, rows[i].event, rows[i].kind, rows[i].name, rows[i].fields),
                      rows[i].code, rows[i].text);
    world_refuses(&w, world_object_event(&w, EVENT_OBJECT_MODIFY, OBJECT_HOST, "localhost", "load_scaling=load_agv=2"),
                  ERR_INPUT, "host 'localhost': load_scaling: 'load_agv' is not a load value, which is a number; did");
    const struct event_pair pair = {"load_formula", "np_load_avg-nothing"};
    world_refuses(&w, (struct event){.kind = EVENT_SETTINGS, .settings = {&pair, 1}}, ERR_INPUT,
                  "load_formula: 'nothing' is not a load value or a consumable");
    world_release(&w);
}

/* A host gives no more CPUs, memory and GPUs than the machine has, whatever its complex_values say. */
static void a_host_has_what_the_machine_has(void **unused)
{
    static const char *const jobs[] = {"cpus=3|mem_mib=1", "mem_mib=600", "gpus=1|mem_mib=1"};
    (void)unused;
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++) {
        struct world w;
        world_init(&w, 4, 1000, 1);
        world_object(&w, OBJECT_PARTITION, "main", "slots=64");
        world_object(&w, OBJECT_HOST, "localhost", "complex_values=slots=64,mem=100000,gres/gpu=9");
        for (int n = 0; n < 2; n++) {
            struct event job = world_job("ann");
            job.submit = job_with(job.submit, "%s", jobs[i]);
            assert_int_equal(world_apply(&w, job, NULL), 0);
        }
        assert_int_equal(world_pass(&w), 1);
        world_release(&w);
    }
}

static double licences_of(struct world *w, const char *consumable)
{
    struct event job = world_job("ann");
    uint32_t id;
    world_object(w, OBJECT_RESOURCE, "lic", consumable);
    world_settings(w, "AccountingStorageTRES=license/lic");
    job.submit = job_with(job.submit, "cpus=4|requests=lic=1");
    assert_int_equal(world_apply(w, job, &id), 0);
    assert_int_equal(world_pass(w), 1);
    uint32_t tres = tres_find(&w->s.policy.tres, str("license/lic"));
    return tres_amount_of(&world_task(w, id, 0)->tres, tres);
}

static void a_job_is_charged_for_what_it_takes(void **unused)
{
    (void)unused;
    struct world w;
    world_init(&w, 4, 1000, 0);
    assert_true(licences_of(&w, "amount=9") == 4.0);
    world_release(&w);
    world_init(&w, 4, 1000, 0);
    assert_true(licences_of(&w, "amount=9|consumable=JOB") == 1.0);
    world_release(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_state_has_a_partition_and_a_qos),
        cmocka_unit_test(fields_are_set_and_changed),
        cmocka_unit_test(refused_objects_change_nothing),
        cmocka_unit_test(objects_in_use_cannot_be_deleted),
        cmocka_unit_test(departments_with_users_cannot_be_deleted),
        cmocka_unit_test(departments_in_lists_of_users_cannot_be_deleted),
        cmocka_unit_test(a_deleted_object_can_be_added_again),
        cmocka_unit_test(settings_are_applied_together_or_not_at_all),
        cmocka_unit_test(tracked_tres_are_never_removed),
        cmocka_unit_test(a_change_of_the_model_makes_a_pass_due),
        cmocka_unit_test(accounts_and_users_have_a_priority),
        cmocka_unit_test(contradictory_rows_are_refused),
        cmocka_unit_test(objects_of_the_cluster_fit_together),
        cmocka_unit_test(factors_follow_the_algorithm),
        cmocka_unit_test(a_host_has_what_the_machine_has),
        cmocka_unit_test(a_job_is_charged_for_what_it_takes),
    };
    return cmocka_run_group_tests_name("engine objects", tests, NULL, NULL);
}
