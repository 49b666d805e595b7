import test from 'ava';
import fc from 'fast-check';
import { Drain, Cluster } from '../../../../../core/engine/patterns/drain/drain.js';
import { tokenize, tokenizeText } from '../../../../../core/engine/patterns/drain/tokenize.js';
import type { TokenizedLine } from '../../../../../core/engine/patterns/drain/tokenize.js';

type Counted = readonly (readonly [pattern: string, size: number])[];

function feed(lines: readonly string[], maxClusters = 300): Drain {
  const drain = new Drain(maxClusters);
  for (const [index, line] of lines.entries()) {
    const tokenized = tokenize(line, 'text');
    if (tokenized !== undefined) drain.add(tokenized, index % 3);
  }
  return drain;
}

function patternsOf(drain: Drain): Counted {
  return drain
    .clusters()
    .map((cluster) => [cluster.pattern(), cluster.size] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1));
}

test('what differs from line to line is left open, words that lead apart make patterns of their own', (t) => {
  const lines = [
    'job 1 started by erin',
    'job 2 started by erin',
    'job 3 started by bob',
    'job 44 failed: exit status 3',
  ];
  t.deepEqual(patternsOf(feed(lines)), [
    ['job 44 failed: exit status 3', 1],
    ['job <_> started by <_>', 3],
  ]);
});

test('text before the last token leads through the tree', (t) => {
  const lines = ['GET /healthz took 3 ms', 'GET /login took 4 ms', 'GET /healthz took 5 ms'];
  t.deepEqual(patternsOf(feed(lines)), [
    ['GET /healthz took <_> ms', 2],
    ['GET /login took 4 ms', 1],
  ]);
});

test('lines of different lengths do not meet', (t) => {
  const lines = ['a = 1 b = 2', 'one two three 4', 'one two three four 5'];
  t.is(patternsOf(feed(lines)).length, 3);
});

const words = fc.constantFrom('alpha', 'beta', 'gamma', '1', '22', '10.0.0.1', 'x=y', '[z]');
const lines = fc.array(
  fc.array(words, { minLength: 3, maxLength: 6 }).map((parts) => parts.join(' ')),
  {
    maxLength: 60,
  },
);

function inOrder(counts: ReadonlyMap<number, number>): readonly (readonly [number, number])[] {
  return [...counts].sort(([a], [b]) => a - b);
}

test('the same lines give the same counts, however they are cut into batches', (t) => {
  fc.assert(
    fc.property(lines, fc.array(fc.nat(59), { maxLength: 5 }), (all, cuts) => {
      const drain = new Drain(300);
      const borders = [0, ...cuts.sort((a, b) => a - b), all.length];
      for (const [index, from] of borders.slice(0, -1).entries())
        for (const [offset, line] of all.slice(from, borders[index + 1]).entries()) {
          const tokenized = tokenize(line, 'text');
          if (tokenized !== undefined) drain.add(tokenized, (from + offset) % 3);
        }
      t.deepEqual(patternsOf(drain), patternsOf(feed(all)));
    }),
  );
});

test('every line that has tokens is counted once, in its bucket', (t) => {
  fc.assert(
    fc.property(lines, (all) => {
      const counted = new Map<number, number>();
      for (const { counts, size } of feed(all).clusters()) {
        t.is(
          [...counts.values()].reduce((sum, count) => sum + count, 0),
          size,
        );
        for (const [bucket, count] of counts) counted.set(bucket, (counted.get(bucket) ?? 0) + count);
      }
      const wanted = new Map<number, number>();
      for (const [index, line] of all.entries())
        if (tokenize(line, 'text') !== undefined) wanted.set(index % 3, (wanted.get(index % 3) ?? 0) + 1);
      t.deepEqual(inOrder(counted), inOrder(wanted));
    }),
  );
});

test('a full tree forgets the pattern that was quiet longest', (t) => {
  const found = patternsOf(feed(['a b c one', 'd e f two', 'a b c one', 'g h i three'], 2));
  t.deepEqual(found, [
    ['a b c one', 2],
    ['g h i three', 1],
  ]);
});

test('what a line is compared with is not quiet, though another took it', (t) => {
  // Numbers at the start put the first two lines into one leaf, so each line like the first is compared with both.
  const drain = feed(['1 2 3 4 x', '5 6 7 8 y', 'p q r s t', '1 2 3 4 x', 'k l m n o'], 3);
  t.deepEqual(patternsOf(drain), [
    ['1 2 3 4 x', 2],
    ['5 6 7 8 y', 1],
    ['k l m n o', 1],
  ]);
});

test('memory is bounded by the number of patterns', (t) => {
  const many = Array.from(
    { length: 5000 },
    (_line, index) => `w${'x'.repeat(index % 97)} is ${index} of ${'y'.repeat(index % 89)}`,
  );
  t.true(feed(many, 50).clusters().length <= 50);
});

function tokensOf(line: string): TokenizedLine {
  const tokenized = tokenizeText(line);
  if (tokenized === undefined) throw new Error(`too many tokens: ${line}`);
  return tokenized;
}

function clusterOf(...lines: readonly string[]): Cluster {
  const [first = ''] = lines;
  const cluster = new Cluster(tokensOf(first));
  for (const [bucket, line] of lines.entries()) cluster.take(tokensOf(line).tokens, bucket);
  return cluster;
}

test('places where lines differ are open, and open places that touch are shown as one', (t) => {
  t.is(clusterOf('id 1"2 of x', 'id 7!9 of x').pattern(), 'id <_> of x');
  t.is(clusterOf('id 1 2 of x', 'id 7 9 of x').pattern(), 'id <_> <_> of x');
});

test('likeness is the share of equal tokens in their places; open ones are told apart', (t) => {
  const cluster = clusterOf('a b c d', 'a b c e');
  t.deepEqual(cluster.compare(['a', 'b', 'x', 'd']), { similarity: 0.5, open: 1 });
  t.deepEqual(cluster.compare(['x', 'y', 'z', 'd']), { similarity: 0, open: 1 });
});

test('lines are counted by bucket', (t) => {
  const cluster = clusterOf('a b c d', 'a b c d');
  cluster.take(['a', 'b', 'c', 'd'], 1);
  t.deepEqual(
    [...cluster.counts],
    [
      [0, 1],
      [1, 2],
    ],
  );
  t.is(cluster.size, 3);
});

test('a token that begins with NUL must be equal', (t) => {
  const cluster = clusterOf('\u0000x b c d');
  t.is(cluster.compare(['\u0000x', 'b', 'c', '?']).similarity, 0.75);
  t.is(cluster.compare(['y', 'b', 'c', 'd']).similarity, -1);
});
