# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""doc/SUPPORT.md against the code: every row of the code's tables is in a table of the document, and
what the document calls supported is in the code. The C tables are read as text: one row per thing."""
import glob
import os
import re
import unittest

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
UAPI = '/usr/include/rdma/ib_user_verbs.h'


def read(path):
    with open(os.path.join(TOP, path), encoding='utf-8') as f:
        return f.read()


def table(path, name):
    """What is between the braces of a table's definition."""
    m = re.search(r'\b%s\[\w*\] *= *\{(.*?)\n\};' % name, read(path), re.S)
    if not m:
        raise AssertionError(f'{path} has no table {name}')
    return m.group(1)


def x_rows(path, macro, n=1):
    """Argument n, counted from 0, of each row of an X-macro."""
    text = re.search(r'#define %s\(X\)((?:.*\\\n)*.*)\n' % macro, read(path)).group(1)
    return [row.split(',')[n].strip() for row in re.findall(r'\bX\(([^)]*)', text)]


def sections():
    """{heading: [row, ...]} of SUPPORT.md; a row is its cells. Heads of tables are left out."""
    out, rows = {}, None
    for line in read('doc/SUPPORT.md').splitlines():
        if line.startswith('## '):
            rows = out.setdefault(re.sub(r'^[\d. ]+', '', line[3:]), [])
        elif rows is not None and re.match(r'\|[-|]+$', line):
            rows.pop()
        elif rows is not None and line.startswith('|'):
            rows.append([c.strip() for c in line.strip('|').split('|')])
    return out


def write_commands():
    rows = re.findall(r'\b(CMD|CMD_EX)\((\w+),', table('src/uverbs/write.c', 'commands'))
    return {('EX_' if macro == 'CMD_EX' else '') + name for macro, name in rows}


def core_methods():
    """Every method with a handler; {name: handler}."""
    out = {}
    folder = os.path.join(TOP, 'src', 'uverbs')
    for f in sorted(os.listdir(folder)):
        if not f.endswith('.c') or f.startswith('test_'):
            continue
        text = read(f'src/uverbs/{f}')
        for body in re.findall(r'struct uv_method_def \w+\[\] = \{(.*?)\n\};', text, re.S):
            rows = re.findall(r'\{\s*UVERBS_METHOD_(\w+),(.*?)\}', body, re.S)
            rows += re.findall(r'\bMETHOD\((\w+),(.*?)\)', body, re.S)
            out.update({'UVERBS_METHOD_' + name: rest for name, rest in rows})
    return out


def mlx5_methods():
    rows = re.findall(r'\n\tMETHOD\((\w+), *\w+,\s*(\w+)\)', read('src/mlx5/driver.c'))
    return {name for name, handler in rows if handler != 'NULL'}


def fw_commands():
    return set(x_rows('src/fw/commands.h', 'FW_COMMANDS', 0))


def devx_commands():
    t = table('src/mlx5/devx_table.c', 'devx_cmds')
    return set(re.findall(r'\{\.opcode = PRM_OP_(\w+)', t) +
               re.findall(r'\{(?:MADE|MADE_AND_MODIFIED|MODIFIES|QUERIES)\((\w+)', t))


def engine_ops():
    """Opcode: the transports whose row has it."""
    t = read('src/engine/base/transport.c')
    sets = {}
    for name, body in re.findall(r'^#define (OPS_\w+) \(((?:[^()]|\(\w+\))*)\)$', t, re.M):
        sets[name] = set(re.findall(r'\bOP\((\w+)\)', body)).union(*(sets[s] for s in re.findall(r'\bOPS_\w+', body)))
    ops = {}
    for name, opcodes in re.findall(r'\[PRM_ST_(\w+)\] =\s*\{\s*\.opcodes = (OPS_\w+)', t):
        for op in sets[opcodes]:
            ops.setdefault(op, set()).add(name)
    return ops


def engine_failures():
    t = re.sub(r'\s+', ' ', table('src/engine/base/fail.c', 'eng_failures'))
    return re.findall(r'\{CQE_SYND_(\w+), (0x[0-9a-f]+), "([^"]*)"', t)


