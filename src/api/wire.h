/* What the daemon and its clients say to each other: HTTP/1.1 with JSON, paths under /v1. This file has what both ends
 * must agree on; which route takes and gives what is the table in api/server/routes.c, served as /v1/openapi.json.
 *
 * One JSON object per body. Fields are named as in the engine, units last. A refusal has the HTTP status of its kind
 * (base/err.h) and the body {"error":{"name":"not-found","message":"one line"}}. Listings have one row a line:
 *
 *     {"jobs":[
 *     {"id":"5",...},
 *     {"id":"6_[0-9%2]",...}
 *     ]}
 *
 * A body is described once, by a shape: the fields of a C struct with their names, types and ranges. From shapes come
 * writing, strict reading, and the schemas of the API's description.
 *
 *     struct wire_submit submit = {.directory = "/tmp", .command = "true", .gpus = 1};
 *     wire_request(&wire_submit_shape, &submit, &body, e);               client: body to send
 *     wire_read_text(&wire_submit_shape, body, arena, &submit, e);       server
 *     wire_read_text(&wire_job_row_shape, row, arena, &job, e);          client: a row of a listing
 *
 * Invariants
 *   1. What wire_request or wire_write wrote, wire_read reads back the same, bytes that are no UTF-8 included.
 *   2. Reading a request refuses fields it does not know; reading a reply skips them, so a client may be older than
 *      the daemon.
 *   3. A field that is absent has its absent value in the struct (NULL, 0, NONE, NAN: said at each) and the other way
 *      round: requests leave it out, replies have null. */
#ifndef FAIRLEAD_API_WIRE_H
#define FAIRLEAD_API_WIRE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/array.h"
#include "base/err.h"
#include "base/text.h"

#define WIRE_ACCOUNTS "/v1/accounts"
#define WIRE_DEPARTMENTS "/v1/departments"
#define WIRE_JOBS "/v1/jobs"
#define WIRE_JOBS_CANCEL "/v1/jobs/cancel"
#define WIRE_JOBS_HOLD "/v1/jobs/hold"
#define WIRE_JOBS_RELEASE "/v1/jobs/release"
#define WIRE_OPENAPI "/v1/openapi.json"
#define WIRE_PARTITIONS "/v1/partitions"
#define WIRE_POLICY_USERS \
    "/v1/policy-users" /* what the ticket policies give a user; WIRE_USERS are users in accounts */
#define WIRE_PRIORITIES "/v1/priorities"
#define WIRE_PROJECTS "/v1/projects"
#define WIRE_QOS "/v1/qos"
#define WIRE_RESOURCES "/v1/resources"
#define WIRE_SETTINGS "/v1/settings"
#define WIRE_SHARES "/v1/shares"
#define WIRE_STATUS "/v1/status"
#define WIRE_USERS "/v1/users"
#define WIRE_VERIFY "/v1/verify"

enum {
    WIRE_BODY_MAX = 64 * 1048576,
    WIRE_VALUES_MAX = 1 << 20, /* in one request: each costs the reader up to 100 bytes beside its own */
    WIRE_WAIT_MAX_S = 3600,
    WIRE_CPUS_MAX = 65536, /* of a job, as the next: more than any host has */
    WIRE_GPUS_MAX = 1024,
};

/* Shares, and the priority of an association: a number, or these. */
#define WIRE_SHARES_UNSET UINT32_MAX            /* absent */
#define WIRE_SHARES_PARENT UINT32_C(0x7fffffff) /* "parent" */
#define WIRE_PRIORITY_UNSET (UINT32_MAX - 1)    /* absent */
#define WIRE_PRIORITY_PARENT UINT32_MAX         /* "parent" */

