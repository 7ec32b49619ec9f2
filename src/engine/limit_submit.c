#include "engine/limit_submit.h"

#include <string.h>

#include "engine/handlers.h"
#include "engine/limit_check.h"
#include "engine/limit_size.h"
#include "engine/limit_text.h"

/* A submission to one partition, or an updated waiting job. */
struct submission {
    struct state *s;
    struct limit_request r;
    const struct limit_request *old; /* what the job is counted as before an update; NULL: a submission */
    const struct job *old_row;       /* of an update */
    uint32_t tasks;
};

/* --- the numbers of jobs waiting and running ---------------------------------------------------------------------- */

static bool is_partition_qos(struct state *s, const struct job *j, uint32_t qos)
{
    const struct limit_table *table = limit_table_of(s);
    bool found = false;
    for (uint32_t i = 0; i < j->partition_count && !found; i++)
        found = table->qos_of_partition.items[j->partitions[i]] == qos;
    return found;
}

/* Whether the counter of a limit has the tasks already, because the job that an update changes is counted there. */
static bool is_counted(const struct submission *u, int place, uint32_t subject, enum limit_count limit)
{
    const struct limit_request *old = u->old;
    if (old == NULL) return false;
    if (place == LIMIT_CHECK_ASSOC) {
        uint32_t assoc = old->assoc;
        while (assoc != NONE && assoc != subject) assoc = u->s->assocs.items[assoc].parent;
        return assoc != NONE;
    }
    if (subject != old->qos && !is_partition_qos(u->s, u->old_row, subject)) return false;
    return limit != LIMIT_MAX_SUBMIT_PER_ACCOUNT || strcmp(old->account, u->r.account) == 0;
}

static bool submit_hit(const struct limit_check *c, const struct submission *u, int place, uint32_t subject,
                       const struct limit_set *l, enum limit_count limit, const struct limit_counter *k)
{
    int64_t max = l->count[limit];
    double used = k != NULL ? (double)k->submitted : 0.0;
    if (max == LIMIT_UNLIMITED || used + u->tasks <= (double)max || limit_check_count_is_decided(c, place, limit))
        return false;
    if (is_counted(u, place, subject, limit)) return false;
    (void)limit_check_hit_count(c, place, subject, limit, k, (double)max, used);
    c->hit->requested = u->tasks;
    return true;
}

static bool submits_hit(const struct limit_check *c, const struct submission *u)
{
    for (int i = 0; i < LIMIT_CHECK_QOS_COUNT; i++) {
        const struct limit_set *l = c->of_qos[i];
        uint32_t qos = c->qos[i];
        if (l == NULL) continue;
        if (submit_hit(c, u, i, qos, l, LIMIT_GRP_SUBMIT, limit_counts_of_qos(c->counts, qos)) ||
            submit_hit(c, u, i, qos, l, LIMIT_MAX_SUBMIT_PER_ACCOUNT,
                       limit_counts_of_account(c->counts, qos, c->r->account)) ||
            submit_hit(c, u, i, qos, l, LIMIT_MAX_SUBMIT, limit_counts_of_user(c->counts, qos, c->r->user)))
            return true;
    }
    uint32_t assoc = c->r->assoc;
    const struct limit_set *member = c->table->of_member.items[assoc];
    if (member != NULL &&
        submit_hit(c, u, LIMIT_CHECK_ASSOC, assoc, member, LIMIT_MAX_SUBMIT, limit_check_user_counter(c)))
        return true;
    for (uint32_t group = limit_check_group_at(c, assoc); group != NONE; group = limit_check_group_above(c, group)) {
        if (submit_hit(c, u, LIMIT_CHECK_ASSOC, group, c->table->of_assoc.items[group], LIMIT_GRP_SUBMIT,
                       limit_counts_of_assoc(c->counts, group)))
            return true;
    }
    return false;
}

/* --- DenyOnLimit -------------------------------------------------------------------------------------------------- */

