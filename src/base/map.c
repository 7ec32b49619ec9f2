/* The map is one array of slots, a power of two of them. A key goes into the first free slot from its hash on (linear
 * probing: Knuth, TAOCP 6.4, algorithm L). The whole hash is stored beside the key: it tells most different keys apart,
 * and a larger array is filled without reading the keys.
 *
 * A removed key leaves a mark, which searches skip and new keys may reuse. Marks count as used slots, so every search
 * meets a free one in the end. They disappear when the array is rebuilt. */
#include "base/map.h"

#include <string.h>

#include "base/arena.h"
#include "base/array.h"
#include "base/ensure.h"
#include "base/hash.h"

enum { FREE = 0, REMOVED = 1 };

static uint64_t key_hash(struct str key)
{
    uint64_t hash = hash_bytes(key.text, key.length, 0);
    return hash > REMOVED ? hash : hash + 2;
}

/* A number key is stored as the length of a key whose text is NULL. The hashes 0 and 1 are reserved (FREE, REMOVED), so
 * a key that would have one of them gets key + 2 instead. */
static uint64_t u64_hash(uint64_t key)
{
    ensure(key < UINT64_MAX - 2);
    return hash_u64(key + 2) > REMOVED ? hash_u64(key + 2) : key + 2;
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

static void add_slot(struct map *m, struct map_slot filled)
{
    uint32_t i = (uint32_t)filled.hash & (m->capacity - 1);
    while (m->slots[i].hash > REMOVED) i = (i + 1) & (m->capacity - 1);
    if (m->slots[i].hash == FREE) m->used_count++;
    m->slots[i] = filled;
    m->count++;
}

/* Makes sure that one more slot may be used, if need be by a larger array. */
static void reserve(struct map *m)
{
    if ((m->used_count + 1) * UINT64_C(8) <= m->capacity * UINT64_C(7)) return;
    struct map old = *m;
    uint32_t capacity = 16;
    ensure(old.count < UINT32_MAX / 4);
    while (capacity / 2 < old.count + 1) capacity *= 2;
    *m = (struct map){.capacity = capacity};
    m->slots = mem_resize(NULL, 0, capacity * sizeof *m->slots);
    for (uint32_t i = 0; i < old.capacity; i++) {
        if (old.slots[i].hash > REMOVED) add_slot(m, old.slots[i]);
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
    reserve(m);
    if (key.text == NULL) key.length = number;
    add_slot(m, (struct map_slot){.hash = hash, .key = key, .value = value});
}

static bool remove_slot(struct map *m, struct map_slot *slot)
{
    if (slot == NULL) return false;
    *slot = (struct map_slot){.hash = REMOVED};
    m->count--;
    return true;
}

/* An empty text needs an address as a key, because NULL marks number keys. */
static struct str with_address(struct str key)
{
    return key.text != NULL ? key : (struct str){"", 0};
}

uint32_t map_get(const struct map *m, struct str key)
{
    key = with_address(key);
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
    key = with_address(key);
    set(m, key_hash(key), key, 0, value);
}

void map_set_u64(struct map *m, uint64_t key, uint32_t value)
{
    set(m, u64_hash(key), (struct str){0}, key, value);
}

bool map_remove(struct map *m, struct str key)
{
    key = with_address(key);
    return remove_slot(m, find(m, key_hash(key), key, 0));
}

bool map_remove_u64(struct map *m, uint64_t key)
{
    return remove_slot(m, find(m, u64_hash(key), (struct str){0}, key));
}

void map_clear(struct map *m)
{
    if (m->capacity > 0) memset(m->slots, 0, m->capacity * sizeof *m->slots);
    m->count = m->used_count = 0;
}

void map_release(struct map *m)
{
    mem_free(m->slots);
    *m = (struct map){0};
}
