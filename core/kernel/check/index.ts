/** The checker: all findings about pipeline files, in every output format. */
import type { OptionSources } from '../options/index.js';
import { draftPipeline } from '../pipeline/draft.js';
import { packageBuiltIns, type BuiltIns } from '../pipeline/load-plugin.js';
import { unreadable } from '../pipeline/load.js';
import { readSource, type SourceFile } from '../pipeline/source.js';
import type { Finding } from '../pipeline/types.js';
import { checkDraft, sortFindings } from './check-draft.js';
import { findFiles } from './find-files.js';
import { markdownSources } from './markdown.js';
import type { Surroundings } from './rule.js';

export { checkDraft } from './check-draft.js';
export { findFiles } from './find-files.js';
export { unreadable } from '../pipeline/load.js';
export {
  formatFindings,
  formats,
  isFormat,
  readSources,
  type Format,
  type FormatOptions,
} from './formats.js';
export { thisMachine } from './surroundings.js';
export type { Surroundings } from './rule.js';

export interface CheckOptions {
  /** Flags and environment that the pipeline would be started with. */
  readonly sources: OptionSources;
  /** When given, the environment tier runs too. */
  readonly surroundings?: Surroundings;
  readonly builtIns?: BuiltIns;
}

/**
 * Checks files, directories and the pipelines in Markdown files. Findings are sorted by file, line, column and rule; the same input gives
 * the same findings. Throws UsageError for a path that does not exist.
 */
export async function checkFiles(paths: readonly string[], options: CheckOptions): Promise<Finding[]> {
  const builtIns = options.builtIns ?? packageBuiltIns();
  const findings: Finding[] = [];
  for (const { file, isNamed } of await findFiles(paths)) {
    const source = await readSource(file);
    if ('reason' in source) {
      findings.push(unreadable(file, source.reason));
      continue;
    }
    if (/\.md$/i.test(file)) {
      // Pipelines in documentation are not meant for this machine.
      const textOnly: CheckOptions = { sources: options.sources };
      for (const block of markdownSources(source)) {
        findings.push(...(await checkSource(block, textOnly, builtIns)));
      }
    } else if (isNamed || looksLikePipeline(source.text)) {
      findings.push(...(await checkSource(source, options, builtIns)));
    }
  }
  return [...sortFindings(findings)];
}

/** A directory may hold other YAML, such as a tenant map. */
export function looksLikePipeline(text: string): boolean {
  return /^(?:stages\s*:|# yaml-language-server:.*pipeline\.schema\.json)/m.test(text);
}

async function checkSource(
  source: SourceFile,
  options: CheckOptions,
  builtIns: BuiltIns,
): Promise<readonly Finding[]> {
  const draft = await draftPipeline(source, options.sources, builtIns);
  const { surroundings } = options;
  return checkDraft(draft, {
    tiers: surroundings === undefined ? ['structure', 'meaning'] : ['structure', 'meaning', 'environment'],
    ...(surroundings === undefined ? {} : { surroundings }),
  });
}
