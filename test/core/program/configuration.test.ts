import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { request } from 'undici';
import { addressIn, main, minimalPipeline } from './child.js';

/** The environment of a process; the environment of this machine is not used. */
type Env = Readonly<Record<string, string>>;

/** Runs the program until it exits. */
async function run(
  env: Env,
  ...args: string[]
): Promise<{ readonly status: number | null; readonly out: string; readonly err: string }> {
  const child = spawn(process.execPath, [main, ...args], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    // Ends a program that serves by mistake.
    timeout: 90_000,
  });
  let [out, err] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
  await once(child, 'close');
  return { status: child.exitCode, out, err };
}

interface Serving {
  readonly url: string;
  /** Output to stdout so far. */
  readonly out: () => string;
  readonly err: () => string;
  readonly kill: (signal: NodeJS.Signals) => void;
  /** Stops the program; resolves with all of its output. */
  readonly stop: () => Promise<string>;
}

/** Starts a program that serves until the end of the test. */
async function serve(t: ExecutionContext, env: Env, ...args: string[]): Promise<Serving> {
  const child = spawn(process.execPath, [main, 'serve', ...args], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [out, err] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
  const closed = once(child, 'close');
  const stop = async (): Promise<string> => {
    child.kill('SIGTERM');
    await closed;
    return out + err;
  };
  t.teardown(stop);
  const url = await addressIn(child.stdout);
  return { url, out: () => out, err: () => err, kill: (signal) => child.kill(signal), stop };
}

async function folderOf(t: ExecutionContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'ref-proxy-'));
  t.teardown(() => rm(folder, { recursive: true }));
  return folder;
}

async function statusOf(url: string, headers: Env = {}): Promise<number> {
  const { statusCode, body } = await request(url, { headers, reset: true });
  await body.dump();
  return statusCode;
}

const onLoopback: Env = {
  REF_PROXY_PIPELINE: minimalPipeline,
  REF_PROXY_LISTEN: '127.0.0.1:0',
  REF_PROXY_BACKEND: 'http://127.0.0.1:9',
};

test.serial('every flag is read from its environment variable', async (t) => {
  const { url, stop } = await serve(t, { ...onLoopback, REF_PROXY_SERVER_REGISTER_INSTRUMENTATION: 'true' });
  t.is(await statusOf(`${url}/metrics`), 200);
  const records = await stop();
  t.true(records.includes(`"pipeline.file":"${minimalPipeline}"`));
});

test.serial('a flag wins over its variable, and a specified variable over that of the flag', async (t) => {
  const env = { ...onLoopback, LISTEN_ADDR: '127.0.0.1:0', REF_PROXY_LISTEN: '192.0.2.1:1' };
  const { url } = await serve(t, { ...env, REF_PROXY_PIPELINE: 'none.yaml' }, `-pipeline=${minimalPipeline}`);
  t.is(await statusOf(`${url}/alive`), 200);
});

test.serial('a variable with a bad value is told by its name', async (t) => {
  const { status, err } = await run({ ...onLoopback, REF_PROXY_MAX_LINES: 'many' }, 'serve');
  t.is(status, 1);
  t.regex(err, /^error R008 environment variable REF_PROXY_MAX_LINES must be a whole number, not "many"$/m);
  const watch = await run({ ...onLoopback, REF_PROXY_PIPELINE_WATCH: 'perhaps' }, 'serve');
  t.is(watch.status, 2);
  t.is(
    watch.err,
    'ref-proxy serve: environment variable REF_PROXY_PIPELINE_WATCH must be true or false, not "perhaps"\n',
  );
});

test.serial('a variable that does not match any flag is an error with the one that was meant', async (t) => {
  const { status, err } = await run({ ...onLoopback, REF_PROXY_SERVER_ADMIN_AUTH_TOKN: 'x1y2z3' }, 'serve');
  t.is(status, 1);
  t.regex(err, /^error R038 environment variable REF_PROXY_SERVER_ADMIN_AUTH_TOKN does not match any flag$/m);
  t.regex(err, /did you mean REF_PROXY_SERVER_ADMIN_AUTH_TOKEN\?/);
  t.notRegex(err, /x1y2z3/);
});

