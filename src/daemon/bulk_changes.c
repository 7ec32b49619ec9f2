#include "daemon/bulk_changes.h"

#include "base/ensure.h"
#include "base/sort.h"
#include "daemon/daemon.h"
#include "daemon/log.h"
#include "engine/job_selection.h"

enum {
    SLICE_US = 6000,   /* of a slice and its commit */
    UNITS_FIRST = 256, /* of the first turn */
    UNITS_MIN = 256,   /* also where nothing is fast, so that it comes to an end */
    UNITS_MAX = 8192,
    DRY_REFS_PER_UNIT = 4,
    LISTED_PER_UNIT = 100, /* jobs that are looked at for a selection in the time of a unit */
    ONE_EVENT_UNITS = 256  /* a request about so few is one event, and changes all jobs or none */
};

/* --- one bulk change ---------------------------------------------------------------------------------------------- */

static bool is_of_jobs(const struct event *event)
{
    return event->kind == EVENT_CANCEL || event->kind == EVENT_HOLD || event->kind == EVENT_RELEASE ||
           event->kind == EVENT_REQUEUE || event->kind == EVENT_SUSPEND || event->kind == EVENT_RESUME ||
           event->kind == EVENT_SIGNAL;
}

/* Its jobs will not wait any more. */
static bool is_ending_waits(const struct event *event)
{
    return !event->jobs.is_dry_run && (event->kind == EVENT_CANCEL || event->kind == EVENT_HOLD);
}

/* An ended job that is not in memory may be an array of any size. */
static bool is_small(const struct state *s, const struct event *event)
{
    uint64_t units = 0;
    if (event->jobs.all) return false;
    for (uint32_t i = 0; i < event->jobs.count && units <= ONE_EVENT_UNITS; i++) {
        struct job_ref ref = event->jobs.refs[i];
        if (event->kind == EVENT_REQUEUE && ref.task_id == NONE && !job_selection_is_known(s, ref)) return false;
        units += job_selection_weight(s, event, ref);
    }
    return units <= ONE_EVENT_UNITS;
}

static void bulk_free(struct bulk_change *b)
{
    map_release(&b->seen);
    map_release(&b->jobs_seen);
    array_release(&b->refused);
    array_release(&b->changed);
    arena_release(&b->arena);
    mem_free(b);
}

/* What a unit costs is not known yet: a task that is requeued costs more than a job that is held. */
static void begin_first(struct bulk_changes *bulk)
{
    bulk->units_max = UNITS_FIRST;
    if (bulk->units_left > UNITS_FIRST) bulk->units_left = UNITS_FIRST;
}

static void remove_first(struct bulk_changes *bulk)
{
    bulk_free(bulk->list.items[0]);
    for (uint32_t i = 1; i < bulk->list.count; i++) bulk->list.items[i - 1] = bulk->list.items[i];
    bulk->list.count--;
    begin_first(bulk);
}

/* Of the first one: what the client is told. */
static struct decided_request *add_decided(struct daemon *d, struct decided_requests *requests)
{
    struct bulk_change *b = d->bulk.list.items[0];
    struct jobs_report *report = b->event.jobs.report;
    struct decided_request *decided = array_add(&requests->list);
    *decided = (struct decided_request){.request = b->request, .committed_count = b->committed_count};
    decided->result.job_count = b->changed_count;
    if (report != NULL) {
        report->refused = arena_alloc(report->arena, (b->refused.count + (size_t)1) * sizeof *report->refused);
        report->changed = arena_alloc(report->arena, (b->changed.count + (size_t)1) * sizeof *report->changed);
        report->refused_count = b->refused.count;
        report->changed_count = b->changed.count;
        for (uint32_t i = 0; i < b->refused.count; i++) report->refused[i] = b->refused.items[i];
        for (uint32_t i = 0; i < b->changed.count; i++) report->changed[i] = b->changed.items[i];
    }
    return decided;
}

/* Removes the first one, which is complete. */
static void complete(struct daemon *d, struct decided_requests *requests)
{
    if (d->bulk.list.items[0]->request != NULL) add_decided(d, requests);
    remove_first(&d->bulk);
}

