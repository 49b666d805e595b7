import test from 'ava';
import fc from 'fast-check';
import { encodeAnswer, type EncodeOptions } from '../../../../core/wire/answer/encode.js';
import { formatFloatPlain } from '../../../../core/base/time/index.js';
import type { Answer, AnswerStats, Entry } from '../../../../core/wire/answer/types.js';
import { LabelSet } from '../../../../core/base/label-set.js';
import { makeLogRequest } from '../../../../core/testing/index.js';
import { anyCharacter } from '../../../setup/text.js';

const stats: AnswerStats = {
  linesProcessed: 10,
  bytesProcessed: 100,
  entriesReturned: 2,
  postFilterLines: 2,
  structuredMetadataBytes: 5,
  execTimeMs: 500,
  splits: 1,
};
const twoTuples: EncodeOptions = { categorizeLabels: false, request: makeLogRequest() };
const threeTuples: EncodeOptions = { categorizeLabels: true, request: makeLogRequest() };

function labels(object: Readonly<Record<string, string>>): LabelSet {
  return LabelSet.from(Object.entries(object));
}

function entry(
  ns: bigint,
  line: string,
  metadata: Readonly<Record<string, string>> = {},
  parsed: Readonly<Record<string, string>> = {},
): Entry {
  return { timestampNs: ns, line, structuredMetadata: labels(metadata), parsed: labels(parsed) };
}

function textOf(answer: Answer, options: EncodeOptions = twoTuples): string {
  return encodeAnswer(answer, options).body.toString('utf8');
}

function resultOf(answer: Answer, options: EncodeOptions = twoTuples): string {
  const text = textOf(answer, options);
  return text.slice(text.indexOf('"resultType"'), text.indexOf(',"stats"'));
}

const streams: Answer = {
  kind: 'streams',
  streams: [
    {
      labels: labels({ app: 'x' }),
      entries: [entry(3n, 'c', { level: 'a' }), entry(2n, 'b'), entry(1n, 'a', { level: 'a' }, { p: '1' })],
    },
  ],
  stats,
  warnings: [],
};

test('2-tuples merge every group into the stream and split it', (t) => {
  t.is(
    resultOf(streams),
    '"resultType":"streams","result":[{"stream":{"app":"x","level":"a","p":"1"},"values":[["1","a"]]},' +
      '{"stream":{"app":"x","level":"a"},"values":[["3","c"]]},{"stream":{"app":"x"},"values":[["2","b"]]}]',
  );
});

test('3-tuples keep the groups apart and leave empty ones out', (t) => {
  t.is(
    resultOf(streams, threeTuples),
    '"resultType":"streams","encodingFlags":["categorize-labels"],"result":[{"stream":{"app":"x"},"values":[' +
      '["3","c",{"structuredMetadata":{"level":"a"}}],["2","b",{}],["1","a",{"structuredMetadata":{"level":"a"},"parsed":{"p":"1"}}]]}]',
  );
});

test('entries of several streams that meet in one merged stream are put in order', (t) => {
  const met: Answer = {
    kind: 'streams',
    streams: [
      { labels: labels({ app: 'x' }), entries: [entry(3n, 'c', { env: 'p' }), entry(1n, 'a', { env: 'p' })] },
      { labels: labels({ app: 'x', env: 'p' }), entries: [entry(2n, 'b')] },
    ],
    stats,
    warnings: [],
  };
  t.is(
    resultOf(met),
    '"resultType":"streams","result":[{"stream":{"app":"x","env":"p"},"values":[["3","c"],["2","b"],["1","a"]]}]',
  );
});

test('streams stand in the order of their labels as Loki writes them', (t) => {
  const sets = [{ app1: 'a' }, { app: 'b', pod: 'p' }, { app: 'b' }, { app: 'a' }];
  const answer: Answer = {
    kind: 'streams',
    streams: sets.toReversed().map((set, at) => ({ labels: labels(set), entries: [entry(BigInt(at), 'x')] })),
    stats,
    warnings: [],
  };
  // `{app1=` < `{app="a"` < `{app="b", ` < `{app="b"}`.
  const expected = [{ app1: 'a' }, { app: 'a' }, { app: 'b', pod: 'p' }, { app: 'b' }];
  for (const options of [twoTuples, threeTuples]) {
    const { result } = (
      JSON.parse(textOf(answer, options)) as { readonly data: { readonly result: readonly object[] } }
    ).data;
    t.deepEqual(
      result.map((each) => 'stream' in each && each.stream),
      expected,
    );
  }
});

