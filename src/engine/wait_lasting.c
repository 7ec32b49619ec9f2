#include "engine/wait_lasting.h"

#include <string.h>

#include "engine/limit_text.h"
#include "engine/live_cluster.h"
#include "engine/never_runs.h"
#include "engine/partition_limits.h"
#include "engine/priorities.h"
#include "engine/quota_usage.h"
#include "fields/dependency_text.h"

static const char *take(struct buf *text, struct arena *arena)
{
    const char *copy = arena_copy(arena, (struct str){text->text, text->length});
    buf_release(text);
    return copy;
}

/* --- dependencies ------------------------------------------------------------------------------------------------- */

static bool find_dependency(const struct job *j, int64_t now_us, struct arena *arena, struct wait_lasting *out)
{
    struct buf text = {0};
    if (dependency_list_state(j->dependency, &j->pending, now_us) != DEPENDENCY_NEVER) return false;
    buf_add_text(&text, "its dependencies can never be met: ");
    dependency_text_show(j->dependency, now_us, &text);
    buf_format(&text, " (%s)", pending_reason_name(PENDING_DEPENDENCY_NEVER));
    *out = (struct wait_lasting){take(&text, arena), JOB_FIELD_DEPENDENCY};
    return true;
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
    buf_format(&text, " (%s)", pending_reason_name(partition_limits_reason(first)));
    *out = (struct wait_lasting){take(&text, arena), field_of_partition(first)};
    return true;
}

/* --- limits of associations and QOS ------------------------------------------------------------------------------- */

/* The field of a job that asks for a TRES, or for a resource of the cluster. */
static enum job_field field_of_resource(const char *name)
{
    static const struct {
        const char *name;
        enum job_field field;
    } fields[] = {{"cpu", JOB_FIELD_CPUS},    {"slots", JOB_FIELD_CPUS}, {"billing", JOB_FIELD_CPUS},
                  {"mem", JOB_FIELD_MEM_MIB}, {"node", JOB_FIELD_NODES}, {"gres/gpu", JOB_FIELD_GPUS}};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        if (strcmp(name, fields[i].name) == 0) return fields[i].field;
    }
    return JOB_FIELD_REQUESTS;
}

/* The CPUs of whole hosts are not those that the job asks for. */
static enum job_field field_of_job(const struct job *j, const char *name)
{
    enum job_field field = field_of_resource(name);
    return field == JOB_FIELD_CPUS && state_job_is_exclusive(j) ? JOB_FIELD_EXCLUSIVE : field;
}

/* A limit of 0, and one that is used up, lets no job of its QOS or account start. */
static enum job_field field_of_limit(const struct state *s, const struct job *j, const struct limit_hit *hit)
{
    bool is_wall = strstr(hit->name, "Wall") != NULL, is_minutes = strstr(hit->name, "Mins") != NULL;
    if (hit->used >= hit->limit || (hit->tres == NONE && !is_wall))
        return hit->is_qos ? JOB_FIELD_QOS : JOB_FIELD_ACCOUNT;
    if (is_wall || is_minutes) return JOB_FIELD_TIME_LIMIT;
    return field_of_job(j, s->policy.tres.items[hit->tres].text);
}

static bool find_limit(struct state *s, const struct job *j, int64_t now_us, struct arena *arena,
                       struct wait_lasting *out)
{
    struct limit_hit hit;
    struct buf text = {0};
    if (!job_limit_find_lasting(s, j, now_us, &hit)) return false;
    limit_text(s, &hit, &text);
    buf_format(&text, " (%s)", pending_reason_name(hit.reason));
    *out = (struct wait_lasting){take(&text, arena), field_of_limit(s, j, &hit)};
    return true;
}

/* --- resource quotas ---------------------------------------------------------------------------------------------- */

static bool find_quota(struct state *s, const struct job *j, int64_t now_us, struct arena *arena,
                       struct wait_lasting *out)
{
    const char *resource;
    struct buf text = {0};
    if (s->objects[OBJECT_QUOTA].count == 0) return false;
    struct live_cluster *l = live_cluster_update(s, now_us);
    if (!quota_usage_lasts(&l->model, job_demand(&l->demands, j, NONE), arena, &text, &resource)) return false;
    *out = (struct wait_lasting){take(&text, arena), field_of_job(j, resource != NULL ? resource : "")};
    return true;
}

/* --- the whole ---------------------------------------------------------------------------------------------------- */

bool wait_lasting_find(struct state *s, const struct job *j, int64_t now_us, struct arena *arena,
                       struct wait_lasting *out)
{
    return find_dependency(j, now_us, arena, out) || find_in_partitions(s, j, arena, out) ||
           find_limit(s, j, now_us, arena, out) || find_quota(s, j, now_us, arena, out);
}
