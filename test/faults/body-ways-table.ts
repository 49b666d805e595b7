import { deflateSync, gzipSync } from 'node:zlib';
import { halved } from './lost-nodes.js';
import { chunked, head, sized, whole, type Action, type BackendReply } from './wire.js';
import type { Way } from './way.js';

function bad(
  name: string,
  actions: (reply: BackendReply) => readonly Action[] | undefined,
  told?: string,
): Way {
  return { name, law: 'same-or-error', actions, ...(told === undefined ? {} : { told }) };
}

const isRows = ({ path }: BackendReply): boolean => path.endsWith('/query');
const isEmpty = ({ body }: BackendReply): boolean => body.length === 0;

/** A response with another body. */
function body(
  name: string,
  text: string | ((text: string, reply: BackendReply) => string | undefined),
  told?: string,
): Way {
  return bad(
    name,
    (reply) => {
      const changed = typeof text === 'string' ? text : text(reply.body.toString('utf8'), reply);
      return changed === undefined ? undefined : [whole(reply, { body: Buffer.from(changed) })];
    },
    told,
  );
}

const page = '<!DOCTYPE html><html><body><h1>It works!</h1></body></html>';

const successes = [201, 202, 203, 204, 205, 206, 207, 226, 299];
const redirects = [300, 301, 302, 304, 307, 308];
const refusals = [400, 401, 403, 404, 405, 408, 409, 413, 418, 421, 422, 429, 451, 499];
const failures = [500, 501, 502, 503, 504, 505, 507, 511, 520, 599];

const statuses: readonly Way[] = [
  ...successes.flatMap((status): readonly Way[] => [
    bad(`status ${status} with the true body`, (reply) => {
      if (status === 204 || status === 205) return [head(status, { 'Content-Length': '0' })];
      return [whole(reply, { status })];
    }),
    bad(`status ${status} without a body`, () => [head(status, { 'Content-Length': '0' })]),
  ]),
  ...redirects.map((status) =>
    bad(`status ${status}`, () => [head(status, { 'Content-Length': '0', Location: 'http://127.0.0.1:1/' })]),
  ),
  ...[...refusals, ...failures].flatMap((status): readonly Way[] => [
    bad(`status ${status} with the true body`, (reply) => [whole(reply, { status })]),
    bad(`status ${status} without a body`, () => [head(status, { 'Content-Length': '0' })]),
    bad(`status ${status} with a page`, (reply) => [
      whole(reply, { status, contentType: 'text/html', body: Buffer.from(page) }),
    ]),
    bad(
      `status ${status} with a text`,
      (reply) => [
        whole(reply, {
          status,
          contentType: 'text/plain',
          body: Buffer.from('remoteAddr: cannot read told text'),
        }),
      ],
      'told text',
    ),
  ]),
  ...[0, 99, 600, 999].map((status) =>
    bad(`status ${status}, which is none`, (reply) => [
      head(`${String(status).padStart(3, '0')} Odd`, { 'Content-Length': String(reply.body.length) }),
      reply.body,
      'close',
    ]),
  ),
];

const types: readonly Way[] = ['text/html', 'text/plain', 'image/png', 'application/octet-stream', ''].map(
  (contentType) =>
    bad(`type ${contentType === '' ? 'that is empty' : contentType}`, (reply) => [
      whole(reply, { contentType }),
    ]),
);

function encoded(name: string, encoding: string, bytes: (body: Buffer) => Buffer, law: Way['law']): Way {
  return {
    name,
    law,
    actions: (reply) => [
      head(reply.status, {
        'Content-Type': reply.contentType,
        'Content-Encoding': encoding,
        'Transfer-Encoding': 'chunked',
      }),
      chunked(bytes(reply.body)),
    ],
  };
}

const encodings: readonly Way[] = [
  encoded('gzip though none was asked for', 'gzip', (plain) => gzipSync(plain), 'same'),
  encoded('gzip in name only', 'gzip', (plain) => plain, 'same-or-error'),
  encoded('gzip cut in the middle', 'gzip', (plain) => gzipSync(plain).subarray(0, -12), 'same-or-error'),
  encoded('gzip with a wrong sum', 'gzip', (plain) => spoilt(gzipSync(plain), -6), 'same-or-error'),
  encoded('gzip with a spoilt byte', 'gzip', (plain) => spoilt(gzipSync(plain), 14), 'same-or-error'),
  encoded('gzip twice', 'gzip', (plain) => gzipSync(gzipSync(plain)), 'same-or-error'),
  encoded(
    'gzip with bytes behind it',
    'gzip',
    (plain) => Buffer.concat([gzipSync(plain), Buffer.from('tail')]),
    'same-or-error',
  ),
  encoded('gzip of nothing', 'gzip', () => Buffer.alloc(0), 'same-or-error'),
  encoded('deflate that was not asked for', 'deflate', (plain) => deflateSync(plain), 'same-or-error'),
  encoded('br in name only', 'br', (plain) => plain, 'same-or-error'),
  encoded('an encoding nobody knows', 'rot13', (plain) => gzipSync(plain), 'same-or-error'),
];

function spoilt(bytes: Buffer, at: number): Buffer {
  const copy = Buffer.from(bytes);
  const place = at < 0 ? copy.length + at : Math.min(at, copy.length - 1);
  copy[place] = (copy[place] ?? 0) ^ 0x5a;
  return copy;
}

