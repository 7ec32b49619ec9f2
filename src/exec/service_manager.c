#include "exec/service_manager.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/text.h"

enum { NOTICE_SIZE = 512 };

static struct sockaddr_un address;
static socklen_t address_size; /* 0: there is no service manager */
static bool has_journal;

/* The path of a file, or "@" and the name of an abstract socket. Others, such as vsock, are not for services. */
static void read_address(const char *text)
{
    size_t length = text != NULL ? strlen(text) : 0;
    if (length < 2 || length >= sizeof address.sun_path || (text[0] != '/' && text[0] != '@')) return;
    address.sun_family = AF_UNIX;
    memcpy(address.sun_path, text, length + 1);
    if (text[0] == '@') address.sun_path[0] = '\0';
    address_size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length);
}

static void read_stream(const char *text)
{
    unsigned long long device, inode;
    struct stat own;
    if (text == NULL || sscanf(text, "%llu:%llu", &device, &inode) != 2 || fstat(STDERR_FILENO, &own) != 0) return;
    has_journal = own.st_dev == device && own.st_ino == inode;
}

void service_manager_init(void)
{
    read_address(getenv("NOTIFY_SOCKET"));
    read_stream(getenv("JOURNAL_STREAM"));
    unsetenv("NOTIFY_SOCKET");
    unsetenv("JOURNAL_STREAM");
}

static void notify(const char *text, size_t length)
{
    if (address_size == 0) return;
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return;
    (void)sendto(fd, text, length, MSG_NOSIGNAL, (const struct sockaddr *)&address, address_size);
    close(fd);
}

static void notify_status(const char *before, const char *format, va_list arguments)
{
    char text[NOTICE_SIZE];
    size_t length = text_format(text, sizeof text, "%sSTATUS=", before);
    length += text_vformat(text + length, sizeof text - length, format, arguments);
    notify(text, length < sizeof text ? length : sizeof text - 1);
}

void service_manager_ready(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    notify_status("READY=1\n", format, arguments);
    va_end(arguments);
}

void service_manager_status(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    notify_status("", format, arguments);
    va_end(arguments);
}

void service_manager_stopping(void)
{
    static const char text[] = "STOPPING=1\nSTATUS=Stopping; running jobs go on";
    notify(text, sizeof text - 1);
}

bool service_manager_has_journal(void)
{
    return has_journal;
}
