/* Priorities and shares of documents, for tests that compare them with values computed by hand. */
#ifndef FAIRLEAD_TESTS_SCENARIO_WORLD_H
#define FAIRLEAD_TESTS_SCENARIO_WORLD_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "sim/scenario.h"

#define COUNT_OF(rows) (sizeof(rows) / sizeof *(rows))

static struct arena arena; /* of all answers of a test program */

static inline bool is_near(double a, double b)
{
    return fabs(a - b) <= 1e-12 * fmax(1.0, fabs(b));
}

static inline void read_text(struct str text, struct scenario *out_scenario)
{
    struct err e = {0};
    int status = scenario_read(text, "F", out_scenario, &e);
    if (status != 0) print_message("%s\n", ERR_SENTENCE(&e));
    assert_int_equal(status, 0);
}

/* Reads a document that is written with ' instead of ". */
static inline void read_quoted(const char *document, struct scenario *out_scenario)
{
    struct buf text = {0};
    buf_add_text(&text, document);
    for (size_t i = 0; i < text.length; i++) {
        if (text.text[i] == '\'') text.text[i] = '"';
    }
    read_text((struct str){text.text, text.length}, out_scenario);
    buf_release(&text);
}

/* The priorities, in the order of the document. */
static inline struct scenario_priorities compute(struct scenario *s)
{
    struct scenario_priorities all;
    scenario_priorities(s, &arena, &all);
    return all;
}

static inline struct priority_values row_of(const struct scenario_priorities *all, uint32_t i)
{
    struct priority_record record;
    struct priority_values row;
    assert_true(i < all->count);
    scenario_priority_row(all, i, &record);
    memcpy(row.value, record.value, sizeof row.value);
    return row;
}

static inline double real_of(const struct scenario_priorities *all, uint32_t i, enum priority_field f)
{
    struct priority_values row = row_of(all, i);
    return row.value[f].real;
}

/* Reads a document and computes its priorities. */
static inline struct scenario_priorities compute_document(const char *document, struct scenario *s)
{
    read_quoted(document, s);
    return compute(s);
}

static inline int release_answers(void **unused)
{
    (void)unused;
    arena_release(&arena);
    return 0;
}

#endif
