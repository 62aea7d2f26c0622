// Starts the private PostgreSQL for real: which program starts, finds and stops it, also after kills.
// A watchdog removes the folders of all cases.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { binarySources, findBinaries } from '../../src/sandbox/postgres/binaries.ts';
import { readConfig } from '../../src/app/config.ts';
import { connectDatabase } from '../../src/app/connect-database.ts';
import { openLog } from '../../src/platform/log.ts';
import { startEmbedded } from '../../src/sandbox/postgres/server.ts';
import type { EmbeddedOptions, EmbeddedServer } from '../../src/sandbox/postgres/server.ts';
import { freePort } from '../../tools/free-port.ts';
import { childFile, startChild } from '../support/processes/start-child.ts';
import { temporaryFolder, throwAwaySettings } from '../support/database/test-cluster.ts';

const { folder: root, remove } = temporaryFolder();
afterAll(remove);

const pollIntervalMs = 20;
const eventuallyTimeoutMs = 60_000;
const slow = { timeout: 120_000 };

const isRoot = process.getuid?.() === 0;
const plainUser = userOfMachine('nobody');
const systemFolder = binarySources.systemFolders()[0];
/** One copy of the programs for all cases but the first, readable for every user. */
const { folder: binFolder } = await findBinaries(
  { binFolder: undefined, copyInto: root, dataMajor: undefined, user: undefined },
  binarySources,
);

describe('one program', slow, () => {
  test('an empty folder becomes a database of an ordinary user and keeps its data', async () => {
    const said: unknown[] = [];
    const dataFolder = join(root, 'first');
    const log: EmbeddedOptions['log'] = (...line) => said.push(line);
    const server = await startEmbedded({ dataFolder, log, settings: throwAwaySettings });
    onTestFinished(() => server.stop());
    expect(server).toMatchObject({ startedHere: true, folder: dataFolder });
    await query(server, 'create table kept as select current_user as name, current_database() as base');
    const [user] = await query(
      server,
      'select usesuper, usecreatedb from pg_user where usename = current_user',
    );
    expect(user).toEqual({ usesuper: false, usecreatedb: true });
    const [settings] = await query(
      server,
      `select current_setting('data_checksums') as checksums, current_setting('logging_collector') as collector,
         current_setting('server_encoding') as encoding, current_setting('TimeZone') as zone`,
    );
    expect(settings).toEqual({ checksums: 'on', collector: 'on', encoding: 'UTF8', zone: 'UTC' });
    await server.stop();
    expect(postmasterOf(dataFolder)).toBeUndefined();

    const again = await start(dataFolder);
    expect(again.startedHere).toBe(true);
    expect(await query(again, 'select * from kept')).toEqual([{ name: 'mandate', base: 'mandate' }]);
    const logs = () => readdirSync(join(dataFolder, 'pg', 'log'));
    for (const name of logs()) expect(name).toMatch(/^postgres-(Mon|Tue|Wed|Thu|Fri|Sat|Sun)\.log$/);
    const readLogs = () => logs().map((name) => readFileSync(join(dataFolder, 'pg', 'log', name), 'utf8'));
    // A process of its own writes the log, and may be later than the server.
    await expect.poll(() => readLogs().join()).toContain('database system is shut down');
    const written = readLogs().join();
    expect(written).toContain('ready to accept connections');
    expect(written + JSON.stringify(said)).not.toContain(server.connection.password);
    expect(statSync(join(dataFolder, 'pg', 'password')).mode & 0o777).toBe(0o600);
    expect(readdirSync(join(dataFolder, 'pg')).filter((name) => name.includes('.tmp-'))).toEqual([]);
  });

  test('a package whose install script was not run gets its links in the copy', async (context) => {
    const packaged = binarySources.packageFolder();
    if (packaged === undefined) return context.skip('the npm package for this machine is not installed');
    const links: { target: string }[] = JSON.parse(
      readFileSync(join(packaged, 'native', 'pg-symlinks.json'), 'utf8'),
    );
    expect(links.length).toBeGreaterThan(0);
    for (const { target } of links) {
      expect(existsSync(join(binFolder, '..', target.replace(/^native/, '.')))).toBe(true);
    }
  });

  test('the path may have blanks, apostrophes, commas and characters of any script', async () => {
    const server = await start(join(root, "d'été, данные 数据 & co"));
    expect(await query(server, 'select 1 as one')).toEqual([{ one: 1 }]);
  });

  test.each(['"', '$', '`', '\\', '\n'])(
    'a path with %j is refused before a file is created',
    async (bad) => {
      const dataFolder = join(root, `bad${bad}name`);
      await expect(start(dataFolder)).rejects.toThrow(/has the character .* Choose a path without/);
      expect(existsSync(dataFolder)).toBe(false);
    },
  );

  test('with a path too long for a socket the server uses a local port, the same each time if it is free', async () => {
    const dataFolder = join(root, 'long'.repeat(30));
    const first = await start(dataFolder);
    expect(first.connection.host).toBe('127.0.0.1');
    await query(first, 'select 1');
    await first.stop();
    const remembered = join(dataFolder, 'pg', 'port');
    expect(readFileSync(remembered, 'utf8')).toBe(`${first.connection.port}\n`);
    // From here on a port that no outgoing connection takes in between.
    const port = await freePort();
    writeFileSync(remembered, `${port}\n`);
    const second = await start(dataFolder);
    expect(second.connection.port).toBe(port);
    await second.stop();
    const usurper = createServer().listen(port, '127.0.0.1');
    onTestFinished(() => void usurper.close());
    await once(usurper, 'listening');
    const third = await start(dataFolder);
    expect(third.connection.port).not.toBe(port);
    await query(third, 'select 1');
  });

  test('an installed PostgreSQL is used if the package is missing', async (context) => {
    if (systemFolder === undefined) return context.skip('no PostgreSQL is installed on this machine');
    const options = { dataFolder: join(root, 'system'), log: () => {}, settings: throwAwaySettings };
    const server = await startEmbedded({ ...options, machine: { packageFolder: () => undefined } });
    onTestFinished(() => server.stop());
    expect(await query(server, 'select 1 as one')).toEqual([{ one: 1 }]);
    await server.stop();
    const again = await startEmbedded(options);
    onTestFinished(() => again.stop());
    // The version of the data decides: the newer programs of the package cannot read them.
    expect(await query(again, 'select 1 as one')).toEqual([{ one: 1 }]);
  });
});

