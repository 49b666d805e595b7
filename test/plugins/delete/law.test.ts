import test from 'ava';
import { withDisk } from '../../core/cache/disk-engines.js';
import { runs } from '../../setup/samples.js';
import { tryTheLaw } from './law.js';

// TEST_RUNS=100 gives 200 runs; TEST_VICTORIALOGS=http://... uses another VictoriaLogs, started with -delete.enable.
withDisk(test.serial)(
  'after the backend has finished a deletion, no replica shows what is gone, whoever was killed meanwhile',
  async (t) => {
    const report = await tryTheLaw(runs(2));
    t.log(
      `${report.runs} runs, ${report.restarts} restarts, ${report.answers} answers, ${report.wrong.length} wrong`,
    );
    t.deepEqual(report.wrong, []);
    t.true(report.answers > 0);
  },
);
