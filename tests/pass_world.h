/* Random worlds for the laws of the pass: partitions, QOS, resources, arrays, ranges of slots, begin times. */
#ifndef FAIRLEAD_TESTS_PASS_WORLD_H
#define FAIRLEAD_TESTS_PASS_WORLD_H

#include "unit/policy_world.h"

#include "base/rng.h"

static const char *const pass_users[] = {"ann", "bob", "cat", "dan"};

/* Some users also have an association for the jobs of one partition, which has a fair-share factor of its own. */
static inline void pass_world_add_associations(struct world *w, struct rng *rng)
{
    for (int i = 0; i < 4; i++) {
        struct event add = {.kind = EVENT_USER_ADD,
                            .user = {.name = pass_users[i], .shares = 1, .priority = PRIORITY_UNSET}};
        if (rng_below(rng, 2) == 0) continue;
        assert_int_equal(world_apply(w, add, NULL), 0);
        add.user.partition = rng_below(rng, 2) ? "heavy" : "main";
        assert_int_equal(world_apply(w, add, NULL), 0);
    }
}

static inline void pass_world_make(struct world *w, struct rng *rng)
{
    world_init(w, 6 + rng_below(rng, 6), 200, 2);
    world_settings(w, "PriorityWeightAge=1000 PriorityWeightPartition=300 PriorityWeightQOS=500 "
                      "PriorityWeightTRES=cpu=100 weight_tickets_functional=1000 weight_tickets_share=500");
    world_object(w, OBJECT_PARTITION, "fast", rng_below(rng, 2) ? "PriorityTier=2|MaxTime=30" : "MaxTime=30");
    world_object(w, OBJECT_PARTITION, "heavy", "PriorityJobFactor=7");
    world_object(w, OBJECT_QOS, "high", "priority=9");
    world_object(w, OBJECT_QOS, "picky", "usage_threshold=0.5|flags=EnforceUsageThreshold");
    world_object(w, OBJECT_RESOURCE, "license", "amount=7|urgency=50");
    world_object(w, OBJECT_RESOURCE, "tape", "amount=2|type=DOUBLE");
    for (int i = 0; i < 4; i++) {
        char fshare[32];
        snprintf(fshare, sizeof fshare, "fshare=%u", rng_below(rng, 100));
        world_object(w, OBJECT_USER_POLICY, pass_users[i], fshare);
    }
    pass_world_add_associations(w, rng);
}

/* More hosts, one in two of them larger than the first one, and environments whose jobs have several. */
static inline void pass_world_add_hosts(struct world *w, struct rng *rng)
{
    static const char *const names[] = {"n2", "n3", "n4"};
    uint32_t count = 1 + rng_below(rng, 3);
    for (uint32_t i = 0; i < count; i++) {
        const struct capacity has = {1 + rng_below(rng, 16), rng_below(rng, 2), 50 + rng_below(rng, 200)};
        world_object(w, OBJECT_HOST, names[i], rng_below(rng, 8) ? "" : "state=DRAIN");
        assert_int_equal(
            world_apply(w, (struct event){.kind = EVENT_HOST, .host = {.has = has, .name = names[i]}}, NULL), 0);
    }
    world_object(w, OBJECT_ENVIRONMENT, "fill", "allocation_rule=$fill_up");
    world_object(w, OBJECT_ENVIRONMENT, "round", "allocation_rule=$round_robin|slots=9");
    world_object(w, OBJECT_ENVIRONMENT, "pairs", "allocation_rule=2");
    world_object(w, OBJECT_PARTITION, "main", "pe_list=fill,round,pairs");
    world_object(w, OBJECT_PARTITION, "heavy", rng_below(rng, 2) ? "pe_list=fill|hosts=n2,localhost" : "pe_list=fill");
}

