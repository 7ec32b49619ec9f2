/* The fields of jobs in submissions and updates: which values are accepted, from which actor, until when, and what they
 * change. */
#include "engine_world.h"

static const struct actor ann = {1001, 1001, "ann", ROLE_USER};

static const struct job *job_at(struct world *w, uint32_t id)
{
    uint32_t index = state_find_job(&w->s, id);
    assert_int_not_equal(index, NONE);
    return &w->s.jobs.items[index];
}

static uint32_t must_submit(struct world *w, const char *fields)
{
    uint32_t id;
    struct event event = world_submission("ann", NULL, 1);
    event.submit = job_with(event.submit, "%s", fields);
    if (world_apply(w, event, &id) != 0) fail_msg("%s", ERR_SENTENCE(&w->e));
    return id;
}

static struct event update_by(struct actor actor, uint32_t id, const char *fields)
{
    struct event event = world_update(id, job_text("%s", fields));
    event.actor = actor;
    return event;
}

static void must_update(struct world *w, uint32_t id, const char *fields)
{
    if (world_apply(w, update_by(world_operator, id, fields), NULL) != 0) fail_msg("%s", ERR_SENTENCE(&w->e));
}

/* "begin_us=1700000010000000". */
static const char *time_field(const char *name, int64_t at_us)
{
    static char text[64];
    snprintf(text, sizeof text, "%s=%lld", name, (long long)at_us);
    return text;
}

/* An instance with objects of each kind. */
static void furnish(struct world *w)
{
    world_init(w, 4, 1024, 0);
    world_object(w, OBJECT_PARTITION, "fast", "MaxTime=10");
    world_object(w, OBJECT_PARTITION, "long", "MaxTime=1-0");
    world_object(w, OBJECT_QOS, "high", "");
    world_object(w, OBJECT_PROJECT, "moon", "");
    world_object(w, OBJECT_RESOURCE, "license", "amount=4");
    world_object(w, OBJECT_RESOURCE, "bigio", "type=BOOL");
    world_object(w, OBJECT_RESOURCE, "arch", "type=STRING");
    world_object(w, OBJECT_RESOURCE, "scratch", "type=MEMORY");
    world_object(w, OBJECT_USER_POLICY, "ann", "");
}

/* --- submissions -------------------------------------------------------------------------------------------------- */

static void fields_that_are_not_given_get_defaults(void **unused)
{
    (void)unused;
    struct world w;
    furnish(&w);
    const struct job *j = job_at(&w, must_submit(&w, ""));
    assert_int_equal(j->partition_count, 1);
    assert_int_equal(j->partitions[0], state_find_object(&w.s, OBJECT_PARTITION, "main"));
    assert_int_equal(j->qos, state_find_object(&w.s, OBJECT_QOS, "normal"));
    assert_int_equal(j->project, NONE);
    assert_int_equal(j->set_priority, NONE);
    assert_int_equal(j->accrue_us, w.now_us);
    assert_int_equal(j->time_limit_s, 86400);
    assert_int_equal(j->begin_us + j->deadline_us + j->slots_max + j->request_count, 0);
    assert_int_equal(j->nice + j->site + j->posix_priority + (int)(j->job_share + j->override_tickets), 0);
    world_release(&w);
}

