#include "cli/habits.h"

#include <stddef.h>
#include <string.h>

struct habit {
    const char *words; /* each between blanks */
    const char *ours;
};

static const struct habit command_habits[] = {
    {" sbatch qsub srun salloc bsub run ", "submit"},
    {" squeue qstat bjobs list ls ps jobs ", "queue"},
    {" scancel qdel bkill kill delete ", "cancel"},
    {" sacct qacct ", "history"},
    {" sshare ", "share"},
    {" sprio ", "prio"},
    {" sinfo qhost pbsnodes ", "status"},
    {" scontrol job ", "show job"},
    {" sacctmgr ", "account show"},
    {" qhold ", "hold"},
    {" qrls ", "release"},
    {" qalter ", "update"},
    {NULL, NULL},
};

static const struct habit submit_habits[] = {
    {" wrap b ", "a program goes behind --: fairlead submit -- PROGRAM [ARGUMENT...]"},
    {" ntasks cpus-per-task ntasks-per-node c ", "CPUs are -n, --cpus"},
    {" partition p q qos ", "there are no partitions or queues; leave it out (CPUs are -n)"},
    {" nodes nodelist w N ", "there is one host; leave it out (a job's name is -J)"},
    {" gres gpus-per-node gpus-per-task ", "GPUs are -G, --gpus"},
    {" mem-per-cpu ", "--mem is the memory of the whole job"},
    {" l ", "CPUs are -n, memory --mem, GPUs -G, the time limit -t"},
    {" dependency d begin ", "a job cannot wait for that; 'fairlead wait ID' can be written before this"},
    {" cwd workdir ", "a job runs where it was submitted; elsewhere with -D"},
    {" V v ", "the whole environment is taken along; --export says otherwise"},
    {" j ", "error output goes where output goes, unless -e says otherwise"},
    {" mail-type mail-user m M ", "no mail is sent; --wait waits until the job has ended"},
    {NULL, NULL},
};

static const char *find(const struct habit *habits, const char *word)
{
    size_t length = strlen(word);
    if (length == 0 || strchr(word, ' ') != NULL) return NULL;
    for (; habits->words != NULL; habits++) {
        for (const char *p = habits->words; (p = strstr(p, word)) != NULL; p++) {
            if (p[-1] == ' ' && p[length] == ' ') return habits->ours;
        }
    }
    return NULL;
}

const char *habit_command(const char *word)
{
    return find(command_habits, word);
}

const char *habit_submit_option(const char *word)
{
    return find(submit_habits, word);
}

const char *habit_directive(struct str script)
{
    static const char *const directives[] = {"#SBATCH ", "#$ ", "#PBS "};
    static const char *const names[] = {"#SBATCH", "#$", "#PBS"};
    struct str rest = script;
    while (rest.text != NULL) {
        struct str line = str_cut(rest, '\n', &rest);
        if (line.length == 0) continue;
        if (line.text[0] != '#') return NULL;
        for (size_t i = 0; i < sizeof directives / sizeof *directives; i++) {
            size_t length = strlen(directives[i]);
            if (line.length >= length && memcmp(line.text, directives[i], length) == 0) return names[i];
        }
    }
    return NULL;
}
