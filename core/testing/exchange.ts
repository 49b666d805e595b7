import type { Caller } from '../base/caller.js';
import { type ApiRequest, Query } from '../wire/api/request.js';
import type { MemoryAccount } from '../base/memory/account.js';
import { createExchange, type Exchange } from '../kernel/plugin/exchange.js';
import type { SlotName, Slots } from '../kernel/plugin/slots.js';
import { Trace } from '../base/trace.js';

/** Settings of a test exchange; all have defaults. */
export interface ExchangeSettings<Given extends SlotName = never> {
  readonly request?: ApiRequest;
  readonly caller?: Partial<Caller>;
  readonly slots?: Pick<Slots, Given>;
  readonly signal?: AbortSignal;
  readonly isFinal?: boolean;
  /** Unlimited by default. */
  readonly memory?: MemoryAccount;
}

const hourNs = 3_600_000_000_000n;
const startNs = 1_793_491_200_000_000_000n;

/** A caller on this machine without headers. */
export function makeCaller(change: Partial<Caller> = {}): Caller {
  return {
    method: 'GET',
    address: '127.0.0.1',
    headers: new Map(),
    orgId: undefined,
    categorizeLabels: false,
    isDrilldown: false,
    ...change,
  };
}

/** A log query over the first hour of November 2026. */
export function makeLogRequest(query = '{app="a"}'): ApiRequest {
  return {
    op: 'query_range',
    query: new Query(query, 'reject'),
    range: { startNs, endNs: startNs + hourNs },
    stepNs: 14_000_000_000n,
    limit: 100,
    direction: 'backward',
    intervalNs: 0n,
  };
}

/** Creates an exchange with the slots that the stage under test needs. */
export function makeExchange<Given extends SlotName = never>(
  settings: ExchangeSettings<Given> = {},
): Exchange<Given> {
  const first = createExchange({
    id: 'test',
    request: settings.request ?? makeLogRequest(),
    caller: makeCaller(settings.caller),
    signal: settings.signal ?? new AbortController().signal,
    isFinal: settings.isFinal ?? true,
    trace: new Trace(),
    ...(settings.memory === undefined ? {} : { memory: settings.memory }),
  });
  return settings.slots === undefined
    ? first.derive<Given>({})
    : first.derive<Given>({ slots: settings.slots });
}
