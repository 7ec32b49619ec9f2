#include "engine/moved_jobs.h"

#include <math.h>
#include <string.h>

#include "base/idset.h"
#include "fields/host_text.h"
#include "fields/limits.h"
#include "fields/moved_fields.h"
#include "policy/tres_text.h"

enum { EXIT_STATUS_MAX = 255, SIGNAL_MAX = 64, MOVED_ID_MAX = UINT32_MAX - 1 };

bool moved_jobs_is_instance(const char *id)
{
    return id != NULL && strlen(id) == MOVED_JOBS_INSTANCE_LENGTH &&
           strspn(id, "0123456789abcdef") == MOVED_JOBS_INSTANCE_LENGTH;
}

/* --- values ------------------------------------------------------------------------------------------------------- */

static int64_t number(const struct job_values *v, enum job_field f)
{
    return v->is_given[f] ? v->value[f].number : FIELD_ABSENT;
}

static struct str text(const struct job_values *v, enum job_field f)
{
    return v->is_given[f] && v->value[f].text != NULL ? str(v->value[f].text) : str("");
}

static int fail(enum job_field f, const struct job_values *v, const char *accepted, struct err *e)
{
    return err_number(e, job_field_at(f)->name, number(v, f), "%s", accepted);
}

/* Required fields that may be null elsewhere have a value here. */
static int check_present(enum moved_use (*use)(enum job_field f), const struct job_values *v, struct err *e)
{
    for (enum job_field f = 0; f < JOB_FIELD_COUNT; f++) {
        const struct field *field = job_field_at(f);
        if (use(f) == MOVED_REQUIRED && (!v->is_given[f] || field_is_absent(field, &v->value[f])))
            return err_field(e, ERR_INPUT, field->name, "missing; %s", field->help);
    }
    return 0;
}

static int check_max(enum job_field f, const struct job_values *v, int64_t max, struct err *e)
{
    int64_t n = number(v, f);
    if (n <= max) return 0;
    return err_number(e, job_field_at(f)->name, n, "a number from 0 to %lld", (long long)max);
}

/* An absent time passes. */
static int check_time(enum job_field f, const struct job_values *v, int64_t from_us, int64_t to_us, struct err *e)
{
    int64_t at_us = number(v, f);
    if (at_us == FIELD_ABSENT) return 0;
    if (at_us < from_us) return fail(f, v, "a time that is not before the job's submission", e);
    return at_us > to_us ? fail(f, v, "a time that is not after the end, nor in the future", e) : 0;
}

/* --- a job -------------------------------------------------------------------------------------------------------- */

/* As a row has them: without steps, of which a few bytes are millions of ranges. */
static int parse_tasks(const struct job_values *job, enum job_field f, struct idset *out, struct err *e)
{
    if (text(job, f).length == 0) return 0;
    if (memchr(text(job, f).text, ':', text(job, f).length) != NULL)
        return err_value(e, job_field_at(f)->name, text(job, f), "task numbers such as 3-9,12");
    return idset_parse(text(job, f), ARRAY_TASK_MAX, job_field_at(f)->name, out, e);
}

static int check_cancelled(const struct job_values *job, const struct idset *tasks, bool is_array, struct err *e)
{
    struct idset cancelled = {0};
    int status = parse_tasks(job, JOB_FIELD_CANCELLED_TASKS, &cancelled, e);
    bool has_some = idset_first(&cancelled) != NONE, has_time = number(job, JOB_FIELD_CANCELLED) != FIELD_ABSENT;
    if (is_array)
        idset_remove_all(&cancelled, tasks);
    else
        idset_remove(&cancelled, 0);
    bool is_known = idset_first(&cancelled) == NONE;
    idset_release(&cancelled);
    if (status != 0) return -1;
    const char *name = job_field_at(JOB_FIELD_CANCELLED_TASKS)->name;
    if (!is_known) return err_value(e, name, text(job, JOB_FIELD_CANCELLED_TASKS), "tasks of the job");
    if (has_some && !has_time) return err_field(e, ERR_INPUT, job_field_at(JOB_FIELD_CANCELLED)->name, "missing");
    return 0;
}

/* --- a start of a task -------------------------------------------------------------------------------------------- */

static int check_hosts(struct str hosts, struct err *e)
{
    struct str host, rest = hosts;
    while (rest.length > 0) {
        host = str_cut(rest, ',', &rest);
        if (!host_text_is_name(host)) return err_value(e, job_field_at(JOB_FIELD_HOSTS)->name, hosts, "names of hosts");
    }
    return 0;
}

static int check_ids(const struct job_values *task, enum job_field f, struct err *e)
{
    uint32_t count;
    if (text(task, f).length == 0) return 0;
    return job_field_count_ids(text(task, f), job_field_at(f)->name, &count, e);
}

