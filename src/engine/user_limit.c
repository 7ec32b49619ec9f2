#include "engine/user_limit.h"

uint32_t user_limit_room(const struct user_limit *u, const struct state *s, const struct job *j)
{
    uint32_t room = state_user_room(s, j->assoc);
    if (room == UINT32_MAX) return room;
    uint32_t started = map_get(&u->started, str(s->assocs.items[j->assoc].user));
    if (started == NONE) return room;
    return room > started ? room - started : 0;
}

void user_limit_start(struct user_limit *u, const struct state *s, const struct job *j, uint32_t tasks)
{
    if (tasks == 0 || state_user_room(s, j->assoc) == UINT32_MAX) return;
    struct str user = str(s->assocs.items[j->assoc].user);
    uint32_t before = map_get(&u->started, user);
    map_set(&u->started, user, before == NONE ? tasks : before + tasks);
}

void user_limit_release(struct user_limit *u)
{
    map_release(&u->started);
}
