/* Jobs that wait for others, and requeuing, in the engine: what each condition means, what is refused, what follows. */
#include "dies.h"
#include "engine/dependencies.h"
#include "engine/dependents.h"
#include "engine/job_waits.h"
#include "engine/state_rows.h"
#include "engine_world.h"

static struct world w;

static void open_world(void)
{
    world_init(&w, 8, 8000, 0);
    world_set(&w, "PriorityWeightAge", "1000");
    world_set(&w, "requeue_delay_s", "0");
}

/* fields: as in job_text, "" for none. */
static uint32_t submit(const char *name, const char *fields)
{
    uint32_t id = 0;
    const struct job_values *job = job_text("name=%s|directory=/home/x|command=true|cpus=1|mem_mib=1%s%s", name,
                                            fields[0] != '\0' ? "|" : "", fields);
    const struct event event = {.kind = EVENT_SUBMIT, .actor = {1000, 1000, "ann", ROLE_USER}, .submit = job};
    if (world_apply(&w, event, &id) != 0) fail_msg("%s", ERR_SENTENCE(&w.e));
    return id;
}

static const struct job *job_of(uint32_t id)
{
    uint32_t index = state_find_job(&w.s, id);
    return index != NONE ? &w.s.jobs.items[index] : NULL;
}

static const char *dependency_of(uint32_t id)
{
    static char text[200];
    struct buf out = {0};
    buf_add_char(&out, '<');
    dependency_text_format(job_of(id)->dependency, &out);
    snprintf(text, sizeof text, "%s", out.text + 1);
    buf_release(&out);
    return text;
}

static void pass(void)
{
    w.s.pass_is_due = true;
    (void)world_pass(&w);
}

/* Start records of all that was launched. */
static void begin_all(void)
{
    for (uint32_t i = 0; i < w.s.tasks.count; i++) {
        const struct task *k = &w.s.tasks.items[i];
        if (k->state == JOB_STARTING) world_started(&w, k->launch_id);
    }
}

static bool runs(uint32_t id, uint32_t task)
{
    return world_task(&w, id, task) != NULL;
}

static void end_with(uint32_t id, uint32_t task, enum job_state end, int32_t status)
{
    const struct task *k = world_task(&w, id, task);
    assert_non_null(k);
    struct event event = {
        .kind = EVENT_ENDED,
        .record = {
            .launch_id = k->launch_id, .at_us = w.now_us, .started_us = w.now_us, .end = end, .exit_status = status}};
    assert_int_equal(world_apply(&w, event, NULL), 0);
}

static void refuses(uint32_t update_of, const char *dependency, const char *message)
{
    const struct job_values *job =
        job_with(job_text("name=new|directory=/home/x|command=true|cpus=1|mem_mib=1"), "dependency=%s", dependency);
    struct event event = {.kind = EVENT_SUBMIT, .actor = {1000, 1000, "ann", ROLE_USER}, .submit = job};
    enum err_code code = strstr(message, "does not exist") != NULL || strstr(message, "no pending") != NULL
                             ? ERR_NOT_FOUND
                         : strstr(message, "would wait for itself") != NULL ? ERR_CONFLICT
                                                                            : ERR_INPUT;
    if (update_of != 0) event = world_update(update_of, job_text("dependency=%s", dependency));
    world_refuses(&w, event, code, message);
}

/* What a condition about a job becomes when the job ends: met, waiting, or never met. */
static void each_type_waits_for_its_outcome(void **unused)
{
    (void)unused;
    static const struct {
        const char *type;
        enum job_state end;
        const char *left;
    } rows[] = {
        {"afterok", JOB_COMPLETED, ""},
        {"afterok", JOB_FAILED, "afterok:1(failed)"},
        {"afterok", JOB_TIMEOUT, "afterok:1(failed)"},
        {"afternotok", JOB_FAILED, ""},
        {"afternotok", JOB_COMPLETED, "afternotok:1(failed)"},
        {"afterany", JOB_COMPLETED, ""},
        {"afterany", JOB_NODE_FAIL, ""},
        {"hold_jid", JOB_FAILED, ""},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char fields[64];
        snprintf(fields, sizeof fields, "dependency=%s:1", rows[i].type);
        open_world();
        uint32_t first = submit("first", ""), second = submit("second", fields);
        pass();
        assert_true(runs(first, 0) && !runs(second, 0));
        assert_int_equal(job_of(second)->accrue_us, 0);
        w.now_us += 5 * SECOND;
        end_with(first, 0, rows[i].end, 0);
        assert_string_equal(dependency_of(second), rows[i].left);
        assert_int_equal(job_of(second)->accrue_us, rows[i].left[0] == '\0' ? w.now_us : 0);
        pass();
        assert_true(runs(second, 0) == (rows[i].left[0] == '\0'));
        world_release(&w);
    }
}

static void after_waits_for_the_start_and_minutes(void **unused)
{
    (void)unused;
    open_world();
    uint32_t first = submit("first", "held=true"), second = submit("second", "dependency=after:1");
    uint32_t third = submit("third", "dependency=after:1+2");
    pass();
    assert_false(runs(second, 0));
    const struct job_ref ref = {first, NONE};
    assert_int_equal(world_apply(&w, (struct event){.kind = EVENT_RELEASE, .jobs = {.refs = &ref, .count = 1}}, NULL),
                     0);
    pass();
    assert_true(runs(first, 0));
    assert_string_equal(dependency_of(second), "after:1");
    begin_all();
    assert_string_equal(dependency_of(second), "");
    assert_string_equal(dependency_of(third), "after:1+2@1700000120");
    w.now_us += 119 * SECOND;
    pass();
    assert_true(runs(second, 0) && !runs(third, 0));
    w.now_us += SECOND;
    assert_true(state_next_due_us(&w.s) <= w.now_us);
    pass();
    assert_true(runs(third, 0));
    assert_string_equal(dependency_of(third), "");
    world_release(&w);
}

