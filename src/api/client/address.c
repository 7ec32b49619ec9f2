#include "api/client/address.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"

static const char *environment(const char *name)
{
    const char *value = getenv(name);
    return value && value[0] != '\0' ? value : NULL;
}

/* The three texts, concatenated. */
static const char *join(struct arena *a, const char *first, const char *second, const char *third)
{
    struct buf path = {0};
    buf_add_text(&path, first);
    buf_add_text(&path, second);
    buf_add_text(&path, third);
    const char *joined = arena_copy(a, (struct str){path.text, path.length});
    buf_release(&path);
    return joined;
}

/* The default state directory, or NULL. A relative XDG_STATE_HOME counts as unset (XDG Base Directory 0.8). */
static const char *default_directory(struct arena *a)
{
    const char *state = environment("XDG_STATE_HOME"), *home = environment("HOME");
    if (state && state[0] == '/') return join(a, state, "/fairlead", "");
    if (home && home[0] == '/') return join(a, home, "/.local/state/fairlead", "");
    return NULL;
}

int address_check(const char *path, struct err *e)
{
    size_t length = strlen(path);
    if (length == 0) return err_set(e, ERR_INPUT, "the path of the socket is empty");
    if (length > ADDRESS_BYTES_MAX)
        return err_set(e, ERR_INPUT, "the path of the socket has %zu bytes; at most %d are accepted: %s", length,
                       ADDRESS_BYTES_MAX, path);
    return 0;
}

bool address_is_below_run(const char *path)
{
    if (strncmp(path, "/run/", strlen("/run/")) != 0 || strstr(path, "..") != NULL) return false;
    const char *name = path + strlen("/run/"), *slash = strchr(name, '/');
    return slash != NULL && slash > name && slash[1] != '\0' && strchr(slash + 1, '/') == NULL;
}

int addresses_find(const char *given, struct arena *a, struct addresses *out_addresses, struct err *e)
{
    struct addresses found = {.count = 1, .path = {given ? given : environment("FAIRLEAD_SOCKET"), NULL}};
    if (found.path[0] == NULL) {
        const char *directory = default_directory(a);
        found.path[0] = directory ? address_in(directory, a) : SYSTEM_ADDRESS;
        if (directory) found.path[found.count++] = SYSTEM_ADDRESS;
    }
    if (address_check(found.path[0], e) != 0) return -1;
    *out_addresses = found;
    return 0;
}

int address_absolute(const char *path, struct arena *a, const char **out_path, struct err *e)
{
    char current[4096];
    if (path[0] == '\0') return err_set(e, ERR_INPUT, "a path is empty");
    if (path[0] == '/') {
        *out_path = path;
        return 0;
    }
    if (getcwd(current, sizeof current) == NULL) return err_set(e, ERR_IO, "current directory: %s", strerror(errno));
    *out_path = join(a, current, "/", path);
    return 0;
}

int address_state_directory(const char *given, struct arena *a, const char **out_path, struct err *e)
{
    if (given) return address_absolute(given, a, out_path, e);
    const char *directory = default_directory(a);
    if (directory == NULL)
        return err_set(e, ERR_INPUT, "neither XDG_STATE_HOME nor HOME is an absolute path: give --state DIR");
    *out_path = directory;
    return 0;
}

const char *address_in(const char *state_directory, struct arena *a)
{
    return join(a, state_directory, "/fairlead.sock", "");
}
