/* Listings of jobs, each from a snapshot: a cursor has its own connection, in a read transaction that began when the
 * cursor was opened. The loop goes on committing meanwhile; SQLite's write-ahead log keeps what the snapshot needs.
 *
 *     tasks      12   40   40   41      \
 *     pending         40           43    >  merged by (end, job, part, task): 12 40 40 40 41 43 45
 *     cancelled                    45   /
 *
 * Several statements each return their rows in order without sorting (job_reader_sql.c), and are merged here. For a
 * user or account with few associations, tasks and pending jobs are read association by association, so that a user
 * with ten jobs does not wait for a walk through a million jobs of others.
 *
 * Invariants
 *   1. A source with has_row is at a row of its statement. A statement steps on only when the next row is asked for, so
 *      the text of the last row is valid until then.
 *   2. A connection returns to the store's idle connections only after its transaction has ended without an error.
 * Cost: about 1.5 us a row; 0.2 ms to open. A row that a filter excludes costs about half of that, and an account with
 * many users is a walk through all rows of the listing. So that other clients do not wait for it, a call skips at most
 * SKIPPED_MAX rows and then returns "not yet". */
#include <string.h>

#include "base/ensure.h"
#include "base/idset.h"
#include "engine/output_path.h"
#include "engine/restarts.h"
#include "engine/task_delays.h"
#include "fields/dependency_text.h"
#include "fields/job_id.h"
#include "store/field_columns.h"
#include "store/internal.h"
#include "store/job_reader_sql.h"
#include "store/schema.h"

enum { FEW_ASSOCS = 32, SOURCES_MAX = 2 * FEW_ASSOCS + 1, SKIPPED_MAX = 500 };

struct row_key {
    int64_t end_us; /* 0 unless the order is by time */
    uint32_t job_id;
    enum reader_part part;
    uint32_t task_id;
    uint32_t restarts; /* attempts of a task are in their order */
};

struct row_source {
    sqlite3_stmt *statement;
    enum reader_part part;
    uint32_t assoc_id; /* 0: all associations */
    bool has_row;
    struct row_key key;
};

struct cursor {
    struct store *store;
    sqlite3 *db;
    struct arena arena;
    struct job_query query; /* text and ids in memory of arena; ids in the order in which they are read */
    enum reader_access access;
    struct row_source sources[SOURCES_MAX];
    uint32_t source_count;
    uint32_t ids_begun; /* BY_JOB: number of ids that have been read or are being read */
    uint32_t row_count; /* rows that were returned */
    struct row_source *last;
    /* Tasks of an array that have not started are a row for each number of restarts and each hold of their own. The
     * next ones of the same job: from which number of restarts, and from which hold of that number on. */
    bool has_more_groups;
    uint32_t restarts_next;
    enum task_hold hold_next;
    enum task_hold hold; /* of the tasks of the last row that fill_tasks filled */
    bool has_failed;
    struct job_row empty;   /* all fields by field_nothing */
    struct arena row_arena; /* of the dependency of a row */
    struct buf pattern, id, tasks, dependency, out_path, err_path;
};

/* --- opening ------------------------------------------------------------------------------------------------------ */

sqlite3 *job_reader_connect(const char *path, struct err *e)
{
    sqlite3 *db = NULL;
    if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK) {
        sql_fail(db, "opening", e);
    } else if (schema_prepare_connection(db, e) == 0) {
        return db;
    }
    sqlite3_close(db);
    return NULL;
}

/* Sorts the ids, descending if newest_first, and removes duplicates. */
static void copy_ids(struct cursor *c, const struct job_query *query)
{
    uint32_t count = query->job_id_count, kept = 0;
    if (count == 0) return;
    struct sort_record *records = arena_alloc(&c->arena, 2 * (size_t)count * sizeof *records);
    uint32_t *ids = arena_alloc(&c->arena, count * sizeof *ids);
    for (uint32_t i = 0; i < count; i++)
        records[i].key = query->newest_first ? UINT32_MAX - query->job_ids[i] : query->job_ids[i];
    sort_records(records, count, records + count);
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0 && records[i].key == records[i - 1].key) continue;
        ids[kept++] = query->newest_first ? (uint32_t)(UINT32_MAX - records[i].key) : (uint32_t)records[i].key;
    }
    c->query.job_ids = ids;
    c->query.job_id_count = kept;
}

