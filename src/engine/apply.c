#include "engine/apply.h"

#include "engine/limit_counts.h"
#include "engine/pending.h"

/* It may be waiting for something else now. */
static void touch_job(struct state *s, uint32_t job_id)
{
    pending_touch(s, job_id);
    limit_counts_touch_job(s, job_id);
}

void apply_note_change(struct apply_context *c, enum change_table table, uint32_t index)
{
    *array_add(&c->outcome->changes) = (struct change){.table = table, .index = index};
    if (table == TABLE_JOB) touch_job(c->s, c->s->jobs.items[index].id);
    if (table == TABLE_TASK) limit_counts_touch_task(c->s, c->s->tasks.items[index].launch_id);
}

void apply_note_condition(struct apply_context *c, uint32_t job, uint32_t item)
{
    *array_add(&c->outcome->conditions) = (struct condition_change){job, item};
    touch_job(c->s, c->s->jobs.items[job].id);
}

void apply_note_usage_journal(struct apply_context *c, enum usage_journal_kind kind, uint32_t assoc_id, int64_t before,
                              int64_t after)
{
    *array_add(&c->outcome->journal) = (struct usage_journal_entry){
        .at_us = c->now_us, .kind = kind, .assoc_id = assoc_id, .before = before, .after = after};
}

void apply_note_late_start(struct apply_context *c, const struct task *k)
{
    apply_note_usage_journal(c, USAGE_JOURNAL_LATE, c->s->assocs.items[k->assoc].id, k->job_id,
                             (int64_t)((uint64_t)k->restarts << 32 | k->task_id));
}

void apply_note_usage_journal_detail(struct apply_context *c, enum usage_journal_kind kind, int64_t before,
                                     int64_t after, const char *detail)
{
    *array_add(&c->outcome->journal) = (struct usage_journal_entry){
        .at_us = c->now_us, .kind = kind, .before = before, .after = after, .detail = detail};
}

void apply_note_decision(struct apply_context *c, enum decision_kind kind, const struct task *k)
{
    *array_add(&c->outcome->decisions) =
        (struct decision){.kind = kind, .launch_id = k->launch_id, .job_id = k->job_id, .task_id = k->task_id};
}

const char *apply_actor_text(const struct actor *actor, char out[APPLY_ACTOR_SIZE])
{
    if (actor->user == NULL) return "an unknown user";
    text_format(out, APPLY_ACTOR_SIZE, "user '%s'", actor->user);
    return out;
}

int apply_require(struct apply_context *c, const struct actor *actor, enum permission p, const char *what)
{
    return permission_require(p, actor->role, actor->user, what, c->e);
}

int apply_check_name(const char *what, const char *name, struct err *e)
{
    struct str n = str(name);
    if (n.length == 0) return err_field(e, ERR_INPUT, what, "a name cannot be empty");
    if (n.length > NAME_BYTES_MAX)
        return err_value_reason(e, what, n, "has %zu bytes; the maximum for a name is %d", n.length, NAME_BYTES_MAX);
    if (!str_is_printable(n)) return err_value(e, what, n, "a name of printable UTF-8");
    for (size_t i = 0; i < n.length; i++) {
        for (const char *banned = " |/,:\"'"; *banned != '\0'; banned++) {
            if (n.text[i] == *banned)
                return err_value_reason(e, what, n,
                                        "has a '%c'; names have no blanks, quotes, or any of | / , :", *banned);
        }
    }
    if (n.text[0] == '-') return err_value_reason(e, what, n, "is not accepted: a name cannot begin with '-'");
    if (str_equal(n, str(".")) || str_equal(n, str("..")))
        return err_value_reason(e, what, n, "is not accepted as a name");
    return 0;
}

void state_want_pass_at(struct state *s, int64_t at_us)
{
    if (s->next_due_us == 0 || at_us < s->next_due_us) s->next_due_us = at_us;
}
