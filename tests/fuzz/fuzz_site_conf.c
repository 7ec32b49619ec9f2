/* slurm.conf and Grid Engine's scheduler configuration, from arbitrary bytes: each pair lies where it says, reading the
 * pairs again gives the same ones, and every finding has a position in the text and a printable text. */
#include <string.h>

#include "base/ensure.h"
#include "formats/sched_conf.h"
#include "formats/slurm_conf.h"
#include "site/sched_site.h"
#include "site/slurm_site.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A file that includes itself. */
static const struct source *open_self(void *context, const struct source *from, struct str path,
                                      char fault[SLURM_CONF_FAULT_SIZE])
{
    (void)path;
    memcpy(fault, "no", sizeof "no");
    return *(const int *)context > 0 ? NULL : from;
}

static void check_position(const struct source *s, const char *position)
{
    ensure(position >= s->text.text && position <= s->text.text + s->text.length);
}

static void check_pairs(const struct conf_pairs *p)
{
    for (uint32_t i = 0; i < p->items.count; i++) {
        const struct conf_pair *pair = &p->items.items[i];
        check_position(pair->source, pair->position);
        check_position(pair->source, pair->value_position);
        ensure(pair->name.length > 0 && pair->value.length + pair->name.length > 0);
        ensure(i == 0 || pair->line >= p->items.items[i - 1].line);
    }
    ensure(p->fault_count >= p->faults.count);
    for (uint32_t i = 0; i < p->faults.count; i++)
        check_position(p->faults.items[i].source, p->faults.items[i].position);
}

static void check_findings(struct findings *f)
{
    findings_sort(f);
    for (uint32_t i = 0; i < f->items.count; i++) {
        check_position(f->items.items[i].source, f->items.items[i].position);
        ensure(str_is_printable(str(f->items.items[i].text)) && f->items.items[i].text[0] != 0);
    }
    findings_release(f);
}

static void check_slurm(const struct source *source, int opens)
{
    struct conf_pairs pairs = {0};
    struct findings findings = {0};
    struct slurm_site site;
    slurm_conf_read(source, opens > 1 ? NULL : open_self, &opens, &pairs);
    check_pairs(&pairs);
    slurm_site_read(&pairs, &site, &findings);
    slurm_site_check(&site, &findings);
    check_findings(&findings);
    slurm_site_release(&site);
    conf_pairs_release(&pairs);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct source source = {"f", {(const char *)data, size}};
    struct conf_pairs pairs = {0};
    struct findings findings = {0};
    uint32_t policy, others;
    (void)slurm_conf_is(source.text);
    check_slurm(&source, 1);
    check_slurm(&source, 2);
    if (size < 200) check_slurm(&source, 0);
    sched_conf_read(&source, &pairs);
    check_pairs(&pairs);
    sched_site_check(&pairs, &findings, &policy, &others);
    check_findings(&findings);
    conf_pairs_release(&pairs);
    return 0;
}
