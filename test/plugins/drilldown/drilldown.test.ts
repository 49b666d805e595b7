import test from 'ava';
import type { Tenant } from '../../../core/base/caller.js';
import { ApiError } from '../../../core/base/errors/api-error.js';
import type { DrilldownOptions } from '../../../core/base/options.gen.js';
import { askedOf } from '../../core/engine/plan/planned.js';
import type { Answer, Exchange, Rest, Stage } from '../../../core/plugin/index.js';
import { apiError } from '../../../core/plugin/index.js';
import { makeExchange, makeLogRequest, makeTenant, optionsOf } from '../../../core/testing/index.js';
import { Naming } from '../../../core/victoria/names/naming.js';
import { namesOptions } from '../../../core/testing/options.js';
import type { MatrixAnswer } from '../../../core/wire/answer/types.js';
import drilldown from '../../../plugins/drilldown/index.js';
import { hostFor } from '../host-for.js';

type Needs = 'tenant' | 'plan';

const naming = new Naming(namesOptions());
const lineFilter = '| json | logfmt | drop __error__, __error_details__';
const countOf = (field: string, stages = lineFilter): string =>
  `sum by (${field}) (count_over_time({app="a"} ${stages} | ${field}!="" [1m]))`;

interface Asking {
  readonly query: string;
  readonly isDrilldown?: boolean;
  readonly authorization?: string;
  readonly tenant?: Tenant;
  readonly signal?: AbortSignal;
}

function exchangeOf({ query, isDrilldown = true, authorization, tenant, signal }: Asking): Exchange<Needs> {
  const request = makeLogRequest(query);
  const headers = new Map(authorization === undefined ? [] : [['authorization', authorization]]);
  return makeExchange<Needs>({
    request,
    caller: { isDrilldown, headers },
    slots: { tenant: tenant ?? makeTenant('a'), plan: askedOf(request, naming) },
    ...(signal === undefined ? {} : { signal }),
  });
}

/** An answer that shows its position in its burst; 0 means a query that was sent alone. */
function answerOf(place: number): MatrixAnswer {
  const stats = {
    ...{ linesProcessed: place, bytesProcessed: 0, entriesReturned: 0, postFilterLines: 0 },
    ...{ structuredMetadataBytes: 0, execTimeMs: 0, splits: 1 },
  };
  return { kind: 'matrix', series: [], stats, warnings: [] };
}
const placeOf = (answer: Answer): number => (answer.kind === 'matrix' ? answer.stats.linesProcessed : NaN);

/** A stage with a long burst window over a fake rest of the chain; `gathered` answers the combined query. */
function make(
  values: Readonly<Record<string, unknown>> = {},
  gathered: (places: readonly number[], signal: AbortSignal) => Promise<Answer> = (places) =>
    Promise.resolve({ kind: 'several', answers: places.map(answerOf) }),
) {
  const host = hostFor(drilldown);
  // optionsOf applies the schema, which the type is generated from.
  const options = optionsOf('drilldown', { burstWindow: 60_000, ...values }) as unknown as DrilldownOptions;
  const stage: Stage<Needs, never> = drilldown.create(options, host);
  const seen: string[] = [];
  const rest: Rest = (exchange) => {
    const { plan } = exchange.slots;
    if (plan?.kind !== 'gathered') {
      seen.push('alone');
      return Promise.resolve(answerOf(0));
    }
    seen.push(`gathered ${plan.parts.length}`);
    return gathered(
      plan.parts.map((_part, index) => index + 1),
      exchange.signal,
    );
  };
  const ask = async (asking: Asking): Promise<number> =>
    placeOf(await stage.handle(exchangeOf(asking), rest));
  return { host, seen, ask };
}
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const fields = ['status', 'method', 'path'];

test('queries for single fields that come together are read for once, each with its own answer', async (t) => {
  const { ask, seen, host } = make({ burstMaxFields: 3 });
  t.deepEqual(await Promise.all(fields.map((field) => ask({ query: countOf(field) }))), [1, 2, 3]);
  t.deepEqual(seen, ['gathered 3']);
  t.is(await host.metric('drilldown_gathered_calls_total'), 1);
  t.is(await host.metric('drilldown_alone_total'), 0);
});

test('the bound of fields begins a reading, and what comes then waits for the next', async (t) => {
  const { ask, seen } = make({ burstMaxFields: 2 });
  const four = [...fields, 'size'].map((field) => ask({ query: countOf(field) }));
  t.deepEqual(await Promise.all(four), [1, 2, 1, 2]);
  t.deepEqual(seen, ['gathered 2', 'gathered 2']);
});

test('a query that nobody joins is asked alone when its time is over', async (t) => {
  const { ask, seen, host } = make({ burstWindow: 1 });
  t.is(await ask({ query: countOf('status') }), 0);
  t.deepEqual(seen, ['alone']);
  t.is(await host.metric('drilldown_alone_total'), 1);
});

const off: readonly Readonly<Record<string, unknown>>[] = [{ burstWindow: 0 }, { burstMaxFields: 1 }];
for (const values of off)
  test(`nothing is gathered with ${JSON.stringify(values)}`, async (t) => {
    const { ask, seen } = make(values);
    t.deepEqual(await Promise.all(fields.map((field) => ask({ query: countOf(field) }))), [0, 0, 0]);
    t.deepEqual(seen, ['alone', 'alone', 'alone']);
  });

