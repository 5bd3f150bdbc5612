/* other_abi.c: a plug-in of an ABI that no host has yet: it must be refused by number, before anything else
 * is read.
 *
 * SPDX-License-Identifier: MIT */
#include "suite/sut/samplegate.h"

const struct samplegate_plugin *samplegate_plugin(void)
{
    static const struct samplegate_plugin table = {.size = sizeof table,
                                                   .abi_version = SAMPLEGATE_ABI_VERSION + 1000,
                                                   .name = "other-abi",
                                                   .version = "1"};
    return &table;
}
