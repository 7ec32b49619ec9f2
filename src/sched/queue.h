/* The pending queue: groups of jobs that differ only in their position, so that only the first job of each group
 * competes with those of other groups.
 *
 *     group "ann, 4 CPUs"   17  21  30  44        17 is before 21 in every order that the caller may have
 *     group "bob, 1 CPU"    18  19
 *     candidates            17, 18; after 17 has started: 21, 18
 *
 * The caller makes the keys: jobs with equal keys have the same priority at the same position, and a larger position
 * never has a higher one. A position is unique in its group. A group exists while it has a job.
 *
 * Costs: adding at the end and removing are O(log n) amortised, n jobs in the group; after an addition elsewhere the
 * next look at the group sorts it, O(n). */
#ifndef FAIRLEAD_SCHED_QUEUE_H
#define FAIRLEAD_SCHED_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"
#include "base/map.h"

struct queue_entry {
    uint64_t position;
    int64_t since_us; /* the caller's, as is the job */
    uint32_t job;
    bool is_removed;
};

struct queue_group {
    char *key; /* NULL: no group */
    uint32_t key_length;
    ARRAY(struct queue_entry) entries;
    uint32_t first;  /* the entries before it were removed */
    uint32_t sorted; /* the entries before it are in order of position */
    uint32_t live;   /* entries that were not removed */
};

/* All zero: empty. */
struct queue {
    ARRAY(struct queue_group) groups; /* also unused ones: key NULL */
    ARRAY(uint32_t) unused;
    struct map by_key;
};

/* queue_release frees it; queue_clear empties it, and keeps its memory. */
void queue_release(struct queue *q);
void queue_clear(struct queue *q);

/* Adds a job to the group of a key. Returns the group's index, by which the job is removed. */
uint32_t queue_add(struct queue *q, struct str key, uint64_t position, uint32_t job, int64_t since_us);

/* The job is in the group. */
void queue_remove(struct queue *q, uint32_t group, uint64_t position);

/* The index of the first entry at or after an index that was not removed; NONE: there is none. 0 begins. */
uint32_t queue_next(struct queue *q, uint32_t group, uint32_t at);

/* The index of the entry at a position, which is there and was not removed. O(log n). */
uint32_t queue_find(struct queue *q, uint32_t group, uint64_t position);

/* The index of the last entry that was not removed. The group exists. */
uint32_t queue_last(struct queue *q, uint32_t group);

/* The order of candidates by priority; the tier of the partition comes first. */
static inline uint64_t sort_key_priority(uint32_t tier, uint32_t priority)
{
    return (uint64_t)tier << 32 | priority;
}

/* --- the candidates of a run -------------------------------------------------------------------------------------- */

struct queue_candidate {
    uint64_t order;    /* highest first */
    uint64_t position; /* of equal orders the smallest first */
    uint32_t group, at;
};

/* A heap of candidates. */
struct queue_candidates {
    ARRAY(struct queue_candidate) list;
};

/* Adds a candidate to a heap. O(log candidates). */
void queue_push(struct queue_candidates *c, struct queue_candidate candidate);

/* Makes a heap of candidates that were added to the list in any order. O(candidates). */
void queue_order(struct queue_candidates *c);

/* Whether a comes before b. */
bool queue_is_before(const struct queue_candidate *a, const struct queue_candidate *b);

/* The best one, removed. The list is not empty. */
struct queue_candidate queue_pop(struct queue_candidates *c);

/* The best of many candidates. What was left out comes after `last`. */
struct queue_shortlist {
    struct queue_candidates best;
    uint32_t max;
    bool has_more;               /* some were left out */
    double order_min;            /* a candidate with a lower order is left out */
    struct queue_candidate last; /* the worst one that was kept */
};

/* Empties it. */
void queue_shortlist_begin(struct queue_shortlist *s, uint32_t max);

/* Keeps the best ones of those that are offered. O(1) for most of many. */
void queue_shortlist_offer(struct queue_shortlist *s, struct queue_candidate candidate);

/* After the last offer. From now on `best` is a heap, the best one first. O(max). */
void queue_shortlist_end(struct queue_shortlist *s);

#endif
