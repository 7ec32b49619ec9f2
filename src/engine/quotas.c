#include "engine/quotas.h"

#include <math.h>
#include <string.h>

#include "base/ensure.h"

static void find_limited(struct quota_model *q)
{
    q->is_limited = arena_alloc(&q->arena, q->m->resources.list.count + (size_t)1);
    for (uint32_t i = 0; i < q->sets.count; i++) {
        const struct quota_set *set = &q->sets.items[i];
        for (int f = 0; f < QUOTA_FILTER_COUNT; f++) q->mentions[f] |= set->mentions[f];
        for (uint32_t r = 0; r < set->rules.count; r++) {
            for (uint32_t k = 0; k < set->rules.items[r].limit_count; k++)
                q->is_limited[set->amounts[r][k].resource] = true;
        }
    }
}

int quota_model_make(const struct state *s, const struct cluster_model *m, struct quota_model **out, struct err *e)
{
    struct quota_model new = {.s = s, .m = m};
    *out = NULL;
    if (s->object_by_name[OBJECT_QUOTA].count == 0) return 0;
    int status = quota_sets_make(s, &m->resources, &new.arena, &new.sets, e);
    if (status != 0 || new.sets.count == 0) {
        arena_release(&new.arena);
        return status;
    }
    find_limited(&new);
    *out = mem_resize(NULL, 0, sizeof **out);
    **out = new;
    *array_add(&(*out)->found) = (struct demand_quota){.pool = NONE};
    return 0;
}

void quota_model_release(struct quota_model *q)
{
    if (q == NULL) return;
    for (uint32_t i = 0; i < q->pools.list.count; i++) offers_release(&q->pools.list.items[i].offers);
    array_release(&q->pools.list);
    array_release(&q->sources);
    array_release(&q->refreshed);
    array_release(&q->found);
    array_release(&q->lists);
    map_release(&q->pool_by_key);
    map_release(&q->found_by_rules);
    map_release(&q->list_by_found);
    map_release(&q->list_by_job);
    buf_release(&q->key);
    arena_release(&q->arena);
    mem_free(q);
}

/* --- amounts ------------------------------------------------------------------------------------------------------ */

/* A value that the host does not have counts 0, but num_proc is known in any case. */
static double value_on(const struct quota_model *q, uint32_t host, struct str name)
{
    const struct sched_host *h = &q->m->cluster.hosts.items[host];
    const struct offer *o = offers_find(&h->offers, cluster_resources_find(&q->m->resources, name));
    if (o != NULL) return o->amount;
    return str_equal(name, str("num_proc")) ? h->cpus : 0.0;
}

static double amount_on(const struct quota_model *q, uint32_t host, const struct quota_amount *a)
{
    double sum = 0.0;
    if (a->formula.count == 0) return a->amount;
    for (uint32_t i = 0; i < a->formula.count; i++) {
        const struct load_term_text *term = &a->formula.terms[i];
        sum += term->weight * (term->name.length > 0 ? value_on(q, host, term->name) : 1.0);
    }
    return sum > 0.0 ? sum : 0.0;
}

static bool set_amounts(const struct quota_model *q, uint32_t pool)
{
    const struct quota_pool *source = &q->sources.items[pool];
    const struct quota_set *set = &q->sets.items[source->set];
    struct offers *offers = &q->pools.list.items[pool].offers;
    bool has_changed = false;
    for (uint32_t i = 0; i < set->rules.items[source->rule].limit_count; i++) {
        const struct quota_amount *a = &set->amounts[source->rule][i];
        double amount = amount_on(q, source->host, a);
        struct offer *o = offers_find(offers, a->resource);
        if (o == NULL) {
            o = array_add(&offers->list);
            *o = (struct offer){.resource = a->resource, .amount = amount};
        }
        has_changed |= o->amount < amount || o->amount > amount;
        o->amount = amount;
    }
    return has_changed;
}

