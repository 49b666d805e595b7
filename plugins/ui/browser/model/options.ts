import type { LoadedPipeline, OptionDescription, PartDescription } from './wire.js';

/** Options, separated into changed and default ones. */
export interface SortedOptions {
  readonly changed: readonly OptionDescription[];
  readonly others: readonly OptionDescription[];
}

export function sortOptions(options: readonly OptionDescription[]): SortedOptions {
  return {
    changed: options.filter(({ isDefault }) => !isDefault),
    others: options.filter(({ isDefault }) => isDefault),
  };
}

/** The text of an option's value; for a secret, only whether it is set. */
export function shownValue({ value, isSecret, isSet }: OptionDescription): string {
  if (isSecret) return isSet ? 'set, not shown' : 'not set';
  if (value === undefined) return 'not set';
  return value === '' ? '(empty)' : value;
}

/** True if the stage is active: many have an option `enabled`. */
export function isEnabled({ options }: PartDescription): boolean {
  return options.find(({ key }) => key === 'enabled')?.value !== 'false';
}

/** Need of queries for a tenant: `required` if tenancy rejects those without one. */
export function tenantNeed({ stages }: LoadedPipeline): 'required' | 'optional' | 'none' {
  const tenancy = stages.find(({ name }) => name === 'tenancy');
  if (tenancy === undefined) return 'none';
  const asks = ['requireTenantHeader', 'authEnabled'];
  const isAsked = tenancy.options.some(({ key, value }) => asks.includes(key) && value === 'true');
  return isAsked ? 'required' : 'optional';
}

/** Cache lookups and hits; undefined for stages that are not caches. */
export interface CacheFigures {
  readonly hits: number;
  readonly asked: number;
}

/** Reads a cache's numbers from its metrics: one that ends in `_hits_total`, and its `_misses_total`. */
export function cacheFigures({ meters }: PartDescription): CacheFigures | undefined {
  const hits = meters.find(({ name }) => name.endsWith('_hits_total'));
  if (hits === undefined) return undefined;
  const misses = meters.find(({ name }) => name === hits.name.replace(/_hits_total$/, '_misses_total'));
  return { hits: hits.value, asked: hits.value + (misses?.value ?? 0) };
}