static void copy_query(struct cursor *c, const struct job_query *query)
{
    c->query = *query;
    if (query->account) c->query.account = arena_copy(&c->arena, str(query->account));
    if (query->user) c->query.user = arena_copy(&c->arena, str(query->user));
    copy_ids(c, query);
}

static void bind_named(sqlite3_stmt *statement, const char *name, int64_t value)
{
    int parameter = sqlite3_bind_parameter_index(statement, name);
    if (parameter > 0) sql_bind_int(statement, parameter, value);
}

static void bind_named_text(sqlite3_stmt *statement, const char *name, const char *value)
{
    int parameter = sqlite3_bind_parameter_index(statement, name);
    if (parameter > 0) sql_bind_text(statement, parameter, value);
}

/* Binds the names of a list to :account0, :account1, ... */
static void bind_names(sqlite3_stmt *statement, const char *parameter, const char *list)
{
    uint32_t count = 0;
    for (struct str rest = str(list); rest.text != NULL; count++) {
        char name[32];
        struct str value = str_cut(rest, ',', &rest);
        text_format(name, sizeof name, "%s%u", parameter, count);
        int index = sqlite3_bind_parameter_index(statement, name);
        if (index > 0) sqlite3_bind_text(statement, index, value.text, (int)value.length, SQLITE_TRANSIENT);
    }
}

static int add_source(struct cursor *c, enum reader_part part, uint32_t assoc_id, struct err *e)
{
    const struct job_query *q = &c->query;
    struct buf text = {0};
    ensure(c->source_count < SOURCES_MAX);
    job_reader_sql_compose(part, c->access, q, &text);
    sqlite3_stmt *statement = sql_prepare(c->db, text.text, e);
    buf_release(&text);
    if (statement == NULL) return -1;
    c->sources[c->source_count++] = (struct row_source){.statement = statement, .part = part, .assoc_id = assoc_id};
    bind_named(statement, ":association", assoc_id);
    bind_named(statement, ":task", q->task_id);
    bind_named(statement, ":since", q->since_us);
    bind_named(statement, ":until", q->until_us);
    bind_names(statement, ":account", q->account);
    bind_names(statement, ":user", q->user);
    if (q->state < JOB_STATE_COUNT) bind_named_text(statement, ":state", job_state_name(q->state));
    return 0;
}

/* Finds the associations, also deleted ones, with the query's accounts and users. *out_count is NONE if there are more
 * than FEW_ASSOCS, or if the query has neither. */
static int find_assocs(struct cursor *c, uint32_t ids[FEW_ASSOCS], uint32_t *out_count, struct err *e)
{
    const struct job_query *q = &c->query;
    *out_count = NONE;
    if ((q->account == NULL && q->user == NULL) || q->job_id_count > 0) return 0;
    struct buf text = {0};
    buf_add_text(&text, "SELECT id FROM association WHERE user IS NOT NULL");
    job_reader_sql_add_names(q, &text);
    buf_format(&text, " LIMIT %d", FEW_ASSOCS + 1);
    sqlite3_stmt *find = sql_prepare(c->db, text.text, e);
    buf_release(&text);
    if (find == NULL) return -1;
    bind_names(find, ":account", q->account);
    bind_names(find, ":user", q->user);
    uint32_t count = 0;
    int result;
    while ((result = sql_step(find, e)) == 1) {
        if (count < FEW_ASSOCS) ids[count] = (uint32_t)sqlite3_column_int64(find, 0);
        count++;
    }
    sqlite3_finalize(find);
    if (result == 0 && count <= FEW_ASSOCS) *out_count = count;
    return result;
}

