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
 * with y the lesser. These give a base until which the lead is more than a margin: the most that rounding can make of two
 * values. Each is a sum of up to six terms of four operations each, none negative, so it is off by less than 16 2^-53 of
 * itself, and no value ever exceeds the first one's. So nobody's value is computed but the first one's, and that of
 * two who are closer than the margin: then doubles decide, and the match is played every time. That is rare but where the
 * shares do not matter (2^-47 of the rest).
 *
 * Source: kinetic tournaments are due to Basch, Guibas and Hershberger, "Data structures for mobile data", 1999. */
#include "policy/tournament.h"

#include <math.h>

static const double MARGIN = 0x1p-47;

struct tournament tournament_make(uint32_t count, struct arena *arena)
{
    struct tournament r = {
        .matches = arena_alloc(arena, 2 * (size_t)count * sizeof *r.matches),
        .count = count,
        .max = -1.0,
    };
    for (uint32_t i = 0; i < count; i++) {
        r.matches[count + i] = (struct tournament_match){.winner = {.place = NONE, .index = i}, .until = INFINITY};
    }
    return r;
}

void tournament_set(struct tournament *r, uint32_t i, struct tournament_player racer)
{
    racer.index = i;
    r->matches[r->count + i].winner = racer;
    /* Where until is 0 already, it is 0 above. */
    for (uint32_t match = (r->count + i) / 2; match > 0 && r->matches[match].until > 0.0; match /= 2) {
        r->matches[match].until = 0.0;
    }
}

double tournament_value(const struct tournament_player *racer, const struct tournament_context *m)
{
    double value = m->weight * racer->share * m->pool / (m->adds_own ? m->base + racer->share : m->base);
    for (int k = 0; k < TOURNAMENT_COMMON_COUNT; k++) value += m->common[k];
    return value + racer->held;
}

/* A moment, and what all matches played at it have in common. */
struct view {
    const struct tournament_context *moment;
    double scale;  /* weight pool */
    double rate;   /* of it over base */
    double margin; /* a lead that rounding cannot turn */
};

/* How far the first racer is ahead of the second. */
static double lead_of(const struct tournament_player *a, const struct tournament_player *b, const struct view *v)
{
    double share = a->share - b->share, held = a->held - b->held;
    if (!v->moment->adds_own) return share * v->rate + held;
    double base = v->moment->base;
    return share * v->scale * base / ((base + a->share) * (base + b->share)) + held;
}

/* Until which base a winner who leads by more than the margin does so. */
static double stands_until(const struct tournament_player *w, const struct tournament_player *l, const struct view *v)
{
    double e = v->scale * (w->share - l->share), h = w->held - l->held, base = v->moment->base;
    double y_w = v->moment->adds_own ? w->share : 0.0, y_l = v->moment->adds_own ? l->share : 0.0;
    if (e < 0.0) {
        bool is_held_enough = h - v->margin > -e / (base + y_w);
        return is_held_enough ? INFINITY : (h - v->margin) * (base + y_w) * (base + y_l) / -e;
    }
    return h >= v->margin ? INFINITY : e / ((1.0 + y_w / base) * (v->margin - h)) - y_l;
}

/* Plays two racers who are so close that doubles decide. */
static bool play_close(const struct tournament_player *left, const struct tournament_player *right,
                       const struct view *v, double *out_until)
{
    double of_left = tournament_value(left, v->moment), of_right = tournament_value(right, v->moment);
    bool is_left = of_left > of_right || (of_left == of_right && left->place < right->place);
    const struct tournament_player *w = is_left ? left : right, *l = is_left ? right : left;
    /* Each operation keeps the order, so who has no less of anything is never behind. */
    bool is_always = !v->moment->adds_own && w->share >= l->share && w->held >= l->held && w->place < l->place;
    *out_until = is_always ? INFINITY : 0.0;
    return is_left;
}

/* Plays two who are in the race; returns whether the left one wins. */
static bool play(const struct tournament_player *left, const struct tournament_player *right, const struct view *v,
                 double *out_until)
{
    *out_until = INFINITY;
    if (left->share == right->share && left->held == right->held) return left->place < right->place;
    double lead = lead_of(left, right, v);
    if (!(fabs(lead) > v->margin)) return play_close(left, right, v, out_until);
    *out_until = lead > 0.0 ? stands_until(left, right, v) : stands_until(right, left, v);
    return lead > 0.0;
}

static void refresh(struct tournament *r, uint32_t match, const struct view *v)
{
    if (v->moment->base < r->matches[match].until) return;
    refresh(r, 2 * match, v);
    refresh(r, 2 * match + 1, v);
    const struct tournament_match *left = &r->matches[2 * match], *right = &r->matches[2 * match + 1];
    double until = INFINITY;
    bool is_left = left->winner.place != NONE;
    if (is_left && right->winner.place != NONE) is_left = play(&left->winner, &right->winner, v, &until);
    if (left->until < until) until = left->until;
    if (right->until < until) until = right->until;
    r->matches[match] = is_left ? *left : *right;
    r->matches[match].until = until;
}

/* No racer is worth more, from now on. */
static double max_of_all(const struct tournament *r, const struct tournament_context *m)
{
    double max = 0.0;
    for (uint32_t i = r->count; i < 2 * r->count; i++) {
        if (r->matches[i].winner.place != NONE) max = fmax(max, tournament_value(&r->matches[i].winner, m));
    }
    return max;
}

const struct tournament_player *tournament_first(struct tournament *r, const struct tournament_context *m)
{
    if (r->count == 0) return NULL;
    if (r->max < 0.0) r->max = max_of_all(r, m);
    double scale = m->weight * m->pool;
    struct view v = {.moment = m, .scale = scale, .rate = scale / m->base, .margin = MARGIN * r->max};
    refresh(r, 1, &v);
    const struct tournament_player *first = &r->matches[1].winner;
    if (first->place == NONE) return NULL;
    r->max = tournament_value(first, m);
    return first;
}
