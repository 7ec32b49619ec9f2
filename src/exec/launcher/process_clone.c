#include "exec/launcher/process_clone.h"

#include <errno.h>
#include <linux/sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/ensure.h"

/* The system call has to be made by an instruction here: a function that makes it would return on the new stack. */
#if defined(__x86_64__) && defined(__LP64__) && !defined(__SANITIZE_ADDRESS__)

enum { STACK_SIZE = 64 * 1024 };

static char stack[STACK_SIZE] __attribute__((aligned(16)));

/* Registers 12 and 13 keep their values in the child. There, 0 in rbp ends the frames for debuggers. */
static long clone_on_stack(const struct clone_args *arguments, void (*child_main)(void *), void *argument)
{
    long result = SYS_clone3;
    register void (*function)(void *) __asm__("r12") = child_main;
    register void *value __asm__("r13") = argument;
    __asm__ volatile("syscall\n\t"
                     "test %%rax, %%rax\n\t"
                     "jnz 1f\n\t"
                     "xor %%ebp, %%ebp\n\t"
                     "mov %%r13, %%rdi\n\t"
                     "call *%%r12\n\t"
                     "ud2\n"
                     "1:"
                     : "+a"(result)
                     : "D"(arguments), "S"(sizeof *arguments), "r"(function), "r"(value)
                     : "rcx", "r11", "cc", "memory");
    return result;
}

pid_t process_clone(int group_fd, void (*child_main)(void *argument), void *argument)
{
    struct clone_args arguments = {
        .flags = CLONE_VM, .exit_signal = SIGCHLD, .stack = (uint64_t)(uintptr_t)stack, .stack_size = sizeof stack};
    if (group_fd >= 0) {
        arguments.flags |= CLONE_INTO_CGROUP;
        arguments.cgroup = (uint64_t)(unsigned)group_fd;
    }
    long result = clone_on_stack(&arguments, child_main, argument);
    if (result > 0) return (pid_t)result;
    ensure(result < 0);
    errno = (int)-result;
    return -1;
}

#else

pid_t process_clone(int group_fd, void (*child_main)(void *argument), void *argument)
{
    (void)group_fd, (void)child_main, (void)argument;
    errno = ENOSYS;
    return -1;
}

#endif

pid_t process_clone_fork(int group_fd)
{
    struct clone_args arguments = {
        .flags = CLONE_INTO_CGROUP, .exit_signal = SIGCHLD, .cgroup = (uint64_t)(unsigned)group_fd};
    return (pid_t)syscall(SYS_clone3, &arguments, sizeof arguments);
}
