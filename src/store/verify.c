/* Recomputes all usage, without the engine: from the records of the tasks that ran and the usage journal, which has
 * every change of the rules.
 *
 *     journal   HALFLIFE at T0, T1, T2       T0        T1            T2            reference
 *     task      start ........ charged        |--------|--[=========|====]---------|
 *                                              H0       H1            H2
 *
 * The changes of the half-life divide time into epochs. A task's usage in an epoch is a charge in closed form under
 * that epoch's half-life, which then decays to the end of the epoch, through every later one, to the reference
 * (verify_decay.h). The charge of one unit is multiplied with the task's rates:
 *
 *     its association          billing x usage factor, the amount of each TRES x usage factor, and the usage factor
 *                              alone (wall)
 *     its job's QOS            the same; decays except while the QOS had NoDecay (journal: QOS_DECAY)
 *     its partition's QOS      the same
 *     its owners               CPUs and GiB while reserved usage counted, and what was measured; decay by the share
 *                              tree's rule (verify_usage_owners.h)
 *
 * The usage of a deleted association was added to another one (journal: FOLD), whose deletion adds it to the next, and
 * so on up to one that is not deleted: its sink. The usage of a deleted QOS is gone: a task belongs to the QOS of that
 * name only if it was launched after the QOS was created.
 *
 * After a reset, only usage from reset_us on counts, and a reset also clears the usage that was folded in before it. A
 * FOLD entry has the sink's reset_us of its time; if the sink has a later one now, the fold came before the last reset.
 *
 * Invariants
 *   1. A task is charged from start_us to end_us, or to charged_us while it is live. A task can have been charged for
 *      longer than it ran: when the rules changed between its end and its end record, the engine had charged it up to
 *      the change. Then charged_us is the time of that change.
 *   2. A task whose start became known only after a change of the rules (journal: LATE) is charged as if the new rules
 *      had been in force from its start.
 *   3. Sums are more exact than the stored values (verify_sum.h).
 *
 * A difference is reported beyond 1e-9 of the greater value and beyond 1e-6 billing-seconds: one CPU for one
 * microsecond, which is the resolution of the records. (All values are as of the reference, which is never later than
 * now.) Cost: a pass over the tasks, about 0.8 s for 10^6, after as long a
 * one that checks all rows of jobs and tasks (verify_rows.h); memory O(associations). One connection, one snapshot. */
#include "base/ensure.h"
#include "base/idset.h"
#include "base/number.h"
#include "base/quantity.h"
#include "base/saturate.h"
#include "policy/tres_text.h"
#include "store/internal.h"
#include "store/verify_decay.h"
#include "store/verify_rows.h"
#include "store/verify_usage_owners.h"

/* Sums by TRES and of wall time: a linked list. */
struct kind_sums {
    uint32_t first, last; /* indices in kind_sums; NONE: none */
};

struct assoc_sum {
    uint32_t id;
    uint32_t sink;         /* index of the association that has its usage: itself unless deleted */
    uint32_t fold_id;      /* id of the association that its usage was added to; 0: none */
    int64_t fold_reset_us; /* last reset of that one before the fold */
    int64_t reset_us;
    int64_t from_us; /* its usage counts in its sink from here on */
    const char *user;
    bool is_deleted;
    struct sum billing;
    struct kind_sums kinds;
};

/* The usage of a row in a TRES, or its wall time. */
struct kind_sum {
    uint32_t name, next; /* name: index in kind_names */
    struct sum sum;
};

struct qos_sum {
    uint32_t id;
    const char *name;
    int64_t created_us, reset_us;
    struct segments segments;
    struct sum billing;
    struct kind_sums kinds;
};

/* The rules in force when a start became known late: the index of the last epoch, and the journal entry. */
struct late_start {
    uint32_t epoch;
    int64_t seq;
};

/* The amounts of one task. Most tasks have the same as the previous one, so the parsed text is kept. */
struct amounts {
    struct buf text;
    ARRAY(struct tres_amount) list; /* tres: index in kind_names */
};

