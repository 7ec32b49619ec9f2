/* The GPUs of this machine: their numbers, which of them no job gets for now, and who uses them.
 *
 * A GPU's number is its position in the order of the bus, NVIDIA's before AMD's. Jobs have GPUs by number, so a number
 * has to stay: it is kept by UUID, in the file "gpus" of the state directory too. A GPU that does not answer any more
 * keeps its number, and is withheld; one that is new is behind the others. Only while no task has a GPU are all
 * numbered anew, at a start and when a new one is found: then those that do not answer have none.
 *
 * Where no library says what there is, GPUs are counted in /dev (machine.h). */
#ifndef FAIRLEAD_DAEMON_GPUS_H
#define FAIRLEAD_DAEMON_GPUS_H

#include "daemon/daemon.h"
#include "daemon/gpu_report.h"

/* gpus_open: starts to look; does nothing in a pretend instance. gpus_begin: waits for the first look, for a few
 * seconds at most, and numbers the GPUs; when the state is loaded for the first time. */
void gpus_open(struct daemon *d);
void gpus_begin(struct daemon *d);

/* gpus_stop: before the loop is closed; gpus_close: afterwards. */
void gpus_stop(struct daemon *d);
void gpus_close(struct daemon *d);

/* What this machine has for jobs; the set is valid until the next turn. */
struct event_host gpus_host(const struct daemon *d);

/* In each turn: follows the settings. Returns whether what gpus_host says has changed since the last call. */
bool gpus_take_changes(struct daemon *d);

/* Appends the variables that let a task see its GPUs and no others, "CUDA_VISIBLE_DEVICES=0,1", each through add. */
void gpus_add_environment(const struct daemon *d, const struct idset *numbers,
                          void (*add)(void *context, const char *name, const char *value), void *context);

/* For struct server_host; context is the daemon. */
uint32_t gpus_list(void *context, struct arena *arena, const struct server_gpu **out);
void gpus_describe(void *context, struct buf *out);

#endif
