/* The daemon's own struct and what its files share. */
#ifndef FAIRLEAD_DAEMON_DAEMON_H
#define FAIRLEAD_DAEMON_DAEMON_H

#include <sys/resource.h>

#include <uv.h>

#include "api/server/server.h"
#include "daemon/config.h"
#include "daemon/machine.h"
#include "daemon/state_dir.h"
#include "engine/engine.h"
#include "exec/executor.h"
#include "store/store.h"

struct planning;

struct daemon {
    struct arena arena; /* the process's lifetime */
    struct place place;
    struct machine machine;
    const char *launcher_path;
    struct actor person; /* whom a private instance serves */
    int64_t started_us, now_us;
    struct rlimit file_limit; /* of open files, as we were started: what the launcher and its jobs get */

    struct store *store;
    struct state state;
    struct server *server;
    struct executor *executor; /* NULL while the launcher cannot be reached */
    bool is_synced;            /* it has told all it knows */

    /* Of a pass whose ranking is left to a thread; at most one of the two is there. planner.c */
    struct planning *planning; /* goes on */
    struct ticket_plan *plan;  /* is done; for the next EVENT_TIME */

    /* Of one turn. */
    struct outcome outcome;
    struct executor_reports reports;
    ARRAY(uint64_t) known_launches; /* told since the executor was opened, until it is synced */
    int64_t lost_us;

    uv_loop_t loop;
    uv_poll_t server_poll;
    uv_poll_t *executor_poll; /* of the executor there is; NULL without one. Frees itself when closed */
    uv_timer_t server_timer, retry_timer, alive_timer, due_timer;
    uv_signal_t terminate, interrupt;
    bool stopping;
    int exit_status;
};

/* Opens store, state, launcher and server in that order; -1 with *e when one of them cannot be had. config: settings of the
 * configuration file, applied as events. */
int daemon_open(struct daemon *d, const struct config *config, struct err *e);

/* Until SIGTERM or SIGINT, the turn being finished: 0; or until the state cannot be read any more: 1. */
int daemon_run(struct daemon *d);

/* Gives everything back; jobs go on running. */
void daemon_close(struct daemon *d);

/* Has the next pass ranked by a thread, and when that is done, in the loop, when_done called; false: it can be run here and
 * now, or none is due. */
bool planner_begin(struct daemon *d, void (*when_done)(struct daemon *d));

/* The state that was planned for is gone, or its executor: what there is of a plan is of no use. */
void planner_abandon(struct daemon *d);

/* Does what was decided and committed. launches.c */
void daemon_act(struct daemon *d);

/* The daemon's side of /v1/verify. verify.c */
void daemon_verify(void *context, struct request *request);

#endif
