import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { generateErrorsDoc } from '../../../core/tools/generate/errors-doc.js';
import type { Io } from '../../../core/program/io.js';
import { builtInDefinitions } from '../../../core/kernel/options/index.js';
import { runProgram } from '../../../core/program/program.js';
import type { ErrorEntry } from '../../../core/base/errors/api-error.js';
import { errorTable } from '../../../core/base/errors/table.js';

async function run(
  ...args: string[]
): Promise<{ readonly status: number; readonly out: string; readonly err: string }> {
  let out = '';
  let err = '';
  const io: Io = { out: (text) => (out += text), err: (text) => (err += text), env: {} };
  return { status: await runProgram(args, io), out, err };
}

test.serial('without a command the help is shown and the status says wrong usage', async (t) => {
  const { status, out } = await run();
  t.is(status, 2);
  for (const command of ['serve', 'backend', 'check', 'demo', 'format', 'explain', 'flags']) {
    t.regex(out, new RegExp(`^  ${command} `, 'm'));
  }
  t.is((await run('--help')).status, 0);
});

test.serial('an unknown command is refused with the one that was meant', async (t) => {
  t.deepEqual(await run('serv'), {
    status: 2,
    out: '',
    err: 'ref-proxy: unknown command serv, did you mean serve?\n',
  });
});

test.serial('an unknown flag and a bad value are both told, status 2', async (t) => {
  const { status, err } = await run('serve', '-lisen=:1', '-max-concurrent=many', 'stray');
  t.is(status, 2);
  t.regex(err, /unknown flag -lisen, did you mean -listen\?/);
  t.regex(err, /-max-concurrent/);
  t.regex(err, /stray is not a flag/);
});

test.serial(
  'only what clients look for in plain text is an error without status, errorType and error',
  (t) => {
    const entries: readonly (readonly [string, ErrorEntry])[] = Object.entries(errorTable);
    const plain = entries.filter(([, { body }]) => body !== undefined).map(([id]) => id);
    t.deepEqual(plain, ['notWebSocket', 'notFound', 'routeOff']);
  },
);

test.serial('the password of an address that cannot be used is not shown', async (t) => {
  const flags = builtInDefinitions().flatMap(({ flag, schema }) =>
    /-url$/.test(schema.format ?? schema.items?.format ?? '') && flag !== undefined ? [flag] : [],
  );
  t.true(flags.length >= 9);
  const folder = await mkdtemp(join(tmpdir(), 'ref-proxy-'));
  t.teardown(() => rm(folder, { recursive: true }));
  const file = join(folder, 'site.yaml');
  for (const address of [
    'ftp://bu:SECRET@h',
    'bu:SECRET@h:9428',
    'bu:SECRET@h',
    'ftp://bu:x/SECRET@y@h',
    'http://bu:SECRET@h:port',
  ]) {
    const { status, err } = await run('serve', ...flags.map((flag) => `-${flag}=${address}`));
    t.is(status, 2);
    for (const flag of flags) t.regex(err, new RegExp(`flag -${flag}\\b`));
    t.notRegex(err, /SECRET/);
    await writeFile(file, `version: 1\nstages:\n  - use: backend\n    url: [${address}]\nendpoints: []\n`);
    const checked = await run('check', '--format=json', file);
    t.regex(checked.out, /url/);
    t.notRegex(checked.out, /SECRET/);
  }
});

test.serial('flags without a command are flags of serve', async (t) => {
  const { status, err } = await run('-lisen=:1');
  t.is(status, 2);
  t.regex(err, /^ref-proxy serve: unknown flag -lisen/);
});

const sitePlugin = `export default {
  kind: 'stage', name: 'greeter', summary: 'Greets.', needs: [], gives: [], rest: 'once',
  schema: {
    type: 'object', additionalProperties: false,
    properties: { greeting: { type: 'string', description: 'What to say.', 'x-flag': 'greeter.greeting' } },
  },
  create: () => ({ handle: (exchange, rest) => rest(exchange) }),
};
`;

test.serial('flags of the plugins that a pipeline file brings along are known', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'ref-proxy-'));
  t.teardown(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, 'greeter.js'), sitePlugin);
  await writeFile(join(folder, 'package.json'), '{"type":"module"}');
  const file = join(folder, 'site.yaml');
  await writeFile(file, 'version: 1\nstages:\n  - use: ./greeter.js\nendpoints: []\n');
  const { status, err } = await run('serve', `-pipeline=${file}`, '-greeter.greting=hello');
  t.is(status, 2);
  t.is(err, 'ref-proxy serve: unknown flag -greeter.greting, did you mean -greeter.greeting?\n');
  t.regex((await run('serve', `-pipeline=${file}`, '-help')).out, /-greeter\.greeting +What to say\./);
});

