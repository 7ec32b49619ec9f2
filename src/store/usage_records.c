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
 *      the change. Then charged_us is the time of that change, or of a suspension or its end.
 *   2. A task whose start became known only after a change of the rules (journal: LATE) is charged as if the new rules
 *      had been in force from its start.
 *   3. A task is not charged for the time in which it was suspended, unless the row of the suspension says so.
 *   4. Sums are more exact than the stored values (verify_sum.h).
 *
 * Tasks that were pruned from the history are in the sums of the table pruned_usage: what an association, a QOS, a user
 * or a project was charged for them, as of at_us. From then on such a sum decays like every other usage, and a reset at
 * at_us or later discards it. A prune computes it with the code below, from the records that it removes, and never from
 * the stored usages; so verification finds damage of either.
 *
 *     tasks removed at T1, T2     [== sum of T1 ==]--decay--> + [== T2 ==]--decay--> reference
 *
 * Sums are kept by the association of the tasks, whatever its sink, and of a project by user, because a later fold or a
 * reset of a user concerns them as it does tasks. */
#include "store/usage_records.h"

#include <string.h>

#include "base/ensure.h"
#include "base/idset.h"
#include "base/number.h"
#include "base/quantity.h"
#include "base/saturate.h"
#include "policy/tres_text.h"

/* Calls read_row for every row of a query, until it fails. */
int usage_records_for_each(struct usage_records *v, const char *query,
                           int (*read_row)(struct usage_records *, sqlite3_stmt *, struct err *), struct err *e)
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

enum { WALL = USAGE_RECORDS_WALL };
#define WALL_NAME "wall"

static uint32_t kind_index(struct usage_records *v, struct str name)
{
    uint32_t index = map_get(&v->kind_by_name, name);
    if (index != NONE) return index;
    const char *kept = arena_copy(&v->arena, name);
    map_set(&v->kind_by_name, str(kept), v->kind_names.count);
    *array_add(&v->kind_names) = kept;
    return v->kind_names.count - 1;
}

/* A row has few kinds, and most rows the same ones in the same order. */
static struct sum *kind_sum(struct usage_records *v, struct kind_sums *of, uint32_t name)
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
static int read_amounts(struct usage_records *v, struct str text, struct err *e)
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

static int read_conversion(struct usage_records *v, sqlite3_stmt *row, struct err *e)
{
    bool bad = false;
    const struct usage_conversion c = store_usage_conversion_read(row, &bad);
    if (bad) return sql_bad_row(v->path, "usage_conversion", c.number, "a number is out of range", e);
    *array_add(&v->conversions.list) = c;
    return 0;
}

/* The stored usage of a row: its wall time, and the text of its TRES. conversion: the last one that it has had. */
static int read_kinds(struct usage_records *v, struct kind_sums *of, double wall, const char *tres, int64_t conversion,
                      struct err *e)
{
    *of = (struct kind_sums){NONE, NONE};
    if (read_amounts(v, str(tres), e) != 0) return -1;
    for (uint32_t i = 0; i < v->amounts.list.count; i++)
        kind_sum(v, of, v->amounts.list.items[i].tres)->stored =
            usage_conversions_of_assoc(&v->conversions, conversion, v->amounts.list.items[i].amount);
    kind_sum(v, of, WALL)->stored = usage_conversions_of_assoc(&v->conversions, conversion, wall);
    return 0;
}

static int read_assoc(struct usage_records *v, sqlite3_stmt *row, struct err *e)
{
    uint32_t id = (uint32_t)sqlite3_column_int64(row, 0), index = v->assocs.count;
    int64_t conversion = sqlite3_column_int64(row, 7);
    double billing = usage_conversions_of_assoc(&v->conversions, conversion, sqlite3_column_double(row, 1));
    map_set_u64(&v->assoc_by_id, id, index);
    struct assoc_sum *a = array_add(&v->assocs);
    *a = (struct assoc_sum){.id = id,
                            .sink = index,
                            .billing = {.stored = billing},
                            .is_deleted = !sql_column_is_null(row, 2),
                            .user = arena_copy(&v->arena, str(sql_column_text(row, 4))),
                            .reset_us = larger_of(sqlite3_column_int64(row, 5), v->usage_reset_us)};
    return read_kinds(v, &a->kinds, sqlite3_column_double(row, 6), sql_column_text(row, 3), conversion, e);
}

