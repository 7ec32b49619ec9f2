/* submit: checks the script, the program and the directory, collects the environment, and sends one request. The
 * instance checks everything that depends on its state (accounts, the host's resources). */
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/cmd_submit.h"
#include "cli/directives.h"
#include "cli/foreign_syntax.h"
#include "cli/instance.h"
#include "cli/job_end.h"
#include "cli/job_environment.h"
#include "cli/job_options.h"
#include "cli/job_script.h"
#include "cli/job_start.h"
#include "cli/job_test.h"
#include "cli/job_wait.h"
#include "cli/limit_note.h"
#include "cli/model_note.h"
#include "cli/submit_options.h"
#include "fields/job_id.h"

enum { SHOWN_BYTES = 1000, WAIT_RETRY_S = 60, DONE_SIZE = 60 };

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

/* qsub's array, -t 1-10, is a time limit of 1 day and 10 hours here, as with sbatch. People are told so; programs are
 * not, because both are right. */
static void note_time_limit(const char *command, const struct job_values *job)
{
    enum { HOUR_S = 3600, DAY_HOURS = 24 };
    int64_t limit_s = job->value[JOB_FIELD_TIME_LIMIT].number, hours = limit_s / HOUR_S - DAY_HOURS;
    bool is_given = job->is_given[JOB_FIELD_TIME_LIMIT] && !job->is_given[JOB_FIELD_ARRAY];
    if (!is_given || limit_s % HOUR_S != 0 || hours < 2 || hours >= DAY_HOURS || !isatty(STDERR_FILENO)) return;
    output_note("fairlead %s: the time limit is 1 day and %lld hours; tasks 1 to %lld of an array are --array 1-%lld",
                command, (long long)hours, (long long)hours, (long long)hours);
}

void cmd_submit_set_text(struct api_submit *body, enum job_field f, const char *text)
{
    body->job.value[f] = field_text(text);
    body->job.is_given[f] = true;
}

/* Adds the script or the command, and its arguments. *out_name: the default name of the job. */
static int add_command(struct call *call, struct api_submit *body, const char **out_name, struct err *e)
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
        body->arguments = list_of(call->arena, arguments + 1, count - 1);
        *out_name = body->script_name = strcmp(words[0], "-") == 0 ? "stdin" : base_name(words[0]);
    }
    cmd_submit_set_text(body, JOB_FIELD_COMMAND, job_script_show_words(words, count, SHOWN_BYTES, call->arena));
    return 0;
}

/* Reads the script, whose directives become options of the call. A command after -- has none. */
static int read_script(struct call *call, struct api_submit *body, struct directives **out_directives, struct err *e)
{
    const struct submit_values *values = call->values;
    const char *path = call->parsed.operands[0];
    if (call->parsed.is_after_dashes) return 0;
    if (job_script_read(path, call->arena, &body->script, e) != 0) {
        (void)options_explain_bare(&call->parsed, e);
        return -1;
    }
    return directives_apply(call, body->script, strcmp(path, "-") == 0 ? "stdin" : path, values->directive_prefix,
                            out_directives, e);
}

int cmd_submit_fill(struct call *call, struct api_submit *body, struct err *e)
{
    const struct submit_values *values = call->values;
    const char *name, *directory;
    environment_list entries;
    if (job_options_read(call->job, call->arena, &body->job, e) != 0) return -1;
    note_time_limit(call->command->name, &body->job);
    if (add_command(call, body, &name, e) != 0) return -1;
    if (job_script_find_directory(values->directory, call->arena, &directory, e) != 0) return -1;
    if (job_environment_collect(values->export, call->arena, &entries, e) != 0) return -1;
    body->environment = list_of(call->arena, entries.items, entries.count);
    array_release(&entries);
    body->department = values->department;
    cmd_submit_set_text(body, JOB_FIELD_DIRECTORY, directory);
    if (!body->job.is_given[JOB_FIELD_NAME]) cmd_submit_set_text(body, JOB_FIELD_NAME, name);
    return 0;
}

