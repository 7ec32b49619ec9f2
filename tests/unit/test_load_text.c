/* The parsers of the kernel's texts about load, and the text of a topology. */
#include "dies.h"

#include <string.h>

#include "daemon/load_text.h"

static void averages(void **unused)
{
    (void)unused;
    static const char *const bad[] = {"", "0.1 0.2", "0.1 0.2 x", "-1 0 0", "nan 0 0", "1e300 0 0", "\n0.1 0.2 0.3"};
    double out[3] = {7, 7, 7};
    for (size_t i = 0; i < COUNT(bad); i++) assert_false(load_text_parse_averages(str(bad[i]), out));
    assert_true(out[0] == 7.0);
    assert_true(load_text_parse_averages(str("6.19  5.61 3.76 8/127 9408\n"), out));
    assert_true(out[0] == 6.19 && out[1] == 5.61 && out[2] == 3.76);
}

static void memory(void **unused)
{
    (void)unused;
    static const char text[] =
        "MemTotal:       1000 kB\nMemFree:         300 kB\nMemAvailable:   1 kB\nBuffers: 20 kB\n"
        "Cached:      80 kB\nSwapCached: 5 kB\nSwapTotal: 50 kB\nSwapFree:   70 kB\n";
    struct load_memory m = {.mem_total = 1};
    assert_true(load_text_parse_memory(str(text), &m));
    assert_int_equal(m.mem_total, 1000);
    assert_int_equal(m.mem_free, 400);
    assert_int_equal(m.swap_total, 50);
    assert_int_equal(m.swap_free, 50);
    for (size_t cut = 0; cut + 20 < sizeof text; cut++)
        assert_false(load_text_parse_memory((struct str){text, cut}, &m));
    assert_false(load_text_parse_memory(str("MemTotal: 99999999999999999999 kB\n"), &m));
}

static void cpu_time(void **unused)
{
    (void)unused;
    static const char text[] = "cpu  10 20 30 400 50 6 7 8 1000 1000\ncpu0 1 1 1 1 1 1 1 1\ncpu1 x\nintr 5 0 0\ncpus\n";
    struct load_cpu_time t;
    assert_true(load_text_parse_cpu_time(str(text), &t));
    assert_int_equal(t.busy, 81);
    assert_int_equal(t.idle, 450);
    assert_int_equal(t.cpu_count, 3);
    assert_true(load_text_parse_cpu_time(str("cpu 1 2 3 4\ncpu0 1 2 3 4"), &t)); /* old kernels */
    static const char *const bad[] = {"",
                                      "cpu 1 2 3\ncpu0",
                                      "cpu0 1 2 3 4\n",
                                      "cpu 1 2 3 4\n",
                                      "cpu 1 2 3 x\ncpu0\n",
                                      "cpu 99999999999999999 2 3 4\ncpu0\n"};
    for (size_t i = 0; i < COUNT(bad); i++) assert_false(load_text_parse_cpu_time(str(bad[i]), &t));
}

static void busy_percent(void **unused)
{
    (void)unused;
    const struct load_cpu_time boot = {0}, before = {100, 300, 2}, after = {130, 370, 2};
    assert_true(load_text_busy_percent(&boot, &before) == 25.0);
    assert_true(load_text_busy_percent(&before, &after) == 30.0);
    assert_true(load_text_busy_percent(&after, &after) == 0.0);
    assert_true(load_text_busy_percent(&after, &before) == 0.0); /* counters went backwards */
}

static void topologies(void **unused)
{
    (void)unused;
    struct load_cpu_place two[] = {{0, 0, 0}, {1, 0, 1}, {2, 1, 0}, {3, 1, 1},
                                   {4, 0, 0}, {5, 0, 1}, {6, 1, 0}, {7, 1, 1}};
    struct idset used = {0};
    struct buf all = {0}, in_use = {0};
    idset_add(&used, 5);
    const struct load_topology t = load_text_topology(two, COUNT(two), &used, &all, &in_use);
    assert_string_equal(all.text, "SCTTCTTSCTTCTT");
    assert_string_equal(in_use.text, "sCTTcTtSCTTCTT");
    assert_int_equal(t.socket_count, 2);
    assert_int_equal(t.core_count, 4);
    assert_int_equal(t.thread_count, 8);
    idset_release(&used);
    buf_release(&all);
    buf_release(&in_use);
}

static void architectures(void **unused)
{
    (void)unused;
    static const char *const rows[][2] = {
        {"x86_64", "lx-amd64"}, {"aarch64", "lx-arm64"}, {"i686", "lx-x86"}, {"riscv64", "lx-riscv64"}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct buf text = {0};
        load_text_arch(rows[i][0], &text);
        assert_string_equal(text.text, rows[i][1]);
        buf_release(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(averages),     cmocka_unit_test(memory),     cmocka_unit_test(cpu_time),
        cmocka_unit_test(busy_percent), cmocka_unit_test(topologies), cmocka_unit_test(architectures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
