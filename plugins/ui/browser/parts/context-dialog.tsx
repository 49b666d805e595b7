import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { failureText, fetchRange, streamSelector } from '../api.js';
import { formatTime } from '../model/format.js';
import { logRows, type LogRow } from '../model/log-rows.js';
import { joined } from '../model/paging.js';
import { session } from '../store/session.js';
import { useStore } from '../store/store.js';
import { Dialog } from './dialog.js';

const linesAround = 20;
const aroundNs = 7_200_000_000_000n;

type Side = 'before' | 'after';

/** The lines of a row's stream around it, oldest first, ignoring the query's filters. */
export function ContextDialog({
  row,
  onClose,
}: {
  readonly row: LogRow;
  readonly onClose: () => void;
}): JSX.Element {
  const zone = useStore(session.store, (state) => state.settings.zone);
  const [rows, setRows] = useState<readonly LogRow[]>([row]);
  const [problem, setProblem] = useState<string>();
  const [ended, setEnded] = useState<readonly Side[]>([]);
  const here = useRef<HTMLLIElement>(null);
  const load = async (side: Side): Promise<void> => {
    try {
      const { page, isAll } = await around(row, rows, side);
      setRows((before) => joined(before, page, 'forward'));
      if (isAll) setEnded((before) => [...before, side]);
    } catch (error) {
      setProblem(failureText(error));
    }
  };
  useEffect(() => {
    void Promise.all([load('before'), load('after')]).then(() =>
      requestAnimationFrame(() => here.current?.scrollIntoView({ block: 'center' })),
    );
  }, []);
  const more = (side: Side): JSX.Element =>
    ended.includes(side) ? (
      <p class="quiet">No lines {side} within two hours.</p>
    ) : (
      <button type="button" class="button" onClick={() => void load(side)}>
        More lines {side}
      </button>
    );
  return (
    <Dialog title="Lines around" onClose={onClose}>
      <p class="quiet context-stream">
        {Object.entries(row.stream)
          .map(([name, value]) => `${name}=${JSON.stringify(value)}`)
          .join(', ')}
      </p>
      {problem !== undefined && (
        <p class="notice" role="alert">
          {problem}
        </p>
      )}
      <div class="context" tabIndex={0} role="region" aria-label="Lines around, the oldest first">
        {more('before')}
        <ol>
          {rows.map((one) => (
            <li
              key={one.key}
              ref={one.key === row.key ? here : null}
              class={`context-row level-${one.level}${one.key === row.key ? ' is-here' : ''}`}
              aria-current={one.key === row.key ? 'true' : undefined}
            >
              <time>{formatTime(one.ms, zone)}</time>
              <span>{one.line}</span>
            </li>
          ))}
        </ol>
        {more('after')}
      </div>
    </Dialog>
  );
}

/** Loads the next lines on one side of the loaded ones. */
async function around(
  row: LogRow,
  rows: readonly LogRow[],
  side: Side,
): Promise<{ readonly page: readonly LogRow[]; readonly isAll: boolean }> {
  const { tenant } = session.store.state.form;
  const edge = BigInt((side === 'before' ? rows[0] : rows.at(-1))?.ns ?? row.ns);
  const known = rows.filter(({ ns }) => BigInt(ns) === edge).length;
  const limit = known + linesAround;
  const isBefore = side === 'before';
  const range = isBefore
    ? { startNs: edge - aroundNs, endNs: edge + 1n }
    : { startNs: edge, endNs: edge + aroundNs };
  const direction = isBefore ? 'backward' : 'forward';
  const query = await streamSelector(row.stream);
  const { data } = await fetchRange({ query, tenant, limit, direction, range }, AbortSignal.timeout(30_000));
  const page = data.resultType === 'streams' ? logRows(data.result, direction) : [];
  return { page, isAll: page.length < limit };
}
