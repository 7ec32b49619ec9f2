#include "engine/limit_check.h"

#include <math.h>

struct limit_check limit_check_begin(struct state *s, const struct limit_counts *counts, const struct limit_request *r,
                                     int64_t now_us, struct limit_hit *out_hit)
{
    struct limit_check c = {
        .s = s, .counts = counts, .table = limit_table_of(s), .r = r, .now_us = now_us, .hit = out_hit};
    bool is_over = (s->objects[OBJECT_QOS].items[r->qos].qos_flags & QOS_OVER_PARTITION_QOS) != 0;
    c.qos[0] = is_over ? r->qos : r->partition_qos;
    c.qos[1] = is_over ? r->partition_qos : r->qos;
    for (int i = 0; i < LIMIT_CHECK_QOS_COUNT; i++)
        c.of_qos[i] = c.qos[i] != NONE ? c.table->of_qos.items[c.qos[i]] : NULL;
    c.has_qos_limits = c.of_qos[0] != NULL || c.of_qos[1] != NULL;
    c.is_safe = (s->policy.enforce & ENFORCE_SAFE) != 0;
    *out_hit = (struct limit_hit){.reason = PENDING_NONE, .tres = NONE, .counter = NONE};
    return c;
}

/* --- which limit decides ------------------------------------------------------------------------------------------ */

bool limit_check_count_is_decided(const struct limit_check *c, int place, enum limit_count limit)
{
    for (int i = 0; i < place; i++) {
        if (c->of_qos[i] != NULL && c->of_qos[i]->count[limit] != LIMIT_UNLIMITED) return true;
    }
    return false;
}

bool limit_check_tres_is_decided(const struct limit_check *c, int place, enum limit_tres limit, uint32_t tres)
{
    for (int i = 0; i < place; i++) {
        if (limit_table_amount(c->of_qos[i], limit, tres) >= 0.0) return true;
    }
    return false;
}

uint32_t limit_check_group_at(const struct limit_check *c, uint32_t assoc)
{
    return assoc != NONE ? c->table->group.items[assoc] : NONE;
}

uint32_t limit_check_group_above(const struct limit_check *c, uint32_t assoc)
{
    return limit_check_group_at(c, c->s->assocs.items[assoc].parent);
}

/* A user that has no association yet has counted nothing. */
const struct limit_counter *limit_check_user_counter(const struct limit_check *c)
{
    return c->r->is_new_user ? NULL : limit_counts_of_assoc(c->counts, c->r->assoc);
}

/* --- what was hit ------------------------------------------------------------------------------------------------- */

static void note_counter(const struct limit_check *c, const struct limit_counter *k)
{
    if (k == NULL) return;
    c->hit->counter = (uint32_t)(k - c->counts->counters.items);
    c->hit->decrease_count = k->decrease_count;
}

bool limit_check_hit_count(const struct limit_check *c, int place, uint32_t subject, enum limit_count limit,
                           const struct limit_counter *k, double max, double used)
{
    static const char *const names[LIMIT_COUNT_COUNT] = {[LIMIT_GRP_JOBS] = "GrpJobs",
                                                         [LIMIT_GRP_SUBMIT] = "GrpSubmitJobs",
                                                         [LIMIT_GRP_WALL] = "GrpWall",
                                                         [LIMIT_MAX_JOBS] = "MaxJobs",
                                                         [LIMIT_MAX_SUBMIT] = "MaxSubmitJobs",
                                                         [LIMIT_MAX_WALL] = "MaxWall",
                                                         [LIMIT_MAX_JOBS_PER_ACCOUNT] = "MaxJobsPerAccount",
                                                         [LIMIT_MAX_SUBMIT_PER_ACCOUNT] = "MaxSubmitJobsPerAccount"};
    bool is_qos = place != LIMIT_CHECK_ASSOC;
    c->hit->reason = limit_reason_of_count(is_qos, limit);
    c->hit->is_qos = is_qos;
    c->hit->subject = subject;
    c->hit->name = names[limit];
    if (is_qos && limit == LIMIT_MAX_JOBS) c->hit->name = "MaxJobsPerUser";
    if (is_qos && limit == LIMIT_MAX_SUBMIT) c->hit->name = "MaxSubmitJobsPerUser";
    if (is_qos && (limit == LIMIT_MAX_JOBS || limit == LIMIT_MAX_SUBMIT)) c->hit->member = c->r->user;
    if (limit == LIMIT_MAX_JOBS_PER_ACCOUNT || limit == LIMIT_MAX_SUBMIT_PER_ACCOUNT) c->hit->member = c->r->account;
    c->hit->tres = NONE;
    c->hit->limit = max;
    c->hit->used = used;
    note_counter(c, k);
    return true;
}

