/* The note on a job that waits until a limit or the job changes, with the option that changes what it is about. */
#ifndef FAIRLEAD_CLI_LIMIT_NOTE_H
#define FAIRLEAD_CLI_LIMIT_NOTE_H

/* Prints "fairlead submit: job 5 waits until ...: LIMIT; run 'fairlead update 5 -t DURATION' or 'fairlead cancel 5'" on
 * standard error; without a field "job 5: LIMIT". limit, field: as in the reply (api/bodies.h); limit NULL: prints
 * nothing. */
void limit_note_print(const char *command, const char *id, const char *limit, const char *field);

#endif
