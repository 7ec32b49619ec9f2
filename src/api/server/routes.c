/* The table of routes. The dispatch, the replies to wrong methods and the description at /v1/openapi.json all come from
 * it, so a new route is a row and a handler. */
#include <string.h>

#include "api/server/internal.h"

#define GET MHD_HTTP_METHOD_GET
#define POST MHD_HTTP_METHOD_POST
#define PATCH MHD_HTTP_METHOD_PATCH
#define DELETE MHD_HTTP_METHOD_DELETE

#define ACCOUNT_PATH API_ACCOUNTS "/{name}"
#define JOB_PATH API_JOBS "/{id}"
#define USER_PATH API_USERS "/{name}"

enum { OK = MHD_HTTP_OK, CREATED = MHD_HTTP_CREATED };

#define BODY(shape) .body = &(shape), .body_kind = BODY_OBJECT

/* The four routes of a kind of object (fields/objects.h). */
#define OBJECT_ROUTES(where, which, ids, one, many)                                                       \
    {.method = GET,                                                                                       \
     .path = where,                                                                                       \
     .id = "list" ids "s",                                                                                \
     .permission = PERMISSION_READ,                                                                       \
     .summary = many,                                                                                     \
     .handle = server_get_objects,                                                                        \
     .reply = &api_object_lists[which],                                                                   \
     .status = OK,                                                                                        \
     .object = (which)},                                                                                  \
        {.method = POST,                                                                                  \
         .path = where,                                                                                   \
         .id = "add" ids,                                                                                 \
         .permission = PERMISSION_OBJECTS,                                                                \
         .summary = "add " one,                                                                           \
         .handle = server_post_object,                                                                    \
         .body_kind = BODY_ADD,                                                                           \
         .reply = &api_done_shape,                                                                        \
         .status = OK,                                                                                    \
         .object = (which)},                                                                              \
        {.method = PATCH,                                                                                 \
         .path = where "/{name}",                                                                         \
         .id = "modify" ids,                                                                              \
         .permission = PERMISSION_OBJECTS,                                                                \
         .summary = "change " one,                                                                        \
         .handle = server_patch_object,                                                                   \
         .body_kind = BODY_CHANGE,                                                                        \
         .reply = &api_done_shape,                                                                        \
         .status = OK,                                                                                    \
         .object = (which)},                                                                              \
    {                                                                                                     \
        .method = DELETE, .path = where "/{name}", .id = "delete" ids, .permission = PERMISSION_OBJECTS,  \
        .summary = "delete " one, .handle = server_delete_object, .reply = &api_done_shape, .status = OK, \
        .object = (which)                                                                                 \
    }

