/* Limits of associations and QOS: how values are set, merged and cleared; which QOS, account and time limit a
 * submission may have by AccountingStorageEnforce and EnforcePartLimits. Recorded from Slurm 22.05.8: values that are
 * cleared by -1; an account that is replaced without enforcement; jobs that are accepted, and refused, by their QOS. */
#include "engine_world.h"

#include "engine/assoc_limits.h"
#include "engine/priorities.h"
#include "fields/limit_fields.h"

/* pairs: "KEY=VALUE|KEY=VALUE", where a key may end in + or -. */
static const struct event_pair *pairs_of(struct world *w, const char *text, uint32_t *out_count)
{
    struct event_pair *pairs = arena_alloc(&w->s.arena, 12 * sizeof *pairs);
    *out_count = 0;
    for (struct str rest = str(text); rest.text != NULL;) {
        struct str value, key = str_cut(str_cut(rest, '|', &rest), '=', &value);
        pairs[(*out_count)++] = (struct event_pair){arena_copy(&w->s.arena, key), arena_copy(&w->s.arena, value)};
    }
    return pairs;
}

static struct event account_event(struct world *w, enum event_kind kind, const char *name, const char *text)
{
    struct event event = {.kind = kind, .account = {.name = name, .shares = SHARES_UNSET, .priority = PRIORITY_UNSET}};
    event.account.pairs = pairs_of(w, text, &event.account.count);
    return event;
}

static struct event user_event(struct world *w, enum event_kind kind, const char *name, const char *account,
                               const char *text)
{
    struct event event = {
        .kind = kind, .user = {.name = name, .account = account, .shares = SHARES_UNSET, .priority = PRIORITY_UNSET}};
    event.user.pairs = pairs_of(w, text, &event.user.count);
    return event;
}

static struct event account_change(struct world *w, const char *name, const char *text)
{
    return account_event(w, EVENT_ACCOUNT_MODIFY, name, text);
}

static struct event user_change(struct world *w, const char *name, const char *account, const char *text)
{
    return user_event(w, EVENT_USER_MODIFY, name, account, text);
}

static void accept(struct world *w, struct event event)
{
    if (world_apply(w, event, NULL) != 0) fail_msg("%s", ERR_SENTENCE(&w->e));
}

/* The limits that are set, as text. */
static const char *limits_of(struct world *w, const char *account, const char *user)
{
    static struct buf text;
    buf_clear(&text);
    buf_add_text(&text, "");
    const struct assoc *a = &w->s.assocs.items[state_find_assoc(&w->s, account, user)];
    limit_fields_format(limit_fields.rows, limit_fields.count, assoc_limits_of(a), &text);
    return text.text;
}

/* root > a > (a1: ann, bob), root > b: ann; QOS normal, short, long. */
static void world_tree(struct world *w)
{
    world_init(w, 8, 8000, 2);
    world_user(w, "a", 1, "eve");
    world_user(w, "a1", 1, "ann");
    accept(w, (struct event){.kind = EVENT_ACCOUNT_MODIFY, .account = {"a1", "a", SHARES_UNSET, PRIORITY_UNSET}});
    world_user(w, "a1", 1, "bob");
    world_user(w, "b", 1, "ann");
    world_object(w, OBJECT_QOS, "short", "");
    world_object(w, OBJECT_QOS, "long", "");
}

