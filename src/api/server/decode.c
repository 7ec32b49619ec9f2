/* Requests that change something, from bodies into events. What a body may look like is its shape's business
 * (api/wire_shapes.c), what is possible in the state the engine's; here is what lies between: fields that belong
 * together, and texts that stand for something.
 *
 * Everything an event points at is in the request's arena, so it lives until the request is answered. A body is read
 * when all of it has come. */
#include <string.h>

#include "api/server/internal.h"

enum { COMMAND_SHOWN_MAX = 1000, NAME_FROM_PROGRAM_MAX = 64 };

struct event *new_events(struct request *r, enum event_kind kind, uint32_t count)
{
    r->events = arena_alloc(&r->arena, count * sizeof *r->events);
    r->event_count = count;
    for (uint32_t i = 0; i < count; i++) {
        r->events[i].kind = kind;
        r->events[i].actor = r->actor;
    }
    return r->events;
}

struct str body_text(const struct request *r)
{
    return (struct str){r->body.text, r->body.length};
}

static int read_body(struct request *r, void *out_value, struct err *e)
{
    return wire_read_text(r->route->body, body_text(r), &r->arena, out_value, e);
}

/* Writes without a query of their own take none. */
static int no_query(struct request *r, struct err *e)
{
    return r->route->query ? 0 : read_query(r, NULL, e);
}

/* --- what the policies use of a job ------------------------------------------------------------------------------- */

static int32_t term_or(int32_t given, int32_t otherwise)
{
    return given == WIRE_TERM_UNSET ? otherwise : given;
}

static int64_t not_negative(int64_t given)
{
    return given > 0 ? given : 0;
}

/* Of a submission: what is not said is what a job has that nobody says anything of. */
static struct event_terms terms_of(const struct wire_terms *t)
{
    return (struct event_terms){
        .partitions = t->partitions,
        .qos = t->qos,
        .project = t->project,
        .requests = t->requests,
        .nice = term_or(t->nice, 0),
        .site = term_or(t->site, 0),
        .posix_priority = term_or(t->posix_priority, 0),
        .job_share = not_negative(t->job_share),
        .override_tickets = not_negative(t->override_tickets),
        .set_priority = not_negative(t->set_priority),
        .begin_us = not_negative(t->begin_us),
        .deadline_us = not_negative(t->deadline_us),
        .slots_max = t->slots_max,
    };
}

/* 0 for what stays, -1 for none. */
static int64_t changed_moment(int64_t given)
{
    return given == WIRE_MOMENT_UNSET ? 0 : given == 0 ? -1 : given;
}

static struct event_terms changed_terms(const struct wire_terms *t)
{
    return (struct event_terms){
        .partitions = t->partitions,
        .qos = t->qos,
        .project = t->project,
        .requests = t->requests,
        .nice = term_or(t->nice, TERM_KEEP),
        .site = term_or(t->site, TERM_KEEP),
        .posix_priority = term_or(t->posix_priority, TERM_KEEP),
        .job_share = t->job_share,
        .override_tickets = t->override_tickets,
        .set_priority = t->set_priority == 0 ? -2 : t->set_priority,
        .begin_us = changed_moment(t->begin_us),
        .deadline_us = changed_moment(t->deadline_us),
        .slots_max = t->slots_max,
    };
}

/* A user is of one department, which the job cannot choose: naming it can only be right or wrong. */
static int check_department(const struct request *r, const char *department, struct err *e)
{
    const struct state *s = r->server->host.state;
    if (department == NULL) return 0;
    const char *user = r->actor.user ? r->actor.user : "";
    uint32_t index = state_find_object(s, OBJECT_USER, user);
    const struct field_value *own = index == NONE ? &object_classes[OBJECT_USER].fields[USER_DEPARTMENT].default_value
                                                  : &s->objects[OBJECT_USER].items[index].object.value[USER_DEPARTMENT];
    if (strcmp(own->text, department) == 0) return 0;
    return err_set(e, ERR_INPUT, "department: user %s is of department '%s', and so are the jobs; '%.64s' is not it",
                   user, own->text, department);
}

/* --- submit ------------------------------------------------------------------------------------------------------- */

static int check_script(struct str script, struct err *e)
{
    const char *zero = script.length > 0 ? memchr(script.text, 0, script.length) : NULL;
    if (script.length == 0) return err_set(e, ERR_INPUT, "script: it is empty");
    if (zero == NULL) return 0;
    return err_set(e, ERR_INPUT, "script: byte %zu is zero: a binary is no script; give it as a command instead",
                   (size_t)(zero - script.text) + 1);
}

static int check_environment(const struct wire_list *environment, struct err *e)
{
    const struct str *entries = environment->items;
    for (uint32_t i = 0; i < environment->count; i++) {
        struct str value, name = str_cut(entries[i], '=', &value);
        if (name.length > 0 && value.text != NULL) continue;
        return err_set(e, ERR_INPUT, "environment: entry %u, '%.*s', is not of the form NAME=value", i + 1,
                       (int)(entries[i].length < 60 ? entries[i].length : 60), entries[i].text);
    }
    return 0;
}

