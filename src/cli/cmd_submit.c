/* submit: checks what can be checked here (the script, the program, the directory), takes the environment along, and sends
 * one request. What depends on the instance (accounts, what the host has) it checks itself. */
#include <errno.h>
#include <string.h>

#include "cli/foreign_syntax.h"
#include "cli/job_environment.h"
#include "cli/job_row.h"
#include "cli/job_script.h"
#include "cli/job_terms.h"

enum { SHOWN_BYTES = 1000, WAIT_RETRY_S = 60 };

struct submit_values {
    const char *account, *name, *out, *err, *directory, *array, *export, *department;
    uint64_t cpus, gpus, mem_mib;
    int64_t time_limit_s;
    bool hold, wait, is_parsable;
    struct term_values terms;
};

static const struct option_row submit_options[] = {
    {"account", 'A', "NAME", TEXT_IN(struct submit_values, account), "the account it counts for"},
    {"job-name", 'J', "NAME", TEXT_IN(struct submit_values, name),
     "its name; by default the script's or the program's"},
    {"cpus", 'n', "COUNT", U64_IN(struct submit_values, cpus, 1, WIRE_CPUS_MAX), "CPUs"},
    {"mem", 0, "SIZE", MEMORY_IN(struct submit_values, mem_mib), "memory: MiB, or with K, M, G or T"},
    {"gpus", 'G', "COUNT", U64_IN(struct submit_values, gpus, 0, WIRE_GPUS_MAX), "GPUs"},
    {"time", 't', "SPAN", DURATION_IN(struct submit_values, time_limit_s),
     "time limit: minutes, M:S, H:M:S, D-H[:M[:S]]; or UNLIMITED"},
    {"output", 'o', "PATTERN", TEXT_IN(struct submit_values, out),
     "where output goes (fairlead-%j.out; arrays fairlead-%A_%a.out)"},
    {"error", 'e', "PATTERN", TEXT_IN(struct submit_values, err),
     "where error output goes; by default where output goes"},
    {"chdir", 'D', "DIR", TEXT_IN(struct submit_values, directory), "the directory it runs in; by default this one"},
    {"array", 'a', "TASKS", TEXT_IN(struct submit_values, array),
     "one task for each number: 0-999%50 (at most 50 at once), 1,3,7, 0-20:5"},
    TERM_OPTIONS(struct submit_values, terms),
    {"department", 0, "NAME", TEXT_IN(struct submit_values, department),
     "refused unless it is the submitter's own, which is the user's and not the job's"},
    {"hold", 'H', NULL, FLAG_IN(struct submit_values, hold), "wait until 'fairlead release'"},
    {"wait", 'W', NULL, FLAG_IN(struct submit_values, wait),
     "wait until it has ended, and exit as 'fairlead wait' does"},
    {"export", 0, "LIST", TEXT_IN(struct submit_values, export),
     "the environment: ALL, NONE, or names and NAME=VALUE, with ALL or without"},
    {"parsable", 0, NULL, FLAG_IN(struct submit_values, is_parsable), "print the job's id alone"},
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
    const char *directive = habit_directive(script);
    if (directive != NULL)
        output_note("fairlead submit: script '%s': its lines %s are not read; give their options to 'fairlead submit'",
                    path, directive);
}

/* The program or script and its arguments. */
static int add_work(struct call *call, struct wire_submit *body, struct err *e)
{
    char **words = call->parsed.operands;
    uint32_t count = call->parsed.operand_count;
    struct str *arguments = arena_alloc(call->arena, count * sizeof *arguments);
    for (uint32_t i = 0; i < count; i++) arguments[i] = str(words[i]);

    if (call->parsed.is_after_dashes) {
        const char *program;
        if (program_resolve(words[0], call->arena, &program, e) != 0) return -1;
        arguments[0] = str(program);
        body->arguments = list_of(call->arena, arguments, count);
        body->name = base_name(words[0]);
    } else {
        if (script_read(words[0], call->arena, &body->script, e) != 0) return -1;
        note_directives(words[0], body->script);
        body->arguments = list_of(call->arena, arguments + 1, count - 1);
        body->name = strcmp(words[0], "-") == 0 ? "stdin" : base_name(words[0]);
        body->script_name = body->name;
    }
    body->command = words_show(words, count, SHOWN_BYTES, call->arena);
    return 0;
}

static int make_body(struct call *call, struct wire_submit *body, struct err *e)
{
    const struct submit_values *values = call->values;
    environment_list entries;
    if (add_work(call, body, e) != 0 || directory_resolve(values->directory, call->arena, &body->directory, e) != 0)
        return -1;
    if (environment_collect(values->export, call->arena, &entries, e) != 0) return -1;
    body->environment = list_of(call->arena, entries.items, entries.count);
    array_release(&entries);

    if (values->name) body->name = values->name;
    body->account = values->account;
    body->out = values->out;
    body->err = values->err;
    body->cpus = (uint32_t)values->cpus;
    body->gpus = (uint32_t)values->gpus;
    body->mem_mib = values->mem_mib;
    body->time_limit_s = job_time_limit(values->time_limit_s);
    body->array = values->array;
    body->held = values->hold;
    body->department = values->department;
    return job_terms_read(&values->terms, submit_options, &call->parsed, call->arena, &body->terms, &body->cpus, e);
}

static int wait_for(struct call *call, uint32_t job_id, struct err *e)
{
    char id[24];
    wire_job_id_format(id, job_id, NONE);
    const char *text = id;
    const struct wire_list ids = {&text, 1};
    if (output_flush(call->out, e) != 0) return -1; /* the id, before the wait */
    return job_wait(call, &ids, WAIT_RETRY_S, e);
}

static int submit_run(struct call *call, struct err *e)
{
    const struct submit_values *values = call->values;
    struct wire_submit body;
    struct wire_submitted reply;
    wire_clear(&wire_submit_shape, &body);
    if (make_body(call, &body, e) != 0) return -1;
    if (instance_ask_once(call, "POST", WIRE_JOBS, &wire_submit_shape, &body, &wire_submitted_shape, &reply, e) != 0)
        return job_terms_explain(&body.terms, e);
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
        "A MOMENT is now+1hour (or minutes, days, weeks), 16:00, tomorrow, 2026-11-21, 2026-11-21T09:05, with a zone behind it "
        "if it is not the local one, or a number of seconds since 1970.\n\n"
        "With --wait the exit statuses are those of 'fairlead wait'.",
    .options = submit_options,
    .values_size = sizeof(struct submit_values),
    .operands_min = 1,
    .operands_max = OPERANDS_ANY,
    .options_first = true,
    .habit = habit_submit_option,
    .examples = submit_examples,
    .exits = job_exits,
    .see_also = "queue wait log cancel prio",
    .run = submit_run,
};
