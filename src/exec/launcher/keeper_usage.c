#include "exec/launcher/keeper_usage.h"

#include <unistd.h>

#include "base/ensure.h"

enum { BLOCK_SIZE = 512 }; /* of ru_inblock and ru_oublock: getrusage(2) */

static int64_t us_of(struct timeval t)
{
    return (int64_t)t.tv_sec * US_PER_S + t.tv_usec;
}

static int64_t io_bytes_of(const struct rusage *usage)
{
    return ((int64_t)usage->ru_inblock + usage->ru_oublock) * BLOCK_SIZE;
}

void keeper_usage_add(struct keeper_usage *sum, const struct rusage *usage)
{
    sum->cpu_us += us_of(usage->ru_utime) + us_of(usage->ru_stime);
    sum->io_bytes += io_bytes_of(usage);
    if (sum->max_rss_kib < usage->ru_maxrss) sum->max_rss_kib = usage->ru_maxrss;
}

/* The peak of the largest process that was waited for. Linux takes what the job's process had before its exec for its
 * own, a copy of the keeper's memory, which may have had the launches of other users as well. A peak that is no larger
 * says nothing of the job, if that was much: 0, and what was measured while it ran counts. */
static int64_t peak_kib(const struct keeper_usage *sum)
{
    enum { MUCH_KIB = 32768, LOOKUP_KIB = 4096 };
    struct rusage own;
    ensure(getrusage(RUSAGE_SELF, &own) == 0);
    bool is_own_copy = own.ru_maxrss >= MUCH_KIB && sum->max_rss_kib <= own.ru_maxrss + LOOKUP_KIB;
    return is_own_copy ? 0 : sum->max_rss_kib;
}

void keeper_usage_fill(const struct keeper_usage *sum, const struct cgroup_usage *group, struct launch_record *record)
{
    record->cpu_us = sum->cpu_us > group->cpu_us ? sum->cpu_us : group->cpu_us;
    record->io_bytes = sum->io_bytes > group->io_bytes ? sum->io_bytes : group->io_bytes;
    record->max_rss_kib = peak_kib(sum);
}

/* The CPU time as /proc/PID/stat will have it: user and system time are rounded down to ticks, each by itself. */
void keeper_usage_note_before(struct launch_record *record)
{
    const int64_t us_per_tick = US_PER_S / sysconf(_SC_CLK_TCK);
    struct rusage usage;
    ensure(getrusage(RUSAGE_CHILDREN, &usage) == 0);
    record->before_cpu_us = (us_of(usage.ru_utime) / us_per_tick + us_of(usage.ru_stime) / us_per_tick) * us_per_tick;
    record->before_io_bytes = io_bytes_of(&usage);
}
