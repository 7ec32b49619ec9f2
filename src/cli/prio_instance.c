/* The columns depend on the model of priorities, which every row contains; if there is no row, it is requested with the
 * instance's status. For --json, rows are copied unread. */
#include "cli/prio_instance.h"

#include <string.h>

#include "cli/instance_listing.h"
#include "cli/prio_columns.h"
#include "fields/job_id.h"
#include "fields/priority_fields.h"
#include "fields/settings.h"

struct prio_run {
    const struct prio_wanted *wanted;
    const struct listing_values *form;
    struct client client;
    struct wire_columns lines; /* the columns of the reply */
    struct arena arena;        /* of one row */
    struct priority_values row;
    struct column_table columns;
    struct listing written;
};

static int read_model(const char *name, enum priority_model *out_model, struct err *e)
{
    for (int model = 0; model < MODEL_COUNT; model++) {
        if (strcmp(priority_model_names[model], name) != 0) continue;
        *out_model = (enum priority_model)model;
        return 0;
    }
    return err_set(e, ERR_INTERNAL, "the instance has a PriorityType that this version does not support: %s", name);
}

static int request_model(struct call *call, struct client *c, enum priority_model *out_model, struct err *e)
{
    struct api_status status;
    if (instance_request(call, c, "GET", API_STATUS, NULL, NULL, &api_status_shape, &status, e) != 0) return -1;
    return read_model(status.model, out_model, e);
}

/* --- rows --------------------------------------------------------------------------------------------------------- */

/* Reads the next row: 1, 0 after the last one, or -1. */
static int next_row(struct prio_run *r, struct err *e)
{
    struct str line;
    arena_clear(&r->arena);
    int more = client_line(&r->client, &line, e);
    if (more > 0 && wire_read_line(&r->lines, line, &r->arena, r->row.value, e) != 0) return -1;
    return more;
}

/* The note of an empty listing. An existing job without a row is a running one: every pending job has a row. */
static void note_empty(enum priority_model model, const struct prio_wanted *wanted)
{
    static const char *const notes[MODEL_COUNT] = {
        [MODEL_MULTIFACTOR] = "no pending jobs; running jobs are listed with PriorityFlags=CALCULATE_RUNNING",
        [MODEL_TICKETS] = "no pending or running jobs",
        [MODEL_BASIC] = "no pending jobs",
    };
    char id[JOB_ID_TEXT_SIZE];
    if (wanted->job_id == 0) {
        output_note("%s", notes[model]);
    } else {
        job_id_format(id, wanted->job_id, wanted->task_id);
        output_note("%s %s is running: it has %s", wanted->task_id == NONE ? "job" : "task", id,
                    model == MODEL_MULTIFACTOR ? "a priority only with PriorityFlags=CALCULATE_RUNNING"
                                               : "no priority");
    }
}

static int begin_listing(struct prio_run *r, enum priority_model model, struct output *out, struct err *e)
{
    const struct prio_kind kind = {model, r->wanted->is_normalized, .has_partitions = true};
    if (kind.is_normalized && model != MODEL_MULTIFACTOR)
        return err_set(e, ERR_USAGE, "--normalized requires priority/multifactor; the instance has %s",
                       priority_model_names[model]);
    r->columns = prio_columns(&kind);
    return listing_begin(&r->written, &r->columns, r->form, out, e);
}

static int write_rows(struct call *call, struct prio_run *r, struct err *e)
{
    enum priority_model model;
    struct str heading;
    int more = client_line(&r->client, &heading, e);
    if (more < 0 || wire_read_heading(&priority_fields, heading, &r->lines, e) != 0) return -1;
    more = next_row(r, e);
    if (more < 0) return -1;
    int status = more == 0 ? request_model(call, &r->client, &model, e)
                           : read_model(r->row.value[PRIORITY_FIELD_MODEL].text, &model, e);
    if (status != 0 || begin_listing(r, model, call->out, e) != 0) return -1;
    if (more == 0 && listing_is_table(r->form)) note_empty(model, r->wanted);
    for (; more > 0; more = next_row(r, e)) listing_add(&r->written, r->row.value);
    if (more != 0) return -1;
    listing_end(&r->written);
    if (r->written.marked_count > 0)
        output_note(PRIO_NOT_ELIGIBLE_MARK
                    " not eligible to start: held (release it with 'fairlead release'), its begin is in the "
                    "future, or it waits for other jobs");
    return 0;
}

/* Copies the rows with all their fields, whatever the model. */
static int copy_rows(struct call *call, struct prio_run *r, struct err *e)
{
    struct str row;
    int more;
    r->columns = (struct column_table){.fields = &priority_fields};
    if (listing_begin(&r->written, &r->columns, r->form, call->out, e) != 0) return -1;
    while ((more = client_row(&r->client, &row, e)) > 0) listing_add_json(&r->written, row);
    if (more == 0) listing_end(&r->written);
    return more;
}

int prio_instance_run(struct call *call, const struct prio_wanted *wanted, const struct listing_values *form,
                      struct err *e)
{
    struct prio_run r = {.wanted = wanted, .form = form, .client = {.fd = -1}};
    bool is_copied = listing_takes_json(form);
    struct buf target = {0};
    buf_add_text(&target, API_PRIORITIES);
    client_add_query(&target, "format", is_copied ? "json" : "lines");
    if (wanted->job_id > 0) {
        char id[JOB_ID_TEXT_SIZE];
        job_id_format(id, wanted->job_id, NONE);
        client_add_query(&target, "job", id);
        text_format(id, sizeof id, "%u", wanted->task_id);
        if (wanted->task_id != NONE) client_add_query(&target, "task", id);
    }
    const char *text = instance_target(call, &target);
    int status = instance_open(call, &r.client, e);
    if (status == 0) status = client_request(&r.client, "GET", text, str(""), e);
    if (status == 0) status = is_copied ? copy_rows(call, &r, e) : write_rows(call, &r, e);
    client_close(&r.client);
    listing_release(&r.written);
    arena_release(&r.arena);
    return status;
}

/* --- weights ------------------------------------------------------------------------------------------------------ */

static bool is_weight(const struct field_value *row, const void *model)
{
    static const char *const prefixes[MODEL_COUNT] = {
        [MODEL_MULTIFACTOR] = "PriorityWeight", [MODEL_TICKETS] = "weight_", [MODEL_BASIC] = NULL};
    const char *prefix = prefixes[*(const enum priority_model *)model];
    return prefix != NULL && str_starts(str(row[SETTING_FIELD_NAME].text), str(prefix));
}

int prio_instance_run_weights(struct call *call, const struct listing_values *form, struct err *e)
{
    static const struct column columns[] = {
        {.field = SETTING_FIELD_NAME, .heading = "SETTING"},
        {.field = SETTING_FIELD_VALUE, .heading = "WEIGHT", .is_right_aligned = true},
        {.field = SETTING_FIELD_HELP, .heading = "MEANING", .width_min = 20, .rank = 1},
    };
    static const struct column_table table = {
        .fields = &setting_fields, .columns = columns, .count = sizeof columns / sizeof *columns};
    struct client client = {.fd = -1};
    enum priority_model model;
    int status = instance_open(call, &client, e);
    if (status == 0) status = request_model(call, &client, &model, e);
    client_close(&client);
    if (status != 0) return -1;
    const struct instance_listing listing = {
        .columns = &table,
        .target = API_SETTINGS,
        .empty_note = "priority/basic has no weights: jobs start in the order of submission",
        .filter = is_weight,
        .filter_context = &model,
    };
    return instance_listing_write(call, &listing, form, NULL, e);
}