static int add_sources(struct cursor *c, struct err *e)
{
    uint32_t assocs[FEW_ASSOCS], assoc_count;
    if (find_assocs(c, assocs, &assoc_count, e) != 0) return -1;
    bool is_single = assoc_count != NONE;
    c->access = job_reader_sql_choose_access(&c->query, is_single);
    for (uint32_t i = 0; i < (is_single ? assoc_count : 1); i++) {
        uint32_t assoc_id = is_single ? assocs[i] : 0;
        if (job_reader_sql_wants(PART_TASKS, &c->query) && add_source(c, PART_TASKS, assoc_id, e) != 0) return -1;
        if (job_reader_sql_wants(PART_PENDING, &c->query) && add_source(c, PART_PENDING, assoc_id, e) != 0) return -1;
    }
    return job_reader_sql_wants(PART_CANCELLED, &c->query) ? add_source(c, PART_CANCELLED, 0, e) : 0;
}

/* --- walking ------------------------------------------------------------------------------------------------------ */

static int advance(struct cursor *c, struct row_source *source, struct err *e)
{
    sqlite3_stmt *row = source->statement;
    int result = sql_step(row, e);
    source->has_row = result == 1;
    if (result <= 0) return result;
    bool by_id = c->access == BY_JOB || c->access == BY_ID || c->access == BY_ID_IN_ASSOC;
    source->key = (struct row_key){
        .end_us = by_id ? 0 : sqlite3_column_int64(row, READER_COLUMN_END_US),
        .job_id = (uint32_t)sqlite3_column_int64(row, READER_COLUMN_JOB_ID),
        .part = source->part,
        .task_id = (uint32_t)sqlite3_column_int64(row, READER_COLUMN_TASK_ID),
        .restarts = (uint32_t)sqlite3_column_int64(row, READER_COLUMN_RESTARTS),
    };
    return 0;
}

/* Moves all sources to their first rows; BY_JOB: to those of the next id. */
static int begin_walk(struct cursor *c, struct err *e)
{
    for (uint32_t i = 0; i < c->source_count; i++) {
        if (c->access == BY_JOB) bind_named(c->sources[i].statement, ":job", c->query.job_ids[c->ids_begun]);
        if (advance(c, &c->sources[i], e) != 0) return -1;
    }
    c->ids_begun++;
    return 0;
}

static bool is_before(const struct row_key *a, const struct row_key *b)
{
    if (a->end_us != b->end_us) return a->end_us < b->end_us;
    if (a->job_id != b->job_id) return a->job_id < b->job_id;
    if (a->part != b->part) return a->part < b->part;
    if (a->task_id != b->task_id) return a->task_id < b->task_id;
    return a->restarts < b->restarts;
}

/* The source with the row that comes next; NULL: there are no more rows. */
static struct row_source *first_source(struct cursor *c)
{
    struct row_source *first = NULL;
    for (uint32_t i = 0; i < c->source_count; i++) {
        struct row_source *s = &c->sources[i];
        if (!s->has_row) continue;
        if (first == NULL ||
            (c->query.newest_first ? is_before(&first->key, &s->key) : is_before(&s->key, &first->key)))
            first = s;
    }
    return first;
}

/* --- one row ------------------------------------------------------------------------------------------------------ */

/* The pattern for a row of several tasks: %a stays as it is, and %j becomes %A_%a. Each may have a width. */
static const char *group_pattern(struct buf *out, const char *pattern)
{
    buf_clear(out);
    for (const char *p = pattern; *p != '\0'; p++) {
        size_t digits = p[0] == '%' ? strspn(p + 1, "0123456789") : 0;
        char letter = p[0] == '%' ? p[1 + digits] : '\0';
        if (letter == 'a') {
            buf_format(out, "%%%%%.*sa", (int)digits, p + 1);
        } else if (letter == 'j') {
            buf_format(out, "%%%.*sA_%%%%a", (int)digits, p + 1);
        } else if (letter != '\0') {
            buf_add(out, p, digits + 2);
        } else {
            buf_add_char(out, *p);
        }
        if (letter != '\0') p += digits + 1;
    }
    return out->length > 0 ? out->text : "";
}

static const char *expand(const struct job_row *row, bool is_group, const char *pattern, struct cursor *c,
                          struct buf *out)
{
    struct job_text text = {.name = job_row_text(row, JOB_FIELD_NAME),
                            .directory = job_row_text(row, JOB_FIELD_DIRECTORY)};
    const struct job j = {.id = (uint32_t)job_row_number(row, JOB_FIELD_JOB_ID),
                          .is_array = job_row_text(row, JOB_FIELD_ARRAY) != NULL,
                          .text = &text};
    buf_clear(out);
    output_path_expand(&j, job_row_text(row, JOB_FIELD_USER), (uint32_t)job_row_number_or(row, JOB_FIELD_TASK_ID, 0),
                       is_group ? group_pattern(&c->pattern, pattern) : pattern, out);
    return out->text;
}

