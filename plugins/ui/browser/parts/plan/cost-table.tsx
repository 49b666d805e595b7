import type { JSX } from 'preact';
import { formatBytes, formatCount, formatMs } from '../../model/format.js';
import { runFigures, type RunFigures } from '../../model/plan-words.js';
import type { RunReport } from '../../model/wire.js';
import { dataOf, type AskedAnswer } from '../../use-answer.js';

/** The report of a run; without data, the server does not know it. */
export type AskedRun = AskedAnswer<RunReport | undefined>;

/** The measured cost of the query and its histogram. */
export function CostTable({
  query,
  histogram,
}: {
  readonly query: AskedRun;
  /** Undefined for a query without a histogram. */
  readonly histogram: AskedRun | undefined;
}): JSX.Element {
  return (
    <div class="cost-scroll" tabIndex={0} role="region" aria-label="Cost">
      <table class="cost">
        <thead>
          <tr>
            <th scope="col">Cost</th>
            <th scope="col" class="number">
              Calls
            </th>
            <th scope="col" class="number">
              Rows
            </th>
            <th scope="col" class="number">
              Bytes
            </th>
            <th scope="col" class="number">
              Time
            </th>
          </tr>
        </thead>
        <tbody>
          <CostRow name="Query" run={query} />
          {histogram !== undefined && <CostRow name="Histogram" run={histogram} />}
        </tbody>
      </table>
    </div>
  );
}

function CostRow({ name, run }: { readonly name: string; readonly run: AskedRun }): JSX.Element {
  const report = dataOf(run);
  const figures = report === undefined ? undefined : runFigures(report);
  const text = (value: (known: RunFigures) => string): string =>
    figures === undefined ? (run.kind === 'asking' ? '…' : '–') : value(figures);
  return (
    <tr>
      <th scope="row">{name}</th>
      <td class="number">{text(({ calls }) => formatCount(calls))}</td>
      <td class="number">{text(({ rows }) => formatCount(rows))}</td>
      <td class="number">{text(({ bytes }) => formatBytes(bytes))}</td>
      <td class="number">{text(({ durationMs }) => `${formatMs(durationMs)} ms`)}</td>
    </tr>
  );
}
