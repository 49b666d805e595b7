import { readFile } from 'node:fs/promises';
import { placeText } from '../pipeline/located.js';
import type { Finding, SourcePosition } from '../pipeline/types.js';
import { describedRules, type RuleDescription } from './described-rules.js';
import { formatSarifLog } from './sarif.js';

export const formats = ['text', 'json', 'github', 'sarif'] as const;
export type Format = (typeof formats)[number];

export function isFormat(name: string): name is Format {
  return formats.some((format) => format === name);
}

export interface FormatOptions {
  /** True to colour the text format. */
  readonly hasColor?: boolean;
}

/** Formats findings for people or programs; ends with a newline unless empty. `sources` are the texts of the files, for code frames. */
export async function formatFindings(
  findings: readonly Finding[],
  format: Format,
  sources: ReadonlyMap<string, string>,
  options: FormatOptions = {},
): Promise<string> {
  switch (format) {
    case 'text':
      return formatText(findings, sources, options.hasColor ?? false);
    case 'json':
      return formatJson(findings, sources);
    case 'github':
      return formatGithub(findings, await describedRules());
    case 'sarif':
      return formatSarif(findings, await describedRules());
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

/**
 * Text format:
 *
 *     site.yaml:14:7: error R007 option "brust" is not known to plugin "guard"
 *        14 |       brust: 100
 *           |       ^^^^^ did you mean "burst"?
 */
function formatText(
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
  // Most messages about a flag or a variable start with it.
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

type Paint = Readonly<Record<'bold' | 'red' | 'yellow' | 'green', (text: string) => string>>;

const same = (text: string): string => text;
const plain: Paint = { bold: same, red: same, yellow: same, green: same };

const code =
  (number: number) =>
  (text: string): string =>
    `\u001b[${number}m${text}\u001b[0m`;
const ansi: Paint = { bold: code(1), red: code(31), yellow: code(33), green: code(32) };

/** JSON format: one object with all findings; `endColumn` is exclusive. */
function formatJson(findings: readonly Finding[], sources: ReadonlyMap<string, string>): string {
  const items = findings.map(({ at, rule, severity, message, fix }) => ({
    given: at.given,
    ...rangeOf(at),
    rule,
    severity,
    message,
    fix,
    frame: frameOf(at, sources.get(at.file)),
  }));
  return `${JSON.stringify({ version: 1, findings: items }, null, 2)}\n`;
}

function rangeOf({ file, line, column, length }: SourcePosition) {
  return { file, line, column, endColumn: column + length };
}

function frameOf(at: SourcePosition, text: string | undefined): string | undefined {
  const frame = at.given === undefined ? codeFrame(at, text) : undefined;
  return frame && `${frame.line}\n${frame.indent}${frame.underline}`;
}

/** Format for GitHub Actions: one workflow command per finding, which GitHub shows at the line. */
function formatGithub(findings: readonly Finding[], rules: readonly RuleDescription[]): string {
  return findings.map((finding) => `${command(finding, rules)}\n`).join('');
}

function command({ at, rule, severity, message, fix }: Finding, rules: readonly RuleDescription[]): string {
  const title = rules.find(({ id }) => id === rule)?.title ?? rule;
  // The value of a flag or a variable is not in a file.
  const place = [
    `file=${property(at.file)}`,
    `line=${at.line}`,
    `col=${at.column}`,
    `endColumn=${at.column + at.length}`,
  ];
  const properties = [...(at.given === undefined ? place : []), `title=${property(`${rule} ${title}`)}`];
  const text = fix === undefined ? message : `${message}\n${fix}`;
  return `::${severity} ${properties.join(',')}::${data(text)}`;
}

function data(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function property(text: string): string {
  return data(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}

/** SARIF format, with all rules of the checker. */
function formatSarif(findings: readonly Finding[], rules: readonly RuleDescription[]): string {
  const described = rules.map((rule) => ({
    id: rule.id,
    shortDescription: { text: rule.title },
    fullDescription: { text: rule.docs },
    defaultConfiguration: { level: rule.severity },
    properties: { tier: rule.tier },
  }));
  const found = findings.map(({ at, rule, severity, message, fix }) => ({
    rule,
    level: severity,
    message: fix === undefined ? message : `${message}; ${fix}`,
    ...rangeOf(at),
  }));
  return formatSarifLog('ref-proxy check', described, found);
}

/** The line that a finding points at, with the part to underline. */
interface CodeFrame {
  readonly line: string;
  /** Text before the underline. It keeps tabs, so that both lines align. */
  readonly indent: string;
  readonly underline: string;
}

/** Maximum length of a line shown whole; a longer one is cut after the underlined part. */
const maxLine = 160;

/** The code frame; undefined if the text is unknown or has no such line. */
function codeFrame(at: SourcePosition, text: string | undefined): CodeFrame | undefined {
  const written = text?.split('\n')[at.line - 1]?.replace(/\r$/, '');
  if (written === undefined || written.trim() === '' || hasControls(written)) return undefined;
  // Addresses may contain a password; replacing it keeps the columns.
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

/** True if a text has control characters. Files are untrusted: their escape sequences must not reach the terminal. */
function hasControls(text: string): boolean {
  return controls.test(text);
}

/** Replaces control characters. */
function printable(text: string): string {
  return text.replaceAll(new RegExp(controls, 'g'), '\ufffd');
}
