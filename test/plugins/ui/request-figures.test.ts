import test from 'ava';
import { RequestRecord } from '../../../core/kernel/telemetry/request-log.js';
import { makeCaller } from '../../../core/testing/index.js';
import { mergeSnapshots, RequestFigures, type WorkerSnapshot } from '../../../plugins/ui/index.js';

function answered(route: string): RequestRecord {
  const record = new RequestRecord('GET', '/', makeCaller(), 0);
  record.requestType = route;
  return record;
}

function snapshotOf(routes: WorkerSnapshot['routes']): WorkerSnapshot {
  const pipeline = { file: 'a.yaml', startedMs: 0, stages: [], endpoints: [], services: [], sections: [] };
  return { pipeline, backend: { calls: 0, errors: 0, ms: undefined }, routes };
}

test('requests are counted by route, with errors and times', (t) => {
  const figures = new RequestFigures();
  for (const ms of [1, 2, 30]) figures.finished(answered('labels'), ms === 30 ? 404 : 200, ms);
  figures.finished(answered('series'), 200, 5);
  t.deepEqual(figures.routes(), [
    { route: 'labels', calls: 3, errors: 1, ms: { p50: 2, p95: 30 } },
    { route: 'series', calls: 1, errors: 0, ms: { p50: 5, p95: 5 } },
  ]);
});

test('no more than two hundred routes are counted', (t) => {
  const figures = new RequestFigures();
  for (let index = 0; index < 300; index += 1) figures.finished(answered(`r${index}`), 200, 1);
  figures.finished(answered('r7'), 200, 1);
  t.is(figures.routes().length, 200);
  t.is(figures.routes().find(({ route }) => route === 'r7')?.calls, 2);
});

test('routes of several workers are added up, with the times of the slower one', (t) => {
  const { routes } = mergeSnapshots([
    snapshotOf([{ route: 'labels', calls: 3, errors: 1, ms: { p50: 2, p95: 30 } }]),
    snapshotOf([
      { route: 'labels', calls: 2, errors: 0, ms: { p50: 4, p95: 8 } },
      { route: 'tail', calls: 1, errors: 0, ms: undefined },
    ]),
  ]);
  t.deepEqual(routes, [
    { route: 'labels', calls: 5, errors: 1, ms: { p50: 4, p95: 30 } },
    { route: 'tail', calls: 1, errors: 0, ms: undefined },
  ]);
});
