/* The HTTP server of the daemon. A request that changes something becomes an event: it is decoded and queued, and its
 * connection is suspended until the daemon has committed the event. A request that only reads is answered from the
 * committed state, or streamed from a snapshot of it. The server runs on the thread of its caller and never blocks.
 *
 *     server_ready  ->  server_take each  ->  decide, commit  ->  server_answer each  ->  server_committed */
#ifndef FAIRLEAD_API_SERVER_SERVER_H
#define FAIRLEAD_API_SERVER_SERVER_H

#include "engine/audit_query.h"
#include "engine/engine.h"
#include "engine/job_query.h"
#include "engine/moved_jobs.h"

struct server;
struct request;

/* The part of a submission that the engine does not need, as in struct job_script of the store. */
struct request_script {
    struct str script;
    const char *script_name;
    struct str *arguments;
    uint32_t argument_count;
    struct str *environment;
    uint32_t environment_count;
};

/* What a submission may have; the host can run whatever is within them. */
enum {
    SUBMIT_STRING_MAX = 131071,          /* bytes of an argument, or of NAME=value */
    SUBMIT_STRINGS_MAX = 1000000,        /* count of arguments, and of variables */
    SUBMIT_BYTES_MAX = 60 * 1024 * 1024, /* of script, arguments and variables, with 4 for each of the latter */
    JOBS_NAMED_MAX = 100000,             /* ids in a request about jobs */
};

/* The time of the instance (store.h has what the kinds mean). */
struct server_clock_event {
    int64_t at_us;
    const char *kind; /* "SET_RUNNING" */
    int64_t by_s, shift_s;
};
struct server_clock {
    int64_t wall_us;
    bool is_followed; /* false: the wall clock is certainly wrong, or the time is virtual */
    bool has_gap;
    int64_t gap_s, gap_from_us;              /* of a gap that is not counted */
    const struct server_clock_event *events; /* the newest, the oldest of them first */
    uint32_t event_count;
};

/* What the host computes from a copy of the state. argument is passed to each function. */
struct snapshot_work {
    void (*prepare)(void *argument);                   /* in the loop, right before; may be NULL */
    void (*compute)(void *argument, struct buf *out);  /* from the copy: what it changes is lost, but for out */
    void (*read)(void *argument, struct buf *text);    /* in a thread: what compute wrote, which it may keep */
    void (*done)(void *argument, const struct err *e); /* in the loop; e not NULL: nothing was computed or read */
};

/* A row of api_enforcement. */
struct server_enforcement {
    const char *resource, *mechanism;
    const char *gap; /* NULL: none that is known */
};

/* What processes use now (daemon/use_account.h): those of a task, or those of a user outside jobs. */
struct server_use_part {
    uint64_t launch_id; /* 0: outside jobs */
    uint32_t uid;
    const char *user;  /* NULL: it has no name */
    const char *state; /* "over", "low", "exempt"; NULL */
    double cpus;
    int64_t mem_kib;
    uint64_t gpus; /* bit n: GPU n */
    uint32_t process_count;
};
struct server_use_process {
    struct server_use_part part; /* of the process alone */
    int32_t pid;
    const char *name; /* any bytes */
};
struct server_use {
    const struct server_use_part *parts;
    const struct server_use_process *processes;
    uint32_t part_count, process_count;
};

/* A process that uses a GPU, and a GPU (daemon/gpus.h); -1: not known. */
struct server_gpu_user {
    int32_t pid;
    int64_t mem_mib;
    bool is_known;      /* it is known whether it is a job's */
    uint64_t launch_id; /* 0: no job's */
    uint32_t uid;
    const char *user; /* NULL: it has no name */
};
struct server_gpu {
    const char *vendor, *uuid, *bus, *name;
    int64_t minor, mem_mib, used_mib;
    int32_t busy;
    const char *fault; /* why it does not answer; NULL: it does */
    bool is_kept_back; /* because of processes without a job */
    const struct server_gpu_user *users;
    uint32_t user_count;
};

