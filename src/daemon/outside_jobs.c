#include "daemon/outside_jobs.h"

#include "base/quantity.h"
#include "daemon/log.h"

#define INTERVAL_MIN_MS UINT64_C(1000)
#define INTERVAL_MAX_MS UINT64_C(15000)

struct outside_rule outside_jobs_rule(const struct settings *settings)
{
    return (struct outside_rule){.action = (enum outside_jobs_action)setting_number(settings, SET_OUTSIDE_JOBS),
                                 .cpus = setting_real(settings, SET_OUTSIDE_JOBS_CPUS),
                                 .time_us = setting_number(settings, SET_OUTSIDE_JOBS_S) * US_PER_S,
                                 .warn_us = setting_number(settings, SET_OUTSIDE_JOBS_WARN_S) * US_PER_S};
}

uint64_t outside_jobs_interval_ms(const struct outside_rule *rule)
{
    uint64_t quarter_ms = (uint64_t)(rule->time_us / US_PER_MS) / 4;
    return quarter_ms < INTERVAL_MIN_MS ? INTERVAL_MIN_MS : quarter_ms > INTERVAL_MAX_MS ? INTERVAL_MAX_MS : quarter_ms;
}

static struct outside_user *find(const struct outside_jobs *o, uint32_t uid)
{
    for (uint32_t i = 0; i < o->users.count; i++) {
        if (o->users.items[i].uid == uid) return &o->users.items[i];
    }
    return NULL;
}

bool outside_jobs_is_over(const struct outside_jobs *o, uint32_t uid)
{
    const struct outside_user *user = find(o, uid);
    return user != NULL && user->is_over;
}

static void set_over(struct outside_user *user, bool is_over)
{
    if (user->is_over == is_over) return;
    user->is_over = is_over;
    if (is_over)
        log_line(LOG_WARNING, "outside-jobs", " user=%s cpus=%.2f gpus=%llx", user->name, user->cpus,
                 (unsigned long long)user->gpus);
    else
        log_line(LOG_INFO, "outside-jobs-ended", " user=%s", user->name);
}

static void step(struct outside_user *user, const struct outside_rule *rule, int64_t now_us)
{
    bool is_above = user->cpus > rule->cpus || user->gpus != 0;
    user->above_us = !is_above ? 0 : user->above_us != 0 ? user->above_us : now_us;
    user->below_us = is_above ? 0 : user->below_us != 0 ? user->below_us : now_us;
    if (is_above && now_us - user->above_us >= rule->time_us) set_over(user, true);
    if (!is_above && now_us - user->below_us >= rule->time_us) set_over(user, false);
}

static bool was_warned_lately(const struct outside_user *user, const struct outside_rule *rule, int64_t now_us)
{
    return user->warned_us != 0 && now_us - user->warned_us < rule->warn_us;
}

/* Only who uses too much now is told so. */
static void warn(struct outside_user *user, const struct outside_rule *rule, int64_t now_us)
{
    user->wants_warning = rule->action >= OUTSIDE_JOBS_WARN && user->is_over && user->above_us != 0 &&
                          now_us - user->above_us >= rule->time_us && !was_warned_lately(user, rule, now_us);
    if (!user->wants_warning) return;
    user->warned_us = now_us;
    log_line(LOG_INFO, "outside-jobs-warned", " user=%s cpus=%.2f gpus=%llx", user->name, user->cpus,
             (unsigned long long)user->gpus);
}

static void take_use(struct outside_jobs *o, const struct outside_use *use, int64_t now_us)
{
    struct outside_user *user = find(o, use->uid);
    if (use->is_exempt) return;
    if (user == NULL) {
        user = array_add(&o->users);
        user->uid = use->uid;
        text_format(user->name, sizeof user->name, "%s", use->name);
        if (use->is_low) { /* an earlier daemon has found that it is over */
            user->above_us = now_us;
            user->is_over = true;
        }
    }
    user->cpus = use->cpus;
    user->gpus = use->gpus;
    user->is_seen = true;
}

void outside_jobs_update(struct outside_jobs *o, const struct outside_rule *rule, const struct outside_use *uses,
                         uint32_t count, int64_t now_us)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < o->users.count; i++) {
        o->users.items[i].is_seen = false;
        o->users.items[i].cpus = 0.0;
        o->users.items[i].gpus = 0;
    }
    for (uint32_t i = 0; i < count; i++) take_use(o, &uses[i], now_us);
    for (uint32_t i = 0; i < o->users.count; i++) {
        struct outside_user user = o->users.items[i];
        for (uint32_t k = 0; k < count; k++) {
            if (uses[k].uid == user.uid && uses[k].is_exempt) set_over(&user, false); /* since lately */
        }
        step(&user, rule, now_us);
        warn(&user, rule, now_us);
        if (user.is_seen || user.is_over || was_warned_lately(&user, rule, now_us)) o->users.items[kept++] = user;
    }
    o->users.count = kept;
}

void outside_jobs_clear(struct outside_jobs *o)
{
    array_clear(&o->users);
}

void outside_jobs_release(struct outside_jobs *o)
{
    array_release(&o->users);
}

static void add_gpus(uint64_t gpus, struct buf *out)
{
    const char *before = (gpus & (gpus - 1)) != 0 ? " and GPUs " : " and GPU ";
    for (int i = 0; i < 64; i++) {
        if ((gpus >> i & 1U) == 0) continue;
        buf_format(out, "%s%d", before, i);
        before = ",";
    }
}

void outside_jobs_describe(const struct outside_jobs *o, const struct outside_rule *rule, bool has_names,
                           int64_t now_us, struct buf *out)
{
    uint32_t over_count = 0;
    char duration[32];
    for (uint32_t i = 0; i < o->users.count; i++) {
        const struct outside_user *user = &o->users.items[i];
        if (!user->is_over) continue;
        over_count++;
        if (!has_names) continue;
        buf_format(out, "%s%s uses %.2f CPUs", out->length > 0 ? "; " : "", user->name, user->cpus);
        add_gpus(user->gpus, out);
        if (user->above_us != 0) {
            duration_format_short(duration, (now_us - user->above_us) / US_PER_S);
            buf_format(out, ", above the threshold for %s", duration);
        }
        if (rule->action == OUTSIDE_JOBS_LOW_WEIGHT) buf_add_text(out, ", with a low weight");
    }
    duration_format_short(duration, rule->time_us / US_PER_S);
    if (over_count == 0)
        buf_format(out, "no user above %g CPUs, or with a GPU, for %s", rule->cpus, duration);
    else if (!has_names)
        buf_format(out, "%u user%s above %g CPUs, or with a GPU, for %s", over_count, over_count == 1 ? "" : "s",
                   rule->cpus, duration);
}
