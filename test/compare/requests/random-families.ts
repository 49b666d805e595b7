import type { Random } from '../../watch/random.js';
import type { Dataset } from '../data/dataset.js';
import { makeContext, selector, type Context } from './context.js';
import type { Maker } from './clients.js';
import { metric } from './metrics.js';
import { draft, instant, metricWindow, window, type Draft } from './parts.js';
import { stages } from './stages.js';

function logText(context: Context): string {
  return `${selector(context)}${stages(context, 6, 1)}`;
}

function logs(random: Random, data: Dataset): Draft {
  const context = makeContext(random, data);
  const params: Record<string, string> = { limit: String(random.pick([5000, 5000, 1000, 100, 10])) };
  if (random.chance(0.6)) params['direction'] = random.pick(['forward', 'backward', 'FORWARD']);
  if (random.chance(0.04)) params['interval'] = random.pick(['10s', '1m', '300']);
  if (random.chance(0.2)) params['step'] = random.pick(['60', '1m']);
  return draft(context, 'query_range', {
    query: { name: 'query', text: logText(context) },
    window: window(context, data),
    params,
    isCategorized: random.chance(0.4),
  });
}

function metricRange(random: Random, data: Dataset): Draft {
  const context = makeContext(random, data);
  const { window: chosen, step } = metricWindow(context, data);
  const text = metric(context, random.between(1, 4));
  return draft(context, 'query_range', {
    query: { name: 'query', text },
    window: chosen,
    params: random.chance(0.92) ? { step } : {},
  });
}

function metricInstant(random: Random, data: Dataset): Draft {
  const context = makeContext(random, data);
  const text = metric(context, random.between(0, 4));
  return draft(context, 'query', { query: { name: 'query', text }, atNs: instant(context, data) });
}

function format(random: Random, data: Dataset): Draft {
  const context = makeContext(random, data);
  const text = random.chance(0.5) ? logText(context) : metric(context, random.between(1, 4));
  return draft(context, 'format_query', { query: { name: 'query', text } });
}

const stray = [
  '|',
  '{',
  '}',
  '(',
  ')',
  '[',
  ']',
  '"',
  '`',
  ',',
  '=',
  '=~',
  '!',
  '|=',
  '|>',
  'by',
  'without',
  'offset',
  'unwrap',
  'bool',
  'on',
  '1',
  '5m',
  '"x"',
  '#',
  'sum',
  'json',
  'or',
  '-',
  '\\',
  '$',
] as const;

/** A query with one or more errors. */
function broken(random: Random, data: Dataset): Draft {
  const context = makeContext(random, data);
  let text = random.chance(0.5) ? logText(context) : metric(context, random.between(0, 2));
  for (let count = random.between(1, 2); count > 0; count -= 1) {
    const words = text.split(/(?<=\W)|(?=\W)/u);
    const at = random.below(words.length);
    const kind = random.below(3);
    text = [
      ...words.slice(0, at),
      ...(kind === 0 ? [] : [random.pick(stray)]),
      ...words.slice(kind === 2 ? at : at + 1),
    ].join('');
  }
  const path = random.pick(['query_range', 'query_range', 'query', 'format_query']);
  const times =
    path === 'format_query'
      ? {}
      : path === 'query'
        ? { atNs: data.endNs }
        : { window: { startNs: data.startNs, endNs: data.endNs, form: 'ns' as const } };
  return draft(context, path, {
    query: { name: 'query', text },
    ...times,
    params: path === 'query_range' ? { limit: '1000', step: '600' } : {},
  });
}

/** Any other question, sent for all tenants at once. */
function tenants(others: readonly Maker[]): Maker {
  return (random, data) => {
    const question = random.pick(others)(random, data);
    const names = data.tenants.map(({ tenant }) => tenant);
    const text = question.query?.text;
    if (text === undefined || !random.chance(0.3) || question.query?.name !== 'query')
      return { ...question, tenants: names };
    const matcher = random.pick([
      `__tenant_id__="${names[0] ?? ''}"`,
      '__tenant_id__=~".+"',
      `__tenant_id__!="${names[0] ?? ''}"`,
    ]);
    return {
      ...question,
      tenants: names,
      query: { name: 'query', text: text.replaceAll(/\{(?=\w+[=!]~?["`])/g, `{${matcher}, `) },
    };
  };
}

export const randomFamilies: Readonly<Record<string, Maker>> = {
  logs,
  metric: metricRange,
  instant: metricInstant,
  format,
  broken,
  tenants: tenants([logs, metricRange, metricInstant]),
};