test('statistics carry this answer’s numbers, and warnings stand behind the data', (t) => {
  const parsed: unknown = JSON.parse(textOf({ ...streams, warnings: ['careful'] }));
  t.like(parsed, {
    status: 'success',
    data: {
      stats: {
        summary: {
          totalLinesProcessed: 10,
          linesProcessedPerSecond: 20,
          execTime: 0.5,
          totalEntriesReturned: 2,
        },
      },
    },
    warnings: ['careful'],
  });
});

test('samples are seconds and texts', (t) => {
  const point = { timestampMs: 1795216500000, value: 5 };
  const series = [
    { labels: labels({ a: 'b' }), points: [point, { timestampMs: 1795219726897, value: 0.051 }] },
  ];
  t.is(
    resultOf({ kind: 'matrix', series, stats, warnings: [] }, threeTuples),
    '"resultType":"matrix","result":[{"metric":{"a":"b"},"values":[[1795216500,"5"],[1795219726.897,"0.051"]]}]',
  );
  t.is(
    resultOf({ kind: 'vector', samples: [{ labels: LabelSet.empty, point }], stats, warnings: [] }),
    '"resultType":"vector","result":[{"metric":{},"value":[1795216500,"5"]}]',
  );
  t.is(
    resultOf({ kind: 'scalar', point, stats, warnings: [] }),
    '"resultType":"scalar","result":[1795216500,"5"]',
  );
});

test('an empty list of names has no data key, empty series have', (t) => {
  t.is(textOf({ kind: 'names', values: [], warnings: [] }), '{"status":"success"}');
  t.is(textOf({ kind: 'names', values: ['a', 'b'], warnings: [] }), '{"status":"success","data":["a","b"]}');
  t.is(textOf({ kind: 'series', series: [], warnings: [] }), '{"status":"success","data":[]}');
  t.is(
    textOf({ kind: 'series', series: [labels({ a: 'b' })], warnings: ['w'] }),
    '{"status":"success","data":[{"a":"b"}],"warnings":["w"]}',
  );
});

test('index statistics are bare, a formatted query is data', (t) => {
  t.is(
    textOf({ kind: 'index-stats', streams: 1, chunks: 2, bytes: 3, entries: 4, warnings: [] }),
    '{"streams":1,"chunks":2,"bytes":3,"entries":4}',
  );
  t.is(textOf({ kind: 'formatted', query: '{a="b"}' }), '{"status":"success","data":"{a=\\"b\\"}"}');
});

test('values have no exponent and read back as the same number', (t) => {
  t.is(formatFloatPlain(1e21), '1000000000000000000000');
  t.is(formatFloatPlain(2.5e-7), '0.00000025');
  t.is(formatFloatPlain(-1.5e300).length, 302);
  t.is(formatFloatPlain(NaN), 'NaN');
  t.is(formatFloatPlain(Infinity), '+Inf');
  t.is(formatFloatPlain(-Infinity), '-Inf');
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
      const text = formatFloatPlain(value);
      t.false(text.includes('e'));
      t.is(Number(text), value);
    }),
  );
});

test('bytes that exist already go out as they are', (t) => {
  const body = Buffer.from('x');
  const encoded = encodeAnswer(
    { kind: 'encoded', status: 418, contentType: 'text/plain', headers: new Map(), body },
    twoTuples,
  );
  t.is(encoded.status, 418);
  t.is(encoded.body, body);
});

test('whatever lines and labels hold, the answer is JSON that gives them back', (t) => {
  const text = fc.string({ unit: anyCharacter });
  fc.assert(
    fc.property(text, text, text, (line, name, value) => {
      const answer: Answer = {
        kind: 'streams',
        streams: [{ labels: LabelSet.from([[name, value]]), entries: [entry(1n, line)] }],
        stats,
        warnings: [],
      };
      const parsed: unknown = JSON.parse(textOf(answer));
      t.like(parsed, { data: { result: [{ values: [['1', line]] }] } });
    }),
  );
});
