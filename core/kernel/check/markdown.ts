import type { SourceFile } from '../pipeline/source.js';

const fence = /^( {0,12})(`{3,}|~{3,})\s*([^`]*)$/;

/**
 * The pipelines in a Markdown file: fenced blocks marked `yaml` or `yml` that hold a `stages:` list, or have `pipeline` after the language.
 * `fragment` marks a block that shows only part of a pipeline, `no-check` one that is wrong on purpose. Everything outside the block is
 * blanked, so that lines and columns are those of the Markdown file.
 */
export function markdownSources(file: SourceFile): readonly SourceFile[] {
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
