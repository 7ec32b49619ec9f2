/* How a keeper that has ended its job gets the next launch from the launcher that forked it: a message through a pair
 * of sockets that only these two have. The message has descriptors, too:
 *
 *     launcher.lock   as a fork would give it to a new keeper. As long as the message is on its way, or its keeper has
 *                     not taken the lock of the launch yet, no other launcher can start; so none finds the launch
 *                     without its keeper and lets it run again
 *     N.log           the segment with the start line
 *
 * The end of the socket, in either process, tells the other one that there is no next launch. */
#ifndef FAIRLEAD_EXEC_LAUNCHER_NEXT_LAUNCH_H
#define FAIRLEAD_EXEC_LAUNCHER_NEXT_LAUNCH_H

#include <stdbool.h>

#include "base/text.h"
#include "exec/launcher/process_identity.h"

/* A larger launch gets a new keeper. */
enum { NEXT_LAUNCH_SIZE_MAX = 64 * 1024 };

struct next_launch {
    char key[LAUNCH_KEY_SIZE]; /* of the launch's identity */
    struct str frame;          /* the message START (exec/protocol.h) with the launch, which the launcher has checked */
    int lock_fd, log_fd;
};

/* The ends for the launcher and for the keeper; neither blocks. False: there are no descriptors. */
bool next_launch_open(int *out_launcher_fd, int *out_keeper_fd);

/* False: the keeper takes no launch any more, or this one is too large. Then it has not got it. */
bool next_launch_send(int fd, const struct next_launch *next);

enum next_launch_state { NEXT_LAUNCH_NONE, NEXT_LAUNCH_ARRIVED, NEXT_LAUNCH_NEVER };

/* Takes a message. bytes gets it; out->frame is a part of them. The descriptors are the caller's, closed on exec.
 * NEXT_LAUNCH_NONE: there is none yet. NEXT_LAUNCH_NEVER: the launcher is gone, or needs this keeper no more. */
enum next_launch_state next_launch_receive(int fd, struct buf *bytes, struct next_launch *out);

#endif
