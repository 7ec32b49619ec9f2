/* Formats and parses launch records. One table lists the fields; both directions walk through it.
 *
 * Records are text for two reasons: a record outlives the program that wrote it (a keeper that was started before an
 * upgrade ends after it), and a person who looks for the fate of a job after a crash can read it.
 *
 * The names of the fields, and the words that are their values, must never change. */
#include "exec/record.h"

#include <inttypes.h>
#include <string.h>

#include "base/ensure.h"
#include "base/number.h"

enum record_field_type {
    RECORD_FIELD_U64,
    RECORD_FIELD_I64,
    RECORD_FIELD_I32,
    RECORD_FIELD_PHASE,
    RECORD_FIELD_END,
    RECORD_FIELD_TEXT
};

#define MEMBER(member) .offset = offsetof(struct launch_record, member)
#define LARGE .max = (int64_t)1 << 53 /* a double, as JSON has, can represent each */

static const struct record_field {
    const char *name;
    enum record_field_type type;
    size_t offset;
    bool is_required;
    bool is_rare; /* left out if it is 0 */
    int64_t max;  /* of a number; the minimum is 0. Of a text: its size, with the closing zero */
} fields[] = {
    {.name = "id", .type = RECORD_FIELD_U64, MEMBER(id), .is_required = true},
    {.name = "phase", .type = RECORD_FIELD_PHASE, MEMBER(phase), .is_required = true},
    {.name = "at_us", .type = RECORD_FIELD_I64, MEMBER(at_us), LARGE},
    {.name = "started_us", .type = RECORD_FIELD_I64, MEMBER(started_us), LARGE},
    {.name = "at_boot_us", .type = RECORD_FIELD_I64, MEMBER(at_boot_us), LARGE}, /* not in records of older keepers */
    {.name = "started_boot_us", .type = RECORD_FIELD_I64, MEMBER(started_boot_us), LARGE},
    {.name = "boot", .type = RECORD_FIELD_TEXT, MEMBER(boot), .max = LAUNCH_BOOT_SIZE},
    {.name = "pid", .type = RECORD_FIELD_I32, MEMBER(pid), .max = INT32_MAX},
    {.name = "before_cpu_us", .type = RECORD_FIELD_I64, MEMBER(before_cpu_us), LARGE, .is_rare = true},
    {.name = "before_io_bytes", .type = RECORD_FIELD_I64, MEMBER(before_io_bytes), LARGE, .is_rare = true},
    {.name = "end", .type = RECORD_FIELD_END, MEMBER(end)},
    {.name = "exit_status", .type = RECORD_FIELD_I32, MEMBER(exit_status), .max = 255},
    {.name = "signal", .type = RECORD_FIELD_I32, MEMBER(signal), .max = 127},
    {.name = "cpu_us", .type = RECORD_FIELD_I64, MEMBER(cpu_us), LARGE},
    {.name = "max_rss_kib", .type = RECORD_FIELD_I64, MEMBER(max_rss_kib), LARGE},
    {.name = "io_bytes", .type = RECORD_FIELD_I64, MEMBER(io_bytes), LARGE}, /* not in records of older keepers */
    {.name = "detail", .type = RECORD_FIELD_TEXT, MEMBER(detail), .max = LAUNCH_DETAIL_SIZE},
};

enum { RECORD_FIELD_COUNT = sizeof fields / sizeof *fields };

/* These copy with memcpy, because fields have different types and the table knows only their offsets. */
#define LOAD(type, variable, record, field) \
    type variable;                          \
    memcpy(&variable, (const char *)(record) + (field)->offset, sizeof variable)
#define STORE(type, value, record, field)                                     \
    do {                                                                      \
        type stored_ = (type)(value);                                         \
        memcpy((char *)(record) + (field)->offset, &stored_, sizeof stored_); \
    } while (0)

static bool is_zero(const struct record_field *f, const struct launch_record *record)
{
    ensure(f->type == RECORD_FIELD_I64);
    LOAD(int64_t, value, record, f);
    return value == 0;
}

static void format_field(const struct record_field *f, const struct launch_record *record, struct buf *out)
{
    if (f->is_rare && is_zero(f, record)) return;
    buf_format(out, "%s=", f->name);
    switch (f->type) {
    case RECORD_FIELD_U64: {
        LOAD(uint64_t, value, record, f);
        buf_format(out, "%" PRIu64, value);
        break;
    }
    case RECORD_FIELD_I64: {
        LOAD(int64_t, value, record, f);
        buf_format(out, "%" PRId64, value);
        break;
    }
    case RECORD_FIELD_I32: {
        LOAD(int32_t, value, record, f);
        buf_format(out, "%" PRId32, value);
        break;
    }
    case RECORD_FIELD_PHASE: buf_add_text(out, launch_phase_name(record->phase)); break;
    case RECORD_FIELD_END: buf_add_text(out, launch_end_name(record->end)); break;
    case RECORD_FIELD_TEXT: buf_add_text(out, (const char *)record + f->offset); break;
    }
    buf_add_char(out, '\n');
}

