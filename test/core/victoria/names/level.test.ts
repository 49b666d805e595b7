import test from 'ava';
import {
  levelOfLine,
  levelOfSeverityNumber,
  storedLevel,
  levelFromLine,
} from '../../../../core/victoria/names/level.js';
import fc from 'fast-check';
import { levelNames, levelOfWords, normalLevel } from '../../../../core/victoria/names/level-words.js';

const none = new Map<string, string>();

interface Sources {
  readonly ofLabels?: string;
  readonly metadata?: ReadonlyMap<string, string>;
  readonly line: string;
}

function detectLevel({ ofLabels, metadata = none, line }: Sources, scansBodies: boolean): string {
  return storedLevel(ofLabels, metadata) ?? levelOfLine(line, scansBodies);
}

function levelOf(line: string): string {
  return detectLevel({ line }, true);
}

const lines: readonly (readonly [string, string])[] = [
  ['2026-11-01 01:10:00,000 INFO  [main-1] c.e.orders - Processed', 'info'],
  ['ts=1 level=warn msg="x error y"', 'warn'],
  ['level=Error status=503', 'error'],
  ['{"severity":"warning","note":"an error"}', 'warn'],
  ['{"a":{"level":"debug"},"level":"fatal"}', 'debug'],
  ['{"msg":"level","lvl":"ERR","x":"info"}', 'error'],
  ['{"level":"odd","msg":"critical failure"}', 'critical'],
  ['error while warning about info', 'error'],
  ['warning: queue depth 3', 'warn'],
  ['E1101 "Error syncing pod"', 'error'],
  ['\u001b[31mERROR\u001b[0m step', 'unknown'],
  ['{"__error__":"fake"}', 'unknown'],
  ['terrorised informal', 'unknown'],
  ['msg="level=debug" level=info', 'info'],
  ['', 'unknown'],
];

for (const [line, level] of lines) {
  test(`the level of ${JSON.stringify(line)} is ${level}`, (t) => {
    t.is(levelOf(line), level);
  });
}

test('labels decide before metadata, metadata before the line', (t) => {
  const metadata = new Map([['severity_text', 'DEBUG']]);
  t.is(detectLevel({ ofLabels: 'error', metadata, line: 'info' }, true), 'error');
  t.is(detectLevel({ metadata, line: 'info' }, true), 'debug');
});

test('a text of metadata that is no known level stands as it is', (t) => {
  for (const text of ['Fehler', 'NOTICE', 'Trace ']) {
    t.is(detectLevel({ metadata: new Map([['level', text]]), line: '' }, true), text);
  }
});

test('the severity number decides when no text does', (t) => {
  const metadata = new Map([['severity_number', '17']]);
  t.is(detectLevel({ metadata, line: 'info' }, true), 'error');
  const levels = ['1', '8', '9', '13', '24', '25'].map(levelOfSeverityNumber);
  t.deepEqual(levels, ['trace', 'debug', 'info', 'warn', 'fatal', 'unknown']);
});

test('a severity number is read as Go reads one, and what it does not read is info', (t) => {
  const lowest = ['0', '-0', '+0', '-1', '-9223372036854775808', '+17', '0017', '9223372036854775807'];
  const levels = ['unknown', 'unknown', 'unknown', 'trace', 'trace', 'error', 'error', 'unknown'];
  t.deepEqual(lowest.map(levelOfSeverityNumber), levels);
  for (const text of ['high', '1.0', '0x1', ' 17', '1e1', '9223372036854775808', '-9223372036854775809', '١'])
    t.is(levelOfSeverityNumber(text), 'info', text);
});

test('without the body scan the line is not looked at', (t) => {
  t.is(detectLevel({ line: 'level=error' }, false), 'unknown');
});

