#include "fields/setting_remark.h"

#include "base/quantity.h"
#include "fields/setting_text.h"

enum { MINUTE_S = 60, HOUR_S = 3600 };
#define TIB_MIB (INT64_C(1) << 20)

void setting_remark_compensation_factor(const struct field_value *value, struct buf *out)
{
    if (value->real < 0.0)
        buf_add_text(
            out, "a negative value counts as a tiny positive one; how Grid Engine 8.1.9 computes with it is unknown");
}

void setting_remark_usage_weight_list(const struct field_value *value, struct buf *out)
{
    struct usage_weights weights;
    double known = 0.0;
    if (setting_text_usage_weights(str(value->text), "", &weights, NULL) != 0) return;
    for (int r = 0; r < USAGE_RESOURCE_COUNT; r++) known += weights.weight[r];
    if (!(weights.total > known)) return;
    buf_add_text(out, "a resource other than ");
    usage_resource_add_names(out);
    buf_add_text(out, " has no usage; its weight counts in the sum");
}

/* --- units -------------------------------------------------------------------------------------------------------- */

/* slurm.conf has it in minutes. */
void setting_remark_halflife(const struct field_value *value, struct buf *out)
{
    long long s = (long long)value->number;
    if (s > 0 && s < MINUTE_S) buf_format(out, "usage is halved every %lld s; the unit is seconds", s);
}

/* DefaultTime of slurm.conf is in minutes. */
void setting_remark_default_time(const struct field_value *value, struct buf *out)
{
    long long s = (long long)value->number;
    if (s < MINUTE_S) buf_format(out, "jobs that give no time limit are ended after %lld s; the unit is seconds", s);
}

void setting_remark_keep(const struct field_value *value, struct buf *out)
{
    long long s = (long long)value->number;
    if (s > 0 && s < HOUR_S) buf_format(out, "what is older than %lld s is removed for good; the unit is seconds", s);
}

/* As if it were bytes or KiB. */
void setting_remark_memory(const struct field_value *value, struct buf *out)
{
    char shown[32];
    if (value->number < TIB_MIB) return;
    memory_format(shown, (uint64_t)value->number);
    buf_format(out, "it is %s; the unit of a number without a suffix is MiB", shown);
}

/* --- what is switched off ----------------------------------------------------------------------------------------- */

void setting_remark_grace(const struct field_value *value, struct buf *out)
{
    if (value->number == 0)
        buf_add_text(out, "jobs that are ended get SIGKILL at once, and have no time to save anything");
}

void setting_remark_weight(const struct field_value *value, struct buf *out)
{
    if (value->real < 0.0) buf_add_text(out, "a negative weight turns the order round: more of it comes later");
}

void setting_remark_enforce(const struct field_value *value, struct buf *out)
{
    uint32_t flags;
    if (setting_text_enforce(str(value->text), "", &flags, NULL) != 0 || (flags & ENFORCE_LIMITS) != 0) return;
    buf_add_text(out, "no limit of accounts, users and QOS is enforced; add limits to the list for that");
}
