/* Reads Grid Engine's scheduler configuration, the output of `qconf -ssconf`: a name, blanks and a value on each line.
 *
 *     halftime                          168
 *     usage_weight_list                 cpu=1.000000,mem=0.000000, \
 *                                       io=0.000000
 *
 * A line goes on after a backslash; blanks within the value are dropped then. '#' at the beginning of a line begins a
 * comment. Source: sched_conf(5); output of Grid Engine 8.1.9. */
#ifndef FAIRLEAD_FORMATS_SCHED_CONF_H
#define FAIRLEAD_FORMATS_SCHED_CONF_H

#include "formats/conf_pairs.h"

/* Adds the pairs and faults of the whole text to io_pairs. O(length). */
void sched_conf_read(const struct source *s, struct conf_pairs *io_pairs);

#endif
