/* Laws of limits, on random worlds, against a slow reference (limit_reference.h).
 *
 *   1. No task starts against a limit: for each task that a pass starts, in the order of the launches, all limits hold.
 *   2. The counters are those that the rows have, after any history.
 *   3. No limit keeps back a task that all limits allow: after a pass none waits that would fit on a host, also where
 *      the counters were made anew between the pass that it blocked and the end of what it counts.
 *   4. The reason that a waiting job has is that of a limit that keeps it waiting, the first one in Slurm's order.
 *   5. A submission is refused if and only if a limit refuses it, for a reason that holds, and changes nothing then.
 *   6. A plan (engine/schedule.h) starts the same tasks as the pass.
 *   7. A restart changes nothing: neither the counters nor what the next pass starts.
 *   8. Without `safe`, running tasks are ended if and only if the usage that they add to has reached a limit.
 *   9. A pass is due within a second if a waiting task that fits waits for minutes, which fall with time.
 *  10. The hosts that limits of nodes leave are the same with a cache as without one. */
#include "../unit/store_world.h"

#include "../limit_hosts_check.h"
#include "../limit_world.h"

#include "engine/priorities.h"
#include "engine/schedule.h"
#include "engine/task_delays.h"

struct history {
    struct world w;
    struct rng rng;
    uint64_t seed;
    uint32_t accounts;
    struct store *store; /* NULL: without restarts */
    char directory[STORE_PATH_SIZE];
};

/* Over all histories. */
static struct {
    uint32_t starts, waits, reasons, refusals, submissions, restarts, ended, time_limits, due, kept_from_hosts,
        rebuilds, restricted;
    uint32_t kinds[REF_KIND_COUNT][2];
} seen;

static uint32_t below(struct history *h, uint32_t n)
{
    return rng_below(&h->rng, n);
}

static bool one_in(struct history *h, uint32_t n)
{
    return below(h, n) == 0;
}

static void fail_at(const struct history *h, const char *law, const char *what)
{
    fail_msg("seed %llu, at %lld s: law %s: %s", (unsigned long long)h->seed,
             (long long)(h->w.now_us / SECOND - 1700000000), law, what);
}

/* --- law 2 -------------------------------------------------------------------------------------------------------- */

static void compare_counter(struct history *h, struct state *s, const struct ref_scope *scope, const char *name,
                            const struct limit_counts *all, const struct limit_counter *k)
{
    struct ref_counts c;
    char text[200];
    ref_count(s, scope, UINT64_MAX, h->w.now_us, &c);
    uint32_t jobs = k != NULL ? k->jobs : 0;
    uint64_t submitted = k != NULL ? k->submitted : 0;
    snprintf(text, sizeof text, "%s: %u jobs, %u submitted; counted %u, %llu", name, c.jobs, c.submitted, jobs,
             (unsigned long long)submitted);
    if (jobs != c.jobs || submitted != c.submitted) fail_at(h, "2", text);
    for (uint32_t i = 0; i < REF_TRES_COUNT; i++) {
        double used = limit_counter_used(k, ref_tres(s, i));
        double reserved_s = limit_counter_reserved(all, k, ref_tres(s, i), h->w.now_us);
        snprintf(text, sizeof text, "%s: %g %s, %g s reserved; counted %g, %g", name, c.used[i], ref_tres_names[i],
                 c.reserved_s[i], used, reserved_s);
        if (used != c.used[i] || fabs(reserved_s - c.reserved_s[i]) > 1e-3) fail_at(h, "2", text);
    }
    for (uint32_t host = 0; host < s->hosts.count; host++)
        if (limit_counter_has_host(all, k, host) != ((c.hosts >> host & 1) != 0)) fail_at(h, "2", "hosts differ");
}