/* The task of an array that began last has ended: the start of an earlier one does not count. */
static void after_is_never_met_too_early(void **unused)
{
    (void)unused;
    open_world();
    uint32_t first = submit("first", "array=0-1%1");
    pass();
    begin_all();
    w.now_us += 20 * SECOND;
    assert_int_equal(world_apply(&w, world_update(first, job_text("array_limit=2")), NULL), 0);
    pass();
    begin_all();
    w.now_us += SECOND;
    end_with(first, 1, JOB_COMPLETED, 0);
    w.now_us += SECOND;
    assert_string_equal(dependency_of(submit("second", "dependency=after:1+1")), "after:1+1@1700000082");
    world_release(&w);
}

static void alternatives_need_one(void **unused)
{
    (void)unused;
    open_world();
    submit("a", "");
    submit("b", "");
    uint32_t any = submit("any", "dependency=afterok:1?afterok:2"),
             all = submit("all", "dependency=afterok:1,afterok:2");
    pass();
    end_with(1, 0, JOB_FAILED, 1);
    assert_string_equal(dependency_of(any), "afterok:1(failed)?afterok:2");
    assert_string_equal(dependency_of(all), "afterok:1(failed),afterok:2");
    end_with(2, 0, JOB_COMPLETED, 0);
    assert_string_equal(dependency_of(any), "");
    assert_string_equal(dependency_of(all), "afterok:1(failed)");
    world_release(&w);
}

static void tasks_wait_for_tasks(void **unused)
{
    (void)unused;
    open_world();
    submit("arr", "array=1-3");
    uint32_t corr = submit("corr", "array=1-3|dependency=aftercorr:arr");
    uint32_t one = submit("one", "dependency=afterok:1_2"), whole = submit("whole", "dependency=afterok:1");
    pass();
    assert_true(runs(1, 1) && runs(1, 2) && !runs(corr, 1));
    assert_string_equal(dependency_of(corr), "aftercorr:1_[1-3]");
    end_with(1, 1, JOB_COMPLETED, 0);
    pass();
    assert_true(runs(corr, 1) && !runs(corr, 2) && !runs(one, 0));
    end_with(1, 2, JOB_COMPLETED, 0);
    end_with(1, 3, JOB_FAILED, 1);
    pass();
    assert_true(runs(corr, 2) && !runs(corr, 3) && runs(one, 0) && !runs(whole, 0));
    assert_string_equal(dependency_of(corr), "aftercorr:1_[3](failed)");
    assert_string_equal(dependency_of(whole), "afterok:1(failed)");
    world_release(&w);
}

/* The tasks that may start are kept from change to change; they are those that the rows say. */
static void check_ready(uint32_t id)
{
    struct job copy = job_copy(job_of(id));
    job_waits_find_ready(&copy);
    const struct job *j = job_of(id);
    assert_int_equal(j->waits_by_task, copy.waits_by_task);
    assert_int_equal(j->ready.ranges.count, copy.ready.ranges.count);
    for (uint32_t i = 0; i < copy.ready.ranges.count; i++)
        assert_memory_equal(&j->ready.ranges.items[i], &copy.ready.ranges.items[i], sizeof *j->ready.ranges.items);
    job_release(&copy);
}

/* Every second task of the first array, in an order that scatters them. */
static void request_scattered(enum event_kind kind, uint32_t tasks)
{
    struct job_ref *refs = mem_resize(NULL, 0, tasks / 2 * sizeof *refs);
    for (uint32_t i = 0; i < tasks / 2; i++) refs[i] = (struct job_ref){1, (uint32_t)(i * UINT64_C(7919) * 2 % tasks)};
    struct event event = {.kind = kind, .actor = {1000, 1000, "ann", ROLE_USER}, .jobs = {refs, .count = tasks / 2}};
    if (world_apply(&w, event, NULL) != 0) fail_msg("%s", ERR_SENTENCE(&w.e));
    mem_free(refs);
}

/* The cost of a request must not grow with the square of the number of its tasks: this would take half an hour. */
static void scattered_tasks_end_in_one_request(void **unused)
{
    (void)unused;
    enum { TASKS = 100000 };
    for (int is_killing = 0; is_killing < 2; is_killing++) {
        open_world();
        world_set(&w, "kill_invalid_depend", is_killing ? "true" : "false");
        (void)submit("arr", "held=true|array=0-99999");
        uint32_t ok = submit("ok", "held=true|array=0-99999|dependency=aftercorr:1");
        uint32_t any = submit("any", "held=true|array=0-99999|dependency=aftercorrany:1,aftercorrany:1");
        request_scattered(EVENT_CANCEL, TASKS);
        assert_int_equal(idset_count(&job_of(1)->cancelled), TASKS / 2);
        assert_int_equal(idset_count(&job_of(ok)->pending), is_killing ? TASKS / 2 : TASKS);
        assert_int_equal(idset_count(&job_of(ok)->ready), 0);
        assert_int_equal(job_of(ok)->dependency->left, 2);
        assert_int_equal(idset_count(&job_of(any)->ready), TASKS / 2);
        assert_int_equal(job_of(any)->dependency->left, 1);
        check_ready(ok);
        check_ready(any);
        world_release(&w);
    }
}

static void singletons_run_one_after_the_other(void **unused)
{
    (void)unused;
    open_world();
    uint32_t other = submit("other", ""), first = submit("x", ""), second = submit("x", "dependency=singleton");
    uint32_t third = submit("x", "dependency=singleton");
    pass();
    assert_true(runs(other, 0) && runs(first, 0) && !runs(second, 0) && !runs(third, 0));
    end_with(first, 0, JOB_FAILED, 1);
    pass();
    assert_true(runs(second, 0) && !runs(third, 0));
    assert_int_equal(world_apply(&w, world_update(second, job_text("name=y")), NULL), 0);
    pass();
    assert_true(runs(third, 0));
    world_release(&w);
}

