/* The schedule file: what is appended, its mode, rotation, and that what is in its way is logged once and blocks
 * nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/quantity.h"
#include "daemon/schedule_file.h"

#define NOW_US (1700000000 * US_PER_S)

/* A folder, and a log in it. */
struct place {
    char directory[32], path[64];
    int old_stderr;
    struct schedule_file file;
};

static void place_init(struct place *p)
{
    memset(p, 0, sizeof *p);
    strcpy(p->directory, "/tmp/fl-XXXXXX");
    assert_non_null(mkdtemp(p->directory));
    snprintf(p->path, sizeof p->path, "%s/log", p->directory);
    int log = open(p->path, O_RDWR | O_CREAT, 0600);
    p->old_stderr = dup(STDERR_FILENO);
    assert_true(log >= 0 && dup2(log, STDERR_FILENO) == STDERR_FILENO);
    close(log);
    snprintf(p->path, sizeof p->path, "%s/schedule", p->directory);
}

static void place_release(struct place *p)
{
    char command[64];
    dup2(p->old_stderr, STDERR_FILENO);
    close(p->old_stderr);
    snprintf(command, sizeof command, "rm -r %s", p->directory);
    assert_int_equal(system(command), 0);
}

static int log_lines(const struct place *p)
{
    char path[64], c;
    int count = 0;
    snprintf(path, sizeof path, "%s/log", p->directory);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    while (fread(&c, 1, 1, f) == 1) count += c == '\n';
    fclose(f);
    return count;
}

static const char *content(const char *path)
{
    static char text[200];
    FILE *f = fopen(path, "r");
    if (f == NULL) return "none";
    text[fread(text, 1, sizeof text - 1, f)] = '\0';
    fclose(f);
    return text;
}

static void append(struct place *p, const char *text, int64_t second)
{
    schedule_file_append(&p->file, p->directory, str(text), NOW_US + second * US_PER_S);
}

static void lines_are_appended(void **unused)
{
    (void)unused;
    struct place p;
    struct stat st;
    place_init(&p);
    append(&p, "", 0);
    assert_int_equal(access(p.path, F_OK), -1);
    append(&p, "a\n", 0);
    append(&p, "b\n", 0);
    assert_string_equal(content(p.path), "a\nb\n");
    assert_int_equal(stat(p.path, &st), 0);
    assert_int_equal(st.st_mode, S_IFREG | 0600);
    assert_int_equal(unlink(p.path), 0);
    append(&p, "c\n", 0);
    assert_string_equal(content(p.path), "c\n");
    assert_int_equal(log_lines(&p), 0);
    place_release(&p);
}

static void a_full_file_is_rotated(void **unused)
{
    (void)unused;
    struct place p;
    char old[80];
    struct stat st;
    place_init(&p);
    for (int i = 0; i < SCHEDULE_FILE_OLD_COUNT + 2; i++) {
        append(&p, "a\n", 0);
        assert_int_equal(truncate(p.path, SCHEDULE_FILE_BYTES_MAX - 2 - i), 0);
        append(&p, "b\n", 0); /* fits exactly the first time */
        assert_int_equal(stat(p.path, &st), 0);
        assert_int_equal(st.st_size, SCHEDULE_FILE_BYTES_MAX - i);
        append(&p, "filler", 0);
        append(&p, "c\n", 0);
        assert_true(stat(p.path, &st) == 0 && st.st_size < 10);
    }
    for (int i = 1; i <= SCHEDULE_FILE_OLD_COUNT + 1; i++) {
        snprintf(old, sizeof old, "%s.%d", p.path, i);
        assert_int_equal(access(old, F_OK), i <= SCHEDULE_FILE_OLD_COUNT ? 0 : -1);
    }
    assert_int_equal(log_lines(&p), 0);
    place_release(&p);
}

/* A pass whose lines do not all fit leaves none. */
static void a_full_disk_loses_whole_passes(void **unused)
{
    (void)unused;
    struct place p;
    struct rlimit before, small;
    place_init(&p);
    append(&p, "1234567\n", 0);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = (struct rlimit){12, before.rlim_max};
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    append(&p, "12345678\n", 0);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, handler);
    assert_string_equal(content(p.path), "1234567\n");
    append(&p, "8\n", 0);
    assert_string_equal(content(p.path), "1234567\n8\n");
    place_release(&p);
}

static void what_is_in_the_way_is_logged_once(void **unused)
{
    (void)unused;
    struct place p;
    place_init(&p);
    assert_int_equal(mkdir(p.path, 0700), 0);
    for (int second = 0; second < 3600; second += 600) append(&p, "a\n", second);
    assert_int_equal(log_lines(&p), 1);
    append(&p, "a\n", 3600);
    assert_int_equal(log_lines(&p), 2);
    assert_int_equal(rmdir(p.path), 0);
    assert_int_equal(mkfifo(p.path, 0600), 0); /* without a reader */
    append(&p, "a\n", 3601);
    assert_int_equal(log_lines(&p), 3);
    int reader = open(p.path, O_RDONLY | O_NONBLOCK);
    append(&p, "a\n", 3602);
    append(&p, "a\n", 3603);
    assert_int_equal(log_lines(&p), 4);
    close(reader);
    assert_int_equal(unlink(p.path), 0);
    append(&p, "a\n", 3604);
    assert_string_equal(content(p.path), "a\n");
    place_release(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_appended),
        cmocka_unit_test(a_full_file_is_rotated),
        cmocka_unit_test(a_full_disk_loses_whole_passes),
        cmocka_unit_test(what_is_in_the_way_is_logged_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
