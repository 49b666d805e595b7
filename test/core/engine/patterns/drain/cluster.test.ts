import test from 'ava';
import { Cluster } from '../../../../../core/engine/patterns/drain/cluster.js';
import { tokenizeText } from '../../../../../core/engine/patterns/drain/text-tokens.js';
import type { TokenizedLine } from '../../../../../core/engine/patterns/drain/tokens.js';

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
