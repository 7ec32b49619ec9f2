#include "engine/limit_text.h"

#include "base/number.h"
#include "base/quantity.h"
#include "fields/limit_fields.h"
#include "fields/settings.h"

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

static bool is_time(const struct limit_hit *hit)
{
    return hit->reason == PENDING_ASSOC_MAX_WALL || hit->reason == PENDING_QOS_MAX_WALL ||
           hit->reason == PENDING_ASSOC_GRP_WALL || hit->reason == PENDING_QOS_GRP_WALL;
}

/* An amount of what the limit is of; times are in minutes. */
static void add_amount(const struct limit_hit *hit, double amount, struct buf *out)
{
    char number[NUMBER_TEXT_SIZE], duration[32];
    if (is_time(hit)) {
        duration_format(duration, (int64_t)(amount * 60.0));
        buf_add_text(out, duration);
        return;
    }
    number_format_double(number, amount, 15, 'g');
    buf_add_text(out, number);
}

/* Whether it is of each job by itself, whatever is in use. */
static bool is_of_job(const struct limit_hit *hit)
{
    bool is_max_wall = hit->reason == PENDING_ASSOC_MAX_WALL || hit->reason == PENDING_QOS_MAX_WALL;
    return is_max_wall || (hit->tres != NONE && hit->counter == NONE && !hit->falls && hit->used <= 0.0);
}

/* A time limit that is the default one, and what the job may have instead. */
static void add_default(const struct state *s, const struct limit_hit *hit, struct buf *out)
{
    char max[32];
    int64_t requested_s = (int64_t)(hit->requested * 60.0 + 0.5);
    bool is_max_wall = hit->reason == PENDING_ASSOC_MAX_WALL || hit->reason == PENDING_QOS_MAX_WALL;
    if (!is_max_wall || requested_s != setting_number(&s->settings, SET_DEFAULT_TIME_S)) return;
    duration_format(max, (int64_t)(hit->limit * 60.0 + 0.5));
    buf_format(out, ", the default (default_time_s); give the job a time limit of at most %s", max);
}

void limit_text(const struct state *s, const struct limit_hit *hit, struct buf *out)
{
    bool is_own = is_of_job(hit);
    add_subject(s, hit, out);
    buf_format(out, " has %s=", hit->name);
    if (hit->tres != NONE) buf_format(out, "%s=", s->policy.tres.items[hit->tres].text);
    add_amount(hit, hit->limit, out);
    buf_add_text(out, "; ");
    if (!is_own) {
        add_amount(hit, hit->used, out);
        buf_add_text(out, " in use");
        if (hit->member != NULL) buf_format(out, " by '%s'", hit->member);
    }
    if (!is_own && !(hit->requested > 0.0)) return;
    if (!is_own) buf_add_text(out, ", ");
    add_amount(hit, hit->requested, out);
    buf_add_text(out, " requested");
    add_default(s, hit, out);
}
