/* The small parts of a request: its query, and the percent escapes of the query and of the path. */
#include <string.h>

#include "api/server/internal.h"

static int hex_value(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

/* Instead of libmicrohttpd's decoding, which accepts malformed escapes and zero bytes, and decodes a path before it is
 * split into segments (server.c, keep_escapes). */
int request_percent_decode(struct str text, const char *what, struct arena *arena, const char **out_text, struct err *e)
{
    char *out = arena_alloc(arena, text.length + 1);
    size_t used = 0;
    for (size_t i = 0; i < text.length; i++) {
        char c = text.text[i];
        if (c == '%') {
            int high = i + 2 < text.length ? hex_value(text.text[i + 1]) : -1;
            int low = high >= 0 ? hex_value(text.text[i + 2]) : -1;
            c = (char)(high < 0 || low < 0 ? 0 : high * 16 + low);
            if (c == '\0')
                return err_field(e, ERR_INPUT, what,
                                 "byte %zu: '%%' must be followed by two hexadecimal digits other than 00", i + 1);
            i += 2;
        }
        out[used++] = c;
    }
    *out_text = out;
    return 0;
}

struct query_reader {
    struct request *r;
    void *value;
    uint64_t seen; /* a bit for each field of the shape */
    struct err *e;
    int status;
};

static uint64_t field_bit(const struct wire_shape *shape, const char *name)
{
    uint64_t bit = 1;
    for (const struct wire_field *f = shape->fields; f->name; f++, bit <<= 1) {
        if (strcmp(f->name, name) == 0) return bit;
    }
    return 0;
}

static int read_argument(struct query_reader *q, const char *key, struct str value)
{
    static const struct wire_field no_fields[] = {{0}};
    static const struct wire_shape no_query = {.name = "Query", .fields = no_fields};
    const struct wire_shape *shape = q->r->route->query ? q->r->route->query : &no_query;
    const char *name, *text;
    struct arena *arena = &q->r->arena;
    if (request_percent_decode(str(key), "query", arena, &name, q->e) != 0) return -1;
    if (request_percent_decode(value, name, arena, &text, q->e) != 0) return -1;
    uint64_t bit = field_bit(shape, name);
    if (bit == 0 && shape == &no_query)
        return err_set(q->e, ERR_INPUT, "unexpected query parameter '%.60s': %s %s accepts none", name,
                       q->r->route->method, q->r->route->path);
    if (q->seen & bit) return err_field(q->e, ERR_INPUT, name, "occurs twice in the query");
    q->seen |= bit;
    return wire_read_query(shape, name, text, arena, q->value, q->e);
}

static enum MHD_Result on_argument(void *context, enum MHD_ValueKind kind, const char *key, size_t key_length,
                                   const char *value, size_t value_length)
{
    struct query_reader *q = context;
    (void)kind, (void)key_length;
    q->status = read_argument(q, key, (struct str){value ? value : "", value ? value_length : 0});
    return q->status == 0 ? MHD_YES : MHD_NO;
}

int request_read_query(struct request *r, void *out_value, struct err *e)
{
    struct query_reader q = {.r = r, .value = out_value, .e = e};
    if (r->route->query) wire_clear(r->route->query, out_value);
    MHD_get_connection_values_n(r->connection, MHD_GET_ARGUMENT_KIND, on_argument, &q);
    return q.status;
}
