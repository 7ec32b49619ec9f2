/* The requests that are decided in a turn, and their results. */
#ifndef FAIRLEAD_DAEMON_DECIDED_REQUESTS_H
#define FAIRLEAD_DAEMON_DECIDED_REQUESTS_H

#include "api/server/server.h"
#include "store/store.h"

struct decided_request {
    struct request *request;
    struct event_result result;
    bool is_refused;
    uint32_t committed_count; /* jobs that it changed in earlier turns (bulk_changes.h) */
    struct err err;
};

struct decided_requests {
    ARRAY(struct decided_request) list;
};

struct daemon;
struct upload;

/* What a request's script is for the store. It points into the request. */
struct job_script decided_request_script(const struct request_script *script);

/* Whether a submission would be refused now, so that nothing of it needs to be stored first. Changes nothing. */
bool decided_request_would_be_refused(struct daemon *d, const struct request *request);

/* Applies the request's event, and adds its script to the turn. upload: of the request, whose script is stored already;
 * NULL: it is not. */
void decided_request_apply(struct daemon *d, struct decided_request *decided, const struct upload *upload);

#endif
