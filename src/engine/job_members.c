/* A table has the type and the offset of each member. Fields without a member of their own, such as names of objects,
 * have a case in the functions at the end. */
#include "engine/job_members.h"

#include <stddef.h>
#include <string.h>

#include "base/ensure.h"
#include "engine/handlers.h"
#include "engine/placements.h"
#include "engine/restarts.h"
#include "engine/task_delays.h"
#include "fields/request_text.h"
#include "policy/tres_text.h"

enum member_type {
    MEMBER_NONE, /* the field has no member of its own */
    MEMBER_U32,
    MEMBER_I32,
    MEMBER_U64,
    MEMBER_I64,
    MEMBER_BOOL,
    MEMBER_REAL,
    MEMBER_STATE, /* enum job_state */
    MEMBER_TEXT,  /* const char * */
    MEMBER_CHARS, /* char [size] */
    MEMBER_SET    /* struct idset */
};

enum member_of { OF_ROW, OF_JOB_TEXT, OF_RARE_TEXT, OF_PLACING };

struct job_member_row {
    enum member_type type;
    enum member_of of; /* struct job or struct task, or what struct job points to */
    uint16_t offset, size;
    bool has_none;
    int64_t none; /* the member's value for an absent field */
};

#define JOB(type_, member_) .type = (type_), .offset = offsetof(struct job, member_)
#define TASK(type_, member_) .type = (type_), .offset = offsetof(struct task, member_)
#define TEXT(member_) .type = MEMBER_TEXT, .of = OF_JOB_TEXT, .offset = offsetof(struct job_text, member_)
#define RARE(member_) .type = MEMBER_TEXT, .of = OF_RARE_TEXT, .offset = offsetof(struct job_rare_text, member_)
#define PLACING(type_, member_) .type = (type_), .of = OF_PLACING, .offset = offsetof(struct job_placing, member_)
#define CHARS(member_) TASK(MEMBER_CHARS, member_), .size = sizeof((struct task *)0)->member_
#define NONE_IS(value) .has_none = true, .none = (value)

