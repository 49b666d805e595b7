import test from 'ava';
import {
  createLoggers,
  type LogDestination,
  logFormOf,
  LogWriter,
  type LossReason,
  lostLinesRecord,
} from '../../../../core/kernel/telemetry/logger.js';
import { Secrets } from '../../../../core/base/secrets.js';
import { CapturedLog } from '../../../../core/testing/index.js';

function direct(log: CapturedLog): LogWriter {
  return new LogWriter(log, { isBuffered: false, lostLine: String, onLost: () => undefined });
}

test('records have the field names of the specification and none of the logger’s own', (t) => {
  const log = new CapturedLog();
  createLoggers('info', direct(log)).component('disk_cache').warn('nearly full 100%s', { 'disk.bytes': 7n });
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

test('no secret is in a record, in no spelling and in no part of it', (t) => {
  const log = new CapturedLog();
  const secrets = new Secrets();
  secrets.addAll(['http://user:pass%20word@cold', 'Name=Bearer to/ken+1', '"quoted"']);
  const text =
    'pass word, pass%20word, pass+word, to/ken+1, to%2fken%2b1, to%2Fken%2B1, say "quoted" cGFzcyB3b3Jk';
  const error = new Error(text, { cause: new Error(text) });
  const logger = createLoggers('info', direct(log), {}, secrets).component('proxy');
  logger.error(text, { error, list: [text], map: { text: { text } }, other: 'Basic dXNlcjpw http://a:b@c' });
  const shown = JSON.stringify(Object.fromEntries(log.records[0] ?? []));
  t.notRegex(shown, /pass|to(\/|%2f)ken|quoted|cGFzcyB3b3Jk|dXNlcjpw|a:b@/i);
  t.is(log.records[0]?.get('other'), 'Basic (hidden) http://(hidden)@c');
});

test('as text a record is one line without secrets, and nothing in it reaches the terminal as a control', (t) => {
  let text = '';
  const destination: LogDestination = {
    write: (piece, done) => {
      text += piece;
      done();
    },
  };
  const writer = new LogWriter(destination, { isBuffered: false, lostLine: String, onLost: () => undefined });
  const secrets = new Secrets();
  secrets.add('to=ken "1"');
  const log = createLoggers('info', writer, { 'worker.id': 2 }, secrets, 'text').component('proxy');
  log.error('with to=ken "1"\u001b[2J\nand more', {
    'url.path': '/a',
    query: '{a="b"} | c',
    direction: 'a\u202eb',
    control: '\u009bA\r\t\u007f',
    none: undefined,
    nothing: '',
    count: 7n,
    map: { 'a\u0085': ['to=ken "1"', null, true] },
    forged: 'x\n2026-11-26T00:00:00.000Z INFO  all is well',
  });
  const [time = '', ...rest] = text.split(' ');
  t.regex(time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  t.is(
    rest.join(' '),
    [
      'ERROR with (hidden)\\u001b[2J\\nand more component=proxy worker.id=2 url.path=/a query="{a=\\"b\\"} | c"',
      'direction="a\\u202eb" control="\\u009bA\\r\\t\\u007f" nothing="" count=7 map={"a\\u0085":["(hidden)",null,true]}',
      'forged="x\\n2026-11-26T00:00:00.000Z INFO  all is well"\n',
    ].join(' '),
  );
});

test('records are text on a terminal and JSON elsewhere, unless the form is chosen', (t) => {
  const write = (): void => undefined;
  t.is(logFormOf({}, { write, isTTY: true }), 'text');
  t.is(logFormOf({}, { write, isTTY: false }), 'json');
  t.is(logFormOf({}, { write }), 'json');
  t.is(logFormOf({ logFormat: 'json' }, { write, isTTY: true }), 'json');
  t.is(logFormOf({ logFormat: 'text' }, { write }), 'text');
});

test('records below the level are not written', (t) => {
  const log = new CapturedLog();
  const logger = createLoggers('warn', direct(log)).component('proxy');
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
  createLoggers('info', direct(log)).component('proxy').error('failed', { error });
  const shown = JSON.stringify(log.records[0]?.get('error'));
  t.regex(shown, /"message":"outer".*"stack":.*"cause":\{"type":"TypeError","message":"inner"/);
});

test('an error that is its own cause, or has no end of causes, is written all the same', (t) => {
  const log = new CapturedLog();
  const logger = createLoggers('info', direct(log)).component('proxy');
  const circle = new Error('one', { cause: new Error('two') });
  (circle.cause as Error).cause = circle;
  logger.error('failed', { error: circle });
  logger.error('failed', {
    error: Array.from({ length: 100 }).reduce<Error>(
      (cause, _none, at) => new Error(`e${at}`, { cause }),
      new Error('first'),
    ),
  });
  const [inCircle = '', deep = ''] = log.records.map((record) => JSON.stringify(record.get('error')));
  t.is(inCircle.match(/"message":/g)?.length, 2);
  t.is(deep.match(/"message":/g)?.length, 17);
});

/** A destination whose writes end only when the test says so, and with its result. */
class HeldDestination implements LogDestination {
  readonly written: string[] = [];
  readonly #under: ((error?: Error) => void)[] = [];

  write(text: string, done: (error?: Error) => void): void {
    this.written.push(text);
    this.#under.push(done);
  }

  /** Ends the write in progress. */
  end(error?: Error): void {
    this.#under.shift()?.(error);
  }
}

interface Held {
  readonly destination: HeldDestination;
  readonly writer: LogWriter;
  readonly lost: (readonly [count: number, reason: LossReason])[];
}

function held(isBuffered: boolean): Held {
  const destination = new HeldDestination();
  const lost: (readonly [count: number, reason: LossReason])[] = [];
  const writer = new LogWriter(destination, {
    isBuffered,
    lostLine: (count) => `lost ${count}\n`,
    onLost: (count, reason) => lost.push([count, reason]),
    maxBytes: 10,
  });
  return { destination, writer, lost };
}

for (const isBuffered of [true, false]) {
  test(`a writer, ${isBuffered ? 'buffered' : 'direct'}, holds no more than its bound while a write is under way`, (t) => {
    const { destination, writer, lost } = held(isBuffered);
    writer.write('aaaa\n');
    writer.flush();
    for (const line of ['cccc\n', 'dddd\n', 'eeee\n', 'ffff\n']) writer.write(line);
    t.deepEqual(destination.written, ['aaaa\n']);
    destination.end();
    writer.flush();
    t.deepEqual(destination.written, ['aaaa\n', 'cccc\ndddd\nlost 2\n']);
    t.deepEqual(lost, [
      [1, 'buffer_full'],
      [1, 'buffer_full'],
    ]);
  });
}

test('a buffered writer joins lines', (t) => {
  const { destination, writer } = held(true);
  writer.write('aaaa\n');
  writer.write('bbbb\n');
  writer.flush();
  t.deepEqual(destination.written, ['aaaa\nbbbb\n']);
});

test('lines of a failed write are counted, and told of as soon as there is room again', (t) => {
  const full = new Error('ENOSPC');
  const { destination, writer, lost } = held(false);
  writer.write('aaaa\n');
  destination.end(full);
  writer.write('bbbb\n');
  destination.end(full);
  writer.write('cccc\n');
  destination.end();
  writer.write('dddd\n');
  t.deepEqual(destination.written, ['aaaa\n', '\nbbbb\nlost 1\n', '\ncccc\nlost 2\n', 'dddd\n']);
  t.deepEqual(lost, [
    [1, 'write_failed'],
    [1, 'write_failed'],
  ]);
});

test('lost records are reported in a record of their own', (t) => {
  const record: unknown = JSON.parse(lostLinesRecord(3, 'json'));
  t.like(record, { 'severity.text': 'WARN', 'log.records_lost': 3 });
  t.regex(
    lostLinesRecord(3, 'text'),
    /^\S+Z WARN {2}log records were lost: .* component=proxy log\.records_lost=3\n$/,
  );
});

test('lines for a destination that others write to go in pieces that a pipe takes as a whole', (t) => {
  const pieces: string[] = [];
  const destination: LogDestination = {
    write: (text, done) => {
      pieces.push(text);
      done();
    },
  };
  const settings = { isBuffered: true, isShared: true, lostLine: String, onLost: () => undefined };
  const writer = new LogWriter(destination, settings);
  const lines = Array.from({ length: 100 }, (_, at) => `${'é'.repeat(at === 50 ? 3_000 : 60)} ${at}\n`);
  for (const line of lines) writer.write(line);
  writer.flush();
  t.is(pieces.join(''), lines.join(''));
  t.true(pieces.every((piece) => piece.endsWith('\n')));
  // A line that exceeds the limit by itself is written alone.
  const long = pieces.filter((piece) => Buffer.byteLength(piece) > 4_096);
  t.deepEqual(long, [lines[50]]);
});
