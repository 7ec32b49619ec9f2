/* Rows of the listing of priorities (fields/priority_fields.h) from those that state_priorities gives. In two steps, because
 * a long listing is written while the state goes on changing: texts are taken with the numbers, values are made row by row.
 *
 *     state_priorities(s, now_us, NONE, arena, &all);
 *     texts = priority_text_make_all(s, &all, arena);
 *     for each row i: priority_values_make(&all, texts, i, &record); wire_write_line(&priority_fields, record.value, out); */
#ifndef FAIRLEAD_ENGINE_PRIORITY_VALUES_H
#define FAIRLEAD_ENGINE_PRIORITY_VALUES_H

#include "engine/priorities.h"
#include "fields/priority_fields.h"

/* What of a row needs the state. id NULL: the job's number. */
struct priority_text {
    const char *id, *user, *account, *project, *partition, *qos;
    const char *tres_terms, *tres_factors; /* NULL: another model */
    uint32_t job_id, task_id;
    int state;      /* enum job_state, or JOB_HELD */
    bool is_hidden; /* the scheduler does not tell of it (report_pjob_tickets): its numbers are 0 */
};

/* One for each row, in memory of arena. O(rows). */
struct priority_text *priority_text_make_all(const struct state *s, const struct priorities *all, struct arena *arena);

struct priority_record {
    struct field_value value[PRIORITY_FIELD_COUNT];
    char id[24];
};
void priority_values_make(const struct priorities *all, const struct priority_text *texts, uint32_t row,
                          struct priority_record *out_record);

#endif