static const struct job_member_row members[JOB_FIELD_COUNT] = {
    [JOB_FIELD_JOB_ID] = {JOB(MEMBER_U32, id)},
    [JOB_FIELD_UID] = {JOB(MEMBER_U32, uid)},
    [JOB_FIELD_GID] = {JOB(MEMBER_U32, gid)},
    [JOB_FIELD_NAME] = {TEXT(name)},
    [JOB_FIELD_COMMAND] = {TEXT(command)},
    [JOB_FIELD_DIRECTORY] = {TEXT(directory)},
    [JOB_FIELD_OUT_PATTERN] = {TEXT(out_pattern)},
    [JOB_FIELD_ERR_PATTERN] = {TEXT(err_pattern)},
    [JOB_FIELD_COMMENT] = {RARE(comment)},
    [JOB_FIELD_ADMIN_COMMENT] = {RARE(admin_comment)},
    [JOB_FIELD_CANCEL_REASON] = {RARE(cancel_reason)},
    [JOB_FIELD_ORIGIN] = {RARE(origin)},
    [JOB_FIELD_HELD] = {JOB(MEMBER_BOOL, is_held)},
    [JOB_FIELD_HELD_BY_OPERATOR] = {JOB(MEMBER_BOOL, is_held_by_operator)},
    [JOB_FIELD_QUARANTINE] = {JOB(MEMBER_U32, quarantine)},
    [JOB_FIELD_REQUEUE] = {JOB(MEMBER_BOOL, may_requeue)},
    [JOB_FIELD_FORBIDS_REQUEUE] = {JOB(MEMBER_BOOL, forbids_requeue)},
    [JOB_FIELD_REQUEUE_EXIT] = {RARE(requeue_exits)},
    [JOB_FIELD_WARN_SIGNAL] = {RARE(warn_signal)},
    [JOB_FIELD_RETRY] = {RARE(retry)},
    [JOB_FIELD_TERMINAL] = {RARE(terminal)},
    [JOB_FIELD_MAX_REQUEUE] = {JOB(MEMBER_U32, requeue_max)},
    [JOB_FIELD_REQUEUE_NEXT] = {JOB(MEMBER_U32, requeue_next)},
    [JOB_FIELD_INPUT_BYTES] = {JOB(MEMBER_U32, input_bytes)},
    [JOB_FIELD_RESERVE] = {JOB(MEMBER_BOOL, is_reserving)},
    [JOB_FIELD_CPUS] = {JOB(MEMBER_U32, request.cpus)},
    [JOB_FIELD_MEM_MIB] = {JOB(MEMBER_U64, request.mem_mib)},
    [JOB_FIELD_GPUS] = {JOB(MEMBER_U32, request.gpus)},
    [JOB_FIELD_TIME_LIMIT] = {JOB(MEMBER_I64, time_limit_s)},
    [JOB_FIELD_TIME_MIN] = {JOB(MEMBER_U32, time_min_s)},
    [JOB_FIELD_GRANTED_TIME] = {TASK(MEMBER_I64, granted_time_s)},
    [JOB_FIELD_SLOTS_MAX] = {JOB(MEMBER_U32, slots_max)},
    [JOB_FIELD_SUBMIT] = {JOB(MEMBER_I64, submit_us)},
    [JOB_FIELD_BEGIN] = {JOB(MEMBER_I64, begin_us), NONE_IS(0)},
    [JOB_FIELD_DEADLINE] = {JOB(MEMBER_I64, deadline_us), NONE_IS(0)},
    [JOB_FIELD_ACCRUE] = {JOB(MEMBER_I64, accrue_us), NONE_IS(0)},
    [JOB_FIELD_NICE] = {JOB(MEMBER_I32, nice)},
    [JOB_FIELD_SITE] = {JOB(MEMBER_I32, site)},
    [JOB_FIELD_SET_PRIORITY] = {JOB(MEMBER_U32, set_priority), NONE_IS(NONE)},
    [JOB_FIELD_POSIX_PRIORITY] = {JOB(MEMBER_I32, posix_priority)},
    [JOB_FIELD_JOB_SHARE] = {JOB(MEMBER_U32, job_share)},
    [JOB_FIELD_OVERRIDE_TICKETS] = {JOB(MEMBER_U32, override_tickets)},
    [JOB_FIELD_LIST_POSITION] = {JOB(MEMBER_U64, list_position)},
    [JOB_FIELD_ARRAY_LIMIT] = {JOB(MEMBER_U32, array_limit)},
    [JOB_FIELD_QUEUES] = {PLACING(MEMBER_TEXT, queues)},
    [JOB_FIELD_MASTER_QUEUES] = {PLACING(MEMBER_TEXT, master_queues)},
    [JOB_FIELD_SOFT_QUEUES] = {PLACING(MEMBER_TEXT, soft_queues)},
    [JOB_FIELD_SLOTS_PER_NODE] = {PLACING(MEMBER_U32, slots_per_node)},
    [JOB_FIELD_EXCLUSIVE] = {PLACING(MEMBER_BOOL, is_exclusive)},
    [JOB_FIELD_CONSTRAINT] = {PLACING(MEMBER_TEXT, constraint)},
    [JOB_FIELD_MEM_PER_CPU] = {PLACING(MEMBER_U64, mem_mib_per_cpu)},
    [JOB_FIELD_GPUS_PER_SLOT] = {PLACING(MEMBER_U32, gpus_per_slot)},
    [JOB_FIELD_PENDING_TASKS] = {JOB(MEMBER_SET, pending)},
    [JOB_FIELD_CANCELLED_TASKS] = {JOB(MEMBER_SET, cancelled)},
    [JOB_FIELD_CANCELLED_BY_RULE] = {JOB(MEMBER_BOOL, is_cancelled_by_rule)},
    [JOB_FIELD_CANCELLED] = {JOB(MEMBER_I64, cancelled_us), NONE_IS(0)},
    [JOB_FIELD_ENDED] = {JOB(MEMBER_I64, ended_us), NONE_IS(0)},

    [JOB_FIELD_TASK_ID] = {TASK(MEMBER_U32, task_id)},
    [JOB_FIELD_RESTARTS] = {TASK(MEMBER_U32, restarts)},
    [JOB_FIELD_TASK_REQUEUE] = {TASK(MEMBER_U32, requeue)},
    [JOB_FIELD_STATE] = {TASK(MEMBER_STATE, state)},
    [JOB_FIELD_START] = {TASK(MEMBER_I64, start_us), NONE_IS(0)},
    [JOB_FIELD_END] = {TASK(MEMBER_I64, end_us), NONE_IS(0)},
    [JOB_FIELD_SUSPENDED_FROM] = {TASK(MEMBER_I64, suspended_from_us), NONE_IS(0)},
    [JOB_FIELD_SUSPENDED] = {TASK(MEMBER_I64, suspended_us)},
    [JOB_FIELD_SUSPENSIONS] = {TASK(MEMBER_U32, suspension_count)},
    [JOB_FIELD_SUSPENSION_CHARGED] = {TASK(MEMBER_BOOL, is_suspension_charged)},
    [JOB_FIELD_SUSPENDED_BY_OPERATOR] = {TASK(MEMBER_BOOL, is_suspended_by_operator)},
    [JOB_FIELD_EXIT_STATUS] = {TASK(MEMBER_I32, exit_status)},
    [JOB_FIELD_SIGNAL] = {TASK(MEMBER_I32, signal)},
    [JOB_FIELD_CPU_TIME] = {TASK(MEMBER_I64, cpu_us)},
    [JOB_FIELD_MAX_RSS] = {TASK(MEMBER_I64, max_rss_kib)},
    [JOB_FIELD_MEM_TIME] = {TASK(MEMBER_REAL, mem_gib_s)},
    [JOB_FIELD_IO] = {TASK(MEMBER_I64, io_bytes)},
    [JOB_FIELD_DETAIL] = {CHARS(detail)},
    [JOB_FIELD_BILLING] = {TASK(MEMBER_REAL, billing)},
    [JOB_FIELD_USAGE_FACTOR] = {TASK(MEMBER_REAL, usage_factor)},
    [JOB_FIELD_IS_CANCELLED] = {TASK(MEMBER_BOOL, is_cancelled)},
    [JOB_FIELD_IS_OVER_LIMIT] = {TASK(MEMBER_BOOL, is_over_limit)},
    [JOB_FIELD_IS_TIME_EXEMPT] = {JOB(MEMBER_BOOL, is_time_exempt)},
    [JOB_FIELD_LACKS_TIME_LIMIT] = {JOB(MEMBER_BOOL, lacks_time_limit)},
    [JOB_FIELD_HAS_DEFAULT_TIME] = {JOB(MEMBER_BOOL, has_default_time)},
    [JOB_FIELD_LAUNCH_ID] = {TASK(MEMBER_U64, launch_id)},
    [JOB_FIELD_BOOT_ID] = {CHARS(boot_id)},
    [JOB_FIELD_LAUNCH] = {TASK(MEMBER_I64, launch_us)},
    [JOB_FIELD_LAUNCH_LIMIT] = {TASK(MEMBER_I64, launch_limit_s)},
    [JOB_FIELD_CHARGED] = {TASK(MEMBER_I64, charged_us), NONE_IS(0)},
    [JOB_FIELD_MEASURED] = {TASK(MEMBER_I64, measured_us), NONE_IS(0)},
    [JOB_FIELD_MEASURED_MEM] = {TASK(MEMBER_I64, mem_kib)},
    [JOB_FIELD_MEASURED_FROM] = {TASK(MEMBER_I64, measured_from_us), NONE_IS(0)},
    [JOB_FIELD_CHARGED_AS_OF] = {TASK(MEMBER_I64, charged_as_of_us), NONE_IS(0)},
    [JOB_FIELD_CHARGED_CPU] = {TASK(MEMBER_REAL, charged.used[USAGE_CPU])},
    [JOB_FIELD_CHARGED_MEM] = {TASK(MEMBER_REAL, charged.used[USAGE_MEM])},
    [JOB_FIELD_CHARGED_IO] = {TASK(MEMBER_REAL, charged.used[USAGE_IO])},
};

