#include "cli/foreign_syntax.h"

#include <stddef.h>
#include <string.h>

#include "base/text.h"
#include "cli/foreign_options.h"

enum { WORD_BYTES = 40 };

struct foreign_word {
    const char *words;  /* each between blanks */
    const char *advice; /* the equivalent command's name, or a sentence */
};

static const struct foreign_word command_words[] = {
    {.words = " sbatch qsub srun salloc bsub run ", .advice = "submit"},
    {.words = " squeue qstat bjobs list ls ps jobs top ", .advice = "queue"},
    {.words = " scancel qdel bkill kill delete ", .advice = "cancel"},
    {.words = " sacct qacct ", .advice = "history"},
    {.words = " sshare sreport usage ", .advice = "share"},
    {.words = " sprio ", .advice = "prio"},
    {.words = " sinfo qhost pbsnodes info ", .advice = "status"},
    {.words = " scontrol job ", .advice = "show job"},
    {.words = " sacctmgr ", .advice = "account show"},
    {.words = " qhold ", .advice = "hold"},
    {.words = " qrls ", .advice = "release"},
    {.words = " unsuspend ", .advice = "resume"},
    {.words = " qalter alter ", .advice = "update"},
    {.words = " qquota ", .advice = "quota usage"},
    {.words = " add create ", .advice = "account add"},
    {.words = " modify ", .advice = "account modify"},
    {.words = " limit limits ", .advice = "help limits"},
    {.words = " reason reasons ", .advice = "help reasons"},
    {.words = " requeuehold ", .advice = "requeue --hold"},
    {0},
};

/* What an update advises instead of a submission; its other words are those of a submission. */
static const struct foreign_word update_words[] = {
    {.words = " hold H h ", .advice = "use 'fairlead hold ID', or --hold-jid for jobs whose end it waits for"},
    {.words = " array a tc ", .advice = "use --array-limit COUNT; which tasks an array has cannot change"},
    {.words = " wrap b input i ", .advice = "a job's command cannot change; cancel it and submit another"},
    {.words = " sync wait W ", .advice = "use 'fairlead wait ID' to wait until the job has ended"},
    {.words = " cwd workdir chdir D wd output o error e j V v export ",
     .advice = "a job's directory, files and environment cannot change; cancel it and submit another"},
    {0},
};

/* Options of squeue, sacct, sprio, sshare, scancel, qstat and qdel. */
#define ANOTHER_CLUSTER "an instance is one cluster; use --socket PATH for another instance"
#define OWN_JOBS "use -u \"$USER\" for your own jobs"

static const struct foreign_word queue_words[] = {
    {.words = " t states ", .advice = "use -s, --state STATE"},
    {.words = " me mine ", .advice = OWN_JOBS},
    {.words = " j jobs job ", .advice = "use 'fairlead show job ID' for one job"},
    {.words = " l long f full ",
     .advice = "use -o FIELD,... for other columns, or 'fairlead show job ID' for all fields"},
    {.words = " p partition ",
     .advice = "select rows by their text: fairlead queue -P -o id,partition | grep '|NAME$'"},
    {.words = " q qos ", .advice = "select rows by their text: fairlead queue -P -o id,qos | grep '|NAME$'"},
    {.words = " n name J job-name ",
     .advice = "select rows by their text: fairlead queue -P -o id,name | grep '|NAME$'"},
    {.words = " w nodelist ", .advice = "select rows by their text: fairlead queue -P -o id,hosts | grep -w HOST"},
    {.words = " r array ", .advice = "tasks that have not started are one row; each has its own from its start"},
    {.words = " O Format format ", .advice = "use -o FIELD,... to choose columns"},
    {.words = " S ", .advice = "use --sort FIELD,..."},
    {.words = " i iterate ", .advice = "use watch(1): watch -n 5 fairlead queue"},
    {.words = " M cluster clusters ", .advice = ANOTHER_CLUSTER},
    {.words = " xml ", .advice = "use --json"},
    {.words = " pri urg ext ", .advice = "use 'fairlead prio' for the terms of each priority"},
    {.words = " ne ", .advice = "use -s pending for the jobs that wait"},
    {.words = " g ", .advice = "tasks that have not started are one row; 'fairlead places' has a row for each queue"},
    {0},
};

static const struct foreign_word history_words[] = {
    {.words = " me mine ", .advice = OWN_JOBS},
    {.words = " a allusers ", .advice = "jobs of all users are listed unless -u selects some"},
    {.words = " j jobs job ", .advice = "give the id alone: fairlead history ID"},
    {.words = " S starttime ", .advice = "use --since TIME"},
    {.words = " E endtime ", .advice = "use --until TIME"},
    {.words = " t states ", .advice = "use -s, --state STATE"},
    {.words = " r partition ",
     .advice = "select rows by their text: fairlead history -P -o id,partition | grep '|NAME$'"},
    {.words = " q qos ", .advice = "select rows by their text: fairlead history -P -o id,qos | grep '|NAME$'"},
    {.words = " name J job-name ",
     .advice = "select rows by their text: fairlead history -P -o id,name | grep '|NAME$'"},
    {.words = " N nodelist w ", .advice = "select rows by their text: fairlead history -P -o id,hosts | grep -w HOST"},
    {.words = " l long ", .advice = "use -o FIELD,... for other columns, or 'fairlead show job ID' for all fields"},
    {.words = " X allocations ", .advice = "a row is always a whole job or task"},
    {.words = " format ", .advice = "use -o FIELD,... to choose columns"},
    {.words = " p parsable2 ", .advice = "use -P, --parsable"},
    {.words = " M cluster clusters ", .advice = ANOTHER_CLUSTER},
    {0},
};

