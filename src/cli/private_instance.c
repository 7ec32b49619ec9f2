#include "cli/private_instance.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/client/address.h"

/* The state directory of a socket that lies in one: DIR of DIR/fairlead.sock, if DIR has a database; otherwise NULL. So
 * an instance that was killed is started again by the variable that finds it. */
static const char *state_of_socket(const char *socket, struct arena *arena)
{
    static const char name[] = "/fairlead.sock";
    struct buf path = {0};
    size_t length = strlen(socket), name_length = sizeof name - 1;
    if (length <= name_length || strcmp(socket + length - name_length, name) != 0) return NULL;
    const char *directory = arena_copy(arena, (struct str){socket, length - name_length});
    buf_format(&path, "%s/fairlead.db", directory);
    bool is_state = access(path.text, F_OK) == 0;
    buf_release(&path);
    return is_state ? directory : NULL;
}

int private_instance_find(struct call *call, const char *state_given, struct private_instance *out_instance,
                          struct err *e)
{
    const char *directory, *socket = call->common.socket, *variable = getenv("FAIRLEAD_SOCKET");
    if (address_state_directory(state_given, call->arena, &directory, e) != 0) return -1;
    if (socket == NULL && state_given == NULL && variable && variable[0] != '\0') {
        const char *of_socket = state_of_socket(variable, call->arena);
        if (of_socket != NULL && address_state_directory(of_socket, call->arena, &directory, e) != 0) return -1;
        socket = variable;
    }
    if (socket == NULL) socket = address_in(directory, call->arena);
    if (address_absolute(socket, call->arena, &socket, e) != 0 || address_check(socket, e) != 0) return -1;

    struct addresses candidates;
    if (addresses_find(NULL, call->arena, &candidates, e) != 0) return -1;
    *out_instance = (struct private_instance){
        .state_directory = directory,
        .socket = socket,
        .is_default = strcmp(socket, candidates.path[0]) == 0,
    };
    return 0;
}

int private_instance_connect(struct call *call, const struct private_instance *instance, struct client *out_client,
                             struct api_status *out_status, struct err *e)
{
    if (client_connect(out_client, instance->socket, e) != 0) return -1;
    if (instance_request(call, out_client, "GET", API_STATUS, NULL, NULL, &api_status_shape, out_status, e) == 0)
        return 0;
    client_close(out_client);
    return -1;
}
