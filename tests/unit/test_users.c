/* Who a uid is, as far as a user database says it that is not always there. Clock and database are the test's. */
#include "dies.h"

#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "daemon/users.h"
#include "exec/clock.h"

static int64_t boot_s = 1000;
static struct user_lookup database;
static uint32_t lookup_count, answer_count;

int clock_gettime(clockid_t clock, struct timespec *out)
{
    if (clock != CLOCK_BOOTTIME) return (int)syscall(SYS_clock_gettime, clock, out);
    *out = (struct timespec){.tv_sec = boot_s};
    return 0;
}

void user_lookup_run(uid_t uid, const struct role_groups *roles, struct user_lookup *out)
{
    (void)uid, (void)roles;
    lookup_count++;
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
        cmocka_unit_test(an_answer_serves_for_ten_minutes),
        cmocka_unit_test(a_lookup_does_not_wait_for_the_pool),
        cmocka_unit_test(an_end_waits_for_lookups),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
