/* Who is first of many whose values all change at once: a kinetic tournament. A racer is worth
 *
 *     value  =  ((weight share pool / X) + common_1 + .. + common_4) + held        X = base, or base + share
 *
 * at a moment with a base and four common terms. From moment to moment base grows, the common terms shrink, and neither
 * asks all the racers: a match in the tournament is played again only when its result may have changed. The greatest
 * value is first, of equal ones the smallest place.
 *
 * Results are exactly those of computing every value in doubles, in that order of operations, and comparing. */
#ifndef FAIRLEAD_POLICY_RACE_H
#define FAIRLEAD_POLICY_RACE_H

#include "base/arena.h"
#include "base/array.h"

enum { RACE_COMMON_COUNT = 4 };

struct race_moment {
    double weight, pool;
    double base; /* above 0; never smaller than at a moment before */
    bool adds_own;
    double common[RACE_COMMON_COUNT]; /* not negative; none ever greater than at a moment before */
};

struct racer {
    double share, held; /* not negative */
    uint32_t place;     /* no two alike; NONE: not in the race */
    uint32_t index;     /* which racer it is; set by race_set */
};

/* Match i is between the winners of 2i and 2i + 1; from count on a racer each. */
struct race_match {
    struct racer winner;
    double until; /* the match and those below it stand as long as base is less */
};

struct race {
    struct race_match *matches;
    uint32_t count;
    double most; /* the first's value when last looked at; no racer's is more; below 0: not yet looked */
};

/* With room for count racers, none in the race yet. */
struct race race_make(uint32_t count, struct arena *arena);

/* Puts a racer in, before the first look; changes or removes it later, when its value must not rise. O(log n) */
void race_set(struct race *r, uint32_t i, struct racer racer);

/* The first at that moment, or NULL; good until the next change. O(log n) for each match to be played again. */
const struct racer *race_first(struct race *r, const struct race_moment *m);

double race_value(const struct racer *racer, const struct race_moment *m);

#endif
