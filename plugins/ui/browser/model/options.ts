import type { LoadedPipeline, OptionDescription, PartDescription } from './wire.js';

/** Options that differ from their defaults apart from those that do not. */
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

/** What to show as an option's value: a secret only says whether there is one. */
export function shownValue({ value, isSecret, isSet }: OptionDescription): string {
  if (isSecret) return isSet ? 'set, not shown' : 'not set';
  if (value === undefined) return 'not set';
  return value === '' ? '(empty)' : value;
}

/** Whether the stage does its work: many have an option `enabled`. */
export function isEnabled({ options }: PartDescription): boolean {
  return options.find(({ key }) => key === 'enabled')?.value !== 'false';
}

/** Whether queries need a tenant: `required` where tenancy refuses those without one. */
export function tenantNeed({ stages }: LoadedPipeline): 'required' | 'optional' | 'none' {
  const tenancy = stages.find(({ name }) => name === 'tenancy');
  if (tenancy === undefined) return 'none';
  const asks = ['requireTenantHeader', 'authEnabled'];
  const isAsked = tenancy.options.some(({ key, value }) => asks.includes(key) && value === 'true');
  return isAsked ? 'required' : 'optional';
}

/** Calls that a cache answered, of those that asked it; undefined for stages that are no caches. */
export interface CacheFigures {
  readonly hits: number;
  readonly asked: number;
}

/** Reads the figures of a cache from its metrics: one that ends in `_hits_total`, and its `_misses_total`. */
export function cacheFigures({ meters }: PartDescription): CacheFigures | undefined {
  const hits = meters.find(({ name }) => name.endsWith('_hits_total'));
  if (hits === undefined) return undefined;
  const misses = meters.find(({ name }) => name === hits.name.replace(/_hits_total$/, '_misses_total'));
  return { hits: hits.value, asked: hits.value + (misses?.value ?? 0) };
}
