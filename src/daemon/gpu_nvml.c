/* NVIDIA's management library, libnvidia-ml.so.1. What is declared here is what is used of its interface, in the
 * versions whose names end with _v2 and _v3; a driver that lacks one of the functions after "optional" does without.
 * Source: NVIDIA, NVML API Reference Guide, release 535 and later.
 *
 * A GPU whose MIG mode is on is not listed; its slices (GPU instances with a compute instance) are, each as a GPU of
 * its own: that is what CUDA can use. The driver says how busy GPUs are, but not how busy slices are. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "daemon/gpu_library.h"

enum { NVML_SUCCESS = 0, NVML_ERROR_GPU_IS_LOST = 15, NVML_MIG_ENABLED = 1 };

typedef struct nvml_device *nvml_device;

struct nvml_memory {
    unsigned long long total, free, used; /* bytes */
};

struct nvml_pci {
    char bus_id_legacy[16];
    unsigned domain, bus, device, pci_device_id, pci_subsystem_id;
    char bus_id[32];
};

struct nvml_utilization {
    unsigned gpu, memory; /* percent */
};

/* Drivers of the release 535, at first, wrote a longer one: see read_processes. */
struct nvml_process {
    unsigned pid;
    unsigned long long used_bytes; /* all ones: not known */
    unsigned gpu_instance, compute_instance;
};
enum { NVML_LONG_PROCESS_SIZE = 32 };
_Static_assert(sizeof(struct nvml_process) == 24 && sizeof(struct nvml_pci) == 68, "the layout of the library");

static struct {
    int (*init)(void);
    const char *(*error_string)(int result);
    int (*count)(unsigned *out);
    int (*handle)(unsigned index, nvml_device *out);
    int (*name)(nvml_device, char *out, unsigned size);
    int (*uuid)(nvml_device, char *out, unsigned size);
    int (*pci)(nvml_device, struct nvml_pci *out);
    int (*memory)(nvml_device, struct nvml_memory *out);
    /* optional */
    int (*minor)(nvml_device, unsigned *out);
    int (*mig_mode)(nvml_device, unsigned *out_current, unsigned *out_pending);
    int (*mig_max)(nvml_device, unsigned *out);
    int (*mig_handle)(nvml_device, unsigned index, nvml_device *out);
    int (*utilization)(nvml_device, struct nvml_utilization *out);
    int (*processes)(nvml_device, unsigned *io_count, void *out);
} nvml;

static const struct gpu_function functions[] = {
    {"nvmlInit_v2", &nvml.init, false},
    {"nvmlErrorString", &nvml.error_string, false},
    {"nvmlDeviceGetCount_v2", &nvml.count, false},
    {"nvmlDeviceGetHandleByIndex_v2", &nvml.handle, false},
    {"nvmlDeviceGetName", &nvml.name, false},
    {"nvmlDeviceGetUUID", &nvml.uuid, false},
    {"nvmlDeviceGetPciInfo_v3", &nvml.pci, false},
    {"nvmlDeviceGetMemoryInfo", &nvml.memory, false},
    {"nvmlDeviceGetMinorNumber", &nvml.minor, true},
    {"nvmlDeviceGetMigMode", &nvml.mig_mode, true},
    {"nvmlDeviceGetMaxMigDeviceCount", &nvml.mig_max, true},
    {"nvmlDeviceGetMigDeviceHandleByIndex", &nvml.mig_handle, true},
    {"nvmlDeviceGetUtilizationRates", &nvml.utilization, true},
    {"nvmlDeviceGetComputeRunningProcesses_v3", &nvml.processes, true},
};

static void *library;

static bool fail(char out_fault[GPU_FAULT_SIZE], const char *what, int result)
{
    if (result == NVML_SUCCESS) return false;
    text_format(out_fault, GPU_FAULT_SIZE, "%s: %s", what, nvml.error_string(result));
    return true;
}

static int open_library(char out_fault[GPU_FAULT_SIZE])
{
    static const char *const names[] = {"libnvidia-ml.so.1", "libnvidia-ml.so", NULL};
    int status = gpu_library_load(names, functions, sizeof functions / sizeof *functions, &library, out_fault);
    if (status != 0) return status;
    return fail(out_fault, "nvmlInit_v2", nvml.init()) ? -1 : 0;
}

static int64_t mib_of(unsigned long long bytes)
{
    return bytes == ~0ULL ? -1 : (int64_t)(bytes >> 20);
}

/* The records have 24 bytes; those of some drivers 32, of which the others were no part. What was written behind the
 * place of n short records tells them apart. */