test.serial('variables of Kubernetes and of the pipeline file need no flag', async (t) => {
  const file = join(await folderOf(t), 'site.yaml');
  await writeFile(
    file,
    `version: 1
stages:
  - use: tenancy
  - use: translate
  - use: backend
    with: { url: '\${REF_PROXY_OF_SITE}' }
  - use: response-shape
endpoints:
  - use: reference-api
`,
  );
  const env = {
    REF_PROXY_OF_SITE: 'http://127.0.0.1:9',
    REF_PROXY_SERVICE_HOST: '10.0.0.1',
    REF_PROXY_SERVICE_PORT: '3100',
    REF_PROXY_SERVICE_PORT_HTTP: '3100',
    REF_PROXY_PORT: 'tcp://10.0.0.1:3100',
    REF_PROXY_PORT_3100_TCP_ADDR: '10.0.0.1',
    REF_PROXY_PEERS_PORT_3100_TCP: 'tcp://10.0.0.2:3100',
  };
  t.deepEqual(await run(env, 'check', file), {
    status: 0,
    out: '',
    err: '1 file checked, no findings\n',
  });
  t.is((await run({ ...env, REF_PROXY_OF_SIT: 'x' }, 'check', file)).status, 1);
});

const site = (top: string, withBackend = ''): string => `version: 1
${top}
stages:
  - use: tenancy
  - use: translate
  - use: backend
    with: { url: 'http://127.0.0.1:9', ${withBackend} }
  - use: response-shape
endpoints:
  - use: reference-api
  - use: status
  - use: admin
`;

const secretPaths = [
  { by: 'a flag', args: (file: string) => [`-server.admin-auth-token-file=${file}`] },
  { by: 'a variable', env: (file: string) => ({ REF_PROXY_SERVER_ADMIN_AUTH_TOKEN_FILE: file }) },
  { by: 'a key', top: (file: string) => `server: { adminAuthTokenFile: '${file}' }` },
];

for (const { by, args, env, top } of secretPaths)
  test.serial(`a secret is read from the file that ${by} names, and again at a reload`, async (t) => {
    const folder = await folderOf(t);
    const [pipeline, token] = [join(folder, 'site.yaml'), join(folder, 'token')];
    await writeFile(pipeline, site(top?.(token) ?? ''));
    await writeFile(token, 'first-word\n');
    const { url, stop } = await serve(
      t,
      { ...onLoopback, REF_PROXY_PIPELINE: pipeline, ...env?.(token) },
      ...(args?.(token) ?? []),
    );
    const reload = async (word: string): Promise<number> => {
      const headers = { 'X-Admin-Token': word };
      const { statusCode, body } = await request(`${url}/admin/reload`, {
        method: 'POST',
        headers,
        reset: true,
      });
      t.notRegex(await body.text(), /(?:first|second)-word/);
      return statusCode;
    };
    t.is(await reload('other-word'), 401);
    await writeFile(token, 'second-word\r\n');
    t.is(await reload('first-word'), 200);
    t.is(await reload('first-word'), 401);
    await writeFile(token, '\n');
    t.is(await reload('second-word'), 422);
    const { body } = await request(`${url}/config`, { reset: true });
    t.notRegex(await body.text(), /(?:first|second)-word/);
    const records = await stop();
    t.regex(records, /token is empty/);
    t.notRegex(records, /(?:first|second)-word/);
  });