class Support(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.doc = sections()

    def column(self, section, n=0):
        return {row[n] for row in self.doc[section]}

    def yes(self, section, n):
        return {row[0] for row in self.doc[section] if row[n] == 'yes'}

    def test_groups_of_capabilities(self):
        """The row of QUERY_HCA_CAP names the groups that have a filler, and those that are all zero."""
        rows = re.findall(r'\{0x(\w+), "[^"]*", (\w+)\}', table('src/fw/cmd_cap.c', 'groups'))
        row = next(r for rs in self.doc.values() for r in rs if r[0] == 'QUERY_HCA_CAP')
        filled, rest = row[3].split(' filled; ')
        zero = rest.split(' answer all zero')[0]
        for text, is_zero in ((filled, False), (zero, True)):
            named = {int(n, 0) for n in re.findall(r'\b(?:0x\w+|\d)\b', re.sub(r'\([^)]*\)', '', text))}
            self.assertEqual(named, {int(n, 16) for n, fill in rows if (fill == 'NULL') == is_zero})

    def test_the_tables_were_found(self):
        for found, least in ((write_commands(), 25), (core_methods(), 15), (mlx5_methods(), 8),
                             (fw_commands(), 30), (devx_commands(), 80), (engine_ops(), 5),
                             (engine_failures(), 15)):
            self.assertGreaterEqual(len(found), least, found)

    def test_write_commands(self):
        self.assertEqual(self.yes('Write commands', 1), write_commands())

    def test_write_commands_that_are_not_there(self):
        if not os.path.exists(UAPI):
            self.skipTest(f'{UAPI} is not installed')
        with open(UAPI, encoding='utf-8') as f:
            enum = re.search(r'enum ib_uverbs_write_cmds \{(.*?)\}', f.read(), re.S).group(1)
        all_of_them = set(re.findall(r'\bIB_USER_VERBS_CMD_(\w+)', enum))
        self.assertEqual(all_of_them - self.column('Write commands'), set())

    def test_methods(self):
        code = core_methods()
        self.assertEqual((set(code) | mlx5_methods()) - self.column('ioctl methods'), set())
        # A handler that only says EOPNOTSUPP makes a method known, not supported.
        have = {m for m, rest in code.items() if 'no_driver_op' not in rest} | mlx5_methods()
        self.assertEqual(self.yes('ioctl methods', 2) - have, set())
        refused = {m for m, rest in code.items() if 'no_driver_op' in rest}
        self.assertEqual(self.yes('ioctl methods', 2) & refused, set())

    def test_firmware_commands(self):
        rows = {r[0]: r for r in self.doc['Firmware commands']}
        self.assertEqual(fw_commands() - set(rows), set())
        listed = {r for r, row in rows.items() if len(row) == 4}
        self.assertEqual(listed, fw_commands())

    def test_commands_that_devx_lets_pass(self):
        named = set()
        for row in self.doc['Firmware commands']:
            named |= {row[0]} if len(row) == 4 else set(row[1].split(', '))
        self.assertEqual(devx_commands() - named, set())

    def test_work_requests(self):
        code, rows = engine_ops(), self.doc['Work requests']
        self.assertEqual({r[0] for r in rows}, set(x_rows('src/wire/wqe/wqe.h', 'WQE_OPCODES')))
        doc = {r[0]: set(r[2].split(', ')) for r in rows if r[2] != 'none'}
        self.assertEqual(doc, code)

    def test_completions_with_error(self):
        doc = {(r[0].split(' ')[0], r[1], r[2]) for r in self.doc['Completions with error']}
        self.assertEqual(doc, set(engine_failures()))

    def test_each_error_says_who_decided(self):
        who = re.compile(r'(card|log|inferred|softhca alone|IBA [\w. ]+)(; (own number|0x\w\w inferred))?')
        rows = self.doc['Completions with error']
        self.assertEqual([r for r in rows if not who.fullmatch(r[3])], [])

    def test_events(self):
        raised = set()
        for folder in ('engine', 'fabric', 'fw', 'mlx5'):
            for path in glob.glob(os.path.join(TOP, 'src', folder, '**', '*.c'), recursive=True):
                if not os.path.basename(path).startswith('test_'):
                    # An index of a table of names is not an event that is raised.
                    text = re.sub(r'\[IBV_EVENT_\w+\] =', '', read(os.path.relpath(path, TOP)))
                    raised |= set(re.findall(r'\bIBV_EVENT_\w+', text))
        named = set(re.findall(r'\bIBV_EVENT_\w+', ' '.join(self.column('Events'))))
        self.assertEqual(named, raised)


if __name__ == '__main__':
    unittest.main()
