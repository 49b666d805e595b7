import { isDeepStrictEqual } from 'node:util';
import { isMap, isScalar, isSeq, parseDocument, Scalar, YAMLMap, type Document } from 'yaml';
import { withoutCredentials } from '../base/secrets.js';
import {
  CORE_SECTIONS,
  decodeValue,
  definitionsOf,
  readEnvironment,
  readSetting,
  type OptionDefinition,
  type OptionSchema,
} from '../kernel/options/index.js';
import { draftPipeline, LISTS } from '../kernel/pipeline/draft.js';
import { formatPipeline, print } from './format-yaml.js';
import { packageBuiltIns } from '../kernel/pipeline/load-plugin.js';
import { printPipeline } from './print-pipeline.js';
import type { SourceFile } from '../kernel/pipeline/source.js';

/** The options of a command line and an environment; every text is valid. */
export interface MigrationInput {
  /** Texts by flag, without dashes. */
  readonly flags: ReadonlyMap<string, string>;
  /** Variables that provide the whole value of a flag, by flag. */
  readonly references: ReadonlyMap<string, string>;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export interface Migrated {
  /** The text of the pipeline file. */
  readonly text: string;
  /** The secrets that it refers to, by variable. */
  readonly secrets: ReadonlyMap<string, string>;
}

/** A section or an entry of the pipeline: its options, and its mapping in the document, created when the first option is written. */
interface Owner {
  readonly name: string;
  readonly schema: OptionSchema;
  readonly options: () => YAMLMap | undefined;
  readonly make: () => YAMLMap;
  readonly drop: () => void;
}

/** A given flag or variable, with the option that it sets. */
interface Source {
  readonly definition: OptionDefinition;
  readonly flag: string;
  /** The name in messages. */
  readonly name: string;
  readonly value:
    | { readonly kind: 'text'; readonly text: string }
    | { readonly kind: 'reference'; readonly variable: string };
  readonly isVariable: boolean;
}

/**
 * The pipeline file that is equivalent to a base file with these flags and variables: only values that differ from the defaults are
 * written.
 */
export async function migratePipeline(
  base: SourceFile,
  given: MigrationInput,
  notes: readonly string[],
): Promise<Migrated> {
  const builtIns = packageBuiltIns();
  const whole = { ...base, text: await printPipeline(base) };
  const document = parseDocument(whole.text, { schema: 'core', uniqueKeys: false, logLevel: 'silent' });
  const draft = await draftPipeline(whole, { flags: new Map(), env: {} }, builtIns);
  const entries = draft.entries.map(({ list, load }) => ({
    list,
    plugin: load.kind === 'loaded' ? load : undefined,
  }));
  const owners = [
    ...CORE_SECTIONS.map((name) => sectionOf(document, name, builtIns.schemas.get(name) ?? {})),
    ...LISTS.flatMap((list) => {
      const items = itemsOf(document, list);
      return entries
        .filter((entry) => entry.list === list)
        .flatMap(({ plugin }, at) => {
          const item = items[at];
          return plugin === undefined || item === undefined
            ? []
            : [entryOf(item, plugin.plugin.name, plugin.schema)];
        });
    }),
  ];
  const work = new Migration(owners, given);
  for (const owner of owners) work.write(owner);
  for (const [name, schema] of builtIns.schemas) work.noteAbsent(name, schema);
  const lines = ['Made by `ref-proxy migrate`: what differs from the defaults.', ...notes, ...work.notes()];
  // Any kind of line break would end the comment.
  document.commentBefore = lines
    .map((line) => (line === '' ? '' : ` ${line.replace(/[\p{Cc}\p{Zl}\p{Zp}]/gu, ' ')}`))
    .join('\n');
  return { text: formatPipeline(print(document)), secrets: work.secrets };
}

class Migration {
  readonly secrets = new Map<string, string>();
  readonly #given: MigrationInput;
  readonly #owners: readonly Owner[];
  /** Flags that are declared by an option of the file. */
  readonly #declared: ReadonlySet<string>;
  readonly #used = new Set<string>();
  readonly #useless = new Map<string, string>();
  readonly #variables = new Set<string>();
  readonly #overruled = new Set<string>();

  constructor(owners: readonly Owner[], given: MigrationInput) {
    this.#owners = owners;
    this.#given = given;
    const flags = owners.flatMap(({ name, schema }) => definitionsOf(name, schema).map(({ flag }) => flag));
    this.#declared = new Set(flags.filter((flag) => flag !== undefined));
  }

