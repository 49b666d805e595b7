import type { Answered } from '../../core/comparison/answers.js';
import { asObject, canonical } from '../../core/comparison/json.js';
import { noneOf, outcomes, type Comparison, type FamilyCount, type Finding } from './comparison.js';
import type { PlacedEntry } from './lines.js';
import { caseOf } from './question.js';

const columns = [
  'asked',
  'with data',
  'equal',
  'unsteady',
  'storage',
  'not kept',
  'listed',
  'different',
  'share',
] as const;
const mostLines = 4;
const mostCharacters = 600;

/** The table by family, with a total line. */
export function tableOf({ families }: Comparison): string {
  const rows = [...families]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([family, count]) => [family, ...cells(count)]);
  const total = [...families.values()].reduce<FamilyCount>(sum, noneOf());
  return [['', ...columns], ...rows, ['all', ...cells(total)]]
    .map(
      ([first = '', ...others]) => `${first.padEnd(18)}${others.map((cell) => cell.padStart(10)).join('')}`,
    )
    .join('\n');
}

/** The share counts only judged outcomes: a listed difference is judged as a different response; the other outcomes are excluded. */
function cells({ asked, withData, outcomes: counts }: FamilyCount): readonly string[] {
  const judged = counts.equal + counts.listed + counts.different;
  const share = judged === 0 ? '' : `${((100 * counts.equal) / judged).toFixed(2)} %`;
  return [asked, withData, ...outcomes.map((outcome) => counts[outcome])].map(String).concat(share);
}

function sum(a: FamilyCount, b: FamilyCount): FamilyCount {
  const total = { ...noneOf(), asked: a.asked + b.asked, withData: a.withData + b.withData };
  for (const outcome of outcomes) total.outcomes[outcome] = a.outcomes[outcome] + b.outcomes[outcome];
  return total;
}

/** A finding as readable text. */
export function textOf(finding: Finding): string {
  const { question, difference, lines, signature, outcome, reason } = finding;
  const { path, params, headers, method } = caseOf(question);
  const { query, 'match[]': match, ...others } = params;
  return [
    `${outcome.toUpperCase()}${reason === '' ? '' : ` (${reason})`}: ${signature}`,
    `  ${method} ${path} ${JSON.stringify(others)} ${JSON.stringify(headers)}`,
    ...(query === undefined && match === undefined ? [] : [`  query ${String(query ?? match)}`]),
    `  ${cut(difference.text)}`,
    `  W ${cut(bodyOf(difference.wanted))}`,
    `  G ${cut(bodyOf(difference.got))}`,
    ...lines.slice(0, mostLines).map((line) => `  ${placed(line)}`),
    ...(lines.length > mostLines ? [`  and ${lines.length - mostLines} more lines`] : []),
    `  first seen as ${finding.original.id} (${finding.original.family}): ${cut(finding.original.query?.text ?? '')}`,
  ].join('\n');
}

/** A body without its statistics. */
function bodyOf({ body }: Answered): string {
  if (typeof body === 'string') return body;
  const answer = asObject(body);
  const { stats, ...data } = asObject(answer['data']);
  return canonical(stats === undefined ? body : { ...answer, data });
}

function placed({ stream, entry }: PlacedEntry): string {
  const metadata = Object.keys(entry.metadata).length === 0 ? '' : ` ${JSON.stringify(entry.metadata)}`;
  return `${JSON.stringify(stream.labels)}${metadata} ${entry.ns} ${cut(JSON.stringify(entry.line))}`;
}

function cut(text: string): string {
  return text.length <= mostCharacters ? text : `${text.slice(0, mostCharacters)}… (${text.length})`;
}

/** The full result as JSON. */
export function jsonOf({ families, findings }: Comparison): string {
  return JSON.stringify(
    {
      families: Object.fromEntries(families),
      findings: [...findings.values()]
        .sort((a, b) => b.count - a.count)
        .map((finding) => ({
          signature: finding.signature,
          outcome: finding.outcome,
          reason: finding.reason,
          count: finding.count,
          families: Object.fromEntries(finding.families),
          request: caseOf(finding.question),
          difference: finding.difference.text,
          loki: finding.difference.wanted,
          proxy: finding.difference.got,
          lines: finding.lines.slice(0, 20).map(({ stream, entry }) => ({
            labels: stream.labels,
            ns: String(entry.ns),
            line: entry.line,
            metadata: entry.metadata,
          })),
          first: caseOf(finding.original),
        })),
    },
    undefined,
    1,
  );
}
