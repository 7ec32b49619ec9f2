/* The state, rebuilt from the rows that have not ended. Found through the partial indices, so it costs what lives:
 * a million ended jobs make no difference.
 *
 *     setting, counters           first, and the policy is made of them: lists by TRES are read with its table
 *     partition, qos, ...         all (objects.c): jobs name them
 *     owner_usage                 all
 *     association                 those that stand (a job that lives belongs to one that stands)
 *     job                         ended_us IS NULL
 *     min_priority              all: those of a job go with its end
 *     task                        end_us IS NULL; the ended tasks of an array that still runs stay where they are
 *
 * All of it is read from one snapshot. What cannot be a row of ours (a number out of range, a state that is no word of
 * ours) is an error that names the row; what rows say together is checked by state_restore_done. */
#include <math.h>
#include <string.h>

#include "base/ensure.h"
#include "store/internal.h"
#include "store/list_columns.h"

static int load_assoc(struct store *s, sqlite3_stmt *row, struct state *state, struct err *e)
{
    bool bad = false;
    struct assoc a = {
        .id = (uint32_t)sql_column_ranged(row, 0, 1, NONE - 1, &bad),
        .parent = NONE,
        .account = sql_column_text(row, 2),
        .user = sql_column_is_null(row, 3) ? NULL : sql_column_text(row, 3),
        .shares = (uint32_t)sql_column_ranged(row, 4, 0, SHARES_PARENT, &bad),
        .is_default = sqlite3_column_int(row, 5) != 0,
        .usage = sql_column_amount(row, 6, &bad),
        .priority = sql_column_is_null(row, 9) ? NONE : (uint32_t)sql_column_ranged(row, 9, 0, NONE - 1, &bad),
        .reset_us = sqlite3_column_int64(row, 10),
        .created_us = sqlite3_column_int64(row, 7),
    };
    uint32_t parent_id = (uint32_t)sql_column_ranged(row, 1, 0, NONE - 1, &bad);
    struct str tres = str(sql_column_text(row, 8));
    if (bad) return sql_bad_row(s->path, "association", sqlite3_column_int64(row, 0), "a number is out of range", e);
    if (tres.length > 0 && list_column_usage_parse(&state->policy.tres, tres, &a.usage_tres, e) != 0)
        return err_prefix(e, "%s: association %u: usage_tres", s->path, a.id);
    state_restore_assoc(state, &a, parent_id);
    return 0;
}

/* A column that holds a set; '' is the empty one. */
static int load_set(sqlite3_stmt *row, int column, struct idset *out_set, struct err *e)
{
    const char *text = sql_column_text(row, column);
    if (text[0] == '\0') return 0;
    return idset_parse(str(text), NONE - 1, sqlite3_column_name(row, column), out_set, e);
}

static int load_job_sets(sqlite3_stmt *row, struct job *j, struct err *e)
{
    if (j->is_array) {
        if (load_set(row, 15, &j->array, e) != 0) return -1;
    } else {
        idset_add(&j->array, 0);
    }
    if (load_set(row, 17, &j->pending, e) != 0) return -1;
    return load_set(row, 18, &j->cancelled, e);
}

/* The const of column texts is cast away for the copy that state_restore_job makes. */
static char *borrowed(sqlite3_stmt *row, int column)
{
    union {
        const char *from;
        char *to;
    } text = {.from = (const char *)sqlite3_column_text(row, column)};
    return text.to;
}

/* What the policies use of a job: columns 19 to 32. */
static int load_terms(sqlite3_stmt *row, struct state *state, struct job *j, struct err *e)
{
    bool bad = false;
    j->begin_us = sqlite3_column_int64(row, 19);
    j->accrue_us = sqlite3_column_int64(row, 20);
    j->deadline_us = sqlite3_column_int64(row, 21);
    j->nice = (int32_t)sql_column_ranged(row, 25, INT32_MIN, INT32_MAX, &bad);
    j->site = (int32_t)sql_column_ranged(row, 26, INT32_MIN, INT32_MAX, &bad);
    j->set_priority = sql_column_is_null(row, 27) ? NONE : (uint32_t)sql_column_ranged(row, 27, 0, NONE - 1, &bad);
    j->posix_priority = (int32_t)sql_column_ranged(row, 28, INT32_MIN, INT32_MAX, &bad);
    j->job_share = (uint32_t)sql_column_ranged(row, 29, 0, UINT32_MAX, &bad);
    j->override_tickets = (uint32_t)sql_column_ranged(row, 30, 0, UINT32_MAX, &bad);
    j->slots_max = (uint32_t)sql_column_ranged(row, 31, 0, UINT32_MAX, &bad);
    if (bad) return err_set(e, ERR_INTERNAL, "a number is out of range");

    struct arena *arena = &state->cycle;
    struct str qos = str(sql_column_text(row, 23)), project = str(sql_column_text(row, 24));
    if (list_column_partitions_parse(state, str(sql_column_text(row, 22)), arena, j, e) != 0) return -1;
    if (list_column_object_id(state, OBJECT_QOS, qos, arena, &j->qos, e) != 0) return -1;
    j->project = NONE;
    if (!sql_column_is_null(row, 24) &&
        list_column_object_id(state, OBJECT_PROJECT, project, arena, &j->project, e) != 0)
        return -1;
    return list_column_requests_parse(state, str(sql_column_text(row, 32)), arena, j, e);
}

