/* Arenas hand out memory from blocks of 64 KiB, newest first, by moving a pointer; nothing is given back one by one. What
 * they cost is a memset, so that every struct starts as all zero, which is what our types take for empty. */
#include "base/arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/ensure.h"

enum { BLOCK_BYTES = 64 * 1024, ALIGNMENT = 16 };

struct arena_block {
    struct arena_block *older;
    size_t size; /* of the whole block, this head included */
    _Alignas(ALIGNMENT) char bytes[];
};

static void *system_memory(void *old, size_t size)
{
    void *memory = realloc(old, size);
    ensure(memory != NULL && "out of memory");
    return memory;
}

static struct arena_block *new_block(struct arena *a, size_t room, struct arena_block *older)
{
    size_t whole = sizeof(struct arena_block) + room;
    struct arena_block *block = system_memory(NULL, whole);
    block->older = older;
    block->size = whole;
    a->bytes += whole;
    return block;
}

static void use_block(struct arena *a, struct arena_block *block)
{
    a->blocks = block;
    a->next = block->bytes;
    a->end = (char *)block + block->size;
}

/* What is large gets a block of its own behind the newest: that one's rest stays in use, and what arena_clear keeps is
 * never somebody's huge array. */
static char *large_memory(struct arena *a, size_t size)
{
    struct arena_block *block = new_block(a, size, a->blocks->older);
    a->blocks->older = block;
    return block->bytes;
}

void *arena_alloc_raw(struct arena *a, size_t size)
{
    ensure(size < SIZE_MAX / 2);
    size = (size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    if (a->blocks == NULL) use_block(a, new_block(a, BLOCK_BYTES, NULL));
    if ((size_t)(a->end - a->next) < size) {
        if (size > BLOCK_BYTES / 4) return large_memory(a, size);
        use_block(a, new_block(a, BLOCK_BYTES, a->blocks));
    }
    char *memory = a->next;
    a->next += size;
    return memory;
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

void arena_clear(struct arena *a)
{
    struct arena_block *kept = a->blocks;
    if (kept == NULL) return;
    for (struct arena_block *block = kept->older, *older; block != NULL; block = older) {
        older = block->older;
        free(block);
    }
    kept->older = NULL;
    use_block(a, kept);
    a->bytes = kept->size;
}

void arena_release(struct arena *a)
{
    for (struct arena_block *block = a->blocks, *older; block != NULL; block = older) {
        older = block->older;
        free(block);
    }
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

void mem_free(void *memory)
{
    free(memory);
}
