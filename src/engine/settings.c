/* Settings: either all pairs of an event are applied, or none. policy_make decides whether settings are valid in
 * combination, so the policy of the wanted settings is made before any row changes. */
#include <string.h>

#include "base/ensure.h"
#include "engine/cluster_model.h"
#include "engine/dependencies.h"
#include "engine/min_priority.h"
#include "engine/placements.h"

/* Appends to AccountingStorageTRES. A TRES is tracked for ever, because its index must not change. */
static int append_tracked(struct apply_context *c, const struct settings *so_far, struct field_value *io_value)
{
    struct arena *cycle = &c->s->cycle;
    io_value->text = policy_tracked_tres_append(setting_text(so_far, SET_TRACKED_TRES), io_value->text, cycle);
    if (strlen(io_value->text) <= FIELD_TEXT_MAX) return 0;
    return err_set(c->e, ERR_TOO_LARGE,
                   "%s: together with the TRES that are already tracked, it exceeds the maximum of %d bytes",
                   settings_table[SET_TRACKED_TRES].name, FIELD_TEXT_MAX);
}

/* Reads every pair into a copy of the settings, texts in memory of the cycle. */
static int read_settings(struct apply_context *c, const struct event_settings *wanted, struct settings *io_settings)
{
    for (uint32_t i = 0; i < wanted->count; i++) {
        enum setting setting;
        struct field_value value;
        const struct event_pair *pair = &wanted->pairs[i];
        if (setting_read(str(pair->key), str(pair->value), &c->s->cycle, &setting, &value, c->e) != 0) return -1;
        if (setting == SET_TIES && value.number == TIES_SLURM && !fair_tree_slurm_available())
            return err_set(c->e, ERR_INPUT,
                           "ties: slurm needs the 80-bit arithmetic of x86; this machine has only merge");
        if (setting == SET_TRACKED_TRES && append_tracked(c, io_settings, &value) != 0) return -1;
        io_settings->value[setting] = value;
    }
    struct policy unused;
    return policy_make(io_settings, &c->s->cycle, &unused, c->e);
}

/* Whether the scheduler can use them with the objects that there are. */
static int check_cluster(struct apply_context *c, const struct settings *wanted)
{
    const struct settings before = c->s->settings;
    c->s->settings = *wanted;
    int status = cluster_model_check(c->s, c->e);
    c->s->settings = before;
    return status;
}

static void keep_setting(struct state *s, enum setting which, const struct field_value *value)
{
    s->settings.value[which] = *value;
    s->settings.value[which].text = arena_copy(&s->arena, str(value->text));
}

/* PriorityUsageResetPeriod=NOW resets usage once; the setting becomes NONE. */
static bool take_reset_now(struct settings *wanted)
{
    struct field_value *value = &wanted->value[SET_USAGE_RESET];
    if (value->number != USAGE_RESET_NOW) return false;
    value->number = USAGE_RESET_NONE;
    return true;
}

/* Charges and converts usage by the old rules of decay, before they change. */
static void settle_usage(struct apply_context *c, const struct settings *wanted, const bool *changed)
{
    if (changed[SET_GE_HALFTIME] || changed[SET_GE_HALFLIFE_DECAY_LIST] || changed[SET_GE_DECAY_RULE] ||
        changed[SET_GE_SHARETREE_RESERVED_USAGE]) {
        measured_usage_settle(c);
        charge_change_owner_rule(c, wanted);
    }
    if (changed[SET_HALFLIFE_S]) charge_change_halflife(c, setting_number(wanted, SET_HALFLIFE_S));
}

int apply_settings(struct apply_context *c, const struct event *event)
{
    struct state *s = c->s;
    struct settings wanted = s->settings;
    bool changed[SETTING_COUNT], has_changes = false;
    if (apply_require(c, &event->actor, PERMISSION_SETTINGS, NULL) != 0) return -1;
    if (read_settings(c, &event->settings, &wanted) != 0 || check_cluster(c, &wanted) != 0) return -1;
    if (take_reset_now(&wanted)) usage_reset_all(c, c->now_us);
    for (uint32_t i = 0; i < SETTING_COUNT; i++) {
        changed[i] = !field_equal(&settings_table[i], &s->settings.value[i], &wanted.value[i]);
        if (changed[i]) has_changes = true;
    }
    if (!has_changes) return 0;
    bool kept_min_priorities = min_priority_is_kept(s);
    settle_usage(c, &wanted, changed);
    for (uint32_t i = 0; i < SETTING_COUNT; i++) {
        if (!changed[i]) continue;
        keep_setting(s, (enum setting)i, &wanted.value[i]);
        apply_note_change(c, TABLE_SETTING, i);
    }
    if (changed[SET_USAGE_RESET]) {
        s->reset_period_us = c->now_us;
        apply_note_change(c, TABLE_COUNTERS, 0);
    }
    s->pass_is_due = true;
    ensure(policy_make(&s->settings, &s->arena, &s->policy, NULL) == 0);
    ensure(object_derive_all(s, NULL) == 0);
    if (kept_min_priorities && !min_priority_is_kept(s)) min_priority_forget_all(c);
    if (changed[SET_HOST_CPUS] || changed[SET_HOST_MEM_MIB] || changed[SET_HOST_GPUS]) placements_rebuild(s);
    if (changed[SET_KILL_INVALID_DEPEND]) dependencies_apply_rule(c);
    return 0;
}
