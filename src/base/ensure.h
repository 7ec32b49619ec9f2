/* Programming errors. A broken invariant stops the program where it is detected, in every build: a scheduler that goes
 * on with wrong state gives away time that belongs to other users. Errors of the outside world (bad input, a full disk)
 * are not programming errors; base/err.h carries them. */
#ifndef FAIRLEAD_BASE_ENSURE_H
#define FAIRLEAD_BASE_ENSURE_H

/* Aborts with file, line and the condition's text unless the condition holds. Always compiled in. */
#define ensure(condition) ((condition) ? (void)0 : ensure_failed(#condition, __FILE__, __LINE__, __func__))

_Noreturn void ensure_failed(const char *condition, const char *file, int line, const char *function);

#endif
