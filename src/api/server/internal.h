/* What the files of the server share.
 *
 *     server.c    libmicrohttpd, connections, lives of requests   decode.c      bodies into events
 *     listen.c    the socket                                      jobs.c        listings of jobs
 *     connections.c  phases of connections, idle ones             accept.c      accepts clients, within limits
 *     routes.c    the table of routes                             wait.c        waiting for the end of a job
 *     request.c   suspended requests, the queue                   shares.c      the tree of associations
 *     query.c     the query, percent escapes                      accounts.c    accounts, and users in accounts
 *     reply.c     short replies, errors                           objects.c     partitions, QOS and so on
 *     stream.c    long replies                                    priorities.c  jobs by priority
 *     records.c   long replies of records in memory               status.c      settings, and the instance at a glance
 *     answer.c    replies to decided requests                     openapi.c     the description of the API
 *     clock.c     the clock for budgets and timeouts          scenario.c    the state as a scenario document
 *     audit.c     administrative changes                   prune.c       removal of ended jobs
 *     move_in.c   ended jobs of other instances            moved_jobs.c  these as bodies
 *     backup.c    a copy of the database
 *     check.c     why jobs wait                               places.c      partitions on hosts
 *     read_body.c bodies, long ones in a thread                test_job.c    submissions that are only tried
 *     snapshot.c  replies from a copy of the state             expected_plan.c  the plan for listings
 *     whoami.c    who the client is, and what it may do    use.c         who uses the machine now
 *
 * server.c calls the table of routes, the table calls the handlers (right column), and they call the files on the left
 * below the table. The one exception is openapi.c: it describes the table that it is a row of. */
#ifndef FAIRLEAD_API_SERVER_INTERNAL_H
#define FAIRLEAD_API_SERVER_INTERNAL_H

#include <microhttpd.h>

#include "api/bodies.h"
#include "api/server/expected_starts.h"
#include "api/server/server.h"
#include "fields/job_id.h"

enum {
    BUDGET_US = 4000, /* for rendering in one server_ready */
    CHUNK_US = 2000,  /* for rendering one piece of a stream */
    CHUNK_BYTES = 65536,
    STREAMS_MAX = 32,         /* at a time: each has a snapshot, in memory or in the store */
    STREAM_S = 600,           /* for reading a listing; after that it is broken off, which frees its snapshot */
    SMALL_BODY_MAX = 4194304, /* of requests without a script */
    BODIES_MAX = 536870912,   /* bytes of all long bodies that are in memory */
    LONG_BODY_MIN = 65536,    /* shorter ones are not counted: connections bound their number */
    WAIT_DEFAULT_S = 30,
};

/* What a request waits for. */
enum stage {
    STAGE_READING,        /* its body */
    STAGE_IDENTIFYING,    /* server_identified */
    STAGE_READ_IN_THREAD, /* its body is read by a thread (read_body.c) */
    STAGE_QUEUED,         /* server_take */
    STAGE_TAKEN,          /* server_answer */
    STAGE_WAITING,        /* the end of a job, or its timeout (wait.c) */
    STAGE_VERIFYING,      /* server_verified, _settled, _pruned, _moved_in, _backed_up, _use_measured */
    STAGE_RENDERING,      /* its reply is rendered by a thread (answer.c), or from a copy of the state (snapshot.c) */
    STAGE_PLANNING,       /* a plan is made, with which its handler goes on (expected_plan.c) */
    STAGE_REPLIED,        /* libmicrohttpd, which sends the reply */
};

/* What a connection does. */
enum connection_phase {
    CONNECTION_IDLE,    /* no request has begun; a part of its head may have arrived */
    CONNECTION_READING, /* the head of a request has arrived, and not yet all of its body */
    CONNECTION_BUSY,    /* with a request that is complete */
    CONNECTION_CLOSING, /* the socket is shut down */
    CONNECTION_PHASE_COUNT
};

struct connection {
    struct connection *next, *previous; /* in server->connections[phase] */
    int fd;
    uint32_t uid; /* when it was accepted */
    enum connection_phase phase;
    int64_t since_us;        /* of the phase, monotonic */
    struct request *request; /* NULL: none since the last reply */
    bool has_replied;        /* to a request */
    bool is_half_closed;     /* the client sends no more; in server->half_closed */
    bool is_watched;         /* by server->poll_fd */
};

