/* From a document to rows of a listing: the scenario's answer by its model, a row of the wire made of each. Texts of a row
 * are good until the next one is made. */
#include "cli/prio_scenario.h"

#include <math.h>

#include "base/number.h"
#include "cli/prio_print.h"
#include "cli/read_file.h"
#include "sim/answer.h"

struct listing_run {
    const struct scenario *s;
    struct prio_printer printer;
    uint32_t job_id; /* 0: all */
    char id[NUMBER_TEXT_SIZE];
    struct buf terms, factors;
};

/* What every row has; no term of any model. */
static struct wire_priority_row make_row(struct listing_run *run, const struct scenario_job *job, uint32_t partition)
{
    const struct scenario *s = run->s;
    struct wire_priority_row row;
    wire_clear(&wire_priority_row_shape, &row);
    number_format_u64(run->id, job->id);
    row.model = priority_model_names[s->policy.model];
    row.id = run->id;
    row.job_id = job->id;
    row.user = job->user;
    row.account = job->account != NULL ? job->account : "";
    row.project = job->project != NONE ? s->projects.items[job->project].object.name : "";
    row.partition = s->partitions.items[partition].object.name;
    row.qos = job->qos != NONE ? s->qos.items[job->qos].name : "";
    row.state = job_state_names[job->state];
    row.billing = billing_of(&s->policy.tres, &job->tres, s->partitions.items[partition].weights, s->policy.billing);
    return row;
}

static void add(struct listing_run *run, const struct wire_priority_row *row)
{
    if (run->job_id == 0 || row->job_id == run->job_id) prio_printer_add(&run->printer, row);
}

/* --- multifactor ---------------------------------------------------------------------------------------------------- */

static void add_term(struct buf *out, const char *name, double value)
{
    char digits[NUMBER_TEXT_SIZE];
    if (out->length > 0) buf_add_char(out, ',');
    buf_add_text(out, name);
    buf_add_char(out, '=');
    buf_add(out, digits, number_format_g17(digits, value));
}

static void set_tres(struct listing_run *run, const struct multifactor_row *from, struct wire_priority_row *row)
{
    buf_clear(&run->terms);
    buf_clear(&run->factors);
    for (uint32_t i = 0; i < from->tres_count; i++) {
        const char *name = run->s->policy.tres.items[from->tres[i].tres].text;
        add_term(&run->terms, name, from->tres[i].weighted);
        add_term(&run->factors, name, from->tres[i].factor);
    }
    row->tres_terms = run->terms.length > 0 ? run->terms.text : "";
    row->tres_factors = run->factors.length > 0 ? run->factors.text : "";
}

static void set_terms(const struct multifactor_row *from, struct wire_priority_row *row)
{
    const struct multifactor_terms *t = &from->terms;
    const struct multifactor_factors *f = &from->factors;
    row->priority = t->priority;
    row->billing = from->billing;
    row->site = t->site;
    row->age = t->age;
    row->assoc = t->assoc;
    row->fair_share = t->fair_share;
    row->job_size = t->job_size;
    row->partition_term = t->partition;
    row->qos_term = t->qos;
    row->nice = t->nice;
    row->tres = t->tres;
    row->age_factor = f->age;
    row->assoc_factor = f->assoc;
    row->fair_share_factor = f->fair_share;
    row->job_size_factor = f->job_size;
    row->partition_factor = f->partition;
    row->qos_factor = f->qos;
}

static void note_running(const struct scenario *s, const struct listing_values *form)
{
    uint32_t running = 0;
    if (form->is_json || form->is_parsable || s->policy.multifactor.flags & FLAG_CALCULATE_RUNNING) return;
    for (uint32_t i = 0; i < s->jobs.count; i++) running += s->jobs.items[i].state == JOB_RUNNING;
    if (running > 0)
        output_note("%u running %s not listed; PriorityFlags=CALCULATE_RUNNING lists %s", running,
                    running == 1 ? "job is" : "jobs are", running == 1 ? "it" : "them");
}

