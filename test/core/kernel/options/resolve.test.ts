import test from 'ava';
import {
  definitionsOf,
  environmentProblems,
  type OptionSchema,
  resolveOptions,
} from '../../../../core/kernel/options/index.js';

const schema: OptionSchema = {
  type: 'object',
  properties: {
    ttl: {
      type: 'string',
      format: 'duration',
      default: '60s',
      'x-flag': 'cache-ttl',
      'x-env': ['CACHE_TTL', 'OLD_TTL'],
    },
    burst: { type: 'integer', minimum: 1, default: 10, 'x-flag': 'burst', 'x-env': 'BURST' },
    names: { type: 'array', items: { type: 'string' }, default: [], 'x-flag': 'names' },
    url: { type: 'string', format: 'http-url', 'x-flag': 'url' },
    bytes: { type: 'integer', default: 1, 'x-shares': 'cache-bytes' },
    token: { type: 'string', minLength: 4, 'x-env': 'TOKEN', 'x-secret': true },
    faults: {
      type: 'array',
      items: {
        type: 'object',
        properties: { kind: { type: 'string', enum: ['delay', 'hang'] } },
        required: ['kind'],
        additionalProperties: false,
      },
      default: [],
    },
  },
  additionalProperties: false,
};
const none = { flags: new Map<string, string>(), env: {} };
const resolve = (yaml: unknown, flags: Record<string, string> = {}, env: Record<string, string> = {}) =>
  resolveOptions(schema, yaml, { flags: new Map(Object.entries(flags)), env });

test('defaults stand when nothing is said, and what has none is absent', (t) => {
  for (const yaml of [undefined, null, {}]) {
    const { options, findings } = resolve(yaml);
    t.deepEqual(options, { ttl: 60_000, burst: 10, names: [], bytes: 1, faults: [] });
    t.deepEqual(findings, []);
  }
});

test('a flag wins over the environment, the environment over the file, the file over the default', (t) => {
  const yaml = { ttl: '3s' };
  t.is(resolve({}).options['ttl'], 60_000);
  t.is(resolve(yaml).options['ttl'], 3000);
  t.is(resolve(yaml, {}, { CACHE_TTL: '2s' }).options['ttl'], 2000);
  t.is(resolve(yaml, { 'cache-ttl': '1s' }, { CACHE_TTL: '2s' }).options['ttl'], 1000);
});

test('the first of several variables wins, and an empty one counts as not set', (t) => {
  t.is(resolve({}, {}, { CACHE_TTL: '2s', OLD_TTL: '9s' }).options['ttl'], 2000);
  t.is(resolve({}, {}, { CACHE_TTL: '', OLD_TTL: '9s' }).options['ttl'], 9000);
  t.is(resolve({ ttl: '3s' }, {}, { CACHE_TTL: '' }).options['ttl'], 3000);
});

test('origins tell what gave each value', (t) => {
  const { origins } = resolve({ names: ['a'] }, { 'cache-ttl': '1s' }, { BURST: '3' });
  t.deepEqual(origins.get('ttl'), { kind: 'flag', name: 'cache-ttl' });
  t.deepEqual(origins.get('burst'), { kind: 'env', name: 'BURST' });
  t.deepEqual(origins.get('names'), { kind: 'yaml' });
  t.deepEqual(origins.get('url'), { kind: 'default' });
});

test("another plugin's flag sets an option that shares it", (t) => {
  t.is(resolve({}, { 'cache-bytes': '77' }).options['bytes'], 77);
});

test('an unknown option is pointed at by its key, with what was meant', (t) => {
  t.deepEqual(resolve({ brust: 5 }).findings, [
    {
      kind: 'unknown-option',
      place: { kind: 'yaml', path: ['brust'], at: 'key' },
      message: 'option "brust" is not known',
      fix: 'did you mean "burst"?',
    },
  ]);
});

test('values of the file are never turned into the wanted type', (t) => {
  const { findings, options } = resolve({ burst: '5', ttl: 30, names: 'a,b' });
  t.deepEqual(
    findings.map(({ message, fix }) => [message, fix]),
    [
      ['option "ttl" must be a duration such as "30s", "5m" or "1h30m", not 30', 'write "30s" for seconds'],
      ['option "burst" must be a whole number, not "5"', 'write 5 without quotes'],
      ['option "names" must be a list, not "a,b"', undefined],
    ],
  );
  t.deepEqual(options, resolveOptions(schema, {}, none).options);
});

