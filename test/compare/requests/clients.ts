import type { Dataset } from '../data/dataset.js';
import { shownName } from '../data/view.js';
import { aLabel, aWord, labelOfAny, makeContext, quoted, selector, type Context } from './context.js';
import { draft, metricWindow, window, type Draft } from './parts.js';
import { lineFilter, parser, stages } from './stages.js';
import { range, grouping } from './metrics.js';
import type { Random } from '../../watch/random.js';

/** Generates a question of a family. */
export type Maker = (random: Random, data: Dataset) => Draft;

function asked(
  context: Context,
  data: Dataset,
  path: string,
  text: string,
  params: Readonly<Record<string, string>> = {},
): Draft {
  return draft(context, path, { query: { name: 'query', text }, window: window(context, data), params });
}

const logParams = { limit: '1000', direction: 'backward' } as const;

function explore(random: Random, data: Dataset): Draft {
  const context = makeContext(random, data);
  const search = random.chance(0.5) ? ` |= ${quoted(random, aWord(context))}` : '';
  const parsed = random.chance(0.5)
    ? ` ${parser(context)}${random.chance(0.4) ? ' | __error__=``' : ''}`
    : '';
  return {
    ...asked(context, data, 'query_range', `${selector(context)}${search}${parsed}`, {
      ...logParams,
      step: '30',
    }),
    isCategorized: random.chance(0.7),
  };
}

function exploreVolume(random: Random, data: Dataset): Draft {
  const context = makeContext(random, data);
  const search = random.chance(0.6) ? ` ${lineFilter(context)}` : '';
  const { window: chosen, step } = metricWindow(context, data);
  const interval = random.pick(['1m', '5m', '30s', '10s']);
  return draft(context, 'query_range', {
    query: {
      name: 'query',
      text: `sum by (level, detected_level) (count_over_time(${selector(context)}${search} | drop __error__[${interval}]))`,
    },
    window: chosen,
    params: { step },
  });
}

function exploreContext(random: Random, data: Dataset): Draft {
  const context = makeContext(random, data);
  const labels = Object.entries(context.stream.labels).map(
    ([name, value]) => `${name}=${quoted(random, value)}`,
  );
  const isForward = random.chance(0.5);
  const hour = 3_600_000_000_000n;
  const { ns } = context.entry;
  return draft(context, 'query_range', {
    query: { name: 'query', text: `{${labels.join(',')}}` },
    window: isForward
      ? { startNs: ns, endNs: ns + hour, form: 'ns' }
      : { startNs: ns - hour, endNs: ns + 1n, form: 'ns' },
    params: { limit: String(random.pick([5, 10, 100])), direction: isForward ? 'FORWARD' : 'BACKWARD' },
    isCategorized: true,
  });
}

function dashboard(random: Random, data: Dataset): Draft {
  const context = makeContext(random, data);
  const { window: chosen, step } = metricWindow(context, data);
  const ranged = range(context);
  const by = grouping(context);
  const text = random.pick([
    `sum ${by} (${ranged})`,
    `topk(5, sum ${by} (${ranged}))`,
    ranged,
    `sum(${ranged}) / 60`,
    `sum ${by} (${ranged}) > 0`,
    `sum(${ranged}) or vector(0)`,
  ]);
  return draft(context, 'query_range', { query: { name: 'query', text }, window: chosen, params: { step } });
}

function drilldown(random: Random, data: Dataset): Draft {
  const context = makeContext(random, data);
  const label = aLabel(context);
  const name = random.pick(['detected_level', label]);
  const tail = random.pick([
    '',
    ' | json | logfmt | drop __error__, __error_details__',
    ' | logfmt | drop __error__',
    ` | ${name}!=""`,
    ` | detected_level=~"info|error"`,
    ' | json | drop __error__, __error_details__',
  ]);
  if (random.chance(0.4))
    return {
      ...asked(context, data, 'query_range', `${selector(context)}${tail}`, logParams),
      isCategorized: true,
    };
  const { window: chosen, step } = metricWindow(context, data);
  return draft(context, 'query_range', {
    query: {
      name: 'query',
      text: `sum by (${name}) (count_over_time(${selector(context)}${tail} | ${name}!=\`\` [${random.pick(['1m', '2m', '10m'])}]))`,
    },
    window: chosen,
    params: { step },
  });
}

function logcli(random: Random, data: Dataset): Draft {
  const context = makeContext(random, data);
  const text = `${selector(context)}${stages(context, 2)}`;
  return asked(context, data, 'query_range', text, {
    limit: String(random.pick([30, 100, 5000])),
    direction: random.pick(['BACKWARD', 'FORWARD']),
  });
}

