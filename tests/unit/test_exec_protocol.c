/* Messages are encoded and decoded, launches are checked member by member, records are formatted and parsed. */
#include <inttypes.h>
#include <string.h>

#include "dies.h"
#include "exec/protocol.h"
#include "exec/record.h"

static char *arguments[] = {"sh", "-c", "", NULL};
static char *environment[] = {"PATH=/bin", "EMPTY=", "TWO=a\nb", NULL};

static struct launch valid_launch(void)
{
    return (struct launch){
        .id = 7,
        .uid = 1000,
        .gid = 100,
        .name = "7_3",
        .directory = "/home",
        .out_path = "/home/out",
        .script = {"#!/bin/sh\n\0x", 12},
        .arguments = arguments,
        .environment = environment,
        .mem_mib = 4096,
        .mem_limit_kib = 4200000,
        .mem_poll_us = 1000000,
        .time_limit_us = 60000000,
        .grace_us = 30000000,
    };
}

static struct message decode(const struct buf *frame, struct arena *a)
{
    struct message m = {0};
    size_t used = 0;
    struct err e = {0};
    assert_int_equal(protocol_decode((struct str){frame->text, frame->length}, a, &used, &m, &e), 0);
    assert_int_equal(used, frame->length);
    return m;
}

static void assert_strings(char *const *a, char *const *b)
{
    while (*a != NULL && *b != NULL) assert_string_equal(*a++, *b++);
    assert_true(*a == NULL && *b == NULL);
}

static void test_a_launch_is_decoded_as_it_was_encoded(void **state)
{
    (void)state;
    struct launch sent = valid_launch();
    for (uint32_t i = 0; i < 3; i++) {
        if (i == 1) sent.err_path = "/home/err";
        if (i == 2) assert_int_equal(idset_parse(str("0-3,8,4000-4003"), 65535, "cpus", &sent.cpus, NULL), 0);
        struct buf frame = {0};
        struct arena a = {0};
        assert_int_equal(protocol_start(&frame, &sent, NULL), 0);
        struct message m = decode(&frame, &a);
        const struct launch *got = &m.launch;
        assert_int_equal(m.kind, MESSAGE_START);
        assert_true(got->id == 7 && got->uid == 1000 && got->gid == 100 && got->mem_mib == 4096);
        assert_true(got->mem_limit_kib == 4200000 && got->mem_poll_us == 1000000);
        assert_true(got->time_limit_us == 60000000 && got->grace_us == 30000000);
        assert_string_equal(got->name, sent.name);
        assert_string_equal(got->directory, sent.directory);
        assert_string_equal(got->out_path, sent.out_path);
        assert_true((got->err_path == NULL) == (sent.err_path == NULL));
        if (sent.err_path != NULL) assert_string_equal(got->err_path, sent.err_path);
        assert_true(str_equal(got->script, sent.script));
        assert_strings(got->arguments, sent.arguments);
        assert_strings(got->environment, sent.environment);
        assert_int_equal(got->cpus.ranges.count, sent.cpus.ranges.count);
        for (uint32_t r = 0; r < sent.cpus.ranges.count; r++) {
            assert_int_equal(got->cpus.ranges.items[r].first, sent.cpus.ranges.items[r].first);
            assert_int_equal(got->cpus.ranges.items[r].last, sent.cpus.ranges.items[r].last);
        }
        arena_release(&a);
        buf_release(&frame);
    }
    idset_release(&sent.cpus);
}

static const struct launch_record record = {
    .id = UINT64_MAX,
    .phase = LAUNCH_ENDED,
    .at_us = 3,
    .at_boot_us = 5,
    .started_us = 2,
    .started_boot_us = 4,
    .boot = "8e6f2d1a-77c4-4e55-9d0b-2a1b3c4d5e6f",
    .pid = 4194304,
    .end = LAUNCH_TIMED_OUT,
    .exit_status = 255,
    .signal = 9,
    .cpu_us = (int64_t)1 << 53,
    .max_rss_kib = 0x1234567890,
    .io_bytes = ((int64_t)1 << 53) - 1,
    .detail = "a = b\xc3\xbc\t",
};

