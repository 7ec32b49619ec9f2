/* The door: which handler decides which event, and the few things all of them share. A handler first checks everything
 * that can be wrong, then changes rows; so a refused event leaves no trace. */
#include "engine/engine.h"

#include "base/ensure.h"
#include "base/number.h"
#include "engine/internal.h"

static int (*const handlers[])(struct turn *, const struct event *) = {
    [EVENT_ACCOUNT_ADD] = apply_account_add,
    [EVENT_ACCOUNT_MODIFY] = apply_account_modify,
    [EVENT_ACCOUNT_DELETE] = apply_account_delete,
    [EVENT_USER_ADD] = apply_user_add,
    [EVENT_USER_MODIFY] = apply_user_modify,
    [EVENT_USER_DELETE] = apply_user_delete,
    [EVENT_SETTINGS] = apply_settings,
    [EVENT_SUBMIT] = apply_submit,
    [EVENT_CANCEL] = apply_cancel,
    [EVENT_HOLD] = apply_hold,
    [EVENT_RELEASE] = apply_release,
    [EVENT_UPDATE] = apply_update,
    [EVENT_HOST] = apply_host,
    [EVENT_STARTED] = apply_started,
    [EVENT_COMPLETING] = apply_completing,
    [EVENT_ENDED] = apply_ended,
    [EVENT_SYNCED] = apply_synced,
    [EVENT_TIME] = apply_time,
};

int engine_apply(struct state *s, int64_t now_us, const struct event *event, struct outcome *out, uint32_t *out_id,
                 struct err *e)
{
    ensure((size_t)event->kind < sizeof handlers / sizeof *handlers);
    ensure(now_us > 0);
    uint32_t unused_id;
    struct turn t = {.s = s, .now_us = now_us, .out = out, .e = e, .out_id = out_id ? out_id : &unused_id};
    arena_clear(&s->cycle);
    return handlers[event->kind](&t, event);
}

void outcome_clear(struct outcome *o)
{
    array_clear(&o->changes);
    array_clear(&o->journal);
    array_clear(&o->decisions);
}

void outcome_release(struct outcome *o)
{
    array_release(&o->changes);
    array_release(&o->journal);
    array_release(&o->decisions);
}

void note_change(struct turn *t, enum table table, uint32_t index)
{
    *array_add(&t->out->changes) = (struct change){table, index};
}

void note_journal(struct turn *t, enum journal_kind kind, uint32_t assoc_id, int64_t before, int64_t after)
{
    *array_add(&t->out->journal) = (struct journal_entry){t->now_us, kind, assoc_id, before, after};
}

void note_decision(struct turn *t, enum decision_kind kind, const struct task *k)
{
    *array_add(&t->out->decisions) =
        (struct decision){.kind = kind, .launch_id = k->launch_id, .job_id = k->job_id, .task_id = k->task_id};
}

int require_operator(struct turn *t, const struct actor *actor, const char *what)
{
    if (actor->is_operator) return 0;
    return err_set(t->e, ERR_DENIED, "only an operator may %s; you are %s", what, actor->user ? actor->user : "nobody");
}

int check_name(const char *what, const char *name, struct err *e)
{
    struct str n = str(name);
    if (n.length == 0) return err_set(e, ERR_INPUT, "%s: a name cannot be empty", what);
    if (n.length > NAME_BYTES_MAX)
        return err_set(e, ERR_INPUT, "%s: the name has %zu bytes; at most %d are accepted", what, n.length,
                       NAME_BYTES_MAX);
    if (!str_is_printable(n))
        return err_set(e, ERR_INPUT,
                       "%s: the name has a control character or is not UTF-8; printable UTF-8 is accepted", what);
    for (size_t i = 0; i < n.length; i++) {
        for (const char *banned = " |/,:\"'"; *banned != '\0'; banned++) {
            if (n.text[i] == *banned)
                return err_set(e, ERR_INPUT,
                               "%s: '%s' has a '%c'; names have no blanks, quotes, or any of | / , :", what, name,
                               *banned);
        }
    }
    if (n.text[0] == '-' || str_equal(n, str(".")) || str_equal(n, str("..")))
        return err_set(e, ERR_INPUT, "%s: '%s' cannot be a name; one does not begin with '-' and is not '.' or '..'",
                       what, name);
    return 0;
}

/* Moves the reference up where a charge at at_us would be stored too large (invariant 5; policy/usage.h). */
static void keep_reference_up(struct turn *t, int64_t at_us)
{
    struct state *s = t->s;
    int64_t steps = decay_steps_due(&s->decay, at_us);
    if (steps == 0) return;
    s->decay.reference_us += steps * s->decay.halflife_us;
    for (uint32_t i = 0; i < s->assocs.count; i++) {
        struct assoc *a = &s->assocs.items[i];
        if (a->deleted_us != 0 || a->usage == 0.0) continue;
        a->usage = usage_fade(a->usage, steps);
        note_change(t, TABLE_ASSOC, i);
    }
    note_change(t, TABLE_COUNTERS, 0);
}

