/* Laws of the engine and the store together, on thousands of random events.
 *
 *   1. After every commit, a state rebuilt from the database has the same hash as the state in memory, and the same
 *      derived members.
 *   2. A refused event changes neither the state nor the outcome.
 *   3. A restart at any time changes nothing: the rebuilt state replaces the other one in the middle of a history, and
 *      all laws still hold.
 *   4. The usages of associations, QOS and owners always agree with the records (store_verify), also after resets.
 *   5. The pass does not depend on a restart: at the same time the rebuilt state starts the same tasks, and none if no
 *      pass is due.
 *   6. With INCR_ONLY, a restart after a pass keeps the priority of every waiting job.
 *   7. Every field of every job and task has the same value in memory, in the database, in the rebuilt state and in a
 *      listing, also the fields that no decision depends on, which law 1 does not cover. (test_job_rows.c has random
 *      values for each.)
 *   8. The document of the state has the same answers (test_dump_laws.c).
 *   9. The sums of usage that are kept for limits are those of all rows and running tasks.
 *  10. When all times are shifted with the clock, every usage is the same, and agrees with the records; the shift back
 *      gives the same state again.
 *  11. The usages agree with the records also while ended jobs are removed from the history, by plans that are made
 *      earlier than they are carried out.
 *  12. What the store knows of a requeue that was broken off is enough to finish it, whatever happened since, unless
 *      the rest of it is refused. Until then the row of each live array has what the store says.
 *
 * The histories are extreme on purpose: clocks that jump by thousands of half-lives, half-lives from none to years,
 * records that arrive late, twice or for unknown launches, associations that are deleted and added again, arrays that
 * are cancelled in pieces. */
#include <math.h>

#include "../dies.h"
#include "../unit/store_world.h"
#include "engine/dependencies.h"
#include "engine/min_priority.h"
#include "engine/priorities.h"
#include "engine/requeue_ended.h"
#include "engine/task_text.h"
#include "engine/usage_sums.h"

#include "../dump_checks.h"
#include "../job_rows.h"
#include "base/rng.h"

#define SECOND INT64_C(1000000)

struct history {
    struct rng rng;
    char directory[STORE_PATH_SIZE];
    struct store *store;
    struct state s;
    struct outcome out;
    int64_t now_us;
    int64_t event_us; /* of the last event: no later time was charged */
    uint32_t accepted, refused, commits, facts;
    uint32_t revived;           /* jobs that had ended and were requeued */
    uint32_t unfinished_slices; /* events that were one slice of an array, and not the last */
    uint32_t resumed;           /* requeues that were broken off, of which a part was done later */
    uint32_t limited;           /* number of associations with limits, over all commits */
    uint32_t of_partition;      /* number of live tasks whose association is of one partition, over all commits */
    uint32_t left_behind;       /* of live tasks of another association than that of their partition now, likewise */
    uint32_t passes;            /* number of passes compared */
    uint32_t documents;         /* likewise of documents */
    bool has_min_priorities;    /* the settings let minimum priorities bind */
    uint32_t min_priorities;    /* number of priorities compared that a minimum determines */
    uint32_t conversions;       /* number of conversions that rows lacked, over all commits */
    uint32_t shifts;            /* number of shifts of all times */
    struct prune_plan plan;     /* of a prune that is under way */
    bool prunes;
    uint32_t next_piece, pruned_jobs, pruned_tasks, stale_plans;
    uint32_t verified; /* number of associations with usage above 1, over all verifications */
    uint32_t owners;   /* likewise of usage owners */
    uint32_t sums;     /* number of kept sums above 0 that were compared */
    uint32_t kinds[EVENT_TIME + 1];
    char text[12][64]; /* of the event that is being built */
    char dependency[400];
    struct job_values job;
    struct event_pair pairs[4];
    struct job_ref refs[4];
    struct event rest; /* of an array that an event has changed in part; jobs.refs NULL: none */
    struct job_ref rest_ref;
    struct jobs_report report;
    struct arena report_arena;
    uint64_t launches[8];
    struct event_host reports[2];
    struct host_load loads[8]; /* of the last report */
    uint32_t load_count;
    struct event_calendar calendars[3]; /* likewise */
    struct closed_time closed[3][2];
    uint32_t calendar_count;
};

static const struct capacity host_capacity = {6, 2, 4096};

static uint32_t below(struct history *h, uint32_t n)
{
    return rng_below(&h->rng, n);
}

static bool one_in(struct history *h, uint32_t n)
{
    return below(h, n) == 0;
}

/* One of a few names, so that they occur again. */
static const char *pick_name(struct history *h, int slot, const char *stem, uint32_t count)
{
    snprintf(h->text[slot], sizeof h->text[slot], "%s%u", stem, below(h, count));
    return one_in(h, 60) ? "no such" : h->text[slot];
}

static const char *pick_account(struct history *h, int slot)
{
    return one_in(h, 12) ? "root" : pick_name(h, slot, "acct", 7);
}

static struct actor pick_actor(struct history *h)
{
    snprintf(h->text[9], sizeof h->text[9], "user%u", below(h, 6));
    return (struct actor){1000, 1000, h->text[9], one_in(h, 3) ? ROLE_USER : ROLE_ADMINISTRATOR};
}

static uint32_t pick_shares(struct history *h)
{
    static const uint32_t choices[] = {SHARES_UNSET, 0, 1, 5, 100, SHARES_MAX, SHARES_PARENT, SHARES_PARENT + 1};
    return choices[below(h, COUNT(choices))];
}

static uint32_t pick_priority(struct history *h)
{
    return one_in(h, 2) ? PRIORITY_UNSET : one_in(h, 4) ? NONE : below(h, 100);
}

/* Limits of associations, in h->pairs. Returns their number. */
static uint32_t pick_limits(struct history *h)
{
    static const struct event_pair choices[] = {
        {"GrpJobs", "30"},
        {"GrpJobs", "-1"},
        {"GrpSubmitJobs", "900"},
        {"GrpWall", "90000"},
        {"GrpWall", "INFINITE"},
        {"GrpTRES", "cpu=60,mem=9G"},
        {"GrpTRES", "cpu=-1,gres/gpu=50"},
        {"GrpTRES", "-1"},
        {"GrpTRES", "license/none=1"},
        {"GrpTRESMins", "cpu=900000"},
        {"GrpTRESRunMins", "cpu=900000,billing=9999999"},
        {"MaxJobs", "20"},
        {"MaxSubmit", "800"},
        {"MaxWall", "10-0"},
        {"MaxTRESPJ", "cpu=100"},
        {"MaxTRES", ""},
        {"MaxTRESPerNode", "cpu=100"},
        {"MaxTRESMins", "cpu=1000000"},
        {"MaxJobs", "-2"},
        {"QosLevel", "normal,qos0"},
        {"QosLevel", "normal"},
        {"QosLevel", ""},
        {"QosLevel+", "qos1"},
        {"QosLevel-", "qos1"},
        {"DefaultQOS", "qos0"},
        {"DefaultQOS", ""},
        {"NoSuch", "1"},
    };
    uint32_t count = one_in(h, 2) ? 0 : below(h, COUNT(h->pairs));
    for (uint32_t i = 0; i < count; i++) h->pairs[i] = choices[below(h, COUNT(choices))];
    return count;
}

static void make_account(struct history *h, struct event *event)
{
    uint32_t count = event->kind == EVENT_ACCOUNT_DELETE ? 0 : pick_limits(h);
    event->account = (struct event_account){pick_account(h, 0),
                                            one_in(h, 3) ? NULL : pick_account(h, 1),
                                            pick_shares(h),
                                            pick_priority(h),
                                            event->kind == EVENT_ACCOUNT_MODIFY && one_in(h, 3),
                                            h->pairs,
                                            count};
    if (event->kind == EVENT_ACCOUNT_MODIFY && one_in(h, 2)) event->account.parent = NULL;
}

/* Names that jobs request, too. */
static const char *pick_object(struct history *h, int slot, enum object_kind kind)
{
    if (one_in(h, 5) && kind == OBJECT_PARTITION) return "main";
    if (one_in(h, 3) && kind == OBJECT_QOS) return "normal";
    return pick_name(h, slot, object_classes[kind].name, 3);
}

/* Names the user, the account and the partition of a started task, if there is one. */
static void name_as_task(struct history *h, struct event_user *user)
{
    if (h->s.tasks.count == 0) return;
    const struct task *k = &h->s.tasks.items[below(h, h->s.tasks.count)];
    user->name = h->s.assocs.items[k->assoc].user;
    user->account = h->s.assocs.items[k->assoc].account;
    user->partition = h->s.objects[OBJECT_PARTITION].items[k->partition].object.name;
}

static void make_user(struct history *h, struct event *event)
{
    uint32_t count = event->kind == EVENT_USER_DELETE ? 0 : pick_limits(h);
    event->user = (struct event_user){.name = pick_name(h, 0, "user", 6),
                                      .account = one_in(h, 4) ? NULL : pick_account(h, 1),
                                      .shares = pick_shares(h),
                                      .make_default = one_in(h, 3),
                                      .priority = pick_priority(h),
                                      .resets_usage = event->kind == EVENT_USER_MODIFY && one_in(h, 3),
                                      .pairs = h->pairs,
                                      .count = count,
                                      .partition = one_in(h, 3) ? pick_object(h, 2, OBJECT_PARTITION) : NULL};
    if (event->kind == EVENT_USER_ADD && one_in(h, 6)) name_as_task(h, &event->user);
}

