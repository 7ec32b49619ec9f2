#include "cli/object.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "base/ensure.h"
#include "base/number.h"
#include "cli/pairs.h"

enum { HEADING_BYTES = 40, HINT_BYTES = 80 };

/* --- changing ----------------------------------------------------------------------------------------------------- */

static const char *path_of(struct call *call, enum object_kind kind, const char *name)
{
    struct buf target = {0};
    buf_add_text(&target, wire_object_kinds[kind].path);
    if (name) target_add_segment(&target, name);
    return instance_target(call, &target);
}

/* The operands behind the name. */
static int read_pairs(struct call *call, struct pairs *pairs, struct err *e)
{
    for (uint32_t i = 1; i < call->parsed.operand_count; i++) {
        if (pairs_add(pairs, str(call->parsed.operands[i]), e) != 0) return -1;
    }
    return 0;
}

static const char *hint_for(struct call *call)
{
    char hint[HINT_BYTES];
    text_format(hint, sizeof hint, "'fairlead %s --help'", call->command->name);
    return arena_copy(call->arena, str(hint));
}

static void say(struct call *call, const char *what, enum object_kind kind)
{
    buf_format(&call->out->text, "%s %s %s\n", what, object_classes[kind].name, call->parsed.operands[0]);
}

/* "name" is a field of every body, and the kinds have none of that name. */
static int send_new(struct call *call, struct client *c, enum object_kind kind, struct pairs *pairs, struct err *e)
{
    const char *name = call->parsed.operands[0];
    if (!str_is_printable(str(name))) return err_set(e, ERR_INPUT, "'%s' cannot be a name", name);
    pairs_set(pairs, "name", name);
    return pairs_send(pairs, c, "POST", path_of(call, kind, NULL), e);
}

int object_row_add(struct call *call, enum object_kind kind, struct err *e)
{
    struct pairs pairs = {.hint = hint_for(call)};
    struct client client = {.fd = -1};
    int status = read_pairs(call, &pairs, e);
    if (status == 0) status = instance_open(call, &client, e);
    if (status == 0) status = send_new(call, &client, kind, &pairs, e);
    if (status == 0) say(call, "Added", kind);
    client_close(&client);
    pairs_release(&pairs);
    return status;
}

int object_modify(struct call *call, enum object_kind kind, bool makes_new, struct err *e)
{
    struct pairs pairs = {.hint = hint_for(call)};
    struct client client = {.fd = -1};
    bool is_new = false;
    if (call->parsed.operand_count < 2)
        return err_set(e, ERR_USAGE, "what is to change? NAME=VALUE says; %s lists the names", pairs.hint);
    int status = read_pairs(call, &pairs, e);
    if (status == 0) status = instance_open(call, &client, e);
    if (status == 0) status = pairs_send(&pairs, &client, "PATCH", path_of(call, kind, call->parsed.operands[0]), e);
    if (status != 0 && makes_new && e->code == ERR_NOT_FOUND) {
        const struct err cause = *e;
        is_new = true;
        status = send_new(call, &client, kind, &pairs, e);
        if (status != 0 && e->code == ERR_EXISTS) *e = cause; /* it was something else that is not there */
    }
    if (status == 0) say(call, is_new ? "Added" : "Modified", kind);
    client_close(&client);
    pairs_release(&pairs);
    return status;
}

int object_delete(struct call *call, enum object_kind kind, struct err *e)
{
    struct wire_done reply;
    const char *target = path_of(call, kind, call->parsed.operands[0]);
    if (instance_ask_once(call, "DELETE", target, NULL, NULL, &wire_done_shape, &reply, e) != 0) return -1;
    say(call, "Deleted", kind);
    return 0;
}

int raw_usage_read(const struct call *call, int64_t *out_raw_usage, const char **out_other, struct err *e)
{
    int64_t raw_usage = -1;
    const char *other = NULL;
    for (uint32_t i = 1; i < call->parsed.operand_count; i++) {
        struct field_value read;
        struct str value, name = str_cut(str(call->parsed.operands[i]), '=', &value);
        if (value.text == NULL || !str_equal_nocase(name, str(object_usage_reset_field.name))) {
            if (other == NULL) other = call->parsed.operands[i];
            continue;
        }
        if (field_parse(&object_usage_reset_field, value, call->arena, &read, e) != 0) return -1;
        raw_usage = read.number;
    }
    *out_raw_usage = raw_usage;
    *out_other = other;
    return 0;
}

