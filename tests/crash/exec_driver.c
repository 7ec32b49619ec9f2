/* An executor that is driven by lines of text, so that tests in another language can play the daemon.
 *
 * usage: exec_driver DIRECTORY LAUNCHER     LAUNCHER "-": does not start one
 *        exec_driver DIRECTORY LAUNCHER DAEMON_USER ALLOW_ROOT     starts a system launcher, and ends
 *
 * Input lines have fields that are separated by tabs; \n, \t and \\ stand for what a field cannot contain:
 *     start NAME=VALUE...   id, uid, gid, name, directory, out, err, script, cpus, limit_us, grace_us, arg..., env...
 *     end ID GRACE_US
 *     limit ID TIME_LIMIT_US
 *     ack ID
 *     measure
 *     sample
 *     open                  a new connection
 *     close
 * Output lines: "served", "opened", "error TEXT", "synced", "gone", "record" with the lines of the record as fields,
 * and "usage", "process" and "sampled" with fields NAME=VALUE. */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/ensure.h"
#include "base/number.h"
#include "exec/executor.h"
#include "exec/record.h"

enum { STRINGS_MAX = 4000 };

struct driver {
    const char *directory, *launcher;
    struct executor *executor;
    struct buf in;
    struct enforcement enforcement; /* as the launcher has said */
};

struct request {
    struct launch launch;
    char *arguments[STRINGS_MAX], *environment[STRINGS_MAX];
    int argument_count, environment_count;
};

static void unescape(char *text)
{
    char *to = text;
    for (; *text != '\0'; text++) {
        if (*text != '\\') {
            *to++ = *text;
            continue;
        }
        text++;
        *to++ = (char)(*text == 'n' ? '\n' : *text == 't' ? '\t' : *text);
    }
    *to = '\0';
}

static int64_t number(const char *text)
{
    int64_t value;
    ensure(number_parse_i64(str(text), &value));
    return value;
}

static void set_field(struct request *r, const char *name, char *value)
{
    struct launch *l = &r->launch;
    ensure(r->argument_count < STRINGS_MAX - 1 && r->environment_count < STRINGS_MAX - 1);
    if (strcmp(name, "id") == 0)
        l->id = (uint64_t)number(value);
    else if (strcmp(name, "uid") == 0)
        l->uid = (uid_t)number(value);
    else if (strcmp(name, "gid") == 0)
        l->gid = (gid_t)number(value);
    else if (strcmp(name, "name") == 0)
        l->name = value;
    else if (strcmp(name, "directory") == 0)
        l->directory = value;
    else if (strcmp(name, "out") == 0)
        l->out_path = value;
    else if (strcmp(name, "err") == 0)
        l->err_path = value;
    else if (strcmp(name, "script") == 0)
        l->script = str(value);
    else if (strcmp(name, "cpus") == 0)
        ensure(idset_parse(str(value), 100000, "cpus", &l->cpus, NULL) == 0);
    else if (strcmp(name, "limit_us") == 0)
        l->time_limit_us = number(value);
    else if (strcmp(name, "mem_mib") == 0)
        l->mem_mib = (uint64_t)number(value);
    else if (strcmp(name, "mem_limit_kib") == 0)
        l->mem_limit_kib = number(value);
    else if (strcmp(name, "mem_poll_us") == 0)
        l->mem_poll_us = number(value);
    else if (strcmp(name, "grace_us") == 0)
        l->grace_us = number(value);
    else if (strcmp(name, "arg") == 0)
        r->arguments[r->argument_count++] = value;
    else if (strcmp(name, "env") == 0)
        r->environment[r->environment_count++] = value;
    else
        ensure(!"a known field");
}

static void start(struct driver *d, char *fields)
{
    static struct request r;
    r = (struct request){
        .launch = {.uid = geteuid(), .gid = getegid(), .name = "1", .directory = "/", .out_path = "/dev/null"}};
    for (char *field; (field = strsep(&fields, "\t")) != NULL;) {
        char *value = strchr(field, '=');
        if (value == NULL) continue;
        *value++ = '\0';
        unescape(value);
        set_field(&r, field, value);
    }
    r.launch.arguments = r.arguments;
    r.launch.environment = r.environment;
    executor_start(d->executor, &r.launch);
    idset_release(&r.launch.cpus);
}

static void open_executor(struct driver *d)
{
    struct err e;
    const struct launcher_owner instance = {.id = "driver", .state = d->directory};
    bool is_system = strcmp(d->launcher, "-") == 0;
    d->executor =
        executor_open_launcher(d->directory, is_system ? NULL : d->launcher, is_system ? &instance : NULL, &e);
    if (d->executor != NULL)
        printf("opened\n");
    else
        printf("error %s\n", ERR_SENTENCE(&e));
}

static void close_executor(struct driver *d)
{
    executor_close(d->executor);
    d->executor = NULL;
}

