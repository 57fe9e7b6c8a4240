# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The displays of man pages, run as they stand there. A comment in front of a display says how: see
softhca-recipes.7. Only TCP ports are changed, because tests run side by side, and time limits, because
a machine may be slow."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
from softhca import BUILD, TIMEOUT, TOP, fabric_dir, port_block  # noqa: E402

PAGES = ['softhca.1', 'softhca-list.1', 'softhca-recipes.7', 'softhca-run.1', 'softhca-faults.7']
FIRST_PORT = port_block()
PORTS = ['18515', '13337', '47592']


class Display:
    """
    A display of a page: how it is used, the words beside that (a file's name, or what it needs), and
    the text.
    """

    def __init__(self, page, line, how, words, text):
        self.name, self.how, self.words, self.text = f'{page}:{line}', how, words, text


def displays(page):
    with open(os.path.join(TOP, 'doc', 'man', page), encoding='utf-8') as f:
        text = f.read()
    out = []
    for m in re.finditer(r'^\.\\" (file|sh|fails|shows|github|gitlab)\b ?([^\n]*)\n\.Bd -literal -offset indent\n(.*?)^\.Ed$', text,
                         re.M | re.S):
        body = m.group(3).replace('\\e', '\\')
        out.append(Display(page, text.count('\n', 0, m.start()) + 2, m.group(1), m.group(2).split(), body))
    return out


def missing(need):
    if need.endswith('.pc'):
        return subprocess.run(['pkg-config', '--exists', need[:-3]]).returncode != 0
    return not shutil.which(need)


def ci_commands(d):
    """The commands of a CI file that begin with softhca; a command goes on in lines of options."""
    found = re.findall(r'^ *(?:- )?(softhca .*(?:\n +--.*)*)', d.text, re.M)
    return [' '.join(c.split()) for c in found]


