/* Any bytes as frames of a job's terminal, as each side reads them: what is read lies in the bytes, is written back to
 * the same bytes where this version knows all of them, and does not depend on how the bytes were divided. */
#include <string.h>

#include "base/arena.h"
#include "base/ensure.h"
#include "terminal/frames.h"

static void check_frame(struct str bytes, size_t size, const struct frame *f)
{
    struct buf again = {0};
    ensure(size <= bytes.length && f->bytes.length <= FRAME_BYTES_MAX);
    if (f->bytes.length > 0)
        ensure(f->bytes.text >= bytes.text && f->bytes.text + f->bytes.length == bytes.text + size);
    frame_write(&again, f);
    ensure(again.length == size && memcmp(again.text, bytes.text, size) == 0);
    buf_release(&again);
}

static void read_all(struct str text, bool is_relay)
{
    while (text.length > 0) {
        struct frame f, unused;
        int64_t size = frame_read(text, is_relay, &f);
        ensure(size >= -1);
        if (size <= 0) return;
        check_frame(text, (size_t)size, &f);
        ensure(frame_read((struct str){text.text, (size_t)size - 1}, is_relay, &unused) == 0);
        text = (struct str){text.text + size, text.length - (size_t)size};
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *copy = mem_resize(NULL, 0, size + 1); /* of this size, so that a sanitizer sees what lies behind it */
    if (size > 0) memcpy(copy, data, size);
    read_all((struct str){copy, size}, true);
    read_all((struct str){copy, size}, false);
    mem_free(copy);
    return 0;
}