/* --- values ------------------------------------------------------------------------------------------------------- */

/* A copy of the text in the buffer, which is released. */
static struct field_value take_text(struct buf *text, struct arena *arena)
{
    const char *copy = text->length > 0 ? arena_copy(arena, (struct str){text->text, text->length}) : "";
    buf_release(text);
    return field_text(copy);
}

static struct field_value set_value(const struct idset *set, struct arena *arena)
{
    struct buf text = {0};
    idset_format(set, &text);
    return take_text(&text, arena);
}

static int64_t get_whole(const struct job_member_row *m, const void *member)
{
    switch (m->type) {
    case MEMBER_U32: return *(const uint32_t *)member;
    case MEMBER_I32: return *(const int32_t *)member;
    case MEMBER_U64: return (int64_t) * (const uint64_t *)member;
    case MEMBER_BOOL: return *(const bool *)member;
    case MEMBER_STATE: return *(const enum job_state *)member;
    default: ensure(m->type == MEMBER_I64); return *(const int64_t *)member;
    }
}

static struct field_value get(const struct job_member_row *m, const void *row, struct arena *arena)
{
    const void *member = (const char *)row + m->offset;
    switch (m->type) {
    case MEMBER_TEXT: return field_text(*(const char *const *)member);
    case MEMBER_CHARS: return field_text(member);
    case MEMBER_SET: return set_value(member, arena);
    case MEMBER_REAL: return (struct field_value){.real = *(const double *)member, .text = ""};
    default: break;
    }
    int64_t number = get_whole(m, member);
    return m->has_none && number == m->none ? field_absent() : field_number(number);
}

