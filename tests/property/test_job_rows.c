/* Jobs with random values in every field that can be given, through submissions, updates, starts, ends and restarts.
 * The test names no field where it makes or compares values, except those whose text has a form of its own (forms,
 * below). So a field that is added to the table of job fields is tested without new code here.
 *
 *   1. A field has the value that it was given, and an update changes no other field that can be given.
 *   2. Every field with a column has the same value in the database as in memory, also of what has ended.
 *   3. Every field of a live job or task is the same in a state loaded from the database.
 *   4. Every field that a listing shows has the value that it has in memory.
 *   5. The test is not empty: every field with a column has had different values.
 *   6. A foreign value in a column is either accepted, or refused with the name of its row.
 *   7. A value in the range of its row is refused only for a reason that is listed (reasons, below), or because its row
 *      denies it to the user, or says that it is too late.
 *   8. What its row denies, or says is too late, is never accepted.
 *   9. Every field that can be given has been accepted by submissions and updates, of operators and of users. */
#include "../unit/store_house.h"

#include "../job_rows.h"
#include "base/rng.h"

static const struct capacity host = {8, 2, 1 << 20};

/* Values of fields that have texts in a form of their own, which the table does not describe. */
static const char
    *const accounts[] = {"physics", "chem"},
           *const qos[] = {"normal", "good"}, *const projects[] = {"", "apollo", "gemini"},
           *const environments[] = {"", "smp"}, *const dependencies[] = {"singleton", "hold_jid:none*", ""},
           *const exit_statuses[] = {"99", "1,75-78"}, *const warnings[] = {"USR1", "B:TERM@5", "10@0"},
           *const retries[] = {"3", "2:exit=1,75-78:backoff=5m"}, *const terminals[] = {"pty", "pipes", "pipes,detach"},
           *const partitions[] = {"main", "fast", "heavy,fast", "fast,main,heavy"},
           *const requests[] = {"", "license=2", "license=1,arch=lx-amd64,bigio=true", "bigio", "arch=\xc3\xbc"},
           *const queues[] = {"", "*", "main", "fast,heavy@localhost", "*@local*"},
           *const nodes[] = {"", "1", "1-4", "2", "1-1"}, *const constraints[] = {"", "avx", "avx&ssd", "avx|ssd"},
           *const arrays[] = {"0-4", "3,7,9-11%2", "5", "0-99:7", "0"};

static const struct {
    enum job_field field;
    const char *const *texts;
    uint32_t count;
} forms[] = {
    {JOB_FIELD_ACCOUNT, accounts, COUNT(accounts)},
    {JOB_FIELD_QOS, qos, COUNT(qos)},
    {JOB_FIELD_PROJECT, projects, COUNT(projects)},
    {JOB_FIELD_PARTITIONS, partitions, COUNT(partitions)},
    {JOB_FIELD_REQUESTS, requests, COUNT(requests)},
    {JOB_FIELD_SOFT, requests, COUNT(requests)},
    {JOB_FIELD_QUEUES, queues, COUNT(queues)},
    {JOB_FIELD_NODES, nodes, COUNT(nodes)},
    {JOB_FIELD_CONSTRAINT, constraints, COUNT(constraints)},
    {JOB_FIELD_MASTER_QUEUES, queues, COUNT(queues)},
    {JOB_FIELD_SOFT_QUEUES, queues, COUNT(queues)},
    {JOB_FIELD_ARRAY, arrays, COUNT(arrays)},
    {JOB_FIELD_ENVIRONMENT, environments, COUNT(environments)},
    {JOB_FIELD_DEPENDENCY, dependencies, COUNT(dependencies)},
    {JOB_FIELD_REQUEUE_EXIT, exit_statuses, COUNT(exit_statuses)},
    {JOB_FIELD_WARN_SIGNAL, warnings, COUNT(warnings)},
    {JOB_FIELD_RETRY, retries, COUNT(retries)},
    {JOB_FIELD_TERMINAL, terminals, COUNT(terminals)},
};

struct life {
    struct house h;
    struct rng rng;
    struct arena arena; /* of one event's texts */
    uint32_t given, dropped;
};

static uint32_t below(struct life *l, uint32_t n)
{
    return rng_below(&l->rng, n);
}

static bool one_in(struct life *l, uint32_t n)
{
    return below(l, n) == 0;
}

/* --- values ------------------------------------------------------------------------------------------------------- */

/* The minimum, the maximum, or close to the minimum; seldom anything between. */
static int64_t random_number(struct life *l, const struct field *f)
{
    int64_t min = (int64_t)f->min, max = (int64_t)f->max, small = min + (int64_t)below(l, 4);
    if (small > max) small = max;
    switch (below(l, 8)) {
    case 0: return max;
    case 1: return min;
    case 2: return min + (int64_t)(rng_double(&l->rng) * ((double)max - (double)min));
    case 3: return min < 0 ? 0 : small;
    default: return small;
    }
}

