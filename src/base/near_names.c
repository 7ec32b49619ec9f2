#include "base/near_names.h"

#include <stdbool.h>

enum { PART_LENGTH_MIN = 3 };

/* A word in lower case; empty if it is too long to be compared. */
struct lower {
    char bytes[STR_DISTANCE_MAX];
    struct str text;
};

static struct lower *lower_of(struct lower *out, struct str s)
{
    out->text = (struct str){out->bytes, s.length <= STR_DISTANCE_MAX ? s.length : 0};
    for (size_t i = 0; i < out->text.length; i++) {
        char c = s.text[i];
        out->bytes[i] = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
    }
    return out;
}

static bool has_part(struct str s, struct str part)
{
    for (size_t i = 0; i + part.length <= s.length; i++) {
        if (str_equal((struct str){s.text + i, part.length}, part)) return true;
    }
    return false;
}

uint32_t near_names_find(struct str list, struct str word, struct str out[NEAR_NAMES_MAX])
{
    struct lower lower_word, lower_name;
    struct str wanted = lower_of(&lower_word, word)->text, rest;
    uint32_t count = 0, min = (uint32_t)wanted.length / 3, part_count = 0;
    struct str parts[NEAR_NAMES_MAX];
    if (wanted.length == 0 || list.length == 0) return 0;
    for (rest = list; rest.text != NULL;) {
        struct str name = str_trim(str_cut(rest, ',', &rest)), lower = lower_of(&lower_name, name)->text;
        if (lower.length == 0) continue;
        uint32_t distance = str_distance(wanted, lower);
        if (distance < min) {
            min = distance;
            count = 0;
        }
        if (distance == min && count < NEAR_NAMES_MAX) out[count++] = name;
        if (wanted.length >= PART_LENGTH_MIN && part_count < NEAR_NAMES_MAX && has_part(lower, wanted))
            parts[part_count++] = name;
    }
    if (count > 0) return count;
    for (uint32_t i = 0; i < part_count; i++) out[i] = parts[i];
    return part_count;
}