/** Bodies that are valid for no call. */
const strangers: readonly Way[] = [
  // No rows is a valid result of a query, so an empty body is damage only for listings.
  body('an empty body', (_text, reply) => (isRows(reply) ? undefined : '')),
  body('a body of blanks', (_text, reply) => (isRows(reply) ? undefined : ' \n\n ')),
  ...[
    '{}',
    '[]',
    'null',
    '42',
    '"text"',
    'true',
    'OK',
    '{',
    '[1,2',
    '{"status":"success"}',
    '{"data":{}}',
    '{"values":null}',
    '{"values":{}}',
    '{"values":"a"}',
    '{"values":[null]}',
    '{"values":[{}]}',
    '{"values":[{"value":1,"hits":"2"}]}',
    '{"values":[["a",1]]}',
    '{"__proto__":{"values":[]}}',
    '{"status":"success","data":{"resultType":"vector"}}',
    '{"status":"success","data":{"result":null}}',
    '{"status":"success","data":{"resultType":"vector","result":[{}]}}',
    '{"hits":null}',
    '{"hits":[{}]}',
  ].map((text) => body(`the body ${text}`, text)),
  body('an error with 200', '{"error":"told text"}', 'told text'),
  body('an error with 200 and more', '{"status":"error","errorType":"500","error":"told text"}', 'told text'),
  body('a page with 200', page),
  body('deep brackets', '['.repeat(20_000)),
  body('deep objects', `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`),
  bad('bytes of nothing', (reply) => [
    whole(reply, { body: Buffer.from(Array.from({ length: 400 }, (_, at) => (at * 151) % 256)) }),
  ]),
];

/** Real bodies that were damaged in transit. */
const spoils: readonly Way[] = [
  body('a byte order mark ahead', (text) => `\ufeff${text}`),
  body('text behind it', (text) => `${text}x`),
  body('its second half first', (text) =>
    text.length < 8 ? undefined : text.slice(text.length >> 1) + text.slice(0, text.length >> 1),
  ),
  // A gap inside a text leaves a valid row, so the damage would not be detectable.
  body('a quote missing in the middle', (text) => {
    const [quote] = [...text.matchAll(/(?<=[^\\])"/g)].filter(({ index }) => index >= text.length >> 1);
    return quote === undefined ? undefined : text.slice(0, quote.index) + text.slice(quote.index + 1);
  }),
  body('its last byte missing', (text) =>
    text.trimEnd().length < 3 ? undefined : text.trimEnd().slice(0, -1),
  ),
  body('its first byte missing', (text) => (text.length < 3 ? undefined : text.slice(1))),
  body('NaN for a number', (text) => swap(text, /"\d+"(?=[},\]])/, 'NaN')),
  body('single quotes', (text) => (text.includes('"') ? text.replaceAll('"', "'") : undefined)),
  bad('another length than it has, in whole rows', (reply) => {
    const half = reply.body.indexOf('\n') + 1;
    if (!isRows(reply) || half <= 0 || half === reply.body.length) return undefined;
    return [sized(reply).subarray(0, sized(reply).length - reply.body.length + half), 'close'];
  }),
];

function swap(text: string, what: RegExp, by: string): string | undefined {
  return what.test(text) ? text.replace(what, by) : undefined;
}

const oddRows = [
  '{"_time":null}',
  '{"_time":5}',
  '{"_time":"yesterday","_stream":"{}","_msg":"x"}',
  '{"error":"told text"}',
  '{"_time":"2026-11-01T00:00:01Z","_stream":7,"_msg":"x"}',
  '{"_time":"2026-11-01T00:00:01Z","_stream":"{a","_msg":"x"}',
  '{"_time":"2026-11-01T00:00:01Z","_stream":"{}","_msg":{"a":1}}',
  '{"_time":"2026-11-01T00:00:01Z","_stream":"{}","_msg":["x"],"level":null}',
  '[]',
  'null',
  '42',
  '"text"',
  '{"a":"b"',
  'cannot read the rest of the rows: told text',
  page,
];

/** Invalid rows among valid ones. */
const rows: readonly Way[] = oddRows.flatMap((odd): readonly Way[] => [
  rowAt(`the row ${odd.slice(0, 60)} at the end`, odd, (lines) => lines.length),
  rowAt(`the row ${odd.slice(0, 60)} ahead`, odd, () => 0),
  rowAt(`the row ${odd.slice(0, 60)} in the middle`, odd, (lines) => lines.length >> 1),
]);

function rowAt(name: string, odd: string, place: (lines: readonly string[]) => number): Way {
  return body(
    name,
    (text, reply) => {
      if (!isRows(reply)) return undefined;
      const lines = text.split('\n').filter((line) => line !== '');
      lines.splice(place(lines), 0, odd);
      return `${lines.join('\n')}\n`;
    },
    'told text',
  );
}

const fine: readonly Way[] = [
  {
    ...body('blank lines between rows', (text, reply) =>
      isRows(reply) ? text.replaceAll('\n', '\n\n') : undefined,
    ),
    law: 'same',
  },
  {
    ...body('no line feed after the last row', (text, reply) =>
      isRows(reply) && !isEmpty(reply) ? text.trimEnd() : undefined,
    ),
    law: 'same',
  },
];

/** A cluster's response without one of its nodes, and a complete one that is only marked as partial. */
const partial: readonly Way[] = [true, false].map((isShort) =>
  bad(
    `partial, ${isShort ? 'and short' : 'though whole'}`,
    (reply) =>
      reply.path.startsWith('/select/logsql/')
        ? [
            whole(reply, {
              headers: { 'VL-Partial-Response': 'true' },
              ...(isShort ? { body: Buffer.from(halved(reply.body.toString('utf8'))) } : {}),
            }),
          ]
        : undefined,
    'vl-partial-response: true',
  ),
);

export const bodyWays: readonly Way[] = [
  ...partial,
  ...statuses,
  ...types,
  ...encodings,
  ...strangers,
  ...spoils,
  ...rows,
  ...fine,
];
