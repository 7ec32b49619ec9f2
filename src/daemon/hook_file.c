#include "daemon/hook_file.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"

/* Whether only root and the daemon's account can change what the path names. */
static bool is_trusted(const char *path, const struct stat *info, char out_fault[HOOK_FAULT_SIZE])
{
    bool is_sticky = S_ISDIR(info->st_mode) && (info->st_mode & S_ISVTX) != 0;
    if (info->st_uid != 0 && info->st_uid != geteuid())
        text_format(out_fault, HOOK_FAULT_SIZE,
                    "is not safe: '%s' belongs to uid %u, not to root or the daemon's account", path, info->st_uid);
    else if ((info->st_mode & (S_IWGRP | S_IWOTH)) != 0 && !is_sticky)
        text_format(out_fault, HOOK_FAULT_SIZE, "is not safe: its group or others may write to '%s'", path);
    else
        return true;
    return false;
}

static bool check_one(const char *path, char out_fault[HOOK_FAULT_SIZE])
{
    struct stat info;
    if (stat(path, &info) == 0) return is_trusted(path, &info, out_fault);
    text_format(out_fault, HOOK_FAULT_SIZE, "cannot be checked: %s: %s", path, strerror(errno));
    return false;
}

/* The path itself and all directories on the way to it. */
static bool check_way(const char *path, char out_fault[HOOK_FAULT_SIZE])
{
    char part[PATH_MAX];
    if (strlen(path) >= sizeof part || !check_one("/", out_fault)) return false;
    for (size_t i = 1; path[i - 1] != '\0'; i++) {
        if (path[i] != '/' && path[i] != '\0') continue;
        memcpy(part, path, i);
        part[i] = '\0';
        if (!check_one(part, out_fault)) return false;
    }
    return true;
}

bool hook_file_check(const char *path, bool is_system, char out_fault[HOOK_FAULT_SIZE])
{
    char real[PATH_MAX]; /* without symbolic links, each of which leads through other directories */
    struct stat info;
    const char *fault = NULL;
    if (realpath(path, real) == NULL || stat(real, &info) != 0)
        fault = errno == ENOENT ? "does not exist" : strerror(errno);
    else if (!S_ISREG(info.st_mode))
        fault = "is not a regular file";
    else if (access(real, X_OK) != 0)
        fault = "is not executable";
    if (fault != NULL) text_format(out_fault, HOOK_FAULT_SIZE, "%s", fault);
    if (fault != NULL || !is_system) return fault == NULL;
    return check_way(path, out_fault) && check_way(real, out_fault);
}
