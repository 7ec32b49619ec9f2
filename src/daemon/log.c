#include "daemon/log.h"

#include <stdarg.h>
#include <time.h>
#include <unistd.h>

#include "base/quantity.h"
#include "base/text.h"

static const char *const level_names[] = {"debug", "info", "warning", "error"};
static enum log_level min_level = LOG_INFO;

void log_set_level(enum log_level min)
{
    min_level = min;
}

/* One write per line, so that lines of several processes do not mix. */
void log_line(enum log_level level, const char *event, const char *format, ...)
{
    if (level < min_level) return;
    char line[2048], now[32];
    time_format(now, time(NULL) * US_PER_S);
    size_t length = text_format(line, sizeof line, "time=%s level=%s event=%s", now, level_names[level], event);
    va_list arguments;
    va_start(arguments, format);
    length += text_vformat(line + length, sizeof line - length, format, arguments);
    va_end(arguments);
    if (length > sizeof line - 2) length = sizeof line - 2;
    for (size_t i = 0; i < length; i++) {
        if ((unsigned char)line[i] < 0x20) line[i] = '?';
    }
    line[length++] = '\n';
    if (write(STDERR_FILENO, line, length) < 0) return;
}
