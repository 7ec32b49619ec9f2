/* GET /v1/places: each partition on each of its hosts. */
#include "engine/places.h"

#include "api/server/internal.h"

int server_get_places(struct request *r, struct err *e)
{
    struct server *server = r->server;
    struct place_list places;
    if (request_read_query(r, NULL, e) != 0) return -1;
    struct stream *stream = stream_new(r);
    int64_t now_us = server->host.now_us(server->host.context);
    if (places_list(server->host.state, now_us, &stream->arena, &places, e) != 0) {
        stream_free(stream);
        return -1;
    }
    return server_reply_records(stream, r, "{\"places\":[", &place_fields,
                                (struct wire_list){places.items, places.count}, e);
}
