import type { CommandFlag } from './command-line.js';
import { plainYargs } from './plain-yargs.js';
import type { OptionDefinition } from './schema.js';

/** The text before and after the flags. */
interface HelpText {
  readonly usage: string;
  readonly own: readonly CommandFlag[];
  readonly epilogue?: string;
}

/** The text of `--help`: the program's own flags, then the options by section and plugin. */
export async function helpText(
  definitions: Iterable<OptionDefinition>,
  text: HelpText,
  width = 110,
): Promise<string> {
  let parser = plainYargs([]).usage(text.usage).wrap(width);
  for (const flag of text.own) {
    parser = parser.option(flag.name, { describe: flag.description, group: 'ref-proxy:' });
  }
  for (const definition of definitions) {
    if (definition.flag === undefined) continue;
    parser = parser.option(definition.flag, {
      describe: describe(definition),
      group: `${definition.owner}:`,
    });
  }
  if (text.epilogue !== undefined) parser = parser.epilogue(text.epilogue);
  // Flags are written with one dash everywhere else; both forms are accepted.
  return (await parser.getHelp()).replace(/^( +)--(?=\S)/gm, '$1-');
}

function describe(definition: OptionDefinition): string {
  const variables = specifiedVariables(definition);
  const facts = [
    unitOf(definition),
    defaultText(definition) === undefined ? undefined : `default ${defaultText(definition) ?? ''}`,
    variables.length === 0 ? undefined : `env ${variables.join(', ')}`,
    definition.deprecated === undefined ? undefined : 'deprecated',
    definition.isUnread && definition.deprecated === undefined ? 'not read yet' : undefined,
  ].filter((fact) => fact !== undefined);
  return facts.length === 0 ? definition.description : `${definition.description} [${facts.join('; ')}]`;
}

/** The environment variables of an option, without the one that every flag has by default. */
export function specifiedVariables({ env, variable }: OptionDefinition): readonly string[] {
  return env.filter((name) => name !== variable);
}

/** The form of a value as text: the unit of a number, the words of a choice, otherwise the type. */
export function unitOf(definition: OptionDefinition): string {
  if (definition.unit !== undefined) return definition.unit;
  const choices = definition.schema.enum;
  return choices === undefined ? definition.kind : choices.map(String).join('|');
}

/** The default as an operator would write it; undefined if there is none. */
export function defaultText(definition: OptionDefinition): string | undefined {
  const value = definition.schema.default;
  if (value === undefined) return undefined;
  return typeof value === 'string' && value !== '' ? value : JSON.stringify(value);
}
