/* Load values of an instance: requests for them, thresholds, adjustments, and what a report changes. */
#include "policy_world.h"

#include "engine/live_cluster.h"

/* Reports "name=value name=value". */
static void report(struct world *w, const char *values)
{
    char text[TEXT_MAX];
    struct host_load loads[16];
    struct event_pair pairs[PAIRS_MAX];
    snprintf(text, sizeof text, "%s", values);
    uint32_t count = world_pairs(text, pairs);
    for (uint32_t i = 0; i < count; i++) loads[i] = (struct host_load){pairs[i].key, pairs[i].value};
    outcome_clear(&w->out);
    assert_int_equal(
        world_apply(w, (struct event){.kind = EVENT_LOAD, .load = {.values = loads, .count = count}}, NULL), 0);
    assert_int_equal(w->out.changes.count, 0);
}

static uint32_t submit(struct world *w, const char *terms)
{
    struct event job = world_job("ann");
    job.submit = job_with(job.submit, "%s", terms);
    return world_take(w, job);
}

static const char *load_of(const struct world *w, const char *name)
{
    for (uint32_t i = 0; i < w->s.hosts.items[0].load_count; i++) {
        if (strcmp(w->s.hosts.items[0].loads[i].name, name) == 0) return w->s.hosts.items[0].loads[i].value;
    }
    return "-";
}

static void a_report_replaces_the_last_one(void **unused)
{
    (void)unused;
    struct world w;
    world_init(&w, 4, 100000, 0);
    report(&w, "load_avg=2 num_proc=4 np_load_avg=77 mem_free=1G mem_free=2G arch=lx-amd64");
    assert_string_equal(load_of(&w, "np_load_avg"), "0.5");
    assert_string_equal(load_of(&w, "np_load_short"), "-");
    assert_string_equal(load_of(&w, "mem_free"), "2G");
    world_set(&w, "host_cpus", "3"); /* the host is made anew */
    assert_string_equal(load_of(&w, "arch"), "lx-amd64");
    report(&w, "load_avg=2 num_proc=none");
    assert_string_equal(load_of(&w, "arch"), "-");
    assert_string_equal(load_of(&w, "np_load_avg"), "0.6666666666666666"); /* of its 3 CPUs */
    world_release(&w);
}

static void a_request_waits_for_a_value(void **unused)
{
    (void)unused;
    struct world w;
    world_init(&w, 4, 100000, 0);
    report(&w, "mem_free=1G arch=lx-amd64");
    uint32_t large = submit(&w, "requests=mem_free=2G"), small = submit(&w, "requests=mem_free=1G");
    char started[TEXT_MAX];
    snprintf(started, sizeof started, "%u", small);
    assert_string_equal(world_starts(&w), started);
    assert_int_equal(world_pass(&w), 0);
    report(&w, "mem_free=1.5G arch=lx-amd64");
    assert_true(w.s.pass_is_due);
    assert_int_equal(world_pass(&w), 0);
    report(&w, "mem_free=1.5G arch=lx-amd64");
    assert_false(w.s.pass_is_due); /* nothing has changed */
    uint32_t made = w.s.live_cluster->made;
    report(&w, "mem_free=2G arch=lx-amd64");
    snprintf(started, sizeof started, "%u", large);
    assert_string_equal(world_starts(&w), started);
    assert_int_equal(w.s.live_cluster->made, made); /* the bookings stay */
    world_release(&w);
}

static void texts_are_compared(void **unused)
{
    (void)unused;
    struct world w;
    world_init(&w, 4, 100000, 0);
    report(&w, "m_topology_inuse=lx-amd64");
    uint32_t other = submit(&w, "requests=m_topology_inuse=lx-arm64"),
             same = submit(&w, "requests=m_topology_inuse=lx-amd64");
    char started[TEXT_MAX];
    snprintf(started, sizeof started, "%u", same);
    assert_string_equal(world_starts(&w), started);
    world_run(&w, same, 0);
    world_end(&w, same, 0);
    for (int i = 0; i < 200; i++) { /* the demand outlives the job's text */
        (void)submit(&w, "requests=m_topology_inuse=lx-other");
        engine_forget(&w.s);
    }
    uint32_t again = submit(&w, "requests=m_topology_inuse=lx-amd64");
    snprintf(started, sizeof started, "%u", again);
    assert_string_equal(world_starts(&w), started);
    report(&w, "m_topology_inuse=lx-arm64");
    snprintf(started, sizeof started, "%u", other);
    assert_string_equal(world_starts(&w), started);
    world_release(&w);
}

