/* Measuring launches: what files of the kernel say, whose tree a process belongs to, and what the processes of this
 * test use. */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dies.h"
#include "exec/clock.h"
#include "exec/launcher/cgroup.h"
#include "exec/launcher/durable.h"
#include "exec/launcher/measure.h"
#include "exec/launcher/process.h"
#include "exec/launcher/usage_text.h"

/* --- texts -------------------------------------------------------------------------------------------------------- */

#define UNREAD INT64_C(-7)

struct usage_row {
    const char *text;
    int64_t expected; /* UNREAD: refused */
};

static void assert_rows(bool (*parse)(struct str, int64_t *), const struct usage_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int64_t value = UNREAD;
        bool is_read = parse(str(rows[i].text), &value);
        assert_true(is_read == (rows[i].expected != UNREAD));
        assert_int_equal(value, rows[i].expected);
    }
}

static void test_usage_is_found_in_texts(void **state)
{
    (void)state;
    static const struct usage_row io[] = {
        {"rchar: 9\nwchar: 9\nread_bytes: 4096\nwrite_bytes: 8192\ncancelled_write_bytes: 4096\n", 12288},
        {"write_bytes: 1\nread_bytes:2", 3},
        {"read_bytes: 9223372036854775807\nwrite_bytes: 18446744073709551615\n", INT64_MAX},
        {"read_bytes: 4096\n", UNREAD},
        {"read_bytes: -1\nwrite_bytes: 1\n", UNREAD},
        {"read_bytes: 1 2\nwrite_bytes: 1\n", UNREAD},
        {"", UNREAD},
    };
    static const struct usage_row cpu[] = {
        {"usage_usec 4633\nuser_usec 1\n", 4633},
        {"user_usec 1\nusage_usec 0", 0},
        {"usage_usec 18446744073709551615\n", INT64_MAX},
        {"usage_usecs 1\n", UNREAD},
        {"usage_usec\n", UNREAD},
        {"usage_usec 1.5\n", UNREAD},
        {"", UNREAD},
    };
    static const struct usage_row memory[] = {
        {"anon 104857600\nfile 77\nshmem 2048\nfile_mapped 1\n", 102402},
        {"anon 1023\nshmem 0\n", 0},
        {"anon 1024\n", UNREAD},
        {"anon_thp 1024\nshmem 1\n", UNREAD},
        {"", UNREAD},
    };
    static const struct usage_row devices[] = {
        {"8:0 rbytes=100 wbytes=20 rios=9 wios=9 dbytes=9 dios=9\n253:1 rbytes=3 wbytes=0 rios=9\n", 123},
        {"8:0\n7:0 wbytes=5", 5},
        {"8:0 rbytes=9223372036854775807 wbytes=9223372036854775807\n", INT64_MAX},
        {"", 0},
        {"8:0 rbytes=x\n", UNREAD},
        {"8:0 rbytes\n", UNREAD},
        {"8:0 wbytes=-1\n", UNREAD},
    };
    static const struct usage_row kills[] = {
        {"low 0\nhigh 0\nmax 31\noom 1\noom_kill 3\noom_group_kill 1\n", 3},
        {"oom_kill_disable 0\nunder_oom 0\noom_kill 0\n", 0},
        {"oom 1\noom_kill_disable 0\n", UNREAD},
        {"", UNREAD},
    };
    static const struct usage_row resident[] = {
        {"Name:\tx\nVmRSS:\t  900 kB\nRssAnon:\t     640 kB\nRssFile:\t 77 kB\nRssShmem:\t 10 kB\n", 650},
        {"RssAnon:\t 9223372036854775807 kB\nRssShmem:\t 9 kB\n", INT64_MAX},
        {"RssAnon:\t x kB\nRssShmem:\t 9 kB\n", UNREAD},
        {"RssAnon:\t 1 kB\n", UNREAD}, /* a kernel thread, or a process that is ending, has neither */
        {"", UNREAD},
    };
    static const struct usage_row proportional[] = {
        {"55d-7ff [rollup]\nRss: 99 kB\nPss: 70 kB\nPss_Anon:   40 kB\nPss_File: 25 kB\nPss_Shmem: 5 kB\n", 45},
        {"Pss: 70 kB\n", UNREAD},
        {"", UNREAD},
    };
    assert_rows(usage_text_parse_oom_kills, kills, COUNT(kills));
    assert_rows(usage_text_parse_resident, resident, COUNT(resident));
    assert_rows(usage_text_parse_proportional, proportional, COUNT(proportional));
    assert_rows(usage_text_parse_io, io, COUNT(io));
    assert_rows(usage_text_parse_group_cpu, cpu, COUNT(cpu));
    assert_rows(usage_text_parse_group_memory, memory, COUNT(memory));
    assert_rows(usage_text_parse_group_io, devices, COUNT(devices));
}

