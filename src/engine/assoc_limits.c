#include "engine/assoc_limits.h"

#include <string.h>

#include "base/ensure.h"
#include "engine/limit_values.h"
#include "fields/limit_fields.h"

const struct field_value *assoc_limits_of(const struct assoc *a)
{
    return a->limits != NULL ? a->limits : limit_fields_defaults;
}

/* --- which QOS ---------------------------------------------------------------------------------------------------- */

/* The nearest text upward that is not empty; "": none. */
static const char *nearest_text(const struct state *s, uint32_t assoc, enum assoc_limit limit)
{
    const char *text = "";
    for (; assoc != NONE && text[0] == '\0'; assoc = s->assocs.items[assoc].parent)
        text = assoc_limits_of(&s->assocs.items[assoc])[limit].text;
    return text;
}

const char *assoc_limits_qos_list(const struct state *s, uint32_t assoc)
{
    return nearest_text(s, assoc, ASSOC_QOS_LIST);
}

static bool allows(const char *list, const char *qos)
{
    return list[0] == '\0' || limit_value_list_has(list, str(qos));
}

bool assoc_limits_allow_qos(const struct state *s, uint32_t assoc, const char *qos)
{
    return allows(assoc_limits_qos_list(s, assoc), qos);
}

bool assoc_limits_refuse_qos(const struct state *s, uint32_t assoc, uint32_t qos)
{
    const char *name = s->objects[OBJECT_QOS].items[qos].object.name;
    return (s->policy.enforce & ENFORCE_QOS) != 0 && !assoc_limits_allow_qos(s, assoc, name);
}

bool assoc_limits_refuse_job(const struct state *s, const struct job *j)
{
    bool is_refused = true;
    for (uint32_t i = 0; i < j->partition_count && is_refused; i++)
        is_refused = assoc_limits_refuse_qos(s, state_assoc_in_partition(s, j->assoc, j->partitions[i]), j->qos);
    return is_refused;
}

void assoc_limits_refusal(const struct state *s, uint32_t assoc, uint32_t qos, struct buf *out)
{
    const struct assoc *a = &s->assocs.items[assoc];
    const char *whose = a->user != NULL ? a->user : a->account;
    buf_format(out, "'%s' is not allowed to %s '%s' in account '%s'; allowed are %s",
               s->objects[OBJECT_QOS].items[qos].object.name, a->user != NULL ? "user" : "jobs of", whose, a->account,
               assoc_limits_qos_list(s, assoc));
}

uint32_t assoc_limits_default_qos(const struct state *s, uint32_t assoc)
{
    const char *name = nearest_text(s, assoc, ASSOC_DEFAULT_QOS);
    uint32_t qos = name[0] != '\0' ? state_find_object(s, OBJECT_QOS, name) : NONE;
    return qos != NONE ? qos : state_find_object(s, OBJECT_QOS, DEFAULT_QOS); /* rows may name one that is not there */
}

uint32_t assoc_limits_find_qos(const struct state *s, const char *qos)
{
    for (uint32_t i = 0; i < s->assocs.count; i++) {
        const struct assoc *a = &s->assocs.items[i];
        if (a->deleted_us != 0 || a->limits == NULL) continue;
        if (strcmp(a->limits[ASSOC_DEFAULT_QOS].text, qos) == 0 ||
            limit_value_list_has(a->limits[ASSOC_QOS_LIST].text, str(qos)))
            return i;
    }
    return NONE;
}

/* --- reading ------------------------------------------------------------------------------------------------------ */

static int fail_unknown(const char *key, struct err *e)
{
    struct buf names = {0};
    field_names(&limit_fields, &names);
    (void)err_unknown_field(e, NULL, str(key), names.text);
    buf_release(&names);
    return -1;
}

int assoc_limits_change(const struct state *s, const struct event_pair *pair, uint32_t parent, struct arena *arena,
                        struct field_value *limits, struct err *e)
{
    char sign;
    uint32_t limit = limit_fields_find_key(str(pair->key), &sign);
    struct str value = str(pair->value);
    if (limit == NONE) return fail_unknown(pair->key, e);
    const struct field *f = field_at(&limit_fields, limit);
    if (limit == ASSOC_QOS_LIST) {
        const struct qos_list_change change = {sign, value, assoc_limits_qos_list(s, parent)};
        return limit_value_change_qos_list(s, f, &change, arena, &limits[limit], e);
    }
    if (limit == ASSOC_DEFAULT_QOS) return limit_value_change_qos(s, value, arena, &limits[limit], e);
    return limit_value_change(s, f, value, arena, &limits[limit], e);
}

