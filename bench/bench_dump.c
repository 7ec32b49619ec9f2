/* The time in which the daemon writes an instance as a scenario document (engine/dump.h), and its size: 1,000 users,
 * running tasks, jobs of three partitions with requests, parallel environments and reservations among them. No client
 * is served meanwhile. The yardsticks are a copy of the rows of jobs, with which a snapshot that is rendered later
 * would begin, and the time in which a command reads the document. */
#include <stdio.h>
#include <string.h>

#include "engine/dump.h"
#include "engine/engine.h"
#include "measure.h"
#include "sim/scenario.h"

enum { CPUS = 64, USERS = 1000, RUNS = 11 };

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

static void add_object(struct state *s, struct outcome *out, enum object_kind kind, const char *name,
                       struct event_pair field)
{
    bool is_there = state_find_object(s, kind, name) != NONE;
    apply(s, out, NOW_US,
          (struct event){.kind = is_there ? EVENT_OBJECT_MODIFY : EVENT_OBJECT_ADD,
                         .actor = {0, 0, "root", ROLE_ADMINISTRATOR},
                         .object = {kind, name, &field, 1}});
}

static void add_cluster(struct state *s, struct outcome *out)
{
    static const struct host_load loads[] = {{"load_avg", "1.5"}, {"num_proc", "64"}, {"mem_free", "50G"}};
    apply(s, out, NOW_US, (struct event){.kind = EVENT_HOST, .host.has = {.cpus = CPUS, .mem_mib = 1000000}});
    apply(s, out, NOW_US, (struct event){.kind = EVENT_LOAD, .load = {.values = loads, .count = 3}});
    add_object(s, out, OBJECT_RESOURCE, "license", (struct event_pair){"amount", "9"});
    add_object(s, out, OBJECT_ENVIRONMENT, "smp", (struct event_pair){"slots", "32"});
    add_object(s, out, OBJECT_PARTITION, "main", (struct event_pair){"pe_list", "smp"});
    add_object(s, out, OBJECT_PARTITION, "fast", (struct event_pair){"PriorityTier", "2"});
    add_object(s, out, OBJECT_PARTITION, "long", (struct event_pair){"PriorityJobFactor", "3"});
}

static void add_users(struct state *s, struct outcome *out)
{
    for (uint32_t i = 0; i < USERS; i++) {
        char name[32];
        snprintf(name, sizeof name, "user%u", i);
        struct event event = {.kind = EVENT_USER_ADD, .actor = {0, 0, "root", ROLE_ADMINISTRATOR}};
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
    give(&job, JOB_FIELD_RESERVE, field_number(number % 10 == 0));
    give(&job, JOB_FIELD_PARTITIONS, field_text(number % 3 > 0 ? "main" : "main,fast,long"));
    if (number % 7 == 0) give(&job, JOB_FIELD_REQUESTS, field_text("license=1"));
    if (number % 11 == 0) give(&job, JOB_FIELD_ENVIRONMENT, field_text("smp"));
    apply(s, out, NOW_US + number * INT64_C(1234567),
          (struct event){.kind = EVENT_SUBMIT, .actor = {1000, 1000, name, ROLE_USER}, .submit = &job});
}

static double write_document(struct state *s, int64_t now_us, struct buf *out)
{
    struct dump d;
    double start_ns = now_ns();
    dump_begin(&d, s, now_us, out);
    while (dump_jobs(&d, 1000)) continue;
    dump_release(&d);
    return now_ns() - start_ns;
}

static double read_document(const struct buf *text)
{
    struct scenario scenario;
    struct err e;
    double start_ns = now_ns();
    if (scenario_read((struct str){text->text, text->length}, "document", &scenario, &e) != 0) {
        fprintf(stderr, "%s\n", ERR_SENTENCE(&e));
        exit(1);
    }
    scenario_release(&scenario);
    return now_ns() - start_ns;
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

static void make_instance(struct state *s, uint32_t jobs, int64_t now_us)
{
    struct outcome out = {0};
    state_init(s, NOW_US);
    add_cluster(s, &out);
    add_users(s, &out);
    for (uint32_t i = 0; i < jobs; i++) submit(s, &out, i);
    apply(s, &out, now_us, (struct event){.kind = EVENT_TIME, .time = {"boot"}});
    outcome_release(&out);
}

static void measure(uint32_t jobs)
{
    struct state s;
    struct samples dump = {.count = RUNS}, copy = {.count = RUNS}, read = {.count = RUNS};
    struct buf text = {0};
    int64_t now_us = NOW_US + jobs * INT64_C(1234567);
    make_instance(&s, jobs, now_us);
    for (int i = 0; i < RUNS; i++) {
        buf_release(&text);
        dump.ns[i] = write_document(&s, now_us, &text);
        copy.ns[i] = copy_rows(&s);
        read.ns[i] = read_document(&text);
    }
    printf("%6u jobs, %2u running: %6.2f ms, %5.1f MB; a copy of the rows %5.2f ms, %5.1f MB; read in %4.0f ms\n", jobs,
           s.tasks.count, median(&dump) / 1e6, (double)text.length / 1e6, median(&copy) / 1e6,
           (double)(jobs * sizeof *s.jobs.items) / 1e6, median(&read) / 1e6);
    buf_release(&text);
    state_release(&s);
}

int main(int argc, char **argv)
{
    bool is_quick = argc > 1 && strcmp(argv[1], "--quick") == 0;
    measure(is_quick ? 1000 : 10000);
    if (!is_quick) measure(100000);
    return 0;
}
