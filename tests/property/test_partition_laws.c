/* Laws of limits of partitions, on random worlds with room for everything, against a reading of the rules that keeps
 * nothing and splits no lists but by commas:
 *
 *     a submission is refused by ANY if no partition admits it, by ALL if one does not, by NO never for a limit
 *     a job that waits is admitted by no partition that is up, and its reason is that of a partition
 *     a job starts in a partition that admits it, with the time limit of that partition
 *     a change by which MinNodes would be above MaxNodes is refused */
#include "../unit/policy_world.h"

#include "base/rng.h"
#include "engine/priorities.h"

enum { WORLDS = 60, STEPS = 40, PARTITIONS = 3 };

static const char *const partition_names[PARTITIONS] = {"main", "p1", "p2"};
static uint32_t changes_refused, refused, started, waited;

#define PICK(rng, list) (list)[rng_below(rng, sizeof(list) / sizeof *(list))]

static void change_partition(struct world *w, struct rng *rng)
{
    static const char *const changes[] = {
        "MaxNodes=1",
        "MaxNodes=2",
        "MaxNodes=UNLIMITED",
        "MinNodes=0",
        "MinNodes=2",
        "MaxTime=10",
        "MaxTime=20",
        "MaxTime=UNLIMITED",
        "DefaultTime=5",
        "DefaultTime=15",
        "DefaultTime=NONE",
        "AllowAccounts=a",
        "AllowAccounts=a,b",
        "AllowAccounts=ALL",
        "DenyAccounts=b",
        "DenyAccounts=NONE",
        "AllowQos=long",
        "AllowQos=ALL",
        "DenyQos=long,odd",
        "DenyQos=NONE",
        "MaxMemPerNode=100",
        "MaxMemPerNode=200",
        "MaxMemPerNode=UNLIMITED",
        "state=UP",
        "state=DOWN",
    };
    const char *name = PICK(rng, partition_names), *change = PICK(rng, changes);
    uint32_t partition = state_find_object(&w->s, OBJECT_PARTITION, name);
    const struct field_value *v = w->s.objects[OBJECT_PARTITION].items[partition].object.value;
    bool is_refused = (strcmp(change, "MaxNodes=1") == 0 && v[PARTITION_MIN_NODES].number == 2) ||
                      (strcmp(change, "MinNodes=2") == 0 && v[PARTITION_MAX_NODES].number == 1);
    if (!is_refused) {
        world_object(w, OBJECT_PARTITION, name, change);
        return;
    }
    world_refuses(w, world_object_event(w, EVENT_OBJECT_MODIFY, OBJECT_PARTITION, name, change), ERR_INPUT,
                  "MinNodes: 2 is above MaxNodes, 1");
    changes_refused++;
}

static void make(struct world *w, struct rng *rng)
{
    static const char *const hosts[] = {"n2", "n3"}, *const rules[] = {"ANY", "ALL", "NO"};
    world_init(w, 1000, 1000000, 0);
    for (int i = 0; i < 2; i++) {
        world_object(w, OBJECT_HOST, hosts[i], "");
        const struct event host = {.kind = EVENT_HOST, .host = {{1000, 0, 1000000}, hosts[i]}};
        assert_int_equal(world_apply(w, host, NULL), 0);
    }
    world_user(w, "a", 1, "ann");
    world_user(w, "b", 1, "bob");
    world_object(w, OBJECT_QOS, "long", "");
    world_object(w, OBJECT_QOS, "odd", "flags=PartitionTimeLimit,PartitionMinNodes");
    for (int i = 1; i < PARTITIONS; i++) world_object(w, OBJECT_PARTITION, partition_names[i], "");
    world_set(w, "AccountingStorageEnforce", "associations,limits");
    world_set(w, "default_time_s", "900");
    world_set(w, "EnforcePartLimits", PICK(rng, rules));
    for (int i = 0; i < 10; i++) change_partition(w, rng);
}

