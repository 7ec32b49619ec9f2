/* Exponential back-off of launches after the machine could start nothing: it has no space, descriptors, processes or
 * memory. One launch probes the machine for all jobs, so that none of them pays for the shortage.
 *
 *     a launch fails   wait 1 s     nothing starts
 *     1 s later        one probe    nothing else starts until it has started (then everything may), or has failed:
 *     it fails         wait 2 s     ... 4, 8, up to 60 s
 *
 * Launches that were sent before the first failure may fail or start meanwhile: neither says anything about now. The
 * job of a probe that failed is left out of the next probe if another one fits, because the shortage may be of that job
 * alone (it has the largest script, say). */
#ifndef FAIRLEAD_ENGINE_LAUNCH_BACKOFF_H
#define FAIRLEAD_ENGINE_LAUNCH_BACKOFF_H

#include <stdbool.h>
#include <stdint.h>

/* Not stored: all zero after the state is loaded, so a restart of the daemon tries at once. */
struct launch_backoff {
    int64_t wait_us;     /* 0: launches work */
    int64_t retry_us;    /* when a probe may start */
    uint64_t probe_id;   /* launch id of the probe that is under way; 0: none */
    uint32_t skipped_id; /* job id of the last probe that failed; 0: none */
    char detail[200];    /* why the first launch, or the last probe, failed; empty: launches work */
};

/* A launch of a job could not be started. */
void launch_backoff_fail(struct launch_backoff *b, int64_t now_us, uint64_t launch_id, uint32_t job_id,
                         const char *detail);

/* launch_backoff_start: a launch has started. True: it was the probe, so that all may start again.
 * launch_backoff_end: a launch has ended, or will never start. */
bool launch_backoff_start(struct launch_backoff *b, uint64_t launch_id);
void launch_backoff_end(struct launch_backoff *b, uint64_t launch_id);

/* A pass sends a launch. */
void launch_backoff_send(struct launch_backoff *b, uint64_t launch_id);

/* How many launches a pass may send now; UINT32_MAX: no limit. */
uint32_t launch_backoff_room(const struct launch_backoff *b, int64_t now_us);

static inline bool launch_backoff_is_waiting(const struct launch_backoff *b)
{
    return b->wait_us != 0;
}

#endif
