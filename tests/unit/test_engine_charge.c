/* Charges to associations, QOS and usage owners, computed by hand from docs/formulas.md 1.2, 3.4 and 5.2. */
#include "engine_world.h"

#include <math.h>

#include "engine/handlers.h"
#include "engine/usage_read.h"

#define WEIGHTS "TRESBillingWeights=CPU=1.0,Mem=0.25G,GRES/gpu=2.0"

enum { HOUR_S = 3600 };

static void assert_close(double found, double expected)
{
    if (!(fabs(found - expected) <= 1e-12 * fabs(expected))) fail_msg("%.17g is not %.17g", found, expected);
}

/* 16 CPUs, 64 GiB, 4 GPUs; no usage decays unless a test sets a half-life. */
static void furnish(struct world *w)
{
    world_init(w, 16, 65536, 4);
    world_set(w, "SHARETREE_RESERVED_USAGE", "true");
    world_set(w, "halflife_s", "0");
    world_set(w, "halftime", "0");
    world_object(w, OBJECT_PARTITION, "main", WEIGHTS);
}

static struct event submission_of(uint32_t cpus, uint64_t mem_mib, uint32_t gpus, const char *qos, const char *project)
{
    struct event event = world_submission("ann", NULL, cpus);
    event.submit = job_with(event.submit, "gpus=%u|mem_mib=%llu", gpus, (unsigned long long)mem_mib);
    if (qos != NULL) event.submit = job_with(event.submit, "qos=%s", qos);
    if (project != NULL) event.submit = job_with(event.submit, "project=%s", project);
    return event;
}

/* Submits and starts a job. Returns its launch id. */
static uint64_t run(struct world *w, struct event submission)
{
    uint32_t id;
    if (world_apply(w, submission, &id) != 0) fail_msg("%s", ERR_SENTENCE(&w->e));
    assert_int_equal(world_pass(w), 1);
    uint64_t launch = world_task(w, id, 0)->launch_id;
    world_started(w, launch);
    return launch;
}

/* Submits a job and runs it to its end. */
static void run_for(struct world *w, struct event submission, int64_t seconds)
{
    int64_t started_us = w->now_us;
    uint64_t launch = run(w, submission);
    w->now_us += seconds * SECOND;
    world_ended(w, launch, JOB_COMPLETED, started_us);
}

static double usage_now(struct world *w, const char *user)
{
    struct arena arena = {0};
    const double *own = state_own_usage(&w->s, w->now_us, &arena);
    double usage = own[w->s.node_of.items[state_find_assoc(&w->s, "default", user)]];
    arena_release(&arena);
    return usage;
}

static double tres_now(struct world *w, const char *tres)
{
    struct arena arena = {0};
    uint32_t index = tres_find(&w->s.policy.tres, str(tres));
    assert_int_not_equal(index, NONE);
    const double *own = usage_read_own(&w->s, index, w->now_us, &arena);
    double usage = own[w->s.node_of.items[state_find_assoc(&w->s, "default", "ann")]];
    arena_release(&arena);
    return usage;
}

static double qos_now(struct world *w, const char *name)
{
    return state_qos_usage(&w->s, state_find_object(&w->s, OBJECT_QOS, name), w->now_us);
}

/* The usage of an owner, with running tasks. */
static struct ticket_usage owner_now(struct world *w, const char *user, const char *project)
{
    struct arena arena = {0};
    struct ticket_usage found = {{NAN, NAN, NAN, NAN}};
    uint64_t before = state_hash(&w->s);
    const struct ticket_usage *all = usage_owner_current(&w->s, w->now_us, &arena);
    for (uint32_t i = 0; i < w->s.owners.count; i++) {
        const struct usage_owner *o = &w->s.owners.items[i];
        if (strcmp(o->user, user) == 0 && strcmp(o->project, project) == 0) found = all[i];
    }
    assert_true(state_hash(&w->s) == before);
    arena_release(&arena);
    return found;
}

/* --- associations ------------------------------------------------------------------------------------------------- */

static void the_weights_of_the_partition_determine_billing(void **unused)
{
    (void)unused;
    static const struct {
        struct capacity request;
        double billing;
    } rows[] = {
        {{1, 0, 8192}, 3},
        {{4, 1, 8192}, 8},
        {{16, 0, 16384}, 20},
        {{1, 0, 512}, 1.125},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct world w;
        const struct capacity *r = &rows[i].request;
        furnish(&w);
        run_for(&w, submission_of(r->cpus, r->mem_mib, r->gpus, NULL, NULL), 10);
        assert_close(usage_now(&w, "ann"), 10 * rows[i].billing);
        assert_close(qos_now(&w, "normal"), 10 * rows[i].billing);
        world_release(&w);
    }
}

