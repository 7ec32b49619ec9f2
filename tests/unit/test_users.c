/* Who a uid is, as far as a user database says it that is not always there. Clock and database are the test's. */
#include "dies.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "daemon/users.h"
#include "exec/clock.h"

static int64_t boot_s = 1000;
static struct user_lookup database;
static _Atomic uint32_t lookup_count;
static uint32_t answer_count;
static uv_sem_t answer_may_come; /* posted for each lookup of a database that hangs */
static _Atomic bool is_hanging;

int clock_gettime(clockid_t clock, struct timespec *out)
{
    if (clock != CLOCK_BOOTTIME) return (int)syscall(SYS_clock_gettime, clock, out);
    *out = (struct timespec){.tv_sec = boot_s};
    return 0;
}

void user_lookup_run(uid_t uid, const struct role_groups *roles, struct user_lookup *out)
{
    (void)uid, (void)roles;
    atomic_fetch_add(&lookup_count, 1);
    if (is_hanging) uv_sem_wait(&answer_may_come);
    *out = database;
    if (database.result == USER_FOUND) *array_add(&out->groups.list) = 100;
}

void user_lookup_release(struct user_lookup *lookup)
{
    array_release(&lookup->groups.list);
}

static void count_answer(void *context)
{
    (void)context;
    answer_count++;
}

/* Asks until no thread asks any more. Returns what users_find does then. */
static int find(uv_loop_t *loop, struct users *u, struct actor *out, struct err *e)
{
    static struct arena arena;
    int result = users_find(u, 1000, 100, &arena, out, e);
    uv_run(loop, UV_RUN_DEFAULT);
    if (result == 1) result = users_find(u, 1000, 100, &arena, out, e);
    arena_release(&arena);
    return result;
}

static void an_answer_serves_for_ten_minutes(void **state)
{
    (void)state;
    uv_loop_t loop;
    struct actor actor;
    struct err e = {0};
    assert_int_equal(uv_loop_init(&loop), 0);
    struct own_threads threads = {.loop = &loop};
    struct users *u = users_open(&threads, count_answer, NULL);
    database = (struct user_lookup){.result = USER_FOUND, .name = "anna", .role = ROLE_ADMINISTRATOR};
    assert_int_equal(find(&loop, u, &actor, &e), 0);
    assert_int_equal(actor.role, ROLE_ADMINISTRATOR);
    assert_int_equal(lookup_count, 1);
    database = (struct user_lookup){.result = USER_UNREACHABLE, .error = "no answer"};
    for (int64_t end_s = boot_s + USERS_OLD_S; boot_s < end_s; boot_s += 50)
        assert_int_equal(find(&loop, u, &actor, &e), 0);
    assert_true(lookup_count > 5 && answer_count == lookup_count);
    for (int i = 0; i < 20; i++, boot_s += 300) {
        e = (struct err){0};
        assert_int_equal(find(&loop, u, &actor, &e), -1);
        assert_int_equal(e.code, ERR_UNAVAILABLE);
    }
    database = (struct user_lookup){.result = USER_FOUND, .name = "anna", .role = ROLE_USER};
    boot_s += USERS_OLD_S;
    assert_int_equal(find(&loop, u, &actor, &e), 0);
    assert_int_equal(actor.role, ROLE_USER);
    users_close(u);
    uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&loop), 0);
}

/* --- a database that hangs ---------------------------------------------------------------------------------------- */

static void end_hang(uv_loop_t *loop)
{
    is_hanging = false;
    for (uint32_t i = 0; i < lookup_count; i++) uv_sem_post(&answer_may_come);
    uv_run(loop, UV_RUN_DEFAULT);
}

static void check_refused(struct users *u, uint32_t uid, struct arena *arena)
{
    struct actor actor;
    struct err e = {0};
    assert_int_equal(users_find(u, uid, 100, arena, &actor, &e), -1);
    assert_int_equal(e.code, ERR_UNAVAILABLE);
    assert_non_null(strstr(ERR_SENTENCE(&e), "the user database has not said for 10 s who uid"));
}

