/* Random worlds for the laws of limits: deep trees of accounts, several QOS, partitions with and without a QOS of their
 * own, several hosts, jobs of all forms, and limits of every kind around what is in use. */
#ifndef FAIRLEAD_TESTS_LIMIT_WORLD_H
#define FAIRLEAD_TESTS_LIMIT_WORLD_H

#include "limit_reference.h"

#include "base/rng.h"

enum { WORLD_USERS = 4, WORLD_QOS = 4, WORLD_PARTITIONS = 3 };
static const char *const limit_users[WORLD_USERS] = {"ann", "bob", "cat", "dan"};
static const char *const limit_qos[WORLD_QOS] = {"normal", "q1", "q2", "pq"};
static const char *const limit_partitions[WORLD_PARTITIONS] = {"main", "p1", "p2"};
static const char *const limit_hosts[] = {NULL, "n2", "n3", "n4"};

static inline void limit_world_account(struct world *w, const char *name, const char *parent)
{
    const struct event add = {.kind = EVENT_ACCOUNT_ADD, .account = {name, parent, SHARES_UNSET, PRIORITY_UNSET}};
    assert_int_equal(world_apply(w, add, NULL), 0);
}

static inline const char *limit_world_name(uint32_t account)
{
    static const char *const names[] = {"a0", "a1", "a2", "a3", "a4", "a5", "a6"};
    return names[account];
}

/* A user in an account, now and then also for one or two partitions. */
static inline void limit_world_user(struct world *w, struct rng *rng, const char *account, const char *user)
{
    if (state_find_assoc(&w->s, account, user) == NONE) world_user(w, account, 1, user);
    for (uint32_t n = rng_below(rng, 3); n > 0; n--) {
        const char *partition = limit_partitions[rng_below(rng, WORLD_PARTITIONS)];
        const struct event add = {.kind = EVENT_USER_ADD,
                                  .user = {.name = user,
                                           .account = account,
                                           .shares = 1 + rng_below(rng, 3),
                                           .priority = PRIORITY_UNSET,
                                           .partition = partition}};
        if (state_find_assoc_of_partition(&w->s, account, user, partition) == NONE)
            assert_int_equal(world_apply(w, add, NULL), 0);
    }
}

/* Accounts a0 to at most a6, each below root or an earlier one; each user in one to three of them. */
static inline uint32_t limit_world_tree(struct world *w, struct rng *rng)
{
    uint32_t count = 3 + rng_below(rng, 5), depth[8] = {1};
    for (uint32_t i = 0; i < count; i++) {
        uint32_t parent = i > 0 && rng_below(rng, 4) ? rng_below(rng, i) : NONE;
        if (parent != NONE && depth[parent] >= 4) parent = NONE;
        depth[i] = parent != NONE ? depth[parent] + 1 : 1;
        limit_world_account(w, limit_world_name(i), parent != NONE ? limit_world_name(parent) : NULL);
    }
    for (uint32_t u = 0; u < WORLD_USERS; u++) {
        for (uint32_t n = 1 + rng_below(rng, 3); n > 0; n--)
            limit_world_user(w, rng, limit_world_name(rng_below(rng, count)), limit_users[u]);
    }
    return count;
}

/* The machine has to be the same after a restart, so it follows from the seed alone. */
static inline void limit_world_attach(struct state *s, int64_t now_us, uint64_t seed)
{
    struct rng rng = {seed * 7919};
    struct outcome out = {0};
    for (uint32_t i = 0; i < sizeof limit_hosts / sizeof *limit_hosts; i++) {
        const struct capacity has = {4 + rng_below(&rng, 9), rng_below(&rng, 4), 200 + rng_below(&rng, 300)};
        const struct event host = {.kind = EVENT_HOST, .actor = world_operator, .host = {has, limit_hosts[i]}};
        if (i > 0 && state_find_object(s, OBJECT_HOST, limit_hosts[i]) == NONE) continue;
        assert_int_equal(engine_apply(s, now_us, &host, &out, NULL, NULL), 0);
    }
    outcome_release(&out);
}