static void compare_counters(struct history *h, struct state *s)
{
    const struct limit_counts *c = limit_counts_update(s, h->w.now_us);
    for (uint32_t i = 0; i < s->assocs.count; i++) {
        const struct ref_scope scope = {NONE, i, NULL, NULL};
        compare_counter(h, s, &scope, s->assocs.items[i].account, c, limit_counts_of_assoc(c, i));
    }
    for (uint32_t q = 0; q < WORLD_QOS; q++) {
        struct ref_scope scope = {q, NONE, NULL, NULL};
        compare_counter(h, s, &scope, limit_qos[q], c, limit_counts_of_qos(c, q));
        for (uint32_t i = 0; i < WORLD_USERS; i++) {
            scope.user = limit_users[i];
            compare_counter(h, s, &scope, scope.user, c, limit_counts_of_user(c, q, scope.user));
        }
        scope.user = NULL;
        for (uint32_t i = 0; i < h->accounts; i++) {
            scope.account = limit_world_name(i);
            compare_counter(h, s, &scope, scope.account, c, limit_counts_of_account(c, q, scope.account));
        }
    }
}

/* --- law 1 -------------------------------------------------------------------------------------------------------- */

static void assert_starts_allowed(struct history *h, uint64_t first_launch)
{
    const struct state *s = &h->w.s;
    for (uint32_t i = 0; i < s->tasks.count; i++) {
        const struct task *k = &s->tasks.items[i];
        struct ref_request r;
        struct ref_hits hits;
        if (k->launch_id < first_launch) continue;
        seen.starts++;
        ref_request_task(s, k, h->w.now_us, &r);
        double expected = ref_billing(k->partition, r.tres);
        if (r.tres[3] != expected) fail_at(h, "1", "another billing");
        if (ref_admits(&r, &hits)) continue;
        char text[200];
        snprintf(text, sizeof text, "job %u task %u started against %s of %g (kind %d, place %u)", k->job_id,
                 k->task_id, ref_reason(&hits.items[0]), hits.items[0].value, hits.items[0].kind, hits.items[0].place);
        fail_at(h, "1", text);
    }
}

/* --- laws 3 and 4 ------------------------------------------------------------------------------------------------- */

/* Tasks that were requeued or held by themselves wait. */
static bool may_start(const struct job *j, int64_t now_us)
{
    struct idset waiting = {0};
    if (j->ended_us != 0 || j->is_held || idset_first(&j->pending) == NONE) return false;
    task_delays_add_waiting(j, now_us, &waiting);
    bool all_wait = idset_count(&waiting) == idset_count(&j->pending);
    idset_release(&waiting);
    if (all_wait) return false;
    return j->array_limit == 0 || j->live_tasks < j->array_limit;
}

static bool is_in(const struct state *s, const struct job *j, const char *environment)
{
    return j->environment != NONE &&
           strcmp(s->objects[OBJECT_ENVIRONMENT].items[j->environment].object.name, environment) == 0;
}

/* Whether the job can have one host; in a parallel environment it may have several instead. */
static bool is_on_one_host(const struct state *s, const struct job *j)
{
    if (is_in(s, j, "pairs")) return false;
    return j->environment != NONE || j->placing == NULL || j->placing->node_min <= 1;
}

static bool fits(const struct state *s, const struct job *j, uint32_t host, uint32_t slots)
{
    const struct capacity asked = state_job_capacity(j, slots);
    return s->hosts.items[host].is_attached && host_fits(&s->hosts.items[host].host, &asked);
}

static void assert_none_kept_back(struct history *h)
{
    const struct state *s = &h->w.s;
    for (uint32_t i = 0; i < s->jobs.count; i++) {
        const struct job *j = &s->jobs.items[i];
        uint32_t max = j->slots_max > 0 ? j->slots_max : j->request.cpus;
        if (!may_start(j, h->w.now_us) || !is_on_one_host(s, j)) continue;
        seen.waits++;
        for (uint32_t p = 0; p < j->partition_count; p++) {
            for (uint32_t host = 0; host < s->hosts.count; host++) {
                for (uint32_t slots = j->request.cpus; slots <= max && fits(s, j, host, slots); slots++) {
                    struct ref_request r;
                    struct ref_hits hits;
                    ref_request_slots(s, j, j->partitions[p], slots, h->w.now_us, &r);
                    r.hosts = UINT64_C(1) << host;
                    if (!ref_admits(&r, &hits)) break; /* a minimum is of the smallest size */
                    char text[200];
                    snprintf(text, sizeof text, "job %u waits, and may start in partition %u on host %u with %u slots",
                             j->id, j->partitions[p], host, slots);
                    fail_at(h, "3", text);
                }
            }
        }
    }
}

