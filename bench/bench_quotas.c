/* What resource quotas cost beside a queue, on 10,000 hosts: a submission with its note about the limits that the
 * job exceeds (engine/wait_lasting.h), and the sentences of why it waits (engine/wait_answer.h).
 * The worlds are the same but for their quota sets
 *
 *     none      no quotas: the yardstick
 *     users     100 rules, each for a user and a hundred hosts: none is for this job
 *     hosts     100 rules, each with a pool for each user on each of a hundred hosts
 *     sets      10 sets with a pool for each host, in which no job has room
 *
 * "first" is the first submission after a change of the rules, with the cluster made anew; "new user" is the first one
 * of another user. With --quick for a tenth of the hosts. */
#include <stdio.h>
#include <string.h>

#include "engine/engine.h"
#include "engine/wait_answer.h"
#include "engine/wait_lasting.h"
#include "engine_world.h"
#include "measure.h"

enum { CPUS = 32, WORLDS = 4, RULES = 100, USERS = 1000, ROUNDS = 5, SETS = 10, QUESTIONS = 3 };

static const double NS_OF_MS = 1e6;
static const char *const names[WORLDS] = {"none", "users", "hosts", "sets"};

struct world {
    struct state s;
    struct outcome out;
    int64_t now_us;
    uint32_t hosts;
    struct samples first, user, again, asked[QUESTIONS];
    uint32_t sentences[QUESTIONS];
};

static void apply(struct world *w, struct event event)
{
    bench_apply(&w->s, &w->out, w->now_us, event);
}

static void add_set(struct world *w, const char *name, const char *rules)
{
    const struct event_pair pair = {"rules", rules};
    apply(w, (struct event){.kind = EVENT_OBJECT_ADD, .object = {OBJECT_QUOTA, name, &pair, 1}});
}

static void add_rules(struct world *w, bool is_of_users)
{
    struct buf text = {0};
    uint32_t each = w->hosts / RULES;
    for (uint32_t i = 0; i < RULES; i++) {
        const char *separator = i == 0 ? "" : "; ";
        uint32_t first = i * each + (i == 0), last = (i + 1) * each - 1;
        if (is_of_users)
            buf_format(&text, "%slimit users other%u hosts n[%u-%u] to slots=1", separator, i, first, last);
        else
            buf_format(&text, "%slimit users {*} hosts {n[%u-%u]} to slots=1", separator, first, last);
    }
    buf_add_char(&text, '\0');
    add_set(w, "rules", text.text);
    buf_release(&text);
}

static void add_sets(struct world *w)
{
    for (uint32_t i = 0; i < SETS; i++) {
        char name[32];
        snprintf(name, sizeof name, "set%u", i);
        add_set(w, name, "limit hosts {*} to slots=1");
    }
}

static void world_make(struct world *w, int number, uint32_t hosts)
{
    w->now_us = NOW_US;
    w->hosts = hosts;
    state_init(&w->s, NOW_US);
    bench_set(&w->s, &w->out, w->now_us, "reservations", "none");
    bench_add_hosts(&w->s, w->hosts, (struct capacity){CPUS, 0, 128 * 1024});
    bench_add_users(&w->s, USERS);
    if (number == 1 || number == 2) add_rules(w, number == 1);
    if (number == 3) add_sets(w);
}

/* Of a user, and the answer to it. The quotas allow one CPU on a host. */
static double submit_ns(struct world *w, uint32_t user)
{
    struct bench_job job;
    struct arena arena = {0};
    struct wait_lasting wait;
    bench_job_make(&job, user, 2, 1024);
    w->now_us += 1000;
    double begin = now_ns();
    apply(w, bench_job_event(&job));
    (void)wait_lasting_find(&w->s, &w->s.jobs.items[w->s.jobs.count - 1], w->now_us, &arena, &wait);
    double took = now_ns() - begin;
    arena_release(&arena);
    return took;
}

static double ask_ns(struct world *w, enum wait_question question)
{
    struct arena arena = {0};
    struct wait_sentences why;
    double begin = now_ns();
    (void)wait_answer_make(&w->s, w->s.jobs.count - 1, question, 0, w->now_us, &arena, &why, NULL);
    double took = now_ns() - begin;
    w->sentences[question] = why.count;
    arena_release(&arena);
    return took;
}

static void keep(struct samples *samples, double ns)
{
    samples->ns[samples->count++] = ns;
}

static void round_of(struct world *w, uint32_t number)
{
    bench_set(&w->s, &w->out, w->now_us, "job_load_adjustments",
              number % 2 == 0 ? "np_load_avg=0.40" : "np_load_avg=0.50");
    keep(&w->first, submit_ns(w, 0));
    keep(&w->user, submit_ns(w, 1 + number));
    keep(&w->again, submit_ns(w, 0));
    (void)ask_ns(w, WAIT_EMPTY); /* makes an empty cluster anew, too */
    for (int q = 0; q < QUESTIONS; q++) keep(&w->asked[q], ask_ns(w, (enum wait_question)q));
}

int main(int argc, char **argv)
{
    bool is_quick = argc > 1 && strcmp(argv[1], "--quick") == 0;
    static struct world w[WORLDS];
    uint32_t hosts = is_quick ? 1000 : 10000;
    for (int i = 0; i < WORLDS; i++) world_make(&w[i], i, hosts);
    for (uint32_t n = 0; n < ROUNDS; n++) {
        for (int i = 0; i < WORLDS; i++) round_of(&w[i], n);
    }
    printf("Submission with its note, and why a job waits, on %u hosts, ms (each at most 20, but for the first)\n",
           hosts);
    printf("%-8s %10s %10s %10s   %10s %10s %10s\n", "quotas", "first", "new user", "again", "in a pass", "now",
           "empty");
    for (int i = 0; i < WORLDS; i++) {
        printf("%-8s %10.2f %10.2f %10.2f  ", names[i], median(&w[i].first) / NS_OF_MS, median(&w[i].user) / NS_OF_MS,
               median(&w[i].again) / NS_OF_MS);
        for (int q = 0; q < QUESTIONS; q++) printf(" %10.2f", median(&w[i].asked[q]) / NS_OF_MS);
        printf("   %u, %u, %u sentences\n", w[i].sentences[0], w[i].sentences[1], w[i].sentences[2]);
        state_release(&w[i].s);
        outcome_release(&w[i].out);
    }
    return 0;
}
