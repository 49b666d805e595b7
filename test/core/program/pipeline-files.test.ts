import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { packageRoot } from '../../../core/kernel/options/index.js';
import { runProgram } from '../../../core/program/program.js';

interface Told {
  readonly status: number;
  readonly out: string;
  readonly err: string;
}

async function run(...args: readonly string[]): Promise<Told> {
  let [out, err] = ['', ''];
  const io = { out: (text: string) => (out += text), err: (text: string) => (err += text), env: {} };
  return { status: await runProgram(args, io), out, err };
}

async function fileOf(t: ExecutionContext, text: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'ref-proxy-'));
  t.teardown(() => rm(folder, { recursive: true }));
  const file = join(folder, 'site.yaml');
  await writeFile(file, text);
  return file;
}

const messy = `version: 1
endpoints:
- use: reference-api
stages:
- use: tenancy   # first
- use: guard
  with: {rateLimitBurst: 50, rateLimitPerSecond: 5}
- use: translate
- use: backend
  with: {url: "http://u:secret@vl:9428", basicAuth: "u:other"}
- use: response-shape
`;

test.serial('fmt -check names a file that is not formatted and leaves it, fmt writes it once', async (t) => {
  const file = await fileOf(t, messy);
  t.deepEqual(await run('fmt', '-check', file), { status: 1, out: `${file} is not formatted\n`, err: '' });
  t.is(await readFile(file, 'utf8'), messy);
  t.deepEqual(await run('fmt', file), { status: 0, out: `${file}\n`, err: '' });
  t.regex(await readFile(file, 'utf8'), /^version: 1\nstages:\n {2}- use: tenancy # first\n/);
  t.deepEqual(await run('fmt', file), { status: 0, out: '', err: '' });
  t.is((await run('fmt', '-check', file)).status, 0);
});

test.serial('fmt leaves a file that is no YAML alone and says where', async (t) => {
  const file = await fileOf(t, 'version: 1\nstages:\n  - use: [\n');
  const { status, err } = await run('fmt', file);
  t.is(status, 1);
  t.true(err.startsWith(`${file}:`));
  t.regex(err, /error R001/);
  t.is(await readFile(file, 'utf8'), 'version: 1\nstages:\n  - use: [\n');
});

test.serial('the checker finds nothing in what ships, not even warnings', async (t) => {
  const shipped = JSON.parse(await readFile(join(packageRoot(), 'package.json'), 'utf8')) as {
    readonly files: readonly string[];
  };
  const sources = shipped.files.filter((name) => !name.startsWith('!') && !name.startsWith('dist/'));
  t.true(sources.includes('examples'));
  const paths = [...sources, 'plugins', 'README.md'].map((name) => join(packageRoot(), name));
  const { status, out, err } = await run('check', '--strict', ...paths);
  t.regex(out + err, /files checked, no findings\n$/);
  t.is(status, 0);
});

test.serial('the shipped pipelines are formatted', async (t) => {
  const folders = ['pipelines', 'examples'].map((name) => join(packageRoot(), name));
  t.deepEqual(await run('fmt', '-check', ...folders), { status: 0, out: '', err: '' });
});

test.serial('graph shows stages with their slots and changed options, and no secret', async (t) => {
  const file = await fileOf(t, messy);
  const { status, out } = await run('graph', `-pipeline=${file}`, '-max-concurrent=7');
  t.is(status, 0);
  t.regex(out, /1 {2}tenancy +gives tenant/);
  t.regex(out, /2 {2}guard +needs tenant \(1\); gives permit\n/);
  t.regex(out, /│ +rateLimitBurst: 50\n/);
  t.regex(out, /│ +maxConcurrent: 7\n/);
  t.regex(out, /│ +basicAuth: \(hidden\)\n/);
  t.regex(out, /5 {2}response-shape +needs tenant \(1\), plan \(3\), upstream \(4\); answers\n/);
  for (const format of ['text', 'mermaid', 'svg']) {
    const drawn = (await run('graph', `-pipeline=${file}`, `-format=${format}`)).out;
    t.true(drawn.includes('response-shape'), format);
    t.false(/secret|other/.test(drawn), format);
  }
});

test.serial('graph as Mermaid links stages in order and slots beside', async (t) => {
  const file = await fileOf(t, messy);
  const { out } = await run('graph', `-pipeline=${file}`, '-format=mermaid');
  t.regex(out, /^flowchart TD\n/);
  t.regex(out, /^ {2}requests --> s1\n {2}s1 --> s2$/m);
  t.regex(out, /^ {2}s3 -\. "plan" \.-> s5$/m);
});

test.serial('graph as SVG is well formed whatever the options hold', async (t) => {
  const file = await fileOf(t, messy.replace('"http://u:secret@vl:9428"', '"http://vl:9428/?a=<&b"'));
  const output = `${file}.svg`;
  t.is((await run('graph', `-pipeline=${file}`, '-format=svg', `-output=${output}`)).status, 0);
  const svg = await readFile(output, 'utf8');
  t.regex(svg, /^<svg [^>]+>/);
  t.true(svg.includes('a=&lt;&amp;b'));
  t.false(/NaN|undefined/.test(svg));
});

test.serial('graph refuses an unknown form and a stray word', async (t) => {
  t.deepEqual(await run('graph', '-format=png'), {
    status: 2,
    out: '',
    err: 'ref-proxy graph: -format must be one of text, mermaid, svg, not "png"\n',
  });
  t.is((await run('graph', 'site.yaml')).status, 2);
});

test.serial('the version is that of the package', async (t) => {
  const manifest: unknown = JSON.parse(await readFile(join(packageRoot(), 'package.json'), 'utf8'));
  const version = Reflect.get(Object(manifest), 'version') as string;
  for (const flag of ['--version', '-version', 'version'])
    t.deepEqual(await run(flag), { status: 0, out: `ref-proxy ${version}\n`, err: '' });
});
