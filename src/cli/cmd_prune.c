/* fairlead history prune: removes ended jobs from the history. */
#include "cli/instance.h"
#include "cli/listing.h"

struct prune_values {
    int64_t older_than_s, before_us;
    bool is_dry_run, is_json;
};

static const struct option_row prune_options[] = {
    {.name = "older-than",
     .argument = "DURATION",
     .value = DURATION_IN(struct prune_values, older_than_s),
     .help = "jobs that ended longer ago than this, such as 30-0 (days-hours); by default history_keep_s"},
    {.name = "before",
     .argument = "TIME",
     .value = PAST_TIME_IN(struct prune_values, before_us),
     .help = "jobs that ended before TIME"},
    {.name = "dry-run", .value = FLAG_IN(struct prune_values, is_dry_run), .help = "only say how many that are"},
    {.name = "json", .value = FLAG_IN(struct prune_values, is_json), .help = "print one JSON object"},
    {0},
};

static void write_result(const struct api_pruned *pruned, bool is_dry_run, struct output *out)
{
    buf_format(&out->text, "%s %llu job%s with %llu start%s that ended before ",
               is_dry_run ? "Would remove" : "Removed", (unsigned long long)pruned->jobs, pruned->jobs == 1 ? "" : "s",
               (unsigned long long)pruned->tasks, pruned->tasks == 1 ? "" : "s");
    listing_write_time(pruned->before_us, &out->text);
    buf_add_char(&out->text, '\n');
}

/* The instance refuses it, too, but does not know the option. */
static int check_time(int64_t before_us, struct err *e)
{
    struct buf text = {0};
    if (before_us <= client_now_us()) return 0;
    listing_write_time(before_us, &text);
    (void)err_field(e, ERR_INPUT, "--before",
                    "%s is in the future; give a time in the past, such as yesterday or 30days", text.text);
    buf_release(&text);
    return -1;
}

static int prune_run(struct call *call, struct err *e)
{
    const struct prune_values *values = call->values;
    bool has_age = options_given(&call->parsed, "older-than");
    const struct api_prune body = {.older_than_s = has_age ? values->older_than_s : -1,
                                   .before_us = values->before_us,
                                   .dry_run = values->is_dry_run};
    struct api_pruned pruned;
    if (has_age && values->before_us != 0)
        return err_set(e, ERR_USAGE, "--older-than and --before exclude each other; give one of them");
    if (has_age && values->older_than_s == INT64_MAX)
        return err_field(e, ERR_INPUT, "--older-than",
                         "UNLIMITED is not accepted; give a duration such as 30-0 (days-hours)");
    struct client client;
    if (check_time(values->before_us, e) != 0) return -1;
    if (instance_open(call, &client, e) != 0) return -1;
    client_wait_long(&client);
    int status = instance_request(call, &client, "POST", API_HISTORY_PRUNE, &api_prune_shape, &body, &api_pruned_shape,
                                  &pruned, e);
    client_close(&client);
    if (status != 0) return -1;
    if (values->is_json) {
        wire_write(&api_pruned_shape, &pruned, &call->out->text);
        buf_add_char(&call->out->text, '\n');
    } else {
        write_result(&pruned, values->is_dry_run, call->out);
    }
    return 0;
}

static const struct command_example prune_examples[] = {
    {.line = "fairlead history prune --older-than 90-0 --dry-run", .meaning = "how many jobs ended over 90 days ago"},
    {.line = "fairlead set history_keep_s=90-0", .meaning = "remove such jobs from now on, every hour"},
    {0},
};

const struct command cmd_history_prune = {
    .name = "history prune",
    .group = GROUP_SERVICE,
    .summary = "remove jobs that ended long ago",
    .usage = "[--older-than DURATION|--before TIME] [--dry-run] [--json]",
    .description =
        "Removes the records of jobs that ended before a time, with their scripts and environments: in small pieces, while the "
        "instance goes on. An array is removed as a whole, once all its tasks have ended. Output files stay.\n\n"
        "Usage and shares do not change. The sums of what is removed are kept, so 'fairlead verify' still recomputes all usage. Ids "
        "of jobs are not used again. A later job can depend on a removed one with after and afterany, which are met; with "
        "afterok and the like it is refused, because how the job ended is not known any more.\n\n"
        "By itself the instance removes nothing, unless the setting history_keep_s says how long ended jobs are kept. "
        "audit_keep_s does so for the entries of 'fairlead audit'.",
    .options = prune_options,
    .values_size = sizeof(struct prune_values),
    .examples = prune_examples,
    .see_also = "history verify audit set",
    .run = prune_run,
};
