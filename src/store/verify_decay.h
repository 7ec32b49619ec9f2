/* What a charge comes to, by the rules that were in force meanwhile: half-lives by epoch, and for a QOS whether it faded.
 *
 *     half-life   |---- H0 ----|------- H1 -------|-- H2 --- reference
 *     QOS         |--- fades ---------|-- NoDecay --|--- fades --
 *
 * E(t) is by how many halvings something used at t has faded at the reference: the lengths of the epochs from t on, each
 * divided by its half-life (below 0 behind the reference). A QOS skips what lies in a segment of NoDecay.
 * Everything is 80-bit where the machine has it: this judges the engine's doubles. */
#ifndef FAIRLEAD_STORE_VERIFY_DECAY_H
#define FAIRLEAD_STORE_VERIFY_DECAY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"

struct epoch {
    int64_t from_us, halflife_us;
    long double exponent; /* E(from_us) */
};
struct epochs {
    ARRAY(struct epoch) list; /* in order; the first is the database's own */
};

/* When a QOS' flag was changed. The journal has these in order of seq. */
struct segment {
    int64_t from_us, seq;
    bool fades;
    long double shift; /* halvings that E counts from its end on, and the QOS does not have */
};
struct segments {
    ARRAY(struct segment) list;
};

/* Fills in the exponents. */
void epochs_finish(struct epochs *e, int64_t reference_us);

/* What a rate of one unit a second from from_us to to_us comes to at the reference. first: the epoch whose half-life
 * is taken to have been in force before it, too; 0 for most. */
long double epochs_charge(const struct epochs *e, uint32_t first, int64_t from_us, int64_t to_us);

/* Begins the history of a QOS that fades or not; adds a change; fills in the shifts. */
void segments_begin(struct segments *s, bool fades);
void segments_add(struct segments *s, int64_t at_us, int64_t seq, bool fades);
void segments_finish(struct segments *s, const struct epochs *e);

/* The same for a QOS. seq: the place in the journal whose rules are taken to have been in force before, or 0. */
long double segments_charge(const struct segments *s, const struct epochs *e, uint32_t first, int64_t seq,
                            int64_t from_us, int64_t to_us);

#endif
