import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { checkFiles } from '../../../../core/kernel/check/index.js';
import { loadPipeline } from '../../../../core/kernel/pipeline/index.js';
import { runProgram } from '../../../../core/program/program.js';
import { withProxyFile } from '../../../../core/testing/index.js';

const sources = { flags: new Map<string, string>(), env: {} };

const main = `version: 1
stages:
  - include: ./parts/front.yaml
  - use: translate
  - include: ./parts/back.yaml#back
endpoints:
  - include: ./parts/back.yaml#api
`;
const parts = {
  'parts/front.yaml': `# who may ask
- use: tenancy
- use: guard # first
  with:
    rateLimitPerSecond: \${RATE:-5}
- use: ./own/stage.js
`,
  'parts/back.yaml': `fragments:
  back:
    - use: backend
    - use: response-shape
  api:
    - use: reference-api
    - include: '#status'
  status:
    - use: status
`.replace("'#status'", './back.yaml#status'),
  'parts/own/stage.js': `export default { kind: 'stage', name: 'own', summary: 'x', needs: [], gives: [], rest: 'once', create: () => ({ handle: (e, r) => r(e) }) };\n`,
  'package.json': '{"type":"module"}',
};

async function folderOf(t: ExecutionContext, files: Readonly<Record<string, string>>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'ref-proxy-'));
  t.teardown(() => rm(folder, { recursive: true }));
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), text);
  }
  return folder;
}

/** Findings as `file:line:column rule message`, with paths relative to the folder. */
async function findingsOf(
  t: ExecutionContext,
  files: Readonly<Record<string, string>>,
): Promise<readonly string[]> {
  const folder = await folderOf(t, files);
  const findings = await checkFiles([join(folder, 'site.yaml')], { sources });
  return findings.map(({ at, rule, message, fix }) =>
    `${at.file}:${at.line}:${at.column} ${rule} ${message}${fix === undefined ? '' : `; ${fix}`}`.replaceAll(
      `${folder}/`,
      '',
    ),
  );
}

test('a pipeline of several files is one, with plugins found from the files that name them', async (t) => {
  const folder = await folderOf(t, { ...parts, 'site.yaml': main });
  const { pipeline, findings } = await loadPipeline(join(folder, 'site.yaml'), sources);
  t.deepEqual(findings, []);
  t.deepEqual(
    pipeline?.stages.map(({ id }) => id),
    ['tenancy', 'guard', 'own', 'translate', 'backend', 'response-shape'],
  );
  t.deepEqual(
    pipeline?.endpoints.map(({ id }) => id),
    ['reference-api', 'status'],
  );
  await withProxyFile(join(folder, 'site.yaml'), async ({ url }) => {
    t.is((await fetch(`${url}/ready`)).status, 503);
    t.is((await fetch(`${url}/livez`)).status, 200);
  });
});

test('findings point into the file that is included', async (t) => {
  const front = parts['parts/front.yaml']
    .replace('rateLimitPerSecond', 'rateLimitPerSecnod')
    .replace('use: tenancy', 'usse: tenancy');
  t.deepEqual(await findingsOf(t, { ...parts, 'site.yaml': main, 'parts/front.yaml': front }), [
    'parts/front.yaml:2:3 R006 key "usse" is not known; did you mean "use"?',
    'parts/front.yaml:5:5 R007 option "rateLimitPerSecnod" is not known to plugin "guard"; did you mean "rateLimitPerSecond"?',
  ]);
});

const wrong: readonly (readonly [include: string, finding: string])[] = [
  [
    './none.yaml',
    'site.yaml:3:14 R010 none.yaml cannot be read: there is no such file; paths are relative to the directory of this file',
  ],
  [
    './parts/back.yaml',
    'site.yaml:3:14 R010 parts/back.yaml has fragments, and the include does not name one; append one of #back, #api, #status',
  ],
  [
    './parts/back.yaml#bakc',
    'site.yaml:3:14 R010 parts/back.yaml has no fragment "bakc"; did you mean "back"?',
  ],
  [
    './parts/front.yaml#x',
    'site.yaml:3:14 R010 parts/front.yaml is a single list and has no fragment "x"; write include: ./parts/front.yaml',
  ],
  ['./site.yaml', 'site.yaml:3:14 R010 site.yaml includes itself: site.yaml > site.yaml'],
  ['./loop.yaml', 'loop.yaml:1:12 R010 loop.yaml includes itself: site.yaml > loop.yaml > loop.yaml'],
  ['./text.yaml', 'text.yaml:1:1 R006 an included file must be a list, not "stages"'],
  ['7', 'site.yaml:3:14 R006 "include" must be a text, not 7; write "7" in quotes'],
  [
    './parts/front.yaml\n    id: x',
    'site.yaml:4:5 R010 "id" is not allowed next to "include"; move it to the included file',
  ],
  ['./broken.yaml', 'broken.yaml:1:1 R001 '],
];

