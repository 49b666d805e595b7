import { ofKey } from '../../base/memory/byte-lru.js';
import { variableOf } from './variables.js';

/** The subset of JSON schema used for options, and this project's extensions (`x-...`). */

/** Use of a file that an option names. */
export type FileUse = 'read' | 'write';

/** The schema of one option, or of a part of its value. */
export interface ValueSchema {
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly enum?: readonly unknown[];
  readonly items?: ValueSchema;
  readonly properties?: Readonly<Record<string, ValueSchema>>;
  readonly additionalProperties?: boolean | ValueSchema;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly pattern?: string;
  readonly required?: readonly string[];
  readonly if?: ValueSchema;
  readonly then?: ValueSchema;
  readonly else?: ValueSchema;
  readonly default?: unknown;
  readonly description?: string;
  /** Name of the command-line flag, without dashes. */
  readonly 'x-flag'?: string;
  /** Flag of another plugin's option that also sets this one; the other schema declares it with `x-flag`. */
  readonly 'x-shares'?: string;
  /** Environment variables in addition to the one that every flag has; the first one set is used. */
  readonly 'x-env'?: string | readonly string[];
  /** Environment variable by which other proxies set the option, but which has no effect here, as specified. */
  readonly 'x-env-ignored'?: string;
  /** Unit of a number, for documentation. */
  readonly 'x-unit'?: string;
  /** `lines`: the flag's text is split at line breaks instead of commas. */
  readonly 'x-list'?: 'lines';
  /** Minimum of a duration. */
  readonly 'x-minimum'?: string;
  /** Describes texts that match the `pattern`, for messages. */
  readonly 'x-expected'?: string;
  /** The value never appears in logs or in messages. */
  readonly 'x-secret'?: boolean;
  /** The option is the file that holds the value of this secret one. */
  readonly 'x-secret-file'?: string;
  /** The option affects when and how something is done, but never the content of an answer: cached answers are valid for any value. */
  readonly 'x-neutral'?: boolean;
  /** Advice on the option to use instead. */
  readonly 'x-deprecated'?: string;
  /** The option names a file that the process reads or writes. */
  readonly 'x-file'?: FileUse;
  /** The file in the data folder (`-data-dir`) that is used by default. */
  readonly 'x-data-file'?: string;
  /** Key of an option of the same owner that the value of this one may not exceed. */
  readonly 'x-not-above'?: string;
  /** Path below the URL that answers 2xx if the service there is healthy. */
  readonly 'x-probe'?: string;
  /** Key of the boolean option of the same owner that enables this one. */
  readonly 'x-used-with'?: string;
  /** No code reads the option yet. */
  readonly 'x-unread'?: boolean;
}

/** The schema of a plugin's options, or of a core section of the pipeline file. */
export interface OptionSchema extends ValueSchema {
  readonly title?: string;
  readonly properties?: Readonly<Record<string, ValueSchema>>;
}

/** Names under which code reads the values of extensions. */
const valueMarks = {
  flag: 'x-flag',
  shares: 'x-shares',
  ignoredEnv: 'x-env-ignored',
  unit: 'x-unit',
  fileOf: 'x-secret-file',
  deprecated: 'x-deprecated',
  fileUse: 'x-file',
  dataFile: 'x-data-file',
  notAbove: 'x-not-above',
  probe: 'x-probe',
  usedWith: 'x-used-with',
} as const;
type Marked = { readonly [Name in keyof typeof valueMarks]: ValueSchema[(typeof valueMarks)[Name]] };

/** This project's extensions that constrain no value. */
export const marks: readonly string[] = [
  ...Object.values(valueMarks),
  ...['x-secret', 'x-neutral', 'x-unread', 'x-expected', 'x-env', 'x-list'],
];

/** One option, for flags, environment, documentation and checker; `ValueSchema` describes the values of its extensions. */
export interface OptionDefinition extends Marked {
  /** The core section or plugin that the option belongs to. */
  readonly owner: string;
  /** Key in the YAML file. */
  readonly key: string;
  readonly kind: ValueKind;
  /** Environment variables, the specified ones before that of the flag; the first one set is used. */
  readonly env: readonly string[];
  /** The default environment variable of the flag. */
  readonly variable: string | undefined;
  readonly description: string;
  readonly isSecret: boolean;
  readonly isNeutral: boolean;
  readonly isUnread: boolean;
  readonly schema: ValueSchema;
}

/** Format in which the text of a flag or an environment variable is parsed. */
type ValueKind = 'boolean' | 'integer' | 'number' | 'duration' | 'string' | 'list' | 'json';

export function valueKind(schema: ValueSchema): ValueKind {
  switch (schema.type) {
    case 'boolean':
    case 'integer':
    case 'number':
      return schema.type;
    case 'string':
      return isDuration(schema) ? 'duration' : 'string';
    case 'array':
      return schema.items?.type === 'string' ? 'list' : 'json';
    default:
      return schema.type?.includes('string') === true && schema.items === undefined ? 'string' : 'json';
  }
}

/** True if code receives the option as a number of milliseconds. */
export function isDuration(schema: ValueSchema): boolean {
  return schema.format === 'duration' || schema.format === 'duration-long';
}

/**
 * Definitions by schema and owner: loading and checking a pipeline file need those of the same schemas dozens of times. Data attached to a
 * schema (`Attached`) would be copied with it.
 */
const definitions = new WeakMap<OptionSchema, Map<string, readonly OptionDefinition[]>>();

/** The options of a schema, in its order. */
export function definitionsOf(owner: string, schema: OptionSchema): readonly OptionDefinition[] {
  const byOwner = ofKey(definitions, schema, () => new Map<string, readonly OptionDefinition[]>());
  return ofKey(byOwner, owner, () => define(owner, schema));
}

function define(owner: string, schema: OptionSchema): readonly OptionDefinition[] {
  return Object.entries(schema.properties ?? {}).map(([key, option]) => {
    const flag = option['x-flag'] ?? option['x-shares'];
    const variable = flag === undefined ? undefined : variableOf(flag);
    return {
      ...markedBy(option),
      owner,
      key,
      kind: valueKind(option),
      env: [...envNames(option), ...(variable === undefined ? [] : [variable])],
      variable,
      description: option.description ?? '',
      isSecret: option['x-secret'] === true,
      isNeutral: option['x-neutral'] === true,
      isUnread: option['x-unread'] === true,
      schema: option,
    };
  });
}

function markedBy(option: ValueSchema): Marked {
  const values = Object.entries(valueMarks).map(([name, mark]) => [name, option[mark]] as const);
  // Made name by name from the table.
  return Object.fromEntries(values) as unknown as Marked;
}

function envNames(option: ValueSchema): readonly string[] {
  const env = option['x-env'];
  if (env === undefined) return [];
  return typeof env === 'string' ? [env] : env;
}
