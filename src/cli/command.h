/* A command of fairlead: one file (cmd_NAME.c) with one struct command, and one entry in the table (commands.c). The
 * dispatch, --help, the manual pages and the shell completion are all computed from these structs.
 *
 *     static int queue_run(struct call *call, struct err *e)
 *     {
 *         const struct queue_values *values = call->values;
 *         ...
 *         return 0;
 *     }
 *     const struct command cmd_queue = {
 *         .name = "queue", .group = GROUP_JOBS, .summary = "list pending and running jobs", .usage = "[OPTIONS]",
 *         .options = queue_options, .values_size = sizeof(struct queue_values), .run = queue_run,
 *     };
 *
 * A name may have two words ("account add"): each subcommand is a command with its own options.
 * Results go to call->out, everything else goes to standard error (output_note). */
#ifndef FAIRLEAD_CLI_COMMAND_H
#define FAIRLEAD_CLI_COMMAND_H

#include "base/arena.h"
#include "base/err.h"
#include "cli/output.h"
#include "fields/column.h"
#include "fields/objects.h"
#include "options/options.h"

enum command_group { GROUP_JOBS, GROUP_SHARES, GROUP_POLICY, GROUP_SERVICE, GROUP_HELP, GROUP_COUNT };

enum { OPERANDS_ANY = UINT32_MAX };

/* The options of every command. */
struct common_values {
    const char *socket; /* NULL: the first of FAIRLEAD_SOCKET, the private instance's and the system's that exists */
    bool wants_help;
};

/* The job fields that a command has options for (cli/job_options.h). */
enum job_option_kind { JOB_OPTIONS_NONE, JOB_OPTIONS_SUBMIT, JOB_OPTIONS_UPDATE };

/* One run of a command: its parsed command line, its memory and its output. */
struct call {
    const struct command *command;
    const void *values;            /* the command's values struct, filled by its options */
    struct job_option_values *job; /* filled by its job options; NULL: it has none */
    struct common_values common;   /* filled by the options of every command */
    struct parsed parsed;          /* operands; which options were given */
    struct arena *arena;           /* freed when the program ends */
    struct output *out;            /* standard output */
    bool error_has_position; /* the error begins with FILE:LINE:COLUMN; it is printed without the command's name */
};

struct command_example {
    const char *line;    /* "fairlead queue -A physics" */
    const char *meaning; /* "the jobs of one account" */
};

/* An exit status other than 0, 1 and 2, which mean the same for every command, or another meaning of one of them. */
struct command_exit {
    int status;
    const char *meaning;
};

struct command {
    const char *name; /* "queue" or "account add" */
    enum command_group group;
    const char *summary;     /* imperative, one line, no capital, no full stop */
    const char *usage;       /* what follows the name: "[OPTIONS] SCRIPT [ARGUMENT...]" */
    const char *description; /* paragraphs, separated by a blank line; lines that begin with a blank are not folded */
    const struct option_row *options;  /* ends with {0}; NULL: none besides the common ones and those of jobs */
    enum job_option_kind job_options;  /* the job fields that have options, too */
    size_t values_size;                /* of the struct that options fills */
    const struct object_class *fields; /* the operands after the first one are FIELD=VALUE of this class; may be NULL */
    bool has_limits;                   /* or of the limits of associations (fields/limit_fields.h) */
    bool resets_usage;                 /* RawUsage=0 is accepted, too (command_field) */
    const struct column_table *listed; /* the columns that -o and --sort accept; NULL: the command is no listing */
    uint32_t operands_min, operands_max;
    bool options_first; /* options end at the first operand: later words belong to the job */
    bool is_local;      /* never connects to an instance: has no --socket */
    const char *(*explain)(
        const char *word);                  /* advice for an unknown option (foreign_syntax.h), or NULL; may be NULL */
    const struct command_example *examples; /* ends with {0}; may be NULL */
    const struct command_exit *exits;       /* ends with {0}; may be NULL */
    const char *see_also;                   /* names of manual pages, without "fairlead-": "queue history"; or NULL */

    /* Returns the exit status, or -1 with *e, which is printed as one line and determines the exit status. */
    int (*run)(struct call *call, struct err *e);
};

/* The i-th field that the command accepts as FIELD=VALUE: those of command->fields, limits, then RawUsage if it
 * resets usage;
 * NULL after the last. */
const struct field *command_field(const struct command *command, uint32_t i);

/* The tables of a command's options: its own, those of jobs, the common ones. Each may be NULL. */
struct option_tables {
    const struct option_row *rows[OPTION_SETS_MAX];
    uint32_t count;
};
void command_option_tables(const struct command *command, struct option_tables *out_tables);

/* Every command, in the order of --help; ends with NULL. */
extern const struct command *const commands[];

/* The command of that name ("queue", "account add"), or NULL. */
const struct command *command_find(const char *name);

/* Fills *e with ERR_USAGE: the operands name no command. Returns -1. */
int command_unknown(const struct parsed *parsed, struct err *e);

/* The command that all operands together name ("account", "add"), or NULL: for help and manual. */
const struct command *command_of_operands(const struct parsed *parsed);

extern const char *const command_group_names[GROUP_COUNT];

#endif
