/* fairlead policy check: reads a slurm.conf, or a scheduler configuration of Grid Engine, and says what in it is
 * ignored, misspelt, without effect or unlikely to be meant. It needs no instance. */
#include <string.h>

#include "cli/command.h"
#include "cli/listing.h"
#include "cli/read_file.h"
#include "fields/finding_fields.h"
#include "formats/sched_conf.h"
#include "formats/slurm_conf.h"
#include "site/sched_site.h"
#include "site/slurm_site.h"

struct policy_check_values {
    struct listing_values listing;
};

static const struct option_row check_options[] = {LISTING_OPTIONS(struct policy_check_values, listing), {0}};

/* A file, in memory that lasts as long as the command. */
static const struct source *open_source(struct arena *arena, struct str path, struct err *e)
{
    struct buf text = {0};
    struct source *source = arena_alloc(arena, sizeof *source);
    source->name = arena_copy(arena, path);
    int status = read_file(source->name, &text, e);
    if (status == 0) source->text = (struct str){arena_copy(arena, (struct str){text.text, text.length}), text.length};
    buf_release(&text);
    return status == 0 ? source : NULL;
}

/* A relative path is beside the file that includes it, as for Slurm beside slurm.conf. */
static const struct source *open_included(void *context, const struct source *from, struct str path,
                                          char fault[SLURM_CONF_FAULT_SIZE])
{
    struct arena *arena = context;
    struct err e = {0};
    struct buf whole = {0};
    const char *slash = strrchr(from->name, '/');
    if (path.text[0] != '/' && slash != NULL) buf_add_str(&whole, str_range(from->name, slash + 1));
    buf_add_str(&whole, path);
    const struct source *source = open_source(arena, (struct str){whole.text, whole.length}, &e);
    if (source == NULL) text_format(fault, SLURM_CONF_FAULT_SIZE, "%s", ERR_SENTENCE(&e));
    buf_release(&whole);
    return source;
}

/* What a file has. */
struct file_check {
    struct conf_pairs pairs;
    struct findings findings;
    uint32_t policy_count, other_count;
    bool is_slurm;
};

static void check_source(struct file_check *c, const struct source *source, struct arena *arena)
{
    c->is_slurm = slurm_conf_is(source->text);
    if (c->is_slurm) {
        struct slurm_site site;
        slurm_conf_read(source, open_included, arena, &c->pairs);
        slurm_site_read(&c->pairs, &site, &c->findings);
        slurm_site_check(&site, &c->findings);
        c->policy_count = site.policy_count;
        c->other_count = site.other_count;
        slurm_site_release(&site);
    } else {
        sched_conf_read(source, &c->pairs);
        sched_site_check(&c->pairs, &c->findings, &c->policy_count, &c->other_count);
    }
    findings_sort(&c->findings);
}

static void release_check(struct file_check *c)
{
    conf_pairs_release(&c->pairs);
    findings_release(&c->findings);
}

/* --- output ------------------------------------------------------------------------------------------------------- */

static void add_row(struct listing *l, const struct finding *f)
{
    struct field_value row[FINDING_FIELD_COUNT];
    uint32_t line, column;
    source_position(f->source, f->position, &line, &column);
    row[FINDING_FIELD_LEVEL] = field_text(finding_level_names[f->level]);
    row[FINDING_FIELD_FILE] = field_text(f->source->name);
    row[FINDING_FIELD_LINE] = field_number(line);
    row[FINDING_FIELD_COLUMN] = field_number(column);
    row[FINDING_FIELD_TEXT] = field_text(f->text);
    row[FINDING_FIELD_REASON] = field_text(f->reason[0] != 0 ? f->reason : NULL);
    row[FINDING_FIELD_ADVICE] = field_text(f->advice[0] != 0 ? f->advice : NULL);
    listing_add(l, row);
}

/* "slurm.conf:57:1: warning: PriorityWeightPartition=1000 has no effect", and under it why, and what to write. */
static void write_finding(const struct finding *f, struct output *out)
{
    uint32_t line, column;
    source_position(f->source, f->position, &line, &column);
    output_line(out, "%s:%u:%u: %s: %s", f->source->name, line, column, finding_level_names[f->level], f->text);
    if (f->reason[0] != 0) output_line(out, "    why: %s", f->reason);
    if (f->advice[0] != 0) output_line(out, "    mend: %s", f->advice);
}