for (const [include, finding] of wrong)
  test(`an include that cannot work is told where: ${include.replace(/\s+/g, ' ')}`, async (t) => {
    const site = `version: 1\nstages:\n  - include: ${include}\n  - use: tenancy\n  - use: translate\n  - use: backend\n  - use: response-shape\nendpoints:\n  - use: status\n`;
    const files = {
      ...parts,
      'loop.yaml': '- include: ./loop.yaml\n',
      'text.yaml': 'stages\n',
      'broken.yaml': '"\n',
    };
    const findings = await findingsOf(t, { ...files, 'site.yaml': site });
    t.is(findings.length, 1, findings.join('\n'));
    t.true(findings[0]?.startsWith(finding.slice(0, finding.indexOf(' '))), findings[0]);
    if (!include.includes('broken')) t.is(findings[0], finding);
  });

test('files that include each other many times and deeply end soon, with a finding', async (t) => {
  const many = Object.fromEntries(
    Array.from({ length: 7 }, (_, depth) => [
      `f${depth}.yaml`,
      (depth === 6 ? '- use: status\n' : `- include: ./f${depth + 1}.yaml\n`).repeat(20),
    ]),
  );
  const site = 'version: 1\nstages:\n  - include: ./f0.yaml\nendpoints:\n  - use: status\n';
  const wide = await findingsOf(t, { ...many, 'site.yaml': site });
  t.true(wide.some((each) => each.includes('R010 there are more than 1000 entries')));
  const deep = Object.fromEntries(
    Array.from({ length: 12 }, (_, depth) => [`f${depth}.yaml`, `- include: ./f${depth + 1}.yaml\n`]),
  );
  const told = await findingsOf(t, { ...deep, 'site.yaml': site });
  t.true(
    told.some((each) => each.startsWith('f7.yaml:1:12 R010 includes are nested more than 8 levels deep')),
    told.join('\n'),
  );
});

test('check --print shows the one pipeline, which passes the checker and runs the same stages', async (t) => {
  const folder = await folderOf(t, { ...parts, 'site.yaml': main });
  let out = '';
  const io = { out: (text: string) => (out += text), err: () => undefined, env: {} };
  t.is(await runProgram(['check', '--print', join(folder, 'site.yaml')], io), 0);
  t.is(
    out.replaceAll(`${folder}/`, ''),
    `version: 1
stages:
  # from parts/front.yaml
  # who may ask
  - use: tenancy
  - use: guard # first
    with:
      rateLimitPerSecond: \${RATE:-5}
  - use: ./parts/own/stage.js
  - use: translate

  # from parts/back.yaml#back
  - use: backend
  - use: response-shape
endpoints:
  # from parts/back.yaml#api
  - use: reference-api

  # from parts/back.yaml#status
  - use: status
`,
  );
  await writeFile(join(folder, 'whole.yaml'), out);
  const [whole, made] = await Promise.all(
    ['whole.yaml', 'site.yaml'].map((name) => loadPipeline(join(folder, name), sources)),
  );
  t.deepEqual(whole?.findings, []);
  const shown = ({ id, options }: { readonly id: string; readonly options: unknown }): unknown => [
    id,
    options,
  ];
  t.deepEqual(whole?.pipeline?.stages.map(shown), made?.pipeline?.stages.map(shown));
});

test('aliases of a file that is included are written out when it is printed', async (t) => {
  const folder = await folderOf(t, {
    'site.yaml':
      'version: 1\nstages:\n  - include: ./a.yaml\n  - use: translate\n  - use: backend\n  - use: response-shape\nendpoints:\n  - use: status\n',
    'a.yaml':
      '- use: tenancy\n- use: guard\n  with: &limits { maxConcurrent: 5 }\n- use: guard\n  id: again\n  enabled: false\n  with: *limits\n',
  });
  let out = '';
  const io = { out: (text: string) => (out += text), err: () => undefined, env: {} };
  await runProgram(['check', '--print', join(folder, 'site.yaml')], io);
  t.is(out.match(/with: \{ maxConcurrent: 5 \}/g)?.length, 2);
  t.false(out.includes('*'));
});
