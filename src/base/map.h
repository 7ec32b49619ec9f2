/* Maps to indices: from a 64-bit key or from text to a uint32_t. Open addressing, linear probing, at most 7/8 full.
 * Text keys are not copied: they must live as long as the map. Not a table of values; values live in arrays. */
#ifndef FAIRLEAD_BASE_MAP_H
#define FAIRLEAD_BASE_MAP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

struct map_slot {
    uint64_t hash; /* 0: free; 1: was taken */
    struct str key;
    uint32_t value;
};

/* All zero is an empty map. Use one kind of key per map. */
struct map {
    struct map_slot *slots;
    uint32_t count, used, capacity; /* used counts taken and once taken slots; capacity is 0 or a power of two */
};

/* The value, or NONE. */
uint32_t map_get(const struct map *m, struct str key);
uint32_t map_get_u64(const struct map *m, uint64_t key);

/* Sets or replaces. */
void map_set(struct map *m, struct str key, uint32_t value);
void map_set_u64(struct map *m, uint64_t key, uint32_t value);

/* True when it was there. */
bool map_remove(struct map *m, struct str key);
bool map_remove_u64(struct map *m, uint64_t key);

/* Empty; memory kept, or given back. */
void map_clear(struct map *m);
void map_release(struct map *m);

/* A well mixed 64-bit hash, the same on every run and machine. */
uint64_t hash_bytes(const void *bytes, size_t length, uint64_t seed);
uint64_t hash_u64(uint64_t value);

#endif
