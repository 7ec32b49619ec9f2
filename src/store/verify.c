/* Usage, computed again: from the records of what ran and the journal of what changed the rules, without the engine.
 *
 *     journal   HALFLIFE at T0, T1, T2       T0        T1            T2            reference
 *     task      start ........ charged        |--------|--[=========|====]---------|
 *                                              H0       H1            H2
 *
 * The half-life changes cut time into epochs. What a task used in an epoch is a charge in closed form under that epoch's
 * half-life, which then fades to the end of the epoch, through every later one, and to the reference (verify_decay.h). The
 * charge of one unit a second, times what the task has a second:
 *
 *     its association          billing x usage factor, and the amount of each TRES x usage factor
 *     its job's QOS            billing x usage factor; its own history says when that faded (journal: QOS_DECAY)
 *     its owners               CPUs and GiB, fading by the share tree's rule (verify_owners.h)
 *
 * What a deleted association used belongs to the one that took it over (FOLD), and so on until one that stands. A QOS that
 * was deleted has no usage any more: a task belongs to the QOS of that name if it was launched since that was created.
 *
 * What was reset since counts from its reset_us on, and so does what was folded into it before. Whether a fold came before
 * the last reset of who took it over says the journal: it has that one's reset_us of then (a later reset is a larger one).
 *
 * Invariants
 *   1. A task is charged from start_us to end_us, or to charged_us while it lives. One ending is allowed to be charged for
 *      longer than it ran: when the rules changed between its end and the record of it, the engine had charged it up
 *      to that change; charged_us is then a change's moment.
 *   2. A task whose start was learned late (journal: LATE), after a change of rules, is charged as if the rules of that
 *      moment had been in force from its start.
 *   3. Sums are more exact than what they judge (verify_sum.h).
 *
 * A difference counts beyond 1e-9 of the greater value, and beyond 1e-6 billing-seconds: one CPU for one microsecond, the
 * smallest thing that the records can say, so also the least that a record can be wrong by. (Values are as of the
 * reference, which is never later than now: seen now they are smaller still.)
 * Cost: one walk over the tasks, about 0.8 s for 10^6; memory for the associations only. Own connection and snapshot. */
#include "base/ensure.h"
#include "base/idset.h"
#include "base/number.h"
#include "policy/tres_text.h"
#include "store/internal.h"
#include "store/verify_decay.h"
#include "store/verify_owners.h"

struct assoc_sum {
    uint32_t id;
    uint32_t sink;         /* place of the one that has its usage: itself while it stands */
    uint32_t fold_id;      /* who took it over, 0: nobody */
    int64_t fold_reset_us; /* when that one had last been reset then */
    int64_t reset_us;
    int64_t from_us; /* from where on what it used counts in its sink */
    const char *user;
    uint32_t first_tres, last_tres;
    bool is_deleted;
    struct sum billing;
};

/* Of an association and a TRES; in a list behind each other. */
struct tres_sum {
    uint32_t tres, next;
    struct sum sum;
};

struct qos_sum {
    uint32_t id;
    const char *name;
    int64_t created_us, reset_us;
    struct segments segments;
    struct sum sum;
};

/* The rules in force when a start was learned late: the last epoch, and the place in the journal. */
struct late {
    uint32_t epoch;
    int64_t seq;
};

/* Amounts as a task's column has them; most tasks have the same as the one before. */
struct amounts {
    struct buf text;
    ARRAY(struct tres_amount) list; /* tres: place among tres_names */
};