/* Whether limits let a task start in a partition on some host, whatever is free. False: out_hits has the first limits
 * that are violated on any host. */
static bool is_allowed_anywhere(struct history *h, const struct job *j, uint32_t partition, struct ref_hits *out_hits)
{
    const struct state *s = &h->w.s;
    struct ref_request r;
    *out_hits = (struct ref_hits){.count = 0};
    ref_request_slots(s, j, partition, j->request.cpus, h->w.now_us, &r);
    for (uint32_t host = 0; host < s->hosts.count; host++) {
        struct ref_hits hits;
        r.hosts = is_on_one_host(s, j) ? UINT64_C(1) << host : 0;
        if (!s->hosts.items[host].is_attached) continue;
        if (ref_admits(&r, &hits)) return true;
        for (uint32_t i = 0; i < hits.count && out_hits->count < 64; i++)
            out_hits->items[out_hits->count++] = hits.items[i];
    }
    return false;
}

/* Whether a limit with that reason keeps a job from the hosts that have room for it, and none lets it start there. */
static bool is_kept_from_free_hosts(struct history *h, const struct job *j, const char *reason)
{
    const struct state *s = &h->w.s;
    bool is_found = false;
    for (uint32_t p = 0; p < j->partition_count; p++) {
        struct ref_request r;
        struct ref_hits hits;
        ref_request_slots(s, j, j->partitions[p], j->request.cpus, h->w.now_us, &r);
        for (uint32_t host = 0; host < s->hosts.count; host++) {
            r.hosts = UINT64_C(1) << host;
            if (!fits(s, j, host, j->request.cpus)) continue;
            if (ref_admits(&r, &hits)) return false;
            is_found |= ref_has_reason(&hits, reason);
        }
    }
    return is_found;
}

static bool is_limit_reason(const char *reason)
{
    return strncmp(reason, "Assoc", 5) == 0 || strncmp(reason, "QOS", 3) == 0 || strncmp(reason, "Max", 3) == 0;
}

/* Whether what an association has used becomes less, so that it may come below the limit. A request above the limit is
 * what `safe` compares too, so only limits without it are certain. */
static bool falls(const struct state *s, const struct ref_limit *l)
{
    bool is_safe = strstr(setting_text(&s->settings, SET_ENFORCE), "safe") != NULL;
    bool is_usage = l->kind == REF_GRP_TRES_MINS || l->kind == REF_GRP_WALL;
    return is_usage && l->place >= 2 && l->value > 0.0 && !is_safe && s->decay.halflife_us > 0;
}

/* Law 9. hits: of its only partition. */
static void assert_due(struct history *h, const struct job *j, const struct ref_hits *hits)
{
    const struct state *s = &h->w.s;
    bool has_room = false, is_falling = hits->count > 0;
    for (uint32_t i = 0; i < hits->count; i++) is_falling &= falls(s, &hits->items[i]);
    for (uint32_t host = 0; host < s->hosts.count; host++) has_room |= fits(s, j, host, j->request.cpus);
    if (!has_room || !is_falling || j->partition_count > 1 || j->slots_max > 0 || j->placing != NULL) return;
    int64_t due_us = state_next_due_us(s);
    seen.due++;
    if (due_us == 0 || due_us > h->w.now_us + SECOND) fail_at(h, "9", "no pass is due");
}

static void assert_reason(struct history *h, const struct job *j)
{
    struct ref_hits first, hits;
    struct state *s = &h->w.s;
    const char *reason = pending_reason_name(job_pending_reason(s, j->id, 1.0, h->w.now_us));
    bool is_allowed = is_allowed_anywhere(h, j, j->partitions[0], &first), is_certain = is_on_one_host(s, j);
    if (j->environment != NONE) return; /* so are the numbers of its nodes */
    char text[300];
    if (strcmp(reason, "BadConstraints") == 0) return;
    for (uint32_t p = 1; p < j->partition_count; p++) is_allowed |= is_allowed_anywhere(h, j, j->partitions[p], &hits);
    if (!is_certain && strstr(reason, "Node") != NULL) return; /* whether its nodes are new is not known */
    seen.reasons += !is_allowed;
    snprintf(text, sizeof text, "job %u has reason %s where %s", j->id, reason,
             is_allowed ? "none" : ref_reason(&first.items[0]));
    bool is_spread = j->placing != NULL && j->placing->node_max > 1; /* which hosts it could have is not known */
    bool is_kept = is_allowed && strstr(reason, "Node") != NULL && (is_spread || is_kept_from_free_hosts(h, j, reason));
    seen.kept_from_hosts += is_kept;
    if (is_allowed ? is_limit_reason(reason) && !is_kept : !ref_has_reason(&first, reason)) fail_at(h, "4", text);
    if (!is_allowed) assert_due(h, j, &first);
    if (!is_allowed) seen.kinds[first.items[0].kind][first.items[0].place >= 2]++;
}

