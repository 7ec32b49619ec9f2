/* What 'fairlead top' shows on a terminal, and what its user has chosen. top_screen.c reads and draws it, top_keys.c
 * changes it. */
#ifndef FAIRLEAD_CLI_TOP_STATE_H
#define FAIRLEAD_CLI_TOP_STATE_H

#include "base/text.h"
#include "cli/top_head.h"
#include "cli/top_rows.h"
#include "wire/wire.h"

enum top_mode {
    TOP_SHOW,
    TOP_TYPE_FILTER, /* keys go to the filter */
    TOP_ASK,         /* whether to change the job, y or n */
    TOP_HELP,        /* the keys, until the next one */
};

/* What 'c', 'h' and 'r' do. */
struct top_action {
    int key;
    const char *target; /* the route */
    const struct wire_shape *shape;
    const char *question; /* "Cancel" */
    const char *done;     /* "cancelled" */
};

struct top_state {
    struct call *call;
    struct top_query query;
    uint64_t interval_s;
    struct top_head head;
    struct top_rows rows;
    struct arena arena; /* of one reading */
    bool has_rows, is_over, is_stale;
    uint32_t frame_count;
    int64_t frame_us;                     /* how long the last reading took */
    uint32_t sort_column[TOP_VIEW_COUNT]; /* NONE: the usual order */
    bool is_descending[TOP_VIEW_COUNT];
    struct buf filter, message; /* message: of the last action, or why there is no new frame */
    bool is_alert;
    enum top_mode mode;
    uint32_t first, selected; /* rows */
    struct buf selected_id;   /* of the selected row: it stays selected when rows move */
    const struct top_action *action;
    struct buf action_id;
};

void top_state_release(struct top_state *s);

/* The lines above the headings, and the rows that fit below them and above the last line. */
uint32_t top_state_head_lines(void);
uint32_t top_state_room(void);

/* The id of the job in a row; NULL: it has none. */
const char *top_state_job_of(const struct top_state *s, uint32_t row);

/* Selects a row that there is, and remembers its id. */
void top_state_select(struct top_state *s, int64_t row);

/* The same after new rows: the selected job may have moved. */
void top_state_select_again(struct top_state *s);

#endif
