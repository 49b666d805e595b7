import { hidden } from '../../base/secrets.js';
import { decodeValue, readEnvironment, readSetting } from './read-setting.js';
import { definitionsOf, type OptionDefinition, type OptionSchema } from './schema.js';
import { readSecretFile } from './secret-file.js';
import type { Environment } from './variables.js';
import { hasRulesForAll, problemsOf, type ValueProblem } from './validate.js';

/** The sources of option values other than the YAML file. */
export interface OptionSources {
  /** Texts of flags by name, without dashes (from `parseCommandLine`). */
  readonly flags: ReadonlyMap<string, string>;
  readonly env: Environment;
  /** True to read the files of secrets. Otherwise, as when a file is only checked, such a secret counts as set, with an unknown value. */
  readonly readsSecrets?: boolean;
}

/** A flag or an environment variable by name. */
export interface NamedSource {
  readonly kind: 'flag' | 'env';
  readonly name: string;
}

/** The name of a source in messages. */
export function nameOfSource({ kind, name }: NamedSource): string {
  return kind === 'flag' ? `flag -${name}` : `environment variable ${name}`;
}

export function isNamedSource(place: OptionOrigin | FaultPlace): place is NamedSource {
  return place.kind === 'flag' || place.kind === 'env';
}

export type OptionOrigin = NamedSource | { readonly kind: 'yaml' } | { readonly kind: 'default' };

/** The position of a finding: in the YAML value (keys from the section's root), at a flag or at a variable. */
type FaultPlace =
  | NamedSource
  | { readonly kind: 'yaml'; readonly path: readonly (string | number)[]; readonly at: 'key' | 'value' };

/** One error in the options of a plugin or section. */
export interface OptionFinding {
  readonly kind: 'unknown-option' | 'missing-option' | 'bad-value';
  readonly place: FaultPlace;
  /** One sentence without a full stop; never contains a secret. */
  readonly message: string;
  readonly fix: string | undefined;
}

/** Options as used by code, if there are no findings: with defaults, durations in milliseconds. */
export interface ResolvedOptions {
  readonly options: Readonly<Record<string, unknown>>;
  readonly origins: ReadonlyMap<string, OptionOrigin>;
  readonly findings: readonly OptionFinding[];
}

/**
 * Resolves the options of one section or plugin from flag, environment, YAML and default, in this order of precedence. An invalid source
 * gets a finding, and the next source is used.
 */
export function resolveOptions(
  schema: OptionSchema,
  yamlValue: unknown,
  sources: OptionSources,
): ResolvedOptions {
  const findings: OptionFinding[] = [];
  const origins = new Map<string, OptionOrigin>();
  const merged = new Map<string, unknown>();
  const yaml = readYaml(schema, yamlValue, findings);
  const definitions = definitionsOf('', schema);
  for (const definition of definitions) {
    const found =
      readNamed(definition, sources, findings) ??
      (yaml.has(definition.key)
        ? { value: yaml.get(definition.key), origin: { kind: 'yaml' } as const }
        : { value: definition.schema.default, origin: { kind: 'default' } as const });
    origins.set(definition.key, found.origin);
    if (found.value !== undefined) merged.set(definition.key, found.value);
  }
  for (const { key, fileOf } of definitions) {
    const secret = fileOf === undefined ? undefined : definitions.find((each) => each.key === fileOf);
    const path = merged.get(key);
    if (secret === undefined || typeof path !== 'string') continue;
    const origin = origins.get(key) ?? { kind: 'yaml' };
    const before = origins.get(secret.key) ?? { kind: 'default' };
    origins.set(secret.key, origin);
    const file = { key, path, origin };
    const isGiven = before.kind !== 'default' && merged.has(secret.key);
    const read = isGiven ? bothGiven(file, secret, before) : readSecret(file, secret, sources);
    if ('value' in read) merged.set(secret.key, read.value);
    else {
      findings.push(read);
      // It counts as set, so that nothing else about it is reported.
      merged.set(secret.key, hiddenValue(secret));
    }
  }
  findings.push(...missingIn(schema, Object.fromEntries(merged)));
  const options = Object.fromEntries(
    [...merged].map(([key, value]) => [key, decodeValue(schema.properties?.[key] ?? {}, value)]),
  );
  return { options, origins, findings };
}

interface Found {
  readonly value: unknown;
  readonly origin: OptionOrigin;
}