static void make_setting(struct history *h, struct event *event)
{
    static const struct event_pair choices[] = {
        {"halflife_s", "0"},
        {"halflife_s", "1"},
        {"halflife_s", "3600"},
        {"halflife_s", "604800"},
        {"halflife_s", "31536000"},
        {"ties", "merge"},
        {"ties", "slurm"},
        {"default_cpus", "2"},
        {"default_mem_mib", "1G"},
        {"default_time_s", "1-0"},
        {"host_cpus", "3"},
        {"host_cpus", "auto"},
        {"host_mem_mib", "2000"},
        {"host_gpus", "1"},
        {"max_array_tasks", "5"},
        {"max_array_tasks", "1000"},
        {"max_jobs", "40"},
        {"halflife_s", "-3"},
        {"nothing", "1"},
        {"ties", "maybe"},
        {"PriorityType", "priority/multifactor"},
        {"PriorityType", "priority/tickets"},
        {"PriorityType", "priority/basic"},
        {"PriorityFlags", "NO_FAIR_TREE,MAX_TRES,INCR_ONLY"},
        {"PriorityFlags", "DEPTH_OBLIVIOUS,ACCRUE_ALWAYS"},
        {"PriorityFlags", ""},
        {"PriorityWeightTRES", "cpu=100,mem=-0.5G"},
        {"PriorityWeightTRES", "license/matlab=10"},
        {"PriorityWeightAge", "1000"},
        {"AccountingStorageTRES", "license/res1"},
        {"AccountingStorageTRES", "gres/gpu:a,license/matlab"},
        {"AccountingStorageTRES", "rubbish"},
        {"halftime", "0"},
        {"halftime", "1"},
        {"halftime", "2000"},
        {"halflife_decay_list", "cpu=1:mem=-1:finished_jobs=0"},
        {"halflife_decay_list", "none"},
        {"SHARETREE_RESERVED_USAGE", "true"},
        {"SHARETREE_RESERVED_USAGE", "false"},
        {"ACCT_RESERVED_USAGE", "true"},
        {"ACCT_RESERVED_USAGE", "false"},
        {"halftime_rule", "exact"},
        {"halftime_rule", "program"},
        {"enforce_user", "auto"},
        {"enforce_user", "auto"},
        {"enforce_user", "none"},
        {"AccountingStorageEnforce", "none"},
        {"AccountingStorageEnforce", "associations"},
        {"AccountingStorageEnforce", "all"},
        {"EnforcePartLimits", "ALL"},
        {"EnforcePartLimits", "NO"},
        {"EnforcePartLimits", "ANY"},
        {"enforce_user", "true"},
        {"weight_tickets_share", "100000"},
        {"weight_tickets_functional", "1000"},
        {"policy_hierarchy", "SOS"},
        {"policy_hierarchy", "NONE"},
        {"kill_invalid_depend", "true"},
        {"kill_invalid_depend", "false"},
        {"requeue_delay_s", "0"},
        {"requeue_delay_s", "120"},
        {"JobRequeue", "1"},
        {"JobRequeue", "0"},
        {"PriorityUsageResetPeriod", "NOW"},
        {"PriorityUsageResetPeriod", "DAILY"},
        {"PriorityUsageResetPeriod", "NONE"},
    };
    static const struct event_pair min_priority_settings[] = {
        {"PriorityFlags", "INCR_ONLY"},
        {"PriorityFlags", "INCR_ONLY,NO_NORMAL_PART"},
        {"PriorityFlags", ""},
        {"PriorityType", "priority/multifactor"},
        {"PriorityWeightAge", "0"},
        {"PriorityWeightAge", "1000000"},
        {"PriorityWeightFairshare", "0"},
        {"PriorityWeightFairshare", "100000"},
        {"PriorityWeightPartition", "0"},
        {"PriorityWeightPartition", "1000"},
    };
    uint32_t count = one_in(h, 4) ? 2 : 1;
    bool is_incr_only = h->has_min_priorities && !one_in(h, 8);
    for (uint32_t i = 0; i < count; i++)
        h->pairs[i] = is_incr_only ? min_priority_settings[below(h, COUNT(min_priority_settings))]
                                   : choices[below(h, COUNT(choices))];
    event->settings = (struct event_settings){h->pairs, count};
}

static void make_object(struct history *h, struct event *event)
{
    static const struct event_pair choices[OBJECT_KIND_COUNT][28] = {
        [OBJECT_PARTITION] = {{"TRESBillingWeights", "CPU=1.0,Mem=0.25G,GRES/gpu=2.0"},
                              {"TRESBillingWeights", "CPU=-1,node=3,license/res1=0.5"},
                              {"TRESBillingWeights", ""},
                              {"MaxTime", "100"},
                              {"MaxTime", "UNLIMITED"},
                              {"DefaultTime", "20"},
                              {"MaxNodes", "1"},
                              {"MaxNodes", "UNLIMITED"},
                              {"MaxMemPerNode", "3G"},
                              {"DefMemPerCPU", "5"},
                              {"DenyQos", "qos1"},
                              {"DenyAccounts", "NONE"},
                              {"state", "DRAIN"},
                              {"state", "UP"},
                              {"PriorityTier", "2"},
                              {"load_thresholds", "np_load_avg=0.5"},
                              {"load_thresholds", "NONE"},
                              {"xuser_lists", "eve,@department0"},
                              {"xuser_lists", "NONE"},
                              {"calendar", "calendar0"},
                              {"calendar", "NONE"},
                              {"QOS", "qos0"},
                              {"QOS", "normal"},
                              {"QOS", "qos1"},
                              {"QOS", ""},
                              {"PriorityJobFactor", "70000"}},
        [OBJECT_QOS] = {{"usage_factor", "2.5"},
                        {"usage_factor", "0"},
                        {"usage_factor", "1"},
                        {"usage_factor", "0.5"},
                        {"flags", "NoDecay"},
                        {"flags", ""},
                        {"flags", "Deny"},
                        {"priority", "7"},
                        {"flags", "EnforceUsageThreshold"},
                        {"usage_threshold", "0.3"},
                        {"RawUsage", "0"},
                        {"GrpTRES", "cpu=90,mem=90G"},
                        {"GrpTRES", "cpu=-1"},
                        {"MaxTRESPU", "cpu=90,mem=50G"},
                        {"MaxTRESPerUser", "UNLIMITED"},
                        {"MaxJobsPU", "90"},
                        {"MaxWall", "30-0"},
                        {"MinTRES", "cpu=1,gres/gpu=0"},
                        {"RawUsage", "5"}},
        [OBJECT_USER_POLICY] = {{"department", "department0"},
                                {"department", "defaultdepartment"},
                                {"deadline", "yes"},
                                {"deadline", "no"},
                                {"fshare", "100"},
                                {"oticket", "-1"}},
        [OBJECT_PROJECT] = {{"fshare", "5"}, {"oticket", "6"}, {"nothing", "1"}, {"RawUsage", "0"}},
        [OBJECT_DEPARTMENT] = {{"fshare", "5"}, {"oticket", "6"}},
        [OBJECT_HOST] = {{"state", "DRAIN"}, {"state", "UP"}, {"cpus", "1"}, {"cpus", "AUTO"}, {"mem", "500"}},
        [OBJECT_ENVIRONMENT] = {{"allocation_rule", "2"}, {"slots", "4"}},
        [OBJECT_CALENDAR] = {{"year", "24.12.-6.1."}, {"week", "mon-fri=6-20"}, {"week", "NONE"}, {"week", "x"}},
        [OBJECT_QUOTA] = {{"rules", "limit users {*} to slots=2"},
                          {"rules", "limit users @department0 to slots=3;limit projects {project1} to slots=1"},
                          {"rules",
                           "limit hosts {*} to slots=$num_proc,resource0=1\nlimit queues partition0 to slots=1"},
                          {"rules", "NONE"},
                          {"rules", "limit"},
                          {"enabled", "no"},
                          {"enabled", "yes"}},
        [OBJECT_RESOURCE] = {{"type", "INT"},
                             {"type", "STRING"},
                             {"type", "BOOL"},
                             {"urgency", "-1.5"},
                             {"amount", "3"},
                             {"amount", "UNLIMITED"}},
    };
    enum object_kind kind = (enum object_kind)below(h, OBJECT_KIND_COUNT);
    uint32_t count = below(h, 3), choice_count = 0;
    while (choice_count < COUNT(choices[kind]) && choices[kind][choice_count].key != NULL) choice_count++;
    if (choice_count == 0) count = 0;
    for (uint32_t i = 0; i < count; i++) h->pairs[i] = choices[kind][below(h, choice_count)];
    event->object = (struct event_object){kind, pick_object(h, 0, kind), h->pairs, count};
}

static void give(struct job_values *v, enum job_field f, struct field_value value)
{
    v->value[f] = value;
    v->is_given[f] = true;
}

static void give_number(struct job_values *v, enum job_field f, int64_t number)
{
    give(v, f, field_number(number));
}

static void give_text(struct job_values *v, enum job_field f, const char *text)
{
    give(v, f, field_text(text));
}

static int64_t pick_time(struct history *h)
{
    return h->now_us + (int64_t)below(h, 2000) * SECOND - 500 * SECOND;
}

