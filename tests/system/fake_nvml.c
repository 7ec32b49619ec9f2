/* A management library like NVIDIA's, for tests: the entry points and layouts of NVML, with answers from the file
 * FAKE_NVML, which is read again at each call, so that a test changes them while a daemon runs. A line is a GPU, with
 * fields separated by '|':
 *
 *     gpu|UUID|BUS|MINOR|TOTAL_MIB|USED_MIB|BUSY|NAME|PID:MIB,PID:MIB
 *     slice|UUID|TOTAL_MIB|USED_MIB|NAME|PID:MIB          MIG: of the gpu before it
 *     gap                                                 a number of a slice that none has
 *     lost|...                                            like gpu: it has fallen off the bus
 *     fail|RESULT                                         nvmlInit_v2 and nvmlDeviceGetCount_v2 fail
 *     hang                                                nvmlDeviceGetCount_v2 does not return
 *     crash                                               it ends the process
 *     long                                                records of processes have 32 bytes */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

enum { SUCCESS = 0, NOT_SUPPORTED = 3, NOT_FOUND = 6, INSUFFICIENT_SIZE = 7, GPU_IS_LOST = 15, LINES_MAX = 64 };

/* A handle is the line's number and 1. */
typedef struct line *device;

struct pci {
    char bus_id_legacy[16];
    unsigned domain, bus, device, pci_device_id, pci_subsystem_id;
    char bus_id[32];
};
struct memory {
    unsigned long long total, free, used;
};
struct utilization {
    unsigned gpu, memory;
};

static char text[LINES_MAX][1024];
static int line_count;

static void read_lines(void)
{
    const char *path = getenv("FAKE_NVML");
    FILE *file = path != NULL ? fopen(path, "re") : NULL;
    line_count = 0;
    while (file != NULL && line_count < LINES_MAX && fgets(text[line_count], sizeof text[0], file) != NULL) {
        text[line_count][strcspn(text[line_count], "\n")] = '\0';
        line_count++;
    }
    if (file != NULL) fclose(file);
}

static int is_kind(int line, const char *kind)
{
    size_t length = strlen(kind);
    return line < line_count && strncmp(text[line], kind, length) == 0 &&
           (text[line][length] == '|' || text[line][length] == '\0');
}

static int find_kind(const char *kind)
{
    int line = 0;
    while (line < line_count && !is_kind(line, kind)) line++;
    return line < line_count ? line : -1;
}

static const char *field(int line, int index)
{
    static char out[1024];
    const char *from = text[line];
    for (; index > 0 && from != NULL; index--) {
        from = strchr(from, '|');
        if (from != NULL) from++;
    }
    snprintf(out, sizeof out, "%.*s", from != NULL ? (int)strcspn(from, "|") : 0, from != NULL ? from : "");
    return out;
}

static int line_of(device d)
{
    return (int)(size_t)d - 1;
}

static int fault(void)
{
    read_lines();
    int line = find_kind("fail");
    return line >= 0 ? atoi(field(line, 1)) : SUCCESS;
}

EXPORT int nvmlInit_v2(void);
EXPORT int nvmlInit_v2(void)
{
    return fault();
}

EXPORT const char *nvmlErrorString(int result);
EXPORT const char *nvmlErrorString(int result)
{
    return result == GPU_IS_LOST ? "GPU is lost" : result == 9 ? "Driver Not Loaded" : "Unknown Error";
}

EXPORT int nvmlDeviceGetCount_v2(unsigned *out);
EXPORT int nvmlDeviceGetCount_v2(unsigned *out)
{
    int result = fault();
    while (find_kind("hang") >= 0) pause();
    if (find_kind("crash") >= 0) abort();
    *out = 0;
    for (int i = 0; i < line_count; i++) *out += is_kind(i, "gpu") || is_kind(i, "lost");
    return result;
}

EXPORT int nvmlDeviceGetHandleByIndex_v2(unsigned index, device *out);
EXPORT int nvmlDeviceGetHandleByIndex_v2(unsigned index, device *out)
{
    read_lines();
    for (int i = 0; i < line_count; i++) {
        if (!is_kind(i, "gpu") && !is_kind(i, "lost")) continue;
        if (index-- > 0) continue;
        *out = (device)(size_t)(i + 1);
        return is_kind(i, "lost") ? GPU_IS_LOST : SUCCESS;
    }
    return NOT_FOUND;
}

EXPORT int nvmlDeviceGetUUID(device d, char *out, unsigned size);
EXPORT int nvmlDeviceGetUUID(device d, char *out, unsigned size)
{
    return snprintf(out, size, "%s", field(line_of(d), 1)) < (int)size ? SUCCESS : INSUFFICIENT_SIZE;
}