/* What the server gets from its host, the daemon. context is passed to each function. */
struct server_host {
    void *context;
    struct state *state; /* equals the committed state while server_ready, server_answer and server_committed run */
    struct job_reader jobs;
    struct audit_reader audit;
    int64_t (*now_us)(void *context);
    /* Who a client is; texts of *out_actor are in memory of arena. 0: known. 1: not yet; the host calls
     * server_identified when it is. -1 with *e: the client is not served. */
    int (*identify)(void *context, uint32_t uid, uint32_t gid, struct arena *arena, struct actor *out_actor,
                    struct err *e);
    /* Starts a verification and returns; the host calls server_verified with the request when it is done. */
    void (*verify)(void *context, struct request *request);
    /* Calls run in a thread and then done in the loop; run uses nothing but the argument. NULL: there is no thread. */
    void (*run_in_thread)(void *context, void (*run)(void *), void (*done)(void *), void *argument);
    /* Computes something from the state as it is then, while the loop goes on. compute has a copy of the memory, and
     * uses no file, database, thread or clock. done is called later, not by this call. NULL: the host has no copies. */
    void (*run_in_snapshot)(void *context, const struct snapshot_work *work, void *argument);
    /* Begins to remove jobs that ended before before_us, or, with is_dry_run, to count them; the host calls
     * server_pruned with the request when it is done. ERR_UNAVAILABLE: it is doing so already; server_pruned is not
     * called then. */
    int (*prune)(void *context, struct request *request, int64_t before_us, bool is_dry_run, struct err *e);
    /* Takes checked jobs of another instance into the history of the request's user, or, with is_dry_run, counts them;
     * calls server_moved_in later. The jobs live as long as the request. NULL: it takes none. */
    void (*move_in)(void *context, struct request *request, const struct moved_jobs *jobs, bool is_dry_run);
    /* Begins a copy of the database; the host calls server_backed_up with the request when it is made. ERR_CONFLICT:
     * not now; server_backed_up is not called then. */
    int (*backup)(void *context, struct request *request, struct err *e);
    /* Begins to measure what processes use; the host calls server_use_measured with the request, perhaps at once.
     * ERR_CONFLICT, ERR_UNAVAILABLE: it cannot; server_use_measured is not called then. NULL: no processes. */
    int (*measure_use)(void *context, struct request *request, struct err *e);
    /* Sets the facts about ended jobs that a submission needs (event->ends), in memory of arena; release_ends frees
     * their sets. NULL: there are none. */
    void (*read_ends)(void *context, struct event *event, struct arena *arena);
    void (*release_ends)(struct event *event);
    /* Reads the script, arguments and environment of a job into memory of arena. In any thread. ERR_NOT_FOUND: they are
     * not stored. NULL: there are none. */
    int (*read_script)(void *context, uint32_t job_id, struct arena *arena, struct request_script *out, struct err *e);
    /* Whether the host can use the programs that a well-formed value of a setting names. ERR_INPUT names the path.
     * NULL: always. */
    int (*check_program)(void *context, enum setting setting, const char *value, struct err *e);
    /* Whether the comment of a submission or an update is one that the cluster can use; NULL: any is. */
    int (*check_comment)(void *context, const char *comment, struct err *e);
    /* Appends what is wrong with load sensors now: "/opt/scratch: ended". NULL: nothing is known. */
    void (*describe_sensors)(void *context, struct buf *out);
    /* What keeps jobs to what they asked for, in memory of arena; returns the count. NULL: nothing is known. */
    uint32_t (*list_enforcement)(void *context, struct arena *arena, const struct server_enforcement **out_rows);
    /* The GPUs of this machine by number, in memory of arena; returns the count. NULL: nothing is known. */
    uint32_t (*list_gpus)(void *context, struct arena *arena, const struct server_gpu **out);
    /* Appends what is wrong with them: "nvidia: ended; GPU 1 drained: a GPU does not answer". NULL: likewise. */
    void (*describe_gpus)(void *context, struct buf *out);
    /* Appends who uses too much outside jobs; nothing if outside_jobs is ignore. has_names: otherwise only how many. */
    void (*describe_outside)(void *context, bool has_names, struct buf *out);
    /* The clock, in memory of arena. NULL: nothing is known. */
    void (*describe_clock)(void *context, struct arena *arena, struct server_clock *out);
    /* Takes note of what a gap is: counted, or never; later the host calls server_settled. NULL: there are no gaps. */
    void (*settle_gap)(void *context, struct request *request, bool counts);
    const char *state_directory, *socket_path, *host_name;
    bool serves_all;              /* all users of the machine may connect */
    const int64_t *started_us;    /* changes with all times */
    const char *write_failure;    /* why nothing can be written to the database now; empty: it can */
    const char *launcher_failure; /* why no launcher can be reached now; empty: one can */
    const char *terminals;        /* the directory with the sockets of jobs with a terminal; NULL: no job has one */
    const struct buf *recovery;   /* which commits this start found missing, so far */
    const char *(*last_recovery)(void *context, int64_t *out_at_us); /* or an earlier one; may be NULL and give NULL */
    const char *pretend_path; /* the document of a pretend instance; NULL: its jobs are real */
    uint32_t speed;           /* seconds of its time in a second; 1 if its jobs are real */
};