/* The first characters of a text, whole ones, in memory of arena. */
static const char *beginning(struct str text, size_t max, struct arena *arena)
{
    struct str rest = text;
    while (rest.length > 0) {
        size_t sequence = str_utf8(rest);
        if (sequence == 0) sequence = 1;
        if ((size_t)(rest.text - text.text) + sequence > max) break;
        rest.text += sequence;
        rest.length -= sequence;
    }
    return arena_copy(arena, str_range(text.text, rest.text));
}

/* A job without a name has its script's or program's. */
static const char *name_of(const struct wire_submit *wanted, struct arena *arena)
{
    const struct str *arguments = wanted->arguments.items;
    struct str path =
        wanted->script.text == NULL ? arguments[0] : str(wanted->script_name ? wanted->script_name : "script");
    for (struct str rest = path; rest.text != NULL;) {
        struct str part = str_cut(rest, '/', &rest);
        if (part.length > 0) path = part;
    }
    const char *name = beginning(path, NAME_FROM_PROGRAM_MAX, arena);
    return name[0] != '\0' && str_is_printable(str(name)) ? name : "job";
}

static int check_submit(const struct wire_submit *wanted, struct err *e)
{
    const struct str *arguments = wanted->arguments.items;
    if (wanted->script.text != NULL && check_script(wanted->script, e) != 0) return -1;
    if (wanted->script.text == NULL && (wanted->arguments.count == 0 || arguments[0].length == 0))
        return err_set(e, ERR_INPUT, "arguments: without a script the first is the program to run; there is none");
    return check_environment(&wanted->environment, e);
}

int post_job(struct request *r, struct err *e)
{
    struct wire_submit wanted;
    if (no_query(r, e) != 0 || read_body(r, &wanted, e) != 0 || check_submit(&wanted, e) != 0) return -1;
    if (check_department(r, wanted.department, e) != 0) return -1;
    new_events(r, EVENT_SUBMIT, 1)->submit = (struct event_submit){
        .account = wanted.account,
        .name = wanted.name ? wanted.name : name_of(&wanted, &r->arena),
        .directory = wanted.directory,
        .out_pattern = wanted.out,
        .err_pattern = wanted.err,
        .command = beginning(str(wanted.command), COMMAND_SHOWN_MAX, &r->arena),
        .request = {.cpus = wanted.cpus, .mem_mib = wanted.mem_mib, .gpus = wanted.gpus},
        .time_limit_s = wanted.time_limit_s,
        .array = wanted.array,
        .held = wanted.held,
        .terms = terms_of(&wanted.terms),
    };
    r->script = arena_alloc(&r->arena, sizeof *r->script);
    *r->script = (struct request_script){
        .script = wanted.script,
        .script_name = wanted.script_name ? wanted.script_name : "",
        .arguments = wanted.arguments.items,
        .argument_count = wanted.arguments.count,
        .environment = wanted.environment.items,
        .environment_count = wanted.environment.count,
    };
    request_queue(r);
    return 0;
}

/* --- jobs by id --------------------------------------------------------------------------------------------------- */

static int queue_jobs(struct request *r, enum event_kind kind, const struct wire_list *ids, bool all, struct err *e)
{
    struct job_ref *refs = arena_alloc(&r->arena, (ids->count + (size_t)1) * sizeof *refs);
    for (uint32_t i = 0; i < ids->count; i++) {
        const char *id = ((const char **)ids->items)[i];
        if (wire_job_id_parse(str(id), "ids", &refs[i].job_id, &refs[i].task_id, e) != 0) return -1;
    }
    new_events(r, kind, 1)->jobs = (struct event_jobs){.refs = refs, .count = ids->count, .all = all};
    request_queue(r);
    return 0;
}

static int post_jobs(struct request *r, enum event_kind kind, struct err *e)
{
    struct wire_jobs wanted;
    if (no_query(r, e) != 0 || read_body(r, &wanted, e) != 0) return -1;
    if (wanted.all && wanted.ids.count > 0) return err_set(e, ERR_INPUT, "ids and all: one of the two is possible");
    if (!wanted.all && wanted.ids.count == 0) return err_set(e, ERR_INPUT, "ids: none is there, nor is all true");
    return queue_jobs(r, kind, &wanted.ids, wanted.all, e);
}

int post_cancel(struct request *r, struct err *e)
{
    return post_jobs(r, EVENT_CANCEL, e);
}

int post_hold(struct request *r, struct err *e)
{
    return post_jobs(r, EVENT_HOLD, e);
}

int post_release(struct request *r, struct err *e)
{
    return post_jobs(r, EVENT_RELEASE, e);
}

int delete_job(struct request *r, struct err *e)
{
    const struct wire_list ids = {&r->segment, 1};
    return no_query(r, e) != 0 ? -1 : queue_jobs(r, EVENT_CANCEL, &ids, false, e);
}

