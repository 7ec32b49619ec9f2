#include "engine/wait_lasting.h"

#include <string.h>

#include "engine/limit_text.h"
#include "engine/live_cluster.h"
#include "engine/never_runs.h"
#include "engine/partition_limits.h"
#include "engine/priorities.h"
#include "engine/quota_usage.h"

static const char *take(struct buf *text, enum pending_reason reason, struct arena *arena)
{
    buf_format(text, " (%s)", pending_reason_name(reason));
    const char *copy = arena_copy(arena, (struct str){text->text, text->length});
    buf_release(text);
    return copy;
}

/* --- partitions --------------------------------------------------------------------------------------------------- */

static enum job_field field_of_partition(enum place_limit limit)
{
    switch (limit) {
    case LIMIT_MAX_NODES:
    case LIMIT_MIN_NODES: return JOB_FIELD_NODES;
    case LIMIT_MAX_TIME: return JOB_FIELD_TIME_LIMIT;
    case LIMIT_MAX_MEM_PER_NODE: return JOB_FIELD_MEM_MIB;
    case LIMIT_QOS: return JOB_FIELD_QOS;
    default: return JOB_FIELD_PARTITIONS;
    }
}

static bool find_in_partitions(struct state *s, const struct job *j, struct arena *arena, struct wait_lasting *out)
{
    const struct never_runs *never = never_runs_kept(s);
    enum place_limit first = LIMIT_NONE;
    for (uint32_t i = 0; i < j->partition_count; i++) {
        enum place_limit limit = job_demand_partition_limit(&never->demands, j, j->partitions[i], j->partitions[i]);
        if (!partition_limits_is_own(limit)) return false;
        if (i == 0) first = limit;
    }
    struct buf text = {0};
    partition_limits_text(s, j, j->partitions[0], first, &text);
    *out = (struct wait_lasting){take(&text, partition_limits_reason(first), arena), field_of_partition(first)};
    return true;
}

/* --- limits of associations and QOS ------------------------------------------------------------------------------- */

static enum job_field field_of_tres(const struct state *s, uint32_t tres)
{
    static const struct {
        const char *tres;
        enum job_field field;
    } fields[] = {{"cpu", JOB_FIELD_CPUS},
                  {"billing", JOB_FIELD_CPUS},
                  {"mem", JOB_FIELD_MEM_MIB},
                  {"node", JOB_FIELD_NODES},
                  {"gres/gpu", JOB_FIELD_GPUS}};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        if (strcmp(s->policy.tres.items[tres].text, fields[i].tres) == 0) return fields[i].field;
    }
    return JOB_FIELD_REQUESTS;
}

/* A limit of 0, and one that is used up, lets no job of its QOS or account start. */
static enum job_field field_of_limit(const struct state *s, const struct limit_hit *hit)
{
    bool is_wall = strstr(hit->name, "Wall") != NULL, is_minutes = strstr(hit->name, "Mins") != NULL;
    if (hit->limit <= 0.0 || hit->used > 0.0 || (hit->tres == NONE && !is_wall))
        return hit->is_qos ? JOB_FIELD_QOS : JOB_FIELD_ACCOUNT;
    return is_wall || is_minutes ? JOB_FIELD_TIME_LIMIT : field_of_tres(s, hit->tres);
}

static bool find_limit(struct state *s, const struct job *j, int64_t now_us, struct arena *arena,
                       struct wait_lasting *out)
{
    struct limit_hit hit;
    struct buf text = {0};
    if (!job_limit_find_lasting(s, j, now_us, &hit)) return false;
    limit_text(s, &hit, &text);
    *out = (struct wait_lasting){take(&text, hit.reason, arena), field_of_limit(s, &hit)};
    return true;
}

/* --- resource quotas ---------------------------------------------------------------------------------------------- */

/* At that time nothing that runs now is booked any more. */
static const int64_t after_all_us = TIMELINE_END - 1;

static bool find_quota(struct state *s, const struct job *j, int64_t now_us, struct arena *arena,
                       struct wait_lasting *out)
{
    struct quota_blocker *items;
    struct buf text = {0};
    if (s->objects[OBJECT_QUOTA].count == 0) return false;
    struct live_cluster *l = live_cluster_update(s, now_us);
    const struct demand *d = job_demand(&l->demands, j, NONE);
    if (quota_usage_blockers(&l->model, d, NONE, after_all_us, 1, arena, &items) == 0) return false;
    buf_format(&text, "it exceeds limit \"%s\" in rule \"%s\" by itself", items[0].pool, items[0].rule);
    *out = (struct wait_lasting){take(&text, PENDING_QUOTA_LIMIT, arena), JOB_FIELD_CPUS};
    return true;
}

/* --- the whole ---------------------------------------------------------------------------------------------------- */

bool wait_lasting_find(struct state *s, const struct job *j, int64_t now_us, struct arena *arena,
                       struct wait_lasting *out)
{
    return find_in_partitions(s, j, arena, out) || find_limit(s, j, now_us, arena, out) ||
           find_quota(s, j, now_us, arena, out);
}
