/* The rows of state_priorities as records of the listing of priorities (fields/priority_fields.h). There are two steps,
 * because the state changes while a long listing is written: texts are copied together with the numbers, records are
 * filled row by row.
 *
 *     state_priorities(s, now_us, NONE, arena, &all);
 *     texts = priority_text_make_all(s, &all, arena);
 *     for each row i: priority_values_make(&all, texts, i, &record); wire_write_line(&priority_fields, record.value,
 *     out); */
#ifndef FAIRLEAD_ENGINE_PRIORITY_VALUES_H
#define FAIRLEAD_ENGINE_PRIORITY_VALUES_H

#include "engine/priorities.h"
#include "fields/priority_fields.h"

/* The texts of a row, and what else needs the state. id NULL: the job's number. */
struct priority_text {
    const char *id, *user, *account, *project, *partition, *qos;
    const char *tres_terms, *tres_factors; /* NULL: another model */
    uint32_t job_id, task_id;
    int state;      /* enum job_state, or JOB_HELD */
    bool is_hidden; /* its numbers are shown as 0 (report_pjob_tickets) */
};

/* One for each row, in memory of arena. O(rows + associations + objects). */
struct priority_text *priority_text_make_all(const struct state *s, const struct priorities *all, struct arena *arena);

/* Keeps of the rows of one array those of the task, and of its pending tasks that one alone, with its hold. */
void priority_text_keep_task(const struct state *s, uint32_t task_id, struct arena *arena, struct priorities *all,
                             struct priority_text *texts);

/* value points into texts and id. */
struct priority_record {
    struct field_value value[PRIORITY_FIELD_COUNT];
    char id[24];
};

/* Fills the record of row i. texts: those of all rows. */
void priority_values_make(const struct priorities *all, const struct priority_text *texts, uint32_t i,
                          struct priority_record *out_record);

#endif
