/* How values travel: as JSON, which is read strictly, and as lines. What is written, what is read and the schemas in
 * the description of the API all come from one of two descriptions:
 *
 *     a shape      the members of a C struct with their names, types and ranges: bodies, parts of documents
 *     a record     a table of fields (fields/field.h) and an array of values: rows of listings, jobs, objects
 *
 *     struct api_jobs jobs = {.all = true};
 *     wire_request(&api_jobs_shape, &jobs, &body, e);                    client: the body to send
 *     wire_read_text(&api_jobs_shape, body, arena, &jobs, e);            server
 *     wire_read_record(&job_fields, row, arena, values, e);              client: a row of a listing
 *
 * Invariants
 *   1. The readers read back exactly what wire_request, wire_write and wire_write_record wrote, except hidden fields,
 *      and bytes that are not UTF-8 in members that can only be text.
 *   2. Reading a request or a document refuses unknown names. Reading a reply skips them, and accepts any word for a
 *      choice of a shape, so a client may be older than the daemon.
 *   3. A member that is absent in the JSON of a body has its absent value in the struct (NULL, NAN, an empty list,
 *      false, or the one that its wire_field gives), and the other way round. Requests leave such a member out; replies
 *      have null. A document leaves the struct's member as it is. */
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
    WIRE_VALUES_MAX = 1 << 20, /* in one request: jansson needs up to 100 bytes for each, besides its text */
};

/* The C type of the member, and its absent value: of lists empty, of a bool false; objects and custom members have
 * none. */
enum wire_type {
    WIRE_TEXT,       /* const char *; absent NULL */
    WIRE_NAME,       /* const char *, 1 to 255 printable bytes; absent NULL */
    WIRE_CHOICE,     /* const char *, one word of a list; absent NULL */
    WIRE_BYTES,      /* const char *, any bytes but 0: a string, or {"base64":"..."} if it is not UTF-8; absent NULL */
    WIRE_BLOB,       /* struct str, any bytes, in JSON as WIRE_BYTES; absent: text NULL */
    WIRE_TEXTS,      /* struct wire_list of const char * */
    WIRE_BYTES_LIST, /* struct wire_list of struct str, each without zero bytes and followed by one; as WIRE_BYTES */
    WIRE_BOOL,       /* bool */
    WIRE_U32,        /* uint32_t, uint64_t, int32_t, int64_t in a range; its wire_field gives the absent value */
    WIRE_U64,
    WIRE_I32,
    WIRE_I64,
    WIRE_DOUBLE,  /* double: any, also "inf" and "-inf", or if min < max one in that range; absent NAN */
    WIRE_TIME,    /* int64_t, microseconds: seconds since 1970, or a date and time with a time zone (documents) */
    WIRE_MEMORY,  /* uint64_t, MiB: a whole number, or a text such as "4G" (documents) */
    WIRE_OBJECT,  /* a struct of another shape */
    WIRE_ROWS,    /* struct wire_list of structs of another shape */
    WIRE_RECORDS, /* struct wire_list of records: arrays of struct field_value, one for each field of a table */
    WIRE_CUSTOM   /* read by the function of its wire_field (documents) */
};

struct wire_list {
    void *items;
    uint32_t count;
};

struct wire_reader;

/* One member of a struct. */
struct wire_field {
    const char *name;
    const char *help; /* one line, for the API's description; completes "NAME: missing; ..." if it is required */
    enum wire_type type;
    bool is_required;    /* requests and documents: must be present; replies: is never null */
    uint32_t offset;     /* of the member in the struct */
    double min, max;     /* of numbers; of WIRE_ROWS: max items, 0: any number */
    int64_t absent;      /* of whole numbers */
    const char *special; /* of whole numbers: a word that stands for special_number, such as "parent" */
    int64_t special_number;
    const char *choices;                                             /* of WIRE_CHOICE: "live,ended,all" */
    const struct wire_shape *shape;                                  /* of WIRE_OBJECT and WIRE_ROWS */
    const struct field_table *table;                                 /* of WIRE_RECORDS */
    int (*read)(struct wire_reader *r, json_t *value, void *target); /* of WIRE_CUSTOM; target: the whole struct */
};

/* Members that a shape takes from a table of fields. The struct has two arrays for them: the values, and which fields
 * are given. */
struct wire_table_fields {
    const struct field_table *table; /* NULL: none */
    uint32_t values_offset;          /* struct field_value [table->count] */
    uint32_t given_offset;           /* bool [table->count] */
    /* The field's name in the body, or NULL if the body may not have the field. Without this function a field has its
     * own name, unless it is hidden. */
    const char *(*name)(uint32_t field);
    bool (*is_required)(uint32_t field); /* NULL: no field is */
};

struct wire_pair {
    const char *name, *value;
};

