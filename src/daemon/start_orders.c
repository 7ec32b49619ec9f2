#include "daemon/start_orders.h"

#include "base/quantity.h"
#include "daemon/log.h"

struct start_order *start_order_new(struct daemon *d, uint32_t job_id)
{
    struct start_order *order = mem_resize(NULL, 0, sizeof *order);
    *order = (struct start_order){.d = d, .job_id = job_id};
    order->own.arena = &order->arena;
    return order;
}

void start_order_free(struct start_order *order)
{
    idset_release(&order->launch.cpus);
    array_release(&order->own.entries);
    array_release(&order->next);
    executor_order_release(&order->message);
    arena_release(&order->arena);
    mem_free(order);
}

void start_order_report_unavailable(struct daemon *d, uint64_t launch_id, const struct err *cause)
{
    struct executor_report report = {.kind = EXECUTOR_RECORD};
    report.record = launch_record_never_ran(launch_id, LAUNCH_UNAVAILABLE, "");
    launch_record_set_detail(&report.record, ERR_SENTENCE(cause));
    launch_record_set_time(&report.record, d->machine.boot_id);
    *array_add(&d->reports.list) = report;
}

static char **copy_all(struct arena *arena, const struct str *list, uint32_t count)
{
    char **copies = arena_alloc(arena, (count + (size_t)1) * sizeof *copies);
    for (uint32_t i = 0; i < count; i++) copies[i] = arena_copy(arena, list[i]);
    return copies;
}

/* The submitter's variables, and then the daemon's. env: zero but for its arena; the launch points into it. */
static void complete(struct start_order *order, struct task_environment *env)
{
    task_environment_add_submitted(&order->script, env);
    for (uint32_t i = 0; i < order->own.entries.count; i++) *array_add(&env->entries) = order->own.entries.items[i];
    *array_add(&env->entries) = NULL;
    order->launch.script = order->script.script;
    order->launch.arguments = copy_all(&order->arena, order->script.arguments, order->script.argument_count);
    order->launch.environment = env->entries.items;
}

/* --- orders that a thread makes ----------------------------------------------------------------------------------- */

static void make_in_thread(void *argument)
{
    struct start_order *order = argument;
    struct task_environment env = {.arena = &order->arena};
    const char *directory = order->d->state_dir.path;
    order->has_failed = store_read_script(directory, order->job_id, &order->arena, &order->script, &order->err) != 0;
    if (order->has_failed) return;
    complete(order, &env);
    executor_order_make(&order->launch, &order->message);
    array_release(&env.entries);
}

static void give_next(struct daemon *d, const struct decision *decision)
{
    int64_t grace_us = setting_number(&d->state.settings, SET_GRACE_S) * US_PER_S;
    switch (decision->kind) {
    case DECIDE_START: break;
    case DECIDE_END: executor_end(d->executor, decision->launch_id, grace_us); break;
    case DECIDE_ACKNOWLEDGE: executor_acknowledge(d->executor, decision->launch_id); break;
    case DECIDE_TIME_LIMIT:
        executor_set_time_limit(d->executor, decision->launch_id, decision->time_limit_s * US_PER_S);
        break;
    case DECIDE_SUSPENSION:
        executor_suspend(d->executor, decision->launch_id, decision->is_suspended, decision->suspended_us);
        break;
    case DECIDE_SIGNAL:
        executor_signal(d->executor, decision->launch_id, decision->signal, decision->is_to_first);
        break;
    case DECIDE_WEIGHT: executor_set_cpu_weight(d->executor, decision->launch_id, decision->cpu_weight); break;
    }
}

static void remove_first(struct daemon *d)
{
    for (uint32_t i = 1; i < d->long_orders.count; i++) d->long_orders.items[i - 1] = d->long_orders.items[i];
    d->long_orders.count--;
}

static void give_made(struct daemon *d, struct start_order *order)
{
    if (order->has_failed) {
        log_line(LOG_ERROR, "script-missing", " job=%u error=\"%s\"", order->job_id, ERR_SENTENCE(&order->err));
        start_order_report_unavailable(d, order->launch.id, &order->err);
        return;
    }
    executor_order_send(d->executor, &order->message);
    for (uint32_t i = 0; i < order->next.count; i++) give_next(d, &order->next.items[i]);
}

/* A turn follows for the report, and for the next order. */
static void on_made(void *argument)
{
    struct start_order *order = argument;
    struct daemon *d = order->d;
    bool is_given = !order->is_dropped && !d->is_stopping;
    if (!order->is_dropped) remove_first(d);
    if (is_given) give_made(d, order);
    start_order_free(order);
    if (is_given) d->turn(d);
}

void start_orders_schedule(struct daemon *d)
{
    if (d->long_orders.count == 0 || d->long_orders.items[0]->has_thread || executor_wants_write(d->executor)) return;
    d->long_orders.items[0]->has_thread = true;
    daemon_run_in_thread(d, make_in_thread, on_made, d->long_orders.items[0]);
}

void start_orders_drop(struct daemon *d)
{
    for (uint32_t i = 0; i < d->long_orders.count; i++) {
        struct start_order *order = d->long_orders.items[i];
        order->is_dropped = true;
        if (!order->has_thread) start_order_free(order); /* else on_made frees it */
    }
    array_release(&d->long_orders);
}

/* --- all orders --------------------------------------------------------------------------------------------------- */

void start_order_give(struct start_order *order)
{
    struct daemon *d = order->d;
    struct task_environment env = {.arena = &order->arena};
    if (order->script.is_long) {
        *array_add(&d->long_orders) = order;
        return;
    }
    complete(order, &env);
    executor_start(d->executor, &order->launch);
    array_release(&env.entries);
    start_order_free(order);
}

void start_orders_follow(struct daemon *d, const struct decision *decision)
{
    for (uint32_t i = 0; i < d->long_orders.count; i++) {
        struct start_order *order = d->long_orders.items[i];
        if (order->launch.id != decision->launch_id) continue;
        *array_add(&order->next) = *decision;
        return;
    }
    give_next(d, decision);
}
