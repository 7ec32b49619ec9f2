/* The small languages of what jobs ask for:
 *
 *     nodes       4, 2-8              a number of hosts, or a range
 *     gpus        2, tesla:2,volta:1  a number of GPUs, or numbers of types
 *     constraint  avx&ssd, avx|amx    features of a host: & and | from left to right, so a|b&c is (a|b)&c
 *
 * and the features of a host: avx,ssd. ERR_INPUT names the field and the value. Source: Slurm 22.05, sbatch(1),
 * --nodes, --gpus and --constraint, without its parentheses and counts. */
#ifndef FAIRLEAD_FIELDS_REQUEST_TEXT_H
#define FAIRLEAD_FIELDS_REQUEST_TEXT_H

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

enum { REQUEST_NODES_MAX = 1000000, REQUEST_GPUS_MAX = 1000000 };

/* 1 <= min <= max; of an empty text both are 0. */
int request_text_nodes(struct str text, const char *what, uint32_t *out_min, uint32_t *out_max, struct err *e);
int request_text_nodes_check(struct str text, const char *what, struct err *e);

/* GPUs of a type. type: a view of the text; empty: of any type. */
struct gpus_text {
    struct str type;
    uint32_t count;
};

struct gpus_text_list {
    struct gpus_text *items; /* memory of the arena */
    uint32_t count;
};

/* "tesla:2,volta:1,1". No type occurs twice. */
int request_text_gpus(struct str text, const char *what, struct arena *arena, struct gpus_text_list *out,
                      struct err *e);

/* The next feature of a constraint, a view of it; empty at the end. *out_is_or: it is joined by | to those before. */
struct str request_text_next_feature(struct str *rest, bool *out_is_or);

/* The checks of the fields (field.h). */
int request_text_constraint_check(struct str text, const char *what, struct err *e);
int request_text_features_check(struct str text, const char *what, struct err *e);

/* Whether a host with these features satisfies the constraint. */
bool request_text_is_satisfied(const char *constraint, const char *features);
bool request_text_has_feature(const char *features, struct str feature);

#endif
