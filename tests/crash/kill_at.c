/* Kills a launcher, its first keeper, or the process of that one's job, with SIGKILL before its n-th system call. The
 * program is the installed one; between two system calls, its progress cannot be seen from outside.
 *
 * usage: kill_at launcher|keeper|job N COMMAND [ARGUMENTS]
 *
 * Runs the command under ptrace and prints how many calls were made: "killed CALLS" after the kill; or "ended CALLS
 * SYNCS" if the process ended before its n-th call (N 0: always), with the number of fsync and fdatasync among them.
 * The calls of a keeper or a job are counted from its fork on; its parent is then no longer traced. The launcher dies
 * with this program. */
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

/* The signal that stopped the process and has to be passed on to it, or 0. */
static long signal_to_pass(int status)
{
    int signal = WSTOPSIG(status);
    return signal == (SIGTRAP | 0x80) || signal == SIGTRAP || signal == SIGSTOP ? 0 : signal;
}

/* Runs a process until it has forked its first child, then detaches from it. */
static pid_t trace_first_child(pid_t parent)
{
    int status;
    unsigned long child = 0;
    check(ptrace(PTRACE_SETOPTIONS, parent, NULL, PTRACE_O_TRACEFORK), "options");
    check(ptrace(PTRACE_CONT, parent, NULL, NULL), "cont");
    for (;;) {
        check(waitpid(parent, &status, 0), "waitpid");
        if (!WIFSTOPPED(status)) exit(3);
        if (status >> 8 == (SIGTRAP | PTRACE_EVENT_FORK << 8)) break;
        check(ptrace(PTRACE_CONT, parent, NULL, signal_to_pass(status)), "cont");
    }
    check(ptrace(PTRACE_GETEVENTMSG, parent, NULL, &child), "event");
    check(waitpid((pid_t)child, &status, __WALL), "waitpid"); /* the stop that follows the fork */
    check(ptrace(PTRACE_DETACH, parent, NULL, NULL), "detach");
    return (pid_t)child;
}

static int is_sync(pid_t pid)
{
    struct ptrace_syscall_info call = {0};
    check(ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof call, &call), "syscall info");
    return call.op == PTRACE_SYSCALL_INFO_ENTRY && (call.entry.nr == SYS_fsync || call.entry.nr == SYS_fdatasync);
}

/* A system call stops the process twice, on entry and on exit. The process is killed at its n-th entry. */
static void count_and_kill(pid_t pid, long n)
{
    long call_count = 0, sync_count = 0;
    int status;
    check(ptrace(PTRACE_SETOPTIONS, pid, NULL, PTRACE_O_TRACESYSGOOD), "options");
    for (long signal = 0, is_entry = 1;;) {
        check(ptrace(PTRACE_SYSCALL, pid, NULL, signal), "syscall");
        check(waitpid(pid, &status, __WALL), "waitpid");
        if (!WIFSTOPPED(status)) break;
        signal = signal_to_pass(status);
        if (WSTOPSIG(status) != (SIGTRAP | 0x80)) continue;
        if (is_entry && ++call_count == n) {
            check(kill(pid, SIGKILL), "kill");
            check(waitpid(pid, &status, __WALL), "waitpid");
            printf("killed %ld\n", call_count);
            fflush(stdout);
            return;
        }
        if (is_entry) sync_count += is_sync(pid);
        is_entry = !is_entry;
    }
    printf("ended %ld %ld\n", call_count, sync_count);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    if (argc < 4) return 2;
    pid_t launcher = start(argv + 3);
    int is_job = strcmp(argv[1], "job") == 0, is_below = is_job || strcmp(argv[1], "keeper") == 0;
    pid_t traced = is_below ? trace_first_child(launcher) : launcher;
    if (is_job) traced = trace_first_child(traced);
    count_and_kill(traced, atol(argv[2]));
    while (is_below && waitpid(launcher, NULL, 0) < 0 && errno == EINTR) continue;
    return 0;
}
