/* The audit log: what each kind of event enters, and what it does not. */
#include "engine_world.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* The entries of the outcome: "command name field before after", "-" for none, a line each; the outcome is emptied. */
static const char *entries(struct world *w)
{
    static struct buf text;
    buf_clear(&text);
    buf_add_text(&text, "");
    for (uint32_t i = 0; i < w->out.audit.count; i++) {
        const struct audit_entry *a = &w->out.audit.items[i];
        assert_true(a->at_us == w->now_us);
        buf_format(&text, "%s%s %s %s %s %s", i > 0 ? "\n" : "", a->command, a->name, a->field ? a->field : "-",
                   a->before ? a->before : "-", a->after ? a->after : "-");
    }
    outcome_clear(&w->out);
    return text.text;
}

static void must(struct world *w, struct event event)
{
    if (world_apply(w, event, NULL) != 0) fail_msg("%s", ERR_SENTENCE(&w->e));
}

static struct event account_event(enum event_kind kind, const char *name)
{
    return (struct event){.kind = kind, .account = {name, NULL, SHARES_UNSET, PRIORITY_UNSET}};
}

static struct event user_event(enum event_kind kind, const char *name, const char *account)
{
    return (struct event){.kind = kind, .user = {name, account, SHARES_UNSET, false, PRIORITY_UNSET}};
}

static void accounts_and_users(void **unused)
{
    struct world w;
    (void)unused;
    world_init(&w, 4, 1024, 0);
    const struct event_pair limit = {"GrpJobs", "10"};
    struct event event = account_event(EVENT_ACCOUNT_ADD, "physics");
    event.account.shares = 70;
    event.account.pairs = &limit;
    event.account.count = 1;
    must(&w, event);
    assert_string_equal(entries(&w), "account add physics shares - 70\naccount add physics GrpJobs - 10");
    event = account_event(EVENT_ACCOUNT_ADD, "optics");
    event.account.parent = "physics";
    must(&w, event);
    assert_string_equal(entries(&w), "account add optics shares - 1\naccount add optics parent - physics");
    event.kind = EVENT_ACCOUNT_MODIFY;
    event.account.parent = "root";
    event.account.shares = SHARES_PARENT;
    must(&w, event);
    assert_string_equal(entries(&w),
                        "account modify optics shares 1 parent\naccount modify optics parent physics root");
    must(&w, user_event(EVENT_USER_ADD, "bob", "optics"));
    assert_string_equal(entries(&w), "user add optics/bob shares - 1\nuser add optics/bob default - true");
    event = user_event(EVENT_USER_ADD, "bob", "physics");
    event.user.make_default = true;
    must(&w, event);
    assert_string_equal(entries(&w), "user add optics/bob default true false\nuser add physics/bob shares - 1\n"
                                     "user add physics/bob default - true");
    event = user_event(EVENT_USER_MODIFY, "bob", "physics");
    event.user.priority = 7;
    must(&w, event);
    assert_string_equal(entries(&w), "user modify physics/bob priority parent 7");
    must(&w, user_event(EVENT_USER_DELETE, "bob", "physics"));
    assert_string_equal(entries(&w),
                        "user delete physics/bob shares 1 -\nuser delete physics/bob priority 7 -\n"
                        "user delete physics/bob default true -\nuser delete optics/bob default false true");
    must(&w, user_event(EVENT_USER_DELETE, "bob", NULL));
    must(&w, account_event(EVENT_ACCOUNT_DELETE, "optics"));
    assert_string_equal(entries(&w), "user delete optics/bob shares 1 -\nuser delete optics/bob default true -\n"
                                     "account delete optics shares parent -");
    world_release(&w);
}

static void settings(void **unused)
{
    struct world w;
    (void)unused;
    world_init(&w, 4, 1024, 0);
    world_set(&w, "host_cpus", "2");
    assert_string_equal(entries(&w), "set host_cpus - auto 2");
    world_set(&w, "host_cpus", "2");
    assert_string_equal(entries(&w), "");
    world_set(&w, "PriorityUsageResetPeriod", "NOW");
    assert_string_equal(entries(&w), "set PriorityUsageResetPeriod - NONE NOW");
    const struct event_pair pairs[] = {{"host_cpus", "3"}, {"default_cpus", "2"}};
    must(&w, (struct event){.kind = EVENT_SETTINGS, .is_of_file = true, .settings = {pairs, 2}});
    assert_string_equal(entries(&w), "start default_cpus - 1 2\nstart host_cpus - 2 3");
    world_release(&w);
}

static void objects(void **unused)
{
    struct world w;
    (void)unused;
    world_init(&w, 4, 1024, 0);
    world_object(&w, OBJECT_PARTITION, "p", "PriorityTier=5");
    assert_string_equal(entries(&w), "partition add p PriorityTier - 5");
    world_object(&w, OBJECT_PARTITION, "p", "State=DRAIN|PriorityTier=5");
    assert_string_equal(entries(&w), "partition modify p state UP DRAIN");
    must(&w, world_object_event(&w, EVENT_OBJECT_DELETE, OBJECT_PARTITION, "p", ""));
    assert_string_equal(entries(&w), "partition delete p PriorityTier 5 -\npartition delete p state DRAIN -");
    world_object(&w, OBJECT_PROJECT, "plain", "");
    assert_string_equal(entries(&w), "project add plain - - -");
    must(&w, world_object_event(&w, EVENT_OBJECT_DELETE, OBJECT_PROJECT, "plain", ""));
    assert_string_equal(entries(&w), "project delete plain - - -");
    world_object(&w, OBJECT_RESOURCE, "slots", "urgency=7");
    assert_string_equal(entries(&w), "resource add slots urgency 1000 7");
    world_release(&w);
}