/* Listens on socket_path: creates the socket, mode 0600, or 0666 with serves_all, and replaces one on which no process
 * listens. Copies *host, but not its texts. NULL with *e: ERR_CONFLICT another process listens there, or the path is no
 * socket; ERR_INPUT the path does not have 1 to 107 bytes; ERR_IO. */
struct server *server_open(const char *socket_path, const struct server_host *host, struct err *e);

/* Answers all waiting requests with 503, removes the socket, and frees the server. */
void server_close(struct server *s);

/* Listens anew if the socket's file was removed; connections that exist stay. 1: it does; 0: the file is there; -1 with
 * *e: it cannot, as server_open. */
int server_listen_again(struct server *s, struct err *e);

/* For the caller's loop: it calls server_ready when the descriptor is readable, and at the latest after the timeout
 * (-1: none). */
int server_descriptor(const struct server *s);
int64_t server_timeout_ms(const struct server *s);
void server_ready(struct server *s);

/* To be called when clients may be known that were not: their requests go on. */
void server_identified(struct server *s);

/* The next request that the engine has to decide, in order of arrival, or NULL. The request, its event and the texts of
 * the event live until server_answer. */
struct request *server_take(struct server *s);
const struct event *request_event(const struct request *r);
const struct actor *request_actor(const struct request *r);
const struct request_script *request_script(const struct request *r); /* NULL: not a submission */

/* Appends a submission as a program of the site reads it: an object with event, user, uid, gid and job, the body. In
 * any thread, while the caller has the request. ERR_INPUT: a text is not UTF-8. */
int request_write_submission(const struct request *r, struct buf *out, struct err *e);

/* Answers a request after the commit: with the result of its event, or, if e is not NULL, with the error. Afterwards r
 * must not be used. */
void server_answer(struct request *r, const struct event_result *result, const struct err *e);

/* To be called after each commit: answers the requests that wait for the end of a job that has ended. */
void server_committed(struct server *s);

/* Answers a request of host->settle_gap: done, or, if e is not NULL, with the error. */
void server_settled(struct request *r, const struct err *e);

/* Answers a request of host->prune: so many jobs and starts of tasks; or, if e is not NULL, with the error. */
void server_pruned(struct request *r, int64_t before_us, uint64_t jobs, uint64_t tasks, const struct err *e);

/* Answers a request of host->move_in: so many jobs and starts that are new, that were known, and that are not taken
 * because the history is not kept that long; or, if e is not NULL, with the error. */
struct server_moved {
    uint32_t jobs, tasks, known, removed;
};
void server_moved_in(struct request *r, const struct server_moved *moved, const struct err *e);

/* Answers a request of host->backup: with the file, whose descriptor belongs to the server then, and the number of its
 * commit; or, if e is not NULL, with the error. */
void server_backed_up(struct request *r, int fd, uint64_t commit, const struct err *e);

/* Answers a request of host->measure_use with what the client may see of it; or, if e is not NULL, with the error. */
void server_use_measured(struct request *r, const struct server_use *use, const struct err *e);

/* To be called when all times of the state have changed: forgets what was computed from them. */
void server_times_changed(struct server *s);

/* Answers the request of host->verify: with body, a JSON object, which is copied; or, if e is not NULL, with the
 * error. */
void server_verified(struct request *r, struct str body, const struct err *e);

#endif