static inline void limit_world_enforce(struct world *w, struct rng *rng)
{
    static const char *const choices[] = {"associations,limits,qos",      "associations,limits,qos,safe",
                                          "associations,limits,qos",      "associations,limits,qos,safe",
                                          "associations,limits,qos,safe", "associations,qos"};
    world_set(w, "AccountingStorageEnforce", choices[rng_below(rng, 6)]);
}

static inline void limit_world_qos(struct world *w, struct rng *rng, uint32_t qos)
{
    static const char *const flags[] = {"", "", "DenyOnLimit", "OverPartQOS", "DenyOnLimit,OverPartQOS"};
    static const char *const factors[] = {"0", "0.5", "1", "1", "2"};
    char fields[100];
    snprintf(fields, sizeof fields, "flags=%s|usage_factor=%s", flags[rng_below(rng, 5)], factors[rng_below(rng, 5)]);
    world_object(w, OBJECT_QOS, limit_qos[qos], fields);
}

static inline void limit_world_partition_qos(struct world *w, struct rng *rng, uint32_t partition)
{
    static const char *const choices[] = {"QOS=", "QOS=pq", "QOS=q1"};
    world_object(w, OBJECT_PARTITION, limit_partitions[partition], choices[rng_below(rng, 3)]);
}

/* Returns the number of accounts. */
static inline uint32_t limit_world_make(struct world *w, struct rng *rng)
{
    uint32_t hosts = 1 + rng_below(rng, 4);
    world_settings(w, "reservations=none PriorityWeightAge=1000 PriorityWeightQOS=500 weight_tickets_functional=1000");
    world_set(w, "PriorityType", priority_model_names[rng_below(rng, MODEL_COUNT)]);
    for (uint32_t i = 1; i < hosts; i++) world_object(w, OBJECT_HOST, limit_hosts[i], "");
    for (uint32_t i = 0; i < WORLD_QOS; i++) limit_world_qos(w, rng, i);
    world_object(w, OBJECT_PARTITION, "main", "TRESBillingWeights=CPU=1.0,Mem=0.25G,GRES/gpu=4.0");
    world_object(w, OBJECT_ENVIRONMENT, "fill", "allocation_rule=$fill_up");
    world_object(w, OBJECT_ENVIRONMENT, "rr", "allocation_rule=$round_robin");
    world_object(w, OBJECT_ENVIRONMENT, "pairs", "allocation_rule=2");
    for (uint32_t i = 0; i < WORLD_PARTITIONS; i++) {
        limit_world_partition_qos(w, rng, i);
        world_object(w, OBJECT_PARTITION, limit_partitions[i], "pe_list=fill rr pairs");
    }
    limit_world_enforce(w, rng);
    return limit_world_tree(w, rng);
}

/* --- limits ------------------------------------------------------------------------------------------------------- */

static inline double limit_world_near(struct rng *rng, double used, double typical)
{
    double value = rng_below(rng, (uint32_t)typical + 1);
    switch (rng_below(rng, 8)) {
    case 0: value = 0; break;
    case 1: value = used - 1; break;
    case 2: value = used; break;
    case 3: value = used + 1; break;
    case 4: value += used; break;
    default: break;
    }
    return value > 0 ? floor(value) : 0;
}