static int read_qos(struct usage_records *v, sqlite3_stmt *row, struct err *e)
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
    return read_kinds(v, &q->kinds, sqlite3_column_double(row, 6), sql_column_text(row, 7), INT64_MAX, e);
}

static int read_owner(struct usage_records *v, sqlite3_stmt *row, struct err *e)
{
    double used[USAGE_RESOURCE_COUNT];
    (void)e;
    struct owner_sum owner = {.user = sql_column_text(row, 0),
                              .project = sql_column_text(row, 1),
                              .at_us = sqlite3_column_int64(row, 2),
                              .reset_us = sqlite3_column_int64(row, 3)};
    int64_t conversion = sqlite3_column_int64(row, 4 + USAGE_RESOURCE_COUNT);
    for (int r = 0; r < USAGE_RESOURCE_COUNT; r++)
        used[r] = usage_conversions_of_owner(&v->conversions, conversion, sqlite3_column_double(row, 4 + r));
    usage_owners_add(&v->owners, &owner, used);
    return 0;
}

static int read_fold(struct usage_records *v, sqlite3_stmt *row, struct err *e)
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
static void read_qos_decay(struct usage_records *v, sqlite3_stmt *row)
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

static void read_late_start(struct usage_records *v, sqlite3_stmt *row)
{
    char key[ATTEMPT_KEY_SIZE];
    uint64_t after = (uint64_t)sqlite3_column_int64(row, 4);
    struct str text = attempt_key(key, sqlite3_column_int64(row, 3), (uint32_t)after, after >> 32);
    map_set(&v->late_start_by_task, (struct str){arena_copy(&v->arena, text), text.length}, v->late_starts.count);
    *array_add(&v->late_starts) = (struct late_start){v->epochs.list.count - 1, sqlite3_column_int64(row, 5)};
}

static int read_owner_rule(struct usage_records *v, sqlite3_stmt *row, struct err *e)
{
    int64_t at_us = sqlite3_column_int64(row, 0), seq = sqlite3_column_int64(row, 5);
    if (usage_owners_add_rule(&v->owners, at_us, seq, sql_column_text(row, 6), e) == 0) return 0;
    e->code = ERR_INTERNAL;
    return err_prefix(e, "%s: journal %lld", v->path, (long long)seq);
}

static int read_journal_entry(struct usage_records *v, sqlite3_stmt *row, struct err *e)
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
static int finish_folds(struct usage_records *v, struct err *e)
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
        v->assocs.items[i].target = v->is_prune ? i : sink;
        v->assocs.items[i].from_us = from_us;
    }
    return 0;
}

static const struct {
    const char *query;
    int (*read_row)(struct usage_records *v, sqlite3_stmt *row, struct err *e);
} rule_tables[] = {
    {store_usage_conversion_query, read_conversion},
    {"SELECT id, usage_billing_s, deleted_us, usage_tres, ifnull(user, ''), reset_us, usage_wall_s, usage_conversion"
     " FROM association ORDER BY id",
     read_assoc},
    {"SELECT id, name, created_us, usage_billing_s, flags, reset_us, usage_wall_s, usage_tres FROM qos ORDER BY id",
     read_qos},
    {"SELECT user, project, at_us, reset_us, cpu_s, mem_gib_s, io_gib, finished_jobs,"
     " usage_conversion FROM owner_usage"
     " ORDER BY user, project",
     read_owner},
    {"SELECT at_us, kind, association_id, before, after, seq, detail FROM usage_journal ORDER BY seq",
     read_journal_entry},
};

/* --- what was pruned ---------------------------------------------------------------------------------------------- */

enum pruned_column {
    PRUNED_SCOPE,
    PRUNED_ROW_ID,
    PRUNED_USER,
    PRUNED_PROJECT,
    PRUNED_RESOURCE,
    PRUNED_AMOUNT,
    PRUNED_HALVINGS,
    PRUNED_AT
};
static const char pruned_query[] =
    "SELECT scope, row_id, user, project, resource, amount, halvings, at_us FROM pruned_usage";

