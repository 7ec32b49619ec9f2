/* fairlead status: the instance, its host, its tasks and its main settings on one screen. */
#include <string.h>
#include <time.h>

#include "base/quantity.h"
#include "cli/clock_line.h"
#include "cli/instance_listing.h"
#include "cli/setting_columns.h"
#include "fields/gpu_fields.h"
#include "fields/settings.h"

struct status_values {
    bool has_gpus;
    struct listing_values listing;
};

static const struct option_row status_options[] = {
    {.name = "gpus",
     .value = FLAG_IN(struct status_values, has_gpus),
     .help = "list the GPUs of the machine instead; the other options are for that, but for --json"},
    LISTING_OPTIONS(struct status_values, listing),
    {0},
};

static void write_instance(const struct api_status *s, struct output *out)
{
    char up[32], virtual_up[32], of_its_time[64] = "";
    int64_t up_s = (s->now_us - s->started_us) / US_PER_S; /* of a pretend cluster in its own time */
    bool is_faster = s->pretend != NULL && s->speed > 1;
    duration_format_short(virtual_up, up_s);
    duration_format_short(up, is_faster ? up_s / s->speed : up_s);
    if (is_faster) text_format(of_its_time, sizeof of_its_time, " (%s of its time)", virtual_up);
    output_line(out, "Instance   %s, process %lld of %s, version %s, up %s%s", s->state_directory, (long long)s->pid,
                s->user ? s->user : "?", s->version, up, of_its_time);
    output_line(out, "Socket     %s", s->socket);
    if (s->serves_all)
        output_line(out, "Serves     all users of this machine");
    else
        output_line(out, "Serves     %s only", s->user ? s->user : "?");
}

/* Free memory is negative if host_mem_mib was lowered below the memory of running jobs. */
static void write_host(const struct api_host *h, struct output *out)
{
    char free_mem[32], mem[32], gpus[40] = "";
    memory_format(free_mem, h->free_mem_mib > 0 ? (uint64_t)h->free_mem_mib : 0);
    memory_format(mem, h->mem_mib);
    if (h->gpus > 0) text_format(gpus, sizeof gpus, ", %u of %u GPUs", h->free_gpus, h->gpus);
    output_line(out, "Host       %s: %u of %u CPUs, %s of %s memory%s free", h->name, h->free_cpus, h->cpus, free_mem,
                mem, gpus);
    if (strcmp(h->state, "UP") != 0)
        output_line(out, "           %s: nothing new starts; run 'fairlead host resume localhost' to end that",
                    h->state);
}

static void write_launch_failure(const struct api_status *s, struct output *out)
{
    char retry[32] = "now";
    int64_t left_s = (s->launch_retry_us - s->now_us + US_PER_S - 1) / US_PER_S;
    if (s->launch_retry_us != 0 && left_s > 0) text_format(retry, sizeof retry, "in %lld s", (long long)left_s);
    output_line(out, "Launches   stopped, jobs wait: %s; the next try is %s", s->launch_failure, retry);
}

enum { SINCE_SIZE = 32 };

static void format_since(char out[SINCE_SIZE], int64_t at_us)
{
    time_t seconds = (time_t)(at_us / US_PER_S);
    struct tm local;
    localtime_r(&seconds, &local);
    strftime(out, SINCE_SIZE, "%d %b %H:%M:%S", &local);
}

/* What jobs were lost stays to be told when the next start has found nothing. */
static void write_recovery(const struct api_status *s, struct output *out)
{
    char since[SINCE_SIZE];
    format_since(since, s->last_recovery_us);
    output_line(out, "Missing    found %s: %s", since, s->last_recovery);
}

static void write_quarantine(const struct api_status *s, struct output *out)
{
    char since[SINCE_SIZE];
    format_since(since, s->quarantined_us);
    output_line(out, "Quarantine %u job%s held since %s: %s", s->quarantined_jobs, s->quarantined_jobs == 1 ? "" : "s",
                since, s->quarantine);
    output_line(out,
                "           If they run nowhere else, run 'fairlead release --all' to let them start; those that a "
                "person held before stay held");
}

/* The cluster of a document, and its time. */
static void write_pretend(const struct api_status *s, struct output *out)
{
    char now[64];
    time_t seconds = (time_t)(s->now_us / US_PER_S);
    struct tm local;
    localtime_r(&seconds, &local);
    strftime(now, sizeof now, "%d %b %Y %H:%M:%S", &local);
    output_line(out, "Pretend    %s: hosts that are not there, and no job really runs", s->pretend);
    output_line(out, "Time       %s, %u second%s of it in a second", now, s->speed, s->speed == 1 ? "" : "s");
    output_line(out, "Hosts      %u, %u down: %llu of %llu CPUs free", s->hosts.count, s->hosts.down,
                (unsigned long long)s->hosts.free_cpus, (unsigned long long)s->hosts.cpus);
}

/* A clock that is not followed is told, too: the times of the instance differ from those that people know. */
static void write_clock(const struct api_status *s, struct output *out)
{
    char now[CLOCK_LINE_TIME_SIZE];
    if (s->pretend != NULL) return;
    clock_line_write(&s->clock, out);
    if (s->clock.is_followed) return;
    clock_line_time(now, s->now_us);
    output_line(out, "Time       %s: the wall clock cannot be right, and is not followed; set the clock of the machine",
                now);
}

