/* Numbers are written so that they are read back exactly, unlike field_format, which writes for people. */
#include "engine/task_text.h"

#include "base/number.h"
#include "engine/job_members.h"
#include "engine/placements.h"

enum { WITHDRAWN_IS_STATE = JOB_PENDING }; /* a row that was removed: its number is pending again */

/* A tab or a line end would end the field. */
static void add_text(struct str text, struct buf *out)
{
    for (size_t i = 0; i < text.length; i++) {
        bool is_end = text.text[i] == '\t' || text.text[i] == '\n';
        buf_add_char(out, is_end ? ' ' : text.text[i]);
    }
}

static void add_value(const struct field *f, const struct field_value *value, struct buf *out)
{
    char text[NUMBER_TEXT_SIZE];
    if (field_is_text(f))
        add_text(str(value->text), out);
    else if (field_is_whole(f))
        buf_format(out, "%lld", (long long)value->number);
    else
        buf_add(out, text, number_format_g17(text, value->real));
}

void task_text_format(const struct state *s, const struct task *k, struct buf *out)
{
    struct arena arena = {0};
    struct task row = *k;
    if (k->is_withdrawn) row.state = (enum job_state)WITHDRAWN_IS_STATE;
    buf_format(out, "job_id=%u", k->job_id);
    for (enum job_field f = 0; f < JOB_FIELD_COUNT; f++) {
        if (job_field_rows[f].home != JOB_HOME_TASK) continue;
        const struct field *field = job_field_at(f);
        const struct field_value value = task_member(s, &row, f, &arena);
        if (field_is_absent(field, &value)) continue;
        buf_format(out, "\t%s=", field->name);
        add_value(field, &value, out);
    }
    arena_release(&arena);
}

static bool read_value(const struct field *f, struct str text, struct arena *arena, struct field_value *out)
{
    *out = field_nothing(f);
    if (text.text == NULL) return true;
    if (field_is_text(f))
        *out = field_text(arena_copy(arena, text));
    else if (field_is_whole(f))
        return number_parse_i64(text, &out->number);
    else
        return number_parse_double(text, &out->real);
    return true;
}

/* The text after "name=" in the line; none: the field is not there. */
static struct str find_value(struct str line, const char *name)
{
    while (line.text != NULL) {
        struct str value, field_name = str_cut(str_cut(line, '\t', &line), '=', &value);
        if (str_equal(field_name, str(name))) return value;
    }
    return (struct str){0};
}

uint32_t task_text_job_id(struct str line)
{
    uint64_t job_id;
    bool is_read = number_parse_u64(find_value(line, "job_id"), &job_id) && job_id < NONE;
    return is_read ? (uint32_t)job_id : 0;
}

static int read_fields(const struct state *s, struct str line, struct arena *arena, struct task *k, struct err *e)
{
    k->job_id = task_text_job_id(line);
    if (k->job_id == 0) return err_field(e, ERR_INPUT, "job_id", "is missing or out of range");
    for (enum job_field f = 0; f < JOB_FIELD_COUNT; f++) {
        if (job_field_rows[f].home != JOB_HOME_TASK) continue;
        const struct field *field = job_field_at(f);
        struct field_value value;
        if (!read_value(field, find_value(line, field->name), arena, &value))
            return err_field(e, ERR_INPUT, field->name, "is not a number");
        if (task_member_set(s, k, f, &value, e) != 0) return -1;
    }
    return 0;
}

int task_text_parse(const struct state *s, struct str line, struct task *out, struct err *e)
{
    struct arena arena = {0};
    struct task k = {.partition = NONE, .partition_qos = NONE, .assoc = NONE};
    int result = read_fields(s, line, &arena, &k, e);
    arena_release(&arena);
    if (result != 0) {
        task_text_release(&k);
        return -1;
    }
    k.is_withdrawn = k.state == (enum job_state)WITHDRAWN_IS_STATE;
    *out = k;
    return 0;
}

void task_text_release(struct task *k)
{
    placements_release(k);
    mem_free(k->tres.items);
    k->tres = (struct tres_list){0};
}