/* Text of "name=amount,...", as listings print it. */
static int check_tres(struct str tres, struct err *e)
{
    struct str rest = tres, name, value;
    while (rest.length > 0) {
        if (!tres_text_next(&rest, &name, &value) || name.length == 0 || value.length == 0)
            return err_value(e, job_field_at(JOB_FIELD_TRES)->name, tres, "amounts such as cpu=4,mem=8192");
    }
    return 0;
}

static int check_numbers(const struct job_values *task, struct err *e)
{
    if (check_max(JOB_FIELD_EXIT_STATUS, task, EXIT_STATUS_MAX, e) != 0) return -1;
    if (check_max(JOB_FIELD_SIGNAL, task, SIGNAL_MAX, e) != 0) return -1;
    bool is_real = isfinite(task->value[JOB_FIELD_BILLING].real) &&
                   (!task->is_given[JOB_FIELD_MEM_TIME] || isfinite(task->value[JOB_FIELD_MEM_TIME].real));
    return is_real ? 0 : err_field(e, ERR_INPUT, job_field_at(JOB_FIELD_BILLING)->name, "must be finite");
}

static int check_task(const struct job_values *task, const struct job_values *job, const struct idset *tasks,
                      bool is_array, struct err *e)
{
    int64_t submit_us = number(job, JOB_FIELD_SUBMIT), end_us = number(task, JOB_FIELD_END);
    int64_t state = number(task, JOB_FIELD_STATE), id = number(task, JOB_FIELD_TASK_ID);
    if (check_present(moved_fields_in_task, task, e) != 0) return -1;
    if (id > ARRAY_TASK_MAX || (is_array ? !idset_has(tasks, (uint32_t)id) : id != 0))
        return fail(JOB_FIELD_TASK_ID, task, "a task of the job", e);
    if (state >= JOB_STATE_COUNT || !job_state_is_end((enum job_state)state))
        return err_field(e, ERR_INPUT, job_field_at(JOB_FIELD_STATE)->name,
                         "must be the state of a task that has ended");
    if (check_time(JOB_FIELD_END, task, submit_us, number(job, JOB_FIELD_ENDED), e) != 0) return -1;
    if (check_time(JOB_FIELD_LAUNCH, task, submit_us, end_us, e) != 0) return -1;
    if (check_time(JOB_FIELD_START, task, submit_us, end_us, e) != 0) return -1;
    if (check_numbers(task, e) != 0 || check_hosts(text(task, JOB_FIELD_HOSTS), e) != 0) return -1;
    if (check_ids(task, JOB_FIELD_CPU_IDS, e) != 0 || check_ids(task, JOB_FIELD_GPU_IDS, e) != 0) return -1;
    return check_tres(text(task, JOB_FIELD_TRES), e);
}

/* --- all ---------------------------------------------------------------------------------------------------------- */

static int check_job(const struct moved_job *m, int64_t now_us, struct err *e)
{
    struct idset tasks = {0};
    bool is_array = m->job->is_given[JOB_FIELD_ARRAY] && m->job->value[JOB_FIELD_ARRAY].text != NULL;
    int64_t submit_us = number(m->job, JOB_FIELD_SUBMIT);
    int status = check_present(moved_fields_in_job, m->job, e);
    if (status == 0 && (m->id == 0 || m->id > MOVED_ID_MAX))
        status = err_number(e, "id", m->id, "the id of a job, a number from 1 to %u", MOVED_ID_MAX);
    if (status == 0) status = check_time(JOB_FIELD_ENDED, m->job, submit_us, now_us, e);
    if (status == 0) status = check_time(JOB_FIELD_CANCELLED, m->job, submit_us, number(m->job, JOB_FIELD_ENDED), e);
    if (status == 0) status = parse_tasks(m->job, JOB_FIELD_ARRAY, &tasks, e);
    if (status == 0) status = check_cancelled(m->job, &tasks, is_array, e);
    for (uint32_t i = 0; status == 0 && i < m->task_count; i++) {
        status = check_task(&m->tasks[i], m->job, &tasks, is_array, e);
        if (status != 0) err_add_path(e, "tasks[%u]", i);
    }
    idset_release(&tasks);
    return status;
}

int moved_jobs_check(const struct moved_jobs *m, int64_t now_us, struct err *e)
{
    uint64_t rows = m->count;
    if (!moved_jobs_is_instance(m->instance))
        return err_value(e, "instance", str(m->instance != NULL ? m->instance : ""),
                         "the id of an instance, %d hex digits", MOVED_JOBS_INSTANCE_LENGTH);
    for (uint32_t i = 0; i < m->count; i++) rows += m->jobs[i].task_count;
    if (rows > MOVED_JOBS_ROWS_MAX)
        return err_field(e, ERR_TOO_LARGE, "jobs", "%llu jobs and starts; one request can have %d",
                         (unsigned long long)rows, MOVED_JOBS_ROWS_MAX);
    for (uint32_t i = 0; i < m->count; i++) {
        if (check_job(&m->jobs[i], now_us, e) == 0) continue;
        err_add_path(e, "jobs[%u]", i);
        return -1;
    }
    return 0;
}
