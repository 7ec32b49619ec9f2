/* Base64 from arbitrary bytes: what is read is written as the same text again, and what is written is read as the same
 * bytes. */
#include <string.h>

#include "base/ensure.h"
#include "wire/base64.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str input = {(const char *)data, size}, bytes = {0};
    struct arena arena = {0};
    struct buf text = {0};
    if (base64_read(input, &arena, &bytes)) {
        base64_write(bytes, &text);
        ensure(str_equal((struct str){text.text, text.length}, input));
        buf_clear(&text);
    }
    base64_write(input, &text);
    ensure(base64_read((struct str){text.text, text.length}, &arena, &bytes) && bytes.length == size);
    ensure(size == 0 || memcmp(bytes.text, data, size) == 0);
    buf_release(&text);
    arena_release(&arena);
    return 0;
}