static void read_processes(nvml_device device, struct gpu_found *gpu)
{
    enum { UNTOUCHED = 0xa5 };
    static unsigned char records[GPU_PROCESSES_MAX * NVML_LONG_PROCESS_SIZE];
    unsigned count = GPU_PROCESSES_MAX;
    if (nvml.processes == NULL) return;
    memset(records, UNTOUCHED, sizeof records);
    if (nvml.processes(device, &count, records) != NVML_SUCCESS || count > GPU_PROCESSES_MAX) return;
    size_t size = sizeof(struct nvml_process);
    for (size_t i = count * sizeof(struct nvml_process); i < (size_t)count * NVML_LONG_PROCESS_SIZE; i++) {
        if (records[i] != UNTOUCHED) size = NVML_LONG_PROCESS_SIZE;
    }
    for (unsigned i = 0; i < count; i++) {
        struct nvml_process process;
        memcpy(&process, records + i * size, sizeof process);
        *array_add(&gpu->processes) = (struct gpu_process){(int32_t)process.pid, mib_of(process.used_bytes)};
    }
}

static int read_memory(nvml_device device, struct gpu_found *gpu)
{
    struct nvml_memory memory;
    gpu->mem_mib = gpu->used_mib = -1;
    int result = nvml.memory(device, &memory);
    if (result != NVML_SUCCESS) return result;
    gpu->mem_mib = mib_of(memory.total);
    gpu->used_mib = mib_of(memory.used);
    return NVML_SUCCESS;
}

/* What the library may still know of a GPU that has fallen off the bus; its memory is not among that. */
static int read_identity(nvml_device device, const struct gpu_found *parent, struct gpu_found *out)
{
    struct nvml_pci pci;
    *out = (struct gpu_found){.vendor = GPU_NVIDIA, .minor = -1, .busy = -1, .is_slice = parent != NULL};
    int result = nvml.uuid(device, out->uuid, sizeof out->uuid);
    if (result == NVML_SUCCESS && parent == NULL && (result = nvml.pci(device, &pci)) == NVML_SUCCESS)
        text_format(out->bus, sizeof out->bus, "%08x:%02x:%02x.0", pci.domain, pci.bus, pci.device);
    if (parent != NULL) memcpy(out->bus, parent->bus, sizeof out->bus);
    if (nvml.name(device, out->name, sizeof out->name) != NVML_SUCCESS)
        text_format(out->name, sizeof out->name, "%s", parent != NULL ? parent->name : "?");
    return result;
}

/* parent: of a slice; NULL: a whole GPU. Returns the library's result. */
static int read_device(nvml_device device, const struct gpu_found *parent, struct gpu_found *out)
{
    struct nvml_utilization utilization;
    unsigned minor;
    int result = read_identity(device, parent, out);
    if (result != NVML_SUCCESS) return result;
    if (read_memory(device, out) == NVML_ERROR_GPU_IS_LOST) return NVML_ERROR_GPU_IS_LOST;
    if (parent != NULL) return NVML_SUCCESS;
    if (nvml.minor != NULL && nvml.minor(device, &minor) == NVML_SUCCESS) out->minor = minor;
    if (nvml.utilization != NULL && nvml.utilization(device, &utilization) == NVML_SUCCESS)
        out->busy = (int32_t)utilization.gpu;
    return NVML_SUCCESS;
}

static bool has_slices(nvml_device device)
{
    unsigned current, pending;
    return nvml.mig_mode != NULL && nvml.mig_max != NULL && nvml.mig_handle != NULL &&
           nvml.mig_mode(device, &current, &pending) == NVML_SUCCESS && current == NVML_MIG_ENABLED;
}

/* Their numbers may have gaps. */
static void read_slices(nvml_device device, const struct gpu_found *parent, struct gpu_report *out)
{
    unsigned count = 0;
    if (nvml.mig_max(device, &count) != NVML_SUCCESS) return;
    for (unsigned i = 0; i < count; i++) {
        nvml_device slice;
        struct gpu_found gpu;
        if (nvml.mig_handle(device, i, &slice) != NVML_SUCCESS || read_device(slice, parent, &gpu) != NVML_SUCCESS)
            continue;
        read_processes(slice, &gpu);
        *array_add(&out->list) = gpu;
    }
}

struct device {
    nvml_device handle;
    struct gpu_found found;
};

static int compare(const void *a, const void *b)
{
    return strcmp(((const struct device *)a)->found.bus, ((const struct device *)b)->found.bus);
}

static void read_all(struct gpu_report *out)
{
    ARRAY(struct device) whole = {0};
    unsigned count = 0;
    if (fail(out->fault, "nvmlDeviceGetCount_v2", nvml.count(&count))) return;
    for (unsigned i = 0; i < count && i < GPU_REPORT_GPUS_MAX; i++) {
        struct device device;
        int result = nvml.handle(i, &device.handle);
        if (result == NVML_SUCCESS) result = read_device(device.handle, NULL, &device.found);
        if (!fail(out->missing, "a GPU does not answer", result)) *array_add(&whole) = device;
    }
    if (whole.count > 1) qsort(whole.items, whole.count, sizeof *whole.items, compare);
    for (uint32_t i = 0; i < whole.count; i++) {
        struct device *device = &whole.items[i];
        if (has_slices(device->handle)) {
            read_slices(device->handle, &device->found, out);
            continue;
        }
        read_processes(device->handle, &device->found);
        *array_add(&out->list) = device->found;
    }
    array_release(&whole);
}

const struct gpu_library gpu_nvml = {.open = open_library, .read = read_all};
