/* The cost of a measurement of all running launches by their trees of processes, in the launcher, which does nothing
 * else meanwhile. Each launch is a keeper with four processes below it, and all of them sleep.
 *
 *   measure     measure_launches, once for all launches: at most 400 ms for 1000 launches with 5000 processes
 *   files       the yardstick: opens, reads and closes /proc/PID/stat of every process, and /proc/PID/io of the
 *               launches'
 *
 * Each figure is the median of several runs, in CPU time of the thread, which includes the kernel's. With --quick there
 * are few launches only. */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/ensure.h"
#include "base/number.h"
#include "exec/launcher/measure.h"
#include "measure.h"

enum { RUNS = 9, BELOW = 4, LAUNCHES_MAX = 1000 };

static struct measured_launch launches[LAUNCHES_MAX];

static _Noreturn void sleep_until_killed(void)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;) pause();
}

static pid_t start_launch(void)
{
    pid_t keeper = fork();
    ensure(keeper >= 0);
    if (keeper != 0) return keeper;
    for (int i = 0; i < BELOW; i++) {
        pid_t pid = fork();
        ensure(pid >= 0);
        if (pid == 0) sleep_until_killed();
    }
    sleep_until_killed();
}

static uint64_t read_file(const char *pid, const char *name)
{
    char path[64], text[4096];
    snprintf(path, sizeof path, "/proc/%s/%s", pid, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return 0;
    ssize_t n = read(fd, text, sizeof text);
    close(fd);
    return n > 0 ? (uint64_t)n : 0;
}

/* How many processes there are. *out_bytes: the length of their files. */
static uint32_t read_files(uint64_t *out_bytes)
{
    uint32_t count = 0;
    DIR *directory = opendir("/proc");
    ensure(directory != NULL);
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        uint64_t pid;
        if (!number_parse_u64(str(entry->d_name), &pid)) continue;
        *out_bytes += read_file(entry->d_name, "stat");
        if ((pid_t)pid > launches[0].keeper) *out_bytes += read_file(entry->d_name, "io");
        count++;
    }
    closedir(directory);
    return count;
}

static void bench(uint32_t count)
{
    struct samples measured = {0}, files = {0};
    uint32_t processes = 0;
    uint64_t bytes = 0;
    for (int run = 0; run < RUNS; run++) {
        double begin = now_ns();
        measure_launches(launches, count);
        measured.ns[measured.count++] = now_ns() - begin;
        begin = now_ns();
        processes = read_files(&bytes);
        files.ns[files.count++] = now_ns() - begin;
    }
    ensure(launches[0].usage.mem_kib > 0 && bytes > 0);
    double measure_ms = median(&measured) / 1e6, files_ms = median(&files) / 1e6;
    printf("%8u %10u %9.1f ms %8.1f ms %6.2f x\n", count, processes, measure_ms, files_ms, measure_ms / files_ms);
}

int main(int argc, char **argv)
{
    bool is_quick = argc > 1 && strcmp(argv[1], "--quick") == 0;
    uint32_t count = 0;
    printf("Measuring running launches of 5 processes each (1000 launches at most 400 ms)\n");
    printf("launches  processes      measure       files\n");
    for (uint32_t wanted = 10; wanted <= (is_quick ? 10 : LAUNCHES_MAX); wanted *= 10) {
        while (count < wanted) launches[count++] = (struct measured_launch){.keeper = start_launch(), .group_path = ""};
        sleep(1); /* until the last ones have forked */
        bench(count);
    }
    for (uint32_t i = 0; i < count; i++) kill(launches[i].keeper, SIGKILL);
    while (wait(NULL) > 0) continue;
    return 0;
}
