/* Calendars in an instance: what starts beside closed times, when passes are due, who may change them, and what is said
 * about jobs that wait. */
#include "policy_world.h"

#include "engine/closed_times.h"
#include "engine/places.h"
#include "engine/priorities.h"
#include "engine/schedule.h"

/* Reports closed times of the calendar "night", in seconds from the world's begin. */
struct scene {
    struct world w;
    int64_t begin_us;
};

static void scene_init(struct scene *x, const char *settings)
{
    world_init(&x->w, 4, 100000, 0);
    world_settings(&x->w, settings);
    world_object(&x->w, OBJECT_CALENDAR, "night", "week=mon-fri=6-20");
    world_object(&x->w, OBJECT_PARTITION, "main", "calendar=night");
    x->begin_us = x->w.now_us;
}

static void report(struct scene *x, uint32_t count, const int64_t (*seconds)[2])
{
    struct closed_time times[8];
    for (uint32_t i = 0; i < count; i++)
        times[i] = (struct closed_time){x->begin_us + seconds[i][0] * SECOND,
                                        seconds[i][1] < 0 ? INT64_MAX : x->begin_us + seconds[i][1] * SECOND};
    const struct event_calendar calendar = {"night", times, count};
    const struct event event = {.kind = EVENT_CALENDARS, .calendars = {&calendar, 1}};
    assert_int_equal(world_apply(&x->w, event, NULL), 0);
}

static uint32_t submit(struct scene *x, const char *terms)
{
    struct event job = world_job("ann");
    job.submit = job_with(job.submit, "%s", terms);
    return world_take(&x->w, job);
}

static enum pending_reason reason_of(struct scene *x, uint32_t job_id)
{
    return job_pending_reason(&x->w.s, job_id, 1.0, x->w.now_us);
}

static void set_clock(struct scene *x, int64_t second)
{
    x->w.now_us = x->begin_us + second * SECOND;
}

static void a_job_starts_if_it_ends_before_its_queue_closes(void **unused)
{
    (void)unused;
    static const char *const models[] = {"PriorityType=priority/multifactor", "PriorityType=priority/basic",
                                         "PriorityType=priority/tickets params=DURATION_OFFSET=0"};
    static const int64_t closed[][2] = {{100, 200}, {300, 400}, {1000, -1}};
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        struct scene x;
        scene_init(&x, models[i]);
        report(&x, 3, closed);
        uint32_t longer = submit(&x, "time_limit_s=101"), exact = submit(&x, "time_limit_s=100");
        assert_int_equal(world_pass(&x.w), 1);
        assert_non_null(world_task(&x.w, exact, 0));
        assert_int_equal(reason_of(&x, longer), PENDING_PARTITION_CLOSED);
        assert_in_range(state_next_due_us(&x.w.s), x.w.now_us, x.begin_us + 200 * SECOND);
        set_clock(&x, 199);
        assert_int_equal(world_pass(&x.w), 0);
        set_clock(&x, 200); /* it closes at 300 */
        assert_int_equal(world_pass(&x.w), 0);
        assert_in_range(state_next_due_us(&x.w.s), x.w.now_us, x.begin_us + 400 * SECOND);
        set_clock(&x, 400);
        assert_int_equal(world_pass(&x.w), 1);
        assert_non_null(world_task(&x.w, longer, 0));
        assert_int_equal(world_task(&x.w, exact, 0)->state, JOB_STARTING); /* it goes on */
        world_release(&x.w);
    }
}

static void changes_make_a_pass_due(void **unused)
{
    (void)unused;
    static const int64_t closed[][2] = {{0, 100}}, other[][2] = {{50, 100}};
    struct scene x;
    scene_init(&x, "PriorityType=priority/multifactor");
    report(&x, 1, closed);
    uint32_t job = submit(&x, "time_limit_s=10");
    assert_int_equal(world_pass(&x.w), 0);
    assert_int_equal(closed_times_end(&x.w.s, 0, x.w.now_us), x.begin_us + 100 * SECOND);
    x.w.s.pass_is_due = false;
    report(&x, 1, closed);
    assert_false(x.w.s.pass_is_due);
    report(&x, 1, other);
    assert_true(x.w.s.pass_is_due);
    assert_int_equal(closed_times_end(&x.w.s, 0, x.w.now_us), 0);
    assert_int_equal(reason_of(&x, job), PENDING_NONE);
    assert_int_equal(world_pass(&x.w), 1);
    world_release(&x.w);
}

