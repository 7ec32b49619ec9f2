/* Laws of jobs that wait for each other, on random updates of conditions and names.
 *
 *   1. No sequence of updates makes a circle: without the conditions that a slow search follows there is always a job
 *      that waits for no other one.
 *   2. An update is refused only if it would make a circle: the slow search finds one with the new conditions.
 *   3. If all jobs end well, one after the other, all of them can start. */
#include "../dies.h"
#include "../unit/engine_world.h"
#include "base/rng.h"
#include "engine/dependencies.h"

enum { JOBS = 12, NAMES = 3 };

struct chain {
    struct world w;
    struct rng rng;
    uint32_t accepted, refused;
};

static uint32_t below(struct chain *h, uint32_t n)
{
    return rng_below(&h->rng, n);
}

/* Whether job i (0 to JOBS - 1) waits for job k, by the rows. */
static bool waits_for(const struct state *s, uint32_t i, uint32_t k)
{
    const struct job *j = &s->jobs.items[i], *other = &s->jobs.items[k];
    for (uint32_t at = 0; j->dependency != NULL && at < j->dependency->count; at++) {
        const struct dependency_item *item = &j->dependency->items[at];
        if (item->is_met) continue;
        if (item->job_id == other->id) return true;
        if (item->type == DEPENDENCY_SINGLETON && other->id < j->id && strcmp(j->text->name, other->text->name) == 0)
            return true;
    }
    return false;
}

/* Removes jobs that wait for none of those that are left, until no such job is left. */
static bool has_circle(const struct state *s)
{
    bool is_left[JOBS];
    uint32_t left = JOBS;
    for (uint32_t i = 0; i < JOBS; i++) is_left[i] = true;
    for (bool is_changed = true; is_changed;) {
        is_changed = false;
        for (uint32_t i = 0; i < JOBS; i++) {
            bool waits = !is_left[i];
            for (uint32_t k = 0; k < JOBS && !waits; k++) waits = is_left[k] && waits_for(s, i, k);
            if (waits) continue;
            is_left[i] = false;
            left--;
            is_changed = true;
        }
    }
    return left > 0;
}

static void make_dependency(struct chain *h, char *out, size_t size)
{
    size_t length = 0;
    uint32_t count = below(h, 4);
    out[0] = '\0';
    for (uint32_t i = 0; i < count; i++) {
        const char *comma = i > 0 ? "," : "";
        if (below(h, 4) == 0)
            length += (size_t)snprintf(out + length, size - length, "%ssingleton", comma);
        else
            length += (size_t)snprintf(out + length, size - length, "%safterok:%u", comma, 1 + below(h, JOBS));
    }
}

/* Whether the refused update would make a circle: its conditions are set by hand. */
static bool would_be_circle(struct chain *h, uint32_t index, const char *dependency, const char *name)
{
    struct job *j = &h->w.s.jobs.items[index];
    struct arena arena = {0};
    struct dependency_list list, *kept = j->dependency;
    const char *kept_name = j->text->name;
    if (dependency != NULL) {
        assert_int_equal(dependency_text_parse(str(dependency), &arena, &list, NULL), 0);
        j->dependency = list.count > 0 ? &list : NULL;
    }
    if (name != NULL) j->text->name = name;
    bool result = has_circle(&h->w.s);
    j->dependency = kept;
    j->text->name = kept_name;
    arena_release(&arena);
    return result;
}

static void update_one(struct chain *h)
{
    char dependency[200], name[8];
    uint32_t index = below(h, JOBS);
    bool has_name = below(h, 3) == 0;
    make_dependency(h, dependency, sizeof dependency);
    snprintf(name, sizeof name, "n%u", below(h, NAMES));
    struct job_values values = {0};
    struct job_values *v = &values;
    enum job_field f = has_name ? JOB_FIELD_NAME : JOB_FIELD_DEPENDENCY;
    v->value[f] = field_text(has_name ? name : dependency);
    v->is_given[f] = true;
    if (world_apply(&h->w, world_update(index + 1, v), NULL) == 0) {
        h->accepted++;
        assert_false(has_circle(&h->w.s));
        return;
    }
    h->refused++;
    assert_int_equal(h->w.e.code, ERR_CONFLICT);
    assert_true(would_be_circle(h, index, has_name ? NULL : dependency, has_name ? name : NULL));
    assert_false(has_circle(&h->w.s));
}

/* Law 3. */
static void end_all(struct chain *h)
{
    struct world *w = &h->w;
    assert_int_equal(world_apply(w, (struct event){.kind = EVENT_RELEASE, .jobs.all = true}, NULL), 0);
    for (int i = 0; i < JOBS; i++) {
        w->s.pass_is_due = true;
        assert_true(world_pass(w) <= 1);
        uint32_t k = w->s.tasks.count;
        while (k > 0 && job_state_is_end(w->s.tasks.items[k - 1].state)) k--;
        assert_true(k > 0);
        world_ended(w, w->s.tasks.items[k - 1].launch_id, JOB_COMPLETED, w->now_us);
    }
    assert_int_equal(w->s.job_by_id.count, 0);
}

static void run_history(uint64_t seed, struct chain *h)
{
    *h = (struct chain){.rng = {seed}, .accepted = h->accepted, .refused = h->refused};
    world_init(&h->w, 1, 100, 0);
    for (int i = 0; i < JOBS; i++) {
        const struct job_values *job =
            job_text("name=n%u|directory=/|command=true|cpus=1|mem_mib=1|held=true", below(h, NAMES));
        assert_int_equal(
            world_apply(&h->w, (struct event){.kind = EVENT_SUBMIT, .actor = world_operator, .submit = job}, NULL), 0);
    }
    for (int i = 0; i < 60; i++) update_one(h);
    end_all(h);
    world_release(&h->w);
}

static void no_circle_is_made(void **unused)
{
    (void)unused;
    struct chain h = {0};
    for (uint64_t seed = 1; seed <= 300; seed++) run_history(seed, &h);
    print_message("# %u updates accepted, %u refused\n", h.accepted, h.refused);
    assert_true(h.accepted > 3000 && h.refused > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_circle_is_made)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