static int wait_for(struct call *call, uint32_t job_id, struct err *e)
{
    char id[JOB_ID_TEXT_SIZE];
    job_id_format(id, job_id, NONE);
    const char *text = id;
    const struct wire_list ids = {&text, 1};
    if (output_flush(call->out, e) != 0) return -1; /* the id is printed before the wait */
    return job_wait(call, &ids, WAIT_RETRY_S, e);
}

int cmd_submit_check(const struct submit_values *values, struct err *e)
{
    const char *other = values->has_wait ? "--wait" : values->is_parsable ? "--parsable" : NULL;
    if (other != NULL && values->is_test)
        return err_field(e, ERR_USAGE, other, "not together with --test-only, which submits nothing");
    if (other != NULL && values->is_json)
        return err_field(e, ERR_USAGE, other, "not together with --json, which prints the answer");
    return 0;
}

int cmd_submit_send(struct call *call, const struct submit_values *values, struct api_submit *body, struct err *e)
{
    struct api_submitted reply;
    if (values->is_test) return job_test_run(call, body, values->is_json, e);
    if (instance_request_once(call, "POST", API_JOBS, &api_submit_shape, body, &api_submitted_shape, &reply, e) != 0)
        return -1;
    char done[DONE_SIZE];
    size_t length = text_format(done, sizeof done, "job %u was submitted all the same", reply.job_id);
    call->out->done = arena_copy(call->arena, (struct str){done, length});
    if (body->job.is_given[JOB_FIELD_IMMEDIATE] && job_start_wait(call, reply.job_id, WAIT_RETRY_S, e) != 0) return -1;
    if (values->is_json) {
        wire_write(&api_submitted_shape, &reply, &call->out->text);
        buf_add_char(&call->out->text, '\n');
    } else {
        buf_format(&call->out->text, values->is_parsable ? "%u\n" : "Submitted job %u\n", reply.job_id);
    }
    char id[JOB_ID_TEXT_SIZE];
    job_id_format(id, reply.job_id, NONE);
    limit_note_print(call->command->name, id, reply.limit, reply.limit_field);
    model_note_print(call, &body->job);
    return values->has_wait ? wait_for(call, reply.job_id, e) : 0;
}

static int submit_run(struct call *call, struct err *e)
{
    struct api_submit body;
    struct directives *directives = NULL;
    wire_clear(&api_submit_shape, &body);
    if (read_script(call, &body, &directives, e) != 0) return -1;
    if (cmd_submit_check(call->values, e) != 0) return directives_explain(directives, call, e);
    int status = cmd_submit_fill(call, &body, e);
    if (status == 0) status = cmd_submit_send(call, call->values, &body, e);
    if (status >= 0) return status;
    (void)job_options_explain(call->job, e);
    return directives_explain(directives, call, e);
}

static const struct command_example submit_examples[] = {
    {.line = "fairlead submit -d afterok:5 job.sh", .meaning = "start once job 5 has ended well"},
    {.line = "fairlead submit -A physics -n 4 --mem 8G -t 2:00:00 run.sh input.dat",
     .meaning = "a script with an argument"},
    {.line = "fairlead submit -p fast -q urgent --begin now+1hour -l license=2 run.sh",
     .meaning = "a partition, a QOS, an earliest start and two licences"},
    {.line = "fairlead submit -- make -j2", .meaning = "a command instead of a script"},
    {.line = "fairlead submit --array 0-999%50 task.sh",
     .meaning = "1000 tasks, at most 50 at once; FAIRLEAD_ARRAY_TASK_ID is the task's number"},
    {.line = "fairlead submit --immediate=5 -n 8 run.sh", .meaning = "start within 5 seconds, or not at all"},
    {.line = "fairlead submit --exclusive -t 2:00:00 --time-min 30 run.sh",
     .meaning = "a whole host; for half an hour at least, if that fits before a reservation"},
    {.line = "fairlead submit --test-only -n 8 run.sh",
     .meaning = "when and where the job would start; nothing is submitted"},
    {.line = "id=$(fairlead submit --parsable job.sh)", .meaning = "store the job's id, in a script"},
    {0},
};