static uint32_t pick_job_id(struct history *h)
{
    if (one_in(h, 12)) return 1 + below(h, h->s.next_job_id + 1);
    return h->s.jobs.count > 0 ? h->s.jobs.items[below(h, h->s.jobs.count)].id : 1;
}

/* A few conditions about jobs that live, have ended or do not exist, by id, task or name. */
static const char *pick_dependency(struct history *h)
{
    static const char *const types[] = {"after",     "afterok",      "afternotok", "afterany",
                                        "aftercorr", "aftercorrany", "hold_jid",   "hold_jid_ad"};
    uint32_t count = 1 + below(h, 3), length = 0;
    const char *separator = one_in(h, 3) ? "?" : ",";
    h->dependency[0] = '\0';
    if (one_in(h, 12)) return "";
    for (uint32_t i = 0; i < count; i++) {
        char *out = h->dependency + length;
        size_t size = sizeof h->dependency - length;
        const char *before = i > 0 ? separator : "", *type = types[below(h, one_in(h, 2) ? 4 : COUNT(types))];
        if (one_in(h, 6))
            snprintf(out, size, "%ssingleton", before);
        else if (one_in(h, 6))
            snprintf(out, size, "%s%s:job \xc3\xbc %u", before, type, below(h, 3));
        else if (one_in(h, 5))
            snprintf(out, size, "%s%s:%u_%u", before, type, pick_job_id(h), below(h, 10));
        else if (one_in(h, 5))
            snprintf(out, size, "%safter:%u+%u", before, pick_job_id(h), below(h, 4));
        else
            snprintf(out, size, "%s%s:%u", before, type, pick_job_id(h));
        length += (uint32_t)strlen(out);
    }
    return h->dependency;
}

/* Random fields of a submission; most fields are not given. */
static struct job_values make_terms(struct history *h)
{
    struct job_values v = {0};
    if (one_in(h, 4)) give_text(&v, JOB_FIELD_PARTITIONS, pick_object(h, 2, OBJECT_PARTITION));
    if (one_in(h, 9)) give_text(&v, JOB_FIELD_PARTITIONS, "partition0,main");
    if (one_in(h, 3)) give_text(&v, JOB_FIELD_QOS, pick_object(h, 3, OBJECT_QOS));
    if (one_in(h, 4)) give_text(&v, JOB_FIELD_PROJECT, one_in(h, 6) ? "" : pick_object(h, 4, OBJECT_PROJECT));
    if (one_in(h, 8)) give_text(&v, JOB_FIELD_REQUESTS, one_in(h, 2) ? "resource0=1" : "resource1=2,resource2=true");
    if (one_in(h, 9)) give_text(&v, JOB_FIELD_SOFT, one_in(h, 2) ? "" : "resource0=1,resource1=3");
    if (one_in(h, 12)) give_text(&v, JOB_FIELD_NODES, one_in(h, 2) ? "1-3" : "2");
    if (one_in(h, 12)) give_number(&v, JOB_FIELD_SLOTS_PER_NODE, below(h, 3));
    if (one_in(h, 6)) give_number(&v, JOB_FIELD_EXCLUSIVE, below(h, 2));
    if (one_in(h, 3)) give_number(&v, JOB_FIELD_TIME_MIN, below(h, 600));
    if (one_in(h, 10)) give_number(&v, JOB_FIELD_IMMEDIATE, below(h, 4));
    if (one_in(h, 12)) give_number(&v, JOB_FIELD_MEM_PER_CPU, below(h, 900));
    if (one_in(h, 12)) give_number(&v, JOB_FIELD_GPUS_PER_SLOT, below(h, 2));
    if (one_in(h, 12)) give_text(&v, JOB_FIELD_CONSTRAINT, one_in(h, 2) ? "" : "avx|ssd");
    if (one_in(h, 9)) give_text(&v, JOB_FIELD_QUEUES, one_in(h, 2) ? "main" : "partition*@localhost");
    if (one_in(h, 12)) give_text(&v, JOB_FIELD_MASTER_QUEUES, one_in(h, 2) ? "" : "main@*");
    if (one_in(h, 12)) give_text(&v, JOB_FIELD_SOFT_QUEUES, one_in(h, 2) ? "" : "partition0");
    if (one_in(h, 4)) give_number(&v, JOB_FIELD_NICE, (int64_t)below(h, 20) - 3);
    if (one_in(h, 9)) give_number(&v, JOB_FIELD_SITE, 5);
    if (one_in(h, 4)) give_number(&v, JOB_FIELD_POSIX_PRIORITY, (int64_t)below(h, 40) - 30);
    if (one_in(h, 4)) give_number(&v, JOB_FIELD_JOB_SHARE, below(h, 4));
    if (one_in(h, 9)) give_number(&v, JOB_FIELD_OVERRIDE_TICKETS, below(h, 4));
    if (one_in(h, 12)) give_number(&v, JOB_FIELD_SET_PRIORITY, one_in(h, 20) ? 0 : 1 + below(h, 3)); /* 0 is refused */
    if (one_in(h, 9)) give_number(&v, JOB_FIELD_BEGIN, pick_time(h));
    if (one_in(h, 9)) give_number(&v, JOB_FIELD_DEADLINE, pick_time(h));
    if (one_in(h, 9)) give_number(&v, JOB_FIELD_SLOTS_MAX, below(h, 8));
    if (one_in(h, 9)) give_text(&v, JOB_FIELD_COMMENT, pick_name(h, 5, "comment ", 100));
    if (one_in(h, 8)) give_number(&v, JOB_FIELD_REQUEUE, one_in(h, 2));
    if (one_in(h, 8)) give_text(&v, JOB_FIELD_RETRY, one_in(h, 3) ? "2" : "3:exit=1-9:backoff=20s");
    if (one_in(h, 8)) give_text(&v, JOB_FIELD_REQUEUE_EXIT, one_in(h, 3) ? "2" : "1-2,99");
    if (one_in(h, 8)) give_number(&v, JOB_FIELD_MAX_REQUEUE, below(h, 3));
    if (one_in(h, 3)) give_text(&v, JOB_FIELD_DEPENDENCY, pick_dependency(h));
    if (one_in(h, 9)) give_text(&v, JOB_FIELD_ADMIN_COMMENT, pick_name(h, 6, "of the operator ", 100));
    return v;
}

/* Random fields of an update: less often those that cannot change after the start, and some without a value. */
static struct job_values make_changed_terms(struct history *h)
{
    static const enum job_field until_started[] = {
        JOB_FIELD_PARTITIONS,   JOB_FIELD_QOS,   JOB_FIELD_PROJECT,        JOB_FIELD_REQUESTS,
        JOB_FIELD_SLOTS_MAX,    JOB_FIELD_SOFT,  JOB_FIELD_QUEUES,         JOB_FIELD_MASTER_QUEUES,
        JOB_FIELD_SOFT_QUEUES,  JOB_FIELD_NODES, JOB_FIELD_SLOTS_PER_NODE, JOB_FIELD_MEM_PER_CPU,
        JOB_FIELD_GPUS_PER_SLOT};
    struct job_values v = make_terms(h);
    if (one_in(h, 2)) return (struct job_values){0};
    if (v.is_given[JOB_FIELD_SET_PRIORITY] && one_in(h, 2)) give_number(&v, JOB_FIELD_SET_PRIORITY, FIELD_SPECIAL);
    if (one_in(h, 9)) give_number(&v, JOB_FIELD_BEGIN, FIELD_SPECIAL);
    if (one_in(h, 9)) give_number(&v, JOB_FIELD_DEADLINE, FIELD_SPECIAL);
    if (one_in(h, 2)) {
        for (size_t i = 0; i < COUNT(until_started); i++) v.is_given[until_started[i]] = false;
    }
    return v;
}

static void make_submit(struct history *h, struct event *event)
{
    static const char *const arrays[] = {"0-9", "1-20:3", "0-99%2", "5", "0-999", "7,3,100-110%4", "9-1", "x"};
    static const char *const loads[] = {"mem_free=2G", "arch=a", "mem_free=1G,arch=b", "load_avg=2", "arch=b,h_rt=5"};
    struct job_values *v = &h->job;
    *v = one_in(h, 2) ? (struct job_values){0} : make_terms(h);
    if (!one_in(h, 2)) give_text(v, JOB_FIELD_ACCOUNT, pick_account(h, 1));
    give_text(v, JOB_FIELD_NAME, one_in(h, 40) ? "" : pick_name(h, 0, "job \xc3\xbc ", 3));
    give_text(v, JOB_FIELD_DIRECTORY, one_in(h, 40) ? "here" : "/tmp/some where");
    give_text(v, JOB_FIELD_COMMAND, "sleep 1");
    if (one_in(h, 3)) give_text(v, JOB_FIELD_OUT_PATTERN, "%x-%j.out");
    if (one_in(h, 3)) give_text(v, JOB_FIELD_ERR_PATTERN, "err");
    uint32_t cpus = below(h, 5), mem_mib = one_in(h, 2) ? below(h, 3000) : 0;
    if (cpus != 0) give_number(v, JOB_FIELD_CPUS, cpus);
    if (mem_mib != 0) give_number(v, JOB_FIELD_MEM_MIB, mem_mib);
    if (one_in(h, 4)) give_number(v, JOB_FIELD_GPUS, 1);
    if (one_in(h, 2)) give_number(v, JOB_FIELD_TIME_LIMIT, below(h, 10000));
    if (one_in(h, 3)) give_text(v, JOB_FIELD_ARRAY, arrays[below(h, COUNT(arrays))]);
    if (one_in(h, 8)) give_number(v, JOB_FIELD_HELD, true);
    if (one_in(h, 8)) give_text(v, JOB_FIELD_REQUESTS, loads[below(h, COUNT(loads))]);
    event->submit = v;
    event->input_bytes = one_in(h, 20) ? 1 << 20 : below(h, 5000);
}

