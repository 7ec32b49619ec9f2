/* How values travel: as JSON, strictly read, and as lines. Two descriptions say what a body or document has; writing,
 * reading and the schemas of the API's description come from them.
 *
 *     a shape      the members of a C struct, with names, types and ranges: one-off bodies, parts of a document
 *     a record     a table of fields (fields/field.h) and an array of values: rows of listings, jobs, objects
 *
 *     struct wire_jobs jobs = {.all = true};
 *     wire_request(&wire_jobs_shape, &jobs, &body, e);                  client: the body to send
 *     wire_read_text(&wire_jobs_shape, body, arena, &jobs, e);           server
 *     wire_read_record(&job_fields, row, arena, values, e);              client: a row of a listing
 *
 * Invariants
 *   1. What wire_request, wire_write or wire_write_record wrote, the readers read back the same, bytes that are not UTF-8
 *      included.
 *   2. Reading a request or a document refuses names it does not know; reading a reply skips them, so a client may be older
 *      than the daemon.
 *   3. A member that is absent has its absent value in the struct (NULL, NAN, or what its row says) and the other way round;
 *      requests leave it out, replies have null. */
#ifndef FAIRLEAD_WIRE_WIRE_H
#define FAIRLEAD_WIRE_WIRE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/array.h"
#include "base/err.h"
#include "base/text.h"
#include "fields/field.h"

enum {
    WIRE_VALUES_MAX = 1 << 20, /* in one request: each costs the reader up to 100 bytes beside its own */
};

enum wire_type {
    WIRE_TEXT,   /* const char *; absent NULL */
    WIRE_NAME,   /* const char *, 1 to 255 printable bytes; absent NULL */
    WIRE_CHOICE, /* const char *, one of a list; absent NULL */
    WIRE_BYTES,  /* const char *, any bytes but 0: a string, or {"base64":"..."} when it is not UTF-8; absent NULL */
    WIRE_BLOB,   /* struct str, any bytes at all, as above; absent: text NULL */
    WIRE_TEXTS,  /* struct wire_list of const char * */
    WIRE_BYTES_LIST, /* struct wire_list of struct str without 0 bytes, each followed by one */
    WIRE_BOOL,       /* bool */
    WIRE_U32,        /* uint32_t, uint64_t, int32_t, int64_t in a range; each with an absent value of its own */
    WIRE_U64,
    WIRE_I32,
    WIRE_I64,
    WIRE_DOUBLE,  /* double, "inf"; in a range where min < max; absent NAN */
    WIRE_TIME,    /* int64_t, microseconds: seconds since 1970, or a date and time with a time zone (documents) */
    WIRE_MEMORY,  /* uint64_t, MiB: a whole number, or a text such as "4G" (documents) */
    WIRE_OBJECT,  /* a struct of another shape */
    WIRE_ROWS,    /* struct wire_list of structs of another shape */
    WIRE_RECORDS, /* struct wire_list of arrays of struct field_value, by a table */
    WIRE_CUSTOM   /* what its function makes of it (documents) */
};

struct wire_list {
    void *items;
    uint32_t count;
};

struct wire_reader;

struct wire_field {
    const char *name;
    const char *help; /* one line, for the API's description; completes "NAME: missing; ..." where it is required */
    enum wire_type type;
    bool is_required;    /* requests and documents: has to be there; replies: is never null */
    uint32_t offset;     /* of the member in the struct */
    double min, max;     /* of numbers */
    int64_t absent;      /* of whole numbers */
    const char *special; /* of whole numbers: a word that stands for special_number, such as "parent" */
    int64_t special_number;
    const char *choices;                                             /* of WIRE_CHOICE: "live,ended,all" */
    const struct wire_shape *shape;                                  /* of WIRE_OBJECT and WIRE_ROWS */
    const struct field_table *table;                                 /* of WIRE_RECORDS */
    int (*read)(struct wire_reader *r, json_t *value, void *target); /* of WIRE_CUSTOM; target: the whole struct */
};

