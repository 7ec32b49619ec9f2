/* A kinetic tournament: the best of many players whose values all change at once. A player's value is
 *
 *     value  =  ((weight share pool / X) + common_1 + .. + common_4) + tickets_so_far        X = base, or base + share
 *
 * The context has the base and the four common terms. From one context to the next the base grows and the common terms
 * shrink. That does not touch every player: a match of the tournament is played again only when its result may have
 * changed. The player with the largest value is first, among equal ones the player with the smallest rank.
 *
 * The result is exactly that of computing every value in doubles, in that order of operations, and comparing them. */
#ifndef FAIRLEAD_POLICY_TOURNAMENT_H
#define FAIRLEAD_POLICY_TOURNAMENT_H

#include "base/arena.h"
#include "base/array.h"

enum { TOURNAMENT_COMMON_COUNT = 4 };

struct tournament_context {
    double weight, pool;
    double base;                            /* above 0; never smaller than in an earlier context */
    bool adds_share;                        /* X is base + share */
    double common[TOURNAMENT_COMMON_COUNT]; /* not negative; none is ever larger than in an earlier context */
};

struct tournament_player {
    double share, tickets_so_far; /* not negative */
    uint32_t rank;                /* no two players have the same; NONE: does not compete */
    uint32_t index;               /* set by tournament_set */
};

/* Match i is between the winners of 2i and 2i + 1. From count on, each entry is a player. */
struct tournament_match {
    struct tournament_player winner;
    double valid_below; /* the results of the match and of those below it hold as long as base is less */
};

struct tournament {
    struct tournament_match *matches;
    uint32_t count;
    double
        max; /* the first player's value when it was last computed; no player's is larger; below 0: not computed yet */
};

/* A tournament for count players, none of which is set yet. */
struct tournament tournament_make(uint32_t count, struct arena *arena);

/* Sets player i. Before the first call of tournament_first any player can be set; later a player can be removed, or
 * changed so that its value does not rise. O(log n) */
void tournament_set(struct tournament *t, uint32_t i, struct tournament_player player);

/* The first player in a context, or NULL; valid until the next change. O(log n) for each match that is played again. */
const struct tournament_player *tournament_first(struct tournament *t, const struct tournament_context *c);

/* What players are compared by, in a context. */
double tournament_value(const struct tournament_player *player, const struct tournament_context *c);

#endif
