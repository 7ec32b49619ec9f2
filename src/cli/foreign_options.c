#include "cli/foreign_options.h"

#include <string.h>

#define SAME(own_) .meaning = FOREIGN_SAME, .own = (own_)
#define SAME_OR_NOTHING(own_, why) .meaning = FOREIGN_SAME_OR_NOTHING, .own = (own_), .advice = (why)
#define LIST(own_) .meaning = FOREIGN_LIST, .own = (own_)
#define NOTHING(why) .meaning = FOREIGN_NOTHING, .advice = (why)
#define REFUSED(advice_) .meaning = FOREIGN_REFUSED, .advice = (advice_)
#define ARGUMENT .argument_count = 1
#define OPTIONAL .argument_count = 1, .is_optional = true

#define HELP_WHY "it prints a text and submits nothing; 'fairlead submit --help' lists the options"
#define NAME_ADVICE "use -J, --job-name for the job's name"
#define INPUT_ADVICE "standard input is empty: let the script read the file"
#define WRAP_ADVICE "give a command after --: fairlead submit -- COMMAND [ARGUMENT...]"
#define CPUS_ADVICE "use -n, --cpus for CPUs"
#define GPUS_ADVICE "use -G, --gpus for GPUs"
#define HOST_ADVICE "use --queues '*@HOST' for a host"
#define MAIL_ADVICE "no mail is sent; use --wait to wait until the job has ended"
#define EXPORT_ADVICE "a job gets the submitter's environment; use --export for another"
#define DIRECTORY_ADVICE "a job runs in the directory of submission; use -D for another"
#define CORES_WHY "which cores and sockets a job gets is not chosen"
#define HOSTS_WHY "which hosts are near each other is not known"
#define WRITES_WHY "submit prints only what went wrong, and the job's id"
#define ACCOUNTING_WHY "usage is measured and recorded without it"

