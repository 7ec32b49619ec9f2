#include "engine/limits.h"

#include <math.h>

#include "engine/limit_check.h"
#include "engine/limit_usage.h"
#include "engine/partition_limits.h"
#include "fields/limit_fields.h"
#include "fields/setting_text.h"

bool limits_apply(struct state *s)
{
    const struct limit_table *t = limit_table_of(s);
    return t->has_any && (s->policy.enforce & ENFORCE_LIMITS) != 0;
}

/* Whether the usage that a QOS or an association has becomes less with time. */
static bool has_decay(const struct limit_check *c, int place, uint32_t subject)
{
    bool keeps = place != LIMIT_CHECK_ASSOC && (c->s->objects[OBJECT_QOS].items[subject].qos_flags & QOS_NO_DECAY) != 0;
    return c->s->decay.halflife_us > 0 && !keeps;
}

/* --- single limits: true if they block ---------------------------------------------------------------------------- */

static bool jobs_hit(const struct limit_check *c, int place, uint32_t subject, const struct limit_set *l,
                     enum limit_count limit, const struct limit_counter *k)
{
    int64_t max = l->count[limit];
    uint32_t used = k != NULL ? k->jobs : 0;
    if (max == LIMIT_UNLIMITED || used < max || limit_check_count_is_decided(c, place, limit)) return false;
    return limit_check_hit_count(c, place, subject, limit, k, (double)max, used);
}

static bool wall_hit(const struct limit_check *c, int place, uint32_t subject, const struct limit_set *l,
                     const struct limit_counter *k)
{
    int64_t max_s = l->count[LIMIT_GRP_WALL];
    if (max_s == LIMIT_UNLIMITED || limit_check_count_is_decided(c, place, LIMIT_GRP_WALL)) return false;
    double used_s = limit_usage_of(c->s, place != LIMIT_CHECK_ASSOC, subject, USAGE_WALL, c->now_us);
    double max = (double)max_s / LIMIT_MINUTE_S, used = limit_usage_minutes(used_s);
    double asked = c->is_safe ? (double)c->r->time_limit_s / LIMIT_MINUTE_S : 0.0;
    if (used < max && used + asked <= max) return false;
    (void)limit_check_hit_count(c, place, subject, LIMIT_GRP_WALL, k, max, used);
    c->hit->requested = asked;
    c->hit->falls = max > 0.0 && asked <= max && has_decay(c, place, subject);
    return true;
}

/* Of the TRES of tasks that have places. */
static bool used_hit(const struct limit_check *c, int place, uint32_t subject, enum limit_tres limit,
                     const struct tres_amount *max, const struct limit_counter *k)
{
    double asked = tres_amount_of(&c->r->tres, max->tres), used = limit_counter_used(k, max->tres);
    double more = max->tres == TRES_NODE ? 0.0 : asked; /* a node that its group has counts once: limits_list_hosts */
    if (!(asked > 0.0) || (asked <= max->amount && used + more <= max->amount)) return false;
    return limit_check_hit_tres(c, place, subject, limit, max, k, used, asked);
}

/* A usage factor of 0 charges nothing, so what others have used does not count either. */
static bool usage_hit(const struct limit_check *c, int place, uint32_t subject, const struct tres_amount *max,
                      const struct limit_counter *k)
{
    double amount = tres_amount_of(&c->r->tres, max->tres), asked = limit_check_minutes(c, amount);
    bool is_charged = c->r->usage_factor > 0.0;
    if (!(amount > 0.0)) return false;
    bool is_qos = place != LIMIT_CHECK_ASSOC;
    double used_s = is_charged ? limit_usage_of(c->s, is_qos, subject, max->tres, c->now_us) : 0.0;
    double used = limit_usage_minutes(used_s);
    double reserved =
        is_charged ? limit_usage_minutes(limit_counter_reserved(c->counts, k, max->tres, c->now_us)) : 0.0;
    bool is_hit = is_charged && used >= max->amount;
    if (c->is_safe) is_hit |= asked > max->amount || (is_charged && used + reserved + asked > max->amount);
    if (!is_hit) return false;
    (void)limit_check_hit_tres(c, place, subject, LIMIT_GRP_TRES_MINS, max, k, used + (c->is_safe ? reserved : 0.0),
                               asked);
    bool can_fit = max->amount > 0.0 && (!c->is_safe || asked <= max->amount);
    c->hit->falls = can_fit && ((used < max->amount && reserved > 0.0) || has_decay(c, place, subject));
    return true;
}

