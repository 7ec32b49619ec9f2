/* The conversions of all usages that some rows still lack (engine/usage_conversion.h). */
#include "store/internal.h"

const char store_usage_conversion_query[] =
    "SELECT number, is_reset, halvings, scale FROM usage_conversion ORDER BY number";

struct usage_conversion store_usage_conversion_read(sqlite3_stmt *row, bool *io_bad)
{
    return (struct usage_conversion){.number = sql_column_ranged(row, 0, 1, INT64_MAX - 1, io_bad),
                                     .is_reset = sqlite3_column_int(row, 1) != 0,
                                     .halvings = sql_column_ranged(row, 2, 0, INT64_MAX, io_bad),
                                     .scale = sql_column_amount(row, 3, USAGE_STORED_MAX, io_bad)};
}

int store_usage_conversions_write(struct store *s, const struct state *state, struct err *e)
{
    sqlite3_stmt *put = s->statements[PUT_CONVERSION];
    if (sql_step(s->statements[CLEAR_CONVERSIONS], e) != 0) return -1;
    for (uint32_t i = 0; i < state->conversions.list.count; i++) {
        const struct usage_conversion *c = &state->conversions.list.items[i];
        sql_bind_int(put, 1, c->number);
        sql_bind_int(put, 2, c->is_reset);
        sql_bind_int(put, 3, c->halvings);
        sql_bind_double(put, 4, c->scale);
        if (sql_step(put, e) != 0) return -1;
    }
    return 0;
}