struct verification {
    sqlite3 *db;
    const char *path;
    struct arena arena;
    int64_t reference_us, usage_reset_us;
    struct epochs epochs;
    struct usage_owners owners;
    ARRAY(struct assoc_sum) assocs; /* by id, ascending */
    ARRAY(struct kind_sum) kind_sums;
    ARRAY(struct qos_sum) qos;      /* by id, ascending */
    ARRAY(const char *) kind_names; /* the first one is WALL_NAME, the others are of TRES */
    ARRAY(struct late_start) late_starts;
    struct map assoc_by_id, kind_by_name, qos_by_id, qos_by_name;
    struct map late_start_by_task; /* "job task attempt" -> index in late_starts */
    struct amounts amounts;
};

/* Calls read_row for every row of a query, until it fails. */
static int for_each(struct verification *v, const char *query,
                    int (*read_row)(struct verification *, sqlite3_stmt *, struct err *), struct err *e)
{
    sqlite3_stmt *statement = sql_prepare(v->db, query, e);
    if (statement == NULL) return -1;
    int result;
    while ((result = sql_step(statement, e)) == 1) {
        if (read_row(v, statement, e) == 0) continue;
        result = -1;
        break;
    }
    sqlite3_finalize(statement);
    return result;
}

/* --- sums --------------------------------------------------------------------------------------------------------- */

enum { WALL };
#define WALL_NAME "wall"

static uint32_t kind_index(struct verification *v, struct str name)
{
    uint32_t index = map_get(&v->kind_by_name, name);
    if (index != NONE) return index;
    const char *kept = arena_copy(&v->arena, name);
    map_set(&v->kind_by_name, str(kept), v->kind_names.count);
    *array_add(&v->kind_names) = kept;
    return v->kind_names.count - 1;
}

/* A row has few kinds, and most rows the same ones in the same order. */
static struct sum *kind_sum(struct verification *v, struct kind_sums *of, uint32_t name)
{
    uint32_t index = of->first;
    while (index != NONE && v->kind_sums.items[index].name != name) index = v->kind_sums.items[index].next;
    if (index == NONE) {
        index = v->kind_sums.count;
        *array_add(&v->kind_sums) = (struct kind_sum){.name = name, .next = NONE};
        if (of->first == NONE)
            of->first = index;
        else
            v->kind_sums.items[of->last].next = index;
        of->last = index;
    }
    return &v->kind_sums.items[index].sum;
}

/* Reads "cpu=4,mem=8192" into v->amounts. */
static int read_amounts(struct verification *v, struct str text, struct err *e)
{
    struct amounts *a = &v->amounts;
    if (str_equal((struct str){a->text.text, a->text.length}, text)) return 0;
    buf_clear(&a->text);
    array_clear(&a->list);
    struct str rest = text, name, value;
    while (tres_text_next(&rest, &name, &value)) {
        double amount;
        if (!number_parse_double(value, &amount) || !(fabs(amount) <= USAGE_STORED_MAX))
            return err_set(e, ERR_INTERNAL, "%s: '%.*s' is not a list of amounts by TRES (such as cpu=4,mem=8192)",
                           v->path, (int)(text.length < 64 ? text.length : 64), text.text);
        *array_add(&a->list) = (struct tres_amount){kind_index(v, name), amount};
    }
    buf_add_str(&a->text, text);
    return 0;
}

/* --- the rules ---------------------------------------------------------------------------------------------------- */

/* The stored usage of a row: its wall time, and the text of its TRES. */
static int read_kinds(struct verification *v, struct kind_sums *of, double wall, const char *tres, struct err *e)
{
    *of = (struct kind_sums){NONE, NONE};
    if (read_amounts(v, str(tres), e) != 0) return -1;
    for (uint32_t i = 0; i < v->amounts.list.count; i++)
        kind_sum(v, of, v->amounts.list.items[i].tres)->stored = v->amounts.list.items[i].amount;
    kind_sum(v, of, WALL)->stored = wall;
    return 0;
}