static void resets_of_usage(void **unused)
{
    struct world w;
    (void)unused;
    world_init(&w, 4, 1024, 0);
    world_user(&w, "physics", 1, "ann");
    const struct event_pair reset = {"RawUsage", "0"};
    world_set(&w, "PriorityDecayHalfLife", "0");
    world_submit(&w, "ann", NULL, 2);
    world_pass(&w);
    world_started(&w, 1);
    w.now_us += 100 * SECOND;
    outcome_clear(&w.out);
    struct event event = account_event(EVENT_ACCOUNT_MODIFY, "physics");
    event.account.resets_usage = true;
    must(&w, event);
    assert_string_equal(entries(&w), "account modify physics RawUsage 200 0");
    must(&w, (struct event){.kind = EVENT_OBJECT_MODIFY, .object = {OBJECT_QOS, "normal", &reset, 1}});
    assert_string_equal(entries(&w), "qos modify normal RawUsage 200 0");
    w.now_us += 50 * SECOND;
    event = user_event(EVENT_USER_MODIFY, "ann", NULL);
    event.user.resets_usage = true;
    must(&w, event);
    assert_string_equal(entries(&w), "user modify physics/ann RawUsage 100 0");
    world_release(&w);
}

static struct event of_jobs(enum event_kind kind, const struct job_ref *refs, uint32_t count)
{
    return (struct event){.kind = kind, .jobs = {.refs = refs, .count = count, .all = count == 0}};
}

static void jobs_of_others(void **unused)
{
    struct world w;
    (void)unused;
    world_init(&w, 4, 1024, 0);
    world_user(&w, "physics", 1, "ann");
    world_user(&w, "physics", 1, "alice"); /* the operator */
    for (int i = 0; i < 3; i++) world_submit(&w, i == 1 ? "alice" : "ann", NULL, 1);
    const struct job_ref refs[] = {{1, NONE}, {2, NONE}, {3, NONE}};
    outcome_clear(&w.out);
    must(&w, of_jobs(EVENT_HOLD, refs, 1));
    assert_string_equal(entries(&w), "hold 1 - - -");
    must(&w, of_jobs(EVENT_HOLD, &refs[1], 1));
    assert_string_equal(entries(&w), "");
    must(&w, of_jobs(EVENT_RELEASE, NULL, 0));
    assert_string_equal(entries(&w), "release 1 - - -");
    must(&w, world_update(1, job_text("name=other|nice=5")));
    assert_string_equal(entries(&w), "update 1 name job other\nupdate 1 nice 0 5");
    must(&w, world_update(2, job_text("nice=5")));
    assert_string_equal(entries(&w), "");
    struct event own = of_jobs(EVENT_HOLD, &refs[2], 1);
    own.actor = (struct actor){1001, 1001, "ann", ROLE_USER};
    must(&w, own);
    assert_string_equal(entries(&w), "");
    struct event dry = of_jobs(EVENT_CANCEL, NULL, 0);
    struct arena arena = {0};
    struct jobs_report report = {.arena = &arena};
    dry.jobs.is_dry_run = true;
    dry.jobs.report = &report;
    must(&w, dry);
    assert_string_equal(entries(&w), "");
    arena_release(&arena);
    must(&w, of_jobs(EVENT_CANCEL, refs, 3));
    assert_string_equal(entries(&w), "cancel 1,3 - - -");
    world_release(&w);
}

/* Also a signal, which changes no row. */
static void running_jobs_of_others(void **unused)
{
    struct world w;
    const struct job_ref refs[] = {{1, NONE}, {2, NONE}};
    (void)unused;
    world_init(&w, 4, 1024, 0);
    world_user(&w, "physics", 1, "ann");
    world_user(&w, "physics", 1, "alice"); /* the operator */
    for (uint32_t id = 1; id <= 2; id++) {
        world_submit(&w, id == 1 ? "ann" : "alice", NULL, 1);
        assert_int_equal(world_pass(&w), 1);
        world_started(&w, world_task(&w, id, 0)->launch_id);
    }
    outcome_clear(&w.out);
    struct event signal = of_jobs(EVENT_SIGNAL, refs, 2);
    signal.jobs.signal = 10;
    must(&w, signal);
    assert_string_equal(entries(&w), "signal 1 - - USR1");
    must(&w, of_jobs(EVENT_SUSPEND, refs, 2));
    assert_string_equal(entries(&w), "suspend 1 - - -");
    must(&w, of_jobs(EVENT_RESUME, NULL, 0));
    assert_string_equal(entries(&w), "resume 1 - - -");
    struct event own = of_jobs(EVENT_SUSPEND, refs, 1);
    own.actor = (struct actor){1001, 1001, "ann", ROLE_USER};
    must(&w, own);
    assert_string_equal(entries(&w), "");
    world_release(&w);
}

static void a_refused_change_is_not_entered(void **unused)
{
    struct world w;
    (void)unused;
    world_init(&w, 4, 1024, 0);
    outcome_clear(&w.out);
    const struct event_pair pairs[] = {{"host_cpus", "2"}, {"host_cpus", "none"}};
    world_refuses(&w, (struct event){.kind = EVENT_SETTINGS, .settings = {pairs, 2}}, ERR_INPUT, "host_cpus");
    world_refuses(&w, account_event(EVENT_ACCOUNT_DELETE, "none"), ERR_NOT_FOUND, "none");
    assert_int_equal(w.out.audit.count, 0);
    world_release(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accounts_and_users),
        cmocka_unit_test(settings),
        cmocka_unit_test(objects),
        cmocka_unit_test(resets_of_usage),
        cmocka_unit_test(jobs_of_others),
        cmocka_unit_test(running_jobs_of_others),
        cmocka_unit_test(a_refused_change_is_not_entered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
