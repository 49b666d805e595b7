import {
  CORE_SECTIONS,
  definitionsOf,
  type OptionDefinition,
  type OptionSchema,
  type ValueSchema,
} from '../../kernel/options/index.js';
import {
  entryProperties,
  entrySchema,
  fileSchema,
  includeProperty,
} from '../../kernel/pipeline/file-schema.js';

/** Patterns for formats that editors do not know. Texts that do not match are wrong; the checker may still reject others. */
const patterns: ReadonlyMap<string, string> = new Map([
  ['duration', '^(0|((\\d+(\\.\\d*)?|\\.\\d+)(ns|us|µs|μs|ms|s|m|h))+)$'],
  ['duration-long', '^(0|((\\d+(\\.\\d*)?|\\.\\d+)(ns|us|µs|μs|ms|s|m|h|d|w|y))+)$'],
  ['listen-address', '^(\\[[0-9A-Fa-f:.%a-z]+\\]|[\\w.-]*):\\d{1,5}$'],
  ['http-url', '^[hH][tT][tT][pP][sS]?://[^/]'],
  ['rfc3339', '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}([.,]\\d+)?(Z|[+-]\\d{2}:\\d{2})$'],
  ['redis-url', '^[rR][eE][dD][iI][sS][sS]?://[^/?#]+(/\\d*)?$'],
]);

/** A reference to the environment stands for a whole value of any type; only the checker knows its value. */
const reference = { type: 'string', pattern: '^\\$\\{[A-Za-z_]\\w*(:-[^}]*)?\\}$' };
/** Matches a module by path, or a package; a package with a bare name cannot be distinguished from a misspelt plugin. */
const moduleOrPackage = '^(\\.{1,2}/.|/.|@[^/]+/.|[A-Za-z0-9])';

/**
 * The schema of a pipeline file for editors, as one self-contained document: the frame, the built-in plugins by name, and their options
 * with descriptions, allowed values and defaults.
 */
export function editorSchema(schemas: ReadonlyMap<string, OptionSchema>): object {
  const sections: readonly string[] = CORE_SECTIONS;
  const plugins = [...schemas.keys()].filter((name) => !sections.includes(name));
  const summaryOf = (name: string): string => schemas.get(name)?.description ?? '';
  const use = {
    description: entryProperties['use']?.description,
    anyOf: [
      ...plugins.map((name) => ({ const: name, description: summaryOf(name) })),
      { type: 'string', pattern: moduleOrPackage },
    ],
  };
  const section = (name: string): object => ({
    description: summaryOf(name),
    anyOf: [{ $ref: `#/$defs/${name}` }, { type: 'null' }],
  });
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Pipeline',
    description:
      'A pipeline file of ref-proxy: the steps that a request passes, in order. docs/pipeline.md explains it.',
    ...fileSchema(section, { $ref: '#/$defs/entry' }),
    $defs: {
      entry: {
        ...entrySchema,
        properties: {
          ...entryProperties,
          use,
          enabled: leaf(entryProperties['enabled'] ?? {}),
          include: includeProperty,
        },
        allOf: plugins.map(optionsByUse),
      },
      ...Object.fromEntries([...schemas].map(([name, schema]) => [name, optionsOf(name, schema)])),
    },
  };
}

function optionsByUse(plugin: string): object {
  return {
    if: { properties: { use: { const: plugin } }, required: ['use'] },
    then: { properties: { with: { anyOf: [{ $ref: `#/$defs/${plugin}` }, { type: 'null' }] } } },
  };
}

/** The options of a plugin or section; none is required, since flags and the environment may provide those that the file omits. */
function optionsOf(name: string, schema: OptionSchema): object {
  const definitions = definitionsOf(name, schema);
  return {
    type: 'object',
    properties: Object.fromEntries(
      definitions.map((definition) => [
        definition.key,
        {
          ...valueOf(definition.schema),
          description: meaningOf(definition),
          ...(definition.deprecated === undefined ? {} : { deprecated: true }),
        },
      ]),
    ),
    additionalProperties: false,
  };
}

function meaningOf(definition: OptionDefinition): string {
  const { description, flag, shares, deprecated, unit } = definition;
  return [
    description,
    ...(unit === undefined ? [] : [`In ${unit}.`]),
    ...(flag === undefined ? [] : [`Flag -${flag}.`]),
    ...(flag === undefined && shares !== undefined ? [`Follows -${shares}.`] : []),
    ...(deprecated === undefined ? [] : [`Deprecated: ${deprecated}`]),
  ].join(' ');
}

function valueOf(schema: ValueSchema): object {
  const { properties, items, additionalProperties } = schema;
  if (properties === undefined && items === undefined && typeof additionalProperties !== 'object')
    return leaf(schema);
  return {
    ...plain(schema),
    ...(properties === undefined
      ? {}
      : {
          properties: Object.fromEntries(
            Object.entries(properties).map(([key, value]) => [key, valueOf(value)]),
          ),
        }),
    ...(items === undefined ? {} : { items: valueOf(items) }),
    ...(typeof additionalProperties === 'object'
      ? { additionalProperties: valueOf(additionalProperties) }
      : {}),
  };
}

/** A scalar value, or a reference in its place. */
function leaf(schema: ValueSchema): object {
  const { description, default: byDefault, format, ...rest } = plain(schema);
  const pattern = patterns.get(String(format));
  const shaped = pattern === undefined ? rest : { ...rest, pattern };
  return {
    ...(description === undefined ? {} : { description }),
    ...(byDefault === undefined ? {} : { default: byDefault }),
    ...(isAnyText(shaped) ? shaped : { anyOf: [shaped, reference] }),
  };
}

/** True if any text is valid, which includes references. */
function isAnyText(schema: Readonly<Record<string, unknown>>): boolean {
  return (
    Object.keys(schema).length === 0 || (Object.keys(schema).length === 1 && schema['type'] === 'string')
  );
}

/** The schema without the extensions that only this program reads. */
function plain(schema: ValueSchema): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(schema).filter(([key]) => !key.startsWith('x-')));
}