static int read_assoc(struct verification *v, sqlite3_stmt *row, struct err *e)
{
    uint32_t id = (uint32_t)sqlite3_column_int64(row, 0), index = v->assocs.count;
    map_set_u64(&v->assoc_by_id, id, index);
    struct assoc_sum *a = array_add(&v->assocs);
    *a = (struct assoc_sum){.id = id,
                            .sink = index,
                            .billing = {.stored = sqlite3_column_double(row, 1)},
                            .is_deleted = !sql_column_is_null(row, 2),
                            .user = arena_copy(&v->arena, str(sql_column_text(row, 4))),
                            .reset_us = larger_of(sqlite3_column_int64(row, 5), v->usage_reset_us)};
    return read_kinds(v, &a->kinds, sqlite3_column_double(row, 6), sql_column_text(row, 3), e);
}

static int read_qos(struct verification *v, sqlite3_stmt *row, struct err *e)
{
    uint32_t index = v->qos.count, flags;
    struct qos_sum *q = array_add(&v->qos);
    *q = (struct qos_sum){.id = (uint32_t)sqlite3_column_int64(row, 0),
                          .name = arena_copy(&v->arena, str(sql_column_text(row, 1))),
                          .created_us = sqlite3_column_int64(row, 2),
                          .reset_us = larger_of(sqlite3_column_int64(row, 5), v->usage_reset_us),
                          .billing = {.stored = sqlite3_column_double(row, 3)}};
    map_set_u64(&v->qos_by_id, q->id, index);
    map_set(&v->qos_by_name, str(q->name), index);
    if (setting_text_qos_flags(str(sql_column_text(row, 4)), "flags", &flags, e) != 0)
        return err_prefix(e, "%s: qos %u", v->path, q->id);
    segments_begin(&q->segments, (flags & QOS_NO_DECAY) == 0);
    return read_kinds(v, &q->kinds, sqlite3_column_double(row, 6), sql_column_text(row, 7), e);
}

static int read_owner(struct verification *v, sqlite3_stmt *row, struct err *e)
{
    double used[USAGE_RESOURCE_COUNT];
    (void)e;
    struct owner_sum owner = {.user = sql_column_text(row, 0),
                              .project = sql_column_text(row, 1),
                              .at_us = sqlite3_column_int64(row, 2),
                              .reset_us = sqlite3_column_int64(row, 3)};
    for (int r = 0; r < USAGE_RESOURCE_COUNT; r++) used[r] = sqlite3_column_double(row, 4 + r);
    usage_owners_add(&v->owners, &owner, used);
    return 0;
}

static int read_fold(struct verification *v, sqlite3_stmt *row, struct err *e)
{
    uint32_t index = map_get_u64(&v->assoc_by_id, (uint64_t)sqlite3_column_int64(row, 2));
    if (index == NONE)
        return err_set(e, ERR_INTERNAL, "%s: the usage journal has a FOLD of an association that does not exist",
                       v->path);
    v->assocs.items[index].fold_reset_us = sqlite3_column_int64(row, 3);
    v->assocs.items[index].fold_id = (uint32_t)sqlite3_column_int64(row, 4);
    return 0;
}

/* Until its first change a QOS had the opposite flag. Ids are reused, so changes from before its creation belong to
 * another QOS; a change at the time of its creation has no effect. */
static void read_qos_decay(struct verification *v, sqlite3_stmt *row)
{
    int64_t at_us = sqlite3_column_int64(row, 0);
    bool decays = sqlite3_column_int64(row, 4) != 0;
    uint32_t index = map_get_u64(&v->qos_by_id, (uint64_t)sqlite3_column_int64(row, 3));
    if (index == NONE || at_us <= v->qos.items[index].created_us) return;
    struct segments *s = &v->qos.items[index].segments;
    if (s->list.count == 1) s->list.items[0].decays = !decays;
    segments_add(s, at_us, sqlite3_column_int64(row, 5), decays);
}

