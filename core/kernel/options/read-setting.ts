import { withoutCredentials } from '../../base/secrets.js';
import { parseDuration } from '../../base/time/option-duration.js';
import { isDuration, type OptionDefinition, type ValueSchema } from './schema.js';
import { readText } from './text-value.js';
import type { Environment } from './variables.js';
import { problemsOf } from './validate.js';

/** The value of one option in the form of the YAML file (undefined: unset), or a sentence that explains why it is invalid. */
type Setting =
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'problem'; readonly message: string; readonly fix: string | undefined };

/** Parses and validates the text of a flag or an environment variable; `name` starts the message. */
export function readSetting(definition: OptionDefinition, text: string, name: string): Setting {
  if (isUnset(definition, text)) return { kind: 'value', value: definition.schema.default };
  const read = readText(definition.schema, text);
  if (read.kind === 'problem') {
    const why = definition.isSecret
      ? 'cannot be read'
      : `${read.problem}, not ${withoutCredentials(JSON.stringify(text))}`;
    return { kind: 'problem', message: `${name} ${why}`, fix: undefined };
  }
  const [problem] = problemsOf(definition.schema, read.value);
  if (problem === undefined) return read;
  const place = problem.path.length === 0 ? '' : ` at ${problem.path.join('.')}`;
  return { kind: 'problem', message: `${name}${place} ${problem.message}`, fix: problem.fix };
}

/**
 * True for an empty flag text that means "unset": charts and scripts write `-metrics-listen=` to say "none". An option whose default is an
 * address or a number needs a value.
 */
function isUnset(definition: OptionDefinition, text: string): boolean {
  if (text !== '') return false;
  const { kind, schema } = definition;
  return kind === 'json' || ((kind === 'string' || kind === 'duration') && schema.default === undefined);
}

/** Converts a value to the form code uses: durations become milliseconds, everything else stays. */
export function decodeValue(schema: ValueSchema, value: unknown): unknown {
  if (!isDuration(schema) || typeof value !== 'string') return value;
  return parseDuration(value, schema.format === 'duration-long' ? 'long' : 'go');
}

/** Describes the invalid environment variables of the given options; one sentence each. */
export function environmentProblems(
  definitions: Iterable<OptionDefinition>,
  env: Environment,
): readonly string[] {
  const problems: string[] = [];
  for (const definition of definitions) {
    const given = readEnvironment(definition, env);
    if (given === undefined) continue;
    const setting = readSetting(definition, given.text, `environment variable ${given.name}`);
    if (setting.kind === 'problem') problems.push(sentence(setting));
  }
  return problems;
}

/** A problem and its fix in one line. */
export function sentence(problem: { readonly message: string; readonly fix: string | undefined }): string {
  return problem.message + (problem.fix === undefined ? '' : `, ${problem.fix}`);
}

/** The first of an option's environment variables that is set; empty ones count as unset. */
export function readEnvironment(
  definition: OptionDefinition,
  env: Environment,
): { readonly name: string; readonly text: string } | undefined {
  for (const name of definition.env) {
    const text = env[name];
    if (text !== undefined && text !== '') return { name, text };
  }
  return undefined;
}