static void assert_reasons(struct history *h)
{
    for (uint32_t i = 0; i < h->w.s.jobs.count; i++)
        if (may_start(&h->w.s.jobs.items[i], h->w.now_us)) assert_reason(h, &h->w.s.jobs.items[i]);
}

/* --- law 8 -------------------------------------------------------------------------------------------------------- */

static bool is_used_up(struct history *h, const struct task *k)
{
    struct ref_request r;
    struct ref_limit deciding[REF_DECIDING_MAX];
    bool is_up = false;
    ref_request_task(&h->w.s, k, h->w.now_us, &r);
    r.before = UINT64_MAX;
    r.factor = k->usage_factor;
    r.is_safe = false;
    uint32_t count = ref_deciding(&r, REF_GRP_WALL, 0, deciding);
    for (uint32_t i = 0; i < count; i++) is_up |= ref_is_violated(&r, &deciding[i]);
    for (uint32_t t = 0; t < REF_TRES_COUNT; t++) {
        count = ref_deciding(&r, REF_GRP_TRES_MINS, t, deciding);
        for (uint32_t i = 0; i < count; i++) is_up |= ref_is_violated(&r, &deciding[i]);
    }
    return is_up;
}

static bool ends_tasks(const struct state *s)
{
    const char *enforce = setting_text(&s->settings, SET_ENFORCE);
    return strstr(enforce, "limits") != NULL && strstr(enforce, "safe") == NULL;
}

/* before: those of the tasks that were being ended before the pass. looked_us: when a pass before it has looked. */
static void assert_ended(struct history *h, const bool *before, int64_t looked_us, uint64_t first_launch)
{
    const struct state *s = &h->w.s;
    for (uint32_t i = 0; i < s->tasks.count; i++) {
        const struct task *k = &s->tasks.items[i];
        if (k->launch_id >= first_launch || job_state_is_end(k->state) || k->start_us == 0) continue;
        bool is_ended = k->is_over_limit && !before[i];
        seen.ended += is_ended;
        if (is_ended && !(ends_tasks(s) && is_used_up(h, k))) fail_at(h, "8", "ended, and no limit is reached");
        bool was_looked_at = looked_us != h->w.now_us && s->limits_looked_us == h->w.now_us;
        if (!k->is_cancelled && ends_tasks(s) && was_looked_at && is_used_up(h, k))
            fail_at(h, "8", "not ended, and a limit is reached");
    }
}

/* --- law 6 -------------------------------------------------------------------------------------------------------- */

static void assert_planned(struct history *h, const struct schedule *plan, uint32_t started)
{
    struct state *s = &h->w.s;
    uint32_t count = 0;
    for (uint32_t i = 0; i < plan->rows.count; i++) {
        const struct schedule_row *row = &plan->rows.items[i];
        if (row->state != SCHEDULE_STARTING) continue;
        const struct task *k = world_task(&h->w, s->jobs.items[row->job].id, row->task_id);
        count++;
        if (k == NULL || k->launch_us != h->w.now_us) {
            char text[100];
            snprintf(text, sizeof text, "the plan starts job %u, the pass does not", s->jobs.items[row->job].id);
            fail_at(h, "6", text);
        }
        if (k->partition != plan->model.partition_of[row->allocation.parts[0].instance] ||
            k->placement_count != row->allocation.part_count || task_cpu_count(k) != row->allocation.slots)
            fail_at(h, "6", "the plan starts it elsewhere");
    }
    char text[100];
    snprintf(text, sizeof text, "the plan starts %u tasks, the pass %u", count, started);
    if (count != started) fail_at(h, "6", text);
}

