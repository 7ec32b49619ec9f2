/* Limits of associations and QOS, computed slowly from the rows: a reference for the laws of limits. It follows what
 * was recorded of Slurm 22.05.8 and keeps nothing: every count is a sum over all jobs and tasks, every limit is read
 * from its text.
 *
 * A limit that is violated has a key, its place in the order in which Slurm names reasons:
 *
 *     counts of the first and the second QOS, then of the user's association and of those above it
 *     numbers of nodes that no limit lets a job have
 *     TRES of the first and the second QOS, then of the user's association and of those above it */
#ifndef FAIRLEAD_TESTS_LIMIT_REFERENCE_H
#define FAIRLEAD_TESTS_LIMIT_REFERENCE_H

#include "unit/policy_world.h"

#include <math.h>

#include "engine/limit_counts.h"
#include "engine/usage_read.h"
#include "fields/limit_fields.h"

/* --- kinds of limits, in the order of reasons within a QOS -------------------------------------------------------- */

enum ref_kind {
    REF_GRP_JOBS,
    REF_GRP_WALL,
    REF_JOBS_PER_ACCOUNT,
    REF_JOBS,
    REF_WALL,
    REF_GRP_TRES_MINS,
    REF_GRP_TRES,
    REF_GRP_RUN_MINS,
    REF_TRES_MINS,
    REF_TRES,
    REF_PER_NODE,
    REF_MIN,
    REF_PER_ACCOUNT,
    REF_PER_USER,
    REF_GRP_SUBMIT,
    REF_SUBMIT_PER_ACCOUNT,
    REF_SUBMIT,
    REF_KIND_COUNT
};

struct ref_row {
    int qos, assoc;  /* fields; -1: there is none */
    bool is_group;   /* each association of the path has its own; otherwise that of the nearest one counts */
    char subject;    /* of a QOS: 'q' all its jobs, 'u' those of the user, 'a' those of the account */
    const char *key; /* of an association's limit, in the syntax of the command line */
};

static const struct ref_row ref_rows[REF_KIND_COUNT] = {
    [REF_GRP_JOBS] = {QOS_GRP_JOBS, ASSOC_GRP_JOBS, true, 'q', "GrpJobs"},
    [REF_GRP_WALL] = {QOS_GRP_WALL, ASSOC_GRP_WALL, true, 'q', "GrpWall"},
    [REF_JOBS_PER_ACCOUNT] = {QOS_MAX_JOBS_PER_ACCOUNT, -1, false, 'a', "MaxJobsPerAccount"},
    [REF_JOBS] = {QOS_MAX_JOBS_PER_USER, ASSOC_MAX_JOBS, false, 'u', "MaxJobs"},
    [REF_WALL] = {QOS_MAX_WALL, ASSOC_MAX_WALL, false, 'q', "MaxWall"},
    [REF_GRP_TRES_MINS] = {QOS_GRP_TRES_MINS, ASSOC_GRP_TRES_MINS, true, 'q', "GrpTRESMins"},
    [REF_GRP_TRES] = {QOS_GRP_TRES, ASSOC_GRP_TRES, true, 'q', "GrpTRES"},
    [REF_GRP_RUN_MINS] = {QOS_GRP_TRES_RUN_MINS, ASSOC_GRP_TRES_RUN_MINS, true, 'q', "GrpTRESRunMins"},
    [REF_TRES_MINS] = {QOS_MAX_TRES_MINS, ASSOC_MAX_TRES_MINS, false, 'q', "MaxTRESMins"},
    [REF_TRES] = {QOS_MAX_TRES, ASSOC_MAX_TRES, false, 'q', "MaxTRES"},
    [REF_PER_NODE] = {QOS_MAX_TRES_PER_NODE, ASSOC_MAX_TRES_PER_NODE, false, 'q', "MaxTRESPerNode"},
    [REF_MIN] = {QOS_MIN_TRES, -1, false, 'q', "MinTRES"},
    [REF_PER_ACCOUNT] = {QOS_MAX_TRES_PER_ACCOUNT, -1, false, 'a', "MaxTRESPerAccount"},
    [REF_PER_USER] = {QOS_MAX_TRES_PER_USER, -1, false, 'u', "MaxTRESPerUser"},
    [REF_GRP_SUBMIT] = {QOS_GRP_SUBMIT, ASSOC_GRP_SUBMIT, true, 'q', "GrpSubmitJobs"},
    [REF_SUBMIT_PER_ACCOUNT] = {QOS_MAX_SUBMIT_PER_ACCOUNT, -1, false, 'a', "MaxSubmitJobsPerAccount"},
    [REF_SUBMIT] = {QOS_MAX_SUBMIT_PER_USER, ASSOC_MAX_SUBMIT, false, 'u', "MaxSubmitJobs"},
};

