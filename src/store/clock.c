/* The time of the instance in the database: what is known of the machine's clocks, and the shift of all times.
 *
 * When the clock of the machine is set, everything that has happened keeps its distance from now: the same number of
 * seconds is added to every time in the database. So usage, ages, run times and the time that is left until a begin
 * stay as they are, `fairlead verify` computes the same, and all times agree with the clock that people look at. The
 * number is whole, because some texts have times in seconds, and so a shift can be taken back exactly.
 *
 *     columns     times of their own: shift_tables
 *     texts       job.delayed_tasks "1764000060:3-7;1764000120:5", dependency.condition "after:5+10@1764000000"
 *     by kind     usage_journal.before and .after
 *
 * tests/unit/test_store_clock.c reads the schema and finds a column that is in none of these. */
#include <string.h>

#include "base/ensure.h"
#include "base/quantity.h"
#include "store/internal.h"

const char *const clock_event_names[CLOCK_EVENT_KIND_COUNT] = {
    [CLOCK_SET_RUNNING] = "SET_RUNNING",   [CLOCK_SET_STOPPED] = "SET_STOPPED", [CLOCK_GAP] = "GAP",
    [CLOCK_GAP_RESOLVED] = "GAP_RESOLVED", [CLOCK_GAP_COUNTED] = "GAP_COUNTED", [CLOCK_GAP_DISCARDED] = "GAP_DISCARDED",
};

/* The columns that are times, by table. Object tables have created_us, too (write_object_shift). */
static const struct shift_table {
    const char *table;
    const char *columns[9];
} shift_tables[] = {
    {"association", {"created_us", "deleted_us", "reset_us"}},
    {"job", {"submit_us", "begin_us", "accrue_us", "deadline_us", "cancelled_us", "ended_us"}},
    {"task",
     {"launch_us", "start_us", "charged_us", "end_us", "measured_us", "measured_from_us", "charged_as_of_us",
      "limits_from_us", "suspended_from_us"}},
    {"suspension", {"from_us", "until_us"}},
    {"qos", {"reset_us"}},
    {"owner_usage", {"at_us", "reset_us"}},
    {"counters",
     {"reference_us", "last_commit_us", "usage_reset_us", "reset_period_us", "gap_from_us", "quarantined_us",
      "recovered_us"}},
    {"usage_journal", {"at_us"}},
    {"clock_event", {"at_us"}},
    {"audit", {"at_us"}},
    {"pruned_usage", {"at_us"}},
    {"moved_in", {"first_us", "pruned_us"}},
};

/* ?1: microseconds. */
#define SHIFTED(column) "iif(" column " > 0, max(1, min(" column " + ?1, 253402300799000000)), " column ")"

/* Times in texts. ?1: microseconds. */
#define CONDITION_SHIFTED                                                                \
    "substr(condition, 1, instr(condition, '@')) ||"                                     \
    " (CAST(substr(condition, instr(condition, '@') + 1) AS INTEGER) + ?1 / 1000000) ||" \
    " ltrim(substr(condition, instr(condition, '@') + 1), '0123456789')"
#define DELAYED_TASKS_SHIFTED                                                       \
    "(SELECT group_concat(iif(substr(value, 1, 1) = 'h', value,"                    \
    " (CAST(substr(value, 1, instr(value, ':') - 1) AS INTEGER) + ?1 / 1000000) ||" \
    " substr(value, instr(value, ':'))), ';')"                                      \
    " FROM json_each('[\"' || replace(delayed_tasks, ';', '\",\"') || '\"]'))"

/* The other times. ?1: microseconds. */
static const char *const shift_statements[] = {
    "UPDATE usage_journal SET before = " SHIFTED("before") " WHERE kind IN ('FOLD', 'RESET')",
    "UPDATE usage_journal SET after = " SHIFTED("after") " WHERE kind = 'RESET'",
    "UPDATE dependency SET condition = " CONDITION_SHIFTED " WHERE instr(condition, '@') > 0",
    "UPDATE job SET delayed_tasks = " DELAYED_TASKS_SHIFTED " WHERE delayed_tasks IS NOT NULL",
};

/* --- what is known ------------------------------------------------------------------------------------------------ */

int clock_load(struct store *s, struct err *e)
{
    sqlite3_stmt *row =
        sql_prepare(s->db, "SELECT last_commit_us, boot_id, boot_us, gap_from_us, gap_s FROM counters", e);
    if (row == NULL) return -1;
    int result = sql_step(row, e);
    if (result == 1) {
        bool bad = false;
        s->clock = (struct store_clock){.last_commit_us = sql_column_time(row, 0, &bad),
                                        .boot_us = sql_column_time(row, 2, &bad),
                                        .has_gap = !sql_column_is_null(row, 3),
                                        .gap_from_us = sql_column_time(row, 3, &bad),
                                        .gap_s = sqlite3_column_int64(row, 4)};
        text_format(s->clock.boot_id, sizeof s->clock.boot_id, "%s", sql_column_text(row, 1));
        result = bad ? sql_bad_row(s->path, "counters", 1, "a number is out of range", e) : 0;
    } else if (result == 0) {
        result = sql_bad_row(s->path, "counters", 1, "the row is missing", e);
    }
    sqlite3_finalize(row);
    return result;
}

