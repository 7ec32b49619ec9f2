/* Trackable resources: what jobs ask for, get and are billed for. A table gives each an index; amounts by index, weights by
 * index and lists of (index, amount) are what everything else works on.
 *
 *     index  0    1    2       3     4        5        6     7      8         9
 *     id     1    2    3       4     5        6        7     8      1001      1002
 *     name   cpu  mem  energy  node  billing  fs/disk  vmem  pages  gres/gpu  license/matlab
 *
 * The first eight are always there; AccountingStorageTRES appends the others, in order of appearance, and never takes one
 * away. Units: mem and bb in MiB, energy in joules, the others plain counts. A typed GRES (gres/gpu:tesla) counts for its
 * generic one (gres/gpu) too, where both are in the table.
 * Source: docs/formulas.md 3; Slurm 22.05.8. */
#ifndef FAIRLEAD_POLICY_TRES_H
#define FAIRLEAD_POLICY_TRES_H

#include "base/arena.h"
#include "base/array.h"
#include "base/err.h"
#include "base/str.h"
#include "base/text.h"

enum tres_type {
    TRES_TYPE_BB,
    TRES_TYPE_BILLING,
    TRES_TYPE_CPU,
    TRES_TYPE_ENERGY,
    TRES_TYPE_FS,
    TRES_TYPE_GRES,
    TRES_TYPE_IC,
    TRES_TYPE_LICENSE,
    TRES_TYPE_MEM,
    TRES_TYPE_NODE,
    TRES_TYPE_PAGES,
    TRES_TYPE_VMEM,
    TRES_TYPE_COUNT
};

enum {
    TRES_CPU,
    TRES_MEM,
    TRES_ENERGY,
    TRES_NODE,
    TRES_BILLING,
    TRES_FS_DISK,
    TRES_VMEM,
    TRES_PAGES,
    TRES_STATIC_COUNT,
    TRES_MAX = 64, /* in one table */
    TRES_FIRST_OWN_ID = 1001
};

struct tres {
    enum tres_type type;
    const char *name; /* behind the '/': "gpu", "gpu:tesla"; NULL for those without */
    const char *text; /* "gres/gpu:tesla" */
    uint32_t id;
    uint32_t generic; /* index of gres/gpu for gres/gpu:tesla; NONE */
};

/* Names live as long as the arena that tres_table_make was given. */
struct tres_table {
    uint32_t count;
    struct tres items[TRES_MAX];
};

/* What a job asks for or has, and what is left when counts of 0 are not said: sorted by index, each index once. */
struct tres_amount {
    uint32_t tres;
    double amount;
};
struct tres_list {
    struct tres_amount *items;
    uint32_t count;
};

/* The table for a value of AccountingStorageTRES ("gres/gpu,license/matlab"; one of the first eight may be named and says
 * nothing). ERR_INPUT names what, the item and what is accepted: an unknown type, a name missing where one is needed (bb,
 * gres, license, fs, ic) or given where none is, more than TRES_MAX. */
int tres_table_make(struct tres_table *t, struct str tracked, const char *what, struct arena *arena, struct err *e);

/* Index of "type" or "type/name" (type any case, name exactly), or NONE. */
uint32_t tres_find(const struct tres_table *t, struct str text);

/* Reads "cpu=4,mem=8G,gres/gpu=1": counts with suffix K M G T P, in 1024s relative to the type's base unit (mem and bb: M);
 * a suffix below the base unit scales nothing; before one that scales a fraction may stand ("mem=62.50G"), and what is
 * less than a base unit of the result is dropped. ERR_INPUT names what and the item: a TRES that is not in the table, a
 * count that is no whole number from 0 to 2^53, the same one twice. Items in arena, room for t->count of them. */
int tres_list_parse(const struct tres_table *t, struct str text, const char *what, struct arena *arena,
                    struct tres_list *out_list, struct err *e);

/* "cpu=4,mem=8192,gres/gpu=1" in order of index; amounts in full, those that are no whole number as short as reads back. */
void tres_list_format(const struct tres_table *t, const struct tres_list *list, struct buf *out);

/* Adds to every generic GRES that is in the table and not in the list what its typed ones have. list's items: room for
 * t->count. */
void tres_list_add_generic(const struct tres_table *t, struct tres_list *list);

/* An amount by index; 0 when it is not in the list. */
double tres_amount_of(const struct tres_list *list, uint32_t tres);

/* Reads weights, "CPU=1.0,Mem=0.25G,GRES/gpu=2.0": a suffix divides by 1024^(its unit - the base unit) where that is above
 * 1. Negative weights and exponents are legal, from -1e15 to 1e15, so that no sum of amounts overflows. out_weights:
 * t->count entries; what is not named weighs 0; a weight of billing is read and ignored. ERR_INPUT names what and the
 * item: also one that stands there twice. */
int tres_weights_parse(const struct tres_table *t, struct str text, const char *what, double *out_weights,
                       struct err *e);

#endif