static void what_cannot_be_is_refused(void **unused)
{
    (void)unused;
    open_world();
    submit("a", "held=true");
    submit("b", "held=true|dependency=afterok:1");
    submit("c", "held=true|dependency=afterok:2");
    submit("arr", "held=true|array=0-3");
    refuses(0, "afterok:9", "dependency: job 9 does not exist; the ids of jobs are 1 to 4");
    refuses(0, "afterok:nosuch", "no pending or running job of user 'ann' has the name 'nosuch'");
    refuses(0, "afterok:1_3", "job 1 is not an array; it has no task 3");
    refuses(0, "afterok:4_9", "array 4 has no task 9");
    refuses(0, "aftercorr:4", "only an array can wait task by task for job 4");
    refuses(1, "afterok:1", "job 1 would wait for itself: 1 waits for 1");
    refuses(1, "afterok:3", "job 1 would wait for itself: 1 waits for 3, 3 waits for 2, 2 waits for 1");
    assert_int_equal(world_apply(&w, world_update(3, job_text("dependency=")), NULL), 0);
    assert_int_equal(world_apply(&w, world_update(1, job_text("dependency=afterok:3")), NULL), 0);
    world_release(&w);
}

/* What a job waited for before its updates is not kept until that ends. */
static void updates_leave_no_entries(void **unused)
{
    (void)unused;
    open_world();
    uint32_t first = submit("first", "held=true"), second = submit("second", "held=true");
    uint32_t third = submit("third", "dependency=afterok:1");
    for (int i = 0; i < 5000; i++) {
        const char *other = i % 2 == 0 ? "dependency=afterok:2" : "dependency=afterok:1";
        assert_int_equal(world_apply(&w, world_update(third, job_text("%s", other)), NULL), 0);
    }
    assert_true(w.s.dependents->entries.count < 2500);
    const struct job_ref refs[] = {{first, NONE}, {second, NONE}};
    assert_int_equal(world_apply(&w, (struct event){.kind = EVENT_RELEASE, .jobs = {.refs = refs, .count = 2}}, NULL),
                     0);
    pass();
    begin_all();
    end_with(first, 0, JOB_COMPLETED, 0);
    assert_string_equal(dependency_of(third), "");
    pass();
    assert_true(runs(third, 0));
    world_release(&w);
}

static void a_new_name_makes_no_circle(void **unused)
{
    (void)unused;
    open_world();
    submit("a", "held=true");
    submit("y", "held=true");
    submit("y", "held=true|dependency=singleton");
    assert_int_equal(world_apply(&w, world_update(1, job_text("dependency=afterok:3")), NULL), 0);
    world_refuses(&w, world_update(1, job_text("name=y")), ERR_CONFLICT, "1 waits for 3, 3 waits for 1");
    world_release(&w);
}

/* Each end writes the condition about it, and neither the job nor its other conditions. */
static const char *shown(uint32_t id)
{
    static char text[200];
    struct buf out = {0};
    dependency_text_show(job_of(id)->dependency, w.now_us, &out);
    snprintf(text, sizeof text, "%s", out.length > 0 ? out.text : "");
    buf_release(&out);
    return text;
}

/* docs/formulas.md 11. NULL: the same as before. */
static void the_documented_example(void **unused)
{
    (void)unused;
    enum { WAITING = 5, ROWS = 5 };
    static const char *const given[WAITING] = {"dependency=afterok:1", "dependency=afterany:1_0",
                                               "array=0-2|dependency=aftercorr:1", "dependency=after:1+10",
                                               "dependency=afternotok:1?afterok:2"};
    static const struct {
        int minute, task; /* that ends; -1: none */
        enum job_state end;
        const char *shown[WAITING];
    } rows[ROWS] = {
        {0,
         -1,
         JOB_COMPLETED,
         {"afterok:1(unfulfilled)", "afterany:1_0(unfulfilled)", "aftercorr:1_[0-2](unfulfilled)",
          "after:1+10(unfulfilled)", "afternotok:1(unfulfilled)?afterok:2(unfulfilled)"}},
        {5, 0, JOB_COMPLETED, {NULL, "", "aftercorr:1_[1-2](unfulfilled)", NULL, NULL}},
        {6, 1, JOB_FAILED, {NULL, NULL, "aftercorr:1_[2](unfulfilled),aftercorr:1_[1](failed)", NULL, NULL}},
        {8, 2, JOB_COMPLETED, {"afterok:1(failed)", NULL, "aftercorr:1_[1](failed)", NULL, ""}},
        {10, -1, JOB_COMPLETED, {NULL, NULL, NULL, "", NULL}},
    };
    const char *before[WAITING] = {NULL};
    world_init(&w, 3, 8000, 0);
    submit("first", "array=0-2");
    for (int i = 0; i < WAITING; i++) submit("waiting", given[i]);
    pass();
    begin_all();
    int64_t start_us = w.now_us;
    for (int r = 0; r < ROWS; r++) {
        w.now_us = start_us + rows[r].minute * 60 * SECOND;
        if (rows[r].task >= 0) end_with(1, (uint32_t)rows[r].task, rows[r].end, 0);
        for (uint32_t i = 0; i < WAITING; i++) {
            if (rows[r].shown[i] != NULL) before[i] = rows[r].shown[i];
            assert_string_equal(shown(2 + i), before[i]);
        }
    }
    world_release(&w);
}

