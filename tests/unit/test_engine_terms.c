/* What the policies use of a job: what submissions and updates may say, who may say it, and what becomes of it. */
#include "engine_world.h"

static const struct actor ann = {1001, 1001, "ann", false};

static const struct job *job_at(struct world *w, uint32_t id)
{
    uint32_t index = state_find_job(&w->s, id);
    assert_int_not_equal(index, NONE);
    return &w->s.jobs.items[index];
}

static uint32_t must_submit(struct world *w, struct event_terms terms)
{
    uint32_t id;
    struct event event = world_submission("ann", NULL, 1);
    event.submit.terms = terms;
    if (world_apply(w, event, &id) != 0) fail_msg("%s", ERR_SENTENCE(&w->e));
    return id;
}

static struct event update_of(uint32_t id, struct event_terms terms, struct actor actor)
{
    return (struct event){.kind = EVENT_UPDATE,
                          .actor = actor,
                          .update = {.job_id = id, .request.gpus = NONE, .array_limit = NONE, .terms = terms}};
}

static void must_update(struct world *w, uint32_t id, struct event_terms terms)
{
    if (world_apply(w, update_of(id, terms, world_operator), NULL) != 0) fail_msg("%s", ERR_SENTENCE(&w->e));
}

/* An instance with one of everything. */
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
    world_object(w, OBJECT_USER, "ann", "");
}

/* --- submissions -------------------------------------------------------------------------------------------------- */

