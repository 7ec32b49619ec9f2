/* Reservations in an instance: a wide job is not overtaken, what fits before it starts; who gets them. */
#include "policy_world.h"

#include "engine/schedule.h"

static uint32_t submit(struct world *w, const char *terms)
{
    struct event job = world_job("ann");
    job.submit = job_with(job.submit, "%s", terms);
    return world_take(w, job);
}

static const char *ids(uint32_t a, uint32_t b)
{
    static char text[TEXT_MAX];
    if (b == 0)
        snprintf(text, sizeof text, "%u", a);
    else
        snprintf(text, sizeof text, "%u %u", a, b);
    return text;
}

/* 4 CPUs, of which a job has 3 for 100 seconds; then a job waits that asks for all of them for 50 s. */
struct scene {
    struct world w;
    uint32_t running, wide;
    int64_t begin_us;
};

static void scene_init(struct scene *x, const char *settings)
{
    world_init(&x->w, 4, 100000, 0);
    world_settings(&x->w, settings);
    x->running = submit(&x->w, "cpus=3|time_limit_s=100");
    x->begin_us = x->w.now_us;
    assert_int_equal(world_pass(&x->w), 1);
    world_run(&x->w, x->running, 0);
    x->wide = submit(&x->w, "cpus=4|time_limit_s=50");
}

static void small_jobs_start_if_they_end_before_a_reservation(void **unused)
{
    (void)unused;
    static const char *const models[] = {"priority/multifactor", "priority/basic"};
    for (size_t i = 0; i < 2; i++) {
        struct scene x;
        char model[TEXT_MAX];
        snprintf(model, sizeof model, "PriorityType=%s", models[i]);
        scene_init(&x, model);
        x.w.now_us += 10 * SECOND;
        uint32_t too_long = submit(&x.w, "time_limit_s=91"), exact = submit(&x.w, "time_limit_s=90");
        assert_string_equal(world_starts(&x.w), ids(exact, 0));
        world_end(&x.w, exact, 0);
        assert_int_equal(world_pass(&x.w), 0);
        x.w.now_us = x.begin_us + 99 * SECOND;
        world_end(&x.w, x.running, 0);
        assert_string_equal(world_starts(&x.w), ids(x.wide, 0));
        world_end(&x.w, x.wide, 0);
        assert_string_equal(world_starts(&x.w), ids(too_long, 0));
        world_release(&x.w);
    }
}

/* A stream of small jobs, two at each second, never keeps the wide job from its promised time. */
static void a_wide_job_starts_when_promised_behind_a_stream_of_small_ones(void **unused)
{
    (void)unused;
    struct scene x;
    scene_init(&x, "PriorityType=priority/multifactor");
    uint32_t started = 0;
    for (int second = 0; second < 100; second++) {
        (void)submit(&x.w, "time_limit_s=7");
        (void)submit(&x.w, "time_limit_s=200");
        started += world_pass(&x.w);
        assert_null(world_task(&x.w, x.wide, 0));
        x.w.now_us += SECOND;
        for (uint32_t i = 0; i < x.w.s.tasks.count; i++) {
            const struct task *k = &x.w.s.tasks.items[i];
            bool is_over =
                !job_state_is_end(k->state) && k->job_id != x.running && k->launch_us + 7 * SECOND <= x.w.now_us;
            if (is_over) world_end(&x.w, k->job_id, 0);
        }
    }
    assert_int_equal(started, 14); /* each of 7 seconds, one at a time */
    world_end(&x.w, x.running, 0);
    assert_string_equal(world_starts(&x.w), ids(x.wide, 0));
    world_release(&x.w);
}

