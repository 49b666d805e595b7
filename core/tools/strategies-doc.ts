import { weights } from '../engine/metric/cost.js';
import { declineReasons, endTexts } from '../engine/metric/declined.js';
import { strategies } from '../engine/metric/strategies.js';

const head = `# Strategies of metric queries

Generated from core/engine/metric by \`npm run generate\`; do not edit.

Each range aggregation of a metric query is read from the backend by one of these strategies: the one that costs least, as far as their costs
are known. Strategies of unknown cost are tried in the order of this table, which begins with those that move least. All of them give the same series.

| Strategy | What it does |
|---|---|
`;

const costs = `
## Costs

A cost is estimated from what earlier queries have learned; VictoriaLogs is not asked for it. It is the sum of these parts, and not known while one
of them is not:

| Part | Milliseconds | Where it comes from |
|---|---|---|
| calls of VictoriaLogs | \`${weights.call}\` each | three for the listing, the look at rows that are new, and the count or the rows; more where nothing is known of the selection, or many rows are read |
| rows that VictoriaLogs reads | \`${weights.scannedRow}\` each | the number of rows of the selection in an earlier query, or in a log query of the last minute |
| lines that it takes apart, for labels of \`\\| json\` | \`${weights.splitting}\`, and \`${weights.splitRow}\` each | the plan |
| new rows, at which no query has looked yet | \`${weights.proofRow}\` each | the ranges of earlier queries |
| rows or groups that it sends | \`${weights.sentRow}\` each | what the strategy was sent for such a query the last time, for as many intervals or rows as there are now; all rows where there is no filter |
| bytes that it sends | \`${weights.sentByte}\` each | the same, or the length of a sample of lines |

A strategy that is known to be impossible, from the plan or because it has failed in the last ten minutes, is left out. One that turns out to be
impossible leaves the range aggregation to the next one. Where there are many more rows than the estimate was made of, it is made again.

So a count or a quantile of labels of \`| json\` over fewer than some 3,000 rows is read as rows: to take lines apart costs VictoriaLogs more than to
send them ([performance.md](performance.md#few-lines-of-json)).

\`ref-proxy explain 'QUERY'\` prints the strategies that may read each range aggregation, with what is known of their costs without a look at the
backend, and why the others are out. With \`-run\` it prints for each attempt what was estimated and what it took, and with \`-run -again\` the same of a second
run, of which more is known.
`;

const outcomes = `
## Outcomes

The label \`outcome\` of \`ref_proxy_metric_strategies_total\`. \`ref-proxy explain -run 'QUERY'\` prints them for each range aggregation, with calls,
rows, bytes and time; the request log has them at debug level in \`proxy.strategies_by_type\`.

| Outcome | Meaning |
|---|---|
`;

/** docs/strategies.md: the strategies in order, their costs, and the reasons for which one leaves a range aggregation to the next. */
export function generateStrategiesDoc(): string {
  const tried = strategies.map(({ name, summary }) => row(name, summary));
  const declined = Object.entries({ ...endTexts, ...declineReasons }).map(([reason, sentence]) =>
    row(reason, sentence),
  );
  return head + tried.join('') + costs + outcomes + declined.join('');
}

function row(name: string, text: string): string {
  return `| \`${name}\` | ${text.replaceAll('|', '\\|')} |\n`;
}