/* Printable text; of bytes an absolute path of all but control characters. */
static const char *random_text(struct life *l, const struct field *f)
{
    static const char *const pieces[] = {"a",
                                         "Z",
                                         "0",
                                         " ",
                                         "'",
                                         "\"",
                                         ";--",
                                         "%",
                                         "%j",
                                         "\\",
                                         ",",
                                         "=",
                                         "|",
                                         "_",
                                         "NULL",
                                         "\xc3\xbc",
                                         "\xe6\xbc\xa2",
                                         "\xf0\x9f\x9a\xa2"};
    static const char *const raw[] = {"\xff", "\x80", "/", "\xc3"};
    bool is_bytes = f->type == FIELD_BYTES;
    size_t max = f->max > 0 ? (size_t)f->max : FIELD_TEXT_MAX, min = f->min > 0 ? (size_t)f->min : 0;
    size_t wanted = one_in(l, 8) ? max : one_in(l, 8) ? min : min + below(l, 30);
    struct buf text = {0};
    if (is_bytes) buf_add_char(&text, '/');
    while (text.length < wanted) {
        const char *piece = is_bytes && one_in(l, 3) ? raw[below(l, COUNT(raw))] : pieces[below(l, COUNT(pieces))];
        buf_add_text(&text, text.length + strlen(piece) <= max ? piece : "x");
    }
    const char *copy = arena_copy(&l->arena, (struct str){text.text, text.length});
    buf_release(&text);
    return copy;
}

static struct field_value random_value(struct life *l, enum job_field f)
{
    const struct field *field = job_field_at(f);
    if (field->is_nullable && one_in(l, 8)) return field_absent();
    for (size_t i = 0; i < COUNT(forms); i++) {
        if (forms[i].field == f) return field_text(forms[i].texts[below(l, forms[i].count)]);
    }
    if (field->special != NULL && one_in(l, 4)) return field_number(FIELD_SPECIAL);
    switch (field->type) {
    case FIELD_TEXT:
    case FIELD_BYTES: return field_text(random_text(l, field));
    case FIELD_CHOICE: return field_number(one_in(l, 2) ? 0 : 1);
    case FIELD_REAL: return field_real(field->min + rng_double(&l->rng) * (field->max - field->min));
    case FIELD_TIME: return field_number(l->h.w.now_us + (int64_t)below(l, 4000000) * 1001 - SECOND);
    default: return field_number(random_number(l, field));
    }
}

/* --- events ------------------------------------------------------------------------------------------------------- */

static void give(struct job_values *v, enum job_field f, struct field_value value)
{
    v->value[f] = value;
    v->is_given[f] = true;
}

static void give_random(struct life *l, struct job_values *v, bool is_update, uint32_t out_of)
{
    for (enum job_field f = 0; f < JOB_FIELD_COUNT; f++) {
        if (job_field_is_settable(f, is_update) && one_in(l, out_of)) give(v, f, random_value(l, f));
    }
}

static bool has_any(const struct job_values *v)
{
    for (enum job_field f = 0; f < JOB_FIELD_COUNT; f++) {
        if (v->is_given[f]) return true;
    }
    return false;
}

/* Some fields are kept in another form than they are given: an array's tasks without their limit, the request "bigio"
 * as "bigio=true", a range that has one number only as that number or none, amounts of a
 * task and of its slots, of which one follows from the other, and partitions in the order of soft
 * requests. */
static bool is_kept_as_given(const struct job *j, enum job_field f)
{
    bool is_sorted = f == JOB_FIELD_PARTITIONS && j->placing != NULL;
    if (f == JOB_FIELD_MEM_MIB || f == JOB_FIELD_MEM_PER_CPU || f == JOB_FIELD_GPUS || f == JOB_FIELD_GPUS_PER_SLOT)
        return false;
    return job_field_rows[f].home == JOB_HOME_JOB && f != JOB_FIELD_ARRAY && f != JOB_FIELD_REQUESTS &&
           f != JOB_FIELD_SOFT && f != JOB_FIELD_NODES && f != JOB_FIELD_SLOTS_MAX && f != JOB_FIELD_DEPENDENCY &&
           !is_sorted;
}

/* A special word of a nullable field stands for no value. */
static void assert_has(struct life *l, const struct job *j, enum job_field f, struct field_value expected)
{
    const struct job_row_place place = {"after the event", &l->h.w.s, j, NULL, NULL};
    const struct field *field = job_field_at(f);
    if (field->is_nullable && field->special != NULL && expected.number == FIELD_SPECIAL) expected = field_absent();
    struct field_value is = job_member(&l->h.w.s, j, f, &l->arena);
    job_rows_assert_equal(&place, f, &is, &expected);
}

/* Law 1. before: the values before an update, or NULL. */
static void assert_given_values(struct life *l, const struct job *j, const struct job_values *v,
                                const struct field_value *before)
{
    if (v->is_given[JOB_FIELD_ACCOUNT])
        assert_string_equal(l->h.w.s.assocs.items[j->assoc].account, v->value[JOB_FIELD_ACCOUNT].text);
    for (enum job_field f = 0; f < JOB_FIELD_COUNT; f++) {
        if (!is_kept_as_given(j, f)) continue;
        if (v->is_given[f])
            assert_has(l, j, f, v->value[f]);
        else if (before != NULL && job_field_is_settable(f, true))
            assert_has(l, j, f, before[f]);
    }
}

static void copy_values(struct life *l, const struct job *j, struct field_value *out)
{
    for (enum job_field f = 0; f < JOB_FIELD_COUNT; f++) {
        if (f == JOB_FIELD_ACCOUNT) out[f] = field_text(l->h.w.s.assocs.items[j->assoc].account);
        if (job_field_rows[f].home != JOB_HOME_JOB) continue;
        out[f] = job_member(&l->h.w.s, j, f, &l->arena);
        if (out[f].text != NULL) out[f].text = arena_copy(&l->arena, str(out[f].text));
    }
}

