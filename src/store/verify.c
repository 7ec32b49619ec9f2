/* Usage, computed again: from the records of what ran and the journal of what changed the rules, without the engine.
 *
 *     journal   HALFLIFE at T0, T1, T2       T0        T1            T2            reference
 *     task      start ........ charged        |--------|--[=========|====]---------|
 *                                              H0       H1            H2
 *
 * The half-life changes cut time into epochs. What a task used in an epoch is a charge in closed form under that epoch's
 * half-life, which then fades to the end of the epoch, through every later one, and to the reference (policy/usage.h).
 * What a deleted association used belongs to the one that took it over (FOLD), and so on until one that stands.
 *
 * Invariants
 *   1. A task is charged from start_us to end_us, or to charged_us while it lives. One ending is allowed to be charged for
 *      longer than it ran: when the half-life changed between its end and the record of it, the engine had charged it up
 *      to that change; charged_us is then a change's moment.
 *   2. A task whose start was learned late (journal: LATE), after a half-life change, is charged as if the half-life of
 *      that moment had been in force from its start.
 *   3. Sums are 80-bit where the machine has them, and compensated (Neumaier): more exact than what they judge.
 *
 * A difference counts beyond 1e-9 of the greater value, and beyond 1e-6 billing-seconds: one CPU for one microsecond, the
 * smallest thing that the records can say, so also the least that a record can be wrong by. (Values are as of the
 * reference, which is never later than now: seen now they are smaller still.)
 * Cost: one walk over the tasks, about 0.4 s for 10^6; memory for the associations only. Own connection and snapshot. */
#include <math.h>

#include "base/ensure.h"
#include "store/internal.h"

static const long double LN2 = 0.693147180559945309417232121458176568L;
static const long double SECOND_US = 1e6L;

struct epoch {
    int64_t from_us, halflife_us;
    long double exponent; /* 2^-exponent is what fades from from_us to the reference */
};

struct sum {
    uint32_t id;
    uint32_t sink;    /* place of the one that has its usage: itself while it stands */
    uint32_t fold_id; /* who took it over, 0: nobody */
    bool is_deleted;
    double stored;
    long double total, lost; /* Neumaier */
};

struct verification {
    sqlite3 *db;
    const char *path;
    int64_t reference_us;
    ARRAY(struct epoch) epochs;
    ARRAY(struct sum) sums; /* by id, ascending */
    struct map sum_by_id;
    struct map late_by_task; /* task_key -> epoch */
};

/* Calls row for every row of a query. */
static int for_each(struct verification *v, const char *query,
                    int (*row)(struct verification *, sqlite3_stmt *, struct err *), struct err *e)
{
    sqlite3_stmt *statement = sql_prepare(v->db, query, e);
    if (statement == NULL) return -1;
    int result;
    while ((result = sql_step(statement, e)) == 1) {
        if (row(v, statement, e) == 0) continue;
        result = -1;
        break;
    }
    sqlite3_finalize(statement);
    return result;
}

/* --- the rules ---------------------------------------------------------------------------------------------------- */

static int take_sum(struct verification *v, sqlite3_stmt *row, struct err *e)
{
    (void)e;
    uint32_t id = (uint32_t)sqlite3_column_int64(row, 0);
    map_set_u64(&v->sum_by_id, id, v->sums.count);
    *array_add(&v->sums) = (struct sum){.id = id,
                                        .sink = v->sums.count,
                                        .stored = sqlite3_column_double(row, 1),
                                        .is_deleted = !sql_column_is_null(row, 2)};
    return 0;
}

static int take_halflife(struct verification *v, sqlite3_stmt *row)
{
    *array_add(&v->epochs) = (struct epoch){sqlite3_column_int64(row, 0), sqlite3_column_int64(row, 4) * 1000000, 0};
    return 0;
}

static int take_fold(struct verification *v, sqlite3_stmt *row, struct err *e)
{
    uint32_t place = map_get_u64(&v->sum_by_id, (uint64_t)sqlite3_column_int64(row, 2));
    if (place == NONE)
        return err_set(e, ERR_INTERNAL, "%s: the journal folds an association that is not there", v->path);
    v->sums.items[place].fold_id = (uint32_t)sqlite3_column_int64(row, 4);
    return 0;
}

