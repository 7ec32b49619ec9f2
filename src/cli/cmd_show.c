/* show job: every field of a job, one a line. */
#include <string.h>

#include "base/quantity.h"
#include "cli/job_row.h"
#include "cli/listing.h"

struct show_values {
    bool is_json;
};

static const struct option_row show_options[] = {
    {"json", 0, NULL, FLAG_IN(struct show_values, is_json), "an array of objects, one object a line"},
    {0},
};

static void show_submitted(const void *row, bool is_exact, struct buf *out)
{
    cell_add_moment(out, ((const struct wire_job_row *)row)->submit_us, is_exact);
}

static void show_started(const void *row, bool is_exact, struct buf *out)
{
    cell_add_moment(out, ((const struct wire_job_row *)row)->start_us, is_exact);
}

static void show_state(const void *row, bool is_exact, struct buf *out)
{
    (void)is_exact;
    job_describe_end(row, out);
}

static void show_held(const void *row, bool is_exact, struct buf *out)
{
    (void)is_exact;
    buf_add_text(out, ((const struct wire_job_row *)row)->held ? "yes" : "no");
}

static void show_tasks(const void *row, bool is_exact, struct buf *out)
{
    const struct wire_job_row *job = row;
    if (job->array_tasks) buf_format(out, "%s (%u)", job->array_tasks, job->task_count);
    if (job->array_tasks && job->array_limit > 0) buf_format(out, ", at most %u at once", job->array_limit);
    if (!job->array_tasks) cell_add_text(out, NULL, is_exact);
}

static void show_command(const void *row, bool is_exact, struct buf *out)
{
    cell_add_text(out, ((const struct wire_job_row *)row)->command, is_exact);
}

static void show_directory(const void *row, bool is_exact, struct buf *out)
{
    cell_add_text(out, ((const struct wire_job_row *)row)->directory, is_exact);
}

static void show_out(const void *row, bool is_exact, struct buf *out)
{
    cell_add_text(out, ((const struct wire_job_row *)row)->out_path, is_exact);
}

static void show_err(const void *row, bool is_exact, struct buf *out)
{
    cell_add_text(out, ((const struct wire_job_row *)row)->err_path, is_exact);
}

static void show_cpu_ids(const void *row, bool is_exact, struct buf *out)
{
    cell_add_text(out, ((const struct wire_job_row *)row)->cpu_ids, is_exact);
}

static void show_gpu_ids(const void *row, bool is_exact, struct buf *out)
{
    cell_add_text(out, ((const struct wire_job_row *)row)->gpu_ids, is_exact);
}

static void show_cpu_time(const void *row, bool is_exact, struct buf *out)
{
    const struct wire_job_row *job = row;
    if (job->end_us == 0 || job->start_us == 0) {
        cell_add_text(out, NULL, is_exact);
    } else {
        buf_format(out, "%.2f s", (double)job->cpu_us / 1e6);
    }
}

static void show_project(const void *row, bool is_exact, struct buf *out)
{
    cell_add_text(out, ((const struct wire_job_row *)row)->project, is_exact);
}

static void show_requests(const void *row, bool is_exact, struct buf *out)
{
    cell_add_text(out, ((const struct wire_job_row *)row)->requests, is_exact);
}

static void show_slots(const void *row, bool is_exact, struct buf *out)
{
    const struct wire_job_row *job = row;
    (void)is_exact;
    buf_format(out, "%u", job->cpus);
    if (job->slots_max > 0) buf_format(out, " to %u", job->slots_max);
}

static void show_tres(const void *row, bool is_exact, struct buf *out)
{
    cell_add_text(out, ((const struct wire_job_row *)row)->tres, is_exact);
}

static void show_billing(const void *row, bool is_exact, struct buf *out)
{
    double billing = ((const struct wire_job_row *)row)->billing;
    if (billing == billing) {
        buf_format(out, "%.6g", billing);
    } else {
        cell_add_text(out, NULL, is_exact);
    }
}

/* "nice 100, site 5, POSIX -3", or by hand; nothing that is at its default. */
static void show_priority(const void *row, bool is_exact, struct buf *out)
{
    const struct wire_job_row *job = row;
    if (job->set_priority != NONE) buf_format(out, "%u, set by hand", job->set_priority);
    if (job->nice != 0) buf_format(out, "%snice %d", out->length > 0 ? ", " : "", job->nice);
    if (job->site != 0) buf_format(out, "%ssite %d", out->length > 0 ? ", " : "", job->site);
    if (job->posix_priority != 0) buf_format(out, "%sPOSIX %d", out->length > 0 ? ", " : "", job->posix_priority);
    if (out->length == 0) cell_add_text(out, NULL, is_exact);
}

static void show_tickets(const void *row, bool is_exact, struct buf *out)
{
    const struct wire_job_row *job = row;
    if (job->job_share != 0) buf_format(out, "%u functional shares", job->job_share);
    if (job->override_tickets != 0)
        buf_format(out, "%s%u override tickets", out->length > 0 ? ", " : "", job->override_tickets);
    if (out->length == 0) cell_add_text(out, NULL, is_exact);
}