static void a_pattern_has_one_character_for_a_question_mark(void **unused)
{
    (void)unused;
    open_world();
    submit("prep1", "");
    submit("prep22", "");
    uint32_t one = submit("one", "dependency=hold_jid:prep?"),
             both = submit("both", "dependency=hold_jid:prep?:prep??");
    assert_string_equal(dependency_of(one), "afterany:1");
    assert_string_equal(dependency_of(both), "afterany:1,afterany:2");
    world_release(&w);
}

static void an_end_changes_only_its_own_condition(void **unused)
{
    (void)unused;
    enum { TARGETS = 200 };
    struct buf text = {0};
    world_init(&w, TARGETS, 8000, 0);
    buf_add_text(&text, "dependency=afterok");
    for (int i = 1; i <= TARGETS; i++) {
        submit("a", "");
        buf_format(&text, ":%d", i);
    }
    uint32_t wide = submit("wide", text.text), index = state_find_job(&w.s, wide);
    pass();
    for (uint32_t i = 1; i < TARGETS; i++) {
        outcome_clear(&w.out);
        end_with(i, 0, JOB_COMPLETED, 0);
        assert_int_equal(w.out.conditions.count, 1);
        assert_int_equal(w.out.conditions.items[0].job, index);
        assert_int_equal(w.out.conditions.items[0].item, i - 1);
        for (uint32_t k = 0; k < w.out.changes.count; k++)
            assert_false(w.out.changes.items[k].table == TABLE_JOB && w.out.changes.items[k].index == index);
        assert_int_equal(job_of(wide)->dependency->left, TARGETS - i);
    }
    assert_string_equal(dependency_of(wide), "afterok:200");
    end_with(TARGETS, 0, JOB_COMPLETED, 0);
    assert_string_equal(dependency_of(wide), "");
    buf_release(&text);
    world_release(&w);
}

static void what_never_happens_is_cancelled_by_a_setting(void **unused)
{
    (void)unused;
    open_world();
    submit("a", "");
    uint32_t b = submit("b", "dependency=afterok:1"), c = submit("c", "dependency=afterok:2");
    pass();
    end_with(1, 0, JOB_FAILED, 1);
    assert_non_null(job_of(b));
    world_set(&w, "kill_invalid_depend", "true");
    assert_null(job_of(b));
    assert_null(job_of(c)); /* because b was cancelled */
    world_release(&w);
}

static void ended_jobs_are_facts(void **unused)
{
    (void)unused;
    open_world();
    submit("a", "");
    pass();
    end_with(1, 0, JOB_COMPLETED, 0);
    for (int i = 0; i < 200; i++) { /* so many that the engine forgets them */
        uint32_t id = submit("filler", "");
        const struct job_ref ref = {id, NONE};
        assert_int_equal(
            world_apply(&w, (struct event){.kind = EVENT_CANCEL, .jobs = {.refs = &ref, .count = 1}}, NULL), 0);
        engine_forget(&w.s);
    }
    const struct job_values *job =
        job_text("name=b|directory=/x|command=true|cpus=1|mem_mib=1|dependency=afterok:1,afternotok:1");
    struct event event = {.kind = EVENT_SUBMIT, .actor = {1000, 1000, "ann", ROLE_USER}, .submit = job};
    struct arena arena = {0};
    const uint32_t *ids;
    assert_int_equal(dependencies_list_ended(&w.s, &event, &arena, &ids), 1); /* once */
    assert_int_equal(ids[0], 1);
    world_refuses(&w, event, ERR_NOT_FOUND, "job 1 does not exist"); /* without the fact */
    struct event_end end = {.job_id = 1};
    idset_add(&end.tasks, 0);
    idset_add(&end.completed, 0);
    event.ends = &end;
    event.end_count = 1;
    uint32_t id;
    assert_int_equal(world_apply(&w, event, &id), 0);
    assert_string_equal(dependency_of(id), "afternotok:1(failed)");
    idset_release(&end.tasks);
    idset_release(&end.completed);
    arena_release(&arena);
    world_release(&w);
}

/* --- requeue ------------------------------------------------------------------------------------------------------ */

static int requeue(uint32_t id, bool holds)
{
    const struct job_ref ref = {id, NONE};
    return world_apply(&w, (struct event){.kind = EVENT_REQUEUE, .jobs = {.refs = &ref, .count = 1, .holds = holds}},
                       NULL);
}

static void a_running_job_starts_again(void **unused)
{
    (void)unused;
    open_world();
    world_set(&w, "requeue_delay_s", "120");
    uint32_t id = submit("a", "");
    assert_int_equal(requeue(id, false), -1);
    assert_string_equal(ERR_SENTENCE(&w.e), "job 1 is pending; only a running or ended job can be requeued");
    pass();
    uint64_t launch = world_task(&w, id, 0)->launch_id;
    assert_int_equal(requeue(id, false), 0);
    assert_int_equal(world_task(&w, id, 0)->state, JOB_COMPLETING);
    end_with(id, 0, JOB_CANCELLED, 0);
    assert_true(job_of(id)->begin_us == w.now_us + 120 * SECOND);
    assert_true(job_of(id)->accrue_us == job_of(id)->begin_us);
    pass();
    assert_false(runs(id, 0));
    w.now_us += 120 * SECOND;
    pass();
    assert_true(runs(id, 0));
    assert_int_equal(world_task(&w, id, 0)->restarts, 1);
    assert_true(world_task(&w, id, 0)->launch_id > launch);
    world_release(&w);
}