static void every_tres_is_counted(void **unused)
{
    (void)unused;
    struct world w;
    furnish(&w);
    world_object(&w, OBJECT_QOS, "double", "usage_factor=2");
    run_for(&w, submission_of(4, 8192, 1, NULL, NULL), 10);
    assert_close(tres_now(&w, "cpu"), 40);
    assert_close(tres_now(&w, "mem"), 81920);
    assert_close(tres_now(&w, "gres/gpu"), 10);
    assert_close(tres_now(&w, "node"), 10);
    assert_true(tres_now(&w, "energy") == 0.0);
    uint64_t launch = run(&w, submission_of(2, 1024, 0, "double", NULL));
    int64_t started_us = w.now_us;
    w.now_us += 5 * SECOND;
    assert_close(tres_now(&w, "cpu"), 40 + 2 * 2 * 5);
    world_ended(&w, launch, JOB_COMPLETED, started_us);
    assert_close(tres_now(&w, "cpu"), 40 + 2 * 2 * 5);
    assert_close(tres_now(&w, "mem"), 81920 + 2 * 1024 * 5);
    world_set(&w, "halflife_s", "100");
    w.now_us += 100 * SECOND;
    assert_close(tres_now(&w, "cpu"), (40 + 2 * 2 * 5) / 2.0);
    world_release(&w);
}

static void negative_weights_do_not_reduce_usage(void **unused)
{
    (void)unused;
    struct world w;
    furnish(&w);
    world_object(&w, OBJECT_PARTITION, "main", "TRESBillingWeights=CPU=-1");
    run_for(&w, submission_of(4, 1024, 0, NULL, NULL), 10);
    assert_true(usage_now(&w, "ann") == 0.0);
    assert_close(tres_now(&w, "cpu"), 40);
    world_release(&w);
}

/* 16 CPUs for 20 s: 320 billing-seconds, minus the decay in 20 s with a half-life of seven days. */
static void usage_decays_while_it_grows(void **unused)
{
    (void)unused;
    struct world w;
    world_init(&w, 16, 65536, 0);
    world_set(&w, "SHARETREE_RESERVED_USAGE", "true");
    run_for(&w, submission_of(16, 1, 0, NULL, NULL), 20);
    double halflife_s = 7 * 86400;
    assert_close(usage_now(&w, "ann"), 16 * (halflife_s / M_LN2) * -expm1(-M_LN2 * 20 / halflife_s));
    assert_float_equal(usage_now(&w, "ann"), 319.996333, 1e-6);
    world_release(&w);
}

static uint32_t changed_rows(const struct world *w, enum change_table table)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < w->out.changes.count; i++) count += w->out.changes.items[i].table == table;
    return count;
}

/* The reference moves instead, or a conversion is written: 100,000 associations would take 0.8 s to write. */
static void another_halflife_changes_no_row(void **unused)
{
    (void)unused;
    static const char *const halflives[] = {"86400", "31536000", "172800", "604800", "0", "604800"};
    struct world w;
    world_init(&w, 16, 65536, 0);
    world_set(&w, "SHARETREE_RESERVED_USAGE", "true");
    run_for(&w, submission_of(16, 1, 0, NULL, NULL), 3000);
    double expected = usage_now(&w, "ann");
    int64_t halflife_s = 7 * 86400;
    for (size_t i = 0; i < sizeof halflives / sizeof *halflives; i++) {
        w.now_us += 90000 * SECOND;
        if (halflife_s != 0) expected *= exp2(-90000.0 / (double)halflife_s);
        outcome_clear(&w.out);
        world_set(&w, "halflife_s", halflives[i]);
        halflife_s = w.s.decay.halflife_us / SECOND;
        if (fabs(usage_now(&w, "ann") - expected) > 1e-10 * expected) fail_msg("after %s", halflives[i]);
        bool stays = halflife_s != 0; /* without decay, usage is stored as it is */
        assert_int_equal(changed_rows(&w, TABLE_ASSOC), 0);
        assert_int_equal(changed_rows(&w, TABLE_CONVERSIONS), stays ? 0 : 1);
        assert_true(w.s.decay.reference_us <= w.now_us);
    }
    world_release(&w);
}