static void all_given_fields_are_set(void **unused)
{
    (void)unused;
    struct world w;
    furnish(&w);
    struct event event = world_submission("alice", NULL, 2);
    uint32_t id;
    event.actor = world_operator;
    event.submit = job_with(event.submit, "time_limit_s=600|partitions=long, fast|qos=high|project=moon|slots_max=4|"
                                          "requests=license=2,bigio,arch=lx-amd64,scratch=1.5K|comment=a note");
    event.submit = job_with(event.submit, "nice=-2147483645|site=12|posix_priority=1024|job_share=4294967295|"
                                          "override_tickets=3|set_priority=99|admin_comment=seen");
    event.submit = job_with(event.submit, "begin_us=%lld|deadline_us=%lld", (long long)(w.now_us + 60 * SECOND),
                            (long long)(w.now_us + 3600 * SECOND));
    if (world_apply(&w, event, &id) != 0) fail_msg("%s", ERR_SENTENCE(&w.e));
    const struct job *j = job_at(&w, id);
    assert_int_equal(j->partition_count, 2);
    assert_int_equal(j->partitions[0], state_find_object(&w.s, OBJECT_PARTITION, "long"));
    assert_int_equal(j->partitions[1], state_find_object(&w.s, OBJECT_PARTITION, "fast"));
    assert_int_equal(j->qos, state_find_object(&w.s, OBJECT_QOS, "high"));
    assert_int_equal(j->project, state_find_object(&w.s, OBJECT_PROJECT, "moon"));
    assert_int_equal(j->nice, -2147483645);
    assert_int_equal(j->site, 12);
    assert_int_equal(j->posix_priority, 1024);
    assert_int_equal(j->job_share, 4294967295);
    assert_int_equal(j->override_tickets, 3);
    assert_int_equal(j->set_priority, 99);
    assert_int_equal(j->begin_us, w.now_us + 60 * SECOND);
    assert_int_equal(j->accrue_us, j->begin_us);
    assert_int_equal(j->deadline_us, w.now_us + 3600 * SECOND);
    assert_int_equal(j->slots_max, 4);
    assert_string_equal(job_rare(j)->comment, "a note");
    assert_string_equal(job_rare(j)->admin_comment, "seen");
    assert_int_equal(j->request_count, 4);
    const double amounts[] = {2, 1, 1, 1536};
    const char *const texts[] = {"2", "true", "lx-amd64", "1.5K"};
    for (int i = 0; i < 4; i++) {
        assert_true(j->requests[i].amount == amounts[i]);
        assert_string_equal(j->requests[i].text, texts[i]);
    }
    world_release(&w);
}

static void refused_submissions_change_nothing(void **unused)
{
    (void)unused;
    static const struct {
        const char *fields;
        enum err_code code;
        const char *text;
    } rows[] = {
        {"partitions=slow", ERR_NOT_FOUND, "no partition 'slow'"},
        {"partitions=fast,", ERR_NOT_FOUND, "no partition ''"},
        {"partitions=main,main", ERR_INPUT, "partitions: 'main' is named twice"},
        {"qos=", ERR_NOT_FOUND, "no qos ''"},
        {"project=sun", ERR_NOT_FOUND, "no project 'sun'"},
        {"requests=gpu=1", ERR_NOT_FOUND, "no resource 'gpu'"},
        {"requests=slots=2", ERR_INPUT, "resource 'slots' cannot be requested: slots are the job's CPUs"},
        {"requests=license", ERR_INPUT, "resource 'license': amount: '' is not a whole number"},
        {"requests=license=-1", ERR_INPUT, "resource 'license': amount: '-1' is not a whole number"},
        {"requests=license=1,license=1", ERR_INPUT, "resource 'license' is requested twice"},
        {"requests=license=5", ERR_TOO_LARGE, "resource 'license' has an amount of 4; a job with 5 exceeds it"},
        {"requests=arch=a\nb", ERR_INPUT, "requests: 'arch=a?b' is not"},
        {"requests=bigio=perhaps", ERR_INPUT, "resource 'bigio': amount: 'perhaps' is not true or false"},
        {"nice=-1", ERR_DENIED, "nice: only an operator may lower it from 0 to -1"},
        {"nice=2147483647", ERR_INPUT, "nice: 2147483647 is not a whole number from -2147483645 to 2147483645"},
        {"site=1", ERR_DENIED, "site: only an operator may set it; you are user 'ann'"},
        {"posix_priority=1", ERR_DENIED, "posix_priority: only an operator may raise it from 0 to 1"},
        {"posix_priority=-1024", ERR_INPUT, "posix_priority: -1024 is not a whole number from -1023 to 1024"},
        {"max_requeue=6", ERR_DENIED, "max_requeue: only an operator may raise it from 5 to 6"},
        {"job_share=4294967296", ERR_INPUT, "job_share: 4294967296 is not a whole number from 0 to 4294967295"},
        {"job_share=-3", ERR_INPUT, "job_share: -3"},
        {"override_tickets=1", ERR_DENIED, "override_tickets: only an operator may set it"},
        {"set_priority=5", ERR_DENIED, "set_priority: only an operator may set it"},
        {"admin_comment=x", ERR_DENIED, "admin_comment: only an operator may set it"},
        {"comment=a\nb", ERR_INPUT, "comment: 'a?b'"},
        {"begin_us=-7", ERR_INPUT, "begin_us: 1969-12-31T23:59:59Z is not a time"},
        {"deadline_us=1700000000000000", ERR_INPUT, "deadline_us: '2023-11-14T22:13:20Z' has passed"},
        {"deadline_us=1700000001000000", ERR_DENIED, "deadline_us: user 'ann' may not have one"},
        {"cpus=2|slots_max=1", ERR_INPUT, "slots_max: 1 is not at least the minimum of the range, 2"},
        {"array_limit=5", ERR_INPUT, "array_limit: a submission cannot set it"},
        {"state=RUNNING", ERR_INPUT, "state: a submission cannot set it"},
    };
    struct world w;
    furnish(&w);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct event event = world_submission("ann", NULL, 1);
        event.submit = job_with(event.submit, "%s", rows[i].fields);
        world_refuses(&w, event, rows[i].code, rows[i].text);
    }
    struct event by_hand = world_submission("alice", NULL, 1);
    by_hand.actor = world_operator;
    by_hand.submit = job_with(by_hand.submit, "set_priority=4294967296");
    world_refuses(&w, by_hand, ERR_INPUT, "set_priority: 4294967296 is not a whole number from 1 to 4294967294");
    struct event many = world_submission("ann", NULL, 3);
    many.submit = job_with(many.submit, "requests=license=2");
    world_refuses(&w, many, ERR_TOO_LARGE, "2 per CPU and 3 CPUs");
    world_release(&w);
}

