#include "cli/prio_scenario.h"

#include "cli/prio_columns.h"
#include "cli/read_file.h"
#include "cli/setting_remarks.h"
#include "sim/scenario.h"

static void note_running(const struct scenario *s, const struct listing_values *form)
{
    const struct policy *policy = &s->state.policy;
    uint32_t running = s->state.tasks.count;
    bool are_listed = policy->model == MODEL_TICKETS ||
                      (policy->model == MODEL_MULTIFACTOR && (policy->multifactor.flags & FLAG_CALCULATE_RUNNING) != 0);
    if (!listing_is_table(form) || are_listed || running == 0) return;
    const char *advice = policy->model != MODEL_MULTIFACTOR ? ""
                         : running == 1                     ? "; PriorityFlags=CALCULATE_RUNNING lists it"
                                                            : "; PriorityFlags=CALCULATE_RUNNING lists them";
    output_note("%u running or suspended %s not listed%s", running, running == 1 ? "job is" : "jobs are", advice);
}

static int check_wanted(const struct scenario *s, const char *path, const struct prio_wanted *wanted, struct err *e)
{
    enum priority_model model = s->state.policy.model;
    if (wanted->job_id != 0 && !scenario_has_job(s, wanted->job_id))
        return err_set(e, ERR_NOT_FOUND, "%s: no job %u in this scenario", path, wanted->job_id);
    if (wanted->is_normalized && model != MODEL_MULTIFACTOR)
        return err_set(e, ERR_USAGE, "%s: --normalized requires priority/multifactor; this scenario has %s", path,
                       priority_model_names[model]);
    return 0;
}

static int write_rows(struct call *call, struct scenario *s, const struct prio_wanted *wanted,
                      const struct listing_values *form, struct err *e)
{
    const struct prio_kind kind = {.model = s->state.policy.model,
                                   .is_normalized = wanted->is_normalized,
                                   .has_partitions = !s->state.is_document};
    const struct column_table columns = prio_columns(&kind);
    struct scenario_priorities all;
    struct priority_record record;
    struct listing listing;
    scenario_priorities(s, call->arena, &all);
    int status = listing_begin(&listing, &columns, form, call->out, e);
    for (uint32_t i = 0; status == 0 && i < all.count; i++) {
        scenario_priority_row(&all, i, &record);
        bool is_wanted = wanted->job_id == 0 || record.value[PRIORITY_FIELD_JOB_ID].number == wanted->job_id;
        if (is_wanted) listing_add(&listing, record.value);
    }
    if (status == 0) listing_end(&listing);
    uint32_t marked_count = listing.marked_count;
    listing_release(&listing);
    if (status == 0 && marked_count > 0)
        output_note(PRIO_NOT_ELIGIBLE_MARK
                    " not eligible to start: HELD (change its 'state'), or 'eligible' is in the future or null");
    if (status == 0) note_running(s, form);
    if (status == 0) setting_remarks_of_all(&s->state.settings);
    return status;
}

int prio_scenario_run(struct call *call, const char *path, const struct prio_wanted *wanted,
                      const struct listing_values *form, struct err *e)
{
    struct buf text = {0};
    struct scenario s = {0};
    call->error_has_position = true;
    int status = read_file(path, &text, e);
    if (status == 0) status = scenario_read((struct str){text.text, text.length}, path, &s, e);
    buf_release(&text);
    if (status == 0) status = check_wanted(&s, path, wanted, e);
    if (status == 0) {
        call->error_has_position = false;
        status = write_rows(call, &s, wanted, form, e);
    }
    scenario_release(&s);
    return status;
}
