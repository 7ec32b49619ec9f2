/* Maps to indices: from a 64-bit key or a text to a uint32_t. Open addressing with linear probing, at most 7/8 full.
 * Text keys are not copied: they must live as long as the map. Values that are larger than an index live in arrays
 * beside the map. */
#ifndef FAIRLEAD_BASE_MAP_H
#define FAIRLEAD_BASE_MAP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

struct map_slot {
    uint64_t hash; /* 0: free; 1: its key was removed */
    struct str key;
    uint32_t value;
};

/* The state has one for every job, so it has nothing that only texts need. */
struct map_number_slot {
    uint64_t key; /* 2 more than the number. 0: free; 1: it was removed */
    uint32_t value;
};

/* All zero is an empty map. One map has one kind of key, either numbers or texts. With an arena its memory is the
 * arena's, and map_release is not needed. */
struct map {
    struct arena *arena;
    struct map_slot *slots;          /* with texts as keys */
    struct map_number_slot *numbers; /* with numbers as keys */
    uint32_t count;                  /* keys in the map */
    uint32_t used_count;             /* slots that are not free: with a key, or with a removed one */
    uint32_t capacity;               /* slots: 0 or a power of two */
};

/* The value of a key, or NONE. O(1) expected. */
uint32_t map_get(const struct map *m, struct str key);
uint32_t map_get_u64(const struct map *m, uint64_t key);

/* Sets or replaces a key's value, which is not NONE. A number is below UINT64_MAX - 2. O(1) amortised. */
void map_set(struct map *m, struct str key, uint32_t value);
void map_set_u64(struct map *m, uint64_t key, uint32_t value);

/* For a loop that soon looks this key up. */
void map_prefetch_u64(const struct map *m, uint64_t key);

/* The key of a pair of numbers, of which the first is below NONE. */
static inline uint64_t map_key_of_pair(uint32_t first, uint32_t second)
{
    return (uint64_t)first << 32 | second;
}

/* The most memory that a map takes of its arena for count keys that are numbers, none of them removed. */
size_t map_memory_u64(uint32_t count);

/* Returns whether the key was there. */
bool map_remove(struct map *m, struct str key);
bool map_remove_u64(struct map *m, uint64_t key);

/* Empties the map. map_clear keeps its memory, map_release gives it back. */
void map_clear(struct map *m);
void map_release(struct map *m);

#endif
