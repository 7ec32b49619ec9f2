/* What a job is to run, checked here and now: a person should not learn an hour later that the script was misspelt. */
#ifndef FAIRLEAD_CLI_JOB_SCRIPT_H
#define FAIRLEAD_CLI_JOB_SCRIPT_H

#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"

enum { SCRIPT_MAX = 16 * 1048576 }; /* bytes */

/* The text of the script at path ("-": standard input), in arena. ERR_INPUT: missing, unreadable, a directory, empty,
 * binary (a zero byte in its first 4 KiB), with the line ends of DOS in its first line, or over SCRIPT_MAX. */
int job_script_read(const char *path, struct arena *a, struct str *out_text, struct err *e);

/* The absolute path of a program, as the shell would find it: by PATH, or where it has a slash from the current directory.
 * ERR_INPUT: there is none, or it cannot be run. */
int job_script_find_program(const char *name, struct arena *a, const char **out_path, struct err *e);

/* The directory a job is to run in: absolute, without symbolic links; NULL: the current one. ERR_INPUT. */
int job_script_find_directory(const char *given, struct arena *a, const char **out_path, struct err *e);

/* Words as a shell would read them back, for people; at most max bytes, then "...". */
const char *job_script_show_words(char **words, uint32_t count, size_t max, struct arena *a);

#endif
