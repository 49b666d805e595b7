import test from 'ava';
import fc from 'fast-check';
import { checkGrafanaAnswer, readGrafanaAnswer } from './grafana-reader.js';

const asked = { isCategorized: true };
const plain = { isCategorized: false };

const tuple = ['1793491200000000001', 'a line', { structuredMetadata: { trace: 't' }, parsed: { app: 'p' } }];
const stream = { stream: { app: 'a' }, values: [tuple] };
const flags = ['categorize-labels'];

/** A response whose `data` members are in the given order. */
function answerOf(data: object, more: object = {}): string {
  return JSON.stringify({ status: 'success', data, ...more });
}

const good = {
  resultType: 'streams',
  encodingFlags: flags,
  result: [stream],
  stats: { summary: { execTime: 1 } },
};

test.serial('labels of all groups are read, with what a parser found on top', (t) => {
  const { rows, stats, encodingFlags } = checkGrafanaAnswer(answerOf(good), asked);
  t.deepEqual(encodingFlags, flags);
  t.deepEqual(stats, good.stats);
  t.deepEqual(
    rows.map(({ labels, types }) => [[...labels], [...types]]),
    [
      [
        [
          ['app', 'p'],
          ['trace', 't'],
        ],
        [
          ['app', 'P'],
          ['trace', 'S'],
        ],
      ],
    ],
  );
  t.is(rows[0]?.timestampNs, 1793491200000000001n);
});

test.serial('flags that come after the result make its third items unreadable', (t) => {
  const { encodingFlags, ...others } = good;
  t.throws(() => readGrafanaAnswer(answerOf({ ...others, encodingFlags })), { message: /expected "\]"/ });
});

test.serial('a result before its type is read late by Grafana, and is no right answer', (t) => {
  const { resultType, result, stats } = { ...good, result: [{ stream: {}, values: [tuple.slice(0, 2)] }] };
  const swapped = answerOf({ result, resultType, stats });
  t.is(readGrafanaAnswer(swapped).rows.length, 1);
  t.throws(() => checkGrafanaAnswer(swapped, plain), {
    message: /^keys of data are result, resultType, stats/,
  });
});

test.serial('statistics before the result are lost, and no right answer', (t) => {
  const { stats, ...others } = good;
  const early = answerOf({ stats, ...others });
  t.is(readGrafanaAnswer(early).stats, undefined);
  t.throws(() => checkGrafanaAnswer(early, asked), { message: /^keys of data/ });
});

test.serial('an answer without a type of result is refused', (t) => {
  t.throws(() => readGrafanaAnswer(answerOf({ result: [] })), { message: 'no resultType found' });
  t.throws(() => readGrafanaAnswer(answerOf([])), { message: 'expected object type' });
  t.throws(() => readGrafanaAnswer('{"status":"success"}'), { message: 'no data' });
  t.throws(() => readGrafanaAnswer(answerOf({ resultType: 'table', result: [] })), {
    message: 'unknown result type: table',
  });
});

test.serial('one tuple of another width breaks the whole answer', (t) => {
  const short = { stream: {}, values: [tuple, tuple.slice(0, 2)] };
  t.throws(() => readGrafanaAnswer(answerOf({ ...good, result: [short] })), { message: /expected ","/ });
  const long = { stream: {}, values: [tuple.slice(0, 2), tuple] };
  t.throws(() => readGrafanaAnswer(answerOf({ resultType: 'streams', result: [long] })), {
    message: /expected "\]"/,
  });
});

test.serial('a third item is an object of two groups with texts', (t) => {
  for (const third of ['text', ['a'], { other: {} }, { parsed: { n: 1 } }, { parsed: null }]) {
    const odd = { stream: {}, values: [[...tuple.slice(0, 2), third]] };
    t.throws(() => readGrafanaAnswer(answerOf({ ...good, result: [odd] })), undefined, JSON.stringify(third));
  }
  const empty = { stream: {}, values: [[...tuple.slice(0, 2), {}]] };
  t.is(readGrafanaAnswer(answerOf({ ...good, result: [empty] })).rows.length, 1);
});

