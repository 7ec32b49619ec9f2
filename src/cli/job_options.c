#include "cli/job_options.h"

#include <string.h>

#include "base/array.h"
#include "base/ensure.h"
#include "base/number.h"
#include "cli/foreign_syntax.h"
#include "fields/limits.h"

/* --- options ------------------------------------------------------------------------------------------------------ */

static struct option_value value_of(enum job_field f)
{
    if (f == JOB_FIELD_SLOTS_MAX) return (struct option_value)TEXT_IN(struct job_option_values, slots);
    if (f == JOB_FIELD_REQUESTS) return (struct option_value)TEXTS_IN(struct job_option_values, requests);
    if (f == JOB_FIELD_SOFT) return (struct option_value)TEXTS_IN(struct job_option_values, soft);
    return (struct option_value){
        .type = OPTION_FIELD,
        .offset = offsetof(struct job_option_values, values.value) + f * sizeof(struct field_value),
        .given_offset = offsetof(struct job_option_values, values.is_given) + f * sizeof(bool),
        .field = job_field_at(f),
        .default_value = job_field_rows[f].argument_default,
    };
}

/* Options that are not those of one field. */
static const struct option_row further_options[] = {
    {.name = "hold-jid",
     .argument = "LIST",
     .value = TEXT_IN(struct job_option_values, hold_jid),
     .help =
         "wait for the end of these jobs, whatever it is: ids, names, patterns such as 'prep*', separated by commas; "
         "what does not exist is not waited for"},
    {.name = "hold-jid-ad",
     .argument = "LIST",
     .value = TEXT_IN(struct job_option_values, hold_jid_ad),
     .help = "likewise, for arrays with the same tasks: each task waits for the same task of them"},
    {.name = "no-requeue",
     .value = FLAG_IN(struct job_option_values, has_no_requeue),
     .help = "do not start again if the host or the job's keeper fails"},
};
enum { FURTHER_COUNT = sizeof further_options / sizeof *further_options };

/* What the help names beside the field's own, because only the command line knows its commands. */
static const char *const related_commands[JOB_FIELD_COUNT] = {
    [JOB_FIELD_HELD] = "fairlead release",
    [JOB_FIELD_REQUESTS] = "fairlead resource show",
    [JOB_FIELD_QUEUES] = "fairlead partition show",
};

static const char *help_of(enum job_field f, struct arena *arena)
{
    const struct job_field_row *row = &job_field_rows[f];
    const char *help = row->option_help != NULL ? row->option_help : row->field.help;
    struct buf text = {0};
    buf_add_text(&text, help);
    if (related_commands[f] != NULL) buf_format(&text, " (%s)", related_commands[f]);
    if (row->setter == JOB_SET_BY_OPERATOR) buf_add_text(&text, "; operators only");
    help = arena_copy(arena, (struct str){text.text, text.length});
    buf_release(&text);
    return help;
}

const struct option_row *job_option_rows(bool is_update)
{
    static struct option_row rows[2][JOB_FIELD_COUNT + FURTHER_COUNT + 1];
    static struct arena arena; /* never released */
    struct option_row *row = rows[is_update];
    if (row->name != NULL) return rows[is_update];
    for (enum job_field f = 0; f < JOB_FIELD_COUNT; f++) {
        const struct job_field_row *from = &job_field_rows[f];
        if (from->option == NULL || !job_field_is_settable(f, is_update)) continue;
        *row++ = (struct option_row){.name = from->option,
                                     .letter = from->letter,
                                     .argument = from->argument,
                                     .value = value_of(f),
                                     .help = help_of(f, &arena)};
    }
    for (int i = 0; i < FURTHER_COUNT; i++) *row++ = further_options[i];
    ensure(row - rows[is_update] < OPTION_ROWS_MAX);
    return rows[is_update];
}

/* --- values ------------------------------------------------------------------------------------------------------- */

static void set_number(struct job_values *values, enum job_field f, int64_t number)
{
    values->value[f] = field_number(number);
    values->is_given[f] = true;
}

/* "4" is "4-4": update --slots 4 replaces a range. */
static int read_slots(const char *text, struct job_values *io_values, struct err *e)
{
    uint64_t min, max;
    struct str max_text, min_text = str_cut(str(text), '-', &max_text);
    bool is_valid = number_parse_u64(min_text, &min) && min >= 1 && min <= CPUS_MAX;
    max = is_valid ? min : 0;
    if (is_valid && max_text.text != NULL) is_valid = number_parse_u64(max_text, &max) && max >= min && max <= CPUS_MAX;
    if (!is_valid) return err_value(e, "--slots", str(text), "a number from 1 to %d, or a range such as 2-8", CPUS_MAX);
    if (io_values->is_given[JOB_FIELD_CPUS] && io_values->value[JOB_FIELD_CPUS].number != (int64_t)min)
        return err_set(e, ERR_USAGE, "--slots and --cpus differ: slots are CPUs; give only one of them");
    set_number(io_values, JOB_FIELD_CPUS, (int64_t)min);
    set_number(io_values, JOB_FIELD_SLOTS_MAX, (int64_t)max);
    return 0;
}