static int take_journal(struct verification *v, sqlite3_stmt *row, struct err *e)
{
    struct str kind = str(sql_column_text(row, 1));
    if (str_equal(kind, str("HALFLIFE"))) return take_halflife(v, row);
    if (str_equal(kind, str("FOLD"))) return take_fold(v, row, e);
    if (str_equal(kind, str("LATE")) && v->epochs.count > 0)
        map_set_u64(&v->late_by_task,
                    task_key((uint32_t)sqlite3_column_int64(row, 3), (uint32_t)sqlite3_column_int64(row, 4)),
                    v->epochs.count - 1);
    return 0;
}

/* From the last epoch back: each fades over its own length and then as the next one does. */
static int finish_epochs(struct verification *v, struct err *e)
{
    if (v->epochs.count == 0)
        return err_set(e, ERR_INTERNAL, "%s: the journal does not say the first half-life", v->path);
    long double exponent = 0;
    int64_t to_us = v->reference_us;
    for (uint32_t i = v->epochs.count; i-- > 0;) {
        struct epoch *epoch = &v->epochs.items[i];
        if (epoch->halflife_us > 0) exponent += (long double)(to_us - epoch->from_us) / (long double)epoch->halflife_us;
        epoch->exponent = exponent;
        to_us = epoch->from_us;
    }
    return 0;
}

/* Each deleted association's sink, through as many folds as there were; more steps than associations is a circle. */
static int finish_folds(struct verification *v, struct err *e)
{
    for (uint32_t i = 0; i < v->sums.count; i++) {
        uint32_t at = i, steps = 0;
        while (at != NONE && v->sums.items[at].is_deleted && steps++ <= v->sums.count)
            at = map_get_u64(&v->sum_by_id, v->sums.items[at].fold_id);
        if (at == NONE || v->sums.items[at].is_deleted)
            return err_set(e, ERR_INTERNAL, "%s: the journal does not say who took over the usage of association %u",
                           v->path, v->sums.items[i].id);
        v->sums.items[i].sink = at;
    }
    return 0;
}

static int read_rules(struct verification *v, struct err *e)
{
    if (sql_number(v->db, "SELECT reference_us FROM counters", &v->reference_us, e) != 0) return -1;
    if (for_each(v, "SELECT id, usage_billing_s, deleted_us FROM association ORDER BY id", take_sum, e) != 0) return -1;
    if (for_each(v, "SELECT at_us, kind, association_id, before, after FROM journal ORDER BY seq", take_journal, e) !=
        0)
        return -1;
    return finish_epochs(v, e) != 0 ? -1 : finish_folds(v, e);
}

/* --- what ran ----------------------------------------------------------------------------------------------------- */

static void add_exactly(struct sum *s, long double value)
{
    long double total = s->total + value;
    s->lost += fabsl(s->total) >= fabsl(value) ? (s->total - total) + value : (value - total) + s->total;
    s->total = total;
}

/* What a rate from from_us to to_us under an epoch's half-life comes to at the reference. */
static long double charge_in(const struct epoch *epoch, long double rate, int64_t from_us, int64_t to_us)
{
    long double passed = (long double)(to_us - from_us), halflife = (long double)epoch->halflife_us;
    if (epoch->halflife_us == 0) return rate * (passed / SECOND_US) * exp2l(-epoch->exponent);
    long double charge = rate * (halflife / SECOND_US / LN2) * -expm1l(-LN2 * (passed / halflife));
    return charge * exp2l((long double)(to_us - epoch->from_us) / halflife - epoch->exponent);
}

static bool is_change(const struct verification *v, int64_t at_us)
{
    for (uint32_t i = 0; i < v->epochs.count; i++) {
        if (v->epochs.items[i].from_us == at_us) return true;
    }
    return false;
}

