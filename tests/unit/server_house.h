/* A server without a daemon: an engine's state behind it, a reader of jobs that looks into that state, and a client in the
 * same thread. ask() runs the loop until its reply has come. */
#ifndef FAIRLEAD_TESTS_SERVER_HOUSE_H
#define FAIRLEAD_TESTS_SERVER_HOUSE_H

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <jansson.h>

#include "api/bodies.h"
#include "api/client/http_reply.h"
#include "api/server/server.h"
#include "engine/job_members.h"
#include "engine_world.h"
#include "fields/job_id.h"

enum { HOUSE_TURNS_MAX = 100000 };

struct house {
    struct world w;
    struct server *server;
    char directory[64], path[100];
    bool denies;
    bool keeps_requests; /* they are not decided, as if the commit took long */
    struct request *verifying;
    struct buf script; /* of the submission taken last: script, name, arguments, environment, a | each */
    uint32_t turns, cursors;
};

/* --- the reader of jobs ------------------------------------------------------------------------------------------- */

struct house_cursor {
    struct house *h;
    struct job_query query;
    ARRAY(struct job_row) rows;
    uint32_t next;
    bool was_put_off;
    struct arena arena;
};

static inline bool house_wants(const struct job_query *q, const struct job_row *row)
{
    bool ended = job_state_is_end((enum job_state)job_row_number(row, JOB_FIELD_STATE));
    bool is_named = q->job_id_count == 0;
    for (uint32_t i = 0; i < q->job_id_count; i++) is_named |= q->job_ids[i] == job_row_number(row, JOB_FIELD_JOB_ID);
    if (!is_named || (q->which == JOBS_LIVE && ended) || (q->which == JOBS_ENDED && !ended)) return false;
    if (q->task_id != NONE && job_row_number(row, JOB_FIELD_TASK_ID) != q->task_id) return false;
    if (q->account && strcmp(q->account, job_row_text(row, JOB_FIELD_ACCOUNT)) != 0) return false;
    if (q->user && strcmp(q->user, job_row_text(row, JOB_FIELD_USER)) != 0) return false;
    return q->state == JOB_STATE_COUNT || q->state == job_row_number(row, JOB_FIELD_STATE);
}

static inline void house_add(struct house_cursor *c, const struct job *j, struct job_row row)
{
    int64_t task_id = job_row_number(&row, JOB_FIELD_TASK_ID);
    bool is_pending = job_row_number(&row, JOB_FIELD_STATE) == JOB_PENDING;
    const struct job_id_parts id = {.job_id = j->id,
                                    .task_id = task_id == FIELD_ABSENT ? NONE : (uint32_t)task_id,
                                    .is_array = j->is_array,
                                    .tasks = job_row_text(&row, JOB_FIELD_ARRAY_TASKS),
                                    .limit = is_pending ? j->array_limit : 0};
    struct buf text = {0};
    job_id_write(&id, &text);
    row.value[JOB_FIELD_ID] = field_text(arena_copy(&c->arena, (struct str){text.text, text.length}));
    buf_release(&text);
    if (house_wants(&c->query, &row)) *array_add(&c->rows) = row;
}

/* What the job's own fields say, and of the others what is the same for all of its rows. */
static inline struct job_row house_job_row(struct house_cursor *c, const struct state *s, const struct job *j)
{
    const struct assoc *a = &s->assocs.items[j->assoc];
    struct job_row row;
    for (enum job_field f = 0; f < JOB_FIELD_COUNT; f++)
        row.value[f] =
            job_field_rows[f].home == JOB_HOME_JOB ? job_member(s, j, f, &c->arena) : field_nothing(job_field_at(f));
    row.value[JOB_FIELD_TASK_COUNT] = field_number(1);
    row.value[JOB_FIELD_ACCOUNT] = field_text(a->account);
    row.value[JOB_FIELD_USER] = field_text(a->user);
    row.value[JOB_FIELD_OUT_PATH] = field_text("/o\xff");
    row.value[JOB_FIELD_ERR_PATH] = field_text("/e");
    row.value[JOB_FIELD_REASON] = field_text("None");
    row.value[JOB_FIELD_PARTITION] = row.value[JOB_FIELD_PARTITIONS];
    return row;
}

