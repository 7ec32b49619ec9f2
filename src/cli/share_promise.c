#include "cli/share_promise.h"

#include <math.h>
#include <string.h>

void share_promise_add(struct share_promise *p, const struct field_value *row)
{
    uint32_t depth = (uint32_t)row[SHARE_FIELD_DEPTH].number, index = p->rows.count;
    const struct field_value *shares = &row[SHARE_FIELD_RAW_SHARES], *user = &row[SHARE_FIELD_USER];
    bool has_parent = shares->number == FIELD_SPECIAL;
    if (depth > p->path.count) depth = p->path.count; /* the listing is of a part of the tree */
    p->path.count = depth;
    uint32_t parent = depth > 0 ? p->path.items[depth - 1] : NONE;
    while (parent != NONE && isnan(p->rows.items[parent].shares)) parent = p->rows.items[parent].parent;
    *array_add(&p->rows) = (struct promise_row){
        .parent = parent,
        .shares = has_parent                       ? NAN
                  : shares->number == FIELD_ABSENT ? 1
                                                   : (double)shares->number,
        .account = arena_copy(p->arena, str(row[SHARE_FIELD_ACCOUNT].text)),
        .user = user->text != NULL && user->text[0] != '\0' ? arena_copy(p->arena, str(user->text)) : NULL,
    };
    *array_add(&p->path) = index;
    if (parent != NONE && !has_parent) p->rows.items[parent].level_shares += (double)shares->number;
}

void share_promise_finish(struct share_promise *p)
{
    for (uint32_t i = 0; i < p->rows.count; i++) {
        struct promise_row *row = &p->rows.items[i];
        if (row->parent == NONE) {
            row->promised = 1;
            continue;
        }
        const struct promise_row *parent = &p->rows.items[row->parent];
        row->promised =
            isnan(row->shares) || parent->level_shares <= 0 ? 0 : parent->promised * row->shares / parent->level_shares;
    }
}

void share_promise_release(struct share_promise *p)
{
    array_release(&p->rows);
    array_release(&p->path);
}

double share_promise_of_user(const struct share_promise *p, const char *user)
{
    double sum = 0;
    for (uint32_t i = 0; i < p->rows.count; i++) {
        const struct promise_row *row = &p->rows.items[i];
        if (row->user != NULL && strcmp(row->user, user) == 0) sum += row->promised;
    }
    return sum;
}

double share_promise_of_account(const struct share_promise *p, const char *account)
{
    for (uint32_t i = 0; i < p->rows.count; i++) {
        const struct promise_row *row = &p->rows.items[i];
        if (row->user == NULL && strcmp(row->account, account) == 0) return row->promised;
    }
    return 0;
}
