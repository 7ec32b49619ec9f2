#include "cli/directives.h"

#include <string.h>

#include "cli/directive_options.h"
#include "cli/foreign_syntax.h"
#include "cli/instance.h"
#include "cli/job_options.h"
#include "cli/submit_options.h"

/* The sets of options that a directive may have: those of submit and those of jobs, not those of every command. */
enum { SET_COUNT = 2 };

/* Options from one rank, and where each was given. */
struct rank {
    struct option_set sets[SET_COUNT];
    uint64_t given[SET_COUNT];
};

struct directives {
    const char *file;
    struct rank own, foreign, all;
    struct directive_word at[SET_COUNT][OPTION_ROWS_MAX]; /* where the one that decides was given; line 0: not here */
};

/* Options that mean the same thing otherwise: one of a higher rank takes the place of all of a lower one. */
static const char *const groups[][4] = {
    {"cpus", "slots"},
    {"mem", "mem-per-cpu"},
    {"gpus", "gpus-per-slot"},
    {"requeue", "no-requeue"},
    {"nodes", "pe"},
    {"slots-per-node", "pe"},
    {"dependency", "hold-jid", "hold-jid-ad"},
};

/* Options of a higher rank that make those of a lower one invalid: the slots of each host were counted for
 * other CPUs, queues are in other partitions, and --test-only and --json print another answer. The reverse does not
 * hold: -N is another layout of the same CPUs. */
static const struct {
    const char *by, *name;
} displaced[] = {{"cpus", "slots-per-node"}, {"slots", "slots-per-node"}, {"partition", "queues"},
                 {"test-only", "wait"},      {"test-only", "parsable"},   {"json", "wait"},
                 {"json", "parsable"}};

static void init_rank(struct rank *rank, const struct call *call)
{
    const size_t sizes[SET_COUNT] = {call->command->values_size, sizeof *call->job};
    *rank = (struct rank){0};
    for (uint32_t set = 0; set < SET_COUNT; set++)
        rank->sets[set] = (struct option_set){call->parsed.rows[set], arena_alloc(call->arena, sizes[set])};
}

static int64_t now_us(void *call)
{
    return instance_now_us(call);
}

/* --- ranks -------------------------------------------------------------------------------------------------------- */

static bool has_given(const struct rank *rank, const char *name)
{
    for (uint32_t set = 0; set < SET_COUNT; set++) {
        for (uint32_t i = 0; rank->sets[set].rows[i].name != NULL; i++) {
            if (strcmp(rank->sets[set].rows[i].name, name) == 0) return (rank->given[set] >> i & 1) != 0;
        }
    }
    return false;
}

/* Whether a rank gives another option of a group that has this one. */
static bool is_displaced(const struct rank *by, const char *name)
{
    bool found = false;
    for (size_t g = 0; g < sizeof groups / sizeof *groups; g++) {
        bool has_name = false, has_other = false;
        for (size_t i = 0; i < sizeof *groups / sizeof **groups && groups[g][i] != NULL; i++) {
            has_name = has_name || strcmp(groups[g][i], name) == 0;
            has_other = has_other || has_given(by, groups[g][i]);
        }
        found = found || (has_name && has_other);
    }
    for (size_t i = 0; i < sizeof displaced / sizeof *displaced; i++)
        found = found || (strcmp(displaced[i].name, name) == 0 && has_given(by, displaced[i].by));
    return found;
}

/* Whether the option has queues on hosts, in whatever partition: '*@HOST'. They are kept beside a partition. */
static bool is_of_any_partition(const struct rank *rank, const char *name)
{
    const struct job_option_values *job = rank->sets[1].values;
    const struct job_values *values = &job->values;
    if (strcmp(name, "queues") != 0 || !values->is_given[JOB_FIELD_QUEUES]) return false;
    for (struct str rest = str(values->value[JOB_FIELD_QUEUES].text); rest.text != NULL;) {
        if (!str_starts(str_cut(rest, ',', &rest), str("*@"))) return false;
    }
    return true;
}

/* Puts a rank over those below it, which are in d->all already. at: of the rank; NULL: the command line. */
static void put_over(struct directives *d, const struct rank *rank, const struct directive_word (*at)[OPTION_ROWS_MAX])
{
    for (uint32_t set = 0; set < SET_COUNT; set++) {
        const struct option_row *rows = rank->sets[set].rows;
        for (uint32_t i = 0; rows[i].name != NULL; i++) {
            bool is_given = (rank->given[set] >> i & 1) != 0;
            if (!is_given && (!is_displaced(rank, rows[i].name) || is_of_any_partition(&d->all, rows[i].name)))
                continue;
            d->at[set][i] = is_given && at != NULL ? at[set][i] : (struct directive_word){0};
            if (is_given) {
                options_copy_value(&rows[i], rank->sets[set].values, d->all.sets[set].values);
            } else {
                options_clear_value(&rows[i], d->all.sets[set].values);
            }
        }
    }
}

