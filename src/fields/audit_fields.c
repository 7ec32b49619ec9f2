#include "fields/audit_fields.h"

#include "fields/limits.h"

#define TEXT(name_, words) .name = (name_), .help = (words), .type = FIELD_TEXT
#define WIDTH .width_min = COLUMN_NAME_WIDTH_MIN

static const struct field rows[AUDIT_FIELD_COUNT] = {
    [AUDIT_FIELD_SEQ] = {.name = "seq",
                         .help = "number of the entry; later ones have larger numbers",
                         .type = FIELD_NUMBER,
                         .min = 1,
                         .max = WHOLE_REAL_MAX},
    [AUDIT_FIELD_AT] = {.name = "at_us", .help = "when it was done", .type = FIELD_TIME, .max = TIME_US_MAX},
    [AUDIT_FIELD_UID] = {.name = "uid",
                         .help = "user id of who did it, as the kernel reported it",
                         .type = FIELD_NUMBER,
                         .max = UINT32_MAX},
    [AUDIT_FIELD_USER] = {TEXT("user", "the user's name at that time; null: the user id had none"),
                          .is_nullable = true},
    [AUDIT_FIELD_COMMAND] = {TEXT("command", "what was done: set, account add, partition modify, hold; start: by the "
                                             "configuration file")},
    [AUDIT_FIELD_NAME] = {TEXT("name", "what was changed: a setting, an object, ACCOUNT/USER, a job or several")},
    [AUDIT_FIELD_FIELD] = {TEXT("field", "the field that has another value; null: the whole"), .is_nullable = true},
    [AUDIT_FIELD_BEFORE] = {TEXT("before", "its value before; null: it had none"), .is_nullable = true},
    [AUDIT_FIELD_AFTER] = {TEXT("after", "its value after; null: it has none"), .is_nullable = true},
};

const struct field_table audit_fields = {.name = "AuditEntry",
                                         .help = "An administrative change.",
                                         .rows = rows,
                                         .row_size = sizeof rows[0],
                                         .count = AUDIT_FIELD_COUNT};

/* A user id without a name is shown as a number. */
static void show_user(const struct field_value *row, struct buf *out)
{
    if (row[AUDIT_FIELD_USER].text != NULL)
        buf_add_text(out, row[AUDIT_FIELD_USER].text);
    else
        buf_add_u64(out, (uint64_t)row[AUDIT_FIELD_UID].number);
}

static const struct column columns[] = {
    {.field = AUDIT_FIELD_SEQ, .is_for_programs = true},
    {.field = AUDIT_FIELD_AT, .heading = "TIME"},
    {.field = AUDIT_FIELD_UID, .is_for_programs = true},
    {.field = AUDIT_FIELD_USER, .show = show_user, WIDTH},
    {.field = AUDIT_FIELD_COMMAND, WIDTH},
    {.field = AUDIT_FIELD_NAME, WIDTH},
    {.field = AUDIT_FIELD_FIELD, WIDTH},
    {.field = AUDIT_FIELD_BEFORE, WIDTH},
    {.field = AUDIT_FIELD_AFTER, WIDTH},
};

const struct column_table audit_fields_columns = {
    .fields = &audit_fields, .columns = columns, .count = sizeof columns / sizeof *columns};
