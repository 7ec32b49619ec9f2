/* The bodies of the API between the daemon and its clients: HTTP/1.1 with JSON, paths under /v1. Both ends include this
 * file; the table in api/server/routes.c has the bodies of each route, and is served as /v1/openapi.json.
 *
 * A body is one JSON object. Shapes describe the members of a struct; tables of fields (src/fields) describe the rows
 * of listings, and jobs. A refusal has the HTTP status of its kind (base/err.h) and the body
 * {"error":{"name":"not-found","message":"one line",...}}. A listing has one row per line:
 *
 *     {"jobs":[
 *     {"id":"5",...},
 *     {"id":"6_[0-9%2]",...}
 *     ]}
 *
 *     struct api_submit submit = {...};
 *     wire_request(&api_submit_shape, &submit, &body, e);                client: the body to send
 *     wire_read_text(&api_submit_shape, body, arena, &submit, e);        server
 *     wire_read_record(&job_fields, row, arena, job.value, e);           client: a row of a listing */
#ifndef FAIRLEAD_API_BODIES_H
#define FAIRLEAD_API_BODIES_H

#include "fields/job_fields.h"
#include "fields/objects.h"
#include "wire/wire.h"

#define API_ACCOUNTS "/v1/accounts"
#define API_AUDIT "/v1/audit"
#define API_BACKUP "/v1/backup"
#define API_CLOCK "/v1/clock"
#define API_WHOAMI "/v1/whoami"
#define API_DEPARTMENTS "/v1/departments"
#define API_GPUS "/v1/gpus"
#define API_HISTORY_PRUNE "/v1/history/prune"
#define API_HISTORY_MOVE_IN "/v1/history/move-in"
#define API_JOBS "/v1/jobs"
#define API_JOBS_CANCEL "/v1/jobs/cancel"
#define API_JOBS_HOLD "/v1/jobs/hold"
#define API_JOBS_RELEASE "/v1/jobs/release"
#define API_JOBS_REQUEUE "/v1/jobs/requeue"
#define API_JOBS_SUSPEND "/v1/jobs/suspend"
#define API_JOBS_RESUME "/v1/jobs/resume"
#define API_JOBS_SIGNAL "/v1/jobs/signal"
#define API_OPENAPI "/v1/openapi.json"
#define API_PARTITIONS "/v1/partitions"
#define API_USER_POLICIES "/v1/user-policies" /* what the ticket policies give users; API_USERS: users in accounts */
#define API_PRIORITIES "/v1/priorities"
#define API_PROJECTS "/v1/projects"
#define API_QOS "/v1/qos"
#define API_RESOURCES "/v1/resources"
#define API_HOSTS "/v1/hosts"
#define API_PLACES "/v1/places"
#define API_GROUPS "/v1/groups"
#define API_ENVIRONMENTS "/v1/pes"
#define API_CALENDARS "/v1/calendars"
#define API_QUOTAS "/v1/quotas"
#define API_SCENARIO "/v1/scenario"
#define API_SETTINGS "/v1/settings"
#define API_SHARES "/v1/shares"
#define API_STATUS "/v1/status"
#define API_USE "/v1/use"
#define API_USERS "/v1/users"
#define API_VERIFY "/v1/verify"

/* Header of replies: the time of the instance, in microseconds since 1970. */
#define API_TIME_HEADER "Fairlead-Time"

/* Header of a backup: the number of the last commit that is in it. */
#define API_COMMIT_HEADER "Fairlead-Commit"

enum { API_BODY_MAX = 64 * 1048576, API_MOVE_IN_MAX = 1048576, API_MOVED_ROWS_MAX = 256, API_WAIT_MAX_S = 3600 };

/* --- requests ---------------------------------------------------------------------------------------------------- */

struct api_submit { /* POST /v1/jobs -> api_submitted */
    struct job_values job;
    struct str script; /* the text; absent: arguments[0] is the program */
    const char *script_name;
    struct wire_list arguments, environment; /* of struct str; environment: "NAME=value" */
    const char *department;                  /* must be the submitter's own */
};

struct api_submit_query { /* POST /v1/jobs?test_only=true -> api_tested */
    bool test_only;
};

struct api_update { /* PATCH /v1/jobs/{id} -> api_updated */
    struct job_values job;
};