test.serial('a pipeline file that is not there is a finding, status 1', async (t) => {
  const { status, err } = await run('serve', '-pipeline=no-such.yaml');
  t.is(status, 1);
  t.regex(err, /no-such\.yaml/);
});

test.serial('format prints the query as the format_query route does', async (t) => {
  t.deepEqual(await run('format', 'sum(rate({a="b"}[1m]))by(x)'), {
    status: 0,
    out: 'sum by (x)(rate({a="b"}[1m]))\n',
    err: '',
  });
  t.deepEqual(await run('format', 'sum('), {
    status: 1,
    out: '',
    err: 'parse error at line 1, col 5: syntax error: unexpected $end\n',
  });
  t.is((await run('format')).status, 2);
});

test.serial('explain prints what becomes of a query, as text or JSON', async (t) => {
  const { status, out } = await run('explain', '{app="a"} |= "x"');
  t.is(status, 0);
  t.regex(out, /^logsql {2}\{app="a"\} \(_msg:\*"x"\* or /m);
  const json = await run('explain', '-json', '{app="a"} |= "x"');
  t.like(JSON.parse(json.out), { query: '{app="a"} |= "x"', cost: 'page' });
  t.is((await run('explain', '{')).status, 1);
  const off = await run('explain', '-pushdown=off', '{app="a"} |= "x"');
  t.regex(off.out, /^logsql {2}\{app="a"\}$/m);
  t.is((await run('explain', '-no-such-flag', '{app="a"}')).status, 2);
});

test.serial('help fits a screen, and names every flag when all are asked for', async (t) => {
  const { out } = await run('--help');
  t.true(out.split('\n').length <= 40);
  t.regex(out, /-backend=URL[^]*Examples:/);
  const { out: all } = await run('serve', '-help=all');
  for (const flag of out.matchAll(/^ {2}-([\w.-]+)=/gm))
    t.regex(all, new RegExp(`^ {2}-${(flag[1] ?? '').replaceAll('.', '\\.')} `, 'm'));
  const short = (await run('serve', '-help')).out;
  t.true(short.split('\n').length <= 45);
  t.regex(short, /-backend [^]*\d+ more: ref-proxy serve -help=all/);
  t.regex(
    (await run('serve', '--help=all')).out,
    /-response-gzip [^]*deprecated[^]*-query-range-split-interval /,
  );
});

test.serial('flags prints every flag with its meaning', async (t) => {
  const { status, out } = await run('flags');
  t.is(status, 0);
  t.regex(out, /-listen .*Address that clients/);
  t.regex(out, /-pipeline\.watch /);
});

/** The flags that `ref-proxy flags` prints for these words. */
async function found(...words: string[]): Promise<readonly string[]> {
  const { status, out } = await run('flags', ...words);
  return status === 0 ? [...out.matchAll(/^ +-([a-z][\w.-]*)/gm)].map(([, flag = '']) => flag) : [];
}

test.serial('flags prints those that contain a word: in name, variable, key or meaning', async (t) => {
  t.deepEqual(await found('tenant-map'), ['tenant-map', 'tenant-map-file', 'tenant-map-reload-interval']);
  t.deepEqual(await found('REF_PROXY_ADMIN_LISTEN'), ['admin-listen']);
  t.deepEqual(await found('VL_BACKEND_URL'), ['backend']);
  t.deepEqual(await found('adminAuthToken'), ['server.admin-auth-token', 'server.admin-auth-token-file']);
  t.deepEqual(await found('-pipeline.watch'), ['pipeline.watch']);
  t.deepEqual(await found('admin', 'token', 'file'), ['server.admin-auth-token-file']);
  t.true((await found('grafana')).includes('listen'));
});

test.serial('flags says what is near where no flag contains the word', async (t) => {
  t.deepEqual(await run('flags', 'tennant'), {
    status: 1,
    out: '',
    err: 'ref-proxy flags: no flag contains "tennant", did you mean "tenant"?\n',
  });
  t.regex((await run('flags', 'zzzzzzzz')).err, /no flag contains "zzzzzzzz"; "ref-proxy flags" prints all/);
});

test.serial('help of a command lists its flags', async (t) => {
  t.regex((await run('backend', '-help')).out, /-listen=VALUE/);
  t.regex((await run('serve', '-help')).out, /^Usage: ref-proxy serve[^]*-pipeline/);
  t.regex((await run('demo', '-help')).out, /^Usage: ref-proxy demo/);
  t.regex((await run('format', '--help')).out, /^Usage: ref-proxy format/);
});

test.serial('the page of errors has a row for every line of the error table', (t) => {
  const rows = generateErrorsDoc()
    .split('\n')
    .filter((line) => /^\| \d/.test(line));
  t.is(rows.length, Object.keys(errorTable).length);
  t.true(
    rows.some(
      (row) => row.includes('| 404 |') && row.includes('`404 page not found`') && row.includes('plain text'),
    ),
  );
});