static void limits_are_set_merged_and_cleared(void **unused)
{
    static const struct {
        const char *change, *after;
    } rows[] = {
        {"GrpJobs=10|GrpTRES=cpu=8", "GrpJobs=10 GrpTRES=cpu=8"},
        {"GrpTRES=mem=2G,gres/gpu=0", "GrpJobs=10 GrpTRES=cpu=8,mem=2048,gres/gpu=0"},
        {"grptres=CPU=-1", "GrpJobs=10 GrpTRES=mem=2048,gres/gpu=0"},
        {"GrpTRES=-1|MaxWall=2-0", "GrpJobs=10 MaxWall=2-00:00:00"},
        {"GrpJobs=-1|MaxTRES=cpu=4|MaxTRESMins=cpu=90", "MaxWall=2-00:00:00 MaxTRES=cpu=4 MaxTRESMins=cpu=90"},
        {"MaxTRES=UNLIMITED|MaxTRESMins=INFINITE", "MaxWall=2-00:00:00"},
        {"MaxWall=UNLIMITED|MaxTRESPJ=cpu=3", "MaxTRES=cpu=3"},
        {"MaxTRES=", ""},
        {"MaxSubmit=0|GrpSubmit=7|MaxTRESPN=cpu=1", "GrpSubmitJobs=7 MaxSubmitJobs=0 MaxTRESPerNode=cpu=1"},
        {"MaxSubmitJobs=-1|GrpSubmitJobs=INFINITE|MaxTRESPerNode=cpu=-1", ""},
        {"QosLevel=normal, long,normal", "QosLevel=normal,long"},
        {"QosLevel+=short,long", "QosLevel=normal,long,short"},
        {"QOS-=long", "QosLevel=normal,short"},
        {"DefaultQOS=short", "QosLevel=normal,short DefaultQOS=short"},
        {"DefaultQOS=-1|QosLevel=", ""},
    };
    (void)unused;
    struct world w;
    world_tree(&w);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint64_t before = state_hash(&w.s);
        accept(&w, account_change(&w, "a1", rows[i].change));
        assert_string_equal(limits_of(&w, "a1", NULL), rows[i].after);
        assert_true(state_hash(&w.s) != before);
        assert_true(w.out.changes.count > 0);
    }
    assert_null(w.s.assocs.items[state_find_assoc(&w.s, "a1", NULL)].limits);
    world_release(&w);
}

static void limits_of_a_user_are_those_of_each_association(void **unused)
{
    (void)unused;
    struct world w;
    world_tree(&w);
    accept(&w, user_change(&w, "ann", NULL, "MaxJobs=4"));
    accept(&w, user_change(&w, "ann", "b", "GrpTRES=cpu=2"));
    assert_string_equal(limits_of(&w, "a1", "ann"), "MaxJobs=4");
    assert_string_equal(limits_of(&w, "b", "ann"), "GrpTRES=cpu=2 MaxJobs=4");
    assert_string_equal(limits_of(&w, "a1", "bob"), "");
    accept(&w, account_event(&w, EVENT_ACCOUNT_ADD, "c", "MaxWall=10|DefaultQOS=long"));
    accept(&w, user_event(&w, EVENT_USER_ADD, "new", "c", "MaxJobs=1"));
    assert_string_equal(limits_of(&w, "c", NULL), "MaxWall=00:10:00 DefaultQOS=long");
    assert_string_equal(limits_of(&w, "c", "new"), "MaxJobs=1");
    accept(&w, account_change(&w, "root", "GrpJobs=100"));
    assert_string_equal(limits_of(&w, "root", NULL), "GrpJobs=100");
    accept(&w, (struct event){.kind = EVENT_USER_DELETE, .user = {.name = "new"}});
    accept(&w, (struct event){.kind = EVENT_USER_ADD,
                              .user = {.name = "new", .account = "c", .shares = 1, .priority = PRIORITY_UNSET}});
    assert_string_equal(limits_of(&w, "c", "new"), "");
    world_release(&w);
}