/* halvings: from at_us to the reference, now; the row has those of when it was written. */
static void add_pruned(struct usage_records *v, sqlite3_stmt *row, struct sum *billing, struct kind_sums *kinds,
                       long double halvings)
{
    const char *resource = sql_column_text(row, PRUNED_RESOURCE);
    long double before = sqlite3_column_double(row, PRUNED_HALVINGS);
    long double amount = sqlite3_column_double(row, PRUNED_AMOUNT) * exp2l(before - halvings);
    bool is_billing = strcmp(resource, USAGE_RECORDS_BILLING) == 0;
    sum_add(is_billing ? billing : kind_sum(v, kinds, kind_index(v, str(resource))), amount);
}

static int read_pruned_assoc(struct usage_records *v, sqlite3_stmt *row, int64_t at_us, struct err *e)
{
    uint32_t index = map_get_u64(&v->assoc_by_id, (uint64_t)sqlite3_column_int64(row, PRUNED_ROW_ID));
    if (index == NONE)
        return err_set(e, ERR_INTERNAL, "%s: pruned_usage has a sum of association %lld, which does not exist", v->path,
                       (long long)sqlite3_column_int64(row, PRUNED_ROW_ID));
    struct assoc_sum *target = &v->assocs.items[v->assocs.items[index].target];
    if (at_us > v->assocs.items[index].from_us)
        add_pruned(v, row, &target->billing, &target->kinds, epochs_halvings(&v->epochs, at_us));
    return 0;
}

/* Ids are reused: an older sum is of another QOS. */
static void read_pruned_qos(struct usage_records *v, sqlite3_stmt *row, int64_t at_us)
{
    uint32_t index = map_get_u64(&v->qos_by_id, (uint64_t)sqlite3_column_int64(row, PRUNED_ROW_ID));
    if (index == NONE || at_us <= v->qos.items[index].created_us) return;
    struct qos_sum *q = &v->qos.items[index];
    if (at_us > q->reset_us)
        add_pruned(v, row, &q->billing, &q->kinds, segments_halvings(&q->segments, &v->epochs, at_us));
}

static int read_pruned(struct usage_records *v, sqlite3_stmt *row, struct err *e)
{
    struct str scope = str(sql_column_text(row, PRUNED_SCOPE));
    int64_t at_us = sqlite3_column_int64(row, PRUNED_AT);
    if (str_equal(scope, str("association"))) return read_pruned_assoc(v, row, at_us, e);
    if (str_equal(scope, str("qos"))) {
        read_pruned_qos(v, row, at_us);
        return 0;
    }
    const struct owner_pruned pruned = {.user = sql_column_text(row, PRUNED_USER),
                                        .project = sql_column_text(row, PRUNED_PROJECT),
                                        .is_of_project = str_equal(scope, str("project")),
                                        .resource = sql_column_text(row, PRUNED_RESOURCE),
                                        .amount = sqlite3_column_double(row, PRUNED_AMOUNT),
                                        .at_us = at_us,
                                        .reset_us = v->usage_reset_us};
    if (usage_owners_add_pruned(&v->owners, &pruned)) return 0;
    return err_set(e, ERR_INTERNAL, "%s: pruned_usage has a sum of '%s', which is no resource", v->path,
                   pruned.resource);
}

static int read_rules(struct usage_records *v, struct err *e)
{
    ensure(kind_index(v, str(WALL_NAME)) == WALL);
    if (sql_number(v->db, "SELECT reference_us FROM counters", &v->reference_us, e) != 0 ||
        sql_number(v->db, "SELECT ifnull(usage_reset_us, 0) FROM counters", &v->usage_reset_us, e) != 0)
        return -1;
    for (size_t i = 0; i < sizeof rule_tables / sizeof *rule_tables; i++) {
        if (usage_records_for_each(v, rule_tables[i].query, rule_tables[i].read_row, e) != 0) return -1;
    }
    if (v->owners.rules.count == 0)
        return err_set(e, ERR_INTERNAL, "%s: the usage journal has no OWNER_RULE (the share tree's decay)", v->path);
    if (v->epochs.list.count == 0)
        return err_set(e, ERR_INTERNAL, "%s: the usage journal has no HALFLIFE (the first half-life)", v->path);
    if (v->reference_us < 0 || v->reference_us > (int64_t)TIME_US_MAX)
        return sql_bad_row(v->path, "counters", 1, "a number is out of range", e);
    epochs_finish(&v->epochs, v->reference_us);
    for (uint32_t i = 0; i < v->qos.count; i++) segments_finish(&v->qos.items[i].segments, &v->epochs);
    if (finish_folds(v, e) != 0) return -1;
    return usage_records_for_each(v, pruned_query, read_pruned, e);
}

