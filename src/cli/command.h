/* A command: one file (cmd_NAME.c), one row in the table (commands.c), no other place. From these rows come the
 * dispatch, --help, the manual pages and the completion.
 *
 *     static int queue_run(struct call *call, struct err *e)
 *     {
 *         const struct queue_values *values = call->values;
 *         ...
 *         return 0;
 *     }
 *     const struct command cmd_queue = {
 *         .name = "queue", .group = GROUP_JOBS, .summary = "list waiting and running jobs", .usage = "[OPTIONS]",
 *         .options = queue_options, .values_size = sizeof(struct queue_values), .run = queue_run,
 *     };
 *
 * A name of two words ("account add") is a command of its own with its own options; "fairlead account" alone lists them.
 * Results go to call->out, everything else to standard error (output_note). */
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

/* What every command has. */
struct common_values {
    const char *socket; /* NULL: find it (FAIRLEAD_SOCKET, the private instance's, the system's) */
    bool wants_help;
};

/* Which of the fields of a job (cli/job_options.h) a command has options for. */
enum job_option_kind { JOB_OPTIONS_NONE, JOB_OPTIONS_SUBMIT, JOB_OPTIONS_UPDATE };

/* One run of a command: what was asked, and where answers go. */
struct call {
    const struct command *command;
    const void *values;            /* the command's own struct, filled from its options */
    struct job_option_values *job; /* filled from those of its job options; NULL: it has none */
    struct common_values common;   /* --socket */
    struct parsed parsed;          /* operands, which options were given */
    struct arena *arena;           /* memory until the program ends */
    struct output *out;            /* standard output */
    bool error_has_place; /* the error's text begins with FILE:LINE:COLUMN and is printed without the command's name */
};

struct command_example {
    const char *line, *meaning; /* "fairlead queue -A physics", "the jobs of one account" */
};

struct command_exit {
    int status;
    const char *meaning; /* beside 0, 1 and 2, which every command has */
};

struct command {
    const char *name; /* "queue" or "account add" */
    enum command_group group;
    const char *summary; /* one line, no capital, no full stop */
    const char *usage;   /* what follows the name: "[OPTIONS] SCRIPT [ARGUMENT...]" */
    const char *text; /* paragraphs, a blank line between them; a line that begins with a blank is kept as it stands */
    const struct option_row *options;  /* ends with {0}; NULL: none of its own */
    enum job_option_kind job_options;  /* and these */
    size_t values_size;                /* of the struct the options fill */
    const struct object_class *fields; /* operands are FIELD=VALUE of these, behind the first one; or NULL */
    bool resets_usage;                 /* or RawUsage=0 (command_field) */
    const struct column_table *listed; /* what it lists: the names that -o and --sort take; NULL: no such listing */
    uint32_t operands_min, operands_max;
    bool options_first;                       /* the first operand ends the options: what follows is somebody else's */
    bool is_local;                            /* never speaks to a daemon: no --socket */
    const char *(*explain)(const char *word); /* for an unknown option, what is written here instead; may be NULL */
    const struct command_example *examples;   /* ends with {0}; may be NULL */
    const struct command_exit *exits;         /* ends with {0}; may be NULL */
    const char *see_also;                     /* other commands, by name: "queue history"; may be NULL */

    /* Returns the exit status, or -1 with *e, which is printed in one line and decides the status. */
    int (*run)(struct call *call, struct err *e);
};

/* Field i of FIELD=VALUE: those of fields, RawUsage last; NULL: there are no more. */
const struct field *command_field(const struct command *command, uint32_t i);

/* The tables of a command's options: its own, those of jobs, the common ones. Each may be NULL. */
struct option_tables {
    const struct option_row *rows[OPTION_SETS_MAX];
    uint32_t count;
};
void command_option_tables(const struct command *command, struct option_tables *out_tables);

/* Every command, in the order of --help; NULL ends. */
extern const struct command *const commands[];

/* The command of that name ("queue", "account add"), or NULL. */
const struct command *command_find(const char *name);

/* ERR_USAGE: the operands name no command. */
int command_unknown(const struct parsed *parsed, struct err *e);

/* The command that all operands together name, for commands about commands; or NULL. */
const struct command *command_of_operands(const struct parsed *parsed);

extern const char *const command_group_names[GROUP_COUNT];

#endif