static const char *plural(uint32_t count)
{
    return count == 1 ? "" : "s";
}

static void write_summary(const struct file_check *c, const char *file, struct output *out)
{
    const uint32_t *n = c->findings.counts;
    output_line(
        out, "%s, a %s: %u keyword%s of policy, %u that do%s not concern it; %u error%s, %u warning%s, %u note%s", file,
        c->is_slurm ? "slurm.conf" : "scheduler configuration of Grid Engine", c->policy_count, plural(c->policy_count),
        c->other_count, c->other_count == 1 ? "es" : "", n[FINDING_ERROR], plural(n[FINDING_ERROR]), n[FINDING_WARNING],
        plural(n[FINDING_WARNING]), n[FINDING_NOTE], plural(n[FINDING_NOTE]));
    if (c->pairs.fault_count > c->pairs.faults.count)
        output_line(out, "%s: %u more lines cannot be read", file, c->pairs.fault_count - c->pairs.faults.count);
}

static void write_check(const struct file_check *c, const char *file, struct listing *l, struct output *out)
{
    for (uint32_t i = 0; i < c->findings.items.count; i++) {
        if (l != NULL)
            add_row(l, &c->findings.items.items[i]);
        else
            write_finding(&c->findings.items.items[i], out);
    }
    if (l == NULL) write_summary(c, file, out);
}

static int check_files(struct call *call, struct listing *l, struct err *e)
{
    uint32_t errors = 0, warnings = 0;
    for (uint32_t i = 0; i < call->parsed.operand_count; i++) {
        const char *file = call->parsed.operands[i];
        struct file_check c = {0};
        const struct source *source = open_source(call->arena, str(file), e);
        if (source == NULL) return -1;
        if (str_trim(source->text).length == 0) return err_set(e, ERR_INPUT, "%s: the text is empty", file);
        check_source(&c, source, call->arena);
        write_check(&c, file, l, call->out);
        errors += c.findings.counts[FINDING_ERROR];
        warnings += c.findings.counts[FINDING_WARNING];
        release_check(&c);
    }
    return errors > 0 ? 2 : warnings > 0;
}

static int policy_check_run(struct call *call, struct err *e)
{
    const struct policy_check_values *values = call->values;
    const struct listing_values *form = &values->listing;
    bool is_listing = !listing_is_table(form) || form->columns != NULL || form->sort != NULL;
    struct listing l = {0};
    if (!is_listing) return check_files(call, NULL, e);
    int status = listing_begin(&l, &finding_fields_columns, form, call->out, e);
    if (status == 0) status = check_files(call, &l, e);
    if (status >= 0) listing_end(&l);
    listing_release(&l);
    return status;
}

static const struct command_example check_examples[] = {
    {.line = "fairlead policy check /etc/slurm/slurm.conf", .meaning = "what a Slurm cluster's policy does not do"},
    {.line = "qconf -ssconf | fairlead policy check -", .meaning = "the same of Grid Engine's scheduler"},
    {.line = "fairlead policy check -P slurm.conf | grep ^error", .meaning = "errors only, for a script"},
    {0},
};

static const struct command_exit check_exits[] = {
    {.status = 1, .meaning = "there are warnings, and no errors; or failure"},
    {.status = 2, .meaning = "there are errors, or the command line is wrong"},
    {0},
};

const struct command cmd_policy_check = {
    .name = "policy check",
    .group = GROUP_SHARES,
    .summary = "check a slurm.conf or a scheduler configuration of Grid Engine",
    .usage = "[OPTIONS] FILE...",
    .description =
        "Reads a slurm.conf with the files that it includes, or the output of 'qconf -ssconf', and lists what is misspelt, ignored, "
        "refused, without effect, or unlikely to be meant: each with its position, why it matters, and what to write. Nothing is "
        "changed, and no instance is needed. FILE -: standard input.\n\n"
        "error: the value is not accepted, by Fairlead or by the other program. warning: it is unlikely to be meant. note: it may "
        "be meant. Keywords that do not concern policy are only counted. What a file leaves out has the default of Slurm 22.05, or "
        "of Grid Engine 8.1.9.",
    .options = check_options,
    .values_size = sizeof(struct policy_check_values),
    .listed = &finding_fields_columns,
    .operands_min = 1,
    .operands_max = OPERANDS_ANY,
    .is_local = true,
    .examples = check_examples,
    .exits = check_exits,
    .see_also = "set schedule prio",
    .run = policy_check_run,
};
