/* Charges with decay, by the rules that were in force at each time: half-lives by epoch, and the NoDecay flag of a QOS
 * by segment.
 *
 *     half-life   |---- H0 ----|------- H1 -------|-- H2 --- reference
 *     QOS         |--- decays --------|-- NoDecay --|--- decays -
 *
 * E(t) is the number of halvings from t to the reference: the sum of the epochs' lengths from t on, each divided by its
 * half-life (negative after the reference). The segments of NoDecay do not count for a QOS.
 * All of it is in 80 bits where the machine has them, to be more exact than the engine's doubles. */
#ifndef FAIRLEAD_STORE_VERIFY_DECAY_H
#define FAIRLEAD_STORE_VERIFY_DECAY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"

/* A time in which a task was charged. */
struct charged_span {
    int64_t from_us, to_us;
};

struct epoch {
    int64_t from_us, halflife_us;
    long double exponent; /* E(from_us) */
};
struct epochs {
    ARRAY(struct epoch) list; /* in order; the first began with the database */
};

/* A time without a change of a QOS' NoDecay flag. */
struct segment {
    int64_t from_us, seq; /* seq: of the change in the usage journal; segments are in this order */
    bool decays;
    long double shift; /* halvings from its end on that E counts, but the QOS does not have */
};
struct segments {
    ARRAY(struct segment) list;
};

/* Computes the exponents, once all epochs are in the list. */
void epochs_finish(struct epochs *e, int64_t reference_us);

/* Usage at the reference, in unit-seconds, of one unit from from_us to to_us. first: the index of the epoch whose
 * half-life also applies to the time before it; usually 0. O(epochs). */
long double epochs_charge(const struct epochs *e, uint32_t first, int64_t from_us, int64_t to_us);

/* E(at_us). O(epochs). */
long double epochs_halvings(const struct epochs *e, int64_t at_us);

/* Begins the history of a QOS; adds a change of its flag, in order of seq; computes the shifts. */
void segments_begin(struct segments *s, bool decays);
void segments_add(struct segments *s, int64_t at_us, int64_t seq, bool decays);
void segments_finish(struct segments *s, const struct epochs *e);

/* The same as epochs_charge for a QOS. seq: the journal entry whose rules also apply to the time before it; usually 0.
 * O(segments x epochs). */
long double segments_charge(const struct segments *s, const struct epochs *e, uint32_t first, int64_t seq,
                            int64_t from_us, int64_t to_us);

/* The same for a QOS, whose segments without decay do not count. O(segments + epochs). */
long double segments_halvings(const struct segments *s, const struct epochs *e, int64_t at_us);

#endif
