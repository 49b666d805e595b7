import test from 'ava';
import fc from 'fast-check';
import { parseRowTime, RowTimeError } from '../../../../core/victoria/names/row-reader.js';

const nanoseconds = fc.bigInt({ min: -8_000_000_000_000_000_000n, max: 9_000_000_000_000_000_000n });

function textOf(ns: bigint, digits: number): string {
  const seconds = ns / 1_000_000_000n - (ns % 1_000_000_000n < 0n ? 1n : 0n);
  const fraction = String(ns - seconds * 1_000_000_000n).padStart(9, '0');
  const whole = new Date(Number(seconds) * 1000).toISOString().slice(0, 19);
  return digits === 0 ? `${whole}Z` : `${whole}.${fraction.slice(0, digits)}Z`;
}

test('times with any number of digits are read exactly, whichever minute came before', (t) => {
  fc.assert(
    fc.property(fc.array(fc.tuple(nanoseconds, fc.nat(9)), { minLength: 1, maxLength: 5 }), (times) => {
      for (const [ns, digits] of times) {
        const unit = 10n ** BigInt(9 - digits);
        const cut = ns - (((ns % unit) + unit) % unit);
        t.is(parseRowTime(textOf(ns, digits)), cut);
      }
    }),
  );
});

for (const text of [
  '',
  'Z',
  '2026-11-01',
  '2026-11-01T00:00',
  '2026-11-01T00:00Z',
  '2026-11-01T00:00:00',
  '2026-11-01T00:00:60Z',
  '2026-11-01T00:00:00.Z',
  '2026-11-01T00:00:00.1234567890Z',
  '2026-11-01T00:00:00.12 4Z',
  '2026-11-01T00:00:0xZ',
  '2026-11-01T00:00:00,5Z',
  '2026-11-01T00:00:00+01:00',
  '2026-11-01T00:00:00Z ',
  '2026-11-01 00:00:00Z',
  '2026-11-01T25:00:00Z',
  '+002026-11-01T00:00:00Z',
]) {
  test(`the time ${JSON.stringify(text)} is refused, also behind one of the same minute`, (t) => {
    parseRowTime('2026-11-01T00:00:00Z');
    t.throws(() => parseRowTime(text), { instanceOf: RowTimeError });
  });
}