/* Clients wait for a bounded time, also those whose lookup no thread has begun. What was known serves on, until it is
 * too old. Root needs no answer. */
static void a_database_that_hangs_refuses_in_time(void **state)
{
    (void)state;
    enum { UIDS = 40 };
    uv_loop_t loop;
    struct arena arena = {0};
    struct actor actor;
    struct err e = {0};
    assert_int_equal(uv_loop_init(&loop), 0);
    assert_int_equal(uv_sem_init(&answer_may_come, 0), 0);
    struct own_threads threads = {.loop = &loop};
    struct users *u = users_open(&threads, count_answer, NULL);
    database = (struct user_lookup){.result = USER_FOUND, .name = "anna", .role = ROLE_OPERATOR};
    assert_int_equal(find(&loop, u, &actor, &e), 0);
    is_hanging = true;
    boot_s += USERS_FRESH_S;
    assert_int_equal(users_find(u, 1000, 100, &arena, &actor, &e), 0);
    assert_int_equal(users_find(u, 0, 0, &arena, &actor, &e), 1);
    for (uint32_t i = 0; i < UIDS; i++) assert_int_equal(users_find(u, 2000 + i, 100, &arena, &actor, &e), 1);
    boot_s += USERS_WAIT_S - 1;
    assert_int_equal(users_find(u, 2000, 100, &arena, &actor, &e), 1);
    uint32_t before = answer_count;
    boot_s += 1;
    while (answer_count == before) uv_run(&loop, UV_RUN_ONCE); /* those that wait are looked at again */
    for (uint32_t i = 0; i < UIDS; i++) check_refused(u, 2000 + i, &arena);
    assert_int_equal(users_find(u, 0, 0, &arena, &actor, &e), 0);
    assert_true(actor.uid == 0 && actor.gid == 0 && actor.role == ROLE_ADMINISTRATOR);
    assert_int_equal(users_find(u, 1000, 100, &arena, &actor, &e), 0);
    assert_int_equal(actor.role, ROLE_OPERATOR);
    boot_s += USERS_OLD_S;
    check_refused(u, 1000, &arena);
    end_hang(&loop);
    assert_int_equal(users_find(u, 2000 + UIDS - 1, 100, &arena, &actor, &e), 0);
    users_close(u);
    uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&loop), 0);
    uv_sem_destroy(&answer_may_come);
    arena_release(&arena);
}

/* A role lasts while the groups of roles cannot be asked for. A user who was not known has none until then. */
static void a_role_serves_on_without_its_group(void **state)
{
    (void)state;
    uv_loop_t loop;
    struct actor actor;
    struct err e = {0};
    assert_int_equal(uv_loop_init(&loop), 0);
    struct own_threads threads = {.loop = &loop};
    struct users *u = users_open(&threads, count_answer, NULL);
    database = (struct user_lookup){.result = USER_FOUND, .name = "anna", .role = ROLE_USER, .is_role_unsure = true};
    assert_int_equal(find(&loop, u, &actor, &e), 0);
    assert_int_equal(actor.role, ROLE_USER);
    database = (struct user_lookup){.result = USER_FOUND, .name = "anna", .role = ROLE_ADMINISTRATOR};
    boot_s += USERS_RETRY_S; /* not only after a minute */
    assert_int_equal(find(&loop, u, &actor, &e), 0);
    assert_int_equal(find(&loop, u, &actor, &e), 0);
    assert_int_equal(actor.role, ROLE_ADMINISTRATOR);
    database = (struct user_lookup){.result = USER_FOUND, .name = "anna", .role = ROLE_USER, .is_role_unsure = true};
    for (int64_t end_s = boot_s + USERS_OLD_S - 1; boot_s < end_s; boot_s += 50) {
        assert_int_equal(find(&loop, u, &actor, &e), 0);
        assert_int_equal(actor.role, ROLE_ADMINISTRATOR);
    }
    boot_s += USERS_OLD_S;
    assert_int_equal(find(&loop, u, &actor, &e), 0);
    assert_int_equal(actor.role, ROLE_USER);
    users_close(u);
    uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&loop), 0);
}

