import test from 'ava';
import { clientErrorOf } from '../../../core/http/error-body.js';
import { LogqlError } from '../../../core/logql/error.js';
import { parseRowTime } from '../../../core/victoria/names/row-reader.js';
import { parseStreamText } from '../../../core/victoria/logsql/stream-text.js';

const { signal } = new AbortController();

/** The status and the message for a client if this work throws. */
function toldOf(work: () => unknown): readonly [status: number, text: string] {
  try {
    work();
  } catch (error) {
    const { status, message } = clientErrorOf(error, signal);
    return [status, message];
  }
  throw new Error('nothing was thrown');
}

test('rows that the backend made wrong are told as such', (t) => {
  t.deepEqual(
    toldOf(() => parseStreamText('{a=b')),
    [502, 'unexpected response from the backend: malformed _stream at offset 1: {a=b'],
  );
  t.deepEqual(
    toldOf(() => parseRowTime('yesterday')),
    [502, 'unexpected response from the backend: malformed _time: yesterday'],
  );
});

test('a defect is told as one, without its words', (t) => {
  t.deepEqual(
    toldOf(() => {
      throw new Error('secret');
    }),
    [500, 'internal error'],
  );
});

test('what a query gets wrong is told in full', (t) => {
  t.deepEqual(
    toldOf(() => {
      throw new LogqlError('parse error : no');
    }),
    [400, 'parse error : no'],
  );
});
