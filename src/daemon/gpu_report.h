/* The text in which a GPU probe (gpu_probe.h) reports, and what it says. For each empty line that a probe gets it
 * writes a report; fields are separated by tabs:
 *
 *     gpu     UUID  BUS  MINOR  MEM_MIB  USED_MIB  BUSY  SLICE  NAME    "-" for what is not known
 *     process PID   MIB                                                 of the gpu before it
 *     missing TEXT                                                      a GPU that is there does not answer: why
 *     fault   TEXT                                                      the library does not work at all: why
 *     none                                                              there is no library: the probe ends
 *     end
 *
 * What is read here comes from a driver's library, so any text is taken: a line that is none of these is left out. */
#ifndef FAIRLEAD_DAEMON_GPU_REPORT_H
#define FAIRLEAD_DAEMON_GPU_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"
#include "base/str.h"
#include "base/text.h"

enum { GPU_TEXT_SIZE = 96, GPU_FAULT_SIZE = 160, GPU_PROCESSES_MAX = 1024, GPU_REPORT_GPUS_MAX = 256 };

enum gpu_vendor { GPU_NVIDIA, GPU_AMD, GPU_VENDOR_COUNT };

/* "nvidia", "amd". */
extern const char *const gpu_vendor_names[GPU_VENDOR_COUNT];

struct gpu_process {
    int32_t pid;
    int64_t mem_mib; /* -1: not known */
};

/* A GPU, or a slice of one (MIG), as its library reports it. */
struct gpu_found {
    enum gpu_vendor vendor;
    char uuid[GPU_TEXT_SIZE];  /* "GPU-8932f937-d72c-4106-c12f-20bd9faed9f6", "MIG-..." */
    char bus[GPU_TEXT_SIZE];   /* "00000000:3b:00.0", of a slice that of its GPU: their order is that of the bus */
    char name[GPU_TEXT_SIZE];  /* "NVIDIA A100-SXM4-80GB" */
    int64_t minor;             /* of /dev/nvidia<minor>; -1: not known, or a slice */
    int64_t mem_mib, used_mib; /* -1: not known */
    int32_t busy;              /* percent of the last second; -1: not known */
    bool is_slice;
    ARRAY(struct gpu_process) processes;
};

struct gpu_report {
    ARRAY(struct gpu_found) list;
    char missing[GPU_FAULT_SIZE]; /* why a GPU is not in the list; empty: all are */
    char fault[GPU_FAULT_SIZE];   /* empty: none */
    bool has_no_library;
};

/* Reads a line, without its end, into the report. Returns true if it is the end of the report. */
bool gpu_report_read(struct gpu_report *report, enum gpu_vendor vendor, struct str line);

void gpu_report_clear(struct gpu_report *report);
void gpu_report_release(struct gpu_report *report);

/* Appends the line of a GPU, and one for each of its processes, as gpu_report_read reads them. */
void gpu_report_write(const struct gpu_found *gpu, struct buf *out);

#endif