const struct foreign_option foreign_options_sbatch[] = {
    {"account", 'A', ARGUMENT, SAME("account")},
    {"acctg-freq", 0, ARGUMENT, NOTHING(ACCOUNTING_WHY)},
    {"array", 'a', ARGUMENT, SAME("array")},
    {"batch", 0, ARGUMENT, REFUSED("use -C, --constraint FEATURES")},
    {"bb", 0, ARGUMENT, REFUSED("there are no burst buffers")},
    {"bbf", 0, ARGUMENT, REFUSED("there are no burst buffers")},
    {"begin", 'b', ARGUMENT, SAME("begin")},
    {"chdir", 'D', ARGUMENT, SAME("chdir")},
    {"workdir", 0, ARGUMENT, SAME("chdir"), DIRECTORY_ADVICE},
    {"clusters", 'M', ARGUMENT, REFUSED("an instance is one cluster; use --socket PATH for another instance")},
    {"cluster-constraint", 0, ARGUMENT, REFUSED("an instance is one cluster; use -C, --constraint FEATURES")},
    {"comment", 0, ARGUMENT, SAME("comment")},
    {"constraint", 'C', ARGUMENT, SAME("constraint")},
    {"container", 0, ARGUMENT, REFUSED("start the container in the script")},
    {"contiguous", 0, NOTHING(HOSTS_WHY)},
    {"core-spec", 'S', ARGUMENT,
     REFUSED("use -n, --cpus COUNT for fewer CPUs; the first line of a script names its interpreter: #!/bin/bash")},
    {"cores-per-socket", 0, ARGUMENT, NOTHING(CORES_WHY)},
    {"cpu-freq", 0, ARGUMENT, NOTHING("the clock of CPUs is not set")},
    {"cpus-per-gpu", 0, ARGUMENT, REFUSED("use -n, --cpus COUNT for the CPUs of all GPUs")},
    {"cpus-per-task", 'c', ARGUMENT, .meaning = FOREIGN_CPUS_PER_TASK, .advice = CPUS_ADVICE},
    {"deadline", 0, ARGUMENT,
     REFUSED("a job is not removed because it would end too late; use -t, --time for its time limit")},
    {"delay-boot", 0, ARGUMENT, NOTHING("hosts are not started for jobs")},
    {"dependency", 'd', ARGUMENT, SAME("dependency")},
    {"distribution", 'm', ARGUMENT, NOTHING("a job starts its own processes")},
    {"error", 'e', ARGUMENT, SAME("error")},
    {"exclude", 'x', ARGUMENT, SAME("exclude"), "use -l 'hostname=!HOST'"},
    {"exclusive", 0, OPTIONAL, SAME("exclusive")},
    {"export", 0, ARGUMENT, SAME("export")},
    {"export-file", 0, ARGUMENT, REFUSED("use --export LIST")},
    {"extra-node-info", 'B', ARGUMENT, NOTHING(CORES_WHY)},
    {"get-user-env", 0, OPTIONAL, NOTHING("a job gets the environment that --export names")},
    {"gid", 0, ARGUMENT, REFUSED("a job runs with the group of its submitter; use newgrp(1)")},
    {"gpu-bind", 0, ARGUMENT, NOTHING(CORES_WHY)},
    {"gpu-freq", 0, ARGUMENT, NOTHING("the clock of GPUs is not set")},
    {"gpus", 'G', ARGUMENT, .meaning = FOREIGN_GPUS},
    {"gpus-per-node", 0, ARGUMENT, .meaning = FOREIGN_GPUS_PER_NODE, .advice = GPUS_ADVICE},
    {"gpus-per-socket", 0, ARGUMENT, REFUSED(GPUS_ADVICE)},
    {"gpus-per-task", 0, ARGUMENT, .meaning = FOREIGN_GPUS_PER_TASK,
     .advice = "use --gpus-per-slot for the GPUs of each slot"},
    {"gres", 0, ARGUMENT, .meaning = FOREIGN_GRES, .advice = GPUS_ADVICE},
    {"gres-flags", 0, ARGUMENT, NOTHING(CORES_WHY)},
    {"help", 0, REFUSED(HELP_WHY)},
    {"hint", 0, ARGUMENT, NOTHING(CORES_WHY)},
    {"hold", 'H', SAME("hold")},
    {"ignore-pbs", 0, NOTHING("#PBS lines are not read beside it")},
    {"input", 'i', ARGUMENT, SAME("input"), INPUT_ADVICE},
    {"job-name", 'J', ARGUMENT, SAME("job-name")},
    {"kill-on-invalid-dep", 0, ARGUMENT, SAME("kill-on-invalid-dep"),
     "the setting kill_invalid_depend says what becomes of a job that waits in vain"},
    {"licenses", 'L', ARGUMENT, .meaning = FOREIGN_LICENSES,
     .advice = "use -l NAME=COUNT: licences are resources ('fairlead resource show')"},
    {"mail-type", 0, ARGUMENT, SAME_OR_NOTHING("mail-type", MAIL_ADVICE)},
    {"mail-user", 0, ARGUMENT, SAME_OR_NOTHING("mail-user", MAIL_ADVICE)},
    {"mcs-label", 0, ARGUMENT, REFUSED("who sees a job is the setting private_data")},
    {"mem", 0, ARGUMENT, SAME("mem")},
    {"mem-bind", 0, ARGUMENT, NOTHING(CORES_WHY)},
    {"mem-per-cpu", 0, ARGUMENT, SAME("mem-per-cpu")},
    {"mem-per-gpu", 0, ARGUMENT, REFUSED("use --mem SIZE for the memory of the job")},
    {"mincpus", 0, ARGUMENT, REFUSED("use --slots-per-node COUNT")},
    {"name", 0, ARGUMENT, REFUSED(NAME_ADVICE)},
    {"network", 0, ARGUMENT, NOTHING("the network is not managed")},
    {"nice", 0, OPTIONAL, SAME("nice")},
    {"no-kill", 'k', NOTHING("a job whose host fails ends or is requeued")},
    {"no-requeue", 0, SAME("no-requeue")},
    {"nodefile", 'F', ARGUMENT, REFUSED(HOST_ADVICE)},
    {"nodelist", 'w', ARGUMENT, .meaning = FOREIGN_NODELIST, .advice = HOST_ADVICE},
    {"nodes", 'N', ARGUMENT, .meaning = FOREIGN_NODES},
    {"ntasks", 'n', ARGUMENT, .meaning = FOREIGN_TASKS, .advice = CPUS_ADVICE},
    {"ntasks-per-core", 0, ARGUMENT, NOTHING(CORES_WHY)},
    {"ntasks-per-gpu", 0, ARGUMENT, REFUSED(CPUS_ADVICE)},
    {"ntasks-per-node", 0, ARGUMENT, .meaning = FOREIGN_TASKS_PER_NODE,
     .advice = "use --slots-per-node for the slots on each host"},
    {"ntasks-per-socket", 0, ARGUMENT, NOTHING(CORES_WHY)},
    {"open-mode", 0, ARGUMENT, SAME("open-mode"), "output files are truncated; use an -o PATTERN with %j to keep each"},
    {"output", 'o', ARGUMENT, SAME("output")},
    {"overcommit", 'O', REFUSED("a task has a CPU of its own: use -n, --cpus COUNT")},
    {"oversubscribe", 's', NOTHING("hosts are shared, CPUs are not")},
    {"share", 0, NOTHING("hosts are shared, CPUs are not")},
    {"parsable", 0, SAME("parsable")},
    {"partition", 'p', ARGUMENT, SAME("partition")},
    {"power", 0, ARGUMENT, NOTHING("power is not managed")},
    {"prefer", 0, ARGUMENT, NOTHING("it is a wish; -C, --constraint is a request")},
    {"priority", 0, ARGUMENT, SAME("set-priority")},
    {"profile", 0, ARGUMENT, NOTHING(ACCOUNTING_WHY)},
    {"propagate", 0, OPTIONAL, NOTHING("resource limits of the submitting shell are not passed on")},
    {"qos", 'q', ARGUMENT, SAME("qos")},
    {"quiet", 'Q', NOTHING(WRITES_WHY)},
    {"reboot", 0, REFUSED("hosts are not restarted for jobs")},
    {"requeue", 0, SAME("requeue")},
    {"reservation", 0, ARGUMENT, REFUSED("there are no reservations by name; use --begin TIME")},
    {"signal", 0, ARGUMENT, SAME("signal"),
     "a job gets SIGTERM at its time limit, and SIGKILL after the setting grace_s"},
    {"sockets-per-node", 0, ARGUMENT, NOTHING(CORES_WHY)},
    {"spread-job", 0, NOTHING(HOSTS_WHY)},
    {"switches", 0, ARGUMENT, NOTHING(HOSTS_WHY)},
    {"test-only", 0, SAME("test-only")},
    {"thread-spec", 0, ARGUMENT, REFUSED("use -n, --cpus COUNT for fewer CPUs")},
    {"threads-per-core", 0, ARGUMENT, NOTHING(CORES_WHY)},
    {"time", 't', ARGUMENT, SAME("time")},
    {"time-min", 0, ARGUMENT, SAME("time-min")},
    {"tmp", 0, ARGUMENT, REFUSED("use -l NAME=AMOUNT with a resource for disk space ('fairlead resource show')")},
    {"tres-per-task", 0, ARGUMENT, REFUSED("use -n, --mem, -G and -l")},
    {"uid", 0, ARGUMENT, REFUSED("a job runs as its submitter")},
    {"usage", 0, REFUSED(HELP_WHY)},
    {"use-min-nodes", 0, NOTHING(HOSTS_WHY)},
    {"verbose", 'v', NOTHING(WRITES_WHY)},
    {"version", 0, REFUSED("it prints a text and submits nothing; 'fairlead --version' prints the version")},
    {"wait", 'W', SAME("wait")},
    {"wait-all-nodes", 0, ARGUMENT, NOTHING("a job starts when all its hosts are ready")},
    {"wckey", 0, ARGUMENT, NOTHING("it is a label of accounting; -A NAME and -P NAME say what is charged")},
    {"wrap", 0, ARGUMENT, REFUSED(WRAP_ADVICE)},
    {0},
};

