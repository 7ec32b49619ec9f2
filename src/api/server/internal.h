/* What the files of the server share and nobody else needs.
 *
 *     server.c    libmicrohttpd, connections, the life of a request       decode.c    bodies into events
 *     listen.c    the socket                                              jobs.c      listings of jobs
 *     routes.c    the table of routes                                     wait.c      people who wait for a job's end
 *     request.c   requests that wait, the queue                           shares.c    the tree
 *     reply.c     short replies, errors, query and path                   state.c     accounts, users, settings, status
 *     stream.c    long replies                                            objects.c   partitions, QOS and so on
 *     answer.c    replies to what was decided                             priorities.c  who comes first
 *                                                                         openapi.c   the description
 *
 * server.c stands on the table of routes, that on the handlers, and they on request.c, reply.c and stream.c; the other way
 * round only openapi.c goes, which describes the table it is a row of. */
#ifndef FAIRLEAD_API_SERVER_INTERNAL_H
#define FAIRLEAD_API_SERVER_INTERNAL_H

#include <microhttpd.h>

#include "api/bodies.h"
#include "api/server/server.h"
#include "fields/job_id.h"

enum {
    BUDGET_US = 8000, /* of rendering in one server_ready: the loop has other work */
    CHUNK_US = 2000,  /* of rendering in one go */
    CHUNK_BYTES = 65536,
    STREAMS_MAX = 32,         /* at once: each has a snapshot, in memory or open in the store */
    STREAM_S = 600,           /* a listing not read to its end by then is broken off: it holds a snapshot */
    SMALL_BODY_MAX = 4194304, /* of requests that carry no script */
    WAIT_STANDARD_S = 30,
};

/* Who has a request now. */
enum stage {
    STAGE_READING,   /* the client: its body is coming */
    STAGE_QUEUED,    /* waits for server_take */
    STAGE_TAKEN,     /* the daemon, until server_answer */
    STAGE_WAITING,   /* wait.c, until its job has ended or its time is over */
    STAGE_VERIFYING, /* the host, until server_verified */
    STAGE_REPLIED,   /* has its reply; parked ones go to libmicrohttpd when the connection is resumed */
};

struct request {
    struct server *server;
    struct MHD_Connection *connection;
    const struct route *route; /* NULL: none fits */
    struct actor actor;
    enum stage stage;
    bool is_parked;     /* its connection is suspended */
    bool is_head;       /* HEAD: no body in the reply */
    bool is_gone;       /* nobody reads the reply any more */
    size_t dropped;     /* bytes of body that came after its refusal */
    struct arena arena; /* events and what they point at */
    struct buf body;
    const char *segment; /* the path's {id} or {name}, decoded; NULL */
    struct MHD_Response *reply;
    unsigned status;
    struct request *next, *previous; /* in server->parked */

    struct event *events; /* of writes */
    uint32_t event_count;
    struct request_script *script;

    struct job_ref wait_for; /* of STAGE_WAITING */
    int64_t deadline_us;
};

struct server {
    struct server_host host;
    struct MHD_Daemon *http;
    const char *socket_path;
    const char *user; /* the daemon's; NULL: its uid has no name */
    uint64_t socket_device, socket_inode;
    int poll_fd; /* what server_descriptor returns; see server.c */
    int wake_fd;
    bool is_woken;    /* wake_fd is readable */
    int64_t spent_us; /* of BUDGET_US */
    bool is_closing;
    uint32_t waiting_max;
    struct request *parked; /* all whose connections are suspended */
    uint32_t waiting_count, stream_count;
    ARRAY(struct request *) queue; /* STAGE_QUEUED from queue_first on */
    uint32_t queue_first;

    double *factors; /* by id of association, NAN: none; at factors_us, for factors_count ids */
    uint32_t factors_count;
    int64_t factors_us;
    struct arena arena;
};

/* How a handler leaves its request: 0 it has a reply, is queued or parked; -1 *e is the reply. */
typedef int route_handler(struct request *r, struct err *e);

/* What a request's body may be. */
enum body_kind {
    BODY_NONE,
    BODY_OBJECT,
    BODY_SETTINGS, /* pairs of settings */
    BODY_ADD,      /* pairs of the fields of body, with the name */
    BODY_CHANGE    /* the same without */
};

struct route {
    const char *method, *path; /* "/v1/jobs/{id}": at most one {part} */
    const char *id;            /* of the operation: "cancelJob" */
    const char *summary;
    route_handler *handle;
    const struct wire_shape *query; /* NULL: none */
    const struct wire_shape *body;  /* of BODY_OBJECT */
    const struct wire_shape *reply; /* NULL: this description itself */
    enum body_kind body_kind;
    unsigned status; /* of success */
    size_t body_max;
    enum object_kind object; /* of routes for objects */
    bool is_long;            /* costs more the more there is: waits for a turn with time left */
};

