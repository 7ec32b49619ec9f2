#include "cli/ended_jobs.h"

#include <string.h>

#include "base/array.h"
#include "cli/instance.h"
#include "cli/job_ids.h"
#include "fields/job_fields.h"
#include "fields/job_state.h"

int ended_jobs_read_states(const char *text, uint32_t *out_states, struct err *e)
{
    uint32_t states = 0;
    for (struct str rest = str(text); rest.text != NULL;) {
        struct str word = str_trim(str_cut(rest, ',', &rest));
        int64_t state = field_choice_index(job_state_names, word);
        if (state < JOB_COMPLETED || state >= JOB_REQUEUED)
            return err_value(e, "--state", word,
                             "running, or one or several of COMPLETED, FAILED, CANCELLED, TIMEOUT, NODE_FAIL, "
                             "OUT_OF_MEMORY");
        states |= 1U << state;
    }
    *out_states = states;
    return 0;
}

static bool names(const char *list, const char *name)
{
    for (struct str rest = str(list); rest.text != NULL;) {
        if (str_equal(str_trim(str_cut(rest, ',', &rest)), str(name))) return true;
    }
    return false;
}

static bool is_or_any(const char *wanted, const struct field_value *value)
{
    if (wanted == NULL || value->text == NULL) return wanted == NULL;
    return strcmp(wanted, value->text) == 0 || names(wanted, value->text);
}

static bool is_selected(const struct api_jobs *body, const struct field_value *row)
{
    bool is_in_partition = body->partition == NULL;
    for (struct str rest = str(row[JOB_FIELD_PARTITION].text); rest.text != NULL && !is_in_partition;) {
        struct str unused, partition = str_cut(rest, ',', &rest);
        for (struct str wanted = str(body->partition); wanted.text != NULL && !is_in_partition; wanted = unused)
            is_in_partition = str_equal(str_trim(str_cut(wanted, ',', &unused)), partition);
    }
    return is_or_any(body->user, &row[JOB_FIELD_USER]) && is_or_any(body->account, &row[JOB_FIELD_ACCOUNT]) &&
           is_or_any(body->qos, &row[JOB_FIELD_QOS]) && is_or_any(body->name, &row[JOB_FIELD_NAME]) && is_in_partition;
}

typedef ARRAY(const char *) text_list;

/* The instance selects by users and accounts. A list with blanks is left to is_selected. */
static void add_selection(struct buf *target, const char *name, const char *list)
{
    if (list != NULL && strpbrk(list, " \t") == NULL) client_add_query(target, name, list);
}

static int list_state(struct call *call, struct client *c, const struct api_jobs *body, enum job_state state,
                      text_list *ids, struct err *e)
{
    struct buf target = {0};
    struct wire_columns columns;
    struct field_value *row = arena_alloc(call->arena, JOB_FIELD_COUNT * sizeof *row);
    struct arena arena = {0};
    struct str line;
    buf_add_text(&target, API_JOBS "?which=ended&format=lines");
    client_add_query(&target, "state", job_state_name(state));
    add_selection(&target, "user", body->user);
    add_selection(&target, "account", body->account);
    if (client_request(c, "GET", instance_target(call, &target), str(""), e) != 0) return -1;
    int more = client_line(c, &line, e);
    if (more == 0) return err_set(e, ERR_INTERNAL, "the instance's listing has no heading");
    if (more < 0 || wire_read_heading(&job_fields, line, &columns, e) != 0) return -1;
    while ((more = client_line(c, &line, e)) > 0) {
        arena_clear(&arena);
        more = wire_read_line(&columns, line, &arena, row, e);
        if (more != 0) break;
        if (is_selected(body, row)) *array_add(ids) = arena_copy(call->arena, str(row[JOB_FIELD_ID].text));
    }
    arena_release(&arena);
    return more;
}

/* Nothing is selected: a name that does not exist is refused, as where running jobs are selected. */
static int check_names(struct call *call, struct client *c, const struct api_jobs *body, struct err *e)
{
    struct api_jobs asked = *body;
    struct api_count unused;
    asked.ids = (struct wire_list){0};
    asked.all = asked.dry_run = true;
    return instance_request(call, c, "POST", API_JOBS_REQUEUE, &api_requeue_shape, &asked, &api_count_shape, &unused,
                            e);
}

int ended_jobs_list(struct call *call, const struct api_jobs *body, uint32_t states, struct wire_list *out_ids,
                    struct err *e)
{
    struct client c = {.fd = -1};
    text_list found = {0};
    int status = instance_open(call, &c, e);
    for (enum job_state state = JOB_COMPLETED; status == 0 && state < JOB_REQUEUED; state++) {
        if ((states >> state & 1) != 0) status = list_state(call, &c, body, state, &found, e);
    }
    if (status == 0 && found.count == 0) status = check_names(call, &c, body, e);
    client_close(&c);
    if (status == 0) status = job_ids_expand(call, found.items, found.count, out_ids, e);
    array_release(&found);
    return status;
}
