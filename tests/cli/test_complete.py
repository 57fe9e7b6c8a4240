#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Completion: what softhca offers against its own tables, and the scripts in the real shells."""
import fcntl
import os
import pty
import re
import shutil
import subprocess
import sys
import tempfile
import termios
import threading
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
from softhca import BUILD, SOFTHCA, TOP, Fabric, wait_for  # noqa: E402

SCRIPTS = os.path.join(TOP, 'completions')
# Kinds of values that no table has: numbers and free texts.
FREE = {'N', 'F', 'SERVER', 'OCTETS', 'BYTES', 'HOST=ADDR,...', 'WHAT...', 'SECONDS', 'EXPR', 'TEXT'}


def offered(*words, env=None):
    r = subprocess.run([SOFTHCA, '--complete', *words], env=env, capture_output=True, errors='replace')
    assert (r.returncode, r.stderr) == (0, ''), r
    return [line.split('\t')[0] for line in r.stdout.splitlines()]


def usage(*words):
    return subprocess.run([SOFTHCA, *words, '--help'], capture_output=True, errors='replace').stdout


def verbs():
    """A command that an option makes another one (world --all) is listed twice, and meant once."""
    return list(dict.fromkeys(re.findall(r'^  ([a-z]+) ', usage().split('\n\n  softhca help')[0], re.M)))


class Offers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.fab = Fabric('--hosts', '2', '--ports', '2')
        cls.fab.__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.fab.__exit__(None, None, None)

    def offered(self, *words):
        return offered(*words, env=self.fab.env)

    def test_every_command_and_option(self):
        self.assertEqual(self.offered(''), verbs() + ['help'])
        self.assertEqual(self.offered('help', ''), verbs())
        self.assertEqual(self.offered('-'), ['--help', '--version'])
        for v in verbs():
            listed = re.findall(r'^ +(?:-\w, )?(--[a-z-]+)', usage(v), re.M)
            self.assertEqual(sorted(self.offered(v, '-')), sorted(listed), v)
        listed = re.findall(r'^ +(?:-\w, )?(--[a-z-]+)', usage('world', '--all'), re.M)
        self.assertIn('--junit', listed)
        self.assertEqual(sorted(self.offered('world', '--all', '-')), sorted(listed))

    def test_values_of_every_option_are_known(self):
        """Values of every kind are offered, or the kind is in FREE."""
        for v in [*verbs(), 'world --all']:
            v, *mode = v.split()
            for option, optional, kind in re.findall(r'(--[a-z-]+)(\[?)=([^\s\]]+)', usage(v, *mode)):
                words = [f'{option}='] if optional else [option, '']
                if kind.split('[')[0] not in FREE:
                    self.assertTrue(self.offered(v, *mode, *words),
                                    f'{v} {option} {kind}: add the kind to kinds[] of src/cli/complete.c, or here')

    def test_every_option_is_in_a_page(self):
        """
        In the command's page, or in softhca(1) or softhca-run(1), which describe options of several
        commands.
        """
        for v in verbs():
            text = ''
            for page in (f'softhca-{v}.1', 'softhca.1', 'softhca-run.1'):
                path = os.path.join(TOP, 'doc', 'man', page)
                if os.path.exists(path):
                    with open(path, encoding='utf-8') as f:
                        text += f.read()
            documented = set(re.findall(r'(?:^\.It|,) Fl (?:\S , )?-([a-z-]+)', text, re.M))
            documented |= set(re.findall(r'^\.It Fl \w(?: \S+ \S+)? , -([a-z-]+)', text, re.M))
            missing = {o[2:] for o in self.offered(v, '--')} - documented - {'help'}
            self.assertEqual(missing, set(), v)

    def test_values(self):
        name = self.fab.name
        for words, want in ((['run', '--device', ''], ['cx6', 'cx7']),
                            (['run', '--dev=cx7', '--device=cx'], ['--device=cx6', '--device=cx7']),
                            (['run', '--fabric', ''], [name]),
                            (['topo', f'--fabric={name[:-1]}'], [f'--fabric={name}']),
                            (['down', ''], [name]), (['status', '-j', ''], [name]),
                            (['down', name, ''], []), (['up', ''], []),
                            (['run', '--fabric', name, '--host', ''], ['h1', 'h2']),
                            (['run', '--host', 'h'], ['h1', 'h2']),
                            (['run', '--fabric', 'nosuch', '--host', ''], []),
                            (['link', ''], ['mlx5_0']), (['link', 'mlx5_0', ''], ['1', '2']),
                            (['link', '--host', 'h2', 'mlx5_0', '1', ''], ['up', 'down']),
                            (['trace', '-e', 'fw,c'], ['fw,cqe', 'fw,cm', 'fw,check']),
                            (['trace', '-e', '!fw,doorb'], ['!fw,doorbell']),
                            (['trace', '-e', 'cmd=CREATE_QP,QUERY_VPORT'],
                             ['cmd=CREATE_QP,QUERY_VPORT_STATE', 'cmd=CREATE_QP,QUERY_VPORT_COUNTER']),
                            (['trace', '-e', 'cmd=!QP.CR'], ['cmd=!QP.CREATE']),
                            (['trace', '-jo', ''], [':files']), (['top', ''], [name]),
                            (['trace', '--pcap', ''], [':files']), (['top', '-o', 'de'], ['depth']),
                            (['run', '--trace=fw,doorb'], ['--trace=fw,doorbell']),
                            (['decode', '--out=RST2'], ['--out=RST2INIT_QP']),
                            (['console', '-s', ''], [':files']),
                            (['topo', 'fat'], ['fat-tree:', ':files'])):
            with self.subTest(words=words):
                self.assertEqual(self.offered(*words), want)

    def test_another_command_begins(self):
        for words, n in ((['run', ''], 1), (['run', '--', ''], 2), (['run', '-q', '--', 'ls', '-l', ''], 3),
                         (['run', '--hca', '2', 'ls', '--h'], 3), (['run', '--hca=2', 'ls', ''], 2),
                         (['trace', '-o', 'x', 'ls', ''], 3)):
            with self.subTest(words=words):
                self.assertEqual(self.offered(*words), [f':command {n}'])


