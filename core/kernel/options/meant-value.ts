import { textFormats } from './formats.js';
import { isDuration, type ValueSchema } from './schema.js';

/** What an invalid value was obviously meant to be, as advice; undefined when nobody can tell. */
export function meantValue(schema: ValueSchema, value: unknown): string | undefined {
  if (value === null) return 'write a value, or take the line out to have the default';
  for (const mend of [alone, unquoted, truth, quoted, duration, address]) {
    const advice = mend(schema, value);
    if (advice !== undefined) return advice;
  }
  return undefined;
}

type Mender = (schema: ValueSchema, value: unknown) => string | undefined;

/** `[5]` for 5. */
const alone: Mender = (schema, value) => {
  if (!Array.isArray(value) || value.length !== 1 || mayBe(schema, 'array')) return undefined;
  const item: unknown = value[0];
  return isValid(schema, item) ? `write ${shown(item)} without brackets` : undefined;
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

/** `yes` for true: YAML 1.2 knows only one way to say it. */
const truth: Mender = (schema, value) => {
  if (!mayBe(schema, 'boolean') || (typeof value !== 'string' && typeof value !== 'number')) return undefined;
  const meant = words.get(String(value).toLowerCase());
  return meant === undefined ? undefined : `write ${String(meant)}`;
};

/** YAML reads a bare 30, true or null as something other than a text. */
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

/** Addresses with a scheme too few or too many. */
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

/** Whether a value is of the type, the choice and the form that a schema asks for. */
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

function shown(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
