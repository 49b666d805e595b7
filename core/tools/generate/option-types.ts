import type { JSONSchema } from 'json-schema-to-typescript';
import { isDuration, type OptionSchema, type ValueSchema } from '../../kernel/options/index.js';

const HEADER = `/* Generated from schemas/*.schema.json by \`npm run generate\`; do not edit. */
/* Options as code gets them: defaults filled in, durations in milliseconds. The schemas and docs/flags.md describe them. */
`;

const SHARED = 'SharedOptions';

/** Options by key. */
type Options = Readonly<Record<string, ValueSchema>>;

/**
 * Generates a TypeScript interface for the options of every schema, named by its title. Options that several of them share are written
 * once, in an interface that the others pick from.
 */
export async function generateTypes(schemas: ReadonlyMap<string, OptionSchema>): Promise<string> {
  // The schema compiler is a development dependency.
  const { compile } = await import('json-schema-to-typescript');
  const shared = sharedOptions([...schemas.values()]);
  const about = 'Options of several plugins that the same flag sets.';
  const parts = [await writeType(SHARED, { description: about, properties: shared }, {})];
  for (const [name, schema] of schemas) parts.push(await writeType(schema.title ?? name, schema, shared));
  return HEADER + parts.map((part) => `\n${part}`).join('');

  async function writeType(title: string, schema: OptionSchema, others: Options): Promise<string> {
    const options = readOptions(schema);
    const picked = options.filter(([key, option]) => isSame(others[key], option)).map(([key]) => key);
    const own = options.filter(([key]) => !picked.includes(key));
    const text = await compile(typeSchema(schema, own), title, {
      bannerComment: '',
      additionalProperties: false,
      ignoreMinAndMaxItems: true,
      unknownAny: true,
      style: { printWidth: 110, singleQuote: true },
    });
    return withUnitsBehind(makeReadonly(withPicked(text, picked)));
  }
}

/** The options whose flag also sets an equal option of the same key elsewhere. */
function sharedOptions(schemas: readonly OptionSchema[]): Options {
  const all = schemas.flatMap(readOptions);
  return Object.fromEntries(
    all.filter(([key, option]) =>
      all.some(([other, sharing]) => {
        const flag = sharing['x-shares'];
        return other === key && flag !== undefined && flag === option['x-flag'] && isSame(option, sharing);
      }),
    ),
  );
}

/** True for options that one flag sets and that have one type. */
function isSame(one: ValueSchema | undefined, other: ValueSchema): boolean {
  return one !== undefined && identity(one) === identity(other);
}

function identity(option: ValueSchema): string {
  const { type, enum: values, items, properties, default: given } = option;
  const flag = option['x-flag'] ?? option['x-shares'];
  return JSON.stringify([flag, type, values, items, properties, isDuration(option), given === undefined]);
}

/** The options that code reads: `resolveOptions` replaces the file of a secret by its content. */
function readOptions({ properties = {} }: OptionSchema): (readonly [string, ValueSchema])[] {
  return Object.entries(properties).filter(([, option]) => option['x-secret-file'] === undefined);
}

/** The schema of resolved options: an option with a default is always present, a duration is a number. */
function typeSchema(schema: OptionSchema, options: readonly (readonly [string, ValueSchema])[]): JSONSchema {
  const required = options.filter(([, option]) => option.default !== undefined).map(([key]) => key);
  const properties = Object.fromEntries(options.map(([key, option]) => [key, decodedSchema(option)]));
  // These are valid JSON schemas; the library's type has mutable members where this one has readonly ones.
  return { ...schema, properties, required } as JSONSchema;
}

/** Lets an interface extend the picked ones of the shared options, in lines of at most 110 characters. */
function withPicked(text: string, keys: readonly string[]): string {
  if (keys.length === 0) return text;
  const parent = `Pick<${SHARED}, ${keys.map((key) => `'${key}'`).join(' | ')}>`;
  const list = parent.replace(/(?=.{99})(.{1,97}) (?=\|)/g, '$1\n    ');
  return text.replace(/^(export interface \w+) \{/m, `$1\n  extends ${list} {`);
}

/** With its unit as the description: the schema has the rest. */
function decodedSchema(option: ValueSchema): ValueSchema {
  if (isDuration(option)) return { type: 'number', description: 'milliseconds' };
  return { ...withUnknownKeys(option), description: option['x-unit'] ?? '' };
}

/** Leaves out the known keys of objects that may have others: code reads all of them as unknown values. */
function withUnknownKeys(schema: ValueSchema): ValueSchema {
  const { properties: known, ...open } = schema;
  const { additionalProperties: others } = open;
  if (typeof others === 'object') return { ...schema, additionalProperties: withUnknownKeys(others) };
  return others === true && known !== undefined ? open : schema;
}

/** Makes members and lists readonly, since options never change after startup. */
function makeReadonly(text: string): string {
  return text
    .replace(/^(\s+)([A-Za-z_$][\w$]*\??|\[k: string\]):/gm, '$1readonly $2:')
    .replace(/: string\[\]/g, ': readonly string[]')
    .replace(/export interface (\w+) \{\}\n/g, 'export type $1 = Readonly<Record<never, never>>;\n');
}

/** Puts the comment of a member behind it. */
function withUnitsBehind(text: string): string {
  return text
    .replace(/^(\s+)\/\*\*\n\s+\* (.*)\n\s+\*\/\n(.*;)$/gm, '$3 // $2')
    .replace(/^\/\*\*\n \* (.*)\n \*\/$/gm, '/** $1 */');
}