static void a_job_of_two_partitions_waits_for_none_that_is_open(void **unused)
{
    (void)unused;
    static const int64_t closed[][2] = {{0, 100}, {100, 150}};
    struct scene x;
    scene_init(&x, "PriorityType=priority/multifactor");
    world_object(&x.w, OBJECT_PARTITION, "open", "");
    report(&x, 2, closed);
    assert_int_equal(closed_times_end(&x.w.s, 0, x.w.now_us), x.begin_us + 150 * SECOND);
    uint32_t job = submit(&x, "time_limit_s=1000|partitions=main,open");
    assert_int_equal(reason_of(&x, job), PENDING_NONE);
    assert_int_equal(world_pass(&x.w), 1);
    world_release(&x.w);
}

/* 1000 s are never free. */
static void a_partition_may_never_be_open_for_so_long(void **unused)
{
    (void)unused;
    static const int64_t closed[][2] = {{100, 200}, {1199, 1300}, {1400, -1}};
    struct scene x;
    scene_init(&x, "PriorityType=priority/multifactor");
    report(&x, 3, closed);
    uint32_t job = submit(&x, "time_limit_s=1000"), shorter = submit(&x, "time_limit_s=999");
    struct schedule schedule;
    assert_int_equal(schedule_make(&x.w.s, x.w.now_us, SCHEDULE_WITH_ESTIMATES, &schedule, NULL), 0);
    assert_int_equal(schedule.rows.count, 2);
    for (uint32_t i = 0; i < 2; i++) {
        const struct schedule_row *row = &schedule.rows.items[i];
        bool is_shorter = x.w.s.jobs.items[row->job].id == shorter;
        assert_int_equal(row->start_us, is_shorter ? x.begin_us + 200 * SECOND : 0);
    }
    schedule_release(&schedule);
    assert_int_equal(reason_of(&x, job), PENDING_PARTITION_CLOSED);
    assert_false(closed_times_leave(&x.w.s, 0, x.w.now_us, 1000 * SECOND));
    assert_true(closed_times_leave(&x.w.s, 0, x.w.now_us, 999 * SECOND));
    world_release(&x.w);
}

/* The last, endless time stands for what is not known. */
static void an_opening_may_not_be_known(void **unused)
{
    (void)unused;
    static const int64_t closed[][2] = {{0, 100}, {100, -1}};
    struct scene x;
    scene_init(&x, "PriorityType=priority/multifactor");
    report(&x, 2, closed);
    assert_int_equal(closed_times_end(&x.w.s, 0, x.w.now_us), INT64_MAX);
    assert_int_equal(closed_times_next_opening(&x.w.s, x.w.now_us), 0);
    assert_false(closed_times_leave(&x.w.s, 0, x.w.now_us, 1));
    world_release(&x.w);
}

static int64_t place_state_of(struct scene *x, uint32_t place)
{
    struct arena arena = {0};
    struct place_list list;
    assert_int_equal(places_list(&x->w.s, x->w.now_us, &arena, &list, NULL), 0);
    assert_true(place < list.count);
    int64_t state = list.items[place].value[PLACE_FIELD_STATE].number;
    arena_release(&arena);
    return state;
}

static void places_are_closed(void **unused)
{
    (void)unused;
    static const int64_t closed[][2] = {{0, 100}};
    struct scene x;
    scene_init(&x, "PriorityType=priority/multifactor");
    world_object(&x.w, OBJECT_PARTITION, "open", "");
    report(&x, 1, closed);
    assert_int_equal(place_state_of(&x, 0), PLACE_CLOSED);
    assert_int_equal(place_state_of(&x, 1), PLACE_UP);
    set_clock(&x, 100);
    assert_int_equal(place_state_of(&x, 0), PLACE_UP);
    set_clock(&x, 99);
    world_object(&x.w, OBJECT_PARTITION, "main", "state=DOWN");
    assert_int_equal(place_state_of(&x, 0), PLACE_DOWN);
    world_release(&x.w);
}

