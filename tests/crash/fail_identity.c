/* A library for LD_PRELOAD: lookups in the user database, and changes of a process's identity, fail as the file says
 * that the variable FAIL_IDENTITY names. Its first line is "NAME HOW", with NAME one of the functions below, and HOW
 * one of
 *
 *     a number     it fails with that errno
 *     lie          it returns success and does nothing
 *     wait         it makes FILE.waiting, and does not return before the file is gone
 *
 * "entry SIZE": getpwuid_r finds every buffer of less than SIZE bytes too small. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* False: there is no such line. */
static int read_line(char name[32], char how[32])
{
    const char *path = getenv("FAIL_IDENTITY");
    FILE *file = path == NULL ? NULL : fopen(path, "re");
    int count = file == NULL ? 0 : fscanf(file, "%31s %31s", name, how);
    if (file != NULL) fclose(file);
    return count == 2;
}

/* Returns an errno, 0 to go on, or -1 to lie. */
static int fault_of(const char *function)
{
    char name[32], how[32];
    if (!read_line(name, how) || strcmp(name, function) != 0) return 0;
    if (strcmp(how, "lie") == 0) return -1;
    if (strcmp(how, "wait") != 0) return atoi(how);
    char path[4096];
    snprintf(path, sizeof path, "%s.waiting", getenv("FAIL_IDENTITY"));
    close(creat(path, 0600));
    while (read_line(name, how)) usleep(10000);
    return 0;
}

#define NEXT(function) ((__typeof__(&(function)))dlsym(RTLD_NEXT, #function))
#define FAIL_OR(function, ...)                     \
    do {                                           \
        int fault = fault_of(#function);           \
        if (fault > 0) errno = fault;              \
        if (fault != 0) return fault > 0 ? -1 : 0; \
        return NEXT(function)(__VA_ARGS__);        \
    } while (0)

int setgroups(size_t count, const gid_t *list)
{
    FAIL_OR(setgroups, count, list);
}

int setresgid(gid_t real, gid_t effective, gid_t saved)
{
    FAIL_OR(setresgid, real, effective, saved);
}

int setresuid(uid_t real, uid_t effective, uid_t saved)
{
    FAIL_OR(setresuid, real, effective, saved);
}

/* As the user, who may be too weak to make FILE.waiting. */
int chdir(const char *path)
{
    FAIL_OR(chdir, path);
}

int getgrouplist(const char *user, gid_t group, gid_t *groups, int *count)
{
    FAIL_OR(getgrouplist, user, group, groups, count);
}

int getpwuid_r(uid_t uid, struct passwd *entry, char *memory, size_t size, struct passwd **out)
{
    char name[32], how[32];
    int fault = fault_of("getpwuid_r");
    *out = NULL;
    if (fault != 0) return fault > 0 ? fault : 0;
    if (read_line(name, how) && strcmp(name, "entry") == 0 && size < (size_t)atol(how)) return ERANGE;
    return NEXT(getpwuid_r)(uid, entry, memory, size, out);
}