struct connection_list {
    struct connection *first, *last;
};

/* A user with connections or streams. A stream may outlive its connection for a moment. */
struct connection_user {
    uint32_t uid, connection_count, waiting_count; /* waiting_count: requests in STAGE_WAITING */
    uint32_t stream_count;
    size_t body_bytes; /* of its long bodies */
};

struct request {
    struct server *server;
    struct MHD_Connection *connection;
    const struct route *route; /* NULL: no route matches */
    struct actor actor;
    enum stage stage;
    bool is_anonymous;    /* actor is not known yet */
    bool is_parked;       /* its connection is suspended */
    bool is_head;         /* HEAD: the reply has no body */
    bool is_gone;         /* the client has disconnected */
    size_t dropped_bytes; /* of body, after the request was refused */
    size_t counted_bytes; /* of body, in server->body_bytes and in those of the user */
    struct arena arena;   /* for the event and its texts */
    struct buf body;
    struct body_reading *reading; /* of a long body; NULL: none (read_body.c) */
    const char *segment;          /* the path's {id} or {name}, decoded; NULL */
    struct MHD_Response *reply;
    unsigned status;
    struct request *next, *previous; /* in server->parked */

    struct event *event; /* NULL: it changes nothing, or is not decoded yet */
    struct request_script *script;
    const struct api_submit *submission; /* NULL: not a submission */

    int64_t now_us;          /* of a reply from the state: when the state was like that */
    struct job_ref wait_for; /* of STAGE_WAITING */
    int64_t deadline_us;
};

struct server {
    struct server_host host;
    struct MHD_Daemon *http;
    const char *socket_path;
    const char *user; /* that the daemon runs as; NULL: its uid has no name */
    uint64_t socket_device, socket_inode;
    int poll_fd; /* server_descriptor; see server.c */
    int wake_fd;
    bool is_woken;       /* wake_fd is readable */
    int64_t spent_us;    /* of BUDGET_US */
    int64_t rendered_us; /* when a run that renders last ended, monotonic */
    bool is_closing;
    int listen_fd;
    bool is_accepting;     /* poll_fd watches listen_fd */
    int spare_fd;          /* -1: none; see accept.c */
    int64_t full_since_us; /* when no client could be accepted, monotonic; 0: clients are accepted */
    int64_t request_us;    /* for sending a request, and between two requests */
    uint32_t accepted_uid; /* of the connection that is being added */
    uint32_t connection_count, connections_max;
    uint32_t user_connections_max, user_waiting_max; /* of one user */
    struct connection_list connections[CONNECTION_PHASE_COUNT];
    ARRAY(struct connection_user) users;
    ARRAY(struct connection *) half_closed;
    struct request *parked; /* the suspended ones */
    uint32_t waiting_count, stream_count;
    size_t body_bytes;             /* of long bodies, at most BODIES_MAX */
    ARRAY(struct request *) queue; /* STAGE_QUEUED from queue_first on */
    uint32_t queue_first;

    double *factors; /* fair-share factors by association id, NAN: none; see jobs.c */
    uint32_t factor_count;
    int64_t factors_us;               /* when they were computed, monotonic */
    struct expected_starts *expected; /* NULL: none yet; see expected_plan.c */
    struct expected_plan *planning;   /* that is being made; NULL: none */
    int64_t expected_until_us;        /* it serves until then, monotonic */
    int64_t expected_cost_us;         /* of the last one, which had so many jobs */
    uint32_t expected_job_count;      /* 0: there was none */
    int64_t leaders_until_us;         /* so do the jobs that wait first; see jobs.c */
    struct arena arena;
};

/* Returns 0 if the request has its reply, is queued or parked; -1: the reply is *e. */
typedef int route_handler(struct request *r, struct err *e);

/* What the body of a request has to be. */
enum body_kind {
    BODY_NONE,
    BODY_OBJECT,   /* an object of the route's body shape */
    BODY_SETTINGS, /* pairs of settings */
    BODY_ADD,      /* pairs of the fields of the route's object kind, and the name */
    BODY_CHANGE    /* pairs of the fields of the route's object kind */
};

