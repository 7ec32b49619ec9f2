/* The launches of a pretend cluster: their plans, when they start and after a restart. */
#include "base/quantity.h"
#include "daemon/daemon.h"
#include "daemon/log.h"
#include "pretend/pretend_job.h"

#define END_US US_PER_S /* from an order to end until the end */
enum { KIB_PER_MIB = 1024 };

/* A script or arguments in which "sleep N" is looked for: they are read in the loop, at each start. */
enum { COMMAND_BYTES_MAX = 16384 };

/* An array starts many tasks at once. A job never gets another command. */
static const struct job_script *command_of(struct daemon *d, uint32_t job_id)
{
    struct pretend *p = d->pretend;
    struct err e;
    if (p->command_job_id == job_id) return &p->command;
    arena_clear(&p->command_arena);
    p->command = (struct job_script){0};
    p->command_job_id = job_id;
    if (store_command(d->store, job_id, COMMAND_BYTES_MAX, &p->command_arena, &p->command, &e) != 0) {
        log_line(LOG_ERROR, "script-missing", " job=%u error=\"%s\"", job_id, ERR_SENTENCE(&e));
        p->command_job_id = 0;
    }
    return &p->command;
}

static struct executor_plan plan_of(struct daemon *d, const struct job *j, const struct task *k)
{
    const struct job_script *command = command_of(d, j->id);
    const struct pretend_job job = {.job_id = j->id,
                                    .task_id = k->task_id,
                                    .restarts = k->restarts,
                                    .comment = job_rare(j)->comment,
                                    .script = command->script,
                                    .arguments = command->arguments,
                                    .argument_count = command->argument_count,
                                    .time_limit_s =
                                        k->launch_limit_s > 0 ? k->launch_limit_s : task_time_limit_s(j, k)};
    const struct pretend_run run = pretend_job_run(&d->pretend->cluster.rules, &job);
    return (struct executor_plan){
        .started_us = k->start_us != 0 ? k->start_us : d->now_us,
        .run_us = run.run_us,
        .time_limit_us = task_time_limit_s(j, k) * US_PER_S,
        .suspended_from_us = k->suspended_from_us,
        .suspended_us = k->suspended_us,
        .exit_status = run.exit_status,
        .cpus = run.cpu_part * task_cpu_count(k),
        .mem_kib = (int64_t)(run.mem_part * (double)task_mem_mib(k) * KIB_PER_MIB),
    };
}

/* A launch on a host that is down, or that the document does not have any more, is lost. */
static void begin(struct daemon *d, const struct job *j, const struct task *k)
{
    const struct executor_plan plan = plan_of(d, j, k);
    executor_pretend_start(d->executor, k->launch_id, &plan);
    for (uint32_t i = 0; i < k->placement_count; i++) {
        if (!daemon_pretend_host_is_up(d, k->placements[i].host))
            executor_pretend_lose(d->executor, k->launch_id, "its host is not there");
    }
}

void daemon_start_pretend(struct daemon *d, const struct job *j, const struct task *k)
{
    log_line(LOG_DEBUG, "start", " job=%u task=%u launch=%llu", j->id, k->task_id, (unsigned long long)k->launch_id);
    begin(d, j, k);
}

/* The executor's time is that of the last commit: an end after it is reported again, at the time that it had. */
void daemon_open_pretend_executor(struct daemon *d)
{
    const struct state *s = &d->state;
    d->executor = executor_open_plans(store_last_commit_us(d->store), END_US);
    for (uint32_t i = 0; i < s->tasks.count; i++) {
        const struct task *k = &s->tasks.items[i];
        if (job_state_is_end(k->state) || k->start_us == 0) continue;
        begin(d, &s->jobs.items[state_find_job(s, k->job_id)], k);
    }
    executor_pretend_synced(d->executor);
}

int daemon_check_pretend_comment(void *context, const char *comment, struct err *e)
{
    (void)context;
    return pretend_job_check_comment(comment, e);
}
