/* Uploads: long contents are stored in pieces, before the commit of the job that has them. So the commit is small.
 *
 *     content         an id, the hash of all bytes, the number of pieces
 *     content_piece   the bytes
 *     loose_content   a mark: no job has this content yet, or any more
 *
 *     piece, commit    piece, commit    ...    job, commit: removes the mark
 *
 * Invariants
 *   1. A content that an upload stores, or found stored, is marked from the first commit that has to do with it to the
 *      commit of its job. A mark keeps a prune from removing the content (prune.c).
 *   2. What is marked while no upload is in progress belongs to no job, or only the mark is too much:
 *      store_remove_loose removes it, a piece in each commit. This is so after a crash, after an upload whose job was
 *      refused, and after a prune.
 *   3. A content that is marked is never taken for stored: its pieces may not be complete.
 *
 * An equal content is found by its hash, and compared piece by piece under a mark. If it differs, this one is stored
 * beside it. */
#include <string.h>

#include "base/ensure.h"
#include "base/hash.h"
#include "store/internal.h"

enum { CONTENTS = 3, STEP_PIECES = 2 };

enum upload_stage { UPLOAD_SEARCHES, UPLOAD_COMPARES, UPLOAD_WRITES, UPLOAD_DONE };

/* One of the three contents. */
struct upload_part {
    struct str bytes;
    enum upload_stage stage; /* UPLOAD_DONE: also of one that is not long */
    int64_t hash, id;        /* id: of the content, once it has a row that is marked; else 0 */
    uint32_t next;           /* the piece to compare or to write */
};

struct store_upload {
    struct arena arena;
    const char *script_name;
    struct upload_part parts[CONTENTS]; /* script, arguments, environment */
};

static bool is_long(size_t length)
{
    return length > STORE_PIECE_BYTES;
}

static size_t joined_length(const struct str *list, uint32_t count)
{
    size_t length = count;
    for (uint32_t i = 0; i < count; i++) length += list[i].length;
    return length;
}

bool store_script_is_long(const struct job_script *script)
{
    return is_long(script->script.length) || is_long(joined_length(script->arguments, script->argument_count)) ||
           is_long(joined_length(script->environment, script->environment_count));
}

struct store_upload *store_upload_prepare(const struct job_script *script)
{
    struct store_upload *u = mem_resize(NULL, 0, sizeof *u);
    *u = (struct store_upload){.script_name = script->script_name};
    u->parts[0].bytes = script->script;
    u->parts[1].bytes = script_join(&u->arena, script->arguments, script->argument_count);
    u->parts[2].bytes = script_join(&u->arena, script->environment, script->environment_count);
    for (int i = 0; i < CONTENTS; i++) {
        struct upload_part *part = &u->parts[i];
        part->stage = is_long(part->bytes.length) ? UPLOAD_SEARCHES : UPLOAD_DONE;
        if (is_long(part->bytes.length)) part->hash = (int64_t)hash_bytes(part->bytes.text, part->bytes.length, 0);
    }
    return u;
}

void store_upload_free(struct store_upload *u)
{
    if (u == NULL) return;
    arena_release(&u->arena);
    mem_free(u);
}

static uint32_t piece_count(const struct upload_part *part)
{
    return (uint32_t)((part->bytes.length + STORE_PIECE_BYTES - 1) / STORE_PIECE_BYTES);
}

static struct str piece_of(const struct upload_part *part, uint32_t index)
{
    size_t begin = (size_t)index * STORE_PIECE_BYTES, left = part->bytes.length - begin;
    return (struct str){part->bytes.text + begin, left < STORE_PIECE_BYTES ? left : STORE_PIECE_BYTES};
}

static int mark(struct store *s, int64_t content_id, struct err *e)
{
    sql_bind_int(s->statements[PUT_LOOSE], 1, content_id);
    return sql_step(s->statements[PUT_LOOSE], e);
}

static int begin_writing(struct store *s, struct upload_part *part, struct err *e)
{
    sqlite3_stmt *put = s->statements[PUT_CONTENT];
    sql_bind_int(put, 1, part->hash);
    sql_bind_bytes(put, 2, str(""));
    sql_bind_int(put, 3, piece_count(part));
    if (sql_step(put, e) != 0) return -1;
    part->id = sqlite3_last_insert_rowid(s->db);
    part->stage = UPLOAD_WRITES;
    part->next = 0;
    return mark(s, part->id, e);
}

static int search(struct store *s, struct upload_part *part, struct err *e)
{
    sqlite3_stmt *find = s->statements[FIND_LONG_CONTENT];
    sql_bind_int(find, 1, part->hash);
    sql_bind_int(find, 2, piece_count(part));
    int found = sql_step(find, e);
    if (found < 0) return -1;
    if (found == 0) return begin_writing(s, part, e);
    part->id = sqlite3_column_int64(find, 0);
    sqlite3_reset(find);
    part->stage = UPLOAD_COMPARES;
    part->next = 0;
    return mark(s, part->id, e);
}

