import { parseDuration } from './duration.js';
import { isDuration, type OptionDefinition, type ValueSchema } from './schema.js';
import { readText } from './text-value.js';
import { problemsOf } from './validate.js';

/** A value for one option in the form the YAML file would hold, or the sentence that says why it is none. */
export type Setting =
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'problem'; readonly message: string; readonly fix: string | undefined };

/** Reads and checks the text that a flag or an environment variable gives an option; `name` begins the message. */
export function readSetting(definition: OptionDefinition, text: string, name: string): Setting {
  const read = readText(definition.schema, text);
  if (read.kind === 'problem') {
    const why = definition.isSecret ? 'cannot be read' : `${read.problem}, not ${JSON.stringify(text)}`;
    return { kind: 'problem', message: `${name} ${why}`, fix: undefined };
  }
  const [problem] = problemsOf(definition.schema, read.value);
  if (problem === undefined) return read;
  const place = problem.path.length === 0 ? '' : ` at ${problem.path.join('.')}`;
  return { kind: 'problem', message: `${name}${place} ${problem.message}`, fix: problem.fix };
}

/** The value as code gets it: an option that is a duration becomes milliseconds, everything else stays. */
export function decodeValue(schema: ValueSchema, value: unknown): unknown {
  if (!isDuration(schema) || typeof value !== 'string') return value;
  return parseDuration(value, schema.format === 'duration-long' ? 'long' : 'go');
}

/** The first of an option's environment variables that is set; an empty one counts as not set. */
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

/** Environment variables, as in process.env. */
export type Environment = Readonly<Record<string, string | undefined>>;
