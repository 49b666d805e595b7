/** `ref-proxy migrate`: turns a command line into an equivalent pipeline file. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import fc from 'fast-check';
import { checkDraft } from '../../../core/kernel/check/index.js';
import {
  builtInDefinitions,
  FlagIndex,
  parseCommandLine,
  printText,
  readSetting,
  type OptionDefinition,
  type OptionSources,
  type ValueSchema,
} from '../../../core/kernel/options/index.js';
import { draftPipeline, type PipelineDraft } from '../../../core/kernel/pipeline/draft.js';
import { packageBuiltIns } from '../../../core/kernel/pipeline/load-plugin.js';
import { readSource, type SourceFile } from '../../../core/kernel/pipeline/source.js';
import { migratePipeline } from '../../../core/tools/migrate-pipeline.js';
import { runProgram } from '../../../core/program/program.js';
import { runs } from '../../setup/samples.js';
import { startingSets } from '../program/peer-flags-sets.js';

const definitions = builtInDefinitions();
const index = new FlagIndex(definitions);

async function run(...args: string[]) {
  let out = '';
  let err = '';
  const io = { out: (text: string) => (out += text), err: (text: string) => (err += text), env: {} };
  return { status: await runProgram(['migrate', ...args], io), out, err };
}

async function withFolder(use: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'ref-proxy-'));
  try {
    await use(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function shipped(name: string): Promise<SourceFile> {
  const source = await readSource(`pipelines/${name}.yaml`);
  if ('reason' in source) throw new Error(source.reason);
  return source;
}

const draftOf = (source: SourceFile, sources: OptionSources): Promise<PipelineDraft> =>
  draftPipeline(source, sources, packageBuiltIns());

async function errorsOf(draft: PipelineDraft): Promise<readonly string[]> {
  const findings = await checkDraft(draft, { tiers: ['structure', 'meaning'] });
  return findings.flatMap(({ severity, message }) => (severity === 'error' ? [message] : []));
}

/** All options that the program would start with, one per line, except for those without effect. */
function meaning(draft: PipelineDraft): readonly string[] {
  const owners = [...draft.sections, ...draft.entries.map(({ id, options }) => [id, options] as const)];
  return owners.flatMap(([name, options]) =>
    Object.entries(options?.resolved.options ?? {}).flatMap(([key, value]) => {
      const schema = options?.schema.properties?.[key];
      const hasNoEffect =
        schema?.['x-unread'] === true || /no effect|no Go runtime/.test(schema?.['x-deprecated'] ?? '');
      return hasNoEffect ? [] : [`${name}.${key}: ${JSON.stringify(value)}`];
    }),
  );
}

/** Throws the differences, so that fast-check finds the smallest case. */
function mustMean(after: PipelineDraft, before: PipelineDraft): void {
  const [is, was] = [meaning(after), meaning(before)];
  const differs = [
    ...is.filter((line) => !was.includes(line)).map((line) => `is ${line}`),
    ...was.filter((line) => !is.includes(line)).map((line) => `was ${line}`),
  ];
  if (differs.length > 0) throw new Error(differs.join('\n'));
}

/** Texts that YAML, references or comments might misinterpret. */
const oddText = fc.constantFrom(
  'plain',
  'with: colon',
  '#comment',
  '${NAME}',
  '$${NAME}',
  'a ${B:-c} d',
  'true',
  '12',
  "it's",
  '"quoted"',
  'two\nlines',
  '- dash',
  'null',
  '{a: b}',
  'http://user:hushhush@host/',
  'ü',
);
const byFormat: Readonly<Record<string, readonly string[]>> = {
  'listen-address': [':3100', '127.0.0.1:3200', '[::1]:80'],
  'http-url': ['http://localhost:9428', 'https://vl.example/x', 'http://user:hushhush@vl:9428'],
  rfc3339: ['2026-11-01T00:00:00Z', '2026-11-01T00:00:00.5+01:00'],
  'redis-url': ['redis://localhost:6379/0', 'rediss://:hushhush@cache.example'],
  duration: ['0s', '1s', '90s', '5m', '1h30m'],
  'duration-long': ['1s', '2d', '3h'],
  regexp: ['a+', '^x$'],
  json: ['{}', '[1]'],
};