/* Submits a random job of a user. project: "" for none. */
static inline void pass_world_submit(struct world *w, struct rng *rng, const char *user, const char *project)
{
    static const char *const partitions[] = {"main", "fast,main", "heavy,main,fast", "heavy"};
    static const char *const requests[] = {"", "license=1", "license=2,tape=0.5", "tape=1"};
    static const char *const environments[] = {"fill", "round", "pairs"};
    static const char *const queues[] = {"main,heavy", "*@localhost", "heavy,fast@local*"};
    static const char *const qos[] = {"normal", "high", "picky"};
    struct event job = world_job(user);
    uint32_t cpus = 1 + rng_below(rng, 3), gpus = rng_below(rng, 4) == 0, mem_mib = 1 + rng_below(rng, 60);
    bool has_each = rng_below(rng, 4) == 0;
    struct job_values values = *job.submit;
    values.is_given[JOB_FIELD_MEM_MIB] = false;
    job.submit = &values;
    job.submit = job_with(job.submit, "cpus=%u|time_limit_s=%u", cpus, 60 * (1 + rng_below(rng, 40)));
    job.submit = has_each ? job_with(job.submit, "gpus_per_slot=%u|mem_per_cpu_mib=%u", gpus, 1 + mem_mib / 2)
                          : job_with(job.submit, "gpus=%u|mem_mib=%u", gpus, mem_mib);
    if (rng_below(rng, 3) == 0) job.submit = job_with(job.submit, "array=0-5%%3");
    if (rng_below(rng, 8) == 0) job.submit = job_with(job.submit, "held=yes");
    job.submit = job_with(job.submit, "partitions=%s", partitions[rng_below(rng, 4)]);
    job.submit = job_with(job.submit, "requests=%s", requests[rng_below(rng, 4)]);
    job.submit = job_with(job.submit, "qos=%s|project=%s", qos[rng_below(rng, 3)], project);
    job.submit = job_with(job.submit, "nice=%u", rng_below(rng, 200));
    if (w->s.hosts.count > 1 && rng_below(rng, 2) == 0)
        job.submit = job_with(job.submit, "pe=%s|cpus=%u|slots_max=%u", environments[rng_below(rng, 3)], 2 * cpus,
                              rng_below(rng, 2) ? 2 * cpus + 3 : 0);
    if (rng_below(rng, 4) == 0) job.submit = job_with(job.submit, "queues=%s", queues[rng_below(rng, 3)]);
    if (rng_below(rng, 6) == 0) job.submit = job_with(job.submit, "master_queues=main,heavy");
    if (rng_below(rng, 6) == 0) job.submit = job_with(job.submit, "nodes=1-2");
    if (rng_below(rng, 8) == 0) job.submit = job_with(job.submit, "nodes=1|slots_per_node=%u", cpus);
    if (rng_below(rng, 4) == 0) job.submit = job_with(job.submit, "soft=tape=1|soft_queues=heavy");
    if (rng_below(rng, 3) == 0) job.submit = job_with(job.submit, "slots_max=%u", cpus + rng_below(rng, 3));
    if (rng_below(rng, 3) == 0) job.submit = job_with(job.submit, "reserve=true");
    if (rng_below(rng, 6) == 0)
        job.submit = job_with(job.submit, "begin_us=%lld", (long long)(w->now_us + rng_below(rng, 100) * SECOND));
    uint32_t id;
    if (world_apply(w, job, &id) != 0) /* above MaxTime of fast, it can never run, or the project was removed */
        assert_true(w->e.code == ERR_TOO_LARGE || w->e.code == ERR_INPUT || w->e.code == ERR_NOT_FOUND);
}

