#include "cli/wait_line.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/quantity.h"
#include "cli/display_width.h"
#include "cli/output.h"

enum { QUIET_S = 30, WIDTH_DEFAULT = 80 };

void wait_line_begin(struct wait_line *w)
{
    const char *term = getenv("TERM");
    bool is_capable = term != NULL && term[0] != '\0' && strcmp(term, "dumb") != 0;
    *w = (struct wait_line){.is_live = is_capable && isatty(STDERR_FILENO)};
}

/* The last column stays free: a terminal may begin a new line behind it. */
static uint32_t width_max(void)
{
    struct winsize size;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return WIDTH_DEFAULT - 1;
    return size.ws_col - 1u;
}

static void write_live(struct wait_line *w, struct str text)
{
    struct buf line = {0};
    struct str shown = display_width_cut(text, width_max());
    uint32_t width = display_width(shown), old_width = w->width;
    if (old_width > width_max()) old_width = width_max(); /* the terminal has become narrower */
    buf_add_char(&line, '\r');
    buf_add_str(&line, shown);
    if (old_width > width) buf_add_blanks(&line, old_width - width);
    if (width == 0 || old_width > width) buf_add_char(&line, '\r');
    if (old_width > width) buf_add_str(&line, shown);
    (void)!write(STDERR_FILENO, line.text, line.length);
    w->width = width;
    buf_release(&line);
}

void wait_line_show(struct wait_line *w, const char *text, int64_t now_us)
{
    char plain[sizeof w->last];
    text_format(plain, sizeof plain, "%s", text);
    text_make_plain(plain, strlen(plain));
    if (strcmp(plain, w->last) == 0) return;
    if (!w->is_live && w->written_us != 0 && now_us - w->written_us < QUIET_S * US_PER_S) return;
    if (w->is_live)
        write_live(w, str(plain));
    else
        output_note("fairlead run: %s", plain);
    memcpy(w->last, plain, sizeof plain);
    w->written_us = now_us;
}

void wait_line_clear(struct wait_line *w)
{
    if (w->is_live && w->width > 0) write_live(w, str(""));
    w->last[0] = '\0';
}