const struct foreign_option foreign_options_qsub[] = {
    {"@", 0, ARGUMENT, REFUSED("write the options of the file into the script, or on the command line")},
    {"a", 0, ARGUMENT, .meaning = FOREIGN_DATE, .own = "begin"},
    {"A", 0, ARGUMENT, NOTHING("it is a label of accounting; '#FAIRLEAD -A NAME' is the account to charge")},
    {"ac", 0, ARGUMENT, NOTHING("a job has no context; --comment TEXT is a note")},
    {"ar", 0, ARGUMENT, REFUSED("there are no advance reservations; use --begin TIME")},
    {"b", 0, ARGUMENT, REFUSED(WRAP_ADVICE)},
    {"binding", 0, ARGUMENT, NOTHING("each job is bound to CPUs of its own (the setting enforce_cpus)")},
    {"c", 0, ARGUMENT, REFUSED("there are no checkpoints; use --requeue")},
    {"C", 0, ARGUMENT, REFUSED("use --directive-prefix TEXT on the command line")},
    {"ckpt", 0, ARGUMENT, REFUSED("there are no checkpoints; use --requeue")},
    {"clear", 0, REFUSED("remove the options above it")},
    {"cwd", 0, .meaning = FOREIGN_DEFAULT, .advice = DIRECTORY_ADVICE},
    {"dc", 0, ARGUMENT, NOTHING("a job has no context; --comment TEXT is a note")},
    {"dept", 0, ARGUMENT, SAME("department"), "a job's department is that of its user"},
    {"dl", 0, ARGUMENT, .meaning = FOREIGN_DATE, .own = "deadline", .advice = "use --deadline TIME for the deadline"},
    {"e", 0, ARGUMENT, .meaning = FOREIGN_FILE, .own = "error"},
    {"h", 0, .meaning = FOREIGN_HOLD, .own = "hold"},
    {"hard", 0, .meaning = FOREIGN_HARD, .advice = "every request (-l) is a hard request; use --soft for the others"},
    {"help", 0, REFUSED(HELP_WHY)},
    {"hold_jid", 0, ARGUMENT, LIST("hold-jid"), "use --hold-jid for jobs whose end it waits for"},
    {"hold_jid_ad", 0, ARGUMENT, LIST("hold-jid-ad"), "use --hold-jid-ad to wait for an array task by task"},
    {"i", 0, ARGUMENT, SAME("input"), INPUT_ADVICE},
    {"j", 0, ARGUMENT, .meaning = FOREIGN_JOIN,
     .advice = "standard error goes to the file of standard output unless -e names another"},
    {"js", 0, ARGUMENT, SAME("job-share"), "use --job-share N for the job's shares"},
    {"jsv", 0, ARGUMENT, REFUSED("submissions are checked by the instance alone")},
    {"l", 0, ARGUMENT, .meaning = FOREIGN_REQUEST},
    {"m", 0, ARGUMENT, NOTHING(MAIL_ADVICE)},
    {"M", 0, ARGUMENT, NOTHING(MAIL_ADVICE)},
    {"masterl", 0, ARGUMENT, REFUSED("use -l for the requests of each slot")},
    {"masterq", 0, ARGUMENT, LIST("master-queues"), "use --master-queues for the queues of the first slot"},
    {"mods", 0, ARGUMENT, REFUSED("write the whole option again")},
    {"N", 0, ARGUMENT, SAME("job-name"), NAME_ADVICE},
    {"notify", 0, REFUSED("a job gets SIGTERM first, and SIGKILL after the setting grace_s")},
    {"now", 0, ARGUMENT, .meaning = FOREIGN_YES_NO, .own = "immediate",
     .advice = "use --immediate to start at once or not at all"},
    {"o", 0, ARGUMENT, .meaning = FOREIGN_FILE, .own = "output"},
    {"ot", 0, ARGUMENT, SAME("override-tickets"), "use --override-tickets N for override tickets"},
    {"P", 0, ARGUMENT, SAME("project")},
    {"p", 0, ARGUMENT, SAME("priority"), "use --priority N for a POSIX priority"},
    {"pe", 0, .argument_count = 2, .meaning = FOREIGN_ENVIRONMENT,
     .advice = "use --pe NAME for the parallel environment, and --slots N or N-M for the slots"},
    {"pty", 0, ARGUMENT, NOTHING("a job has no terminal")},
    {"q", 0, ARGUMENT, .meaning = FOREIGN_QUEUES},
    {"R", 0, ARGUMENT, .meaning = FOREIGN_YES_NO, .own = "reserve", .advice = "use --reserve to ask for a reservation"},
    {"r", 0, ARGUMENT, .meaning = FOREIGN_REQUEUE, .advice = "use --requeue or --no-requeue"},
    {"S", 0, ARGUMENT, .meaning = FOREIGN_SHELL},
    {"sc", 0, ARGUMENT, NOTHING("a job has no context; --comment TEXT is a note")},
    {"shell", 0, ARGUMENT, NOTHING("a script is run by the interpreter of its #! line")},
    {"soft", 0, .meaning = FOREIGN_SOFT, .advice = "use --soft LIST for soft requests"},
    {"sync", 0, ARGUMENT, .meaning = FOREIGN_YES_NO, .own = "wait",
     .advice = "use --wait to wait until the job has ended"},
    {"t", 0, ARGUMENT, .meaning = FOREIGN_TASK_RANGE},
    {"tc", 0, ARGUMENT, .meaning = FOREIGN_TASK_LIMIT,
     .advice = "use --array 0-999%50 to limit the number of tasks that run at once"},
    {"terse", 0, SAME("parsable"), "use --parsable to print only the job's id"},
    {"umask", 0, ARGUMENT, REFUSED("set the umask in the script")},
    {"v", 0, ARGUMENT, LIST("export"), .advice = EXPORT_ADVICE},
    {"V", 0, .meaning = FOREIGN_ALL_VARIABLES, .advice = EXPORT_ADVICE},
    {"verify", 0, REFUSED("use --test-only")},
    {"w", 0, ARGUMENT, NOTHING("'fairlead submit --test-only' checks whether the job can run")},
    {"wd", 0, ARGUMENT, SAME("chdir"), DIRECTORY_ADVICE},
    {0},
};

static const struct foreign_option *find(const struct foreign_option *options, const char *word)
{
    for (; options->name != NULL; options++) {
        bool is_letter = options->letter != 0 && word[0] == options->letter && word[1] == '\0';
        if (is_letter || strcmp(options->name, word) == 0) return options;
    }
    return NULL;
}

const struct foreign_option *foreign_options_find_qsub(const char *name)
{
    return find(foreign_options_qsub, name);
}

/* A letter may be an option of both: the one that means something here is the likelier one. */
const char *foreign_options_advice(const char *word)
{
    const struct foreign_option *tables[] = {foreign_options_sbatch, foreign_options_qsub};
    const char *advice = NULL;
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        const struct foreign_option *found = find(tables[i], word);
        if (found == NULL || found->advice == NULL) continue;
        if (found->meaning != FOREIGN_NOTHING) return found->advice;
        /* That no mail is sent says what to do; other reasons for ignoring only why. */
        if (advice == NULL || strcmp(found->advice, MAIL_ADVICE) == 0) advice = found->advice;
    }
    return advice;
}
