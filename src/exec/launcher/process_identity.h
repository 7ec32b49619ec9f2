/* The identity of a job's processes: the lines that the start record has besides the record's own. With them the
 * launcher finds the processes of a job whose keeper was killed (orphans.c), and knows a record of an earlier boot. */
#ifndef FAIRLEAD_EXEC_LAUNCHER_PROCESS_IDENTITY_H
#define FAIRLEAD_EXEC_LAUNCHER_PROCESS_IDENTITY_H

#include <stdint.h>

#include "base/err.h"
#include "base/text.h"
#include "exec/launcher/cgroup.h"

enum { LAUNCH_KEY_SIZE = 33, BOOT_ID_SIZE = 64 }; /* bytes, with the closing zero */

struct process_identity {
    char key[LAUNCH_KEY_SIZE];  /* FAIRLEAD_LAUNCH_KEY in the environment of all processes: 128 random bits in hex */
    uint64_t start_ticks;       /* of the main process: process.start_ticks */
    char boot_id[BOOT_ID_SIZE]; /* of the boot in which it was started */
    struct cgroup cgroup;       /* of the launch; none: empty */
};

/* Appends the lines, and reads them from the text of a start record. A line that is missing or cannot be read leaves
 * its member empty or 0. */
void process_identity_format(const struct process_identity *identity, struct buf *out);
void process_identity_parse(struct str text, struct process_identity *out);

/* Makes a random key. ERR_UNAVAILABLE: the kernel has no random bytes. */
int process_identity_make_key(char out[LAUNCH_KEY_SIZE], struct err *e);

/* Reads the kernel's id of the present boot; "" if there is none. */
void process_identity_read_boot_id(char out[BOOT_ID_SIZE]);

#endif
