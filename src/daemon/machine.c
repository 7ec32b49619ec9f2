#include "daemon/machine.h"

#include <dirent.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/number.h"
#include "base/text.h"

enum { CPU_NUMBERS_MAX = 8192 };

static void probe_cpus(struct machine *m)
{
    cpu_set_t *set = CPU_ALLOC(CPU_NUMBERS_MAX);
    size_t size = CPU_ALLOC_SIZE(CPU_NUMBERS_MAX);
    if (set != NULL && sched_getaffinity(0, size, set) == 0) {
        for (uint32_t i = 0; i < CPU_NUMBERS_MAX; i++) {
            if (CPU_ISSET_S(i, size, set)) idset_add(&m->cpu_ids, i);
        }
    }
    if (set != NULL) CPU_FREE(set);
    if (idset_first(&m->cpu_ids) == NONE) idset_add(&m->cpu_ids, 0);
    m->has.cpus = idset_count(&m->cpu_ids);
}

/* line: the first line of the file; empty if it cannot be read. */
static void read_line(const char *path, char *line, size_t size)
{
    line[0] = '\0';
    FILE *file = fopen(path, "re");
    if (file == NULL) return;
    if (fgets(line, (int)size, file) == NULL) line[0] = '\0';
    fclose(file);
    line[strcspn(line, "\n")] = '\0';
}

/* The smallest of the machine's memory and the limits of cgroup v2 and v1: a container may have less than the
 * machine. */
static void probe_memory(struct machine *m)
{
    static const char *const limits[] = {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"};
    uint64_t bytes = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        char line[64];
        uint64_t limit;
        read_line(limits[i], line, sizeof line);
        if (number_parse_u64(str(line), &limit) && limit < bytes) bytes = limit;
    }
    m->has.mem_mib = bytes >> 20;
}

/* Counts /dev/nvidia0, /dev/nvidia1, ... for where no library says what there is (gpus.h). */
static void probe_gpus(struct machine *m)
{
    DIR *dev = opendir("/dev");
    struct idset minors = {0};
    if (dev == NULL) return;
    for (struct dirent *entry = readdir(dev); entry != NULL; entry = readdir(dev)) {
        uint64_t minor;
        if (strncmp(entry->d_name, "nvidia", 6) == 0 && number_parse_u64(str(entry->d_name + 6), &minor) &&
            minor < 1024)
            idset_add(&minors, (uint32_t)minor);
    }
    closedir(dev);
    m->has.gpus = idset_count(&minors);
    idset_release(&minors);
}

void machine_probe(struct machine *out_machine)
{
    struct machine *m = out_machine;
    *m = (struct machine){0};
    if (gethostname(m->name, sizeof m->name - 1) != 0) strcpy(m->name, "localhost");
    read_line("/proc/sys/kernel/random/boot_id", m->boot_id, sizeof m->boot_id);
    probe_cpus(m);
    probe_memory(m);
    probe_gpus(m);
}

void machine_release(struct machine *m)
{
    idset_release(&m->cpu_ids);
}

void machine_cpus(const struct machine *m, const struct idset *numbers, struct idset *out_cpu_ids)
{
    idset_release(out_cpu_ids);
    uint32_t number = 0, id = idset_first(&m->cpu_ids);
    for (uint32_t cpu = idset_first(numbers); cpu != NONE; cpu = idset_next(numbers, cpu)) {
        for (; number < cpu && id != NONE; number++) id = idset_next(&m->cpu_ids, id);
        if (id == NONE) {
            idset_release(out_cpu_ids);
            return;
        }
        idset_add(out_cpu_ids, id);
    }
}
