/* The columns depend on the model, which every row names; where there is no row, the instance is asked. --json passes rows on
 * as they come. */
#include "cli/prio_instance.h"

#include <string.h>

#include "cli/instance_listing.h"
#include "cli/prio_columns.h"
#include "fields/job_id.h"
#include "fields/priority_fields.h"
#include "fields/settings.h"

/* What is read and written. */
struct prio_run {
    const struct prio_wanted *wanted;
    const struct listing_values *how;
    struct client client;
    struct wire_columns lines; /* of the lines that come */
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
    return err_set(e, ERR_INTERNAL, "the instance orders jobs by %s, which this command does not know", name);
}

static int ask_model(struct call *call, struct client *c, enum priority_model *out_model, struct err *e)
{
    struct api_status status;
    if (instance_ask(call, c, "GET", API_STATUS, NULL, NULL, &api_status_shape, &status, e) != 0) return -1;
    return read_model(status.model, out_model, e);
}

/* --- rows --------------------------------------------------------------------------------------------------------- */

/* The next row: 1, or 0 when that was all, or -1. */
static int next_row(struct prio_run *r, struct err *e)
{
    struct str line;
    arena_clear(&r->arena);
    int more = client_line(&r->client, &line, e);
    if (more > 0 && wire_read_line(&r->lines, line, &r->arena, r->row.value, e) != 0) return -1;
    return more;
}

/* Where no row came. A job that the instance knows and that has no row runs, or it would wait. */
static void note_nothing(enum priority_model model, uint32_t job_id)
{
    static const char *const nothing[MODEL_COUNT] = {
        [MODEL_MULTIFACTOR] = "no jobs wait; those that run have a priority with PriorityFlags=CALCULATE_RUNNING",
        [MODEL_TICKETS] = "no jobs wait or run",
        [MODEL_BASIC] = "no jobs wait",
    };
    bool can_have_one = model == MODEL_MULTIFACTOR;
    if (job_id == 0) {
        output_note("%s", nothing[model]);
    } else {
        output_note("job %u runs: it has %s", job_id,
                    can_have_one ? "a priority only with PriorityFlags=CALCULATE_RUNNING" : "no priority any more");
    }
}

static int begin_listing(struct prio_run *r, enum priority_model model, struct output *out, struct err *e)
{
    const struct prio_kind kind = {model, r->wanted->is_normalized, .has_partitions = true};
    if (kind.is_normalized && model != MODEL_MULTIFACTOR)
        return err_set(e, ERR_USAGE, "--normalized is for priority/multifactor; the instance has %s",
                       priority_model_names[model]);
    r->columns = prio_columns(&kind);
    return listing_begin(&r->written, &r->columns, r->how, out, e);
}

static int write_rows(struct call *call, struct prio_run *r, struct err *e)
{
    enum priority_model model;
    struct str heading;
    int more = client_line(&r->client, &heading, e);
    if (more < 0 || wire_read_heading(&priority_fields, heading, &r->lines, e) != 0) return -1;
    more = next_row(r, e);
    if (more < 0) return -1;
    int status = more == 0 ? ask_model(call, &r->client, &model, e)
                           : read_model(r->row.value[PRIORITY_FIELD_MODEL].text, &model, e);
    if (status != 0 || begin_listing(r, model, call->out, e) != 0) return -1;
    if (more == 0 && listing_is_table(r->how)) note_nothing(model, r->wanted->job_id);
    for (; more > 0; more = next_row(r, e)) listing_add(&r->written, r->row.value);
    if (more == 0) listing_end(&r->written);
    return more;
}

/* All that the rows have, whatever the model. */
static int pass_rows(struct call *call, struct prio_run *r, struct err *e)
{
    struct str row;
    int more;
    r->columns = (struct column_table){.fields = &priority_fields};
    if (listing_begin(&r->written, &r->columns, r->how, call->out, e) != 0) return -1;
    while ((more = client_row(&r->client, &row, e)) > 0) listing_add_json(&r->written, row);
    if (more == 0) listing_end(&r->written);
    return more;
}

int prio_instance_run(struct call *call, const struct prio_wanted *wanted, const struct listing_values *how,
                      struct err *e)
{
    struct prio_run r = {.wanted = wanted, .how = how, .client = {.fd = -1}};
    bool is_passed = listing_takes_json(how);
    struct buf target = {0};
    buf_add_text(&target, API_PRIORITIES);
    client_add_query(&target, "format", is_passed ? "json" : "lines");
    if (wanted->job_id > 0) {
        char id[JOB_ID_TEXT_SIZE];
        job_id_format(id, wanted->job_id, NONE);
        client_add_query(&target, "job", id);
    }
    const char *text = instance_target(call, &target);
    int status = instance_open(call, &r.client, e);
    if (status == 0) status = client_request(&r.client, "GET", text, str(""), e);
    if (status == 0) status = is_passed ? pass_rows(call, &r, e) : write_rows(call, &r, e);
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

int prio_instance_run_weights(struct call *call, const struct listing_values *how, struct err *e)
{
    static const struct column columns[] = {
        {.field = SETTING_FIELD_NAME, .heading = "SETTING"},
        {.field = SETTING_FIELD_VALUE, .heading = "WEIGHT", .is_right_aligned = true},
        {.field = SETTING_FIELD_HELP, .heading = "MEANING", .width_min = 20, .rank = 1},
    };
    static const struct column_table table = {&setting_fields, columns, sizeof columns / sizeof *columns};
    struct client client = {.fd = -1};
    enum priority_model model;
    int status = instance_open(call, &client, e);
    if (status == 0) status = ask_model(call, &client, &model, e);
    client_close(&client);
    if (status != 0) return -1;
    const struct instance_listing listing = {
        .columns = &table,
        .target = API_SETTINGS,
        .empty = "priority/basic has no weights: first come, first served",
        .wants = is_weight,
        .context = &model,
    };
    return instance_listing_run(call, &listing, how, NULL, e);
}
