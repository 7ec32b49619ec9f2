/* Text that the launcher reads and other programs write: scripts, files of /proc and of control groups, records. The
 * first byte chooses the parser. */
#include <string.h>

#include "base/ensure.h"
#include "exec/launcher/cgroup.h"
#include "exec/launcher/launch_command.h"
#include "exec/launcher/process.h"
#include "exec/launcher/process_identity.h"
#include "exec/launcher/usage_text.h"
#include "exec/record.h"

static bool is_inside(struct str part, struct str whole)
{
    return part.length == 0 || (part.text >= whole.text && part.text + part.length <= whole.text + whole.length);
}

static void parse_shebang(struct str text)
{
    struct str program, argument;
    if (!launch_command_parse_shebang(text, &program, &argument)) return;
    ensure(program.length > 0 && is_inside(program, text) && is_inside(argument, text));
}

static void find_cgroups(struct str text)
{
    char path[64];
    struct str mounts;
    struct str membership = str_cut(text, '\0', &mounts);
    const char *const controllers[] = {NULL, "cpu"};
    for (int i = 0; i < 2; i++) {
        if (cgroup_find(membership, mounts, controllers[i], path, sizeof path))
            ensure(strlen(path) < sizeof path && strstr(path, "/..") == NULL);
    }
}

static void parse_record(struct str text)
{
    struct launch_record record, again;
    struct process_identity identity;
    process_identity_parse(text, &identity);
    if (record_parse(text, &record, NULL)) return;
    struct buf written = {0};
    record_format(&record, &written);
    ensure(record_parse((struct str){written.text, written.length}, &again, NULL) == 0);
    ensure(again.id == record.id && again.phase == record.phase && again.cpu_us == record.cpu_us);
    ensure(again.io_bytes == record.io_bytes);
    ensure(strcmp(again.detail, record.detail) == 0);
    buf_release(&written);
}

static void parse_stat(struct str text)
{
    struct process p;
    if (!process_parse(text, &p)) return;
    ensure(p.cpu_ticks >= 0 && p.children_cpu_ticks >= 0 && p.resident_pages >= 0);
    ensure(memchr(p.name, '\0', sizeof p.name) != NULL && p.nice >= -20 && p.nice <= 19);
}

static void parse_usage(struct str text)
{
    static bool (*const parsers[])(struct str, int64_t *) = {usage_text_parse_io, usage_text_parse_group_cpu,
                                                             usage_text_parse_group_memory, usage_text_parse_group_io};
    for (size_t i = 0; i < sizeof parsers / sizeof *parsers; i++) {
        int64_t value = -7;
        bool is_read = parsers[i](text, &value);
        ensure(is_read ? value >= 0 : value == -7);
    }
}

static void parse_use(struct str text)
{
    uint32_t uid = 7, gpu = 7;
    int32_t nice = 77;
    if (!usage_text_parse_uid(text, &uid)) ensure(uid == 7);
    ensure(usage_text_parse_gpu(text, &gpu) ? gpu < 64 : gpu == 7);
    ensure(usage_text_parse_autogroup(text, &nice) ? nice >= -20 && nice <= 19 : nice == 77);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) return 0;
    struct str text = {(const char *)data + 1, size - 1};
    switch (data[0]) {
    case 'i': parse_shebang(text); break;
    case 's': parse_stat(text); break;
    case 'u': parse_usage(text); break;
    case 'o': parse_use(text); break;
    case 'c': find_cgroups(text); break;
    case 'r': parse_record(text); break;
    default: break;
    }
    return 0;
}