void record_format(const struct launch_record *record, struct buf *out)
{
    ensure(strchr(record->detail, '\n') == NULL);
    for (uint32_t i = 0; i < RECORD_FIELD_COUNT; i++) format_field(&fields[i], record, out);
}

static bool parse_phase(struct str value, struct launch_record *record)
{
    for (int phase = LAUNCH_STARTED; phase <= LAUNCH_ENDED; phase++) {
        if (!str_equal(value, str(launch_phase_name((enum launch_phase)phase)))) continue;
        record->phase = (enum launch_phase)phase;
        return true;
    }
    return false;
}

static bool parse_end(struct str value, struct launch_record *record)
{
    for (int end = LAUNCH_EXITED; end <= LAUNCH_OUT_OF_MEMORY; end++) {
        if (!str_equal(value, str(launch_end_name((enum launch_end)end)))) continue;
        record->end = (enum launch_end)end;
        return true;
    }
    return false;
}

static bool parse_text(const struct record_field *f, struct str value, struct launch_record *record)
{
    char *text = (char *)record + f->offset;
    if (value.length >= (size_t)f->max || memchr(value.text, '\0', value.length) != NULL) return false;
    memcpy(text, value.text, value.length);
    text[value.length] = '\0';
    return true;
}

static bool parse_value(const struct record_field *f, struct str value, struct launch_record *record)
{
    uint64_t u;
    int64_t i;
    switch (f->type) {
    case RECORD_FIELD_U64:
        if (!number_parse_u64(value, &u)) return false;
        STORE(uint64_t, u, record, f);
        return true;
    case RECORD_FIELD_I64:
        if (!number_parse_i64(value, &i) || i < 0 || i > f->max) return false;
        STORE(int64_t, i, record, f);
        return true;
    case RECORD_FIELD_I32:
        if (!number_parse_i64(value, &i) || i < 0 || i > f->max) return false;
        STORE(int32_t, i, record, f);
        return true;
    case RECORD_FIELD_PHASE: return parse_phase(value, record);
    case RECORD_FIELD_END: return parse_end(value, record);
    case RECORD_FIELD_TEXT: return parse_text(f, value, record);
    }
    return false;
}

/* The part of a text that an error shows. */
static struct str excerpt(struct str text)
{
    enum { EXCERPT_BYTES = 60 };
    return (struct str){text.text, text.length < EXCERPT_BYTES ? text.length : EXCERPT_BYTES};
}

/* Sets the bit of the field in *seen. */
static int parse_line(struct str line, struct launch_record *record, uint32_t *seen, struct err *e)
{
    struct str value, name = str_cut(line, '=', &value);
    if (value.text == NULL) {
        struct str shown = excerpt(line);
        return err_set(e, ERR_INTERNAL, "the line '%.*s' has no '='", (int)shown.length, shown.text);
    }
    for (uint32_t i = 0; i < RECORD_FIELD_COUNT; i++) {
        if (!str_equal(name, str(fields[i].name))) continue;
        if (!parse_value(&fields[i], value, record)) {
            struct str shown = excerpt(value);
            return err_field(e, ERR_INTERNAL, fields[i].name, "the value '%.*s' cannot be read", (int)shown.length,
                             shown.text);
        }
        *seen |= 1u << i;
    }
    return 0;
}

static bool has_required(uint32_t seen)
{
    for (uint32_t i = 0; i < RECORD_FIELD_COUNT; i++) {
        if (fields[i].is_required && (seen & 1u << i) == 0) return false;
    }
    return true;
}

int record_parse(struct str text, struct launch_record *out_record, struct err *e)
{
    struct launch_record record = {0};
    uint32_t seen = 0;
    while (text.length > 0) {
        struct str line = str_cut(text, '\n', &text);
        if (line.length > 0 && parse_line(line, &record, &seen, e)) return -1;
    }
    if (!has_required(seen) || record.id == 0) return err_set(e, ERR_INTERNAL, "no id or no phase");
    *out_record = record;
    return 0;
}

struct str record_value(struct str text, const char *name)
{
    while (text.length > 0) {
        struct str value;
        struct str line = str_cut(text, '\n', &text);
        if (str_equal(str_cut(line, '=', &value), str(name)) && value.text != NULL) return value;
    }
    return (struct str){0};
}
