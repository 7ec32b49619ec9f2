/* #SBATCH lines. Slurm counts tasks, CPUs of each and hosts; here a job has CPUs, so the numbers are collected from all
 * lines and multiplied at the end:
 *
 *     CPUs = ntasks x cpus-per-task        ntasks: as given, or nodes x ntasks-per-node, or one on each node
 *     GPUs = gpus, or nodes x gpus-per-node (--gres=gpu), or ntasks x gpus-per-task; what disagrees is refused
 *
 * Without a number of tasks, gpus / gpus-per-task is that number. Beside one, ntasks-per-node is a maximum. */
#include <getopt.h>
#include <string.h>

#include "base/number.h"
#include "base/text.h"
#include "cli/directive_options.h"

enum { OPTIONS_MAX = 160, SHOWN_SIZE = 80, COUNT_MAX = 1000000 };

/* A number and where it was given last. */
struct given_number {
    uint64_t count; /* 0: not given */
    struct directive_word at;
};

struct sbatch_numbers {
    struct given_number tasks, tasks_per_node, cpus_per_task, nodes, gpus, gpus_per_node, gpus_per_task;
    uint64_t nodes_max;     /* the second number of a range, or the only one */
    const char *nodes_text; /* a number or a range; NULL: not given */
};

static const char *prefix(void)
{
    return directive_prefixes[DIRECTIVE_SBATCH];
}

static int read_count(const struct directive_options *o, struct str text, const struct directive_word *at,
                      const char *shown, struct given_number *out, struct err *e)
{
    uint64_t count;
    if (!number_parse_u64(text, &count) || count == 0 || count > COUNT_MAX)
        return directive_options_refuse(o, at, e, "%s: '%.*s' is not a whole number from 1 to %d", shown,
                                        (int)text.length, text.text, COUNT_MAX);
    *out = (struct given_number){count, *at};
    return 0;
}

/* No GPUs take back what was given before. */
static int read_gpu_count(const struct directive_options *o, struct str text, const struct directive_word *at,
                          const char *shown, struct given_number *out, struct err *e)
{
    uint64_t count;
    if (!number_parse_u64(text, &count) || count > 0) return read_count(o, text, at, shown, out, e);
    *out = (struct given_number){0};
    return 0;
}

/* "[TYPE:]N": hosts have GPUs of one kind each, so a type is not chosen. */
static int read_gpus(const struct directive_options *o, struct str text, const struct directive_word *at,
                     const char *shown, struct given_number *out, struct err *e)
{
    struct str number, type = str_cut(text, ':', &number);
    if (number.text == NULL) return read_gpu_count(o, type, at, shown, out, e);
    return directive_options_refuse(
        o, at, e,
        "%s: a type of GPU ('%.*s') cannot be requested; write %s -C %.*s for hosts with that feature, and %.*s GPUs",
        shown, (int)type.length, type.text, directive_prefixes[DIRECTIVE_OWN], (int)type.length, type.text,
        (int)number.length, number.text);
}

/* "gpu", "gpu:2", "none", on each host. */
static int read_gres(const struct directive_options *o, const char *text, const struct directive_word *at,
                     const char *shown, struct sbatch_numbers *n, struct err *e)
{
    struct str count, name = str_cut(str(text), ':', &count);
    if (strcmp(text, "none") == 0) return read_gpu_count(o, str("0"), at, shown, &n->gpus_per_node, e);
    if (!str_equal(name, str("gpu")) || strchr(text, ',') != NULL)
        return directive_options_refuse(o, at, e,
                                        "%s: '%s' is not gpu:COUNT; write %s -l NAME=AMOUNT for other resources", shown,
                                        text, directive_prefixes[DIRECTIVE_OWN]);
    return read_gpus(o, count.text != NULL ? count : str("1"), at, shown, &n->gpus_per_node, e);
}

/* "matlab:2,ansys" is matlab=2 and ansys=1. */
static void add_licenses(struct directive_options *out, const char *text, const struct directive_word *at)
{
    for (struct str rest = str(text); rest.text != NULL;) {
        struct str count, name = str_cut(str_cut(rest, ',', &rest), ':', &count);
        if (count.text == NULL) count = str("1");
        directive_options_add(out, at, "--request=%.*s=%.*s", (int)name.length, name.text, (int)count.length,
                              count.text);
    }
}

static int read_nodelist(struct directive_options *out, const char *text, const struct directive_word *at,
                         const char *shown, struct err *e)
{
    if (text[strcspn(text, ",[")] != '\0')
        return directive_options_refuse(out, at, e, "%s: only one host can be required; write %s --queues '*@HOST',...",
                                        shown, directive_prefixes[DIRECTIVE_OWN]);
    directive_options_add(out, at, "--queues=*@%s", text);
    return 0;
}

/* "4", or a range "2-4", of which the first number counts. */
static int read_nodes(const struct directive_options *o, const char *text, const struct directive_word *at,
                      const char *shown, struct sbatch_numbers *n, struct err *e)
{
    struct str rest;
    struct given_number max;
    if (read_count(o, str_cut(str(text), '-', &rest), at, shown, &n->nodes, e) != 0) return -1;
    max = n->nodes;
    if (rest.text != NULL && read_count(o, rest, at, shown, &max, e) != 0) return -1;
    n->nodes_max = max.count;
    n->nodes_text = arena_copy(o->arena, str(text));
    return 0;
}

