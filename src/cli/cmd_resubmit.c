/* resubmit: a further job like an earlier one. The instance has what that was submitted with; options replace parts of
 * it, and the result is a submission as any other. */
#include "cli/array_summary.h"
#include "cli/cmd_submit.h"
#include "cli/instance.h"
#include "cli/job_end.h"
#include "cli/job_environment.h"
#include "cli/job_options.h"
#include "cli/job_script.h"
#include "fields/job_id.h"

struct resubmit_values {
    struct submit_values submit;
    bool has_failed;
};

static const struct option_row resubmit_options[] = {
    {.name = "failed",
     .value = FLAG_IN(struct resubmit_values, has_failed),
     .help = "of an array, only the tasks that have ended as FAILED, TIMEOUT, NODE_FAIL or OUT_OF_MEMORY"},
    {.name = "chdir",
     .letter = 'D',
     .argument = "DIR",
     .value = TEXT_IN(struct resubmit_values, submit.directory),
     .help = "directory to run in; by default that of the earlier job"},
    {.name = "export",
     .argument = "LIST",
     .value = TEXT_IN(struct resubmit_values, submit.export),
     .help = "an environment of this shell instead of that of the earlier job: ALL, NONE, or a list as of submit"},
    {.name = "wait",
     .letter = 'W',
     .value = FLAG_IN(struct resubmit_values, submit.has_wait),
     .help = "wait until the job has ended; exit as 'fairlead wait' does"},
    {.name = "parsable",
     .value = FLAG_IN(struct resubmit_values, submit.is_parsable),
     .help = "print only the job's id"},
    {.name = "test-only",
     .value = FLAG_IN(struct resubmit_values, submit.is_test),
     .help = "submit nothing: print when and where the job would start"},
    {.name = "json",
     .value = FLAG_IN(struct resubmit_values, submit.is_json),
     .help = "print one JSON object, as submit does"},
    {0},
};

/* --- changes ------------------------------------------------------------------------------------------------------ */

/* Fields of which a submission has only one: the one that is given takes the place of the other. */
static void drop_replaced(const struct job_values *given, struct job_values *io_values)
{
    static const enum job_field pairs[][2] = {
        {JOB_FIELD_MEM_MIB, JOB_FIELD_MEM_PER_CPU}, {JOB_FIELD_MEM_PER_CPU, JOB_FIELD_MEM_MIB},
        {JOB_FIELD_GPUS, JOB_FIELD_GPUS_PER_SLOT},  {JOB_FIELD_GPUS_PER_SLOT, JOB_FIELD_GPUS},
        {JOB_FIELD_CPUS, JOB_FIELD_SLOTS_PER_NODE}, {JOB_FIELD_SLOTS_PER_NODE, JOB_FIELD_CPUS},
        {JOB_FIELD_CPUS, JOB_FIELD_SLOTS_MAX},      {JOB_FIELD_SLOTS_PER_NODE, JOB_FIELD_SLOTS_MAX},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        if (given->is_given[pairs[i][0]]) io_values->is_given[pairs[i][1]] = false;
    }
}

static int change_values(struct call *call, struct job_values *io_values, struct err *e)
{
    struct job_values given;
    if (job_options_read(call->job, call->arena, &given, e) != 0) return -1;
    drop_replaced(&given, io_values);
    for (enum job_field f = 0; f < JOB_FIELD_COUNT; f++) {
        if (!given.is_given[f]) continue;
        io_values->value[f] = given.value[f];
        io_values->is_given[f] = true;
    }
    return 0;
}

static int change_directory(struct call *call, const char *given, struct job_values *io_values, struct err *e)
{
    const char *directory;
    if (given == NULL) return 0;
    if (job_script_find_directory(given, call->arena, &directory, e) != 0) return -1;
    io_values->value[JOB_FIELD_DIRECTORY] = field_text(directory);
    return 0;
}

static int change_environment(struct call *call, const char *spec, struct api_submit *body, struct err *e)
{
    environment_list entries;
    if (spec == NULL) return 0;
    if (job_environment_collect(spec, call->arena, &entries, e) != 0) return -1;
    struct str *items = arena_alloc(call->arena, (entries.count + (size_t)1) * sizeof *items);
    for (uint32_t i = 0; i < entries.count; i++) items[i] = entries.items[i];
    body->environment = (struct wire_list){items, entries.count};
    array_release(&entries);
    return 0;
}

/* --- tasks -------------------------------------------------------------------------------------------------------- */

/* Of the array only these tasks, as many at once as before. */
static void keep_tasks(struct call *call, const struct idset *tasks, struct job_values *io_values)
{
    struct buf text = {0};
    struct str limit;
    (void)str_cut(str(io_values->value[JOB_FIELD_ARRAY].text), '%', &limit);
    idset_format(tasks, &text);
    if (limit.text != NULL) buf_format(&text, "%%%.*s", (int)limit.length, limit.text);
    io_values->value[JOB_FIELD_ARRAY] = field_text(arena_copy(call->arena, (struct str){text.text, text.length}));
    buf_release(&text);
}

static int keep_task(struct call *call, uint32_t job_id, uint32_t task_id, struct job_values *io_values, struct err *e)
{
    struct idset tasks = {0}, all = {0};
    struct str unused, list = str_cut(str(io_values->value[JOB_FIELD_ARRAY].text), '%', &unused);
    bool has_task = idset_parse(list, NONE - 1, "array", &all, NULL) == 0 && idset_has(&all, task_id);
    idset_release(&all);
    if (!has_task) return err_set(e, ERR_NOT_FOUND, "job %u has no task %u", job_id, task_id);
    idset_add(&tasks, task_id);
    keep_tasks(call, &tasks, io_values);
    idset_release(&tasks);
    return 0;
}

