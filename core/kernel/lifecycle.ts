import type { Life } from './plugin/life.js';
import type { PurgeScope } from './plugin/host.js';
import type { Logger } from '../base/logger.js';
import { thrownAt } from './thrown-at.js';
import { withinBound } from './bounded.js';

/** A plugin instance with its position in the pipeline. */
export interface Unit {
  readonly id: string;
  readonly kind: 'stage' | 'endpoint' | 'service';
  /** `pipelines/site.yaml:14:5`, for messages. */
  readonly at: string;
  readonly life: Life;
}

type Phase = 'create' | 'start' | 'reload' | 'stop' | 'purge';

/** A plugin failed while starting, stopping or reloading; the message names both and the position in the file. */
export class PluginFailure extends Error {
  /** `pipelines/site.yaml:14:5`, the start of the message. */
  readonly at: string;

  constructor(unit: Pick<Unit, 'id' | 'kind' | 'at'>, phase: Phase, cause: unknown) {
    const text = cause instanceof Error ? cause.message : String(cause);
    const thrown = thrownAt(cause);
    const where = thrown === undefined ? '' : ` (${thrown})`;
    super(`${unit.at}: ${unit.kind} "${unit.id}" failed to ${phase}: ${text}${where}`, { cause });
    this.name = 'PluginFailure';
    this.at = unit.at;
  }
}

/** Timeout for a plugin to stop or to purge its caches. */
const stopBoundMs = 10_000;

/** All plugin instances of a pipeline, started and stopped in order. Instances may be shared with the previous pipeline. */
export class Units {
  #isHeld = true;

  /** `order` is the start order: services, then stages from the last to the first, then endpoints. */
  constructor(
    readonly order: readonly Unit[],
    private readonly log: Logger,
  ) {
    for (const { life } of order) life.hold();
  }

  /** Plugins that the previous pipeline does not have. */
  get fresh(): readonly Unit[] {
    return this.order.filter(({ life }) => !life.isStarted);
  }

  /** True if the other one has the same instances in the same order. */
  isSameAs(other: Units): boolean {
    return (
      this.order.length === other.order.length &&
      this.order.every(({ life }, index) => life === other.order[index]?.life)
    );
  }

  /**
   * Starts the plugins that are not running yet, one after another. On a failure, a timeout or an abort, it stops those it has started and
   * names the plugin.
   */
  async start(boundMs: number, given?: AbortSignal): Promise<void> {
    for (const unit of this.fresh) {
      const { life } = unit;
      try {
        // A start that hangs may already hold resources, so this plugin is stopped too.
        life.isStarted = true;
        await withinBound(boundMs, (signal) => life.lifecycle.start?.(signal), given);
      } catch (error) {
        await this.stop();
        throw new PluginFailure(unit, 'start', error);
      }
    }
  }

  /** Stops the plugins that no other pipeline uses, in reverse order. A failure is logged, and the others are still stopped. */
  async stop(): Promise<void> {
    if (!this.#isHeld) return;
    this.#isHeld = false;
    // All are released before the first is stopped, so that a pipeline built in the meantime reuses none of them.
    const ended = [...this.order].reverse().filter(({ life }) => life.release());
    for (const unit of ended) {
      const { life } = unit;
      if (life.isStarted) await attempt(unit.id, 'stop', this.log, () => life.lifecycle.stop?.());
      life.registered.end();
    }
  }

  /** Calls `reload` on every plugin that is also in `before`; a plugin that fails keeps its old state. */
  async reload(before: Units = this): Promise<void> {
    const known = new Set(before.order.map(({ life }) => life));
    for (const unit of this.order.filter(({ life }) => known.has(life))) {
      await attempt(unit.id, 'reload', this.log, () => unit.life.lifecycle.reload?.());
    }
  }

  /** Reasons why the process is not ready, in pipeline order; a plugin whose check fails is not ready either. */
  async readiness(of = this.order): Promise<readonly string[]> {
    const inPipelineOrder = [...of].reverse();
    const reasons = await Promise.all(
      inPipelineOrder.map(async (unit) => {
        try {
          return await withinBound(stopBoundMs, () => unit.life.lifecycle.ready?.());
        } catch (error) {
          this.log.warn('the readiness check of a plugin failed', { 'plugin.id': unit.id, error });
          return `${unit.id} not ready`;
        }
      }),
    );
    return reasons.filter((reason) => reason !== undefined);
  }
}

export async function purgeLives(
  lives: Iterable<Life>,
  log: Logger,
  scope: PurgeScope,
  tenantId?: string,
): Promise<void> {
  await Promise.all(
    [...lives].map(({ id, lifecycle }) =>
      attempt(id, 'purge', log, () => lifecycle.purge?.(scope, tenantId)),
    ),
  );
}

/** Runs work, and logs it if it fails or takes too long. */
async function attempt(id: string, phase: Phase, log: Logger, work: () => unknown): Promise<void> {
  try {
    await withinBound(stopBoundMs, work);
  } catch (error) {
    log.error(`plugin failed to ${phase}`, { 'plugin.id': id, error });
  }
}
