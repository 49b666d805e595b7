/** Describes the options of a loaded plugin or section as text, without the values that its schema marks as secret. */
import { hasUserInfo, hidden, withoutCredentials } from '../../base/secrets.js';
import { resolveOptions } from './resolve.js';
import { definitionsOf, type OptionDefinition, type OptionSchema, type ValueSchema } from './schema.js';
import { printText } from './text-value.js';

/** One option with its effective value. */
export interface OptionDescription {
  readonly key: string;
  readonly description: string;
  /** The value in the form of a flag's text; undefined if unset, and for secrets. */
  readonly value: string | undefined;
  readonly default: string | undefined;
  readonly isSet: boolean;
  readonly isDefault: boolean;
  readonly isSecret: boolean;
  /** True if no answer depends on the option. */
  readonly isNeutral: boolean;
  readonly flag: string | undefined;
  readonly unit: string | undefined;
}

/** Options of unknown type by key. */
export function optionValues(options: unknown): ReadonlyMap<string, unknown> {
  return new Map(typeof options === 'object' && options !== null ? Object.entries(options) : []);
}

/** Describes the options as used by code, in schema order. `values` are resolved: durations are milliseconds. */
export function describeOptions(
  schema: OptionSchema,
  values: ReadonlyMap<string, unknown>,
): readonly OptionDescription[] {
  const none = { flags: new Map<string, string>(), env: {} };
  const defaults = new Map(Object.entries(resolveOptions(schema, {}, none).options));
  return definitionsOf('', schema)
    .filter(({ isUnread }) => !isUnread)
    .map((definition) => describe(definition, values.get(definition.key), defaults.get(definition.key)));
}

function describe(definition: OptionDefinition, value: unknown, byDefault: unknown): OptionDescription {
  const { key, description, flag, shares, unit, isSecret, isNeutral, schema } = definition;
  return {
    key,
    description,
    value: isSecret ? undefined : show(schema, value),
    default: isSecret ? undefined : show(schema, byDefault),
    isSet: value !== undefined,
    isDefault: JSON.stringify(value) === JSON.stringify(byDefault),
    isSecret,
    isNeutral,
    flag: flag ?? shares,
    unit,
  };
}

function show(schema: ValueSchema, value: unknown): string | undefined {
  if (value === undefined) return undefined;
  return withoutCredentials(printText(schema, withoutSecrets(schema, value)));
}

/** Replaces the parts of a value that its schema marks as secret. */
function withoutSecrets(schema: ValueSchema, value: unknown): unknown {
  if (schema['x-secret'] === true) return hidden;
  if (typeof value !== 'object' || value === null) return value;
  const shown = Object.entries(value).map(
    ([key, member]) => [key, withoutSecrets(schemaOf(schema, value, key), member)] as const,
  );
  return Array.isArray(value) ? shown.map(([, item]) => item) : Object.fromEntries(shown);
}

/** The schema of a member or an item of a value. */
function schemaOf(
  { items, properties, additionalProperties }: ValueSchema,
  value: object,
  key: string,
): ValueSchema {
  const own = Array.isArray(value) ? items : new Map(Object.entries(properties ?? {})).get(key);
  return own ?? (typeof additionalProperties === 'object' ? additionalProperties : {});
}

/** The secrets in a value: parts that its schema marks, and URLs with a user or a password. */
export function* secretValues(schema: ValueSchema, value: unknown, isSecret = false): Generator<string> {
  const isMarked = isSecret || schema['x-secret'] === true;
  if (typeof value === 'string' && (isMarked || hasUserInfo(value))) yield value;
  if (typeof value !== 'object' || value === null) return;
  for (const [key, member] of Object.entries(value))
    yield* secretValues(schemaOf(schema, value, key), member, isMarked);
}