struct route {
    const char *method, *path; /* "/v1/jobs/{id}": at most one {part} */
    const char *id;            /* of the operation: "cancelJob" */
    const char *summary;
    route_handler *handle;
    const struct wire_shape *query;      /* NULL: none */
    const struct wire_shape *body;       /* of BODY_OBJECT */
    const struct wire_shape *reply;      /* NULL: a document, of which reply_help says what it is */
    const char *reply_help, *reply_type; /* reply_type NULL: TYPE_JSON */
    enum body_kind body_kind;
    enum permission permission; /* that it requires */
    bool is_whole;              /* the reply has what private_data hides: only for clients that see it */
    unsigned status;            /* of success */
    size_t body_max;            /* bytes; 0: SMALL_BODY_MAX */
    enum object_kind object;    /* of routes for objects */
    bool is_long; /* it costs much, or more with the state: it waits for a server_ready with budget left */
};

#define TYPE_JSON "application/json"
#define TYPE_TEXT "text/plain; charset=utf-8"
#define TYPE_DATABASE "application/vnd.sqlite3"

extern const struct route routes[]; /* a row without a method ends them */

/* peer.c: sets the request's actor. 1: the daemon does not know yet who it is. ERR_DENIED: the kernel does not identify
 * the client, or the daemon does not serve it; ERR_UNAVAILABLE. */
int peer_identify(struct request *r, struct err *e);

/* Finds the route of a method and a path; HEAD finds that of GET. path: percent-encoded, as in the request.
 * out_segment: a view of the path's {part}, encoded. NULL with *e: out_allow is the methods of this path, in memory of
 * arena, or NULL if there is no such path. O(routes) */
const struct route *route_find(const char *method, const char *path, struct arena *arena, struct str *out_segment,
                               const char **out_allow, struct err *e);

/* listen.c: opens a listening socket of that mode; -1 with *e. listen_is_there: whether the file still has that device
 * and inode. listen_remove removes it if so. */
int listen_open(const char *path, mode_t mode, uint64_t *out_device, uint64_t *out_inode, struct err *e);
bool listen_is_there(const char *path, uint64_t device, uint64_t inode);
void listen_remove(const char *path, uint64_t device, uint64_t inode);

/* connections.c. connection_notify: for libmicrohttpd. connection_enter: nothing happens to a connection that is being
 * closed. connection_user: the row of a user, added if it has none; it is valid until the next call. */
void connection_notify(void *server, struct MHD_Connection *http, void **socket_context,
                       enum MHD_ConnectionNotificationCode code);
struct connection *connection_of(struct MHD_Connection *http);
void connection_enter(struct server *s, struct connection *c, enum connection_phase phase);
struct connection_user *connection_user(struct server *s, uint32_t uid);

/* connections.c: what all users share. Where the server serves all users, one gets more of it only if as much is left
 * for the others as the user has then: half of it for one, a quarter for the next one. So a user who has nothing of it
 * is served in the presence of any other one. ERR_UNAVAILABLE: too little is left. connection_take_bytes: the bytes of
 * a long body; an increase, up to that number. */
int connection_take_stream(struct server *s, uint32_t uid, struct err *e);
void connection_end_stream(struct server *s, uint32_t uid);
int connection_take_bytes(struct server *s, struct request *r, size_t body_bytes, struct err *e);
void connection_end_bytes(struct server *s, struct request *r);

/* connections.c: answers with an error at once, and shuts the socket down. Nothing must have been sent on it for the
 * request that is answered. */
void connection_refuse(int fd, unsigned status, const struct err *e);

/* connections.c: close the connection that has been idle longest and for a second, if there is one: of the user, or of
 * the one who has most and otherwise of anyone. */
bool connections_evict_of(struct server *s, uint32_t uid);
bool connections_evict(struct server *s);

/* connections.c: answers clients that take too long to send a request; milliseconds until the next one does, -1:
 * never. */
void connections_expire(struct server *s);
int64_t connections_timeout_ms(const struct server *s);

/* connections.c: the client sends no more. connections_end_incomplete answers those whose request is not complete. */
void connection_half_closed(struct server *s, struct connection *c);
void connections_end_incomplete(struct server *s);

/* accept.c. accept_init sets the limits. accept_clients accepts clients that wait; accept_timeout_ms: until it is to be
 * called although the socket is not watched, -1: never. */
