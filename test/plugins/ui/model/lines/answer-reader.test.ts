import test from 'ava';
import fc from 'fast-check';
import { AnswerReader } from '../../../../../plugins/ui/browser/model/lines/answer-reader.js';
import { AnswerError } from '../../../../../plugins/ui/browser/model/lines/json-parts.js';
import { logRows, numbered, sorted, type LogRow } from '../../../../../plugins/ui/browser/model/log-rows.js';
import { anyCharacter } from '../../../../setup/text.js';

/** Reads a response in chunks of these lengths, which repeat. */
function read(text: string, lengths: readonly number[]): AnswerReader {
  const reader = new AnswerReader();
  let at = 0;
  for (let turn = 0; at < text.length; turn++) {
    const length = lengths[turn % lengths.length] ?? 1;
    [...reader.push(text.slice(at, at + length))].forEach(() => undefined);
    at += length;
  }
  reader.end();
  return reader;
}

const withoutId = (row: LogRow): object => ({ ...row, id: 0 });

const streams = fc.array(
  fc.record({
    stream: fc.dictionary(fc.string(), fc.string({ unit: anyCharacter }), { noNullPrototype: true }),
    values: fc.array(
      fc.tuple(
        fc.bigInt({ min: 1n, max: 9n }).map(String),
        fc.string({ unit: fc.constantFrom('"', '\\', '{', ']', ',', ' ', 'a', '\n', '😀') }),
        fc.record({
          parsed: fc.dictionary(fc.constantFrom('a', 'b{'), fc.string(), { noNullPrototype: true }),
        }),
      ),
      { maxLength: 6 },
    ),
  }),
  { maxLength: 4 },
);

test('an answer in pieces has the rows of the whole answer, wherever it is cut', (t) => {
  const lengths = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(streams, lengths, fc.boolean(), (result, cuts, isLaidOut) => {
      const answer = {
        status: 'success',
        data: { resultType: 'streams', encodingFlags: ['x'], result, stats: { summary: { execTime: 0.5 } } },
        warnings: ['w'],
      };
      const reader = read(JSON.stringify(answer, undefined, isLaidOut ? 1 : 0), cuts);
      t.deepEqual(
        numbered(sorted(reader.rows, 'backward')).map(withoutId),
        logRows(result, 'backward').map(withoutId),
      );
      t.deepEqual([reader.stats, reader.warnings], [{ summary: { execTime: 0.5 } }, ['w']]);
    }),
    { endOnFailure: true },
  );
});

test('entries are rows as soon as they have come', (t) => {
  const reader = new AnswerReader();
  const start =
    '{"data":{"resultType":"streams","result":[{"stream":{"a":"b"},"values":[["1","x"],["2","y"],["3';
  [...reader.push(start)].forEach(() => undefined);
  t.deepEqual(
    reader.rows.map(({ line }) => line),
    ['x', 'y'],
  );
});

test('labels that come after their entries are theirs', (t) => {
  const { rows } = read(
    '{"data":{"result":[{"values":[["1","x"]],"stream":{"a":"1"}},{"values":[["2","y"]],"stream":{"a":"2"}}]}}',
    [7],
  );
  t.deepEqual(
    rows.map(({ line, stream }) => [line, stream['a']]),
    [
      ['x', '1'],
      ['y', '2'],
    ],
  );
});

test('an answer that ends too early, or is none of lines, says so', (t) => {
  const early = t.throws(() => read('{"data":{"result":[{"stream":{},"values":[["1","x"]', [9]), {
    instanceOf: AnswerError,
  });
  t.regex(early.message, /ended too early/);
  t.throws(() => read('{"data":{"resultType":"matrix","result":[]}}', [9]), { instanceOf: AnswerError });
  t.throws(() => read(']', [1]), { instanceOf: AnswerError });
});

test('an entry of the same time, labels and text is told apart from its twin in every answer', (t) => {
  const values = [['1', 'x'] as const, ['1', 'x'] as const, ['1', 'y'] as const];
  const keys = logRows([{ stream: {}, values }], 'backward').map(({ key }) => key);
  t.is(new Set(keys).size, 3);
  t.deepEqual(
    logRows([{ stream: {}, values }], 'forward').map(({ key }) => key),
    keys,
  );
});
