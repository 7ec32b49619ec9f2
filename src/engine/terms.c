/* What the policies use of a job, from a submission or an update: read and checked against what there is. The row comes in
 * with what the terms change, the standard ones or those of the job, and request, time limit, user and moments in place;
 * what is read goes into memory of the cycle, so that a refusal leaves no trace.
 *
 *     operators      anything in its range
 *     users          nice upwards, POSIX priority downwards from what stands; not site, priority by hand, override tickets;
 *                    a deadline only where their user object says so
 *     once started   partition, QOS, project, requests and slots stay: the task was placed and is charged by them */
#include <string.h>

#include "base/quantity.h"
#include "engine/handlers.h"

enum { VALUE_BYTES_MAX = 255, NICE_MAX = 2147483645 };

struct reading {
    struct apply_context *t;
    const struct actor *actor;
    const struct event_terms *wanted;
    struct job *row;
    bool has_other_cpus; /* than before: what depends on their number is checked anew */
};

/* --- names -------------------------------------------------------------------------------------------------------- */

static int read_partitions(struct reading *r)
{
    struct state *s = r->t->s;
    const char *text = r->wanted->partitions;
    if (text == NULL) return 0;
    uint32_t *indices = arena_alloc(&s->cycle, s->objects[OBJECT_PARTITION].count * sizeof *indices), count = 0;
    for (struct str rest = str(text); rest.text != NULL;) {
        struct str name = str_trim(str_cut(rest, ',', &rest));
        uint32_t index;
        if (object_find(r->t, OBJECT_PARTITION, name, &index) != 0) return -1;
        for (uint32_t i = 0; i < count; i++) {
            if (indices[i] == index)
                return err_set(r->t->e, ERR_INPUT, "partitions: '%s' is named twice",
                               object_at(s, OBJECT_PARTITION, index)->object.name);
        }
        indices[count++] = index;
    }
    r->row->partitions = indices;
    r->row->partition_count = count;
    return 0;
}

static int read_names(struct reading *r)
{
    const char *qos = r->wanted->qos, *project = r->wanted->project;
    if (read_partitions(r) != 0) return -1;
    if (qos != NULL && object_find(r->t, OBJECT_QOS, str(qos), &r->row->qos) != 0) return -1;
    if (project == NULL) return 0;
    if (project[0] != '\0') return object_find(r->t, OBJECT_PROJECT, str(project), &r->row->project);
    r->row->project = NONE;
    return 0;
}

/* --- requests ----------------------------------------------------------------------------------------------------- */

/* "license=2"; of a BOOL "bigio" is enough. */
static int read_request(struct reading *r, struct str item, struct job_request *out)
{
    struct apply_context *t = r->t;
    struct str value, name = str_trim(str_cut(item, '=', &value));
    if (str_equal(name, str("slots"))) return err_set(t->e, ERR_INPUT, "resource slots: these are the job's CPUs");
    if (object_find(t, OBJECT_RESOURCE, name, &out->resource) != 0) return -1;
    const struct object *o = &object_at(t->s, OBJECT_RESOURCE, out->resource)->object;
    enum resource_type type = (enum resource_type)o->value[RESOURCE_TYPE].number;
    value = value.text == NULL && type == RESOURCE_BOOL ? str("true") : str_trim(value);
    if (value.length > VALUE_BYTES_MAX || !str_is_printable(value))
        return err_set(t->e, ERR_INPUT, "resource %s: printable text of at most %d bytes is accepted", o->name,
                       VALUE_BYTES_MAX);
    out->text = arena_copy(&t->s->cycle, value);
    return object_resource_amount_parse(type, o->name, value, &out->amount, t->e);
}

