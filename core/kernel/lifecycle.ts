import type { Lifecycle } from './plugin/contract.js';
import type { PurgeScope } from './plugin/host.js';
import type { Logger } from '../base/logger.js';
import { thrownAt } from './thrown-at.js';
import { withinBound } from './bounded.js';

/** A plugin instance in its place in the pipeline. */
export interface Unit {
  readonly id: string;
  readonly kind: 'stage' | 'endpoint' | 'service';
  /** `pipelines/site.yaml:14:5`, for messages. */
  readonly at: string;
  readonly lifecycle: Lifecycle;
}

export type Phase = 'create' | 'start' | 'reload' | 'stop' | 'purge';

/** A plugin failed while starting, stopping or reloading; the message names both and the place in the file. */
export class PluginFailure extends Error {
  constructor(unit: Pick<Unit, 'id' | 'kind' | 'at'>, phase: Phase, cause: unknown) {
    const text = cause instanceof Error ? cause.message : String(cause);
    const thrown = thrownAt(cause);
    const where = thrown === undefined ? '' : ` (${thrown})`;
    super(`${unit.at}: ${unit.kind} "${unit.id}" failed to ${phase}: ${text}${where}`, { cause });
    this.name = 'PluginFailure';
  }
}

/** How long a plugin may take to stop or to empty its caches. */
const stopBoundMs = 10_000;

/** All plugin instances of a pipeline, started and stopped in order. */
export class Units {
  #started: Unit[] = [];

  /** `order` is the start order: services, then stages from the last to the first, then endpoints. */
  constructor(
    private readonly order: readonly Unit[],
    private readonly log: Logger,
  ) {}

  /** Starts all plugins one after another. On a failure, a timeout or an abort it stops those already started and names the plugin. */
  async start(boundMs: number, given?: AbortSignal): Promise<void> {
    for (const unit of this.order) {
      try {
        await withinBound(boundMs, (signal) => unit.lifecycle.start?.(signal), given);
        this.#started.push(unit);
      } catch (error) {
        // A start that hangs may already hold resources, so this plugin is stopped too.
        this.#started.push(unit);
        await this.stop();
        throw new PluginFailure(unit, 'start', error);
      }
    }
  }

  /** Stops the started plugins in reverse order. A failure is logged and the others are still stopped. */
  async stop(): Promise<void> {
    const started = this.#started.reverse();
    this.#started = [];
    for (const unit of started) {
      await this.#attempt(unit, 'stop', () => unit.lifecycle.stop?.());
    }
  }

  /** Asks every plugin to reload what may have changed; one that fails keeps its old state. */
  async reload(): Promise<void> {
    for (const unit of this.order) {
      await this.#attempt(unit, 'reload', () => unit.lifecycle.reload?.());
    }
  }

  async purge(scope: PurgeScope, tenantId?: string): Promise<void> {
    await Promise.all(
      this.order.map((unit) => this.#attempt(unit, 'purge', () => unit.lifecycle.purge?.(scope, tenantId))),
    );
  }

  /** Why the process is not ready, in pipeline order; a plugin that cannot tell is not ready either. */
  async readiness(): Promise<readonly string[]> {
    const inPipelineOrder = [...this.order].reverse();
    const reasons = await Promise.all(
      inPipelineOrder.map(async (unit) => {
        try {
          return await withinBound(stopBoundMs, () => unit.lifecycle.ready?.());
        } catch (error) {
          this.log.warn('a plugin could not tell whether it is ready', { 'plugin.id': unit.id, error });
          return `${unit.id} not ready`;
        }
      }),
    );
    return reasons.filter((reason) => reason !== undefined);
  }

  async #attempt(unit: Unit, phase: Phase, work: () => unknown): Promise<void> {
    try {
      await withinBound(stopBoundMs, work);
    } catch (error) {
      this.log.error(`plugin failed to ${phase}`, { 'plugin.id': unit.id, error });
    }
  }
}
