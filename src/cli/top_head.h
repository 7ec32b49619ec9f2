/* The lines above the rows of 'fairlead top': the instance, its tasks and its host. */
#ifndef FAIRLEAD_CLI_TOP_HEAD_H
#define FAIRLEAD_CLI_TOP_HEAD_H

#include "cli/command.h"

struct top_head {
    struct buf tasks, host;
};

/* Replaces the lines by those of now. view: "queue". */
int top_head_read(struct call *call, const char *view, struct top_head *io_head, struct err *e);
void top_head_release(struct top_head *head);

#endif
