import { printQuery } from '../../victoria/logsql/print.js';
import type { CheckedRule } from './check-rules.js';
import type { ConvertedFile, ConvertedRule } from './convert-rules.js';

export const rulesReportForms = ['text', 'json'] as const;
export type RulesReportForm = (typeof rulesReportForms)[number];

interface RulesReport {
  readonly files: readonly ConvertedFile[];
  /** Undefined if the rules were not checked. */
  readonly checked: readonly CheckedRule[] | undefined;
  /** Number of times of evaluation. */
  readonly times: number;
}

export function printRulesReport(report: RulesReport, form: RulesReportForm): string {
  return form === 'json' ? jsonOf(report) : textOf(report);
}

/** Every rule with its group and file. */
function rulesIn(files: readonly ConvertedFile[]): readonly {
  readonly path: string;
  readonly group: string;
  readonly converted: ConvertedRule;
}[] {
  return files.flatMap(({ file, groups }) =>
    groups.flatMap(({ group, rules }) =>
      rules.map((converted) => ({ path: file.path, group: group.name, converted })),
    ),
  );
}

function outcomeOf({ logsql, isInvalid }: ConvertedRule): 'converted' | 'kept' | 'invalid' {
  return logsql !== undefined ? 'converted' : isInvalid ? 'invalid' : 'kept';
}

function textOf({ files, checked, times }: RulesReport): string {
  const lines: string[] = [];
  for (const { file } of files)
    for (const member of file.leftOut)
      lines.push(`left out   ${file.path}: ${member}: vmalert has no such setting`);
  const counts = { converted: 0, kept: 0, invalid: 0 };
  for (const { path, group, converted } of rulesIn(files)) {
    const { rule, logsql, reason } = converted;
    const outcome = outcomeOf(converted);
    counts[outcome] += 1;
    lines.push(
      `${outcome.padEnd(9)}  ${path}: ${group}: ${rule.name}${reason === undefined ? '' : `: ${reason}`}`,
    );
    if (logsql !== undefined) lines.push(`  ${printQuery(logsql)}`);
  }
  lines.push(
    '',
    `${counts.converted} rules converted, ${counts.kept} kept as LogQL, ${counts.invalid} invalid`,
  );
  return [...lines, ...(checked === undefined ? [] : checkLines(checked, times)), ''].join('\n');
}

function checkLines(checked: readonly CheckedRule[], times: number): readonly string[] {
  const different = checked.filter(({ equal }) => equal < times);
  const lines = different.flatMap(({ group, name, equal, differences }) => [
    `different  ${group}: ${name}: at ${times - equal} of ${times} times`,
    ...differences.map(({ seconds, text }) => `  ${new Date(seconds * 1000).toISOString()}  ${text}`),
  ]);
  const silent = checked.filter(({ equal, withSeries }) => equal === times && withSeries === 0);
  return [
    ...lines,
    `${checked.length - different.length} of ${checked.length} converted rules give the same series as LogQL at ${times} times` +
      (silent.length === 0 ? '' : `; ${silent.length} of these gave no series at all`),
  ];
}

function jsonOf({ files, checked, times }: RulesReport): string {
  const rules = rulesIn(files).map(({ path, group, converted }) => ({
    file: path,
    group,
    name: converted.rule.name,
    outcome: outcomeOf(converted),
    logql: converted.rule.expr,
    ...(converted.logsql === undefined ? {} : { logsql: printQuery(converted.logsql) }),
    ...(converted.reason === undefined ? {} : { reason: converted.reason }),
  }));
  const leftOut = files.flatMap(({ file }) => file.leftOut.map((member) => ({ file: file.path, member })));
  const check = checked === undefined ? {} : { check: { times, rules: checked } };
  return `${JSON.stringify({ rules, leftOut, ...check }, undefined, 1)}\n`;
}