static void assert_record(const struct launch_record *r)
{
    assert_true(r->id == record.id && r->phase == record.phase && r->at_us == record.at_us);
    assert_true(r->started_us == record.started_us && r->pid == record.pid && r->end == record.end);
    assert_true(r->exit_status == record.exit_status && r->signal == record.signal);
    assert_true(r->cpu_us == record.cpu_us && r->max_rss_kib == record.max_rss_kib);
    assert_int_equal(r->io_bytes, record.io_bytes);
    assert_true(r->at_boot_us == record.at_boot_us && r->started_boot_us == record.started_boot_us);
    assert_string_equal(r->boot, record.boot);
    assert_string_equal(r->detail, record.detail);
}

static void test_the_other_messages_are_decoded_as_they_were_encoded(void **state)
{
    (void)state;
    struct arena a = {0};
    struct buf frame = {0};
    protocol_hello(&frame, 77);
    struct message m = decode(&frame, &a);
    assert_true(m.kind == MESSAGE_HELLO && m.version == 77);
    assert_memory_equal(frame.text, "\x0d\0\0\0\1fairlead\x4d\0\0\0", 17); /* HELLO must never change */
    buf_clear(&frame);
    protocol_end(&frame, 5, -6);
    m = decode(&frame, &a);
    assert_true(m.kind == MESSAGE_END && m.end.id == 5 && m.end.grace_us == -6);
    buf_clear(&frame);
    protocol_ack(&frame, UINT64_MAX);
    m = decode(&frame, &a);
    assert_true(m.kind == MESSAGE_ACK && m.id == UINT64_MAX);
    buf_clear(&frame);
    protocol_weight(&frame, 9, 10000);
    m = decode(&frame, &a);
    assert_true(m.kind == MESSAGE_WEIGHT && m.weight.id == 9 && m.weight.cpu_weight == 10000);
    buf_clear(&frame);
    protocol_limit(&frame, 9, 600000000);
    m = decode(&frame, &a);
    assert_true(m.kind == MESSAGE_LIMIT && m.limit.id == 9 && m.limit.time_limit_us == 600000000);
    buf_clear(&frame);
    protocol_measure(&frame);
    assert_int_equal(decode(&frame, &a).kind, MESSAGE_MEASURE);
    buf_clear(&frame);
    protocol_usage(
        &frame,
        &(struct launch_usage){
            .id = UINT64_MAX, .at_us = INT64_MIN, .cpu_us = INT64_MAX, .mem_kib = 0x0102030405060708, .io_bytes = -2});
    m = decode(&frame, &a);
    assert_true(m.kind == MESSAGE_USAGE && m.usage.id == UINT64_MAX && m.usage.at_us == INT64_MIN);
    assert_true(m.usage.cpu_us == INT64_MAX && m.usage.mem_kib == 0x0102030405060708 && m.usage.io_bytes == -2);
    buf_clear(&frame);
    protocol_enforces(&frame,
                      (struct enforcement){ENFORCEMENT_MEMORY_GROUP_1, ENFORCEMENT_CPUS_CPUSET, ENFORCEMENT_KILL_GROUP,
                                           ENFORCEMENT_OUTSIDE_SLICES, ENFORCEMENT_SUSPEND_GROUP_1});
    m = decode(&frame, &a);
    assert_true(m.kind == MESSAGE_ENFORCES && m.enforcement.memory == ENFORCEMENT_MEMORY_GROUP_1);
    assert_true(m.enforcement.cpus == ENFORCEMENT_CPUS_CPUSET && m.enforcement.kill == ENFORCEMENT_KILL_GROUP);
    assert_int_equal(m.enforcement.outside, ENFORCEMENT_OUTSIDE_SLICES);
    assert_int_equal(m.enforcement.suspend, ENFORCEMENT_SUSPEND_GROUP_1);
    frame.text[5] = 9; /* no mechanism */
    size_t used;
    assert_int_equal(protocol_decode((struct str){frame.text, frame.length}, &a, &used, &m, NULL), -1);
    buf_clear(&frame);
    protocol_suspend(&frame, 7, true, INT64_C(3) << 40);
    m = decode(&frame, &a);
    assert_true(m.kind == MESSAGE_SUSPEND && m.suspend.id == 7 && m.suspend.is_suspended);
    assert_true(m.suspend.suspended_us == INT64_C(3) << 40);
    buf_clear(&frame);
    protocol_signal(&frame, 7, 10, true);
    m = decode(&frame, &a);
    assert_true(m.kind == MESSAGE_SIGNAL && m.signal.id == 7 && m.signal.number == 10 && m.signal.is_to_first);
    buf_clear(&frame);
    protocol_sample(&frame);
    assert_int_equal(decode(&frame, &a).kind, MESSAGE_SAMPLE);
    buf_clear(&frame);
    protocol_process(&frame, &(struct process_sample){.pid = 7,
                                                      .parent = 1,
                                                      .uid = UINT32_MAX,
                                                      .launch_id = UINT64_MAX,
                                                      .started_us = 2,
                                                      .cpu_us = 3,
                                                      .children_cpu_us = 4,
                                                      .mem_kib = INT64_MAX,
                                                      .gpus = UINT64_C(1) << 63,
                                                      .is_low = true,
                                                      .name = "a b) (c\nd"});
    m = decode(&frame, &a);
    assert_true(m.kind == MESSAGE_PROCESS && m.process.pid == 7 && m.process.parent == 1 && m.process.is_low);
    assert_true(m.process.uid == UINT32_MAX && m.process.launch_id == UINT64_MAX && m.process.started_us == 2);
    assert_true(m.process.cpu_us == 3 && m.process.children_cpu_us == 4 && m.process.mem_kib == INT64_MAX);
    assert_true(m.process.gpus == UINT64_C(1) << 63);
    assert_string_equal(m.process.name, "a b) (c\nd");
    buf_clear(&frame);
    protocol_sampled(
        &frame, &(struct process_sample_end){.at_us = INT64_MAX, .min_uid = 1000, .hidden = 9, .is_partial = true});
    m = decode(&frame, &a);
    assert_true(m.kind == MESSAGE_SAMPLED && m.sampled.at_us == INT64_MAX && m.sampled.hidden == 9);
    assert_true(m.sampled.is_partial && !m.sampled.has_gpus && m.sampled.min_uid == 1000);
    buf_clear(&frame);
    protocol_low(&frame, (const uint32_t[]){1000, UINT32_MAX}, 2);
    m = decode(&frame, &a);
    assert_true(m.kind == MESSAGE_LOW && m.low.count == 2 && m.low.uids[0] == 1000 && m.low.uids[1] == UINT32_MAX);
    frame.text[5] = 3; /* more uids than there are bytes */
    assert_int_equal(protocol_decode((struct str){frame.text, frame.length}, &a, &(size_t){0}, &m, NULL), -1);
    buf_clear(&frame);
    protocol_warn(&frame, &(struct outside_warning){.uid = 1000,
                                                    .cpus_centi = 390,
                                                    .limit_centi = UINT32_MAX,
                                                    .gpus = UINT64_C(1) << 63,
                                                    .time_us = INT64_MAX,
                                                    .is_low = true});
    m = decode(&frame, &a);
    assert_true(m.kind == MESSAGE_WARN && m.warning.uid == 1000 && m.warning.cpus_centi == 390);
    assert_true(m.warning.limit_centi == UINT32_MAX && m.warning.gpus == UINT64_C(1) << 63);
    assert_true(m.warning.time_us == INT64_MAX && m.warning.is_low);
    buf_clear(&frame);
    protocol_instance(&frame, &(struct launcher_owner){.id = "0a", .state = "/var/lib/fairlead"});
    m = decode(&frame, &a);
    assert_int_equal(m.kind, MESSAGE_INSTANCE);
    assert_string_equal(m.instance.id, "0a");
    assert_string_equal(m.instance.state, "/var/lib/fairlead");
    const struct launcher_owner bad[] = {{"", "relative"}, {"0\na", "/x"}, {"0a", "/x\nid=1"}, {"", ""}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        buf_clear(&frame);
        protocol_instance(&frame, &bad[i]);
        assert_int_equal(protocol_decode((struct str){frame.text, frame.length}, &a, &used, &m, NULL), -1);
    }
    buf_clear(&frame);
    protocol_refused(&frame, "it serves another instance");
    m = decode(&frame, &a);
    assert_int_equal(m.kind, MESSAGE_REFUSED);
    assert_string_equal(m.refusal, "it serves another instance");
    buf_clear(&frame);
    protocol_synced(&frame);
    assert_int_equal(decode(&frame, &a).kind, MESSAGE_SYNCED);
    buf_clear(&frame);
    protocol_record(&frame, &record);
    m = decode(&frame, &a);
    assert_int_equal(m.kind, MESSAGE_RECORD);
    assert_record(&m.record);
    buf_release(&frame);
    arena_release(&a);
}

