/* Which columns of a table are written, and how wide they are, in an output of a given width. Texts that may be cut are
 * cut first, the widest column first; if that is not enough, the column with the highest rank is left out, and so
 * on. */
#ifndef FAIRLEAD_CLI_TABLE_LAYOUT_H
#define FAIRLEAD_CLI_TABLE_LAYOUT_H

#include "cli/table.h"

enum { TABLE_LAYOUT_GAP = 2 }; /* blanks between columns */

struct table_layout {
    uint32_t widths[TABLE_COLUMNS_MAX];
    bool is_left_out[TABLE_COLUMNS_MAX];
    uint32_t count; /* of columns that are not left out */
};

/* room: the width of the output; 0: unlimited. The lines stay too wide if no column may be cut or left out.
 * O(columns x (columns + excess width)). */
struct table_layout table_layout_make(const struct table *t, bool has_header, uint32_t room);

#endif