static void refuse(struct daemon *d, struct decided_requests *requests, const struct err *e)
{
    if (d->bulk.list.items[0]->request != NULL) {
        struct decided_request *decided = add_decided(d, requests);
        decided->is_refused = true;
        decided->err = *e;
    }
    remove_first(&d->bulk);
}

/* --- one slice ---------------------------------------------------------------------------------------------------- */

struct slice {
    struct event event;
    struct arena arena; /* of its references, its report and what it needs of ended jobs */
    struct jobs_report report;
    uint32_t units;
    uint32_t next; /* where the one after it begins */
};

/* Its names were found when the jobs were listed, and may be deleted since. */
static struct job_selection states_of(const struct job_selection *selection)
{
    return (struct job_selection){.is_of_pending = selection->is_of_pending,
                                  .is_of_live = selection->is_of_live,
                                  .is_of_suspended = selection->is_of_suspended};
}

static uint64_t key_of(struct job_ref ref)
{
    return task_key(ref.job_id, ref.task_id);
}

/* The references from b->next on that were not named before, at most max. */
static void take_refs(struct bulk_change *b, struct slice *slice, uint32_t max)
{
    struct job_ref *refs = arena_alloc_raw(&slice->arena, max * sizeof *refs);
    uint32_t count = 0, next = b->next;
    for (; next < b->ref_count && count < max; next++) {
        uint64_t key = key_of(b->refs[next]);
        bool is_new = map_get_u64(&b->seen, key) == NONE;
        if (is_new || (next == b->next && b->is_continued)) refs[count++] = b->refs[next];
        if (is_new) map_set_u64(&b->seen, key, next);
    }
    slice->event.jobs.refs = refs;
    slice->event.jobs.count = count;
    slice->next = next;
}

/* Leaves out the references from `kept` on. */
static void cut_refs(struct bulk_change *b, struct slice *slice, uint32_t kept)
{
    struct event_jobs *jobs = &slice->event.jobs;
    slice->next = map_get_u64(&b->seen, key_of(jobs->refs[kept]));
    for (uint32_t i = kept; i < jobs->count; i++) map_remove_u64(&b->seen, key_of(jobs->refs[i]));
    jobs->count = kept;
}

/* Makes the slice fit into the units that are left. An array that alone does not fit is cut by its tasks; a dry run
 * needs to look at one of them. */
static void fit_units(struct daemon *d, struct bulk_change *b, struct slice *slice)
{
    struct event_jobs *jobs = &slice->event.jobs;
    uint32_t units_left = jobs->is_dry_run ? d->bulk.units_left * DRY_REFS_PER_UNIT : d->bulk.units_left, kept = 0;
    uint64_t units = 0, tasks = 0, tasks_max = 0;
    while (kept < jobs->count) {
        bool is_same =
            kept > 0 && jobs->refs[kept].task_id != NONE && jobs->refs[kept].job_id == jobs->refs[kept - 1].job_id;
        uint64_t weight = job_selection_weight(&d->state, &slice->event, jobs->refs[kept]);
        if (is_same) {
            weight = job_selection_task_weight(weight);
            tasks += weight;
        } else {
            tasks = 0;
            tasks_max = weight;
        }
        if (kept > 0 && units + weight > units_left && !(is_same && tasks <= tasks_max)) break;
        units += weight;
        kept++;
    }
    if (kept < jobs->count) cut_refs(b, slice, kept);
    bool is_cut = kept == 1 && (units > units_left || b->is_continued);
    if (is_cut) {
        jobs->task_max = jobs->is_dry_run ? 1 : units_left;
        jobs->task_first = b->task_first;
        units = units_left;
    }
    slice->units = (uint32_t)(jobs->is_dry_run ? units / DRY_REFS_PER_UNIT + 1 : units);
}

static void make_slice(struct daemon *d, struct bulk_change *b, struct slice *slice)
{
    *slice = (struct slice){.event = b->event};
    struct event_jobs *jobs = &slice->event.jobs;
    slice->report.arena = &slice->arena;
    jobs->report = b->is_checking ? NULL : &slice->report;
    jobs->is_dry_run = b->event.jobs.is_dry_run || b->is_checking;
    jobs->selection = states_of(&b->event.jobs.selection);
    uint32_t max = jobs->is_dry_run ? d->bulk.units_left * DRY_REFS_PER_UNIT : d->bulk.units_left;
    if (b->event.kind == EVENT_REQUEUE && !b->event.jobs.all) max = max / 4 + 1; /* it reads those that have ended */
    if (b->is_continued) max = 1;
    take_refs(b, slice, max);
    uint32_t count = jobs->count;
    daemon_read_ends(d, &slice->event, &slice->arena);
    fit_units(d, b, slice);
    if (jobs->count == count || slice->event.ended_job_count == 0) return;
    daemon_release_ends(&slice->event);
    daemon_read_ends(d, &slice->event, &slice->arena);
}

