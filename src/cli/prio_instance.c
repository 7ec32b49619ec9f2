/* The instance renders each row as a line (api/wire.h), which is read back into the row that prio_print knows. --json is
 * passed on as it comes. Which columns there are depends on the model, and that is in the rows; where there are none, the
 * instance is asked. */
#include "cli/prio_instance.h"

#include <string.h>

#include "cli/listing.h"
#include "cli/prio_print.h"

static enum priority_model model_of(const char *name)
{
    int model = 0;
    while (model < MODEL_COUNT && strcmp(priority_model_names[model], name) != 0) model++;
    return (enum priority_model)model;
}

/* What is read and printed. */
struct run {
    struct client client;
    struct wire_columns columns;
    struct arena arena; /* of one row */
    struct wire_priority_row row;
};

/* The next row: 1, or 0 when that was all, or -1. */
static int next_row(struct run *r, struct err *e)
{
    struct str line;
    arena_clear(&r->arena);
    int more = client_line(&r->client, &line, e);
    if (more > 0 && wire_read_line(&r->columns, line, &r->arena, &r->row, e) != 0) return -1;
    return more;
}

static const char *const nothing[MODEL_COUNT] = {
    [MODEL_MULTIFACTOR] = "no jobs wait; those that run have a priority with PriorityFlags=CALCULATE_RUNNING",
    [MODEL_TICKETS] = "no jobs wait or run",
    [MODEL_BASIC] = "no jobs wait",
};

/* A job that the instance knows and that has no row runs, or it would wait. */
static void say_nothing(enum priority_model model, uint32_t job_id)
{
    if (job_id == 0) {
        output_note("%s", nothing[model]);
    } else {
        output_note("job %u runs: it has %s", job_id,
                    model == MODEL_MULTIFACTOR ? "a priority only with PriorityFlags=CALCULATE_RUNNING"
                                               : "no priority any more");
    }
}

static int print_rows(struct call *call, struct run *r, uint32_t job_id, bool is_normalized,
                      const struct listing_values *form, struct err *e)
{
    struct wire_status status;
    struct prio_printer printer;
    int more = next_row(r, e);
    if (more < 0) return -1;
    if (more == 0 &&
        instance_ask(call, &r->client, "GET", WIRE_STATUS, NULL, NULL, &wire_status_shape, &status, e) != 0)
        return -1;
    enum priority_model model = model_of(more > 0 ? r->row.model : status.model);
    if (model == MODEL_COUNT)
        return err_set(e, ERR_INTERNAL, "the instance orders jobs by a model that this command does not know");
    if (is_normalized && model != MODEL_MULTIFACTOR)
        return err_set(e, ERR_USAGE, "--normalized is for priority/multifactor; the instance has %s",
                       priority_model_names[model]);
    if (more == 0 && !form->is_parsable) say_nothing(model, job_id);
    const struct prio_kind kind = {model, is_normalized, .has_partitions = true};
    prio_printer_init(&printer, &kind, form, call->out);
    while (more > 0) {
        prio_printer_add(&printer, &r->row);
        more = next_row(r, e);
    }
    prio_printer_end(&printer);
    return more;
}

int prio_instance_run(struct call *call, uint32_t job_id, bool is_normalized, const struct listing_values *form,
                      struct err *e)
{
    struct run r = {.client = {.fd = -1}};
    struct buf target = {0};
    struct str heading;
    char id[24];
    buf_add_text(&target, WIRE_PRIORITIES);
    target_add_query(&target, "format", form->is_json ? "json" : "lines");
    wire_job_id_format(id, job_id, NONE);
    if (job_id > 0) target_add_query(&target, "job", id);
    const char *text = instance_target(call, &target);
    if (instance_open(call, &r.client, e) != 0) return -1;
    int status = client_request(&r.client, "GET", text, str(""), e);
    if (status == 0 && form->is_json) {
        status = listing_copy_json(&r.client, call->out, e);
    } else if (status == 0) {
        int more = client_line(&r.client, &heading, e);
        status = more < 0 ? -1 : wire_read_heading(&wire_priority_row_shape, heading, &r.columns, e);
        if (status == 0) status = print_rows(call, &r, job_id, is_normalized, form, e);
    }
    client_close(&r.client);
    arena_release(&r.arena);
    return status;
}

/* --- weights ------------------------------------------------------------------------------------------------------ */

static bool is_weight(const void *row, const void *model)
{
    static const char *const prefixes[MODEL_COUNT] = {"PriorityWeight", "weight_", NULL};
    const char *prefix = prefixes[*(const enum priority_model *)model];
    return prefix != NULL && strncmp(((const struct wire_setting *)row)->name, prefix, strlen(prefix)) == 0;
}

static void cell_name(const void *row, bool is_exact, struct buf *out)
{
    cell_add_text(out, ((const struct wire_setting *)row)->name, is_exact);
}

static void cell_value(const void *row, bool is_exact, struct buf *out)
{
    cell_add_text(out, ((const struct wire_setting *)row)->value, is_exact);
}

static void cell_help(const void *row, bool is_exact, struct buf *out)
{
    cell_add_text(out, ((const struct wire_setting *)row)->help, is_exact);
}

int prio_weights_run(struct call *call, const struct listing_values *form, struct err *e)
{
    static const struct column columns[] = {
        {.heading = "SETTING", .name = "name", .cell = cell_name},
        {.heading = "WEIGHT", .name = "value", .is_right = true, .cell = cell_value},
        {.heading = "MEANING", .name = "help", .cell = cell_help},
    };
    struct wire_status status;
    if (instance_ask_once(call, "GET", WIRE_STATUS, NULL, NULL, &wire_status_shape, &status, e) != 0) return -1;
    enum priority_model model = model_of(status.model);
    if (model == MODEL_COUNT)
        return err_set(e, ERR_INTERNAL, "the instance orders jobs by %s, which this command does not know",
                       status.model);
    const struct listing listing = {.shape = &wire_setting_shape,
                                    .columns = columns,
                                    .column_count = sizeof columns / sizeof *columns,
                                    .empty = "priority/basic has no weights: first come, first served",
                                    .wants = is_weight,
                                    .context = &model};
    return listing_run(call, &listing, form, WIRE_SETTINGS, NULL, e);
}