describe('several programs', slow, () => {
  test('the last one to leave stops the server', async () => {
    const dataFolder = join(root, 'shared');
    const first = await start(dataFolder);
    const second = await start(dataFolder);
    expect([first.startedHere, second.startedHere]).toEqual([true, false]);
    expect(second.connection).toEqual(first.connection);
    await first.stop();
    expect(await query(second, 'select 1 as one')).toEqual([{ one: 1 }]);
    await second.stop();
    expect(postmasterOf(dataFolder)).toBeUndefined();
  });

  test('one of two that leave at the same moment stops the server', async () => {
    const dataFolder = join(root, 'shared');
    const servers = await Promise.all([start(dataFolder), start(dataFolder)]);
    await Promise.all(servers.map((server) => server.stop()));
    expect(postmasterOf(dataFolder)).toBeUndefined();
  });

  test('a connection of another program keeps the server running, and one that has ended does not', async () => {
    const dataFolder = join(root, 'shared');
    const server = await start(dataFolder);
    const client = new pg.Client(server.connection);
    await client.connect();
    await server.stop();
    expect(await client.query('select 1 as one')).toMatchObject({ rows: [{ one: 1 }] });

    const again = await start(dataFolder);
    await client.end();
    await again.stop();
    expect(postmasterOf(dataFolder)).toBeUndefined();
  });

  test('a command next to the program leaves the server running, and the last to leave stops it', async () => {
    const options = {
      dataFolder: join(root, 'shared'),
      log: () => {},
      settings: throwAwaySettings,
      binFolder,
    };
    const alone = await startEmbedded(options);
    expect(alone.startedHere).toBe(true);
    await alone.stop();
    expect(postmasterOf(options.dataFolder)).toBeUndefined();

    const program = await start(options.dataFolder);
    const command = await startEmbedded(options);
    await command.stop();
    expect(postmasterOf(options.dataFolder)).toBeDefined();

    const outlasting = await startEmbedded(options);
    await program.stop();
    await query(outlasting, 'select 1');
    await outlasting.stop();
    expect(postmasterOf(options.dataFolder)).toBeUndefined();
  });

  test.each([2, 4])('%i programs that start together on an empty folder share one server', async (count) => {
    const dataFolder = join(root, `race-${count}`);
    const children = await Promise.all(
      Array.from({ length: count }, () => startChild({ dataFolder, binFolder })),
    );
    const reports = children.map((child) => child.report);
    expect(reports.filter((report) => 'startedHere' in report && report.startedHere)).toHaveLength(1);
    expect(new Set(reports.map((report) => 'connection' in report && report.connection.password)).size).toBe(
      1,
    );
    await Promise.all(children.map((child) => child.leave()));
    expect(postmasterOf(dataFolder)).toBeUndefined();
    expect(readdirSync(join(dataFolder, 'pg')).filter((name) => name.includes('.tmp-'))).toEqual([]);
  });
});

