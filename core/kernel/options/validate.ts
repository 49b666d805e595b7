import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import { parseDuration } from '../../base/time/option-duration.js';
import { explain } from './explain.js';
import { textFormats } from './formats.js';
import type { ValueSchema } from './schema.js';

/** What is wrong with a value, and where inside it. */
export interface ValueProblem {
  readonly kind: 'unknown' | 'missing' | 'bad';
  /** From the value's root to the offending key or value. */
  readonly path: readonly (string | number)[];
  /** The unknown or missing key; undefined when a value is bad. */
  readonly key: string | undefined;
  /** Completes a sentence that begins with the name of the option: `must be at least 1, not 0`. */
  readonly message: string;
  readonly fix: string | undefined;
}

/** Marks of ours that carry no meaning for validation. */
const MARKS = [
  'x-expected',
  'x-flag',
  'x-shares',
  'x-env',
  'x-unit',
  'x-list',
  'x-secret',
  'x-deprecated',
  'x-unread',
];

const ajv = makeAjv();
const validators = new WeakMap<object, ValidateFunction>();
/** By the text of the schema: the same one is met as many objects, and compiling is what costs most of a start. */
const compiled = new Map<string, ValidateFunction>();
/** A pipeline has a few dozen schemas with their parts; a checker of many sites' files begins anew from time to time. */
const maxCompiled = 2_000;

/** Everything that is wrong with a value by its schema; the value is neither changed nor coerced. */
export function problemsOf(schema: ValueSchema, value: unknown): readonly ValueProblem[] {
  const validate = validatorOf(schema);
  if (validate(value)) return [];
  return (validate.errors ?? []).filter(isTelling).map((error) => toProblem(error, schema, value));
}

/** Why a schema cannot be used for options, or undefined when it can: it must compile, and its defaults must be valid by it. */
export function schemaProblem(schema: ValueSchema): string | undefined {
  const defaults = new Map<string, unknown>();
  for (const [key, option] of Object.entries(schema.properties ?? {}))
    if (option.default !== undefined) defaults.set(key, option.default);
  const value = Object.fromEntries(defaults);
  try {
    // Throws for what is no schema.
    void ajv.validateSchema(withoutNames(schema), true);
    const validate = validatorOf(schema);
    if (validate(value)) return undefined;
    // What is asked of several options together is asked of what a site writes, not of the defaults.
    const error = validate.errors?.find(
      (each) => each.schemaPath.startsWith('#/properties/') && isTelling(each),
    );
    if (error === undefined) return undefined;
    const { path, message } = toProblem(error, schema, value);
    return `the default of "${String(path[0])}" ${message}`;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function validatorOf(schema: ValueSchema): ValidateFunction {
  const known = validators.get(schema);
  if (known !== undefined) return known;
  const validate = compile(withoutNames(schema));
  validators.set(schema, validate);
  return validate;
}

/** `$schema` and `$id` are left out: a site may write any draft, and load a schema twice. */
function withoutNames(schema: ValueSchema): object {
  return Object.fromEntries(Object.entries(schema).filter(([name]) => name !== '$schema' && name !== '$id'));
}

function compile(schema: object): ValidateFunction {
  const text = JSON.stringify(schema);
  const known = compiled.get(text);
  if (known !== undefined) return known;
  if (compiled.size >= maxCompiled) {
    compiled.clear();
    // Keeps what it compiled as long as it lives.
    ajv.removeSchema();
  }
  const validate = ajv.compile(schema);
  compiled.set(text, validate);
  return validate;
}

function makeAjv(): Ajv2020 {
  const made = new Ajv2020({
    strict: true,
    strictTypes: true,
    allowUnionTypes: true,
    allErrors: true,
    verbose: true,
    // Schemas are compiled at each start and used a few times: to make their code better takes longer than it saves.
    code: { optimize: 0 },
    // Checked where a site brings a schema along; the schema of schemas takes longest of all to compile.
    validateSchema: false,
  });
  made.addVocabulary(MARKS);
  for (const [name, format] of textFormats) made.addFormat(name, { type: 'string', validate: format.test });
  made.addKeyword({
    keyword: 'x-minimum',
    type: 'string',
    schemaType: 'string',
    validate: (least: string, text: string) => isAtLeast(text, least),
  });
  return made;
}

function isAtLeast(text: string, least: string): boolean {
  const ms = parseDuration(text, 'long');
  // What is no duration at all is reported by its format.
  return ms === undefined || ms >= (parseDuration(least, 'long') ?? 0);
}

/** The summary errors of `if`, `anyOf` and their like repeat what other errors say better. */
function isTelling(error: ErrorObject): boolean {
  return error.keyword !== 'if' && error.keyword !== 'propertyNames';
}

function toProblem(error: ErrorObject, schema: ValueSchema, value: unknown): ValueProblem {
  const path = pathOf(error.instancePath, value);
  const option = typeof path[0] === 'string' ? schema.properties?.[path[0]] : undefined;
  const { message, fix } = explain(error, (option ?? schema)['x-secret'] === true);
  // The parameters of these keywords are fixed by ajv; the type only says "object".
  const params = error.params as { additionalProperty?: unknown; missingProperty?: unknown };
  const unknown = params.additionalProperty;
  if (typeof unknown === 'string') {
    return { kind: 'unknown', path: [...path, unknown], key: unknown, message, fix };
  }
  if (typeof params.missingProperty === 'string') {
    return { kind: 'missing', path, key: params.missingProperty, message, fix };
  }
  return { kind: 'bad', path, key: undefined, message, fix };
}

/** A JSON pointer as keys and, in lists, numbers. */
function pathOf(pointer: string, root: unknown): readonly (string | number)[] {
  const path: (string | number)[] = [];
  let here = root;
  for (const part of pointer.split('/').slice(1)) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
    path.push(Array.isArray(here) ? Number(key) : key);
    // An object's own members only; the pointer comes from validation of this very value.
    here =
      typeof here === 'object' && here !== null
        ? Object.getOwnPropertyDescriptor(here, key)?.value
        : undefined;
  }
  return path;
}
