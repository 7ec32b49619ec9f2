/* A fair queue for a pool of threads: whoever has had the smallest part of the promised time comes next.
 *
 *     cc worker_pool.c $(pkg-config --cflags --libs fairlead) -pthread -o worker_pool && ./worker_pool
 *
 * Three people submit 24 items each at once. Ann was promised half of the time, Ben and Cleo a quarter each. Each item
 * that a worker takes is charged to its user; usage halves every hour, so last week counts for little. */
#include <fairlead.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { USERS = 3, ITEMS = 24, WORKERS = 2, ITEM_MS = 2 };

static const char *const names[USERS] = {"ann", "ben", "cleo"};
static const uint32_t shares[USERS] = {2, 1, 1};

struct queue {
    pthread_mutex_t lock; /* a tree belongs to one thread at a time */
    struct fl_tree *tree;
    uint32_t node[USERS];
    int waiting[USERS], taken;
    bool is_counted;
    int taken_at_first[USERS]; /* how many items each has had when the first of them has none left */
};

static void check(int result)
{
    if (result == FL_OK) return;
    fprintf(stderr, "worker_pool: %s\n", fl_result_text(result));
    exit(1);
}

static int64_t now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static int user_of(const struct queue *q, uint32_t node)
{
    for (int u = 0; u < USERS; u++) {
        if (q->node[u] == node) return u;
    }
    return -1;
}

/* The user whose item is next, or -1. The item is charged when it is taken, with what it is expected to cost, so that
 * the next worker knows of it. */
static int take(struct queue *q)
{
    const uint32_t *order;
    uint32_t count;
    int found = -1;
    pthread_mutex_lock(&q->lock);
    check(fl_tree_rank(q->tree, now_us(), NULL));
    check(fl_tree_order(q->tree, &order, &count));
    for (uint32_t i = 0; i < count && found < 0; i++) {
        int u = user_of(q, order[i]);
        if (q->waiting[u] > 0) found = u;
    }
    if (found >= 0) {
        check(fl_tree_charge(q->tree, q->node[found], ITEM_MS / 1e3, now_us()));
        q->waiting[found]--;
        q->taken++;
        if (q->waiting[found] == 0 && !q->is_counted) {
            for (int u = 0; u < USERS; u++) q->taken_at_first[u] = ITEMS - q->waiting[u];
            q->is_counted = true;
        }
    }
    pthread_mutex_unlock(&q->lock);
    return found;
}

static void *work(void *data)
{
    const struct timespec item = {0, ITEM_MS * 1000000L};
    while (take(data) >= 0) nanosleep(&item, NULL); /* the work */
    return NULL;
}

int main(void)
{
    struct queue q = {.lock = PTHREAD_MUTEX_INITIALIZER};
    pthread_t workers[WORKERS];
    check(fl_tree_new(&q.tree));
    check(fl_tree_set_halflife(q.tree, INT64_C(3600) * 1000000, now_us()));
    for (int u = 0; u < USERS; u++) {
        check(fl_tree_add(q.tree, FL_ROOT, FL_USER, shares[u], &q.node[u]));
        q.waiting[u] = ITEMS;
    }
    for (int w = 0; w < WORKERS; w++) {
        if (pthread_create(&workers[w], NULL, work, &q) != 0) return 1;
    }
    for (int w = 0; w < WORKERS; w++) pthread_join(workers[w], NULL);

    printf("%d items, %d workers\n", q.taken, WORKERS);
    printf("when one of them had no item left:");
    for (int u = 0; u < USERS; u++) printf(" %s %d", names[u], q.taken_at_first[u]);
    printf("\n");
    for (int u = 0; u < USERS; u++) {
        double usage;
        check(fl_tree_usage(q.tree, q.node[u], now_us(), &usage));
        printf("%-5s %u shares, %.2f s used\n", names[u], shares[u], usage);
    }
    fl_tree_free(q.tree);
    return 0;
}