/* A limit of a kind for those who count in a scope, as text; "": none. */
static inline void limit_world_value(struct world *w, struct rng *rng, enum ref_kind kind,
                                     const struct ref_scope *scope, char *out, size_t size)
{
    static const double typical[REF_TRES_COUNT] = {12, 200, 4, 14, 3};
    struct ref_counts c;
    uint32_t i = rng_below(rng, REF_TRES_COUNT), k = rng_below(rng, REF_TRES_COUNT);
    bool is_timed = kind == REF_GRP_TRES_MINS || kind == REF_GRP_RUN_MINS || kind == REF_TRES_MINS;
    double scale = is_timed ? 10 : 1;
    ref_count(&w->s, scope, UINT64_MAX, w->now_us, &c);
    if (kind == REF_MIN) scale = 0.3;
    const double *used = is_timed ? c.reserved_s : c.used;
    double first = limit_world_near(rng, is_timed ? used[i] / 60 : used[i], typical[i] * scale);
    double second = limit_world_near(rng, is_timed ? used[k] / 60 : used[k], typical[k] * scale);
    if (!ref_is_tres(kind)) {
        bool is_wall = kind == REF_WALL || kind == REF_GRP_WALL, is_submit = kind >= REF_GRP_SUBMIT;
        snprintf(out, size, "%.0f", limit_world_near(rng, is_submit ? c.submitted : c.jobs, is_wall ? 20 : 6));
    } else if (i == k || rng_below(rng, 2)) {
        snprintf(out, size, "%s=%.0f", ref_tres_names[i], first);
    } else {
        snprintf(out, size, "%s=%.0f,%s=%.0f", ref_tres_names[i], first, ref_tres_names[k], second);
    }
}

/* Text of a field; without value: no limit. */
static inline const char *limit_world_text(enum ref_kind kind, const char *value)
{
    return value[0] == '\0' && !ref_is_tres(kind) ? "-1" : value;
}

/* Makes this the only limit of the kind. value: "": none. */
static inline void limit_world_set_assoc(struct world *w, uint32_t assoc, enum ref_kind kind, const char *value)
{
    const struct assoc *a = &w->s.assocs.items[assoc];
    const struct event_pair pairs[] = {{ref_rows[kind].key, "-1"}, {ref_rows[kind].key, limit_world_text(kind, value)}};
    struct event event = {.kind = EVENT_ACCOUNT_MODIFY,
                          .account = {a->account, NULL, SHARES_UNSET, PRIORITY_UNSET, false, pairs, 2}};
    if (a->user != NULL)
        event = (struct event){
            .kind = EVENT_USER_MODIFY,
            .user = {a->user, a->account, SHARES_UNSET, false, PRIORITY_UNSET, false, pairs, 2, a->partition}};
    if (world_apply(w, event, NULL) != 0) fail_msg("%s", ERR_SENTENCE(&w->e));
}

static inline void limit_world_set_qos(struct world *w, uint32_t qos, enum ref_kind kind, const char *value)
{
    const struct object_row *row = &w->s.objects[OBJECT_QOS].items[qos];
    const struct field *f = &object_classes[OBJECT_QOS].fields[ref_rows[kind].qos];
    char fields[200];
    snprintf(fields, sizeof fields, "%s=-1|%s=%s", f->name, f->name, limit_world_text(kind, value));
    world_object(w, OBJECT_QOS, row->object.name, fields);
}

/* What most limits of a world are of: anything; numbers of nodes; minutes. */
enum limit_world_theme { THEME_ANY, THEME_NODES, THEME_MINUTES, THEME_COUNT };

static inline enum ref_kind limit_world_kind(struct rng *rng, enum limit_world_theme theme)
{
    static const enum ref_kind of_nodes[] = {REF_GRP_TRES, REF_GRP_TRES, REF_PER_USER, REF_PER_ACCOUNT};
    static const enum ref_kind of_minutes[] = {REF_GRP_TRES_MINS, REF_GRP_WALL, REF_GRP_RUN_MINS, REF_TRES_MINS};
    if (theme == THEME_NODES && rng_below(rng, 4)) return of_nodes[rng_below(rng, 4)];
    if (theme == THEME_MINUTES && rng_below(rng, 4)) return of_minutes[rng_below(rng, 4)];
    return (enum ref_kind)rng_below(rng, REF_KIND_COUNT);
}

