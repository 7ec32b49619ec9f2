#include "cli/temporary_file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"

static const int fatal_signals[] = {SIGINT, SIGTERM, SIGHUP};
enum { FATAL_COUNT = sizeof fatal_signals / sizeof *fatal_signals };
static char removed_path[PATH_MAX]; /* for the handler; empty: none */

static int fail(const char *path, struct err *e)
{
    return err_set(e, ERR_IO, "%s: %s", path, strerrordesc_np(errno));
}

static void remove_and_end(int number)
{
    if (removed_path[0] != '\0') (void)unlink(removed_path);
    (void)raise(number); /* by SA_RESETHAND with its default action, once this handler returns */
}

static void handle_signals(void)
{
    struct sigaction action = {.sa_handler = remove_and_end, .sa_flags = (int)SA_RESETHAND}, was;
    for (int i = 0; i < FATAL_COUNT; i++) {
        if (sigaction(fatal_signals[i], NULL, &was) == 0 && was.sa_handler == SIG_DFL)
            (void)sigaction(fatal_signals[i], &action, NULL);
    }
    (void)signal(SIGXFSZ, SIG_IGN);
}

int temporary_file_open(struct temporary_file *t, const char *name, struct err *e)
{
    sigset_t fatal, was;
    *t = (struct temporary_file){.fd = -1, .name = name};
    if (text_format(t->path, sizeof t->path, "%s.XXXXXX", name) >= sizeof t->path) {
        errno = ENAMETOOLONG;
        return fail(name, e);
    }
    sigemptyset(&fatal);
    for (int i = 0; i < FATAL_COUNT; i++) sigaddset(&fatal, fatal_signals[i]);
    sigprocmask(SIG_BLOCK, &fatal, &was);
    t->fd = mkostemp(t->path, O_CLOEXEC); /* O_EXCL, mode 0600 */
    int failure = errno;
    if (t->fd >= 0) memcpy(removed_path, t->path, sizeof removed_path);
    handle_signals();
    sigprocmask(SIG_SETMASK, &was, NULL);
    errno = failure;
    return t->fd >= 0 ? 0 : fail(name, e);
}

void temporary_file_remove(struct temporary_file *t)
{
    (void)unlink(t->path);
    removed_path[0] = '\0';
    if (t->fd >= 0) close(t->fd);
    t->fd = -1;
}

/* Some file systems, such as NFS, know no RENAME_NOREPLACE. */
static int give_name(const struct temporary_file *t, bool replaces)
{
    if (replaces) return rename(t->path, t->name);
    if (renameat2(AT_FDCWD, t->path, AT_FDCWD, t->name, RENAME_NOREPLACE) == 0) return 0;
    if (errno != EINVAL && errno != ENOSYS) return -1;
    return link(t->path, t->name) == 0 ? unlink(t->path) : -1;
}

static int sync_directory_of(const char *name)
{
    char directory[PATH_MAX];
    text_format(directory, sizeof directory, "%s", name);
    char *slash = strrchr(directory, '/');
    if (slash == NULL)
        text_format(directory, sizeof directory, ".");
    else
        slash[slash == directory] = '\0';
    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int status = fd >= 0 ? fsync(fd) : -1;
    if (fd >= 0) close(fd);
    return status;
}

int temporary_file_publish(struct temporary_file *t, bool replaces, struct err *e)
{
    int status = fsync(t->fd);
    if (status == 0) status = give_name(t, replaces);
    if (status == 0) {
        removed_path[0] = '\0';
        close(t->fd);
        t->fd = -1;
        return sync_directory_of(t->name) == 0 ? 0 : fail(t->name, e);
    }
    if (errno == EEXIST)
        (void)err_set(e, ERR_EXISTS, "%s exists", t->name);
    else
        (void)fail(t->name, e);
    temporary_file_remove(t);
    return -1;
}