static inline bool ref_is_tres(enum ref_kind kind)
{
    return kind >= REF_GRP_TRES_MINS && kind <= REF_PER_USER;
}

/* The TRES that tests limit. */
enum { REF_TRES_COUNT = 5 };
static const char *const ref_tres_names[REF_TRES_COUNT] = {"cpu", "mem", "node", "billing", "gres/gpu"};

static inline uint32_t ref_tres(const struct state *s, uint32_t i)
{
    return tres_find(&s->policy.tres, str(ref_tres_names[i]));
}

/* --- reading limits: below 0 where there is none ------------------------------------------------------------------ */

/* The number behind "NAME=" in "cpu=4,mem=1G"; mem in MiB. */
static inline double ref_text_value(const char *text, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = text; at != NULL && *at != '\0'; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, name, length) != 0 || at[length] != '=') continue;
        char *end;
        double value = strtod(at + length + 1, &end);
        return *end == 'G' ? value * 1024 : *end == 'T' ? value * 1024 * 1024 : value;
    }
    return -1.0;
}

static inline double ref_field_value(const struct field_value *v, enum ref_kind kind, uint32_t i)
{
    if (ref_is_tres(kind)) return ref_text_value(v->text, ref_tres_names[i]);
    return v->number == FIELD_SPECIAL ? -1.0 : (double)v->number;
}

static inline double ref_qos_limit(const struct state *s, uint32_t qos, enum ref_kind kind, uint32_t i)
{
    if (qos == NONE) return -1.0;
    return ref_field_value(&s->objects[OBJECT_QOS].items[qos].object.value[ref_rows[kind].qos], kind, i);
}

static inline double ref_assoc_limit(const struct state *s, uint32_t assoc, enum ref_kind kind, uint32_t i)
{
    const struct assoc *a = &s->assocs.items[assoc];
    if (ref_rows[kind].assoc < 0 || a->limits == NULL) return -1.0;
    return ref_field_value(&a->limits[ref_rows[kind].assoc], kind, i);
}

/* --- counting ----------------------------------------------------------------------------------------------------- */

/* Whose jobs count: of a QOS if it is given, or of an association and all below it. */
struct ref_scope {
    uint32_t qos, assoc;
    const char *user, *account; /* NULL: all */
};

static inline uint32_t ref_partition_qos(const struct state *s, uint32_t partition)
{
    const char *name = s->objects[OBJECT_PARTITION].items[partition].object.value[PARTITION_QOS].text;
    return name != NULL && name[0] != '\0' ? state_find_object(s, OBJECT_QOS, name) : NONE;
}

/* The association of a job's account and user for a partition, or for all of them. */
static inline uint32_t ref_assoc_in(const struct state *s, const struct job *j, uint32_t partition)
{
    const struct assoc *of_job = &s->assocs.items[j->assoc];
    const char *name = s->objects[OBJECT_PARTITION].items[partition].object.name;
    uint32_t found = j->assoc;
    for (uint32_t i = 0; i < s->assocs.count; i++) {
        const struct assoc *a = &s->assocs.items[i];
        if (a->deleted_us != 0 || a->user == NULL || strcmp(a->user, of_job->user) != 0 ||
            strcmp(a->account, of_job->account) != 0)
            continue;
        if (a->partition != NULL && strcmp(a->partition, name) == 0) return i;
        if (a->partition == NULL) found = i;
    }
    return found;
}

