#include "daemon/load_values.h"

void load_values_add(struct load_values *v, struct str name, struct str value)
{
    struct host_load *load = array_add(&v->list);
    load->name = arena_copy(&v->arena, name);
    load->value = arena_copy(&v->arena, value);
}

void load_values_clear(struct load_values *v)
{
    array_clear(&v->list);
    arena_clear(&v->arena);
}

void load_values_release(struct load_values *v)
{
    array_release(&v->list);
    arena_release(&v->arena);
}
