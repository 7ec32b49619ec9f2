#include "engine/visibility.h"

#include <string.h>

uint32_t visibility_hidden_from(const struct state *s, const struct actor *actor)
{
    uint32_t kinds = 0;
    struct str text = str(setting_text(&s->settings, SET_PRIVATE_DATA));
    if (text.length == 0 || actor_may(actor, PERMISSION_HIDDEN)) return 0;
    struct err e;
    (void)setting_text_private(text, "", &kinds, &e);
    return kinds;
}

bool visibility_hides(const struct state *s, const struct actor *actor, uint32_t kinds, const char *user)
{
    if ((visibility_hidden_from(s, actor) & kinds) == 0) return false;
    return actor->user == NULL || strcmp(actor->user, user) != 0;
}

const char *visibility_launch_failure(const struct state *s, uint32_t hidden)
{
    const char *failure = state_launch_failure(s);
    bool is_of_job = failure != NULL && s->no_launcher == NULL;
    return is_of_job && (hidden & (PRIVATE_JOBS | PRIVATE_DETAILS)) != 0 ? "an operator sees why" : failure;
}

int visibility_refuse_job(const struct state *s, const struct actor *actor, struct str job_id, const char *user,
                          struct err *e)
{
    if (visibility_hides(s, actor, PRIVATE_JOBS, user))
        return err_subject(e, ERR_NOT_FOUND, "job", job_id, "is not pending or running");
    if (visibility_hides(s, actor, PRIVATE_DETAILS, user))
        return err_subject(e, ERR_DENIED, "job", job_id, "belongs to another user");
    return err_subject(e, ERR_DENIED, "job", job_id, "belongs to %s", user);
}
