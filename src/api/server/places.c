/* GET /v1/places: each partition on each of its hosts. It takes a plan of all jobs. */
#include "engine/places.h"

#include "api/server/internal.h"

static int render(struct request *r, struct buf *out, struct err *e)
{
    struct arena arena = {0};
    struct place_list places;
    int status = places_list(r->server->host.state, r->now_us, &arena, &places, e);
    if (status == 0) {
        buf_add_text(out, "{\"places\":[");
        server_write_records(&place_fields, (struct wire_list){places.items, places.count}, out);
    }
    arena_release(&arena);
    return status;
}

int server_get_places(struct request *r, struct err *e)
{
    static const struct request_snapshot listing = {.render = render, .content_type = TYPE_JSON};
    if (request_read_query(r, NULL, e) != 0) return -1;
    return request_reply_snapshot(r, &listing, server_plan_is_long(r->server, 1), e);
}
