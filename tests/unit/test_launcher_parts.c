/* The parts of the launcher that work without a running one: parsing of script lines, stat files and mount tables, the
 * command that is executed, reading files, and the identity of a job's process. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dies.h"
#include "exec/launcher/cgroup.h"
#include "exec/launcher/durable.h"
#include "exec/launcher/job_process.h"
#include "exec/launcher/launch_command.h"
#include "exec/launcher/log_text.h"
#include "exec/launcher/process.h"
#include "exec/launcher/process_clone.h"
#include "exec/launcher/process_identity.h"
#include "exec/launcher/system_accounts.h"
#include "exec/record.h"

struct cloned {
    pid_t parent, pid;
    volatile int value;
};

static void cloned_main(void *argument)
{
    struct cloned *c = argument;
    c->pid = getpid();
    c->value = getppid() == c->parent ? 7 : 8;
    _exit(c->value);
}

/* Where there is no such process, jobs are forked. */
static void test_a_cloned_process_shares_memory_on_its_own_stack(void **state)
{
    (void)state;
    struct cloned c = {.parent = getpid()};
    int status;
    pid_t pid = process_clone(-1, cloned_main, &c);
    if (pid < 0) {
        assert_int_equal(errno, ENOSYS);
        return;
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 7 << 8);
    assert_int_equal(c.value, 7);
    assert_int_equal(c.pid, pid);
    assert_int_equal(process_clone(STDIN_FILENO, cloned_main, &c), -1); /* no directory of a control group */
    assert_int_equal(errno, EBADF);
}

static void test_a_shebang_is_parsed_as_in_linux(void **state)
{
    (void)state;
    static const struct {
        const char *script, *program, *argument; /* program NULL: no shebang */
    } rows[] = {
        {"#!/bin/sh\n", "/bin/sh", ""},
        {"#!/bin/sh", "/bin/sh", ""},
        {"#! /bin/sh -e\nx", "/bin/sh", "-e"},
        {"#!\t /usr/bin/env \t python3 -u  \t\nx", "/usr/bin/env", "python3 -u"},
        {"#!/bin/sh\r\nx", "/bin/sh\r", ""},
        {"#!python\n", "python", ""},
        {"", NULL, NULL},
        {"#", NULL, NULL},
        {"#!", NULL, NULL},
        {"#!  \n/bin/sh", NULL, NULL},
        {" #!/bin/sh", NULL, NULL},
        {"echo\n#!/bin/sh", NULL, NULL},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct str program = str("untouched"), argument = str("untouched");
        bool found = launch_command_parse_shebang(str(rows[i].script), &program, &argument);
        assert_int_equal(found, rows[i].program != NULL);
        assert_true(str_equal(program, str(found ? rows[i].program : "untouched")));
        assert_true(str_equal(argument, str(found ? rows[i].argument : "untouched")));
    }
}

static void assert_list(char *const *list, const char *expected)
{
    struct buf joined = {0};
    for (; *list != NULL; list++) buf_format(&joined, "%s|", *list);
    assert_string_equal(joined.length > 0 ? joined.text : "", expected);
    buf_release(&joined);
}

