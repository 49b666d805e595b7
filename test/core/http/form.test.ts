import fc from 'fast-check';
import test from 'ava';
import { request } from 'undici';
import { decodeForm } from '../../../core/http/serve-route.js';
import { makePipeline, withPipeline } from '../../../core/testing/index.js';
import { serving, telling } from './fixtures.js';
import { runs } from '../../setup/samples.js';

/** The pairs of a form, and the number of turns that other work had meanwhile. */
function decode(form: string): {
  readonly pairs: readonly (readonly [string, string])[];
  readonly turns: number;
} {
  const pairs: (readonly [string, string])[] = [];
  const steps = decodeForm(Buffer.from(form), (name, value) => pairs.push([name, value]));
  let turns = 0;
  while (steps.next().done !== true) turns += 1;
  return { pairs, turns };
}

test('forms are decoded as URLSearchParams decodes them', (t) => {
  // Node's own parser reads non-ASCII characters as bytes next to an invalid escape, so the pieces are ASCII.
  const piece = fc.constantFrom('a', '+', '%', '%4', '%41', '%zz', '%C3%A4', '%c3', '%00', '=', '&', ' ');
  const form = fc.array(piece, { maxLength: 20 }).map((pieces) => pieces.join(''));
  fc.assert(
    fc.property(form, (text) => {
      t.deepEqual(decode(text).pairs, [...new URLSearchParams(text)]);
    }),
    { seed: 20261122, numRuns: runs(400) },
  );
  t.deepEqual(decode('ä=🙂+%41').pairs, [['ä', '🙂 A']]);
});

test('a text is the same wherever it is cut into parts', (t) => {
  for (const piece of [
    'ä',
    '€',
    '🙂',
    'aä🙂',
    '%F0%9F%99%82',
    '%80',
    '%F0%80%80%80%80',
    '%C3',
    '%E2%82',
    'a%80%80%80%80%80b',
  ]) {
    const bytes = bytesOf(piece);
    const repeated = Buffer.alloc(60_000 * bytes.length, bytes);
    for (let before = 0; before < 5; before += 1) {
      const form = `a=${'x'.repeat(before)}${piece.repeat(60_000)}`;
      const value = decode(form).pairs[0]?.[1];
      const expected = 'x'.repeat(before) + repeated.toString('utf8');
      t.true(value === expected, `${piece} behind ${before}`);
    }
  }
});

function bytesOf(encoded: string): Buffer {
  const parts = encoded.split(/(%[0-9A-F]{2})/);
  return Buffer.concat(
    parts.map((part) => (part.startsWith('%') ? Buffer.from(part.slice(1), 'hex') : Buffer.from(part))),
  );
}

for (const [title, form] of [
  ['one long value without escapes', `a=${'ä'.repeat(1_000_000)}`],
  ['one long value of plus signs', `a=${'+'.repeat(2_000_000)}`],
  ['one long value of escapes', `a=${'%41'.repeat(700_000)}`],
  ['many values', Array.from({ length: 5_000 }, () => `a=${'+'.repeat(400)}`).join('&')],
] as const) {
  test(`a large form is decoded in turns: ${title}`, (t) => {
    t.true(decode(form).turns >= 6);
  });
}

test('more headers than Node reads are refused, so that none that names the tenant is lost', async (t) => {
  await withPipeline(makePipeline({ endpoints: [serving({ query: telling })] }), async ({ url }) => {
    const ask = async (count: number): Promise<readonly [number, unknown]> => {
      const headers = Object.fromEntries(Array.from({ length: count }, (_, index) => [`x-${index}`, 'y']));
      const { statusCode, body } = await request(`${url}/loki/api/v1/query`, {
        headers: { ...headers, 'x-scope-orgid': 'mine' },
      });
      const text = await body.text();
      return [statusCode, text === '' ? undefined : JSON.parse(text)];
    };
    const [status, told] = await ask(900);
    t.is(status, 200);
    t.like(told, { orgId: 'mine' });
    const [refused, error] = await ask(1_100);
    t.is(refused, 431);
    // Newer releases of Node refuse them before the proxy can send an error message.
    if (error !== undefined) t.like(error, { error: 'the request has 1000 headers or more; send fewer' });
  });
});