/* Every prefix of two frames gives no frame, the first, or both. */
static void test_a_frame_is_decoded_once_it_is_complete(void **state)
{
    (void)state;
    struct arena a = {0};
    struct buf frames = {0};
    struct launch launch = valid_launch();
    assert_int_equal(protocol_start(&frames, &launch, NULL), 0);
    size_t first = frames.length;
    protocol_record(&frames, &record);
    for (size_t length = 0; length <= frames.length; length++) {
        struct message m;
        size_t used = 99;
        assert_int_equal(protocol_decode((struct str){frames.text, length}, &a, &used, &m, NULL), 0);
        assert_int_equal(used, length < first ? 0 : first);
        if (used == 0) continue;
        assert_int_equal(protocol_decode((struct str){frames.text + first, length - first}, &a, &used, &m, NULL), 0);
        assert_int_equal(used, length < frames.length ? 0 : frames.length - first);
    }
    buf_release(&frames);
    arena_release(&a);
}

/* A body of any other length is refused: each shorter one, and one that is a byte longer. */
static void test_a_body_of_the_wrong_length_is_refused(void **state)
{
    (void)state;
    struct arena a = {0};
    struct buf frame = {0};
    struct launch launch = valid_launch();
    assert_int_equal(protocol_start(&frame, &launch, NULL), 0);
    uint32_t right_length = (uint32_t)frame.length - PROTOCOL_HEADER_SIZE;
    for (uint32_t length = 0; length <= right_length + 1; length++) {
        struct message m;
        size_t used = 99;
        struct err e = {0};
        memcpy(frame.text, &(unsigned char[]){(unsigned char)length, (unsigned char)(length >> 8)}, 2);
        int result = protocol_decode((struct str){frame.text, length + PROTOCOL_HEADER_SIZE}, &a, &used, &m, &e);
        assert_int_equal(result, length == right_length ? 0 : -1);
        assert_int_equal(e.code, length == right_length ? ERR_NONE : ERR_INTERNAL);
        /* used is untouched if the frame cannot be decoded. */
        assert_int_equal(used, length == right_length ? right_length + PROTOCOL_HEADER_SIZE : 99);
        if (length == right_length) buf_add_char(&frame, 'x');
    }
    buf_release(&frame);
    arena_release(&a);
}