int64_t store_last_commit_us(const struct store *s)
{
    return s->clock.last_commit_us;
}

const struct store_clock *store_clock(const struct store *s)
{
    return &s->clock;
}

void store_set_boot(struct store *s, const char *boot_id, int64_t boot_us)
{
    text_format(s->boot.boot_id, sizeof s->boot.boot_id, "%s", boot_id);
    s->boot.us = boot_us;
}

/* --- the shift ---------------------------------------------------------------------------------------------------- */

/* Runs a statement with ?1. */
static int run_shift(struct store *s, const char *text, int64_t shift_us, struct err *e)
{
    sqlite3_stmt *statement = sql_prepare(s->db, text, e);
    if (statement == NULL) return -1;
    if (strstr(text, "?1") != NULL) sql_bind_int(statement, 1, shift_us);
    int result = sql_step(statement, e);
    sqlite3_finalize(statement);
    return result;
}

static int shift_columns(struct store *s, const char *table, const char *const *columns, uint32_t count,
                         int64_t shift_us, struct err *e)
{
    struct buf text = {0};
    buf_format(&text, "UPDATE %s SET", table);
    for (uint32_t i = 0; i < count && columns[i] != NULL; i++)
        buf_format(&text, "%s %s = " SHIFTED("%s"), i > 0 ? "," : "", columns[i], columns[i], columns[i], columns[i]);
    int result = run_shift(s, text.text, shift_us, e);
    buf_release(&text);
    return result;
}

static int shift_all(struct store *s, int64_t shift_us, struct err *e)
{
    static const char *const created[] = {"created_us"};
    for (size_t i = 0; i < sizeof shift_tables / sizeof *shift_tables; i++) {
        const struct shift_table *t = &shift_tables[i];
        if (shift_columns(s, t->table, t->columns, sizeof t->columns / sizeof *t->columns, shift_us, e) != 0) return -1;
    }
    for (int kind = 0; kind < OBJECT_KIND_COUNT; kind++) {
        if (shift_columns(s, object_table((enum object_kind)kind), created, 1, shift_us, e) != 0) return -1;
    }
    for (size_t i = 0; i < sizeof shift_statements / sizeof *shift_statements; i++) {
        if (run_shift(s, shift_statements[i], shift_us, e) != 0) return -1;
    }
    return 0;
}

/* Boundaries of reset periods count from now on; those in a gap that is counted after all, from its beginning on. */
static int put_gap(struct store *s, const struct clock_change *c, struct err *e)
{
    static const char text[] =
        "UPDATE counters SET"
        " reset_period_us = iif(reset_period_us IS NULL OR ?4, reset_period_us, iif(?3, ifnull(gap_from_us, ?5), ?5)),"
        " gap_from_us = iif(?1, ifnull(gap_from_us, last_commit_us), NULL), gap_s = iif(?1, ?2, NULL)";
    enum clock_event_kind kind = c->event.kind;
    sqlite3_stmt *put = sql_prepare(s->db, text, e);
    if (put == NULL) return -1;
    sql_bind_int(put, 1, c->has_gap);
    sql_bind_int(put, 2, c->gap_s);
    sql_bind_int(put, 3, kind == CLOCK_GAP_RESOLVED || kind == CLOCK_GAP_COUNTED);
    sql_bind_int(put, 4, kind == CLOCK_GAP_DISCARDED);
    sql_bind_int(put, 5, c->event.at_us);
    int result = sql_step(put, e);
    sqlite3_finalize(put);
    return result;
}

#define HAS_ENDED_ATTEMPT "EXISTS (SELECT * FROM task WHERE job_id = id AND end_us IS NOT NULL)"

/* A gap that is counted lies before what has happened since. Usage that was charged stays where it is, and so does
 * charged_as_of_us, which must not be later than the owners' usage. Ended attempts stay, and a job of which one has
 * ended was submitted before it; but what it waits for keeps its distance from now. A job that was submitted before the
 * gap and requeued since waits from then on.
 * tests/unit/test_store_clock.c has all columns. */
