#include "exec/launcher/process_signals.h"

#include <signal.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

void process_signals_init(void)
{
    const struct sigaction default_action = {.sa_handler = SIG_DFL};
    /* Some signals cannot be set; their action is the default. */
    for (int signal = 1; signal < NSIG; signal++) (void)sigaction(signal, &default_action, NULL);
    /* glibc reserves signals 32 and 33 and refuses to set them, but the launcher may have been started with them
     * ignored. */
    const char kernel_default[64] = {0};
    for (int signal = 32; signal <= 33; signal++)
        (void)syscall(SYS_rt_sigaction, signal, kernel_default, NULL, _NSIG / 8);
    sigset_t all;
    sigfillset(&all);
    (void)sigprocmask(SIG_SETMASK, &all, NULL);
}
