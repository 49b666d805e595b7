/** The checker: all findings about pipeline files, in every output format. */
import { type OptionSources, UsageError } from '../options/index.js';
import { draftPipeline } from '../pipeline/draft.js';
import { packageBuiltIns, type BuiltIns } from '../pipeline/load-plugin.js';
import { unreadable } from '../pipeline/load.js';
import { readSource, type SourceFile, readFailure } from '../pipeline/source.js';
import type { Finding } from '../pipeline/types.js';
import { checkDraft, sortFindings } from './check-draft.js';
import type { Surroundings, Tier } from './rule.js';
import { readdir, stat } from 'node:fs/promises';

export { checkDraft } from './check-draft.js';
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

interface CheckOptions {
  /** Flags and environment with which the pipeline would be started. */
  readonly sources: OptionSources;
  /** If given, the environment tier runs too. */
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
      // Pipelines in documentation are not intended for this machine.
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

/** True for a pipeline. A directory may contain other YAML, such as a tenant map. */
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
  const tiers: readonly Tier[] = ['structure', 'meaning', 'environment'];
  return checkDraft(draft, { tiers, surroundings });
}

const checkedEndings = /\.(?:ya?ml|md)$/i;

/** Names of folders that the search skips. */
const skippedFolders: ReadonlySet<string> = new Set(['node_modules', 'dist']);

/** A file to check; a file named explicitly is checked whatever its content. */
interface FileToCheck {
  readonly file: string;
  readonly isNamed: boolean;
}

/**
 * The files that the given paths refer to, sorted: files as they are, directories with all YAML and Markdown files below them. Throws
 * UsageError for a path that does not exist.
 */
export async function findFiles(paths: readonly string[]): Promise<readonly FileToCheck[]> {
  const named = new Set<string>();
  const files = new Set<string>();
  const problems: string[] = [];
  for (const path of paths) {
    try {
      if ((await stat(path)).isDirectory()) await addFolder(path, files);
      else named.add(path);
    } catch (error) {
      problems.push(`${path}: ${readFailure(error)}`);
    }
  }
  if (problems.length > 0) throw new UsageError(problems);
  return [...new Set([...files, ...named])].sort().map((file) => ({ file, isNamed: named.has(file) }));
}

async function addFolder(folder: string, files: Set<string>): Promise<void> {
  for (const item of await readdir(folder, { withFileTypes: true })) {
    if (item.name.startsWith('.') || skippedFolders.has(item.name)) continue;
    const path = `${folder.replace(/\/+$/, '')}/${item.name}`;
    if (item.isDirectory()) await addFolder(path, files);
    else if (item.isFile() && checkedEndings.test(item.name)) files.add(path);
  }
}

const fence = /^( {0,12})(`{3,}|~{3,})\s*([^`]*)$/;

/**
 * The pipelines in a Markdown file: fenced blocks marked `yaml` or `yml` that contain a `stages:` list, or have `pipeline` after the
 * language. `fragment` marks a block that shows only part of a pipeline, `no-check` an intentionally invalid one. Everything outside the
 * block is blanked, so that lines and columns are those of the Markdown file.
 */
function markdownSources(file: SourceFile): readonly SourceFile[] {
  const lines = file.text.split('\n');
  const sources: SourceFile[] = [];
  for (let index = 0; index < lines.length; index += 1) {
    const opening = fence.exec(lines[index] ?? '');
    if (opening === null) continue;
    const [, , ticks = '', info = ''] = opening;
    const end = closingFence(lines, index + 1, ticks);
    const words = info
      .trim()
      .toLowerCase()
      .split(/[\s,{}]+/);
    const block = lines.slice(index + 1, end);
    if (isPipeline(words, block)) {
      const text = '\n'.repeat(index + 1) + block.join('\n') + '\n';
      sources.push({ ...file, text, isFragment: words.includes('fragment') });
    }
    index = end;
  }
  return sources;
}

/** The line of the fence that closes a block, or the end of the file. */
function closingFence(lines: readonly string[], from: number, ticks: string): number {
  for (let index = from; index < lines.length; index += 1) {
    const line = (lines[index] ?? '').trim();
    if (line.length >= ticks.length && line === (ticks[0] ?? '`').repeat(line.length)) return index;
  }
  return lines.length;
}

function isPipeline(words: readonly string[], block: readonly string[]): boolean {
  if (!words.includes('yaml') && !words.includes('yml')) return false;
  if (words.includes('no-check')) return false;
  if (words.includes('pipeline') || words.includes('fragment')) return true;
  return block.some((line) => /^\s*stages\s*:/.test(line));
}
