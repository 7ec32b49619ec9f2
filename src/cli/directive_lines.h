/* Directives: comments of a job script that hold options of its submission.
 *
 *     #!/bin/bash
 *     #FAIRLEAD -n 4 --mem 2G \         options of 'fairlead submit'; the backslash continues the directive
 *     #FAIRLEAD    --comment "a b"      in the next line with the same prefix
 *     #SBATCH --gpus=1                  options of sbatch
 *     #$ -pe smp 4                      options of qsub
 *
 * Where they are: #FAIRLEAD, #SBATCH and #PBS lines as in Slurm, at the begin of a line and before the first line that
 * is neither blank nor a comment. #$ lines as in Grid Engine, in the whole script. The prefix is followed by a blank,
 * by a dash or by the end of the line; '##SBATCH' and '# SBATCH' are plain comments.
 *
 * Words are separated by blanks. '...' and "..." hold blanks, a backslash takes the next character as it is (not
 * within '...'), and a word that begins with # ends the directive. Pure: no files, no output. */
#ifndef FAIRLEAD_CLI_DIRECTIVE_LINES_H
#define FAIRLEAD_CLI_DIRECTIVE_LINES_H

#include <stdint.h>

#include "base/arena.h"
#include "base/array.h"
#include "base/err.h"

enum directive_family { DIRECTIVE_OWN, DIRECTIVE_SBATCH, DIRECTIVE_QSUB, DIRECTIVE_PBS, DIRECTIVE_FAMILY_COUNT };

extern const char *const directive_prefixes[DIRECTIVE_FAMILY_COUNT]; /* "#FAIRLEAD", "#SBATCH", "#$", "#PBS" */

struct directive_word {
    const char *text;
    uint32_t line, column; /* from 1; column in bytes */
};

/* One directive, with its continuation lines; it may have no words. Of families that are ignored, #PBS and #$ beside
 * #SBATCH, each line is one without words, whatever it holds. */
struct directive {
    enum directive_family family;
    uint32_t line;
    struct directive_word *words;
    uint32_t count;
};

struct directive_lines {
    ARRAY(struct directive) list; /* in the order of the script */
    /* The first line with a directive after the first line of commands, where it is not read; 0: none. */
    uint32_t late_line[DIRECTIVE_FAMILY_COUNT];
};

/* The directives of the script; release with directive_lines_release. Words are in the arena.
 *
 * prefix: NULL for all families. "": there are none. One of directive_prefixes: only that family; another text: lines
 * that begin with it have the options of #FAIRLEAD, and there are no others.
 * ERR_INPUT with FILE:LINE:COLUMN: a quote without its end, a zero byte, or a backslash at the end of a line that no
 * line with the same prefix follows. */
int directive_lines_read(struct str script, const char *file, const char *prefix, struct arena *arena,
                         struct directive_lines *out, struct err *e);
void directive_lines_release(struct directive_lines *lines);

#endif
