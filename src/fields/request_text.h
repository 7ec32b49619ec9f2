/* The small languages of what jobs ask for:
 *
 *     nodes    4, 2-8        a number of hosts, or a range
 *
 * ERR_INPUT names the field and the value. Source: Slurm 22.05, sbatch(1), --nodes. */
#ifndef FAIRLEAD_FIELDS_REQUEST_TEXT_H
#define FAIRLEAD_FIELDS_REQUEST_TEXT_H

#include "base/err.h"
#include "base/str.h"

enum { REQUEST_NODES_MAX = 1000000 };

/* 1 <= min <= max; of an empty text both are 0. */
int request_text_nodes(struct str text, const char *what, uint32_t *out_min, uint32_t *out_max, struct err *e);
int request_text_nodes_check(struct str text, const char *what, struct err *e);

#endif