static void set_whole(const struct job_member_row *m, void *member, int64_t number)
{
    switch (m->type) {
    case MEMBER_U32: *(uint32_t *)member = (uint32_t)number; return;
    case MEMBER_I32: *(int32_t *)member = (int32_t)number; return;
    case MEMBER_U64: *(uint64_t *)member = (uint64_t)number; return;
    case MEMBER_BOOL: *(bool *)member = number != 0; return;
    case MEMBER_STATE: *(enum job_state *)member = (enum job_state)number; return;
    default: ensure(m->type == MEMBER_I64); *(int64_t *)member = number;
    }
}

static int set(const struct job_member_row *m, const struct field *f, void *row, const struct field_value *value,
               struct err *e)
{
    void *member = (char *)row + m->offset;
    bool is_none = field_is_absent(f, value) || (f->special != NULL && value->number == FIELD_SPECIAL);
    switch (m->type) {
    case MEMBER_TEXT: *(const char **)member = value->text; return 0;
    case MEMBER_CHARS: text_format(member, m->size, "%s", value->text != NULL ? value->text : ""); return 0;
    case MEMBER_REAL: *(double *)member = is_none ? 0.0 : value->real; return 0;
    case MEMBER_SET:
        if (value->text == NULL || value->text[0] == '\0') return 0;
        return idset_parse(str(value->text), NONE - 1, f->name, member, e);
    default: set_whole(m, member, is_none ? m->none : value->number); return 0;
    }
}

/* --- objects by name ---------------------------------------------------------------------------------------------- */

