/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A library whose constructor runs a function of the program, with the loader's lock held. */
#include <dlfcn.h>

__attribute__((constructor)) static void construct(void)
{
	void (*run)(void) = (void (*)(void))dlsym(RTLD_DEFAULT, "in_constructor");

	if (run)
		run();
}
