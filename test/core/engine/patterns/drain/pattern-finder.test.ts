import test from 'ava';
import { doAll } from '../../../../../core/base/pace/steps.js';
import { PatternFinder } from '../../../../../core/engine/patterns/drain/pattern-finder.js';

function feed(
  finder: PatternFinder,
  lines: readonly (readonly [stream: string, level: string, line: string])[],
): void {
  for (const [streamKey, level, line] of lines) finder.add({ streamKey, level, line, timeMs: 0 }, 0);
}

test('each stream and level has patterns of its own', (t) => {
  const finder = new PatternFinder(10, 10);
  feed(finder, [
    ['a', 'info', 'job 1 is done'],
    ['a', 'info', 'job 2 is done'],
    ['b', 'info', 'job 3 is done'],
    ['b', 'info', 'job 4 is done'],
    ['b', 'warn', 'job 5 is done'],
    ['b', 'warn', 'job 6 is done'],
  ]);
  const found = doAll(finder.patterns()).map(({ pattern, level, size, counts }) => [
    pattern,
    level,
    size,
    counts.get(0),
  ]);
  t.deepEqual(found, [
    ['job <_> is done', 'info', 2, 2],
    ['job <_> is done', 'info', 2, 2],
    ['job <_> is done', 'warn', 2, 2],
  ]);
});

function found(lines: readonly string[]): readonly string[] {
  const finder = new PatternFinder(10, 10);
  feed(
    finder,
    lines.map((line) => ['a', 'info', line]),
  );
  return doAll(finder.patterns()).map(({ pattern }) => pattern);
}

test('the first line of a stream tells how all are cut', (t) => {
  const pairs = ['addr=[10.0.0.1] ok', 'addr=[10.0.0.2] ok'];
  t.deepEqual(found(['level=info msg=up', ...pairs]).slice(1), ['addr=<_> ok=']);
  t.deepEqual(found(pairs), ['addr=[<_>] ok']);
  t.deepEqual(found(['{"msg":"3 of 4 parts sent"}', 'plain text is left out']), ['<_>3 of 4 parts sent<_>']);
});

test('a stream whose lines are all different is not learnt for ten minutes', (t) => {
  const finder = new PatternFinder(10, 10);
  const sizeOf = (): number => doAll(finder.patterns()).reduce((sum, { size }) => sum + size, 0);
  const add = (line: string, timeMs: number): void => {
    finder.add({ streamKey: 'a', level: 'info', line, timeMs }, 0);
  };
  for (let index = 0; index < 30; index += 1) {
    const word = String.fromCharCode(97 + index);
    add(`${word} ${word} ${word} ${word}`, 0);
  }
  t.is(sizeOf(), 10);
  // Four of fourteen lines evicted a pattern, so no pattern was learned after them.
  const last = 'n n n n';
  for (let index = 0; index < 5; index += 1) add(last, 599_000);
  t.is(sizeOf(), 10);
  add(last, 600_000);
  t.is(sizeOf(), 11);
});

test('a word that one stream never changes stays in its pattern', (t) => {
  const finder = new PatternFinder(10, 10);
  feed(finder, [
    ['a', 'info', 'host-1 job 1 done'],
    ['a', 'info', 'host-1 job 2 done'],
    ['b', 'info', 'host-2 job 3 done'],
    ['b', 'info', 'host-2 job 4 done'],
  ]);
  t.deepEqual(
    doAll(finder.patterns())
      .map(({ pattern }) => pattern)
      .sort(),
    ['host-1 job <_> done', 'host-2 job <_> done'],
  );
});

test('beyond the bound streams share a tree, and no line is lost', (t) => {
  const finder = new PatternFinder(10, 1);
  feed(
    finder,
    Array.from({ length: 20 }, (_line, index) => [`stream${index}`, 'info', `job ${index} is done`] as const),
  );
  t.is(
    doAll(finder.patterns()).reduce((sum, { size }) => sum + size, 0),
    20,
  );
});
