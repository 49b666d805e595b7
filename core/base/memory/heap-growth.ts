import { setFlagsFromString } from 'node:v8';

const flag = '--heap-growing-percent';
/** On a large machine V8 would allow several times that, although each answer leaves some megabytes of garbage. */
const mostPercent = 150;
const leastPercent = 30;
const stepPercent = 10;

/** Limits the growth of V8's heap between two full collections. Growing less takes less memory and more processor time. */
export class HeapGrowth {
  readonly #set: (percent: number) => void;
  #percent: number | undefined;

  constructor(set = (percent: number): void => setFlagsFromString(`${flag}=${percent}`)) {
    this.#set = set;
  }

  /** In percent of the memory in use; undefined while V8 decides. */
  get percent(): number | undefined {
    return this.#percent;
  }

  /** Takes the decision from V8, unless the command line of Node.js has made it. */
  takeOver(nodeFlags: readonly string[] = process.execArgv): void {
    if (!nodeFlags.some((given) => given.startsWith(flag))) this.#change(mostPercent);
  }

  /** @returns false if it is at its least, or if V8 decides */
  lower(): boolean {
    return this.#moveBy(-stepPercent);
  }

  /** @returns false if it is at its most, or if V8 decides */
  raise(): boolean {
    return this.#moveBy(stepPercent);
  }

  #moveBy(step: number): boolean {
    const before = this.#percent;
    if (before === undefined) return false;
    const percent = Math.min(mostPercent, Math.max(leastPercent, before + step));
    if (percent === before) return false;
    this.#change(percent);
    return true;
  }

  #change(percent: number): void {
    this.#percent = percent;
    this.#set(percent);
  }
}

/** The limit of this process, whichever pipeline runs in it. */
export const heapGrowth = new HeapGrowth();
