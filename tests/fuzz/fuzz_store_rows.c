/* A database whose rows were changed by arbitrary bytes. What the store accepts from it can be scheduled, committed,
 * listed and verified; what it refuses is one printable line. Nothing crashes.
 *
 * The database of an instance with every kind of row is made once. An input is a list of changes, each of which sets
 * one column of one row to a value of any type, copies a value between rows, or removes a row; CHECK constraints and
 * the types of STRICT tables do not hold them back. */
#include "../unit/store_house.h"

#include "base/ensure.h"
#include "base/text.h"

enum { TABLES_MAX = 64, COLUMNS_MAX = 128, CHANGES_MAX = 8, IMAGE_BYTES_MAX = 4 << 20, TEXT_BYTES_MAX = 64 };

struct table {
    char name[64];
    char key[200]; /* "rowid", or its primary key: "job_id, task_id" */
    char columns[COLUMNS_MAX][64];
    uint32_t column_count;
};

static struct {
    char directory[STORE_PATH_SIZE];
    char *image;
    size_t image_size;
    struct table tables[TABLES_MAX];
    uint32_t table_count;
    int64_t now_us;
} base;

struct input {
    const uint8_t *data;
    size_t size;
};

static uint8_t take_byte(struct input *in)
{
    if (in->size == 0) return 0;
    in->size--;
    return *in->data++;
}

static uint64_t take_number(struct input *in, uint32_t bytes)
{
    uint64_t number = 0;
    while (bytes-- > 0) number = number << 8 | take_byte(in);
    return number;
}

/* --- the database ------------------------------------------------------------------------------------------------- */

static void must_run(sqlite3 *db, const char *sql)
{
    char *message = NULL;
    if (sqlite3_exec(db, sql, NULL, NULL, &message) == SQLITE_OK) return;
    fprintf(stderr, "%s: %s\n", sql, message);
    abort();
}

static uint32_t submit(struct house *h, const char *user, const char *account, const char *more)
{
    struct event event = world_submission(user, account, 1);
    uint32_t id = 0;
    event.submit = job_with(event.submit, "%s", more);
    if (world_apply(&h->w, event, &id) != 0) fprintf(stderr, "%s: %s\n", more, ERR_SENTENCE(&h->w.e));
    ensure(id > 0);
    house_commit(h);
    return id;
}

static void pass(struct house *h)
{
    h->w.now_us += SECOND;
    ensure(world_apply(&h->w, (struct event){.kind = EVENT_TIME, .time = {.boot_id = "boot"}}, NULL) == 0);
    house_commit(h);
}

static void end(struct house *h, uint32_t job_id, enum job_state state)
{
    const struct task *k = world_task(&h->w, job_id, 0);
    world_started(&h->w, k->launch_id);
    h->w.now_us += 10 * SECOND;
    world_ended(&h->w, k->launch_id, state, 0);
    house_commit(h);
}

static void fill_objects(struct world *w)
{
    world_user(w, "physics", 1, "ann");
    world_user(w, "chem", 3, "bob");
    world_set(w, "AccountingStorageEnforce", "limits,qos");
    world_set(w, "load_sensor", "NONE");
    world_object(w, OBJECT_ENVIRONMENT, "mpi", "slots=16|allocation_rule=$fill_up");
    world_object(w, OBJECT_PARTITION, "main", "pe_list=mpi");
    world_object(w, OBJECT_PARTITION, "long", "MaxTime=100|PriorityJobFactor=5");
    world_object(w, OBJECT_QOS, "high", "Priority=10|GrpJobs=8|MaxTRESPerUser=cpu=8");
    world_object(w, OBJECT_PROJECT, "apollo", "fshare=5");
    world_object(w, OBJECT_DEPARTMENT, "science", "oticket=7");
    world_object(w, OBJECT_USER_POLICY, "ann", "fshare=9");
    world_object(w, OBJECT_RESOURCE, "scratch", "urgency=2");
    world_object(w, OBJECT_HOST, "node1", "cpus=4|mem=4G");
    world_object(w, OBJECT_GROUP, "nodes", "hosts=node1");
    world_object(w, OBJECT_CALENDAR, "nights", "week=mon-fri=22-6=off");
    world_object(w, OBJECT_QUOTA, "few", "enabled=true|rules=limit users {*} to slots=100");
}

/* Ended, running and waiting jobs and arrays, conditions, attempts, scripts. */
static void fill_jobs(struct house *h)
{
    uint32_t first = submit(h, "ann", "physics", "name=first");
    pass(h);
    end(h, first, JOB_COMPLETED);
    uint32_t second = submit(h, "bob", "chem", "name=second|requeue_exit=75");
    pass(h);
    end(h, second, JOB_FAILED);
    submit(h, "ann", "physics", "array=0-9,12%2|name=many");
    pass(h);
    submit(h, "bob", "chem", "name=third|partitions=long,main|nice=5|comment=text");
    submit(h, "bob", "chem", "name=later|dependency=afterok:third");
    submit(h, "ann", "physics", "held=yes|pe=mpi|cpus=2|slots_max=8");
    pass(h);
}