/* What one task by itself exceeds, whatever others use: Grp limits are compared with the request alone. */
static bool alone_hit(const struct limit_check *c, int place, uint32_t subject, const struct limit_set *l,
                      enum limit_tres limit)
{
    bool is_timed = limit == LIMIT_GRP_TRES_MINS || limit == LIMIT_GRP_TRES_RUN_MINS || limit == LIMIT_MAX_TRES_MINS;
    bool is_own = limit == LIMIT_MIN_TRES || limit == LIMIT_MAX_TRES_PER_NODE;
    for (uint32_t i = 0; l != NULL && i < l->tres[limit].count; i++) {
        const struct tres_amount *max = &l->tres[limit].items[i];
        if (limit_check_tres_is_decided(c, place, limit, max->tres)) continue;
        double amount = tres_amount_of(&c->r->tres, max->tres);
        double asked = is_timed ? limit_check_minutes(c, amount) : amount;
        if (is_own ? limit_check_own_hit(c, place, subject, limit, max) : asked > max->amount)
            return limit_check_hit_tres(c, place, subject, limit, max, NULL, 0.0, asked);
    }
    return false;
}

static bool wall_alone_hit(const struct limit_check *c, int place, uint32_t subject, const struct limit_set *l)
{
    int64_t max_s = l != NULL ? l->count[LIMIT_GRP_WALL] : LIMIT_UNLIMITED;
    if (max_s == LIMIT_UNLIMITED || c->r->time_limit_s <= max_s ||
        limit_check_count_is_decided(c, place, LIMIT_GRP_WALL))
        return false;
    (void)limit_check_hit_count(c, place, subject, LIMIT_GRP_WALL, NULL, (double)max_s / LIMIT_MINUTE_S, 0.0);
    c->hit->requested = (double)c->r->time_limit_s / LIMIT_MINUTE_S;
    return true;
}

static bool qos_denies(const struct limit_check *c, int i)
{
    const struct limit_set *l = c->of_qos[i];
    uint32_t qos = c->qos[i];
    if (l == NULL) return false;
    return alone_hit(c, i, qos, l, LIMIT_MAX_TRES_PER_ACCOUNT) || alone_hit(c, i, qos, l, LIMIT_MAX_TRES_PER_USER) ||
           alone_hit(c, i, qos, l, LIMIT_GRP_TRES) || alone_hit(c, i, qos, l, LIMIT_MAX_TRES_MINS) ||
           alone_hit(c, i, qos, l, LIMIT_GRP_TRES_MINS) || alone_hit(c, i, qos, l, LIMIT_GRP_TRES_RUN_MINS) ||
           limit_check_time_hit(c, i, qos, l) || wall_alone_hit(c, i, qos, l) ||
           alone_hit(c, i, qos, l, LIMIT_MAX_TRES) || alone_hit(c, i, qos, l, LIMIT_MAX_TRES_PER_NODE) ||
           alone_hit(c, i, qos, l, LIMIT_MIN_TRES);
}

static bool assoc_denies(const struct limit_check *c)
{
    uint32_t assoc = c->r->assoc;
    const struct limit_set *member = c->table->of_member.items[assoc];
    if (member != NULL && (alone_hit(c, LIMIT_CHECK_ASSOC, assoc, member, LIMIT_MAX_TRES) ||
                           alone_hit(c, LIMIT_CHECK_ASSOC, assoc, member, LIMIT_MAX_TRES_PER_NODE) ||
                           alone_hit(c, LIMIT_CHECK_ASSOC, assoc, member, LIMIT_MAX_TRES_MINS) ||
                           limit_check_time_hit(c, LIMIT_CHECK_ASSOC, assoc, member)))
        return true;
    for (uint32_t group = limit_check_group_at(c, assoc); group != NONE; group = limit_check_group_above(c, group)) {
        const struct limit_set *l = c->table->of_assoc.items[group];
        if (alone_hit(c, LIMIT_CHECK_ASSOC, group, l, LIMIT_GRP_TRES) ||
            alone_hit(c, LIMIT_CHECK_ASSOC, group, l, LIMIT_GRP_TRES_MINS) ||
            alone_hit(c, LIMIT_CHECK_ASSOC, group, l, LIMIT_GRP_TRES_RUN_MINS) ||
            wall_alone_hit(c, LIMIT_CHECK_ASSOC, group, l))
            return true;
    }
    return false;
}

