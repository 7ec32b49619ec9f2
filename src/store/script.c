/* The scripts, arguments and environments of jobs. They stay in memory until the commit of their turn. A shell loop
 * submits the same script with the same environment a thousand times, so each distinct content is stored once and found
 * by its hash; a job's row has two ids of contents and the arguments.
 *
 * Lists are stored as in /proc/PID/environ: a zero byte ends each entry. */
#include <string.h>

#include "base/ensure.h"
#include "base/hash.h"
#include "store/internal.h"

static struct str join(struct arena *arena, const struct str *list, uint32_t count)
{
    size_t length = 0;
    for (uint32_t i = 0; i < count; i++) length += list[i].length + 1;
    char *bytes = arena_alloc(arena, length + 1), *next = bytes;
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
        .script = {arena_copy(arena, script->script), script->script.length},
        .arguments = join(arena, script->arguments, script->argument_count),
        .environment = join(arena, script->environment, script->environment_count),
    };
}

void store_abandon(struct store *s)
{
    array_clear(&s->scripts);
    array_clear(&s->known_users);
    arena_clear(&s->script_arena);
}

/* The id of these bytes in table content; stores them if they are new. */
static int put_content(struct store *s, struct str bytes, int64_t *out_id, struct err *e)
{
    sqlite3_stmt *find = s->statements[FIND_CONTENT], *put = s->statements[PUT_CONTENT];
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
    if (sql_step(put, e) != 0) return -1;
    *out_id = sqlite3_last_insert_rowid(s->db);
    return 0;
}

int script_write_added(struct store *s, struct err *e)
{
    sqlite3_stmt *put = s->statements[PUT_SCRIPT];
    for (uint32_t i = 0; i < s->scripts.count; i++) {
        const struct added_script *a = &s->scripts.items[i];
        int64_t script_id, environment_id;
        if (put_content(s, a->script, &script_id, e) != 0 || put_content(s, a->environment, &environment_id, e) != 0)
            return -1;
        sql_bind_int(put, 1, a->job_id);
        sql_bind_text(put, 2, a->script_name);
        sql_bind_int(put, 3, script_id);
        sql_bind_bytes(put, 4, a->arguments);
        sql_bind_int(put, 5, environment_id);
        if (sql_step(put, e) != 0) return -1;
    }
    return 0;
}

/* The entries of a stored list. Each is still followed by its zero byte, so it is a C string, too. */
static struct str *split(struct arena *arena, struct str joined, uint32_t *out_count)
{
    uint32_t count = 0;
    for (size_t i = 0; i < joined.length; i++) count += joined.text[i] == '\0';
    struct str *list = arena_alloc(arena, (count + (size_t)1) * sizeof *list);
    const char *bytes = arena_copy(arena, joined);
    for (uint32_t i = 0; i < count; i++) {
        list[i] = str(bytes);
        bytes += list[i].length + 1;
    }
    *out_count = count;
    return list;
}

int store_script(struct store *s, uint32_t job_id, struct arena *arena, struct job_script *out_script, struct err *e)
{
    sqlite3_stmt *get = s->statements[GET_SCRIPT];
    sql_bind_int(get, 1, job_id);
    int found = sql_step(get, e);
    if (found < 0) return -1;
    if (found == 0) return err_set(e, ERR_NOT_FOUND, "job %u has no stored script or command", job_id);
    struct job_script script = {.script_name = arena_copy(arena, str(sql_column_text(get, 0)))};
    struct str text = sql_column_bytes(get, 1);
    script.script = (struct str){arena_copy(arena, text), text.length};
    script.arguments = split(arena, sql_column_bytes(get, 2), &script.argument_count);
    script.environment = split(arena, sql_column_bytes(get, 3), &script.environment_count);
    sqlite3_reset(get);
    *out_script = script;
    return 0;
}
