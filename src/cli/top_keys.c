#include "cli/top_keys.h"

#include <string.h>

#include "cli/instance.h"
#include "cli/job_ids.h"
#include "cli/screen.h"

const char *const top_keys_help[] = {
    "up, down, PgUp, PgDn, Home, End  select a row",
    "Tab, 1 to 5  view: queue, shares, users, jobs, processes",
    "s, S  sort by the next, the previous column; R reverses",
    "o     usual order",
    "/     filter: rows that contain a text; Esc ends it",
    "c     cancel the selected job, after a question",
    "h, r  hold it, release it, after a question",
    "space read again now",
    "q     quit",
    NULL,
};

static const struct top_action actions[] = {
    {.key = 'c', .target = API_JOBS_CANCEL, .shape = &api_cancel_shape, .question = "Cancel", .done = "cancelled"},
    {.key = 'h', .target = API_JOBS_HOLD, .shape = &api_jobs_shape, .question = "Hold", .done = "held"},
    {.key = 'r', .target = API_JOBS_RELEASE, .shape = &api_jobs_shape, .question = "Release", .done = "released"},
};

static void say(struct top_state *s, bool is_alert, const char *before, const char *text, const char *behind)
{
    buf_clear(&s->message);
    buf_format(&s->message, "%s%s%s", before, text, behind);
    s->is_alert = is_alert;
}

/* --- changes ------------------------------------------------------------------------------------------------------ */

static const struct top_action *action_of(int key)
{
    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++) {
        if (actions[i].key == key) return &actions[i];
    }
    return NULL;
}

/* A row of waiting tasks stands for them all: "5_[3-9%2]" is changed as "5_[3-9]". */
static void begin_question(struct top_state *s, const struct top_action *action)
{
    const char *id = top_state_job_of(s, s->selected);
    if (id == NULL) {
        say(s, true, "no job is selected; ", "1 shows", " the queue");
        return;
    }
    struct str unused, tasks = str_cut(str(id), '%', &unused);
    buf_clear(&s->action_id);
    buf_add_str(&s->action_id, tasks);
    if (tasks.length < strlen(id)) buf_add_char(&s->action_id, ']');
    s->action = action;
    s->mode = TOP_ASK;
}

static int change(struct call *call, const struct top_action *action, const char *id, struct api_count *out_reply,
                  struct err *e)
{
    struct api_jobs body = {.partial = true};
    if (job_ids_expand(call, &id, 1, &body.ids, e) != 0) return -1;
    return instance_request_once(call, "POST", action->target, action->shape, &body, &api_count_shape, out_reply, e);
}

static void say_done(struct top_state *s)
{
    buf_clear(&s->message);
    buf_format(&s->message, "job %s was %s", s->action_id.text, s->action->done);
    s->is_alert = false;
}

static void answer_question(struct top_state *s, int key)
{
    struct call call = *s->call;
    struct api_count reply;
    struct err e = {0};
    s->mode = TOP_SHOW;
    if (key != 'y' && key != 'Y') {
        say(s, false, "job ", s->action_id.text, " was left as it is");
        return;
    }
    call.arena = &s->arena;
    screen_set_busy(true);
    int status = change(&call, s->action, s->action_id.text, &reply, &e);
    screen_set_busy(false);
    s->frame_count++; /* the rows have changed */
    if (status != 0)
        say(s, true, "", ERR_SENTENCE(&e), "");
    else if (reply.refused.count > 0)
        say(s, true, "", ((const struct api_refused *)reply.refused.items)[0].message, "");
    else
        say_done(s);
}

/* --- filter and order --------------------------------------------------------------------------------------------- */

/* Cuts the last character, which may have several bytes. */
static void erase_last(struct buf *text)
{
    while (text->length > 0 && ((unsigned char)text->text[text->length - 1] & 0xC0U) == 0x80U) text->length--;
    if (text->length > 0) text->length--;
}