class Shell:
    """An interactive shell on a terminal. Keys are typed ahead, and the line is then written to a file."""

    def __init__(self, argv, env):
        self.dir = tempfile.mkdtemp(prefix='softhca-shell-')
        self.out = os.path.join(self.dir, 'line')
        open(os.path.join(self.dir, 'softhca-file'), 'w').close()
        self.master, slave = pty.openpty()
        env = dict(env, HOME=self.dir, TERM='xterm', LINE=self.out, PS1='$ ',
                   XDG_CONFIG_HOME=self.dir, XDG_DATA_HOME=self.dir, SCRIPTS=SCRIPTS,
                   PATH=BUILD + ':' + os.environ['PATH'])
        self.proc = subprocess.Popen(argv, stdin=slave, stdout=slave, stderr=slave, env=env, cwd=self.dir,
                                     start_new_session=True,
                                     preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        os.close(slave)
        self.shown = b''
        threading.Thread(target=self.drain, daemon=True).start()

    def drain(self):
        try:
            while data := os.read(self.master, 4096):
                self.shown += data
        except OSError:
            pass  # the shell has closed the terminal

    def type(self, text):
        os.write(self.master, text.encode())

    def line(self, keys, done='\x18\x10'):
        """The command line after these keys; C-x C-p writes it, and empties it for the next."""
        if os.path.exists(self.out):
            os.unlink(self.out)
        self.type(keys + done)
        wait_for(lambda: os.path.exists(self.out) or self.proc.poll() is not None,
                 f'the line after {keys!r}')
        with open(self.out) as f:
            return f.read().rstrip('\n')

    def close(self):
        self.proc.kill()
        self.proc.wait()
        os.close(self.master)
        shutil.rmtree(self.dir)


class Shells(unittest.TestCase):
    """
    The same lines in each shell. A subclass says how its shell starts, and which keys insert every
    candidate.
    """
    program = None
    ALL = None  # the keys that insert every candidate
    START = None

    @classmethod
    def setUpClass(cls):
        if not cls.program or not shutil.which(cls.program):
            raise unittest.SkipTest(f'{cls.program or "a shell"} is not installed')
        cls.fab = Fabric('--hosts', '2')
        cls.fab.__enter__()
        cls.shell = Shell([cls.program, *cls.ARGS], cls.fab.env)
        cls.shell.line(''.join(line + '\n' for line in cls.START), 'touch $LINE\n')

    @classmethod
    def tearDownClass(cls):
        cls.shell.close()
        cls.fab.__exit__(None, None, None)

    def test_one_candidate(self):
        name = self.fab.name
        for typed, line in (('softhca stat', 'softhca status '),
                            ('softhca help expl', 'softhca help explain '),
                            ('softhca run --memlock enf', 'softhca run --memlock enforce '),
                            ('softhca run --memlock=enf', 'softhca run --memlock=enforce '),
                            ('softhca trace -e fw,doorb', 'softhca trace -e fw,doorbell '),
                            ('softhca trace -e cmd=CREATE_QP,RST2I', 'softhca trace -e cmd=CREATE_QP,RST2INIT_QP '),
                            ('softhca top ', f'softhca top {name} '),
                            ('softhca run --trace=fw,doorb', 'softhca run --trace=fw,doorbell '),
                            ('softhca run --topo to', 'softhca run --topo torus:'),
                            ('softhca run --topo=to', 'softhca run --topo=torus:'),
                            ('softhca run --doorb', 'softhca run --doorbell '),
                            ('softhca run --fabric ', f'softhca run --fabric {name} '),
                            (f'softhca run --fabric {name} --host h2', f'softhca run --fabric {name} --host h2 '),
                            ('softhca down ', f'softhca down {name} '),
                            ('softhca link ', 'softhca link mlx5_0 '),
                            ('softhca console -s softh', 'softhca console -s softhca-file '),
                            ('softhca run -- ibv_rc_ping', 'softhca run -- ibv_rc_pingpong '),
                            ('softhca run --hca 2 -- cat softh', 'softhca run --hca 2 -- cat softhca-file ')):
            with self.subTest(typed=typed):
                self.assertEqual(self.shell.line(typed + '\t'), line)

    def test_several_candidates(self):
        for typed, want in (('softhca ', verbs() + ['help']),
                            ('softhca run --', offered('run', '--')),
                            ('softhca run --host ', ['h1', 'h2']),
                            ('softhca run --device ', ['cx6', 'cx7']),
                            ('softhca link mlx5_0 1 ', ['up', 'down'])):
            with self.subTest(typed=typed):
                self.assertEqual(sorted(self.candidates(typed)), sorted(want))

    def candidates(self, typed):
        before = typed[:typed.rindex(' ')]
        return self.shell.line(typed + self.ALL)[len(before):].split()


class Bash(Shells):
    program = 'bash'
    ARGS = ['--norc', '--noprofile', '-i']
    ALL = '\x1b*'
    START = ['bind -x \'"\\C-x\\C-p": printf "%s" "$READLINE_LINE" >$LINE.new; READLINE_LINE=; mv $LINE.new $LINE\'',
             'source $SCRIPTS/softhca.bash']


class Zsh(Shells):
    program = 'zsh'
    ARGS = ['-f', '-i']
    ALL = '\x18\x01'
    START = ['fpath=($SCRIPTS $fpath); autoload -U compinit; compinit -u -D; unsetopt list_beep',
             'w() { print -rn -- "$BUFFER" >$LINE.new; BUFFER=; mv $LINE.new $LINE }; zle -N w; '
             "bindkey '^X^P' w",
             "zle -C all complete-word _generic; bindkey '^X^A' all; "
             "zstyle ':completion:all:*' completer _all_matches _complete; "
             "zstyle ':completion:all:*' insert true"]


class Fish(Shells):
    program = 'fish'
    ARGS = ['--no-config', '-i']
    START = ['source $SCRIPTS/softhca.fish', 'set fish_greeting; set fish_autosuggestion_enabled 0',
             'bind \\cx\\cp "commandline >$LINE.new; commandline \'\'; command mv $LINE.new $LINE"']

    def candidates(self, typed):
        r = subprocess.run(['fish', '--no-config', '-c', f'source {SCRIPTS}/softhca.fish; complete -C "{typed}"'],
                           env=dict(self.fab.env, PATH=BUILD + ':' + os.environ['PATH']),
                           capture_output=True, errors='replace')
        return [line.split('\t')[0] for line in r.stdout.splitlines()]


del Shells  # unittest must not run the base class

if __name__ == '__main__':
    unittest.main()
