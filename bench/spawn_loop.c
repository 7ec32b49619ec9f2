/* The yardstick of benchmarks of processes: runs a program COUNT times with posix_spawn, AT_ONCE at a time, and waits.
 *
 * usage: spawn-loop COUNT AT_ONCE PROGRAM [ARGUMENT]...
 *
 * Prints the seconds that it took, and the seconds of CPU time of this process and of all children. The output of the
 * program goes to /dev/null. Exit status 1: a program could not be run, or failed. */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

extern char **environ;

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double cpu_s(int who)
{
    struct rusage u;
    getrusage(who, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) + (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

static void wait_for_one(int *io_failed)
{
    int status = 0;
    while (wait(&status) < 0 && errno == EINTR) continue;
    *io_failed += status != 0;
}

int main(int argc, char **argv)
{
    if (argc < 4) return 2;
    int count = atoi(argv[1]), at_once = atoi(argv[2]), running = 0, failed = 0;
    posix_spawn_file_actions_t actions;
    if (posix_spawn_file_actions_init(&actions) != 0 ||
        posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0) != 0)
        return 1;
    double begin_s = now_s();
    for (int i = 0; i < count; i++, running++) {
        pid_t pid;
        if (running == at_once) {
            wait_for_one(&failed);
            running--;
        }
        if (posix_spawn(&pid, argv[3], &actions, NULL, argv + 3, environ) != 0) return 1;
    }
    while (running-- > 0) wait_for_one(&failed);
    printf("%.6f %.6f\n", now_s() - begin_s, cpu_s(RUSAGE_SELF) + cpu_s(RUSAGE_CHILDREN));
    return failed > 0;
}
