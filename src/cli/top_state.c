#include "cli/top_state.h"

#include <string.h>

#include "cli/screen.h"

enum {
    LINES_WITH_HOST = 10, /* lower screens have one line above the rows, those of less than LINES_WITH_HEAD none */
    LINES_WITH_HEAD = 4,
};

const char *top_state_job_of(const struct top_state *s, uint32_t row)
{
    uint32_t field = top_view_id_field(s->query.view);
    if (field == NONE || row >= s->rows.list.count) return NULL;
    const struct field_value *id = &s->rows.list.items[row][field];
    return id->text != NULL && id->number != FIELD_ABSENT && id->text[0] >= '0' && id->text[0] <= '9' ? id->text : NULL;
}

void top_state_select(struct top_state *s, int64_t row)
{
    uint32_t room = top_state_room();
    if (row >= s->rows.list.count) row = (int64_t)s->rows.list.count - 1;
    if (row < 0) row = 0;
    s->selected = (uint32_t)row;
    if (s->selected < s->first) s->first = s->selected;
    if (room > 0 && s->selected >= s->first + room) s->first = s->selected - room + 1;
    const char *id = top_state_job_of(s, s->selected);
    buf_clear(&s->selected_id);
    if (id != NULL) buf_add_text(&s->selected_id, id);
}

void top_state_select_again(struct top_state *s)
{
    uint32_t row = s->selected;
    for (uint32_t i = 0; s->selected_id.length > 0 && i < s->rows.list.count; i++) {
        const char *id = top_state_job_of(s, i);
        if (id != NULL && strcmp(id, s->selected_id.text) == 0) row = i;
    }
    top_state_select(s, row);
}

void top_state_release(struct top_state *s)
{
    struct buf *texts[] = {&s->filter, &s->message, &s->selected_id, &s->action_id};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) buf_release(texts[i]);
    top_rows_release(&s->rows);
    top_head_release(&s->head);
    arena_release(&s->arena);
}

uint32_t top_state_head_lines(void)
{
    uint32_t lines = screen_lines();
    return lines >= LINES_WITH_HOST ? 2 : lines >= LINES_WITH_HEAD ? 1 : 0;
}

uint32_t top_state_room(void)
{
    uint32_t lines = screen_lines(), taken = top_state_head_lines() + 2;
    return lines > taken ? lines - taken : 0;
}