/* --- refusals ----------------------------------------------------------------------------------------------------- */

/* A submission or an update, by an operator or by the job's user. */
struct request {
    struct event event;
    struct job_values *values;
    const struct job *job;            /* NULL: a submission */
    const struct field_value *before; /* the job's values before an update, or NULL */
};

/* Why a value in the range of its row may be refused, beside the rules in the row itself. culprit: the field that is
 * left out if the request does not give the field that the error names. */
static const struct {
    enum job_field field;
    enum err_code code;
    enum job_field culprit;
} reasons[] = {
    {JOB_FIELD_REQUEUE_EXIT, ERR_INPUT, JOB_FIELD_REQUEUE},    /* which it forbids */
    {JOB_FIELD_RETRY, ERR_INPUT, JOB_FIELD_REQUEUE},           /* which it forbids */
    {JOB_FIELD_OUT_PATTERN, ERR_INPUT, JOB_FIELD_OUT_PATTERN}, /* an unknown conversion */
    {JOB_FIELD_ERR_PATTERN, ERR_INPUT, JOB_FIELD_ERR_PATTERN},
    {JOB_FIELD_CPUS, ERR_TOO_LARGE, JOB_FIELD_CPUS},           /* the host has fewer */
    {JOB_FIELD_MEM_MIB, ERR_TOO_LARGE, JOB_FIELD_MEM_MIB},     /* the host has less */
    {JOB_FIELD_GPUS, ERR_TOO_LARGE, JOB_FIELD_GPUS},           /* the host has fewer */
    {JOB_FIELD_MEM_MIB, ERR_TOO_LARGE, JOB_FIELD_MEM_PER_CPU}, /* 0, so that one host has to have all of it */
    {JOB_FIELD_GPUS, ERR_TOO_LARGE, JOB_FIELD_GPUS_PER_SLOT},
    {JOB_FIELD_SLOTS_MAX, ERR_INPUT, JOB_FIELD_CPUS},                    /* below the minimum, which is cpus */
    {JOB_FIELD_SLOTS_PER_NODE, ERR_TOO_LARGE, JOB_FIELD_SLOTS_PER_NODE}, /* which gives the CPUs */
    {JOB_FIELD_NODES, ERR_TOO_LARGE, JOB_FIELD_NODES},
    {JOB_FIELD_MEM_PER_CPU, ERR_TOO_LARGE, JOB_FIELD_CPUS},
    {JOB_FIELD_MEM_PER_CPU, ERR_TOO_LARGE, JOB_FIELD_SLOTS_PER_NODE},
    {JOB_FIELD_MEM_PER_CPU, ERR_INPUT, JOB_FIELD_MEM_MIB},
    {JOB_FIELD_GPUS_PER_SLOT, ERR_TOO_LARGE, JOB_FIELD_CPUS},
    {JOB_FIELD_GPUS_PER_SLOT, ERR_TOO_LARGE, JOB_FIELD_SLOTS_PER_NODE},
    {JOB_FIELD_GPUS_PER_SLOT, ERR_INPUT, JOB_FIELD_GPUS},
    {JOB_FIELD_NODES, ERR_INPUT, JOB_FIELD_CPUS}, /* fewer than the nodes need */
    {JOB_FIELD_NODES, ERR_INPUT, JOB_FIELD_SLOTS_PER_NODE},
    {JOB_FIELD_NODES, ERR_INPUT, JOB_FIELD_ENVIRONMENT},             /* both distribute */
    {JOB_FIELD_SLOTS_PER_NODE, ERR_INPUT, JOB_FIELD_SLOTS_PER_NODE}, /* no divisor of the CPUs */
    {JOB_FIELD_SLOTS_PER_NODE, ERR_INPUT, JOB_FIELD_CPUS},
    {JOB_FIELD_SLOTS_PER_NODE, ERR_INPUT, JOB_FIELD_SLOTS_MAX},
    {JOB_FIELD_SLOTS_PER_NODE, ERR_INPUT, JOB_FIELD_NODES},
    {JOB_FIELD_SLOTS_PER_NODE, ERR_INPUT, JOB_FIELD_ENVIRONMENT},
    {JOB_FIELD_REQUESTS, ERR_TOO_LARGE, JOB_FIELD_CPUS},          /* more than there is, for so many CPUs */
    {JOB_FIELD_DEADLINE, ERR_INPUT, JOB_FIELD_DEADLINE},          /* has passed */
    {JOB_FIELD_DEADLINE, ERR_DENIED, JOB_FIELD_DEADLINE},         /* the user may have none */
    {JOB_FIELD_ARRAY_LIMIT, ERR_CONFLICT, JOB_FIELD_ARRAY_LIMIT}, /* not an array */
    {JOB_FIELD_TIME_MIN, ERR_INPUT, JOB_FIELD_TIME_MIN},          /* above the time limit */
    {JOB_FIELD_TIME_MIN, ERR_INPUT, JOB_FIELD_TIME_LIMIT},
    {JOB_FIELD_IMMEDIATE, ERR_INPUT, JOB_FIELD_IMMEDIATE}, /* with what it would wait for */
    {JOB_FIELD_EXCLUSIVE, ERR_INPUT, JOB_FIELD_EXCLUSIVE}, /* with an environment */
    {JOB_FIELD_EXCLUSIVE, ERR_INPUT, JOB_FIELD_ENVIRONMENT},
};