/* A line for each resource, and below it what is not prevented. */
static void write_enforcement(const struct wire_list *list, struct output *out)
{
    const struct api_enforcement *row = list->items;
    for (uint32_t i = 0; i < list->count; i++, row++) {
        output_line(out, "%-10s %s: %s%s%s", i == 0 ? "Enforced" : "", row->resource, row->mechanism,
                    row->gap != NULL ? "; does not prevent " : "", row->gap != NULL ? row->gap : "");
    }
}

static void write_tasks(const struct api_tasks *t, struct buf *out)
{
    buf_format(out, "Tasks      %llu pending, %u running", (unsigned long long)t->pending, t->running);
    if (t->starting > 0) buf_format(out, ", %u starting", t->starting);
    if (t->suspended > 0) buf_format(out, ", %u suspended", t->suspended);
    if (t->completing > 0) buf_format(out, ", %u completing", t->completing);
    buf_add_char(out, '\n');
}

/* Fairlead's own settings, which have the defaults of jobs; of the others, those that were changed. */
static bool is_shown(const struct field_value *setting)
{
    return strcmp(setting[SETTING_FIELD_GROUP].text, "Fairlead") == 0 ||
           strcmp(setting[SETTING_FIELD_VALUE].text, setting[SETTING_FIELD_DEFAULT].text) != 0;
}

static int write_settings(const struct wire_list *settings, struct output *out, struct err *e)
{
    static const struct listing_values form = {0};
    const struct field_value *setting = settings->items;
    struct listing listing;
    if (listing_begin(&listing, &setting_columns, &form, out, e) != 0) return -1;
    for (uint32_t i = 0; i < settings->count; i++, setting += SETTING_FIELD_COUNT) {
        if (is_shown(setting)) listing_add(&listing, setting);
    }
    listing_end(&listing);
    listing_release(&listing);
    return 0;
}

static int write_gpus(struct call *call, struct err *e)
{
    const struct status_values *v = call->values;
    const struct instance_listing listing = {
        .columns = &gpu_fields_columns,
        .target = API_GPUS,
        .empty_note = "no library of NVIDIA or AMD shows a GPU of this machine",
    };
    return instance_listing_write(call, &listing, &v->listing, NULL, e);
}

static int check_options(const struct call *call, struct err *e)
{
    static const char *const names[] = {"parsable", "columns", "sort", "noheader"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (options_given(&call->parsed, names[i]))
            return err_set(e, ERR_USAGE, "--%s is for the listing of GPUs: give --gpus, too", names[i]);
    }
    return 0;
}

static int status_run(struct call *call, struct err *e)
{
    const struct status_values *values = call->values;
    if (values->has_gpus) return write_gpus(call, e);
    if (check_options(call, e) != 0) return -1;
    if (values->listing.is_json) return instance_copy(call, API_STATUS, e);

    struct api_status status;
    if (instance_request_once(call, "GET", API_STATUS, NULL, NULL, &api_status_shape, &status, e) != 0) return -1;
    write_instance(&status, call->out);
    if (status.pretend != NULL)
        write_pretend(&status, call->out);
    else
        write_host(&status.host, call->out);
    write_clock(&status, call->out);
    write_tasks(&status.tasks, &call->out->text);
    output_line(call->out, "Policy     %s; %u association%s", status.policy, status.associations,
                status.associations == 1 ? "" : "s");
    output_line(call->out, "Partition  %s is the default", status.default_partition);
    write_enforcement(&status.enforcement, call->out);
    if (status.outside_jobs != NULL) output_line(call->out, "Outside    %s", status.outside_jobs);
    if (status.write_failure != NULL)
        output_line(call->out, "Writing    %s; changes are refused, and ends of jobs are recorded later",
                    status.write_failure);
    if (status.launcher_failure != NULL)
        output_line(call->out, "Launcher   %s; running jobs go on, none starts", status.launcher_failure);
    if (status.last_recovery != NULL) write_recovery(&status, call->out);
    if (status.quarantine != NULL) write_quarantine(&status, call->out);
    if (status.launch_failure != NULL) write_launch_failure(&status, call->out);
    if (status.gpus != NULL) output_line(call->out, "GPUs       %s", status.gpus);
    if (status.load_sensors != NULL) output_line(call->out, "Sensors    %s", status.load_sensors);
    buf_add_char(&call->out->text, '\n');
    return write_settings(&status.settings, call->out, e);
}

static const struct command_example status_examples[] = {
    {.line = "fairlead status", .meaning = "is it running, and what is free"},
    {.line = "fairlead status --gpus", .meaning = "each GPU, who has it and who uses it"},
    {.line = "fairlead status --gpus -P -o gpu,uuid,job", .meaning = "for programs"},
    {0},
};

const struct command cmd_status = {
    .name = "status",
    .group = GROUP_SERVICE,
    .summary = "show the instance, its host and its main settings",
    .usage = "[--json] | --gpus [OPTION...]",
    .description =
        "Shows Fairlead's own settings, such as the default CPUs, memory and time limit of jobs, and those settings of Slurm and "
        "Grid Engine that were changed. 'fairlead set' lists all settings.\n\n"
        "With --gpus a row is a GPU of the machine, or a slice of one (MIG), as the management library of NVIDIA or AMD shows it. JOB "
        "is the job that has it, USED_BY and OUTSIDE are whose processes compute on it. A GPU that does not answer any more is "
        "drained: no job gets it, and a job that has it goes on.",
    .options = status_options,
    .values_size = sizeof(struct status_values),
    .listed = &gpu_fields_columns,
    .examples = status_examples,
    .see_also = "start set queue share clock",
    .run = status_run,
};