static void partitions_limit_the_time_limit(void **unused)
{
    (void)unused;
    struct world w;
    furnish(&w);
    assert_int_equal(job_at(&w, must_submit(&w, "partitions=fast"))->time_limit_s, 600);
    assert_int_equal(job_at(&w, must_submit(&w, "partitions=fast,long"))->time_limit_s, 600);
    assert_int_equal(job_at(&w, must_submit(&w, "partitions=long,fast"))->time_limit_s, 86400);
    struct event event = world_submission("ann", NULL, 1);
    event.submit = job_with(event.submit, "partitions=fast");
    event.submit = job_with(event.submit, "time_limit_s=601");
    world_refuses(&w, event, ERR_TOO_LARGE, "time_limit_s: '00:10:01' exceeds MaxTime of partition 'fast': 00:10:00");
    event.submit = job_with(event.submit, "partitions=fast,long");
    uint32_t id;
    assert_int_equal(world_apply(&w, event, &id), 0);
    event.submit = job_with(event.submit, "time_limit_s=86401");
    world_refuses(&w, event, ERR_TOO_LARGE, "exceeds MaxTime of partition 'long': 1-00:00:00");

    world_refuses(&w, update_by(ann, id, "partitions=fast"), ERR_TOO_LARGE, "MaxTime of partition 'fast'");
    assert_int_equal(world_apply(&w, update_by(ann, id, "partitions=fast|time_limit_s=60"), NULL), 0);
    world_refuses(&w, update_by(ann, id, "time_limit_s=3600"), ERR_TOO_LARGE, "MaxTime of partition 'fast'");
    world_release(&w);
}

/* --- users -------------------------------------------------------------------------------------------------------- */

static void the_first_submission_creates_a_user_object(void **unused)
{
    (void)unused;
    struct world w;
    world_init(&w, 4, 1024, 0);
    world_set(&w, "auto_user_fshare", "70");
    world_set(&w, "auto_user_oticket", "5");
    struct event refused = world_submission("bob", "nowhere", 1);
    world_refuses(&w, refused, ERR_NOT_FOUND, "no account 'nowhere'");
    world_submit(&w, "bob", NULL, 1);
    uint32_t bob = state_find_object(&w.s, OBJECT_USER_POLICY, "bob");
    assert_int_not_equal(bob, NONE);
    const struct field_value *value = w.s.objects[OBJECT_USER_POLICY].items[bob].object.value;
    assert_int_equal(value[USER_FSHARE].number, 70);
    assert_int_equal(value[USER_OTICKET].number, 5);
    assert_string_equal(value[USER_DEPARTMENT].text, "defaultdepartment");
    world_submit(&w, "bob", NULL, 1);
    assert_int_equal(w.s.objects[OBJECT_USER_POLICY].count, 1);

    world_set(&w, "enforce_user", "true");
    world_refuses(&w, world_submission("eve", NULL, 1), ERR_DENIED, "user 'eve' has no user policy");
    world_submit(&w, "bob", NULL, 1);
    world_set(&w, "enforce_user", "none");
    world_submit(&w, "eve", NULL, 1);
    assert_int_equal(state_find_object(&w.s, OBJECT_USER_POLICY, "eve"), NONE);
    world_release(&w);
}

