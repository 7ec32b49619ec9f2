/* Writes JSON straight into a buffer, for listings of any length. jansson reads JSON and builds short documents.
 *
 *     json_begin_object(&j); json_key(&j, "id"); json_u64(&j, 5); json_end(&j);      ->   {"id":5}
 *
 * Bytes that are not valid UTF-8 are replaced by U+FFFD. Infinite numbers become the strings "inf" and "-inf", because
 * JSON has no number for them. NaN is a programming error. */
#ifndef FAIRLEAD_BASE_JSON_H
#define FAIRLEAD_BASE_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

/* {.out = &buffer} is ready to use. Nesting goes up to 32 levels. */
struct json {
    struct buf *out;
    uint32_t depth;
    uint64_t array_levels; /* bit d is set if level d is an array */
    bool needs_comma;      /* a value precedes the next value or key of this level */
    bool is_after_key;     /* a key waits for its value */
};

/* Structure: an object has pairs of a key and a value, an array has values. */
void json_begin_object(struct json *j);
void json_begin_array(struct json *j);
void json_end(struct json *j); /* closes the innermost object or array */
void json_key(struct json *j, const char *key);

/* Values. Control characters in texts are escaped. */
void json_str(struct json *j, struct str value);
void json_text(struct json *j, const char *value); /* NULL gives null */
void json_u64(struct json *j, uint64_t value);
void json_i64(struct json *j, int64_t value);
void json_double(struct json *j, double value); /* the shortest number that reads back the same */
void json_bool(struct json *j, bool value);
void json_write_null(struct json *j); /* json_null is jansson's */

#endif
