/* quiet.c: keeps GSL from ending the process.
 *
 * GSL calls abort() on a domain error, an underflow or too many terms, unless its handler is off. That
 * setting belongs to the whole process; the judge is the only user of GSL in it.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "stats/quiet.h"
#include <gsl/gsl_errno.h>
#include <threads.h>

static once_flag once = ONCE_FLAG_INIT;

static void handler_off(void)
{
    gsl_set_error_handler_off();
}

void stats_quiet(void)
{
    call_once(&once, handler_off);
}
