import type { Finding } from '../../pipeline/types.js';
import { codeFrame } from './frame.js';

/** For programs: one object with all findings; `endColumn` is exclusive. */
export function formatJson(findings: readonly Finding[], sources: ReadonlyMap<string, string>): string {
  const items = findings.map(({ at, rule, severity, message, fix }) => ({
    ...(at.given === undefined ? {} : { given: at.given }),
    file: at.file,
    line: at.line,
    column: at.column,
    endColumn: at.column + at.length,
    rule,
    severity,
    message,
    ...(fix === undefined ? {} : { fix }),
    ...frameOf(at, sources.get(at.file)),
  }));
  return `${JSON.stringify({ version: 1, findings: items }, null, 2)}\n`;
}

function frameOf(at: Finding['at'], text: string | undefined): { readonly frame?: string } {
  const frame = at.given === undefined ? codeFrame(at, text) : undefined;
  return frame === undefined ? {} : { frame: `${frame.line}\n${frame.indent}${frame.underline}` };
}
