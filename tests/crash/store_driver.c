/* Causes a fault at every step of the store towards the disk, and checks the database after it.
 *
 *     store-driver WAY EVERY    for n = 1, 1 + EVERY, 1 + 2 EVERY ... until a child ends without a fault:
 *                                 a child creates a database and commits turns; its n-th write, truncation, sync or
 *                                 deletion is faulty in this way
 *                                 another child opens the database, checks it, and commits the remaining turns
 *
 * fault_vfs.h counts the steps and causes the faults.
 *
 * After every fault:
 *   1. The database can be opened and is intact (integrity_check, foreign keys), and every job in it has its script.
 *   2. Its state is that after some number of turns; the hash of the state identifies it.
 *   3. It has every acknowledged turn, and at most one turn that was not acknowledged; none if a commit failed, rather
 *      than was killed.
 *   4. No job has a part of a long script, and in the end no part is left that no job has.
 *   5. All usage agrees with the records, and the remaining turns lead to the same state as without a fault. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../job_text.h"
#include "fault_vfs.h"
#include "store/store.h"

enum { TURNS = 9, LONG_TURN = 4 /* whose script is long */ };

static const int64_t BEGIN_US = INT64_C(1700000000000000);

/* --- the turns ---------------------------------------------------------------------------------------------------- */

static void apply(struct state *s, int64_t now_us, struct event event, struct outcome *out, uint32_t *out_id)
{
    struct event_result result;
    struct err e;
    event.actor = (struct actor){1000, 1000, event.actor.user ? event.actor.user : "ann", ROLE_ADMINISTRATOR};
    if (engine_apply(s, now_us, &event, out, &result, &e) != 0) fault_vfs_fail("event", ERR_SENTENCE(&e));
    if (out_id != NULL) *out_id = result.job_id;
}

static enum fault_way current_way;

static void check_failure(enum fault_way way, const struct err *e);

/* By commits before that of the turn; an upload that fails is begun again. */
static void add_long_script(struct store *store, uint32_t job_id)
{
    enum { LONG_BYTES = STORE_PIECE_BYTES + 1 };
    static char text[LONG_BYTES];
    struct err e;
    memset(text, 'l', sizeof text);
    struct job_script script = {.script = {text, sizeof text}, .script_name = "long"};
    if (store == NULL) return;
    struct store_upload *upload = store_upload_prepare(&script);
    for (int result = 1; result != 0;) {
        result = store_upload_step(store, upload, &e);
        if (result >= 0) continue;
        check_failure(current_way, &e);
        store_upload_free(upload);
        upload = store_upload_prepare(&script);
    }
    store_add_upload(store, job_id, upload);
    store_upload_free(upload);
}

static void add_script(struct store *store, uint32_t job_id, uint32_t turn)
{
    if (turn == LONG_TURN) {
        add_long_script(store, job_id);
        return;
    }
    char text[4000];
    struct str arguments[] = {str("one"), str("two")}, environment[] = {str("HOME=/home/ann"), str("TURN=x")};
    memset(text, 'a' + (int)turn, sizeof text);
    struct job_script script = {{text, sizeof text - 100 * turn}, "run", arguments, 2, environment, 2, false};
    if (store != NULL) store_add_script(store, job_id, &script);
}

/* Adds fields that name objects, which exist from the second turn on. */
static const struct job_values *with_object_fields(uint32_t turn, const struct job_values *job)
{
    if (turn < 2 || turn % 3 == 0) return job;
    return job_with(job, "partitions=%s|qos=good|project=%s|requests=license=1,model=lx-amd64|nice=%u|job_share=%u",
                    turn % 2 ? "fast,main" : "main", turn % 2 ? "apollo" : "", turn, turn);
}

static void submit(struct state *s, struct store *store, int64_t now_us, uint32_t turn, const char *user,
                   const char *array, struct outcome *out)
{
    uint32_t id = 0;
    const struct job_values *job = job_text("name=job|directory=/tmp|command=run|cpus=%u", 1 + turn % 2);
    if (array != NULL) job = job_with(job, "array=%s", array);
    struct event event = {.kind = EVENT_SUBMIT, .actor = {.user = user}, .submit = with_object_fields(turn, job)};
    apply(s, now_us, event, out, &id);
    add_script(store, id, turn);
}