enum { ATTEMPT_KEY_SIZE = 64 };

static struct str attempt_key(char out[static ATTEMPT_KEY_SIZE], int64_t job_id, uint32_t task_id, uint64_t restarts)
{
    return (struct str){out, text_format(out, ATTEMPT_KEY_SIZE, "%lld %u %llu", (long long)job_id, task_id,
                                         (unsigned long long)restarts)};
}

static void read_late_start(struct verification *v, sqlite3_stmt *row)
{
    char key[ATTEMPT_KEY_SIZE];
    uint64_t after = (uint64_t)sqlite3_column_int64(row, 4);
    struct str text = attempt_key(key, sqlite3_column_int64(row, 3), (uint32_t)after, after >> 32);
    map_set(&v->late_start_by_task, (struct str){arena_copy(&v->arena, text), text.length}, v->late_starts.count);
    *array_add(&v->late_starts) = (struct late_start){v->epochs.list.count - 1, sqlite3_column_int64(row, 5)};
}

static int read_owner_rule(struct verification *v, sqlite3_stmt *row, struct err *e)
{
    int64_t at_us = sqlite3_column_int64(row, 0), seq = sqlite3_column_int64(row, 5);
    if (usage_owners_add_rule(&v->owners, at_us, seq, sql_column_text(row, 6), e) == 0) return 0;
    e->code = ERR_INTERNAL;
    return err_prefix(e, "%s: journal %lld", v->path, (long long)seq);
}

static int read_journal_entry(struct verification *v, sqlite3_stmt *row, struct err *e)
{
    struct str kind = str(sql_column_text(row, 1));
    bool bad = false;
    int64_t at_us = sql_column_time(row, 0, &bad), halflife_s = 0;
    if (str_equal(kind, str("HALFLIFE")))
        halflife_s = sql_column_ranged(row, 4, 0, (int64_t)TIME_US_MAX / US_PER_S, &bad);
    if (bad) return sql_bad_row(v->path, "usage_journal", sqlite3_column_int64(row, 5), "a number is out of range", e);
    if (str_equal(kind, str("FOLD"))) return read_fold(v, row, e);
    if (str_equal(kind, str("HALFLIFE"))) *array_add(&v->epochs.list) = (struct epoch){at_us, halflife_s * US_PER_S, 0};
    if (str_equal(kind, str("QOS_DECAY"))) read_qos_decay(v, row);
    if (str_equal(kind, str("OWNER_RULE"))) return read_owner_rule(v, row, e);
    if (str_equal(kind, str("LATE")) && v->epochs.list.count > 0) read_late_start(v, row);
    return 0;
}

/* Finds each deleted association's sink, by following its folds. More steps than associations mean a cycle. */
static int finish_folds(struct verification *v, struct err *e)
{
    for (uint32_t i = 0; i < v->assocs.count; i++) {
        uint32_t sink = i, steps = 0;
        int64_t from_us = v->assocs.items[i].reset_us;
        while (sink != NONE && v->assocs.items[sink].is_deleted && steps++ <= v->assocs.count) {
            const struct assoc_sum *folded = &v->assocs.items[sink];
            sink = map_get_u64(&v->assoc_by_id, folded->fold_id);
            if (sink != NONE && v->assocs.items[sink].reset_us != folded->fold_reset_us)
                from_us = larger_of(from_us, v->assocs.items[sink].reset_us);
        }
        if (sink == NONE || v->assocs.items[sink].is_deleted)
            return err_set(e, ERR_INTERNAL, "%s: the usage journal has no valid FOLD of the deleted association %u",
                           v->path, v->assocs.items[i].id);
        v->assocs.items[i].sink = sink;
        v->assocs.items[i].from_us = from_us;
    }
    return 0;
}