/* A job that an earlier slice has ended, or made pending, is not there any more for another reference to it. */
static bool is_reported(const struct bulk_change *b, const struct job_refusal *refusal)
{
    bool was_changed = b->is_continued || map_get_u64(&b->jobs_seen, refusal->ref.job_id) != NONE;
    bool ends = b->event.kind == EVENT_CANCEL || b->event.kind == EVENT_REQUEUE;
    return b->event.jobs.report != NULL && !(was_changed && ends && refusal->code == ERR_NOT_FOUND);
}

static void add_report(struct bulk_change *b, const struct slice *slice)
{
    for (uint32_t i = 0; i < slice->report.refused_count; i++) {
        struct job_refusal refusal = slice->report.refused[i];
        if (!is_reported(b, &refusal)) continue;
        refusal.message = arena_copy(b->event.jobs.report->arena, str(refusal.message));
        *array_add(&b->refused) = refusal;
    }
    for (uint32_t i = 0; b->event.jobs.is_dry_run && i < slice->report.changed_count; i++)
        *array_add(&b->changed) = slice->report.changed[i];
}

/* What keeps a job from being requeued further, such as an object that was deleted since, has no client to read it. */
static void log_refusals(const struct slice *slice)
{
    for (uint32_t i = 0; i < slice->report.refused_count; i++)
        log_line(LOG_WARNING, "requeue-broken-off", " error=\"%s\"", slice->report.refused[i].message);
}

static void go_on(struct bulk_change *b, const struct slice *slice, const struct event_result *result)
{
    const struct event_jobs *jobs = &slice->event.jobs;
    if (!b->is_checking) add_report(b, slice);
    if (b->request == NULL) log_refusals(slice);
    if (!b->is_checking && !b->is_continued) b->changed_count += result->job_count;
    for (uint32_t i = 0; i < jobs->count; i++) map_set_u64(&b->jobs_seen, jobs->refs[i].job_id, 0);
    b->is_continued = result->is_unfinished && !jobs->is_dry_run;
    b->task_first = b->is_continued ? result->task_next : 0;
    /* Those before the one that goes on were named before, and are done. */
    b->next = b->is_continued ? map_get_u64(&b->seen, key_of(jobs->refs[0])) : slice->next;
    if (b->next < b->ref_count || !b->is_checking) return;
    b->is_checking = false;
    b->next = 0;
    map_clear(&b->seen);
    map_clear(&b->jobs_seen);
}

/* Applies the next slice. -1 with *e: the request is refused. */
static int apply_slice(struct daemon *d, struct bulk_change *b, struct err *e)
{
    struct slice slice;
    struct event_result result = {0};
    make_slice(d, b, &slice);
    uint32_t change_count = d->outcome.changes.count;
    int status = 0;
    if (slice.event.jobs.count > 0) status = engine_apply(&d->state, d->now_us, &slice.event, &d->outcome, &result, e);
    if (status == 0) go_on(b, &slice, &result);
    if ((d->outcome.changes.count - change_count) * 2 >= slice.event.jobs.count) d->bulk.units += slice.units;
    d->bulk.units_left -= slice.units < d->bulk.units_left ? slice.units : d->bulk.units_left;
    daemon_release_ends(&slice.event);
    arena_release(&slice.arena);
    return status;
}

/* --- the turn ----------------------------------------------------------------------------------------------------- */

void daemon_begin_bulk_turn(struct daemon *d)
{
    struct bulk_changes *bulk = &d->bulk;
    if (bulk->units_max == 0) bulk->units_max = UNITS_FIRST;
    bool may_begin = bulk->is_resumed || bulk->list.count == 0;
    bulk->is_resumed = false;
    bulk->units_left = may_begin ? bulk->units_max : 0;
    bulk->units = 0;
    bulk->spent_us = 0;
    for (uint32_t i = 0; i < bulk->list.count; i++)
        bulk->list.items[i]->committed_count = bulk->list.items[i]->changed_count;
}

