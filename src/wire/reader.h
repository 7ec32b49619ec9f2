/* Reading JSON value by value: what shapes are read with (wire/wire.h), and what a reader of its own (WIRE_CUSTOM) uses. The
 * value being read has a path, which every message names:
 *
 *     jobs[3].slots  ->  "jobs[3].slots: 0 is not a whole number from 1 to 9999999"
 *
 * Custom readers and the functions here return 0, or -1 with *e; after -1 the path is where the error was. */
#ifndef FAIRLEAD_WIRE_READER_H
#define FAIRLEAD_WIRE_READER_H

#include "wire/wire.h"

struct wire_reader {
    struct arena *arena; /* what is read is copied there */
    const char *root;    /* what messages call the whole: "Submit", "the document" */
    enum err_code code;  /* of what is refused */
    bool is_reply;       /* unknown members are skipped, null is "absent" */
    bool is_document;    /* written by people: 4.0 is a whole number, fields take text as settings do, in any case */
    void *context;       /* for custom readers */
    struct err *e;
    struct buf path;   /* of the value being read */
    struct buf scalar; /* of wire_read_scalar */
};

void wire_reader_release(struct wire_reader *r);

/* Going one level down; the result takes wire_leave back up. */
size_t wire_enter(struct wire_reader *r, const char *key);
size_t wire_enter_index(struct wire_reader *r, size_t index);
void wire_leave(struct wire_reader *r, size_t length);

/* Errors at the path: a reason; the same for a member of the object being read; "VALUE is not ACCEPTED"; and one of a function
 * below, whose field is a member of the object being read. */
#define wire_fail(r, ...) ERR_FILL(wire_fill(r, NULL, __VA_ARGS__))
#define wire_fail_at(r, key, ...) ERR_FILL(wire_fill(r, key, __VA_ARGS__))
#define wire_refuse(r, value, ...) ERR_FILL(wire_fill_refused(r, value, __VA_ARGS__))
#define wire_fail_below(r, below) ERR_FILL(wire_fill_below(r, below))

/* The functions behind the macros. */
void wire_fill(struct wire_reader *r, const char *key, const char *format, ...) __attribute__((format(printf, 3, 4)));
void wire_fill_refused(struct wire_reader *r, json_t *value, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void wire_fill_below(struct wire_reader *r, const struct err *below);

/* The name is in no table; names: those that are. */
#define wire_fail_unknown(r, name, names) ERR_FILL(wire_fill_unknown(r, name, names))
void wire_fill_unknown(struct wire_reader *r, const char *name, const char *names);

/* Single values. special: a word that stands for special_number, or NULL. */
struct wire_range {
    double min, max;
    const char *special;
    int64_t special_number;
};
int wire_read_whole(struct wire_reader *r, json_t *value, const struct wire_range *range, int64_t *out_number);
int wire_read_real(struct wire_reader *r, json_t *value, double min, double max, double *out_number); /* min < max */
int wire_read_name(struct wire_reader *r, json_t *value, const char **out_name); /* 1 to 255 printable bytes */
int wire_read_time(struct wire_reader *r, json_t *value, int64_t *out_us);
int wire_read_memory(struct wire_reader *r, json_t *value, uint64_t *out_mib); /* 0 is accepted */

/* A text, a number, true or false as the text that settings and fields read: "0.5", "24", "true". Good until the next. */
int wire_read_scalar(struct wire_reader *r, json_t *value, struct str *out_text);

/* The members of an object into a struct; what is absent stays as it is there. First names are checked, then values in the
 * order of the object, then what is required. */
int wire_read_members(struct wire_reader *r, const struct wire_shape *shape, json_t *object, void *target);

/* Every item of a list, with its index in the path. */
int wire_read_items(struct wire_reader *r, json_t *value,
                    int (*read)(struct wire_reader *r, json_t *item, uint32_t index));

/* Whether the text is 1 to 255 printable bytes. */
bool wire_is_name(struct str text);

/* A JSON document, the caller's; NULL with *e, which says line and column. Names that are in an object twice are refused. */
json_t *wire_load(struct str text, enum err_code code, struct err *e);

#endif
