#include "fields/signal_text.h"

#include <signal.h>

#include "base/ensure.h"
#include "base/number.h"

static const char *const names[SIGNAL_TEXT_LAST + 1] = {
    [SIGHUP] = "HUP",       [SIGINT] = "INT",   [SIGQUIT] = "QUIT",   [SIGILL] = "ILL",   [SIGTRAP] = "TRAP",
    [SIGABRT] = "ABRT",     [SIGBUS] = "BUS",   [SIGFPE] = "FPE",     [SIGKILL] = "KILL", [SIGUSR1] = "USR1",
    [SIGSEGV] = "SEGV",     [SIGUSR2] = "USR2", [SIGPIPE] = "PIPE",   [SIGALRM] = "ALRM", [SIGTERM] = "TERM",
    [SIGSTKFLT] = "STKFLT", [SIGCHLD] = "CHLD", [SIGCONT] = "CONT",   [SIGSTOP] = "STOP", [SIGTSTP] = "TSTP",
    [SIGTTIN] = "TTIN",     [SIGTTOU] = "TTOU", [SIGURG] = "URG",     [SIGXCPU] = "XCPU", [SIGXFSZ] = "XFSZ",
    [SIGVTALRM] = "VTALRM", [SIGPROF] = "PROF", [SIGWINCH] = "WINCH", [SIGIO] = "IO",     [SIGPWR] = "PWR",
    [SIGSYS] = "SYS",
};

static uint32_t find_name(struct str text)
{
    struct str rest = text;
    if (text.length > 3 && str_equal_nocase((struct str){text.text, 3}, str("SIG")))
        rest = (struct str){text.text + 3, text.length - 3};
    for (uint32_t i = 1; i <= SIGNAL_TEXT_LAST; i++) {
        if (str_equal_nocase(rest, str(names[i]))) return i;
    }
    return 0;
}

int signal_text_parse(struct str text, const char *field, uint32_t *out_number, struct err *e)
{
    uint64_t number = 0;
    uint32_t found = find_name(text);
    if (found == 0 && number_parse_u64(text, &number) && number >= 1 && number <= SIGNAL_TEXT_LAST)
        found = (uint32_t)number;
    if (found == 0)
        return err_value(e, field, text, "the name of a signal, such as USR1 or SIGUSR1, or a number from 1 to %d",
                         SIGNAL_TEXT_LAST);
    *out_number = found;
    return 0;
}

const char *signal_text_name(uint32_t number)
{
    ensure(number >= 1 && number <= SIGNAL_TEXT_LAST);
    return names[number];
}

void signal_text_add_names(struct buf *out)
{
    for (uint32_t i = 1; i <= SIGNAL_TEXT_LAST; i++) buf_format(out, "%s%s (%u)", i > 1 ? ", " : "", names[i], i);
}

int signal_warning_parse(struct str text, const char *field, struct signal_warning *out, struct err *e)
{
    struct signal_warning warning = {.before_s = SIGNAL_WARNING_DEFAULT_S};
    struct str rest = text, seconds;
    uint64_t before_s;
    if (text.length == 0) {
        *out = (struct signal_warning){0};
        return 0;
    }
    if (rest.length > 2 && rest.text[1] == ':' && (rest.text[0] == 'B' || rest.text[0] == 'b')) {
        warning.is_to_first = true;
        rest = (struct str){rest.text + 2, rest.length - 2};
    }
    struct str name = str_cut(rest, '@', &seconds);
    if (signal_text_parse(name, field, &warning.number, NULL) != 0)
        return err_value(e, field, text, "[B:]SIGNAL[@SECONDS], such as USR1@90 or B:TERM");
    if (seconds.text != NULL) {
        if (!number_parse_u64(seconds, &before_s) || before_s > SIGNAL_WARNING_LAST_S)
            return err_value(e, field, text, "SIGNAL@SECONDS with a number of seconds from 0 to %d",
                             SIGNAL_WARNING_LAST_S);
        warning.before_s = (uint32_t)before_s;
    }
    *out = warning;
    return 0;
}

int signal_warning_check(struct str text, const char *field, struct err *e)
{
    struct signal_warning unused;
    return signal_warning_parse(text, field, &unused, e);
}