static bool has_deny_flag(const struct limit_check *c)
{
    bool denies = false;
    for (int i = 0; i < LIMIT_CHECK_QOS_COUNT; i++)
        denies |= c->qos[i] != NONE && (c->s->objects[OBJECT_QOS].items[c->qos[i]].qos_flags & QOS_DENY_ON_LIMIT) != 0;
    return denies;
}

/* --- the whole ---------------------------------------------------------------------------------------------------- */

static bool admits(const struct limit_counts *counts, const struct submission *u, struct limit_hit *out_hit)
{
    const struct limit_check c = limit_check_begin(u->s, counts, &u->r, 0, out_hit);
    if (submits_hit(&c, u)) return false;
    return !has_deny_flag(&c) || !(qos_denies(&c, 0) || qos_denies(&c, 1) || assoc_denies(&c));
}

static int refuse(struct apply_context *c, const struct limit_hit *hit)
{
    struct buf text = {0};
    limit_text(c->s, hit, &text);
    (void)err_set(c->e, ERR_TOO_LARGE, "%s (%s)", text.text, pending_reason_name(hit->reason));
    buf_release(&text);
    return -1;
}

/* The smallest request of a job that has no places yet. amounts: room for TRES_MAX. */
static void request_of(struct state *s, const struct limit_counts *counts, const struct job *row, uint32_t partition,
                       struct tres_amount *amounts, struct limit_request *out)
{
    const struct limit_spread spread = limit_size_spread(s, row, partition);
    uint32_t each = UINT32_MAX;
    if (spread.has_environment) each = limit_size_each(s, counts, row, partition, spread.slots_max);
    const struct limit_size size = limit_size_min(&spread, each);
    limits_request(s, row, partition, limit_size_slots(s, row, partition, &size), size.hosts, amounts, out);
}

/* --- numbers of nodes --------------------------------------------------------------------------------------------- */

/* Whether a limit of nodes, whatever others use, is below those of the request, which has nothing else. */
static bool nodes_hit(const struct limit_check *c)
{
    uint32_t assoc = c->r->assoc;
    const struct limit_set *member = c->table->of_member.items[assoc];
    for (int i = 0; i < LIMIT_CHECK_QOS_COUNT; i++) {
        const struct limit_set *l = c->of_qos[i];
        if (alone_hit(c, i, c->qos[i], l, LIMIT_MAX_TRES_PER_ACCOUNT) ||
            alone_hit(c, i, c->qos[i], l, LIMIT_MAX_TRES_PER_USER) || alone_hit(c, i, c->qos[i], l, LIMIT_GRP_TRES) ||
            alone_hit(c, i, c->qos[i], l, LIMIT_MAX_TRES))
            return true;
    }
    if (member != NULL && alone_hit(c, LIMIT_CHECK_ASSOC, assoc, member, LIMIT_MAX_TRES)) return true;
    for (uint32_t group = limit_check_group_at(c, assoc); group != NONE; group = limit_check_group_above(c, group)) {
        if (alone_hit(c, LIMIT_CHECK_ASSOC, group, c->table->of_assoc.items[group], LIMIT_GRP_TRES)) return true;
    }
    return false;
}

/* Whether no number of nodes within the limits holds the tasks of a job that leaves the number open. A job that asks
 * for too many by itself waits. *out_hosts: how many it needs at least. */
