import type { MetricSpecs } from '../../core/base/meters.js';
import { makeHost, type FakeHost, type FakeHostSettings } from '../../core/testing/index.js';

/** A host with the meters that a plugin declares, for tests that keep one instance of it. */
export function hostFor<Metrics extends MetricSpecs>(
  plugin: { readonly metrics?: Metrics },
  settings: Omit<FakeHostSettings<Metrics>, 'metrics'> = {},
): FakeHost<Metrics> {
  const { metrics } = plugin;
  return metrics === undefined ? makeHost<Metrics>(settings) : makeHost<Metrics>({ ...settings, metrics });
}
