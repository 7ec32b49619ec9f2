/* The state of an instance as a scenario document (docs/scenarios.md, "Documents of an instance"). From it, sim/ makes
 * a state that decides and lists the same at that time:
 *
 *     {"now":"2026-11-21T09:05:00.25Z","instance":true,
 *     "settings":{"PriorityWeightAge":1000},
 *     "hosts":[
 *     {"name":"localhost","cpus":16,"mem":64000}
 *     ],
 *     ...
 *     "jobs":[
 *     {"id":5,"user":"ann","account":"physics",...},
 *     ...
 *     ]}
 *
 * Every usage is that of the time of the document: running tasks are charged up to then. Settings and fields with their
 * default values are left out. Numbers and times read back the same. */
#ifndef FAIRLEAD_ENGINE_DUMP_H
#define FAIRLEAD_ENGINE_DUMP_H

#include "base/json.h"
#include "engine/ranking.h"
#include "fields/job_fields.h"

/* A document while it is written. */
struct dump {
    struct state *s; /* an instance's */
    int64_t now_us;
    struct buf *out;
    struct json json; /* of one row */
    bool has_rows;    /* of the list that is being written */
    struct arena arena;
    struct tres_indices indices;
    uint64_t *taken_cpus;             /* by host: CPUs of live tasks */
    uint32_t *first_task, *next_task; /* by job and by task: the job's live tasks, in the order of their launches */
    enum job_field table_fields[JOB_FIELD_COUNT]; /* those with a key in documents */
    uint32_t table_field_count;
    uint32_t next_job;
};

/* Appends everything but the jobs. O(objects + associations + tasks x QOS + jobs) */
void dump_begin(struct dump *d, struct state *s, int64_t now_us, struct buf *out);

/* Appends up to count jobs, and after the last one the end of the document. The state has not changed since dump_begin.
 * False: the document is complete. O(count) */
bool dump_jobs(struct dump *d, uint32_t count);

/* Frees the writer; the text is the caller's. */
void dump_release(struct dump *d);

#endif