static void test_bytes_of_another_protocol_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t length;
    } rows[] = {
        {"\0\0\0\0", 4},   /* no kind */
        {"\1\0\0\4\1", 5}, /* longer than a frame may be */
        {"\xff\xff\xff\xff\1", 5},
        {"\1\0\0\0\0", 5}, /* unknown kinds */
        {"\1\0\0\0\x0a", 5},
        {"\2\0\0\0\x08x", 6}, /* MEASURE with a body */
        {"\x09\0\0\0\x09"
         "12345678",
         13},                                 /* USAGE that is cut off */
        {"\1\0\0\0\7", 5},                    /* WEIGHT without a body */
        {"\2\0\0\0\6x", 6},                   /* SYNCED with a body */
        {"\x0d\0\0\0\1Fairlead\1\0\0\0", 17}, /* another magic number */
        {"\x05\0\0\0\5id=1", 9},              /* a record without phase */
        {"\x10\0\0\0\5id=1\nphase=bad\n", 20},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct arena a = {0};
        struct message m;
        size_t used;
        struct err e = {0};
        assert_int_equal(protocol_decode((struct str){rows[i].bytes, rows[i].length}, &a, &used, &m, &e), -1);
        assert_int_equal(e.code, ERR_INTERNAL);
        arena_release(&a);
    }
}

