/* Measured usage: what the executor measures of a running task, summed up, and charged to the usage owners of the share
 * tree. With SHARETREE_RESERVED_USAGE the owners are charged for what the task has reserved instead (charge.c); the sums
 * are kept all the same, so the setting can change at any time.
 *
 *     measured     start ----|------|------|------ end        every load_report_time
 *     CPU, I/O               the executor's sum so far, less that of the measurement before
 *     memory                 memory in use x the time since the measurement before, as in Grid Engine
 *     charge                 at the time of the measurement: to the user (in the project), and to the project
 *
 * Usage is charged when it is measured, not in advance, so owners do not have what a task used since its last
 * measurement. The end record has the final CPU time and I/O. The memory in use at the last measurement counts up to the
 * end; for a task that was never measured, it is the largest process's peak.
 *
 * Invariants
 *   1. Sums never fall. A measurement can be smaller than the one before, when a process ended and no other waited for it.
 *   2. task.charged has the task's part of its owners' usage as of measured_us, so `fairlead verify` can compute the usage
 *      of an owner from the tasks. It is the same for the user and the project, because a reset of the one is one of the
 *      other. A reset clears it.
 *   3. measured_us never decreases. Before a rule of owners changes, it becomes the time of the change, so the rule of
 *      that time decays what was charged before. (A start that is known only after the change is charged by the new rule;
 *      the usage journal has it as LATE.)
 *   4. While task.charged is above 0, measured_us is not later than the owners' own time, because usage that decayed
 *      cannot be brought back to an earlier time.
 * Cost: O(1) for each measurement.
 * Source: docs/formulas.md 5.2; Grid Engine 8.1.9, cases c6, h4. */
#include "base/ensure.h"
#include "engine/handlers.h"

static const double KIB_PER_GIB = 1024.0 * 1024.0;
static const double BYTES_PER_GIB = 1024.0 * 1024.0 * 1024.0;

/* The executor's numbers at one time. */
struct measurement {
    int64_t at_us;
    int64_t cpu_us, io_bytes; /* since the start */
    int64_t mem_kib;          /* in use since the last measurement */
};

static double seconds(int64_t from_us, int64_t to_us)
{
    return (double)(to_us - from_us) / (double)US_PER_S;
}

