/* Lines of a start: "key=", "born=" (start_ticks), "boot_id=", "cgroup=" and "directory=" (place). Their names
 * must not change, because a launcher reads the records of keepers of other versions. */
#include "exec/launcher/process_identity.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/random.h>
#include <sys/types.h>

#include "base/number.h"
#include "exec/launcher/durable.h"
#include "exec/record.h"

/* A path with a newline would break the record, and one with a tab its line in the record log. */
void process_identity_format(const struct process_identity *identity, struct buf *out)
{
    buf_format(out, "key=%s\nborn=%" PRIu64 "\nboot_id=%s\n", identity->key, identity->start_ticks, identity->boot_id);
    if (strpbrk(identity->cgroup.path, "\n\t") == NULL) buf_format(out, "cgroup=%s\n", identity->cgroup.path);
    if (identity->place.inode == 0) return;
    buf_add_text(out, "directory=");
    process_identity_format_place(identity->place, out);
    buf_add_char(out, '\n');
}

void process_identity_format_place(struct process_identity_place place, struct buf *out)
{
    buf_format(out, "%" PRIu64 ":%" PRIu64, place.device, place.inode);
}

bool process_identity_parse_place(struct str text, struct process_identity_place *out)
{
    struct process_identity_place place;
    struct str inode, device = str_cut(text, ':', &inode);
    *out = (struct process_identity_place){0};
    if (!number_parse_u64(device, &place.device) || !number_parse_u64(inode, &place.inode)) return false;
    *out = place;
    return true;
}

static void copy_value(struct str text, const char *name, char *out, size_t size)
{
    struct str value = record_value(text, name);
    if (value.length >= size) value.length = 0;
    if (value.length > 0) memcpy(out, value.text, value.length);
    out[value.length] = '\0';
}

void process_identity_parse(struct str text, struct process_identity *out)
{
    copy_value(text, "key", out->key, sizeof out->key);
    copy_value(text, "boot_id", out->boot_id, sizeof out->boot_id);
    copy_value(text, "cgroup", out->cgroup.path, sizeof out->cgroup.path);
    if (!number_parse_u64(record_value(text, "born"), &out->start_ticks)) out->start_ticks = 0;
    out->running_boot_us = 0;
    (void)process_identity_parse_place(record_value(text, "directory"), &out->place);
}

int process_identity_make_key(struct str instance_id, char out[LAUNCH_KEY_SIZE], struct err *e)
{
    enum { INSTANCE_DIGITS = LAUNCH_KEY_SIZE / 2 };
    unsigned char bytes[(LAUNCH_KEY_SIZE - 1) / 2];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes) {
        return err_set(e, ERR_UNAVAILABLE, "cannot get random bytes: %s", strerror(errno));
    }
    for (size_t i = 0; i < sizeof bytes; i++) text_format(out + 2 * i, 3, "%02x", bytes[i]);
    if (instance_id.length >= INSTANCE_DIGITS) memcpy(out, instance_id.text, INSTANCE_DIGITS);
    return 0;
}

void process_identity_read_boot_id(char out[BOOT_ID_SIZE])
{
    struct buf text = {0};
    bool found = false;
    out[0] = '\0';
    if (durable_read(AT_FDCWD, "/proc/sys/kernel/random/boot_id", &text, &found, NULL) == 0 && found) {
        struct str id = str_trim((struct str){text.text, text.length});
        if (id.length < BOOT_ID_SIZE) text_format(out, BOOT_ID_SIZE, "%.*s", (int)id.length, id.text);
    }
    buf_release(&text);
}
