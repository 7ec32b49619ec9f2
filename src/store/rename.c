/* The name of a user has changed: its rows get the new one, so that associations, shares and usage stay those of the
 * user. Lists in which an administrator has written the name (user_lists of partitions, rules of quotas) stay as they
 * are. */
#include <string.h>

#include "store/internal.h"

static const char conflict_query[] =
    "SELECT (SELECT count(*) FROM association WHERE user = ?1 AND deleted_us IS NULL)"
    " + (SELECT count(*) FROM owner_usage WHERE user = ?1) + (SELECT count(*) FROM user_policy WHERE name = ?1)"
    " + (SELECT count(*) FROM pruned_usage WHERE user = ?1)";

/* ?1: the old name, ?2: the new one. */
static const char *const updates[] = {
    "UPDATE association SET user = ?2 WHERE user = ?1",
    "UPDATE owner_usage SET user = ?2 WHERE user = ?1",
    "UPDATE user_policy SET name = ?2 WHERE name = ?1",
    "UPDATE pruned_usage SET user = ?2 WHERE user = ?1",
};

int store_served_user(struct store *s, uint32_t *out_uid, char out_name[STORE_USER_SIZE], struct err *e)
{
    sqlite3_stmt *row = sql_prepare(s->db, "SELECT served_uid, served_user FROM counters", e);
    if (row == NULL) return -1;
    int result = sql_step(row, e);
    out_name[0] = '\0';
    if (result == 1 && !sql_column_is_null(row, 0)) {
        *out_uid = (uint32_t)sqlite3_column_int64(row, 0);
        text_format(out_name, STORE_USER_SIZE, "%s", sql_column_text(row, 1));
    }
    sqlite3_finalize(row);
    return result < 0 ? -1 : 0;
}

static int has_conflict(struct store *s, const char *name, bool *out, struct err *e)
{
    sqlite3_stmt *query = sql_prepare(s->db, conflict_query, e);
    if (query == NULL) return -1;
    sql_bind_text(query, 1, name);
    int result = sql_step(query, e);
    if (result == 1) *out = sqlite3_column_int64(query, 0) > 0;
    sqlite3_finalize(query);
    return result < 0 ? -1 : 0;
}

static int rename_rows(struct store *s, const char *old, const char *new, struct err *e)
{
    for (size_t i = 0; i < sizeof updates / sizeof *updates; i++) {
        sqlite3_stmt *update = sql_prepare(s->db, updates[i], e);
        if (update == NULL) return -1;
        sql_bind_text(update, 1, old);
        sql_bind_text(update, 2, new);
        int result = sql_step(update, e);
        sqlite3_finalize(update);
        if (result != 0) return -1;
    }
    return 0;
}

/* A private instance runs all jobs as its user. Those of a backup that is restored under another uid would be refused
 * when they start, and be lost. ?1: the uid, ?2: the gid. */
static const char adoption[] = "UPDATE job SET uid = ?1, gid = ?2 WHERE ended_us IS NULL AND uid <> ?1"
                               " AND uid = (SELECT served_uid FROM counters)";

static int adopt_jobs(struct store *s, uint32_t uid, uint32_t gid, struct err *e)
{
    sqlite3_stmt *update = sql_prepare(s->db, adoption, e);
    if (update == NULL) return -1;
    sql_bind_int(update, 1, uid);
    sql_bind_int(update, 2, gid);
    int result = sql_step(update, e);
    sqlite3_finalize(update);
    return result;
}

static int put_user(struct store *s, uint32_t uid, const char *name, struct err *e)
{
    sqlite3_stmt *put =
        sql_prepare(s->db, "UPDATE counters SET served_uid = ?1, served_user = ?2, commit_number = ?3", e);
    if (put == NULL) return -1;
    sql_bind_int(put, 1, uid);
    sql_bind_text(put, 2, name);
    sql_bind_int(put, 3, (int64_t)s->commit_number + 1);
    int result = sql_step(put, e);
    sqlite3_finalize(put);
    return result;
}

int store_serve_user(struct store *s, uint32_t uid, uint32_t gid, const char *name, const char *old_name,
                     const struct audit_entry *audit, bool *out_renamed, struct err *e)
{
    bool is_taken = false;
    *out_renamed = false;
    if (old_name != NULL && has_conflict(s, name, &is_taken, e) != 0) return -1;
    bool renames = old_name != NULL && !is_taken;
    if (commit_begin(s, e) != 0) return -1;
    int result = renames ? rename_rows(s, old_name, name, e) : 0;
    if (result == 0) result = adopt_jobs(s, uid, gid, e);
    if (result == 0) result = put_user(s, uid, name, e);
    if (result == 0 && renames) result = audit_write(s, audit, e);
    if (commit_end(s, result, e) != 0) return -1;
    s->commit_number++;
    *out_renamed = renames;
    return 0;
}

/* --- the users of a system instance ------------------------------------------------------------------------------- */

int store_known_users(struct store *s, struct arena *arena, struct store_known_user **out_users, uint32_t *out_count,
                      struct err *e)
{
    struct {
        ARRAY(struct store_known_user) rows;
    } all = {0};
    sqlite3_stmt *row = sql_prepare(s->db, "SELECT uid, name, home, is_removed FROM known_user", e);
    if (row == NULL) return -1;
    int result;
    while ((result = sql_step(row, e)) == 1) {
        *array_add(&all.rows) = (struct store_known_user){.uid = (uint32_t)sqlite3_column_int64(row, 0),
                                                          .name = arena_copy(arena, str(sql_column_text(row, 1))),
                                                          .home = arena_copy(arena, str(sql_column_text(row, 2))),
                                                          .is_removed = sqlite3_column_int(row, 3) != 0};
    }
    sqlite3_finalize(row);
    *out_count = all.rows.count;
    *out_users = arena_alloc(arena, (all.rows.count + (size_t)1) * sizeof **out_users);
    for (uint32_t i = 0; i < all.rows.count; i++) (*out_users)[i] = all.rows.items[i];
    array_release(&all.rows);
    return result < 0 ? -1 : 0;
}

int store_put_known_users(struct store *s, const struct store_known_user *users, uint32_t count, struct err *e)
{
    int result = 0;
    if (commit_begin(s, e) != 0) return -1;
    for (uint32_t i = 0; i < count && result == 0; i++) result = known_user_write(s, &users[i], e);
    return commit_end(s, result, e);
}

static int count_commit(struct store *s, struct err *e)
{
    sqlite3_stmt *put = sql_prepare(s->db, "UPDATE counters SET commit_number = ?1", e);
    if (put == NULL) return -1;
    sql_bind_int(put, 1, (int64_t)s->commit_number + 1);
    int result = sql_step(put, e);
    sqlite3_finalize(put);
    return result;
}

int store_rename_user(struct store *s, const struct store_known_user *user, const char *old_name,
                      const struct audit_entry *audit, bool *out_renamed, struct err *e)
{
    bool is_taken = false;
    *out_renamed = false;
    if (has_conflict(s, user->name, &is_taken, e) != 0 || commit_begin(s, e) != 0) return -1;
    int result = is_taken ? 0 : rename_rows(s, old_name, user->name, e);
    if (result == 0) result = known_user_write(s, user, e);
    if (result == 0 && !is_taken) result = audit_write(s, audit, e);
    if (result == 0) result = count_commit(s, e);
    if (commit_end(s, result, e) != 0) return -1;
    s->commit_number++;
    *out_renamed = !is_taken;
    return 0;
}