/* Sets or clears a random limit. */
static inline void limit_world_change(struct world *w, struct rng *rng, enum limit_world_theme theme)
{
    enum ref_kind kind = limit_world_kind(rng, theme);
    bool is_qos = ref_rows[kind].assoc < 0 || rng_below(rng, 2), is_cleared = rng_below(rng, 5) < 2;
    uint32_t subject = rng_below(rng, is_qos ? w->s.objects[OBJECT_QOS].count : w->s.assocs.count);
    const struct ref_scope scope = {is_qos ? subject : NONE, is_qos ? NONE : subject, NULL, NULL};
    char value[100] = "";
    if (!is_cleared && theme == THEME_NODES && ref_is_tres(kind))
        snprintf(value, sizeof value, "node=%u", 1 + rng_below(rng, 3));
    else if (!is_cleared)
        limit_world_value(w, rng, kind, &scope, value, sizeof value);
    if (is_qos)
        limit_world_set_qos(w, subject, kind, value);
    else
        limit_world_set_assoc(w, subject, kind, value);
}

/* --- jobs --------------------------------------------------------------------------------------------------------- */

/* are_alike: many jobs are equal. */
static inline struct event limit_world_job(struct world *w, struct rng *rng, bool are_alike)
{
    static const char *const partitions[] = {"main", "p1", "p2", "p1,p2", "p2,main", "main"};
    uint32_t user, cpus = 1 + rng_below(rng, rng_below(rng, 2) ? 3 : 8), mem_mib = 1 + rng_below(rng, 60);
    struct assoc *a;
    if (are_alike) {
        cpus = 1 + cpus % 2;
        mem_mib = 10;
    }
    do a = &w->s.assocs.items[user = rng_below(rng, w->s.assocs.count)];
    while (a->user == NULL);
    const struct job_values *v =
        job_text("name=job|directory=/home/x|command=true|cpus=%u|account=%s", cpus, a->account);
    v = job_with(v, "time_limit_s=%u|partitions=%s", are_alike ? 600 : 60 * (1 + rng_below(rng, 20)),
                 partitions[rng_below(rng, 6)]);
    v = job_with(v, "qos=%s", limit_qos[rng_below(rng, 4) ? rng_below(rng, 3) : 0]);
    if (rng_below(rng, 4) == 0)
        v = job_with(v, "mem_per_cpu_mib=%u", 1 + mem_mib / cpus);
    else
        v = job_with(v, "mem_mib=%u", mem_mib);
    if (rng_below(rng, 4) == 0) v = job_with(v, rng_below(rng, 3) ? "gpus=1" : "gpus=2");
    if (rng_below(rng, 4) == 0) v = job_with(v, "array=0-%u%s", 1 + rng_below(rng, 4), rng_below(rng, 2) ? "%2" : "");
    if (rng_below(rng, 12) == 0) v = job_with(v, "held=yes");
    if (rng_below(rng, 5) == 0) v = job_with(v, "cpus=2|slots_max=%u", 2 + rng_below(rng, 7));
    if (rng_below(rng, 6) == 0 && cpus > 2)
        v = job_with(v, "slots_max=0|nodes=%s", rng_below(rng, 2) ? "2" : rng_below(rng, 2) ? "1-2" : "1-3");
    static const char *const environments[] = {"fill", "rr", "pairs"};
    bool has_nodes = v->is_given[JOB_FIELD_NODES];
    if (rng_below(rng, 5) == 0 && !has_nodes) v = job_with(v, "pe=%s", environments[rng_below(rng, cpus % 2 ? 2 : 3)]);
    if (rng_below(rng, 25) == 0) { /* a user who gets an association with the first job */
        struct job_values own = *v;
        own.is_given[JOB_FIELD_ACCOUNT] = false;
        return (struct event){
            .kind = EVENT_SUBMIT, .actor = {1000, 1000, "eve", ROLE_USER}, .submit = job_with(&own, "nice=0")};
    }
    return (struct event){.kind = EVENT_SUBMIT, .actor = {1000, 1000, a->user, ROLE_USER}, .submit = v};
}

#endif
