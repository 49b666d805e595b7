import type { Finding } from '../../pipeline/types.js';
import { rules } from '../rules/index.js';

/** For GitHub Actions: one workflow command per finding, which GitHub shows at the line. */
export function formatGithub(findings: readonly Finding[]): string {
  return findings.map((finding) => `${command(finding)}\n`).join('');
}

function command({ at, rule, severity, message, fix }: Finding): string {
  const title = rules.find(({ id }) => id === rule)?.title ?? rule;
  // What a flag or a variable says stands in no file.
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
