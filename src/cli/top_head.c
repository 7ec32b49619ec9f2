#include "cli/top_head.h"

#include <string.h>
#include <time.h>

#include "base/quantity.h"
#include "cli/instance.h"

static void write_tasks(const struct api_status *s, const char *view, struct buf *out)
{
    char now[16];
    time_t seconds = (time_t)(s->now_us / US_PER_S);
    struct tm local;
    localtime_r(&seconds, &local);
    strftime(now, sizeof now, "%H:%M:%S", &local);
    buf_format(out, "%s  %s: %u running, %llu pending", now, view, s->tasks.running,
               (unsigned long long)s->tasks.pending);
    if (s->tasks.starting > 0) buf_format(out, ", %u starting", s->tasks.starting);
    if (s->tasks.suspended > 0) buf_format(out, ", %u suspended", s->tasks.suspended);
    if (s->tasks.completing > 0) buf_format(out, ", %u completing", s->tasks.completing);
    if (s->pretend != NULL) buf_add_text(out, "; a pretend cluster");
}

static void write_host(const struct api_status *s, struct buf *out)
{
    char used[32], mem[32];
    const struct api_host *h = &s->host;
    int64_t used_mib = (int64_t)h->mem_mib - h->free_mem_mib;
    if (s->hosts.count > 1 || s->pretend != NULL) {
        buf_format(out, "%u hosts, %u down: %llu of %llu CPUs allocated", s->hosts.count, s->hosts.down,
                   (unsigned long long)(s->hosts.cpus - s->hosts.free_cpus), (unsigned long long)s->hosts.cpus);
    } else {
        memory_format(used, used_mib > 0 ? (uint64_t)used_mib : 0);
        memory_format(mem, h->mem_mib);
        buf_format(out, "Allocated: %u of %u CPUs, %s of %s memory", h->cpus - h->free_cpus, h->cpus, used, mem);
        if (h->gpus > 0) buf_format(out, ", %u of %u GPUs", h->gpus - h->free_gpus, h->gpus);
        if (strcmp(h->state, "UP") != 0) buf_format(out, "; %s", h->state);
    }
    if (s->launch_failure != NULL) buf_format(out, "; nothing starts: %s", s->launch_failure);
}

int top_head_read(struct call *call, const char *view, struct top_head *io_head, struct err *e)
{
    struct api_status status;
    if (instance_request_once(call, "GET", API_STATUS, NULL, NULL, &api_status_shape, &status, e) != 0) return -1;
    buf_clear(&io_head->tasks);
    buf_clear(&io_head->host);
    write_tasks(&status, view, &io_head->tasks);
    write_host(&status, &io_head->host);
    return 0;
}

void top_head_release(struct top_head *head)
{
    buf_release(&head->tasks);
    buf_release(&head->host);
}
