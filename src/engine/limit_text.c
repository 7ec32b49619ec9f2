#include "engine/limit_text.h"

#include <string.h>

#include "base/number.h"
#include "base/quantity.h"
#include "engine/partition_limits.h"
#include "fields/limit_fields.h"

/* Whether "cpu=4,mem=8" has a TRES. */
static bool names_tres(const char *list, const char *tres)
{
    struct str unused;
    for (struct str rest = str(list); rest.text != NULL;) {
        struct str item = str_trim(str_cut(rest, ',', &rest));
        if (str_equal(str_trim(str_cut(item, '=', &unused)), str(tres))) return true;
    }
    return false;
}

/* The association that a limit was set on: users inherit Max limits from the accounts above them. */
static uint32_t holder_of(const struct state *s, const struct limit_hit *hit)
{
    uint32_t f = field_find(&limit_fields, str(hit->name));
    if (f == NONE) return hit->subject;
    for (uint32_t a = hit->subject; a != NONE; a = s->assocs.items[a].parent) {
        const struct field_value *limits = s->assocs.items[a].limits;
        if (limits == NULL) continue;
        bool has_it = hit->tres == NONE ? limits[f].number != FIELD_SPECIAL
                                        : names_tres(limits[f].text, s->policy.tres.items[hit->tres].text);
        if (has_it) return a;
    }
    return hit->subject;
}

static void add_subject(const struct state *s, const struct limit_hit *hit, struct buf *out)
{
    if (hit->is_qos) {
        buf_format(out, "QOS '%s'", s->objects[OBJECT_QOS].items[hit->subject].object.name);
        return;
    }
    const struct assoc *a = &s->assocs.items[holder_of(s, hit)];
    if (a->user != NULL)
        buf_format(out, "user '%s' in account '%s'", a->user, a->account);
    else
        buf_format(out, "account '%s'", a->account);
    if (a->partition != NULL) buf_format(out, " for partition '%s'", a->partition);
}

static bool is_max_wall(const struct limit_hit *hit)
{
    return hit->reason == PENDING_ASSOC_MAX_WALL || hit->reason == PENDING_QOS_MAX_WALL;
}

static bool is_time(const struct limit_hit *hit)
{
    return is_max_wall(hit) || hit->reason == PENDING_ASSOC_GRP_WALL || hit->reason == PENDING_QOS_GRP_WALL;
}

/* Whether it is of an amount of memory, and not of one times minutes. */
static bool is_memory(const struct state *s, const struct limit_hit *hit)
{
    size_t length = strlen(hit->name);
    bool is_minutes = length > 4 && strcmp(hit->name + length - 4, "Mins") == 0;
    return hit->tres != NONE && s->policy.tres.items[hit->tres].type == TRES_TYPE_MEM && !is_minutes;
}

/* An amount of what the limit is of; times are in minutes. */
static void add_amount(const struct state *s, const struct limit_hit *hit, double amount, struct buf *out)
{
    char number[NUMBER_TEXT_SIZE], duration[32];
    if (is_time(hit)) {
        duration_format(duration, (int64_t)(amount * 60.0 + 0.5));
        buf_add_text(out, duration);
        return;
    }
    if (is_memory(s, hit) && amount >= 1.0) {
        buf_add(out, number, memory_format(number, (uint64_t)amount));
        return;
    }
    number_format_double(number, amount, 15, 'g');
    buf_add_text(out, number);
}

/* Whether it is of each job by itself, whatever is in use. */
static bool is_of_job(const struct limit_hit *hit)
{
    return is_max_wall(hit) || (hit->tres != NONE && hit->counter == NONE && !hit->falls && hit->used <= 0.0);
}

static bool is_of_submits(const struct limit_hit *hit)
{
    return hit->reason == PENDING_ASSOC_GRP_SUBMIT || hit->reason == PENDING_ASSOC_MAX_SUBMIT ||
           hit->reason == PENDING_QOS_GRP_SUBMIT || hit->reason == PENDING_QOS_MAX_SUBMIT ||
           hit->reason == PENDING_QOS_MAX_SUBMIT_PER_ACCOUNT;
}

/* Where a time limit that was not given comes from, and what the job may have instead. */
static void add_default(const struct state *s, const struct limit_hit *hit, struct buf *out)
{
    char max[32];
    if (!hit->is_default_time) return;
    buf_add_text(out, ", the default");
    partition_limits_add_default(s, hit->partition, (int64_t)(hit->requested * 60.0 + 0.5), out);
    duration_format(max, (int64_t)(hit->limit * 60.0 + 0.5));
    buf_format(out, "; give the job a time limit of at most %s", max);
}

void limit_text(const struct state *s, const struct limit_hit *hit, struct buf *out)
{
    bool is_own = is_of_job(hit);
    add_subject(s, hit, out);
    buf_format(out, " has %s=", hit->name);
    if (hit->tres != NONE) buf_format(out, "%s=", s->policy.tres.items[hit->tres].text);
    add_amount(s, hit, hit->limit, out);
    buf_add_text(out, "; ");
    if (!is_own) {
        add_amount(s, hit, hit->used, out);
        buf_add_text(out, is_of_submits(hit) ? " submitted" : " in use");
        if (hit->member != NULL) buf_format(out, " by '%s'", hit->member);
    }
    if (!is_own && !(hit->requested > 0.0)) return;
    if (!is_own) buf_add_text(out, ", ");
    add_amount(s, hit, hit->requested, out);
    buf_add_text(out, " requested");
    add_default(s, hit, out);
}
