/* The daemon of a pretend cluster (src/pretend): hosts that are not there, and jobs that run nowhere. All else is as in
 * any instance: the loop, the store, the API.
 *
 *     DIR/pretend.json    the document, as of the last start; a directory with it is that of a pretend instance
 *     DIR/pretend.clock   the virtual time (daemon_clock.h)
 *
 * The executor (exec/pretend.c) keeps nothing. The end of a launch follows from the document, the row of its job and
 * its start, so after a restart the launches that run are planned again from the rows: a start that is committed goes
 * on, an end that is not committed comes again. */
#ifndef FAIRLEAD_DAEMON_PRETEND_H
#define FAIRLEAD_DAEMON_PRETEND_H

#include "base/array.h"
#include "pretend/pretend_timeline.h"
#include "store/store.h"

struct pretend {
    struct pretend_cluster cluster;
    struct pretend_timeline timeline;
    const char *path; /* of the document, absolute */
    uint32_t speed;
    uint32_t command_job_id; /* the job whose command was read last; 0: none */
    struct job_script command;
    struct arena command_arena;
    ARRAY(uint32_t) changed; /* hosts with steps in this turn; a host can occur twice */
};

/* Reads the document. ERR_INPUT with one line that begins with the path. path: absolute; it is kept. text is that of
 * the file. */
int pretend_open(struct pretend *p, const char *path, struct str text, uint32_t speed, struct err *e);
void pretend_release(struct pretend *p);

/* Keeps the document in the state directory, which becomes that of a pretend instance, before anything else is in it.
 * ERR_INPUT: the directory has real jobs; ERR_IO. */
int pretend_mark_directory(const char *directory, struct str text, struct err *e);

/* ERR_INPUT: the directory is that of a pretend instance. */
int pretend_check_unmarked(const char *directory, struct err *e);

#endif