static void wrong_limits_are_refused(void **unused)
{
    static const struct {
        const char *change;
        enum err_code code;
        const char *part;
    } rows[] = {
        {"NoSuch=1", ERR_INPUT, "account 'a1': 'NoSuch' is not a field; the fields are: GrpJobs, "},
        {"GrpJobs+=1", ERR_INPUT, "'GrpJobs+' is not a field; did you mean 'GrpJobs'?"},
        {"GrpJobs=-2", ERR_INPUT, "account 'a1': GrpJobs: '-2' is not a whole number from 0 to 4294967293"},
        {"GrpJobs=4294967294", ERR_INPUT, "GrpJobs: '4294967294' is not a whole number"},
        {"GrpJobs=", ERR_INPUT, "GrpJobs: '' is not a whole number"},
        {"MaxWall=-5", ERR_INPUT, "MaxWall: '-5'"},
        {"MaxWall=9999999999", ERR_INPUT, "MaxWall: '9999999999'"},
        {"GrpTRES=cpu=1|GrpTRES=coffee=1", ERR_INPUT, "GrpTRES: 'coffee' is not a tracked TRES"},
        {"GrpTRES=cpu=-2", ERR_INPUT, "GrpTRES: 'cpu=-2' is not TRES=COUNT"},
        {"GrpTRES=cpu=1.5", ERR_INPUT, "GrpTRES: 'cpu=1.5' is not TRES=COUNT"},
        {"GrpTRES=cpu", ERR_INPUT, "GrpTRES: 'cpu' is not TRES=NUMBER"},
        {"GrpTRES=cpu=1,cpu=2", ERR_INPUT, "GrpTRES: 'cpu' is named twice"},
        {"QosLevel=normal,none", ERR_NOT_FOUND, "no qos 'none'"},
        {"QosLevel=normal,,long", ERR_NOT_FOUND, "no qos ''"},
        {"QosLevel-=long", ERR_INPUT, "QosLevel: 'long' cannot be removed: every QOS is allowed; give QosLevel=LIST"},
        {"QosLevel+=long", ERR_INPUT, "QosLevel: 'long' cannot be added: every QOS is allowed; give QosLevel=LIST"},
        {"QosLevel=normal|QosLevel-=long", ERR_INPUT, "QosLevel: 'long' is not in the list, which is 'normal'"},
        {"DefaultQOS=none", ERR_NOT_FOUND, "no qos 'none'"},
        {"QosLevel=normal|DefaultQOS=long", ERR_INPUT,
         "account 'a1' has DefaultQOS long, which is not in its QosLevel"},
    };
    (void)unused;
    struct world w;
    world_tree(&w);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        world_refuses(&w, account_change(&w, "a1", rows[i].change), rows[i].code, rows[i].part);
    world_refuses(&w, user_change(&w, "ann", NULL, "MaxJobs=x"), ERR_INPUT, "user 'ann': MaxJobs: 'x'");
    world_refuses(&w, account_event(&w, EVENT_ACCOUNT_ADD, "new", "MaxJobs=x"), ERR_INPUT, "account 'new': MaxJobs");
    world_refuses(&w, account_change(&w, "root", "GrpJobs=-2"), ERR_INPUT, "account 'root': GrpJobs");
    struct event also_shares = account_change(&w, "root", "GrpJobs=2");
    also_shares.account.shares = 4;
    world_refuses(&w, also_shares, ERR_CONFLICT, "only its limits and its RawUsage can be changed");
    struct event by_user = account_change(&w, "a1", "GrpJobs=1");
    by_user.actor = (struct actor){1000, 1000, "ann", ROLE_USER};
    world_refuses(&w, by_user, ERR_DENIED, "modify accounts");
    world_release(&w);
}

/* What is added to an inherited list, or removed from it, leaves the others of that list allowed. */
static void an_inherited_list_of_qos_is_changed(void **unused)
{
    static const struct {
        const char *above, *change, *after;
    } rows[] = {
        {"QosLevel=normal,short", "QosLevel+=long", "QosLevel=normal,short,long"},
        {"QosLevel=normal,short", "QosLevel-=short", "QosLevel=normal"},
        {"QosLevel=normal,short", "QosLevel+=short", "QosLevel=normal,short"},
        {"QosLevel=normal,short", "QosLevel+=", ""},
    };
    (void)unused;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct world w;
        world_tree(&w);
        accept(&w, account_change(&w, "a", rows[i].above));
        accept(&w, account_change(&w, "a1", rows[i].change));
        assert_string_equal(limits_of(&w, "a1", NULL), rows[i].after);
        world_refuses(&w, user_change(&w, "ann", "a1", "QosLevel-=none"), ERR_INPUT, "is not in the list, which is '");
        world_release(&w);
    }
}

/* The default QOS is one of those that are allowed, in the account itself and in all below it. */
static void a_default_qos_is_allowed(void **unused)
{
    (void)unused;
    struct world w;
    world_tree(&w);
    accept(&w, user_change(&w, "ann", "a1", "DefaultQOS=long"));
    world_refuses(&w, account_change(&w, "a", "QosLevel=normal"), ERR_CONFLICT,
                  "user 'ann' has DefaultQOS long in account 'a1', which is not in the QosLevel there, normal");
    accept(&w, account_change(&w, "a1", "QosLevel=long"));
    accept(&w, account_change(&w, "a", "QosLevel=normal"));
    world_refuses(&w, account_change(&w, "a1", "QosLevel="), ERR_CONFLICT, "user 'ann' has DefaultQOS long");
    world_refuses(&w, user_event(&w, EVENT_USER_ADD, "new", "a1", "DefaultQOS=short"), ERR_INPUT,
                  "user 'new' has DefaultQOS short in account 'a1'");
    accept(&w, account_change(&w, "b", "DefaultQOS=short"));
    struct event move = account_change(&w, "b", "GrpJobs=1");
    move.account.parent = "a";
    world_refuses(&w, move, ERR_INPUT, "account 'b' has DefaultQOS short, which is not in its QosLevel, normal");
    world_release(&w);
}