/* Before its sensor has reported, and after it has failed. */
static void a_value_that_is_not_reported_satisfies_no_request(void **unused)
{
    (void)unused;
    struct world w;
    world_init(&w, 4, 100000, 0);
    world_object(&w, OBJECT_RESOURCE, "scratch", "type=MEMORY|consumable=NO");
    world_object(&w, OBJECT_RESOURCE, "license", "type=INT");
    struct event refused = world_job("ann");
    refused.submit = job_with(refused.submit, "requests=scratch=5G");
    world_refuses(&w, refused, ERR_INPUT,
                  "requests: 'scratch=5G' can never run: asks for scratch=5G; no host has that resource; "
                  "complex_values of host 'localhost' can have it");
    uint32_t free = submit(&w, "requests=license=2");
    char started[TEXT_MAX];
    snprintf(started, sizeof started, "%u", free); /* an amount that nothing limits */
    assert_string_equal(world_starts(&w), started);
    world_set(&w, "load_sensor", "/bin/scratch");
    uint32_t job = submit(&w, "requests=scratch=5G");
    assert_int_equal(world_pass(&w), 0);
    report(&w, "scratch=6G");
    snprintf(started, sizeof started, "%u", job);
    assert_string_equal(world_starts(&w), started);
    (void)submit(&w, "requests=scratch=5G");
    report(&w, "load_avg=1");
    assert_int_equal(world_pass(&w), 0);
    world_release(&w);
}

/* An amount that nothing offers has no limit, unless load sensors may report it: until then jobs wait. */
static void amounts_of_sensors_are_waited_for(void **unused)
{
    (void)unused;
    struct world w;
    world_init(&w, 4, 100000, 0);
    world_object(&w, OBJECT_RESOURCE, "lic", "");
    (void)submit(&w, "requests=lic=1");
    assert_int_equal(world_pass(&w), 1);
    world_set(&w, "load_sensor", "/bin/lic");
    for (int i = 0; i < 3; i++) (void)submit(&w, "requests=lic=1");
    assert_int_equal(world_pass(&w), 0);
    report(&w, "lic=2");
    assert_int_equal(world_pass(&w), 1); /* one runs */
    report(&w, "num_proc=4");
    assert_int_equal(world_pass(&w), 0); /* the sensor has failed */
    world_release(&w);
}

static void what_is_no_value_is_left_out(void **unused)
{
    (void)unused;
    struct world w;
    world_init(&w, 4, 100000, 0);
    report(&w, "mem_free=much unknown=5 num_proc=-1 load_avg=nan cpu=inf arch=x");
    world_object(&w, OBJECT_PARTITION, "main", "load_thresholds=cpu=99");
    (void)submit(&w, "");
    assert_int_equal(world_pass(&w), 0); /* an unknown load is a very high one */
    report(&w, "cpu=5");
    assert_int_equal(world_pass(&w), 1);
    world_object(&w, OBJECT_RESOURCE, "unknown", "type=STRING|consumable=NO"); /* any resource may come and go */
    world_object(&w, OBJECT_RESOURCE, "unknown", "type=INT");
    world_release(&w);
}

