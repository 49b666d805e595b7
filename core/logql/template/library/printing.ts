import { sprint, sprintln } from '../fmt/print.js';
import { sprintf } from '../fmt/printf.js';
import { concrete, type GoValue } from '../values/value.js';
import { htmlEscape, jsEscape, urlEncode } from './encodings.js';
import { textArgument, type GoFunction } from './types.js';

function printer(apply: (args: readonly GoValue[]) => string, weight = 1): GoFunction {
  return {
    parameters: [],
    weight,
    rest: 'any',
    inputLimit: 'print input',
    outputLimit: 'print input',
    call: apply,
  };
}

/** Escapes the printed arguments, where nil is `<no value>`. */
function escaper(escape: (subject: string) => string, weight: number): GoFunction {
  return printer((args) => escape(sprint(args.map((arg) => concrete(arg) ?? '<no value>'))), weight);
}

export const printFunctions: readonly (readonly [string, GoFunction])[] = [
  ['print', printer(sprint)],
  ['println', printer(sprintln)],
  [
    'printf',
    {
      parameters: ['string'],
      rest: 'any',
      inputLimit: 'printf',
      weight: 4,
      outputLimit: 'printf',
      call: ([format, ...args]) => sprintf(textArgument(format), args),
    },
  ],
  ['html', escaper(htmlEscape, 3)],
  ['js', escaper(jsEscape, 16)],
  ['urlquery', escaper(urlEncode, 6)],
];
