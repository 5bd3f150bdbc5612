/* version.h: samplegate's own version. */
#ifndef SAMPLEGATE_VERSION_H
#define SAMPLEGATE_VERSION_H
#define SAMPLEGATE_VERSION "0.1.0"
#endif