static bool is_change(const struct request *r, enum job_field f, struct field_value *out_old,
                      struct field_value *out_new)
{
    const struct field *field = job_field_at(f);
    *out_old = r->before != NULL ? r->before[f] : field_nothing(field);
    *out_new = r->values->value[f];
    if (field->is_nullable && field->special != NULL && out_new->number == FIELD_SPECIAL) *out_new = field_absent();
    return !field_equal(field, out_old, out_new);
}

static bool has_started(const struct job *j)
{
    return idset_count(&j->array) > idset_count(&j->pending) + idset_count(&j->cancelled);
}

/* 0 of max_requeue stands for the setting, which no life changes. */
static int64_t compared(enum job_field f, struct field_value value)
{
    bool is_default = f == JOB_FIELD_MAX_REQUEUE && value.number == 0;
    return is_default ? settings_table[SET_MAX_BATCH_REQUEUE].default_value.number : value.number;
}

/* Whether the row denies this value to the job's user. */
static bool is_denied(const struct request *r, enum job_field f)
{
    struct field_value old, new;
    if (actor_may(&r->event.actor, PERMISSION_JOB_FIELDS) || !r->values->is_given[f]) return false;
    switch (job_field_rows[f].setter) {
    case JOB_SET_BY_OPERATOR: return is_change(r, f, &old, &new);
    case JOB_RAISED_BY_USER: return is_change(r, f, &old, &new) && new.number < old.number;
    case JOB_LOWERED_BY_USER: return is_change(r, f, &old, &new) && compared(f, new) > compared(f, old);
    case JOB_LOWERED_ONCE_STARTED:
        return r->job != NULL && has_started(r->job) && is_change(r, f, &old, &new) && new.number > old.number;
    default: return false;
    }
}

/* Whether by its row it is too late for this value. */
static bool is_too_late(const struct request *r, enum job_field f)
{
    struct field_value old, new;
    const struct job *j = r->job;
    if (j == NULL || !r->values->is_given[f] || !is_change(r, f, &old, &new)) return false;
    /* an earlier attempt, by them */
    bool was_charged = f == JOB_FIELD_QOS || f == JOB_FIELD_PROJECT || f == JOB_FIELD_ACCOUNT;
    if (was_charged && j->restarted.count > 0) return true;
    switch (job_field_rows[f].until) {
    case JOB_UNTIL_STARTED: return has_started(j);
    case JOB_UNTIL_ALL_STARTED: return has_started(j) && idset_count(&j->pending) == 0;
    default: return false;
    }
}

/* The field that the error is about; JOB_FIELD_COUNT: the error names none. */
static enum job_field field_of_error(const struct err *e)
{
    uint32_t f = field_find(&job_fields, str(e->field));
    if (f != NONE) return (enum job_field)f;
    return strcmp(e->subject, "resource") == 0 ? JOB_FIELD_REQUESTS : JOB_FIELD_COUNT;
}

/* What a job asks of its places: together they may be more than there is. */
static const enum job_field place_fields[] = {JOB_FIELD_ENVIRONMENT, JOB_FIELD_MASTER_QUEUES,  JOB_FIELD_QUEUES,
                                              JOB_FIELD_CONSTRAINT,  JOB_FIELD_NODES,          JOB_FIELD_REQUESTS,
                                              JOB_FIELD_PARTITIONS,  JOB_FIELD_SLOTS_PER_NODE, JOB_FIELD_MEM_PER_CPU,
                                              JOB_FIELD_MEM_MIB,     JOB_FIELD_GPUS,           JOB_FIELD_GPUS_PER_SLOT,
                                              JOB_FIELD_CPUS,        JOB_FIELD_SLOTS_MAX,      JOB_FIELD_EXCLUSIVE};

/* The fault is with the field that is named, if it is given, or with what it does not fit together with. */
static enum job_field culprit_of_never(const struct request *r, enum job_field f)
{
    if (r->values->is_given[f]) return f;
    for (size_t i = 0; i < COUNT(place_fields); i++) {
        if (r->values->is_given[place_fields[i]]) return place_fields[i];
    }
    return JOB_FIELD_COUNT;
}

/* Law 7. Returns the field to leave out. */
static enum job_field assert_has_reason(const struct request *r, const struct err *e)
{
    enum job_field f = field_of_error(e);
    if (f < JOB_FIELD_COUNT && e->code == ERR_DENIED && is_denied(r, f)) return f;
    if (f < JOB_FIELD_COUNT && e->code == ERR_CONFLICT && is_too_late(r, f)) return f;
    bool is_never = f < JOB_FIELD_COUNT && e->code == ERR_INPUT && strncmp(e->reason, "can never run: ", 15) == 0;
    enum job_field culprit = is_never ? culprit_of_never(r, f) : JOB_FIELD_COUNT;
    if (culprit != JOB_FIELD_COUNT) return culprit;
    for (size_t i = 0; i < COUNT(reasons); i++) {
        if (reasons[i].field != f || reasons[i].code != e->code) continue;
        enum job_field left_out = r->values->is_given[f] ? f : reasons[i].culprit;
        if (r->values->is_given[left_out]) return left_out;
    }
    fail_msg("refused without a listed reason: %s", ERR_SENTENCE(e));
    return JOB_FIELD_COUNT;
}

/* Law 8. */
static void assert_allowed(const struct request *r)
{
    for (enum job_field f = 0; f < JOB_FIELD_COUNT; f++) {
        if (is_denied(r, f)) fail_msg("%s: its row denies this to the user", job_field_at(f)->name);
        if (is_too_late(r, f)) fail_msg("%s: by its row it is too late for this", job_field_at(f)->name);
    }
}