  write(owner: Owner): void {
    for (const definition of definitionsOf(owner.name, owner.schema)) {
      const written = owner.options()?.get(definition.key, true);
      const source = this.#sourceOf(definition);
      if (source === undefined) {
        // Omits a value of the base file that is the default anyway.
        if (isDefault(definition, written)) owner.options()?.delete(definition.key);
        continue;
      }
      this.#used.add(source.name);
      const variable = source.isVariable ? undefined : readEnvironment(definition, this.#given.env);
      if (variable !== undefined) this.#overruled.add(variable.name);
      if (hasNoMeaning(definition)) {
        this.#useless.set(source.name, definition.deprecated ?? 'no code of this version reads it');
        continue;
      }
      // The option that declares the flag leads those that share it, unless the file sets them.
      const isLed = definition.shares !== undefined && this.#declared.has(definition.shares);
      if (!isLed || written !== undefined) this.#set(owner, source);
    }
    if (owner.options()?.items.length === 0) owner.drop();
  }

  /** Records flags and variables of plugins that are not in the file. */
  noteAbsent(name: string, schema: OptionSchema): void {
    if (this.#owners.some((owner) => owner.name === name)) return;
    for (const definition of definitionsOf(name, schema)) {
      const source = this.#sourceOf(definition);
      if (source !== undefined && !this.#used.has(source.name))
        this.#useless.set(source.name, `the pipeline has no ${name}`);
    }
  }

  notes(): readonly string[] {
    const useless = [...this.#useless].map(([name, why]) => `  ${name}: ${why}`);
    const secrets = [...this.secrets.keys(), ...this.#variables].sort().map((name) => `  ${name}`);
    const overruled = [...this.#overruled].map((name) => `  ${name}`);
    return [
      ...(useless.length === 0 ? [] : ['', 'Left out, because it has no effect here:', ...useless]),
      ...(overruled.length === 0
        ? []
        : ['', 'Variables to take away, because a flag was given as well, and won:', ...overruled]),
      ...(secrets.length === 0 ? [] : ['', 'Secrets, which the environment must hold:', ...secrets]),
    ];
  }

  #sourceOf(definition: OptionDefinition): Source | undefined {
    const flag = definition.flag ?? definition.shares;
    if (flag === undefined) return undefined;
    const variable = this.#given.references.get(flag);
    if (variable !== undefined)
      return {
        definition,
        flag,
        name: `-${flag}`,
        value: { kind: 'reference', variable },
        isVariable: false,
      };
    const text = this.#given.flags.get(flag);
    if (text !== undefined)
      return { definition, flag, name: `-${flag}`, value: { kind: 'text', text }, isVariable: false };
    const found = readEnvironment(definition, this.#given.env);
    if (found === undefined) return undefined;
    return {
      definition,
      flag,
      name: found.name,
      value: { kind: 'text', text: found.text },
      isVariable: true,
    };
  }

  #set(owner: Owner, { definition, flag, name, value, isVariable }: Source): void {
    const { key, schema } = definition;
    if (value.kind === 'reference') {
      owner.make().set(key, reference(value.variable, definition));
      return;
    }
    const setting = readSetting(definition, value.text, name);
    if (setting.kind === 'problem') throw new Error(setting.message);
    if (isSame(definition, setting.value, schema.default)) {
      owner.options()?.delete(key);
      return;
    }
    const secrets = secretsOf(setting.value, definition.isSecret || schema.items?.['x-secret'] === true);
    if (secrets.length > 0 && isVariable) {
      // The variable is also read from the environment here.
      this.#variables.add(name);
      owner.options()?.delete(key);
      return;
    }
    const own = flag.toUpperCase().replace(/\W/g, '_');
    let at = 0;
    const refer = (secret: string): Scalar => {
      at += 1;
      const variable = typeof setting.value === 'string' ? (definition.env[0] ?? own) : `${own}_${at}`;
      this.secrets.set(variable, secret);
      return reference(variable, definition);
    };
    owner.make().set(key, nodeOf(setting.value, new Set(secrets), refer));
  }
}

/** True for an option without effect; other deprecated options work like their replacement. */
function hasNoMeaning({ deprecated, isUnread }: OptionDefinition): boolean {
  return isUnread || (deprecated !== undefined && !deprecated.startsWith('use '));
}

function isDefault(definition: OptionDefinition, written: unknown): boolean {
  if (!isScalar(written)) return false;
  return isSame(definition, written.value, definition.schema.default);
}

function isSame({ schema }: OptionDefinition, value: unknown, other: unknown): boolean {
  return isDeepStrictEqual(decodeValue(schema, value), decodeValue(schema, other));
}

/** The texts of a value that must not be shown: those of a secret option, and those with credentials. */
function secretsOf(value: unknown, isSecret: boolean): readonly string[] {
  if (typeof value === 'string') return isSecret || withoutCredentials(value) !== value ? [value] : [];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap((part: unknown) => secretsOf(part, isSecret));
}

/** A value as YAML; a literal `${` is escaped. */
function nodeOf(value: unknown, secrets: ReadonlySet<string>, refer: (secret: string) => Scalar): unknown {
  if (typeof value === 'string')
    return secrets.has(value) ? refer(value) : value.replaceAll('${', () => '$${');
  if (Array.isArray(value)) return value.map((part: unknown) => nodeOf(part, secrets, refer));
  if (typeof value !== 'object' || value === null) return value;
  return new Map(Object.entries(value).map(([key, part]) => [key, nodeOf(part, secrets, refer)]));
}

/** A quoted reference is a text, whatever the variable contains. */
function reference(variable: string, { kind }: OptionDefinition): Scalar {
  const scalar = new Scalar(`\${${variable}}`);
  const isTyped = kind === 'boolean' || kind === 'integer' || kind === 'number';
  scalar.type = isTyped ? Scalar.PLAIN : Scalar.QUOTE_SINGLE;
  return scalar;
}

function sectionOf(document: Document, name: string, schema: OptionSchema): Owner {
  const options = (): YAMLMap | undefined => mapOf(document.get(name));
  const make = (): YAMLMap => {
    const made = options() ?? new YAMLMap();
    document.set(name, made);
    return made;
  };
  return { name, schema, options, make, drop: () => void document.delete(name) };
}

function entryOf(item: YAMLMap, name: string, schema: OptionSchema): Owner {
  const options = (): YAMLMap | undefined => mapOf(item.get('with'));
  const make = (): YAMLMap => {
    const made = options() ?? new YAMLMap();
    item.set('with', made);
    return made;
  };
  return { name, schema, options, make, drop: () => void item.delete('with') };
}

function itemsOf(document: Document, list: string): readonly YAMLMap[] {
  const items = document.get(list);
  return isSeq(items) ? items.items.filter((item) => isMap(item)) : [];
}

function mapOf(value: unknown): YAMLMap | undefined {
  return isMap(value) ? value : undefined;
}
