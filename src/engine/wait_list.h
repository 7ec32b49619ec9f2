/* A list of sentences about a waiting job, and what they are written from. Internal to wait_sentences.c and
 * wait_needs.c. */
#ifndef FAIRLEAD_ENGINE_WAIT_LIST_H
#define FAIRLEAD_ENGINE_WAIT_LIST_H

#include "base/map.h"
#include "engine/wait_sentences.h"

struct wait_list {
    const struct wait_view *v;
    const struct job *j;
    const struct demand *d;
    enum wait_question question;
    struct arena *arena;
    ARRAY(const char *) items;
    struct map seen;      /* the text of an item -> its index */
    uint32_t quota_count; /* items about quotas */
    struct buf text;      /* of the next sentence */
    const char *requests; /* "(-l gpu=2,h_rt=90000)" */
};

/* Appends list->text, unless the list has the same sentence, and empties it. Returns whether it was appended. O(1). */
bool wait_list_add(struct wait_list *list);

/* "(-l gpu=2,h_rt=90000)": what the job requests by name, in the order of the names. extra: "slots=4", or NULL; alone
 * if the job requests nothing. */
const char *wait_needs_text(const struct wait_list *list, const char *extra);

/* Whether what the job needs is free at the level of the whole cluster; on the host of an instance and in the instance.
 * slots: so many times what each slot needs. If not, one sentence is added. */
bool wait_needs_check_global(struct wait_list *list, uint32_t slots);
bool wait_needs_check_instance(struct wait_list *list, uint32_t instance, uint32_t slots);

/* Appends a threshold that a host's load value has passed, to list->text: "np_load_avg=3.000000 (no load adjustment) >=
 * 1.75". */
void wait_needs_add_threshold(struct wait_list *list, uint32_t instance, const struct load_threshold *t);

#endif
