#include "store/store.h"
int store_verify(const char *directory, struct arena *arena, struct verify_report *out_report, struct err *e)
{
    (void)directory, (void)arena, (void)out_report;
    return err_set(e, ERR_INTERNAL, "verify: not there yet");
}
