#include "terminal/relay_client.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PIECE_SIZE = 16384, RECEIVE_SIZE = 65536 };

bool relay_client_accept(int listen_fd, struct relay_client *out)
{
    struct ucred peer;
    socklen_t size = sizeof peer;
    int fd = accept4(listen_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) return false;
    bool is_known = getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0;
    if (!is_known || (peer.uid != geteuid() && peer.uid != 0)) {
        close(fd);
        return false;
    }
    *out = (struct relay_client){.fd = fd};
    return true;
}

void relay_client_close(struct relay_client *c)
{
    close(c->fd);
    buf_release(&c->received);
    buf_release(&c->input);
    buf_release(&c->out);
}

/* Drops what was used, so that the buffer holds only the rest. */
static void compact(struct buf *b, size_t *used)
{
    if (*used == 0) return;
    size_t rest = b->length - *used;
    memmove(b->text, b->text + *used, rest);
    b->length = rest;
    *used = 0;
}

/* --- what it sends ------------------------------------------------------------------------------------------------ */

bool relay_client_receive(struct relay_client *c)
{
    compact(&c->received, &c->received_used);
    ssize_t n = recv(c->fd, buf_room(&c->received, RECEIVE_SIZE), RECEIVE_SIZE, MSG_DONTWAIT);
    if (n > 0) c->received.length += (size_t)n;
    return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}

int relay_client_next(struct relay_client *c, struct frame *out)
{
    const struct str bytes = {c->received.text + c->received_used, c->received.length - c->received_used};
    int64_t size = frame_read(bytes, true, out);
    if (size <= 0) return (int)size;
    c->received_used += (size_t)size;
    return 1;
}

struct str relay_client_input(const struct relay_client *c)
{
    return (struct str){c->input.text + c->input_used, c->input.length - c->input_used};
}

void relay_client_take_input(struct relay_client *c, size_t size)
{
    c->input_used += size;
    c->taken_count += (uint32_t)size;
}

bool relay_client_add_input(struct relay_client *c, struct str bytes)
{
    compact(&c->input, &c->input_used);
    buf_add_str(&c->input, bytes);
    return c->input.length + c->taken_count <= FRAME_WINDOW;
}

/* --- what it gets ------------------------------------------------------------------------------------------------- */

void relay_client_tell(struct relay_client *c, const struct frame *frame)
{
    frame_write(&c->out, frame);
}

bool relay_client_is_behind(const struct relay_client *c)
{
    return c->out_sent < c->out.length;
}

/* Returns whether it has all of the stream. */
static bool add_stream(struct relay_client *c, const struct ring *r, enum relay_stream s)
{
    static const enum frame_kind kinds[] = {[RELAY_OUTPUT] = FRAME_OUTPUT, [RELAY_ERRORS] = FRAME_ERRORS};
    if (c->position[s] < ring_begin(r)) {
        relay_client_tell(c, &(struct frame){.kind = FRAME_SKIPPED});
        c->position[s] = ring_begin(r);
    }
    const struct frame piece = {.kind = kinds[s], .bytes = ring_at(r, c->position[s], PIECE_SIZE)};
    if (piece.bytes.length > 0) relay_client_tell(c, &piece);
    c->position[s] += piece.bytes.length;
    return c->position[s] == r->end;
}

/* More frames are made once those before are sent, so that a client holds little memory. */
static void fill(struct relay_client *c, const struct ring rings[RELAY_STREAM_COUNT], const struct frame *exit)
{
    if (relay_client_is_behind(c) || !c->is_greeted) return;
    c->out.length = c->out_sent = 0;
    if (c->taken_count > 0) relay_client_tell(c, &(struct frame){.kind = FRAME_TAKEN, .count = c->taken_count});
    c->taken_count = 0;
    bool has_output = add_stream(c, &rings[RELAY_OUTPUT], RELAY_OUTPUT);
    bool has_errors = add_stream(c, &rings[RELAY_ERRORS], RELAY_ERRORS);
    if (exit == NULL || !has_output || !has_errors || c->is_told) return;
    relay_client_tell(c, exit);
    c->is_told = true;
}

bool relay_client_send(struct relay_client *c, const struct ring rings[RELAY_STREAM_COUNT], const struct frame *exit)
{
    for (;;) {
        fill(c, rings, exit);
        if (!relay_client_is_behind(c)) return true;
        ssize_t n = send(c->fd, c->out.text + c->out_sent, c->out.length - c->out_sent, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (n < 0) return errno == EAGAIN || errno == EINTR;
        c->out_sent += (size_t)n;
    }
}
