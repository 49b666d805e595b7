import { Random } from '../watch/random.js';
import { someBase } from './bases.js';
import type { Fault, Spoiler } from './change.js';
import { chainFaults } from './faults/chain.js';
import { frameFaults } from './faults/frame.js';
import { meaningFaults } from './faults/meaning.js';
import { optionFaults } from './faults/options.js';
import { textFaults } from './faults/text.js';
import { harmless } from './harmless.js';

const spoilers: readonly (readonly [string, Spoiler])[] = Object.entries({
  ...textFaults,
  ...frameFaults,
  ...optionFaults,
  ...chainFaults,
  ...meaningFaults,
});
const shufflers = Object.entries(harmless);

/** A changed pipeline file; without a fault the change is harmless. */
export interface Changed {
  readonly kind: string;
  readonly text: string;
  readonly fault?: Fault;
}

/** The changed file of a step: kinds take turns, and the rest is random. One in five changes is harmless. */
export function changedFile(seed: number, step: number): Changed {
  const isHarmless = step % 5 === 4;
  const turn = isHarmless ? Math.floor(step / 5) : step - Math.floor(step / 5);
  for (let again = 0; ; again += 1) {
    const random = Random.of(seed + again * 7_919, step);
    const file = someBase(random);
    if (isHarmless) {
      const [kind, shuffle] = at(shufflers, turn + again * 3);
      const text = shuffle(file, random);
      if (text !== undefined) return { kind, text };
    } else {
      const [kind, spoil] = at(spoilers, turn + (again > 3 ? again : 0));
      const fault = spoil(file, random);
      if (fault !== undefined) return { kind, text: fault.text, fault };
    }
  }
}

function at<Item>(items: readonly Item[], index: number): Item {
  const item = items[index % items.length];
  if (item === undefined) throw new Error('there are no changes');
  return item;
}
