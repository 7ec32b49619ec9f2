/* The time in which the daemon writes an instance as a scenario document (engine/dump.h), and its size. No client is
 * served meanwhile. The yardstick is a copy of the rows of jobs, with which a snapshot that is rendered later would
 * begin. */
#include <stdio.h>
#include <string.h>

#include "engine/dump.h"
#include "engine/engine.h"
#include "measure.h"

enum { USERS = 1000, RUNS = 11 };

static const int64_t NOW_US = INT64_C(1700000000000000);

static void apply(struct state *s, struct outcome *out, int64_t now_us, struct event event)
{
    struct err e;
    outcome_clear(out);
    if (engine_apply(s, now_us, &event, out, NULL, &e) == 0) return;
    fprintf(stderr, "event %d: %s\n", event.kind, ERR_SENTENCE(&e));
    exit(1);
}

static void give(struct job_values *job, enum job_field f, struct field_value value)
{
    job->value[f] = value;
    job->is_given[f] = true;
}

static void add_users(struct state *s, struct outcome *out)
{
    for (uint32_t i = 0; i < USERS; i++) {
        char name[32];
        snprintf(name, sizeof name, "user%u", i);
        struct event event = {.kind = EVENT_USER_ADD, .actor = {0, 0, "root", true}};
        event.user =
            (struct event_user){.name = name, .account = "root", .shares = SHARES_UNSET, .priority = PRIORITY_UNSET};
        apply(s, out, NOW_US, event);
    }
}

static void submit(struct state *s, struct outcome *out, uint32_t number)
{
    struct job_values job = {0};
    char name[32];
    snprintf(name, sizeof name, "user%u", number % USERS);
    give(&job, JOB_FIELD_NAME, field_text("job"));
    give(&job, JOB_FIELD_DIRECTORY, field_text("/tmp"));
    give(&job, JOB_FIELD_COMMAND, field_text("true"));
    give(&job, JOB_FIELD_CPUS, field_number(1 + number % 7));
    give(&job, JOB_FIELD_MEM_MIB, field_number(100 + number % 900));
    give(&job, JOB_FIELD_TIME_LIMIT, field_number(60 * (1 + number % 300)));
    give(&job, JOB_FIELD_NICE, field_number(number % 50));
    apply(s, out, NOW_US + number * INT64_C(1234567),
          (struct event){.kind = EVENT_SUBMIT, .actor = {1000, 1000, name, false}, .submit = &job});
}

static size_t write_document(struct state *s, int64_t now_us)
{
    struct buf text = {0};
    struct dump d;
    dump_begin(&d, s, now_us, &text);
    while (dump_jobs(&d, 1000)) continue;
    dump_release(&d);
    size_t length = text.length;
    buf_release(&text);
    return length;
}

static double copy_rows(const struct state *s)
{
    size_t size = s->jobs.count * sizeof *s->jobs.items;
    double start_ns = now_ns();
    void *copy = memcpy(mem_resize(NULL, 0, size), s->jobs.items, size);
    double time_ns = now_ns() - start_ns;
    mem_free(copy);
    return time_ns;
}

static void measure(uint32_t jobs)
{
    struct state s;
    struct outcome out = {0};
    struct samples dump = {.count = RUNS}, copy = {.count = RUNS};
    size_t bytes = 0;
    int64_t now_us = NOW_US + jobs * INT64_C(1234567);
    state_init(&s, NOW_US);
    apply(&s, &out, NOW_US, (struct event){.kind = EVENT_HOST, .host = {.cpus = 64, .mem_mib = 100000}});
    add_users(&s, &out);
    for (uint32_t i = 0; i < jobs; i++) submit(&s, &out, i);
    for (int i = 0; i < RUNS; i++) {
        double start_ns = now_ns();
        bytes = write_document(&s, now_us);
        dump.ns[i] = now_ns() - start_ns;
        copy.ns[i] = copy_rows(&s);
    }
    printf("%6u jobs: %6.2f ms, %5.1f MB; a copy of the rows %5.2f ms, %5.1f MB\n", jobs, median(&dump) / 1e6,
           (double)bytes / 1e6, median(&copy) / 1e6, (double)(jobs * sizeof *s.jobs.items) / 1e6);
    outcome_release(&out);
    state_release(&s);
}

int main(int argc, char **argv)
{
    bool is_quick = argc > 1 && strcmp(argv[1], "--quick") == 0;
    measure(is_quick ? 1000 : 10000);
    if (!is_quick) measure(100000);
    return 0;
}
