/* What the command and the relay of a job's terminal (relay.h) say to each other on the job's socket. Pure: frames to
 * bytes and bytes to frames.
 *
 *     frame     kind: 1 byte | length: 4 bytes | so many bytes
 *
 *     HELLO     version, flags: 1 byte each | rows, columns: 2 bytes each      to the relay, first; see FRAME_HELLO_...
 *     INPUT     bytes for the program                                          to the relay
 *     INPUT_END empty: the program reads the end of its input                  to the relay, with pipes
 *     SIZE      rows, columns: 2 bytes each                                    to the relay
 *     SIGNAL    number: 1 byte                                                 to the relay
 *     DETACH    empty: the client is about to disconnect, and the job goes on  to the relay
 *     WELCOME   version, mode: 1 byte each                                     to the client, first
 *     OUTPUT    bytes of the terminal, or of standard output                   to the client
 *     ERRORS    bytes of standard error, with pipes                            to the client
 *     TAKEN     count: 4 bytes; so many bytes of INPUT were given to the program   to the client
 *     SKIPPED   empty: the client was too slow, and output is missing here     to a client that only reads
 *     EXIT      is_signal, value: 1 byte each                                  to the client, last
 *
 * Numbers are little-endian. A client has at most FRAME_WINDOW bytes of INPUT on the way, so that its other frames
 * never wait for a program that does not read. */
#ifndef FAIRLEAD_TERMINAL_FRAMES_H
#define FAIRLEAD_TERMINAL_FRAMES_H

#include "base/text.h"

enum { FRAME_VERSION = 1, FRAME_HEADER_SIZE = 5, FRAME_BYTES_MAX = 65536, FRAME_WINDOW = 65536 };

enum frame_kind {
    FRAME_HELLO = 1,
    FRAME_INPUT,
    FRAME_INPUT_END,
    FRAME_SIZE,
    FRAME_SIGNAL,
    FRAME_DETACH,
    FRAME_WELCOME,
    FRAME_OUTPUT,
    FRAME_ERRORS,
    FRAME_TAKEN,
    FRAME_SKIPPED,
    FRAME_EXIT
};

/* Flags of a HELLO. */
enum {
    FRAME_HELLO_READS_ONLY = 1,
    FRAME_HELLO_OWNS = 2, /* it is the command that submitted the job: its loss is the loss of the terminal */
    FRAME_HELLO_FLAGS = 3
};

enum frame_mode { FRAME_MODE_PTY = 1, FRAME_MODE_PIPES };

struct frame {
    enum frame_kind kind;
    struct str bytes;       /* INPUT, OUTPUT, ERRORS; in the memory of what was read */
    uint8_t version, flags; /* HELLO; WELCOME: version */
    uint16_t rows, columns; /* HELLO, SIZE */
    enum frame_mode mode;   /* WELCOME */
    uint8_t value;          /* SIGNAL: 1 to 31; EXIT */
    bool is_signal;         /* EXIT: value is the signal that ended the program, else its exit status */
    uint32_t count;         /* TAKEN: 1 to FRAME_WINDOW */
};

/* Appends a frame. Its bytes are at most FRAME_BYTES_MAX. */
void frame_write(struct buf *out, const struct frame *frame);

/* Reads the frame that bytes begin with. Returns how many bytes it has; 0: it is not complete yet; -1: it is none, or
 * one that this side does not get. is_relay: which side reads. */
int64_t frame_read(struct str bytes, bool is_relay, struct frame *out);

#endif