static void a_qos_in_use_stays(void **unused)
{
    (void)unused;
    struct world w;
    world_tree(&w);
    const struct event delete = {.kind = EVENT_OBJECT_DELETE, .object = {OBJECT_QOS, "long", NULL, 0}};
    world_refuses(&w, world_object_event(&w, EVENT_OBJECT_MODIFY, OBJECT_PARTITION, "main", "QOS=none"), ERR_NOT_FOUND,
                  "no qos 'none'");
    world_object(&w, OBJECT_PARTITION, "main", "QOS=long");
    world_refuses(&w, delete, ERR_CONFLICT, "it is the QOS of partition 'main'");
    world_object(&w, OBJECT_PARTITION, "main", "QOS=");
    accept(&w, account_change(&w, "a1", "QosLevel=normal,long"));
    world_refuses(&w, delete, ERR_CONFLICT, "QosLevel or DefaultQOS of account 'a1' has it");
    accept(&w, account_change(&w, "a1", "QosLevel="));
    accept(&w, user_change(&w, "ann", "b", "DefaultQOS=long"));
    world_refuses(&w, delete, ERR_CONFLICT, "QosLevel or DefaultQOS of user 'ann' in account 'b' has it");
    accept(&w, (struct event){.kind = EVENT_USER_DELETE, .user = {.name = "ann", .account = "b"}});
    accept(&w, delete);
    world_release(&w);
}

static void limits_of_a_qos_are_merged(void **unused)
{
    (void)unused;
    struct world w;
    world_tree(&w);
    world_object(&w, OBJECT_QOS, "long", "MaxTRESPU=cpu=8,mem=1G|MaxJobsPU=3|MaxSubmitPA=9");
    world_object(&w, OBJECT_QOS, "long",
                 "MaxTRESPerUser=mem=-1,node=2|MinTRESPJ=cpu=2|UsageThreshold=0.25|UsageFactor=2");
    const struct field_value *v =
        w.s.objects[OBJECT_QOS].items[state_find_object(&w.s, OBJECT_QOS, "long")].object.value;
    assert_string_equal(v[QOS_MAX_TRES_PER_USER].text, "cpu=8,node=2");
    assert_string_equal(v[QOS_MIN_TRES].text, "cpu=2");
    assert_int_equal(v[QOS_MAX_JOBS_PER_USER].number, 3);
    assert_int_equal(v[QOS_MAX_SUBMIT_PER_ACCOUNT].number, 9);
    assert_true(v[QOS_USAGE_THRESHOLD].real == 0.25 && v[QOS_USAGE_FACTOR].real == 2.0);
    world_refuses(&w, world_object_event(&w, EVENT_OBJECT_MODIFY, OBJECT_QOS, "long", "MinTRES=cpu=x"), ERR_INPUT,
                  "qos 'long': MinTRES: 'cpu=x' is not TRES=COUNT");
    world_release(&w);
}

/* --- submissions -------------------------------------------------------------------------------------------------- */

static struct event submission(const char *user, const char *account, const char *fields)
{
    struct event event = world_submission(user, account, 1);
    if (fields[0] != '\0') event.submit = job_with(event.submit, "%s", fields);
    return event;
}

/* "account user qos" of a job that is accepted. */
static void expect_job(struct world *w, struct event event, const char *expected)
{
    uint32_t id;
    char text[100];
    if (world_apply(w, event, &id) != 0) fail_msg("%s: %s", expected, ERR_SENTENCE(&w->e));
    const struct job *j = &w->s.jobs.items[state_find_job(&w->s, id)];
    const struct assoc *a = &w->s.assocs.items[j->assoc];
    text_format(text, sizeof text, "%s %s %s", a->account, a->user, w->s.objects[OBJECT_QOS].items[j->qos].object.name);
    assert_string_equal(text, expected);
}

