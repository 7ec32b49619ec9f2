#include "engine/priority_values.h"

#include "base/ensure.h"
#include "base/number.h"
#include "engine/job_waits.h"
#include "engine/task_delays.h"
#include "fields/job_id.h"

/* --- texts -------------------------------------------------------------------------------------------------------- */

/* Copies of names, made once, because many rows have the same names. */
struct name_copies {
    const struct state *s;
    struct arena *arena;
    const char **user, **account;           /* by association */
    const char **object[OBJECT_KIND_COUNT]; /* by index */
    struct buf scratch;
};

static struct name_copies names_begin(const struct state *s, struct arena *arena)
{
    struct name_copies n = {.s = s, .arena = arena};
    n.user = arena_alloc(arena, (s->assocs.count + (size_t)1) * sizeof *n.user);
    n.account = arena_alloc(arena, (s->assocs.count + (size_t)1) * sizeof *n.account);
    for (int kind = 0; kind < OBJECT_KIND_COUNT; kind++)
        n.object[kind] = arena_alloc(arena, (s->objects[kind].count + (size_t)1) * sizeof *n.object[kind]);
    return n;
}

static const char *copy_once(struct name_copies *n, const char **copy, const char *name)
{
    if (*copy == NULL) *copy = arena_copy(n->arena, str(name));
    return *copy;
}

static const char *object_name(struct name_copies *n, enum object_kind kind, uint32_t index)
{
    if (index == NONE) return "";
    return copy_once(n, &n->object[kind][index], n->s->objects[kind].items[index].object.name);
}

/* A copy of the scratch text, which is cleared. */
static const char *take_scratch(struct name_copies *n)
{
    if (n->scratch.length == 0) return "";
    const char *copy = arena_copy(n->arena, (struct str){n->scratch.text, n->scratch.length});
    buf_clear(&n->scratch);
    return copy;
}

static const char *id_of(struct name_copies *n, const struct job *j, const struct task *k)
{
    if (!j->is_array) return NULL;
    struct job_id_parts id = {j->id, k ? k->task_id : NONE, j->is_array, "", j->array_limit};
    struct buf tasks = {0};
    if (k == NULL) {
        idset_format(&j->pending, &tasks);
        id.tasks = tasks.text;
    }
    job_id_write(&id, &n->scratch);
    buf_release(&tasks);
    return take_scratch(n);
}

/* "cpu=250,gres/gpu=750": the terms that are not 0, or the factors, which are the terms divided by their weights. */
static const char *tres_text(struct name_copies *n, const double *terms, bool wants_factors)
{
    const struct policy *policy = &n->s->policy;
    char number[NUMBER_TEXT_SIZE];
    for (uint32_t i = 0; terms != NULL && i < policy->tres.count; i++) {
        double weight = policy->multifactor.weight_tres[i];
        if (!(terms[i] < 0.0) && !(terms[i] > 0.0)) continue;
        number_format_g17(number, wants_factors ? terms[i] / weight : terms[i]);
        buf_format(&n->scratch, "%s%s=%s", n->scratch.length > 0 ? "," : "", policy->tres.items[i].text, number);
    }
    return take_scratch(n);
}

static int listed_state(const struct job *j, const struct task *k)
{
    if (k != NULL) return (int)k->state;
    return j->is_held ? (int)JOB_HELD : (int)JOB_PENDING;
}

static struct priority_text text_of(struct name_copies *n, const struct priority_row *row)
{
    const struct state *s = n->s;
    const struct job *j = &s->jobs.items[row->job];
    const struct task *k = row->task == NONE ? NULL : &s->tasks.items[row->task];
    const struct assoc *a = &s->assocs.items[j->assoc];
    bool is_multifactor = s->policy.model == MODEL_MULTIFACTOR;
    return (struct priority_text){
        .id = id_of(n, j, k),
        .user = copy_once(n, &n->user[j->assoc], a->user),
        .account = copy_once(n, &n->account[j->assoc], a->account),
        .project = object_name(n, OBJECT_PROJECT, j->project),
        .partition = object_name(n, OBJECT_PARTITION, row->partition),
        .qos = object_name(n, OBJECT_QOS, j->qos),
        .tres_terms = is_multifactor ? tres_text(n, row->tres_terms, false) : NULL,
        .tres_factors = is_multifactor ? tres_text(n, row->tres_terms, true) : NULL,
        .job_id = j->id,
        .task_id = k && j->is_array ? k->task_id : NONE,
        .state = listed_state(j, k),
        .is_hidden = k == NULL && !s->policy.tickets.report_pending,
    };
}

struct priority_text *priority_text_make_all(const struct state *s, const struct priorities *all, struct arena *arena)
{
    struct name_copies names = names_begin(s, arena);
    struct priority_text *texts = arena_alloc(arena, (all->count + (size_t)1) * sizeof *texts);
    for (uint32_t i = 0; i < all->count; i++) texts[i] = text_of(&names, &all->rows[i]);
    buf_release(&names.scratch);
    return texts;
}

/* Of the row of all pending tasks of an array. */
static void narrow(const struct job *j, uint32_t task_id, struct arena *arena, struct priority_row *row,
                   struct priority_text *text)
{
    char id[JOB_ID_TEXT_SIZE];
    job_id_format(id, j->id, task_id);
    text->id = arena_copy(arena, str(id));
    text->task_id = task_id;
    if (task_delays_hold_of(j, task_id) != TASK_HOLD_NONE) text->state = (int)JOB_HELD;
    row->is_eligible = row->is_eligible && idset_has(job_waits_ready_tasks(j), task_id);
}