/* --- own lines ---------------------------------------------------------------------------------------------------- */

/* The word of the line that gives the option, or the first one. */
static const struct directive_word *word_of(const struct directive *line, const struct option_row *row)
{
    for (uint32_t i = 0; i < line->count; i++) {
        const char *word = line->words[i].text;
        bool is_long = strncmp(word, "--", 2) == 0 && strncmp(word + 2, row->name, strcspn(word + 2, "=")) == 0;
        if (is_long || (row->letter != 0 && word[0] == '-' && word[1] == row->letter)) return &line->words[i];
    }
    return &line->words[0];
}

/* Parses the words of one line into the rank. */
static int parse_line(struct call *call, const char *file, const struct directive *line, struct rank *rank,
                      struct directive_word (*at)[OPTION_ROWS_MAX], struct err *e)
{
    struct option_rules rules = {.name = "fairlead submit",
                                 .set_count = SET_COUNT,
                                 .options_first = true,
                                 .explain = foreign_syntax_submit_option,
                                 .now_us = now_us,
                                 .now_context = call};
    struct parsed parsed;
    char **words = arena_alloc(call->arena, (line->count + 2) * sizeof *words);
    words[0] = arena_copy(call->arena, str("submit"));
    for (uint32_t i = 0; i < line->count; i++) words[i + 1] = arena_copy(call->arena, str(line->words[i].text));
    memcpy(rules.sets, rank->sets, sizeof rank->sets);

    uint32_t failed = NONE; /* index of a word */
    if (options_parse(&rules, (int)line->count + 1, words, &parsed, e) != 0) {
        failed = parsed.failed_index - 1;
    } else if (parsed.operand_count > 0) {
        failed = line->count - parsed.operand_count;
        if (!options_explain_bare(&parsed, e))
            (void)err_set(e, ERR_USAGE, "'%s' is not an option; a directive has only options",
                          line->words[failed].text);
    }
    if (failed != NONE) {
        const struct directive_word *word = &line->words[failed < line->count ? failed : line->count - 1];
        return err_prefix(e, "%s:%u:%u", file, word->line, word->column);
    }
    for (uint32_t set = 0; set < SET_COUNT; set++) {
        rank->given[set] |= parsed.given[set];
        for (uint32_t i = 0; rank->sets[set].rows[i].name != NULL; i++) {
            if (parsed.given[set] >> i & 1) at[set][i] = *word_of(line, &rank->sets[set].rows[i]);
        }
    }
    return 0;
}

static int parse_own(struct call *call, const struct directive_lines *lines, struct directives *d,
                     struct directive_word (*at)[OPTION_ROWS_MAX], struct err *e)
{
    for (uint32_t i = 0; i < lines->list.count; i++) {
        const struct directive *line = &lines->list.items[i];
        if (line->family != DIRECTIVE_OWN || line->count == 0) continue;
        if (parse_line(call, d->file, line, &d->own, at, e) != 0) return -1;
    }
    if (has_given(&d->own, "directive-prefix"))
        return err_set(e, ERR_USAGE, "%s: --directive-prefix is an option of the command line, not of a directive",
                       d->file);
    return 0;
}

/* --- lines of other schedulers ------------------------------------------------------------------------------------ */

/* Each option that was translated is parsed as if it were a line of its own at its position. */
static int parse_translated(struct call *call, const struct directive_options *options, struct directives *d,
                            struct err *e)
{
    struct directive_word at[SET_COUNT][OPTION_ROWS_MAX] = {0};
    for (uint32_t i = 0; i < options->list.count; i++) {
        const struct directive_option *option = &options->list.items[i];
        struct directive_word word = {option->word, option->line, option->column};
        const struct directive line = {.line = option->line, .words = &word, .count = 1};
        if (parse_line(call, d->file, &line, &d->foreign, at, e) != 0) return -1;
    }
    put_over(d, &d->foreign, at);
    return 0;
}

/* The first line of a family; NULL: none. */
static const struct directive *first_of(const struct directive_lines *lines, enum directive_family family)
{
    for (uint32_t i = 0; i < lines->list.count; i++) {
        if (lines->list.items[i].family == family) return &lines->list.items[i];
    }
    return NULL;
}

