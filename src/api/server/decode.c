/* Requests that change something, from bodies into events. What a body may look like is its shape's business
 * (api/api_shapes.c), what is possible in the state the engine's; here is what lies between: fields that belong
 * together, and texts that stand for something.
 *
 * Everything an event points at is in the request's arena, so it lives until the request is answered. A body is read
 * when all of it has come. */
#include <string.h>

#include "api/server/internal.h"

enum { COMMAND_SHOWN_MAX = 1000, NAME_FROM_PROGRAM_MAX = 64 };

struct event *request_new_events(struct request *r, enum event_kind kind, uint32_t count)
{
    r->events = arena_alloc(&r->arena, count * sizeof *r->events);
    r->event_count = count;
    for (uint32_t i = 0; i < count; i++) {
        r->events[i].kind = kind;
        r->events[i].actor = r->actor;
    }
    return r->events;
}

struct str request_body_text(const struct request *r)
{
    return (struct str){r->body.text, r->body.length};
}

static int read_body(struct request *r, void *out_value, struct err *e)
{
    return wire_read_text(r->route->body, request_body_text(r), &r->arena, out_value, e);
}

/* Writes without a query of their own take none. */
static int no_query(struct request *r, struct err *e)
{
    return r->route->query ? 0 : request_read_query(r, NULL, e);
}

/* --- submit ------------------------------------------------------------------------------------------------------- */

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
    return err_value(e, "department", str(department), "the department of user '%s', which is '%s'", user, own->text);
}

static int check_script(struct str script, struct err *e)
{
    const char *zero = script.length > 0 ? memchr(script.text, 0, script.length) : NULL;
    if (script.length == 0) return err_field(e, ERR_INPUT, "script", "it is empty");
    if (zero == NULL) return 0;
    return err_field(e, ERR_INPUT, "script", "byte %zu is zero: a binary is no script; give it as a command instead",
                     (size_t)(zero - script.text) + 1);
}

