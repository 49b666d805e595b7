import { CORE_SECTIONS, type ValueSchema } from '../options/index.js';

const entries = {
  stages: 'The chain of stages, which every request passes from first to last.',
  endpoints: 'Plugins that serve HTTP routes.',
  services: 'Plugins that run alongside the chain.',
} as const;

export const entryProperties: Readonly<Record<string, ValueSchema>> = {
  use: {
    type: 'string',
    minLength: 1,
    description:
      'Name of a built-in plugin, path of a module (./ or ../ relative to this file, or absolute), or name of an npm package.',
  },
  id: {
    type: 'string',
    pattern: '^[A-Za-z0-9][A-Za-z0-9._-]*$',
    'x-expected': 'letters, digits, dots, dashes and underscores',
    description: "Unique name of this entry in logs, metrics and messages; the default is the plugin's name.",
  },
  enabled: { type: 'boolean', default: true, description: 'False disables the plugin.' },
  with: { type: ['object', 'null'], description: 'Options of the plugin.' },
};

/** The only key of a list item that expandIncludes replaces. */
export const includeProperty: ValueSchema = {
  type: 'string',
  minLength: 1,
  description:
    'File whose entries are inserted here, relative to the directory of this file; ./file.yaml#name for one of its fragments.',
};

export const entrySchema: ValueSchema = {
  type: 'object',
  properties: { ...entryProperties, include: includeProperty },
  additionalProperties: false,
  if: { properties: { include: {} }, required: ['include'] },
  else: { properties: { use: {} }, required: ['use'] },
};

/** The schema of a file that is included as a whole, and of each fragment of a file. */
export const includedEntriesSchema: ValueSchema = { type: 'array', items: entrySchema };

/**
 * The schema of a pipeline file without its options. Flags and the environment may also set options, so these are validated after all
 * sources are merged (resolveOptions).
 */
export const frameSchema = fileSchema(() => ({ type: ['object', 'null'] }), entrySchema);

/** The schema of a pipeline file with the given sections and entries. */
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
