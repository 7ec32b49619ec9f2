#include "cli/setting_columns.h"

#include "base/number.h"
#include "base/quantity.h"
#include "fields/settings.h"

enum { READABLE_S_MAX = 3600 }; /* longer durations are shown as D-H:M:S, too */

static const char *unit_of(const struct field *f)
{
    switch (f->type) {
    case FIELD_SECONDS: return "s";
    case FIELD_MINUTES: return "min";
    case FIELD_HOURS: return "h";
    case FIELD_MEMORY: return "MiB";
    default: return NULL;
    }
}

/* "604800 s (7-00:00:00)": the number is what set accepts. */
static void show(const struct field_value *row, const char *text, struct buf *out)
{
    struct field_value value;
    const struct field *f;
    enum setting setting;
    uint64_t number;
    char duration[32];
    buf_add_text(out, text[0] != '\0' ? text : "-");
    if (setting_find(str(row[SETTING_FIELD_NAME].text), &setting, &f, NULL) != 0) return;
    const char *unit = unit_of(f);
    if (unit == NULL || !number_parse_u64(str(text), &number)) return;
    buf_format(out, " %s", unit);
    if (!field_is_duration(f) || field_parse(f, str(text), NULL, &value, NULL) != 0) return;
    if (value.number < READABLE_S_MAX) return;
    duration_format(duration, value.number);
    buf_format(out, " (%s)", duration);
}

static void show_value(const struct field_value *row, struct buf *out)
{
    show(row, row[SETTING_FIELD_VALUE].text, out);
}

static void show_default(const struct field_value *row, struct buf *out)
{
    show(row, row[SETTING_FIELD_DEFAULT].text, out);
}

/* In a table the groups are headings between the rows, and the accepted values are in --help. */
static const struct column columns[] = {
    {.field = SETTING_FIELD_NAME, .heading = "SETTING"},
    {.field = SETTING_FIELD_VALUE, .width_min = 20, .show = show_value},
    {.field = SETTING_FIELD_DEFAULT, .width_min = 20, .rank = 2, .show = show_default},
    {.field = SETTING_FIELD_HELP, .heading = "MEANING", .width_min = 20, .rank = 1},
    {.field = SETTING_FIELD_GROUP, .is_for_programs = true},
    {.field = SETTING_FIELD_ACCEPTED, .is_for_programs = true},
};

const struct column_table setting_columns = {
    .fields = &setting_fields, .columns = columns, .count = sizeof columns / sizeof *columns};
