/* Breaks the store at every step it takes towards the disk, and looks at what is left.
 *
 *     store-driver WAY EVERY  for n = 1, 1 + EVERY, 1 + 2 EVERY ... until nothing breaks any more:
 *                               a child makes a database and commits turns; its n-th write, truncation, sync or
 *                               deletion goes wrong that way
 *                               another child opens what is left, checks it, and finishes the turns
 *
 * The store's steps are seen by a VFS of SQLite's that stands before the real one and counts. It also remembers what was
 * overwritten since each file's last sync, so it can play a power failure: what was not synced is taken back, all of it,
 * or any part of it, because disks write in the order they like.
 *
 * What has to hold, whatever happened:
 *   1. The database opens, is whole (integrity_check, foreign keys), and every job in it has its script.
 *   2. What it holds is exactly what some number of turns leads to: the hash of its state says which.
 *   3. Every turn that was acknowledged is among them; at most one turn that was not is. After a commit that failed (rather
 *      than died), none is.
 *   4. The usages are what the records say, and life goes on: the rest of the turns give what they always give. */
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
#include "base/rng.h"
#include "store/store.h"

enum { TURNS = 9, CHECKPOINT_PAGES = 12 };

static const int64_t BEGIN_US = INT64_C(1700000000000000);

static _Noreturn void give_up(const char *what, const char *text)
{
    fprintf(stderr, "%s: %s\n", what, text);
    _exit(1);
}

/* --- the VFS ------------------------------------------------------------------------------------------------------ */

enum way {
    WAY_KILL,       /* SIGKILL before the step */
    WAY_TORN,       /* SIGKILL after half of the write */
    WAY_POWER,      /* what was not synced is gone */
    WAY_SHUFFLE,    /* any part of what was not synced is gone */
    WAY_ERROR,      /* the step fails once; the driver loads anew and goes on */
    WAY_FULL,       /* the same, with a full disk */
    WAY_ERROR_KILL, /* the step fails once, and after the commit has failed comes SIGKILL */
    WAY_GONE,       /* every step fails from here on */
    WAY_COUNT
};

static const char *const way_names[WAY_COUNT] = {"kill",  "torn", "power",      "shuffle",
                                                 "error", "full", "error-kill", "gone"};

/* What a write or truncation since the file's last sync did away with. */
struct undo {
    char *path;
    sqlite3_int64 at, old_size;
    char *bytes;
    int length;
};

struct shim_file {
    sqlite3_file base;
    sqlite3_file *real;
    char *path;
};

static struct {
    sqlite3_vfs vfs, *real;
    sqlite3_io_methods methods;
    enum way way;
    uint64_t steps, break_at;
    bool broke;
    ARRAY(struct undo) undos;
} shim;

static void take_back(const struct undo *u)
{
    int fd = open(u->path, O_RDWR);
    if (fd < 0) return; /* deleted meanwhile */
    struct stat st;
    if (fstat(fd, &st) != 0 || pwrite(fd, u->bytes, (size_t)u->length, u->at) != u->length)
        give_up(u->path, strerror(errno));
    if (shim.way == WAY_POWER) {
        if (ftruncate(fd, u->old_size) != 0) give_up(u->path, strerror(errno));
    } else if (st.st_size > u->old_size) { /* space was given to the file, but nothing stands there */
        static const char zeros[1 << 16];
        size_t length = (size_t)(st.st_size - u->old_size);
        if (pwrite(fd, zeros, length < sizeof zeros ? length : sizeof zeros, u->old_size) < 0)
            give_up(u->path, strerror(errno));
    }
    close(fd);
}

static _Noreturn void die(void)
{
    struct rng rng = {shim.break_at};
    for (uint32_t i = shim.undos.count; i-- > 0;) {
        if (shim.way == WAY_POWER || (shim.way == WAY_SHUFFLE && rng_below(&rng, 2))) take_back(&shim.undos.items[i]);
    }
    kill(getpid(), SIGKILL);
    _exit(1);
}

