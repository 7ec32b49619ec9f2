/* Frames of a job's terminal: what is written is read back, in pieces too, and what is none is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "terminal/frames.h"
#include "terminal/ring.h"

static const struct row {
    struct frame frame;
    bool to_relay;
} rows[] = {
    {{.kind = FRAME_HELLO, .version = FRAME_VERSION, .flags = FRAME_HELLO_OWNS, .rows = 24, .columns = 65535}, true},
    {{.kind = FRAME_INPUT, .bytes = {"a\0b", 3}}, true},
    {{.kind = FRAME_INPUT_END}, true},
    {{.kind = FRAME_SIZE, .rows = 1, .columns = 300}, true},
    {{.kind = FRAME_SIGNAL, .value = 31}, true},
    {{.kind = FRAME_DETACH}, true},
    {{.kind = FRAME_WELCOME, .version = FRAME_VERSION, .mode = FRAME_MODE_PIPES}, false},
    {{.kind = FRAME_OUTPUT, .bytes = {"x", 1}}, false},
    {{.kind = FRAME_ERRORS, .bytes = {"\xff\n", 2}}, false},
    {{.kind = FRAME_TAKEN, .count = FRAME_WINDOW}, false},
    {{.kind = FRAME_SKIPPED}, false},
    {{.kind = FRAME_EXIT, .is_signal = true, .value = 9}, false},
};

static void assert_same(const struct frame *a, const struct frame *b)
{
    assert_int_equal(a->kind, b->kind);
    assert_true(str_equal(a->bytes, b->bytes));
    assert_int_equal(a->version, b->version);
    assert_int_equal(a->flags, b->flags);
    assert_int_equal(a->rows, b->rows);
    assert_int_equal(a->columns, b->columns);
    assert_int_equal(a->mode, b->mode);
    assert_int_equal(a->value, b->value);
    assert_int_equal(a->is_signal, b->is_signal);
    assert_int_equal(a->count, b->count);
}

static void test_round_trip(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct buf text = {0};
        struct frame read;
        frame_write(&text, &rows[i].frame);
        for (size_t n = 0; n < text.length; n++)
            assert_int_equal(frame_read((struct str){text.text, n}, rows[i].to_relay, &read), 0);
        assert_int_equal(frame_read((struct str){text.text, text.length}, rows[i].to_relay, &read), text.length);
        assert_same(&read, &rows[i].frame);
        assert_int_equal(frame_read((struct str){text.text, text.length}, !rows[i].to_relay, &read), -1);
        buf_release(&text);
    }
}

static void test_refused(void **state)
{
    static const struct {
        struct str bytes;
        bool to_relay;
    } bad[] = {
        {{"\0", 1}, true},
        {{"\x0d", 1}, false},
        {{"\x02\0\0\0\0", 5}, true},                    /* INPUT without bytes */
        {{"\x02\x01\0\x01\0", 5}, true},                /* more than FRAME_BYTES_MAX */
        {{"\x03\x01\0\0\0x", 6}, true},                 /* INPUT_END with a body */
        {{"\x05\x01\0\0\0\0", 6}, true},                /* signal 0 */
        {{"\x05\x01\0\0\0\x20", 6}, true},              /* signal 32 */
        {{"\x01\x06\0\0\0\x01\x04\0\0\0\0", 11}, true}, /* an unknown flag of this version */
        {{"\x07\x02\0\0\0\x01\x03", 7}, false},         /* an unknown mode of this version */
        {{"\x0a\x04\0\0\0\0\0\0\0", 9}, false},         /* TAKEN 0 */
        {{"\x0c\x02\0\0\0\x02\0", 7}, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct frame f;
        assert_int_equal(frame_read(bad[i].bytes, bad[i].to_relay, &f), -1);
    }
}

static void test_another_version_is_read(void **state)
{
    struct frame f;
    (void)state;
    assert_int_equal(frame_read((struct str){"\x07\x02\0\0\0\x09\x77", 7}, false, &f), 7);
    assert_int_equal(f.version, 9);
}

/* --- the ring ----------------------------------------------------------------------------------------------------- */

static void add(struct ring *r, uint64_t keep, size_t count, size_t *out_added)
{
    *out_added = 0;
    for (size_t size; *out_added < count; *out_added += size) {
        char *room = ring_room(r, keep, &size);
        if (size > count - *out_added) size = count - *out_added;
        if (size == 0) return;
        for (size_t i = 0; i < size; i++) room[i] = (char)((r->end + i) % 251);
        ring_added(r, size);
    }
}

static void assert_content(const struct ring *r, uint64_t from)
{
    while (from < r->end) {
        struct str piece = ring_at(r, from, 1000);
        assert_true(piece.length > 0);
        for (size_t i = 0; i < piece.length; i++) assert_int_equal((unsigned char)piece.text[i], (from + i) % 251);
        from += piece.length;
    }
}

static void test_ring(void **state)
{
    static struct ring r;
    size_t added;
    (void)state;
    add(&r, 0, 3 * RING_SIZE, &added);
    assert_int_equal(added, RING_SIZE); /* none of the kept bytes is replaced */
    assert_content(&r, 0);
    add(&r, 1000, 5000, &added);
    assert_int_equal(added, 1000);
    assert_int_equal(ring_begin(&r), 1000);
    assert_content(&r, 1000);
    for (int i = 0; i < 10; i++) add(&r, r.end, 7777, &added); /* no reader waits */
    assert_int_equal(r.end - ring_begin(&r), RING_SIZE);
    assert_content(&r, ring_begin(&r));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_round_trip), cmocka_unit_test(test_refused),
                                       cmocka_unit_test(test_another_version_is_read), cmocka_unit_test(test_ring)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
