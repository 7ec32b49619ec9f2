/* Resource quota sets in an instance: what starts, what names what, what changes at once, and what keeps a job back. */
#include "policy_world.h"

#include "engine/live_cluster.h"
#include "engine/priorities.h"
#include "engine/quota_usage.h"

/* Rules contain blanks. */
static struct event quota_event(enum event_kind kind, const char *name, const char *key, const char *value)
{
    static struct event_pair pair;
    pair = (struct event_pair){key, value};
    return (struct event){.kind = kind, .actor = world_operator, .object = {OBJECT_QUOTA, name, &pair, key != NULL}};
}

static void set_rules(struct world *w, const char *name, const char *rules)
{
    bool is_new = state_find_object(&w->s, OBJECT_QUOTA, name) == NONE;
    struct event event = quota_event(is_new ? EVENT_OBJECT_ADD : EVENT_OBJECT_MODIFY, name, "rules", rules);
    if (world_apply(w, event, NULL) != 0) fail_msg("%s: %s", rules, ERR_SENTENCE(&w->e));
}

static uint32_t take_job(struct world *w, const char *user, const char *pairs)
{
    struct event job = world_job(user);
    job.submit = job_with(job.submit, "%s", pairs);
    return world_take(w, job);
}

static const char *ids(uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
    static char text[TEXT_MAX];
    const uint32_t all[] = {a, b, c, d};
    size_t length = 0;
    text[0] = '\0';
    for (size_t i = 0; i < 4; i++) {
        if (all[i] != 0)
            length += (size_t)snprintf(text + length, sizeof text - length, "%s%u", length > 0 ? " " : "", all[i]);
    }
    return text;
}

/* The first rule that is for a job counts: ann has a pool of her own. A change counts at once. */
static void users_have_pools(void **unused)
{
    (void)unused;
    static const char *const models[] = {"priority/multifactor", "priority/tickets", "priority/basic"};
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        struct world w;
        char settings[TEXT_MAX];
        world_init(&w, 8, 100000, 0);
        snprintf(settings, sizeof settings, "PriorityType=%s weight_urgency=0", models[i]);
        world_settings(&w, settings);
        set_rules(&w, "users", "limit users ann to slots=1; limit users {*} to slots=2");
        uint32_t a = take_job(&w, "ann", "cpus=1"), b = take_job(&w, "ann", "cpus=1"),
                 c = take_job(&w, "bob", "cpus=2");
        uint32_t d = take_job(&w, "bob", "cpus=1"), e = take_job(&w, "eve", "cpus=1");
        assert_string_equal(world_starts(&w), ids(a, c, e, 0));
        world_end(&w, c, 0);
        assert_string_equal(world_starts(&w), ids(d, 0, 0, 0));
        set_rules(&w, "users", "limit users {*} to slots=2");
        assert_string_equal(world_starts(&w), ids(b, 0, 0, 0));
        world_release(&w);
    }
}

static void disabled_sets_do_not_count(void **unused)
{
    (void)unused;
    struct world w;
    world_init(&w, 8, 100000, 0);
    set_rules(&w, "none", "limit users * to slots=0");
    uint32_t a = take_job(&w, "ann", "cpus=1");
    assert_string_equal(world_starts(&w), "");
    assert_int_equal(world_apply(&w, quota_event(EVENT_OBJECT_MODIFY, "none", "enabled", "no"), NULL), 0);
    assert_string_equal(world_starts(&w), ids(a, 0, 0, 0));
    world_release(&w);
}

/* Nothing else limits the licence, which a rule does. */
static void projects_environments_and_resources(void **unused)
{
    (void)unused;
    struct world w;
    world_init(&w, 8, 100000, 0);
    world_object(&w, OBJECT_PROJECT, "p", "fshare=1");
    world_object(&w, OBJECT_RESOURCE, "license", "type=INT");
    world_object(&w, OBJECT_ENVIRONMENT, "mpi", "slots=100");
    world_object(&w, OBJECT_PARTITION, "main", "pe_list=mpi");
    set_rules(&w, "licenses", "limit projects p to license=2; limit projects !* pes !* to license=1");
    uint32_t a = take_job(&w, "ann", "project=p|requests=license=2"),
             b = take_job(&w, "ann", "project=p|requests=license=1");
    uint32_t c = take_job(&w, "ann", "requests=license=2"), d = take_job(&w, "ann", "pe=mpi|cpus=2|requests=license=2");
    uint32_t e = take_job(&w, "ann", "requests=license=1");
    assert_string_equal(world_starts(&w), ids(a, d, e, 0));
    set_rules(&w, "licenses", "limit projects p to license=3; limit to license=7");
    assert_string_equal(world_starts(&w), ids(b, c, 0, 0));
    world_release(&w);
}

