/* hash_u64 is the finaliser of SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA
 * 2014). hash_bytes chains it over words of eight bytes and starts from seed and length, so zero bytes at the end
 * change the hash. */
#include "base/hash.h"

#include <string.h>

enum { WORD_BYTES = 8 };

#define GOLDEN_GAMMA UINT64_C(0x9e3779b97f4a7c15) /* 2^64 / golden ratio, odd: SplitMix64's increment */

uint64_t hash_u64(uint64_t value)
{
    value ^= value >> 30;
    value *= UINT64_C(0xbf58476d1ce4e5b9);
    value ^= value >> 27;
    value *= UINT64_C(0x94d049bb133111eb);
    return value ^ value >> 31;
}

/* Up to eight bytes as a number, the first byte lowest on every machine. */
static uint64_t load_word(const char *bytes, size_t count)
{
    uint64_t word = 0;
    memcpy(&word, bytes, count);
    return __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? __builtin_bswap64(word) : word;
}

uint64_t hash_bytes(const void *bytes, size_t length, uint64_t seed)
{
    const char *next = bytes;
    uint64_t hash = hash_u64(seed + length + GOLDEN_GAMMA);
    for (; length >= WORD_BYTES; next += WORD_BYTES, length -= WORD_BYTES) {
        hash = hash_u64(hash ^ load_word(next, WORD_BYTES)) + GOLDEN_GAMMA;
    }
    uint64_t tail = length > 0 ? load_word(next, length) : 0;
    return hash_u64(hash ^ tail);
}