struct verification {
    sqlite3 *db;
    const char *path;
    struct arena arena;
    int64_t reference_us, usage_reset_us;
    struct epochs epochs;
    struct owners owners;
    ARRAY(struct assoc_sum) assocs; /* by id, ascending */
    ARRAY(struct tres_sum) tres_sums;
    ARRAY(struct qos_sum) qos; /* that stand, by id, ascending */
    ARRAY(const char *) tres_names;
    ARRAY(struct late) lates;
    struct map assoc_by_id, tres_by_name, qos_by_id, qos_by_name;
    struct map tres_sum_of;  /* place of the association << 32 | of the TRES */
    struct map late_by_task; /* task_key -> place in lates */
    struct amounts amounts;
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

/* --- sums --------------------------------------------------------------------------------------------------------- */

static int64_t later_of(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static uint32_t tres_place(struct verification *v, struct str name)
{
    uint32_t place = map_get(&v->tres_by_name, name);
    if (place != NONE) return place;
    const char *kept = arena_copy(&v->arena, name);
    map_set(&v->tres_by_name, str(kept), v->tres_names.count);
    *array_add(&v->tres_names) = kept;
    return v->tres_names.count - 1;
}

static struct sum *tres_sum(struct verification *v, uint32_t assoc, uint32_t tres)
{
    uint64_t key = (uint64_t)assoc << 32 | tres;
    uint32_t place = map_get_u64(&v->tres_sum_of, key);
    if (place == NONE) {
        place = v->tres_sums.count;
        struct assoc_sum *a = &v->assocs.items[assoc];
        *array_add(&v->tres_sums) = (struct tres_sum){.tres = tres, .next = NONE};
        if (a->first_tres == NONE)
            a->first_tres = place;
        else
            v->tres_sums.items[a->last_tres].next = place;
        a->last_tres = place;
        map_set_u64(&v->tres_sum_of, key, place);
    }
    return &v->tres_sums.items[place].sum;
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
        if (!number_parse_double(value, &amount))
            return err_set(e, ERR_INTERNAL, "%s: amounts by TRES: '%.*s' cannot be read", v->path,
                           (int)(text.length < 64 ? text.length : 64), text.text);
        *array_add(&a->list) = (struct tres_amount){tres_place(v, name), amount};
    }
    buf_add_str(&a->text, text);
    return 0;
}

/* --- the rules ---------------------------------------------------------------------------------------------------- */

static int take_assoc(struct verification *v, sqlite3_stmt *row, struct err *e)
{
    uint32_t id = (uint32_t)sqlite3_column_int64(row, 0), place = v->assocs.count;
    map_set_u64(&v->assoc_by_id, id, place);
    *array_add(&v->assocs) = (struct assoc_sum){.id = id,
                                                .sink = place,
                                                .first_tres = NONE,
                                                .billing = {.stored = sqlite3_column_double(row, 1)},
                                                .is_deleted = !sql_column_is_null(row, 2),
                                                .user = arena_copy(&v->arena, str(sql_column_text(row, 4))),
                                                .reset_us = later_of(sqlite3_column_int64(row, 5), v->usage_reset_us)};
    if (read_amounts(v, str(sql_column_text(row, 3)), e) != 0) return -1;
    for (uint32_t i = 0; i < v->amounts.list.count; i++)
        tres_sum(v, place, v->amounts.list.items[i].tres)->stored = v->amounts.list.items[i].amount;
    return 0;
}

static int take_qos(struct verification *v, sqlite3_stmt *row, struct err *e)
{
    uint32_t place = v->qos.count, flags;
    struct qos_sum *q = array_add(&v->qos);
    *q = (struct qos_sum){.id = (uint32_t)sqlite3_column_int64(row, 0),
                          .name = arena_copy(&v->arena, str(sql_column_text(row, 1))),
                          .created_us = sqlite3_column_int64(row, 2),
                          .reset_us = later_of(sqlite3_column_int64(row, 5), v->usage_reset_us),
                          .sum = {.stored = sqlite3_column_double(row, 3)}};
    map_set_u64(&v->qos_by_id, q->id, place);
    map_set(&v->qos_by_name, str(q->name), place);
    if (setting_text_qos_flags(str(sql_column_text(row, 4)), "flags", &flags, e) != 0)
        return err_prefix(e, "%s: qos %u", v->path, q->id);
    segments_begin(&q->segments, (flags & QOS_NO_DECAY) == 0);
    return 0;
}

static int take_owner(struct verification *v, sqlite3_stmt *row, struct err *e)
{
    double used[USAGE_RESOURCE_COUNT];
    (void)e;
    struct owner_sum owner = {.user = sql_column_text(row, 0),
                              .project = sql_column_text(row, 1),
                              .at_us = sqlite3_column_int64(row, 2),
                              .reset_us = sqlite3_column_int64(row, 3)};
    for (int r = 0; r < USAGE_RESOURCE_COUNT; r++) used[r] = sqlite3_column_double(row, 4 + r);
    owners_add(&v->owners, &owner, used);
    return 0;
}

static int take_fold(struct verification *v, sqlite3_stmt *row, struct err *e)
{
    uint32_t place = map_get_u64(&v->assoc_by_id, (uint64_t)sqlite3_column_int64(row, 2));
    if (place == NONE)
        return err_set(e, ERR_INTERNAL, "%s: the journal folds an association that is not there", v->path);
    v->assocs.items[place].fold_reset_us = sqlite3_column_int64(row, 3);
    v->assocs.items[place].fold_id = (uint32_t)sqlite3_column_int64(row, 4);
    return 0;
}

/* Before its first change a QOS did what the change ended. Ids are given again: changes of an older one are none of it, and
 * those of the moment it was created do not matter. */
static void take_qos_decay(struct verification *v, sqlite3_stmt *row)
{
    int64_t at_us = sqlite3_column_int64(row, 0);
    bool fades = sqlite3_column_int64(row, 4) != 0;
    uint32_t place = map_get_u64(&v->qos_by_id, (uint64_t)sqlite3_column_int64(row, 3));
    if (place == NONE || at_us <= v->qos.items[place].created_us) return;
    struct segments *s = &v->qos.items[place].segments;
    if (s->list.count == 1) s->list.items[0].fades = !fades;
    segments_add(s, at_us, sqlite3_column_int64(row, 5), fades);
}

static void take_late(struct verification *v, sqlite3_stmt *row)
{
    uint64_t key = task_key((uint32_t)sqlite3_column_int64(row, 3), (uint32_t)sqlite3_column_int64(row, 4));
    map_set_u64(&v->late_by_task, key, v->lates.count);
    *array_add(&v->lates) = (struct late){v->epochs.list.count - 1, sqlite3_column_int64(row, 5)};
}

static int take_owner_rule(struct verification *v, sqlite3_stmt *row, struct err *e)
{
    int64_t at_us = sqlite3_column_int64(row, 0), seq = sqlite3_column_int64(row, 5);
    if (owners_add_rule(&v->owners, at_us, seq, sql_column_text(row, 6), e) == 0) return 0;
    e->code = ERR_INTERNAL;
    return err_prefix(e, "%s: journal %lld", v->path, (long long)seq);
}

static int take_journal(struct verification *v, sqlite3_stmt *row, struct err *e)
{
    struct str kind = str(sql_column_text(row, 1));
    if (str_equal(kind, str("FOLD"))) return take_fold(v, row, e);
    if (str_equal(kind, str("HALFLIFE")))
        *array_add(&v->epochs.list) =
            (struct epoch){sqlite3_column_int64(row, 0), sqlite3_column_int64(row, 4) * 1000000, 0};
    if (str_equal(kind, str("QOS_DECAY"))) take_qos_decay(v, row);
    if (str_equal(kind, str("OWNER_RULE"))) return take_owner_rule(v, row, e);
    if (str_equal(kind, str("LATE")) && v->epochs.list.count > 0) take_late(v, row);
    return 0;
}

/* Each deleted association's sink, through as many folds as there were; more steps than associations is a circle. */
static int finish_folds(struct verification *v, struct err *e)
{
    for (uint32_t i = 0; i < v->assocs.count; i++) {
        uint32_t at = i, steps = 0;
        int64_t from_us = v->assocs.items[i].reset_us;
        while (at != NONE && v->assocs.items[at].is_deleted && steps++ <= v->assocs.count) {
            const struct assoc_sum *folded = &v->assocs.items[at];
            at = map_get_u64(&v->assoc_by_id, folded->fold_id);
            if (at != NONE && v->assocs.items[at].reset_us != folded->fold_reset_us)
                from_us = later_of(from_us, v->assocs.items[at].reset_us);
        }
        if (at == NONE || v->assocs.items[at].is_deleted)
            return err_set(e, ERR_INTERNAL, "%s: the journal does not say who took over the usage of association %u",
                           v->path, v->assocs.items[i].id);
        v->assocs.items[i].sink = at;
        v->assocs.items[i].from_us = from_us;
    }
    return 0;
}

static const struct {
    const char *query;
    int (*take)(struct verification *v, sqlite3_stmt *row, struct err *e);
} rules[] = {
    {"SELECT id, usage_billing_s, deleted_us, usage_tres, ifnull(user, ''), reset_us FROM association ORDER BY id",
     take_assoc},
    {"SELECT id, name, created_us, usage_billing_s, flags, reset_us FROM qos ORDER BY id", take_qos},
    {"SELECT user, project, at_us, reset_us, cpu_s, mem_gib_s, io_gib, finished_jobs FROM owner_usage"
     " ORDER BY user, project",
     take_owner},
    {"SELECT at_us, kind, association_id, before, after, seq, detail FROM usage_journal ORDER BY seq", take_journal},
};

static int read_rules(struct verification *v, struct err *e)
{
    if (sql_number(v->db, "SELECT reference_us FROM counters", &v->reference_us, e) != 0 ||
        sql_number(v->db, "SELECT ifnull(usage_reset_us, 0) FROM counters", &v->usage_reset_us, e) != 0)
        return -1;
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        if (for_each(v, rules[i].query, rules[i].take, e) != 0) return -1;
    }
    if (v->owners.rules.count == 0)
        return err_set(e, ERR_INTERNAL, "%s: the journal does not say how the share tree's usage fades", v->path);
    if (v->epochs.list.count == 0)
        return err_set(e, ERR_INTERNAL, "%s: the journal does not say the first half-life", v->path);
    epochs_finish(&v->epochs, v->reference_us);
    for (uint32_t i = 0; i < v->qos.count; i++) segments_finish(&v->qos.items[i].segments, &v->epochs);
    return finish_folds(v, e);
}

