/* GET /v1/priorities: who comes first and why, by the model in force (engine/priorities.h).
 *
 * The numbers are computed when they are asked for, all at once, and with the few texts of a row copied into the stream's
 * arena; rows are rendered piece by piece. Until then the state cannot change: some 15 ms at 10^5 jobs in the
 * multifactor model, twice that in that of tickets.
 */
#include <math.h>
#include <string.h>

#include "api/server/internal.h"
#include "base/number.h"
#include "engine/priorities.h"

enum { ROWS_AT_ONCE = 64 };

/* A row's texts; the rest is in the engine's row. id NULL: the job's number. */
struct row_text {
    const char *id, *user, *account, *project, *partition, *qos, *state;
    const char *tres_terms, *tres_factors;
    uint32_t job_id, task_id;
};

struct listing {
    struct priorities all;
    struct row_text *texts;
    bool hides_pending; /* report_pjob_tickets = false */
    bool is_lines;
    uint32_t next;
};

/* --- what a row says beside its numbers --------------------------------------------------------------------------- */

/* Names that were copied already: many rows have the same. */
struct names {
    struct arena *arena;
    const char **user, **account;           /* by association */
    const char **object[OBJECT_KIND_COUNT]; /* by index */
};

static struct names make_names(const struct state *s, struct arena *arena)
{
    struct names names = {.arena = arena};
    names.user = arena_alloc(arena, (s->assocs.count + (size_t)1) * sizeof *names.user);
    names.account = arena_alloc(arena, (s->assocs.count + (size_t)1) * sizeof *names.account);
    for (int kind = 0; kind < OBJECT_KIND_COUNT; kind++)
        names.object[kind] = arena_alloc(arena, (s->objects[kind].count + (size_t)1) * sizeof *names.object[kind]);
    return names;
}

static const char *name_once(struct arena *arena, const char **place, const char *name)
{
    if (*place == NULL) *place = arena_copy(arena, str(name));
    return *place;
}

static const char *object_name(const struct names *names, const struct state *s, enum object_kind kind, uint32_t index)
{
    if (index == NONE) return "";
    return name_once(names->arena, &names->object[kind][index], s->objects[kind].items[index].object.name);
}

static const char *kept(struct buf *text, struct arena *arena)
{
    if (text->length == 0) return "";
    const char *copy = arena_copy(arena, (struct str){text->text, text->length});
    buf_clear(text);
    return copy;
}

static const char *id_of(const struct job *j, const struct task *k, struct buf *text, struct arena *arena)
{
    if (!j->is_array) return NULL;
    struct job_id_parts id = {j->id, k ? k->task_id : NONE, j->is_array, "", j->array_limit};
    struct buf tasks = {0};
    if (k == NULL) {
        idset_format(&j->pending, &tasks);
        id.tasks = tasks.text;
    }
    job_id_write(&id, text);
    buf_release(&tasks);
    return kept(text, arena);
}

/* "cpu=250,gres/gpu=750": those that are not 0, divided by their weights where divides. */
static const char *tres_text(const struct policy *policy, const double *terms, bool divides, struct buf *text,
                             struct arena *arena)
{
    char number[NUMBER_TEXT_SIZE];
    for (uint32_t i = 0; terms != NULL && i < policy->tres.count; i++) {
        double weight = policy->multifactor.weight_tres[i];
        if (!(terms[i] < 0.0) && !(terms[i] > 0.0)) continue;
        number_format_g17(number, divides ? terms[i] / weight : terms[i]);
        buf_format(text, "%s%s=%s", text->length > 0 ? "," : "", policy->tres.items[i].text, number);
    }
    return kept(text, arena);
}

static struct row_text text_of(const struct state *s, const struct priority_row *row, const struct names *names,
                               struct buf *text)
{
    struct arena *arena = names->arena;
    const struct job *j = &s->jobs.items[row->job];
    const struct task *k = row->task == NONE ? NULL : &s->tasks.items[row->task];
    const struct assoc *a = &s->assocs.items[j->assoc];
    bool is_multifactor = s->policy.model == MODEL_MULTIFACTOR;
    return (struct row_text){
        .id = id_of(j, k, text, arena),
        .user = name_once(arena, &names->user[j->assoc], a->user),
        .account = name_once(arena, &names->account[j->assoc], a->account),
        .project = object_name(names, s, OBJECT_PROJECT, j->project),
        .partition = object_name(names, s, OBJECT_PARTITION, row->partition),
        .qos = object_name(names, s, OBJECT_QOS, j->qos),
        .state = k         ? job_state_name(k->state)
                 : j->held ? "HELD"
                           : "PENDING",
        .tres_terms = is_multifactor ? tres_text(&s->policy, row->tres_terms, false, text, arena) : NULL,
        .tres_factors = is_multifactor ? tres_text(&s->policy, row->tres_terms, true, text, arena) : NULL,
        .job_id = j->id,
        .task_id = k && j->is_array ? k->task_id : NONE,
    };
}