static void test_users_and_gpus_are_found_in_texts(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t uid;
    } users[] = {
        {"Name:\tsh\nUmask:\t0022\nUid:\t1000\t0\t0\t0\nGid:\t5\t5\t5\t5\n", 1000},
        {"Name:\tUid:\t7\nUid:\t4294967295\t1\t1\t1\n", UINT32_MAX},
        {"Name:\ta\\nUid:\t7\t7\t7\t7\nUid:\t8\t8\t8\t8\n", 8}, /* as the kernel escapes a line end */
        {"Uid:\t4294967296\t1\t1\t1\n", -1},
        {"Uid:\t-1\t1\t1\t1\n", -1},
        {"Uid:\n", -1},
        {"Name:\tsh\n", -1},
        {"", -1},
    };
    for (size_t i = 0; i < COUNT(users); i++) {
        uint32_t uid = 99;
        assert_true(usage_text_parse_uid(str(users[i].text), &uid) == (users[i].uid >= 0));
        assert_int_equal(uid, users[i].uid >= 0 ? users[i].uid : 99);
    }
    static const struct {
        const char *text;
        uint32_t gpu;
    } files[] = {
        {"/dev/nvidia0", 0},
        {"/dev/nvidia63", 63},
        {"/dev/nvidia64", 99},
        {"/dev/nvidiactl", 99},
        {"/dev/nvidia-uvm", 99},
        {"/dev/nvidia", 99},
        {"/dev/nvidia1 (deleted)", 99},
        {"/tmp/dev/nvidia0", 99},
        {"/dev/nvidia/caps/1", 99},
        {"socket:[1]", 99},
        {"", 99},
    };
    for (size_t i = 0; i < COUNT(files); i++) {
        uint32_t gpu = 99;
        assert_true(usage_text_parse_gpu(str(files[i].text), &gpu) == (files[i].gpu != 99));
        assert_int_equal(gpu, files[i].gpu);
    }
}

static void test_autogroups_are_parsed(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int32_t nice;
    } rows[] = {
        {"/autogroup-25 nice 0\n", 0},
        {"/autogroup-9508 nice -20", -20},
        {"/autogroup-1 nice 19\n", 19},
        {"/autogroup-1 nice 20\n", 99},
        {"/autogroup-1 nice\n", 99},
        {"/autogroup-1 nice 1 2\n", 99},
        {"/autogroup-1 weight 3\n", 99},
        {"nice 3\n", 99},
        {"", 99},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        int32_t nice = 99;
        assert_true(usage_text_parse_autogroup(str(rows[i].text), &nice) == (rows[i].nice != 99));
        assert_int_equal(nice, rows[i].nice);
    }
}

static void assert_group(const char *path, int64_t cpu_us, int64_t mem_kib, int64_t io_bytes)
{
    struct buf scratch = {0};
    struct cgroup_usage usage;
    cgroup_read_usage(path, &scratch, &usage);
    assert_int_equal(usage.cpu_us, cpu_us);
    assert_int_equal(usage.mem_kib, mem_kib);
    assert_int_equal(usage.io_bytes, io_bytes);
    cgroup_read_sums(path, &scratch, &usage);
    assert_int_equal(usage.cpu_us, cpu_us);
    assert_int_equal(usage.mem_kib, -1);
    assert_int_equal(usage.io_bytes, io_bytes);
    buf_release(&scratch);
}