class Recipes(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix='hcarec-')
        self.addCleanup(shutil.rmtree, self.dir)
        place = fabric_dir()
        self.addCleanup(shutil.rmtree, place)
        self.runtime = os.path.join(place, 'runtime')
        self.work = os.path.join(self.dir, 'work')
        os.mkdir(self.work)
        self.env = dict(os.environ, SOFTHCA_RUNTIME_DIR=self.runtime,
                        PATH=f'{BUILD}:{os.environ["PATH"]}', TMPDIR=self.dir)

    def text(self, text):
        text = re.sub(r'--timeout \d+', f'--timeout {10 * TIMEOUT}', text)
        return re.sub('|'.join(PORTS), lambda m: str(FIRST_PORT + PORTS.index(m.group())), text)

    def runs(self, d, script, shows=None):
        r = subprocess.run(['sh', '-e', '-c', script], cwd=self.work, env=self.env, stdin=subprocess.DEVNULL,
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT, errors='replace')
        self.assertEqual(r.returncode != 0, d.how == 'fails', f'{d.name}:\n{script}\n{r.stdout}')
        at = 0
        for line in shows.text.splitlines() if shows else []:
            self.assertIn(line, r.stdout[at:], f'{d.name}:\n{script}\n{r.stdout}')
            at = r.stdout.index(line, at)
        self.assertFalse(os.path.exists(self.runtime), f'{d.name} has left its fabric')

    def recipe(self, page, d, before, shows):
        """
        `before`: the files that the page has shown before this recipe, which are written first. `shows`: the display of
        its output, or None.
        """
        absent = [n for n in d.words if missing(n)]
        if absent:
            self.skipTest(f'{d.name}: not installed: {" ".join(absent)}')
        for f in before:
            with open(os.path.join(self.work, f.words[0]), 'w', encoding='utf-8') as out:
                out.write(self.text(f.text))
        if d.how in ('sh', 'fails'):
            self.runs(d, self.text(d.text), shows)
            return
        commands = ci_commands(d)
        self.assertEqual(len(commands), 1, d.name)
        self.runs(d, self.text(commands[0]))
        self.assertGreater(os.path.getsize(os.path.join(self.work, 'test.pcap')), 10000)

    def test_a_recipe_without_traffic_fails(self):
        """Each recipe requires traffic, so one that ends well has used the adapters."""
        for d in displays('softhca-recipes.7'):
            if d.how != 'file' and 'softhca run --hosts' in d.text:
                self.assertIn('--require-traffic', d.text, d.name)
                self.assertIn('--timeout', d.text, d.name)

    def test_no_recipe_waits_for_a_server_that_has_ended(self):
        """The text up to the loop's end, with a server that ends at once."""
        waiting = [d for page in PAGES for d in displays(page) if '\nuntil ' in d.text]
        self.assertTrue(waiting)
        for d in waiting:
            with self.subTest(d.name):
                loop = re.search(r'^softhca run(?:[^\n]*\\\n)*[^\n]*&$(\nuntil .*?; done)$', d.text, re.M | re.S)
                script = 'port=1\nfalse &' + loop.group(1)
                subprocess.run(['sh', '-e', '-c', script], cwd=self.work, env=self.env, timeout=TIMEOUT,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)

    def test_there_are_recipes_for_each_section(self):
        with open(os.path.join(TOP, 'doc/man/softhca-recipes.7'), encoding='utf-8') as f:
            sections = re.split(r'^\.Ss ', f.read(), flags=re.M)[1:]
        self.assertGreaterEqual(len(sections), 10)
        for s in sections:
            self.assertRegex(s, r'(?m)^\.\\" (sh|github|gitlab) ', s.split('\n')[0])

    def test_no_display_is_left_out(self):
        for page in PAGES[1:]:
            with open(os.path.join(TOP, 'doc/man', page), encoding='utf-8') as f:
                self.assertEqual(f.read().count('\n.Bd '), len(displays(page)), page)

    def test_the_CI_files_are_YAML(self):
        try:
            import yaml
        except ImportError:
            self.skipTest('not installed: yaml')
        for d in displays('softhca-recipes.7'):
            if d.how in ('github', 'gitlab'):
                self.assertTrue(yaml.safe_load(d.text), d.name)

    def test_the_default_transport_would_have_failed(self):
        """Open MPI without its recipe's options: the reason for --require-traffic."""
        needs = ['mpirun.openmpi', 'mpicc.openmpi', 'ompi-c.pc']
        if any(map(missing, needs)):
            self.skipTest('not installed: Open MPI and its headers')
        ring = [d for d in displays('softhca-recipes.7') if d.words == ['ring.c']][0]
        with open(os.path.join(self.work, 'ring.c'), 'w', encoding='utf-8') as f:
            f.write(ring.text)
        self.env.update(OMPI_ALLOW_RUN_AS_ROOT='1', OMPI_ALLOW_RUN_AS_ROOT_CONFIRM='1')
        r = subprocess.run('mpicc.openmpi -o ring ring.c && softhca run --require-traffic -- mpirun.openmpi '
                           '--oversubscribe --mca pml ob1 --mca btl self,vader -n 2 ./ring', shell=True,
                           cwd=self.work, env=self.env, capture_output=True, errors='replace', timeout=TIMEOUT)
        self.assertEqual(r.returncode, 3, r)


def add_recipes():
    for page in PAGES:
        files = []
        all_ = displays(page)
        for i, d in enumerate(all_):
            shows = all_[i + 1] if i + 1 < len(all_) and all_[i + 1].how == 'shows' else None
            if d.how == 'shows':
                continue
            if d.how == 'file':
                files.append(d)
                continue
            name = 'test_' + re.sub(r'\W+', '_', f'{page}_{i}_{d.how}_{d.words[0]}')
            setattr(Recipes, name, lambda self, p=page, d=d, f=tuple(files), s=shows: self.recipe(p, d, f, s))


add_recipes()

if __name__ == '__main__':
    unittest.main(verbosity=2)
