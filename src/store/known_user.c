/* Rows of the uids that a system instance knows. */
#include "store/internal.h"

int known_user_write(struct store *s, const struct store_known_user *user, struct err *e)
{
    sqlite3_stmt *put = sql_prepare(s->db,
                                    "INSERT INTO known_user(uid, name, home, is_removed) VALUES(?1, ?2, ?3, ?4)"
                                    " ON CONFLICT(uid) DO UPDATE SET name = excluded.name, home = excluded.home,"
                                    " is_removed = excluded.is_removed",
                                    e);
    if (put == NULL) return -1;
    sql_bind_int(put, 1, user->uid);
    sql_bind_text(put, 2, user->name);
    sql_bind_text(put, 3, user->home);
    sql_bind_int(put, 4, user->is_removed);
    int result = sql_step(put, e);
    sqlite3_finalize(put);
    return result;
}

void store_add_known_user(struct store *s, const struct store_known_user *user)
{
    *array_add(&s->known_users) = *user;
}

int known_user_write_added(struct store *s, struct err *e)
{
    for (uint32_t i = 0; i < s->known_users.count; i++) {
        if (known_user_write(s, &s->known_users.items[i], e) != 0) return -1;
    }
    return 0;
}