int assoc_limits_read(struct apply_context *c, const struct field_value *before, uint32_t parent,
                      const struct event_pair *pairs, uint32_t count, struct field_value **out_limits)
{
    struct field_value *limits = arena_alloc(&c->s->cycle, ASSOC_LIMIT_COUNT * sizeof *limits);
    memcpy(limits, before != NULL ? before : limit_fields_defaults, ASSOC_LIMIT_COUNT * sizeof *limits);
    for (uint32_t i = 0; i < count; i++) {
        if (assoc_limits_change(c->s, &pairs[i], parent, &c->s->cycle, limits, c->e) != 0) return -1;
    }
    *out_limits = limits;
    return 0;
}

/* --- checking ----------------------------------------------------------------------------------------------------- */

static int fail_default(struct apply_context *c, enum err_code code, const char *account, const char *user,
                        const char *qos, const char *list)
{
    if (user == NULL)
        return err_subject(c->e, code, "account", str(account), "has DefaultQOS %s, which is not in its QosLevel, %s",
                           qos, list);
    return err_subject(c->e, code, "user", str(user),
                       "has DefaultQOS %s in account '%s', which is not in the QosLevel there, %s", qos, account, list);
}

static int check_default(struct apply_context *c, uint32_t assoc, enum err_code code)
{
    const struct assoc *a = &c->s->assocs.items[assoc];
    const char *qos = assoc_limits_of(a)[ASSOC_DEFAULT_QOS].text, *list = assoc_limits_qos_list(c->s, assoc);
    if (a->deleted_us != 0 || qos[0] == '\0' || allows(list, qos)) return 0;
    return fail_default(c, code, a->account, a->user, qos, list);
}

static bool is_below(const struct state *s, uint32_t assoc, uint32_t ancestor)
{
    do assoc = s->assocs.items[assoc].parent;
    while (assoc != NONE && assoc != ancestor);
    return assoc == ancestor;
}

int assoc_limits_check(struct apply_context *c, uint32_t assoc, uint32_t parent, struct field_value *limits)
{
    struct state *s = c->s;
    struct assoc *a = &s->assocs.items[assoc];
    const struct field_value *old = assoc_limits_of(a);
    bool is_same = parent == a->parent && strcmp(limits[ASSOC_QOS_LIST].text, old[ASSOC_QOS_LIST].text) == 0 &&
                   strcmp(limits[ASSOC_DEFAULT_QOS].text, old[ASSOC_DEFAULT_QOS].text) == 0;
    if (is_same) return 0;
    const struct assoc before = *a;
    a->limits = limits;
    a->parent = parent;
    int status = check_default(c, assoc, ERR_INPUT);
    for (uint32_t i = 0; i < s->assocs.count && status == 0 && a->user == NULL; i++) {
        if (is_below(s, i, assoc)) status = check_default(c, i, ERR_CONFLICT);
    }
    *a = before;
    return status;
}

int assoc_limits_check_new(struct apply_context *c, const char *account, const char *user, uint32_t parent,
                           const struct field_value *limits)
{
    const char *qos = limits[ASSOC_DEFAULT_QOS].text, *list = limits[ASSOC_QOS_LIST].text;
    if (list[0] == '\0') list = assoc_limits_qos_list(c->s, parent);
    return qos[0] == '\0' || allows(list, qos) ? 0 : fail_default(c, ERR_INPUT, account, user, qos, list);
}

/* --- keeping ------------------------------------------------------------------------------------------------------ */

static bool are_equal(const struct field_value *a, const struct field_value *b)
{
    bool is_equal = true;
    for (uint32_t i = 0; i < ASSOC_LIMIT_COUNT; i++) is_equal &= field_equal(field_at(&limit_fields, i), &a[i], &b[i]);
    return is_equal;
}

/* A text that does not change is not copied. */
void assoc_limits_set(struct apply_context *c, uint32_t assoc, const struct field_value *limits)
{
    struct state *s = c->s;
    struct assoc *a = &s->assocs.items[assoc];
    if (are_equal(assoc_limits_of(a), limits)) return;
    if (a->limits == NULL) {
        a->limits = arena_alloc(&s->arena, ASSOC_LIMIT_COUNT * sizeof *a->limits);
        memcpy(a->limits, limit_fields_defaults, sizeof limit_fields_defaults);
    }
    for (uint32_t i = 0; i < ASSOC_LIMIT_COUNT; i++) {
        if (field_equal(field_at(&limit_fields, i), &a->limits[i], &limits[i])) continue;
        a->limits[i] = limits[i];
        a->limits[i].text = arena_copy(&s->arena, str(limits[i].text));
    }
    if (are_equal(a->limits, limit_fields_defaults)) a->limits = NULL;
    s->pass_is_due = true;
    apply_note_change(c, TABLE_ASSOC, assoc);
}
