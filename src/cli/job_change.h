/* Commands that change jobs, by ids or by options that select them: cancel, hold, release, requeue, suspend, resume,
 * signal. One request names or selects the jobs; those that are refused are reported, and the others are changed. */
#ifndef FAIRLEAD_CLI_JOB_CHANGE_H
#define FAIRLEAD_CLI_JOB_CHANGE_H

#include "cli/command.h"
#include "wire/wire.h"

/* The values of their options. */
struct job_change_values {
    bool has_all, has_hold, is_dry_run;
    const char *user, *account, *partition, *qos, *name, *state;
    bool is_batch; /* of a signal */
};

/* The options that select jobs. */
#define JOB_CHANGE_SELECTION                                                                                \
    {.name = "all",                                                                                         \
     .letter = 'a',                                                                                         \
     .value = FLAG_IN(struct job_change_values, has_all),                                                   \
     .help = "all your jobs; for operators, all jobs"},                                                     \
        {.name = "user",                                                                                    \
         .letter = 'u',                                                                                     \
         .argument = "NAME,...",                                                                            \
         .value = TEXT_IN(struct job_change_values, user),                                                  \
         .is_once = true,                                                                                   \
         .help = "instead of ids: jobs of these users"},                                                    \
        {.name = "account",                                                                                 \
         .letter = 'A',                                                                                     \
         .argument = "NAME,...",                                                                            \
         .value = TEXT_IN(struct job_change_values, account),                                               \
         .is_once = true,                                                                                   \
         .help = "instead of ids: jobs of these accounts"},                                                 \
        {.name = "partition",                                                                               \
         .letter = 'p',                                                                                     \
         .argument = "NAME,...",                                                                            \
         .value = TEXT_IN(struct job_change_values, partition),                                             \
         .is_once = true,                                                                                   \
         .help = "instead of ids: jobs that were submitted to one of these partitions, also among others"}, \
        {.name = "qos",                                                                                     \
         .letter = 'q',                                                                                     \
         .argument = "NAME,...",                                                                            \
         .value = TEXT_IN(struct job_change_values, qos),                                                   \
         .is_once = true,                                                                                   \
         .help = "instead of ids: jobs of these QOS"},                                                      \
        {.name = "name",                                                                                    \
         .letter = 'J',                                                                                     \
         .argument = "NAME,...",                                                                            \
         .value = TEXT_IN(struct job_change_values, name),                                                  \
         .is_once = true,                                                                                   \
         .help = "instead of ids: jobs of these names"},                                                    \
    {                                                                                                       \
        .name = "dry-run", .value = FLAG_IN(struct job_change_values, is_dry_run),                          \
        .help = "change nothing; print the ids of the jobs that would be changed"                           \
    }

/* What a command does with jobs: "cancel", "Cancelled". */
struct job_change {
    const char *target;
    const struct wire_shape *shape;
    const char *done, *verb;
    const char
        *states; /* which --state accepts, with Slurm's codes: "pending,running,pd,r"; NULL: it is not of live jobs */
    const char *state_help;
    uint32_t signal; /* 0: none */
};

/* Sends the request, prints what became of the jobs, and returns the exit status, or -1 with *e. ended_states: of ended
 * jobs, which the options select instead of live ones, as bits; 0: none. first: the index of the first operand that
 * is an id. */
int job_change_run(struct call *call, const struct job_change *change, uint32_t ended_states, uint32_t first,
                   struct err *e);

extern const struct command_exit job_change_exits[];

#endif
