/* Who the clients are. A private instance serves only the user who started it. Its jobs run in the group in which it
 * was started, whatever group the client is in (newgrp), because only root could give them another one. A system
 * instance serves the users of the machine (users.h). */
#include "daemon/daemon.h"
#include "daemon/users.h"

static void take_role_groups(struct daemon *d)
{
    struct role_groups roles;
    const struct settings *settings = &d->state.settings;
    text_format(roles.operators, sizeof roles.operators, "%s", setting_text(settings, SET_OPERATOR_GROUP));
    text_format(roles.administrators, sizeof roles.administrators, "%s",
                setting_text(settings, SET_ADMINISTRATOR_GROUP));
    users_set_role_groups(d->users, &roles);
}

int daemon_identify_client(void *context, uint32_t uid, uint32_t gid, struct arena *arena, struct actor *out,
                           struct err *e)
{
    struct daemon *d = context;
    if (d->users != NULL) {
        take_role_groups(d);
        return users_find(d->users, uid, gid, arena, out, e);
    }
    if (uid != d->served_user.uid)
        return err_set(e, ERR_DENIED,
                       "this instance does not serve user %u: a private instance serves only the user who started it",
                       uid);
    *out = d->served_user;
    return 0;
}

bool daemon_refuse_submission(const struct daemon *d, const struct event *event, struct err *e)
{
    if (!d->is_system || d->allows_root || event->kind != EVENT_SUBMIT || event->actor.uid != 0) return false;
    err_set(e, ERR_DENIED,
            "jobs of root are not run: submit as an ordinary user, or start the instance with --allow-root");
    return true;
}

static void on_answer(void *context)
{
    struct daemon *d = context;
    if (d->server == NULL || d->is_stopping) return;
    d->turn(d); /* follows the answer before those who waited for it are served */
    server_identified(d->server);
}

void daemon_open_users(struct daemon *d)
{
    if (d->is_system) d->users = users_open(&d->threads, on_answer, d);
}

void daemon_close_users(struct daemon *d)
{
    users_close(d->users);
    d->users = NULL;
}
