/* The places of a submitted or changed job: the queues that it names, and the order of its partitions. job_edit.c
 * refuses what could run nowhere; if a queue goes or closes later, jobs that were accepted wait. */
#ifndef FAIRLEAD_ENGINE_JOB_PLACES_H
#define FAIRLEAD_ENGINE_JOB_PLACES_H

#include "engine/handlers.h"

/* ERR_INPUT: a feature of the constraint that no host has. */
int job_places_check_features(const struct state *s, const char *constraint, struct err *e);

/* The names in the list of queues, or the constraint, that a field holds. ERR_INPUT. */
int job_places_check_names(struct apply_context *c, const struct job *row, enum job_field f);

/* The expressions of requested texts. ERR_INPUT names the resource and the column. */
int job_places_check_expressions(struct apply_context *c, const struct job_request *requests, uint32_t count);

/* Requests of hostname and qname. ERR_INPUT: no host, or none of the job's partitions, has a name like that. */
int job_places_check_requested_names(struct apply_context *c, const struct job *row);

/* A submission that names queues (or requests qname) and no partition may run in all partitions of these queues. */
void job_places_set_partitions(struct apply_context *c, struct job *row);

/* Whether the job could run if nothing else ran: in its partitions and queues, by the rule of its parallel environment,
 * with what it needs. ERR_INPUT names the cause, and of the fields that may be at fault one that was given. */
int job_places_check(struct apply_context *c, const struct actor *actor, const struct job *row, bool is_submission,
                     const struct job_values *given);

/* Puts the partitions in which fewer soft requests are unsatisfied first. Equal ones keep their order. */
void job_places_sort_partitions(struct apply_context *c, struct job *row);

#endif
