#include "exec/launcher/log_text.h"

#include <string.h>

#include "base/ensure.h"
#include "base/hash.h"
#include "exec/record.h"

enum { HASH_DIGITS = 16, FIELDS_OFFSET = 1 + HASH_DIGITS + 1 };

/* What log_text_add_start writes for numbers that come later: with as many digits as the largest. */
#define PID_UNKNOWN INT32_MAX
#define TIME_UNKNOWN ((int64_t)1 << 53)

static void format_hash(const char *fields, size_t length, char out[HASH_DIGITS])
{
    static const char digits[] = "0123456789abcdef";
    uint64_t hash = hash_bytes(fields, length, 0);
    for (int i = HASH_DIGITS; i-- > 0; hash >>= 4) out[i] = digits[hash & 15];
}

static void replace(char *text, size_t length, char from, char to)
{
    for (size_t i = 0; i < length; i++) {
        if (text[i] == from) text[i] = to;
    }
}

void log_text_add(struct buf *out, struct str fields)
{
    ensure(fields.length > 0 && fields.text[fields.length - 1] == '\n');
    size_t length = fields.length - 1;
    char *line = buf_room(out, FIELDS_OFFSET + fields.length);
    memcpy(line + FIELDS_OFFSET, fields.text, fields.length);
    replace(line + FIELDS_OFFSET, length, '\n', '\t');
    line[0] = '\n';
    format_hash(line + FIELDS_OFFSET, length, line + 1);
    line[FIELDS_OFFSET - 1] = ' ';
    line[FIELDS_OFFSET + fields.length] = '\0';
    out->length += FIELDS_OFFSET + fields.length;
}

static bool has_its_hash(const char *line, size_t length)
{
    char hash[HASH_DIGITS];
    enum { MIN_LENGTH = HASH_DIGITS + 1 };
    if (length <= MIN_LENGTH || line[HASH_DIGITS] != ' ') return false;
    format_hash(line + MIN_LENGTH, length - MIN_LENGTH, hash);
    return memcmp(line, hash, HASH_DIGITS) == 0;
}

struct str log_text_next(char **text, size_t *length)
{
    for (char *end; *length > 0 && (end = memchr(*text, '\n', *length)) != NULL;) {
        char *line = *text;
        size_t line_length = (size_t)(end - line);
        *text = end + 1;
        *length -= line_length + 1;
        if (!has_its_hash(line, line_length)) continue;
        replace(line, line_length, '\t', '\n');
        return str_range(line + HASH_DIGITS + 1, end + 1);
    }
    return (struct str){0};
}

void log_text_add_record(struct buf *out, const struct launch_record *record)
{
    struct buf fields = {0};
    record_format(record, &fields);
    log_text_add(out, (struct str){fields.text, fields.length});
    buf_release(&fields);
}

/* --- starts ------------------------------------------------------------------------------------------------------- */

void log_text_add_start(struct buf *out, struct launch_record record)
{
    record.phase = LAUNCH_STARTED;
    record.pid = PID_UNKNOWN;
    record.at_boot_us = TIME_UNKNOWN;
    log_text_add_record(out, &record);
}

/* Overwrites the digits of a field with a number, which has no more of them. */
static void set_number(struct buf *line, const char *name, uint64_t value)
{
    char *at = memmem(line->text, line->length, name, strlen(name));
    ensure(at != NULL);
    at += strlen(name);
    size_t count = strspn(at, "0123456789");
    for (; count-- > 0; value /= 10) at[count] = (char)('0' + value % 10);
    ensure(value == 0);
}

void log_text_set_start(struct buf *line, int32_t pid, int64_t at_boot_us)
{
    set_number(line, "\tpid=", (uint64_t)pid);
    set_number(line, "\tat_boot_us=", (uint64_t)at_boot_us);
    format_hash(line->text + FIELDS_OFFSET, line->length - FIELDS_OFFSET - 1, line->text + 1);
}
