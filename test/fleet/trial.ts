import { setTimeout as sleep } from 'node:timers/promises';
import { readCases, type GoldenCase } from '../conformance/cases.js';
import { compareAnswers } from '../conformance/compare.js';
import { conformanceCorpus, tenantMapOf } from '../conformance/corpus.js';
import { openStore, type Store } from '../conformance/target.js';
import { quantile } from '../overload/sample.js';
import { CountingBackend } from './counting-backend.js';
import type { Fleet, Replica } from './fleet.js';
import { Balancer, loadWith, type LoadReport } from './load.js';
import type { WireState } from './wire.js';

/** The settings of the recorded corpus, as flags of a process. */
export const corpusFlags: readonly string[] = [
  `-tenant-map=${tenantMapOf(conformanceCorpus)}`,
  '-rate-limit-per-second=0',
  '-max-entries-limit-per-query=5000',
];

/** The backend of a trial, loaded with the corpus and wrapped in a call counter. */
export class Ground {
  readonly #store: Store;

  private constructor(
    store: Store,
    readonly backend: CountingBackend,
  ) {
    this.#store = store;
  }

  static async open(backendUrl: string | undefined): Promise<Ground> {
    const store = await openStore(backendUrl, backendUrl === undefined);
    return new Ground(store, await CountingBackend.open(store.url));
  }

  async close(): Promise<void> {
    this.backend.close();
    await this.#store.close();
  }
}

/** The result of the whole corpus, sent to the replicas in turn. */
export interface RoundReport {
  readonly passed: number;
  readonly all: number;
  readonly backendCalls: number;
  readonly failures: readonly string[];
}

/** Sends every case once: the first one to the first replica, the next one to the second, and so on, shifted by `offset` replicas. */
export async function round(
  balancer: Balancer,
  backend: CountingBackend,
  cases: readonly GoldenCase[],
  offset: number,
  before: (index: number) => Promise<void> | void = () => undefined,
): Promise<RoundReport> {
  backend.forget();
  const failures: string[] = [];
  for (const [index, { request, golden }] of cases.entries()) {
    await before(index);
    const answer = await balancer.sendTo(index + offset, request);
    const difference = compareAnswers(request, golden, answer);
    if (difference !== undefined) failures.push(`${request.id}: ${difference}`);
  }
  // Wait until the replicas have sent their background data to each other.
  await sleep(500);
  return {
    passed: cases.length - failures.length,
    all: cases.length,
    backendCalls: backend.total,
    failures,
  };
}

export function countedCases(set: 'http' | 'otel'): readonly GoldenCase[] {
  return readCases(set).filter(({ request }) => request.exact !== false);
}

/** One fault in a fleet. */
export interface Fault {
  readonly name: string;
  begin(fleet: Fleet): void | Promise<void>;
  end(fleet: Fleet): void | Promise<void>;
}

/** Warms up the caches, which are cold after a start. */
const warming: Fault = { name: 'warming', begin: () => undefined, end: () => undefined };

/** The faults of a fleet of three replicas, to which a fourth can be added. */
const faults: readonly Fault[] = [
  {
    name: 'killed',
    begin: async ({ replicas }) => replicas[1]?.kill(),
    end: async ({ replicas }) => replicas[1]?.start(),
  },
  {
    name: 'stopped',
    begin: ({ replicas }) => replicas[2]?.freeze(),
    end: ({ replicas }) => replicas[2]?.thaw(),
  },
  {
    name: 'slow by 500 ms',
    begin: ({ replicas }) => setWire(replicas[0], { lateMs: 500 }),
    end: ({ replicas }) => setWire(replicas[0], 'whole'),
  },
  {
    name: 'cut off',
    begin: ({ replicas }) => setWire(replicas[1], 'cut'),
    end: ({ replicas }) => setWire(replicas[1], 'whole'),
  },
  {
    name: 'one added',
    begin: async (fleet) => {
      await fleet.replicas[3]?.start();
      fleet.announce();
    },
    end: () => undefined,
  },
];

function setWire(replica: Replica | undefined, state: WireState): void {
  if (replica !== undefined) replica.wire = state;
}

export interface FaultReport extends LoadReport {
  readonly fault: string;
  readonly p50: number;
  readonly p99: number;
  readonly backendCalls: number;
}

/**
 * Applies load to a fleet while faults come and go. The caches grow all the time, so `isSound` provides the baseline: the same periods of
 * another fleet without faults.
 */
export async function underFaults(
  fleet: Fleet,
  backend: CountingBackend,
  cases: readonly GoldenCase[],
  settings: {
    readonly seed: number;
    readonly seconds: number;
    readonly loops: number;
    readonly pauseMs: number;
  },
  isSound = false,
): Promise<readonly FaultReport[]> {
  const balancer = new Balancer(fleet.replicas);
  const reports: FaultReport[] = [];
  try {
    for (const [number, fault] of [warming, ...faults].entries()) {
      backend.forget();
      const loading = loadWith(balancer, cases, { ...settings, seed: settings.seed + number });
      await sleep(settings.seconds * 250);
      if (!isSound) await fault.begin(fleet);
      const report = await loading;
      if (!isSound) await fault.end(fleet);
      reports.push({
        ...report,
        fault: fault.name,
        p50: quantile(report.timesMs, 0.5),
        p99: quantile(report.timesMs, 0.99),
        backendCalls: backend.total,
      });
    }
  } finally {
    await balancer.close();
  }
  return reports;
}

/** The 99th percentile of all times except warm-up, in milliseconds. */
export function p99Of(reports: readonly FaultReport[]): number {
  return quantile(
    reports.filter(({ fault }) => fault !== warming.name).flatMap(({ timesMs }) => timesMs),
    0.99,
  );
}
