import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import test from 'ava';
import { UsageError } from '../../../../core/kernel/options/index.js';
import { checkFiles } from '../../../../core/kernel/check/index.js';
import type { Finding } from '../../../../core/kernel/pipeline/types.js';
import { fakeBuiltIns, minimalStages, pipelineOf } from './fake-built-ins.js';

function folderWith(files: Readonly<Record<string, string | Buffer>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'ref-proxy-check-'));
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
  return folder;
}

const check = (...paths: string[]): Promise<Finding[]> =>
  checkFiles(paths, { sources: { flags: new Map(), env: {} }, builtIns: fakeBuiltIns });

const found = (folder: string, findings: readonly Finding[]): readonly string[] =>
  findings.map(({ at, rule }) => `${at.file.slice(folder.length + 1)}:${at.line}:${at.column} ${rule}`);

const whole = pipelineOf(minimalStages);
const broken = pipelineOf(['tenanci', ...minimalStages]);

test('a directory is searched for pipelines and Markdown; findings are sorted by file, whatever the order of the paths', async (t) => {
  const folder = folderWith({
    'b/site.yaml': broken,
    'a.yml': broken,
    'good.yaml': whole,
    'tenants.yaml': 'team-a: {account_id: 1}\n',
    'read.md': '# x\n\n```yaml\n' + broken + '```\n',
    'node_modules/x/site.yaml': broken,
    '.hidden/site.yaml': broken,
    'note.txt': broken,
  });
  const expected = ['a.yml:3:10 R020', 'b/site.yaml:3:10 R020', 'read.md:6:10 R020'];
  t.deepEqual(found(folder, await check(folder)), expected);
  t.deepEqual(
    found(folder, await check(join(folder, 'read.md'), join(folder, 'b'), join(folder, 'a.yml'), folder)),
    expected,
  );
});

test('a file that is named is checked whatever it looks like', async (t) => {
  const folder = folderWith({ 'tenants.yaml': 'team-a: {account_id: 1}\n' });
  const findings = await check(join(folder, 'tenants.yaml'));
  t.deepEqual(
    findings.map(({ rule }) => rule),
    ['R006', 'R006', 'R006', 'R006'],
  );
});

test('blocks of Markdown: positions in the file, fragments, blocks that are wrong on purpose, blocks of other things', async (t) => {
  const lines = [
    '# Pipelines', //                        1
    '',
    '1. In a list:',
    '',
    '   ```yaml', //                         5
    ...broken.split('\n').map((line) => `   ${line}`.trimEnd()),
    '   ```',
    '',
    '~~~yml fragment', //                    16 and on
    'stages:',
    '  - use: guard',
    '    with: {brust: 1}',
    '~~~',
    '```yaml no-check',
    'stages: [wrong]',
    '```',
    '```yaml',
    'apiVersion: 1',
    'datasources: []',
    '```',
    '```text',
    'stages: [wrong]',
    '```',
    '````yaml pipeline',
    '```',
    'version: 1',
    '````',
  ];
  const folder = folderWith({ 'read.md': lines.join('\n') });
  const at = (line: string): number => lines.indexOf(line) + 1;
  const result = found(folder, await check(folder));
  t.deepEqual(result.slice(0, 2), [`read.md:8:13 R020`, `read.md:${at('    with: {brust: 1}')}:12 R007`]);
  t.is(result.length, 3);
  t.regex(result[2] ?? '', new RegExp(`^read\\.md:${at('````yaml pipeline') + 1}:\\d+ R001$`));
});

test('what a Markdown file shows is not looked for on this machine', async (t) => {
  const folder = folderWith({ 'read.md': '```yaml\n' + whole + '```\n', 'site.yaml': whole });
  const no = (): Promise<string> => Promise.resolve('no');
  const findings = await checkFiles([folder], {
    sources: { flags: new Map(), env: {} },
    builtIns: fakeBuiltIns,
    surroundings: {
      canRead: no,
      canWrite: no,
      canListen: no,
      canReach: no,
    },
  });
  t.deepEqual([...new Set(findings.map(({ at }) => at.file))], [join(folder, 'site.yaml')]);
});

test('a block whose fence is never closed reaches to the end of the file', async (t) => {
  const folder = folderWith({ 'read.md': '```yaml\n' + broken });
  t.deepEqual(found(folder, await check(folder)), ['read.md:4:10 R020']);
});

test('a file that is no text is a finding', async (t) => {
  const folder = folderWith({ 'image.yaml': Buffer.from([0xff, 0xfe, 0x00, 0x80]) });
  const [finding] = await check(join(folder, 'image.yaml'));
  t.like(finding, { rule: 'R001', message: 'the file is not UTF-8 text' });
});

test('a path that is not there is wrong usage, and all such paths are named', async (t) => {
  const folder = folderWith({});
  const error = await t.throwsAsync(check(join(folder, 'x'), join(folder, 'y')), { instanceOf: UsageError });
  t.deepEqual(error.problems, [`${folder}/x: there is no such file`, `${folder}/y: there is no such file`]);
});

test('files with Windows line ends give the same places', async (t) => {
  const folder = folderWith({ 'a.yaml': broken.replaceAll('\n', '\r\n') });
  const [finding] = await check(folder);
  t.like(finding, { rule: 'R020', at: { line: 3, column: 10, length: 7 } });
});