/* A length or count that exceeds the bytes of its frame allocates no memory. */
static void test_a_count_beyond_the_frame_takes_no_memory(void **state)
{
    (void)state;
    struct buf frame = {0};
    struct arena a = {0};
    struct launch launch = valid_launch();
    launch.script = (struct str){0};
    assert_int_equal(protocol_start(&frame, &launch, NULL), 0);
    for (size_t at = PROTOCOL_HEADER_SIZE + 1; at + 4 <= frame.length; at++) {
        char original[4];
        struct message m;
        size_t used;
        memcpy(original, frame.text + at, 4);
        memcpy(frame.text + at, "\xff\xff\xff\x3f", 4);
        (void)protocol_decode((struct str){frame.text, frame.length}, &a, &used, &m, NULL);
        memcpy(frame.text + at, original, 4);
        assert_true(a.bytes < 1024 * 1024);
        arena_clear(&a);
    }
    buf_release(&frame);
    arena_release(&a);
}

static void test_a_launch_that_exceeds_a_frame_is_refused(void **state)
{
    (void)state;
    struct buf frame = {0};
    struct launch launch = valid_launch();
    struct err e = {0};
    size_t length = PROTOCOL_FRAME_MAX + 1;
    char *script = mem_resize(NULL, 0, length);
    launch.script = (struct str){script, length};
    assert_int_equal(protocol_start(&frame, &launch, &e), -1);
    assert_int_equal(e.code, ERR_TOO_LARGE);
    assert_non_null(strstr(ERR_SENTENCE(&e), " exceeds the 67108864 bytes that can be sent"));
    assert_int_equal(frame.length, 0);
    launch.script.length = PROTOCOL_FRAME_MAX - 1024;
    assert_int_equal(protocol_start(&frame, &launch, &e), 0);
    struct arena a = {0};
    assert_int_equal(decode(&frame, &a).launch.script.length, launch.script.length);
    arena_release(&a);
    buf_release(&frame);
    mem_free(script);
}

/* --- launch_check ------------------------------------------------------------------------------------------------- */

static void test_a_memory_limit_is_what_was_asked_for_and_the_slack(void **state)
{
    (void)state;
    static const struct {
        uint64_t mem_mib, slack_mib;
        int64_t limit_kib;
    } rows[] = {{256, 0, 262144},
                {256, 16, 278528},
                {0, 1, 1024},
                {UINT64_MAX, UINT64_MAX, LAUNCH_MEM_LIMIT_MAX_KIB},
                {1, UINT64_MAX, LAUNCH_MEM_LIMIT_MAX_KIB},
                {LAUNCH_MEM_LIMIT_MAX_KIB / 1024 - 1, 1, LAUNCH_MEM_LIMIT_MAX_KIB}};
    for (size_t i = 0; i < COUNT(rows); i++)
        assert_int_equal(launch_memory_limit_kib(rows[i].mem_mib, rows[i].slack_mib), rows[i].limit_kib);
    assert_int_equal(launch_data_limit(1024), (UINT64_C(4) << 30) + (2 << 20));
    assert_true(launch_data_limit(LAUNCH_MEM_LIMIT_MAX_KIB) > (uint64_t)LAUNCH_MEM_LIMIT_MAX_KIB * 1024);
}

static void test_limits_of_memory_are_checked(void **state)
{
    (void)state;
    static const struct {
        int64_t limit_kib, poll_us;
        const char *error;
    } rows[] = {{0, 0, NULL},
                {1, 100000, NULL},
                {LAUNCH_MEM_LIMIT_MAX_KIB, LAUNCH_MEM_POLL_MAX_US, NULL},
                {-1, 1000000, "memory limit"},
                {LAUNCH_MEM_LIMIT_MAX_KIB + 1, 1000000, "memory limit"},
                {1, 99999, "memory poll"},
                {1, LAUNCH_MEM_POLL_MAX_US + 1, "memory poll"},
                {0, -1, "memory poll"}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct launch launch = valid_launch();
        struct err e = {0};
        launch.mem_limit_kib = rows[i].limit_kib;
        launch.mem_poll_us = rows[i].poll_us;
        assert_int_equal(launch_check(&launch, &e), rows[i].error == NULL ? 0 : -1);
        if (rows[i].error != NULL) assert_non_null(strstr(ERR_SENTENCE(&e), rows[i].error));
    }
}

