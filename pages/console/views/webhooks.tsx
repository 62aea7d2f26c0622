// Webhooks: where events go, what waits, and what was delivered.
import { durationText } from '../formats.ts';
import { filter, place } from '../place.ts';
import { useRead } from '../read.ts';
import { fill, say } from '../words/words.ts';
import { Empty, Heading, Link, Status, Table, Time, Whole } from './parts.tsx';

type Webhook = {
  readonly id: string;
  readonly url: string;
  readonly scope: { readonly topic: string; readonly eventTypes: readonly string[] };
};
type Queue = {
  readonly objectID: string;
  readonly state: string;
  readonly failures: number;
  readonly lastFailure?: string;
  readonly nextAttemptAt?: string;
};
type Attempt = {
  readonly objectID: string;
  readonly eventType: string;
  readonly attempt: number;
  readonly attemptedAt: string;
  readonly durationMs: number;
  readonly delivered: boolean;
  readonly status?: number;
  readonly failure?: string;
};

const path = '/v2/processing/webhooks';
const limit = '100';

export function Webhooks() {
  const { nav, webhooks: words } = say();
  const all = useRead<readonly Webhook[]>(path);
  return (
    <>
      <Heading text={nav.webhooks} lead={words.lead} />
      <Whole of={all}>
        {(found) =>
          found.length === 0 ? (
            <Empty text={words.empty} help={words.emptyHelp} />
          ) : (
            <Table
              caption={words.caption}
              rows={found}
              columns={[
                { head: words.address, cell: ({ id, url }) => <Link to={['webhooks', id]}>{url}</Link> },
                { head: words.topic, cell: ({ scope }) => scope.topic },
                { head: words.events, cell: ({ scope }) => scope.eventTypes.join(', '), isMinor: true },
              ]}
            />
          )
        }
      </Whole>
    </>
  );
}

export function WebhookPage({ id }: { readonly id: string }) {
  const { webhooks: words } = say();
  const { object: objectID = '' } = place.value.query;
  const one = `${path}/${encodeURIComponent(id)}`;
  const queues = useRead<readonly Queue[]>(`${one}/queues`, { limit });
  const attempts = useRead<readonly Attempt[]>(`${one}/attempts`, { limit, objectID });

  function show(event: SubmitEvent): void {
    event.preventDefault();
    const object = new FormData(event.currentTarget as HTMLFormElement).get('object');
    filter({ object: typeof object === 'string' ? object.trim() : '' });
  }
  return (
    <>
      <Heading text={fill(words.head, { id })} />
      <section>
        <h2>{words.queues}</h2>
        <Whole of={queues}>
          {(all) => <Queues all={all.filter(({ state }) => state !== 'delivered' && state !== 'idle')} />}
        </Whole>
      </section>
      <section>
        <h2>{words.attempts}</h2>
        <form class="filters" onSubmit={show}>
          <label>
            {words.ofObject}
            <input
              key={objectID}
              name="object"
              defaultValue={objectID}
              autocomplete="off"
              spellcheck={false}
            />
          </label>
          <button type="submit">{words.show}</button>
        </form>
        <Whole of={attempts}>{(all) => <Attempts all={all} />}</Whole>
      </section>
    </>
  );
}

function Queues({ all }: { readonly all: readonly Queue[] }) {
  const { webhooks: words } = say();
  if (all.length === 0) return <Empty text={words.noQueues} />;
  return (
    <Table
      caption={words.queues}
      rows={all}
      columns={[
        { head: words.object, cell: ({ objectID }) => <code>{objectID}</code> },
        { head: words.state, cell: ({ state }) => <Status of={state} /> },
        { head: words.failures, cell: ({ failures }) => failures, isNumber: true },
        { head: words.failure, cell: ({ lastFailure }) => lastFailure ?? '', isMinor: true },
        { head: words.next, cell: ({ nextAttemptAt: at }) => at && <Time at={at} />, isMinor: true },
      ]}
    />
  );
}

function Attempts({ all }: { readonly all: readonly Attempt[] }) {
  const { webhooks: words } = say();
  if (all.length === 0) return <Empty text={words.noAttempts} help={words.noAttemptsHelp} />;
  return (
    <Table
      caption={words.attempts}
      rows={all}
      columns={[
        { head: words.sent, cell: ({ attemptedAt }) => <Time at={attemptedAt} /> },
        { head: words.event, cell: ({ eventType }) => eventType },
        {
          head: words.result,
          cell: ({ delivered, status, failure }) => (
            <>
              <Status of={delivered ? 'delivered' : 'failed'} /> <span class="soft">{failure ?? status}</span>
            </>
          ),
        },
        { head: words.object, cell: ({ objectID }) => <code>{objectID}</code>, isMinor: true },
        {
          head: words.took,
          cell: ({ durationMs }) => durationText(durationMs),
          isMinor: true,
          isNumber: true,
        },
        { head: words.attempt, cell: ({ attempt }) => attempt, isMinor: true, isNumber: true },
      ]}
    />
  );
}
