/* The first include of a unit test: cmocka, the size of a table, and a check that a broken invariant stops the program
 * (base/ensure.h). */
#ifndef FAIRLEAD_TESTS_DIES_H
#define FAIRLEAD_TESTS_DIES_H

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define COUNT(rows) (sizeof(rows) / sizeof(rows)[0])

/* Whether f() aborts. It runs in a child process, whose standard error is dropped. */
static inline bool dies(void (*f)(void))
{
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        signal(SIGABRT, SIG_DFL); /* cmocka would report a failed test */
        close(STDERR_FILENO);
        f();
        _exit(0);
    }
    assert_true(child > 0 && waitpid(child, &status, 0) == child);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

/* The number of rounds of a long loop: a tenth in the build with sanitizers. */
static inline int repeats(int plain)
{
    const char *sanitized = getenv("FAIRLEAD_SANITIZED");
    return sanitized && sanitized[0] == '1' ? plain / 10 : plain;
}

#endif
