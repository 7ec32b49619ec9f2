#include "engine/limit_text.h"

#include "base/number.h"

static void add_subject(const struct state *s, const struct limit_hit *hit, struct buf *out)
{
    if (hit->is_qos) {
        buf_format(out, "QOS '%s'", s->objects[OBJECT_QOS].items[hit->subject].object.name);
        return;
    }
    const struct assoc *a = &s->assocs.items[hit->subject];
    if (a->user != NULL)
        buf_format(out, "user '%s' in account '%s'", a->user, a->account);
    else
        buf_format(out, "account '%s'", a->account);
}

static void add_number(struct buf *out, double number)
{
    char text[NUMBER_TEXT_SIZE];
    number_format_double(text, number, 15, 'g');
    buf_add_text(out, text);
}

static bool is_time(const struct limit_hit *hit)
{
    return hit->reason == PENDING_ASSOC_MAX_WALL || hit->reason == PENDING_QOS_MAX_WALL ||
           hit->reason == PENDING_ASSOC_GRP_WALL || hit->reason == PENDING_QOS_GRP_WALL;
}

static bool is_job_time(const struct limit_hit *hit)
{
    return hit->reason == PENDING_ASSOC_MAX_WALL || hit->reason == PENDING_QOS_MAX_WALL;
}

void limit_text(const struct state *s, const struct limit_hit *hit, struct buf *out)
{
    add_subject(s, hit, out);
    buf_format(out, " has %s=", hit->name);
    if (hit->tres != NONE) buf_format(out, "%s=", s->policy.tres.items[hit->tres].text);
    add_number(out, hit->limit);
    if (is_time(hit)) buf_add_text(out, " minutes");
    buf_add_text(out, "; ");
    bool is_of_job = hit->tres != NONE && hit->counter == NONE && !hit->falls && hit->used <= 0.0;
    if (!is_of_job) {
        add_number(out, hit->used);
        buf_add_text(out, is_job_time(hit) ? " requested" : " in use");
        if (hit->member != NULL) buf_format(out, " by '%s'", hit->member);
    }
    if (!is_of_job && hit->requested > 0.0) buf_add_text(out, ", ");
    if (hit->requested > 0.0 || is_of_job) {
        add_number(out, hit->requested);
        buf_add_text(out, " requested");
    }
}
