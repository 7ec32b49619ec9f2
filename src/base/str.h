/* String views: text that belongs to somebody else, by address and length, passed by value. What parsers work on. */
#ifndef FAIRLEAD_BASE_STR_H
#define FAIRLEAD_BASE_STR_H

#include <stdbool.h>
#include <stddef.h>

struct str {
    const char *text; /* not closed by a zero byte; may be NULL when length is 0 */
    size_t length;
};

/* A view of a C string; NULL gives the empty view. */
struct str str(const char *text);
struct str str_range(const char *begin, const char *end);

/* Comparing, byte by byte. */
bool str_equal(struct str a, struct str b);
bool str_equal_nocase(struct str a, struct str b); /* ASCII only */
bool str_starts(struct str s, struct str prefix);
int str_compare(struct str a, struct str b); /* byte order, as strcmp */

/* Without ASCII blanks (space, tab, CR, LF) at both ends. */
struct str str_trim(struct str s);

/* The part before the first separator; *rest is what follows it. Where there is none: all of s, and *rest is empty
 * with text NULL, so that "a," gives "a" then "" and "a" gives "a" and ends. */
struct str str_cut(struct str s, char separator, struct str *rest);

/* The valid UTF-8 sequence at the beginning: its length in bytes (1 to 4), 0 where there is none or it is not valid. */
size_t str_utf8(struct str s);

/* Whether all of it is valid UTF-8 without control characters (U+0000..U+001F, U+007F..U+009F), line and paragraph
 * separators, and the controls of direction, which make a text look like another one (U+061C, U+200E, U+200F,
 * U+202A..U+202E, U+2066..U+2069). */
bool str_is_printable(struct str s);

#endif
