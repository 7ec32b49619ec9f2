/* The scripts, arguments and environments of jobs. They stay in memory until the commit of their turn. A shell loop
 * submits the same script with the same environment a thousand times, so each distinct content is stored once and found
 * by its hash; a job's row has two ids of contents and the arguments. What is long is stored before (upload.c), and
 * read by a thread.
 *
 * Lists are stored as in /proc/PID/environ: a zero byte ends each entry. */
#include <string.h>

#include "base/ensure.h"
#include "base/hash.h"
#include "store/internal.h"

struct str script_join(struct arena *arena, const struct str *list, uint32_t count)
{
    size_t length = 0;
    for (uint32_t i = 0; i < count; i++) length += list[i].length + 1;
    char *bytes = arena_alloc_raw(arena, length + 1), *next = bytes;
    for (uint32_t i = 0; i < count; i++) {
        if (list[i].length > 0) {
            ensure(memchr(list[i].text, '\0', list[i].length) == NULL);
            memcpy(next, list[i].text, list[i].length);
        }
        next += list[i].length;
        *next++ = '\0';
    }
    return (struct str){bytes, length};
}

void store_add_script(struct store *s, uint32_t job_id, const struct job_script *script)
{
    struct arena *arena = &s->script_arena;
    *array_add(&s->scripts) = (struct added_script){
        .job_id = job_id,
        .script_name = arena_copy(arena, str(script->script_name)),
        .script.bytes = {arena_copy(arena, script->script), script->script.length},
        .arguments.bytes = script_join(arena, script->arguments, script->argument_count),
        .environment.bytes = script_join(arena, script->environment, script->environment_count),
    };
}

void store_abandon(struct store *s)
{
    array_clear(&s->scripts);
    arena_clear(&s->script_arena);
}

/* The id of the content in table content; stores it if it is new. */
static int put_content(struct store *s, const struct added_content *content, int64_t *out_id, struct err *e)
{
    sqlite3_stmt *find = s->statements[FIND_CONTENT], *put = s->statements[PUT_CONTENT];
    struct str bytes = content->bytes;
    if (content->id != 0) {
        *out_id = content->id;
        sql_bind_int(s->statements[REMOVE_LOOSE], 1, content->id);
        return sql_step(s->statements[REMOVE_LOOSE], e);
    }
    int64_t hash = (int64_t)hash_bytes(bytes.text, bytes.length, 0);
    sql_bind_int(find, 1, hash);
    sql_bind_bytes(find, 2, bytes);
    int found = sql_step(find, e);
    if (found < 0) return -1;
    if (found == 1) {
        *out_id = sqlite3_column_int64(find, 0);
        sqlite3_reset(find);
        return 0;
    }
    sql_bind_int(put, 1, hash);
    sql_bind_bytes(put, 2, bytes);
    sql_bind_int(put, 3, 0);
    if (sql_step(put, e) != 0) return -1;
    *out_id = sqlite3_last_insert_rowid(s->db);
    return 0;
}

int script_write_added(struct store *s, struct err *e)
{
    sqlite3_stmt *put = s->statements[PUT_SCRIPT];
    for (uint32_t i = 0; i < s->scripts.count; i++) {
        const struct added_script *a = &s->scripts.items[i];
        int64_t script_id, environment_id, arguments_id = 0;
        if (put_content(s, &a->script, &script_id, e) != 0 || put_content(s, &a->environment, &environment_id, e) != 0)
            return -1;
        if (a->arguments.id != 0 && put_content(s, &a->arguments, &arguments_id, e) != 0) return -1;
        sql_bind_int(put, 1, a->job_id);
        sql_bind_text(put, 2, a->script_name);
        sql_bind_int(put, 3, script_id);
        sql_bind_bytes(put, 4, arguments_id != 0 ? str("") : a->arguments.bytes);
        sql_bind_int(put, 5, environment_id);
        sql_bind_int_or_null(put, 6, arguments_id);
        if (sql_step(put, e) != 0) return -1;
    }
    return 0;
}

/* --- reading ------------------------------------------------------------------------------------------------------ */

/* The entries of a stored list, in memory of arena. Each is still followed by its zero byte, so it is a C string,
 * too. */
static struct str *split(struct arena *arena, struct str joined, uint32_t *out_count)
{
    uint32_t count = 0;
    for (size_t i = 0; i < joined.length; i++) count += joined.text[i] == '\0';
    struct str *list = arena_alloc(arena, (count + (size_t)1) * sizeof *list);
    const char *bytes = joined.text;
    for (uint32_t i = 0; i < count; i++) {
        list[i] = str(bytes);
        bytes += list[i].length + 1;
    }
    *out_count = count;
    return list;
}

static struct str copy_bytes(struct arena *arena, struct str bytes)
{
    return (struct str){arena_copy(arena, bytes), bytes.length};
}

static int fail_without(uint32_t job_id, struct err *e)
{
    return err_set(e, ERR_NOT_FOUND, "job %u has no stored script or command", job_id);
}

