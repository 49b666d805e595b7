import { keysOfTable } from '../../base/order.js';
import { costText, type ExplainedStrategy } from '../../engine/plan/explain/strategies.js';
import type { QueryAdvice } from '../../engine/advice/rules.js';
import type { Expr } from '../../logql/ast.js';
import { printPlain } from '../../logql/index.js';
import type { NotAsked } from '../queries/filled-queries.js';
import type { AnsweredQuery, AuditedQuery, AuditedRead } from './audited.js';
import { sarifReport } from './sarif.js';

const printers = { text: textReport, json: jsonReport, sarif: sarifReport };
export type AuditForm = keyof typeof printers;
export const auditForms = keysOfTable(printers);

export interface AuditReport {
  readonly audited: readonly AuditedQuery[];
  /** Queries with variables that have no value, and those beyond the limit. */
  readonly notAudited: readonly NotAsked[];
}

export function printAudit(report: AuditReport, form: AuditForm): string {
  return printers[form](report);
}

function textReport({ audited, notAudited }: AuditReport): string {
  const lines: string[] = [];
  let heading = '';
  for (const query of audited) {
    const own = query.group === query.file ? query.file : `${query.file}: ${query.group}`;
    if (own !== heading) lines.push(own, '');
    heading = own;
    lines.push(...textOf(query).map((line) => `  ${line}`), '');
  }
  for (const { query, reason } of notAudited)
    lines.push(`not audited  ${query.group}: ${query.name}: ${reason}`);
  if (notAudited.length > 0) lines.push('');
  lines.push(totalText(audited), '');
  return lines.join('\n');
}

function textOf({ name, at, text, verdict }: AuditedQuery): readonly string[] {
  const place = at === undefined ? '' : ` (line ${at.line})`;
  const head = [`${name}${place}`, `  query   ${text.replaceAll('\n', ' ')}`];
  if (verdict.kind !== 'answered') return [...head, `  ${verdict.kind.padEnd(9)} ${verdict.error}`];
  const { cost, costText, reads, uncounted, advice, expr } = verdict;
  return [
    ...head,
    `  cost    ${cost}: ${costText}`,
    ...reads.flatMap(readText),
    ...(uncounted === undefined ? [] : [`  rows    unknown: ${uncounted}`]),
    ...advice.flatMap((one) => adviceText(one, expr)),
  ];
}

function readText({ logql, candidate, others, selected }: AuditedRead): readonly string[] {
  const rows =
    selected === undefined
      ? []
      : [`  rows    ${selected.rows} in the range, about ${selected.bytes} bytes of lines`];
  return [
    `  read    ${logql}`,
    ...rows,
    ...(candidate === undefined
      ? []
      : [`  by      ${candidate.strategy}: ${candidate.text}`, ...costLines(candidate)]),
    ...others.map((other) => `          ${strategyText(other)}`),
  ];
}

function costLines({ cost }: ExplainedStrategy): readonly string[] {
  return cost === undefined ? [] : [`          ${costText(cost)}`];
}

function strategyText({ strategy, declined, cost, text }: ExplainedStrategy): string {
  if (declined !== undefined) return `not ${strategy} (${declined}): ${text}`;
  return `${strategy}: ${cost === undefined ? text : costText(cost)}`;
}

function adviceText({ rule, text, example, rewritten }: QueryAdvice, expr: Expr): readonly string[] {
  return [
    `  advice  ${rule.id}: ${text}`,
    ...(rewritten === undefined
      ? []
      : [`          before: ${printPlain(expr)}`, `          after:  ${printPlain(rewritten)}`]),
    ...(example === undefined ? [] : [`          such as: ${example}`]),
  ];
}

function totalText(audited: readonly AuditedQuery[]): string {
  const { queries, unparsed, refused, advised } = totalOf(audited);
  const noun = queries === 1 ? 'query' : 'queries';
  return `${queries} ${noun}: ${unparsed} not parsed, ${refused} refused, ${advised} with advice`;
}

function totalOf(audited: readonly AuditedQuery[]): Readonly<Record<string, number>> {
  const count = (test: (query: AuditedQuery) => boolean): number => audited.filter(test).length;
  return {
    queries: audited.length,
    unparsed: count(({ verdict }) => verdict.kind === 'unparsed'),
    refused: count(({ verdict }) => verdict.kind === 'refused'),
    advised: count(({ verdict }) => verdict.kind === 'answered' && verdict.advice.length > 0),
  };
}

function jsonReport({ audited, notAudited }: AuditReport): string {
  const queries = audited.map(({ at, text, verdict, ...query }) => ({
    ...query,
    ...at,
    query: text,
    verdict: verdict.kind,
    ...(verdict.kind === 'answered' ? answeredJson(verdict) : { error: verdict.error }),
  }));
  const left = notAudited.map(({ query: { group, name, text }, reason }) => ({
    group,
    name,
    query: text,
    reason,
  }));
  const report = { version: 1, total: totalOf(audited), queries, notAudited: left };
  return `${JSON.stringify(report, undefined, 2)}\n`;
}

function answeredJson({ expr, cost, costText, reads, advice, uncounted }: AnsweredQuery): object {
  return {
    cost,
    costText,
    reads,
    ...(uncounted === undefined ? {} : { uncounted }),
    advice: advice.map(({ rule, text, example, rewritten }) => ({
      id: rule.id,
      text,
      ...(example === undefined ? {} : { example }),
      ...(rewritten === undefined
        ? {}
        : { before: printPlain(expr), after: printPlain(rewritten), answers: rule.answers }),
    })),
  };
}
