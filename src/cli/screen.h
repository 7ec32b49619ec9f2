/* The whole screen of a terminal, drawn with ncurses. The terminal gets its settings and its old content back when the
 * screen is closed, when the program stops (Ctrl-Z) and when it ends, by whatever signal that can be caught.
 *
 *     if (screen_open(&why) != 0) print frames as plain text instead
 *     screen_begin(); screen_line(0, text, SCREEN_HEADING); ... screen_end();
 *     key = screen_key(2000);
 *     screen_close();
 *
 * One thread; at most one screen is open. */
#ifndef FAIRLEAD_CLI_SCREEN_H
#define FAIRLEAD_CLI_SCREEN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

enum screen_style { SCREEN_PLAIN, SCREEN_HEADING, SCREEN_SELECTED, SCREEN_ALERT };

/* What is no byte of a text. */
enum screen_key {
    SCREEN_KEY_NONE = 0, /* the time has passed */
    SCREEN_KEY_FIRST = 256,
    SCREEN_KEY_QUIT, /* a signal asks the program to end, or the terminal is gone */
    SCREEN_KEY_RESIZED,
    SCREEN_KEY_UP,
    SCREEN_KEY_DOWN,
    SCREEN_KEY_PAGE_UP,
    SCREEN_KEY_PAGE_DOWN,
    SCREEN_KEY_HOME,
    SCREEN_KEY_LAST,
    SCREEN_KEY_ENTER,
    SCREEN_KEY_ESCAPE,
    SCREEN_KEY_ERASE,
    SCREEN_KEY_TAB,
};

/* Takes over the terminal of standard input and output. -1: it cannot be drawn on; *out_why: "TERM is dumb". */
int screen_open(const char **out_why);
void screen_close(void);
bool screen_is_open(void);

uint32_t screen_lines(void);
uint32_t screen_columns(void);

/* A frame: screen_begin forgets the lines of the last one, screen_end puts the new ones on the terminal. A line that is
 * too long is cut; lines that the screen does not have are left out. */
void screen_begin(void);
void screen_line(uint32_t line, struct str text, enum screen_style style);
void screen_end(void);

/* Waits for a key: a byte of a text or an enum screen_key. */
int screen_key(int64_t wait_ms);

/* Whether a signal has asked the program to end. */
bool screen_is_interrupted(void);

/* From now on such a signal ends the program at once: it waits for something else than a key. */
void screen_set_busy(bool is_busy);

/* The signals that end a screen also end what prints frames without one. */
void screen_catch_signals(void);

#endif
