import type { JSONSchema } from 'json-schema-to-typescript';
import { isDuration, type OptionSchema, type ValueSchema } from '../../kernel/options/index.js';

const HEADER = `/* Generated from schemas/*.schema.json by \`npm run generate\`; do not edit. */
/* Options as code gets them: defaults filled in, durations in milliseconds. */
`;

/** Generates TypeScript interfaces for the options of every schema, named by its title. */
export async function generateTypes(schemas: ReadonlyMap<string, OptionSchema>): Promise<string> {
  // The schema compiler is a development dependency.
  const { compile } = await import('json-schema-to-typescript');
  const parts: string[] = [];
  for (const [name, schema] of schemas) {
    const text = await compile(typeSchema(schema), schema.title ?? name, {
      bannerComment: '',
      additionalProperties: false,
      ignoreMinAndMaxItems: true,
      unknownAny: true,
      style: { printWidth: 110, singleQuote: true },
    });
    parts.push(withShortComments(makeReadonly(text)));
  }
  return HEADER + parts.map((part) => `\n${part}`).join('');
}

/** The schema of resolved options: an option with a default is always present, a duration is a number. */
function typeSchema(schema: OptionSchema): JSONSchema {
  const properties = Object.entries(schema.properties ?? {});
  const required = properties.filter(([, option]) => option.default !== undefined).map(([key]) => key);
  const decoded = Object.fromEntries(properties.map(([key, option]) => [key, decodedSchema(option)]));
  // These are valid JSON schemas; the library's type has mutable members where this one has readonly ones.
  return { ...schema, properties: decoded, required } as JSONSchema;
}

function decodedSchema(option: ValueSchema): ValueSchema {
  const description = (option.description ?? '') + remark(option);
  if (!isDuration(option)) return { ...option, description };
  return { type: 'number', description: `${description} (milliseconds)` };
}

function remark(option: ValueSchema): string {
  const unit = option['x-unit'];
  return unit === undefined ? '' : ` (${unit})`;
}

/** Makes members and lists readonly, since options never change after startup. */
function makeReadonly(text: string): string {
  return text
    .replace(/^(\s+)([A-Za-z_$][\w$]*\??|\[k: string\]):/gm, '$1readonly $2:')
    .replace(/: string\[\]/g, ': readonly string[]')
    .replace(/export interface (\w+) \{\}\n/g, 'export type $1 = Readonly<Record<never, never>>;\n');
}

/** Puts a comment of one line on one line. */
function withShortComments(text: string): string {
  return text.replace(/^(\s*)\/\*\*\n\s+\* (.*)\n\s+\*\/$/gm, '$1/** $2 */');
}
