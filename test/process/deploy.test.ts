// The files in deploy/ as an operator uses them: HAProxy with TLS in front of a live node, and the unit as systemd judges it.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import net, { type AddressInfo } from 'node:net';
import { join } from 'node:path';
import tls from 'node:tls';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest';
import { codeOf } from '../../src/error-code.ts';
import { freePort } from '../../tools/free-port.ts';
import { createTestDatabase } from '../support/database/test-database.ts';
import { temporaryFolder } from '../support/database/test-cluster.ts';
import { waitMs } from '../../tools/tests/waits.ts';
import { eventually, startServer } from '../support/processes/program.ts';
import { localhostCertificate } from '../support/receivers/localhost-certificate.ts';

const fileOf = (name: string) => fileURLToPath(new URL(`../../deploy/${name}`, import.meta.url));

function isInstalled(program: string, flag: string): boolean {
  try {
    execFileSync(program, [flag], { stdio: 'ignore' });
    return true;
  } catch {
    if (process.env['CI'] === 'true') throw new Error(`${program} is not installed. CI needs it.`);
    console.warn(`${program} is not installed: tests of deploy/ are skipped.`);
    return false;
  }
}

/** The network, a Unix socket of the database, and a compiler that writes code. Addresses and roots depend on the machine. */
const needed = [
  'PrivateNetwork=',
  'IPAddressDeny=',
  'RestrictAddressFamilies=~AF_(INET|INET6)',
  'RestrictAddressFamilies=~AF_UNIX',
  'MemoryDenyWriteExecute=',
  'SystemCallFilter=~@resources',
  'RootDirectory=/RootImage=',
  // Of a closed policy, the clock.
  'DeviceAllow=',
];

describe.skipIf(!isInstalled('systemd-analyze', '--version'))('the systemd unit', () => {
  const { folder, remove } = temporaryFolder();
  const unit = join(folder, 'mandate.service');
  beforeAll(() => {
    // The installed program is not on this machine.
    const text = readFileSync(fileOf('mandate.service'), 'utf8').replace(
      /^ExecStart=\S+/m,
      'ExecStart=/bin/true',
    );
    writeFileSync(unit, text);
    return remove;
  });

  test('has no fault that systemd finds', () => {
    expect(execFileSync('systemd-analyze', ['verify', unit], { encoding: 'utf8' })).toBe('');
  });

  test('leaves a node no right but those it needs', () => {
    const args = ['security', '--offline=true', '--json=short', unit];
    const checks = JSON.parse(execFileSync('systemd-analyze', args, { encoding: 'utf8' })) as readonly {
      readonly name: string;
      readonly set: boolean | null;
    }[];
    const left = checks.flatMap(({ name, set }) => (set === false ? [name] : []));
    expect(left.filter((name) => !needed.includes(name))).toEqual([]);
  });
});

/** What systemd would read from the unit: each name has its last value. */
const unitSettings = new Map(
  Array.from(
    readFileSync(fileOf('mandate.service'), 'utf8').matchAll(/^(\w+)=(.*)$/gm),
    ([, name = '', value = '']) => [name, value],
  ),
);

// The supervisor passes the signal on, and a worker that has it twice does not drain.
test('systemd signals only the first process of the unit', () => {
  expect(unitSettings.get('KillMode')).toBe('mixed');
});

