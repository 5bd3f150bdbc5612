/* family.c: the families whose cells run a script. */
#include "suite/checks/family.h"

static const struct family families[] = {
    {FAMILIES, NULL},
};

const struct family *family_scripted(enum cell_family family)
{
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (families[i].family == family && families[i].script)
            return &families[i];
    return NULL;
}
