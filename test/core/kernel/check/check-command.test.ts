import { join } from 'node:path';
import test from 'ava';
import { runCheck } from '../../../../core/tools/check.js';
import type { Io } from '../../../../core/program/io.js';
import { packageRoot } from '../../../../core/kernel/options/index.js';

const five = join(packageRoot(), 'test', 'data', 'pipelines', 'five.yaml');
const shipped = join(packageRoot(), 'pipelines');
const docs = join(packageRoot(), 'docs', 'pipeline.md');

async function run(
  args: readonly string[],
  change: Partial<Io> = {},
): Promise<{ readonly status: number; readonly out: string; readonly err: string }> {
  const texts = { out: '', err: '' };
  const io: Io = {
    out: (text) => void (texts.out += text),
    err: (text) => void (texts.err += text),
    env: {},
    ...change,
  };
  return { status: await runCheck(args, io), ...texts };
}

test('every shipped pipeline and the page about pipelines are clean: status 0 and nothing on stdout', async (t) => {
  const { status, out, err } = await run([shipped, docs]);
  t.is(out, '');
  t.is(status, 0);
  t.is(err, '6 files checked, no findings\n');
});

test('findings: status 1, on stdout, with a count on stderr; the same bytes every time', async (t) => {
  const first = await run([five]);
  t.is(first.status, 1);
  t.true(first.out.includes(`${five}:9:7: error R007`));
  t.is(first.err, '1 file checked, 5 findings\n');
  t.deepEqual(await run([five]), first);
});

test('the format is chosen with one dash or two, with = or without', async (t) => {
  for (const args of [['--format=json'], ['-format=json'], ['--format', 'json'], ['-format', 'json']]) {
    const { status, out, err } = await run([...args, five]);
    t.is(status, 1);
    t.is(err, '');
    t.is((JSON.parse(out) as { findings: unknown[] }).findings.length, 5);
  }
});

test('colours on a terminal only, and not against NO_COLOR', async (t) => {
  t.false((await run([five])).out.includes('\u001b['));
  t.true((await run([five], { isTerminal: true })).out.includes('\u001b['));
  t.false((await run([five], { isTerminal: true, env: { NO_COLOR: '1' } })).out.includes('\u001b['));
});

test('variables of the environment count', async (t) => {
  const { status, out } = await run([join(shipped, 'minimal.yaml')], { env: { BACKEND_URL: 'nonsense' } });
  t.is(status, 1);
  t.true(out.includes('R008'));
});

const wrong: readonly (readonly [title: string, args: readonly string[], says: RegExp])[] = [
  ['no file', [], /name a file or a directory/],
  ['an unknown option', ['--fromat=json', five], /--fromat/],
  ['an unknown format', ['--format=xml', five], /must be one of text, json, github, sarif, not "xml"/],
  ['a file that is not there', ['nowhere.yaml'], /nowhere\.yaml: there is no such file/],
  ['an option without its value', [five, '--format'], /format/],
];
for (const [title, args, says] of wrong) {
  test(`wrong usage gives status 2 and nothing on stdout: ${title}`, async (t) => {
    const { status, out, err } = await run(args);
    t.is(status, 2);
    t.is(out, '');
    t.regex(err, says);
  });
}

test('help is shown for every spelling', async (t) => {
  for (const flag of ['--help', '-help', '-h']) {
    const { status, out } = await run([flag]);
    t.is(status, 0);
    t.true(out.startsWith('Usage: ref-proxy check'));
  }
});
