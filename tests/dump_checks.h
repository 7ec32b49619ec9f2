/* Whether the document of an instance says all that the instance decides from (engine/dump.h): it is read back, and
 * what was read has the same rows and the same answers, to the last bit of every number. */
#ifndef FAIRLEAD_TESTS_DUMP_CHECKS_H
#define FAIRLEAD_TESTS_DUMP_CHECKS_H

#include <math.h>

#include "base/err.h"
#include "engine/assoc_limits.h"
#include "engine/dump.h"
#include "engine/job_members.h"
#include "engine/priorities.h"
#include "engine/schedule.h"
#include "engine/usage_read.h"
#include "fields/limit_fields.h"
#include "sim/scenario.h"

static inline void dump_checks_write_document(struct state *s, int64_t now_us, struct buf *out)
{
    struct dump d;
    dump_begin(&d, s, now_us, out);
    while (dump_jobs(&d, 3)) continue;
    dump_release(&d);
}

static inline void dump_checks_text(const struct buf *a, const struct buf *b)
{
    size_t at = 0;
    while (at < a->length && at < b->length && a->text[at] == b->text[at]) at++;
    if (a->length == b->length && at == a->length) return;
    size_t from = at > 200 ? at - 200 : 0;
    fail_msg("at %zu: %.400s\n\n%.400s", at, a->text + from, b->text + from);
}

static inline bool dump_checks_are_same(double a, double b)
{
    return (isnan(a) && isnan(b)) || (!(a < b) && !(a > b) && !isnan(a) && !isnan(b));
}

static inline void dump_checks_number(const char *what, uint32_t job_id, double a, double b)
{
    if (!dump_checks_are_same(a, b)) fail_msg("%s of %u: %.17g is not %.17g", what, job_id, a, b);
}

static inline void dump_checks_terms(uint32_t id, const struct priority_row *a, const struct priority_row *b)
{
    dump_checks_number("priority", id, a->priority, b->priority);
    dump_checks_number("billing", id, a->billing, b->billing);
    dump_checks_number("age", id, a->terms.age, b->terms.age);
    dump_checks_number("assoc", id, a->terms.assoc, b->terms.assoc);
    dump_checks_number("fair share", id, a->terms.fair_share, b->terms.fair_share);
    dump_checks_number("size", id, a->terms.job_size, b->terms.job_size);
    dump_checks_number("partition", id, a->terms.partition, b->terms.partition);
    dump_checks_number("qos", id, a->terms.qos, b->terms.qos);
    dump_checks_number("nice", id, a->terms.nice, b->terms.nice);
    dump_checks_number("site", id, a->terms.site, b->terms.site);
    dump_checks_number("tres", id, a->terms.tres, b->terms.tres);
    dump_checks_number("tickets", id, a->tickets.total, b->tickets.total);
    dump_checks_number("share tickets", id, a->tickets.share, b->tickets.share);
    dump_checks_number("functional tickets", id, a->tickets.functional, b->tickets.functional);
    dump_checks_number("override tickets", id, a->tickets.override, b->tickets.override);
    dump_checks_number("urgency", id, a->urgency.sum, b->urgency.sum);
    dump_checks_number("tickets, normalised", id, a->norm_tickets, b->norm_tickets);
    dump_checks_number("urgency, normalised", id, a->norm_urgency, b->norm_urgency);
}

static inline uint32_t dump_checks_task_number(const struct state *s, uint32_t task)
{
    return task == NONE ? NONE : s->tasks.items[task].task_id;
}

static inline void dump_checks_priorities(struct state *s, int64_t now_us, struct state *read)
{
    struct arena arena = {0};
    struct priorities a, b;
    state_priorities(s, now_us, NONE, &arena, &a);
    state_priorities(read, now_us, NONE, &arena, &b);
    assert_int_equal(a.count, b.count);
    for (uint32_t i = 0; i < a.count; i++) {
        const struct priority_row *x = &a.rows[i], *y = &b.rows[i];
        uint32_t id = s->jobs.items[x->job].id;
        assert_int_equal(id, read->jobs.items[y->job].id);
        assert_int_equal(dump_checks_task_number(s, x->task), dump_checks_task_number(read, y->task));
        assert_string_equal(s->objects[OBJECT_PARTITION].items[x->partition].object.name,
                            read->objects[OBJECT_PARTITION].items[y->partition].object.name);
        assert_int_equal(x->is_eligible, y->is_eligible);
        dump_checks_terms(id, x, y);
    }
    arena_release(&arena);
}

