/**
 * The checker as a library (`ref-proxy/check`): a pipeline file as a draft, with all its parts and their positions, and findings about it
 * as data. It runs the top level of the modules that a file names, but creates, opens and starts nothing.
 */
import { resolve } from 'node:path';
import type { OptionSources } from '../kernel/options/index.js';
import { draftPipeline, type PipelineDraft } from '../kernel/pipeline/draft.js';
import { packageBuiltIns } from '../kernel/pipeline/load-plugin.js';
import { unreadable } from '../kernel/pipeline/load.js';
import { readSource } from '../kernel/pipeline/source.js';
import type { Finding } from '../kernel/pipeline/types.js';
import { checkDraft as applyRules } from '../kernel/check/check-draft.js';
import { checkFiles as checkPaths } from '../kernel/check/index.js';

export { describedRules as rules, type RuleDescription } from '../kernel/check/described-rules.js';
export {
  formatFindings,
  formats,
  readSources,
  type Format,
  type FormatOptions,
} from '../kernel/check/formats.js';
export { formatPipeline } from './format-yaml.js';
export { printPipeline } from './print-pipeline.js';
export { UsageError } from '../kernel/options/index.js';
export type {
  DraftEntry,
  DraftOptions,
  ListName,
  PipelineDraft,
  SectionName,
} from '../kernel/pipeline/draft.js';
export type { LocatedEntry, LocatedNode } from '../kernel/pipeline/located.js';
export type { SourceFile } from '../kernel/pipeline/source.js';
export type { Finding, SourcePosition } from '../kernel/pipeline/types.js';

/** Flags and variables with which a pipeline would be started; those of this process are ignored. */
export interface Given {
  /** Flags by name, without dashes. */
  readonly flags?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/** A pipeline file as a draft, even if it has errors; findings instead if it cannot be read. */
export async function draftFile(
  file: string,
  given: Given = {},
): Promise<{ readonly draft: PipelineDraft } | { readonly findings: readonly Finding[] }> {
  const source = await readSource(file);
  if ('reason' in source) return { findings: [unreadable(file, source.reason)] };
  return { draft: await draftPipeline(source, sourcesOf(given), packageBuiltIns()) };
}

/** A pipeline's text as a draft. `file` names it in findings; files and plugins are resolved from its folder. */
export function draftText(text: string, file = 'pipeline.yaml', given: Given = {}): Promise<PipelineDraft> {
  const source = { name: file, path: resolve(file), text, isFragment: false };
  return draftPipeline(source, sourcesOf(given), packageBuiltIns());
}

/** Findings about a draft, as reported by `ref-proxy check` without `--env`; sorted by file, line, column and rule. */
export function checkDraft(draft: PipelineDraft): Promise<readonly Finding[]> {
  return applyRules(draft, { tiers: ['structure', 'meaning'] });
}

/** Findings about files, directories and the pipelines in Markdown files. Throws UsageError for a path that does not exist. */
export function checkFiles(paths: readonly string[], given: Given = {}): Promise<readonly Finding[]> {
  return checkPaths(paths, { sources: sourcesOf(given) });
}

function sourcesOf({ flags = {}, env = {} }: Given): OptionSources {
  return { flags: new Map(Object.entries(flags)), env };
}