/* Mostly a live job, sometimes one task of it. */
static struct job_ref pick_ref(struct history *h)
{
    struct job_ref ref = {below(h, h->s.next_job_id + 1), NONE};
    if (h->s.jobs.count > 0 && !one_in(h, 15)) {
        const struct job *j = &h->s.jobs.items[below(h, h->s.jobs.count)];
        ref.job_id = j->id;
        if (one_in(h, 2) && j->is_array) ref.task_id = below(h, 12);
    }
    return ref;
}

static void make_jobs(struct history *h, struct event *event)
{
    uint32_t count = 1 + (one_in(h, 3) ? below(h, 3) : 0);
    for (uint32_t i = 0; i < count; i++) {
        h->refs[i] = pick_ref(h);
        bool is_of_job = event->kind == EVENT_HOLD || event->kind == EVENT_RELEASE ? one_in(h, 2) : !one_in(h, 10);
        if (event->kind != EVENT_CANCEL && is_of_job) h->refs[i].task_id = NONE;
    }
    event->jobs = (struct event_jobs){h->refs, count, one_in(h, 25), one_in(h, 4), .is_dry_run = one_in(h, 20)};
    if (!one_in(h, 3)) return;
    arena_clear(&h->report_arena);
    h->report = (struct jobs_report){.arena = &h->report_arena};
    event->jobs.report = &h->report;
    event->jobs.all |= one_in(h, 20);
    event->jobs.selection.is_of_pending = one_in(h, 4);
    event->jobs.selection.is_of_live = !event->jobs.selection.is_of_pending && one_in(h, 4);
    event->jobs.selection.partition = one_in(h, 4) ? "main" : NULL;
}

static const struct task *pick_task(struct history *h)
{
    for (int tries = 0; tries < 8 && h->s.tasks.count > 0; tries++) {
        const struct task *k = &h->s.tasks.items[below(h, h->s.tasks.count)];
        if (!job_state_is_end(k->state)) return k;
    }
    return NULL;
}

/* Mostly jobs that have ended, long ago or lately, with single tasks of arrays. */
static void pick_ended(struct history *h, struct event *event)
{
    event->jobs.all = false;
    for (uint32_t i = 0; i < event->jobs.count; i++)
        h->refs[i] = (struct job_ref){1 + below(h, h->s.next_job_id), one_in(h, 2) ? NONE : below(h, 12)};
}

/* Mostly one that runs or has ended, because what is pending is refused. */
static void make_requeue(struct history *h, struct event *event)
{
    make_jobs(h, event);
    if (one_in(h, 2)) {
        pick_ended(h, event);
        return;
    }
    const struct task *k = pick_task(h);
    if (k == NULL) return;
    const struct job *j = &h->s.jobs.items[state_find_job(&h->s, k->job_id)];
    h->refs[0] = (struct job_ref){k->job_id, j->is_array && one_in(h, 2) ? k->task_id : NONE};
    event->jobs.count = 1;
}

/* Mostly of a task that runs, or is suspended. */
static void make_suspend(struct history *h, struct event *event)
{
    make_jobs(h, event);
    const struct task *k = pick_task(h);
    if (k == NULL || one_in(h, 6)) return;
    const struct job *j = &h->s.jobs.items[state_find_job(&h->s, k->job_id)];
    event->actor.role = one_in(h, 2) ? ROLE_ADMINISTRATOR : event->actor.role;
    event->jobs.all = false;
    h->refs[0] = (struct job_ref){k->job_id, j->is_array && one_in(h, 2) ? k->task_id : NONE};
    event->jobs.count = 1;
}

static void make_update(struct history *h, struct event *event)
{
    struct job_values *v = &h->job;
    *v = make_changed_terms(h);
    uint32_t cpus = below(h, 7);
    if (one_in(h, 3)) give_text(v, JOB_FIELD_NAME, pick_name(h, 0, "renamed", 5));
    if (cpus != 0) give_number(v, JOB_FIELD_CPUS, cpus);
    if (one_in(h, 3)) give_text(v, JOB_FIELD_ACCOUNT, pick_account(h, 1));
    if (one_in(h, 2)) give_number(v, JOB_FIELD_GPUS, below(h, 2));
    if (one_in(h, 2)) give_number(v, JOB_FIELD_TIME_LIMIT, below(h, 1000));
    if (one_in(h, 2)) give_number(v, JOB_FIELD_ARRAY_LIMIT, below(h, 5));
    event->update = (struct event_update){.job_id = pick_ref(h).job_id, .values = v};
}

/* A record as its keeper would write it, or of an unknown launch. */
static void make_record(struct history *h, struct event *event)
{
    static const enum job_state ends[] = {JOB_COMPLETED, JOB_FAILED,    JOB_CANCELLED,
                                          JOB_TIMEOUT,   JOB_NODE_FAIL, JOB_OUT_OF_MEMORY};
    const struct task *k = pick_task(h);
    struct event_record *r = &event->record;
    *r = (struct event_record){.launch_id = one_in(h, 20) || k == NULL ? 1 + below(h, 500) : k->launch_id,
                               .at_us = h->now_us};
    if (k != NULL) {
        r->started_us = k->start_us != 0
                            ? k->start_us
                            : k->launch_us + (int64_t)(rng_double(&h->rng) * (double)(h->now_us - k->launch_us));
        r->at_us = r->started_us + (int64_t)(rng_double(&h->rng) * (double)(h->now_us - r->started_us));
    }
    if (event->kind == EVENT_ENDED) {
        r->end = ends[below(h, COUNT(ends))];
        if (one_in(h, 10)) r->started_us = 0;
        r->exit_status = (int32_t)below(h, 3);
        r->signal = one_in(h, 5) ? 9 : 0;
        r->cpu_us = below(h, 1000000);
        r->max_rss_kib = below(h, 100000);
        r->io_bytes = one_in(h, 2) ? (int64_t)(rng_u64(&h->rng) >> 24) : 0;
        r->detail = one_in(h, 4) ? "it said \"why\"" : NULL;
        if (one_in(h, 8)) {
            r->end = JOB_PENDING; /* the machine could not start it */
            r->started_us = 0;
        }
    }
}

/* A measurement of a live task, as late as the loop may take it, or of an unknown launch. */
static void make_measurement(struct history *h, struct event *event)
{
    const struct task *k = pick_task(h);
    struct event_measured *m = &event->measured;
    *m = (struct event_measured){.launch_id = one_in(h, 20) || k == NULL ? 1 + below(h, 500) : k->launch_id,
                                 .at_us = h->now_us - (one_in(h, 3) ? below(h, 1000) * SECOND : 0),
                                 .cpu_us = (int64_t)below(h, 1000000) * below(h, 1000000),
                                 .io_bytes = (int64_t)(rng_u64(&h->rng) >> 20),
                                 .mem_kib = one_in(h, 4) ? 0 : below(h, 100000000)};
}

/* Some of these values, which are not stored. */
static void make_load(struct history *h, struct event *event)
{
    static const struct host_load choices[] = {{"load_avg", "0.1"}, {"load_avg", "1"}, {"load_avg", "3"},
                                               {"num_proc", "4"},   {"num_proc", "x"}, {"mem_free", "1G"},
                                               {"mem_free", "8G"},  {"arch", "a"},     {"arch", "b"},
                                               {"resource0", "1"},  {"nothing", "1"}};
    h->load_count = below(h, COUNT(h->loads) + 1);
    for (uint32_t i = 0; i < h->load_count; i++) h->loads[i] = choices[below(h, COUNT(choices))];
    event->load = (struct event_load){.values = h->loads, .count = h->load_count};
}

/* Reports of executors about up to two hosts, which may be new; the others have no tasks, so they may be detached. */
static void make_hosts(struct history *h, struct event *event)
{
    static const char *const names[] = {"localhost", "host0", "host1", "host2", "reported0", "reported1", "a,b"};
    static const struct capacity capacities[] = {{2, 1, 1000}, {8, 1, 1000}};
    uint32_t count = 1 + below(h, COUNT(h->reports));
    for (uint32_t i = 0; i < count; i++) {
        const char *name = names[below(h, one_in(h, 20) ? COUNT(names) : COUNT(names) - 1)];
        h->reports[i] =
            (struct event_host){.has = strcmp(name, "localhost") == 0 ? host_capacity : capacities[below(h, 2)],
                                .name = name,
                                .report = one_in(h, 2) ? HOST_REPORT_DOWN : HOST_REPORT_UP,
                                .features = one_in(h, 3) ? "avx" : NULL};
    }
    event->hosts = (struct event_hosts){h->reports, count};
}

/* Of the three calendars that there may be, as an instance reports them again after a restart. */
static void make_calendars(struct history *h, struct event *event)
{
    static const char *const names[] = {"calendar0", "calendar1", "calendar2"};
    for (uint32_t i = 0; i < COUNT(h->calendars); i++) {
        int64_t at_us = h->now_us + ((int64_t)below(h, 200) - 100) * SECOND;
        h->calendars[i] = (struct event_calendar){names[i], h->closed[i], below(h, 3)};
        for (uint32_t k = 0; k < h->calendars[i].count; k++) {
            h->closed[i][k] = (struct closed_time){at_us, at_us + (int64_t)(1 + below(h, 300)) * SECOND};
            at_us += 1000 * SECOND;
        }
    }
    h->calendar_count = COUNT(h->calendars);
    event->calendars = (struct event_calendars){h->calendars, h->calendar_count};
}