struct
    api_jobs { /* POST /v1/jobs/cancel, hold, release, requeue, suspend, resume, signal -> api_count; has either ids or all */
    struct wire_list ids; /* of const char *: "5", "6_1" */
    bool all;
    const char *user, *account, *partition, *qos, *name; /* with all: only these jobs */
    const char *state;                                   /* with all: "pending", "running", "suspended" */
    bool partial; /* jobs that are refused are in the reply, and the others are changed */
    bool dry_run;
    bool hold;          /* only requeue */
    const char *signal; /* only signal */
    bool batch;         /* likewise */
};

/* Absent shares, priorities and raw usage of associations. Shares and priorities can also be FIELD_SPECIAL:
 * "parent". */
#define API_UNSET INT64_C(-2)

struct api_account { /* POST /v1/accounts; PATCH /v1/accounts/{name} without name */
    const char *name, *parent;
    int64_t shares, priority;
    int64_t raw_usage;       /* in PATCH: 0, or API_UNSET */
    struct wire_list limits; /* of struct wire_pair: "GrpJobs", "10" (fields/limit_fields.h) */
};

struct api_user { /* POST /v1/users; PATCH /v1/users/{name}?account=A&partition=P without these three */
    const char *name, *account, *partition;
    int64_t shares, priority;
    int64_t raw_usage; /* in PATCH: 0, or API_UNSET */
    bool is_default;   /* "default" */
    struct wire_list limits;
};

struct api_jobs_query {  /* GET /v1/jobs?... -> {"jobs":[Job]} */
    const char *which;   /* "live" (default), "ended", "all" */
    struct wire_list id; /* of const char * */
    const char *account, *user, *state;
    int64_t since_us, until_us; /* range of the job's end; 0: absent */
    const char *order;          /* "oldest" (default), "newest" */
    uint32_t limit;             /* 0: absent */
    bool start;                 /* also when waiting jobs are expected to start */
    const char *format;         /* "json" (default), "lines" */
};

struct api_audit_query { /* GET /v1/audit?... -> {"audit":[AuditEntry]} */
    const char *order;   /* "newest", which is the only one */
    const char *user, *command, *name;
    int64_t since_us, until_us; /* 0: absent */
    uint64_t before;            /* a number of an entry; 0: absent */
    uint32_t limit;             /* 0: absent */
};

struct api_use_query { /* GET /v1/use?... -> {"use":[Use]} */
    const char *by;    /* "users" (default), "jobs", "processes" */
};

struct api_shares_query { /* GET /v1/shares?... -> {"shares":[Share]} */
    const char *format;   /* "json" (default), "lines", "psv": as fairlead share -P */
    const char *account, *user;
    bool tres;      /* also usage by TRES */
    bool partition; /* psv: with the column Partition */
};

struct api_priorities_query { /* GET /v1/priorities?... -> {"priorities":[Priority]} */
    const char *format;       /* "json" (default), "lines" */
    uint32_t job;             /* NONE: absent */
    uint32_t task;            /* NONE: absent */
};

struct api_prune {        /* POST /v1/history/prune -> api_pruned */
    int64_t older_than_s; /* -1: absent */
    int64_t before_us;    /* 0: absent */
    bool dry_run;
};

struct api_moved_task { /* a start of a task */
    struct job_values job;
};
struct api_moved_job {
    struct job_values job;
    uint32_t id;            /* in the other instance */
    struct wire_list tasks; /* of struct api_moved_task */
};
struct api_move_in { /* POST /v1/history/move-in -> api_moved_in */
    const char *instance;
    struct wire_list jobs; /* of struct api_moved_job */
    bool dry_run;
};

struct api_wait_query { /* GET /v1/jobs/{id}/wait?timeout_s=30 -> api_waited */
    int64_t timeout_s;  /* -1: absent, which is 30 */
};

struct api_account_query { /* PATCH and DELETE /v1/users/{name}?account=A&partition=P */
    const char *account, *partition;
};

extern const struct wire_shape api_submit_shape, api_submit_query_shape, api_update_shape, api_jobs_shape,
    api_cancel_shape, api_requeue_shape, api_suspend_shape, api_signal_shape, api_account_shape,
    api_account_change_shape, api_user_shape, api_user_change_shape, api_prune_shape, api_moved_job_shape,
    api_move_in_shape, api_audit_query_shape, api_jobs_query_shape, api_shares_query_shape, api_priorities_query_shape,
    api_wait_query_shape, api_account_query_shape, api_use_query_shape;