/* --- events ------------------------------------------------------------------------------------------------------- */

static void commit(struct history *h)
{
    if (h->store != NULL)
        store_must_commit(h->store, &h->w.s, &h->w.out, h->w.now_us);
    else
        outcome_clear(&h->w.out);
}

static void check_after_event(struct history *h)
{
    commit(h);
    if (one_in(h, 3)) compare_counters(h, &h->w.s);
}

static void run_pass(struct history *h)
{
    struct world *w = &h->w;
    struct schedule plan;
    bool before[1024];
    int64_t looked_us = w->s.limits_looked_us;
    uint64_t first_launch = w->s.next_launch_id;
    commit(h);
    assert_true(w->s.tasks.count < 1024);
    for (uint32_t i = 0; i < w->s.tasks.count; i++) before[i] = w->s.tasks.items[i].is_over_limit;
    assert_int_equal(schedule_make(&w->s, w->now_us, SCHEDULE_WITHOUT_ESTIMATES, &plan, NULL), 0);
    w->s.pass_is_due = true;
    assert_int_equal(world_apply(w, (struct event){.kind = EVENT_TIME, .time = {"boot-1"}}, NULL), 0);
    assert_planned(h, &plan, (uint32_t)(w->s.next_launch_id - first_launch));
    schedule_release(&plan);
    assert_starts_allowed(h, first_launch);
    assert_ended(h, before, looked_us, first_launch);
    assert_none_kept_back(h);
    assert_reasons(h);
    seen.restricted += hosts_check(&w->s, w->now_us);
    check_after_event(h);
}

/* Law 5. */
static void submit(struct history *h)
{
    struct world *w = &h->w;
    struct event event = limit_world_job(w, &h->rng, h->seed % 2 == 0);
    uint64_t before = state_hash(&w->s);
    uint32_t id;
    w->e = (struct err){0};
    if (one_in(h, 4)) event.actor.role = ROLE_ADMINISTRATOR;
    bool is_accepted = world_apply(w, event, &id) == 0;
    if (!is_accepted && (w->e.code != ERR_TOO_LARGE || strchr(ERR_SENTENCE(&w->e), '(') == NULL))
        return; /* no host could run it */
    struct job job;
    struct ref_hits hits = {.count = 0};
    uint32_t tasks = 1;
    bool is_allowed = true;
    if (!is_accepted) {
        if (state_hash(&w->s) != before) fail_at(h, "5", "a refusal changed the state");
        /* The same job without limits, to know what it would be. */
        const char *enforce = arena_copy(&w->s.arena, str(setting_text(&w->s.settings, SET_ENFORCE)));
        world_set(w, "AccountingStorageEnforce", "associations,qos");
        assert_int_equal(world_apply(w, event, &id), 0);
        world_set(w, "AccountingStorageEnforce", enforce);
    }
    uint32_t at = state_find_job(&w->s, id);
    job = w->s.jobs.items[at];
    tasks = idset_count(&job.array);
    for (uint32_t p = 0; p < job.partition_count && is_allowed; p++) {
        struct ref_request r;
        struct idset none = {{0}};
        struct idset pending = w->s.jobs.items[at].pending;
        w->s.jobs.items[at].pending = none; /* as before the submission */
        ref_request_smallest(&w->s, &job, job.partitions[p], w->now_us, &r);
        is_allowed = ref_admits_submission(&r, tasks, &hits);
        w->s.jobs.items[at].pending = pending;
    }
    char text[400];
    snprintf(text, sizeof text, "job %u: %s, where %s: %s", id, is_accepted ? "accepted" : "refused",
             is_allowed ? "no limit refuses it" : ref_reason(&hits.items[0]), is_accepted ? "" : ERR_SENTENCE(&w->e));
    if (is_allowed != is_accepted) fail_at(h, "5", text);
    seen.submissions += is_accepted;
    seen.refusals += !is_accepted;
    if (!is_accepted) {
        bool has_reason = false;
        for (uint32_t i = 0; i < hits.count; i++)
            has_reason |= strstr(ERR_SENTENCE(&w->e), ref_reason(&hits.items[i])) != NULL;
        if (!has_reason) fail_at(h, "5", text);
        const struct job_ref ref = {id, NONE};
        assert_int_equal(world_apply(w, (struct event){.kind = EVENT_CANCEL, .jobs = {&ref, 1, false}}, NULL), 0);
    }
    check_after_event(h);
}