/* An event about all jobs reaches the tasks of each array, also those that have ended or are pending. */
static void all_arrays_are_requeued_and_cancelled(void **unused)
{
    (void)unused;
    enum { ARRAYS = 3, TASKS = 4 };
    world_init(&w, 10, 8000, 0);
    for (int i = 0; i < ARRAYS; i++) submit("arr", "array=0-3");
    pass();
    end_with(1, 2, JOB_COMPLETED, 0);
    assert_int_equal(world_apply(&w, (struct event){.kind = EVENT_REQUEUE, .jobs = {.all = true}}, NULL), 0);
    uint32_t requeued = 0;
    for (uint32_t i = 0; i < w.s.tasks.count; i++) requeued += w.s.tasks.items[i].requeue == REQUEUE_YES;
    assert_int_equal(requeued, 9);
    end_with(1, 0, JOB_CANCELLED, 0);
    assert_true(idset_has(&job_of(1)->pending, 0));
    assert_int_equal(world_apply(&w, (struct event){.kind = EVENT_CANCEL, .jobs = {.all = true}}, NULL), 0);
    for (uint32_t id = 1; id <= ARRAYS; id++) {
        for (uint32_t task = 0; task < TASKS; task++) {
            if (runs(id, task)) end_with(id, task, JOB_CANCELLED, 0);
        }
        assert_null(job_of(id));
    }
    world_release(&w);
}

/* Each task waits for itself, and the others start meanwhile. */
static void a_task_waits_before_it_starts_again(void **unused)
{
    (void)unused;
    world_init(&w, 1, 8000, 0);
    world_set(&w, "requeue_delay_s", "60");
    world_set(&w, "PriorityWeightAge", "1000");
    uint32_t id = submit("arr", "array=0-1|requeue_exit=75|max_requeue=3");
    pass();
    end_with(id, 0, JOB_FAILED, 75);
    pass();
    assert_true(!runs(id, 0) && runs(id, 1));
    w.now_us += 10 * SECOND;
    end_with(id, 1, JOB_FAILED, 75);
    pass();
    assert_true(!runs(id, 0) && !runs(id, 1));
    w.now_us += 49 * SECOND;
    pass();
    assert_false(runs(id, 0));
    w.now_us += SECOND;
    assert_true(state_next_due_us(&w.s) != 0 && state_next_due_us(&w.s) <= w.now_us);
    assert_int_equal(world_apply(&w, (struct event){.kind = EVENT_TIME, .time = {"boot"}}, NULL), 0);
    assert_true(runs(id, 0) && !runs(id, 1));
    assert_int_equal(job_of(id)->delays.count, 1);
    end_with(id, 0, JOB_COMPLETED, 0);
    w.now_us += 10 * SECOND;
    pass();
    assert_true(runs(id, 1));
    assert_int_equal(job_of(id)->delays.count, 0);
    world_release(&w);
}

static void a_cancellation_wins(void **unused)
{
    (void)unused;
    open_world();
    uint32_t id = submit("a", "");
    pass();
    assert_int_equal(requeue(id, false), 0);
    const struct job_ref ref = {id, NONE};
    assert_int_equal(world_apply(&w, (struct event){.kind = EVENT_CANCEL, .jobs = {.refs = &ref, .count = 1}}, NULL),
                     0);
    end_with(id, 0, JOB_CANCELLED, 0);
    assert_null(job_of(id));
    world_release(&w);
}

static void exit_statuses_requeue_until_the_maximum(void **unused)
{
    (void)unused;
    open_world();
    uint32_t id = submit("a", "requeue_exit=75-78,99|max_requeue=2");
    for (int i = 0; i < 3; i++) {
        pass();
        assert_true(runs(id, 0));
        end_with(id, 0, JOB_FAILED, i == 1 ? 99 : 76);
        assert_non_null(job_of(id));
    }
    assert_true(job_of(id)->is_held && job_of(id)->is_held_by_operator);
    const struct job_ref ref = {id, NONE};
    struct event release = {
        .kind = EVENT_RELEASE, .actor = {1000, 1000, "ann", ROLE_USER}, .jobs = {.refs = &ref, .count = 1}};
    world_refuses(
        &w, release, ERR_DENIED,
        "job 1 is held, because it was requeued 2 times, which is the maximum; only an operator can release it");
    world_release(&w);
    open_world();
    id = submit("b", "requeue_exit=99");
    pass();
    end_with(id, 0, JOB_FAILED, 1);
    assert_null(job_of(id));
    world_release(&w);
}

/* as_operator: else its owner. kind: EVENT_HOLD, EVENT_CANCEL, EVENT_REQUEUE or EVENT_RELEASE. */
static int control(enum event_kind kind, bool as_operator, struct job_ref ref)
{
    const struct actor owner = {1000, 1000, "ann", ROLE_USER};
    const struct event event = {
        .kind = kind, .actor = as_operator ? world_operator : owner, .jobs = {.refs = &ref, .count = 1}};
    return world_apply(&w, event, NULL);
}

/* Who cancels and requeues a job that an operator holds, may not start it by that; an operator may. */
static void a_requeue_leaves_what_an_operator_holds(void **unused)
{
    (void)unused;
    static const char *const fields[] = {"", "array=0-2"};
    for (int i = 0; i < 4; i++) {
        open_world();
        struct job_ref ref = {submit("a", fields[i / 2]), NONE};
        bool as_operator = i % 2 != 0;
        assert_int_equal(control(EVENT_HOLD, true, ref), 0);
        assert_int_equal(control(EVENT_CANCEL, false, ref), 0);
        assert_null(job_of(ref.job_id));
        assert_int_equal(control(EVENT_REQUEUE, as_operator, ref), 0);
        assert_int_equal(job_of(ref.job_id)->is_held, !as_operator);
        assert_int_equal(job_of(ref.job_id)->is_held_by_operator, !as_operator);
        pass();
        assert_int_equal(runs(ref.job_id, 0), as_operator);
        world_release(&w);
    }
}

