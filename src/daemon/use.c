/* An account is made of the last two samples, if the time between them is neither too short for the kernel's ticks of
 * 10 ms nor so long that it says little about now. A client gets an account that is younger than FRESH_US at once;
 * however many clients look, the launcher is asked once a second.
 *
 *     a client asks  ─> sample ─> (the last one is too old: wait 1 s, sample again) ─> names ─> account ─> answers
 *
 * Names come from the user database, which may be slow, so a thread looks up those that are not known. */
#include "daemon/use.h"

#include "daemon/outside_jobs.h"
#include "daemon/user_lookup.h"
#include "exec/clock.h"
#include "fields/setting_text.h"

#define FRESH_US US_PER_S
#define INTERVAL_MIN_US (US_PER_S / 2)
#define INTERVAL_MAX_US (20 * US_PER_S)
#define NAMES_KEPT_US (600 * US_PER_S)
#define NAMES_RETRY_US (60 * US_PER_S)

enum { SAMPLE_WAIT_MS = 1000 };

struct daemon_use {
    struct use_sample before, now, coming;
    struct use_account account; /* of before and now, if has_account */
    bool has_account;
    bool is_sampling; /* the launcher has been asked, or names of the sample are being looked up */
    uv_timer_t timer;
    ARRAY(struct request *) waiting;
    ARRAY(struct use_user) users;
    struct map user_by_uid; /* to index in users */
    struct buf exempt;      /* the setting that users[].is_exempt follows */
    struct outside_jobs outside;
    bool has_low; /* users have a low weight, or may have one of an earlier daemon */
};

/* --- users -------------------------------------------------------------------------------------------------------- */

struct use_lookup {
    struct daemon *d;
    uint32_t min_uid;
    struct buf exempt; /* the setting */
    ARRAY(struct use_user) users;
};

static void use_lookup_free(struct use_lookup *n)
{
    array_release(&n->users);
    buf_release(&n->exempt);
    mem_free(n);
}

static struct str exempt_of(const struct daemon_use *u)
{
    return (struct str){u->exempt.text, u->exempt.length};
}

static struct use_user *user_of(struct daemon_use *u, uint32_t uid)
{
    uint32_t index = map_get_u64(&u->user_by_uid, uid);
    return index != NONE ? &u->users.items[index] : NULL;
}

/* Whether the setting names the user, or a group of the user. */
static bool is_named(struct str exempt, const struct user_lookup *lookup)
{
    struct str name;
    bool is_group, is_in = false;
    while (!is_in && setting_text_next_exempt(&exempt, &name, &is_group)) {
        char text[64];
        text_format(text, sizeof text, "%.*s", (int)name.length, name.text);
        is_in = is_group ? user_lookup_is_member(lookup, text) : str_equal(name, str(lookup->name));
    }
    return is_in;
}

static bool is_system_account(uint32_t uid, uint32_t min_uid)
{
    enum { NO_USER = 65534 };
    return uid < min_uid || uid == NO_USER;
}

static void look_up(void *argument)
{
    static const struct role_groups no_roles = {0};
    struct use_lookup *n = argument;
    for (uint32_t i = 0; i < n->users.count; i++) {
        struct use_user *user = &n->users.items[i];
        struct user_lookup lookup;
        user_lookup_run(user->uid, &no_roles, &lookup);
        text_format(user->name, sizeof user->name, "%s", lookup.result == USER_FOUND ? lookup.name : "");
        user->is_exempt = lookup.result == USER_UNREACHABLE || is_system_account(user->uid, n->min_uid) ||
                          is_named((struct str){n->exempt.text, n->exempt.length}, &lookup);
        user->looked_us = lookup.result == USER_UNREACHABLE ? -1 : 0;
        user_lookup_release(&lookup);
    }
}

static void finish(struct daemon *d);

static void on_looked_up(void *argument)
{
    struct use_lookup *n = argument;
    struct daemon_use *u = n->d->use;
    int64_t now_us = clock_boot_us();
    bool is_outdated = !str_equal((struct str){n->exempt.text, n->exempt.length}, exempt_of(u));
    for (uint32_t i = 0; i < n->users.count; i++) {
        struct use_user *user = user_of(u, n->users.items[i].uid);
        *user = n->users.items[i];
        bool is_retried = n->users.items[i].looked_us < 0;
        user->looked_us = is_retried ? now_us - NAMES_KEPT_US + NAMES_RETRY_US : now_us;
        if (is_outdated) user->looked_us = 0;
    }
    finish(n->d);
    use_lookup_free(n);
}

