/* submit: checks what can be checked here (the script, the program, the directory), takes the environment along, and sends
 * one request. What depends on the instance (accounts, what the host has) it checks itself. */
#include <string.h>

#include "cli/foreign_syntax.h"
#include "cli/instance.h"
#include "cli/job_end.h"
#include "cli/job_environment.h"
#include "cli/job_options.h"
#include "cli/job_script.h"
#include "cli/job_wait.h"
#include "fields/job_id.h"

enum { SHOWN_BYTES = 1000, WAIT_RETRY_S = 60 };

struct submit_values {
    const char *directory, *export, *department;
    bool wait, is_parsable;
};

static const struct option_row submit_options[] = {
    {.name = "chdir",
     .letter = 'D',
     .argument = "DIR",
     .value = TEXT_IN(struct submit_values, directory),
     .help = "the directory it runs in; by default this one"},
    {.name = "department",
     .argument = "NAME",
     .value = TEXT_IN(struct submit_values, department),
     .help = "refused unless it is the submitter's own, which is the user's and not the job's"},
    {.name = "wait",
     .letter = 'W',
     .value = FLAG_IN(struct submit_values, wait),
     .help = "wait until it has ended, and exit as 'fairlead wait' does"},
    {.name = "export",
     .argument = "LIST",
     .value = TEXT_IN(struct submit_values, export),
     .help = "the environment: ALL, NONE, or names and NAME=VALUE, with ALL or without"},
    {.name = "parsable", .value = FLAG_IN(struct submit_values, is_parsable), .help = "print the job's id alone"},
    {0},
};

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] != '\0' ? slash + 1 : path;
}

static struct wire_list list_of(struct arena *a, const struct str *items, uint32_t count)
{
    struct wire_list list = {arena_alloc(a, (count > 0 ? count : 1) * sizeof *items), count};
    if (count > 0) memcpy(list.items, items, count * sizeof *items);
    return list;
}

/* Asking for nothing is not what the script's author meant: said, and not an error, because it was never promised. */
static void note_directives(const char *path, struct str script)
{
    const char *directive = foreign_syntax_directive(script);
    if (directive != NULL)
        output_note("fairlead submit: script '%s': its lines %s are not read; give their options to 'fairlead submit'",
                    path, directive);
}

static void set_text(struct api_submit *body, enum job_field f, const char *text)
{
    body->job.value[f] = field_text(text);
    body->job.is_given[f] = true;
}

/* The program or script and its arguments. *out_name: of a job that has none of its own. */
static int add_work(struct call *call, struct api_submit *body, const char **out_name, struct err *e)
{
    char **words = call->parsed.operands;
    uint32_t count = call->parsed.operand_count;
    struct str *arguments = arena_alloc(call->arena, count * sizeof *arguments);
    for (uint32_t i = 0; i < count; i++) arguments[i] = str(words[i]);

    if (call->parsed.is_after_dashes) {
        const char *program;
        if (job_script_find_program(words[0], call->arena, &program, e) != 0) return -1;
        arguments[0] = str(program);
        body->arguments = list_of(call->arena, arguments, count);
        *out_name = base_name(words[0]);
    } else {
        if (job_script_read(words[0], call->arena, &body->script, e) != 0) return -1;
        note_directives(words[0], body->script);
        body->arguments = list_of(call->arena, arguments + 1, count - 1);
        *out_name = body->script_name = strcmp(words[0], "-") == 0 ? "stdin" : base_name(words[0]);
    }
    set_text(body, JOB_FIELD_COMMAND, job_script_show_words(words, count, SHOWN_BYTES, call->arena));
    return 0;
}

static int make_body(struct call *call, struct api_submit *body, struct err *e)
{
    const struct submit_values *values = call->values;
    const char *name, *directory;
    environment_list entries;
    if (job_options_read(call->job, call->arena, &body->job, e) != 0 || add_work(call, body, &name, e) != 0) return -1;
    if (job_script_find_directory(values->directory, call->arena, &directory, e) != 0) return -1;
    if (job_environment_collect(values->export, call->arena, &entries, e) != 0) return -1;
    body->environment = list_of(call->arena, entries.items, entries.count);
    array_release(&entries);
    body->department = values->department;
    set_text(body, JOB_FIELD_DIRECTORY, directory);
    if (!body->job.is_given[JOB_FIELD_NAME]) set_text(body, JOB_FIELD_NAME, name);
    return 0;
}