/* The end of a daemon does not wait for a database that hangs. */
static void an_end_leaves_lookups_that_hang(void **state)
{
    (void)state;
    uv_loop_t loop;
    struct arena arena = {0};
    struct actor actor;
    struct err e = {0};
    assert_int_equal(uv_loop_init(&loop), 0);
    assert_int_equal(uv_sem_init(&answer_may_come, 0), 0);
    struct own_threads threads = {.loop = &loop};
    struct users *u = users_open(&threads, count_answer, NULL);
    is_hanging = true;
    assert_int_equal(users_find(u, 1000, 100, &arena, &actor, &e), 1);
    users_close(u);
    own_threads_end(&threads);
    assert_null(threads.first);
    uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&loop), 0); /* it has no handle of the thread's any more */
    is_hanging = false;
    arena_release(&arena);
}

/* --- the pool ----------------------------------------------------------------------------------------------------- */

enum { POOL_THREADS = 4, SLOW_WORKS = 2 * POOL_THREADS };

static uv_sem_t slow_may_end;

static void work_slowly(uv_work_t *work)
{
    (void)work;
    uv_sem_wait(&slow_may_end);
}

static void stop_waiting(uv_timer_t *timer)
{
    *(bool *)timer->data = true;
}

/* Long bodies and plans keep all threads of libuv's pool: a client that is not known yet does not wait for them. */
static void a_lookup_does_not_wait_for_the_pool(void **state)
{
    (void)state;
    enum { PATIENCE_MS = 20000 };
    uv_loop_t loop;
    uv_timer_t timer;
    uv_work_t slow[SLOW_WORKS];
    struct own_threads threads = {.loop = &loop};
    struct arena arena = {0};
    struct actor actor;
    struct err e = {0};
    bool is_late = false;
    assert_int_equal(uv_loop_init(&loop), 0);
    assert_int_equal(uv_sem_init(&slow_may_end, 0), 0);
    uv_timer_init(&loop, &timer);
    timer.data = &is_late;
    uv_timer_start(&timer, stop_waiting, PATIENCE_MS, 0);
    for (int i = 0; i < SLOW_WORKS; i++) uv_queue_work(&loop, &slow[i], work_slowly, NULL);
    struct users *u = users_open(&threads, count_answer, NULL);
    database = (struct user_lookup){.result = USER_FOUND, .name = "anna", .role = ROLE_USER};
    while (!is_late && users_find(u, 1000, 100, &arena, &actor, &e) == 1) uv_run(&loop, UV_RUN_ONCE);
    assert_false(is_late);
    assert_string_equal(actor.user, "anna");
    for (int i = 0; i < SLOW_WORKS; i++) uv_sem_post(&slow_may_end);
    users_close(u);
    uv_close((uv_handle_t *)&timer, NULL);
    uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&loop), 0);
    uv_sem_destroy(&slow_may_end);
    arena_release(&arena);
}

static void an_end_waits_for_lookups(void **state)
{
    (void)state;
    uv_loop_t loop;
    struct own_threads threads = {.loop = &loop};
    struct arena arena = {0};
    struct actor actor;
    struct err e = {0};
    uint32_t before = lookup_count;
    assert_int_equal(uv_loop_init(&loop), 0);
    struct users *u = users_open(&threads, count_answer, NULL);
    assert_int_equal(users_find(u, 1000, 100, &arena, &actor, &e), 1);
    assert_int_equal(users_find(u, 1001, 100, &arena, &actor, &e), 1);
    users_close(u);
    own_threads_end(&threads);
    assert_null(threads.first);
    assert_int_equal(lookup_count, before + 2);
    uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&loop), 0);
    arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_answer_serves_for_ten_minutes),   cmocka_unit_test(a_database_that_hangs_refuses_in_time),
        cmocka_unit_test(a_role_serves_on_without_its_group), cmocka_unit_test(a_lookup_does_not_wait_for_the_pool),
        cmocka_unit_test(an_end_waits_for_lookups),           cmocka_unit_test(an_end_leaves_lookups_that_hang),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
