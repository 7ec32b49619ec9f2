/* stop: sends SIGTERM to the daemon of a private instance and waits until it has ended. The pid is the one in its
 * status, provided that the kernel reports the same one for the process at the other end of the socket; if they differ,
 * a service manager owns the socket. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "api/client/address.h"
#include "cli/job_script.h"
#include "cli/system_instance.h"

enum { END_TIMEOUT_S = 60, POLL_MS = 100 };

struct stop_values {
    const char *state;
    bool has_jobs, is_system;
};

static const struct option_row stop_options[] = {
    {.name = "state",
     .argument = "DIR",
     .value = TEXT_IN(struct stop_values, state),
     .help = "state directory of the instance"},
    {.name = "jobs",
     .value = FLAG_IN(struct stop_values, has_jobs),
     .help = "first cancel all jobs and wait until they have ended"},
    {.name = "system",
     .value = FLAG_IN(struct stop_values, is_system),
     .help = "as root: stop the instance that serves all users, where no systemd runs"},
    {0},
};

static uint64_t live_tasks(const struct api_status *s)
{
    return (uint64_t)s->tasks.starting + s->tasks.running + s->tasks.completing;
}

/* Cancels all jobs and waits until they have ended; *status: the instance's status after that. */
static int end_jobs(struct call *call, struct client *c, struct api_status *status, struct err *e)
{
    const struct timespec pause = {0, POLL_MS * 1000000};
    const struct api_jobs body = {.all = true};
    struct api_count reply;
    if (instance_request(call, c, "POST", API_JOBS_CANCEL, &api_cancel_shape, &body, &api_count_shape, &reply, e) != 0)
        return -1;
    if (reply.count > 0) output_line(call->out, "Cancelled %u job%s", reply.count, reply.count == 1 ? "" : "s");
    if (output_flush(call->out, e) != 0) return -1;

    struct arena reply_arena = {0}, *call_arena = call->arena;
    int result = 0;
    do {
        arena_clear(&reply_arena);
        call->arena = &reply_arena;
        result = instance_request(call, c, "GET", API_STATUS, NULL, NULL, &api_status_shape, status, e);
        call->arena = call_arena;
        if (result == 0 && live_tasks(status) > 0) nanosleep(&pause, NULL);
    } while (result == 0 && live_tasks(status) > 0);
    arena_release(&reply_arena);
    return result;
}

/* Whether the real user of a process is that one. */
static bool is_process_of(pid_t pid, uid_t uid)
{
    char path[40], text[4096], wanted[40];
    text_format(path, sizeof path, "/proc/%d/status", (int)pid);
    text_format(wanted, sizeof wanted, "\nUid:\t%u\t", (unsigned)uid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = fd >= 0 ? read(fd, text, sizeof text - 1) : 0;
    if (fd >= 0) close(fd);
    text[length > 0 ? length : 0] = '\0';
    return strstr(text, wanted) != NULL;
}

/* Sends SIGTERM to the process and waits until it has ended. uid: the user who listens at the socket. The kernel goes
 * on naming the process that began to listen when that has ended and another one has its pid; so root, who may end any
 * process, ends only one of that user, which the user could end, too. */
static int end_process(pid_t pid, uid_t uid, struct err *e)
{
    int process = pidfd_open(pid, 0);
    if (process < 0) return errno == ESRCH ? 0 : err_set(e, ERR_IO, "process %d: %s", (int)pid, strerror(errno));
    int result = 0;
    if (geteuid() == 0 && !is_process_of(pid, uid))
        result = err_set(e, ERR_CONFLICT,
                         "process %d, which the socket names, is not one of user %u, who listens there: nothing was "
                         "ended; look for the instance with 'ps -u %u'",
                         (int)pid, (unsigned)uid, (unsigned)uid);
    else if (pidfd_send_signal(process, SIGTERM, NULL, 0) != 0 && errno != ESRCH)
        result =
            err_set(e, errno == EPERM ? ERR_DENIED : ERR_IO, "cannot end process %d: %s", (int)pid, strerror(errno));
    struct pollfd end = {.fd = process, .events = POLLIN};
    if (result == 0 && poll(&end, 1, END_TIMEOUT_S * 1000) == 0)
        result = err_set(e, ERR_UNAVAILABLE, "process %d has not ended within %d s", (int)pid, END_TIMEOUT_S);
    close(process);
    return result;
}

/* The options that find the same instance again. */
static void write_places(struct call *call, struct buf *out)
{
    const struct stop_values *values = call->values;
    const char *const options[][2] = {{" --state ", values->state}, {" --socket ", call->common.socket}};
    if (values->is_system) buf_add_text(out, " --system");
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        char *word = (char *)(uintptr_t)options[i][1];
        if (word == NULL) continue;
        buf_add_text(out, options[i][0]);
        buf_add_text(out, job_script_show_words(&word, 1, 2 * PATH_MAX, call->arena));
    }
}

