#include "cli/system_instance.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "api/client/address.h"
#include "cli/read_file.h"
#include "cli/spawn.h"

enum { START_TIMEOUT_S = 10, POLL_MS = 20 };

#define DEFAULT_STATE "/var/lib/fairlead"

/* As sd_booted(3) finds it. */
static bool has_systemd(void)
{
    struct stat directory;
    return lstat("/run/systemd/system", &directory) == 0 && S_ISDIR(directory.st_mode);
}

int system_instance_find(struct call *call, const char *action, struct system_places *places,
                         struct private_instance *out_instance, struct err *e)
{
    const char *socket = call->common.socket != NULL ? call->common.socket : SYSTEM_ADDRESS;
    if (places->state == NULL) places->state = DEFAULT_STATE;
    if (places->launcher_state == NULL) places->launcher_state = SYSTEM_LAUNCHER_STATE;
    if (address_absolute(socket, call->arena, &socket, e) != 0 || address_check(socket, e) != 0 ||
        address_absolute(places->state, call->arena, &places->state, e) != 0 ||
        address_absolute(places->launcher_state, call->arena, &places->launcher_state, e) != 0)
        return -1;
    bool is_default = strcmp(socket, SYSTEM_ADDRESS) == 0;
    if (is_default && has_systemd())
        return err_set(e, ERR_CONFLICT, "systemd has the instance of the system: run 'systemctl %s fairlead' as root",
                       action);
    if (geteuid() != 0)
        return err_set(e, ERR_DENIED, "only root may %s the instance of the system; you are user %u", action,
                       geteuid());
    if (strcmp(action, "start") == 0 && !address_is_below_run(socket))
        return err_value(e, "--socket", str(socket),
                         "a path /run/NAME/FILE, where users trust a daemon that is not theirs");
    *out_instance =
        (struct private_instance){.state_directory = places->state, .socket = socket, .is_default = is_default};
    return 0;
}

int system_instance_prepare(const char *launcher_state, struct err *e)
{
    struct stat info;
    if (mkdir(launcher_state, 0700) == 0) {
        if (chmod(launcher_state, 0711) == 0) return 0;
    } else if (errno == EEXIST && lstat(launcher_state, &info) == 0) {
        if (S_ISDIR(info.st_mode) && info.st_uid == 0 && (info.st_mode & (S_IWGRP | S_IWOTH)) == 0) return 0;
        return err_set(e, ERR_DENIED,
                       "%s can be written by others than root: run 'chown root %s' and 'chmod 711 %s', or "
                       "choose another with --launcher-state",
                       launcher_state, launcher_state, launcher_state);
    }
    return err_set(e, ERR_IO, "cannot create directory %s: %s", launcher_state, strerror(errno));
}

/* --- the launcher ------------------------------------------------------------------------------------------------- */

/* Whether no launcher has the lock of a directory whose launcher belongs to the instance with that state. */
static bool lacks_launcher(struct call *call, const char *launcher_state, const char *state)
{
    struct buf path = {0}, owner = {0}, line = {0};
    struct err unused;
    buf_format(&path, "%s/owner", launcher_state);
    buf_format(&line, "\nstate=%s\n", state);
    bool is_its = read_file(instance_target(call, &path), &owner, &unused) == 0 && owner.text != NULL &&
                  strstr(owner.text, line.text) != NULL;
    buf_release(&owner);
    buf_release(&line);
    if (!is_its) return false;
    buf_format(&path, "%s/launcher.lock", launcher_state);
    int fd = open(instance_target(call, &path), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    bool is_free = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0;
    if (fd >= 0) close(fd);
    return is_free;
}

/* NULL: none of /etc/passwd, which is the account of a package; this program is linked statically, and asks no other
 * database. */
static const char *account_of(struct call *call, const struct client *c)
{
    struct stat process;
    char path[40];
    const char *name = NULL;
    text_format(path, sizeof path, "/proc/%d", (int)client_peer(c));
    FILE *accounts = stat(path, &process) == 0 ? fopen("/etc/passwd", "re") : NULL;
    if (accounts == NULL) return NULL;
    for (const struct passwd *account; name == NULL && (account = fgetpwent(accounts)) != NULL;)
        if (account->pw_uid == process.st_uid) name = arena_copy(call->arena, str(account->pw_name));
    fclose(accounts);
    return name;
}

/* Waits until it has the lock, and the daemon has found it. */
static int await_launcher(struct call *call, const struct private_instance *instance, const char *launcher_state,
                          struct spawn *s, struct err *e)
{
    const struct timespec pause = {0, POLL_MS * 1000000};
    char end[80] = "";
    int exit_status;
    for (int poll = 0; poll < START_TIMEOUT_S * 1000 / POLL_MS; poll++) {
        struct client client;
        struct api_status status;
        if (spawn_has_ended(s, end, sizeof end, &exit_status) != 0)
            return err_set(e, ERR_UNAVAILABLE, "fairlead-launcher ended with %s: %s", end,
                           spawn_log_tail(s, call->arena));
        bool is_served = false;
        if (private_instance_connect(call, instance, &client, &status, e) == 0) {
            is_served =
                status.launcher_failure == NULL && !lacks_launcher(call, launcher_state, status.state_directory);
            client_close(&client);
        }
        if (is_served) return 0;
        nanosleep(&pause, NULL);
    }
    return err_set(e, ERR_UNAVAILABLE, "the instance has not found its launcher (process %d) within %d s; see %s",
                   (int)s->pid, START_TIMEOUT_S, s->log_path);
}

int system_instance_start_launcher(struct call *call, const struct private_instance *instance, const struct client *c,
                                   const struct api_status *status, const char *launcher_state, bool allows_root,
                                   struct err *e)
{
    struct buf log_path = {0};
    if (!lacks_launcher(call, launcher_state, status->state_directory)) {
        if (status->launcher_failure == NULL) return 0;
        return err_set(e, ERR_UNAVAILABLE, "process %lld runs, but starts no job: %s", (long long)status->pid,
                       status->launcher_failure);
    }
    const char *program = spawn_find_program("fairlead-launcher", call->arena), *account = account_of(call, c);
    if (program == NULL || account == NULL)
        return err_set(e, ERR_UNAVAILABLE, "the instance has no launcher: run 'fairlead-launcher --system'");
    const char *const texts[] = {
        program, "--system", "--state", launcher_state, "--daemon-user", account, allows_root ? "--allow-root" : NULL,
        NULL};
    char *arguments[sizeof texts / sizeof *texts];
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        arguments[i] = texts[i] != NULL ? arena_copy(call->arena, str(texts[i])) : NULL;
    buf_format(&log_path, "%s/launcher.log", launcher_state);
    struct spawn s = {.program = program, .log_path = instance_target(call, &log_path), .arguments = arguments};
    if (spawn_run(&s, e) != 0 || await_launcher(call, instance, launcher_state, &s, e) != 0) return -1;
    output_line(call->out, "Started its launcher: process %d", (int)s.pid);
    return 0;
}

void system_instance_note_other(const struct private_instance *own)
{
    struct client client;
    struct err unused;
    if (strcmp(own->socket, SYSTEM_ADDRESS) == 0 || client_connect(&client, SYSTEM_ADDRESS, &unused) != 0) return;
    client_close(&client);
    if (own->is_default)
        output_note(
            "This machine has an instance for all users, too. While yours runs, your commands go to yours; to use "
            "the other one: fairlead COMMAND --socket " SYSTEM_ADDRESS);
}
