#include "cli/directive_help.h"

#include <string.h>

#include "cli/foreign_options.h"
#include "cli/job_options.h"
#include "cli/submit_options.h"
#include "options/usage.h"

static const char *const paragraphs[] = {
    "Options of a job in its script. A line that begins with #FAIRLEAD holds options of 'fairlead submit', as on the command line:",
    "  #!/bin/bash\n  #FAIRLEAD -n 4 --mem 2G \\\n  #FAIRLEAD   --comment \"two words\"    # a comment",
    "The line begins with the prefix, which a blank follows: '##FAIRLEAD' and '# FAIRLEAD' are comments. Words are separated by "
    "blanks; '...' and \"...\" keep blanks, a backslash takes the next character as it is (not within '...'), a word that begins "
    "with # ends the directive, and a backslash at the end of the line continues it in the next line with the same prefix. No "
    "variables are replaced.",
    "#FAIRLEAD and #SBATCH lines are read up to the first line that is neither blank nor a comment, as Slurm does; #$ lines in the "
    "whole script, as Grid Engine does. The command line decides before #FAIRLEAD lines, and these before those of others; -n "
    "replaces --slots, too, --mem replaces --mem-per-cpu, and so on. Later lines decide before earlier ones. #$ lines are not read "
    "beside #SBATCH lines, #PBS lines not at all. --directive-prefix reads one kind only: '#FAIRLEAD', '#SBATCH', '#$', or lines "
    "with a prefix of your own, which hold options of 'fairlead submit'; '' reads none.",
    "In files of #$ -o and -e, $HOME, $USER, $JOB_ID, $JOB_NAME and $TASK_ID are replaced, and a directory stands for a file in it, "
    "NAME.oID or NAME.eID. s_rt beside h_rt is when SIGUSR1 warns the job; alone it is the time limit.",
    "Options of others are read where they mean something here. One that changes neither what the job gets nor what it does is "
    "ignored, and named on standard error; any other is refused with its line and column.",
};

/* Whether submit has the option. */
static bool has_own(const char *name)
{
    const struct option_row *tables[] = {submit_option_rows, job_option_rows(false)};
    for (size_t i = 0; name != NULL && i < sizeof tables / sizeof *tables; i++) {
        for (const struct option_row *row = tables[i]; row->name != NULL; row++) {
            if (strcmp(row->name, name) == 0) return true;
        }
    }
    return false;
}

static bool is_ignored(const struct foreign_option *o)
{
    return o->meaning == FOREIGN_NOTHING || (o->meaning == FOREIGN_SAME_OR_NOTHING && !has_own(o->own));
}

static bool is_refused(const struct foreign_option *o)
{
    return o->meaning == FOREIGN_REFUSED || (o->meaning == FOREIGN_SAME && !has_own(o->own));
}

static bool is_read(const struct foreign_option *o)
{
    return !is_ignored(o) && !is_refused(o);
}

static void write_list(const char *what, const struct foreign_option *options, const char *dashes,
                       bool (*belongs)(const struct foreign_option *), struct buf *out)
{
    struct buf names = {0};
    for (; options->name != NULL; options++) {
        if (belongs(options)) buf_format(&names, "%s%s%s", names.length > 0 ? ", " : "", dashes, options->name);
    }
    usage_write_entry(out, what, names.text, USAGE_OPTION_COLUMN);
    buf_release(&names);
}

void directive_help_write(struct buf *out)
{
    for (size_t i = 0; i < sizeof paragraphs / sizeof *paragraphs; i++) {
        if (i > 0) buf_add_char(out, '\n');
        if (paragraphs[i][0] == ' ') {
            buf_format(out, "%s\n", paragraphs[i]);
        } else {
            usage_wrap(out, str(paragraphs[i]), 0, USAGE_WIDTH);
        }
    }
    buf_add_text(out, "\n#SBATCH\n");
    write_list("read", foreign_options_sbatch, "--", is_read, out);
    write_list("ignored", foreign_options_sbatch, "--", is_ignored, out);
    write_list("refused", foreign_options_sbatch, "--", is_refused, out);
    buf_add_text(out, "\n#$\n");
    write_list("read", foreign_options_qsub, "-", is_read, out);
    write_list("ignored", foreign_options_qsub, "-", is_ignored, out);
    write_list("refused", foreign_options_qsub, "-", is_refused, out);
}
