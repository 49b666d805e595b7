import { readOptionFile } from '../../core/kernel/options/option-file.js';

/**
 * Reads patterns from a file: a JSON array of texts, or one pattern per line with empty lines and `#` comments.
 * @throws Error naming the file, when it cannot be read or is invalid
 */
export async function readPatternFile(file: string): Promise<readonly string[]> {
  return parsePatterns((await readOptionFile('-patterns-custom-file', file)).toString('utf8'), file);
}

/** The distinct patterns of such a text. */
export function parsePatterns(text: string, where: string): readonly string[] {
  return [...new Set(text.trimStart().startsWith('[') ? fromJson(text, where) : fromLines(text))];
}

function fromLines(text: string): readonly string[] {
  return text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'));
}

function fromJson(text: string, where: string): readonly string[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    // A pattern may start with a bracket: then the text is read as lines.
    if (!text.trimEnd().endsWith(']')) return fromLines(text);
    throw new Error(`${where}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
  if (!Array.isArray(value) || !value.every((entry) => typeof entry === 'string'))
    throw new Error(`${where}: must be a JSON array of texts, or a pattern per line`);
  return value.filter((entry) => entry !== '');
}