static inline void house_add_job(struct house_cursor *c, const struct state *s, const struct job *j)
{
    struct job_row whole = house_job_row(c, s, j);
    for (uint32_t i = 0; i < s->tasks.count; i++) {
        const struct task *k = &s->tasks.items[i];
        struct job_row row = whole;
        if (k->job_id != j->id) continue;
        for (enum job_field f = 0; f < JOB_FIELD_COUNT; f++) {
            if (job_field_rows[f].home == JOB_HOME_TASK) row.value[f] = task_member(s, k, f, &c->arena);
        }
        if (!j->is_array) row.value[JOB_FIELD_TASK_ID] = field_absent();
        if (!job_state_is_end(k->state))
            row.value[JOB_FIELD_EXIT_STATUS] = row.value[JOB_FIELD_SIGNAL] = field_absent();
        house_add(c, j, row);
    }
    const struct idset *sets[] = {&j->pending, &j->cancelled};
    for (int i = 0; i < 2; i++) {
        struct buf tasks = {0};
        struct job_row row = whole;
        if (idset_count(sets[i]) == 0) continue;
        idset_format(sets[i], &tasks);
        if (j->is_array)
            row.value[JOB_FIELD_ARRAY_TASKS] =
                field_text(arena_copy(&c->arena, (struct str){tasks.text, tasks.length}));
        row.value[JOB_FIELD_TASK_COUNT] = field_number(idset_count(sets[i]));
        row.value[JOB_FIELD_STATE] = field_number(i == 0 ? JOB_PENDING : JOB_CANCELLED);
        buf_release(&tasks);
        house_add(c, j, row);
    }
}

static inline void *house_open_cursor(void *context, const struct job_query *query, struct err *e)
{
    struct house *h = context;
    struct house_cursor *c = mem_resize(NULL, 0, sizeof *c);
    (void)e;
    c->h = h;
    c->query = *query;
    h->cursors++;
    for (uint32_t i = 0; i < h->w.s.jobs.count; i++) house_add_job(c, &h->w.s, &h->w.s.jobs.items[i]);
    return c;
}

/* Says "not yet" before every answer. */
static inline int house_next(void *cursor, struct job_row *out_row, struct err *e)
{
    struct house_cursor *c = cursor;
    (void)e;
    c->was_put_off = !c->was_put_off;
    if (c->was_put_off) return 2;
    if (c->next == c->rows.count || (c->query.limit > 0 && c->next == c->query.limit)) return 0;
    *out_row = c->rows.items[c->query.newest_first ? c->rows.count - 1 - c->next : c->next];
    c->next++;
    return 1;
}

static inline void house_close_cursor(void *cursor)
{
    struct house_cursor *c = cursor;
    c->h->cursors--;
    array_release(&c->rows);
    arena_release(&c->arena);
    mem_free(c);
}

/* --- the host ----------------------------------------------------------------------------------------------------- */

static inline int64_t house_now(void *context)
{
    return ((struct house *)context)->w.now_us;
}

static inline bool house_identify(void *context, uint32_t uid, uint32_t gid, struct actor *out_actor)
{
    const struct house *h = context;
    if (h->denies || uid != getuid()) return false;
    *out_actor = (struct actor){uid, gid, "alice", true};
    return true;
}

static inline void house_verify(void *context, struct request *request)
{
    ((struct house *)context)->verifying = request;
}

static inline struct server *house_serve(struct house *h, const char *path, struct err *e)
{
    struct server_host host = {.context = h,
                               .state = &h->w.s,
                               .jobs = {h, house_open_cursor, house_next, house_close_cursor},
                               .now_us = house_now,
                               .identify = house_identify,
                               .verify = house_verify,
                               .state_directory = h->directory,
                               .socket_path = h->path,
                               .host_name = "host",
                               .started_us = h->w.now_us};
    return server_open(path, &host, e);
}

static inline void house_open(struct house *h)
{
    struct err e = {0};
    memset(h, 0, sizeof *h);
    world_init(&h->w, 4, 4096, 1);
    strcpy(h->directory, "/tmp/fairlead-test-XXXXXX");
    assert_non_null(mkdtemp(h->directory));
    snprintf(h->path, sizeof h->path, "%s/s", h->directory);
    h->server = house_serve(h, h->path, &e);
    assert_string_equal(ERR_SENTENCE(&e), "");
    assert_non_null(h->server);
}

static inline void house_close(struct house *h)
{
    if (h->server) server_close(h->server);
    assert_int_equal(h->cursors, 0);
    assert_int_equal(rmdir(h->directory), 0); /* so the socket is gone */
    buf_release(&h->script);
    world_release(&h->w);
}