/* One step: SQLITE_OK to go on with it. */
static int step(int failure)
{
    shim.steps++;
    if (shim.break_at == 0 || shim.steps < shim.break_at || (shim.steps > shim.break_at && shim.way != WAY_GONE))
        return SQLITE_OK;
    shim.broke = true;
    switch (shim.way) {
    case WAY_KILL:
    case WAY_POWER:
    case WAY_SHUFFLE: die();
    case WAY_FULL: return SQLITE_FULL;
    case WAY_ERROR:
    case WAY_ERROR_KILL:
    case WAY_GONE: return failure;
    case WAY_TORN:
    case WAY_COUNT: break;
    }
    return SQLITE_OK;
}

static sqlite3_file *real(sqlite3_file *file)
{
    return ((struct shim_file *)file)->real;
}

static void remember(sqlite3_file *file, sqlite3_int64 at, sqlite3_int64 length)
{
    sqlite3_file *r = real(file);
    struct undo *u = array_add(&shim.undos);
    u->path = ((struct shim_file *)file)->path;
    u->at = at;
    r->pMethods->xFileSize(r, &u->old_size);
    if (length > u->old_size - at) length = u->old_size - at;
    u->length = length > 0 ? (int)length : 0;
    u->bytes = mem_resize(NULL, 0, (size_t)u->length + 1);
    if (u->length > 0 && r->pMethods->xRead(r, u->bytes, u->length, at) != SQLITE_OK)
        give_up(u->path, "cannot read what is overwritten");
}

static int shim_write(sqlite3_file *file, const void *bytes, int length, sqlite3_int64 at)
{
    sqlite3_file *r = real(file);
    int code = step(SQLITE_IOERR_WRITE);
    if (code != SQLITE_OK) return code;
    if (shim.way == WAY_TORN && shim.steps == shim.break_at) {
        r->pMethods->xWrite(r, bytes, length / 2, at);
        die();
    }
    remember(file, at, length);
    return r->pMethods->xWrite(r, bytes, length, at);
}

static int shim_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    int code = step(SQLITE_IOERR_TRUNCATE);
    if (code != SQLITE_OK) return code;
    if (shim.way == WAY_TORN && shim.steps == shim.break_at) die();
    remember(file, size, INT32_MAX);
    return real(file)->pMethods->xTruncate(real(file), size);
}

static int shim_sync(sqlite3_file *file, int flags)
{
    int code = step(SQLITE_IOERR_FSYNC);
    if (code != SQLITE_OK) return code;
    if (shim.way == WAY_TORN && shim.steps == shim.break_at) die();
    const char *path = ((struct shim_file *)file)->path;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < shim.undos.count; i++) {
        if (strcmp(shim.undos.items[i].path, path) != 0)
            shim.undos.items[kept++] = shim.undos.items[i];
        else
            mem_free(shim.undos.items[i].bytes);
    }
    shim.undos.count = kept;
    return real(file)->pMethods->xSync(real(file), flags);
}

static int shim_close(sqlite3_file *file)
{
    int code = real(file)->pMethods->xClose(real(file));
    mem_free(real(file));
    return code; /* the path stays: undos name it */
}

/* Everything else is the real file's business. */
static int shim_read(sqlite3_file *f, void *to, int length, sqlite3_int64 at)
{
    return real(f)->pMethods->xRead(real(f), to, length, at);
}
static int shim_size(sqlite3_file *f, sqlite3_int64 *size)
{
    return real(f)->pMethods->xFileSize(real(f), size);
}
static int shim_lock(sqlite3_file *f, int level)
{
    return real(f)->pMethods->xLock(real(f), level);
}
static int shim_unlock(sqlite3_file *f, int level)
{
    return real(f)->pMethods->xUnlock(real(f), level);
}
static int shim_reserved(sqlite3_file *f, int *out)
{
    return real(f)->pMethods->xCheckReservedLock(real(f), out);
}
static int shim_control(sqlite3_file *f, int op, void *argument)
{
    return real(f)->pMethods->xFileControl(real(f), op, argument);
}
static int shim_sector(sqlite3_file *f)
{
    return real(f)->pMethods->xSectorSize(real(f));
}
static int shim_device(sqlite3_file *f)
{
    return real(f)->pMethods->xDeviceCharacteristics(real(f));
}
static int shim_map(sqlite3_file *f, int page, int size, int extend, void volatile **out)
{
    return real(f)->pMethods->xShmMap(real(f), page, size, extend, out);
}
static int shim_shm_lock(sqlite3_file *f, int offset, int n, int flags)
{
    return real(f)->pMethods->xShmLock(real(f), offset, n, flags);
}
static void shim_barrier(sqlite3_file *f)
{
    real(f)->pMethods->xShmBarrier(real(f));
}
static int shim_unmap(sqlite3_file *f, int delete)
{
    return real(f)->pMethods->xShmUnmap(real(f), delete);
}

