#include "daemon/daemon_clock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base/number.h"
#include "base/text.h"
#include "daemon/clock_decision.h"
#include "exec/clock.h"

enum { FILE_BYTES = 21 }; /* 20 digits and a line feed */

/* 0 if there is no time in it. */
static int64_t read_time(int fd)
{
    char text[FILE_BYTES];
    uint64_t time_us;
    ssize_t length = pread(fd, text, sizeof text, 0);
    if (length < 1 || !number_parse_u64(str_trim((struct str){text, (size_t)length}), &time_us)) return 0;
    return time_us < INT64_MAX ? (int64_t)time_us : 0;
}

static void begin_at(struct daemon_clock *c, int64_t time_us)
{
    c->begin_us = time_us;
    c->origin_us = clock_read_us(CLOCK_MONOTONIC);
}

int daemon_clock_open(struct daemon_clock *c, const char *directory, uint32_t speed, struct err *e)
{
    char path[PATH_MAX];
    text_format(path, sizeof path, "%s/pretend.clock", directory);
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
    if (fd < 0) return err_set(e, ERR_IO, "cannot open %s: %s", path, strerror(errno));
    *c = (struct daemon_clock){.speed = speed, .fd = fd};
    int64_t last_us = read_time(fd);
    begin_at(c, last_us > 0 ? last_us : clock_wall_us());
    return 0;
}

void daemon_clock_close(struct daemon_clock *c)
{
    if (c->speed > 0) close(c->fd);
    *c = (struct daemon_clock){0};
}

/* A time that is not written is only lost by a kill. */
static void write_time(struct daemon_clock *c, int64_t time_us)
{
    char text[FILE_BYTES + 1];
    if (time_us == c->written_us) return;
    text_format(text, sizeof text, "%020lld\n", (long long)time_us);
    if (pwrite(c->fd, text, FILE_BYTES, 0) == FILE_BYTES) c->written_us = time_us;
}

static int64_t read_real(struct daemon_clock *c)
{
    const struct clock_reading now = {clock_wall_us(), clock_boot_us()};
    const struct clock_last last = {.time_us = c->time_us, .boot_us = c->boot_us, .is_of_this_boot = true};
    int64_t time_us = now.wall_us;
    if (c->boot_us != 0) {
        const struct clock_decision decision = clock_decision_make(&last, &now);
        time_us = decision.has_change ? c->time_us + (now.boot_us - c->boot_us) : decision.time_us;
    }
    daemon_clock_set(c, time_us, now.boot_us);
    return time_us;
}

void daemon_clock_set(struct daemon_clock *c, int64_t time_us, int64_t boot_us)
{
    c->time_us = time_us;
    c->boot_us = boot_us;
}

int64_t daemon_clock_us(struct daemon_clock *c)
{
    if (c->speed == 0) return read_real(c);
    int64_t now_us = c->begin_us + (clock_read_us(CLOCK_MONOTONIC) - c->origin_us) * c->speed;
    write_time(c, now_us);
    return now_us;
}

void daemon_clock_not_before(struct daemon_clock *c, int64_t time_us)
{
    if (c->speed > 0 && daemon_clock_us(c) < time_us) begin_at(c, time_us);
}

uint64_t daemon_clock_wait_ms(const struct daemon_clock *c, int64_t wait_us)
{
    if (wait_us <= 0) return 1;
    return (uint64_t)wait_us / (c->speed > 0 ? c->speed : 1) / US_PER_MS + 1;
}
