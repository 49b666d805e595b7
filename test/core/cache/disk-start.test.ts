import test from 'ava';
import { openDiskFile } from '../../../core/cache/disk-file.js';
import { answerOf } from './disk-answers.js';
import { fileFor, openTier } from './disk.js';

const hour = 3_600_000;

for (const code of ['EROFS', 'ENOSPC', 'SQLITE_READONLY']) {
  test(`a disk that fails with ${code} at the start turns the tier off, and is tried again`, async (t) => {
    let isFailing = true;
    const { tier, told, host } = await openTier({
      path: await fileFor(t),
      open: (path) =>
        isFailing
          ? Promise.reject(Object.assign(new Error(`${code}: made up`), { code }))
          : openDiskFile(path),
    });
    t.false(told.isOn);
    tier.set('not taken', answerOf(1), hour);
    t.is(await tier.get('not taken'), undefined);
    isFailing = false;
    host.clock.advance(60_000);
    await tier.tick();
    tier.set('taken', answerOf(2), hour);
    await tier.flush();
    t.deepEqual((await tier.get('taken'))?.packed, answerOf(2));
    t.true(told.isOn);
    t.deepEqual(
      host.records.map(({ level, body }) => `${level}: ${body}`),
      ['error: disk cache failed and is off, it is tried again every minute', 'info: disk cache works again'],
    );
    await tier.close();
  });
}