static void release_lists(struct job *j)
{
    idset_release(&j->array);
    idset_release(&j->pending);
    idset_release(&j->cancelled);
    mem_free(j->partitions);
    mem_free(j->requests);
}

static int load_job(struct store *s, sqlite3_stmt *row, struct state *state, struct err *e)
{
    bool bad = false;
    int64_t id = sqlite3_column_int64(row, 0);
    struct job j = {
        .id = (uint32_t)sql_column_ranged(row, 0, 1, NONE - 1, &bad),
        .uid = (uint32_t)sql_column_ranged(row, 2, 0, UINT32_MAX, &bad),
        .gid = (uint32_t)sql_column_ranged(row, 3, 0, UINT32_MAX, &bad),
        .name = borrowed(row, 4),
        .command = borrowed(row, 5),
        .directory = borrowed(row, 6),
        .out_pattern = borrowed(row, 7),
        .err_pattern = borrowed(row, 8),
        .request = {.cpus = (uint32_t)sql_column_ranged(row, 9, 0, UINT32_MAX, &bad),
                    .gpus = (uint32_t)sql_column_ranged(row, 10, 0, UINT32_MAX, &bad),
                    .mem_mib = (uint64_t)sql_column_ranged(row, 11, 0, INT64_MAX, &bad)},
        .time_limit_s = sqlite3_column_int64(row, 12),
        .submit_us = sqlite3_column_int64(row, 13),
        .held = sqlite3_column_int(row, 14) != 0,
        .is_array = !sql_column_is_null(row, 15),
        .array_limit = (uint32_t)sql_column_ranged(row, 16, 0, UINT32_MAX, &bad),
    };
    uint32_t assoc_id = (uint32_t)sql_column_ranged(row, 1, 1, NONE - 1, &bad);
    if (bad) return sql_bad_row(s->path, "job", id, "a number is out of range", e);
    int result = load_job_sets(row, &j, e);
    if (result != 0)
        sql_bad_row(s->path, "job", id, "a set of tasks cannot be read", e);
    else if ((result = load_terms(row, state, &j, e)) != 0)
        err_prefix(e, "%s: job %u", s->path, j.id);
    if (result == 0)
        state_restore_job(state, &j, assoc_id);
    else
        release_lists(&j);
    return result;
}

static void copy_text(char *to, size_t size, const char *from)
{
    text_format(to, size, "%s", from);
}

static int load_placement(sqlite3_stmt *row, struct placement *out_placement, struct err *e)
{
    return load_set(row, 11, &out_placement->cpus, e) != 0 ? -1 : load_set(row, 12, &out_placement->gpus, e);
}

static int load_task(struct store *s, sqlite3_stmt *row, struct state *state, struct err *e)
{
    bool bad = false;
    int64_t job_id = sqlite3_column_int64(row, 0);
    struct task k = {
        .job_id = (uint32_t)sql_column_ranged(row, 0, 1, NONE - 1, &bad),
        .task_id = (uint32_t)sql_column_ranged(row, 1, 0, NONE - 1, &bad),
        .state = job_state_from_name(sql_column_text(row, 2)),
        .cancelled = sqlite3_column_int(row, 3) != 0,
        .launch_id = (uint64_t)sql_column_ranged(row, 4, 1, INT64_MAX, &bad),
        .launch_us = sqlite3_column_int64(row, 6),
        .start_us = sqlite3_column_int64(row, 7),
        .charged_us = sqlite3_column_int64(row, 8),
        .billing = sqlite3_column_double(row, 10),
        .usage_factor = sql_column_amount(row, 20, &bad),
        .placement = {.mem_mib = (uint64_t)sql_column_ranged(row, 13, 0, INT64_MAX, &bad)},
        .exit_status = sqlite3_column_int(row, 14),
        .signal = sqlite3_column_int(row, 15),
        .cpu_us = sqlite3_column_int64(row, 16),
        .max_rss_kib = sqlite3_column_int64(row, 17),
    };
    copy_text(k.boot_id, sizeof k.boot_id, sql_column_text(row, 5));
    copy_text(k.detail, sizeof k.detail, sql_column_text(row, 18));
    if (k.state == JOB_PENDING || job_state_is_end(k.state))
        return sql_bad_row(s->path, "task of job", job_id, "its state is not one of a task that lives", e);
    if (bad || !isfinite(k.billing)) return sql_bad_row(s->path, "task of job", job_id, "a number is out of range", e);
    struct str partition = str(sql_column_text(row, 19)), tres = str(sql_column_text(row, 21));
    int result = load_placement(row, &k.placement, e);
    if (result != 0)
        sql_bad_row(s->path, "task of job", job_id, "its CPUs or GPUs cannot be read", e);
    else if (list_column_object_id(state, OBJECT_PARTITION, partition, &state->cycle, &k.partition, e) != 0 ||
             list_column_amounts_parse(&state->policy.tres, tres, &k.tres, e) != 0)
        result = err_prefix(e, "%s: task of job %lld", s->path, (long long)job_id);
    if (result == 0)
        state_restore_task(state, &k);
    else
        placement_release(&k.placement);
    return result;
}

