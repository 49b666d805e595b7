import { exceeded } from '../exec/limits.js';
import { wellFormed } from '../../values/raw-bytes.js';
import { JsonMap, GoInterface, GoSlice, nilInterface, type Concrete } from '../values.js';
import { textArgument, type GoFunction } from './types.js';

/** Deep enough for any log; printing recurses as deeply. */
const maxDepth = 256;
/** Parsing JSON into values costs this many times more than reading a text. */
const stepsPerCharacter = 1 / 6;

/** Decodes JSON; invalid JSON gives nil, because Loki ignores the error. */
function decode(source: string): Concrete {
  try {
    return make(JSON.parse(wellFormed(source)), 0);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function make(value: unknown, depth: number): Concrete {
  if (depth > maxDepth) exceeded('nesting');
  switch (typeof value) {
    case 'string':
      return withoutHalves(value);
    case 'number':
      // Go refuses numbers that do not fit a float64.
      return Number.isFinite(value) ? value : undefined;
    case 'boolean':
      return value;
    case 'object':
      if (value === null) return undefined;
      if (Array.isArray(value)) return new GoSlice(value.map((item) => boxed(make(item, depth + 1))));
      return new JsonMap(
        new Map(
          Object.entries(value).map(
            ([key, item]) => [withoutHalves(key), boxed(make(item, depth + 1))] as const,
          ),
        ),
      );
    default:
      return undefined;
  }
}

function boxed(value: Concrete): GoInterface {
  return value === undefined ? nilInterface : new GoInterface(value);
}

/** An unpaired surrogate, which JSON may contain, becomes U+FFFD in Go. */
function withoutHalves(value: string): string {
  return /[\ud800-\udfff]/.test(value) ? value.replaceAll(/\p{Surrogate}/gu, '\ufffd') : value;
}

export const jsonFunctions: Readonly<Record<string, GoFunction>> = {
  fromJson: {
    parameters: ['string'],
    call: ([source], context) => {
      context.charge(textArgument(source).length * stepsPerCharacter);
      return decode(textArgument(source));
    },
  },
};
