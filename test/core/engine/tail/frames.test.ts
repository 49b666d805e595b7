import test from 'ava';
import { LabelSet } from '../../../../core/base/label-set.js';
import { FrameWriter } from '../../../../core/engine/tail/frames.js';
import { entryOf } from './rows.js';

const rich = {
  labels: LabelSet.from([['app', 'a']]),
  entry: {
    timestampNs: 7n,
    line: 'say "hi"',
    structuredMetadata: LabelSet.from([['user', 'u']]),
    parsed: LabelSet.from([['level', 'info']]),
  },
};

test('labels are merged on the stream without the flag', (t) => {
  t.is(
    new FrameWriter(false).frame([rich, entryOf(8n, 'x')], []),
    '{"streams":[{"stream":{"app":"a","level":"info","user":"u"},"values":[["7","say \\"hi\\""]]},' +
      '{"stream":{"app":"a"},"values":[["8","x"]]}]}',
  );
});

test('groups stand in a third element with the flag, and the flag stands behind the streams', (t) => {
  t.is(
    new FrameWriter(true).frame([rich, entryOf(8n, 'x')], []),
    '{"streams":[{"stream":{"app":"a"},"values":[["7","say \\"hi\\"",{"structuredMetadata":{"user":"u"},"parsed":{"level":"info"}}]]},' +
      '{"stream":{"app":"a"},"values":[["8","x",{}]]}],"encodingFlags":["categorize-labels"]}',
  );
});

test('dropped entries are told by time and labels', (t) => {
  const dropped = [{ timestampNs: 5n, labels: LabelSet.from([['app', 'a']]) }];
  t.is(
    new FrameWriter(false).frame([], dropped),
    '{"streams":[],"dropped_entries":[{"timestamp":"5","labels":{"app":"a"}}]}',
  );
});
