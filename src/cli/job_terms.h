/* What the policies use of a job, as options: submit and update have the same.
 *
 *     struct submit_values { ...; struct term_values terms; };
 *     static const struct option_row submit_options[] = { ..., TERM_OPTIONS(struct submit_values, terms), {0} };
 *     job_terms_read(&values->terms, submit_options, &call->parsed, call->arena, &body.terms, &body.cpus, e) */
#ifndef FAIRLEAD_CLI_JOB_TERMS_H
#define FAIRLEAD_CLI_JOB_TERMS_H

#include "api/wire.h"
#include "base/arena.h"
#include "cli/options.h"

struct term_values {
    const char *partitions, *qos, *project, *begin, *deadline, *set_priority, *slots;
    struct option_texts requests;
    int64_t nice, site, posix_priority;
    uint64_t job_share, override_tickets;
};

#define TERM_NICE_MAX 2147483645
#define TERM_COUNT_MAX UINT32_MAX

#define TERM_OPTIONS(s, field)                                                                                  \
    {"partition", 'p', "NAME,...", TEXT_IN(s, field.partitions), "where it may run: one partition or several"}, \
        {"qos", 'q', "NAME", TEXT_IN(s, field.qos), "its quality of service"},                                  \
        {"project", 'P', "NAME", TEXT_IN(s, field.project), "the project it counts for; '' is none"},           \
        {"request", 'l', "NAME=VALUE,...", TEXTS_IN(s, field.requests),                                         \
         "resources it needs for each slot (fairlead resource show); '' is none"},                              \
        {"slots", 0, "N[-M]", TEXT_IN(s, field.slots), "N slots, which are CPUs; or a range of them"},          \
        {"begin", 0, "MOMENT", TEXT_IN(s, field.begin), "not to start before: now+1hour, 16:00, a date, ..."},  \
        {"deadline", 0, "MOMENT", TEXT_IN(s, field.deadline),                                                   \
         "when it has to have started, in the tickets model; or none. Only for users who may"},                 \
        {"nice", 0, "N", I64_OR_IN(s, field.nice, -TERM_NICE_MAX, TERM_NICE_MAX, "100"),                        \
         "taken from its priority; without N 100; below what it is only for operators"},                        \
        {"priority", 0, "N", I64_IN(s, field.posix_priority, -1023, 1024),                                      \
         "POSIX priority, -1023 to 1024, of the tickets model; above what it is only for operators"},           \
        {"job-share", 0, "N", U64_IN(s, field.job_share, 0, TERM_COUNT_MAX),                                    \
         "its own shares in the functional policy"},                                                            \
        {"override-tickets", 0, "N", U64_IN(s, field.override_tickets, 0, TERM_COUNT_MAX),                      \
         "tickets given outright; for operators"},                                                              \
        {"set-priority", 0, "N|auto", TEXT_IN(s, field.set_priority),                                           \
         "a priority by hand instead of the computed one (auto); for operators"},                               \
    {                                                                                                           \
        "site-factor", 0, "N", I64_IN(s, field.site, -TERM_NICE_MAX, TERM_NICE_MAX),                            \
            "the site's term of its priority; for operators"                                                    \
    }

/* rows: the command's table, which has TERM_OPTIONS. *io_cpus: those of -n, or 0; the least of --slots afterwards. ERR_INPUT
 * or ERR_USAGE. */
int job_terms_read(const struct term_values *v, const struct option_row *rows, const struct parsed *parsed,
                   struct arena *arena, struct wire_terms *out_terms, uint32_t *io_cpus, struct err *e);

/* After a refusal: where what is not there means something elsewhere (qsub -l h_rt=3600, -p -100, -q all.q), *e says what is
 * written here. Returns -1. */
int job_terms_explain(const struct wire_terms *terms, struct err *e);

#endif