/* --- rows --------------------------------------------------------------------------------------------------------- */

static void add_multifactor(const struct priority_row *from, struct wire_priority_row *row)
{
    row->site = from->terms.site;
    row->age = from->terms.age;
    row->assoc = from->terms.assoc;
    row->fair_share = from->terms.fair_share;
    row->job_size = from->terms.job_size;
    row->partition_term = from->terms.partition;
    row->qos_term = from->terms.qos;
    row->nice = from->terms.nice;
    row->tres = from->terms.tres;
    row->age_factor = from->factors.age;
    row->assoc_factor = from->factors.assoc;
    row->fair_share_factor = from->factors.fair_share;
    row->job_size_factor = from->factors.job_size;
    row->partition_factor = from->factors.partition;
    row->qos_factor = from->factors.qos;
}

/* hides: the scheduler does not tell of pending jobs (report_pjob_tickets), as Grid Engine's does not: all is 0 then. */
static void add_tickets(const struct priority_row *told, bool hides, struct wire_priority_row *row)
{
    static const struct priority_row nothing = {0};
    const struct priority_row *from = hides ? &nothing : told;
    row->priority = from->priority;
    row->norm_tickets = from->norm_tickets;
    row->norm_urgency = from->norm_urgency;
    row->norm_posix = from->norm_posix;
    row->urgency_resources = from->urgency.resources;
    row->urgency_waiting = from->urgency.waiting_time;
    row->urgency_deadline = from->urgency.deadline;
    row->urgency = from->urgency.sum;
    row->tickets = from->tickets.total;
    row->override_tickets = from->tickets.override;
    row->functional_tickets = from->tickets.functional;
    row->share_tickets = from->tickets.share;
}

static void add_row(const struct listing *l, uint32_t i, struct buf *out)
{
    const struct priority_row *from = &l->all.rows[i];
    const struct row_text *text = &l->texts[i];
    struct wire_priority_row row;
    char number[NUMBER_TEXT_SIZE];
    number_format_u64(number, text->job_id);
    wire_clear(&wire_priority_row_shape, &row);
    row.model = priority_model_names[l->all.model];
    row.id = text->id != NULL ? text->id : number;
    row.job_id = text->job_id;
    row.task_id = text->task_id;
    row.user = text->user;
    row.account = text->account;
    row.project = text->project;
    row.partition = text->partition;
    row.qos = text->qos;
    row.state = text->state;
    row.priority = from->priority;
    row.billing = from->billing;
    row.tres_terms = text->tres_terms;
    row.tres_factors = text->tres_factors;
    if (l->all.model == MODEL_MULTIFACTOR) add_multifactor(from, &row);
    if (l->all.model == MODEL_TICKETS) add_tickets(from, l->hides_pending && from->task == NONE, &row);
    if (l->is_lines) {
        wire_write_line(&wire_priority_row_shape, &row, out);
    } else {
        buf_add_text(out, i > 0 ? ",\n" : "\n");
        wire_write(&wire_priority_row_shape, &row, out);
    }
}

static int fill(struct stream *stream)
{
    struct listing *l = stream->context;
    for (int rows = 0; rows < ROWS_AT_ONCE && l->next < l->all.count; rows++) add_row(l, l->next++, &stream->text);
    if (l->next < l->all.count) return 1;
    if (!l->is_lines) buf_add_text(&stream->text, "\n]}\n");
    return 0;
}

int get_priorities(struct request *r, struct err *e)
{
    struct wire_priorities_query wanted;
    struct server *server = r->server;
    struct state *s = server->host.state;
    if (read_query(r, &wanted, e) != 0) return -1;
    if (wanted.job != NONE && state_find_job(s, wanted.job) == NONE)
        return err_set(e, ERR_NOT_FOUND, "no job %u waits or runs", wanted.job);
    struct stream *stream = stream_new(r);
    struct listing *l = arena_alloc(&stream->arena, sizeof *l);
    *l = (struct listing){.hides_pending = !s->policy.tickets.report_pending,
                          .is_lines = wanted.format != NULL && strcmp(wanted.format, "lines") == 0};
    state_priorities(s, server->host.now_us(server->host.context), wanted.job, &stream->arena, &l->all);
    l->texts = arena_alloc(&stream->arena, (l->all.count + (size_t)1) * sizeof *l->texts);
    struct buf text = {0};
    const struct names names = make_names(s, &stream->arena);
    for (uint32_t i = 0; i < l->all.count; i++) l->texts[i] = text_of(s, &l->all.rows[i], &names, &text);
    buf_release(&text);
    stream->context = l;
    stream->fill = fill;
    if (l->is_lines) {
        wire_write_heading(&wire_priority_row_shape, &stream->text);
    } else {
        buf_add_text(&stream->text, "{\"priorities\":[");
    }
    return stream_reply(stream, r, l->is_lines ? TYPE_TEXT : TYPE_JSON, e) < 0 ? -1 : 0;
}
