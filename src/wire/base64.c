#include "wire/base64.h"

#include <stdint.h>
#include <string.h>

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void base64_write(struct str bytes, struct buf *out)
{
    const unsigned char *from = (const unsigned char *)bytes.text;
    for (size_t i = 0; i < bytes.length; i += 3) {
        size_t left = bytes.length - i;
        uint32_t bits = (uint32_t)from[i] << 16;
        if (left > 1) bits |= (uint32_t)from[i + 1] << 8;
        if (left > 2) bits |= from[i + 2];
        char group[4] = {digits[bits >> 18], digits[bits >> 12 & 63], left > 1 ? digits[bits >> 6 & 63] : '=',
                         left > 2 ? digits[bits & 63] : '='};
        buf_add(out, group, sizeof group);
    }
}

static int digit_value(char c)
{
    const char *digit = c != '\0' ? strchr(digits, c) : NULL;
    return digit ? (int)(digit - digits) : -1;
}

bool base64_read(struct str text, struct arena *arena, struct str *out_bytes)
{
    if (text.length % 4 != 0) return false;
    size_t padding = 0, length = 0;
    while (padding < 2 && padding < text.length && text.text[text.length - 1 - padding] == '=') padding++;
    char *bytes = arena_alloc(arena, text.length / 4 * 3 + 1);
    for (size_t i = 0; i < text.length; i += 4) {
        uint32_t bits = 0;
        bool is_last = i + 4 == text.length;
        for (size_t k = 0; k < 4; k++) {
            int value = is_last && k >= 4 - padding ? 0 : digit_value(text.text[i + k]);
            if (value < 0) return false;
            bits = bits << 6 | (uint32_t)value;
        }
        size_t count = is_last ? 3 - padding : 3;
        bool has_unused_bits = (bits & ((UINT32_C(1) << 8 * (3 - count)) - 1)) != 0;
        if (has_unused_bits) return false;
        for (size_t k = 0; k < count; k++) bytes[length++] = (char)(bits >> (16 - 8 * k));
    }
    *out_bytes = (struct str){bytes, length};
    return true;
}
