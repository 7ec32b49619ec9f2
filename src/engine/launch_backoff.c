#include "engine/launch_backoff.h"

#include <string.h>

#include "base/quantity.h"
#include "base/text.h"

#define WAIT_MIN_US US_PER_S
#define WAIT_MAX_US (60 * US_PER_S)

void launch_backoff_fail(struct launch_backoff *b, int64_t now_us, uint64_t launch_id, uint32_t job_id,
                         const char *detail)
{
    bool is_first = b->wait_us == 0;
    if (!is_first && launch_id != b->probe_id) return;
    b->wait_us = is_first ? WAIT_MIN_US : 2 * b->wait_us;
    if (b->wait_us > WAIT_MAX_US) b->wait_us = WAIT_MAX_US;
    b->retry_us = now_us + b->wait_us;
    b->probe_id = 0;
    b->skipped_id = is_first ? 0 : job_id;
    text_format(b->detail, sizeof b->detail, "%s",
                detail != NULL && detail[0] != '\0' ? detail : "the launcher gave no reason");
}

bool launch_backoff_start(struct launch_backoff *b, uint64_t launch_id)
{
    if (launch_id != b->probe_id || launch_id == 0) return false;
    *b = (struct launch_backoff){0};
    return true;
}

/* An end without a start says nothing about the machine: it was cancelled, or its program does not exist. */
void launch_backoff_end(struct launch_backoff *b, uint64_t launch_id)
{
    if (launch_id == b->probe_id) b->probe_id = 0;
}

void launch_backoff_send(struct launch_backoff *b, uint64_t launch_id)
{
    if (b->wait_us != 0) b->probe_id = launch_id;
}

uint32_t launch_backoff_room(const struct launch_backoff *b, int64_t now_us)
{
    if (b->wait_us == 0) return UINT32_MAX;
    return b->probe_id == 0 && now_us >= b->retry_us ? 1 : 0;
}