static const struct foreign_word prio_words[] = {
    {.words = " j jobs job ", .advice = "give the id alone: fairlead prio ID"},
    {.words = " u user p partition ", .advice = "select rows by their text: fairlead prio -P | grep '|NAME|'"},
    {.words = " l long ", .advice = "every term is listed already"},
    {.words = " M cluster clusters ", .advice = ANOTHER_CLUSTER},
    {0},
};

static const struct foreign_word share_words[] = {
    {.words = " a all ", .advice = "all users are listed unless -A or -u selects some"},
    {.words = " l long ", .advice = "use -o FIELD,... for other columns, or --tres for the usage of each TRES"},
    {.words = " U Users ", .advice = "use -u, --user NAME for one user"},
    {.words = " accounts ", .advice = "use -A, --account NAME"},
    {.words = " n ", .advice = "use --noheader"},
    {.words = " p parsable2 ", .advice = "use -P, --parsable"},
    {.words = " M cluster clusters ", .advice = ANOTHER_CLUSTER},
    {0},
};

static const struct foreign_word cancel_words[] = {
    {.words = " t ", .advice = "use -s, --state pending or running; tasks of array 5 are 5_[1-9]"},
    {.words = " n jobname job-name ", .advice = "use -J, --name NAME"},
    {.words = " me ", .advice = "use --all for all your jobs, or -u, --user NAME"},
    {.words = " w nodelist ", .advice = "'fairlead queue -P -o id,hosts' lists the jobs of each host; give their ids"},
    {.words = " signal b batch f full ", .advice = "a job gets SIGTERM, and SIGKILL after the setting grace_s"},
    {.words = " i interactive ", .advice = "use --dry-run to see what would be changed"},
    {0},
};

/* Words of other programs that stand where a subcommand does. */
static const struct foreign_word subcommand_words[] = {
    {.words = " list ls get info display print ", .advice = "show"},
    {.words = " create new ", .advice = "add"},
    {.words = " remove rm del drop ", .advice = "delete"},
    {.words = " set update change edit alter ", .advice = "modify"},
    {.words = " undrain enable up ", .advice = "resume"},
    {.words = " disable down ", .advice = "drain"},
    {0},
};

/* What follows 'show' in scontrol, sacctmgr and qconf. */
static const struct foreign_word shown_words[] = {
    {.words = " jobs ", .advice = "queue"},
    {.words = " partitions queue queues ", .advice = "partition show"},
    {.words = " node nodes hosts ", .advice = "host show"},
    {.words = " accounts ", .advice = "account show"},
    {.words = " users assoc assocs association associations ", .advice = "user show"},
    {.words = " config configuration settings ", .advice = "set"},
    {.words = " license licenses resources tres ", .advice = "resource show"},
    {.words = " cluster ", .advice = "status"},
    {.words = " reservation reservations res ", .advice = "schedule"},
    {.words = " quotas rqs ", .advice = "quota show"},
    {.words = " share shares ", .advice = "share"},
    {.words = " history ", .advice = "history"},
    {0},
};

/* Words of sacctmgr among the fields of accounts and users, in lower case. Without advice the most similar field would
 * be named: for Fairshare fshare, which is of the ticket policies. */
static const struct foreign_word field_words[] = {
    {.words = " fairshare ", .advice = "use --shares N for the shares"},
    {.words = " set where ", .advice = "leave it out, the NAME=VALUE follow the name"},
    {.words = " defaultaccount ", .advice = "use --default with -A, --account NAME"},
    {0},
};

/* Words of scontrol and qconf among the fields of objects, in lower case. */
static const struct foreign_word object_field_words[] = {
    {.words = " nodes nodelist hostlist ", .advice = "use hosts=NAME,... for the hosts, such as hosts=n[1-3],@big"},
    {0},
};

