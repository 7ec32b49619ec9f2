#include "daemon/machine_load.h"

#include <fcntl.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/number.h"
#include "base/quantity.h"

enum { CPU_NUMBERS_MAX = 8192, FILE_BYTES_MAX = 1 << 20, READ_SIZE = 4096 };

/* Empty if the file cannot be read. */
static struct str read_file(const char *path, struct buf *buffer)
{
    ssize_t got = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    buf_clear(buffer);
    while (fd >= 0 && buffer->length < FILE_BYTES_MAX && (got = read(fd, buf_room(buffer, READ_SIZE), READ_SIZE)) > 0)
        buffer->length += (size_t)got;
    if (fd >= 0) close(fd);
    return (struct str){buffer->text, buffer->length};
}

/* --- what does not change ----------------------------------------------------------------------------------------- */

static bool read_topology(uint32_t cpu, const char *name, struct buf *buffer, uint32_t *out)
{
    char path[80];
    uint64_t number;
    text_format(path, sizeof path, "/sys/devices/system/cpu/cpu%u/topology/%s", cpu, name);
    if (!number_parse_u64(str_trim(read_file(path, buffer)), &number) || number > UINT32_MAX) return false;
    *out = (uint32_t)number;
    return true;
}

void machine_load_init(struct machine_load *m)
{
    struct buf buffer = {0};
    struct load_cpu_place place;
    size_t size = 0;
    *m = (struct machine_load){0};
    for (place.id = 0; place.id < CPU_NUMBERS_MAX; place.id++) {
        if (!read_topology(place.id, "physical_package_id", &buffer, &place.socket) ||
            !read_topology(place.id, "core_id", &buffer, &place.core))
            continue;
        m->places = mem_resize(m->places, size, size + sizeof place);
        m->places[m->place_count++] = place;
        size += sizeof place;
    }
    buf_release(&buffer);
}

void machine_load_release(struct machine_load *m)
{
    mem_free(m->places);
    *m = (struct machine_load){0};
}

/* --- a measurement ------------------------------------------------------------------------------------------------ */

static void add_number(struct load_values *v, const char *name, uint64_t number)
{
    char text[NUMBER_TEXT_SIZE];
    size_t length = number_format_u64(text, number);
    load_values_add(v, str(name), (struct str){text, length});
}

static void add_real(struct load_values *v, const char *name, double value)
{
    char text[40];
    size_t length = text_format(text, sizeof text, "%.2f", value);
    load_values_add(v, str(name), (struct str){text, length});
}

/* In MiB, as Grid Engine reports it. */
static void add_memory(struct load_values *v, const char *name, uint64_t kib)
{
    char text[40];
    size_t length = text_format(text, sizeof text, "%.3fM", (double)kib / 1024.0);
    load_values_add(v, str(name), (struct str){text, length});
}

static void measure_load(struct load_values *v, struct buf *buffer)
{
    static const char *const names[] = {"load_short", "load_medium", "load_long"};
    double averages[3];
    if (!load_text_parse_averages(read_file("/proc/loadavg", buffer), averages)) return;
    add_real(v, "load_avg", averages[1]);
    for (int i = 0; i < 3; i++) add_real(v, names[i], averages[i]);
}

static void measure_cpu(struct machine_load *m, struct load_values *v, struct buf *buffer)
{
    struct load_cpu_time now;
    if (!load_text_parse_cpu_time(read_file("/proc/stat", buffer), &now)) return;
    add_number(v, "num_proc", now.cpu_count);
    add_real(v, "cpu", load_text_busy_percent(&m->last, &now));
    m->last = now;
}

static void measure_memory(struct load_values *v, struct buf *buffer)
{
    struct load_memory now;
    if (!load_text_parse_memory(read_file("/proc/meminfo", buffer), &now)) return;
    add_memory(v, "mem_total", now.mem_total);
    add_memory(v, "mem_free", now.mem_free);
    add_memory(v, "mem_used", now.mem_total - now.mem_free);
    add_memory(v, "swap_total", now.swap_total);
    add_memory(v, "swap_free", now.swap_free);
    add_memory(v, "swap_used", now.swap_total - now.swap_free);
    add_memory(v, "virtual_total", now.mem_total + now.swap_total);
    add_memory(v, "virtual_free", now.mem_free + now.swap_free);
    add_memory(v, "virtual_used", now.mem_total - now.mem_free + now.swap_total - now.swap_free);
}

static void describe_processors(struct machine_load *m, const struct idset *used, struct load_values *v)
{
    struct buf topology = {0}, in_use = {0};
    if (m->place_count == 0) return;
    const struct load_topology t = load_text_topology(m->places, m->place_count, used, &topology, &in_use);
    add_number(v, "m_socket", t.socket_count);
    add_number(v, "m_core", t.core_count);
    add_number(v, "m_thread", t.thread_count);
    load_values_add(v, str("m_topology"), str(topology.text));
    load_values_add(v, str("m_topology_inuse"), str(in_use.text));
    buf_release(&topology);
    buf_release(&in_use);
}

void machine_load_measure(struct machine_load *m, const struct idset *used, struct load_values *io_values)
{
    struct buf buffer = {0};
    struct utsname name;
    load_values_clear(io_values);
    measure_load(io_values, &buffer);
    measure_cpu(m, io_values, &buffer);
    measure_memory(io_values, &buffer);
    describe_processors(m, used, io_values);
    buf_clear(&buffer);
    if (uname(&name) == 0) {
        load_text_arch(name.machine, &buffer);
        load_values_add(io_values, str("arch"), str(buffer.text));
    }
    buf_release(&buffer);
}
