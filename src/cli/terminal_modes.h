/* The modes of this command's terminal: raw while the session shows a job's terminal, and what they were before at any
 * other time. */
#ifndef FAIRLEAD_CLI_TERMINAL_MODES_H
#define FAIRLEAD_CLI_TERMINAL_MODES_H

#include <stdbool.h>
#include <stdint.h>

/* Makes standard input raw, unless this process is in the background; nothing if it is not a terminal. */
void terminal_modes_set_raw(void);

/* Restores the modes. Does nothing if they were not changed. */
void terminal_modes_restore(void);

/* The size of the terminal of standard input or output; false: there is none. */
bool terminal_modes_size(uint16_t *out_rows, uint16_t *out_columns);

#endif
