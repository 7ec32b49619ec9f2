/* Timing for the benchmarks: CPU time of the thread, and the median of several runs. */
#ifndef FAIRLEAD_BENCH_MEASURE_H
#define FAIRLEAD_BENCH_MEASURE_H

#include <stdlib.h>
#include <time.h>

enum { RUNS_MAX = 101 };

/* CPU time of this thread, which excludes other programs on the machine. */
static inline double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static inline double now_ms(void)
{
    return now_ns() / 1e6;
}

static inline int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

struct samples {
    double ns[RUNS_MAX];
    int count;
};

static inline double median(struct samples *s)
{
    qsort(s->ns, (size_t)s->count, sizeof *s->ns, compare_doubles);
    return s->ns[s->count / 2];
}

#endif
