#include "cli/output.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/number.h"
#include "options/usage.h"

enum { PIECE_BYTES = 256 * 1024, LINE_BYTES = 1000, NOTE_WIDTH_MIN = 20 };

/* no-color.org: any value but the empty one. */
static bool wants_no_styles(void)
{
    const char *no_color = getenv("NO_COLOR"), *terminal = getenv("TERM");
    return (no_color != NULL && no_color[0] != 0) || terminal == NULL || strcmp(terminal, "dumb") == 0;
}

/* COLUMNS, which users set for pipes, else the width of the terminal. */
static uint32_t find_width(int fd, bool is_terminal)
{
    const char *columns = getenv("COLUMNS");
    uint64_t width;
    struct winsize size;
    if (columns != NULL && number_parse_u64(str(columns), &width) && width > 0 && width <= UINT16_MAX)
        return (uint32_t)width;
    return is_terminal && ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

/* Of this process: notes come after what was written before them, also if both go to one file. NULL: none. */
static struct output *standard;

void output_init(struct output *o, int fd)
{
    *o = (struct output){.fd = fd, .is_terminal = isatty(fd)};
    o->width = find_width(fd, o->is_terminal);
    o->has_styles = o->is_terminal && !wants_no_styles();
    if (fd == STDOUT_FILENO) standard = o;
}

void output_release(struct output *o)
{
    buf_release(&o->text);
    if (standard == o) standard = NULL;
}

/* Writes all bytes. Returns 0 or the errno of the failure. */
static int write_all(int fd, const char *bytes, size_t length)
{
    while (length > 0) {
        ssize_t written = write(fd, bytes, length);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0 && errno == EAGAIN && poll(&(struct pollfd){fd, POLLOUT, 0}, 1, -1) > 0) continue;
        if (written < 0) return errno;
        bytes += written;
        length -= (size_t)written;
    }
    return 0;
}

static void write_text(struct output *o)
{
    if (o->write_errno == 0) o->write_errno = write_all(o->fd, o->text.text, o->text.length);
    buf_clear(&o->text);
}

void output_pace(struct output *o)
{
    if (o->fd >= 0 && o->text.length >= PIECE_BYTES) write_text(o);
}

int output_flush(struct output *o, struct err *e)
{
    write_text(o);
    if (o->write_errno == 0) return 0;
    o->is_failure_known = true;
    return err_set(e, ERR_IO, "standard output: %s%s%s", strerror(o->write_errno), o->done != NULL ? "; " : "",
                   o->done != NULL ? o->done : "");
}

void output_line(struct output *o, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    size_t length = text_vformat((char[1]){""}, 1, format, arguments);
    va_end(arguments);
    char *line = buf_room(&o->text, length);
    va_start(arguments, format);
    text_vformat(line, length + 1, format, arguments);
    va_end(arguments);
    text_make_plain(line, length);
    o->text.length += length;
    buf_add_char(&o->text, '\n');
}

void output_note(const char *format, ...)
{
    char line[LINE_BYTES];
    va_list arguments;
    va_start(arguments, format);
    text_vformat(line, sizeof line - 1, format, arguments);
    va_end(arguments);
    size_t length = strlen(line);
    text_make_plain(line, length);
    if (standard != NULL) write_text(standard);
    struct buf text = {0};
    uint32_t width = isatty(STDERR_FILENO) ? find_width(STDERR_FILENO, true) : 0;
    if (width >= NOTE_WIDTH_MIN && length > width)
        usage_wrap(&text, (struct str){line, length}, 0, width);
    else
        buf_format(&text, "%s\n", line);
    (void)write_all(STDERR_FILENO, text.text, text.length); /* standard error may be closed on purpose */
    buf_release(&text);
}
