/* Lists of TRES for people: the memory has a unit. */
#ifndef FAIRLEAD_CLI_TRES_SHOW_H
#define FAIRLEAD_CLI_TRES_SHOW_H

#include "base/text.h"

/* Appends "cpu=4,mem=16384,node=1" as "cpu=4,mem=16G,node=1". Amounts that are no whole number of MiB stay. */
void tres_show(const char *text, struct buf *out);

#endif