static void fill_paths(struct cursor *c, struct job_row *row, bool is_group)
{
    const char *err_pattern = job_row_text(row, JOB_FIELD_ERR_PATTERN);
    const char *out_path = expand(row, is_group, job_row_text(row, JOB_FIELD_OUT_PATTERN), c, &c->out_path);
    row->value[JOB_FIELD_OUT_PATH] = field_text(out_path);
    row->value[JOB_FIELD_ERR_PATH] =
        field_text(err_pattern != NULL ? expand(row, is_group, err_pattern, c, &c->err_path) : out_path);
}

static bool have_common(const struct idset *a, const struct idset *b)
{
    struct idset rest = {0};
    idset_copy(&rest, a);
    idset_remove_all(&rest, b);
    bool result = idset_count(&rest) < idset_count(a);
    idset_release(&rest);
    return result;
}

/* Keeps of the tasks those that were requeued equally often: the first such group from c->restarts_next on. Sets that
 * to the number of restarts from which on there are others, or to 0. Returns the restarts of the group. */
static uint32_t take_restarts(struct cursor *c, const struct job_row *row, struct idset *tasks)
{
    const char *text = job_row_text(row, JOB_FIELD_RESTARTED_TASKS);
    struct idset rest = {0};
    struct job j = {0};
    uint32_t restarts = c->restarts_next, removed = 0;
    c->restarts_next = 0;
    if (text[0] != '\0') (void)restarts_parse(&j, str(text), "restarted_tasks", NULL);
    for (; removed < restarts && removed < j.restarted.count; removed++) { /* keeps those of later groups */
        idset_copy(&rest, tasks);
        idset_remove_all(&rest, &j.restarted.items[removed]);
        idset_remove_all(tasks, &rest);
    }
    for (; restarts < j.restarted.count; restarts++) {
        idset_copy(&rest, tasks);
        idset_remove_all(&rest, &j.restarted.items[restarts]);
        if (idset_first(&rest) == NONE) continue; /* all of them were requeued more often */
        if (have_common(tasks, &j.restarted.items[restarts])) c->restarts_next = restarts + 1;
        idset_copy(tasks, &rest);
        break;
    }
    idset_release(&rest);
    restarts_release(&j);
    return restarts;
}

/* Those of the tasks that have the hold. */
static void select_hold(const struct job *j, enum task_hold hold, const struct idset *tasks, struct idset *out)
{
    const struct idset *by_user = task_delays_held(j, false), *by_operator = task_delays_held(j, true);
    const struct idset *of = hold == TASK_HOLD_BY_USER ? by_user : by_operator;
    idset_copy(out, tasks);
    if (hold == TASK_HOLD_NONE && by_user != NULL) idset_remove_all(out, by_user);
    if (hold == TASK_HOLD_NONE && by_operator != NULL) idset_remove_all(out, by_operator);
    if (hold == TASK_HOLD_NONE) return;
    if (of != NULL) idset_remove_all(out, of);
    struct idset rest = {0};
    idset_copy(&rest, out);
    idset_copy(out, tasks);
    idset_remove_all(out, &rest);
    idset_release(&rest);
}

/* Keeps of the tasks those with the same hold: the first such ones from c->hold_next on. Sets that to the next hold
 * that some of the others have, and returns whether there is one. */
static bool take_hold(struct cursor *c, const struct job *j, struct idset *tasks)
{
    struct idset all = {0}, others = {0};
    enum task_hold hold = c->hold_next;
    idset_copy(&all, tasks);
    for (; hold < TASK_HOLD_COUNT; hold++) {
        select_hold(j, hold, &all, tasks);
        if (idset_first(tasks) != NONE) break;
    }
    c->hold = hold < TASK_HOLD_COUNT ? hold : TASK_HOLD_NONE;
    for (hold++; hold < TASK_HOLD_COUNT; hold++) {
        select_hold(j, hold, &all, &others);
        if (idset_first(&others) != NONE) break;
    }
    idset_release(&all);
    idset_release(&others);
    c->hold_next = hold < TASK_HOLD_COUNT ? hold : TASK_HOLD_NONE;
    return hold < TASK_HOLD_COUNT;
}

