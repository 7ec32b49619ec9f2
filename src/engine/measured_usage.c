/* Measured usage: what the executor measures of a running task, summed up, and charged to the usage owners of the share
 * tree. With SHARETREE_RESERVED_USAGE the owners are charged for what the task has reserved instead (charge.c); the
 * sums are kept all the same, so the setting can change at any time.
 *
 *     measured     start ----|------|------|------ end        every load_report_time
 *     CPU, I/O               the executor's sum so far, less that of the measurement before
 *     memory                 memory in use x the time since the measurement before, as in Grid Engine
 *     charge                 at the time of the measurement: to the user (in the project), and to the project
 *
 *     peak memory            the largest measurement so far; at the end at least that of the largest process
 *
 * Usage is charged when it is measured, not in advance, so owners do not have what a task used since its last
 * measurement. The end record has the final CPU time and I/O. The memory in use at the last measurement counts up to
 * the end; for a task that was never measured, it is the largest process's peak.
 *
 * A measurement covers the time since the one before. If usage counts only from a later time on, after a reset or while
 * reserved usage was charged, the part after that time is charged, as if the task had used the same all the time. A
 * change to reserved usage charges nothing of the measurement that is under way.
 *
 * Invariants
 *   1. Sums never fall. A measurement can be smaller than the one before, when a process ended and no other waited for
 *      it.
 *   2. task.charged has the task's part of its owners' usage as of charged_as_of_us, so `fairlead verify` can compute
 *      the usage of an owner from the tasks. It is the same for the user and the project, because a reset of the one is
 *      one of the other. A reset clears it.
 *   3. measured_us and charged_as_of_us never decrease. Before a rule of owners changes, charged is decayed to the time
 *      of the change, so the rule of that time decays what was charged before. (A start that is known only after the
 *      change is charged by the new rule; the usage journal has it as LATE.)
 *   4. charged_as_of_us is not later than the owners' own time, because usage that decayed cannot be brought back to an
 *      earlier time.
 * Cost: O(1) for each measurement.
 * Source: docs/formulas.md 5.2; Grid Engine 8.1.9, cases c6, h4. */
#include "base/ensure.h"
#include "base/saturate.h"
#include "engine/handlers.h"

static const double KIB_PER_GIB = 1024.0 * 1024.0;
static const double BYTES_PER_GIB = 1024.0 * 1024.0 * 1024.0;

/* The executor's numbers at one time. */
struct measurement {
    int64_t at_us;
    int64_t cpu_us, io_bytes; /* since the start */
    int64_t mem_kib;          /* in use since the last measurement */
};

/* The database keeps numbers up to WHOLE_REAL_MAX. */
static int64_t in_range(int64_t number)
{
    if (number < 0) return 0;
    return number < (int64_t)WHOLE_REAL_MAX ? number : (int64_t)WHOLE_REAL_MAX;
}

/* Decays what a task was charged. */
static void decay_charged(const struct ticket_decay *d, struct task *k, int64_t to_us)
{
    double factor[USAGE_RESOURCE_COUNT];
    if (to_us <= k->charged_as_of_us) return;
    if (k->charged_as_of_us != 0) {
        ticket_decay_factors(d, seconds_between(k->charged_as_of_us, to_us), factor);
        for (int r = 0; r < USAGE_RESOURCE_COUNT; r++) k->charged.used[r] *= factor[r];
    }
    k->charged_as_of_us = to_us;
}

/* Charges what was used from from_us to to_us. */
static void charge_owners(struct apply_context *c, struct task *k, struct ticket_usage used, int64_t from_us,
                          int64_t to_us)
{
    struct state *s = c->s;
    const struct ticket_decay *d = &s->policy.tickets.decay;
    uint32_t owners[2];
    int64_t reset_us[2];
    job_usage_owners(s, &s->jobs.items[state_find_job(s, k->job_id)], owners);
    usage_owner_resets(s, owners, reset_us);
    int64_t counts_from_us = larger_of(reset_us[0], k->measured_from_us);
    if (to_us <= counts_from_us) return;
    if (counts_from_us > from_us) {
        double part = seconds_between(counts_from_us, to_us) / seconds_between(from_us, to_us);
        for (int r = 0; r < USAGE_RESOURCE_COUNT; r++) used.used[r] *= part;
    }
    int64_t at_us = larger_of(to_us, k->charged_as_of_us); /* invariant 3 */
    decay_charged(d, k, at_us);
    for (int r = 0; r < USAGE_RESOURCE_COUNT; r++) k->charged.used[r] += used.used[r];
    for (int i = 0; i < 2; i++) {
        if (owners[i] == NONE) continue;
        usage_owner_add(d, &s->owners.items[owners[i]], &used, at_us);
        apply_note_change(c, TABLE_OWNER, owners[i]);
    }
}

/* How long memory counts of the time of a measurement: not while the task was suspended without charge. At both ends of
 * a suspension what was measured before is added up, unless nothing was. */