static void only_some_users_may_have_deadlines(void **unused)
{
    (void)unused;
    struct world w;
    furnish(&w);
    int64_t deadline_us = w.now_us + SECOND;
    struct event event = world_submission("ann", NULL, 1);
    event.submit = job_with(event.submit, "%s", time_field("deadline_us", deadline_us));
    world_refuses(&w, event, ERR_DENIED, "deadline_us: user 'ann' may not");
    world_object(&w, OBJECT_USER_POLICY, "ann", "deadline=yes");
    uint32_t id = must_submit(&w, time_field("deadline_us", deadline_us));
    assert_int_equal(job_at(&w, id)->deadline_us, deadline_us);
    must_update(&w, id, "deadline_us=none");
    assert_int_equal(job_at(&w, id)->deadline_us, 0);
    world_release(&w);
}

/* --- updates ------------------------------------------------------------------------------------------------------ */

static void updates_keep_fields_that_are_not_given(void **unused)
{
    (void)unused;
    struct world w;
    furnish(&w);
    uint32_t id = must_submit(&w, "partitions=long|qos=high|project=moon|requests=license=2|nice=7|"
                                  "posix_priority=-5|job_share=4|slots_max=3|comment=first");
    uint64_t before = state_hash(&w.s);
    must_update(&w, id, "");
    assert_true(state_hash(&w.s) == before);
    must_update(&w, id, "project=|requests=|nice=0|override_tickets=8|set_priority=50");
    const struct job *j = job_at(&w, id);
    assert_int_equal(j->project, NONE);
    assert_int_equal(j->request_count, 0);
    assert_int_equal(j->nice, 0);
    assert_int_equal(j->override_tickets, 8);
    assert_int_equal(j->set_priority, 50);
    assert_int_equal(j->posix_priority, -5);
    assert_int_equal(j->job_share, 4);
    assert_int_equal(j->slots_max, 3);
    assert_string_equal(job_rare(j)->comment, "first");
    must_update(&w, id, "set_priority=auto|comment=second");
    assert_string_equal(job_rare(job_at(&w, id))->comment, "second");
    assert_string_equal(job_at(&w, id)->text->name, "job");
    assert_int_equal(job_at(&w, id)->set_priority, NONE);
    world_release(&w);
}

/* 0 stands for the setting max_batch_requeue, also where it is compared. */
static void users_can_only_lower_how_often_a_job_is_requeued(void **unused)
{
    (void)unused;
    struct world w;
    furnish(&w);
    world_set(&w, "max_batch_requeue", "4");
    uint32_t id = must_submit(&w, "max_requeue=3"), other = must_submit(&w, "");
    world_refuses(&w, update_by(ann, id, "max_requeue=4"), ERR_DENIED,
                  "max_requeue: only an operator may raise it from 3 to 4");
    world_refuses(&w, update_by(ann, id, "max_requeue=0"), ERR_DENIED,
                  "max_requeue: only an operator may raise it from 3 to 4");
    assert_int_equal(world_apply(&w, update_by(ann, id, "max_requeue=2"), NULL), 0);
    world_refuses(&w, update_by(ann, other, "max_requeue=5"), ERR_DENIED,
                  "max_requeue: only an operator may raise it from 4 to 5");
    must_update(&w, other, "max_requeue=9");
    assert_int_equal(world_apply(&w, update_by(ann, other, "max_requeue=0"), NULL), 0);
    assert_int_equal(job_at(&w, other)->requeue_max, 0);
    world_release(&w);
}

static void users_can_only_lower_their_priority(void **unused)
{
    (void)unused;
    struct world w;
    furnish(&w);
    uint32_t id = must_submit(&w, "nice=10|posix_priority=-10");
    world_refuses(&w, update_by(ann, id, "nice=9"), ERR_DENIED, "nice: only an operator may lower it from 10 to 9");
    world_refuses(&w, update_by(ann, id, "nice=11|posix_priority=-9"), ERR_DENIED,
                  "posix_priority: only an operator may raise it from -10 to -9");
    assert_int_equal(world_apply(&w, update_by(ann, id, "nice=11|posix_priority=-11"), NULL), 0);
    assert_int_equal(job_at(&w, id)->nice, 11);
    world_refuses(&w, update_by(ann, id, "set_priority=7"), ERR_DENIED, "set_priority: only an operator may set it");
    world_refuses(&w, update_by(world_operator, id, "set_priority=0"), ERR_INPUT,
                  "set_priority: 0 is not a whole number");
    world_refuses(&w, update_by((struct actor){1002, 1002, "eve", ROLE_USER}, id, "nice=12"), ERR_DENIED,
                  "belongs to ann");
    world_release(&w);
}