static int check_environment(const struct wire_list *environment, struct err *e)
{
    const struct str *entries = environment->items;
    for (uint32_t i = 0; i < environment->count; i++) {
        struct str value, name = str_cut(entries[i], '=', &value);
        if (name.length > 0 && value.text != NULL) continue;
        char field[40];
        text_format(field, sizeof field, "environment[%u]", i);
        return err_value(e, field, entries[i], "of the form NAME=value");
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
static const char *name_of(const struct api_submit *wanted, struct arena *arena)
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

static int check_submit(const struct api_submit *wanted, struct err *e)
{
    const struct str *arguments = wanted->arguments.items;
    if (wanted->script.text != NULL && check_script(wanted->script, e) != 0) return -1;
    if (wanted->script.text == NULL && (wanted->arguments.count == 0 || arguments[0].length == 0))
        return err_field(e, ERR_INPUT, "arguments", "without a script the first is the program to run; there is none");
    return check_environment(&wanted->environment, e);
}

static void set_text(struct job_values *values, enum job_field f, const char *text)
{
    values->value[f] = field_text(text);
    values->is_given[f] = true;
}

int server_post_job(struct request *r, struct err *e)
{
    struct api_submit *wanted = arena_alloc(&r->arena, sizeof *wanted);
    struct job_values *job = &wanted->job;
    if (no_query(r, e) != 0 || read_body(r, wanted, e) != 0 || check_submit(wanted, e) != 0) return -1;
    if (check_department(r, wanted->department, e) != 0) return -1;
    if (!job->is_given[JOB_FIELD_NAME]) set_text(job, JOB_FIELD_NAME, name_of(wanted, &r->arena));
    set_text(job, JOB_FIELD_COMMAND, beginning(str(job->value[JOB_FIELD_COMMAND].text), COMMAND_SHOWN_MAX, &r->arena));
    request_new_events(r, EVENT_SUBMIT, 1)->submit = job;
    r->script = arena_alloc(&r->arena, sizeof *r->script);
    *r->script = (struct request_script){
        .script = wanted->script,
        .script_name = wanted->script_name ? wanted->script_name : "",
        .arguments = wanted->arguments.items,
        .argument_count = wanted->arguments.count,
        .environment = wanted->environment.items,
        .environment_count = wanted->environment.count,
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
        if (job_id_parse(str(id), "ids", &refs[i].job_id, &refs[i].task_id, e) != 0) return -1;
    }
    request_new_events(r, kind, 1)->jobs = (struct event_jobs){.refs = refs, .count = ids->count, .all = all};
    request_queue(r);
    return 0;
}

static int post_jobs(struct request *r, enum event_kind kind, struct err *e)
{
    struct api_jobs wanted;
    if (no_query(r, e) != 0 || read_body(r, &wanted, e) != 0) return -1;
    if (wanted.all && wanted.ids.count > 0)
        return err_field(e, ERR_INPUT, "ids", "all is given, too; only one of the two is accepted");
    if (!wanted.all && wanted.ids.count == 0) return err_field(e, ERR_INPUT, "ids", "missing; jobs, or all");
    return queue_jobs(r, kind, &wanted.ids, wanted.all, e);
}

int server_post_cancel(struct request *r, struct err *e)
{
    return post_jobs(r, EVENT_CANCEL, e);
}

int server_post_hold(struct request *r, struct err *e)
{
    return post_jobs(r, EVENT_HOLD, e);
}

int server_post_release(struct request *r, struct err *e)
{
    return post_jobs(r, EVENT_RELEASE, e);
}

int server_delete_job(struct request *r, struct err *e)
{
    const struct wire_list ids = {&r->segment, 1};
    return no_query(r, e) != 0 ? -1 : queue_jobs(r, EVENT_CANCEL, &ids, false, e);
}

int server_patch_job(struct request *r, struct err *e)
{
    struct api_update *wanted = arena_alloc(&r->arena, sizeof *wanted);
    uint32_t job_id, task_id;
    if (no_query(r, e) != 0 || job_id_parse(str(r->segment), "id", &job_id, &task_id, e) != 0) return -1;
    if (read_body(r, wanted, e) != 0) return -1;
    if (task_id != NONE)
        return err_value_reason(e, "id", str(r->segment), "is one task; an update changes the whole job");
    if (wire_is_empty(r->route->body, wanted))
        return err_set(e, ERR_INPUT, "nothing to change: give at least one member");
    request_new_events(r, EVENT_UPDATE, 1)->update = (struct event_update){job_id, &wanted->job};
    request_queue(r);
    return 0;
}

/* --- accounts, users, settings ------------------------------------------------------------------------------------ */

/* As events have them: unset, "parent", a number. */
static uint32_t shares_of(int64_t given)
{
    return given == API_UNSET ? SHARES_UNSET : given == FIELD_SPECIAL ? SHARES_PARENT : (uint32_t)given;
}

static uint32_t priority_of(int64_t given)
{
    return given == API_UNSET ? PRIORITY_UNSET : given == FIELD_SPECIAL ? NONE : (uint32_t)given;
}

static void queue_account(struct request *r, enum event_kind kind, const char *name, const struct api_account *wanted)
{
    request_new_events(r, kind, 1)->account =
        (struct event_account){.name = name,
                               .parent = wanted->parent,
                               .shares = shares_of(wanted->shares),
                               .priority = priority_of(wanted->priority),
                               .resets_usage = kind == EVENT_ACCOUNT_MODIFY && wanted->raw_usage == 0};
    request_queue(r);
}

int server_post_account(struct request *r, struct err *e)
{
    struct api_account wanted;
    if (no_query(r, e) != 0 || read_body(r, &wanted, e) != 0) return -1;
    queue_account(r, EVENT_ACCOUNT_ADD, wanted.name, &wanted);
    return 0;
}

int server_patch_account(struct request *r, struct err *e)
{
    struct api_account wanted;
    if (no_query(r, e) != 0 || read_body(r, &wanted, e) != 0) return -1;
    if (wire_is_empty(r->route->body, &wanted))
        return err_set(e, ERR_INPUT, "nothing to change: give parent, shares, priority or raw_usage");
    queue_account(r, EVENT_ACCOUNT_MODIFY, r->segment, &wanted);
    return 0;
}

int server_delete_account(struct request *r, struct err *e)
{
    const struct api_account wanted = {.shares = API_UNSET, .priority = API_UNSET};
    if (no_query(r, e) != 0) return -1;
    queue_account(r, EVENT_ACCOUNT_DELETE, r->segment, &wanted);
    return 0;
}

static void queue_user(struct request *r, enum event_kind kind, const char *name, const char *account,
                       const struct api_user *wanted)
{
    request_new_events(r, kind, 1)->user =
        (struct event_user){.name = name,
                            .account = account,
                            .shares = shares_of(wanted->shares),
                            .make_default = wanted->is_default,
                            .priority = priority_of(wanted->priority),
                            .resets_usage = kind == EVENT_USER_MODIFY && wanted->raw_usage == 0};
    request_queue(r);
}

int server_post_user(struct request *r, struct err *e)
{
    struct api_user wanted;
    if (no_query(r, e) != 0 || read_body(r, &wanted, e) != 0) return -1;
    queue_user(r, EVENT_USER_ADD, wanted.name, wanted.account, &wanted);
    return 0;
}

int server_patch_user(struct request *r, struct err *e)
{
    struct api_user wanted;
    struct api_account_query query;
    if (request_read_query(r, &query, e) != 0 || read_body(r, &wanted, e) != 0) return -1;
    if (wire_is_empty(r->route->body, &wanted))
        return err_set(e, ERR_INPUT, "nothing to change: give shares, priority, raw_usage or default");
    queue_user(r, EVENT_USER_MODIFY, r->segment, query.account, &wanted);
    return 0;
}

int server_delete_user(struct request *r, struct err *e)
{
    const struct api_user wanted = {.shares = API_UNSET, .priority = API_UNSET};
    struct api_account_query query;
    if (request_read_query(r, &query, e) != 0) return -1;
    queue_user(r, EVENT_USER_DELETE, r->segment, query.account, &wanted);
    return 0;
}

int server_patch_settings(struct request *r, struct err *e)
{
    struct wire_list list;
    if (no_query(r, e) != 0 || wire_read_pairs(request_body_text(r), &r->arena, &list, e) != 0) return -1;
    const struct wire_pair *pairs = list.items;
    struct event_pair *wanted = arena_alloc(&r->arena, (list.count + (size_t)1) * sizeof *wanted);
    for (uint32_t i = 0; i < list.count; i++) wanted[i] = (struct event_pair){pairs[i].name, pairs[i].value};
    request_new_events(r, EVENT_SETTINGS, 1)->settings = (struct event_settings){wanted, list.count};
    request_queue(r);
    return 0;
}
