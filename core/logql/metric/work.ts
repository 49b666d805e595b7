import type { MemoryAccount } from '../../base/memory/account.js';
import type { Steps } from '../../base/pace/steps.js';
import type { RangeAggregation } from '../ast.js';
import { Slider, type ColumnValues, type SeriesCells } from './slide.js';
import type { StateKind, Summary } from './states.js';
import { isReal, type NumberArray, type ValueLists } from './value-lists.js';
import type { RangeWindows } from './windows.js';

/** Accumulates the samples of a range function. */
export interface Work {
  add(cell: number, value: number, offset: number): void;
  /** Adds one or more values of one time. */
  addAll(cell: number, values: Float64Array, offset: number): void;
  /** Adds values of which only a statistic is known; undefined if all values must be known. */
  readonly summary?:
    { readonly of: Summary['of']; add(cell: number, value: number, count: number): void } | undefined;
  /** True if individual values are kept. */
  readonly keepsValues: boolean;
  /** The number of kept values of a series. */
  valuesOf(series: SeriesCells): number;
  finish(series: SeriesCells, out: ColumnValues): Steps<void>;
  /** The arrays that hold all state, for the same work in another thread. */
  pack(): readonly NumberArray[];
  /** Loads such arrays. */
  load(arrays: readonly NumberArray[]): void;
}

/** Parameters and bounds of work. */
export interface WorkRequest {
  readonly node: RangeAggregation;
  readonly windows: RangeWindows;
  /** Maximum number of values that may be kept. */
  readonly maxValues: number;
  readonly memory: MemoryAccount;
}

export type MakeWork = (request: WorkRequest) => Work;

/** Keeps a state per series and bucket of time. */
export function stateWork(kind: StateKind, { windows, memory }: WorkRequest): Work {
  const { width, summary } = kind;
  const slider = new Slider(kind, windows, memory);
  let states = new Float64Array(256 * width);
  const makeRoom = (cell: number): void => {
    if (cell * width < states.length) return;
    memory.charge(states.byteLength, 'samples by series and time');
    const larger = new Float64Array(states.length * 2);
    larger.set(states);
    states = larger;
  };
  return {
    add(cell, value, offset) {
      makeRoom(cell);
      kind.add(states, cell * width, value, offset);
    },
    addAll(cell, values, offset) {
      makeRoom(cell);
      for (const value of values) kind.add(states, cell * width, value, offset);
    },
    summary: summary && {
      of: summary.of,
      add(cell, value, count) {
        makeRoom(cell);
        summary.add(states, cell * width, value, count);
      },
    },
    keepsValues: false,
    valuesOf: () => 0,
    *finish(series, out) {
      slider.slide(series, states, out);
    },
    pack: () => [states],
    load: (arrays) => {
      states = arrays.find(isReal) ?? states;
    },
  };
}

/** Number of values kept for a series. */
export function countValues(lists: ValueLists, { cells, from, to }: SeriesCells): number {
  let count = 0;
  for (let index = from; index < to; index += 1) count += lists.sizeOf(cells[index] ?? 0);
  return count;
}