static void make_synced(struct history *h, struct event *event)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < h->s.tasks.count && count < COUNT(h->launches); i++) {
        if (!one_in(h, 4)) h->launches[count++] = h->s.tasks.items[i].launch_id;
    }
    event->synced = (struct event_synced){.launch_ids = h->launches,
                                          .count = count,
                                          .boot_id = one_in(h, 5) ? "another boot" : "this boot",
                                          .lost_us = h->now_us - below(h, 1000) * SECOND,
                                          .elsewhere = one_in(h, 5) ? "it may run in another state" : NULL};
}

static void make_quarantine(struct history *h, struct event *event)
{
    event->quarantine = one_in(h, 2) ? "a copy" : "a backup";
}

/* A boundary between the last event and now, or one in the future. */
static void make_reset(struct history *h, struct event *event)
{
    event->reset_us = h->event_us + (int64_t)(rng_double(&h->rng) * 1.1 * (double)(h->now_us - h->event_us));
}

static const struct {
    enum event_kind kind;
    uint32_t weight;
    void (*make)(struct history *h, struct event *event);
} event_kinds[] = {
    {EVENT_ACCOUNT_ADD, 4, make_account},
    {EVENT_ACCOUNT_MODIFY, 3, make_account},
    {EVENT_ACCOUNT_DELETE, 3, make_account},
    {EVENT_USER_ADD, 6, make_user},
    {EVENT_USER_MODIFY, 3, make_user},
    {EVENT_USER_DELETE, 3, make_user},
    {EVENT_SETTINGS, 5, make_setting},
    {EVENT_OBJECT_ADD, 7, make_object},
    {EVENT_OBJECT_MODIFY, 4, make_object},
    {EVENT_OBJECT_DELETE, 3, make_object},
    {EVENT_SUBMIT, 20, make_submit},
    {EVENT_CANCEL, 6, make_jobs},
    {EVENT_HOLD, 4, make_jobs},
    {EVENT_RELEASE, 4, make_jobs},
    {EVENT_REQUEUE, 14, make_requeue},
    {EVENT_SUSPEND, 6, make_suspend},
    {EVENT_RESUME, 4, make_suspend},
    {EVENT_UPDATE, 4, make_update},
    {EVENT_STARTED, 18, make_record},
    {EVENT_COMPLETING, 4, make_record},
    {EVENT_ENDED, 14, make_record},
    {EVENT_MEASURED, 12, make_measurement},
    {EVENT_LOAD, 5, make_load},
    {EVENT_HOSTS, 5, make_hosts},
    {EVENT_CALENDARS, 5, make_calendars},
    {EVENT_SYNCED, 1, make_synced},
    {EVENT_QUARANTINE, 1, make_quarantine},
    {EVENT_RESET, 1, make_reset},
    {EVENT_TIME, 15, NULL},
};

/* Sometimes a whole array is changed in slices, between which other things happen, or which are broken off. */
static void cut_array(struct history *h, struct event *event)
{
    bool is_cut = event->kind == EVENT_CANCEL || event->kind == EVENT_REQUEUE || event->kind == EVENT_SUSPEND;
    if (is_cut && event->jobs.count == 1 && !event->jobs.all && h->refs[0].task_id == NONE && one_in(h, 2))
        event->jobs.task_max = 1 + below(h, 3);
}

static void keep_rest(struct history *h, const struct event *event, const struct event_result *result)
{
    if (!result->is_unfinished || event->jobs.is_dry_run) return;
    h->rest_ref = event->jobs.refs[0];
    h->rest = *event;
    h->rest.jobs.refs = &h->rest_ref;
    h->rest.jobs.report = NULL;
    h->rest.jobs.task_first = result->task_next;
    h->unfinished_slices++;
}

/* The next slice of a requeue that was broken off, as the daemon begins it at a start. */
static void make_rest(struct history *h, const struct store_unfinished_requeue *u, struct event *event)
{
    h->rest_ref = (struct job_ref){u->job_id, NONE};
    *event = (struct event){.kind = EVENT_REQUEUE,
                            .actor = {.role = ROLE_ADMINISTRATOR},
                            .jobs = {.refs = &h->rest_ref,
                                     .count = 1,
                                     .holds = u->is_held,
                                     .task_max = 1 + below(h, 3),
                                     .task_first = u->task_next}};
}

static bool make_resumed(struct history *h, struct event *event)
{
    struct arena arena = {0};
    struct store_unfinished_requeue *list;
    uint32_t count;
    assert_int_equal(store_unfinished_requeues(h->store, &arena, &list, &count, NULL), 0);
    if (count > 0) make_rest(h, &list[below(h, count)], event);
    arena_release(&arena);
    h->rest.jobs.refs = NULL;
    return count > 0;
}

static void make_event(struct history *h, struct event *event)
{
    uint32_t total = 0, i = 0;
    if (one_in(h, 20) && make_resumed(h, event)) return;
    if (h->rest.jobs.refs != NULL && one_in(h, 2)) {
        *event = h->rest;
        h->rest.jobs.refs = NULL;
        return;
    }
    for (size_t k = 0; k < COUNT(event_kinds); k++) total += event_kinds[k].weight;
    uint32_t pick = below(h, total);
    while (pick >= event_kinds[i].weight) pick -= event_kinds[i++].weight;
    *event = (struct event){.kind = event_kinds[i].kind, .actor = pick_actor(h)};
    if (event->kind == EVENT_TIME)
        event->time.boot_id = "this boot";
    else
        event_kinds[i].make(h, event);
    cut_array(h, event);
}

/* Mostly seconds, sometimes years, as after a machine was off. */
static void advance_clock(struct history *h)
{
    int64_t max = one_in(h, 200) ? 100000000 * SECOND : one_in(h, 10) ? 100000 * SECOND : 100 * SECOND;
    if (!one_in(h, 3)) h->now_us += (int64_t)(rng_double(&h->rng) * (double)max);
}

/* Facts about jobs that have ended, as the daemon brings them. */
static struct event_end *read_ends(struct history *h, struct event *event, struct arena *arena)
{
    const uint32_t *ids = NULL;
    uint32_t count = dependencies_list_ended(&h->s, event, arena, &ids);
    struct event_end *ends = arena_alloc(arena, (count + (size_t)1) * sizeof *ends);
    for (uint32_t i = 0; i < count; i++) {
        struct err e = {0};
        if (store_job_end(h->store, ids[i], &ends[i], &e) == 0) continue;
        assert_int_equal(e.code, ERR_NOT_FOUND);
        assert_true(h->pruned_jobs > 0);
        ends[i] = (struct event_end){.job_id = ids[i], .is_pruned = true};
    }
    event->ends = ends;
    event->end_count = count;
    h->facts += count;
    return ends;
}

/* Likewise the rows of ended jobs that are to be requeued. */
static struct event_ended_job *read_ended_jobs(struct history *h, struct event *event, struct arena *arena)
{
    const uint32_t *ids = NULL;
    uint32_t count = requeue_ended_list(&h->s, event, arena, &ids);
    struct event_ended_job *jobs = arena_alloc(arena, (count + (size_t)1) * sizeof *jobs);
    uint32_t known = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct err e = {0};
        if (store_ended_job(h->store, &h->s, ids[i], arena, &jobs[known], &e) == 0)
            known++;
        else
            assert_true(e.code == ERR_NOT_FOUND && h->pruned_jobs > 0);
    }
    event->ended_jobs = jobs;
    event->ended_job_count = known;
    return jobs;
}

static void release_ends(struct event_end *ends, struct event_ended_job *jobs, const struct event *event,
                         struct arena *arena)
{
    for (uint32_t i = 0; i < event->end_count; i++) store_job_end_release(&ends[i]);
    for (uint32_t i = 0; i < event->ended_job_count; i++) store_ended_job_release(&jobs[i]);
    arena_release(arena);
}

/* Counts the jobs that a requeue made live again. */
static void count_revived(struct history *h, const struct event *event, uint32_t live_before)
{
    if (event->kind == EVENT_REQUEUE) h->revived += h->s.job_by_id.count - live_before;
}

/* Law 2. */
static int apply_event(struct history *h, struct event *event)
{
    struct err e = {0};
    struct arena arena = {0};
    struct event_end *ends = read_ends(h, event, &arena);
    struct event_ended_job *ended_jobs = read_ended_jobs(h, event, &arena);
    uint32_t live_before = h->s.job_by_id.count;
    h->event_us = h->now_us;
    uint64_t before = state_hash(&h->s);
    struct outcome was = h->out;
    struct event_result result = {0};
    int status = engine_apply(&h->s, h->now_us, event, &h->out, &result, &e);
    if (status == 0) keep_rest(h, event, &result);
    release_ends(ends, ended_jobs, event, &arena);
    if (status == 0) {
        count_revived(h, event, live_before);
        h->accepted++;
        h->kinds[event->kind]++;
        h->resumed += event->kind == EVENT_REQUEUE && event->jobs.task_first != 0;
        return 0;
    }
    h->refused++;
    assert_true(ERR_SENTENCE(&e)[0] != '\0');
    assert_true(state_hash(&h->s) == before);
    assert_int_equal(h->out.changes.count, was.changes.count);
    assert_int_equal(h->out.journal.count, was.journal.count);
    assert_int_equal(h->out.decisions.count, was.decisions.count);
    assert_int_equal(h->out.requeued.count, was.requeued.count);
    return -1;
}

