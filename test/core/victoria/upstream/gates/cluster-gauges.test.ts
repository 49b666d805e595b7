import test from 'ava';
import { ClusterGauges } from '../../../../../core/victoria/upstream/gates/cluster-gauges.js';
import {
  parseGauges,
  type BackendGauges,
  type Gauges,
  type GaugesState,
} from '../../../../../core/victoria/upstream/gates/gauges.js';

/** A process whose gauges the test sets. */
class Process implements Gauges {
  state: GaugesState = { kind: 'unknown' };

  tells(change: Partial<BackendGauges>): this {
    this.state = { kind: 'known', gauges: { ...parseGauges(''), ...change } };
    return this;
  }

  fresh(): Promise<GaugesState> {
    return Promise.resolve(this.state);
  }
}

function told(cluster: Gauges): BackendGauges {
  const { state } = cluster;
  if (state.kind !== 'known') throw new Error(`the gauges are ${state.kind}`);
  return state.gauges;
}

test('queries and permits are those of all selectors, or of all processes where none is one', (t) => {
  const selectors = [1, 2].map((selects) => new Process().tells({ selects, capacity: 4, isSelector: true }));
  const node = new Process().tells({ selects: 0, capacity: 16 });
  t.like(told(new ClusterGauges([...selectors, node])), { selects: 3, capacity: 8, isSelector: true });
  t.like(told(new ClusterGauges([node, node])), { selects: 0, capacity: 32, isSelector: false });
});

test('memory is that of the fullest process, as bytes of the smallest', (t) => {
  const roomy = new Process().tells({ memoryUsed: 3000, memoryAvailable: 10_000 });
  const full = new Process().tells({ memoryUsed: 900, memoryAvailable: 1000 });
  const fuller = new Process().tells({ memoryUsed: 1900, memoryAvailable: 2000 });
  t.like(told(new ClusterGauges([roomy, full])), { memoryUsed: 900, memoryAvailable: 1000 });
  t.like(told(new ClusterGauges([roomy, full, fuller])), { memoryUsed: 950, memoryAvailable: 1000 });
  t.like(told(new ClusterGauges([new Process().tells({ selects: 1 })])), { memoryUsed: undefined });
});

test('a silent process makes the whole silent, one that is unknown is left out', async (t) => {
  const [first, second] = [new Process().tells({ selects: 2, capacity: 4 }), new Process()];
  const cluster = new ClusterGauges([first, second]);
  t.is(told(cluster).selects, 2);
  second.state = { kind: 'silent' };
  t.is((await cluster.fresh(0)).kind, 'silent');
  first.state = { kind: 'unknown' };
  second.state = { kind: 'unknown' };
  t.is((await cluster.fresh(0)).kind, 'unknown');
});

test('waits for permits are counted from what each process adds, over restarts and absences', (t) => {
  const [first, second] = [new Process(), new Process()];
  const cluster = new ClusterGauges([first, second]);
  first.tells({ limitReached: 100, limitTimeouts: 7 });
  t.is(told(cluster).limitReached, 0);
  // The first gauges of a process, or the first after an absence, do not count as new waits.
  second.tells({ limitReached: 50, limitTimeouts: 0 });
  t.is(told(cluster).limitReached, 0);
  first.tells({ limitReached: 103, limitTimeouts: 8 });
  t.like(told(cluster), { limitReached: 3, limitTimeouts: 1 });
  first.tells({ limitReached: 1, limitTimeouts: 0 });
  t.like(told(cluster), { limitReached: 3, limitTimeouts: 1 });
  second.state = { kind: 'unknown' };
  first.tells({ limitReached: 2, limitTimeouts: 0 });
  t.like(told(cluster), { limitReached: 4, limitTimeouts: 1 });
});

test('one reading is one object, by which a new one is told', (t) => {
  const process = new Process().tells({ selects: 1 });
  const cluster = new ClusterGauges([process]);
  const first = told(cluster);
  t.is(told(cluster), first);
  process.tells({ selects: 1 });
  t.not(told(cluster), first);
});