bool quota_model_refresh(struct quota_model *q)
{
    bool has_changed = false;
    for (uint32_t i = 0; i < q->refreshed.count; i++) has_changed |= set_amounts(q, q->refreshed.items[i]);
    return has_changed;
}

/* --- pools -------------------------------------------------------------------------------------------------------- */

static bool has_formula(const struct quota_set *set, uint32_t rule)
{
    bool found = false;
    for (uint32_t i = 0; i < set->rules.items[rule].limit_count; i++) found |= set->amounts[rule][i].formula.count > 0;
    return found;
}

static const struct quota_found *found_of(struct quota_model *q, uint32_t set, uint32_t rule)
{
    const struct quota_set *of = &q->sets.items[set];
    struct quota_found *found = &of->found[rule];
    if (found->name != NULL) return found;
    struct buf text = {0};
    buf_format(&text, "%s/", of->name);
    quota_text_rule_name(&of->rules.items[rule], rule, &text);
    found->name = arena_copy(&q->arena, (struct str){text.text, text.length});
    found->hosts = quota_sets_hosts(q->s, &q->m->hosts, &of->rules.items[rule], &q->arena);
    buf_release(&text);
    return found;
}

/* "ann/////": as messages of Grid Engine have it. */
static char *pool_text(struct quota_model *q, const char *const members[QUOTA_FILTER_COUNT])
{
    buf_clear(&q->key);
    for (int f = 0; f < QUOTA_FILTER_COUNT; f++) {
        buf_add_text(&q->key, members[f]);
        buf_add_char(&q->key, '/');
    }
    return arena_copy(&q->arena, (struct str){q->key.text, q->key.length});
}

static uint32_t add_pool(struct quota_model *q, const struct quota_pool *source)
{
    uint32_t pool = q->pools.list.count;
    const struct quota_set *of = &q->sets.items[source->set];
    struct quota_pool *kept = array_add(&q->sources);
    *kept = *source;
    for (int f = 0; f < QUOTA_FILTER_COUNT; f++) kept->members[f] = arena_copy(&q->arena, str(source->members[f]));
    if (has_formula(of, source->rule)) *array_add(&q->refreshed) = pool;
    *array_add(&q->pools.list) = (struct sched_pool){

        .set = of->name, .rule = found_of(q, source->set, source->rule)->name, .text = pool_text(q, source->members)};
    (void)set_amounts(q, pool);
    return pool;
}

/* Lengths come before texts, because these may contain anything. */
static void add_part(struct buf *key, bool is_mentioned, const char *text)
{
    if (is_mentioned)
        buf_format(key, " %u:%s", text != NULL ? (uint32_t)strlen(text) + 1 : 0, text != NULL ? text : "");
}

static void keep_key(struct quota_model *q, struct map *map, uint32_t value)
{
    const struct str key = {q->key.text, q->key.length};
    map_set(map, (struct str){arena_copy(&q->arena, key), key.length}, value);
}

/* The pool that a rule has for a subject. host: of the cluster. */
static uint32_t pool_for(struct quota_model *q, uint32_t set, uint32_t rule, const struct quota_subject *subject,
                         uint32_t host)
{
    const struct quota_rule *found = &q->sets.items[set].rules.items[rule];
    const uint32_t numbers[] = {set, rule};
    struct quota_pool source = {.set = set, .rule = rule, .host = found->scope[QUOTA_HOSTS].is_each ? host : NONE};
    quota_sets_list_members(q->s, found, subject, source.members);
    buf_clear(&q->key);
    buf_add(&q->key, (const char *)numbers, sizeof numbers);
    for (int f = 0; f < QUOTA_FILTER_COUNT; f++) buf_add(&q->key, source.members[f], strlen(source.members[f]) + 1);
    uint32_t pool = map_get(&q->pool_by_key, (struct str){q->key.text, q->key.length});
    if (pool != NONE) return pool;
    const struct str key = {q->key.text, q->key.length};
    const char *kept = arena_copy(&q->arena, key); /* the text of the pool needs the buffer */
    pool = add_pool(q, &source);
    map_set(&q->pool_by_key, (struct str){kept, key.length}, pool);
    return pool;
}