test.serial('a secret that cannot be read is an error that does not show it', async (t) => {
  const folder = await folderOf(t);
  const at = (name: string): string => join(folder, name);
  await writeFile(at('empty'), '\n\n');
  await writeFile(at('long'), 'x'.repeat(64 * 1024 + 1));
  await writeFile(at('binary'), Buffer.from([0x68, 0xff]));
  await writeFile(at('no-pair'), 'word-of-nobody');
  await writeFile(at('good'), 'a:b');
  await mkdir(at('folder'));
  const cases: readonly (readonly [file: string, says: string, ...more: string[]])[] = [
    ['none', `: ${at('none')} cannot be read: no such file`],
    ['folder', `: ${at('folder')} is a directory`],
    ['empty', `: ${at('empty')} is empty`],
    ['long', `: ${at('long')} is larger than 65536 bytes`],
    ['binary', `: ${at('binary')} is not UTF-8 text`],
    ['no-pair', `: the content of ${at('no-pair')} must be user:password`],
    [
      'good',
      ' and flag -backend-basic-auth both set the same secret',
      '-backend-basic-auth=word-of-nobody:b',
    ],
  ];
  for (const [file, says, ...more] of cases) {
    const { status, err } = await run(onLoopback, 'serve', `-backend-basic-auth-file=${at(file)}`, ...more);
    t.is(status, 1, file);
    const [first, ...others] = err.trimEnd().split('\n');
    t.is(first, `error R008 flag -backend-basic-auth-file${says}`);
    t.deepEqual(others, file === 'good' ? ['      remove one of them'] : []);
  }
});

test.serial('the checker takes a secret from a file for given, and reads it nowhere', async (t) => {
  const pipeline = join(await folderOf(t), 'site.yaml');
  const server = (file: string): string =>
    `server: { adminListen: '192.0.2.1:3101', adminAuthTokenFile: ${file} }`;
  await writeFile(pipeline, site(server('/nowhere/token'), "basicAuthFile: '/nowhere/pair'"));
  t.like(await run({}, 'check', pipeline), { status: 0, out: '' });
  const { status, out } = await run({}, 'check', '--env', '--format=json', pipeline);
  t.is(status, 1);
  const unreadable = [...out.matchAll(/"message": "(.*) cannot be read: there is no such file"/g)];
  t.deepEqual(
    unreadable.map(([, option]) => option),
    ['adminAuthTokenFile \\"/nowhere/token\\"', 'basicAuthFile \\"/nowhere/pair\\"'],
  );
  await writeFile(pipeline, site(server("''")));
  t.is((await run({}, 'check', pipeline)).status, 1);
});

test.serial('a secret of a site’s plugin has a file like any other', async (t) => {
  const folder = await folderOf(t);
  const [pipeline, token] = [join(folder, 'site.yaml'), join(folder, 'token')];
  await writeFile(
    join(folder, 'gate.mjs'),
    `export default {
  kind: 'stage', name: 'gate', summary: 'Needs a word.', needs: [], gives: [], rest: 'once',
  schema: {
    type: 'object', additionalProperties: false, required: ['word'],
    properties: { word: { type: 'string', description: 'The word.', 'x-flag': 'gate.word', 'x-secret': true } },
  },
  create: ({ word }) => { throw new Error('of ' + word.length + ' letters: ' + word); },
};
`,
  );
  await writeFile(token, 'of-the-site');
  await writeFile(pipeline, site('').replace('  - use: tenancy', '  - use: ./gate.mjs\n  - use: tenancy'));
  const { status, out, err } = await run(
    { ...onLoopback, REF_PROXY_PIPELINE: pipeline, REF_PROXY_GATE_WORD_FILE: token },
    'serve',
  );
  t.is(status, 1);
  t.regex(out + err, /of 11 letters: \(hidden\)/);
  t.notRegex(out + err, /of-the-site/);
});

