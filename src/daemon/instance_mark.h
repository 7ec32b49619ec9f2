/* The mark of a state directory, DIR/instance: which instance it has, which directory it is, and which file it is
 * itself. A copy of the directory has the mark, too, but is another directory; an older copy that was restored into the
 * same directory has another file, or one that was written again, which its seal shows.
 *
 *     id=0123456789abcdef0123456789abcdef     of the instance; also in the database
 *     device=66306, inode=1048577, born_us=... of the directory; born_us 0: the file system does not say
 *     file_inode=..., file_born_us=...         of the file; older marks do not say
 *     boot_id=...                              of the boot that the device number is from: it may change at a boot
 *
 * The seal, DIR/instance.seal, is written right after the mark, and says when that was changed. A start without a seal
 * (of an older version, or killed before it was written) writes both anew. */
#ifndef FAIRLEAD_DAEMON_INSTANCE_MARK_H
#define FAIRLEAD_DAEMON_INSTANCE_MARK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

enum { INSTANCE_MARK_ID_SIZE = 33, INSTANCE_MARK_BOOT_SIZE = 64 }; /* bytes, with the closing zero */

struct instance_mark {
    char id[INSTANCE_MARK_ID_SIZE]; /* empty: none */
    uint64_t device, inode;
    int64_t born_us;
    uint64_t file_inode; /* 0: not known */
    int64_t file_born_us;
    bool is_other_file;  /* instance_mark_read: this file is not the one that the mark names */
    bool is_overwritten; /* and: it was written again since it was sealed */
    bool is_sealed;      /* and: it has a seal that fits */
    char boot_id[INSTANCE_MARK_BOOT_SIZE];
};

/* The mark that a directory has to have now; its id stays empty. ERR_IO. */
int instance_mark_probe(const char *directory, const char *boot_id, struct instance_mark *out, struct err *e);

/* Reads the mark of a directory. Its id is empty if there is none, or it cannot be understood. ERR_IO: it cannot be
 * read. */
int instance_mark_read(const char *directory, struct instance_mark *out, struct err *e);

/* Replaces the mark of a directory; afterwards it survives power loss. ERR_IO: the old one is still there. */
int instance_mark_write(const char *directory, const struct instance_mark *mark, struct err *e);

/* Whether the mark is that of this directory. present: by instance_mark_probe. Pure. */
bool instance_mark_fits(const struct instance_mark *mark, const struct instance_mark *present);

/* Makes a random id. ERR_UNAVAILABLE: the kernel has no random bytes. */
int instance_mark_make_id(char out[INSTANCE_MARK_ID_SIZE], struct err *e);

#endif
