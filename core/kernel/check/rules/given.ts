import { ofKey } from '../../../base/memory/byte-lru.js';
import { join, sep } from 'node:path';
import {
  decodeValue,
  definitionsOf,
  isNamedSource,
  nameOfSource,
  namedSources,
  packageRoot,
  unknownVariables,
  type NamedSource,
} from '../../options/index.js';
import type { DraftOptions, PipelineDraft } from '../../pipeline/draft.js';
import { entryOf, toPlain } from '../../pipeline/located.js';
import { allOptions, enabledOwners, enabledPlugins } from '../option-lookup.js';
import { textRules, type Complaint } from '../rule.js';

export const givenRules = textRules('meaning', [
  {
    id: 'R054',
    title: 'an option that is set has an effect',
    severity: 'warning',
    docs: 'The option is accepted, so that files and command lines of other Loki proxies still work, but this version does not use it. The finding covers every source of the value: the file, a flag or the environment.',
    check: (draft) =>
      allOptions(draft)
        .filter(
          ({ definition, isGiven }) => definition.isUnread && definition.deprecated === undefined && isGiven,
        )
        .map(({ at, name, origin }) => ({
          at,
          message: `${origin.kind === 'yaml' ? `option "${name}"` : name} has no effect yet: this version only checks its value`,
          fix: 'remove it',
        })),
  },
  {
    id: 'R055',
    title: 'no deprecated option is set',
    severity: 'warning',
    docs: 'The option was renamed or has no effect any more; the message says what to use instead. The finding covers every source of the value: the file, a flag or the environment.',
    check: (draft) =>
      allOptions(draft).flatMap(({ definition: { deprecated }, origin, isGiven, at, name }) => {
        if (deprecated === undefined || !isGiven) return [];
        const subject = origin.kind === 'yaml' ? `option "${name}"` : name;
        const fix = deprecated.startsWith('use ') ? deprecated : 'remove it';
        return [{ at, message: `${subject} is deprecated: ${deprecated}`, fix }];
      }),
  },
  {
    id: 'R056',
    title: 'no flag overrides the file',
    severity: 'warning',
    docs: 'A flag or an environment variable overrides the option, so its value in the file has no effect. The files in `pipelines/` of this package are meant to be overridden and are not checked.',
    check(draft) {
      if (isShipped(draft)) return [];
      return enabledOwners(draft).flatMap(shadowed);
    },
  },
  {
    id: 'R057',
    title: 'a flag or variable sets an option of a plugin in the file',
    severity: 'warning',
    isAboutWhole: true,
    docs: 'A flag or an environment variable sets an option of built-in plugins, but none of them is in the file and enabled, so it has no effect; or a variable that other proxies use for an option does not set it here, and the finding names the flag.',
    check(draft) {
      const enabled = enabledPlugins(draft).map(({ plugin }) => plugin.name);
      const present = new Set<string>([...draft.sections.keys(), ...enabled]);
      const owners = new Map<string, { readonly source: NamedSource; readonly names: string[] }>();
      for (const [owner, schema] of draft.schemas) {
        for (const definition of definitionsOf(owner, schema)) {
          for (const { origin: source } of namedSources(definition, draft.sources)) {
            const key = `${source.kind} ${source.name}`;
            ofKey(owners, key, () => ({ source, names: [] })).names.push(owner);
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
  },
  {
    id: 'R038',
    title: 'every REF_PROXY_ variable has a flag',
    isAboutWhole: true,
    docs: 'Every flag has an environment variable: `REF_PROXY_` and the flag name in capitals, with `_` for `-` and `.`. A variable with this prefix but without a flag is misspelt, and the option would silently keep its default. Variables that the file references (`${NAME}`) and those that Kubernetes sets for a service of this name are not checked.',
    check(draft) {
      // An unknown plugin may have the flag.
      if (!knowsPlugins(draft)) return [];
      const at = { file: draft.source.name, line: 1, column: 1, length: 1 };
      return unknownVariables(draft.sources.env, knownVariables(draft))
        .filter(({ name }) => !isReferredTo(draft, name))
        .map(({ name, meant }) => ({
          at: { ...at, given: `environment variable ${name}` },
          message: `environment variable ${name} does not match any flag`,
          fix: meant === undefined ? '"ref-proxy flags WORD" finds flags' : `did you mean ${meant}?`,
        }));
    },
  },
]);

function shadowed({ schema, node, resolved }: DraftOptions): readonly Complaint[] {
  return [...resolved.origins].flatMap(([key, origin]) => {
    const written = entryOf(node, key);
    if (written === undefined || !isNamedSource(origin)) return [];
    const value = decodeValue(schema.properties?.[key] ?? {}, toPlain(written.value));
    if (JSON.stringify(value) === JSON.stringify(resolved.options[key])) return [];
    const message = `option "${key}" has no effect: ${nameOfSource(origin)} overrides it`;
    const fix = `remove it from the file, or remove the ${origin.kind === 'flag' ? 'flag' : 'variable'}`;
    return { at: written.keyAt, message, fix };
  });
}

function isShipped({ source }: PipelineDraft): boolean {
  return source.path.startsWith(join(packageRoot(), 'pipelines') + sep);
}

/** Variables of other proxies that would set something different from what is in effect. */
function ignoredVariables(draft: PipelineDraft): readonly Complaint[] {
  return allOptions(draft).flatMap(({ definition, value, at }): readonly Complaint[] => {
    const { ignoredEnv = '', flag = '', variable = '' } = definition;
    const text = draft.sources.env[ignoredEnv] ?? '';
    if (text === '' || text === String(value)) return [];
    const given = nameOfSource({ kind: 'env', name: ignoredEnv });
    return [{ at: { ...at, given }, message: `${given} has no effect`, fix: `set -${flag} or ${variable}` }];
  });
}

function knowsPlugins({ root, lacksEntries = false, entries }: PipelineDraft): boolean {
  return root !== undefined && !lacksEntries && entries.every(({ load }) => load.kind === 'loaded');
}

function* knownVariables({ schemas, entries }: PipelineDraft): Generator<string> {
  const ofSite = entries.flatMap(({ load }) => (load.kind === 'loaded' ? load.schema : []));
  for (const schema of [...schemas.values(), ...ofSite])
    for (const { env } of definitionsOf('', schema)) yield* env;
}

function isReferredTo({ files }: PipelineDraft, name: string): boolean {
  // A variable's name may contain any character, so it is compared as text and not as a regular expression.
  const references = [`\${${name}}`, `\${${name}:-`];
  return [...files.values()].some(({ text }) => references.some((reference) => text.includes(reference)));
}
