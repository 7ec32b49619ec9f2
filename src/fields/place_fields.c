#include "fields/place_fields.h"

#include "fields/limits.h"

#define SLOTS(name_, words)                                                           \
    {                                                                                 \
        .name = (name_), .help = (words), .type = FIELD_NUMBER, .max = WHOLE_REAL_MAX \
    }

static const struct field rows[PLACE_FIELD_COUNT] = {
    [PLACE_FIELD_PLACE] = {.name = "place", .help = "the partition and the host: main@localhost", .type = FIELD_TEXT},
    [PLACE_FIELD_PARTITION] = {.name = "partition", .help = "the partition", .type = FIELD_TEXT},
    [PLACE_FIELD_HOST] = {.name = "host", .help = "the host", .type = FIELD_TEXT},
    [PLACE_FIELD_STATE] =
        {.name = "state",
         .help =
             "UP; DRAIN or DOWN, by its partition or its host; CLOSED: by its partition's calendar; OVERLOADED: a load threshold is passed; "
             "LEFT: tasks run on though the partition no longer has the host; UNATTACHED: the host is "
             "only described. Jobs start only where it is UP",
         .type = FIELD_CHOICE,
         .choices = "UP,DRAIN,DOWN,CLOSED,OVERLOADED,LEFT,UNATTACHED"},
    [PLACE_FIELD_USED] = SLOTS("used", "slots of running tasks"),
    [PLACE_FIELD_RESERVED] = SLOTS("reserved", "slots reserved for waiting tasks: the most at any one time"),
    [PLACE_FIELD_TOTAL] = SLOTS("total", "slots of the partition there"),
    [PLACE_FIELD_FREE] = SLOTS("free", "slots that are free now; what other partitions use of the host counts, too"),
    [PLACE_FIELD_LOAD] = {.name = "load",
                          .help = "load_avg of the host; null: not known",
                          .type = FIELD_REAL,
                          .is_nullable = true},
};

const struct field_table place_fields = {.name = "Place",
                                         .help = "A partition on a host: a queue instance.",
                                         .rows = rows,
                                         .row_size = sizeof rows[0],
                                         .count = PLACE_FIELD_COUNT};

static const struct column columns[] = {
    {.field = PLACE_FIELD_PLACE, .width_min = COLUMN_NAME_WIDTH_MIN},
    {.field = PLACE_FIELD_PARTITION, .is_for_programs = true},
    {.field = PLACE_FIELD_HOST, .is_for_programs = true},
    {.field = PLACE_FIELD_STATE},
    {.field = PLACE_FIELD_USED},
    {.field = PLACE_FIELD_RESERVED, .rank = 2},
    {.field = PLACE_FIELD_TOTAL},
    {.field = PLACE_FIELD_FREE},
    {.field = PLACE_FIELD_LOAD, .is_fixed = true, .decimals = 2, .rank = 1},
};

const struct column_table place_fields_columns = {
    .fields = &place_fields, .columns = columns, .count = sizeof columns / sizeof *columns};
