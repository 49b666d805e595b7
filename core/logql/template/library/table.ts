import { GoTime } from '../time/go-time.js';
import { isTrue, type GoValue } from '../values.js';
import { accessFunctions } from './access.js';
import { compareFunctions } from './compare.js';
import { dateFunctions } from './dates.js';
import { encodingFunctions, printFunctions } from './printing.js';
import { jsonFunctions } from './json.js';
import { numberFunctions, unitFunctions } from './numbers.js';
import { replaceFunctions } from './replace.js';
import { stringFunctions } from './strings.js';
import type { GoFunction } from './types.js';

/** Every function that a template may call by name, except `call`, which the evaluator handles because no value here is a function. */
export const functionTable: ReadonlyMap<string, GoFunction> = new Map(
  Object.entries<GoFunction>({
    __line__: { parameters: [], call: (_args, { line }) => line },
    __timestamp__: { parameters: [], call: (_args, { timestampNs }) => GoTime.fromNanoseconds(timestampNs) },
    default: { parameters: ['any'], rest: 'any', call: ([fallback, value]) => orDefault(fallback, value) },
    ...stringFunctions,
    ...replaceFunctions,
    ...encodingFunctions,
    ...numberFunctions,
    ...unitFunctions,
    ...jsonFunctions,
    ...dateFunctions,
    ...accessFunctions,
    ...compareFunctions,
    ...printFunctions,
  }),
);

/** The functions that templates of line_format and label_format may call: Loki's and those of the language. */
export const templateFunctions: ReadonlySet<string> = new Set([...functionTable.keys(), 'call']);

function orDefault(fallback: GoValue, value: GoValue): GoValue {
  return isTrue(value) ? value : fallback;
}