static void a_deleted_user_leaves_tres_usage_to_the_account(void **unused)
{
    (void)unused;
    struct world w;
    furnish(&w);
    run_for(&w, submission_of(4, 8192, 1, NULL, NULL), 10);
    struct event leave = {
        .kind = EVENT_USER_DELETE,
        .user = {.name = "ann", .account = "default", .shares = SHARES_UNSET, .priority = PRIORITY_UNSET}};
    assert_int_equal(world_apply(&w, leave, NULL), 0);
    struct arena arena = {0};
    const double *own = usage_read_own(&w.s, TRES_CPU, w.now_us, &arena);
    assert_close(own[w.s.node_of.items[state_find_assoc(&w.s, "default", NULL)]], 40);
    arena_release(&arena);
    world_release(&w);
}

/* --- QOS ---------------------------------------------------------------------------------------------------------- */

static void the_usage_factor_of_the_qos_multiplies(void **unused)
{
    (void)unused;
    struct world w;
    furnish(&w);
    world_object(&w, OBJECT_QOS, "double", "usage_factor=2");
    world_object(&w, OBJECT_QOS, "free", "usage_factor=0");
    run_for(&w, submission_of(1, 8192, 0, "double", NULL), 10);
    assert_close(usage_now(&w, "ann"), 60);
    assert_close(qos_now(&w, "double"), 60);
    assert_true(qos_now(&w, "normal") == 0.0);
    run_for(&w, submission_of(1, 8192, 0, "free", NULL), 10);
    assert_close(usage_now(&w, "ann"), 60);
    assert_true(qos_now(&w, "free") == 0.0);
    assert_close(tres_now(&w, "cpu"), 20);
    assert_close(owner_now(&w, "ann", "").used[USAGE_CPU], 20);
    world_release(&w);
}

/* A running job keeps the factor and the weights from its start. */
static void a_new_factor_is_for_jobs_that_start_later(void **unused)
{
    (void)unused;
    struct world w;
    furnish(&w);
    world_object(&w, OBJECT_QOS, "some", "usage_factor=2");
    uint64_t launch = run(&w, submission_of(1, 8192, 0, "some", NULL));
    int64_t started_us = w.now_us;
    world_object(&w, OBJECT_QOS, "some", "usage_factor=7");
    world_object(&w, OBJECT_PARTITION, "main", "TRESBillingWeights=CPU=100");
    w.now_us += 10 * SECOND;
    assert_close(usage_now(&w, "ann"), 60);
    world_ended(&w, launch, JOB_COMPLETED, started_us);
    assert_close(usage_now(&w, "ann"), 60);
    world_release(&w);
}

static void no_decay_affects_only_the_qos(void **unused)
{
    (void)unused;
    struct world w;
    furnish(&w);
    world_set(&w, "halflife_s", "100");
    world_object(&w, OBJECT_QOS, "budget", "flags=NoDecay");
    run_for(&w, submission_of(1, 8192, 0, "budget", NULL), 10);
    assert_close(qos_now(&w, "budget"), 30);
    w.now_us += 1000 * SECOND;
    assert_close(qos_now(&w, "budget"), 30);
    assert_close(usage_now(&w, "ann"), 3 * (100 / M_LN2) * -expm1(-M_LN2 / 10) / 1024);
    world_set(&w, "halflife_s", "7");
    assert_close(qos_now(&w, "budget"), 30);
    world_release(&w);
}

/* A change keeps the current usage, also while a task of the QOS runs. */
static void no_decay_can_be_switched(void **unused)
{
    (void)unused;
    struct world w;
    furnish(&w);
    world_set(&w, "halflife_s", "100");
    world_object(&w, OBJECT_QOS, "budget", "");
    uint64_t launch = run(&w, submission_of(1, 8192, 0, "budget", NULL));
    int64_t started_us = w.now_us;
    w.now_us += 100 * SECOND;
    double fading = 3 * (100 / M_LN2) * 0.5;
    assert_close(qos_now(&w, "budget"), fading);
    world_object(&w, OBJECT_QOS, "budget", "flags=NoDecay");
    assert_close(qos_now(&w, "budget"), fading);
    assert_close(usage_now(&w, "ann"), fading);
    w.now_us += 100 * SECOND;
    assert_close(qos_now(&w, "budget"), fading + 300);
    assert_close(usage_now(&w, "ann"), fading * 1.5);
    world_object(&w, OBJECT_QOS, "budget", "flags=");
    assert_close(qos_now(&w, "budget"), fading + 300);
    w.now_us += 100 * SECOND;
    assert_close(qos_now(&w, "budget"), (fading + 300) / 2 + fading);
    world_ended(&w, launch, JOB_COMPLETED, started_us);
    assert_close(qos_now(&w, "budget"), (fading + 300) / 2 + fading);
    world_release(&w);
}

