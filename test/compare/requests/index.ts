import { Random } from '../../watch/random.js';
import type { Dataset } from '../data/dataset.js';
import type { Question } from '../question.js';
import { clientFamilies, type Maker } from './clients.js';
import { randomFamilies } from './random-families.js';

const makers: ReadonlyMap<string, Maker> = new Map(Object.entries({ ...clientFamilies, ...randomFamilies }));

/** Families with a higher share of the questions. */
const weights: ReadonlyMap<string, number> = new Map([
  ['logs', 6],
  ['metric', 5],
  ['instant', 4],
  ['explore', 3],
  ['dashboard', 3],
  ['explore-volume', 2],
  ['drilldown', 2],
  ['logcli', 2],
  ['format', 2],
  ['broken', 2],
  ['detected-fields', 2],
]);

export const families: readonly string[] = [...makers.keys()];

/** Question number `index` of a seed; each can be generated separately. */
export function makeQuestion(
  seed: number,
  index: number,
  data: Dataset,
  chosen: readonly string[] = families,
): Question {
  const random = Random.of(seed, index);
  const weighted = chosen.flatMap((family) => Array<string>(weights.get(family) ?? 1).fill(family));
  const family = random.pick(weighted);
  const make = makers.get(family);
  if (make === undefined) throw new Error(`no family ${family}; there are ${families.join(', ')}`);
  return { id: `${seed}-${index}`, family, ...make(random, data) };
}