const levels = [
  'info',
  'WARN',
  'err',
  'odd',
  'Fatal',
  'trc',
  'Information',
  'a "quoted" debug',
  'x\\',
  '{',
  '}',
  ',',
];
const word = fc.constantFrom(...levels);
const name = fc.oneof(
  fc.constantFrom(...levelNames),
  fc.constantFrom('msg', 'a', 'LEVEL ', 'leVel', 'nested'),
);
type Value = string | number | boolean | null | readonly string[] | readonly Field[];
type Field = readonly [name: string, value: Value | { readonly fields: readonly Field[] }];

const scalar = fc.oneof(
  word,
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.boolean(),
);
const { object } = fc.letrec<{ object: readonly Field[] }>((tie) => ({
  object: fc.array(
    fc.tuple(
      name,
      fc.oneof(
        { maxDepth: 3, withCrossShrink: true },
        scalar,
        fc.constant(null),
        fc.array(word, { maxLength: 2 }),
        tie('object').map((fields) => ({ fields })),
      ),
    ),
    { maxLength: 4 },
  ),
}));

function print(fields: readonly Field[], space: string): string {
  const texts = fields.map(([key, value]) => {
    const isObject = typeof value === 'object' && value !== null && 'fields' in value;
    return `${JSON.stringify(key)}${space}:${space}${isObject ? print(value.fields, space) : JSON.stringify(value)}`;
  });
  return `{${space}${texts.join(`${space},${space}`)}${space}}`;
}

/** The first text whose key is a level name, as written; nested objects are searched where they occur. */
function firstText(fields: readonly Field[], depth = 1): string | undefined {
  for (const [key, value] of fields) {
    if (typeof value === 'string' && levelNames.includes(key)) return JSON.stringify(value).slice(1, -1);
    if (typeof value !== 'object' || value === null || !('fields' in value) || depth === 2) continue;
    const found = firstText(value.fields, depth + 1);
    if (found !== undefined) return found;
  }
  return undefined;
}

test('the level of an object is the first text under a name of the list, two objects deep', (t) => {
  fc.assert(
    fc.property(object, fc.constantFrom('', ' ', '\n'), (fields, space) => {
      const line = `${space}${print(fields, space)}${space}`;
      const expected = normalLevel(firstText(fields) ?? '') ?? levelOfWords(line);
      t.is(levelFromLine(line), expected, line);
    }),
    { numRuns: 1000 },
  );
});

test('an object tells its level as far as it is not broken', (t) => {
  const breaks = [
    '"a":nul',
    '"a":"',
    '"a":[1',
    '"a":{"b":1',
    '"a"',
    'a:1',
    '"a":+1',
    '"\\q":1',
    '',
    '"a" 1',
    '"a":{"b":x}',
  ];
  fc.assert(
    fc.property(object, fc.constantFrom(...breaks), object, (fields, broken, behind) => {
      const text = print(fields, '').slice(0, -1);
      const line = `${text}${fields.length > 0 ? ',' : ''}${broken},${print(behind, '').slice(1)}`;
      const value = firstText(fields);
      const expected = normalLevel(value ?? '') ?? levelOfWords(line);
      t.is(levelFromLine(line), expected, line);
    }),
    { numRuns: 1000 },
  );
});

const key = fc.oneof(
  fc.constantFrom(...levelNames, 'LeVeL', 'ſeverity'),
  fc.constantFrom('msg', 'a', 'le', 'levels'),
);
const pairs = fc.array(fc.tuple(key, fc.constantFrom(...levels, '', undefined)), { maxLength: 5 });

function printPair([name, value]: readonly [string, string | undefined]): string {
  if (value === undefined) return name;
  return `${name}=${/^[A-Za-z]*$/.test(value) ? value : JSON.stringify(value)}`;
}

/** The value of the best level name, ignoring case: the first name in the list wins, and for equal names the first pair in the line. */
function bestPair(line: readonly (readonly [string, string | undefined])[]): string | undefined {
  for (const each of levelNames) {
    const found = line.find(([name]) => name.replace('ſ', 's').toLowerCase() === each.toLowerCase());
    if (found !== undefined) return found[1];
  }
  return undefined;
}

