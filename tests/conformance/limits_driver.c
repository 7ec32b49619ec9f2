/* Drives the engine as the daemon's loop does, in virtual time, with a pretend executor, by commands on standard input.
 * It runs the recorded cases of limits (test_slurm_limits.py).
 *
 *     settings KEY=VALUE ...                  by an operator, like all changes of the configuration
 *     host NAME CPUS MEM_MIB GPUS             a host is attached
 *     object KIND NAME KEY=VALUE ...          adds an object, or changes it
 *     account NAME PARENT KEY=VALUE ...       adds an account, or changes its limits and usage
 *     user NAME ACCOUNT KEY=VALUE ...         likewise a user in an account; "-": all of the user's accounts;
 *                                             partition=P: for that partition only
 *     delete-user NAME ACCOUNT PARTITION      deletes that association
 *     submit USER RUN_S FIELD=VALUE ...       answers "job ID"; the job would end by itself after RUN_S seconds
 *     cancel | hold | release | requeue | requeue-hold | suspend | resume USER ID ...     ID is 5 or 5_3
 *     test USER RUN_S FIELD=VALUE ...         tries a submission: "SECONDS CPUS PLACES", or "waits REASON"
 *     update USER ID FIELD=VALUE ...
 *     advance SECONDS                         lets time pass
 *     looked SECONDS                          the engine last looked so long ago for tasks whose limits are used up
 *     passes on | off                         with off no pass runs, until on
 *     restart                                 the state is loaded again from the store
 *     jobs | starts | counters                listings (limits_listing.c)
 *
 * USER is root, an operator, or a user without rights. Words have no blanks. Each answer ends with "ok", or is "error
 * CODE SENTENCE". All passes that are due run before an answer. The executor reports a start at once, an end when the
 * run time or the time limit is over, or at once when it is told to end a launch. */
#include "../unit/store_world.h"

#include "limits_driver.h"

#include "base/number.h"
#include "base/quantity.h"
#include "engine/priorities.h"
#include "engine/schedule.h"
#include "engine/submit_test.h"

enum { WORDS_MAX = 40, LINE_SIZE = 4096 };

static struct actor actor_of(const char *user)
{
    static const char *const users[] = {"root", "alice", "bob", "carol", "dave", "erin"};
    uint32_t uid = 0;
    while (uid < COUNT(users) && strcmp(users[uid], user) != 0) uid++;
    return (struct actor){uid, uid, user, uid == 0 ? ROLE_ADMINISTRATOR : ROLE_USER};
}

static int apply(struct driver *d, struct event event)
{
    d->e = (struct err){0};
    d->result = (struct event_result){0};
    if (event.actor.user == NULL) event.actor = actor_of("root");
    return engine_apply(&d->s, d->now_us, &event, &d->out, &d->result, &d->e);
}

/* Applies an event that cannot be refused. */
static void must_apply(struct driver *d, struct event event)
{
    if (apply(d, event) == 0) return;
    fprintf(stderr, "an event of kind %d was refused: %s\n", event.kind, ERR_SENTENCE(&d->e));
    exit(1);
}

/* --- the executor ------------------------------------------------------------------------------------------------- */

static struct launched *find_run(struct driver *d, uint64_t launch_id)
{
    for (uint32_t i = 0; i < d->runs.count; i++) {
        if (d->runs.items[i].launch_id == launch_id) return &d->runs.items[i];
    }
    return NULL;
}

static void report(struct driver *d, enum event_kind kind, const struct launched *r)
{
    struct event event = {.kind = kind,
                          .record = {.launch_id = r->launch_id,
                                     .at_us = d->now_us,
                                     .started_us = r->started_us,
                                     .end = kind == EVENT_ENDED ? r->end : JOB_PENDING}};
    must_apply(d, event);
}

static int64_t run_time_us(const struct driver *d, uint32_t job_id)
{
    for (uint32_t i = 0; i < d->submissions.count; i++) {
        if (d->submissions.items[i].job_id == job_id) return d->submissions.items[i].run_us;
    }
    return INT64_MAX / 2;
}