/* By update or submission, by operator or user, and by field: how often a change was accepted. */
static uint32_t accepted[2][2][JOB_FIELD_COUNT];
static uint32_t denied[JOB_FIELD_COUNT];

static void note_accepted(struct life *l, const struct request *r)
{
    struct field_value old, new;
    for (enum job_field f = 0; f < JOB_FIELD_COUNT; f++) {
        if (!r->values->is_given[f]) continue;
        l->given++;
        if (is_change(r, f, &old, &new))
            accepted[r->job != NULL][actor_may(&r->event.actor, PERMISSION_JOB_FIELDS)][f]++;
    }
}

/* Leaves out refused fields (for example more CPUs than the host has) until the rest is accepted. */
static void apply_what_is_accepted(struct life *l, const struct request *r)
{
    struct job old = {0};
    struct request checked = *r;
    if (r->job != NULL) { /* the update replaces the job's row, but not its sets */
        old = *r->job;
        checked.job = &old;
    }
    while (has_any(r->values)) {
        l->h.w.e = (struct err){0};
        if (world_apply(&l->h.w, r->event, NULL) == 0) {
            assert_allowed(&checked);
            note_accepted(l, &checked);
            return;
        }
        enum job_field f = assert_has_reason(&checked, &l->h.w.e);
        denied[f] += l->h.w.e.code == ERR_DENIED;
        r->values->is_given[f] = false;
        l->dropped++;
    }
}

/* Law 9. Users have no field that only operators set. */
static void assert_all_fields_accepted(void)
{
    for (int is_update = 0; is_update < 2; is_update++) {
        for (enum job_field f = 0; f < JOB_FIELD_COUNT; f++) {
            enum job_field_setter setter = job_field_rows[f].setter;
            const char *name = job_field_at(f)->name;
            if (!job_field_is_settable(f, is_update)) continue;
            if (accepted[is_update][true][f] == 0) fail_msg("%s: operators never set it", name);
            if (setter != JOB_SET_BY_OPERATOR && accepted[is_update][false][f] == 0)
                fail_msg("%s: users never set it", name);
            if (setter != JOB_SET_BY_USER && denied[f] == 0) fail_msg("%s: it was never denied to users", name);
        }
    }
}

/* --- events ------------------------------------------------------------------------------------------------------- */

static void submit(struct life *l)
{
    struct job_values v = {0};
    const char *user = one_in(l, 2) ? "ann" : "bob";
    struct request r = {
        .values = &v,
        .event = {.kind = EVENT_SUBMIT,
                  .actor = {1000 + below(l, 3), 2000 + below(l, 3), user, one_in(l, 2) ? ROLE_OPERATOR : ROLE_USER},
                  .input_bytes = below(l, 100000),
                  .submit = &v}};
    give_random(l, &v, false, 2);
    for (enum job_field f = 0; f < JOB_FIELD_COUNT; f++) {
        if (job_field_rows[f].is_required && !v.is_given[f]) give(&v, f, random_value(l, f));
    }
    uint32_t jobs = l->h.w.s.next_job_id;
    apply_what_is_accepted(l, &r);
    if (l->h.w.s.next_job_id != jobs + 1) fail_msg("%s", ERR_SENTENCE(&l->h.w.e));
    assert_given_values(l, &l->h.w.s.jobs.items[l->h.w.s.jobs.count - 1], &v, NULL);
}

static const struct job *pick_job(struct life *l)
{
    const struct state *s = &l->h.w.s;
    return s->jobs.count == 0 ? NULL : &s->jobs.items[below(l, s->jobs.count)];
}

/* By an operator, or by the job's user. */
static void update(struct life *l)
{
    const struct job *j = pick_job(l);
    struct field_value before[JOB_FIELD_COUNT];
    struct job_values v = {0};
    if (j == NULL || j->ended_us != 0) return;
    give_random(l, &v, true, 3);
    copy_values(l, j, before);
    struct request r = {.values = &v, .event = world_update(j->id, &v), .job = j, .before = before};
    r.event.actor = world_operator;
    if (one_in(l, 2)) r.event.actor = (struct actor){1000, 1000, l->h.w.s.assocs.items[j->assoc].user, ROLE_USER};
    apply_what_is_accepted(l, &r);
    assert_given_values(l, j, &v, before);
}

/* A job that waits for one that is cancelled, which kill_invalid_depend cancels, too. */
static void cancel_target(struct life *l)
{
    struct world *w = &l->h.w;
    uint32_t first = 0;
    struct event submit = {.kind = EVENT_SUBMIT, .actor = {1000, 1000, "ann", ROLE_USER}};
    submit.submit = job_text("name=first|directory=/|command=true|cpus=1|mem_mib=1|held=true");
    if (world_apply(w, submit, &first) != 0) return;
    submit.submit =
        job_with(job_text("name=second|directory=/|command=true|cpus=1|mem_mib=1"), "dependency=afterok:%u", first);
    (void)world_apply(w, submit, NULL);
    const struct job_ref ref = {first, NONE};
    assert_int_equal(world_apply(w, (struct event){.kind = EVENT_CANCEL, .jobs = {&ref, 1, false}}, NULL), 0);
}

