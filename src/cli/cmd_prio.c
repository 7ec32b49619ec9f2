/* fairlead prio: the priority of jobs and the terms that it is computed from. */
#include "cli/command.h"
#include "cli/foreign_syntax.h"
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
     .help = "read a scenario from FILE instead of an instance; - is standard input"},
    {.name = "normalized",
     .letter = 'n',
     .value = FLAG_IN(struct prio_values, is_normalized),
     .help = "priority/multifactor: show the factors instead of the weighted terms"},
    {.name = "weights",
     .letter = 'w',
     .value = FLAG_IN(struct prio_values, wants_weights),
     .help = "list the weights instead, which are settings"},
    LISTING_OPTIONS(struct prio_values, listing),
    {0},
};

static const struct command_example prio_examples[] = {
    {.line = "fairlead prio", .meaning = "every pending job of the instance"},
    {.line = "fairlead prio 6_3", .meaning = "task 3 of array 6"},
    {.line = "fairlead prio 5 -n", .meaning = "the factors of job 5 before weighting"},
    {.line = "fairlead prio -f cluster.json", .meaning = "every job of a scenario"},
    {.line = "fairlead prio -f cluster.json -n 4", .meaning = "the factors of job 4 of a scenario"},
    {.line = "fairlead prio -f cluster.json -P", .meaning = "all numbers at full precision, for a program"},
    {0},
};

/* A scenario has no tasks of its own. */
static int read_job(const struct parsed *parsed, bool is_of_scenario, struct prio_wanted *wanted, struct err *e)
{
    wanted->task_id = NONE;
    if (parsed->operand_count == 0) return 0;
    struct str id = str(parsed->operands[0]);
    if (job_id_parse(id, "JOB", &wanted->job_id, &wanted->task_id, e) != 0) return -1;
    if (wanted->task_id == NONE || !is_of_scenario) return 0;
    return err_value_reason(e, "JOB", id, "is a task; give the job's id to list all its tasks");
}

static int prio_run(struct call *call, struct err *e)
{
    const struct prio_values *v = call->values;
    struct prio_wanted wanted = {.is_normalized = v->is_normalized};
    if (listing_check(&v->listing, e) != 0) return -1;
    if (read_job(&call->parsed, v->file != NULL, &wanted, e) != 0) return -1;
    if (v->wants_weights && (v->file != NULL || wanted.job_id > 0))
        return err_set(e, ERR_USAGE, "--weights lists the instance's weights: give neither a job nor -f with it");
    if (v->wants_weights) return prio_instance_run_weights(call, &v->listing, e);
    if (v->file == NULL) return prio_instance_run(call, &wanted, &v->listing, e);
    return prio_scenario_run(call, v->file, &wanted, &v->listing, e);
}

const struct command cmd_prio = {
    .name = "prio",
    .group = GROUP_SHARES,
    .summary = "show the priority of jobs, term by term",
    .usage = "[OPTION...] [JOB[_TASK]]",
    .description =
        "Lists the pending jobs, with a row for each job and partition. The columns depend on the model of priorities (setting "
        "PriorityType).\n"
        "\n"
        "priority/multifactor: the weighted terms of the priority, as in sprio -l: site, age, association, fair share, job "
        "size, partition, QOS, nice and each TRES. The priority is their sum; nice is subtracted.\n"
        "\n"
        "priority/tickets: the columns of qstat -pri -urg -ext: the priority; the normalised tickets, urgency and POSIX "
        "priority that it is computed from; the parts of the urgency; the tickets of each policy; the partition.\n"
        "\n"
        "The pending tasks of an array share a row. In the tickets model it has the numbers of the first of them, also where "
        "one task is asked for.\n"
        "\n"
        "Running jobs are listed, too, in the tickets model, and in the multifactor model with "
        "PriorityFlags=CALCULATE_RUNNING. With PriorityFlags=INCR_ONLY a priority falls only when the job is changed, so it "
        "can be larger than the sum of its terms.\n"
        "\n"
        "A job that is held, or whose begin is in the future, is not eligible: a table marks its id with *; with -P, ELIGIBLE is "
        "0. sprio does not list such jobs; qstat lists held ones with priority 0.\n"
        "\n"
        "With -f the jobs come from a scenario, a JSON document with everything that priorities depend on at one time "
        "(docs/scenarios.md). For example:\n"
        "\n"
        "  {\"now\": 1795243000,\n"
        "   \"settings\": {\"PriorityWeightAge\": 1000, \"PriorityMaxAge\": \"7-0\"},\n"
        "   \"jobs\": [{\"id\": 1, \"user\": \"alice\", \"submit\": 1795156600}]}\n"
        "\n"
        "The jobs of a scenario are listed in the order of the document, those of an instance by id, running tasks last.",
    .options = prio_options,
    .values_size = sizeof(struct prio_values),
    .listed = &prio_columns_all,
    .operands_max = 1,
    .examples = prio_examples,
    .see_also = "share queue",
    .explain = foreign_syntax_prio_option,
    .run = prio_run,
};