static void apply_one(struct history *h)
{
    struct event event;
    make_event(h, &event);
    (void)apply_event(h, &event);
}

/* Hosts that an operator has added can run jobs at once. */
static void attach_hosts(struct history *h, struct state *s)
{
    struct outcome out = {0};
    for (uint32_t i = 0; i < s->hosts.count; i++) {
        const struct object_row *row = &s->objects[OBJECT_HOST].items[i];
        const struct event event = {.kind = EVENT_HOST, .host = {.has = {2, 1, 1000}, .name = row->object.name}};
        if (row->is_deleted || s->hosts.items[i].is_attached) continue;
        assert_int_equal(engine_apply(s, h->now_us, &event, &out, NULL, NULL), 0);
    }
    outcome_release(&out);
}

/* Executors repeat their reports. */
static void report_again(const struct history *h, struct state *out_state, struct outcome *out)
{
    for (uint32_t i = 0; i < h->s.hosts.count; i++) {
        const struct host_row *row = &h->s.hosts.items[i];
        const struct object_row *object = &h->s.objects[OBJECT_HOST].items[i];
        const struct event event = {.kind = EVENT_HOST,
                                    .host = {.has = row->detected,
                                             .name = object->object.name,
                                             .report = row->is_down ? HOST_REPORT_DOWN : HOST_REPORT_UP}};
        if (object->is_deleted || !row->is_attached) continue;
        assert_int_equal(engine_apply(out_state, h->now_us, &event, out, NULL, NULL), 0);
    }
}

static void load_with_host(struct history *h, struct state *out_state)
{
    struct outcome out = {0};
    struct event load = {.kind = EVENT_LOAD, .load = {.values = h->loads, .count = h->load_count}};
    struct event calendars = {.kind = EVENT_CALENDARS, .calendars = {h->calendars, h->calendar_count}};
    store_must_load(h->store, out_state);
    report_again(h, out_state, &out);
    attach_hosts(h, out_state);
    assert_int_equal(engine_apply(out_state, h->now_us, &load, &out, NULL, NULL), 0);
    assert_int_equal(engine_apply(out_state, h->now_us, &calendars, &out, NULL, NULL), 0);
    assert_int_equal(engine_apply(&h->s, h->now_us, &calendars, &h->out, NULL, NULL), 0); /* also after each change */
    outcome_release(&out);
}

static void assert_same_set(const struct idset *a, const struct idset *b)
{
    struct buf left = {0}, right = {0};
    idset_format(a, &left);
    idset_format(b, &right);
    assert_int_equal(left.length, right.length);
    if (left.length > 0) assert_string_equal(left.text, right.text);
    buf_release(&left);
    buf_release(&right);
}

static void assert_same_objects(const struct state *a, const struct state *b, enum object_kind kind)
{
    assert_int_equal(a->object_by_name[kind].count, b->object_by_name[kind].count);
    for (uint32_t i = 0; i < a->objects[kind].count; i++) {
        const struct object_row *left = &a->objects[kind].items[i];
        if (left->is_deleted) continue;
        uint32_t k = state_find_object(b, kind, left->object.name);
        assert_int_not_equal(k, NONE);
        const struct object_row *right = &b->objects[kind].items[k];
        assert_int_equal(left->live_jobs, right->live_jobs);
        assert_int_equal(left->qos_flags, right->qos_flags);
        assert_int_equal(left->billing_weights == NULL, right->billing_weights == NULL);
        if (left->billing_weights != NULL)
            assert_memory_equal(left->billing_weights, right->billing_weights, TRES_MAX * sizeof(double));
    }
}

static void assert_same_default(const struct state *a, const struct state *b, int user)
{
    char name[16];
    snprintf(name, sizeof name, "user%d", user);
    uint32_t left = state_default_assoc(a, name), right = state_default_assoc(b, name);
    assert_int_equal(left == NONE, right == NONE);
    if (left == NONE) return;
    assert_int_equal(a->assocs.items[left].id, b->assocs.items[right].id);
    assert_true(a->assocs.items[left].is_default && a->assocs.items[left].deleted_us == 0);
}

/* The copy of the usages by node, which an earlier reading has made. */
static void assert_same_usages(const struct state *s)
{
    for (uint32_t i = 0; i < s->assocs.count && !s->tree_is_stale; i++) {
        if (s->node_of.items[i] == NONE) continue;
        assert_memory_equal(&s->usage_of.items[s->node_of.items[i]], &s->assocs.items[i].usage, sizeof(double));
    }
}

/* Hosts that were deleted are only in memory. */
static void assert_same_hosts(const struct state *a, const struct state *b)
{
    for (uint32_t i = 0, k = 0; i < a->hosts.count; i++) {
        const struct host *x = &a->hosts.items[i].host, *y = &b->hosts.items[k].host;
        if (a->objects[OBJECT_HOST].items[i].is_deleted) continue;
        assert_int_equal(x->has.cpus, y->has.cpus);
        assert_same_set(&x->free_cpus, &y->free_cpus);
        assert_same_set(&x->free_gpus, &y->free_gpus);
        assert_int_equal(x->free_mem_mib, y->free_mem_mib);
        k++;
    }
}

/* The associations of a job in its partitions. Ids of rows agree, indices do not. */
static void assert_same_associations(const struct state *a, const struct job *x, const struct state *b,
                                     const struct job *y)
{
    for (uint32_t i = 0; i < x->partition_count; i++) {
        uint32_t left = state_assoc_in_partition(a, x->assoc, x->partitions[i]);
        uint32_t right = state_assoc_in_partition(b, y->assoc, y->partitions[i]);
        assert_int_equal(a->assocs.items[left].id, b->assocs.items[right].id);
        if (i == 0) assert_int_equal(left, x->assoc);
    }
}

/* Derived members, which are not in the hash. */
static void assert_same_derived(const struct state *a, const struct state *b)
{
    assert_int_equal(a->free_cpu_count, b->free_cpu_count);
    assert_int_equal(a->live_input_bytes, b->live_input_bytes);
    assert_same_hosts(a, b);
    assert_same_usages(a);
    for (uint32_t i = 0, k = 0; i < a->assocs.count; i++) {
        if (a->assocs.items[i].deleted_us != 0) continue;
        while (b->assocs.items[k].id != a->assocs.items[i].id) assert_true(++k < b->assocs.count);
        assert_int_equal(a->assocs.items[i].live_jobs, b->assocs.items[k].live_jobs);
        assert_int_equal(a->assocs.items[i].live_input_bytes, b->assocs.items[k].live_input_bytes);
        const struct work *left = &a->assocs.items[i].work, *right = &b->assocs.items[k].work;
        assert_int_equal(left->pending, right->pending);
        assert_int_equal(left->running, right->running);
        assert_int_equal(left->running_cpus, right->running_cpus);
    }
    for (int user = 0; user < 6; user++) assert_same_default(a, b, user);
    for (int kind = 0; kind < OBJECT_KIND_COUNT; kind++) assert_same_objects(a, b, (enum object_kind)kind);
    for (uint32_t i = 0; i < a->jobs.count; i++) {
        if (a->jobs.items[i].ended_us != 0) continue;
        uint32_t k = state_find_job(b, a->jobs.items[i].id);
        assert_int_not_equal(k, NONE);
        assert_same_associations(a, &a->jobs.items[i], b, &b->jobs.items[k]);
        assert_int_equal(a->jobs.items[i].live_tasks, b->jobs.items[k].live_tasks);
        assert_int_equal(a->jobs.items[i].waits_by_task, b->jobs.items[k].waits_by_task);
        assert_same_set(&a->jobs.items[i].ready, &b->jobs.items[k].ready);
        assert_same_set(&a->jobs.items[i].failed, &b->jobs.items[k].failed);
        assert_true(b->jobs.items[k].list_position < b->next_list_position); /* so a change moves a job to the end */
    }
    assert_true(b->next_list_position <= a->next_list_position);
}

/* Whether the state has something that a restart forgets by design: minimum priorities that do not bind, and the time
 * of the next pass for jobs that wait for their fair-share factor. */
static bool restart_has_effect(const struct state *s)
{
    if (min_priority_is_kept(s)) return true;
    for (uint32_t i = 0; i < s->objects[OBJECT_QOS].count; i++) {
        const struct object_row *qos = &s->objects[OBJECT_QOS].items[i];
        if (!qos->is_deleted && (qos->qos_flags & QOS_ENFORCE_USAGE_THRESHOLD) != 0) return true;
    }
    return false;
}

/* With load thresholds time lets jobs start, because adjustments fade, and a pass may look at that later. */
static bool has_thresholds(const struct state *s)
{
    for (uint32_t i = 0; i < s->objects[OBJECT_PARTITION].count; i++) {
        const struct object_row *partition = &s->objects[OBJECT_PARTITION].items[i];
        if (strcmp(partition->object.value[PARTITION_LOAD_THRESHOLDS].text, "NONE") != 0) return true;
    }
    return false;
}