/* 10^5 half-lives, in which the reference moves many times. */
static void every_kind_of_usage_survives_moves_of_the_reference(void **unused)
{
    (void)unused;
    struct world w;
    furnish(&w);
    world_set(&w, "halflife_s", "1");
    world_object(&w, OBJECT_QOS, "budget", "flags=NoDecay");
    for (int i = 0; i < 100; i++) {
        w.now_us += 1000 * SECOND;
        run_for(&w, submission_of(1, 8192, 0, i % 2 ? "budget" : NULL, NULL), 1);
    }
    double last = 3 / M_LN2 * 0.5;
    assert_close(usage_now(&w, "ann"), last);
    assert_close(tres_now(&w, "cpu"), last / 3);
    assert_close(qos_now(&w, "budget"), 150);
    assert_true(qos_now(&w, "normal") < 1e-300);
    assert_true(isfinite(w.s.assocs.items[state_find_assoc(&w.s, "default", "ann")].usage));
    world_release(&w);
}

/* --- owners ------------------------------------------------------------------------------------------------------- */

static void usage_belongs_to_the_user_or_to_a_project(void **unused)
{
    (void)unused;
    struct world w;
    furnish(&w);
    world_object(&w, OBJECT_PROJECT, "moon", "");
    run_for(&w, submission_of(4, 8192, 1, NULL, NULL), 10);
    struct ticket_usage u = owner_now(&w, "ann", "");
    assert_close(u.used[USAGE_CPU], 40);
    assert_close(u.used[USAGE_MEM], 80);
    assert_true(u.used[USAGE_IO] == 0.0);
    assert_close(u.used[USAGE_FINISHED_JOBS], 1);

    uint64_t launch = run(&w, submission_of(2, 1024, 0, NULL, "moon"));
    int64_t started_us = w.now_us;
    w.now_us += 10 * SECOND;
    assert_close(owner_now(&w, "ann", "").used[USAGE_CPU], 40);
    assert_close(owner_now(&w, "ann", "moon").used[USAGE_CPU], 20);
    assert_close(owner_now(&w, "", "moon").used[USAGE_CPU], 20);
    assert_true(owner_now(&w, "", "moon").used[USAGE_FINISHED_JOBS] == 0.0);
    world_ended(&w, launch, JOB_COMPLETED, started_us);
    assert_close(owner_now(&w, "ann", "moon").used[USAGE_CPU], 20);
    assert_close(owner_now(&w, "", "moon").used[USAGE_CPU], 20);
    assert_close(owner_now(&w, "", "moon").used[USAGE_MEM], 10);
    assert_close(owner_now(&w, "", "moon").used[USAGE_FINISHED_JOBS], 1);

    struct event gone = world_object_event(&w, EVENT_OBJECT_DELETE, OBJECT_PROJECT, "moon", "");
    assert_int_equal(world_apply(&w, gone, NULL), 0);
    world_object(&w, OBJECT_PROJECT, "moon", "");
    run_for(&w, submission_of(1, 1024, 0, NULL, "moon"), 5);
    assert_close(owner_now(&w, "", "moon").used[USAGE_CPU], 25);
    world_release(&w);
}

/* Half-life one hour, and the program's factor of a minute: 1 - ln 2 / 60. */
static void usage_of_owners_decays_by_the_rule_of_the_share_tree(void **unused)
{
    (void)unused;
    struct world w;
    furnish(&w);
    world_set(&w, "halftime", "1");
    const double per_second = log(1 - M_LN2 / 60) / 60;
    run_for(&w, submission_of(2, 1024, 0, NULL, NULL), 12);
    double used = 2 * expm1(12 * per_second) / per_second;
    assert_close(owner_now(&w, "ann", "").used[USAGE_CPU], used);
    assert_float_equal(used, 24, 0.04);
    w.now_us += HOUR_S * SECOND;
    used *= exp(HOUR_S * per_second);
    assert_float_equal(owner_now(&w, "ann", "").used[USAGE_CPU], used, 1e-12);
    assert_float_equal(exp(HOUR_S * per_second), 0.49798, 1e-5);

    world_set(&w, "halftime_rule", "exact");
    assert_float_equal(owner_now(&w, "ann", "").used[USAGE_CPU], used, 1e-12);
    w.now_us += HOUR_S * SECOND;
    assert_float_equal(owner_now(&w, "ann", "").used[USAGE_CPU], used / 2, 1e-12);
    world_set(&w, "halflife_decay_list", "cpu=0:mem=-1");
    w.now_us += HOUR_S * SECOND;
    assert_float_equal(owner_now(&w, "ann", "").used[USAGE_CPU], used / 2, 1e-12);
    assert_true(owner_now(&w, "ann", "").used[USAGE_MEM] == 0.0);
    world_release(&w);
}

