/* The row of a task as one line of text, which no other program reads: "launch_id=7<tab>state=STARTING<tab>...". It has
 * every field of a task's row; names of objects stand for them. */
#ifndef FAIRLEAD_ENGINE_TASK_TEXT_H
#define FAIRLEAD_ENGINE_TASK_TEXT_H

#include "base/text.h"
#include "engine/state.h"

/* Appends the line, without a line end. */
void task_text_format(const struct state *s, const struct task *k, struct buf *out);

/* Reads a line. *out has its own memory for placements and TRES (task_text_release), and no association. ERR_INPUT,
 * ERR_NOT_FOUND: it cannot be read, or names an object that does not exist; *out is untouched then. */
int task_text_parse(const struct state *s, struct str line, struct task *out, struct err *e);
void task_text_release(struct task *k);

/* The job of a line, also if the rest cannot be read; 0: none. */
uint32_t task_text_job_id(struct str line);

#endif
