/* The GPU probes (gpu_probe.h), one for each vendor: started, asked every interval, and ended when they do not answer.
 *
 *     asked ── reports ──> the report counts until the next one; asked again after the interval
 *       ├───── there is no library ─────> the end: the vendor has no GPUs here
 *       ├───── ends (crash) ────────────> started again after a back-off
 *       └───── silent for the timeout ──> killed, and started again after a back-off
 *
 * Invariants
 *   1. Nothing waits for a probe but gpu_watch_wait, which has a limit: pipes do not block.
 *   2. A probe that was killed while it is in the kernel does not die before the driver lets it. No other one of the
 *      vendor is started until it has: a driver that hangs has one process in it, not one more every minute.
 *   3. A probe that fails changes nothing about the last report. */
#ifndef FAIRLEAD_DAEMON_GPU_WATCH_H
#define FAIRLEAD_DAEMON_GPU_WATCH_H

#include <uv.h>

#include "daemon/gpu_report.h"

struct gpu_watch;

struct gpu_watch_host {
    void *context;
    void (*on_report)(void *context, enum gpu_vendor vendor); /* from within the loop */
};

/* Starts the probes, and asks them. */
struct gpu_watch *gpu_watch_new(uv_loop_t *loop, const struct gpu_watch_host *host);

/* How often probes are asked, and how long they may take. */
void gpu_watch_set_times(struct gpu_watch *w, int64_t interval_s, int64_t timeout_s);

/* Waits until each probe has reported or failed, for at most so long; on_report is not called. */
void gpu_watch_wait(struct gpu_watch *w, int64_t max_us);

/* The last report of a vendor; NULL: there was none. */
const struct gpu_report *gpu_watch_report(const struct gpu_watch *w, enum gpu_vendor vendor);

/* Whether it is known what GPUs of the vendor there are. */
bool gpu_watch_has_answered(const struct gpu_watch *w, enum gpu_vendor vendor);

/* Appends what is wrong with a probe now, "nvidia: has not answered for 10 s"; nothing if they work. */
void gpu_watch_describe(const struct gpu_watch *w, struct buf *out);

/* gpu_watch_stop: kills the probes; the timers are left to who closes the loop, which is before gpu_watch_free. Both
 * accept NULL. */
void gpu_watch_stop(struct gpu_watch *w);
void gpu_watch_free(struct gpu_watch *w);

#endif
