/* Parsers of the kernel's texts about load and memory (proc(5)), and texts of what is made of them. Pure. A parser
 * returns false, with its output untouched, if a number that it needs is missing or cannot be read. */
#ifndef FAIRLEAD_DAEMON_LOAD_TEXT_H
#define FAIRLEAD_DAEMON_LOAD_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/idset.h"
#include "base/str.h"
#include "base/text.h"

/* /proc/loadavg: the averages over 1, 5 and 15 minutes. */
bool load_text_parse_averages(struct str text, double out[3]);

/* /proc/meminfo, in KiB. What buffers and the cache of files have counts as free, as in Grid Engine: the kernel takes
 * it back when it needs it. Free amounts are at most the totals. */
struct load_memory {
    uint64_t mem_total, mem_free, swap_total, swap_free;
};
bool load_text_parse_memory(struct str text, struct load_memory *out);

/* /proc/stat: the time of all CPUs since the boot, in ticks, and the number of CPUs. Waiting for I/O is not busy. */
struct load_cpu_time {
    uint64_t busy, idle;
    uint32_t cpu_count;
};
bool load_text_parse_cpu_time(struct str text, struct load_cpu_time *out);

/* The percentage of the time between two reports in which CPUs were busy, 0 to 100. 0 if no time has passed. */
double load_text_busy_percent(const struct load_cpu_time *before, const struct load_cpu_time *after);

/* Where a CPU of the kernel is. */
struct load_cpu_place {
    uint32_t id, socket, core; /* cores are numbered in their socket */
};

/* How many sockets and cores there are, and as Grid Engine writes it: "SCTTCTT" for a socket with two cores of two
 * threads each. Letters of sockets, cores and threads of which used has a CPU are small in out_in_use. Sorts the
 * places. */
struct load_topology {
    uint32_t socket_count, core_count, thread_count;
};
struct load_topology load_text_topology(struct load_cpu_place *places, uint32_t count, const struct idset *used,
                                        struct buf *out, struct buf *out_in_use);

/* "lx-amd64" for "x86_64": the name that Grid Engine has for a machine of uname(2) under Linux. */
void load_text_arch(const char *machine, struct buf *out);

#endif