/** Queries that are sent immediately while a burst is open. */
const others: Readonly<Record<string, Asking>> = {
  'another caller': { query: countOf('size'), isDrilldown: false },
  'a field that the backend counts': { query: countOf('size', '') },
  'a count by two fields': { query: `sum by (a, b) (count_over_time({app="a"} ${lineFilter}[1m]))` },
  'a count without a field': { query: `sum by (size) (rate({app="a"} ${lineFilter} | size!="" [1m]))` },
  'a query for logs': { query: `{app="a"} ${lineFilter}` },
};
for (const [what, asking] of Object.entries(others))
  test(`${what} waits for nobody`, async (t) => {
    const { ask, seen } = make();
    const controller = new AbortController();
    const waiting = ask({ query: countOf('status'), signal: controller.signal });
    t.is(Number.isNaN(await ask(asking)), false);
    t.deepEqual(seen, ['alone']);
    controller.abort(new Error('gone'));
    await t.throwsAsync(waiting, { message: 'gone' });
  });

/** Queries that cannot be read together with the first one. */
const strangers: Readonly<Record<string, Asking>> = {
  'of another tenant': { query: countOf('size'), tenant: makeTenant('b') },
  'with other credentials': { query: countOf('size'), authorization: 'Bearer b' },
  'over another window': { query: countOf('size').replace('[1m]', '[2m]') },
  'of other streams': { query: countOf('size').replace('{app="a"}', '{app="b"}') },
  'of other lines': { query: countOf('size', '|= "x" | logfmt --strict') },
};
for (const [what, asking] of Object.entries(strangers))
  test(`queries ${what} are read by themselves`, async (t) => {
    const { ask, seen } = make({ burstMaxFields: 2, forwardAuthorization: true });
    const first = { query: countOf('status'), authorization: 'Bearer a' };
    const asked = [first, asking, { ...asking, query: asking.query.replaceAll('size', 'path') }].map(ask);
    t.deepEqual(await Promise.all(asked.slice(1)), [1, 2]);
    t.deepEqual(seen, ['gathered 2']);
    void ask({ query: countOf('path'), authorization: 'Bearer a' });
    t.is(await asked[0], 1);
  });

test('a part without an answer is asked alone, and the others have theirs', async (t) => {
  const { ask, seen, host } = make({ burstMaxFields: 3 }, () =>
    Promise.resolve({ kind: 'several', answers: [answerOf(1), undefined, answerOf(3)] }),
  );
  t.deepEqual(await Promise.all(fields.map((field) => ask({ query: countOf(field) }))), [1, 0, 3]);
  t.deepEqual(seen, ['gathered 3', 'alone']);
  t.is(await host.metric('drilldown_alone_total'), 1);
});

test('what the backend fails with reaches all, and is not asked again for each', async (t) => {
  const { ask, seen } = make({ burstMaxFields: 3 }, () => Promise.reject(apiError('queryTimeout', {})));
  const asked = await Promise.allSettled(fields.map((field) => ask({ query: countOf(field) })));
  t.true(asked.every((one) => one.status === 'rejected' && one.reason instanceof ApiError));
  t.deepEqual(seen, ['gathered 3']);
});

test('what is refused to all together is asked alone', async (t) => {
  const refused = apiError('queryMemory', { limit: 1, most: 'log lines', kind: 'log lines' });
  const { ask, seen } = make({ burstMaxFields: 2 }, () => Promise.reject(refused));
  t.deepEqual(await Promise.all(['a', 'b'].map((field) => ask({ query: countOf(field) }))), [0, 0]);
  t.deepEqual(seen, ['gathered 2', 'alone', 'alone']);
});

test('a caller that leaves, the first as well, ends nobody else', async (t) => {
  let answer: (value: Answer) => void = () => undefined;
  let shared: AbortSignal | undefined;
  const { ask } = make({ burstMaxFields: 3 }, (_places, signal) => {
    shared = signal;
    return new Promise((resolve) => (answer = resolve));
  });
  const leaving = [new AbortController(), new AbortController()];
  const asked = fields.map((field, index) => {
    const signal = leaving[index]?.signal;
    return ask({ query: countOf(field), ...(signal === undefined ? {} : { signal }) });
  });
  await settle();
  for (const [index, controller] of leaving.entries()) {
    controller.abort(new Error('gone'));
    await t.throwsAsync(asked[index] ?? Promise.resolve(), { message: 'gone' });
  }
  t.false(shared?.aborted);
  answer({ kind: 'several', answers: [undefined, undefined, answerOf(3)] });
  t.is(await asked[2], 3);
});

test('when all have left, the shared reading ends', async (t) => {
  let shared: AbortSignal | undefined;
  const { ask } = make({ burstMaxFields: 2 }, (_places, signal) => {
    shared = signal;
    return new Promise(() => undefined);
  });
  const { signal, abort } = ((controller) => ({
    signal: controller.signal,
    abort: () => controller.abort(new Error('gone')),
  }))(new AbortController());
  const asked = ['a', 'b'].map((field) => ask({ query: countOf(field), signal }));
  await settle();
  t.false(shared?.aborted);
  abort();
  for (const one of asked) await t.throwsAsync(one, { message: 'gone' });
  t.true(shared?.aborted);
});

test('who left while others were awaited is not read for', async (t) => {
  const { ask, seen } = make({ burstMaxFields: 2 });
  const controller = new AbortController();
  const gone = ask({ query: countOf('a'), signal: controller.signal });
  const stays = ask({ query: countOf('b') });
  controller.abort(new Error('gone'));
  await t.throwsAsync(gone, { message: 'gone' });
  // A single query is not a burst.
  t.is(await stays, 0);
  t.deepEqual(seen, ['alone']);
});
