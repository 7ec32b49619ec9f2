/* What systemd wants of a service: when it is ready, and how it writes its log.
 *
 *     NOTIFY_SOCKET   where it listens for datagrams "READY=1", "STATUS=...", "STOPPING=1" (sd_notify(3))
 *     JOURNAL_STREAM  device:inode of a standard error that goes to the journal (systemd.exec(5)); a line there
 *                     begins with its level, "<4>" (sd-daemon(3))
 *
 * Both are documented, stable interfaces. libsystemd has functions for them, and brings five more libraries: each that
 * is mapped makes the fork of a keeper slower. */
#ifndef FAIRLEAD_EXEC_SERVICE_MANAGER_H
#define FAIRLEAD_EXEC_SERVICE_MANAGER_H

#include <stdbool.h>

/* Reads the two variables and removes them, so that no child speaks for this program. Without them, which is outside
 * of systemd, the other functions do nothing. To be called once, before there are threads. */
void service_manager_init(void);

/* What systemctl status prints. service_manager_ready: READY=1 with a status; service_manager_status: a new status;
 * service_manager_stopping: the end has begun. One line each; a failure is ignored, because systemd notices itself
 * that nothing has arrived. */
void service_manager_ready(const char *format, ...) __attribute__((format(printf, 1, 2)));
void service_manager_status(const char *format, ...) __attribute__((format(printf, 1, 2)));
void service_manager_stopping(void);

/* Whether standard error goes to the journal, which has the time of each line itself and reads its level. */
bool service_manager_has_journal(void);

#endif