static const char *object_name(const struct state *s, enum object_kind kind, uint32_t index)
{
    return index == NONE ? "" : s->objects[kind].items[index].object.name;
}

static struct field_value partitions_value(const struct state *s, const struct job *j, struct arena *arena)
{
    struct buf text = {0};
    if (j->partition_count == 1) return field_text(object_name(s, OBJECT_PARTITION, j->partitions[0]));
    for (uint32_t i = 0; i < j->partition_count; i++)
        buf_format(&text, "%s%s", i > 0 ? "," : "", object_name(s, OBJECT_PARTITION, j->partitions[i]));
    return take_text(&text, arena);
}

static struct field_value requests_value(const struct state *s, const struct job_request *requests, uint32_t count,
                                         struct arena *arena)
{
    struct buf text = {0};
    for (uint32_t i = 0; i < count; i++) {
        const struct job_request *r = &requests[i];
        buf_format(&text, "%s%s=%s", i > 0 ? "," : "", object_name(s, OBJECT_RESOURCE, r->resource), r->text);
    }
    return take_text(&text, arena);
}

static struct field_value tres_value(const struct state *s, const struct task *k, struct arena *arena)
{
    struct buf text = {0};
    tres_text_format_list(&s->policy.tres, &k->tres, &text);
    return take_text(&text, arena);
}

static int set_object(const struct state *s, enum object_kind kind, const struct field_value *value, uint32_t *out,
                      struct err *e)
{
    return object_find(s, kind, str(value->text), out, e);
}

static int set_environment(const struct state *s, struct job *row, const struct field_value *value, struct err *e)
{
    row->environment = NONE;
    if (value->text == NULL || value->text[0] == '\0') return 0;
    return set_object(s, OBJECT_ENVIRONMENT, value, &row->environment, e);
}

static int set_project(const struct state *s, struct job *row, const struct field_value *value, struct err *e)
{
    row->project = NONE;
    if (value->text == NULL || value->text[0] == '\0') return 0;
    return set_object(s, OBJECT_PROJECT, value, &row->project, e);
}

static int set_partition_qos(const struct state *s, struct task *row, const struct field_value *value, struct err *e)
{
    row->partition_qos = NONE;
    if (value->text == NULL || value->text[0] == '\0') return 0;
    return set_object(s, OBJECT_QOS, value, &row->partition_qos, e);
}

static int set_partitions(const struct state *s, struct job *row, const struct field_value *value, struct arena *arena,
                          struct err *e)
{
    uint32_t *indices = arena_alloc(arena, s->objects[OBJECT_PARTITION].count * sizeof *indices), count = 0;
    for (struct str rest = str(value->text); rest.text != NULL;) {
        struct str name = str_trim(str_cut(rest, ',', &rest));
        uint32_t index;
        if (object_find(s, OBJECT_PARTITION, name, &index, e) != 0) return -1;
        for (uint32_t i = 0; i < count; i++) {
            if (indices[i] == index) return err_value_reason(e, "partitions", name, "is named twice");
        }
        indices[count++] = index;
    }
    row->partitions = indices;
    row->partition_count = count;
    return 0;
}

/* Reads "license=2", or "bigio" for a BOOL. */
static int read_request(const struct state *s, struct str item, struct arena *arena, struct job_request *out,
                        struct err *e)
{
    enum { AMOUNT_BYTES_MAX = 255 };
    struct str amount, name = str_trim(str_cut(item, '=', &amount));
    if (str_equal(name, str(SLOTS_RESOURCE)))
        return err_subject(e, ERR_INPUT, "resource", name, "cannot be requested: slots are the job's CPUs");
    if (object_find(s, OBJECT_RESOURCE, name, &out->resource, e) != 0) return -1;
    const struct object *o = &s->objects[OBJECT_RESOURCE].items[out->resource].object;
    enum resource_type type = (enum resource_type)o->value[RESOURCE_TYPE].number;
    amount = amount.text == NULL && type == RESOURCE_BOOL ? str("true") : str_trim(amount);
    if (amount.length > AMOUNT_BYTES_MAX || !str_is_printable(amount)) {
        (void)err_value(e, "amount", amount, "printable text of at most %d bytes", AMOUNT_BYTES_MAX);
        return err_of(e, "resource", name);
    }
    out->text = arena_copy(arena, amount);
    return object_resource_amount_parse(type, o->name, amount, &out->amount, e);
}