static void set_limit(struct driver *d, struct launched *r, int64_t limit_us)
{
    r->ends_us = r->started_us + r->suspended_us + (r->run_us < limit_us ? r->run_us : limit_us);
    if (r->ends_us < d->now_us) r->ends_us = d->now_us;
    if (r->is_suspended) r->ends_us = INT64_MAX;
    r->end = r->run_us < limit_us ? JOB_COMPLETED : JOB_TIMEOUT;
}

static void replace_limit(struct driver *d, const struct decision *decision)
{
    struct launched *r = find_run(d, decision->launch_id);
    if (r != NULL) set_limit(d, r, decision->time_limit_s * US_PER_S);
}

static void suspend_run(struct driver *d, const struct decision *decision)
{
    struct launched *r = find_run(d, decision->launch_id);
    uint32_t job = state_find_job(&d->s, decision->job_id);
    uint32_t task = map_get_u64(&d->s.task_by_launch, decision->launch_id);
    if (r == NULL || job == NONE || task == NONE) return;
    r->is_suspended = decision->is_suspended;
    r->suspended_us = decision->suspended_us;
    set_limit(d, r, task_time_limit_s(&d->s.jobs.items[job], &d->s.tasks.items[task]) * US_PER_S);
}

static void start(struct driver *d, const struct decision *decision)
{
    const struct job *j = &d->s.jobs.items[state_find_job(&d->s, decision->job_id)];
    struct launched r = {
        .launch_id = decision->launch_id, .started_us = d->now_us, .run_us = run_time_us(d, decision->job_id)};
    const struct task *k = &d->s.tasks.items[map_get_u64(&d->s.task_by_launch, decision->launch_id)];
    set_limit(d, &r, task_time_limit_s(j, k) * US_PER_S);
    *array_add(&d->runs) = r;
    *array_add(&d->starts) = (struct job_ref){decision->job_id, j->is_array ? decision->task_id : NONE};
    report(d, EVENT_STARTED, &r);
}

static void end(struct driver *d, uint64_t launch_id, enum job_state state)
{
    struct launched *r = find_run(d, launch_id);
    if (r == NULL) return;
    r->end = state;
    const struct launched ended = *r;
    *r = d->runs.items[--d->runs.count];
    report(d, EVENT_ENDED, &ended);
}

/* A report may lead to more decisions, which come behind the others. */
static void act(struct driver *d)
{
    for (; d->decisions_done < d->out.decisions.count; d->decisions_done++) {
        const struct decision decision = d->out.decisions.items[d->decisions_done];
        if (decision.kind == DECIDE_START) start(d, &decision);
        if (decision.kind == DECIDE_TIME_LIMIT) replace_limit(d, &decision);
        if (decision.kind == DECIDE_SUSPENSION) suspend_run(d, &decision);
        if (decision.kind == DECIDE_END) end(d, decision.launch_id, JOB_CANCELLED);
    }
}

/* --- time --------------------------------------------------------------------------------------------------------- */

static const struct launched *first_to_end(const struct driver *d)
{
    const struct launched *first = NULL;
    for (uint32_t i = 0; i < d->runs.count; i++) {
        const struct launched *r = &d->runs.items[i];
        if (first == NULL || r->ends_us < first->ends_us) first = r;
    }
    return first;
}

/* One turn of the loop. */
static void turn(struct driver *d)
{
    must_apply(d, (struct event){.kind = EVENT_TIME, .time = {.boot_id = "boot"}});
    act(d);
    store_must_commit(d->store, &d->s, &d->out, d->now_us);
    d->decisions_done = 0;
}

