import type { JSX } from 'preact';
import { session } from '../../store/session.js';
import { CopyButton } from '../copy-button.js';
import { IconButton } from '../icon-button.js';

/** A filter by a label: its name, source, and the stage that makes it if the query may lack that one. */
export interface LabelFilter {
  readonly name: string;
  readonly of: 'stream' | 'row';
  readonly parser?: 'json' | 'logfmt' | undefined;
}

/** A name with its value; buttons keep or drop lines with this value, and copy it. */
export function FieldRow({
  name,
  value,
  kind = 'string',
  filter,
}: {
  readonly name: string;
  readonly value: string;
  readonly kind?: string;
  readonly filter?: LabelFilter | undefined;
}): JSX.Element {
  return (
    <li class="label">
      <span class="label-actions">
        {filter !== undefined && (
          <>
            <FilterButton filter={filter} value={value} change="keep" />
            <FilterButton filter={filter} value={value} change="drop" />
          </>
        )}
      </span>
      <span class="label-name">{name}</span>
      <span class={`label-value is-${kind}`}>{value}</span>
      <CopyButton text={value} label={`Copy the value of ${name}`} />
    </li>
  );
}

function FilterButton({
  filter: { name, of, parser },
  value,
  change,
}: {
  readonly filter: LabelFilter;
  readonly value: string;
  readonly change: 'keep' | 'drop';
}): JSX.Element {
  const text = `${change === 'keep' ? 'Only' : 'No'} lines with ${name} = ${value}`;
  return (
    <IconButton
      icon={change === 'keep' ? 'plus' : 'minus'}
      name={text}
      onClick={() =>
        void session.change({ change, name, value, of, ...(parser === undefined ? {} : { parser }) })
      }
    />
  );
}
