import test from 'ava';
import { SteppedJson } from '../../../core/base/stepped-json.js';
import { doAll, type Steps } from '../../../core/base/pace/steps.js';

/** Reads any JSON value, one member or element at a time. */
function* read(reader: SteppedJson, next: string): Steps<unknown> {
  if (next === '{') {
    const members = new Map<string, unknown>();
    yield* reader.object(function* (name) {
      members.set(name, yield* reader.value());
    });
    return Object.fromEntries(members);
  }
  const all: unknown[] = [];
  yield* reader.elements((some) => all.push(...some));
  return all;
}

function parse(text: string): unknown {
  const reader = new SteppedJson(text);
  const value = doAll(read(reader, text.trim().slice(0, 1)));
  reader.end();
  return value;
}

const texts = [
  '{}',
  '[]',
  ' { "a" : 1 , "b":[1,[2,{"c":"]}"}]],"d":null, "e":"\\\\", "f":"\\"{" }\n',
  '[1,-2.5e3,"x,y",true,{"a":{"b":[[]]}},"\\\\\\""]',
  '[ [ ] , { } , "" ]',
];
for (const text of texts)
  test(`a JSON text is read in parts as JSON.parse reads it whole: ${text.trim()}`, (t) => {
    t.deepEqual(parse(text), JSON.parse(text));
  });

test('many elements come some at a time, in steps', (t) => {
  const items = Array.from({ length: 20_000 }, (_none, index) => [index, `text "${index}"`]);
  const reader = new SteppedJson(JSON.stringify(items));
  const batches: (readonly unknown[])[] = [];
  let steps = 0;
  const running = reader.elements((some) => batches.push(some));
  while (running.next().done !== true) steps += 1;
  reader.end();
  t.deepEqual(batches.flat(), items);
  t.true(batches.length > 5);
  t.true(steps >= batches.length - 1);
});

test('null is an empty array, and one long value is passed in steps', (t) => {
  t.deepEqual(doAll(read(new SteppedJson('null'), '[')), []);
  const long = JSON.stringify({ a: Array.from({ length: 50_000 }, () => 'x') });
  let steps = 0;
  const reader = new SteppedJson(long);
  const running = reader.value();
  for (let next = running.next(); next.done !== true; next = running.next()) steps += 1;
  t.true(steps > 2);
});

for (const text of [
  '',
  '{',
  '[',
  '[1',
  '[1,',
  '[,]',
  '[1,,2]',
  '{"a"}',
  '{"a":1',
  '{a:1}',
  '["x]',
  '[1] 2',
  '{1:2}',
])
  test(`a broken JSON text is refused: ${JSON.stringify(text)}`, (t) => {
    t.throws(() => parse(text));
  });