const struct route routes[] = {
    {.method = GET,
     .path = API_ACCOUNTS,
     .id = "listAccounts",
     .permission = PERMISSION_READ,
     .summary = "every account",
     .handle = server_get_accounts,
     .reply = &api_account_list_shape,
     .status = OK,
     .is_long = true},
    {.method = POST,
     .path = API_ACCOUNTS,
     .id = "addAccount",
     .permission = PERMISSION_ACCOUNTS,
     .summary = "add an account",
     .handle = server_post_account,
     BODY(api_account_shape),
     .reply = &api_done_shape,
     .status = OK},
    {.method = PATCH,
     .path = ACCOUNT_PATH,
     .id = "modifyAccount",
     .permission = PERMISSION_ACCOUNTS,
     .summary = "change an account's shares or priority, or move it",
     .handle = server_patch_account,
     BODY(api_account_change_shape),
     .reply = &api_done_shape,
     .status = OK},
    {.method = DELETE,
     .path = ACCOUNT_PATH,
     .id = "deleteAccount",
     .permission = PERMISSION_ACCOUNTS,
     .summary = "delete an empty account; its usage goes to its parent",
     .handle = server_delete_account,
     .reply = &api_done_shape,
     .status = OK},

    {.method = GET,
     .path = API_AUDIT,
     .id = "listAudit",
     .permission = PERMISSION_AUDIT,
     .summary = "administrative changes, and who made them",
     .handle = server_get_audit,
     .query = &api_audit_query_shape,
     .reply = &api_audit_list_shape,
     .status = OK,
     .is_long = true},

    {.method = GET,
     .path = API_BACKUP,
     .id = "backUp",
     .permission = PERMISSION_BACKUP,
     .summary = "a copy of all data, as of one commit, whose number is in the header " API_COMMIT_HEADER,
     .handle = server_get_backup,
     .reply_help = "An SQLite database (docs/schema.md).",
     .reply_type = TYPE_DATABASE,
     .status = OK,
     .is_long = true},

    {.method = GET,
     .path = API_CLOCK,
     .id = "showClock",
     .permission = PERMISSION_READ,
     .summary = "the time of the instance, and what happened to the clock of the machine",
     .handle = server_get_clock,
     .reply = &api_clock_shape,
     .status = OK},
    {.method = POST,
     .path = API_CLOCK,
     .id = "settleGap",
     .permission = PERMISSION_CLOCK,
     .summary = "say whether a gap after a reboot is counted",
     .handle = server_post_clock,
     BODY(api_gap_shape),
     .reply = &api_done_shape,
     .status = OK},

    {.method = GET,
     .path = API_GPUS,
     .id = "listGpus",
     .permission = PERMISSION_READ,
     .summary = "the GPUs of the machine, who has them and who uses them",
     .handle = server_get_gpus,
     .reply = &api_gpu_list_shape,
     .status = OK},

    {.method = POST,
     .path = API_HISTORY_MOVE_IN,
     .id = "moveIn",
     .permission = PERMISSION_MOVE_IN,
     .summary = "take the history of an own private instance along",
     .handle = server_post_move_in,
     BODY(api_move_in_shape),
     .reply = &api_moved_in_shape,
     .status = OK,
     .body_max = API_MOVE_IN_MAX},
    {.method = POST,
     .path = API_HISTORY_PRUNE,
     .id = "pruneHistory",
     .permission = PERMISSION_PRUNE,
     .summary = "remove jobs that ended long ago",
     .handle = server_post_prune,
     BODY(api_prune_shape),
     .reply = &api_pruned_shape,
     .status = OK},

    {.method = GET,
     .path = API_JOBS,
     .id = "listJobs",
     .permission = PERMISSION_READ,
     .summary = "jobs and their tasks, at one time",
     .handle = server_get_jobs,
     .query = &api_jobs_query_shape,
     .reply = &api_job_list_shape,
     .status = OK,
     .is_long = true},
    {.method = POST,
     .path = API_JOBS,
     .id = "submitJob",
     .permission = PERMISSION_SUBMIT,
     .summary = "submit a job, or ask when it would start",
     .handle = server_post_job,
     .query = &api_submit_query_shape,
     BODY(api_submit_shape),
     .reply = &api_submitted_shape,
     .status = CREATED,
     .body_max = API_BODY_MAX},
    {.method = POST,
     .path = API_JOBS_CANCEL,
     .id = "cancelJobs",
     .permission = PERMISSION_OWN_JOBS,
     .summary = "end jobs and tasks, pending or running; all that are named, or none",
     .handle = server_post_cancel,
     BODY(api_cancel_shape),
     .reply = &api_count_shape,
     .status = OK},
    {.method = POST,
     .path = API_JOBS_HOLD,
     .id = "holdJobs",
     .permission = PERMISSION_OWN_JOBS,
     .summary = "keep pending jobs from starting",
     .handle = server_post_hold,
     BODY(api_jobs_shape),
     .reply = &api_count_shape,
     .status = OK},
    {.method = POST,
     .path = API_JOBS_RELEASE,
     .id = "releaseJobs",
     .permission = PERMISSION_OWN_JOBS,
     .summary = "let held jobs start",
     .handle = server_post_release,
     BODY(api_jobs_shape),
     .reply = &api_count_shape,
     .status = OK},
    {.method = POST,
     .path = API_JOBS_REQUEUE,
     .id = "requeueJobs",
     .permission = PERMISSION_OWN_JOBS,
     .summary = "end running jobs, and let them and ended ones start again",
     .handle = server_post_requeue,
     BODY(api_requeue_shape),
     .reply = &api_count_shape,
     .status = OK},
    {.method = POST,
     .path = API_JOBS_SUSPEND,
     .id = "suspendJobs",
     .permission = PERMISSION_OWN_JOBS,
     .summary = "stop the processes of running jobs until they are resumed",
     .handle = server_post_suspend,
     BODY(api_suspend_shape),
     .reply = &api_count_shape,
     .status = OK},
    {.method = POST,
     .path = API_JOBS_RESUME,
     .id = "resumeJobs",
     .permission = PERMISSION_OWN_JOBS,
     .summary = "let suspended jobs run on",
     .handle = server_post_resume,
     BODY(api_suspend_shape),
     .reply = &api_count_shape,
     .status = OK},
    {.method = POST,
     .path = API_JOBS_SIGNAL,
     .id = "signalJobs",
     .permission = PERMISSION_OWN_JOBS,
     .summary = "send a signal to the processes of running jobs",
     .handle = server_post_signal,
     BODY(api_signal_shape),
     .reply = &api_count_shape,
     .status = OK},
    {.method = GET,
     .path = JOB_PATH,
     .id = "showJob",
     .permission = PERMISSION_READ,
     .summary = "a job and all its tasks, or one task",
     .handle = server_get_job,
     .reply = &api_job_list_shape,
     .status = OK,
     .is_long = true},
    {.method = PATCH,
     .path = JOB_PATH,
     .id = "updateJob",
     .permission = PERMISSION_OWN_JOBS,
     .summary = "change a job",
     .handle = server_patch_job,
     BODY(api_update_shape),
     .reply = &api_updated_shape,
     .status = OK},
    {.method = DELETE,
     .path = JOB_PATH,
     .id = "cancelJob",
     .permission = PERMISSION_OWN_JOBS,
     .summary = "end a job or task, pending or running",
     .handle = server_delete_job,
     .reply = &api_count_shape,
     .status = OK},
    {.method = GET,
     .path = JOB_PATH "/check",
     .id = "checkJob",
     .permission = PERMISSION_READ,
     .summary = "whether a waiting job could run, and why it does not",
     .handle = server_get_check,
     .reply = &api_check_shape,
     .status = OK},
    {.method = GET,
     .path = JOB_PATH "/submission",
     .id = "showSubmission",
     .permission = PERMISSION_SUBMIT,
     .summary = "what an own job was submitted with, to be submitted again",
     .handle = server_get_submission,
     .reply = &api_submit_shape,
     .status = OK},
    {.method = GET,
     .path = JOB_PATH "/wait",
     .id = "waitForJob",
     .permission = PERMISSION_READ,
     .summary = "wait for the end of a job or task, and of all its tasks",
     .handle = server_get_wait,
     .query = &api_wait_query_shape,
     .reply = &api_waited_shape,
     .status = OK,
     .is_long = true},

    OBJECT_ROUTES(API_DEPARTMENTS, OBJECT_DEPARTMENT, "Department", "a department", "every department"),
    OBJECT_ROUTES(API_PARTITIONS, OBJECT_PARTITION, "Partition", "a partition", "every partition"),
    OBJECT_ROUTES(API_USER_POLICIES, OBJECT_USER_POLICY, "UserPolicy", "what the ticket policies give a user",
                  "what the ticket policies give every user"),
    OBJECT_ROUTES(API_PROJECTS, OBJECT_PROJECT, "Project", "a project", "every project"),
    OBJECT_ROUTES(API_QOS, OBJECT_QOS, "Qos", "a quality of service", "every quality of service"),
    OBJECT_ROUTES(API_RESOURCES, OBJECT_RESOURCE, "Resource", "a resource that jobs can request",
                  "every resource that jobs can request"),
    OBJECT_ROUTES(API_HOSTS, OBJECT_HOST, "Host", "a host", "every host"),
    OBJECT_ROUTES(API_GROUPS, OBJECT_GROUP, "Group", "a group of hosts", "every group of hosts"),
    OBJECT_ROUTES(API_ENVIRONMENTS, OBJECT_ENVIRONMENT, "ParallelEnvironment", "a parallel environment",
                  "every parallel environment"),
    OBJECT_ROUTES(API_CALENDARS, OBJECT_CALENDAR, "Calendar", "a calendar of queues", "every calendar of queues"),
    OBJECT_ROUTES(API_QUOTAS, OBJECT_QUOTA, "Quota", "a resource quota set", "every resource quota set"),

    {.method = GET,
     .path = API_OPENAPI,
     .id = "describe",
     .permission = PERMISSION_READ,
     .summary = "this description",
     .handle = server_get_openapi,
     .reply_help = "An OpenAPI document.",
     .status = OK,
     .is_long = true},

    {.method = GET,
     .path = API_PLACES,
     .id = "listPlaces",
     .permission = PERMISSION_READ,
     .summary = "each partition on each of its hosts, with its slots and its state",
     .handle = server_get_places,
     .reply = &api_place_list_shape,
     .status = OK},

    {.method = GET,
     .path = API_PRIORITIES,
     .id = "listPriorities",
     .permission = PERMISSION_READ,
     .summary = "jobs by priority, with every term of the model in force",
     .handle = server_get_priorities,
     .query = &api_priorities_query_shape,
     .reply = &api_priority_list_shape,
     .status = OK,
     .is_long = true},

    {.method = GET,
     .path = API_SCENARIO,
     .id = "dumpScenario",
     .permission = PERMISSION_READ,
     .is_whole = true,
     .summary = "the instance at this time, as a scenario document (docs/scenarios.md)",
     .handle = server_get_scenario,
     .reply_help = "A scenario document.",
     .status = OK,
     .is_long = true},

    {.method = GET,
     .path = API_SETTINGS,
     .id = "listSettings",
     .permission = PERMISSION_READ,
     .summary = "every setting",
     .handle = server_get_settings,
     .reply = &api_setting_list_shape,
     .status = OK},
    {.method = PATCH,
     .path = API_SETTINGS,
     .id = "changeSettings",
     .permission = PERMISSION_SETTINGS,
     .summary = "change settings; all that are named, or none",
     .handle = server_patch_settings,
     .body_kind = BODY_SETTINGS,
     .reply = &api_done_shape,
     .status = OK},

    {.method = GET,
     .path = API_SHARES,
     .id = "listShares",
     .permission = PERMISSION_READ,
     .summary = "the tree of associations with shares, usage and factors, at one time",
     .handle = server_get_shares,
     .query = &api_shares_query_shape,
     .reply = &api_share_list_shape,
     .status = OK,
     .is_long = true},

    {.method = GET,
     .path = API_STATUS,
     .id = "showStatus",
     .permission = PERMISSION_READ,
     .summary = "the instance at a glance",
     .handle = server_get_status,
     .reply = &api_status_shape,
     .status = OK},

    {.method = GET,
     .path = API_USE,
     .id = "listUse",
     .permission = PERMISSION_READ,
     .summary = "who uses CPUs, memory and GPUs now, in jobs and outside",
     .handle = server_get_use,
     .query = &api_use_query_shape,
     .reply = &api_use_list_shape,
     .status = OK},

    {.method = GET,
     .path = API_USERS,
     .id = "listUsers",
     .permission = PERMISSION_READ,
     .summary = "every user in every account",
     .handle = server_get_users,
     .reply = &api_user_list_shape,
     .status = OK,
     .is_long = true},
    {.method = POST,
     .path = API_USERS,
     .id = "addUser",
     .permission = PERMISSION_USERS,
     .summary = "add a user to an account",
     .handle = server_post_user,
     BODY(api_user_shape),
     .reply = &api_done_shape,
     .status = OK},
    {.method = PATCH,
     .path = USER_PATH,
     .id = "modifyUser",
     .permission = PERMISSION_USERS,
     .summary = "change a user's shares, priority or default account",
     .handle = server_patch_user,
     .query = &api_account_query_shape,
     BODY(api_user_change_shape),
     .reply = &api_done_shape,
     .status = OK},
    {.method = DELETE,
     .path = USER_PATH,
     .id = "deleteUser",
     .permission = PERMISSION_USERS,
     .summary = "remove a user from an account, or from all",
     .handle = server_delete_user,
     .query = &api_account_query_shape,
     .reply = &api_done_shape,
     .status = OK},

    {.method = GET,
     .path = API_WHOAMI,
     .id = "whoami",
     .permission = PERMISSION_READ,
     .summary = "who the client is, and what it may do",
     .handle = server_get_whoami,
     .reply = &api_whoami_shape,
     .status = OK},

    {.method = GET,
     .path = API_VERIFY,
     .id = "verify",
     .permission = PERMISSION_VERIFY,
     .is_whole = true,
     .summary = "recompute all usage from the job records, and compare",
     .handle = server_get_verify,
     .reply = &api_verified_shape,
     .status = OK},
    {0},
};

