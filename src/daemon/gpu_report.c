#include "daemon/gpu_report.h"

#include <string.h>

#include "base/number.h"

const char *const gpu_vendor_names[GPU_VENDOR_COUNT] = {[GPU_NVIDIA] = "nvidia", [GPU_AMD] = "amd"};

/* --- reading ------------------------------------------------------------------------------------------------------ */

static void copy_text(char *out, size_t size, struct str text)
{
    size_t length = text.length < size - 1 ? text.length : size - 1;
    memcpy(out, text.text, length);
    out[length] = '\0';
    text_make_plain(out, length);
}

/* The next field; -1 for "-", and for what is no number. */
static int64_t next_number(struct str *rest, int64_t max)
{
    int64_t value;
    if (rest->text == NULL) return -1;
    struct str field = str_cut(*rest, '\t', rest);
    return number_parse_i64(field, &value) && value >= 0 && value <= max ? value : -1;
}

static void next_text(struct str *rest, char out[GPU_TEXT_SIZE])
{
    if (rest->text != NULL) copy_text(out, GPU_TEXT_SIZE, str_cut(*rest, '\t', rest));
}

static void read_gpu(struct gpu_report *report, enum gpu_vendor vendor, struct str rest)
{
    enum { BUSY_MAX = 100, MINOR_MAX = 1 << 20 };
    static const int64_t mib_max = INT64_C(1) << 40;
    struct gpu_found gpu = {.vendor = vendor};
    next_text(&rest, gpu.uuid);
    next_text(&rest, gpu.bus);
    gpu.minor = next_number(&rest, MINOR_MAX);
    gpu.mem_mib = next_number(&rest, mib_max);
    gpu.used_mib = next_number(&rest, mib_max);
    gpu.busy = (int32_t)next_number(&rest, BUSY_MAX);
    gpu.is_slice = next_number(&rest, 1) == 1;
    next_text(&rest, gpu.name);
    bool is_known = false;
    for (uint32_t i = 0; i < report->list.count && !is_known; i++)
        is_known = strcmp(report->list.items[i].uuid, gpu.uuid) == 0;
    if (gpu.uuid[0] == '\0' || is_known || report->list.count >= GPU_REPORT_GPUS_MAX) return;
    *array_add(&report->list) = gpu;
}

static void read_process(struct gpu_report *report, struct str rest)
{
    if (report->list.count == 0) return;
    struct gpu_found *gpu = &report->list.items[report->list.count - 1];
    int64_t pid = next_number(&rest, INT32_MAX), mem_mib = next_number(&rest, INT64_C(1) << 40);
    if (pid <= 0 || gpu->processes.count >= GPU_PROCESSES_MAX) return;
    *array_add(&gpu->processes) = (struct gpu_process){(int32_t)pid, mem_mib};
}

bool gpu_report_read(struct gpu_report *report, enum gpu_vendor vendor, struct str line)
{
    struct str rest, word = str_cut(line, '\t', &rest);
    if (str_equal(word, str("end"))) return true;
    if (str_equal(word, str("none"))) report->has_no_library = true;
    if (rest.text == NULL) return false;
    if (str_equal(word, str("gpu"))) read_gpu(report, vendor, rest);
    if (str_equal(word, str("process"))) read_process(report, rest);
    if (str_equal(word, str("missing"))) copy_text(report->missing, sizeof report->missing, rest);
    if (str_equal(word, str("fault"))) copy_text(report->fault, sizeof report->fault, rest);
    return false;
}

void gpu_report_clear(struct gpu_report *report)
{
    for (uint32_t i = 0; i < report->list.count; i++) array_release(&report->list.items[i].processes);
    array_clear(&report->list);
    report->missing[0] = report->fault[0] = '\0';
    report->has_no_library = false;
}

void gpu_report_release(struct gpu_report *report)
{
    gpu_report_clear(report);
    array_release(&report->list);
}

/* --- writing ------------------------------------------------------------------------------------------------------ */

static void add_number(int64_t value, struct buf *out)
{
    if (value < 0)
        buf_add_text(out, "\t-");
    else
        buf_format(out, "\t%lld", (long long)value);
}

void gpu_report_write(const struct gpu_found *gpu, struct buf *out)
{
    buf_format(out, "gpu\t%s\t%s", gpu->uuid, gpu->bus);
    add_number(gpu->minor, out);
    add_number(gpu->mem_mib, out);
    add_number(gpu->used_mib, out);
    add_number(gpu->busy, out);
    buf_format(out, "\t%d\t%s\n", gpu->is_slice, gpu->name);
    for (uint32_t i = 0; i < gpu->processes.count; i++) {
        buf_format(out, "process\t%d", gpu->processes.items[i].pid);
        add_number(gpu->processes.items[i].mem_mib, out);
        buf_add_char(out, '\n');
    }
}
