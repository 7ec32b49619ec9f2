/* Questions to a scenario. Each puts together what a policy asks for, calls it, and gives one row for each job (and
 * partition) in the document's order. Nothing here reads a document, and nothing here is a policy. */
#ifndef FAIRLEAD_SIM_ANSWER_H
#define FAIRLEAD_SIM_ANSWER_H

#include "sim/scenario.h"

/* One TRES of a job in a partition. Those whose term is 0 are left out. */
struct tres_term {
    uint32_t tres;
    double factor, weighted;
};

/* A job in one of its partitions, by priority/multifactor. A held job and one whose priority was set by hand have no terms. */
struct multifactor_row {
    uint32_t job, partition; /* indices */
    struct multifactor_factors factors;
    struct multifactor_terms terms;
    const struct tres_term *tres;
    uint32_t tres_count;
    double billing; /* units a second, unrounded */
};
struct multifactor_answer {
    ARRAY(struct multifactor_row) rows;
};

/* Running jobs have rows with CALCULATE_RUNNING only: without it their priority is no longer computed. */
void answer_multifactor(const struct scenario *s, struct arena *arena, struct multifactor_answer *out_answer);

/* A job by priority/tickets; an array is its first pending task. All is 0 for a job that is held or not eligible yet, and
 * with report_pjob_tickets = false the tickets, norms and priority of a pending one, as qstat shows them. */
struct ticket_row {
    struct tickets tickets;
    struct urgency urgency;
    double norm_tickets, norm_urgency, norm_posix, prior;
};

/* out_rows: one for each job, in arena. ERR_INPUT: more than TICKET_TASKS_MAX tasks take part. */
enum { TICKET_TASKS_MAX = 5000000 };
int answer_tickets(const struct scenario *s, struct arena *arena, struct ticket_row **out_rows, struct err *e);

/* Priorities by priority/basic, one for each job: by submission, then by id. */
void answer_basic(const struct scenario *s, struct arena *arena, uint32_t **out_priorities);

/* The share listing of `tree`, by node. options: the scenario's own (policy.share) or others. */
void answer_shares(const struct scenario *s, const struct share_options *options, struct arena *arena,
                   struct share_table *out_table);

#endif
