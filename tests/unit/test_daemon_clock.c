/* The clock of the daemon: real, and virtual. */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/quantity.h"
#include "daemon/daemon_clock.h"
#include "dies.h"
#include "exec/clock.h"

#define HOUR_US (3600 * US_PER_S)

static void sleep_ms(long ms)
{
    const struct timespec pause = {0, ms * 1000000};
    nanosleep(&pause, NULL);
}

static void make_directory(char path[PATH_MAX])
{
    snprintf(path, PATH_MAX, "/tmp/fairlead-clock.XXXXXX");
    assert_non_null(mkdtemp(path));
}

static void remove_directory(const char *path)
{
    char file[PATH_MAX + 20];
    snprintf(file, sizeof file, "%s/pretend.clock", path);
    unlink(file);
    assert_int_equal(rmdir(path), 0);
}

static void test_the_real_clock(void **state)
{
    struct daemon_clock c = {0};
    (void)state;
    int64_t before_us = clock_wall_us(), now_us = daemon_clock_us(&c);
    assert_true(before_us <= now_us && now_us <= clock_wall_us());
    daemon_clock_not_before(&c, now_us + HOUR_US); /* people set it */
    assert_true(daemon_clock_us(&c) < now_us + HOUR_US);
    assert_int_equal(daemon_clock_wait_ms(&c, 2500), 3);
    assert_int_equal(daemon_clock_wait_ms(&c, 0), 1);
    assert_int_equal(daemon_clock_wait_ms(&c, -HOUR_US), 1);
    daemon_clock_close(&c);
}

static void test_virtual_time(void **state)
{
    struct daemon_clock c;
    struct err e;
    char path[PATH_MAX];
    (void)state;
    make_directory(path);
    assert_int_equal(daemon_clock_open(&c, path, 1000, &e), 0);
    assert_int_equal(daemon_clock_wait_ms(&c, HOUR_US), 3601);
    int64_t begin_us = clock_read_us(CLOCK_MONOTONIC), first_us = daemon_clock_us(&c);
    assert_true(first_us >= clock_wall_us() - 10 * US_PER_S);
    sleep_ms(50);
    int64_t passed_us = daemon_clock_us(&c) - first_us;
    assert_true(passed_us >= 50 * US_PER_S);
    assert_true(passed_us <= (clock_read_us(CLOCK_MONOTONIC) - begin_us) * 1000 + US_PER_S);
    daemon_clock_not_before(&c, first_us); /* it is later */
    assert_true(daemon_clock_us(&c) >= first_us + passed_us);
    daemon_clock_not_before(&c, first_us + 100 * HOUR_US);
    int64_t last_us = daemon_clock_us(&c);
    assert_true(last_us >= first_us + 100 * HOUR_US);
    daemon_clock_close(&c);
    /* It stands still until it is opened again, and may have another speed. */
    sleep_ms(50);
    assert_int_equal(daemon_clock_open(&c, path, 1, &e), 0);
    int64_t again_us = daemon_clock_us(&c);
    assert_true(again_us >= last_us && again_us <= last_us + 20 * US_PER_S);
    daemon_clock_close(&c);
    remove_directory(path);
}

static void test_a_damaged_file(void **state)
{
    static const char *const texts[] = {"", "abc\n", "-5\n", "99999999999999999999\n"};
    struct daemon_clock c;
    struct err e;
    char path[PATH_MAX], file[PATH_MAX + 20];
    (void)state;
    make_directory(path);
    snprintf(file, sizeof file, "%s/pretend.clock", path);
    for (size_t i = 0; i < COUNT(texts); i++) {
        FILE *f = fopen(file, "we");
        assert_true(f != NULL && fputs(texts[i], f) >= 0 && fclose(f) == 0);
        assert_int_equal(daemon_clock_open(&c, path, 2, &e), 0); /* the time of day */
        int64_t off_us = daemon_clock_us(&c) - clock_wall_us();
        assert_true(off_us > -10 * US_PER_S && off_us < 20 * US_PER_S);
        daemon_clock_close(&c);
    }
    unlink(file);
    assert_int_equal(symlink("/tmp", file), 0);
    assert_int_equal(daemon_clock_open(&c, path, 2, &e), -1);
    assert_int_equal(e.code, ERR_IO);
    remove_directory(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_real_clock),
        cmocka_unit_test(test_virtual_time),
        cmocka_unit_test(test_a_damaged_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
