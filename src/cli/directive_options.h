/* Directives of sbatch and qsub translated to options of 'fairlead submit', each with its position in the script. */
#ifndef FAIRLEAD_CLI_DIRECTIVE_OPTIONS_H
#define FAIRLEAD_CLI_DIRECTIVE_OPTIONS_H

#include "cli/directive_lines.h"
#include "cli/foreign_options.h"
#include "options/options.h"

struct directive_option {
    const char *word; /* "--cpus=4" */
    uint32_t line, column;
};

struct directive_options {
    const char *file; /* for positions */
    struct str script;
    const struct option_set *own; /* the options of 'fairlead submit' */
    uint32_t own_count;
    const char *directory; /* -D of a higher rank; NULL: not given */
    bool is_array;         /* --array of a higher rank is given */
    struct arena *arena;
    ARRAY(struct directive_option) list;
};

/* Adds the options that the directives of the family mean together; those that are ignored are named on standard error.
 * ERR_INPUT with FILE:LINE:COLUMN: an option that cannot be ignored and has no counterpart, one that sbatch or qsub
 * does not have, or an argument that cannot be read. */
int directive_options_of_sbatch(const struct directive_lines *lines, struct directive_options *out, struct err *e);
int directive_options_of_qsub(const struct directive_lines *lines, struct directive_options *out, struct err *e);

/* For both: adds "--NAME" or "--NAME=TEXT", which the format gives; refuses with the position of a word; does what the
 * meanings of both say (foreign_options.h). shown: "#SBATCH --mail-user". */
void directive_options_add(struct directive_options *out, const struct directive_word *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int directive_options_refuse(const struct directive_options *o, const struct directive_word *at, struct err *e,
                             const char *format, ...) __attribute__((format(printf, 4, 5)));
int directive_options_apply(struct directive_options *out, const struct foreign_option *option,
                            const struct directive_word *at, const char *shown, const char *argument, struct err *e);

void directive_options_release(struct directive_options *o);

#endif
