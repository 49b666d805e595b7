import type { Waits } from '../../base/time/waits.js';
import type { Caller } from '../../base/caller.js';
import type { Clock } from '../../base/clock.js';
import { type MemoryAccount, unboundedMemory } from '../../base/memory/account.js';
import type { OpenSpan, Trace } from '../../base/trace.js';
import type { EncodedAnswer } from '../../wire/answer/types.js';
import type { ApiRequest } from '../../wire/api/request.js';
import type { StageMeter } from '../stage-meter.js';
import type { Host } from './host.js';
import type { SlotName, Slots } from './slots.js';

/** Repeats a stage's decision to let a request through. */
export type AdmitAgain = () => boolean;

/** Repeats a stage's answer from cached bytes. */
export interface AnswerAgain {
  /** The same answer, if it is still cached and valid; undefined sends the request down the chain. */
  find(): EncodedAnswer | undefined;
  /** Counts that the answer was given again. */
  given(): void;
}

/** A stage of a recorded path, and how to repeat its part. */
interface OfStage<Again> {
  readonly again: Again;
  readonly meter: StageMeter | undefined;
}

/**
 * Repeats a recorded path through the stages. Returns the body to send, with everything counted as if the stages had run; undefined, with
 * nothing counted, if they must run.
 */
export type Repeat = (bodyOf: (answer: EncodedAnswer) => Buffer | undefined) => Buffer | undefined;

/** Asks a stage how to repeat its part; undefined if it cannot. */
type AskStage<Again> = OfStage<() => Again | undefined>;

/** Records the stages that a request passed, on its way up. They are only asked how to repeat their part if a repeat is wanted. */
export class RepeatPath {
  #answering: AskStage<AnswerAgain> | undefined;
  /** Stages passed so far, innermost first. */
  #passed: AskStage<AdmitAgain>[] = [];

  answered(stage: AskStage<AnswerAgain>): void {
    this.#answering = stage;
    this.#passed = [];
  }

  passed(stage: AskStage<AdmitAgain>): void {
    this.#passed.push(stage);
  }

  /** Marks the path as not repeatable: it branched, or the answer was changed on it. */
  lost(): void {
    this.#answering = undefined;
    this.#passed = [];
  }

  /** A repeat of the whole path, if every stage of it supports that. */
  known(): Repeat | undefined {
    const answering = known(this.#answering);
    const admitting = this.#passed.toReversed().map(known);
    if (answering === undefined || !admitting.every((stage) => stage !== undefined)) return undefined;
    return (bodyOf) => {
      const found = answering.again.find();
      const body = found === undefined ? undefined : bodyOf(found);
      if (body === undefined || !admitting.every((stage) => stage.again())) return undefined;
      answering.again.given();
      for (const stage of admitting) stage.meter?.repeated(false);
      answering.meter?.repeated(true);
      return body;
    };
  }
}

function known<Again>(asked: AskStage<Again> | undefined): OfStage<Again> | undefined {
  const again = asked?.again();
  return again === undefined ? undefined : { again, meter: asked?.meter };
}

/** The machine's clocks; nanoseconds have millisecond resolution. */
export const systemClock: Clock = {
  nowMs: () => Date.now(),
  nowNs: () => BigInt(Date.now()) * 1_000_000n,
  monotonicMs: () => performance.now(),
};

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

type ExchangeState = Omit<Exchange, 'derive' | 'slots'> & { readonly slots: Partial<Slots> };

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

interface Entry {
  readonly value: unknown;
  readonly undo: (() => void)[];
  users: number;
}

/**
 * Values shared by the plugins of a process, by name. The first request creates a value; it is released with the last plugin that requested
 * it.
 */
export class SharedValues {
  readonly #made = new Map<string, Entry>();

  /** Access for one plugin; `onStop` registers the release. */
  for(onStop: Host['onStop']): Host['shared'] {
    const used = new Set<string>();
    return <Value>(name: string, make: (onEnd: Host['onStop']) => Value): Value => {
      const entry = this.#made.get(name) ?? this.#make(name, make);
      if (!used.has(name)) {
        used.add(name);
        entry.users += 1;
        onStop(() => this.#leave(name, entry));
      }
      // A name always has the same type: its owner exports the only function that uses it.
      return entry.value as Value;
    };
  }

  #make(name: string, make: (onEnd: Host['onStop']) => unknown): Entry {
    const undo: Entry['undo'] = [];
    const entry = { value: make((work) => void undo.push(work)), undo, users: 0 };
    this.#made.set(name, entry);
    return entry;
  }

  #leave(name: string, entry: Entry): void {
    entry.users -= 1;
    if (entry.users > 0) return;
    this.#made.delete(name);
    for (const work of entry.undo.reverse()) work();
  }
}