/* An array that was cancelled, of which the first task is requeued, and the others would follow. */
static void begin_requeue(struct life *l)
{
    struct world *w = &l->h.w;
    uint32_t id = 0;
    struct event submit = {.kind = EVENT_SUBMIT, .actor = {1000, 1000, "ann", ROLE_USER}};
    submit.submit = job_text("name=array|directory=/|command=true|cpus=1|mem_mib=1|held=true|array=0-3");
    if (world_apply(w, submit, &id) != 0) return;
    const struct job_ref ref = {id, NONE};
    assert_int_equal(world_apply(w, (struct event){.kind = EVENT_CANCEL, .jobs = {&ref, 1, false}}, NULL), 0);
    const struct event requeue = {.kind = EVENT_REQUEUE, .jobs = {&ref, 1, false, .holds = true, .task_max = 1}};
    (void)world_apply(w, requeue, NULL); /* a limit of submissions may refuse it */
}

/* The event may be refused: the job has ended, or does not have the task. */
static void control(struct life *l)
{
    static const enum event_kind kinds[] = {EVENT_CANCEL, EVENT_HOLD, EVENT_RELEASE, EVENT_RELEASE};
    const struct job *j = pick_job(l);
    if (j == NULL) return;
    struct job_ref ref = {j->id, j->is_array && one_in(l, 2) ? below(l, 12) : NONE};
    if (one_in(l, 50)) world_apply(&l->h.w, (struct event){.kind = EVENT_QUARANTINE, .quarantine = "a copy"}, NULL);
    world_apply(&l->h.w, (struct event){.kind = kinds[below(l, COUNT(kinds))], .jobs = {&ref, 1, false}}, NULL);
}

static void end_task(struct life *l, const struct task *k)
{
    static const enum job_state ends[] = {JOB_COMPLETED, JOB_FAILED,    JOB_CANCELLED,
                                          JOB_TIMEOUT,   JOB_NODE_FAIL, JOB_OUT_OF_MEMORY};
    char detail[400];
    text_format(detail, sizeof detail, "%s %u", one_in(l, 2) ? "it said \"why\", \xc3\xbc" : "", below(l, 1000));
    struct event_record record = {.launch_id = k->launch_id,
                                  .at_us = l->h.w.now_us,
                                  .started_us = k->start_us,
                                  .end = ends[below(l, COUNT(ends))],
                                  .exit_status = (int32_t)below(l, 256),
                                  .signal = (int32_t)below(l, 64),
                                  .cpu_us = (int64_t)(rng_double(&l->rng) * 1e15),
                                  .max_rss_kib = (int64_t)(rng_double(&l->rng) * 1e12),
                                  .io_bytes = (int64_t)(rng_double(&l->rng) * 1e15),
                                  .detail = one_in(l, 3) ? NULL : detail};
    assert_int_equal(world_apply(&l->h.w, (struct event){.kind = EVENT_ENDED, .record = record}, NULL), 0);
}

static void measure_task(struct life *l, const struct task *k)
{
    const struct event_measured m = {.launch_id = k->launch_id,
                                     .at_us = l->h.w.now_us,
                                     .cpu_us = (int64_t)(rng_double(&l->rng) * 1e15),
                                     .io_bytes = (int64_t)(rng_double(&l->rng) * 1e15),
                                     .mem_kib = (int64_t)(rng_double(&l->rng) * 1e12)};
    assert_int_equal(world_apply(&l->h.w, (struct event){.kind = EVENT_MEASURED, .measured = m}, NULL), 0);
}

static void cancel_task(struct life *l, const struct task *k)
{
    struct job_ref ref = {k->job_id, NONE};
    world_apply(&l->h.w, (struct event){.kind = EVENT_CANCEL, .jobs = {&ref, 1, false}}, NULL);
}

/* Or resumes it. */
static void suspend_task(struct life *l, const struct task *k)
{
    struct job_ref ref = {k->job_id, NONE};
    world_set(&l->h.w, "charge_suspended", one_in(l, 2) ? "yes" : "no");
    enum event_kind kind = one_in(l, 2) ? EVENT_SUSPEND : EVENT_RESUME;
    world_apply(&l->h.w, (struct event){.kind = kind, .jobs = {&ref, 1, false}}, NULL);
}

static void report_tasks(struct life *l)
{
    for (uint32_t i = 0; i < l->h.w.s.tasks.count; i++) {
        const struct task *k = &l->h.w.s.tasks.items[i];
        if (job_state_is_end(k->state) || one_in(l, 2)) continue;
        if (k->start_us == 0)
            world_started(&l->h.w, k->launch_id);
        else if (one_in(l, 3))
            end_task(l, k);
        else if (one_in(l, 4))
            cancel_task(l, k);
        else if (one_in(l, 2))
            suspend_task(l, k);
        else
            measure_task(l, k);
    }
}

/* What is measured counts from a change of this setting on. */
static void change_usage_rule(struct life *l)
{
    world_set(&l->h.w, "SHARETREE_RESERVED_USAGE", one_in(l, 2) ? "true" : "false");
}

/* Without `safe`, a limit that is used up ends running tasks. */
static void change_limit(struct life *l)
{
    world_set(&l->h.w, "AccountingStorageEnforce", one_in(l, 2) ? "limits" : "safe");
    world_object(&l->h.w, OBJECT_QOS, DEFAULT_QOS, one_in(l, 3) ? "GrpTRESMins=cpu=0" : "GrpTRESMins=");
}