static struct event random_job(struct rng *rng)
{
    static const char *const lists[] = {"main", "p1", "p2,main", "p1,p2", "main,p1,p2"};
    static const char *const more[] = {"cpus=2",          "cpus=2|nodes=2", "cpus=2|nodes=1-2",
                                       "cpus=2|qos=long", "cpus=2|qos=odd", "cpus=3|nodes=3|qos=odd"};
    static const char *const times[] = {"", "|time_limit_s=300", "|time_limit_s=600", "|time_limit_s=1260"};
    const struct job_values *v = job_text("name=job|directory=/|command=true|mem_mib=%u|partitions=%s",
                                          50 + 75 * rng_below(rng, 3), PICK(rng, lists));
    v = job_with(v, "%s%s", PICK(rng, more), PICK(rng, times));
    return (struct event){
        .kind = EVENT_SUBMIT, .actor = {1000, 1000, rng_below(rng, 2) ? "ann" : "bob", ROLE_USER}, .submit = v};
}

/* --- the slow reading --------------------------------------------------------------------------------------------- */

static bool is_listed(const char *list, const char *name)
{
    for (struct str rest = str(list); rest.text != NULL;) {
        if (str_equal(str_cut(rest, ',', &rest), str(name))) return true;
    }
    return false;
}

static bool is_allowed(const char *allow, const char *deny, const char *name)
{
    return strcmp(allow, "ALL") != 0 ? is_listed(allow, name) : !is_listed(deny, name);
}

static int64_t time_in(const struct world *w, const struct job *j, uint32_t partition)
{
    const struct field_value *v = w->s.objects[OBJECT_PARTITION].items[partition].object.value;
    if (!j->has_default_time) return j->time_limit_s;
    int64_t time_s = v[PARTITION_DEFAULT_TIME].number >= 0 ? v[PARTITION_DEFAULT_TIME].number : 900;
    return v[PARTITION_MAX_TIME].number >= 0 && v[PARTITION_MAX_TIME].number < time_s ? v[PARTITION_MAX_TIME].number
                                                                                      : time_s;
}

static bool is_admitted(const struct world *w, const struct job *j, uint32_t partition)
{
    const struct field_value *v = w->s.objects[OBJECT_PARTITION].items[partition].object.value;
    const char *qos = w->s.objects[OBJECT_QOS].items[j->qos].object.name;
    bool is_odd = strcmp(qos, "odd") == 0;
    int64_t min = 1, max = 1;
    if (j->placing != NULL && j->placing->node_max > 0) min = j->placing->node_min, max = j->placing->node_max;
    if (v[PARTITION_MAX_NODES].number >= 0 && min > v[PARTITION_MAX_NODES].number) return false;
    if (!is_odd && max < v[PARTITION_MIN_NODES].number) return false;
    if (!is_odd && v[PARTITION_MAX_TIME].number >= 0 && time_in(w, j, partition) > v[PARTITION_MAX_TIME].number)
        return false;
    if (v[PARTITION_MAX_MEM_PER_NODE].number >= 0 && (int64_t)j->request.mem_mib > v[PARTITION_MAX_MEM_PER_NODE].number)
        return false;
    return is_allowed(v[PARTITION_ALLOW_ACCOUNTS].text, v[PARTITION_DENY_ACCOUNTS].text,
                      w->s.assocs.items[j->assoc].account) &&
           is_allowed(v[PARTITION_ALLOW_QOS].text, v[PARTITION_DENY_QOS].text, qos);
}

static bool is_up(const struct world *w, uint32_t partition)
{
    return strcmp(w->s.objects[OBJECT_PARTITION].items[partition].object.value[PARTITION_STATE].text, "UP") == 0;
}

/* --- the laws ----------------------------------------------------------------------------------------------------- */