static const struct {
    const char *query;
    int (*read_row)(struct verification *v, sqlite3_stmt *row, struct err *e);
} rule_tables[] = {
    {"SELECT id, usage_billing_s, deleted_us, usage_tres, ifnull(user, ''), reset_us, usage_wall_s"
     " FROM association ORDER BY id",
     read_assoc},
    {"SELECT id, name, created_us, usage_billing_s, flags, reset_us, usage_wall_s, usage_tres FROM qos ORDER BY id",
     read_qos},
    {"SELECT user, project, at_us, reset_us, cpu_s, mem_gib_s, io_gib, finished_jobs FROM owner_usage"
     " ORDER BY user, project",
     read_owner},
    {"SELECT at_us, kind, association_id, before, after, seq, detail FROM usage_journal ORDER BY seq",
     read_journal_entry},
};

static int read_rules(struct verification *v, struct err *e)
{
    ensure(kind_index(v, str(WALL_NAME)) == WALL);
    if (sql_number(v->db, "SELECT reference_us FROM counters", &v->reference_us, e) != 0 ||
        sql_number(v->db, "SELECT ifnull(usage_reset_us, 0) FROM counters", &v->usage_reset_us, e) != 0)
        return -1;
    for (size_t i = 0; i < sizeof rule_tables / sizeof *rule_tables; i++) {
        if (for_each(v, rule_tables[i].query, rule_tables[i].read_row, e) != 0) return -1;
    }
    if (v->owners.rules.count == 0)
        return err_set(e, ERR_INTERNAL, "%s: the usage journal has no OWNER_RULE (the share tree's decay)", v->path);
    if (v->epochs.list.count == 0)
        return err_set(e, ERR_INTERNAL, "%s: the usage journal has no HALFLIFE (the first half-life)", v->path);
    if (v->reference_us < 0 || v->reference_us > (int64_t)TIME_US_MAX)
        return sql_bad_row(v->path, "counters", 1, "a number is out of range", e);
    epochs_finish(&v->epochs, v->reference_us);
    for (uint32_t i = 0; i < v->qos.count; i++) segments_finish(&v->qos.items[i].segments, &v->epochs);
    return finish_folds(v, e);
}

/* --- the tasks ---------------------------------------------------------------------------------------------------- */

enum task_column {
    TASK_JOB_ID,
    TASK_ID,
    TASK_ASSOC_ID,
    TASK_BILLING,
    TASK_START_US,
    TASK_CHARGED_US,
    TASK_END_US,
    TASK_USAGE_FACTOR,
    TASK_TRES,
    TASK_LAUNCH_US,
    TASK_QOS,
    TASK_PROJECT,
    TASK_CPUS,
    TASK_MEM_MIB,
    TASK_CHARGED_AS_OF_US,
    TASK_CHARGED_CPU_S,
    TASK_CHARGED_MEM_GIB_S,
    TASK_CHARGED_IO_GIB,
    TASK_PARTITION_QOS,
    TASK_LIMITS_FROM_US,
    TASK_RESTARTS
};
static const char tasks_query[] =
    "SELECT job_id, task_id, task.association_id, billing, start_us, charged_us, end_us, usage_factor, tres, launch_us, qos,"
    " ifnull(project, ''), task.cpus, task.mem_mib, charged_as_of_us, charged_cpu_s, charged_mem_gib_s, charged_io_gib,"
    " partition_qos, limits_from_us, restarts"
    " FROM task LEFT JOIN job ON job.id = job_id WHERE start_us IS NOT NULL";

static bool is_epoch_start(const struct verification *v, int64_t at_us)
{
    for (uint32_t i = 0; i < v->epochs.list.count; i++) {
        if (v->epochs.list.items[i].from_us == at_us) return true;
    }
    return false;
}

/* The time that a task is charged for. */
struct charge {
    int64_t from_us, to_us;
    int64_t
        limits_from_us; /* its wall time, and what it is charged to the TRES of QOS, count from here on; 0: all of it */
    struct late_start late; /* invariant 2; 0, 0: its start was not late */
};