/* assoc: where it counts. partition_qos: that of its partition; NONE: none. */
static inline bool ref_covers(const struct state *s, const struct ref_scope *scope, const struct job *j, uint32_t assoc,
                              uint32_t partition_qos)
{
    const struct assoc *a = &s->assocs.items[assoc];
    if (scope->user != NULL && (a->user == NULL || strcmp(a->user, scope->user) != 0)) return false;
    if (scope->account != NULL && strcmp(a->account, scope->account) != 0) return false;
    if (scope->qos != NONE) return j->qos == scope->qos || partition_qos == scope->qos;
    for (uint32_t at = assoc; at != NONE; at = s->assocs.items[at].parent)
        if (at == scope->assoc) return true;
    return false;
}

static inline double ref_task_amount(const struct state *s, const struct task *k, uint32_t i)
{
    double sum = i == 3 ? floor(k->billing) : 0.0;
    for (uint32_t p = 0; p < k->placement_count; p++) {
        const struct placement *at = &k->placements[p];
        sum += i == 0   ? idset_count(&at->cpus)
               : i == 1 ? (double)at->mem_mib
               : i == 2 ? 1.0
               : i == 4 ? idset_count(&at->gpus)
                        : 0.0;
    }
    (void)s;
    return sum;
}

struct ref_counts {
    uint32_t jobs, submitted;
    double used[REF_TRES_COUNT], reserved_s[REF_TRES_COUNT];
    uint64_t hosts; /* by number */
};

/* What waits counts in the QOS of each of its partitions, and in the association that it has in the first one. */
static inline bool ref_covers_waiting(const struct state *s, const struct ref_scope *scope, const struct job *j)
{
    bool found = false;
    for (uint32_t i = 0; i < j->partition_count && !found; i++)
        found = ref_covers(s, scope, j, ref_assoc_in(s, j, j->partitions[0]), ref_partition_qos(s, j->partitions[i]));
    return found;
}

/* Of the tasks launched before a launch, and of all that wait. */
static inline void ref_count(const struct state *s, const struct ref_scope *scope, uint64_t before, int64_t now_us,
                             struct ref_counts *out)
{
    *out = (struct ref_counts){.jobs = 0};
    for (uint32_t i = 0; i < s->jobs.count; i++) {
        const struct job *j = &s->jobs.items[i];
        if (j->ended_us == 0 && ref_covers_waiting(s, scope, j)) out->submitted += idset_count(&j->pending);
    }
    for (uint32_t t = 0; t < s->tasks.count; t++) {
        const struct task *k = &s->tasks.items[t];
        if (job_state_is_end(k->state) || k->launch_id >= before) continue;
        const struct job *j = &s->jobs.items[state_find_job(s, k->job_id)];
        if (!ref_covers(s, scope, j, k->assoc, k->partition_qos)) continue; /* as it was at its start */
        int64_t begin_us = k->start_us != 0 ? k->start_us : k->launch_us;
        double left_s = (double)(begin_us + j->time_limit_s * SECOND - now_us) / 1e6;
        out->jobs++;
        out->submitted++;
        for (uint32_t i = 0; i < REF_TRES_COUNT; i++) {
            double amount = ref_task_amount(s, k, i);
            out->used[i] += amount;
            if (left_s > 0) out->reserved_s[i] += amount * k->usage_factor * left_s;
        }
        for (uint32_t p = 0; p < k->placement_count; p++) out->hosts |= UINT64_C(1) << k->placements[p].host;
    }
    out->used[2] = __builtin_popcountll(out->hosts);
}

/* --- what a task asks for ----------------------------------------------------------------------------------------- */

struct ref_request {
    const struct state *s;
    uint32_t assoc, qos[2]; /* in the order in which they decide; NONE: none */
    double tres[REF_TRES_COUNT];
    uint32_t nodes;
    int64_t time_limit_s;
    bool is_time_exempt, is_safe, has_limits;
    double factor;
    uint64_t hosts;  /* where it would be */
    uint64_t before; /* tasks launched from this one on do not count */
    int64_t now_us;
};

