/* The width of UTF-8 text in columns of a terminal: one for most characters, two for wide ones (CJK, emoji), none for
 * combining ones. Each invalid byte counts as one column. */
#ifndef FAIRLEAD_CLI_DISPLAY_WIDTH_H
#define FAIRLEAD_CLI_DISPLAY_WIDTH_H

#include <stdint.h>

#include "base/str.h"

/* The width of all of text. O(length) */
uint32_t display_width(struct str text);

/* The longest prefix of whole characters that is at most width columns wide. */
struct str display_width_cut(struct str text, uint32_t width);

/* The mark at the end of a text that was cut, one column wide: "…", or "+" if the locale is not UTF-8. */
const char *display_width_mark(void);

#endif