static struct charge charge_of(const struct verification *v, sqlite3_stmt *row)
{
    int64_t charged_us = sqlite3_column_int64(row, TASK_CHARGED_US), to_us = sqlite3_column_int64(row, TASK_END_US);
    if (to_us == 0 || (charged_us > to_us && is_epoch_start(v, charged_us))) to_us = charged_us; /* invariant 1 */
    struct charge c = {.from_us = sqlite3_column_int64(row, TASK_START_US),
                       .to_us = to_us,
                       .limits_from_us = sqlite3_column_int64(row, TASK_LIMITS_FROM_US)};
    if (v->late_starts.count == 0) return c;
    char key[ATTEMPT_KEY_SIZE];
    uint32_t late = map_get(&v->late_start_by_task, attempt_key(key, sqlite3_column_int64(row, TASK_JOB_ID),
                                                                (uint32_t)sqlite3_column_int64(row, TASK_ID),
                                                                (uint64_t)sqlite3_column_int64(row, TASK_RESTARTS)));
    if (late != NONE) c.late = v->late_starts.items[late];
    return c;
}

static int fail_task(const struct verification *v, sqlite3_stmt *row, const char *reason, struct err *e)
{
    return err_set(e, ERR_INTERNAL, "%s: task %u of job %u %s", v->path, (uint32_t)sqlite3_column_int64(row, TASK_ID),
                   (uint32_t)sqlite3_column_int64(row, TASK_JOB_ID), reason);
}

/* A charge long after the reference is larger by the halvings between them, and does not fit into a number. */
static int fail_charge(const struct verification *v, sqlite3_stmt *row, struct err *e)
{
    return fail_task(
        v, row, "was charged too long after reference_us (table counters): start_us, charged_us or end_us is wrong", e);
}

/* Adds the charge of a task to the sums by TRES; v->amounts are the task's. */
static void add_kinds(struct verification *v, struct kind_sums *to, long double of_one_unit)
{
    for (uint32_t i = 0; i < v->amounts.list.count; i++) {
        const struct tres_amount *a = &v->amounts.list.items[i];
        sum_add(kind_sum(v, to, a->tres), a->amount * of_one_unit);
    }
}

static int charge_qos(struct verification *v, sqlite3_stmt *row, enum task_column column, const struct charge *c,
                      struct err *e)
{
    uint32_t index = map_get(&v->qos_by_name, str(sql_column_text(row, (int)column)));
    if (index == NONE || sqlite3_column_int64(row, TASK_LAUNCH_US) < v->qos.items[index].created_us) return 0;
    struct qos_sum *q = &v->qos.items[index];
    long double factor = sqlite3_column_double(row, TASK_USAGE_FACTOR);
    long double billing = fmaxl(sqlite3_column_double(row, TASK_BILLING), 0);
    int64_t from_us = larger_of(c->from_us, q->reset_us), limits_from_us = larger_of(from_us, c->limits_from_us);
    long double all = segments_charge(&q->segments, &v->epochs, c->late.epoch, c->late.seq, from_us, c->to_us);
    long double counted = all;
    if (limits_from_us > from_us)
        counted = segments_charge(&q->segments, &v->epochs, c->late.epoch, c->late.seq, limits_from_us, c->to_us);
    if (!isfinite(all)) return fail_charge(v, row, e);
    sum_add(&q->billing, billing * factor * all);
    sum_add(kind_sum(v, &q->kinds, WALL), factor * counted);
    add_kinds(v, &q->kinds, factor * counted);
    return 0;
}

static int charge_assoc(struct verification *v, sqlite3_stmt *row, uint32_t index, const struct charge *c,
                        struct err *e)
{
    struct assoc_sum *sink = &v->assocs.items[v->assocs.items[index].sink];
    long double factor = sqlite3_column_double(row, TASK_USAGE_FACTOR);
    long double rate = fmaxl(sqlite3_column_double(row, TASK_BILLING), 0) * factor;
    int64_t from_us = larger_of(c->from_us, v->assocs.items[index].from_us);
    int64_t limits_from_us = larger_of(from_us, c->limits_from_us);
    long double of_one_unit = epochs_charge(&v->epochs, c->late.epoch, from_us, c->to_us), wall = of_one_unit;
    if (limits_from_us > from_us) wall = epochs_charge(&v->epochs, c->late.epoch, limits_from_us, c->to_us);
    if (!isfinite(of_one_unit)) return fail_charge(v, row, e);
    sum_add(&sink->billing, rate * of_one_unit);
    sum_add(kind_sum(v, &sink->kinds, WALL), factor * wall);
    add_kinds(v, &sink->kinds, factor * of_one_unit);
    return 0;
}

