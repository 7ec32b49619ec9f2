#include "cli/log_filter.h"

#include <string.h>

enum { ESCAPE = 0x1b };

/* Bytes of the UTF-8 character that begins with this byte; 0: none does. */
static size_t character_length(unsigned char first)
{
    if (first >= 0xc2 && first < 0xe0) return 2;
    if (first >= 0xe0 && first < 0xf0) return 3;
    return first >= 0xf0 && first < 0xf5 ? 4 : 0;
}

static void hold(struct log_filter *f, char byte)
{
    f->held[f->held_length++] = byte;
}

/* A sequence that is none for colours is shown without its escape; its other bytes are harmless alone. */
static void give_up(struct log_filter *f, struct buf *out)
{
    if (f->held_length == 0) return;
    buf_add_char(out, '?');
    if (f->character_length == 0) buf_add(out, f->held + 1, f->held_length - 1);
    f->held_length = f->character_length = 0;
}

/* A byte after the first of a character. Returns whether it belongs to it. */
static bool continue_character(struct log_filter *f, unsigned char byte, struct buf *out)
{
    if (byte < 0x80 || byte >= 0xc0) return false;
    hold(f, (char)byte);
    if (f->held_length < f->character_length) return true;
    /* text_make_plain knows overlong characters, surrogates and the control characters from U+0080 on. */
    text_make_plain(f->held, f->held_length);
    buf_add(out, f->held, f->held_length);
    f->held_length = f->character_length = 0;
    return true;
}

/* A byte after ESC. Returns whether it belongs to a sequence for colours. */
static bool continue_sequence(struct log_filter *f, unsigned char byte, struct buf *out)
{
    bool is_parameter = (byte >= '0' && byte <= '9') || byte == ';' || byte == ':';
    if (f->held_length == 1 ? byte != '[' : !is_parameter && byte != 'm') return false;
    if (f->held_length == sizeof f->held) return false;
    hold(f, (char)byte);
    if (byte != 'm') return true;
    buf_add(out, f->held, f->held_length);
    f->held_length = 0;
    return true;
}

static void add_first(struct log_filter *f, unsigned char byte, struct buf *out)
{
    f->character_length = character_length(byte);
    if (byte == ESCAPE || f->character_length > 0)
        hold(f, (char)byte);
    else if ((byte >= ' ' && byte < 0x7f) || byte == '\n' || byte == '\t' || byte == '\r' || byte == '\b')
        buf_add_char(out, (char)byte);
    else
        buf_add_char(out, '?');
}

void log_filter_add(struct log_filter *f, const char *bytes, size_t length, struct buf *out)
{
    for (size_t i = 0; i < length; i++) {
        unsigned char byte = (unsigned char)bytes[i];
        if (f->held_length > 0) {
            bool belongs = f->character_length > 0 ? continue_character(f, byte, out) : continue_sequence(f, byte, out);
            if (belongs) continue;
            give_up(f, out);
        }
        add_first(f, byte, out);
    }
}

void log_filter_end(struct log_filter *f, struct buf *out)
{
    give_up(f, out);
}
