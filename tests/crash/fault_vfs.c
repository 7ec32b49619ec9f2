#include "fault_vfs.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/ensure.h"
#include "base/rng.h"

enum { CHECKPOINT_PAGES = 12 };

const char *const fault_way_names[WAY_COUNT] = {"kill", "torn",  "power",      "shuffle", "error",
                                                "full", "short", "error-kill", "gone"};

/* What a write or truncation since the file's last sync has overwritten. */
struct undo {
    char *path;
    sqlite3_int64 offset, old_size;
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
    enum fault_way way;
    uint64_t step_count, fault_step; /* fault_step 0: none */
    bool has_fault;                  /* it has happened */
    ARRAY(struct undo) undos;
} shim;

static void undo_write(const struct undo *u)
{
    int fd = open(u->path, O_RDWR);
    if (fd < 0) return; /* deleted since */
    struct stat st;
    if (fstat(fd, &st) != 0 || pwrite(fd, u->bytes, (size_t)u->length, u->offset) != u->length)
        fault_vfs_fail(u->path, strerror(errno));
    if (shim.way == WAY_POWER) {
        if (ftruncate(fd, u->old_size) != 0) fault_vfs_fail(u->path, strerror(errno));
    } else if (st.st_size > u->old_size) { /* the file got space, but its bytes were not written */
        static const char zeros[1 << 16];
        size_t length = (size_t)(st.st_size - u->old_size);
        if (pwrite(fd, zeros, length < sizeof zeros ? length : sizeof zeros, u->old_size) < 0)
            fault_vfs_fail(u->path, strerror(errno));
    }
    close(fd);
}

void fault_vfs_die(void)
{
    struct rng rng = {shim.fault_step};
    for (uint32_t i = shim.undos.count; i-- > 0;) {
        if (shim.way == WAY_POWER || (shim.way == WAY_SHUFFLE && rng_below(&rng, 2))) undo_write(&shim.undos.items[i]);
    }
    kill(getpid(), SIGKILL);
    _exit(1);
}

static bool is_torn_step(void)
{
    return shim.way == WAY_TORN && shim.step_count == shim.fault_step;
}

/* Counts a step. Returns SQLITE_OK if it is to be carried out, or the error that it gives; may not return. */
static int step(int failure)
{
    shim.step_count++;
    bool is_later = shim.step_count > shim.fault_step && shim.way != WAY_GONE;
    if (shim.fault_step == 0 || shim.step_count < shim.fault_step || is_later) return SQLITE_OK;
    shim.has_fault = true;
    switch (shim.way) {
    case WAY_KILL:
    case WAY_POWER:
    case WAY_SHUFFLE: fault_vfs_die();
    case WAY_FULL:
    case WAY_SHORT: return SQLITE_FULL;
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

static void add_undo(sqlite3_file *file, sqlite3_int64 offset, sqlite3_int64 length)
{
    sqlite3_file *r = real(file);
    struct undo *u = array_add(&shim.undos);
    u->path = ((struct shim_file *)file)->path;
    u->offset = offset;
    r->pMethods->xFileSize(r, &u->old_size);
    if (length > u->old_size - offset) length = u->old_size - offset;
    u->length = length > 0 ? (int)length : 0;
    u->bytes = mem_resize(NULL, 0, (size_t)u->length + 1);
    if (u->length > 0 && r->pMethods->xRead(r, u->bytes, u->length, offset) != SQLITE_OK)
        fault_vfs_fail(u->path, "cannot read the bytes to overwrite");
}

static int shim_write(sqlite3_file *file, const void *bytes, int length, sqlite3_int64 offset)
{
    sqlite3_file *r = real(file);
    int code = step(SQLITE_IOERR_WRITE);
    if (code != SQLITE_OK && shim.way == WAY_SHORT) (void)r->pMethods->xWrite(r, bytes, length / 2, offset);
    if (code != SQLITE_OK) return code;
    if (is_torn_step()) {
        r->pMethods->xWrite(r, bytes, length / 2, offset);
        fault_vfs_die();
    }
    add_undo(file, offset, length);
    return r->pMethods->xWrite(r, bytes, length, offset);
}

static int shim_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    int code = step(SQLITE_IOERR_TRUNCATE);
    if (code != SQLITE_OK) return code;
    if (is_torn_step()) fault_vfs_die();
    add_undo(file, size, INT32_MAX);
    return real(file)->pMethods->xTruncate(real(file), size);
}

static int shim_sync(sqlite3_file *file, int flags)
{
    int code = step(SQLITE_IOERR_FSYNC);
    if (code != SQLITE_OK) return code;
    if (is_torn_step()) fault_vfs_die();
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
    return code; /* undos point to the path */
}

/* The other methods call the real file's. */
static int shim_read(sqlite3_file *f, void *out, int length, sqlite3_int64 offset)
{
    return real(f)->pMethods->xRead(real(f), out, length, offset);
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
    if (is_torn_step()) fault_vfs_die();
    return shim.real->xDelete(shim.real, name, sync_directory);
}

/* Checkpoints often, so that a run has some. */
static int on_connection(sqlite3 *db, char **error, const void *api)
{
    (void)error, (void)api;
    sqlite3_wal_autocheckpoint(db, CHECKPOINT_PAGES);
    return SQLITE_OK;
}

void fault_vfs_install(enum fault_way way, uint64_t fault_step, uint64_t step_count)
{
    ensure(way < WAY_COUNT && shim.real == NULL);
    shim.way = way;
    shim.fault_step = fault_step;
    shim.step_count = step_count;
    shim.real = sqlite3_vfs_find(NULL);
    shim.vfs = *shim.real;
    shim.vfs.zName = "shim";
    shim.vfs.szOsFile = sizeof(struct shim_file);
    shim.vfs.xOpen = shim_open;
    shim.vfs.xDelete = shim_delete;
    shim.methods = (sqlite3_io_methods){
        .iVersion = 2,
        .xClose = shim_close,
        .xRead = shim_read,
        .xWrite = shim_write,
        .xTruncate = shim_truncate,
        .xSync = shim_sync,
        .xFileSize = shim_size,
        .xLock = shim_lock,
        .xUnlock = shim_unlock,
        .xCheckReservedLock = shim_reserved,
        .xFileControl = shim_control,
        .xSectorSize = shim_sector,
        .xDeviceCharacteristics = shim_device,
        .xShmMap = shim_map,
        .xShmLock = shim_shm_lock,
        .xShmBarrier = shim_barrier,
        .xShmUnmap = shim_unmap,
    };
    sqlite3_vfs_register(&shim.vfs, 1);
    sqlite3_auto_extension((void (*)(void))on_connection);
}

bool fault_vfs_has_fault(void)
{
    return shim.has_fault;
}

uint64_t fault_vfs_step_count(void)
{
    return shim.step_count;
}

void fault_vfs_fail(const char *what, const char *text)
{
    fprintf(stderr, "%s: %s\n", what, text);
    _exit(1);
}