static int charge_owners(struct verification *v, sqlite3_stmt *row, const struct charge *c, const char *user,
                         struct err *e)
{
    enum { MIB_PER_GIB = 1024 };
    uint32_t cpu_count;
    struct owner_charge charge = {.user = user,
                                  .project = sql_column_text(row, TASK_PROJECT),
                                  .from_us = c->from_us,
                                  .reset_us = v->usage_reset_us,
                                  .to_us = c->to_us,
                                  .rule_seq = c->late.seq,
                                  .has_ended = !sql_column_is_null(row, TASK_END_US)};
    const char *text = sql_column_text(row, TASK_CPUS);
    if (job_field_count_ids(str(text), "cpus", &cpu_count, e) != 0)
        return err_prefix(e, "%s: task of job %u", v->path, (uint32_t)sqlite3_column_int64(row, TASK_JOB_ID));
    charge.rates[USAGE_CPU] = cpu_count;
    charge.rates[USAGE_MEM] = sqlite3_column_double(row, TASK_MEM_MIB) / MIB_PER_GIB;
    charge.measured_as_of_us = sqlite3_column_int64(row, TASK_CHARGED_AS_OF_US);
    charge.measured[USAGE_CPU] = sqlite3_column_double(row, TASK_CHARGED_CPU_S);
    charge.measured[USAGE_MEM] = sqlite3_column_double(row, TASK_CHARGED_MEM_GIB_S);
    charge.measured[USAGE_IO] = sqlite3_column_double(row, TASK_CHARGED_IO_GIB);
    usage_owners_charge(&v->owners, &charge);
    return 0;
}

static int charge_task(struct verification *v, sqlite3_stmt *row, struct err *e)
{
    uint32_t index = map_get_u64(&v->assoc_by_id, (uint64_t)sqlite3_column_int64(row, TASK_ASSOC_ID));
    if (index == NONE) return fail_task(v, row, "belongs to an association that does not exist", e);
    const struct charge c = charge_of(v, row);
    if (read_amounts(v, str(sql_column_text(row, TASK_TRES)), e) != 0) return -1;
    if (charge_assoc(v, row, index, &c, e) != 0) return -1;
    if (charge_qos(v, row, TASK_QOS, &c, e) != 0) return -1;
    if (charge_qos(v, row, TASK_PARTITION_QOS, &c, e) != 0) return -1;
    return charge_owners(v, row, &c, v->assocs.items[index].user, e);
}

/* --- comparing ---------------------------------------------------------------------------------------------------- */

static int name_assoc(struct verification *v, struct arena *arena, struct verify_difference *d, struct err *e)
{
    sqlite3_stmt *find = sql_prepare(v->db, "SELECT account, user, for_partition FROM association WHERE id = ?1", e);
    if (find == NULL) return -1;
    sql_bind_int(find, 1, d->assoc_id);
    int result = sql_step(find, e);
    if (result == 1) {
        d->account = arena_copy(arena, str(sql_column_text(find, 0)));
        d->user = sql_column_is_null(find, 1) ? NULL : arena_copy(arena, str(sql_column_text(find, 1)));
        d->partition = sql_column_is_null(find, 2) ? NULL : arena_copy(arena, str(sql_column_text(find, 2)));
    }
    sqlite3_finalize(find);
    return result < 0 ? -1 : 0;
}

