#include "exec/launcher/keeper_attributes.h"

#include <linux/ioprio.h>
#include <linux/sched/types.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/number.h"
#include "exec/launcher/durable.h"

static bool read_oom_score(int32_t *out)
{
    struct buf scratch = {0};
    int64_t score;
    struct str text = str_trim(durable_read_text("/proc/self/oom_score_adj", &scratch));
    bool is_read = number_parse_i64(text, &score);
    if (is_read) *out = (int32_t)score;
    buf_release(&scratch);
    return is_read;
}

/* Control groups, what a core dump has, and how late timers may be. A kernel without one of the files has no text. */
static void read_texts(uint64_t *out_hashes)
{
    static const char *const paths[KEEPER_TEXTS] = {"/proc/self/cgroup", "/proc/self/coredump_filter",
                                                    "/proc/self/timerslack_ns"};
    struct buf scratch = {0};
    for (int i = 0; i < KEEPER_TEXTS; i++) {
        struct str text = durable_read_text(paths[i], &scratch);
        out_hashes[i] = text.text != NULL ? hash_bytes(text.text, text.length, 0) : 0;
    }
    buf_release(&scratch);
}

bool keeper_attributes_read(struct keeper_attributes *out)
{
    struct sched_attr scheduling = {.size = sizeof scheduling};
    memset(out, 0, sizeof *out); /* they are compared as bytes */
    for (int i = 0; i < RLIMIT_NLIMITS; i++) {
        if (getrlimit((__rlimit_resource_t)i, &out->limits[i]) != 0) return false;
    }
    if (syscall(SYS_sched_getattr, 0, &scheduling, sizeof scheduling, 0u) != 0) return false;
    out->policy = scheduling.sched_policy;
    out->priority = scheduling.sched_priority;
    out->nice = scheduling.sched_nice;
    out->io_priority = (int32_t)syscall(SYS_ioprio_get, IOPRIO_WHO_PROCESS, 0);
    read_texts(out->texts);
    return syscall(SYS_sched_getaffinity, 0, sizeof out->cpus, out->cpus) > 0 && read_oom_score(&out->oom_score);
}

bool keeper_attributes_are(const struct keeper_attributes *before)
{
    struct keeper_attributes now;
    return keeper_attributes_read(&now) && memcmp(&now, before, sizeof now) == 0;
}