/* Runs every turn until then in which something is due. */
static void advance(struct driver *d, int64_t until_us)
{
    for (;;) {
        const struct launched *first = first_to_end(d);
        int64_t due_us = state_next_due_us(&d->s), end_us = first != NULL ? first->ends_us : INT64_MAX;
        if (due_us == 0 || d->has_no_passes) due_us = INT64_MAX;
        int64_t at_us = due_us < end_us ? due_us : end_us;
        if (at_us > until_us) break;
        if (at_us > d->now_us) d->now_us = at_us;
        if (end_us <= d->now_us) end(d, first->launch_id, first->end);
        turn(d);
    }
    d->now_us = until_us;
}

/* --- events ------------------------------------------------------------------------------------------------------- */

static struct str cut_pair(const char *word, struct str *out_value)
{
    return str_cut(str(word), '=', out_value);
}

static uint32_t read_pairs(struct driver *d, char **words, uint32_t count, struct event_pair *pairs)
{
    for (uint32_t i = 0; i < count; i++) {
        struct str value, key = cut_pair(words[i], &value);
        pairs[i] = (struct event_pair){arena_copy(&d->arena, key), arena_copy(&d->arena, value)};
    }
    return count;
}

static int change_settings(struct driver *d, char **words, uint32_t count)
{
    struct event_pair pairs[WORDS_MAX];
    read_pairs(d, words, count, pairs);
    return apply(d, (struct event){.kind = EVENT_SETTINGS, .settings = {pairs, count}});
}

static uint32_t number_of(const char *word)
{
    uint64_t number;
    return number_parse_u64(str(word), &number) ? (uint32_t)number : NONE;
}

static int attach_host(struct driver *d, char **words, uint32_t count)
{
    (void)count;
    const struct capacity has = {number_of(words[1]), number_of(words[3]), number_of(words[2])};
    const char *name = strcmp(words[0], LOCAL_HOST) != 0 ? arena_copy(&d->lasting, str(words[0])) : NULL;
    const struct event_host host = {.has = has, .name = name};
    if (apply(d, (struct event){.kind = EVENT_HOST, .host = host}) != 0) return -1;
    *array_add(&d->hosts) = host;
    return 0;
}

static int change_object(struct driver *d, char **words, uint32_t count)
{
    struct event_pair pairs[WORDS_MAX];
    enum object_kind kind = 0;
    while (kind < OBJECT_KIND_COUNT && strcmp(object_classes[kind].name, words[0]) != 0) kind++;
    if (kind == OBJECT_KIND_COUNT) return err_value(&d->e, "kind", str(words[0]), "a kind of object");
    bool is_new = state_find_object(&d->s, kind, words[1]) == NONE;
    read_pairs(d, words + 2, count - 2, pairs);
    return apply(d, (struct event){.kind = is_new ? EVENT_OBJECT_ADD : EVENT_OBJECT_MODIFY,
                                   .object = {kind, words[1], pairs, count - 2}});
}

/* RawUsage=0 is no limit. Returns the number of the other pairs. */
static uint32_t read_limits(struct driver *d, char **words, uint32_t count, struct event_pair *pairs, bool *out_resets)
{
    uint32_t kept = 0;
    *out_resets = false;
    for (uint32_t i = 0; i < count; i++) {
        if (strcasecmp(words[i], "RawUsage=0") == 0)
            *out_resets = true;
        else
            kept += read_pairs(d, &words[i], 1, &pairs[kept]);
    }
    return kept;
}

static int change_account(struct driver *d, char **words, uint32_t count)
{
    struct event_pair pairs[WORDS_MAX];
    struct event_account account = {.name = words[0], .shares = SHARES_UNSET, .priority = PRIORITY_UNSET};
    bool is_new = state_find_assoc(&d->s, words[0], NULL) == NONE;
    if (is_new) account.parent = words[1];
    account.count = read_limits(d, words + 2, count - 2, pairs, &account.resets_usage);
    account.pairs = pairs;
    return apply(d, (struct event){.kind = is_new ? EVENT_ACCOUNT_ADD : EVENT_ACCOUNT_MODIFY, .account = account});
}

