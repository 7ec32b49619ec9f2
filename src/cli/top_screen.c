#include "cli/top_screen.h"

#include <time.h>

#include "api/client/client.h"
#include "base/quantity.h"
#include "cli/screen.h"
#include "cli/top_keys.h"

enum {
    RANKS_FRAMES = 5, /* the ranks are read once in so many frames */
    FRAME_SHARE = 10, /* a frame takes at most this part of the time */
    MS_PER_S = 1000,
};

static int64_t monotonic_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * US_PER_S + now.tv_nsec / 1000;
}

static void arrange(struct top_state *s)
{
    enum top_view view = s->query.view;
    if (s->filter.length > 0) top_rows_filter(&s->rows, (struct str){s->filter.text, s->filter.length});
    if (s->sort_column[view] != NONE) top_rows_sort(&s->rows, s->sort_column[view], s->is_descending[view]);
    top_state_select_again(s);
}

/* --- reading ------------------------------------------------------------------------------------------------------ */

static int read_frame(struct top_state *s, struct top_rows *out_rows, struct err *e)
{
    struct call call = *s->call;
    arena_clear(&s->arena);
    call.arena = &s->arena;
    s->query.leaves_out_use = s->frame_count == 0; /* it takes a second to measure */
    s->query.keeps_ranks = s->frame_count % RANKS_FRAMES != 0;
    if (top_rows_read(&call, &s->query, out_rows, e) != 0) return -1;
    return top_head_read(&call, top_view_titles[s->query.view], &s->head, e);
}

/* The old rows stay where new ones cannot be read. */
static void refresh(struct top_state *s)
{
    struct top_rows rows = {0};
    struct err e = {0};
    int64_t begin_us = monotonic_us();
    screen_set_busy(true);
    int status = read_frame(s, &rows, &e);
    screen_set_busy(false);
    s->frame_us = monotonic_us() - begin_us;
    if (status != 0) {
        top_rows_release(&rows);
        buf_clear(&s->message);
        buf_format(&s->message, "Trying again: %s", ERR_SENTENCE(&e));
        s->is_alert = s->is_stale = true;
        s->frame_count = 0;
        return;
    }
    if (s->is_stale) buf_clear(&s->message);
    if (s->is_stale) s->is_alert = false;
    s->is_stale = false;
    top_rows_release(&s->rows);
    s->rows = rows;
    s->has_rows = true;
    s->frame_count++;
    arrange(s);
}

/* --- drawing ------------------------------------------------------------------------------------------------------ */

static struct str text_of(const struct buf *b)
{
    return (struct str){b->text, b->length};
}

static void write_last_line(const struct top_state *s, struct buf *out)
{
    switch (s->mode) {
    case TOP_TYPE_FILTER: buf_format(out, "Filter: %.*s_", (int)s->filter.length, s->filter.text); break;
    case TOP_ASK: buf_format(out, "%s job %s? y or n", s->action->question, s->action_id.text); break;
    case TOP_HELP: buf_add_text(out, "any key: back"); break;
    case TOP_SHOW:
        if (s->message.length > 0) {
            buf_add_str(out, text_of(&s->message));
            break;
        }
        buf_add_text(out, "q quit  ? keys  Tab view  s sort  / filter  c cancel  h hold  r release");
        if (s->filter.length > 0) buf_format(out, "  [%.*s]", (int)s->filter.length, s->filter.text);
    }
}

static void draw_rows(const struct top_state *s, uint32_t top)
{
    static const struct listing_values form = {0};
    struct output out = {.fd = -1, .width = screen_columns(), .has_no_notes = true};
    struct err e = {0};
    struct str line;
    if (top_rows_write(&s->rows, &form, s->first, top_state_room(), &out, &e) == 0) {
        struct str rest = {out.text.text, out.text.length};
        for (uint32_t i = 0; rest.length > 0; i++) {
            line = str_cut(rest, '\n', &rest);
            bool is_selected = i > 0 && s->first + i - 1 == s->selected;
            screen_line(top + i, line, i == 0 ? SCREEN_HEADING : is_selected ? SCREEN_SELECTED : SCREEN_PLAIN);
        }
    }
    if (s->has_rows && s->rows.list.count == 0)
        screen_line(top, str(s->filter.length > 0 ? "(no row matches the filter)" : "(nothing)"), SCREEN_PLAIN);
    buf_release(&out.text);
}

static void draw(const struct top_state *s)
{
    struct buf last = {0};
    uint32_t top = top_state_head_lines();
    screen_begin();
    if (top > 0) screen_line(0, text_of(&s->head.tasks), SCREEN_PLAIN);
    if (top > 1) screen_line(1, text_of(&s->head.host), SCREEN_PLAIN);
    if (s->mode == TOP_HELP) {
        for (uint32_t i = 0; top_keys_help[i] != NULL; i++) screen_line(top + i, str(top_keys_help[i]), SCREEN_PLAIN);
    } else {
        draw_rows(s, top);
    }
    write_last_line(s, &last);
    bool is_alert = s->mode == TOP_ASK || (s->mode == TOP_SHOW && s->is_alert && s->message.length > 0);
    screen_line(screen_lines() - 1, (struct str){"", 0}, SCREEN_PLAIN);
    screen_line(screen_lines() - 1, text_of(&last), is_alert ? SCREEN_ALERT : SCREEN_PLAIN);
    screen_end();
    buf_release(&last);
}

static void on_slow(const struct client *c, int seconds)
{
    char text[120];
    (void)c;
    text_format(text, sizeof text, "the instance has not answered for %d seconds; Ctrl-C ends", seconds);
    screen_line(screen_lines() - 1, str(text), SCREEN_ALERT);
    screen_end();
}

/* --- the loop ----------------------------------------------------------------------------------------------------- */

/* Keys are served until it is time for the next frame. */
static void serve_keys(struct top_state *s)
{
    int64_t interval_us = (int64_t)s->interval_s * US_PER_S;
    if (s->frame_us * FRAME_SHARE > interval_us) interval_us = s->frame_us * FRAME_SHARE;
    if (s->frame_count == 1) interval_us = US_PER_MS; /* the next one has what jobs use */
    int64_t until_us = monotonic_us() + interval_us;
    enum top_view view = s->query.view;
    uint32_t frames = s->frame_count;
    while (!s->is_over && s->query.view == view && s->frame_count == frames) {
        int64_t left_us = until_us - monotonic_us();
        if (left_us <= 0 && s->mode != TOP_ASK) return;
        int key = screen_key(left_us > US_PER_MS ? left_us / US_PER_MS : s->mode == TOP_ASK ? MS_PER_S : 1);
        if (key == SCREEN_KEY_QUIT)
            s->is_over = true;
        else if (key != SCREEN_KEY_NONE)
            top_keys_press(s, key);
        if (key == ' ' && s->mode == TOP_SHOW) return;
        if (key != SCREEN_KEY_NONE && !s->is_over) draw(s);
    }
}

int top_screen_run(struct top_state *s)
{
    client_on_slow = on_slow;
    while (!s->is_over) {
        enum top_view view = s->query.view;
        refresh(s);
        draw(s);
        serve_keys(s);
        if (s->query.view != view) {
            top_rows_release(&s->rows);
            s->rows.columns = top_view_columns(s->query.view);
            s->has_rows = false;
            s->frame_count = 0;
            s->first = s->selected = 0;
            draw(s);
        }
    }
    screen_close();
    top_state_release(s);
    return 0;
}
