import type { SourcePosition } from '../../pipeline/types.js';

/** The line that a finding points at, and where to underline it. */
export interface CodeFrame {
  readonly line: string;
  /** Columns before the underline; tabs of the line are kept, so that the two lines stay in step. */
  readonly indent: string;
  readonly underline: string;
}

/** Longest line that is shown whole; a longer one is cut after what is underlined. */
const maxLine = 160;

/** Undefined when the text is not there or has no such line. */
export function codeFrame(at: SourcePosition, text: string | undefined): CodeFrame | undefined {
  const line = text?.split('\n')[at.line - 1]?.replace(/\r$/, '');
  if (line === undefined || line.trim() === '' || hasControls(line)) return undefined;
  const before = line.slice(0, at.column - 1);
  if (before.length > maxLine) return undefined;
  const length = Math.max(1, Math.min(at.length, line.length - before.length, maxLine));
  const shown =
    line.length > maxLine ? `${line.slice(0, Math.max(maxLine, before.length + length))}...` : line;
  return { line: shown, indent: before.replace(/[^\t]/g, ' '), underline: '^'.repeat(length) };
}

const controls = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/;

/** A file is a stranger's: its escape sequences stay out of the terminal. */
export function hasControls(text: string): boolean {
  return controls.test(text);
}

/** Text without control characters. */
export function printable(text: string): string {
  return text.replaceAll(new RegExp(controls, 'g'), '\ufffd');
}
