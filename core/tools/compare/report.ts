import { addTo, keysOfTable } from '../../base/order.js';
import { escapedXml } from '../pipeline-test/junit.js';
import type { Counts, ReportedRequest, Summary } from './summary.js';

const printers = { text: textReport, json: jsonReport, junit: junitReport, html: htmlReport };
export type ReportForm = keyof typeof printers;
export const reportForms = keysOfTable(printers);

export function printSummary(summary: Summary, form: ReportForm): string {
  return printers[form](summary);
}

function isFinding({ outcome }: ReportedRequest): boolean {
  return outcome === 'different' || outcome === 'failed';
}

function textReport(summary: Summary): string {
  const lines: string[] = [];
  for (const request of summary.requests.filter(isFinding)) lines.push(...textOf(request), '');
  for (const { query, reason } of summary.notAsked)
    lines.push(`not asked  ${query.group}: ${query.name}: ${reason}`);
  if (summary.notAsked.length > 0) lines.push('');
  const width = Math.max(5, ...[...summary.groups.keys()].map((name) => name.length));
  lines.push(`${''.padEnd(width)} ${columns.map(([, title]) => `  ${title}`).join('')}`);
  for (const [name, counts] of summary.groups) lines.push(countsLine(name.padEnd(width), counts));
  lines.push(countsLine('all'.padEnd(width), summary.total));
  const { reference, candidate } = summary.medians;
  lines.push('', `median time of an answer: reference ${reference} ms, candidate ${candidate} ms`, '');
  return lines.join('\n');
}

function textOf({
  group,
  name,
  text,
  outcome,
  reason,
  known,
  reference,
  candidate,
}: ReportedRequest): readonly string[] {
  const first = `${outcome}  ${group}: ${name}: ${reason ?? ''}`;
  const side = (label: string, value: string | undefined): readonly string[] =>
    value === undefined ? [] : [`  ${label}  ${value.split('\n', 1)[0] ?? ''}`];
  return [
    first,
    `  query      ${text.replaceAll('\n', ' ')}`,
    ...side('reference', reference),
    ...side('candidate', candidate),
    ...(known === undefined ? [] : [`  known      docs/differences.md: ${known}`]),
  ];
}

/** The columns of the tables of counts. */
const columns: readonly (readonly [count: keyof Counts, title: string])[] = [
  ['equal', 'equal'],
  ['empty', '(empty)'],
  ['different', 'different'],
  ['unsteady', 'unsteady'],
  ['failed', 'failed'],
  ['notAsked', 'not asked'],
];

function countsLine(name: string, counts: Readonly<Counts>): string {
  const cells = columns.map(([count, title]) => String(counts[count]).padStart(title.length + 2));
  return `${name} ${cells.join('')}`;
}

function jsonReport(summary: Summary): string {
  const { total, medians, requests, notAsked } = summary;
  const groups = Object.fromEntries(summary.groups);
  const unasked = notAsked.map(({ query: { group, name, text }, reason }) => ({ group, name, text, reason }));
  return `${JSON.stringify({ total, groups, medianMs: medians, requests, notAsked: unasked }, undefined, 1)}\n`;
}