static int read_requests(const struct state *s, const struct field_value *value, struct arena *arena,
                         struct job_request **out_requests, uint32_t *out_count, struct err *e)
{
    struct str rest = str_trim(str(value->text != NULL ? value->text : ""));
    uint32_t count = 0;
    struct job_request *requests =
        arena_alloc(arena, (s->objects[OBJECT_RESOURCE].count + (size_t)1) * sizeof *requests);
    if (rest.length == 0) rest.text = NULL;
    while (rest.text != NULL) {
        struct job_request *r = &requests[count];
        if (read_request(s, str_trim(str_cut(rest, ',', &rest)), arena, r, e) != 0) return -1;
        for (uint32_t i = 0; i < count; i++) {
            if (requests[i].resource != r->resource) continue;
            return err_subject(e, ERR_INPUT, "resource", str(object_name(s, OBJECT_RESOURCE, r->resource)),
                               "is requested twice");
        }
        count++;
    }
    *out_requests = requests;
    *out_count = count;
    return 0;
}

/* --- what a job asks of its places -------------------------------------------------------------------------------- */

static const struct job_placing *placing_of(const struct job *j)
{
    static const struct job_placing none;
    return j->placing != NULL ? j->placing : &none;
}

/* A copy that may be changed, because the row's own may be that of the job before the change. */
static struct job_placing *new_placing(struct job *row, struct arena *arena)
{
    struct job_placing *p = arena_alloc(arena, sizeof *p);
    *p = *placing_of(row);
    row->placing = p;
    return p;
}

static int set_soft_requests(const struct state *s, struct job *row, const struct field_value *value,
                             struct arena *arena, struct err *e)
{
    struct job_placing *p = new_placing(row, arena);
    return read_requests(s, value, arena, &p->soft, &p->soft_count, e);
}

static struct field_value nodes_value(const struct job *j, struct arena *arena)
{
    const struct job_placing *p = placing_of(j);
    struct buf text = {0};
    if (p->node_max > 0) buf_format(&text, "%u", p->node_min);
    if (p->node_max > p->node_min) buf_format(&text, "-%u", p->node_max);
    return take_text(&text, arena);
}

static int set_nodes(struct job *row, const struct field_value *value, struct arena *arena, struct err *e)
{
    struct job_placing *p = new_placing(row, arena);
    return request_text_nodes(str(value->text), "nodes", &p->node_min, &p->node_max, e);
}

static int set_immediate(struct job *row, const struct field_value *value)
{
    row->is_immediate = value->number != FIELD_ABSENT;
    row->immediate_s = row->is_immediate ? (uint32_t)value->number : 0;
    return 0;
}

/* A copy that may be changed, as new_placing. */
static struct job_rare_text *new_rare(struct job *row, struct arena *arena)
{
    struct job_rare_text *rare = arena_alloc(arena, sizeof *rare);
    *rare = *job_rare(row);
    row->rare = rare;
    return rare;
}

/* Of texts an empty one is none. */
static struct field_value get_placing(const struct job_member_row *m, const struct job *j, struct arena *arena)
{
    struct field_value value = get(m, placing_of(j), arena);
    if (m->type == MEMBER_TEXT && value.text == NULL) value.text = "";
    return value;
}

