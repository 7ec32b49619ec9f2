#include "engine/name_groups.h"

#include <string.h>

#include "base/hash.h"

static uint64_t key_of(const char *user, const char *name)
{
    return hash_bytes(name, strlen(name), hash_bytes(user, strlen(user), 0)) >>
           2; /* a key of a map is below 2^64 - 2 */
}

static const char *user_of(const struct state *s, const struct job *j)
{
    return s->assocs.items[j->assoc].user;
}

/* Ids are nearly always added in ascending order; a job with a new name may come between. */
static void insert(struct name_group *group, uint32_t job_id)
{
    uint32_t at = group->job_ids.count;
    while (at > 0 && group->job_ids.items[at - 1] > job_id) at--;
    if (at > 0 && group->job_ids.items[at - 1] == job_id) { /* it has an earlier name again */
        if (at - 1 < group->first) group->first = at - 1;
        return;
    }
    (void)array_add(&group->job_ids);
    memmove(group->job_ids.items + at + 1, group->job_ids.items + at,
            (group->job_ids.count - 1 - at) * sizeof *group->job_ids.items);
    group->job_ids.items[at] = job_id;
    if (at < group->first) group->first = at;
}

static void add(struct state *s, const struct job *j)
{
    struct name_groups *g = s->name_groups;
    uint64_t key = key_of(user_of(s, j), j->text->name);
    uint32_t index = map_get_u64(&g->by_hash, key);
    if (index == NONE) {
        index = g->groups.count;
        (void)array_add(&g->groups);
        map_set_u64(&g->by_hash, key, index);
    }
    insert(&g->groups.items[index], j->id);
}

bool name_groups_are_built(const struct state *s)
{
    return s->name_groups != NULL && s->name_groups->is_valid;
}

static void clear(struct name_groups *g)
{
    for (uint32_t i = 0; i < g->groups.count; i++) array_release(&g->groups.items[i].job_ids);
    array_clear(&g->groups);
    map_clear(&g->by_hash);
    g->is_valid = false;
}

void name_groups_build(struct state *s)
{
    if (name_groups_are_built(s)) return;
    if (s->name_groups == NULL) {
        s->name_groups = mem_resize(NULL, 0, sizeof *s->name_groups);
        *s->name_groups = (struct name_groups){0};
    }
    s->name_groups->is_valid = true;
    for (uint32_t i = 0; i < s->jobs.count; i++) {
        if (s->jobs.items[i].ended_us == 0) add(s, &s->jobs.items[i]);
    }
}

/* Names of jobs that have ended must not grow without end. */
void name_groups_add(struct state *s, const struct job *j)
{
    enum { FEW = 1000 };
    if (!name_groups_are_built(s)) return;
    if (s->name_groups->groups.count > FEW + 4 * (uint64_t)s->job_by_id.count) {
        clear(s->name_groups);
        name_groups_build(s);
    }
    add(s, j);
}

struct name_group *name_groups_find(struct state *s, const char *user, const char *name)
{
    name_groups_build(s);
    uint32_t index = map_get_u64(&s->name_groups->by_hash, key_of(user, name));
    return index != NONE ? &s->name_groups->groups.items[index] : NULL;
}

bool name_groups_is_of(const struct state *s, const struct job *j, const char *user, const char *name)
{
    return j->ended_us == 0 && strcmp(j->text->name, name) == 0 && strcmp(user_of(s, j), user) == 0;
}

/* Drops the ids before first, once they are most of the group. */
static void shorten(struct name_group *group)
{
    enum { FEW = 64 };
    if (group->first < FEW || group->first < group->job_ids.count / 2) return;
    uint32_t left = group->job_ids.count - group->first;
    memmove(group->job_ids.items, group->job_ids.items + group->first, left * sizeof *group->job_ids.items);
    group->job_ids.count = left;
    group->first = 0;
}

uint32_t name_groups_first(struct state *s, const char *user, const char *name)
{
    struct name_group *group = name_groups_find(s, user, name);
    uint64_t key = key_of(user, name);
    bool is_front = true;
    if (group == NULL) return NONE;
    shorten(group);
    for (uint32_t i = group->first; i < group->job_ids.count; i++) {
        uint32_t index = state_find_job(s, group->job_ids.items[i]);
        const struct job *j = index != NONE ? &s->jobs.items[index] : NULL;
        if (j != NULL && name_groups_is_of(s, j, user, name)) return index;
        bool belongs = j != NULL && key_of(user_of(s, j), j->text->name) == key;
        is_front &= !belongs;
        if (is_front) group->first = i + 1;
    }
    return NONE;
}

void name_groups_invalidate(struct state *s)
{
    if (s->name_groups != NULL) clear(s->name_groups);
}

void name_groups_free(struct name_groups *g)
{
    if (g == NULL) return;
    clear(g);
    array_release(&g->groups);
    map_release(&g->by_hash);
    mem_free(g);
}