enum wire_type {
    WIRE_TEXT,   /* const char *; absent NULL */
    WIRE_CHOICE, /* const char *, one of a list; absent NULL */
    WIRE_BYTES,  /* const char *, any bytes but 0: a string, or {"base64":"..."} when it is not UTF-8; absent NULL */
    WIRE_BLOB,   /* struct str, any bytes at all, as above; absent: text NULL */
    WIRE_TEXTS,  /* struct wire_list of const char * */
    WIRE_BYTES_LIST, /* struct wire_list of struct str without 0 bytes, each followed by one */
    WIRE_BOOL,       /* bool */
    WIRE_U32,        /* uint32_t, uint64_t, int32_t, int64_t in a range; each with an absent value of its own */
    WIRE_U64,
    WIRE_I32,
    WIRE_I64,
    WIRE_DOUBLE,   /* double, "inf"; absent NAN */
    WIRE_SHARE,    /* uint32_t, a number or "parent"; absent WIRE_SHARES_UNSET */
    WIRE_PRIORITY, /* the same; absent WIRE_PRIORITY_UNSET */
    WIRE_OBJECT,   /* a struct of another shape */
    WIRE_ROWS      /* struct wire_list of structs of another shape */
};

struct wire_list {
    void *items;
    uint32_t count;
};

struct wire_field {
    const char *name;
    const char *help; /* one line, for the API's description */
    enum wire_type type;
    bool is_required;               /* requests: has to be there; replies: is never null */
    uint32_t offset;                /* in the struct */
    int64_t min, max;               /* of numbers; of lists the counts, of texts the lengths, when most is not 0 */
    int64_t absent;                 /* of numbers */
    bool is_read_only;              /* of a row: by the instance, nobody gives it */
    const char *choices;            /* of WIRE_CHOICE: "live,ended,all" */
    const struct wire_shape *shape; /* of WIRE_OBJECT and WIRE_ROWS */
};

struct wire_shape {
    const char *name; /* "Submit" */
    const char *help;
    const struct wire_field *fields; /* a row without name ends */
    uint32_t size;                   /* of the struct */
    bool is_reply;                   /* invariants 2 and 3 */
};

/* Appends the value as a JSON object, lists of rows one row a line. Text that is not UTF-8 where only text is possible
 * gets U+FFFD for each bad byte. */
void wire_write(const struct wire_shape *shape, const void *value, struct buf *out);

/* A request's whole body, appended. ERR_INPUT: text that is not UTF-8, naming the field. */
int wire_request(const struct wire_shape *shape, const void *value, struct buf *out, struct err *e);

/* Reads an object into the struct; text and lists are copied into arena, the object may go. What is refused names the
 * field, its value and what is accepted: ERR_INPUT (ERR_TOO_LARGE: more values than WIRE_VALUES_MAX) in requests,
 * ERR_INTERNAL in replies. out_value is undefined then. */
int wire_read(const struct wire_shape *shape, json_t *object, struct arena *arena, void *out_value, struct err *e);
int wire_read_text(const struct wire_shape *shape, struct str text, struct arena *arena, void *out_value,
                   struct err *e);

/* Every field absent, and whether it is so. */
void wire_clear(const struct wire_shape *shape, void *out_value);
bool wire_is_empty(const struct wire_shape *shape, const void *value);

/* One value as it stands in a URL's query: lists are separated by commas. ERR_INPUT as wire_read. */
int wire_read_query(const struct wire_shape *shape, const char *name, const char *text, struct arena *arena,
                    void *value, struct err *e);

/* Rows as lines, for our own listings of 10^5 rows, which are read in a tenth of the time of JSON: a line of the fields'
 * names, then a line a row. Between fields stands |, an absent one is empty; in text \\ | and line ends are \\\\, \\p and \\n,
 * and a text of nothing is \\e. For shapes without lists and objects. */
void wire_write_heading(const struct wire_shape *shape, struct buf *out);
void wire_write_line(const struct wire_shape *shape, const void *value, struct buf *out);

/* The columns of a heading, unknown ones skipped; what a required field lacks is ERR_INTERNAL. */
enum { WIRE_COLUMNS_MAX = 64 };
struct wire_columns {
    const struct wire_shape *shape;
    uint32_t count;
    const struct wire_field *field[WIRE_COLUMNS_MAX]; /* NULL: not one of ours */
};
int wire_read_heading(const struct wire_shape *shape, struct str line, struct wire_columns *out_columns, struct err *e);
int wire_read_line(const struct wire_columns *columns, struct str line, struct arena *arena, void *out_value,
                   struct err *e);

/* The body of a change of fields by their names, {"halflife_s":604800,"ties":"slurm"}: values are text, numbers or
 * booleans, and become text as people write them. At least one. out: wire_pair. */
