import type { ApiRequest } from '../../wire/api/request.js';
import type { Caller } from '../../base/caller.js';
import { unboundedMemory, type MemoryAccount } from '../../base/memory/account.js';
import type { Waits } from '../../base/waits.js';
import type { OpenSpan, Trace } from '../../base/trace.js';
import { RepeatPath } from '../repeat.js';
import type { SlotName, Slots } from './slots.js';

/** Changes of a derived exchange; everything else is inherited. */
export interface ExchangeChange<Given extends SlotName = never> {
  readonly request?: ApiRequest;
  readonly slots?: Pick<Slots, Given>;
  /** Limits the lifetime of the derived exchange, which always ends with its parent too. */
  readonly signal?: AbortSignal;
  /** Set by the stage that provides `upstream`: time spent waiting for it is charged to that stage. */
  readonly waits?: Waits;
  /** Set by the chain: work from here on belongs to this span. */
  readonly span?: OpenSpan | undefined;
  /** False when the caller of the rest will merge or change the answer, so stages must not answer with bytes. */
  readonly isFinal?: boolean;
}

/**
 * A request on its way down the chain: validated, independent of HTTP, immutable. Stages derive a new one to add or change facts. `Given`
 * are the slots that earlier stages have filled.
 */
export interface Exchange<Given extends SlotName = never> {
  /** Unique for one HTTP request or background job; derived exchanges share it. */
  readonly id: string;
  readonly request: ApiRequest;
  readonly caller: Caller;
  /** Aborts when the client leaves, a time limit is reached or the parent ends. Passed to everything that can block. */
  readonly signal: AbortSignal;
  readonly slots: Pick<Slots, Given> & Partial<Slots>;
  /** True if the answer goes to the client unchanged: tier0 may then answer with stored bytes. */
  readonly isFinal: boolean;
  /** Collects events for the request log and metrics. */
  readonly trace: Trace;
  /** Accounts for the request's memory (`-max-query-memory`); derived exchanges share it. */
  readonly memory: MemoryAccount;
  /** Collects how the stages would answer the same bytes again; derived exchanges share it. */
  readonly repeat: RepeatPath;
  /** Time spent waiting for something provided by an earlier stage. */
  readonly waits?: Waits;
  /** The span of the stage that handles this exchange; undefined without traces. */
  readonly span?: OpenSpan | undefined;
  derive<Added extends SlotName = never>(change: ExchangeChange<Added>): Exchange<Given | Added>;
}

interface ExchangeState {
  readonly id: string;
  readonly request: ApiRequest;
  readonly caller: Caller;
  readonly signal: AbortSignal;
  readonly slots: Partial<Slots>;
  readonly isFinal: boolean;
  readonly trace: Trace;
  readonly memory: MemoryAccount;
  readonly repeat: RepeatPath;
  readonly waits?: Waits;
  readonly span?: OpenSpan | undefined;
}

/** Creates the first exchange of a request; stages only derive. */
export function createExchange({
  memory = unboundedMemory(),
  ...state
}: Omit<ExchangeState, 'slots' | 'memory' | 'repeat' | 'waits' | 'span'> &
  Partial<Pick<ExchangeState, 'memory'>>): Exchange {
  return exchangeOf({ ...state, memory, repeat: new RepeatPath(), slots: {}, span: state.trace.span });
}

function exchangeOf<Given extends SlotName>(state: ExchangeState): Exchange<Given> {
  const exchange: ExchangeState & Pick<Exchange, 'derive'> = {
    ...state,
    derive: <Added extends SlotName>(change: ExchangeChange<Added>) =>
      exchangeOf<Added>({
        ...state,
        request: change.request ?? state.request,
        slots: change.slots === undefined ? state.slots : { ...state.slots, ...change.slots },
        signal: change.signal === undefined ? state.signal : AbortSignal.any([state.signal, change.signal]),
        isFinal: state.isFinal && (change.isFinal ?? true),
        ...(change.waits === undefined ? {} : { waits: change.waits }),
        ...(change.span === undefined ? {} : { span: change.span }),
      }),
  };
  // At startup, the kernel checked that every needed slot is filled earlier (core/kernel/check); the type tells the stage.
  return exchange as Exchange<Given>;
}