static inline bool ref_has_flag(const struct state *s, uint32_t qos, const char *flag)
{
    return qos != NONE && strstr(s->objects[OBJECT_QOS].items[qos].object.value[QOS_FLAGS].text, flag) != NULL;
}

static inline void ref_request_begin(const struct state *s, const struct job *j, uint32_t assoc, uint32_t partition_qos,
                                     int64_t now_us, struct ref_request *out)
{
    const char *enforce = setting_text(&s->settings, SET_ENFORCE);
    uint32_t own = j->qos, other = partition_qos;
    bool is_over = ref_has_flag(s, own, "OverPartQOS");
    if (other == own) other = NONE;
    *out = (struct ref_request){.s = s,
                                .assoc = assoc,
                                .qos = {is_over ? own : other, is_over ? other : own},
                                .time_limit_s = j->time_limit_s,
                                .is_time_exempt = j->is_time_exempt,
                                .is_safe = strstr(enforce, "safe") != NULL,
                                .has_limits = strstr(enforce, "limits") != NULL || strstr(enforce, "safe") != NULL,
                                .factor = s->objects[OBJECT_QOS].items[own].object.value[QOS_USAGE_FACTOR].real,
                                .before = UINT64_MAX,
                                .now_us = now_us};
}

/* Weights of partition main: CPU=1,Mem=0.25G,GRES/gpu=4; of the others none, so each CPU counts 1. */
static inline double ref_billing(uint32_t partition, const double tres[REF_TRES_COUNT])
{
    return partition != 0 ? tres[0] : floor(tres[0] + 0.25 * tres[1] / 1024 + 4 * tres[4] + 1e-9);
}

/* A task of a waiting job with so many slots on so many nodes. */
static inline void ref_request_size(const struct state *s, const struct job *j, uint32_t partition, uint32_t slots,
                                    uint32_t nodes, int64_t now_us, struct ref_request *out)
{
    const struct job_placing *p = j->placing;
    ref_request_begin(s, j, ref_assoc_in(s, j, partition), ref_partition_qos(s, partition), now_us, out);
    out->nodes = nodes;
    out->tres[0] = slots;
    out->tres[1] = p != NULL && p->mem_mib_per_cpu > 0 ? (double)p->mem_mib_per_cpu * slots
                                                       : (double)j->request.mem_mib * out->nodes;
    out->tres[2] = out->nodes;
    out->tres[4] = p != NULL && p->gpus_per_slot > 0 ? (double)p->gpus_per_slot * slots : j->request.gpus;
    out->tres[3] = ref_billing(partition, out->tres);
}

/* On the smallest number of nodes that it asks for. */
static inline void ref_request_slots(const struct state *s, const struct job *j, uint32_t partition, uint32_t slots,
                                     int64_t now_us, struct ref_request *out)
{
    uint32_t nodes = j->placing != NULL && j->placing->node_min > 0 ? j->placing->node_min : 1;
    ref_request_size(s, j, partition, slots, nodes, now_us, out);
}

static inline void ref_request_task(const struct state *s, const struct task *k, int64_t now_us,
                                    struct ref_request *out)
{
    ref_request_begin(s, &s->jobs.items[state_find_job(s, k->job_id)], k->assoc, k->partition_qos, now_us, out);
    for (uint32_t i = 0; i < REF_TRES_COUNT; i++) out->tres[i] = ref_task_amount(s, k, i);
    out->nodes = k->placement_count;
    for (uint32_t p = 0; p < k->placement_count; p++) out->hosts |= UINT64_C(1) << k->placements[p].host;
    out->before = k->launch_id;
}

/* --- single limits ------------------------------------------------------------------------------------------------ */

static inline double ref_minutes(double seconds)
{
    return floor(seconds / 60 + 1e-9);
}

/* Of a request, which is rounded up. */
static inline double ref_asked_minutes(double seconds)
{
    return ceil(seconds / 60 - 1e-9);
}

/* A limit that decides. place: 0, 1 the QOS; 2 and more: associations, from the user's upward. */
struct ref_limit {
    enum ref_kind kind;
    uint32_t tres, place, subject;
    double value;
    struct ref_scope scope;
};