static bool reserve_hit(const struct limit_check *c, int place, uint32_t subject, const struct tres_amount *max,
                        const struct limit_counter *k)
{
    double amount = tres_amount_of(&c->r->tres, max->tres), asked = limit_check_minutes(c, amount);
    double reserved = limit_usage_minutes(limit_counter_reserved(c->counts, k, max->tres, c->now_us));
    if (!(amount > 0.0) || (asked <= max->amount && reserved + asked <= max->amount)) return false;
    (void)limit_check_hit_tres(c, place, subject, LIMIT_GRP_TRES_RUN_MINS, max, k, reserved, asked);
    c->hit->falls = asked <= max->amount;
    return true;
}

static bool one_hit(const struct limit_check *c, int place, uint32_t subject, enum limit_tres limit,
                    const struct tres_amount *max, const struct limit_counter *k)
{
    switch (limit) {
    case LIMIT_GRP_TRES_MINS: return usage_hit(c, place, subject, max, k);
    case LIMIT_GRP_TRES_RUN_MINS: return reserve_hit(c, place, subject, max, k);
    case LIMIT_GRP_TRES:
    case LIMIT_MAX_TRES_PER_USER:
    case LIMIT_MAX_TRES_PER_ACCOUNT: return used_hit(c, place, subject, limit, max, k);
    default: return limit_check_own_hit(c, place, subject, limit, max);
    }
}

/* The TRES of a limit in order of index. */
static bool tres_hit(const struct limit_check *c, int place, uint32_t subject, const struct limit_set *l,
                     enum limit_tres limit, const struct limit_counter *k)
{
    const struct tres_list *list = &l->tres[limit];
    for (uint32_t i = 0; i < list->count; i++) {
        if (c->has_qos_limits && limit_check_tres_is_decided(c, place, limit, list->items[i].tres)) continue;
        if (one_hit(c, place, subject, limit, &list->items[i], k)) return true;
    }
    return false;
}

/* --- the order of reasons ----------------------------------------------------------------------------------------- */

static bool qos_counts_hit(const struct limit_check *c, int i)
{
    const struct limit_set *l = c->of_qos[i];
    uint32_t qos = c->qos[i];
    if (l == NULL) return false;
    const struct limit_counter *all = limit_counts_of_qos(c->counts, qos);
    return jobs_hit(c, i, qos, l, LIMIT_GRP_JOBS, all) || wall_hit(c, i, qos, l, all) ||
           jobs_hit(c, i, qos, l, LIMIT_MAX_JOBS_PER_ACCOUNT, limit_counts_of_account(c->counts, qos, c->r->account)) ||
           jobs_hit(c, i, qos, l, LIMIT_MAX_JOBS, limit_counts_of_user(c->counts, qos, c->r->user)) ||
           limit_check_time_hit(c, i, qos, l);
}

static bool group_counts_hit(const struct limit_check *c, uint32_t group)
{
    const struct limit_set *l = c->table->of_assoc.items[group];
    const struct limit_counter *k = limit_counts_of_assoc(c->counts, group);
    return jobs_hit(c, LIMIT_CHECK_ASSOC, group, l, LIMIT_GRP_JOBS, k) || wall_hit(c, LIMIT_CHECK_ASSOC, group, l, k);
}

/* Grp limits of the user, then the Max limits, then Grp limits upward. */
static bool assoc_counts_hit(const struct limit_check *c)
{
    uint32_t assoc = c->r->assoc, group = limit_check_group_at(c, assoc);
    const struct limit_set *member = c->table->of_member.items[assoc];
    bool has_own = group == assoc && !c->r->is_new_user;
    if (has_own && group_counts_hit(c, group)) return true;
    if (member != NULL && (jobs_hit(c, LIMIT_CHECK_ASSOC, assoc, member, LIMIT_MAX_JOBS, limit_check_user_counter(c)) ||
                           limit_check_time_hit(c, LIMIT_CHECK_ASSOC, assoc, member)))
        return true;
    if (has_own) group = limit_check_group_above(c, group);
    for (; group != NONE; group = limit_check_group_above(c, group)) {
        if (group_counts_hit(c, group)) return true;
    }
    return false;
}

