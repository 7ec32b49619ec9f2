/* Arenas hand out memory from blocks of 64 KiB by moving a pointer. Single allocations are never freed.
 *
 * Cost: an allocation is a comparison, an addition and a memset. The memset makes every struct start as all zero, which
 * means empty for all types. */
#include "base/arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/ensure.h"

enum { BLOCK_BYTES = 64 * 1024, ALIGNMENT = 16 };

struct arena_block {
    struct arena_block *older;
    size_t size; /* of the whole block, including this header */
    _Alignas(ALIGNMENT) char bytes[];
};

static void *system_memory(void *old, size_t size)
{
    void *memory = mem_try_resize(old, size);
    ensure(memory != NULL && "out of memory");
    return memory;
}

/* NULL: there is no memory. */
static struct arena_block *try_new_block(struct arena *a, size_t room, struct arena_block *older)
{
    size_t size = sizeof(struct arena_block) + room;
    struct arena_block *block = mem_try_resize(NULL, size);
    if (block == NULL) return NULL;
    block->older = older;
    block->size = size;
    a->bytes += size;
    return block;
}

static struct arena_block *new_block(struct arena *a, size_t room, struct arena_block *older)
{
    struct arena_block *block = try_new_block(a, room, older);
    ensure(block != NULL && "out of memory");
    return block;
}

static void use_block(struct arena *a, struct arena_block *block)
{
    a->blocks = block;
    a->next = block->bytes;
    a->end = (char *)block + block->size;
}

/* A large allocation gets a block of its own, which is linked after the newest one. So the rest of the newest block
 * stays in use, and the block that arena_clear keeps is never one huge array. */
static char *large_memory(struct arena *a, size_t size)
{
    struct arena_block *block = new_block(a, size, a->blocks->older);
    a->blocks->older = block;
    return block->bytes;
}

void *arena_alloc_raw(struct arena *a, size_t size)
{
    ensure(size < SIZE_MAX / 2);
    size = arena_size(size, 1);
    if (a->blocks == NULL) use_block(a, new_block(a, BLOCK_BYTES, NULL));
    if ((size_t)(a->end - a->next) < size) {
        if (size > BLOCK_BYTES / 4) return large_memory(a, size);
        use_block(a, new_block(a, BLOCK_BYTES, a->blocks));
    }
    char *memory = a->next;
    a->next += size;
    return memory;
}

size_t arena_size(size_t count, size_t item_size)
{
    return (count * item_size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
}

bool arena_reserve(struct arena *a, size_t bytes)
{
    if (a->blocks != NULL && (size_t)(a->end - a->next) >= bytes) return true;
    struct arena_block *block = try_new_block(a, bytes < BLOCK_BYTES ? BLOCK_BYTES : bytes, a->blocks);
    if (block != NULL) use_block(a, block);
    return block != NULL;
}

void *arena_alloc(struct arena *a, size_t size)
{
    return memset(arena_alloc_raw(a, size), 0, size);
}

char *arena_copy(struct arena *a, struct str s)
{
    char *copy = arena_alloc(a, s.length + 1);
    if (s.length > 0) memcpy(copy, s.text, s.length);
    return copy;
}

static void free_blocks(struct arena_block *block)
{
    for (struct arena_block *older; block != NULL; block = older) {
        older = block->older;
        free(block);
    }
}

void arena_clear(struct arena *a)
{
    struct arena_block *kept = a->blocks;
    if (kept == NULL) return;
    free_blocks(kept->older);
    kept->older = NULL;
    use_block(a, kept);
    a->bytes = kept->size;
}

void arena_release(struct arena *a)
{
    free_blocks(a->blocks);
    *a = (struct arena){0};
}

void *mem_resize(void *old, size_t old_size, size_t size)
{
    if (size == 0) {
        free(old);
        return NULL;
    }
    char *memory = system_memory(old, size);
    if (size > old_size) memset(memory + old_size, 0, size - old_size);
    return memory;
}

void *mem_try_resize(void *old, size_t size)
{
    ensure(size > 0);
    return realloc(old, size);
}

void *mem_resize_raw(void *old, size_t size)
{
    return system_memory(old, size);
}

void mem_free(void *memory)
{
    free(memory);
}