/* --- what ran ----------------------------------------------------------------------------------------------------- */

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
    TASK_MEM_MIB
};
static const char tasks_query[] =
    "SELECT job_id, task_id, task.association_id, billing, start_us, charged_us, end_us, usage_factor, tres, launch_us, qos,"
    " ifnull(project, ''), task.cpus, task.mem_mib FROM task LEFT JOIN job ON job.id = job_id WHERE start_us IS NOT NULL";

static bool is_change(const struct verification *v, int64_t at_us)
{
    for (uint32_t i = 0; i < v->epochs.list.count; i++) {
        if (v->epochs.list.items[i].from_us == at_us) return true;
    }
    return false;
}

/* What a task is charged for. */
struct charge {
    int64_t from_us, to_us;
    struct late late; /* invariant 2; 0, 0: none */
};

static struct charge charge_of(const struct verification *v, sqlite3_stmt *row)
{
    int64_t charged_us = sqlite3_column_int64(row, TASK_CHARGED_US), to_us = sqlite3_column_int64(row, TASK_END_US);
    if (to_us == 0 || (charged_us > to_us && is_change(v, charged_us))) to_us = charged_us; /* invariant 1 */
    struct charge c = {.from_us = sqlite3_column_int64(row, TASK_START_US), .to_us = to_us};
    if (v->lates.count == 0) return c;
    uint64_t key =
        task_key((uint32_t)sqlite3_column_int64(row, TASK_JOB_ID), (uint32_t)sqlite3_column_int64(row, TASK_ID));
    uint32_t late = map_get_u64(&v->late_by_task, key);
    if (late != NONE) c.late = v->lates.items[late];
    return c;
}