/* Usage decays by the new rule from its change on. */
static void a_new_halftime_applies_from_its_change(void **unused)
{
    (void)unused;
    struct world w;
    furnish(&w);
    world_set(&w, "halftime_rule", "exact");
    uint64_t launch = run(&w, submission_of(4, 1024, 0, NULL, NULL));
    int64_t started_us = w.now_us;
    w.now_us += HOUR_S * SECOND;
    outcome_clear(&w.out);
    world_set(&w, "halftime", "1");
    assert_close(owner_now(&w, "ann", "").used[USAGE_CPU], 4 * HOUR_S);
    assert_int_equal(w.out.journal.count, 2);
    assert_int_equal(w.out.journal.items[0].kind, USAGE_JOURNAL_HALFLIFE);
    assert_int_equal(w.out.journal.items[0].before, w.out.journal.items[0].after);
    assert_int_equal(w.out.journal.items[1].kind, USAGE_JOURNAL_OWNER_RULE);
    assert_string_equal(w.out.journal.items[1].detail,
                        "SHARETREE_RESERVED_USAGE=yes halftime=1 halftime_rule=exact halflife_decay_list=none");
    w.now_us += HOUR_S * SECOND;
    double expected = 2 * HOUR_S + 4 * (HOUR_S / M_LN2) * 0.5;
    assert_close(owner_now(&w, "ann", "").used[USAGE_CPU], expected);
    world_ended(&w, launch, JOB_COMPLETED, started_us);
    assert_close(owner_now(&w, "ann", "").used[USAGE_CPU], expected);
    world_release(&w);
}

/* An end before the owner's last charge decays from its own time. */
static void late_ends_count_from_their_own_time(void **unused)
{
    (void)unused;
    struct world w;
    furnish(&w);
    world_set(&w, "halftime", "1");
    world_set(&w, "halftime_rule", "exact");
    int64_t started_us = w.now_us;
    uint64_t first = run(&w, submission_of(1, 1024, 0, NULL, NULL));
    uint64_t second = run(&w, submission_of(1, 1024, 0, NULL, NULL));
    w.now_us = started_us + 2 * HOUR_S * SECOND;
    world_ended(&w, first, JOB_COMPLETED, started_us);
    double hour = HOUR_S / M_LN2 * 0.5; /* an hour of one CPU, read at its end */
    assert_close(owner_now(&w, "ann", "").used[USAGE_CPU], 2 * hour * 1.5);
    struct event event = {.kind = EVENT_ENDED,
                          .record = {.launch_id = second,
                                     .at_us = started_us + HOUR_S * SECOND,
                                     .started_us = started_us,
                                     .end = JOB_COMPLETED}};
    assert_int_equal(world_apply(&w, event, NULL), 0);
    assert_close(owner_now(&w, "ann", "").used[USAGE_CPU], hour * 1.5 + hour * 0.5);
    world_release(&w);
}

/* The clock was ahead when the keeper wrote its record, and was set back before the record was read. */
static void time_in_the_future_is_not_charged(void **unused)
{
    (void)unused;
    struct world w;
    furnish(&w);
    world_set(&w, "halflife_s", "100");
    uint64_t launch = run(&w, submission_of(1, 1024, 0, NULL, NULL));
    w.now_us += 10 * SECOND;
    struct event ended = {.kind = EVENT_ENDED,
                          .record = {.launch_id = launch,
                                     .at_us = w.now_us + INT64_C(100000000) * SECOND,
                                     .started_us = w.now_us - 10 * SECOND,
                                     .end = JOB_COMPLETED}};
    assert_int_equal(world_apply(&w, ended, NULL), 0);
    assert_close(usage_now(&w, "ann"), 1.25 * 100 / log(2) * (1 - exp2(-0.1)));
    assert_true(w.s.decay.reference_us <= w.now_us);
    ended.record.launch_id = run(&w, submission_of(1, 1024, 0, NULL, NULL));
    ended.record.started_us = ended.record.at_us;
    double before = usage_now(&w, "ann");
    assert_int_equal(world_apply(&w, ended, NULL), 0);
    assert_close(usage_now(&w, "ann"), before);
    world_release(&w);
}