/* The owner's own hold ends with the job. */
static void a_requeue_ends_the_hold_of_its_owner(void **unused)
{
    (void)unused;
    open_world();
    struct job_ref ref = {submit("a", ""), NONE};
    assert_int_equal(control(EVENT_HOLD, false, ref), 0);
    assert_int_equal(control(EVENT_CANCEL, false, ref), 0);
    assert_int_equal(control(EVENT_REQUEUE, false, ref), 0);
    assert_false(job_of(ref.job_id)->is_held);
    world_release(&w);
}

/* Jobs of a quarantine wait for an operator, too. */
static void a_requeue_leaves_a_quarantine(void **unused)
{
    (void)unused;
    open_world();
    struct job_ref ref = {submit("a", ""), NONE};
    assert_int_equal(world_apply(&w, (struct event){.kind = EVENT_QUARANTINE, .quarantine = "copied"}, NULL), 0);
    assert_int_equal(control(EVENT_CANCEL, false, ref), 0);
    assert_int_equal(control(EVENT_REQUEUE, false, ref), 0);
    assert_true(job_of(ref.job_id)->is_held_by_operator);
    assert_int_equal(job_of(ref.job_id)->quarantine, QUARANTINE_ALONE);
    world_release(&w);
}

/* A task, or a job, that was requeued too often is held, also after its owner has cancelled and requeued it. */
static void a_requeue_leaves_what_was_requeued_too_often(void **unused)
{
    (void)unused;
    static const char *const fields[] = {"requeue_exit=75|max_requeue=1", "array=0-1|requeue_exit=75|max_requeue=1"};
    for (int i = 0; i < 2; i++) {
        open_world();
        struct job_ref ref = {submit("a", fields[i]), i == 0 ? NONE : 0};
        for (int k = 0; k < 2; k++) {
            pass();
            end_with(ref.job_id, 0, JOB_FAILED, 75);
        }
        assert_int_equal(control(EVENT_CANCEL, false, ref), 0);
        assert_int_equal(control(EVENT_REQUEUE, false, ref), 0);
        pass();
        assert_false(runs(ref.job_id, 0));
        assert_int_equal(control(EVENT_RELEASE, false, ref), -1);
        assert_int_equal(control(EVENT_RELEASE, true, ref), 0);
        pass();
        assert_true(runs(ref.job_id, 0));
        world_release(&w);
    }
}

static void only_a_job_that_agrees_runs_again_after_a_failure(void **unused)
{
    (void)unused;
    open_world();
    uint32_t no = submit("no", ""), yes = submit("yes", "requeue=true");
    pass();
    end_with(no, 0, JOB_NODE_FAIL, 0);
    end_with(yes, 0, JOB_NODE_FAIL, 0);
    assert_null(job_of(no));
    assert_non_null(job_of(yes));
    world_release(&w);
}

static void end_two(uint32_t ids[2])
{
    for (int i = 0; i < 2; i++) ids[i] = submit("a", "");
    pass();
    for (int i = 0; i < 2; i++) end_with(ids[i], 0, JOB_FAILED, 1);
}

/* The second of two jobs exceeds a limit because of the first one. */
static void a_refused_requeue_of_ended_jobs_changes_nothing(void **unused)
{
    (void)unused;
    open_world();
    uint32_t ids[2];
    end_two(ids);
    world_set(&w, "max_jobs", "1");
    const struct job_ref refs[] = {{ids[0], NONE}, {ids[1], NONE}};
    struct event event = {.kind = EVENT_REQUEUE, .actor = {.user = "ann"}, .jobs = {.refs = refs, .count = 2}};
    uint64_t before = state_hash(&w.s);
    world_refuses(&w, event, ERR_TOO_LARGE, "max_jobs");
    assert_true(state_hash(&w.s) == before);
    assert_null(job_of(ids[0]));
    struct arena arena = {0};
    struct jobs_report report = {.arena = &arena};
    event.jobs.report = &report;
    event.jobs.is_dry_run = true;
    assert_int_equal(world_apply(&w, event, NULL), 0);
    assert_int_equal(report.changed_count, 1);
    assert_int_equal(report.refused_count, 1);
    assert_true(state_hash(&w.s) == before);
    event.jobs.is_dry_run = false;
    assert_int_equal(world_apply(&w, event, NULL), 0);
    assert_non_null(job_of(ids[0]));
    assert_null(job_of(ids[1]));
    assert_int_equal(w.result.job_count, 1);
    pass();
    assert_int_equal(world_task(&w, ids[0], 0)->restarts, 1);
    arena_release(&arena);
    world_release(&w);
}

static uint32_t submit_cancelled_array(void)
{
    uint32_t id = submit("array", "array=1-6");
    const struct job_ref ref = {id, NONE};
    const struct event cancel = {.kind = EVENT_CANCEL, .actor = {.user = "ann"}, .jobs = {.refs = &ref, .count = 1}};
    assert_int_equal(world_apply(&w, cancel, NULL), 0);
    assert_null(job_of(id));
    return id;
}

/* task_first 0: the first slice. Returns where the next one begins; 0: it was the last one. */
static uint32_t requeue_slice(uint32_t id, uint32_t task_first)
{
    const struct job_ref ref = {id, NONE};
    const struct event event = {.kind = EVENT_REQUEUE,
                                .actor = {.user = "ann"},
                                .jobs = {.refs = &ref, .count = 1, .task_max = 2, .task_first = task_first}};
    if (world_apply(&w, event, NULL) != 0) fail_msg("%s", ERR_SENTENCE(&w.e));
    assert_int_equal(w.result.is_unfinished, w.result.task_next != 0);
    if (job_of(id) != NULL) assert_int_equal(job_of(id)->requeue_next, w.result.task_next);
    return w.result.task_next;
}

