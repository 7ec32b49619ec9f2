/* What executors report of their hosts: hosts that are added, go down, come up and are detached. */
#include "policy_world.h"

#include "engine/cluster_model.h"
#include "engine/never_runs.h"

static int report(struct world *w, struct event_host host)
{
    outcome_clear(&w->out);
    return world_apply(w, (struct event){.kind = EVENT_HOST, .host = host}, NULL);
}

static int report_all(struct world *w, const struct event_host *hosts, uint32_t count)
{
    outcome_clear(&w->out);
    return world_apply(w, (struct event){.kind = EVENT_HOSTS, .hosts = {hosts, count}}, NULL);
}

static uint32_t submit(struct world *w, const char *terms)
{
    struct event job = world_job("ann");
    job.submit = job_with(job.submit, "%s", terms);
    return world_take(w, job);
}

static uint32_t starts(struct world *w)
{
    uint32_t count = 0;
    world_pass(w);
    for (uint32_t i = 0; i < w->out.decisions.count; i++) count += w->out.decisions.items[i].kind == DECIDE_START;
    outcome_clear(&w->out);
    return count;
}

static const struct host_row *row_of(const struct world *w, const char *name)
{
    return &w->s.hosts.items[state_find_object(&w->s, OBJECT_HOST, name)];
}

static void hosts_are_added_once(void **unused)
{
    (void)unused;
    struct world w;
    const struct event_host hosts[] = {{.name = "n1", .has = {4, 0, 1000}, .features = "avx"},
                                       {.name = "n2", .has = {8, 0, 1000}, .report = HOST_REPORT_DOWN}};
    world_init(&w, 2, 1000, 0);
    assert_int_equal(report_all(&w, hosts, 2), 0);
    assert_int_equal(w.out.changes.count, 2);
    assert_int_equal(row_of(&w, "n1")->host.has.cpus, 4);
    assert_true(row_of(&w, "n2")->is_attached && row_of(&w, "n2")->is_down);
    uint32_t n1 = state_find_object(&w.s, OBJECT_HOST, "n1");
    assert_string_equal(w.s.objects[OBJECT_HOST].items[n1].object.value[HOST_FEATURES].text, "avx");
    assert_int_equal(report_all(&w, hosts, 2), 0);
    assert_int_equal(w.out.changes.count, 0);
    assert_int_equal(w.s.objects[OBJECT_HOST].count, 3);
    world_release(&w);
}

static void a_wrong_host_refuses_all(void **unused)
{
    (void)unused;
    struct world w;
    struct event_host hosts[] = {{.name = "n1", .has = {4, 0, 1000}}, {.name = "a,b", .has = {8, 0, 1000}}};
    world_init(&w, 2, 1000, 0);
    assert_int_equal(report_all(&w, hosts, 2), -1);
    hosts[1] = (struct event_host){.name = "n2", .has = {8, 0, 1000}, .features = "a&b"};
    assert_int_equal(report_all(&w, hosts, 2), -1);
    assert_int_equal(w.s.objects[OBJECT_HOST].count, 1);
    assert_int_equal(w.s.object_by_name[OBJECT_HOST].count, 1);
    assert_int_equal(report(&w, (struct event_host){.name = "n1", .has = {4, 0, 1000}}), -1);
    world_release(&w);
}

static void nothing_starts_on_a_host_that_is_down(void **unused)
{
    (void)unused;
    struct world w;
    struct event_host n1 = {.name = "n1", .has = {4, 0, 1000}};
    world_init(&w, 0, 0, 0);
    assert_int_equal(report_all(&w, &n1, 1), 0);
    submit(&w, "cpus=2");
    assert_int_equal(starts(&w), 1);
    n1.report = HOST_REPORT_DOWN;
    assert_int_equal(report(&w, n1), 0);
    assert_int_equal(row_of(&w, "n1")->host.free_cpu_count, 2); /* its task is there until it is reported as ended */
    submit(&w, "cpus=2");                                       /* it waits, and is not refused */
    assert_int_equal(starts(&w), 0);
    world_object(&w, OBJECT_HOST, "n1", "state=DRAIN"); /* both have to say that it is up */
    n1.report = HOST_REPORT_UP;
    assert_int_equal(report(&w, n1), 0);
    assert_int_equal(starts(&w), 0);
    world_object(&w, OBJECT_HOST, "n1", "state=UP");
    assert_int_equal(starts(&w), 1);
    world_release(&w);
}

static void a_detached_host_offers_nothing(void **unused)
{
    (void)unused;
    struct world w;
    world_init(&w, 4, 1000, 0);
    assert_int_equal(report(&w, (struct event_host){.report = HOST_REPORT_DETACHED}), 0);
    assert_int_equal(w.s.host_sums.attached, 0);
    assert_int_equal(w.s.free_cpu_count, 0);
    struct event job = world_job("ann");
    job.submit = job_with(job.submit, "cpus=1");
    assert_int_equal(world_apply(&w, job, NULL), -1);
    world_release(&w);
}

static void each_host_has_its_load(void **unused)
{
    (void)unused;
    struct world w;
    const struct event_host hosts[] = {{.name = "n1", .has = {4, 0, 1000}}, {.name = "n2", .has = {4, 0, 1000}}};
    const struct host_load busy[] = {{"load_avg", "8"}}, idle[] = {{"load_avg", "1"}};
    world_init(&w, 0, 0, 0);
    assert_int_equal(report_all(&w, hosts, 2), 0);
    const struct event on_n1 = {.kind = EVENT_LOAD, .load = {.values = busy, .count = 1, .host = "n1"}};
    const struct event on_n2 = {.kind = EVENT_LOAD, .load = {.values = idle, .count = 1, .host = "n2"}};
    const struct event on_none = {.kind = EVENT_LOAD, .load = {.values = idle, .count = 1, .host = "n3"}};
    assert_int_equal(world_apply(&w, on_n1, NULL), 0);
    assert_int_equal(world_apply(&w, on_n2, NULL), 0);
    assert_int_equal(world_apply(&w, on_none, NULL), -1);
    assert_string_equal(row_of(&w, "n1")->loads[1].value, "2"); /* np_load_avg */
    assert_string_equal(row_of(&w, "n2")->loads[1].value, "0.25");
    uint32_t id = submit(&w, "cpus=1");
    assert_int_equal(starts(&w), 1);
    const struct task *k = &w.s.tasks.items[state_find_task(&w.s, id, 0)];
    assert_int_equal(k->placements[0].host, state_find_object(&w.s, OBJECT_HOST, "n2"));
    world_object(&w, OBJECT_PARTITION, "main", "load_thresholds=np_load_avg=1.5");
    submit(&w, "cpus=4"); /* n1 has four free CPUs, but too much load */
    assert_int_equal(starts(&w), 0);
    const struct event better = {.kind = EVENT_LOAD, .load = {.values = idle, .count = 1, .host = "n1"}};
    assert_int_equal(world_apply(&w, better, NULL), 0);
    assert_int_equal(starts(&w), 1);
    world_release(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hosts_are_added_once),
        cmocka_unit_test(a_wrong_host_refuses_all),
        cmocka_unit_test(nothing_starts_on_a_host_that_is_down),
        cmocka_unit_test(a_detached_host_offers_nothing),
        cmocka_unit_test(each_host_has_its_load),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