/** Values of all forms that a schema may allow; values that it refuses are filtered out. */
function valueOf(schema: ValueSchema): fc.Arbitrary<unknown> {
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  const formats = byFormat[schema.format ?? ''];
  if (formats !== undefined) return fc.constantFrom(...formats);
  const type = typeof schema.type === 'string' ? schema.type : schema.type?.[0];
  switch (type) {
    case 'boolean':
      return fc.boolean();
    case 'integer':
      return fc.integer({ min: schema.minimum ?? 0, max: schema.maximum ?? 1_000_000 });
    case 'number':
      return fc.constantFrom(0, 0.25, 0.5, 1, 50);
    case 'array':
      return fc.array(valueOf(schema.items ?? { type: 'string' }), { maxLength: 3 });
    case 'object': {
      const { properties = {}, additionalProperties, required = [] } = schema;
      const known = fc.record(
        Object.fromEntries(Object.entries(properties).map(([key, part]) => [key, valueOf(part)])),
        { requiredKeys: [...required] },
      );
      if (typeof additionalProperties !== 'object') return known;
      return fc.dictionary(fc.constantFrom('team-a', '7', 'x y', 'null'), valueOf(additionalProperties), {
        maxKeys: 2,
      });
    }
    default:
      return schema['x-secret'] === true ? fc.constantFrom('hushhush', '123', 'hushhush ${x}') : oddText;
  }
}

const flagged = definitions.filter(({ flag }) => flag !== undefined);

const givenFlag: fc.Arbitrary<readonly [OptionDefinition, string] | undefined> = fc
  .constantFrom(...flagged)
  .chain((definition) =>
    fc
      .oneof(
        { weight: 4, arbitrary: valueOf(definition.schema) },
        fc.constant(definition.schema.default ?? ''),
      )
      .map((value) => {
        const text = printText(definition.schema, value);
        return readSetting(definition, text, 'x').kind === 'value'
          ? ([definition, text] as const)
          : undefined;
      }),
  );
const givenFlags = fc
  .array(givenFlag, { minLength: 1, maxLength: 25 })
  .map((all) => all.filter((one) => one !== undefined));

test.serial('the printed file means what the flags and variables mean, whatever they are', async (t) => {
  const bases = await Promise.all(['reference-compatible', 'native', 'minimal'].map(shipped));
  const tried = new Set<string>();
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...bases.keys()),
      givenFlags,
      fc.array(fc.boolean(), { minLength: 25, maxLength: 25 }),
      async (which, all, asVariables) => {
        const base = bases[which];
        if (base === undefined) return;
        const flags = new Map<string, string>();
        const env: Record<string, string> = {};
        for (const [at, [{ flag = '', env: names }, text]] of all.entries()) {
          const name = names[0];
          if (name !== undefined && asVariables[at] === true && !flags.has(flag) && text !== '')
            env[name] = text;
          else flags.set(flag, text);
          tried.add(flag);
        }
        const before = await draftOf(base, { flags, env });
        const { text, secrets } = await migratePipeline(base, { flags, references: new Map(), env }, []);
        const overruled = new Set(
          definitions.flatMap(({ flag = '', env: names }) => (flags.has(flag) ? names : [])),
        );
        const left = Object.entries(env).filter(([name]) => !overruled.has(name));
        const after = await draftOf(
          { ...base, text },
          { flags: new Map(), env: Object.fromEntries([...left, ...secrets]) },
        );
        mustMean(after, before);
        if (text.includes('hushhush')) throw new Error(text);
        const errors = (await errorsOf(before)).length > 0 ? [] : await errorsOf(after);
        if (errors.length > 0) throw new Error(errors.join('\n'));
      },
    ),
    { numRuns: runs(50), includeErrorInReport: true },
  );
  t.true(tried.size > 150, String(tried.size));
});

for (const { name, flags, env = {} } of startingSets)
  test.serial(`${name}: its file means the same and has no errors`, async (t) => {
    const base = await shipped('reference-compatible');
    const here = (text: string): string =>
      text.replaceAll('BACKEND', 'http://vl:9428').replaceAll('FOLDER', '/tmp');
    const line = parseCommandLine(flags.map(here), index);
    t.deepEqual(line.problems, []);
    const variables = Object.fromEntries(Object.entries(env).map(([key, text]) => [key, here(text)]));
    const given = { flags: line.flags, references: new Map<string, string>(), env: variables };
    const { text, secrets } = await migratePipeline(base, given, []);
    const sources = {
      flags: new Map<string, string>(),
      env: { ...variables, ...Object.fromEntries(secrets) },
    };
    const after = await draftOf({ ...base, text }, sources);
    t.deepEqual(meaning(after), meaning(await draftOf(base, { flags: line.flags, env: variables })));
    t.deepEqual(await errorsOf(after), []);
  });

