import { cacheFigures, isEnabled } from './options.js';
import type { CallFigures, LoadedPipeline, PartDescription, RouteFigures } from './wire.js';

/** A stage on the way of a request, with the figures at its arrows. */
export interface StageOnWay {
  readonly stage: PartDescription;
  readonly isOn: boolean;
  readonly calls: number;
  readonly errors: number;
  /** Number of calls that were answered without the later stages. */
  readonly answeredHere: number;
  /** Number of calls that went on to the later stages. */
  readonly goesOn: number;
  /** Hits of its cache; undefined for stages that are not caches, and before the first lookup. */
  readonly cache: { readonly hits: number; readonly asked: number } | undefined;
  /** Calls to VictoriaLogs; undefined for stages that make none. */
  readonly backend: CallFigures | undefined;
  /** Its own time as a share of that of the slowest stage, from 0 to 1. */
  readonly share: number;
}

/** The stages in the order of a request. */
export function stagesOnWay({
  stages,
  backend,
}: Pick<LoadedPipeline, 'stages' | 'backend'>): readonly StageOnWay[] {
  const slowest = Math.max(0, ...stages.map(({ figures }) => figures?.ownMs?.p50 ?? 0));
  return stages.map((stage) => {
    const { calls = 0, errors = 0, answeredHere = 0, ownMs } = stage.figures ?? {};
    const cache = cacheFigures(stage);
    return {
      stage,
      isOn: isEnabled(stage),
      calls,
      errors,
      answeredHere,
      goesOn: Math.max(0, calls - answeredHere - errors),
      cache: cache !== undefined && cache.asked > 0 ? cache : undefined,
      backend: stage.name === 'backend' ? backend : undefined,
      share: slowest > 0 ? (ownMs?.p50 ?? 0) / slowest : 0,
    };
  });
}

/** Routes of the page itself and of health checks, which never reach the stages. */
const besideStages =
  /^(?:ui|ui_pipeline|ui_explain|ui_check|ui_edit|ui_narrowing|ui_outline|ui_run|admin_\w+|debug_\w+|worker_\w+|peer_\w+|metrics|ready|alive|livez|health|healthz|services|ring|log_level|buildinfo|config|cache_flush)$/;

/** The routes by which requests arrive at the stages, the most frequent first. */
export function routesOnWay(routes: readonly RouteFigures[]): readonly RouteFigures[] {
  return routes
    .filter(({ route, calls }) => calls > 0 && !besideStages.test(route))
    .sort((a, b) => b.calls - a.calls || (a.route < b.route ? -1 : 1));
}

const restTexts: Readonly<Record<NonNullable<PartDescription['passing']>['rest'], string>> = {
  never: 'Answers by itself; nothing comes after it.',
  once: 'Passes every request on once.',
  maybe: 'Answers by itself, or passes the request on.',
  many: 'May pass a request on several times, in parts.',
};

/** A sentence about the requests that a stage passes on; empty for other parts. */
export function passingText({ passing }: Pick<PartDescription, 'passing'>): string {
  return passing === undefined ? '' : restTexts[passing.rest];
}