/* A folder with the files of a group is as good as a group. A file exists if the group has the controller. */
static void put_file(int directory_fd, const char *name, const char *text)
{
    int fd = openat(directory_fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(fd >= 0 && durable_write_all(fd, str(text)) == 0);
    close(fd);
}

static void assert_file(int directory_fd, const char *name, const char *text)
{
    struct buf found = {0};
    bool exists;
    assert_int_equal(durable_read(directory_fd, name, &found, &exists, NULL), 0);
    assert_true(exists);
    assert_true(str_equal((struct str){found.text, found.length}, str(text)));
    buf_release(&found);
}

/* Of version 2, in a folder, because this machine may have no such controllers. */
static void test_limits_are_written_into_the_files_of_a_group(void **state)
{
    (void)state;
    struct cgroup group = {.path = "/tmp/fairlead-group-XXXXXX"}, none = {.path = ""};
    struct idset cpus = {0};
    assert_int_equal(idset_parse(str("0-3,8"), 100, "cpus", &cpus, NULL), 0);
    assert_non_null(mkdtemp(group.path));
    int fd = open(group.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_false(cgroup_set_memory_limit(&group, 1024) || cgroup_set_memory_limit(&none, 1024));
    assert_false(cgroup_set_cpus(&group, &cpus) || cgroup_set_cpus(&none, &cpus));
    assert_false(cgroup_has_memory_limit(&group) || cgroup_has_memory_limit(&none));
    assert_int_equal(cgroup_count_oom_kills(&group) + cgroup_count_oom_kills(&none), 0);
    put_file(fd, "memory.max", "");
    put_file(fd, "memory.oom.group", "");
    put_file(fd, "memory.swap.max", "");
    put_file(fd, "memory.events", "oom 1\noom_kill 7\n");
    put_file(fd, "cpuset.cpus", "");
    put_file(fd, "cpuset.cpus.effective", "");
    assert_true(cgroup_set_memory_limit(&group, 1024) && cgroup_has_memory_limit(&group));
    assert_true(cgroup_set_cpus(&group, &cpus));
    assert_int_equal(cgroup_count_oom_kills(&group), 7);
    assert_true(cgroup_has_met_limit(&group));
    put_file(fd, "memory.events", "oom 0\noom_kill 7\n");
    assert_false(cgroup_has_met_limit(&group) || cgroup_has_met_limit(&none));
    assert_file(fd, "memory.max", "1048576\n");
    assert_file(fd, "memory.oom.group", "1\n");
    assert_file(fd, "memory.swap.max", "0\n");
    assert_file(fd, "cpuset.cpus", "0-3,8\n");
    static const char *const names[] = {"memory.max",    "memory.oom.group", "memory.swap.max",
                                        "memory.events", "cpuset.cpus",      "cpuset.cpus.effective"};
    for (size_t i = 0; i < COUNT(names); i++) assert_int_equal(unlinkat(fd, names[i], 0), 0);
    close(fd);
    assert_int_equal(rmdir(group.path), 0);
    idset_release(&cpus);
}

static void test_a_group_says_what_it_has_files_for(void **state)
{
    (void)state;
    char path[] = "/tmp/fairlead-group-XXXXXX";
    assert_non_null(mkdtemp(path));
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_group("", -1, -1, -1);
    assert_group(path, -1, -1, -1);
    put_file(fd, "cpu.stat", "usage_usec 5\n");
    assert_group(path, 5, -1, -1);
    put_file(fd, "memory.stat", "anon 4096\nshmem 1024\n");
    put_file(fd, "io.stat", "");
    assert_group(path, 5, 5, 0);
    put_file(fd, "io.stat", "8:0 rbytes=1 wbytes=2\n");
    assert_group(path, 5, 5, 3);
    static const char *const names[] = {"cpu.stat", "memory.stat", "io.stat"};
    for (size_t i = 0; i < COUNT(names); i++) unlinkat(fd, names[i], 0);
    close(fd);
    assert_int_equal(rmdir(path), 0);
}

/* --- trees -------------------------------------------------------------------------------------------------------- */

static void test_a_process_belongs_to_its_nearest_root(void **state)
{
    (void)state;
    static const struct {
        pid_t pid, parent;
        uint32_t root;
    } rows[] = {
        {1, 0, NONE},   {10, 1, NONE},                                 /* root 0 */
        {11, 10, 0},    {12, 11, 0},    {9, 12, 0},                    /* a pid below its parent's */
        {20, 1, NONE},                                                 /* root 1 */
        {21, 20, 1},    {30, 12, 0},                                   /* root 2, inside of the tree of root 0 */
        {31, 30, 2},    {32, 31, 2},    {40, 1, NONE}, {41, 99, NONE}, /* its parent is gone */
        {50, 51, NONE}, {51, 50, NONE}, /* a ring, which a snapshot may have when a pid was given out again */
        {52, 51, NONE}, {60, 77, 3},    /* root 3 itself is not among the processes */
    };
    struct processes all = {0};
    struct map index_by_pid = {0}, root_by_pid = {0};
    uint32_t roots[COUNT(rows)];
    for (size_t i = 0; i < COUNT(rows); i++)
        *array_add(&all.list) = (struct process){.pid = rows[i].pid, .parent = rows[i].parent};
    map_set_u64(&root_by_pid, 10, 0);
    map_set_u64(&root_by_pid, 20, 1);
    map_set_u64(&root_by_pid, 30, 2);
    map_set_u64(&root_by_pid, 77, 3);
    processes_index(&all, &index_by_pid);
    processes_find_roots(&all, &index_by_pid, &root_by_pid, roots);
    for (size_t i = 0; i < COUNT(rows); i++) assert_int_equal(roots[i], rows[i].root);
    map_release(&root_by_pid);
    map_release(&index_by_pid);
    array_release(&all.list);
}

/* --- processes of this test --------------------------------------------------------------------------------------- */

#define BURN_US INT64_C(200000)
#define SLACK_US INT64_C(60000) /* that the clock ticks of three processes may leave out */

static void burn(void)
{
    while (clock_read_us(CLOCK_PROCESS_CPUTIME_ID) < BURN_US) continue;
}

/* Forks a process that burns, writes to the pipe ready, and exits when the pipe hold is closed; if has_child, with a
 * child that does the same. */
static pid_t fork_burner(const int ready[2], const int hold[2], bool has_child)
{
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid > 0) return pid;
    char byte;
    if (has_child) (void)fork_burner(ready, hold, false);
    close(hold[1]);
    burn();
    (void)!write(ready[1], "", 1);
    (void)!read(hold[0], &byte, 1);
    _exit(0);
}

static int64_t children_cpu_us(void)
{
    struct rusage u;
    assert_int_equal(getrusage(RUSAGE_CHILDREN, &u), 0);
    return (u.ru_utime.tv_sec + u.ru_stime.tv_sec) * US_PER_S + u.ru_utime.tv_usec + u.ru_stime.tv_usec;
}

static struct launch_usage measure_this_process(void)
{
    struct measured_launch launch = {.keeper = getpid(), .group_path = "", .usage.id = 5};
    measure_launches(&launch, 1);
    assert_int_equal(launch.usage.id, 5);
    return launch.usage;
}

/* This process is the keeper; its own time does not count. */
static void test_a_tree_is_measured(void **state)
{
    (void)state;
    int ready[2], hold[2];
    char byte;
    burn();
    assert_int_equal(pipe2(ready, O_CLOEXEC) | pipe2(hold, O_CLOEXEC), 0);
    assert_true(measure_this_process().cpu_us <= children_cpu_us());
    pid_t pid = fork_burner(ready, hold, true);
    for (int i = 0; i < 2; i++) assert_int_equal(read(ready[0], &byte, 1), 1);
    struct launch_usage usage = measure_this_process();
    assert_true(usage.cpu_us >= 2 * BURN_US - SLACK_US);
    assert_true(usage.mem_kib > 0);
    close(hold[1]); /* this process does not wait: a zombie, which counts as before */
    siginfo_t info;
    assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
    struct launch_usage zombie_usage = measure_this_process();
    assert_true(zombie_usage.cpu_us >= BURN_US - SLACK_US);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    usage = measure_this_process();
    assert_true(usage.cpu_us >= BURN_US - SLACK_US && usage.cpu_us <= children_cpu_us());
    close(hold[0]);
    close(ready[0]);
    close(ready[1]);
}

enum { HELD_KIB = 64 << 10 };

/* Memory in use, held by a thread other than the first one, which ends. */
static void *hold_memory(void *pipes)
{
    const int *fds = pipes; /* ready, hold */
    char byte, *memory = mem_resize(NULL, 0, (size_t)HELD_KIB << 10);
    memset(memory, 1, (size_t)HELD_KIB << 10);
    for (struct process p = {0}; p.state != 'Z';) (void)process_read(getpid(), &p);
    (void)!write(fds[0], "", 1);
    (void)!read(fds[1], &byte, 1);
    _exit(0);
}

static void test_a_process_whose_first_thread_has_ended_has_memory(void **state)
{
    (void)state;
    int ready[2], hold[2];
    char byte;
    assert_int_equal(pipe2(ready, O_CLOEXEC) | pipe2(hold, O_CLOEXEC), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        int fds[2] = {ready[1], hold[0]};
        pthread_t thread;
        close(hold[1]);
        if (pthread_create(&thread, NULL, hold_memory, fds) != 0) _exit(1);
        (void)syscall(SYS_exit, 0); /* this thread alone, without what the library does at its end */
    }
    close(ready[1]); /* so that the child's death is noticed */
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_true(measure_this_process().mem_kib >= HELD_KIB);
    close(hold[1]);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    close(hold[0]);
    close(ready[0]);
}

/* A keeper inside of another one's tree has its descendants for itself. */
static void test_trees_inside_of_trees_are_measured_apart(void **state)
{
    (void)state;
    int ready[2], hold[2];
    char byte;
    assert_int_equal(pipe2(ready, O_CLOEXEC) | pipe2(hold, O_CLOEXEC), 0);
    int64_t waited_us = children_cpu_us();
    pid_t inner = fork_burner(ready, hold, true); /* its child is all that the inner launch has */
    for (int i = 0; i < 2; i++) assert_int_equal(read(ready[0], &byte, 1), 1);
    struct measured_launch launches[] = {{.keeper = getpid(), .group_path = ""}, {.keeper = inner, .group_path = ""}};
    measure_launches(launches, 2);
    assert_true(launches[0].usage.cpu_us <= waited_us);
    assert_true(launches[1].usage.cpu_us >= BURN_US - SLACK_US);
    assert_true(launches[0].usage.mem_kib == 0 && launches[1].usage.mem_kib > 0);
    assert_true(launches[0].usage.at_us == launches[1].usage.at_us && launches[0].usage.at_us > 0);
    close(hold[1]);
    assert_int_equal(waitpid(inner, NULL, 0), inner);
    close(hold[0]);
    close(ready[0]);
    close(ready[1]);
}

/* The pid that the next process in this process's pid namespace gets, if it is free. */
static bool set_next_pid(int pid)
{
    char text[16];
    size_t length = text_format(text, sizeof text, "%d", pid - 1);
    int fd = open("/proc/sys/kernel/ns_last_pid", O_WRONLY | O_CLOEXEC);
    if (fd < 0) return false;
    bool is_set = write(fd, text, length) == (ssize_t)length;
    close(fd);
    return is_set;
}

enum { PARENT_PID = 300, CHILD_PID = 100, EXIT_COUNTED = 10, EXIT_MISSED, EXIT_IMPOSSIBLE };

/* Burns in a process with a lower pid than its parent's. */
static _Noreturn void burn_in_child(const int ready[2], const int hold[2])
{
    char byte;
    bool is_set = set_next_pid(CHILD_PID);
    pid_t pid = is_set ? fork_burner(ready, hold, false) : 0;
    if (pid != CHILD_PID) (void)!write(ready[1], "x", 1);
    close(hold[1]);
    (void)!read(hold[0], &byte, 1);
    _exit(0);
}

/* As the first process of a pid namespace, so that no pid of the machine is changed. */
static _Noreturn void measure_in_namespace(void)
{
    int ready[2], hold[2];
    char byte = 'x';
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 || mount("proc", "/proc", "proc", 0, NULL) < 0 ||
        !set_next_pid(PARENT_PID) || pipe2(ready, O_CLOEXEC) < 0 || pipe2(hold, O_CLOEXEC) < 0)
        _exit(EXIT_IMPOSSIBLE);
    pid_t parent = fork();
    if (parent == 0) burn_in_child(ready, hold);
    if (parent != PARENT_PID || read(ready[0], &byte, 1) != 1 || byte == 'x') _exit(EXIT_IMPOSSIBLE);
    struct measured_launch launch = {.keeper = getpid(), .group_path = ""};
    measure_launches(&launch, 1);
    _exit(launch.usage.cpu_us >= BURN_US - SLACK_US ? EXIT_COUNTED : EXIT_MISSED);
}

