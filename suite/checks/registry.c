/* registry.c: the one list of checks; `list`, the README's table, `make mutants` and the tests are made from it. */
#include "suite/checks/check.h"
#include "suite/golden/draws.h"

#include <string.h>

/* Each family's rows lie with the family. */
const struct check check_registry[] = {
#include "suite/checks/equivalence/rows.h"
#include "suite/checks/agreement/rows.h"
#include "suite/checks/boundary/rows.h"
#include "suite/checks/determinism/rows.h"
#include "suite/checks/dependence/rows.h"
#include "suite/checks/replay/rows.h"
#include "suite/checks/questions_rows.h"
};
const size_t check_registry_count = sizeof check_registry / sizeof *check_registry;

bool check_looks_at(const struct check *check, const struct plan_cell *cell)
{
    const bool own = check->family == FAMILY_PREDICATE || check->family == FAMILY_DEFAULTS;
    return check->family == cell->family && (!own || strcmp(strchr(check->key, '.') + 1, cell->name) == 0);
}

bool check_selected(const struct check *check, const char *prefix)
{
    size_t length = strlen(prefix);
    if (strncmp(check->key, prefix, length))
        return false;
    return length == 0 || prefix[length - 1] == '.' || check->key[length] == '\0' ||
           check->key[length] == '.';
}
