import type { SourcePosition } from '../../pipeline/types.js';

/** The line that a finding points at, and the part to underline. */
export interface CodeFrame {
  readonly line: string;
  /** Text before the underline; it keeps tabs, so that both lines align. */
  readonly indent: string;
  readonly underline: string;
}

/** Longest line shown whole; a longer one is cut after the underlined part. */
const maxLine = 160;

/** Undefined when the text is unknown or has no such line. */
export function codeFrame(at: SourcePosition, text: string | undefined): CodeFrame | undefined {
  const written = text?.split('\n')[at.line - 1]?.replace(/\r$/, '');
  if (written === undefined || written.trim() === '' || hasControls(written)) return undefined;
  // Addresses may hold a password; the columns stay.
  const line = written.replace(
    /(?<![^\s"'[{,=])((?:[a-z][\w+.-]*:\/\/)?[^\s"':@/]*:)([^\s"']+)@/gi,
    (_, start: string, password: string) => `${start}${'*'.repeat(password.length)}@`,
  );
  const before = line.slice(0, at.column - 1);
  if (before.length > maxLine) return undefined;
  const length = Math.max(1, Math.min(at.length, line.length - before.length, maxLine));
  const shown =
    line.length > maxLine ? `${line.slice(0, Math.max(maxLine, before.length + length))}...` : line;
  return { line: shown, indent: before.replace(/[^\t]/g, ' '), underline: '^'.repeat(length) };
}

const controls = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/;

/** Files are untrusted: their escape sequences must not reach the terminal. */
export function hasControls(text: string): boolean {
  return controls.test(text);
}

/** Replaces control characters. */
export function printable(text: string): string {
  return text.replaceAll(new RegExp(controls, 'g'), '\ufffd');
}