struct wire_pair {
    const char *name, *value;
};
int wire_read_pairs(struct str text, struct arena *arena, struct wire_list *out_pairs, struct err *e);

/* A job's id "5", or "5_3" with its task (else NONE); ids are from 1 to 2^32 - 3. what: the field's name. */
int wire_job_id_parse(struct str text, const char *what, uint32_t *out_job_id, uint32_t *out_task_id, struct err *e);
size_t wire_job_id_format(char out[24], uint32_t job_id, uint32_t task_id);

/* --- requests ---------------------------------------------------------------------------------------------------- */

/* What the policies use of a job: fields of a submission and of an update. */
#define WIRE_TERM_UNSET INT32_MIN
#define WIRE_MOMENT_UNSET INT64_MIN
struct wire_terms {
    const char *partitions, *qos;   /* "fast,batch" */
    const char *project, *requests; /* "": none; "license=2,bigio=true" */
    int32_t nice, site;             /* WIRE_TERM_UNSET: absent */
    int32_t posix_priority;         /* -1023..1024; WIRE_TERM_UNSET: absent */
    int64_t job_share;              /* -1: absent, as the next two */
    int64_t override_tickets;       /* operators only */
    int64_t set_priority;           /* by hand; 0: computed */
    int64_t begin_us, deadline_us;  /* 0: none; WIRE_MOMENT_UNSET: absent */
    uint32_t slots_max;             /* cpus is the least of a range of slots, this the most; 0: absent */
};

struct wire_submit { /* POST /v1/jobs -> wire_submitted */
    const char *account, *name;
    const char *directory, *out, *err; /* WIRE_BYTES; out and err are patterns (%j ...), relative to directory */
    const char *command;               /* what to show of what it runs */
    uint32_t cpus, gpus;               /* 0: absent */
    uint64_t mem_mib;
    int64_t time_limit_s;
    const char *array; /* "0-999%50" */
    bool held;
    struct str script; /* its text; absent: arguments[0] is the program */
    const char *script_name;
    struct wire_list arguments, environment; /* of struct str; "NAME=value" */
    const char *department;                  /* has to be the submitter's own */
    struct wire_terms terms;
};

struct wire_update { /* PATCH /v1/jobs/{id} -> wire_done */
    const char *name;
    uint32_t cpus;        /* 0: absent */
    uint64_t mem_mib;     /* 0: absent */
    uint32_t gpus;        /* NONE: absent */
    int64_t time_limit_s; /* 0: absent */
    uint32_t array_limit; /* NONE: absent; 0: no limit */
    struct wire_terms terms;
};

struct wire_jobs {        /* POST /v1/jobs/cancel, hold, release -> wire_count; either of the two */
    struct wire_list ids; /* of const char *: "5", "6_1" */
    bool all;
};

struct wire_account { /* POST /v1/accounts; PATCH /v1/accounts/{name} without name */
    const char *name, *parent;
    uint32_t shares, priority;
    int64_t raw_usage; /* to change: 0, or -1: stays */
};

struct wire_user { /* POST /v1/users; PATCH /v1/users/{name}?account=A without name and account */
    const char *name, *account;
    uint32_t shares, priority;
    int64_t raw_usage; /* to change: 0, or -1: stays */
    bool is_default;   /* "default" */
};

struct wire_jobs_query { /* GET /v1/jobs?... -> {"jobs":[wire_job_row]} */
    const char *which;   /* "live" (default), "ended", "all" */
    struct wire_list id; /* of const char * */
    const char *account, *user, *state;
    int64_t since_us, until_us; /* 0: absent; of the job's end */
    const char *order;          /* "oldest" (default), "newest" */
    uint32_t limit;             /* 0: absent */
    const char *format;         /* "json" (default), "lines" */
};

struct wire_shares_query { /* GET /v1/shares?... -> {"shares":[wire_share_row]} */
    const char *format;    /* "json" (default), "psv": as fairlead share -P */
    const char *account, *user;
    bool tres; /* with usage by TRES */
};

struct wire_priorities_query { /* GET /v1/priorities?... -> {"priorities":[wire_priority_row]} */
    const char *format;        /* "json" (default), "lines" */
    uint32_t job;              /* NONE: absent */
};