/* kind: a TRES by its index, or USAGE_WALL. */
static inline double ref_used_s(const struct ref_request *r, const struct ref_limit *l, uint32_t kind)
{
    struct state *s = (struct state *)(uintptr_t)r->s;
    double of_qos[USAGE_KIND_COUNT];
    struct arena arena = {0};
    if (l->place < 2) {
        usage_read_qos(s, l->subject, r->now_us, of_qos);
        return of_qos[kind];
    }
    const double *below = usage_read_below(s, kind, r->now_us, &arena);
    double used_s = below[s->node_of.items[l->subject]];
    arena_release(&arena);
    return used_s;
}

static inline bool ref_is_used_up(const struct ref_request *r, const struct ref_limit *l, const struct ref_counts *c)
{
    double asked = ref_asked_minutes(r->tres[l->tres] * (double)r->time_limit_s);
    double used = ref_minutes(ref_used_s(r, l, ref_tres(r->s, l->tres))),
           reserved = ref_minutes(c->reserved_s[l->tres]);
    if (!(r->tres[l->tres] > 0)) return false;
    if (r->is_safe && asked > l->value) return true;
    if (!(r->factor > 0)) return false;
    return used >= l->value || (r->is_safe && used + reserved + asked > l->value);
}

static inline bool ref_is_violated(const struct ref_request *r, const struct ref_limit *l)
{
    struct ref_counts c;
    double asked = r->tres[l->tres], more = asked, time_s = (double)r->time_limit_s;
    ref_count(r->s, &l->scope, r->before, r->now_us, &c);
    if (l->tres == 2) more = __builtin_popcountll(r->hosts & ~c.hosts);
    switch (l->kind) {
    case REF_GRP_JOBS:
    case REF_JOBS:
    case REF_JOBS_PER_ACCOUNT: return c.jobs >= l->value;
    case REF_WALL: return !r->is_time_exempt && time_s > l->value;
    case REF_GRP_WALL: {
        double used = ref_minutes(ref_used_s(r, l, USAGE_WALL));
        return used >= l->value / 60 || (r->is_safe && used + time_s / 60 > l->value / 60);
    }
    case REF_GRP_TRES_MINS: return ref_is_used_up(r, l, &c);
    case REF_GRP_TRES:
    case REF_PER_USER:
    case REF_PER_ACCOUNT: return asked > 0 && (asked > l->value || c.used[l->tres] + more > l->value);
    case REF_GRP_RUN_MINS: {
        double minutes = ref_asked_minutes(asked * time_s);
        return asked > 0 && (minutes > l->value || ref_minutes(c.reserved_s[l->tres]) + minutes > l->value);
    }
    case REF_TRES_MINS: return ref_asked_minutes(asked * time_s) > l->value;
    case REF_TRES: return asked > l->value;
    case REF_PER_NODE: return floor(asked / r->nodes) > l->value;
    case REF_MIN: return asked < l->value;
    default: return false;
    }
}

/* --- all limits --------------------------------------------------------------------------------------------------- */

enum { REF_DECIDING_MAX = 16 };

static inline struct ref_limit ref_of_qos(const struct ref_request *r, uint32_t place, enum ref_kind kind, uint32_t i,
                                          double value)
{
    const struct assoc *a = &r->s->assocs.items[r->assoc];
    char subject = ref_rows[kind].subject;
    return (struct ref_limit){
        kind,  i,
        place, r->qos[place],
        value, {r->qos[place], NONE, subject == 'u' ? a->user : NULL, subject == 'a' ? a->account : NULL}};
}