static void change_records(struct history *h)
{
    struct world *w = &h->w;
    for (uint32_t i = 0; i < w->s.tasks.count; i++) {
        const struct task *k = &w->s.tasks.items[i];
        if (job_state_is_end(k->state) || one_in(h, 2)) continue;
        if (k->start_us == 0) world_started(w, k->launch_id);
        if (one_in(h, 3) || (k->is_cancelled && one_in(h, 2)))
            world_ended(w, k->launch_id, k->is_cancelled ? JOB_CANCELLED : JOB_COMPLETED, k->start_us);
        check_after_event(h);
    }
}

static void change_job(struct history *h)
{
    static const enum event_kind kinds[] = {EVENT_CANCEL, EVENT_HOLD, EVENT_RELEASE};
    struct world *w = &h->w;
    if (w->s.jobs.count == 0) return;
    const struct job *j = &w->s.jobs.items[below(h, w->s.jobs.count)];
    const struct job_ref ref = {j->id, one_in(h, 3) && j->is_array ? idset_first(&j->pending) : NONE};
    if (one_in(h, 2)) {
        const struct job_values *v = NULL;
        uint32_t id = j->id, kind = below(h, 5);
        bool is_running = j->ended_us == 0 && j->live_tasks > 0;
        switch (kind) {
        case 0: v = job_text("time_limit_s=%u", 60 * (1 + below(h, 30))); break;
        case 1: v = job_text("qos=%s", limit_qos[below(h, 3)]); break;
        case 2: v = job_text("cpus=%u", 1 + below(h, 6)); break;
        case 3: v = job_text("account=%s", limit_world_name(below(h, h->accounts))); break;
        default: v = job_text("partitions=%s", limit_partitions[below(h, WORLD_PARTITIONS)]); break;
        }
        bool is_accepted = world_apply(w, world_update(id, v), NULL) == 0;
        seen.time_limits += is_accepted && kind == 0 && is_running;
    } else {
        (void)world_apply(w, (struct event){.kind = kinds[below(h, 3)], .jobs = {&ref, 1, false}}, NULL);
    }
    check_after_event(h);
}

static void change_rules(struct history *h)
{
    struct world *w = &h->w;
    for (uint32_t n = below(h, 3); n > 0; n--)
        limit_world_change(w, &h->rng, (enum limit_world_theme)(h->seed % THEME_COUNT));
    if (one_in(h, 8)) limit_world_qos(w, &h->rng, below(h, WORLD_QOS));
    if (one_in(h, 10)) limit_world_partition_qos(w, &h->rng, below(h, WORLD_PARTITIONS));
    if (one_in(h, 12)) limit_world_enforce(w, &h->rng);
    if (one_in(h, 12)) world_set(w, "PriorityType", priority_model_names[below(h, MODEL_COUNT)]);
    if (one_in(h, 6)) {
        struct event move = {.kind = EVENT_ACCOUNT_MODIFY,
                             .account = {limit_world_name(below(h, h->accounts)),
                                         one_in(h, 3) ? "root" : limit_world_name(below(h, h->accounts)), SHARES_UNSET,
                                         PRIORITY_UNSET}};
        (void)world_apply(w, move, NULL); /* not below itself */
    }
    check_after_event(h);
}

/* --- law 7 -------------------------------------------------------------------------------------------------------- */

/* A state stays where it is once it has been asked, because what it keeps refers to it. So it is loaded anew in its
 * place, and decides the same again. */
