/* The HTTP face of the daemon. Requests that change something become events: they are decoded, queued, and their
 * connections suspended until the daemon has decided and committed. Requests that only read are answered from the state
 * as committed, or streamed from a snapshot. Runs on its caller's thread and never blocks.
 *
 *     server_ready()  ->  server_take(): events in order  ->  (decide, commit)  ->  server_answer() each  ->  server_committed()
 */
#ifndef FAIRLEAD_API_SERVER_SERVER_H
#define FAIRLEAD_API_SERVER_SERVER_H

#include "engine/engine.h"
#include "engine/job_query.h"

struct server;
struct request;

/* What a submission carries that the engine does not look at; same shape as the store's. Empty for other requests. */
struct request_script {
    struct str script;
    const char *script_name;
    struct str *arguments;
    uint32_t argument_count;
    struct str *environment;
    uint32_t environment_count;
};

/* What the server asks of its host, the daemon. context comes back in each call. */
struct server_host {
    void *context;
    struct state *state; /* as committed whenever a request is answered */
    struct job_reader jobs;
    int64_t (*now_us)(void *context);
    /* Whether this peer may ask at all, and who it is; false: 403. */
    bool (*identify)(void *context, uint32_t uid, uint32_t gid, struct actor *out_actor);
    /* Starts a verification beside the loop; the host calls server_verified with request when it is done. */
    void (*verify)(void *context, struct request *request);
    const char *state_directory, *socket_path, *host_name;
    int64_t started_us;
};

/* Listens on socket_path (mode 0600, made anew; a socket somebody still answers on is ERR_CONFLICT; over 107 bytes is
 * ERR_INPUT naming both numbers). NULL: *e. host is copied. */
struct server *server_open(const char *socket_path, const struct server_host *host, struct err *e);
void server_close(struct server *s); /* answers what waits with 503, removes the socket */

/* For the caller's loop: when the descriptor can be read, and at the latest after that time (-1: none), server_ready. */
int server_descriptor(const struct server *s);
int64_t server_timeout_ms(const struct server *s);
void server_ready(struct server *s);

/* The next request that wants deciding, in order of arrival, or NULL. Its event's text lives until it is answered. What is
 * accepted together or not at all (several settings) is one event. */
struct request *server_take(struct server *s);
const struct event *request_events(const struct request *r, uint32_t *out_count);
const struct request_script *request_script(const struct request *r); /* NULL unless it is a submission */

/* After the commit: what engine_apply gave for its events together. e NULL: success. r is gone afterwards. */
void server_answer(struct request *r, const struct event_result *result, const struct err *e);

/* Once after each commit: people who wait for a job's end are answered if it came. */
void server_committed(struct server *s);

/* The result of host->verify: body is a JSON object, copied; or e. */
void server_verified(struct request *r, struct str body, const struct err *e);

#endif