static void test_a_child_with_a_lower_pid_counts(void **state)
{
    (void)state;
    int status = 0;
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        if (unshare(CLONE_NEWPID | CLONE_NEWNS) < 0) _exit(EXIT_IMPOSSIBLE);
        pid_t first = fork();
        if (first == 0) measure_in_namespace();
        if (first < 0 || waitpid(first, &status, 0) != first) _exit(EXIT_IMPOSSIBLE);
        _exit(WEXITSTATUS(status));
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == EXIT_IMPOSSIBLE) {
        print_message("# skip: cannot choose pids in a pid namespace\n");
        skip();
    }
    assert_int_equal(WEXITSTATUS(status), EXIT_COUNTED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_usage_is_found_in_texts),
        cmocka_unit_test(test_users_and_gpus_are_found_in_texts),
        cmocka_unit_test(test_autogroups_are_parsed),
        cmocka_unit_test(test_limits_are_written_into_the_files_of_a_group),
        cmocka_unit_test(test_a_group_says_what_it_has_files_for),
        cmocka_unit_test(test_a_process_belongs_to_its_nearest_root),
        cmocka_unit_test(test_a_tree_is_measured),
        cmocka_unit_test(test_a_process_whose_first_thread_has_ended_has_memory),
        cmocka_unit_test(test_trees_inside_of_trees_are_measured_apart),
        cmocka_unit_test(test_a_child_with_a_lower_pid_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