static void refuse_slice(uint32_t id, uint32_t task_first)
{
    const struct job_ref ref = {id, NONE};
    const struct event event = {.kind = EVENT_REQUEUE,
                                .actor = {.user = "ann"},
                                .jobs = {.refs = &ref, .count = 1, .task_max = 2, .task_first = task_first}};
    world_refuses(&w, event, ERR_NOT_FOUND, "is not being requeued any more");
}

/* Each slice says where the next one begins. */
static void a_requeue_in_slices_goes_on_until_it_is_complete(void **unused)
{
    (void)unused;
    open_world();
    uint32_t id = submit_cancelled_array();
    assert_int_equal(requeue_slice(id, 0), 3);
    refuse_slice(id, 5);
    assert_int_equal(requeue_slice(id, 3), 5);
    refuse_slice(id, 3);
    assert_int_equal(requeue_slice(id, 5), 0);
    assert_int_equal(idset_count(&job_of(id)->pending), 6);
    refuse_slice(id, 5);
    world_release(&w);
}

static void a_cancellation_ends_a_requeue_in_slices(void **unused)
{
    (void)unused;
    open_world();
    uint32_t id = submit_cancelled_array();
    const struct job_ref ref = {id, NONE};
    const struct event cancel = {.kind = EVENT_CANCEL, .actor = {.user = "ann"}, .jobs = {.refs = &ref, .count = 1}};
    assert_int_equal(requeue_slice(id, 0), 3);
    assert_int_equal(world_apply(&w, cancel, NULL), 0);
    refuse_slice(id, 3);
    assert_null(job_of(id));
    world_release(&w);
}

/* What it has come to may end before the rest of it, and the rest may be requeued by others. */
static void a_requeue_in_slices_goes_on_whatever_happens_to_tasks(void **unused)
{
    (void)unused;
    open_world();
    uint32_t id = submit_cancelled_array();
    assert_int_equal(requeue_slice(id, 0), 3);
    pass();
    for (uint32_t task = 1; task <= 2; task++) end_with(id, task, JOB_COMPLETED, 0);
    assert_null(job_of(id));
    assert_int_equal(requeue_slice(id, 3), 5);
    for (uint32_t task = 5; task <= 6; task++) {
        const struct job_ref ref = {id, task};
        const struct event one = {.kind = EVENT_REQUEUE, .actor = {.user = "ann"}, .jobs = {.refs = &ref, .count = 1}};
        assert_int_equal(world_apply(&w, one, NULL), 0);
        assert_int_equal(job_of(id)->requeue_next, 5);
    }
    assert_int_equal(requeue_slice(id, 5), 0);
    assert_int_equal(idset_count(&job_of(id)->pending), 4);
    world_release(&w);
}

static void only_its_owner_requeues_an_ended_job(void **unused)
{
    (void)unused;
    open_world();
    uint32_t ids[2];
    end_two(ids);
    const struct job_ref ref = {ids[0], NONE};
    struct event event = {.kind = EVENT_REQUEUE, .actor = {.user = "bob"}, .jobs = {.refs = &ref, .count = 1}};
    world_refuses(&w, event, ERR_DENIED, "job 1 belongs to ann");
    event.actor = (struct actor){.user = "root", .role = ROLE_ADMINISTRATOR};
    event.jobs.holds = true;
    assert_int_equal(world_apply(&w, event, NULL), 0);
    assert_true(job_of(ids[0])->is_held && job_of(ids[0])->is_held_by_operator);
    world_release(&w);
}

/* What a submission would be refused for by now: a QOS that its association may not have, a user without a policy. */
static void an_ended_job_is_checked_like_a_submission(void **unused)
{
    (void)unused;
    open_world();
    uint32_t ids[2];
    world_user(&w, "a1", 1, "ann");
    world_object(&w, OBJECT_QOS, "long", "");
    world_set(&w, "AccountingStorageEnforce", "qos");
    world_set(&w, "enforce_user", "none");
    end_two(ids);
    const struct job_ref ref = {ids[0], NONE};
    const struct event event = {.kind = EVENT_REQUEUE, .actor = {.user = "ann"}, .jobs = {.refs = &ref, .count = 1}};
    const struct event_pair only_long[] = {{"QosLevel", "long"}}, all[] = {{"QosLevel", "long,normal"}};
    struct event change = {.kind = EVENT_ACCOUNT_MODIFY,
                           .actor = world_operator,
                           .account = {"a1", NULL, SHARES_UNSET, PRIORITY_UNSET, false, only_long, 1}};
    assert_int_equal(world_apply(&w, change, NULL), 0);
    world_refuses(&w, event, ERR_INPUT, "normal");
    change.account.pairs = all;
    assert_int_equal(world_apply(&w, change, NULL), 0);
    world_set(&w, "enforce_user", "true");
    world_refuses(&w, event, ERR_DENIED, "user 'ann' has no user policy");
    world_set(&w, "enforce_user", "auto");
    struct event dry_run = event;
    dry_run.jobs.is_dry_run = true;
    assert_int_equal(world_apply(&w, dry_run, NULL), 0);
    assert_int_equal(state_find_object(&w.s, OBJECT_USER_POLICY, "ann"), NONE);
    assert_int_equal(world_apply(&w, event, NULL), 0);
    assert_int_not_equal(state_find_object(&w.s, OBJECT_USER_POLICY, "ann"), NONE);
    assert_non_null(job_of(ids[0]));
    world_release(&w);
}