/* Adds a uid that has to be looked up. */
static void want_name(struct daemon_use *u, uint32_t uid, struct use_lookup *n)
{
    struct use_user *user = user_of(u, uid);
    int64_t now_us = clock_boot_us();
    if (user == NULL) {
        map_set_u64(&u->user_by_uid, uid, u->users.count);
        user = array_add(&u->users);
        *user = (struct use_user){.uid = uid};
    } else if (user->looked_us != 0 && user->looked_us + NAMES_KEPT_US > now_us) {
        return;
    }
    user->looked_us = now_us; /* once for all of its processes */
    *array_add(&n->users) = (struct use_user){.uid = uid};
}

/* Returns whether a thread looks names up, and goes on then. */
static bool look_up_names(struct daemon *d)
{
    struct use_lookup *n = mem_resize(NULL, 0, sizeof *n);
    n->d = d;
    n->min_uid = d->use->now.end.min_uid;
    buf_add_str(&n->exempt, exempt_of(d->use));
    for (uint32_t i = 0; i < d->use->now.list.count; i++) want_name(d->use, d->use->now.list.items[i].uid, n);
    if (n->users.count > 0) {
        own_thread_ask(&d->threads, look_up, on_looked_up, n);
        return true;
    }
    use_lookup_free(n);
    return false;
}

/* It refers to the processes of the sample by index. */
static void drop_account(struct daemon_use *u)
{
    if (u->has_account) use_account_release(&u->account);
    u->has_account = false;
}

/* --- answers ------------------------------------------------------------------------------------------------------ */

/* The user of a job; of what is not in the state any more, that of its processes. */
static uint32_t uid_of_part(const struct daemon *d, uint64_t launch_id, uint32_t uid)
{
    uint32_t task = launch_id != 0 ? map_get_u64(&d->state.task_by_launch, launch_id) : NONE;
    uint32_t job = task != NONE ? state_find_job(&d->state, d->state.tasks.items[task].job_id) : NONE;
    return job != NONE ? d->state.jobs.items[job].uid : uid;
}

static struct server_use_part part_of(struct daemon *d, uint64_t launch_id, uint32_t uid)
{
    uint32_t owner = uid_of_part(d, launch_id, uid);
    const struct use_user *user = user_of(d->use, owner);
    bool has_name = user != NULL && user->name[0] != '\0';
    return (struct server_use_part){.launch_id = launch_id, .uid = owner, .user = has_name ? user->name : NULL};
}

/* Only root can tell other users, and give back a nice value. */
static struct outside_rule rule_of(const struct daemon *d)
{
    struct outside_rule rule = outside_jobs_rule(&d->state.settings);
    if (!d->is_system && rule.action > OUTSIDE_JOBS_SHOW) rule.action = OUTSIDE_JOBS_SHOW;
    return rule;
}

/* Of a user's use outside jobs. */
static const char *state_of(const struct daemon *d, uint32_t uid)
{
    struct outside_rule rule = rule_of(d);
    const struct use_user *user = user_of(d->use, uid);
    if (rule.action == OUTSIDE_JOBS_IGNORE) return NULL;
    if (user != NULL && user->is_exempt) return "exempt";
    if (!outside_jobs_is_over(&d->use->outside, uid)) return NULL;
    return rule.action == OUTSIDE_JOBS_LOW_WEIGHT ? "low" : "over";
}

static struct server_use make_use(struct daemon *d, struct arena *arena)
{
    const struct daemon_use *u = d->use;
    uint32_t part_count = u->account.parts.count, process_count = u->now.list.count;
    struct server_use_part *parts = arena_alloc(arena, (part_count + (size_t)1) * sizeof *parts);
    struct server_use_process *processes = arena_alloc(arena, (process_count + (size_t)1) * sizeof *processes);
    for (uint32_t i = 0; i < part_count; i++) {
        const struct use_part *p = &u->account.parts.items[i];
        parts[i] = part_of(d, p->launch_id, p->uid);
        parts[i].cpus = p->cpus;
        parts[i].mem_kib = p->mem_kib;
        parts[i].gpus = p->gpus;
        parts[i].process_count = p->process_count;
        if (p->launch_id == 0) parts[i].state = state_of(d, p->uid);
    }
    for (uint32_t i = 0; i < process_count; i++) {
        const struct process_sample *p = &u->now.list.items[i];
        processes[i] = (struct server_use_process){.part = part_of(d, 0, p->uid), .pid = p->pid, .name = p->name};
        processes[i].part.launch_id = p->launch_id;
        processes[i].part.cpus = u->account.cpus.items[i];
        processes[i].part.mem_kib = p->mem_kib;
        processes[i].part.gpus = p->gpus;
        processes[i].part.process_count = 1;
    }
    return (struct server_use){parts, processes, part_count, process_count};
}