static void accounts_are_enforced_or_replaced(void **unused)
{
    (void)unused;
    struct world w;
    world_tree(&w);
    world_set(&w, "AccountingStorageEnforce", "none");
    expect_job(&w, submission("ann", "a1", ""), "a1 ann normal");
    expect_job(&w, submission("bob", "b", ""), "a1 bob normal");
    expect_job(&w, submission("bob", "nosuch", ""), "a1 bob normal");
    expect_job(&w, submission("ann", "b", ""), "b ann normal");
    expect_job(&w, submission("stranger", "b", ""), "default stranger normal");
    world_set(&w, "AccountingStorageEnforce", "associations");
    expect_job(&w, submission("ann", "b", ""), "b ann normal");
    world_refuses(&w, submission("bob", "b", ""), ERR_NOT_FOUND, "user 'bob' is not in account 'b'");
    world_refuses(&w, submission("bob", "nosuch", ""), ERR_NOT_FOUND, "no account 'nosuch'");
    world_refuses(&w, submission("other", "b", ""), ERR_NOT_FOUND, "user 'other' is not in account 'b'");
    world_release(&w);
}

static void a_qos_is_allowed_by_the_nearest_list(void **unused)
{
    (void)unused;
    struct world w;
    world_tree(&w);
    accept(&w, account_change(&w, "a", "QosLevel=normal,short|DefaultQOS=short"));
    accept(&w, user_change(&w, "bob", NULL, "QosLevel=long|DefaultQOS=long"));
    world_set(&w, "AccountingStorageEnforce", "qos");
    expect_job(&w, submission("ann", "a1", ""), "a1 ann short");
    expect_job(&w, submission("ann", "a1", "qos=normal"), "a1 ann normal");
    expect_job(&w, submission("ann", "b", "qos=long"), "b ann long");
    expect_job(&w, submission("bob", NULL, ""), "a1 bob long");
    world_refuses(&w, submission("ann", "a1", "qos=long"), ERR_INPUT,
                  "qos: 'long' is not allowed to user 'ann' in account 'a1'; allowed are normal,short");
    world_refuses(&w, submission("bob", NULL, "qos=short"), ERR_INPUT, "allowed are long");
    world_refuses(&w, submission("ann", "a1", "qos=nosuch"), ERR_NOT_FOUND, "no qos 'nosuch'");
    uint32_t id = w.s.jobs.items[0].id;
    world_refuses(&w, world_update(id, job_text("qos=long")), ERR_INPUT, "qos: 'long' is not allowed");
    assert_int_equal(world_apply(&w, world_update(id, job_text("qos=normal")), NULL), 0);
    world_set(&w, "AccountingStorageEnforce", "limits");
    expect_job(&w, submission("ann", "a1", "qos=long"), "a1 ann long");
    assert_int_equal(world_apply(&w, world_update(id, job_text("qos=long")), NULL), 0);
    world_release(&w);
}

/* A submission that is refused does not add the user's association. */
static void a_new_user_has_the_lists_of_root(void **unused)
{
    (void)unused;
    struct world w;
    world_tree(&w);
    world_set(&w, "AccountingStorageEnforce", "qos");
    accept(&w, account_change(&w, "root", "QosLevel=short,long|DefaultQOS=short"));
    world_refuses(&w, submission("new", NULL, "qos=normal"), ERR_INPUT, "'normal' is not allowed");
    assert_int_equal(state_default_assoc(&w.s, "new"), NONE);
    expect_job(&w, submission("new", NULL, ""), "default new short");
    world_release(&w);
}

static void partition_limits_are_of_any_of_all_or_of_none(void **unused)
{
    (void)unused;
    struct world w;
    world_tree(&w);
    world_object(&w, OBJECT_PARTITION, "main", "MaxTime=10");
    world_object(&w, OBJECT_PARTITION, "late", "MaxTime=60");
    const struct event both = submission("ann", NULL, "partitions=main,late|time_limit_s=1800");
    const struct event neither = submission("ann", NULL, "partitions=main,late|time_limit_s=7200");
    expect_job(&w, both, "a1 ann normal");
    world_refuses(&w, neither, ERR_TOO_LARGE, "exceeds MaxTime of partition 'late': 01:00:00");
    world_set(&w, "EnforcePartLimits", "ALL");
    world_refuses(&w, both, ERR_TOO_LARGE, "exceeds MaxTime of partition 'main': 00:10:00");
    expect_job(&w, submission("ann", NULL, "partitions=main,late"), "a1 ann normal");
    assert_int_equal(w.s.jobs.items[w.s.jobs.count - 1].time_limit_s, 600);
    world_set(&w, "EnforcePartLimits", "NO");
    expect_job(&w, neither, "a1 ann normal");
    assert_int_equal(world_pass(&w), 2);
    const struct job *j = &w.s.jobs.items[w.s.jobs.count - 1];
    assert_int_equal(j->time_limit_s, 7200);
    assert_int_equal(j->live_tasks, 0);
    world_object(&w, OBJECT_PARTITION, "late", "MaxTime=120");
    assert_int_equal(world_pass(&w), 1);
    world_release(&w);
}

