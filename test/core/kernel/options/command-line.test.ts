import test from 'ava';
import fc from 'fast-check';
import {
  definitionsOf,
  FlagIndex,
  parseCommandLine,
  type OptionSchema,
} from '../../../../core/kernel/options/index.js';
import { anyCharacter } from '../../../setup/text.js';

const schema: OptionSchema = {
  type: 'object',
  properties: {
    style: { type: 'string', enum: ['underscores', 'passthrough'], 'x-flag': 'label-style' },
    msg: { type: 'string', 'x-flag': 'backend-default-msg-value' },
    enabled: { type: 'boolean', default: true, 'x-flag': 'cache' },
    metrics: { type: 'boolean', default: false, 'x-flag': 'server.register-instrumentation' },
    count: { type: 'integer', minimum: 1, 'x-flag': 'max' },
    ttl: { type: 'string', format: 'duration', 'x-flag': 'ttl' },
    map: { type: 'object', 'x-flag': 'tenant-map' },
    token: { type: 'string', minLength: 8, pattern: '^[a-z]+$', 'x-flag': 'token', 'x-secret': true },
  },
  additionalProperties: false,
};
const index = new FlagIndex(definitionsOf('demo', schema));
const own = [
  { name: 'pipeline', kind: 'string', description: 'Pipeline file.' },
  { name: 'help', kind: 'boolean', description: 'Show this.' },
] as const;
const parse = (...args: string[]) => parseCommandLine(args, index, own);

const forms: readonly (readonly [readonly string[], string, string])[] = [
  [['-label-style=passthrough'], 'label-style', 'passthrough'],
  [['--label-style=passthrough'], 'label-style', 'passthrough'],
  [['-label-style', 'passthrough'], 'label-style', 'passthrough'],
  [['--label-style', 'passthrough'], 'label-style', 'passthrough'],
  [['-cache'], 'cache', 'true'],
  [['--cache'], 'cache', 'true'],
  [['-cache=false'], 'cache', 'false'],
  [['--cache=0'], 'cache', '0'],
  [['-cache', 'false'], 'cache', 'false'],
  [['-server.register-instrumentation'], 'server.register-instrumentation', 'true'],
  [['--server.register-instrumentation=true'], 'server.register-instrumentation', 'true'],
  [['-max', '007'], 'max', '007'],
  [['-ttl=1h30m'], 'ttl', '1h30m'],
  [['-tenant-map={"a":{"b.c":1}}'], 'tenant-map', '{"a":{"b.c":1}}'],
  [['-backend-default-msg-value='], 'backend-default-msg-value', ''],
  [['-backend-default-msg-value', '-x'], 'backend-default-msg-value', '-x'],
  [['-backend-default-msg-value=a=b'], 'backend-default-msg-value', 'a=b'],
  [['-backend-default-msg-value="quoted"'], 'backend-default-msg-value', '"quoted"'],
  [["-backend-default-msg-value='q'"], 'backend-default-msg-value', "'q'"],
  [['-max=1', '-max=2'], 'max', '2'],
];
for (const [args, name, text] of forms) {
  test(`${args.join(' ')} gives ${name} the text ${JSON.stringify(text)}`, (t) => {
    const line = parse(...args);
    t.deepEqual(line.problems, []);
    t.deepEqual([...line.flags], [[name, text]]);
  });
}

test('any text reaches its flag unchanged, in both forms', (t) => {
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter }), (text) => {
      const name = 'backend-default-msg-value';
      t.is(parse(`-${name}=${text}`).flags.get(name), text);
      t.is(parse(`--${name}`, text).flags.get(name), text);
    }),
  );
});

test('commands and file names stay apart from flags', (t) => {
  const line = parse('check', '-cache', 'a.yaml', '--pipeline', 'site.yaml', '--', '-max');
  t.deepEqual(line.positionals, ['check', 'a.yaml', '-max']);
  t.deepEqual([...line.own], [['pipeline', 'site.yaml']]);
  t.deepEqual([...line.flags], [['cache', 'true']]);
});

test('negative numbers and a lone dash are no flags', (t) => {
  t.deepEqual(parse('-5', '-').positionals, ['-5', '-']);
});

const refused: readonly (readonly [readonly string[], string])[] = [
  [['-lable-style=x'], 'unknown flag -lable-style, did you mean -label-style?'],
  [
    ['-server-register-instrumentation'],
    'unknown flag -server-register-instrumentation, did you mean -server.register-instrumentation?',
  ],
  [['-halp'], 'unknown flag -halp, did you mean -help?'],
  [['-qqqqqqqqqqqq'], 'unknown flag -qqqqqqqqqqqq'],
  [['--__proto__=1'], 'unknown flag -__proto__'],
  [['-constructor=1'], 'unknown flag -constructor'],
  [['-no-cache'], 'unknown flag -no-cache'],
  [['-max'], 'flag -max needs a value'],
  [['-max=0'], 'flag -max must be at least 1, not 0'],
  [['-max=many'], 'flag -max must be a whole number, not "many"'],
  [
    ['-ttl=5'],
    'flag -ttl must be a duration such as "30s", "5m" or "1h30m", not "5", write "5s" for seconds',
  ],
  [['-cache=yes'], 'flag -cache must be true or false, not "yes"'],
  [['-help=yes'], 'flag -help must be true or false, not "yes"'],
  [
    ['-label-style=underscore'],
    'flag -label-style must be underscores or passthrough, not "underscore", did you mean "underscores"?',
  ],
  [['-tenant-map=[]'], 'flag -tenant-map must be a mapping, not []'],
];
for (const [args, problem] of refused) {
  test(`${args.join(' ')} is refused: ${problem}`, (t) => t.deepEqual(parse(...args).problems, [problem]));
}

test('every problem is reported, in the order of the command line', (t) => {
  t.deepEqual(parse('-max=0', '-zzzzzzzz', '-cache=yes').problems.length, 3);
});

test('a secret is not shown in a message', (t) => {
  const problems = parse('-token=Hunter2').problems.join();
  t.regex(problems, /flag -token/);
  t.notRegex(problems, /Hunter2/);
});