/* --- what a set means for a job ----------------------------------------------------------------------------------- */

static struct quota_subject subject_of(const struct quota_job *job)
{
    return (struct quota_subject){
        .user = job->user, .department = job->department, .project = job->project, .pe = job->pe};
}

/* Whether a rule is for the queue of each partition. */
static bool *find_queues(const struct quota_model *q, const struct quota_rule *rule, struct arena *arena)
{
    uint32_t count = q->s->objects[OBJECT_PARTITION].count;
    bool *matches = arena_alloc(arena, count + (size_t)1);
    for (uint32_t i = 0; i < count; i++)
        matches[i] = quota_sets_has_queue(q->s, rule, q->s->objects[OBJECT_PARTITION].items[i].object.name);
    return matches;
}

/* Gives the instances that a rule is for and that have no pool yet those of the rule. */
static void add_pools_of_rule(struct quota_model *q, uint32_t set, uint32_t rule, const struct quota_job *job,
                              uint32_t count, uint32_t *pools)
{
    const struct cluster_model *m = q->m;
    const struct quota_rule *of = &q->sets.items[set].rules.items[rule];
    const uint64_t *hosts = found_of(q, set, rule)->hosts;
    bool is_by_instance = of->scope[QUOTA_QUEUES].is_each || of->scope[QUOTA_HOSTS].is_each;
    struct arena scratch = {0};
    const bool *queues = find_queues(q, of, &scratch);
    struct quota_subject subject = subject_of(job);
    uint32_t common = NONE;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t host = m->cluster.instances.items[i].host, partition = m->partition_of[i];
        if (pools[i] != NONE || !queues[partition]) continue;
        if (hosts != NULL && !host_set_has(hosts, m->host_of[host])) continue;
        subject.queue = q->s->objects[OBJECT_PARTITION].items[partition].object.name;
        subject.host = m->host_of[host];
        if (is_by_instance || common == NONE) common = pool_for(q, set, rule, &subject, host);
        pools[i] = common;
    }
    arena_release(&scratch);
}

static bool is_for_all_instances(const struct quota_rule *rule)
{
    return rule->scope[QUOTA_QUEUES].count == 0 && rule->scope[QUOTA_HOSTS].count == 0;
}

/* The pool of the first rule that is for the job on an instance, by instance; NONE: no rule is. */
static void list_pools(struct quota_model *q, uint32_t set, const struct quota_job *job, uint32_t count,
                       uint32_t *out_pools)
{
    const struct quota_set *of = &q->sets.items[set];
    const struct quota_subject subject = subject_of(job);
    bool is_last = false;
    for (uint32_t i = 0; i < count; i++) out_pools[i] = NONE;
    for (uint32_t i = 0; i < of->rules.count && !is_last; i++) {
        if (!quota_sets_may_be_for(q->s, &of->rules.items[i], &subject)) continue;
        add_pools_of_rule(q, set, i, job, count, out_pools);
        is_last = is_for_all_instances(&of->rules.items[i]);
    }
}