EXPORT int nvmlDeviceGetName(device d, char *out, unsigned size);
EXPORT int nvmlDeviceGetName(device d, char *out, unsigned size)
{
    int line = line_of(d);
    return snprintf(out, size, "%s", field(line, is_kind(line, "slice") ? 4 : 7)) < (int)size ? SUCCESS
                                                                                              : INSUFFICIENT_SIZE;
}

EXPORT int nvmlDeviceGetPciInfo_v3(device d, struct pci *out);
EXPORT int nvmlDeviceGetPciInfo_v3(device d, struct pci *out)
{
    memset(out, 0, sizeof *out);
    snprintf(out->bus_id, sizeof out->bus_id, "%s", field(line_of(d), 2));
    return sscanf(out->bus_id, "%x:%x:%x", &out->domain, &out->bus, &out->device) == 3 ? SUCCESS : NOT_FOUND;
}

EXPORT int nvmlDeviceGetMinorNumber(device d, unsigned *out);
EXPORT int nvmlDeviceGetMinorNumber(device d, unsigned *out)
{
    *out = (unsigned)atoi(field(line_of(d), 3));
    return is_kind(line_of(d), "slice") ? NOT_SUPPORTED : SUCCESS;
}

EXPORT int nvmlDeviceGetMemoryInfo(device d, struct memory *out);
EXPORT int nvmlDeviceGetMemoryInfo(device d, struct memory *out)
{
    int line = line_of(d), first = is_kind(line, "slice") ? 2 : 4;
    out->total = strtoull(field(line, first), NULL, 10) << 20;
    out->used = strtoull(field(line, first + 1), NULL, 10) << 20;
    out->free = out->total - out->used;
    return SUCCESS;
}

EXPORT int nvmlDeviceGetUtilizationRates(device d, struct utilization *out);
EXPORT int nvmlDeviceGetUtilizationRates(device d, struct utilization *out)
{
    out->gpu = (unsigned)atoi(field(line_of(d), 6));
    out->memory = 0;
    return is_kind(line_of(d), "slice") ? NOT_SUPPORTED : SUCCESS;
}

static int is_of(int line)
{
    return is_kind(line, "slice") || is_kind(line, "gap");
}

EXPORT int nvmlDeviceGetMigMode(device d, unsigned *out_current, unsigned *out_pending);
EXPORT int nvmlDeviceGetMigMode(device d, unsigned *out_current, unsigned *out_pending)
{
    *out_current = *out_pending = (unsigned)is_of(line_of(d) + 1);
    return SUCCESS;
}

EXPORT int nvmlDeviceGetMaxMigDeviceCount(device d, unsigned *out);
EXPORT int nvmlDeviceGetMaxMigDeviceCount(device d, unsigned *out)
{
    (void)d;
    *out = 7;
    return SUCCESS;
}

EXPORT int nvmlDeviceGetMigDeviceHandleByIndex(device d, unsigned index, device *out);
EXPORT int nvmlDeviceGetMigDeviceHandleByIndex(device d, unsigned index, device *out)
{
    int line = line_of(d) + 1;
    for (unsigned i = 0; is_of(line); i++, line++) {
        if (i != index) continue;
        *out = (device)(size_t)(line + 1);
        return is_kind(line, "slice") ? SUCCESS : NOT_FOUND;
    }
    return NOT_FOUND;
}

/* 24 bytes, or 32: pid, memory, two numbers, and, in the long ones, protected memory. */
EXPORT int nvmlDeviceGetComputeRunningProcesses_v3(device d, unsigned *io_count, void *out);
EXPORT int nvmlDeviceGetComputeRunningProcesses_v3(device d, unsigned *io_count, void *out)
{
    int line = line_of(d);
    size_t size = find_kind("long") >= 0 ? 32 : 24;
    unsigned room = *io_count;
    char list[1024], *next = list;
    snprintf(list, sizeof list, "%s", field(line, is_kind(line, "slice") ? 5 : 8));
    *io_count = 0;
    for (char *item; (item = strsep(&next, ",")) != NULL && *item != '\0'; ++*io_count) {
        unsigned pid = 0;
        unsigned long long mib = 0;
        if (*io_count == room) return INSUFFICIENT_SIZE;
        unsigned char *record = (unsigned char *)out + *io_count * size;
        sscanf(item, "%u:%llu", &pid, &mib);
        mib <<= 20;
        memset(record, 0xff, 24);
        memset(record + 24, 0, size - 24);
        memcpy(record, &pid, sizeof pid);
        memcpy(record + 8, &mib, sizeof mib);
    }
    return SUCCESS;
}
