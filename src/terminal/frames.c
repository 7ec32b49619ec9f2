#include "terminal/frames.h"

#include "base/ensure.h"

enum { SIGNAL_MAX = 31 };

/* Which frames each side gets, and how long their bodies are. */
static const struct frame_shape {
    bool to_relay;
    bool has_bytes; /* any length up to FRAME_BYTES_MAX, but none; else: */
    uint8_t length;
} shapes[] = {
    [FRAME_HELLO] = {.to_relay = true, .length = 6},
    [FRAME_INPUT] = {.to_relay = true, .has_bytes = true},
    [FRAME_INPUT_END] = {.to_relay = true},
    [FRAME_SIZE] = {.to_relay = true, .length = 4},
    [FRAME_SIGNAL] = {.to_relay = true, .length = 1},
    [FRAME_DETACH] = {.to_relay = true},
    [FRAME_WELCOME] = {.length = 2},
    [FRAME_OUTPUT] = {.has_bytes = true},
    [FRAME_ERRORS] = {.has_bytes = true},
    [FRAME_TAKEN] = {.length = 4},
    [FRAME_SKIPPED] = {0},
    [FRAME_EXIT] = {.length = 2},
};

/* --- writing ------------------------------------------------------------------------------------------------------ */

static void put(struct buf *out, uint64_t value, uint32_t size)
{
    for (uint32_t i = 0; i < size; i++) buf_add_char(out, (char)(unsigned char)(value >> 8 * i));
}

static void put_size(struct buf *out, const struct frame *frame)
{
    put(out, frame->rows, 2);
    put(out, frame->columns, 2);
}

void frame_write(struct buf *out, const struct frame *frame)
{
    const struct frame_shape *shape = &shapes[frame->kind];
    ensure(frame->bytes.length <= FRAME_BYTES_MAX && (frame->bytes.length > 0) == shape->has_bytes);
    put(out, frame->kind, 1);
    put(out, shape->has_bytes ? frame->bytes.length : shape->length, 4);
    switch (frame->kind) {
    case FRAME_HELLO:
        put(out, frame->version, 1);
        put(out, frame->flags, 1);
        put_size(out, frame);
        break;
    case FRAME_SIZE: put_size(out, frame); break;
    case FRAME_SIGNAL: put(out, frame->value, 1); break;
    case FRAME_WELCOME:
        put(out, frame->version, 1);
        put(out, frame->mode, 1);
        break;
    case FRAME_TAKEN: put(out, frame->count, 4); break;
    case FRAME_EXIT:
        put(out, frame->is_signal, 1);
        put(out, frame->value, 1);
        break;
    case FRAME_INPUT:
    case FRAME_OUTPUT:
    case FRAME_ERRORS: buf_add_str(out, frame->bytes); break;
    case FRAME_INPUT_END:
    case FRAME_DETACH:
    case FRAME_SKIPPED: break;
    }
}

/* --- reading ------------------------------------------------------------------------------------------------------ */

static uint32_t get(const char *bytes, uint32_t size)
{
    uint32_t value = 0;
    for (uint32_t i = 0; i < size; i++) value |= (uint32_t)(unsigned char)bytes[i] << 8 * i;
    return value;
}

/* Whether the body has values that this version knows. */
static bool read_body(const char *body, struct frame *f)
{
    switch (f->kind) {
    case FRAME_HELLO:
        f->version = (uint8_t)get(body, 1);
        f->flags = (uint8_t)get(body + 1, 1);
        f->rows = (uint16_t)get(body + 2, 2);
        f->columns = (uint16_t)get(body + 4, 2);
        return f->version != FRAME_VERSION || f->flags <= FRAME_HELLO_FLAGS;
    case FRAME_SIZE:
        f->rows = (uint16_t)get(body, 2);
        f->columns = (uint16_t)get(body + 2, 2);
        return true;
    case FRAME_SIGNAL: f->value = (uint8_t)get(body, 1); return f->value >= 1 && f->value <= SIGNAL_MAX;
    case FRAME_WELCOME:
        f->version = (uint8_t)get(body, 1);
        f->mode = (enum frame_mode)get(body + 1, 1);
        return f->version != FRAME_VERSION || f->mode == FRAME_MODE_PTY || f->mode == FRAME_MODE_PIPES;
    case FRAME_TAKEN: f->count = get(body, 4); return f->count >= 1 && f->count <= FRAME_WINDOW;
    case FRAME_EXIT:
        f->is_signal = get(body, 1) == 1;
        f->value = (uint8_t)get(body + 1, 1);
        return get(body, 1) <= 1;
    default: return true;
    }
}

int64_t frame_read(struct str bytes, bool is_relay, struct frame *out)
{
    if (bytes.length == 0) return 0;
    uint32_t kind = get(bytes.text, 1);
    if (kind < FRAME_HELLO || kind > FRAME_EXIT || shapes[kind].to_relay != is_relay) return -1;
    const struct frame_shape *shape = &shapes[kind];
    if (bytes.length < FRAME_HEADER_SIZE) return 0;
    uint32_t length = get(bytes.text + 1, 4);
    bool has_length = shape->has_bytes ? length >= 1 && length <= FRAME_BYTES_MAX : length == shape->length;
    if (!has_length) return -1;
    if (bytes.length - FRAME_HEADER_SIZE < length) return 0;
    struct frame frame = {.kind = (enum frame_kind)kind};
    const char *body = bytes.text + FRAME_HEADER_SIZE;
    if (shape->has_bytes) frame.bytes = (struct str){body, length};
    if (!read_body(body, &frame)) return -1;
    *out = frame;
    return FRAME_HEADER_SIZE + (int64_t)length;
}