static inline void dump_checks_shares(struct state *s, int64_t now_us, struct state *read)
{
    struct arena arena = {0};
    struct share_table a, b;
    state_share_table(s, now_us, &s->policy.share, &arena, &a);
    state_share_table(read, now_us, &read->policy.share, &arena, &b);
    assert_int_equal(a.count, b.count);
    for (uint32_t node = 0; node < a.count; node++) {
        const struct assoc *x = &s->assocs.items[s->assoc_of.items[node]];
        const struct assoc *y = &read->assocs.items[read->assoc_of.items[node]];
        assert_string_equal(x->account, y->account);
        assert_string_equal(x->user != NULL ? x->user : "", y->user != NULL ? y->user : "");
        assert_string_equal(x->partition != NULL ? x->partition : "", y->partition != NULL ? y->partition : "");
        dump_checks_number("usage", node, a.raw_usage[node], b.raw_usage[node]);
        dump_checks_number("effective usage", node, a.effective_usage[node], b.effective_usage[node]);
        dump_checks_number("shares", node, a.norm_shares[node], b.norm_shares[node]);
        dump_checks_number("factor", node, a.fair_share[node], b.fair_share[node]);
    }
    arena_release(&arena);
}

static inline void dump_checks_usage(struct state *s, int64_t now_us, struct state *read)
{
    static const uint32_t kinds[] = {TRES_CPU, TRES_MEM, TRES_BILLING, USAGE_WALL};
    struct arena arena = {0};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const double *a = usage_read_own(s, kinds[i], now_us, &arena);
        const double *b = usage_read_own(read, kinds[i], now_us, &arena);
        for (uint32_t node = 0; node < s->tree.count; node++) dump_checks_number("usage", node, a[node], b[node]);
    }
    arena_release(&arena);
}

static inline void dump_checks_qos(struct state *s, int64_t now_us, struct state *read)
{
    for (uint32_t i = 0; i < s->objects[OBJECT_QOS].count; i++) {
        const struct object_row *qos = &s->objects[OBJECT_QOS].items[i];
        if (qos->is_deleted) continue;
        uint32_t k = state_find_object(read, OBJECT_QOS, qos->object.name);
        double a[USAGE_KIND_COUNT], b[USAGE_KIND_COUNT];
        usage_read_qos(s, i, now_us, a);
        usage_read_qos(read, k, now_us, b);
        for (uint32_t kind = 0; kind < USAGE_KIND_COUNT; kind++)
            dump_checks_number("usage of QOS", i, a[kind], b[kind]);
    }
}

static inline void dump_checks_limits(struct state *s, struct state *read)
{
    const struct tree *a = state_tree(s), *b = state_tree(read);
    assert_int_equal(a->count, b->count);
    for (uint32_t node = 0; node < a->count; node++) {
        const struct assoc *x = &s->assocs.items[s->assoc_of.items[node]];
        const struct assoc *y = &read->assocs.items[read->assoc_of.items[node]];
        for (uint32_t i = 0; i < limit_fields.count; i++) {
            const struct field *f = field_at(&limit_fields, i);
            if (!field_equal(f, &assoc_limits_of(x)[i], &assoc_limits_of(y)[i]))
                fail_msg("%s of %s %s differs", f->name, x->account, x->user != NULL ? x->user : "");
        }
    }
}

/* "5_3 STARTING 100-200 main@localhost=2": the rows of a schedule. */
static inline void dump_checks_write_schedule(struct state *s, int64_t now_us, struct buf *out)
{
    struct arena arena = {0};
    struct schedule p;
    struct err e = {0};
    if (schedule_make(s, now_us, SCHEDULE_WITH_ESTIMATES, &p, &e) != 0) fail_msg("%s", ERR_SENTENCE(&e));
    for (uint32_t i = 0; i < p.rows.count; i++) {
        struct schedule_values v;
        schedule_row_values(&p, s, i, &arena, &v);
        for (uint32_t f = 0; f < SCHEDULE_FIELD_COUNT; f++) {
            const struct field *field = field_at(&schedule_fields, f);
            if (!field_is_absent(field, &v.value[f])) field_format(field, &v.value[f], out);
            buf_add_char(out, ' ');
        }
        buf_format(out, "%lld-%lld\n", (long long)p.rows.items[i].start_us, (long long)p.rows.items[i].end_us);
    }
    schedule_release(&p);
    arena_release(&arena);
}

static inline void dump_checks_schedules(struct state *s, int64_t now_us, struct state *read)
{
    struct buf a = {0}, b = {0};
    dump_checks_write_schedule(s, now_us, &a);
    dump_checks_write_schedule(read, now_us, &b);
    dump_checks_text(&a, &b);
    buf_release(&a);
    buf_release(&b);
}

