// mandate console: links that open the console, and the sessions that they opened.
import { consoleLinkOf, mayOpenAt, openConsoleSessions } from '../../console/sessions.ts';
import type { Viewer } from '../../console/domain/session.ts';
import type { Foundation } from '../../app/composition/foundation.ts';
import { defined } from '../../defined.ts';
import { livemodeOf } from '../../livemode.ts';
import { readSandboxFacts } from '../../sandbox/sandbox-setup.ts';
import { logInLiveMode, printTable, requireParty, userHere, withFoundation } from '../foundation.ts';
import { printJson } from '../json-members.ts';

/** Only the link goes to standard output. */
export async function makeLink(options: {
  readonly party?: string;
  readonly operator?: true;
}): Promise<void> {
  const viewer = viewerOf(options);
  const madeBy = userHere();
  const { id, link } = await withFoundation(async (foundation) => {
    const { database, config } = foundation;
    if (!mayOpenAt(config.publicUrl, livemodeOf(config.mode)))
      throw new Error('PUBLIC_URL is not https. A live console opens only at an https address, so set it.');
    if (viewer.partyId !== undefined) await requireParty(database, viewer.partyId);
    const made = await sessionsOf(foundation).makeLink(viewer, madeBy);
    logInLiveMode(config, { consoleSession: made.id, ...viewer, madeBy }, 'console link created');
    const { mode, dataFolder, publicUrl } = config;
    // A running sandbox may have chosen its port.
    const url = (mode === 'sandbox' ? readSandboxFacts(dataFolder)?.apiUrl : undefined) ?? publicUrl;
    return { id: made.id, link: consoleLinkOf(url, made.credential) };
  });
  console.log(link);
  console.error(`It opens once, within ten minutes. End it with "mandate console end ${id}".`);
}

export async function listSessions(options: { readonly json?: true }): Promise<void> {
  const sessions = await withFoundation((foundation) => sessionsOf(foundation).list());
  if (options.json) return printJson('console sessions', sessions);
  if (sessions.length === 0)
    return console.log('No link in the last 30 days. Make one with "mandate console link".');
  printTable(
    ['session', 'shows', 'status', 'made by', 'made', 'opened', 'last used'],
    sessions.map(({ sessionId, partyId, isOperator, status, madeBy, createdAt, openedAt, seenAt }) => [
      sessionId,
      isOperator ? 'all merchants' : (partyId ?? ''),
      status,
      madeBy,
      createdAt.slice(0, 19),
      openedAt?.slice(0, 19) ?? '',
      seenAt?.slice(0, 19) ?? '',
    ]),
  );
}

export async function endSession(id: string): Promise<void> {
  const found = await withFoundation((foundation) => sessionsOf(foundation).end(id));
  if (!found) throw new Error(`Session ${id} not found. List sessions with "mandate console sessions".`);
  console.log(`Ended ${id}.`);
}

function viewerOf({ party: partyId, operator }: { party?: string; operator?: true }): Viewer {
  if (operator) return { kind: 'operator', ...defined({ partyId }) };
  if (partyId !== undefined) return { kind: 'party', partyId };
  throw new Error('Whose pages? Give --party <partyID>, or --operator for all.');
}

function sessionsOf({ database: db, ports: { clock }, config }: Foundation) {
  return openConsoleSessions({ db, clock, livemode: livemodeOf(config.mode) });
}