describe('after a disaster', slow, () => {
  test('the server of a killed program is found and used', async () => {
    const dataFolder = join(root, 'shared');
    const child = await startChild({ dataFolder, binFolder });
    await child.kill();
    const orphan = postmasterOf(dataFolder);
    expect(orphan).toBeDefined();
    const server = await start(dataFolder);
    expect(server.startedHere).toBe(false);
    expect(postmasterOf(dataFolder)).toBe(orphan);
    // The killed program counts as present until its session on the server has ended.
    const present = `select from pg_stat_activity where application_name = 'mandate presence'`;
    await expect.poll(() => query(server, present)).toHaveLength(1);
    await server.stop();
    expect(postmasterOf(dataFolder)).toBeUndefined();
  });

  test('a killed server is started again and has what was committed', async () => {
    const dataFolder = join(root, 'shared');
    const said: string[] = [];
    // With the usual settings, because a throw-away server may lose its last commits.
    const server = await start(dataFolder, { log: (message) => said.push(message), settings: {} });
    await query(server, 'create table kept as select 1 as one');
    process.kill(postmasterOf(dataFolder) ?? 0, 'SIGKILL');
    const again = await start(dataFolder);
    expect(again.startedHere).toBe(true);
    expect(again.connection).toEqual(server.connection);
    expect(await query(again, 'select * from kept')).toEqual([{ one: 1 }]);
    expect(said).toContain('private PostgreSQL connection lost');
    // The old handle must not stop a server that the new one uses.
    await server.stop();
    expect(await query(again, 'select 1 as one')).toEqual([{ one: 1 }]);
  });

  test('a killed server that is started again is stopped with the program that starts it', async () => {
    const dataFolder = join(root, 'restarted');
    // The programs and the files.
    await (await start(dataFolder)).stop();
    const config = readConfig({ MANDATE_DATA: dataFolder, MANDATE_POSTGRES_BIN: binFolder }, root);
    const opened = await connectDatabase(config, openLog({ level: 'silent', human: false }), {
      mayCreate: false,
    });
    const killed = postmasterOf(dataFolder) ?? 0;
    process.kill(killed, 'SIGKILL');
    let isClosed = false;
    const asking = (async () => {
      while (!isClosed)
        await opened.database
          .withClient((client) => client.query('select 1'))
          .catch(() => sleep(pollIntervalMs));
    })();
    await eventually(() => ![killed, undefined].includes(postmasterOf(dataFolder)));
    await opened.close();
    isClosed = true;
    await asking;
    expect(postmasterOf(dataFolder)).toBeUndefined();
  });

  test('stale lock files with the process ID of another process do not prevent a start', async () => {
    const dataFolder = join(root, 'shared');
    const server = await start(dataFolder);
    await server.stop();
    const data = join(dataFolder, 'pg', 'data');
    const { uid, gid } = statSync(data);
    const stranger = spawn('sleep', ['60'], { stdio: 'ignore', ...(isRoot && { uid, gid }) });
    onTestFinished(() => void stranger.kill('SIGKILL'));
    const lines = [
      stranger.pid,
      data,
      1_700_000_000,
      5432,
      join(dataFolder, 'pg', 'run'),
      '',
      '1 1',
      'ready',
      '',
    ];
    writeFileSync(join(data, 'postmaster.pid'), lines.join('\n'));
    writeFileSync(join(dataFolder, 'pg', 'run', '.s.PGSQL.5432.lock'), lines.join('\n'));
    // The control: PostgreSQL alone refuses to start.
    const plain = spawnSync(join(binFolder, 'postgres'), ['-D', data], {
      cwd: '/',
      ...(isRoot && { uid, gid }),
    });
    expect(plain.stderr.toString()).toContain('lock file "postmaster.pid" already exists');
    expect((await start(dataFolder)).startedHere).toBe(true);
    expect(stranger.exitCode).toBeNull();
  });

  test('a killed test run leaves neither server nor folder', async () => {
    const child = await startChild({});
    const { host } = 'connection' in child.report ? child.report.connection : { host: '' };
    expect(existsSync(host)).toBe(true);
    await child.kill();
    await eventually(() => !existsSync(join(host, '..', '..')));
  });
});