/* Objects are added, changed and deleted. */
static const struct {
    uint32_t turn;
    enum event_kind event;
    enum object_kind kind;
    const char *name;
    struct event_pair pair;
} object_events[] = {
    {1, EVENT_OBJECT_ADD, OBJECT_PARTITION, "fast", {"TRESBillingWeights", "CPU=0.7,Mem=0.25G"}},
    {1, EVENT_OBJECT_ADD, OBJECT_QOS, "good", {"usage_factor", "2.5"}},
    {1, EVENT_OBJECT_ADD, OBJECT_PROJECT, "apollo", {"fshare", "3"}},
    {1, EVENT_OBJECT_ADD, OBJECT_RESOURCE, "license", {"urgency", "10"}},
    {1, EVENT_OBJECT_ADD, OBJECT_RESOURCE, "model", {"type", "STRING"}},
    {2, EVENT_OBJECT_ADD, OBJECT_PROJECT, "gemini", {"fshare", "1"}},
    {3, EVENT_OBJECT_MODIFY, OBJECT_QOS, "good", {"flags", "NoDecay"}},
    {4, EVENT_OBJECT_MODIFY, OBJECT_USER_POLICY, "ann", {"oticket", "5"}},
    {5, EVENT_OBJECT_DELETE, OBJECT_PROJECT, "gemini", {NULL, NULL}},
    {5, EVENT_OBJECT_ADD, OBJECT_PROJECT, "gemini", {"fshare", "2"}},
    {6, EVENT_OBJECT_MODIFY, OBJECT_QOS, "good", {"flags", ""}},
    {7, EVENT_OBJECT_MODIFY, OBJECT_PARTITION, "fast", {"TRESBillingWeights", ""}},
    {8, EVENT_OBJECT_DELETE, OBJECT_PROJECT, "gemini", {NULL, NULL}},
};

static void change_objects(struct state *s, uint32_t turn, int64_t now_us, struct outcome *out)
{
    for (size_t i = 0; i < sizeof object_events / sizeof object_events[0]; i++) {
        if (object_events[i].turn != turn) continue;
        struct event event = {.kind = object_events[i].event,
                              .object = {object_events[i].kind, object_events[i].name, &object_events[i].pair,
                                         object_events[i].pair.key != NULL}};
        apply(s, now_us, event, out, NULL);
    }
}

/* Decides events of all kinds, which depend only on the turn's number and the state. store NULL: a rehearsal. */
static void decide_turn(struct state *s, struct store *store, uint32_t turn, int64_t now_us, struct outcome *out)
{
    apply(s, now_us, (struct event){.kind = EVENT_HOST, .host.has = {3, 0, 10000}}, out, NULL);
    change_objects(s, turn, now_us, out);
    submit(s, store, now_us, turn, turn % 2 ? "ann" : "bob", NULL, out);
    if (turn % 3 == 0) submit(s, store, now_us, turn, "eve", "0-5%2", out);
    if (turn == 2)
        apply(s, now_us, (struct event){.kind = EVENT_ACCOUNT_ADD, .account = {"physics", NULL, 7, PRIORITY_UNSET}},
              out, NULL);
    if (turn == 4)
        apply(s, now_us,
              (struct event){.kind = EVENT_SETTINGS, .settings = {&(struct event_pair){"halflife_s", "5000"}, 1}}, out,
              NULL);
    if (turn == 7) {
        struct job_ref ref = {2, NONE};
        apply(s, now_us, (struct event){.kind = EVENT_CANCEL, .jobs = {&ref, 1, false}}, out, NULL);
    }
    if (turn == 8)
        apply(s, now_us,
              (struct event){.kind = EVENT_ACCOUNT_DELETE, .account = {"physics", NULL, SHARES_UNSET, PRIORITY_UNSET}},
              out, NULL);
    for (uint32_t i = s->tasks.count; i-- > 0;) {
        const struct task *k = &s->tasks.items[i];
        if (job_state_is_end(k->state)) continue;
        struct event_record record = {
            .launch_id = k->launch_id, .at_us = now_us, .started_us = now_us, .end = JOB_COMPLETED};
        apply(s, now_us, (struct event){.kind = k->start_us ? EVENT_ENDED : EVENT_STARTED, .record = record}, out,
              NULL);
    }
    apply(s, now_us, (struct event){.kind = EVENT_TIME, .time = {"boot"}}, out, NULL);
}

static int64_t turn_us(uint32_t turn)
{
    return BEGIN_US + (int64_t)(turn + 1) * 1000000000;
}