/* What is not read is named; lines of PBS alone would be the whole request of the job. */
static int check_families(const struct directive_lines *lines, const char *file, struct err *e)
{
    const struct directive *sbatch = first_of(lines, DIRECTIVE_SBATCH), *qsub = first_of(lines, DIRECTIVE_QSUB),
                           *pbs = first_of(lines, DIRECTIVE_PBS);
    for (enum directive_family f = 0; f < DIRECTIVE_FAMILY_COUNT; f++) {
        if (lines->late_line[f] != 0)
            output_note("%s:%u: %s lines after the first command are not read", file, lines->late_line[f],
                        directive_prefixes[f]);
    }
    if (sbatch != NULL && qsub != NULL)
        output_note("%s:%u: #$ lines are not read beside #SBATCH lines", file, qsub->line);
    if (pbs == NULL) return 0;
    if (sbatch == NULL && qsub == NULL && first_of(lines, DIRECTIVE_OWN) == NULL) {
        (void)err_set(e, ERR_INPUT,
                      "#PBS lines are not read: write #FAIRLEAD and options of 'fairlead submit', or ignore them with "
                      "--directive-prefix ''");
        return err_prefix(e, "%s:%u:1", file, pbs->line);
    }
    output_note("%s:%u: #PBS lines are not read beside others", file, pbs->line);
    return 0;
}

/* line: the command line. */
static int parse_foreign(struct call *call, const struct directive_lines *lines, struct str script,
                         const struct rank *line, struct directives *d, struct err *e)
{
    const struct submit_values *of_line = line->sets[0].values, *of_own = d->own.sets[0].values;
    struct directive_options options = {
        .file = d->file,
        .script = script,
        .own = d->foreign.sets,
        .own_count = SET_COUNT,
        .arena = call->arena,
        .directory = of_line->directory != NULL ? of_line->directory : of_own->directory,
        .is_array = has_given(line, "array") || has_given(&d->own, "array"),
    };
    int status = 0;
    if (first_of(lines, DIRECTIVE_SBATCH) != NULL) {
        status = directive_options_of_sbatch(lines, &options, e);
    } else if (first_of(lines, DIRECTIVE_QSUB) != NULL) {
        status = directive_options_of_qsub(lines, &options, e);
    }
    if (status == 0) status = parse_translated(call, &options, d, e);
    directive_options_release(&options);
    return status;
}

/* --- all of them -------------------------------------------------------------------------------------------------- */

int directives_apply(struct call *call, struct str script, const char *file, const char *prefix,
                     struct directives **out_directives, struct err *e)
{
    struct directive_lines lines = {0};
    struct directives *d = arena_alloc(call->arena, sizeof *d);
    struct directive_word own_at[SET_COUNT][OPTION_ROWS_MAX] = {0};
    struct rank line;
    d->file = file;
    init_rank(&d->own, call);
    init_rank(&d->foreign, call);
    init_rank(&d->all, call);
    init_rank(&line, call);
    line.sets[0].values = arena_alloc(call->arena, call->command->values_size);
    memcpy(line.sets[0].values, call->values, call->command->values_size);
    line.sets[1].values = call->job;
    memcpy(line.given, call->parsed.given, sizeof line.given);

    int status = directive_lines_read(script, file, prefix, call->arena, &lines, e);
    if (status == 0) status = check_families(&lines, file, e);
    if (status == 0) status = parse_own(call, &lines, d, own_at, e);
    if (status == 0) status = parse_foreign(call, &lines, script, &line, d, e);
    directive_lines_release(&lines);
    call->error_has_position = status != 0;
    if (status != 0) return -1;
    put_over(d, &d->own, own_at);
    put_over(d, &line, NULL);
    call->values = d->all.sets[0].values;
    call->job = d->all.sets[1].values;
    *out_directives = d;
    return 0;
}

/* The option that an error is about: it names that, or the thing that does not exist ("no account 'x'"), and such
 * things have the names of their options. */
static const char *option_of(const struct err *e)
{
    static const char *const subjects[] = {"account", "partition", "qos", "project", "pe"};
    if (strncmp(e->field, "--", 2) == 0) return e->field + 2;
    if (strcmp(e->subject, "resource") == 0) return "request";
    for (size_t i = 0; i < sizeof subjects / sizeof *subjects; i++) {
        if (strcmp(e->subject, subjects[i]) == 0) return subjects[i];
    }
    return strcmp(e->field, "department") == 0 ? e->field : NULL;
}

int directives_explain(const struct directives *d, struct call *call, struct err *e)
{
    const char *option = d != NULL ? option_of(e) : NULL;
    for (uint32_t set = 0; option != NULL && set < SET_COUNT; set++) {
        const struct option_row *rows = d->all.sets[set].rows;
        for (uint32_t i = 0; rows[i].name != NULL; i++) {
            const struct directive_word *at = &d->at[set][i];
            if (at->line == 0 || strcmp(rows[i].name, option) != 0) continue;
            call->error_has_position = true;
            return err_prefix(e, "%s:%u:%u", d->file, at->line, at->column);
        }
    }
    return -1;
}
