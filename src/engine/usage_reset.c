/* Resets of usage: usage from before a reset does not count.
 *
 *     charges   ====|=======|=======|=====        of tasks that ran before, across and after the reset
 *                           reset_us
 *     counts                |=======|=====        stored usage becomes 0; running tasks are still charged
 *
 * A reset charges nothing. The row stores the time of the reset, and no charge to it begins earlier (charge.c). So a
 * task counts with its part after the reset, also if its start or end is reported later.
 *
 *     everything       PriorityUsageResetPeriod: state.usage_reset_us, for every association, QOS and usage owner
 *     an account       assoc.reset_us of it and of all associations below it
 *     a user           assoc.reset_us of the user's associations; in all accounts also owner.reset_us of the user's
 *                      rows
 *     a QOS            object_row.reset_us
 *     a project        owner.reset_us of its row, and of its users' rows in it
 *
 * Invariants
 *   1. Each reset of a row has a larger reset_us than the previous one, even in the same microsecond. So reset_us
 *      identifies the reset: the journal shows whether usage was folded into an account before or after the account's
 *      last reset.
 *   2. No usage that was charged before a reset is of a time after it. A reset by hand has the current time. A boundary
 *      that passed while the daemon was down is applied before any other event.
 *   3. The usage of a project is the sum of the usages of its users in it.
 * Cost: O(associations + owners); for an account, each association costs O(depth). The rows of a reset of everything
 * are written later (usage_conversion.h). */
#include <string.h>

#include "base/ensure.h"
#include "base/saturate.h"
#include "base/text.h"
#include "engine/handlers.h"
#include "engine/usage_sums.h"

/* The time of a reset, later than the last one (invariant 1). */
static int64_t reset_time(int64_t at_us, int64_t last_us)
{
    return at_us > last_us ? at_us : last_us + 1;
}

int64_t assoc_reset_us(const struct state *s, uint32_t assoc)
{
    ensure(assoc < s->assocs.count);
    return larger_of(s->assocs.items[assoc].reset_us, s->usage_reset_us);
}

static void clear_qos_usage(struct object_row *q)
{
    q->usage = q->usage_wall = 0.0;
    if (q->usage_tres != NULL) memset(q->usage_tres, 0, TRES_MAX * sizeof *q->usage_tres);
}

static void clear_assoc_usage(struct state *s, uint32_t index)
{
    struct assoc *a = &s->assocs.items[index];
    assoc_set_usage(s, index, 0.0);
    a->usage_wall = 0.0;
    if (a->usage_tres != NULL) memset(a->usage_tres, 0, TRES_MAX * sizeof *a->usage_tres);
}

/* --- everything --------------------------------------------------------------------------------------------------- */

static int64_t last_reset(const struct state *s)
{
    int64_t last_us = s->usage_reset_us;
    for (uint32_t i = 0; i < s->assocs.count; i++) last_us = larger_of(last_us, s->assocs.items[i].reset_us);
    for (uint32_t i = 0; i < s->objects[OBJECT_QOS].count; i++)
        last_us = larger_of(last_us, s->objects[OBJECT_QOS].items[i].reset_us);
    for (uint32_t i = 0; i < s->owners.count; i++) last_us = larger_of(last_us, s->owners.items[i].reset_us);
    return last_us;
}

void usage_reset_all(struct apply_context *c, int64_t at_us)
{
    struct state *s = c->s;
    int64_t before_us = s->usage_reset_us;
    s->usage_reset_us = reset_time(at_us, last_reset(s));
    for (uint32_t i = 0; i < s->assocs.count; i++) clear_assoc_usage(s, i);
    for (uint32_t i = 0; i < s->objects[OBJECT_QOS].count; i++) {
        struct object_row *q = &s->objects[OBJECT_QOS].items[i];
        clear_qos_usage(q);
        if (!q->is_deleted) apply_note_change(c, TABLE_OBJECT, object_change(OBJECT_QOS, i));
    }
    for (uint32_t i = 0; i < s->owners.count; i++) s->owners.items[i].usage = (struct ticket_usage){{0}};
    measured_usage_reset(c);
    usage_sums_invalidate(s);
    s->pass_is_due = true;
    apply_note_usage_journal_detail(c, USAGE_JOURNAL_RESET, before_us, s->usage_reset_us, "everything");
    usage_conversion_note(c, (struct usage_conversion){.is_reset = true});
}

int apply_reset(struct apply_context *c, const struct event *event)
{
    int64_t at_us = event->reset_us < c->now_us ? event->reset_us : c->now_us;
    usage_reset_all(c, at_us);
    c->s->reset_period_us = larger_of(c->s->reset_period_us, at_us);
    return 0;
}

