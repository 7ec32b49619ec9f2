/* The live jobs of each user by their names, in ascending order of id: for jobs that wait for a name, and for
 * singletons. A group may have further jobs, of another name with the same hash, or of a name that they have no more;
 * whoever reads it compares. Derived from the rows; built when it is first needed, never stored. */
#ifndef FAIRLEAD_ENGINE_NAME_GROUPS_H
#define FAIRLEAD_ENGINE_NAME_GROUPS_H

#include "engine/state.h"

struct name_group {
    ARRAY(uint32_t) job_ids; /* ascending */
    uint32_t first;          /* those before it have ended, or have another name */
};

struct name_groups {
    bool is_valid;
    struct map by_hash; /* of the user and the name -> index in groups */
    ARRAY(struct name_group) groups;
};

/* Adds a new job, or one with a new name, if the groups have been built. O(1), and O(group) for a new name. */
void name_groups_add(struct state *s, const struct job *j);

/* The group of a user's jobs of a name, or NULL. Valid until the next job is added. Builds the groups
 * if there are none: O(jobs). */
struct name_group *name_groups_find(struct state *s, const char *user, const char *name);

/* Whether the job has not ended, and is the user's and has the name. */
bool name_groups_is_of(const struct state *s, const struct job *j, const char *user, const char *name);

/* The live job of that user and name with the smallest id, by index; or NONE. O(1) amortised. */
uint32_t name_groups_first(struct state *s, const char *user, const char *name);

/* Builds the groups if there are none. They are built when a job becomes a singleton, and after a restore that brings
 * one; so if they have not been built, no job is a singleton. */
void name_groups_build(struct state *s);
bool name_groups_are_built(const struct state *s);

/* Drops the groups, because all rows are replaced. */
void name_groups_invalidate(struct state *s);
void name_groups_free(struct name_groups *g); /* NULL is allowed */

#endif