/* The time of a pretend instance stands still until its next start, and so do its jobs. */
static void write_stopped(struct call *call, const struct api_status *status, struct buf *out)
{
    const struct stop_values *values = call->values;
    uint64_t live = live_tasks(status), pending = status->tasks.pending;
    bool is_pretend = status->pretend != NULL;
    const char *tasks =
        live == 1 ? (is_pretend ? " stands still" : " keeps") : (is_pretend ? "s stand still" : "s keep");
    buf_add_text(out, "Stopped");
    if (live > 0) buf_format(out, "; %llu task%s%s", (unsigned long long)live, tasks, is_pretend ? "" : " running");
    if (pending > 0) buf_format(out, "%s %llu pending", live > 0 ? "," : ";", (unsigned long long)pending);
    if (live + pending > 0) {
        buf_format(out, "; run 'fairlead start%s", is_pretend ? " --pretend FILE" : "");
        write_places(call, out);
        bool is_elsewhere = values->state != NULL || call->common.socket != NULL;
        buf_add_text(out, values->is_system && is_elsewhere ? "', with the other options of its start, to resume"
                                                            : "' to resume");
    }
    buf_add_char(out, '\n');
}

/* Stops an instance whose status this command cannot read. cause: why. */
static int stop_other_version(struct call *call, const struct private_instance *instance, const struct err *cause,
                              struct err *e)
{
    const struct stop_values *values = call->values;
    struct instance_version other;
    struct client client;
    if (client_connect(&client, instance->socket, e) != 0) return -1;
    int known = instance_version_read(call, &client, &other);
    pid_t peer = client_peer(&client);
    uid_t uid = client_peer_uid(&client);
    client_close(&client);
    if (known != 0 || other.pid != peer || peer <= 0) {
        *e = *cause;
        return -1;
    }
    if (values->has_jobs)
        return err_set(
            e, ERR_CONFLICT,
            "the instance is version %s, this command version %s, which cannot cancel its jobs; run 'fairlead "
            "stop' without --jobs",
            other.version, FAIRLEAD_VERSION);
    if (end_process(peer, uid, e) != 0) return -1;
    output_line(call->out, "Stopped process %d, version %s; this command is version %s", (int)peer, other.version,
                FAIRLEAD_VERSION);
    return 0;
}

/* The daemon that holds the lock of the state directory, by the pid that it wrote there; 0: none. */
static long long find_holder(struct call *call, const char *directory)
{
    struct buf path = {0};
    char text[24] = "";
    buf_format(&path, "%s/fairleadd.lock", directory);
    int fd = open(instance_target(call, &path), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0) return 0;
    bool is_held = flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    ssize_t length = is_held ? pread(fd, text, sizeof text - 1, 0) : 0;
    close(fd);
    long long pid = length > 0 ? strtoll(text, NULL, 10) : 0;
    return pid > 0 ? pid : 0;
}

