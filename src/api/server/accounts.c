/* GET /v1/accounts and /v1/users: the tree of associations as two lists. Their records are copied from the state at
 * once (O(associations)), because it changes while the client reads. */
#include <string.h>

#include "api/server/internal.h"
#include "engine/visibility.h"
#include "fields/share_fields.h"

static struct field_value shares_value(const struct assoc *a)
{
    return field_number(a->shares == SHARES_PARENT ? FIELD_SPECIAL : (int64_t)a->shares);
}

static struct field_value priority_value(const struct assoc *a)
{
    return field_number(a->priority == NONE ? FIELD_SPECIAL : (int64_t)a->priority);
}

/* The limits that the association has itself, in memory of arena. */
static void add_limits(const struct assoc *a, struct arena *arena, struct field_value *out_values)
{
    const struct field_value *limits = a->limits != NULL ? a->limits : limit_fields_defaults;
    for (uint32_t i = 0; i < ASSOC_LIMIT_COUNT; i++) {
        out_values[i] = limits[i];
        out_values[i].text = arena_copy(arena, str(limits[i].text));
    }
}

int server_get_accounts(struct request *r, struct err *e)
{
    struct state *s = r->server->host.state;
    if (request_read_query(r, NULL, e) != 0) return -1;
    const struct tree *t = state_tree(s);
    struct stream *stream = stream_new(r);
    size_t max = t->count - t->user_count;
    struct field_value *value = arena_alloc(&stream->arena, max * ACCOUNT_FIELD_COUNT * sizeof *value), *first = value;
    const char **names = arena_alloc(&stream->arena, t->count * sizeof *names);
    for (uint32_t node = 0; node < t->count; node++) {
        if (t->is_user[node]) continue;
        const struct assoc *a = server_assoc_at(s, node);
        names[node] = arena_copy(&stream->arena, str(a->account));
        value[ACCOUNT_FIELD_NAME] = field_text(names[node]);
        value[ACCOUNT_FIELD_PARENT] = field_text(node > 0 ? names[t->parent[node]] : NULL);
        value[ACCOUNT_FIELD_SHARES] = shares_value(a);
        value[ACCOUNT_FIELD_PRIORITY] = priority_value(a);
        value[ACCOUNT_FIELD_CREATED] = field_number(a->created_us);
        add_limits(a, &stream->arena, &value[ACCOUNT_FIELD_LIMITS]);
        value += ACCOUNT_FIELD_COUNT;
    }
    return server_reply_records(stream, r, "{\"accounts\":[", &account_fields, (struct wire_list){first, (uint32_t)max},
                                e);
}

struct wire_list server_user_records(struct state *s, const char *user, struct arena *arena)
{
    const struct tree *t = state_tree(s);
    uint32_t count = 0;
    struct field_value *value =
                           arena_alloc(arena, (t->user_count + (size_t)1) * ACCOUNT_USER_FIELD_COUNT * sizeof *value),
                       *first = value;
    const char **names = arena_alloc(arena, t->count * sizeof *names);
    for (uint32_t node = 0; node < t->count; node++) {
        const struct assoc *a = server_assoc_at(s, node);
        if (t->is_user[node] && user != NULL && strcmp(a->user, user) != 0) continue;
        names[node] = arena_copy(arena, str(a->user ? a->user : a->account));
        if (!t->is_user[node]) continue;
        count++;
        value[ACCOUNT_USER_FIELD_NAME] = field_text(names[node]);
        value[ACCOUNT_USER_FIELD_ACCOUNT] = field_text(names[t->parent[node]]);
        value[ACCOUNT_USER_FIELD_PARTITION] =
            field_text(a->partition != NULL ? arena_copy(arena, str(a->partition)) : NULL);
        value[ACCOUNT_USER_FIELD_SHARES] = shares_value(a);
        value[ACCOUNT_USER_FIELD_IS_DEFAULT] = field_number(a->is_default);
        value[ACCOUNT_USER_FIELD_PRIORITY] = priority_value(a);
        value[ACCOUNT_USER_FIELD_CREATED] = field_number(a->created_us);
        add_limits(a, arena, &value[ACCOUNT_USER_FIELD_LIMITS]);
        value += ACCOUNT_USER_FIELD_COUNT;
    }
    return (struct wire_list){first, count};
}

int server_get_users(struct request *r, struct err *e)
{
    struct state *s = r->server->host.state;
    if (request_read_query(r, NULL, e) != 0) return -1;
    bool is_hidden = (visibility_hidden_from(s, &r->actor) & PRIVATE_USERS) != 0;
    struct stream *stream = stream_new(r);
    struct wire_list list = server_user_records(s, is_hidden ? r->actor.user : NULL, &stream->arena);
    return server_reply_records(stream, r, "{\"users\":[", &account_fields_user, list, e);
}