/* A job that a quota keeps back is reserved when the quota's jobs end, and others are not in its way. */
static void quotas_are_reserved(void **unused)
{
    (void)unused;
    struct world w;
    struct schedule p;
    world_init(&w, 4, 100000, 0);
    set_rules(&w, "users", "limit users {*} to slots=2");
    uint32_t a = take_job(&w, "ann", "cpus=2|time_limit_s=100");
    assert_string_equal(world_starts(&w), ids(a, 0, 0, 0));
    uint32_t b = take_job(&w, "ann", "cpus=1|time_limit_s=50"), c = take_job(&w, "bob", "cpus=2|time_limit_s=500");
    assert_int_equal(schedule_make(&w.s, w.now_us, SCHEDULE_WITHOUT_ESTIMATES, &p, NULL), 0);
    assert_int_equal(p.rows.count, 3);
    assert_int_equal(w.s.jobs.items[p.rows.items[1].job].id, b);
    assert_int_equal(p.rows.items[1].state, SCHEDULE_RESERVED);
    assert_int_equal(p.rows.items[1].start_us, p.rows.items[0].end_us);
    assert_int_equal(p.rows.items[2].state, SCHEDULE_STARTING);
    schedule_release(&p);
    assert_string_equal(world_starts(&w), ids(c, 0, 0, 0));
    world_release(&w);
}