static int read_requests(struct reading *r)
{
    struct state *s = r->t->s;
    struct str rest = str_trim(str(r->wanted->requests));
    if (r->wanted->requests == NULL) return 0;
    struct job_request *requests =
        arena_alloc(&s->cycle, (s->objects[OBJECT_RESOURCE].count + (size_t)1) * sizeof *requests);
    uint32_t count = 0;
    if (rest.length == 0) rest.text = NULL;
    while (rest.text != NULL) {
        struct job_request *q = &requests[count];
        if (read_request(r, str_trim(str_cut(rest, ',', &rest)), q) != 0) return -1;
        for (uint32_t i = 0; i < count; i++) {
            if (requests[i].resource == q->resource)
                return err_set(r->t->e, ERR_INPUT, "resource %s: it is requested twice",
                               object_at(s, OBJECT_RESOURCE, q->resource)->object.name);
        }
        count++;
    }
    r->row->requests = requests;
    r->row->request_count = count;
    return 0;
}

/* What can never be given is refused, not kept waiting; a job that was taken may wait for an amount to be raised again. */
static int check_amounts(struct reading *r)
{
    struct apply_context *t = r->t;
    const struct job *row = r->row;
    if (r->wanted->requests == NULL && !r->has_other_cpus) return 0;
    for (uint32_t i = 0; i < row->request_count; i++) {
        const struct job_request *q = &row->requests[i];
        const struct object *o = &object_at(t->s, OBJECT_RESOURCE, q->resource)->object;
        int64_t has = o->value[RESOURCE_AMOUNT].number;
        if (has == FIELD_SPECIAL || resource_type_is_text((enum resource_type)o->value[RESOURCE_TYPE].number)) continue;
        if (q->amount * row->request.cpus <= (double)has * (1 + 1e-9)) continue;
        return err_set(t->e, ERR_TOO_LARGE, "resource %s: %s for each of %u CPUs is more than there is: %lld", o->name,
                       q->text, row->request.cpus, (long long)has);
    }
    return 0;
}

/* --- numbers ------------------------------------------------------------------------------------------------------ */

static int check_whole(struct apply_context *t, const char *what, int64_t value, int64_t min, int64_t max)
{
    if (value >= min && value <= max) return 0;
    return err_set(t->e, ERR_INPUT, "%s: %lld is not from %lld to %lld", what, (long long)value, (long long)min,
                   (long long)max);
}

static int read_nice(struct reading *r)
{
    int32_t nice = r->wanted->nice, site = r->wanted->site;
    if (nice != TERM_KEEP) {
        if (check_whole(r->t, "nice", nice, -NICE_MAX, NICE_MAX) != 0) return -1;
        if (nice < r->row->nice && !r->actor->is_operator)
            return err_set(r->t->e, ERR_DENIED, "nice: only an operator may lower it, from %d to %d", r->row->nice,
                           nice);
        r->row->nice = nice;
    }
    if (site == TERM_KEEP || site == r->row->site) return 0;
    if (apply_require_operator(r->t, r->actor, "set the site factor of a job") != 0) return -1;
    if (check_whole(r->t, "site factor", site, -NICE_MAX, NICE_MAX) != 0) return -1;
    r->row->site = site;
    return 0;
}

static int read_priority(struct reading *r)
{
    enum { COMPUTED_AGAIN = -2, KEEP = -1 };
    int32_t posix = r->wanted->posix_priority;
    int64_t by_hand = r->wanted->set_priority;
    if (posix != TERM_KEEP) {
        if (check_whole(r->t, "priority", posix, POSIX_PRIORITY_MIN, POSIX_PRIORITY_MAX) != 0) return -1;
        if (posix > r->row->posix_priority && !r->actor->is_operator)
            return err_set(r->t->e, ERR_DENIED, "priority: only an operator may raise it, from %d to %d",
                           r->row->posix_priority, posix);
        r->row->posix_priority = posix;
    }
    if (by_hand == KEEP) return 0;
    if (apply_require_operator(r->t, r->actor, "set the priority of a job by hand") != 0) return -1;
    if (by_hand != COMPUTED_AGAIN && check_whole(r->t, "priority by hand", by_hand, 1, NONE - 1) != 0) return -1;
    r->row->set_priority = by_hand == COMPUTED_AGAIN ? NONE : (uint32_t)by_hand;
    return 0;
}

