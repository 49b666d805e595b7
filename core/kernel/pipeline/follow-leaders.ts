import {
  definitionsOf,
  type OptionOrigin,
  type OptionSchema,
  type ResolvedOptions,
} from '../options/index.js';

/** The options of a section or a plugin. */
interface Owner {
  readonly schema: OptionSchema;
  readonly resolved: ResolvedOptions;
}

/** The value of an option that others share. */
interface Leader {
  readonly value: unknown;
  readonly origin: OptionOrigin;
}

/**
 * Some options say what another plugin does (`x-shares`): what the file says of the one that leads holds for those that nobody wrote, so that it
 * need not be written twice. An option that was written keeps its value.
 */
export function followLeaders(
  owners: readonly Owner[],
): <Options extends Owner>(options: Options) => Options {
  const leaders = leadersOf(owners);
  return (options) => ({ ...options, resolved: follow(options, leaders) });
}

function leadersOf(owners: readonly Owner[]): ReadonlyMap<string, Leader> {
  const leaders = new Map<string, Leader>();
  for (const { schema, resolved } of owners) {
    for (const { key, flag } of definitionsOf('', schema)) {
      const origin = resolved.origins.get(key);
      if (flag === undefined || leaders.has(flag) || origin === undefined || origin.kind === 'default')
        continue;
      leaders.set(flag, { value: resolved.options[key], origin });
    }
  }
  return leaders;
}

function follow({ resolved, schema }: Owner, leaders: ReadonlyMap<string, Leader>): ResolvedOptions {
  const values = new Map(Object.entries(resolved.options));
  const origins = new Map(resolved.origins);
  for (const { key, shares } of definitionsOf('', schema)) {
    const leader = shares === undefined ? undefined : leaders.get(shares);
    if (leader === undefined || origins.get(key)?.kind !== 'default') continue;
    values.set(key, leader.value);
    // Nobody wrote this one: findings about it stand where its owner stands.
    origins.set(key, leader.origin.kind === 'yaml' ? { kind: 'default' } : leader.origin);
  }
  return { ...resolved, options: Object.fromEntries(values), origins };
}
