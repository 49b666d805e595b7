import type { Caller, Tenant } from '../../../core/base/caller.js';
import { LeftOut, tenantKey } from '../../../core/base/key-parts.js';
import { callerKey } from '../../../core/cache/keys.js';
import type { Exchange } from '../../../core/kernel/plugin/exchange.js';
import { operations } from '../../../core/operations/index.js';
import { makeExchange } from '../../../core/testing/index.js';
import type { ApiRequest, Operation } from '../../../core/wire/api/request.js';
import {
  callerSamples,
  fieldsOf,
  forwarding,
  madeOf,
  requestSamples,
  tenantSamples,
  type SampledField,
} from './samples.js';

export const allOperations = Object.keys(operations) as readonly Operation[];
export const keptOperations = allOperations.filter((op) => operations[op].cache !== 'never');

/** One exchange for each value of a field; they differ in nothing else. */
export interface DifferInOne {
  readonly field: string;
  /** True if cache keys leave the field out. */
  readonly isLeftOut: boolean;
  readonly exchanges: readonly Exchange<'tenant'>[];
}

/** One entry for each field of the operation's requests, of callers and of tenants. */
export function differInOne(op: Operation): readonly DifferInOne[] {
  const { cache } = operations[op];
  const sides = {
    request: { samples: requestSamples[op], parts: cache === 'never' ? {} : cache.key },
    caller: { samples: callerSamples, parts: callerKey(forwarding) },
    tenant: { samples: tenantSamples, parts: tenantKey },
  };
  return Object.entries(sides).flatMap(([side, { samples, parts }]) =>
    fieldsOf(samples).map((field) => ({
      field: `${side === 'request' ? op : side}.${field.path.join('.')}`,
      isLeftOut: isLeftOut(parts, field.path),
      exchanges: field.values.map((value) => exchangeOf(op, { side, field, value })),
    })),
  );
}

interface Change {
  readonly side: string;
  readonly field: SampledField;
  readonly value: unknown;
}

function exchangeOf(op: Operation, { side, field, value }: Change): Exchange<'tenant'> {
  const made = (of: string, samples: object): unknown =>
    of === side ? madeOf(samples, field, value) : madeOf(samples);
  // The samples have these types, field by field.
  return makeExchange<'tenant'>({
    request: { op, ...(made('request', requestSamples[op]) as object) } as ApiRequest,
    caller: made('caller', callerSamples) as Caller,
    slots: { tenant: made('tenant', tenantSamples) as Tenant },
  });
}

function isLeftOut(parts: object, [name = '', ...rest]: readonly string[]): boolean {
  const part = (parts as Readonly<Record<string, unknown>>)[name];
  if (part instanceof LeftOut) return true;
  return typeof part === 'object' && part !== null && isLeftOut(part, rest);
}
