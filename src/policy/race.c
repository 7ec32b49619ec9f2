/* The tournament is a binary tree in arrays: match i is between the winners of 2i and 2i + 1, leaf count + i is racer i.
 *
 *     match          1             until: for how long it stands, by the base that everybody's value depends on,
 *                 2     3          at most as long as the matches below it; 0: play it again every time
 *     leaves     4 5   6 7         a change of a racer sets until to 0 on its way up
 *
 * A match stands as long as the winner leads, and how the lead changes is known. With e = weight pool (share_w - share_l),
 * h = held_w - held_l, y = share where X adds it, else 0, the lead at a base B is
 *
 *     lead(B)  =  e B / ((B + y_w) (B + y_l)) + h
 *
 * of which for all B after a base A:   B / (B + y_w) >= A / (A + y_w)   and   B / ((B + y_w) (B + y_l)) <= 1 / (A + y)
 * with y the lesser. These give a base until which the lead is at least some margin. The margin is the most that rounding
 * can make of two values: each is a sum of up to five terms of four operations each, none negative, so it is off by less
 * than 16 2^-53 of itself, and values only shrink. Below the margin doubles decide, so the match is played every time;
 * that is rare but where the shares do not matter (weight 2^-47 of the rest).
 *
 * Source: kinetic tournaments are due to Basch, Guibas and Hershberger, "Data structures for mobile data", 1999. */
#include "policy/race.h"

#include <math.h>

static const double MARGIN = 0x1p-47;

struct race race_make(uint32_t count, struct arena *arena)
{
    struct race r = {
        .racers = arena_alloc(arena, count * sizeof *r.racers),
        .count = count,
        .winner = arena_alloc(arena, 2 * (size_t)count * sizeof *r.winner),
        .until = arena_alloc(arena, 2 * (size_t)count * sizeof *r.until),
    };
    for (uint32_t i = 0; i < count; i++) {
        r.racers[i].place = NONE;
        r.winner[count + i] = i;
        r.until[count + i] = INFINITY;
    }
    return r;
}

void race_set(struct race *r, uint32_t i, struct racer racer)
{
    r->racers[i] = racer;
    for (uint32_t match = (r->count + i) / 2; match > 0; match /= 2) r->until[match] = 0.0;
}

double race_value(const struct racer *racer, const struct race_moment *m)
{
    double value = m->weight * racer->share * m->pool / (m->adds_own ? m->base + racer->share : m->base);
    for (int k = 0; k < RACE_COMMON_COUNT; k++) value += m->common[k];
    return value + racer->held;
}

/* Until which base the winner stays ahead of the loser; 0 when rounding may decide already. */
static double stands_until(const struct racer *w, const struct racer *l, double winning, const struct race_moment *m)
{
    if (w->share == l->share && w->held == l->held) return INFINITY; /* equal for ever: the place decides */
    bool is_dominant = w->share >= l->share && w->held >= l->held && w->place < l->place;
    if (is_dominant && !m->adds_own) return INFINITY; /* each operation keeps the order */

    double margin = MARGIN * winning;
    double e = m->weight * m->pool * (w->share - l->share), h = w->held - l->held;
    double y_w = m->adds_own ? w->share : 0.0, y_l = m->adds_own ? l->share : 0.0;
    double until;
    if (e >= 0.0) {
        if (h >= margin) return INFINITY;
        until = e / ((1.0 + y_w / m->base) * (margin - h)) - y_l;
    } else {
        if (h - margin > -e / (m->base + y_w)) return INFINITY;
        until = (h - margin) * (m->base + y_w) * (m->base + y_l) / -e;
    }
    return until > m->base ? until : 0.0;
}

static void play(struct race *r, uint32_t match, const struct race_moment *m)
{
    uint32_t a = r->winner[2 * match], b = r->winner[2 * match + 1];
    const struct racer *left = &r->racers[a], *right = &r->racers[b];
    double until = fmin(r->until[2 * match], r->until[2 * match + 1]);
    bool is_left = left->place != NONE;
    if (left->place != NONE && right->place != NONE) {
        double of_left = race_value(left, m), of_right = race_value(right, m);
        is_left = of_left > of_right || (of_left == of_right && left->place < right->place);
        double stands = is_left ? stands_until(left, right, of_left, m) : stands_until(right, left, of_right, m);
        until = fmin(until, stands);
    }
    r->winner[match] = is_left ? a : b;
    r->until[match] = until;
}

static void refresh(struct race *r, uint32_t match, const struct race_moment *m)
{
    if (m->base < r->until[match]) return;
    refresh(r, 2 * match, m);
    refresh(r, 2 * match + 1, m);
    play(r, match, m);
}

uint32_t race_first(struct race *r, const struct race_moment *m)
{
    if (r->count == 0) return NONE;
    refresh(r, 1, m);
    uint32_t first = r->winner[1];
    return r->racers[first].place == NONE ? NONE : first;
}