static int read_option(struct directive_options *out, struct sbatch_numbers *n, const struct foreign_option *option,
                       const struct directive_word *at, const char *argument, struct err *e)
{
    char shown[SHOWN_SIZE];
    struct str text = str(argument);
    text_format(shown, sizeof shown, "%s --%s", prefix(), option->name);
    switch (option->meaning) {
    case FOREIGN_TASKS: return read_count(out, text, at, shown, &n->tasks, e);
    case FOREIGN_TASKS_PER_NODE: return read_count(out, text, at, shown, &n->tasks_per_node, e);
    case FOREIGN_CPUS_PER_TASK: return read_count(out, text, at, shown, &n->cpus_per_task, e);
    case FOREIGN_NODES: return read_nodes(out, argument, at, shown, n, e);
    case FOREIGN_GPUS: return read_gpus(out, text, at, shown, &n->gpus, e);
    case FOREIGN_GPUS_PER_NODE: return read_gpus(out, text, at, shown, &n->gpus_per_node, e);
    case FOREIGN_GPUS_PER_TASK: return read_gpus(out, text, at, shown, &n->gpus_per_task, e);
    case FOREIGN_GRES: return read_gres(out, argument, at, shown, n, e);
    case FOREIGN_NODELIST: return read_nodelist(out, argument, at, shown, e);
    case FOREIGN_LICENSES: add_licenses(out, argument, at); return 0;
    default: return directive_options_apply(out, option, at, shown, argument, e);
    }
}

static uint64_t or_one(const struct given_number *n)
{
    return n->count > 0 ? n->count : 1;
}

/* The GPUs that one option means in all. */
struct gpu_total {
    const struct given_number *given;
    uint64_t count; /* 0: not given */
};
enum { GPU_TOTALS = 3 };

static void count_gpus(const struct sbatch_numbers *n, uint64_t tasks, struct gpu_total out[GPU_TOTALS])
{
    out[0] = (struct gpu_total){&n->gpus, n->gpus.count};
    out[1] = (struct gpu_total){&n->gpus_per_node, n->gpus_per_node.count * or_one(&n->nodes)};
    out[2] = (struct gpu_total){&n->gpus_per_task, n->gpus_per_task.count * tasks};
}

/* The tasks on all hosts together. */
static int count_tasks(const struct directive_options *o, const struct sbatch_numbers *n, uint64_t *out_tasks,
                       struct err *e)
{
    struct gpu_total totals[GPU_TOTALS];
    uint64_t each = n->gpus_per_task.count;
    count_gpus(n, 0, totals);
    uint64_t gpus = totals[0].count > 0 ? totals[0].count : totals[1].count;
    bool is_given = n->tasks.count > 0 || n->tasks_per_node.count > 0;
    *out_tasks = n->tasks.count > 0 ? n->tasks.count : or_one(&n->nodes) * or_one(&n->tasks_per_node);
    if (is_given || each == 0 || gpus == 0) return 0;
    *out_tasks = gpus / each;
    if (gpus % each == 0) return 0;
    return directive_options_refuse(o, &n->gpus_per_task.at, e,
                                    "%s --gpus-per-task: %llu GPUs cannot be shared out to tasks with %llu each",
                                    prefix(), (unsigned long long)gpus, (unsigned long long)each);
}

/* GPUs are those of one host; on several, only those of each task can be counted. */
static int add_gpus(struct directive_options *out, const struct sbatch_numbers *n, uint64_t tasks, struct err *e)
{
    bool is_per_slot = n->gpus_per_task.count > 0 && or_one(&n->cpus_per_task) == 1;
    struct gpu_total totals[GPU_TOTALS];
    const struct gpu_total *first = NULL;
    count_gpus(n, tasks, totals);
    for (const struct gpu_total *t = totals; t < totals + GPU_TOTALS; t++) {
        if (t->count == 0) continue;
        if (first == NULL) first = t;
        if (t->count != first->count)
            return directive_options_refuse(out, &t->given->at, e,
                                            "%s: options for GPUs disagree: they mean %llu and %llu GPUs in all",
                                            prefix(), (unsigned long long)first->count, (unsigned long long)t->count);
    }
    if (first == NULL) return 0;
    if (n->nodes_max > 1 && !is_per_slot)
        return directive_options_refuse(
            out, &first->given->at, e,
            "GPUs on several hosts are counted for each slot: write %s --gpus-per-slot COUNT",
            directive_prefixes[DIRECTIVE_OWN]);
    const struct given_number *given = is_per_slot ? &n->gpus_per_task : first->given;
    directive_options_add(out, &given->at, "--%s=%llu", is_per_slot ? "gpus-per-slot" : "gpus",
                          (unsigned long long)(is_per_slot ? given->count : first->count));
    return 0;
}

/* The slots of each host are an exact number here. Beside a number of tasks Slurm has a maximum: that is the same if it
 * fills the hosts, and nothing if all tasks may be on one host. */