/* --- replies ----------------------------------------------------------------------------------------------------- */

struct api_error_text {
    const char *name, *message;                                                     /* err_name, err_sentence */
    const char *form;                                                               /* of API_ERROR_FORMS */
    const char *where, *subject, *subject_name, *field, *value, *accepted, *reason; /* of struct err (base/err.h) */
    bool value_is_number;
};
struct api_error {
    struct api_error_text error;
};

/* The word for each enum err_form, in its order. */
#define API_ERROR_FORMS "whole,field,subject,value,not-accepted,exceeds,not-found,already-exists,unknown-field"

/* An error as the body of a refusal, and back. The texts of the body are those of e, besides the message and the form,
 * which are in memory of arena. A body with an unknown form becomes the error whose sentence is its message. */
struct api_error api_error_of(const struct err *e, struct arena *arena);
void api_error_read(const struct api_error *body, struct err *out_error);

struct api_submitted {
    uint32_t job_id;
    const char *limit;       /* that keeps it waiting until the limit or the job changes; NULL: none */
    const char *limit_field; /* the job's field that it is about; NULL likewise */
};
struct api_refused { /* a job that was not changed */
    const char *id, *name, *message;
};
struct api_count {
    uint32_t count;
    struct wire_list refused; /* of struct api_refused */
    struct wire_list jobs;    /* of a dry run: the ids */
};
struct api_done {
    bool ok;
};

struct api_updated {
    bool ok, is_time_exempt;
    const char *limit, *limit_field; /* as of a submission */
};

struct api_tested {
    bool never;         /* it could never run, and never_runs says why */
    int64_t start_us;   /* when it would start; 0: not known */
    bool now;           /* at once */
    const char *places; /* where; NULL: not known */
    uint32_t cpus;
    const char *partitions;
    const char *waits_for;            /* NULL: nothing, or not known */
    const char *never_runs;           /* NULL: it could */
    struct wire_list scheduling_info; /* of const char * */
};

struct api_check_answer {
    bool possible;
    uint32_t slots;             /* that it would get; 0 unless possible */
    struct wire_list sentences; /* of const char *: Grid Engine's, why not */
};
struct api_check { /* GET /v1/jobs/{id}/check */
    uint32_t job_id;
    bool held, waits_for_jobs, waits_for_begin;
    struct wire_list scheduling_info; /* of const char * */
    struct wire_list partitions;      /* likewise */
    struct api_check_answer empty, now;
};

/* A listing: records of the table that its shape names. */
struct api_listing {
    struct wire_list rows;
};

struct api_waited {
    bool ended;
    struct wire_list jobs; /* records of job_fields */
};

struct api_host {
    const char *name;
    uint32_t cpus, gpus, free_cpus, free_gpus;
    uint64_t mem_mib;
    int64_t free_mem_mib; /* below 0 when the host shrank under running jobs */
    const char *state;    /* "UP", "DRAIN" or "DOWN" */
};
struct api_hosts {
    uint32_t count, down; /* attached; down: reported so, or made so by an administrator */
    uint64_t cpus, free_cpus;
};
struct api_tasks {
    uint64_t pending;
    uint32_t starting, running, suspended, completing;
};
struct api_enforcement {
    const char *resource;  /* "memory", "CPUs", "GPUs", "kill", "outside jobs" */
    const char *mechanism; /* "control group"; "none" */
    const char *gap;       /* what it does not prevent; NULL: nothing that is known */
};
struct api_gap {     /* POST /v1/clock -> api_done */
    const char *gap; /* "count" or "discard" */
};

struct api_clock {
    int64_t now_us, wall_us, started_us;
    bool is_followed;           /* the wall clock; false: it is certainly wrong, or the time is virtual */
    bool is_virtual;            /* of a pretend cluster */
    bool has_gap;               /* a gap is not counted */
    int64_t gap_s, gap_from_us; /* its length by the clock, and its beginning */
    struct wire_list events;    /* records of clock_fields */
};

