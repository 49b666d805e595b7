import { ofKey } from '../../base/memory/byte-lru.js';
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import { parseDuration } from '../../base/time/option-duration.js';
import { explain, meantKey } from './explain.js';
import { textFormats } from './formats.js';
import { marks, type ValueSchema } from './schema.js';

/** A problem in a value, with its position. */
export interface ValueProblem {
  readonly kind: 'unknown' | 'missing' | 'bad';
  /** Path from the value's root to the invalid key or value. */
  readonly path: readonly (string | number)[];
  /** The unknown or missing key; undefined if a value is invalid. */
  readonly key: string | undefined;
  /** Completes a sentence that starts with the option's name: `must be at least 1, not 0`. */
  readonly message: string;
  readonly fix: string | undefined;
  /** The key that an unknown one probably stands for. */
  readonly meant?: string | undefined;
  /** True if the message lists all allowed values. */
  readonly isChoice?: boolean;
}

const ajv = makeAjv();
const validators = new WeakMap<object, ValidateFunction>();
/** Compiled schemas by their text: equal schemas may be different objects, and compiling them dominates the start time. */
const compiled = new Map<string, ValidateFunction>();
/**
 * Maximum number of compiled schemas. A pipeline has a few dozen including parts; a checker that reads files of many sites starts over from
 * time to time.
 */
const maxCompiled = 2_000;

/** Keywords that constrain neither several options together nor options that are not set. */
const byOption = new Set([
  '$schema',
  '$id',
  'title',
  'description',
  'type',
  'properties',
  'additionalProperties',
]);

/** True if a schema constrains more than single options; built-in ones do not. */
export function hasRulesForAll(schema: ValueSchema): boolean {
  return schema.type !== 'object' || Object.keys(schema).some((keyword) => !byOption.has(keyword));
}

/** All errors of a value by its schema; the value is neither changed nor coerced. */
export function problemsOf(schema: ValueSchema, value: unknown): readonly ValueProblem[] {
  // Compiling takes long, and most plugins of a pipeline file have no options set.
  if (isEmptyObject(value) && !hasRulesForAll(schema)) return [];
  const validate = validatorOf(schema);
  if (validate(value)) return [];
  const problems = (validate.errors ?? []).filter(isSpecific).map((error) => toProblem(error, schema, value));
  return withoutEchoes(problems);
}

function isEmptyObject(value: unknown): boolean {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length === 0
  );
}

/** Removes consequential errors: a misspelt key is not also missing, and a value of the wrong type has no other errors. */
function withoutEchoes(problems: readonly ValueProblem[]): readonly ValueProblem[] {
  const bad = new Map<string, ValueProblem>();
  for (const problem of problems) {
    const at = problem.path.join('\u0000');
    // Of several problems, the one that lists the allowed values is the most helpful.
    if (problem.kind === 'bad' && (!bad.has(at) || problem.isChoice)) bad.set(at, problem);
  }
  const isMeant = ({ path, key }: ValueProblem): boolean =>
    problems.some(
      (other) =>
        other.kind === 'unknown' && other.path.slice(0, -1).join() === path.join() && other.meant === key,
    );
  return problems.filter((problem) => {
    if (problem.kind === 'missing') return !isMeant(problem);
    return problem.kind === 'unknown' || bad.get(problem.path.join('\u0000')) === problem;
  });
}

/** The reason why a schema is unusable for options; undefined if it compiles and its defaults are valid. */
export function schemaProblem(schema: ValueSchema): string | undefined {
  const defaults = new Map<string, unknown>();
  for (const [key, option] of Object.entries(schema.properties ?? {}))
    if (option.default !== undefined) defaults.set(key, option.default);
  const value = Object.fromEntries(defaults);
  try {
    // Throws for an invalid schema.
    void ajv.validateSchema(withoutNames(schema), true);
    const validate = validatorOf(schema);
    if (validate(value)) return undefined;
    // Constraints between several options apply to what a site writes, not to the defaults alone.
    const error = validate.errors?.find(
      (each) => each.schemaPath.startsWith('#/properties/') && isSpecific(each),
    );
    if (error === undefined) return undefined;
    const { path, message } = toProblem(error, schema, value);
    return `the default of "${String(path[0])}" ${message}`;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function validatorOf(schema: ValueSchema): ValidateFunction {
  return ofKey(validators, schema, () => compile(withoutNames(schema)));
}

/** Removes `$schema` and `$id`: a site may use any draft, and load a schema twice. */
function withoutNames(schema: ValueSchema): object {
  return Object.fromEntries(Object.entries(schema).filter(([name]) => name !== '$schema' && name !== '$id'));
}

function compile(schema: object): ValidateFunction {
  const text = JSON.stringify(schema);
  const known = compiled.get(text);
  if (known !== undefined) return known;
  if (compiled.size >= maxCompiled) {
    compiled.clear();
    // ajv would keep the compiled schema for its lifetime.
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
    // Schemas are compiled at each start and used a few times, so optimizing them does not pay.
    code: { optimize: 0 },
    // A site's own schemas are validated on loading; compiling the meta-schema is the slowest part.
    validateSchema: false,
  });
  made.addVocabulary([...marks]);
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
  // A malformed duration is reported by its format.
  return ms === undefined || ms >= (parseDuration(least, 'long') ?? 0);
}

/** True for specific errors; those of `if`, `anyOf` and the like only summarize others. */
function isSpecific(error: ErrorObject): boolean {
  return error.keyword !== 'if' && error.keyword !== 'propertyNames';
}

function toProblem(error: ErrorObject, schema: ValueSchema, value: unknown): ValueProblem {
  const path = pathOf(error.instancePath, value);
  const option = typeof path[0] === 'string' ? schema.properties?.[path[0]] : undefined;
  const { message, fix } = explain(error, (option ?? schema)['x-secret'] === true);
  // ajv fixes the parameters of these keywords; the type only says "object".
  const params = error.params as { additionalProperty?: unknown; missingProperty?: unknown };
  const unknown = params.additionalProperty;
  if (typeof unknown === 'string') {
    // `verbose` is on, so the error carries the schema around the keyword.
    const meant = meantKey(unknown, (error.parentSchema ?? {}) as ValueSchema);
    return { kind: 'unknown', path: [...path, unknown], key: unknown, message, fix, meant };
  }
  if (typeof params.missingProperty === 'string') {
    return { kind: 'missing', path, key: params.missingProperty, message, fix };
  }
  return { kind: 'bad', path, key: undefined, message, fix, isChoice: error.keyword === 'enum' };
}

/** Converts a JSON pointer to keys and, in lists, numbers. */
function pathOf(pointer: string, root: unknown): readonly (string | number)[] {
  const path: (string | number)[] = [];
  let here = root;
  for (const part of pointer.split('/').slice(1)) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
    path.push(Array.isArray(here) ? Number(key) : key);
    // Own members only; the pointer comes from validating this value.
    here =
      typeof here === 'object' && here !== null
        ? Object.getOwnPropertyDescriptor(here, key)?.value
        : undefined;
  }
  return path;
}
