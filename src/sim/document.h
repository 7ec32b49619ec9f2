/* A document while it is read: its parts one after another, each into rows of the state as soon as it is checked. What is
 * refused names its path and what is accepted (wire/reader.h). Names are found again by the maps here and by the state's own
 * (state_find_object). */
#ifndef FAIRLEAD_SIM_DOCUMENT_H
#define FAIRLEAD_SIM_DOCUMENT_H

#include "base/map.h"
#include "sim/scenario.h"
#include "wire/reader.h"

/* An object of usages above this is a mistake. */
#define USAGE_MAX 1e18

/* A row of `tree`: an account, or a user in one. */
struct association_document {
    const char *account, *user, *partition, *parent; /* user NULL: an account; parent: of an account, NULL is root */
    int64_t shares, priority;                        /* or FIELD_SPECIAL: "parent" */
    double usage;                                    /* billing-seconds of its own */
};

struct document {
    struct scenario *scenario;
    struct state *state;
    struct arena arena;                              /* while it is read */
    bool has_objects[OBJECT_KIND_COUNT];             /* whether it names any */
    struct map host_names;                           /* -> host */
    ARRAY(struct association_document) associations; /* rows of `tree` */
    struct map account_rows;                         /* account -> its row */
    struct map user_rows;                            /* "account<lf>user<lf>partition" -> its row */
    struct map first_rows;                           /* user -> the first row of that user */
};

static inline struct document *document_of(const struct wire_reader *r)
{
    return r->context;
}

/* The parts, in the order in which they may refer to each other. value NULL: the document has no such part. */
int document_read_settings(struct wire_reader *r, json_t *value);
int document_read_hosts(struct wire_reader *r, json_t *value);
int document_read_resources(struct wire_reader *r, json_t *value);
int document_read_partitions(struct wire_reader *r, json_t *value);
int document_read_qos(struct wire_reader *r, json_t *value);
int document_read_projects(struct wire_reader *r, json_t *value);
int document_read_departments(struct wire_reader *r, json_t *value);
int document_read_users(struct wire_reader *r, json_t *value);
int document_read_tree(struct wire_reader *r, json_t *value);
int document_read_share_tree(struct wire_reader *r, json_t *value);
int document_read_jobs(struct wire_reader *r, json_t *value);

/* Refuses a name that is used already. */
int document_fail_twice(struct wire_reader *r, const char *field, const char *name);

/* There is a user of that name now, as enforce_user says where the document has none. */
int document_ensure_user(struct wire_reader *r, const char *name);

/* The id of the association that a user's jobs in an account are of (account "": no account). Where `tree` has none it is one
 * outside of the tree. */
uint32_t document_association(struct document *d, const char *account, const char *user);

#endif