/* Fails unless each kind of usage has some after all turns. */
static void check_rehearsal(const struct state *s)
{
    uint32_t qos = state_find_object(s, OBJECT_QOS, "good"), ann = state_find_assoc(s, "default", "ann");
    if (!(s->objects[OBJECT_QOS].items[qos].usage > 0.0) || s->assocs.items[ann].usage_tres == NULL ||
        s->owners.count < 4)
        fault_vfs_fail("the turns", "a kind of usage is 0");
}

static uint64_t hash_after[TURNS + 1]; /* turns, without a fault */

static void rehearse(void)
{
    struct state s;
    struct outcome out = {0};
    state_init(&s, BEGIN_US);
    for (uint32_t turn = 0; turn <= TURNS; turn++) {
        hash_after[turn] = state_hash(&s);
        if (turn < TURNS) decide_turn(&s, NULL, turn, turn_us(turn), &out);
    }
    check_rehearsal(&s);
    state_release(&s);
    outcome_release(&out);
}

static void load(struct store *store, struct state *s)
{
    struct err e;
    state_init(s, BEGIN_US);
    if (store_load(store, s, &e) != 0) fault_vfs_fail("load", ERR_SENTENCE(&e));
}

/* A commit has failed: checks its error, and ends the child where the way says so. */
static void check_failure(enum fault_way way, const struct err *e)
{
    enum err_code expected = way == WAY_FULL || way == WAY_SHORT ? ERR_UNAVAILABLE : ERR_IO;
    if (!fault_vfs_has_fault() || e->code != expected)
        fault_vfs_fail("a commit failed for another reason", ERR_SENTENCE(e));
    if (way == WAY_ERROR_KILL) fault_vfs_die();
    if (way == WAY_GONE) _exit(0);
}

/* Decides and commits the turns from first_turn on, and writes a byte to ack_fd (unless it is -1) after each commit. A
 * turn with a failed commit is repeated. */
static void run_turns(struct store *store, enum fault_way way, uint32_t first_turn, int ack_fd)
{
    struct state s;
    struct outcome out = {0};
    struct err e;
    current_way = way;
    load(store, &s);
    for (uint32_t turn = first_turn; turn < TURNS; turn++) {
        decide_turn(&s, store, turn, turn_us(turn), &out);
        while (store_commit(store, &s, &out, turn_us(turn), &e) != 0) {
            check_failure(way, &e);
            store_abandon(store);
            outcome_clear(&out);
            state_release(&s);
            load(store, &s);
            decide_turn(&s, store, turn, turn_us(turn), &out);
        }
        outcome_clear(&out);
        engine_forget(&s);
        if (ack_fd >= 0 && write(ack_fd, "t", 1) != 1) fault_vfs_fail("pipe", strerror(errno));
    }
    state_release(&s);
    outcome_release(&out);
}

/* The first child. Exits with 0 after a fault, and with 77 if the step of the fault was not reached. */
static _Noreturn void run_with_fault(const char *directory, enum fault_way way, uint64_t fault_step,
                                     uint64_t step_count, int ack_fd)
{
    struct err e;
    fault_vfs_install(way, fault_step, step_count);
    struct store *store = store_open(directory, BEGIN_US, &e);
    if (store == NULL && !fault_vfs_has_fault()) fault_vfs_fail("open", ERR_SENTENCE(&e));
    if (store == NULL && (way == WAY_GONE || way == WAY_ERROR_KILL)) _exit(0);
    if (store == NULL) store = store_open(directory, BEGIN_US, &e);
    if (store == NULL) fault_vfs_fail("open again", ERR_SENTENCE(&e));
    run_turns(store, way, 0, ack_fd);
    store_close(store);
    _exit(fault_vfs_has_fault() ? 0 : 77);
}

/* --- checks after the fault --------------------------------------------------------------------------------------- */

static void expect(sqlite3 *db, const char *query, const char *expected)
{
    sqlite3_stmt *statement;
    if (sqlite3_prepare_v2(db, query, -1, &statement, NULL) != SQLITE_OK) fault_vfs_fail(query, sqlite3_errmsg(db));
    const char *found =
        sqlite3_step(statement) == SQLITE_ROW ? (const char *)sqlite3_column_text(statement, 0) : "no row";
    if (strcmp(found, expected) != 0) fault_vfs_fail(query, found);
    sqlite3_finalize(statement);
}

