/* Expressions of patterns, which a text satisfies or not:
 *
 *     lx*&!lx24-*            begins with lx, and not with lx24-
 *     (sol-*|lx-*)&*[0-9]    begins with sol- or lx-, and ends with a digit
 *
 *     expression   operands joined by & (and) and | (or); & binds closer
 *     operand      a pattern, an expression in ( ), or one of them after ! (not)
 *     pattern      * any characters, also none; ? one; [aeo-z] one of those; \* the character *; others themselves
 *
 * A blank is only accepted after a \. Within [ ] only \, - between two characters and ] have a meaning. Source: Grid
 * Engine 8.1.9, sge_types(1) and complex(5). */
#ifndef FAIRLEAD_BASE_EXPRESSION_H
#define FAIRLEAD_BASE_EXPRESSION_H

#include "base/err.h"
#include "base/str.h"

enum { EXPRESSION_LENGTH_MAX = 1024, EXPRESSION_DEPTH_MAX = 32 }; /* bytes; of parentheses */

enum expression_case { EXPRESSION_CASE_COUNTS, EXPRESSION_CASE_IGNORED /* ASCII only */ };

/* ERR_INPUT names the column, counted in bytes from 1, and what is missing or unexpected there. */
int expression_check(struct str expression, const char *what, struct err *e);

/* Nothing satisfies what expression_check refuses. O(lengths of both multiplied), without memory. */
bool expression_is_satisfied(struct str expression, struct str text, enum expression_case letters);

#endif
