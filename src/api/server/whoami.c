/* GET /v1/whoami: who the client is, and what it may do. */
#include <unistd.h>

#include "api/server/internal.h"
#include "engine/visibility.h"
#include "fields/permissions.h"

#ifndef FAIRLEAD_VERSION
#define FAIRLEAD_VERSION "unknown"
#endif

static struct wire_list permission_records(enum role role, struct arena *arena)
{
    struct field_value *first = arena_alloc(arena, PERMISSION_COUNT * PERMISSION_FIELD_COUNT * sizeof *first),
                       *value = first;
    for (int p = PERMISSION_UNSET + 1; p < PERMISSION_COUNT; p++, value += PERMISSION_FIELD_COUNT) {
        value[PERMISSION_FIELD_NAME] = field_text(permissions[p].name);
        value[PERMISSION_FIELD_WHAT] = field_text(permissions[p].what);
        value[PERMISSION_FIELD_ROLE] = field_text(permission_roles[permissions[p].role]);
        value[PERMISSION_FIELD_ALLOWED] = field_number(permission_is_of((enum permission)p, role));
    }
    return (struct wire_list){first, PERMISSION_COUNT - 1};
}

static struct wire_list hidden_words(uint32_t hidden, struct arena *arena)
{
    const char **words = arena_alloc(arena, PRIVATE_KIND_COUNT * sizeof *words);
    uint32_t count = 0;
    for (int i = 0; i < PRIVATE_KIND_COUNT; i++) {
        if ((hidden & 1U << i) != 0) words[count++] = setting_text_private_words[i];
    }
    return (struct wire_list){words, count};
}

static const char *role_from(const struct request *r, struct arena *arena)
{
    const struct settings *settings = &r->server->host.state->settings;
    struct buf text = {0};
    if (r->actor.role == ROLE_USER) return NULL;
    if (!r->server->host.serves_all) return "own instance";
    if (r->actor.uid == 0) return "uid 0";
    bool is_operator = r->actor.role == ROLE_OPERATOR;
    buf_format(&text, "group %s", setting_text(settings, is_operator ? SET_OPERATOR_GROUP : SET_ADMINISTRATOR_GROUP));
    const char *copy = arena_copy(arena, (struct str){text.text, text.length});
    buf_release(&text);
    return copy;
}

int server_get_whoami(struct request *r, struct err *e)
{
    struct server *server = r->server;
    struct state *s = server->host.state;
    const struct actor *actor = &r->actor;
    if (request_read_query(r, NULL, e) != 0) return -1;
    uint32_t assoc = state_default_assoc(s, actor->user);
    const struct api_whoami whoami = {
        .uid = actor->uid,
        .gid = actor->gid,
        .user = actor->user,
        .role = permission_roles[actor->role],
        .role_from = role_from(r, &r->arena),
        .default_account = assoc != NONE ? s->assocs.items[assoc].account : "default",
        .associations = server_user_records(s, actor->user, &r->arena),
        .permissions = permission_records(actor->role, &r->arena),
        .hidden = hidden_words(visibility_hidden_from(s, actor), &r->arena),
        .instance = server->host.serves_all ? "system" : "private",
        .socket = server->host.socket_path,
        .version = FAIRLEAD_VERSION,
        .daemon_uid = geteuid(),
        .daemon_user = server->user,
    };
    reply_write(r, MHD_HTTP_OK, &api_whoami_shape, &whoami);
    return 0;
}