static void test_a_launch_becomes_a_command(void **state)
{
    (void)state;
    static const struct {
        const char *script, *path;
        char *arguments[4];
        const char *programs, *executed, *shell_arguments;
    } rows[] = {
        {"echo", "PATH=/a", {"x", "y"}, "/bin/sh|", "/bin/sh|S|x|y|", NULL},
        {"#!/bin/awk -f\n", "PATH=/a", {NULL}, "/bin/awk|", "/bin/awk|-f|S|", NULL},
        {"", "PATH=/a:/b", {"prog", "x"}, "/a/prog|/b/prog|", "prog|x|", "/bin/sh|?|x|"},
        {"", "PATH=", {"prog"}, "./prog|", "prog|", "/bin/sh|?|"},
        {"", "PATH=:/a:", {"prog"}, "./prog|/a/prog|./prog|", "prog|", "/bin/sh|?|"},
        {"", "PATHS=/a", {"prog"}, "/bin/prog|/usr/bin/prog|", "prog|", "/bin/sh|?|"},
        {"", "PATH=/a", {"./prog", "x", "y"}, "./prog|", "./prog|x|y|", "/bin/sh|?|x|y|"},
        {"", "PATH=/a", {"/p/q"}, "/p/q|", "/p/q|", "/bin/sh|?|"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct arena a = {0};
        struct launch_command c;
        char *arguments[4],
            *environment[] = {"FAIRLEAD_LAUNCH_ID=9", (char *)rows[i].path, "FAIRLEAD_LAUNCH_KEY=", NULL};
        memcpy(arguments, rows[i].arguments, sizeof arguments);
        struct launch launch = {
            .id = 5, .script = str(rows[i].script), .arguments = arguments, .environment = environment};
        launch_command_build(&launch, "S", "abc", &a, &c);
        assert_list(c.programs, rows[i].programs);
        assert_list(c.arguments, rows[i].executed);
        if (rows[i].shell_arguments != NULL) {
            c.shell_arguments[1] = "?";
            assert_list(c.shell_arguments, rows[i].shell_arguments);
        }
        char expected[200];
        text_format(expected, sizeof expected, "%s|FAIRLEAD_LAUNCH_ID=5|FAIRLEAD_LAUNCH_KEY=abc|", rows[i].path);
        assert_list(c.environment, expected);
        arena_release(&a);
    }
}

static void test_a_stat_file_is_parsed(void **state)
{
    (void)state;
    static const char tail[] = " S 1 22 333 0 -1 4194304 87 0 0 0 5 60 700 8000 20 0 1 0 300143 2703360 310 1\n";
    static const char *const names[] = {"(sh)", "(a) b)", "(a\nb)", "(() S 9 9 9)", "()", "(kworker/u4:1-events)"};
    static const char *const cut[] = {"sh", "a) b", "a\nb", "() S 9 9 9", "", "kworker/u4:1-ev"};
    for (size_t i = 0; i < COUNT(names); i++) {
        char text[200];
        struct process p;
        text_format(text, sizeof text, "4444 %s%s", names[i], tail);
        assert_true(process_parse(str(text), &p));
        assert_true(p.pid == 4444 && p.state == 'S' && p.parent == 1 && p.group == 22 && p.session == 333);
        assert_int_equal(p.start_ticks, 300143);
        assert_string_equal(p.name, cut[i]);
        assert_true(p.nice == 0 && !p.is_kernel);
        assert_true(p.cpu_ticks == 65 && p.children_cpu_ticks == 8700 && p.resident_pages == 310);
    }
    static const char *const bad[] = {
        "",
        "4444",
        "4444 (sh",
        "4444 sh) S 1 22 333 0 -1 4194304 87 0 0 0 5 60 700 8000 20 0 1 0 300143 2703360 310 1\n",
        "4444 (sh)",
        "4444 (sh) S",
        "x (sh) S 1 2 3",
        "4444 (sh) S 1 2 3 4\n",
        "4444 (sh) S 1 22 333 0 -1 4194304 87 0 0 0 5 60 700 8000 20 0 1 0 300143 2703360",
        "4444 (sh) X 0 -1 -1 0 -1 4194304 87 0 0 0 5 60 700 8000 20 0 1 0 300143 2703360 310 1\n", /* being released */
        "4444 (sh) S 2147483648 22 333 0 -1 4194304 87 0 0 0 5 60 700 8000 20 0 1 0 300143 2703360 310 1\n"};
    for (size_t i = 0; i < COUNT(bad); i++) assert_false(process_parse(str(bad[i]), &(struct process){0}));
    struct process odd; /* numbers that no kernel gives */
    assert_true(process_parse(str("1 (x) R 1 2 3 0 0 0 0 0 0 0 9223372036854775807 9223372036854775807 "
                                  "-9223372036854775808 7 0 0 0 0 0 0 -1 0"),
                              &odd));
    assert_true(odd.cpu_ticks == INT64_C(1) << 49 && odd.children_cpu_ticks == 7 && odd.resident_pages == 0);
    assert_true(process_parse(str("2 (kthreadd) S 0 0 0 0 -1 2129984 0 0 0 0 0 0 0 0 20 -20 1 0 0 0 0 1\n"), &odd));
    assert_true(odd.is_kernel && odd.nice == -20);
    struct process self;
    assert_true(process_read(getpid(), &self));
    assert_true(self.pid == getpid() && self.parent == getppid() && self.state == 'R');
    assert_false(process_read(0, &self));
}

#define V1 "30 23 0:28 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"
#define V2 "31 23 0:28 / /sys/fs/cgroup rw,relatime shared:9 - cgroup2 cgroup2 rw\n"

static void test_the_own_cgroup_is_found(void **state)
{
    (void)state;
    static const struct {
        const char *membership, *mounts, *path; /* NULL: none */
    } rows[] = {
        {"0::/user.slice/a\n", V2, "/sys/fs/cgroup/user.slice/a"},
        {"0::/\n", V2, "/sys/fs/cgroup"},
        {"9:name=systemd:/x\n1:cpu:/y\n0::/z\n", V1 V2, "/sys/fs/cgroup/z"},
        {"0::/box/inner\n", "31 23 0:28 /box /mnt rw - cgroup2 none rw\n", "/mnt/inner"},
        {"0::/box\n", "31 23 0:28 /box /mnt rw - cgroup2 none rw\n", "/mnt"},
        {"0::/boxes\n", "31 23 0:28 /box /mnt rw - cgroup2 none rw\n", NULL},
        {"0::/other\n", "31 23 0:28 /box /mnt rw - cgroup2 none rw\n", NULL},
        {"0::/a\n", "31 23 0:28 / /m\\040n\\134t rw - cgroup2 none rw\n", "/m n\\t/a"},
        {"0::/../../a\n", V2, NULL}, /* outside of the root of the cgroup namespace */
        {"1:cpu:/y\n", V2, NULL},
        {"0::/z\n", V1, NULL},
        {"", "", NULL},
        {"0::/z", "31 23\n- cgroup2 x\n", NULL},
        {"0::/z\n", "31 23 0:28 / /sys-\040cgroup2 rw - tmpfs cgroup2 rw\n", NULL},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char path[PATH_MAX] = "untouched";
        bool found = cgroup_find(str(rows[i].membership), str(rows[i].mounts), NULL, path, sizeof path);
        if (rows[i].path == NULL)
            assert_false(found);
        else
            assert_string_equal(found ? path : "(none)", rows[i].path);
    }
}

/* The unit's group is beside the own one. */
static void test_the_group_of_jobs_is_found(void **state)
{
    (void)state;
    static const struct {
        const char *membership, *mounts, *path;
    } rows[] = {
        {"0::/system.slice/fairlead-launcher.service\n", V2, "/sys/fs/cgroup/system.slice/fairlead-jobs.service"},
        {"0::/a\n", V2, "/sys/fs/cgroup/fairlead-jobs.service"},
        {"1:cpu:/y\n", V1 V2, NULL},
        {"0::/../a\n", V2, NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char path[PATH_MAX], small[40];
        bool found = cgroup_find_jobs_unit(str(rows[i].membership), str(rows[i].mounts), path, sizeof path);
        assert_string_equal(found ? path : "(none)", rows[i].path ? rows[i].path : "(none)");
        assert_false(strlen(rows[i].path ? rows[i].path : "") >= sizeof small &&
                     cgroup_find_jobs_unit(str(rows[i].membership), str(rows[i].mounts), small, sizeof small));
    }
}

/* What a launcher that was killed has left, and not what another one is using. */
static void test_old_probes_are_removed(void **state)
{
    (void)state;
    struct cgroup_parent parent;
    struct cgroup old, used;
    cgroup_probe(NULL, false, &parent);
    const char *directory = parent.path[0] ? parent.path : parent.cpu_path;
    if (directory[0] == '\0') {
        print_message("# skip: cannot create a control group\n");
        skip();
    }
    pid_t dead = fork();
    if (dead == 0) _exit(0);
    assert_int_equal(waitpid(dead, NULL, 0), dead);
    pid_t alive = fork();
    if (alive == 0) _exit(pause());
    text_format(old.path, sizeof old.path, "%s/fairlead-probe-%d", directory, (int)dead);
    text_format(used.path, sizeof used.path, "%s/fairlead-probe-%d", directory, (int)alive);
    cgroup_create(&old);
    cgroup_create(&used);
    assert_true(old.path[0] != '\0' && used.path[0] != '\0');
    cgroup_probe(NULL, false, &parent);
    bool has_old = access(old.path, F_OK) == 0, has_used = access(used.path, F_OK) == 0;
    assert_true(cgroup_remove(&old) && cgroup_remove(&used));
    assert_int_equal(kill(alive, SIGKILL), 0);
    assert_int_equal(waitpid(alive, NULL, 0), alive);
    assert_true(!has_old && has_used);
}

static void test_the_own_cpu_cgroup_of_version_1_is_found(void **state)
{
    (void)state;
    const struct {
        const char *membership, *mounts, *path;
    } rows[] = {
        {"1:cpu:/y\n0::/z\n", V1 V2, "/sys/fs/cgroup/cpu/y"},
        {"4:cpu,cpuacct:/\n", "30 23 0:28 / /c rw - cgroup none rw,cpuacct,cpu\n", "/c"},
        {"4:cpuacct:/y\n", V1, NULL},
        {"4:cpu:/y\n", "30 23 0:28 / /c rw - cgroup none rw,cpuset\n", NULL},
        {"0::/z\n", V1 V2, NULL},
        {"4:cpu:/y\n", V2, NULL},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char path[PATH_MAX];
        bool found = cgroup_find(str(rows[i].membership), str(rows[i].mounts), "cpu", path, sizeof path);
        assert_string_equal(found ? path : "(none)", rows[i].path ? rows[i].path : "(none)");
    }
}

/* If groups with weights can be created here, a weight arrives in the file that the kernel reads. */
static void test_a_cpu_weight_is_written(void **state)
{
    (void)state;
    struct cgroup_parent parent = {0};
    struct cgroup group, cpu;
    cgroup_probe(NULL, false, &parent);
    cgroup_set_path(&parent, 7, "0123456789", &group);
    cgroup_set_cpu_path(&parent, 7, "0123456789", &cpu);
    cgroup_create(&group);
    cgroup_create(&cpu);
    bool is_set = cgroup_set_cpu_weight(&cpu, 250) || cgroup_set_cpu_weight(&group, 250);
    char path[PATH_MAX + 16], text[32] = "";
    text_format(path, sizeof path, "%s/%s", cpu.path[0] ? cpu.path : group.path,
                cpu.path[0] ? "cpu.shares" : "cpu.weight");
    FILE *file = is_set ? fopen(path, "r") : NULL;
    if (file != NULL) {
        assert_non_null(fgets(text, sizeof text, file));
        fclose(file);
    }
    assert_true(cgroup_remove(&group) && cgroup_remove(&cpu));
    if (!is_set) {
        print_message("# skip: cannot create a control group with a cpu controller\n");
        skip();
    }
    assert_string_equal(text, cpu.path[0] ? "2560\n" : "250\n");
}

static void test_a_process_identity_is_parsed(void **state)
{
    (void)state;
    struct process_identity identity;
    process_identity_parse(str("id=1\nkey=abc\nborn=77\nboot_id=x-y\ncgroup=/a b\n"), &identity);
    assert_string_equal(identity.key, "abc");
    assert_string_equal(identity.boot_id, "x-y");
    assert_string_equal(identity.cgroup.path, "/a b");
    assert_int_equal(identity.start_ticks, 77);
    struct buf text = {0};
    process_identity_format(&identity, &text);
    assert_string_equal(text.text, "key=abc\nborn=77\nboot_id=x-y\ncgroup=/a b\n");
    buf_clear(&text);
    identity.place = (struct process_identity_place){7, 8};
    process_identity_format(&identity, &text);
    assert_string_equal(text.text, "key=abc\nborn=77\nboot_id=x-y\ncgroup=/a b\ndirectory=7:8\n");
    process_identity_parse((struct str){text.text, text.length}, &identity);
    assert_true(identity.place.device == 7 && identity.place.inode == 8);
    buf_release(&text);
    process_identity_parse(str("id=1\nkey=0123456789012345678901234567890123456789\nborn=x\n"), &identity);
    assert_true(identity.key[0] == '\0' && identity.boot_id[0] == '\0' && identity.cgroup.path[0] == '\0');
    assert_int_equal(identity.start_ticks, 0);
}

static void test_a_key_begins_with_the_id_of_the_instance(void **state)
{
    (void)state;
    static const char id[] = "0123456789abcdef0123456789abcdef";
    char a[LAUNCH_KEY_SIZE], b[LAUNCH_KEY_SIZE];
    assert_int_equal(process_identity_make_key(str(id), a, NULL) | process_identity_make_key(str(id), b, NULL), 0);
    assert_true(strlen(a) == 32 && strncmp(a, id, 16) == 0 && strncmp(b, id, 16) == 0 && strcmp(a, b) != 0);
    assert_int_equal(process_identity_make_key(str("0123"), a, NULL), 0);
    assert_int_equal(strlen(a), 32);
}

static int make_directory(char path[64])
{
    strcpy(path, "/tmp/fairlead-parts-XXXXXX");
    assert_non_null(mkdtemp(path));
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(fd >= 0);
    return fd;
}

/* The files of a launch, replaced by a program that wants to block or to fill the launcher. */
static void test_a_replaced_file_neither_blocks_nor_fills(void **state)
{
    (void)state;
    char path[64];
    int fd = make_directory(path);
    struct buf text = {0};
    struct err e = {0};
    bool found = false;
    assert_int_equal(mkfifoat(fd, "pipe", 0600), 0);
    assert_int_equal(durable_read(fd, "pipe", &text, &found, NULL), 0);
    assert_int_equal(text.length, 0);

    int large = openat(fd, "large", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_true(large >= 0 && ftruncate(large, (off_t)60 << 30) == 0);
    close(large);
    assert_int_equal(durable_read(fd, "large", &text, &found, &e), -1);
    assert_string_equal(ERR_SENTENCE(&e), "file 'large' cannot be read: File too large");
    buf_release(&text);

    unlinkat(fd, "large", 0);
    unlinkat(fd, "pipe", 0);
    close(fd);
    rmdir(path);
}

/* Runs a script as another user. *out_report: the report of its process, or step 0. */
static void run_as(uid_t uid, gid_t gid, const char *directory, const char *out_path, struct job_report *out_report)
{
    char *arguments[] = {"/bin/sh", "-c", "id -u; id -g; id -G; id -ru; umask", NULL}, *environment[] = {NULL};
    struct launch launch = {.id = 1,
                            .uid = uid,
                            .gid = gid,
                            .name = "1",
                            .directory = directory,
                            .out_path = out_path,
                            .arguments = arguments,
                            .environment = environment};
    struct inherited_attributes inherited = {.umask = 037};
    struct arena a = {0};
    struct launch_command command;
    struct job_process job;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &inherited.open_files), 0);
    launch_command_build(&launch, NULL, "key", &a, &command);
    struct cgroup no_group = {.path = ""};
    const struct identity_rules rules = {.is_system = true};
    const struct job_groups no_groups = {.enforces_memory = false};
    const struct job_surroundings surroundings = {&inherited, &rules, AT_FDCWD, &no_groups};
    struct buf line = {0};
    struct launch_record record = {.id = 1};
    char text[1000];
    int log[2];
    log_text_add_start(&line, record);
    assert_int_equal(pipe(log), 0);
    assert_int_equal(job_process_fork(&launch, &command, &surroundings, &no_group, log[1], &line, &job, NULL), 0);
    close(log[1]);
    *out_report = (struct job_report){0};
    assert_int_equal(waitpid(job.pid, NULL, 0), job.pid);
    assert_true(read(job.report_fd, out_report, sizeof *out_report) >= 0); /* its end: the program was executed */
    ssize_t length = read(log[0], text, sizeof text);
    size_t left = length > 0 ? (size_t)length : 0;
    char *rest = text;
    struct str fields = log_text_next(&rest, &left);
    assert_int_equal(fields.text != NULL, out_report->step == 0 || out_report->step == JOB_STEP_EXEC);
    if (fields.text != NULL) {
        assert_int_equal(record_parse(fields, &record, NULL), 0);
        assert_true(record.pid == job.pid && record.phase == LAUNCH_STARTED && record.at_boot_us > 0);
    }
    close(log[0]);
    close(job.report_fd);
    buf_release(&line);
    arena_release(&a);
}

/* What numbers alone say of an identity. The launcher that it is compared with runs as this test. */
static void test_identities_are_refused_by_their_numbers(void **state)
{
    (void)state;
    static const struct {
        bool is_system, allows_root;
        uid_t uid;
        const char *error; /* NULL: accepted */
    } rows[] = {
        {true, false, 1000, NULL},
        {true, false, 70000, NULL},
        {true, false, 0, "cannot start a job as root: the launcher serves users only"},
        {true, false, 999, "cannot start a job as user 999: it is a system account; users begin at 1000"},
        {true, false, 65534, "cannot start a job as user 65534: that account stands for no user"},
        {true, false, 1234, "cannot start a job as user 1234: that is the daemon's own account"},
        {true, true, 0, NULL},
        {true, true, 999, NULL},
        {true, true, 65534, NULL},
        {true, true, 1234, NULL},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct err e;
        const struct identity_rules rules = {rows[i].is_system, rows[i].allows_root, 1000, 1234};
        assert_int_equal(job_identity_check(&rules, rows[i].uid, rows[i].uid, &e), rows[i].error == NULL ? 0 : -1);
        if (rows[i].error != NULL) assert_string_equal(ERR_SENTENCE(&e), rows[i].error);
    }
    const struct identity_rules own = {0};
    assert_int_equal(job_identity_check(&own, geteuid(), getegid(), NULL), 0);
    assert_int_equal(job_identity_check(&own, geteuid() + 1, getegid(), NULL), -1);
    assert_int_equal(job_identity_check(&own, geteuid(), getegid() + 1, NULL), -1);
}

static void test_the_lowest_uid_of_a_person_is_read(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uid_t min_uid;
    } rows[] = {
        {"", 1000},
        {"UID_MIN 500", 500},
        {"# UID_MIN 500\nUID_MAX 7\n\t UID_MIN\t\t  2000 \nUID_MIN 3\n", 2000},
        {"SYS_UID_MIN 101\nUID_MINIMUM 5\nUID_MIN\nUID_MIN x\n", 1000},
        {"UID_MIN -1\nUID_MIN 4294967295\nUID_MIN 1500", 1500},
    };
    for (size_t i = 0; i < COUNT(rows); i++)
        assert_int_equal(system_accounts_parse_min_uid(str(rows[i].text)), rows[i].min_uid);
}