static void run_pass(struct life *l)
{
    char boot[40];
    text_format(boot, sizeof boot, "boot-%u", below(l, 3));
    assert_int_equal(world_apply(&l->h.w, (struct event){.kind = EVENT_TIME, .time = {boot}}, NULL), 0);
}

/* --- coverage ----------------------------------------------------------------------------------------------------- */

static struct {
    uint64_t first;
    bool is_seen, differs;
} seen[JOB_FIELD_COUNT];

static void note_value(enum job_field f, const struct field_value *value)
{
    struct buf text = {0};
    field_format(job_field_at(f), value, &text);
    uint64_t hash = hash_bytes(text.length > 0 ? text.text : "", text.length, 0);
    if (!seen[f].is_seen) seen[f].first = hash;
    seen[f].is_seen = true;
    seen[f].differs = seen[f].differs || hash != seen[f].first;
    buf_release(&text);
}

/* Law 5. Only jobs that have ended have an origin: tests/unit/test_moved_jobs.c. */
static void assert_all_fields_varied(void)
{
    for (enum job_field f = 0; f < JOB_FIELD_COUNT; f++) {
        if (f == JOB_FIELD_ORIGIN) continue;
        if (job_field_rows[f].column != NULL && !seen[f].differs)
            fail_msg("%s: always the same value: nothing was tested", job_field_at(f)->name);
    }
}

/* --- hosts -------------------------------------------------------------------------------------------------------- */

static void attach_hosts(struct life *l)
{
    const struct event second = {.kind = EVENT_HOST, .host = {.has = host, .name = "n2"}};
    house_set_host(&l->h, host);
    assert_int_equal(world_apply(&l->h.w, second, NULL), 0);
}

/* --- histories ---------------------------------------------------------------------------------------------------- */

static void begin(struct life *l, uint64_t seed)
{
    memset(l, 0, sizeof *l);
    l->rng.state = seed;
    house_build(&l->h, host);
    world_object(&l->h.w, OBJECT_QOS, "good", "usage_factor=0.1");
    world_object(&l->h.w, OBJECT_PARTITION, "fast", "PriorityTier=2|TRESBillingWeights=CPU=1.7,Mem=0.25G|QOS=good");
    world_object(&l->h.w, OBJECT_PARTITION, "heavy", "TRESBillingWeights=CPU=-0.3");
    world_object(&l->h.w, OBJECT_PROJECT, "apollo", "");
    world_object(&l->h.w, OBJECT_ENVIRONMENT, "smp", "allocation_rule=$round_robin"); /* jobs on both hosts */
    world_object(&l->h.w, OBJECT_HOST, "n2", "features=avx,ssd");
    world_object(&l->h.w, OBJECT_HOST, "localhost", "features=avx,ssd");
    attach_hosts(l);
    world_object(&l->h.w, OBJECT_PARTITION, "main", "pe_list=smp");
    world_object(&l->h.w, OBJECT_PROJECT, "gemini", "");
    world_object(&l->h.w, OBJECT_RESOURCE, "license", "amount=1000");
    world_object(&l->h.w, OBJECT_RESOURCE, "arch", "type=STRING");
    world_object(&l->h.w, OBJECT_RESOURCE, "bigio", "type=BOOL");
    for (size_t i = 0; i < COUNT(accounts); i++) {
        world_user(&l->h.w, accounts[i], 1, "ann");
        world_user(&l->h.w, accounts[i], 1, "bob");
    }
    world_object(&l->h.w, OBJECT_USER_POLICY, "bob", "deadline=true");
    world_set(&l->h.w, "kill_invalid_depend", "true");
    house_commit(&l->h);
}

/* Laws 2 to 4. Sometimes the loaded state replaces the other one. */
static void commit_and_compare(struct life *l)
{
    struct state loaded;
    struct world *w = &l->h.w;
    house_commit(&l->h);
    job_rows_assert_stored(&w->s, l->h.directory, note_value);
    job_rows_assert_listed(&w->s, l->h.store);
    store_must_load(l->h.store, &loaded);
    job_rows_assert_loaded(&w->s, &loaded);
    if (one_in(l, 4)) {
        state_release(&w->s);
        w->s = loaded;
        attach_hosts(l);
        return;
    }
    state_release(&loaded);
    engine_forget(&w->s);
}

static void every_field_survives(void **unused)
{
    (void)unused;
    uint32_t given = 0, dropped = 0;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        struct life l;
        begin(&l, seed);
        for (int round = repeats(150); round > 0; round--) {
            arena_clear(&l.arena);
            submit(&l);
            for (uint32_t n = below(&l, 10); n > 0; n--) update(&l);
            if (one_in(&l, 2)) control(&l);
            if (one_in(&l, 3)) change_usage_rule(&l);
            if (one_in(&l, 6)) change_limit(&l);
            if (one_in(&l, 10)) cancel_target(&l);
            run_pass(&l);
            report_tasks(&l);
            l.h.w.now_us += (int64_t)(rng_double(&l.rng) * 100.0 * (double)SECOND);
            commit_and_compare(&l);
        }
        begin_requeue(&l);
        commit_and_compare(&l);
        given += l.given;
        dropped += l.dropped;
        arena_release(&l.arena);
        house_close(&l.h);
    }
    print_message("# %u values given, %u more refused\n", given, dropped);
    if (repeats(150) < 150) return; /* fewer rounds leave some out */
    assert_all_fields_accepted();
    assert_all_fields_varied();
}

/* --- foreign values ----------------------------------------------------------------------------------------------- */

