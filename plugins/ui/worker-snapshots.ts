import type {
  Latency,
  MeterReading,
  PartDescription,
  PipelineDescription,
  StageFigures,
} from '../../core/kernel/plugin/host.js';
import type { Topic } from '../../core/plugin/index.js';
import type { CallFigures, RouteFigures } from './request-figures.js';

/** Data of one worker for the page. */
export interface WorkerSnapshot {
  readonly pipeline: PipelineDescription;
  readonly backend: CallFigures;
  readonly routes: readonly RouteFigures[];
}

export const snapshotTopic: Topic<null, WorkerSnapshot> = { name: 'ui pipeline' };

/** Merges the data of all workers: counters are summed, durations are those of the slowest worker. */
export function mergeSnapshots([first, ...others]: readonly WorkerSnapshot[]): WorkerSnapshot {
  if (first === undefined) throw new Error('no worker has answered, not even this one');
  return others.reduce(
    (all, { pipeline, backend, routes }) => ({
      pipeline: {
        ...all.pipeline,
        startedMs: Math.min(all.pipeline.startedMs, pipeline.startedMs),
        stages: partsOf(all.pipeline.stages, pipeline.stages),
        endpoints: partsOf(all.pipeline.endpoints, pipeline.endpoints),
        services: partsOf(all.pipeline.services, pipeline.services),
      },
      backend: {
        calls: all.backend.calls + backend.calls,
        errors: all.backend.errors + backend.errors,
        ms: slower(all.backend.ms, backend.ms),
      },
      routes: routesOf(all.routes, routes),
    }),
    first,
  );
}

function routesOf(a: readonly RouteFigures[], b: readonly RouteFigures[]): readonly RouteFigures[] {
  const all = new Map(a.map((one) => [one.route, one]));
  for (const { route, calls, errors, ms } of b) {
    const other = all.get(route);
    all.set(route, {
      route,
      calls: calls + (other?.calls ?? 0),
      errors: errors + (other?.errors ?? 0),
      ms: slower(other?.ms, ms),
    });
  }
  return [...all.values()];
}

/** Merges parts; workers have the same parts in the same order. */
function partsOf(a: readonly PartDescription[], b: readonly PartDescription[]): readonly PartDescription[] {
  return a.map((part, index) => {
    const other = b[index];
    if (other === undefined) return part;
    const meters = part.meters.map((meter, at) => merged(meter, other.meters[at]?.value ?? 0));
    const { figures } = part;
    if (figures === undefined || other.figures === undefined) return { ...part, meters };
    return { ...part, meters, figures: figuresOf(figures, other.figures) };
  });
}

function merged(meter: MeterReading, value: number): MeterReading {
  const { ofWorkers } = meter;
  if (ofWorkers === 'min') return { ...meter, value: Math.min(meter.value, value) };
  if (ofWorkers === 'max' || ofWorkers === 'average')
    return { ...meter, value: Math.max(meter.value, value) };
  return { ...meter, value: meter.value + value };
}

function figuresOf(a: StageFigures, b: StageFigures): StageFigures {
  return {
    calls: a.calls + b.calls,
    errors: a.errors + b.errors,
    answeredHere: a.answeredHere + b.answeredHere,
    ownMs: slower(a.ownMs, b.ownMs),
    totalMs: slower(a.totalMs, b.totalMs),
  };
}

function slower(a: Latency | undefined, b: Latency | undefined): Latency | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return { p50: Math.max(a.p50, b.p50), p95: Math.max(a.p95, b.p95) };
}
