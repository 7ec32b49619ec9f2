/* Arbitrary bytes that a client sends to the server, in pieces: heads, percent escapes, queries, lists of job ids,
 * bodies in JSON, chunks, several requests on a connection. The requests are decided by the engine, and every reply
 * begins as HTTP does. At the end nothing of the connection is left. */
#include <string.h>

#include "../unit/server_fixture.h"

#include "api/server/internal.h"
#include "base/ensure.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { TURNS_MAX = 60, END_OF_PIECE = 0x1f };

static struct fixture fixture;

/* Sends the bytes up to the next END_OF_PIECE, or all. Returns the rest. */
static struct str send_piece(struct fixture *f, int fd, struct str bytes)
{
    const char *end = memchr(bytes.text, END_OF_PIECE, bytes.length);
    struct str piece = {bytes.text, end != NULL ? (size_t)(end - bytes.text) : bytes.length};
    size_t used = piece.length + (end != NULL);
    while (piece.length > 0) {
        size_t before = piece.length;
        piece = fixture_send(fd, piece);
        if (piece.length == before) fixture_turn(f);
    }
    return (struct str){bytes.text + used, bytes.length - used};
}

/* Returns whether the server has closed the connection. */
static bool receive(int fd, struct buf *io_head)
{
    char bytes[65536];
    ssize_t count = recv(fd, bytes, sizeof bytes, 0);
    if (count > 0 && io_head->length < 16) buf_add(io_head, bytes, (size_t)count < 16 ? (size_t)count : 16);
    return count == 0 || (count < 0 && errno != EAGAIN);
}

static void converse(struct fixture *f, struct str bytes)
{
    struct buf head = {0};
    int fd = fixture_connect(f);
    bool is_closed = false;
    while (bytes.length > 0 && !is_closed) {
        bytes = send_piece(f, fd, bytes);
        fixture_turn(f);
        is_closed = receive(fd, &head);
    }
    shutdown(fd, SHUT_WR);
    for (int i = 0; i < TURNS_MAX && !is_closed; i++) {
        fixture_turn(f);
        is_closed = receive(fd, &head);
        if (f->verifying != NULL) server_verified(f->verifying, str("{}"), NULL);
        f->verifying = NULL;
    }
    if (head.length > 0) ensure(head.length >= 9 && memcmp(head.text, "HTTP/1.", 7) == 0);
    close(fd);
    for (int i = 0; i < TURNS_MAX && f->server->connection_count > 0; i++) fixture_turn(f);
    ensure(f->server->connection_count == 0 && f->server->users.count == 0);
    buf_release(&head);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fixture_open(&fixture);
    world_user(&fixture.w, "physics", 1, "alice");
    ensure(world_apply(&fixture.w, world_submission("alice", "physics", 1), NULL) == 0);
    outcome_clear(&fixture.w.out);
    converse(&fixture, (struct str){(const char *)data, size});
    fixture_close(&fixture);
    return 0;
}