/** The flag and the variable that set an option, with their texts. */
export function namedSources(
  definition: OptionDefinition,
  { flags, env }: OptionSources,
): readonly { readonly origin: NamedSource; readonly text: string }[] {
  const flag = definition.flag ?? definition.shares ?? '';
  const text = flags.get(flag);
  const variable = readEnvironment(definition, env);
  return [
    ...(text === undefined ? [] : [{ origin: { kind: 'flag', name: flag } as const, text }]),
    ...(variable === undefined
      ? []
      : [{ origin: { kind: 'env', name: variable.name } as const, text: variable.text }]),
  ];
}

/** The value from the flag or the environment; an invalid one is reported and counts as unset. */
function readNamed(
  definition: OptionDefinition,
  sources: OptionSources,
  findings: OptionFinding[],
): Found | undefined {
  for (const { origin, text } of namedSources(definition, sources)) {
    const setting = readSetting(definition, text, nameOfSource(origin));
    if (setting.kind === 'value') return { value: setting.value, origin };
    const { message, fix } = setting;
    findings.push({ kind: 'bad-value', place: origin, message, fix });
  }
  return undefined;
}

/** A file that contains a secret, and the source that named it. */
interface GivenFile {
  readonly key: string;
  readonly path: string;
  readonly origin: OptionOrigin;
}

/** The secret in a file. If files are not read, a placeholder value. */
function readSecret(
  file: GivenFile,
  secret: OptionDefinition,
  { readsSecrets = false }: OptionSources,
): { readonly value: unknown } | OptionFinding {
  if (!readsSecrets) return { value: hiddenValue(secret) };
  const subject = nameOf(file);
  const read = readSecretFile(file.path);
  if ('reason' in read) return badFile(file, `${subject}: ${file.path} ${read.reason}`);
  // In a file, items are separated by line breaks as often as by commas.
  const text =
    secret.kind === 'list' && !read.text.startsWith('[') ? read.text.replace(/\r?\n/g, ',') : read.text;
  const setting = readSetting(secret, text, `${subject}: the content of ${file.path}`);
  return setting.kind === 'value' ? setting : badFile(file, setting.message, setting.fix);
}

/** Placeholder for a secret that is set but unknown. */
function hiddenValue({ kind }: OptionDefinition): unknown {
  return kind === 'list' ? [hidden] : hidden;
}

function bothGiven(file: GivenFile, secret: OptionDefinition, origin: OptionOrigin): OptionFinding {
  const other = nameOf({ key: secret.key, origin });
  return badFile(file, `${nameOf(file)} and ${other} both set the same secret`, 'remove one of them');
}

function badFile({ key, origin }: GivenFile, message: string, fix?: string): OptionFinding {
  const place = isNamedSource(origin) ? origin : ({ kind: 'yaml', path: [key], at: 'value' } as const);
  return { kind: 'bad-value', place, message, fix };
}

function nameOf({ key, origin }: Pick<GivenFile, 'key' | 'origin'>): string {
  return isNamedSource(origin) ? nameOfSource(origin) : `option "${key}"`;
}

/** The valid members of the YAML value, by key; the others become findings. A missing value is an empty mapping. */
function readYaml(
  schema: OptionSchema,
  yamlValue: unknown,
  findings: OptionFinding[],
): ReadonlyMap<string, unknown> {
  const value = yamlValue ?? {};
  const problems = problemsOf(schema, value).filter((problem) => !isMissingAtRoot(problem));
  findings.push(...problems.map(toFinding));
  if (typeof value !== 'object' || Array.isArray(value)) return new Map();
  const faulty = new Set(problems.map((problem) => problem.path[0]));
  return new Map(Object.entries(value).filter(([key]) => !faulty.has(key)));
}

/** Options that are missing. Runs after flags and environment are merged, because they may provide them. */
function missingIn(schema: OptionSchema, merged: object): readonly OptionFinding[] {
  if (!hasRulesForAll(schema)) return [];
  return problemsOf(schema, merged).filter(isMissingAtRoot).map(toFinding);
}

function isMissingAtRoot(problem: ValueProblem): boolean {
  return problem.kind === 'missing' && problem.path.length === 0;
}

function toFinding(problem: ValueProblem): OptionFinding {
  const { path, fix } = problem;
  const name = path.length === 0 ? 'the options' : `option "${path.join('.')}"`;
  const message = isMissingAtRoot(problem)
    ? `option "${problem.key ?? ''}" is missing`
    : `${name} ${problem.message}`;
  const place = { kind: 'yaml', path, at: problem.kind === 'unknown' ? 'key' : 'value' } as const;
  return { kind: findingKinds[problem.kind], place, message, fix };
}

const findingKinds = { unknown: 'unknown-option', missing: 'missing-option', bad: 'bad-value' } as const;
