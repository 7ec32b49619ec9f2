/* The commit log: what a text says of the commits after a number, whatever was lost or damaged in it. */
#include "dies.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "daemon/commit_log.h"

/* Commits 11 to 14: 12 starts a task, 13 ends it and its job, and 14 changes nothing that counts. */
static void add_commits(struct buf *text)
{
    commit_log_add_commit(text, 11, 5, 3);
    commit_log_add_task(text, str("job_id=4\tstate=1"));
    commit_log_add_commit(text, 12, 5, 4);
    commit_log_add_task(text, str("job_id=4\tstate=4"));
    commit_log_add_job(text, 4);
    commit_log_add_commit(text, 13, 5, 4);
    commit_log_add_commit(text, 14, 6, 4);
}

static void the_tail_after_a_number(void **state)
{
    (void)state;
    static const struct {
        uint64_t after, last;
        uint32_t tasks, jobs;
        bool is_complete;
    } rows[] = {{10, 14, 2, 1, true}, {11, 14, 2, 1, true}, {12, 14, 1, 1, true}, {13, 14, 0, 0, true},
                {14, 0, 0, 0, true},  {20, 0, 0, 0, true},  {9, 14, 2, 1, false}};
    struct buf text = {0};
    add_commits(&text);
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct commit_log_tail tail;
        commit_log_parse((struct str){text.text, text.length}, rows[i].after, &tail);
        assert_int_equal(tail.first, rows[i].after + 1);
        assert_int_equal(tail.last, rows[i].last);
        assert_int_equal(tail.tasks.count, rows[i].tasks);
        assert_int_equal(tail.ended_jobs.count, rows[i].jobs);
        assert_int_equal(tail.is_complete, rows[i].is_complete);
        if (rows[i].last != 0) assert_true(tail.next_job_id == 6 && tail.next_launch_id == 4);
        if (rows[i].jobs != 0) assert_int_equal(tail.ended_jobs.items[0], 4);
        commit_log_tail_release(&tail);
    }
    buf_release(&text);
}

/* Each bit of the text is changed in turn: the tail is never complete with other contents. */
static void a_changed_bit_is_noticed(void **state)
{
    (void)state;
    struct buf text = {0};
    add_commits(&text);
    for (size_t bit = 0; bit < text.length * 8; bit++) {
        struct commit_log_tail tail;
        text.text[bit / 8] ^= (char)(1 << bit % 8);
        commit_log_parse((struct str){text.text, text.length}, 10, &tail);
        assert_true(!tail.is_complete);
        commit_log_tail_release(&tail);
        text.text[bit / 8] ^= (char)(1 << bit % 8);
    }
    buf_release(&text);
}

/* The last write was cut off, or the daemon was killed after a commit and before its lines. */
static void what_was_not_written_whole(void **state)
{
    (void)state;
    struct buf text = {0};
    struct commit_log_tail tail;
    add_commits(&text);
    commit_log_add_task(&text, str("job_id=5\tstate=1"));
    commit_log_parse((struct str){text.text, text.length}, 10, &tail);
    assert_true(tail.is_complete && tail.last == 14 && tail.tasks.count == 2);
    commit_log_tail_release(&tail);
    commit_log_add_commit(&text, 16, 6, 5);
    commit_log_parse((struct str){text.text, text.length}, 10, &tail);
    assert_true(!tail.is_complete && tail.last == 16); /* 15 is missing in the log */
    commit_log_tail_release(&tail);
    commit_log_parse((struct str){text.text, text.length}, 15, &tail);
    assert_true(tail.is_complete && tail.last == 16); /* the database has 15 */
    commit_log_tail_release(&tail);
    buf_release(&text);
}

static void a_log_that_was_reset_after_the_database(void **state)
{
    (void)state;
    char directory[] = "/tmp/fairlead-log-XXXXXX";
    struct buf lines = {0};
    struct commit_log log = {0};
    struct commit_log_tail tail;
    struct err e;
    assert_non_null(mkdtemp(directory));
    assert_int_equal(commit_log_read(directory, 5, &tail, &e), 0);
    assert_true(tail.is_complete && tail.last == 0);
    commit_log_tail_release(&tail);
    assert_int_equal(commit_log_begin(&log, directory, "", 20, 9, 8, &e), 0);
    assert_int_equal(commit_log_read(directory, 20, &tail, &e), 0);
    assert_true(tail.is_complete && tail.last == 0);
    commit_log_tail_release(&tail);
    assert_int_equal(commit_log_read(directory, 5, &tail, &e), 0);
    assert_true(!tail.is_complete && tail.first == 6 && tail.last == 20);
    assert_true(tail.next_job_id == 9 && tail.next_launch_id == 8);
    commit_log_tail_release(&tail);
    commit_log_add_commit(&lines, 21, 6, 5);
    assert_int_equal(commit_log_append(&log, directory, &lines, &e), 0);
    assert_int_equal(commit_log_read(directory, 20, &tail, &e), 0);
    assert_true(tail.is_complete && tail.first == 21 && tail.last == 21 && tail.next_launch_id == 5);
    commit_log_tail_release(&tail);
    commit_log_close(&log);
    buf_release(&lines);
    char path[64];
    text_format(path, sizeof path, "%s/commits.log", directory);
    assert_int_equal(unlink(path) | rmdir(directory), 0);
}

static void append_commit(struct commit_log *log, const char *directory, uint64_t number)
{
    struct buf lines = {0};
    struct err e;
    commit_log_add_commit(&lines, number, 6, 5);
    assert_int_equal(commit_log_append(log, directory, &lines, &e), 0);
    buf_release(&lines);
}

static void check_tail(const char *directory, uint64_t first, uint64_t last)
{
    struct commit_log_tail tail;
    struct err e;
    assert_int_equal(commit_log_read(directory, first - 1, &tail, &e), 0);
    assert_true(tail.is_complete);
    assert_int_equal(tail.last, last);
    commit_log_tail_release(&tail);
}

/* The log stays open, but lines go to the file that is at its path when they are written. */
static void a_log_that_is_removed_or_replaced(void **state)
{
    (void)state;
    char directory[] = "/tmp/fairlead-log-XXXXXX", path[64], moved[64];
    struct commit_log log = {0};
    struct err e;
    assert_non_null(mkdtemp(directory));
    text_format(path, sizeof path, "%s/commits.log", directory);
    text_format(moved, sizeof moved, "%s/moved", directory);
    append_commit(&log, directory, 1);
    int fd = log.fd;
    append_commit(&log, directory, 2);
    assert_int_equal(log.fd, fd);
    check_tail(directory, 1, 2);
    assert_int_equal(rename(path, moved), 0);
    append_commit(&log, directory, 3);
    check_tail(directory, 3, 3);
    assert_int_equal(unlink(path), 0);
    append_commit(&log, directory, 4);
    check_tail(directory, 4, 4);
    assert_int_equal(commit_log_begin(&log, directory, "", 4, 6, 5, &e), 0);
    append_commit(&log, directory, 5);
    check_tail(directory, 5, 5);
    assert_int_equal(unlink(path) | symlink(moved, path), 0);
    assert_int_equal(commit_log_append(&log, directory, &(struct buf){0}, &e), -1);
    assert_int_equal(unlink(path) | unlink(moved) | rmdir(directory), 0);
    commit_log_close(&log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_tail_after_a_number),           cmocka_unit_test(a_changed_bit_is_noticed),
        cmocka_unit_test(what_was_not_written_whole),        cmocka_unit_test(a_log_that_was_reset_after_the_database),
        cmocka_unit_test(a_log_that_is_removed_or_replaced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