static char long_text[LAUNCH_STRING_MAX + 2];

static void test_a_launch_out_of_range_is_refused(void **state)
{
    (void)state;
    static char *none[] = {NULL}, *empty[] = {"", NULL}, *no_value[] = {"A=b", "A", NULL}, *no_name[] = {"=b", NULL};
    static char *too_long[] = {long_text, NULL};
    memset(long_text, 'x', sizeof long_text - 1);
    struct launch l = valid_launch();
    struct err e = {0};
    assert_int_equal(launch_check(&l, &e), 0);
#define REFUSED(change, text)                                                   \
    do {                                                                        \
        struct launch bad = valid_launch();                                     \
        change;                                                                 \
        assert_int_equal(launch_check(&bad, &e), -1);                           \
        assert_int_equal(e.code, ERR_INPUT);                                    \
        if (strstr(ERR_SENTENCE(&e), text) == NULL)                             \
            fail_msg("\"%s\" does not contain \"%s\"", ERR_SENTENCE(&e), text); \
    } while (0)
    REFUSED(bad.id = 0, "launch id: '0' is not a number from 1 to 9223372036854775807");
    REFUSED(bad.id = UINT64_C(1) << 63,
            "launch id: '9223372036854775808' is not a number from 1 to 9223372036854775807");
    REFUSED(bad.uid = (uid_t)-1, "uid: 4294967295 is not a user id from 0 to 4294967294");
    REFUSED(bad.gid = (gid_t)-1, "gid: 4294967295 is not a group id from 0 to 4294967294");
    REFUSED(bad.name = "", "launch name: '' is not 1 to 63 printable bytes without a slash");
    REFUSED(bad.name = "../x", "launch name: '../x' is not 1 to 63 printable bytes without a slash");
    REFUSED(bad.name = "a\nb", "launch name: 'a?b' is not");
    REFUSED(bad.name = long_text, "launch name: 'xxx");
    REFUSED(bad.directory = "home", "working directory: 'home' is not an absolute path");
    REFUSED(bad.directory = NULL, "working directory: '' is not an absolute path");
    REFUSED(bad.out_path = "", "output file: '' is not an absolute path");
    REFUSED(bad.err_path = "x", "error file: 'x' is not an absolute path");
    long_text[0] = '/';
    REFUSED(bad.out_path = long_text, "output file: path of 131072 bytes; Linux accepts at most 4095");
    REFUSED(bad.arguments = NULL, "arguments: the list is missing");
    REFUSED(bad.arguments = too_long, "arguments[0]: 131072 bytes; Linux accepts at most 131071");
    REFUSED((bad.arguments = none, bad.script.length = 0), "nothing to run: give a script or a program");
    REFUSED((bad.arguments = empty, bad.script.length = 0), "nothing to run: give a script or a program");
    REFUSED(bad.environment = no_value, "environment[1]: 'A' is not NAME=value");
    REFUSED(bad.environment = no_name, "environment[0]: '=b' is not NAME=value");
    REFUSED(bad.time_limit_us = -1, "time limit: -1 is not a number of microseconds from 0 to 316224000000000");
    REFUSED(bad.time_limit_us = INT64_MAX, "time limit: 9223372036854775807 is not");
    REFUSED(bad.grace_us = LAUNCH_GRACE_MAX_US + 1,
            "grace: 604800000001 is not a number of microseconds from 0 to 604800000000");
    struct idset_range backward[] = {{5, 4}}, crossed[] = {{4, 5}, {5, 6}}, high[] = {{4, 65536}};
    REFUSED((bad.cpus.ranges.items = backward, bad.cpus.ranges.count = 1), "CPUs: '5-4' ends before it begins");
    REFUSED((bad.cpus.ranges.items = crossed, bad.cpus.ranges.count = 2),
            "CPUs: '5-6' does not lie above the range before it");
    REFUSED((bad.cpus.ranges.items = high, bad.cpus.ranges.count = 1),
            "CPUs: 65536 is not a CPU number from 0 to 65535");
}

