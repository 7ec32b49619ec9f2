/* Trackable resources (TRES): jobs request them, get them and are billed for them. A table gives an index to each.
 * Amounts by index, weights by index and lists of (index, amount) are the input of the other policies.
 *
 *     index  0    1    2       3     4        5        6     7      8         9
 *     id     1    2    3       4     5        6        7     8      1001      1002
 *     name   cpu  mem  energy  node  billing  fs/disk  vmem  pages  gres/gpu  license/matlab
 *
 * The first eight always exist. AccountingStorageTRES appends others, in order of appearance. mem and bb are counted in
 * MiB, energy in joules, the others in pieces. A typed GRES (gres/gpu:tesla) counts for its generic one (gres/gpu),
 * too, if both are in the table. Source: docs/formulas.md 3; Slurm 22.05.8. */
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
    const char *name; /* after the '/': "gpu", "gpu:tesla"; NULL for types that have no name */
    const char *text; /* "gres/gpu:tesla" */
    uint32_t id;
    uint32_t generic; /* the index of gres/gpu for gres/gpu:tesla, else NONE */
};

/* Names live as long as the arena that tres_table_make was given. */
struct tres_table {
    uint32_t count;
    struct tres items[TRES_MAX];
};

/* Amounts of a job, sorted by index. Amounts of 0 are left out. */
struct tres_amount {
    uint32_t tres;
    double amount;
};
struct tres_list {
    struct tres_amount *items;
    uint32_t count;
};

/* Makes the table for a value of AccountingStorageTRES ("gres/gpu,license/matlab"). Naming one of the first eight has
 * no effect. field: the field's name, for errors. ERR_INPUT for an unknown type, for a name that is missing (bb, gres,
 * license, fs and ic need one) or given where the type has none, and for more than TRES_MAX. */
int tres_table_make(struct tres_table *t, struct str tracked, const char *field, struct arena *arena, struct err *e);

/* The index of "type" or "type/name" (the type in any case, the name exactly), or NONE. O(count). */
uint32_t tres_find(const struct tres_table *t, struct str text);

/* Reads "cpu=4,mem=8G,gres/gpu=1": counts with an optional suffix K, M, G, T or P, in steps of 1024 from the base unit
 * of the type (M for mem and bb). A suffix below the base unit has no effect. A count with a suffix above it may be a
 * fraction ("mem=62.50G"); a rest below the base unit is dropped. out_list's items are in arena, with room for
 * t->count. ERR_INPUT for a TRES that is not in the table or named twice, and for a count that is not a whole number
 * from 0 to 2^53. */
int tres_list_parse(const struct tres_table *t, struct str text, const char *field, struct arena *arena,
                    struct tres_list *out_list, struct err *e);

/* Appends "cpu=4,mem=8192,gres/gpu=1" in order of index. Amounts that are not whole are as short as reads back the
 * same. */
void tres_list_format(const struct tres_table *t, const struct tres_list *list, struct buf *out);

/* A TRES without a limit. A limit of 0 is one. */
#define TRES_UNLIMITED (-1.0)

/* Changes limits by index, io_limits[t->count], as a text says that is written like that of tres_list_parse: a TRES
 * that it does not name keeps its limit, and a count of -1 or UNLIMITED removes it. A field of TRES-minutes, whose name
 * ends in Mins, takes no suffixes. Nothing changes after an error, which is that of tres_list_parse. */
int tres_limits_change(const struct tres_table *t, struct str text, const char *field, double *io_limits,
                       struct err *e);

/* Appends the limits in order of index, as tres_limits_change reads them: "cpu=64,mem=8192,gres/gpu=0". */
void tres_limits_format(const struct tres_table *t, const double *limits, struct buf *out);

/* Fills a list with the amounts by index that are above 0. out_list's items have room for count. */
void tres_list_from_amounts(const double *amounts, uint32_t count, struct tres_list *out_list);

/* Adds each generic GRES that is in the table and not in the list, with the sum of its typed ones. list's items have
 * room for t->count. */
void tres_list_add_generic(const struct tres_table *t, struct tres_list *list);

/* Sets the amount of a TRES that is above 0; 0 or less takes the TRES out. list's items have room for one more. */
void tres_list_set(struct tres_list *list, uint32_t tres, double amount);

/* The amount of a TRES; 0 when it is not in the list. O(count). */
static inline double tres_amount_of(const struct tres_list *list, uint32_t tres)
{
    for (uint32_t i = 0; i < list->count; i++) {
        if (list->items[i].tres == tres) return list->items[i].amount;
    }
    return 0.0;
}

/* Reads weights, "CPU=1.0,Mem=0.25G,GRES/gpu=2.0". A suffix above the base unit divides the weight by 1024 for each
 * step. Weights are numbers from -1e15 to 1e15, so that no sum of amounts overflows. out_weights: t->count entries; a
 * TRES that is not named weighs 0. A weight of billing is read and ignored. ERR_INPUT as for tres_list_parse. */
int tres_weights_parse(const struct tres_table *t, struct str text, const char *field, double *out_weights,
                       struct err *e);

#endif