/* What a submission would be refused for by now: a QOS that its account may not have, a user without a policy. */
static void a_requeue_takes_no_condition_back(void **unused)
{
    (void)unused;
    open_world();
    uint32_t first = submit("a", "");
    pass();
    uint32_t met = submit("b", "dependency=afterok:1|held=true"), never = submit("c", "dependency=afternotok:1"),
             moved = submit("d", "dependency=afterok:1|held=true");
    end_with(first, 0, JOB_COMPLETED, 0);
    const struct job_ref ref = {first, NONE};
    const struct event event = {.kind = EVENT_REQUEUE, .actor = {.user = "ann"}, .jobs = {.refs = &ref, .count = 1}};
    assert_int_equal(world_apply(&w, event, NULL), 0);
    uint32_t later = submit("e", "dependency=afterok:1");
    assert_int_equal(world_apply(&w, world_update(moved, job_text("dependency=afterok:1")), NULL), 0);
    assert_string_equal(dependency_of(met), "");
    assert_string_equal(dependency_of(never), "afternotok:1(failed)");
    assert_string_equal(dependency_of(moved), "afterok:1");
    assert_string_equal(dependency_of(later), "afterok:1");
    const struct job_ref held[] = {{met, NONE}, {moved, NONE}};
    const struct event release = {.kind = EVENT_RELEASE, .actor = {.user = "ann"}, .jobs = {.refs = held, .count = 2}};
    assert_int_equal(world_apply(&w, release, NULL), 0);
    pass();
    assert_true(runs(met, 0) && !runs(never, 0) && !runs(moved, 0) && !runs(later, 0));
    end_with(first, 0, JOB_COMPLETED, 0);
    pass();
    assert_true(!runs(never, 0) && runs(moved, 0) && runs(later, 0));
    world_release(&w);
}

/* Of an array, only the tasks that were cancelled while they waited cannot start again: what they waited for is not
 * looked at any more. Whether the array lives or has ended. */
static void tasks_that_had_their_conditions_are_requeued(void **unused)
{
    (void)unused;
    for (int lives = 0; lives < 2; lives++) {
        open_world();
        uint32_t first = submit("a", "array=0-1"), second = submit("b", "dependency=aftercorr:1|array=0-1"), other = 0;
        pass();
        end_with(first, 0, JOB_COMPLETED, 0);
        end_with(first, 1, JOB_FAILED, 1);
        pass();
        if (lives) {
            other = submit("c", "array=0-1|dependency=aftercorr:1");
            pass();
        }
        end_with(second, 0, JOB_FAILED, 1);
        struct job_ref ref = {second, 1};
        const struct event cancel = {
            .kind = EVENT_CANCEL, .actor = {.user = "ann"}, .jobs = {.refs = &ref, .count = 1}};
        if (lives) ref.job_id = other;
        assert_int_equal(world_apply(&w, cancel, NULL), 0);
        struct event event = cancel;
        event.kind = EVENT_REQUEUE;
        world_refuses(&w, event, ERR_CONFLICT, "was cancelled while it waited for other jobs");
        if (!lives) {
            ref.task_id = NONE;
            world_refuses(&w, event, ERR_CONFLICT, "was cancelled while it waited for other jobs");
        }
        ref.job_id = second;
        ref.task_id = 0;
        if (!lives) {
            assert_int_equal(world_apply(&w, event, NULL), 0);
            assert_true(idset_has(&job_of(second)->pending, 0) && !idset_has(&job_of(second)->pending, 1));
            pass();
            assert_int_equal(world_task(&w, second, 0)->restarts, 1);
            end_with(second, 0, JOB_COMPLETED, 0);
            ref.task_id = 1;
            world_refuses(&w, event, ERR_CONFLICT, "was cancelled while it waited for other jobs");
        }
        world_release(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_type_waits_for_its_outcome),
        cmocka_unit_test(after_waits_for_the_start_and_minutes),
        cmocka_unit_test(after_is_never_met_too_early),
        cmocka_unit_test(alternatives_need_one),
        cmocka_unit_test(tasks_wait_for_tasks),
        cmocka_unit_test(scattered_tasks_end_in_one_request),
        cmocka_unit_test(singletons_run_one_after_the_other),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(updates_leave_no_entries),
        cmocka_unit_test(a_new_name_makes_no_circle),
        cmocka_unit_test(the_documented_example),
        cmocka_unit_test(a_pattern_has_one_character_for_a_question_mark),
        cmocka_unit_test(an_end_changes_only_its_own_condition),
        cmocka_unit_test(what_never_happens_is_cancelled_by_a_setting),
        cmocka_unit_test(ended_jobs_are_facts),
        cmocka_unit_test(a_running_job_starts_again),
        cmocka_unit_test(all_arrays_are_requeued_and_cancelled),
        cmocka_unit_test(a_task_waits_before_it_starts_again),
        cmocka_unit_test(a_cancellation_wins),
        cmocka_unit_test(exit_statuses_requeue_until_the_maximum),
        cmocka_unit_test(a_refused_requeue_of_ended_jobs_changes_nothing),
        cmocka_unit_test(a_requeue_in_slices_goes_on_until_it_is_complete),
        cmocka_unit_test(a_cancellation_ends_a_requeue_in_slices),
        cmocka_unit_test(a_requeue_in_slices_goes_on_whatever_happens_to_tasks),
        cmocka_unit_test(only_its_owner_requeues_an_ended_job),
        cmocka_unit_test(an_ended_job_is_checked_like_a_submission),
        cmocka_unit_test(tasks_that_had_their_conditions_are_requeued),
        cmocka_unit_test(a_requeue_takes_no_condition_back),
        cmocka_unit_test(only_a_job_that_agrees_runs_again_after_a_failure),
        cmocka_unit_test(a_requeue_leaves_what_an_operator_holds),
        cmocka_unit_test(a_requeue_ends_the_hold_of_its_owner),
        cmocka_unit_test(a_requeue_leaves_a_quarantine),
        cmocka_unit_test(a_requeue_leaves_what_was_requeued_too_often),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