/* Further members by a table of fields: two arrays in the struct, of values and of which were given. */
struct wire_more {
    const struct field_table *table; /* NULL: none */
    uint32_t values_offset;          /* struct field_value [count] */
    uint32_t given_offset;           /* bool [count] */
    /* Under which name the body may have the field; NULL: it may not. Without a function: its own, unless it is hidden. */
    const char *(*name)(uint32_t field);
    bool (*is_required)(uint32_t field); /* NULL: none is */
};

struct wire_shape {
    const char *name; /* "Submit" */
    const char *help;
    const struct wire_field *fields; /* a row without name ends */
    uint32_t size;                   /* of the struct */
    bool is_reply;                   /* invariants 2 and 3 */
    struct wire_more more;
};

/* --- writing ------------------------------------------------------------------------------------------------------ */

/* Appends a value (is_written: durations and memory as text), or an object; lists of rows one row a line. A text that is not UTF-8 where only text is possible
 * gets U+FFFD for each bad byte. */
void wire_write(const struct wire_shape *shape, const void *value, struct buf *out);
void wire_write_value(const struct field *f, const struct field_value *value, bool is_written, struct buf *out);
void wire_write_record(const struct field_table *table, const struct field_value *values, struct buf *out);

/* A request's whole body, appended. ERR_INPUT: a text that is not UTF-8, naming the field. */
int wire_request(const struct wire_shape *shape, const void *value, struct buf *out, struct err *e);

/* --- reading ------------------------------------------------------------------------------------------------------ */

/* Reads an object into the struct; text and lists are copied into arena, the object may go. What is refused names the
 * field, its value and what is accepted: ERR_INPUT (ERR_TOO_LARGE: more values than WIRE_VALUES_MAX) in requests,
 * ERR_INTERNAL in replies. out_value is undefined then. */
int wire_read(const struct wire_shape *shape, json_t *object, struct arena *arena, void *out_value, struct err *e);
int wire_read_text(const struct wire_shape *shape, struct str text, struct arena *arena, void *out_value,
                   struct err *e);

/* A record of a reply: table->count values. */
int wire_read_record(const struct field_table *table, struct str text, struct arena *arena,
                     struct field_value *out_values, struct err *e);

/* Every member absent, and whether it is so. */
void wire_clear(const struct wire_shape *shape, void *out_value);
bool wire_is_empty(const struct wire_shape *shape, const void *value);

/* One value as it is in a URL's query: lists are separated by commas. ERR_INPUT as wire_read. */
int wire_read_query(const struct wire_shape *shape, const char *name, const char *text, struct arena *arena,
                    void *value, struct err *e);

/* The body of a change of fields by their names, {"halflife_s":604800,"ties":"slurm"}: values are text, numbers or
 * booleans, and become text as people write them. At least one. out: wire_pair. */
struct wire_pair {
    const char *name, *value;
};
int wire_read_pairs(struct str text, struct arena *arena, struct wire_list *out_pairs, struct err *e);

/* --- lines -------------------------------------------------------------------------------------------------------- */

/* Records as lines, for Fairlead's own listings of 10^5 rows, which are read in a tenth of the time of JSON: a line of the
 * fields' names, then a line a record. Fields are separated by |, one without a value is empty; in a text \\ | and line ends
 * are \\\\, \\p and \\n, and an empty text is \\e. */
void wire_write_heading(const struct field_table *table, struct buf *out);
void wire_write_line(const struct field_table *table, const struct field_value *values, struct buf *out);

/* The columns of a heading, unknown ones skipped. ERR_INTERNAL: more than WIRE_COLUMNS_MAX, or none that is known. */
enum { WIRE_COLUMNS_MAX = 96 };
struct wire_columns {
    const struct field_table *table;
    uint32_t count;
    uint32_t field[WIRE_COLUMNS_MAX]; /* index in the table, or NONE */
};
int wire_read_heading(const struct field_table *table, struct str line, struct wire_columns *out_columns,
                      struct err *e);

/* Fields that the heading lacks are absent. Text is in memory of arena. */
int wire_read_line(const struct wire_columns *columns, struct str line, struct arena *arena,
                   struct field_value *out_values, struct err *e);

#endif
