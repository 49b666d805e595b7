import { readFile } from 'node:fs/promises';
import type { Finding } from '../../pipeline/types.js';
import { formatGithub } from './github.js';
import { formatJson } from './json.js';
import { formatSarif } from './sarif.js';
import { formatText } from './text.js';

export const formats = ['text', 'json', 'github', 'sarif'] as const;
export type Format = (typeof formats)[number];

export function isFormat(name: string): name is Format {
  return formats.some((format) => format === name);
}

export interface FormatOptions {
  /** For the text format on terminals. */
  readonly hasColor?: boolean;
}

/** Formats findings for people or programs; ends with a newline unless empty. `sources` are the texts of the files, for code frames. */
export function formatFindings(
  findings: readonly Finding[],
  format: Format,
  sources: ReadonlyMap<string, string>,
  options: FormatOptions = {},
): string {
  switch (format) {
    case 'text':
      return formatText(findings, sources, options.hasColor ?? false);
    case 'json':
      return formatJson(findings, sources);
    case 'github':
      return formatGithub(findings);
    case 'sarif':
      return formatSarif(findings);
  }
}

/** The texts of the files with findings; an unreadable file is left out and gets no code frame. */
export async function readSources(findings: readonly Finding[]): Promise<ReadonlyMap<string, string>> {
  const sources = new Map<string, string>();
  for (const file of new Set(findings.map((finding) => finding.at.file))) {
    const text = await readFile(file, 'utf8').catch(() => undefined);
    if (text !== undefined) sources.set(file, text);
  }
  return sources;
}
