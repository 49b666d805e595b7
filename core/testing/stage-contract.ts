import { suggest } from '../kernel/options/index.js';
import type { Exchange } from '../kernel/plugin/exchange.js';
import type { SlotName } from '../kernel/plugin/slots.js';
import type { OptionSchema } from '../kernel/options/index.js';

/** Rules about a stage that a test can break; the kernel enforces those that the stage itself can break (core/kernel/stage-contract). */
export interface StagePromises {
  readonly name: string;
  readonly schema?: object;
  readonly needs: readonly string[];
}

/** Throws for options that are not in the schema, or lack a required one: a pipeline file with them would not start. */
export function holdToOptions({ name, schema }: StagePromises, options: unknown): void {
  if (typeof options !== 'object' || options === null || schema === undefined) return;
  // The type only names the parts that are read here.
  const { properties = {}, required = [], additionalProperties }: OptionSchema = schema;
  const known = Object.keys(properties);
  for (const key of Object.keys(options)) {
    if (known.includes(key) || additionalProperties !== false) continue;
    const meant = suggest(key, known);
    throw new Error(
      `option "${key}" is not known to plugin "${name}"${meant === undefined ? '' : `, did you mean "${meant}"?`}`,
    );
  }
  for (const key of required)
    if (!Object.hasOwn(options, key)) throw new Error(`plugin "${name}" requires option "${key}"`);
}

/** Throws for an exchange without a slot that the stage needs: the kernel would not have passed it on. */
export function holdToNeeds({ name, needs }: StagePromises, exchange: Exchange): void {
  const missing = needs.find((slot) => !hasSlot(exchange, slot));
  if (missing !== undefined)
    throw new Error(
      `stage "${name}" needs the slot "${missing}": make the exchange with slots: { ${missing}: ... }`,
    );
}

function hasSlot(exchange: Exchange, slot: string): boolean {
  return Object.hasOwn(exchange.slots, slot) && exchange.slots[slot as SlotName] !== undefined;
}