bool limit_check_hit_tres(const struct limit_check *c, int place, uint32_t subject, enum limit_tres limit,
                          const struct tres_amount *max, const struct limit_counter *k, double used, double requested)
{
    static const char *const names[LIMIT_TRES_COUNT] = {[LIMIT_GRP_TRES] = "GrpTRES",
                                                        [LIMIT_GRP_TRES_MINS] = "GrpTRESMins",
                                                        [LIMIT_GRP_TRES_RUN_MINS] = "GrpTRESRunMins",
                                                        [LIMIT_MAX_TRES] = "MaxTRES",
                                                        [LIMIT_MAX_TRES_PER_NODE] = "MaxTRESPerNode",
                                                        [LIMIT_MAX_TRES_MINS] = "MaxTRESMins",
                                                        [LIMIT_MAX_TRES_PER_USER] = "MaxTRESPerUser",
                                                        [LIMIT_MAX_TRES_PER_ACCOUNT] = "MaxTRESPerAccount",
                                                        [LIMIT_MIN_TRES] = "MinTRES"};
    bool is_qos = place != LIMIT_CHECK_ASSOC;
    c->hit->reason = limit_reason_of_tres(is_qos, limit, c->s->policy.tres.items[max->tres].type);
    c->hit->is_qos = is_qos;
    c->hit->subject = subject;
    c->hit->name = names[limit];
    c->hit->member = limit == LIMIT_MAX_TRES_PER_USER      ? c->r->user
                     : limit == LIMIT_MAX_TRES_PER_ACCOUNT ? c->r->account
                                                           : NULL;
    c->hit->tres = max->tres;
    c->hit->limit = max->amount;
    c->hit->used = used;
    c->hit->requested = requested;
    note_counter(c, k);
    return true;
}

/* --- what a request exceeds by itself ----------------------------------------------------------------------------- */

double limit_check_minutes(const struct limit_check *c, double amount)
{
    return ceil(amount * (double)c->r->time_limit_s / LIMIT_MINUTE_S - 1e-9);
}

bool limit_check_time_hit(const struct limit_check *c, int place, uint32_t subject, const struct limit_set *l)
{
    int64_t max_s = l->count[LIMIT_MAX_WALL];
    if (max_s == LIMIT_UNLIMITED || c->r->is_time_exempt || c->r->time_limit_s <= max_s) return false;
    if (limit_check_count_is_decided(c, place, LIMIT_MAX_WALL)) return false;
    (void)limit_check_hit_count(c, place, subject, LIMIT_MAX_WALL, NULL, (double)max_s / LIMIT_MINUTE_S, 0.0);
    c->hit->requested = (double)c->r->time_limit_s / LIMIT_MINUTE_S;
    c->hit->is_default_time = c->r->has_default_time;
    c->hit->partition = c->r->partition;
    return true;
}

bool limit_check_own_hit(const struct limit_check *c, int place, uint32_t subject, enum limit_tres limit,
                         const struct tres_amount *max)
{
    double asked = tres_amount_of(&c->r->tres, max->tres);
    if (limit == LIMIT_MIN_TRES)
        return asked < max->amount && limit_check_hit_tres(c, place, subject, limit, max, NULL, 0.0, asked);
    if (limit == LIMIT_MAX_TRES_PER_NODE && c->r->nodes > 1) asked = floor(asked / c->r->nodes);
    if (limit == LIMIT_MAX_TRES_MINS) asked = limit_check_minutes(c, asked);
    return asked > max->amount && limit_check_hit_tres(c, place, subject, limit, max, NULL, 0.0, asked);
}