/* The smallest number of nodes that any limit lets one task have. */
static void lower_nodes(const struct limit_check *c, int place, uint32_t subject, const struct limit_set *l,
                        enum limit_tres limit, double *io_min)
{
    double max = limit_table_amount(l, limit, TRES_NODE);
    if (max < 0.0 || max >= *io_min || limit_check_tres_is_decided(c, place, limit, TRES_NODE)) return;
    *io_min = max;
    if (c->r->nodes > max)
        (void)limit_check_hit_tres(c, place, subject, limit, &(struct tres_amount){TRES_NODE, max}, NULL, 0.0,
                                   c->r->nodes);
}

static bool nodes_hit(const struct limit_check *c)
{
    double min = INFINITY;
    for (int i = 0; i < LIMIT_CHECK_QOS_COUNT; i++) {
        static const enum limit_tres order[] = {LIMIT_GRP_TRES, LIMIT_MAX_TRES_PER_ACCOUNT, LIMIT_MAX_TRES_PER_USER,
                                                LIMIT_MAX_TRES};
        for (size_t k = 0; k < sizeof order / sizeof *order; k++)
            lower_nodes(c, i, c->qos[i], c->of_qos[i], order[k], &min);
    }
    const struct limit_set *member = c->table->of_member.items[c->r->assoc];
    if (member != NULL) lower_nodes(c, LIMIT_CHECK_ASSOC, c->r->assoc, member, LIMIT_MAX_TRES, &min);
    for (uint32_t group = limit_check_group_at(c, c->r->assoc); group != NONE;
         group = limit_check_group_above(c, group))
        lower_nodes(c, LIMIT_CHECK_ASSOC, group, c->table->of_assoc.items[group], LIMIT_GRP_TRES, &min);
    return c->hit->reason != PENDING_NONE;
}

static const struct limit_counter *qos_counter(const struct limit_check *c, int i, enum limit_tres limit)
{
    if (limit == LIMIT_MAX_TRES_PER_USER) return limit_counts_of_user(c->counts, c->qos[i], c->r->user);
    if (limit == LIMIT_MAX_TRES_PER_ACCOUNT) return limit_counts_of_account(c->counts, c->qos[i], c->r->account);
    return limit_counts_of_qos(c->counts, c->qos[i]);
}

static bool qos_tres_hit(const struct limit_check *c, int i)
{
    static const enum limit_tres order[] = {
        LIMIT_GRP_TRES_MINS,     LIMIT_GRP_TRES, LIMIT_GRP_TRES_RUN_MINS,    LIMIT_MAX_TRES_MINS,    LIMIT_MAX_TRES,
        LIMIT_MAX_TRES_PER_NODE, LIMIT_MIN_TRES, LIMIT_MAX_TRES_PER_ACCOUNT, LIMIT_MAX_TRES_PER_USER};
    const struct limit_set *l = c->of_qos[i];
    if (l == NULL) return false;
    for (size_t k = 0; k < sizeof order / sizeof *order; k++) {
        if (l->tres[order[k]].count > 0 && tres_hit(c, i, c->qos[i], l, order[k], qos_counter(c, i, order[k])))
            return true;
    }
    return false;
}

static bool group_tres_hit(const struct limit_check *c, uint32_t group)
{
    const struct limit_set *l = c->table->of_assoc.items[group];
    const struct limit_counter *k = limit_counts_of_assoc(c->counts, group);
    return tres_hit(c, LIMIT_CHECK_ASSOC, group, l, LIMIT_GRP_TRES_MINS, k) ||
           tres_hit(c, LIMIT_CHECK_ASSOC, group, l, LIMIT_GRP_TRES, k) ||
           tres_hit(c, LIMIT_CHECK_ASSOC, group, l, LIMIT_GRP_TRES_RUN_MINS, k);
}