/* Law 5. The next commit includes the decisions of this pass. */
static void run_both_passes(struct history *h, struct state *rebuilt)
{
    const struct event pass = {.kind = EVENT_TIME, .time.boot_id = "this boot"};
    struct outcome out = {0};
    if (restart_has_effect(rebuilt)) return;
    rebuilt->launch_backoff = h->s.launch_backoff; /* not stored; the daemon keeps it as long as it runs */
    /* With reservations a pass may decide otherwise later, because the order of priorities changes with time. */
    if (h->s.policy.model != MODEL_TICKETS || has_thresholds(&h->s)) h->s.pass_is_due = true;
    assert_int_equal(engine_apply(&h->s, h->now_us, &pass, &h->out, NULL, NULL), 0);
    assert_int_equal(engine_apply(rebuilt, h->now_us, &pass, &out, NULL, NULL), 0);
    outcome_release(&out);
    assert_true(state_hash(rebuilt) == state_hash(&h->s));
    h->passes++;
}

static void assert_same_priorities(struct history *h, struct state *rebuilt)
{
    struct arena arena = {0};
    struct priorities ours, theirs;
    state_priorities(&h->s, h->now_us, NONE, &arena, &ours);
    state_priorities(rebuilt, h->now_us, NONE, &arena, &theirs);
    assert_int_equal(ours.count, theirs.count);
    for (uint32_t i = 0; i < ours.count; i++) {
        const struct priority_row *left = &ours.rows[i], *right = &theirs.rows[i];
        assert_int_equal(h->s.jobs.items[left->job].id, rebuilt->jobs.items[right->job].id);
        assert_true((uint32_t)left->priority == (uint32_t)right->priority);
        h->min_priorities += left->terms.priority < (uint32_t)left->priority;
    }
    arena_release(&arena);
}

/* Law 6. */
static void assert_min_priorities_survive(struct history *h)
{
    const struct event pass = {.kind = EVENT_TIME, .time.boot_id = "this boot"};
    struct state rebuilt;
    if (!min_priority_is_kept(&h->s)) return;
    h->s.pass_is_due = true;
    assert_int_equal(engine_apply(&h->s, h->now_us, &pass, &h->out, NULL, NULL), 0);
    store_must_commit(h->store, &h->s, &h->out, h->now_us);
    engine_forget(&h->s);
    load_with_host(h, &rebuilt);
    assert_true(state_hash(&rebuilt) == state_hash(&h->s));
    assert_same_priorities(h, &rebuilt);
    state_release(&rebuilt);
}

/* Law 7, before engine_forget frees the ended rows. */
static void assert_same_rows(struct history *h)
{
    job_rows_assert_stored(&h->s, h->directory, NULL);
    job_rows_assert_listed(&h->s, h->store);
}

/* Law 8. */
static void assert_same_document(struct history *h)
{
    struct scenario read;
    dump_checks_read(&h->s, h->now_us, &read);
    scenario_release(&read);
    h->documents++;
}

/* Beyond the rounding of the rates' sums, which a half-life multiplies. */
static void assert_same_usage(struct history *h, const char *what, uint32_t kind, double sum, double expected)
{
    enum { RATES = 50000 };
    double halflife_s = (double)h->s.decay.halflife_us / 1e6;
    if (fabs(sum - expected) <= 1e-9 * expected + 1e-13 * RATES * halflife_s + 1e-6) return;
    fail_msg("%s, kind %u: the sum is %.17g, all rows have %.17g", what, kind, sum, expected);
}

static void assert_same_lists(struct history *h)
{
    struct arena arena = {0};
    const struct state *s = &h->s;
    uint32_t count = 0, kinds = s->policy.tres.count, *assocs = arena_alloc(&arena, s->assocs.count * sizeof *assocs);
    for (uint32_t i = 0; i < s->assocs.count; i++) {
        if (s->assocs.items[i].deleted_us == 0) assocs[count++] = i;
    }
    double *usage = arena_alloc(&arena, (size_t)count * kinds * sizeof *usage);
    usage_sums_list(&h->s, assocs, count, h->now_us, usage);
    for (uint32_t kind = 0; kind < kinds; kind++) {
        const double *rows = usage_read_below(&h->s, kind, h->now_us, &arena);
        for (uint32_t i = 0; i < count; i++)
            assert_same_usage(h, "association in a list", kind, usage[(size_t)i * kinds + kind],
                              rows[s->node_of.items[assocs[i]]]);
    }
    for (uint32_t q = 0; q < s->objects[OBJECT_QOS].count; q++) {
        double sums[USAGE_KIND_COUNT], rows[USAGE_KIND_COUNT];
        if (s->objects[OBJECT_QOS].items[q].is_deleted) continue;
        usage_sums_qos_list(&h->s, q, h->now_us, sums);
        usage_read_qos(s, q, h->now_us, rows);
        for (uint32_t kind = 0; kind < USAGE_KIND_COUNT; kind++)
            assert_same_usage(h, "QOS in a list", kind, sums[kind], rows[kind]);
    }
    arena_release(&arena);
}

/* Law 9. */
static void assert_same_sums(struct history *h)
{
    struct arena arena = {0};
    double usage[USAGE_KIND_COUNT];
    uint32_t pick = below(h, TRES_STATIC_COUNT + 1), kind = pick == TRES_STATIC_COUNT ? USAGE_WALL : pick;
    const double *rows = usage_read_below(&h->s, kind, h->now_us, &arena);
    for (uint32_t i = 0; i < h->s.assocs.count; i++) {
        if (h->s.assocs.items[i].deleted_us != 0) continue;
        double sum = usage_sums_below(&h->s, i, kind, h->now_us);
        assert_same_usage(h, "association", kind, sum, rows[h->s.node_of.items[i]]);
        h->sums += sum > 0.0;
    }
    for (uint32_t i = 0; i < h->s.objects[OBJECT_QOS].count; i++) {
        if (h->s.objects[OBJECT_QOS].items[i].is_deleted) continue;
        usage_read_qos(&h->s, i, h->now_us, usage);
        assert_same_usage(h, "QOS", kind, usage_sums_qos(&h->s, i, kind, h->now_us), usage[kind]);
    }
    if (one_in(h, 8)) assert_same_lists(h); /* from then on the sums have all kinds */
    arena_release(&arena);
}

/* Laws 1, 3, 5, 7, 8 and 9. */
/* A row is read back from its text as it was. */
static void compare_task_texts(const struct state *s)
{
    struct buf text = {0}, again = {0};
    for (uint32_t i = 0; i < s->tasks.count; i++) {
        struct task k;
        struct err e = {0};
        buf_clear(&text);
        buf_clear(&again);
        task_text_format(s, &s->tasks.items[i], &text);
        if (job_state_is_end(s->tasks.items[i].state)) continue; /* its host or partition may be deleted */
        if (task_text_parse(s, (struct str){text.text, text.length}, &k, &e) != 0)
            fail_msg("%s: %s", text.text, ERR_SENTENCE(&e));
        task_text_format(s, &k, &again);
        assert_string_equal(again.text, text.text);
        task_text_release(&k);
    }
    buf_release(&text);
    buf_release(&again);
}

/* As the daemon's loop does, but so few rows that restarts and other conversions come in between. */
static void write_usage_rows(struct history *h)
{
    const struct event event = {.kind = EVENT_USAGE_ROWS, .row_count = 1 + h->commits % 4};
    if (h->s.conversions.list.count == 0 || h->commits % 3 == 0) return;
    assert_int_equal(engine_apply(&h->s, h->now_us, &event, &h->out, NULL, NULL), 0);
}

static void commit_and_compare(struct history *h)
{
    struct state rebuilt;
    write_usage_rows(h);
    store_must_commit(h->store, &h->s, &h->out, h->now_us);
    h->commits++;
    for (uint32_t i = 0; i < h->s.assocs.count; i++)
        h->limited += h->s.assocs.items[i].deleted_us == 0 && h->s.assocs.items[i].limits != NULL;
    for (uint32_t i = 0; i < h->s.tasks.count; i++) {
        const struct task *k = &h->s.tasks.items[i];
        if (job_state_is_end(k->state)) continue;
        h->of_partition += h->s.assocs.items[k->assoc].partition != NULL;
        h->left_behind += state_assoc_in_partition(&h->s, k->assoc, k->partition) != k->assoc;
    }
    h->conversions += h->s.conversions.list.count;
    if (one_in(h, 20)) assert_same_rows(h);
    engine_forget(&h->s);
    load_with_host(h, &rebuilt);
    assert_true(state_hash(&rebuilt) == state_hash(&h->s));
    assert_same_derived(&h->s, &rebuilt);
    job_rows_assert_loaded(&h->s, &rebuilt);
    if (h->commits % 20 == 0) assert_same_document(h);
    if (one_in(h, 2)) assert_same_sums(h);
    if (one_in(h, 3)) {
        run_both_passes(h, &rebuilt);
    } else if (one_in(h, 20)) {
        struct state replaced = h->s;
        h->s = rebuilt;
        rebuilt = replaced;
    }
    state_release(&rebuilt);
    compare_task_texts(&h->s);
}

static uint32_t requeue_next_in_memory(const struct history *h, uint32_t job_id)
{
    uint32_t index = state_find_job(&h->s, job_id);
    return index != NONE ? h->s.jobs.items[index].requeue_next : 0;
}

