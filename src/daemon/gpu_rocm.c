/* AMD's management library, librocm_smi64. What is declared here is what is used of its interface. Source: AMD, ROCm
 * SMI library (rocm_smi.h) of ROCm 5.2 to 6. A GPU's UUID is "GPU-" and its unique id, as ROCR_VISIBLE_DEVICES has it;
 * a GPU without one, which those for desktops are, is known by its address on the bus. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/gpu_library.h"

enum { RSMI_SUCCESS = 0, RSMI_MEMORY_VRAM = 0, RSMI_DEVICES_MAX = 256 };

struct rsmi_process {
    uint32_t pid, pasid;
    uint64_t used_bytes, sdma_us;
    uint32_t occupancy;
};
_Static_assert(sizeof(struct rsmi_process) == 32, "the layout of the library");

static struct {
    int (*init)(uint64_t flags);
    int (*status_string)(int status, const char **out);
    int (*count)(uint32_t *out);
    int (*name)(uint32_t device, char *out, size_t size);
    int (*unique_id)(uint32_t device, uint64_t *out);
    int (*pci)(uint32_t device, uint64_t *out);
    int (*total)(uint32_t device, int kind, uint64_t *out);
    int (*used)(uint32_t device, int kind, uint64_t *out);
    int (*busy)(uint32_t device, uint32_t *out);
    /* optional */
    int (*processes)(struct rsmi_process *out, uint32_t *io_count);
    int (*gpus_of_process)(uint32_t pid, uint32_t *out_devices, uint32_t *io_count);
} rsmi;

static const struct gpu_function functions[] = {
    {"rsmi_init", &rsmi.init, false},
    {"rsmi_status_string", &rsmi.status_string, false},
    {"rsmi_num_monitor_devices", &rsmi.count, false},
    {"rsmi_dev_name_get", &rsmi.name, false},
    {"rsmi_dev_unique_id_get", &rsmi.unique_id, false},
    {"rsmi_dev_pci_id_get", &rsmi.pci, false},
    {"rsmi_dev_memory_total_get", &rsmi.total, false},
    {"rsmi_dev_memory_usage_get", &rsmi.used, false},
    {"rsmi_dev_busy_percent_get", &rsmi.busy, false},
    {"rsmi_compute_process_info_get", &rsmi.processes, true},
    {"rsmi_compute_process_gpus_get", &rsmi.gpus_of_process, true},
};

static void *library;

static bool fail(char out_fault[GPU_FAULT_SIZE], const char *what, int status)
{
    const char *text = "unknown error";
    if (status == RSMI_SUCCESS) return false;
    (void)rsmi.status_string(status, &text);
    text_format(out_fault, GPU_FAULT_SIZE, "%s: %s", what, text);
    return true;
}

static int open_library(char out_fault[GPU_FAULT_SIZE])
{
    static const char *const names[] = {"librocm_smi64.so.7",
                                        "librocm_smi64.so.6",
                                        "librocm_smi64.so.5",
                                        "librocm_smi64.so.1",
                                        "librocm_smi64.so",
                                        "/opt/rocm/lib/librocm_smi64.so",
                                        NULL};
    int status = gpu_library_load(names, functions, sizeof functions / sizeof *functions, &library, out_fault);
    if (status != 0) return status;
    return fail(out_fault, "rsmi_init", rsmi.init(0)) ? -1 : 0;
}

/* The address has the domain in the upper 32 bits, then 8 bits of bus, 5 of device and 3 of function. */
static int read_device(uint32_t device, struct gpu_found *out)
{
    uint64_t address, id, bytes;
    uint32_t busy;
    *out = (struct gpu_found){.vendor = GPU_AMD, .minor = -1, .mem_mib = -1, .used_mib = -1, .busy = -1};
    int status = rsmi.pci(device, &address);
    if (status != RSMI_SUCCESS) return status;
    text_format(out->bus, sizeof out->bus, "%08" PRIx64 ":%02x:%02x.%x", address >> 32, (unsigned)(address >> 8 & 0xff),
                (unsigned)(address >> 3 & 0x1f), (unsigned)(address & 7));
    if (rsmi.unique_id(device, &id) == RSMI_SUCCESS && id != 0)
        text_format(out->uuid, sizeof out->uuid, "GPU-%016" PRIx64, id);
    else
        text_format(out->uuid, sizeof out->uuid, "%s", out->bus);
    if (rsmi.name(device, out->name, sizeof out->name) != RSMI_SUCCESS) text_format(out->name, sizeof out->name, "?");
    if (rsmi.total(device, RSMI_MEMORY_VRAM, &bytes) == RSMI_SUCCESS) out->mem_mib = (int64_t)(bytes >> 20);
    if (rsmi.used(device, RSMI_MEMORY_VRAM, &bytes) == RSMI_SUCCESS) out->used_mib = (int64_t)(bytes >> 20);
    if (rsmi.busy(device, &busy) == RSMI_SUCCESS) out->busy = (int32_t)busy;
    return RSMI_SUCCESS;
}

/* The library lists processes of all GPUs, with their memory on all of them; it says of each process which GPUs it
 * uses. index_of: of each device in the report; NONE: it is not there. */
static void read_processes(const uint32_t index_of[RSMI_DEVICES_MAX], struct gpu_report *out)
{
    static struct rsmi_process list[GPU_PROCESSES_MAX];
    uint32_t count = GPU_PROCESSES_MAX, devices[RSMI_DEVICES_MAX];
    if (rsmi.processes == NULL || rsmi.gpus_of_process == NULL) return;
    if (rsmi.processes(list, &count) != RSMI_SUCCESS || count > GPU_PROCESSES_MAX) return;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t device_count = RSMI_DEVICES_MAX;
        if (rsmi.gpus_of_process(list[i].pid, devices, &device_count) != RSMI_SUCCESS) continue;
        for (uint32_t d = 0; d < device_count && d < RSMI_DEVICES_MAX; d++) {
            uint32_t index = devices[d] < RSMI_DEVICES_MAX ? index_of[devices[d]] : NONE;
            if (index == NONE) continue;
            int64_t mem_mib = device_count == 1 ? (int64_t)(list[i].used_bytes >> 20) : -1;
            *array_add(&out->list.items[index].processes) = (struct gpu_process){(int32_t)list[i].pid, mem_mib};
        }
    }
}

static int compare(const void *a, const void *b)
{
    return strcmp(((const struct gpu_found *)a)->bus, ((const struct gpu_found *)b)->bus);
}

static void read_all(struct gpu_report *out)
{
    uint32_t count = 0, index_of[RSMI_DEVICES_MAX];
    memset(index_of, 0xff, sizeof index_of); /* NONE */
    if (fail(out->fault, "rsmi_num_monitor_devices", rsmi.count(&count))) return;
    for (uint32_t i = 0; i < count && i < RSMI_DEVICES_MAX; i++) {
        struct gpu_found gpu;
        if (fail(out->missing, "a GPU does not answer", read_device(i, &gpu))) continue;
        gpu.minor = i; /* for now: which device it is */
        *array_add(&out->list) = gpu;
    }
    if (out->list.count > 1) qsort(out->list.items, out->list.count, sizeof *out->list.items, compare);
    for (uint32_t i = 0; i < out->list.count; i++) {
        index_of[out->list.items[i].minor] = i;
        out->list.items[i].minor = -1;
    }
    read_processes(index_of, out);
}

const struct gpu_library gpu_rocm = {.open = open_library, .read = read_all};
