import { quoteGo } from '../../base/time/go-quote.js';

interface Unit {
  readonly name: string;
  readonly nanoseconds: bigint;
  /** Only used when it divides evenly: 90d reads better than 12w6d. */
  readonly exact: boolean;
}

const millisecond = 1_000_000n;
const day = 86_400_000n * millisecond;
const units: readonly Unit[] = [
  { name: 'y', nanoseconds: 365n * day, exact: true },
  { name: 'w', nanoseconds: 7n * day, exact: true },
  { name: 'd', nanoseconds: day, exact: false },
  { name: 'h', nanoseconds: day / 24n, exact: false },
  { name: 'm', nanoseconds: 60_000n * millisecond, exact: false },
  { name: 's', nanoseconds: 1_000n * millisecond, exact: false },
  { name: 'ms', nanoseconds: millisecond, exact: false },
];
const max = (1n << 63n) - 1n;

/** Nanoseconds, or Prometheus' error text. */
export type ParsedDuration =
  { readonly ok: true; readonly nanoseconds: bigint } | { readonly ok: false; readonly error: string };

/** Parses a Prometheus duration: integers with units from years to milliseconds in descending order. */
export function parsePromDuration(text: string): ParsedDuration {
  if (text === '0') return { ok: true, nanoseconds: 0n };
  if (text === '') return { ok: false, error: 'empty duration string' };
  const invalid = { ok: false, error: `not a valid duration string: ${quoteGo(text)}` } as const;
  let total = 0n;
  let lastUnit = -1;
  for (let rest = text; rest !== '';) {
    const [all = '', digits = '', name = ''] = /^([0-9]*)([^0-9]*)/.exec(rest) ?? [];
    const count = BigInt(digits.slice(0, 20) || '0');
    if (digits === '' || name === '' || digits.length > 20 || count >= 1n << 64n) return invalid;
    const unit = units.findIndex((candidate) => candidate.name === name);
    const scale = units[unit]?.nanoseconds;
    if (scale === undefined) {
      return { ok: false, error: `unknown unit ${quoteGo(name)} in duration ${quoteGo(text)}` };
    }
    if (unit <= lastUnit) return invalid;
    lastUnit = unit;
    total += count * scale;
    if (total > max) return { ok: false, error: 'duration out of range' };
    rest = rest.slice(all.length);
  }
  return { ok: true, nanoseconds: total };
}

/** Prometheus' printed form, down to milliseconds: `1m30s`, `-1w`, `0s`. */
export function formatPromDuration(nanoseconds: bigint): string {
  let rest = nanoseconds - (nanoseconds % millisecond);
  if (rest === 0n) return '0s';
  let out = rest < 0n ? '-' : '';
  if (rest < 0n) rest = -rest;
  for (const { name, nanoseconds: scale, exact } of units) {
    if (exact && rest % scale !== 0n) continue;
    const count = rest / scale;
    if (count <= 0n) continue;
    out += `${count.toString()}${name}`;
    rest -= count * scale;
  }
  return out;
}