/* One pool for all instances is no table. Returns an index of q->found. */
static uint32_t find_pools(struct quota_model *q, uint32_t set, const struct quota_job *job)
{
    const struct cluster *c = &q->m->cluster;
    const bool *mentions = q->sets.items[set].mentions;
    bool is_by_instance = mentions[QUOTA_QUEUES] || mentions[QUOTA_HOSTS], are_equal = true;
    uint32_t count = is_by_instance || c->instances.count == 0 ? c->instances.count : 1;
    struct arena scratch = {0};
    uint32_t *pools = arena_alloc(&scratch, (count + (size_t)1) * sizeof *pools);
    list_pools(q, set, job, count, pools);
    uint32_t first = count > 0 ? pools[0] : NONE;
    for (uint32_t i = 0; i < count; i++) are_equal &= pools[i] == first;
    struct demand_quota found = {.pool = first};
    if (!are_equal) {
        uint32_t *kept = arena_alloc_raw(&q->arena, count * sizeof *kept);
        memcpy(kept, pools, count * sizeof *kept);
        found = (struct demand_quota){NONE, kept};
    }
    arena_release(&scratch);
    if (are_equal && first == NONE) return 0;
    *array_add(&q->found) = found;
    return q->found.count - 1;
}

/* The rules of a set that are for a job on some instance, as far as its queue and host are not asked, up to the first
 * one that does not ask for them, each with the parts of the job that have pools of their own. Returns whether there
 * are any. */
static bool list_rules(struct quota_model *q, uint32_t set, const struct quota_job *job)
{
    const struct quota_set *of = &q->sets.items[set];
    const struct quota_subject subject = subject_of(job);
    bool has_any = false, is_last = false;
    buf_clear(&q->key);
    buf_format(&q->key, "%u", set);
    for (uint32_t i = 0; i < of->rules.count && !is_last; i++) {
        const struct quota_rule *rule = &of->rules.items[i];
        if (!quota_sets_may_be_for(q->s, rule, &subject)) continue;
        has_any = true;
        is_last = is_for_all_instances(rule);
        buf_format(&q->key, " /%u", i);
        add_part(&q->key, rule->scope[QUOTA_USERS].is_each, job->user);
        add_part(&q->key, rule->scope[QUOTA_PROJECTS].is_each, job->project);
        add_part(&q->key, rule->scope[QUOTA_PES].is_each, job->pe);
    }
    return has_any;
}

/* The index in q->found of what a set means for a job. */
static uint32_t find_in_set(struct quota_model *q, uint32_t set, const struct quota_job *job)
{
    if (!list_rules(q, set, job)) return 0;
    uint32_t found = map_get(&q->found_by_rules, (struct str){q->key.text, q->key.length});
    if (found != NONE) return found;
    found = find_pools(q, set, job);
    (void)list_rules(q, set, job); /* the key again, which pools have had meanwhile */
    keep_key(q, &q->found_by_rules, found);
    return found;
}

static uint32_t add_list(struct quota_model *q, const struct quota_job *job)
{
    size_t size = q->sets.count * sizeof(uint32_t);
    struct arena scratch = {0};
    uint32_t *found = arena_alloc_raw(&scratch, size);
    for (uint32_t set = 0; set < q->sets.count; set++) found[set] = find_in_set(q, set, job);
    uint32_t list = map_get(&q->list_by_found, (struct str){(const char *)found, size});
    if (list == NONE) {
        uint32_t *kept = arena_alloc_raw(&q->arena, size);
        memcpy(kept, found, size);
        list = q->lists.count;
        *array_add(&q->lists) = kept;
        map_set(&q->list_by_found, (struct str){(const char *)kept, size}, list);
    }
    arena_release(&scratch);
    return list;
}

static void make_job_key(struct quota_model *q, const struct quota_job *job)
{
    buf_clear(&q->key);
    add_part(&q->key, q->mentions[QUOTA_USERS], job->user);
    add_part(&q->key, q->mentions[QUOTA_PROJECTS], job->project);
    add_part(&q->key, q->mentions[QUOTA_PES], job->pe);
}

uint32_t quota_model_find(struct quota_model *q, const struct quota_job *job)
{
    make_job_key(q, job);
    uint32_t list = map_get(&q->list_by_job, (struct str){q->key.text, q->key.length});
    if (list != NONE) return list;
    list = add_list(q, job);
    make_job_key(q, job);
    keep_key(q, &q->list_by_job, list);
    return list;
}