static bool assoc_tres_hit(const struct limit_check *c)
{
    uint32_t assoc = c->r->assoc, group = limit_check_group_at(c, assoc);
    const struct limit_set *member = c->table->of_member.items[assoc];
    bool has_own = group == assoc && !c->r->is_new_user;
    if (has_own && group_tres_hit(c, group)) return true;
    if (member != NULL && (tres_hit(c, LIMIT_CHECK_ASSOC, assoc, member, LIMIT_MAX_TRES_MINS, NULL) ||
                           tres_hit(c, LIMIT_CHECK_ASSOC, assoc, member, LIMIT_MAX_TRES, NULL) ||
                           tres_hit(c, LIMIT_CHECK_ASSOC, assoc, member, LIMIT_MAX_TRES_PER_NODE, NULL)))
        return true;
    if (has_own) group = limit_check_group_above(c, group);
    for (; group != NONE; group = limit_check_group_above(c, group)) {
        if (group_tres_hit(c, group)) return true;
    }
    return false;
}

bool limits_admit(struct state *s, const struct limit_counts *counts, const struct limit_request *r, int64_t now_us,
                  struct limit_hit *out_hit)
{
    const struct limit_check c = limit_check_begin(s, counts, r, now_us, out_hit);
    return !(qos_counts_hit(&c, 0) || qos_counts_hit(&c, 1) || assoc_counts_hit(&c) || nodes_hit(&c) ||
             qos_tres_hit(&c, 0) || qos_tres_hit(&c, 1) || assoc_tres_hit(&c));
}

/* --- limits of hosts ---------------------------------------------------------------------------------------------- */

struct limits_of_hosts {
    struct limit_of_hosts *items;
    uint32_t count, hosts; /* hosts: that the task may have at most */
};

static void add_hosts(const struct limit_check *c, int place, uint32_t subject, const struct limit_set *l,
                      enum limit_tres limit, const struct limit_counter *k, struct limits_of_hosts *list)
{
    double max = limit_table_amount(l, limit, TRES_NODE), used = limit_counter_used(k, TRES_NODE);
    if (max < 0.0 || max - used >= list->hosts || limit_check_tres_is_decided(c, place, limit, TRES_NODE)) return;
    if (list->count == LIMITS_OF_HOSTS_MAX) return;
    struct limit_of_hosts *item = &list->items[list->count++];
    (void)limit_check_hit_tres(c, place, subject, limit, &(struct tres_amount){TRES_NODE, max}, k, used, c->r->nodes);
    *item = (struct limit_of_hosts){.hit = *c->hit, .others_max = max > used ? (uint32_t)(max - used) : 0};
}

uint32_t limits_list_hosts(struct state *s, const struct limit_counts *counts, const struct limit_request *r,
                           uint32_t hosts, struct limit_of_hosts *out)
{
    static const enum limit_tres of_qos[] = {LIMIT_GRP_TRES, LIMIT_MAX_TRES_PER_ACCOUNT, LIMIT_MAX_TRES_PER_USER};
    struct limit_hit hit;
    const struct limit_check c = limit_check_begin(s, counts, r, 0, &hit);
    struct limits_of_hosts list = {.items = out, .hosts = hosts};
    for (int i = 0; i < LIMIT_CHECK_QOS_COUNT; i++) {
        for (size_t k = 0; k < sizeof of_qos / sizeof *of_qos && c.of_qos[i] != NULL; k++)
            add_hosts(&c, i, c.qos[i], c.of_qos[i], of_qos[k], qos_counter(&c, i, of_qos[k]), &list);
    }
    uint32_t group = limit_check_group_at(&c, r->assoc);
    for (; group != NONE; group = limit_check_group_above(&c, group))
        add_hosts(&c, LIMIT_CHECK_ASSOC, group, c.table->of_assoc.items[group], LIMIT_GRP_TRES,
                  limit_counts_of_assoc(counts, group), &list);
    return list.count;
}

bool limits_admit_host(struct state *s, const struct limit_counts *counts, const struct limit_request *r)
{
    struct limit_hit unused;
    const struct limit_check c = limit_check_begin(s, counts, r, 0, &unused);
    const struct limit_set *member = c.table->of_member.items[r->assoc];
    for (int i = 0; i < LIMIT_CHECK_QOS_COUNT; i++) {
        if (c.of_qos[i] != NULL && tres_hit(&c, i, c.qos[i], c.of_qos[i], LIMIT_MAX_TRES_PER_NODE, NULL)) return false;
    }
    return member == NULL || !tres_hit(&c, LIMIT_CHECK_ASSOC, r->assoc, member, LIMIT_MAX_TRES_PER_NODE, NULL);
}

