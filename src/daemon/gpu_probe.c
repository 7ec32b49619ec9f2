#include "daemon/gpu_probe.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "daemon/gpu_library.h"

static const struct gpu_library *const libraries[GPU_VENDOR_COUNT] = {[GPU_NVIDIA] = &gpu_nvml, [GPU_AMD] = &gpu_rocm};

bool gpu_probe_find_vendor(const char *name, enum gpu_vendor *out)
{
    for (uint32_t i = 0; i < GPU_VENDOR_COUNT; i++) {
        if (strcmp(name, gpu_vendor_names[i]) != 0) continue;
        *out = (enum gpu_vendor)i;
        return true;
    }
    return false;
}

static bool write_all(const struct buf *text)
{
    for (size_t done = 0; done < text->length;) {
        ssize_t written = write(STDOUT_FILENO, text->text + done, text->length - done);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return false;
        done += (size_t)written;
    }
    return true;
}

static void write_report(const struct gpu_report *report, struct buf *out)
{
    if (report->has_no_library) buf_add_text(out, "none\n");
    for (uint32_t i = 0; i < report->list.count; i++) gpu_report_write(&report->list.items[i], out);
    if (report->missing[0] != '\0') buf_format(out, "missing\t%s\n", report->missing);
    if (report->fault[0] != '\0') buf_format(out, "fault\t%s\n", report->fault);
    buf_add_text(out, "end\n");
}

/* A library that does not work is opened again for the next report: a driver may be loaded later. */
static void make_report(const struct gpu_library *library, bool *io_is_open, struct gpu_report *out)
{
    int result = *io_is_open ? 0 : library->open(out->fault);
    out->has_no_library = result > 0;
    *io_is_open = result == 0;
    if (result == 0) library->read(out);
}

int gpu_probe_run(enum gpu_vendor vendor)
{
    struct gpu_report report = {0};
    struct buf text = {0};
    bool is_open = false, goes_on = true;
    char line;
    while (goes_on && read(STDIN_FILENO, &line, 1) == 1) {
        gpu_report_clear(&report);
        buf_clear(&text);
        make_report(libraries[vendor], &is_open, &report);
        write_report(&report, &text);
        goes_on = write_all(&text) && !report.has_no_library;
    }
    gpu_report_release(&report);
    buf_release(&text);
    return 0;
}
