/* The handlers of requests that change something: they decode a complete body into an event and queue the request.
 *
 * The shape checks each member by itself (api/bodies.c), and the engine checks whether the state allows the event. The
 * handlers check members that depend on each other, and fill in what is derived from others, such as a job's name.
 * Everything that an event points to is in the request's arena, so it lives until the request is answered. */
#include <string.h>

#include "api/server/internal.h"
#include "base/ensure.h"
#include "fields/signal_text.h"

enum { COMMAND_BYTES_MAX = 1000, DEFAULT_NAME_BYTES_MAX = 64 };

struct event *request_new_event(struct request *r, enum event_kind kind)
{
    ensure(r->event == NULL);
    r->event = arena_alloc(&r->arena, sizeof *r->event);
    r->event->kind = kind;
    r->event->actor = r->actor;
    return r->event;
}

struct event_pair *request_copy_pairs(struct request *r, const struct wire_pair *pairs, uint32_t count)
{
    struct event_pair *copies = arena_alloc(&r->arena, (count + (size_t)1) * sizeof *copies);
    for (uint32_t i = 0; i < count; i++) copies[i] = (struct event_pair){pairs[i].name, pairs[i].value};
    return copies;
}

/* Refuses a query where the route has none; other handlers read it themselves. */
static int check_no_query(struct request *r, struct err *e)
{
    return r->route->query ? 0 : request_read_query(r, NULL, e);
}

/* --- submit ------------------------------------------------------------------------------------------------------- */

/* A user belongs to one department, so a job can only name that one. */
static int check_department(const struct request *r, const char *department, struct err *e)
{
    const struct state *s = r->server->host.state;
    if (department == NULL) return 0;
    const char *user = r->actor.user ? r->actor.user : "";
    uint32_t index = state_find_object(s, OBJECT_USER_POLICY, user);
    const struct field_value *own = index == NONE
                                        ? &object_classes[OBJECT_USER_POLICY].fields[USER_DEPARTMENT].default_value
                                        : &s->objects[OBJECT_USER_POLICY].items[index].object.value[USER_DEPARTMENT];
    if (strcmp(own->text, department) == 0) return 0;
    return err_value(e, "department", str(department), "the department of user '%s', which is '%s'", user, own->text);
}

/* In a pretend cluster a comment says how long the job runs. */
static int check_comment(const struct request *r, const struct job_values *job, struct err *e)
{
    const struct server_host *host = &r->server->host;
    const char *comment = job->is_given[JOB_FIELD_COMMENT] ? job->value[JOB_FIELD_COMMENT].text : NULL;
    return host->check_comment == NULL || comment == NULL ? 0 : host->check_comment(host->context, comment, e);
}

