import type { LoopFigures } from './loop.js';

/** Allowed heap growth in mebibytes from the first tenth of the reloads to the end, during which caches fill. */
const growthMiB = 24;
const shown = 5;

/** The problems in the figures; empty for a correct proxy. */
export function faultsOf(figures: LoopFigures): readonly string[] {
  const { failed, brokenTails, wrongReports, left, draining } = figures;
  const [earlyMiB, lateMiB] = figures.heapMiB;
  return [
    ...failed.slice(0, shown).map((one) => `a request failed: ${one}`),
    ...(brokenTails > 0 ? [`${brokenTails} tails broke`] : []),
    ...wrongReports.slice(0, shown).map((one) => `a wrong report: ${one}`),
    ...Object.entries(left)
      .filter(([, count]) => count > 0)
      .map(([name, count]) => `${count} of class ${name} are left of earlier pipelines`),
    ...(draining > 0 ? [`${draining} earlier pipelines have not ended`] : []),
    ...(lateMiB > earlyMiB + growthMiB ? [`the heap grew from ${earlyMiB} to ${lateMiB} MiB`] : []),
  ];
}
