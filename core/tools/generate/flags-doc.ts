import {
  CORE_SECTIONS,
  defaultText,
  definitionsOf,
  specifiedVariables,
  unitOf,
  type OptionDefinition,
  type OptionSchema,
} from '../../kernel/options/index.js';
import { cell, code } from './cells.js';

const HEAD = `# Flags and options

For operators. Generated from the schemas by \`npm run generate\`; do not edit.

Every option can be written in the pipeline file, most also as a flag, and every flag also as an environment variable. A flag overrides
the environment, the environment overrides the file, and the file overrides the default. Flags are written \`-name=value\`, \`-name value\` or with
two dashes; a boolean flag alone means true, \`-name=false\` turns it off. Lists are separated by commas, objects are JSON.
\`ref-proxy flags WORD\` prints the flags whose name, variable, key or description contains a word.

The environment variable of a flag is \`REF_PROXY_\` and its name in capitals, with \`_\` for \`-\` and \`.\`: \`-server.admin-auth-token\` is
\`REF_PROXY_SERVER_ADMIN_AUTH_TOKEN\`, and \`-pipeline\` is \`REF_PROXY_PIPELINE\`. Some flags also have an older variable, which the
tables show; if both are set, the one in the table wins. An empty variable counts as unset. A variable that begins with \`REF_PROXY_\`
and does not match any flag is an error, unless the pipeline file references it as \`\${NAME}\` or Kubernetes sets it for a service, such as
\`REF_PROXY_SERVICE_HOST\`.

Durations are written with units: \`500ms\`, \`30s\`, \`5m\`, \`1h30m\`; \`0\` alone is allowed too, in quotes in the file.

Marks: **unread** means that the option is accepted and checked but has no effect yet; **deprecated** options have no effect;
**secret** values are never logged, and each can come from a file: append \`File\` to the key of the option, or \`-file\` to its
flag ([pipeline.md](pipeline.md#secrets-from-files)). An option that "follows" a flag is set by that flag together with the option of the
plugin that has the flag; in the file, set each of them separately.
`;

/** docs/flags.md: one table for each section of the pipeline file and for each plugin. */
export function generateFlagsDoc(schemas: ReadonlyMap<string, OptionSchema>): string {
  const parts = [...schemas].map(([owner, schema]) => ownerPart(owner, schema));
  return [HEAD, ...parts].join('\n');
}

function ownerPart(owner: string, schema: OptionSchema): string {
  const sections: readonly string[] = CORE_SECTIONS;
  const title = sections.includes(owner) ? `## Section \`${owner}\`` : `## Plugin \`${owner}\``;
  const definitions = definitionsOf(owner, schema);
  const table =
    definitions.length === 0
      ? 'No options.\n'
      : [
          '| Flag | Other variable | Key in the file | Default | Value | Meaning |',
          '|---|---|---|---|---|---|',
          ...definitions.map(row),
          '',
        ].join('\n');
  return [title, '', schema.description ?? '', '', table].join('\n');
}

function row(definition: OptionDefinition): string {
  const fallback = defaultText(definition);
  const cells = [
    flagCell(definition),
    specifiedVariables(definition).map(code).join(', '),
    code(definition.key),
    fallback === undefined ? '' : code(shorten(fallback)),
    cell(unitOf(definition)),
    cell(definition.description) + marks(definition),
  ];
  return `| ${cells.join(' | ')} |`;
}

function flagCell(definition: OptionDefinition): string {
  if (definition.flag !== undefined) return code(`-${definition.flag}`);
  return definition.shares === undefined ? '' : `follows ${code(`-${definition.shares}`)}`;
}

function marks(definition: OptionDefinition): string {
  const words: string[] = [];
  if (definition.isSecret) words.push('**secret**');
  if (definition.deprecated !== undefined) words.push(`**deprecated**: ${definition.deprecated}`);
  else if (definition.isUnread) words.push('**unread**');
  return words.length === 0 ? '' : ` ${cell(words.join(', '))}`;
}

const MAX_DEFAULT = 60;
function shorten(text: string): string {
  return text.length > MAX_DEFAULT ? `${text.slice(0, MAX_DEFAULT)}...` : text;
}
