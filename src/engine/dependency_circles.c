/* A search from the changed job along "waits for", depth first with a stack of its own. A singleton waits for all jobs
 * of its name before it; of a group with n singletons that is n^2 / 2 edges, so of each group only those jobs are
 * visited that a singleton of it has not visited before. */
#include "engine/dependency_circles.h"

#include <string.h>

#include "engine/name_groups.h"
#include "fields/dependency_text.h"

struct circle_search {
    struct state *s;
    uint32_t index;        /* the changed job */
    const struct job *row; /* as it will be */
    uint32_t *came_from;   /* by job: the job that waits for it, or NONE: not visited */
    uint32_t *stack;
    uint32_t depth;
    struct map group_reached; /* group -> its jobs before this position are visited */
    bool is_circle;
};

static const struct job *job_at(const struct circle_search *x, uint32_t index)
{
    return index == x->index ? x->row : &x->s->jobs.items[index];
}

static void visit(struct circle_search *x, uint32_t from, uint32_t to)
{
    if (x->came_from[to] != NONE) return;
    x->came_from[to] = from;
    x->is_circle |= to == x->index;
    x->stack[x->depth++] = to;
}

static void visit_group(struct circle_search *x, uint32_t index)
{
    const struct job *j = job_at(x, index);
    const char *user = x->s->assocs.items[j->assoc].user;
    const struct name_group *group = name_groups_find(x->s, user, j->text->name);
    const struct job *changed = x->row;
    bool is_of_group =
        strcmp(changed->text->name, j->text->name) == 0 && strcmp(x->s->assocs.items[changed->assoc].user, user) == 0;
    if (is_of_group && changed->id < j->id) visit(x, index, x->index);
    if (group == NULL) return;
    uint64_t key = (uint64_t)(group - x->s->name_groups->groups.items);
    uint32_t reached = map_get_u64(&x->group_reached, key), at = reached == NONE ? group->first : reached;
    for (; at < group->job_ids.count && group->job_ids.items[at] < j->id; at++) {
        uint32_t other = state_find_job(x->s, group->job_ids.items[at]);
        if (other == NONE || other == x->index) continue;
        if (name_groups_is_of(x->s, &x->s->jobs.items[other], user, j->text->name)) visit(x, index, other);
    }
    map_set_u64(&x->group_reached, key, at);
}

static void visit_conditions(struct circle_search *x, uint32_t index)
{
    const struct job *j = job_at(x, index);
    for (uint32_t i = 0; j->dependency != NULL && i < j->dependency->count; i++) {
        const struct dependency_item *item = &j->dependency->items[i];
        if (item->is_met || item->is_failed || item->at_us != 0) continue;
        if (item->type == DEPENDENCY_SINGLETON) {
            visit_group(x, index);
            continue;
        }
        uint32_t other = state_find_job(x->s, item->job_id);
        if (other != NONE) visit(x, index, other);
    }
}

/* From the changed job backwards, so the names come in the order of the search after they are reversed. */
static void describe(const struct circle_search *x, struct buf *out)
{
    enum { SHOWN_MAX = 8 };
    uint32_t steps[SHOWN_MAX], count = 0;
    for (uint32_t at = x->index; count < SHOWN_MAX; at = x->came_from[at]) {
        steps[count++] = at;
        if (x->came_from[at] == x->index) break;
    }
    bool is_whole = x->came_from[steps[count - 1]] == x->index;
    buf_format(out, "%u waits for %s", x->row->id, is_whole ? "" : "..., ");
    for (uint32_t i = count; i-- > 0;) {
        buf_add_u64(out, x->s->jobs.items[steps[i]].id);
        if (i > 0) buf_format(out, ", %u waits for ", x->s->jobs.items[steps[i]].id);
    }
}

bool dependency_circles_find(struct state *s, uint32_t index, const struct job *row, struct buf *out_text)
{
    struct circle_search x = {.s = s, .index = index, .row = row};
    size_t size = (s->jobs.count + (size_t)1) * sizeof *x.stack;
    x.came_from = arena_alloc(&s->cycle, size);
    x.stack = arena_alloc(&s->cycle, size);
    memset(x.came_from, 0xff, size);
    visit_conditions(&x, index);
    while (x.depth > 0 && !x.is_circle) visit_conditions(&x, x.stack[--x.depth]);
    if (x.is_circle) describe(&x, out_text);
    map_release(&x.group_reached);
    return x.is_circle;
}
