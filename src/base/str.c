/* String views. Nothing here allocates or reads beyond length. An empty view may have no address, so its length is
 * checked before memcmp or memchr is called. UTF-8 is validated by RFC 3629: no overlong forms, no surrogates, nothing
 * above U+10FFFF. */
#include "base/str.h"

#include <stdint.h>
#include <string.h>

struct str str(const char *text)
{
    return (struct str){text, text ? strlen(text) : 0};
}

struct str str_range(const char *begin, const char *end)
{
    return (struct str){begin, (size_t)(end - begin)};
}

bool str_equal(struct str a, struct str b)
{
    return a.length == b.length && (a.length == 0 || memcmp(a.text, b.text, a.length) == 0);
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

bool str_equal_nocase(struct str a, struct str b)
{
    if (a.length != b.length) return false;
    for (size_t i = 0; i < a.length; i++) {
        if (lower(a.text[i]) != lower(b.text[i])) return false;
    }
    return true;
}

bool str_starts(struct str s, struct str prefix)
{
    return s.length >= prefix.length && str_equal((struct str){s.text, prefix.length}, prefix);
}

int str_compare(struct str a, struct str b)
{
    size_t common = a.length < b.length ? a.length : b.length;
    int order = common > 0 ? memcmp(a.text, b.text, common) : 0;
    if (order != 0) return order;
    return a.length < b.length ? -1 : a.length > b.length;
}

/* After a mismatch the last * takes one more byte; earlier ones never need to. */
bool str_matches(struct str s, struct str pattern)
{
    size_t at = 0, in_pattern = 0, star = SIZE_MAX, star_at = 0;
    while (at < s.length) {
        char expected = in_pattern < pattern.length ? pattern.text[in_pattern] : '\0';
        if (in_pattern < pattern.length && expected == '*') {
            star = in_pattern++;
            star_at = at;
        } else if (in_pattern < pattern.length && (expected == '?' || expected == s.text[at])) {
            in_pattern++;
            at++;
        } else if (star != SIZE_MAX) {
            in_pattern = star + 1;
            at = ++star_at;
        } else {
            return false;
        }
    }
    while (in_pattern < pattern.length && pattern.text[in_pattern] == '*') in_pattern++;
    return in_pattern == pattern.length;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

struct str str_trim(struct str s)
{
    while (s.length > 0 && is_blank(s.text[0])) s.text++, s.length--;
    while (s.length > 0 && is_blank(s.text[s.length - 1])) s.length--;
    return s;
}

struct str str_cut(struct str s, char separator, struct str *rest)
{
    const char *found = s.length > 0 ? memchr(s.text, separator, s.length) : NULL;
    if (found == NULL) {
        *rest = (struct str){NULL, 0};
        return s;
    }
    *rest = str_range(found + 1, s.text + s.length);
    return str_range(s.text, found);
}

size_t str_utf8(struct str s)
{
    if (s.length == 0) return 0;
    const unsigned char *t = (const unsigned char *)s.text;
    if (t[0] < 0x80) return 1;
    size_t length = t[0] >= 0xf0 ? 4 : t[0] >= 0xe0 ? 3 : t[0] >= 0xc0 ? 2 : 0;
    if (length == 0 || t[0] > 0xf4 || s.length < length) return 0;
    uint32_t point = t[0] & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        if ((t[i] & 0xc0) != 0x80) return 0;
        point = point << 6 | (t[i] & 0x3fu);
    }
    static const uint32_t min_of_length[] = {[1] = 0, [2] = 0x80, [3] = 0x800, [4] = 0x10000};
    bool is_surrogate = point >= 0xd800 && point <= 0xdfff;
    return point < min_of_length[length] || point > 0x10ffff || is_surrogate ? 0 : length;
}

/* Whether a UTF-8 sequence is U+061C, one of U+200B, U+200E, U+200F, U+2028..U+202E, U+2060..U+2064, U+2066..U+2069
 * and U+FEFF: directions, separators, and what has no width, with which two names can look the same. (The joiners
 * U+200C and U+200D are not among them: words of some languages need them.) */
static bool is_invisible(const unsigned char *t, size_t length)
{
    if (length == 2) return t[0] == 0xd8 && t[1] == 0x9c;
    if (length == 3 && t[0] == 0xef) return t[1] == 0xbb && t[2] == 0xbf;
    if (length != 3 || t[0] != 0xe2) return false;
    if (t[1] == 0x80) return t[2] == 0x8b || t[2] == 0x8e || t[2] == 0x8f || (t[2] >= 0xa8 && t[2] <= 0xae);
    return t[1] == 0x81 && ((t[2] >= 0xa0 && t[2] <= 0xa4) || (t[2] >= 0xa6 && t[2] <= 0xa9));
}

bool str_is_printable(struct str s)
{
    while (s.length > 0) {
        size_t length = str_utf8(s);
        unsigned char first = (unsigned char)s.text[0];
        if (length == 0 || first < 0x20 || first == 0x7f) return false;
        if (length == 2 && first == 0xc2 && (unsigned char)s.text[1] < 0xa0) return false;
        if (is_invisible((const unsigned char *)s.text, length)) return false;
        s.text += length;
        s.length -= length;
    }
    return true;
}

/* Optimal string alignment distance: Levenshtein's, with a swap of neighbours as one step. Keeps three rows of the
 * matrix. */
uint32_t str_distance(struct str a, struct str b)
{
    enum { MAX = STR_DISTANCE_MAX };
    if (a.length > MAX || b.length > MAX) return MAX;
    uint32_t row_2_above[MAX + 1] = {0}, row_above[MAX + 1], row[MAX + 1];
    for (uint32_t j = 0; j <= b.length; j++) row_above[j] = j;
    for (uint32_t i = 1; i <= a.length; i++) {
        row[0] = i;
        for (uint32_t j = 1; j <= b.length; j++) {
            uint32_t min = row_above[j - 1] + (a.text[i - 1] != b.text[j - 1]);
            if (row_above[j] + 1 < min) min = row_above[j] + 1;
            if (row[j - 1] + 1 < min) min = row[j - 1] + 1;
            bool is_swapped = i > 1 && j > 1 && a.text[i - 1] == b.text[j - 2] && a.text[i - 2] == b.text[j - 1];
            if (is_swapped && row_2_above[j - 2] + 1 < min) min = row_2_above[j - 2] + 1;
            row[j] = min;
        }
        memcpy(row_2_above, row_above, sizeof row_above);
        memcpy(row_above, row, sizeof row);
    }
    return row_above[b.length];
}
