/* Writing JSON straight into a buffer, for listings of any length. Reading and short documents are jansson's business.
 *
 *     json_begin_object(&j); json_key(&j, "id"); json_u64(&j, 5); json_end(&j);      ->   {"id":5}
 *
 * Text that is not valid UTF-8 has its bad bytes replaced by U+FFFD. Infinite numbers become the strings "inf" and
 * "-inf", because JSON has no other word for them; NaN is our own mistake. */
#ifndef FAIRLEAD_BASE_JSON_H
#define FAIRLEAD_BASE_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

/* {.out = &buffer} is ready to use. Depth up to 32. */
struct json {
    struct buf *out;
    uint32_t depth;
    uint64_t closers; /* bit d: level d is an array */
    bool needs_comma; /* something stands before the next value or key of this level */
    bool after_key;   /* a key waits for its value */
};

/* The frame: objects of a key and a value each, arrays of values. */
void json_begin_object(struct json *j);
void json_begin_array(struct json *j);
void json_end(struct json *j); /* closes the innermost object or array */
void json_key(struct json *j, const char *key);

/* Values. Text gets its control characters escaped, and U+FFFD for bytes that are not UTF-8; an infinity is "inf". */
void json_str(struct json *j, struct str value);
void json_text(struct json *j, const char *value); /* NULL gives null */
void json_u64(struct json *j, uint64_t value);
void json_i64(struct json *j, int64_t value);
void json_double(struct json *j, double value);
void json_bool(struct json *j, bool value);
void json_write_null(struct json *j);

#endif
