import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../../core/kernel/options/index.js';

/** The sample lines as Loki clients see them, in the format of the guide's table. */
export interface View {
  readonly labels: readonly string[];
  readonly serviceName: string;
  /** The line stored for the JSON sample. */
  readonly line: string;
  /** Names of its structured metadata, except `detected_level`. */
  readonly metadata: readonly string[];
  /** `detected_level` of the plain-text sample. */
  readonly plainLevel: string;
}

/** The sample lines that every collector in the table reads, in this order. */
export const jsonLine = '{"level":"error","msg":"payment failed","order":17}';
export const plainLine = 'payment failed';

export const guide = readFileSync(join(packageRoot(), 'docs/ingestion.md'), 'utf8');

/** Reads a file of `examples/ingestion`. */
export function configuration(name: string): string {
  return readFileSync(join(packageRoot(), 'examples/ingestion', name), 'utf8');
}

/** The texts of the fenced blocks of a Markdown document. */
export function codeBlocks(markdown: string): readonly string[] {
  return Array.from(markdown.matchAll(/^```.*\n([\s\S]*?)^```$/gm), ([, text = '']) => text);
}

/** The rows of the guide's table of views, by the collector's name. */
export function viewsOfGuide(): ReadonlyMap<string, View> {
  const [, table = ''] = /^\| collector \| labels \|.*\n(?:\|-.*\n)((?:\|.*\n)+)/m.exec(guide) ?? [];
  const rows = table.trim().split('\n');
  return new Map(
    rows.map((row) => {
      const [collector = '', labels = '', service = '', line = '', metadata = '', level = ''] = row
        .slice(2, -2)
        .split(' | ');
      const view: View = {
        labels: codesOf(labels),
        serviceName: codesOf(service).join(),
        line: line === 'as written' ? jsonLine : codesOf(line).join(),
        metadata: codesOf(metadata),
        plainLevel: codesOf(level).join(),
      };
      return [collector.replace(/^\[(.*)\]\(.*\)$/, '$1'), view] as const;
    }),
  );
}

function codesOf(cell: string): readonly string[] {
  return Array.from(cell.matchAll(/`([^`]+)`/g), ([, code = '']) => code);
}
