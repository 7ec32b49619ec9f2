#include "cli/array_summary.h"

#include <string.h>

#include "cli/instance_listing.h"
#include "cli/job_columns.h"
#include "fields/job_id.h"
#include "fields/limits.h"

enum { NAME_COLUMNS = 13, TASKS_BYTES_MAX = 200 };

static bool is_pending(int64_t state)
{
    return state == JOB_PENDING || state == JOB_HELD;
}

static struct array_group *group_of(struct array_summary *s, int64_t state, int64_t reason)
{
    for (uint32_t i = 0; i < s->groups.count; i++) {
        struct array_group *g = &s->groups.items[i];
        if (g->state == state && g->reason == reason) return g;
    }
    struct array_group *g = array_add(&s->groups);
    g->state = state;
    g->reason = reason;
    return g;
}

/* The tasks of "5_3" or "5_[3-9%2]"; false for a job that is no array. */
static bool read_tasks(const char *id, struct idset *out)
{
    struct str tasks, unused;
    str_cut(str(id), '_', &tasks);
    if (tasks.length == 0) return false;
    if (tasks.text[0] == '[') tasks = str_range(tasks.text + 1, tasks.text + tasks.length - 1);
    tasks = str_cut(tasks, '%', &unused);
    return idset_parse(tasks, ARRAY_TASK_MAX, "tasks", out, NULL) == 0;
}

/* Counts a row and lists none. An attempt that was requeued is not a task of its own. context: the summary. */
static bool count_row(const struct field_value *row, const void *context)
{
    struct array_summary *s = (struct array_summary *)(uintptr_t)context;
    int64_t state = row[JOB_FIELD_STATE].number;
    struct idset tasks = {0};
    if (state == JOB_REQUEUED || !read_tasks(row[JOB_FIELD_ID].text, &tasks)) return false;
    struct array_group *g = group_of(s, state, is_pending(state) ? row[JOB_FIELD_REASON].number : PENDING_NONE);
    idset_add_all(&g->tasks, &tasks);
    idset_release(&tasks);
    s->is_array = true;
    s->has_pending |= is_pending(state);
    return false;
}

int array_summary_read(struct call *call, const char *job_id, struct array_summary *out, struct err *e)
{
    struct buf target = {0};
    struct array_summary s = {0};
    const struct listing_values form = {0};
    buf_add_text(&target, API_JOBS "?which=all");
    client_add_query(&target, "id", job_id);
    const struct instance_listing listing = {.columns = &job_columns_show,
                                             .target = instance_target(call, &target),
                                             .has_lines = true,
                                             .has_blocks = true,
                                             .filter = count_row,
                                             .filter_context = &s};
    int status = instance_listing_write(call, &listing, &form, NULL, e);
    if (status == 0) *out = s;
    if (status != 0) array_summary_release(&s);
    return status;
}

static void add_state(const struct array_group *g, struct buf *out)
{
    buf_add_str(out, field_choice(job_state_choices, g->state));
    if (g->reason != PENDING_NONE) buf_format(out, " (%s)", pending_reason_name((enum pending_reason)g->reason));
}

/* "0-5,9" or "1-9:2"; a long one is cut after a comma. */
static void add_tasks(const struct idset *tasks, struct buf *out)
{
    struct buf text = {0};
    idset_format(tasks, &text);
    job_id_write_short((struct str){text.text, text.length}, TASKS_BYTES_MAX, out);
    buf_release(&text);
}

/* "[##########xx>>>>......] 12 of 22 ended": # completed, x ended otherwise, > running, . pending. */
static void add_bar(const struct array_summary *s, uint32_t total, struct buf *out)
{
    enum { COMPLETED, OTHERWISE, RUNNING, PENDING, KINDS, WIDTH = 40 };
    static const char marks[KINDS] = {[COMPLETED] = '#', [OTHERWISE] = 'x', [RUNNING] = '>', [PENDING] = '.'};
    uint64_t counts[KINDS] = {0}, before = 0;
    for (uint32_t i = 0; i < s->groups.count; i++) {
        const struct array_group *g = &s->groups.items[i];
        enum job_state state = (enum job_state)g->state;
        int kind = state == JOB_COMPLETED    ? COMPLETED
                   : job_state_is_end(state) ? OTHERWISE
                   : state == JOB_PENDING    ? PENDING
                                             : RUNNING;
        counts[kind] += idset_count(&g->tasks);
    }
    buf_format(out, "%-*s [", NAME_COLUMNS, "Progress");
    for (int kind = 0; kind < KINDS; kind++) {
        uint64_t end = (before + counts[kind]) * WIDTH / total;
        for (uint64_t at = before * WIDTH / total; at < end; at++) buf_add_char(out, marks[kind]);
        before += counts[kind];
    }
    buf_format(out, "] %llu of %u ended\n", (unsigned long long)(counts[COMPLETED] + counts[OTHERWISE]), total);
}

void array_summary_write(const struct array_summary *s, struct buf *out)
{
    uint32_t total = 0;
    for (uint32_t i = 0; i < s->groups.count; i++) total += idset_count(&s->groups.items[i].tasks);
    buf_format(out, "%-*s %u:", NAME_COLUMNS, "Tasks", total);
    for (uint32_t i = 0; i < s->groups.count; i++) {
        buf_format(out, "%s %u ", i > 0 ? "," : "", idset_count(&s->groups.items[i].tasks));
        add_state(&s->groups.items[i], out);
    }
    buf_add_char(out, '\n');
    if (total > 0) add_bar(s, total, out);
    for (uint32_t i = 0; i < s->groups.count; i++) {
        struct buf state = {0};
        add_state(&s->groups.items[i], &state);
        buf_format(out, "  %-*s ", NAME_COLUMNS - 2, state.text);
        add_tasks(&s->groups.items[i].tasks, out);
        buf_add_char(out, '\n');
        buf_release(&state);
    }
    buf_add_char(out, '\n');
}

void array_summary_release(struct array_summary *s)
{
    for (uint32_t i = 0; i < s->groups.count; i++) idset_release(&s->groups.items[i].tasks);
    array_release(&s->groups);
}