static int add_nodes(struct directive_options *out, const struct sbatch_numbers *n, uint64_t tasks, struct err *e)
{
    uint64_t each = n->tasks_per_node.count, nodes = n->nodes.count;
    if (n->nodes_text != NULL) directive_options_add(out, &n->nodes.at, "--nodes=%s", n->nodes_text);
    if (each == 0 || (n->tasks.count > 0 && tasks <= each)) return 0;
    if (n->tasks.count > 0 && nodes == 0 && tasks % each == 0) {
        nodes = tasks / each;
        directive_options_add(out, &n->tasks_per_node.at, "--nodes=%llu", (unsigned long long)nodes);
    }
    if (n->tasks.count > 0 && tasks != nodes * each)
        return directive_options_refuse(
            out, &n->tasks_per_node.at, e,
            "%s --ntasks-per-node: beside --ntasks it is a maximum, which has no counterpart; give --nodes N so that "
            "N x %llu are %llu tasks",
            prefix(), (unsigned long long)each, (unsigned long long)tasks);
    if (nodes > 0)
        directive_options_add(out, &n->tasks_per_node.at, "--slots-per-node=%llu",
                              (unsigned long long)(each * or_one(&n->cpus_per_task)));
    return 0;
}

/* What the numbers of all lines mean together. */
static int add_numbers(struct directive_options *out, const struct sbatch_numbers *n, struct err *e)
{
    const struct given_number *of[] = {&n->gpus_per_task, &n->tasks, &n->tasks_per_node, &n->cpus_per_task, &n->nodes};
    const struct given_number *at = NULL;
    uint64_t tasks;
    if (count_tasks(out, n, &tasks, e) != 0) return -1;
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        if (of[i]->count > 0) at = of[i];
    }
    if (at != NULL)
        directive_options_add(out, &at->at, "--cpus=%llu", (unsigned long long)(tasks * or_one(&n->cpus_per_task)));
    if (add_nodes(out, n, tasks, e) != 0) return -1;
    return add_gpus(out, n, tasks, e);
}

/* The options as getopt_long reads them, which also takes names that are cut short. */
struct sbatch_getopt {
    struct option longs[OPTIONS_MAX];
    char letters[2 + 3 * OPTIONS_MAX + 1];
};

static void build_getopt(struct sbatch_getopt *g)
{
    size_t length = 0, count = 0;
    *g = (struct sbatch_getopt){.letters = "+:"};
    length = strlen(g->letters);
    for (const struct foreign_option *o = foreign_options_sbatch; o->name != NULL; o++) {
        int arguments = o->is_optional ? optional_argument : o->argument_count > 0 ? required_argument : no_argument;
        g->longs[count++] = (struct option){
            .name = o->name, .has_arg = arguments, .val = UINT8_MAX + 1 + (int)(o - foreign_options_sbatch)};
        if (o->letter == 0) continue;
        g->letters[length++] = o->letter;
        for (int i = 0; i < arguments; i++) g->letters[length++] = ':';
    }
}

static const struct foreign_option *option_of_result(int result)
{
    const struct foreign_option *o = foreign_options_sbatch;
    if (result > UINT8_MAX) return o + (result - UINT8_MAX - 1);
    while (o->name != NULL && o->letter != result) o++;
    return o;
}

static int read_line(const struct directive *line, const struct sbatch_getopt *g, struct directive_options *out,
                     struct sbatch_numbers *numbers, struct err *e)
{
    char **words = arena_alloc(out->arena, (line->count + 2) * sizeof *words);
    words[0] = arena_copy(out->arena, str("sbatch"));
    for (uint32_t i = 0; i < line->count; i++) words[i + 1] = arena_copy(out->arena, str(line->words[i].text));
    opterr = 0;
    optind = 0; /* resets getopt_long */
    for (;;) {
        uint32_t next = optind > 0 ? (uint32_t)optind - 1 : 0;
        if (next >= line->count) return 0;
        const struct directive_word *at = &line->words[next];
        int result = getopt_long((int)line->count + 1, words, g->letters, g->longs, NULL);
        if (result == -1)
            return directive_options_refuse(out, at, e, "%s: '%s' is not an option; they begin with a dash", prefix(),
                                            at->text);
        if (result == ':')
            return directive_options_refuse(out, at, e, "%s %s: its argument is missing", prefix(), at->text);
        if (result == '?')
            return directive_options_refuse(out, at, e, "%s %s: sbatch has no such option, or several that begin so",
                                            prefix(), at->text);
        if (read_option(out, numbers, option_of_result(result), at, optarg, e) != 0) return -1;
    }
}

int directive_options_of_sbatch(const struct directive_lines *lines, struct directive_options *out, struct err *e)
{
    struct sbatch_getopt g;
    struct sbatch_numbers numbers = {0};
    build_getopt(&g);
    for (uint32_t i = 0; i < lines->list.count; i++) {
        const struct directive *line = &lines->list.items[i];
        if (line->family == DIRECTIVE_SBATCH && read_line(line, &g, out, &numbers, e) != 0) return -1;
    }
    return add_numbers(out, &numbers, e);
}
