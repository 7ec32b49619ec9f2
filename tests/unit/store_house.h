/* A world whose state is the store's, for tests of the store. */
#ifndef FAIRLEAD_TESTS_STORE_HOUSE_H
#define FAIRLEAD_TESTS_STORE_HOUSE_H

#include "../dies.h"
#include "engine_world.h"
#include "store_world.h"

static const int64_t NOW_US = INT64_C(1700000000) * SECOND;

struct house {
    char directory[STORE_PATH_SIZE];
    struct store *store;
    struct world w;
};

static inline void house_set_host(struct house *h, struct capacity has)
{
    assert_int_equal(world_apply(&h->w, (struct event){.kind = EVENT_HOST, .host.has = has}, NULL), 0);
}

/* A fresh store, and its state on a host that has so much. */
static inline void house_build(struct house *h, struct capacity has)
{
    memset(h, 0, sizeof *h);
    store_make_directory(h->directory);
    h->store = store_must_open(h->directory, NOW_US);
    h->w.now_us = NOW_US;
    store_must_load(h->store, &h->w.s);
    house_set_host(h, has);
}

static inline void house_commit(struct house *h)
{
    store_must_commit(h->store, &h->w.s, &h->w.out, h->w.now_us);
}

static inline void house_close(struct house *h)
{
    store_close(h->store);
    world_release(&h->w);
    store_remove_directory(h->directory);
}

#endif
