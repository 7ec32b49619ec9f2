#include "daemon/sensor_text.h"

#include <string.h>

void sensor_reader_clear(struct sensor_reader *r)
{
    r->length = 0;
    r->is_inside = false;
    r->faults = 0;
    load_values_clear(&r->values);
}

void sensor_reader_release(struct sensor_reader *r)
{
    load_values_release(&r->values);
}

/* Whether a line is about this machine: about it by name, or about all hosts. */
static bool is_here(const struct sensor_reader *r, struct str host)
{
    struct str domain, full = str(r->host_name), name = str_cut(full, '.', &domain);
    return str_equal_nocase(host, str("localhost")) || str_equal_nocase(host, str("global")) ||
           str_equal_nocase(host, full) || str_equal_nocase(host, name);
}

static void add_fault(struct sensor_reader *r, enum sensor_fault fault)
{
    r->faults |= UINT32_C(1) << fault;
}

static bool is_name(struct str s)
{
    return s.length > 0 && s.length <= SENSOR_NAME_MAX && str_is_printable(s);
}

static void read_value(struct sensor_reader *r, struct str line)
{
    struct str name, value, host = str_trim(str_cut(line, ':', &name));
    name = str_trim(str_cut(name, ':', &value));
    value = str_trim(value);
    if (host.length == 0 || !is_name(name) || value.length == 0 || value.length > SENSOR_VALUE_MAX ||
        !str_is_printable(value))
        add_fault(r, SENSOR_LINE_INVALID);
    else if (is_here(r, host) && r->values.list.count == SENSOR_VALUES_MAX)
        add_fault(r, SENSOR_TOO_MANY_VALUES);
    else if (is_here(r, host))
        load_values_add(&r->values, name, value);
}

/* Returns whether the line ends a report. */
static bool read_line(struct sensor_reader *r, struct str line)
{
    line = str_trim(line);
    if (str_equal(line, str("begin"))) {
        load_values_clear(&r->values);
        r->is_inside = true;
    } else if (!r->is_inside) {
        if (line.length > 0) add_fault(r, SENSOR_LINE_OUTSIDE);
    } else if (str_equal(line, str("end"))) {
        r->is_inside = false;
        return true;
    } else if (line.length > 0) {
        read_value(r, line);
    }
    return false;
}

/* Takes the bytes of the line that is read now. Returns whether it has ended. */
static bool take_line(struct sensor_reader *r, struct str *io_bytes)
{
    const char *end = memchr(io_bytes->text, '\n', io_bytes->length);
    size_t length = end != NULL ? (size_t)(end - io_bytes->text) : io_bytes->length;
    if (length > sizeof r->line - r->length) {
        add_fault(r, SENSOR_LINE_TOO_LONG);
        return false;
    }
    memcpy(r->line + r->length, io_bytes->text, length);
    r->length += (uint32_t)length;
    *io_bytes = str_range(io_bytes->text + length + (end != NULL), io_bytes->text + io_bytes->length);
    return end != NULL;
}

bool sensor_reader_read(struct sensor_reader *r, struct str *io_bytes)
{
    bool is_complete = false;
    while (io_bytes->length > 0 && !is_complete && !sensor_is_broken(r)) {
        if (!take_line(r, io_bytes)) continue;
        is_complete = read_line(r, (struct str){r->line, r->length});
        r->length = 0;
    }
    return is_complete;
}
