/* Amounts by TRES as text that reads back exactly: "cpu=355.5,mem=1e+22", in the order of the table, those of 0 left out.
 * So the database has what an association used and what a task has.
 *
 * Reading gives 0, or -1 with ERR_INPUT naming the item: a TRES that is not tracked, one out of order, no finite number. What
 * is read is in memory of mem_resize. */
#ifndef FAIRLEAD_POLICY_TRES_TEXT_H
#define FAIRLEAD_POLICY_TRES_TEXT_H

#include "policy/tres.h"

/* Amounts by index of t, t->count of them; NULL: none. Reading gives TRES_MAX of them. */
void tres_text_format(const struct tres_table *t, const double *amounts, struct buf *out);
int tres_text_parse(const struct tres_table *t, struct str text, double **out_amounts, struct err *e);

/* The same of a list. */
void tres_text_format_list(const struct tres_table *t, const struct tres_list *list, struct buf *out);
int tres_text_parse_list(const struct tres_table *t, struct str text, struct tres_list *out_list, struct err *e);

/* Cuts the first item off *rest, and that at its first '=': the value's text is NULL where there is none. False: nothing is
 * left. */
bool tres_text_next(struct str *rest, struct str *out_name, struct str *out_value);

#endif
