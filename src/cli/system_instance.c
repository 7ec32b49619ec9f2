#include "cli/system_instance.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/client/address.h"

#define DEFAULT_STATE "/var/lib/fairlead"
#define DEFAULT_LAUNCHER_STATE "/var/lib/fairlead-launcher"

/* As sd_booted(3) finds it. */
static bool has_systemd(void)
{
    struct stat directory;
    return lstat("/run/systemd/system", &directory) == 0 && S_ISDIR(directory.st_mode);
}

int system_instance_find(struct call *call, const char *action, struct system_places *places,
                         struct private_instance *out_instance, struct err *e)
{
    const char *socket = call->common.socket != NULL ? call->common.socket : SYSTEM_ADDRESS;
    if (places->state == NULL) places->state = DEFAULT_STATE;
    if (places->launcher_state == NULL) places->launcher_state = DEFAULT_LAUNCHER_STATE;
    if (address_absolute(socket, call->arena, &socket, e) != 0 || address_check(socket, e) != 0 ||
        address_absolute(places->state, call->arena, &places->state, e) != 0 ||
        address_absolute(places->launcher_state, call->arena, &places->launcher_state, e) != 0)
        return -1;
    bool is_default = strcmp(socket, SYSTEM_ADDRESS) == 0;
    if (is_default && has_systemd())
        return err_set(e, ERR_CONFLICT, "systemd has the instance of the system: run 'systemctl %s fairlead' as root",
                       action);
    if (geteuid() != 0)
        return err_set(e, ERR_DENIED, "only root may %s the instance of the system; you are user %u", action,
                       geteuid());
    *out_instance =
        (struct private_instance){.state_directory = places->state, .socket = socket, .is_default = is_default};
    return 0;
}

int system_instance_prepare(const char *launcher_state, struct err *e)
{
    struct stat info;
    if (mkdir(launcher_state, 0700) == 0) {
        if (chmod(launcher_state, 0711) == 0) return 0;
    } else if (errno == EEXIST && lstat(launcher_state, &info) == 0) {
        if (S_ISDIR(info.st_mode) && info.st_uid == 0 && (info.st_mode & (S_IWGRP | S_IWOTH)) == 0) return 0;
        return err_set(e, ERR_DENIED,
                       "%s can be written by others than root: run 'chown root %s' and 'chmod 711 %s', or "
                       "choose another with --launcher-state",
                       launcher_state, launcher_state, launcher_state);
    }
    return err_set(e, ERR_IO, "cannot create directory %s: %s", launcher_state, strerror(errno));
}

void system_instance_note_other(const struct private_instance *own)
{
    struct client client;
    struct err unused;
    if (strcmp(own->socket, SYSTEM_ADDRESS) == 0 || client_connect(&client, SYSTEM_ADDRESS, &unused) != 0) return;
    client_close(&client);
    if (own->is_default)
        output_note(
            "This machine has an instance for all users, too. While yours runs, your commands go to yours; to use "
            "the other one: fairlead COMMAND --socket " SYSTEM_ADDRESS);
}