static void settings_say_who_gets_reservations(void **unused)
{
    (void)unused;
    static const struct {
        const char *settings;
        bool is_reserved;
    } rows[] = {
        {"PriorityType=priority/multifactor", true},
        {"PriorityType=priority/multifactor reservations=none", false},
        {"PriorityType=priority/multifactor reservation_depth=0", false},
        {"PriorityType=priority/multifactor reservation_depth=1", true},
        {"PriorityType=priority/multifactor reservations=requested", false},
        {"PriorityType=priority/tickets", false},
        {"PriorityType=priority/tickets reservations=all", true},
        {"PriorityType=priority/multifactor bf_window=1", false}, /* it would begin 100 s from now */
        {"PriorityType=priority/multifactor bf_window=2", true},
        {"PriorityType=priority/multifactor bf_window=UNLIMITED", true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct scene x;
        scene_init(&x, rows[i].settings);
        uint32_t small = submit(&x.w, "time_limit_s=200");
        assert_string_equal(world_starts(&x.w), rows[i].is_reserved ? "" : ids(small, 0));
        world_release(&x.w);
    }
}

static int64_t expected_start_us(struct world *w, uint32_t job_id)
{
    struct schedule schedule;
    int64_t start_us = 0;
    assert_int_equal(schedule_make(&w->s, w->now_us, SCHEDULE_WITHOUT_ESTIMATES, &schedule, NULL), 0);
    for (uint32_t i = 0; i < schedule.rows.count; i++) {
        const struct schedule_row *row = &schedule.rows.items[i];
        if (w->s.jobs.items[row->job].id == job_id && row->state != SCHEDULE_WAITING) start_us = row->start_us;
    }
    schedule_release(&schedule);
    return start_us;
}

/* Its end is expected 1, 2, 4, 8 s after its limit, and then at the times that are a schedule interval apart. */
static void what_runs_too_long_moves_reservations(void **unused)
{
    (void)unused;
    struct scene x;
    scene_init(&x, "schedule_interval=15");
    assert_int_equal(expected_start_us(&x.w, x.wide), x.begin_us + 100 * SECOND);
    x.w.now_us = x.begin_us + 100 * SECOND;
    assert_int_equal(expected_start_us(&x.w, x.wide), x.begin_us + 101 * SECOND);
    uint32_t small = submit(&x.w, "time_limit_s=10");
    assert_int_equal(world_pass(&x.w), 0); /* no short job is backfilled while the last one is being ended */
    assert_int_equal(state_next_due_us(&x.w.s), x.begin_us + 101 * SECOND);
    x.w.now_us = x.begin_us + 107 * SECOND;
    assert_int_equal(expected_start_us(&x.w, x.wide), x.begin_us + 108 * SECOND);
    assert_int_equal(world_pass(&x.w), 0);
    x.w.now_us = x.begin_us + 114 * SECOND;
    assert_int_equal(expected_start_us(&x.w, x.wide), x.begin_us + 115 * SECOND);
    assert_int_equal(world_pass(&x.w), 0);
    assert_int_equal(state_next_due_us(&x.w.s), x.begin_us + 115 * SECOND);
    x.w.now_us = x.begin_us + 115 * SECOND;
    assert_string_equal(world_starts(&x.w), ids(small, 0)); /* the wide job is now expected at 130 */
    world_release(&x.w);
}

/* Nothing starts on a drained host, and nothing is reserved there; what runs goes on. */
static void a_drained_host_starts_nothing(void **unused)
{
    (void)unused;
    struct scene x;
    scene_init(&x, "PriorityType=priority/multifactor");
    world_object(&x.w, OBJECT_HOST, "localhost", "state=DRAIN");
    uint32_t small = submit(&x.w, "time_limit_s=10");
    assert_int_equal(world_pass(&x.w), 0);
    assert_int_equal(expected_start_us(&x.w, x.wide), 0);
    world_object(&x.w, OBJECT_HOST, "localhost", "state=UP");
    assert_string_equal(world_starts(&x.w), ids(small, 0));
    world_object(&x.w, OBJECT_PARTITION, "main", "state=DOWN");
    (void)submit(&x.w, "time_limit_s=10");
    world_end(&x.w, small, 0);
    assert_int_equal(world_pass(&x.w), 0);
    world_release(&x.w);
}

static void reservations_begin_at_multiples_of_the_resolution(void **unused)
{
    (void)unused;
    struct scene x;
    scene_init(&x, "bf_resolution=77");
    int64_t end_us = x.begin_us + 100 * SECOND;
    assert_true(end_us % (77 * SECOND) != 0);
    assert_int_equal(expected_start_us(&x.w, x.wide), end_us + 77 * SECOND - end_us % (77 * SECOND));
    world_set(&x.w, "bf_resolution", "0");
    assert_int_equal(expected_start_us(&x.w, x.wide), end_us);
    world_release(&x.w);
}

/* After the wide job, which cannot start, one more is tried, or one of each user. */
static void few_jobs_are_tried_after_one_that_cannot_start(void **unused)
{
    (void)unused;
    static const struct {
        const char *settings;
        int started;
    } rows[] = {
        {"bf_max_job_test=0 reservations=none", 1}, {"bf_max_job_test=1 reservations=none", 0},
        {"bf_max_job_test=2 reservations=none", 1}, {"bf_max_job_user=1 reservations=none", 0},
        {"bf_max_job_user=2 reservations=none", 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct scene x;
        scene_init(&x, rows[i].settings);
        (void)submit(&x.w, "cpus=2");
        (void)submit(&x.w, "cpus=1");
        assert_int_equal(world_pass(&x.w), rows[i].started);
        world_release(&x.w);
    }
}

/* A queue's slots limit its jobs, whatever the host has. */
static void slots_of_a_queue_limit_its_jobs(void **unused)
{
    (void)unused;
    struct world w;
    world_init(&w, 8, 100000, 0);
    world_object(&w, OBJECT_PARTITION, "main", "slots=2");
    world_object(&w, OBJECT_PARTITION, "big", "slots=100");
    for (int i = 0; i < 5; i++) (void)submit(&w, "cpus=1");
    assert_int_equal(world_pass(&w), 2);
    for (int i = 0; i < 9; i++) (void)submit(&w, "cpus=1|partitions=big");
    assert_int_equal(world_pass(&w), 6); /* the host's other CPUs */
    world_release(&w);
}

/* What runs on a host that its queue has left keeps what it has of the host, and takes no slots of another queue. */
static void a_queue_leaves_a_host_on_which_its_jobs_run(void **unused)
{
    (void)unused;
    struct world w;
    world_init(&w, 8, 100000, 0);
    world_object(&w, OBJECT_PARTITION, "main", "slots=2");
    world_object(&w, OBJECT_PARTITION, "old", "slots=2");
    (void)submit(&w, "cpus=2|partitions=old");
    assert_int_equal(world_pass(&w), 1);
    world_object(&w, OBJECT_PARTITION, "old", "hosts=NONE");
    (void)submit(&w, "cpus=2|partitions=main");
    assert_int_equal(world_pass(&w), 1);
    world_object(&w, OBJECT_PARTITION, "main", "slots=100");
    for (int i = 0; i < 9; i++) (void)submit(&w, "cpus=1|partitions=main");
    assert_int_equal(world_pass(&w), 4); /* the host's other CPUs */
    world_release(&w);
}

/* The former time limit of a task that has ended makes no pass due. */
static void ended_tasks_want_no_pass(void **unused)
{
    (void)unused;
    struct scene x;
    scene_init(&x, "PriorityType=priority/multifactor");
    uint32_t small = submit(&x.w, "time_limit_s=7");
    (void)submit(&x.w, "time_limit_s=300"); /* it would delay the wide one */
    assert_string_equal(world_starts(&x.w), ids(small, 0));
    assert_int_equal(state_next_due_us(&x.w.s), x.w.now_us + 7 * SECOND);
    world_end(&x.w, small, 0);
    assert_int_equal(world_pass(&x.w), 0);
    assert_int_equal(state_next_due_us(&x.w.s), x.w.now_us + 60 * SECOND);
    world_release(&x.w);
}

/* All tasks of an array are planned before the jobs behind it, in each model. */
static void estimates_know_all_tasks_of_an_array(void **unused)
{
    (void)unused;
    static const char *const models[] = {"priority/multifactor", "priority/tickets"};
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        struct scene x;
        struct schedule schedule;
        char settings[TEXT_MAX];
        snprintf(settings, sizeof settings, "PriorityType=%s reservations=none params=DURATION_OFFSET=0", models[i]);
        scene_init(&x, settings);
        (void)submit(&x.w, "cpus=4|time_limit_s=50|array=1-2");
        (void)submit(&x.w, "cpus=4|time_limit_s=50");
        assert_int_equal(schedule_make(&x.w.s, x.begin_us, SCHEDULE_WITH_ESTIMATES, &schedule, NULL), 0);
        const struct schedule_row *last = &schedule.rows.items[schedule.rows.count - 1];
        assert_int_equal(schedule.rows.count, 4); /* the running job, the wide one, the array, the last one */
        assert_int_equal(last->start_us, x.begin_us + (100 + 3 * 50) * SECOND);
        schedule_release(&schedule);
        world_release(&x.w);
    }
}

/* Grid Engine's reading: who asks gets one, up to max_reservation. */
static void jobs_that_ask_get_reservations(void **unused)
{
    (void)unused;
    static const struct {
        const char *settings;
        bool is_reserved;
    } rows[] = {
        {"PriorityType=priority/tickets", false},
        {"PriorityType=priority/tickets max_reservation=1", true},
        {"PriorityType=priority/multifactor reservations=requested", false},
        {"PriorityType=priority/multifactor reservations=requested max_reservation=1", true},
        {"PriorityType=priority/multifactor reservations=none max_reservation=1", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct scene x;
        scene_init(&x, rows[i].settings);
        assert_int_equal(world_apply(&x.w, world_update(x.wide, job_text("reserve=true")), NULL), 0);
        uint32_t small = submit(&x.w, "time_limit_s=200");
        assert_string_equal(world_starts(&x.w), rows[i].is_reserved ? "" : ids(small, 0));
        world_release(&x.w);
    }
}

/* A parallel environment limits the slots of its jobs together, and its rule says what fits on one host. */
static void environments_limit_their_jobs(void **unused)
{
    (void)unused;
    struct world w;
    world_init(&w, 8, 100000, 0);
    world_object(&w, OBJECT_ENVIRONMENT, "smp", "slots=3");
    world_object(&w, OBJECT_ENVIRONMENT, "two", "allocation_rule=2");
    world_object(&w, OBJECT_ENVIRONMENT, "alone", "");
    world_object(&w, OBJECT_PARTITION, "main", "pe_list=smp,two");
    uint32_t first = submit(&w, "cpus=2|pe=smp"), second = submit(&w, "cpus=2|pe=smp");
    uint32_t plain = submit(&w, "cpus=2"), pair = submit(&w, "cpus=2|pe=two");
    char expected[TEXT_MAX];
    snprintf(expected, sizeof expected, "%u %u %u", first, plain, pair);
    assert_string_equal(world_starts(&w), expected);
    world_end(&w, first, 0);
    assert_string_equal(world_starts(&w), ids(second, 0));
    struct event job = world_job("ann");
    job.submit = job_with(job.submit, "cpus=4|pe=two");
    world_refuses(&w, job, ERR_INPUT, "cpus: 4 can never run: asks for 4 slots, 2 on each host; at most 2 would fit");
    job.submit = job_with(job.submit, "cpus=1|pe=alone");
    world_refuses(
        &w, job, ERR_INPUT,
        "pe: 'alone' can never run: the parallel environment 'alone' is not in the pe_list of partition 'main'; it is in none");
    job.submit = job_with(job.submit, "cpus=4|pe=smp");
    world_refuses(&w, job, ERR_INPUT, "cpus: 4 can never run: asks for 4 slots; the parallel environment 'smp' has 3");
    world_object(&w, OBJECT_PARTITION, "main", "pe_list=smp");
    world_refuses(&w, world_object_event(&w, EVENT_OBJECT_DELETE, OBJECT_ENVIRONMENT, "two", ""), ERR_CONFLICT,
                  "pe 'two' is in use by 1 live job");
    world_release(&w);
}

/* 1 to 4 slots in pairs: two are reserved, so that small jobs do not overtake it for ever. */
static void a_range_in_pairs_gets_a_reservation(void **unused)
{
    (void)unused;
    struct world w;
    world_init(&w, 2, 100000, 0);
    world_object(&w, OBJECT_ENVIRONMENT, "two", "allocation_rule=2");
    world_object(&w, OBJECT_PARTITION, "main", "pe_list=two");
    uint32_t first = submit(&w, "cpus=1|time_limit_s=100"), second = submit(&w, "cpus=1|time_limit_s=50");
    assert_int_equal(world_pass(&w), 2);
    uint32_t wide = submit(&w, "cpus=1|slots_max=2|pe=two|time_limit_s=10");
    uint32_t small = submit(&w, "cpus=1|time_limit_s=200");
    world_end(&w, second, 0);
    assert_int_equal(world_pass(&w), 0);
    world_end(&w, first, 0);
    assert_string_equal(world_starts(&w), ids(wide, 0));
    world_end(&w, wide, 0);
    assert_string_equal(world_starts(&w), ids(small, 0));
    world_release(&w);
}

/* 0.1 + 0.2 - 0.2 is not 0.1: bookings of fractions leave nothing behind. */
static void fractions_are_given_back(void **unused)
{
    (void)unused;
    struct world w;
    world_init(&w, 8, 100000, 0);
    world_object(&w, OBJECT_RESOURCE, "share", "type=DOUBLE|amount=1");
    for (int round = 0; round < 200; round++) {
        uint32_t some = submit(&w, "requests=share=0.1|time_limit_s=60");
        uint32_t other = submit(&w, "requests=share=0.7|time_limit_s=60");
        assert_string_equal(world_starts(&w), ids(some, other));
        assert_int_equal(submit(&w, "requests=share=0.3|time_limit_s=60"), other + 1);
        assert_int_equal(world_pass(&w), 0);
        world_end(&w, some, 0);
        assert_int_equal(world_pass(&w), 1);
        world_end(&w, other, 0);
        world_end(&w, other + 1, 0);
        engine_forget(&w.s);
    }
    world_release(&w);
}

/* Nothing else can start in the pass that fills the host, so the other tasks of the array get no reservations, and no
 * later pass looks after them. */
static void an_array_that_fills_the_host_gets_no_reservations(void **unused)
{
    (void)unused;
    static const char *const models[] = {"priority/multifactor", "priority/basic", "priority/tickets"};
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++) {
        struct world w;
        char model[TEXT_MAX];
        world_init(&w, 4, 100000, 0);
        snprintf(model, sizeof model, "PriorityType=%s", models[i]);
        world_settings(&w, model);
        submit(&w, "array=0-99|time_limit_s=100");
        assert_int_equal(world_pass(&w), 4);
        assert_int_equal(state_next_due_us(&w.s), 0);
        world_release(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_jobs_start_if_they_end_before_a_reservation),
        cmocka_unit_test(a_wide_job_starts_when_promised_behind_a_stream_of_small_ones),
        cmocka_unit_test(settings_say_who_gets_reservations),
        cmocka_unit_test(what_runs_too_long_moves_reservations),
        cmocka_unit_test(a_drained_host_starts_nothing),
        cmocka_unit_test(reservations_begin_at_multiples_of_the_resolution),
        cmocka_unit_test(few_jobs_are_tried_after_one_that_cannot_start),
        cmocka_unit_test(slots_of_a_queue_limit_its_jobs),
        cmocka_unit_test(estimates_know_all_tasks_of_an_array),
        cmocka_unit_test(ended_tasks_want_no_pass),
        cmocka_unit_test(a_queue_leaves_a_host_on_which_its_jobs_run),
        cmocka_unit_test(jobs_that_ask_get_reservations),
        cmocka_unit_test(environments_limit_their_jobs),
        cmocka_unit_test(a_range_in_pairs_gets_a_reservation),
        cmocka_unit_test(fractions_are_given_back),
        cmocka_unit_test(an_array_that_fills_the_host_gets_no_reservations),
    };
    return cmocka_run_group_tests_name("reservations", tests, NULL, NULL);
}