/* The limits of a kind (and a TRES) that decide: that of the first QOS that has one, else those of associations. */
static inline uint32_t ref_deciding(const struct ref_request *r, enum ref_kind kind, uint32_t i,
                                    struct ref_limit out[REF_DECIDING_MAX])
{
    uint32_t count = 0, level = 2;
    for (uint32_t place = 0; place < 2; place++) {
        double value = ref_qos_limit(r->s, r->qos[place], kind, i);
        if (value < 0) continue;
        out[0] = ref_of_qos(r, place, kind, i, value);
        return 1;
    }
    for (uint32_t at = r->assoc; at != NONE; at = r->s->assocs.items[at].parent, level++) {
        double value = ref_assoc_limit(r->s, at, kind, i);
        if (value < 0) continue;
        uint32_t subject = ref_rows[kind].is_group ? at : r->assoc, place = ref_rows[kind].is_group ? level : 2;
        assert_true(count < REF_DECIDING_MAX);
        out[count++] = (struct ref_limit){kind, i, place, subject, value, {NONE, subject, NULL, NULL}};
        if (!ref_rows[kind].is_group) break;
    }
    return count;
}

static inline bool ref_is_own_nodes(const struct ref_request *r, const struct ref_limit *l)
{
    bool is_counted =
        l->kind == REF_GRP_TRES || l->kind == REF_TRES || l->kind == REF_PER_ACCOUNT || l->kind == REF_PER_USER;
    return l->tres == 2 && is_counted && r->nodes > l->value;
}

static inline uint32_t ref_key(const struct ref_request *r, const struct ref_limit *l)
{
    bool is_first_stage = l->kind <= REF_WALL;
    uint32_t base = is_first_stage ? 0 : 100000, kind = l->kind;
    if (ref_is_own_nodes(r, l)) return 90000;
    return base + l->place * 1000 + kind * 10 + l->tres;
}

struct ref_hits {
    struct ref_limit items[64];
    uint32_t count, first_key; /* of the ones with the smallest key */
};

static inline void ref_note(const struct ref_request *r, const struct ref_limit *l, struct ref_hits *hits)
{
    uint32_t key = ref_key(r, l);
    if (hits->count > 0 && key > hits->first_key) return;
    if (key < hits->first_key) hits->count = 0;
    hits->first_key = key;
    assert_true(hits->count < 64);
    hits->items[hits->count++] = *l;
}

/* Whether all limits let the task start. False: out_hits has the ones of which Slurm would name the first. */
static inline bool ref_admits(const struct ref_request *r, struct ref_hits *out_hits)
{
    struct ref_limit deciding[REF_DECIDING_MAX];
    *out_hits = (struct ref_hits){.first_key = UINT32_MAX};
    for (int kind = 0; r->has_limits && kind <= REF_PER_USER; kind++) {
        for (uint32_t i = 0; i < (ref_is_tres(kind) ? REF_TRES_COUNT : 1); i++) {
            uint32_t count = ref_deciding(r, kind, i, deciding);
            for (uint32_t k = 0; k < count; k++)
                if (ref_is_violated(r, &deciding[k])) ref_note(r, &deciding[k], out_hits);
        }
    }
    return out_hits->count == 0;
}

/* --- submissions -------------------------------------------------------------------------------------------------- */

/* What a task by itself exceeds, whatever others use. */
static inline bool ref_is_exceeded(const struct ref_request *r, const struct ref_limit *l)
{
    double asked = r->tres[l->tres], time_s = (double)r->time_limit_s;
    switch (l->kind) {
    case REF_WALL: return !r->is_time_exempt && time_s > l->value;
    case REF_GRP_WALL: return time_s > l->value;
    case REF_GRP_TRES_MINS:
    case REF_GRP_RUN_MINS:
    case REF_TRES_MINS: return ref_asked_minutes(asked * time_s) > l->value;
    case REF_PER_NODE: return floor(asked / r->nodes) > l->value;
    case REF_MIN: return asked < l->value;
    case REF_TRES:
    case REF_GRP_TRES:
    case REF_PER_USER:
    case REF_PER_ACCOUNT: return asked > l->value;
    default: return false;
    }
}

/* Whether a node may have all that a task asks for. */
static inline bool ref_fits_node(const struct ref_request *r)
{
    struct ref_limit deciding[REF_DECIDING_MAX];
    for (uint32_t i = 0; i < REF_TRES_COUNT; i++) {
        uint32_t count = ref_deciding(r, REF_PER_NODE, i, deciding);
        if (count > 0 && r->tres[i] > deciding[0].value) return false;
    }
    return true;
}

