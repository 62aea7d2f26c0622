// `mandate webhooks listen`: prints webhook events as they happen and forwards them to a developer's program.
// It uses temporary keys, needs no webhook, stores nothing and never retries.
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../clock.ts';
import type { Database } from '../platform/database/database.ts';
import type { Owner, Topic } from '../platform/events/domain/topic.ts';
import type { Ids } from '../ids.ts';
import type { Logger } from '../platform/log.ts';
import { systemDnsLookup, urlProblem } from './registration/address-guard.ts';
import { failureOf } from './delivery/send-head.ts';
import { currentSnapshot, newEvents, type NewEvent } from './feed/feed.store.ts';
import { messagesFor, type Message, type Selection } from './feed/messages.store.ts';
import { postTo, type WebhookTarget } from './delivery/sign-message.ts';
import { signingPublicKeyOf } from './registration/webhook-keys.ts';
import { openSender } from './delivery/http-sender.ts';
import { matches } from './domain/webhook.ts';

const pollEveryMs = 300;
const eventsAtOnce = 200;
const timeoutMs = 10_000;

export function addressOf(text: string): string {
  const problem = urlProblem(text, 'anywhere');
  if (problem !== undefined) throw new Error(`--forward: ${problem}`);
  return text;
}

export async function listen(options: {
  db: Database;
  clock: Clock;
  ids: Ids;
  log: Logger;
  topics: readonly Topic[];
  partyId: string;
  owner?: Owner;
  forward?: string;
  print: (line: string) => void;
  isOver: () => boolean;
}): Promise<void> {
  const { db, clock, ids, log, topics, partyId, print, forward } = options;
  const { target, explain } = temporaryKeys(options);
  const sender = openSender({ rule: 'anywhere', resolve: systemDnsLookup, timeoutMs });
  let seen = await currentSnapshot(db);
  // What happens once it says so is heard.
  for (const line of explain) print(line);
  try {
    while (!options.isOver()) {
      const found = await newEvents(db, seen, eventsAtOnce, partyId);
      seen = found.seen;
      for (const message of await messagesOf(found.events)) await send(message);
      if (!found.more) await sleep(pollEveryMs);
    }
  } finally {
    await sender.stop();
  }

  async function messagesOf(events: readonly NewEvent[]): Promise<Message[]> {
    const selections = selectionsOf(events, topics, options.owner);
    const lists = await messagesFor(db, topics, selections, clock.now(), (objectId, error) =>
      log.error({ err: error, objectId }, 'webhook events could not be built'),
    );
    return lists.flatMap((messages) => messages ?? []);
  }

  async function send(message: Message): Promise<void> {
    let outcome = '';
    if (forward !== undefined) {
      const attempt = { now: clock.now(), requestId: ids.next() };
      const response = await postTo(sender, target, message, attempt);
      outcome = `  → ${failureOf(response) ?? (response.kind === 'status' ? response.status : '')}`;
    }
    print(`${message.happenedAt.slice(0, 19)}  ${message.eventType}${outcome}  ${message.body}`);
  }
}

/** Selects the webhook events of all new events, of any type. */
function selectionsOf(
  events: readonly NewEvent[],
  topics: readonly Topic[],
  owner: Owner | undefined,
): Selection[] {
  const sequences = new Map<string, Set<number>>();
  const selections: Selection[] = [];
  for (const event of events) {
    const topic = topics.find(({ aggregate }) => aggregate === event.aggregate);
    if (!topic || (owner && !matches({ owner }, topic.ownersOf(event.firstFacts)))) continue;
    const known = sequences.get(event.aggregateId);
    if (known) {
      known.add(event.sequence);
      continue;
    }
    const wanted = new Set([event.sequence]);
    sequences.set(event.aggregateId, wanted);
    selections.push({
      aggregateId: event.aggregateId,
      topic: topic.name,
      select: (webhookEvents) => webhookEvents.filter(({ sequence }) => wanted.has(sequence)),
    });
  }
  return selections;
}

function temporaryKeys({ clock, forward = 'http://localhost/' }: { clock: Clock; forward?: string }): {
  target: WebhookTarget;
  explain: string[];
} {
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const ed25519 = generateKeyPairSync('ed25519');
  const secret = randomBytes(32);
  const keys = { rsa: rsa.privateKey, ed25519: ed25519.privateKey, secret };
  return {
    target: {
      webhook: { url: forward, partyId: '', topic: 'InvoicesTopic', eventTypes: [] },
      keys: [{ keyVersion: 1, signsFrom: clock.now(), ...keys }],
    },
    explain: [
      'Temporary keys for this run:',
      `signingSecret whsec_${secret.toString('base64')}`,
      `signingPublicKey ${signingPublicKeyOf(ed25519.publicKey)}`,
      `publicKey\n${rsa.publicKey.export({ type: 'spki', format: 'pem' }).toString()}`,
      'Listening. Press Ctrl-C to stop.',
    ],
  };
}
