/* Reads JSON value by value, for the readers of shapes (wire/wire.h) and for custom readers (WIRE_CUSTOM). The value
 * that is being read has a path, which every message names:
 *
 *     jobs[3].slots  ->  "jobs[3].slots: 0 is not a whole number from 1 to 9999999"
 *
 * Custom readers and the functions here return 0, or -1 with *e. After -1 the path still is that of the error. */
#ifndef FAIRLEAD_WIRE_READER_H
#define FAIRLEAD_WIRE_READER_H

#include "wire/wire.h"

struct wire_reader {
    struct arena *arena; /* for copies of texts and lists */
    const char *root;    /* the name of the whole in messages: "Submit", "the document" */
    enum err_code code;  /* of every error */
    bool is_reply;       /* unknown members are skipped, null is "absent" */
    bool is_document;    /* written by people: 4.0 is a whole number; fields take text and names in any case */
    void *context;       /* for custom readers */
    struct err *e;
    struct buf path;   /* of the value that is being read */
    struct buf scalar; /* of wire_read_scalar */
};

/* A reader of bodies of this shape, in a request or in a reply. */
struct wire_reader wire_reader_for(const struct wire_shape *shape, struct arena *arena, struct err *e);
void wire_reader_release(struct wire_reader *r);

/* These extend the path by a member's name or an item's index. They return the length to which wire_leave shortens it
 * again. */
size_t wire_enter(struct wire_reader *r, const char *key);
size_t wire_enter_index(struct wire_reader *r, size_t index);
void wire_leave(struct wire_reader *r, size_t length);

/* Errors at the path; all are -1.
 *
 *     wire_fail(r, "occurs twice")                        PATH: occurs twice
 *     wire_fail_at(r, "id", "occurs twice")               PATH.id: ..., a member of the object that is being read
 *     wire_refuse(r, value, "a list")                     PATH: VALUE is not a list
 *     wire_fail_below(r, &below)                          below, whose field becomes a member of PATH
 *     wire_fail_unknown(r, "colour", "red, green")        PATH: 'colour' is not a field; the fields are: red, green */
#define wire_fail(r, ...) ERR_FILL(wire_fill(r, NULL, __VA_ARGS__))
#define wire_fail_at(r, key, ...) ERR_FILL(wire_fill(r, key, __VA_ARGS__))
#define wire_refuse(r, value, ...) ERR_FILL(wire_fill_refused(r, value, __VA_ARGS__))
#define wire_fail_below(r, below) ERR_FILL(wire_fill_below(r, below))
#define wire_fail_unknown(r, name, names) ERR_FILL(wire_fill_unknown(r, name, names))

/* The functions behind the macros. */
void wire_fill(struct wire_reader *r, const char *key, const char *format, ...) __attribute__((format(printf, 3, 4)));
void wire_fill_refused(struct wire_reader *r, json_t *value, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void wire_fill_below(struct wire_reader *r, const struct err *below);
void wire_fill_unknown(struct wire_reader *r, const char *name, const char *names);

/* The text of a JSON string; a view, valid as long as value. */
struct str wire_string(json_t *value);

/* Readers of single values. special: a word that stands for special_number, or NULL. */
struct wire_range {
    double min, max;
    const char *special;
    int64_t special_number;
};
int wire_read_whole(struct wire_reader *r, json_t *value, const struct wire_range *range, int64_t *out_number);
int wire_read_real(struct wire_reader *r, json_t *value, double min, double max, double *out_number); /* min < max */
int wire_read_name(struct wire_reader *r, json_t *value, const char **out_name); /* 1 to 255 printable bytes */
int wire_read_time(struct wire_reader *r, json_t *value, int64_t *out_us);       /* microseconds since 1970 */
int wire_read_memory(struct wire_reader *r, json_t *value, uint64_t *out_mib);   /* 0 is accepted */

/* Reads a text, a number, true or false as the text that settings and fields are parsed from: "0.5", "24", "true".
 * *out_text lasts until the next call and as long as value. */
int wire_read_scalar(struct wire_reader *r, json_t *value, struct str *out_text);

/* Reads the members of an object into the struct target; absent members stay as they are there. Checks the names first,
 * then the values in the order of the object, then that all required members are present. */
int wire_read_members(struct wire_reader *r, const struct wire_shape *shape, json_t *object, void *target);

/* Reads one member by its name. An unknown name is refused in a request, skipped in a reply. */
int wire_read_member(struct wire_reader *r, const struct wire_shape *shape, const char *name, json_t *value,
                     void *target);

/* Calls read for every item of a list, with the item's index in the path. */
int wire_read_items(struct wire_reader *r, json_t *value,
                    int (*read)(struct wire_reader *r, json_t *item, uint32_t index));

/* Whether the text is 1 to 255 printable bytes. */
bool wire_is_name(struct str text);

/* Parses a JSON document, which the caller then owns. NULL with *e of that code, which names line and column. An object
 * with two members of one name is refused. */
json_t *wire_load(struct str text, enum err_code code, struct err *e);

/* wire_load for the body of a request; ERR_TOO_LARGE: more than WIRE_VALUES_MAX values. */
json_t *wire_load_request(struct str text, struct err *e);

#endif