static void type_filter(struct top_state *s, int key)
{
    enum { FILTER_MAX = 100 };
    if (key == SCREEN_KEY_ESCAPE) buf_clear(&s->filter);
    if (key == SCREEN_KEY_ESCAPE || key == SCREEN_KEY_ENTER)
        s->mode = TOP_SHOW;
    else if (key == SCREEN_KEY_ERASE)
        erase_last(&s->filter);
    else if (key < SCREEN_KEY_FIRST && s->filter.length < FILTER_MAX)
        buf_add_char(&s->filter, (char)key);
    if (s->mode == TOP_SHOW) s->frame_count++; /* all rows are read again */
}

static void sort_by_next(struct top_state *s, int direction)
{
    enum top_view view = s->query.view;
    int64_t count = s->rows.columns->count, column = s->sort_column[view];
    if (s->sort_column[view] == NONE) column = direction > 0 ? -1 : 0;
    column = (column + direction + count) % count;
    const struct column *c = &s->rows.columns->columns[column];
    const struct field *f = column_field(s->rows.columns, c);
    s->sort_column[view] = (uint32_t)column;
    s->is_descending[view] = !field_is_text(f) && f->type != FIELD_CHOICE;
    top_rows_sort(&s->rows, (uint32_t)column, s->is_descending[view]);
    say(s, false, "sorted by ", f->name, "; S the column before, R reverses, o the usual order");
}

static void reverse(struct top_state *s)
{
    enum top_view view = s->query.view;
    if (s->sort_column[view] == NONE) return;
    s->is_descending[view] = !s->is_descending[view];
    top_rows_sort(&s->rows, s->sort_column[view], s->is_descending[view]);
}

/* --- keys --------------------------------------------------------------------------------------------------------- */

static void move(struct top_state *s, int key)
{
    int64_t row = s->selected, page = top_state_room();
    switch (key) {
    case SCREEN_KEY_UP: row--; break;
    case SCREEN_KEY_DOWN: row++; break;
    case SCREEN_KEY_PAGE_UP: row -= page; break;
    case SCREEN_KEY_PAGE_DOWN: row += page; break;
    case SCREEN_KEY_HOME: row = 0; break;
    case SCREEN_KEY_LAST: row = s->rows.list.count; break;
    default: break;
    }
    top_state_select(s, row);
}

static void show(struct top_state *s, int key)
{
    if (!s->is_stale) buf_clear(&s->message);
    if (action_of(key) != NULL) {
        begin_question(s, action_of(key));
        return;
    }
    if (key >= '1' && key < '1' + TOP_VIEW_COUNT) s->query.view = (enum top_view)(key - '1');
    switch (key) {
    case 'q':
    case 'Q': s->is_over = true; break;
    case '?': s->mode = TOP_HELP; break;
    case '/': s->mode = TOP_TYPE_FILTER; break;
    case SCREEN_KEY_TAB: s->query.view = (enum top_view)((s->query.view + 1) % TOP_VIEW_COUNT); break;
    case 's': sort_by_next(s, 1); break;
    case 'S': sort_by_next(s, -1); break;
    case 'R': reverse(s); break;
    case 'o':
        s->sort_column[s->query.view] = NONE;
        s->frame_count++;
        break;
    case SCREEN_KEY_ESCAPE:
        buf_clear(&s->filter);
        s->frame_count++;
        break;
    default: move(s, key); break;
    }
}

void top_keys_press(struct top_state *s, int key)
{
    if (key == SCREEN_KEY_RESIZED) {
        top_state_select(s, s->selected);
        return;
    }
    switch (s->mode) {
    case TOP_TYPE_FILTER: type_filter(s, key); break;
    case TOP_ASK: answer_question(s, key); break;
    case TOP_HELP: s->mode = TOP_SHOW; break;
    case TOP_SHOW: show(s, key); break;
    }
}