static void test_a_job_runs_as_its_user(void **state)
{
    (void)state;
    if (geteuid() != 0) {
        puts("# skip: only root can become another user");
        skip();
    }
    char path[64], out[80], text[200] = "";
    struct job_report report;
    int fd = make_directory(path);
    text_format(out, sizeof out, "%s/out", path);
    run_as(65534, 65534, "/", out, &report);
    assert_int_equal(report.step, JOB_STEP_OUTPUT); /* the user may not write to this directory */
    assert_int_equal(fchown(fd, 65534, 65534), 0);
    run_as(65534, 65534, "/", out, &report);
    int got = openat(fd, "out", O_RDONLY);
    struct stat s;
    assert_true(got >= 0 && read(got, text, sizeof text - 1) > 0 && fstat(got, &s) == 0);
    assert_string_equal(text, "65534\n65534\n65534\n65534\n0037\n");
    assert_true(s.st_uid == 65534 && s.st_gid == 65534 && (s.st_mode & 0777) == 0640);
    close(got);
    unlinkat(fd, "out", 0);
    close(fd);
    rmdir(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_cloned_process_shares_memory_on_its_own_stack),
        cmocka_unit_test(test_a_shebang_is_parsed_as_in_linux),
        cmocka_unit_test(test_a_launch_becomes_a_command),
        cmocka_unit_test(test_a_stat_file_is_parsed),
        cmocka_unit_test(test_the_own_cgroup_is_found),
        cmocka_unit_test(test_the_own_cpu_cgroup_of_version_1_is_found),
        cmocka_unit_test(test_the_group_of_jobs_is_found),
        cmocka_unit_test(test_old_probes_are_removed),
        cmocka_unit_test(test_a_cpu_weight_is_written),
        cmocka_unit_test(test_a_process_identity_is_parsed),
        cmocka_unit_test(test_identities_are_refused_by_their_numbers),
        cmocka_unit_test(test_the_lowest_uid_of_a_person_is_read),
        cmocka_unit_test(test_a_key_begins_with_the_id_of_the_instance),
        cmocka_unit_test(test_a_replaced_file_neither_blocks_nor_fills),
        cmocka_unit_test(test_a_job_runs_as_its_user),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
