/* A document while it is read. Its parts are read one after another; each item becomes a row of the state once it is
 * checked. An error has the path of the value and what is accepted (wire/reader.h). Names are looked up in the maps
 * here and in those of the state (state_find_object). */
#ifndef FAIRLEAD_SIM_DOCUMENT_H
#define FAIRLEAD_SIM_DOCUMENT_H

#include "base/map.h"
#include "engine/host_names.h"
#include "sim/scenario.h"
#include "wire/reader.h"

/* The maximum for a usage; larger values are mistakes. */
#define USAGE_MAX 1e18

/* An item of `tree`: an account, or a user in an account. */
struct association_document {
    const char *account, *user, *partition, *parent; /* user NULL: an account; parent NULL: root, of an account */
    int64_t shares, priority;                        /* FIELD_SPECIAL: "parent" */
    double usage;                                    /* billing-seconds of its own */
    double usage_wall;                               /* seconds */
    double *usage_tres;                              /* TRES_MAX entries; NULL: not given */
    struct wire_list limits;                         /* of struct wire_pair */
    struct field_value *limit_values;                /* what they say, by enum assoc_limit; NULL: there are none */
};

struct document {
    struct scenario *scenario;
    struct state *state;
    struct arena arena;                              /* released when the document has been read */
    bool has_objects[OBJECT_KIND_COUNT];             /* whether the document has any of the kind */
    struct host_names hosts;                         /* once hosts and groups have been read */
    ARRAY(uint32_t) free_cpus;                       /* of an instance, by host; NONE: not given */
    ARRAY(struct association_document) associations; /* the items of `tree` */
    struct map account_rows;                         /* account -> its item */
    struct map user_rows;                            /* "account<lf>user<lf>partition" -> its item */
    struct map first_rows;                           /* user -> the first item of that user */
};

/* A copy of such an array that a row of the state may own; NULL for NULL. */
double *document_own_usage_tres(const double *usage);

/* Reads an object of TRES and seconds into a new array of TRES_MAX in r->arena. */
int document_read_usage_tres(struct wire_reader *r, json_t *value, double **out_usage);

static inline struct document *document_of(const struct wire_reader *r)
{
    return r->context;
}

/* Whether the document describes an instance, which has other rules: state.is_document is false. */
static inline bool document_is_instance(const struct document *d)
{
    return !d->state->is_document;
}

/* Each reads one part; document.c has their order. value NULL: the document does not have the part. */
int document_read_settings(struct wire_reader *r, json_t *value);
int document_read_hosts(struct wire_reader *r, json_t *value);
int document_read_groups(struct wire_reader *r, json_t *value);
int document_read_environments(struct wire_reader *r, json_t *value);
int document_read_quotas(struct wire_reader *r, json_t *value);
int document_read_resources(struct wire_reader *r, json_t *value);
int document_read_partitions(struct wire_reader *r, json_t *value);
int document_read_qos(struct wire_reader *r, json_t *value);
int document_read_projects(struct wire_reader *r, json_t *value);
int document_read_departments(struct wire_reader *r, json_t *value);
int document_read_users(struct wire_reader *r, json_t *value);
int document_read_usage_owners(struct wire_reader *r, json_t *value);
int document_read_tree(struct wire_reader *r, json_t *value);
int document_read_share_tree(struct wire_reader *r, json_t *value);
int document_read_jobs(struct wire_reader *r, json_t *value);

/* Reads a list of names, or a text of names that commas separate, as such a text, in memory of the reader's arena. An
 * empty list is NONE. */
int document_read_names(struct wire_reader *r, json_t *value, const char **out_text);

/* Adds an object with the next id. */
void document_restore_object(struct document *d, enum object_kind kind, const struct object *o);

static inline enum resource_type document_resource_type(const struct document *d, uint32_t index)
{
    return (enum resource_type)d->state->objects[OBJECT_RESOURCE].items[index].object.value[RESOURCE_TYPE].number;
}

/* Refuses a duplicate name. Returns -1. */
int document_fail_twice(struct wire_reader *r, const char *field, const char *name);

/* Adds an object for a user that the document does not define, if enforce_user is auto. ERR_INPUT if it is true. */
int document_ensure_user(struct wire_reader *r, const char *name);

/* The id of the association of a user's jobs in an account ("": no account), which is for all partitions. If `tree`
 * does not have it, an association outside of the tree is added. */
uint32_t document_association(struct document *d, const char *account, const char *user);

/* The id of the association that is only for a partition; 0: `tree` does not have it. */
uint32_t document_association_of_partition(struct document *d, const char *account, const char *user,
                                           const char *partition);

#endif