static void read_columns(sqlite3 *db, struct table *t)
{
    sqlite3_stmt *rows;
    struct buf key = {0};
    char sql[200];
    text_format(sql, sizeof sql, "SELECT name, pk FROM pragma_table_info('%s') ORDER BY cid", t->name);
    ensure(sqlite3_prepare_v2(db, sql, -1, &rows, NULL) == SQLITE_OK);
    while (sqlite3_step(rows) == SQLITE_ROW) {
        ensure(t->column_count < COLUMNS_MAX);
        const char *name = (const char *)sqlite3_column_text(rows, 0);
        text_format(t->columns[t->column_count++], sizeof t->columns[0], "%s", name);
        if (sqlite3_column_int(rows, 1) > 0) buf_format(&key, "%s%s", key.length > 0 ? ", " : "", name);
    }
    sqlite3_finalize(rows);
    text_format(sql, sizeof sql, "SELECT rowid FROM \"%s\"", t->name);
    bool has_rowid = sqlite3_prepare_v2(db, sql, -1, &rows, NULL) == SQLITE_OK;
    sqlite3_finalize(rows);
    text_format(t->key, sizeof t->key, "%s", has_rowid ? "rowid" : key.text);
    buf_release(&key);
}

/* Leaves one file without a log, whose tables take values of any type. */
static void read_tables(void)
{
    sqlite3 *db = store_open_beside(base.directory);
    sqlite3_stmt *names;
    must_run(db, "PRAGMA journal_mode = DELETE; PRAGMA writable_schema = ON");
    ensure(sqlite3_prepare_v2(db, "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name", -1, &names,
                              NULL) == SQLITE_OK);
    while (sqlite3_step(names) == SQLITE_ROW) {
        ensure(base.table_count < TABLES_MAX);
        struct table *t = &base.tables[base.table_count++];
        text_format(t->name, sizeof t->name, "%s", (const char *)sqlite3_column_text(names, 0));
        read_columns(db, t);
    }
    sqlite3_finalize(names);
    must_run(db,
             "CREATE TABLE fuzz_schema AS SELECT name, sql FROM sqlite_schema;"
             "UPDATE sqlite_schema SET sql = replace(replace(sql, ') STRICT, WITHOUT', ') WITHOUT'), ') STRICT', ')')");
    ensure(sqlite3_close(db) == SQLITE_OK);
}

static void remove_directory(void)
{
    store_remove_directory(base.directory);
}

static void build(void)
{
    static char bytes[IMAGE_BYTES_MAX];
    struct house h;
    char path[STORE_PATH_SIZE + 20];
    house_build(&h, (struct capacity){4, 1, 4096});
    fill_objects(&h.w);
    house_commit(&h);
    fill_jobs(&h);
    base.now_us = h.w.now_us;
    store_close(h.store);
    world_release(&h.w);
    memcpy(base.directory, h.directory, sizeof base.directory);
    ensure(atexit(remove_directory) == 0);
    read_tables();
    text_format(path, sizeof path, "%s/fairlead.db", base.directory);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t size = read(fd, bytes, sizeof bytes);
    close(fd);
    ensure(size > 0 && size < IMAGE_BYTES_MAX);
    base.image = bytes;
    base.image_size = (size_t)size;
}

/* --- changes ------------------------------------------------------------------------------------------------------ */

static void bind_value(sqlite3_stmt *change, struct input *in)
{
    static const int64_t numbers[] = {
        0, 1, -1, 2, INT64_MIN, INT64_MAX, INT32_MAX, INT32_MIN, UINT32_MAX, INT64_C(1) << 32, INT64_C(1) << 53};
    uint8_t kind = take_byte(in);
    uint64_t bits;
    double real;
    switch (kind % 6) {
    case 0: sqlite3_bind_null(change, 1); return;
    case 1: sqlite3_bind_int64(change, 1, numbers[take_byte(in) % (sizeof numbers / sizeof *numbers)]); return;
    case 2: sqlite3_bind_int64(change, 1, (int64_t)take_number(in, 8)); return;
    case 3:
        bits = take_number(in, 8);
        memcpy(&real, &bits, sizeof real);
        sqlite3_bind_double(change, 1, real);
        return;
    default: break;
    }
    size_t length = take_byte(in) % TEXT_BYTES_MAX;
    if (length > in->size) length = in->size;
    if (kind % 6 == 4) sqlite3_bind_text(change, 1, (const char *)in->data, (int)length, SQLITE_TRANSIENT);
    if (kind % 6 == 5) sqlite3_bind_blob(change, 1, in->data, (int)length, SQLITE_TRANSIENT);
    in->data += length;
    in->size -= length;
}

