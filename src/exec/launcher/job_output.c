/* The path is walked component by component, each opened below the descriptor of the one before, so a directory or a
 * link that is exchanged meanwhile is met either as it was or as it is, and what was checked is what is used.
 *
 *  I1  No component is followed by the kernel: a symbolic link is read here, after its owner has been checked.
 *  I2  A file is checked through the descriptor that the job gets, and only then cut to length 0. */
#include "exec/launcher/job_output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    LINKS_MAX = 40,            /* as in path_resolution(7) */
    COMPONENTS_MAX = PATH_MAX, /* with those of links: more than a path can have, and no more than a moment's work */
};

struct output_walk {
    int fd;                  /* the directory that the walk has reached */
    char rest[2 * PATH_MAX]; /* of the path, below it */
    int link_count, component_count;
    uid_t uid;
    enum job_output_fault fault;
};

static bool is_shared(const struct stat *directory)
{
    return (directory->st_mode & (S_IWGRP | S_IWOTH)) != 0;
}

static bool is_trusted(const struct output_walk *w, const struct stat *s)
{
    return s->st_uid == w->uid || s->st_uid == 0;
}

static int refuse(struct output_walk *w, enum job_output_fault fault)
{
    w->fault = fault;
    errno = EACCES;
    return -1;
}

static int fail(int error_number)
{
    errno = error_number;
    return -1;
}

static void close_quietly(int fd)
{
    int error_number = errno;
    close(fd);
    errno = error_number;
}

/* Goes to a directory, whose descriptor may be -1 with errno. */
static int go_to(struct output_walk *w, int fd)
{
    if (fd < 0) return -1;
    if (w->fd >= 0) close(w->fd);
    w->fd = fd;
    return 0;
}