/* Keeps back the jobs that a list will hold or cancel. Those of other users, which it can name as well, start. */
static void keep_back(const struct state *s, struct bulk_change *b)
{
    struct sort_record *found = arena_alloc_raw(&b->arena, (b->ref_count + (size_t)1) * sizeof *found),
                       *scratch = arena_alloc_raw(&b->arena, (b->ref_count + (size_t)1) * sizeof *scratch);
    struct job_ref *kept = arena_alloc_raw(&b->arena, (b->ref_count + (size_t)1) * sizeof *kept);
    uint32_t count = 0, last = 0;
    for (uint32_t i = 0; i < b->ref_count; i++) {
        uint32_t id = b->refs[i].job_id, index = id != last ? state_find_job(s, id) : NONE;
        last = id; /* lists name the tasks of a job one after the other */
        if (index == NONE || !job_selection_permits(s, &b->event.actor, &s->jobs.items[index])) continue;
        found[count++] = (struct sort_record){.key = id};
    }
    sort_records(found, count, scratch);
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0 && found[i].key == found[i - 1].key) continue;
        kept[b->kept_back_count++] = (struct job_ref){(uint32_t)found[i].key, NONE};
    }
    b->kept_back = kept;
}

bool daemon_take_bulk(struct daemon *d, struct request *request, struct decided_requests *requests)
{
    const struct event *event = request_event(request);
    if (!is_of_jobs(event) || is_small(&d->state, event)) return false;
    struct bulk_change *b = mem_resize(NULL, 0, sizeof *b);
    *b = (struct bulk_change){.request = request,
                              .event = *event,
                              .refs = event->jobs.refs,
                              .ref_count = event->jobs.count,
                              .is_listed = !event->jobs.all};
    b->is_checking = event->jobs.report == NULL && !event->jobs.all;
    if (b->is_listed && is_ending_waits(event)) keep_back(&d->state, b);
    *array_add(&d->bulk.list) = b;
    if (d->bulk.list.count > 1) return true;
    begin_first(&d->bulk);
    daemon_advance_bulk(d, requests);
    return true;
}

/* As if an earlier slice had come up to its next task. */
static struct bulk_change *resumed_requeue(const struct daemon *d, const struct store_unfinished_requeue *u)
{
    bool is_held = u->is_held || (u->ended_us != 0 && u->ended_us <= d->state.quarantined_us);
    const struct actor actor = {.role = ROLE_ADMINISTRATOR};
    struct bulk_change *b = mem_resize(NULL, 0, sizeof *b);
    *b = (struct bulk_change){.event = {.kind = EVENT_REQUEUE, .actor = actor, .jobs.holds = is_held},
                              .ref_count = 1,
                              .is_listed = true,
                              .is_continued = true,
                              .task_first = u->task_next};
    struct job_ref *ref = arena_alloc(&b->arena, sizeof *ref);
    *ref = (struct job_ref){u->job_id, NONE};
    b->refs = ref;
    return b;
}

static void put_first(struct bulk_changes *bulk, struct bulk_change *b)
{
    array_add(&bulk->list);
    for (uint32_t i = bulk->list.count - 1; i > 0; i--) bulk->list.items[i] = bulk->list.items[i - 1];
    bulk->list.items[0] = b;
}

void daemon_resume_requeues(struct daemon *d)
{
    struct arena arena = {0};
    struct store_unfinished_requeue *list = NULL;
    struct err e;
    uint32_t count = 0;
    while (daemon_bulk_is_resumed_requeue(d)) remove_first(&d->bulk);
    if (store_unfinished_requeues(d->store, &arena, &list, &count, &e) != 0)
        log_line(LOG_ERROR, "requeues-unknown", " error=\"%s\"", ERR_SENTENCE(&e));
    for (uint32_t i = count; i-- > 0;) {
        log_line(LOG_INFO, "requeue-resumed", " job=%u task=%u", list[i].job_id, list[i].task_next);
        put_first(&d->bulk, resumed_requeue(d, &list[i]));
    }
    arena_release(&arena);
}

