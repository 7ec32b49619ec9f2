/* The only place that aborts. It uses only write(2), because the heap or stdio may be broken. */
#include "base/ensure.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void print(const char *text)
{
    size_t length = strlen(text);
    while (length > 0) {
        ssize_t written = write(STDERR_FILENO, text, length);
        if (written <= 0) return;
        text += written;
        length -= (size_t)written;
    }
}

_Noreturn void ensure_failed(const char *condition, const char *file, int line, const char *function)
{
    char digits[12];
    char *d = digits + sizeof digits;
    *--d = '\0';
    for (unsigned rest = (unsigned)line; d == digits + sizeof digits - 1 || rest > 0; rest /= 10)
        *--d = (char)('0' + rest % 10);

    print(file);
    print(":");
    print(d);
    print(": ");
    print(function);
    print(": broken invariant: ");
    print(condition);
    print("\n");
    abort();
}