/* A setting this version does not know was written by one that did; it has no meaning here. */
static int load_setting(struct store *s, sqlite3_stmt *row, struct state *state, struct err *e)
{
    enum setting which;
    const struct field *field;
    if (setting_find(str(sql_column_text(row, 0)), &which, &field, NULL) != 0) return 0;
    if (field_parse(field, str(sql_column_text(row, 1)), &state->arena, &state->settings.value[which], e) != 0)
        return err_prefix(e, "%s: table setting", s->path);
    return 0;
}

static int load_counters(struct store *s, sqlite3_stmt *row, struct state *state, struct err *e)
{
    bool bad = false;
    state->next_assoc_id = (uint32_t)sql_column_ranged(row, 0, 1, NONE, &bad);
    state->next_job_id = (uint32_t)sql_column_ranged(row, 1, 1, NONE, &bad);
    state->next_launch_id = (uint64_t)sql_column_ranged(row, 2, 1, INT64_MAX, &bad);
    state->decay.halflife_us = sql_column_ranged(row, 3, 0, INT64_MAX, &bad);
    state->decay.reference_us = sqlite3_column_int64(row, 4);
    s->last_commit_us = sqlite3_column_int64(row, 5);
    state->usage_reset_us = sqlite3_column_int64(row, 6);
    state->reset_period_us = sqlite3_column_int64(row, 7);
    return bad ? sql_bad_row(s->path, "counters", 1, "a number is out of range", e) : 0;
}

struct table_source {
    const char *query;
    int (*load_row)(struct store *s, sqlite3_stmt *row, struct state *state, struct err *e);
};

static const struct table_source rules[] = {
    {"SELECT name, value FROM setting", load_setting},
    {"SELECT next_association_id, next_job_id, next_launch_id, halflife_us, reference_us, last_commit_us,"
     " usage_reset_us, reset_period_us FROM counters",
     load_counters},
};

static const struct table_source rows[] = {
    {"SELECT user, project, cpu_s, mem_gib_s, io_gib, finished_jobs, at_us, reset_us FROM owner_usage ORDER BY user, project",
     owner_load},
    {"SELECT id, parent_id, account, user, shares, is_default, usage_billing_s, created_us, usage_tres, priority,"
     " reset_us"
     " FROM association WHERE deleted_us IS NULL ORDER BY id",
     load_assoc},
    {"SELECT id, association_id, uid, gid, name, command, directory, out_pattern, err_pattern, cpus, gpus, mem_mib, time_limit_s,"
     " submit_us, is_held, array_tasks, array_limit, pending_tasks, cancelled_tasks, begin_us, accrue_us, deadline_us,"
     " partitions, qos, project, nice, site, set_priority, posix_priority, job_share, override_tickets, slots_max, requests"
     " FROM job WHERE ended_us IS NULL ORDER BY id",
     load_job},
    {"SELECT job_id, partition, priority FROM min_priority", floor_load},
    {"SELECT job_id, task_id, state, is_cancelled, launch_id, boot_id, launch_us, start_us, charged_us, end_us, billing, cpus,"
     " gpus, mem_mib, exit_status, signal, cpu_us, max_rss_kib, detail, partition, usage_factor, tres"
     " FROM task WHERE end_us IS NULL ORDER BY launch_id",
     load_task},
};

static int load_sources(struct store *s, const struct table_source *sources, size_t count, struct state *state,
                        struct err *e)
{
    for (size_t i = 0; i < count; i++) {
        sqlite3_stmt *query = sql_prepare(s->db, sources[i].query, e);
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
    if (load_sources(s, rules, sizeof rules / sizeof rules[0], state, e) != 0) return -1;
    if (state_restore_policy(state, e) != 0) return err_prefix(e, "%s: table setting", s->path);
    if (objects_load(s, state, e) != 0) return -1;
    if (load_sources(s, rows, sizeof rows / sizeof rows[0], state, e) != 0) return -1;
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
