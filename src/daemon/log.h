/* The daemon's log on stderr: one line of key=value pairs for each event, for people and for grep.
 *
 *     time=2026-11-21T09:05:00Z level=info event=started pid=123 state=/var/tmp/x
 *
 * In the journal, which has the time, a line begins with its level instead: "<6>level=info event=started".
 */
#ifndef FAIRLEAD_DAEMON_LOG_H
#define FAIRLEAD_DAEMON_LOG_H

enum log_level { LOG_DEBUG, LOG_INFO, LOG_WARNING, LOG_ERROR };
#define LOG_LEVELS "debug|info|warning|error" /* their names */

/* Sets the level below which log_line writes nothing; LOG_INFO at first. */
void log_set_level(enum log_level min);

/* Writes a line with one write(2) and ignores a failure. event: one word. format: " key=value key=%s ...", with quotes
 * around values that may have blanks. A line is cut to 2047 bytes, and control characters become '?'. */
void log_line(enum log_level level, const char *event, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
