import { variableOf } from './variables.js';

/** The part of JSON schema used for options, and this project's extensions (`x-...`). */

/** Use that the process makes of a file that an option names. */
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
  /** Environment variables beside the one that every flag has; the first one set wins. */
  readonly 'x-env'?: string | readonly string[];
  /** Environment variable by which other proxies set the option, and which does not set it here, as specified. */
  readonly 'x-env-ignored'?: string;
  /** Unit of a number, for people. */
  readonly 'x-unit'?: string;
  /** `lines`: the flag's text is split at line breaks instead of commas. */
  readonly 'x-list'?: 'lines';
  /** Minimum of a duration. */
  readonly 'x-minimum'?: string;
  /** Describes what a text with a `pattern` should look like, for messages. */
  readonly 'x-expected'?: string;
  /** The value never appears in logs or in messages. */
  readonly 'x-secret'?: boolean;
  /** The option is the file that holds the value of this secret one. */
  readonly 'x-secret-file'?: string;
  /** Says when and how something is done, never what an answer holds: what is kept counts under any value. */
  readonly 'x-neutral'?: boolean;
  /** Advice on the option to use instead. */
  readonly 'x-deprecated'?: string;
  /** The option names a file, which the process reads, or keeps something in. */
  readonly 'x-file'?: FileUse;
  /** The file in the data folder (`-data-dir`) that is used unless the option names one. */
  readonly 'x-data-file'?: string;
  /** Key of an option of the same owner that the value of this one may not exceed. */
  readonly 'x-not-above'?: string;
  /** Path below the URL that answers 2xx when the service there is healthy. */
  readonly 'x-probe'?: string;
  /** Key of the boolean option of the same owner without which this one is not used. */
  readonly 'x-used-with'?: string;
  /** No code reads the option yet. */
  readonly 'x-unread'?: boolean;
}

/** The schema of a plugin's options, or of a core section of the pipeline file. */
export interface OptionSchema extends ValueSchema {
  readonly title?: string;
  readonly properties?: Readonly<Record<string, ValueSchema>>;
}

/** One option as flags, environment, documentation and checker use it. */
export interface OptionDefinition {
  /** The core section or plugin that the option belongs to. */
  readonly owner: string;
  /** Key in the YAML file. */
  readonly key: string;
  readonly kind: ValueKind;
  readonly flag: string | undefined;
  /** Flag of another owner that also sets this option. */
  readonly shares: string | undefined;
  /** Environment variables, the specified ones before that of the flag; the first one set wins. */
  readonly env: readonly string[];
  /** The variable that the flag has by rule. */
  readonly variable: string | undefined;
  /** A variable that one may take for one of these. */
  readonly ignoredEnv: string | undefined;
  readonly unit: string | undefined;
  readonly description: string;
  readonly isSecret: boolean;
  /** Key of the secret option whose value the file of this option holds. */
  readonly fileOf: string | undefined;
  readonly isNeutral: boolean;
  readonly deprecated: string | undefined;
  readonly isUnread: boolean;
  readonly fileUse: FileUse | undefined;
  readonly dataFile: string | undefined;
  readonly notAbove: string | undefined;
  readonly probe: string | undefined;
  readonly usedWith: string | undefined;
  readonly schema: ValueSchema;
}

/** Form in which the text of a flag or an environment variable is parsed. */
export type ValueKind = 'boolean' | 'integer' | 'number' | 'duration' | 'string' | 'list' | 'json';

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

/** True when code gets the option as a number of milliseconds. */
export function isDuration(schema: ValueSchema): boolean {
  return schema.format === 'duration' || schema.format === 'duration-long';
}

/** The options of a schema, in its order. */
export function definitionsOf(owner: string, schema: OptionSchema): readonly OptionDefinition[] {
  return Object.entries(schema.properties ?? {}).map(([key, option]) => {
    const flag = option['x-flag'] ?? option['x-shares'];
    const variable = flag === undefined ? undefined : variableOf(flag);
    return {
      owner,
      key,
      kind: valueKind(option),
      flag: option['x-flag'],
      shares: option['x-shares'],
      env: [...envNames(option), ...(variable === undefined ? [] : [variable])],
      variable,
      ignoredEnv: option['x-env-ignored'],
      unit: option['x-unit'],
      description: option.description ?? '',
      isSecret: option['x-secret'] === true,
      fileOf: option['x-secret-file'],
      isNeutral: option['x-neutral'] === true,
      deprecated: option['x-deprecated'],
      isUnread: option['x-unread'] === true,
      fileUse: option['x-file'],
      dataFile: option['x-data-file'],
      notAbove: option['x-not-above'],
      probe: option['x-probe'],
      usedWith: option['x-used-with'],
      schema: option,
    };
  });
}

function envNames(option: ValueSchema): readonly string[] {
  const env = option['x-env'];
  if (env === undefined) return [];
  return typeof env === 'string' ? [env] : env;
}