/* The smallest task that a job may have: in "pairs" two slots on each node, in the other environments as many as
 * MaxTRESPerNode allows on each, and if it allows none, all on one. */
static inline void ref_request_smallest(const struct state *s, const struct job *j, uint32_t partition, int64_t now_us,
                                        struct ref_request *out)
{
    uint32_t slots = j->request.cpus, each = slots;
    bool is_even = slots % 2 == 0;
    ref_request_slots(s, j, partition, slots, now_us, out);
    if (j->environment == NONE) return;
    if (strcmp(s->objects[OBJECT_ENVIRONMENT].items[j->environment].object.name, "pairs") == 0) {
        if (!is_even && slots < j->slots_max) slots++;
        ref_request_size(s, j, partition, slots, (slots + 1) / 2, now_us, out);
        return;
    }
    for (; each > 0; each--) {
        ref_request_size(s, j, partition, each, 1, now_us, out);
        if (ref_fits_node(out)) break;
    }
    ref_request_size(s, j, partition, slots, each > 0 ? (slots + each - 1) / each : 1, now_us, out);
}

/* The order of refusals. */
static inline uint32_t ref_refusal_key(const struct ref_limit *l)
{
    static const enum ref_kind of_qos[] = {REF_PER_ACCOUNT,   REF_PER_USER,     REF_GRP_TRES, REF_TRES_MINS,
                                           REF_GRP_TRES_MINS, REF_GRP_RUN_MINS, REF_WALL,     REF_GRP_WALL,
                                           REF_TRES,          REF_PER_NODE,     REF_MIN};
    static const enum ref_kind of_assoc[] = {REF_TRES,     REF_PER_NODE,      REF_TRES_MINS,    REF_WALL,
                                             REF_GRP_TRES, REF_GRP_TRES_MINS, REF_GRP_RUN_MINS, REF_GRP_WALL};
    uint32_t at = 0;
    while ((l->place < 2 ? of_qos : of_assoc)[at] != l->kind) at++;
    return l->place * 1000 + at * 10 + l->tres;
}

static inline bool ref_violates_submit(const struct ref_request *r, const struct ref_limit *l, uint32_t tasks)
{
    struct ref_counts c;
    ref_count(r->s, &l->scope, UINT64_MAX, r->now_us, &c);
    return c.submitted + tasks > l->value;
}

/* Whether tasks may be submitted. False: out_hits has the submit limits that are violated, or else the first one of
 * those that refuse with DenyOnLimit. */
static inline bool ref_admits_submission(const struct ref_request *r, uint32_t tasks, struct ref_hits *out_hits)
{
    struct ref_limit deciding[REF_DECIDING_MAX];
    *out_hits = (struct ref_hits){.first_key = UINT32_MAX};
    for (int kind = REF_GRP_SUBMIT; r->has_limits && kind <= REF_SUBMIT; kind++) {
        uint32_t count = ref_deciding(r, kind, 0, deciding);
        for (uint32_t k = 0; k < count; k++)
            if (ref_violates_submit(r, &deciding[k], tasks)) out_hits->items[out_hits->count++] = deciding[k];
    }
    bool denies = ref_has_flag(r->s, r->qos[0], "DenyOnLimit") || ref_has_flag(r->s, r->qos[1], "DenyOnLimit");
    if (out_hits->count > 0 || !denies || !r->has_limits) return out_hits->count == 0;
    for (int kind = 0; kind <= REF_PER_USER; kind++) {
        for (uint32_t i = 0; i < (ref_is_tres(kind) ? REF_TRES_COUNT : 1); i++) {
            uint32_t count = ref_deciding(r, kind, i, deciding);
            for (uint32_t k = 0; k < count; k++) {
                if (!ref_is_exceeded(r, &deciding[k]) || ref_refusal_key(&deciding[k]) >= out_hits->first_key) continue;
                out_hits->first_key = ref_refusal_key(&deciding[k]);
                out_hits->items[0] = deciding[k];
                out_hits->count = 1;
            }
        }
    }
    return out_hits->count == 0;
}

