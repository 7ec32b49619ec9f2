/* What a check of a site's configuration finds: each rule with a file that breaks it, and one that does not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"
#include "formats/sched_conf.h"
#include "formats/slurm_conf.h"
#include "site/sched_site.h"
#include "site/slurm_site.h"

#define COUNT(rows) (sizeof(rows) / sizeof(rows)[0])
#define DB "AccountingStorageType=accounting_storage/slurmdbd\n"
#define GOOD DB "PriorityType=priority/multifactor\nPriorityWeightFairshare=100\n"

struct row {
    const char *text;
    const char *expected; /* "LEVEL LINE:COLUMN TEXT;" for each finding */
};

static void print(struct findings *f, struct buf *out)
{
    findings_sort(f);
    for (uint32_t i = 0; i < f->items.count; i++) {
        const struct finding *found = &f->items.items[i];
        uint32_t line, column;
        source_position(found->source, found->position, &line, &column);
        buf_format(out, "%s %u:%u %s;", finding_level_names[found->level], line, column, found->text);
    }
    buf_add_char(out, 0);
}

static void check(const struct row *row, bool is_slurm)
{
    struct conf_pairs pairs = {0};
    struct findings findings = {0};
    struct source source = {"f", str(row->text)};
    struct buf got = {0};
    uint32_t policy, others;
    if (is_slurm) {
        struct slurm_site site;
        slurm_conf_read(&source, NULL, NULL, &pairs);
        slurm_site_read(&pairs, &site, &findings);
        slurm_site_check(&site, &findings);
        slurm_site_release(&site);
    } else {
        sched_conf_read(&source, &pairs);
        sched_site_check(&pairs, &findings, &policy, &others);
    }
    print(&findings, &got);
    if (strcmp(got.text, row->expected) != 0) print_message("file:\n%s\n", row->text);
    assert_string_equal(got.text, row->expected);
    buf_release(&got);
    findings_release(&findings);
    conf_pairs_release(&pairs);
}

static void test_lines(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {GOOD, ""},
        {GOOD "PriorityWieghtAge=5\n",
         "error 4:1 'PriorityWieghtAge' is not a keyword of slurm.conf; did you mean 'PriorityWeightAge'?;"},
        {GOOD "Xyzzy=5\n", "error 4:1 'Xyzzy' is not a keyword of slurm.conf;"},
        {GOOD "halftime=5\n", "error 4:1 'halftime' is not a keyword of slurm.conf;"},
        {GOOD "PriorityWeightFairshare=5\n", "warning 4:1 PriorityWeightFairshare is set more than once;"},
        {GOOD "PriorityWeightAge=many\n",
         "error 4:19 PriorityWeightAge: 'many' is not a whole number from 0 to 4294967295;"},
        {GOOD "FastSchedule=1\n", "warning 4:1 FastSchedule was removed in Slurm 20.02;"},
        {GOOD "SelectType=select/cons_res\n", "warning 4:1 SelectType=select/cons_res was removed in Slurm 23.11;"},
        {GOOD "SchedulerParameters=bf_windw=5,defer\n",
         "warning 4:21 'bf_windw' is not an option of SchedulerParameters; did you mean 'bf_window'?;"},
        {GOOD "SchedulerParameters=assoc_limit_continue\n",
         "warning 4:21 SchedulerParameters=assoc_limit_continue was removed in Slurm 16.05;"},
        {GOOD "EnforcePartLimits=YES\nDependencyParameters=kill_invalid_depend\n", ""},
        {GOOD "NodeName=n[1-4] CPUs=4 Memory=5\n",
         "error 4:24 'Memory' is not a keyword of a line NodeName; did you mean 'RealMemory'?;"},
        {GOOD "PartitionName=p Nodes=n1 MaxTme=5\n",
         "error 4:26 'MaxTme' is not a keyword of a line PartitionName; did you mean 'MaxTime'?;"},
        {GOOD "DownNodes=n1 State=DOWN Reason=x\nNodeSet=s Nodes=n1\n", ""},
        {GOOD "word\n", "error 4:1 no '=' after 'word'; write NAME=VALUE;"},
        {"PriorityFlags=FAIR_TRE\n" GOOD,
         "error 1:15 PriorityFlags: 'FAIR_TRE' is not one of ACCRUE_ALWAYS, CALCULATE_RUNNING, DEPTH_OBLIVIOUS, "
         "NO_FAIR_TREE, INCR_ONLY, MAX_TRES, MAX_TRES_GRES, NO_NORMAL_ALL, NO_NORMAL_ASSOC, NO_NORMAL_PART, "
         "NO_NORMAL_QOS, NO_NORMAL_TRES, SMALL_RELATIVE_TO_TIME, FAIR_TREE, TICKET_BASED;"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) check(&rows[i], true);
}

