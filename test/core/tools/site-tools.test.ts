import { mkdir, mkdtemp, readFile, realpath, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { checkDraft, checkFiles, draftFile, draftText, rules } from '../../../core/tools/check-library.js';
import { packageJson, packageRoot } from '../../../core/kernel/options/index.js';
import { runProgram } from '../../../core/program/program.js';

interface Told {
  readonly status: number;
  readonly out: string;
  readonly err: string;
}

const root = packageRoot();

async function run(...args: readonly string[]): Promise<Told> {
  let [out, err] = ['', ''];
  const io = { out: (text: string) => (out += text), err: (text: string) => (err += text), env: {} };
  return { status: await runProgram(args, io), out, err };
}

async function folderOf(t: ExecutionContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'ref-proxy-'));
  t.teardown(() => rm(folder, { recursive: true }));
  return folder;
}

for (const kind of ['stage', 'endpoint', 'service'])
  for (const language of ['ts', 'js'])
    test.serial(`a new ${kind} in ${language} has all that it needs`, async (t) => {
      const folder = join(await folderOf(t), 'mine');
      const { status, out } = await run(
        'new',
        'plugin',
        '@site/mine',
        `-kind=${kind}`,
        `-language=${language}`,
        `-folder=${folder}`,
      );
      t.is(status, 0);
      t.regex(out, /npm install && npm test/);
      const manifest = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as Readonly<
        Record<string, unknown>
      >;
      t.is(manifest['name'], '@site/mine');
      // Nothing is installed by a package name that somebody else may own; if this package cannot be found, it is linked.
      const { name } = packageJson();
      t.deepEqual(manifest['peerDependenciesMeta'], { [name]: { optional: true } });
      const { [name]: link = '' } = manifest['devDependencies'] as Readonly<Record<string, string>>;
      t.is(await realpath(join(folder, link.replace(/^file:/, ''))), await realpath(root));
      const code = await readFile(join(folder, `index.${language}`), 'utf8');
      t.regex(code, /name: 'mine'/);
      t.is((await run('fmt', '-check', folder)).status, 0);
      const again = await run('new', 'plugin', 'mine', `-folder=${folder}`);
      t.deepEqual(again, { status: 1, out: '', err: `ref-proxy new: ${folder} is not empty\n` });
    });

test.serial('a new plugin below a folder in which ref-proxy is installed needs no link to it', async (t) => {
  const site = await folderOf(t);
  await mkdir(join(site, 'node_modules'));
  await symlink(root, join(site, 'node_modules', packageJson().name));
  const folder = join(site, 'plugins', 'mine');
  t.is((await run('new', 'plugin', 'mine', '-language=js', `-folder=${folder}`)).status, 0);
  const manifest = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as object;
  t.false('devDependencies' in manifest);
});

test.serial('a new plugin has a name that is free and well formed, and a known kind', async (t) => {
  const told = async (...args: readonly string[]): Promise<string> => {
    const { status, err } = await run('new', ...args);
    t.is(status, 2);
    return err;
  };
  t.regex(await told('plugin', 'tier0'), /"tier0" is a built-in plugin/);
  t.regex(await told('plugin', 'Bad Name'), /is not a valid name/);
  t.regex(await told('plugin', 'mine', '-kind=stge'), /did you mean stage\?/);
  t.regex(await told('plugn', 'mine'), /new plugin NAME/);
  t.regex(await told('plugin'), /name one plugin/);
});

const onlyProd = `-pipeline=${join(root, 'examples/only-prod/pipeline.yaml')}`;

test.serial('explain runs the stages of a site and shows what the backend gets', async (t) => {
  const { status, out, err } = await run('explain', onlyProd, '{app="x"}');
  t.is(err, '');
  t.is(status, 0);
  t.true(out.startsWith('asked   {app="x"}\nstages  only-prod\n\nquery   {app="x", env="production"}\n'));
  t.regex(out, /^logsql {2}\{app="x",env="production"\}$/m);
  const json = JSON.parse((await run('explain', '-json', onlyProd, '{app="x"}')).out) as Readonly<
    Record<string, unknown>
  >;
  t.deepEqual(json['site'], { asked: '{app="x"}', stages: ['only-prod'], behind: [] });
  t.is(json['query'], '{app="x", env="production"}');
});

test.serial('explain tells what a client gets where the stages of a site let nothing through', async (t) => {
  const { status, out } = await run('explain', onlyProd, '-auth.enabled', '{app="x"}');
  t.is(status, 1);
  t.regex(out, /^answer {2}401 /m);
  t.is((await run('explain', onlyProd, '-auth.enabled', '-org-id=7', '{app="x"}')).status, 0);
});

test.serial('the checker as a library gives drafts with positions and findings as data', async (t) => {
  const draft = await draftText(
    'version: 1\nstages:\n  - use: tenancy\n  - use: gaurd\nendpoints: []\n',
    'made-up.yaml',
  );
  t.deepEqual(
    draft.entries.map(({ use, at }) => [use, at.line]),
    [
      ['tenancy', 3],
      ['gaurd', 4],
    ],
  );
  const findings = await checkDraft(draft);
  t.like(
    findings.find(({ rule }) => rule === 'R020'),
    { at: { file: 'made-up.yaml', line: 4, column: 10 }, severity: 'error', fix: 'did you mean "guard"?' },
  );
  const described = await rules();
  t.true(findings.every(({ rule }) => described.some(({ id }) => id === rule)));
  t.deepEqual(await checkFiles([join(root, 'pipelines')]), []);
  const file = await draftFile(join(root, 'pipelines/none.yaml'));
  t.true('findings' in file && file.findings[0]?.rule === 'R001');
});

test.serial(
  'the checker as a library takes flags and environment as they are given, not those of the process',
  async (t) => {
    const text = 'version: 1\nstages:\n  - use: backend\n    with:\n      url: ${BACKEND}\nendpoints: []\n';
    const rulesOf = async (env: Readonly<Record<string, string>>): Promise<readonly string[]> =>
      (await checkDraft(await draftText(text, 'a.yaml', { env }))).map(({ rule }) => rule);
    t.true((await rulesOf({})).includes('R005'));
    t.false((await rulesOf({ BACKEND: 'http://vl:9428' })).includes('R005'));
  },
);