test('a fault deep inside a value is pointed at by its whole path', (t) => {
  const { findings } = resolve({ faults: [{ kind: 'delay' }, { kind: 'dely' }, {}, { kind: 'hang', x: 1 }] });
  t.deepEqual(
    findings.map(({ place, message, fix }) => [place, message, fix]),
    [
      [
        { kind: 'yaml', path: ['faults', 1, 'kind'], at: 'value' },
        'option "faults.1.kind" must be delay or hang, not "dely"',
        'did you mean "delay"?',
      ],
      [{ kind: 'yaml', path: ['faults', 2], at: 'value' }, 'option "faults.2" lacks "kind"', undefined],
      [{ kind: 'yaml', path: ['faults', 3, 'x'], at: 'key' }, 'option "faults.3.x" is not known', undefined],
    ],
  );
});

test('a fault in a flag or a variable names it', (t) => {
  const { findings } = resolve({}, { burst: '0' }, { BURST: 'many' });
  t.deepEqual(
    findings.map(({ place, message }) => [place, message]),
    [
      [{ kind: 'flag', name: 'burst' }, 'flag -burst must be at least 1, not 0'],
      [{ kind: 'env', name: 'BURST' }, 'environment variable BURST must be a whole number, not "many"'],
    ],
  );
});

test('options that are no mapping are one fault at the root', (t) => {
  const { findings } = resolve(['a']);
  t.deepEqual(findings, [
    {
      kind: 'bad-value',
      place: { kind: 'yaml', path: [], at: 'value' },
      message: 'the options must be a mapping, not ["a"]',
      fix: undefined,
    },
  ]);
});

test('secrets are never shown, wherever they come from', (t) => {
  const findings = [...resolve({ token: 'abc' }).findings, ...resolve({}, {}, { TOKEN: 'abc' }).findings];
  t.is(findings.length, 2);
  t.notRegex(JSON.stringify(findings), /abc/);
  t.notRegex(JSON.stringify(resolve({ token: 4711 }).findings), /4711/);
});

test('a required option may come from a flag, and is missing at the root when it comes from nowhere', (t) => {
  const strict: OptionSchema = { ...schema, required: ['url'] };
  t.deepEqual(resolveOptions(strict, {}, { ...none, flags: new Map([['url', 'http://h:1']]) }).findings, []);
  t.deepEqual(resolveOptions(strict, {}, none).findings, [
    {
      kind: 'missing-option',
      place: { kind: 'yaml', path: [], at: 'value' },
      message: 'option "url" is missing',
      fix: undefined,
    },
  ]);
});

test('names of strangers such as __proto__ are unknown options like any other', (t) => {
  const yaml: unknown = JSON.parse('{"__proto__":{"burst":99},"constructor":1}');
  const { options, findings } = resolve(yaml);
  t.is(options['burst'], 10);
  t.deepEqual(
    findings.map((finding) => finding.kind),
    ['unknown-option', 'unknown-option'],
  );
});

test('an empty flag takes away what has no default, and an object becomes its default again', (t) => {
  const withMap: OptionSchema = {
    ...schema,
    properties: { ...schema.properties, map: { type: 'object', default: {}, 'x-flag': 'map' } },
  };
  const flags = new Map([
    ['url', ''],
    ['map', ''],
  ]);
  const yaml = { url: 'http://h', map: { a: 1 } };
  const { options, findings } = resolveOptions(withMap, yaml, { ...none, flags });
  t.deepEqual(findings, []);
  t.false('url' in options);
  t.deepEqual(options['map'], {});
});

test('an empty flag is a fault where a value is needed', (t) => {
  t.deepEqual(
    resolve({}, { burst: '', 'cache-ttl': '' }).findings.map((finding) => finding.place),
    [
      { kind: 'flag', name: 'cache-ttl' },
      { kind: 'flag', name: 'burst' },
    ],
  );
});

test('faults of the environment are known before any pipeline file is read', (t) => {
  const definitions = definitionsOf('demo', schema);
  t.deepEqual(environmentProblems(definitions, { BURST: '0', CACHE_TTL: '', OTHER: 'x' }), [
    'environment variable BURST must be at least 1, not 0',
  ]);
  t.deepEqual(environmentProblems(definitions, { BURST: '1' }), []);
});