bool daemon_bulk_is_resumed_requeue(const struct daemon *d)
{
    return d->bulk.list.count > 0 && d->bulk.list.items[0]->request == NULL;
}

/* Finds the jobs of a selection. */
static int list_jobs(struct daemon *d, struct bulk_change *b, struct err *e)
{
    struct bulk_changes *bulk = &d->bulk;
    uint32_t units = d->state.jobs.count / LISTED_PER_UNIT;
    b->is_listed = true;
    bulk->units_left -= units < bulk->units_left ? units : bulk->units_left;
    if (job_selection_list(&d->state, &b->event, &b->arena, &b->refs, &b->ref_count, e) != 0) return -1;
    b->is_selection = true; /* unless a job was requeued */
    for (uint32_t i = 1; i < b->ref_count; i++) b->is_selection &= b->refs[i - 1].job_id < b->refs[i].job_id;
    if (!b->is_selection) keep_back(&d->state, b);
    return 0;
}

void daemon_advance_bulk(struct daemon *d, struct decided_requests *requests)
{
    struct bulk_changes *bulk = &d->bulk;
    struct err e;
    int64_t begin_ns = (int64_t)uv_hrtime();
    while (bulk->list.count > 0) {
        struct bulk_change *b = bulk->list.items[0];
        if (b->is_listed && b->next == b->ref_count)
            complete(d, requests);
        else if (bulk->units_left == 0)
            break;
        else if ((b->is_listed ? apply_slice(d, b, &e) : list_jobs(d, b, &e)) != 0)
            refuse(d, requests, &e);
    }
    bulk->spent_us += ((int64_t)uv_hrtime() - begin_ns) / 1000;
}

static bool ends_waiting(const struct bulk_changes *bulk)
{
    return bulk->list.count > 0 && is_ending_waits(&bulk->list.items[0]->event);
}

bool daemon_bulk_keeps_starts(const struct daemon *d)
{
    return ends_waiting(&d->bulk) && d->state.policy.model == MODEL_TICKETS;
}

void daemon_bulk_keep_back(struct daemon *d, struct event *time)
{
    struct bulk_changes *bulk = &d->bulk;
    time->time.has_kept = bulk->has_kept;
    bulk->has_kept = ends_waiting(bulk);
    if (!bulk->has_kept) return;
    const struct bulk_change *b = bulk->list.items[0];
    time->time.has_kept = false;
    time->time.kept_back = b->is_selection ? b->refs + b->next : b->kept_back;
    time->time.kept_back_count = b->is_selection ? b->ref_count - b->next : b->kept_back_count;
}

/* Half as many units, or twice as many, at most, so that one slow sync does not matter much. */
void daemon_end_bulk_turn(struct daemon *d, int64_t commit_us)
{
    struct bulk_changes *bulk = &d->bulk;
    int64_t us = bulk->spent_us + commit_us, max = bulk->units_max;
    if (bulk->units < bulk->units_max / 2 || us <= 0) return;
    int64_t fitting = bulk->units * (int64_t)SLICE_US / us;
    if (fitting > 2 * max) fitting = 2 * max;
    if (fitting < max / 2) fitting = max / 2;
    bulk->units_max = (uint32_t)(fitting < UNITS_MIN ? UNITS_MIN : fitting > UNITS_MAX ? UNITS_MAX : fitting);
}

void daemon_fail_bulk(struct daemon *d, struct decided_requests *requests)
{
    struct bulk_changes *bulk = &d->bulk;
    if (bulk->list.count == 0) return;
    const struct bulk_change *b = bulk->list.items[0];
    if (b->next > 0 || b->is_continued) complete(d, requests);
}

void daemon_close_bulk(struct daemon *d)
{
    struct decided_requests requests = {0};
    while (d->bulk.list.count > 0) {
        struct err e;
        uint32_t count = d->bulk.list.items[0]->changed_count;
        bool is_asked_for = d->bulk.list.items[0]->request != NULL;
        err_set(&e, ERR_UNAVAILABLE, "the instance is stopping; %u of the jobs were changed before", count);
        refuse(d, &requests, &e);
        if (is_asked_for) server_answer(requests.list.items[0].request, NULL, &requests.list.items[0].err);
        array_clear(&requests.list);
    }
    array_release(&requests.list);
    array_release(&d->bulk.list);
}
