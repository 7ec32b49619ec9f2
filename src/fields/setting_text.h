/* The small languages of policy settings, each read once and kept as numbers:
 *
 *     PriorityFlags       NO_FAIR_TREE,MAX_TRES      policy_hierarchy      OFS
 *     usage_weight_list   cpu=1,mem=0,io=0           halflife_decay_list   cpu=1440:mem=-1:io=0
 *     urgency_slots       min, max, avg or a number  params                MONITOR=1,DURATION_OFFSET=60
 *
 * Each has a *_check for the table of settings. ERR_INPUT names the setting and the item. */
#ifndef FAIRLEAD_FIELDS_SETTING_TEXT_H
#define FAIRLEAD_FIELDS_SETTING_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "base/text.h"

enum usage_resource { USAGE_CPU, USAGE_MEM, USAGE_IO, USAGE_FINISHED_JOBS, USAGE_RESOURCE_COUNT };

/* "cpu", "mem", "io", "finished_jobs": CPU-seconds, GiB-seconds, GiB, jobs. */
extern const char *const usage_resource_names[USAGE_RESOURCE_COUNT];
enum usage_resource usage_resource_find(struct str name); /* USAGE_RESOURCE_COUNT: none */

/* Appends the names for messages: "cpu, mem, io and finished_jobs". */
void usage_resource_add_names(struct buf *out);

/* PriorityFlags: words of Slurm, any case. FAIR_TREE and TICKET_BASED are accepted and say nothing. */
enum {
    FLAG_ACCRUE_ALWAYS = 1 << 0,
    FLAG_CALCULATE_RUNNING = 1 << 1,
    FLAG_DEPTH_OBLIVIOUS = 1 << 2,
    FLAG_NO_FAIR_TREE = 1 << 3,
    FLAG_INCR_ONLY = 1 << 4,
    FLAG_MAX_TRES = 1 << 5,
    FLAG_MAX_TRES_GRES = 1 << 6,
    FLAG_NO_NORMAL_ASSOC = 1 << 7,
    FLAG_NO_NORMAL_PART = 1 << 8,
    FLAG_NO_NORMAL_QOS = 1 << 9,
    FLAG_NO_NORMAL_TRES = 1 << 10,
    FLAG_NO_NORMAL_ALL = FLAG_NO_NORMAL_ASSOC | FLAG_NO_NORMAL_PART | FLAG_NO_NORMAL_QOS | FLAG_NO_NORMAL_TRES,
    FLAG_SMALL_RELATIVE_TO_TIME = 1 << 11
};
int setting_text_priority_flags(struct str text, const char *what, uint32_t *out_flags, struct err *e);
int setting_text_priority_flags_check(struct str text, const char *what, struct err *e);

/* private_data: jobs, details, usage, users. */
enum { PRIVATE_JOBS = 1 << 0, PRIVATE_DETAILS = 1 << 1, PRIVATE_USAGE = 1 << 2, PRIVATE_USERS = 1 << 3 };
enum { PRIVATE_KIND_COUNT = 4 };
extern const char *const setting_text_private_words[PRIVATE_KIND_COUNT]; /* in the order of the bits */
int setting_text_private(struct str text, const char *what, uint32_t *out_kinds, struct err *e);
int setting_text_private_check(struct str text, const char *what, struct err *e);

/* QOS flags, words of Slurm; any other word is refused. */
enum {
    QOS_NO_DECAY = 1 << 0,
    QOS_ENFORCE_USAGE_THRESHOLD = 1 << 1,
    QOS_DENY_ON_LIMIT = 1 << 2,      /* requests beyond a limit are refused at submission */
    QOS_OVER_PARTITION_QOS = 1 << 3, /* its limits come before those of the partition's QOS */
    /* MaxNodes, MinNodes, MaxTime of a partition do not limit its jobs */
    QOS_PARTITION_MAX_NODES = 1 << 4,
    QOS_PARTITION_MIN_NODES = 1 << 5,
    QOS_PARTITION_TIME_LIMIT = 1 << 6
};
int setting_text_qos_flags(struct str text, const char *what, uint32_t *out_flags, struct err *e);
int setting_text_qos_flags_check(struct str text, const char *what, struct err *e);