test.serial('times of logs are texts of nanoseconds', (t) => {
  for (const time of ['1793491', '', 'now', '1793491200000']) {
    const odd = { stream: {}, values: [[time, 'a line', {}]] };
    t.throws(() => checkGrafanaAnswer(answerOf({ ...good, result: [odd] }), asked), undefined, time);
  }
  const asNumber = { stream: {}, values: [[1793491200, 'a line', {}]] };
  t.throws(() => readGrafanaAnswer(answerOf({ ...good, result: [asNumber] })), {
    message: /expected a string/,
  });
});

test.serial('values of series are texts, times numbers; NaN and infinities are values', (t) => {
  const points = [
    [1, 'NaN'],
    [2.5, '+Inf'],
    [3, '-Inf'],
    [4, '1e-05'],
  ];
  const matrix = { resultType: 'matrix', result: [{ metric: { a: 'b' }, values: points }], stats: {} };
  const [series] = checkGrafanaAnswer(answerOf(matrix), asked).series;
  t.deepEqual(series?.points, [
    [1, NaN],
    [2.5, Infinity],
    [3, -Infinity],
    [4, 0.00001],
  ]);
  for (const point of [[1, 2], ['1', '2'], [1, 'two'], [1, null], [1], [1, '2', '3']]) {
    const odd = { resultType: 'vector', result: [{ metric: {}, value: point }], stats: {} };
    t.throws(() => readGrafanaAnswer(answerOf(odd)), undefined, JSON.stringify(point));
  }
});

test.serial('points go up, and have milliseconds at most', (t) => {
  const of = (...times: readonly number[]): string =>
    answerOf({
      resultType: 'matrix',
      result: [{ metric: {}, values: times.map((time) => [time, '1']) }],
      stats: {},
    });
  t.notThrows(() => checkGrafanaAnswer(of(1, 1.001, 2), plain));
  t.throws(() => checkGrafanaAnswer(of(2, 1), plain), { message: /out of order/ });
  t.throws(() => checkGrafanaAnswer(of(1, 1), plain), { message: /out of order/ });
  t.throws(() => checkGrafanaAnswer(of(1.0001), plain), { message: /more than milliseconds/ });
});

test.serial('flags on what is no stream, flags that nobody asked for, and none where they were', (t) => {
  const matrix = { resultType: 'matrix', encodingFlags: flags, result: [], stats: {} };
  t.throws(() => checkGrafanaAnswer(answerOf(matrix), asked));
  t.throws(() => checkGrafanaAnswer(answerOf(good), plain));
  t.throws(() => checkGrafanaAnswer(answerOf({ resultType: 'streams', result: [], stats: {} }), asked));
});

test.serial('one label set is one stream', (t) => {
  t.throws(() => checkGrafanaAnswer(answerOf({ ...good, result: [stream, stream] }), asked), {
    message: 'two streams have the same labels',
  });
});

test.serial('an error, warnings, and keys that nobody knows', (t) => {
  t.throws(() => readGrafanaAnswer('{"status":"error","errorType":"timeout","error":"too slow"}'), {
    message: 'timeout: too slow',
  });
  const more = { warnings: ['partial'], later: [{ a: [1, true, null] }] };
  t.deepEqual(checkGrafanaAnswer(answerOf(good, more), asked).notices, ['partial']);
});

test.serial('text that ends too early, or is no JSON, is refused', (t) => {
  const text = answerOf(good);
  for (let length = 0; length < text.length; length += 1)
    t.throws(() => readGrafanaAnswer(text.slice(0, length)));
});

test.serial('every text that JSON can hold is read as it was written', (t) => {
  const label = fc.dictionary(fc.string({ minLength: 1 }), fc.string(), {
    noNullPrototype: true,
    maxKeys: 4,
  });
  const entries = fc.array(fc.tuple(fc.string(), label, label), { maxLength: 4 });
  fc.assert(
    fc.property(label, entries, fc.integer({ min: 0, max: 2 }), (labels, lines, indent) => {
      const values = lines.map(([line, structuredMetadata, parsed]) => [
        '1793491200000000001',
        line,
        { structuredMetadata, parsed },
      ]);
      const text = JSON.stringify(
        { status: 'success', data: { ...good, result: [{ stream: labels, values }] } },
        null,
        indent,
      );
      const { rows } = checkGrafanaAnswer(text, asked);
      t.deepEqual(
        rows.map((row) => [row.line, Object.fromEntries(row.labels)]),
        lines.map(([line, metadata, parsed]) => [line, { ...labels, ...metadata, ...parsed }]),
      );
    }),
  );
});