/* --- listing ------------------------------------------------------------------------------------------------------ */

/* What the cells of a listing go by: columns are the fields of the rows' shape, in order. */
struct shown {
    enum object_kind kind;
    const char *name; /* only this one; NULL: all */
};

static void cell_number(double value, bool is_exact, struct buf *out)
{
    char text[NUMBER_TEXT_SIZE];
    if (isnan(value)) {
        cell_add_text(out, NULL, is_exact);
    } else {
        buf_add(out, text, is_exact ? number_format_g17(text, value) : number_format_double(text, value, 6, 'g'));
    }
}

static void cell_value(const void *row, uint32_t column, bool is_exact, struct buf *out, const void *context)
{
    const struct shown *shown = context;
    const struct wire_field *f = &wire_object_kinds[shown->kind].row->fields[column];
    const void *member = (const char *)row + f->offset;
    switch (f->type) {
    case WIRE_BOOL: buf_add_text(out, *(const bool *)member ? "yes" : "no"); return;
    case WIRE_DOUBLE: cell_number(*(const double *)member, is_exact, out); return;
    case WIRE_I64: break;
    default: cell_add_text(out, *(const char *const *)member, is_exact); return;
    }
    int64_t number = *(const int64_t *)member;
    if (f->is_read_only) {
        cell_add_moment(out, number, is_exact);
    } else if (number < 0) {
        buf_add_text(out, "UNLIMITED");
    } else {
        buf_add_u64(out, (uint64_t)number);
    }
}

static bool wants_object(const void *row, const void *context)
{
    return strcmp(((const struct wire_object_row *)row)->name, ((const struct shown *)context)->name) == 0;
}

/* "created": a moment as text has no unit. */
static const char *name_of(const struct wire_field *f, struct arena *arena)
{
    char *name = arena_copy(arena, str(f->name));
    char *unit = f->is_read_only ? strstr(name, "_us") : NULL;
    if (unit != NULL) *unit = '\0';
    return name;
}

/* "PRIORITYTIER": for people; how the field is written says --help, and any case is right. */
static const char *heading_of(const char *name, struct arena *arena)
{
    char *heading = arena_copy(arena, str(name));
    for (char *p = heading; *p != '\0'; p++) *p = (char)toupper((unsigned char)*p);
    return heading;
}

static uint32_t make_columns(const struct wire_shape *shape, struct arena *arena, struct column *out_columns)
{
    uint32_t count = 0;
    for (const struct wire_field *f = shape->fields; f->name; f++) {
        bool is_text = f->type == WIRE_TEXT || f->type == WIRE_CHOICE || f->type == WIRE_BOOL || f->is_read_only;
        ensure(count < TABLE_COLUMNS_MAX);
        const char *name = name_of(f, arena);
        out_columns[count++] = (struct column){heading_of(name, arena), name, !is_text, NULL};
    }
    return count;
}

int object_show(struct call *call, enum object_kind kind, const struct listing_values *how, struct err *e)
{
    const struct object_class *class = &object_classes[kind];
    const struct shown shown = {kind, call->parsed.operand_count > 0 ? call->parsed.operands[0] : NULL};
    struct column columns[TABLE_COLUMNS_MAX];
    char empty[HINT_BYTES];
    text_format(empty, sizeof empty, "no %s; 'fairlead %s add NAME%s' makes one", class->plural, class->name,
                kind == OBJECT_USER ? " fshare=N" : "");
    const struct listing listing = {
        .shape = wire_object_kinds[kind].row,
        .columns = columns,
        .column_count = make_columns(wire_object_kinds[kind].row, call->arena, columns),
        .empty = shown.name ? NULL : empty,
        .wants = shown.name ? wants_object : NULL,
        .cell_at = cell_value,
        .context = &shown,
    };
    uint32_t count;
    if (listing_run(call, &listing, how, path_of(call, kind, NULL), &count, e) != 0) return -1;
    if (shown.name != NULL && count == 0)
        return err_not_found(e, kind == OBJECT_USER ? "policy user" : class->name, str(shown.name));
    return 0;
}