static bool has_failed(int64_t state)
{
    return state == JOB_FAILED || state == JOB_TIMEOUT || state == JOB_NODE_FAIL || state == JOB_OUT_OF_MEMORY;
}

static int keep_failed(struct call *call, uint32_t job_id, struct job_values *io_values, struct err *e)
{
    char id[JOB_ID_TEXT_SIZE];
    struct array_summary summary = {0};
    struct idset failed = {0};
    job_id_format(id, job_id, NONE);
    if (array_summary_read(call, id, &summary, e) != 0) return -1;
    for (uint32_t i = 0; i < summary.groups.count; i++) {
        const struct array_group *group = &summary.groups.items[i];
        if (has_failed(group->state)) idset_add_all(&failed, &group->tasks);
    }
    array_summary_release(&summary);
    int status = 0;
    if (idset_first(&failed) != NONE)
        keep_tasks(call, &failed, io_values);
    else
        status = err_set(e, ERR_CONFLICT, "--failed: no task of array %u has failed", job_id);
    idset_release(&failed);
    return status;
}

/* A list of tasks replaces all of it. */
static int change_tasks(struct call *call, uint32_t job_id, uint32_t task_id, struct job_values *io_values,
                        struct err *e)
{
    const struct resubmit_values *values = call->values;
    bool is_array = io_values->is_given[JOB_FIELD_ARRAY], is_new = call->job->values.is_given[JOB_FIELD_ARRAY];
    if (values->has_failed && (is_new || task_id != NONE))
        return err_set(e, ERR_USAGE,
                       "--failed chooses the tasks of a whole array: give neither a task nor --array with it");
    if (task_id != NONE && is_new)
        return err_set(e, ERR_USAGE, "--array gives the tasks: give the id of a job, not of a task, with it");
    if (is_new || (task_id == NONE && !values->has_failed)) return 0;
    if (!is_array && values->has_failed)
        return err_set(e, ERR_INPUT, "--failed: job %u is not an array; leave the option out", job_id);
    if (!is_array) return err_set(e, ERR_NOT_FOUND, "job %u is not an array; it has no task %u", job_id, task_id);
    return values->has_failed ? keep_failed(call, job_id, io_values, e)
                              : keep_task(call, job_id, task_id, io_values, e);
}

/* --- the command -------------------------------------------------------------------------------------------------- */

static int read_submission(struct call *call, uint32_t job_id, struct api_submit *out, struct err *e)
{
    char id[JOB_ID_TEXT_SIZE];
    struct buf target = {0};
    job_id_format(id, job_id, NONE);
    buf_add_text(&target, API_JOBS);
    client_add_segment(&target, id);
    buf_add_text(&target, "/submission");
    return instance_request_once(call, "GET", instance_target(call, &target), NULL, NULL, &api_submit_shape, out, e);
}

static int resubmit_run(struct call *call, struct err *e)
{
    const struct resubmit_values *values = call->values;
    uint32_t job_id, task_id;
    struct api_submit body;
    if (cmd_submit_check(&values->submit, e) != 0) return -1;
    if (job_id_parse(str(call->parsed.operands[0]), "ID", &job_id, &task_id, e) != 0) return -1;
    if (read_submission(call, job_id, &body, e) != 0) return -1;
    if (change_tasks(call, job_id, task_id, &body.job, e) != 0 || change_values(call, &body.job, e) != 0) return -1;
    if (change_directory(call, values->submit.directory, &body.job, e) != 0) return -1;
    if (change_environment(call, values->submit.export, &body, e) != 0) return -1;
    int status = cmd_submit_send(call, &values->submit, &body, e);
    return status >= 0 ? status : job_options_explain(call->job, e);
}

static const struct command_example resubmit_examples[] = {
    {.line = "fairlead resubmit 5", .meaning = "a job like job 5, with an id of its own"},
    {.line = "fairlead resubmit 5 --mem 16G -t 4:00:00", .meaning = "the same with more memory and time"},
    {.line = "fairlead resubmit 6 --failed", .meaning = "an array of the tasks of array 6 that have failed"},
    {.line = "fairlead resubmit 6_3 -D /scratch/again", .meaning = "one task of array 6, in another directory"},
    {0},
};

const struct command cmd_resubmit = {
    .name = "resubmit",
    .group = GROUP_JOBS,
    .summary = "submit a further job like an earlier one",
    .usage = "[OPTIONS] ID",
    .description =
        "The new job has the script, arguments, environment, directory and options of the earlier one, as they were at its "
        "submission; the options given here replace those. Lines of the script are not read anew. The earlier job stays as it is: it "
        "may wait, run or have ended. 'fairlead requeue' starts the same job again instead, with its id.\n\n"
        "Not taken over is what belongs to one submission: holds, --begin, --deadline and --dependency; and what operators set.\n\n"
        "Only the user of a job can submit it again, because its environment may have secrets. A job that was moved in, or removed "
        "from the history, has no script any more, and is refused.",
    .options = resubmit_options,
    .job_options = JOB_OPTIONS_SUBMIT,
    .values_size = sizeof(struct resubmit_values),
    .operands_min = 1,
    .operands_max = 1,
    .examples = resubmit_examples,
    .exits = job_end_exits,
    .see_also = "submit requeue history",
    .run = resubmit_run,
};
