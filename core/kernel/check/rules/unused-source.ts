import {
  definitionsOf,
  nameOfSource,
  readEnvironment,
  type NamedSource,
  type OptionDefinition,
} from '../../options/index.js';
import type { PipelineDraft } from '../../pipeline/draft.js';
import { allOptions } from '../option-lookup.js';
import type { Complaint, TextRule } from '../rule.js';

/** R057: a flag or variable belongs to something in the file. */
export const unusedSource: TextRule = {
  id: 'R057',
  title: 'a flag or variable belongs to a plugin of the file',
  tier: 'meaning',
  severity: 'warning',
  isAboutWhole: true,
  docs: 'A flag or an environment variable sets an option of built-in plugins, none of which stands in the file or is enabled there, so that it has no effect; or a variable by which other proxies set an option does not set it here: the finding names the flag.',
  check(draft) {
    const present = new Set<string>(draft.sections.keys());
    for (const { isEnabled, load } of draft.entries)
      if (isEnabled && load.kind === 'loaded') present.add(load.plugin.name);
    const owners = new Map<string, { readonly source: NamedSource; readonly names: string[] }>();
    for (const [owner, schema] of draft.schemas) {
      for (const definition of definitionsOf(owner, schema)) {
        for (const source of sourcesOf(definition, draft)) {
          const key = `${source.kind} ${source.name}`;
          const known = owners.get(key);
          if (known === undefined) owners.set(key, { source, names: [owner] });
          else known.names.push(owner);
        }
      }
    }
    const at = { file: draft.source.name, line: 1, column: 1, length: 1 };
    const unused = [...owners.values()].flatMap(({ source, names }): readonly Complaint[] => {
      if (names.some((name) => present.has(name))) return [];
      const given = nameOfSource(source);
      const plugins = names.map((name) => `"${name}"`).join(' or ');
      return [{ at: { ...at, given }, message: `${given} has no effect: the pipeline has no ${plugins}` }];
    });
    return [...unused, ...ignoredVariables(draft)];
  },
};

/** Variables of other proxies that would set something else than what is in effect. */
function ignoredVariables(draft: PipelineDraft): readonly Complaint[] {
  return allOptions(draft).flatMap(({ definition, value, at }): readonly Complaint[] => {
    const { ignoredEnv = '', flag = '', variable = '' } = definition;
    const text = draft.sources.env[ignoredEnv] ?? '';
    if (text === '' || text === String(value)) return [];
    const given = nameOfSource({ kind: 'env', name: ignoredEnv });
    return [{ at: { ...at, given }, message: `${given} has no effect`, fix: `set -${flag} or ${variable}` }];
  });
}

/** The flag and the variable that give this option a value. */
function sourcesOf(definition: OptionDefinition, { sources }: PipelineDraft): readonly NamedSource[] {
  const flag = definition.flag ?? definition.shares;
  const variable = readEnvironment(definition, sources.env);
  return [
    ...(flag !== undefined && sources.flags.has(flag) ? [{ kind: 'flag' as const, name: flag }] : []),
    ...(variable === undefined ? [] : [{ kind: 'env' as const, name: variable.name }]),
  ];
}
