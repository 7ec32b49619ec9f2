/* Seeded random numbers (SplitMix64), for tests, benchmarks and simulation. Nothing that decides uses them. */
#ifndef FAIRLEAD_BASE_RNG_H
#define FAIRLEAD_BASE_RNG_H

#include <stdint.h>

#include "base/hash.h"

struct rng {
    uint64_t state;
};

static inline uint64_t rng_u64(struct rng *r)
{
    return hash_u64(r->state += UINT64_C(0x9e3779b97f4a7c15));
}

/* 0 to below - 1; below > 0. */
static inline uint32_t rng_below(struct rng *r, uint32_t below)
{
    return (uint32_t)((rng_u64(r) >> 32) * below >> 32);
}

/* In [0, 1). */
static inline double rng_double(struct rng *r)
{
    return (double)(rng_u64(r) >> 11) * 0x1p-53;
}

#endif
