/* Kills a launcher, or its first keeper, with SIGKILL before its n-th system call: the program as it is shipped, at every
 * place where what it does can be seen from outside.
 *
 * usage: kill_at launcher|keeper N COMMAND [ARGUMENTS]
 *
 * Runs the command under ptrace and prints the calls that were made so far: "killed N" after the kill, or "ended N SYNCS"
 * when there were fewer (N 0: always), with how many of them were fsync or fdatasync. For a keeper the calls are counted
 * from its fork on; the launcher is then left alone, and ends with us. Processes that are not counted are not traced. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/ptrace.h>

static void check(long result, const char *what)
{
    if (result >= 0) return;
    perror(what);
    exit(2);
}

static pid_t start(char **command)
{
    pid_t pid = fork();
    check(pid, "fork");
    if (pid == 0) {
        check(prctl(PR_SET_PDEATHSIG, SIGKILL), "prctl");
        check(ptrace(PTRACE_TRACEME, 0, NULL, NULL), "ptrace");
        raise(SIGSTOP);
        execv(command[0], command);
        check(-1, command[0]);
    }
    int status;
    check(waitpid(pid, &status, 0), "waitpid");
    return pid;
}

/* What a stop was for: a signal to be passed on, or 0. */
static long signal_of(int status)
{
    int signal = WSTOPSIG(status);
    return signal == (SIGTRAP | 0x80) || signal == SIGTRAP || signal == SIGSTOP ? 0 : signal;
}

/* Runs the launcher until it has forked its first keeper; lets go of the launcher. */
static pid_t first_keeper(pid_t launcher)
{
    int status;
    unsigned long child = 0;
    check(ptrace(PTRACE_SETOPTIONS, launcher, NULL, PTRACE_O_TRACEFORK), "options");
    check(ptrace(PTRACE_CONT, launcher, NULL, NULL), "cont");
    for (;;) {
        check(waitpid(launcher, &status, 0), "waitpid");
        if (!WIFSTOPPED(status)) exit(3);
        if (status >> 8 == (SIGTRAP | PTRACE_EVENT_FORK << 8)) break;
        check(ptrace(PTRACE_CONT, launcher, NULL, signal_of(status)), "cont");
    }
    check(ptrace(PTRACE_GETEVENTMSG, launcher, NULL, &child), "event");
    check(waitpid((pid_t)child, &status, __WALL), "waitpid"); /* its first stop */
    check(ptrace(PTRACE_DETACH, launcher, NULL, NULL), "detach");
    return (pid_t)child;
}

static int is_sync(pid_t pid)
{
    struct ptrace_syscall_info call = {0};
    check(ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof call, &call), "syscall info");
    return call.op == PTRACE_SYSCALL_INFO_ENTRY && (call.entry.nr == SYS_fsync || call.entry.nr == SYS_fdatasync);
}

/* A call has two stops, before and after; the process is killed at the n-th stop before. */
static void count_and_kill(pid_t pid, long n)
{
    long calls = 0, syncs = 0;
    int status;
    check(ptrace(PTRACE_SETOPTIONS, pid, NULL, PTRACE_O_TRACESYSGOOD), "options");
    for (long signal = 0, before = 1;;) {
        check(ptrace(PTRACE_SYSCALL, pid, NULL, signal), "syscall");
        check(waitpid(pid, &status, __WALL), "waitpid");
        if (!WIFSTOPPED(status)) break;
        signal = signal_of(status);
        if (WSTOPSIG(status) != (SIGTRAP | 0x80)) continue;
        if (before && ++calls == n) {
            check(kill(pid, SIGKILL), "kill");
            check(waitpid(pid, &status, __WALL), "waitpid");
            printf("killed %ld\n", calls);
            fflush(stdout);
            return;
        }
        if (before) syncs += is_sync(pid);
        before = !before;
    }
    printf("ended %ld %ld\n", calls, syncs);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    if (argc < 4) return 2;
    pid_t launcher = start(argv + 3);
    int keeper = strcmp(argv[1], "keeper") == 0;
    count_and_kill(keeper ? first_keeper(launcher) : launcher, atol(argv[2]));
    while (keeper && waitpid(launcher, NULL, 0) < 0 && errno == EINTR) continue;
    return 0;
}