static void a_started_job_keeps_its_request(void **unused)
{
    (void)unused;
    struct world w;
    furnish(&w);
    uint32_t id = must_submit(&w, "");
    assert_int_equal(world_pass(&w), 1);
    const struct {
        const char *fields, *text;
    } rows[] = {
        {"partitions=long", "partitions: it cannot change after the job has started"},
        {"qos=high", "qos: it cannot change after the job has started"},
        {"project=moon", "project: it cannot change after the job has started"},
        {"requests=license=1", "requests: it cannot change after the job has started"},
        {"slots_max=2", "slots_max: it cannot change after the job has started"},
        {"begin_us=1700000100000000", "begin_us: it cannot change after the job has started"},
        {"cpus=2", "cpus: it cannot change after the job has started"},
        {"mem_mib=2", "mem_mib: it cannot change after the job has started"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        world_refuses(&w, update_by(world_operator, id, rows[i].fields), ERR_CONFLICT, rows[i].text);
    must_update(&w, id, "nice=5|posix_priority=6|job_share=7|comment=it runs");
    must_update(&w, id, time_field("deadline_us", w.now_us + SECOND));
    must_update(&w, id, "partitions=main|qos=normal|requests=|begin_us=none"); /* the same values */
    assert_int_equal(job_at(&w, id)->nice, 5);
    assert_int_equal(job_at(&w, id)->job_share, 7);
    world_release(&w);
}

static void more_cpus_need_more_of_everything(void **unused)
{
    (void)unused;
    struct world w;
    furnish(&w);
    uint32_t id = must_submit(&w, "requests=license=2|slots_max=3");
    world_refuses(&w, update_by(ann, id, "cpus=3"), ERR_TOO_LARGE, "a job with 2 per CPU and 3 CPUs exceeds it");
    world_refuses(&w, update_by(ann, id, "cpus=4|requests=license=1"), ERR_INPUT,
                  "slots_max: 3 is not at least the minimum of the range, 4");
    assert_int_equal(world_apply(&w, update_by(ann, id, "cpus=2|slots_max=2|requests=license=1"), NULL), 0);
    assert_int_equal(job_at(&w, id)->slots_max, 0);
    assert_int_equal(world_apply(&w, update_by(ann, id, "cpus=4"), NULL), 0);
    world_release(&w);
}

/* A job that exceeds a resource after the resource shrank waits, and its other fields can change. */
static void other_fields_of_a_job_that_became_too_large_can_change(void **unused)
{
    (void)unused;
    struct world w;
    furnish(&w);
    uint32_t id = must_submit(&w, "requests=license=4|slots_max=4");
    world_object(&w, OBJECT_RESOURCE, "license", "amount=2");
    world_set(&w, "host_cpus", "2");
    must_update(&w, id, "nice=5");
    world_refuses(&w, update_by(world_operator, id, "slots_max=3"), ERR_INPUT,
                  "requests: 'license=4' can never run: asks for license=4; the cluster has 2");
    world_refuses(&w, update_by(world_operator, id, "requests=license=3"), ERR_TOO_LARGE, "resource 'license'");
    world_refuses(&w, update_by(world_operator, id, "cpus=2"), ERR_TOO_LARGE, "resource 'license'");
    must_update(&w, id, "requests=license=1|slots_max=3");
    world_release(&w);
}

/* --- times -------------------------------------------------------------------------------------------------------- */

static void age_grows_from_begin_and_release(void **unused)
{
    (void)unused;
    struct world w;
    furnish(&w);
    int64_t start_us = w.now_us;
    struct event submission = world_submission("ann", NULL, 1);
    submission.submit = job_with(submission.submit, "held=yes");
    submission.submit = job_with(submission.submit, "begin_us=%lld", (long long)(start_us + 100 * SECOND));
    uint32_t id;
    assert_int_equal(world_apply(&w, submission, &id), 0);
    assert_int_equal(job_at(&w, id)->accrue_us, 0);
    struct job_ref ref = {id, NONE};
    struct event hold = {.kind = EVENT_HOLD, .jobs = {&ref, 1, false}};
    struct event release = {.kind = EVENT_RELEASE, .jobs = {&ref, 1, false}};
    w.now_us = start_us + 50 * SECOND;
    assert_int_equal(world_apply(&w, release, NULL), 0);
    assert_int_equal(job_at(&w, id)->accrue_us, start_us + 100 * SECOND);
    w.now_us = start_us + 200 * SECOND;
    assert_int_equal(world_apply(&w, hold, NULL), 0);
    assert_int_equal(job_at(&w, id)->accrue_us, 0);
    assert_int_equal(world_apply(&w, release, NULL), 0);
    assert_int_equal(job_at(&w, id)->accrue_us, w.now_us);
    world_release(&w);
}

static void a_new_begin_moves_the_start_of_the_age(void **unused)
{
    (void)unused;
    struct world w;
    furnish(&w);
    int64_t start_us = w.now_us;
    uint32_t id = must_submit(&w, "");
    const struct {
        int64_t at_s, begin_s; /* begin_s -1: none */
        int64_t accrue_s;
    } rows[] = {
        {10, 5, 0},     /* the begin has passed */
        {20, 100, 100}, /* it waits for a later begin */
        {30, 50, 50},   /* for an earlier one */
        {40, -1, 40},   /* for none: its age grows from now on */
        {50, -1, 40},   /* its age has grown since then */
        {60, 55, 40},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        w.now_us = start_us + rows[i].at_s * SECOND;
        must_update(&w, id,
                    rows[i].begin_s == -1 ? "begin_us=none"
                                          : time_field("begin_us", start_us + rows[i].begin_s * SECOND));
        assert_int_equal(job_at(&w, id)->accrue_us, start_us + rows[i].accrue_s * SECOND);
    }
    world_release(&w);
}

static void a_job_waits_for_its_begin(void **unused)
{
    (void)unused;
    struct world w;
    furnish(&w);
    uint32_t id = must_submit(&w, time_field("begin_us", w.now_us + 10 * SECOND));
    assert_int_equal(world_pass(&w), 0);
    assert_int_equal(state_next_due_us(&w.s), w.now_us + 10 * SECOND);
    w.now_us += 10 * SECOND;
    assert_int_equal(world_pass(&w), 1);
    assert_non_null(world_task(&w, id, 0));
    assert_int_equal(state_next_due_us(&w.s), 0);
    world_release(&w);
}

/* Slurm 22.05.8, cases 71 and 72. */
static void an_operator_overrides_max_wall_by_another_time_limit(void **unused)
{
    (void)unused;
    struct world w;
    furnish(&w);
    world_object(&w, OBJECT_QOS, "normal", "MaxWall=20");
    uint32_t id = must_submit(&w, "time_limit_s=1800");
    assert_int_equal(world_pass(&w), 0);
    assert_int_equal(world_apply(&w, world_update(id, job_text("time_limit_s=1800")), NULL), 0);
    assert_int_equal(world_pass(&w), 0);
    assert_int_equal(world_apply(&w, world_update(id, job_text("time_limit_s=2400")), NULL), 0);
    assert_int_equal(world_pass(&w), 1);
    world_release(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_that_are_not_given_get_defaults),
        cmocka_unit_test(all_given_fields_are_set),
        cmocka_unit_test(refused_submissions_change_nothing),
        cmocka_unit_test(partitions_limit_the_time_limit),
        cmocka_unit_test(the_first_submission_creates_a_user_object),
        cmocka_unit_test(only_some_users_may_have_deadlines),
        cmocka_unit_test(updates_keep_fields_that_are_not_given),
        cmocka_unit_test(users_can_only_lower_how_often_a_job_is_requeued),
        cmocka_unit_test(users_can_only_lower_their_priority),
        cmocka_unit_test(a_started_job_keeps_its_request),
        cmocka_unit_test(more_cpus_need_more_of_everything),
        cmocka_unit_test(other_fields_of_a_job_that_became_too_large_can_change),
        cmocka_unit_test(age_grows_from_begin_and_release),
        cmocka_unit_test(a_new_begin_moves_the_start_of_the_age),
        cmocka_unit_test(a_job_waits_for_its_begin),
        cmocka_unit_test(an_operator_overrides_max_wall_by_another_time_limit),
    };
    return cmocka_run_group_tests_name("engine: job edit", tests, NULL, NULL);
}