static void run_line(struct driver *d, char *line)
{
    char *rest = line;
    const char *word = strsep(&rest, "\t");
    if (strcmp(word, "open") == 0) {
        close_executor(d);
        open_executor(d);
    } else if (strcmp(word, "close") == 0) {
        close_executor(d);
    } else if (d->executor == NULL) {
        printf("error closed\n");
    } else if (strcmp(word, "start") == 0) {
        start(d, rest);
    } else if (strcmp(word, "end") == 0) {
        const char *id = strsep(&rest, "\t");
        executor_end(d->executor, (uint64_t)number(id), number(rest));
    } else if (strcmp(word, "limit") == 0) {
        const char *id = strsep(&rest, "\t");
        executor_set_time_limit(d->executor, (uint64_t)number(id), number(rest));
    } else if (strcmp(word, "suspend") == 0) { /* ID, 1 or 0, microseconds */
        const char *id = strsep(&rest, "\t"), *is_suspended = strsep(&rest, "\t");
        executor_suspend(d->executor, (uint64_t)number(id), number(is_suspended) != 0, number(rest));
    } else if (strcmp(word, "signal") == 0) { /* ID, number, 1: only the first process */
        const char *id = strsep(&rest, "\t"), *signal_number = strsep(&rest, "\t");
        executor_signal(d->executor, (uint64_t)number(id), (uint32_t)number(signal_number), number(rest) != 0);
    } else if (strcmp(word, "measure") == 0) {
        executor_measure(d->executor);
    } else if (strcmp(word, "sample") == 0) {
        executor_sample(d->executor);
    } else if (strcmp(word, "enforces") == 0) {
        printf("enforces memory=%d cpus=%d kill=%d suspend=%d\n", (int)d->enforcement.memory, (int)d->enforcement.cpus,
               (int)d->enforcement.kill, (int)d->enforcement.suspend);
    } else if (strcmp(word, "ack") == 0) {
        executor_acknowledge(d->executor, (uint64_t)number(rest));
    }
}

static void print_record(const struct launch_record *record)
{
    struct buf text = {0};
    record_format(record, &text);
    for (char *c = text.text; *c != '\0'; c++) {
        if (*c == '\n') *c = '\t';
    }
    printf("record\t%s\n", text.text);
    buf_release(&text);
}

static void print_usage(const struct launch_usage *u)
{
    printf("usage\tid=%" PRIu64 "\tat_us=%" PRId64 "\tcpu_us=%" PRId64 "\tmem_kib=%" PRId64 "\tio_bytes=%" PRId64 "\n",
           u->id, u->at_us, u->cpu_us, u->mem_kib, u->io_bytes);
}

static void print_process(const struct process_sample *p)
{
    printf("process\tpid=%d\tuid=%u\tid=%" PRIu64 "\tcpu_us=%" PRId64 "\tmem_kib=%" PRId64 "\tgpus=%" PRIx64
           "\tis_low=%d\n",
           (int)p->pid, p->uid, p->launch_id, p->cpu_us, p->mem_kib, p->gpus, (int)p->is_low);
}

static void print_reports(struct driver *d)
{
    struct executor_reports reports = {0};
    executor_ready(d->executor, &reports);
    for (uint32_t i = 0; i < reports.list.count; i++) {
        const struct executor_report *report = &reports.list.items[i];
        switch (report->kind) {
        case EXECUTOR_RECORD: print_record(&report->record); break;
        case EXECUTOR_USAGE: print_usage(&report->usage); break;
        case EXECUTOR_PROCESS: print_process(&report->process); break;
        case EXECUTOR_SAMPLED: printf("sampled\thidden=%u\n", report->sampled.hidden); break;
        case EXECUTOR_SYNCED: printf("synced\n"); break;
        case EXECUTOR_ENFORCES: d->enforcement = report->enforcement; break;
        case EXECUTOR_GONE: printf("gone\n"); break;
        }
    }
    array_release(&reports.list);
}

/* Returns false at the end of the input. */
static bool read_lines(struct driver *d)
{
    ssize_t n = read(0, buf_room(&d->in, 65536), 65536);
    if (n <= 0) return n < 0 && errno == EINTR;
    d->in.length += (size_t)n;
    for (char *end; d->in.length > 0 && (end = memchr(d->in.text, '\n', d->in.length)) != NULL;) {
        *end = '\0';
        run_line(d, d->in.text);
        size_t used = (size_t)(end + 1 - d->in.text);
        memmove(d->in.text, end + 1, d->in.length - used);
        d->in.length -= used;
    }
    if (d->executor != NULL) executor_flush(d->executor);
    return true;
}

static int start_system_launcher(char **argv)
{
    struct err e;
    const struct system_launcher launcher = {
        .path = argv[2], .directory = argv[1], .daemon_user = argv[3], .allow_root = strcmp(argv[4], "1") == 0};
    int result = executor_start_system_launcher(&launcher, &e);
    printf("%s%s\n", result == 0 ? "served" : "error ", result == 0 ? "" : ERR_SENTENCE(&e));
    return result == 0 ? 0 : 1;
}

int main(int argc, char **argv)
{
    if (argc == 5) return start_system_launcher(argv);
    ensure(argc == 3);
    struct driver d = {.directory = argv[1], .launcher = argv[2]};
    setvbuf(stdout, NULL, _IOLBF, 0);
    open_executor(&d);
    for (bool has_input = true; has_input;) {
        short events = d.executor != NULL && executor_wants_write(d.executor) ? POLLIN | POLLOUT : POLLIN;
        struct pollfd fds[2] = {{.fd = 0, .events = POLLIN},
                                {.fd = d.executor != NULL ? executor_descriptor(d.executor) : -1, .events = events}};
        if (poll(fds, 2, -1) < 0) continue;
        if (fds[1].revents != 0) print_reports(&d);
        if (fds[0].revents != 0) has_input = read_lines(&d);
    }
    close_executor(&d);
    buf_release(&d.in);
    return 0;
}