static void answer_all(struct daemon *d, const struct err *e)
{
    struct daemon_use *u = d->use;
    struct arena arena = {0};
    struct server_use use = {0};
    if (u->waiting.count == 0) return;
    if (e == NULL) use = make_use(d, &arena);
    for (uint32_t i = 0; i < u->waiting.count; i++) server_use_measured(u->waiting.items[i], &use, e);
    array_clear(&u->waiting);
    arena_release(&arena);
}

/* --- samples ------------------------------------------------------------------------------------------------------ */

static void sample(struct daemon *d)
{
    struct daemon_use *u = d->use;
    if (u->is_sampling || d->executor == NULL || !d->is_synced) return;
    u->is_sampling = true;
    use_sample_clear(&u->coming);
    executor_sample(d->executor);
    executor_flush(d->executor);
}

static void on_timer(uv_timer_t *timer)
{
    sample(timer->data);
}

void use_look(struct daemon *d)
{
    if (d->use != NULL) sample(d);
}

const char *use_name_of(struct daemon *d, uint32_t uid)
{
    const struct use_user *user = d->use != NULL ? user_of(d->use, uid) : NULL;
    return user != NULL && user->name[0] != '\0' ? user->name : NULL;
}

void use_take_process(struct daemon *d, const struct process_sample *process)
{
    if (d->use == NULL || !d->use->is_sampling) return;
    use_sample_add(&d->use->coming, process);
}

void use_take_end(struct daemon *d, const struct process_sample_end *end)
{
    struct daemon_use *u = d->use;
    if (u == NULL || !u->is_sampling) return;
    struct use_sample oldest = u->before;
    drop_account(u);
    u->before = u->now;
    u->now = u->coming;
    u->now.end = *end;
    u->coming = oldest;
    if (!look_up_names(d)) finish(d);
}

/* --- the setting outside_jobs ------------------------------------------------------------------------------------- */

/* Orders a low weight for those who are over, also if they are the same as before: their new processes get it, too. */
static void order_low_weight(struct daemon *d, const struct outside_rule *rule)
{
    struct daemon_use *u = d->use;
    ARRAY(uint32_t) uids = {0};
    for (uint32_t i = 0; rule->action == OUTSIDE_JOBS_LOW_WEIGHT && i < u->outside.users.count; i++) {
        if (u->outside.users.items[i].is_over) *array_add(&uids) = u->outside.users.items[i].uid;
    }
    if (d->executor != NULL && (uids.count > 0 || u->has_low))
        executor_set_low_weight(d->executor, uids.items, uids.count);
    if (d->executor != NULL) executor_flush(d->executor);
    u->has_low = uids.count > 0;
    array_release(&uids);
}

static uint32_t to_centi(double cpus)
{
    return cpus >= CPUS_MAX ? CPUS_MAX * 100 : (uint32_t)(cpus * 100 + 0.5);
}

static void send_warnings(struct daemon *d, const struct outside_rule *rule, int64_t now_us)
{
    struct daemon_use *u = d->use;
    for (uint32_t i = 0; d->executor != NULL && i < u->outside.users.count; i++) {
        const struct outside_user *user = &u->outside.users.items[i];
        if (!user->wants_warning) continue;
        executor_warn(d->executor, &(struct outside_warning){.uid = user->uid,
                                                             .cpus_centi = to_centi(user->cpus),
                                                             .limit_centi = to_centi(rule->cpus),
                                                             .gpus = user->gpus,
                                                             .time_us = now_us - user->above_us,
                                                             .is_low = rule->action == OUTSIDE_JOBS_LOW_WEIGHT});
    }
}

static void update_outside(struct daemon *d, const struct outside_rule *rule)
{
    struct daemon_use *u = d->use;
    struct arena arena = {0};
    ARRAY(struct outside_use) uses = {0};
    for (uint32_t i = 0; i < u->account.parts.count; i++) {
        const struct use_part *p = &u->account.parts.items[i];
        const struct use_user *user = user_of(u, p->uid);
        char uid[16];
        if (p->launch_id != 0 || user == NULL) continue;
        text_format(uid, sizeof uid, "%u", p->uid);
        *array_add(&uses) = (struct outside_use){.uid = p->uid,
                                                 .name = user->name[0] ? user->name : arena_copy(&arena, str(uid)),
                                                 .cpus = p->cpus,
                                                 .gpus = p->gpus,
                                                 .is_exempt = user->is_exempt,
                                                 .is_low = p->is_low};
        u->has_low |= p->is_low;
    }
    outside_jobs_update(&u->outside, rule, uses.items, uses.count, u->now.end.at_us);
    send_warnings(d, rule, u->now.end.at_us);
    order_low_weight(d, rule);
    array_release(&uses);
    arena_release(&arena);
}

