import { quantile, type Sample } from './sample.js';

/** The results of an overload. */
export interface Findings {
  readonly capacity: number;
  readonly asked: number;
  readonly unloaded: Sample;
  readonly flood: Sample;
  readonly other: Sample;
  readonly loopDelayMs: number;
}

export interface Aim {
  readonly name: string;
  readonly isMet: boolean;
  readonly text: string;
}

const refusedWithinMs = 50;
const smallWithinMs = 100;
const timesUnloaded = 2;
/** Small requests arrive at random, sometimes several at once, which can exceed a tenant's share of a few slots. */
const refusedSmallShare = 0.01;

/** The promises, and the results for each. */
export function aims({ unloaded, flood, other }: Findings): readonly Aim[] {
  const [before, under] = [unloaded, flood].map(({ admitted }) => quantile(admitted, 0.99));
  const ratio = (under ?? NaN) / (before ?? NaN);
  const refused = quantile(flood.refused, 0.99);
  const small = quantile(other.admitted, 0.95);
  const odd = flood.odd + other.odd;
  return [
    aim(
      'admitted, p99',
      ratio <= timesUnloaded,
      `${ratio.toFixed(2)} times the unloaded one, at most ${timesUnloaded}`,
    ),
    aim('refused, p99', refused <= refusedWithinMs, `${show(refused)}, at most ${refusedWithinMs} ms`),
    aim(
      'small requests of another tenant, p95',
      small <= smallWithinMs,
      `${show(small)}, at most ${smallWithinMs} ms`,
    ),
    aim(
      'small requests of another tenant, refused',
      other.refused.length <= refusedSmallShare * total(other),
      `${other.refused.length} of ${total(other)}, at most 1 in 100`,
    ),
    aim('answers but 200, 429 and 503', odd === 0, String(odd)),
  ];
}

const nameWidth = 64;

/** A human-readable table. */
export function table(findings: Findings): string {
  const { capacity, asked, unloaded, flood, other, loopDelayMs } = findings;
  const rows = [
    ['', 'answers', 'p50', 'p95', 'p99', 'most'],
    row('unloaded', unloaded.admitted),
    row('admitted', flood.admitted),
    row('refused', flood.refused),
    ...kindRows(unloaded, 'unloaded'),
    ...kindRows(flood, 'admitted'),
    row('other tenant, admitted', other.admitted),
    row('other tenant, refused', other.refused),
    row('late to send', flood.late),
  ];
  const lines = rows.map(
    ([name = '', ...cells]) => name.padEnd(nameWidth) + cells.map((cell) => cell.padStart(10)).join(''),
  );
  const verdicts = aims(findings).map(
    ({ name, isMet, text }) => `${isMet ? 'met   ' : 'MISSED'} ${name}: ${text}`,
  );
  return [
    `capacity ${capacity.toFixed(0)} requests/s, asked ${asked.toFixed(0)} requests/s, event loop at most ${show(loopDelayMs)} late`,
    ...lines,
    ...verdicts,
  ].join('\n');
}

function row(name: string, values: readonly number[]): readonly string[] {
  return [name, String(values.length), ...[0.5, 0.95, 0.99, 1].map((part) => show(quantile(values, part)))];
}

function kindRows({ kinds }: Sample, when: string): readonly (readonly string[])[] {
  return [...kinds]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([kind, values]) => row(`  ${when}: ${kind}`, values));
}

function total({ admitted, refused }: Sample): number {
  return admitted.length + refused.length;
}

function aim(name: string, isMet: boolean, text: string): Aim {
  return { name, isMet, text };
}

function show(ms: number): string {
  return Number.isNaN(ms) ? '-' : `${ms.toFixed(ms < 10 ? 1 : 0)} ms`;
}
