import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
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

const root = packageRoot();

async function run(...args: readonly string[]): Promise<Told> {
  let [out, err] = ['', ''];
  const io = { out: (text: string) => (out += text), err: (text: string) => (err += text), env: {} };
  return { status: await runProgram(['test', ...args], io), out, err };
}

async function fileOf(t: ExecutionContext, text: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'ref-proxy-'));
  t.teardown(() => rm(folder, { recursive: true }));
  const file = join(folder, 'site.test.yaml');
  await writeFile(file, text);
  return file;
}

/** A file with one test of the minimal pipeline, with this `expect` and these backend lines. */
function testOf(expect: string, backend = '    lines: [{ labels: { app: shop }, line: sold }]'): string {
  return `pipeline: ${join(root, 'pipelines/minimal.yaml')}
tests:
  - name: one
    request: { path: /loki/api/v1/labels }
${backend}
    expect:
${expect}
`;
}

test.serial('the examples of pipeline tests pass', async (t) => {
  const { status, out, err } = await run(join(root, 'examples'));
  t.is(status, 0, out);
  t.regex(err, /^(\d+) of \1 tests passed\n$/);
  const files = (await readdir(join(root, 'examples/pipeline-tests'))).filter((name) =>
    name.endsWith('.test.yaml'),
  );
  t.true(files.length >= 10);
});

test.serial('the documentation of pipeline tests shows every example as it is', async (t) => {
  const docs = await readFile(join(root, 'docs/pipeline-tests.md'), 'utf8');
  for (const name of await readdir(join(root, 'examples/pipeline-tests'))) {
    if (!name.endsWith('.test.yaml')) continue;
    const lines = (await readFile(join(root, 'examples/pipeline-tests', name), 'utf8')).split('\n');
    const shown = lines.filter((line) => !line.startsWith('#')).join('\n');
    t.true(docs.includes(`\n${shown}\`\`\`\n`), name);
  }
});

const faulty: readonly (readonly [expect: string, line: number, column: number, message: RegExp])[] = [
  ['      status: 404', 7, 15, /status: expected 404, got 200/],
  ['      headers: { X-None: 1 }', 7, 18, /header X-None is not there/],
  ['      headers: { Content-Type: null }', 7, 18, /header Content-Type is there/],
  ['      answer: { status: success, data: [app] }', 7, 40, /data: 1 item expected, there are 2/],
  ['      answer: { status: success }', 7, 15, /the answer also has data/],
  ['      answer: { statsu: success }', 7, 17, /statsu is not there/],
  ['      answerAt: { "data[2]": x }', 7, 19, /data has 2 items/],
  ['      answerAt: { data.length: "2" }', 7, 32, /expected "2", got 2/],
  ['      answerAt:\n        data[0]: env', 8, 18, /data\[0\]: expected "env", got "app"/],
  ['      bodyContains: env', 7, 21, /does not contain "env"/],
  ['      stages: [tenancy, guard]', 7, 25, /passed "translate" here, not "guard"/],
  ['      stages: [tenancy]', 7, 15, /also passed translate/],
  ['      calls: []', 7, 14, /the backend also got \/select\/logsql\/stream_field_names query=\*/],
  [
    '      someCalls:\n        - path: /select/logsql/stream_field_names\n          logsql: "{}"',
    9,
    19,
    /LogsQL: expected "{}", got "\*"/,
  ],
  ['      someCalls: [{ path: /none }]', 7, 19, /the backend did not get this call/],
  ['      log: [{ body: request, http.response.status_code: 500 }]', 7, 57, /expected 500, got 200/],
  ['      log: [{ body: gone }]', 7, 13, /no such record/],
  ['      stauts: 200', 7, 7, /"stauts" is not known/],
];

for (const [expect, line, column, message] of faulty)
  test.serial(`a fault of a pipeline test is told at its place: ${expect.trim()}`, async (t) => {
    const file = await fileOf(t, testOf(expect));
    const { status, out } = await run(file);
    t.is(status, 1);
    t.true(out.includes(`${file}:${line}:${column}: error test `), out);
    t.regex(out, message);
  });

