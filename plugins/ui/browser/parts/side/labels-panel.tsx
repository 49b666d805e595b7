import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { fetchLabels, fetchValues, type NamesScope } from '../../api.js';
import { fetchOutline, fetchVolumes } from '../../discovery.js';
import { formatBytes, formatCount } from '../../model/format.js';
import { mergedValues, type CountedValue } from '../../model/label-values.js';
import { layout } from '../../store/layout.js';
import { session } from '../../store/session.js';
import { useStore } from '../../store/store.js';
import { dataOf, useAnswer, useLatest } from '../../use-answer.js';
import { Icon } from '../icons.js';
import { Facets, Rest, SearchField, ValueBar } from './facets.js';

/** Time after the last key before labels are asked for again. */
const pauseMs = 250;
const mostListed = 100;
/** Number of values from which they can be searched. */
const searchedFrom = 12;

/** The labels of the query that is being written, narrowed by its selector. What is picked goes into the query. */
export function LabelsPanel(): JSX.Element {
  const form = useStore(session.store, (state) => state.form);
  const { query, tenant, range, from, to } = form;
  const scopeKey = [tenant, range, from, to].join('\n');
  // The labels stay while a query is written.
  const fresh = useAnswer(query, (signal) => fetchOutline(query, signal), pauseMs);
  const outlined = useLatest(fresh);
  const choice = useChoice(query, fresh.kind !== 'asking');
  const outline = dataOf(outlined);
  const selector = outline?.selector ?? '';
  const isKnown = outlined.kind !== 'asking';
  const labels = useLatest(
    useAnswer(isKnown ? [scopeKey, selector].join('\n') : undefined, (signal) =>
      fetchLabels(selector, { ...session.scope(), signal }),
    ),
  );
  const chosen = outline?.labels ?? [];
  if (labels.kind === 'failed') return <p class="side-note alert">{labels.text}</p>;
  if (labels.kind === 'asking') return <p class="side-note">Looking for labels …</p>;
  const names = [...new Set([...chosen.map(({ name }) => name), ...labels.data])];
  return (
    <>
      {outline?.kind === 'wrong' && (
        <p class="side-note">The query has a mistake, so the labels of all streams are listed.</p>
      )}
      <Facets
        title="labels"
        items={names}
        nameOf={(name) => name}
        nothing="No labels here. Try another range or tenant."
        head={(name) => {
          const count = chosen.find((one) => one.name === name)?.values.length ?? 0;
          return count > 0 && <span class="facet-chosen">{formatCount(count)} chosen</span>;
        }}
      >
        {(name) => {
          const label = chosen.find((one) => one.name === name);
          // Without a label of its own in the selector, all of it narrows the values.
          const others = label === undefined ? selector : label.others;
          return (
            <Values
              name={name}
              chosen={choice.of(name) ?? label?.values ?? []}
              selector={others}
              scopeKey={scopeKey}
              onChoose={(values) => choice.choose(name, values)}
            />
          );
        }}
      </Facets>
      <LabelsEnd query={query} />
    </>
  );
}

interface Choice {
  /** The values of a label that were picked after the outline of the query was asked for. */
  readonly of: (name: string) => readonly string[] | undefined;
  readonly choose: (name: string, values: readonly string[]) => void;
}

/** Keeps what is picked until the changed query and its outline have come, so that quick clicks add up; one change is made after the other. */
function useChoice(query: string, isFresh: boolean): Choice {
  const [picked, setPicked] = useState<ReadonlyMap<string, readonly string[]>>(new Map());
  const running = useRef<Promise<void>>(Promise.resolve());
  const open = useRef(0);
  useEffect(() => {
    if (isFresh && open.current === 0) setPicked(new Map());
  }, [query, isFresh]);
  return {
    of: (name) => picked.get(name),
    choose: (name, values) => {
      setPicked((before) => new Map(before).set(name, values));
      open.current += 1;
      running.current = running.current
        .then(() => session.choose(name, values))
        .finally(() => {
          open.current -= 1;
        });
    },
  };
}

function LabelsEnd({ query }: { readonly query: string }): JSX.Element {
  return (
    <div class="side-end">
      <pre class="browser-query" tabIndex={0} role="group" aria-label="The query so far">
        {query === '' ? 'No query yet' : query}
      </pre>
      <button
        type="button"
        class="primary"
        disabled={query.trim() === ''}
        onClick={() => {
          session.run();
          layout.set({ isSheet: false });
        }}
      >
        <Icon name="run" />
        Run with these labels
      </button>
    </div>
  );
}

function Values({
  name,
  chosen,
  selector,
  scopeKey,
  onChoose,
}: {
  readonly name: string;
  readonly onChoose: (values: readonly string[]) => void;
  readonly chosen: readonly string[];
  /** The selector of the query without this label. */
  readonly selector: string;
  readonly scopeKey: string;
}): JSX.Element {
  const [search, setSearch] = useState('');
  const key = [scopeKey, selector, name].join('\n');
  const scope: NamesScope = session.scope();
  const values = useAnswer(key, (signal) => fetchValues(name, selector, { ...scope, signal }));
  const volumes = useAnswer(key, (signal) => fetchVolumes(selector, name, scope, signal));
  if (values.kind === 'asking') return <p class="side-note">Looking for values …</p>;
  if (values.kind === 'failed') return <p class="side-note alert">{values.text}</p>;
  const counted = dataOf(volumes) ?? [];
  const all = mergedValues(values.data, counted, chosen);
  const found = all.filter(({ value }) => value.toLowerCase().includes(search.toLowerCase()));
  const most = Math.max(1, ...counted.map(({ count }) => count ?? 0));
  const toggle = (value: string): void => {
    const next = chosen.includes(value) ? chosen.filter((one) => one !== value) : [...chosen, value];
    onChoose(next);
  };
  return (
    <>
      {all.length >= searchedFrom && (
        <SearchField title={`values of ${name}`} count={all.length} text={search} onText={setSearch} />
      )}
      {found.length === 0 && (
        <p class="side-note">{all.length === 0 ? 'No values in this range.' : 'No values have this text.'}</p>
      )}
      <ul class="values" aria-label={`Values of ${name}`}>
        {found.slice(0, mostListed).map((one) => (
          <Value
            key={one.value}
            counted={one}
            isChosen={chosen.includes(one.value)}
            most={most}
            onToggle={() => toggle(one.value)}
          />
        ))}
      </ul>
      <Rest shown={mostListed} of={found.length} />
      {volumes.kind === 'failed' && <p class="side-note">No volumes: {volumes.text}</p>}
    </>
  );
}

function Value({
  counted: { value, count },
  isChosen,
  most,
  onToggle,
}: {
  readonly counted: CountedValue;
  readonly isChosen: boolean;
  readonly most: number;
  readonly onToggle: () => void;
}): JSX.Element {
  return (
    <li>
      <button type="button" class="value value-pick" aria-pressed={isChosen} title={value} onClick={onToggle}>
        <span class={isChosen ? 'tick is-on' : 'tick'} aria-hidden="true" />
        <span class="value-text">{value === '' ? '(empty)' : value}</span>
        <span class="number">{count === undefined ? '' : formatBytes(count)}</span>
        {count !== undefined && <ValueBar part={count / most} />}
      </button>
    </li>
  );
}
