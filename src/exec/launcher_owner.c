#include "exec/launcher_owner.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "exec/record.h"

struct launcher_owner launcher_owner_read(const char *directory, struct arena *arena)
{
    char path[PATH_MAX], bytes[PATH_MAX + 100];
    text_format(path, sizeof path, "%s/" LAUNCHER_OWNER_FILE, directory);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    ssize_t length = fd >= 0 ? read(fd, bytes, sizeof bytes) : 0;
    if (fd >= 0) close(fd);
    struct str text = {bytes, length > 0 ? (size_t)length : 0}, state = record_value(text, "state");
    if (state.length == 0) return (struct launcher_owner){0};
    return (struct launcher_owner){.id = arena_copy(arena, record_value(text, "id")),
                                   .state = arena_copy(arena, state)};
}

static bool is_same(const struct launcher_owner *a, const struct launcher_owner *b)
{
    return strcmp(a->state, b->state) == 0 || (a->id[0] != '\0' && strcmp(a->id, b->id) == 0);
}

/* Where its mark cannot be looked for, it exists. */
static bool has_state(const struct launcher_owner *owner)
{
    char path[PATH_MAX];
    text_format(path, sizeof path, "%s/instance", owner->state);
    return access(path, F_OK) == 0 || (errno != ENOENT && errno != ENOTDIR);
}

int launcher_owner_admit(const char *directory, const struct launcher_owner *owner,
                         const struct launcher_owner *instance, bool is_busy, struct err *e)
{
    if (owner->state == NULL || is_same(owner, instance) || (!is_busy && !has_state(owner))) return 0;
    return err_set(e, ERR_CONFLICT,
                   "the launcher at %s belongs to the instance in %s and cannot serve %s as well: give that one a "
                   "launcher of its own with --launcher-state DIR (if the first is gone for good, remove %s/%s)",
                   directory, owner->state, instance->state, directory, LAUNCHER_OWNER_FILE);
}