/* Keeps of the tasks those that a row is of. Returns their restarts. */
static uint32_t take_group(struct cursor *c, const struct job_row *row, struct idset *tasks)
{
    const char *delays = job_row_text(row, JOB_FIELD_DELAYED_TASKS);
    struct job j = {0};
    uint32_t restarts = take_restarts(c, row, tasks);
    c->has_more_groups = c->restarts_next != 0;
    c->hold = TASK_HOLD_NONE;
    if (delays[0] == '\0') return restarts;
    if (task_delays_parse(&j, str(delays), "delayed_tasks", NULL) == 0 && take_hold(c, &j, tasks)) {
        c->restarts_next = restarts;
        c->has_more_groups = true;
    }
    task_delays_release(&j);
    return restarts;
}

/* Sets the row's tasks, their number and their restarts. Returns false if the query is for a task that is not among
 * them. */
static bool fill_tasks(struct cursor *c, const char *text, struct job_row *row)
{
    struct idset set = {0};
    bool is_array = job_row_text(row, JOB_FIELD_ARRAY) != NULL;
    bool wants_one = c->query.job_id_count == 1 && c->query.task_id != NONE;
    row->value[JOB_FIELD_TASK_COUNT] = field_number(1);
    row->value[JOB_FIELD_RESTARTS] = field_number(0);
    if (!is_array && wants_one) return false;
    if (!is_array) idset_add(&set, 0);
    if (is_array && idset_parse(str(text), NONE - 1, "tasks", &set, NULL) != 0) return true;
    bool is_in = !wants_one || idset_has(&set, c->query.task_id);
    if (wants_one) {
        idset_release(&set);
        idset_add(&set, c->query.task_id);
    }
    row->value[JOB_FIELD_RESTARTS] = field_number(take_group(c, row, &set));
    if (is_array) {
        row->value[JOB_FIELD_TASK_COUNT] = field_number(idset_count(&set));
        buf_clear(&c->tasks);
        buf_add_text(&c->tasks, "");
        idset_format(&set, &c->tasks);
        row->value[JOB_FIELD_ARRAY_TASKS] = field_text(c->tasks.text);
    }
    idset_release(&set);
    return is_in;
}

/* What its dependency means for the tasks of a row, which gets the form that listings show. */
static enum dependency_state fill_dependency(struct cursor *c, struct job_row *row)
{
    struct dependency_list list;
    struct idset pending = {0};
    const char *text = job_row_text(row, JOB_FIELD_DEPENDENCY), *tasks = job_row_text(row, JOB_FIELD_ARRAY_TASKS);
    if (text[0] == '\0') return DEPENDENCY_MET;
    arena_clear(&c->row_arena);
    if (tasks == NULL || idset_parse(str(tasks), NONE - 1, "tasks", &pending, NULL) != 0) idset_add(&pending, 0);
    enum dependency_state state = DEPENDENCY_MET;
    if (dependency_text_parse(str(text), &c->row_arena, &list, NULL) == 0) {
        state = dependency_list_state(&list, &pending, c->query.now_us);
        buf_clear(&c->dependency);
        dependency_text_show(&list, c->query.now_us, &c->dependency);
        row->value[JOB_FIELD_DEPENDENCY] = field_text(c->dependency.length > 0 ? c->dependency.text : "");
    }
    idset_release(&pending);
    return state;
}

static bool has_any(const struct idset *tasks, const struct idset *of)
{
    struct idset rest = {0};
    idset_copy(&rest, tasks);
    idset_remove_all(&rest, of);
    bool has = idset_count(&rest) < idset_count(tasks);
    idset_release(&rest);
    return has;
}

static bool is_running_delay(const struct task_delay *d, int64_t now_us)
{
    return d->at_us > now_us && d->at_us < TASK_DELAYS_HELD_BY_USER_US;
}