/* --- associations ------------------------------------------------------------------------------------------------- */

static bool is_within(const struct state *s, uint32_t index, uint32_t ancestor)
{
    while (index != NONE && index != ancestor) index = s->assocs.items[index].parent;
    return index == ancestor;
}

void usage_reset_assocs(struct apply_context *c, uint32_t assoc)
{
    struct state *s = c->s;
    int64_t before_us = assoc_reset_us(s, assoc);
    for (uint32_t i = 0; i < s->assocs.count; i++) {
        struct assoc *a = &s->assocs.items[i];
        if (a->deleted_us != 0 || !is_within(s, i, assoc)) continue;
        clear_assoc_usage(s, i);
        a->reset_us = reset_time(c->now_us, assoc_reset_us(s, i));
        apply_note_change(c, TABLE_ASSOC, i);
    }
    usage_sums_invalidate(s);
    s->pass_is_due = true;
    apply_note_usage_journal(c, USAGE_JOURNAL_RESET, s->assocs.items[assoc].id, before_us, assoc_reset_us(s, assoc));
}

/* --- usage owners ------------------------------------------------------------------------------------------------- */

static void note_reset(struct apply_context *c, const char *kind, const char *name, int64_t before_us, int64_t after_us)
{
    char detail[2 * NAME_BYTES_MAX];
    size_t length = text_format(detail, sizeof detail, "%s %s", kind, name);
    ensure(length < sizeof detail);
    apply_note_usage_journal_detail(c, USAGE_JOURNAL_RESET, before_us, after_us, arena_copy(&c->s->arena, str(detail)));
    c->s->pass_is_due = true;
}

static void reset_owner(struct apply_context *c, uint32_t index)
{
    struct usage_owner *o = &c->s->owners.items[index];
    o->usage = (struct ticket_usage){{0}};
    o->reset_us = reset_time(c->now_us, larger_of(o->reset_us, c->s->usage_reset_us));
    apply_note_change(c, TABLE_OWNER, index);
}

/* Computes the usage of a project (invariant 3). A sum, because subtracting the user's usage could leave only rounding
 * errors. */
static void sum_project(struct apply_context *c, const char *project)
{
    struct state *s = c->s;
    const struct ticket_decay *d = &s->policy.tickets.decay;
    struct usage_owner *project_row = NULL;
    struct ticket_usage sum = {{0}};
    for (uint32_t i = 0; i < s->owners.count; i++) {
        struct usage_owner *o = &s->owners.items[i], current = *o;
        if (strcmp(o->project, project) != 0) continue;
        if (o->user[0] == '\0') {
            project_row = o;
            apply_note_change(c, TABLE_OWNER, i);
            continue;
        }
        usage_owner_decay(d, &current, c->now_us);
        for (int r = 0; r < USAGE_RESOURCE_COUNT; r++) sum.used[r] += current.usage.used[r];
    }
    if (project_row == NULL) return;
    usage_owner_decay(d, project_row, c->now_us);
    project_row->usage = sum;
}

void usage_reset_user(struct apply_context *c, const char *user)
{
    struct state *s = c->s;
    for (uint32_t i = 0; i < s->owners.count; i++) {
        if (strcmp(s->owners.items[i].user, user) != 0) continue;
        reset_owner(c, i);
        if (s->owners.items[i].project[0] != '\0') sum_project(c, s->owners.items[i].project);
    }
    measured_usage_reset(c);
    note_reset(c, "user", user, 0, c->now_us);
}

static void reset_project(struct apply_context *c, const char *project)
{
    for (uint32_t i = 0; i < c->s->owners.count; i++) {
        if (strcmp(c->s->owners.items[i].project, project) == 0) reset_owner(c, i);
    }
    measured_usage_reset(c);
    note_reset(c, "project", project, 0, c->now_us);
}

void usage_reset_object(struct apply_context *c, enum object_kind kind, uint32_t index)
{
    struct object_row *row = object_row_at(c->s, kind, index);
    ensure(kind == OBJECT_QOS || kind == OBJECT_PROJECT);
    if (kind == OBJECT_PROJECT) {
        reset_project(c, row->object.name);
        return;
    }
    int64_t before_us = larger_of(row->reset_us, c->s->usage_reset_us);
    clear_qos_usage(row);
    usage_sums_invalidate(c->s);
    row->reset_us = reset_time(c->now_us, before_us);
    note_reset(c, "qos", row->object.name, before_us, row->reset_us);
}