/* AccountingStorageEnforce: words of Slurm, any case. limits, qos and safe stand for associations, too, and safe for
 * limits; all: all of them. nojobs, nosteps and wckeys are accepted and change no decision. "none" or empty: 0. */
enum {
    ENFORCE_ASSOCIATIONS = 1 << 0, /* a job's user has to be in the job's account */
    ENFORCE_LIMITS = 1 << 1,
    ENFORCE_QOS = 1 << 2, /* the association has to allow the job's QOS */
    ENFORCE_SAFE = 1 << 3 /* a job starts only if it can end within GrpTRESMins and GrpWall */
};
int setting_text_enforce(struct str text, const char *what, uint32_t *out_flags, struct err *e);
int setting_text_group_check(struct str text, const char *what, struct err *e);
/* outside_jobs_exempt: names of users, and of groups behind @, separated by commas. setting_text_next_exempt: the next
 * one of an accepted list; false: there is none. */
int setting_text_exempt_check(struct str text, const char *what, struct err *e);
bool setting_text_next_exempt(struct str *rest, struct str *out_name, bool *out_is_group);
int setting_text_enforce_check(struct str text, const char *what, struct err *e);

/* The hierarchy: letters of O, F and S, none twice; or NONE. out: up to three letters and a zero byte. */
int setting_text_hierarchy(struct str text, const char *what, char out_order[4], struct err *e);
int setting_text_hierarchy_check(struct str text, const char *what, struct err *e);

/* Weights by resource, each named at most once; a resource not named weighs 0; "NONE": all 0. Not negative. A resource
 * that does not exist has no usage, but its weight counts in the total. */
struct usage_weights {
    double weight[USAGE_RESOURCE_COUNT], total;
};
int setting_text_usage_weights(struct str text, const char *what, struct usage_weights *out_weights, struct err *e);
int setting_text_usage_weights_check(struct str text, const char *what, struct err *e);

/* Half-lives by resource in minutes: above 0; 0 never decays; -1 is gone at once. Those not named keep what stands in
 * io_minutes. "none": nothing is named, but finished_jobs becomes -1. */
int setting_text_halflife_list(struct str text, const char *what, double io_minutes[USAGE_RESOURCE_COUNT],
                               struct err *e);
int setting_text_halflife_list_check(struct str text, const char *what, struct err *e);

/* How many slots a job with a range counts for in urgency. */
enum urgency_slots_rule { URGENCY_SLOTS_MIN, URGENCY_SLOTS_MAX, URGENCY_SLOTS_AVG, URGENCY_SLOTS_NUMBER };
int setting_text_urgency_slots(struct str text, const char *what, enum urgency_slots_rule *out_rule,
                               uint32_t *out_number, struct err *e);
int setting_text_urgency_slots_check(struct str text, const char *what, struct err *e);

/* Grid Engine's params of the scheduler. PROFILE, JC_FILTER and PE_RANGE_ALG are accepted and change no decision. */
struct schedule_params {
    bool writes_schedule;      /* MONITOR: the schedule file is written */
    int64_t duration_offset_s; /* DURATION_OFFSET: added to the time limit when a job's end is planned; 60 unless set */
};
int setting_text_params(struct str text, const char *what, struct schedule_params *out_params, struct err *e);
int setting_text_params_check(struct str text, const char *what, struct err *e);

/* submit_hook: the absolute path of a program; empty: none. */
int setting_text_program_check(struct str text, const char *what, struct err *e);

/* load_sensor: absolute paths of programs, separated by commas, none twice; or NONE. */
int setting_text_load_sensor_check(struct str text, const char *what, struct err *e);

#endif
