#include "store/verify_decay.h"

#include <math.h>

#include "base/ensure.h"

static const long double LN2 = 0.693147180559945309417232121458176568L;
static const long double SECOND_US = 1e6L;

/* From the last epoch back: usage decays over the rest of its own epoch and then over all later ones. */
void epochs_finish(struct epochs *e, int64_t reference_us)
{
    long double exponent = 0;
    int64_t to_us = reference_us;
    for (uint32_t i = e->list.count; i-- > 0;) {
        struct epoch *epoch = &e->list.items[i];
        if (epoch->halflife_us > 0) exponent += (long double)(to_us - epoch->from_us) / (long double)epoch->halflife_us;
        epoch->exponent = exponent;
        to_us = epoch->from_us;
    }
}

static uint32_t epoch_at(const struct epochs *e, int64_t at_us)
{
    uint32_t i = e->list.count - 1;
    while (i > 0 && e->list.items[i].from_us > at_us) i--;
    return i;
}

long double epochs_halvings(const struct epochs *e, int64_t at_us)
{
    const struct epoch *epoch = &e->list.items[epoch_at(e, at_us)];
    if (epoch->halflife_us == 0) return epoch->exponent;
    return epoch->exponent - (long double)(at_us - epoch->from_us) / (long double)epoch->halflife_us;
}

/* Inside one epoch. shift: halvings that are not applied. */
static long double charge_in(const struct epoch *epoch, int64_t from_us, int64_t to_us, long double shift)
{
    long double passed = (long double)(to_us - from_us), halflife = (long double)epoch->halflife_us;
    if (epoch->halflife_us == 0) return passed / SECOND_US * exp2l(shift - epoch->exponent);
    long double charge = halflife / SECOND_US / LN2 * -expm1l(-LN2 * (passed / halflife));
    return charge * exp2l((long double)(to_us - epoch->from_us) / halflife - epoch->exponent + shift);
}

static long double charge_over(const struct epochs *e, uint32_t first, int64_t from_us, int64_t to_us,
                               long double shift)
{
    long double total = 0;
    for (uint32_t i = first; i < e->list.count && from_us < to_us; i++) {
        int64_t until_us = i + 1 < e->list.count ? e->list.items[i + 1].from_us : INT64_MAX;
        if (until_us > to_us) until_us = to_us;
        if (until_us <= from_us) continue;
        total += charge_in(&e->list.items[i], from_us, until_us, shift);
        from_us = until_us;
    }
    return total;
}

long double epochs_charge(const struct epochs *e, uint32_t first, int64_t from_us, int64_t to_us)
{
    return charge_over(e, first, from_us, to_us, 0);
}

/* --- a QOS -------------------------------------------------------------------------------------------------------- */

void segments_begin(struct segments *s, bool decays)
{
    ensure(s->list.count == 0);
    *array_add(&s->list) = (struct segment){.from_us = INT64_MIN, .decays = decays};
}

void segments_add(struct segments *s, int64_t at_us, int64_t seq, bool decays)
{
    *array_add(&s->list) = (struct segment){.from_us = at_us, .seq = seq, .decays = decays};
}

/* From the last one back. Usage at time t in a segment that decays has E(t) - E(segment's end) halvings plus those of
 * the QOS after the segment; in another segment it has only the latter. */
void segments_finish(struct segments *s, const struct epochs *e)
{
    long double later = 0; /* halvings of the QOS after the segment */
    for (uint32_t i = s->list.count; i-- > 0;) {
        struct segment *segment = &s->list.items[i];
        bool is_last = i + 1 == s->list.count;
        long double end = is_last ? 0 : epochs_halvings(e, s->list.items[i + 1].from_us);
        segment->shift = segment->decays ? end - later : -later;
        if (segment->decays && i > 0) later += epochs_halvings(e, segment->from_us) - end;
    }
}

long double segments_charge(const struct segments *s, const struct epochs *e, uint32_t first, int64_t seq,
                            int64_t from_us, int64_t to_us)
{
    long double total = 0;
    for (uint32_t i = 0; i < s->list.count && from_us < to_us; i++) {
        const struct segment *segment = &s->list.items[i];
        bool is_last = i + 1 == s->list.count;
        if (!is_last && segment[1].seq < seq) continue;
        int64_t until_us = is_last ? to_us : segment[1].from_us;
        if (until_us > to_us) until_us = to_us;
        if (until_us <= from_us) continue;
        if (segment->decays)
            total += charge_over(e, first, from_us, until_us, segment->shift);
        else
            total += (long double)(until_us - from_us) / SECOND_US * exp2l(segment->shift);
        from_us = until_us;
    }
    return total;
}

long double segments_halvings(const struct segments *s, const struct epochs *e, int64_t at_us)
{
    uint32_t i = s->list.count - 1;
    while (i > 0 && s->list.items[i].from_us > at_us) i--;
    const struct segment *segment = &s->list.items[i];
    return (segment->decays ? epochs_halvings(e, at_us) : 0) - segment->shift;
}