static int change_user(struct driver *d, char **words, uint32_t count)
{
    struct event_pair pairs[WORDS_MAX];
    const char *account = strcmp(words[1], "-") != 0 ? words[1] : NULL;
    struct event_user user = {.name = words[0], .account = account, .shares = SHARES_UNSET, .priority = PRIORITY_UNSET};
    words += 2, count -= 2;
    if (count > 0 && strncmp(words[0], "partition=", strlen("partition=")) == 0) {
        user.partition = words[0] + strlen("partition=");
        words++, count--;
    }
    bool is_new = account != NULL &&
                  (user.partition != NULL ? state_find_assoc_of_partition(&d->s, account, user.name, user.partition)
                                          : state_find_assoc(&d->s, account, user.name)) == NONE;
    user.count = read_limits(d, words, count, pairs, &user.resets_usage);
    user.pairs = pairs;
    return apply(d, (struct event){.kind = is_new ? EVENT_USER_ADD : EVENT_USER_MODIFY, .user = user});
}

static int delete_user(struct driver *d, char **words, uint32_t count)
{
    (void)count;
    const struct event_user user = {.name = words[0], .account = words[1], .partition = words[2]};
    return apply(d, (struct event){.kind = EVENT_USER_DELETE, .user = user});
}

static int read_job(struct driver *d, char **words, uint32_t count, struct job_values *out)
{
    *out = (struct job_values){0};
    for (uint32_t i = 0; i < count; i++) {
        struct str value, name = cut_pair(words[i], &value);
        uint32_t f = field_find(&job_fields, name);
        if (f == NONE) return err_unknown_field(&d->e, "job", name, "those of job_fields.c");
        bool is_time = field_at(&job_fields, f)->type == FIELD_TIME;
        double seconds;
        if (is_time && number_parse_double(value, &seconds)) /* relative to now */
            out->value[f] = field_number(d->now_us + (int64_t)(seconds * US_PER_S));
        else if (field_parse(field_at(&job_fields, f), value, &d->arena, &out->value[f], &d->e) != 0)
            return -1;
        out->is_given[f] = true;
    }
    return 0;
}

static int submit(struct driver *d, char **words, uint32_t count)
{
    struct job_values values;
    double run_s;
    if (!number_parse_double(str(words[1]), &run_s)) return err_value(&d->e, "run time", str(words[1]), "seconds");
    if (read_job(d, words + 2, count - 2, &values) != 0) return -1;
    if (apply(d, (struct event){.kind = EVENT_SUBMIT, .actor = actor_of(words[0]), .submit = &values}) != 0) return -1;
    *array_add(&d->submissions) = (struct submission){d->result.job_id, (int64_t)(run_s * US_PER_S)};
    printf("job %u\n", d->result.job_id);
    return 0;
}

/* "5" or "5_3". */
static struct job_ref ref_of(const char *word)
{
    struct str task, job = str_cut(str(word), '_', &task);
    uint64_t job_id = 0, task_id = NONE;
    number_parse_u64(job, &job_id);
    if (task.text != NULL) number_parse_u64(task, &task_id);
    return (struct job_ref){(uint32_t)job_id, (uint32_t)task_id};
}

static int change_jobs(struct driver *d, enum event_kind kind, char **words, uint32_t count)
{
    struct job_ref refs[WORDS_MAX];
    for (uint32_t i = 1; i < count; i++) refs[i - 1] = ref_of(words[i]);
    return apply(d, (struct event){.kind = kind, .actor = actor_of(words[0]), .jobs = {refs, count - 1, false}});
}

static int cancel(struct driver *d, char **words, uint32_t count)
{
    return change_jobs(d, EVENT_CANCEL, words, count);
}

static int hold(struct driver *d, char **words, uint32_t count)
{
    return change_jobs(d, EVENT_HOLD, words, count);
}

static int release(struct driver *d, char **words, uint32_t count)
{
    return change_jobs(d, EVENT_RELEASE, words, count);
}