static void check_rows(const char *directory)
{
    char path[300];
    sqlite3 *db;
    snprintf(path, sizeof path, "%s/fairlead.db", directory);
    if (sqlite3_open(path, &db) != SQLITE_OK) fault_vfs_fail(path, sqlite3_errmsg(db));
    expect(db, "PRAGMA integrity_check", "ok");
    expect(db, "SELECT count(*) FROM pragma_foreign_key_check", "0");
    expect(db, "SELECT count(*) FROM job LEFT JOIN job_script ON job_id = id WHERE job_id IS NULL", "0");
    expect(db,
           "SELECT count(*) FROM job_script JOIN content ON id = script_id"
           " WHERE piece_count <> (SELECT count(*) FROM content_piece WHERE content_id = id)",
           "0");
    sqlite3_close(db);
}

/* Removes what no job has, as the daemon does. */
static void check_rests(struct store *store, const char *directory)
{
    char path[300];
    sqlite3 *db;
    struct err e;
    int result = 1;
    while (result > 0) result = store_remove_loose(store, &e);
    if (result < 0) fault_vfs_fail("removing pieces", ERR_SENTENCE(&e));
    snprintf(path, sizeof path, "%s/fairlead.db", directory);
    if (sqlite3_open(path, &db) != SQLITE_OK) fault_vfs_fail(path, sqlite3_errmsg(db));
    expect(db, "SELECT count(*) FROM loose_content", "0");
    expect(db, "SELECT count(*) FROM content_piece", "2");
    sqlite3_close(db);
}

static void check_usage(const char *directory)
{
    struct arena arena = {0};
    struct verify_report report;
    struct err e;
    if (store_verify(directory, &arena, &report, &e) != 0) fault_vfs_fail("verify", ERR_SENTENCE(&e));
    if (report.differences.count > 0) {
        const struct verify_difference *d = &report.differences.items[0];
        fault_vfs_fail("verify", d->qos ? d->qos : d->account);
    }
    array_release(&report.differences);
    arena_release(&arena);
}

static uint64_t stored_hash(struct store *store)
{
    struct state s;
    load(store, &s);
    uint64_t hash = state_hash(&s);
    state_release(&s);
    return hash;
}

/* The second child. acknowledged: the number of acknowledged turns. Exits with 0 if all is as it should be. */
static _Noreturn void check_database(const char *directory, enum fault_way way, uint32_t acknowledged)
{
    struct err e;
    uint32_t turns = 0;
    struct store *store = store_open(directory, BEGIN_US, &e);
    if (store == NULL) fault_vfs_fail("open after the fault", ERR_SENTENCE(&e));
    uint64_t found = stored_hash(store);
    while (turns <= TURNS && hash_after[turns] != found) turns++;
    if (turns > TURNS) fault_vfs_fail("the database", "its state is not that after any number of turns");
    bool is_failed = way == WAY_ERROR || way == WAY_FULL || way == WAY_SHORT || way == WAY_ERROR_KILL;
    uint32_t max = is_failed ? acknowledged : acknowledged + 1;
    if (turns < acknowledged || turns > max) {
        char text[80];
        snprintf(text, sizeof text, "has %u turns, %u were acknowledged", turns, acknowledged);
        fault_vfs_fail("the database", text);
    }
    check_rows(directory);
    run_turns(store, way, turns, -1);
    if (stored_hash(store) != hash_after[TURNS]) fault_vfs_fail("the remaining turns", "lead to another state");
    check_rests(store, directory);
    check_usage(directory);
    store_close(store);
    exit(0);
}

/* --- for every step ----------------------------------------------------------------------------------------------- */

static void empty_directory(const char *directory)
{
    static const char *const tails[] = {"", "-wal", "-shm", "-lock"};
    char path[300];
    for (size_t i = 0; i < sizeof tails / sizeof tails[0]; i++) {
        snprintf(path, sizeof path, "%s/fairlead.db%s", directory, tails[i]);
        unlink(path);
    }
}

/* A new database, and the number of steps that created it. Creating one takes longer than all turns, so a child with a
 * later fault starts with a copy. */
static struct {
    uint64_t step_count;
    struct buf file;
} created;

static void read_created(const char *path)
{
    FILE *file = fopen(path, "r");
    struct stat st;
    if (file == NULL || fstat(fileno(file), &st) != 0) fault_vfs_fail(path, strerror(errno));
    created.file.length = fread(buf_room(&created.file, (size_t)st.st_size), 1, (size_t)st.st_size, file);
    if (created.file.length != (size_t)st.st_size) fault_vfs_fail(path, "cannot be read");
    fclose(file);
}

static void write_created(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
    if (fd < 0 || write(fd, created.file.text, created.file.length) != (ssize_t)created.file.length)
        fault_vfs_fail(path, strerror(errno));
    close(fd);
}