static void charge_qos(struct verification *v, sqlite3_stmt *row, const struct charge *c, long double rate)
{
    uint32_t place = map_get(&v->qos_by_name, str(sql_column_text(row, TASK_QOS)));
    if (place == NONE || sqlite3_column_int64(row, TASK_LAUNCH_US) < v->qos.items[place].created_us) return;
    struct qos_sum *q = &v->qos.items[place];
    int64_t from_us = later_of(c->from_us, q->reset_us);
    sum_add(&q->sum, rate * segments_charge(&q->segments, &v->epochs, c->late.epoch, c->late.seq, from_us, c->to_us));
}

static int charge_owners(struct verification *v, sqlite3_stmt *row, const struct charge *c, const char *user,
                         struct err *e)
{
    enum { MIB_PER_GIB = 1024 };
    struct idset cpus = {0};
    struct owner_charge charge = {.user = user,
                                  .project = sql_column_text(row, TASK_PROJECT),
                                  .from_us = c->from_us,
                                  .reset_us = v->usage_reset_us,
                                  .to_us = c->to_us,
                                  .rule_seq = c->late.seq,
                                  .has_ended = !sql_column_is_null(row, TASK_END_US)};
    const char *text = sql_column_text(row, TASK_CPUS);
    if (text[0] != '\0' && idset_parse(str(text), NONE - 1, "cpus", &cpus, e) != 0)
        return err_prefix(e, "%s: task of job %u", v->path, (uint32_t)sqlite3_column_int64(row, TASK_JOB_ID));
    charge.rates[USAGE_CPU] = idset_count(&cpus);
    charge.rates[USAGE_MEM] = sqlite3_column_double(row, TASK_MEM_MIB) / MIB_PER_GIB;
    idset_release(&cpus);
    owners_charge(&v->owners, &charge);
    return 0;
}

