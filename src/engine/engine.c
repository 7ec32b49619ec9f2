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
    [EVENT_OBJECT_ADD] = apply_object_add,
    [EVENT_OBJECT_MODIFY] = apply_object_modify,
    [EVENT_OBJECT_DELETE] = apply_object_delete,
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
    [EVENT_RESET] = apply_reset,
    [EVENT_TIME] = apply_time,
};

/* What operators change, and a reset, takes effect at once, whatever was planned before. What a submission adds does not count: it
 * changes nothing for those who wait already but their number. */
static void note_edition(struct state *s, enum event_kind kind)
{
    bool is_object = kind >= EVENT_OBJECT_ADD && kind <= EVENT_OBJECT_DELETE;
    s->object_edition += is_object;
    s->rules_edition += kind <= EVENT_OBJECT_DELETE || kind == EVENT_RESET;
}

int engine_apply(struct state *s, int64_t now_us, const struct event *event, struct outcome *out, uint32_t *out_id,
                 struct err *e)
{
    ensure((size_t)event->kind < sizeof handlers / sizeof *handlers);
    ensure(now_us > 0);
    uint32_t unused_id;
    struct turn t = {.s = s, .now_us = now_us, .out = out, .e = e, .out_id = out_id ? out_id : &unused_id};
    arena_clear(&s->cycle);
    if (handlers[event->kind](&t, event) != 0) return -1;
    note_edition(s, event->kind);
    return 0;
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
    *array_add(&t->out->journal) = (struct journal_entry){t->now_us, kind, assoc_id, before, after, NULL};
}

void note_journal_detail(struct turn *t, enum journal_kind kind, int64_t before, int64_t after, const char *detail)
{
    *array_add(&t->out->journal) = (struct journal_entry){t->now_us, kind, 0, before, after, detail};
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
