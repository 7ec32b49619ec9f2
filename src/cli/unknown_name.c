#include "cli/unknown_name.h"

#include "cli/instance.h"

enum { NOTED_MAX = 5 };

/* By the shares, which every user and account has. Those of hidden users are answered as if there were none. */
static bool is_unknown(struct call *call, struct client *c, const char *kind, struct str name)
{
    struct buf target = {0};
    struct err e = {0};
    buf_add_text(&target, API_SHARES "?format=psv");
    client_add_query(&target, kind, arena_copy(call->arena, name));
    return client_request(c, "GET", instance_target(call, &target), str(""), &e) != 0 && e.code == ERR_NOT_FOUND;
}

static bool note_each(struct call *call, const char *kind, const char *list, const char *advice)
{
    uint32_t noted = 0;
    for (struct str rest = str(list); rest.text != NULL && noted < NOTED_MAX;) {
        struct str name = str_trim(str_cut(rest, ',', &rest));
        struct client client;
        struct err ignored;
        if (name.length == 0) continue;
        if (instance_open(call, &client, &ignored) != 0) break;
        if (is_unknown(call, &client, kind, name)) {
            output_note("fairlead %s: no %s '%.*s' is known here; %s", call->command->name, kind, (int)name.length,
                        name.text, advice);
            noted++;
        }
        client_close(&client);
    }
    return noted > 0;
}

bool unknown_name_note(struct call *call, const char *users, const char *accounts)
{
    bool noted = note_each(call, "user", users, "run 'fairlead user show' to list those that you may see");
    return note_each(call, "account", accounts, "run 'fairlead account show' to list them") || noted;
}
