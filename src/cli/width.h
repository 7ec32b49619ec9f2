/* How many columns of a terminal a text takes: one for most characters, two for wide ones (CJK, emoji), none for combining
 * ones. */
#ifndef FAIRLEAD_CLI_WIDTH_H
#define FAIRLEAD_CLI_WIDTH_H

#include <stdint.h>

#include "base/str.h"

uint32_t width_of(struct str text);

/* The longest beginning of the text, of whole characters, that is not wider. */
struct str width_cut(struct str text, uint32_t width);

/* What stands at the end of a text that was cut, one column wide: "…", or "+" where the locale is not UTF-8. */
const char *width_mark(void);

#endif
