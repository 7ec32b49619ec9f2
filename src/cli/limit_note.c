#include "cli/limit_note.h"

#include "base/array.h"
#include "cli/output.h"
#include "fields/job_fields.h"

void limit_note_print(const char *command, const char *id, const char *limit, const char *field)
{
    if (limit == NULL) return;
    if (field == NULL) {
        output_note("fairlead %s: job %s: %s", command, id, limit);
        return;
    }
    uint32_t f = field != NULL ? field_find(&job_fields, str(field)) : NONE;
    const struct job_field_row *row = f != NONE ? &job_field_rows[f] : NULL;
    char option[80] = "OPTION";
    if (f == JOB_FIELD_EXCLUSIVE)
        text_format(option, sizeof option, "--exclusive=no");
    else if (row != NULL && row->letter != 0 && row->argument != NULL)
        text_format(option, sizeof option, "-%c %s", row->letter, row->argument);
    else if (row != NULL && row->option != NULL && row->argument != NULL)
        text_format(option, sizeof option, "--%s %s", row->option, row->argument);
    output_note("fairlead %s: job %s waits until a limit or the job changes: %s; run 'fairlead update %s %s' or "
                "'fairlead cancel %s'",
                command, id, limit, id, option, id);
}
