/* Texts of what jobs ask for, from arbitrary bytes. The check function agrees with the parser. A refused text leaves
 * the output unchanged, and the error is one printable line that names the field. */
#include <string.h>

#include "base/ensure.h"
#include "base/text.h"
#include "fields/request_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_refusal(const struct err *e)
{
    const char *sentence = ERR_SENTENCE(e);
    ensure(e->code == ERR_INPUT && strncmp(sentence, "field: ", 7) == 0 && str_is_printable(str(sentence)));
}

static void check_nodes(struct str s)
{
    struct err e = {0};
    struct buf text = {0};
    uint32_t min = 77, max = 77, min_back, max_back;
    int status = request_text_nodes(s, "field", &min, &max, &e);
    ensure(request_text_nodes_check(s, "field", NULL) == status);
    if (status != 0) {
        check_refusal(&e);
        ensure(min == 77 && max == 77);
        return;
    }
    ensure(min <= max && max <= REQUEST_NODES_MAX && (min == 0) == (s.length == 0));
    if (min > 0) buf_format(&text, "%u-%u", min, max);
    ensure(request_text_nodes((struct str){text.text, text.length}, "field", &min_back, &max_back, NULL) == 0);
    ensure(min_back == min && max_back == max);
    buf_release(&text);
}

static void check_gpus(struct str s, struct arena *arena)
{
    struct err e = {0};
    struct buf text = {0};
    struct gpus_text_list list = {.count = 77}, back;
    if (request_text_gpus(s, "field", arena, &list, &e) != 0) {
        check_refusal(&e);
        ensure(list.items == NULL && list.count == 77);
        return;
    }
    ensure(list.count > 0);
    for (uint32_t i = 0; i < list.count; i++) {
        const struct gpus_text *gpus = &list.items[i];
        ensure(gpus->count > 0 && gpus->count <= REQUEST_GPUS_MAX && str_trim(gpus->type).length == gpus->type.length);
        buf_add_text(&text, i > 0 ? "," : "");
        buf_add(&text, gpus->type.text, gpus->type.length);
        buf_format(&text, "%s%u", gpus->type.length > 0 ? ":" : "", gpus->count);
    }
    ensure(request_text_gpus((struct str){text.text, text.length}, "field", arena, &back, NULL) == 0);
    ensure(back.count == list.count);
    for (uint32_t i = 0; i < back.count; i++)
        ensure(back.items[i].count == list.items[i].count && str_equal(back.items[i].type, list.items[i].type));
    buf_release(&text);
}

/* A constraint that is accepted has features, each of which is one of a host. */
static void check_constraint(struct str s)
{
    struct err e = {0};
    struct arena arena = {0};
    bool is_or;
    if (request_text_constraint_check(s, "field", &e) != 0) {
        check_refusal(&e);
        return;
    }
    const char *constraint = arena_copy(&arena, s);
    ensure(request_text_is_satisfied(constraint, "NONE") == (s.length == 0));
    for (struct str rest = s; rest.length > 0;) {
        struct str feature = request_text_next_feature(&rest, &is_or);
        const char *features = arena_copy(&arena, feature);
        ensure(feature.length > 0 && request_text_features_check(feature, "field", NULL) == 0);
        bool is_none = str_equal_nocase(feature, str("NONE"));
        ensure(request_text_has_feature(features, feature) || is_none);
    }
    arena_release(&arena);
}

static void check_features(struct str s)
{
    struct err e = {0};
    if (request_text_features_check(s, "field", &e) != 0) check_refusal(&e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str s = {(const char *)data, size};
    struct arena arena = {0};
    check_nodes(s);
    check_gpus(s, &arena);
    check_constraint(s);
    check_features(s);
    arena_release(&arena);
    return 0;
}
