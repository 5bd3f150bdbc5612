/* family.c: the families whose cells run a script. */
#include "suite/checks/family.h"

#include "suite/checks/boundary/cases.h"
#include "suite/checks/dependence/lines.h"
#include "suite/checks/determinism/lines.h"
#include "suite/checks/replay/lines.h"
#include "suite/checks/questions.h"

static const struct family families[] = {
    {FAMILY_BOUNDARY, boundary_script},
    {FAMILY_DETERMINISM, determinism_script},
    {FAMILY_DEPENDENCE, dependence_script},
    {FAMILY_REPLAY, replay_script},
    {FAMILY_PREDICATE, questions_script},
    {FAMILY_DEFAULTS, questions_script},
};

const struct family *family_scripted(enum cell_family family)
{
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (families[i].family == family && families[i].script)
            return &families[i];
    return NULL;
}
