/* user.slice and the slices in it are root's, and so are their files, also where systemd has delegated what is below
 * them to the users; no link leads anywhere else, and none is followed. */
#include "exec/launcher/slice_weights.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/number.h"
#include "exec/launcher/cgroup.h"
#include "exec/launcher/durable.h"

#define USER_SLICE "user.slice"

/* --- a slice ------------------------------------------------------------------------------------------------------ */

static uint32_t low_of(uint32_t uid)
{
    return uid == SLICE_ALL ? SLICE_WEIGHT_ALL_LOW : SLICE_WEIGHT_LOW;
}

/* -1: the slice has no weight, or there is no such slice. flags: of open(2). */
static int open_weight(const struct slice_weights *w, uint32_t uid, int flags)
{
    char name[32];
    if (w->directory[0] == '\0') return -1;
    int slices_fd = open(w->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (slices_fd < 0 || uid == SLICE_ALL) {
        int own_fd = slices_fd < 0 ? -1 : openat(slices_fd, "cpu.weight", flags | O_NOFOLLOW | O_CLOEXEC);
        if (slices_fd >= 0) close(slices_fd);
        return own_fd;
    }
    text_format(name, sizeof name, "user-%u.slice", uid);
    int slice_fd = openat(slices_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    int fd = slice_fd < 0 ? -1 : openat(slice_fd, "cpu.weight", flags | O_NOFOLLOW | O_CLOEXEC);
    if (slice_fd >= 0) close(slice_fd);
    close(slices_fd);
    return fd;
}

/* Whether the slice has a weight that can be set. */
static bool has_weight(const struct slice_weights *w, uint32_t uid)
{
    int fd = open_weight(w, uid, O_WRONLY);
    if (fd >= 0) close(fd);
    return fd >= 0;
}

/* 0: it has none. A group whose cpu.idle is set reads 0, too: it has less than any weight. */
static uint32_t read_weight(const struct slice_weights *w, uint32_t uid)
{
    char text[16];
    uint64_t weight = 0;
    int fd = open_weight(w, uid, O_RDONLY);
    ssize_t length = fd < 0 ? -1 : read(fd, text, sizeof text);
    if (fd >= 0) close(fd);
    if (length <= 0) return 0;
    bool is_read = number_parse_u64(str_trim((struct str){text, (size_t)length}), &weight);
    return is_read && weight <= SLICE_WEIGHT_MAX ? (uint32_t)weight : 0;
}

static void write_weight(const struct slice_weights *w, uint32_t uid, uint32_t weight)
{
    char text[16];
    int fd = open_weight(w, uid, O_WRONLY | O_TRUNC);
    if (fd < 0) return;
    text_format(text, sizeof text, "%u\n", weight);
    (void)durable_write_all(fd, str(text));
    close(fd);
}

/* --- all of them -------------------------------------------------------------------------------------------------- */

void slice_weights_find(struct slice_weights *w, const char *directory)
{
    struct buf mounts = {0};
    bool found;
    if (directory != NULL) {
        text_format(w->directory, sizeof w->directory, "%s", directory);
        return;
    }
    (void)durable_read(AT_FDCWD, "/proc/self/mountinfo", &mounts, &found, NULL);
    struct str text = {mounts.text, mounts.length};
    if (!cgroup_find(str("0::/" USER_SLICE "\n"), text, NULL, w->directory, sizeof w->directory))
        w->directory[0] = '\0';
    buf_release(&mounts);
}

void slice_weights_release(struct slice_weights *w)
{
    array_release(&w->list);
}

bool slice_weights_are_used(const struct slice_weights *w)
{
    return has_weight(w, SLICE_ALL);
}

static struct slice_weight *find(struct slice_weights *w, uint32_t uid)
{
    for (uint32_t i = 0; i < w->list.count; i++) {
        if (w->list.items[i].uid == uid) return &w->list.items[i];
    }
    return NULL;
}

/* user.slice is low as long as a user in it is: without a weight of the user's own, others would pay for that user. */
static bool is_low(const struct slice_weights *w, uint32_t uid, const uint32_t *uids, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (uid == SLICE_ALL ? has_weight(w, uids[i]) : uids[i] == uid) return true;
    }
    return false;
}

static bool add(struct slice_weights *w, uint32_t uid)
{
    uint32_t weight = read_weight(w, uid);
    struct slice_weight *known = find(w, uid);
    if (weight <= low_of(uid)) return false;
    if (known == NULL) {
        known = array_add(&w->list);
        *known = (struct slice_weight){.uid = uid};
    }
    bool is_changed = known->weight != weight;
    known->weight = weight;
    return is_changed;
}

bool slice_weights_add(struct slice_weights *w, const uint32_t *uids, uint32_t count)
{
    bool is_changed = is_low(w, SLICE_ALL, uids, count) && add(w, SLICE_ALL);
    for (uint32_t i = 0; i < count; i++) is_changed |= add(w, uids[i]);
    return is_changed;
}

void slice_weights_apply(const struct slice_weights *w, const uint32_t *uids, uint32_t count)
{
    for (uint32_t i = 0; i < w->list.count; i++) {
        const struct slice_weight *slice = &w->list.items[i];
        uint32_t low = low_of(slice->uid), present = read_weight(w, slice->uid);
        if (!is_low(w, slice->uid, uids, count)) {
            if (present == low) write_weight(w, slice->uid, slice->weight);
        } else if (present > low) {
            write_weight(w, slice->uid, low);
        }
    }
}

bool slice_weights_remove_others(struct slice_weights *w, const uint32_t *uids, uint32_t count)
{
    uint32_t kept = 0, before = w->list.count;
    for (uint32_t i = 0; i < before; i++) {
        struct slice_weight slice = w->list.items[i];
        bool exists = read_weight(w, slice.uid) != 0;
        if (exists && is_low(w, slice.uid, uids, count)) w->list.items[kept++] = slice;
    }
    w->list.count = kept;
    return kept < before;
}

/* --- lines -------------------------------------------------------------------------------------------------------- */

void slice_weight_format(const struct slice_weight *slice, struct buf *out)
{
    if (slice->uid == SLICE_ALL)
        buf_format(out, "slice all %u\n", slice->weight);
    else
        buf_format(out, "slice %u %u\n", slice->uid, slice->weight);
}

bool slice_weight_parse(struct str line, struct slice_weight *out)
{
    uint64_t uid = SLICE_ALL, weight;
    if (!str_equal(str_cut(line, ' ', &line), str("slice"))) return false;
    struct str whose = str_cut(line, ' ', &line);
    if (!str_equal(whose, str("all")) && (!number_parse_u64(whose, &uid) || uid >= SLICE_ALL)) return false;
    if (!number_parse_u64(line, &weight) || weight == 0 || weight > SLICE_WEIGHT_MAX) return false;
    *out = (struct slice_weight){.uid = (uint32_t)uid, .weight = (uint32_t)weight};
    return true;
}
