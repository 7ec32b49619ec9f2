/* Parsers of the kernel's usage files: of a process (proc(5)), and of a control group of version 2 (the kernel's
 * cgroup-v2 guide). Pure. Sums that do not fit are INT64_MAX. A parser returns false, with its output untouched, if a
 * number that it needs is missing or cannot be read. O(length). */
#ifndef FAIRLEAD_EXEC_LAUNCHER_USAGE_TEXT_H
#define FAIRLEAD_EXEC_LAUNCHER_USAGE_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

/* /proc/PID/io: bytes read from and written to storage (read_bytes and write_bytes). What the page cache answers, and
 * what goes through pipes, does not count. */
bool usage_text_parse_io(struct str text, int64_t *out_bytes);

/* cpu.stat: user and system time of all processes that are or were in the group. */
bool usage_text_parse_group_cpu(struct str text, int64_t *out_us);

/* memory.stat: memory of the group's processes and what they share (anon and shmem); not the cache of files, which the
 * kernel takes back when it needs it. */
bool usage_text_parse_group_memory(struct str text, int64_t *out_kib);

/* memory.events of version 2, or memory.oom_control of version 1: processes of the group that the kernel has killed
 * for memory: because of its limit, of the limit of a group above it, or because the machine has no more. */
bool usage_text_parse_oom_kills(struct str text, int64_t *out_count);

/* memory.events of version 2: how often the group's processes needed more than its own limit, or one of a group below
 * it, and nothing could be reclaimed. */
bool usage_text_parse_ooms(struct str text, int64_t *out_count);

/* /proc/PID/status: a process's memory that is not a file's, resident (RssAnon and RssShmem). What processes share
 * counts for each. */
bool usage_text_parse_resident(struct str text, int64_t *out_kib);

/* /proc/PID/smaps_rollup: the same, and what n processes share counts for each as the n-th part (Pss_Anon and
 * Pss_Shmem). */
bool usage_text_parse_proportional(struct str text, int64_t *out_kib);

/* /proc/PID/status: the real uid, the first of four behind "Uid:". The kernel escapes the line ends of the name above
 * it. */
bool usage_text_parse_uid(struct str text, uint32_t *out_uid);

/* What /proc/PID/fd/N leads to: a GPU's number, of "/dev/nvidia<n>" below 64. Not of nvidiactl, nvidia-uvm and others,
 * which belong to no GPU. */
bool usage_text_parse_gpu(struct str text, uint32_t *out_gpu);

/* /proc/PID/autogroup: the nice value of its session, -20 to 19 (sched(7)): "/autogroup-25 nice 0". */
bool usage_text_parse_autogroup(struct str text, int32_t *out_nice);

/* io.stat: bytes read from and written to all devices, a line each; 0 without lines. */
bool usage_text_parse_group_io(struct str text, int64_t *out_bytes);

#endif