static void test_rules(void **state)
{
    (void)state;
    static const struct row rows[] = {
        /* the model */
        {"ClusterName=c\n", "note 1:1 PriorityType is not set, and no weight is;"},
        {"PriorityWeightAge=5\n", "warning 1:1 PriorityWeightAge=5 has no effect;"},
        {"PriorityType=priority/basic\nPriorityWeightQOS=5\n", "warning 2:1 PriorityWeightQOS=5 has no effect;"},
        {"PriorityType=priority/multifactor\nPriorityWeightAge=1\n", "warning 1:1 the weight of fair share is 0;"},
        {"PriorityType=priority/multifactor\nPriorityWeightFairshare=1\n",
         "warning 2:1 PriorityWeightFairshare=1 has no effect;"},
        /* weights */
        {GOOD "PriorityWeightAge=4294967200\n",
         "note 3:1 the whole factor of fair share weighs 2.328e-06 % of the largest weight;"
         "warning 4:1 the weights add up to 4294967300;"},
        {GOOD "PriorityWeightAge=4294967195\n",
         "note 3:1 the whole factor of fair share weighs 2.328e-06 % of the largest weight;"},
        {GOOD "PriorityWeightAge=99999\n", ""},
        {GOOD "PriorityWeightAge=100000\n",
         "note 3:1 the whole factor of fair share weighs 0.1 % of the largest weight;"},
        {GOOD "PriorityWeightPartition=9\nPartitionName=a\nPartitionName=b\n",
         "warning 4:1 PriorityWeightPartition=9 has no effect;"},
        {GOOD "PriorityWeightPartition=9\nPartitionName=a\nPartitionName=b PriorityJobFactor=2\n", ""},
        {GOOD
         "PriorityWeightPartition=9\nPartitionName=DEFAULT PriorityJobFactor=2\nPartitionName=a\nPartitionName=b\n",
         "warning 4:1 PriorityWeightPartition=9 has no effect;"},
        {GOOD "PriorityWeightQOS=9\n", "note 4:1 QOS decide about priorities and are not enforced;"},
        {GOOD "PriorityWeightQOS=9\nAccountingStorageEnforce=limits,qos\n", ""},
        {GOOD "PriorityMaxAge=1-0\n", "warning 4:1 PriorityMaxAge=1-0 has no effect;"},
        {GOOD "PriorityWeightAge=9\nPriorityMaxAge=0\n", "warning 5:1 PriorityMaxAge=0 switches age off;"},
        {GOOD "PriorityFavorSmall=YES\n", "warning 4:1 PriorityFavorSmall=YES has no effect;"},
        {GOOD "PriorityFlags=SMALL_RELATIVE_TO_TIME\n", "warning 4:15 the flag SMALL_RELATIVE_TO_TIME has no effect;"},
        {GOOD "PriorityWeightTRES=gres/gpu=5\n",
         "error 4:20 PriorityWeightTRES: 'gres/gpu' is not a tracked TRES (AccountingStorageTRES);"},
        {GOOD "PriorityWeightTRES=gres/gpu=5\nAccountingStorageTRES=gres/gpu\n", ""},
        /* usage */
        {GOOD "PriorityDecayHalfLife=0\n", "error 4:1 usage is kept for ever;"},
        {GOOD "PriorityDecayHalfLife=0\nPriorityUsageResetPeriod=WEEKLY\n", ""},
        {GOOD "FairShareDampeningFactor=5\n", "warning 4:1 FairShareDampeningFactor=5 has no effect;"},
        {GOOD "FairShareDampeningFactor=5\nPriorityFlags=NO_FAIR_TREE\n", ""},
        {GOOD "AccountingStorageTRES=gres/gpu\nPartitionName=a TRESBillingWeights=GRES/gpu=1\n",
         "warning 5:17 jobs that use only CPUs and memory are billed nothing;"},
        {GOOD "AccountingStorageTRES=gres/gpu\nPartitionName=a TRESBillingWeights=CPU=1,GRES/gpu=1\n", ""},
        {GOOD "PartitionName=a TRESBillingWeights=GRES/gpu=1\n",
         "error 4:36 TRESBillingWeights: 'GRES/gpu' is not a tracked TRES (AccountingStorageTRES);"},
        {GOOD "PriorityFlags=MAX_TRES\nPartitionName=a\n", "warning 4:15 the flag MAX_TRES has no effect;"},
        {GOOD "GresTypes=gpu,fpga\nAccountingStorageTRES=gres/gpu\n", "warning 4:1 gres/fpga is not tracked;"},
        /* limits and backfill */
        {GOOD "AccountingStorageEnforce=associations\n", "note 4:1 limits are not enforced;"},
        {GOOD "PartitionName=long MaxTime=2-0\n",
         "warning 4:20 jobs of partition 'long' may run longer than bf_window, 1440 minutes;"},
        {GOOD "PartitionName=long MaxTime=2-0\nSchedulerParameters=bf_window=2880\n", ""},
        /* a template */
        {GOOD "PriorityWeightAge={{ age }}\n", "note 4:19 the file is a template, with 1 marks;"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) check(&rows[i], true);
}

static void test_sched(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"algorithm default\nhalftime 168\n", ""},
        {"halftme 168\n", "error 1:1 'halftme' is not a name of sched_conf; did you mean 'halftime'?;"},
        {"halftime x\n", "error 1:10 halftime: 'x' is not a duration in hours (or 90m, 2d) from 0 to 878400;"},
        {"halftime 1\nhalftime 2\n", "warning 2:1 halftime is set more than once;"},
        {"PriorityWeightAge 5\n", "error 1:1 'PriorityWeightAge' is not a name of sched_conf;"},
        {"weight_tickets_share 0\nweight_tickets_functional 0\nweight_ticket 0.5\n",
         "warning 3:1 weight_ticket weighs tickets of which there are none;"},
        {"weight_tickets_share 5\nweight_tickets_functional 0\nweight_ticket 0.5\n", ""},
        {"weight_tickets_share 5\nhalftime 0\n", "warning 2:1 halftime 0: usage does not decay;"},
        {"weight_tickets_functional 5\nweight_user 0\nweight_project 0\nweight_department 0\nweight_job 0\n",
         "warning 1:1 the functional tickets go to no job;"},
        {"max_reservation 0\ndefault_duration 0:10:0\n", "note 1:1 no job gets a reservation;"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) check(&rows[i], false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_lines), cmocka_unit_test(test_rules),
                                       cmocka_unit_test(test_sched)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
