import type { Context } from 'koa';
import type { ServerOptions } from '../base/options.gen.js';
import type { Clock } from '../base/clock.js';
import type { Answer, EncodedAnswer } from '../wire/answer/types.js';
import type { ApiRequest } from '../wire/api/request.js';
import { createExchange, type Exchange } from '../kernel/plugin/exchange.js';
import type { RepeatPath } from '../kernel/repeat.js';
import type { HttpCall, RouteHandler } from '../kernel/plugin/contract.js';
import type { Run } from '../kernel/chain.js';
import type { MemoryPool } from '../base/memory/pool.js';
import { encodeSteps } from '../wire/answer/encode.js';
import { Pacer } from '../base/pace/pacer.js';
import { atPace } from '../base/pace/steps.js';
import { apiError } from '../base/errors/table.js';
import { untilAborted } from '../base/errors/until-aborted.js';
import type { RequestRecord } from '../kernel/telemetry/request-record.js';
import { readBody, readMergedParams, readUrlParams } from './form.js';
import { routeLabel, type Route } from '../wire/routes-table.js';

export interface ServedRoute {
  readonly route: Route;
  readonly handler: RouteHandler;
}

export interface ServeSettings {
  readonly memory: Pick<MemoryPool, 'open'>;
  readonly options: Pick<ServerOptions, 'httpMaxBodyBytes'>;
  readonly run: Run;
  readonly clock: Clock;
}

/** The response of a route. */
interface Served {
  readonly encoded: EncodedAnswer;
  /** The path through the stages, if the same bytes always have the same meaning. */
  readonly path: RepeatPath | undefined;
}

/** Answers one request of a route: reads its parameters, calls the handler, encodes the answer once. Throws on failure. */
export async function serveRoute(
  context: Context,
  { route, handler }: ServedRoute,
  pathParams: ReadonlyMap<string, string>,
  record: RequestRecord,
  signal: AbortSignal,
  settings: ServeSettings,
): Promise<Served> {
  record.route = routeLabel(route);
  record.requestType = route.id;
  if (!takesMethod(route, context.method)) {
    context.set('Allow', route.methods.join(', '));
    throw apiError('methodNotAllowed', {});
  }
  const memory = settings.memory.open();
  memory.retain();
  if (context.res.closed) memory.close();
  else context.res.once('close', () => memory.close());
  const answerIt = async (): Promise<Served> => {
    const params =
      route.ignoresBody === true
        ? readUrlParams(context.querystring)
        : await readMergedParams(context.req, context.querystring, settings.options.httpMaxBodyBytes);
    record.query = params.get('query')?.[0];
    let asked: ApiRequest | undefined;
    let passed: { readonly path: RepeatPath; readonly answer: Answer } | undefined;
    const time = { isRead: false };
    const exchangeOf = (request: ApiRequest, isFinal: boolean): Exchange => {
      asked = request;
      const { id, caller, trace } = record;
      return createExchange({ id, request, caller, signal, trace, memory, isFinal });
    };
    const call: HttpCall = {
      route: route.id,
      method: context.method,
      path: context.path,
      pathParams,
      params,
      caller: record.caller,
      signal,
      ask: (request, { isFinal = true } = {}) => settings.run(exchangeOf(request, isFinal)),
      pass: async (request) => {
        const exchange = exchangeOf(request, true);
        const answer = await settings.run(exchange);
        passed = { path: exchange.repeat, answer };
        return answer;
      },
      readBody: (maxBytes) => readBody(context.req, maxBytes),
      nowNs: () => {
        time.isRead = true;
        return settings.clock.nowNs();
      },
    };
    const answer = await handler(call);
    const encoded = await toBytes(answer, record, asked, signal);
    memory.keepOnly(encoded.body.length, 'the bytes of the answer');
    return { encoded, path: !time.isRead && passed?.answer === answer ? passed.path : undefined };
  };
  return untilAborted(
    answerIt().finally(() => memory.close()),
    signal,
  );
}

function takesMethod(route: Route, method: string): boolean {
  const asked = method === 'HEAD' ? 'GET' : method;
  return route.methods.some((known) => known === asked);
}

async function toBytes(
  answer: Answer,
  record: RequestRecord,
  request: ApiRequest | undefined,
  signal: AbortSignal,
): Promise<EncodedAnswer> {
  const { categorizeLabels } = record.caller;
  if (request?.op === 'query_range' || request?.op === 'query') {
    record.tupleMode = categorizeLabels ? 'categorize_labels_3tuple' : 'default_2tuple';
  }
  if (answer.kind === 'encoded') {
    if (answer.refusal !== undefined) record.error = answer.refusal;
    return answer;
  }
  const steps = encodeSteps(
    answer,
    request === undefined ? { categorizeLabels } : { categorizeLabels, request },
  );
  const encoded = await atPace(steps, new Pacer(signal));
  return { kind: 'encoded', headers: noHeaders, ...encoded };
}

const noHeaders: ReadonlyMap<string, string> = new Map();
