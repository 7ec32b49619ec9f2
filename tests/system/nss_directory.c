/* A directory service for nsswitch.conf, as LDAP is one: users and groups that no file of the machine has. It
 * answers slowly, not at all, or says that it cannot be reached. In the folder of this library are
 *
 *     passwd, group   its entries, in the format of /etc
 *     how             lines "KEY HOW", of which the first that fits counts: KEY is a uid, a gid, a name, "passwd",
 *                     "group", or "groups" (those of a user). HOW is one of
 *         absent        there is no such entry
 *         wait          no answer while the line is there; the file waiting-KEY says that somebody waits
 *         unavailable-N the service cannot be asked, for errno N
 *         again-N       likewise, as one that may answer later */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <nss.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef enum nss_status status;

status _nss_fltest_getpwuid_r(uid_t uid, struct passwd *out, char *memory, size_t size, int *out_errno);
status _nss_fltest_getpwnam_r(const char *name, struct passwd *out, char *memory, size_t size, int *out_errno);
status _nss_fltest_getgrgid_r(gid_t gid, struct group *out, char *memory, size_t size, int *out_errno);
status _nss_fltest_getgrnam_r(const char *name, struct group *out, char *memory, size_t size, int *out_errno);
status _nss_fltest_initgroups_dyn(const char *user, gid_t gid, long *count, long *room, gid_t **groups, long max,
                                  int *out_errno);

static FILE *open_file(const char *name, const char *mode)
{
    Dl_info self;
    char path[4096];
    if (dladdr((const void *)(uintptr_t)_nss_fltest_getpwuid_r, &self) == 0) return NULL;
    const char *slash = strrchr(self.dli_fname, '/');
    snprintf(path, sizeof path, "%.*s/%s", slash ? (int)(slash - self.dli_fname) : 1, slash ? self.dli_fname : ".",
             name);
    return fopen(path, mode);
}

/* What the first line that counts says; empty: there is none. */
static void read_how(const char *key, const char *kind, char how[32])
{
    char found[64], text[32];
    FILE *file = open_file("how", "re");
    how[0] = '\0';
    while (file != NULL && how[0] == '\0' && fscanf(file, "%63s %31s", found, text) == 2) {
        if (strcmp(found, key) == 0 || strcmp(found, kind) == 0) strcpy(how, text);
    }
    if (file != NULL) fclose(file);
}

static status fault_of(const char *key, const char *kind, int *out_errno)
{
    char how[32], name[80];
    snprintf(name, sizeof name, "waiting-%s", key);
    for (read_how(key, kind, how); strcmp(how, "wait") == 0; read_how(key, kind, how)) {
        FILE *file = open_file(name, "we");
        if (file != NULL) fclose(file);
        usleep(10000);
    }
    const char *number = strrchr(how, '-');
    *out_errno = number != NULL ? atoi(number + 1) : ENOENT;
    if (strcmp(how, "absent") == 0) return NSS_STATUS_NOTFOUND;
    if (strncmp(how, "unavailable-", strlen("unavailable-")) == 0) return NSS_STATUS_UNAVAIL;
    if (strncmp(how, "again-", strlen("again-")) == 0) return NSS_STATUS_TRYAGAIN;
    return NSS_STATUS_SUCCESS;
}

static status end_search(FILE *file, int error, int *out_errno)
{
    if (file != NULL) fclose(file);
    *out_errno = error;
    if (error == 0) return NSS_STATUS_SUCCESS;
    return error == ERANGE ? NSS_STATUS_TRYAGAIN : NSS_STATUS_NOTFOUND;
}

static status find_user(const char *key, const char *name, uid_t uid, struct passwd *out, char *memory, size_t size,
                        int *out_errno)
{
    struct passwd *found = NULL;
    status fault = fault_of(key, "passwd", out_errno);
    if (fault != NSS_STATUS_SUCCESS) return fault;
    FILE *file = open_file("passwd", "re");
    int error = file == NULL ? ENOENT : fgetpwent_r(file, out, memory, size, &found);
    while (error == 0 && (name != NULL ? strcmp(out->pw_name, name) != 0 : out->pw_uid != uid))
        error = fgetpwent_r(file, out, memory, size, &found);
    return end_search(file, error, out_errno);
}

static status find_group(const char *key, const char *name, gid_t gid, struct group *out, char *memory, size_t size,
                         int *out_errno)
{
    struct group *found = NULL;
    status fault = fault_of(key, "group", out_errno);
    if (fault != NSS_STATUS_SUCCESS) return fault;
    FILE *file = open_file("group", "re");
    int error = file == NULL ? ENOENT : fgetgrent_r(file, out, memory, size, &found);
    while (error == 0 && (name != NULL ? strcmp(out->gr_name, name) != 0 : out->gr_gid != gid))
        error = fgetgrent_r(file, out, memory, size, &found);
    return end_search(file, error, out_errno);
}

status _nss_fltest_getpwuid_r(uid_t uid, struct passwd *out, char *memory, size_t size, int *out_errno)
{
    char key[16];
    snprintf(key, sizeof key, "%u", uid);
    return find_user(key, NULL, uid, out, memory, size, out_errno);
}

status _nss_fltest_getpwnam_r(const char *name, struct passwd *out, char *memory, size_t size, int *out_errno)
{
    return find_user(name, name, 0, out, memory, size, out_errno);
}

status _nss_fltest_getgrgid_r(gid_t gid, struct group *out, char *memory, size_t size, int *out_errno)
{
    char key[16];
    snprintf(key, sizeof key, "%u", gid);
    return find_group(key, NULL, gid, out, memory, size, out_errno);
}

status _nss_fltest_getgrnam_r(const char *name, struct group *out, char *memory, size_t size, int *out_errno)
{
    return find_group(name, name, 0, out, memory, size, out_errno);
}

static bool has_member(const struct group *group, const char *user)
{
    for (char **member = group->gr_mem; *member != NULL; member++) {
        if (strcmp(*member, user) == 0) return true;
    }
    return false;
}

/* *groups has room for *room, and room for one more at least: glibc passes its own array. */
static bool add_group(gid_t gid, long *count, long *room, gid_t **groups)
{
    if (*count == *room) {
        gid_t *larger = realloc(*groups, 2 * (size_t)*room * sizeof *larger);
        if (larger == NULL) return false;
        *groups = larger;
        *room *= 2;
    }
    (*groups)[(*count)++] = gid;
    return true;
}

status _nss_fltest_initgroups_dyn(const char *user, gid_t gid, long *count, long *room, gid_t **groups, long max,
                                  int *out_errno)
{
    char memory[4096];
    struct group entry, *found;
    status fault = fault_of(user, "groups", out_errno);
    (void)max;
    if (fault != NSS_STATUS_SUCCESS) return fault;
    FILE *file = open_file("group", "re");
    while (file != NULL && fgetgrent_r(file, &entry, memory, sizeof memory, &found) == 0) {
        if (entry.gr_gid != gid && has_member(&entry, user) && !add_group(entry.gr_gid, count, room, groups)) break;
    }
    if (file != NULL) fclose(file);
    return NSS_STATUS_SUCCESS;
}
