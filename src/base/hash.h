/* Hashes: well mixed 64-bit numbers, the same on every run and on every machine. They are not cryptographic. */
#ifndef FAIRLEAD_BASE_HASH_H
#define FAIRLEAD_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* The hash of length bytes. Different seeds give independent hashes. */
uint64_t hash_bytes(const void *bytes, size_t length, uint64_t seed);

/* A bijection, so different values have different hashes; 0 is the hash of 0. */
uint64_t hash_u64(uint64_t value);

#endif
