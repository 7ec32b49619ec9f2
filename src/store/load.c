/* Rebuilds the state from the rows that have not ended. Partial indexes find them, so the cost does not depend on how
 * many jobs have ended.
 *
 *     setting, counters           first: the policy is computed from them, and amounts by TRES need its TRES table
 *     partition, qos, ...         all rows (objects.c), because jobs name them
 *     usage_conversion            all rows, before those that lack them
 *     owner_usage                 all rows
 *     association                 those not deleted; every live job belongs to one of them
 *     job                         ended_us IS NULL
 *     min_priority                all rows: the end of a job removes its own
 *     dependency                  those of live jobs
 *     task                        end_us IS NULL; of a live array also the numbers of the tasks that failed
 *
 * One snapshot gives all of it. A row that Fairlead cannot have written (a number out of range, an unknown state) is an
 * error that names the row; state_restore_done checks the rows against each other. */
#include "store/internal.h"
#include "store/job_rows.h"

/* An unknown setting comes from another version of Fairlead and is skipped. */
static int load_setting(struct store *s, sqlite3_stmt *row, struct state *state, struct err *e)
{
    enum setting which;
    const struct field *field;
    if (setting_find(str(sql_column_text(row, 0)), &which, &field, NULL) != 0) return 0;
    if (field_parse(field, str(sql_column_text(row, 1)), &state->arena, &state->settings.value[which], e) != 0)
        return err_prefix(e, "%s: table setting", s->path);
    return 0;
}

/* A text of a column of counters, cut to size; NULL: empty. */
static void load_text(sqlite3_stmt *row, int column, char *out, size_t size)
{
    text_format(out, size, "%s", sql_column_text(row, column));
}

static int load_counters(struct store *s, sqlite3_stmt *row, struct state *state, struct err *e)
{
    bool bad = false;
    state->next_assoc_id = (uint32_t)sql_column_ranged(row, 0, 1, NONE, &bad);
    state->next_job_id = (uint32_t)sql_column_ranged(row, 1, 1, NONE, &bad);
    state->next_launch_id = (uint64_t)sql_column_ranged(row, 2, 1, INT64_MAX, &bad);
    state->decay.halflife_us = sql_column_time(row, 3, &bad);
    s->clock.last_commit_us = sql_column_time(row, 5, &bad);
    state->decay.reference_us =
        sql_column_ranged(row, 4, 0, s->clock.last_commit_us, &bad); /* or usage would grow, not decay */
    state->usage_reset_us = sql_column_time(row, 6, &bad);
    state->reset_period_us = sql_column_time(row, 7, &bad);
    state->quarantined_us = sql_column_time(row, 8, &bad);
    load_text(row, 9, state->quarantine, sizeof state->quarantine);
    load_text(row, 10, s->instance_id, sizeof s->instance_id);
    s->commit_number = (uint64_t)sql_column_ranged(row, 11, 0, INT64_MAX - 1, &bad);
    state->conversions.number = sql_column_ranged(row, 12, 0, INT64_MAX - 1, &bad);
    buf_clear(&s->recovery);
    buf_add_text(&s->recovery, sql_column_text(row, 13));
    s->recovered_us = sql_column_time(row, 14, &bad);
    return bad ? sql_bad_row(s->path, "counters", 1, "a number is out of range", e) : 0;
}

static int load_conversion(struct store *s, sqlite3_stmt *row, struct state *state, struct err *e)
{
    bool bad = false;
    const struct usage_conversion c = store_usage_conversion_read(row, &bad);
    if (bad) return sql_bad_row(s->path, "usage_conversion", c.number, "a number is out of range", e);
    *array_add(&state->conversions.list) = c;
    return 0;
}

static int load_job(struct store *s, sqlite3_stmt *row, struct state *state, struct err *e)
{
    return job_row_load(&s->job_columns, row, state, e) == 0 ? 0 : err_prefix(e, "%s", s->path);
}

static int load_task(struct store *s, sqlite3_stmt *row, struct state *state, struct err *e)
{
    return job_row_load_task(&s->task_columns, row, state, e) == 0 ? 0 : err_prefix(e, "%s", s->path);
}