static void change_job(struct world *w, enum event_kind kind, uint32_t id)
{
    const struct job_ref ref = {id, NONE};
    const struct event event = {.kind = kind, .jobs = {.refs = &ref, .count = 1}};
    if (world_apply(w, event, NULL) != 0) fail_msg("%s", ERR_SENTENCE(&w->e));
}

/* The example of 3.4: an hour, an hour in which it is suspended, an hour. The setting counts when it is suspended. */
static double usage_over_a_suspension(const char *charge_suspended)
{
    struct world w;
    furnish(&w);
    world_object(&w, OBJECT_PARTITION, "main", "TRESBillingWeights=CPU=1.0");
    world_set(&w, "halflife_s", "3600");
    world_set(&w, "charge_suspended", charge_suspended);
    int64_t started_us = w.now_us;
    uint64_t launch = run(&w, submission_of(16, 1024, 0, NULL, NULL));
    uint32_t id = w.s.tasks.items[0].job_id;
    w.now_us += HOUR_S * SECOND;
    change_job(&w, EVENT_SUSPEND, id);
    world_set(&w, "charge_suspended", strcmp(charge_suspended, "no") == 0 ? "yes" : "no");
    w.now_us += HOUR_S * SECOND;
    change_job(&w, EVENT_RESUME, id);
    w.now_us += HOUR_S * SECOND;
    double running = usage_now(&w, "ann");
    world_ended(&w, launch, JOB_COMPLETED, started_us);
    assert_close(usage_now(&w, "ann"), running);
    world_release(&w);
    return running;
}

static void a_suspension_splits_the_charge(void **unused)
{
    double whole = 16 * HOUR_S / log(2);
    (void)unused;
    assert_close(usage_over_a_suspension("no"), whole * (0.125 + 0.5));
    assert_close(usage_over_a_suspension("yes"), whole * 0.875);
}

/* It does not count as a finished job either. */
static void a_job_that_never_ran_is_not_charged(void **unused)
{
    (void)unused;
    struct world w;
    furnish(&w);
    uint32_t id = world_submit(&w, "ann", NULL, 1);
    assert_int_equal(world_pass(&w), 1);
    struct event lost = {.kind = EVENT_SYNCED, .synced = {NULL, 0, "boot-2", w.now_us, NULL}};
    assert_int_equal(world_apply(&w, lost, NULL), 0);
    assert_null(world_task(&w, id, 0));
    struct ticket_usage u = owner_now(&w, "ann", "");
    assert_true(u.used[USAGE_CPU] == 0.0 && u.used[USAGE_FINISHED_JOBS] == 0.0);
    assert_true(usage_now(&w, "ann") == 0.0);
    world_release(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_weights_of_the_partition_determine_billing),
        cmocka_unit_test(every_tres_is_counted),
        cmocka_unit_test(negative_weights_do_not_reduce_usage),
        cmocka_unit_test(usage_decays_while_it_grows),
        cmocka_unit_test(another_halflife_changes_no_row),
        cmocka_unit_test(a_deleted_user_leaves_tres_usage_to_the_account),
        cmocka_unit_test(the_usage_factor_of_the_qos_multiplies),
        cmocka_unit_test(a_new_factor_is_for_jobs_that_start_later),
        cmocka_unit_test(no_decay_affects_only_the_qos),
        cmocka_unit_test(no_decay_can_be_switched),
        cmocka_unit_test(every_kind_of_usage_survives_moves_of_the_reference),
        cmocka_unit_test(usage_belongs_to_the_user_or_to_a_project),
        cmocka_unit_test(usage_of_owners_decays_by_the_rule_of_the_share_tree),
        cmocka_unit_test(a_new_halftime_applies_from_its_change),
        cmocka_unit_test(late_ends_count_from_their_own_time),
        cmocka_unit_test(time_in_the_future_is_not_charged),
        cmocka_unit_test(a_job_that_never_ran_is_not_charged),
        cmocka_unit_test(a_suspension_splits_the_charge),
    };
    return cmocka_run_group_tests_name("engine charge", tests, NULL, NULL);
}
