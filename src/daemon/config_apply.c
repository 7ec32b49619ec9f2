/* The settings of the configuration file become those of the instance, when the daemon starts. */
#include "daemon/config.h"
#include "daemon/daemon.h"
#include "daemon/log.h"

/* Logs what a person should know about the values of the configuration file. */
static void log_remarks(const struct daemon *d, const struct config *config)
{
    struct buf remark = {0};
    for (uint32_t i = 0; i < config->lines.count; i++) {
        enum setting setting = config->lines.items[i].setting;
        buf_clear(&remark);
        setting_remark(setting, &d->state.settings.value[setting], &remark);
        if (remark.length > 0) log_line(LOG_WARNING, "setting-remark", " remark=\"%s\"", remark.text);
    }
    buf_release(&remark);
}

int daemon_apply_config(struct daemon *d, const struct config *config, struct err *e)
{
    uint32_t count = config->lines.count;
    struct event_pair *pairs = arena_alloc(&d->arena, (count + (size_t)1) * sizeof *pairs);
    for (uint32_t i = 0; i < count; i++) {
        const struct config_line *line = &config->lines.items[i];
        pairs[i] = (struct event_pair){arena_copy(&d->arena, line->name), arena_copy(&d->arena, line->value)};
    }
    const struct event event = {
        .kind = EVENT_SETTINGS, .actor = d->served_user, .is_of_file = true, .settings = {pairs, count}};
    if (engine_apply(&d->state, d->now_us, &event, &d->outcome, NULL, e) != 0)
        return err_prefix(e, "the configuration file");
    if (d->pretend == NULL) store_set_boot(d->store, d->machine.boot_id, d->clock.boot_us);
    int result = store_commit(d->store, &d->state, &d->outcome, d->now_us, e);
    if (result == 0) daemon_log_commit(d);
    outcome_clear(&d->outcome);
    if (result == 0) log_remarks(d, config);
    return result;
}
