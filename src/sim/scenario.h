/* A scenario: a cluster at one time, described by a JSON document (docs/scenarios.md). It is loaded into a state, like
 * the database of an instance, and the engine computes from it. Results are in the order of the document.
 *
 *     text -- scenario_read --> struct scenario -- scenario_priorities --> priorities of the jobs, term by term
 *                                               -- scenario_shares ------> shares and factors of the tree */
#ifndef FAIRLEAD_SIM_SCENARIO_H
#define FAIRLEAD_SIM_SCENARIO_H

#include "engine/priority_values.h"
#include "engine/quota_usage.h"
#include "engine/schedule.h"
#include "engine/state.h"
#include "engine/wait_answer.h"
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

/* Reads a document. name: its name in messages. ERR_INPUT: "NAME:LINE:COLUMN: ..." if it is not JSON, otherwise "NAME:
 * path.of[0].field: ..." with the value and what is accepted. The caller releases out_scenario also after an error. */
int scenario_read(struct str text, const char *name, struct scenario *out_scenario, struct err *e);
void scenario_release(struct scenario *s);

/* Whether the document has a job of that id. */
bool scenario_has_job(const struct scenario *s, uint32_t job_id);

/* The priorities by the configured model, in memory of arena: in priority/multifactor a row for each job and partition,
 * in the other models a row for each job, in its first partition only. Running jobs have rows as in an instance: with
 * CALCULATE_RUNNING, and in priority/tickets. */
struct scenario_priorities {
    struct priorities all;
    const struct priority_text *texts;
    const uint32_t *rows; /* indices into all.rows, in the order of the document */
    uint32_t count;
};
void scenario_priorities(struct scenario *s, struct arena *arena, struct scenario_priorities *out_priorities);

/* Row i of the priorities as a record of the listing. */
void scenario_priority_row(const struct scenario_priorities *p, uint32_t i, struct priority_record *out_record);

/* One scheduling run: engine/schedule.h, whose rows refer to s->state. name: of the document, in errors. ERR_INPUT:
 * hosts, queues and resources of the document do not fit together. The caller releases out_schedule also after an
 * error. */
int scenario_schedule(struct scenario *s, const char *name, struct schedule *out_schedule, struct err *e);

/* Why a job waits (engine/wait_answer.h), in memory of arena. ERR_NOT_FOUND: the document has no such job;
 * ERR_CONFLICT: it does not wait; ERR_INPUT as scenario_schedule. */
int scenario_why(struct scenario *s, const char *name, uint32_t job_id, enum wait_question question,
                 struct arena *arena, struct wait_sentences *out_sentences, struct err *e);
/* Which partitions of a job of it let nothing start (engine/partition_waits.h). */
uint32_t scenario_partition_waits(const struct scenario *s, uint32_t job_id, struct arena *arena,
                                  const char ***out_sentences);

/* What its running jobs have of quotas, in memory of arena. user: only rules for the user's jobs; NULL: all. */
void scenario_quota_usage(const struct schedule *schedule, const char *user, struct arena *arena,
                          struct quota_usage *out);

/* The shares of the tree. options: those of the document's settings (state.policy.share), or others, which then count
 * for this call only. */
void scenario_shares(struct scenario *s, const struct share_options *options, struct arena *arena,
                     struct share_table *out_table);

/* Item i of `tree` as a row of the listing. */
void scenario_share_row(const struct scenario *s, const struct share_table *table, uint32_t i,
                        struct share_values *out_row);

#endif
