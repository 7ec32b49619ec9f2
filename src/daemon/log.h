/* The daemon's log: one line an event on stderr, key=value, for people and for grep.
 *
 *     time=2026-11-21T09:05:00Z level=info event=started pid=123 state=/var/tmp/x
 */
#ifndef FAIRLEAD_DAEMON_LOG_H
#define FAIRLEAD_DAEMON_LOG_H

enum log_level { LOG_DEBUG, LOG_INFO, LOG_WARNING, LOG_ERROR };
#define LOG_LEVELS "debug|info|warning|error" /* their names */

/* Lines below this level are left out. */
void log_set_level(enum log_level min);

/* event: one word; format: " key=value key=%s ..." to follow it. Values with blanks are the caller's to quote (%s in "..."). */
void log_line(enum log_level level, const char *event, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