/* --- records ------------------------------------------------------------------------------------------------------ */

static void test_a_detail_becomes_one_printable_line(void **state)
{
    (void)state;
    struct launch_record r = {.detail = "old"};
    launch_record_set_detail(&r, "");
    assert_string_equal(r.detail, "");
    launch_record_set_detail(&r, "a\tb\n\xff\x1b[1m \xc3\xbc\xc2\x9b");
    assert_string_equal(r.detail, "a?b???[1m \xc3\xbc??");
    for (size_t length = 0; length < 1000; length++) {
        char text[1200];
        for (size_t i = 0; i < length; i++) text[i] = i % 2 ? '\xbc' : '\xc3';
        text[length & ~(size_t)1] = '\0';
        launch_record_set_detail(&r, text);
        assert_true(strlen(r.detail) < sizeof r.detail);
        assert_true(str_is_printable(str(r.detail))); /* never cut inside a character */
        if ((length & ~(size_t)1) < sizeof r.detail) assert_string_equal(r.detail, text);
    }
}

static void test_records_are_parsed_or_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool is_readable;
    } rows[] = {
        {"id=1\nphase=started\n", true},
        {"id=1\nphase=started", true},
        {"\nid=1\n\nphase=ended\n", true},
        {"phase=ended\nid=1\nlater=addition\ndetail=x=y\n", true},
        {"", false},
        {"id=1\n", false},
        {"phase=ended\n", false},
        {"id=0\nphase=ended\n", false},
        {"id=-1\nphase=ended\n", false},
        {"id=1 \nphase=ended\n", false},
        {"id=18446744073709551616\nphase=ended\n", false},
        {"id=1\nphase=Ended\n", false},
        {"id=1\nphase=ended\nend=\n", false},
        {"id=1\nphase=ended\npid=2147483648\n", false},
        {"id=1\nphase=ended\nsignal=-9\n", false},
        {"id=1\nphase=ended\nsignal=128\n", false},
        {"id=1\nphase=ended\nexit_status=256\n", false},
        {"id=1\nphase=ended\nmax_rss_kib=-5\n", false},
        {"id=1\nphase=ended\nmax_rss_kib=9007199254740993\n", false},
        {"id=1\nphase=ended\nmax_rss_kib=9007199254740992\n", true},
        {"id=1\nphase=ended\nnonsense\n", false},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct launch_record r = {.id = 99};
        struct err e = {0};
        assert_int_equal(record_parse(str(rows[i].text), &r, &e), rows[i].is_readable ? 0 : -1);
        if (rows[i].is_readable) assert_int_equal(r.io_bytes, 0); /* as in the records of older keepers */
        assert_int_equal(r.id, rows[i].is_readable ? 1 : 99);
        assert_int_equal(e.code, rows[i].is_readable ? ERR_NONE : ERR_INTERNAL);
    }
    assert_true(str_equal(record_value(str("a=1\nkey=v=w\n"), "key"), str("v=w")));
    assert_int_equal(record_value(str("a=1\nkey\n"), "key").length, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_launch_is_decoded_as_it_was_encoded),
        cmocka_unit_test(test_the_other_messages_are_decoded_as_they_were_encoded),
        cmocka_unit_test(test_a_frame_is_decoded_once_it_is_complete),
        cmocka_unit_test(test_a_body_of_the_wrong_length_is_refused),
        cmocka_unit_test(test_bytes_of_another_protocol_are_refused),
        cmocka_unit_test(test_a_count_beyond_the_frame_takes_no_memory),
        cmocka_unit_test(test_a_launch_that_exceeds_a_frame_is_refused),
        cmocka_unit_test(test_a_launch_out_of_range_is_refused),
        cmocka_unit_test(test_a_detail_becomes_one_printable_line),
        cmocka_unit_test(test_a_memory_limit_is_what_was_asked_for_and_the_slack),
        cmocka_unit_test(test_limits_of_memory_are_checked),
        cmocka_unit_test(test_records_are_parsed_or_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