/* Law 12. */
static void finish_requeues(struct history *h)
{
    struct arena arena = {0};
    struct store_unfinished_requeue *list;
    struct event event;
    uint32_t count, marked = 0, live = 0;
    commit_and_compare(h);
    assert_int_equal(store_unfinished_requeues(h->store, &arena, &list, &count, NULL), 0);
    for (uint32_t i = 0; i < h->s.jobs.count; i++) marked += h->s.jobs.items[i].requeue_next != 0;
    for (uint32_t i = 0; i < count; i++) live += requeue_next_in_memory(h, list[i].job_id) == list[i].task_next;
    assert_int_equal(marked, live);
    for (uint32_t i = 0; i < count; i++) {
        make_rest(h, &list[i], &event);
        while (apply_event(h, &event) == 0) {
            commit_and_compare(h);
            event.jobs.task_first = requeue_next_in_memory(h, list[i].job_id);
            if (event.jobs.task_first == 0) break;
        }
    }
    h->rest.jobs.refs = NULL;
    commit_and_compare(h);
    arena_release(&arena);
}

/* Law 4. */
static void assert_verified(struct history *h)
{
    commit_and_compare(h);
    struct arena arena = {0};
    struct verify_report report;
    struct err e = {0};
    if (store_verify(h->directory, &arena, &report, &e) != 0) fail_msg("%s", ERR_SENTENCE(&e));
    for (uint32_t i = 0; i < report.differences.count; i++) {
        const struct verify_difference *d = &report.differences.items[i];
        print_message("# %s %s %s %s: stored %.17g, recomputed %.17g\n",
                      d->qos       ? d->qos
                      : d->account ? d->account
                                   : "owner",
                      d->user ? d->user : "-", d->project ? d->project : "-", d->tres ? d->tres : "-", d->stored,
                      d->recomputed);
    }
    assert_int_equal(report.differences.count, 0);
    for (uint32_t i = 0; i < h->s.assocs.count; i++) h->verified += h->s.assocs.items[i].usage > 1.0;
    for (uint32_t i = 0; i < h->s.owners.count; i++) h->owners += h->s.owners.items[i].usage.used[USAGE_CPU] > 1.0;
    array_release(&report.differences);
    arena_release(&arena);
}

/* Changes the time in the database, and loads it. */
static void shift_times(struct history *h, int64_t shift_s)
{
    struct err e = {0};
    h->now_us += shift_s * SECOND;
    h->event_us += shift_s * SECOND;
    const struct clock_change change = {.event = {h->now_us, CLOCK_SET_RUNNING, shift_s, shift_s}};
    if (store_change_clock(h->store, &change, &e) != 0) fail_msg("%s", ERR_SENTENCE(&e));
    state_release(&h->s);
    load_with_host(h, &h->s);
}

/* Law 10. */
static void assert_times_can_be_shifted(struct history *h)
{
    struct arena arena = {0};
    int64_t shift_s = (int64_t)below(h, 2 * 365 * 86400) - 365 * 86400;
    commit_and_compare(h);
    store_must_commit(h->store, &h->s, &h->out, h->now_us);
    engine_forget(&h->s);
    uint64_t hash = state_hash(&h->s);
    uint32_t count = state_tree(&h->s)->count;
    const double *before = state_own_usage(&h->s, h->now_us, &arena);
    int64_t period_us = h->s.reset_period_us;
    shift_times(h, shift_s);
    assert_int_equal(state_tree(&h->s)->count, count);
    const double *after = state_own_usage(&h->s, h->now_us, &arena);
    for (uint32_t i = 0; i < count; i++) assert_true(fabs(before[i] - after[i]) <= 1e-12 * before[i]);
    if (one_in(h, 2)) {
        assert_verified(h);
    } else {
        shift_times(h, -shift_s);
        int64_t new_period_us = h->s.reset_period_us;
        h->s.reset_period_us = period_us;
        assert_true(state_hash(&h->s) == hash);
        h->s.reset_period_us = new_period_us;
    }
    h->shifts++;
    arena_release(&arena);
}

/* Law 11. A plan is carried out piece by piece, while other things happen; one that does not fit any more is dropped.
 * */
static void prune(struct history *h)
{
    struct err e = {0};
    if (h->next_piece == h->plan.pieces.count) {
        store_prune_plan_release(&h->plan);
        int64_t before_us = h->now_us - below(h, 3) * 3000 * SECOND;
        if (store_prune_plan(h->directory, before_us, h->now_us, &h->plan, &e) != 0) fail_msg("%s", ERR_SENTENCE(&e));
        h->next_piece = 0;
        return;
    }
    state_compact_jobs(&h->s); /* no job that is removed may be in memory */
    state_compact_tasks(&h->s);
    const struct prune_piece *piece = &h->plan.pieces.items[h->next_piece];
    if (store_prune(h->store, &h->plan, h->next_piece, NULL, &e) != 0) {
        assert_int_equal(e.code, ERR_CONFLICT);
        h->stale_plans++;
        h->next_piece = h->plan.pieces.count;
        return;
    }
    h->next_piece++;
    h->pruned_jobs += piece->job_count;
    h->pruned_tasks += piece->task_count;
}

static uint32_t kinds_seen[EVENT_TIME + 1]; /* accepted events of each kind, over all histories */
static uint32_t jobs_pruned, tasks_pruned, plans_stale, jobs_revived, arrays_cut, times_shifted, usages_verified,
    owners_verified, minimums_kept, sums_compared, limits_compared, tasks_of_partition, tasks_left_behind,
    usages_converted, requeues_resumed;

static void run_history(uint64_t seed, int events)
{
    const int64_t begin_us = INT64_C(1700000000) * SECOND;
    struct history h = {.rng = {seed},
                        .prunes = seed % 2 == 1,
                        .has_min_priorities = seed % 4 == 0,
                        .now_us = begin_us,
                        .event_us = begin_us};
    store_make_directory(h.directory);
    h.store = store_must_open(h.directory, h.now_us);
    load_with_host(&h, &h.s);
    for (int i = 0; i < events; i++) {
        advance_clock(&h);
        apply_one(&h);
        attach_hosts(&h, &h.s);
        if (!one_in(&h, 4)) commit_and_compare(&h); /* otherwise the turn has more events */
        if (one_in(&h, 10)) assert_min_priorities_survive(&h);
        if (h.prunes && one_in(&h, 30) && h.out.changes.count == 0) prune(&h);
        if (one_in(&h, 50)) assert_verified(&h);
        if (one_in(&h, 200)) assert_times_can_be_shifted(&h);
        if (one_in(&h, 50)) finish_requeues(&h);
        if (one_in(&h, 300)) {
            store_close(h.store);
            h.store = store_must_open(h.directory, h.now_us);
            outcome_clear(&h.out);
            state_release(&h.s);
            load_with_host(&h, &h.s);
        }
    }
    assert_verified(&h);
    print_message(
        "# seed %llu: %u accepted, %u refused, %u commits, %u jobs, %llu launches, %u passes and %u documents "
        "compared, %u usages and %u owners verified, %u minimum priorities kept, %u ended jobs requeued\n",
        (unsigned long long)seed, h.accepted, h.refused, h.commits, h.s.next_job_id - 1,
        (unsigned long long)h.s.next_launch_id - 1, h.passes, h.documents, h.verified, h.owners, h.min_priorities,
        h.revived);
    store_prune_plan_release(&h.plan);
    jobs_pruned += h.pruned_jobs;
    tasks_pruned += h.pruned_tasks;
    plans_stale += h.stale_plans;
    usages_verified += h.verified;
    owners_verified += h.owners;
    jobs_revived += h.revived;
    arrays_cut += h.unfinished_slices;
    requeues_resumed += h.resumed;
    sums_compared += h.sums;
    times_shifted += h.shifts;
    limits_compared += h.limited;
    tasks_of_partition += h.of_partition;
    usages_converted += h.conversions;
    tasks_left_behind += h.left_behind;
    minimums_kept += h.min_priorities;
    for (size_t i = 0; i <= EVENT_TIME; i++) kinds_seen[i] += h.kinds[i];
    store_close(h.store);
    state_release(&h.s);
    outcome_release(&h.out);
    arena_release(&h.report_arena);
    store_remove_directory(h.directory);
}

static void memory_and_store_agree(void **unused)
{
    (void)unused;
    int events = repeats(2500);
    for (uint64_t seed = 1; seed <= 16; seed++) run_history(seed, events);
    print_message("# %u jobs with %u starts pruned, %u plans were stale\n", jobs_pruned, tasks_pruned, plans_stale);
    assert_true(events < 2000 || (jobs_pruned > 50 && tasks_pruned > 200));
    assert_true(usages_verified > (uint32_t)events / 10);
    assert_true(events < 2000 || minimums_kept > 100); /* they are rare */
    assert_true(owners_verified > (uint32_t)events / 10);
    assert_true(sums_compared > (uint32_t)events);
    assert_true(events < 2000 || jobs_revived > 200);
    assert_true(events < 2000 || arrays_cut > 50);
    assert_true(events < 2000 || requeues_resumed > 20);
    assert_true(times_shifted > (uint32_t)events / 40);
    assert_true(events < 2000 || limits_compared > (uint32_t)events);
    assert_true(events < 2000 || tasks_of_partition > (uint32_t)events / 10);
    assert_true(events < 2000 || tasks_left_behind > 100);
    assert_true(events < 2000 || usages_converted > (uint32_t)events);
    for (size_t i = 0; i < COUNT(event_kinds); i++)
        assert_true(events < 2000 || kinds_seen[event_kinds[i].kind] > 0); /* likewise deletions of users */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(memory_and_store_agree)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