int store_script(struct store *s, uint32_t job_id, struct arena *arena, struct job_script *out_script, struct err *e)
{
    sqlite3_stmt *get = s->statements[GET_SCRIPT];
    sql_bind_int(get, 1, job_id);
    sql_bind_int(get, 2, STORE_PIECE_BYTES);
    int found = sql_step(get, e);
    if (found < 0) return -1;
    if (found == 0) return fail_without(job_id, e);
    struct job_script script = {.script_name = arena_copy(arena, str(sql_column_text(get, 0))),
                                .is_long = sqlite3_column_int(get, 4) != 0};
    script.script = copy_bytes(arena, sql_column_bytes(get, 1));
    script.arguments = split(arena, copy_bytes(arena, sql_column_bytes(get, 2)), &script.argument_count);
    script.environment = split(arena, copy_bytes(arena, sql_column_bytes(get, 3)), &script.environment_count);
    sqlite3_reset(get);
    *out_script = script;
    return 0;
}

int store_command(struct store *s, uint32_t job_id, uint32_t max, struct arena *arena, struct job_script *out_command,
                  struct err *e)
{
    sqlite3_stmt *get = s->statements[GET_COMMAND];
    sql_bind_int(get, 1, job_id);
    sql_bind_int(get, 2, max);
    int found = sql_step(get, e);
    if (found < 0) return -1;
    if (found == 0) return fail_without(job_id, e);
    struct job_script command = {.is_long = sqlite3_column_int(get, 0) != 0};
    command.script = copy_bytes(arena, sql_column_bytes(get, 1));
    if (!command.is_long && command.script.length == 0) {
        command.is_long = sqlite3_column_int(get, 2) != 0;
        command.arguments = split(arena, copy_bytes(arena, sql_column_bytes(get, 3)), &command.argument_count);
    }
    sqlite3_reset(get);
    *out_command = command;
    return 0;
}

/* The pieces of a content, one after the other. */
static int read_pieces(sqlite3 *db, int64_t content_id, struct arena *arena, struct str *out, struct err *e)
{
    sqlite3_stmt *measure = sql_prepare(db, "SELECT sum(length(bytes)) FROM content_piece WHERE content_id = ?1", e);
    sqlite3_stmt *pieces =
        sql_prepare(db, "SELECT bytes FROM content_piece WHERE content_id = ?1 ORDER BY position", e);
    int found = -1;
    if (measure != NULL && pieces != NULL) {
        sql_bind_int(measure, 1, content_id);
        sql_bind_int(pieces, 1, content_id);
        found = sql_step(measure, e);
    }
    size_t size = found == 1 ? (size_t)sqlite3_column_int64(measure, 0) : 0, length = 0;
    char *bytes = arena_alloc_raw(arena, size + 1);
    while (found == 1 && (found = sql_step(pieces, e)) == 1) {
        struct str piece = sql_column_bytes(pieces, 0);
        ensure(piece.length <= size - length);
        memcpy(bytes + length, piece.text, piece.length);
        length += piece.length;
    }
    bytes[length] = '\0';
    sqlite3_finalize(measure);
    sqlite3_finalize(pieces);
    *out = (struct str){bytes, length};
    return found;
}

/* A text of the present row, and in the column after it the id of its content, if that has pieces. */
static int read_text(sqlite3_stmt *row, int column, struct arena *arena, struct str *out, struct err *e)
{
    int64_t content_id = sqlite3_column_int64(row, column + 1);
    if (content_id != 0) return read_pieces(sqlite3_db_handle(row), content_id, arena, out, e);
    *out = copy_bytes(arena, sql_column_bytes(row, column));
    return 0;
}

static int read_script(sqlite3 *db, uint32_t job_id, struct arena *arena, struct job_script *out, struct err *e)
{
    struct str arguments, environment;
    struct job_script script = {0};
    sqlite3_stmt *get =
        sql_prepare(db,
                    "SELECT script_name, script.bytes, iif(script.piece_count > 0, script_id, 0),"
                    " arguments, ifnull(arguments_id, 0),"
                    " environment.bytes, iif(environment.piece_count > 0, environment_id, 0)" SCRIPT_JOINS,
                    e);
    if (get == NULL) return -1;
    sql_bind_int(get, 1, job_id);
    int found = sql_step(get, e), result = found == 1 ? 0 : -1;
    if (found == 0) fail_without(job_id, e);
    if (result == 0) script.script_name = arena_copy(arena, str(sql_column_text(get, 0)));
    if (result == 0) result = read_text(get, 1, arena, &script.script, e);
    if (result == 0) result = read_text(get, 3, arena, &arguments, e);
    if (result == 0) result = read_text(get, 5, arena, &environment, e);
    sqlite3_finalize(get);
    if (result != 0) return -1;
    script.arguments = split(arena, arguments, &script.argument_count);
    script.environment = split(arena, environment, &script.environment_count);
    *out = script;
    return 0;
}

int store_read_script(const char *directory, uint32_t job_id, struct arena *arena, struct job_script *out_script,
                      struct err *e)
{
    struct buf path = {0};
    buf_format(&path, "%s/fairlead.db", directory);
    sqlite3 *db = job_reader_connect(path.text, e);
    int result = db != NULL ? sql_run(db, "BEGIN", e) : -1;
    if (result == 0) result = read_script(db, job_id, arena, out_script, e);
    sqlite3_close(db);
    buf_release(&path);
    return result;
}
