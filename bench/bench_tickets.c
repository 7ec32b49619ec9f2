/* The cost of the tickets of a pass: tickets_compute over pending jobs, on one core, with all three policies in the
 * order OFS. Each user has ten jobs, a leaf of the share tree (in groups of a hundred), functional shares and override
 * tickets. The jobs belong to twenty projects and ten departments, which have functional shares and override tickets,
 * too. A few jobs have -js or -ot, and one in a hundred is running.
 *
 *   varied    all shares, override tickets and usages differ
 *   tied      all are equal, so every selection is a tie
 *   same      as varied, with ten thousand users for any number of jobs
 *
 * The number after each is max_functional_jobs_to_schedule: 200, 10,000, or all jobs. Yardstick of the same run: libc's
 * qsort of the same jobs by age. Each figure is the median of several runs. With --quick there is one run, of 10,000
 * jobs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "measure.h"
#include "policy/tickets.h"

enum { RUNS = 9, JOBS_PER_USER = 10, USERS_PER_GROUP = 100, PROJECTS = 20, DEPARTMENTS = 10 };

static const double NS_PER_MS = 1e6;

enum layout { VARIED, TIED };

struct world {
    struct ticket_rules rules;
    struct ticket_input input;
    struct ticket_member *members[MEMBER_KIND_COUNT];
    struct ticket_node *nodes;
    struct ticket_job *jobs;
    struct tickets *tickets;
    struct rng rng;
    enum layout layout;
};

static uint32_t varied(struct world *w, uint32_t max)
{
    uint32_t value = 1 + rng_below(&w->rng, max);
    return w->layout == TIED ? 1 : value;
}

static void make_members(struct world *w, uint32_t users)
{
    const uint32_t counts[] = {
        [MEMBER_USER] = users, [MEMBER_PROJECT] = PROJECTS, [MEMBER_DEPARTMENT] = DEPARTMENTS, [MEMBER_JOB_CLASS] = 0};
    for (int k = 0; k < MEMBER_KIND_COUNT; k++) {
        w->members[k] = calloc(counts[k] + 1, sizeof *w->members[k]);
        w->input.members[k] = w->members[k];
        w->input.member_count[k] = counts[k];
        for (uint32_t i = 0; i < counts[k]; i++) {
            w->members[k][i] = (struct ticket_member){.fshare = varied(w, 1000), .oticket = varied(w, 100000)};
        }
    }
}

static void make_nodes(struct world *w, uint32_t users)
{
    uint32_t groups = (users + USERS_PER_GROUP - 1) / USERS_PER_GROUP, count = 1 + groups + users;
    w->nodes = calloc(count, sizeof *w->nodes);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t parent = i == 0 ? NONE : i <= groups ? 0 : 1 + (i - 1 - groups) / USERS_PER_GROUP;
        double usage = i > groups ? varied(w, 1000000) : 0;
        w->nodes[i] = (struct ticket_node){.parent = parent, .shares = varied(w, 100), .usage = usage};
    }
    for (uint32_t i = count; i-- > 1;) w->nodes[w->nodes[i].parent].usage += w->nodes[i].usage;
    w->input.nodes = w->nodes;
    w->input.node_count = count;
}

static void make_jobs(struct world *w, uint32_t jobs, uint32_t users)
{
    w->jobs = calloc(jobs, sizeof *w->jobs);
    w->tickets = calloc(jobs, sizeof *w->tickets);
    for (uint32_t i = 0; i < jobs; i++) {
        uint32_t user = rng_below(&w->rng, users);
        w->jobs[i] = (struct ticket_job){
            .id = i + 1,
            .submit_us = (int64_t)i * 1000,
            .is_running = rng_below(&w->rng, 100) == 0,
            .member = {[MEMBER_USER] = user,
                       [MEMBER_DEPARTMENT] = user % DEPARTMENTS,
                       [MEMBER_PROJECT] = rng_below(&w->rng, 2) == 0 ? NONE : user % PROJECTS,
                       [MEMBER_JOB_CLASS] = NONE},
            .node = w->input.node_count - users + user,
            .job_share = rng_below(&w->rng, 100) == 0 ? 100 * (1 + rng_below(&w->rng, 3)) : 0,
            .override_tickets = rng_below(&w->rng, 1000) == 0 ? 1000 * (1 + rng_below(&w->rng, 3)) : 0,
            .slots = 1 + (rng_below(&w->rng, 10) == 0) * rng_below(&w->rng, 16),
        };
    }
    w->input.jobs = w->jobs;
    w->input.job_count = jobs;
}

static void make_world(struct world *w, uint32_t jobs, uint32_t users, enum layout layout, uint32_t selected_max)
{
    *w = (struct world){.rng = {1}, .layout = layout};
    w->rules = (struct ticket_rules){
        .share_pool = 1e9,
        .functional_pool = 1e9,
        .share_functional_shares = true,
        .share_override_tickets = true,
        .max_functional_jobs = selected_max,
        .hierarchy = "OFS",
        .weight_user = 0.25,
        .weight_project = 0.25,
        .weight_department = 0.25,
        .weight_job = 0.25,
        .compensation_factor = 5,
    };
    w->input.rules = &w->rules;
    make_members(w, users);
    make_nodes(w, users);
    make_jobs(w, jobs, users);
}

static void free_world(struct world *w)
{
    for (int k = 0; k < MEMBER_KIND_COUNT; k++) free(w->members[k]);
    free(w->nodes);
    free(w->jobs);
    free(w->tickets);
}

static double measure(uint32_t jobs, uint32_t users, enum layout layout, uint32_t selected_max, int runs)
{
    struct world w;
    struct samples s = {0};
    make_world(&w, jobs, users, layout, selected_max);
    for (int run = 0; run < runs; run++) {
        struct arena arena = {0};
        double start = now_ns();
        tickets_compute(&w.input, &arena, w.tickets);
        arena_release(&arena);
        s.ns[s.count++] = now_ns() - start;
    }
    free_world(&w);
    return median(&s) / NS_PER_MS;
}

static int compare_jobs(const void *a, const void *b)
{
    const struct ticket_job *x = a, *y = b;
    if (x->submit_us != y->submit_us) return x->submit_us < y->submit_us ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

static double measure_qsort(uint32_t jobs, int runs)
{
    struct world w;
    struct samples s = {0};
    make_world(&w, jobs, jobs / JOBS_PER_USER, VARIED, 0);
    for (int run = 0; run < runs; run++) {
        for (uint32_t i = jobs; i-- > 1;) {
            uint32_t other = rng_below(&w.rng, i + 1);
            struct ticket_job swap = w.jobs[i];
            w.jobs[i] = w.jobs[other];
            w.jobs[other] = swap;
        }
        double start = now_ns();
        qsort(w.jobs, jobs, sizeof *w.jobs, compare_jobs);
        s.ns[s.count++] = now_ns() - start;
    }
    free_world(&w);
    return median(&s) / NS_PER_MS;
}

int main(int argc, char **argv)
{
    bool quick = argc > 1 && strcmp(argv[1], "--quick") == 0;
    printf(
        "Tickets of pending jobs, ms per pass (100000 jobs at most 300, ten times the jobs at most 15 times as long)\n");
    printf("%8s %8s %10s %10s %10s %10s %10s %10s %10s\n", "jobs", "users", "varied 200", "10000", "all", "tied 200",
           "10000", "same 10000", "qsort");
    for (uint32_t jobs = 10000; jobs <= (quick ? 10000u : 1000000u); jobs *= 10) {
        uint32_t users = jobs / JOBS_PER_USER;
        int runs = quick ? 1 : jobs > 100000 ? 3 : RUNS;
        printf("%8u %8u", jobs, users);
        printf(" %10.1f", measure(jobs, users, VARIED, 200, runs));
        printf(" %10.1f", measure(jobs, users, VARIED, 10000, runs));
        printf(" %10.1f", measure(jobs, users, VARIED, jobs, runs));
        printf(" %10.1f", measure(jobs, users, TIED, 200, runs));
        printf(" %10.1f", measure(jobs, users, TIED, 10000, runs));
        printf(" %10.1f", measure(jobs, 10000, VARIED, 10000, runs));
        printf(" %10.1f\n", measure_qsort(jobs, runs));
        fflush(stdout);
    }
    return 0;
}
