import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { formatLine, labelsShown, type LineFormat } from '../model/lines/line-format.js';
import { groupsOf, type LabelGroup, type LogRow } from '../model/log-rows.js';
import { ContextDialog } from './context-dialog.js';
import { CopyButton } from './copy-button.js';
import { Icon } from './icons.js';
import { FieldRow } from './lines/field-row.js';
import { FormattedLine, LinePre } from './lines/formatted-line.js';

/** Labels made by the proxy, for which filters are not useful. */
const withoutFilters: ReadonlySet<string> = new Set(['__error_details__']);

const titles = { json: 'Line as JSON', logfmt: 'Line as logfmt', text: 'Line' } as const;

/** An expanded row: its actions, its line in a form that can be read, and its labels. */
export function RowDetails({
  row,
  canChange,
}: {
  readonly row: LogRow;
  readonly canChange: boolean;
}): JSX.Element {
  const [showsContext, showContext] = useState(false);
  const [isRaw, setRaw] = useState(false);
  const format = useMemo(() => formatLine(row.line), [row]);
  const groups = useMemo(() => withoutShown(row, format, isRaw), [row, isRaw]);
  return (
    <div class="row-details">
      <div class="row-actions">
        <div class="choice" role="group" aria-label="The line is shown">
          {([false, true] as const).map((raw) => (
            <button
              key={String(raw)}
              type="button"
              class={raw === isRaw ? 'button is-on' : 'button'}
              aria-pressed={raw === isRaw}
              onClick={() => setRaw(raw)}
            >
              {raw ? 'Raw' : 'Formatted'}
            </button>
          ))}
        </div>
        <CopyButton text={row.line} label="Copy the line" short="Copy line" />
        <CopyButton text={asJson(row)} label="Copy time, labels and line as JSON" short="Copy as JSON" />
        <button
          type="button"
          class="button"
          title="The lines of the same stream before and after this one"
          onClick={() => showContext(true)}
        >
          <Icon name="context" />
          <span>Show context</span>
        </button>
      </div>
      <div class="row-labels">
        <section class={isRaw || format.kind === 'text' ? 'is-wide' : undefined}>
          <h3 class="minor">{isRaw ? 'Line as it is' : titles[format.kind]}</h3>
          {isRaw ? (
            <LinePre text={row.line} />
          ) : (
            <FormattedLine format={format} row={row} canChange={canChange} />
          )}
        </section>
        {groups.map((group) => (
          <Group key={group.title} group={group} canChange={canChange} />
        ))}
      </div>
      {showsContext && <ContextDialog row={row} onClose={() => showContext(false)} />}
    </div>
  );
}

/** The labels of a row, without those that its formatted line shows already. */
function withoutShown(row: LogRow, format: LineFormat, isRaw: boolean): readonly LabelGroup[] {
  const shown = isRaw ? new Set<string>() : labelsShown(row, format);
  return groupsOf(row)
    .map((group) => ({
      ...group,
      labels: group.labels.filter(([name]) => !Object.hasOwn(row.parsed, name) || !shown.has(name)),
    }))
    .filter(({ labels }) => labels.length > 0);
}

function Group({
  group: { title, of, labels },
  canChange,
}: {
  readonly group: LabelGroup;
  readonly canChange: boolean;
}): JSX.Element {
  return (
    <section>
      <h3 class="minor">{title}</h3>
      <ul>
        {labels.map(([name, value]) => (
          <FieldRow
            key={name}
            name={name}
            value={value}
            filter={canChange && !withoutFilters.has(name) ? { name, of } : undefined}
          />
        ))}
      </ul>
    </section>
  );
}

function asJson(row: LogRow): string {
  const labels = Object.fromEntries(groupsOf(row).flatMap((group) => group.labels));
  return JSON.stringify({ timestamp: row.ns, labels, line: row.line }, undefined, 2);
}
