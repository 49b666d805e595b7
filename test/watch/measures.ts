/** What the meter in a program tells. */

/** A turn of the event loop that was long, with times in milliseconds. */
export interface Turn {
  /** When it ended, since the program's start. */
  readonly at: number;
  /** Time on a processor. */
  readonly ownMs: number;
  /** Time between two looks for input; longer than the time on a processor where others used that. */
  readonly busyMs: number;
  /** Of that, collections of garbage. */
  readonly gcMs?: number;
  /** What ran when it had been long for a while, innermost first; where it was asked for. */
  readonly frames?: readonly string[];
}

/** What a thread that looks at long turns is given. */
export interface StackSetup {
  /** One 32-bit number: which turn it is. */
  readonly turn: SharedArrayBuffer;
  /** After so much time on a processor a turn is looked at. */
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
  /** Heap and memory outside it, now. */
  readonly heldMiB: number;
  /** The most of it since the last start; garbage is counted. */
  readonly peakMiB: number;
  /** The most of it right after collections, when those were asked for at start. */
  readonly livePeakMiB: number;
  /** Memory of the process, its threads included, as the system counts it: now, and the most since the last start. */
  readonly residentMiB: number;
  readonly residentPeakMiB: number;
}

export interface MeterQuestion {
  readonly id: number;
  /** `start` forgets what was measured; `collect` collects garbage first; `read` does neither. */
  readonly meter: 'start' | 'collect' | 'read';
  /** Collects garbage this often, to see what is live. The collections make turns long. */
  readonly liveEveryMs?: number;
}

export interface MeterAnswer {
  readonly id: number;
  readonly measures: Measures;
}