static int read_shares(struct reading *r)
{
    int64_t shares = r->wanted->job_share, tickets = r->wanted->override_tickets;
    if (shares != -1) {
        if (check_whole(r->t, "job share", shares, 0, UINT32_MAX) != 0) return -1;
        r->row->job_share = (uint32_t)shares;
    }
    if (tickets == -1 || tickets == r->row->override_tickets) return 0;
    if (apply_require_operator(r->t, r->actor, "give override tickets to a job") != 0) return -1;
    if (check_whole(r->t, "override tickets", tickets, 0, UINT32_MAX) != 0) return -1;
    r->row->override_tickets = (uint32_t)tickets;
    return 0;
}

static int read_slots(struct reading *r)
{
    struct apply_context *t = r->t;
    struct job *row = r->row;
    if (r->wanted->slots_max == 0 && !r->has_other_cpus) return 0;
    if (r->wanted->slots_max != 0) row->slots_max = r->wanted->slots_max;
    if (row->slots_max == row->request.cpus) row->slots_max = 0;
    uint32_t max = row->slots_max;
    if (max == 0 || (max >= row->request.cpus && max <= t->s->host.has.cpus)) return 0;
    if (max < row->request.cpus)
        return err_set(t->e, ERR_INPUT, "slots: a range from %u up to %u is empty", row->request.cpus, max);
    return err_set(t->e, ERR_TOO_LARGE, "slots: up to %u are more than the host has: %u", max, t->s->host.has.cpus);
}

/* --- moments ------------------------------------------------------------------------------------------------------ */

/* A job grows older since accrue_us. One that waits for a later begin starts over then; one whose begin goes away begins
 * to grow older now. */
static int read_begin(struct reading *r)
{
    struct job *row = r->row;
    int64_t now_us = r->t->now_us, begin_us = r->wanted->begin_us == -1 ? 0 : r->wanted->begin_us;
    if (r->wanted->begin_us == 0) return 0;
    if (begin_us < 0) return err_set(r->t->e, ERR_INPUT, "begin: a moment before 1970 is not accepted");
    row->begin_us = begin_us;
    if (row->accrue_us == 0) return 0;
    if (begin_us > now_us || row->accrue_us > now_us) row->accrue_us = begin_us > now_us ? begin_us : now_us;
    return 0;
}

static bool may_use_deadline(struct reading *r)
{
    if (r->actor->is_operator) return true;
    uint32_t user = state_find_object(r->t->s, OBJECT_USER, r->actor->user);
    return user != NONE && object_at(r->t->s, OBJECT_USER, user)->object.value[USER_MAY_USE_DEADLINE].number != 0;
}

static int read_deadline(struct reading *r)
{
    int64_t deadline_us = r->wanted->deadline_us;
    if (deadline_us == 0) return 0;
    if (deadline_us == -1) {
        r->row->deadline_us = 0;
        return 0;
    }
    if (deadline_us <= r->t->now_us)
        return err_set(r->t->e, ERR_INPUT, "deadline: it is over, by %lld s; one to come is accepted",
                       (long long)((r->t->now_us - deadline_us) / US_PER_S));
    if (!may_use_deadline(r))
        return err_field(r->t->e, ERR_DENIED, "deadline", "user '%s' may not have one", r->actor->user);
    r->row->deadline_us = deadline_us;
    return 0;
}

/* --- together ----------------------------------------------------------------------------------------------------- */

static int read_terms(struct reading *r)
{
    if (read_names(r) != 0 || read_requests(r) != 0) return -1;
    if (read_nice(r) != 0 || read_priority(r) != 0 || read_shares(r) != 0) return -1;
    if (read_slots(r) != 0 || check_amounts(r) != 0) return -1;
    return read_begin(r) != 0 ? -1 : read_deadline(r);
}

