/* What a process that looks at GPUs writes, and what is read of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "daemon/gpu_report.h"

static bool read_all(struct gpu_report *report, const char *text)
{
    bool has_end = false;
    for (struct str rest = str(text); rest.text != NULL;) {
        struct str line = str_cut(rest, '\n', &rest);
        has_end |= gpu_report_read(report, GPU_NVIDIA, line);
    }
    return has_end;
}

static void what_is_written_is_read(void **unused)
{
    (void)unused;
    struct gpu_report report = {0};
    struct buf text = {0};
    struct gpu_found gpu = {.uuid = "GPU-1",
                            .bus = "00000000:3b:00.0",
                            .name = "NVIDIA A100 80GB",
                            .minor = -1,
                            .mem_mib = 81920,
                            .used_mib = -1,
                            .busy = 37,
                            .is_slice = true};
    *array_add(&gpu.processes) = (struct gpu_process){4711, 512};
    *array_add(&gpu.processes) = (struct gpu_process){4712, -1};
    gpu_report_write(&gpu, &text);
    assert_string_equal(text.text, "gpu\tGPU-1\t00000000:3b:00.0\t-\t81920\t-\t37\t1\tNVIDIA A100 80GB\n"
                                   "process\t4711\t512\nprocess\t4712\t-\n");
    buf_add_text(&text, "missing\tGPU is lost\nend");
    assert_true(read_all(&report, text.text));
    assert_int_equal(report.list.count, 1);
    const struct gpu_found *found = &report.list.items[0];
    assert_string_equal(found->uuid, gpu.uuid);
    assert_string_equal(found->bus, gpu.bus);
    assert_string_equal(found->name, gpu.name);
    assert_true(found->minor == -1 && found->mem_mib == 81920 && found->used_mib == -1 && found->busy == 37);
    assert_true(found->is_slice);
    assert_int_equal(found->processes.count, 2);
    assert_int_equal(found->processes.items[1].pid, 4712);
    assert_int_equal(found->processes.items[1].mem_mib, -1);
    assert_string_equal(report.missing, "GPU is lost");
    assert_string_equal(report.fault, "");
    gpu_report_release(&report);
    array_release(&gpu.processes);
    buf_release(&text);
}

/* It comes from a driver: nothing of it may harm the daemon. */
static void any_text_is_read(void **unused)
{
    static const struct {
        const char *text;
        uint32_t count;
        bool has_end;
    } rows[] = {
        {"", 0, false},
        {"end", 0, true},
        {"end\tx", 0, true},
        {"ending", 0, false},
        {"gpu", 0, false},
        {"gpu\t", 0, false},
        {"gpu\tGPU-1", 1, false},
        {"gpu\tGPU-1\ngpu\tGPU-1", 1, false},
        {"gpu\tGPU-1\ngpu\tGPU-2", 2, false},
        {"process\t1\t2", 0, false},
        {"gpu\tGPU-1\nprocess\nprocess\tx\nprocess\t-1\nprocess\t0", 1, false},
        {"gpu\tGPU-1\tb\t99999999999999999999\t-5\tx\t101\t2", 1, false},
    };
    (void)unused;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct gpu_report report = {0};
        assert_int_equal(read_all(&report, rows[i].text), rows[i].has_end);
        assert_int_equal(report.list.count, rows[i].count);
        for (uint32_t k = 0; k < report.list.count; k++) {
            const struct gpu_found *gpu = &report.list.items[k];
            assert_int_equal(gpu->processes.count, 0);
            assert_true(gpu->minor == -1 && gpu->mem_mib == -1 && gpu->used_mib == -1 && gpu->busy == -1);
            assert_false(gpu->is_slice);
        }
        gpu_report_release(&report);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(any_text_is_read),
    };
    return cmocka_run_group_tests_name("gpu_report", tests, NULL, NULL);
}
