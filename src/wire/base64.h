/* Base64 (RFC 4648 section 4, with padding): how bytes that are no text travel in JSON. */
#ifndef FAIRLEAD_WIRE_BASE64_H
#define FAIRLEAD_WIRE_BASE64_H

#include "base/arena.h"
#include "base/text.h"

/* Appends the bytes, coded. */
void base64_write(struct str bytes, struct buf *out);

/* The bytes in memory of arena, a zero byte behind them; false: not base64 as base64_write writes it. */
bool base64_read(struct str text, struct arena *arena, struct str *out_bytes);

#endif