/* When the first task of a row may start, if all were requeued and do not start yet; else 0. Holds do not count. */
static int64_t delayed_until_us(const struct job_row *row, int64_t now_us)
{
    const char *delays = job_row_text(row, JOB_FIELD_DELAYED_TASKS), *tasks = job_row_text(row, JOB_FIELD_ARRAY_TASKS);
    struct job j = {0};
    struct idset pending = {0}, rest = {0};
    int64_t until_us = 0;
    if (delays[0] == '\0' || tasks == NULL || idset_parse(str(tasks), NONE - 1, "tasks", &pending, NULL) != 0) return 0;
    (void)task_delays_parse(&j, str(delays), "delayed_tasks", NULL);
    idset_copy(&rest, &pending);
    for (uint32_t i = 0; i < j.delays.count; i++) {
        if (is_running_delay(&j.delays.items[i], now_us)) idset_remove_all(&rest, &j.delays.items[i].tasks);
    }
    for (uint32_t i = 0; i < j.delays.count && idset_first(&rest) == NONE && until_us == 0; i++) {
        const struct task_delay *d = &j.delays.items[i];
        if (is_running_delay(d, now_us) && has_any(&pending, &d->tasks)) until_us = d->at_us;
    }
    task_delays_release(&j);
    idset_release(&rest);
    idset_release(&pending);
    return until_us;
}

/* Tasks with a hold of their own are held by it, or by that of their job. */
static void fill_hold(struct job_row *row, enum task_hold hold)
{
    if (hold != TASK_HOLD_NONE) row->value[JOB_FIELD_HELD] = field_number(true);
    if (hold == TASK_HOLD_BY_OPERATOR) row->value[JOB_FIELD_HELD_BY_OPERATOR] = field_number(true);
}

/* Of a row whose tasks are all delayed, its begin is when the first of them may start. */
static void fill_begin(struct job_row *row, int64_t now_us)
{
    int64_t until_us = delayed_until_us(row, now_us);
    if (job_row_number(row, JOB_FIELD_STATE) == JOB_PENDING && until_us > job_row_number_or(row, JOB_FIELD_BEGIN, 0))
        row->value[JOB_FIELD_BEGIN] = field_number(until_us);
}

/* In the order in which Slurm looks at them. */
static enum pending_reason reason(const struct job_row *row, enum dependency_state dependency, uint32_t live,
                                  int64_t now_us)
{
    int64_t limit = job_row_number(row, JOB_FIELD_ARRAY_LIMIT);
    if (job_row_number(row, JOB_FIELD_STATE) != JOB_PENDING) return PENDING_NONE;
    if (job_row_number(row, JOB_FIELD_HELD) != 0)
        return job_row_number(row, JOB_FIELD_HELD_BY_OPERATOR) != 0 ? PENDING_HELD_BY_OPERATOR : PENDING_HELD_BY_USER;
    if (dependency == DEPENDENCY_NEVER) return PENDING_DEPENDENCY_NEVER;
    if (dependency == DEPENDENCY_WAITS) return PENDING_DEPENDENCY;
    if (job_row_number_or(row, JOB_FIELD_BEGIN, 0) > now_us) return PENDING_BEGIN_TIME;
    return limit != 0 && live >= limit ? PENDING_ARRAY_TASK_LIMIT : PENDING_RESOURCES;
}

static void fill_id(struct cursor *c, struct job_row *row)
{
    bool is_pending = job_row_number(row, JOB_FIELD_STATE) == JOB_PENDING;
    const char *tasks = job_row_text(row, JOB_FIELD_ARRAY_TASKS);
    buf_clear(&c->id);
    job_id_write(&(struct job_id_parts){.job_id = (uint32_t)job_row_number(row, JOB_FIELD_JOB_ID),
                                        .task_id = (uint32_t)job_row_number_or(row, JOB_FIELD_TASK_ID, NONE),
                                        .is_array = job_row_text(row, JOB_FIELD_ARRAY) != NULL,
                                        .tasks = tasks != NULL ? tasks : "",
                                        .limit = is_pending ? (uint32_t)job_row_number(row, JOB_FIELD_ARRAY_LIMIT) : 0},
                 &c->id);
    row->value[JOB_FIELD_ID] = field_text(c->id.text);
}