describe('the error message says what to do', slow, () => {
  test('for data of another version', async () => {
    const dataFolder = folderWithData('other-version');
    await expect(start(dataFolder)).rejects.toThrow(/written by PostgreSQL 12, .* Set MANDATE_POSTGRES_BIN/);
  });

  test('without PostgreSQL programs', async () => {
    const machine = { packageFolder: () => undefined, systemFolders: () => [] };
    const started = startEmbedded({ dataFolder: join(root, 'none'), log: () => {}, machine });
    await expect(started).rejects.toThrow(/Set DATABASE_URL .* or install postgresql/);
    const wrong = start(join(root, 'none'), { binFolder: '/nowhere' });
    await expect(wrong).rejects.toThrow(/tried \/nowhere: initdb not found/);
  });

  test('for a lost password', async () => {
    const dataFolder = folderWithData('no-password');
    rmSync(join(dataFolder, 'pg', 'password'));
    await expect(start(dataFolder)).rejects.toThrow(/password is missing/);
  });

  test('for a setting that the server rejects', async () => {
    const settings = { ...throwAwaySettings, shared_buffers: 'plenty' };
    const started = start(join(root, 'shared'), { settings });
    await expect(started).rejects.toThrow(/does not start: .*shared_buffers.* Logs: /);
  });

  test('for a data folder that is a file', async () => {
    writeFileSync(join(root, 'file'), '');
    await expect(start(join(root, 'file'))).rejects.toThrow(/data folder .* cannot be used/);
  });

  test('for a data folder that cannot be created', async (context) => {
    context.skip(process.platform !== 'linux', 'only Linux has a folder that takes no others');
    await expect(start('/proc/data')).rejects.toThrow(
      /^The data folder \/proc\/data cannot be used: .* Set MANDATE_DATA to a folder that can be created\.$/,
    );
  });
});