void accept_init(struct server *s);
void accept_clients(struct server *s);
int64_t accept_timeout_ms(const struct server *s);

/* reply.c: set the reply of a request. reply_take takes over the memory of body and empties it; reply_write renders a
 * value by its shape; reply_head answers HEAD without the work of GET; reply_error uses the status of the error's
 * kind. */
void reply_take(struct request *r, unsigned status, const char *content_type, struct buf *body);
void reply_write(struct request *r, unsigned status, const struct wire_shape *shape, const void *value);
void reply_head(struct request *r, const char *content_type);
void reply_error(struct request *r, const struct err *e);
void reply_error_status(struct request *r, unsigned status, const struct err *e);

/* query.c: decodes the percent escapes of a segment of the path, or of a part of the query, into memory of arena. what:
 * its name for the error. ERR_INPUT: a malformed escape, or one of a zero byte. */
int request_percent_decode(struct str text, const char *what, struct arena *arena, const char **out_text,
                           struct err *e);

/* read_body.c: the text of the request's body; and its value by the route's shape. */
struct str request_body_text(const struct request *r);
int request_read_body(struct request *r, void *out_value, struct err *e);

/* read_body.c: whether the body is so long that a thread has to read it before the handler is called; parks the request
 * and begins with that. */
bool request_wants_thread(const struct request *r);
void request_read_in_thread(struct request *r);

/* snapshot.c: a reply that is rendered from the whole state. */
struct request_snapshot {
    void (*prepare)(struct request *r);                               /* in the loop, right before; may be NULL */
    int (*render)(struct request *r, struct buf *out, struct err *e); /* 0, or -1 with *e */
    void (*finish)(struct request *r);                                /* in the loop, afterwards; may be NULL */
    const char *content_type;
};

/* snapshot.c: renders the reply and replies: with is_long by a copy of the state, if the host has copies, and parks the
 * request meanwhile. *what outlives the request. 0, or -1 with *e. */
int request_reply_snapshot(struct request *r, const struct request_snapshot *what, bool is_long, struct err *e);

/* expected_plan.c: the plan of all jobs, with a reference for the caller. job_id: one that has to have been there when
 * it was made; *out NULL: it is for one job, and would cost much. 1: the request is parked, and its handler is called
 * again. server_plan_is_long: whether that many plans are left to a copy of the state. */
int server_share_expected(struct request *r, uint32_t job_id, bool is_one, struct expected_starts **out);
bool server_plan_is_long(const struct server *s, uint32_t times);
void server_forget_expected(struct server *s);

/* clock.c: the monotonic clock, for budgets and timeouts. */
int64_t server_monotonic_us(void);

/* query.c: reads the query by the route's shape; a route without one accepts no query, and out_value may be NULL.
 * ERR_INPUT: an unknown name, a name that occurs twice, or a value that is not accepted. */
int request_read_query(struct request *r, void *out_value, struct err *e);

/* decode.c: creates the event of the request, with its actor and that kind; the caller fills the rest. */
struct event *request_new_event(struct request *r, enum event_kind kind);

/* test_job.c: replies to a submission, the request's event, that is only tried. */
int server_test_job(struct request *r, struct err *e);

/* decode.c: pairs of a body as pairs of an event, in memory of the request; the texts are not copied. */
struct event_pair *request_copy_pairs(struct request *r, const struct wire_pair *pairs, uint32_t count);

/* request.c: suspend and resume the connection of a request. */
void request_park(struct request *r, enum stage stage);
void request_unpark(struct request *r); /* requires a reply, unless the client is gone */
void request_queue(struct request *r);  /* parks it for server_take */

/* stream.c: a long reply. fill appends some rows to text and returns 1: more follow, 0: it was the last call, -1: the
 * listing is broken, with the reason in e. context is in memory of arena; close releases what context holds
 * elsewhere. */
struct stream {
    struct server *server;
    struct arena arena;
    struct buf text;
    size_t sent_bytes; /* of text */
    int64_t deadline_us;
    bool is_done, is_broken, is_counted;
    uint32_t uid; /* of the client */
    struct err e;
    void *context;
    int (*fill)(struct stream *s);
    void (*close)(struct stream *s); /* may be NULL */
};
struct stream *stream_new(struct request *r);