static int take_task(struct verification *v, sqlite3_stmt *row, struct err *e)
{
    uint32_t place = map_get_u64(&v->sum_by_id, (uint64_t)sqlite3_column_int64(row, 2));
    uint64_t key = task_key((uint32_t)sqlite3_column_int64(row, 0), (uint32_t)sqlite3_column_int64(row, 1));
    long double rate = (long double)sqlite3_column_double(row, 3);
    int64_t from_us = sqlite3_column_int64(row, 4), charged_us = sqlite3_column_int64(row, 5),
            to_us = sqlite3_column_int64(row, 6);
    if (place == NONE)
        return err_set(e, ERR_INTERNAL, "%s: task %u of job %u belongs to an association that is not there", v->path,
                       (uint32_t)key, (uint32_t)(key >> 32));
    if (to_us == 0 || (charged_us > to_us && is_change(v, charged_us))) to_us = charged_us; /* invariant 1 */
    struct sum *sink = &v->sums.items[v->sums.items[place].sink];
    uint32_t late = v->late_by_task.count > 0 ? map_get_u64(&v->late_by_task, key) : NONE; /* invariant 2 */
    for (uint32_t i = late != NONE ? late : 0; i < v->epochs.count && from_us < to_us; i++) {
        int64_t until_us = i + 1 < v->epochs.count ? v->epochs.items[i + 1].from_us : INT64_MAX;
        if (until_us > to_us) until_us = to_us;
        if (until_us <= from_us) continue;
        add_exactly(sink, charge_in(&v->epochs.items[i], rate, from_us, until_us));
        from_us = until_us;
    }
    return 0;
}

/* --- judging ------------------------------------------------------------------------------------------------------ */

static bool differs(long double stored, long double recomputed)
{
    long double tolerance = 1e-9L * fmaxl(fabsl(stored), fabsl(recomputed));
    if (tolerance < 1e-6L) tolerance = 1e-6L;
    return !isfinite(stored) || !(fabsl(stored - recomputed) <= tolerance);
}

static int name_difference(struct verification *v, struct arena *arena, struct verify_difference *d, struct err *e)
{
    sqlite3_stmt *find = sql_prepare(v->db, "SELECT account, user FROM association WHERE id = ?1", e);
    if (find == NULL) return -1;
    sql_bind_int(find, 1, d->assoc_id);
    int result = sql_step(find, e);
    if (result == 1) {
        d->account = arena_copy(arena, str(sql_column_text(find, 0)));
        d->user = sql_column_is_null(find, 1) ? NULL : arena_copy(arena, str(sql_column_text(find, 1)));
    }
    sqlite3_finalize(find);
    return result < 0 ? -1 : 0;
}

static int judge(struct verification *v, struct arena *arena, struct verify_report *report, struct err *e)
{
    for (uint32_t i = 0; i < v->sums.count; i++) {
        const struct sum *s = &v->sums.items[i];
        report->assoc_count += !s->is_deleted;
        if (!differs(s->stored, s->total + s->lost)) continue;
        struct verify_difference *d = array_add(&report->differences);
        *d = (struct verify_difference){
            .assoc_id = s->id, .stored = s->stored, .recomputed = (double)(s->total + s->lost)};
        if (name_difference(v, arena, d, e) != 0) return -1;
    }
    return 0;
}

static int verify(struct verification *v, struct arena *arena, struct verify_report *report, struct err *e)
{
    int64_t tasks;
    if (sql_run(v->db, "BEGIN", e) != 0 || read_rules(v, e) != 0) return -1;
    if (for_each(
            v,
            "SELECT job_id, task_id, association_id, max(billing, 0) * usage_factor, start_us, charged_us, end_us FROM task"
            " WHERE start_us IS NOT NULL",
            take_task, e) != 0)
        return -1;
    if (sql_number(v->db, "SELECT count(*) FROM task WHERE start_us IS NOT NULL", &tasks, e) != 0) return -1;
    report->task_count = (uint64_t)tasks;
    return judge(v, arena, report, e);
}

int store_verify(const char *directory, struct arena *arena, struct verify_report *out_report, struct err *e)
{
    struct verification v = {0};
    struct verify_report report = {0};
    struct buf path = {0};
    buf_format(&path, "%s/fairlead.db", directory);
    v.path = path.text;
    v.db = reader_connect(path.text, e);
    int result = v.db != NULL ? verify(&v, arena, &report, e) : -1;
    sqlite3_close(v.db);
    array_release(&v.epochs);
    array_release(&v.sums);
    map_release(&v.sum_by_id);
    map_release(&v.late_by_task);
    buf_release(&path);
    if (result == 0)
        *out_report = report;
    else
        array_release(&report.differences);
    return result;
}
