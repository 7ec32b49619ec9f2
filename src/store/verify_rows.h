/* Checks the rows of all jobs and tasks, also ended ones, which nothing else reads but listings: every number has to be
 * in its field's range, every word one of its choices, and the state of a task has to fit its end. */
#ifndef FAIRLEAD_STORE_VERIFY_ROWS_H
#define FAIRLEAD_STORE_VERIFY_ROWS_H

#include "store/sql.h"

/* ERR_INTERNAL names the first row that is damaged, and its field. path: of the database, for the error. */
int verify_rows(sqlite3 *db, const char *path, struct err *e);

#endif