static void list_multifactor(struct listing_run *run, struct arena *arena)
{
    struct multifactor_answer answer;
    answer_multifactor(run->s, arena, &answer);
    for (uint32_t i = 0; i < answer.rows.count; i++) {
        const struct multifactor_row *from = &answer.rows.items[i];
        struct wire_priority_row row = make_row(run, &run->s->jobs.items[from->job], from->partition);
        set_terms(from, &row);
        set_tres(run, from, &row);
        add(run, &row);
    }
    array_release(&answer.rows);
    note_running(run->s, run->printer.form);
}

/* --- tickets and basic ---------------------------------------------------------------------------------------------- */

static void set_tickets(const struct ticket_row *from, struct wire_priority_row *row)
{
    row->priority = from->prior;
    row->norm_tickets = from->norm_tickets;
    row->norm_urgency = from->norm_urgency;
    row->norm_posix = from->norm_posix;
    row->urgency_resources = from->urgency.resources;
    row->urgency_waiting = from->urgency.waiting_time;
    row->urgency_deadline = from->urgency.deadline;
    row->urgency = from->urgency.sum;
    row->tickets = from->tickets.total;
    row->override_tickets = from->tickets.override;
    row->functional_tickets = from->tickets.functional;
    row->share_tickets = from->tickets.share;
}

static int list_tickets(struct listing_run *run, struct arena *arena, struct err *e)
{
    struct ticket_row *rows;
    if (answer_tickets(run->s, arena, &rows, e) != 0) return -1;
    for (uint32_t i = 0; i < run->s->jobs.count; i++) {
        const struct scenario_job *job = &run->s->jobs.items[i];
        struct wire_priority_row row = make_row(run, job, job->partitions[0]);
        set_tickets(&rows[i], &row);
        add(run, &row);
    }
    return 0;
}

static void list_basic(struct listing_run *run, struct arena *arena)
{
    uint32_t *priorities;
    answer_basic(run->s, arena, &priorities);
    for (uint32_t i = 0; i < run->s->jobs.count; i++) {
        const struct scenario_job *job = &run->s->jobs.items[i];
        struct wire_priority_row row = make_row(run, job, job->partitions[0]);
        row.priority = priorities[i];
        add(run, &row);
    }
}

/* --- the listing ---------------------------------------------------------------------------------------------------- */

static int list(struct call *call, const struct scenario *s, const char *path, uint32_t job_id, bool is_normalized,
                const struct listing_values *form, struct err *e)
{
    enum priority_model model = s->policy.model;
    struct listing_run run = {.s = s, .job_id = job_id};
    size_t before = call->out->text.length;
    int status = 0;
    if (job_id != 0 && map_get_u64(&s->job_ids, job_id) == NONE)
        return err_set(e, ERR_NOT_FOUND, "%s: no job %u in this document", path, job_id);
    if (is_normalized && model != MODEL_MULTIFACTOR)
        return err_set(e, ERR_USAGE, "%s: --normalized is for priority/multifactor; this is %s", path,
                       priority_model_names[model]);
    const struct prio_kind kind = {.model = model, .is_normalized = is_normalized};
    prio_printer_init(&run.printer, &kind, form, call->out);
    if (model == MODEL_MULTIFACTOR) list_multifactor(&run, call->arena);
    if (model == MODEL_TICKETS) status = list_tickets(&run, call->arena, e);
    if (model == MODEL_BASIC) list_basic(&run, call->arena);
    prio_printer_end(&run.printer);
    if (status != 0) {
        call->out->text.length = before; /* takes the heading back */
        err_prefix(e, "%s", path);
    }
    buf_release(&run.terms);
    buf_release(&run.factors);
    return status;
}

int prio_scenario_run(struct call *call, const char *path, uint32_t job_id, bool is_normalized,
                      const struct listing_values *form, struct err *e)
{
    struct buf text = {0};
    struct scenario s = {0};
    call->error_has_place = true;
    int status = read_file(path, &text, e);
    if (status == 0) status = scenario_read((struct str){text.text, text.length}, path, &s, e);
    buf_release(&text);
    if (status == 0) status = list(call, &s, path, job_id, is_normalized, form, e);
    scenario_release(&s);
    return status;
}