static int requeue(struct driver *d, char **words, uint32_t count)
{
    return change_jobs(d, EVENT_REQUEUE, words, count);
}

static int suspend(struct driver *d, char **words, uint32_t count)
{
    return change_jobs(d, EVENT_SUSPEND, words, count);
}

static int resume(struct driver *d, char **words, uint32_t count)
{
    return change_jobs(d, EVENT_RESUME, words, count);
}

static int requeue_and_hold(struct driver *d, char **words, uint32_t count)
{
    struct job_ref refs[WORDS_MAX];
    for (uint32_t i = 1; i < count; i++) refs[i - 1] = ref_of(words[i]);
    return apply(d, (struct event){.kind = EVENT_REQUEUE,
                                   .actor = actor_of(words[0]),
                                   .jobs = {.refs = refs, .count = count - 1, .holds = true}});
}

static void print_tested(struct driver *d, const struct schedule *p, const struct schedule_row *row)
{
    uint32_t id = d->s.jobs.items[row->job].id;
    struct buf places = {0};
    if (row->start_us == 0) {
        printf("waits %s\n", pending_reason_name(job_pending_reason(&d->s, id, 1.0, d->now_us)));
        return;
    }
    schedule_places(p, &row->allocation, &places);
    printf("%lld %u %s\n", (long long)((row->start_us - d->now_us) / US_PER_S), row->allocation.slots, places.text);
    buf_release(&places);
}

static int test_submission(struct driver *d, char **words, uint32_t count)
{
    struct job_values values;
    struct submit_test t;
    struct schedule p;
    if (read_job(d, words + 2, count - 2, &values) != 0) return -1;
    const struct event event = {.kind = EVENT_SUBMIT, .actor = actor_of(words[0]), .submit = &values};
    if (submit_test_begin(&t, &d->s, d->now_us, &event, &d->e) != 0) return -1;
    int status = schedule_make(&d->s, d->now_us, SCHEDULE_WITH_ESTIMATES, &p, &d->e);
    for (uint32_t i = 0; i < p.rows.count && status == 0; i++) {
        if (p.rows.items[i].job == t.job) print_tested(d, &p, &p.rows.items[i]);
    }
    schedule_release(&p);
    submit_test_end(&t);
    return status;
}

static int switch_passes(struct driver *d, char **words, uint32_t count)
{
    (void)count;
    d->has_no_passes = strcmp(words[0], "off") == 0;
    return 0;
}

static int update(struct driver *d, char **words, uint32_t count)
{
    struct job_values values;
    if (read_job(d, words + 2, count - 2, &values) != 0) return -1;
    return apply(d, (struct event){.kind = EVENT_UPDATE,
                                   .actor = actor_of(words[0]),
                                   .update = {ref_of(words[1]).job_id, &values}});
}

static int pass_time(struct driver *d, char **words, uint32_t count)
{
    (void)count;
    double seconds;
    if (!number_parse_double(str(words[0]), &seconds)) return err_value(&d->e, "time", str(words[0]), "seconds");
    advance(d, d->now_us + (int64_t)(seconds * US_PER_S));
    return 0;
}

/* The looks are at intervals; which times they fall on is not specified. */
static int set_looked(struct driver *d, char **words, uint32_t count)
{
    (void)count;
    double seconds;
    if (!number_parse_double(str(words[0]), &seconds)) return err_value(&d->e, "time", str(words[0]), "seconds");
    d->s.limits_looked_us = d->now_us - (int64_t)(seconds * US_PER_S);
    return 0;
}

