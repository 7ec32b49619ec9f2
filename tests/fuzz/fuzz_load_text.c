/* Any bytes as what a load sensor writes, in pieces, and as the kernel's texts about load. What is read from a sensor
 * is within the limits and the same however the bytes are cut. */
#include <string.h>

#include "base/ensure.h"
#include "daemon/load_text.h"
#include "daemon/sensor_text.h"

static void check_values(const struct sensor_reader *r, struct buf *out)
{
    ensure(r->values.list.count <= SENSOR_VALUES_MAX);
    for (uint32_t i = 0; i < r->values.list.count; i++) {
        const struct host_load *load = &r->values.list.items[i];
        ensure(strlen(load->name) <= SENSOR_NAME_MAX && str_is_printable(str(load->name)));
        ensure(strlen(load->value) <= SENSOR_VALUE_MAX && str_is_printable(str(load->value)));
        ensure(load->name[0] != '\0' && load->value[0] != '\0' && strchr(load->name, '\n') == NULL);
        buf_format(out, "%s=%s\n", load->name, load->value);
    }
    buf_add_text(out, ".\n");
}

static uint32_t read_sensor(struct str text, size_t piece, struct buf *out)
{
    struct sensor_reader r = {.host_name = "n1.example"};
    for (size_t at = 0; at < text.length && !sensor_is_broken(&r); at += piece) {
        struct str bytes = {text.text + at, text.length - at < piece ? text.length - at : piece};
        while (bytes.length > 0 && !sensor_is_broken(&r)) {
            if (sensor_reader_read(&r, &bytes)) check_values(&r, out);
        }
    }
    uint32_t faults = r.faults;
    sensor_reader_release(&r);
    return faults;
}

static void check_kernel_texts(struct str text)
{
    double averages[3];
    struct load_memory memory;
    struct load_cpu_time boot = {0}, now;
    if (load_text_parse_averages(text, averages)) ensure(averages[0] >= 0.0 && averages[2] <= 1e9);
    if (load_text_parse_memory(text, &memory))
        ensure(memory.mem_free <= memory.mem_total && memory.swap_free <= memory.swap_total);
    if (!load_text_parse_cpu_time(text, &now)) return;
    double percent = load_text_busy_percent(&boot, &now);
    ensure(now.cpu_count > 0 && percent >= 0.0 && percent <= 100.0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str text = {(const char *)data, size};
    struct buf whole = {0}, cut = {0};
    uint32_t faults = read_sensor(text, size + 1, &whole);
    ensure(read_sensor(text, 1, &cut) == faults || faults >> SENSOR_LINE_TOO_LONG != 0);
    ensure(whole.length == cut.length && (whole.length == 0 || memcmp(whole.text, cut.text, whole.length) == 0));
    check_kernel_texts(text);
    buf_release(&whole);
    buf_release(&cut);
    return 0;
}
