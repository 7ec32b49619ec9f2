/* The map is one array of slots, a power of two of them. A key goes into the first free slot from its hash on (linear
 * probing: Knuth, TAOCP 6.4, algorithm L). The whole hash of a text is stored beside the key: it tells most different
 * keys apart, and a larger array is filled without reading the keys. That of a number is computed.
 *
 * A removed key leaves a mark, which searches skip and new keys may reuse. Marks count as used slots, so every search
 * meets a free one in the end. They disappear when the array is rebuilt, or when the slot behind them is free. */
#include "base/map.h"

#include <string.h>

#include "base/array.h"
#include "base/ensure.h"
#include "base/hash.h"

enum { FREE = 0, REMOVED = 1 };

static uint64_t key_hash(struct str key)
{
    uint64_t hash = hash_bytes(key.text, key.length, 0);
    return hash > REMOVED ? hash : hash + 2;
}

static struct map_slot *find(const struct map *m, uint64_t hash, struct str key)
{
    if (m->slots == NULL) return NULL;
    for (uint32_t i = (uint32_t)hash;; i++) {
        struct map_slot *slot = &m->slots[i & (m->capacity - 1)];
        if (slot->hash == FREE) return NULL;
        if (slot->hash == hash && str_equal(slot->key, key)) return slot;
    }
}

/* The key of a slot is that of the map plus 2, because FREE and REMOVED are reserved. */
static uint64_t stored_key(uint64_t key)
{
    ensure(key < UINT64_MAX - 2);
    return key + 2;
}

static struct map_number_slot *find_number(const struct map *m, uint64_t stored)
{
    if (m->numbers == NULL) return NULL;
    for (uint32_t i = (uint32_t)hash_u64(stored);; i++) {
        struct map_number_slot *slot = &m->numbers[i & (m->capacity - 1)];
        if (slot->key == FREE) return NULL;
        if (slot->key == stored) return slot;
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

static void add_number(struct map *m, struct map_number_slot filled)
{
    uint32_t i = (uint32_t)hash_u64(filled.key) & (m->capacity - 1);
    while (m->numbers[i].key > REMOVED) i = (i + 1) & (m->capacity - 1);
    if (m->numbers[i].key == FREE) m->used_count++;
    m->numbers[i] = filled;
    m->count++;
}

static void *slots_memory(const struct map *m, size_t slot_size)
{
    size_t size = m->capacity * slot_size;
    return m->arena != NULL ? arena_alloc(m->arena, size) : mem_resize(NULL, 0, size);
}

/* The capacities are 16, 64, 256 and so on: an array that is 7/8 full is followed by one that is less than half full.
 * The loop is an upper bound for both steps of that. */
size_t map_memory_u64(uint32_t count)
{
    size_t bytes = 0, capacity = 16;
    if (count == 0) return 0;
    for (;; capacity *= 2) {
        bytes += arena_size(capacity, sizeof(struct map_number_slot));
        if (capacity / 2 >= (size_t)count + 1) return bytes;
    }
}

/* Makes sure that one more slot may be used, if need be by a larger array. */
static void reserve(struct map *m, bool is_of_numbers)
{
    if ((m->used_count + 1) * UINT64_C(8) <= m->capacity * UINT64_C(7)) return;
    struct map old = *m;
    uint32_t capacity = 16;
    ensure(old.count < UINT32_MAX / 4);
    while (capacity / 2 < old.count + 1) capacity *= 2;
    *m = (struct map){.arena = old.arena, .capacity = capacity};
    if (is_of_numbers)
        m->numbers = slots_memory(m, sizeof *m->numbers);
    else
        m->slots = slots_memory(m, sizeof *m->slots);
    for (uint32_t i = 0; i < old.capacity; i++) {
        if (is_of_numbers ? old.numbers[i].key <= REMOVED : old.slots[i].hash <= REMOVED) continue;
        if (is_of_numbers)
            add_number(m, old.numbers[i]);
        else
            add_slot(m, old.slots[i]);
    }
    map_release(&old);
}

/* The address of a key is never NULL, also of an empty text. */
static struct str with_address(struct str key)
{
    return key.text != NULL ? key : (struct str){"", 0};
}

uint32_t map_get(const struct map *m, struct str key)
{
    key = with_address(key);
    const struct map_slot *slot = find(m, key_hash(key), key);
    return slot ? slot->value : NONE;
}

uint32_t map_get_u64(const struct map *m, uint64_t key)
{
    const struct map_number_slot *slot = find_number(m, stored_key(key));
    return slot ? slot->value : NONE;
}

void map_prefetch_u64(const struct map *m, uint64_t key)
{
    if (m->numbers != NULL) __builtin_prefetch(&m->numbers[(uint32_t)hash_u64(stored_key(key)) & (m->capacity - 1)], 1);
}

void map_set(struct map *m, struct str key, uint32_t value)
{
    ensure(value != NONE && m->numbers == NULL);
    key = with_address(key);
    uint64_t hash = key_hash(key);
    struct map_slot *slot = find(m, hash, key);
    if (slot != NULL) {
        slot->value = value;
        return;
    }
    reserve(m, false);
    add_slot(m, (struct map_slot){.hash = hash, .key = key, .value = value});
}

void map_set_u64(struct map *m, uint64_t key, uint32_t value)
{
    ensure(value != NONE && m->slots == NULL);
    struct map_number_slot *slot = find_number(m, stored_key(key));
    if (slot != NULL) {
        slot->value = value;
        return;
    }
    reserve(m, true);
    add_number(m, (struct map_number_slot){.key = stored_key(key), .value = value});
}

bool map_remove(struct map *m, struct str key)
{
    key = with_address(key);
    struct map_slot *slot = find(m, key_hash(key), key);
    if (slot == NULL) return false;
    *slot = (struct map_slot){.hash = REMOVED};
    m->count--;
    uint32_t i = (uint32_t)(slot - m->slots), mask = m->capacity - 1;
    if (m->slots[(i + 1) & mask].hash != FREE) return true;
    for (; m->slots[i].hash == REMOVED; i = (i - 1) & mask, m->used_count--) m->slots[i].hash = FREE;
    return true;
}

bool map_remove_u64(struct map *m, uint64_t key)
{
    struct map_number_slot *slot = find_number(m, stored_key(key));
    if (slot == NULL) return false;
    *slot = (struct map_number_slot){.key = REMOVED};
    m->count--;
    uint32_t i = (uint32_t)(slot - m->numbers), mask = m->capacity - 1;
    if (m->numbers[(i + 1) & mask].key != FREE) return true;
    for (; m->numbers[i].key == REMOVED; i = (i - 1) & mask, m->used_count--) m->numbers[i].key = FREE;
    return true;
}

void map_clear(struct map *m)
{
    if (m->slots != NULL) memset(m->slots, 0, m->capacity * sizeof *m->slots);
    if (m->numbers != NULL) memset(m->numbers, 0, m->capacity * sizeof *m->numbers);
    m->count = m->used_count = 0;
}

void map_release(struct map *m)
{
    if (m->arena == NULL) {
        mem_free(m->slots);
        mem_free(m->numbers);
    }
    *m = (struct map){.arena = m->arena};
}