/* Renders the beginning and replies with the stream, which belongs to stream_reply from then on. 1: the rest is
 * rendered while it is sent; 0: the reply is complete, and the stream is freed; -1 with *e: no reply, and the stream is
 * freed. */
int stream_reply(struct stream *s, struct request *r, const char *content_type, struct err *e);

/* Frees a stream that stream_reply does not get. */
void stream_free(struct stream *s);

/* records.c: stream_reply for records that are all in memory. list: in memory of the stream's arena. head:
 * "{\"accounts\":[". 0, or -1 with *e. */
int server_reply_records(struct stream *stream, struct request *r, const char *head, const struct field_table *table,
                         struct wire_list list, struct err *e);

/* records.c: the records and the end of such a reply. */
void server_write_records(const struct field_table *table, struct wire_list list, struct buf *out);

/* The association of a node of the tree. */
static inline const struct assoc *server_assoc_at(const struct state *s, uint32_t node)
{
    return &s->assocs.items[s->assoc_of.items[node]];
}

enum jobs_wanted {
    JOBS_WANT_ONE = 1,     /* the query is for one job or task; a result without rows is ERR_NOT_FOUND */
    JOBS_WANT_EXPECTED = 2 /* also when pending jobs are expected to start */
};

/* jobs.c: replies with rows of jobs between head and "]}"; head NULL: as lines. wanted: of enum jobs_wanted. 0, or -1
 * with *e. */
int server_reply_jobs(struct request *r, const struct job_query *query, const char *head, unsigned wanted,
                      struct err *e);

/* jobs.c: a query for all rows of one job or task. job_id: where the caller keeps ref.job_id. */
struct job_query job_query_of(struct job_ref ref, const uint32_t *job_id);

/* answer.c: fills *e for a job or task that is not live. The engine has only live ones and reports any other one as not
 * found; the store shows whether it has ended or never existed. One query. */
void server_explain_job(struct request *r, struct job_ref ref, struct err *e);

/* reply.c: fills *e for a job of which there is no row that the client may see: it was removed from the history, never
 * existed, or is hidden. */
void server_explain_missing(const struct request *r, uint32_t job_id, struct err *e);

/* reply.c: whether there is a live job with that id that private_data hides from the client. */
bool server_hides_job(const struct request *r, uint32_t job_id);

/* reply.c: restricts a query to what the client may see. */
void server_restrict_query(const struct request *r, struct job_query *query);

/* wait.c: whether the job or task has not ended. O(1) on average */
bool server_job_is_live(const struct state *s, struct job_ref ref);

/* wait.c: for requests in STAGE_WAITING. */
void wait_forget(struct request *r);             /* stops waiting; the caller replies and unparks */
void wait_expire(struct server *s);              /* answers those with a deadline that has passed */
int64_t wait_timeout_ms(const struct server *s); /* until the earliest deadline; -1: no request waits */

/* accounts.c: the records of a user's associations, in memory of arena. user NULL: of all users. */
struct wire_list server_user_records(struct state *s, const char *user, struct arena *arena);

route_handler server_get_objects, server_post_object, server_patch_object, server_delete_object, server_get_priorities;
route_handler server_get_jobs, server_get_job, server_get_wait, server_get_shares, server_get_accounts,
    server_get_users, server_get_settings, server_get_status, server_get_verify, server_get_openapi;
route_handler server_post_job, server_patch_job, server_delete_job, server_post_cancel, server_post_hold,
    server_post_release, server_post_requeue, server_post_suspend, server_post_resume, server_post_signal,
    server_post_account, server_patch_account, server_delete_account, server_post_user, server_patch_user,
    server_delete_user, server_patch_settings, server_get_scenario, server_get_places, server_get_use, server_get_check,
    server_get_clock, server_post_clock, server_get_audit, server_post_prune, server_post_move_in, server_get_backup,
    server_get_gpus, server_get_whoami, server_get_submission;

/* clock_state.c: the clock, with the events since a time; in memory of arena. */
struct api_clock server_clock_record(const struct server *server, int64_t since_us, struct arena *arena);

/* openapi.c: appends the description of the API as JSON. */
void openapi_write(struct buf *out);

#endif
