#include "engine/limit_submit.h"

#include "engine/handlers.h"
#include "engine/limit_text.h"

static int refuse(struct apply_context *c, const struct limit_hit *hit)
{
    struct buf text = {0};
    limit_text(c->s, hit, &text);
    (void)err_set(c->e, ERR_TOO_LARGE, "%s (%s)", text.text, pending_reason_name(hit->reason));
    buf_release(&text);
    return -1;
}

/* The first partition that refuses decides, whatever the order. */
static int check(struct apply_context *c, const struct job *row, uint32_t assoc, const char *new_user, uint32_t tasks,
                 bool is_update, bool has_time)
{
    struct state *s = c->s;
    const struct limit_counts *counts = limit_counts_update(s, c->now_us);
    for (uint32_t i = 0; i < row->partition_count; i++) {
        struct tres_amount amounts[TRES_MAX];
        struct job job = *row;
        struct limit_request r;
        struct limit_hit hit;
        job.assoc = assoc;
        limits_request(s, &job, row->partitions[i], row->request.cpus, 0, amounts, &r);
        r.is_new_user = new_user != NULL;
        if (new_user != NULL) r.user = new_user;
        if (!has_time) r.time_limit_s = 0;
        if (!limits_admit_submission(s, counts, &r, tasks, is_update, &hit)) return refuse(c, &hit);
    }
    return 0;
}

int limit_submit_check(struct apply_context *c, const struct job *row, uint32_t assoc, const char *new_user)
{
    if (!limits_apply(c->s)) return 0;
    return check(c, row, assoc, new_user, idset_count(&row->array), false, true);
}

int limit_submit_check_update(struct apply_context *c, const struct job *row, bool has_new_time)
{
    if (!limits_apply(c->s)) return 0;
    return check(c, row, row->assoc, NULL, 0, true, has_new_time);
}