static void what_rules_name_exists(void **unused)
{
    (void)unused;
    struct world w;
    world_init(&w, 4, 100000, 0);
    static const char *const rows[][2] = {
        {"limit users {@chem} to slots=1", "quota 'q': rules: '@chem' in rule 1 is not a department"},
        {"limit to slots=1; limit projects p to slots=1", "quota 'q': rules: 'p' in rule 2 is not a project"},
        {"limit pes mpi to slots=1", "quota 'q': rules: 'mpi' in rule 1 is not a parallel environment"},
        {"limit queues night to slots=1", "quota 'q': rules: 'night' in rule 1 is not a partition"},
        {"limit name big hosts n1 to slots=1", "quota 'q': rules: 'n1' in rule big is not a host or a group of hosts"},
        {"limit hosts @all to slots=1", "quota 'q': rules: '@all' in rule 1 is not a host or a group of hosts"},
        {"limit to nix=1",
         "quota 'q': rules: 'nix' in rule 1 is not a resource of which jobs take amounts (a consumable)"},
        {"limit to arch=1",
         "quota 'q': rules: 'arch' in rule 1 is not a resource of which jobs take amounts (a consumable)"},
        {"limit to slots=many", "quota 'q': rules: 'many' in rule 1 is not a number from 0 to 1e15"},
        {"limit hosts {*} to slots=$nix*2",
         "quota 'q': rules: 'nix' in rule 1 is not a value of hosts that is a number"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        world_refuses(&w, quota_event(EVENT_OBJECT_ADD, "q", "rules", rows[i][0]), ERR_INPUT, rows[i][1]);
    world_object(&w, OBJECT_PROJECT, "p", "fshare=1");
    world_object(&w, OBJECT_DEPARTMENT, "chem", "fshare=1");
    world_object(&w, OBJECT_GROUP, "all", "hosts=localhost");
    set_rules(&w, "q", "limit users @chem projects p,x* hosts {@all} to slots=1");
    const struct {
        enum object_kind kind;
        const char *name, *text;
    } used[] = {{OBJECT_PROJECT, "p", "project 'p' is in use: without it, quota 'q': rules: 'p' in rule 1"},
                {OBJECT_DEPARTMENT, "chem", "department 'chem' is in use: without it, quota 'q'"},
                {OBJECT_GROUP, "all", "group 'all' is in use: without it, quota 'q'"}};
    for (size_t i = 0; i < sizeof used / sizeof *used; i++)
        world_refuses(&w, world_object_event(&w, EVENT_OBJECT_DELETE, used[i].kind, used[i].name, ""), ERR_CONFLICT,
                      used[i].text);
    assert_int_equal(world_apply(&w, quota_event(EVENT_OBJECT_DELETE, "q", NULL, NULL), NULL), 0);
    assert_int_equal(world_apply(&w, world_object_event(&w, EVENT_OBJECT_DELETE, OBJECT_PROJECT, "p", ""), NULL), 0);
    world_release(&w);
}

/* "users/2 bob/////": what keeps a waiting job back now. */
static const char *first_blockers(struct world *w, uint32_t job_id, uint32_t max)
{
    static char text[TEXT_MAX];
    struct live_cluster *l = live_cluster_update(&w->s, w->now_us);
    const struct job *j = &w->s.jobs.items[state_find_job(&w->s, job_id)];
    struct quota_blocker *found;
    uint32_t count =
        quota_usage_blockers(&l->model, job_demand(&l->demands, j, NONE), NONE, w->now_us, max, &w->s.cycle, &found);
    size_t length = 0;
    text[0] = '\0';
    for (uint32_t i = 0; i < count; i++)
        length += (size_t)snprintf(text + length, sizeof text - length, "%s%s %s", i > 0 ? "; " : "", found[i].rule,
                                   found[i].pool);
    return text;
}

static const char *blockers_of(struct world *w, uint32_t job_id)
{
    return first_blockers(w, job_id, 100);
}

/* Of a pool that several sets or hosts have each is listed once, and no more than were asked for. */
static void blockers_are_no_more_than_asked(void **unused)
{
    (void)unused;
    struct world w;
    world_init(&w, 8, 100000, 0);
    set_rules(&w, "a", "limit hosts * to slots=1");
    set_rules(&w, "b", "limit queues * to slots=1");
    set_rules(&w, "c", "limit hosts {*} to slots=1");
    set_rules(&w, "d", "limit hosts !localhost to slots=1");
    uint32_t job = take_job(&w, "ann", "cpus=2");
    assert_string_equal(first_blockers(&w, job, 100), "a/1 /////; b/1 /////; c/1 ////localhost/");
    assert_string_equal(first_blockers(&w, job, 2), "a/1 /////; b/1 /////");
    assert_string_equal(first_blockers(&w, job, 1), "a/1 /////");
    assert_string_equal(first_blockers(&w, job, 0), "");
    world_release(&w);
}

static void blockers_are_named(void **unused)
{
    (void)unused;
    struct world w;
    world_init(&w, 8, 100000, 0);
    set_rules(&w, "users", "limit users ann to slots=1; limit name each users {*} to slots=2");
    set_rules(&w, "hosts", "limit hosts {*} to slots=5");
    uint32_t a = take_job(&w, "ann", "cpus=1"), b = take_job(&w, "bob", "cpus=2"), c = take_job(&w, "eve", "cpus=1");
    assert_string_equal(world_starts(&w), ids(a, b, c, 0));
    assert_string_equal(blockers_of(&w, take_job(&w, "ann", "cpus=1")), "users/1 /////");
    assert_string_equal(blockers_of(&w, take_job(&w, "bob", "cpus=1")), "users/each bob/////");
    assert_string_equal(blockers_of(&w, take_job(&w, "joe", "cpus=2")), "hosts/1 ////localhost/");
    assert_string_equal(blockers_of(&w, take_job(&w, "joe", "cpus=1")), "");
    world_release(&w);
}

static enum pending_reason reason_of(struct world *w, uint32_t job_id)
{
    return job_pending_reason(&w->s, job_id, 1.0, w->now_us);
}

/* Of a parallel job a pool may have some room, but too little: of all instances, or of each host. */
static void parallel_jobs_name_their_quota(void **unused)
{
    (void)unused;
    static const char *const shapes[] = {"cpus=4|nodes=2", "cpus=4|nodes=1-2", "cpus=4|pe=mp",
                                         "cpus=4|slots_max=6|pe=mp"};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        struct world w;
        world_init(&w, 8, 100000, 0);
        world_object(&w, OBJECT_HOST, "n2", "");
        const struct event host = {.kind = EVENT_HOST, .host = {{8, 0, 100000}, "n2"}};
        assert_int_equal(world_apply(&w, host, NULL), 0);
        world_object(&w, OBJECT_ENVIRONMENT, "mp", "allocation_rule=$round_robin");
        world_object(&w, OBJECT_PARTITION, "main", "pe_list=mp");
        set_rules(&w, "users", "limit users {ann} to slots=3");
        set_rules(&w, "hosts", "limit users joe hosts {*} to slots=1");
        uint32_t a = take_job(&w, "ann", shapes[i]), b = take_job(&w, "joe", shapes[i]),
                 c = take_job(&w, "eve", shapes[i]);
        assert_string_equal(world_starts(&w), ids(c, 0, 0, 0));
        assert_string_equal(pending_reason_name(reason_of(&w, a)), "QuotaLimit");
        assert_string_equal(blockers_of(&w, a), "users/1 ann/////");
        assert_string_equal(pending_reason_name(reason_of(&w, b)), "QuotaLimit");
        assert_string_equal(blockers_of(&w, b), "hosts/1 ////localhost/; hosts/1 ////n2/");
        world_release(&w);
    }
}

/* A department is that of now, also for what runs. */
static void departments_change(void **unused)
{
    (void)unused;
    struct world w;
    world_init(&w, 8, 100000, 0);
    world_object(&w, OBJECT_DEPARTMENT, "chem", "fshare=1");
    world_object(&w, OBJECT_USER_POLICY, "ann", "fshare=1");
    set_rules(&w, "chem", "limit users @chem to slots=1");
    uint32_t a = take_job(&w, "ann", "cpus=1"), b = take_job(&w, "ann", "cpus=1");
    assert_string_equal(world_starts(&w), ids(a, b, 0, 0));
    world_object(&w, OBJECT_USER_POLICY, "ann", "department=chem");
    uint32_t c = take_job(&w, "ann", "cpus=1");
    assert_string_equal(world_starts(&w), "");
    world_end(&w, a, 0);
    assert_string_equal(world_starts(&w), "");
    world_end(&w, b, 0);
    assert_string_equal(world_starts(&w), ids(c, 0, 0, 0));
    world_release(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(users_have_pools),
        cmocka_unit_test(disabled_sets_do_not_count),
        cmocka_unit_test(projects_environments_and_resources),
        cmocka_unit_test(quotas_are_reserved),
        cmocka_unit_test(what_rules_name_exists),
        cmocka_unit_test(blockers_are_named),
        cmocka_unit_test(blockers_are_no_more_than_asked),
        cmocka_unit_test(parallel_jobs_name_their_quota),
        cmocka_unit_test(departments_change),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
