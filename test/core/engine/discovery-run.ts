import type { ApiRequest } from '../../../core/wire/api/request.js';
import type { Answer } from '../../../core/wire/answer/types.js';
import { type MemoryAccount, unboundedMemory } from '../../../core/base/memory/account.js';
import { printQuery } from '../../../core/victoria/logsql/print.js';
import { Naming } from '../../../core/victoria/names/naming.js';
import { namesOptions } from '../../../core/testing/options.js';
import type { NamesOptions, ResponseShapeOptions } from '../../../core/base/options.gen.js';
import {
  FakeClock,
  FakeUpstream,
  makeExchange,
  makeHost,
  makeTenant,
  optionsOf,
  runStage,
  type ExpectedCall,
} from '../../../core/testing/index.js';
import responseShape from '../../../plugins/response-shape/index.js';
import { engineMetrics } from '../../../core/engine/metrics.js';
import { askedOf } from './plan/planned.js';

export interface DiscoveryRun {
  readonly answer: Answer;
  /** The LogsQL of every backend call, in order. */
  readonly queries: readonly string[];
}

/** Runs the stage on a request with a fake backend that follows a script; every call of the script must be made. */
export async function runDiscovery(
  request: ApiRequest,
  expected: readonly ExpectedCall[],
  settings: {
    readonly names?: Partial<NamesOptions>;
    readonly options?: Partial<ResponseShapeOptions>;
    readonly limits?: Readonly<Record<string, unknown>>;
    readonly clock?: FakeClock;
    readonly memory?: MemoryAccount;
  } = {},
): Promise<DiscoveryRun> {
  const names = { ...namesOptions(), ...settings.names };
  const { clock = new FakeClock(), limits = {}, memory = unboundedMemory() } = settings;
  const upstream = new FakeUpstream(expected);
  const exchange = makeExchange<'tenant' | 'plan' | 'upstream'>({
    request,
    memory,
    slots: { tenant: makeTenant(), plan: askedOf(request, new Naming(names)), upstream },
  });
  // The type of the options is generated from the same schema.
  const options = optionsOf('response-shape') as unknown as ResponseShapeOptions;
  const host = makeHost({ names, limits, clock, metrics: engineMetrics });
  const { answer } = await runStage(
    responseShape,
    { ...options, ...settings.options },
    exchange,
    undefined,
    host,
  );
  upstream.done();
  return {
    answer,
    queries: upstream.requests.flatMap((asked) => ('query' in asked ? [printQuery(asked.query)] : [])),
  };
}
