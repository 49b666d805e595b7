import type { ErrorObject } from 'ajv/dist/2020.js';
import { withoutCredentials, withoutUserInfo } from '../../base/secrets.js';
import { textFormats } from './formats.js';
import { meantValue } from './meant-value.js';
import type { ValueSchema } from './schema.js';
import { suggest } from './suggest.js';

/** What is wrong, in words, and how to fix it. */
export interface Explanation {
  readonly message: string;
  readonly fix: string | undefined;
}

/** Longest part of an invalid value that a message repeats. */
const MAX_SHOWN = 60;

/** Turns a validation error into words that complete a sentence starting with the option's name; secrets are not shown. */
export function explain(error: ErrorObject, isSecretOption: boolean): Explanation {
  const { message, fix } = explained(error, isSecretOption);
  return { message, fix: fix === undefined ? undefined : withoutCredentials(fix) };
}

function explained(error: ErrorObject, isSecretOption: boolean): Explanation {
  // `verbose` is on, so the error carries the schema around the keyword; its values are checked where they are used.
  const schema = (error.parentSchema ?? {}) as ValueSchema;
  const params = error.params as Readonly<Record<string, unknown>>;
  const isSecret = isSecretOption || schema['x-secret'] === true;
  const not = isSecret ? '' : `, not ${shown(error.data, schema)}`;
  switch (error.keyword) {
    case 'additionalProperties':
      return { message: 'is not known', fix: didYouMean(params['additionalProperty'], keysOf(schema)) };
    case 'required':
    case 'dependentRequired':
      return { message: `lacks "${String(params['missingProperty'])}"`, fix: undefined };
    case 'enum':
      return explainEnum(schema, error.data, not);
    case 'type':
      return {
        message: `must be ${expectedType(schema)}${not}`,
        fix: isSecret ? undefined : meantValue(schema, error.data),
      };
    case 'format':
    case 'pattern':
      return {
        message: `must be ${expectedText(schema)}${not}${isSecret ? '' : reason(schema, error.data)}`,
        fix: isSecret ? undefined : meantValue(schema, error.data),
      };
    case 'minimum':
    case 'x-minimum':
      return { message: `must be at least ${String(error.schema)}${not}`, fix: undefined };
    case 'maximum':
      return { message: `must be at most ${String(error.schema)}${not}`, fix: undefined };
    case 'minLength':
      return { message: 'must not be empty', fix: undefined };
    default:
      return { message: `${error.message ?? 'is not allowed'}${not}`, fix: undefined };
  }
}

function explainEnum(schema: ValueSchema, value: unknown, not: string): Explanation {
  const allowed = (schema.enum ?? []).map(String);
  const last = allowed.at(-1) ?? '';
  const list = allowed.length > 1 ? `${allowed.slice(0, -1).join(', ')} or ${last}` : last;
  const only = allowed.length === 1 ? `write ${last}` : undefined;
  return {
    message: `must be ${list}${not}`,
    fix: meantValue(schema, value) ?? didYouMean(value, allowed) ?? only,
  };
}

/** The key of a schema that an unknown one probably stands for. */
export function meantKey(word: string, schema: ValueSchema): string | undefined {
  return suggest(word, keysOf(schema));
}

function didYouMean(word: unknown, candidates: readonly string[]): string | undefined {
  const meant = typeof word === 'string' ? suggest(word, candidates) : undefined;
  return meant === undefined ? undefined : `did you mean "${meant}"?`;
}

function keysOf(schema: ValueSchema): readonly string[] {
  return Object.keys(schema.properties ?? {});
}

function reason({ format }: ValueSchema, value: unknown): string {
  const why = typeof value === 'string' ? textFormats.get(format ?? '')?.why?.(value) : undefined;
  return why === undefined ? '' : `: ${why}`;
}

const TYPE_WORDS: ReadonlyMap<string, string> = new Map([
  ['boolean', 'true or false'],
  ['integer', 'a whole number'],
  ['number', 'a number'],
  ['string', 'a text'],
  ['array', 'a list'],
  ['object', 'a mapping'],
  ['null', 'null'],
]);

function expectedType(schema: ValueSchema): string {
  if (schema.format !== undefined) return expectedText(schema);
  const types = typeof schema.type === 'string' ? [schema.type] : (schema.type ?? []);
  return types.map((type) => TYPE_WORDS.get(type) ?? type).join(' or ');
}

function expectedText(schema: ValueSchema): string {
  const format = schema.format === undefined ? undefined : textFormats.get(schema.format);
  if (format !== undefined) return format.expected;
  return schema['x-expected'] ?? (schema.pattern === undefined ? 'a text' : `a text like ${schema.pattern}`);
}

function shown(value: unknown, { format = '' }: ValueSchema): string {
  const text = JSON.stringify(value, (_key, part: unknown) => {
    if (typeof part !== 'string') return part;
    const isAddress = format.endsWith('-url') || part.includes('//');
    return isAddress && part.includes('@') ? withoutUserInfo(part) : withoutCredentials(part);
  });
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}...` : text;
}
