/* The map is one array of slots, a power of two of them. A key's slot is the first free one from its hash on (linear
 * probing: Knuth, TAOCP 6.4, algorithm L); the whole hash is kept beside the key, so that most unequal keys are told
 * apart, and all are moved to a larger array, without looking at them. A removed key leaves a mark that searches
 * pass over and new keys may take; marks count as used, so that a search always meets a free slot, and go when the
 * array is renewed. */
#include "base/map.h"

#include <string.h>

#include "base/arena.h"
#include "base/array.h"
#include "base/ensure.h"

enum { FREE = 0, WAS_TAKEN = 1 };

uint64_t hash_u64(uint64_t value)
{
    /* The finaliser of SplitMix64 (Steele, Lea, Flood 2014): a bijection that mixes every bit. */
    value ^= value >> 30;
    value *= UINT64_C(0xbf58476d1ce4e5b9);
    value ^= value >> 27;
    value *= UINT64_C(0x94d049bb133111eb);
    return value ^ value >> 31;
}

/* Up to eight bytes as a number, the first lowest on every machine. */
static uint64_t load_word(const char *bytes, size_t count)
{
    uint64_t word = 0;
    memcpy(&word, bytes, count);
    return __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? __builtin_bswap64(word) : word;
}

uint64_t hash_bytes(const void *bytes, size_t length, uint64_t seed)
{
    const char *next = bytes;
    uint64_t hash = hash_u64(seed + length + UINT64_C(0x9e3779b97f4a7c15));
    for (; length >= 8; next += 8, length -= 8) {
        hash = hash_u64(hash ^ load_word(next, 8)) + UINT64_C(0x9e3779b97f4a7c15);
    }
    uint64_t tail = length > 0 ? load_word(next, length) : 0;
    return hash_u64(hash ^ tail);
}

static uint64_t key_hash(struct str key)
{
    uint64_t hash = hash_bytes(key.text, key.length, 0);
    return hash > WAS_TAKEN ? hash : hash + 2;
}

/* A 64-bit key is kept as the length of a key without text, which tells it from text keys. 0 and 1 are hashes of
 * their own (FREE, WAS_TAKEN), so the two keys that would get them move on. */
static uint64_t u64_hash(uint64_t key)
{
    ensure(key < UINT64_MAX - 2);
    return hash_u64(key + 2) > WAS_TAKEN ? hash_u64(key + 2) : key + 2;
}

static struct map_slot *find(const struct map *m, uint64_t hash, struct str key, uint64_t number)
{
    if (m->capacity == 0) return NULL;
    for (uint32_t i = (uint32_t)hash;; i++) {
        struct map_slot *slot = &m->slots[i & (m->capacity - 1)];
        if (slot->hash == FREE) return NULL;
        if (slot->hash != hash) continue;
        if (key.text == NULL ? slot->key.length == number && slot->key.text == NULL : str_equal(slot->key, key))
            return slot;
    }
}

static void place(struct map *m, struct map_slot filled)
{
    uint32_t i = (uint32_t)filled.hash & (m->capacity - 1);
    while (m->slots[i].hash > WAS_TAKEN) i = (i + 1) & (m->capacity - 1);
    if (m->slots[i].hash == FREE) m->used++;
    m->slots[i] = filled;
    m->count++;
}

static void make_room(struct map *m)
{
    if ((m->used + 1) * UINT64_C(8) <= m->capacity * UINT64_C(7)) return;
    struct map old = *m;
    uint32_t capacity = 16;
    ensure(old.count < UINT32_MAX / 4);
    while (capacity / 2 < old.count + 1) capacity *= 2;
    *m = (struct map){.capacity = capacity};
    m->slots = mem_resize(NULL, 0, capacity * sizeof *m->slots);
    for (uint32_t i = 0; i < old.capacity; i++) {
        if (old.slots[i].hash > WAS_TAKEN) place(m, old.slots[i]);
    }
    mem_free(old.slots);
}

static void set(struct map *m, uint64_t hash, struct str key, uint64_t number, uint32_t value)
{
    ensure(value != NONE);
    struct map_slot *slot = find(m, hash, key, number);
    if (slot != NULL) {
        slot->value = value;
        return;
    }
    make_room(m);
    if (key.text == NULL) key.length = number;
    place(m, (struct map_slot){hash, key, value});
}

static bool take_out(struct map *m, struct map_slot *slot)
{
    if (slot == NULL) return false;
    *slot = (struct map_slot){.hash = WAS_TAKEN};
    m->count--;
    return true;
}

/* The empty text as a key still needs an address: NULL marks number keys. */
static struct str addressed(struct str key)
{
    return key.text != NULL ? key : (struct str){"", 0};
}

uint32_t map_get(const struct map *m, struct str key)
{
    key = addressed(key);
    const struct map_slot *slot = find(m, key_hash(key), key, 0);
    return slot ? slot->value : NONE;
}

uint32_t map_get_u64(const struct map *m, uint64_t key)
{
    const struct map_slot *slot = find(m, u64_hash(key), (struct str){0}, key);
    return slot ? slot->value : NONE;
}

void map_set(struct map *m, struct str key, uint32_t value)
{
    key = addressed(key);
    set(m, key_hash(key), key, 0, value);
}

void map_set_u64(struct map *m, uint64_t key, uint32_t value)
{
    set(m, u64_hash(key), (struct str){0}, key, value);
}

bool map_remove(struct map *m, struct str key)
{
    key = addressed(key);
    return take_out(m, find(m, key_hash(key), key, 0));
}

bool map_remove_u64(struct map *m, uint64_t key)
{
    return take_out(m, find(m, u64_hash(key), (struct str){0}, key));
}

void map_clear(struct map *m)
{
    if (m->capacity > 0) memset(m->slots, 0, m->capacity * sizeof *m->slots);
    m->count = m->used = 0;
}

void map_release(struct map *m)
{
    mem_free(m->slots);
    *m = (struct map){0};
}