static void who_says_nothing_gets_the_standard(void **unused)
{
    (void)unused;
    struct world w;
    furnish(&w);
    const struct job *j = job_at(&w, must_submit(&w, (struct event_terms){0}));
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

static void who_says_everything_gets_it(void **unused)
{
    (void)unused;
    struct world w;
    furnish(&w);
    struct event event = world_submission("alice", NULL, 2);
    uint32_t id;
    event.actor = world_operator;
    event.submit.time_limit_s = 600;
    event.submit.terms = (struct event_terms){.partitions = "long, fast",
                                              .qos = "high",
                                              .project = "moon",
                                              .requests = "license=2,bigio,arch=lx-amd64,scratch=1.5K",
                                              .nice = -2147483645,
                                              .site = 12,
                                              .posix_priority = 1024,
                                              .job_share = 4294967295,
                                              .override_tickets = 3,
                                              .set_priority = 99,
                                              .begin_us = w.now_us + 60 * SECOND,
                                              .deadline_us = w.now_us + 3600 * SECOND,
                                              .slots_max = 4};
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
    assert_int_equal(j->request_count, 4);
    const double amounts[] = {2, 1, 1, 1536};
    const char *const texts[] = {"2", "true", "lx-amd64", "1.5K"};
    for (int i = 0; i < 4; i++) {
        assert_true(j->requests[i].amount == amounts[i]);
        assert_string_equal(j->requests[i].text, texts[i]);
    }
    world_release(&w);
}

static void refused_submissions_leave_no_trace(void **unused)
{
    (void)unused;
    static const struct {
        struct event_terms terms;
        enum err_code code;
        const char *text;
    } rows[] = {
        {{.partitions = "slow"}, ERR_NOT_FOUND, "no partition 'slow'"},
        {{.partitions = "fast,"}, ERR_NOT_FOUND, "no partition ''"},
        {{.partitions = "main,main"}, ERR_INPUT, "partitions: 'main' is named twice"},
        {{.qos = ""}, ERR_NOT_FOUND, "no qos ''"},
        {{.project = "sun"}, ERR_NOT_FOUND, "no project 'sun'"},
        {{.requests = "gpu=1"}, ERR_NOT_FOUND, "no resource 'gpu'"},
        {{.requests = "slots=2"}, ERR_INPUT, "resource slots: these are the job's CPUs"},
        {{.requests = "license"}, ERR_INPUT, "resource 'license': amount: '' is not a whole number"},
        {{.requests = "license=-1"}, ERR_INPUT, "resource 'license': amount: '-1' is not a whole number"},
        {{.requests = "license=1,license=1"}, ERR_INPUT, "resource license: it is requested twice"},
        {{.requests = "license=5"}, ERR_TOO_LARGE, "license: 5 for each of 1 CPUs is more than there is: 4"},
        {{.requests = "arch=a\nb"}, ERR_INPUT, "resource arch: printable text"},
        {{.requests = "bigio=perhaps"}, ERR_INPUT, "resource 'bigio': amount: 'perhaps' is not true or false"},
        {{.nice = -1}, ERR_DENIED, "nice: only an operator may lower it, from 0 to -1"},
        {{.nice = INT32_MAX}, ERR_INPUT, "nice: 2147483647 is not from -2147483645 to 2147483645"},
        {{.site = 1}, ERR_DENIED, "only an operator may set the site factor of a job; you are ann"},
        {{.posix_priority = 1}, ERR_DENIED, "priority: only an operator may raise it, from 0 to 1"},
        {{.posix_priority = -1024}, ERR_INPUT, "priority: -1024 is not from -1023 to 1024"},
        {{.job_share = 4294967296}, ERR_INPUT, "job share: 4294967296 is not from 0 to 4294967295"},
        {{.job_share = -3}, ERR_INPUT, "job share: -3"},
        {{.override_tickets = 1}, ERR_DENIED, "only an operator may give override tickets"},
        {{.set_priority = 5}, ERR_DENIED, "only an operator may set the priority of a job by hand"},
        {{.begin_us = -7}, ERR_INPUT, "begin: a moment before 1970"},
        {{.deadline_us = 1700000000 * SECOND}, ERR_INPUT, "deadline: it is over"},
        {{.deadline_us = 1700000001 * SECOND}, ERR_DENIED, "deadline: user 'ann' may not have one"},
        {{.slots_max = 1}, ERR_INPUT, "slots: a range from 2 up to 1 is empty"},
        {{.slots_max = 5}, ERR_TOO_LARGE, "slots: up to 5 are more than the host has: 4"},
    };
    struct world w;
    furnish(&w);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct event event = world_submission("ann", NULL, rows[i].terms.slots_max != 0 ? 2 : 1);
        event.submit.terms = rows[i].terms;
        world_refuses(&w, event, rows[i].code, rows[i].text);
    }
    struct event by_hand = world_submission("alice", NULL, 1);
    by_hand.actor = world_operator;
    by_hand.submit.terms.set_priority = 4294967296;
    world_refuses(&w, by_hand, ERR_INPUT, "priority by hand: 4294967296 is not from 1 to 4294967294");
    struct event many = world_submission("ann", NULL, 3);
    many.submit.terms.requests = "license=2";
    world_refuses(&w, many, ERR_TOO_LARGE, "license: 2 for each of 3 CPUs");
    world_release(&w);
}

static void time_limits_are_those_of_the_partitions(void **unused)
{
    (void)unused;
    struct world w;
    furnish(&w);
    assert_int_equal(job_at(&w, must_submit(&w, (struct event_terms){.partitions = "fast"}))->time_limit_s, 600);
    assert_int_equal(job_at(&w, must_submit(&w, (struct event_terms){.partitions = "fast,long"}))->time_limit_s, 86400);
    struct event event = world_submission("ann", NULL, 1);
    event.submit.terms.partitions = "fast";
    event.submit.time_limit_s = 601;
    world_refuses(&w, event, ERR_TOO_LARGE, "00:10:01 is more than partition 'fast' allows: MaxTime is 00:10:00");
    event.submit.terms.partitions = "fast,long";
    uint32_t id;
    assert_int_equal(world_apply(&w, event, &id), 0);
    event.submit.time_limit_s = 86401;
    world_refuses(&w, event, ERR_TOO_LARGE, "partition 'long' allows: MaxTime is 1-00:00:00");

    struct event_terms fast = TERMS_KEPT;
    fast.partitions = "fast";
    world_refuses(&w, update_of(id, fast, ann), ERR_TOO_LARGE, "partition 'fast' allows");
    struct event both = update_of(id, fast, ann);
    both.update.time_limit_s = 60;
    assert_int_equal(world_apply(&w, both, NULL), 0);
    both.update.terms = TERMS_KEPT;
    both.update.time_limit_s = 3600;
    world_refuses(&w, both, ERR_TOO_LARGE, "partition 'fast' allows");
    world_release(&w);
}