test('the level of logfmt pairs is that of the name which comes first in the list, in any case', (t) => {
  fc.assert(
    fc.property(pairs, (made) => {
      const line = `x=1 ${made.map(printPair).join(' ')}`;
      t.is(levelFromLine(line), normalLevel(bestPair(made) ?? '') ?? levelOfWords(line), line);
    }),
    { numRuns: 1000 },
  );
});

test('pairs behind what is no logfmt do not count', (t) => {
  for (const broken of ['a==b', 'a"b', '"a"=b', '=a', 'a=b"c', 'a="\\q"', 'a="b', 'b\ufffd=c']) {
    t.is(levelFromLine(`lvl=wrn ${broken} level=trc`), 'warn', broken);
    t.is(levelFromLine(`x=1 ${broken} level=trc`), undefined, broken);
  }
  t.is(levelFromLine('lvl=wrn a="\\\'" level="\\u0074rc"'), 'trace');
});

const wordLevels = Object.entries({
  ...{ trace: 'trace', debug: 'debug', fatal: 'fatal', critical: 'critical', error: 'error', err: 'error' },
  ...{ warning: 'warn', warn: 'warn', info: 'info' },
});

/** A slow reference: tries every word at every position and checks the characters next to it. */
function slowWords(text: string): string | undefined {
  for (let at = 0; at < text.length; at += 1)
    for (const [known, level] of wordLevels) {
      if (
        text
          .slice(at, at + known.length)
          .replaceAll('İ', 'I')
          .toLowerCase() !== known
      )
        continue;
      const [left, right] = [text[at - 1] ?? ' ', text[at + known.length] ?? ' '];
      if (' \t\n[({"\'=|'.includes(left) && ' \t\n[](){}:,!"\'=|'.includes(right)) return level;
    }
  return undefined;
}

test('level words count where they stand alone, and the first one decides', (t) => {
  const sides = Array.from(' \t\n\r\v[](){}<>:;,.!?"\'=|/\\-_*+#@é1xİ\u00a0');
  const part = fc.oneof(fc.constantFrom(...sides), fc.constantFrom(...wordLevels.map(([known]) => known)));
  const other = fc.constantFrom(
    'INFO',
    'Error',
    'İnfo',
    'CRİTİCAL',
    'wrn',
    'inf',
    'information',
    'errors',
    'terror',
  );
  fc.assert(
    fc.property(fc.array(fc.oneof(part, part, other), { maxLength: 8 }), (parts) => {
      const text = parts.join('');
      t.is(levelOfWords(text), slowWords(text), text);
    }),
    { numRuns: 3000 },
  );
});

const told: readonly (readonly [string, string | undefined])[] = [
  ['{"level":"odd","severity":"error"}', 'error'],
  ['{"level":"odd","msg":"nothing"}', undefined],
  ['{"a":{"b":{"level":"trc"}},"level":"dbg"}', 'debug'],
  ['{"\\u006cevel":"trc"}', 'trace'],
  ['{"a":[{"level":"trc"}],"level":7}', undefined],
  ['\u2003{"level":"trc"}', undefined],
  ['{"level":"trc"}\v', 'trace'],
  ['{"level":"trc"}\u00a0', undefined],
  ['{"level":"trc"} {', undefined],
  ['\ufeff{"level":"trc"}', undefined],
  ['start level', undefined],
  ['level', undefined],
];

for (const [line, level] of told) {
  test(`the line ${escape(JSON.stringify(line))} tells ${level ?? 'no level'}`, (t) => {
    t.is(levelFromLine(line), level);
  });
}

/** Escapes spaces that test titles do not keep. */
function escape(text: string): string {
  return text.replaceAll(/[^ -~]/g, (character) => `U+${character.charCodeAt(0).toString(16)}`);
}
