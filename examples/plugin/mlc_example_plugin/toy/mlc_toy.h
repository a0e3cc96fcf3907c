/* The toy accelerator, simulated: runs the instructions of `program`, a line each, on the buffers of a kernel. */
#ifndef MLC_TOY_H
#define MLC_TOY_H

#include <stdint.h>

void mlc_toy_run(const char *program, void *const *buffers);

#endif
