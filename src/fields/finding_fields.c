#include "fields/finding_fields.h"

static const struct field rows[FINDING_FIELD_COUNT] = {
    [FINDING_FIELD_LEVEL] = {.name = "level", .help = "error, warning or note", .type = FIELD_TEXT},
    [FINDING_FIELD_FILE] = {.name = "file", .help = "the file", .type = FIELD_BYTES},
    [FINDING_FIELD_LINE] = {.name = "line", .help = "the line in it, from 1", .type = FIELD_NUMBER, .max = UINT32_MAX},
    [FINDING_FIELD_COLUMN] = {.name = "column",
                              .help = "the character in it, from 1",
                              .type = FIELD_NUMBER,
                              .max = UINT32_MAX},
    [FINDING_FIELD_TEXT] = {.name = "text", .help = "what the line does", .type = FIELD_TEXT},
    [FINDING_FIELD_REASON] = {.name = "reason", .help = "why that matters", .type = FIELD_TEXT, .is_nullable = true},
    [FINDING_FIELD_ADVICE] = {.name = "advice",
                              .help = "what to write instead",
                              .type = FIELD_TEXT,
                              .is_nullable = true},
};

const struct field_table finding_fields = {.name = "Finding",
                                           .help = "What the check of a site's configuration found in a file.",
                                           .rows = rows,
                                           .row_size = sizeof rows[0],
                                           .count = FINDING_FIELD_COUNT};

static const struct column columns[] = {
    {.field = FINDING_FIELD_LEVEL, .heading = "LEVEL"},
    {.field = FINDING_FIELD_FILE, .heading = "FILE", .width_min = COLUMN_NAME_WIDTH_MIN},
    {.field = FINDING_FIELD_LINE, .heading = "LINE"},
    {.field = FINDING_FIELD_COLUMN, .heading = "COLUMN", .rank = 3},
    {.field = FINDING_FIELD_TEXT, .heading = "TEXT", .width_min = 20},
    {.field = FINDING_FIELD_REASON, .heading = "REASON", .rank = 2, .width_min = 20},
    {.field = FINDING_FIELD_ADVICE, .heading = "ADVICE", .rank = 1, .width_min = 20},
};

const struct column_table finding_fields_columns = {
    .fields = &finding_fields, .columns = columns, .count = sizeof columns / sizeof *columns};
