#include "cli/private_instance.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/client/address.h"

/* The state directory of a socket that lies in one: DIR of DIR/fairlead.sock, if DIR has a file; otherwise NULL. So an
 * instance that was killed is started again by the variable that finds it. */
static const char *state_of_socket(const char *socket, const char *file, struct arena *arena)
{
    static const char name[] = "/fairlead.sock";
    struct buf path = {0};
    size_t length = strlen(socket), name_length = sizeof name - 1;
    if (length <= name_length || strcmp(socket + length - name_length, name) != 0) return NULL;
    const char *directory = arena_copy(arena, (struct str){socket, length - name_length});
    buf_format(&path, "%s/%s", directory, file);
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
        const char *of_socket = state_of_socket(variable, "fairlead.db", call->arena);
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

static int find_pretend_directory(struct call *call, const char *state_given, const char **out_directory, struct err *e)
{
    const char *variable = getenv("FAIRLEAD_SOCKET"), *default_directory;
    bool has_variable = call->common.socket == NULL && variable != NULL && variable[0] != '\0';
    const char *of_socket = has_variable ? state_of_socket(variable, "pretend.json", call->arena) : NULL;
    if (state_given != NULL || of_socket != NULL)
        return address_state_directory(state_given != NULL ? state_given : of_socket, call->arena, out_directory, e);
    if (address_state_directory(NULL, call->arena, &default_directory, e) != 0) return -1;
    struct buf path = {0};
    buf_format(&path, "%s-pretend", default_directory);
    *out_directory = instance_target(call, &path);
    return 0;
}

int private_instance_find_pretend(struct call *call, const char *state_given, struct private_instance *out_instance,
                                  struct err *e)
{
    const char *directory, *socket = call->common.socket;
    if (find_pretend_directory(call, state_given, &directory, e) != 0) return -1;
    if (socket == NULL) socket = address_in(directory, call->arena);
    if (address_absolute(socket, call->arena, &socket, e) != 0 || address_check(socket, e) != 0) return -1;
    *out_instance = (struct private_instance){.state_directory = directory, .socket = socket};
    return 0;
}

int private_instance_check_directory(const char *path, struct err *e)
{
    struct stat info;
    if (stat(path, &info) != 0) return err_set(e, ERR_IO, "state directory %s: %s", path, strerror(errno));
    if (info.st_uid != geteuid())
        return err_set(e, ERR_DENIED, "state directory %s belongs to user %u; it must belong to user %u", path,
                       info.st_uid, geteuid());
    if ((info.st_mode & 0077) == 0 || (rmdir(path) == 0 && mkdir(path, 0700) == 0)) return 0;
    return err_set(e, ERR_DENIED,
                   "state directory %s is open to others: run 'chmod 700 %s', or choose another with --state", path,
                   path);
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
