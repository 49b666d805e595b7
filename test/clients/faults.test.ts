/** Verifies the suite itself: each fault must fail the features that depend on the broken behavior. */
import test from 'ava';
import { features } from './features.js';
import type { Reply } from './http.js';
import { Stage } from './stage.js';

let stage: Stage | undefined;

test.before(async () => {
  stage = await Stage.open();
});

test.after.always(async () => {
  await stage?.close();
});

interface Fault {
  readonly name: string;
  /** Name prefixes of the features that must fail. */
  readonly noticedBy: readonly string[];
  readonly change: (reply: Reply) => Reply;
}

/** Changes the text of a response. */
function rewrite(change: (text: string) => string): Fault['change'] {
  return (reply) => ({ ...reply, text: change(reply.text) });
}

/** Changes JSON responses; leaves others unchanged. */
function rewriteJson(change: (key: string, value: unknown) => unknown): Fault['change'] {
  return rewrite((text) => {
    try {
      return JSON.stringify(JSON.parse(text, change));
    } catch {
      return text;
    }
  });
}

const isTuple = (value: unknown): value is readonly unknown[] =>
  Array.isArray(value) && typeof value[0] === 'string' && /^\d{19}$/.test(value[0]);
const isPoint = (value: unknown): value is readonly [number, string] =>
  Array.isArray(value) && value.length === 2 && typeof value[0] === 'number' && typeof value[1] === 'string';

function fieldsOf(value: unknown): Record<string, unknown> | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined;
}

const faults: readonly Fault[] = [
  {
    name: 'flags after the result',
    noticedBy: ['logs panel: newest', 'logs tab: both'],
    change: rewriteJson((key, value) => {
      const { encodingFlags, ...others } = fieldsOf(value) ?? {};
      return key === 'data' && encodingFlags !== undefined ? { ...others, encodingFlags } : value;
    }),
  },
  {
    name: 'the type after the result',
    noticedBy: ['Save & test', 'time series panel', 'an alert rule'],
    change: rewriteJson((key, value) => {
      const { resultType, ...others } = fieldsOf(value) ?? {};
      return key === 'data' && resultType !== undefined ? { ...others, resultType } : value;
    }),
  },
  {
    name: 'statistics before the result',
    noticedBy: ['query statistics, as the', 'query --stats: all'],
    change: rewriteJson((key, value) => {
      const { stats, ...others } = fieldsOf(value) ?? {};
      return key === 'data' && stats !== undefined ? { stats, ...others } : value;
    }),
  },
  {
    name: 'two items where three were asked for',
    noticedBy: ['logs panel: newest', 'entries have three items', 'log context: lines'],
    change: rewriteJson((_key, value) => (isTuple(value) ? value.slice(0, 2) : value)),
  },
  {
    name: 'parsed labels in the group of the metadata',
    noticedBy: ['parsed labels have the', "filter by a label's value"],
    change: rewriteJson((_key, value) => {
      const { parsed, structuredMetadata, ...others } = fieldsOf(value) ?? {};
      if (parsed === undefined) return value;
      return { ...others, structuredMetadata: { ...fieldsOf(structuredMetadata), ...fieldsOf(parsed) } };
    }),
  },
  {
    name: 'values of series as numbers',
    noticedBy: ['Save & test', 'log volume histogram', 'instant-query', 'metric test: a'],
    change: rewriteJson((_key, value) => (isPoint(value) ? [value[0], Number(value[1])] : value)),
  },
  {
    name: 'times of points in milliseconds',
    noticedBy: ['Save & test', 'time series panel', 'a metric query over more than a day'],
    change: rewriteJson((_key, value) => (isPoint(value) ? [value[0] * 1000, value[1]] : value)),
  },
  {
    name: 'one value too high',
    noticedBy: [
      'counts over the whole time range',
      'an alert rule: an instant',
      'metric test: a',
      'log volume histogram',
    ],
    change: rewriteJson((_key, value) => (isPoint(value) ? [value[0], String(Number(value[1]) + 1)] : value)),
  },
  {
    name: 'the oldest line is missing',
    noticedBy: ['logs panel: newest', 'query: pages backward', 'level filter works', 'log context: lines'],
    change: rewriteJson((key, value) =>
      key === 'values' && Array.isArray(value) ? value.slice(0, -1) : value,
    ),
  },
  {
    name: 'lines without their signs',
    noticedBy: ['special characters in lines arrive', 'derived fields and'],
    change: rewriteJson((_key, value) =>
      isTuple(value) ? [value[0], String(value[1]).replace(/["\\]/g, ''), ...value.slice(2)] : value,
    ),
  },
  {
    name: 'names in another order',
    noticedBy: ['label browser: sorted', 'label_names() and ad', 'labels, and labels'],
    change: rewriteJson((key, value) =>
      key === 'data' && Array.isArray(value) && typeof value[0] === 'string'
        ? value.slice().reverse()
        : value,
    ),
  },
  {
    name: 'a label of lines among those of streams',
    noticedBy: ['label browser: sorted', 'parsed labels and structured metadata are'],
    change: rewriteJson((key, value) =>
      key === 'data' && Array.isArray(value) && value.includes('cluster')
        ? ['detected_level', ...(value as unknown[])]
        : value,
    ),
  },
  {
    name: 'null where there is nothing',
    noticedBy: ['empty answers are valid', 'empty answers have', 'no patterns: an'],
    change: rewriteJson((_key, value) => (Array.isArray(value) && value.length === 0 ? null : value)),
  },
  {
    name: 'errors without the field that Grafana shows',
    noticedBy: [
      "errors have Loki's text",
      'invalid limits are refused',
      'the same failure in a metric query',
    ],
    change: rewriteJson((_key, value) => {
      const { message, ...others } = fieldsOf(value) ?? {};
      return message === undefined ? value : others;
    }),
  },
  {
    name: 'no notice of what was left out',
    noticedBy: ['too many series', "Drilldown's tag is recognized"],
    change: rewriteJson((_key, value) => {
      const { warnings, ...others } = fieldsOf(value) ?? {};
      return warnings === undefined ? value : others;
    }),
  },
  {
    name: 'a list without parsers for metadata',
    noticedBy: ['fields tab', 'fields of JSON lines'],
    change: rewriteJson((key, value) => (key === 'parsers' && value === null ? [] : value)),
  },
  {
    name: 'no path of JSON fields',
    noticedBy: ['fields of JSON lines'],
    change: rewriteJson((key, value) => (key === 'jsonPath' ? undefined : value)),
  },
  {
    name: 'volumes from small to big',
    noticedBy: ['services: volume by service'],
    change: rewriteJson((key, value) =>
      key === 'result' && Array.isArray(value) ? value.slice().reverse() : value,
    ),
  },
  {
    name: 'a rules probe that fails in words of its own',
    noticedBy: ["Grafana's probe test/test"],
    change: rewrite((text) => text.replace('page not found', 'no such group')),
  },
  {
    name: 'the server fails',
    noticedBy: [
      'Save & test',
      'label_values(cluster)',
      'startup',
      'build information',
      'tail and query loop',
    ],
    change: (reply) => ({ ...reply, status: 500, text: '{"status":"error","message":"internal error"}' }),
  },
];

for (const { name, noticedBy, change } of faults) {
  test.serial(`noticed: ${name}`, async (t) => {
    for (const start of noticedBy) {
      const feature = features.find((each) => each.feature.startsWith(start));
      if (feature === undefined || stage === undefined) throw new Error(`no feature begins with: ${start}`);
      await t.throwsAsync(stage.play(feature, change), undefined, start);
    }
  });
}
