/* What a database file is that no daemon uses, as 'fairleadd --check-database' says: this program has no SQLite. */
#ifndef FAIRLEAD_CLI_DATABASE_CHECK_H
#define FAIRLEAD_CLI_DATABASE_CHECK_H

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

struct database_check {
    uint32_t version; /* of its schema */
    const char *id;   /* of its instance, in the arena; "": none */
    bool is_pretend;
};

/* Reads all of the file. name: what messages call it. ERR_INPUT with the daemon's words: it is damaged, or not of a
 * version that this Fairlead reads. ERR_UNAVAILABLE: fairleadd cannot be executed. */
int database_check_run(const char *path, const char *name, struct arena *arena, struct database_check *out,
                       struct err *e);

/* The value of the first line "name=...", as that program prints them and marks of directories have them; its text is
 * NULL if there is none. */
struct str database_check_value(struct str text, const char *name);

#endif
