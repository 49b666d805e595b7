import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { failureText, fetchAsked } from '../api.js';
import { formatBytes, formatCount, formatMs } from '../model/format.js';
import type { AskedQueries, AskedQuery } from '../model/wire.js';
import { session } from '../store/session.js';

const orders = [
  ['top_by_latency', 'Slowest'],
  ['top_by_frequency', 'Most often'],
  ['top_by_bytes_read', 'Most read'],
  ['top_by_errors', 'Failed'],
] as const;
type Order = (typeof orders)[number][0];

const refreshMs = 5_000;

/** The reason why the queries are unknown; undefined if they are not counted. */
interface Unknown {
  readonly why: string | undefined;
}

function isKnown(asked: AskedQueries | Unknown | undefined): asked is AskedQueries {
  return asked !== undefined && 'total_queries' in asked;
}

/** The queries of all clients, from `/debug/queries`; undefined while loading. */
function useAsked(): AskedQueries | Unknown | undefined {
  const [asked, setAsked] = useState<AskedQueries | Unknown>();
  useEffect(() => {
    const look = (): void => {
      if (document.hidden) return;
      fetchAsked(AbortSignal.timeout(refreshMs)).then(
        (answer) => {
          setAsked(answer ?? { why: undefined });
          // If they are not counted now, they will not be before a restart.
          if (answer === undefined) clearInterval(timer);
        },
        (error: unknown) => setAsked({ why: failureText(error) }),
      );
    };
    const timer = setInterval(look, refreshMs);
    look();
    return () => clearInterval(timer);
  }, []);
  return asked;
}

/** The most frequent, slowest and largest queries; a click opens one in the query view. */
export function AskedQueriesSection(): JSX.Element {
  const [order, setOrder] = useState<Order>('top_by_latency');
  const asked = useAsked();
  return (
    <section aria-labelledby="asked-title">
      <div class="section-head">
        <h2 id="asked-title">Queries</h2>
        <p class="quiet">
          What clients have asked since the start.
          {isKnown(asked) &&
            ` ${formatCount(asked.total_queries)} in all, ${formatCount(asked.unique_queries)} different ones.`}
        </p>
        {isKnown(asked) && (
          <label class="asked-order">
            <span>Show</span>
            <select
              value={order}
              onChange={(event) => {
                const chosen = orders.find(([name]) => name === event.currentTarget.value);
                if (chosen !== undefined) setOrder(chosen[0]);
              }}
            >
              {orders.map(([name, text]) => (
                <option key={name} value={name}>
                  {text}
                </option>
              ))}
            </select>
          </label>
        )}
      </div>
      {isKnown(asked) ? (
        <AskedTable queries={asked[order]} />
      ) : (
        <p class="quiet">
          {asked !== undefined && asked.why === undefined ? (
            <>
              They are not counted: start with <code>-server.enable-query-analytics=true</code>.
            </>
          ) : (
            asked?.why
          )}
        </p>
      )}
    </section>
  );
}

function AskedTable({ queries }: { readonly queries: readonly AskedQuery[] }): JSX.Element {
  if (queries.length === 0) return <p class="quiet">None so far.</p>;
  return (
    <div class="panel table asked">
      <table>
        <caption class="visually-hidden">Queries of clients</caption>
        <thead>
          <tr>
            <th scope="col">Query</th>
            <th scope="col" class="number">
              Asked
            </th>
            <th scope="col" class="number is-minor">
              Mean
            </th>
            <th scope="col" class="number">
              Longest
            </th>
            <th scope="col" class="number is-minor">
              Failed
            </th>
            <th scope="col" class="number">
              Read
            </th>
          </tr>
        </thead>
        <tbody>
          {queries.map((asked) => (
            <Row key={asked.fingerprint} asked={asked} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Row({ asked }: { readonly asked: AskedQuery }): JSX.Element {
  const { query, endpoint, count, total_ms: totalMs, max_ms: maxMs, errors, strategies } = asked;
  const way = strategies.find(({ outcome }) => outcome === 'ran');
  const others = strategies.filter(({ outcome }) => outcome !== 'ran');
  return (
    <tr>
      <th scope="row">
        <button
          type="button"
          class="series-name"
          title="Put it into the query box"
          onClick={() => {
            session.edit({ query });
            session.show('query');
          }}
        >
          <code>{query}</code>
        </button>
        <p class="asked-way">
          <code>{endpoint}</code>
          {way !== undefined && (
            <>
              {' '}
              read as <b>{way.strategy}</b>
            </>
          )}
          {others.map(({ strategy, text }) => `; not as ${strategy}: ${text}`)}
        </p>
      </th>
      <td class="number">{formatCount(count)}</td>
      <td class="number is-minor">{formatMs(totalMs / count)} ms</td>
      <td class="number">{formatMs(maxMs)} ms</td>
      <td class="number is-minor">{formatCount(errors)}</td>
      <td
        class="number"
        title={`${formatCount(asked.backend_rows)} rows in ${formatCount(asked.backend_calls)} calls`}
      >
        {formatBytes(asked.backend_bytes)}
      </td>
    </tr>
  );
}
