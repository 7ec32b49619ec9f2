/* Checks launches, and names phases and ends. The ranges of a launch's members are checked in one place, so that the
 * sender and the receiver of a launch agree. The launcher does not trust its daemon and checks again.
 *
 * Not checked here: whether paths exist and may be used. Only the job's own process, with the identity of the user, can
 * check that without a race, and it does (launcher/job_process.c). */
#include "exec/launch.h"

#include <inttypes.h>
#include <string.h>

#include "base/ensure.h"
#include "base/quantity.h"
#include "base/text.h"
#include "exec/clock.h"

static int check_id(uint64_t id, struct err *e)
{
    char text[24];
    if (id >= 1 && id <= INT64_MAX) return 0;
    text_format(text, sizeof text, "%" PRIu64, id);
    return err_value(e, "launch id", str(text), "a number from 1 to %" PRId64, INT64_MAX);
}

/* (uid_t)-1 means "unchanged" to the system calls that set an identity. */
static int check_identity(const struct launch *launch, struct err *e)
{
    const uint32_t max = UINT32_MAX - 1;
    if (launch->uid > max) return err_number(e, "uid", launch->uid, "a user id from 0 to %" PRIu32, max);
    if (launch->gid > max) return err_number(e, "gid", launch->gid, "a group id from 0 to %" PRIu32, max);
    return 0;
}

static int check_name(const char *name, struct err *e)
{
    struct str s = str(name);
    if (s.length == 0 || s.length > LAUNCH_NAME_MAX || !str_is_printable(s) || strchr(name, '/') != NULL) {
        return err_value(e, "launch name", s, "1 to %d printable bytes without a slash", LAUNCH_NAME_MAX);
    }
    return 0;
}

static int check_path(const char *path, const char *field, struct err *e)
{
    if (path == NULL || path[0] != '/') return err_value(e, field, str(path), "an absolute path");
    size_t length = strlen(path);
    if (length > LAUNCH_PATH_MAX) {
        return err_field(e, ERR_INPUT, field, "path of %zu bytes; Linux accepts at most %d", length, LAUNCH_PATH_MAX);
    }
    return 0;
}

static int check_string(const char *string, bool needs_value, struct err *e)
{
    size_t length = strlen(string);
    if (length > LAUNCH_STRING_MAX) {
        return err_field(e, ERR_INPUT, "", "%zu bytes; Linux accepts at most %d", length, LAUNCH_STRING_MAX);
    }
    if (needs_value && (string[0] == '=' || strchr(string, '=') == NULL)) {
        return err_value(e, "", str(string), "NAME=value");
    }
    return 0;
}

static int check_strings(char *const *strings, const char *field, bool need_values, struct err *e)
{
    if (strings == NULL) return err_field(e, ERR_INPUT, field, "the list is missing");
    for (uint32_t i = 0; strings[i] != NULL; i++) {
        if (i == LAUNCH_STRINGS_MAX) {
            return err_field(e, ERR_INPUT, field, "the list has more than %d entries", LAUNCH_STRINGS_MAX);
        }
        if (check_string(strings[i], need_values, e)) return err_in(e, "%s[%" PRIu32 "]", field, i);
    }
    return 0;
}

static int check_program(const struct launch *launch, struct err *e)
{
    if (check_strings(launch->arguments, "arguments", false, e)) return -1;
    if (check_strings(launch->environment, "environment", true, e)) return -1;
    if (launch->script.length == 0 && (launch->arguments[0] == NULL || launch->arguments[0][0] == '\0')) {
        return err_set(e, ERR_INPUT, "nothing to run: give a script or a program");
    }
    return 0;
}

static int check_duration(int64_t duration_us, int64_t max_us, const char *field, struct err *e)
{
    if (duration_us >= 0 && duration_us <= max_us) return 0;
    return err_number(e, field, duration_us, "a number of microseconds from 0 to %" PRId64, max_us);
}

static int check_cpus(const struct idset *cpus, struct err *e)
{
    for (uint32_t i = 0; i < cpus->ranges.count; i++) {
        char text[24];
        struct idset_range range = cpus->ranges.items[i];
        text_format(text, sizeof text, "%" PRIu32 "-%" PRIu32, range.first, range.last);
        if (range.last > LAUNCH_CPU_MAX) {
            return err_number(e, "CPUs", range.last, "a CPU number from 0 to %d", LAUNCH_CPU_MAX);
        }
        if (range.first > range.last) return err_value_reason(e, "CPUs", str(text), "ends before it begins");
        if (i > 0 && range.first <= cpus->ranges.items[i - 1].last) {
            return err_value_reason(e, "CPUs", str(text), "does not lie above the range before it");
        }
    }
    return 0;
}