/* --- users -------------------------------------------------------------------------------------------------------- */

static void users_are_named_at_their_first_submission(void **unused)
{
    (void)unused;
    struct world w;
    world_init(&w, 4, 1024, 0);
    world_set(&w, "auto_user_fshare", "70");
    world_set(&w, "auto_user_oticket", "5");
    struct event refused = world_submission("bob", "nowhere", 1);
    world_refuses(&w, refused, ERR_NOT_FOUND, "no account 'nowhere'");
    world_submit(&w, "bob", NULL, 1);
    uint32_t bob = state_find_object(&w.s, OBJECT_USER, "bob");
    assert_int_not_equal(bob, NONE);
    const struct field_value *value = w.s.objects[OBJECT_USER].items[bob].object.value;
    assert_int_equal(value[USER_FSHARE].number, 70);
    assert_int_equal(value[USER_OTICKET].number, 5);
    assert_string_equal(value[USER_DEPARTMENT].text, "defaultdepartment");
    world_submit(&w, "bob", NULL, 1);
    assert_int_equal(w.s.objects[OBJECT_USER].count, 1);

    world_set(&w, "enforce_user", "true");
    world_refuses(&w, world_submission("eve", NULL, 1), ERR_DENIED, "user 'eve' is not named here");
    world_submit(&w, "bob", NULL, 1);
    world_set(&w, "enforce_user", "none");
    world_submit(&w, "eve", NULL, 1);
    assert_int_equal(state_find_object(&w.s, OBJECT_USER, "eve"), NONE);
    world_release(&w);
}

static void deadlines_are_for_those_who_may(void **unused)
{
    (void)unused;
    struct world w;
    furnish(&w);
    struct event_terms late = {.deadline_us = w.now_us + SECOND};
    struct event event = world_submission("ann", NULL, 1);
    event.submit.terms = late;
    world_refuses(&w, event, ERR_DENIED, "deadline: user 'ann' may not");
    world_object(&w, OBJECT_USER, "ann", "deadline=yes");
    uint32_t id = must_submit(&w, late);
    assert_int_equal(job_at(&w, id)->deadline_us, late.deadline_us);
    struct event_terms none = TERMS_KEPT;
    none.deadline_us = -1;
    must_update(&w, id, none);
    assert_int_equal(job_at(&w, id)->deadline_us, 0);
    world_release(&w);
}

/* --- updates ------------------------------------------------------------------------------------------------------ */

static void updates_keep_what_they_do_not_say(void **unused)
{
    (void)unused;
    struct world w;
    furnish(&w);
    uint32_t id = must_submit(&w, (struct event_terms){.partitions = "long",
                                                       .qos = "high",
                                                       .project = "moon",
                                                       .requests = "license=2",
                                                       .nice = 7,
                                                       .posix_priority = -5,
                                                       .job_share = 4,
                                                       .slots_max = 3});
    uint64_t before = state_hash(&w.s);
    must_update(&w, id, TERMS_KEPT);
    assert_true(state_hash(&w.s) == before);
    struct event_terms change = TERMS_KEPT;
    change.project = "";
    change.requests = "";
    change.nice = 0;
    change.override_tickets = 8;
    change.set_priority = 50;
    must_update(&w, id, change);
    const struct job *j = job_at(&w, id);
    assert_int_equal(j->project, NONE);
    assert_int_equal(j->request_count, 0);
    assert_int_equal(j->nice, 0);
    assert_int_equal(j->override_tickets, 8);
    assert_int_equal(j->set_priority, 50);
    assert_int_equal(j->posix_priority, -5);
    assert_int_equal(j->job_share, 4);
    assert_int_equal(j->slots_max, 3);
    change = TERMS_KEPT;
    change.set_priority = -2;
    must_update(&w, id, change);
    assert_int_equal(job_at(&w, id)->set_priority, NONE);
    world_release(&w);
}