test.serial(
  'only what differs is written, secrets are references, and what has no meaning is a comment',
  async (t) => {
    const { status, out, err } = await run(
      '--',
      'loki-vl-proxy',
      '-listen=:3100',
      '-max-concurrent=64',
      '-cache-ttl=60s',
      '--peer-auth-token=hushhush',
      '-backend=http://me:hushhush@vl:9428',
      '-otlp-headers=Authorization=Bearer hushhush,X=hushhush',
      '-go-gc-percent=200',
      '-peer-self=$(POD_IP):3100',
      '-peer-self-az=$(ZONE)',
      '-backend-basic-auth=me:$(PART)',
    );
    t.is(status, 0);
    t.regex(out, /use: guard.*\n {4}with:\n {6}maxConcurrent: 64\n {2}- use/);
    t.notRegex(out, /3100' |cacheTtl|hushhush/);
    t.regex(out, /peerAuthToken: '\$\{(REF_PROXY_)?PEER_AUTH_TOKEN\}'/);
    t.regex(out, /peerSelfAz: '\$\{ZONE\}'/);
    t.regex(out, /^# +-peer-self=\$\(POD_IP\):3100$/m);
    t.regex(out, /^# +-backend-basic-auth=\.\.\.$/m);
    t.regex(out, /^# +-go-gc-percent: this program has no Go runtime$/m);
    t.regex(err, /^OTLP_HEADERS_2 must be set/m);
  },
);

test.serial('flags and variables are read from files', async (t) => {
  await withFolder(async (folder) => {
    const [env, pod, values, two] = ['env', 'pod.yaml', 'values.yaml', 'two.json'].map((name) =>
      join(folder, name),
    );
    await writeFile(
      env ?? '',
      '# a comment\nVL_BACKEND_URL=http://vl:9428\nexport EXTRA_LABEL_FIELDS="host.id,b"\nOTLP_HEADERS=X=hushhush\nLABEL_STYLE=underscores\nPATH=/bin\n',
    );
    await writeFile(
      pod ?? '',
      'spec: { containers: [{ name: x, args: ["-cache-ttl=30s", "-server.enable-pprof", -max-concurrent, 7] }] }\n',
    );
    await writeFile(values ?? '', 'replicaCount: 2\nextraArgs: { cache-ttl: 31s, max-concurrent: 7 }\n');
    await writeFile(two ?? '', '[{"args": ["-a"]}, {"args": ["-b"]}]');
    const { status, out } = await run(`-env-file=${env}`, `-args-file=${pod}`, '--', '-cache-ttl=32s');
    t.is(status, 0);
    for (const line of ['url: http://vl:9428', 'cacheTtl: 32s', 'maxConcurrent: 7', 'enablePprof: true'])
      t.true(out.includes(`${line}\n`), line);
    t.regex(out, /extraLabelFields:\n +- host\.id\n +- b\n/);
    t.regex(out, /^# +LABEL_STYLE: use -label-style instead$/m);
    t.regex(out, /^# +PATH$/m);
    t.regex(out, /^# +OTLP_HEADERS$/m);
    t.notRegex(out, /hushhush/);
    t.regex((await run(`-args-file=${values}`)).out, /cacheTtl: 31s/);
    t.regex((await run(`-args-file=${two}`)).err, /has 2 lists of arguments/);
    await writeFile(two ?? '', 'a: &a [*a]\nb: &b { args: [-cache-ttl=33s] }\nc: *b\n');
    t.regex((await run(`-args-file=${two}`)).out, /cacheTtl: 33s/);
    t.regex((await run(`-args-file=${env}`)).err, /has no list of arguments/);
    t.regex((await run(`-env-file=${folder}/none`)).err, /cannot read .*none/);
  });
});

test.serial('what cannot be used is told as at the start', async (t) => {
  t.deepEqual(await run('--', '-max-concurrent=many', '-cache-tll=1s'), {
    status: 2,
    out: '',
    err: 'ref-proxy migrate: flag -max-concurrent must be a whole number, not "many"\nunknown flag -cache-tll, did you mean -cache-ttl?\n',
  });
  t.is((await run('-cache-ttl=1s')).status, 2);
  t.is((await run('stray')).status, 2);
  t.regex((await run('-help')).out, /migrate \[flags\] -- FLAGS/);
  const refused = await run('--', '-metrics-listen=:9091');
  t.is(refused.status, 1);
  t.regex(refused.err, /register-instrumentation/);
  t.regex(refused.out, /metricsListen: :9091/);
});
