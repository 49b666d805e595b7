import type { Feature } from './feature.js';

const [begin, end] = [
  '<!-- table of test/clients: begin -->',
  '<!-- table of test/clients: end -->',
] as const;

/** The text of docs/clients.md with the table of these features inserted. */
export function writeTable(text: string, features: readonly Feature[]): string {
  const [before, rest] = text.split(begin);
  const after = rest?.split(end)[1];
  if (before === undefined || after === undefined)
    throw new Error(`docs/clients.md has no place for the table: ${begin}`);
  return `${before}${begin}\n\n${tableOf(features)}\n\n${end}${after}`;
}

function tableOf(features: readonly Feature[]): string {
  const clients = [...new Set(features.map(({ client }) => client))];
  const counts = clients.map((client) => {
    const own = features.filter((feature) => feature.client === client);
    return countRow(client, own);
  });
  const rows = features.map(({ client, feature, sends }) => {
    const requests = sends.map((name) => `\`${name}\``).join(', ');
    return `| ${client} | ${cell(feature)} | ${requests} |`;
  });
  return [
    '| client | features | of which also pass on Loki |',
    '| --- | --- | --- |',
    ...counts,
    countRow('all', features),
    '',
    '| client | feature | requests |',
    '| --- | --- | --- |',
    ...rows,
  ].join('\n');
}

function countRow(client: string, features: readonly Feature[]): string {
  const onLoki = features.filter(({ notOnLoki }) => notOnLoki === undefined);
  return `| ${client} | ${features.length} | ${onLoki.length} |`;
}

function cell(text: string): string {
  return text.replace(/\|/g, '\\|').replace(/[<>]/g, (sign) => (sign === '<' ? '&lt;' : '&gt;'));
}