test.serial('misspelt keys of a file of pipeline tests are told with what was meant', async (t) => {
  const { status, out } = await run(await fileOf(t, testOf('      stauts: 200')));
  t.is(status, 1);
  t.regex(out, /did you mean "status"\?/);
});

const unfit: readonly (readonly [text: string, message: RegExp])[] = [
  ['pipeline: x.yaml\ntests: []\n', /the file has no tests/],
  ['tests: [', /error test /],
  [testOf('      status: 200').replace('name: one', 'name: ""'), /"name" must not be empty/],
  [testOf('      {}').replace('expect:\n      {}', 'expect: {}'), /nothing is expected/],
  [
    testOf('      status: 200').replace('    expect:\n      status: 200\n', ''),
    /a test has "request" and "expect", or "steps"/,
  ],
  [
    `${testOf('      status: 200')}${testOf('      status: 200').split('tests:\n')[1] ?? ''}`,
    /a test with this name is also on line 3/,
  ],
  [testOf('      status: 200').replace('minimal.yaml', 'none.yaml'), /none\.yaml:1:1: error R001/],
  [
    testOf('      status: 500', '    backend: []'),
    /the test has no answer for \/select\/logsql\/stream_field_names query=\*/,
  ],
  [
    testOf(
      '      status: 200',
      '    backend: [{ path: /select/logsql/stream_field_names, values: {} }, { path: /none, body: x }]',
    ),
    /no call used this answer/,
  ],
];

for (const [index, [text, message]] of unfit.entries())
  test.serial(`a file of pipeline tests that cannot be used says why (${index})`, async (t) => {
    const { status, out } = await run(await fileOf(t, text));
    t.is(status, 1);
    t.regex(out, message);
  });

const two = `${testOf('      status: 200')}  - name: two
    request: { path: /loki/api/v1/labels }
    expect: { status: 404 }
`;

test.serial('one pipeline test can be run by its name', async (t) => {
  const file = await fileOf(t, two);
  const { status, err } = await run(file, '-name=one');
  t.deepEqual({ status, err }, { status: 0, err: '1 of 1 test passed\n' });
  t.deepEqual(await run(file, '-name=tow'), {
    status: 2,
    out: '',
    err: 'ref-proxy test: there is no test "tow", did you mean "two"?\n',
  });
});

test.serial('pipeline tests report for JUnit, GitHub and programs', async (t) => {
  const file = await fileOf(t, two.replace('name: two', "name: 'two <&>'"));
  const output = `${file}.xml`;
  const { status, out } = await run(file, '-format=junit', `-output=${output}`);
  t.is(status, 1);
  t.regex(out, /^pass /);
  const xml = await readFile(output, 'utf8');
  t.regex(xml, /<testsuite name="[^"]+" tests="2" failures="1" errors="0" time="\d+\.\d{3}">/);
  t.regex(xml, /<testcase name="one" classname="[^"]+" time="[^"]+"\/>/);
  t.regex(
    xml,
    /<testcase name="two &lt;&amp;&gt;"[^>]*>\n\s*<failure message="[^"]*status: expected 404, got 200/,
  );
  const github = (await run(file, '-format=github')).out;
  t.regex(
    github,
    /^::error file=[^,]+,line=10,col=23,endColumn=26,title=test[^:]*::status: expected 404, got 200\n$/,
  );
  const json = JSON.parse((await run(file, '-format=json')).out) as { readonly findings: readonly unknown[] };
  t.is(json.findings.length, 1);
});

test.serial('pipeline tests refuse a command line without files, and a folder without tests', async (t) => {
  t.is((await run()).status, 2);
  t.is((await run(join(root, 'schemas'))).status, 2);
  t.is((await run(join(root, 'examples'), '-format=tap')).status, 2);
});
