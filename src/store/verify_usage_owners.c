#include "store/verify_usage_owners.h"

#include <string.h>

#include "base/ensure.h"
#include "base/text.h"
#include "engine/usage_rule.h"

static const long double SECOND_US = 1e6L;
static const long double MINUTE_S = 60.0L;

/* --- rules -------------------------------------------------------------------------------------------------------- */

int usage_owners_add_rule(struct usage_owners *o, int64_t at_us, int64_t seq, const char *rule, struct err *e)
{
    struct usage_rule read;
    struct owner_rule added = {.from_us = at_us, .seq = seq};
    if (usage_rule_parse(str(rule), &o->arena, &read, e) != 0) return -1;
    added.is_reserved = read.is_reserved;
    for (int r = 0; r < USAGE_RESOURCE_COUNT; r++)
        added.decay_per_s[r] = -logl((long double)ticket_decay_minute(&read.decay, (enum usage_resource)r)) / MINUTE_S;
    const long double *a = added.decay_per_s;
    if (a[USAGE_MEM] < a[USAGE_CPU] || a[USAGE_MEM] > a[USAGE_CPU]) o->has_own_mem_rule = true;
    *array_add(&o->rules) = added;
    return 0;
}

static int64_t rule_end(const struct usage_owners *o, uint32_t rule, int64_t max_us)
{
    if (rule + 1 == o->rules.count || o->rules.items[rule + 1].from_us > max_us) return max_us;
    return o->rules.items[rule + 1].from_us;
}

/* The index of the last rule before seq in the journal; 0 where seq is 0. */
static uint32_t rule_before(const struct usage_owners *o, int64_t seq)
{
    uint32_t i = 0;
    while (i + 1 < o->rules.count && o->rules.items[i + 1].seq < seq) i++;
    return i;
}

/* The fraction that is left at to_us of usage at from_us. */
static long double decay_factor(const struct usage_owners *o, uint32_t first, int r, int64_t from_us, int64_t to_us)
{
    long double exponent = 0;
    for (uint32_t i = first; i < o->rules.count && from_us < to_us; i++) {
        int64_t until_us = rule_end(o, i, to_us);
        if (until_us <= from_us) continue;
        exponent += o->rules.items[i].decay_per_s[r] * ((long double)(until_us - from_us) / SECOND_US);
        from_us = until_us;
    }
    return expl(-exponent);
}

/* The usage at at_us, in unit-seconds, of one unit that was reserved during a time. */
static long double span_charge(const struct usage_owners *o, uint32_t first, int r, struct charged_span span,
                               int64_t at_us)
{
    long double total = 0;
    int64_t from_us = span.from_us;
    for (uint32_t i = first; i < o->rules.count && from_us < span.to_us; i++) {
        long double per_s = o->rules.items[i].decay_per_s[r];
        int64_t until_us = rule_end(o, i, span.to_us);
        if (until_us <= from_us) continue;
        long double passed_s = (long double)(until_us - from_us) / SECOND_US;
        long double charge = per_s > 0 ? -expm1l(-per_s * passed_s) / per_s : passed_s;
        if (o->rules.items[i].is_reserved) total += charge * decay_factor(o, first, r, until_us, at_us);
        from_us = until_us;
    }
    return total;
}

/* Of one that was reserved during c, from from_us on. */
static long double unit_charge(const struct usage_owners *o, uint32_t first, int r, const struct owner_charge *c,
                               int64_t from_us, int64_t at_us)
{
    long double total = 0;
    for (uint32_t i = 0; i < c->span_count; i++) {
        struct charged_span span = c->spans[i];
        if (span.from_us < from_us) span.from_us = from_us;
        total += span_charge(o, first, r, span, at_us);
    }
    return total;
}

/* --- owners ------------------------------------------------------------------------------------------------------- */

static struct str key_of(struct usage_owners *o, const char *user, const char *project)
{
    buf_clear(&o->key);
    buf_add_text(&o->key, user);
    buf_add_char(&o->key, '\x1f');
    buf_add_text(&o->key, project);
    return (struct str){o->key.text, o->key.length};
}

void usage_owners_add(struct usage_owners *o, const struct owner_sum *row, const double used[USAGE_RESOURCE_COUNT])
{
    struct owner_sum *added = array_add(&o->list);
    *added = *row;
    added->user = arena_copy(&o->arena, str(row->user));
    added->project = arena_copy(&o->arena, str(row->project));
    for (int r = 0; r < USAGE_RESOURCE_COUNT; r++) added->sums[r].stored = used[r];
    struct str name = key_of(o, row->user, row->project);
    map_set(&o->by_name, (struct str){arena_copy(&o->arena, name), name.length}, o->list.count - 1);
}

/* An owner without a row is added with no usage, as of at_us. */
static struct owner_sum *find(struct usage_owners *o, const char *user, const char *project, int64_t at_us)
{
    static const double no_usage[USAGE_RESOURCE_COUNT];
    uint32_t index = map_get(&o->by_name, key_of(o, user, project));
    if (index != NONE) return &o->list.items[index];
    usage_owners_add(o, &(struct owner_sum){.user = user, .project = project, .at_us = at_us}, no_usage);
    return &o->list.items[o->list.count - 1];
}

/* The part of a project's usage that is a user's. */
static struct owner_sum *find_part(struct usage_owners *o, const char *user, const char *project, int64_t at_us)
{
    struct str key = key_of(o, user, project);
    buf_add_text(&o->key, "\x1fproject");
    key = (struct str){o->key.text, o->key.length};
    uint32_t index = map_get(&o->by_name, key);
    if (index != NONE) return &o->list.items[index];
    struct owner_sum *added = array_add(&o->list);
    *added = (struct owner_sum){.user = arena_copy(&o->arena, str(user)),
                                .project = arena_copy(&o->arena, str(project)),
                                .at_us = at_us,
                                .is_of_project = true};
    map_set(&o->by_name, (struct str){arena_copy(&o->arena, key), key.length}, o->list.count - 1);
    return added;
}