static void change_row(sqlite3 *db, struct input *in)
{
    const struct table *t = &base.tables[take_byte(in) % base.table_count];
    const char *column = t->columns[take_byte(in) % t->column_count];
    uint32_t row = take_byte(in);
    uint8_t way = take_byte(in);
    char where[800], sql[1200];
    sqlite3_stmt *change;
    text_format(where, sizeof where,
                "(%s) = (SELECT %s FROM \"%s\" LIMIT 1 OFFSET %u %% (SELECT count(*) + 1 FROM \"%s\"))", t->key, t->key,
                t->name, row, t->name);
    if (way % 8 == 0)
        text_format(sql, sizeof sql, "DELETE FROM \"%s\" WHERE %s", t->name, where);
    else if (way % 8 == 1)
        text_format(sql, sizeof sql,
                    "UPDATE OR IGNORE \"%s\" SET \"%s\" = (SELECT \"%s\" FROM \"%s\" LIMIT 1 OFFSET %u) WHERE %s",
                    t->name, column, column, t->name, take_byte(in) % 16u, where);
    else
        text_format(sql, sizeof sql, "UPDATE OR IGNORE \"%s\" SET \"%s\" = ?1 WHERE %s", t->name, column, where);
    ensure(sqlite3_prepare_v2(db, sql, -1, &change, NULL) == SQLITE_OK);
    if (sqlite3_bind_parameter_count(change) > 0) bind_value(change, in);
    (void)sqlite3_step(change);
    sqlite3_finalize(change);
}

static void make_database(struct input *in)
{
    store_write_file(base.directory, "fairlead.db", base.image, base.image_size, 0);
    char path[STORE_PATH_SIZE + 20];
    text_format(path, sizeof path, "%s/fairlead.db", base.directory);
    ensure(truncate(path, (off_t)base.image_size) == 0);
    sqlite3 *db = store_open_beside(base.directory);
    must_run(db, "PRAGMA ignore_check_constraints = ON; PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY;"
                 "BEGIN");
    for (int i = 0; i < CHANGES_MAX && in->size > 0; i++) change_row(db, in);
    must_run(db, "COMMIT; PRAGMA writable_schema = ON;"
                 "UPDATE sqlite_schema AS s SET sql = (SELECT f.sql FROM fuzz_schema AS f WHERE f.name = s.name)"
                 " WHERE name IN (SELECT name FROM fuzz_schema WHERE sql IS NOT NULL)");
    ensure(sqlite3_close(db) == SQLITE_OK);
}

/* --- what is made of it ------------------------------------------------------------------------------------------- */

static void check_refusal(const struct err *e)
{
    const char *sentence = ERR_SENTENCE(e);
    ensure(sentence[0] != '\0' && str_is_printable(str(sentence)));
}

static void list_all(struct store *store)
{
    struct job_reader reader = store_job_reader(store);
    struct job_query query = {.which = JOBS_ALL, .task_id = NONE, .state = JOB_STATE_COUNT, .now_us = base.now_us};
    struct err e = {0};
    struct job_row row;
    void *cursor = reader.open(reader.context, &query, &e);
    if (cursor == NULL) {
        check_refusal(&e);
        return;
    }
    int status;
    do status = reader.next(cursor, &row, &e);
    while (status > 0);
    if (status < 0) check_refusal(&e);
    reader.close(cursor);
}

static void verify(void)
{
    struct arena arena = {0};
    struct verify_report report = {0};
    struct err e = {0};
    if (store_verify(base.directory, &arena, &report, &e) != 0) check_refusal(&e);
    array_release(&report.differences);
    arena_release(&arena);
}

static void work_with(struct store *store, struct state *s)
{
    struct err e = {0};
    struct outcome out = {0};
    struct event_result result;
    const struct event time = {.kind = EVENT_TIME, .time = {.boot_id = "boot"}};
    if (engine_apply(s, base.now_us + SECOND, &time, &out, &result, &e) != 0) check_refusal(&e);
    if (store_commit(store, s, &out, base.now_us + SECOND, &e) != 0) check_refusal(&e);
    outcome_release(&out);
    list_all(store);
    verify();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = {data, size};
    struct err e = {0};
    struct state s;
    if (base.image == NULL) build();
    make_database(&in);
    struct store *store = store_open(base.directory, base.now_us, &e);
    if (store == NULL) {
        check_refusal(&e);
        return 0;
    }
    state_init(&s, 1);
    if (store_load(store, &s, &e) == 0)
        work_with(store, &s);
    else
        check_refusal(&e);
    state_release(&s);
    store_close(store);
    return 0;
}
