#include "cli/foreign_syntax.h"

#include <stddef.h>
#include <string.h>

#include "base/text.h"

enum { WORD_BYTES = 40 };

struct foreign_word {
    const char *words; /* each between blanks */
    const char *ours;
};

static const struct foreign_word command_words[] = {
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

static const struct foreign_word submit_words[] = {
    {" wrap b ", "a program goes behind --: fairlead submit -- PROGRAM [ARGUMENT...]"},
    {" ntasks cpus-per-task ntasks-per-node c ", "CPUs are -n, --cpus"},
    {" pe ", "slots are --slots N or --slots N-M"},
    {" js ", "the job's shares are --job-share N"},
    {" ot ", "override tickets are --override-tickets N"},
    {" dl ", "the deadline is --deadline MOMENT"},
    {" soft hard masterq ", "every request (-l) is a hard one"},
    {" sync ", "--wait waits until the job has ended"},
    {" hold_jid ", "a job cannot wait for that; 'fairlead wait ID' can be written before this"},
    {" tc ", "how many tasks run at once is said with --array: 0-999%50"},
    {" dept ", "a job's department is its user's"},
    {" nodes nodelist w N ", "there is one host; leave it out (a job's name is -J)"},
    {" gres gpus-per-node gpus-per-task ", "GPUs are -G, --gpus"},
    {" mem-per-cpu ", "--mem is the memory of the whole job"},
    {" licenses L ", "licences are resources: -l NAME=COUNT ('fairlead resource show')"},
    {" dependency d ", "a job cannot wait for that; 'fairlead wait ID' can be written before this"},
    {" cwd workdir ", "a job runs where it was submitted; elsewhere with -D"},
    {" V v ", "the whole environment is taken along; --export says otherwise"},
    {" j ", "error output goes where output goes, unless -e says otherwise"},
    {" mail-type mail-user m M ", "no mail is sent; --wait waits until the job has ended"},
    {NULL, NULL},
};

static const char *find(const struct foreign_word *rows, const char *word)
{
    size_t length = strlen(word);
    if (length == 0 || strchr(word, ' ') != NULL) return NULL;
    for (; rows->words != NULL; rows++) {
        for (const char *p = rows->words; (p = strstr(p, word)) != NULL; p++) {
            if (p[-1] == ' ' && p[length] == ' ') return rows->ours;
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
        {" h_rt s_rt h_cpu s_cpu walltime cput ", "the time limit is -t"},
        {" h_vmem s_vmem mem_free virtual_free h_rss s_rss mem vmem pmem h_data ", "memory is --mem"},
        {" gpu gpus ngpus ", "GPUs are -G"},
        {" cpu cpus slots num_proc ncpus procs nodes select ", "CPUs are -n"},
        {" hostname h host arch q qname ", "there is one host; leave it out"},
        {NULL, NULL},
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
