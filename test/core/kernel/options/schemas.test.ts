import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import {
  builtInDefinitions,
  decodeValue,
  FlagIndex,
  isOfKubernetes,
  packageRoot,
  printText,
  problemsOf,
  readBuiltInSchemas,
  readText,
  resolveOptions,
  schemaProblem,
  servingFlags,
  variableOf,
} from '../../../../core/kernel/options/index.js';

const schemas = readBuiltInSchemas();
const definitions = builtInDefinitions(schemas);
const none = { flags: new Map<string, string>(), env: {} };

/** Lines of a list in test/data; `#` starts a comment. */
function readList(file: string): readonly string[] {
  const lines = readFileSync(join(packageRoot(), 'test', 'data', file), 'utf8').split('\n');
  return lines.filter((line) => line !== '' && !line.startsWith('#'));
}

for (const [name, schema] of schemas) {
  test(`the schema of ${name} compiles and its defaults are valid by it`, (t) => {
    t.is(schemaProblem(schema), undefined);
    t.deepEqual(resolveOptions(schema, undefined, none).findings, []);
  });

  test(`the schema of ${name} refuses unknown options and describes each it has`, (t) => {
    t.false(schema.additionalProperties);
    t.regex(schema.title ?? '', /^[A-Z]\w+Options$/);
    for (const definition of definitions.filter((one) => one.owner === name)) {
      t.regex(definition.description, /^[A-Z].{10,}\.$/, definition.key);
      t.regex(definition.key, /^[a-z][A-Za-z0-9]*$/);
    }
  });
}

test('every flag of the specification exists exactly once', (t) => {
  const flags = definitions.flatMap(({ flag }) => (flag === undefined ? [] : [flag]));
  t.is(new Set(flags).size, flags.length);
  const listed = readList('flags.txt');
  t.true(listed.length > 200);
  t.deepEqual(
    listed.filter((flag) => !flags.includes(flag)),
    [],
  );
});

test('flags are shared only where another option declares them', (t) => {
  t.notThrows(() => new FlagIndex(definitions));
});

test('the options that no code reads yet are those listed in test/data/unread-flags.txt', (t) => {
  const unread = definitions.filter((one) => one.isUnread);
  t.deepEqual(
    unread.map((one) => one.flag ?? `${one.owner}.${one.key}`).sort(),
    [...readList('unread-flags.txt')].sort(),
  );
});

test('the defaults that Loki or the specification decides', (t) => {
  const defaults = new Map(definitions.map((one) => [one.flag, decodeValue(one.schema, one.schema.default)]));
  t.is(defaults.get('listen'), ':3100');
  t.is(defaults.get('backend'), 'http://localhost:9428');
  t.is(defaults.get('max-lines'), 100);
  t.is(defaults.get('max-entries-limit-per-query'), 5000);
  t.is(defaults.get('backend-timeout'), 120_000);
  t.is(defaults.get('cold-boundary'), 168 * 3_600_000);
});

test('LABEL_STYLE and METADATA_FIELD_MODE do not override the flags', (t) => {
  const env = new Set(definitions.flatMap((one) => one.env));
  t.false(env.has('LABEL_STYLE'));
  t.false(env.has('METADATA_FIELD_MODE'));
});

test('an environment variable sets one option only', (t) => {
  const env = definitions.filter((one) => one.shares === undefined).flatMap((one) => one.env);
  t.is(new Set(env).size, env.length);
});

test('every flag has a variable, which no other one has and Kubernetes never sets', (t) => {
  const flags = [...definitions.flatMap(({ flag }) => flag ?? []), ...servingFlags];
  t.is(new Set(flags.map(variableOf)).size, flags.length);
  t.deepEqual(
    flags.filter((flag) => isOfKubernetes(variableOf(flag))),
    [],
  );
  t.is(variableOf('server.admin-auth-token'), 'REF_PROXY_SERVER_ADMIN_AUTH_TOKEN');
});

test('every secret can come from a file', (t) => {
  const secrets = definitions.filter(({ schema }) => /"x-secret":true/.test(JSON.stringify(schema)));
  t.true(secrets.length >= 7);
  for (const { owner, key, flag } of secrets) {
    const file = definitions.find((one) => one.owner === owner && one.fileOf === key);
    t.like(file, { key: `${key}File`, flag: `${flag}-file`, kind: 'string', isNeutral: true });
  }
});

test('every default can be written as a flag', (t) => {
  for (const { schema, flag } of definitions) {
    if (flag === undefined || schema.default === undefined) continue;
    const read = readText(schema, printText(schema, schema.default));
    t.deepEqual(read, { kind: 'value', value: schema.default }, flag);
  }
});

test('tenant limits take days, weeks and years, and a bare zero', (t) => {
  const limits = schemas.get('limits')?.properties?.['tenantLimits'] ?? {};
  t.deepEqual(problemsOf(limits, { a: { max_query_length: '90d' }, b: { max_query_length: 0 } }), []);
  const [problem] = problemsOf(limits, { a: { max_query_length: '90 days' } });
  t.is(problem?.message, 'must be a duration such as "30s", "12h" or "90d", not "90 days"');
  t.deepEqual(problem?.path, ['a', 'max_query_length']);
});