// systemd does not run in a container. Its command runs here as its user, with its environment, folder, umask and rights.
test.skipIf(process.getuid?.() !== 0 || !isInstalled('setpriv', '--version'))(
  'the command of the unit serves with few rights, writes no files and ends in time',
  async () => {
    const db = await createTestDatabase('empty');
    onTestFinished(() => db.drop());
    const { folder, remove } = temporaryFolder();
    onTestFinished(remove);
    const environmentFile = join(folder, 'mandate.env');
    const port = await freePort();
    const settings = {
      MANDATE_MODE: 'live',
      DATABASE_URL: db.url,
      MANDATE_MASTER_KEY: 'rrSxNkcTsWIbHvNDfqxWxUY/Gi0Pv3gkmjOMdCHrgDs=',
      PUBLIC_URL: 'https://pay.example.com',
      TRUSTED_PROXIES: '127.0.0.1',
      PORT: String(port),
    };
    writeFileSync(
      environmentFile,
      Object.entries(settings)
        .map(([name, value]) => `${name}='${value}'\n`)
        .join(''),
      { mode: 0o600 },
    );
    const [program = '', ...args] = (unitSettings.get('ExecStart') ?? '').split(' ');
    expect(program).toBe('/opt/mandate/current/node_modules/.bin/mandate');
    expect(unitSettings.get('CapabilityBoundingSet')).toBe('');
    // Another user than root, who may enter the folder of the database.
    const { uid, gid } = statSync(inject('cluster').host);
    expect(uid).not.toBe(0);
    const [, nodeOptions = ''] = /^NODE_OPTIONS=(.*)$/.exec(unitSettings.get('Environment') ?? '') ?? [];
    expect(nodeOptions).toMatch(/^--max-semi-space-size=\d+$/);
    const script = `umask ${unitSettings.get('UMask')}; ulimit -c ${unitSettings.get('LimitCORE')}; exec "$@"`;
    const rights = [
      `--reuid=${uid}`,
      `--regid=${gid}`,
      '--clear-groups',
      '--bounding-set=-all',
      '--no-new-privs',
    ];
    const node = spawn(
      'setpriv',
      [...rights, 'sh', '-c', script, 'sh', process.execPath, inject('builtProgram'), ...args],
      {
        cwd: '/',
        env: {
          PATH: '/usr/local/bin:/usr/bin:/bin',
          LANG: 'C.UTF-8',
          NODE_OPTIONS: nodeOptions,
          ...readEnvironment(environmentFile),
        },
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    );
    onTestFinished(() => void node.kill('SIGKILL'));
    let log = '';
    node.stdout.on('data', (text) => (log += String(text)));
    node.stderr.on('data', (text) => (log += String(text)));
    await eventually(
      async () =>
        (await fetch(`http://127.0.0.1:${port}/health/ready`).catch(() => undefined))?.ok || undefined,
      waitMs,
      'the node is ready',
    ).catch((error: unknown) => {
      throw new Error(`${String(error)}\n${log}`);
    });
    const status = readFileSync(`/proc/${node.pid}/status`, 'utf8');
    expect(status).toMatch(new RegExp(`^Uid:\\t${uid}\\t`, 'm'));
    expect(status).toMatch(/^Umask:\t0077$/m);
    expect(status).toMatch(/^NoNewPrivs:\t1$/m);
    expect(status).toMatch(/^CapBnd:\t0+$/m);
    expect(readFileSync(`/proc/${node.pid}/limits`, 'utf8')).toMatch(/^Max core file size +0 /m);
    // ProtectSystem=strict refuses every file that is opened for writing.
    expect(filesWritten(node.pid ?? 0)).toEqual([]);
    node.kill(unitSettings.get('KillSignal') === undefined ? 'SIGTERM' : 'SIGKILL');
    expect(await once(node, 'exit')).toEqual([0, null]);
    // The program lets requests run on for 10 s, and then needs a moment to end.
    expect(Number(unitSettings.get('TimeoutStopSec'))).toBeGreaterThanOrEqual(20);
  },
);

function filesWritten(pid: number): string[] {
  return readdirSync(`/proc/${pid}/fd`).filter((fd) => {
    try {
      const isFile = statSync(`/proc/${pid}/fd/${fd}`).isFile();
      const [, flags = ''] =
        /^flags:\s*(\d+)$/m.exec(readFileSync(`/proc/${pid}/fdinfo/${fd}`, 'utf8')) ?? [];
      return isFile && (Number.parseInt(flags, 8) & 3) !== constants.O_RDONLY;
    } catch (error) {
      // The node has closed it since it was listed.
      if (codeOf(error) === 'ENOENT') return false;
      throw error;
    }
  });
}

/** As systemd reads it: no shell takes part. */
function readEnvironment(file: string): Record<string, string> {
  const lines = readFileSync(file, 'utf8').trim().split('\n');
  return Object.fromEntries(lines.map((line) => /^(\w+)='(.*)'$/.exec(line)?.slice(1) as [string, string]));
}

type Answer = { readonly status: number; readonly headers: Record<string, unknown> };
type Ask = (path: string, headers?: Record<string, string>, tls?: object) => Promise<Answer>;

test.skipIf(!isInstalled('haproxy', '-v'))(
  'the proxy protects a live node, and its log no secret',
  async () => {
    const { ask, plainPort, log } = await startProxy();

    expect((await ask('/openapi.json', {}, { maxVersion: 'TLSv1.2' })).headers).toMatchObject({
      'strict-transport-security': 'max-age=31536000',
    });
    const old = { minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' };
    await expect(ask('/openapi.json', {}, old)).rejects.toThrow();

    const plain = await fetch(`http://127.0.0.1:${plainPort}/openapi.json?a=b`, { redirect: 'manual' });
    expect(plain.status).toBe(308);
    expect(plain.headers.get('location')).toMatch(/^https:\/\/127\.0\.0\.1:\d+\/openapi\.json\?a=b$/);

    const authorization = `Bearer ${metricsToken}`;
    expect((await ask('/metrics', { authorization })).status).toBe(404);
    expect((await ask('/health/ready')).status).toBe(404);

    // A caller who could choose its address would escape the limit of the node.
    const statuses: number[] = [];
    for (const last of [1, 2, 3, 4, 5]) {
      const headers = { authorization: 'Bearer wrong', 'x-forwarded-for': `192.0.2.${last}` };
      statuses.push((await ask('/v2/processing/invoices/x', headers)).status);
    }
    expect(statuses).toEqual([401, 401, 401, 429, 429]);

    const before = log().length;
    await ask('/checkout?invoiceAccessToken=a-secret');
    await eventually(
      () => Promise.resolve(/ GET\n/.test(log().slice(before)) || undefined),
      waitMs,
      'a line',
    );
    expect(log()).not.toContain('a-secret');
  },
);

describe.skipIf(!isInstalled('haproxy', '-v'))('the proxy', () => {
  test('replaces what a caller says about where it comes from', async () => {
    const { ask, asked } = await startProxyOfEcho();
    const made = {
      'x-forwarded-for': '192.0.2.1',
      'x-forwarded-proto': 'http',
      'x-forwarded-host': 'evil.example',
    };
    await ask('/somewhere', made);
    const { headers } = asked.at(-1) ?? { headers: {} };
    expect(headers).toMatchObject({ 'x-forwarded-for': '127.0.0.1', 'x-forwarded-proto': 'https' });
    expect(headers).not.toHaveProperty('x-forwarded-host');
  });

  test('ends a connection that sends its header slowly', async () => {
    const { port } = await startProxyOfEcho({ 'timeout http-request 10s': 'timeout http-request 500ms' });
    const socket = tls.connect({
      host: '127.0.0.1',
      port,
      ca: localhostCertificate.cert,
      servername: 'localhost',
    });
    onTestFinished(() => void socket.destroy());
    await once(socket, 'secureConnect');
    let received = '';
    socket.on('data', (text) => (received += String(text)));
    socket.write('GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: ');
    await once(socket, 'end');
    expect(received).toMatch(/^HTTP\/1\.1 408 /);
  });

  test('gives one address 500 connections', async () => {
    const { port, ask } = await startProxyOfEcho();
    let closed = 0;
    // From an address of their own: an earlier connection of this process may still count for the usual one.
    const from = { host: '127.0.0.1', port, localAddress: '127.0.0.2' };
    const sockets = Array.from({ length: 520 }, () => net.connect(from));
    onTestFinished(() => sockets.forEach((socket) => socket.destroy()));
    for (const socket of sockets) socket.on('error', () => {}).on('close', () => (closed += 1));
    const few = await eventually(
      () => Promise.resolve(closed >= 20 || undefined),
      waitMs,
      'those too many are closed',
    );
    expect([few, closed]).toEqual([true, 20]);
    expect((await ask('/')).status, 'another address').toBe(200);
  });

  test('sends a node no more than its connections, and no unready node any', async () => {
    const { ask, echo } = await startProxyOfEcho({
      'maxconn 1000': 'maxconn 2',
      // It also limits how long a request waits for its turn.
      'timeout connect 2s': 'timeout connect 10m',
    });
    echo.holds = true;
    const held = [1, 2, 3, 4].map((each) => ask(`/held/${each}`));
    await eventually(() => Promise.resolve(echo.open === 2 || undefined), waitMs, 'two requests arrive');
    echo.holds = false;
    echo.release();
    expect((await Promise.all(held)).map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(echo.mostOpen).toBe(2);
    echo.isReady = false;
    await eventually(
      async () => ((await ask('/')).status === 503 ? true : undefined),
      waitMs,
      'the node is left out',
    );
  });
});

/** HAProxy in front of a server that notes what reaches it, with some other settings. */
async function startProxyOfEcho(changes: Readonly<Record<string, string>> = {}) {
  const asked: http.IncomingMessage[] = [];
  const waiting: (() => void)[] = [];
  const echo = {
    isReady: true,
    holds: false,
    open: 0,
    mostOpen: 0,
    release: () => waiting.splice(0).forEach((answer) => answer()),
  };
  const server = http.createServer((request, reply) => {
    if (request.url === '/health/ready') return void reply.writeHead(echo.isReady ? 200 : 503).end();
    asked.push(request);
    echo.open += 1;
    echo.mostOpen = Math.max(echo.mostOpen, echo.open);
    const answer = () => {
      echo.open -= 1;
      reply.end();
    };
    if (echo.holds) waiting.push(answer);
    else answer();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close().closeAllConnections());
  const { port, ask } = await runProxy(`127.0.0.1:${(server.address() as AddressInfo).port}`, changes);
  await eventually(
    async () => ((await ask('/').catch(() => undefined))?.status === 200 ? true : undefined),
    waitMs,
    'the proxy finds the server ready',
  );
  return { port, ask, asked, echo };
}

const metricsToken = 'a token of the metrics';

/** HAProxy in front of a node in live mode. Both end with the test. */
async function startProxy(): Promise<{ ask: Ask; plainPort: number; log: () => string }> {
  const db = await createTestDatabase('empty');
  onTestFinished(() => db.drop());
  const node = await startServer({
    MANDATE_MODE: 'live',
    DATABASE_URL: db.url,
    MANDATE_MASTER_KEY: 'rrSxNkcTsWIbHvNDfqxWxUY/Gi0Pv3gkmjOMdCHrgDs=',
    PUBLIC_URL: 'https://localhost',
    TRUSTED_PROXIES: '127.0.0.1',
    METRICS_TOKEN: metricsToken,
    FAILED_AUTHENTICATIONS_PER_MINUTE: '3',
  });
  const proxy = await runProxy(new URL(node.url).host);
  await eventually(
    async () =>
      (await proxy.ask('/openapi.json').catch(() => undefined))?.status === 200 ? true : undefined,
    waitMs,
    'the proxy finds the node ready',
  );
  return proxy;
}

async function runProxy(node: string, changes: Readonly<Record<string, string>> = {}) {
  const { folder, remove } = temporaryFolder();
  onTestFinished(remove);
  const [port, plainPort] = [await freePort(), await freePort()];
  const certificate = join(folder, 'mandate.pem');
  writeFileSync(certificate, localhostCertificate.cert + localhostCertificate.key);
  const all = {
    '/etc/haproxy/mandate.pem': certificate,
    'bind :443': `bind 127.0.0.1:${port}`,
    'bind :80': `bind 127.0.0.1:${plainPort}`,
    '127.0.0.1:8080': node,
    ...changes,
  };
  const changed = Object.entries(all).reduce(
    (text, [from, to]) => {
      // A limit that the file no longer has would be tested by none.
      if (!text.includes(from)) throw new Error(`deploy/haproxy.cfg lacks "${from}".`);
      return text.replace(from, to);
    },
    readFileSync(fileOf('haproxy.cfg'), 'utf8'),
  );
  writeFileSync(join(folder, 'haproxy.cfg'), changed);
  const proxy = spawn('haproxy', ['-db', '-f', join(folder, 'haproxy.cfg')]);
  onTestFinished(() => void proxy.kill());
  let log = '';
  proxy.stdout.on('data', (text) => (log += String(text)));
  proxy.stderr.on('data', (text) => (log += String(text)));
  return { port, plainPort, ask: askerAt(port), log: () => log };
}

function askerAt(port: number): Ask {
  return (path, headers = {}, tls = {}) =>
    new Promise((resolve, reject) => {
      const target = { host: '127.0.0.1', port, path, headers, ca: localhostCertificate.cert, ...tls };
      https
        .get({ ...target, servername: 'localhost', agent: false }, (answer) => {
          answer.resume();
          answer.once('end', () => resolve({ status: answer.statusCode ?? 0, headers: answer.headers }));
        })
        .once('error', reject);
    });
}
