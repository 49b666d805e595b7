import { declineReasons, endTexts } from '../engine/metric/declined.js';
import { strategies } from '../engine/metric/strategies.js';

const head = `# How metric queries are read

Generated from core/engine/metric by \`npm run generate\`; do not edit.

Each range aggregation of a metric query is read from the backend by the first of these strategies that can. All of them give the same
series; what moves least is tried first.

| Strategy | What it does |
|---|---|
`;

const outcomes = `
## Outcomes

The label \`outcome\` of \`ref_proxy_metric_strategies_total\`. \`ref-proxy explain --run 'QUERY'\` runs a query and tells them for each range
aggregation, with calls, rows, bytes and time; the request log has them at debug level in \`proxy.strategies_by_type\`.

| Outcome | Meaning |
|---|---|
`;

/** docs/strategies.md: the strategies in order, and why one leaves a range aggregation to the next. */
export function generateStrategiesDoc(): string {
  const tried = strategies.map(({ name, summary }) => row(name, summary));
  const declined = Object.entries({ ...endTexts, ...declineReasons }).map(([reason, sentence]) =>
    row(reason, sentence),
  );
  return head + tried.join('') + outcomes + declined.join('');
}

function row(name: string, text: string): string {
  return `| \`${name}\` | ${text.replaceAll('|', '\\|')} |\n`;
}