void charge_task(struct turn *t, struct task *k, int64_t to_us)
{
    struct state *s = t->s;
    if (k->charged_us == 0 || to_us <= k->charged_us) return;
    keep_reference_up(t, to_us);
    s->assocs.items[k->assoc].usage += usage_charge_stored(&s->decay, k->billing, k->charged_us, to_us);
    k->charged_us = to_us;
    note_change(t, TABLE_ASSOC, k->assoc);
}

void change_halflife(struct turn *t, int64_t halflife_s)
{
    struct state *s = t->s;
    for (uint32_t i = 0; i < s->tasks.count; i++) {
        struct task *k = &s->tasks.items[i];
        if (job_state_is_end(k->state) || k->charged_us == 0) continue;
        charge_task(t, k, t->now_us);
        note_change(t, TABLE_TASK, i);
    }
    double scale = decay_scale(&s->decay, t->now_us);
    for (uint32_t i = 0; i < s->assocs.count; i++) {
        struct assoc *a = &s->assocs.items[i];
        if (a->deleted_us != 0 || a->usage == 0.0) continue;
        a->usage *= scale;
        note_change(t, TABLE_ASSOC, i);
    }
    note_journal(t, JOURNAL_HALFLIFE, 0, s->decay.halflife_us / US_PER_S, halflife_s);
    s->decay = (struct decay){halflife_s * US_PER_S, t->now_us};
    note_change(t, TABLE_COUNTERS, 0);
}

void rebuild_host(struct state *s)
{
    const struct settings *set = &s->settings;
    struct capacity has = s->found;
    if (setting_number(set, SET_HOST_CPUS) != SETTING_AUTO) has.cpus = (uint32_t)setting_number(set, SET_HOST_CPUS);
    if (setting_number(set, SET_HOST_MEM_MIB) != SETTING_AUTO)
        has.mem_mib = (uint64_t)setting_number(set, SET_HOST_MEM_MIB);
    if (setting_number(set, SET_HOST_GPUS) != SETTING_AUTO) has.gpus = (uint32_t)setting_number(set, SET_HOST_GPUS);
    host_release(&s->host);
    host_init(&s->host, has);
    for (uint32_t i = 0; i < s->tasks.count; i++) {
        if (!job_state_is_end(s->tasks.items[i].state)) host_take_again(&s->host, &s->tasks.items[i].placement);
    }
    s->pass_is_due = true;
}

int apply_host(struct turn *t, const struct event *event)
{
    t->s->found = event->host;
    rebuild_host(t->s);
    return 0;
}

/* Reads every pair into a copy of the settings; what goes together is the policy's to say. */
static int read_settings(struct turn *t, const struct event_settings *wanted, struct settings *io_settings,
                         bool *changed)
{
    for (uint32_t i = 0; i < wanted->count; i++) {
        enum setting setting;
        struct field_value value;
        const struct event_pair *pair = &wanted->pairs[i];
        if (setting_read(str(pair->key), str(pair->value), &t->s->arena, &setting, &value, t->e) != 0) return -1;
        if (setting == SET_TIES && value.number == TIES_SLURM && !fair_tree_slurm_available())
            return err_set(t->e, ERR_INPUT,
                           "ties: slurm needs the 80-bit arithmetic of x86; this machine has only merge");
        if (field_equal(&settings_table[setting], &io_settings->value[setting], &value)) continue;
        io_settings->value[setting] = value;
        changed[setting] = true;
    }
    return 0;
}

int apply_settings(struct turn *t, const struct event *event)
{
    struct state *s = t->s;
    struct settings wanted = s->settings;
    bool changed[SETTING_COUNT] = {false};
    if (require_operator(t, &event->actor, "change settings") != 0) return -1;
    if (read_settings(t, &event->settings, &wanted, changed) != 0) return -1;
    if (changed[SET_HALFLIFE_S]) change_halflife(t, setting_number(&wanted, SET_HALFLIFE_S));
    s->settings = wanted;
    if (changed[SET_HOST_CPUS] || changed[SET_HOST_MEM_MIB] || changed[SET_HOST_GPUS]) rebuild_host(s);
    for (uint32_t i = 0; i < SETTING_COUNT; i++) {
        if (!changed[i]) continue;
        s->pass_is_due = true;
        note_change(t, TABLE_SETTING, i);
    }
    return 0;
}