int usage_records_begin(struct usage_records *v, sqlite3 *db, const char *path, bool is_prune, int64_t as_of_us,
                        struct err *e)
{
    *v = (struct usage_records){.db = db, .path = path, .is_prune = is_prune, .as_of_us = as_of_us};
    v->owners.is_by_user = is_prune;
    return read_rules(v, e);
}

/* --- the tasks ---------------------------------------------------------------------------------------------------- */

enum task_column {
    TASK_JOB_ID,
    TASK_ID = USAGE_RECORDS_TASK_ID,
    TASK_ASSOC_ID,
    TASK_BILLING,
    TASK_START_US = USAGE_RECORDS_TASK_START_US,
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
    TASK_RESTARTS,
    TASK_IS_MOVED_IN,
    TASK_SUSPENSIONS /* "FROM UNTIL IS_CHARGED,..."; UNTIL 0: it is not over */
};
const char usage_records_tasks[] =
    "SELECT job_id, task_id, task.association_id, billing, start_us, charged_us, end_us, usage_factor, tres, launch_us, qos,"
    " ifnull(project, ''), task.cpus, task.mem_mib, charged_as_of_us, charged_cpu_s, charged_mem_gib_s, charged_io_gib,"
    " partition_qos, limits_from_us, restarts, origin IS NOT NULL,"
    " iif(suspensions IS NULL, '', (SELECT group_concat(from_us || ' ' || ifnull(until_us, 0) || ' ' || is_charged) FROM"
    " (SELECT * FROM suspension WHERE suspension.launch_id = task.launch_id ORDER BY number)))"
    " FROM task LEFT JOIN job ON job.id = job_id";

static bool is_epoch_start(const struct usage_records *v, int64_t at_us)
{
    for (uint32_t i = 0; i < v->epochs.list.count; i++) {
        if (v->epochs.list.items[i].from_us == at_us) return true;
    }
    return false;
}

/* The time that a task is charged for: the spans, which are v->spans. */
struct charge {
    int64_t from_us, to_us;
    int64_t
        limits_from_us; /* its wall time, and what it is charged to the TRES of QOS, count from here on; 0: all of it */
    struct late_start late; /* invariant 2; 0, 0: its start was not late */
};

struct suspension {
    int64_t from_us, until_us; /* until_us INT64_MAX: it is not over */
    bool is_charged;
};

/* Cuts the first one off a text of TASK_SUSPENSIONS. False: there is none. */
static bool next_suspension(struct str *text, struct suspension *out)
{
    int64_t numbers[3] = {0};
    struct str rest = str_cut(*text, ',', text);
    if (rest.length == 0) return false;
    for (int i = 0; i < 3; i++) (void)number_parse_i64(str_cut(rest, ' ', &rest), &numbers[i]);
    *out = (struct suspension){numbers[0], numbers[1] != 0 ? numbers[1] : INT64_MAX, numbers[2] != 0};
    return true;
}

/* Whether the task was charged up to a time because a suspension began or ended then. */
static bool is_suspension_bound(sqlite3_stmt *row, int64_t at_us)
{
    struct str text = str(sql_column_text(row, TASK_SUSPENSIONS));
    struct suspension s;
    while (next_suspension(&text, &s)) {
        if (s.from_us == at_us || s.until_us == at_us) return true;
    }
    return false;
}

