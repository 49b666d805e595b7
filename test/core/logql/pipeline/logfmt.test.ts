import test from 'ava';
import fc from 'fast-check';
import { extractorOf, entryOf, objectOf, parsedLabels, pipelineOf } from './run-query.js';

const key = fc.stringMatching(/^[a-z_]{1,8}$/);
const value = fc.string({ unit: 'grapheme', maxLength: 16 }).filter((text) => !text.includes('\ufffd'));
const pairs = fc.uniqueArray(fc.tuple(key, value), { maxLength: 8, selector: ([name]) => name });

function write(pairsOfLine: readonly (readonly [string, string])[]): string {
  return pairsOfLine
    .map(([name, text]) => {
      const isPlain = /^[^\s"=\u0000-\u0020\\]*$/.test(text);
      return `${name}=${isPlain ? text : JSON.stringify(text)}`;
    })
    .join(' ');
}

test('logfmt reads back what was written', (t) => {
  const pipeline = pipelineOf('| logfmt --strict --keep-empty');
  fc.assert(
    fc.property(pairs, (written) => {
      const wanted = written.map(([name, text]) => [name === 'app' ? 'app_extracted' : name, text] as const);
      t.deepEqual(parsedLabels(pipeline, write(written)), Object.fromEntries(wanted));
    }),
    { numRuns: 1000 },
  );
});

test('empty values give labels only where they are to be kept', (t) => {
  const dropping = pipelineOf('| logfmt');
  fc.assert(
    fc.property(pairs, (written) => {
      const wanted = written
        .filter(([, text]) => text !== '')
        .map(([name, text]) => [name === 'app' ? 'app_extracted' : name, text] as const);
      t.deepEqual(parsedLabels(dropping, write(written)), Object.fromEntries(wanted));
    }),
  );
});

test('a metric query finds the value of a key whether it takes all keys or only that one', (t) => {
  const all = extractorOf('count_over_time({app="shop"} | logfmt [1m])');
  const one = extractorOf('sum by (a) (count_over_time({app="shop"} | logfmt [1m]))');
  fc.assert(
    fc.property(pairs, value, (written, own) => {
      const entry = entryOf(write([...written.filter(([name]) => name !== 'a'), ['a', own]]));
      t.is(one(entry)?.labels.get('a'), all(entry)?.labels.get('a'));
    }),
  );
});

test('the place of a fault is counted in bytes', (t) => {
  const pipeline = pipelineOf('| logfmt --strict');
  t.is(
    parsedLabels(pipeline, 'é=1 ü="x')?.['__error_details__'],
    'logfmt syntax error at pos 11 : unterminated quoted value',
  );
});

test('with parameters the last value of a key counts, and what the line lacks is empty', (t) => {
  t.deepEqual(parsedLabels(pipelineOf('| logfmt d="dup", e'), 'dup=1 dup=2'), { d: '2', e: '' });
  t.deepEqual(parsedLabels(pipelineOf('| logfmt user_id'), 'user.id=7'), { user_id: '7' });
});

test('keys and values of no use leave the rest alone', (t) => {
  const extract = extractorOf('sum by (b) (count_over_time({app="shop"} | logfmt | a>1 [1m]))');
  const found = extract(entryOf('x="y z" =broken a=2 "quoted" b=c d="never closed'));
  t.deepEqual(found && objectOf(found.labels), { b: 'c' });
  t.is(found?.error, undefined);
  t.is(extract(entryOf('a=1 b=c')), undefined);
});
