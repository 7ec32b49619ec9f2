/* A server without a daemon, for tests: the host is a state of the engine and a reader of jobs from that state, and the
 * client is in the same thread. fixture_ask runs the loop until the reply is complete. */
#ifndef FAIRLEAD_TESTS_SERVER_FIXTURE_H
#define FAIRLEAD_TESTS_SERVER_FIXTURE_H

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

enum { FIXTURE_TURNS_MAX = 100000 };

struct fixture {
    struct world w;
    struct server *server;
    char directory[64], path[100];
    bool denies;         /* identifies no client */
    bool is_anonymous;   /* does not know yet who the client is */
    bool keeps_requests; /* does not take them, as during a long commit */
    struct request *verifying;
    struct buf script; /* of the last submission: script, name, arguments and environment, each followed by | */
    uint32_t turn_count, cursor_count;
};

/* --- the reader of jobs ------------------------------------------------------------------------------------------- */

struct fixture_cursor {
    struct fixture *f;
    struct job_query query;
    ARRAY(struct job_row) rows;
    uint32_t next;
    bool was_not_yet;
    struct arena arena;
};

static inline bool fixture_selects(const struct job_query *q, const struct job_row *row)
{
    bool is_ended = job_state_is_end((enum job_state)job_row_number(row, JOB_FIELD_STATE));
    bool is_named = q->job_id_count == 0;
    for (uint32_t i = 0; i < q->job_id_count; i++) is_named |= q->job_ids[i] == job_row_number(row, JOB_FIELD_JOB_ID);
    if (!is_named || (q->which == JOBS_LIVE && is_ended) || (q->which == JOBS_ENDED && !is_ended)) return false;
    if (q->task_id != NONE && job_row_number(row, JOB_FIELD_TASK_ID) != q->task_id) return false;
    if (q->account && strcmp(q->account, job_row_text(row, JOB_FIELD_ACCOUNT)) != 0) return false;
    if (q->user && strcmp(q->user, job_row_text(row, JOB_FIELD_USER)) != 0) return false;
    return q->state == JOB_STATE_COUNT || q->state == job_row_number(row, JOB_FIELD_STATE);
}

static inline void fixture_add(struct fixture_cursor *c, const struct job *j, struct job_row row)
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
    if (fixture_selects(&c->query, &row)) *array_add(&c->rows) = row;
}

/* The values that all rows of the job have. */
static inline struct job_row fixture_job_row(struct fixture_cursor *c, const struct state *s, const struct job *j)
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
    row.value[JOB_FIELD_REASON] = field_number(PENDING_NONE);
    row.value[JOB_FIELD_PARTITION] = row.value[JOB_FIELD_PARTITIONS];
    return row;
}

static inline void fixture_add_job(struct fixture_cursor *c, const struct state *s, const struct job *j)
{
    struct job_row job_row = fixture_job_row(c, s, j);
    for (uint32_t i = 0; i < s->tasks.count; i++) {
        const struct task *k = &s->tasks.items[i];
        struct job_row row = job_row;
        if (k->job_id != j->id) continue;
        for (enum job_field f = 0; f < JOB_FIELD_COUNT; f++) {
            if (job_field_rows[f].home == JOB_HOME_TASK) row.value[f] = task_member(s, k, f, &c->arena);
        }
        if (!j->is_array) row.value[JOB_FIELD_TASK_ID] = field_absent();
        if (!job_state_is_end(k->state))
            row.value[JOB_FIELD_EXIT_STATUS] = row.value[JOB_FIELD_SIGNAL] = field_absent();
        fixture_add(c, j, row);
    }
    const struct idset *sets[] = {&j->pending, &j->cancelled};
    for (int i = 0; i < 2; i++) {
        struct buf tasks = {0};
        struct job_row row = job_row;
        if (idset_count(sets[i]) == 0) continue;
        idset_format(sets[i], &tasks);
        if (j->is_array)
            row.value[JOB_FIELD_ARRAY_TASKS] =
                field_text(arena_copy(&c->arena, (struct str){tasks.text, tasks.length}));
        row.value[JOB_FIELD_TASK_COUNT] = field_number(idset_count(sets[i]));
        row.value[JOB_FIELD_STATE] = field_number(i == 0 ? JOB_PENDING : JOB_CANCELLED);
        buf_release(&tasks);
        fixture_add(c, j, row);
    }
}

static inline void *fixture_open_cursor(void *context, const struct job_query *query, struct err *e)
{
    struct fixture *f = context;
    struct fixture_cursor *c = mem_resize(NULL, 0, sizeof *c);
    (void)e;
    c->f = f;
    c->query = *query;
    f->cursor_count++;
    for (uint32_t i = 0; i < f->w.s.jobs.count; i++) fixture_add_job(c, &f->w.s, &f->w.s.jobs.items[i]);
    return c;
}

/* Every other call returns 2, "not yet". */
static inline int fixture_next(void *cursor, struct job_row *out_row, struct err *e)
{
    struct fixture_cursor *c = cursor;
    (void)e;
    c->was_not_yet = !c->was_not_yet;
    if (c->was_not_yet) return 2;
    if (c->next == c->rows.count || (c->query.limit > 0 && c->next == c->query.limit)) return 0;
    *out_row = c->rows.items[c->query.newest_first ? c->rows.count - 1 - c->next : c->next];
    c->next++;
    return 1;
}

static inline void fixture_close_cursor(void *cursor)
{
    struct fixture_cursor *c = cursor;
    c->f->cursor_count--;
    array_release(&c->rows);
    arena_release(&c->arena);
    mem_free(c);
}

/* --- the host ----------------------------------------------------------------------------------------------------- */

