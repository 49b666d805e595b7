import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import test from 'ava';
import { giveBackLater, giveBackMemory } from '../../../core/program/give-back.js';
import { processorQuota } from '../../../core/program/processors.js';

for (const [what, groups, files, quota] of [
  ['a container with cgroups v2', '0::/\n', { 'cpu.max': '50000 100000\n' }, 0.5],
  [
    'a unit with cgroups v2',
    '0::/a.slice/b.service\n',
    { 'a.slice/b.service/cpu.max': '150000 100000\n' },
    1.5,
  ],
  ['cgroups v2 without a quota', '0::/\n', { 'cpu.max': 'max 100000\n' }, undefined],
  [
    'cgroups v1',
    '4:memory:/x\n3:cpu,cpuacct:/docker/1\n0::/\n',
    { 'cpu/docker/1/cpu.cfs_quota_us': '25000\n', 'cpu/docker/1/cpu.cfs_period_us': '100000\n' },
    0.25,
  ],
  [
    'a container with cgroups v1, whose own group is the root',
    '3:cpu,cpuacct:/docker/1\n',
    { 'cpu/cpu.cfs_quota_us': '200000\n', 'cpu/cpu.cfs_period_us': '100000\n' },
    2,
  ],
  [
    'cgroups v1 without a quota',
    '3:cpu:/\n',
    { 'cpu/cpu.cfs_quota_us': '-1\n', 'cpu/cpu.cfs_period_us': '100000\n' },
    undefined,
  ],
  ['a system without control groups', '', {}, undefined],
] as const)
  test.serial(`the quota of processors: ${what}`, async (t) => {
    const root = await mkdtemp(join(tmpdir(), 'ref-proxy-'));
    t.teardown(() => rm(root, { recursive: true }));
    for (const [name, text] of Object.entries(files)) {
      await mkdir(dirname(join(root, name)), { recursive: true });
      await writeFile(join(root, name), text);
    }
    t.is(processorQuota(root, groups), quota);
  });

test.serial('memory that is given back changes nothing else', (t) => {
  const before = new Map([['kept', { text: 'x'.repeat(1_000) }]]);
  giveBackMemory();
  t.is(before.get('kept')?.text.length, 1_000);
  t.is(Reflect.get(globalThis, 'gc'), undefined);
});

test.serial(
  'memory is given back once nobody waits for an answer, and not after the process has begun to stop',
  async (t) => {
    const looks = [2, 1, 0];
    let given = 0;
    giveBackLater(
      () => looks.shift() ?? 0,
      1,
      () => (given += 1),
    );
    while (given === 0) await pause(5);
    t.deepEqual([looks, given], [[], 1]);
    giveBackLater(
      () => 0,
      1,
      () => t.fail(),
    )();
    await pause(20);
  },
);
