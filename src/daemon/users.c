/*  I1  At most LOOKUPS_MAX threads ask, each for one uid. The other uids wait in order.
 *  I2  An answer is that of the role groups that were in force when it was asked for; if these have changed since, it
 *      is dropped and asked for again.
 *  I3  The timer runs while a thread asks, so that a request that waits is looked at again. */
#include "daemon/users.h"

#include <string.h>

#include "base/ensure.h"
#include "base/map.h"
#include "base/quantity.h"
#include "exec/clock.h"

/* Not so few that some answers that do not come hold up all others. */
enum { LOOKUPS_MAX = 8, LATE_LOOK_MS = 1000 };

struct user_entry {
    uint32_t uid;
    bool is_asked;         /* it is in the queue, or a thread asks */
    int64_t asking_us;     /* time since boot since when, if is_asked */
    int64_t asked_us;      /* time since boot of the last answer or failure; 0: none that counts */
    int64_t answered_us;   /* of the last answer of the database, likewise */
    int64_t unknown_us;    /* likewise: when it was last among the answers that there is no such user; 0: never */
    struct user_lookup is; /* the last answer that the database gave */
    struct err error;      /* code 0: the last answer was one of the database */
};

struct lookup_work {
    struct users *users; /* NULL: closed */
    uint32_t uid, edition;
    struct role_groups roles;
    struct user_lookup answer;
};

struct users {
    struct own_threads *threads;
    void (*on_answer)(void *context);
    void *context;
    struct role_groups roles;
    uint32_t edition; /* of roles */
    struct map index_by_uid;
    ARRAY(struct user_entry) list;
    ARRAY(uint32_t) queue;   /* uids to ask for, from queue_first on */
    ARRAY(uint32_t) answers; /* uids of which the database said something, for users_next_answer */
    uint32_t queue_first;
    struct lookup_work *running[LOOKUPS_MAX];
    uv_timer_t *late; /* I3 */
};

static struct user_entry *entry_of(struct users *u, uint32_t uid)
{
    uint32_t index = map_get_u64(&u->index_by_uid, uid);
    if (index != NONE) return &u->list.items[index];
    map_set_u64(&u->index_by_uid, uid, u->list.count);
    struct user_entry *added = array_add(&u->list);
    *added = (struct user_entry){.uid = uid};
    return added;
}

/* Whether a time since boot was less than max_s ago. */
static bool is_younger(int64_t at_us, int64_t max_s)
{
    return at_us > 0 && clock_boot_us() - at_us < max_s * US_PER_S;
}

/* --- asking ------------------------------------------------------------------------------------------------------- */

static void start_lookups(struct users *u);

static bool is_asked_in_vain(const struct user_entry *entry)
{
    return entry->is_asked && !is_younger(entry->asking_us, USERS_WAIT_S);
}

static void look_up_in_thread(void *work)
{
    struct lookup_work *w = work;
    user_lookup_run(w->uid, &w->roles, &w->answer);
}

static bool knows_name(const struct user_entry *entry, const char *name)
{
    return entry->is.result == USER_FOUND && is_younger(entry->answered_us, USERS_OLD_S) &&
           strcmp(entry->is.name, name) == 0;
}

static void keep_answer(struct users *u, struct user_entry *entry, struct lookup_work *w)
{
    entry->is_asked = false;
    entry->asked_us = clock_boot_us();
    entry->error = (struct err){0};
    if (w->answer.result == USER_UNREACHABLE || w->answer.is_role_unsure) {
        err_set(&entry->error, ERR_UNAVAILABLE, "the user database does not say who uid %u is: %s", w->uid,
                w->answer.error);
        if (w->answer.result == USER_UNREACHABLE || knows_name(entry, w->answer.name)) return; /* that serves on */
    }
    entry->answered_us = entry->asked_us;
    user_lookup_release(&entry->is);
    entry->is = w->answer;
    w->answer = (struct user_lookup){0};
    bool is_unknown = entry->is.result == USER_UNKNOWN;
    if (is_unknown) err_set(&entry->error, ERR_DENIED, "this machine has no user with uid %u", w->uid);
    bool is_repeated =
        is_unknown && entry->unknown_us > 0 && entry->answered_us < entry->unknown_us + USERS_FRESH_S * US_PER_S;
    if (is_repeated) return; /* a uid that asks often is not looked up more often by those who count answers */
    entry->unknown_us = is_unknown ? entry->answered_us : 0;
    *array_add(&u->answers) = w->uid;
}

static void finish_in_loop(void *work)
{
    struct lookup_work *w = work;
    struct users *u = w->users;
    if (u != NULL) {
        for (int i = 0; i < LOOKUPS_MAX; i++) {
            if (u->running[i] == w) u->running[i] = NULL;
        }
        if (w->edition == u->edition)
            keep_answer(u, entry_of(u, w->uid), w);
        else
            *array_add(&u->queue) = w->uid; /* I2 */
        start_lookups(u);
        u->on_answer(u->context);
    }
    user_lookup_release(&w->answer);
    mem_free(w);
}

static bool is_running(const struct users *u)
{
    for (int i = 0; i < LOOKUPS_MAX; i++) {
        if (u->running[i] != NULL) return true;
    }
    return false;
}

static void on_late(uv_timer_t *timer)
{
    struct users *u = timer->data;
    bool is_overdue = false;
    for (uint32_t i = 0; i < u->list.count && !is_overdue; i++) is_overdue = is_asked_in_vain(&u->list.items[i]);
    if (is_overdue) u->on_answer(u->context);
}