function labelsOf(random: Random, data: Dataset): Draft {
  const context = makeContext(random, data);
  const query = random.chance(0.4) ? { query: { name: 'query', text: selector(context) } } : {};
  return draft(context, random.pick(['labels', 'label']), { ...query, window: window(context, data) });
}

function labelValues(random: Random, data: Dataset): Draft {
  const context = makeContext(random, data);
  const name = random.chance(0.85)
    ? random.pick([...Object.keys(context.stream.labels), 'service_name', labelOfAny(context)])
    : aLabel(context);
  const query = random.chance(0.4) ? { query: { name: 'query', text: selector(context) } } : {};
  return draft(context, `label/${encodeURIComponent(name)}/values`, {
    ...query,
    window: window(context, data),
  });
}

function series(random: Random, data: Dataset): Draft {
  const context = makeContext(random, data);
  return draft(context, 'series', {
    query: { name: 'match[]', text: selector(context) },
    window: { startNs: data.startNs, endNs: data.endNs, form: random.pick(['ns', 's', 'rfc3339'] as const) },
  });
}

function stats(random: Random, data: Dataset): Draft {
  const context = makeContext(random, data);
  return draft(context, 'index/stats', {
    query: { name: 'query', text: selector(context) },
    window: { startNs: data.startNs, endNs: data.endNs, form: 'ns' },
  });
}

function volumeParams(context: Context): Record<string, string> {
  const { random, stream } = context;
  const params: Record<string, string> = {};
  if (random.chance(0.5)) params['limit'] = String(random.pick([1, 5, 100]));
  if (random.chance(0.5))
    params['targetLabels'] = random
      .several(
        2,
        () => (random.chance(0.8) ? random.pick(Object.keys(stream.labels)) : labelOfAny(context)),
        1,
      )
      .join(',');
  if (random.chance(0.3)) params['aggregateBy'] = random.pick(['labels', 'series']);
  return params;
}

function volume(random: Random, data: Dataset): Draft {
  const context = makeContext(random, data);
  return draft(context, 'index/volume', {
    query: { name: 'query', text: selector(context) },
    window: { startNs: data.startNs, endNs: data.endNs, form: 'ns' },
    params: volumeParams(context),
  });
}

function volumeRange(random: Random, data: Dataset): Draft {
  const context = makeContext(random, data);
  return draft(context, 'index/volume_range', {
    query: { name: 'query', text: selector(context) },
    window: { startNs: data.startNs, endNs: data.endNs, form: 'ns' },
    params: { ...volumeParams(context), step: random.pick(['60s', '600s', '3600s']) },
  });
}

function detectedLabels(random: Random, data: Dataset): Draft {
  const context = makeContext(random, data);
  const query = random.chance(0.8) ? { query: { name: 'query', text: selector(context) } } : {};
  return draft(context, 'detected_labels', {
    ...query,
    window: { startNs: data.startNs, endNs: data.endNs, form: 'ns' },
  });
}

function detectedQuery(context: Context): string {
  const { random } = context;
  return `${selector(context)}${random.chance(0.4) ? ` ${random.pick([lineFilter, parser])(context)}` : ''}`;
}

function detectedFields(random: Random, data: Dataset): Draft {
  const context = makeContext(random, data);
  return asked(context, data, 'detected_fields', detectedQuery(context), {
    limit: '1000',
    ...(random.chance(0.3) ? { line_limit: '50' } : { line_limit: '5000' }),
  });
}

function detectedValues(random: Random, data: Dataset): Draft {
  const context = makeContext(random, data);
  const text = detectedQuery(context);
  const names = [
    ...context.facts.fields.keys(),
    ...Object.keys(context.entry.metadata).map(shownName),
  ].filter((name) => /^\w+$/.test(name));
  const name = names.length > 0 && random.chance(0.9) ? random.pick(names) : 'detected_level';
  return asked(context, data, `detected_field/${name}/values`, text, { limit: '1000', line_limit: '5000' });
}

function patterns(random: Random, data: Dataset): Draft {
  const context = makeContext(random, data);
  return draft(context, 'patterns', {
    query: { name: 'query', text: selector(context) },
    window: { startNs: data.startNs, endNs: data.endNs, form: 'ns' },
    params: { step: random.pick(['10s', '60s', '300s']) },
  });
}

/** Requests of Grafana, its apps and logcli. */
export const clientFamilies: Readonly<Record<string, Maker>> = {
  explore,
  'explore-volume': exploreVolume,
  'explore-context': exploreContext,
  dashboard,
  drilldown,
  logcli,
  labels: labelsOf,
  'label-values': labelValues,
  series,
  stats,
  volume,
  'volume-range': volumeRange,
  'detected-labels': detectedLabels,
  'detected-fields': detectedFields,
  'detected-values': detectedValues,
  patterns,
};