static int set_placing(const struct job_member_row *m, const struct field *f, struct job *row,
                       const struct field_value *value, struct arena *arena, struct err *e)
{
    struct field_value new = *value;
    if (m->type == MEMBER_TEXT && new.text != NULL &&new.text[0] == '\0') new.text = NULL;
    return set(m, f, new_placing(row, arena), &new, e);
}

static int set_array(struct job *row, const struct field_value *value, struct err *e)
{
    row->is_array = value->text != NULL;
    if (row->is_array) return idset_parse(str(value->text), NONE - 1, "array", &row->array, e);
    idset_add(&row->array, 0);
    return 0;
}

/* --- what a job waits for, and its restarts ----------------------------------------------------------------------- */

static struct field_value dependency_value(const struct job *j, struct arena *arena)
{
    struct buf text = {0};
    dependency_text_format(j->dependency, &text);
    return take_text(&text, arena);
}

static int set_dependency(struct job *row, const struct field_value *value, struct arena *arena, struct err *e)
{
    struct dependency_list *list = arena_alloc(arena, sizeof *list);
    if (dependency_text_parse(str(value->text), arena, list, e) != 0) return -1;
    row->dependency = list->count > 0 ? list : NULL;
    return 0;
}

static struct field_value dependency_join(const struct job *j)
{
    return field_text(j->dependency == NULL ? "" : j->dependency->is_any ? "?" : ",");
}

static struct field_value restarted_value(const struct job *j, struct arena *arena)
{
    struct buf text = {0};
    restarts_format(j, &text);
    return take_text(&text, arena);
}

static struct field_value delayed_value(const struct job *j, struct arena *arena)
{
    struct buf text = {0};
    task_delays_format(j, &text);
    return take_text(&text, arena);
}

/* --- jobs --------------------------------------------------------------------------------------------------------- */

struct field_value job_member(const struct state *s, const struct job *j, enum job_field f, struct arena *arena)
{
    const struct job_member_row *m = &members[f];
    ensure(job_field_rows[f].home == JOB_HOME_JOB);
    switch (f) {
    case JOB_FIELD_ASSOCIATION_ID: return field_number(s->assocs.items[j->assoc].id);
    case JOB_FIELD_PARTITIONS: return partitions_value(s, j, arena);
    case JOB_FIELD_QOS: return field_text(object_name(s, OBJECT_QOS, j->qos));
    case JOB_FIELD_PROJECT: return field_text(object_name(s, OBJECT_PROJECT, j->project));
    case JOB_FIELD_ENVIRONMENT: return field_text(object_name(s, OBJECT_ENVIRONMENT, j->environment));
    case JOB_FIELD_REQUESTS: return requests_value(s, j->requests, j->request_count, arena);
    case JOB_FIELD_NODES: return nodes_value(j, arena);
    case JOB_FIELD_IMMEDIATE: return j->is_immediate ? field_number(j->immediate_s) : field_absent();
    case JOB_FIELD_SOFT: return requests_value(s, placing_of(j)->soft, placing_of(j)->soft_count, arena);
    case JOB_FIELD_ARRAY: return j->is_array ? set_value(&j->array, arena) : field_absent();
    case JOB_FIELD_DEPENDENCY: return dependency_value(j, arena);
    case JOB_FIELD_DEPENDENCY_JOIN: return dependency_join(j);
    case JOB_FIELD_DELAYED_TASKS: return delayed_value(j, arena);
    case JOB_FIELD_RESTARTED_TASKS: return restarted_value(j, arena);
    default: break;
    }
    if (m->of == OF_PLACING) return get_placing(m, j, arena);
    if (m->of == OF_RARE_TEXT) return get(m, job_rare(j), arena);
    return get(m, m->of == OF_JOB_TEXT ? (const void *)j->text : j, arena);
}