static int wait_for(struct call *call, uint32_t job_id, struct err *e)
{
    char id[JOB_ID_TEXT_SIZE];
    job_id_format(id, job_id, NONE);
    const char *text = id;
    const struct wire_list ids = {&text, 1};
    if (output_flush(call->out, e) != 0) return -1; /* the id, before the wait */
    return job_wait(call, &ids, WAIT_RETRY_S, e);
}

static int submit_run(struct call *call, struct err *e)
{
    const struct submit_values *values = call->values;
    struct api_submit body;
    struct api_submitted reply;
    wire_clear(&api_submit_shape, &body);
    if (make_body(call, &body, e) != 0) return -1;
    if (instance_ask_once(call, "POST", API_JOBS, &api_submit_shape, &body, &api_submitted_shape, &reply, e) != 0)
        return job_options_explain(e);
    buf_format(&call->out->text, values->is_parsable ? "%u\n" : "Submitted job %u\n", reply.job_id);
    return values->wait ? wait_for(call, reply.job_id, e) : 0;
}

static const struct command_example submit_examples[] = {
    {"fairlead submit -A physics -n 4 --mem 8G -t 2:00:00 run.sh input.dat", "a script with an argument"},
    {"fairlead submit -p fast -q urgent --begin now+1hour -l license=2 run.sh",
     "a partition, a QOS, later, with two licences"},
    {"fairlead submit -- make -j2", "a program, without a script"},
    {"fairlead submit --array 0-999%50 task.sh", "a thousand tasks, fifty at once; each has FAIRLEAD_ARRAY_TASK_ID"},
    {"id=$(fairlead submit --parsable job.sh)", "the id, for a script"},
    {0},
};

const struct command cmd_submit = {
    .name = "submit",
    .group = GROUP_JOBS,
    .summary = "hand in a job: a script, or behind -- a program",
    .usage = "[OPTIONS] SCRIPT [ARGUMENT...] | -- COMMAND [ARGUMENT...]",
    .text =
        "The script's text is taken now; later changes to the file change nothing. Its first line says what runs it (#!), else "
        "/bin/sh does. A SCRIPT of - is read from standard input.\n\n"
        "The job runs in the directory it was submitted in, its standard input is empty, and its environment is the "
        "submitter's unless --export says otherwise; without ALL, a LIST gives PATH, HOME, USER, LOGNAME, SHELL, LANG and "
        "what it names. In a PATTERN %j is the job's id, %A an array's, %a the task's number, %x the name, %u the user, %% a percent sign. "
        "CPUs, memory and time of a job that does not say are settings: see 'fairlead status'.\n\n"
        "Every job has in its environment\n\n"
        "  FAIRLEAD_JOB_ID, FAIRLEAD_JOB_NAME, FAIRLEAD_ACCOUNT, FAIRLEAD_USER\n"
        "  FAIRLEAD_CPUS, FAIRLEAD_GPUS, FAIRLEAD_MEM_MIB, FAIRLEAD_TIME_LIMIT_S\n"
        "  FAIRLEAD_SUBMIT_DIR (the directory it runs in), FAIRLEAD_SOCKET\n"
        "  FAIRLEAD_ARRAY_JOB_ID, FAIRLEAD_ARRAY_TASK_ID (tasks of arrays)\n"
        "  FAIRLEAD_GPU_IDS, CUDA_VISIBLE_DEVICES, CUDA_DEVICE_ORDER (where there are GPUs)\n"
        "  FAIRLEAD_LAUNCH_ID, FAIRLEAD_LAUNCH_KEY (by which its processes are known)\n\n"
        "Partitions, qualities of service, projects and resources are named by operators: 'fairlead partition', qos, project, "
        "resource. What of a job's options counts depends on the model of priorities in force ('fairlead prio').\n\n"
        "A TIME is now+1hour (or minutes, days, weeks), 16:00, tomorrow, 2026-11-21, 2026-11-21T09:05, with a zone behind it "
        "if it is not the local one, or a number of seconds since 1970.\n\n"
        "With --wait the exit statuses are those of 'fairlead wait'.",
    .options = submit_options,
    .job_options = JOB_OPTIONS_SUBMIT,
    .values_size = sizeof(struct submit_values),
    .operands_min = 1,
    .operands_max = OPERANDS_ANY,
    .options_first = true,
    .explain = foreign_syntax_submit_option,
    .examples = submit_examples,
    .exits = job_end_exits,
    .see_also = "queue wait log cancel prio",
    .run = submit_run,
};
