/* Verification: compares the stored usages with those that the records give (usage_records.h), after a check of all
 * rows of jobs and tasks (verify_rows.h).
 *
 * A difference is reported beyond 1e-9 of the greater value and beyond 1e-6 billing-seconds: one CPU for one
 * microsecond, which is the resolution of the records. (All values are as of the reference, which is never later than
 * now.) Cost: a pass over the tasks, about 0.8 s for 10^6, after as long a one that checks the rows; memory
 * O(associations). One connection, one snapshot. */
#include "store/usage_records.h"
#include "store/verify_rows.h"

/* --- comparing ---------------------------------------------------------------------------------------------------- */

static int name_assoc(struct usage_records *v, struct arena *arena, struct verify_difference *d, struct err *e)
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
static void add_differences(struct usage_records *v, const struct sum *billing, const struct kind_sums *kinds,
                            struct arena *arena, struct verify_report *report)
{
    add_difference(billing, report);
    for (uint32_t i = kinds->first; i != NONE; i = v->kind_sums.items[i].next) {
        struct verify_difference *d = add_difference(&v->kind_sums.items[i].sum, report);
        if (d != NULL) d->tres = arena_copy(arena, str(v->kind_names.items[v->kind_sums.items[i].name]));
    }
}

static int compare_assoc(struct usage_records *v, const struct assoc_sum *a, struct arena *arena,
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

static int compare_all(struct usage_records *v, struct arena *arena, struct verify_report *report, struct err *e)
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

static int verify(struct usage_records *v, struct arena *arena, struct verify_report *report, struct err *e)
{
    int64_t tasks, pruned;
    if (verify_rows(v->db, v->path, e) != 0) return -1;
    struct buf query = {0};
    buf_format(&query, "%s WHERE start_us IS NOT NULL", usage_records_tasks);
    int result = usage_records_for_each(v, query.text, usage_records_charge, e);
    buf_release(&query);
    if (result != 0) return -1;
    if (sql_number(v->db, "SELECT count(*) FROM task WHERE start_us IS NOT NULL", &tasks, e) != 0) return -1;
    if (sql_number(v->db, "SELECT pruned_tasks FROM counters", &pruned, e) != 0) return -1;
    report->task_count = (uint64_t)tasks;
    report->pruned_task_count = (uint64_t)pruned;
    return compare_all(v, arena, report, e);
}

int store_verify(const char *directory, struct arena *arena, struct verify_report *out_report, struct err *e)
{
    struct usage_records v = {0};
    struct verify_report report = {0};
    struct buf path = {0};
    buf_format(&path, "%s/fairlead.db", directory);
    sqlite3 *db = job_reader_connect(path.text, e);
    int result = db != NULL ? sql_run(db, "BEGIN", e) : -1;
    if (result == 0) result = usage_records_begin(&v, db, path.text, false, 0, e);
    if (result == 0) result = verify(&v, arena, &report, e);
    usage_records_release(&v);
    sqlite3_close(db);
    buf_release(&path);
    if (result == 0)
        *out_report = report;
    else
        array_release(&report.differences);
    return result;
}