function junitReport(summary: Summary): string {
  const requests = byGroup(summary.requests, ({ group }) => group);
  const notAsked = byGroup(summary.notAsked, ({ query }) => query.group);
  const suites = [...summary.groups].map(([group, counts]) => {
    const own = requests.get(group) ?? [];
    const skipped = notAsked.get(group) ?? [];
    const cases = own.map((request) => {
      const seconds = ((request.candidateMs ?? 0) / 1000).toFixed(3);
      const attributes = `name="${escapedXml(request.name)}" classname="${escapedXml(group)}" time="${seconds}"`;
      if (request.outcome === 'unsteady')
        return `    <testcase ${attributes}><skipped message="the reference is unsteady"/></testcase>\n`;
      if (!isFinding(request)) return `    <testcase ${attributes}/>\n`;
      const text = escapedXml(textOf(request).join('\n'));
      return `    <testcase ${attributes}><failure message="${escapedXml(request.reason ?? '')}">${text}</failure></testcase>\n`;
    });
    const unasked = skipped.map(
      ({ query, reason }) =>
        `    <testcase name="${escapedXml(query.name)}" classname="${escapedXml(group)}"><skipped message="${escapedXml(reason)}"/></testcase>\n`,
    );
    const failures = counts.different + counts.failed;
    const tests = own.length + skipped.length;
    return `  <testsuite name="${escapedXml(group)}" tests="${tests}" failures="${failures}" skipped="${counts.unsteady + counts.notAsked}">\n${cases.join('')}${unasked.join('')}  </testsuite>\n`;
  });
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n${suites.join('')}</testsuites>\n`;
}

function byGroup<Item>(
  items: readonly Item[],
  groupOf: (item: Item) => string,
): ReadonlyMap<string, readonly Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) addTo(groups, groupOf(item), item);
  return groups;
}

const style = `
:root{color-scheme:light dark;--line:#8884;--bad:#c62828;--good:#2e7d32;--dim:#777}
@media(prefers-color-scheme:dark){:root{--bad:#ff8a80;--good:#81c784;--dim:#aaa}}
body{font:14px/1.5 system-ui,sans-serif;max-width:1200px;margin:2rem auto;padding:0 1rem}
table{border-collapse:collapse;width:100%}th,td{text-align:left;padding:.3rem .6rem;border-bottom:1px solid var(--line)}
td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}
.different,.failed{color:var(--bad);font-weight:600}.equal{color:var(--good)}.unsteady,.dim{color:var(--dim)}
pre{white-space:pre-wrap;overflow-wrap:anywhere;background:#8881;padding:.6rem;margin:.3rem 0;max-height:24rem;overflow:auto}
.sides{display:grid;grid-template-columns:1fr 1fr;gap:1rem}@media(max-width:700px){.sides{grid-template-columns:1fr}}
details{border-bottom:1px solid var(--line);padding:.4rem 0}summary{cursor:pointer}
`;

/** A single page without scripts and without anything loaded from a network. */
function htmlReport(summary: Summary): string {
  const { total, medians } = summary;
  const rows = [...summary.groups].map(([name, counts]) => htmlRow(name, counts)).join('');
  const findings = summary.requests
    .filter(({ outcome }) => outcome !== 'equal')
    .map(htmlFinding)
    .join('');
  const notAsked = summary.notAsked
    .map(({ query, reason }) => `<li>${escapedXml(`${query.group}: ${query.name}: ${reason}`)}</li>`)
    .join('');
  const slowest = summary.requests
    .toSorted((a, b) => (b.candidateMs ?? 0) - (a.candidateMs ?? 0))
    .slice(0, 50)
    .map(htmlTimes)
    .join('');
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Comparison of two Loki APIs</title><style>${style}</style></head>
<body><h1>Comparison of two Loki APIs</h1>
<p><b class="equal">${total.equal} equal</b> (${total.empty} of them empty), <b class="${total.different === 0 ? 'equal' : 'different'}">${total.different} different</b>, ${total.unsteady} unsteady, ${total.failed} failed, ${total.notAsked} not asked. Median time of an answer: reference ${medians.reference} ms, candidate ${medians.candidate} ms.</p>
<h2>By dashboard, rule group and file</h2>
<table><tr><th>Group</th>${columns.map(([, title]) => `<th class="n">${title}</th>`).join('')}</tr>${rows}</table>
<h2>Differences</h2>
${findings === '' ? '<p>None.</p>' : findings}
${notAsked === '' ? '' : `<h2>Not asked</h2><ul>${notAsked}</ul>`}
<h2>Times</h2>
<table><tr><th>Query</th><th class="n">Reference</th><th class="n">Candidate</th></tr>${slowest}</table>
</body></html>
`;
}

function htmlRow(name: string, counts: Readonly<Counts>): string {
  const cells = columns.map(([count]) => `<td class="n">${counts[count]}</td>`);
  return `<tr><td>${escapedXml(name)}</td>${cells.join('')}</tr>`;
}

function htmlFinding({
  group,
  name,
  text,
  outcome,
  reason,
  known,
  reference,
  candidate,
}: ReportedRequest): string {
  const sides =
    reference === undefined
      ? ''
      : `<div class="sides"><div>Reference<pre>${escapedXml(reference)}</pre></div><div>Candidate<pre>${escapedXml(candidate ?? '')}</pre></div></div>`;
  const why =
    known === undefined ? '' : `<p>Known difference, see docs/differences.md: ${escapedXml(known)}</p>`;
  return `<details><summary><span class="${outcome}">${outcome}</span> ${escapedXml(`${group}: ${name}`)} <span class="dim">${escapedXml(reason ?? '')}</span></summary><pre>${escapedXml(text)}</pre>${why}${sides}</details>`;
}

function htmlTimes({ group, name, referenceMs, candidateMs }: ReportedRequest): string {
  const cell = (ms: number | undefined): string => `<td class="n">${ms === undefined ? '' : `${ms} ms`}</td>`;
  return `<tr><td>${escapedXml(`${group}: ${name}`)}</td>${cell(referenceMs)}${cell(candidateMs)}</tr>`;
}
