import test from 'ava';
import { encodeStats, textAnswer } from '../../../../core/wire/answer/encode.js';
import { encodeLegacySteps, type LegacyOptions } from '../../../../core/wire/answer/encode-legacy.js';
import type { Answer, EncodedAnswer, Entry, StreamResult } from '../../../../core/wire/answer/types.js';
import { LabelSet } from '../../../../core/base/label-set.js';
import { doAll } from '../../../../core/base/pace/steps.js';
import { makeLogAnswer } from '../../../../core/testing/index.js';

type Group = Readonly<Record<string, string>>;

function stream(
  labels: Group,
  entries: readonly (readonly [bigint, string, Group?, Group?])[],
): StreamResult {
  const set = (group: Group = {}): LabelSet => LabelSet.from(Object.entries(group));
  return {
    labels: set(labels),
    entries: entries.map(([timestampNs, line, metadata, parsed]): Entry => {
      return { timestampNs, line, structuredMetadata: set(metadata), parsed: set(parsed) };
    }),
  };
}

const none = makeLogAnswer({}, []);

function encode(answer: Answer, options: Partial<LegacyOptions> = {}): EncodedAnswer {
  return doAll(encodeLegacySteps(answer, { categorizeLabels: false, direction: 'backward', ...options }));
}

/** The body with empty stats. */
function shown(answer: Answer, options: Partial<LegacyOptions> = {}): string {
  return encode(answer, options).body.toString('utf8').replace(encodeStats(none.stats), '{}');
}

const streams = [
  stream({ app: 'x', n: '2' }, [
    [3n, 'c', { level: 'a' }],
    [2n, 'b', { level: 'b' }],
    [1n, 'a', { level: 'a' }],
  ]),
  stream({ app: 'x', n: '10' }, [[2_000_000_000n, 'd', { level: 'a' }, { level: 'p', n: '2' }]]),
];
const answer: Answer = { ...none, streams };

test('labels of later groups win, in order of the text of the labels', (t) => {
  t.is(
    shown(answer),
    String.raw`{"streams":[{"labels":"{app=\"x\", level=\"a\", n=\"2\"}","entries":[{"ts":"1970-01-01T00:00:00.000000003Z","line":"c"},{"ts":"1970-01-01T00:00:00.000000001Z","line":"a"}]},` +
      String.raw`{"labels":"{app=\"x\", level=\"b\", n=\"2\"}","entries":[{"ts":"1970-01-01T00:00:00.000000002Z","line":"b"}]},` +
      String.raw`{"labels":"{app=\"x\", level=\"p\", n=\"2\"}","entries":[{"ts":"1970-01-01T00:00:02Z","line":"d","parsed":{"level":"p","n":"2"}}]}],"stats":{}}`,
  );
});

test('with groups apart, streams have their own labels and no entry shows structured metadata', (t) => {
  t.is(
    shown(answer, { categorizeLabels: true }),
    String.raw`{"streams":[{"labels":"{app=\"x\", n=\"10\"}","entries":[{"ts":"1970-01-01T00:00:02Z","line":"d","parsed":{"level":"p","n":"2"}}]},` +
      String.raw`{"labels":"{app=\"x\", n=\"2\"}","entries":[{"ts":"1970-01-01T00:00:00.000000003Z","line":"c"},{"ts":"1970-01-01T00:00:00.000000002Z","line":"b"},{"ts":"1970-01-01T00:00:00.000000001Z","line":"a"}]}],"stats":{}}`,
  );
});

test('entries of streams that meet are in the order of the direction, those of one instant as they came', (t) => {
  const meeting: Answer = {
    ...none,
    streams: [
      stream({}, [
        [1n, 'a'],
        [2n, 'b'],
      ]),
      stream({}, [
        [1n, 'c'],
        [3n, 'd'],
      ]),
    ],
  };
  const lines = (text: string): string =>
    [...text.matchAll(/"line":"(.)"/g)].map(([, line]) => line).join('');
  t.is(lines(shown(meeting, { direction: 'forward' })), 'acbd');
  t.is(lines(shown(meeting)), 'dbac');
});

test('an answer without streams and one with notices keep the shape', (t) => {
  t.is(shown(none), '{"streams":[],"stats":{}}');
  t.is(shown({ ...none, warnings: ['partial'] }), '{"streams":[],"stats":{},"warnings":["partial"]}');
});

test('samples have no legacy shape, and what is finished goes on as it is', (t) => {
  t.throws(() => shown({ kind: 'matrix', series: [], stats: none.stats, warnings: [] }), {
    message: /^matrix has no legacy shape/,
  });
  const closed = textAnswer(503, 'closed');
  t.is(encode(closed), closed);
});
