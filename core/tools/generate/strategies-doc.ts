import { declineReasons, endTexts, weights } from '../../engine/metric/cost.js';
import { strategies } from '../../engine/metric/strategies.js';

const head = `# Strategies of metric queries

For operators who tune queries, and for contributors. Generated from core/engine/metric by \`npm run generate\`; do not edit.

The proxy reads each range aggregation of a metric query from the backend with one of these strategies: the one with the lowest known cost.
Strategies of unknown cost are tried in the order of this table, which starts with those that transfer the least data. All of them give the same series.

| Strategy | What it does |
|---|---|
`;

const costs = `
## Costs

The proxy estimates a cost from facts that earlier queries have learned, without a call to VictoriaLogs. The cost is the sum of these parts, and is
unknown while one of them is unknown:

| Part | Milliseconds | Source |
|---|---|---|
| calls to VictoriaLogs | \`${weights.call}\` each | three: the listing, the check of new rows, and the count or the rows; more if nothing is known about the selection, or if many rows are read |
| rows that VictoriaLogs reads | \`${weights.scannedRow}\` each | the number of selected rows in an earlier query, or in a log query of the last minute |
| lines that it parses, for labels of a parser | \`${weights.splitting}\`, and \`${weights.splitRow}\` each | the plan |
| new rows, which no query has checked yet | \`${weights.proofRow}\` each | the ranges of earlier queries |
| rows or groups that it sends | \`${weights.sentRow}\` each | the size of the last result of the strategy for such a query, scaled to the current number of intervals or rows; all rows if there is no filter |
| bytes that it sends | \`${weights.sentByte}\` each | the same, or the length of a sample of lines |

The proxy skips a strategy that is impossible according to the plan, or that failed in the last ten minutes. If a strategy turns out to be
impossible, the next one is tried. If there are many more rows than estimated, the estimate is repeated.

So a count or a quantile of labels of a parser over fewer than about 3,000 rows is read as rows: VictoriaLogs needs more time to parse the lines than to
send them ([measurements](internals/measurements.md#few-lines-of-json)).

\`ref-proxy explain 'QUERY'\` prints the possible strategies of each range aggregation, with their costs as far as they are known without a call to the
backend, and why the others are excluded. With \`-run\` it prints the estimate and the actual cost of each attempt, and with \`-run -again\` the same for a
second run, whose estimates are better.
`;

const outcomes = `
## Outcomes

The label \`outcome\` of \`ref_proxy_metric_strategies_total\`. \`ref-proxy explain -run 'QUERY'\` prints the outcomes of each range aggregation, with calls,
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