static int take_task(struct verification *v, sqlite3_stmt *row, struct err *e)
{
    uint32_t place = map_get_u64(&v->assoc_by_id, (uint64_t)sqlite3_column_int64(row, TASK_ASSOC_ID));
    if (place == NONE)
        return err_set(e, ERR_INTERNAL, "%s: task %u of job %u belongs to an association that is not there", v->path,
                       (uint32_t)sqlite3_column_int64(row, TASK_ID), (uint32_t)sqlite3_column_int64(row, TASK_JOB_ID));
    uint32_t sink = v->assocs.items[place].sink;
    const struct charge c = charge_of(v, row);
    long double factor = sqlite3_column_double(row, TASK_USAGE_FACTOR);
    long double rate = fmaxl(sqlite3_column_double(row, TASK_BILLING), 0) * factor;
    int64_t from_us = later_of(c.from_us, v->assocs.items[place].from_us);
    long double of_one = epochs_charge(&v->epochs, c.late.epoch, from_us, c.to_us);
    sum_add(&v->assocs.items[sink].billing, rate * of_one);
    charge_qos(v, row, &c, rate);
    if (charge_owners(v, row, &c, v->assocs.items[place].user, e) != 0) return -1;
    if (read_amounts(v, str(sql_column_text(row, TASK_TRES)), e) != 0) return -1;
    for (uint32_t i = 0; i < v->amounts.list.count; i++) {
        const struct tres_amount *a = &v->amounts.list.items[i];
        sum_add(tres_sum(v, sink, a->tres), a->amount * factor * of_one);
    }
    return 0;
}

/* --- judging ------------------------------------------------------------------------------------------------------ */

static int name_assoc(struct verification *v, struct arena *arena, struct verify_difference *d, struct err *e)
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

static struct verify_difference *judge(const struct sum *s, struct verify_report *report)
{
    if (!sum_differs(s)) return NULL;
    struct verify_difference *d = array_add(&report->differences);
    d->stored = s->stored;
    d->recomputed = (double)sum_total(s);
    return d;
}

static int judge_assoc(struct verification *v, const struct assoc_sum *a, struct arena *arena,
                       struct verify_report *report, struct err *e)
{
    uint32_t before = report->differences.count;
    judge(&a->billing, report);
    for (uint32_t i = a->first_tres; i != NONE; i = v->tres_sums.items[i].next) {
        struct verify_difference *d = judge(&v->tres_sums.items[i].sum, report);
        if (d != NULL) d->tres = arena_copy(arena, str(v->tres_names.items[v->tres_sums.items[i].tres]));
    }
    for (uint32_t i = before; i < report->differences.count; i++) {
        report->differences.items[i].assoc_id = a->id;
        if (name_assoc(v, arena, &report->differences.items[i], e) != 0) return -1;
    }
    return 0;
}

static int judge_all(struct verification *v, struct arena *arena, struct verify_report *report, struct err *e)
{
    for (uint32_t i = 0; i < v->assocs.count; i++) {
        report->assoc_count += !v->assocs.items[i].is_deleted;
        if (judge_assoc(v, &v->assocs.items[i], arena, report, e) != 0) return -1;
    }
    report->qos_count = v->qos.count;
    for (uint32_t i = 0; i < v->qos.count; i++) {
        struct verify_difference *d = judge(&v->qos.items[i].sum, report);
        if (d != NULL) d->qos = arena_copy(arena, str(v->qos.items[i].name));
    }
    owners_judge(&v->owners, arena, report);
    return 0;
}

static int verify(struct verification *v, struct arena *arena, struct verify_report *report, struct err *e)
{
    int64_t tasks;
    if (sql_run(v->db, "BEGIN", e) != 0 || read_rules(v, e) != 0) return -1;
    if (for_each(v, tasks_query, take_task, e) != 0) return -1;
    if (sql_number(v->db, "SELECT count(*) FROM task WHERE start_us IS NOT NULL", &tasks, e) != 0) return -1;
    report->task_count = (uint64_t)tasks;
    return judge_all(v, arena, report, e);
}

static void release(struct verification *v)
{
    for (uint32_t i = 0; i < v->qos.count; i++) array_release(&v->qos.items[i].segments.list);
    owners_release(&v->owners);
    array_release(&v->epochs.list);
    array_release(&v->assocs);
    array_release(&v->tres_sums);
    array_release(&v->qos);
    array_release(&v->tres_names);
    array_release(&v->lates);
    array_release(&v->amounts.list);
    buf_release(&v->amounts.text);
    map_release(&v->assoc_by_id);
    map_release(&v->tres_by_name);
    map_release(&v->qos_by_id);
    map_release(&v->qos_by_name);
    map_release(&v->tres_sum_of);
    map_release(&v->late_by_task);
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
