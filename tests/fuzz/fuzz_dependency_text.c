/* What a job waits for, from arbitrary bytes. What is accepted has the same meaning when it is written and read again,
 * and a refusal is one printable line about the field. */
#include <string.h>

#include "base/ensure.h"
#include "fields/dependency_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_same(const struct dependency_item *a, const struct dependency_item *b)
{
    struct buf left = {0}, right = {0};
    ensure(a->type == b->type && a->is_failed == b->is_failed && str_equal(a->name, b->name));
    ensure(a->job_id == b->job_id && a->task_id == b->task_id && a->minutes == b->minutes && a->at_us == b->at_us);
    idset_format(&a->tasks, &left);
    idset_format(&b->tasks, &right);
    ensure(str_equal((struct str){left.text, left.length}, (struct str){right.text, right.length}));
    buf_release(&left);
    buf_release(&right);
}

static void check_meaning(const struct dependency_list *list)
{
    struct idset pending = {0};
    idset_add(&pending, 3);
    enum dependency_state early = dependency_list_state(list, &pending, 1);
    enum dependency_state late = dependency_list_state(list, &pending, INT64_MAX - 1);
    ensure(late == early || (early == DEPENDENCY_WAITS && late == DEPENDENCY_MET));
    idset_release(&pending);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str text = {(const char *)data, size};
    struct arena arena = {0};
    struct dependency_list list, back;
    struct err e = {0};
    ensure(dependency_text_check(text, "dependency", NULL) == dependency_text_parse(text, &arena, &list, &e));
    if (e.code != ERR_NONE) {
        ensure(e.code == ERR_INPUT || e.code == ERR_TOO_LARGE);
        ensure(strncmp(ERR_SENTENCE(&e), "dependency: ", 12) == 0 && str_is_printable(str(ERR_SENTENCE(&e))));
        arena_release(&arena);
        return 0;
    }
    struct buf out = {0};
    dependency_text_format(&list, &out);
    ensure(dependency_text_parse((struct str){out.text, out.length}, &arena, &back, NULL) == 0);
    ensure(back.count == list.count && back.is_any == list.is_any);
    for (uint32_t i = 0; i < list.count; i++) check_same(&list.items[i], &back.items[i]);
    check_meaning(&list);
    dependency_list_free(dependency_list_copy(&list));
    buf_release(&out);
    arena_release(&arena);
    return 0;
}