int patch_job(struct request *r, struct err *e)
{
    struct wire_update wanted;
    uint32_t job_id, task_id;
    if (no_query(r, e) != 0 || wire_job_id_parse(str(r->segment), "id", &job_id, &task_id, e) != 0) return -1;
    if (read_body(r, &wanted, e) != 0) return -1;
    if (task_id != NONE)
        return err_set(e, ERR_INPUT, "id: %s is one task; what changes, changes for the whole job", r->segment);
    if (wire_is_empty(r->route->body, &wanted)) return err_set(e, ERR_INPUT, "nothing to change is named");
    new_events(r, EVENT_UPDATE, 1)->update = (struct event_update){
        .job_id = job_id,
        .name = wanted.name,
        .request = {.cpus = wanted.cpus, .mem_mib = wanted.mem_mib, .gpus = wanted.gpus},
        .time_limit_s = wanted.time_limit_s,
        .array_limit = wanted.array_limit,
        .terms = changed_terms(&wanted.terms),
    };
    request_queue(r);
    return 0;
}

/* --- accounts, users, settings ------------------------------------------------------------------------------------ */

static void queue_account(struct request *r, enum event_kind kind, const char *name, const struct wire_account *wanted)
{
    new_events(r, kind, 1)->account = (struct event_account){name, wanted->parent, wanted->shares, wanted->priority,
                                                             kind == EVENT_ACCOUNT_MODIFY && wanted->raw_usage == 0};
    request_queue(r);
}

int post_account(struct request *r, struct err *e)
{
    struct wire_account wanted;
    if (no_query(r, e) != 0 || read_body(r, &wanted, e) != 0) return -1;
    queue_account(r, EVENT_ACCOUNT_ADD, wanted.name, &wanted);
    return 0;
}

int patch_account(struct request *r, struct err *e)
{
    struct wire_account wanted;
    if (no_query(r, e) != 0 || read_body(r, &wanted, e) != 0) return -1;
    if (wire_is_empty(r->route->body, &wanted))
        return err_set(e, ERR_INPUT, "nothing to change is named: parent, shares, priority, raw_usage");
    queue_account(r, EVENT_ACCOUNT_MODIFY, r->segment, &wanted);
    return 0;
}

int delete_account(struct request *r, struct err *e)
{
    const struct wire_account wanted = {.shares = WIRE_SHARES_UNSET, .priority = WIRE_PRIORITY_UNSET};
    if (no_query(r, e) != 0) return -1;
    queue_account(r, EVENT_ACCOUNT_DELETE, r->segment, &wanted);
    return 0;
}

static void queue_user(struct request *r, enum event_kind kind, const char *name, const char *account,
                       const struct wire_user *wanted)
{
    new_events(r, kind, 1)->user = (struct event_user){name,
                                                       account,
                                                       wanted->shares,
                                                       wanted->is_default,
                                                       wanted->priority,
                                                       kind == EVENT_USER_MODIFY && wanted->raw_usage == 0};
    request_queue(r);
}

int post_user(struct request *r, struct err *e)
{
    struct wire_user wanted;
    if (no_query(r, e) != 0 || read_body(r, &wanted, e) != 0) return -1;
    queue_user(r, EVENT_USER_ADD, wanted.name, wanted.account, &wanted);
    return 0;
}

int patch_user(struct request *r, struct err *e)
{
    struct wire_user wanted;
    struct wire_account_query query;
    if (read_query(r, &query, e) != 0 || read_body(r, &wanted, e) != 0) return -1;
    if (wire_is_empty(r->route->body, &wanted))
        return err_set(e, ERR_INPUT, "nothing to change is named: shares, priority, raw_usage, default");
    queue_user(r, EVENT_USER_MODIFY, r->segment, query.account, &wanted);
    return 0;
}

int delete_user(struct request *r, struct err *e)
{
    const struct wire_user wanted = {.shares = WIRE_SHARES_UNSET, .priority = WIRE_PRIORITY_UNSET};
    struct wire_account_query query;
    if (read_query(r, &query, e) != 0) return -1;
    queue_user(r, EVENT_USER_DELETE, r->segment, query.account, &wanted);
    return 0;
}

int patch_settings(struct request *r, struct err *e)
{
    struct wire_list list;
    if (no_query(r, e) != 0 || wire_read_pairs(body_text(r), &r->arena, &list, e) != 0) return -1;
    const struct wire_pair *pairs = list.items;
    struct event_pair *wanted = arena_alloc(&r->arena, (list.count + (size_t)1) * sizeof *wanted);
    for (uint32_t i = 0; i < list.count; i++) wanted[i] = (struct event_pair){pairs[i].name, pairs[i].value};
    new_events(r, EVENT_SETTINGS, 1)->settings = (struct event_settings){wanted, list.count};
    request_queue(r);
    return 0;
}
