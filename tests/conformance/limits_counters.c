/* The driver's listing of what limits count. */
#include "limits_driver.h"

#include <stdio.h>
#include <string.h>

#include "engine/limit_counts.h"
#include "engine/limit_usage.h"

/* What one line shows. The association or the QOS is NONE where the line is of the other. */
struct line {
    struct driver *d;
    const struct limit_counts *counts;
    const struct limit_counter *counter;
    uint32_t assoc, qos;
    bool has_usage; /* users and accounts of a QOS have none of their own */
};

static double usage_of(const struct line *l, uint32_t kind)
{
    bool is_qos = l->assoc == NONE;
    return l->has_usage ? limit_usage_of(&l->d->s, is_qos, is_qos ? l->qos : l->assoc, kind, l->d->now_us) : 0.0;
}

static double used_of(const struct line *l, uint32_t tres)
{
    return limit_counter_used(l->counter, tres);
}

static double reserved_of(const struct line *l, uint32_t tres)
{
    return l->has_usage ? limit_counter_reserved(l->counts, l->counter, tres, l->d->now_us) : 0.0;
}

/* "cpu=4,mem=2000", without what is 0; "-" for nothing. */
static void print_tres(const struct line *l, double (*amount_of)(const struct line *, uint32_t))
{
    const struct tres_table *t = &l->d->s.policy.tres;
    const char *separator = "|";
    for (uint32_t i = 0; i < t->count; i++) {
        double amount = amount_of(l, i);
        if (amount == 0.0) continue;
        printf("%s%s=%.17g", separator, t->items[i].text, amount);
        separator = ",";
    }
    if (separator[0] == '|') printf("|-");
}

static void print_counts(const struct line *l)
{
    const struct limit_counter *k = l->counter;
    printf("|%u|%llu|%.17g|%.17g", k != NULL ? k->jobs : 0, k != NULL ? (unsigned long long)k->submitted : 0,
           usage_of(l, TRES_BILLING), usage_of(l, USAGE_WALL));
    print_tres(l, used_of);
    print_tres(l, usage_of);
    print_tres(l, reserved_of);
    printf("\n");
}

static void list_association(struct driver *d, const struct limit_counts *counts, uint32_t assoc)
{
    const struct assoc *a = &d->s.assocs.items[assoc];
    const struct line l = {d, counts, limit_counts_of_assoc(counts, assoc), assoc, NONE, true};
    if (a->deleted_us != 0) return;
    printf("assoc %s%s%s%s%s", a->account, a->user != NULL ? "/" : "", a->user != NULL ? a->user : "",
           a->partition != NULL ? "/" : "", a->partition != NULL ? a->partition : "");
    print_counts(&l);
}

/* Whether no association before it is of the same user. */
static bool is_first_of_user(const struct state *s, uint32_t assoc)
{
    const char *user = s->assocs.items[assoc].user;
    for (uint32_t i = 0; i < assoc; i++) {
        if (s->assocs.items[i].user != NULL && strcmp(s->assocs.items[i].user, user) == 0) return false;
    }
    return true;
}

static void list_members(struct driver *d, const struct limit_counts *counts, uint32_t qos)
{
    const char *name = d->s.objects[OBJECT_QOS].items[qos].object.name;
    for (uint32_t i = 0; i < d->s.assocs.count; i++) {
        const struct assoc *a = &d->s.assocs.items[i];
        bool is_user = a->user != NULL;
        if (a->deleted_us != 0 || (is_user && !is_first_of_user(&d->s, i))) continue;
        const struct limit_counter *k =
            is_user ? limit_counts_of_user(counts, qos, a->user) : limit_counts_of_account(counts, qos, a->account);
        printf("qos %s per %s %s", name, is_user ? "user" : "account", is_user ? a->user : a->account);
        print_counts(&(struct line){d, counts, k, NONE, qos, false});
    }
}

void listing_counters(struct driver *d)
{
    const struct limit_counts *counts = limit_counts_update(&d->s, d->now_us);
    for (uint32_t i = 0; i < d->s.assocs.count; i++) list_association(d, counts, i);
    for (uint32_t i = 0; i < d->s.objects[OBJECT_QOS].count; i++) {
        const struct object_row *qos = &d->s.objects[OBJECT_QOS].items[i];
        if (qos->is_deleted) continue;
        printf("qos %s", qos->object.name);
        print_counts(&(struct line){d, counts, limit_counts_of_qos(counts, i), NONE, i, true});
        list_members(d, counts, i);
    }
}
