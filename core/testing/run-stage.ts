import type { Answer } from '../wire/answer/types.js';
import { Chain } from '../kernel/chain.js';
import type { Exchange } from '../kernel/plugin/exchange.js';
import type { MetricSpecs } from '../base/meters.js';
import type { SlotName } from '../kernel/plugin/slots.js';
import type { Rest, Stage, StagePlugin } from '../kernel/plugin/contract.js';
import { makeHost, type FakeHost } from './fake-host.js';
import { holdToNeeds, holdToOptions } from './stage-contract.js';

/** The result of running a stage. */
export interface StageRun<Given extends SlotName> {
  readonly answer: Answer;
  /** The exchanges on which the stage ran the rest of the chain, in order. */
  readonly seen: readonly Exchange<Given>[];
}

/**
 * Runs a stage plugin on one exchange, with a fake rest of the chain, under the kernel's own rules. It is an error to run the rest more or
 * less often than declared, to give options that the schema does not know, to lack needed or promised slots, or to return no answer. The
 * plugin is created, started and stopped as by the kernel.
 */
export async function runStage<
  Options,
  Needs extends SlotName,
  Gives extends SlotName,
  Metrics extends MetricSpecs,
>(
  plugin: StagePlugin<Options, Needs, Gives, Metrics>,
  options: Options,
  exchange: Exchange<Needs>,
  rest: Rest<Gives> = neverAsked,
  host: FakeHost<Metrics> = hostFor(plugin),
): Promise<StageRun<Gives>> {
  holdToOptions(plugin, options);
  holdToNeeds(plugin, exchange);
  const seen: Exchange<Gives>[] = [];
  const stage = plugin.create(options, host);
  const end: Rest<Gives> = (derived) => {
    seen.push(derived);
    return rest(derived);
  };
  // The chain is typed for any stage; this one gets exactly the slots that its own types name.
  const run = new Chain([
    {
      id: plugin.name,
      rest: plugin.rest,
      gives: plugin.gives,
      stage: stage as unknown as Stage<SlotName, SlotName>,
    },
    { id: 'rest', rest: 'never', stage: { handle: (derived) => end(derived) } },
  ]).run;
  await stage.start?.(exchange.signal);
  try {
    const answer = await run(exchange);
    return { answer, seen };
  } finally {
    await stage.stop?.();
  }
}

function neverAsked(): Promise<Answer> {
  return Promise.reject(new Error('the stage ran the rest of the chain, which this test does not expect'));
}

function hostFor<Metrics extends MetricSpecs>(plugin: { readonly metrics?: Metrics }): FakeHost<Metrics> {
  return plugin.metrics === undefined ? makeHost<Metrics>() : makeHost<Metrics>({ metrics: plugin.metrics });
}
