/* String views: an address and a length, passed by value. A view does not own its text. Parsers work on views. */
#ifndef FAIRLEAD_BASE_STR_H
#define FAIRLEAD_BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct str {
    const char *text; /* without a zero byte at its end; may be NULL when length is 0 */
    size_t length;
};

/* A view of a C string; NULL gives the empty view. */
struct str str(const char *text);
struct str str_range(const char *begin, const char *end);

/* Comparisons, byte by byte. */
bool str_equal(struct str a, struct str b);
bool str_equal_nocase(struct str a, struct str b); /* ASCII only */
bool str_starts(struct str s, struct str prefix);
int str_compare(struct str a, struct str b); /* byte order, as strcmp */

/* Whether all of s matches a pattern, in which * stands for any bytes and ? for one. O(lengths of both multiplied). */
bool str_matches(struct str s, struct str pattern);

/* s without ASCII blanks (space, tab, CR, LF) at both ends. */
struct str str_trim(struct str s);

/* The part before the first separator; *rest becomes the part after it. Without a separator: all of s, and *rest
 * becomes empty with text NULL. So "a," gives "a" and then "", and "a" gives "a" and then ends. */
struct str str_cut(struct str s, char separator, struct str *rest);

/* The length in bytes (1 to 4) of the valid UTF-8 sequence that s begins with; 0 if there is none. */
size_t str_utf8(struct str s);

/* Whether all of s is valid UTF-8 without these characters: control characters (U+0000..U+001F, U+007F..U+009F), line
 * and paragraph separators (U+2028, U+2029), and what can make a text look like another one: direction controls
 * (U+061C, U+200E, U+200F, U+202A..U+202E, U+2066..U+2069) and characters without width (U+200B,
 * U+2060..U+2064, U+FEFF; not the joiners U+200C and U+200D). */
bool str_is_printable(struct str s);

/* The number of typing errors between two words: letters added, lost, changed or swapped with a neighbour. Words over
 * STR_DISTANCE_MAX letters count as entirely different. O(length of a * length of b). */
enum { STR_DISTANCE_MAX = 40 };
uint32_t str_distance(struct str a, struct str b);

#endif
