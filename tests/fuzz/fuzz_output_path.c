/* Patterns of output paths, names and directories from arbitrary bytes, separated by zero bytes. The path is absolute,
 * and names add no slash to it. */
#include <string.h>

#include "base/ensure.h"
#include "engine/output_path.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t count_slashes(const char *text)
{
    size_t count = 0;
    for (; *text != '\0'; text++) count += *text == '/';
    return count;
}

static const char *next_text(struct str *io_rest, struct arena *arena)
{
    struct str rest = {0}, first = io_rest->text != NULL ? str_cut(*io_rest, '\0', &rest) : (struct str){"", 0};
    *io_rest = rest;
    return arena_copy(arena, first);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str rest = {(const char *)data, size};
    struct arena arena = {0};
    struct buf path = {0};
    const char *pattern = next_text(&rest, &arena), *name = next_text(&rest, &arena), *user = next_text(&rest, &arena);
    struct job_text text = {.name = name, .directory = "/a/b"};
    struct job j = {.id = 4000000000, .is_array = size % 2 == 0, .text = &text};
    output_path_expand(&j, user, 7, pattern, &path);
    ensure(path.length > 0 && strlen(path.text) == path.length);
    size_t slashes = count_slashes(pattern) + (pattern[0] == '/' ? 0 : 3);
    ensure((path.text[0] == '/') && count_slashes(path.text) == slashes);
    buf_release(&path);
    arena_release(&arena);
    return 0;
}