static int check_script(struct str script, struct err *e)
{
    const char *zero = script.length > 0 ? memchr(script.text, 0, script.length) : NULL;
    if (script.length == 0) return err_field(e, ERR_INPUT, "script", "is empty");
    if (zero == NULL) return 0;
    return err_field(e, ERR_INPUT, "script", "byte %zu is zero; a script is text, so submit a binary as a command",
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

/* The first characters of a text, at most max bytes, in memory of arena. */
static const char *cut_text(struct str text, size_t max, struct arena *arena)
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

/* The name of a job that is submitted without one: that of its script or program, without the directory. */
static const char *default_name(const struct api_submit *body, struct arena *arena)
{
    const struct str *arguments = body->arguments.items;
    struct str path = body->script.text == NULL ? arguments[0] : str(body->script_name ? body->script_name : "script");
    for (struct str rest = path; rest.text != NULL;) {
        struct str part = str_cut(rest, '/', &rest);
        if (part.length > 0) path = part;
    }
    const char *name = cut_text(path, DEFAULT_NAME_BYTES_MAX, arena);
    return name[0] != '\0' && str_is_printable(str(name)) ? name : "job";
}

static int check_strings(const char *name, const struct wire_list *list, struct err *e)
{
    const struct str *strings = list->items;
    if (list->count > SUBMIT_STRINGS_MAX)
        return err_field(e, ERR_TOO_LARGE, name, "the list has %u entries; at most %d are accepted", list->count,
                         SUBMIT_STRINGS_MAX);
    for (uint32_t i = 0; i < list->count; i++) {
        if (strings[i].length <= SUBMIT_STRING_MAX) continue;
        char field[40];
        text_format(field, sizeof field, "%s[%u]", name, i);
        return err_field(e, ERR_TOO_LARGE, field, "has %zu bytes; Linux accepts at most %d", strings[i].length,
                         SUBMIT_STRING_MAX);
    }
    return 0;
}

static size_t strings_size(const struct wire_list *list)
{
    size_t size = 0;
    for (uint32_t i = 0; i < list->count; i++) size += 4 + ((const struct str *)list->items)[i].length;
    return size;
}

/* What would be refused when the job is started. */
static int check_size(const struct api_submit *body, struct err *e)
{
    if (check_strings("arguments", &body->arguments, e) != 0) return -1;
    if (check_strings("environment", &body->environment, e) != 0) return -1;
    size_t size = body->script.length + strings_size(&body->arguments) + strings_size(&body->environment);
    if (size <= SUBMIT_BYTES_MAX) return 0;
    return err_set(e, ERR_TOO_LARGE, "script, arguments and environment have %zu bytes in all; at most %d are accepted",
                   size, SUBMIT_BYTES_MAX);
}

static int check_submit(const struct api_submit *body, struct err *e)
{
    const struct str *arguments = body->arguments.items;
    if (check_size(body, e) != 0) return -1;
    if (body->script.text != NULL && check_script(body->script, e) != 0) return -1;
    if (body->script.text == NULL && (body->arguments.count == 0 || arguments[0].length == 0))
        return err_field(e, ERR_INPUT, "arguments", "missing; without a script, the first one is the program to run");
    return check_environment(&body->environment, e);
}

static void set_text(struct job_values *values, enum job_field f, const char *text)
{
    values->value[f] = field_text(text);
    values->is_given[f] = true;
}

/* As they are stored: a zero byte ends each argument and variable (store/script.c). */
static uint32_t input_bytes(const struct api_submit *body)
{
    size_t size = body->script.length + body->arguments.count + body->environment.count;
    for (uint32_t i = 0; i < body->arguments.count; i++) size += ((const struct str *)body->arguments.items)[i].length;
    for (uint32_t i = 0; i < body->environment.count; i++)
        size += ((const struct str *)body->environment.items)[i].length;
    return (uint32_t)size; /* SUBMIT_BYTES_MAX at most */
}

int server_post_job(struct request *r, struct err *e)
{
    struct api_submit *body = arena_alloc(&r->arena, sizeof *body);
    struct job_values *job = &body->job;
    struct api_submit_query query;
    if (request_read_query(r, &query, e) != 0 || request_read_body(r, body, e) != 0 || check_submit(body, e) != 0)
        return -1;
    if (check_department(r, body->department, e) != 0 || check_comment(r, job, e) != 0) return -1;
    if (!job->is_given[JOB_FIELD_NAME]) set_text(job, JOB_FIELD_NAME, default_name(body, &r->arena));
    set_text(job, JOB_FIELD_COMMAND, cut_text(str(job->value[JOB_FIELD_COMMAND].text), COMMAND_BYTES_MAX, &r->arena));
    struct event *event = request_new_event(r, EVENT_SUBMIT);
    event->submit = job;
    event->input_bytes = input_bytes(body);
    if (query.test_only) return server_test_job(r, e);
    r->submission = body;
    r->script = arena_alloc(&r->arena, sizeof *r->script);
    *r->script = (struct request_script){
        .script = body->script,
        .script_name = body->script_name ? body->script_name : "",
        .arguments = body->arguments.items,
        .argument_count = body->arguments.count,
        .environment = body->environment.items,
        .environment_count = body->environment.count,
    };
    request_queue(r);
    return 0;
}

/* --- jobs by id --------------------------------------------------------------------------------------------------- */

static struct job_selection selection_of(const struct api_jobs *body)
{
    return (struct job_selection){
        .user = body->user,
        .account = body->account,
        .partition = body->partition,
        .qos = body->qos,
        .name = body->name,
        .is_of_pending = body->state != NULL && strcmp(body->state, "pending") == 0,
        .is_of_live = body->state != NULL && strcmp(body->state, "pending") != 0,
        .is_of_suspended = body->state != NULL && strcmp(body->state, "suspended") == 0,
    };
}

static int check_selection(const struct api_jobs *body, struct err *e)
{
    const char *given[] = {body->user, body->account, body->partition, body->qos, body->name, body->state};
    static const char *const names[] = {"user", "account", "partition", "qos", "name", "state"};
    for (size_t i = 0; i < sizeof given / sizeof *given; i++) {
        if (given[i] != NULL && given[i][0] == '\0')
            return err_field(e, ERR_INPUT, names[i], "is empty; leave it out to mean any");
        if (given[i] != NULL && !body->all) return err_field(e, ERR_INPUT, names[i], "is only accepted with all");
    }
    return 0;
}

static int queue_jobs(struct request *r, enum event_kind kind, const struct api_jobs *body, struct err *e)
{
    const struct wire_list *ids = &body->ids;
    uint32_t signal = 0;
    if (body->signal != NULL && signal_text_parse(str(body->signal), "signal", &signal, e) != 0) return -1;
    struct job_ref *refs = arena_alloc(&r->arena, (ids->count + (size_t)1) * sizeof *refs);
    for (uint32_t i = 0; i < ids->count; i++) {
        const char *id = ((const char **)ids->items)[i];
        if (job_id_parse(str(id), "ids", &refs[i].job_id, &refs[i].task_id, e) != 0) return -1;
    }
    struct event_jobs *jobs = &request_new_event(r, kind)->jobs;
    *jobs = (struct event_jobs){.refs = refs,
                                .count = ids->count,
                                .all = body->all,
                                .holds = body->hold,
                                .signal = signal,
                                .is_to_first = body->batch,
                                .is_dry_run = body->dry_run,
                                .selection = selection_of(body)};
    if (body->partial || body->dry_run) {
        jobs->report = arena_alloc(&r->arena, sizeof *jobs->report);
        jobs->report->arena = &r->arena;
    }
    request_queue(r);
    return 0;
}

static int post_jobs(struct request *r, enum event_kind kind, struct err *e)
{
    struct api_jobs body = {0};
    if (check_no_query(r, e) != 0 || request_read_body(r, &body, e) != 0) return -1;
    if (body.ids.count > JOBS_NAMED_MAX)
        return err_field(e, ERR_TOO_LARGE, "ids", "%u ids; a request can name at most %d", body.ids.count,
                         JOBS_NAMED_MAX);
    if (body.all && body.ids.count > 0) return err_field(e, ERR_INPUT, "ids", "cannot be given together with all");
    if (!body.all && body.ids.count == 0) return err_field(e, ERR_INPUT, "ids", "missing; give ids, or all");
    return check_selection(&body, e) != 0 ? -1 : queue_jobs(r, kind, &body, e);
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

int server_post_requeue(struct request *r, struct err *e)
{
    return post_jobs(r, EVENT_REQUEUE, e);
}

int server_delete_job(struct request *r, struct err *e)
{
    const struct api_jobs body = {.ids = {&r->segment, 1}};
    return check_no_query(r, e) != 0 ? -1 : queue_jobs(r, EVENT_CANCEL, &body, e);
}

int server_patch_job(struct request *r, struct err *e)
{
    struct api_update *body = arena_alloc(&r->arena, sizeof *body);
    uint32_t job_id, task_id;
    if (check_no_query(r, e) != 0 || job_id_parse(str(r->segment), "id", &job_id, &task_id, e) != 0) return -1;
    if (request_read_body(r, body, e) != 0) return -1;
    if (task_id != NONE)
        return err_value_reason(e, "id", str(r->segment),
                                "is a task; an update is of all tasks of a job: give the job's id");
    if (wire_is_empty(r->route->body, body))
        return err_set(e, ERR_INPUT, "nothing to change: give at least one member");
    if (check_comment(r, &body->job, e) != 0) return -1;
    request_new_event(r, EVENT_UPDATE)->update = (struct event_update){job_id, &body->job};
    request_queue(r);
    return 0;
}

/* --- accounts, users, settings ------------------------------------------------------------------------------------ */

/* The engine's values for a number, "parent" (FIELD_SPECIAL) or an absent member. */
static uint32_t shares_of(int64_t given)
{
    return given == API_UNSET ? SHARES_UNSET : given == FIELD_SPECIAL ? SHARES_PARENT : (uint32_t)given;
}

static uint32_t priority_of(int64_t given)
{
    return given == API_UNSET ? PRIORITY_UNSET : given == FIELD_SPECIAL ? NONE : (uint32_t)given;
}

static void queue_account(struct request *r, enum event_kind kind, const char *name, const struct api_account *body)
{
    request_new_event(r, kind)->account =
        (struct event_account){.name = name,
                               .parent = body->parent,
                               .shares = shares_of(body->shares),
                               .priority = priority_of(body->priority),
                               .resets_usage = kind == EVENT_ACCOUNT_MODIFY && body->raw_usage == 0,
                               .pairs = request_copy_pairs(r, body->limits.items, body->limits.count),
                               .count = body->limits.count};
    request_queue(r);
}

int server_post_account(struct request *r, struct err *e)
{
    struct api_account body;
    if (check_no_query(r, e) != 0 || request_read_body(r, &body, e) != 0) return -1;
    queue_account(r, EVENT_ACCOUNT_ADD, body.name, &body);
    return 0;
}

int server_patch_account(struct request *r, struct err *e)
{
    struct api_account body;
    if (check_no_query(r, e) != 0 || request_read_body(r, &body, e) != 0) return -1;
    if (wire_is_empty(r->route->body, &body))
        return err_set(e, ERR_INPUT, "nothing to change: give parent, shares, priority, raw_usage or a limit");
    queue_account(r, EVENT_ACCOUNT_MODIFY, r->segment, &body);
    return 0;
}

int server_delete_account(struct request *r, struct err *e)
{
    const struct api_account body = {.shares = API_UNSET, .priority = API_UNSET};
    if (check_no_query(r, e) != 0) return -1;
    queue_account(r, EVENT_ACCOUNT_DELETE, r->segment, &body);
    return 0;
}

/* which: the association; its texts are borrowed. */
static void queue_user(struct request *r, enum event_kind kind, const char *name, const struct api_account_query *which,
                       const struct api_user *body)
{
    request_new_event(r, kind)->user =
        (struct event_user){.name = name,
                            .account = which->account,
                            .partition = which->partition,
                            .shares = shares_of(body->shares),
                            .make_default = body->is_default,
                            .priority = priority_of(body->priority),
                            .resets_usage = kind == EVENT_USER_MODIFY && body->raw_usage == 0,
                            .pairs = request_copy_pairs(r, body->limits.items, body->limits.count),
                            .count = body->limits.count};
    request_queue(r);
}

int server_post_user(struct request *r, struct err *e)
{
    struct api_user body;
    if (check_no_query(r, e) != 0 || request_read_body(r, &body, e) != 0) return -1;
    queue_user(r, EVENT_USER_ADD, body.name, &(struct api_account_query){body.account, body.partition}, &body);
    return 0;
}

int server_patch_user(struct request *r, struct err *e)
{
    struct api_user body;
    struct api_account_query query;
    if (request_read_query(r, &query, e) != 0 || request_read_body(r, &body, e) != 0) return -1;
    if (wire_is_empty(r->route->body, &body))
        return err_set(e, ERR_INPUT, "nothing to change: give shares, priority, raw_usage, default or a limit");
    queue_user(r, EVENT_USER_MODIFY, r->segment, &query, &body);
    return 0;
}

int server_delete_user(struct request *r, struct err *e)
{
    const struct api_user body = {.shares = API_UNSET, .priority = API_UNSET};
    struct api_account_query query;
    if (request_read_query(r, &query, e) != 0) return -1;
    queue_user(r, EVENT_USER_DELETE, r->segment, &query, &body);
    return 0;
}

/* What only the host knows of a new value: whether programs are there. */
static int check_with_host(struct request *r, const struct wire_pair *pair, struct err *e)
{
    const struct server_host *host = &r->server->host;
    struct field_value value;
    enum setting setting;
    if (host->check_program == NULL ||
        setting_read(str(pair->name), str(pair->value), &r->arena, &setting, &value, NULL) != 0)
        return 0;
    bool has_program = setting == SET_GE_LOAD_SENSOR || setting == SET_SUBMIT_HOOK;
    return has_program ? host->check_program(host->context, setting, value.text, e) : 0;
}

int server_patch_settings(struct request *r, struct err *e)
{
    struct wire_list list;
    if (check_no_query(r, e) != 0 || wire_read_pairs(request_body_text(r), &r->arena, &list, e) != 0) return -1;
    for (uint32_t i = 0; i < list.count; i++) {
        if (check_with_host(r, (const struct wire_pair *)list.items + i, e) != 0) return -1;
    }
    struct event_pair *pairs = request_copy_pairs(r, list.items, list.count);
    request_new_event(r, EVENT_SETTINGS)->settings = (struct event_settings){pairs, list.count};
    request_queue(r);
    return 0;
}

int server_post_suspend(struct request *r, struct err *e)
{
    return post_jobs(r, EVENT_SUSPEND, e);
}

int server_post_resume(struct request *r, struct err *e)
{
    return post_jobs(r, EVENT_RESUME, e);
}

int server_post_signal(struct request *r, struct err *e)
{
    return post_jobs(r, EVENT_SIGNAL, e);
}