/* The mark of a content that differs is left: it will be taken for one that is not needed any more. */
static int compare(struct store *s, struct upload_part *part, struct err *e)
{
    sqlite3_stmt *get = s->statements[GET_PIECE];
    sql_bind_int(get, 1, part->id);
    sql_bind_int(get, 2, part->next);
    int found = sql_step(get, e);
    if (found < 0) return -1;
    struct str stored = found == 1 ? sql_column_bytes(get, 0) : str(""), piece = piece_of(part, part->next);
    bool is_equal = stored.length == piece.length && memcmp(stored.text, piece.text, piece.length) == 0;
    if (found == 1) sqlite3_reset(get);
    if (!is_equal) return begin_writing(s, part, e);
    if (++part->next == piece_count(part)) part->stage = UPLOAD_DONE;
    return 0;
}

static int write_piece(struct store *s, struct upload_part *part, struct err *e)
{
    sqlite3_stmt *put = s->statements[PUT_PIECE];
    sql_bind_int(put, 1, part->id);
    sql_bind_int(put, 2, part->next);
    sql_bind_bytes(put, 3, piece_of(part, part->next));
    if (sql_step(put, e) != 0) return -1;
    if (++part->next == piece_count(part)) part->stage = UPLOAD_DONE;
    return 0;
}

static int advance(struct store *s, struct upload_part *part, struct err *e)
{
    switch (part->stage) {
    case UPLOAD_SEARCHES: return search(s, part, e);
    case UPLOAD_COMPARES: return compare(s, part, e);
    case UPLOAD_WRITES: return write_piece(s, part, e);
    case UPLOAD_DONE: break;
    }
    return 0;
}

/* The part to go on with; NULL: all are stored. */
static struct upload_part *next_part(struct store_upload *u)
{
    for (int i = 0; i < CONTENTS; i++) {
        if (u->parts[i].stage != UPLOAD_DONE) return &u->parts[i];
    }
    return NULL;
}

int store_upload_step(struct store *s, struct store_upload *u, struct err *e)
{
    if (next_part(u) == NULL) return 0;
    if (commit_begin(s, e) != 0) return -1;
    int result = 0;
    struct upload_part *part = next_part(u);
    for (int i = 0; i < STEP_PIECES && result == 0 && part != NULL; i++) {
        result = advance(s, part, e);
        part = next_part(u);
    }
    if (commit_end(s, result, e) != 0) return -1;
    checkpoint_if_due(s);
    return part != NULL ? 1 : 0;
}

static struct added_content added_content(struct store *s, const struct upload_part *part)
{
    ensure(part->stage == UPLOAD_DONE);
    if (part->id != 0) return (struct added_content){.id = part->id};
    return (struct added_content){.bytes = {arena_copy(&s->script_arena, part->bytes), part->bytes.length}};
}

void store_add_upload(struct store *s, uint32_t job_id, const struct store_upload *u)
{
    *array_add(&s->scripts) = (struct added_script){
        .job_id = job_id,
        .script_name = arena_copy(&s->script_arena, str(u->script_name)),
        .script = added_content(s, &u->parts[0]),
        .arguments = added_content(s, &u->parts[1]),
        .environment = added_content(s, &u->parts[2]),
    };
}

/* --- what no job has ---------------------------------------------------------------------------------------------- */

static int remove_by_id(struct store *s, enum store_statement which, int64_t id, struct err *e)
{
    sql_bind_int(s->statements[which], 1, id);
    return sql_step(s->statements[which], e);
}

static int remove_some(struct store *s, int64_t content_id, bool is_needed, struct err *e)
{
    bool has_pieces = !is_needed;
    for (int i = 0; i < STEP_PIECES && has_pieces; i++) {
        if (remove_by_id(s, REMOVE_PIECE, content_id, e) != 0) return -1;
        has_pieces = sqlite3_changes(s->db) > 0;
    }
    if (has_pieces) return 0;
    if (remove_by_id(s, REMOVE_LOOSE, content_id, e) != 0) return -1;
    return is_needed ? 0 : remove_by_id(s, REMOVE_CONTENT, content_id, e);
}

int store_remove_loose(struct store *s, struct err *e)
{
    sqlite3_stmt *get = s->statements[GET_LOOSE];
    int found = sql_step(get, e);
    if (found <= 0) return found;
    int64_t content_id = sqlite3_column_int64(get, 0);
    bool is_needed = sqlite3_column_int(get, 1) != 0;
    sqlite3_reset(get);
    if (commit_begin(s, e) != 0) return -1;
    if (commit_end(s, remove_some(s, content_id, is_needed, e), e) != 0) return -1;
    checkpoint_if_due(s);
    return 1;
}