/* Options of qconf and qmod, without their dash; -a, -m, -d and -s of qconf are add, modify, delete and show. */
static const struct foreign_word qconf_words[] = {
    {.words = " q ", .advice = "partition"},
    {.words = " e h ", .advice = "host"},
    {.words = " hgrp ", .advice = "group"},
    {.words = " p ", .advice = "pe"},
    {.words = " prj ", .advice = "project"},
    {.words = " u ", .advice = "department"},
    {.words = " user ", .advice = "user"},
    {.words = " cal ", .advice = "calendar"},
    {.words = " rqs ", .advice = "quota"},
    {.words = " c ce ", .advice = "resource"},
    {.words = " stree stnode ", .advice = "account"},
    {0},
};
static const struct foreign_word qmod_words[] = {
    {.words = " d ", .advice = "partition drain"}, {.words = " e c cq ", .advice = "partition resume"},
    {.words = " r rj rq ", .advice = "requeue"},   {.words = " s sj ", .advice = "suspend"},
    {.words = " us usj cj ", .advice = "resume"},  {0},
};

/* Words of scontrol update, in lower case. */
static const struct foreign_word update_pair_words[] = {
    {.words = " jobid job ", .advice = "give the id alone: fairlead update ID OPTIONS"},
    {.words = " timelimit ", .advice = "use -t, --time DURATION"},
    {.words = " partition ", .advice = "use -p, --partition NAME"},
    {.words = " account ", .advice = "use -A, --account NAME"},
    {.words = " qos ", .advice = "use -q, --qos NAME"},
    {.words = " jobname name ", .advice = "use -J, --job-name NAME"},
    {.words = " comment ", .advice = "use --comment TEXT"},
    {.words = " nice ", .advice = "use --nice=N"},
    {.words = " priority ", .advice = "use --set-priority N"},
    {.words = " starttime earlieststarttime eligibletime ", .advice = "use --begin TIME"},
    {.words = " deadline ", .advice = "use --deadline TIME"},
    {.words = " dependency ", .advice = "use -d, --dependency LIST"},
    {.words = " numcpus numtasks ", .advice = "use -n, --cpus COUNT"},
    {.words = " numnodes ", .advice = "use -N, --nodes COUNT"},
    {.words = " minmemorynode ", .advice = "use --mem SIZE"},
    {.words = " minmemorycpu ", .advice = "use --mem-per-cpu SIZE"},
    {.words = " features ", .advice = "use -C, --constraint LIST"},
    {.words = " arraytaskthrottle ", .advice = "use --array-limit COUNT"},
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
    return foreign_options_advice(word);
}

const char *foreign_syntax_update_option(const char *word)
{
    const char *advice = find(update_words, word);
    return advice != NULL ? advice : foreign_options_advice(word);
}

const char *foreign_syntax_queue_option(const char *word)
{
    return find(queue_words, word);
}

const char *foreign_syntax_history_option(const char *word)
{
    return find(history_words, word);
}

const char *foreign_syntax_prio_option(const char *word)
{
    return find(prio_words, word);
}

const char *foreign_syntax_share_option(const char *word)
{
    return find(share_words, word);
}

const char *foreign_syntax_cancel_option(const char *word)
{
    return find(cancel_words, word);
}

const char *foreign_syntax_subcommand(const char *word)
{
    return find(subcommand_words, word);
}

const char *foreign_syntax_shown(const char *word)
{
    return find(shown_words, word);
}

/* A word in any case. */
static const char *find_lower(const struct foreign_word *rows, struct str name)
{
    char word[WORD_BYTES];
    text_format(word, sizeof word, "%.*s", (int)name.length, name.text);
    for (char *c = word; *c != '\0'; c++) *c = *c >= 'A' && *c <= 'Z' ? (char)(*c - 'A' + 'a') : *c;
    return find(rows, word);
}

const char *foreign_syntax_update_pair(struct str name)
{
    return find_lower(update_pair_words, name);
}

bool foreign_syntax_qconf(const char *option, char out[FOREIGN_COMMAND_SIZE])
{
    static const struct {
        char letter;
        const char *subcommand;
    } verbs[] = {{'a', "add"}, {'m', "modify"}, {'d', "delete"}, {'s', "show"}};
    static const char *const settings[] = {"-msconf", "-ssconf", "-mconf", "-sconf"};
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        if (strcmp(option, settings[i]) == 0) return text_format(out, FOREIGN_COMMAND_SIZE, "set") > 0;
    }
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
        if (option[0] != '-' || option[1] != verbs[i].letter) continue;
        const char *noun = find(qconf_words, option + 2);
        if (noun == NULL && strchr(option, 'l') != NULL && verbs[i].letter == 's') { /* -sql lists all queues */
            char word[WORD_BYTES];
            size_t length = text_format(word, sizeof word, "%s", option + 2);
            if (length > 0 && length < sizeof word && word[length - 1] == 'l') word[length - 1] = '\0';
            noun = find(qconf_words, word);
        }
        if (noun != NULL) return text_format(out, FOREIGN_COMMAND_SIZE, "%s %s", noun, verbs[i].subcommand) > 0;
    }
    return false;
}

const char *foreign_syntax_qmod(const char *option)
{
    return option[0] == '-' ? find(qmod_words, option + 1) : NULL;
}

const char *foreign_syntax_field(struct str name)
{
    return find_lower(field_words, name);
}

const char *foreign_syntax_object_field(struct str name)
{
    return find_lower(object_field_words, name);
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
