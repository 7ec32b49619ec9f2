/* The tournament is a binary tree in an array: match i is between the winners of 2i and 2i + 1, leaf count + i is
 * player i.
 *
 *     match          1             valid_below: the base up to which the result holds, at most that of the two
 *                 2     3          matches below; 0: the match is played every time
 *     leaves     4 5   6 7         setting a player makes it 0 in all matches above
 *
 * A result holds as long as the winner leads, and how the lead changes is known. With e = weight pool (share_w -
 * share_l), h = tickets_so_far_w - tickets_so_far_l, and y = share if X adds it, else 0, the lead at a base B is
 *
 *     lead(B)  =  e B / ((B + y_w) (B + y_l)) + h
 *
 * For all B after a base A:   B / (B + y_w) >= A / (A + y_w)   and   B / ((B + y_w) (B + y_l)) <= 1 / (A + y)
 * with y the smaller of the two. From these follows a base up to which the lead is larger than a margin, the maximum by
 * which rounding can change two values. Each value is a sum of up to six terms of four operations each, none negative,
 * so its error is less than 16 2^-53 of itself, and no value ever exceeds that of the first player.
 *
 * So only the first player's value is computed, and those of two players that are closer than the margin. The computed
 * values then decide, and the match is played every time. That is rare unless shares do not matter (2^-47 of the rest).
 *
 * Source: Basch, Guibas and Hershberger, "Data structures for mobile data", 1999, introduced kinetic tournaments. */
#include "policy/tournament.h"

#include <math.h>

#include "base/ensure.h"

static const double MARGIN = 0x1p-47;

struct tournament tournament_make(uint32_t count, struct arena *arena)
{
    struct tournament t = {
        .matches = arena_alloc(arena, 2 * (size_t)count * sizeof *t.matches),
        .count = count,
        .max = -1.0,
    };
    for (uint32_t i = 0; i < count; i++) {
        t.matches[count + i] = (struct tournament_match){.winner = {.rank = NONE, .index = i}, .valid_below = INFINITY};
    }
    return t;
}

void tournament_set(struct tournament *t, uint32_t i, struct tournament_player player)
{
    ensure(i < t->count);
    player.index = i;
    t->matches[t->count + i].winner = player;
    /* If valid_below of a match is 0, it is 0 in all matches above. */
    for (uint32_t match = (t->count + i) / 2; match > 0 && t->matches[match].valid_below > 0.0; match /= 2) {
        t->matches[match].valid_below = 0.0;
    }
}

double tournament_value(const struct tournament_player *player, const struct tournament_context *c)
{
    double value = c->weight * player->share * c->pool / (c->adds_share ? c->base + player->share : c->base);
    for (int k = 0; k < TOURNAMENT_COMMON_COUNT; k++) value += c->common[k];
    return value + player->tickets_so_far;
}

/* A context, and the values that all matches in it share. */
struct play_context {
    const struct tournament_context *context;
    double scale;  /* weight pool */
    double rate;   /* scale / base */
    double margin; /* rounding cannot reverse a lead above it */
};

/* How far player a leads player b. */
static double lead_of(const struct tournament_player *a, const struct tournament_player *b,
                      const struct play_context *p)
{
    double share = a->share - b->share, so_far = a->tickets_so_far - b->tickets_so_far;
    if (!p->context->adds_share) return share * p->rate + so_far;
    double base = p->context->base;
    return share * p->scale * base / ((base + a->share) * (base + b->share)) + so_far;
}

/* The base up to which the winner, whose lead is above the margin, keeps such a lead. */
static double find_valid_below(const struct tournament_player *winner, const struct tournament_player *loser,
                               const struct play_context *p)
{
    bool adds_share = p->context->adds_share;
    double e = p->scale * (winner->share - loser->share), h = winner->tickets_so_far - loser->tickets_so_far;
    double base = p->context->base, y_w = adds_share ? winner->share : 0.0, y_l = adds_share ? loser->share : 0.0;
    if (e < 0.0) {
        bool suffices = h - p->margin > -e / (base + y_w);
        return suffices ? INFINITY : (h - p->margin) * (base + y_w) * (base + y_l) / -e;
    }
    return h >= p->margin ? INFINITY : e / ((1.0 + y_w / base) * (p->margin - h)) - y_l;
}

/* Plays two players that are so close that the computed values decide. */
static bool play_close(const struct tournament_player *left, const struct tournament_player *right,
                       const struct play_context *p, double *out_valid_below)
{
    double of_left = tournament_value(left, p->context), of_right = tournament_value(right, p->context);
    bool is_left = of_left > of_right || (of_left == of_right && left->rank < right->rank);
    const struct tournament_player *w = is_left ? left : right, *l = is_left ? right : left;
    /* Every operation is monotonic, even with rounding. So a winner with at least as large a share and as many tickets
     * stays ahead. */
    bool is_final =
        !p->context->adds_share && w->share >= l->share && w->tickets_so_far >= l->tickets_so_far && w->rank < l->rank;
    *out_valid_below = is_final ? INFINITY : 0.0;
    return is_left;
}

/* Plays two players that compete; returns whether the left one wins. */
static bool play(const struct tournament_player *left, const struct tournament_player *right,
                 const struct play_context *p, double *out_valid_below)
{
    *out_valid_below = INFINITY;
    if (left->share == right->share && left->tickets_so_far == right->tickets_so_far) return left->rank < right->rank;
    double lead = lead_of(left, right, p);
    if (!(fabs(lead) > p->margin)) return play_close(left, right, p, out_valid_below);
    *out_valid_below = lead > 0.0 ? find_valid_below(left, right, p) : find_valid_below(right, left, p);
    return lead > 0.0;
}

/* Plays a match and those below it again, as far as their results no longer hold. */
static void refresh(struct tournament *t, uint32_t match, const struct play_context *p)
{
    if (p->context->base < t->matches[match].valid_below) return;
    refresh(t, 2 * match, p);
    refresh(t, 2 * match + 1, p);
    const struct tournament_match *left = &t->matches[2 * match], *right = &t->matches[2 * match + 1];
    double valid_below = INFINITY;
    bool is_left = left->winner.rank != NONE;
    if (is_left && right->winner.rank != NONE) is_left = play(&left->winner, &right->winner, p, &valid_below);
    if (left->valid_below < valid_below) valid_below = left->valid_below;
    if (right->valid_below < valid_below) valid_below = right->valid_below;
    t->matches[match] = is_left ? *left : *right;
    t->matches[match].valid_below = valid_below;
}

/* The largest value. From now on no value is larger. */
static double max_value(const struct tournament *t, const struct tournament_context *c)
{
    double max = 0.0;
    for (uint32_t i = t->count; i < 2 * t->count; i++) {
        if (t->matches[i].winner.rank != NONE) max = fmax(max, tournament_value(&t->matches[i].winner, c));
    }
    return max;
}

const struct tournament_player *tournament_first(struct tournament *t, const struct tournament_context *c)
{
    ensure(c->base > 0.0);
    if (t->count == 0) return NULL;
    if (t->max < 0.0) t->max = max_value(t, c);
    double scale = c->weight * c->pool;
    struct play_context p = {.context = c, .scale = scale, .rate = scale / c->base, .margin = MARGIN * t->max};
    refresh(t, 1, &p);
    const struct tournament_player *first = &t->matches[1].winner;
    if (first->rank == NONE) return NULL;
    t->max = tournament_value(first, c);
    return first;
}
