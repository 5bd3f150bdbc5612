/* plural.h: "1 cell", "2 cells". */
#ifndef SAMPLEGATE_PLURAL_H
#define SAMPLEGATE_PLURAL_H

/* What a count puts behind a word: printf("%zu cell%s", n, PLURAL(n)). */
#define PLURAL(count) ((count) == 1 ? "" : "s")

#endif