#define TYPE_JSON "application/json"
#define TYPE_TEXT "text/plain; charset=utf-8"

extern const struct route routes[]; /* one without method ends */

/* The route for a method and a path as it stands in the request (percent-encoded), and the view of its {part}. NULL: *e,
 * with *out_allow (in memory of arena) the methods that this path has, or NULL when there is no such path. */
const struct route *route_find(const char *method, const char *path, struct arena *arena, struct str *out_segment,
                               const char **out_allow, struct err *e);

/* listen.c: a listening socket, or -1 with *e; and its removal, if it is still the one with that device and inode. */
int listen_open(const char *path, uint64_t *out_device, uint64_t *out_inode, struct err *e);
void listen_remove(const char *path, uint64_t device, uint64_t inode);

/* reply.c: gives the request its reply: body, with its memory; a value by its shape; an error, with the status of its kind
 * or another. */
void reply_take(struct request *r, unsigned status, const char *content_type, struct buf *body);
void reply_write(struct request *r, unsigned status, const struct wire_shape *shape, const void *value);
void reply_error(struct request *r, const struct err *e);
void reply_error_status(struct request *r, unsigned status, const struct err *e);

/* A piece of the path or query without its escapes, in memory of arena. ERR_INPUT: a bad escape, or one for a zero byte. */
int request_percent_decode(struct str text, const char *what, struct arena *arena, const char **out_text,
                           struct err *e);

/* The text of the request's body. */
struct str request_body_text(const struct request *r);

/* Now, by a clock that nobody sets. */
int64_t server_monotonic_us(void);

/* The query's values by the route's shape. A value given twice, or none the route has: ERR_INPUT. */
int request_read_query(struct request *r, void *out_value, struct err *e);

/* decode.c: events of the request's actor, all but the kind still to be filled. */
struct event *request_new_events(struct request *r, enum event_kind kind, uint32_t count);

/* request.c: a request leaves the loop's hands and comes back. */
void request_park(struct request *r, enum stage stage);
void request_unpark(struct request *r); /* has its reply */
void request_queue(struct request *r);  /* for server_take */

/* stream.c: a long reply. fill appends some rows: 1 there are more, 0 that was all, -1 the listing is broken: e says why.
 * context is in memory of the stream's arena; close gives back what else it has. */
struct stream {
    struct server *server;
    struct arena arena;
    struct buf text;
    size_t taken;
    int64_t deadline_us;
    bool is_done, is_broken, is_counted;
    struct err e;
    void *context;
    int (*fill)(struct stream *s);
    void (*close)(struct stream *s); /* may be NULL */
};
struct stream *stream_new(struct request *r);

/* Renders the beginning. 1: the rest follows while it is sent, the stream is libmicrohttpd's now; 0: that was all, the
 * stream is gone; -1 with *e, and gone. */
int stream_reply(struct stream *s, struct request *r, const char *content_type, struct err *e);
void stream_free(struct stream *s); /* when it is not replied with */

/* The same for records that are all there already: list in memory of the stream's arena, head "{\"accounts\":[". */
int server_reply_records(struct stream *stream, struct request *r, const char *head, const struct field_table *table,
                         struct wire_list list, struct err *e);

/* jobs.c: rows of jobs as a reply, between head and "]}"; head NULL: as lines. is_one: no rows are ERR_NOT_FOUND. */
int server_reply_jobs(struct request *r, const struct job_query *query, const char *head, bool is_one, struct err *e);

/* The rows of one job or task. */
struct job_query job_query_of(struct job_ref ref, const uint32_t *job_id);

/* wait.c: whether a job or task has still to end; takes back a request that waits for it. */
bool server_job_is_live(const struct state *s, struct job_ref ref);
void wait_forget(struct request *r);
void wait_expire(struct server *s);              /* answers those whose time is over */
int64_t wait_timeout_ms(const struct server *s); /* until the next of them; -1: nobody waits */

route_handler server_get_objects, server_post_object, server_patch_object, server_delete_object, server_get_priorities;
route_handler server_get_jobs, server_get_job, server_get_wait, server_get_shares, server_get_accounts,
    server_get_users, server_get_settings, server_get_status, server_get_verify, server_get_openapi;
route_handler server_post_job, server_patch_job, server_delete_job, server_post_cancel, server_post_hold,
    server_post_release, server_post_account, server_patch_account, server_delete_account, server_post_user,
    server_patch_user, server_delete_user, server_patch_settings;

/* openapi.c: the description of the API as JSON, appended. */
void openapi_write(struct buf *out);

#endif