static void show_begin(const void *row, bool is_exact, struct buf *out)
{
    cell_add_moment(out, ((const struct wire_job_row *)row)->begin_us, is_exact);
}

static void show_deadline(const void *row, bool is_exact, struct buf *out)
{
    cell_add_moment(out, ((const struct wire_job_row *)row)->deadline_us, is_exact);
}

static void show_fair_share(const void *row, bool is_exact, struct buf *out)
{
    double factor = ((const struct wire_job_row *)row)->fair_share;
    if (factor == factor) {
        buf_format(out, "%.6f", factor);
    } else {
        cell_add_text(out, NULL, is_exact);
    }
}

static const struct column fields[] = {
    {"Job", NULL, false, job_cell_id},
    {"Name", NULL, false, job_cell_name},
    {"User", NULL, false, job_cell_user},
    {"Account", NULL, false, job_cell_account},
    {"Project", NULL, false, show_project},
    {"Partition", NULL, false, job_cell_partition},
    {"QOS", NULL, false, job_cell_qos},
    {"Fair share", NULL, false, show_fair_share},
    {"Priority", NULL, false, show_priority},
    {"Tickets", NULL, false, show_tickets},
    {"State", NULL, false, show_state},
    {"Reason", NULL, false, job_cell_reason},
    {"Held", NULL, false, show_held},
    {"Tasks", NULL, false, show_tasks},
    {"Submitted", NULL, false, show_submitted},
    {"Begin", NULL, false, show_begin},
    {"Deadline", NULL, false, show_deadline},
    {"Started", NULL, false, show_started},
    {"Ended", NULL, false, job_cell_ended},
    {"Elapsed", NULL, false, job_cell_elapsed},
    {"Time limit", NULL, false, job_cell_limit},
    {"CPUs", NULL, false, show_slots},
    {"CPU numbers", NULL, false, show_cpu_ids},
    {"Memory", NULL, false, job_cell_memory},
    {"Most memory", NULL, false, job_cell_max_memory},
    {"CPU time", NULL, false, show_cpu_time},
    {"GPUs", NULL, false, job_cell_gpus},
    {"GPU numbers", NULL, false, show_gpu_ids},
    {"Requests", NULL, false, show_requests},
    {"Has", NULL, false, show_tres},
    {"Billing", NULL, false, show_billing},
    {"Command", NULL, false, show_command},
    {"Directory", NULL, false, show_directory},
    {"Output", NULL, false, show_out},
    {"Error output", NULL, false, show_err},
};

/* "Time limit    2:00:00" */
static void write_fields(const struct wire_job_row *row, struct output *out)
{
    struct buf value = {0};
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        buf_clear(&value);
        fields[i].cell(row, false, &value);
        if (value.length > 0) text_make_plain(value.text, value.length);
        buf_format(&out->text, "%-13s %.*s\n", fields[i].heading, (int)value.length, value.text);
    }
    buf_release(&value);
}

static int write_rows(struct call *call, struct client *c, bool is_json, struct err *e)
{
    struct arena arena = {0};
    struct str text;
    struct wire_job_row row;
    uint32_t count = 0;
    int more;
    if (is_json) buf_add_char(&call->out->text, '[');
    while ((more = client_row(c, &text, e)) > 0) {
        if (is_json) {
            buf_add_text(&call->out->text, count > 0 ? ",\n" : "\n");
            buf_add_str(&call->out->text, text);
        } else {
            arena_clear(&arena);
            if (wire_read_text(&wire_job_row_shape, text, &arena, &row, e) != 0) {
                more = -1;
                break;
            }
            if (count > 0) buf_add_char(&call->out->text, '\n');
            write_fields(&row, call->out);
        }
        count++;
        output_pace(call->out);
    }
    if (is_json && more == 0) buf_add_text(&call->out->text, "\n]\n");
    arena_release(&arena);
    return more;
}

static int show_run(struct call *call, struct err *e)
{
    const struct show_values *values = call->values;
    struct wire_list ids;
    if (job_ids_parse(call, 0, &ids, e) != 0) return -1;
    struct buf target = {0};
    buf_add_text(&target, WIRE_JOBS);
    target_add_segment(&target, *(const char **)ids.items);
    struct client client;
    const char *text = instance_target(call, &target);
    if (instance_open(call, &client, e) != 0) return -1;
    int status = client_request(&client, "GET", text, str(""), e);
    if (status == 0) status = write_rows(call, &client, values->is_json, e);
    client_close(&client);
    return status;
}

static const struct command_example show_examples[] = {
    {"fairlead show job 5", "all there is to know of job 5"},
    {"fairlead show job 6_3 --json", "one task of an array, for a program"},
    {0},
};

const struct command cmd_show_job = {
    .name = "show job",
    .group = GROUP_JOBS,
    .summary = "show all of one job, waiting, running or ended",
    .usage = "[--json] ID",
    .text = "An array has a block of lines for each task that started, and one for those that did not.",
    .options = show_options,
    .values_size = sizeof(struct show_values),
    .operands_min = 1,
    .operands_max = 1,
    .examples = show_examples,
    .see_also = "queue history log",
    .run = show_run,
};