test.serial(
  'with -log-format=text a record is one readable line, without secrets and controls',
  async (t) => {
    const { url, stop } = await serve(
      t,
      { ...onLoopback, GOMEMLIMIT: '1GiB' },
      '-log-format=text',
      '-debug-log-raw-queries=true',
      '-backend-basic-auth=user:word-of-mine',
    );
    const query = encodeURIComponent('{app="\u001b[31m word-of-mine"}');
    t.is(await statusOf(`${url}/loki/api/v1/query_range?query=${query}`), 502);
    const lines = (await stop()).trimEnd().split('\n');
    for (const line of lines) t.regex(line, /^\d{4}-\d\d-\d\dT[\d:.]+Z (?:INFO |WARN |ERROR) \S/);
    t.true(
      lines.some((line) =>
        line.includes(
          ' WARN  environment variable GOMEMLIMIT is deprecated: this program has no Go runtime; use --max-old-space-size of Node component=proxy pipeline.rule=R055 pipeline.place="environment variable GOMEMLIMIT" ',
        ),
      ),
    );
    t.true(
      lines.some((line) => line.includes('ref.query="{app=\\"\\u001b[31m (hidden)\\"}"')),
      lines.join('\n'),
    );
    t.false(lines.some((line) => line.includes('word-of-mine') || line.includes('\u001b')));
  },
);

test.serial('warnings of the checker are records at the start, and text of the check command', async (t) => {
  const env = { ...onLoopback, GOMEMLIMIT: '1GiB', REF_PROXY_TENANT_LABEL: 'team' };
  const { stop } = await serve(t, env);
  const records = (await stop())
    .trimEnd()
    .split('\n')
    .map((line) => new Map<string, unknown>(Object.entries(JSON.parse(line) as object)));
  const told = records.flatMap((record) =>
    record.has('pipeline.rule')
      ? [
          ['severity.text', 'pipeline.rule', 'pipeline.place', 'body', 'pipeline.fix'].map((name) =>
            record.get(name),
          ),
        ]
      : [],
  );
  t.deepEqual(told, [
    [
      'WARN',
      'R055',
      'environment variable GOMEMLIMIT',
      'environment variable GOMEMLIMIT is deprecated: this program has no Go runtime; use --max-old-space-size of Node',
      'remove it',
    ],
    [
      'WARN',
      'R059',
      'environment variable REF_PROXY_TENANT_LABEL',
      'X-Scope-OrgID 0, fake and default still read the logs of every tenant of tenantLabel',
      'set allowDefault (-tenant.allow-default) to false',
    ],
  ]);
  const { out } = await run(env, 'check', minimalPipeline);
  t.regex(out, /^warning R055 environment variable GOMEMLIMIT is deprecated/m);
  t.regex(out, /^environment variable REF_PROXY_TENANT_LABEL: warning R059 X-Scope-OrgID 0/m);
  t.notRegex(out, /minimal\.yaml/);
});

test.serial('explain -run prints its report alone', async (t) => {
  const { status, out, err } = await run({}, 'explain', '-backend=http://127.0.0.1:9', '-run', '{app="a"}');
  t.is(status, 1);
  t.is(err, '');
  t.regex(out, /^ran {5}502 /m);
  t.notRegex(out, /"body"|severity/);
});

test.serial('variables of other proxies that do not count are warned of with the flag to use', async (t) => {
  const file = ['check', minimalPipeline];
  const given = { LABEL_STYLE: 'passthrough', METADATA_FIELD_MODE: 'native' };
  const { out } = await run(given, ...file);
  t.is(
    out,
    [
      'warning R057 environment variable LABEL_STYLE has no effect',
      '      set -label-style or REF_PROXY_LABEL_STYLE',
      'warning R057 environment variable METADATA_FIELD_MODE has no effect',
      '      set -metadata-field-mode or REF_PROXY_METADATA_FIELD_MODE',
      '',
    ].join('\n'),
  );
  const both = { ...given, REF_PROXY_LABEL_STYLE: 'passthrough', METADATA_FIELD_MODE: 'translated' };
  t.is((await run(both, ...file)).out, '', 'nothing else would come of them');
});
