/* fairlead scenario dump: the instance at this time, as a scenario document. */
#include "cli/instance.h"
#include "cli/output_file.h"

struct dump_values {
    const char *file;
};

static const struct option_row dump_options[] = {
    {.name = "output",
     .letter = 'o',
     .argument = "FILE",
     .value = TEXT_IN(struct dump_values, file),
     .help = "write to FILE instead of standard output"},
    {0},
};

static int copy_reply(struct client *c, struct output *out, struct err *e)
{
    struct str line;
    int more;
    while ((more = client_line(c, &line, e)) > 0) {
        buf_add_str(&out->text, line);
        buf_add_char(&out->text, '\n');
        output_pace(out);
    }
    return more;
}

static int copy_to_file(struct client *c, const char *path, struct err *e)
{
    struct output_file file;
    if (output_file_open(&file, path, e) != 0) return -1;
    int status = copy_reply(c, &file.output, e);
    return output_file_close(&file, status, e);
}

static int dump_run(struct call *call, struct err *e)
{
    const struct dump_values *values = call->values;
    struct client client = {.fd = -1};
    int status = instance_open(call, &client, e);
    if (status == 0) status = client_request(&client, "GET", API_SCENARIO, str(""), e);
    if (status == 0)
        status = values->file != NULL ? copy_to_file(&client, values->file, e) : copy_reply(&client, call->out, e);
    client_close(&client);
    return status;
}

static const struct command_example dump_examples[] = {
    {.line = "fairlead scenario dump -o tuesday.json", .meaning = "keep the state of this moment"},
    {.line = "fairlead schedule -f tuesday.json", .meaning = "what was planned then"},
    {.line = "fairlead scenario dump | fairlead prio -f - 5", .meaning = "the priority of job 5, from a document"},
    {0},
};

const struct command cmd_scenario_dump = {
    .name = "scenario dump",
    .group = GROUP_SHARES,
    .summary = "write the instance at this time as a scenario",
    .usage = "[-o FILE]",
    .description =
        "Writes a scenario, a JSON document with the settings, objects, associations, usage and jobs of the instance "
        "(docs/scenarios.md). 'fairlead prio -f', 'share -f' and 'schedule -f' answer from it what the instance answers at that "
        "time, later and on other machines.\n\n"
        "The document can be changed before it is read: a weight, a share, a partition, the CPUs of the machine, a job. It has the "
        "names of users and the comments of jobs, but neither scripts nor environments.",
    .options = dump_options,
    .values_size = sizeof(struct dump_values),
    .examples = dump_examples,
    .see_also = "schedule prio share",
    .run = dump_run,
};
