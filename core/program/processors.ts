import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * How many processors the control group of this process may use (cgroups v2 and v1), as a fraction; undefined where it has no quota. In a
 * container its own group is the root of what it sees; elsewhere `/proc/self/cgroup` names it.
 */
export function processorQuota(
  root = '/sys/fs/cgroup',
  groups = textOf('/proc/self/cgroup'),
): number | undefined {
  const pathOf = (controller: string): string =>
    new RegExp(`^\\d+:(?:[^:\\n]*,)?${controller}(?:,[^:\\n]*)?:(/.*)$`, 'm').exec(groups)?.[1] ?? '/';
  const [v2, v1] = [/^0::(\/.*)$/m.exec(groups)?.[1] ?? '/', pathOf('cpu')];
  for (const path of new Set([v2, '/'])) {
    const [quota, period] = textOf(join(root, path, 'cpu.max'))
      .trim()
      .split(' ')
      .map(Number);
    if (isPositive(quota) && isPositive(period)) return quota / period;
  }
  for (const path of new Set([v1, '/'])) {
    const [quota, period] = ['cpu.cfs_quota_us', 'cpu.cfs_period_us'].map((file) =>
      Number(textOf(join(root, 'cpu', path, file))),
    );
    if (isPositive(quota) && isPositive(period)) return quota / period;
  }
  return undefined;
}

function isPositive(value: number | undefined): value is number {
  return value !== undefined && value > 0;
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return '';
  }
}
