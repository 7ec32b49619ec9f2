/* fairlead prio: who comes first, and of which terms that is made. */
#include "cli/command.h"
#include "cli/prio_columns.h"
#include "cli/prio_instance.h"
#include "cli/prio_scenario.h"
#include "fields/job_id.h"

struct prio_values {
    struct listing_values listing;
    const char *file;
    bool is_normalized, wants_weights;
};

static const struct option_row prio_options[] = {
    {.name = "file",
     .letter = 'f',
     .argument = "FILE",
     .value = TEXT_IN(struct prio_values, file),
     .help = "the jobs of the scenario in FILE, without any service; - is standard input"},
    {.name = "normalized",
     .letter = 'n',
     .value = FLAG_IN(struct prio_values, is_normalized),
     .help = "the factors of priority/multifactor before they are weighed"},
    {.name = "weights",
     .letter = 'w',
     .value = FLAG_IN(struct prio_values, wants_weights),
     .help = "the weights in force instead, which are settings"},
    LISTING_OPTIONS(struct prio_values, listing),
    {0},
};

static const struct command_example prio_examples[] = {
    {"fairlead prio", "every job that waits, by the instance's own rules"},
    {"fairlead prio 5 -n", "the factors of job 5, before they are weighed"},
    {"fairlead prio -f cluster.json", "every job of a document and the terms of its priority"},
    {"fairlead prio -f cluster.json -n 4", "the factors of job 4"},
    {"fairlead prio -f cluster.json -P", "all numbers in full, for a program"},
    {0},
};

static int read_job(const struct parsed *parsed, uint32_t *out_job_id, struct err *e)
{
    uint32_t task_id;
    *out_job_id = 0;
    if (parsed->operand_count == 0) return 0;
    struct str id = str(parsed->operands[0]);
    if (job_id_parse(id, "JOB", out_job_id, &task_id, e) != 0) return -1;
    return task_id == NONE ? 0 : err_value_reason(e, "JOB", id, "is a task; the tasks of an array are listed with it");
}

static int prio_run(struct call *call, struct err *e)
{
    const struct prio_values *v = call->values;
    struct prio_wanted wanted = {.is_normalized = v->is_normalized};
    if (listing_check(&v->listing, e) != 0) return -1;
    if (read_job(&call->parsed, &wanted.job_id, e) != 0) return -1;
    if (v->wants_weights && (v->file != NULL || wanted.job_id > 0))
        return err_set(e, ERR_USAGE, "--weights are the instance's own: they go with no job and no -f");
    if (v->wants_weights) return prio_instance_run_weights(call, &v->listing, e);
    if (v->file == NULL) return prio_instance_run(call, &wanted, &v->listing, e);
    return prio_scenario_run(call, v->file, &wanted, &v->listing, e);
}

const struct command cmd_prio = {
    .name = "prio",
    .group = GROUP_SHARES,
    .summary = "show the priority of jobs, term by term",
    .usage = "[OPTION...] [JOB]",
    .text =
        "Without -f, jobs that wait, by the model and the weights in force (fairlead set). One row for each job and "
        "partition. By priority/multifactor the columns are the terms whose sum is the priority, weighted, as sprio -l "
        "has them: site, age, association, fair share, job size, partition, QOS and each TRES, less nice. By priority/tickets they are those of qstat -pri -urg -ext: the priority, what it is made of (tickets, "
        "urgency and POSIX priority, normalised), the parts of the urgency, and the tickets of each policy; the partition "
        "stands last.\n"
        "\n"
        "With -f the cluster comes from a scenario: a JSON document that holds all that a priority depends on, at one "
        "moment. docs/scenarios.md describes it; this is one:\n"
        "\n"
        "  {\"now\": 1795243000,\n"
        "   \"settings\": {\"PriorityWeightAge\": 1000, \"PriorityMaxAge\": \"7-0\"},\n"
        "   \"jobs\": [{\"id\": 1, \"user\": \"alice\", \"submit\": 1795156600}]}\n"
        "\n"
        "Rows come out in the order of the document; those of an instance by job, running tasks last. What runs has a "
        "priority by tickets, and by priority/multifactor with PriorityFlags=CALCULATE_RUNNING. With INCR_ONLY a priority "
        "may be above the sum of its terms: it was that high before.",
    .options = prio_options,
    .values_size = sizeof(struct prio_values),
    .listed = &prio_columns_all,
    .operands_max = 1,
    .examples = prio_examples,
    .see_also = "share queue",
    .run = prio_run,
};