static bool has_no_nodes(struct state *s, const struct limit_counts *counts, const struct job *row, uint32_t partition,
                         struct limit_hit *out_hit, uint32_t *out_hosts)
{
    const struct limit_spread spread = limit_size_spread(s, row, partition);
    uint32_t asked = row->placing != NULL && row->placing->node_min > 0 ? row->placing->node_min : 1;
    struct tres_amount amounts[TRES_MAX];
    struct submission u = {.s = s};
    *out_hosts = limit_size_min(&spread, UINT32_MAX).hosts;
    bool is_open = row->placing != NULL && row->placing->node_max > asked;
    if (row->environment != NONE || !is_open || *out_hosts <= asked) return false;
    limits_request(s, row, partition, spread.slots_min, *out_hosts, amounts, &u.r);
    u.r.tres.count = 0;
    tres_list_set(&u.r.tres, TRES_NODE, *out_hosts);
    const struct limit_check c = limit_check_begin(s, counts, &u.r, 0, out_hit);
    return nodes_hit(&c);
}

static int refuse_nodes(struct apply_context *c, const struct job *row, const struct limit_hit *hit, uint32_t hosts)
{
    struct buf text = {0};
    limit_text(c->s, hit, &text);
    (void)err_field(c->e, ERR_TOO_LARGE, "nodes", "%u slots need %u hosts or more: %s (%s)", row->request.cpus, hosts,
                    text.text, pending_reason_name(hit->reason));
    buf_release(&text);
    return -1;
}

/* A job is refused if it has no nodes in any of its partitions. */
static int check_nodes(struct apply_context *c, const struct limit_counts *counts, const struct job *row)
{
    struct limit_hit hit;
    uint32_t hosts = 0;
    for (uint32_t i = 0; i < row->partition_count; i++) {
        if (!has_no_nodes(c->s, counts, row, row->partitions[i], &hit, &hosts)) return 0;
    }
    return refuse_nodes(c, row, &hit, hosts);
}

/* --- the events --------------------------------------------------------------------------------------------------- */

int limit_submit_check(struct apply_context *c, const struct job *row, const char *new_user)
{
    struct state *s = c->s;
    if (!limits_apply(s)) return 0;
    const struct limit_counts *counts = limit_counts_update(s, c->now_us);
    for (uint32_t i = 0; i < row->partition_count; i++) {
        struct tres_amount amounts[TRES_MAX];
        struct submission u = {.s = s, .tasks = idset_count(&row->array)};
        struct limit_hit hit;
        request_of(s, counts, row, row->partitions[i], amounts, &u.r);
        u.r.is_new_user = new_user != NULL;
        if (new_user != NULL) u.r.user = new_user;
        if (!admits(counts, &u, &hit)) return refuse(c, &hit);
    }
    return check_nodes(c, counts, row);
}

int limit_submit_check_update(struct apply_context *c, const struct job *old, const struct job *row, bool asks_more)
{
    struct state *s = c->s;
    struct tres_amount amounts[TRES_MAX], old_amounts[TRES_MAX];
    struct limit_request counted;
    if (!limits_apply(s)) return 0;
    const struct limit_counts *counts = limit_counts_update(s, c->now_us);
    limits_request(s, old, old->partitions[0], old->request.cpus, 1, old_amounts, &counted);
    for (uint32_t i = 0; i < row->partition_count; i++) {
        struct submission u = {.s = s, .old = &counted, .old_row = old, .tasks = idset_count(&row->pending)};
        struct limit_hit hit;
        request_of(s, counts, row, row->partitions[i], amounts, &u.r);
        bool has_old_time = row->time_limit_s == old->time_limit_s;
        u.r.is_time_exempt |= has_old_time;
        if (has_old_time && !asks_more) u.r.time_limit_s = 0;
        if (!admits(counts, &u, &hit)) return refuse(c, &hit);
    }
    return 0;
}
