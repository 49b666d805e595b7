import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import test, { type ExecutionContext } from 'ava';
import { oldSpaceFor, warnOfHeap } from '../../../core/program/heap.js';
import { main } from './child.js';

const megabyte = 1024 * 1024;

test.serial('the heap leaves room for the program and its buffers', (t) => {
  const sizes = [64, 256, 512, 1_024, 8_192].map((size) => oldSpaceFor(size * megabyte));
  t.deepEqual(sizes, [64, 96, 288, 672, 6_048]);
  t.is(oldSpaceFor(1_024 * megabyte, 2), 288);
});

test.serial('a heap that may outgrow the container is told with what to do', (t) => {
  const told: string[] = [];
  const none = (): void => undefined;
  const log = { debug: none, info: none, error: none, warn: (text: string) => void told.push(text) };
  warnOfHeap(log, 64 * megabyte);
  warnOfHeap(log, 2 ** 50);
  t.deepEqual(told, [
    'the heap may outgrow the memory of the container: set NODE_OPTIONS=--max-old-space-size=64, or raise the memory limit of the container',
  ]);
});

/** A control group with this memory limit; undefined if the user may not create one. */
function controlGroup(t: ExecutionContext, bytes: number): string | undefined {
  for (const [root, limit] of [
    ['/sys/fs/cgroup/memory', 'memory.limit_in_bytes'],
    ['/sys/fs/cgroup', 'memory.max'],
  ] as const) {
    const folder = join(root, `ref-proxy-test-${process.pid}`);
    try {
      mkdirSync(folder);
    } catch {
      continue;
    }
    t.teardown(() => rmdirSync(folder));
    try {
      if (!existsSync(join(folder, limit))) continue;
      writeFileSync(join(folder, limit), String(bytes));
      return join(folder, 'cgroup.procs');
    } catch {
      // Files of control groups may be read-only.
    }
  }
  return undefined;
}

const canReplaceItself = 'execve' in process;

for (const [workers, options, heap] of [
  [1, '', canReplaceItself ? oldSpaceFor(1_024 * megabyte) + 48 : undefined],
  [2, '', oldSpaceFor(1_024 * megabyte, 2) + 48],
  [1, '--max-old-space-size=200 --max-semi-space-size=16', 248],
] as const)
  test.serial(`in a container the heap fits (${workers} processes, NODE_OPTIONS="${options}")`, async (t) => {
    const group = controlGroup(t, 1_024 * megabyte);
    if (group === undefined) {
      t.log('left out: no control group can be made here');
      t.pass();
      return;
    }
    const child = spawn(
      'sh',
      [
        ...['-c', `echo $$ > "${group}"; exec "$@"`, 'sh'],
        ...[process.execPath, main, 'serve', '-listen=127.0.0.1:0', '-admin-listen=127.0.0.1:0'],
        ...['-backend=http://127.0.0.1:9', `-workers=${workers}`],
      ],
      { stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, NODE_OPTIONS: options } },
    );
    const exited = once(child, 'exit');
    const says = workers === 1 ? '"serving"' : '"worker serving"';
    let record: unknown;
    for await (const line of createInterface({ input: child.stdout }))
      if (line.includes(says)) {
        record = JSON.parse(line);
        break;
      }
    child.stdout.resume();
    child.kill('SIGTERM');
    t.deepEqual(await exited, [0, null]);
    t.like(record, { 'memory.container_limit': 1_024 * megabyte });
    if (heap !== undefined) t.like(record, { 'memory.heap_limit': heap * megabyte });
  });