static int go_to_root(struct output_walk *w)
{
    return go_to(w, open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
}

/* --- symbolic links ----------------------------------------------------------------------------------------------- */

static int check_link(struct output_walk *w, int link_fd, bool is_last)
{
    struct stat link, directory;
    if (fstat(link_fd, &link) < 0 || fstat(w->fd, &directory) < 0) return -1;
    if (!S_ISLNK(link.st_mode)) return fail(ENOTDIR);
    if ((is_last || is_shared(&directory)) && !is_trusted(w, &link)) return refuse(w, JOB_OUTPUT_FOREIGN_LINK);
    return ++w->link_count > LINKS_MAX ? fail(ELOOP) : 0;
}

/* Puts the target of a link before what follows it, which is "" or begins with a slash. */
static int insert_target(struct output_walk *w, int link_fd, const char *following)
{
    char target[PATH_MAX];
    ssize_t length = readlinkat(link_fd, "", target, sizeof target);
    size_t following_length = strlen(following);
    if (length < 0) return -1;
    if (length == 0) return fail(ENOENT);
    if (length == (ssize_t)sizeof target || (size_t)length + following_length + 1 > sizeof w->rest)
        return fail(ENAMETOOLONG);
    memmove(w->rest + length, following, following_length + 1);
    memcpy(w->rest, target, (size_t)length);
    return target[0] == '/' ? go_to_root(w) : 0;
}

static int follow_link(struct output_walk *w, const char *name, const char *following, bool is_last)
{
    int fd = openat(w->fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) return -1;
    int result = check_link(w, fd, is_last);
    if (result == 0) result = insert_target(w, fd, following);
    close_quietly(fd);
    return result;
}

/* --- components --------------------------------------------------------------------------------------------------- */

/* O_DIRECTORY mounts a directory that is mounted when it is used. */
static int enter(struct output_walk *w, const char *name, const char *following)
{
    int fd = openat(w->fd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 && (errno == ENOTDIR || errno == ELOOP)) return follow_link(w, name, following, false);
    if (fd >= 0) memmove(w->rest, following, strlen(following) + 1);
    return go_to(w, fd);
}

static int check_file(struct output_walk *w, int fd)
{
    struct stat file, directory;
    if (fstat(fd, &file) < 0 || fstat(w->fd, &directory) < 0) return -1;
    if (is_shared(&directory) && !is_trusted(w, &file)) return refuse(w, JOB_OUTPUT_FOREIGN_FILE);
    if (!S_ISREG(file.st_mode)) return 0;
    if (is_shared(&directory) && file.st_nlink > 1) return refuse(w, JOB_OUTPUT_LINKED_FILE);
    return ftruncate(fd, 0); /* I2 */
}

/* Of another user's symbolic link in a shared directory, new kernels say EACCES instead of ELOOP. */
static bool is_link(const struct output_walk *w, const char *name)
{
    struct stat s;
    return fstatat(w->fd, name, &s, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(s.st_mode);
}

/* Returns -1 with ELOOP if the name is a symbolic link. O_NONBLOCK: a fifo without a reader is refused; otherwise the
 * job would wait for a reader without limit. */
static int open_file(struct output_walk *w, const char *name)
{
    int fd = openat(w->fd, name, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0666);
    if (fd >= 0 && check_file(w, fd) < 0) {
        close_quietly(fd);
        if (errno == ELOOP) errno = EIO;
        return -1;
    }
    if (fd < 0 && errno == EACCES) errno = is_link(w, name) ? ELOOP : EACCES;
    return fd;
}

/* Cuts the first component off the rest: to name, which has NAME_MAX + 2 bytes. *out_following: what comes after it. */
static int next_name(struct output_walk *w, char *name, const char **out_following)
{
    const char *begin = w->rest + strspn(w->rest, "/");
    size_t length = strcspn(begin, "/");
    if (length == 0) return fail(EISDIR);
    if (length > NAME_MAX) return fail(ENAMETOOLONG);
    if (++w->component_count > COMPONENTS_MAX) return fail(ELOOP);
    memcpy(name, begin, length);
    name[length] = '\0';
    *out_following = begin + length;
    return 0;
}

static int walk(struct output_walk *w)
{
    char name[NAME_MAX + 2];
    const char *following;
    if (go_to_root(w) < 0) return -1;
    for (;;) {
        if (next_name(w, name, &following) < 0) return -1;
        if (following[0] != '\0') {
            if (enter(w, name, following) < 0) return -1;
            continue;
        }
        int fd = open_file(w, name);
        if (fd >= 0 || errno != ELOOP) return fd;
        if (follow_link(w, name, following, true) < 0) return -1;
    }
}

static int open_strictly(const char *path, enum job_output_fault *out_fault)
{
    struct output_walk w = {.fd = -1, .uid = geteuid()};
    if (strlen(path) >= PATH_MAX) return fail(ENAMETOOLONG);
    memcpy(w.rest, path, strlen(path) + 1);
    int fd = walk(&w);
    if (w.fd >= 0) close_quietly(w.fd);
    *out_fault = w.fault;
    return fd;
}

int job_output_open(const char *path, bool is_strict, enum job_output_fault *out_fault)
{
    *out_fault = JOB_OUTPUT_FAILED;
    int fd = is_strict ? open_strictly(path, out_fault)
                       : open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOCTTY | O_NONBLOCK | O_CLOEXEC, 0666);
    int flags = fd < 0 ? -1 : fcntl(fd, F_GETFL);
    if (flags >= 0 && fcntl(fd, F_SETFL, flags & ~O_NONBLOCK) == 0) return fd;
    if (fd >= 0) close_quietly(fd);
    return -1;
}

const char *job_output_explain(enum job_output_fault fault, int error_number)
{
    switch (fault) {
    case JOB_OUTPUT_FOREIGN_LINK: return "a symbolic link in its path belongs to another user";
    case JOB_OUTPUT_FOREIGN_FILE: return "it belongs to another user, in a directory that others can write";
    case JOB_OUTPUT_LINKED_FILE: return "it has more than one name, in a directory that others can write";
    case JOB_OUTPUT_FAILED: break;
    }
    return strerror(error_number);
}