static int move_behind_gap(struct store *s, int64_t passed_us, struct err *e)
{
    static const char *const texts[] = {
        "UPDATE task SET launch_us = launch_us + ?1, start_us = start_us + ?1, charged_us = charged_us + ?1,"
        " measured_us = measured_us + ?1, measured_from_us = measured_from_us + ?1,"
        " suspended_from_us = suspended_from_us + ?1"
        " WHERE end_us IS NULL AND boot_id = ?2",
        "UPDATE suspension SET from_us = from_us + ?1, until_us = until_us + ?1 WHERE launch_id IN"
        " (SELECT launch_id FROM task WHERE end_us IS NULL AND boot_id = ?2)",
        "UPDATE job SET accrue_us = accrue_us + ?1,"
        " submit_us = submit_us + iif(" HAS_ENDED_ATTEMPT ", 0, ?1),"
        " begin_us = min(begin_us + ?1, 253402300799000000), deadline_us = min(deadline_us + ?1, 253402300799000000)"
        " WHERE ended_us IS NULL AND submit_us > (SELECT gap_from_us FROM counters) AND ?2 IS NOT NULL",
        "UPDATE job SET delayed_tasks = " DELAYED_TASKS_SHIFTED " WHERE ended_us IS NULL AND delayed_tasks IS NOT NULL"
        " AND (submit_us > (SELECT gap_from_us FROM counters)"
        " OR EXISTS (SELECT * FROM task WHERE job_id = id AND end_us IS NOT NULL AND boot_id = ?2))",
        "UPDATE dependency SET condition = " CONDITION_SHIFTED " WHERE instr(condition, '@') > 0 AND ?2 IS NOT NULL"
        " AND CAST(substr(condition, instr(condition, '@') + 1) AS INTEGER) * 1000000 >"
        " (SELECT gap_from_us FROM counters)",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        sqlite3_stmt *move = sql_prepare(s->db, texts[i], e);
        if (move == NULL) return -1;
        sql_bind_int(move, 1, passed_us);
        sql_bind_text(move, 2, s->boot.boot_id);
        int result = sql_step(move, e);
        sqlite3_finalize(move);
        if (result != 0) return -1;
    }
    return 0;
}

int store_has_charged_task(struct store *s, bool *out, struct err *e)
{
    static const char text[] =
        "SELECT count(*) FROM task WHERE end_us IS NULL AND boot_id = ?1 AND charged_us > start_us";
    sqlite3_stmt *query = sql_prepare(s->db, text, e);
    if (query == NULL) return -1;
    sql_bind_text(query, 1, s->boot.boot_id);
    int result = sql_step(query, e);
    if (result == 1) *out = sqlite3_column_int64(query, 0) > 0;
    sqlite3_finalize(query);
    return result < 0 ? -1 : 0;
}

static int put_event(struct store *s, const struct clock_event *event, struct err *e)
{
    sqlite3_stmt *put =
        sql_prepare(s->db, "INSERT INTO clock_event(at_us, kind, by_s, shift_s) VALUES(?1, ?2, ?3, ?4)", e);
    if (put == NULL) return -1;
    ensure(event->kind < CLOCK_EVENT_KIND_COUNT);
    sql_bind_int(put, 1, event->at_us);
    sql_bind_text(put, 2, clock_event_names[event->kind]);
    sql_bind_int(put, 3, event->by_s);
    sql_bind_int(put, 4, event->shift_s);
    int result = sql_step(put, e);
    sqlite3_finalize(put);
    return result;
}

int store_change_clock(struct store *s, const struct clock_change *c, struct err *e)
{
    if (commit_begin(s, e) != 0) return -1;
    int result = c->event.shift_s != 0 ? shift_all(s, c->event.shift_s * US_PER_S, e) : 0;
    if (result == 0 && c->passed_us > 0) result = move_behind_gap(s, c->passed_us, e);
    if (result == 0) result = put_gap(s, c, e);
    if (result == 0) result = put_event(s, &c->event, e);
    if (result == 0 && c->audit != NULL) result = audit_write(s, c->audit, e);
    if (result == 0) result = run_shift(s, "UPDATE counters SET commit_number = ?1", (int64_t)s->commit_number + 1, e);
    struct store_clock old = s->clock;
    if (result == 0) result = clock_load(s, e);
    if (commit_end(s, result, e) != 0) {
        s->clock = old;
        return -1;
    }
    s->commit_number++;
    return 0;
}

/* --- events ------------------------------------------------------------------------------------------------------- */

static bool find_kind(const char *name, enum clock_event_kind *out)
{
    for (int kind = 0; kind < CLOCK_EVENT_KIND_COUNT; kind++) {
        if (strcmp(clock_event_names[kind], name) != 0) continue;
        *out = (enum clock_event_kind)kind;
        return true;
    }
    return false;
}

int store_clock_events(struct store *s, struct clock_event *out, uint32_t max, uint32_t *out_count, struct err *e)
{
    sqlite3_stmt *rows = sql_prepare(s->db,
                                     "SELECT at_us, kind, by_s, shift_s FROM"
                                     " (SELECT * FROM clock_event ORDER BY seq DESC LIMIT ?1) ORDER BY seq",
                                     e);
    if (rows == NULL) return -1;
    sql_bind_int(rows, 1, max);
    uint32_t count = 0;
    int result;
    while ((result = sql_step(rows, e)) == 1) {
        struct clock_event *event = &out[count];
        *event = (struct clock_event){.at_us = sqlite3_column_int64(rows, 0),
                                      .by_s = sqlite3_column_int64(rows, 2),
                                      .shift_s = sqlite3_column_int64(rows, 3)};
        count += find_kind(sql_column_text(rows, 1), &event->kind);
    }
    sqlite3_finalize(rows);
    *out_count = count;
    return result;
}