static int explain_no_answer(struct call *call, const struct private_instance *instance, struct err *e)
{
    const struct stop_values *values = call->values;
    struct client system;
    bool means_state = values->state != NULL || call->common.socket == NULL;
    long long pid = means_state ? find_holder(call, instance->state_directory) : 0;
    if (pid == 0) {
        bool has_other = !values->is_system && instance->is_default && geteuid() == 0 &&
                         client_connect(&system, SYSTEM_ADDRESS, e) == 0;
        if (has_other) client_close(&system);
        return err_set(e, ERR_UNAVAILABLE, "no instance answers at %s: nothing to stop%s", instance->socket,
                       has_other ? "; the instance of all users is stopped with 'fairlead stop --system'" : "");
    }
    return err_set(e, ERR_UNAVAILABLE,
                   "no instance answers at %s, but process %lld, a fairleadd, uses %s: if it has another socket, give "
                   "--socket; else run 'kill %lld', after which jobs go on",
                   instance->socket, pid, instance->state_directory, pid);
}

static int find_instance(struct call *call, struct private_instance *out, struct err *e)
{
    const struct stop_values *values = call->values;
    struct system_places places = {.state = values->state};
    return values->is_system ? system_instance_find(call, "stop", &places, out, e)
                             : private_instance_find(call, values->state, out, e);
}

/* What serves the other kind of users is not stopped by mistake. */
static int check_kind(const struct stop_values *values, const struct private_instance *instance,
                      const struct api_status *status, struct err *e)
{
    struct stat given, own;
    const char *state = status->state_directory;
    bool is_other = values->state != NULL && strcmp(state, instance->state_directory) != 0 &&
                    (stat(instance->state_directory, &given) != 0 || stat(state, &own) != 0 ||
                     given.st_dev != own.st_dev || given.st_ino != own.st_ino);
    if (status->serves_all == values->is_system && is_other)
        return err_set(e, ERR_CONFLICT, "the instance at %s has another state, %s, and not %s: it was not stopped",
                       instance->socket, state, instance->state_directory);
    if (status->serves_all == values->is_system) return 0;
    return err_set(e, ERR_CONFLICT, "the instance at %s %s", instance->socket,
                   status->serves_all
                       ? "serves all users of this machine: to stop it, run 'fairlead stop --system' as root"
                       : "is a private one: leave out --system");
}

static int stop_run(struct call *call, struct err *e)
{
    const struct stop_values *values = call->values;
    struct private_instance instance;
    struct client client;
    struct api_status status;
    if (find_instance(call, &instance, e) != 0) return -1;
    if (private_instance_connect(call, &instance, &client, &status, e) != 0) {
        const struct err cause = *e;
        return e->code != ERR_UNAVAILABLE ? stop_other_version(call, &instance, &cause, e)
                                          : explain_no_answer(call, &instance, e);
    }

    pid_t pid = (pid_t)status.pid;
    uid_t uid = client_peer_uid(&client);
    int result = check_kind(values, &instance, &status, e);
    if (result == 0 && client_peer(&client) != pid)
        result = err_set(e, ERR_CONFLICT, "a service manager owns %s; stop the instance there", instance.socket);
    if (result == 0 && values->has_jobs) result = end_jobs(call, &client, &status, e);
    client_close(&client);
    if (result != 0 || end_process(pid, uid, e) != 0) return -1;
    write_stopped(call, &status, &call->out->text);
    return 0;
}

static const struct command_example stop_examples[] = {
    {.line = "fairlead stop", .meaning = "stop the instance; running jobs continue"},
    {.line = "fairlead stop --jobs", .meaning = "cancel all jobs, then stop the instance"},
    {.line = "fairlead stop --system", .meaning = "as root: stop the instance of all users"},
    {0},
};

const struct command cmd_stop = {
    .name = "stop",
    .group = GROUP_SERVICE,
    .summary = "stop your instance; running jobs continue",
    .usage = "[--state DIR] [--jobs] [--system]",
    .description =
        "Each running job has a keeper process, which enforces its time limit and records its end while the instance is "
        "stopped. The next 'fairlead start' reads these records, and until then the process fairlead-launcher stays. Pending jobs "
        "stay pending until then.\n\n"
        "The instance that serves all users is stopped with --system only; with systemd, run 'systemctl stop fairlead'.",
    .options = stop_options,
    .values_size = sizeof(struct stop_values),
    .examples = stop_examples,
    .see_also = "start status cancel",
    .run = stop_run,
};