/* Several -l, or --soft, form one list. */
static void join_requests(const struct option_texts *texts, enum job_field f, struct arena *arena,
                          struct job_values *out_values)
{
    struct buf list = {0};
    if (texts->count == 0) return;
    for (uint32_t i = 0; i < texts->count; i++) buf_format(&list, "%s%s", i > 0 ? "," : "", texts->items[i]);
    const char *joined = list.length > 0 ? arena_copy(arena, (struct str){list.text, list.length}) : "";
    out_values->value[f] = field_text(joined);
    out_values->is_given[f] = true;
    buf_release(&list);
}

/* A list that is separated by commas, as a condition of the dependency. */
static void add_condition(const char *type, const char *list, struct buf *out)
{
    if (list == NULL || list[0] == '\0') return;
    buf_format(out, "%s%s:", out->length > 0 ? "," : "", type);
    for (; *list != '\0'; list++) buf_add_char(out, *list == ',' ? ':' : *list);
}

/* --dependency, --hold-jid and --hold-jid-ad together. */
static void join_dependency(const struct job_option_values *given, struct arena *arena, struct job_values *io_values)
{
    struct buf text = {0};
    if (given->hold_jid == NULL && given->hold_jid_ad == NULL) return;
    if (io_values->is_given[JOB_FIELD_DEPENDENCY]) buf_add_text(&text, io_values->value[JOB_FIELD_DEPENDENCY].text);
    add_condition("hold_jid", given->hold_jid, &text);
    add_condition("hold_jid_ad", given->hold_jid_ad, &text);
    const char *joined = text.length > 0 ? arena_copy(arena, (struct str){text.text, text.length}) : "";
    io_values->value[JOB_FIELD_DEPENDENCY] = field_text(joined);
    io_values->is_given[JOB_FIELD_DEPENDENCY] = true;
    buf_release(&text);
}

int job_options_read(const struct job_option_values *given, struct arena *arena, struct job_values *out_values,
                     struct err *e)
{
    *out_values = given->values;
    join_requests(&given->requests, JOB_FIELD_REQUESTS, arena, out_values);
    join_requests(&given->soft, JOB_FIELD_SOFT, arena, out_values);
    join_dependency(given, arena, out_values);
    if (given->has_no_requeue && out_values->is_given[JOB_FIELD_REQUEUE] &&
        out_values->value[JOB_FIELD_REQUEUE].number != 0)
        return err_set(e, ERR_USAGE, "--requeue and --no-requeue: only one of them is accepted");
    if (given->has_no_requeue) set_number(out_values, JOB_FIELD_REQUEUE, 0);
    if (given->slots != NULL) return read_slots(given->slots, out_values, e);
    if (out_values->is_given[JOB_FIELD_CPUS]) /* update -n 4 replaces a range, too */
        set_number(out_values, JOB_FIELD_SLOTS_MAX, out_values->value[JOB_FIELD_CPUS].number);
    return 0;
}

/* --- errors ------------------------------------------------------------------------------------------------------- */

/* Three options give what a job waits for: names those that were given. */
static void name_dependency_options(const struct job_option_values *given, struct err *e)
{
    const struct {
        const char *name;
        bool is_given;
    } options[] = {{"--dependency", given->values.is_given[JOB_FIELD_DEPENDENCY]},
                   {"--hold-jid", given->hold_jid != NULL},
                   {"--hold-jid-ad", given->hold_jid_ad != NULL}};
    struct buf names = {0};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        if (options[i].is_given) buf_format(&names, "%s%s", names.length > 0 ? ", " : "", options[i].name);
    }
    text_format(e->field, sizeof e->field, "%s", names.length > 0 ? names.text : options[0].name);
    buf_release(&names);
}

/* Replaces the field that the instance names by its option. Of the two that give the CPUs, it is the one that was
 * given. */
static void name_option(const struct job_option_values *given, struct err *e)
{
    uint32_t f = field_find(&job_fields, str(e->field));
    if (f == NONE) return;
    if (f == JOB_FIELD_CPUS && given->slots != NULL && !given->values.is_given[f]) f = JOB_FIELD_SLOTS_MAX;
    if (f == JOB_FIELD_DEPENDENCY) {
        name_dependency_options(given, e);
        return;
    }
    const char *option = job_field_rows[f].option;
    if (option != NULL) text_format(e->field, sizeof e->field, "--%s", option);
}

int job_options_explain(const struct job_option_values *given, struct err *e)
{
    int64_t unused;
    const char *advice = NULL;
    char name[sizeof e->name], subject[sizeof e->subject];
    name_option(given, e);
    if (e->code != ERR_NOT_FOUND) return -1;
    if (err_is_not_found(e, "resource")) advice = foreign_syntax_request(str(e->name));
    if (err_is_not_found(e, "partition") && number_parse_i64(str(e->name), &unused))
        advice = "use --priority N for a POSIX priority";
    if (err_is_not_found(e, "qos") && strstr(e->name, ".q") != NULL) advice = "use -p NAME: a queue is a partition";
    if (advice == NULL) return -1;
    memcpy(name, e->name, sizeof name);
    memcpy(subject, e->subject, sizeof subject);
    (void)err_set(e, ERR_NOT_FOUND, "no %s '%s': %s", subject, name, advice);
    return -1;
}