const struct command cmd_submit = {
    .name = "submit",
    .group = GROUP_JOBS,
    .summary = "submit a job: a script, or a command after --",
    .usage = "[OPTIONS] SCRIPT [ARGUMENT...] | -- COMMAND [ARGUMENT...]",
    .description =
        "The script is copied at submission; later changes to the file have no effect. Its #! line names the interpreter; only "
        "NAME.sh needs none. If SCRIPT is -, it is read from standard input, and the job's name is stdin.\n\n"
        "Lines of the script that begin with #FAIRLEAD hold options of this command; the command line wins. They are read up to the "
        "first line of commands. Options of #SBATCH lines, or of #$ lines in all of the script, are read, too, where they have a "
        "meaning here: each ignored one is named, and one whose neglect would change what the job gets is refused. 'fairlead help "
        "directives' has the rules.\n\n"
        "The job runs in the directory of submission (-D) with the submitter's environment (--export) and an empty standard "
        "input. A LIST without ALL gives it PATH, HOME, USER, LOGNAME, SHELL, LANG and the listed variables only.\n\n"
        "In a PATTERN, %j is the job's id, %A the array's id, %a the task's number, %x the job's name, %u the user and %% a "
        "percent sign; %5j fills a number with zeros to five digits.\n\n"
        "The default CPUs, memory and time limit are settings, which 'fairlead status' shows.\n\n"
        "The environment of every job contains\n\n"
        "  FAIRLEAD_JOB_ID, FAIRLEAD_JOB_NAME, FAIRLEAD_ACCOUNT, FAIRLEAD_USER\n"
        "  FAIRLEAD_CPUS, FAIRLEAD_GPUS, FAIRLEAD_MEM_MIB, FAIRLEAD_TIME_LIMIT_S\n"
        "  FAIRLEAD_PARTITION, FAIRLEAD_QUEUE (main@localhost), FAIRLEAD_PE (if it has one)\n"
        "  FAIRLEAD_SLOTS, FAIRLEAD_HOSTS (slots on each: localhost:4)\n"
        "  FAIRLEAD_SUBMIT_DIR (the directory it runs in), FAIRLEAD_SOCKET\n"
        "  FAIRLEAD_ARRAY_JOB_ID, FAIRLEAD_ARRAY_TASK_ID (tasks of arrays)\n"
        "  FAIRLEAD_RESTART_COUNT (how often it was requeued before)\n"
        "  FAIRLEAD_GPU_IDS, CUDA_VISIBLE_DEVICES, CUDA_DEVICE_ORDER (hosts with GPUs)\n"
        "  FAIRLEAD_LAUNCH_ID, FAIRLEAD_LAUNCH_KEY (which identify its processes)\n\n"
        "Administrators define the partitions, qualities of service, projects and resources that a job can name. 'fairlead partition "
        "show' lists the partitions; the same holds for qos, project and resource. Which options matter for a job's priority "
        "depends on the model of priorities (see 'fairlead prio --help').\n\n"
        "A TIME is 2h or now+2h (in two hours), 16:00, tomorrow, monday, 2026-11-21 or 2026-11-21T09:05; a DURATION is 90 "
        "(minutes), 90m, 1.5h, 2d or 1-12:00:00. 'fairlead help times' lists all forms.\n\n"
        "With --immediate the command returns once the job has started, or fails with the reason why it did not; such a job is "
        "cancelled, also if the command or the instance was interrupted meanwhile. It waits for nothing, so it is no array and is "
        "not held.\n\n"
        "With --wait the exit statuses are those of 'fairlead wait'. With --test-only the status is 1 if the job could never run.",
    .options = submit_option_rows,
    .job_options = JOB_OPTIONS_SUBMIT,
    .values_size = sizeof(struct submit_values),
    .operands_min = 1,
    .operands_max = OPERANDS_ANY,
    .options_first = true,
    .explain = foreign_syntax_submit_option,
    .examples = submit_examples,
    .exits = job_end_exits,
    .see_also = "queue wait log cancel resubmit prio",
    .run = submit_run,
};
