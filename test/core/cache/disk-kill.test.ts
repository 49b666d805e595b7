import { fileURLToPath } from 'node:url';
import { answerOf } from './disk-answers.js';
import { eachEngine } from './disk-engines.js';
import { fileFor, openTier } from './disk.js';
import { writeAndKill } from '../base/files/write-and-kill.js';

const writer = fileURLToPath(new URL('disk-writer.js', import.meta.url));
/** Number of kills; set `KILLS=200` for a longer run. */
const kills = Number(process.env['KILLS'] ?? 20);

eachEngine(
  'a process that is killed while it writes loses at most what it had not written',
  async (t, engine) => {
    const path = await fileFor(t);
    for (let kill = 0; kill < kills; kill += 1) {
      const told = await writeAndKill(writer, [path, engine.name], (kill * 7) % 23);
      const { tier, host } = await openTier({ engine, path });
      t.deepEqual(host.records, [], 'the file is in order');
      t.true(told > 0);
      for (let number = 0; number < told; number += 1 + Math.floor(told / 20))
        t.deepEqual((await tier.get(`key ${number}`))?.packed, answerOf(number), `${number} of ${told}`);
      await tier.close();
    }
  },
);