/* A child: creates a database, and writes the number of steps to step_count_fd. */
static _Noreturn void create_in_child(const char *directory, int step_count_fd)
{
    struct err e;
    fault_vfs_install(WAY_KILL, 0, 0);
    struct store *store = store_open(directory, BEGIN_US, &e);
    if (store == NULL) fault_vfs_fail("open", ERR_SENTENCE(&e));
    uint64_t step_count = fault_vfs_step_count();
    if (write(step_count_fd, &step_count, sizeof step_count) != sizeof step_count)
        fault_vfs_fail("pipe", strerror(errno));
    store_close(store);
    _exit(0);
}

static int wait_for(pid_t child)
{
    int status;
    while (waitpid(child, &status, 0) < 0) {
        if (errno != EINTR) fault_vfs_fail("waitpid", strerror(errno));
    }
    return status;
}

static void create_database(const char *directory)
{
    int pipes[2];
    char path[300];
    if (pipe(pipes) != 0) fault_vfs_fail("pipe", strerror(errno));
    pid_t child = fork();
    if (child == 0) create_in_child(directory, pipes[1]);
    close(pipes[1]);
    if (read(pipes[0], &created.step_count, sizeof created.step_count) != sizeof created.step_count ||
        wait_for(child) != 0)
        fault_vfs_fail("a new database", "cannot be created");
    close(pipes[0]);
    snprintf(path, sizeof path, "%s/fairlead.db", directory);
    read_created(path);
}

/* Empties the directory, or copies the created database into it if the fault is later. Returns the number of steps that
 * this replaces. */
static uint64_t prepare(const char *directory, uint64_t fault_step)
{
    char path[300];
    empty_directory(directory);
    if (fault_step <= created.step_count) return 0;
    snprintf(path, sizeof path, "%s/fairlead.db", directory);
    write_created(path);
    return created.step_count;
}

/* The number of acknowledgements until the child ends. */
static uint32_t count_acknowledgements(int ack_fd)
{
    uint32_t count = 0;
    char byte;
    while (read(ack_fd, &byte, 1) == 1) count++;
    close(ack_fd);
    return count;
}

/* Runs both children. Returns false if the step of the fault was not reached. */
static bool check_fault(const char *directory, enum fault_way way, uint64_t fault_step)
{
    int pipes[2];
    uint64_t step_count = prepare(directory, fault_step);
    if (pipe(pipes) != 0) fault_vfs_fail("pipe", strerror(errno));
    pid_t child = fork();
    if (child == 0) run_with_fault(directory, way, fault_step, step_count, pipes[1]);
    close(pipes[1]);
    uint32_t acknowledged = count_acknowledgements(pipes[0]);
    int status = wait_for(child);
    bool is_killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    if (!is_killed && !(WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 77))) {
        fprintf(stderr, "%s at step %llu: the child failed (status %x)\n", fault_way_names[way],
                (unsigned long long)fault_step, (unsigned)status);
        exit(1);
    }
    child = fork();
    if (child == 0) check_database(directory, way, acknowledged);
    if (wait_for(child) != 0) {
        fprintf(stderr, "%s at step %llu, after %u acknowledged turns\n", fault_way_names[way],
                (unsigned long long)fault_step, acknowledged);
        exit(1);
    }
    return is_killed || WEXITSTATUS(status) != 77;
}

int main(int argc, char **argv)
{
    enum fault_way way = 0;
    uint64_t every = argc == 3 ? strtoull(argv[2], NULL, 10) : 0, fault_step = 1;
    while (argc == 3 && way < WAY_COUNT && strcmp(argv[1], fault_way_names[way]) != 0) way++;
    if (way == WAY_COUNT || every == 0) {
        fprintf(stderr, "usage: store-driver kill|torn|power|shuffle|error|full|short|error-kill|gone EVERY\n");
        return 2;
    }
    char in_memory[] = "/dev/shm/fairlead-crash-XXXXXX", on_disk[] = "/tmp/fairlead-crash-XXXXXX";
    char *directory = mkdtemp(in_memory) ? in_memory : mkdtemp(on_disk);
    if (directory == NULL) fault_vfs_fail("mkdtemp", strerror(errno));
    rehearse();
    create_database(directory);
    while (check_fault(directory, way, fault_step)) fault_step += every;
    empty_directory(directory);
    rmdir(directory);
    buf_release(&created.file);
    printf("%llu steps, a fault at every %llu\n", (unsigned long long)fault_step - 1, (unsigned long long)every);
    return fault_step > 200 ? 0 : 1; /* with so few steps, the faults were not caused */
}
