import type { Random } from '../../watch/random.js';
import type { Dataset } from '../data/dataset.js';
import type { Question, TimeForm } from '../question.js';
import type { Context } from './context.js';

/** A question without its id and family, which are added at the end. */
export type Draft = Omit<Question, 'id' | 'family'>;

const secondNs = 1_000_000_000n;
const forms: readonly TimeForm[] = ['ns', 'ns', 's', 'float', 'rfc3339'];

export function draft(context: Context, path: string, parts: Partial<Draft> = {}): Draft {
  return {
    path,
    method: context.random.chance(0.15) ? 'POST' : 'GET',
    tenants: [context.tenant.tenant],
    params: {},
    isCategorized: false,
    ...parts,
  };
}

/** The full time range of the data, or a part around the question's entry. */
export function window({ random, entry }: Context, data: Dataset): NonNullable<Question['window']> {
  const form = random.pick(forms);
  if (random.chance(0.45)) return { startNs: data.startNs, endNs: data.endNs, form };
  const around = BigInt(random.pick([10, 60, 300, 1800, 3600])) * secondNs;
  const startNs = entry.ns - BigInt(Math.floor(random.next() * Number(around)));
  const isRound = random.chance(0.6);
  const rounded = isRound ? startNs - (startNs % secondNs) : startNs;
  return { startNs: rounded, endNs: rounded + around, form };
}

/** A step that yields a few to a few hundred points. */
export function step(random: Random, span: bigint): string {
  const seconds = Math.max(1, Math.ceil(Number(span / secondNs) / random.pick([4, 10, 40, 120])));
  return random.pick([
    String(seconds),
    `${seconds}s`,
    String(seconds),
    `${seconds}.5`,
    `${Math.ceil(seconds / 60)}m`,
  ]);
}

export function metricWindow(
  context: Context,
  data: Dataset,
): { readonly window: NonNullable<Question['window']>; readonly step: string } {
  const chosen = window(context, data);
  return { window: chosen, step: step(context.random, chosen.endNs - chosen.startNs) };
}

/** An evaluation time at which ranges include the entry. */
export function instant({ random, entry }: Context, data: Dataset): bigint {
  if (random.chance(0.25)) return data.endNs;
  const later = entry.ns + BigInt(random.below(random.pick([30, 300, 1800]))) * secondNs;
  return random.chance(0.6) ? later - (later % secondNs) + secondNs : later;
}