void use_follow_settings(struct daemon *d)
{
    struct daemon_use *u = d->use;
    if (u == NULL) return;
    const char *exempt = setting_text(&d->state.settings, SET_OUTSIDE_JOBS_EXEMPT);
    struct outside_rule rule = rule_of(d);
    if (!str_equal(str(exempt), exempt_of(u))) {
        buf_clear(&u->exempt);
        buf_add_text(&u->exempt, exempt);
        for (uint32_t i = 0; i < u->users.count; i++) u->users.items[i].looked_us = 0;
    }
    if (!d->is_synced) return;
    if (rule.action == OUTSIDE_JOBS_IGNORE) outside_jobs_clear(&u->outside);
    if (rule.action != OUTSIDE_JOBS_LOW_WEIGHT && u->has_low) order_low_weight(d, &rule);
    if (rule.action != OUTSIDE_JOBS_IGNORE && !u->is_sampling && !uv_is_active((uv_handle_t *)&u->timer)) sample(d);
}

void use_describe_outside(void *context, bool has_names, struct buf *out)
{
    const struct daemon *d = context;
    struct outside_rule rule = rule_of(d);
    if (d->use == NULL || rule.action == OUTSIDE_JOBS_IGNORE) return;
    outside_jobs_describe(&d->use->outside, &rule, has_names, clock_boot_us(), out);
}

/* The sample is complete, and the names of its users are known. */
static void finish(struct daemon *d)
{
    struct daemon_use *u = d->use;
    struct outside_rule rule = rule_of(d);
    int64_t interval_us = u->now.end.at_us - u->before.end.at_us;
    u->is_sampling = false;
    if (d->on_sample != NULL) d->on_sample(d, &u->now);
    drop_account(u);
    u->has_account = u->before.end.at_us != 0 && interval_us >= INTERVAL_MIN_US && interval_us <= INTERVAL_MAX_US;
    if (u->has_account) {
        use_account_make(&u->before, &u->now, &u->account);
        if (rule.action != OUTSIDE_JOBS_IGNORE) update_outside(d, &rule);
        answer_all(d, NULL);
    }
    if (u->waiting.count > 0)
        uv_timer_start(&u->timer, on_timer, SAMPLE_WAIT_MS, 0);
    else if (rule.action != OUTSIDE_JOBS_IGNORE)
        uv_timer_start(&u->timer, on_timer, outside_jobs_interval_ms(&rule), 0);
}

int use_measure(void *context, struct request *request, struct err *e)
{
    struct daemon *d = context;
    struct daemon_use *u = d->use;
    if (d->executor == NULL || !d->is_synced)
        return err_set(e, ERR_UNAVAILABLE, "the launcher, which looks at processes, is not connected; try again soon");
    *array_add(&u->waiting) = request;
    if (u->has_account && !u->is_sampling && clock_boot_us() - u->now.end.at_us < FRESH_US)
        answer_all(d, NULL);
    else if (!uv_is_active((uv_handle_t *)&u->timer) || u->waiting.count == 1)
        sample(d);
    return 0;
}

void use_drop(struct daemon *d)
{
    struct daemon_use *u = d->use;
    struct err e;
    if (u == NULL) return;
    u->is_sampling = false;
    u->has_low = true; /* the next launcher may know of some */
    err_set(&e, ERR_UNAVAILABLE, "the launcher, which looks at processes, was lost; try again soon");
    answer_all(d, &e);
}

/* --- opening and closing ------------------------------------------------------------------------------------------ */

void use_open(struct daemon *d)
{
    if (d->pretend != NULL) return;
    d->use = mem_resize(NULL, 0, sizeof *d->use);
    uv_timer_init(&d->loop, &d->use->timer);
    d->use->timer.data = d;
    d->use->has_low = true;
}

void use_end(struct daemon *d)
{
    if (d->use == NULL || d->executor == NULL || !d->use->has_low) return;
    executor_set_low_weight(d->executor, NULL, 0);
    executor_flush(d->executor);
}

void use_close(struct daemon *d)
{
    struct daemon_use *u = d->use;
    if (u == NULL) return;
    use_sample_release(&u->before);
    use_sample_release(&u->now);
    use_sample_release(&u->coming);
    use_account_release(&u->account);
    buf_release(&u->exempt);
    outside_jobs_release(&u->outside);
    array_release(&u->waiting);
    array_release(&u->users);
    map_release(&u->user_by_uid);
    mem_free(u);
    d->use = NULL;
}