/* The job is submitted with NO, to see what the partitions say of it, in a copy of the event. */
static void submit(struct world *w, struct rng *rng)
{
    const struct event job = random_job(rng);
    enum enforce_part_limits rule = (enum enforce_part_limits)setting_number(&w->s.settings, SET_ENFORCE_PART_LIMITS);
    int status = world_apply(w, job, NULL);
    uint32_t admitting = 0, id = 0;
    refused += status != 0;
    const char *const words[] = {[PART_LIMITS_ANY] = "ANY", [PART_LIMITS_ALL] = "ALL", [PART_LIMITS_NO] = "NO"};
    world_set(w, "EnforcePartLimits", "NO");
    assert_int_equal(world_apply(w, job, &id), 0);
    const struct job *j = &w->s.jobs.items[state_find_job(&w->s, id)];
    for (uint32_t i = 0; i < j->partition_count; i++) admitting += is_admitted(w, j, j->partitions[i]);
    bool is_refused =
        (rule == PART_LIMITS_ANY && admitting == 0) || (rule == PART_LIMITS_ALL && admitting < j->partition_count);
    if ((status != 0) != is_refused)
        fail_msg("%s: %u of %u partitions admit it: %s", words[rule], admitting, j->partition_count,
                 status != 0 ? ERR_SENTENCE(&w->e) : "accepted");
    world_set(w, "EnforcePartLimits", words[rule]);
}

static void check_waiting(struct world *w)
{
    for (uint32_t i = 0; i < w->s.jobs.count; i++) {
        const struct job *j = &w->s.jobs.items[i];
        if (idset_first(&j->pending) == NONE) continue;
        bool has_closed = false;
        for (uint32_t k = 0; k < j->partition_count; k++) {
            bool may_start = is_admitted(w, j, j->partitions[k]);
            if (may_start && is_up(w, j->partitions[k])) fail_msg("job %u waits", j->id);
            has_closed |= may_start;
        }
        enum pending_reason reason = job_pending_reason(&w->s, j->id, 1.0, w->now_us);
        assert_true(has_closed == (reason == PENDING_PARTITION_DOWN));
        assert_true(has_closed || reason == PENDING_PARTITION_NODE_LIMIT || reason == PENDING_PARTITION_TIME_LIMIT ||
                    reason == PENDING_MAX_MEM_PER_NODE || reason == PENDING_ACCOUNT_NOT_ALLOWED ||
                    reason == PENDING_QOS_NOT_ALLOWED);
        waited++;
    }
}

/* The jobs that start, with the times that they have in each partition before. */
static void start(struct world *w)
{
    uint32_t count = w->s.jobs.count;
    struct arena arena = {0};
    struct job *before = arena_alloc(&arena, (count + (size_t)1) * sizeof *before);
    memcpy(before, w->s.jobs.items, count * sizeof *before);
    (void)world_pass(w);
    for (uint32_t i = 0; i < w->out.decisions.count; i++) {
        const struct decision *d = &w->out.decisions.items[i];
        if (d->kind != DECIDE_START) continue;
        const struct task *k = world_task(w, d->job_id, d->task_id);
        uint32_t job = state_find_job(&w->s, d->job_id);
        assert_true(is_admitted(w, &before[job], k->partition) && is_up(w, k->partition));
        assert_int_equal(w->s.jobs.items[job].time_limit_s, time_in(w, &before[job], k->partition));
        started++;
    }
    arena_release(&arena);
}

static void partitions_keep_their_limits(void **unused)
{
    (void)unused;
    for (uint32_t i = 0; i < WORLDS; i++) {
        struct rng rng = {i + 1};
        struct world w;
        make(&w, &rng);
        for (uint32_t k = 0; k < STEPS; k++) {
            w.now_us += SECOND;
            if (rng_below(&rng, 3) == 0) change_partition(&w, &rng);
            submit(&w, &rng);
            if (rng_below(&rng, 3) > 0) continue;
            start(&w);
            check_waiting(&w);
        }
        world_release(&w);
    }
    assert_true(changes_refused > 5 && refused > 100 && started > 100 && waited > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(partitions_keep_their_limits)};
    return cmocka_run_group_tests_name("partition laws", tests, NULL, NULL);
}
