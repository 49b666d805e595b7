import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { formatDay, formatTime } from '../model/format.js';
import type { LogRow } from '../model/log-rows.js';
import type { TimeRange } from '../model/time-range.js';

const dayMs = 86_400_000;
const longLog = 300;

/** The lines of an answer; each opens to its labels. */
export function LogList({
  rows,
  range,
}: {
  readonly rows: readonly LogRow[];
  readonly range: TimeRange;
}): JSX.Element {
  if (rows.length === 0) return <p class="panel empty">No lines in this range.</p>;
  const hasDays = range.endMs - range.startMs > dayMs;
  return (
    <ol class={rows.length > longLog ? 'panel log is-long' : 'panel log'} aria-label="Log lines">
      {rows.map((row, index) => (
        <Row key={`${row.ns}:${index}`} row={row} hasDay={hasDays} />
      ))}
    </ol>
  );
}

function Row({ row, hasDay }: { readonly row: LogRow; readonly hasDay: boolean }): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  return (
    <li class={`row level-${row.level}`}>
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>
          <time datetime={new Date(row.ms).toISOString()} title={`${row.ns} ns`}>
            {hasDay && <span class="day">{formatDay(row.ms)} </span>}
            {formatTime(row.ms)}
          </time>
          <span class="level">{row.level}</span>
          <span class="line">{row.line === '' ? ' ' : row.line}</span>
        </summary>
        {isOpen && <RowLabels row={row} />}
      </details>
    </li>
  );
}

function RowLabels({ row }: { readonly row: LogRow }): JSX.Element {
  return (
    <div class="row-labels">
      {row.groups.map(({ title, labels }) => (
        <section key={title}>
          <h3 class="minor">{title}</h3>
          <dl>
            {labels.map(([name, value]) => (
              <div key={name}>
                <dt>{name}</dt>
                <dd>{value}</dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
    </div>
  );
}