static int load_failed_task(struct store *s, sqlite3_stmt *row, struct state *state, struct err *e)
{
    bool bad = false;
    uint32_t job_id = (uint32_t)sql_column_ranged(row, 0, 1, NONE - 1, &bad);
    uint32_t task_id = (uint32_t)sql_column_ranged(row, 1, 0, NONE - 1, &bad);
    if (bad) return sql_bad_row(s->path, "task of job", sqlite3_column_int64(row, 0), "a number is out of range", e);
    state_restore_failed_task(state, job_id, task_id);
    return 0;
}

/* query NULL: write_query writes it. */
struct table_source {
    const char *query;
    void (*write_query)(struct buf *out);
    int (*load_row)(struct store *s, sqlite3_stmt *row, struct state *state, struct err *e);
};

static const struct table_source rule_tables[] = {
    {.query = "SELECT name, value FROM setting", .load_row = load_setting},
    {.query =
         "SELECT next_association_id, next_job_id, next_launch_id, halflife_us, reference_us, last_commit_us,"
         " usage_reset_us, reset_period_us, quarantined_us, quarantine, instance_id, commit_number, usage_conversion,"
         " recovery, recovered_us"
         " FROM counters",
     .load_row = load_counters},
    {.query = store_usage_conversion_query, .load_row = load_conversion},
};

static const struct table_source row_tables[] = {
    {.query = "SELECT user, project, cpu_s, mem_gib_s, io_gib, finished_jobs, at_us, reset_us,"
              " usage_conversion FROM owner_usage"
              " ORDER BY user, project",
     .load_row = store_usage_owner_load},
    {.write_query = association_write_select, .load_row = association_load},
    {.write_query = job_rows_select_jobs, .load_row = load_job},
    {.query = "SELECT job_id, partition, priority FROM min_priority", .load_row = min_priority_load},
    {.query = "SELECT job_id, position, condition, dependency_join FROM job INDEXED BY job_live CROSS JOIN dependency"
              " ON job_id = job.id WHERE job.ended_us IS NULL ORDER BY job.id, position",
     .load_row = condition_load},
    {.write_query = job_rows_select_tasks, .load_row = load_task},
    {.query = "SELECT task.job_id, task.task_id FROM job INDEXED BY job_live CROSS JOIN task ON task.job_id = job.id"
              " WHERE job.ended_us IS NULL AND job.array_tasks IS NOT NULL AND task.end_us IS NOT NULL"
              " AND task.state NOT IN ('COMPLETED', 'REQUEUED') ORDER BY job.id, task.task_id",
     .load_row = load_failed_task},
};

static sqlite3_stmt *prepare_source(struct store *s, const struct table_source *source, struct err *e)
{
    struct buf text = {0};
    if (source->query != NULL) return sql_prepare(s->db, source->query, e);
    source->write_query(&text);
    sqlite3_stmt *query = sql_prepare(s->db, text.text, e);
    buf_release(&text);
    return query;
}

static int load_sources(struct store *s, const struct table_source *sources, size_t count, struct state *state,
                        struct err *e)
{
    for (size_t i = 0; i < count; i++) {
        sqlite3_stmt *query = prepare_source(s, &sources[i], e);
        if (query == NULL) return -1;
        int result;
        while ((result = sql_step(query, e)) == 1 && sources[i].load_row(s, query, state, e) == 0)
            arena_clear(&state->cycle);
        sqlite3_finalize(query);
        if (result != 0) return -1;
    }
    return 0;
}

static int load_tables(struct store *s, struct state *state, struct err *e)
{
    if (load_sources(s, rule_tables, sizeof rule_tables / sizeof rule_tables[0], state, e) != 0) return -1;
    if (state_restore_policy(state, e) != 0) return err_prefix(e, "%s: table setting", s->path);
    if (objects_load(s, state, e) != 0) return -1;
    if (load_sources(s, row_tables, sizeof row_tables / sizeof row_tables[0], state, e) != 0) return -1;
    return sql_number(s->db, "PRAGMA data_version", &s->data_version, e);
}

int store_load(struct store *s, struct state *out_state, struct err *e)
{
    if (sql_run(s->db, "BEGIN", e) != 0) return -1;
    state_restore_begin(out_state);
    int result = load_tables(s, out_state, e);
    sqlite3_exec(s->db, "COMMIT", NULL, NULL, NULL);
    if (result != 0) return -1;
    return state_restore_done(out_state, e) == 0 ? 0 : err_prefix(e, "%s", s->path);
}