/* --- names -------------------------------------------------------------------------------------------------------- */

/* The pattern of a kind, with % for the TRES. */
static inline const char *ref_pattern(const struct ref_limit *l)
{
    bool is_qos = l->place < 2, is_cpu = l->tres == 0;
    switch (l->kind) {
    case REF_GRP_JOBS: return is_qos ? "QOSGrpJobsLimit" : "AssocGrpJobsLimit";
    case REF_GRP_WALL: return is_qos ? "QOSGrpWallLimit" : "AssocGrpWallLimit";
    case REF_JOBS_PER_ACCOUNT: return "MaxJobsPerAccount";
    case REF_JOBS: return is_qos ? "QOSMaxJobsPerUserLimit" : "AssocMaxJobsLimit";
    case REF_WALL: return is_qos ? "QOSMaxWallDurationPerJobLimit" : "AssocMaxWallDurationPerJobLimit";
    case REF_GRP_SUBMIT: return is_qos ? "QOSGrpSubmitJobsLimit" : "AssocGrpSubmitJobsLimit";
    case REF_SUBMIT_PER_ACCOUNT: return "MaxSubmitJobsPerAccount";
    case REF_SUBMIT: return is_qos ? "QOSMaxSubmitJobPerUserLimit" : "AssocMaxSubmitJobLimit";
    case REF_GRP_TRES: return is_qos ? "QOSGrp%" : "AssocGrp%";
    case REF_GRP_TRES_MINS:
        return is_cpu ? (is_qos ? "QOSGrpCPUMinutesLimit" : "AssocGrpCPUMinutesLimit")
                      : (is_qos ? "QOSGrp%Minutes" : "AssocGrp%Minutes");
    case REF_GRP_RUN_MINS:
        return is_cpu ? (is_qos ? "QOSGrpCPURunMinutesLimit" : "AssocGrpCPURunMinutesLimit")
                      : (is_qos ? "QOSGrp%RunMinutes" : "AssocGrp%RunMinutes");
    case REF_TRES_MINS:
        return is_cpu ? (is_qos ? "QOSMax%MinutesPerJobLimit" : "AssocMax%MinutesPerJobLimit")
                      : (is_qos ? "QOSMax%MinutesPerJob" : "AssocMax%MinutesPerJob");
    case REF_TRES: return is_qos ? "QOSMax%PerJob" : "AssocMax%PerJob";
    case REF_PER_NODE: return is_qos ? "QOSMax%PerNode" : "AssocMax%PerNode";
    case REF_PER_USER: return "QOSMax%PerUser";
    case REF_PER_ACCOUNT: return "Max%PerAccount";
    default: return "QOSMin%";
    }
}

/* Slurm's name of the reason. */
static inline const char *ref_reason(const struct ref_limit *l)
{
    static const char *const words[] = {"Cpu", "Mem", "Node", "Billing", "GRES"};
    static char text[64];
    const char *pattern = ref_pattern(l), *at = strchr(pattern, '%'), *word = words[l->tres], *end = "";
    bool has_old_end = l->kind == REF_GRP_TRES || l->kind == REF_TRES || l->kind == REF_PER_USER;
    if (at == NULL) return pattern;
    if (l->tres == 1 && l->place < 2 && l->kind != REF_GRP_TRES) word = "Memory";
    if (l->tres == 2 && l->kind == REF_PER_NODE) word = "Unknown";
    if (has_old_end && (l->tres == 0 || l->tres == 2)) end = "Limit";
    if (l->kind == REF_GRP_TRES && l->tres == 1) end = "Limit";
    if (l->kind == REF_MIN && l->tres == 0) end = "NotSatisfied";
    snprintf(text, sizeof text, "%.*s%s%s%s", (int)(at - pattern), pattern, word, at + 1, end);
    return text;
}

static inline bool ref_has_reason(const struct ref_hits *hits, const char *reason)
{
    for (uint32_t i = 0; i < hits->count; i++)
        if (strcmp(ref_reason(&hits->items[i]), reason) == 0) return true;
    return false;
}

#endif
