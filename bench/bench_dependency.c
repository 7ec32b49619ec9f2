/* What it costs that jobs wait for others, with 10^5 jobs: a submission, and the end of a job that frees others, in a
 * chain, in a fan behind one job, and behind many jobs. The yardstick is the same submission or end in an instance
 * where no job waits. */
#include <stdio.h>
#include <string.h>

#include "engine/engine.h"
#include "measure.h"

enum { JOBS = 100000, CPUS = 64 };

static const int64_t NOW_US = INT64_C(1700000000000000);

struct bench {
    struct state s;
    struct outcome out;
};

static uint32_t apply(struct bench *b, struct event event)
{
    struct err e;
    struct event_result result;
    outcome_clear(&b->out);
    if (engine_apply(&b->s, NOW_US, &event, &b->out, &result, &e) == 0) return result.job_id;
    fprintf(stderr, "event %d: %s\n", event.kind, ERR_SENTENCE(&e));
    exit(1);
}

static void give_text(struct job_values *job, enum job_field f, const char *text)
{
    job->value[f] = field_text(text);
    job->is_given[f] = true;
}

/* dependency NULL: none. */
static uint32_t submit(struct bench *b, const char *dependency)
{
    struct job_values job = {0};
    give_text(&job, JOB_FIELD_NAME, "job");
    give_text(&job, JOB_FIELD_COMMAND, "true");
    give_text(&job, JOB_FIELD_DIRECTORY, "/");
    if (dependency != NULL) give_text(&job, JOB_FIELD_DEPENDENCY, dependency);
    return apply(b, (struct event){.kind = EVENT_SUBMIT, .actor = {0, 0, "root", ROLE_ADMINISTRATOR}, .submit = &job});
}

static void open_bench(struct bench *b)
{
    memset(b, 0, sizeof *b);
    state_init(&b->s, NOW_US);
    (void)apply(b, (struct event){.kind = EVENT_HOST, .host.has = {.cpus = CPUS, .mem_mib = 1000000}});
}

static void close_bench(struct bench *b)
{
    state_release(&b->s);
    outcome_release(&b->out);
}

/* Starts what can start, and ends the first running task. Returns the time of the end alone. */
static double end_one(struct bench *b)
{
    b->s.pass_is_due = true;
    (void)apply(b, (struct event){.kind = EVENT_TIME, .time = {"boot"}});
    uint32_t i = 0;
    while (i < b->s.tasks.count && job_state_is_end(b->s.tasks.items[i].state)) i++;
    if (i == b->s.tasks.count) {
        fprintf(stderr, "nothing runs\n");
        exit(1);
    }
    struct event event = {
        .kind = EVENT_ENDED,
        .record = {
            .launch_id = b->s.tasks.items[i].launch_id, .at_us = NOW_US, .started_us = NOW_US, .end = JOB_COMPLETED}};
    double begin = now_ns();
    (void)apply(b, event);
    double elapsed = now_ns() - begin;
    engine_forget(&b->s);
    return elapsed;
}

/* format: of the dependency of all jobs but the first, with the id before it; NULL: none. Prints the time of a
 * submission and of the end of the first job; returns the latter. */
static double run(const char *what, const char *format, uint32_t jobs)
{
    struct bench b;
    char dependency[32];
    open_bench(&b);
    uint32_t id = submit(&b, NULL);
    double begin = now_ns();
    for (uint32_t i = 1; i < jobs; i++) {
        if (format != NULL)
            text_format(dependency, sizeof dependency, "afterok:%u", strcmp(format, "chain") == 0 ? id : 1);
        id = submit(&b, format != NULL ? dependency : NULL);
    }
    double submission = (now_ns() - begin) / (jobs - 1), end = end_one(&b);
    printf("%-34s submission %6.2f us, end of the first %10.1f us\n", what, submission / 1e3, end / 1e3);
    close_bench(&b);
    return end;
}

/* The ends of the first jobs of a chain, each of which frees the next one. */
static void run_chain_ends(void)
{
    enum { ENDS = 1000 };
    struct bench b;
    char dependency[32];
    double sum = 0;
    open_bench(&b);
    uint32_t id = submit(&b, NULL);
    for (uint32_t i = 1; i < JOBS; i++) {
        text_format(dependency, sizeof dependency, "afterok:%u", id);
        id = submit(&b, dependency);
    }
    for (int i = 0; i < ENDS; i++) sum += end_one(&b);
    printf("%-34s %6.2f us each, of %d ends\n", "chain of 100,000: an end", sum / ENDS / 1e3, ENDS);
    close_bench(&b);
}

/* Jobs that each wait for the same many others: the ends of those, each of which concerns one condition of each job.
 * Prints the time of an end for each job that waits for it. */
static void run_wide(uint32_t targets)
{
    enum { WAITING = 40 };
    struct bench b;
    struct buf text = {0};
    double sum = 0;
    open_bench(&b);
    buf_add_text(&text, "afterok");
    for (uint32_t i = 0; i < targets; i++) buf_format(&text, ":%u", submit(&b, NULL));
    for (int i = 0; i < WAITING; i++) (void)submit(&b, text.text);
    for (uint32_t i = 0; i < targets; i++) sum += end_one(&b);
    printf("%d jobs wait for each of %5u: an end %6.2f us a job that waits for it\n", WAITING, targets,
           sum / targets / WAITING / 1e3);
    buf_release(&text);
    close_bench(&b);
}

int main(void)
{
    double alone = run("100,000 jobs, none waits (yardstick)", NULL, JOBS);
    (void)run("chain of 100,000", "chain", JOBS);
    double fan = run("fan of 100,000 behind one job", "fan", JOBS);
    double small = run("fan of 10,000 behind one job", "fan", JOBS / 10);
    printf(
        "the end of the fan: %.2f us a job that it frees (%.2f with a tenth of them); %.0f times an end that frees none\n",
        fan / JOBS / 1e3, small / (JOBS / 10.0) / 1e3, fan / alone);
    run_chain_ends();
    run_wide(150);
    run_wide(1500);
    return 0;
}
