#include "daemon/load_text.h"

#include <ctype.h>

#include "base/number.h"

/* --- /proc -------------------------------------------------------------------------------------------------------- */

/* The next word of a line, which blanks separate; empty at its end. */
static struct str next_word(struct str *line)
{
    struct str word;
    do word = str_cut(*line, ' ', line);
    while (word.length == 0 && line->text != NULL);
    return word;
}

bool load_text_parse_averages(struct str text, double out[3])
{
    double averages[3];
    struct str unused, line = str_cut(text, '\n', &unused);
    for (int i = 0; i < 3; i++) {
        if (!number_parse_double(next_word(&line), &averages[i])) return false;
        if (!(averages[i] >= 0.0 && averages[i] <= 1e9)) return false;
    }
    for (int i = 0; i < 3; i++) out[i] = averages[i];
    return true;
}

/* The number of the first line "name:   number kB". */
static bool find_kib(struct str text, const char *name, uint64_t *out)
{
    while (text.length > 0) {
        struct str value, line = str_cut(text, '\n', &text);
        if (!str_equal(str_cut(line, ':', &value), str(name))) continue;
        return number_parse_u64(next_word(&value), out) && *out <= UINT64_C(1) << 50;
    }
    return false;
}

static uint64_t min_of(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

bool load_text_parse_memory(struct str text, struct load_memory *out)
{
    struct load_memory m;
    uint64_t buffers, cached;
    if (!find_kib(text, "MemTotal", &m.mem_total) || !find_kib(text, "MemFree", &m.mem_free) ||
        !find_kib(text, "Buffers", &buffers) || !find_kib(text, "Cached", &cached) ||
        !find_kib(text, "SwapTotal", &m.swap_total) || !find_kib(text, "SwapFree", &m.swap_free))
        return false;
    m.mem_free = min_of(m.mem_free + buffers + cached, m.mem_total);
    m.swap_free = min_of(m.swap_free, m.swap_total);
    *out = m;
    return true;
}

/* "cpu  user nice system idle iowait irq softirq steal guest guest_nice": guests are in user and nice already. */
static bool parse_times(struct str line, struct load_cpu_time *out)
{
    enum { IDLE = 3, IO_WAIT = 4, TIME_COUNT = 8, NEEDED = 4 };
    struct load_cpu_time sum = {0};
    for (int i = 0; i < TIME_COUNT; i++) {
        uint64_t ticks;
        struct str word = next_word(&line);
        if (word.length == 0 && i >= NEEDED) break;
        if (!number_parse_u64(word, &ticks) || ticks > UINT64_C(1) << 55) return false;
        *(i == IDLE || i == IO_WAIT ? &sum.idle : &sum.busy) += ticks;
    }
    *out = sum;
    return true;
}

bool load_text_parse_cpu_time(struct str text, struct load_cpu_time *out)
{
    struct load_cpu_time sum = {0};
    bool has_sum = false;
    uint32_t count = 0;
    while (text.length > 0) {
        struct str line = str_cut(text, '\n', &text), name = next_word(&line);
        if (!str_starts(name, str("cpu"))) continue;
        if (name.length > 3)
            count++;
        else if (!has_sum && !(has_sum = parse_times(line, &sum)))
            return false;
    }
    if (!has_sum || count == 0) return false;
    sum.cpu_count = count;
    *out = sum;
    return true;
}

double load_text_busy_percent(const struct load_cpu_time *before, const struct load_cpu_time *after)
{
    double busy = after->busy > before->busy ? (double)(after->busy - before->busy) : 0.0;
    double idle = after->idle > before->idle ? (double)(after->idle - before->idle) : 0.0;
    return busy + idle > 0.0 ? 100.0 * busy / (busy + idle) : 0.0;
}

/* --- the processors ----------------------------------------------------------------------------------------------- */

static bool is_before(const struct load_cpu_place *a, const struct load_cpu_place *b)
{
    if (a->socket != b->socket) return a->socket < b->socket;
    return a->core != b->core ? a->core < b->core : a->id < b->id;
}

/* Nearly sorted already. */
static void sort_places(struct load_cpu_place *places, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        const struct load_cpu_place place = places[i];
        uint32_t at = i;
        for (; at > 0 && is_before(&place, &places[at - 1]); at--) places[at] = places[at - 1];
        places[at] = place;
    }
}

static bool is_same_socket(const struct load_cpu_place *a, const struct load_cpu_place *b)
{
    return a->socket == b->socket;
}

static bool is_same_core(const struct load_cpu_place *a, const struct load_cpu_place *b)
{
    return a->socket == b->socket && a->core == b->core;
}

/* Whether a CPU that is together with the first place is used. */
static bool has_used(const struct load_cpu_place *places, uint32_t count, const struct idset *used,
                     bool (*is_same)(const struct load_cpu_place *, const struct load_cpu_place *))
{
    for (uint32_t i = 0; i < count && is_same(&places[0], &places[i]); i++) {
        if (idset_has(used, places[i].id)) return true;
    }
    return false;
}

static void add_letter(char letter, bool is_used, struct buf *out, struct buf *out_in_use)
{
    buf_add_char(out, letter);
    buf_add_char(out_in_use, (char)(is_used ? tolower(letter) : letter));
}

struct load_topology load_text_topology(struct load_cpu_place *places, uint32_t count, const struct idset *used,
                                        struct buf *out, struct buf *out_in_use)
{
    struct load_topology t = {.thread_count = count};
    sort_places(places, count);
    for (uint32_t i = 0; i < count; i++) {
        bool is_first_of_socket = i == 0 || !is_same_socket(&places[i - 1], &places[i]);
        bool is_first_of_core = i == 0 || !is_same_core(&places[i - 1], &places[i]);
        t.socket_count += is_first_of_socket;
        t.core_count += is_first_of_core;
        if (is_first_of_socket) add_letter('S', has_used(&places[i], count - i, used, is_same_socket), out, out_in_use);
        if (is_first_of_core) add_letter('C', has_used(&places[i], count - i, used, is_same_core), out, out_in_use);
        add_letter('T', idset_has(used, places[i].id), out, out_in_use);
    }
    return t;
}

void load_text_arch(const char *machine, struct buf *out)
{
    static const char *const names[][2] = {{"x86_64", "amd64"}, {"aarch64", "arm64"}, {"i386", "x86"},
                                           {"i486", "x86"},     {"i586", "x86"},      {"i686", "x86"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (str_equal(str(machine), str(names[i][0]))) machine = names[i][1];
    }
    buf_format(out, "lx-%s", machine);
}
