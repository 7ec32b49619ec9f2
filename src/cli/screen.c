#include "cli/screen.h"

#include <curses.h>
#include <langinfo.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/display_width.h"

enum { SLICE_MS = 250, ESCAPE_WAIT_MS = 50, CTRL_C = 3, BACKSPACE = 8, DELETE = 127 };

static SCREEN *opened;
static bool is_utf8;
static volatile sig_atomic_t is_interrupted, is_busy;

/* --- signals ------------------------------------------------------------------------------------------------------ */

/* The main program is in a system call while it is busy, so the terminal's state is whole. */
static void on_end(int number)
{
    (void)number;
    is_interrupted = 1;
    if (!is_busy) return;
    if (opened != NULL) endwin();
    _exit(0);
}

/* A defect: the message of ensure, if there is one, stands above the prompt. */
static void on_crash(int number)
{
    if (opened != NULL) endwin();
    raise(number);
}

void screen_catch_signals(void)
{
    const struct sigaction end = {.sa_handler = on_end};
    const struct sigaction crash = {.sa_handler = on_crash, .sa_flags = (int)(SA_RESETHAND | SA_NODEFER)};
    static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT}, crashes[] = {SIGABRT, SIGSEGV, SIGBUS, SIGFPE};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) sigaction(ends[i], &end, NULL);
    for (size_t i = 0; i < sizeof crashes / sizeof *crashes; i++) sigaction(crashes[i], &crash, NULL);
    signal(SIGPIPE, SIG_IGN);
}

bool screen_is_interrupted(void)
{
    return is_interrupted != 0;
}

void screen_set_busy(bool is_now)
{
    is_busy = is_now;
    if (is_now && is_interrupted) on_end(0);
}

/* --- the screen --------------------------------------------------------------------------------------------------- */

/* A locale that is set and not installed is UTF-8 all the same, if its name says so. */
static void set_locale(void)
{
    if (setlocale(LC_CTYPE, "") == NULL && display_width_mark()[0] != '+') (void)setlocale(LC_CTYPE, "C.UTF-8");
    is_utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

bool screen_is_open(void)
{
    return opened != NULL;
}

int screen_open(const char **out_why)
{
    const char *terminal = getenv("TERM");
    *out_why = "this terminal cannot move its cursor";
    if (terminal == NULL || terminal[0] == '\0') return *out_why = "TERM is not set", -1;
    if (strcmp(terminal, "dumb") == 0) return *out_why = "TERM is dumb", -1;
    screen_catch_signals();
    set_locale();
    opened = newterm(NULL, stdout, stdin);
    if (opened == NULL) return *out_why = "no terminfo describes this TERM", -1;
    const char *cursor_address = tigetstr("cup");
    if (cursor_address == NULL || cursor_address == (const char *)-1) {
        screen_close();
        return -1;
    }
    set_escdelay(ESCAPE_WAIT_MS);
    cbreak();
    noecho();
    nonl();
    keypad(stdscr, TRUE);
    (void)curs_set(0);
    atexit(screen_close);
    return 0;
}

void screen_close(void)
{
    if (opened == NULL) return;
    endwin();
    opened = NULL;
}

uint32_t screen_lines(void)
{
    return LINES > 0 ? (uint32_t)LINES : 1;
}

uint32_t screen_columns(void)
{
    return COLS > 0 ? (uint32_t)COLS : 1;
}

void screen_begin(void)
{
    erase();
}

static attr_t attribute_of(enum screen_style style)
{
    switch (style) {
    case SCREEN_HEADING: return A_BOLD;
    case SCREEN_SELECTED: return A_REVERSE;
    case SCREEN_ALERT: return A_STANDOUT;
    default: return A_NORMAL;
    }
}

/* The selected line is marked from edge to edge. */
void screen_line(uint32_t line, struct str text, enum screen_style style)
{
    struct buf plain = {0};
    if (line >= screen_lines() || opened == NULL) return;
    buf_add_str(&plain, display_width_cut(text, screen_columns()));
    if (plain.length > 0) text_make_plain(plain.text, plain.length);
    for (size_t i = 0; i < plain.length && !is_utf8; i++) {
        if ((unsigned char)plain.text[i] >= DELETE) plain.text[i] = '?';
    }
    if (style == SCREEN_SELECTED) {
        uint32_t width = display_width((struct str){plain.text, plain.length});
        buf_add_blanks(&plain, screen_columns() > width ? screen_columns() - width : 0);
    }
    (void)attrset((int)attribute_of(style));
    (void)mvaddnstr((int)line, 0, plain.length > 0 ? plain.text : "", (int)plain.length);
    (void)attrset(A_NORMAL);
    buf_release(&plain);
}

void screen_end(void)
{
    refresh();
}

/* --- keys --------------------------------------------------------------------------------------------------------- */

static int key_of(int code)
{
    static const struct {
        int code, key;
    } keys[] = {
        {KEY_UP, SCREEN_KEY_UP},           {KEY_DOWN, SCREEN_KEY_DOWN}, {KEY_PPAGE, SCREEN_KEY_PAGE_UP},
        {KEY_NPAGE, SCREEN_KEY_PAGE_DOWN}, {KEY_HOME, SCREEN_KEY_HOME}, {KEY_END, SCREEN_KEY_LAST},
        {KEY_ENTER, SCREEN_KEY_ENTER},     {'\r', SCREEN_KEY_ENTER},    {'\n', SCREEN_KEY_ENTER},
        {'\033', SCREEN_KEY_ESCAPE},       {'\t', SCREEN_KEY_TAB},      {KEY_BACKSPACE, SCREEN_KEY_ERASE},
        {BACKSPACE, SCREEN_KEY_ERASE},     {DELETE, SCREEN_KEY_ERASE},  {KEY_RESIZE, SCREEN_KEY_RESIZED},
        {CTRL_C, SCREEN_KEY_QUIT},
    };
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        if (keys[i].code == code) return keys[i].key;
    }
    return code >= ' ' && code < SCREEN_KEY_FIRST ? code : SCREEN_KEY_NONE;
}

/* A signal that comes between the check and the wait is noticed after a slice. */
int screen_key(int64_t wait_ms)
{
    for (int64_t left_ms = wait_ms; !is_interrupted;) {
        timeout((int)(left_ms < SLICE_MS ? left_ms : SLICE_MS));
        int code = getch();
        if (code != ERR) {
            int key = key_of(code);
            if (key != SCREEN_KEY_NONE) return key;
        }
        if (code == ERR && !isatty(STDIN_FILENO)) return SCREEN_KEY_QUIT;
        left_ms -= SLICE_MS;
        if (left_ms <= 0) return SCREEN_KEY_NONE;
    }
    return SCREEN_KEY_QUIT;
}