struct wire_wait_query { /* GET /v1/jobs/{id}/wait?timeout_s=30 -> wire_waited */
    int64_t timeout_s;   /* -1: absent, which is 30 */
};

struct wire_account_query { /* PATCH and DELETE /v1/users/{name}?account=A */
    const char *account;
};

extern const struct wire_shape wire_submit_shape, wire_update_shape, wire_jobs_shape, wire_account_shape,
    wire_account_modify_shape, wire_user_shape, wire_user_modify_shape, wire_jobs_query_shape, wire_shares_query_shape,
    wire_priorities_query_shape, wire_wait_query_shape, wire_account_query_shape;

/* --- replies ----------------------------------------------------------------------------------------------------- */

struct wire_error_text {
    const char *name, *message;                                    /* name: err_from_name; message: err_sentence */
    const char *subject, *subject_name, *field, *value, *accepted; /* as base/err.h has them; NULL: null */
};
struct wire_error {
    struct wire_error_text error;
};

struct wire_submitted {
    uint32_t job_id;
};
struct wire_count {
    uint32_t count;
};
struct wire_done {
    bool ok;
};

/* A started or ended task; or what of a job has not started; or what of it was cancelled before it did. */
struct wire_job_row {
    const char *id;           /* "5", "5_3", "5_[3-9%2]" */
    uint32_t job_id, task_id; /* task_id NONE: null, of plain jobs and of rows that stand for several tasks */
    const char *array_tasks;  /* "3-9", of rows that stand for several tasks; else NULL */
    uint32_t array_limit, task_count;
    const char *account, *user;
    uint32_t uid;
    const char *name, *command, *directory, *out_path, *err_path;
    const char *state; /* "PENDING" */
    bool held;
    const char *reason; /* why it waits; "None" */
    uint32_t cpus, gpus;
    uint64_t mem_mib;
    int64_t time_limit_s, submit_us, start_us, end_us; /* start_us, end_us 0: null */
    const char *cpu_ids, *gpu_ids;                     /* "0-3" */
    int32_t exit_status, signal;                       /* -1: null, until it has ended */
    int64_t cpu_us, max_rss_kib;
    const char *detail;
    double fair_share; /* of its association when the listing was made; NAN: null, deleted since */
    const char *partition, *qos, *project, *requests; /* "": none */
    const char *tres;                                 /* what a task has; "": not started */
    double billing;                                   /* units a second of a task; NAN: null, not started */
    int32_t nice, site, posix_priority;
    uint32_t set_priority;                           /* NONE: null, computed */
    uint32_t job_share, override_tickets, slots_max; /* slots_max 0: as many as cpus */
    int64_t begin_us, deadline_us;                   /* 0: null */
};

/* A waiting job in one of the partitions it asks for, or a running task, and every term of its priority by the model in
 * force; what another model has is NAN or NULL, and null. Terms are weighted, factors not. */
struct wire_priority_row {
    const char *model; /* "priority/multifactor" */
    const char *id;    /* as wire_job_row's */
    uint32_t job_id, task_id;
    const char *user, *account, *project, *partition, *qos, *state;
    double priority;
    double billing;
    double site, age, assoc, fair_share, job_size, partition_term, qos_term, nice, tres;
    double age_factor, assoc_factor, fair_share_factor, job_size_factor, partition_factor, qos_factor;
    const char *tres_terms, *tres_factors; /* "cpu=250,gres/gpu=750" */
    double norm_tickets, norm_urgency, norm_posix;
    double urgency_resources, urgency_waiting, urgency_deadline, urgency;
    double tickets, override_tickets, functional_tickets, share_tickets;
};
struct wire_priority_list {
    struct wire_list priorities;
};

struct wire_waited {
    bool ended;
    struct wire_list jobs; /* of wire_job_row */
};
struct wire_job_list {
    struct wire_list jobs; /* of wire_job_row */
};

struct wire_share_row {
    const char *account, *user, *parent_account; /* user, parent_account NULL: null */
    uint32_t raw_shares;                         /* WIRE_SHARES_UNSET: null, the root's */
    double norm_shares, raw_usage, norm_usage, effective_usage, fair_share, level_fs; /* NAN: null */
    uint64_t pending; /* tasks, of an account with all below it; so are the next two */
    uint32_t running, running_cpus;
    const char *tres_raw; /* "cpu=2.5,mem=640"; NULL: not asked for */
};
struct wire_share_list {
    struct wire_list shares; /* of wire_share_row */
};

