import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { NamesScope } from '../../api.js';
import {
  fetchDetectedFields,
  fetchFieldValues,
  fetchOutline,
  fetchTopValues,
  scannedLines,
  type DetectedField,
} from '../../discovery.js';
import { formatCount, formatShort } from '../../model/format.js';
import { nsRange } from '../../model/time-range.js';
import type { Answered } from '../../store/answers.js';
import { session } from '../../store/session.js';
import { useStore } from '../../store/store.js';
import { useAnswer } from '../../use-answer.js';
import { IconButton } from '../icon-button.js';
import { Facets, ValueBar } from './facets.js';

/** The fields of the lines that the shown query selects. */
export function FieldsPanel(): JSX.Element {
  const outcome = useStore(session.store, (state) => state.outcome);
  if (outcome.kind !== 'answered')
    return <p class="side-note">Run a query to see the fields of its lines.</p>;
  return <Fields answered={outcome} />;
}

function Fields({ answered: { asked, range } }: { readonly answered: Answered }): JSX.Element {
  const scope: NamesScope = { tenant: asked.tenant, range: nsRange(range) };
  const key = [asked.tenant, asked.query, range.startMs, range.endMs].join('\n');
  const found = useAnswer(key, async (signal) => {
    const outline = await fetchOutline(asked.query, signal);
    const { lines } = outline;
    return { outline, fields: lines === '' ? [] : await fetchDetectedFields(lines, scope, signal) };
  });
  if (found.kind === 'asking') return <p class="side-note">Looking for fields …</p>;
  if (found.kind === 'failed') return <p class="side-note alert">{found.text}</p>;
  const { outline, fields } = found.data;
  return (
    <>
      {outline.kind === 'metric' && (
        <p class="side-note">
          {outline.lines === ''
            ? 'This metric query reads no lines, so there are no fields.'
            : outline.count > 1
              ? 'This is a metric query: these are the fields of the lines of its first selector. A filter goes to all of them.'
              : 'This is a metric query: these are the fields of the lines that it reads.'}
        </p>
      )}
      <Facets
        key={key}
        title="fields"
        items={fields}
        nameOf={({ label }) => label}
        nothing="No fields in these lines."
        head={(field) => <FieldHead field={field} />}
      >
        {(field) => <TopValues field={field} lines={outline.lines} scope={scope} scopeKey={key} />}
      </Facets>
      {fields.length > 0 && (
        <p class="side-note">
          Found in the newest {formatCount(scannedLines)} lines. Counts are of all lines.
        </p>
      )}
    </>
  );
}

function FieldHead({
  field: { type, parsers, cardinality },
}: {
  readonly field: DetectedField;
}): JSX.Element {
  const from = parsers === null ? 'no parser needed' : `found by ${parsers.join(' and ')}`;
  return (
    <>
      <span class="facet-kind" title={`${type}, ${from}`}>
        {parsers === null ? type : `${type} · ${parsers.join('+')}`}
      </span>
      <span class="number" title={`${formatCount(cardinality)} different values`}>
        {formatShort(cardinality)}
      </span>
    </>
  );
}

function TopValues({
  field,
  lines,
  scope,
  scopeKey,
}: {
  readonly field: DetectedField;
  readonly lines: string;
  readonly scope: NamesScope;
  readonly scopeKey: string;
}): JSX.Element {
  const [isSample, setSample] = useState(false);
  const read = isSample ? fetchFieldValues : fetchTopValues;
  const found = useAnswer(`${scopeKey}\n${field.label}\n${isSample}`, (signal) =>
    read(lines, field, scope, signal),
  );
  if (found.kind === 'asking') return <p class="side-note">Counting …</p>;
  if (found.kind === 'failed')
    return (
      <div class="side-note">
        <p class="alert">{found.text}</p>
        {!isSample && (
          <button type="button" class="button" onClick={() => setSample(true)}>
            List values without counts
          </button>
        )}
      </div>
    );
  const most = Math.max(1, ...found.data.map(({ count }) => count ?? 0));
  if (found.data.length === 0) return <p class="side-note">No line has a value for this field.</p>;
  return (
    <>
      <ul class="values" aria-label={`Top values of ${field.label}`}>
        {found.data.map(({ value, count }) => (
          <li key={value} class="value">
            <span class="value-text" title={value}>
              {value}
            </span>
            <span class="number">{count === undefined ? '' : formatCount(count)}</span>
            <span class="value-actions">
              <FieldFilter field={field} value={value} change="keep" />
              <FieldFilter field={field} value={value} change="drop" />
            </span>
            {count !== undefined && <ValueBar part={count / most} />}
          </li>
        ))}
      </ul>
      {field.cardinality > found.data.length && (
        <p class="side-note">The {formatCount(found.data.length)} most frequent values.</p>
      )}
    </>
  );
}

function FieldFilter({
  field: { label, parsers },
  value,
  change,
}: {
  readonly field: DetectedField;
  readonly value: string;
  readonly change: 'keep' | 'drop';
}): JSX.Element {
  const text = change === 'keep' ? `Keep ${label} = ${value}` : `Drop ${label} = ${value}`;
  return (
    <IconButton
      icon={change === 'keep' ? 'plus' : 'minus'}
      name={text}
      look={change === 'keep' ? 'value-pick' : ''}
      onClick={() => void session.change({ change, name: label, value, of: 'row', parser: parsers ?? [] })}
    />
  );
}
