import { ofKey } from '../../base/memory/byte-lru.js';
import {
  definitionsOf,
  isNamedSource,
  nameOfSource,
  type OptionDefinition,
  type OptionOrigin,
} from '../options/index.js';
import type { DraftEntry, DraftOptions, PipelineDraft } from '../pipeline/draft.js';
import { placeOf, valueOf, type LocatedNode } from '../pipeline/located.js';
import type { LintOption, Plugin } from '../plugin/contract.js';

/** An option of a pipeline with its effective value and where it was set. */
export interface FoundOption extends LintOption {
  readonly definition: OptionDefinition;
  readonly origin: OptionOrigin;
  /** The value in the file, if that is the effective one. */
  readonly node: LocatedNode | undefined;
}

/** Options of drafts and of their parts: rules look them up many times, and a draft never changes. */
const known = new WeakMap<PipelineDraft | DraftOptions, readonly FoundOption[]>();

export function allOptions(draft: PipelineDraft): readonly FoundOption[] {
  return ofKey(known, draft, () => enabledOwners(draft).flatMap(optionsOf));
}

/** The plugins that are not disabled and could be loaded, with their entries in the order of the file. */
export function enabledPlugins({
  entries,
}: PipelineDraft): readonly { readonly entry: DraftEntry; readonly plugin: Plugin }[] {
  return entries.flatMap((entry) =>
    entry.isEnabled && entry.load.kind === 'loaded' ? { entry, plugin: entry.load.plugin } : [],
  );
}

/** The sections, and the plugins that are not disabled, in the order of the file. */
export function enabledOwners({ sections, entries }: PipelineDraft): readonly DraftOptions[] {
  return [
    ...sections.values(),
    ...entries.flatMap(({ isEnabled, options }) => (isEnabled ? (options ?? []) : [])),
  ];
}

/**
 * The option that a flag sets, wherever its plugin is in the file. Rules refer to options by flag, as people do, so that renaming a key
 * does not disable a rule. Undefined if the plugin is not in the pipeline.
 */
export function findOption(draft: PipelineDraft, flag: string): FoundOption | undefined {
  return allOptions(draft).find((option) => option.definition.flag === flag);
}

/** An option with a text that is not empty. */
export type FilledOption = FoundOption & { readonly value: string };

export function isFilled(option: FoundOption | undefined): option is FilledOption {
  return typeof option?.value === 'string' && option.value !== '';
}

/** Advice on how to set an option. */
export function howToSet(option: FoundOption | undefined, flag: string): string {
  return option?.ways ?? `-${flag}`;
}

export function optionsOf(owner: DraftOptions): readonly FoundOption[] {
  return ofKey(known, owner, () => findOptions(owner));
}

function findOptions(owner: DraftOptions): readonly FoundOption[] {
  return definitionsOf(owner.owner, owner.schema).map((definition): FoundOption => {
    const { key, flag, shares = flag } = definition;
    const origin = owner.resolved.origins.get(key) ?? { kind: 'default' };
    const node = origin.kind === 'yaml' ? valueOf(owner.node, key) : undefined;
    const given = isNamedSource(origin) ? nameOfSource(origin) : undefined;
    const at = given === undefined ? (node?.at ?? owner.at) : { ...owner.at, given };
    const value = owner.resolved.options[key];
    return {
      key,
      value,
      definition,
      origin,
      node,
      at,
      name: given ?? key,
      text: typeof value === 'string' ? value : '',
      isGiven: origin.kind !== 'default',
      ways: shares === undefined ? key : `${key} (-${shares})`,
      within: (path) => (node === undefined ? at : placeOf(node, path).value),
    };
  });
}
