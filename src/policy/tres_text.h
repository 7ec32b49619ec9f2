/* Amounts by TRES as text that reads back exactly: "cpu=355.5,mem=1e+22", in the order of the table, without the zeros.
 * The database has the usage of associations and the allocations of tasks in this form.
 *
 * Parsing gives ERR_INPUT, which names the item, for a TRES that is not tracked or out of order, and for an amount that
 * is not a finite number. The result is in memory of mem_resize. */
#ifndef FAIRLEAD_POLICY_TRES_TEXT_H
#define FAIRLEAD_POLICY_TRES_TEXT_H

#include "policy/tres.h"

/* Amounts by index of t, t->count of them; NULL: none. Parsing gives an array of TRES_MAX. */
void tres_text_format(const struct tres_table *t, const double *amounts, struct buf *out);
int tres_text_parse(const struct tres_table *t, struct str text, double **out_amounts, struct err *e);

/* The same for a list. */
void tres_text_format_list(const struct tres_table *t, const struct tres_list *list, struct buf *out);
int tres_text_parse_list(const struct tres_table *t, struct str text, struct tres_list *out_list, struct err *e);

/* Removes the first item from *rest and splits it at its first '='; without one, out_value's text is NULL. False: *rest
 * is empty. */
bool tres_text_next(struct str *rest, struct str *out_name, struct str *out_value);

#endif