static int shim_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out_flags)
{
    (void)vfs;
    struct shim_file *f = (struct shim_file *)file;
    f->base.pMethods = NULL;
    f->real = mem_resize(NULL, 0, (size_t)shim.real->szOsFile);
    f->path = strdup(name ? name : "");
    int code = shim.real->xOpen(shim.real, name, f->real, flags, out_flags);
    if (code == SQLITE_OK)
        f->base.pMethods = &shim.methods;
    else
        mem_free(f->real);
    return code;
}

static int shim_delete(sqlite3_vfs *vfs, const char *name, int sync_directory)
{
    (void)vfs;
    int code = step(SQLITE_IOERR_DELETE);
    if (code != SQLITE_OK) return code;
    if (shim.way == WAY_TORN && shim.steps == shim.break_at) die();
    return shim.real->xDelete(shim.real, name, sync_directory);
}

static void checkpoint_often(sqlite3 *db)
{
    sqlite3_wal_autocheckpoint(db, CHECKPOINT_PAGES);
}

static int on_connection(sqlite3 *db, char **error, const void *api)
{
    (void)error, (void)api;
    checkpoint_often(db);
    return SQLITE_OK;
}

static void install_shim(enum way way, uint64_t break_at)
{
    shim.way = way;
    shim.break_at = break_at;
    shim.real = sqlite3_vfs_find(NULL);
    shim.vfs = *shim.real;
    shim.vfs.zName = "shim";
    shim.vfs.szOsFile = sizeof(struct shim_file);
    shim.vfs.xOpen = shim_open;
    shim.vfs.xDelete = shim_delete;
    shim.methods = (sqlite3_io_methods){
        2,           shim_close,    shim_read,    shim_write,  shim_truncate, shim_sync, shim_size,     shim_lock,
        shim_unlock, shim_reserved, shim_control, shim_sector, shim_device,   shim_map,  shim_shm_lock, shim_barrier,
        shim_unmap,  NULL,          NULL};
    sqlite3_vfs_register(&shim.vfs, 1);
    sqlite3_auto_extension((void (*)(void))on_connection);
}

/* --- the turns ---------------------------------------------------------------------------------------------------- */

static void apply(struct state *s, int64_t now_us, struct event event, struct outcome *out, uint32_t *out_id)
{
    struct event_result result;
    struct err e;
    event.actor = (struct actor){1000, 1000, event.actor.user ? event.actor.user : "ann", true};
    if (engine_apply(s, now_us, &event, out, &result, &e) != 0) give_up("event", ERR_SENTENCE(&e));
    if (out_id != NULL) *out_id = result.job_id;
}

static void add_script(struct store *store, uint32_t job_id, uint32_t turn)
{
    char text[4000];
    struct str arguments[] = {str("one"), str("two")}, environment[] = {str("HOME=/home/ann"), str("TURN=x")};
    memset(text, 'a' + (int)turn, sizeof text);
    struct job_script script = {{text, sizeof text - 100 * turn}, "run", arguments, 2, environment, 2};
    if (store != NULL) store_add_script(store, job_id, &script);
}

/* From the second turn on there is what these name. */
static const struct job_values *with_terms_of(uint32_t turn, const struct job_values *job)
{
    if (turn < 2 || turn % 3 == 0) return job;
    return job_with(job, "partitions=%s|qos=good|project=%s|requests=license=1,arch=lx-amd64|nice=%u|job_share=%u",
                    turn % 2 ? "fast,main" : "main", turn % 2 ? "apollo" : "", turn, turn);
}