static void standard_resources_are_defined_by_requests(void **unused)
{
    (void)unused;
    struct world w;
    world_init(&w, 4, 100000, 0);
    struct event job = world_job("ann");
    job.submit = job_with(job.submit, "requests=mem_free=1G");
    world_refuses(&w, job, ERR_NOT_FOUND, "mem_free");
    report(&w, "mem_free=1G arch=x");
    struct event refused = world_job("ann");
    refused.submit = job_with(refused.submit, "requests=mem_free=1G,arch=x|cpus=99");
    world_refuses(&w, refused, ERR_TOO_LARGE, "99");
    assert_int_equal(state_find_object(&w.s, OBJECT_RESOURCE, "mem_free"), NONE);
    struct event run_time = world_job("ann");
    run_time.submit = job_with(run_time.submit, "requests=h_rt=10");
    world_refuses(&w, run_time, ERR_NOT_FOUND, "h_rt"); /* it is no load value */
    uint32_t id = world_take(&w, job);
    uint32_t index = state_find_object(&w.s, OBJECT_RESOURCE, "mem_free");
    assert_int_not_equal(index, NONE);
    assert_int_equal(w.s.objects[OBJECT_RESOURCE].items[index].object.value[RESOURCE_TYPE].number, RESOURCE_MEMORY);
    assert_int_equal(world_pass(&w), 1);
    uint32_t other = submit(&w, "");
    world_refuses(&w, world_update(other, job_text("requests=arch=y")), ERR_INPUT, "asks for arch=y; its hosts have x");
    assert_int_equal(world_apply(&w, world_update(other, job_text("requests=mem_free=2G,arch=x")), NULL), 0);
    assert_int_equal(world_pass(&w), 0); /* a load value changes */
    report(&w, "mem_free=1G");
    (void)submit(&w, "requests=arch=y"); /* it is not reported yet */
    assert_non_null(world_task(&w, id, 0));
    world_release(&w);
}

/* np_load_avg is 1.0 at first; each start adds 0.5/4 for each of its slots, which fades over 100 seconds. */
static void starts_raise_the_load_for_a_while(void **unused)
{
    (void)unused;
    struct world w;
    world_init(&w, 4, 100000, 0);
    world_settings(&w, "load_adjustment_decay_time=100 job_load_adjustments=np_load_avg=0.50 schedule_interval=10");
    world_object(&w, OBJECT_PARTITION, "main", "load_thresholds=np_load_avg=1.2");
    report(&w, "load_avg=4 num_proc=4");
    uint32_t first = submit(&w, "cpus=2"), second = submit(&w, "");
    char started[TEXT_MAX];
    snprintf(started, sizeof started, "%u", first);
    assert_string_equal(world_starts(&w), started); /* 1.25 */
    w.now_us += 10 * SECOND;
    assert_int_equal(world_pass(&w), 0); /* 1.225 */
    assert_int_equal(state_next_due_us(&w.s), w.now_us + 10 * SECOND);
    live_cluster_invalidate(&w.s);
    w.now_us += 10 * SECOND;
    assert_int_equal(world_pass(&w), 0); /* 1.2 */
    w.now_us += 10 * SECOND;
    snprintf(started, sizeof started, "%u", second);
    assert_string_equal(world_starts(&w), started); /* 1.175 */
    (void)submit(&w, "");
    world_end(&w, first, 0);
    assert_int_equal(world_pass(&w), 1); /* 1.125: only what runs counts */
    world_release(&w);
}

static void only_what_jobs_depend_on_makes_a_pass_due(void **unused)
{
    (void)unused;
    struct world w;
    world_init(&w, 1, 100000, 0);
    report(&w, "load_avg=4 num_proc=4 mem_free=1G");
    (void)submit(&w, "");
    (void)submit(&w, "");
    assert_int_equal(world_pass(&w), 1);
    report(&w, "load_avg=3 num_proc=4 mem_free=2G");
    assert_false(w.s.pass_is_due);
    world_object(&w, OBJECT_PARTITION, "main", "load_thresholds=np_load_avg=9");
    (void)world_pass(&w);
    world_release(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_report_replaces_the_last_one),
        cmocka_unit_test(a_request_waits_for_a_value),
        cmocka_unit_test(texts_are_compared),
        cmocka_unit_test(a_value_that_is_not_reported_satisfies_no_request),
        cmocka_unit_test(amounts_of_sensors_are_waited_for),
        cmocka_unit_test(what_is_no_value_is_left_out),
        cmocka_unit_test(standard_resources_are_defined_by_requests),
        cmocka_unit_test(starts_raise_the_load_for_a_while),
        cmocka_unit_test(only_what_jobs_depend_on_makes_a_pass_due),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
