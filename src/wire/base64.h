/* Base64 (RFC 4648 section 4, with padding): how bytes that are not UTF-8 travel in JSON. */
#ifndef FAIRLEAD_WIRE_BASE64_H
#define FAIRLEAD_WIRE_BASE64_H

#include "base/arena.h"
#include "base/text.h"

/* Appends the encoded bytes: 4 characters for every 3 bytes, rounded up. */
void base64_write(struct str bytes, struct buf *out);

/* Decodes text. The bytes are in memory of arena, followed by a zero byte. Returns false for any text that base64_write
 * does not write: without padding, with line ends, or with bits after the last byte that are not 0. */
bool base64_read(struct str text, struct arena *arena, struct str *out_bytes);

#endif
