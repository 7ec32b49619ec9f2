/* Who is first of many whose values all change at once: a kinetic tournament. A racer is worth
 *
 *     value  =  ((weight share pool / X) + common_1 + .. + common_4) + held        X = base, or base + share
 *
 * at a moment with a base and four common terms. From moment to moment base grows, the common terms shrink, and neither
 * asks all the racers: a match in the tournament is played again only when its result may have changed. The greatest
 * value is first, of equal ones the smallest place.
 *
 * Results are exactly those of computing every value in doubles, in that order of operations, and comparing. */
#ifndef FAIRLEAD_POLICY_TOURNAMENT_H
#define FAIRLEAD_POLICY_TOURNAMENT_H

#include "base/arena.h"
#include "base/array.h"

enum { TOURNAMENT_COMMON_COUNT = 4 };

struct tournament_context {
    double weight, pool;
    double base; /* above 0; never smaller than at a moment before */
    bool adds_own;
    double common[TOURNAMENT_COMMON_COUNT]; /* not negative; none ever greater than at a moment before */
};

struct tournament_player {
    double share, held; /* not negative */
    uint32_t place;     /* no two alike; NONE: not in the race */
    uint32_t index;     /* which racer it is; set by tournament_set */
};

/* Match i is between the winners of 2i and 2i + 1; from count on a racer each. */
struct tournament_match {
    struct tournament_player winner;
    double until; /* the match and those below it stand as long as base is less */
};

struct tournament {
    struct tournament_match *matches;
    uint32_t count;
    double max; /* the first's value when last looked at; no racer's is more; below 0: not yet looked */
};

/* With room for count racers, none in the race yet. */
struct tournament tournament_make(uint32_t count, struct arena *arena);

/* Puts a racer in, before the first look; changes or removes it later, when its value must not rise. O(log n) */
void tournament_set(struct tournament *r, uint32_t i, struct tournament_player racer);

/* The first at that moment, or NULL; good until the next change. O(log n) for each match to be played again. */
const struct tournament_player *tournament_first(struct tournament *r, const struct tournament_context *m);

double tournament_value(const struct tournament_player *racer, const struct tournament_context *m);

#endif
