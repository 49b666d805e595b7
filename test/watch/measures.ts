/** Messages of the meter in a program. */

/** A long turn of the event loop, with times in milliseconds. */
export interface Turn {
  /** The end of the turn, since the program's start. */
  readonly at: number;
  /** CPU time. */
  readonly ownMs: number;
  /** Time between two polls for input; it exceeds the CPU time when other processes use the CPU. */
  readonly busyMs: number;
  /** The part of it spent in garbage collection. */
  readonly gcMs?: number;
  /** The call stack after a while in a long turn, innermost frame first; only on request. */
  readonly frames?: readonly string[];
}

/** Data for a thread that samples long turns. */
export interface StackSetup {
  /** One 32-bit number: the number of the current turn. */
  readonly turn: SharedArrayBuffer;
  /** CPU time after which a turn is sampled. */
  readonly lookedAtMs: number;
}

export interface TurnStack {
  readonly turn: number;
  readonly frames: readonly string[];
}

export interface Measures {
  /** Turns of 20 ms and more since the last start. */
  readonly turns: readonly Turn[];
  readonly longestMs: number;
  /** Current memory in the heap and outside it. */
  readonly heldMiB: number;
  /** Its peak since the last start, garbage included. */
  readonly peakMiB: number;
  /** Its peak right after collections, if these were requested at the start. */
  readonly livePeakMiB: number;
  /** RSS of the process, all threads included: the current value, and the peak since the last start. */
  readonly residentMiB: number;
  readonly residentPeakMiB: number;
}

export interface MeterQuestion {
  readonly id: number;
  /** `start` resets the measurements; `collect` runs garbage collection first; `read` does neither. */
  readonly meter: 'start' | 'collect' | 'read';
  /** Interval of garbage collections that determine live memory. The collections make turns longer. */
  readonly liveEveryMs?: number;
}

export interface MeterAnswer {
  readonly id: number;
  readonly measures: Measures;
}