static void submit(struct state *s, struct store *store, int64_t now_us, uint32_t turn, const char *user,
                   const char *array, struct outcome *out)
{
    uint32_t id = 0;
    const struct job_values *job = job_text("name=job|directory=/tmp|command=run|cpus=%u", 1 + turn % 2);
    if (array != NULL) job = job_with(job, "array=%s", array);
    struct event event = {.kind = EVENT_SUBMIT, .actor = {.user = user}, .submit = with_terms_of(turn, job)};
    apply(s, now_us, event, out, &id);
    add_script(store, id, turn);
}

/* Objects that come, change and go. */
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
    {1, EVENT_OBJECT_ADD, OBJECT_RESOURCE, "arch", {"type", "STRING"}},
    {2, EVENT_OBJECT_ADD, OBJECT_PROJECT, "gemini", {"fshare", "1"}},
    {3, EVENT_OBJECT_MODIFY, OBJECT_QOS, "good", {"flags", "NoDecay"}},
    {4, EVENT_OBJECT_MODIFY, OBJECT_USER, "ann", {"oticket", "5"}},
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

/* Some of everything; what a turn does depends on its number and the state only. store NULL: a rehearsal. */
static void decide_turn(struct state *s, struct store *store, uint32_t turn, int64_t now_us, struct outcome *out)
{
    apply(s, now_us, (struct event){.kind = EVENT_HOST, .host = {3, 0, 10000}}, out, NULL);
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

/* The turns are worth breaking: every table that usage goes to has some. */
static void check_rehearsal(const struct state *s)
{
    uint32_t qos = state_find_object(s, OBJECT_QOS, "good"), ann = state_find_assoc(s, "default", "ann");
    if (!(s->objects[OBJECT_QOS].items[qos].usage > 0.0) || s->assocs.items[ann].usage_tres == NULL ||
        s->owners.count < 4)
        give_up("the turns", "use nothing");
}

static uint64_t rehearsed[TURNS + 1]; /* [t]: the hash of the state after t turns */

static void rehearse(void)
{
    struct state s;
    struct outcome out = {0};
    state_init(&s, BEGIN_US);
    for (uint32_t turn = 0; turn <= TURNS; turn++) {
        rehearsed[turn] = state_hash(&s);
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
    if (store_load(store, s, &e) != 0) give_up("load", ERR_SENTENCE(&e));
}

/* A failed commit says what failed, and nothing of it is there. */
static void judge_failure(const struct err *e)
{
    enum err_code expected = shim.way == WAY_FULL ? ERR_UNAVAILABLE : ERR_IO;
    if (!shim.broke || e->code != expected) give_up("a commit failed for another reason", ERR_SENTENCE(e));
    if (shim.way == WAY_ERROR_KILL) die();
    if (shim.way == WAY_GONE) _exit(0);
}

/* Turns from `from` on; each is acknowledged by a byte on the descriptor. Broken ones are done again. */
static void live(struct store *store, uint32_t from, int acknowledgements)
{
    struct state s;
    struct outcome out = {0};
    struct err e;
    load(store, &s);
    for (uint32_t turn = from; turn < TURNS; turn++) {
        decide_turn(&s, store, turn, turn_us(turn), &out);
        while (store_commit(store, &s, &out, turn_us(turn), &e) != 0) {
            judge_failure(&e);
            store_abandon(store);
            outcome_clear(&out);
            state_release(&s);
            load(store, &s);
            decide_turn(&s, store, turn, turn_us(turn), &out);
        }
        outcome_clear(&out);
        engine_forget(&s);
        if (acknowledgements >= 0 && write(acknowledgements, "t", 1) != 1) give_up("pipe", strerror(errno));
    }
    state_release(&s);
    outcome_release(&out);
}

/* Exits 0 when broken or through, 77 when the break was never reached. */
static _Noreturn void break_it(const char *directory, enum way way, uint64_t break_at, uint64_t steps,
                               int acknowledgements)
{
    struct err e;
    install_shim(way, break_at);
    shim.steps = steps;
    struct store *store = store_open(directory, BEGIN_US, &e);
    if (store == NULL && !shim.broke) give_up("open", ERR_SENTENCE(&e));
    if (store == NULL && (way == WAY_GONE || way == WAY_ERROR_KILL)) _exit(0);
    if (store == NULL) store = store_open(directory, BEGIN_US, &e);
    if (store == NULL) give_up("open again", ERR_SENTENCE(&e));
    live(store, 0, acknowledgements);
    store_close(store);
    _exit(shim.broke ? 0 : 77);
}

/* --- what is left ------------------------------------------------------------------------------------------------- */

static void expect(sqlite3 *db, const char *query, const char *expected)
{
    sqlite3_stmt *statement;
    if (sqlite3_prepare_v2(db, query, -1, &statement, NULL) != SQLITE_OK) give_up(query, sqlite3_errmsg(db));
    const char *found =
        sqlite3_step(statement) == SQLITE_ROW ? (const char *)sqlite3_column_text(statement, 0) : "no row";
    if (strcmp(found, expected) != 0) give_up(query, found);
    sqlite3_finalize(statement);
}

static void check_rows(const char *directory)
{
    char path[300];
    sqlite3 *db;
    snprintf(path, sizeof path, "%s/fairlead.db", directory);
    if (sqlite3_open(path, &db) != SQLITE_OK) give_up(path, sqlite3_errmsg(db));
    expect(db, "PRAGMA integrity_check", "ok");
    expect(db, "SELECT count(*) FROM pragma_foreign_key_check", "0");
    expect(db, "SELECT count(*) FROM job LEFT JOIN job_script ON job_id = id WHERE job_id IS NULL", "0");
    sqlite3_close(db);
}

static void check_usages(const char *directory)
{
    struct arena arena = {0};
    struct verify_report report;
    struct err e;
    if (store_verify(directory, &arena, &report, &e) != 0) give_up("verify", ERR_SENTENCE(&e));
    if (report.differences.count > 0) {
        const struct verify_difference *d = &report.differences.items[0];
        give_up("verify", d->qos ? d->qos : d->account);
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

static _Noreturn void check_it(const char *directory, enum way way, uint32_t acknowledged)
{
    struct err e;
    uint32_t turns = 0;
    struct store *store = store_open(directory, BEGIN_US, &e);
    if (store == NULL) give_up("open what is left", ERR_SENTENCE(&e));
    uint64_t found = stored_hash(store);
    while (turns <= TURNS && rehearsed[turns] != found) turns++;
    if (turns > TURNS) give_up("what is left", "is not what any number of turns leads to");
    uint32_t max = way == WAY_ERROR || way == WAY_FULL || way == WAY_ERROR_KILL ? acknowledged : acknowledged + 1;
    if (turns < acknowledged || turns > max) {
        char text[80];
        snprintf(text, sizeof text, "%u turns where %u were acknowledged", turns, acknowledged);
        give_up("what is left", text);
    }
    check_rows(directory);
    live(store, turns, -1);
    if (stored_hash(store) != rehearsed[TURNS]) give_up("life after it", "leads elsewhere");
    check_usages(directory);
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

/* A new database, and how many steps its making took. Making one costs more than all turns, so a child that breaks at a
 * later step begins with a copy. */
static struct {
    uint64_t steps;
    struct buf file;
} made;

static void read_made(const char *path)
{
    FILE *file = fopen(path, "r");
    struct stat st;
    if (file == NULL || fstat(fileno(file), &st) != 0) give_up(path, strerror(errno));
    made.file.length = fread(buf_room(&made.file, (size_t)st.st_size), 1, (size_t)st.st_size, file);
    if (made.file.length != (size_t)st.st_size) give_up(path, "cannot be read");
    fclose(file);
}

static void write_made(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
    if (fd < 0 || write(fd, made.file.text, made.file.length) != (ssize_t)made.file.length)
        give_up(path, strerror(errno));
    close(fd);
}

static _Noreturn void make_it(const char *directory, int steps)
{
    struct err e;
    install_shim(WAY_KILL, 0);
    struct store *store = store_open(directory, BEGIN_US, &e);
    if (store == NULL) give_up("open", ERR_SENTENCE(&e));
    if (write(steps, &shim.steps, sizeof shim.steps) != sizeof shim.steps) give_up("pipe", strerror(errno));
    store_close(store);
    _exit(0);
}

static int wait_for(pid_t child)
{
    int status;
    while (waitpid(child, &status, 0) < 0) {
        if (errno != EINTR) give_up("waitpid", strerror(errno));
    }
    return status;
}

static void make(const char *directory)
{
    int pipes[2];
    char path[300];
    if (pipe(pipes) != 0) give_up("pipe", strerror(errno));
    pid_t child = fork();
    if (child == 0) make_it(directory, pipes[1]);
    close(pipes[1]);
    if (read(pipes[0], &made.steps, sizeof made.steps) != sizeof made.steps || wait_for(child) != 0)
        give_up("a new database", "cannot be made");
    close(pipes[0]);
    snprintf(path, sizeof path, "%s/fairlead.db", directory);
    read_made(path);
}

/* The directory as it is before the steps to come; how many steps that took. */
static uint64_t prepare(const char *directory, uint64_t break_at)
{
    char path[300];
    empty_directory(directory);
    if (break_at <= made.steps) return 0;
    snprintf(path, sizeof path, "%s/fairlead.db", directory);
    write_made(path);
    return made.steps;
}

/* How many acknowledgements came before the child was gone. */
static uint32_t count_acknowledgements(int descriptor)
{
    uint32_t count = 0;
    char byte;
    while (read(descriptor, &byte, 1) == 1) count++;
    close(descriptor);
    return count;
}

/* False: the break was never reached, the child came through. */
static bool break_and_check(const char *directory, enum way way, uint64_t break_at)
{
    int pipes[2];
    uint64_t steps = prepare(directory, break_at);
    if (pipe(pipes) != 0) give_up("pipe", strerror(errno));
    pid_t child = fork();
    if (child == 0) break_it(directory, way, break_at, steps, pipes[1]);
    close(pipes[1]);
    uint32_t acknowledged = count_acknowledgements(pipes[0]);
    int status = wait_for(child);
    bool killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    if (!killed && !(WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 77))) {
        fprintf(stderr, "%s at step %llu: the child failed (status %x)\n", way_names[way], (unsigned long long)break_at,
                (unsigned)status);
        exit(1);
    }
    child = fork();
    if (child == 0) check_it(directory, way, acknowledged);
    if (wait_for(child) != 0) {
        fprintf(stderr, "%s at step %llu, after %u acknowledged turns\n", way_names[way], (unsigned long long)break_at,
                acknowledged);
        exit(1);
    }
    return killed || WEXITSTATUS(status) != 77;
}

int main(int argc, char **argv)
{
    enum way way = 0;
    uint64_t every = argc == 3 ? strtoull(argv[2], NULL, 10) : 0, at = 1;
    while (argc == 3 && way < WAY_COUNT && strcmp(argv[1], way_names[way]) != 0) way++;
    if (way == WAY_COUNT || every == 0) {
        fprintf(stderr, "usage: store-driver kill|torn|power|shuffle|error|full|error-kill|gone EVERY\n");
        return 2;
    }
    char directory[] = "/dev/shm/fairlead-crash-XXXXXX", elsewhere[] = "/tmp/fairlead-crash-XXXXXX";
    char *place = mkdtemp(directory) ? directory : mkdtemp(elsewhere);
    if (place == NULL) give_up("mkdtemp", strerror(errno));
    rehearse();
    make(place);
    while (break_and_check(place, way, at)) at += every;
    empty_directory(place);
    rmdir(place);
    buf_release(&made.file);
    printf("%llu steps, broken at every %llu\n", (unsigned long long)at - 1, (unsigned long long)every);
    return at > 200 ? 0 : 1; /* fewer steps: the driver does not drive */
}
