import test from 'ava';
import { levelOfLine, levelOfSeverityNumber, storedLevel } from '../../../../core/victoria/names/level.js';

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
