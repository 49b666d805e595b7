import { gunzipSync } from 'node:zlib';
import test from 'ava';
import { Profile } from 'pprof-format';
import type { EncodedAnswer } from '../../../core/wire/answer/types.js';
import type { HttpCall } from '../../../core/plugin/index.js';
import { makeCall } from '../../../core/testing/index.js';
import { profiler } from '../../../plugins/admin/profiles.js';

interface Asked {
  readonly seconds?: string;
  readonly format?: string;
  readonly signal?: AbortSignal;
}

function callFor(
  profile: string,
  { seconds = '0.01', format, signal = new AbortController().signal }: Asked = {},
): HttpCall {
  return makeCall({
    route: 'debug_pprof',
    path: `/debug/pprof/${profile}`,
    pathParams: new Map(profile === '' ? [] : [['profile', profile]]),
    params: new Map([
      ['seconds', [seconds]],
      ...(format === undefined ? [] : [['format', [format]] as const]),
    ]),
    signal,
  });
}

async function take(
  profiles: ReturnType<typeof profiler>,
  profile: string,
  asked: Asked = {},
): Promise<EncodedAnswer> {
  const answer = await profiles(callFor(profile, asked));
  if (answer.kind !== 'encoded') throw new Error('no finished answer');
  return answer;
}

test.serial('the index names the profiles', async (t) => {
  const { body, contentType } = await take(profiler(), '');
  t.is(contentType, 'text/plain; charset=utf-8');
  for (const name of ['profile', 'allocs', 'heap']) t.true(body.toString().includes(name));
});

/** A profile as readers of pprof's format see it: the measured values, and the functions of its samples, summed by name. */
function read(bytes: Buffer): { readonly measured: readonly string[]; readonly byName: Map<string, number> } {
  const {
    sampleType,
    sample,
    location,
    function: functions,
    stringTable,
  } = Profile.decode(gunzipSync(bytes));
  const { strings } = stringTable;
  const nameOf = new Map(functions.map(({ id, name }) => [id, strings[Number(name)] ?? '']));
  const functionOf = new Map(location.map(({ id, line }) => [id, line[0]?.functionId ?? 0]));
  const byName = new Map<string, number>();
  for (const { locationId, value } of sample) {
    for (const name of new Set(locationId.map((id) => nameOf.get(functionOf.get(id) ?? 0) ?? 'lost')))
      byName.set(name, (byName.get(name) ?? 0) + Number(value.at(-1)));
  }
  const measured = sampleType.map(
    ({ type, unit }) => `${strings[Number(type)] ?? ''}/${strings[Number(unit)] ?? ''}`,
  );
  return { measured, byName };
}

/** Repeats the work until a profile has been taken. */
async function during<Result>(work: () => void, taken: Promise<Result>): Promise<Result> {
  const timer = setInterval(work, 1);
  try {
    return await taken;
  } finally {
    clearInterval(timer);
  }
}

function burnProcessor(): number {
  let sum = 0;
  for (let at = 0; at < 2_000_000; at += 1) sum += Math.sqrt(at);
  return sum;
}

const kept: unknown[] = [];
function keepObjects(): void {
  for (let at = 0; at < 5_000; at += 1) kept.push({ at, text: `object ${at}` });
}

test.serial('a CPU profile has the format of pprof, with time on the processor by function', async (t) => {
  const asked = take(profiler(), 'profile', { seconds: '0.5' });
  const { headers, contentType, body } = await during(burnProcessor, asked);
  t.is(headers.get('Content-Disposition'), 'attachment; filename="cpu.pb.gz"');
  t.is(contentType, 'application/octet-stream');
  const { measured, byName } = read(body);
  t.deepEqual(measured, ['samples/count', 'cpu/nanoseconds']);
  t.true((byName.get('burnProcessor') ?? 0) > 0);
  for (const name of ['(root)', '(idle)', 'lost', '']) t.false(byName.has(name), name);
});

test.serial('heap and allocs have the format of pprof, with bytes by function', async (t) => {
  for (const [profile, type] of [
    ['heap', 'inuse_space/bytes'],
    ['allocs', 'alloc_space/bytes'],
  ] as const) {
    kept.length = 0;
    const { body } = await during(keepObjects, take(profiler(), profile, { seconds: '0.5' }));
    const { measured, byName } = read(body);
    t.deepEqual(measured, [type]);
    t.true((byName.get('keepObjects') ?? 0) > 0);
  }
  kept.length = 0;
});

test.serial('a CPU profile and sampled allocations are what developer tools open', async (t) => {
  const profiles = profiler();
  const cpu = await take(profiles, 'profile', { format: 'v8' });
  t.is(cpu.headers.get('Content-Disposition'), 'attachment; filename="cpu.cpuprofile"');
  const profile = JSON.parse(cpu.body.toString()) as Record<string, unknown>;
  t.true(Array.isArray(profile['nodes']) && Array.isArray(profile['samples']));
  const { body } = await take(profiles, 'allocs', { format: 'v8' });
  const allocated = JSON.parse(body.toString()) as Record<string, unknown>;
  t.is(typeof allocated['head'], 'object');
});

test.serial('a heap snapshot is refused when the heap is too large to be copied', async (t) => {
  const error = await t.throwsAsync(take(profiler({ maxHeapBytes: 1000 }), 'heap', { format: 'v8' }));
  t.regex(error.message, /^the heap has \d+ bytes; heap snapshots are limited to 1000 bytes$/);
});

test.serial('a heap snapshot is what developer tools open', async (t) => {
  const { body, headers } = await take(profiler({ maxHeapBytes: 2 ** 40 }), 'heap', {
    format: 'v8',
  });
  t.is(headers.get('Content-Disposition'), 'attachment; filename="heap.heapsnapshot"');
  t.true(body.subarray(0, 100).toString().startsWith('{"snapshot":{"meta"'));
  t.is(body.subarray(-1).toString(), '}');
});

test.serial('one profile is taken at a time, and a client that leaves ends it', async (t) => {
  const profiles = profiler();
  const gone = new AbortController();
  const first = profiles(callFor('profile', { seconds: '60', signal: gone.signal }));
  const busy = await t.throwsAsync(take(profiles, 'allocs'));
  t.is(busy.message, 'another profile is already running; retry when it has finished');
  gone.abort();
  await t.throwsAsync(first, { name: 'AbortError' });
  t.is((await take(profiles, 'profile')).status, 200);
});

test.serial('an unknown profile is not found', async (t) => {
  const error = await t.throwsAsync(take(profiler(), 'nosuch'));
  t.is(error.message, '404 page not found');
});