static void restart(struct history *h)
{
    struct world *w = &h->w;
    struct state rebuilt;
    struct outcome out = {0};
    const struct event pass = {.kind = EVENT_TIME, .actor = world_operator, .time = {"boot-1"}};
    commit(h);
    engine_forget(&w->s);
    store_must_load(h->store, &rebuilt);
    limit_world_attach(&rebuilt, w->now_us, h->seed);
    if (state_hash(&rebuilt) != state_hash(&w->s)) fail_at(h, "7", "another state");
    compare_counters(h, &rebuilt);
    w->s.limits_looked_us = rebuilt.limits_looked_us = 0;
    w->s.pass_is_due = rebuilt.pass_is_due = true;
    assert_int_equal(engine_apply(&rebuilt, w->now_us, &pass, &out, NULL, NULL), 0);
    outcome_release(&out);
    assert_int_equal(engine_apply(&w->s, w->now_us, &pass, &w->out, NULL, NULL), 0);
    if (state_hash(&rebuilt) != state_hash(&w->s)) fail_at(h, "7", "another pass");
    commit(h);
    state_release(&rebuilt);
    state_release(&w->s);
    store_must_load(h->store, &w->s);
    limit_world_attach(&w->s, w->now_us, h->seed);
    compare_counters(h, &w->s);
    seen.restarts++;
}

static void open_world(struct history *h)
{
    struct world *w = &h->w;
    w->now_us = INT64_C(1700000000) * SECOND;
    if (one_in(h, 4)) {
        store_make_directory(h->directory);
        h->store = store_must_open(h->directory, w->now_us);
        store_must_load(h->store, &w->s);
    } else {
        state_init(&w->s, w->now_us);
    }
    h->accounts = limit_world_make(w, &h->rng);
    limit_world_attach(&w->s, w->now_us, h->seed);
    commit(h);
}

static void close_world(struct history *h)
{
    if (h->store != NULL) {
        store_close(h->store);
        store_remove_directory(h->directory);
    }
    world_release(&h->w);
}

/* As after more changes than there are rows: what was noted is dropped, and the counters get other numbers. */
static void rebuild_counters(struct history *h)
{
    limit_counts_invalidate(&h->w.s);
    seen.rebuilds++;
}

static void run_history(uint64_t seed)
{
    struct history h = {.rng = {seed}, .seed = seed};
    open_world(&h);
    for (int step = 0; step < 12; step++) {
        for (uint32_t n = below(&h, 6); n > 0; n--) submit(&h);
        if (!one_in(&h, 3)) change_rules(&h);
        if (one_in(&h, 2)) change_job(&h);
        h.w.now_us += (int64_t)below(&h, 3) * below(&h, 200) * SECOND;
        run_pass(&h);
        change_records(&h);
        if (one_in(&h, 3)) rebuild_counters(&h);
        h.w.now_us += (int64_t)(1 + below(&h, 300)) * SECOND;
        if (one_in(&h, 2)) change_records(&h);
        if (one_in(&h, 2)) change_job(&h);
        if (h.store != NULL && one_in(&h, 3)) restart(&h);
        if (h.store == NULL || one_in(&h, 2)) {
            commit(&h);
            engine_forget(&h.w.s);
        }
    }
    close_world(&h);
}

static void limits_hold(void **unused)
{
    (void)unused;
    const char *first = getenv("FAIRLEAD_SEED");
    uint64_t begin = first != NULL ? strtoull(first, NULL, 10) : 1;
    const char *count = getenv("FAIRLEAD_SEEDS");
    for (uint64_t seed = begin; seed < begin + (count != NULL ? strtoull(count, NULL, 10) : 400); seed++)
        run_history(seed);
    print_message("# %u starts, %u waits, %u reasons, %u submissions, %u refusals, %u restarts, %u ended, %u "
                  "new time limits of running jobs, %u kept from hosts, %u rebuilds, %u restricted\n",
                  seen.starts, seen.waits, seen.reasons, seen.submissions, seen.refusals, seen.restarts, seen.ended,
                  seen.time_limits, seen.kept_from_hosts, seen.rebuilds, seen.restricted);
    if (count == NULL) assert_true(seen.time_limits > 100 && seen.kept_from_hosts > 100 && seen.restricted > 1000);
    for (int i = 0; i < REF_SUBMIT; i++)
        print_message("# %s: %u and %u\n", ref_rows[i].key, seen.kinds[i][0], seen.kinds[i][1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(limits_hold)};
    return cmocka_run_group_tests_name("limit laws", tests, NULL, NULL);
}