/* Random calendars of two partitions, as reported now: some closed now, some touching, some endless. */
static inline void pass_world_report_calendars(struct world *w, struct rng *rng)
{
    static const char *const names[] = {"day", "night"};
    struct closed_time times[2][8];
    struct event_calendar calendars[2];
    uint32_t count = rng_below(rng, 8) == 0 ? 1 : 2; /* a calendar that is not reported closes nothing */
    for (uint32_t i = 0; i < count; i++) {
        int64_t at_us = w->now_us + ((int64_t)rng_below(rng, 1200) - 900) * SECOND;
        calendars[i] = (struct event_calendar){names[i], times[i], rng_below(rng, 8)};
        for (uint32_t k = 0; k < calendars[i].count; k++) {
            times[i][k].from_us = at_us;
            times[i][k].until_us = at_us + (1 + (int64_t)rng_below(rng, 1500)) * SECOND;
            at_us = times[i][k].until_us + (int64_t)rng_below(rng, 4) * 900 * SECOND;
        }
        if (calendars[i].count > 0 && rng_below(rng, 3) == 0) times[i][calendars[i].count - 1].until_us = INT64_MAX;
    }
    const struct event event = {.kind = EVENT_CALENDARS, .calendars = {calendars, count}};
    assert_int_equal(world_apply(w, event, NULL), 0);
}

static inline void pass_world_add_calendars(struct world *w, struct rng *rng)
{
    world_object(w, OBJECT_CALENDAR, "day", "week=20-6");
    world_object(w, OBJECT_CALENDAR, "night", "year=24.12.|week=mon-fri=6-20");
    world_object(w, OBJECT_PARTITION, "main", "calendar=day");
    world_object(w, OBJECT_PARTITION, "heavy", rng_below(rng, 2) ? "calendar=night" : "calendar=NONE");
    pass_world_report_calendars(w, rng);
}

/* Random quotas: of users, projects, departments, queues, environments and hosts. has_hosts: whether there are the
 * environments of pass_world_add_hosts. */
static inline void pass_world_set_quotas(struct world *w, struct rng *rng, bool has_hosts)
{
    static const char *const names[] = {"first", "second", "third"};
    static const char *const rules[] = {
        "rules=limit users ann to slots=2; limit users {*} to slots=5,license=3",
        "rules=limit users {@chem,!dan} to slots=4; limit users bob,dan to slots=3",
        "rules=limit queues {*} hosts {*} to slots=$num_proc*0.5+3",
        "rules=limit hosts {*} to slots=4,tape=1",
        "rules=limit users {*} queues main to slots=3; limit queues heavy,fast to license=2",
        "rules=limit users !ann hosts local* to slots=3; limit hosts !localhost to slots=7",
        "rules=limit pes !* to slots=5; limit pes {*} to slots=8",
        "rules=limit pes {fill,pairs} hosts {*} to slots=5; limit users * pes round to slots=8",
        "rules=NONE",
    };
    if (state_find_object(&w->s, OBJECT_DEPARTMENT, "chem") == NONE) {
        world_object(w, OBJECT_DEPARTMENT, "chem", "fshare=1");
        world_object(w, OBJECT_USER_POLICY, "cat", "department=chem");
        world_object(w, OBJECT_USER_POLICY, "dan", "department=chem");
    }
    for (uint32_t i = 0, count = 1 + rng_below(rng, 3); i < count; i++)
        world_object(w, OBJECT_QUOTA, names[i], rules[rng_below(rng, has_hosts ? 9 : 7)]);
    if (rng_below(rng, 4) == 0)
        world_object(w, OBJECT_QUOTA, "first", rng_below(rng, 2) ? "enabled=no" : "enabled=yes");
}

/* Limits of running tasks of a user and of an array. */
static inline void pass_world_set_job_limits(struct world *w, struct rng *rng)
{
    static const char *const numbers[] = {"0", "1", "2", "3", "5"};
    world_set(w, "maxujobs", numbers[rng_below(rng, 5)]);
    world_set(w, "max_aj_instances", numbers[rng_below(rng, 5)]);
}

/* Started tasks run, and about half of all tasks end. */
static inline void pass_world_end_some(struct world *w, struct rng *rng)
{
    for (uint32_t i = 0; i < w->s.tasks.count; i++) {
        const struct task *k = &w->s.tasks.items[i];
        if (job_state_is_end(k->state)) continue;
        if (k->start_us == 0) world_started(w, k->launch_id);
        if (rng_below(rng, 2) == 0) world_ended(w, k->launch_id, JOB_COMPLETED, k->start_us);
    }
}

#endif