static double memory_time_s(const struct task *k, int64_t from_us, int64_t to_us)
{
    bool is_suspended = k->suspended_from_us != 0;
    if (k->suspension_count == 0 || k->is_suspension_charged) return seconds_between(from_us, to_us);
    if (k->measured_us != 0) return is_suspended ? 0.0 : seconds_between(from_us, to_us);
    return seconds_between(0, task_run_us(k, to_us));
}

static void add_measurement(struct apply_context *c, struct task *k, const struct measurement *m)
{
    int64_t from_us = k->measured_us != 0 ? k->measured_us : k->start_us, to_us = larger_of(m->at_us, from_us);
    int64_t cpu_us = larger_of(in_range(m->cpu_us), k->cpu_us),
            io_bytes = larger_of(in_range(m->io_bytes), k->io_bytes);
    const struct ticket_usage used = {
        {[USAGE_CPU] = seconds_between(k->cpu_us, cpu_us),
         [USAGE_MEM] = (double)in_range(m->mem_kib) / KIB_PER_GIB * memory_time_s(k, from_us, to_us),
         [USAGE_IO] = (double)(io_bytes - k->io_bytes) / BYTES_PER_GIB}};
    ensure(k->start_us != 0);
    k->cpu_us = cpu_us;
    k->io_bytes = io_bytes;
    k->mem_gib_s += used.used[USAGE_MEM];
    k->measured_us = to_us;
    if (!c->s->policy.tickets.charges_reserved) charge_owners(c, k, used, from_us, to_us);
}

int apply_measured(struct apply_context *c, const struct event *event)
{
    const struct event_measured *m = &event->measured;
    uint32_t index = map_get_u64(&c->s->task_by_launch, m->launch_id);
    if (index == NONE || c->s->tasks.items[index].start_us == 0)
        return 0; /* it has ended, or its start is not recorded */
    struct task *k = &c->s->tasks.items[index];
    int64_t at_us = m->at_us < c->now_us ? m->at_us : c->now_us;
    add_measurement(c, k, &(struct measurement){at_us, m->cpu_us, m->io_bytes, m->mem_kib});
    k->mem_kib = in_range(m->mem_kib);
    k->max_rss_kib = larger_of(k->max_rss_kib, k->mem_kib);
    apply_note_change(c, TABLE_TASK, index);
    return 0;
}

void measured_usage_suspend(struct apply_context *c, struct task *k)
{
    const struct measurement last = {
        .at_us = c->now_us, .cpu_us = k->cpu_us, .io_bytes = k->io_bytes, .mem_kib = k->mem_kib};
    if (k->measured_us != 0) add_measurement(c, k, &last);
}

void measured_usage_resume(struct task *k, int64_t at_us)
{
    if (k->measured_us != 0) k->measured_us = larger_of(k->measured_us, at_us);
}

/* With ACCT_RESERVED_USAGE the records of ended tasks have what was reserved, as in Grid Engine's accounting. */
static void account_reserved(struct task *k)
{
    const struct ticket_usage rates = charge_reserved_rates(k);
    int64_t run_us = task_run_us(k, k->end_us);
    k->cpu_us = in_range((int64_t)(rates.used[USAGE_CPU] * (double)run_us));
    k->mem_gib_s = rates.used[USAGE_MEM] * seconds_between(0, run_us);
}

void measured_usage_finish(struct apply_context *c, struct task *k, const struct event_record *record)
{
    struct measurement last = {.at_us = k->end_us, .cpu_us = k->cpu_us, .io_bytes = k->io_bytes, .mem_kib = k->mem_kib};
    if (k->start_us == 0) return;
    if (record != NULL) {
        last.cpu_us = record->cpu_us;
        last.io_bytes = record->io_bytes;
        if (k->measured_us == 0) last.mem_kib = record->max_rss_kib;
    }
    add_measurement(c, k, &last);
    if (c->s->policy.tickets.accounts_reserved) account_reserved(k);
}

void measured_usage_settle(struct apply_context *c)
{
    struct state *s = c->s;
    for (uint32_t i = 0; i < s->tasks.count; i++) {
        struct task *k = &s->tasks.items[i];
        if (job_state_is_end(k->state) || k->start_us == 0) continue;
        decay_charged(&s->policy.tickets.decay, k, c->now_us);
        if (s->policy.tickets.charges_reserved) k->measured_from_us = c->now_us;
        apply_note_change(c, TABLE_TASK, i);
    }
}

void measured_usage_reset(struct apply_context *c)
{
    struct state *s = c->s;
    for (uint32_t i = 0; i < s->tasks.count; i++) {
        struct task *k = &s->tasks.items[i];
        uint32_t owners[2];
        int64_t reset_us[2];
        if (job_state_is_end(k->state) || k->charged_as_of_us == 0) continue;
        job_usage_owners(s, &s->jobs.items[state_find_job(s, k->job_id)], owners);
        usage_owner_resets(s, owners, reset_us);
        if (k->charged_as_of_us > reset_us[0]) continue;
        k->charged = (struct ticket_usage){{0}};
        apply_note_change(c, TABLE_TASK, i);
    }
}