struct api_status {
    const char *version;
    int64_t pid;
    uint32_t uid;
    const char *user; /* of the uid; NULL: it has no name */
    bool serves_all;  /* all users of the machine; else that user only */
    const char *state_directory, *socket;
    int64_t started_us, now_us;
    const char *pretend; /* the document of a pretend instance; NULL: its jobs are real */
    uint32_t speed;      /* seconds of its time in a second; 1 if its jobs are real */
    struct api_host host;
    struct api_hosts hosts;
    struct api_tasks tasks;
    uint32_t associations;
    const char *policy;            /* "fair-tree, ties merge, half-life 7-00:00:00" */
    const char *model, *algorithm; /* "priority/multifactor", "fair-tree" */
    const char *default_partition; /* of jobs that name none */
    const char *gpus;              /* what is wrong with them: "GPU 1 drained: ..."; NULL: nothing */
    const char *load_sensors;      /* what is wrong with them: "/opt/scratch: ended"; NULL: nothing */
    const char *launch_failure;    /* why the machine can start no job; NULL: it can */
    int64_t launch_retry_us;       /* when one is tried next; 0: now, or launches work */
    const char *write_failure;     /* why nothing can be written to the database; NULL: it can */
    const char *launcher_failure;  /* why no launcher can be reached; NULL: one can */
    const char *terminals;         /* the directory with the sockets of jobs with a terminal; NULL: no job has one */
    const char *recovery;          /* which commits the start found missing, and what follows; NULL: none */
    const char *last_recovery;     /* the same of the last start for which it was not NULL, for a week */
    int64_t last_recovery_us;
    const char *quarantine; /* why jobs are held since quarantined_us; NULL: none is */
    int64_t quarantined_us;
    uint32_t quarantined_jobs;
    const char *outside_jobs;     /* who uses the machine outside jobs; NULL: outside_jobs is ignore */
    struct wire_list enforcement; /* of api_enforcement; of a pretend instance none */
    struct api_clock clock;       /* its events: those of the last day */
    struct wire_list settings;    /* records of setting_fields */
};

struct api_whoami {
    uint32_t uid, gid;
    const char *user, *role;
    const char *role_from;                   /* "uid 0", "group wheel", "own instance"; NULL: a user */
    const char *default_account;             /* of jobs that name none */
    struct wire_list associations;           /* records of account_fields_user */
    struct wire_list permissions;            /* records of permission_fields */
    struct wire_list hidden;                 /* words of private_data */
    const char *instance, *socket, *version; /* instance: "system" or "private" */
    uint32_t daemon_uid;
    const char *daemon_user; /* NULL: the uid has no name */
};

struct api_pruned {
    uint64_t jobs, tasks; /* removed: jobs, and starts of tasks */
    int64_t before_us;
};

struct api_moved_in {
    uint64_t jobs, tasks, known, removed;
};

struct api_difference {
    const char *account, *user, *partition, *qos, *project, *tres;
    double stored, recomputed;
};
struct api_verified {
    uint32_t associations, usage_owners;
    uint64_t tasks, pruned_tasks; /* pruned_tasks: of which only sums are left */
    struct wire_list differences; /* of api_difference */
};

extern const struct wire_shape api_error_shape, api_submitted_shape, api_count_shape, api_done_shape, api_updated_shape,
    api_waited_shape, api_status_shape, api_clock_shape, api_whoami_shape, api_gap_shape, api_difference_shape,
    api_verified_shape, api_check_shape, api_tested_shape, api_pruned_shape, api_moved_in_shape, api_enforcement_shape;

/* Shapes of struct api_listing; the one member of each names the table of its records. */
extern const struct wire_shape api_audit_list_shape, api_job_list_shape, api_place_list_shape, api_priority_list_shape,
    api_share_list_shape, api_account_list_shape, api_user_list_shape, api_setting_list_shape, api_use_list_shape,
    api_gpu_list_shape;

/* Objects that an administrator names (fields/objects.h), by kind. Bodies of POST and PATCH are pairs (wire_read_pairs)
 * of the kind's fields, in POST with the name. The path of one object is PATH/NAME. */
extern const char *const api_object_paths[OBJECT_KIND_COUNT]; /* API_PARTITIONS and so on */
extern const struct wire_shape api_object_lists[OBJECT_KIND_COUNT];

#endif
