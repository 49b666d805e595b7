import { namesTexts, type ExplainedPart, type ExplainedRead, type QueryExplanation } from './explain.js';
import { costText, type ExplainedStrategy } from './strategies.js';

const verdicts = { exact: 'by the backend', superset: 'both', none: 'here' } as const;

export function printExplanation({ query, tree, reads, cost, costText, names }: QueryExplanation): string {
  const head = [`query   ${query}`, `tree    ${tree}`, `cost    ${cost}: ${costText}`];
  if (names !== 'unneeded') head.push(`names   ${namesTexts[names]}`);
  return `${[...head, ...reads.flatMap(printRead)].join('\n')}\n`;
}

function printRead({
  logql,
  logsql,
  parts,
  evaluatedHere,
  strategies = [],
}: ExplainedRead): readonly string[] {
  return [
    '',
    `read    ${logql}`,
    `logsql  ${logsql}`,
    ...parts.flatMap(printPart),
    `here    ${evaluatedHere.length === 0 ? 'nothing' : evaluatedHere.join(' ')}`,
    ...(strategies.length === 0 ? [] : ['tries', ...strategies.flatMap(printStrategy)]),
  ];
}

function printStrategy({ strategy, declined, cost, text }: ExplainedStrategy): readonly string[] {
  if (declined !== undefined) return [`  not ${strategy} (${declined}): ${text}`];
  return [`  ${strategy}: ${text}`, ...(cost === undefined ? [] : [`      ${costText(cost)}`])];
}

function printPart({ part, rule, verdict, reason }: ExplainedPart): readonly string[] {
  return [`  ${part}`, `      ${verdicts[verdict]} (${rule}): ${reason}`];
}