describe('users', slow, () => {
  test('root runs the server as the user nobody if there is no user postgres', async (context) => {
    context.skip(!isRoot, 'only root can hand the server to another user');
    const machine = { passwdFile: passwdFile(`nobody:x:${plainUser?.uid}:${plainUser?.gid}::/:`) };
    const dataFolder = join(root, 'plain-user');
    const server = await start(dataFolder, { machine });
    expect(await query(server, 'select 1 as one')).toEqual([{ one: 1 }]);
    expect(statSync(join(dataFolder, 'pg')).uid).toBe(plainUser?.uid);
    await server.stop();
    // Now there may be a user postgres, but the data belong to the other user.
    const again = await start(dataFolder);
    expect(await query(again, 'select 1 as one')).toEqual([{ one: 1 }]);
  });

  test('root without any other user is refused with what to do', async () => {
    const machine = { userId: 0, passwdFile: passwdFile() };
    const started = start(join(root, 'only-root'), { machine });
    await expect(started).rejects.toThrow(/does not run as root, .* or set DATABASE_URL/);
  });

  test('an ordinary user runs the server as the same user', async (context) => {
    if (!isRoot || !plainUser) return context.skip('only root can become another user');
    const script = `fs.accessSync(${JSON.stringify(childFile())})`;
    const reading = spawnSync(process.execPath, ['-e', script], { cwd: '/', ...plainUser });
    context.skip(reading.status !== 0, 'the user nobody cannot read the repository');
    const dataFolder = join(root, 'own');
    mkdirSync(dataFolder);
    chownSync(dataFolder, plainUser.uid, plainUser.gid);
    const child = await startChild({ dataFolder, binFolder, runAs: plainUser });
    expect(child.report).toMatchObject({ startedHere: true });
    // Root uses the same server at the same time.
    expect((await start(dataFolder)).startedHere).toBe(false);
  });

  test('a strict umask does not lock the server out of its folder', async () => {
    const dataFolder = join(root, 'umask', 'below', 'it');
    const child = await startChild({ dataFolder, umask: '077' });
    expect(child.report).toMatchObject({ startedHere: true, folder: dataFolder });
    await child.leave();
  });

  test('root gets another folder if the server cannot reach theirs, and keeps it', async (context) => {
    context.skip(!isRoot, 'only root hands the server to another user');
    const closed = join(root, 'closed');
    mkdirSync(closed, { mode: 0o700 });
    const dataFolder = join(closed, 'data');
    const machine = { openFolder: join(root, 'open') };
    const said: string[] = [];
    const options = { machine, log: (message: string) => said.push(message) };
    const server = await start(dataFolder, options);
    expect(server.folder).toMatch(/\/open\/[0-9a-f]{12}$/);
    expect(said[0]).toContain('uses a folder that its user can reach');
    await query(server, 'create table kept as select 1 as one');
    await server.stop();
    chmodSync(closed, 0o755);
    const again = await start(dataFolder, options);
    expect(again.folder).toBe(server.folder);
    expect(await query(again, 'select * from kept')).toEqual([{ one: 1 }]);
  });

  test('root gets an error with what to do if a folder with data was closed later', async (context) => {
    context.skip(!isRoot, 'only root hands the server to another user');
    const dataFolder = folderWithData('closed-later');
    chmodSync(dataFolder, 0o700);
    await expect(start(dataFolder)).rejects.toThrow(/may not enter .*closed-later.*chmod o\+x/);
  });
});

async function start(dataFolder: string, more: Partial<EmbeddedOptions> = {}): Promise<EmbeddedServer> {
  const log = () => {};
  const server = await startEmbedded({ dataFolder, log, settings: throwAwaySettings, binFolder, ...more });
  onTestFinished(() => server.stop());
  return server;
}

async function query(server: EmbeddedServer, text: string): Promise<unknown[]> {
  const client = new pg.Client(server.connection);
  await client.connect();
  try {
    const { rows } = await client.query<Record<string, unknown>>(text);
    return rows;
  } finally {
    await client.end();
  }
}

function postmasterOf(dataFolder: string): number | undefined {
  const file = join(dataFolder, 'pg', 'data', 'postmaster.pid');
  return existsSync(file) ? Number.parseInt(readFileSync(file, 'utf8'), 10) : undefined;
}

function userOfMachine(name: string): { uid: number; gid: number } | undefined {
  const line = new RegExp(`^${name}:[^:]*:(\\d+):(\\d+):`, 'm').exec(readFileSync('/etc/passwd', 'utf8'));
  return line ? { uid: Number(line[1]), gid: Number(line[2]) } : undefined;
}

function passwdFile(...lines: string[]): string {
  const file = join(root, `passwd-${lines.length}`);
  writeFileSync(file, ['root:x:0:0::/:/bin/sh', ...lines, ''].join('\n'));
  return file;
}

/** A folder with the files by which a database is recognised. */
function folderWithData(name: string): string {
  const dataFolder = join(root, name);
  mkdirSync(join(dataFolder, 'pg', 'data'), { recursive: true });
  writeFileSync(join(dataFolder, 'pg', 'data', 'PG_VERSION'), '12\n');
  writeFileSync(join(dataFolder, 'pg', 'password'), 'secret\n');
  return dataFolder;
}

async function eventually(condition: () => boolean): Promise<void> {
  const deadline = Date.now() + eventuallyTimeoutMs;
  while (!condition()) {
    if (Date.now() > deadline)
      throw new Error(`not within ${eventuallyTimeoutMs} ms: ${condition.toString()}`);
    await sleep(pollIntervalMs);
  }
}
