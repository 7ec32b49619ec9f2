#include "daemon/log.h"

#include <stdarg.h>
#include <time.h>
#include <unistd.h>

#include "base/quantity.h"
#include "base/text.h"
#include "exec/service_manager.h"

static const char *const level_names[] = {"debug", "info", "warning", "error"};
static const int syslog_levels[] = {7, 6, 4, 3}; /* of syslog(3) */
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
    size_t length = 0;
    if (service_manager_has_journal()) {
        length = text_format(line, sizeof line, "<%d>", syslog_levels[level]);
    } else {
        time_format(now, time(NULL) * US_PER_S);
        length = text_format(line, sizeof line, "time=%s ", now);
    }
    length += text_format(line + length, sizeof line - length, "level=%s event=%s", level_names[level], event);
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
