#include "exec/launcher/keeper_log.h"

#include <unistd.h>

#include "exec/launcher/durable.h"
#include "exec/launcher/log_text.h"

int keeper_log_append(const struct keeper_task *t, const struct launch_record *record)
{
    struct buf line = {0};
    log_text_add_record(&line, record);
    int result = durable_append(t->log_fd, (struct str){line.text, line.length});
    buf_release(&line);
    return result;
}

void keeper_log_append_end(const struct keeper_task *t, const struct launch_record *record)
{
    while (keeper_log_append(t, record) < 0) sleep(1);
    if (getppid() != t->launcher_pid) (void)fdatasync(t->log_fd);
}
