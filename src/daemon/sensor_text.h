/* The protocol of load sensors, as Grid Engine has it: a sensor answers each line that it is sent with a report.
 *
 *     begin
 *     localhost:scratch:120G          the host, the name and the value, which may have colons
 *     end
 *
 * Values of other hosts are left out, and so is what is no line of a report. A line that is too long, or more values
 * than a report may have, end the reading: a sensor that sends that is not one. Pure. Source: Grid Engine 8.1.9,
 * sge_execd(8) and qconf -mconf, load_sensor. */
#ifndef FAIRLEAD_DAEMON_SENSOR_TEXT_H
#define FAIRLEAD_DAEMON_SENSOR_TEXT_H

#include "daemon/load_values.h"

enum { SENSOR_LINE_MAX = 1024, SENSOR_VALUES_MAX = 256, SENSOR_NAME_MAX = 64, SENSOR_VALUE_MAX = 255 };

enum sensor_fault {
    SENSOR_LINE_OUTSIDE, /* of a report */
    SENSOR_LINE_INVALID, /* in a report, but not host:name:value */
    /* From here on the sensor is not read any more. */
    SENSOR_LINE_TOO_LONG,
    SENSOR_TOO_MANY_VALUES,
    SENSOR_FAULT_COUNT
};

struct sensor_reader {
    const char *host_name; /* of this machine; also without its domain */
    char line[SENSOR_LINE_MAX];
    uint32_t length; /* of the part of a line that has arrived */
    bool is_inside;  /* between begin and end */
    struct load_values values;
    uint32_t faults; /* bits, by enum sensor_fault */
};

static inline bool sensor_is_broken(const struct sensor_reader *r)
{
    return r->faults >> SENSOR_LINE_TOO_LONG != 0;
}

/* Begins again, for a sensor that was started. */
void sensor_reader_clear(struct sensor_reader *r);
void sensor_reader_release(struct sensor_reader *r);

/* Reads bytes up to the end of a report or until the sensor is broken, and removes them from *io_bytes. Returns whether
 * a report has ended, whose values are then in r->values until the next call. */
bool sensor_reader_read(struct sensor_reader *r, struct str *io_bytes);

#endif
