/* A filter for text that a job wrote and a terminal shows. A log may be another user's, and a terminal obeys what it
 * reads: it can be made to send keys, to rename its window, to hide lines. Passed are UTF-8 text, line ends, tabs, the
 * carriage returns and backspaces of progress bars, and the sequences for colours (SGR: ESC [ ... m). Every other
 * control character and every byte that is not UTF-8 becomes '?'. */
#ifndef FAIRLEAD_CLI_LOG_FILTER_H
#define FAIRLEAD_CLI_LOG_FILTER_H

#include "base/text.h"

/* All zero at the beginning of a text. */
struct log_filter {
    char held[32]; /* the beginning of a character or of a sequence for colours */
    size_t held_length;
    size_t character_length; /* of the character that is held; 0: a sequence is held, or nothing */
};

/* Appends the bytes to out, filtered. What is incomplete at their end is held until more bytes come. */
void log_filter_add(struct log_filter *f, const char *bytes, size_t length, struct buf *out);

/* Appends what is held. */
void log_filter_end(struct log_filter *f, struct buf *out);

#endif