/* Associations have other ids in a document, but the same names. */
static inline void dump_checks_association(const struct state *s, uint32_t a, const struct state *read, uint32_t b)
{
    const struct assoc *x = &s->assocs.items[a], *y = &read->assocs.items[b];
    assert_string_equal(x->account, y->account);
    assert_string_equal(x->user, y->user);
    assert_string_equal(x->partition != NULL ? x->partition : "", y->partition != NULL ? y->partition : "");
}

/* Ids of associations are new. Documents have no cancelled tasks, earlier attempts, user ids, directories and names of
 * jobs, nor who holds them, whether they can be requeued by request, and until when they have to start. */
static inline bool dump_checks_is_in_documents(enum job_field f, const struct job *j)
{
    static const enum job_field others[] = {JOB_FIELD_ASSOCIATION_ID,
                                            JOB_FIELD_UID,
                                            JOB_FIELD_GID,
                                            JOB_FIELD_NAME,
                                            JOB_FIELD_DIRECTORY,
                                            JOB_FIELD_OUT_PATTERN,
                                            JOB_FIELD_ERR_PATTERN,
                                            JOB_FIELD_ARRAY,
                                            JOB_FIELD_CANCELLED_TASKS,
                                            JOB_FIELD_RESTARTED_TASKS,
                                            JOB_FIELD_HELD_BY_OPERATOR,
                                            JOB_FIELD_QUARANTINE,
                                            JOB_FIELD_FORBIDS_REQUEUE,
                                            JOB_FIELD_REQUEUE_NEXT,
                                            JOB_FIELD_INPUT_BYTES,
                                            JOB_FIELD_IMMEDIATE};
    if (job_field_rows[f].home != JOB_HOME_JOB || !job_field_rows[f].is_decisive) return false;
    if (f == JOB_FIELD_HELD && idset_first(&j->pending) == NONE) return false;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (others[i] == f) return false;
    }
    return true;
}

static inline void dump_checks_jobs(struct state *s, struct state *read)
{
    struct arena arena = {0};
    uint32_t index = 0;
    for (uint32_t i = 0; i < s->jobs.count; i++) {
        const struct job *a = &s->jobs.items[i], *b = &read->jobs.items[index];
        if (a->ended_us != 0) continue;
        assert_true(index++ < read->jobs.count);
        dump_checks_association(s, a->assoc, read, b->assoc);
        for (enum job_field f = 0; f < JOB_FIELD_COUNT; f++) {
            if (!dump_checks_is_in_documents(f, a)) continue;
            struct field_value x = job_member(s, a, f, &arena), y = job_member(read, b, f, &arena);
            if (!field_equal(&job_field_rows[f].field, &x, &y))
                fail_msg("%s of job %u: %lld %s, %lld %s", job_field_rows[f].field.name, a->id, (long long)x.number,
                         x.text, (long long)y.number, y.text);
        }
    }
    assert_int_equal(index, read->jobs.count);
    arena_release(&arena);
}

static inline void dump_checks_placements(struct state *s, const struct task *a, struct state *read,
                                          const struct task *b)
{
    assert_int_equal(a->placement_count, b->placement_count);
    for (uint32_t i = 0; i < a->placement_count; i++) {
        const struct placement *x = &a->placements[i], *y = &b->placements[i];
        assert_string_equal(s->objects[OBJECT_HOST].items[x->host].object.name,
                            read->objects[OBJECT_HOST].items[y->host].object.name);
        assert_int_equal(idset_count(&x->cpus), idset_count(&y->cpus));
        assert_int_equal(idset_count(&x->gpus), idset_count(&y->gpus));
        assert_int_equal(x->mem_mib, y->mem_mib);
    }
}

static inline void dump_checks_tasks(struct state *s, struct state *read)
{
    static const enum job_field fields[] = {JOB_FIELD_PARTITION, JOB_FIELD_TRES,         JOB_FIELD_BILLING,
                                            JOB_FIELD_LAUNCH,    JOB_FIELD_TASK_MEM_MIB, JOB_FIELD_LAUNCH_ID};
    struct arena arena = {0};
    for (uint32_t i = 0; i < s->tasks.count; i++) {
        const struct task *a = &s->tasks.items[i];
        if (job_state_is_end(a->state)) continue;
        const struct task *b = &read->tasks.items[state_find_task(read, a->job_id, a->task_id)];
        dump_checks_placements(s, a, read, b);
        dump_checks_association(s, a->assoc, read, b->assoc);
        for (size_t f = 0; f < sizeof fields / sizeof *fields; f++) {
            struct field_value x = task_member(s, a, fields[f], &arena);
            struct field_value y = task_member(read, b, fields[f], &arena);
            if (!field_equal(&job_field_rows[fields[f]].field, &x, &y))
                fail_msg("%s of %u_%u differs", job_field_rows[fields[f]].field.name, a->job_id, a->task_id);
        }
    }
    arena_release(&arena);
}