static int check_memory(const struct launch *launch, struct err *e)
{
    if (launch->mem_limit_kib < 0 || launch->mem_limit_kib > LAUNCH_MEM_LIMIT_MAX_KIB)
        return err_number(e, "memory limit", launch->mem_limit_kib, "a number of KiB from 0 to %" PRId64,
                          LAUNCH_MEM_LIMIT_MAX_KIB);
    if (launch->mem_limit_kib > 0 && launch->mem_poll_us < US_PER_S / 10)
        return err_number(e, "memory poll", launch->mem_poll_us, "a number of microseconds from 100000 to %" PRId64,
                          LAUNCH_MEM_POLL_MAX_US);
    return check_duration(launch->mem_poll_us, LAUNCH_MEM_POLL_MAX_US, "memory poll", e);
}

int launch_check(const struct launch *launch, struct err *e)
{
    if (check_id(launch->id, e) || check_identity(launch, e) || check_name(launch->name, e)) return -1;
    if (check_path(launch->directory, "working directory", e)) return -1;
    if (check_path(launch->out_path, "output file", e)) return -1;
    if (launch->err_path != NULL && check_path(launch->err_path, "error file", e)) return -1;
    if (check_program(launch, e)) return -1;
    if (check_cpus(&launch->cpus, e)) return -1;
    if (check_memory(launch, e)) return -1;
    if (check_duration(launch->time_limit_us, LAUNCH_TIME_LIMIT_MAX_US, "time limit", e)) return -1;
    if (launch->warn_signal > LAUNCH_SIGNAL_MAX)
        return err_number(e, "signal", launch->warn_signal, "a signal from 1 to %d, or 0", LAUNCH_SIGNAL_MAX);
    if (check_duration(launch->warn_before_us, LAUNCH_TIME_LIMIT_MAX_US, "time of the signal", e)) return -1;
    return check_duration(launch->grace_us, LAUNCH_GRACE_MAX_US, "grace", e);
}

/* --- memory ------------------------------------------------------------------------------------------------------- */

int64_t launch_memory_limit_kib(uint64_t mem_mib, uint64_t slack_mib)
{
    const uint64_t max_mib = LAUNCH_MEM_LIMIT_MAX_KIB / 1024;
    if (mem_mib >= max_mib || slack_mib >= max_mib - mem_mib) return LAUNCH_MEM_LIMIT_MAX_KIB;
    return (int64_t)(mem_mib + slack_mib) * 1024;
}

uint64_t launch_data_limit(int64_t mem_limit_kib)
{
    const uint64_t extra = UINT64_C(4) << 30;
    ensure(mem_limit_kib > 0 && mem_limit_kib <= LAUNCH_MEM_LIMIT_MAX_KIB);
    return (uint64_t)mem_limit_kib * 1024 * 2 + extra;
}

/* --- records ------------------------------------------------------------------------------------------------------ */

struct launch_record launch_record_never_ran(uint64_t id, enum launch_end end, const char *detail)
{
    struct launch_record record = {.id = id, .phase = LAUNCH_ENDED, .end = end};
    ensure(launch_end_is_never_ran(end));
    launch_record_set_detail(&record, detail);
    return record;
}

/* Appends the text with '?' in place of every byte that is not part of a printable character. The length stays. */
static void add_printable(struct str rest, struct buf *out)
{
    while (rest.length > 0) {
        size_t length = str_utf8(rest);
        if (length > 0 && str_is_printable((struct str){rest.text, length})) {
            buf_add(out, rest.text, length);
        } else {
            buf_add_char(out, '?');
            length = 1;
        }
        rest = (struct str){rest.text + length, rest.length - length};
    }
}

void launch_record_set_time(struct launch_record *record, const char *boot)
{
    if (strcmp(record->boot, boot) != 0) record->started_boot_us = 0;
    text_format(record->boot, sizeof record->boot, "%s", boot);
    record->at_us = clock_wall_us();
    record->at_boot_us = clock_boot_us();
}

static bool is_utf8_continuation(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

/* Removes the middle, because a detail begins with its subject and ends with the cause. */
void launch_record_set_detail(struct launch_record *record, const char *text)
{
    static const char gap[] = " ... ";
    enum { HALF = (LAUNCH_DETAIL_SIZE - sizeof gap) / 2 };
    struct buf printable = {0};
    add_printable(str(text), &printable);
    if (printable.length < LAUNCH_DETAIL_SIZE) {
        text_format(record->detail, sizeof record->detail, "%s", printable.text ? printable.text : "");
    } else {
        size_t begin = HALF, end = printable.length - HALF;
        while (is_utf8_continuation(printable.text[begin])) begin--;
        while (is_utf8_continuation(printable.text[end])) end++;
        text_format(record->detail, sizeof record->detail, "%.*s%s%s", (int)begin, printable.text, gap,
                    printable.text + end);
    }
    buf_release(&printable);
}

const char *launch_phase_name(enum launch_phase phase)
{
    static const char *const names[] = {"started", "completing", "ended"};
    ensure((size_t)phase < sizeof names / sizeof *names);
    return names[phase];
}

const char *launch_end_name(enum launch_end end)
{
    static const char *const names[] = {"exited", "cancelled",   "timed-out",    "refused",
                                        "lost",   "unavailable", "out-of-memory"};
    ensure((size_t)end < sizeof names / sizeof *names);
    return names[end];
}
