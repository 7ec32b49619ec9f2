/* Load sensors: programs of the administrator that report load values (the setting load_sensor). Each is started once
 * and asked once an interval; its report arrives by the loop.
 *
 *     asked ── reports ──> its values count until the next report
 *       ├───── ends, is broken ──────────> killed; started again after a back-off
 *       └───── silent for 3 intervals ───> likewise, and its values are dropped
 *
 * Invariants
 *   1. Nothing waits for a sensor: its pipes do not block, and the loop reads at most SENSOR_READ_SIZE bytes of it at
 *      a time. It gets one line at a time, and no other one before its report.
 *   2. What it may send for one line is limited; more makes it broken.
 *   3. A sensor is the leader of a process group, and the group is killed with it. It ends with the daemon, however
 *      that ends.
 *   4. A kind of fault is logged once, and again only after a sensor has worked for a while. */
#ifndef FAIRLEAD_DAEMON_LOAD_SENSORS_H
#define FAIRLEAD_DAEMON_LOAD_SENSORS_H

#include <sys/resource.h>

#include <uv.h>

#include "daemon/load_values.h"

struct load_sensors;

struct load_sensors_host {
    void *context;
    void (*on_report)(void *context); /* the values have changed; not from within a function of this file */
    const char *machine_name;
    struct rlimit file_limit; /* of a sensor */
};

/* No sensor yet; load_sensors_configure starts them. */
struct load_sensors *load_sensors_new(uv_loop_t *loop, const struct load_sensors_host *host);

/* Ends all sensors, within QUIT_WAIT_US, and closes the handles. The loop then has to run once more before
 * load_sensors_free. Both accept NULL. */
void load_sensors_stop(struct load_sensors *l);
void load_sensors_free(struct load_sensors *l);

/* Takes the paths of the setting. Those that stay go on. Those that went are asked to quit, and killed at the first
 * load_sensors_ask after a second if they have not. */
void load_sensors_configure(struct load_sensors *l, const char *paths);

/* An interval has passed: starts those that are due, asks those that wait for it, ends those that are silent. */
void load_sensors_ask(struct load_sensors *l);

/* Appends the faults of sensors that have not reported well since: "/opt/scratch: ended; /opt/net: wrote too much". */
void load_sensors_describe(const struct load_sensors *l, struct buf *out);

/* Appends the values of all sensors, in the order of their paths. */
void load_sensors_add_values(const struct load_sensors *l, struct load_values *out);

#endif