int read_submission_terms(struct apply_context *t, const struct actor *actor, const struct event_terms *wanted,
                          struct job *row)
{
    struct state *s = t->s;
    struct event_terms all = *wanted;
    if (all.set_priority == 0 || all.set_priority == NONE) all.set_priority = -1;
    row->partitions = arena_alloc(&s->cycle, sizeof *row->partitions);
    row->partitions[0] = object_first(s, OBJECT_PARTITION);
    row->partition_count = 1;
    row->qos = state_find_object(s, OBJECT_QOS, DEFAULT_QOS);
    row->project = NONE;
    row->set_priority = NONE;
    row->accrue_us = t->now_us;
    struct reading r = {t, actor, &all, row, .has_other_cpus = true};
    if (read_terms(&r) != 0) return -1;
    if (row->held) row->accrue_us = 0;
    return 0;
}

static const char *name_what_stays(const struct event_terms *w, const struct job *row, bool is_waiting)
{
    if (w->partitions != NULL) return "partitions";
    if (w->qos != NULL) return "QOS";
    if (w->project != NULL) return "project";
    if (w->requests != NULL) return "requests";
    uint32_t max = row->slots_max != 0 ? row->slots_max : row->request.cpus;
    if (w->slots_max != 0 && w->slots_max != max) return "slots";
    return w->begin_us != 0 && !is_waiting ? "begin" : NULL;
}

int read_changed_terms(struct apply_context *t, const struct actor *actor, const struct event_terms *wanted,
                       bool has_started, struct job *row)
{
    const char *stays = name_what_stays(wanted, row, idset_first(&row->pending) != NONE);
    if (has_started && stays != NULL)
        return err_set(t->e, ERR_CONFLICT, "job %u has started; its %s cannot change any more", row->id, stays);
    uint32_t cpus = t->s->jobs.items[state_find_job(t->s, row->id)].request.cpus;
    struct reading r = {t, actor, wanted, row, .has_other_cpus = row->request.cpus != cpus};
    return read_terms(&r);
}

/* --- the time limit ----------------------------------------------------------------------------------------------- */

int64_t longest_time_s(const struct state *s, const struct job *row, uint32_t *out_partition)
{
    int64_t longest_s = 0;
    for (uint32_t i = 0; i < row->partition_count; i++) {
        const struct object_row *p = &s->objects[OBJECT_PARTITION].items[row->partitions[i]];
        int64_t max_s = p->object.value[PARTITION_MAX_TIME].number;
        if (max_s == FIELD_SPECIAL) max_s = INT64_MAX;
        if (max_s <= longest_s) continue;
        longest_s = max_s;
        *out_partition = row->partitions[i];
    }
    return longest_s;
}

int check_partition_time(struct apply_context *t, const struct job *row)
{
    uint32_t partition = row->partitions[0];
    char limit[32], max[32];
    int64_t longest_s = longest_time_s(t->s, row, &partition);
    if (row->time_limit_s <= longest_s) return 0;
    duration_format(limit, row->time_limit_s);
    duration_format(max, longest_s);
    return err_set(t->e, ERR_TOO_LARGE, "time limit: %s is more than partition '%s' allows: MaxTime is %s", limit,
                   object_at(t->s, OBJECT_PARTITION, partition)->object.name, max);
}

/* --- users -------------------------------------------------------------------------------------------------------- */

int check_user_named(struct apply_context *t, const struct actor *actor)
{
    if (t->s->policy.enforce_user == ENFORCE_USER_NONE || state_find_object(t->s, OBJECT_USER, actor->user) != NONE)
        return 0;
    if (t->s->policy.enforce_user == ENFORCE_USER_AUTO) return apply_check_name("user", actor->user, t->e);
    return err_subject(t->e, ERR_DENIED, "user", str(actor->user), "is not named here, and enforce_user is true");
}

void name_user(struct apply_context *t, const struct actor *actor)
{
    struct state *s = t->s;
    if (s->policy.enforce_user != ENFORCE_USER_AUTO) return;
    if (state_find_object(s, OBJECT_USER, actor->user) != NONE) return;
    struct object o = object_defaults(OBJECT_USER, actor->user);
    o.value[USER_FSHARE].number = setting_number(&s->settings, SET_GE_AUTO_USER_FSHARE);
    o.value[USER_OTICKET].number = setting_number(&s->settings, SET_GE_AUTO_USER_OTICKET);
    object_create(t, OBJECT_USER, &o);
}
