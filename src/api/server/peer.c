/* Who is at the other end of a connection. The kernel says it (SO_PEERCRED), never a message; the daemon decides
 * whether it serves that user (server_host.identify). */
#include <sys/socket.h>

#include "api/server/internal.h"

int peer_identify(struct request *r, struct err *e)
{
    struct ucred peer = {0};
    socklen_t length = sizeof peer;
    const struct server_host *host = &r->server->host;
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(r->connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    if (info == NULL || getsockopt(info->connect_fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0)
        return err_set(e, ERR_DENIED, "the kernel does not identify the client");
    return host->identify(host->context, peer.uid, peer.gid, &r->arena, &r->actor, e);
}

void server_identified(struct server *s)
{
    for (struct request *r = s->parked, *next; r != NULL; r = next) {
        next = r->next;
        if (r->stage == STAGE_IDENTIFYING) request_unpark(r);
    }
}