/* Invariant 3. */
static void find_spans(struct usage_records *v, sqlite3_stmt *row, const struct charge *c)
{
    struct str text = str(sql_column_text(row, TASK_SUSPENSIONS));
    struct suspension s;
    int64_t from_us = c->from_us;
    array_clear(&v->spans);
    while (next_suspension(&text, &s)) {
        if (s.is_charged) continue;
        int64_t until_us = s.from_us < c->to_us ? s.from_us : c->to_us;
        if (until_us > from_us) *array_add(&v->spans) = (struct charged_span){from_us, until_us};
        from_us = larger_of(from_us, s.until_us);
    }
    if (c->to_us > from_us) *array_add(&v->spans) = (struct charged_span){from_us, c->to_us};
}

static struct charge charge_of(const struct usage_records *v, sqlite3_stmt *row)
{
    int64_t charged_us = sqlite3_column_int64(row, TASK_CHARGED_US), to_us = sqlite3_column_int64(row, TASK_END_US);
    bool is_beyond_end = charged_us > to_us && (is_epoch_start(v, charged_us) || is_suspension_bound(row, charged_us));
    if (to_us == 0 || is_beyond_end) to_us = charged_us; /* invariant 1 */
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

static int fail_task(const struct usage_records *v, sqlite3_stmt *row, const char *reason, struct err *e)
{
    return err_set(e, ERR_INTERNAL, "%s: task %u of job %u %s", v->path, (uint32_t)sqlite3_column_int64(row, TASK_ID),
                   (uint32_t)sqlite3_column_int64(row, TASK_JOB_ID), reason);
}

/* A charge long after the reference is larger by the halvings between them, and does not fit into a number. */
static int fail_charge(const struct usage_records *v, sqlite3_stmt *row, struct err *e)
{
    return fail_task(
        v, row, "was charged too long after reference_us (table counters): start_us, charged_us or end_us is wrong", e);
}

/* Adds the charge of a task to the sums by TRES; v->amounts are the task's. */
static void add_kinds(struct usage_records *v, struct kind_sums *to, long double of_one_unit)
{
    for (uint32_t i = 0; i < v->amounts.list.count; i++) {
        const struct tres_amount *a = &v->amounts.list.items[i];
        sum_add(kind_sum(v, to, a->tres), a->amount * of_one_unit);
    }
}

/* The charge of one unit to a QOS, and to an association, from from_us on. */
static long double qos_charge(const struct usage_records *v, const struct qos_sum *q, const struct charge *c,
                              int64_t from_us)
{
    long double total = 0;
    for (uint32_t i = 0; i < v->spans.count; i++) {
        const struct charged_span span = {larger_of(v->spans.items[i].from_us, from_us), v->spans.items[i].to_us};
        total += segments_charge(&q->segments, &v->epochs, c->late.epoch, c->late.seq, span.from_us, span.to_us);
    }
    return total;
}

static long double assoc_charge(const struct usage_records *v, const struct charge *c, int64_t from_us)
{
    long double total = 0;
    for (uint32_t i = 0; i < v->spans.count; i++) {
        const struct charged_span span = {larger_of(v->spans.items[i].from_us, from_us), v->spans.items[i].to_us};
        total += epochs_charge(&v->epochs, c->late.epoch, span.from_us, span.to_us);
    }
    return total;
}

static int charge_qos(struct usage_records *v, sqlite3_stmt *row, enum task_column column, const struct charge *c,
                      struct err *e)
{
    uint32_t index = map_get(&v->qos_by_name, str(sql_column_text(row, (int)column)));
    if (index == NONE || sqlite3_column_int64(row, TASK_LAUNCH_US) < v->qos.items[index].created_us) return 0;
    struct qos_sum *q = &v->qos.items[index];
    long double factor = sqlite3_column_double(row, TASK_USAGE_FACTOR);
    long double billing = fmaxl(sqlite3_column_double(row, TASK_BILLING), 0);
    int64_t from_us = larger_of(c->from_us, q->reset_us), limits_from_us = larger_of(from_us, c->limits_from_us);
    long double all = qos_charge(v, q, c, from_us), counted = all;
    if (limits_from_us > from_us) counted = qos_charge(v, q, c, limits_from_us);
    if (!isfinite(all)) return fail_charge(v, row, e);
    if (!q->is_touched) *array_add(&v->touched_qos) = index;
    q->is_touched = true;
    sum_add(&q->billing, billing * factor * all);
    sum_add(kind_sum(v, &q->kinds, WALL), factor * counted);
    add_kinds(v, &q->kinds, factor * counted);
    return 0;
}

static int charge_assoc(struct usage_records *v, sqlite3_stmt *row, uint32_t index, const struct charge *c,
                        struct err *e)
{
    struct assoc_sum *sink = &v->assocs.items[v->assocs.items[index].target];
    long double factor = sqlite3_column_double(row, TASK_USAGE_FACTOR);
    long double rate = fmaxl(sqlite3_column_double(row, TASK_BILLING), 0) * factor;
    int64_t from_us = larger_of(c->from_us, v->assocs.items[index].from_us);
    int64_t limits_from_us = larger_of(from_us, c->limits_from_us);
    long double of_one_unit = assoc_charge(v, c, from_us), wall = of_one_unit;
    if (limits_from_us > from_us) wall = assoc_charge(v, c, limits_from_us);
    if (!isfinite(of_one_unit)) return fail_charge(v, row, e);
    if (!sink->is_touched) *array_add(&v->touched_assocs) = v->assocs.items[index].target;
    sink->is_touched = true;
    sum_add(&sink->billing, rate * of_one_unit);
    sum_add(kind_sum(v, &sink->kinds, WALL), factor * wall);
    add_kinds(v, &sink->kinds, factor * of_one_unit);
    return 0;
}

static int charge_owners(struct usage_records *v, sqlite3_stmt *row, const struct charge *c, const char *user,
                         struct err *e)
{
    enum { MIB_PER_GIB = 1024 };
    uint32_t cpu_count;
    struct owner_charge charge = {.user = user,
                                  .project = sql_column_text(row, TASK_PROJECT),
                                  .from_us = c->from_us,
                                  .reset_us = v->usage_reset_us,
                                  .to_us = c->to_us,
                                  .spans = v->spans.items,
                                  .span_count = v->spans.count,
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

int usage_records_charge(struct usage_records *v, sqlite3_stmt *row, struct err *e)
{
    uint32_t index = map_get_u64(&v->assoc_by_id, (uint64_t)sqlite3_column_int64(row, TASK_ASSOC_ID));
    if (index == NONE) return fail_task(v, row, "belongs to an association that does not exist", e);
    if (sqlite3_column_int(row, TASK_IS_MOVED_IN) != 0) return 0; /* history only: it is charged nothing */
    const struct charge c = charge_of(v, row);
    find_spans(v, row, &c);
    if (read_amounts(v, str(sql_column_text(row, TASK_TRES)), e) != 0) return -1;
    if (charge_assoc(v, row, index, &c, e) != 0) return -1;
    if (charge_qos(v, row, TASK_QOS, &c, e) != 0) return -1;
    if (charge_qos(v, row, TASK_PARTITION_QOS, &c, e) != 0) return -1;
    return charge_owners(v, row, &c, v->assocs.items[index].user, e);
}

void usage_records_release(struct usage_records *v)
{
    for (uint32_t i = 0; i < v->qos.count; i++) array_release(&v->qos.items[i].segments.list);
    usage_owners_release(&v->owners);
    array_release(&v->epochs.list);
    array_release(&v->conversions.list);
    array_release(&v->assocs);
    array_release(&v->kind_sums);
    array_release(&v->qos);
    array_release(&v->kind_names);
    array_release(&v->late_starts);
    array_release(&v->spans);
    array_release(&v->amounts.list);
    buf_release(&v->amounts.text);
    map_release(&v->assoc_by_id);
    map_release(&v->kind_by_name);
    map_release(&v->qos_by_id);
    map_release(&v->qos_by_name);
    map_release(&v->late_start_by_task);
    arena_release(&v->arena);
    array_release(&v->touched_assocs);
    array_release(&v->touched_qos);
}

void usage_records_clear_touched(struct usage_records *v)
{
    for (uint32_t i = 0; i < v->touched_assocs.count; i++)
        v->assocs.items[v->touched_assocs.items[i]].is_touched = false;
    for (uint32_t i = 0; i < v->touched_qos.count; i++) v->qos.items[v->touched_qos.items[i]].is_touched = false;
    array_clear(&v->touched_assocs);
    array_clear(&v->touched_qos);
    usage_owners_clear_touched(&v->owners);
}