/* --- waiting jobs ------------------------------------------------------------------------------------------------- */

/* A job that waits with a QOS that is taken away starts when the QOS is given back, or the job has another one. What
 * runs goes on. */
static void a_qos_that_is_taken_away(void **unused)
{
    (void)unused;
    static const char *const ways[] = {"given back", "another QOS", "not enforced"};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        struct world w;
        world_tree(&w);
        accept(&w, account_change(&w, "a1", "QosLevel=normal,long"));
        const struct job_values *v = job_with(world_submission("ann", "a1", 8).submit, "qos=long");
        const struct event submission = {.kind = EVENT_SUBMIT, .actor = {1000, 1000, "ann", ROLE_USER}, .submit = v};
        uint32_t running, id;
        assert_int_equal(world_apply(&w, submission, &running), 0);
        assert_int_equal(world_pass(&w), 1);
        assert_int_equal(world_apply(&w, submission, &id), 0);
        accept(&w, account_change(&w, "a1", "QosLevel=normal"));
        const uint64_t launch_id = world_task(&w, running, 0)->launch_id;
        world_started(&w, launch_id);
        world_ended(&w, launch_id, JOB_COMPLETED, w.now_us);
        assert_int_equal(world_pass(&w), 0);
        assert_string_equal(pending_reason_name(job_pending_reason(&w.s, id, 1.0, w.now_us)), "InvalidQOS");
        if (i == 0) accept(&w, account_change(&w, "a1", "QosLevel=normal,long"));
        if (i == 1) accept(&w, world_update(id, job_text("qos=normal")));
        if (i == 2) world_set(&w, "AccountingStorageEnforce", "associations,limits");
        if (world_pass(&w) != 1) fail_msg("%s: it does not start", ways[i]);
        world_release(&w);
    }
}

/* A user may have an association for one partition, which may not allow the QOS there: the job starts in the other. */
static void a_qos_that_one_partition_does_not_have(void **unused)
{
    (void)unused;
    for (int is_first = 0; is_first < 2; is_first++) {
        struct world w;
        uint32_t id;
        world_tree(&w);
        world_object(&w, OBJECT_PARTITION, "p2", "");
        struct event add = user_event(&w, EVENT_USER_ADD, "ann", "a1", "QosLevel=normal,long");
        add.user.partition = is_first ? "main" : "p2";
        accept(&w, add);
        add = user_change(&w, "ann", "a1", "QosLevel=normal");
        add.user.partition = is_first ? "main" : "p2";
        const struct job_values *v = job_with(world_submission("ann", "a1", 1).submit, "qos=long|partitions=main,p2");
        const struct event submission = {.kind = EVENT_SUBMIT, .actor = {1000, 1000, "ann", ROLE_USER}, .submit = v};
        assert_int_equal(world_apply(&w, submission, &id), 0);
        accept(&w, add);
        assert_int_equal(job_pending_reason(&w.s, id, 1.0, w.now_us), PENDING_NONE);
        assert_int_equal(world_pass(&w), 1);
        const char *in = w.s.objects[OBJECT_PARTITION].items[world_task(&w, id, 0)->partition].object.name;
        assert_string_equal(in, is_first ? "p2" : "main");
        world_release(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limits_are_set_merged_and_cleared),
        cmocka_unit_test(limits_of_a_user_are_those_of_each_association),
        cmocka_unit_test(wrong_limits_are_refused),
        cmocka_unit_test(an_inherited_list_of_qos_is_changed),
        cmocka_unit_test(a_default_qos_is_allowed),
        cmocka_unit_test(a_qos_in_use_stays),
        cmocka_unit_test(limits_of_a_qos_are_merged),
        cmocka_unit_test(accounts_are_enforced_or_replaced),
        cmocka_unit_test(a_qos_is_allowed_by_the_nearest_list),
        cmocka_unit_test(a_new_user_has_the_lists_of_root),
        cmocka_unit_test(a_qos_that_is_taken_away),
        cmocka_unit_test(a_qos_that_one_partition_does_not_have),
        cmocka_unit_test(partition_limits_are_of_any_of_all_or_of_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
