#include "cli/foreign_syntax.h"

#include <stddef.h>
#include <string.h>

#include "base/text.h"

enum { WORD_BYTES = 40 };

struct foreign_word {
    const char *words;  /* each between blanks */
    const char *advice; /* the equivalent command's name, or a sentence */
};

static const struct foreign_word command_words[] = {
    {.words = " sbatch qsub srun salloc bsub run ", .advice = "submit"},
    {.words = " squeue qstat bjobs list ls ps jobs ", .advice = "queue"},
    {.words = " scancel qdel bkill kill delete ", .advice = "cancel"},
    {.words = " sacct qacct ", .advice = "history"},
    {.words = " sshare ", .advice = "share"},
    {.words = " sprio ", .advice = "prio"},
    {.words = " sinfo qhost pbsnodes ", .advice = "status"},
    {.words = " scontrol job ", .advice = "show job"},
    {.words = " sacctmgr ", .advice = "account show"},
    {.words = " qhold ", .advice = "hold"},
    {.words = " qrls ", .advice = "release"},
    {.words = " qalter ", .advice = "update"},
    {.words = " requeuehold ", .advice = "requeue --hold"},
    {0},
};

static const struct foreign_word submit_words[] = {
    {.words = " wrap b ", .advice = "give a command after --: fairlead submit -- COMMAND [ARGUMENT...]"},
    {.words = " ntasks cpus-per-task c ", .advice = "use -n, --cpus for CPUs"},
    {.words = " ntasks-per-node ", .advice = "use --slots-per-node for the slots on each host"},
    {.words = " pe ", .advice = "use --pe NAME for the parallel environment, and --slots N or N-M for the slots"},
    {.words = " js ", .advice = "use --job-share N for the job's shares"},
    {.words = " ot ", .advice = "use --override-tickets N for override tickets"},
    {.words = " dl ", .advice = "use --deadline TIME for the deadline"},
    {.words = " hard ", .advice = "every request (-l) is a hard request; use --soft for the others"},
    {.words = " masterq ", .advice = "use --master-queues for the queues of the first slot"},
    {.words = " sync ", .advice = "use --wait to wait until the job has ended"},
    {.words = " hold_jid ", .advice = "use --hold-jid for jobs whose end it waits for"},
    {.words = " hold_jid_ad ", .advice = "use --hold-jid-ad to wait for an array task by task"},
    {.words = " r ", .advice = "use --requeue or --no-requeue"},
    {.words = " tc ", .advice = "use --array 0-999%50 to limit the number of tasks that run at once"},
    {.words = " dept ", .advice = "a job's department is that of its user"},
    {.words = " nodelist w ", .advice = "use --queues '*@HOST' for a host"},
    {.words = " gres gpus-per-node ", .advice = "use -G, --gpus for GPUs"},
    {.words = " gpus-per-task ", .advice = "use --gpus-per-slot for the GPUs of each slot"},
    {.words = " licenses L ", .advice = "use -l NAME=COUNT: licences are resources ('fairlead resource show')"},
    {.words = " cwd workdir ", .advice = "a job runs in the directory of submission; use -D for another"},
    {.words = " V v ", .advice = "a job gets the submitter's environment; use --export for another"},
    {.words = " j ", .advice = "standard error goes to the file of standard output unless -e names another"},
    {.words = " mail-type mail-user m M ", .advice = "no mail is sent; use --wait to wait until the job has ended"},
    {0},
};

static const char *find(const struct foreign_word *rows, const char *word)
{
    size_t length = strlen(word);
    if (length == 0 || strchr(word, ' ') != NULL) return NULL;
    for (; rows->words != NULL; rows++) {
        for (const char *p = rows->words; (p = strstr(p, word)) != NULL; p++) {
            if (p[-1] == ' ' && p[length] == ' ') return rows->advice;
        }
    }
    return NULL;
}

const char *foreign_syntax_command(const char *word)
{
    return find(command_words, word);
}

const char *foreign_syntax_submit_option(const char *word)
{
    return find(submit_words, word);
}

const char *foreign_syntax_request(struct str name)
{
    static const struct foreign_word requests[] = {
        {.words = " h_rt s_rt h_cpu s_cpu walltime cput ", .advice = "use -t for the time limit"},
        {.words = " h_vmem s_vmem mem_free virtual_free h_rss s_rss mem vmem pmem h_data ",
         .advice = "use --mem for memory"},
        {.words = " gpu gpus ngpus ", .advice = "use -G for GPUs"},
        {.words = " cpu cpus slots num_proc ncpus procs nodes select ", .advice = "use -n for CPUs"},
        {.words = " h host ", .advice = "use hostname=HOST, or --queues '*@HOST'"},
        {.words = " q ", .advice = "use qname=QUEUE, or --queues"},
        {0},
    };
    char word[WORD_BYTES];
    text_format(word, sizeof word, "%.*s", (int)name.length, name.text);
    return find(requests, word);
}

const char *foreign_syntax_directive(struct str script)
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
