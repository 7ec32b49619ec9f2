/* GET /v1/backup: the database as of one commit. The daemon makes a copy, which is sent from its descriptor. */
#include <sys/stat.h>

#include "api/server/internal.h"
#include "base/ensure.h"
#include "base/number.h"

int server_get_backup(struct request *r, struct err *e)
{
    const struct server_host *host = &r->server->host;
    if (request_read_query(r, NULL, e) != 0) return -1;
    if (r->is_head) {
        reply_head(r, TYPE_DATABASE);
        return 0;
    }
    request_park(r, STAGE_VERIFYING);
    struct err refusal;
    if (host->backup(host->context, r, &refusal) != 0) server_backed_up(r, -1, 0, &refusal);
    return 0;
}

void server_backed_up(struct request *r, int fd, uint64_t commit, const struct err *e)
{
    char number[NUMBER_TEXT_SIZE];
    struct stat st;
    struct err failure;
    ensure(r->stage == STAGE_VERIFYING);
    if (e == NULL && fstat(fd, &st) != 0) {
        err_set(&failure, ERR_IO, "the copy of the database cannot be read");
        e = &failure;
    }
    if (e != NULL) {
        reply_error(r, e);
    } else {
        r->reply = MHD_create_response_from_fd64((uint64_t)st.st_size, fd); /* which closes it */
        ensure(r->reply != NULL);
        r->status = r->route->status;
        number[number_format_u64(number, commit)] = '\0';
        MHD_add_response_header(r->reply, MHD_HTTP_HEADER_CONTENT_TYPE, TYPE_DATABASE);
        MHD_add_response_header(r->reply, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
        MHD_add_response_header(r->reply, API_COMMIT_HEADER, number);
    }
    request_unpark(r);
}
