import { definitionsOf, unknownVariables } from '../../options/index.js';
import type { PipelineDraft } from '../../pipeline/draft.js';
import type { TextRule } from '../rule.js';

/** R038: a variable of the environment that looks like that of a flag is one. */
export const unknownVariable: TextRule = {
  id: 'R038',
  title: 'a REF_PROXY_ variable belongs to a flag',
  tier: 'meaning',
  severity: 'error',
  isAboutWhole: true,
  docs: 'Every flag has an environment variable: `REF_PROXY_` and its name in capitals, with `_` for `-` and `.`. A variable with this prefix that belongs to no flag is misspelt, and what it should set would silently keep its default. Variables that the file refers to (`${NAME}`) and those that Kubernetes sets for a service of this name are left out.',
  check(draft) {
    // A plugin that is not known may have the flag.
    if (!knowsPlugins(draft)) return [];
    const at = { file: draft.source.name, line: 1, column: 1, length: 1 };
    return unknownVariables(draft.sources.env, knownVariables(draft))
      .filter(({ name }) => !isReferredTo(draft, name))
      .map(({ name, meant }) => ({
        at: { ...at, given: `environment variable ${name}` },
        message: `environment variable ${name} belongs to no flag`,
        fix: meant === undefined ? '"ref-proxy flags WORD" finds flags' : `did you mean ${meant}?`,
      }));
  },
};

function knowsPlugins({ root, lacksEntries = false, entries }: PipelineDraft): boolean {
  return root !== undefined && !lacksEntries && entries.every(({ load }) => load.kind === 'loaded');
}

function* knownVariables({ schemas, entries }: PipelineDraft): Generator<string> {
  const ofSite = entries.flatMap(({ load }) => (load.kind === 'loaded' ? [load.schema] : []));
  for (const schema of [...schemas.values(), ...ofSite])
    for (const { env } of definitionsOf('', schema)) yield* env;
}

function isReferredTo({ files }: PipelineDraft, name: string): boolean {
  // A variable's name may hold any character, so it is compared as text and not as a regular expression.
  const references = [`\${${name}}`, `\${${name}:-`];
  return [...files.values()].some(({ text }) => references.some((reference) => text.includes(reference)));
}