void priority_text_keep_task(const struct state *s, uint32_t task_id, struct arena *arena, struct priorities *all,
                             struct priority_text *texts)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < all->count; i++) {
        struct priority_row row = all->rows[i];
        struct priority_text text = texts[i];
        const struct job *j = &s->jobs.items[row.job];
        bool is_pending = row.task == NONE;
        if (is_pending ? !idset_has(&j->pending, task_id) : text.task_id != task_id) continue;
        if (is_pending) narrow(j, task_id, arena, &row, &text);
        all->rows[kept] = row;
        texts[kept++] = text;
    }
    all->count = kept;
}

/* --- values ------------------------------------------------------------------------------------------------------- */

static void set_multifactor(const struct priority_row *row, struct field_value *value)
{
    value[PRIORITY_FIELD_SITE] = field_real(row->terms.site);
    value[PRIORITY_FIELD_AGE] = field_real(row->terms.age);
    value[PRIORITY_FIELD_ASSOC] = field_real(row->terms.assoc);
    value[PRIORITY_FIELD_FAIR_SHARE] = field_real(row->terms.fair_share);
    value[PRIORITY_FIELD_JOB_SIZE] = field_real(row->terms.job_size);
    value[PRIORITY_FIELD_PARTITION_TERM] = field_real(row->terms.partition);
    value[PRIORITY_FIELD_QOS_TERM] = field_real(row->terms.qos);
    value[PRIORITY_FIELD_NICE] = field_real(row->terms.nice);
    value[PRIORITY_FIELD_TRES] = field_real(row->terms.tres);
    value[PRIORITY_FIELD_AGE_FACTOR] = field_real(row->factors.age);
    value[PRIORITY_FIELD_ASSOC_FACTOR] = field_real(row->factors.assoc);
    value[PRIORITY_FIELD_FAIR_SHARE_FACTOR] = field_real(row->factors.fair_share);
    value[PRIORITY_FIELD_JOB_SIZE_FACTOR] = field_real(row->factors.job_size);
    value[PRIORITY_FIELD_PARTITION_FACTOR] = field_real(row->factors.partition);
    value[PRIORITY_FIELD_QOS_FACTOR] = field_real(row->factors.qos);
}

static void set_tickets(const struct priority_row *row, struct field_value *value)
{
    value[PRIORITY_FIELD_PRIORITY] = field_real(row->priority);
    value[PRIORITY_FIELD_NORM_TICKETS] = field_real(row->norm_tickets);
    value[PRIORITY_FIELD_NORM_URGENCY] = field_real(row->norm_urgency);
    value[PRIORITY_FIELD_NORM_POSIX] = field_real(row->norm_posix);
    value[PRIORITY_FIELD_URGENCY_RESOURCES] = field_real(row->urgency.resources);
    value[PRIORITY_FIELD_URGENCY_WAITING] = field_real(row->urgency.waiting_time);
    value[PRIORITY_FIELD_URGENCY_DEADLINE] = field_real(row->urgency.deadline);
    value[PRIORITY_FIELD_URGENCY] = field_real(row->urgency.sum);
    value[PRIORITY_FIELD_TICKETS] = field_real(row->tickets.total);
    value[PRIORITY_FIELD_OVERRIDE_TICKETS] = field_real(row->tickets.override);
    value[PRIORITY_FIELD_FUNCTIONAL_TICKETS] = field_real(row->tickets.functional);
    value[PRIORITY_FIELD_SHARE_TICKETS] = field_real(row->tickets.share);
}

void priority_values_make(const struct priorities *all, const struct priority_text *texts, uint32_t i,
                          struct priority_record *out_record)
{
    static const struct priority_row zeros = {0};
    ensure(i < all->count);
    const struct priority_row *row = &all->rows[i];
    const struct priority_text *text = &texts[i];
    struct field_value *value = out_record->value;
    text_format(out_record->id, sizeof out_record->id, "%u", text->job_id);
    for (uint32_t f = 0; f < PRIORITY_FIELD_COUNT; f++) value[f] = field_absent();
    value[PRIORITY_FIELD_MODEL] = field_text(priority_model_names[all->model]);
    value[PRIORITY_FIELD_ID] = field_text(text->id != NULL ? text->id : out_record->id);
    value[PRIORITY_FIELD_JOB_ID] = field_number(text->job_id);
    if (text->task_id != NONE) value[PRIORITY_FIELD_TASK_ID] = field_number(text->task_id);
    value[PRIORITY_FIELD_USER] = field_text(text->user);
    value[PRIORITY_FIELD_ACCOUNT] = field_text(text->account);
    value[PRIORITY_FIELD_PROJECT] = field_text(text->project);
    value[PRIORITY_FIELD_PARTITION] = field_text(text->partition);
    value[PRIORITY_FIELD_QOS] = field_text(text->qos);
    value[PRIORITY_FIELD_STATE] = field_number(text->state);
    value[PRIORITY_FIELD_ELIGIBLE] = field_number(row->is_eligible);
    value[PRIORITY_FIELD_PRIORITY] = field_real(row->priority);
    if (row->rank > 0) value[PRIORITY_FIELD_RANK] = field_number(row->rank);
    value[PRIORITY_FIELD_BILLING] = field_real(row->billing);
    value[PRIORITY_FIELD_TRES_TERMS] = field_text(text->tres_terms);
    value[PRIORITY_FIELD_TRES_FACTORS] = field_text(text->tres_factors);
    if (all->model == MODEL_MULTIFACTOR) set_multifactor(row, value);
    if (row->keeps_last_values)
        value[PRIORITY_FIELD_PRIORITY] = field_absent();
    else if (all->model == MODEL_TICKETS)
        set_tickets(text->is_hidden ? &zeros : row, value);
}
