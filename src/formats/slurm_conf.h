/* Reads slurm.conf: pairs NAME=VALUE, one or more on a line.
 *
 *     PriorityWeightAge=1000        # a comment
 *     PartitionName=long Nodes=n[1-8] \
 *         MaxTime=7-0               a line goes on after a backslash
 *     Include /etc/slurm/nodes.conf
 *
 * Blanks may stand around '='. A value ends at a blank, or is in double quotes. '#' begins a comment unless a backslash
 * is before it. Include takes the place of the lines of another file. Many sites keep the file as a template: then
 * {{ name }} is a part of a value, and {% ... %} and {# ... #} are left out. Source: slurm.conf(5); behaviour of Slurm
 * 22.05.8. */
#ifndef FAIRLEAD_FORMATS_SLURM_CONF_H
#define FAIRLEAD_FORMATS_SLURM_CONF_H

#include "formats/conf_pairs.h"

enum { SLURM_CONF_INCLUDE_DEPTH_MAX = 10, SLURM_CONF_FILES_MAX = 1000, SLURM_CONF_FAULT_SIZE = 300 };

/* Opens an included file: its source, which outlives the pairs; or NULL, and fault is a sentence that says why. path is
 * the file's name as the file writes it, and the source of that file is from. */
typedef const struct source *slurm_conf_open(void *context, const struct source *from, struct str path,
                                             char fault[SLURM_CONF_FAULT_SIZE]);

/* Adds the pairs and faults of the whole text, and of the files that it includes, to io_pairs, which is released by
 * conf_pairs_release. open may be NULL: an Include is a fault then. O(length). */
void slurm_conf_read(const struct source *s, slurm_conf_open *open, void *context, struct conf_pairs *io_pairs);

/* Whether a text looks like a slurm.conf, and not like Grid Engine's scheduler configuration: its first line that is no
 * comment has a '=' or is an Include. */
bool slurm_conf_is(struct str text);

#endif
