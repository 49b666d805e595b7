import { placeText } from '../../pipeline/place-text.js';
import type { Finding } from '../../pipeline/types.js';
import { codeFrame, printable } from './frame.js';

/**
 * For people:
 *
 *     site.yaml:14:7: error R007 option "brust" is not known to plugin "guard"
 *        14 |       brust: 100
 *           |       ^^^^^ did you mean "burst"?
 */
export function formatText(
  findings: readonly Finding[],
  sources: ReadonlyMap<string, string>,
  hasColor: boolean,
): string {
  const paint = hasColor ? ansi : plain;
  return findings.map((finding) => formatOne(finding, sources.get(finding.at.file), paint)).join('');
}

function formatOne(finding: Finding, text: string | undefined, paint: Paint): string {
  const { at, rule, severity, message, fix } = finding;
  const { given } = at;
  // Most messages about a flag or a variable begin with it.
  const place =
    given !== undefined && message.startsWith(given) ? '' : paint.bold(`${printable(placeText(at))}: `);
  const tone = severity === 'error' ? paint.red : paint.yellow;
  const lines = [`${place}${tone(`${severity} ${rule}`)} ${printable(message)}`];
  const frame = given === undefined ? codeFrame(at, text) : undefined;
  const advice = fix === undefined ? '' : paint.green(printable(fix));
  if (frame !== undefined) {
    const number = String(at.line).padStart(5);
    lines.push(`${number} | ${frame.line}`);
    const marks = `${' '.repeat(number.length)} | ${frame.indent}${tone(frame.underline)}`;
    lines.push(advice === '' ? marks : `${marks} ${advice}`);
  } else if (advice !== '') {
    lines.push(`      ${advice}`);
  }
  return lines.map((line) => `${line}\n`).join('');
}

interface Paint {
  readonly bold: (text: string) => string;
  readonly red: (text: string) => string;
  readonly yellow: (text: string) => string;
  readonly green: (text: string) => string;
}

const same = (text: string): string => text;
const plain: Paint = { bold: same, red: same, yellow: same, green: same };

const code =
  (number: number) =>
  (text: string): string =>
    `\u001b[${number}m${text}\u001b[0m`;
const ansi: Paint = { bold: code(1), red: code(31), yellow: code(33), green: code(32) };