static inline int64_t fixture_now(void *context)
{
    return ((struct fixture *)context)->w.now_us;
}

static inline int fixture_identify(void *context, uint32_t uid, uint32_t gid, struct arena *arena,
                                   struct actor *out_actor, struct err *e)
{
    const struct fixture *f = context;
    (void)arena;
    if (f->denies || uid != getuid()) return err_set(e, ERR_DENIED, "this instance does not serve user %u", uid);
    if (f->is_anonymous) return 1;
    *out_actor = (struct actor){uid, gid, "alice", ROLE_ADMINISTRATOR};
    return 0;
}

static inline void fixture_verify(void *context, struct request *request)
{
    ((struct fixture *)context)->verifying = request;
}

static inline struct server *fixture_serve(struct fixture *f, const char *path, struct err *e)
{
    struct server_host host = {.context = f,
                               .state = &f->w.s,
                               .jobs = {f, fixture_open_cursor, fixture_next, fixture_close_cursor},
                               .now_us = fixture_now,
                               .identify = fixture_identify,
                               .verify = fixture_verify,
                               .state_directory = f->directory,
                               .socket_path = f->path,
                               .host_name = "host",
                               .started_us = &f->w.now_us};
    return server_open(path, &host, e);
}

static inline void fixture_open(struct fixture *f)
{
    struct err e = {0};
    memset(f, 0, sizeof *f);
    world_init(&f->w, 4, 4096, 1);
    strcpy(f->directory, "/tmp/fairlead-test-XXXXXX");
    assert_non_null(mkdtemp(f->directory));
    snprintf(f->path, sizeof f->path, "%s/s", f->directory);
    f->server = fixture_serve(f, f->path, &e);
    assert_string_equal(ERR_SENTENCE(&e), "");
    assert_non_null(f->server);
}

static inline void fixture_close(struct fixture *f)
{
    if (f->server) server_close(f->server);
    assert_int_equal(f->cursor_count, 0);
    assert_int_equal(rmdir(f->directory), 0); /* the socket is removed */
    buf_release(&f->script);
    world_release(&f->w);
}

/* --- the loop ----------------------------------------------------------------------------------------------------- */

static inline void fixture_record_script(struct fixture *f, const struct request_script *script)
{
    buf_clear(&f->script);
    buf_add_str(&f->script, script->script);
    buf_format(&f->script, "|%s|", script->script_name);
    for (uint32_t i = 0; i < script->argument_count; i++) {
        buf_add_str(&f->script, script->arguments[i]);
        buf_add_char(&f->script, '|');
    }
    for (uint32_t i = 0; i < script->environment_count; i++) {
        buf_add_str(&f->script, script->environment[i]);
        buf_add_char(&f->script, '|');
    }
}

static inline void fixture_decide(struct fixture *f, struct request *r)
{
    struct err e = {0};
    struct event_result result = {0};
    if (request_script(r)) fixture_record_script(f, request_script(r));
    int status = engine_apply(&f->w.s, f->w.now_us, request_event(r), &f->w.out, &result, &e);
    outcome_clear(&f->w.out);
    server_answer(r, &result, status == 0 ? NULL : &e);
}

/* One turn of the daemon's loop; waits at most 5 ms for an event. */
static inline void fixture_turn(struct fixture *f)
{
    struct pollfd watched = {.fd = server_descriptor(f->server), .events = POLLIN};
    int64_t timeout_ms = server_timeout_ms(f->server);
    poll(&watched, 1, timeout_ms < 0 || timeout_ms > 5 ? 5 : (int)timeout_ms);
    server_ready(f->server);
    for (struct request *r; !f->keeps_requests && (r = server_take(f->server)) != NULL;) fixture_decide(f, r);
    server_committed(f->server);
    f->turn_count++;
}

/* --- the client --------------------------------------------------------------------------------------------------- */

struct answer {
    int fd;
    struct http_reply reply;
    struct buf body, head; /* head: the first bytes of the reply, as received */
};

static inline int fixture_connect(struct fixture *f)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strcpy(address.sun_path, f->path);
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

/* Sends what the socket accepts; returns the rest. */
static inline struct str fixture_send(int fd, struct str bytes)
{
    ssize_t sent = send(fd, bytes.text, bytes.length, MSG_NOSIGNAL);
    if (sent < 0) return errno == EAGAIN ? bytes : (struct str){0};
    return (struct str){bytes.text + sent, bytes.length - (size_t)sent};
}

/* Receives what has arrived. False: the connection is closed. */
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

/* Sends the request and runs the loop until the reply is complete. False: the connection was closed before. */
static inline bool fixture_exchange(struct fixture *f, struct answer *a, struct str request)
{
    struct err e = {0};
    answer_release(a);
    for (int turns = 0; turns < FIXTURE_TURNS_MAX; turns++) {
        if (request.length > 0) request = fixture_send(a->fd, request);
        fixture_turn(f);
        if (!answer_receive(a, &e)) return http_reply_has_head(&a->reply) && http_reply_close(&a->reply, &e) == 0;
        if (http_reply_is_done(&a->reply)) return true;
    }
    fail_msg("no reply");
    return false;
}

static inline bool fixture_ask(struct fixture *f, struct answer *a, const char *method, const char *target,
                               const char *body)
{
    struct buf text = {0};
    buf_format(&text, "%s %s HTTP/1.1\r\nHost: localhost\r\n", method, target);
    if (body) buf_format(&text, "Content-Length: %zu\r\n", strlen(body));
    buf_format(&text, "\r\n%s", body ? body : "");
    bool is_complete = fixture_exchange(f, a, (struct str){text.text, text.length});
    buf_release(&text);
    return is_complete;
}

#endif
