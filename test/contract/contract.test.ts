import test from 'ava';

import { startDevBackend } from '../../plugins/embedded-backend/dev-backend.js';
import { replay } from './contract.js';
import { loadData } from './recordings.js';

test.serial('the embedded backend answers every recorded request as the real server does', async (t) => {
  const backend = await startDevBackend();
  try {
    await loadData(backend.url);
    const outcomes = await replay(backend.url);
    const failed = outcomes.filter(({ difference }) => difference !== undefined);
    t.is(outcomes.length, 536);
    t.deepEqual(
      failed.map(({ recording, difference }) => `${recording.id}: ${difference ?? ''}`),
      [],
    );
  } finally {
    await backend.close();
  }
});