static int64_t larger_of(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t last_measured_us(const struct task *k)
{
    return k->measured_us != 0 ? k->measured_us : k->start_us;
}

/* Charges what was used from from_us to to_us. Of usage that began before a reset, the part after it counts. */
static void charge_owners(struct apply_context *c, struct task *k, struct ticket_usage used, int64_t from_us,
                          int64_t to_us)
{
    struct state *s = c->s;
    const struct ticket_decay *d = &s->policy.tickets.decay;
    uint32_t owners[2];
    int64_t reset_us[2];
    job_usage_owners(s, &s->jobs.items[state_find_job(s, k->job_id)], owners);
    usage_owner_resets(s, owners, reset_us);
    if (to_us <= reset_us[0]) return;
    if (reset_us[0] > from_us) {
        double part = seconds(reset_us[0], to_us) / seconds(from_us, to_us);
        for (int r = 0; r < USAGE_RESOURCE_COUNT; r++) used.used[r] *= part;
    }
    for (int r = 0; r < USAGE_RESOURCE_COUNT; r++) k->charged.used[r] += used.used[r];
    for (int i = 0; i < 2; i++) {
        if (owners[i] == NONE) continue;
        usage_owner_add(d, &s->owners.items[owners[i]], &used, to_us);
        apply_note_change(c, TABLE_OWNER, owners[i]);
    }
}

static bool has_charged(const struct task *k)
{
    bool result = false;
    for (int r = 0; r < USAGE_RESOURCE_COUNT; r++) result |= k->charged.used[r] > 0.0;
    return result;
}

static void decay_charged(const struct ticket_decay *d, struct task *k, int64_t to_us)
{
    double factor[USAGE_RESOURCE_COUNT];
    ticket_decay_factors(d, seconds(last_measured_us(k), to_us), factor);
    for (int r = 0; r < USAGE_RESOURCE_COUNT; r++) k->charged.used[r] *= factor[r];
}

static void add_measurement(struct apply_context *c, struct task *k, const struct measurement *m)
{
    int64_t from_us = last_measured_us(k), to_us = larger_of(m->at_us, from_us); /* invariant 3 */
    int64_t cpu_us = larger_of(m->cpu_us, k->cpu_us), io_bytes = larger_of(m->io_bytes, k->io_bytes);
    const struct ticket_usage used = {{[USAGE_CPU] = seconds(k->cpu_us, cpu_us),
                                       [USAGE_MEM] = (double)m->mem_kib / KIB_PER_GIB * seconds(from_us, to_us),
                                       [USAGE_IO] = (double)(io_bytes - k->io_bytes) / BYTES_PER_GIB}};
    ensure(k->start_us != 0);
    k->cpu_us = cpu_us;
    k->io_bytes = io_bytes;
    k->mem_gib_s += used.used[USAGE_MEM];
    bool had_charged = has_charged(k);
    decay_charged(&c->s->policy.tickets.decay, k, to_us);
    k->measured_us = to_us;
    if (!c->s->policy.tickets.charges_reserved)
        charge_owners(c, k, used, from_us, to_us);
    else if (had_charged)
        charge_owners(c, k, (struct ticket_usage){{0}}, from_us, to_us); /* invariant 4 */
}

static bool is_in_range(int64_t number)
{
    return number >= 0 && number <= (int64_t)WHOLE_REAL_MAX;
}

int apply_measured(struct apply_context *c, const struct event *event)
{
    const struct event_measured *m = &event->measured;
    uint32_t index = map_get_u64(&c->s->task_by_launch, m->launch_id);
    if (index == NONE) return 0; /* its end is recorded */
    struct task *k = &c->s->tasks.items[index];
    bool is_sound = is_in_range(m->cpu_us) && is_in_range(m->io_bytes) && is_in_range(m->mem_kib);
    if (k->start_us == 0 || !is_sound) return 0;
    int64_t at_us = m->at_us < c->now_us ? m->at_us : c->now_us;
    add_measurement(c, k, &(struct measurement){at_us, m->cpu_us, m->io_bytes, m->mem_kib});
    k->mem_kib = m->mem_kib;
    apply_note_change(c, TABLE_TASK, index);
    return 0;
}

/* With ACCT_RESERVED_USAGE the records of ended tasks have what was reserved, as in Grid Engine's accounting. */
static void account_reserved(struct task *k)
{
    enum { MIB_PER_GIB = 1024 };
    int64_t run_us = larger_of(k->end_us - k->start_us, 0);
    k->cpu_us = idset_count(&k->placement.cpus) * run_us;
    k->mem_gib_s = (double)k->placement.mem_mib / MIB_PER_GIB * seconds(0, run_us);
}

void measured_usage_finish(struct apply_context *c, struct task *k, const struct event_record *record)
{
    if (k->start_us == 0) return;
    int64_t mem_kib = k->mem_kib != 0 ? k->mem_kib : record->max_rss_kib;
    add_measurement(c, k, &(struct measurement){k->end_us, record->cpu_us, record->io_bytes, mem_kib});
    if (c->s->policy.tickets.accounts_reserved) account_reserved(k);
}

void measured_usage_settle(struct apply_context *c)
{
    struct state *s = c->s;
    for (uint32_t i = 0; i < s->tasks.count; i++) {
        struct task *k = &s->tasks.items[i];
        if (job_state_is_end(k->state) || k->start_us == 0) continue;
        add_measurement(c, k, &(struct measurement){c->now_us, k->cpu_us, k->io_bytes, k->mem_kib});
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
        if (job_state_is_end(k->state) || k->measured_us == 0) continue;
        job_usage_owners(s, &s->jobs.items[state_find_job(s, k->job_id)], owners);
        usage_owner_resets(s, owners, reset_us);
        if (k->measured_us > reset_us[0]) continue;
        k->charged = (struct ticket_usage){{0}};
        apply_note_change(c, TABLE_TASK, i);
    }
}
