/* The words of a launch checked and named. What a launch must be stands in one place, so that whoever sends one and
 * whoever receives one agree; the launcher does not believe its daemon and asks again.
 *
 * Not here: whether the paths exist or may be used. Only the job's own process, with the job's identity, can tell that
 * without being fooled, and it does (launcher/job.c). */
#include "exec/launch.h"

#include <inttypes.h>
#include <string.h>

#include "base/quantity.h"
#include "base/text.h"

#define TIME_LIMIT_MAX_US (INT64_C(3660) * 86400 * US_PER_S) /* ten years, as duration_parse allows */

static int check_path(const char *path, const char *what, struct err *e)
{
    if (path == NULL || path[0] != '/')
        return err_set(e, ERR_INPUT, "%s must be an absolute path, not \"%s\"", what, path ? path : "");
    size_t length = strlen(path);
    if (length > LAUNCH_PATH_MAX) {
        return err_set(e, ERR_INPUT, "%s has %zu bytes; a path may have %d", what, length, LAUNCH_PATH_MAX);
    }
    return 0;
}

static int apply_check_name(const char *name, struct err *e)
{
    struct str s = str(name);
    if (s.length == 0 || s.length > LAUNCH_NAME_MAX || !str_is_printable(s) || strchr(name, '/') != NULL) {
        return err_set(e, ERR_INPUT, "the name of a launch must be 1 to %d printable bytes without a slash",
                       LAUNCH_NAME_MAX);
    }
    return 0;
}

static int check_strings(char *const *strings, const char *what, bool with_value, struct err *e)
{
    if (strings == NULL) return err_set(e, ERR_INPUT, "%s: no list", what);
    for (uint32_t i = 0; strings[i] != NULL; i++) {
        if (i == LAUNCH_STRINGS_MAX) return err_set(e, ERR_INPUT, "%s: more than %d", what, LAUNCH_STRINGS_MAX);
        size_t length = strlen(strings[i]);
        if (length > LAUNCH_STRING_MAX) {
            return err_set(e, ERR_INPUT, "%s: number %u has %zu bytes; Linux takes %d", what, i + 1, length,
                           LAUNCH_STRING_MAX);
        }
        if (with_value && (strings[i][0] == '=' || strchr(strings[i], '=') == NULL)) {
            return err_set(e, ERR_INPUT, "%s: number %u is not NAME=value", what, i + 1);
        }
    }
    return 0;
}

static int check_program(const struct launch *launch, struct err *e)
{
    if (check_strings(launch->arguments, "arguments", false, e)) return -1;
    if (check_strings(launch->environment, "environment", true, e)) return -1;
    if (launch->script.length == 0 && (launch->arguments[0] == NULL || launch->arguments[0][0] == '\0')) {
        return err_set(e, ERR_INPUT, "neither a script nor a program to run");
    }
    return 0;
}

static int check_span(int64_t span_us, int64_t max_us, const char *what, struct err *e)
{
    if (span_us >= 0 && span_us <= max_us) return 0;
    return err_set(e, ERR_INPUT, "%s of %" PRId64 " microseconds; from 0 to %" PRId64 " is accepted", what, span_us,
                   max_us);
}

static int check_cpus(const struct idset *cpus, struct err *e)
{
    for (uint32_t i = 0; i < cpus->ranges.count; i++) {
        struct idset_range range = cpus->ranges.items[i];
        bool ordered = range.first <= range.last && (i == 0 || range.first > cpus->ranges.items[i - 1].last);
        if (!ordered || range.last > LAUNCH_CPU_MAX) {
            return err_set(e, ERR_INPUT, "CPUs must be ascending ranges of numbers up to %d", LAUNCH_CPU_MAX);
        }
    }
    return 0;
}

int launch_check(const struct launch *launch, struct err *e)
{
    if (launch->id == 0 || launch->id > INT64_MAX) {
        return err_set(e, ERR_INPUT, "a launch id must be from 1 to %" PRId64, INT64_MAX);
    }
    if (launch->uid == (uid_t)-1 || launch->gid == (gid_t)-1)
        return err_set(e, ERR_INPUT, "no such identity as 4294967295");
    if (apply_check_name(launch->name, e)) return -1;
    if (check_path(launch->directory, "the working directory", e)) return -1;
    if (check_path(launch->out_path, "the output file", e)) return -1;
    if (launch->err_path != NULL && check_path(launch->err_path, "the error file", e)) return -1;
    if (check_program(launch, e)) return -1;
    if (check_cpus(&launch->cpus, e)) return -1;
    if (check_span(launch->time_limit_us, TIME_LIMIT_MAX_US, "a time limit", e)) return -1;
    return check_span(launch->grace_us, LAUNCH_GRACE_MAX_US, "a grace", e);
}

struct launch_record launch_record_refused(uint64_t id, int64_t at_us, const char *detail)
{
    struct launch_record record = {.id = id, .phase = LAUNCH_ENDED, .end = LAUNCH_REFUSED, .at_us = at_us};
    launch_record_set_detail(&record, detail);
    return record;
}

/* The text with every byte that is not part of a printable character replaced: as long as before. */
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

/* A byte that continues a character: not where a text may be cut. */
static bool inside_character(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

/* Cut in the middle: what happened is said at the end, and what it happened to at the beginning. */
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
        while (inside_character(printable.text[begin])) begin--;
        while (inside_character(printable.text[end])) end++;
        text_format(record->detail, sizeof record->detail, "%.*s%s%s", (int)begin, printable.text, gap,
                    printable.text + end);
    }
    buf_release(&printable);
}

const char *launch_phase_name(enum launch_phase phase)
{
    static const char *const names[] = {"started", "completing", "ended"};
    return names[phase];
}

const char *launch_end_name(enum launch_end end)
{
    static const char *const names[] = {"exited", "cancelled", "timed-out", "refused", "lost"};
    return names[end];
}
