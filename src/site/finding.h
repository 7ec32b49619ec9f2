/* What a check of a site's configuration finds: each finding has a position, says what the line does, why that matters,
 * and what to write instead. */
#ifndef FAIRLEAD_SITE_FINDING_H
#define FAIRLEAD_SITE_FINDING_H

#include "formats/conf_pairs.h"

enum finding_level {
    FINDING_NOTE,    /* as it may be meant */
    FINDING_WARNING, /* unlikely to be meant */
    FINDING_ERROR,   /* not accepted */
    FINDING_LEVEL_COUNT
};
extern const char *const finding_level_names[FINDING_LEVEL_COUNT];

struct finding {
    enum finding_level level;
    const struct source *source;
    const char *position;        /* in the source's text */
    const char *text;            /* "PriorityWeightAge=10 has no effect"; in the arena of the findings */
    const char *reason, *advice; /* sentences without a full stop; "" where text says it all */
    uint32_t file;               /* for findings_sort */
};

struct findings {
    ARRAY(struct finding) items;
    ARRAY(const struct source *) files;
    uint32_t counts[FINDING_LEVEL_COUNT];
    struct arena arena;
};

/* Where a finding is, and how much it matters. */
struct finding_place {
    enum finding_level level;
    const struct source *source;
    const char *position;
};

/* The place of a pair's name, or of its value. */
struct finding_place finding_at(enum finding_level level, const struct conf_pair *pair);
struct finding_place finding_at_value(enum finding_level level, const struct conf_pair *pair);

/* Adds a finding. format: of its text, which is cut at 300 bytes. advice may be NULL. */
void findings_add(struct findings *f, struct finding_place place, const char *reason, const char *advice,
                  const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Adds the sentence of an error, without its position. */
void findings_add_error(struct findings *f, struct finding_place place, const struct err *e, const char *advice);

/* Sorts by file, in the order of their first findings, and position. */
void findings_sort(struct findings *f);

void findings_release(struct findings *f);

#endif