static void start_lookups(struct users *u)
{
    for (int i = 0; i < LOOKUPS_MAX && u->queue_first < u->queue.count; i++) { /* I1 */
        if (u->running[i] != NULL) continue;
        struct lookup_work *w = mem_resize(NULL, 0, sizeof *w);
        *w = (struct lookup_work){
            .users = u, .uid = u->queue.items[u->queue_first++], .edition = u->edition, .roles = u->roles};
        u->running[i] = w;
        own_thread_ask(u->threads, look_up_in_thread, finish_in_loop, w);
    }
    if (!is_running(u))
        uv_timer_stop(u->late);
    else if (!uv_is_active((uv_handle_t *)u->late))
        uv_timer_start(u->late, on_late, LATE_LOOK_MS, LATE_LOOK_MS);
    if (u->queue_first < u->queue.count) return;
    array_clear(&u->queue);
    u->queue_first = 0;
}

static void ask(struct users *u, struct user_entry *entry)
{
    if (entry->is_asked) return;
    entry->is_asked = true;
    entry->asking_us = clock_boot_us();
    *array_add(&u->queue) = entry->uid;
    start_lookups(u);
}

/* --- answers ------------------------------------------------------------------------------------------------------ */

struct users *users_open(struct own_threads *threads, void (*on_answer)(void *context), void *context)
{
    struct users *u = mem_resize(NULL, 0, sizeof *u);
    *u = (struct users){.threads = threads, .on_answer = on_answer, .context = context};
    u->late = mem_resize(NULL, 0, sizeof *u->late);
    u->late->data = u;
    ensure(uv_timer_init(threads->loop, u->late) == 0);
    return u;
}

static void free_timer(uv_handle_t *timer)
{
    mem_free(timer);
}

void users_close(struct users *u)
{
    if (u == NULL) return;
    for (int i = 0; i < LOOKUPS_MAX; i++) {
        if (u->running[i] != NULL) u->running[i]->users = NULL;
    }
    uv_close((uv_handle_t *)u->late, free_timer);
    for (uint32_t i = 0; i < u->list.count; i++) user_lookup_release(&u->list.items[i].is);
    array_release(&u->list);
    array_release(&u->queue);
    array_release(&u->answers);
    map_release(&u->index_by_uid);
    mem_free(u);
}

void users_set_role_groups(struct users *u, const struct role_groups *roles)
{
    bool is_same = strcmp(u->roles.operators, roles->operators) == 0 &&
                   strcmp(u->roles.administrators, roles->administrators) == 0;
    if (is_same) return;
    u->roles = *roles;
    u->edition++;
    for (uint32_t i = 0; i < u->list.count; i++) u->list.items[i].asked_us = u->list.items[i].answered_us = 0;
}

static bool has_group(const struct user_lookup *user, uint32_t gid)
{
    for (uint32_t i = 0; i < user->groups.list.count; i++) {
        if (user->groups.list.items[i] == gid) return true;
    }
    return false;
}

/* Without the user database; administrators must be able to act when it does not answer. */
static int find_root(struct arena *arena, struct actor *out)
{
    *out = (struct actor){.user = arena_copy(arena, str("root")), .role = ROLE_ADMINISTRATOR};
    return 0;
}

static int find_unanswered(const struct user_entry *entry, struct arena *arena, struct actor *out, struct err *e)
{
    bool has_failed = entry->error.code == ERR_UNAVAILABLE && is_younger(entry->asked_us, USERS_OLD_S);
    if (!has_failed && !is_asked_in_vain(entry)) return 1;
    if (entry->uid == 0) return find_root(arena, out);
    if (has_failed)
        *e = entry->error;
    else
        err_set(e, ERR_UNAVAILABLE, "the user database has not said for %d s who uid %u is: try again later",
                USERS_WAIT_S, entry->uid);
    return -1;
}

int users_find(struct users *u, uint32_t uid, uint32_t gid, struct arena *arena, struct actor *out, struct err *e)
{
    struct user_entry *entry = entry_of(u, uid);
    bool has_failed = entry->error.code == ERR_UNAVAILABLE;
    bool is_unknown = !has_failed && entry->is.result == USER_UNKNOWN;
    bool is_answered = is_younger(entry->answered_us, is_unknown ? USERS_UNKNOWN_S : USERS_OLD_S);
    bool is_fresh = is_younger(entry->asked_us, has_failed ? USERS_RETRY_S : USERS_FRESH_S);
    if (!is_fresh || (is_unknown && !is_answered)) ask(u, entry);
    if (!is_answered) return find_unanswered(entry, arena, out, e);
    bool is_known = entry->is.result == USER_FOUND && entry->is.name[0] != '\0';
    if (!is_known && uid == 0) return find_root(arena, out);
    if (!is_known) {
        *e = entry->error;
        return -1;
    }
    *out = (struct actor){.uid = uid,
                          .gid = has_group(&entry->is, gid) ? gid : entry->is.groups.list.items[0],
                          .user = arena_copy(arena, str(entry->is.name)),
                          .role = entry->is.role};
    return 0;
}

void users_refresh(struct users *u, uint32_t uid)
{
    struct user_entry *entry = entry_of(u, uid);
    if (!is_younger(entry->asked_us, USERS_FRESH_S)) ask(u, entry);
}

bool users_next_answer(struct users *u, uint32_t *out_uid, const struct user_lookup **out_answer)
{
    if (u->answers.count == 0) return false;
    *out_uid = u->answers.items[--u->answers.count];
    *out_answer = &entry_of(u, *out_uid)->is;
    return true;
}