/* Members that name fields of a table, as people write them: their values are texts, numbers or booleans. They become
 * pairs, which a later reader checks (wire_read_pairs). */
struct wire_pair_fields {
    const struct field_table *table;     /* NULL: none */
    uint32_t offset;                     /* of a struct wire_list of struct wire_pair */
    bool (*is_member)(const char *name); /* whether it names a field, also by another spelling than the table's */
};

struct wire_shape {
    const char *name; /* "Submit" */
    const char *help;
    const struct wire_field *fields; /* a row without a name ends them */
    uint32_t size;                   /* of the struct */
    bool is_reply;                   /* invariants 2 and 3 */
    struct wire_table_fields table_fields;
    struct wire_pair_fields pair_fields;
};

/* --- writing ------------------------------------------------------------------------------------------------------ */

/* wire_write appends a struct as an object, wire_write_value a value, wire_write_record a record as an object. Lists of
 * rows and records have one item per line. Where only text is possible, each byte that is not UTF-8 becomes U+FFFD.
 * is_written: durations and memory are text, as people write them, not numbers. */
void wire_write(const struct wire_shape *shape, const void *value, struct buf *out);
void wire_write_value(const struct field *f, const struct field_value *value, bool is_written, struct buf *out);
void wire_write_record(const struct field_table *table, const struct field_value *values, struct buf *out);

/* Appends the whole body of a request. ERR_INPUT: a text is not UTF-8, and nothing is appended; the error names the
 * field. */
int wire_request(const struct wire_shape *shape, const void *value, struct buf *out, struct err *e);

/* --- reading ------------------------------------------------------------------------------------------------------ */

/* Parses JSON; the caller owns the value. An object with two members of one name is refused. NULL: out_error has a text
 * without control characters. */
json_t *wire_parse(struct str text, json_error_t *out_error);

/* These read an object into the struct. Text and lists are copied into arena, so the object may be freed. Errors name
 * the field, its value and what is accepted: ERR_INPUT in requests (ERR_TOO_LARGE: more than WIRE_VALUES_MAX values),
 * ERR_INTERNAL in replies. After an error out_value is undefined. */
int wire_read(const struct wire_shape *shape, json_t *object, struct arena *arena, void *out_value, struct err *e);
int wire_read_text(const struct wire_shape *shape, struct str text, struct arena *arena, void *out_value,
                   struct err *e);

/* Reads a record of a reply into table->count values; members that it lacks become field_unsaid. Numbers may be
 * out of range. ERR_INTERNAL. */
int wire_read_record(const struct field_table *table, struct str text, struct arena *arena,
                     struct field_value *out_values, struct err *e);

/* wire_clear makes every member absent; wire_is_empty: whether every member is. */
void wire_clear(const struct wire_shape *shape, void *out_value);
bool wire_is_empty(const struct wire_shape *shape, const void *value);

/* Reads one parameter of a URL's query into its member of value; commas separate the items of a list. ERR_INPUT, as
 * wire_read. */
int wire_read_query(const struct wire_shape *shape, const char *name, const char *text, struct arena *arena,
                    void *value, struct err *e);

/* Reads the body of a change of fields by their names, such as {"halflife_s":604800,"ties":"slurm"}. Values are texts,
 * numbers or booleans, and are returned as the text that people write. out_pairs: at least one wire_pair. ERR_INPUT,
 * ERR_TOO_LARGE. */
int wire_read_pairs(struct str text, struct arena *arena, struct wire_list *out_pairs, struct err *e);

/* --- lines -------------------------------------------------------------------------------------------------------- */

/* Records as lines, for Fairlead's own listings of 10^5 rows: they are read in a tenth of the time that JSON takes. The
 * first line has the names of the fields, and each record is a line. | separates the fields, and a field without a
 * value is empty. In a text, \ | and line ends become \\ \p and \n, and an empty text is \e. */
void wire_write_heading(const struct field_table *table, struct buf *out);
void wire_write_line(const struct field_table *table, const struct field_value *values, struct buf *out);

enum { WIRE_COLUMNS_MAX = 96 };
struct wire_columns {
    const struct field_table *table;
    uint32_t count;
    uint32_t field[WIRE_COLUMNS_MAX]; /* index in the table, or NONE */
};

/* Reads a heading. wire_read_line skips the columns with unknown names. ERR_INTERNAL: more than WIRE_COLUMNS_MAX
 * columns, or none that is known. */
int wire_read_heading(const struct field_table *table, struct str line, struct wire_columns *out_columns,
                      struct err *e);

/* Reads a line into table->count values; empty and missing columns become field_unsaid. Text is in memory of arena.
 * ERR_INTERNAL: a wrong number of columns, or a value of another type than its field has. */
int wire_read_line(const struct wire_columns *columns, struct str line, struct arena *arena,
                   struct field_value *out_values, struct err *e);

#endif
