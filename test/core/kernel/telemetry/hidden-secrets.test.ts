import test from 'ava';
import fc from 'fast-check';
import { Secrets } from '../../../../core/base/secrets.js';
import { createLoggers, LogWriter } from '../../../../core/kernel/telemetry/logger.js';
import { CapturedLog } from '../../../../core/testing/index.js';

/** Characters that the spellings encode differently; none of them occurs in the replacement of a secret. */
const secret = fc.string({
  unit: fc.constantFrom('X', 'y', '7', '/', '+', '=', '%', '&', ' ', '"', '\\', '\n', 'é', '😀'),
  minLength: 6,
  maxLength: 20,
});
const ofPair = (text: string): string => `user:${text}`;
const inBase64 = (text: string): string => Buffer.from(text).toString('base64').replace(/=+$/, '');
const inBody = (text: string): readonly [body: string, fields: Readonly<Record<string, unknown>>] => [
  text,
  {},
];
const given: readonly ((text: string) => string)[] = [
  (text) => text,
  ofPair,
  (text) => `X-Name: ${text}`,
  (text) => `one=two; sid=${text}`,
  (text) => `http://user:${encodeURIComponent(text)}@backend:9428/path`,
  (text) => `Basic ${Buffer.from(`user:${text}`).toString('base64')}`,
];
const spelled: readonly ((text: string) => string)[] = [
  (text) => text,
  (text) => encodeURIComponent(text),
  (text) => encodeURIComponent(text).replace(/%[\dA-F]{2}/g, (code) => code.toLowerCase()),
  (text) => encodeURIComponent(text).replaceAll('%20', '+'),
  (text) => JSON.stringify(text).slice(1, -1),
  inBase64,
  (text) => Buffer.from(text).toString('base64url'),
];
/** Places for a text in a record. */
const places: readonly (typeof inBody)[] = [
  inBody,
  (text) => ['body', { field: text, number: 1n }],
  (text) => ['body', { [text]: 1 }],
  (text) => ['body', { error: new Error('outer', { cause: new Error(text) }) }],
  (text) => ['body', { deep: { list: [{ text }, { [text]: [1n] }] } }],
];

/** All strings and names of a record. */
function* textsIn(value: unknown): Generator<string> {
  if (typeof value === 'string') yield value;
  else if (typeof value === 'object' && value !== null)
    for (const [name, member] of Object.entries(value)) {
      yield name;
      yield* textsIn(member);
    }
}

function recordOf(
  secrets: Secrets,
  body: string,
  fields: Readonly<Record<string, unknown>>,
): readonly string[] {
  const log = new CapturedLog();
  const writer = new LogWriter(log, { isBuffered: false, lostLine: String, onLost: () => undefined });
  createLoggers('info', writer, {}, secrets).component('proxy').info(body, fields);
  return [...textsIn(Object.fromEntries(log.records[0] ?? []))];
}

test('no secret is in any record, however it was given, spelled and placed', (t) => {
  const around = fc.string({ maxLength: 10 });
  fc.assert(
    fc.property(
      fc.oneof(
        fc.tuple(
          secret.filter((text) => text.trim() === text),
          fc.constantFrom(...given),
        ),
        fc.tuple(
          secret.filter((text) => !/\s/.test(text)),
          fc.constant((text: string) => `Bearer ${text}`),
        ),
      ),
      fc.constantFrom(...spelled),
      fc.constantFrom(...places),
      around,
      around,
      ([text, give], spell, place, before, after) => {
        const secrets = new Secrets();
        secrets.addAll(['another-secret', give(text)]);
        const shown = spell(text);
        for (const each of recordOf(secrets, ...place(`${before}${shown}${after}`)))
          t.false(each.includes(shown), JSON.stringify(each));
      },
    ),
    // A password that makes the pair look like a URL.
    { examples: [[['//XyZ777', ofPair], inBase64, inBody, '', '']] },
  );
});

test('what has the form of credentials is in no record, whatever white space stands in it', (t) => {
  const space = fc.constantFrom(' ', '\n', '\t', '\v', '\u2028', '%20', '+', '  ');
  const scheme = fc.constantFrom('Basic', 'bearer', 'BEARER');
  fc.assert(
    fc.property(scheme, space, fc.constantFrom(...places), (name, between, place) => {
      for (const text of [
        `${name}${between}XyZ777==`,
        `x\n${name}${between}XyZ777`,
        'at http://us\u0001er:XyZ777@h/',
      ])
        for (const each of recordOf(new Secrets(), ...place(text))) t.false(each.includes('XyZ777'), each);
    }),
  );
});
