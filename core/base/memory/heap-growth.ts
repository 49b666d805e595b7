import { setFlagsFromString } from 'node:v8';

const flag = '--heap-growing-percent';
/** On a large machine V8 would allow several times that, although each answer leaves some megabytes of garbage. */
const mostPercent = 150;
const leastPercent = 30;
const stepPercent = 10;

function setPercent(percent: number): void {
  setFlagsFromString(`${flag}=${percent}`);
}

/** Limits the growth of V8's heap between two full collections. Growing less takes less memory and more processor time. */
export class HeapGrowth {
  readonly #set: (percent: number) => void;
  readonly #isFixed: boolean;
  #percent = mostPercent;

  /** @param isFixed true if the command line of Node.js sets it */
  constructor(set = setPercent, isFixed = process.execArgv.some((given) => given.startsWith(flag))) {
    this.#set = set;
    this.#isFixed = isFixed;
  }

  /** In percent of the memory in use. */
  get percent(): number {
    return this.#percent;
  }

  apply(): void {
    if (!this.#isFixed) this.#set(this.#percent);
  }

  /** @returns false if it is at its least */
  lower(): boolean {
    return this.#moveTo(this.#percent - stepPercent);
  }

  /** @returns false if it is at its most */
  raise(): boolean {
    return this.#moveTo(this.#percent + stepPercent);
  }

  #moveTo(wanted: number): boolean {
    const percent = Math.min(mostPercent, Math.max(leastPercent, wanted));
    if (this.#isFixed || percent === this.#percent) return false;
    this.#percent = percent;
    this.apply();
    return true;
  }
}
