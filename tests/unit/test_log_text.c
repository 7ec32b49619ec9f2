/* Lines of the record log: what is added is read, whatever is torn or damaged between. */
#include <string.h>

#include "dies.h"
#include "exec/launcher/log_text.h"
#include "exec/record.h"

static struct launch_record make_record(uint64_t id, enum launch_phase phase)
{
    struct launch_record record = {.id = id, .phase = phase, .at_us = 1732176300000000, .started_us = 1732176300000000};
    record.at_boot_us = 5000000;
    record.started_boot_us = 4000000;
    strcpy(record.boot, "boot");
    return record;
}

/* The ids of the records that a text has, in order. */
static void check_ids(const struct buf *text, const uint64_t *ids, size_t count)
{
    char copy[8192], *rest = copy;
    size_t left = text->length, found = 0;
    assert_true(text->length <= sizeof copy);
    memcpy(copy, text->text, text->length);
    for (struct str fields; (fields = log_text_next(&rest, &left)).text != NULL; found++) {
        struct launch_record record;
        assert_int_equal(record_parse(fields, &record, NULL), 0);
        assert_true(found < count && record.id == ids[found]);
    }
    assert_int_equal(found, count);
}

static void test_a_record_is_read_as_it_was_added(void **state)
{
    (void)state;
    struct buf text = {0};
    struct launch_record record = make_record(7, LAUNCH_ENDED), read;
    launch_record_set_detail(&record, "a = b\tc\nd"); /* one printable line */
    log_text_add_record(&text, &record);
    char *rest = text.text;
    size_t left = text.length;
    struct str fields = log_text_next(&rest, &left);
    assert_int_equal(record_parse(fields, &read, NULL), 0);
    assert_memory_equal(&read, &record, sizeof read);
    assert_int_equal(left, 0);
    buf_release(&text);
}

/* Of three lines, the one in the middle is cut off behind each of its bytes. */
static void test_a_torn_line_damages_no_other_one(void **state)
{
    (void)state;
    struct buf line = {0};
    struct launch_record record = make_record(2, LAUNCH_ENDED);
    log_text_add_record(&line, &record);
    for (size_t length = 0; length <= line.length; length++) {
        struct buf text = {0};
        record.id = 1;
        log_text_add_record(&text, &record);
        buf_add(&text, line.text, length);
        record.id = 3;
        log_text_add_record(&text, &record);
        /* without its last byte, an end of line, it is whole as well: the next line begins with one */
        if (length + 1 < line.length)
            check_ids(&text, (const uint64_t[]){1, 3}, 2);
        else
            check_ids(&text, (const uint64_t[]){1, 2, 3}, 3);
        buf_release(&text);
    }
    buf_release(&line);
}

static void test_a_damaged_line_counts_as_none(void **state)
{
    (void)state;
    struct buf text = {0};
    struct launch_record record = make_record(1, LAUNCH_STARTED);
    log_text_add_record(&text, &record);
    for (size_t i = 1; i + 1 < text.length; i++) {
        text.text[i] ^= 1;
        check_ids(&text, NULL, 0);
        text.text[i] ^= 1;
    }
    check_ids(&text, (const uint64_t[]){1}, 1);
    buf_release(&text);
}

static void test_the_end_of_a_text_is_kept_until_it_is_whole(void **state)
{
    (void)state;
    struct buf text = {0};
    struct launch_record record = make_record(1, LAUNCH_STARTED);
    log_text_add_record(&text, &record);
    for (size_t length = 0; length < text.length; length++) {
        char *rest = text.text;
        size_t left = length;
        assert_null(log_text_next(&rest, &left).text);
        assert_int_equal(left, length > 0 ? length - 1 : 0); /* the end of line before it is gone */
    }
    buf_release(&text);
}

static void test_a_start_gets_its_pid_and_time_later(void **state)
{
    (void)state;
    static const struct {
        int32_t pid;
        int64_t at_boot_us;
    } rows[] = {{1, 1}, {4194304, 123456789012}, {INT32_MAX, INT64_C(1) << 53}};
    struct launch_record record = make_record(5, LAUNCH_ENDED), read;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct buf line = {0};
        log_text_add_start(&line, record);
        log_text_set_start(&line, rows[i].pid, rows[i].at_boot_us);
        char *rest = line.text;
        size_t left = line.length;
        assert_int_equal(record_parse(log_text_next(&rest, &left), &read, NULL), 0);
        assert_true(read.phase == LAUNCH_STARTED && read.pid == rows[i].pid && read.at_boot_us == rows[i].at_boot_us);
        assert_true(read.started_us == record.started_us && read.started_boot_us == record.started_boot_us);
        buf_release(&line);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_record_is_read_as_it_was_added),
        cmocka_unit_test(test_a_torn_line_damages_no_other_one),
        cmocka_unit_test(test_a_damaged_line_counts_as_none),
        cmocka_unit_test(test_the_end_of_a_text_is_kept_until_it_is_whole),
        cmocka_unit_test(test_a_start_gets_its_pid_and_time_later),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
