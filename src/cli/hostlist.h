/* Lists of hosts as Slurm writes them: "n1,n2,n3,login" is "n[1-3],login". */
#ifndef FAIRLEAD_CLI_HOSTLIST_H
#define FAIRLEAD_CLI_HOSTLIST_H

#include "base/text.h"

/* Appends a list of names that commas separate. Neighbours of one prefix whose numbers follow each other become a
 * range; the order stays. */
void hostlist_write(const char *names, struct buf *out);

#endif
