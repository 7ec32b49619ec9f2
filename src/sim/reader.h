/* Reading a document key by key, by tables. What is read is in one place at a time, and that place has a path, which begins
 * every message:
 *
 *     jobs[3].slots  ->  "FILE: jobs[3].slots: 0 is not a whole number from 1 to 9999999"
 *
 * An object's keys are a table: name, type, range, and the member of the struct that takes the value. Reading an object
 * goes through its keys in the document's order; a key that no row has is an error that names what there is, and so is one
 * that is needed and missing. Keys that mean more than a number or a name have a function. */
#ifndef FAIRLEAD_SIM_READER_H
#define FAIRLEAD_SIM_READER_H

#include <jansson.h>

#include "sim/scenario.h"

struct reader {
    const char *name;  /* the document's, for messages */
    struct buf path;   /* of the value that is being read */
    struct buf scalar; /* its text, where a field or a setting reads it */
    struct scenario *s;
    struct err *e;
};

enum key_type {
    KEY_U32,    /* uint32_t: whole, least to most */
    KEY_I32,    /* int32_t */
    KEY_U64,    /* uint64_t */
    KEY_I64,    /* int64_t */
    KEY_REAL,   /* double */
    KEY_NAME,   /* const char * */
    KEY_MOMENT, /* int64_t, microseconds */
    KEY_OTHER,  /* what its function makes of it */
};

struct key {
    const char *name;
    enum key_type type;
    bool is_needed;
    size_t offset; /* of the member */
    double min, max;
    int (*read)(struct reader *r, json_t *value, void *target); /* of KEY_OTHER */
};

/* offsetof that only compiles for a member of the given C type. */
#define KEY_MEMBER(s, member, c_type) (offsetof(s, member) + 0 * sizeof(_Generic(((s *)0)->member, c_type : 0)))

/* clang-format off */
#define U32_KEY(name, s, member, min, max) {name, KEY_U32, false, KEY_MEMBER(s, member, uint32_t), min, max, NULL}
#define I32_KEY(name, s, member, min, max) {name, KEY_I32, false, KEY_MEMBER(s, member, int32_t), min, max, NULL}
#define U64_KEY(name, s, member, min, max) {name, KEY_U64, false, KEY_MEMBER(s, member, uint64_t), min, max, NULL}
#define I64_KEY(name, s, member, min, max) {name, KEY_I64, false, KEY_MEMBER(s, member, int64_t), min, max, NULL}
#define REAL_KEY(name, s, member, min, max) {name, KEY_REAL, false, KEY_MEMBER(s, member, double), min, max, NULL}
#define NAME_KEY(name, s, member) {name, KEY_NAME, false, KEY_MEMBER(s, member, const char *), 0, 0, NULL}
#define NEEDED_NAME_KEY(name, s, member) {name, KEY_NAME, true, KEY_MEMBER(s, member, const char *), 0, 0, NULL}
#define MOMENT_KEY(name, s, member) {name, KEY_MOMENT, false, KEY_MEMBER(s, member, int64_t), 0, 0, NULL}
#define OTHER_KEY(name, read) {name, KEY_OTHER, false, 0, 0, 0, read}
/* clang-format on */

#define COUNT_OF(table) (uint32_t)(sizeof(table) / sizeof *(table))

/* 1e18: beyond this a usage is a mistake. */
#define USAGE_MAX 1e18

/* Going one level down, and back up to where enter was called. */
size_t reader_enter(struct reader *r, const char *key);
size_t reader_enter_index(struct reader *r, size_t index);
void reader_leave(struct reader *r, size_t length);

/* ERR_INPUT with "NAME: PATH: " in front; -1. */
int reader_fail(struct reader *r, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same for a key of the object that is being read. */
int reader_fail_at(struct reader *r, const char *key, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* "VALUE is not ACCEPTED", the value as it stands in the document, short. */
int reader_refuse(struct reader *r, json_t *value, const char *accepted);

/* An error of somebody who begins his text with the last part of the path: "NAME: PATH.TEXT". */
int reader_fail_below(struct reader *r, const struct err *below);

/* 1 to 255 printable bytes. */
bool name_is_good(const char *name, size_t length);

/* Single values. A whole number may have a point: 4.0. */
int read_name(struct reader *r, json_t *value, const char **out_name);
int read_whole(struct reader *r, json_t *value, double min, double max, int64_t *out_number);
int read_real(struct reader *r, json_t *value, double min, double max, double *out_number);
int read_moment(struct reader *r, json_t *value, int64_t *out_us);
int read_memory(struct reader *r, json_t *value, uint64_t *out_mib); /* 0 is legal: none */

/* A text, a number or a yes or no as the text that settings and fields read: "0.5", "24", "true". Good until the next. */
int read_scalar(struct reader *r, json_t *value, struct str *out_text);

/* The name's index in the map, or an error: "'fats' is not a partition of this document". */
int read_reference(struct reader *r, json_t *value, const struct map *names, const char *what, uint32_t *out_index);

/* An object by the table of its keys. */
int read_object(struct reader *r, json_t *value, const struct key *keys, uint32_t count, void *target);

/* The row of the key, or an error that names all rows (and more, a list of further keys; may be NULL). */
const struct key *key_find(const struct key *keys, uint32_t count, const char *name);
int key_unknown(struct reader *r, const char *name, const struct key *keys, uint32_t count, const struct field *fields,
                uint32_t field_count);
int read_key(struct reader *r, json_t *value, const struct key *key, void *target);
int check_needed(struct reader *r, json_t *value, const struct key *keys, uint32_t count);

/* Every item of a list, with its index in the path. */
int read_list(struct reader *r, json_t *value, int (*read)(struct reader *r, json_t *item, uint32_t index));

/* The parts of a document, one function each, in the order in which they may refer to each other. value: NULL where the
 * document has no such part; only parts that make something of that are asked then (scenario.c, parts). */
int read_settings(struct reader *r, json_t *value);
int read_hosts(struct reader *r, json_t *value);
int read_partitions(struct reader *r, json_t *value);
int read_resources(struct reader *r, json_t *value);
int read_qos(struct reader *r, json_t *value);
int read_projects(struct reader *r, json_t *value);
int read_departments(struct reader *r, json_t *value);
int read_users(struct reader *r, json_t *value);
int read_tree(struct reader *r, json_t *value);
int read_share_tree(struct reader *r, json_t *value);
int read_jobs(struct reader *r, json_t *value);

/* The user of that name, made as enforce_user says where no row names him; NONE where it makes none. */
int member_of_user(struct reader *r, const char *name, uint32_t *out_member);

#endif
