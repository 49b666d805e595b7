import test from 'ava';
import type { EncodedAnswer } from '../../../core/wire/answer/types.js';
import type { HttpCall } from '../../../core/plugin/index.js';
import { makeCall } from '../../../core/testing/index.js';
import { Profiles } from '../../../plugins/admin/profiles.js';

function callFor(profile: string, seconds = '0.01', signal = new AbortController().signal): HttpCall {
  return makeCall({
    route: 'debug_pprof',
    path: `/debug/pprof/${profile}`,
    pathParams: new Map(profile === '' ? [] : [['profile', profile]]),
    params: new Map([['seconds', [seconds]]]),
    signal,
  });
}

async function take(profiles: Profiles, profile: string): Promise<EncodedAnswer> {
  const answer = await profiles.answer(callFor(profile));
  if (answer.kind !== 'encoded') throw new Error('no finished answer');
  return answer;
}

test.serial('the index names the profiles', async (t) => {
  const { body, contentType } = await take(new Profiles(), '');
  t.is(contentType, 'text/plain; charset=utf-8');
  for (const name of ['profile', 'allocs', 'heap']) t.true(body.toString().includes(name));
});

test.serial('a CPU profile and sampled allocations are what developer tools open', async (t) => {
  const profiles = new Profiles();
  const cpu = await take(profiles, 'profile');
  t.is(cpu.headers.get('Content-Disposition'), 'attachment; filename="cpu.cpuprofile"');
  const profile = JSON.parse(cpu.body.toString()) as Record<string, unknown>;
  t.true(Array.isArray(profile['nodes']) && Array.isArray(profile['samples']));
  const allocated = JSON.parse((await take(profiles, 'allocs')).body.toString()) as Record<string, unknown>;
  t.is(typeof allocated['head'], 'object');
});

test.serial('a heap snapshot is refused when the heap is too large to be copied', async (t) => {
  const error = await t.throwsAsync(take(new Profiles({ maxHeapBytes: 1000 }), 'heap'));
  t.regex(error.message, /^the heap holds \d+ bytes; snapshots are taken up to 1000$/);
});

test.serial('a heap snapshot is what developer tools open', async (t) => {
  const { body, headers } = await take(new Profiles({ maxHeapBytes: 2 ** 40 }), 'heap');
  t.is(headers.get('Content-Disposition'), 'attachment; filename="heap.heapsnapshot"');
  t.true(body.subarray(0, 100).toString().startsWith('{"snapshot":{"meta"'));
  t.is(body.subarray(-1).toString(), '}');
});

test.serial('one profile is taken at a time, and a client that leaves ends it', async (t) => {
  const profiles = new Profiles();
  const gone = new AbortController();
  const first = profiles.answer(callFor('profile', '60', gone.signal));
  const busy = await t.throwsAsync(take(profiles, 'allocs'));
  t.is(busy.message, 'another profile is being taken');
  gone.abort();
  await t.throwsAsync(first, { name: 'AbortError' });
  t.is((await take(profiles, 'profile')).status, 200);
});

test.serial('an unknown profile is not found', async (t) => {
  const error = await t.throwsAsync(take(new Profiles(), 'nosuch'));
  t.is(error.message, '404 page not found');
});