/* Reads the fields that have columns; the others are as in empty. One damaged row must not hide all others, so a value
 * that its field cannot have is listed as none (absent or 0), and a state that no task can have as UNKNOWN; verify
 * names the row. */
static void read_fields(const struct cursor *c, const struct row_source *source, struct job_row *row)
{
    sqlite3_stmt *from = source->statement;
    const struct job_row_columns *columns = &c->store->listing_columns[source->part];
    *row = c->empty;
    for (uint32_t i = 0; i < columns->count; i++) {
        enum job_field f = columns->field[i];
        if (!field_column_read(&columns->column[i], from, READER_COLUMN_FIELDS + (int)i, &row->value[f]))
            row->value[f] = c->empty.value[f];
    }
    int64_t state = job_row_number(row, JOB_FIELD_STATE);
    if (source->part == PART_TASKS && (state == JOB_PENDING || state >= JOB_STATE_COUNT))
        row->value[JOB_FIELD_STATE] = field_number(JOB_UNKNOWN);
    row->value[JOB_FIELD_ACCOUNT] = field_text(sql_column_text(from, READER_COLUMN_ACCOUNT));
    row->value[JOB_FIELD_USER] = field_text(sql_column_text(from, READER_COLUMN_USER));
}

/* Makes the exit status and the signal absent where the end had none, whose row has zeros: it ended before its
 * start, or its program could not be opened, or its keeper has gone. What a signal ended has no exit status. */
static void clear_exit(struct job_row *row)
{
    int64_t state = job_row_number(row, JOB_FIELD_STATE);
    bool has_started = row->value[JOB_FIELD_START].number != FIELD_ABSENT;
    bool needs_one = state == JOB_FAILED || state == JOB_NODE_FAIL || state == JOB_REQUEUED;
    bool has_signal = job_row_number_or(row, JOB_FIELD_SIGNAL, 0) > 0;
    bool has_status = job_row_number_or(row, JOB_FIELD_EXIT_STATUS, 0) > 0;
    bool has_none = !has_started || (needs_one && !has_signal && !has_status);
    if (has_none || has_signal) row->value[JOB_FIELD_EXIT_STATUS] = field_absent();
    if (has_none) row->value[JOB_FIELD_SIGNAL] = field_absent();
}

/* An attempt that was requeued has neither the begin nor the hold that its job was given after it. */
static void clear_job_state(struct job_row *row)
{
    if (job_row_number(row, JOB_FIELD_STATE) != JOB_REQUEUED) return;
    if (job_row_number_or(row, JOB_FIELD_BEGIN, 0) > job_row_number_or(row, JOB_FIELD_START, 0))
        row->value[JOB_FIELD_BEGIN] = field_absent();
    row->value[JOB_FIELD_HELD] = row->value[JOB_FIELD_HELD_BY_OPERATOR] = field_number(false);
}

/* Makes fields absent that a task has only from its start or its end on. */
static void clear_later_fields(struct job_row *row)
{
    bool has_started = row->value[JOB_FIELD_START].number != FIELD_ABSENT;
    bool has_ended = job_state_is_end((enum job_state)job_row_number(row, JOB_FIELD_STATE));
    for (enum job_field f = 0; f < JOB_FIELD_COUNT; f++) {
        enum job_field_since since = job_field_rows[f].since;
        if ((since == JOB_SINCE_START && !has_started) || (since == JOB_SINCE_END && !has_ended))
            row->value[f] = field_absent();
    }
    clear_exit(row);
    clear_job_state(row);
}

/* Why tasks were cancelled that could never start. */
static void fill_unstarted(struct job_row *row, enum reader_part part)
{
    if (part == PART_CANCELLED && job_row_number(row, JOB_FIELD_CANCELLED_BY_RULE) != 0)
        row->value[JOB_FIELD_DETAIL] = field_text("what it waited for can never happen");
}

