import test from 'ava';
import { bufferedWriter, directWriter } from '../../../core/telemetry/log-writer.js';
import { createLoggers, lostLinesRecord } from '../../../core/telemetry/logger.js';
import { CapturedLog } from '../../../core/testing/index.js';

test('records have the field names of the specification and none of the logger’s own', (t) => {
  const log = new CapturedLog();
  createLoggers('info', directWriter(log))
    .component('disk_cache')
    .warn('nearly full 100%s', { 'disk.bytes': 7n });
  const [record] = log.records;
  t.deepEqual(
    [...(record?.keys() ?? [])],
    ['timestamp', 'severity.text', 'severity.number', 'body', 'component', 'disk.bytes'],
  );
  t.is(record?.get('severity.text'), 'WARN');
  t.is(record?.get('severity.number'), 13);
  t.is(record?.get('body'), 'nearly full 100%s');
  t.is(record?.get('component'), 'disk_cache');
  t.is(record?.get('disk.bytes'), '7');
  t.regex(String(record?.get('timestamp')), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
});

test('records below the level are not written', (t) => {
  const log = new CapturedLog();
  const logger = createLoggers('warn', directWriter(log)).component('proxy');
  logger.debug('d');
  logger.info('i');
  logger.warn('w');
  logger.error('e');
  t.deepEqual(
    log.records.map((record) => record.get('body')),
    ['w', 'e'],
  );
});

test('errors are written with message, stack and cause', (t) => {
  const log = new CapturedLog();
  const error = new Error('outer', { cause: new TypeError('inner') });
  createLoggers('info', directWriter(log)).component('proxy').error('failed', { error });
  const shown = JSON.stringify(log.records[0]?.get('error'));
  t.regex(shown, /"message":"outer".*"stack":.*"cause":\{"type":"TypeError","message":"inner"/);
});

/** A destination that is full until it is told otherwise. */
function slowDestination(): {
  written: string[];
  drain(): void;
  write(text: string): boolean;
  once(event: 'drain', go: () => void): void;
} {
  let go: () => void = () => undefined;
  const written: string[] = [];
  return {
    written,
    drain: () => go(),
    write: (text) => {
      written.push(text);
      return false;
    },
    once: (_event, listener) => {
      go = listener;
    },
  };
}

test('a buffered writer joins lines and holds no more than its bound while the destination is full', (t) => {
  const destination = slowDestination();
  const writer = bufferedWriter(destination, (count) => `lost ${count}\n`, 10);
  writer.write('aaaa\n');
  writer.write('bbbb\n');
  writer.flush();
  t.deepEqual(destination.written, ['aaaa\nbbbb\n']);
  writer.write('cccc\n');
  writer.write('dddd\n');
  writer.write('eeee\n');
  writer.write('ffff\n');
  destination.drain();
  t.deepEqual(destination.written, ['aaaa\nbbbb\n', 'cccc\ndddd\nlost 2\n']);
});

test('lost records are reported in a record of their own', (t) => {
  const record: unknown = JSON.parse(lostLinesRecord(3));
  t.like(record, { 'severity.text': 'WARN', 'log.records_lost': 3 });
});
