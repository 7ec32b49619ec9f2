/* The load values that the daemon reports to the engine: what is measured here every load_report_time, and what load
 * sensors have reported last, which comes after it and so replaces a measured value of the same name. */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/daemon.h"

static int64_t interval_us(const struct daemon *d)
{
    return setting_number(&d->state.settings, SET_GE_LOAD_REPORT_TIME) * US_PER_S;
}

static void measure(struct daemon *d)
{
    struct idset used = {0}, ids = {0};
    for (uint32_t i = 0; i < d->state.tasks.count; i++) {
        const struct task *k = &d->state.tasks.items[i];
        if (!job_state_is_end(k->state)) idset_add_all(&used, &k->placements[0].cpus);
    }
    machine_cpus(&d->machine, &used, &ids);
    machine_load_measure(&d->machine_load, &ids, &d->measured);
    idset_release(&used);
    idset_release(&ids);
}

static void merge(struct daemon *d)
{
    load_values_clear(&d->loads);
    for (uint32_t i = 0; i < d->measured.list.count; i++)
        load_values_add(&d->loads, str(d->measured.list.items[i].name), str(d->measured.list.items[i].value));
    if (d->sensors != NULL) load_sensors_add_values(d->sensors, &d->loads);
}

static void on_report(void *context)
{
    struct daemon *d = context;
    d->has_reports = true;
    d->turn(d);
}

/* Returns whether sensors were added or removed. */
static bool configure_sensors(struct daemon *d)
{
    const char *paths = d->state.settings.value[SET_GE_LOAD_SENSOR].text;
    if (d->sensors != NULL && strcmp(paths, d->sensor_paths.text) == 0) return false;
    if (d->sensors == NULL) {
        const struct load_sensors_host host = {d, on_report, d->machine.name, d->file_limit};
        d->sensors = load_sensors_new(&d->loop, &host);
    }
    buf_clear(&d->sensor_paths);
    buf_add_text(&d->sensor_paths, paths);
    load_sensors_configure(d->sensors, strcasecmp(paths, "none") == 0 ? "" : paths);
    return true;
}

/* What keeps a path from being run; NULL: nothing. */
static const char *fault_of(const char *path)
{
    struct stat info;
    if (stat(path, &info) != 0) return "does not exist";
    if (!S_ISREG(info.st_mode)) return "is not a regular file";
    return access(path, X_OK) == 0 ? NULL : "is not executable";
}

int daemon_check_sensors(void *context, const char *paths, struct err *e)
{
    struct arena arena = {0};
    int status = 0;
    (void)context;
    for (struct str rest = str(strcasecmp(paths, "none") == 0 ? "" : paths); rest.text != NULL && status == 0;) {
        struct str path = str_trim(str_cut(rest, ',', &rest));
        const char *fault = path.length > 0 ? fault_of(arena_copy(&arena, path)) : NULL;
        if (fault != NULL) status = err_value_reason(e, "load_sensor", path, "%s", fault);
    }
    arena_release(&arena);
    return status;
}

void daemon_describe_sensors(void *context, struct buf *out)
{
    const struct daemon *d = context;
    if (d->sensors != NULL) load_sensors_describe(d->sensors, out);
}

void daemon_open_loads(struct daemon *d)
{
    machine_load_init(&d->machine_load);
    measure(d);
    merge(d);
}

bool daemon_update_loads(struct daemon *d)
{
    int64_t next_us = d->now_us + interval_us(d);
    bool is_due = d->next_load_us != 0 && d->next_load_us <= d->now_us, is_configured = configure_sensors(d);
    bool has_changes = is_due || is_configured || d->has_reports;
    if (is_due || is_configured) load_sensors_ask(d->sensors);
    if (is_due) measure(d);
    if (is_due || d->next_load_us == 0 || next_us < d->next_load_us) d->next_load_us = next_us;
    d->has_reports = false;
    if (has_changes) merge(d);
    return has_changes;
}

void daemon_close_loads(struct daemon *d)
{
    load_sensors_free(d->sensors);
    machine_load_release(&d->machine_load);
    load_values_release(&d->measured);
    load_values_release(&d->loads);
    buf_release(&d->sensor_paths);
}