/* --- the loop ----------------------------------------------------------------------------------------------------- */

static inline void house_note_script(struct house *h, const struct request_script *script)
{
    buf_clear(&h->script);
    buf_add_str(&h->script, script->script);
    buf_format(&h->script, "|%s|", script->script_name);
    for (uint32_t i = 0; i < script->argument_count; i++) {
        buf_add_str(&h->script, script->arguments[i]);
        buf_add_char(&h->script, '|');
    }
    for (uint32_t i = 0; i < script->environment_count; i++) {
        buf_add_str(&h->script, script->environment[i]);
        buf_add_char(&h->script, '|');
    }
}

static inline void house_decide(struct house *h, struct request *r)
{
    struct err e = {0};
    struct event_result result = {0};
    if (request_script(r)) house_note_script(h, request_script(r));
    int status = engine_apply(&h->w.s, h->w.now_us, request_event(r), &h->w.out, &result, &e);
    outcome_clear(&h->w.out);
    server_answer(r, &result, status == 0 ? NULL : &e);
}

/* One turn of the daemon's loop: waits a moment for something to do. */
static inline void house_turn(struct house *h)
{
    struct pollfd watched = {.fd = server_descriptor(h->server), .events = POLLIN};
    int64_t timeout_ms = server_timeout_ms(h->server);
    poll(&watched, 1, timeout_ms < 0 || timeout_ms > 5 ? 5 : (int)timeout_ms);
    server_ready(h->server);
    for (struct request *r; !h->keeps_requests && (r = server_take(h->server)) != NULL;) house_decide(h, r);
    server_committed(h->server);
    h->turns++;
}

/* --- the client --------------------------------------------------------------------------------------------------- */

struct answer {
    int fd;
    struct http_reply reply;
    struct buf body, head; /* head: everything, as it came */
};

static inline int house_connect(struct house *h)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strcpy(address.sun_path, h->path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
    return fd;
}

static inline void answer_release(struct answer *a)
{
    http_reply_release(&a->reply);
    buf_release(&a->body);
    buf_release(&a->head);
    *a = (struct answer){.fd = a->fd};
}

/* Sends as much as is possible now; what is left. */
static inline struct str house_send(int fd, struct str bytes)
{
    ssize_t sent = send(fd, bytes.text, bytes.length, MSG_NOSIGNAL);
    if (sent < 0) return errno == EAGAIN ? bytes : (struct str){0};
    return (struct str){bytes.text + sent, bytes.length - (size_t)sent};
}

/* Takes what has come. False: the connection is closed. */
static inline bool answer_receive(struct answer *a, struct err *e)
{
    static char bytes[65536];
    ssize_t count = recv(a->fd, bytes, sizeof bytes, 0);
    if (count < 0 && errno == EAGAIN) return true;
    if (count <= 0) return false;
    if (a->head.length < 2000) buf_add(&a->head, bytes, (size_t)count < 2000 ? (size_t)count : 2000);
    if (http_reply_feed(&a->reply, (struct str){bytes, (size_t)count}, &a->body, e) != 0)
        fail_msg("%s in: %.*s", ERR_SENTENCE(e), (int)count, bytes);
    return true;
}

/* Sends and runs the loop until the reply is complete, or the connection closed (then false). */
static inline bool house_exchange(struct house *h, struct answer *a, struct str request)
{
    struct err e = {0};
    answer_release(a);
    for (int turns = 0; turns < HOUSE_TURNS_MAX; turns++) {
        if (request.length > 0) request = house_send(a->fd, request);
        house_turn(h);
        if (!answer_receive(a, &e)) return http_reply_has_head(&a->reply) && http_reply_close(&a->reply, &e) == 0;
        if (http_reply_is_done(&a->reply)) return true;
    }
    fail_msg("no reply");
    return false;
}

static inline bool house_ask(struct house *h, struct answer *a, const char *method, const char *target,
                             const char *body)
{
    struct buf text = {0};
    buf_format(&text, "%s %s HTTP/1.1\r\nHost: localhost\r\n", method, target);
    if (body) buf_format(&text, "Content-Length: %zu\r\n", strlen(body));
    buf_format(&text, "\r\n%s", body ? body : "");
    bool is_whole = house_exchange(h, a, (struct str){text.text, text.length});
    buf_release(&text);
    return is_whole;
}

#endif