/* --- usage that is up --------------------------------------------------------------------------------------------- */

/* `safe` is off: the request itself does not count. */
static bool is_up(const struct limit_check *c, int place, uint32_t subject, const struct limit_set *l)
{
    return l != NULL &&
           (wall_hit(c, place, subject, l, NULL) || tres_hit(c, place, subject, l, LIMIT_GRP_TRES_MINS, NULL));
}

bool limits_usage_is_up(struct state *s, const struct limit_counts *counts, const struct limit_request *r,
                        int64_t now_us, struct limit_hit *out_hit)
{
    struct limit_check c = limit_check_begin(s, counts, r, now_us, out_hit);
    c.is_safe = false;
    if (is_up(&c, 0, c.qos[0], c.of_qos[0]) || is_up(&c, 1, c.qos[1], c.of_qos[1])) return true;
    for (uint32_t group = limit_check_group_at(&c, r->assoc); group != NONE;
         group = limit_check_group_above(&c, group)) {
        if (is_up(&c, LIMIT_CHECK_ASSOC, group, c.table->of_assoc.items[group])) return true;
    }
    return false;
}

/* --- requests ----------------------------------------------------------------------------------------------------- */

void limits_request(struct state *s, const struct job *j, uint32_t partition, uint32_t slots, uint32_t hosts,
                    struct tres_amount *amounts, struct limit_request *out)
{
    const struct object_row *qos = &s->objects[OBJECT_QOS].items[j->qos];
    uint32_t assoc = j->assoc != NONE ? state_assoc_in_partition(s, j->assoc, partition) : NONE;
    const struct assoc *a = assoc != NONE ? &s->assocs.items[assoc] : NULL;
    uint32_t partition_qos = limit_table_of(s)->qos_of_partition.items[partition];
    *out = (struct limit_request){.assoc = assoc,
                                  .user = a != NULL ? a->user : NULL,
                                  .account = a != NULL ? a->account : NULL,
                                  .qos = j->qos,
                                  .partition_qos = partition_qos == j->qos ? NONE : partition_qos,
                                  .tres = {.items = amounts},
                                  .nodes = hosts,
                                  .time_limit_s =
                                      j->has_default_time ? partition_limits_time_s(s, j, partition) : j->time_limit_s,
                                  .is_time_exempt = j->is_time_exempt,
                                  .has_default_time = j->lacks_time_limit,
                                  .partition = partition,
                                  .usage_factor = qos->object.value[QOS_USAGE_FACTOR].real};
    if (state_job_document(s, j) != NULL)
        job_tres(s, &limit_table_of(s)->indices, j, slots, &out->tres);
    else
        job_task_tres(s, &limit_table_of(s)->indices, j, slots, hosts, &out->tres);
    double billing = floor(job_billing_in(s, partition, &out->tres));
    if (out->tres.count < TRES_MAX) tres_list_set(&out->tres, TRES_BILLING, billing);
}

bool limits_time_exceeds(struct state *s, const struct job *j)
{
    bool exceeds = false;
    for (uint32_t i = 0; i < j->partition_count && !exceeds && limits_apply(s); i++) {
        struct tres_amount amounts[TRES_MAX];
        struct limit_request r;
        struct limit_hit hit;
        limits_request(s, j, j->partitions[i], j->request.cpus, 1, amounts, &r);
        r.is_time_exempt = false;
        const struct limit_check c = limit_check_begin(s, NULL, &r, 0, &hit);
        const struct limit_set *member = c.table->of_member.items[r.assoc];
        for (int k = 0; k < LIMIT_CHECK_QOS_COUNT; k++)
            exceeds |= c.of_qos[k] != NULL && limit_check_time_hit(&c, k, c.qos[k], c.of_qos[k]);
        exceeds |= member != NULL && limit_check_time_hit(&c, LIMIT_CHECK_ASSOC, r.assoc, member);
    }
    return exceeds;
}
