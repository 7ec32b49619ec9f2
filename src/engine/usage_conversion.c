#include "engine/usage_conversion.h"

#include "base/ensure.h"
#include "engine/handlers.h"
#include "policy/usage.h"

double usage_conversion_apply(const struct usage_conversion *c, double stored)
{
    return c->is_reset ? 0.0 : usage_decay_steps(stored, c->halvings) * c->scale;
}

double usage_conversions_of_assoc(const struct usage_conversions *all, int64_t number, double stored)
{
    for (uint32_t i = 0; i < all->list.count; i++) {
        if (all->list.items[i].number > number) stored = usage_conversion_apply(&all->list.items[i], stored);
    }
    return stored;
}

double usage_conversions_of_owner(const struct usage_conversions *all, int64_t number, double stored)
{
    for (uint32_t i = 0; i < all->list.count; i++) {
        if (all->list.items[i].number > number && all->list.items[i].is_reset) return 0.0;
    }
    return stored;
}

void usage_conversion_note(struct apply_context *c, struct usage_conversion conversion)
{
    struct usage_conversions *all = &c->s->conversions;
    conversion.number = ++all->number;
    *array_add(&all->list) = conversion;
    all->next_assoc = all->next_owner = 0;
    apply_note_change(c, TABLE_CONVERSIONS, 0);
    apply_note_change(c, TABLE_COUNTERS, 0);
}

int apply_usage_rows(struct apply_context *c, const struct event *event)
{
    struct state *s = c->s;
    struct usage_conversions *all = &s->conversions;
    uint32_t left = event->row_count;
    if (all->list.count == 0) return 0;
    for (; all->next_assoc < s->assocs.count && left > 0; all->next_assoc++) {
        if (s->assocs.items[all->next_assoc].deleted_us != 0) continue;
        apply_note_change(c, TABLE_ASSOC_USAGE, all->next_assoc);
        left--;
    }
    for (; all->next_owner < s->owners.count && left > 0; all->next_owner++, left--)
        apply_note_change(c, TABLE_OWNER, all->next_owner);
    if (all->next_assoc < s->assocs.count || all->next_owner < s->owners.count) return 0;
    array_clear(&all->list);
    apply_note_change(c, TABLE_CONVERSIONS, 0);
    return 0;
}