struct wire_account_row {
    const char *name, *parent; /* parent NULL: root's */
    uint32_t shares, priority;
    int64_t created_us;
};
struct wire_account_list {
    struct wire_list accounts;
};

struct wire_user_row {
    const char *name, *account;
    uint32_t shares, priority;
    bool is_default; /* "default" */
    int64_t created_us;
};
struct wire_user_list {
    struct wire_list users;
};

struct wire_setting {
    const char *name, *value, *default_value, *help; /* standard: "default" */
    const char *group;                               /* "Fairlead", "Slurm", "Grid Engine" */
    const char *accepted;                            /* "a whole number from 0 to 65535"; of text "" */
};
struct wire_setting_list {
    struct wire_list settings;
};

struct wire_host {
    const char *name;
    uint32_t cpus, gpus, free_cpus, free_gpus;
    uint64_t mem_mib;
    int64_t free_mem_mib; /* below zero when the host shrank under running jobs */
};
struct wire_tasks {
    uint64_t pending;
    uint32_t starting, running, completing;
};
struct wire_status {
    const char *version;
    int64_t pid;
    uint32_t uid;
    const char *user; /* the daemon's; NULL: the uid has no name */
    const char *state_directory, *socket;
    int64_t started_us, now_us;
    struct wire_host host;
    struct wire_tasks tasks;
    uint32_t associations;
    const char *policy;            /* "fair-tree, ties merge, half-life 7-00:00:00" */
    const char *model, *algorithm; /* "priority/multifactor", "fair-tree" */
    struct wire_list settings;     /* of wire_setting */
};

struct wire_difference {
    const char *account, *user, *qos, *project, *tres;
    double stored, recomputed;
};
struct wire_verified {
    uint32_t associations, owners;
    uint64_t tasks;
    struct wire_list differences; /* of wire_difference */
};

/* --- what an administrator names ---------------------------------------------------------------------------------- */

/* A partition, QOS, policy user, project, department or resource. Its fields, in the order of the kind's table
 * (policy/objects.h; a test holds the two together), are in values; how one is kept depends on the field's type. */
enum { WIRE_OBJECT_KINDS = 6, WIRE_OBJECT_VALUES = 6 };
struct wire_object_value {
    int64_t number; /* -1: null, no limit */
    double real;
    const char *text; /* spans too: as they are given */
    bool is_true;
};
struct wire_object_row {
    const char *name;
    struct wire_object_value values[WIRE_OBJECT_VALUES];
    double usage; /* of a QOS: decayed billing-seconds */
    int64_t created_us;
};
struct wire_object_list {
    struct wire_list rows; /* under the kind's plural: "partitions" */
};

/* By kind, in the order of enum object_kind. Bodies of POST and PATCH are pairs (wire_read_pairs) of the row's fields, in
 * POST with the name. */
struct wire_object_kind {
    const char *path; /* WIRE_PARTITIONS; one of them: below it by name */
    const struct wire_shape *row, *list;
};
extern const struct wire_object_kind wire_object_kinds[WIRE_OBJECT_KINDS];
extern const struct wire_shape wire_partition_row, wire_partition_list, wire_qos_row, wire_qos_list,
    wire_policy_user_row, wire_policy_user_list, wire_project_row, wire_project_list, wire_department_row,
    wire_department_list, wire_resource_row, wire_resource_list;

extern const struct wire_shape wire_error_shape, wire_submitted_shape, wire_count_shape, wire_done_shape,
    wire_job_row_shape, wire_waited_shape, wire_job_list_shape, wire_priority_row_shape, wire_priority_list_shape,
    wire_share_row_shape, wire_share_list_shape, wire_account_row_shape, wire_account_list_shape, wire_user_row_shape,
    wire_user_list_shape, wire_setting_shape, wire_setting_list_shape, wire_host_shape, wire_tasks_shape,
    wire_status_shape, wire_difference_shape, wire_verified_shape;

#endif
