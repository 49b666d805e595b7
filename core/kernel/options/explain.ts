import type { ErrorObject } from 'ajv/dist/2020.js';
import { withoutCredentials, withoutUserInfo } from '../../base/secrets.js';
import { textFormats } from './formats.js';
import { type ValueSchema, isDuration } from './schema.js';
import { suggest } from './suggest.js';

/** A problem in words, with advice to fix it. */
interface Explanation {
  readonly message: string;
  readonly fix: string | undefined;
}

/** Maximum length of an invalid value in a message. */
const MAX_SHOWN = 60;

/** Turns a validation error into words that complete a sentence starting with the option's name; secrets are not shown. */
export function explain(error: ErrorObject, isSecretOption: boolean): Explanation {
  const { message, fix } = explained(error, isSecretOption);
  return { message, fix: fix === undefined ? undefined : withoutCredentials(fix) };
}

function explained(error: ErrorObject, isSecretOption: boolean): Explanation {
  // `verbose` is on, so the error has the schema around the keyword; its values are checked where they are used.
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

/** The schema key that an unknown key probably stands for. */
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
  return (
    schema['x-expected'] ??
    (schema.pattern === undefined ? 'a text' : `a string that matches ${schema.pattern}`)
  );
}

function shown(value: unknown, { format = '' }: ValueSchema): string {
  const text = JSON.stringify(value, (_key, part: unknown) => {
    if (typeof part !== 'string') return part;
    const isAddress = format.endsWith('-url') || part.includes('//');
    return isAddress && part.includes('@') ? withoutUserInfo(part) : withoutCredentials(part);
  });
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}...` : text;
}

/** Advice with the obviously intended value; undefined if it is not obvious. */
function meantValue(schema: ValueSchema, value: unknown): string | undefined {
  if (value === null) return 'write a value, or remove the line to use the default';
  for (const fix of [alone, unquoted, truth, quoted, duration, address]) {
    const advice = fix(schema, value);
    if (advice !== undefined) return advice;
  }
  return undefined;
}

type Mender = (schema: ValueSchema, value: unknown) => string | undefined;

/** `[5]` for 5. */
const alone: Mender = (schema, value) => {
  if (!Array.isArray(value) || value.length !== 1 || mayBe(schema, 'array')) return undefined;
  const item: unknown = value[0];
  return isValid(schema, item) ? `write ${written(item)} without brackets` : undefined;
};

/** `"5"` for 5. */
const unquoted: Mender = (schema, value) => {
  if (typeof value !== 'string') return undefined;
  const read: unknown = /^(?:true|false|-?\d{1,15}(?:\.\d{1,15})?)$/.test(value)
    ? JSON.parse(value)
    : undefined;
  return read !== undefined && isValid(schema, read) ? `write ${value} without quotes` : undefined;
};

const words: ReadonlyMap<string, boolean> = new Map([
  ['yes', true],
  ['on', true],
  ['y', true],
  ['1', true],
  ['no', false],
  ['off', false],
  ['n', false],
  ['0', false],
]);

/** `yes` for true: YAML 1.2 has only one spelling. */
const truth: Mender = (schema, value) => {
  if (!mayBe(schema, 'boolean') || (typeof value !== 'string' && typeof value !== 'number')) return undefined;
  const meant = words.get(String(value).toLowerCase());
  return meant === undefined ? undefined : `write ${String(meant)}`;
};

/** `"30"` for 30: YAML does not read a bare 30, true or null as text. */
const quoted: Mender = (schema, value) => {
  if (schema.type !== 'string' || (typeof value !== 'number' && typeof value !== 'boolean')) return undefined;
  if (schema.format === 'listen-address') return `write ":${String(value)}"`;
  if (isDuration(schema) && typeof value === 'number') return `write "${String(value)}s" for seconds`;
  return `write "${String(value)}" in quotes`;
};

const units: readonly (readonly [RegExp, string])[] = [
  [/^(?:ms|msec|millis|milliseconds?)$/, 'ms'],
  [/^(?:s|secs?|seconds?)$/, 's'],
  [/^(?:m|mins?|minutes?)$/, 'm'],
  [/^(?:h|hrs?|hours?)$/, 'h'],
  [/^(?:d|days?)$/, 'd'],
];

/** `5 min` for 5m. */
const duration: Mender = (schema, value) => {
  if (!isDuration(schema) || typeof value !== 'string') return undefined;
  const [, count = '', word = ''] = /^(\d{1,6})\s*([a-z]+)$/.exec(value.toLowerCase()) ?? [];
  const unit = units.find(([form]) => form.test(word))?.[1];
  if (unit === undefined) return /^\d+$/.test(value) ? `write "${value}s" for seconds` : undefined;
  const days = unit === 'd' && schema.format === 'duration' ? `${Number(count) * 24}h` : undefined;
  return advised(schema, days ?? count + unit);
};

/** Addresses with a missing or superfluous scheme. */
const address: Mender = (schema, value) => {
  if (typeof value !== 'string') return undefined;
  if (schema.format === 'http-url')
    return /^[\w.-]+(?::\d+)?$/.test(value) ? advised(schema, `http://${value}`) : undefined;
  if (schema.format === 'listen-address') return advised(schema, value.replace(/^https?:\/\/|\/+$/g, ''));
  return undefined;
};

function advised(schema: ValueSchema, meant: string): string | undefined {
  return isValid(schema, meant) ? `write "${meant}"` : undefined;
}

/** True if a value has the type, choice and format that a schema requires. */
function isValid(schema: ValueSchema, value: unknown): boolean {
  if (schema.enum !== undefined && !schema.enum.includes(value)) return false;
  switch (typeof value) {
    case 'string':
      return mayBe(schema, 'string') && textFormats.get(schema.format ?? '')?.test(value) !== false;
    case 'number':
      return mayBe(schema, 'number') || (mayBe(schema, 'integer') && Number.isInteger(value));
    case 'boolean':
      return mayBe(schema, 'boolean');
    default:
      return false;
  }
}

function mayBe(schema: ValueSchema, type: string): boolean {
  return typeof schema.type === 'string' ? schema.type === type : (schema.type ?? []).includes(type);
}

function written(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
