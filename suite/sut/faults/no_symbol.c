/* no_symbol.c: a shared object that is no plug-in: it lacks the one function a host looks for.
 *
 * SPDX-License-Identifier: MIT */
int no_symbol_at_all(void);

int no_symbol_at_all(void)
{
    return 0;
}
