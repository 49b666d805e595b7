import test from 'ava';
import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import {
  maxEntryBytes,
  parseSnapshot,
  snapshotEnd,
  snapshotText,
  UnusableSnapshot,
  type SnapshotFormat,
  type WrittenEntry,
} from '../../../../core/base/files/snapshot-json.js';
import { anyCharacter } from '../../../setup/text.js';

const savedAtMs = 1_793_491_200_123;

function formatOf(depth: 1 | 2): SnapshotFormat {
  return { version: 1, member: depth === 1 ? 'entries_by_key' : 'states_by_key', depth };
}

function written(format: SnapshotFormat, entries: Iterable<WrittenEntry>): Buffer {
  const text = Buffer.from([...snapshotText(format, savedAtMs, entries)].join(''));
  return Buffer.concat([text, Buffer.from(snapshotEnd(crc32(text)))]);
}

interface Read {
  readonly entries: readonly (readonly [names: readonly string[], value: unknown])[];
  readonly savedAtMs: number;
}

function read(format: SnapshotFormat, text: Buffer, pieceBytes = 4096): Read {
  const entries: [readonly string[], unknown][] = [];
  const parsing = parseSnapshot(format, (names, value) => entries.push([names, value]));
  parsing.next();
  for (let at = 0; ; at += pieceBytes) {
    const { done, value } = parsing.next(text.subarray(at, at + pieceBytes));
    if (done === true) return { entries, savedAtMs: value };
  }
}

/** The defect of a snapshot text; undefined if there is none. */
function defectOf(format: SnapshotFormat, text: Buffer): string | undefined {
  try {
    read(format, text);
    return undefined;
  } catch (error) {
    return error instanceof UnusableSnapshot ? error.defect : String(error);
  }
}

const aName = fc.oneof(
  fc.string({ unit: anyCharacter }),
  fc.constantFrom('__proto__', 'a"b\\', '\ud800', '', '{', '}'),
);
const aValue = fc.jsonValue();

function entriesOf(values: ReadonlyMap<string, ReadonlyMap<string, unknown>>, depth: 1 | 2): WrittenEntry[] {
  return [...values].flatMap(([first, seconds]) =>
    depth === 1
      ? [{ names: [first], json: JSON.stringify([...seconds]) }]
      : [...seconds].map(([second, value]) => ({ names: [first, second], json: JSON.stringify(value) })),
  );
}

test('a snapshot that is read has the entries that were written, in pieces of any size', (t) => {
  const anyValues = fc.array(fc.tuple(aName, fc.array(fc.tuple(aName, aValue), { maxLength: 4 })), {
    maxLength: 5,
  });
  fc.assert(
    fc.property(
      anyValues,
      fc.constantFrom(1, 2),
      fc.integer({ min: 1, max: 70 }),
      (values, depth, pieceBytes) => {
        const format = formatOf(depth);
        const entries = entriesOf(new Map(values.map(([name, inner]) => [name, new Map(inner)])), depth);
        const text = written(format, entries);
        t.notThrows(() => JSON.parse(text.toString()) as unknown);
        t.deepEqual(read(format, text, pieceBytes), {
          entries: entries.map(({ names, json }) => [names, JSON.parse(json) as unknown]),
          savedAtMs,
        });
      },
    ),
    { endOnFailure: true },
  );
});

const few: readonly WrittenEntry[] = [
  { names: ['shop|pod', 'a'], json: '{"seen_count":3}' },
  { names: ['shop|pod', 'b'], json: '{"seen_count":17}' },
  { names: ['shop|app', 'c'], json: '{"seen_count":1}' },
];

test('a snapshot of which any byte is another one is as it was written or unusable', (t) => {
  const format = formatOf(2);
  const text = written(format, few);
  const right = read(format, text);
  for (let at = 0; at < text.length; at += 1)
    for (const sign of [0x20, 0x22, 0x2c, 0x31, 0x32, 0x5c, 0x61, 0x7b, 0x7d, 0xff]) {
      const changed = Buffer.from(text);
      changed[at] = sign;
      if (defectOf(format, changed) === undefined)
        t.deepEqual(read(format, changed), right, `${at}: ${sign}`);
    }
});

test('a snapshot that is cut off is unusable', (t) => {
  const format = formatOf(2);
  const text = written(format, few);
  // Only the end of the line follows the last brace.
  for (let length = 0; length < text.length - 1; length += 1)
    t.not(defectOf(format, text.subarray(0, length)), undefined, `${length} bytes`);
});

test('snapshots of others are told from damaged ones', (t) => {
  const format = formatOf(1);
  const defect = (text: string): string | undefined => defectOf(format, Buffer.from(text));
  t.is(defect('{"version":1,"saved_at_unix_nano":1793491200123000000,"entries_by_key":{"a":1}}'), undefined);
  t.is(defect('{"entries_by_key":{},"more":[{"x":"}"}],"version":1}'), undefined, 'members in any order');
  t.is(defect(' { "version" : 1 ,\n "entries_by_key" : { } } \n'), undefined);
  t.is(defect('{"version":2,"entries_by_key":{"a":1}}'), 'other version');
  t.is(defect('{"version":1,"entries_by_key":{"a":1,}}'), 'damaged');
  t.is(defect('{"version":1,"entries_by_key":{"a":1}} x'), 'damaged');
  t.is(defect('{"version":1,"entries_by_key":{},"entries_by_key":{}}'), 'damaged');
  t.is(defect('{"version":1,"entries_by_key":[]}'), 'damaged');
  t.is(defect('{"version":1,"states_by_key":{}}'), 'foreign');
  for (const text of [
    '',
    'hello',
    '[]',
    '{}',
    'null',
    '{"name":"ref-proxy"}',
    '{"version":"1.2.3"}',
    '\0\0\0',
  ])
    t.is(defect(text), 'foreign', text);
});

test('an entry that is too large to be parsed in one turn is neither written nor read', (t) => {
  const format = formatOf(1);
  const large = JSON.stringify('x'.repeat(maxEntryBytes));
  const entries = [
    { names: ['a'], json: '1' },
    { names: ['b'], json: large },
    { names: ['c'], json: '3' },
  ];
  t.deepEqual(read(format, written(format, entries), 65_536).entries, [
    [['a'], 1],
    [['c'], 3],
  ]);
  t.is(defectOf(format, Buffer.from(`{"version":1,"entries_by_key":{"b":${large}}}`)), 'damaged');
});