static struct verify_difference *add_difference(const struct sum *s, struct verify_report *report)
{
    if (!sum_differs(s)) return NULL;
    struct verify_difference *d = array_add(&report->differences);
    d->stored = s->stored;
    d->recomputed = (double)sum_total(s);
    return d;
}

/* The billing and all kinds of a row. */
static void add_differences(struct verification *v, const struct sum *billing, const struct kind_sums *kinds,
                            struct arena *arena, struct verify_report *report)
{
    add_difference(billing, report);
    for (uint32_t i = kinds->first; i != NONE; i = v->kind_sums.items[i].next) {
        struct verify_difference *d = add_difference(&v->kind_sums.items[i].sum, report);
        if (d != NULL) d->tres = arena_copy(arena, str(v->kind_names.items[v->kind_sums.items[i].name]));
    }
}

static int compare_assoc(struct verification *v, const struct assoc_sum *a, struct arena *arena,
                         struct verify_report *report, struct err *e)
{
    uint32_t first = report->differences.count;
    add_differences(v, &a->billing, &a->kinds, arena, report);
    for (uint32_t i = first; i < report->differences.count; i++) {
        report->differences.items[i].assoc_id = a->id;
        if (name_assoc(v, arena, &report->differences.items[i], e) != 0) return -1;
    }
    return 0;
}

static int compare_all(struct verification *v, struct arena *arena, struct verify_report *report, struct err *e)
{
    for (uint32_t i = 0; i < v->assocs.count; i++) {
        report->assoc_count += !v->assocs.items[i].is_deleted;
        if (compare_assoc(v, &v->assocs.items[i], arena, report, e) != 0) return -1;
    }
    report->qos_count = v->qos.count;
    for (uint32_t i = 0; i < v->qos.count; i++) {
        uint32_t first = report->differences.count;
        add_differences(v, &v->qos.items[i].billing, &v->qos.items[i].kinds, arena, report);
        for (uint32_t d = first; d < report->differences.count; d++)
            report->differences.items[d].qos = arena_copy(arena, str(v->qos.items[i].name));
    }
    usage_owners_compare(&v->owners, arena, report);
    return 0;
}

static int verify(struct verification *v, struct arena *arena, struct verify_report *report, struct err *e)
{
    int64_t tasks;
    if (sql_run(v->db, "BEGIN", e) != 0 || read_rules(v, e) != 0 || verify_rows(v->db, v->path, e) != 0) return -1;
    if (for_each(v, tasks_query, charge_task, e) != 0) return -1;
    if (sql_number(v->db, "SELECT count(*) FROM task WHERE start_us IS NOT NULL", &tasks, e) != 0) return -1;
    report->task_count = (uint64_t)tasks;
    return compare_all(v, arena, report, e);
}

static void release(struct verification *v)
{
    for (uint32_t i = 0; i < v->qos.count; i++) array_release(&v->qos.items[i].segments.list);
    usage_owners_release(&v->owners);
    array_release(&v->epochs.list);
    array_release(&v->assocs);
    array_release(&v->kind_sums);
    array_release(&v->qos);
    array_release(&v->kind_names);
    array_release(&v->late_starts);
    array_release(&v->amounts.list);
    buf_release(&v->amounts.text);
    map_release(&v->assoc_by_id);
    map_release(&v->kind_by_name);
    map_release(&v->qos_by_id);
    map_release(&v->qos_by_name);
    map_release(&v->late_start_by_task);
    arena_release(&v->arena);
    sqlite3_close(v->db);
}

int store_verify(const char *directory, struct arena *arena, struct verify_report *out_report, struct err *e)
{
    struct verification v = {0};
    struct verify_report report = {0};
    struct buf path = {0};
    buf_format(&path, "%s/fairlead.db", directory);
    v.path = path.text;
    v.db = job_reader_connect(path.text, e);
    int result = v.db != NULL ? verify(&v, arena, &report, e) : -1;
    release(&v);
    buf_release(&path);
    if (result == 0)
        *out_report = report;
    else
        array_release(&report.differences);
    return result;
}
