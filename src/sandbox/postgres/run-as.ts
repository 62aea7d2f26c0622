// Chooses the user and the folder of the server. PostgreSQL refuses to run as root, so root starts it as another user,
// and in another folder if that user cannot reach the requested one.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { codeOf } from '../../error-code.ts';

export type ServerUser = { readonly name: string; readonly uid: number; readonly gid: number };

/** Lookups on the machine; tests replace them. */
export type HostUsers = {
  /** 0 is root; undefined on systems without user IDs. */
  readonly userId: number | undefined;
  readonly passwdFile: string;
  /** The folder used when the server's user cannot enter the requested one. */
  readonly openFolder: string;
};

export type Place = {
  readonly folder: string;
  /** Undefined: the server runs as the user of this process. */
  readonly user: ServerUser | undefined;
};

export type Log = (message: string, fields?: Record<string, unknown>) => void;

export const hostUsers: HostUsers = {
  userId: process.getuid?.(),
  passwdFile: '/etc/passwd',
  openFolder: '/var/lib/mandate',
};

/** The names on Debian and macOS, then one that every system has. */
const preferredUsers = ['postgres', '_postgres', 'nobody'];

export function choosePlace(dataFolder: string, host: HostUsers, log: Log): Place {
  const wanted = resolve(dataFolder);
  refuseUnquotable(wanted);
  refuseFile(wanted);
  const user = chooseUser(host, wanted);
  if (!user) return { folder: wanted, user };
  const elsewhere = join(host.openFolder, createHash('sha256').update(wanted).digest('hex').slice(0, 12));
  const closed = closedFolder(wanted, user);
  // The choice must not change once data exists, or a later start would create an empty database.
  if (!closed && (holdsCluster(wanted) || !holdsCluster(elsewhere))) return { folder: wanted, user };
  if (closed && holdsCluster(wanted)) throw new Error(closedMessage(closed, user, wanted));
  return openPlace(elsewhere, wanted, host, log);
}

function openPlace(elsewhere: string, wanted: string, host: HostUsers, log: Log): Place {
  const user = chooseUser(host, elsewhere);
  const closed = user && closedFolder(elsewhere, user);
  if (closed) throw new Error(closedMessage(closed, user, elsewhere));
  log('private PostgreSQL uses a folder that its user can reach', {
    wanted,
    folder: elsewhere,
    user: user?.name,
  });
  return { folder: elsewhere, user };
}

/** A separate check, because versions of Node report different errors for a path below a file. */
function refuseFile(folder: string): void {
  const found = statSync(folder, { throwIfNoEntry: false });
  if (!found || found.isDirectory()) return;
  throw Object.assign(new Error(`${folder} is a file`), { code: 'ENOTDIR' });
}

/** initdb passes the path to a shell in double quotes, and a setting quotes it again. */
function refuseUnquotable(folder: string): void {
  const bad = /["$`\\\r\n\0]/.exec(folder)?.[0];
  if (bad === undefined) return;
  throw new Error(
    `The data folder ${JSON.stringify(folder)} has the character ${JSON.stringify(bad)} in its path, which PostgreSQL's ` +
      'tools cannot handle. Choose a path without double quotes, dollar signs, backquotes, backslashes and line breaks.',
  );
}

function chooseUser(host: HostUsers, folder: string): ServerUser | undefined {
  if (host.userId !== 0) return undefined;
  const known = readUsers(host.passwdFile);
  const owner = statSync(join(folder, 'pg'), { throwIfNoEntry: false });
  // The first user keeps running the server, even if a preferred user was added later.
  if (owner && owner.uid !== 0) {
    const name = known.find((user) => user.uid === owner.uid)?.name ?? String(owner.uid);
    return { name, uid: owner.uid, gid: owner.gid };
  }
  for (const name of preferredUsers) {
    const user = known.find((each) => each.name === name);
    if (user) return user;
  }
  throw new Error(
    `PostgreSQL does not run as root, and ${host.passwdFile} names none of the users ${preferredUsers.join(', ')}. ` +
      'Add one of them, run this program as an ordinary user, or set DATABASE_URL.',
  );
}

function readUsers(passwdFile: string): ServerUser[] {
  const lines = existsSync(passwdFile) ? readFileSync(passwdFile, 'utf8').split('\n') : [];
  return lines.flatMap((line) => {
    const [name, , uid, gid] = line.split(':');
    const user = { name: name ?? '', uid: Number(uid), gid: Number(gid) };
    return name && Number.isInteger(user.uid) && Number.isInteger(user.gid) && user.uid !== 0 ? [user] : [];
  });
}

/** The first parent folder the user may not enter. Only the nine mode bits are checked. */
function closedFolder(folder: string, user: ServerUser): string | undefined {
  return ancestors(realFolder(folder)).find((each) => !mayEnter(each, user));
}

function mayEnter(folder: string, user: ServerUser): boolean {
  const { mode, uid, gid } = statSync(folder);
  if (uid === user.uid) return (mode & 0o100) !== 0;
  if (gid === user.gid) return (mode & 0o010) !== 0;
  return (mode & 0o001) !== 0;
}

/** The existing part of a path, with links resolved. */
function realFolder(folder: string): string {
  try {
    return realpathSync(folder);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
    return realFolder(dirname(folder));
  }
}

function ancestors(folder: string): string[] {
  const above = dirname(folder);
  return above === folder ? [folder] : [...ancestors(above), folder];
}

export function holdsCluster(folder: string): boolean {
  return existsSync(join(folder, 'pg', 'data', 'PG_VERSION'));
}

function closedMessage(closed: string, user: ServerUser, folder: string): string {
  return (
    `PostgreSQL runs as the user ${user.name}, which may not enter ${closed} and cannot reach its data in ${folder}. ` +
    `Allow others to enter it (chmod o+x ${closed}), or move the data to a folder such as /var/lib/mandate.`
  );
}
