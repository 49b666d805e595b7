import test from 'ava';
import { doAll } from '../../../../../core/base/pace/steps.js';
import { PatternFinder } from '../../../../../core/engine/patterns/drain/pattern-finder.js';

function feed(
  finder: PatternFinder,
  lines: readonly (readonly [stream: string, level: string, line: string])[],
): void {
  for (const [stream, level, line] of lines) finder.add(stream, level, line, 0);
}

test('equal patterns of several streams are one, levels stay apart', (t) => {
  const finder = new PatternFinder({ maxClusters: 10, maxTrees: 10 });
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
    ['job <_> is done', 'info', 4, 4],
    ['job <_> is done', 'warn', 2, 2],
  ]);
});

test('a word that one stream never changes stays in its pattern', (t) => {
  const finder = new PatternFinder({ maxClusters: 10, maxTrees: 10 });
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
  const finder = new PatternFinder({ maxClusters: 10, maxTrees: 1 });
  feed(
    finder,
    Array.from({ length: 20 }, (_line, index) => [`stream${index}`, 'info', `job ${index} is done`] as const),
  );
  t.is(
    doAll(finder.patterns()).reduce((sum, { size }) => sum + size, 0),
    20,
  );
});