/* Returns false if the column refuses the value. */
static bool write_column(const char *directory, enum job_field f, const char *literal)
{
    sqlite3 *db = store_open_beside(directory);
    struct buf text = {0};
    buf_format(&text, "PRAGMA ignore_check_constraints = ON; UPDATE %s SET %s = %s",
               job_field_rows[f].home == JOB_HOME_JOB ? "job" : "task", job_field_rows[f].column, literal);
    bool is_written = sqlite3_exec(db, text.text, NULL, NULL, NULL) == SQLITE_OK;
    buf_release(&text);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    return is_written;
}

/* Loads the state, or asserts that the error names the file and the row. Returns whether it was loaded. */
static bool try_load(struct house *h, struct err *out_error)
{
    struct state loaded;
    *out_error = (struct err){0};
    state_init(&loaded, 1);
    bool is_loaded = store_load(h->store, &loaded, out_error) == 0;
    state_release(&loaded);
    if (is_loaded) return true;
    const char *row = strstr(ERR_SENTENCE(out_error), "fairlead.db: ");
    if (row == NULL || (strstr(row, "job") == NULL && strstr(row, "task") == NULL))
        fail_msg("'%s' does not name the row", ERR_SENTENCE(out_error));
    return false;
}

/* One job with a running task, so that keys stay unique whatever value is written. */
static void open_odd_house(struct house *h)
{
    house_build(h, host);
    world_submit(&h->w, "ann", NULL, host.cpus);
    assert_int_equal(world_apply(&h->w, (struct event){.kind = EVENT_TIME, .time = {"boot"}}, NULL), 0);
    world_started(&h->w, 1);
    house_commit(h);
}

static void read_column(const char *directory, enum job_field f, char out_literal[STORE_PATH_SIZE])
{
    char query[100];
    snprintf(query, sizeof query, "SELECT quote(%s) FROM %s", job_field_rows[f].column,
             job_field_rows[f].home == JOB_HOME_JOB ? "job" : "task");
    store_sql_text(directory, query, out_literal);
}

/* Law 6, for odd values in one column after the other. */
static void odd_values_are_accepted_or_refused(void **unused)
{
    (void)unused;
    static const char *const odd[] = {
        "NULL", "-1",  "0",     "4294967295",   "9223372036854775807",    "1e300",   "9e999",  "'x'", "'\xff'", "''",
        "'1-'", "','", "'a=b'", "'0-99999999'", "'-9223372036854775808'", "'cpu=x'", "'main,'"};
    struct house h;
    struct err e;
    char original[STORE_PATH_SIZE];
    uint32_t refused = 0, taken = 0;
    open_odd_house(&h);
    for (enum job_field f = 0; f < JOB_FIELD_COUNT; f++) {
        if (job_field_rows[f].column == NULL) continue;
        read_column(h.directory, f, original);
        for (size_t i = 0; i < COUNT(odd); i++) {
            if (!write_column(h.directory, f, odd[i])) continue;
            if (try_load(&h, &e))
                taken++;
            else
                refused++;
        }
        assert_true(write_column(h.directory, f, original));
    }
    print_message("# %u refused, %u taken\n", refused, taken);
    assert_true(refused > 100 && taken > 100);
    assert_true(try_load(&h, &e));
    house_close(&h);
}

/* A number above the maximum, or below the minimum. False: there is none, or it stands for a special word. Ranges are
 * doubles, which are exact below 2^53. */
static bool number_out_of_range(const struct field *f, bool is_above, int64_t *out_number)
{
    if (is_above ? f->max >= 9e18 : f->min < -9e18) return false;
    int64_t step = f->max >= WHOLE_REAL_MAX ? 1000 : 1;
    *out_number = is_above ? (int64_t)f->max + step : (int64_t)f->min - 1;
    return f->special == NULL || *out_number != FIELD_SPECIAL;
}

/* Ended rows are not loaded, so their times of ending are not read. */
static bool is_read_number(enum job_field f)
{
    const struct field *field = job_field_at(f);
    return job_field_rows[f].column != NULL && field_is_whole(field) && field->type != FIELD_CHOICE &&
           f != JOB_FIELD_END && f != JOB_FIELD_ENDED;
}

/* Law 6, for numbers: the error also names the field. */
static void numbers_out_of_range_are_named(void **unused)
{
    (void)unused;
    struct house h;
    struct err e;
    char original[STORE_PATH_SIZE], literal[32];
    uint32_t refused = 0;
    int64_t number;
    open_odd_house(&h);
    for (enum job_field f = 0; f < JOB_FIELD_COUNT; f++) {
        if (!is_read_number(f)) continue;
        read_column(h.directory, f, original);
        for (int is_above = 0; is_above < 2; is_above++) {
            if (!number_out_of_range(job_field_at(f), is_above, &number)) continue;
            snprintf(literal, sizeof literal, "%lld", (long long)number);
            assert_true(write_column(h.directory, f, literal));
            if (try_load(&h, &e) || strcmp(e.field, job_field_at(f)->name) != 0)
                fail_msg("%s = %s: '%s'", job_field_rows[f].column, literal, ERR_SENTENCE(&e));
            refused++;
        }
        assert_true(write_column(h.directory, f, original));
    }
    assert_true(refused > 50);
    house_close(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_field_survives),
        cmocka_unit_test(odd_values_are_accepted_or_refused),
        cmocka_unit_test(numbers_out_of_range_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