static void touch(struct usage_owners *o, struct owner_sum *owner)
{
    if (!owner->is_touched) *array_add(&o->touched) = (uint32_t)(owner - o->list.items);
    owner->is_touched = true;
}

void usage_owners_clear_touched(struct usage_owners *o)
{
    for (uint32_t i = 0; i < o->touched.count; i++) o->list.items[o->touched.items[i]].is_touched = false;
    array_clear(&o->touched);
}

static void charge_reserved(const struct usage_owners *o, struct owner_sum *owner, const struct owner_charge *c,
                            int64_t reset_us)
{
    uint32_t first = rule_before(o, c->rule_seq);
    int64_t from_us = c->from_us > reset_us ? c->from_us : reset_us;
    long double of_one_unit = 0;
    if (c->to_us <= reset_us) return;
    if (from_us < o->rules.items[0].from_us) owner->predates_rules = true;
    for (int r = 0; r < USAGE_RESOURCE_COUNT; r++) {
        if (!(c->rates[r] > 0.0)) continue;
        if (r != USAGE_MEM || o->has_own_mem_rule || !(c->rates[USAGE_CPU] > 0.0))
            of_one_unit = unit_charge(o, first, r, c, from_us, owner->at_us);
        sum_add(&owner->sums[r], c->rates[r] * of_one_unit);
    }
}

static void charge_measured(const struct usage_owners *o, struct owner_sum *owner, const struct owner_charge *c,
                            int64_t reset_us)
{
    uint32_t first = rule_before(o, c->rule_seq);
    if (c->measured_as_of_us <= reset_us) return;
    for (int r = 0; r < USAGE_RESOURCE_COUNT; r++) {
        if (c->measured[r] > 0.0)
            sum_add(&owner->sums[r], c->measured[r] * decay_factor(o, first, r, c->measured_as_of_us, owner->at_us));
    }
}

static void charge_one(const struct usage_owners *o, struct owner_sum *owner, const struct owner_charge *c,
                       int64_t reset_us)
{
    charge_reserved(o, owner, c, reset_us);
    charge_measured(o, owner, c, reset_us);
    if (c->has_ended && c->to_us > reset_us) {
        uint32_t first = rule_before(o, c->rule_seq);
        sum_add(&owner->sums[USAGE_FINISHED_JOBS], decay_factor(o, first, USAGE_FINISHED_JOBS, c->to_us, owner->at_us));
    }
}

static int64_t later_of(int64_t a_us, int64_t b_us)
{
    return a_us > b_us ? a_us : b_us;
}

void usage_owners_charge(struct usage_owners *o, const struct owner_charge *c)
{
    ensure(o->rules.count > 0);
    struct owner_sum *user = find(o, c->user, c->project, c->to_us);
    int64_t reset_us = later_of(user->reset_us, c->reset_us);
    touch(o, user);
    charge_one(o, user, c, reset_us);
    if (c->project[0] == '\0') return;
    struct owner_sum *project = find(o, "", c->project, c->to_us);
    reset_us = later_of(reset_us, project->reset_us);
    if (o->is_by_user) project = find_part(o, c->user, c->project, project->at_us);
    touch(o, project);
    charge_one(o, project, c, reset_us);
}

bool usage_owners_add_pruned(struct usage_owners *o, const struct owner_pruned *p)
{
    enum usage_resource r = usage_resource_find(str(p->resource));
    bool predates = strcmp(p->resource, OWNER_PREDATES) == 0;
    if (r == USAGE_RESOURCE_COUNT && !predates) return false;
    struct owner_sum *owner = find(o, p->user, p->project, p->at_us);
    int64_t reset_us = later_of(owner->reset_us, p->reset_us);
    if (p->is_of_project) {
        owner = find(o, "", p->project, p->at_us);
        reset_us = later_of(reset_us, owner->reset_us);
        if (o->is_by_user) owner = find_part(o, p->user, p->project, owner->at_us);
    }
    if (reset_us >= p->at_us) return true;
    if (predates)
        owner->predates_rules = true;
    else if (p->amount > 0.0)
        sum_add(&owner->sums[r], p->amount * decay_factor(o, 0, (int)r, p->at_us, owner->at_us));
    return true;
}

/* --- comparing ---------------------------------------------------------------------------------------------------- */

static const char *copy_unless_empty(struct arena *arena, const char *text)
{
    return text[0] == '\0' ? NULL : arena_copy(arena, str(text));
}

void usage_owners_compare(const struct usage_owners *o, struct arena *arena, struct verify_report *report)
{
    for (uint32_t i = 0; i < o->list.count; i++) {
        const struct owner_sum *owner = &o->list.items[i];
        if (owner->predates_rules) continue;
        report->owner_count++;
        for (int r = 0; r < USAGE_RESOURCE_COUNT; r++) {
            if (!sum_differs(&owner->sums[r])) continue;
            struct verify_difference *d = array_add(&report->differences);
            d->user = copy_unless_empty(arena, owner->user);
            d->project = copy_unless_empty(arena, owner->project);
            d->tres = usage_resource_names[r];
            d->stored = owner->sums[r].stored;
            d->recomputed = (double)sum_total(&owner->sums[r]);
        }
    }
}

void usage_owners_release(struct usage_owners *o)
{
    array_release(&o->rules);
    array_release(&o->list);
    array_release(&o->touched);
    map_release(&o->by_name);
    buf_release(&o->key);
    arena_release(&o->arena);
}
