/* Whether a job can ever start: its request against the sizes of the hosts and the amounts of resources, and all of it
 * against the limits of its partitions. job_edit.c refuses a submission or an update that cannot. If the host or an
 * amount shrinks later, jobs that were accepted wait until it grows again. */
#ifndef FAIRLEAD_ENGINE_JOB_ADMISSION_H
#define FAIRLEAD_ENGINE_JOB_ADMISSION_H

#include "engine/handlers.h"

/* Each returns 0, or -1 with *c->e: ERR_TOO_LARGE, or ERR_INPUT if the field alone is wrong. */

/* The slots that at least one of the job's hosts has to have, however they are distributed; 1 to its CPUs. */
uint32_t job_admission_min_slots(const struct state *s, const struct job *row);

/* Sets the request to what all slots take together, where the job says what each of them takes. ERR_TOO_LARGE. */
int job_admission_set_amounts(struct apply_context *c, struct job *row);

/* CPUs, memory and GPUs against those of the host. given: says which field the CPUs come from. */
int job_admission_check_capacity(struct apply_context *c, const struct job *row, const struct job_values *given);

/* The maximum of a range of slots against its minimum, cpus. A range of one number becomes no range. */
int job_admission_check_slots(struct apply_context *c, struct job *row);

/* Without CPUs of its own a submission has those that its nodes need. */
void job_admission_set_cpus(struct job *row);

/* The number of nodes and the slots on each against its CPUs and its parallel environment. */
int job_admission_check_nodes(struct apply_context *c, const struct job *row);

/* The requested resources of all CPUs against the amounts. */
int job_admission_check_amounts(struct apply_context *c, const struct job *row);

/* The job against the limits of its partitions (partition_limits.h): with EnforcePartLimits=ANY one of them has to
 * admit it, with ALL all, and with NO it waits. ERR_TOO_LARGE; ERR_INPUT for its account or QOS. */
int job_admission_check_partitions(struct apply_context *c, const struct job *row);

/* Takes partitions away that accept no new jobs. ERR_CONFLICT: none is left; with EnforcePartLimits=ALL one is such. */
int job_admission_check_states(struct apply_context *c, struct job *row);

/* The QOS against the list of the association, with ENFORCE_QOS. ERR_INPUT. */
int job_admission_check_qos(struct apply_context *c, uint32_t qos, uint32_t assoc);

/* The time limit of a submission that gives none, again after a change of its partitions. Memory for each CPU of one
 * that gives no memory. An array has the shortest time of its partitions, because its tasks have one limit. */
void job_admission_set_default_time(const struct state *s, struct job *row);
int job_admission_set_default_memory(struct apply_context *c, const struct job_values *given, struct job *row);

#endif