static inline void dump_checks_settings(const struct state *a, const struct state *b)
{
    for (int i = 0; i < SETTING_COUNT; i++) {
        bool is_of_host = i == SET_HOST_CPUS || i == SET_HOST_MEM_MIB || i == SET_HOST_GPUS;
        if (!is_of_host && !field_equal(&settings_table[i], &a->settings.value[i], &b->settings.value[i]))
            fail_msg("%s differs", settings_table[i].name);
    }
    if (a->decay.halflife_us != b->decay.halflife_us) fail_msg("the half-life in force differs");
}

static inline void dump_checks_object(enum object_kind kind, const struct object *a, const struct object *b,
                                      bool has_capacity)
{
    assert_string_equal(a->name, b->name);
    for (uint32_t f = 0; f < object_classes[kind].field_count; f++) {
        const struct field *field = &object_classes[kind].fields[f];
        bool is_capacity = has_capacity && (f == HOST_CPUS || f == HOST_MEM);   /* as it is, not as set */
        bool is_calendar = kind == OBJECT_PARTITION && f == PARTITION_CALENDAR; /* documents have closed times */
        if (!is_capacity && !is_calendar && !field_equal(field, &a->value[f], &b->value[f]))
            fail_msg("%s of %s %s differs", field->name, object_classes[kind].name, a->name);
    }
}

static inline void dump_checks_objects(const struct state *a, const struct state *b)
{
    for (int kind = 0; kind < OBJECT_KIND_COUNT; kind++) {
        uint32_t at = 0;
        if (kind == OBJECT_CALENDAR) continue;
        for (uint32_t i = 0; i < a->objects[kind].count; i++) {
            if (a->objects[kind].items[i].is_deleted) continue;
            assert_true(at < b->objects[kind].count);
            dump_checks_object((enum object_kind)kind, &a->objects[kind].items[i].object,
                               &b->objects[kind].items[at++].object,
                               kind == OBJECT_HOST && a->hosts.items[i].is_attached);
        }
        assert_int_equal(at, b->objects[kind].count);
    }
}

static inline void dump_checks_host(const struct host_row *a, const struct host_row *b)
{
    assert_int_equal(a->is_attached, b->is_attached);
    assert_int_equal(a->is_down, b->is_down);
    assert_memory_equal(&a->host.has, &b->host.has, sizeof a->host.has);
    assert_int_equal(a->host.free_cpu_count, b->host.free_cpu_count);
    assert_int_equal(a->load_count, b->load_count);
    for (uint32_t i = 0; i < a->load_count; i++) {
        assert_string_equal(a->loads[i].name, b->loads[i].name);
        assert_string_equal(a->loads[i].value, b->loads[i].value);
    }
}

static inline void dump_checks_hosts(const struct state *a, const struct state *b)
{
    uint32_t at = 0;
    assert_int_equal(a->free_cpu_count, b->free_cpu_count);
    for (uint32_t i = 0; i < a->hosts.count; i++) {
        if (a->objects[OBJECT_HOST].items[i].is_deleted) continue;
        assert_true(at < b->hosts.count);
        dump_checks_host(&a->hosts.items[i], &b->hosts.items[at++]);
    }
    assert_int_equal(at, b->hosts.count);
}

/* Writes and reads the document of an instance, and compares. The caller releases what was read. */
static inline void dump_checks_read(struct state *s, int64_t now_us, struct scenario *out_read)
{
    struct buf text = {0}, again = {0};
    struct err e = {0};
    dump_checks_write_document(s, now_us, &text);
    if (scenario_read((struct str){text.text, text.length}, "F", out_read, &e) != 0)
        fail_msg("%s\n%.*s", ERR_SENTENCE(&e), (int)text.length, text.text);
    struct state *read = &out_read->state;
    assert_int_equal(out_read->now_us, now_us);
    dump_checks_settings(s, read);
    dump_checks_objects(s, read);
    dump_checks_hosts(s, read);
    dump_checks_jobs(s, read);
    dump_checks_tasks(s, read);
    dump_checks_shares(s, now_us, read);
    dump_checks_usage(s, now_us, read);
    dump_checks_limits(s, read);
    dump_checks_qos(s, now_us, read);
    dump_checks_priorities(s, now_us, read);
    dump_checks_schedules(s, now_us, read);
    dump_checks_write_document(read, now_us, &again);
    dump_checks_text(&text, &again);
    buf_release(&text);
    buf_release(&again);
}

#endif
