import { CORE_SECTIONS, type ValueSchema } from '../options/index.js';

const entries = {
  stages: 'The chain: every request passes these plugins from first to last.',
  endpoints: 'Plugins that own HTTP routes.',
  services: 'Plugins that run alongside the chain.',
} as const;

export const entryProperties: Readonly<Record<string, ValueSchema>> = {
  use: {
    type: 'string',
    minLength: 1,
    description:
      'Name of a built-in plugin, path of a module (./ or ../ from this file, or absolute), or name of an npm package.',
  },
  id: {
    type: 'string',
    pattern: '^[A-Za-z0-9][A-Za-z0-9._-]*$',
    'x-expected': 'letters, digits, dots, dashes and underscores',
    description:
      "Name of this entry in logs, metrics and messages; the plugin's own name unless given. Stands once in a file.",
  },
  enabled: { type: 'boolean', default: true, description: 'False leaves the plugin out.' },
  with: { type: ['object', 'null'], description: 'Options of the plugin.' },
};

/** Stands alone in an item of a list; expandIncludes replaces it. */
export const includeProperty: ValueSchema = {
  type: 'string',
  minLength: 1,
  description:
    'File whose entries stand here, from the folder of this one; ./file.yaml#name for one of its fragments.',
};

export const entrySchema: ValueSchema = {
  type: 'object',
  properties: { ...entryProperties, include: includeProperty },
  additionalProperties: false,
  if: { properties: { include: {} }, required: ['include'] },
  else: { properties: { use: {} }, required: ['use'] },
};

/** A file that is included as a whole, and each fragment of one. */
export const includedEntriesSchema: ValueSchema = { type: 'array', items: entrySchema };

/**
 * A pipeline file without the options in it. Flags and the environment may also set options, so they are validated after all sources are
 * merged (resolveOptions).
 */
export const frameSchema = fileSchema(() => ({ type: ['object', 'null'] }), entrySchema);

/** A pipeline file, with the sections and entries that it is given. */
export function fileSchema(section: (name: string) => object, entry: object): ValueSchema {
  const lists = Object.entries(entries).map(
    ([name, description]) => [name, { type: ['array', 'null'], items: entry, description }] as const,
  );
  return {
    type: 'object',
    properties: {
      version: { type: 'integer', enum: [1], description: 'Version of this format.' },
      ...Object.fromEntries(CORE_SECTIONS.map((name) => [name, section(name)] as const)),
      ...Object.fromEntries(lists),
    },
    required: ['version', 'stages', 'endpoints'],
    additionalProperties: false,
  };
}