/* Whether a path fits a pattern, segment by segment. out_segment: the path's segment for the {part}, or NULL. */
static bool path_fits(const char *pattern_text, const char *path_text, struct str *out_segment)
{
    struct str pattern = str(pattern_text), path = str(path_text), segment = {0};
    while (pattern.text != NULL && path.text != NULL) {
        struct str expected = str_cut(pattern, '/', &pattern), found = str_cut(path, '/', &path);
        if (expected.length > 0 && expected.text[0] == '{') {
            if (found.length == 0) return false;
            segment = found;
        } else if (!str_equal(expected, found)) {
            return false;
        }
    }
    *out_segment = segment;
    return pattern.text == NULL && path.text == NULL;
}

/* The methods of a path, "GET, HEAD, PATCH, OPTIONS", or NULL. /v1/jobs/cancel also fits /v1/jobs/{id}, so if a route
 * without a {part} fits, only such routes count. */
static const char *methods_of(const char *path, struct arena *arena)
{
    struct buf methods = {0};
    struct str segment;
    bool is_exact = false;
    for (const struct route *route = routes; route->method; route++) {
        if (path_fits(route->path, path, &segment) && segment.text == NULL) is_exact = true;
    }
    for (const struct route *route = routes; route->method; route++) {
        if (!path_fits(route->path, path, &segment) || (is_exact && segment.text != NULL)) continue;
        buf_format(&methods, "%s, ", route->method);
        if (strcmp(route->method, GET) == 0) buf_format(&methods, "%s, ", MHD_HTTP_METHOD_HEAD);
    }
    if (methods.length == 0) return NULL;
    buf_add_text(&methods, MHD_HTTP_METHOD_OPTIONS);
    const char *text = arena_copy(arena, (struct str){methods.text, methods.length});
    buf_release(&methods);
    return text;
}

const struct route *route_find(const char *method, const char *path, struct arena *arena, struct str *out_segment,
                               const char **out_allow, struct err *e)
{
    const struct route *found = NULL;
    struct str segment;
    const char *row_method = strcmp(method, MHD_HTTP_METHOD_HEAD) == 0 ? GET : method;
    *out_allow = NULL;
    for (const struct route *route = routes; route->method; route++) {
        if (strcmp(route->method, row_method) != 0 || !path_fits(route->path, path, &segment)) continue;
        if (found != NULL && segment.text != NULL) continue;
        found = route;
        *out_segment = segment;
        if (segment.text == NULL) break;
    }
    const char *allow = methods_of(path, arena);
    if (found != NULL && strstr(allow, found->method) != NULL) return found;
    *out_allow = allow;
    if (allow == NULL) {
        err_set(e, ERR_NOT_FOUND, "no path '%.100s'; GET %s lists the paths", path, API_OPENAPI);
    } else {
        err_set(e, ERR_USAGE, "%.20s is not accepted at '%.100s'; accepted are %s", method, path, allow);
    }
    return NULL;
}
