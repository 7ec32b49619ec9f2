/* Documents of pretend clusters from arbitrary bytes. A refused one has one printable line that begins with the file's
 * name and leaves an empty cluster. In an accepted one every host is within its limits, steps are in order, and the
 * hosts at a time are those to which the steps lead. The bytes are also the comment and the script of a job. */
#include <string.h>

#include "base/ensure.h"
#include "base/quantity.h"
#include "fields/host_text.h"
#include "fields/limits.h"
#include "pretend/pretend_job.h"
#include "pretend/pretend_timeline.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_cluster(const struct pretend_cluster *c)
{
    ensure(c->hosts.count > 0 && c->hosts.count <= PRETEND_HOSTS_MAX && c->hosts.count == c->host_by_name.count);
    for (uint32_t i = 0; i < c->hosts.count; i++) {
        const struct pretend_host *h = &c->hosts.items[i];
        ensure(host_text_is_name(str(h->name)) && strlen(h->name) <= NAME_BYTES_MAX);
        ensure(h->cpus >= 1 && h->cpus <= CPUS_MAX && h->gpus <= GPUS_MAX && (double)h->mem_mib <= MEM_MIB_MAX);
    }
    for (uint32_t i = 0; i < c->steps.count; i++) {
        const struct pretend_step *s = &c->steps.items[i];
        ensure(s->host < c->hosts.count && s->at_us >= 0 && (i == 0 || s[-1].at_us <= s->at_us));
        ensure(c->period_us == 0 || s->at_us <= c->period_us);
    }
}

static void check_time(const struct pretend_cluster *c, int64_t now_us)
{
    struct pretend_timeline at_once, stepped;
    pretend_timeline_init(&at_once, c, 1, now_us);
    pretend_timeline_init(&stepped, c, 1, 1);
    for (int64_t at_us; (at_us = pretend_timeline_next_us(&stepped)) != 0 && at_us <= now_us;)
        (void)pretend_timeline_take(&stepped);
    for (uint32_t i = 0; i < c->hosts.count; i++)
        ensure(at_once.hosts.items[i].is_down == stepped.hosts.items[i].is_down);
    ensure(pretend_timeline_next_us(&at_once) == pretend_timeline_next_us(&stepped));
    pretend_timeline_release(&at_once);
    pretend_timeline_release(&stepped);
}

static void check_job(struct str text)
{
    struct arena arena = {0};
    const struct pretend_rules rules = {.of_limit = 1.0, .spread = 1.0, .seed = 1};
    struct pretend_job job = {.job_id = 1, .script = text, .time_limit_s = 100};
    const struct pretend_run of_script = pretend_job_run(&rules, &job);
    job.script = str("");
    job.comment = arena_copy(&arena, text);
    const struct pretend_run of_comment = pretend_job_run(&rules, &job);
    ensure(of_script.run_us >= 0 && of_script.run_us <= DURATION_S_MAX * US_PER_S);
    ensure(of_comment.run_us >= 0 && of_comment.run_us <= DURATION_S_MAX * US_PER_S);
    ensure(of_comment.exit_status >= 0 && of_comment.exit_status <= 255);
    arena_release(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str text = {(const char *)data, size};
    struct pretend_cluster c;
    struct err e = {0};
    if (pretend_cluster_read(text, "f", &c, &e) == 0) {
        check_cluster(&c);
        int64_t length_us = c.period_us > 0 ? c.period_us : 3600 * US_PER_S;
        for (int i = 0; i < 5; i++) check_time(&c, 1 + length_us / 2 * i);
        pretend_cluster_release(&c);
    } else {
        const char *sentence = ERR_SENTENCE(&e);
        ensure(e.code == ERR_INPUT && strncmp(sentence, "f:", 2) == 0 && strlen(sentence) > 3);
        ensure(c.hosts.items == NULL && c.steps.items == NULL && c.arena.blocks == NULL);
    }
    check_job(text);
    return 0;
}
