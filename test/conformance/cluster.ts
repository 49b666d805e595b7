/**
 * A VictoriaLogs cluster of two storage nodes and two selectors on free loopback ports: one selector rejects partial responses, the
 * default,
 * and one allows them. VICTORIA_LOGS names the binary.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../core/program/child.js';

export interface Cluster {
  readonly url: string;
  /** The selector with `-search.allowPartialResponse`. */
  readonly partialUrl: string;
  readonly nodeUrls: readonly string[];
  /** Stops a storage node. */
  stopNode(number: number): Promise<void>;
  close(): Promise<void>;
}

const startWithinMs = 20_000;

export async function startCluster(program: string): Promise<Cluster> {
  const folder = mkdtempSync(join(tmpdir(), 'ref-proxy-cluster-'));
  const processes: ChildProcess[] = [];
  const start = async (name: string, flags: readonly string[]): Promise<string> => {
    const address = `127.0.0.1:${await freePort()}`;
    const all = [`-httpListenAddr=${address}`, `-storageDataPath=${join(folder, name)}`, ...flags];
    processes.push(spawn(program, ['-loggerLevel=ERROR', ...all], { stdio: 'ignore' }));
    await untilHealthy(`http://${address}`);
    return address;
  };
  const close = async (): Promise<void> => {
    await Promise.all(processes.map(stop));
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const keeping = ['-retentionPeriod=100y', '-futureRetention=10y', '-internaldelete.enable'];
    const nodes = [await start('node1', keeping), await start('node2', keeping)];
    const selecting = [`-storageNode=${nodes.join(',')}`, '-delete.enable'];
    const selector = await start('selector', selecting);
    const partial = await start('partial', [...selecting, '-search.allowPartialResponse']);
    return {
      url: `http://${selector}`,
      partialUrl: `http://${partial}`,
      nodeUrls: nodes.map((address) => `http://${address}`),
      stopNode: async (number) => {
        const process = processes[number];
        if (process !== undefined) await stop(process);
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function stop(process: ChildProcess): Promise<void> {
  if (process.exitCode !== null || process.signalCode !== null) return;
  const ended = once(process, 'exit');
  process.kill('SIGKILL');
  await ended;
}

async function untilHealthy(url: string): Promise<void> {
  const until = Date.now() + startWithinMs;
  while (Date.now() < until) {
    try {
      if ((await fetch(`${url}/health`)).ok) return;
    } catch {
      // It is not listening yet.
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`VictoriaLogs at ${url} did not start`);
}