/* Returns false if the query excludes the row. */
static bool fill_row(struct cursor *c, const struct row_source *source, struct job_row *row)
{
    sqlite3_stmt *from = source->statement;
    if (sqlite3_column_int(from, READER_COLUMN_WANTED) == 0) return false;
    read_fields(c, source, row);
    bool is_array = job_row_text(row, JOB_FIELD_ARRAY) != NULL;
    if (source->part == PART_TASKS)
        row->value[JOB_FIELD_TASK_COUNT] = field_number(1);
    else if (!fill_tasks(c, sql_column_text(from, READER_COLUMN_TASKS), row))
        return false;
    if (source->part == PART_TASKS && !is_array) row->value[JOB_FIELD_TASK_ID] = field_absent();
    if (source->part == PART_CANCELLED)
        row->value[JOB_FIELD_END] = field_number(sqlite3_column_int64(from, READER_COLUMN_END_US));
    clear_later_fields(row);
    enum dependency_state dependency = fill_dependency(c, row);
    if (source->part == PART_PENDING) fill_hold(row, c->hold);
    fill_begin(row, c->query.now_us);
    uint32_t live = (uint32_t)sqlite3_column_int64(from, READER_COLUMN_LIVE);
    row->value[JOB_FIELD_REASON] = field_number(reason(row, dependency, live, c->query.now_us));
    if (source->part != PART_TASKS) fill_unstarted(row, source->part);
    fill_id(c, row);
    fill_paths(c, row, source->part != PART_TASKS && is_array);
    return true;
}

/* --- the reader --------------------------------------------------------------------------------------------------- */

static void close_cursor(void *cursor)
{
    struct cursor *c = cursor;
    struct store *s = c->store;
    for (uint32_t i = 0; i < c->source_count; i++) sqlite3_finalize(c->sources[i].statement);
    if (c->db != NULL && sqlite3_exec(c->db, "COMMIT", NULL, NULL, NULL) != SQLITE_OK) c->has_failed = true;
    if (c->db != NULL && !c->has_failed && s->idle_reader_count < IDLE_READERS_MAX)
        s->idle_readers[s->idle_reader_count++] = c->db;
    else
        sqlite3_close(c->db);
    buf_release(&c->pattern);
    buf_release(&c->id);
    buf_release(&c->tasks);
    buf_release(&c->dependency);
    buf_release(&c->out_path);
    buf_release(&c->err_path);
    arena_release(&c->row_arena);
    arena_release(&c->arena);
    mem_free(c);
}

/* The first read in a transaction takes the snapshot, so this reads something at once. */
static void *open_cursor(void *context, const struct job_query *query, struct err *e)
{
    struct store *s = context;
    struct cursor *c = mem_resize(NULL, 0, sizeof *c);
    int64_t unused;
    c->store = s;
    copy_query(c, query);
    for (enum job_field f = 0; f < JOB_FIELD_COUNT; f++) c->empty.value[f] = field_nothing(job_field_at(f));
    c->db = s->idle_reader_count > 0 ? s->idle_readers[--s->idle_reader_count] : job_reader_connect(s->path, e);
    if (c->db != NULL && sql_run(c->db, "BEGIN", e) == 0 &&
        sql_number(c->db, "SELECT id FROM counters", &unused, e) == 0 && add_sources(c, e) == 0)
        return c;
    c->has_failed = true;
    close_cursor(c);
    return NULL;
}

static int next_row(void *cursor, struct job_row *out_row, struct err *e)
{
    struct cursor *c = cursor;
    if (c->last != NULL && advance(c, c->last, e) != 0) c->has_failed = true;
    c->last = NULL;
    if (c->query.limit != 0 && c->row_count == c->query.limit) return 0;
    uint32_t walks = c->access == BY_JOB ? c->query.job_id_count : 1;
    for (uint32_t skipped = 0; !c->has_failed; skipped++) {
        struct row_source *first = first_source(c);
        if (first == NULL && c->ids_begun == walks) return 0;
        if (first != NULL && fill_row(c, first, out_row)) {
            if (!c->has_more_groups) c->last = first;
            c->row_count++;
            return 1;
        }
        if (skipped == SKIPPED_MAX) return 2;
        if ((first == NULL ? begin_walk(c, e) : advance(c, first, e)) != 0) c->has_failed = true;
    }
    return -1;
}

struct job_reader store_job_reader(struct store *s)
{
    return (struct job_reader){.context = s, .open = open_cursor, .next = next_row, .close = close_cursor};
}
