#include "cli/job_stdio.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/number.h"
#include "base/str.h"
#include "base/text.h"

enum { ENVIRONMENT_MAX = 4 * 1024 * 1024 };

struct sought {
    uint32_t job_id, task_id;
    struct stat socket;
};

static bool read_environment(const char *pid, struct buf *out)
{
    char path[64];
    text_format(path, sizeof path, "/proc/%s/environ", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    ssize_t count;
    do {
        count = read(fd, buf_room(out, 65536), 65536);
        if (count > 0) out->length += (size_t)count;
    } while (count > 0 && out->length < ENVIRONMENT_MAX);
    close(fd);
    out->text[out->length] = '\0';
    return out->length > 0;
}

/* The value of a variable, NULL if there is none. */
static const char *find_value(const struct buf *environment, const char *name)
{
    size_t length = strlen(name);
    for (const char *entry = environment->text; entry < environment->text + environment->length;
         entry += strlen(entry) + 1) {
        if (strncmp(entry, name, length) == 0 && entry[length] == '=') return entry + length + 1;
    }
    return NULL;
}

static bool has_number(const struct buf *environment, const char *name, uint32_t expected)
{
    const char *value = find_value(environment, name);
    uint64_t number;
    if (expected == NONE) return value == NULL;
    return value != NULL && number_parse_u64(str(value), &number) && number == expected;
}

static bool is_of_job(const char *pid, const struct sought *sought)
{
    struct buf environment = {0};
    struct stat socket;
    bool is_found = false;
    if (read_environment(pid, &environment)) {
        const char *path = find_value(&environment, "FAIRLEAD_SOCKET");
        is_found = has_number(&environment, "FAIRLEAD_JOB_ID", sought->job_id) &&
                   has_number(&environment, "FAIRLEAD_ARRAY_TASK_ID", sought->task_id) && path != NULL &&
                   stat(path, &socket) == 0 && socket.st_dev == sought->socket.st_dev &&
                   socket.st_ino == sought->socket.st_ino;
    }
    buf_release(&environment);
    return is_found;
}

/* A job's first process leads its session; its other processes may write elsewhere. Those of other users may claim to
 * be of the job, so root does not believe them. */
static bool may_be_first(const char *pid)
{
    uint64_t number;
    char path[64];
    struct stat info;
    text_format(path, sizeof path, "/proc/%s", pid);
    return number_parse_u64(str(pid), &number) && number <= INT32_MAX && getsid((pid_t)number) == (pid_t)number &&
           stat(path, &info) == 0 && info.st_uid == geteuid();
}

static int open_file(const char *pid, int fd)
{
    char path[64];
    struct stat info;
    text_format(path, sizeof path, "/proc/%s/fd/%d", pid, fd);
    if (stat(path, &info) != 0 || !S_ISREG(info.st_mode)) return -1;
    return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

int job_stdio_open(uint32_t job_id, uint32_t task_id, const char *socket, int fd)
{
    struct sought sought = {.job_id = job_id, .task_id = task_id};
    DIR *proc = stat(socket, &sought.socket) == 0 ? opendir("/proc") : NULL;
    int found = -1;
    if (proc == NULL) return -1;
    for (struct dirent *entry = readdir(proc); entry != NULL && found < 0; entry = readdir(proc)) {
        if (may_be_first(entry->d_name) && is_of_job(entry->d_name, &sought)) found = open_file(entry->d_name, fd);
    }
    closedir(proc);
    return found;
}
