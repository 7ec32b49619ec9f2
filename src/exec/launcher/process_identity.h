/* The identity of a job's processes: in the start line of its launch (segments.h). With it the launcher finds the
 * processes of a job whose keeper was killed (orphans.c), and knows a record of an earlier boot or in a copy of the
 * directory. */
#ifndef FAIRLEAD_EXEC_LAUNCHER_PROCESS_IDENTITY_H
#define FAIRLEAD_EXEC_LAUNCHER_PROCESS_IDENTITY_H

#include <stdint.h>

#include "base/err.h"
#include "base/text.h"
#include "exec/launcher/cgroup.h"

enum { LAUNCH_KEY_SIZE = 33, BOOT_ID_SIZE = 64 }; /* bytes, with the closing zero */

/* A directory, for as long as the machine runs; inode 0: not known. */
struct process_identity_place {
    uint64_t device, inode;
};

struct process_identity {
    char key[LAUNCH_KEY_SIZE];  /* FAIRLEAD_LAUNCH_KEY in the environment of all processes: 128 bits in hex, the first
                                 * half from the id of the instance, if it has one, the others random */
    uint64_t start_ticks;       /* of the main process: process.start_ticks; 0: not known (newer keepers) */
    int64_t running_boot_us;    /* if start_ticks is 0: the main process ran then (CLOCK_BOOTTIME); not in the lines */
    char boot_id[BOOT_ID_SIZE]; /* of the boot in which it was started */
    struct cgroup cgroup;       /* of the launch; none: empty */
    struct process_identity_place place; /* of launches/, or of an older launch's directory; 0: not known */
};

/* Appends the lines, and reads them from the text of a start record. A line that is missing or cannot be read leaves
 * its member empty or 0. */
void process_identity_format(const struct process_identity *identity, struct buf *out);
void process_identity_parse(struct str text, struct process_identity *out);

/* "DEVICE:INODE". process_identity_parse_place: false, and *out is not known, if the text is something else. */
void process_identity_format_place(struct process_identity_place place, struct buf *out);
bool process_identity_parse_place(struct str text, struct process_identity_place *out);

/* Makes a key. instance_id: hex digits, the first LAUNCH_KEY_SIZE / 2 of which begin the key; if it has fewer, all is
 * random. ERR_UNAVAILABLE: the kernel has no random bytes. */
int process_identity_make_key(struct str instance_id, char out[LAUNCH_KEY_SIZE], struct err *e);

/* Reads the kernel's id of the present boot; "" if there is none. */
void process_identity_read_boot_id(char out[BOOT_ID_SIZE]);

#endif
