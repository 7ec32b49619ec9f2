/* The script or program of a job, checked at submission: a misspelt name should fail at once, not when the job
 * starts. */
#ifndef FAIRLEAD_CLI_JOB_SCRIPT_H
#define FAIRLEAD_CLI_JOB_SCRIPT_H

#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"

enum { SCRIPT_MAX = 16 * 1048576 }; /* bytes */

/* The text of the script at path ("-": standard input), in the arena. ERR_INPUT: missing, unreadable, a directory,
 * empty, binary (a zero byte in its first 4 KiB), a first line that ends in CR LF, larger than SCRIPT_MAX, or without a
 * first line that names its interpreter (#!), unless its name ends in .sh. */
int job_script_read(const char *path, struct arena *a, struct str *out_text, struct err *e);

/* The absolute path of a program, found as a shell does: by PATH, or relative to the current directory if the name
 * contains a slash. In the arena. ERR_INPUT: it does not exist or cannot be executed. */
int job_script_find_program(const char *name, struct arena *a, const char **out_path, struct err *e);

/* The directory of a job, absolute and without symbolic links, in the arena. given NULL: the current one. ERR_INPUT: it
 * does not exist, is no directory, or cannot be entered. */
int job_script_find_directory(const char *given, struct arena *a, const char **out_path, struct err *e);

/* The words quoted for a shell, as one printable line in the arena: at most max bytes, then "...". */
const char *job_script_show_words(char **words, uint32_t count, size_t max, struct arena *a);

#endif