int job_member_set(const struct state *s, struct job *row, enum job_field f, const struct field_value *value,
                   struct arena *arena, struct err *e)
{
    const struct job_member_row *m = &members[f];
    ensure(job_field_rows[f].home == JOB_HOME_JOB);
    switch (f) {
    case JOB_FIELD_ASSOCIATION_ID: row->assoc = (uint32_t)value->number; return 0;
    case JOB_FIELD_PARTITIONS: return set_partitions(s, row, value, arena, e);
    case JOB_FIELD_QOS: return set_object(s, OBJECT_QOS, value, &row->qos, e);
    case JOB_FIELD_PROJECT: return set_project(s, row, value, e);
    case JOB_FIELD_ENVIRONMENT: return set_environment(s, row, value, e);
    case JOB_FIELD_REQUESTS: return read_requests(s, value, arena, &row->requests, &row->request_count, e);
    case JOB_FIELD_NODES: return set_nodes(row, value, arena, e);
    case JOB_FIELD_IMMEDIATE: return set_immediate(row, value);
    case JOB_FIELD_SOFT: return set_soft_requests(s, row, value, arena, e);
    case JOB_FIELD_ARRAY: return set_array(row, value, e);
    case JOB_FIELD_DEPENDENCY: return set_dependency(row, value, arena, e);
    case JOB_FIELD_DELAYED_TASKS: return task_delays_parse(row, str(value->text), job_field_at(f)->name, e);
    case JOB_FIELD_DEPENDENCY_JOIN: return 0; /* the conditions are restored with it (state_restore_condition) */
    case JOB_FIELD_RESTARTED_TASKS: return restarts_parse(row, str(value->text), job_field_at(f)->name, e);
    default: break;
    }
    if (m->of == OF_PLACING) return set_placing(m, job_field_at(f), row, value, arena, e);
    if (m->of == OF_RARE_TEXT) return set(m, job_field_at(f), new_rare(row, arena), value, e);
    return set(m, job_field_at(f), m->of == OF_JOB_TEXT ? (void *)row->text : row, value, e);
}

void job_members_release(struct job *row)
{
    idset_release(&row->array);
    idset_release(&row->pending);
    task_delays_release(row);
    idset_release(&row->cancelled);
    restarts_release(row);
}

/* --- tasks -------------------------------------------------------------------------------------------------------- */

struct field_value task_member(const struct state *s, const struct task *k, enum job_field f, struct arena *arena)
{
    ensure(job_field_rows[f].home == JOB_HOME_TASK);
    switch (f) {
    case JOB_FIELD_PARTITION: return field_text(object_name(s, OBJECT_PARTITION, k->partition));
    case JOB_FIELD_PARTITION_QOS: return field_text(object_name(s, OBJECT_QOS, k->partition_qos));
    case JOB_FIELD_TRES: return tres_value(s, k, arena);
    case JOB_FIELD_HOSTS:
    case JOB_FIELD_CPU_IDS:
    case JOB_FIELD_GPU_IDS:
    case JOB_FIELD_TASK_MEM_MIB:
    case JOB_FIELD_HOST_MEM_MIB: return placements_value(s, k, f, arena);
    default: return get(&members[f], k, arena);
    }
}

int task_member_set(const struct state *s, struct task *row, enum job_field f, const struct field_value *value,
                    struct err *e)
{
    ensure(job_field_rows[f].home == JOB_HOME_TASK);
    switch (f) {
    case JOB_FIELD_PARTITION: return set_object(s, OBJECT_PARTITION, value, &row->partition, e);
    case JOB_FIELD_PARTITION_QOS: return set_partition_qos(s, row, value, e);
    case JOB_FIELD_TRES: return tres_text_parse_list(&s->policy.tres, str(value->text), &row->tres, e);
    case JOB_FIELD_HOSTS:
    case JOB_FIELD_CPU_IDS:
    case JOB_FIELD_GPU_IDS:
    case JOB_FIELD_TASK_MEM_MIB:
    case JOB_FIELD_HOST_MEM_MIB: return placements_set(s, row, f, value, e);
    default: return set(&members[f], job_field_at(f), row, value, e);
    }
}