/* The daemon is killed and started; meanwhile the launcher and the jobs go on. */
static int restart(struct driver *d, char **words, uint32_t count)
{
    (void)words, (void)count;
    ARRAY(uint64_t) launches = {0};
    state_release(&d->s);
    store_must_load(d->store, &d->s);
    for (uint32_t i = 0; i < d->hosts.count; i++) {
        must_apply(d, (struct event){.kind = EVENT_HOST, .host = d->hosts.items[i]});
    }
    for (uint32_t i = 0; i < d->runs.count; i++) {
        *array_add(&launches) = d->runs.items[i].launch_id;
        report(d, EVENT_STARTED, &d->runs.items[i]);
    }
    const struct event synced = {.kind = EVENT_SYNCED,
                                 .synced = {launches.items, launches.count, "boot", d->now_us, NULL}};
    int status = apply(d, synced);
    array_release(&launches);
    return status;
}

static int list_jobs(struct driver *d, char **words, uint32_t count)
{
    (void)words, (void)count;
    listing_jobs(d);
    return 0;
}

static int list_starts(struct driver *d, char **words, uint32_t count)
{
    (void)words, (void)count;
    listing_starts(d);
    return 0;
}

static int list_counters(struct driver *d, char **words, uint32_t count)
{
    (void)words, (void)count;
    listing_counters(d);
    return 0;
}

/* --- commands ----------------------------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    uint32_t min_words; /* without the name */
    int (*run)(struct driver *d, char **words, uint32_t count);
} commands[] = {
    {"settings", 1, change_settings},
    {"host", 4, attach_host},
    {"object", 2, change_object},
    {"account", 2, change_account},
    {"user", 2, change_user},
    {"delete-user", 3, delete_user},
    {"submit", 3, submit},
    {"cancel", 1, cancel},
    {"hold", 2, hold},
    {"release", 2, release},
    {"requeue", 2, requeue},
    {"suspend", 2, suspend},
    {"resume", 2, resume},
    {"requeue-hold", 2, requeue_and_hold},
    {"test", 3, test_submission},
    {"passes", 1, switch_passes},
    {"update", 3, update},
    {"advance", 1, pass_time},
    {"looked", 1, set_looked},
    {"restart", 0, restart},
    {"jobs", 0, list_jobs},
    {"starts", 0, list_starts},
    {"counters", 0, list_counters},
};

static int run_command(struct driver *d, char **words, uint32_t count)
{
    for (size_t i = 0; i < COUNT(commands); i++) {
        if (strcmp(commands[i].name, words[0]) != 0) continue;
        if (count - 1 < commands[i].min_words) return err_set(&d->e, ERR_USAGE, "%s: too few words", words[0]);
        return commands[i].run(d, words + 1, count - 1);
    }
    return err_set(&d->e, ERR_USAGE, "'%s' is not a command", words[0]);
}

static void answer(struct driver *d, char *line)
{
    char *words[WORDS_MAX], *rest;
    uint32_t count = 0;
    for (char *word = strtok_r(line, " \n", &rest); word != NULL; word = strtok_r(NULL, " \n", &rest)) {
        if (count == WORDS_MAX) return (void)printf("error %d too many words\n", ERR_USAGE);
        words[count++] = word;
    }
    if (count == 0) return;
    d->e = (struct err){0};
    int status = run_command(d, words, count);
    struct err e = d->e;
    act(d);
    advance(d, d->now_us);
    if (status != 0)
        printf("error %d %s\n", e.code, ERR_SENTENCE(&e));
    else
        puts("ok");
    fflush(stdout);
    arena_clear(&d->arena);
}

int main(void)
{
    char directory[STORE_PATH_SIZE], line[LINE_SIZE];
    struct driver d = {.now_us = INT64_C(1700000000) * US_PER_S};
    store_make_directory(directory);
    d.store = store_must_open(directory, d.now_us);
    store_must_load(d.store, &d.s);
    while (fgets(line, sizeof line, stdin) != NULL) answer(&d, line);
    store_close(d.store);
    store_remove_directory(directory);
    state_release(&d.s);
    outcome_release(&d.out);
    arena_release(&d.arena);
    arena_release(&d.lasting);
    array_release(&d.runs);
    array_release(&d.submissions);
    array_release(&d.starts);
    array_release(&d.hosts);
    return 0;
}
