import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { LabelGroup, LogRow } from '../model/log-rows.js';
import { session } from '../store/session.js';
import { ContextDialog } from './context-dialog.js';
import { CopyButton } from './copy-button.js';
import { Icon } from './icons.js';

/** Labels made by the proxy, for which filters are not useful. */
const withoutFilters: ReadonlySet<string> = new Set(['__error_details__']);

/** An expanded row: its actions and its labels. */
export function RowDetails({
  row,
  canChange,
}: {
  readonly row: LogRow;
  readonly canChange: boolean;
}): JSX.Element {
  const [showsContext, showContext] = useState(false);
  return (
    <div class="row-details">
      <div class="row-actions">
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
        {row.groups.map((group) => (
          <Group key={group.title} group={group} canChange={canChange} />
        ))}
      </div>
      {showsContext && <ContextDialog row={row} onClose={() => showContext(false)} />}
    </div>
  );
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
          <li key={name} class="label">
            {canChange && !withoutFilters.has(name) ? (
              <span class="label-actions">
                <Filter name={name} value={value} of={of} change="keep" />
                <Filter name={name} value={value} of={of} change="drop" />
              </span>
            ) : (
              <span class="label-actions" />
            )}
            <span class="label-name">{name}</span>
            <span class="label-value">{value}</span>
            <CopyButton text={value} label={`Copy the value of ${name}`} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function Filter({
  name,
  value,
  of,
  change,
}: {
  readonly name: string;
  readonly value: string;
  readonly of: LabelGroup['of'];
  readonly change: 'keep' | 'drop';
}): JSX.Element {
  const text = change === 'keep' ? `Only lines with ${name} = ${value}` : `No lines with ${name} = ${value}`;
  return (
    <button
      type="button"
      class="button is-bare"
      aria-label={text}
      title={text}
      onClick={() => void session.change({ change, name, value, of })}
    >
      <Icon name={change === 'keep' ? 'plus' : 'minus'} />
    </button>
  );
}

function asJson({ ns, line, groups }: LogRow): string {
  const labels = Object.fromEntries(groups.flatMap((group) => group.labels));
  return JSON.stringify({ timestamp: ns, labels, line }, undefined, 2);
}
