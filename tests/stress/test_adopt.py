# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
Adopted memory: adopt.c, which moves it there and back while everybody uses it. Once with the ends
alive, once killed at random; nothing of it is left afterwards.
"""
import os
import re
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), 'lib'))
from softhca import BUILD, Case, Fabric, wait_for  # noqa: E402

SECONDS = float(os.environ.get('SOFTHCA_STRESS_SECONDS', 5))
PROGRAM = os.path.join(BUILD, 'tests', 'stress', 'stress_adopt')


class Adopt(Case):
    def run_in(self, *args):
        with Fabric() as fab:
            r = fab.run(PROGRAM, f'{SECONDS / 2:.2f}', *args, options=('--adopt',),
                        timeout=SECONDS + 600)
            out = self.ok(r)
            self.assertRegex(out, re.compile(r'^[0-9]+ times adopted, .* 0 wrong$', re.M))
            wait_for(lambda: not any(self.status(fab)['objects'].values()), 'objects to vanish')
            return int(re.search(r'([0-9]+) times adopted', out)[1])

    def test_while_everybody_uses_it(self):
        self.assertGreater(self.run_in(), 0)

    def test_killed_at_random(self):
        self.run_in('kill')


class Adopted(Case):
    """What programs do to memory while its key lives; adopted.c."""

    def case(self, *args):
        with Fabric() as fab:
            return self.ok(fab.run(PROGRAM + 'ed', *args, options=('--adopt',)))

    def test_other_memory_in_its_middle(self):
        self.case('munmap')

    def test_a_block_that_grows(self):
        self.case('realloc')

    def test_a_heap_that_shrinks(self):
        self.case('trim')

    def test_fork(self):
        self.case('fork')

    def test_a_child_has_stores_in_their_order(self):
        self.case('order')

    def test_keys_while_descriptors_come_and_go(self):
        """One key in ten was never adopted where a closed descriptor counted as one that keeps pages."""
        self.case('keys', '50')

    def test_forks_while_descriptors_come_and_go(self):
        self.case('order', '50', 'descriptors')

    def test_no_descriptor_is_free(self):
        self.case('descriptors')

    def test_the_list_of_mappings_is_hidden(self):
        self.case('hidden')

    def test_a_page_of_a_sleeping_call_is_dropped(self):
        self.case('busy')

    def test_exec(self):
        self.case('exec')

    def test_a_queue_of_a_process_that_forks(self):
        self.case('queue')

    def test_a_library_that_is_closed(self):
        self.case('dlclose', os.path.join(os.path.dirname(PROGRAM), 'libadopted.so'))

    def test_memory_that_libc_unmaps_while_its_key_ends(self):
        """Where libc's own calls were not seen, one round in 20 replaced what the program had mapped there."""
        self.assertRegex(self.case('race', '300'), '^[1-9][0-9]* times other memory, 0 times replaced$')


if __name__ == '__main__':
    unittest.main()
