# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
The adapter does what the model says: random programs (run.py), in both doorbell modes. Programs are
those of consecutive seeds; SOFTHCA_MODEL_PROGRAMS is their number, and a quarter of it when polled.
"""
import io
import os
import sys
import unittest
from contextlib import redirect_stdout

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), 'lib')]
import sources  # noqa: E402
from model import Model  # noqa: E402
from program import Step  # noqa: E402
from run import compare, differs, Executor, without_source  # noqa: E402
from softhca import Case, Fabric  # noqa: E402

PROGRAMS = int(os.environ.get('SOFTHCA_MODEL_PROGRAMS', 300))
RC = '''
pd p=p0
cq c=c0
mr m=m0 p=p0 off=0 len=4096 acc=LWRA
qp q=q0 type=RC p=p0 c=c0 d=c0
qp q=q1 type=RC p=p0 c=c0 d=c0
modify q=q0 to=INIT acc=WRA
modify q=q1 to=INIT acc=WRA
modify q=q0 to=RTR dest=q1 rq_psn=1 reads=4
modify q=q1 to=RTR dest=q0 rq_psn=1 reads=4
modify q=q0 to=RTS sq_psn=1 retry=1 rnr=1
modify q=q1 to=RTS sq_psn=1 retry=1 rnr=1
send q=q0 ; op=WRITE id=1 fl=S sge=m0:0:8 rk=m0 ra=100
'''


class Programs(Case):
    doorbell = 'trap'
    share = 1
    first = 1

    def test_random_programs(self):
        n = int(PROGRAMS * self.share)
        said = io.StringIO()
        with Fabric() as fab, redirect_stdout(said):
            done, bad = compare(fab, range(self.first, self.first + n), self.doorbell)
        self.assertEqual((done, bad), (n, 0), said.getvalue())


class ProgramsPolled(Programs):
    doorbell = 'poll'
    share = 0.25
    first = 1000001


class Sources(Case):
    """Each rule of the model names its sources; how many are inferred is printed."""

    def test_each_rule_has_a_source(self):
        self.assertEqual(without_source(), [])
        print(list(sources.table())[-1])

    def test_a_rule_without_source_is_seen(self):
        def fresh(model):
            return 'QP_REQ_ERR'
        Model.fresh = fresh
        for rules, says in ((None, 'Model.fresh: neither a rule nor @books'),
                            ([('a rule', ('card ref_qp',))], 'Model.fresh: no rule names QP_REQ_ERR'),
                            ([('QP_REQ_ERR', ())], 'fresh: no source of "QP_REQ_ERR"'),
                            ([('QP_REQ_ERR', ('card no_such',))], 'fresh: what is "card no_such"?'),
                            ([('QP_REQ_ERR', ('linux somewhere',))], 'fresh: what is "linux somewhere"?')):
            with self.subTest(says=says):
                sources.RULES.pop('fresh', None)
                if rules is not None:
                    sources.RULES['fresh'] = rules
                self.assertIn(says, without_source())

    def tearDown(self):
        sources.RULES.pop('fresh', None)
        if hasattr(Model, 'fresh'):
            del Model.fresh


class Comparison(Case):
    """A comparison that sees nothing proves nothing: a model that is wrong is found."""

    def test_a_difference_is_seen(self):
        steps = [Step.parse(line) for line in RC.strip().splitlines()]
        with Fabric() as fab:
            ex = Executor(fab, 'trap', '60')
            self.assertIsNone(differs(ex, steps))
            ex.close()
            ex = Executor(fab, 'trap', '1')  # the model tells of completions that never come
            for name in ('status', 'mem', 'count'):
                with self.subTest(wrong=name):
                    self.assertEqual(self.spoiled(name, ex, steps)[0], len(steps) - 1)
            ex.close()

    def spoiled(self, name, ex, steps):
        write, sent = Model.write, Model.sent

        def wrong_write(model, q, to, wr, data, *args):
            return write(model, q, to, wr, data[:-1] + b'?' if name == 'mem' else data, *args)

        def wrong_sent(model, q, wr, status):
            for _ in range(2 if name == 'count' else 1):
                sent(model, q, wr, 'REM_OP_ERR' if name == 'status' else status)

        Model.write, Model.sent = wrong_write, wrong_sent
        try:
            return differs(ex, steps)
        finally:
            Model.write, Model.sent = write, sent


if __name__ == '__main__':
    unittest.main()