static void users_only_step_back(void **unused)
{
    (void)unused;
    struct world w;
    furnish(&w);
    uint32_t id = must_submit(&w, (struct event_terms){.nice = 10, .posix_priority = -10});
    struct event_terms terms = TERMS_KEPT;
    terms.nice = 9;
    world_refuses(&w, update_of(id, terms, ann), ERR_DENIED, "nice: only an operator may lower it, from 10 to 9");
    terms.nice = 11;
    terms.posix_priority = -9;
    world_refuses(&w, update_of(id, terms, ann), ERR_DENIED, "priority: only an operator may raise it, from -10 to -9");
    terms.posix_priority = -11;
    assert_int_equal(world_apply(&w, update_of(id, terms, ann), NULL), 0);
    assert_int_equal(job_at(&w, id)->nice, 11);
    terms = TERMS_KEPT;
    terms.set_priority = -2;
    world_refuses(&w, update_of(id, terms, ann), ERR_DENIED, "by hand");
    terms.set_priority = 0;
    world_refuses(&w, update_of(id, terms, world_operator), ERR_INPUT, "priority by hand: 0 is not from 1");
    terms = TERMS_KEPT;
    terms.nice = 12;
    world_refuses(&w, update_of(id, terms, (struct actor){1002, 1002, "eve", false}), ERR_DENIED, "belongs to ann");
    world_release(&w);
}