/* It waits for its queue only if it would run into a closed time as it is planned. */
static void reasons_are_those_of_the_plan(void **unused)
{
    (void)unused;
    static const int64_t closed[][2] = {{100, 200}};
    static const struct {
        const char *settings, *terms;
        enum pending_reason reason;
    } rows[] = {
        {"PriorityType=priority/tickets params=DURATION_OFFSET=0", "time_limit_s=1000", PENDING_PARTITION_CLOSED},
        {"PriorityType=priority/tickets params=DURATION_OFFSET=0", "time_limit_s=1000|requests=h_rt=50", PENDING_NONE},
        {"PriorityType=priority/tickets params=DURATION_OFFSET=60", "time_limit_s=50", PENDING_PARTITION_CLOSED},
        {"PriorityType=priority/tickets params=DURATION_OFFSET=50", "time_limit_s=50", PENDING_NONE},
        {"PriorityType=priority/multifactor", "time_limit_s=1000|requests=h_rt=50", PENDING_PARTITION_CLOSED},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct scene x;
        scene_init(&x, rows[i].settings);
        world_object(&x.w, OBJECT_RESOURCE, "h_rt", "type=TIME|relop=<=|consumable=NO");
        report(&x, 1, closed);
        uint32_t job = submit(&x, rows[i].terms);
        assert_int_equal(reason_of(&x, job), rows[i].reason);
        assert_int_equal(world_pass(&x.w), rows[i].reason == PENDING_NONE);
        world_release(&x.w);
    }
}

/* A later report has no times that are over, and what is closed then begins with it. */
static void reports_of_the_same_times_change_nothing(void **unused)
{
    (void)unused;
    static const int64_t first[][2] = {{0, 10}, {20, 100}, {200, 300}}, later[][2] = {{30, 100}, {200, 300}};
    static const int64_t begin[][2] = {{30, 100}, {201, 300}}, end[][2] = {{30, 101}, {201, 300}};
    struct scene x;
    scene_init(&x, "PriorityType=priority/multifactor");
    report(&x, 3, first);
    set_clock(&x, 30);
    x.w.s.pass_is_due = false;
    report(&x, 2, later);
    assert_false(x.w.s.pass_is_due);
    report(&x, 2, begin);
    assert_true(x.w.s.pass_is_due);
    x.w.s.pass_is_due = false;
    report(&x, 2, end);
    assert_true(x.w.s.pass_is_due);
    x.w.s.pass_is_due = false;
    report(&x, 1, end);
    assert_true(x.w.s.pass_is_due);
    world_release(&x.w);
}

static void calendars_are_referred_to(void **unused)
{
    (void)unused;
    struct scene x;
    scene_init(&x, "PriorityType=priority/multifactor");
    struct world *w = &x.w;
    world_refuses(w, world_object_event(w, EVENT_OBJECT_DELETE, OBJECT_CALENDAR, "night", ""), ERR_CONFLICT,
                  "calendar 'night' is in use: without it, partition 'main': calendar: 'night' is not a calendar");
    world_refuses(w, world_object_event(w, EVENT_OBJECT_MODIFY, OBJECT_PARTITION, "main", "calendar=day"), ERR_INPUT,
                  "partition 'main': calendar: 'day' is not a calendar");
    world_refuses(w, world_object_event(w, EVENT_OBJECT_ADD, OBJECT_CALENDAR, "none", ""), ERR_INPUT,
                  "calendar: 'none' stands for no calendar where partitions name theirs; give another name");
    world_refuses(w, world_object_event(w, EVENT_OBJECT_MODIFY, OBJECT_CALENDAR, "night", "week=mon=6-20=suspended"),
                  ERR_INPUT,
                  "calendar 'night': week: 'suspended' in column 10 is a state that queues do not have; on and off are "
                  "accepted, and with off the running jobs go on");
    world_object(w, OBJECT_PARTITION, "main", "calendar=NONE");
    assert_int_equal(world_apply(w, world_object_event(w, EVENT_OBJECT_DELETE, OBJECT_CALENDAR, "night", ""), NULL), 0);
    world_release(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_starts_if_it_ends_before_its_queue_closes),
        cmocka_unit_test(changes_make_a_pass_due),
        cmocka_unit_test(a_job_of_two_partitions_waits_for_none_that_is_open),
        cmocka_unit_test(a_partition_may_never_be_open_for_so_long),
        cmocka_unit_test(an_opening_may_not_be_known),
        cmocka_unit_test(places_are_closed),
        cmocka_unit_test(reasons_are_those_of_the_plan),
        cmocka_unit_test(reports_of_the_same_times_change_nothing),
        cmocka_unit_test(calendars_are_referred_to),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
