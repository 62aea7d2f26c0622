// Links to the console and their sessions. A secret is 256 random bits, so a plain hash of it is enough.
import { hash } from 'node:crypto';
import { laterBy, type Clock, type Instant } from '../clock.ts';
import { defined } from '../defined.ts';
import { randomText } from '../ids.ts';
import type { Database } from '../platform/database/database.ts';
import { isLoopback } from '../platform/http/loopback.ts';
import { idleMs, limitsAt, longestMs, statusOf, type Viewer } from './domain/session.ts';
import {
  continueSession,
  endSession,
  findSession,
  insertSession,
  listSessions,
  openSession,
  purgeSessions,
} from './sessions.store.ts';

/** The address of the page that opens a session. What follows the `#` reaches no server, so no log and no preview has it. */
export function consoleLinkOf(publicUrl: string, credential: string): string {
  return `${publicUrl}/console/enter#${credential}`;
}

/** The cookie of a live session crosses no network unencrypted. */
export function mayOpenAt(publicUrl: string, livemode: boolean): boolean {
  const { protocol, hostname } = new URL(publicUrl);
  return !livemode || protocol === 'https:' || isLoopback(hostname);
}

export type Session = { readonly id: string; readonly viewer: Viewer; readonly endsAt: Instant };
const maxWorked = 10_000;

export type ConsoleSessions = ReturnType<typeof openConsoleSessions>;

type Deps = { readonly db: Database; readonly clock: Clock; readonly livemode: boolean };

export function openConsoleSessions(deps: Deps) {
  const { db, clock } = deps;
  /** The hashes of the secrets that worked on this node, by session, oldest first. */
  const worked = new Map<string, Buffer>();
  const hasWorked = (credential: string) => {
    const parts = partsOf(credential);
    return parts !== undefined && worked.get(parts.id)?.equals(parts.hash) === true;
  };
  const hasWorkedNow = (credential: string) => {
    const parts = partsOf(credential);
    if (parts) worked.set(parts.id, parts.hash);
    for (const oldest of worked.keys()) {
      if (worked.size <= maxWorked) return;
      worked.delete(oldest);
    }
  };
  return {
    /** The credential of a link that opens a session once. */
    makeLink: (viewer: Viewer, madeBy: string) => makeLink(deps, viewer, madeBy),
    /** Undefined if the link is unknown, used or too old. */
    async open(link: string) {
      const opened = await openByLink(deps, link);
      if (opened) hasWorkedNow(opened.credential);
      return opened;
    },
    /** Undefined if the session is unknown or over. */
    async find(credential: string) {
      const session = await findOpen(deps, credential);
      if (session) hasWorkedNow(credential);
      else if (hasWorked(credential)) worked.delete(sessionNamedBy(credential) ?? '');
      return session;
    },
    /** Whether this node has seen it work, from memory alone. The session may have ended since. */
    hasWorked,
    list: () => listAll(deps),
    /** False if there is none. */
    end: async (sessionId: string) =>
      (await db.run(endSession, { session_id: sessionId, now: clock.now() })).length > 0,
    async purge(): Promise<void> {
      await db.run(purgeSessions, { created_before: limitsAt(clock.now()).createdAfter });
    },
  };
}

async function makeLink({ db, clock, livemode }: Deps, viewer: Viewer, madeBy: string) {
  const id = randomText(12);
  const secret = randomText(43);
  await db.run(insertSession, {
    session_id: id,
    party_id: viewer.partyId ?? null,
    is_operator: viewer.kind === 'operator',
    livemode,
    made_by: madeBy,
    created_at: clock.now(),
    link_hash: hashOf(secret),
  });
  return { id, credential: `${id}.${secret}` };
}

async function openByLink({ db, clock, livemode }: Deps, link: string) {
  const parts = partsOf(link);
  if (!parts) return undefined;
  const now = clock.now();
  const secret = randomText(43);
  const [row] = await db.run(openSession, {
    session_id: parts.id,
    link_hash: parts.hash,
    session_hash: hashOf(secret),
    livemode,
    linked_after: limitsAt(now).linkedAfter,
    now,
  });
  if (!row) return undefined;
  const { made_by: madeBy } = row;
  return { id: parts.id, viewer: viewerOf(row), madeBy, credential: `${parts.id}.${secret}` };
}

async function findOpen({ db, clock, livemode }: Deps, credential: string): Promise<Session | undefined> {
  const parts = partsOf(credential);
  if (!parts) return undefined;
  const { id, hash: sessionHash } = parts;
  const now = clock.now();
  const { seenAfter, openedAfter, seenBefore } = limitsAt(now);
  const [row] = await db.run(findSession, {
    session_id: id,
    session_hash: sessionHash,
    livemode,
    seen_after: seenAfter,
    opened_after: openedAfter,
  });
  if (!row) return undefined;
  const isWritten = row.seen_at <= seenBefore;
  if (isWritten) await db.run(continueSession, { session_id: id, seen_before: seenBefore, now });
  const idle = laterBy(isWritten ? now : row.seen_at, idleMs);
  const longest = laterBy(row.opened_at, longestMs);
  return { id, viewer: viewerOf(row), endsAt: idle < longest ? idle : longest };
}

async function listAll({ db, clock }: Deps) {
  const now = clock.now();
  return (await db.run(listSessions, {})).map((row) => {
    const { created_at: createdAt, opened_at: openedAt, seen_at: seenAt, ended_at: endedAt } = row;
    const { session_id: sessionId, party_id: partyId, is_operator: isOperator, made_by: madeBy } = row;
    const times = { createdAt, openedAt, seenAt, endedAt };
    return { sessionId, partyId, isOperator, madeBy, ...times, status: statusOf(times, now) };
  });
}

function viewerOf(row: { readonly party_id: string | null; readonly is_operator: boolean }): Viewer {
  const partyId = row.party_id ?? undefined;
  if (row.is_operator) return { kind: 'operator', ...defined({ partyId }) };
  if (partyId === undefined) throw new Error('A session of the console names neither party nor operator.');
  return { kind: 'party', partyId };
}

/** The session that a credential names, whatever its secret. */
export function sessionNamedBy(credential: string): string | undefined {
  return partsOf(credential)?.id;
}

function partsOf(credential: string): { readonly id: string; readonly hash: Buffer } | undefined {
  const [, id, secret] = /^([0-9A-Za-z]{12})\.([0-9A-Za-z]{43})$/.exec(credential) ?? [];
  return id === undefined || secret === undefined ? undefined : { id, hash: hashOf(secret) };
}

function hashOf(secret: string): Buffer {
  return hash('sha256', secret, 'buffer');
}