static void what_started_stays_where_it_is(void **unused)
{
    (void)unused;
    struct world w;
    furnish(&w);
    uint32_t id = must_submit(&w, (struct event_terms){0});
    assert_int_equal(world_pass(&w), 1);
    const struct {
        struct event_terms terms;
        const char *text;
    } rows[] = {
        {{.partitions = "long"}, "its partitions cannot change"},
        {{.qos = "high"}, "its QOS cannot change"},
        {{.project = "moon"}, "its project cannot change"},
        {{.requests = ""}, "its requests cannot change"},
        {{.slots_max = 2}, "its slots cannot change"},
        {{.begin_us = -1}, "its begin cannot change"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct event_terms terms = TERMS_KEPT;
        terms.partitions = rows[i].terms.partitions;
        terms.qos = rows[i].terms.qos;
        terms.project = rows[i].terms.project;
        terms.requests = rows[i].terms.requests;
        terms.slots_max = rows[i].terms.slots_max;
        terms.begin_us = rows[i].terms.begin_us;
        world_refuses(&w, update_of(id, terms, world_operator), ERR_CONFLICT, rows[i].text);
    }
    struct event_terms running = TERMS_KEPT;
    running.nice = 5;
    running.posix_priority = 6;
    running.job_share = 7;
    running.deadline_us = w.now_us + SECOND;
    must_update(&w, id, running);
    assert_int_equal(job_at(&w, id)->nice, 5);
    assert_int_equal(job_at(&w, id)->job_share, 7);
    world_release(&w);
}

static void more_cpus_need_more_of_everything(void **unused)
{
    (void)unused;
    struct world w;
    furnish(&w);
    uint32_t id = must_submit(&w, (struct event_terms){.requests = "license=2", .slots_max = 3});
    struct event event = update_of(id, TERMS_KEPT, ann);
    event.update.request.cpus = 3;
    world_refuses(&w, event, ERR_TOO_LARGE, "license: 2 for each of 3 CPUs is more than there is: 4");
    event.update.terms.requests = "license=1";
    event.update.request.cpus = 4;
    world_refuses(&w, event, ERR_INPUT, "slots: a range from 4 up to 3 is empty");
    event.update.request.cpus = 2;
    event.update.terms.slots_max = 2;
    assert_int_equal(world_apply(&w, event, NULL), 0);
    assert_int_equal(job_at(&w, id)->slots_max, 0);
    event = update_of(id, TERMS_KEPT, ann);
    event.update.request.cpus = 4;
    assert_int_equal(world_apply(&w, event, NULL), 0);
    world_release(&w);
}

/* --- moments ------------------------------------------------------------------------------------------------------ */

/* As a job that is larger than the host became: it waits, and may be changed in everything else. */
static void what_became_too_much_may_be_changed_otherwise(void **unused)
{
    (void)unused;
    struct world w;
    furnish(&w);
    uint32_t id = must_submit(&w, (struct event_terms){.requests = "license=4", .slots_max = 4});
    world_object(&w, OBJECT_RESOURCE, "license", "amount=2");
    world_set(&w, "host_cpus", "2");
    struct event_terms nice = TERMS_KEPT;
    nice.nice = 5;
    must_update(&w, id, nice);
    struct event_terms slots = TERMS_KEPT;
    slots.slots_max = 3;
    world_refuses(&w, update_of(id, slots, world_operator), ERR_TOO_LARGE, "slots: up to 3");
    struct event_terms requests = TERMS_KEPT;
    requests.requests = "license=3";
    world_refuses(&w, update_of(id, requests, world_operator), ERR_TOO_LARGE, "resource license");
    struct event cpus = update_of(id, TERMS_KEPT, world_operator);
    cpus.update.request.cpus = 2;
    world_refuses(&w, cpus, ERR_TOO_LARGE, "slots: up to 4");
    world_release(&w);
}

static void jobs_grow_older_from_begin_and_release(void **unused)
{
    (void)unused;
    struct world w;
    furnish(&w);
    int64_t start_us = w.now_us;
    struct event submission = world_submission("ann", NULL, 1);
    submission.submit.held = true;
    submission.submit.terms.begin_us = start_us + 100 * SECOND;
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

static void a_new_begin_starts_the_wait_anew(void **unused)
{
    (void)unused;
    struct world w;
    furnish(&w);
    int64_t start_us = w.now_us;
    uint32_t id = must_submit(&w, (struct event_terms){0});
    const struct {
        int64_t at_s, begin_s; /* begin_s -1: none */
        int64_t accrue_s;
    } rows[] = {
        {10, 5, 0},     /* it has begun all the same */
        {20, 100, 100}, /* it waits anew */
        {30, 50, 50},   /* not for so long */
        {40, -1, 40},   /* not at all */
        {50, -1, 40},   /* it has been growing older since */
        {60, 55, 40},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct event_terms terms = TERMS_KEPT;
        w.now_us = start_us + rows[i].at_s * SECOND;
        terms.begin_us = rows[i].begin_s == -1 ? -1 : start_us + rows[i].begin_s * SECOND;
        must_update(&w, id, terms);
        assert_int_equal(job_at(&w, id)->accrue_us, start_us + rows[i].accrue_s * SECOND);
    }
    world_release(&w);
}

static void what_begins_later_waits_for_it(void **unused)
{
    (void)unused;
    struct world w;
    furnish(&w);
    uint32_t id = must_submit(&w, (struct event_terms){.begin_us = w.now_us + 10 * SECOND});
    assert_int_equal(world_pass(&w), 0);
    assert_int_equal(state_next_due_us(&w.s), w.now_us + 10 * SECOND);
    w.now_us += 10 * SECOND;
    assert_int_equal(world_pass(&w), 1);
    assert_non_null(world_task(&w, id, 0));
    assert_int_equal(state_next_due_us(&w.s), 0);
    world_release(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_says_nothing_gets_the_standard),
        cmocka_unit_test(who_says_everything_gets_it),
        cmocka_unit_test(refused_submissions_leave_no_trace),
        cmocka_unit_test(time_limits_are_those_of_the_partitions),
        cmocka_unit_test(users_are_named_at_their_first_submission),
        cmocka_unit_test(deadlines_are_for_those_who_may),
        cmocka_unit_test(updates_keep_what_they_do_not_say),
        cmocka_unit_test(users_only_step_back),
        cmocka_unit_test(what_started_stays_where_it_is),
        cmocka_unit_test(more_cpus_need_more_of_everything),
        cmocka_unit_test(what_became_too_much_may_be_changed_otherwise),
        cmocka_unit_test(jobs_grow_older_from_begin_and_release),
        cmocka_unit_test(a_new_begin_starts_the_wait_anew),
        cmocka_unit_test(what_begins_later_waits_for_it),
    };
    return cmocka_run_group_tests_name("engine terms", tests, NULL, NULL);
}
