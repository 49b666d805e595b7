import { suggest } from '../kernel/options/index.js';
import type { Exchange } from '../kernel/plugin/exchange.js';
import type { SlotName } from '../kernel/plugin/slots.js';
import type { OptionSchema } from '../kernel/options/index.js';

/** Rules of a stage that a test can break; the kernel enforces those that the stage itself can break (core/kernel/stage-contract). */
export interface StagePromises {
  readonly name: string;
  readonly schema?: object;
  readonly needs: readonly string[];
}

/** Refuses options that the schema does not have, or that lack one it requires: a pipeline file with them would not start. */
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

/** Refuses an exchange without a slot that the stage declares to need: the kernel would not have put it there. */
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
