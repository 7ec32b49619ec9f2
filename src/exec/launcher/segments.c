#include "exec/launcher/segments.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/ensure.h"
#include "base/number.h"
#include "exec/launcher/durable.h"
#include "exec/launcher/log_text.h"
#include "exec/launcher/shortage.h"
#include "exec/record.h"

enum {
    NAME_SIZE = 24,
    SEGMENT_SIZE = 256 * 1024,
    SMALL_SEGMENT_SIZE = 16 * 1024, /* on a disk that is almost full */
    LAUNCH_SIZE = 1600,             /* the most that the lines of a launch take, but for its start line */
    READ_SIZE = 64 * 1024,
    READ_MAX = 64 << 20 /* of a segment: another program has written there */
};

static int log_error(struct err *e, const char *action)
{
    return err_set(e, shortage_code(errno), "cannot %s the record log: %s", action, strerror(errno));
}

static void format_name(uint32_t number, char out[NAME_SIZE])
{
    text_format(out, NAME_SIZE, "%" PRIu32 ".log", number);
}

/* --- opening ------------------------------------------------------------------------------------------------------ */

int segments_init(struct log_segments *s, const struct spool *spool, struct err *e)
{
    struct stat directory;
    *s = (struct log_segments){.spool = spool};
    s->keepers_fd = openat(spool->launches_fd, "keepers", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (s->keepers_fd < 0) return err_set(e, ERR_IO, "cannot open launches/keepers: %s", strerror(errno));
    if (fstat(spool->launches_fd, &directory) == 0)
        s->place = (struct process_identity_place){directory.st_dev, directory.st_ino};
    return 0;
}

static void segment_free(struct log_segment *g)
{
    close(g->fd);
    buf_release(&g->unread);
    buf_release(&g->unwritten);
    mem_free(g);
}

void segments_release(struct log_segments *s)
{
    for (uint32_t i = 0; i < s->list.count; i++) segment_free(s->list.items[i]);
    array_release(&s->list);
    s->current = NULL;
    if (s->keepers_fd >= 0) close(s->keepers_fd);
    s->keepers_fd = -1;
}

static struct log_segment *add_segment(struct log_segments *s, uint32_t number, int fd)
{
    struct log_segment *g = mem_resize(NULL, 0, sizeof *g);
    *g = (struct log_segment){.number = number, .fd = fd, .may_be_unwritten = true};
    *array_add(&s->list) = g;
    return g;
}

struct log_segment *segments_add_removed(struct log_segments *s, uint32_t number, int fd)
{
    return add_segment(s, number, fd);
}

static bool is_open(const struct log_segments *s, uint32_t number)
{
    for (uint32_t i = 0; i < s->list.count; i++) {
        if (s->list.items[i]->number == number) return true;
    }
    return false;
}

static int open_segment(struct log_segments *s, uint32_t number, struct err *e)
{
    char name[NAME_SIZE];
    struct stat file;
    format_name(number, name);
    int fd = openat(s->spool->launches_fd, name, O_RDWR | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0 && (errno == ENOENT || errno == ELOOP || errno == EISDIR || errno == ENXIO || errno == ENODEV))
        return 0; /* another program's */
    if (fd < 0) return log_error(e, "open");
    if (fstat(fd, &file) < 0 || !S_ISREG(file.st_mode)) {
        close(fd);
        return 0;
    }
    add_segment(s, number, fd);
    return 0;
}

static int compare_numbers(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

struct segment_numbers {
    ARRAY(uint32_t) list;
};

static int list_segments(const struct log_segments *s, struct segment_numbers *out, struct err *e)
{
    int fd = openat(s->spool->launches_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *directory = fd < 0 ? NULL : fdopendir(fd);
    if (directory == NULL) {
        (void)log_error(e, "list the segments of");
        if (fd >= 0) close(fd);
        return -1;
    }
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        uint64_t number;
        struct str suffix, digits = str_cut(str(entry->d_name), '.', &suffix);
        if (!str_equal(suffix, str("log")) || !number_parse_u64(digits, &number)) continue;
        if (digits.text[0] != '0' && number < UINT32_MAX) *array_add(&out->list) = (uint32_t)number;
    }
    closedir(directory);
    if (out->list.count > 0) qsort(out->list.items, out->list.count, sizeof *out->list.items, compare_numbers);
    return 0;
}

int segments_scan(struct log_segments *s, struct err *e)
{
    struct segment_numbers numbers = {0};
    int result = list_segments(s, &numbers, e);
    for (uint32_t i = 0; i < numbers.list.count; i++) {
        if (!is_open(s, numbers.list.items[i]) && open_segment(s, numbers.list.items[i], e)) result = -1;
    }
    array_release(&numbers.list);
    for (uint32_t i = 0; i < s->list.count; i++) {
        struct log_segment *g = s->list.items[i];
        if (!g->is_read && !segment_read(g)) result = log_error(e, "read");
    }
    return result;
}

/* --- appending ---------------------------------------------------------------------------------------------------- */

static bool is_removed(const struct log_segment *g)
{
    struct stat file;
    return fstat(g->fd, &file) < 0 || file.st_nlink == 0;
}

/* Allocates the segment's memory on disk, without changing its length. Where that is not possible, records are written
 * as long as there is space. */
static int allocate(struct log_segment *g, size_t size)
{
    if (fallocate(g->fd, FALLOC_FL_KEEP_SIZE, 0, (off_t)size) < 0 && errno != EOPNOTSUPP && errno != ENOSYS) return -1;
    g->size = size;
    return 0;
}

/* A new file with the first number that is free behind those in use. */
static int create_file(const struct log_segments *s, uint32_t *out_number)
{
    enum { TRIES_MAX = 1000 }; /* at names that another program has taken */
    uint32_t number = 1;
    for (uint32_t i = 0; i < s->list.count; i++) {
        if (s->list.items[i]->number >= number) number = s->list.items[i]->number + 1;
    }
    for (int fd, tries = 0;; tries++) {
        char name[NAME_SIZE];
        format_name(*out_number = number++, name);
        fd = openat(s->spool->launches_fd, name, O_RDWR | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (fd >= 0 || errno != EEXIST || tries == TRIES_MAX) return fd;
    }
}

static int create_segment(struct log_segments *s, size_t size, struct err *e)
{
    char name[NAME_SIZE];
    uint32_t number;
    int fd = create_file(s, &number);
    if (fd < 0) return log_error(e, "create a segment of");
    struct log_segment g = {.fd = fd};
    if ((size > SEGMENT_SIZE || allocate(&g, SEGMENT_SIZE) < 0) &&
        allocate(&g, size > SMALL_SEGMENT_SIZE ? size : SMALL_SEGMENT_SIZE) < 0) {
        (void)log_error(e, "create a segment of");
    } else if (g.size < size) {
        errno = ENOSPC;
        (void)log_error(e, "create a segment of");
    } else if (fsync(s->spool->launches_fd) < 0) {
        (void)log_error(e, "sync a segment of");
    } else {
        s->current = add_segment(s, number, fd);
        s->current->size = g.size;
        s->current->is_read = s->current->is_own = true;
        s->current->may_be_unwritten = false;
        return 0;
    }
    close(fd);
    format_name(number, name);
    unlinkat(s->spool->launches_fd, name, 0);
    return -1;
}

int segments_make_room(struct log_segments *s, uint32_t launch_count, size_t size, struct err *e)
{
    size_t needed = launch_count * (size_t)LAUNCH_SIZE + size;
    struct log_segment *g = s->current;
    if (g == NULL || g->used + needed > g->size || is_removed(g)) {
        s->current = NULL;
        if (create_segment(s, needed, e)) return -1;
    }
    s->current->used += needed;
    return 0;
}

int segment_append(const struct log_segment *g, struct str lines, struct err *e)
{
    return durable_append(g->fd, lines) == 0 ? 0 : log_error(e, "write to");
}

/* Writes the bytes of a file in their places again. Lines are only appended, so no other process changes these bytes.
 * The descriptor of a segment only appends. */
static int write_again(int fd)
{
    char path[40], bytes[READ_SIZE];
    text_format(path, sizeof path, "/proc/self/fd/%d", fd);
    int again_fd = open(path, O_RDWR | O_CLOEXEC);
    ssize_t count = -1;
    for (off_t offset = 0; again_fd >= 0; offset += count) {
        count = pread(again_fd, bytes, sizeof bytes, offset);
        if (count <= 0 || pwrite(again_fd, bytes, (size_t)count, offset) != count) break;
    }
    int error_number = errno;
    if (again_fd >= 0) close(again_fd);
    errno = error_number;
    return count == 0 ? 0 : -1;
}

int segment_sync(struct log_segment *g, struct err *e)
{
    g->has_unsynced = g->has_synced = false;
    if (!g->may_be_unwritten || write_again(g->fd) == 0) g->has_synced = fdatasync(g->fd) == 0;
    g->may_be_unwritten = !g->has_synced;
    if (g->has_synced) return 0;
    g->used = g->size; /* no launch is started behind what may be lost */
    return log_error(e, "sync");
}

/* The current segment stays, so that no new one is needed for each launch. */
static bool is_of_use(const struct log_segments *s, const struct log_segment *g)
{
    return g->launch_count > 0 || !g->is_read || g == s->current;
}

void segments_flush(struct log_segments *s)
{
    for (uint32_t i = s->list.count; i-- > 0;) {
        struct log_segment *g = s->list.items[i];
        if (!is_of_use(s, g)) {
            char name[NAME_SIZE];
            format_name(g->number, name);
            if (!is_removed(g)) unlinkat(s->spool->launches_fd, name, 0);
            segment_free(g);
            s->list.items[i] = s->list.items[--s->list.count];
        } else if (g->unwritten.length > 0) {
            (void)segment_append(g, (struct str){g->unwritten.text, g->unwritten.length}, NULL);
            buf_clear(&g->unwritten);
        }
    }
}

/* --- reading ------------------------------------------------------------------------------------------------------ */

/* Whether it was truncated, as log rotation does it. */
static bool is_shorter(const struct log_segment *g)
{
    struct stat file;
    return fstat(g->fd, &file) == 0 && file.st_size < g->read_offset;
}

bool segment_read(struct log_segment *g)
{
    size_t left = g->unread.length - g->unread_offset;
    if (g->unread_offset > 0 && left > 0) memmove(g->unread.text, g->unread.text + g->unread_offset, left);
    g->unread.length = left;
    g->unread_offset = 0;
    if (is_shorter(g)) {
        g->is_cut = true;
        g->used = g->size; /* no launch is started in it any more */
        g->read_offset = 0;
        g->unread.length = 0;
    }
    for (;;) {
        ssize_t n = pread(g->fd, buf_room(&g->unread, READ_SIZE), READ_SIZE, (off_t)g->read_offset);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return false;
        g->unread.length += (size_t)n;
        g->read_offset += n;
        if (n < READ_SIZE || g->read_offset > READ_MAX) break;
    }
    g->is_read = true;
    return true;
}

struct str segment_next(struct log_segment *g)
{
    size_t left = g->unread.length - g->unread_offset;
    if (left == 0) return (struct str){0};
    char *text = g->unread.text + g->unread_offset;
    struct str fields = log_text_next(&text, &left);
    g->unread_offset = g->unread.length - left;
    return fields;
}

bool segment_has_record(int log_fd, int64_t offset, uint64_t launch_id)
{
    struct log_segment g = {.fd = log_fd, .read_offset = offset};
    bool found = !segment_read(&g);
    for (struct str fields; !found && (fields = segment_next(&g)).text != NULL;) {
        uint64_t id;
        found = number_parse_u64(record_value(fields, "id"), &id) && id == launch_id;
    }
    buf_release(&g.unread);
    return found || g.is_cut;
}

bool segment_has_start(const struct log_segment *g, uint64_t launch_id)
{
    struct log_segment whole = {.fd = g->fd};
    bool found = !segment_read(&whole);
    for (struct str fields; !found && (fields = segment_next(&whole)).text != NULL;) {
        uint64_t id;
        found = number_parse_u64(record_value(fields, "start"), &id) && id == launch_id;
    }
    buf_release(&whole.unread);
    return found;
}

/* --- keepers ------------------------------------------------------------------------------------------------------ */

static struct flock lock_of(uint64_t launch_id)
{
    return (struct flock){.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = (off_t)launch_id, .l_len = 1};
}

pid_t segments_find_keeper(const struct log_segments *s, uint64_t launch_id)
{
    struct flock lock = lock_of(launch_id);
    if (fcntl(s->keepers_fd, F_GETLK, &lock) < 0) return -1;
    if (lock.l_type == F_UNLCK) return 0;
    if (lock.l_pid == 0) return SEGMENTS_KEEPER_HIDDEN; /* fcntl(2) has no number for it here */
    return lock.l_pid > 0 ? lock.l_pid : -1;
}

/* The kernel names any one of the locks in a range, so the ranges on both sides of it are asked for next. */
void segments_list_keepers(const struct log_segments *s, struct segments_keepers *out)
{
    struct range {
        int64_t first, last;
    };
    ARRAY(struct range) ranges = {0};
    *array_add(&ranges) = (struct range){1, INT64_MAX - 1};
    while (ranges.count > 0) {
        const struct range r = ranges.items[--ranges.count];
        struct flock lock = {
            .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = r.first, .l_len = r.last - r.first + 1};
        if (fcntl(s->keepers_fd, F_GETLK, &lock) < 0 || lock.l_type == F_UNLCK) continue;
        int64_t first = lock.l_start, last = lock.l_len > 0 ? first + lock.l_len - 1 : INT64_MAX - 1;
        if (first == last && lock.l_pid > 0)
            *array_add(&out->list) = (struct segments_keeper){(uint64_t)first, lock.l_pid};
        if (first > r.first) *array_add(&ranges) = (struct range){r.first, first - 1};
        if (last < r.last) *array_add(&ranges) = (struct range){last + 1, r.last};
    }
    array_release(&ranges);
}

int segments_lock_keeper(int keepers_fd, uint64_t launch_id, struct err *e)
{
    struct flock lock = lock_of(launch_id);
    if (fcntl(keepers_fd, F_SETLK, &lock) == 0) return 0;
    return err_set(e, ERR_UNAVAILABLE, "cannot lock launches/keepers: %s", strerror(errno));
}

void segments_unlock_keeper(int keepers_fd, uint64_t launch_id)
{
    struct flock lock = lock_of(launch_id);
    lock.l_type = F_UNLCK;
    (void)fcntl(keepers_fd, F_SETLK, &lock);
}
