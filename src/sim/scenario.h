/* A scenario: a cluster at one moment, as a JSON document describes it (docs/scenarios.md). It is loaded into a state, like
 * an instance's database, and the engine answers the questions about it. Rows are in the order of the document.
 *
 *     text -- scenario_read --> struct scenario -- scenario_priorities --> priorities of the jobs, term by term
 *                                               -- scenario_shares ------> shares and factors of the tree */
#ifndef FAIRLEAD_SIM_SCENARIO_H
#define FAIRLEAD_SIM_SCENARIO_H

#include "engine/priority_values.h"
#include "engine/state.h"
#include "fields/share_fields.h"

struct scenario {
    int64_t now_us;
    struct state state;
    uint32_t *jobs; /* by position in the document's list: index in state.jobs */
    uint32_t job_count;
    uint32_t *associations; /* by position in `tree`: index in state.assocs */
    uint32_t association_count;
    struct arena arena;
};

/* Reads the document. name: what messages call it. ERR_INPUT: "NAME:LINE:COLUMN: ..." if it is no JSON, otherwise "NAME:
 * path.of[0].field: ..." with the value and what is accepted. To be released either way. */
int scenario_read(struct str text, const char *name, struct scenario *out_scenario, struct err *e);
void scenario_release(struct scenario *s);

/* Whether the document has a job of that id. */
bool scenario_has_job(const struct scenario *s, uint32_t job_id);

/* Priorities by the model in force: by priority/multifactor a row for each job and partition, by the others for each job.
 * Running jobs have rows as in an instance: with CALCULATE_RUNNING, and by priority/tickets. In memory of arena. */
struct scenario_priorities {
    struct priorities all;
    const struct priority_text *texts;
    const uint32_t *rows; /* of all, in the order of the document */
    uint32_t count;
};
void scenario_priorities(struct scenario *s, struct arena *arena, struct scenario_priorities *out);
void scenario_priority_row(const struct scenario_priorities *p, uint32_t row, struct priority_record *out_record);

/* Shares of the tree. options: those of the document's settings (state.policy.share), or others. */
void scenario_shares(struct scenario *s, const struct share_options *options, struct arena *arena,
                     struct share_table *out_table);

/* Row i of `tree`. */
void scenario_share_row(const struct scenario *s, const struct share_table *table, uint32_t i,
                        struct share_values *out_row);

#endif
