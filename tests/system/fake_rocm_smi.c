/* A management library like AMD's, for tests: the entry points and layouts of ROCm SMI, with answers from the file
 * FAKE_ROCM_SMI, which is read again at each call. A line is a GPU:
 *
 *     gpu|UNIQUE_ID|BUS|TOTAL_MIB|USED_MIB|BUSY|NAME|PID:MIB,PID:MIB      UNIQUE_ID 0: it has none */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

enum { SUCCESS = 0, NOT_SUPPORTED = 2, NOT_FOUND = 10, LINES_MAX = 64, VRAM = 0 };

struct process {
    uint32_t pid, pasid;
    uint64_t used_bytes, sdma_us;
    uint32_t occupancy;
};

static char text[LINES_MAX][1024];
static uint32_t line_count;

static void read_lines(void)
{
    const char *path = getenv("FAKE_ROCM_SMI");
    FILE *file = path != NULL ? fopen(path, "re") : NULL;
    line_count = 0;
    while (file != NULL && line_count < LINES_MAX && fgets(text[line_count], sizeof text[0], file) != NULL) {
        text[line_count][strcspn(text[line_count], "\n")] = '\0';
        line_count++;
    }
    if (file != NULL) fclose(file);
}

static const char *field(uint32_t line, int index)
{
    static char out[1024];
    const char *from = line < line_count ? text[line] : NULL;
    for (; index > 0 && from != NULL; index--) {
        from = strchr(from, '|');
        if (from != NULL) from++;
    }
    snprintf(out, sizeof out, "%.*s", from != NULL ? (int)strcspn(from, "|") : 0, from != NULL ? from : "");
    return out;
}

EXPORT int rsmi_init(uint64_t flags);
EXPORT int rsmi_init(uint64_t flags)
{
    (void)flags;
    return SUCCESS;
}

EXPORT int rsmi_status_string(int status, const char **out);
EXPORT int rsmi_status_string(int status, const char **out)
{
    *out = status == NOT_FOUND ? "not found" : "an error";
    return SUCCESS;
}

EXPORT int rsmi_num_monitor_devices(uint32_t *out);
EXPORT int rsmi_num_monitor_devices(uint32_t *out)
{
    read_lines();
    *out = line_count;
    return SUCCESS;
}

EXPORT int rsmi_dev_name_get(uint32_t d, char *out, size_t size);
EXPORT int rsmi_dev_name_get(uint32_t d, char *out, size_t size)
{
    snprintf(out, size, "%s", field(d, 6));
    return SUCCESS;
}

EXPORT int rsmi_dev_unique_id_get(uint32_t d, uint64_t *out);
EXPORT int rsmi_dev_unique_id_get(uint32_t d, uint64_t *out)
{
    *out = strtoull(field(d, 1), NULL, 16);
    return *out != 0 ? SUCCESS : NOT_SUPPORTED;
}

EXPORT int rsmi_dev_pci_id_get(uint32_t d, uint64_t *out);
EXPORT int rsmi_dev_pci_id_get(uint32_t d, uint64_t *out)
{
    unsigned domain = 0, bus = 0, device = 0, function = 0;
    if (sscanf(field(d, 2), "%x:%x:%x.%x", &domain, &bus, &device, &function) != 4) return NOT_FOUND;
    *out = (uint64_t)domain << 32 | (uint64_t)bus << 8 | device << 3 | function;
    return SUCCESS;
}

EXPORT int rsmi_dev_memory_total_get(uint32_t d, int kind, uint64_t *out);
EXPORT int rsmi_dev_memory_total_get(uint32_t d, int kind, uint64_t *out)
{
    *out = strtoull(field(d, 3), NULL, 10) << 20;
    return kind == VRAM ? SUCCESS : NOT_SUPPORTED;
}

EXPORT int rsmi_dev_memory_usage_get(uint32_t d, int kind, uint64_t *out);
EXPORT int rsmi_dev_memory_usage_get(uint32_t d, int kind, uint64_t *out)
{
    *out = strtoull(field(d, 4), NULL, 10) << 20;
    return kind == VRAM ? SUCCESS : NOT_SUPPORTED;
}

EXPORT int rsmi_dev_busy_percent_get(uint32_t d, uint32_t *out);
EXPORT int rsmi_dev_busy_percent_get(uint32_t d, uint32_t *out)
{
    *out = (uint32_t)atoi(field(d, 5));
    return SUCCESS;
}

/* The next "PID:MIB" of a line. */
static int next_process(char **rest, uint32_t *out_pid, uint64_t *out_bytes)
{
    char *item = strsep(rest, ",");
    unsigned long long mib = 0;
    if (item == NULL || sscanf(item, "%u:%llu", out_pid, &mib) != 2) return 0;
    *out_bytes = mib << 20;
    return 1;
}

EXPORT int rsmi_compute_process_info_get(struct process *out, uint32_t *io_count);
EXPORT int rsmi_compute_process_info_get(struct process *out, uint32_t *io_count)
{
    uint32_t room = *io_count;
    *io_count = 0;
    for (uint32_t i = 0; i < line_count; i++) {
        char list[1024], *rest = list;
        struct process process = {0};
        snprintf(list, sizeof list, "%s", field(i, 7));
        while (*io_count < room && next_process(&rest, &process.pid, &process.used_bytes)) out[(*io_count)++] = process;
    }
    return SUCCESS;
}

EXPORT int rsmi_compute_process_gpus_get(uint32_t pid, uint32_t *out_devices, uint32_t *io_count);
EXPORT int rsmi_compute_process_gpus_get(uint32_t pid, uint32_t *out_devices, uint32_t *io_count)
{
    uint32_t room = *io_count;
    *io_count = 0;
    for (uint32_t i = 0; i < line_count && *io_count < room; i++) {
        char list[1024], *rest = list;
        uint32_t found;
        uint64_t bytes;
        snprintf(list, sizeof list, "%s", field(i, 7));
        while (next_process(&rest, &found, &bytes) && found != pid) continue;
        if (found == pid) out_devices[(*io_count)++] = i;
    }
    return SUCCESS;
}
