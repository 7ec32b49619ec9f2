/* What a job waits for, as text:
 *
 *     afterok:5:6,after:7+10      5 and 6 have ended well, and 10 minutes have passed since 7 began
 *     afterany:5_3?afternotok:8   one of them is enough
 *     aftercorr:5,singleton       each task waits for the same task of array 5; no two jobs of that name at a time
 *
 *     list        conditions joined by , (all of them) or by ? (any of them), not by both
 *     condition   TYPE:JOB[:JOB...]; each job is a condition of its own
 *     JOB         a job, a task (5_3), tasks (5_[1-3,7], each a condition of its own), or the name of a job
 *
 * hold_jid and hold_jid_ad are afterany and aftercorrany as Grid Engine has them: a name may be a pattern, in which ?
 * stands for a character, and a job that does not exist is not waited for.
 *
 * The same text, with ids only and one job for each condition, is what is stored: the conditions that are not met yet.
 * It has marks that a person need not give, and which are computed again where one does:
 *
 *     after:7+10@1764000000       the time at which the condition is met, in seconds since the epoch
 *     aftercorr:5_[0-3]           the tasks that still wait
 *     afterok:5(failed)           the condition can never be met
 *
 * Source: Slurm 22.05, sbatch(1), --dependency; Grid Engine 8.1.9, qsub(1), -hold_jid and -hold_jid_ad. */
#ifndef FAIRLEAD_FIELDS_DEPENDENCY_TEXT_H
#define FAIRLEAD_FIELDS_DEPENDENCY_TEXT_H

#include "base/arena.h"
#include "base/err.h"
#include "base/text.h"
#include "fields/dependency_list.h"

/* Reads a list; an empty text, or "none", is an empty one. All its memory is of the arena, names are views of the text.
 * ERR_INPUT, ERR_TOO_LARGE: more than DEPENDENCY_ITEMS_MAX conditions. The error is about the field dependency.
 * O(length). */
int dependency_text_parse(struct str text, struct arena *arena, struct dependency_list *out, struct err *e);

/* Adds one condition in its stored form to a list, which is made first if it is NULL (dependency_list_free). arena: of
 * this call only. Returns -1 for a text that is not one condition. */
int dependency_text_restore(struct str text, uint32_t position, bool is_any, struct arena *arena,
                            struct dependency_list **io_list);

/* The check of the field. */
int dependency_text_check(struct str text, const char *what, struct err *e);

/* Appends what is left of the list, or one condition of it, as it is stored; nothing if nothing is left. */
void dependency_text_format(const struct dependency_list *list, struct buf *out);
void dependency_text_format_item(const struct dependency_item *item, struct buf *out);

/* Appends it as a listing shows it, and Slurm: "afterok:5(unfulfilled),after:7+10(unfulfilled),afterok:6(failed)". A
 * condition whose time has come is left out. */
void dependency_text_show(const struct dependency_list *list, int64_t now_us, struct buf *out);

/* The character between the conditions of a list. */
static inline char dependency_text_separator(const struct dependency_list *list)
{
    return list->is_any ? '?' : ',';
}

#endif
