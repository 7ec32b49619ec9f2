/* Jobs for tests, written as text: items NAME=VALUE with the names of fields/job_fields.c, separated by |.
 *
 *     .submit = job_text("name=job|command=true|cpus=%u|mem_mib=1", cpus)
 *     event.submit = job_with(event.submit, "nice=5|begin_us=%lld", (long long)begin_us)
 *
 * Values have the syntax of field_parse; times are whole microseconds. A job is valid until JOB_TEXT_COUNT later ones
 * exist. */
#ifndef FAIRLEAD_TESTS_JOB_TEXT_H
#define FAIRLEAD_TESTS_JOB_TEXT_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/number.h"
#include "fields/job_fields.h"

enum { JOB_TEXT_COUNT = 256 };

static inline void job_text_die(const char *reason, struct str item)
{
    fprintf(stderr, "job_text: %s: %.*s\n", reason, (int)item.length, item.text);
    abort();
}

/* Values that field_parse refuses are used unchecked, because tests need values that the engine has to refuse. */
static inline struct field_value job_text_raw(const struct field *f, struct str value, struct arena *arena)
{
    int64_t number;
    if (field_is_text(f)) return field_text(arena_copy(arena, value));
    if (!number_parse_i64(value, &number)) job_text_die("not a number", value);
    return f->type == FIELD_REAL ? field_real((double)number) : field_number(number);
}

/* item: "nice=5". */
static inline void job_text_set(struct job_values *values, struct str item)
{
    static struct arena arena; /* reachable to the end: no leak */
    struct str value, name = str_cut(item, '=', &value);
    uint32_t i = field_find(&job_fields, name);
    if (i == NONE || value.text == NULL) job_text_die("not a field of a job", item);
    const struct field *f = field_at(&job_fields, i);
    int64_t number;
    bool is_time = f->type == FIELD_TIME && number_parse_i64(value, &number);
    if (is_time || field_parse(f, value, &arena, &values->value[i], NULL) != 0)
        values->value[i] = job_text_raw(f, value, &arena);
    values->is_given[i] = true;
}

static inline const struct job_values *job_text_add(const struct job_values *base, const char *format,
                                                    va_list arguments)
{
    static struct job_values all[JOB_TEXT_COUNT];
    static unsigned int next;
    char text[4096];
    struct job_values *values = &all[next++ % JOB_TEXT_COUNT];
    struct job_values copy = base != NULL ? *base : (struct job_values){0};
    vsnprintf(text, sizeof text, format, arguments);
    for (struct str rest = str(text); rest.length > 0;) {
        struct str item = str_cut(rest, '|', &rest);
        if (item.length > 0) job_text_set(&copy, item);
    }
    *values = copy;
    return values;
}

static inline const struct job_values *job_text(const char *format, ...) __attribute__((format(printf, 1, 2)));
static inline const struct job_values *job_text(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const struct job_values *values = job_text_add(NULL, format, arguments);
    va_end(arguments);
    return values;
}

/* A copy of the job with these fields added or replaced. */
static inline const struct job_values *job_with(const struct job_values *base, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static inline const struct job_values *job_with(const struct job_values *base, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const struct job_values *values = job_text_add(base, format, arguments);
    va_end(arguments);
    return values;
}

#endif
