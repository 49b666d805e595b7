import type { MeterRegistry } from '../kernel/telemetry/meters.js';
import { metricPrefix } from '../kernel/telemetry/names.js';

/** The current value of a counter or gauge, or the count of a histogram; undefined without measurements. */
export async function readMetric(
  registry: MeterRegistry,
  name: string,
  labels: Readonly<Record<string, string>>,
): Promise<number | undefined> {
  const wanted = Object.entries(labels);
  const metric = (await registry.measurements()).find((each) => each.name === metricPrefix + name);
  const found = metric?.series.find(([own]) => wanted.every(([label, value]) => own[label] === value));
  return found?.[1].at(-1);
}
